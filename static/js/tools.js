// The calculators. What they are asked stands in the address under the API's own names, so that a result can be shared.
import { html } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { useJson } from "./hooks.js";
import { Problem } from "./offers.js";
import { get, toolPath } from "./query.js";
import { ChoiceField, ToolForm } from "./tool-form.js";
import { Interruptions, RentOrBuy, Reserve } from "./tool-results.js";

// Two prices to start from; a GPU takes their place.
const EXAMPLE = [["reserved_price", "2.2"], ["on_demand_price", "3.25"], ["term_months", "12"]];
const TWO_PRICES = ["reserved_price", "on_demand_price", "upfront_percent"];

const TOOLS = {
  "reserve-vs-on-demand": { title: "Reserve or on demand", groups: [["reserved_price", "on_demand_price", "term_months", "gpus", "hours_per_month", "yearly_price_fall_percent", "upfront_percent"]], Result: Reserve },
  "rent-vs-buy": { title: "Rent or buy", Result: RentOrBuy,
    groups: [["machine", "machine_price_usd", "gpus", "years", "hosting", "rent_price_per_gpu_hour", "rent_billing", "utilization", "yearly_price_fall_percent"]] },
  interruptions: { title: "Interruptions", groups: [["gpus", "days", "rate", "availability_percent", "repair_hours", "checkpoint_minutes", "checkpoint_interval_minutes", "restart_minutes"]], Result: Interruptions },
};
const NAMES = Object.keys(TOOLS);

const variants = (gpus) => gpus.filter((gpu) => !gpu.is_family && gpu.slug !== "unrecognized").map((gpu) => ({ value: gpu.slug, label: gpu.name }))
  .sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));

// The parameters asked: of the reservation, with an example where nothing is given yet.
export function asked(tool, query) {
  if (tool !== "reserve-vs-on-demand") return query;
  if (get(query, "gpu") !== "") return query;
  return [...query, ...EXAMPLE.filter(([name]) => get(query, name) === "")];
}

// Inputs of the form: what a GPU stands for has no field, and examples are told as such.
function shownInputs(tool, inputs, query) {
  if (tool !== "reserve-vs-on-demand") return inputs;
  const market = get(query, "gpu") !== "";
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => !market || !TWO_PRICES.includes(name))
    .map(([name, input]) => [name, market ? input : { ...input, example: EXAMPLE.find(([own]) => own === name)?.[1] }]));
}

function Tool({ name, query, go, set, gpus, regions }) {
  const { title, groups, Result } = TOOLS[name];
  const base = useJson(toolPath(name, asked(name, [])));
  const result = useJson(toolPath(name, asked(name, query)));
  const faults = result.error?.problem?.errors ?? [];
  const inputs = base.data && shownInputs(name, { ...base.data.inputs, ...result.data?.inputs }, query);
  const elsewhere = result.error && !(inputs && faults.length > 0 && faults.every((fault) => fault.parameter in inputs));
  const choose = (parameter, value) => {
    const next = query.filter(([own]) => own !== parameter && !(parameter === "gpu" && name === "reserve-vs-on-demand" && [...TWO_PRICES, "term_months", "region"].includes(own)));
    go(value === "" ? next : [...next, [parameter, value]]);
  };
  return html`<section aria-label=${title} aria-busy=${result.loading}>
    ${inputs ? html`<${ToolForm} title=${title} inputs=${inputs} groups=${groups} query=${query} set=${set} faults=${faults}>
      ${name === "interruptions" ? null : html`<${ChoiceField} name="gpu" value=${get(query, "gpu")} none=${name === "rent-vs-buy" ? "NVIDIA H100 SXM" : "two prices"} set=${choose} choices=${variants(gpus)} />`}
      ${name === "reserve-vs-on-demand" && get(query, "gpu") !== "" ? html`<${ChoiceField} name="region" value=${get(query, "region")} none="anywhere" set=${choose}
        choices=${regions.filter((region) => Number(region.offers) > 0).map((region) => ({ value: region.slug, label: `${region.name} (${region.offers})` }))} />` : null}<//>` : null}
    ${base.error ? html`<${Problem} error=${base.error} retry=${base.retry} />` : elsewhere ? html`<${Problem} error=${result.error} retry=${result.retry} />`
      : result.error ? html`<p class="notice error" role="alert">${faults.map((fault) => fault.message).join(" ")}</p>`
      : result.data ? html`<div class=${result.loading ? "result busy" : "result"}><${Result} data=${result.data} /></div>
        <p class="links"><a href=${toolPath(name, asked(name, query))}>as JSON</a></p>` : html`<p class="loading">Computing…</p>`}
  </section>`;
}

export function Tools({ query, go, set, gpus, regions }) {
  const name = NAMES.includes(get(query, "tool")) ? get(query, "tool") : NAMES[0];
  return html`<nav class="tabs" aria-label="Calculators">${NAMES.map((own) => html`<a key=${own} href=${`/?view=tools&tool=${own}`} aria-current=${own === name ? "page" : null}
      onClick=${(event) => { event.preventDefault(); go([["view", "tools"], ["tool", own]]); }}>${TOOLS[own].title}</a>`)}</nav>
    <${Tool} key=${name} name=${name} query=${query} go=${go} set=${set} gpus=${gpus} regions=${regions} />`;
}
