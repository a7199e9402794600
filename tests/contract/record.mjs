// Records real exchanges with a running server, every operation with good and bad input, one a line as check_response.mjs reads
// them. Usage: record.mjs FILE, with RACKRATE_BASE (the server's address), RACKRATE_BIN and RACKRATE_STATE_DIR (for its commands).
// The providers it makes are new, so that it can run again. It fails where a status isn't the one it means to see, and when an
// operation was never seen to work.
import { execFileSync } from "node:child_process";
import { openSync, writeFileSync, writeSync } from "node:fs";
import { Agent, request } from "node:http";
import { gzipSync } from "node:zlib";
import { contract, operations, templateOf } from "./contract.mjs";

const base = new URL(process.env.RACKRATE_BASE);
const out = openSync(process.argv[2], "w");
const agent = new Agent({ keepAlive: true });
const command = (...words) => JSON.parse(execFileSync(process.env.RACKRATE_BIN, [...words, "--json"], { encoding: "utf8" }).trim().split("\n").pop());
const tag = process.pid.toString(36) + Date.now().toString(36);
const slug = `contract-${tag}`;
command("provider", "add", slug, "--name", "Contract");
const key = command("key", "create", slug).key;
const admin = command("key", "create", "--admin").key;

const faults = [];
const seen = new Map(operations().map(({ id }) => [id, new Set()]));

// Sends one request and records what comes back; the answer's JSON where it is one.
function send(wanted, method, path, { as, headers = {}, body } = {}) {
  const all = { ...(as ? { Authorization: `Bearer ${as}` } : {}), ...headers };
  if (body !== undefined && !("Transfer-Encoding" in all)) all["Content-Length"] = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    const call = request({ host: base.hostname, port: base.port, method, path, headers: all, agent }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve(record(wanted, method, path, response, Buffer.concat(chunks))));
    });
    call.on("error", reject);
    call.end(body);
  });
}

function record(wanted, method, path, response, bytes) {
  const { statusCode: status, headers } = response;
  const line = { method, path, status, headers, body: headers["content-encoding"] ? "" : bytes.toString() };
  if (headers["content-encoding"]) line.bytes = bytes.toString("base64url");
  writeSync(out, `${JSON.stringify(line)}\n`);
  if (status !== wanted) faults.push(`${method} ${path} is ${status}, not ${wanted}: ${line.body.slice(0, 300)}`);
  seen.get(contract.paths[templateOf(path)]?.[method.toLowerCase()]?.operationId)?.add(status);
  return { status, headers, data: /[/+]json/.test(headers["content-type"] ?? "") && line.body ? JSON.parse(line.body) : line.body };
}

const json = (value, more = {}) => ({ headers: { "Content-Type": "application/json", ...more }, body: JSON.stringify(value) });
const by = (as, options = {}) => ({ as, ...options });

// GET with everything every readable address shares: HEAD, 304, gzip, 406, an unknown parameter, a method it doesn't take.
async function read(path, { as, status = 200 } = {}) {
  const answer = await send(status, "GET", path, { as });
  await send(status, "HEAD", path, { as });
  await send(status, "GET", path, { as, headers: { "Accept-Encoding": "gzip" } });
  await send(204, "OPTIONS", path, { headers: { Origin: "https://example.net", "Access-Control-Request-Method": "GET" } });
  const bare = path.split("?")[0];
  if (!contract.paths[templateOf(bare)]?.put) await send(405, "PUT", bare, { as, body: "" });
  if (answer.headers.etag) {
    await send(304, "GET", path, { as, headers: { "If-None-Match": answer.headers.etag } });
    await send(304, "HEAD", path, { as, headers: { "If-None-Match": answer.headers.etag } });
  }
  if (path.startsWith("/v1/")) {
    await send(400, "GET", `${path}${path.includes("?") ? "&" : "?"}colour=red`, { as });
    if (contract.paths[templateOf(path)].get.responses[406]) await send(406, "GET", path, { as, headers: { Accept: "image/png" } });
  }
  return answer;
}

