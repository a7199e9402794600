#!/usr/bin/env bash
# A throw-away PostgreSQL for tests. `pg.sh start DIR` makes and starts one (no fsync, a Unix socket only) and prints its URL; `pg.sh
# stop DIR` stops and removes it. As root its processes belong to the user postgres. DIR only remembers where it lies: data and socket
# are in a directory of their own under TMPDIR or /tmp, short enough for a socket and open to that user.
set -euo pipefail
command=${1:?usage: pg.sh start|stop DIR}
dir=${2:?usage: pg.sh start|stop DIR}

bin=$(find /usr/lib/postgresql -mindepth 3 -maxdepth 3 -name initdb -path '*/bin/*' 2>/dev/null | sort -V | tail -n 1)
bin=${bin:-$(command -v initdb || true)}
[[ -n $bin ]] || { echo "pg.sh: no initdb: install postgresql-15" >&2; exit 1; }
bin=$(dirname "$bin")

as=()
if [[ $(id -u) -eq 0 ]]; then
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
fi

case $command in
start)
    mkdir -p "$dir"
    home=$(mktemp -d "${TMPDIR:-/tmp}/rackrate-test-XXXXXX")
    [[ ${#as[@]} -eq 0 ]] || chown postgres:postgres "$home"
    echo "$home" >"$dir/location"
    cd "$home"
    "${as[@]}" "$bin/initdb" -D "$home/data" --username=rackrate --encoding=UTF8 --locale=C --auth-local=trust \
        --auth-host=reject --no-sync >"$home.log" 2>&1 || { cat "$home.log" >&2; exit 1; }
    "${as[@]}" "$bin/pg_ctl" -D "$home/data" -l "$home/log" -w -t 60 -s start -o "-c listen_addresses='' \
        -c unix_socket_directories='$home' -c fsync=off -c full_page_writes=off -c shared_buffers=128MB \
        -c max_connections=200 -c max_wal_size=2GB -c jit=off" >>"$home.log" 2>&1 ||
        { cat "$home.log" "$home/log" >&2; exit 1; }
    echo "postgresql:///postgres?user=rackrate&host=$home"
    ;;
stop)
    [[ -r $dir/location ]] || exit 0
    home=$(cat "$dir/location")
    cd /
    "${as[@]}" "$bin/pg_ctl" -D "$home/data" -w -t 60 -s -m immediate stop || true
    rm -rf "$home" "$home.log" "$dir/location"
    ;;
*)
    echo "usage: pg.sh start|stop DIR" >&2
    exit 2
    ;;
esac
