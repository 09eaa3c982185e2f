// The end of the first boot: the review, the writing, and the wait until the terminal's own page answers.

import * as api from "./api.js";
import { answersOf, idOf, isTill, missing, pagePort, stepOf, STEPS } from "./boot-answers.js";
import { readState, write } from "./boot-link.js";
import { findings } from "./boot-fields.js";
import { button, fill, h, text } from "./dom.js";
import { sleep } from "./link.js";
import { first, LANGUAGES, t } from "./words.js";

const b = (key, facts) => t(`boot.${key}`, facts);
const LOOK_MS = 1000;
const WRITING = ["checking", "writing", "operators", "agent", "front"];

/** Returns what was answered on a step, in a few words. */
function summary(step, { values: v, people }) {
  switch (step) {
    case "place": return [LANGUAGES[v.language]?.[1], v["time-zone"]];
    case "network": return [v["system.time-servers"] || b("usual")];
    case "bank": return [v["gateway.url"], b(`gateway.mode.${v["gateway.mode"]}`)];
    case "devices": return [v.reader, v["printer.port"] === "none" ? b("printer.none") : v["printer.port"]];
    case "shop": return [v["terminal-id"], v.merchant?.split("\n")[0], v.currency];
    case "people": return [people.map((one) => one.name).join(", ") || b("people.none"), b(`page.without-sign-in.${v["page.without-sign-in"]}`)];
    default: return [b(`till.kind.${v["till.kind"]}`), isTill(v["till.kind"]) && v["till.address"]];
  }
}

/** All answers in view, each with the way back to it. */
export function reviewStep(page) {
  const { draft } = page;
  const row = (step) => h("div", {}, h("dt", {}, b(`${step}.short`)), h("dd", {}, h("span", {}, summary(step, draft).filter(Boolean).join("\n")),
    button(null, b("change"), () => page.go(step), { class: "quiet", "data-change": step, "aria-label": b("change.step", { step: b(`${step}.short`) }) })));
  const again = missing(draft);
  const faults = [...page.faults()].map(([key, words]) => ({ key, words }));
  const toMend = (key, words) => h("li", { "data-good": "false" }, h("strong", {}, fieldName(key)), h("span", {}, words),
    stepOf(key) !== "review" && button(null, b("mend"), () => page.go(stepOf(key), idOf(key)), { class: "quiet", "data-mend": key }));
  return [
    again.length > 0 && h("ul", { class: "findings" }, again.map((key) => toMend(key, b("secret.again")))),
    faults.length > 0 && h("ul", { class: "findings" }, faults.map(({ key, words }) => toMend(key, words))),
    h("dl", { class: "answers-list" }, STEPS.slice(0, -1).map(row)),
  ];
}
function fieldName(key) {
  const person = /^operator\[(\d+)\]/.exec(key);
  if (person) return b("person", { n: Number(person[1]) + 1 });
  return first([`boot.field.${key}`, `boot.field.${key.split(".")[0]}`], key || b("review.short"));
}

/**
 * Writes all answers, and shows each step of it at `place`. Resolves to `"written"`, `"code"` if a new code is needed,
 * or `"review"` if something must be changed; `page` then has the faults.
 */
