// The page: address in, view out. Every change goes through the address, so that Back, Forward and a shared link all mean the same.
import { html, render, useCallback, useEffect, useState } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { Detail } from "./detail.js";
import { Chips, Filters } from "./filters.js";
import { useAll, useJson } from "./hooks.js";
import { Market } from "./market.js";
import { Offers } from "./offers.js";
import { apiPath, get, readQuery, toSearch, withParameter } from "./query.js";
import { Tools } from "./tools.js";
import { Gpus, Providers } from "./views.js";

function useAddress() {
  const [query, setQuery] = useState(readQuery(location.search));
  useEffect(() => {
    const onPop = () => setQuery(readQuery(location.search));
    addEventListener("popstate", onPop);
    return () => removeEventListener("popstate", onPop);
  }, []);
  const go = useCallback((next) => {
    history.pushState(null, "", toSearch(next));
    setQuery(next);
  }, []);
  return [query, go];
}

const VIEWS = [["", "Offers"], ["providers", "Providers"], ["gpus", "GPUs"], ["market", "Market"], ["tools", "Tools"]];

function App() {
  const [query, go] = useAddress();
  const view = get(query, "view");
  const offer = get(query, "offer");
  const set = (name, value) => go(withParameter(query, name, value));
  const result = useJson(view === "" ? apiPath(query) : null);
  const gpus = useAll("/v1/gpus");
  const regions = useAll("/v1/regions");
  const providers = useAll("/v1/providers");
  return html`
    <header class="top">
      <a class="name" href="/">Rackrate</a>
      <p>What GPUs really cost to rent</p>
      <nav aria-label="Views">${VIEWS.map(([name, label]) => html`<a href=${name ? `/?view=${name}` : "/"} aria-current=${view === name ? "page" : null}
        onClick=${(event) => { event.preventDefault(); go(name ? [["view", name]] : []); }}>${label}</a>`)}<a href="/docs">API</a></nav>
    </header>
    <main>
      ${view === "providers" ? html`<h1>Providers</h1><${Providers} result=${providers} go=${go} />`
        : view === "gpus" ? html`<h1>GPUs</h1><${Gpus} result=${gpus} go=${go} />`
        : view === "market" ? html`<${Market} query=${query} go=${go} set=${set} gpus=${gpus.data ?? []} />`
        : view === "tools" ? html`<h1>Tools</h1><${Tools} query=${query} go=${go} set=${set} gpus=${gpus.data ?? []} regions=${regions.data ?? []} />`
        : html`<h1 class="hidden">Offers</h1>
          <${Filters} query=${query} set=${set} gpus=${gpus.data ?? []} regions=${regions.data ?? []} providers=${providers.data ?? []} />
          <${Chips} inForce=${result.data?.query} query=${query} set=${set} clear=${() => go([])} />
          <${Offers} query=${query} set=${set} result=${result} open=${(id) => set("offer", id)} />`}
      ${offer ? html`<${Detail} key=${offer} id=${offer} close=${() => get(readQuery(location.search), "offer") && set("offer", "")} />` : null}
    </main>
    <footer><p>Prices in USD. A price per GPU-hour sorts and compares; what a node costs stands beside it. Unknown is a dash.</p></footer>`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
