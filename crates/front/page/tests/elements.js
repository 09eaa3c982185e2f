// The part of a browser that the screens need in tests: elements with attributes, texts and listeners. Nothing is
// drawn.

class Element {
  constructor(tag) { Object.assign(this, { tagName: tag.toUpperCase(), nodes: [], attributes: {}, dataset: {}, listeners: {} }); }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  removeAttribute(name) { delete this.attributes[name]; }
  get hidden() { return "hidden" in this.attributes; }
  set hidden(on) { if (on) this.attributes.hidden = ""; else delete this.attributes.hidden; }
  addEventListener(name, act) { this.listeners[name] = act; }
  click() { return this.listeners.click({ currentTarget: this }); }
  append(...nodes) { this.nodes.push(...nodes); }
  replaceChildren(...nodes) { this.nodes = nodes; }
  get lastChild() { return this.nodes.at(-1); }
  get textContent() { return this.nodes.map((one) => one.textContent ?? one).join(""); }
  set textContent(value) { this.nodes = [value]; }
  /** Finds an element by its tag, or by its class after a dot. */
  querySelector(wanted) {
    const is = (one) => (wanted.startsWith(".") ? (one.attributes.class ?? "").split(" ").includes(wanted.slice(1)) : one.tagName === wanted.toUpperCase());
    return this.all.slice(1).find(is) ?? null;
  }
  /** Returns the element and all elements in it. */
  get all() { return [this, ...this.nodes.flatMap((one) => one.all ?? [])]; }
}
/** The version of files that the build has not read. */
globalThis.document = { documentElement: {}, querySelector: () => ({ content: "@VERSION@" }), createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag) };

/** Returns the first element with this attribute in another one. */
export const found = (el, name, value) => el.all.find((one) => one.getAttribute(name) === value);
/** Returns the text for a screen reader: without hidden elements. */
export const said = (el) => (el.hidden ? "" : el.nodes.map((one) => (one.all ? said(one) : one)).join(" ").replace(/\s+/g, " ").trim());
