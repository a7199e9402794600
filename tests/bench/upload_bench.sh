# PUT of 10,000 new offers, answered with the snapshot live, against COPY of the same rows into the same tables; memory after it.
source tests/bench/lib.sh "$1"
inventory 10000 1 >"$work/plain.json"
echo '{"offers":[]}' >"$work/none.json"
start_server
for round in 1 2 3 4 5; do
    put "$work/none.json"
    sed "s/\"external_id\":\"o/\"external_id\":\"r$round-/g" "$work/plain.json" >"$work/big.json" # new ids: no tombstones to undo
    timed "$work/put" put "$work/big.json"
    if [[ $round -eq 1 ]]; then
        sql -c "COPY (SELECT * FROM offers) TO STDOUT (FORMAT binary)" >"$work/offers.bin"
        sql -c "COPY (SELECT * FROM price_changes) TO STDOUT (FORMAT binary)" >"$work/changes.bin"
        sql -c "CREATE TABLE copy_offers (LIKE offers INCLUDING ALL); CREATE TABLE copy_changes (LIKE price_changes INCLUDING ALL)" 2>/dev/null
    fi
    sql -c "TRUNCATE copy_offers, copy_changes"
    timed "$work/copy" sql -c "\copy copy_offers FROM '$work/offers.bin' (FORMAT binary)" -c "\copy copy_changes FROM '$work/changes.bin' (FORMAT binary)"
done
check "PUT of 10,000 offers / COPY of their rows" "$(ratio "$(median <"$work/put")" "$(median <"$work/copy")")" at-most 3
check "MiB resident with 10,000 offers" "$(resident_mib)" at-most 100
