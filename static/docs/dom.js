// Elements and texts of the reference. DOM calls only: no HTML text is ever parsed.

// An element with attributes and children; empty children are left out.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// The two marks inside a line of the contract's texts: **strong** and `code`.
export function inline(text) {
  return String(text ?? "").split(/(\*\*[^*]+\*\*|`[^`]+`)/).filter(Boolean).map((part) => {
    if (part.startsWith("**") && part.length > 4) return make("strong", {}, part.slice(2, -2));
    return part.startsWith("`") && part.length > 2 ? make("code", {}, part.slice(1, -1)) : part;
  });
}

const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

// A table that can be scrolled by keyboard where it is too wide.
export function table(label, heads, rows) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    make("table", {}, make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, inline(head))))),
      make("tbody", {}, rows)));
}

// Paragraphs and tables of a longer text.
export function prose(text) {
  return String(text ?? "").split(/\n{2,}/).filter(Boolean).map((block) => {
    const lines = block.split("\n");
    if (!lines.every((line) => line.startsWith("|")) || lines.length < 3) return make("p", { class: "prose" }, inline(block));
    const rows = lines.slice(2).map((line) => make("tr", {}, cells(line).map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, inline(cell)))));
    return table(`Table: ${cells(lines[0]).join(", ")}`, cells(lines[0]), rows);
  });
}

// Text to copy, scrolled by keyboard where it is long.
export const listing = (text) => make("pre", { tabindex: "0" }, make("code", {}, text));
