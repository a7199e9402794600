# Whole results streamed from a million offers, and what memory that takes; without a database.
source tests/bench/lib.sh "$1"
"$tree/tests/bench/stream_bench" "${STREAM_OFFERS:-1000000}" | tee "$work/stream"
of() { sed -n "s/^  streamed $1  *[0-9]* MB, *\([0-9]*\) MB\/s.*resident *[+]*\([-0-9.]*\) MiB/\\$2/p" "$work/stream"; }
check "NDJSON of ${STREAM_OFFERS:-1000000} offers over loopback, MB/s" "$(of NDJSON 1)" at-least 500
check "MiB more resident while it is sent" "$(of NDJSON 2)" at-most 8