export async function writeAll(page, place) {
  const rows = WRITING.map((step) => h("li", { "data-step": step }, b(`write.${step}`)));
  const said = h("p", { class: "busy", role: "status" }, b("write.checking"));
  fill(place, said, h("ol", { class: "steps" }, rows.map(() => h("li", {}))));
  const marks = [...place.querySelectorAll("li")];
  const show = (step) => {
    text(said, b(`write.${step}`));
    marks.forEach((mark, n) => { mark.dataset.done = String(n < WRITING.indexOf(step)); });
  };
  try {
    const { faulty, problem } = await write(answersOf(page.draft), show);
    if (faulty) page.setFaults(faulty);
    else if (problem) page.setFaults([{ key: "", wrong: problem.detail, remedy: "" }]);
    else return "written";
    return "review";
  } catch (error) {
    if (error instanceof api.Problem) {
      if (error.code === "faulty") page.setFaults(error.body.faults ?? []);
      else page.setFaults([{ key: "", wrong: page.words(error), remedy: "" }]);
      return error.code === "not-entered" ? "code" : "review";
    }
  }
  // The connection broke. The answers are written as a whole or not at all.
  text(said, b("write.lost"));
  return whatWasWritten(page);
}
async function whatWasWritten(page) {
  for (;;) {
    if (await frontAnswers()) return "written";
    const state = await readState().catch(() => null);
    if (state?.stage === "written") return "written";
    if (state?.stage === "waiting") return "code";
    if (state?.mine) {
      page.setFaults([{ key: "", wrong: b("write.not"), remedy: "" }]);
      return "review";
    }
    await sleep(LOOK_MS);
  }
}
/** Reads the settings of the terminal's own page; null until it answers. */
export const frontAnswers = () => api.get("/front/settings", { ms: api.SETTINGS_MS }).catch(() => null);
/** Waits until the terminal's own page answers at this address, and returns its settings. */
export async function untilFront() {
  for (;;) {
    const settings = await frontAnswers();
    if (settings) return settings;
    await sleep(LOOK_MS);
  }
}

/** Builds what a person must enter at the till; null without a till. */
export function tellTill({ values }) {
  const kind = values["till.kind"];
  if (!isTill(kind)) return null;
  const host = location.hostname;
  const v = (key, usual) => values[key]?.trim() || usual;
  const rows = kind === "caisse-ap"
    ? [["till.tell.kind", b("till.kind.caisse-ap")], ["till.tell.address", host], ["field.till.port", v("till.port", "8888")]]
    : kind === "zvt" ? [["till.tell.kind", b("till.tell.zvt")], ["till.tell.address", host], ["field.till.port", v("till.port", "20007")], ["field.zvt-password", b("till.tell.same")]]
    : [["till.tell.address", `${location.protocol}//${host}:${v("till.port", "8443")}/nexo/`], ["field.till.poi-id", v("till.poi-id", "PosAgent-0001")], ["field.till.sale-id", v("till.sale-id")],
      ["field.till.key-identifier", v("till.key-identifier", "mykey")], ["field.till.key-version", v("till.key-version", "1")], ["field.nexo-passphrase", b("till.tell.same")]];
  return h("div", { class: "group" }, h("h2", {}, b("till.tell")), h("dl", { class: "answers-list" }, rows.map(([key, value]) => h("div", {}, h("dt", {}, b(key)), h("dd", {}, value)))),
    kind === "nexo" && h("p", {}, h("a", { href: "/front/certificate.pem", download: "terminal-ca.pem" }, b("till.tell.certificate"))));
}
/** Returns the address of the page if it is not this one; else null. */
export const otherPage = ({ values }) => (pagePort(values) === "8444" ? `${location.protocol}//${location.hostname}:8444/` : null);

/** Builds the doctor's findings, which are asked for when a person opens them. */
export function doctor() {
  const place = h("div", { class: "looked", role: "status" });
  const look = button("clock", b("doctor.look"), ask, { class: "quiet", id: "doctor" });
  async function ask() {
    look.hidden = true;
    fill(place, h("p", { class: "busy" }, b("doctor.runs")));
    try {
      const { findings: all } = await api.get("/front/doctor", { ms: 120000 });
      const open = all.filter((one) => one.remedy).sort((one, other) => (other.severity === "fault") - (one.severity === "fault"));
      fill(place, open.length ? findings(open.map((one) => ({ good: one.severity === "fault" ? "false" : "soon", title: one.seen, remedy: one.remedy }))) : h("p", {}, b("doctor.well")));
    } catch (error) { text(place, error instanceof api.Problem && error.message ? error.message : b("doctor.none")); }
    look.hidden = false;
  }
  return h("div", { class: "looked" }, h("h2", {}, b("doctor")), look, place);
}
