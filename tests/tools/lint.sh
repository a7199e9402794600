#!/usr/bin/env bash
# Everything a compiler or a script can say without running the program: format, include rules, warnings by gcc and clang (as errors),
# cppcheck, gcc -fanalyzer, shell syntax, the contract. Usage: lint.sh
set -uo pipefail
failed=0
step() {
    local name=$1
    shift
    if out=$("$@" 2>&1); then
        echo "ok    $name"
    else
        echo "FAILS $name"
        printf '%s\n' "$out" | tail -n 40
        failed=1
    fi
}
mapfile -t sources < <(git ls-files '*.c' '*.h')
step "format (clang-format)" clang-format-14 --dry-run -Werror "${sources[@]}"
step "include rules" tests/tools/include-rules.sh
step "warnings, gcc" make -j2 --no-print-directory VARIANT=release test-build
step "warnings, clang" make -j2 --no-print-directory VARIANT=clang test-build
step "cppcheck" cppcheck -q --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 -j2 -I. \
    --suppress=missingIncludeSystem -D_GNU_SOURCE server db
step "gcc -fanalyzer" tests/tools/analyze.sh
for script in $(git ls-files '*.sh' .ci/run); do
    step "shell syntax of $script" bash -n "$script"
done
[[ ! -x tests/contract/lint.sh ]] || step "contract (redocly)" tests/contract/lint.sh
exit $failed
