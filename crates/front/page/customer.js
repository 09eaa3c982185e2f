// The customer's screen: a display without controls. It listens to the front, and shows what `seen.js` returns.

import * as api from "./api.js";
import { fill, h, icon, qr } from "./dom.js";
import { payable } from "./draft.js";
import { isNewer, keepLink, loadAgain, stayAwake } from "./link.js";
import { loadFont, logo, showAccent } from "./look.js";
import { seen, staysMs } from "./seen.js";
import { begin, isUnderWay, reduce } from "./state.js";
import { first, language, LANGUAGES, load, money, setExponent, speak, t } from "./words.js";

const TOKEN = "pos.display";
/** The pause after a refused token. It stays below the front's limit of wrong tokens, and finds a new token soon. */
const REFUSED_MS = 5000;

const main = document.getElementById("main");
let state = begin(null);
let settings = { currency: "EUR", exponent: 2, merchant: [] };
let paired = true;
/** True when the next stream begins with the present state. */
let anew = true;
/** True when events about the transaction were missed. */
let unsure = false;
let cardLeft = false;
let token = null;
let loaded = false;
/** The picture of the transaction, also while none is shown because the connection is lost. */
let stands = { name: null, reference: null, since: 0 };
let drawn = null;

/* ---- the token ---- */

/** Takes the token from the address, where the cashier's page has put it, and keeps it. */
function takeToken() {
  const given = /^#([0-9a-f]{64})$/.exec(location.hash)?.[1];
  if (given) {
    token = given;
    try { localStorage.setItem(TOKEN, given); } catch { /* lasts until a reload */ }
    history.replaceState(null, "", location.pathname);
  }
  try { token = localStorage.getItem(TOKEN) ?? token; } catch { /* private mode */ }
}
addEventListener("hashchange", () => { takeToken(); connection.cut(); });

/* ---- events ---- */

/** Handles an event. Its effects are requests of a cashier's page, which a display does not have. */
function dispatch(event) {
  [state] = reduce(state, { now: Date.now(), tick: performance.now(), ...event });
  // A display watches no other transaction.
  state = { ...state, open: [], notices: [] };
  draw();
}
function clear() {
  [unsure, cardLeft] = [false, false];
  state = { ...begin(null), link: state.link };
  draw();
}

function heard(data) {
  const { job } = state;
  const isOurs = Boolean(data.reference) && job?.reference === data.reference && job.sale.till === (data.till ?? job.sale.till);
  if (data.step === "current") return present(data.current);
  if (data.step === "left") return void (isOurs && (unsure || !isUnderWay(job)) && clear());
  if (data.step === "idle" || (data.sale && !isOurs)) cardLeft = false;
  if (data.step === "remove-card" && isOurs) cardLeft = true;
  if (data.sale && isOurs) unsure = false;
  if (data.reference) dispatch({ type: "step", data }); else draw();
}
/** Takes the present state after missed events. A payment that is no longer in progress has an unknown end. */
function present(current) {
  const { job } = state;
  const isSame = current && job?.reference === current.reference && job.sale.till === current.till;
  if (current && !isSame) clear();
  unsure = !current && isUnderWay(job);
  if (isSame) dispatch({ type: "fetched", reference: current.reference, sale: current, heard: job.heard });
  else dispatch({ type: "status", status: { current } });
}

const connection = keepLink({
  async listen(on, signal) {
    takeToken();
    if (!token) throw new api.Problem(401);
    await api.listenAsDisplay(token, anew, on, signal);
  },
  opened() {
    [paired, anew] = [true, false];
    readSettings();
    dispatch({ type: "link-up" });
  },
  event: heard,
  failed(error) {
    paired = !(error instanceof api.Problem && [401, 403].includes(error.status));
    if (paired) return undefined;
    anew = true;
    clear();
    return REFUSED_MS;
  },
  told: (word) => dispatch(word === "up" ? { type: "link-up" } : { type: "link-lost", agent: word === "agent-down" }),
});

async function readSettings(sent) {
  try {
    settings = { ...settings, ...await api.get("/front/settings", { ms: 4000, sent }) };
    setExponent(settings.exponent);
    draw();
  } catch { /* asked again later */ }
}

/* ---- the picture ---- */

/** Speaks the card's language during its payment, otherwise the terminal's; the document's until one is known. */
async function speakTheirs() {
  const wanted = [state.job?.sale?.language, settings.language].find((name) => Object.hasOwn(LANGUAGES, name)) ?? language();
  if (wanted === language()) return;
  try { await load(wanted); draw(); } catch { /* tried again with the next event */ }
}

function draw() {
  if (!loaded) return;
  speakTheirs();
  const { job } = state;
  const [link, reference] = [paired ? state.link : "unpaired", job?.reference];
  const [picture, { name }] = [link, "up"].map((of) => seen(job, { link: of, unsure, cardLeft }));
  if (name !== stands.name || reference !== stands.reference) stands = { name, reference, since: performance.now() };
  const key = JSON.stringify([picture, job?.sale, settings, language()]);
  if (key === drawn) return;
  drawn = key;
  document.title = t("customer.title");
  document.body.dataset.screen = picture.name;
  showAccent(settings.accent);
  fill(main, picture.name === "idle" ? shop() : panel(picture, job?.sale));
}
/** Builds the shop's logo and name. */
const shop = () => h("section", { class: "idle" }, logo(settings.logo), h("h1", {}, settings.merchant[0] ?? ""));

function panel({ tone, icon: sign, title, hint, sum, qr: hasCode }, sale) {
  const amount = (value) => money(value, sale.currency);
  const { approvedAmount, tip } = sum ? sale : {};
  const paid = sum && amount(approvedAmount ?? payable(sale, settings.exponent));
  return h("section", { class: "panel", "data-tone": tone },
    sum && h("div", { class: "due" },
      h("p", { class: "kind" }, t(sum)),
      h("p", { class: "sum", "data-long": String(paid.length > 9) }, paid),
      tip && tip !== "ask" && h("p", { class: "tip" }, t("with-tip", { tip: amount(tip) }))),
    h("div", { class: "do" }, hasCode ? qr(sale.qr, t("customer.code")) : icon(sign),
      h("div", {}, h("h1", {}, first(title)), hint && h("p", { class: "hint" }, t(hint)), hasCode && tone === "good" && h("p", { class: "hint" }, t("customer.receipt")))));
}

/** Returns to the shop's name after an outcome, and loads a new version between two customers. */
function tick() {
  const stays = staysMs(stands, cardLeft);
  if (stays !== null && performance.now() - stands.since > stays) clear();
  if (stands.name === "idle" && state.link === "up" && settings.version && isNewer(settings.version)) loadAgain(settings.version);
}

let beats = 0;
async function beat() {
  await connection.beat();
  beats += 1;
  if (beats % 60 === 0) readSettings();
}

async function boot() {
  speak(document.documentElement.lang, JSON.parse(document.getElementById("words").textContent));
  // The words are the end of the document. It is complete, so `start.js` does not load the page again.
  document.body.dataset.loaded = "true";
  takeToken();
  await readSettings(window.asked["/front/settings"]);
  await speakTheirs();
  loaded = true;
  draw();
  connection.keep();
  connection.beatForEver(beat);
  stayAwake();
  document.addEventListener("visibilitychange", () => { if (!document.hidden) stayAwake(); });
  addEventListener("relook", () => showAccent(settings.accent));
  setInterval(tick, 500);
  loadFont();
}
boot();
