// The page in a real Chromium against a real server. RACKRATE_WEB_BASE is its address, RACKRATE_WEB_KEY a key of the provider `web`.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import AxeBuilder from "@axe-core/playwright";
import { chromium } from "playwright-core";

const base = process.env.RACKRATE_WEB_BASE;
const key = process.env.RACKRATE_WEB_KEY;
let browser;

const price = (amount, more = {}) => ({ billing: "on_demand", price_per_gpu_hour: amount, ...more });
const offers = [
  { external_id: "l40s", gpu: "L40S", gpu_count: 4, region: "us-east", prices: [price(1.2345)] },
  { external_id: "h200", gpu: "H200 SXM", gpu_count: 8, region: "se-stockholm", node: { vcpus: 192, memory_gib: 2048 },
    prices: [price(3.5), { billing: "reserved", term_months: 12, price_per_gpu_hour: 2.2, upfront_percent: 20, min_gpus: 16, max_gpus: 512 }],
    order_url: "https://web.example/order", availability: { status: "available", gpus_available: 64 } },
  { external_id: "exact", gpu: "A100 PCIe 40GB", gpu_count: 1, region: "nowhere-land", prices: [price(0.043058)] },
  ...Array.from({ length: 60 }, (_, i) => ({ external_id: `t4-${i}`, gpu: "T4", gpu_count: 1, prices: [price(Number(`0.${300 + i}`))] })),
];

before(async () => {
  const response = await fetch(`${base}/v1/providers/web/inventory`, {
    method: "PUT", headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }, body: JSON.stringify({ offers }),
  });
  assert.equal(response.status, 200, await response.text());
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});
after(() => browser?.close());

// A page that notes what must not happen: scripts failing, the content policy stepping in, requests to anywhere else.
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
  page.on("console", (message) => /content security|trusted type/i.test(message.text()) && page.faults.push(message.text()));
  page.on("request", (request) => !request.url().startsWith(base) && !request.url().startsWith("data:") && page.faults.push(`request to ${request.url()}`));
  await page.goto(base + path);
  return page;
}
async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}
const rows = (page) => page.locator("main table tbody tr");
const settled = (page) => page.locator("section[aria-busy=false]").first().waitFor();

test("lists offers with both figures, exactly", async () => {
  const page = await open("/?provider=web&gpu=a100-pcie-40gb,h200-sxm,l40s");
  await settled(page);
  assert.equal(await rows(page).count(), 3);
  const text = await page.locator("main").innerText();
  for (const wanted of ["$0.043058", "$1.2345", "$4.938", "$2.20", "$17.60", "nowhere-land"]) assert.ok(text.includes(wanted), `${wanted} in ${text.slice(0, 400)}`);
  await close(page);
});

test("every filter changes the address and the rows", async () => {
  const page = await open("/?provider=web");
  await settled(page);
  const choose = async (name, value, expected) => {
    const control = page.locator(`.filters [name=${name}]`);
    const before = page.url();
    if ((await control.evaluate((element) => element.tagName)) === "SELECT") await control.selectOption(value);
    else {
      await control.fill(value);
      await control.press("Enter");
    }
    await page.waitForURL((url) => url.toString() !== before && new URL(url).searchParams.get(name) === value);
    await page.waitForFunction((count) => document.querySelector("[role=status]")?.textContent.startsWith(`${count} `), expected);
  };
  await choose("gpu", "h200-sxm", 1);
  await choose("billing", "reserved", 1);
  await choose("term_months", "12", 1);
  await choose("max_price", "2.1", 0);
  assert.ok((await page.locator("main").innerText()).includes("Loosen one of these"));
  await page.getByRole("button", { name: "without max price 2.1" }).click();
  await page.waitForFunction(() => document.querySelector("[role=status]")?.textContent.startsWith("1 "));
  await choose("region", "eu-north", 1);
  await choose("gpu_count", "8", 1);
  await choose("min_vram_gb", "141", 1);
  await choose("form_factor", "sxm", 1);
  await choose("availability", "available", 1);
  await close(page);
});

test("sorting, paging to the end and Back", async () => {
  const page = await open("/?provider=web&gpu=t4");
  await settled(page);
  assert.equal(await rows(page).count(), 50);
  const first = await rows(page).first().innerText();
  await page.getByRole("button", { name: "Next page" }).click();
  await page.waitForFunction(() => document.querySelectorAll("main table tbody tr").length === 10);
  assert.ok(page.url().includes("cursor="));
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll("main table tbody tr").length === 50);
  assert.equal(await rows(page).first().innerText(), first);
  await page.getByRole("button", { name: /^Per GPU/ }).click();
  await page.waitForURL(/sort=-price/);
  await page.waitForFunction((text) => document.querySelector("main table tbody tr").innerText !== text, first);
  assert.ok((await rows(page).first().innerText()).includes("$0.359"));
  await close(page);
});

