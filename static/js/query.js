// The state of the page is its address: the API's own parameter names, plus `view`, `tool` and `offer` of the page itself.

const OWN = ["view", "offer", "tool"];
const ORDER = ["gpu", "gpu_count", "form_factor", "min_vram_gb", "billing", "term_months", "region", "country", "near", "max_latency_ms", "provider",
  "min_price", "max_price", "verdict", "availability", "include_stale", "sort", "limit", "cursor"];

// All parameters of an address as a plain object; a repeated one keeps every value, so that the API can refuse it by name.
export function readQuery(search) {
  const query = [];
  for (const [name, value] of new URLSearchParams(search)) query.push([name, value]);
  return query;
}

export const get = (query, name) => query.find(([own]) => own === name)?.[1] ?? "";

// What means nothing without the place that `near` names.
const needsNear = ([name, value]) => name === "max_latency_ms" || (name === "sort" && value.endsWith("latency"));

// The same with one parameter set (or taken out when empty). Any change of what is searched starts again at the first page.
export function withParameter(query, name, value) {
  if (name === "near" && !value) query = query.filter((pair) => !needsNear(pair));
  const next = query.filter(([own]) => own !== name && (own !== "cursor" || name === "offer" || name === "view"));
  if (value !== "" && value !== null && value !== undefined) next.push([name, String(value)]);
  return next;
}

function encode(pairs) {
  const rank = ([name]) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const sorted = [...pairs].sort((a, b) => rank(a) - rank(b));
  return new URLSearchParams(sorted).toString().replaceAll("%2C", ",");
}

export const toSearch = (query) => {
  const text = encode(query);
  return text ? `?${text}` : "/";
};

// What the API is asked: everything but the page's own words. Unknown ones go too, so that the API says what is wrong.
export function apiPath(query) {
  const text = encode(query.filter(([name]) => !OWN.includes(name)));
  return text ? `/v1/offers?${text}` : "/v1/offers";
}

// What a calculator is asked.
export function toolPath(tool, query) {
  const text = encode(query.filter(([name]) => !OWN.includes(name)));
  return `/v1/tools/${tool}${text ? `?${text}` : ""}`;
}

export const hasFilters = (query) => query.some(([name]) => ![...OWN, "sort", "limit", "cursor"].includes(name));
