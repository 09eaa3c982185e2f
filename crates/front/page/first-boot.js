// The page of the first boot. It asks one step after the other, and keeps the answers in this browser. After a lost
// connection, a restart of the board, or a reload, it goes on.

import * as api from "./api.js";
import { answersOf, begin, faultsOn, faultsUntil, idOf, kept, stepOf, STEPS } from "./boot-answers.js";
import { reviewStep, writeAll } from "./boot-end.js";
import { readState, send } from "./boot-link.js";
import { saleStep } from "./boot-sale.js";
import { peopleStep, shopStep, tillStep } from "./boot-shop.js";
import { bankStep, devicesStep, networkStep, placeStep, reachBank, setClock } from "./boot-steps.js";
import { button, fill, h, icon, text } from "./dom.js";
import { sleep, takeWords } from "./link.js";
import { loadFont } from "./look.js";
import { language, speak, t } from "./words.js";

const MEMORY = "pos.first-boot";
/** The cookie with the language of this device, which the cashier's page uses too. */
const LANGUAGE = "pos_language";
const LANGUAGE_S = 34560000;
const LOOK_EVERY_MS = 2000;
const CODE_DIGITS = 8;
/** The steps whose answers root's half checks before the next step. */
const CHECKED = ["bank", "devices", "shop", "people", "till"];
const CONTENT = { place: placeStep, network: networkStep, bank: bankStep, devices: devicesStep, shop: shopStep, people: peopleStep, till: tillStep, review: reviewStep, sale: saleStep };
/** The screens that end when the front says something else. */
const WAITING = ["code", "taken", "closed", "over"];

const at = (id) => document.getElementById(id);
const b = (key, facts) => t(`boot.${key}`, facts);

let draft = begin(recall());
let state = { stage: "waiting", "code-at": [], "tries-left": 0, mine: false };
let view = "code";
let faults = new Map();
let typedCode = "";
/** What a code's refusal says. */
let codeSaid = "";
let lost = false;
let busy = false;
/** The moment at which the first boot ends, as `performance.now()` has it. */
let endsAt = Infinity;

function recall() { try { return sessionStorage.getItem(MEMORY); } catch { return null; } }
function keep() {
  if (STEPS.includes(view)) draft.step = view;
  try { sessionStorage.setItem(MEMORY, kept(draft)); } catch { /* without storage, a reload begins again */ }
}
function say(words, urgent = false) {
  const place = at(urgent ? "assertive" : "polite");
  place.textContent = "";
  setTimeout(() => { place.textContent = words; }, 50);
}

/** Returns a person's words about a request that failed. */
function words(error) {
  if (error.code === "faulty") return (error.body?.faults ?? []).map((one) => sentence(one)).join(" ");
  return error instanceof api.Problem ? error.message || error.code : b("lost");
}
const sentence = ({ wrong, remedy }) => [wrong, remedy].filter(Boolean).map((one) => one[0].toUpperCase() + one.slice(1).replace(/[.]?$/, ".")).join(" ");

const page = {
  draft, keep, words, found: null, typed: new Set(),
  state: () => state,
  fault: (key) => faults.get(key),
  faults: () => faults,
  mend: (key) => faults.delete(key),
  setFaults: (all) => { faults = new Map(all.map((one) => [one.key, sentence(one)])); },
  /** Sends a request, and leaves the step if another code, browser or configuration is in the way. */
  async send(name, body) {
    try {
      return await send(name, body, (on) => { if (on !== lost) { lost = on; bars(); } });
    } catch (error) {
      if (error.code === "not-entered") leave("code");
      if (error.code === "closed" || error.code === "taken" || error.code === "configured") leave(error.code);
      throw error;
    }
  },
  go,
  /** Draws the step again with the focus on the field `focus`. */
  redraw(words, focus) {
    render(focus);
    if (words) say(words);
  },
  async speak(name) {
    document.cookie = `${LANGUAGE}=${name}; Path=/; Max-Age=${LANGUAGE_S}; SameSite=Lax`;
    const answer = await fetch(`/assets/first-boot-${name}.json`).catch(() => null);
    if (!answer?.ok) return;
    speak(name, await answer.json());
    render("language");
  },
};

/** Shows a screen. `focus` is the id of the field that a fault leads to. */
function go(to, focus) {
  view = to;
  keep();
  render(focus);
}
/** Leaves a step, and comes back to it when the code is given again. */
function leave(to) {
  if (view === to) return;
  codeSaid = to === "code" ? b("code.again") : "";
  if (to === "configured") forget();
  view = to;
  render();
}

