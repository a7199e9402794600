// What the calculators answer. Every figure comes from the server; nothing is computed here but where a line is drawn.
import { html } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { commitment, DASH, dollars, money, percent, shown, word } from "./format.js";
import { choiceLabel } from "./tool-form.js";

const Row = ({ name, children, note }) => html`<tr><th scope="row">${name}${note ? html`<small>${note}</small>` : null}</th><td class="number">${children}</td></tr>`;
export const Table = ({ caption, children }) => html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table><caption>${caption}</caption>${children}</table></div>`;
const usd = (value) => (value === null || value === undefined ? DASH : dollars(value));
const price = (value) => (value === null || value === undefined ? DASH : money(value));

export const Formulas = ({ data }) => html`<details><summary>Formulas</summary><dl class="formulas">${Object.entries(data.formulas).map(([name, formula]) =>
  html`<div key=${name}><dt><code>${name}</code></dt><dd>${formula}</dd></div>`)}</dl></details>`;

const Falls = ({ data }) => html`<p class="quiet">Published yearly falls of prices: ${data.price_falls.map((fall) => `${fall.what} ${fall.yearly_price_fall_percent} %`).join("; ")}.</p>`;

// Two lines over months.
function Chart({ points }) {
  const months = Number(points.at(-1).month), top = Math.max(...points.map((p) => Math.max(Number(p.buying_usd), Number(p.renting_usd)))) || 1;
  const line = (key) => points.map((p) => `${(60 + (Number(p.month) / months) * 520).toFixed(1)},${(200 - (Math.max(Number(p[key]), 0) / top) * 180).toFixed(1)}`).join(" ");
  return html`<figure class="chart"><svg viewBox="0 0 600 230" role="img" aria-label="What buying and renting have cost by month; the table below has the figures">
    <line x1="60" y1="200" x2="580" y2="200" class="axis" /><line x1="60" y1="20" x2="60" y2="200" class="axis" />
    <text x="60" y="220">0</text><text x="580" y="220" text-anchor="end">${months} months</text><text x="64" y="16">${usd(String(Math.round(top)))}</text>
    <polyline points=${line("buying_usd")} class="buying" /><polyline points=${line("renting_usd")} class="renting" /></svg>
    <figcaption><span class="buying">buying</span> <span class="renting">renting</span></figcaption></figure>`;
}

function Comparison({ data }) {
  const { comparison, rent } = data;
  if (!comparison) return html`<p class="notice">What renting costs is not known: no price for ${rent.gpu} counts in today's index. Give the rent of a GPU-hour to compare.</p>`;
  const by = rent.source === "index" ? `today's index, ${rent.index_providers} ${String(rent.index_providers) === "1" ? "provider" : "providers"}` : "as given";
  return html`<p class="verdict" role="status">${comparison.overtakes_month === null ? "Buying never overtakes renting" : `Buying overtakes renting in month ${comparison.overtakes_month}`}:
      over ${comparison.months} months ${comparison.cheaper === "neither" ? "both cost the same" : `${comparison.cheaper} is cheaper by ${usd(comparison.saving_usd)}`}.
      <small>Renting ${rent.gpu} ${commitment(rent)} at ${price(rent.price_per_gpu_hour)} a GPU-hour (${by}); break-even utilisation ${percent(comparison.break_even_utilization)}.</small></p>
    <${Chart} points=${comparison.points} />
    <${Table} caption="What both have cost"><thead><tr><th scope="col">By month</th><th scope="col" class="number">Buying</th><th scope="col" class="number">Renting</th></tr></thead>
      <tbody>${comparison.points.map((p) => html`<tr><th scope="row">${p.month}</th><td class="number">${usd(p.buying_usd)}</td><td class="number">${usd(p.renting_usd)}</td></tr>`)}</tbody><//>`;
}

