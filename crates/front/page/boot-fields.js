// The fields of the first boot: a label, a field, a hint, and the fault of its answer.

import { idOf } from "./boot-answers.js";
import { button, h, text } from "./dom.js";
import { t } from "./words.js";

const b = (key, facts) => t(`boot.${key}`, facts);

/** Puts a field between its label, its hint and the place of its fault. */
function framed(page, key, field, { label, hint, kept = false, id = idOf(key) }) {
  const told = [hint && `${id}-hint`, `${id}-wrong`].filter(Boolean).join(" ");
  field.setAttribute("id", id);
  field.setAttribute("aria-describedby", told);
  const fault = id === idOf(key) && page.fault(key);
  if (fault) field.setAttribute("aria-invalid", "true");
  return h("div", { class: "field" },
    h("label", { for: id }, label), field,
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
    kept && h("p", { class: "todo" }, b("secret.again")),
    h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" }, fault || ""));
}
/** Removes the fault of a field that a person changes. */
function changed(page, key, field) {
  page.mend(key);
  field.removeAttribute("aria-invalid");
  const place = document.getElementById(`${idOf(key)}-wrong`);
  if (place) text(place, "");
}

/** Builds a field for a text. `how` has `get`, `set` and the attributes of the field. */
function typed(page, key, tag, how) {
  const { label, hint, get, set, kept, ...props } = how;
  const field = h(tag, { autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...props });
  field.value = get();
  field.addEventListener("input", () => { set(field.value); changed(page, key, field); page.keep(); });
  return framed(page, key, field, { label, hint, kept });
}
const ofValues = (page, key) => ({ get: () => page.draft.values[key] ?? "", set: (value) => { page.draft.values[key] = value; } });

/** Builds a field for the answer `key`. */
export const field = (page, key, how = {}) => typed(page, key, how.rows ? "textarea" : "input", {
  type: how.rows ? null : "text", label: b(`field.${key}`), ...ofValues(page, key), ...how,
});
/** Builds a field for a secret. Its text is not shown, and the browser neither keeps nor offers it. */
export const secret = (page, key, how = {}) => typed(page, key, "input", {
  type: "password", autocomplete: "new-password", label: b(`field.${key}`),
  get: () => page.draft.secrets[key] ?? "", set: (value) => { page.draft.secrets[key] = value; },
  kept: page.draft.had.includes(key) && !page.draft.secrets[key], ...how,
});

/** Builds a choice in a list; `choices` are pairs of a value and a word. `then` is called after a change. */
export function choice(page, key, choices, { label = b(`field.${key}`), hint, id, then = () => {}, ...how } = {}) {
  const { get, set } = { ...ofValues(page, key), ...how };
  const list = h("select", {}, choices.map(([value, word]) => h("option", { value, selected: value === get() }, word)));
  list.value = get();
  list.addEventListener("change", () => { set(list.value); changed(page, key, list); page.keep(); then(); });
  return framed(page, key, list, { label, hint, id });
}

/** Builds a choice of which every possibility is in view, each with a sentence about it. */
export function cards(page, key, choices, then = () => {}) {
  const { get, set } = ofValues(page, key);
  const name = idOf(key);
  const one = (value) => {
    const dot = h("input", { type: "radio", name, value, id: `${name}-${value}`, checked: value === get() });
    dot.addEventListener("change", () => { set(value); changed(page, key, dot); page.keep(); then(); });
    return h("label", { class: "card", for: `${name}-${value}` }, dot,
      h("span", {}, h("strong", {}, b(`${key}.${value}`)), h("span", { class: "hint" }, b(`${key}.${value}.about`))));
  };
  return h("fieldset", { class: "cards" }, h("legend", {}, b(`field.${key}`)), choices.map(one),
    h("p", { class: "wrong", id: `${name}-wrong`, role: "alert" }, page.fault(key) ?? ""));
}

/** Builds a button that takes a file; `read` gets it. */
export function file(key, word, accept, read) {
  const id = `${idOf(key)}-file`;
  const input = h("input", { type: "file", id, accept, class: "unseen", tabindex: "-1", "aria-hidden": "true" });
  input.addEventListener("change", async () => { if (input.files[0]) await read(input.files[0]); input.value = ""; });
  return h("div", { class: "file" }, button("more", word, () => input.click(), { class: "quiet", id: `${id}-choose` }), input);
}

/** Builds a list of findings: what is good, and what is not with its remedy. */
export const findings = (all) => h("ul", { class: "findings" }, all.map(({ good, title, wrong, remedy }) => h("li", { "data-good": String(good) },
  h("strong", {}, title), wrong && h("span", {}, wrong), remedy && h("span", { class: "remedy" }, b("remedy", { remedy })))));
