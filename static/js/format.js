// How facts are shown. What nobody said is a dash, never 0.

export const DASH = "–";

export const shown = (value) => (value === null || value === undefined || value === "" ? DASH : String(value));
export const withUnit = (value, unit) => (value === null || value === undefined ? DASH : `${value} ${unit}`);

const WORDS = {
  on_demand: "on demand", spot: "spot", reserved: "reserved", sold_out: "sold out", infiniband: "InfiniBand", roce: "RoCE",
  ethernet: "Ethernet", nvlink: "NVLink", pcie: "PCIe", sxm: "SXM", nvl: "NVL", oam: "OAM", gpu_cloud: "GPU cloud",
  provider_api: "provider", below_market: "below the market", above_market: "above the market", insufficient_data: "too few to compare", undisclosed: "form factor undisclosed",
};
export const word = (value) => (value === null || value === undefined ? DASH : WORDS[value] ?? String(value).replaceAll("_", " "));

// An amount in USD: every digit the server sent, and at least cents.
export function money(text) {
  const [whole, fraction = ""] = String(text).replace("-", "").split(".");
  return `${String(text).startsWith("-") ? "-" : ""}$${whole}.${fraction.padEnd(2, "0")}`;
}

// A sum in USD and cents, half to even, thousands apart.
export function dollars(text) {
  const scaled = millionths(text), size = scaled < 0n ? -scaled : scaled;
  let cents = size / 10_000n;
  const rest = size % 10_000n;
  if (rest > 5_000n || (rest === 5_000n && cents % 2n === 1n)) cents += 1n;
  const digits = cents.toString().padStart(3, "0");
  return `${scaled < 0n && cents > 0n ? "-" : ""}$${digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",")}.${digits.slice(-2)}`;
}

// A share of one as a percentage.
export const percent = (share) => (share === null || share === undefined ? DASH : `${(Number(share) * 100).toFixed(1)} %`);

export const day = (time) => (time ? time.slice(0, 10) : DASH);

// "reserved 12 months", "on demand", "spot".
export function commitment(price) {
  if (price.billing !== "reserved") return word(price.billing);
  const months = String(price.term_months);
  return `reserved ${months} ${months === "1" ? "month" : "months"}`;
}

// "16 to 512 GPUs", "from 16 GPUs", or nothing: from one GPU on is no condition.
export function gpuRange(price) {
  const least = price.min_gpus && String(price.min_gpus) !== "1" ? price.min_gpus : null;
  const unit = String(price.max_gpus) === "1" ? "GPU" : "GPUs";
  if (least && price.max_gpus) return `${least} to ${price.max_gpus} ${unit}`;
  if (least) return `from ${least} GPUs`;
  if (price.max_gpus) return `up to ${price.max_gpus} ${unit}`;
  return "";
}

// A decimal text as an integer of millionths, without a double.
function millionths(text) {
  const [whole, fraction = ""] = String(text).split(".");
  return BigInt(whole + fraction.padEnd(6, "0").slice(0, 6));
}

// What is due at once for one GPU: upfront_percent x price x 730 h x months, in USD and cents. Null where nothing is.
export function upfrontPerGpu(price) {
  if (price.billing !== "reserved" || !price.upfront_percent || String(price.upfront_percent) === "0") return null;
  const scaled = millionths(price.price_per_gpu_hour) * millionths(price.upfront_percent) * 730n * BigInt(String(price.term_months));
  const cents = (scaled + 500_000_000_000n) / 1_000_000_000_000n; // 10^6 of price, 10^6 of percent, 10^2 of percent; to cents
  const text = cents.toString().padStart(3, "0");
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
}

// Only web addresses become links; a provider's text can't smuggle in another scheme.
export const safeUrl = (url) => (typeof url === "string" && /^https?:\/\//i.test(url) ? url : null);
