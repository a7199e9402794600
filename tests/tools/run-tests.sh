#!/usr/bin/env bash
# Runs the test programs of a build tree on a throw-away PostgreSQL, then the scripts that test the contract and the page.
# Usage: run-tests.sh BUILD_TREE [NAME...]; a NAME picks programs whose path holds it (and leaves the scripts out).
# Sanitizer reports fail the run, since Criterion alone would let a leak pass; so does a program that ran no test.
set -uo pipefail
tree=${1:?usage: run-tests.sh BUILD_TREE [NAME...]}
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/rackrate-run-XXXXXX")
chmod 755 "$work"
finish() {
    tests/tools/pg.sh stop "$work/pg" >/dev/null 2>&1
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

export RACKRATE_TEST_DATA=${RACKRATE_TEST_DATA:-../shared/data}
export RACKRATE_TEST_BIN=$PWD/$tree/rackrate
export RACKRATE_CONTRACT_LOG=$work/answers.ndjson
RACKRATE_TEST_DATABASE_URL=$(tests/tools/pg.sh start "$work/pg") || exit 1
export RACKRATE_TEST_DATABASE_URL
mkdir -p "$work/sanitizer"
chmod 1777 "$work/sanitizer"
export ASAN_OPTIONS="log_path=$work/sanitizer/asan:detect_leaks=1:abort_on_error=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="log_path=$work/sanitizer/ubsan:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"

tested=0 failed=0 crashed=0 programs=0
bad=()
started=$(date +%s)
wanted() {
    local name
    [[ $# -eq 1 ]] && return 0
    for name in "${@:2}"; do [[ $1 == *"$name"* ]] && return 0; done
    return 1
}
while IFS= read -r source; do
    program=$tree/${source%.c}
    wanted "$program" "$@" || continue
    log=$work/log
    timeout 900 "$program" >"$log" 2>&1
    code=$?
    line=$(grep -a 'Synthesis:' "$log" | tail -n 1 | sed 's/\x1b\[[0-9;]*m//g')
    count=$(sed -n 's/.*Tested: *\([0-9]*\).*/\1/p' <<<"$line")
    wrong=$(sed -n 's/.*Failing: *\([0-9]*\).*/\1/p' <<<"$line")
    fell=$(sed -n 's/.*Crashing: *\([0-9]*\).*/\1/p' <<<"$line")
    # A program without a closing line fell itself.
    [[ -n $line ]] || { fell=1 count=1 wrong=1; }
    crashed=$((crashed + ${fell:-0}))
    skipped=$(grep -ac 'SKIP' "$log")
    programs=$((programs + 1))
    tested=$((tested + ${count:-0}))
    failed=$((failed + ${wrong:-0}))
    printf '%s  %s%s\n' "${line:-[====] no closing line (exit $code)}" "${source%.c}" \
        "$([[ $skipped -gt 0 ]] && echo "  ($skipped SKIPPED: $(grep -a -m1 'SKIP' "$log" | sed 's/\x1b\[[0-9;]*m//g'))")"
    if [[ $code -ne 0 || -z $count || ($count -eq 0 && $skipped -eq 0) ]]; then
        bad+=("$source (exit $code)")
        sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -av '^\[PASS\]\|^\[RUN' | tail -n 60
    fi
    if compgen -G "$work/sanitizer/*" >/dev/null; then
        bad+=("$source (sanitizer)")
        head -n 80 "$work"/sanitizer/*
        rm -f "$work"/sanitizer/*
    fi
done < <(git ls-files 'tests/unit/*_test.c' 'tests/api/*_test.c' 'tests/e2e/*_test.c' 2>/dev/null || true)

# The page and the contract are tested once, on the release build.
if [[ $# -eq 0 && $tree == build/release ]]; then
    for script in tests/contract/run.sh tests/web/run.sh; do
        [[ -x $script ]] || continue
        log=$work/log
        timeout 900 "$script" "$tree" >"$log" 2>&1
        code=$?
        line=$(tail -n 1 "$log")
        echo "$script: $line"
        passed=$(sed -n 's/^\([0-9]*\) passed, [0-9]* failed.*/\1/p' <<<"$line")
        wrong=$(sed -n 's/^[0-9]* passed, \([0-9]*\) failed.*/\1/p' <<<"$line")
        tested=$((tested + ${passed:-0} + ${wrong:-0}))
        failed=$((failed + ${wrong:-0}))
        if [[ $code -ne 0 || ${passed:-0} -eq 0 ]]; then
            bad+=("$script (exit $code)")
            tail -n 80 "$log"
        fi
    done
fi

echo
echo "$programs test programs in $(($(date +%s) - started)) s"
if [[ $tested -eq 0 ]]; then
    echo "no test was run" >&2
    exit 1
fi
if [[ ${#bad[@]} -gt 0 ]]; then
    echo "These failed:"
    printf '  %s\n' "${bad[@]}"
fi
echo "[====] Synthesis: Tested: $tested | Passing: $((tested - failed)) | Failing: $failed | Crashing: $crashed"
[[ ${#bad[@]} -eq 0 && $failed -eq 0 ]]
