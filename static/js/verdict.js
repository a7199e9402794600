// The verdict on a price: a badge in rows, a sentence and questions in the offer's own view.
import { html } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { money } from "./format.js";

const LEVELS = {
  cluster_size: "for the same term and cluster size",
  term: "for the same term, clusters of any size",
  billing: "reserved for any term (longer terms are usually cheaper)",
};

const QUESTIONS = {
  burn_in: ["Burn-in", "Did these machines run under full load for days before hand-over, and may you do so before you pay?"],
  interconnect: ["Interconnect", "SXM with NVLink or PCIe inside a node, InfiniBand, RoCE or Ethernet between nodes, how many Gb/s, and shared with whom?"],
  hidden_fees: ["Hidden fees", "Egress, storage, public addresses, support, set-up, minimum duration, and what is lost on cancelling?"],
  stock: ["Stock", "Are the GPUs racked today, in one place and for you alone? On which day can you log in, and what if not?"],
};

// "28 % below", "2.4 × the median".
export function distance(price) {
  const ratio = Number(price.ratio_to_median);
  if (price.verdict === "below_market") return `${Math.round((1 - ratio) * 100)} % below`;
  if (ratio >= 2) return `${ratio.toFixed(1)} × the median`;
  return `${Math.round((ratio - 1) * 100)} % above`;
}

const median = (price) => `the median ${money(price.comparables.median_price_per_gpu_hour)} of ${price.comparables.providers} providers, same GPU, ${LEVELS[price.comparables.level]}`;

// One sentence that says what the price was held against.
export function explain(price) {
  if (price.verdict === "insufficient_data") {
    const count = Number(price.comparables.providers);
    return `No verdict: ${count === 0 ? "no other provider's price counts" : `only ${count} ${count === 1 ? "provider's prices count" : "providers' prices count"}`} here, and five are needed.`;
  }
  if (price.verdict === "typical") return `Typical: within 0.8 to 1.25 times ${median(price)}.`;
  return `${distance(price)}: ${median(price)}.`;
}

// In rows: nothing where nothing can be said.
export function Verdict({ price }) {
  if (!price.verdict || price.verdict === "insufficient_data") return null;
  return html`<span class="fair ${price.verdict}" title=${explain(price)}>${price.verdict === "typical" ? "typical" : distance(price)}</span>`;
}

// In a table of prices: the badge, or why there is none.
export const VerdictCell = ({ price }) => (price.verdict === "insufficient_data"
  ? html`<small title=${explain(price)}>too few to compare</small>` : html`<${Verdict} price=${price} />`);

// In the offer's own view.
export function Judgement({ price }) {
  if (!price.verdict) return null;
  return html`<section class="judgement" aria-label="Verdict">
    <p class="notice ${price.verdict}">${explain(price)} <a href="/docs/method#verdict">How this is told</a></p>
    ${price.ask.length > 0 ? html`<h3>What to ask before you order</h3>
      <dl>${price.ask.map((name) => html`<dt>${QUESTIONS[name][0]}</dt><dd>${QUESTIONS[name][1]}</dd>`)}</dl>` : null}
  </section>`;
}
