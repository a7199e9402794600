#!/usr/bin/env bash
# Measures what DESIGN.md promises, as ratios in one run, since this machine's speed drifts: a page of search against nginx serving a static
# file of the same bytes, an upload against COPY of the same rows, start against one psql, and memory. Medians of interleaved runs.
# Usage: run.sh BUILD_TREE
set -euo pipefail
tree=${1:?usage: run.sh BUILD_TREE}
bin=$PWD/$tree/rackrate
work=$(mktemp -d "${TMPDIR:-/tmp}/rackrate-bench-XXXXXX")
chmod 755 "$work"
port=$((20000 + RANDOM % 20000))
nginx_port=$((port + 7))
server= nginx=
finish() {
    [[ -z $server ]] || kill -INT "$server" 2>/dev/null || true
    [[ -z $nginx ]] || kill "$nginx" 2>/dev/null || true
    wait 2>/dev/null || true
    tests/tools/pg.sh stop "$work/pg" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.4f", b - a }'; }

url=$(tests/tools/pg.sh start "$work/pg")
psql -qX "$url" -c 'CREATE DATABASE bench' >/dev/null
bench=${url/\/postgres?/\/bench?}
export RACKRATE_DATABASE_URL=$bench RACKRATE_SAMPLE=0 RACKRATE_LISTEN=127.0.0.1:$port RACKRATE_OPS_LISTEN=off
start_server() {
    "$bin" serve >"$work/server.log" 2>&1 &
    server=$!
    until curl -sf "http://127.0.0.1:$port/readyz" >/dev/null; do
        kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
        sleep 0.002
    done
}
stop_server() {
    kill -INT "$server"
    wait "$server" 2>/dev/null || true
    server=
}

# An inventory of so many offers, each with two prices, as a market of many GPUs and places looks.
inventory() { # COUNT FIRST_PRICE
    awk -v n="$1" -v p="$2" 'BEGIN {
        split("h100-sxm h100-pcie h200-sxm a100-sxm-80gb a100-pcie-40gb l40s rtx-4090 l4 mi300x b200", g, " ")
        split("us-east us-west eu-west eu-north ap-southeast de se-stockholm us-dallas", r, " ")
        srand(7); printf "{\"offers\":["
        for (i = 0; i < n; i++)
            printf "%s{\"external_id\":\"o%d\",\"gpu\":\"%s\",\"gpu_count\":%d,\"node\":{\"vcpus\":192,\"memory_gib\":2048,\"storage_gb\":40000},\"interconnect\":\"nvlink\",\"fabric\":\"infiniband\",\"fabric_gbps\":3200,\"region\":\"%s\",\"availability\":{\"status\":\"available\",\"gpus_available\":64},\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":%.4f},{\"billing\":\"reserved\",\"term_months\":12,\"price_per_gpu_hour\":%.4f}]}", i ? "," : "", i, g[1 + int(rand() * 10)], 2 ^ int(rand() * 4), r[1 + int(rand() * 8)], p + rand() * 8, p + rand() * 5
        printf "]}" }'
}

"$bin" migrate >/dev/null
"$bin" provider add bench --name Bench >/dev/null
key=$("$bin" key create bench 2>/dev/null)
put() { curl -sf -o "$work/answer" -X PUT -H "Authorization: Bearer $key" -H 'Content-Type: application/json' --data-binary "@$1" "http://127.0.0.1:$port/v1/providers/bench/inventory?confirm_removals=1"; }

