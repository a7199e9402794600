// The route table and the contract name the same operations, the problems of the two are the same, and who may call what agrees.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { contract, operations } from "./contract.mjs";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const rows = [...read("server/api/routes.c").matchAll(/\{HTTP_(\w+),\s+"([^"]+)",\s+(?:"(\w+)"|NULL),\s+ACCESS_(\w+)/g)]
  .map(([, method, path, id, access]) => ({ method, path, id, access }));
const named = rows.filter((row) => row.id);

test("every route is an operation, and every operation a route", () => {
  const text = ({ method, path, id }) => `${method} ${path} ${id}`;
  assert.ok(named.length > 20);
  assert.deepEqual(named.map(text).sort(), operations().map(text).sort());
});
test("only the page's files are a route without an operation", () => {
  assert.deepEqual(rows.filter((row) => !row.id).map((row) => row.path), ["/{path*}"]);
});
test("a key is asked for where the table asks for one", () => {
  for (const { method, path, access } of named) {
    const security = contract.paths[path][method.toLowerCase()].security ?? contract.security;
    assert.equal(security.length > 0, access !== "PUBLIC", `${method} ${path}`);
  }
});
test("the contract explains the problems of server/http/problems.h, and no others", () => {
  const held = [...read("server/http/problems.h").matchAll(/X\("([^"]+)",\s*"([^"]+)"\)/g)].map(([, slug, title]) => `${slug}: ${title}`);
  assert.ok(held.length > 20);
  assert.deepEqual(contract["x-problems"].map(({ slug, title }) => `${slug}: ${title}`).sort(), held.sort());
});
