// The price table with its sorting, paging and states.
import { html } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { apiPath, get, hasFilters } from "./query.js";
import { Verdict } from "./verdict.js";
import { commitment, DASH, day, gpuRange, money, shown, withUnit, word } from "./format.js";

function Gpu({ offer }) {
  const unknown = offer.gpu.slug === "unrecognized";
  return html`<strong>${unknown ? offer.gpu.raw : offer.gpu.name.replace(/^NVIDIA (GeForce )?/, "")}</strong>
    <small>${unknown ? "not recognized" : offer.gpu.form_factor === "undisclosed" ? "form factor undisclosed" : word(offer.gpu.form_factor)}
    ${" · "}${withUnit(offer.gpu.vram_gb, "GB")}</small>`;
}

function Labels({ offer }) {
  return html`${offer.source.kind === "sample"
    ? html`<span class="label sample" title="Published then, shown as an example; not a live offer">sample of ${day(offer.source.observed_at)}</span>` : null}
    ${offer.stale ? html`<span class="label stale">stale since ${day(offer.source.observed_at)}</span>` : null}
    ${offer.flags.map((flag) => html`<span class="label flag">${word(flag)}</span>`)}`;
}

// A round trip, and whether somebody measured it.
function Latency({ offer }) {
  if (offer.latency_ms === null) return html`<td class="number">${DASH}<small>place unknown</small></td>`;
  return html`<td class="number">${Math.round(Number(offer.latency_ms))} ms<small class=${`latency ${offer.latency_kind}`}>${word(offer.latency_kind)}</small></td>`;
}

function Row({ offer, open, near }) {
  const price = offer.price;
  const place = offer.region.slug ?? offer.region.raw;
  return html`<tr>
    <td class="number price"><strong>${money(price.price_per_gpu_hour)}</strong><${Verdict} price=${price} /></td>
    <td class="number">${money(price.price_per_node_hour)}</td>
    <td>${commitment(price)}<small>${[price.plan, gpuRange(price)].filter(Boolean).join(" · ")}</small></td>
    <th scope="row"><button type="button" class="open" onClick=${() => open(offer.id)}><${Gpu} offer=${offer} /></button></th>
    <td class="number">${offer.gpu_count}</td>
    <td>${offer.provider.name}<${Labels} offer=${offer} /></td>
    <td>${shown(place)}<small>${offer.region.zone ?? ""}</small></td>
    ${near ? html`<${Latency} offer=${offer} />` : null}
    <td>${word(offer.availability.status)}<small>${offer.availability.gpus_available === null ? "" : `${offer.availability.gpus_available} GPUs`}</small></td>
  </tr>`;
}

function SortHeader({ label, unit, keyName, query, set, numeric }) {
  const sort = get(query, "sort") || "price";
  const active = sort.replace("-", "") === keyName;
  const next = active && !sort.startsWith("-") ? `-${keyName}` : keyName;
  const state = !active ? "none" : sort.startsWith("-") ? "descending" : "ascending";
  return html`<th scope="col" class=${numeric ? "number" : ""} aria-sort=${state}>
    <button type="button" class="sort" onClick=${() => set("sort", next === "price" ? "" : next)}>${label}
      <span aria-hidden="true">${!active ? "" : state === "ascending" ? " ↑" : " ↓"}</span></button>
    ${unit ? html`<small>${unit}</small>` : null}</th>`;
}

export function Problem({ error, retry }) {
  const problem = error.problem ?? {};
  return html`<div class="notice error" role="alert">
    <p><strong>${error.message}</strong></p>
    ${(problem.errors ?? []).length > 0 ? html`<ul>${problem.errors.map((item) => html`<li><code>${item.parameter ?? item.pointer}</code>: ${item.message}</li>`)}</ul>` : null}
    <p><button type="button" onClick=${retry}>Try again</button> <a href="/">Start over</a>
      ${problem.request_id ? html` <small>request ${problem.request_id}</small>` : null}</p>
  </div>`;
}

function Empty({ query, set }) {
  const filters = query.filter(([name]) => !["view", "offer", "sort", "limit", "cursor", "include_stale"].includes(name));
  return html`<div class="notice">
    <p><strong>No offer matches.</strong> ${filters.length > 0 ? "Loosen one of these:" : "Nothing is offered yet."}</p>
    <ul>${filters.map(([name, value]) => html`<li><button type="button" onClick=${() => set(name, "")}>without ${name.replaceAll("_", " ")} ${value}</button></li>`)}
    ${get(query, "include_stale") ? null : html`<li><button type="button" onClick=${() => set("include_stale", "1")}>with stale offers too</button></li>`}</ul>
  </div>`;
}

function Paging({ query, page, set }) {
  const cursor = get(query, "cursor");
  if (!cursor && !page.next_cursor) return null;
  return html`<nav class="paging" aria-label="Pages">
    ${cursor ? html`<button type="button" onClick=${() => set("cursor", "")}>First page</button>
      <button type="button" onClick=${() => history.back()}>Back</button>` : null}
    ${page.next_cursor ? html`<button type="button" onClick=${() => set("cursor", page.next_cursor)}>Next page</button>` : null}
  </nav>`;
}

export function Offers({ query, set, result, open }) {
  const { data, error, loading, retry } = result;
  if (error) return html`<${Problem} error=${error} retry=${retry} />`;
  if (!data) return html`<p class="loading">Loading offers…</p>`;
  const url = apiPath(query);
  const near = get(query, "near");
  return html`<section aria-busy=${loading} class=${loading ? "busy" : ""}>
    <div class="summary">
      <p role="status">${data.total} ${String(data.total) === "1" ? "offer" : "offers"}${hasFilters(query) ? " match" : ""}${data.as_of ? html` <small>as of <time datetime=${data.as_of}>${data.as_of.replace("T", " ").slice(0, 16)} UTC</time></small>` : null}</p>
      <p class="links"><a href=${url}>as JSON</a>
        <button type="button" onClick=${() => navigator.clipboard?.writeText(`curl '${location.origin}${url}'`)}>copy curl</button></p>
    </div>
    ${data.data.length === 0 ? html`<${Empty} query=${query} set=${set} />` : html`<div class="scroll" tabindex="0" role="region" aria-label="Offers">
      <table>
        <caption class="hidden">GPU offers, one a row, with the cheapest price that matches</caption>
        <thead><tr>
          <${SortHeader} label="Per GPU" unit="USD an hour" keyName="price" numeric=${true} query=${query} set=${set} />
          <th scope="col" class="number">Per node<small>USD an hour</small></th>
          <th scope="col">Commitment</th>
          <${SortHeader} label="GPU" unit="VRAM of one" keyName="vram" query=${query} set=${set} />
          <th scope="col" class="number">GPUs<small>a node</small></th>
          <th scope="col">Provider</th>
          <th scope="col">Region</th>
          ${near ? html`<${SortHeader} label="Latency" unit=${near.includes(";") ? "worst round trip" : `from ${near}`} keyName="latency" numeric=${true} query=${query} set=${set} />` : null}
          <${SortHeader} label="Stock" unit="sort by last change" keyName="updated" query=${query} set=${set} />
        </tr></thead>
        <tbody>${data.data.map((offer) => html`<${Row} key=${offer.id} offer=${offer} open=${open} near=${near} />`)}</tbody>
      </table></div>
      <${Paging} query=${query} page=${data} set=${set} />`}
  </section>`;
}
