// Checks recorded answers against static/openapi.json. Each argument is a file of lines {"method","path","status","headers","body"}
// (`bytes` holds the body in base64url where it is compressed). Every line must be an answer that the contract allows: a known
// operation, a declared status and media type, required headers in their form, a body that fits the schema, none where HTTP
// has none. Prints each fault once with its count and first line, and ends with `N passed, N failed`; 1 when any failed.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";
import { contract, locate, problems, templateOf, validatorAt } from "./contract.mjs";

const PROBLEM = ["components", "schemas", "Problem"];
const PROBLEM_TYPE = "application/problem+json";
const MOST_SHOWN = 5;

// What is wrong with an answer, or null.
export function checkAnswer(answer) {
  const method = answer.method.toLowerCase();
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const type = (headers["content-type"] ?? "").split(";")[0].trim().toLowerCase();
  const template = templateOf(answer.path);
  const read = method === "head" ? "get" : method;
  const operation = template === null ? undefined : contract.paths[template][read];
  const bodiless = method === "head" || answer.status === 304 || answer.status === 204;
  if (bodiless && answer.body !== "") return `${method} ${answer.status} has a body`;

  const parts = operation?.responses[answer.status] !== undefined ? ["paths", template, read, "responses", String(answer.status)]
    : contract["x-everywhere"][answer.status] !== undefined ? ["x-everywhere", String(answer.status)] : null;
  if (!parts && operation) return `${operation.operationId} does not declare the status ${answer.status}`;
  if (!parts) return checkUndeclared(answer, method, template, type, bodiless);

  const name = operation?.operationId ?? `${answer.method} ${template ?? "elsewhere"}`;
  const { place, node: response } = locate(parts);
  const fault = checkHeaders(place, response, headers);
  if (fault) return `${name} ${answer.status}: ${fault}`;
  if (bodiless) return null;
  if (!response.content) return answer.body === "" ? null : `${name} ${answer.status} has a body the contract does not know`;
  if (!response.content[type]) return `${name} ${answer.status} is ${type || "without a type"}, the contract says ${Object.keys(response.content).join(", ")}`;
  if (!response.content[type].schema) return null;
  const wrong = checkBody([...place, "content", type, "schema"], type, answer);
  return wrong && `${name} ${answer.status}: ${wrong}`;
}

// No operation stands behind it: a problem, a preflight's answer, or one of the page's files.
function checkUndeclared(answer, method, template, type, bodiless) {
  if (method === "options" && answer.status < 300) return null;
  if (answer.status < 400) {
    return template === null && !answer.path.startsWith("/v1/") && ["get", "head"].includes(method) ? null : `no operation ${answer.method} ${template ?? answer.path}`;
  }
  if (bodiless) return null;
  if (type !== PROBLEM_TYPE) return `${answer.method} ${template ?? "elsewhere"} ${answer.status} is ${type || "without a type"}, not ${PROBLEM_TYPE}`;
  const wrong = checkBody(PROBLEM, type, answer);
  return wrong && `${answer.method} ${template ?? "elsewhere"} ${answer.status}: ${wrong}`;
}

function checkHeaders(place, response, headers) {
  for (const name of Object.keys(response.headers ?? {})) {
    const header = locate([...place, "headers", name]);
    const value = headers[name.toLowerCase()];
    if (value === undefined) {
      if (header.node.required) return `the header ${name} is missing`;
      continue;
    }
    const validate = validatorAt([...header.place, "schema"]);
    if (header.node.schema && !validate(value)) return `the header ${name} is ${JSON.stringify(value)}: ${validate.errors[0].message}`;
  }
  return null;
}

function checkBody(schema, type, answer) {
  let body = answer.body;
  if (/[/+]json$/.test(type)) {
    try {
      body = JSON.parse(body);
    } catch (error) {
      return `the body is no JSON: ${error.message}`;
    }
  }
  const validate = validatorAt(schema);
  if (!validate(body)) {
    return validate.errors.slice(0, MOST_SHOWN).map((error) =>
      `${error.instancePath.replace(/\/\d+(?=\/|$)/g, "/*") || "/"} ${error.message} ${JSON.stringify(error.params)}`).join("; ");
  }
  return type === PROBLEM_TYPE ? checkProblem(body, answer.status) : null;
}

// A problem's type, title and status belong together, and the status is the answer's.
function checkProblem(body, status) {
  const known = problems.get(/^\/docs#problem-(.+)$/.exec(body.type)?.[1]);
  if (!known) return `the type ${body.type} is no problem of the contract`;
  if (body.status !== status) return `the problem says ${body.status}`;
  if (known.status !== status) return `${known.slug} is a ${known.status}`;
  return known.title === body.title ? null : `${known.slug} has the title ${JSON.stringify(body.title)}`;
}

export function decoded(answer) {
  const encoding = Object.entries(answer.headers).find(([name]) => name.toLowerCase() === "content-encoding")?.[1];
  return encoding === "gzip" && answer.bytes ? { ...answer, body: gunzipSync(Buffer.from(answer.bytes, "base64url")).toString() } : answer;
}

async function checkFiles(files) {
  let passed = 0;
  let failed = 0;
  const faults = new Map();
  for (const file of files) {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      number++;
      if (line === "") continue;
      const answer = JSON.parse(line);
      const fault = checkAnswer(decoded(answer));
      if (!fault) {
        passed++;
        continue;
      }
      failed++;
      const seen = faults.get(fault) ?? { count: 0, first: `${file}:${number} ${answer.method} ${answer.path} ${answer.body.slice(0, 300)}` };
      seen.count++;
      faults.set(fault, seen);
    }
  }
  for (const [fault, { count, first }] of faults) console.log(`${count} x ${fault}\n    first: ${first}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

if (import.meta.url === `file://${process.argv[1]}`) process.exitCode = await checkFiles(process.argv.slice(2));