test("an offer opens with all its prices, from the list and from its address", async () => {
  const page = await open("/?provider=web&gpu=h200-sxm");
  await settled(page);
  await rows(page).first().getByRole("button").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("rowheader", { name: /reserved 12 months/ }).first().waitFor();
  const text = await dialog.innerText();
  for (const wanted of ["on demand", "$3.50", "$28.00", "$2.20", "$3854.40", "16 to 512 GPUs", "192 vCPUs", "Order at"]) assert.ok(text.includes(wanted), wanted);
  assert.match(page.url(), /offer=of_/);
  const address = page.url();
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.toString().includes("offer="));
  await close(page);
  const again = await open(address.slice(base.length));
  await again.getByRole("dialog").getByText("reserved 12 months").first().waitFor();
  await close(again);
});

test("samples are labelled with their date", async () => {
  const page = await open("/?provider=voltage-park");
  await settled(page);
  assert.ok((await rows(page).first().innerText()).includes("sample of 2024-08-15"));
  await close(page);
});

test("what the API refuses is shown, not dropped", async () => {
  const page = await open("/?provider=web&gpuu=h100");
  await page.getByRole("alert").waitFor();
  const text = await page.getByRole("alert").innerText();
  assert.ok(text.includes("gpuu") && text.includes("gpu?") && /request [0-9a-f-]{36}/.test(text), text);
  await close(page);
});

test("a server that can't be reached is said, and tried again", async () => {
  const page = await open("/?provider=web&gpu=l40s");
  await settled(page);
  await page.route("**/v1/offers?*", (route) => route.abort());
  await page.locator(".filters [name=billing]").selectOption("on_demand");
  await page.getByRole("alert").getByText("can't be reached").waitFor();
  await page.unroute("**/v1/offers?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await settled(page);
  assert.equal(await rows(page).count(), 1);
  await close(page);
});

test("providers and GPUs have their views", async () => {
  const page = await open("/?view=providers");
  await page.getByRole("button", { name: "web", exact: true }).click();
  await page.waitForURL(/provider=web/);
  await settled(page);
  await page.getByRole("link", { name: "GPUs" }).click();
  await page.getByText("NVIDIA H200 SXM").first().waitFor();
  await close(page);
});

test("the reservation calculator: two prices, a fall, bad input beside its field, a GPU instead", async () => {
  const page = await open("/?view=tools");
  await page.getByRole("status").getByText("$9,198.00").waitFor();
  assert.ok((await page.locator("main").innerText()).includes("67.7 %"));
  const fill = async (name, value) => {
    await page.locator(`form.tool [name=${name}]`).fill(value);
    await page.locator(`form.tool [name=${name}]`).press("Enter");
    await page.waitForURL((url) => new URL(url).searchParams.get(name) === value);
  };
  await fill("hours_per_month", "365");
  await page.getByRole("status").getByText("On demand").waitFor();
  await fill("hours_per_month", "745");
  await page.locator("#fault-hours_per_month").getByText("hours_per_month is 0 to 744.").waitFor();
  assert.equal(await page.locator("form.tool [name=hours_per_month]").getAttribute("aria-invalid"), "true");
  await page.goBack();
  await page.getByRole("status").getByText("On demand").waitFor();
  await page.locator("form.tool [name=gpu]").selectOption("h200-sxm");
  await page.getByRole("rowheader", { name: /reserved 12 months/ }).waitFor();
  assert.equal(await page.locator("form.tool [name=reserved_price]").count(), 0, "a GPU takes the place of two prices");
  assert.ok((await page.locator("main").innerText()).includes("62.9 %"), "2.2 / 3.5");
  await page.locator("form.tool [name=region]").selectOption("eu-north");
  await page.waitForURL(/region=eu-north/);
  await page.getByText("h200-sxm in eu-north").waitFor();
  await close(page);
});

test("rent or buy: published figures beside exact ones, and a shared address", async () => {
  const page = await open("/?view=tools&tool=rent-vs-buy&rent_price_per_gpu_hour=2.5");
  await page.getByText("Buying overtakes renting in month 30").waitFor();
  const text = await page.locator("main").innerText();
  for (const wanted of ["$1.627307", "$0.998858", "$1.70", "$374,080.00", "own site", "$244,633.33"]) assert.ok(text.includes(wanted), wanted);
  await page.locator("form.tool [name=machine]").selectOption("dgx-h100");
  await page.getByText("$2.396071").first().waitFor();
  assert.equal(await page.locator("form.tool [name=machine_price_usd]").getAttribute("placeholder"), "360000");
  await page.locator("form.tool summary").click();
  await page.locator("form.tool [name=downtime_percent]").fill("0");
  await page.locator("form.tool [name=downtime_percent]").press("Enter");
  await page.waitForURL(/downtime_percent=0/);
  await page.getByRole("rowheader", { name: "support" }).waitFor();
  await close(page);
});

test("interruptions", async () => {
  const page = await open("/?view=tools&tool=interruptions&gpus=16384&days=54&rate=llama3_unexpected");
  await page.getByRole("status").getByText("419.0").waitFor();
  const text = await page.locator("main").innerText();
  for (const wanted of ["466.0", "3.1", "Spare nodes", "arXiv:2407.21783"]) assert.ok(text.includes(wanted), wanted);
  await page.getByText("Formulas").click();
  assert.ok((await page.locator(".formulas").innerText()).includes("Daly"));
  await close(page);
});

test("an offer's page compares its terms and tells the whole cost", async () => {
  const page = await open("/?provider=web&gpu=h200-sxm");
  await settled(page);
  await rows(page).first().getByRole("button").click();
  const costs = page.getByRole("dialog").getByRole("region", { name: "Costs", exact: true });
  await costs.getByText("Terms compared").waitFor();
  await costs.getByText("What an order costs in all").waitFor();
  let text = await costs.innerText();
  for (const wanted of ["37.1 %", "62.9 %", "$308,352.00", "$61,670.40", "unknown", "Not known of this offer: egress per gb"]) assert.ok(text.includes(wanted), `${wanted} in ${text}`);
  await costs.locator("[name=gpus]").fill("16");
  await costs.locator("[name=gpus]").press("Enter");
  await costs.locator("[name=months]").fill("24");
  await costs.locator("[name=months]").press("Enter");
  await costs.getByText("$616,704.00").first().waitFor();
  text = await costs.innerText();
  assert.ok(text.includes("2 terms") && text.includes("$981,120.00"), text);
  const { violations } = await new AxeBuilder({ page }).include("dialog").analyze();
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
  await close(page);
});

for (const path of ["/?provider=web&gpu=h200-sxm", "/?view=providers", "/?view=gpus", "/?view=tools", "/?view=tools&tool=rent-vs-buy&rent_price_per_gpu_hour=2.5&years=99", "/?view=tools&tool=interruptions", "/?gpuu=1", "/docs"]) {
  test(`nothing bars people at ${path}`, async () => {
    const page = await open(path);
    await page.waitForLoadState("networkidle");
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
    await close(page);
  });
}

test("works on a phone and by keyboard alone", async () => {
  const page = await open("/?provider=web", { viewport: { width: 390, height: 800 } });
  await settled(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling of the page");
  await page.locator(".filters [name=gpu]").focus();
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement?.classList.contains("open"))); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await close(page);
});

