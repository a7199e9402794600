#!/usr/bin/env bash
# Prints a C file that embeds the named files (of static/ and migrations/) in the binary, as the table declared in
# server/base/asset.h. Usage: embed.sh FILE...
set -euo pipefail
cat <<'C'
/* Made by tests/tools/embed.sh from the files of static/ and migrations/. */
#include "server/base/asset.h"

C
i=0
for file in "$@"; do
    cat <<C
__asm__(".section .rodata\n.balign 16\nasset_${i}_start:\n.incbin \"$file\"\nasset_${i}_end:\n.byte 0\n.previous\n");
extern const unsigned char asset_${i}_start[], asset_${i}_end[];
C
    i=$((i + 1))
done
echo 'const struct asset asset_table[] = {'
i=0
for file in "$@"; do
    echo "    {\"$file\", asset_${i}_start, asset_${i}_end},"
    i=$((i + 1))
done
cat <<'C'
    {0, 0, 0},
};
C
