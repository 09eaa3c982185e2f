// The answers of the first boot. No DOM, no network, no clock. The browser keeps them without their secrets; the front
// and root's half keep none until all of them are written.

/** The steps with answers, in their order. */
export const STEPS = ["place", "network", "bank", "devices", "shop", "people", "till", "review"];
/** The secrets. The browser does not keep them over a reload. */
export const SECRETS = ["gateway.token", "till.secret", "system.wifi.password"];

/** The beginnings of the keys of answers, by the step that asks for them. */
const KEYS = {
  place: ["language", "time-zone"],
  network: ["system"],
  bank: ["gateway"],
  devices: ["reader", "reader-protocol", "sred-form", "terminal-country", "acquirer", "printer"],
  shop: ["terminal-id", "merchant", "country", "currency", "max-amount", "page.logo"],
  people: ["operator", "page.without-sign-in"],
  till: ["till"],
};
/** Returns the step that asks for an answer; the review for what no step asks for. */
export const stepOf = (key) => STEPS.find((step) => KEYS[step]?.some((one) => key === one || key.startsWith(`${one}.`) || key.startsWith(`${one}[`))) ?? "review";
/** Returns the id of the field for an answer: `operator-0-pin` for `operator[0].pin`. */
export const idOf = (key) => key.replace(/[.[\]]+/g, "-").replace(/-$/, "");

/** The answers that stand until a person changes them. */
const USUAL = { "gateway.mode": "live", "printer.columns": "48", "page.without-sign-in": "paired", "till.kind": "page" };
const EMPTY = { values: {}, secrets: {}, people: [], had: [], step: "place", networkIsSeen: false };

/** Returns the answers at the start of the page, from the text of an earlier page. */
export function begin(text) {
  let before = null;
  try { before = JSON.parse(text); } catch { /* as if there was none */ }
  const values = { ...USUAL, ...(before?.values ?? {}) };
  const people = (before?.people ?? []).map((one) => ({ ...one, pin: "", again: "" }));
  const step = STEPS.includes(before?.step) ? before.step : "place";
  return { ...EMPTY, values, people, had: before?.had ?? [], secrets: {}, step };
}
/** Returns the text to keep. It has no secret: of a secret it says only that it was typed. */
export function kept({ values, secrets, people, had, step }) {
  const typed = SECRETS.filter((key) => secrets[key] || had.includes(key));
  return JSON.stringify({ values, people: people.map(({ name, role }) => ({ name, role })), had: typed, step });
}
/** Returns the keys of the secrets that were typed on an earlier page and are missing on this one. */
export function missing({ values, secrets, people, had }) {
  const used = had.filter((key) => !secrets[key] && (key !== "till.secret" || hasSecret(values["till.kind"])) && key !== "system.wifi.password");
  const pins = people.map((one, n) => (one.name && !one.pin ? `operator[${n}].pin` : null)).filter(Boolean);
  return [...used, ...pins];
}
/** Checks whether a till of this kind is connected. */
export const isTill = (kind) => hasSecret(kind) || kind === "caisse-ap";
const hasSecret = (kind) => kind === "zvt" || kind === "nexo";

const listOf = (text, sign) => (text ?? "").split(sign).map((one) => one.trim()).filter(Boolean);
const secret = (text) => (text ? { value: text } : undefined);
const some = (text) => (text?.trim() ? text.trim() : undefined);

