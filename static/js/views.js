// The directory of providers and the GPU specifications.
import { html } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { Problem } from "./offers.js";
import { DASH, money, shown, word } from "./format.js";

const range = (row) => (row.min_price_per_gpu_hour === null ? DASH : `${money(row.min_price_per_gpu_hour)} – ${money(row.max_price_per_gpu_hour)}`);

function Listing({ result, children }) {
  if (result.error) return html`<${Problem} error=${result.error} retry=${result.retry} />`;
  if (!result.data) return html`<p class="loading">Loading…</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="List">${children(result.data)}</div>`;
}

export const Providers = ({ result, go }) => html`<${Listing} result=${result}>${(rows) => html`<table>
  <caption>Providers; what they say of themselves is their claim</caption>
  <thead><tr><th scope="col">Provider</th><th scope="col">Kind</th><th scope="col" class="number">Offers</th>
    <th scope="col" class="number">Price<small>USD a GPU-hour</small></th><th scope="col" class="number">SLA claimed<small>%</small></th></tr></thead>
  <tbody>${rows.map((row) => html`<tr key=${row.slug}>
    <th scope="row"><button type="button" class="open" onClick=${() => go([["provider", row.slug]])}>${row.name}</button></th>
    <td>${word(row.kind)}</td><td class="number">${row.offers}</td><td class="number">${range(row)}</td>
    <td class="number">${shown(row.trust.sla_percent)}</td></tr>`)}</tbody></table>`}<//>`;

export const Gpus = ({ result, go }) => html`<${Listing} result=${result}>${(rows) => html`<table>
  <caption>GPUs and accelerators; figures are dense, a dash is unknown</caption>
  <thead><tr><th scope="col">GPU</th><th scope="col">Form factor</th><th scope="col" class="number">VRAM<small>GB</small></th>
    <th scope="col" class="number">Memory<small>GB/s</small></th><th scope="col" class="number">BF16<small>TFLOPS</small></th>
    <th scope="col" class="number">FP8<small>TFLOPS</small></th><th scope="col" class="number">TDP<small>W</small></th>
    <th scope="col" class="number">Offers</th><th scope="col" class="number">Price<small>USD a GPU-hour</small></th></tr></thead>
  <tbody>${rows.filter((row) => !row.is_family).map((row) => html`<tr key=${row.slug}>
    <th scope="row"><button type="button" class="open" onClick=${() => go([["gpu", row.slug]])}>${row.name}</button></th>
    <td>${word(row.form_factor)}</td><td class="number">${shown(row.vram_gb)}</td><td class="number">${shown(row.memory_bandwidth_gb_per_s)}</td>
    <td class="number">${shown(row.bf16_dense_tflops)}</td><td class="number">${shown(row.fp8_dense_tflops)}</td>
    <td class="number">${shown(row.tdp_watts)}</td><td class="number">${row.offers}</td><td class="number">${range(row)}</td></tr>`)}</tbody></table>`}<//>`;