/* ---- the steps ---- */

async function next() {
  if (busy) return;
  const step = view;
  faults = new Map(faultsOn(step, draft).map(({ key, word }) => [key, b(`wrong.${word}`)]));
  if (faults.size) return showFaults(step);
  working(true);
  let to = STEPS[STEPS.indexOf(step) + 1];
  try {
    if (step === "place") await setClock(page);
    if (step === "network" && draft.values["system.time-servers"]) await setClock(page);
    if (CHECKED.includes(step) && !await isChecked(step)) return;
    if (step === "bank" && !await reachBank(page, at("more-findings"))) return;
    if (step === "review") to = await written();
    // Another screen may have taken the place of this one meanwhile.
    if (view === step) go(to);
  } catch (error) {
    if (view === step) refused(error, step);
  } finally {
    working(false);
  }
}
/** Shows that a request is on its way. */
function working(on) {
  busy = on;
  document.body.dataset.busy = String(on);
  at("next")?.setAttribute("aria-disabled", String(on));
  if (on && at("said")) text(at("said"), b("checking"));
  else if (at("said")?.textContent === b("checking")) text(at("said"), "");
}
/** Checks the answers so far. Faults of later steps are of no interest yet. */
async function isChecked(step) {
  try {
    await page.send("check", answersOf(draft));
    return true;
  } catch (error) {
    if (error.code !== "faulty") throw error;
    const found = faultsUntil(step, error.body.faults ?? []);
    if (!found.length) return true;
    page.setFaults(found);
    showFaults(stepOf(found[0].key));
    return false;
  }
}
function refused(error, step) {
  if (error.code === "faulty") {
    page.setFaults(error.body.faults ?? []);
    return showFaults(step);
  }
  text(at("said"), words(error));
}
/** Shows a step with its faults, with the focus on the first of them. */
function showFaults(step) {
  const [key, why] = [...faults][0];
  go(step, idOf(key));
  // A fault of no field of this step is shown below the fields.
  if (!at(idOf(key)) && !at(`${idOf(key)}-wrong`)) text(at("said"), why);
}
async function written() {
  faults = new Map();
  view = "writing";
  render();
  const ended = await writeAll(page, at("content"));
  view = "review";
  if (ended === "written") { forget(); return "sale"; }
  if (ended === "code") { leave("code"); return "code"; }
  return "review";
}
function forget() { try { sessionStorage.removeItem(MEMORY); } catch { /* nothing is kept */ } }

/* ---- the screens ---- */

function render(focus) {
  document.body.dataset.screen = view;
  document.title = `${b("title")} · ${b(`${view}.title`)}`;
  fill(at("top"), h("p", { class: "where" }, icon("terminal"), " ", STEPS.includes(view) ? b("step", { n: STEPS.indexOf(view) + 1, all: STEPS.length }) : b("title")),
    h("ol", { class: "steps", "aria-hidden": "true" }, STEPS.map((step, n) => h("li", { "data-done": String(view === "sale" || n < STEPS.indexOf(view)), "aria-current": step === view && "step" }))));
  const title = h("h1", { tabindex: "-1" }, b(`${view}.title`));
  const content = CONTENT[view]?.(page) ?? (view === "code" ? codeScreen() : []);
  fill(at("main"), h("section", { "data-step": view }, title, h("p", {}, b(`${view}.about`, facts())),
    h("div", { class: "fields", id: "content" }, [content].flat(2)), h("div", { id: "more-findings" }),
    h("p", { class: "wrong", id: "said", role: "alert" }, view === "code" ? codeSaid : ""), buttons()));
  bars();
  const place = focus && (at(focus) ?? at(`${focus}-wrong`)?.closest("fieldset, .field")?.querySelector("input, button, select"));
  (place || title).focus({ preventScroll: !place });
  if (!place) scrollTo(0, 0);
}
const facts = () => ({ left: state["tries-left"], minutes: Math.max(1, Math.ceil((state["left-s"] ?? 3600) / 60)) });
function buttons() {
  if (view === "code") return h("div", { class: "buttons" }, button(null, b("code.go"), enter, { class: "primary", id: "next" }));
  if (view === "configured") return h("div", { class: "buttons" }, h("a", { class: "primary", href: "/" }, b("open")));
  if (!STEPS.includes(view)) return null;
  const n = STEPS.indexOf(view);
  return h("div", { class: "buttons" },
    n > 0 && button("back", t("back"), () => !busy && go(STEPS[n - 1]), { class: "quiet", id: "back" }),
    button(null, b(view === "review" ? "review.go" : "next"), next, { class: "primary", id: "next", "aria-disabled": busy ? "true" : null }));
}
/** The screen that asks for the code. */
function codeScreen() {
  const where = state["code-at"].map((one) => b(`code.at.${one}`));
  const field = h("input", { id: "code", class: "code-field", type: "text", inputmode: "numeric", autocomplete: "off", maxlength: CODE_DIGITS + 1, "aria-describedby": "code-hint said" });
  field.value = typedCode;
  field.addEventListener("input", () => { typedCode = field.value; });
  return [
    where.length > 0 && h("ul", {}, where.map((one) => h("li", {}, one))),
    h("div", { class: "field" }, h("label", { for: "code" }, b("code.label")), field, h("p", { class: "hint", id: "code-hint" }, b("code.left", facts()))),
  ];
}
async function enter() {
  const code = typedCode.replace(/\D/g, "");
  if (busy) return;
  if (code.length !== CODE_DIGITS) { codeSaid = b("code.digits"); return render("code"); }
  working(true);
  codeSaid = "";
  let keeps = false;
  try {
    // A code is sent once: after a lost answer, the front says whether this browser is in.
    await api.post("/first-boot/code", { code }, { ms: 15000 });
  } catch (error) {
    if (error.code === "wrong-code") codeSaid = b("code.wrong");
    else if (error.code === "closed" || error.code === "taken" || error.code === "configured") { busy = false; return leave(error.code); }
    else codeSaid = words(error);
    keeps = error.code === "busy";
  }
  if (!keeps) typedCode = "";
  working(false);
  await look();
  if (view === "code") render("code");
}