test("the first view is light", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  let bytes = 0;
  page.on("response", async (response) => {
    const sizes = await response.request().sizes().catch(() => null);
    if (sizes && !response.url().includes("/v1/")) bytes += sizes.responseBodySize;
  });
  await page.goto(`${base}/?provider=web`, { waitUntil: "networkidle" });
  assert.ok(bytes > 0 && bytes < 150_000, `${bytes} bytes of page`);
  await context.close();
});

test("the reference names every operation", async () => {
  const page = await open("/docs");
  await page.locator("#replaceInventory").waitFor();
  const contract = await (await fetch(`${base}/openapi.json`)).json();
  const ids = Object.values(contract.paths).flatMap((item) => Object.values(item).map((operation) => operation.operationId)).filter(Boolean);
  for (const id of ids) assert.equal(await page.locator(`#${id}`).count(), 1, id);
  assert.doesNotMatch(await page.locator("#reference").innerText(), /\[object|undefined|NaN/);
  for (const { slug } of contract["x-problems"]) assert.equal(await page.locator(`#problem-${slug}`).count(), 1, slug);
  assert.ok(await page.locator("#replaceInventory ul.members code", { hasText: /^upfront_percent$/ }).count() > 0, "members of members");
  await close(page);
});

test("the type of a problem is the address of its explanation", async () => {
  const { type } = await (await fetch(`${base}/v1/gpus/none-such`)).json();
  const page = await open(type);
  await page.locator(".target").waitFor();
  assert.equal(await page.locator(".target").getAttribute("id"), "problem-not-found");
  assert.ok(await page.evaluate(() => { const { top } = document.querySelector(".target").getBoundingClientRect(); return top >= 0 && top < innerHeight; }), "in view");
  await close(page);
});

test("a row says how its price stands to the market, the offer why and what to ask", async () => {
  const page = await open("/?gpu=a30&billing=on_demand");
  await settled(page);
  assert.equal(await rows(page).count(), 6);
  const last = rows(page).last();
  assert.equal(await last.locator(".fair.above_market").innerText(), "3.4 × the median");
  assert.equal(await rows(page).first().locator(".fair").innerText(), "typical");
  await last.locator("button.open").click();
  const dialog = page.locator("dialog[open]");
  await dialog.locator(".judgement").waitFor();
  const text = await dialog.innerText();
  for (const wanted of ["3.4 × the median", "$1.02 of 5 providers", "What to ask before you order", "Burn-in", "Interconnect", "Hidden fees", "Stock"]) assert.ok(text.includes(wanted), `${wanted} in ${text}`);
  await close(page);
});

test("the verdict filters", async () => {
  const page = await open("/?gpu=a30");
  await settled(page);
  await page.locator('select[name="verdict"]').selectOption("above_market");
  await page.waitForURL(/verdict=above_market/);
  await page.waitForFunction(() => document.querySelectorAll("main table tbody tr").length === 1);
  assert.ok((await rows(page).innerText()).includes("Fair 5"));
  await close(page);
});

test("the market: figures now, and a chart with its table", async () => {
  const page = await open("/?view=market");
  const row = page.locator("main table tbody tr", { hasText: "A30" });
  await row.waitFor();
  const text = await row.innerText();
  for (const wanted of ["$1.02", "$1.10", "1 outlier"]) assert.ok(text.includes(wanted), `${wanted} in ${text}`);
  await row.locator("button.open").click();
  await page.waitForURL(/view=market&.*gpu=a30|gpu=a30.*view=market/);
  await page.locator(".history canvas").waitFor();
  await page.locator("details summary", { hasText: "as a table" }).click();
  const days = page.locator("details table tbody tr");
  assert.equal(await days.count(), 3);
  assert.ok((await days.first().innerText()).includes("$1.02"));
  await page.locator('select[name="interval"]').selectOption("month");
  await page.waitForURL(/interval=month/);
  await page.locator(".history canvas").waitFor();
  const report = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(report.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(", ")}`), []);
  await close(page);
});

test("the method can be read", async () => {
  const page = await open("/docs/method");
  assert.ok((await page.locator("main").innerText()).includes("One vote a provider"));
  const report = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(report.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(", ")}`), []);
  await close(page);
});

