// The checker itself must fail on what it is there to find.
import assert from "node:assert/strict";
import test from "node:test";
import { checkAnswer } from "./check_response.mjs";

const problem = JSON.stringify({ type: "/docs#problem-not-found", title: "x", status: 404, detail: "x", errors: [], request_id: "r" });
const headers = { "Content-Type": "application/problem+json", "X-Request-Id": "r", "Cache-Control": "no-store" };

test("an answer the contract knows passes", () => {
  assert.equal(checkAnswer({ method: "GET", path: "/v1/offerz", status: 404, headers, body: problem }), null);
});
test("a status nobody declared fails", () => {
  assert.match(checkAnswer({ method: "GET", path: "/v1/offers", status: 418, headers, body: problem }) ?? "", /status/);
});
test("a body that misses a member fails", () => {
  assert.notEqual(checkAnswer({ method: "GET", path: "/v1/gpus/l4", status: 200, headers: { "Content-Type": "application/json", ETag: '"x"', "X-Request-Id": "r" }, body: "{}" }), null);
});
test("another media type fails", () => {
  assert.notEqual(checkAnswer({ method: "GET", path: "/v1/offerz", status: 404, headers: { "Content-Type": "text/html" }, body: problem }), null);
});
test("an operation nobody declared fails", () => {
  assert.notEqual(checkAnswer({ method: "POST", path: "/v1/gpus", status: 200, headers: { "Content-Type": "application/json" }, body: "{}" }), null);
});
