// Small builders for the page's elements. Data from outside becomes text; no data is parsed as HTML.

import { t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** Builds an element: `h("button", {class: "big", onclick: f}, "text", child)`. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button";
  set(element, props);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
export function s(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  set(element, props);
  element.append(...children.flat().filter(Boolean));
  return element;
}
function set(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
}
/** Builds an image of `icons.svg`. Screen readers skip it, because it has a word next to it. */
export const icon = (name, extra = "") =>
  s("svg", { class: `icon ${extra}`.trim(), viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, s("use", { href: `#icon-${name}` }));

/** Builds a QR code; screen readers read `words`. */
export const qr = ({ size, path }, words) => s("svg", { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": words }, s("path", { d: path }));

/** Changes a text only when it is different, so that screen readers do not repeat it. */
export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}
export const fill = (element, ...children) => element.replaceChildren(...children.flat().filter(Boolean));

/** Builds a folded text that only a technician needs; null if there is none. */
export const folded = (words) => (words ? h("details", { class: "technical" }, h("summary", {}, t("technical")), h("p", {}, words)) : null);

export function button(name, word, onclick, props = {}) {
  const act = (event) => event.currentTarget.getAttribute("aria-disabled") !== "true" && onclick(event);
  return h("button", { ...props, onclick: act }, name && icon(name), h("span", {}, word));
}

/**
 * Builds a keypad; `press` receives a digit, `erase` or `clear`. A key takes no focus from the pointer, so Enter on a
 * keyboard still does what it did.
 */
export function keypad(names, press, attribute = "data-key") {
  const sign = { erase: ["erase", "pay.back"], clear: ["close", "pay.clear"] };
  return h("div", { class: "keys", role: "group", "aria-label": t("pay.keys") }, names.map((name) => h("button", {
    class: "key", [attribute]: name, "aria-label": sign[name] && t(sign[name][1]),
    onmousedown: (event) => event.preventDefault(), onclick: () => press(name),
  }, sign[name] ? icon(sign[name][0]) : name)));
}
/** The keys of an amount, and of plain digits. */
export const AMOUNT_KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "00", "0", "erase"];
export const DIGIT_KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "clear", "0", "erase"];
/** Types a key of `DIGIT_KEYS` into a field. */
export function typeInto(field, name) {
  field.value = name === "clear" ? "" : name === "erase" ? field.value.slice(0, -1) : field.value + name;
  field.dispatchEvent(new Event("input"));
}

/** Calls `act` when Enter is pressed in a field. */
export const onEnter = (field, act) => field.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); act(); } });

/** Blocks new buttons for a moment, so that a second tap for the previous screen does not press them. */
export function armLater(buttons, ms = 450) {
  buttons.forEach((one) => one.setAttribute("aria-disabled", "true"));
  setTimeout(() => buttons.forEach((one) => one.removeAttribute("aria-disabled")), ms);
}

/** Opens a question over the page. Resolves to the value of the button, or null. `build(close)` returns its content. */
export function dialog(title, build, kind = "") {
  return new Promise((resolve) => {
    const heading = h("h2", { id: "dialog-title", tabindex: "-1" }, title);
    const box = h("dialog", { "aria-labelledby": "dialog-title", class: kind });
    const close = (value) => { box.dataset.done = "1"; box.close(); box.remove(); resolve(value ?? null); };
    box.append(heading, ...[build(close)].flat().filter(Boolean));
    box.addEventListener("cancel", (event) => { event.preventDefault(); close(null); });
    box.addEventListener("leave", () => close(null));
    document.body.append(box);
    box.showModal();
    (box.querySelector("[data-first]") ?? heading).focus();
  });
}
/** Builds the button that closes a question without an answer. */
export const closer = (close, word = "no", props = {}) => button("close", t(word), () => close(null), { class: "quiet", ...props });
/** Closes every open question, because a more important screen is shown. */
export const closeDialogs = () => document.querySelectorAll("dialog[open]").forEach((box) => box.dispatchEvent(new Event("leave")));