const offer = (external_id, more = {}) => ({
  external_id, gpu: "H100 SXM5", gpu_count: 8, region: "us-east", zone: "z1", interconnect: "nvlink", fabric: "infiniband", fabric_gbps: 3200,
  node: { vcpus: 192, memory_gib: 2048, storage_gb: 40000 },
  availability: { status: "available", gpus_available: 64, lead_time_days: 0, schedule: [{ gpus: 2000, days: 120 }] },
  prices: [{ billing: "on_demand", price_per_gpu_hour: 3.25 }, { billing: "reserved", term_months: 12, price_per_gpu_hour: 2.2, min_gpus: 16, max_gpus: 512, upfront_percent: 20 }],
  extra_costs: { egress_per_gb: 0.01 }, order_url: "https://example.net/o", source_url: "https://example.net/s", ...more,
});
const bare = (external_id) => ({ external_id, gpu: "Mystery 9000", gpu_count: 0.125, prices: [{ billing: "spot", price_per_node_hour: 0.043058 }] });
const CSV = "external_id,gpu,gpu_count,region,billing,term_months,price_per_gpu_hour\nc1,L4,1,us-east,on_demand,,0.5\nc1,L4,1,us-east,reserved,12,0.4\n";
const home = `/v1/providers/${slug}`;

