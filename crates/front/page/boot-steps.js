// The first steps with answers: place and time, network, the bank's papers, reader and printer.

import { idOf } from "./boot-answers.js";
import { cards, choice, field, file, findings, secret } from "./boot-fields.js";
import { button, fill, h, text } from "./dom.js";
import { has, language, LANGUAGES, t } from "./words.js";

const b = (key, facts) => t(`boot.${key}`, facts);
/** The largest file with a CA. Root's half takes requests of at most 256 KiB. */
const CA_BYTES = 64 * 1024;

/** Returns the time zones that the browser knows. */
function zones(own) {
  const all = Intl.supportedValuesOf?.("timeZone") ?? [];
  return [...new Set([own, ...all])].filter(Boolean).map((zone) => [zone, zone.replaceAll("_", " ")]);
}

/** Language and time zone. */
export function placeStep(page) {
  const { values } = page.draft;
  values.language ??= language();
  values["time-zone"] ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
  const tongues = Object.keys(LANGUAGES).map((name) => [name, LANGUAGES[name][1]]);
  return [
    choice(page, "language", tongues, { hint: b("hint.language"), then: () => page.speak(values.language) }),
    choice(page, "time-zone", zones(values["time-zone"]), { hint: b("hint.time-zone") }),
  ];
}
/** Sets the board's clock at once, because the next checks need the time. */
export const setClock = (page) => page.send("clock", {
  "time-zone": page.draft.values["time-zone"], "time-servers": (page.draft.values["system.time-servers"] ?? "").split(/[\s,]+/).filter(Boolean),
});

/** Returns what to do about a finding. For a fault that the page does not know, it is the front's own sentence. */
const remedyOf = ({ fault, wrong, remedy }) => (has(`boot.network.fault.${fault}`) ? { remedy: b(`network.fault.${fault}`) } : { wrong, remedy });
/** Builds a list of the front's findings about the network, and `look`, which asks for them. */
function network(page, body) {
  const place = h("div", { class: "looked", role: "status" });
  const again = button("clock", b("check-again"), () => look(), { class: "quiet", id: "look" });
  async function look() {
    again.hidden = true;
    text(place, b("checking"));
    let all = null;
    try { all = (await page.send("network", body())).findings; } catch (error) { text(place, page.words(error)); }
    again.hidden = false;
    if (!all) return false;
    fill(place, findings(all.map((one) => ({ good: one.good, title: b(`network.${one.name}.${one.good ? "good" : "bad"}`), ...remedyOf(one) }))));
    return all.every((one) => one.good);
  }
  return { el: h("div", {}, place, again), look };
}

/** The network, Wi-Fi where the board can join one, and the time servers. */
export function networkStep(page) {
  const found = network(page, () => ({}));
  found.look();
  const said = h("p", { role: "status" });
  const { values, secrets } = page.draft;
  async function join() {
    text(said, b("wifi.joining"));
    const password = secrets["system.wifi.password"];
    try {
      await page.send("wifi", { name: values["system.wifi.name"] ?? "", ...(password && { password: { value: password } }) });
      text(said, b("wifi.joined"));
      found.look();
    } catch (error) { text(said, page.words(error)); }
  }
  return [
    found.el,
    page.state().wifi && h("fieldset", { class: "group" }, h("legend", {}, b("wifi")), h("p", { class: "hint" }, b("wifi.about")),
      field(page, "system.wifi.name"), secret(page, "system.wifi.password"), button("bank", b("wifi.join"), join, { class: "quiet", id: "join" }), said),
    h("details", { class: "more" }, h("summary", {}, b("more")), field(page, "system.time-servers", { hint: b("hint.time-servers") })),
  ];
}

/** What the bank's payment provider has sent. */
export function bankStep(page) {
  const { values } = page.draft;
  const told = h("p", { class: "hint", role: "status" });
  async function take(chosen) {
    if (chosen.size > CA_BYTES) return text(told, b("file.too-large"));
    values["gateway.ca"] = await chosen.text();
    page.mend("gateway.ca");
    page.keep();
    page.redraw(b("file.taken", { name: chosen.name }), "gateway-ca-file-choose");
  }
  return [
    field(page, "gateway.url", { type: "url", inputmode: "url", placeholder: `${location.protocol}//` }),
    field(page, "gateway.entity-id", { hint: b("hint.entity-id"), class: "code-text", maxlength: 64 }),
    field(page, "gateway.ca", { rows: 3, hint: b("hint.ca"), class: "code-text" }),
    file("gateway.ca", b("file.choose"), ".pem,.crt,.cer", take), told,
    secret(page, "gateway.token", { hint: b("hint.token"), class: "code-text" }),
    cards(page, "gateway.mode", ["live", "external", "internal"]),
  ];
}
/**
 * Looks for the bank after its papers are checked. Resolves to true if it answers. `found` is where the findings are
 * shown, with a way to go on without an answer.
 */
