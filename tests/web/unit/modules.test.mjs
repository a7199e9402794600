// The page's modules that need no browser: numbers keep their text, the address keeps its parameters, facts are shown as they are.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "../modules.mjs";

const { commitment, DASH, dollars, gpuRange, money, percent, safeUrl, shown, upfrontPerGpu, withUnit } = await load("format.js");
const { parseJson } = await load("json.js");
const { apiPath, get, hasFilters, readQuery, toolPath, toSearch, withParameter } = await load("query.js");

test("numbers come out as they were written", () => {
  const answer = parseJson('{"a":0.043058,"b":[2.20, -1, 1e-7, 123456789012345678901],"c":null,"d":"x\\u00e9\\n","e":true,"f":{}}');
  assert.equal(answer.a, "0.043058");
  assert.deepEqual(answer.b, ["2.20", "-1", "1e-7", "123456789012345678901"]);
  assert.equal(answer.c, null);
  assert.equal(answer.d, "xé\n");
  assert.equal(answer.e, true);
  assert.deepEqual(answer.f, {});
});

test("what is no JSON is refused", () => {
  for (const text of ["", "{", '{"a":}', "[1,]", "01", "+1", ".5", '{"a":1}x', "nul", '"\u0001"', "[1 2]"]) assert.throws(() => parseJson(text), SyntaxError, text);
});

test("agrees with the engine's own reader on random values", () => {
  let seed = 7;
  const below = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const make = (depth) => {
    const kind = below(depth > 4 ? 4 : 6);
    if (kind === 0) return null;
    if (kind === 1) return below(2) === 0;
    if (kind === 2) return String.fromCharCode(32 + below(90)) + '"\\\n';
    if (kind === 3) return "plain";
    if (kind === 4) return Array.from({ length: below(4) }, () => make(depth + 1));
    return Object.fromEntries(Array.from({ length: below(4) }, (_, i) => [`k${i}`, make(depth + 1)]));
  };
  for (let i = 0; i < 300; i++) {
    const text = JSON.stringify(make(0), null, below(3));
    assert.deepEqual(JSON.parse(JSON.stringify(parseJson(text))), JSON.parse(text));
  }
});

test("a member called __proto__ is only a member", () => {
  assert.equal({}.polluted, undefined);
  parseJson('{"__proto__":{"polluted":1}}');
  assert.equal({}.polluted, undefined);
});

test("the address holds the API's parameters and asks exactly them", () => {
  const query = readQuery("?provider=x&gpu=h200-sxm,l4&offer=of_1&view=&nonsense=1");
  assert.equal(get(query, "gpu"), "h200-sxm,l4");
  assert.equal(apiPath(query), "/v1/offers?gpu=h200-sxm,l4&provider=x&nonsense=1");
  assert.equal(apiPath(readQuery("")), "/v1/offers");
  assert.equal(apiPath(readQuery("?gpu=a&gpu=b")), "/v1/offers?gpu=a&gpu=b", "a repeated one is the API's to refuse");
});

test("a change starts at the first page, opening an offer does not", () => {
  const query = readQuery("?gpu=l4&cursor=abc");
  assert.equal(get(withParameter(query, "billing", "spot"), "cursor"), "");
  assert.equal(get(withParameter(query, "offer", "of_1"), "cursor"), "abc");
  assert.equal(toSearch(withParameter(query, "gpu", "")), "/");
  assert.equal(hasFilters(readQuery("?sort=vram&limit=5")), false);
  assert.equal(hasFilters(readQuery("?gpu=l4")), true);
});

test("unknown is a dash, zero is zero", () => {
  assert.equal(shown(null), DASH);
  assert.equal(shown("0"), "0");
  assert.equal(withUnit("0", "GB"), "0 GB");
  assert.equal(withUnit(null, "GB"), DASH);
});

test("money keeps every digit and shows cents", () => {
  assert.equal(money("3.5"), "$3.50");
  assert.equal(money("26"), "$26.00");
  assert.equal(money("0.043058"), "$0.043058");
});

test("commitment, range and what is due at once", () => {
  const price = { billing: "reserved", term_months: "12", price_per_gpu_hour: "2.2", upfront_percent: "20", min_gpus: "16", max_gpus: "512" };
  assert.equal(commitment(price), "reserved 12 months");
  assert.equal(gpuRange(price), "16 to 512 GPUs");
  assert.equal(gpuRange({ min_gpus: 1 }), "", "from one on is no condition");
  assert.equal(gpuRange({ max_gpus: 1 }), "up to 1 GPU");
  assert.equal(upfrontPerGpu(price), "3854.40"); // 2.2 x 0.20 x 730 x 12
  assert.equal(upfrontPerGpu({ ...price, upfront_percent: null }), null);
  assert.equal(upfrontPerGpu({ ...price, billing: "on_demand" }), null);
});

test("only web addresses become links", () => {
  assert.equal(safeUrl("javascript:alert(1)"), null);
  assert.equal(safeUrl("https://a.example/x"), "https://a.example/x");
  assert.equal(safeUrl(null), null);
});

test("sums are cents, half to even, thousands apart; prices keep their digits", () => {
  for (const [text, wanted] of [["0", "$0.00"], ["1", "$1.00"], ["0.005", "$0.00"], ["0.015", "$0.02"], ["0.025", "$0.02"], ["0.025001", "$0.03"], ["1234567.894999", "$1,234,567.89"],
    ["-0.004", "$0.00"], ["-1234.5", "-$1,234.50"], ["9223372036854.775807", "$9,223,372,036,854.78"], ["999.995", "$1,000.00"]]) assert.equal(dollars(text), wanted, text);
  assert.equal(money("-0.249715"), "-$0.249715");
  assert.equal(percent("0.676923"), "67.7 %");
  assert.equal(percent(null), DASH);
});

test("a calculator is asked with the API's own names", () => {
  assert.equal(toolPath("rent-vs-buy", readQuery("?view=tools&tool=rent-vs-buy&gpus=8&offer=of_1")), "/v1/tools/rent-vs-buy?gpus=8");
  assert.equal(toolPath("interruptions", []), "/v1/tools/interruptions");
});
