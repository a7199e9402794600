# The market: summary and sixty days of history from memory, against nginx with files of the same bytes; figures and verdicts as a
# share of making a snapshot; the figures of a day, against the same medians in one SQL statement.
source tests/bench/lib.sh "$1"
inventory 10000 1 >"$work/big.json"
start_server
put "$work/big.json"
"$bin" provider add past --name Past >/dev/null
past=$("$bin" key create past 2>/dev/null)
echo '{"offers":[{"external_id":"m","gpu":"H100 SXM","gpu_count":8,"region":"us-east","prices":[{"billing":"on_demand","price_per_gpu_hour":2.5}]}]}' >"$work/past.json"
"$bin" import rackrate --provider past --as-of "$(date -u -d '60 days ago' +%F)" "$work/past.json" >/dev/null 2>&1
curl -sf -o /dev/null -X PUT -H "Authorization: Bearer $past" -H 'Content-Type: application/json' -d '{"name":"Past","freshness_hours":null}' "http://127.0.0.1:$port/v1/providers/past/profile"
"$bin" fixing publish >/dev/null 2>&1
sleep 1 # the server follows
start_nginx
for target in "market/summary" "market/history?gpu=h100-sxm&limit=60"; do
    file=${target//[^a-z]/-}.json
    curl -sf "http://127.0.0.1:$port/v1/$target" >"$work/$file"
    for _ in 1 2 3 4 5; do
        ours=$(rate "http://127.0.0.1:$port/v1/$target")
        theirs=$(rate "http://127.0.0.1:$nginx_port/$file")
        ratio "$ours" "$theirs" >>"$work/$file.ratio"
        echo >>"$work/$file.ratio"
    done
    check "/v1/$target ($(wc -c <"$work/$file") bytes) / nginx static of them" "$(median <"$work/$file.ratio")" at-least 0.5
done
stop_server
RACKRATE_BENCH_DATABASE_URL=$url "$tree/tests/bench/market_bench" 100000 >"$work/market" || exit 1
grep -v '^figure' "$work/market"
figure() { awk -v n="$1" '$1 == "figure" && $2 == n { print $3 }' "$work/market"; }
check "figures and verdicts / making a snapshot of 100,000" "$(figure load)" at-most 0.2
check "the same / a whole publish in which 1 offer has new prices" "$(figure reprice-1)" at-most 0.2
check "the same / a whole publish in which 100 offers have new prices" "$(figure reprice-100)" at-most 0.2
check "figures of a day over 100,000 offers / one SQL statement" "$(figure day)" at-most 2
