#!/usr/bin/env bash
# Measures what is promised, as ratios in one run, since this machine's speed drifts: each tests/bench/*_bench.sh against its peers,
# medians of interleaved runs, each figure beside its bound. Exits 1 where one was missed.
# Usage: run.sh BUILD_TREE [NAME...]; a NAME picks benchmarks whose file holds it.
set -uo pipefail
tree=${1:?usage: run.sh BUILD_TREE [NAME...]}
shift
BENCH_MISSES=$(mktemp)
export BENCH_MISSES
trap 'rm -f "$BENCH_MISSES"' EXIT
wanted() {
    local name
    [[ $# -eq 1 ]] && return 0
    for name in "${@:2}"; do [[ $1 == *"$name"* ]] && return 0; done
    return 1
}
failed=0
for script in tests/bench/*_bench.sh; do
    wanted "$script" "$@" || continue
    echo "== ${script#tests/bench/}"
    bash "$script" "$tree" || { echo "   $script did not finish" && failed=1; }
done
if [[ -s $BENCH_MISSES ]]; then
    echo "Missed:"
    sed 's/^/  /' "$BENCH_MISSES"
    failed=1
fi
exit "$failed"
