# A filtered, sorted page of 50 of 10,000 offers, every query another, against nginx with a file of the same bytes.
source tests/bench/lib.sh "$1"
inventory 10000 1 >"$work/big.json"
start_server
put "$work/big.json"
query="http://127.0.0.1:$port/v1/offers?gpu=h100-sxm,h200-sxm,l40s&region=us-east,eu-west,se-stockholm,us-dallas&billing=on_demand&max_price=9&min_price="
bytes=$(curl -sf "${query}0.001" | wc -c)
head -c "$bytes" /dev/zero | tr '\0' x >"$work/page.json"
start_nginx
cat >"$work/query.lua" <<L
local i = 0
request = function() i = i + 1; return wrk.format("GET", "${query#http://127.0.0.1:$port}" .. string.format("%.6f", (i % 1000000) / 1000000)) end
L
for _ in 1 2 3 4 5; do
    ours=$(rate -s "$work/query.lua" "http://127.0.0.1:$port")
    theirs=$(rate "http://127.0.0.1:$nginx_port/page.json")
    ratio "$ours" "$theirs" >>"$work/ratio"
    echo >>"$work/ratio"
    echo "   Rackrate $ours/s, nginx $theirs/s"
done
check "page of 50 ($bytes bytes) / nginx static of the same bytes" "$(median <"$work/ratio")" at-least 0.6
