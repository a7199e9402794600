// The market: what GPUs cost now, by variant and commitment, and how that moved.
import { html, useEffect } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { Chart } from "./chart.js";
import { DASH, money, word } from "./format.js";
import { useAll, useJson } from "./hooks.js";
import { Problem } from "./offers.js";
import { get } from "./query.js";

const TERMS = { "0": null, "1-2": 1, "3-5": 3, "6-11": 6, "12-23": 12, "24-35": 24, "36+": 36 };
const commitmentOf = (row) => (row.billing === "reserved" ? `reserved ${row.term_bucket.replace("-", "–")} months` : word(row.billing));
const amount = (value) => (value === null ? DASH : money(value));

function excluded(row) {
  const reasons = Object.entries(row.excluded ?? {});
  return reasons.length === 0 ? "" : reasons.map(([reason, count]) => `${count} ${word(reason)}`).join(", ");
}

// The address that shows one row's history.
function historyOf(row) {
  const pairs = [["view", "market"], ["gpu", row.gpu], ["billing", row.billing]];
  if (TERMS[row.term_bucket]) pairs.push(["term_months", String(TERMS[row.term_bucket])]);
  return pairs;
}

function Figures({ row }) {
  const price = row.price_per_gpu_hour;
  return html`<td class="number">${amount(price.min)}</td><td class="number">${amount(price.p25)}</td>
    <td class="number"><strong>${amount(price.median)}</strong></td><td class="number">${amount(price.p75)}</td><td class="number">${amount(price.max)}</td>
    <td class="number">${row.providers}</td><td class="number">${row.offers}</td>`;
}

const HEADS = html`<th scope="col" class="number">Lowest</th><th scope="col" class="number">Quarter</th><th scope="col" class="number">Median</th>
  <th scope="col" class="number">Three quarters</th><th scope="col" class="number">Highest</th><th scope="col" class="number">Providers</th><th scope="col" class="number">Offers</th>`;

function Now({ rows, go, name }) {
  const counted = rows.filter((row) => Number(row.providers) > 0);
  if (rows.length === 0) return html`<p class="notice">Nothing is offered yet.</p>`;
  return html`
    ${counted.length === 0 ? html`<p class="notice">No price counts in the index yet: ${rows.some((row) => row.excluded?.sample) ? "all there are is samples, published in years past." : "see why below."}</p>` : null}
    <div class="scroll" tabindex="0" role="region" aria-label="Market now"><table>
    <caption>USD a GPU-hour, one vote a provider. Variants, billing and terms are never mixed. <a href="/docs/method">Method</a></caption>
    <thead><tr><th scope="col">GPU</th><th scope="col">Commitment</th>${HEADS}<th scope="col">Left out</th></tr></thead>
    <tbody>${[...counted, ...rows.filter((row) => Number(row.providers) === 0)].map((row) => html`<tr key=${`${row.gpu}/${row.billing}/${row.term_bucket}`}>
      <th scope="row"><button type="button" class="open" onClick=${() => go(historyOf(row))}>${name(row.gpu)}</button></th>
      <td>${commitmentOf(row)}</td><${Figures} row=${row} />
      <td><small>${excluded(row)}</small></td></tr>`)}</tbody></table></div>`;
}

function Past({ query, set }) {
  const interval = get(query, "interval") || "day";
  const names = ["gpu", "billing", "term_months", "continent", "interval"];
  const search = new URLSearchParams(names.filter((one) => get(query, one) !== "").map((one) => [one, get(query, one)]));
  const { data, error, loading, retry } = useJson(`/v1/market/history?limit=500&${search}`);
  const asked = new URLSearchParams([...search].filter(([one]) => one !== "interval"));
  if (error) return html`<${Problem} error=${error} retry=${retry} />`;
  if (loading || !data) return html`<p class="loading">Loading fixings…</p>`;
  return html`
    <div class="filters">
      <label class="field"><span>Each point is a</span><select name="interval" value=${interval} onChange=${(event) => set("interval", event.target.value === "day" ? "" : event.target.value)}>
        ${["day", "week", "month"].map((one) => html`<option value=${one} selected=${one === interval}>${one}</option>`)}</select></label>
      <label class="field"><span>Continent</span><select name="continent" value=${get(query, "continent")} onChange=${(event) => set("continent", event.target.value)}>
        <option value="">all</option>${["AF", "AS", "EU", "NA", "OC", "SA"].map((one) => html`<option value=${one} selected=${one === get(query, "continent")}>${one}</option>`)}</select></label>
      <p class="links"><a href=${`/v1/market/summary?explain=1&${asked}`}>every price and why it counts</a> <a href=${`/v1/market/history?${search}`}>as JSON</a></p>
    </div>
    ${data.data.length === 0 ? html`<p class="notice">No day with such a price has closed yet. Fixings are published a minute after midnight UTC.</p>` : html`
      <${Chart} rows=${data.data} interval=${interval} label=${`${data.gpu}, ${commitmentOf(data)}: median by ${interval}`} />
      <details><summary>The same as a table (${data.data.length})</summary><div class="scroll" tabindex="0" role="region" aria-label="Fixings"><table>
        <thead><tr><th scope="col">${interval === "day" ? "Day" : `First day of the ${interval}`}</th>${HEADS}</tr></thead>
        <tbody>${data.data.map((row) => html`<tr key=${row.date}><th scope="row">${row.date}${row.revision && String(row.revision) !== "1" ? html`<small>revision ${row.revision}</small>` : null}</th><${Figures} row=${row} /></tr>`)}</tbody>
      </table></div></details>`}`;
}

export function Market({ query, go, set, gpus }) {
  const result = useAll("/v1/market/summary");
  const name = (slug) => gpus.find((gpu) => gpu.slug === slug)?.name ?? slug;
  const gpu = get(query, "gpu");
  useEffect(() => {
    if (!document.querySelector('link[href="/vendor/uplot-1.6.32/uPlot.min.css"]')) {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = "/vendor/uplot-1.6.32/uPlot.min.css";
      document.head.append(link);
    }
  }, []);
  if (gpu) {
    const term = get(query, "term_months");
    const billing = get(query, "billing") || (term ? "reserved" : "on_demand");
    return html`<h1>${name(gpu)}, ${word(billing)}${term ? ` ${term} months` : ""}</h1>
      <p><button type="button" class="plain" onClick=${() => go([["view", "market"]])}>All GPUs</button></p><${Past} query=${query} set=${set} />`;
  }
  if (result.error) return html`<h1>Market</h1><${Problem} error=${result.error} retry=${result.retry} />`;
  return html`<h1>Market</h1>${result.data ? html`<${Now} rows=${result.data} go=${go} name=${name} />` : html`<p class="loading">Loading the market…</p>`}`;
}