function bars() {
  const soon = endsAt - performance.now();
  const bar = lost ? ["alarm", b("lost")] : STEPS.includes(view) && soon < 600000 ? ["warn", b("soon", { minutes: Math.max(1, Math.ceil(soon / 60000)) })] : null;
  const now = bar?.[1] ?? "";
  if (at("bars").textContent === now) return;
  fill(at("bars"), bar && h("div", { class: `bar ${bar[0]}` }, icon(bar[0] === "alarm" ? "not-sent" : "clock"), h("p", {}, now)));
  if (now) say(now, lost);
}

/* ---- the connection ---- */

/** Returns whether the screen asks the front itself. An answer to an earlier question does not change such a screen. */
const looksItself = () => ["writing", "sale", "configured"].includes(view);
/** Reads the front's state, and shows another screen if it asks for one. */
async function look(sent) {
  const before = JSON.stringify([state.stage, state.mine, state["tries-left"], state["code-at"]]);
  try {
    state = await readState(sent);
    lost = false;
    endsAt = performance.now() + (state["left-s"] ?? 3600) * 1000;
  } catch (error) {
    if (looksItself()) return;
    // The terminal's own page does not know this path.
    if (error.code === "configured" || error.status === 404) return leave("configured");
    lost = !(error instanceof api.Problem) || error.status >= 500;
    if (lost && performance.now() > endsAt && view !== "sale") leave("over");
    return bars();
  }
  bars();
  if (looksItself()) return;
  const to = wanted();
  if (to === view) {
    const isNew = before !== JSON.stringify([state.stage, state.mine, state["tries-left"], state["code-at"]]);
    if (view === "code" && isNew && !busy) render(document.activeElement?.id);
  } else if (to === "code" && STEPS.includes(view)) leave("code");
  else go(to);
}
/** Returns the screen for the front's state. */
function wanted() {
  if (state.stage === "closed") return "closed";
  if (state.stage === "waiting") return "code";
  if (!state.mine) return "taken";
  if (state.stage === "written") return "sale";
  return WAITING.includes(view) ? draft.step : view;
}

at("main").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.target.tagName !== "INPUT" || event.target.type === "file") return;
  event.preventDefault();
  if (view === "code") enter(); else if (STEPS.includes(view)) next();
});

async function boot() {
  takeWords();
  if (draft.values.language && draft.values.language !== language()) page.speak(draft.values.language);
  await look(window.asked["/first-boot/state"]);
  if (!at("content")) render();
  loadFont();
  for (;;) {
    await sleep(LOOK_EVERY_MS);
    if (!looksItself() && !(busy && view === "code")) await look();
  }
}
boot();
