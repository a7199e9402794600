# Real and large inventories: import of the Azure catalogue against COPY of the file into a table of text; 100,000 new offers by PUT
# against COPY into the same tables, foreign keys and triggers included; a re-upload of which 95 % is unchanged against INSERT ... ON
# CONFLICT of all rows; memory while an upload is parsed.
source tests/bench/lib.sh "$1"

# A second database with the same schema, for what PostgreSQL alone needs.
sql -c 'CREATE DATABASE peer' >/dev/null
peer=${bench/\/bench?/\/peer?}
RACKRATE_DATABASE_URL=$peer "$bin" migrate >/dev/null 2>&1
peer_sql() { psql -qX "$peer" "$@"; }
# Triggers that keep history for ever are asleep for what tidies up between two rounds.
wipe() { psql -qX "$1" -c "SET session_replication_role = replica; TRUNCATE offers, price_changes, tombstones, uploads, upload_issues" 2>/dev/null; }

azure=$data/catalogues/skypilot/azure-vms.csv
if [[ -r $azure ]]; then
    peer_sql -c 'CREATE TABLE lines (line text)'
    "$bin" provider add azure --name Azure >/dev/null
    import() { "$bin" import skypilot --provider azure "$azure" >/dev/null 2>&1; }
    for _ in 1 2 3 4 5; do
        wipe "$bench"
        peer_sql -c 'TRUNCATE lines'
        timed "$work/import" import
        timed "$work/lines" peer_sql -c "\copy lines FROM '$azure' WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')"
    done
    check "import of azure-vms.csv ($(wc -l <"$azure") rows) / COPY into text" "$(ratio "$(median <"$work/import")" "$(median <"$work/lines")")" at-most 3
    wipe "$bench"
else
    echo "   SKIPPED: RACKRATE_TEST_DATA has no catalogues/skypilot/azure-vms.csv"
fi

inventory 100000 1 >"$work/plain.json"
echo '{"offers":[]}' >"$work/none.json"
start_server
provider=$(sql -At -c "SELECT id FROM providers WHERE slug = 'bench'")
peer_sql -c "INSERT INTO providers (id, slug, name, kind, version) OVERRIDING SYSTEM VALUE VALUES ($provider, 'bench', 'Bench', 'gpu_cloud', 1000)"
sets=$(sql -At -c "SELECT string_agg(format('%1\$I = excluded.%1\$I', attname), ', ') FROM pg_attribute WHERE attrelid = 'offers'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('provider_id', 'external_id', 'id')")
for round in 1 2 3; do
    sed "s/\"external_id\":\"o/\"external_id\":\"r$round-/g" "$work/plain.json" >"$work/new.json"
    # One offer in twenty has another first price.
    awk 'BEGIN { RS = "},{\"external_id\"" } { if (NR % 20 == 7) sub(/"price_per_gpu_hour":[0-9.]+/, "\"price_per_gpu_hour\":42.5"); printf "%s%s", (NR > 1 ? "},{\"external_id\"" : ""), $0 }' "$work/new.json" >"$work/changed.json"
    put "$work/none.json"
    timed "$work/put" put "$work/new.json"
    sql -c "COPY (SELECT * FROM offers WHERE provider_id = $provider) TO STDOUT (FORMAT binary)" >"$work/offers.bin"
    sql -c "COPY (SELECT * FROM price_changes WHERE version = (SELECT version FROM providers WHERE id = $provider)) TO STDOUT (FORMAT binary)" >"$work/changes.bin"
    wipe "$peer"
    timed "$work/copy" peer_sql -1 -c "\copy offers FROM '$work/offers.bin' (FORMAT binary)" -c "\copy price_changes FROM '$work/changes.bin' (FORMAT binary)"
    timed "$work/again" put "$work/changed.json"
    grep -q '"updated":5000,"unchanged":95000' "$work/answer" || { head -c 300 "$work/answer" >&2; exit 1; }
    peer_sql -c "CREATE TABLE staged (LIKE offers)" -c "\copy staged FROM '$work/offers.bin' (FORMAT binary)"
    timed "$work/upsert" peer_sql -c "INSERT INTO offers SELECT * FROM staged ON CONFLICT (provider_id, external_id) DO UPDATE SET $sets"
    peer_sql -c 'DROP TABLE staged'
done
check "PUT of 100,000 new offers / COPY of their rows into the same tables" "$(ratio "$(median <"$work/put")" "$(median <"$work/copy")")" at-most 1.5
check "PUT with 95 % unchanged / INSERT ... ON CONFLICT of all" "$(ratio "$(median <"$work/again")" "$(median <"$work/upsert")")" at-most 0.2
stop_server

"$tree/tests/bench/decode_memory" >"$work/memory"
while read -r name bytes peak times; do
    check "memory while $name is parsed ($bytes bytes), body included" "$times" at-most 2
done <"$work/memory"