echo "== upload: PUT of 10,000 new offers, answered with the snapshot live, against COPY of the same rows (target <= 3x)"
inventory 10000 1 >"$work/big.json"
echo '{"offers":[]}' >"$work/none.json"
start_server
for round in 1 2 3 4 5; do
    put "$work/none.json"
    t=$(now)
    put "$work/big.json"
    since "$t" >>"$work/put"
    echo >>"$work/put"
    if [[ $round -eq 1 ]]; then
        psql -qX "$bench" -c "COPY (SELECT * FROM offers) TO STDOUT (FORMAT binary)" >"$work/offers.bin"
        psql -qX "$bench" -c "COPY (SELECT * FROM price_changes) TO STDOUT (FORMAT binary)" >"$work/changes.bin"
        psql -qX "$bench" -c "CREATE TABLE copy_offers (LIKE offers INCLUDING ALL); CREATE TABLE copy_changes (LIKE price_changes INCLUDING ALL)" 2>/dev/null
    fi
    psql -qX "$bench" -c "TRUNCATE copy_offers, copy_changes" 
    t=$(now)
    psql -qX "$bench" -c "\\copy copy_offers FROM '$work/offers.bin' (FORMAT binary)" -c "\\copy copy_changes FROM '$work/changes.bin' (FORMAT binary)"
    since "$t" >>"$work/copy"
    echo >>"$work/copy"
done
p=$(median <"$work/put") c=$(median <"$work/copy")
awk -v p="$p" -v c="$c" 'BEGIN { printf "   PUT %.3f s, COPY %.3f s: %.2fx\n", p, c, p / c }'

echo "== search: a filtered, sorted page of 50 of 10,000 offers, every query another, against nginx with a file of the same bytes (target >= 0.6x)"
query="http://127.0.0.1:$port/v1/offers?gpu=h100-sxm,h200-sxm,l40s&region=us-east,eu-west,se-stockholm,us-dallas&billing=on_demand&max_price=9&min_price="
bytes=$(curl -sf "${query}0.001" | wc -c)
head -c "$bytes" /dev/zero | tr '\0' x >"$work/page.json"
cat >"$work/nginx.conf" <<C
daemon off; master_process off; pid $work/nginx.pid; error_log $work/nginx.log; events { worker_connections 1024; }
http { access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on; open_file_cache max=100; types { application/json json; }
  client_body_temp_path $work/a; proxy_temp_path $work/b; fastcgi_temp_path $work/c; uwsgi_temp_path $work/d; scgi_temp_path $work/e;
  server { listen 127.0.0.1:$nginx_port; root $work; } }
C
nginx -c "$work/nginx.conf" >/dev/null 2>&1 &
nginx=$!
cat >"$work/query.lua" <<L
local i = 0
request = function() i = i + 1; return wrk.format("GET", "${query#http://127.0.0.1:$port}" .. string.format("%.6f", (i % 1000000) / 1000000)) end
L
sleep 0.5
rate() { wrk -t1 -c32 -d3s "$@" | awk '/Requests\/sec/ { r = $2 } /Non-2xx/ { bad = 1 } END { if (bad) exit 1; print r }'; }
for _ in 1 2 3 4 5; do
    r=$(rate -s "$work/query.lua" "http://127.0.0.1:$port")
    n=$(rate "http://127.0.0.1:$nginx_port/page.json")
    awk -v r="$r" -v n="$n" 'BEGIN { printf "%.4f\n", r / n }' >>"$work/ratio"
    echo "   Rackrate $r/s, nginx $n/s"
done
echo "   $(median <"$work/ratio")x nginx static ($bytes bytes)"

echo "== memory with 10,000 offers after the load above (target < 100 MiB)"
awk '/VmRSS/ { printf "   %.1f MiB resident\n", $2 / 1024 }' "/proc/$server/status"
stop_server

echo "== start to /readyz with 1,000 offers against psql -c 'select 1' (target <= 5x)"
inventory 1000 1 >"$work/small.json"
start_server
put "$work/small.json"
awk '/VmRSS/ { printf "   %.1f MiB resident with 1,000 offers\n", $2 / 1024 }' "/proc/$server/status"
stop_server
for _ in 1 2 3 4 5 6 7; do
    t=$(now)
    start_server
    since "$t" >>"$work/start"
    echo >>"$work/start"
    stop_server
    t=$(now)
    psql -qX "$bench" -c 'select 1' >/dev/null
    since "$t" >>"$work/psql"
    echo >>"$work/psql"
done
s=$(median <"$work/start") q=$(median <"$work/psql")
awk -v s="$s" -v q="$q" 'BEGIN { printf "   start %.0f ms, psql %.0f ms: %.2fx\n", s * 1000, q * 1000, s / q }'
