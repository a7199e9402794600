// The route table and the contract name the same operations.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const contract = JSON.parse(readFileSync(new URL("../../static/openapi.json", import.meta.url)));
const table = readFileSync(new URL("../../server/api/routes.c", import.meta.url), "utf8");

test("every route is an operation, and every operation a route", () => {
  const routes = [...table.matchAll(/\{HTTP_(\w+),\s+"([^"]+)",\s+"(\w+)"/g)].map(([, method, path, id]) => `${method} ${path} ${id}`).sort();
  const operations = Object.entries(contract.paths).flatMap(([path, item]) =>
    ["get", "put", "post", "patch", "delete"].filter((method) => item[method]).map((method) => `${method.toUpperCase()} ${path} ${item[method].operationId}`)).sort();
  assert.ok(routes.length > 20);
  assert.deepEqual(routes, operations);
});
