# Shared by the benchmarks: a throw-away PostgreSQL with an empty database, a server, medians, bounds. Sourced as `lib.sh BUILD_TREE`.
set -euo pipefail
tree=${1:?usage: NAME_bench.sh BUILD_TREE}
bin=$PWD/$tree/rackrate
work=$(mktemp -d "${TMPDIR:-/tmp}/rackrate-bench-XXXXXX")
chmod 755 "$work"
data=${RACKRATE_TEST_DATA:-../shared/data}
port=$((20000 + RANDOM % 20000))
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
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.4f\n", b - a }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'; }
# Runs a command and adds the seconds it took to a file.
timed() { # FILE COMMAND...
    local file=$1 t
    shift
    t=$(now)
    "$@"
    since "$t" >>"$file"
}
# Prints a figure against its bound and records a miss, which fails the whole run.
check() { # NAME FIGURE at-most|at-least BOUND
    local verdict=ok
    awk -v f="$2" -v b="$4" -v most="$3" 'BEGIN { exit !(most == "at-most" ? f <= b : f >= b) }' || verdict=MISSED
    printf '   %-72s %10s  %s %s  %s\n' "$1" "$2" "$3" "$4" "$verdict"
    [[ $verdict == ok ]] || echo "$1: $2, not $3 $4" >>"${BENCH_MISSES:-/dev/null}"
}

url=$(tests/tools/pg.sh start "$work/pg")
psql -qX "$url" -c 'CREATE DATABASE bench' >/dev/null
bench=${url/\/postgres?/\/bench?}
export RACKRATE_DATABASE_URL=$bench RACKRATE_SAMPLE=0 RACKRATE_LISTEN=127.0.0.1:$port RACKRATE_OPS_LISTEN=off RACKRATE_LOG_LEVEL=warning
sql() { psql -qX "$bench" "$@"; }
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
# nginx with one worker, which serves the files of $work on nginx_port.
start_nginx() {
    nginx_port=$((port + 7))
    cat >"$work/nginx.conf" <<C
daemon off; master_process off; pid $work/nginx.pid; error_log $work/nginx.log; events { worker_connections 8192; }
http { access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on; open_file_cache max=100; types { application/json json; }
  client_body_temp_path $work/a; proxy_temp_path $work/b; fastcgi_temp_path $work/c; uwsgi_temp_path $work/d; scgi_temp_path $work/e;
  server { listen 127.0.0.1:$nginx_port; root $work; } }
C
    nginx -c "$work/nginx.conf" >/dev/null 2>&1 &
    nginx=$!
    until curl -s -o /dev/null "http://127.0.0.1:$nginx_port/"; do sleep 0.02; done
}
# Requests a second of one address (or of a script's addresses), 32 connections.
rate() { wrk -t1 -c32 -d3s "$@" | awk '/Requests\/sec/ { r = $2 } /Non-2xx/ { bad = 1 } END { if (bad) exit 1; print r }'; }
resident_mib() { awk '/VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$server/status"; }

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

"$bin" migrate >/dev/null 2>&1
"$bin" provider add bench --name Bench >/dev/null
key=$("$bin" key create bench 2>/dev/null)
put() { curl -sf -o "$work/answer" -X PUT -H "Authorization: Bearer $key" -H 'Content-Type: application/json' --data-binary "@$1" "http://127.0.0.1:$port/v1/providers/bench/inventory?confirm_removals=1"; }
