# The calculators, every query another, against nginx with a file of the same bytes; among 10,000 offers, so that there is an index.
source tests/bench/lib.sh "$1"
inventory 10000 1 >"$work/big.json"
start_server
put "$work/big.json"
start_nginx
offer=$(curl -sf "http://127.0.0.1:$port/v1/offers?gpu=h100-sxm&limit=1" | sed 's/.*"id":"\(of_[0-9a-v]*\)".*/\1/')
calculator() { # NAME QUERY_THAT_ENDS_IN_A_NUMBER
    local query=/v1/tools/$2
    curl -sf "http://127.0.0.1:$port${query}1" >"$work/$1.json"
    cat >"$work/$1.lua" <<L
local i = 0
request = function() i = i + 1; return wrk.format("GET", "$query" .. string.format("%.3f", 1 + (i % 9000) / 1000)) end
L
    for _ in 1 2 3; do
        ratio "$(rate -s "$work/$1.lua" "http://127.0.0.1:$port")" "$(rate "http://127.0.0.1:$nginx_port/$1.json")" >>"$work/$1.ratio"
        echo >>"$work/$1.ratio"
    done
    check "$1 ($(stat -c %s "$work/$1.json") bytes) / nginx static of the same bytes" "$(median <"$work/$1.ratio")" at-least 0.5
}
calculator rent-vs-buy "rent-vs-buy?yearly_price_fall_percent="
calculator interruptions "interruptions?gpus=1024&days="
calculator reserve-vs-on-demand "reserve-vs-on-demand?reserved_price=0.9&term_months=12&on_demand_price="
calculator reserve-of-an-offer "reserve-vs-on-demand?offer=$offer&hours_per_month="
calculator whole-cost "whole-cost?offer=$offer&hours_per_month="
