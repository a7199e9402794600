// The filter form. Each control is one API parameter; changing it changes the address.
import { html, useState, useEffect } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { get } from "./query.js";
import { word } from "./format.js";

function Choice({ label, name, query, set, options }) {
  const value = get(query, name);
  const known = options.some((option) => option.value === value) || value === "";
  return html`<label class="field">
    <span>${label}</span>
    <select name=${name} value=${value} onChange=${(event) => set(name, event.target.value)}>
      <option value="">any</option>
      ${known ? null : html`<option value=${value}>${value}</option>`}
      ${options.map((option) => option.group
        ? html`<optgroup label=${option.group}>${option.options.map((o) => html`<option value=${o.value} selected=${o.value === value}>${o.label}</option>`)}</optgroup>`
        : html`<option value=${option.value} selected=${option.value === value}>${option.label}</option>`)}
    </select>
  </label>`;
}

// Text is sent when the field is left or Enter is pressed, not on every key.
function Text({ label, name, query, set, unit, list }) {
  const [text, setText] = useState(get(query, name));
  useEffect(() => setText(get(query, name)), [get(query, name)]);
  const commit = () => text !== get(query, name) && set(name, text.trim());
  return html`<label class="field">
    <span>${label}${unit ? html` <small>${unit}</small>` : null}</span>
    <input name=${name} value=${text} list=${list} autocomplete="off" inputmode=${list ? "text" : "decimal"}
      onInput=${(event) => setText(event.target.value)} onChange=${commit}
      onKeyDown=${(event) => event.key === "Enter" && commit()} />
  </label>`;
}

const choices = (values) => values.map((value) => ({ value, label: word(value) }));

// GPUs grouped by family; a family with several variants can be picked whole.
function gpuOptions(gpus) {
  const families = new Map();
  for (const gpu of gpus) {
    if (Number(gpu.offers) === 0) continue;
    if (!families.has(gpu.family)) families.set(gpu.family, []);
    families.get(gpu.family).push(gpu);
  }
  const byName = (a, b) => a.slug.localeCompare(b.slug, "en", { numeric: true });
  return [...families].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })).map(([family, list]) => {
    const options = [...list].sort(byName).map((gpu) => ({
      value: gpu.slug,
      label: gpu.is_family ? `${gpu.slug}: all variants` : `${gpu.name} (${gpu.offers})`,
    }));
    return options.length === 1 ? options[0] : { group: family, options };
  });
}

function regionOptions(regions) {
  const kinds = [["area", "Areas"], ["country", "Countries"], ["place", "Places"]];
  return kinds.map(([kind, group]) => ({
    group,
    options: regions.filter((region) => region.kind === kind && Number(region.offers) > 0)
      .map((region) => ({ value: region.slug, label: `${region.name} (${region.offers})` })),
  })).filter((entry) => entry.options.length > 0);
}

// Areas, and places where something is offered: what `near` may name, beside any other region, city or coordinates.
const nearOptions = (regions) => regions.filter((region) => region.kind === "area" || (region.kind === "place" && Number(region.offers) > 0));

export function Filters({ query, set, gpus, regions, providers }) {
  const own = { query, set };
  return html`<form class="filters" aria-label="Filters" onSubmit=${(event) => event.preventDefault()}>
    <${Choice} label="GPU" name="gpu" ...${own} options=${gpuOptions(gpus)} />
    <${Text} label="GPUs a node" name="gpu_count" ...${own} />
    <${Choice} label="Billing" name="billing" ...${own} options=${choices(["on_demand", "spot", "reserved"])} />
    <${Text} label="Term" unit="months" name="term_months" ...${own} />
    <${Choice} label="Region" name="region" ...${own} options=${regionOptions(regions)} />
    <${Text} label="Users near" unit="region or lat,lon" name="near" list="near-places" ...${own} />
    <datalist id="near-places">${nearOptions(regions).map((region) => html`<option value=${region.slug}>${region.name}</option>`)}</datalist>
    ${get(query, "near") ? html`<${Text} label="Latency up to" unit="ms, round trip" name="max_latency_ms" ...${own} />` : null}
    <${Choice} label="Provider" name="provider" ...${own}
      options=${providers.filter((p) => !p.suspended).map((p) => ({ value: p.slug, label: `${p.name} (${p.offers})` }))} />
    <${Text} label="Price from" unit="USD a GPU-hour" name="min_price" ...${own} />
    <${Text} label="Price to" unit="USD a GPU-hour" name="max_price" ...${own} />
    <${Choice} label="Against the market" name="verdict" ...${own} options=${choices(["below_market", "typical", "above_market", "insufficient_data"])} />
    <${Choice} label="Form factor" name="form_factor" ...${own} options=${choices(["sxm", "pcie", "nvl", "oam", "other", "undisclosed"])} />
    <${Text} label="VRAM at least" unit="GB" name="min_vram_gb" ...${own} />
    <${Choice} label="Availability" name="availability" ...${own}
      options=${choices(["available", "limited", "waitlist", "sold_out", "unknown"])} />
    <label class="field check"><input type="checkbox" name="include_stale" checked=${["1", "true"].includes(get(query, "include_stale"))}
      onChange=${(event) => set("include_stale", event.target.checked ? "1" : "")} /><span>Show stale offers</span></label>
  </form>`;
}

// The filters in force, as the server understood them; each can be taken away.
export function Chips({ inForce, query, set, clear }) {
  const shown = Object.entries(inForce ?? {}).filter(([name]) => get(query, name) !== "" && !["sort", "limit"].includes(name));
  if (shown.length === 0) return null;
  return html`<ul class="chips" aria-label="Filters in force">
    ${shown.map(([name]) => html`<li key=${name}><button type="button" onClick=${() => set(name, "")}
      aria-label=${`Remove filter ${name}`}>${name.replaceAll("_", " ")}: ${get(query, name)} <span aria-hidden="true">×</span></button></li>`)}
    <li><button type="button" class="plain" onClick=${clear}>clear all</button></li>
  </ul>`;
}
