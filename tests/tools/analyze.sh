#!/usr/bin/env bash
# gcc's static analyser over every source of the server. Fails on any finding.
set -uo pipefail
flags="-std=gnu11 -D_GNU_SOURCE -I. -O1 -fanalyzer $(pkg-config --cflags libmicrohttpd libpq jansson libsodium zlib libzstd libutf8proc inih)"
git ls-files 'server/*.c' 'db/*.c' | xargs -P 2 -I{} sh -c "gcc $flags -Werror -c -o /dev/null {} || exit 255"
