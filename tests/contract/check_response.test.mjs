// The checker itself must fail on what it is there to find.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { checkAnswer } from "./check_response.mjs";
import { contract } from "./contract.mjs";

const problem = { type: "/docs#problem-not-found", title: "There is nothing here", status: 404, detail: "x", errors: [], request_id: "r" };
const headers = { "Content-Type": "application/problem+json", "X-Request-Id": "r", "Cache-Control": "no-store" };
const lost = { method: "GET", path: "/v1/gpus/none", status: 404, headers, body: JSON.stringify(problem) };
const withProblem = (change) => ({ ...lost, body: JSON.stringify({ ...problem, ...change }) });
const live = { method: "GET", path: "/livez", status: 200, headers: { ...headers, "Content-Type": "application/json" },
  body: JSON.stringify(contract.paths["/livez"].get.responses[200].content["application/json"].example) };

const good = {
  "a problem of a known operation": lost,
  "a problem where no operation is": { ...lost, path: "/v1/offerz" },
  "an answer": live,
  "HEAD without a body": { ...live, method: "HEAD", body: "" },
  "one of the page's files": { method: "GET", path: "/style.css", status: 200, headers: { "Content-Type": "text/css" }, body: "a{}" },
  "a preflight": { method: "OPTIONS", path: "/v1/offers", status: 204, headers: {}, body: "" },
};
const bad = {
  "a status nobody declared": [{ ...lost, status: 418 }, /does not declare the status 418/],
  "a body that misses a member": [{ ...live, body: "{}" }, /required/],
  "a body that is no JSON": [{ ...live, body: "{" }, /no JSON/],
  "another media type": [{ ...live, headers: { ...headers, "Content-Type": "text/html" } }, /text\/html/],
  "another media type where no operation is": [{ ...lost, path: "/v1/offerz", headers: { ...headers, "Content-Type": "text/html" } }, /text\/html/],
  "a required header left out": [{ ...lost, headers: { "Content-Type": headers["Content-Type"], "X-Request-Id": "r" } }, /Cache-Control is missing/],
  "a header out of its form": [{ ...lost, headers: { ...headers, "X-Request-Id": "a b" } }, /X-Request-Id/],
  "an operation nobody declared": [{ ...live, method: "POST", path: "/v1/gpus" }, /no operation POST/],
  "a HEAD with a body": [{ ...live, method: "HEAD" }, /has a body/],
  "a 304 with a body": [{ ...live, path: "/v1/gpus", status: 304 }, /has a body/],
  "a 405 without Allow": [{ ...lost, status: 405 }, /Allow is missing/],
  "a problem nobody knows": [withProblem({ type: "/docs#problem-none" }), /type must be equal to one of the allowed values/],
  "a problem with another status": [withProblem({ status: 400 }), /says 400/],
  "a problem of another status": [withProblem({ type: "/docs#problem-gone", title: "It was here and was removed" }), /gone is a 410/],
  "a problem with another title": [withProblem({ title: "Oops" }), /title/],
};

for (const [name, answer] of Object.entries(good)) test(`${name} passes`, () => assert.equal(checkAnswer(answer), null));
for (const [name, [answer, fault]] of Object.entries(bad)) test(`${name} fails`, () => assert.match(checkAnswer(answer) ?? "", fault));

test("as a program it counts, names the line, and exits 1 on a fault and on nothing", () => {
  const directory = mkdtempSync(join(tmpdir(), "rackrate-checker-"));
  try {
    const run = (answers) => {
      const file = join(directory, "answers.ndjson");
      writeFileSync(file, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
      return spawnSync(process.execPath, [fileURLToPath(new URL("check_response.mjs", import.meta.url)), file], { encoding: "utf8" });
    };
    const mixed = run([lost, bad["a HEAD with a body"][0], live]);
    assert.equal(mixed.status, 1);
    assert.match(mixed.stdout, /answers\.ndjson:2 HEAD/);
    assert.match(mixed.stdout, /\n2 passed, 1 failed\n$/);
    assert.equal(run([lost, live]).status, 0);
    assert.equal(run([]).status, 1);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
