// A chart of fixings: the median as a line, the middle half of the votes as a band. The library comes only when a chart is shown.
import { html, useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1/standalone.module.js";
import { money } from "./format.js";

const LIBRARY = "../vendor/uplot-1.6.32/uPlot.esm.js";
const DAY_SECONDS = 86400;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Rows come newest first; uPlot wants columns, oldest first, null where a day has no fixing, so that the line breaks there.
export function columns(rows, interval) {
  const time = (row) => Date.parse(`${row.date}T00:00:00Z`) / 1000;
  const sorted = [...rows].reverse();
  const data = [[], [], [], []];
  let expected = null;
  for (const row of sorted) {
    for (; interval === "day" && expected !== null && expected < time(row); expected += DAY_SECONDS) {
      data[0].push(expected);
      for (const column of data.slice(1)) column.push(null);
    }
    const price = row.price_per_gpu_hour;
    data[0].push(time(row));
    data[1].push(Number(price.median));
    data[2].push(Number(price.p75));
    data[3].push(Number(price.p25));
    expected = time(row) + DAY_SECONDS;
  }
  return data;
}

function options(width, uPlot) {
  const ink = colour("--quiet"), line = colour("--line"), accent = colour("--accent");
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const value = (self, number) => (number === null ? "–" : money(number));
  return {
    width, height: 320, tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    scales: { y: { range: (self, low, high) => [Math.max(0, low - (high - low) * 0.15 - 0.01), high + (high - low) * 0.15 + 0.01] } },
    series: [
      { label: "Day (UTC)" },
      { label: "Median", stroke: accent, width: 2, value, points: { size: 5 } },
      { label: "Third quartile", stroke: accent, width: 0.5, value, points: { show: false } },
      { label: "First quartile", stroke: accent, width: 0.5, value, points: { show: false } },
    ],
    bands: [{ series: [2, 3], fill: `color-mix(in srgb, ${accent} 18%, transparent)` }],
    axes: [axis, { ...axis, size: 70, values: (self, ticks) => ticks.map((tick) => money(Number(tick.toFixed(3)))) }],
  };
}

export function Chart({ rows, interval, label }) {
  const holder = useRef(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let plot = null, gone = false;
    const fit = () => plot?.setSize({ width: holder.current.clientWidth, height: 320 });
    import(LIBRARY).then(({ default: uPlot }) => {
      if (gone || !holder.current) return;
      plot = new uPlot(options(holder.current.clientWidth, uPlot), columns(rows, interval), holder.current);
      addEventListener("resize", fit);
    }, () => setFailed(true));
    return () => {
      gone = true;
      removeEventListener("resize", fit);
      plot?.destroy();
    };
  }, [rows, interval]);
  return html`<figure class="history" aria-label=${label}><div ref=${holder}></div>
    ${failed ? html`<p class="notice">The chart can't be drawn; the table below says the same.</p>` : null}
    <figcaption>Median of the providers' prices, USD a GPU-hour; the band holds their middle half. A day without a fixing is a gap.</figcaption></figure>`;
}
