#!/usr/bin/env bash
# Tests the page: its modules in node, the page in Chromium against a server of its own. Usage: run.sh BUILD_TREE. Its last line is
# `N passed, N failed`.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tree=$root/${1:-build/release}
cd "$root/tests/web"
[[ -d node_modules/playwright-core ]] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error || {
    echo "npm could not install the browser's driver; see above (is the npm registry reachable?)" >&2
    echo "0 passed, 1 failed"
    exit 1
}
work=$(mktemp -d "${TMPDIR:-/tmp}/rackrate-web-XXXXXX")
chmod 755 "$work"
port=$((20000 + RANDOM % 20000))
unset RACKRATE_DATABASE_URL
export RACKRATE_LISTEN=127.0.0.1:$port RACKRATE_OPS_LISTEN=off RACKRATE_STATE_DIR=$work/state RACKRATE_SAMPLE=1
"$tree/rackrate" serve >"$work/log" 2>&1 &
server=$!
trap 'kill -INT $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 300); do
    curl -sf "http://127.0.0.1:$port/readyz" >/dev/null && break
    kill -0 $server 2>/dev/null || { cat "$work/log"; echo "0 passed, 1 failed"; exit 1; }
    sleep 0.1
done
"$tree/rackrate" provider add web --name web >/dev/null
RACKRATE_WEB_KEY=$("$tree/rackrate" key create web 2>/dev/null)
# A market of six, seen three days ago, so that there are verdicts and days with fixings.
prices=(1 1.02 1.05 1.1 1.0 3.5)
for i in 0 1 2 3 4 5; do
    "$tree/rackrate" provider add "fair-$i" --name "Fair $i" >/dev/null
    echo "{\"offers\":[{\"external_id\":\"m\",\"gpu\":\"A30\",\"gpu_count\":4,\"region\":\"us-east\",\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":${prices[i]}}]}]}" >"$work/fair.json"
    "$tree/rackrate" import rackrate --provider "fair-$i" --as-of "$(date -u -d '3 days ago' +%F)" "$work/fair.json" >/dev/null 2>&1
done
"$tree/rackrate" fixing publish >/dev/null 2>&1
export RACKRATE_WEB_KEY RACKRATE_WEB_BASE=http://127.0.0.1:$port
node --test unit/*.test.mjs page.test.mjs >"$work/out" 2>&1
code=$?
grep -v '^# \(cancelled\|skipped\|todo\|suites\|duration\)' "$work/out" | tail -n 150
passed=$(sed -n 's/^# pass \([0-9]*\)/\1/p' "$work/out" | tail -n 1)
failed=$(sed -n 's/^# fail \([0-9]*\)/\1/p' "$work/out" | tail -n 1)
echo "${passed:-0} passed, ${failed:-1} failed"
exit $code
