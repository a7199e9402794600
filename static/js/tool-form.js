// The form of a calculator, made from what the API says about its inputs: default, unit, bounds and who says so. Each control is one
// parameter of the API; changing it changes the address.
import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { get } from "./query.js";
import { word } from "./format.js";

const LABELS = {
  gpu: "GPU", region: "Region", gpus: "GPUs", days: "Days", machine: "Machine", hosting: "Where it stands", rent_billing: "Renting", machine_price_usd: "Machine price",
  support_usd: "Support", gpus_per_machine: "GPUs a machine", years: "Written off over", sales_tax_percent: "Sales tax", network_percent: "Network",
  power_kw_per_gpu: "Power of a GPU", hosting_usd_per_kw_month: "Hosting a kW-month", remote_hands_usd_per_hour: "Remote hands, an hour",
  remote_hands_hours_per_quarter: "Remote hands a quarter", spares_percent: "Spares", downtime_percent: "Downtime", people_usd_per_month: "People a month",
  finance_percent: "Finance cost", residual_value_percent: "Residual value", electricity_usd_per_kwh: "Electricity a kWh", pue: "PUE",
  site_usd_per_kw: "Building a kW", site_years: "Site written off over", rent_price_per_gpu_hour: "Rent a GPU-hour", rent_term_months: "Rent term",
  utilization: "Utilisation", yearly_price_fall_percent: "Prices fall by", reserved_price: "Reserved price", on_demand_price: "On-demand price",
  term_months: "Term", upfront_percent: "Due at once", hours_per_month: "Hours a month", rate: "Failure rate", gpus_per_node: "GPUs a node",
  failures_per_100_gpus_month: "Failures, 100 GPUs a month", availability_percent: "Wanted availability", repair_hours: "Repair time",
  checkpoint_minutes: "Writing a checkpoint", checkpoint_interval_minutes: "Checkpoint interval", restart_minutes: "Restart",
  months: "Months", runs_per_month: "Starts a month", egress_gb_per_month: "Egress a month", storage_gb: "Storage",
};
const CHOICES = {
  "hgx-h100-dell": "HGX H100, Dell", "hgx-h100-supermicro": "HGX H100, Supermicro", "dgx-h100": "DGX H100 with support", "pcie-h100": "eight H100 PCIe",
  "hgx-h100-2023-low": "HGX H100 in 2023, low", "hgx-h100-2023-high": "HGX H100 in 2023, high", own_site: "own site",
  per_100_gpus_month: "one a month and 100 GPUs", llama3_unexpected: "Llama 3, unexpected", llama3_all: "Llama 3, planned ones too",
};
export const choiceLabel = (value) => CHOICES[value] ?? word(value);
export const label = (name) => LABELS[name] ?? word(name);

const Fault = ({ name, faults }) => {
  const fault = faults.find((item) => item.parameter === name);
  return fault ? html`<small class="fault" id=${`fault-${name}`}>${fault.message}</small>` : null;
};
const marks = (name, faults) => (faults.some((item) => item.parameter === name) ? { "aria-invalid": "true", "aria-describedby": `fault-${name}` } : {});

// Text is sent when the field is left or Enter is pressed, not on every key.
export function NumberField({ name, input, value, set, faults }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = () => text.trim() !== value && set(name, text.trim());
  return html`<label class="field">
    <span>${label(name)}</span>
    <input name=${name} value=${text} placeholder=${(input.given ? input.default : input.value) ?? input.example ?? ""} autocomplete="off" inputmode="decimal" ...${marks(name, faults)}
      onInput=${(event) => setText(event.target.value)} onChange=${commit} onKeyDown=${(event) => event.key === "Enter" && commit()} />
    <small class="source">${[input.unit, input.source].filter(Boolean).join("; ")}</small>
    <${Fault} name=${name} faults=${faults} />
  </label>`;
}

export function ChoiceField({ name, choices, value, none, set, faults = [] }) {
  return html`<label class="field"><span>${label(name)}</span>
    <select name=${name} value=${value} ...${marks(name, faults)} onChange=${(event) => set(name, event.target.value)}>
      ${none ? html`<option value="" selected=${value === ""}>${none}</option>` : null}
      ${choices.map((choice) => html`<option value=${choice.value} selected=${choice.value === value}>${choice.label}</option>`)}
    </select><${Fault} name=${name} faults=${faults} /></label>`;
}

// `inputs` is the API's; `groups` puts their names under headings; the rest goes into a fold-out.
export function ToolForm({ title, inputs, groups, query, set, faults, children }) {
  const field = (name) => {
    const input = inputs[name];
    const own = { key: name, name, set, faults };
    return input.choices
      ? html`<${ChoiceField} ...${own} value=${get(query, name) || input.default} choices=${input.choices.map((value) => ({ value, label: choiceLabel(value) }))} />`
      : html`<${NumberField} ...${own} value=${get(query, name)} input=${input} />`;
  };
  const rest = Object.keys(inputs).filter((name) => !groups.flat().includes(name));
  const touched = rest.some((name) => get(query, name) !== "" || faults.some((fault) => fault.parameter === name));
  return html`<form class="tool" aria-label=${title} onSubmit=${(event) => event.preventDefault()}>
    <div class="filters">${children}${groups.flat().filter((name) => inputs[name]).map(field)}</div>
    ${rest.length > 0 ? html`<details open=${touched}><summary>All inputs (${rest.length} more)</summary><div class="filters">${rest.map(field)}</div></details>` : null}
  </form>`;
}