async function uploads() {
  const inventory = `${home}/inventory`;
  await send(200, "PUT", inventory, by(key, json({ offers: [offer("a"), bare("b"), offer("a/b c", { gpu: "L4", gpu_count: 1 })] })));
  await send(200, "PUT", `${inventory}?dry_run=1`, by(key, json({ offers: [offer("a", { prices: [{ billing: "spot", price_per_gpu_hour: 1.5 }] })] })));
  await send(200, "POST", `${home}/offers`, by(key, { headers: { "Content-Type": "text/csv" }, body: CSV }));
  await send(200, "POST", `${home}/offers`, by(key, { body: `${JSON.stringify(bare("n1"))}\n${JSON.stringify(bare("n2"))}\n` }));
  const packed = gzipSync(JSON.stringify({ offers: [bare("gz")] }));
  await send(200, "POST", `${home}/offers`, by(key, { headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" }, body: packed }));
  const half = json({ offers: [offer("ok"), { external_id: "bad", gpu: "", gpu_count: -1, prices: [] }] });
  await send(422, "POST", `${home}/offers`, by(key, half));
  await send(422, "PUT", inventory, by(key, half));
  await send(200, "POST", `${home}/offers?on_error=skip`, by(key, half));
  const idempotent = (body) => by(key, json(body, { "Idempotency-Key": `k-${tag}` }));
  for (let i = 0; i < 2; i++) await send(200, "POST", `${home}/offers`, idempotent({ offers: [bare("once")] }));
  await send(422, "POST", `${home}/offers`, idempotent({ offers: [bare("twice")] }));
  for (const [method, path] of [["PUT", inventory], ["POST", `${home}/offers`]]) {
    await send(400, method, path, by(key, { headers: { "Content-Type": "application/json" }, body: "{" }));
    await send(400, method, path, by(key, { headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" }, body: "no gzip" }));
    await send(400, method, path, by(key, json({ offers: [] }, { "Idempotency-Key": "with space" })));
    await send(400, method, `${path}?dry_rum=1`, by(key, json({ offers: [] })));
    await send(415, method, path, by(key, { headers: { "Content-Type": "image/png" }, body: "x" }));
    await send(415, method, path, by(key, { headers: { "Content-Encoding": "br" }, body: "x" }));
    await denied(method, path, json({ offers: [offer("x")] }));
  }
  const many = Array.from({ length: 1000 }, (_, i) => bare(`m${i}`));
  await send(200, "PUT", inventory, by(key, json({ offers: [...many, offer("a"), offer("a/b c")] })));
  await send(409, "PUT", inventory, by(key, json({ offers: [offer("a")] })));
  await send(200, "PUT", `${inventory}?confirm_removals=1`, by(key, json({ offers: [offer("a"), offer("a/b c"), offer("gone"), bare("b")] })));
}

// Who may not: nobody, a key nobody has, another's key, and a provider that isn't there.
async function denied(method, path, options = {}) {
  await send(401, method, path, options);
  await send(401, method, path, by(`rr_${"A".repeat(43)}`, options));
  const other = path.startsWith("/v1/admin/") ? path : path.replace(slug, "sample");
  await send(403, method, other, by(key, options));
}

async function oneOffer() {
  const path = `${home}/offers/a`;
  const before = await read(path);
  await send(200, "PATCH", path, by(key, json({ availability: { gpus_available: 8 } }, { "If-Match": before.headers.etag })));
  await send(412, "PATCH", path, by(key, json({ availability: { gpus_available: 9 } }, { "If-Match": before.headers.etag })));
  await send(200, "PATCH", `${path}?dry_run=1`, by(key, json({ prices: [{ billing: "on_demand", price_per_gpu_hour: 3 }] }, { "Content-Type": "application/merge-patch+json" })));
  await send(200, "PATCH", `${home}/offers/a%2Fb%20c`, by(key, json({ prices: [{ billing: "on_demand", price_per_gpu_hour: 3.5 }] })));
  await send(422, "PATCH", path, by(key, json({ gpu_count: -1 })));
  await send(400, "PATCH", path, by(key, { headers: { "Content-Type": "application/json" }, body: "[" }));
  await send(415, "PATCH", path, by(key, { headers: { "Content-Type": "text/csv" }, body: CSV }));
  await send(413, "PATCH", path, by(key, json({ zone: "x".repeat(70000) })));
  await send(404, "PATCH", `${home}/offers/none`, by(key, json({ zone: "z" })));
  await denied("PATCH", path, json({ zone: "z" }));
  await denied("DELETE", path);
  await send(412, "DELETE", path, by(key, { headers: { "If-Match": '"v1"' } }));
  await send(404, "DELETE", `${home}/offers/none`, by(key));
  const gone = (await send(200, "GET", `${home}/offers/gone`)).data;
  await send(200, "DELETE", `${home}/offers/gone?dry_run=1`, by(key));
  await send(200, "DELETE", `${home}/offers/gone`, by(key));
  await send(410, "GET", `/v1/offers/${gone.id}`);
  await send(404, "GET", `${home}/offers/gone`);
  await send(404, "GET", `${home}/offers/none`);
  const id = before.data.id;
  await read(`/v1/offers/${id}`);
  await send(404, "GET", "/v1/offers/of_none");
  await read(`/v1/offers/${id}/price-history`);
  await send(200, "GET", `/v1/offers/${id}/price-history?limit=1`);
  await send(404, "GET", "/v1/offers/of_none/price-history");
}

async function searches() {
  await read("/v1/offers");
  const example = (parameter) => [].concat(parameter.example ?? parameter.schema?.default ?? []).join(",");
  for (const parameter of contract.paths["/v1/offers"].get.parameters.filter((one) => one.in === "query")) {
    const value = example(parameter);
    const from = parameter.name === "max_latency_ms" ? "near=us-east&" : "";
    if (value !== "") await send(200, "GET", `/v1/offers?${from}${parameter.name}=${encodeURIComponent(value)}`);
    await send(400, "GET", `/v1/offers?${parameter.name}=`);
    if (parameter.name !== "q") await send(400, "GET", `/v1/offers?${parameter.name}=%2Abad%2A`); // any letters are words
  }
  for (let path = "/v1/offers?limit=7&sort=-price"; path;) {
    const { data } = await send(200, "GET", path);
    path = data.next_cursor ? `/v1/offers?limit=7&sort=-price&cursor=${data.next_cursor}` : null;
  }
  for (const format of ["ndjson", "csv"]) {
    await read(`/v1/offers?format=${format}`);
    await send(200, "GET", `/v1/offers?format=${format}&limit=2&fields=id,gpu,price.price_per_gpu_hour`);
    await send(400, "GET", `/v1/offers?format=${format}&facets=gpu`);
  }
  const facets = contract.paths["/v1/offers"].get.parameters.find((one) => one.name === "facets").schema.items.enum;
  await send(200, "GET", `/v1/offers?near=us-east&facets=${facets}`);
  await send(400, "GET", "/v1/offers?facets=latency");
  for (const sort of ["price", "total_price", "price_per_vram_gb", "-price_per_tflop", "price_per_tbps", "vram", "updated", "-updated"]) await send(200, "GET", `/v1/offers?sort=${sort}&billing=spot,on_demand,reserved&include_stale=1`);
  await send(400, "GET", "/v1/offers?limit=0");
  await send(400, "GET", "/v1/offers?gpuu=h100");
  await send(414, "GET", `/v1/offers?gpu=${"x".repeat(5000)}`);
  await send(431, "GET", "/v1/offers", { headers: { "X-Long": "x".repeat(17000) } });
}

// Six providers of one GPU, one far above the others, and one of nothing but samples' kind.
async function market() {
  for (let i = 0; i < 6; i++) {
    const name = `market-${i}-${tag}`;
    command("provider", "add", name, "--name", name);
    const own = command("key", "create", name).key;
    const prices = [{ billing: "on_demand", price_per_gpu_hour: i === 5 ? 9 : (100 + i) / 100 }, { billing: "reserved", term_months: 12, price_per_gpu_hour: (80 + i) / 100 }];
    await send(200, "PUT", `/v1/providers/${name}/inventory`, by(own, json({ offers: [offer("m", { gpu: "A30", gpu_count: 4, prices })] })));
  }
  await read("/v1/market/summary");
  await send(200, "GET", "/v1/market/summary?gpu=a30&billing=on_demand,reserved&term_months=0,13&continent=NA");
  for (let path = "/v1/market/summary?limit=3"; path;) {
    const { data } = await send(200, "GET", path);
    path = data.next_cursor ? `/v1/market/summary?limit=3&cursor=${data.next_cursor}` : null;
  }
  await read("/v1/market/summary?gpu=a30&explain=1&limit=2");
  await send(200, "GET", "/v1/market/summary?gpu=h100&explain=1");
  for (const bad of ["gpu=h100x", "billing=hourly", "term_months=601", "term_months=x", "continent=XX", "explain=1", "explain=yes", "limit=501", "cursor=x"]) await send(400, "GET", `/v1/market/summary?${bad}`);
  // Yesterday's catalogue, so that a day closed with something on offer.
  const past = new Date(Date.now() - 2 * 86400e3).toISOString().slice(0, 10);
  const file = `${process.env.RACKRATE_STATE_DIR}-past.json`;
  writeFileSync(file, JSON.stringify({ offers: [offer("m", { gpu: "A30", gpu_count: 4, prices: [{ billing: "on_demand", price_per_gpu_hour: 1.02 }] })] }));
  command("provider", "add", `past-${tag}`, "--name", "Past");
  command("import", "rackrate", "--provider", `past-${tag}`, "--as-of", past, file);
  command("fixing", "publish");
  command("fixing", "revise", past);
  await new Promise((resolve) => setTimeout(resolve, 1000)); // the server follows within a second
  const history = "/v1/market/history?gpu=a30";
  const days = await read(history);
  if (days.data.data.at(-1)?.revision !== 2) faults.push(`the revised day is not in the history: ${JSON.stringify(days.data).slice(0, 300)}`);
  for (const query of ["&interval=week", "&interval=month&continent=NA", "&billing=reserved&term_months=12&limit=1", "&billing=spot", `&from=${past}&to=${past}`]) await send(200, "GET", history + query);
  for (const bad of ["", "?gpu=h100", "?gpu=a31", "?gpu=a30&from=2026-02-29", "?gpu=a30&from=2026-08-01&to=2026-07-01", "?gpu=a30&interval=year", "?gpu=a30&billing=reserved", "?gpu=a30&term_months=601", "?gpu=a30&billing=spot&term_months=1"])
    await send(400, "GET", `/v1/market/history${bad}`);
  const found = await send(200, "GET", "/v1/offers?gpu=a30&billing=on_demand&verdict=above_market");
  if (found.data.total !== 1) faults.push(`verdict=above_market finds ${found.data.total} offers, not the one that is`);
  await send(200, "GET", `/v1/offers/${found.data.data[0].id}`);
}

async function directory() {
  for (const path of ["/v1/providers", "/v1/gpus", "/v1/regions"]) {
    const all = await read(`${path}?limit=500`);
    for (const row of all.data.data) await send(200, "GET", `${path}/${row.slug}`);
    await send(200, "GET", `${path}?limit=3`);
    await read(`${path}/${all.data.data[0].slug}`);
    await send(404, "GET", `${path}/none-such`);
    await send(400, "GET", `${path}?limit=x`);
  }
  for (const query of ["/v1/providers?kind=gpu_cloud", "/v1/gpus?vendor=nvidia", "/v1/gpus?family=h100", "/v1/regions?kind=area", "/v1/regions?country=US"]) await send(200, "GET", query);
  const formats = contract.paths["/v1/export/{format}"].get.parameters.find((one) => one.name === "format").schema.enum;
  for (const format of formats) await read(`/v1/export/${format}`);
  await send(200, "GET", `/v1/export/${formats[0]}?provider=${slug}`);
  await send(404, "GET", "/v1/export/none");
}

async function tools() {
  const of = `${home}/offers/priced`, priced = { ...offer("priced"), prices: [{ billing: "on_demand", price_per_gpu_hour: 3.25 }, { billing: "spot", price_per_gpu_hour: 1.5 },
    { billing: "reserved", term_months: 12, price_per_gpu_hour: 2.2, min_gpus: 16, upfront_percent: 20, plan: "standard" }] };
  await send(200, "POST", `${home}/offers`, by(key, json({ offers: [priced, { ...offer("bare"), prices: [{ billing: "reserved", term_months: 6, price_per_gpu_hour: 2 }] }] })));
  const ids = [];
  for (const name of ["priced", "bare"]) ids.push((await send(200, "GET", `${home}/offers/${name}`)).data.id);
  await read("/v1/tools/rent-vs-buy");
  await read("/v1/tools/rent-vs-buy?rent_price_per_gpu_hour=2.5&yearly_price_fall_percent=20&utilization=0.5");
  for (const query of ["machine=dgx-h100&hosting=own_site&residual_value_percent=100&support_usd=0", "utilization=0", "rent_billing=reserved&rent_term_months=36&gpu=h200-sxm"]) await send(200, "GET", `/v1/tools/rent-vs-buy?${query}`);
  await read("/v1/tools/interruptions?gpus=1024&days=30");
  await send(200, "GET", "/v1/tools/interruptions?rate=llama3_unexpected&checkpoint_minutes=0&repair_hours=0");
  await send(200, "GET", "/v1/tools/interruptions?gpus=1000000&failures_per_100_gpus_month=1000&repair_hours=8760");
  const reserve = "/v1/tools/reserve-vs-on-demand";
  await read(`${reserve}?reserved_price=2.2&on_demand_price=3.25&term_months=12`);
  for (const id of ids) await read(`${reserve}?offer=${id}`);
  await send(200, "GET", `${reserve}?offer=${ids[1]}&on_demand_price=3&hours_per_month=0`);
  await read(`${reserve}?gpu=h100-sxm&region=us-east`);
  await send(200, "GET", `${reserve}?gpu=h100-sxm&term_months=12&gpus=8`);
  for (const id of ids) await read(`/v1/tools/whole-cost?offer=${id}&gpus=16&months=18&egress_gb_per_month=100&storage_gb=5.5`);
  for (const bad of [`${reserve}?reserved_price=2`, `${reserve}?gpu=h100`, `${reserve}?offer=of_none`, "/v1/tools/whole-cost", "/v1/tools/interruptions?days=0", "/v1/tools/rent-vs-buy?years=-1"]) await send(400, "GET", bad);
  await send(200, "DELETE", of, by(key));
  await send(400, "GET", `${reserve}?offer=${ids[0]}`);
}

async function own() {
  await read(`${home}/inventory`, { as: key });
  await denied("GET", `${home}/inventory`);
  const list = await read(`${home}/uploads`, { as: key });
  await send(200, "GET", `${home}/uploads?limit=2`, by(key));
  await denied("GET", `${home}/uploads`);
  for (const upload of list.data.data) await send(200, "GET", `${home}/uploads/${upload.upload_id}`, by(key));
  await read(`${home}/uploads/${list.data.data[0].upload_id}`, { as: key });
  await send(404, "GET", `${home}/uploads/018f6f0e-93c5-4c1e-8a2a-5f1f3f0c9d11`, by(key));
  await denied("GET", `${home}/uploads/${list.data.data[0].upload_id}`);
  const profile = `${home}/profile`;
  const facts = { name: "Contract Cloud", website: "https://example.net", contact: "ops@example.net", freshness_hours: 24, sla_percent: 99.9, burn_in: true, monitoring: true, on_site: false };
  await send(200, "PUT", profile, by(key, json(facts)));
  await send(422, "PUT", profile, by(key, json({ sla_percent: 101, colour: "red" })));
  await send(400, "PUT", profile, by(key, json([])));
  await send(415, "PUT", profile, by(key, { headers: { "Content-Type": "text/csv" }, body: "a" }));
  await send(413, "PUT", profile, by(key, json({ name: "x".repeat(70000) })));
  await denied("PUT", profile, json(facts));
  await send(404, "PUT", "/v1/providers/none-such/inventory", by(admin, json({ offers: [] })));
}

async function administration() {
  const fresh = `new-${tag}`;
  await read("/v1/admin/providers", { as: admin });
  await read("/v1/admin/keys", { as: admin });
  const added = json({ slug: fresh, name: "New", kind: "reseller" });
  await send(201, "POST", "/v1/admin/providers", by(admin, added));
  await send(409, "POST", "/v1/admin/providers", by(admin, added));
  await send(422, "POST", "/v1/admin/providers", by(admin, json({ slug: "No Slug", kind: "bakery" })));
  await send(400, "POST", "/v1/admin/providers", by(admin, { headers: { "Content-Type": "application/json" }, body: "{" }));
  await send(200, "PATCH", `/v1/admin/providers/${fresh}`, by(admin, json({ name: "Newer", suspended: true })));
  await send(422, "PATCH", `/v1/admin/providers/${fresh}`, by(admin, json({ colour: "red" })));
  await send(404, "PATCH", "/v1/admin/providers/none-such", by(admin, json({ name: "x" })));
  const made = await send(201, "POST", "/v1/admin/keys", by(admin, json({ provider: fresh })));
  await send(201, "POST", "/v1/admin/keys", by(admin, json({ admin: true })));
  await send(404, "POST", "/v1/admin/keys", by(admin, json({ provider: "none-such" })));
  await send(422, "POST", "/v1/admin/keys", by(admin, json({})));
  await send(200, "DELETE", `/v1/admin/keys/${made.data.id}`, by(admin));
  await send(404, "DELETE", "/v1/admin/keys/999999", by(admin));
  const once = json({ provider: fresh }, { "Idempotency-Key": `once-${tag}` });
  for (const status of [201, 201]) await send(status, "POST", "/v1/admin/keys", by(admin, once));
  await send(422, "POST", "/v1/admin/keys", by(admin, { ...once, body: JSON.stringify({ admin: true }) }));
  for (const [method, path, options] of [["GET", "/v1/admin/providers"], ["POST", "/v1/admin/providers", added], ["PATCH", `/v1/admin/providers/${fresh}`, json({ name: "x" })],
    ["GET", "/v1/admin/keys"], ["POST", "/v1/admin/keys", json({ admin: true })], ["DELETE", `/v1/admin/keys/${made.data.id}`]]) await denied(method, path, options);
}

async function names() {
  const raw = `Contract GPU ${tag}`, place = `Nowhere ${tag}`;
  const home = `/v1/providers/${slug}`, alias = "/v1/admin/aliases";
  const offer = { external_id: "unknown", gpu: raw, gpu_count: 1, region: place, prices: [{ billing: "on_demand", price_per_gpu_hour: 1 }] };
  await send(200, "POST", `${home}/offers`, by(key, json({ offers: [offer] })));
  await read("/v1/admin/unrecognized", { as: admin });
  await read(`${home}/unrecognized`, { as: key });
  await send(404, "GET", "/v1/providers/none-such/unrecognized", by(admin));
  const meant = json({ kind: "gpu", name: raw, slug: "h100-sxm" });
  await send(200, "POST", alias, by(admin, meant));
  await send(200, "POST", alias, by(admin, json({ kind: "place", provider: slug, name: place, slug: "us-ashburn" })));
  await send(404, "POST", alias, by(admin, json({ kind: "place", provider: "none-such", name: place, slug: "us-ashburn" })));
  await send(422, "POST", alias, by(admin, json({ kind: "car", name: "…", slug: "h100" })));
  await send(422, "POST", alias, by(admin, json({})));
  await read(alias, { as: admin });
  await send(200, "DELETE", `${alias}/gpu/${encodeURIComponent(raw)}`, by(admin));
  await send(404, "DELETE", `${alias}/gpu/${encodeURIComponent(raw)}`, by(admin));
  await send(404, "DELETE", `${alias}/car/x`, by(admin));
  await send(400, "DELETE", `${alias}/gpu/x?provider=${slug}`, by(admin));
  await send(200, "DELETE", `${alias}/place/${encodeURIComponent(place)}?provider=${slug}`, by(admin));
  await send(200, "DELETE", `${home}/offers/unknown`, by(key));
  for (const [method, path, options] of [["GET", "/v1/admin/unrecognized"], ["GET", alias], ["POST", alias, meant], ["DELETE", `${alias}/gpu/x`], ["GET", `${home}/unrecognized`]])
    await denied(method, path, options);
}

async function latency() {
  const path = "/v1/latency";
  const row = { from: "us-ashburn", to: "de-frankfurt", median_ms: 92.4, p95_ms: 97.1, samples: 200, provider: slug, zone: "fra1" };
  const impossible = { from: "us-ashburn", to: "hr-zagreb", median_ms: 3.5, provider: slug, zone: "zag1" };
  await send(200, "POST", path, by(admin, json({ measurements: [row, impossible] })));
  await send(200, "POST", path, by(key, json({ measurements: [{ from: "jp", to: "us-dallas", median_ms: 140 }] })));
  await send(403, "POST", path, by(key, json({ measurements: [{ ...row, provider: "sample" }] })));
  await send(422, "POST", path, by(key, json({ measurements: [{ ...row, to: "us-ashburn" }] })));
  await send(422, "POST", path, by(key, json({ measurements: [{ ...row, median_ms: 10001 }] })));
  await send(400, "POST", path, by(key, json({ measurements: [] })));
  await send(415, "POST", path, by(key, { headers: { "Content-Type": "text/csv" }, body: "from,to" }));
  await send(401, "POST", path, json({ measurements: [row] }));
  await send(200, "POST", `${home}/offers`, by(key, json({ offers: [offer("far", { region: "hr-zagreb", zone: "zag1" }), offer("near", { region: "de-frankfurt" })] })));
  await read(`/v1/offers?provider=${slug}&near=us-ashburn;50.11,8.68&max_latency_ms=400&sort=latency`);
  await read(`${home}/offers/far`);
  for (const bad of ["near=nowhere-at-all", "near=139.7,35.7", "max_latency_ms=5", "sort=latency", "near=us&max_latency_ms=-1"]) await send(400, "GET", `/v1/offers?${bad}`);
  await read(`${path}?from=us-ashburn&to=de-frankfurt`);
  await read(`${path}?from=aws:us-east-1&to=50.11,8.68`);
  await read(`${path}?from=us-east;uk;50.11,8.68&to=jp;de-frankfurt`);
  await read(`${path}?from=us-east;uk`);
  for (const bad of ["", "?from=de", "?from=de&to=de", "?from=nowhere&to=de", "?from=139.7,35.7&to=de"]) await send(400, "GET", path + bad);
  await send(200, "POST", `${home}/offers`, by(key, json({ offers: [offer("stocked", { region: "us-ashburn", zone: null })] })));
  const placement = "/v1/tools/placement?users=us-east:60;eu-west:30;50.11,8.68&gpu=h100-sxm";
  await read(`${placement}&gpus=16&billing=on_demand&provider=${slug}`);
  await read(`${placement}&max_latency_ms=1&max_regions=1&latency_share=1`);
  for (const bad of ["&gpus=0", "&near=de", "&max_regions=9", "&users=de"]) await send(400, "GET", placement + bad);
  const list = (await read(`${path}/measurements?provider=${slug}&contradicting=1`)).data;
  await read(`${path}/measurements?limit=1&region=us-ashburn`);
  await send(400, "GET", `${path}/measurements?provider=none-such`);
  const one = `/v1/admin/latency/${list.data[0].id}`;
  await denied("DELETE", one);
  await send(200, "DELETE", one, by(admin));
  await send(404, "DELETE", one, by(admin));
  await read("/v1/regions?continent=EU&q=frank");
  await send(400, "GET", "/v1/regions?continent=XX");
}

async function service() {
  for (const path of ["/livez", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/method", "/", "/style.css", "/docs/docs.js"]) await read(path);
  await send(404, "GET", "/none");
  await send(404, "GET", "/v1/none");
  await send(400, "GET", "/v1/gpus/%zz");
  await send(501, "PROPFIND", "/v1/offers");
}

for (const part of [uploads, oneOffer, searches, market, directory, tools, own, administration, names, latency, service]) {
  try {
    await part();
  } catch (error) {
    faults.push(`${part.name}: ${error.stack}`);
  }
}
agent.destroy();
for (const [id, statuses] of seen) if (![...statuses].some((status) => status < 300)) faults.push(`${id} was never seen to work`);
for (const fault of faults) console.error(fault);
console.error(`${faults.length} unexpected`);
process.exitCode = faults.length === 0 ? 0 : 1;