/** Returns the answers as root's half reads them. An answer that is not given is left out. */
export function answersOf({ values, secrets, people }) {
  const v = (key) => some(values[key]);
  const columns = Number(values["printer.columns"]);
  return {
    "terminal-id": v("terminal-id"),
    merchant: some(values.merchant) && listOf(values.merchant, "\n"),
    country: v("country"),
    currency: v("currency"),
    "max-amount": v("max-amount"),
    language: v("language"),
    "time-zone": v("time-zone"),
    reader: v("reader"),
    "reader-protocol": v("reader-protocol"),
    "sred-form": v("sred-form"),
    "terminal-country": v("terminal-country"),
    acquirer: v("acquirer"),
    printer: v("printer.port") && (v("printer.port") === "none" ? { port: "none" } : { port: v("printer.port"), columns }),
    gateway: {
      url: v("gateway.url"), "entity-id": v("gateway.entity-id"), ca: secret(values["gateway.ca"]),
      token: secret(secrets["gateway.token"]?.trim()), mode: v("gateway.mode"),
    },
    till: tillOf(v, secrets),
    page: { "without-sign-in": v("page.without-sign-in"), logo: secret(values["page.logo"]) },
    // The first payment is made in training.
    training: true,
    operator: people.map(({ name, role, pin }) => ({ name: name.trim(), role, pin: { value: pin } })),
    system: { "time-servers": listOf(values["system.time-servers"], /[\s,]+/) },
  };
}
function tillOf(v, secrets) {
  const kind = v("till.kind");
  if (!isTill(kind)) return { kind };
  const nexo = kind === "nexo" && {
    "poi-id": v("till.poi-id"), "sale-id": v("till.sale-id"), "key-identifier": v("till.key-identifier"),
    "key-version": v("till.key-version"), "certificate-name": v("till.certificate-name"),
  };
  return { kind, name: v("till.name"), address: listOf(v("till.address"), /[\s,]+/), port: v("till.port"), secret: hasSecret(kind) ? secret(secrets["till.secret"]) : undefined, ...nexo };
}

/** The answers that each step needs. The review of root's half knows all other rules. */
const NEEDED = {
  place: ["language", "time-zone"],
  bank: ["gateway.url", "gateway.entity-id", "gateway.ca", "gateway.token"],
  devices: ["reader", "printer.port"],
  shop: ["terminal-id", "merchant", "currency"],
  till: ["till.address"],
};
/**
 * Returns the faults that the page finds itself on a step, as `{key, word}`: what is missing, two PINs that differ, and
 * a page that no one could use.
 */
export function faultsOn(step, draft) {
  const { values, secrets, people } = draft;
  if (step === "people") {
    if (!people.length && values["page.without-sign-in"] === "nobody") return [{ key: "page.without-sign-in", word: "no-way-in" }];
    return people.flatMap((one, n) => [
      !one.name.trim() && { key: `operator[${n}].name`, word: "missing" },
      !/^\d{4,12}$/.test(one.pin) && { key: `operator[${n}].pin`, word: "pin-wrong" },
      one.pin !== one.again && { key: `operator[${n}].again`, word: "pin-differs" },
    ].filter(Boolean));
  }
  const kind = values["till.kind"];
  const more = { nexo: ["till.sale-id", "till.secret"] }[kind] ?? [];
  const needed = step !== "till" ? NEEDED[step] ?? [] : isTill(kind) ? [...NEEDED.till, ...more] : [];
  return needed.filter((key) => !some(values[key] ?? secrets[key])).map((key) => ({ key, word: "missing" }));
}
/** Returns the faults of root's half that a person can mend now: those of this step and of the steps before it. */
export const faultsUntil = (step, faults) => faults.filter((one) => STEPS.indexOf(stepOf(one.key)) <= STEPS.indexOf(step) && (one.key || step === "review"));

/** The usual currency of some countries; the others mostly have the euro. */
const CURRENCIES = { BG: "EUR", CH: "CHF", CZ: "CZK", DK: "DKK", GB: "GBP", HU: "HUF", IS: "ISK", LI: "CHF", NO: "NOK", PL: "PLN", RO: "RON", SE: "SEK", US: "USD" };
/** The countries in the list, by their codes of ISO 3166-1. */
export const COUNTRIES = ["AD", "AT", "BE", "BG", "CH", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB", "GR", "HR", "HU", "IE", "IS", "IT", "LI", "LT", "LU", "LV", "MC", "MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK", "SM", "US"];
export const currencyOf = (country) => CURRENCIES[country] ?? "EUR";
export const ALL_CURRENCIES = ["EUR", ...new Set(Object.values(CURRENCIES).filter((one) => one !== "EUR"))];

/** The port of the page when it is set up. A nexo till knows only port 8443, and the page then has the next one. */
export const pagePort = (values) => (values["till.kind"] === "nexo" && (some(values["till.port"]) ?? "8443") === "8443" ? "8444" : "8443");
