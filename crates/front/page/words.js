// The page's texts in the cashier's language. For a word of the agent that the page does not know, it shows the agent's
// own sentence.

import { shown } from "./money.js";

let table = {};
let spoken = "en";
let wanted = spoken;
export const language = () => spoken;
/** The languages of the page, with the locale of their numbers and dates, and their own names. */
export const LANGUAGES = {
  en: ["en-GB", "English"], de: ["de-DE", "Deutsch"], fr: ["fr-FR", "Français"], it: ["it-IT", "Italiano"], es: ["es-ES", "Español"], nl: ["nl-NL", "Nederlands"], pl: ["pl-PL", "Polski"],
};
export const locale = () => LANGUAGES[spoken][0];

/** Uses these texts of a language. */
export function speak(name, texts) {
  table = texts;
  spoken = name;
  wanted = name;
  document.documentElement.lang = name;
}
async function textsOf(file) {
  const answer = await fetch(`/assets/${file}.json`);
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
  return answer.json();
}
/** Loads all texts of a language, and uses them unless another language was chosen meanwhile. */
export async function load(name) {
  wanted = name;
  const all = await textsOf(name);
  if (wanted === name) speak(name, all);
}
/** Loads a part of the texts that the document does not have. */
async function loadPart(part) {
  const name = spoken;
  const texts = await textsOf(`${name}-${part}`);
  if (spoken === name) table = { ...texts, ...table };
}
export const loadRest = () => loadPart("rest");
/** Loads the texts of `support.js`, unless all texts of the language are loaded. */
export const loadSupport = async () => has("doctor.title") || loadPart("support");

/**
 * Finds the text of a key. The files hold groups: `a.b` is `b` in the group `a`, and `a` alone is the group's text
 * without a name.
 */
const find = (key) => {
  const [, group, name] = /^([^.]*)\.?(.*)$/.exec(key);
  return typeof table[group] === "string" && !name ? table[group] : table[group]?.[name];
};
export const has = (key) => typeof find(key) === "string";
/** Returns the text of a key; `{name}` is replaced by the value in `facts`. */
export function t(key, facts = {}) {
  return (find(key) ?? key).replace(/\{(\w+)\}/g, (_, name) => String(facts[name] ?? ""));
}
/** Returns the text of the first key that exists, else `otherwise`. */
export const first = (keys, otherwise = "") => { const key = keys.find(has); return key ? t(key) : otherwise; };

/** Returns the cashier's text for a reason; `otherwise` when the page does not know it. */
export const reason = (word, otherwise = "") => (word && has(`reason.${word}`) ? t(`reason.${word}`) : otherwise);

let exponent = 2;
export const setExponent = (value) => { exponent = value; };
export const money = (amount, currency) => shown(amount, currency, locale(), exponent);
const format = (options) => (when) => {
  const date = when instanceof Date ? when : new Date(when);
  return Number.isNaN(date.getTime()) ? "" : new Intl.DateTimeFormat(locale(), options).format(date);
};
export const clock = format({ hour: "2-digit", minute: "2-digit" });
export const clockSeconds = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const day = format({ day: "numeric", month: "short" });
export const dayAndTime = format({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });
