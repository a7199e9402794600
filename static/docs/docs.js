// The reference, made in the browser from the contract itself, so that the two can't disagree.
import { inline, listing, make, prose, table } from "./dom.js";
import { Schemas } from "./schema.js";

const METHODS = ["get", "put", "post", "patch", "delete"];
// The address that the contract's examples are written for; shown as the one this page came from.
const EXAMPLE_ORIGIN = "http://127.0.0.1:8080";

let contract;
let schemas;

const example = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
const here = (source) => source.replaceAll(EXAMPLE_ORIGIN, location.origin);

// Operations by tag, in the contract's order.
function byTag() {
  const tags = new Map(contract.tags.map((tag) => [tag.name, { ...tag, operations: [] }]));
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const method of METHODS.filter((one) => item[one])) {
      const operation = { ...item[method], path, method, parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map((one) => schemas.resolve(one)) };
      tags.get(operation.tags[0]).operations.push(operation);
    }
  }
  return tags;
}

const locked = (operation) => (operation.security ?? contract.security ?? []).length > 0;

function parameters({ summary, parameters: list }) {
  if (list.length === 0) return null;
  return [make("h5", {}, "Parameters"), table(`Parameters: ${summary}`, ["Name", "In", "Takes", "Meaning"], list.map((parameter) =>
    make("tr", {}, make("th", { scope: "row" }, make("code", {}, parameter.name)), make("td", {}, parameter.in, parameter.required ? make("small", {}, "required") : ""),
      make("td", {}, schemas.about(parameter.schema ?? {})),
      make("td", {}, inline(parameter.description), parameter.example === undefined ? "" : make("small", {}, "Example: ", make("code", {}, [].concat(parameter.example).join(",")))))))];
}

// A body in each of its media types: its members, and an example to open.
function bodies(title, content) {
  return Object.entries(content ?? {}).map(([type, media]) => {
    const members = schemas.members(media.schema ?? {});
    const about = schemas.resolve(media.schema ?? {}).description;
    const sample = media.example ?? Object.values(media.examples ?? {})[0]?.value;
    return [make("h5", {}, `${title}: `, make("code", {}, type)), about ? make("p", { class: "prose" }, inline(about)) : "", members,
      sample === undefined ? "" : make("details", {}, make("summary", {}, "Example"), listing(example(sample)))];
  });
}

function answers({ responses }) {
  return make("ul", { class: "answers" }, Object.entries(responses).map(([status, response]) => {
    const real = schemas.resolve(response);
    const headers = Object.keys(real.headers ?? {}).filter((name) => !/^(X-Request-Id|Cache-Control|RateLimit|X-Rackrate-Data-Age)/.test(name));
    return make("li", {}, make("code", {}, status), " ", inline(real.description),
      headers.length > 0 ? make("span", { class: "type" }, ` With ${headers.join(", ")}.`) : "");
  }));
}

function curl(operation) {
  const samples = (operation["x-codeSamples"] ?? []).map((sample) => sample.source);
  return samples.length > 0 ? samples.map(here) : [`curl -s '${location.origin}${operation.path.replace(/\{(\w+)\}/g, (all, name) =>
    operation.parameters.find((one) => one.name === name)?.example ?? all)}'`];
}

function operationSection(operation) {
  const good = Object.entries(operation.responses).find(([status]) => status.startsWith("2"));
  return make("section", { id: operation.operationId },
    make("h4", {}, make("a", { href: `#${operation.operationId}` }, operation.summary)),
    make("p", { class: "call" }, make("span", { class: `method ${operation.method}` }, operation.method.toUpperCase()), " ", make("code", {}, operation.path),
      locked(operation) ? make("span", { class: "label" }, "needs a key") : ""),
    prose(operation.description), make("h5", {}, "Try it"), curl(operation).map(listing),
    parameters(operation), bodies("Body", schemas.resolve(operation.requestBody).content),
    good ? bodies(`Answer ${good[0]}`, schemas.resolve(good[1]).content) : null, make("h5", {}, "Statuses"), answers(operation));
}

const tagSection = (tag) => [make("h3", { id: `tag-${tag.name}` }, tag.name), prose(tag.description), tag.operations.map(operationSection)];

function keySection() {
  return Object.values(contract.components.securitySchemes).map((scheme) => make("p", { class: "notice" }, make("strong", {}, "Keys. "), inline(scheme.description)));
}

function problemSection() {
  return make("section", { id: "problems" }, make("h2", {}, "Problems"), make("p", { class: "prose" }, inline("What the `type` of an error means: its address is a line here.")),
    make("dl", { class: "problems" }, contract["x-problems"].map((problem) => make("div", { id: `problem-${problem.slug}`, tabindex: "-1" },
      make("dt", {}, make("code", {}, String(problem.status)), " ", make("a", { href: `#problem-${problem.slug}` }, problem.title), " ", make("code", { class: "type" }, problem.slug)),
      make("dd", {}, inline(problem.description))))));
}

const link = (href, text) => make("li", {}, make("a", { href }, text));

// The page once rendered is longer than when the browser looked for the address's anchor.
function goToAnchor() {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  target?.scrollIntoView();
  target?.classList.add("target");
}

function show() {
  const tags = byTag();
  const reference = document.getElementById("reference");
  const contents = document.getElementById("contents");
  reference.replaceChildren(make("h1", {}, `${contract.info.title} API`), make("p", { class: "lead" }, contract.info.summary), ...prose(contract.info.description));
  for (const group of contract["x-tagGroups"]) {
    const own = group.tags.map((name) => tags.get(name));
    reference.append(make("h2", {}, group.name), ...(own.some((tag) => tag.operations.some(locked)) ? keySection() : []), ...own.map(tagSection).flat(Infinity));
    contents.append(make("p", { class: "group" }, group.name),
      ...own.map((tag) => make("ul", { "aria-label": tag.name }, tag.operations.map(({ operationId, summary }) => link(`#${operationId}`, summary)))));
  }
  reference.append(problemSection());
  contents.append(make("p", { class: "group" }, "Problems"), make("ul", { "aria-label": "Problems" }, link("#problems", "What errors mean")));
  addEventListener("hashchange", () => {
    for (const old of document.querySelectorAll(".target")) old.classList.remove("target");
    goToAnchor();
  });
  goToAnchor();
}

try {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  contract = await response.json();
  schemas = new Schemas(contract);
  show();
} catch (error) {
  document.getElementById("reference").replaceChildren(make("p", { class: "notice error", role: "alert" }, `The contract could not be loaded: ${error.message}. Reload to try again.`));
}