export async function reachBank(page, place) {
  const { values } = page.draft;
  const found = network(page, () => ({ url: values["gateway.url"]?.trim(), ca: values["gateway.ca"] }));
  fill(place, found.el);
  place.scrollIntoView?.({ block: "nearest" });
  if (await found.look()) return true;
  place.append(h("p", {}, b("bank.not-reached")), button(null, b("bank.anyway"), () => page.go("devices"), { class: "quiet", id: "anyway" }));
  return false;
}

/** Reader and printer: a search, and a try of each. */
export function devicesStep(page) {
  const { values } = page.draft;
  const place = h("div", { class: "looked", role: "status" });
  const again = button("clock", b("search.again"), () => search(), { class: "quiet", id: "search" });
  const fields = h("div", {});
  async function search() {
    again.hidden = true;
    fill(place, h("p", { class: "busy" }, b("search.runs")));
    try {
      page.found = await page.send("search", {});
      values.reader = page.found.reader?.port ?? values.reader;
      values["reader-protocol"] = page.found["reader-protocol"] ?? values["reader-protocol"];
      values["printer.port"] = page.found.printer?.port ?? values["printer.port"] ?? "none";
      ["reader", "reader-protocol", "printer.port"].forEach((key) => page.mend(key));
      page.keep();
    } catch (error) { text(place, page.words(error)); }
    again.hidden = false;
    draw();
  }
  function draw() {
    const { found } = page;
    if (found) {
      const one = (name) => ({ good: Boolean(found[name]), title: found[name] ? b(`search.${name}`, found[name]) : b(`search.no-${name}`), remedy: !found[name] && b(`search.no-${name}.remedy`) });
      fill(place, findings([one("reader"), one("printer")]));
    }
    const ports = (found?.looked ?? []).map(({ port, said }) => [port, `${port} · ${said}`]);
    fill(fields,
      port(page, "reader", ports, b("hint.reader"), draw), ...kindOfReader(page, found?.protocols ?? [], draw), tried(page, "try-reader", () => ({ port: values.reader, text: b("try.reader-text") })),
      port(page, "printer.port", [["none", b("printer.none")], ...ports], b("hint.printer"), draw),
      values["printer.port"] !== "none" && choice(page, "printer.columns", [["32", b("columns.32")], ["42", b("columns.42")], ["48", b("columns.48")]]),
      values["printer.port"] !== "none" && tried(page, "try-printer", () => ({ port: values["printer.port"], columns: Number(values["printer.columns"]), text: b("try.printer-text") })));
  }
  if (page.found) draw(); else search();
  return [place, again, fields];
}
/** Builds the choice of the reader's kind, with the answers that only this kind needs. `draw` draws it again. */
function kindOfReader(page, protocols, draw) {
  const { values } = page.draft;
  const name = values["reader-protocol"] ??= protocols[0]?.name;
  const known = protocols.find((one) => one.name === name);
  function then() {
    // Each kind has other forms.
    delete values["sred-form"];
    page.keep();
    draw();
    document.getElementById(idOf("reader-protocol"))?.focus();
  }
  const forms = known?.["sred-forms"] ?? [];
  return [
    protocols.length > 1 && choice(page, "reader-protocol", protocols.map((one) => [one.name, b(`kind.${one.name}`)]), { hint: b("hint.reader-protocol"), then }),
    forms.length > 0 && choice(page, "sred-form", [["", b("choose")], ...forms.map((form) => [form, b(`form.${form}`)])], { hint: b("hint.sred-form") }),
    known?.["needs-acquirer"] && field(page, "terminal-country", { hint: b("hint.terminal-country"), inputmode: "numeric", maxlength: 3 }),
    known?.["needs-acquirer"] && field(page, "acquirer", { hint: b("hint.acquirer"), maxlength: 8 }),
  ].filter(Boolean);
}
const OTHER = "other";
/** Builds the choice of a port: one that was found, or a typed one. `draw` draws it again. */
function port(page, key, found, hint, draw) {
  const { values } = page.draft;
  const value = values[key] ?? "";
  const isTyped = page.typed.has(key) || (value !== "" && !found.some(([one]) => one === value));
  const id = `${idOf(key)}-list`;
  const how = {
    hint, id,
    get: () => (isTyped ? OTHER : value),
    set(chosen) {
      if (chosen === OTHER) page.typed.add(key); else page.typed.delete(key);
      values[key] = chosen === OTHER ? "" : chosen;
    },
    then() {
      draw();
      document.getElementById(page.typed.has(key) ? idOf(key) : id).focus();
    },
  };
  const list = choice(page, key, [...(value || isTyped ? [] : [["", b("choose")]]), ...found, [OTHER, b("port.other")]], how);
  const wrong = h("p", { class: "wrong", role: "alert" }, page.fault(key) ?? "");
  return h("div", {}, list, isTyped ? field(page, key, { label: b("port.typed"), hint: b("hint.port") }) : wrong);
}
/** Builds a button that tries a device. */
function tried(page, name, body) {
  const said = h("p", { role: "status" });
  async function act() {
    text(said, b("trying"));
    try {
      await page.send(name, body());
      text(said, b(`${name}.done`));
    } catch (error) { text(said, page.words(error)); }
  }
  return h("div", { class: "try" }, button(name === "try-printer" ? "sales" : "pin", b(name), act, { class: "quiet", id: name }), said);
}
