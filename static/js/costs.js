// On an offer's page: its terms compared, and what an order costs in all.
import { html, useState } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { commitment, DASH, dollars, money, word } from "./format.js";
import { useJson } from "./hooks.js";
import { NumberField } from "./tool-form.js";
import { Formulas, Table, Terms } from "./tool-results.js";

const FIELDS = ["gpus", "hours_per_month", "months", "egress_gb_per_month", "storage_gb", "runs_per_month"];
const usd = (value) => (value === null ? "unknown" : dollars(value));

function WholeCost({ data }) {
  if (data.costs.length === 0) return html`<p class="notice">None of its prices takes so many GPUs.</p>`;
  return html`<${Table} caption="What an order costs in all"><thead><tr><th scope="col">Commitment</th><th scope="col" class="number">Nodes</th><th scope="col" class="number">Compute<small>at once</small></th>
      <th scope="col" class="number">Egress</th><th scope="col" class="number">Storage</th><th scope="col" class="number">In all, as far as known<small>an hour of use</small></th></tr></thead>
    <tbody>${data.costs.map((cost) => html`<tr><th scope="row">${commitment(cost)}<small>${[cost.plan, `${cost.gpus} GPUs`, Number(cost.terms) > 1 ? `${cost.terms} terms` : null].filter(Boolean).join(" · ")}</small></th>
      <td class="number">${cost.nodes}</td><td class="number">${usd(cost.compute_usd)}${cost.due_at_once_usd !== "0" ? html`<small>${usd(cost.due_at_once_usd)}</small>` : null}</td>
      <td class="number">${usd(cost.egress_usd)}</td><td class="number">${usd(cost.storage_usd)}</td>
      <td class="number"><strong>${usd(cost.total_known_usd)}</strong><small>${cost.per_used_gpu_hour === null ? DASH : `${money(cost.per_used_gpu_hour)} a GPU`}</small></td></tr>`)}</tbody><//>
    <p class="quiet">${data.unknown.length > 0 ? `Not known of this offer: ${data.unknown.map(word).join(", ")}. ` : ""}Not included: ${data.not_included.join(", ")}.</p>`;
}

export function Costs({ id, prices }) {
  const [values, setValues] = useState({});
  const set = (name, value) => setValues((old) => ({ ...old, [name]: value }));
  const given = Object.entries(values).filter(([, value]) => value !== "");
  const path = (tool, names) => `/v1/tools/${tool}?${new URLSearchParams([["offer", id], ...given.filter(([name]) => names.includes(name))])}`;
  const terms = useJson(prices.length > 1 || prices[0].billing === "reserved" ? path("reserve-vs-on-demand", ["gpus", "hours_per_month"]) : null);
  const whole = useJson(path("whole-cost", FIELDS));
  const base = useJson(`/v1/tools/whole-cost?offer=${id}`);
  const faults = whole.error?.problem?.errors ?? [];
  if (base.error) return html`<p class="notice">The costs can't be computed now: ${base.error.message}</p>`;
  return html`<section class="costs" aria-label="Costs">
    <h3>Costs</h3>
    ${base.data ? html`<form class="filters" aria-label="Order" onSubmit=${(event) => event.preventDefault()}>${FIELDS.map((name) =>
      html`<${NumberField} key=${name} name=${name} value=${values[name] ?? ""} input=${base.data.inputs[name]} set=${set} faults=${faults} />`)}</form>` : null}
    ${whole.error && faults.length === 0 ? html`<p class="notice">${whole.error.message}</p>` : null}
    ${whole.data && !whole.error ? html`<${WholeCost} data=${whole.data} />` : null}
    ${terms.data && terms.data.terms.length > 0 ? html`<${Terms} terms=${terms.data.terms} caption="Terms compared" /><${Formulas} data=${terms.data} />` : null}
  </section>`;
}
