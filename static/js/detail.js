// One offer with all its prices, in a dialog that the address can open.
import { html, useEffect, useRef } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { Costs } from "./costs.js";
import { useJson } from "./hooks.js";
import { commitment, DASH, day, gpuRange, money, safeUrl, shown, upfrontPerGpu, withUnit, word } from "./format.js";
import { Problem } from "./offers.js";
import { Judgement, VerdictCell } from "./verdict.js";

const Fact = ({ name, children }) => html`<div><dt>${name}</dt><dd>${children}</dd></div>`;

function Prices({ offer }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Prices"><table>
    <caption>All prices</caption>
    <thead><tr><th scope="col">Commitment</th><th scope="col" class="number">Per GPU<small>USD an hour</small></th>
      <th scope="col" class="number">Per node<small>USD an hour</small></th><th scope="col" class="number">Due at once<small>USD a GPU</small></th>
      <th scope="col">For</th><th scope="col">Against the market</th></tr></thead>
    <tbody>${offer.prices.map((price) => html`<tr>
      <th scope="row">${commitment(price)}<small>${[price.plan, price.upfront_percent && String(price.upfront_percent) !== "0" ? `${price.upfront_percent} % upfront` : ""].filter(Boolean).join(" · ")}</small></th>
      <td class="number">${money(price.price_per_gpu_hour)}${price.quoted_per === "gpu" ? html`<small>as quoted</small>` : null}</td>
      <td class="number">${money(price.price_per_node_hour)}${price.quoted_per === "node" ? html`<small>as quoted</small>` : null}</td>
      <td class="number">${upfrontPerGpu(price) === null ? DASH : `$${upfrontPerGpu(price)}`}</td>
      <td>${gpuRange(price) || "any number"}</td><td><${VerdictCell} price=${price} /></td></tr>`)}</tbody>
  </table></div>`;
}

const amount = (side) => (side === null ? DASH : `${money(side.price_per_gpu_hour)}`);

function History({ id }) {
  const { data, error, loading } = useJson(`/v1/offers/${id}/price-history?limit=50`);
  if (loading) return html`<p class="loading">Loading price history…</p>`;
  if (error) return html`<p class="notice">The price history can't be read now: ${error.message}</p>`;
  return html`<details><summary>Price history (${data.total})</summary><table>
    <thead><tr><th scope="col">When (UTC)</th><th scope="col">Commitment</th><th scope="col" class="number">Before</th><th scope="col" class="number">After</th></tr></thead>
    <tbody>${data.data.map((row) => html`<tr><td>${row.observed_at.replace("T", " ").slice(0, 16)}</td><td>${commitment(row)}</td>
      <td class="number">${amount(row.before)}</td><td class="number">${amount(row.after)}</td></tr>`)}</tbody></table></details>`;
}

// What a round trip says against the place an offer is said to be at.
function contradiction({ region, location_contradicted_by: trip }) {
  return `Not where it is said to be: a round trip from ${trip.from} took ${trip.median_ms} ms (measured by ${trip.measured_by}, ${day(trip.measured_at)}), ` +
    `and light in fibre needs ${trip.light_in_fibre_ms} ms to ${shown(region.slug)}.`;
}

function Body({ offer }) {
  const costs = offer.extra_costs;
  const order = safeUrl(offer.order_url);
  const source = safeUrl(offer.source.url);
  return html`
    ${offer.source.kind === "sample" ? html`<p class="notice">This is a sample: a price published then (${day(offer.source.observed_at)}), not a live offer.</p>` : null}
    ${offer.stale ? html`<p class="notice">Stale: not confirmed since ${day(offer.source.observed_at)}.</p>` : null}
    ${offer.location_contradicted_by ? html`<p class="notice">${contradiction(offer)}</p>` : null}
    ${offer.flags.length > 0 ? html`<p class="notice">Doubts: ${offer.flags.map(word).join(", ")}.</p>` : null}
    <${Judgement} price=${offer.price} />
    <${Prices} offer=${offer} />
    <dl class="facts">
      <${Fact} name="GPU">${offer.gpu_count} × ${offer.gpu.name}, ${word(offer.gpu.form_factor)}, ${withUnit(offer.gpu.vram_gb, "GB")} each<small>written “${offer.gpu.raw}”</small><//>
      <${Fact} name="Node">${withUnit(offer.node.vcpus, "vCPUs")}, ${withUnit(offer.node.memory_gib, "GiB memory")}, ${withUnit(offer.node.storage_gb, "GB storage")}<//>
      <${Fact} name="Inside a node">${word(offer.interconnect)}<//>
      <${Fact} name="Between nodes">${word(offer.fabric)}, ${withUnit(offer.fabric_gbps, "Gb/s a node")}<//>
      <${Fact} name="Region">${shown(offer.region.slug)}${offer.region.country ? `, ${offer.region.country}` : ""}<small>written “${shown(offer.region.raw)}”${offer.region.zone ? `, zone ${offer.region.zone}` : ""}</small><//>
      <${Fact} name="Stock">${word(offer.availability.status)}, ${withUnit(offer.availability.gpus_available, "GPUs")}, lead time ${withUnit(offer.availability.lead_time_days, "days")}
        ${offer.availability.schedule.map((step) => html`<small>${step.gpus} GPUs within ${step.days} days</small>`)}<//>
      <${Fact} name="Extra costs">egress ${costs.egress_per_gb === null ? DASH : `${money(costs.egress_per_gb)} a GB`}, storage ${costs.storage_per_gb_month === null ? DASH : `${money(costs.storage_per_gb_month)} a GB-month`},
        billed by ${withUnit(costs.billing_increment_seconds, "s")}, at least ${withUnit(costs.minimum_duration_seconds, "s")}<//>
      <${Fact} name="Source">${word(offer.source.kind)}, seen ${day(offer.source.observed_at)}${source ? html`, <a href=${source} rel="noopener noreferrer nofollow">${new URL(source).host}</a>` : null}
        ${offer.source.attribution ? html`<small>${offer.source.attribution}</small>` : null}<//>
    </dl>
    <${Costs} id=${offer.id} prices=${offer.prices} />
    <${History} id=${offer.id} />
    ${order ? html`<p><a class="button" href=${order} rel="noopener noreferrer nofollow">Order at ${offer.provider.name}</a></p>` : null}`;
}

export function Detail({ id, close }) {
  const dialog = useRef(null);
  const result = useJson(`/v1/offers/${encodeURIComponent(id)}`);
  useEffect(() => {
    if (!dialog.current.open) dialog.current.showModal();
  }, []);
  const offer = result.data;
  return html`<dialog ref=${dialog} aria-labelledby="detail-title" onClose=${close} onClick=${(event) => event.target === dialog.current && dialog.current.close()}>
    <header><h2 id="detail-title">${offer ? `${offer.provider.name}: ${offer.external_id}` : "Offer"}</h2>
      <button type="button" onClick=${() => dialog.current.close()} aria-label="Close">×</button></header>
    ${result.error ? html`<${Problem} error=${result.error} retry=${result.retry} />` : offer ? html`<${Body} offer=${offer} />` : html`<p class="loading">Loading…</p>`}
  </dialog>`;
}
