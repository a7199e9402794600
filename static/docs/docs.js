// The reference, made in the browser from the contract itself, so that the two can't disagree. Built with DOM calls only: no HTML text.

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
};

let contract;

// The two marks the contract's texts use: **strong** and `code`.
const prose = (tag, attributes, text) => make(tag, attributes, ...String(text ?? "").split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part) =>
  part.startsWith("**") ? make("strong", {}, part.slice(2, -2)) : part.startsWith("`") && part.length > 1 ? make("code", {}, part.slice(1, -1)) : part));

const resolve = (node) => {
  let seen = node;
  for (let depth = 0; seen?.$ref && depth < 10; depth++) seen = seen.$ref.slice(2).split("/").reduce((at, part) => at[part.replaceAll("~1", "/")], contract);
  return seen;
};

function typeText(schema) {
  const real = resolve(schema) ?? {};
  if (real.enum) return real.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (real.const !== undefined) return JSON.stringify(real.const);
  const choices = real.oneOf ?? real.anyOf;
  if (choices) return [...new Set(choices.map(typeText))].join(" or ");
  const types = [].concat(real.type ?? (real.properties ? "object" : "any"));
  return types.map((type) => (type === "array" ? `list of ${typeText(real.items ?? {})}` : type)).join(" or ");
}

// Members of an object (or of a list's or alternative's object), nested; a schema inside itself is not opened again.
function members(schema, open = []) {
  let real = resolve(schema) ?? {};
  if (open.includes(real) || open.length > 6) return null;
  const path = [...open, real];
  if (real.items) return members(real.items, path);
  const choices = [...(real.oneOf ?? []), ...(real.anyOf ?? []), ...(real.allOf ?? [])];
  if (!real.properties && choices.length > 0) {
    const lists = choices.map((choice) => members(choice, path)).filter(Boolean);
    return lists.length > 0 ? make("div", {}, ...lists) : null;
  }
  if (!real.properties) return null;
  return make("ul", { class: "members" }, ...Object.entries(real.properties).map(([name, property]) => {
    const inner = resolve(property) ?? {};
    const nested = members(property, path);
    return make("li", {}, make("code", {}, name), " ", make("span", { class: "type" }, typeText(property)),
      (real.required ?? []).includes(name) ? "" : make("span", { class: "type" }, ", may be left out"),
      inner.description ? prose("small", {}, inner.description) : "",
      nested ? make("details", {}, make("summary", {}, "members"), nested) : "");
  }));
}

const parameterTable = (list, of) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Parameters: ${of}` },
  make("table", {}, make("thead", {}, make("tr", {}, ...["Name", "In", "Type", "Meaning"].map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...list.map((parameter) => make("tr", {}, make("th", { scope: "row" }, make("code", {}, parameter.name)),
      make("td", {}, parameter.in + (parameter.required ? ", required" : "")), make("td", {}, typeText(parameter.schema ?? {})),
      prose("td", {}, parameter.description))))));

function curl(method, path, operation) {
  const parts = [method === "get" ? "curl" : `curl -X ${method.toUpperCase()}`];
  if ((operation.security ?? contract.security ?? []).length > 0) parts.push('-H "Authorization: Bearer $KEY"');
  const types = Object.keys(resolve(operation.requestBody)?.content ?? {});
  if (types.length > 0) parts.push(`-H "Content-Type: ${types[0]}" --data-binary @body`);
  return `${parts.join(" ")} '${location.origin}${path}'`;
}

function body(title, content) {
  return Object.entries(content ?? {}).flatMap(([type, media]) => [make("h4", {}, `${title}: ${type}`), members(media.schema ?? {})]).filter(Boolean);
}

function operationSection(path, method, operation, shared) {
  const parameters = [...(shared ?? []), ...(operation.parameters ?? [])].map(resolve);
  const responses = Object.entries(operation.responses ?? {}).map(([status, response]) => [status, resolve(response)]);
  const good = responses.find(([status]) => status.startsWith("2"));
  return make("section", { id: operation.operationId },
    make("h3", {}, make("span", { class: "method" }, method.toUpperCase()), " ", make("code", {}, path)),
    make("p", {}, make("strong", {}, operation.summary ?? "")), operation.description ? prose("p", { class: "prose" }, operation.description) : "",
    parameters.length > 0 ? parameterTable(parameters, `${operation.summary} (${operation.operationId})`) : "",
    ...body("Body", resolve(operation.requestBody)?.content),
    make("h4", {}, "Answers"), make("ul", {}, ...responses.map(([status, response]) => make("li", {}, make("code", {}, status), " ", prose("span", {}, response.description)))),
    ...(good ? body(`Answer ${good[0]}`, good[1].content) : []),
    make("h4", {}, "Try"), make("pre", { tabindex: "0" }, make("code", {}, curl(method, path, operation))));
}

const PROBLEMS = {
  "bad-request": 400, "bad-parameter": 400, "bad-header": 400, "bad-encoding": 400, "malformed-body": 400, unauthorized: 401, forbidden: 403,
  "not-found": 404, "method-not-allowed": 405, "not-acceptable": 406, conflict: 409, exists: 409, "many-removals": 409,
  "idempotency-key-busy": 409, gone: 410, "length-required": 411, "precondition-failed": 412, "too-large": 413, "uri-too-long": 414,
  "unsupported-media-type": 415, "invalid-body": 422, "rejected-rows": 422, "idempotency-key-reused": 422, "rate-limited": 429,
  "head-too-large": 431, internal: 500, "not-implemented": 501, unavailable: 503,
};

function problemSection() {
  return make("section", { id: "problems" }, make("h2", {}, "Problems"),
    make("p", {}, "Every error is application/problem+json with type, title, status, detail, errors and request_id. The type is the address of its line here."),
    make("ul", {}, ...Object.entries(PROBLEMS).map(([slug, status]) => make("li", { id: `problem-${slug}` }, make("code", {}, `${status} ${slug}`)))));
}

function show() {
  const groups = new Map((contract.tags ?? []).map((tag) => [tag.name, { about: tag.description, items: [] }]));
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const method of ["get", "put", "post", "patch", "delete"]) {
      if (!item[method]) continue;
      const name = item[method].tags?.[0] ?? "Other";
      if (!groups.has(name)) groups.set(name, { items: [] });
      groups.get(name).items.push([path, method, item[method], item.parameters]);
    }
  }
  const reference = document.getElementById("reference");
  const contents = document.getElementById("contents");
  reference.replaceChildren(make("h1", {}, contract.info.title), prose("p", { class: "prose" }, contract.info.description));
  for (const [name, group] of groups) {
    if (group.items.length === 0) continue;
    reference.append(make("h2", {}, name), group.about ? prose("p", { class: "prose" }, group.about) : "",
      ...group.items.map(([path, method, operation, shared]) => operationSection(path, method, operation, shared)));
    contents.append(make("h2", {}, name), make("ul", {}, ...group.items.map(([path, method, operation]) =>
      make("li", {}, make("a", { href: `#${operation.operationId}` }, operation.summary ?? `${method} ${path}`)))));
  }
  reference.append(problemSection());
  contents.append(make("ul", {}, make("li", {}, make("a", { href: "#problems" }, "Problems"))));
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

try {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  contract = await response.json();
  show();
} catch (error) {
  document.getElementById("reference").replaceChildren(make("p", { class: "notice error" }, `The contract could not be loaded: ${error.message}. Reload to try again.`));
}
