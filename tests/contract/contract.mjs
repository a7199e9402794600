// The contract, read once: its operations, its path templates and compiled validators. Validators are compiled when first
// needed and kept, so that a hundred thousand answers take seconds.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export const METHODS = ["get", "put", "post", "patch", "delete"];
export const contract = JSON.parse(readFileSync(new URL("../../static/openapi.json", import.meta.url)));

// strict is off: a contract has members (paths, examples) that are no JSON Schema keywords.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
addFormats(ajv);
ajv.addSchema(contract, "contract");

const escape = (part) => String(part).replaceAll("~", "~0").replaceAll("/", "~1");
const unescape = (part) => part.replaceAll("~1", "/").replaceAll("~0", "~");

// A place in the contract as a list of members; a `$ref` at its end is followed.
export function locate(parts) {
  let place = parts;
  let node = place.reduce((at, part) => at?.[part], contract);
  while (node?.$ref) {
    place = node.$ref.slice(2).split("/").map(unescape);
    node = place.reduce((at, part) => at?.[part], contract);
  }
  return node === undefined ? null : { place, node };
}

const validators = new Map();

// The compiled schema at a place.
export function validatorAt(place) {
  const key = `contract#/${place.map((part) => encodeURIComponent(escape(part))).join("/")}`;
  if (!validators.has(key)) validators.set(key, ajv.compile({ $ref: key }));
  return validators.get(key);
}

// Templates with fewer parameters first, so that no parameter hides a fixed path.
const templates = Object.keys(contract.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.split(/\{[^}]+\}/).map((text) => text.replace(/[.*+?^$()[\]\\|]/g, "\\$&")).join("[^/]+")}$`),
  parameters: (path.match(/\{/g) ?? []).length,
})).sort((a, b) => a.parameters - b.parameters);

// The template that a target (path and perhaps query) belongs to, or null.
export const templateOf = (target) => {
  const path = target.split("?")[0];
  return templates.find((one) => one.pattern.test(path))?.path ?? null;
};

// Every operation: {method, path, id}, in the contract's order.
export const operations = () => Object.entries(contract.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ method: method.toUpperCase(), path, id: item[method].operationId })));

export const problems = new Map(contract["x-problems"].map((problem) => [problem.slug, problem]));
