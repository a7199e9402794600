# From nothing to /readyz with 1,000 offers, against one psql -c 'select 1'; memory with them.
source tests/bench/lib.sh "$1"
inventory 1000 1 >"$work/small.json"
start_server
put "$work/small.json"
check "MiB resident with 1,000 offers" "$(resident_mib)" at-most 100
stop_server
begin() { start_server; }
ask() { sql -c 'select 1' >/dev/null; }
for _ in 1 2 3 4 5 6 7; do
    timed "$work/start" begin
    stop_server
    timed "$work/psql" ask
done
check "start to /readyz / psql -c 'select 1'" "$(ratio "$(median <"$work/start")" "$(median <"$work/psql")")" at-most 5
