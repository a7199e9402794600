// Checks recorded answers against static/openapi.json. Each argument is a file of lines {"method","path","status","headers","body"}; every
// line must be an answer that the contract allows: a known operation, a declared status and media type, a body that fits the
// schema, the required headers. Prints what does not fit and ends with `N passed, N failed`.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const contract = JSON.parse(readFileSync(new URL("../../static/openapi.json", import.meta.url)));
const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
addFormats(ajv);
ajv.addSchema(contract, "contract");

const pointer = (...parts) => `contract#/${parts.map((part) => encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
const resolve = (node) => (node?.$ref ? node.$ref.slice(2).split("/").reduce((at, part) => at[part.replaceAll("~1", "/")], contract) : node);
const place = (node, parts) => (node?.$ref ? node.$ref.slice(2).split("/") : parts);

// Path templates, those with fewer parameters first, so that /v1/offers/{id} never hides a fixed path.
const templates = Object.keys(contract.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.split(/\{[^}]+\}/).map((text) => text.replace(/[.*+?^$()[\]\\|]/g, "\\$&")).join("[^/]+")}$`),
  parameters: (path.match(/\{/g) ?? []).length,
})).sort((a, b) => a.parameters - b.parameters);

const validators = new Map();
const validator = (parts) => {
  const key = pointer(...parts);
  if (!validators.has(key)) validators.set(key, ajv.compile({ $ref: key }));
  return validators.get(key);
};

export function checkAnswer(answer) {
  const path = answer.path.split("?")[0];
  const method = answer.method.toLowerCase();
  const template = templates.find((one) => one.pattern.test(path));
  // What no operation stands behind must be a problem, or one of the page's files.
  const operation = template && contract.paths[template.path][method === "head" ? "get" : method];
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const type = (headers["content-type"] ?? "").split(";")[0];
  if (!operation) {
    if (answer.status < 400) return template || path.startsWith("/v1/") ? method === "options" ? null : `no operation ${method} ${path}` : null;
    return checkBody(["components", "schemas", "Problem"], type, answer, "application/problem+json");
  }
  const operationParts = ["paths", template.path, method === "head" ? "get" : method];
  const status = String(answer.status);
  const declared = operation.responses[status] ? status : operation.responses.default ? "default" : null;
  if (!declared) {
    if (answer.status === 405 || answer.status === 501) return checkBody(["components", "schemas", "Problem"], type, answer, "application/problem+json");
    return `${operation.operationId} does not declare the status ${status}`;
  }
  const response = resolve(operation.responses[declared]);
  const responseParts = place(operation.responses[declared], [...operationParts, "responses", declared]);
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    if (resolve(header).required && headers[name.toLowerCase()] === undefined) return `${operation.operationId} ${status} lacks the header ${name}`;
  }
  if (method === "head" || answer.status === 304 || answer.status === 204) return null;
  if (!response.content) return answer.body === "" ? null : `${operation.operationId} ${status} has a body the contract does not know`;
  if (!response.content[type]) return `${operation.operationId} ${status} is ${type || "without a type"}, the contract says ${Object.keys(response.content).join(", ")}`;
  if (!/[/+]json$/.test(type) || !response.content[type].schema) return null;
  return checkBody([...responseParts, "content", type, "schema"], type, answer, type);
}

function checkBody(parts, type, answer, wanted) {
  if (type !== wanted) return `${answer.method} ${answer.path} ${answer.status} is ${type || "without a type"}, not ${wanted}`;
  let body;
  try {
    body = JSON.parse(answer.body);
  } catch (error) {
    return `${answer.method} ${answer.path}: the body is no JSON: ${error.message}`;
  }
  const validate = validator(parts);
  if (validate(body)) return null;
  const [first] = validate.errors;
  return `${answer.method} ${answer.path} ${answer.status}: ${first.instancePath || "/"} ${first.message} ${JSON.stringify(first.params)}`;
}

function decoded(answer) {
  const encoding = Object.entries(answer.headers).find(([name]) => name.toLowerCase() === "content-encoding")?.[1];
  return encoding === "gzip" && answer.bytes ? { ...answer, body: gunzipSync(Buffer.from(answer.bytes, "base64url")).toString() } : answer;
}

if (import.meta.url === `file://${process.argv[1]}`) {
  let passed = 0;
  const faults = new Map();
  for (const file of process.argv.slice(2)) {
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "") continue;
      const fault = checkAnswer(decoded(JSON.parse(line)));
      if (fault) faults.set(fault, (faults.get(fault) ?? 0) + 1);
      else passed++;
    }
  }
  const failed = [...faults.values()].reduce((sum, count) => sum + count, 0);
  for (const [fault, count] of faults) console.log(`${count} x ${fault}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 || passed === 0 ? 1 : 0);
}
