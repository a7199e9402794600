#!/usr/bin/env bash
# Runs every race program of a build tree on a throw-away PostgreSQL; a report of the sanitizer fails it. Usage: run-stress.sh BUILD_TREE
set -uo pipefail
tree=${1:?usage: run-stress.sh BUILD_TREE}
work=$(mktemp -d "${TMPDIR:-/tmp}/rackrate-stress-XXXXXX")
chmod 755 "$work"
trap 'tests/tools/pg.sh stop "$work/pg" >/dev/null 2>&1; rm -rf "$work"' EXIT
RACKRATE_TEST_DATABASE_URL=$(tests/tools/pg.sh start "$work/pg") || exit 1
export RACKRATE_TEST_DATABASE_URL
export TSAN_OPTIONS="halt_on_error=0:exitcode=66:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
failed=0 count=0
for program in "$tree"/tests/stress/*; do
    [[ -f $program && -x $program ]] || continue
    count=$((count + 1))
    if timeout 600 "$program" >"$work/log" 2>&1; then
        echo "ok    $(basename "$program"): $(tail -n 1 "$work/log")"
    else
        echo "FAILS $(basename "$program")"
        tail -n 60 "$work/log"
        failed=1
    fi
done
[[ $count -gt 0 ]] || { echo "no race program was built" >&2; exit 1; }
exit $failed
