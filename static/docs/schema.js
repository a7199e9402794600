// What a schema says, in words and as nested lists of members.
import { inline, make } from "./dom.js";

const MOST_NESTED = 7;

export class Schemas {
  constructor(contract) {
    this.contract = contract;
  }

  // The node itself, references followed.
  resolve(node) {
    let seen = node;
    for (let depth = 0; seen?.$ref && depth < 10; depth++) {
      seen = seen.$ref.slice(2).split("/").reduce((at, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], this.contract);
    }
    return seen ?? {};
  }

  type(schema) {
    const real = this.resolve(schema);
    if (real.enum) return real.enum.map((value) => (value === null ? "null" : String(value))).join(" | ");
    if (real.const !== undefined) return JSON.stringify(real.const);
    const choices = real.oneOf ?? real.anyOf;
    if (choices && !real.type) return [...new Set(choices.map((choice) => this.type(choice)))].join(" or ");
    const types = [].concat(real.type ?? (real.properties ? "object" : real.allOf ? this.type(real.allOf[0]) : "any"));
    return types.map((type) => (type === "array" ? `list of ${this.type(real.items ?? {})}` : type)).join(" or ");
  }

  // Bounds and forms: "1 to 500, default 50".
  bounds(schema) {
    const real = this.resolve(schema);
    const item = real.items ? this.resolve(real.items) : real;
    const range = (least, most, unit) => (least !== undefined && most !== undefined ? `${least} to ${most}${unit}`
      : least !== undefined ? `at least ${least}${unit}` : most !== undefined ? `at most ${most}${unit}` : "");
    return [
      range(item.minimum, item.maximum, ""), item.exclusiveMinimum !== undefined ? `above ${item.exclusiveMinimum}` : "",
      item.maxLength !== undefined ? `up to ${item.maxLength} characters` : "", real.maxItems !== undefined ? `up to ${real.maxItems} values` : "",
      item.format ?? "", real.default !== undefined ? `default ${[].concat(real.default).join(",")}` : "",
    ].filter(Boolean).join(", ");
  }

  about(schema) {
    const bounds = this.bounds(schema);
    return make("span", { class: "type" }, this.type(schema), bounds ? ` (${bounds})` : "");
  }

  // Members of an object, of a list's objects or of each alternative; null where there are none. A schema inside itself is
  // named, not opened again.
  members(schema, open = []) {
    const real = this.resolve(schema);
    if (open.includes(real) || open.length > MOST_NESTED) return null;
    const path = [...open, real];
    const choices = [...(real.allOf ?? []), ...(real.oneOf ?? []), ...(real.anyOf ?? [])].map((choice) => this.members(choice, path)).filter(Boolean);
    if (real.items) return this.members(real.items, path);
    if (!real.properties) return choices.length > 0 ? make("div", {}, choices) : null;
    const list = make("ul", { class: "members" }, Object.entries(real.properties).map(([name, property]) => this.member(name, property, real, path)));
    return choices.length > 0 ? make("div", {}, list, choices) : list;
  }

  member(name, property, owner, path) {
    const real = this.resolve(property);
    const nested = this.members(property, path);
    return make("li", {}, make("code", {}, name), " ", this.about(property), (owner.required ?? []).includes(name) ? "" : make("span", { class: "type" }, ", may be left out"),
      real.description ? make("div", { class: "meaning" }, inline(real.description)) : "",
      nested ? make("details", {}, make("summary", { "aria-label": `Members of ${name}` }, "members"), nested) : "");
  }
}
