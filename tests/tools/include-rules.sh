#!/usr/bin/env bash
# The arrows of the architecture point one way: main -> {cli, api, sync} -> {http, auth, inventory, catalog, market, db} ->
# {reference, model, base}. Read off the compiler's own list of what each source includes (gcc -MM), so that nothing hides behind a
# header. Also: only one file each may know libmicrohttpd, libsodium and libpq (the latter: one room).
set -euo pipefail
flags="-std=gnu11 -D_GNU_SOURCE -I. $(pkg-config --cflags libmicrohttpd libpq jansson libsodium zlib libzstd libutf8proc inih)"
declare -A allowed=(
    [base]="base"
    [model]="model base"
    [reference]="reference model base"
    [auth]="auth model base"
    [http]="http auth model base"
    [inventory]="inventory reference model base"
    # A snapshot carries the medians of its own offers, by the pure functions of market.
    [catalog]="catalog market reference model base"
    [market]="market reference model base"
    [db]="db reference model base"
    [sync]="sync catalog inventory market db auth reference model base"
    [api]="api sync http auth inventory catalog market db reference model base"
    [cli]="cli api sync http auth inventory catalog market db reference model base"
    [main]="main cli base"
)
room_of() {
    case $1 in
    server/main.c) echo main ;;
    server/*/*) cut -d/ -f2 <<<"$1" ;;
    db/*) echo db ;;
    *) echo "" ;;
    esac
}
bad=0
while IFS= read -r source; do
    room=$(room_of "$source")
    [[ -n ${allowed[$room]:-} ]] || { echo "$source: no rule for the room $room"; bad=1; continue; }
    included=$(gcc $flags -MM "$source") || { echo "$source: its includes can't be read"; bad=1; continue; }
    for file in $(sed 's/^[^:]*://; s/\\$//' <<<"$included"); do
        other=$(room_of "${file#./}")
        [[ -z $other || $file == "$source" ]] && continue
        # main reaches rooms through cli.h alone; what that includes in turn is cli's business.
        [[ $room == main ]] && ! grep -q "^#include \"${file#./}\"" "$source" && continue
        if [[ " ${allowed[$room]} " != *" $other "* ]]; then
            echo "$source ($room) includes $file ($other)"
            bad=1
        fi
    done
done < <(git ls-files 'server/*.c' 'db/*.c')
only() { # header, pattern of files that may include it
    while IFS= read -r file; do
        [[ $file =~ $2 ]] || { echo "$file includes <$1>"; bad=1; }
    done < <(git grep -l "^#include <$1>" -- server db || true)
}
only microhttpd.h '^server/http/edge\.c$'
only sodium.h '^server/base/crypto\.c$'
only libpq-fe.h '^db/'
exit $bad
