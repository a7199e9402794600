#!/usr/bin/env bash
# Tests the checker and the route table against the contract, then checks the answers that the tests recorded. Usage: run.sh BUILD_TREE;
# RACKRATE_CONTRACT_LOG names the recording. Its last line is `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")"
[[ -d node_modules/ajv ]] || npm ci --ignore-scripts --no-audit --no-fund --silent || exit 1
node --test *.test.mjs || { echo "0 passed, 1 failed"; exit 1; }
if [[ ! -s ${RACKRATE_CONTRACT_LOG:-} ]]; then
    echo "no answers were recorded" >&2
    echo "0 passed, 1 failed"
    exit 1
fi
node "$PWD/check_response.mjs" "$RACKRATE_CONTRACT_LOG"
