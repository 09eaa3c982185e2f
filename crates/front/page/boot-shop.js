// The steps about the shop, its people and its till.

import { ALL_CURRENCIES, COUNTRIES, currencyOf, isTill } from "./boot-answers.js";
import { cards, choice, field, file, secret } from "./boot-fields.js";
import { button, h, text } from "./dom.js";
import { locale, t } from "./words.js";

const b = (key, facts) => t(`boot.${key}`, facts);
/** The largest logo. */
const LOGO_BYTES = 64 * 1024;
const ROLES = ["supervisor", "cashier", "technician"];

const named = (type, codes) => {
  const names = new Intl.DisplayNames([locale()], { type });
  return codes.map((code) => [code, names.of(code)]).sort(([, one], [, other]) => one.localeCompare(other, locale()));
};

/** What the bank and the law want to know of the shop. */
export function shopStep(page) {
  const { values } = page.draft;
  const region = navigator.language.split("-")[1];
  values.country ??= COUNTRIES.includes(region) ? region : "none";
  values.currency ??= currencyOf(values.country);
  const said = h("p", { class: "hint", role: "status" }, values["page.logo"] ? b("logo.there") : "");
  async function take(chosen) {
    if (chosen.size > LOGO_BYTES) return text(said, b("logo.too-large"));
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    values["page.logo"] = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    page.mend("page.logo");
    page.keep();
    text(said, b("file.taken", { name: chosen.name }));
  }
  const countries = [["none", b("country.none")], ...named("region", COUNTRIES)];
  return [
    field(page, "terminal-id", { hint: b("hint.terminal-id") }),
    field(page, "merchant", { rows: 3, hint: b("hint.merchant"), autocapitalize: "words" }),
    choice(page, "country", countries, { hint: b("hint.country"), then: () => { values.currency = currencyOf(values.country); page.keep(); page.redraw("", "country"); } }),
    choice(page, "currency", named("currency", ALL_CURRENCIES).map(([code, name]) => [code, `${code} · ${name}`])),
    field(page, "max-amount", { inputmode: "decimal", hint: b("hint.max-amount") }),
    h("div", { class: "field" }, h("p", { class: "label" }, b("field.page.logo")), file("page.logo", b("logo.choose"), ".svg,.png,.jpg,.jpeg,.webp", take), said,
      h("p", { class: "wrong", id: "page-logo-wrong", role: "alert" }, page.fault("page.logo") ?? "")),
  ];
}

/** Who signs in, and who uses the page without signing in. */
export function peopleStep(page) {
  const { people } = page.draft;
  const own = (one, name) => ({ get: () => one[name], set: (value) => { one[name] = value; } });
  const person = (one, n) => {
    const key = (name) => `operator[${n}].${name}`;
    const pin = { inputmode: "numeric", maxlength: 12, kept: false };
    return h("fieldset", { class: "group person" }, h("legend", {}, b("person", { n: n + 1 })),
      field(page, key("name"), { label: b("person.name"), maxlength: 32, ...own(one, "name") }),
      choice(page, key("role"), ROLES.map((role) => [role, b(`role.${role}`)]), { label: b("person.role"), hint: b("hint.role"), ...own(one, "role") }),
      secret(page, key("pin"), { label: b("person.pin"), hint: b("hint.pin"), ...pin, ...own(one, "pin") }),
      secret(page, key("again"), { label: b("person.again"), ...pin, ...own(one, "again") }),
      button("close", b("person.remove", { name: b("person", { n: n + 1 }) }), () => { people.splice(n, 1); page.keep(); page.redraw("", "add"); }, { class: "quiet", id: `remove-${n}` }));
  };
  function add() {
    people.push({ name: "", role: people.length ? "cashier" : "supervisor", pin: "", again: "" });
    page.keep();
    page.redraw("", `operator-${people.length - 1}-name`);
  }
  return [
    people.map(person),
    button("person", b(people.length ? "person.add-more" : "person.add"), add, { class: "quiet", id: "add" }),
    cards(page, "page.without-sign-in", ["nobody", "paired", "board", "network"]),
  ];
}

/** The till to connect. */
export function tillStep(page) {
  const { values } = page.draft;
  const kind = values["till.kind"];
  const more = { zvt, nexo, "caisse-ap": caisseAp }[kind];
  return [
    cards(page, "till.kind", ["page", "zvt", "nexo", "caisse-ap"], () => page.redraw("", `till-kind-${values["till.kind"]}`)),
    isTill(kind) && field(page, "till.address", { inputmode: "decimal", hint: b("hint.till-address") }),
    more?.(page),
  ];
}
const technical = (page, names) => h("details", { class: "more", open: names.some((name) => page.fault(name)) }, h("summary", {}, b("more")),
  names.map((name) => field(page, name, { hint: b(`hint.${name}`) })));
const zvt = (page) => [
  secret(page, "till.secret", { label: b("field.zvt-password"), hint: b("hint.zvt-password"), inputmode: "numeric", maxlength: 6 }),
  technical(page, ["till.name", "till.port"]),
];
const caisseAp = (page) => [technical(page, ["till.name", "till.port"])];
const nexo = (page) => [
  field(page, "till.sale-id", { hint: b("hint.till.sale-id") }),
  secret(page, "till.secret", { label: b("field.nexo-passphrase"), hint: b("hint.nexo-passphrase") }),
  technical(page, ["till.name", "till.port", "till.poi-id", "till.key-identifier", "till.key-version", "till.certificate-name"]),
];