export function RentOrBuy({ data }) {
  return html`<p class="headline"><strong>${price(data.total_per_gpu_hour)}</strong> a GPU-hour to own
      <small>${price(data.total_per_used_gpu_hour)} an hour of use; ${usd(data.capital_usd)} at the start, ${usd(data.monthly_usd)} a month for ${data.machines} ${String(data.machines) === "1" ? "machine" : "machines"}</small></p>
    <${Comparison} data=${data} />
    <${Table} caption="Parts of a GPU-hour"><tbody>${data.parts.filter((p) => Number(p.per_gpu_hour) !== 0).map((p) => html`<${Row} key=${p.part} name=${choiceLabel(p.part)}>${price(p.per_gpu_hour)}<//>`)}
      <${Row} name="in all">${price(data.total_per_gpu_hour)}<//></tbody><//>
    <${Table} caption="The whole range, a GPU-hour"><thead><tr><th scope="col">Way</th><th scope="col" class="number">Every hour</th><th scope="col" class="number">An hour of use</th><th scope="col" class="number">Commits to<small>months</small></th></tr></thead>
      <tbody>${data.range.map((way) => html`<tr key=${way.way}><th scope="row">${word(way.way)}<small>${way.unknown_because ?? (way.index_providers === null ? "by these inputs" : `today's index, providers: ${way.index_providers}`)}</small></th>
        <td class="number">${price(way.per_gpu_hour)}</td><td class="number">${price(way.per_used_gpu_hour)}</td><td class="number">${way.commits_months}</td></tr>`)}</tbody><//>
    <${Table} caption=${`Published beside exact: ${data.published.source}`}><thead><tr><th scope="col">Of a GPU-hour</th><th scope="col" class="number">Exact</th><th scope="col" class="number">Published</th></tr></thead>
      <tbody>${data.published.figures.map((f) => html`<tr><th scope="row">${f.what}</th><td class="number">${price(f.exact_per_gpu_hour)}</td><td class="number">${price(f.published_per_gpu_hour)}</td></tr>`)}</tbody><//>
    <${Falls} data=${data} />
    <${Formulas} data=${data} />`;
}

// What a comparison says in a sentence.
function says(term) {
  if (term.cheaper === null) return "nothing to compare with";
  if (term.cheaper === "neither") return "both cost the same";
  const from = term.on_demand_cheaper_from_month === null ? "" : `; on demand costs less from month ${term.on_demand_cheaper_from_month}`;
  return `${word(term.cheaper)} by ${usd(term.saving_usd)}${from}`;
}

// Terms side by side; `market` are medians of a region rather than one offer's prices.
export function Terms({ terms, caption, market = false }) {
  const discount = (value) => (value === null ? DASH : `${Number(value).toFixed(1)} %`);
  return html`<${Table} caption=${caption}><thead><tr><th scope="col">Commitment</th><th scope="col" class="number">Effective<small>USD a GPU-hour</small></th>
      <th scope="col" class="number">Below on demand</th><th scope="col" class="number">Below spot</th><th scope="col" class="number">Break-even<small>share, hours a month</small></th>
      <th scope="col" class="number">Commits to<small>of that at once</small></th><th scope="col">Cheaper over the term</th></tr></thead>
    <tbody>${terms.map((term) => html`<tr>
      <th scope="row">${commitment(term)}<small>${[term.plan, `${term.gpus} GPUs`, market ? `${term.providers} providers` : null].filter(Boolean).join(" · ")}</small></th>
      <td class="number">${price(term.effective_price_per_gpu_hour)}${market ? html`<small>${price(term.min_price_per_gpu_hour)} to ${price(term.max_price_per_gpu_hour)}</small>` : null}</td>
      <td class="number">${discount(term.discount_percent)}${term.on_demand_source && term.on_demand_source !== "offer" && term.discount_percent !== null ? html`<small>${term.on_demand_source === "index" ? "of today's index" : "as given"}</small>` : null}</td>
      <td class="number">${discount(term.discount_to_spot_percent)}</td>
      <td class="number">${term.break_even_utilization === null ? DASH : html`${percent(term.break_even_utilization)}<small>${Number(term.break_even_hours_per_month).toFixed(0)} h</small>`}</td>
      <td class="number">${term.billing === "reserved" ? usd(term.total_commitment_usd) : DASH}${term.due_at_once_usd && term.due_at_once_usd !== "0" ? html`<small>${usd(term.due_at_once_usd)}</small>` : null}</td>
      <td>${term.billing === "reserved" ? says(term) : DASH}${(term.volume_tiers ?? []).length > 1 ? term.volume_tiers.map((tier) => html`<small>${tier.cluster_size} GPUs: ${price(tier.effective_price_per_gpu_hour)}</small>`) : null}</td></tr>`)}</tbody><//>`;
}

function TwoPrices({ data }) {
  return html`<p class="headline" role="status"><strong>${{ neither: "No difference", reserved: "Reserving", on_demand: "On demand" }[data.cheaper]}</strong> ${data.cheaper === "neither" ? "" : `is cheaper by ${usd(data.saving_usd)} over the term`}
      <small>Reserving pays above ${percent(data.break_even_utilization)} of all hours, ${Number(data.break_even_hours_per_month).toFixed(0)} a month${data.break_even_month === null ? "" : `; on demand has cost as much by the end of month ${data.break_even_month}`}.</small></p>
    <${Table} caption="The two ways"><tbody>
      <${Row} name="Total commitment" note="730 hours a month, used or not">${usd(data.total_commitment_usd)}<//>
      <${Row} name="of that at once">${usd(data.due_at_once_usd)}<//>
      <${Row} name="On demand over the term" note="at the expected hours and prices">${usd(data.on_demand_total_usd)}<//>
      <${Row} name="Discount now">${Number(data.discount_percent).toFixed(1)} %<//>
      <${Row} name="Break-even utilisation with the fall">${data.break_even_utilization_with_fall === null ? DASH : percent(data.break_even_utilization_with_fall)}<//>
      <${Row} name="On demand costs less a month from month">${shown(data.on_demand_cheaper_from_month)}<//>
      <${Row} name="Yearly fall at which both cost the same">${data.break_even_yearly_price_fall_percent === null ? DASH : `${data.break_even_yearly_price_fall_percent} %`}<//></tbody><//>`;
}

export function Reserve({ data }) {
  const left = Object.entries(data.excluded ?? {}).map(([reason, count]) => `${count} ${word(reason)}`).join(", ");
  return html`${data.terms === undefined ? html`<${TwoPrices} data=${data} />` : data.terms.length === 0
    ? html`<p class="notice" role="status">Nobody's price for ${data.gpu} counts there${left ? ` (left out: ${left})` : ""}.</p>`
    : html`<${Terms} terms=${data.terms} caption=${`${data.gpu} in ${data.region ?? "all regions"}: medians of one vote a provider${left ? `; left out: ${left}` : ""}`} market=${true} />`}
    <${Falls} data=${data} />
    <${Formulas} data=${data} />`;
}

export function Interruptions({ data }) {
  const { spares, checkpoints } = data;
  const fixed = (value, digits) => (value === null ? DASH : Number(value).toFixed(digits));
  return html`<p class="headline" role="status"><strong>${fixed(data.expected_interruptions, 1)}</strong> interruptions to expect
      <small>one every ${fixed(data.mean_time_between_hours, 1)} hours</small></p>
    <${Table} caption="By every rate"><thead><tr><th scope="col">Rate</th><th scope="col" class="number">Expected</th><th scope="col" class="number">Hours between</th><th scope="col" class="number">Chance of none</th></tr></thead>
      <tbody>${data.estimates.map((e) => html`<tr key=${e.rate}><th scope="row">${choiceLabel(e.rate)}<small>${e.source ?? "as given"}</small></th><td class="number">${fixed(e.expected_interruptions, 1)}</td>
        <td class="number">${fixed(e.mean_time_between_hours, 1)}</td><td class="number">${fixed(e.chance_of_none_percent, 2)} %</td></tr>`)}</tbody><//>
    <${Table} caption="Spares and checkpoints"><tbody>
      <${Row} name="Spare nodes" note=${`of ${spares.nodes}, ${fixed(spares.nodes_under_repair_mean, 2)} under repair on average`}>${shown(spares.spare_nodes)}<//>
      <${Row} name="Spare GPUs">${shown(spares.spare_gpus)}<//>
      <${Row} name="Best checkpoint interval" note=${`Young: ${fixed(checkpoints.best_interval_young_minutes, 1)} minutes`}>${fixed(checkpoints.best_interval_minutes, 1)} minutes<//>
      <${Row} name="Time lost" note=${`checkpoints every ${fixed(checkpoints.interval_minutes, 1)} minutes`}>${fixed(checkpoints.time_lost_percent, 2)} %<//>
      <${Row} name="Hours lost in all the days">${fixed(checkpoints.hours_lost, 1)}<//>
      <${Row} name="Time lost at the best interval">${fixed(checkpoints.time_lost_at_best_percent, 2)} %<//></tbody><//>
    <${Formulas} data=${data} />`;
}
