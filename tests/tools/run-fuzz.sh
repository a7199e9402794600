#!/usr/bin/env bash
# Runs every fuzzer of a build tree on its corpus for so many seconds. Usage: run-fuzz.sh BUILD_TREE SECONDS
set -uo pipefail
tree=${1:?usage: run-fuzz.sh BUILD_TREE SECONDS}
seconds=${2:?usage: run-fuzz.sh BUILD_TREE SECONDS}
failed=0 count=0
for program in "$tree"/tests/fuzz/*_fuzz; do
    name=$(basename "$program")
    corpus=tests/fuzz/corpus/${name%_fuzz}
    work=$(mktemp -d)
    mkdir -p "$corpus"
    count=$((count + 1))
    if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$work/" "$work" "$corpus" \
        >"$work.log" 2>&1; then
        echo "ok    $name $(grep -ao 'DONE.*' "$work.log" | tail -n 1)"
        rm -rf "$work" "$work.log"
    else
        echo "FAILS $name; what broke it is in $work"
        tail -n 40 "$work.log"
        failed=1
    fi
done
[[ $count -gt 0 ]] || { echo "no fuzzer was built" >&2; exit 1; }
exit $failed