test("users near a place: a latency column that sorts, filters and says what it is", async () => {
  const page = await open("/?provider=web");
  await settled(page);
  assert.equal(await page.getByRole("button", { name: /^Latency/ }).count(), 0);
  await page.locator(".filters [name=near]").fill("us-east");
  await page.locator(".filters [name=near]").press("Enter");
  await page.waitForURL(/near=us-east/);
  const header = page.getByRole("button", { name: /^Latency/ });
  await header.waitFor();
  await header.click();
  await page.waitForURL(/sort=latency/);
  await settled(page);
  const cells = (await page.locator("td:has(small.latency)").allInnerTexts()).map((text) => Number(text.split(" ")[0]));
  assert.ok(cells.length > 0 && cells.every((ms, i) => i === 0 || ms >= cells[i - 1]), String(cells));
  assert.equal(await page.locator("small.latency", { hasText: "estimated" }).count(), cells.length);
  assert.ok((await page.locator("main").innerText()).includes("place unknown"));
  await page.locator(".filters [name=max_latency_ms]").fill("1");
  await page.locator(".filters [name=max_latency_ms]").press("Enter");
  await page.waitForURL(/max_latency_ms=1/);
  await page.locator(".notice", { hasText: "No offer matches" }).waitFor();
  // Without the place, what hangs on it goes too.
  await page.getByRole("button", { name: "Remove filter near" }).click();
  await page.waitForURL((url) => url.search === "?provider=web");
  await settled(page);
  await close(page);
});

test("a place that light contradicts is flagged, with the evidence", async () => {
  const send = (path, body) => fetch(base + path, { method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env.RACKRATE_WEB_KEY}` }, body: JSON.stringify(body) });
  const far = { external_id: "contradicted", gpu: "RTX 3090", gpu_count: 1, region: "us-missouri", zone: "stl1", prices: [{ billing: "on_demand", price_per_gpu_hour: 0.3 }] };
  assert.equal((await send("/v1/providers/web/offers", { offers: [far] })).status, 200);
  assert.equal((await send("/v1/latency", { measurements: [{ from: "hr-zagreb", to: "us-missouri", zone: "stl1", median_ms: 3.5 }] })).status, 200);
  const page = await open("/?provider=web&gpu=rtx-3090");
  await settled(page);
  await page.locator(".label.flag", { hasText: "location contradicted" }).waitFor();
  await page.locator("button.open").first().click();
  const notice = page.locator("dialog .notice", { hasText: "Not where it is said to be" });
  await notice.waitFor();
  assert.match(await notice.innerText(), /hr-zagreb took\s+3\.5 ms \(measured by web/);
  await close(page);
  await fetch(`${base}/v1/providers/web/offers/contradicted`, { method: "DELETE", headers: { Authorization: `Bearer ${process.env.RACKRATE_WEB_KEY}` } });
});
