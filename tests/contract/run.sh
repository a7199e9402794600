#!/usr/bin/env bash
# Tests the checker and the route table against the contract; then starts a server of its own, records exchanges with every
# operation, and checks these and the answers that other tests recorded (RACKRATE_CONTRACT_LOG, where it is set).
# Usage: run.sh [BUILD_TREE]. Its last line is `N passed, N failed`.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tree=$root/${1:-build/release}
[[ -x $tree/rackrate ]] || tree=${tree%/*}
cd "$root/tests/contract"
refuse() {
    echo "$1" >&2
    echo "0 passed, 1 failed"
    exit 1
}
[[ -d node_modules/ajv ]] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2 ||
    refuse "npm could not install the checker; see above (is the npm registry reachable?)"

work=$(mktemp -d "${TMPDIR:-/tmp}/rackrate-contract-XXXXXX")
chmod 755 "$work"
server=
finish() {
    [[ -z $server ]] || { kill -INT "$server" && wait "$server"; } 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

node --test --test-reporter=tap ./*.test.mjs >"$work/tests" 2>&1 || { cat "$work/tests"; refuse "the checker's own tests failed"; }
tests=$(sed -n 's/^# pass \([0-9]*\)/\1/p' "$work/tests" | tail -n 1)

unset RACKRATE_DATABASE_URL
export RACKRATE_LISTEN=127.0.0.1:0 RACKRATE_OPS_LISTEN=off RACKRATE_STATE_DIR=$work/state RACKRATE_SAMPLE=1 RACKRATE_LOG_FORMAT=json
"$tree/rackrate" serve >"$work/log" 2>&1 &
server=$!
for _ in $(seq 600); do
    RACKRATE_BASE=$(sed -n 's|.*"message":"ready","url":"\(http://[^"]*\)".*|\1|p' "$work/log" | head -n 1)
    [[ -z $RACKRATE_BASE ]] || break
    kill -0 "$server" 2>/dev/null || { cat "$work/log"; refuse "the server ended"; }
    sleep 0.1
done
[[ -n $RACKRATE_BASE ]] || { cat "$work/log"; refuse "the server was not ready in time"; }
export RACKRATE_BASE RACKRATE_BIN=$tree/rackrate
node record.mjs "$work/recorded.ndjson" || { tail -n 5 "$work/log"; refuse "the server did not answer as meant"; }

logs=("$work/recorded.ndjson")
if [[ -n ${RACKRATE_CONTRACT_LOG:-} ]]; then
    [[ -s $RACKRATE_CONTRACT_LOG ]] || refuse "no answers were recorded by the tests before"
    logs+=("$RACKRATE_CONTRACT_LOG")
fi
node check_response.mjs "${logs[@]}" >"$work/checked"
code=$?
sed '$d' "$work/checked"
read -r passed _ failed _ <<<"$(tail -n 1 "$work/checked")"
echo "$((${passed:-0} + tests)) passed, ${failed:-1} failed"
exit $code
