// The customer's screen, which has no controls. It listens to the front, and shows the pictures of `picture.js`.

import * as api from "./api.js";
import { fill, h, icon, qr } from "./dom.js";
import { payable } from "./draft.js";
import { isNewer, keepLink, loadAgain, nextSettings, stayAwake, takeWords } from "./link.js";
import { loadFont, logo, showAccent } from "./look.js";
import { pictureOf, staysMs } from "./picture.js";
import { begin, isUnderWay, reduce } from "./state.js";
import { first, language, LANGUAGES, load, money, t } from "./words.js";

const TOKEN = "pos.customer";
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
/** The picture that a connection would show, and since when. An outcome also ages while the connection is lost. */
let picture = { name: null, reference: null, since: 0 };
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

/** Handles an event. Its effects are requests of a cashier's page, which this screen does not send. */
function dispatch(event) {
  [state] = reduce(state, { now: Date.now(), tick: performance.now(), ...event });
  // This screen watches no other transaction.
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
  const isOurs = Boolean(data.reference) && job?.reference === data.reference;
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
  const isSame = current && job?.reference === current.reference;
  if (current && !isSame) clear();
  unsure = !current && isUnderWay(job);
  if (isSame) dispatch({ type: "fetched", reference: current.reference, sale: current, heard: job.heard });
  else dispatch({ type: "status", status: { current } });
}

const connection = keepLink({
  async listen(on, signal) {
    takeToken();
    if (!token) throw new api.Problem(401);
    await api.listenAsCustomer(token, anew, on, signal);
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
  told: dispatch,
});

async function readSettings(sent) {
  try {
    settings = await nextSettings(settings, sent);
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
  const reference = job?.reference;
  const how = { unsure, cardLeft };
  const shown = pictureOf(job, { ...how, link: paired ? state.link : "unpaired" });
  const { name } = pictureOf(job, { ...how, link: "up" });
  if (name !== picture.name || reference !== picture.reference) picture = { name, reference, since: performance.now() };
  const key = JSON.stringify([shown, job?.sale, settings, language()]);
  if (key === drawn) return;
  drawn = key;
  document.title = t("customer.title");
  document.body.dataset.screen = shown.name;
  showAccent(settings.accent);
  fill(main, shown.name === "idle" ? shop() : panel(shown, job?.sale));
}
/** Builds the shop's logo and name. */
const shop = () => h("section", { class: "idle" }, logo(settings.logo), h("h1", {}, settings.merchant[0] ?? ""));

function panel({ name, tone, icon: sign, title, hint, sumWord, hasCode }, sale) {
  const amount = (value) => money(value, sale.currency);
  const { approvedAmount, tip } = sumWord ? sale : {};
  const paid = sumWord && amount(approvedAmount ?? payable(sale, settings.exponent));
  return h("section", { class: "panel", "data-tone": tone },
    sumWord && h("div", { class: "due" },
      h("p", { class: "kind" }, t(sumWord)),
      h("p", { class: "sum", "data-long": String(paid.length > 9) }, paid),
      // A part pays the amount first, so it contains the tip only in part.
      tip && tip !== "ask" && name !== "partial" && h("p", { class: "tip" }, t("with-tip", { tip: amount(tip) }))),
    h("div", { class: "do" }, hasCode ? qr(sale.qr, t("customer.code")) : icon(sign),
      h("div", {}, h("h1", {}, first(title)), hint && h("p", { class: "hint" }, t(hint)), hasCode && tone === "good" && h("p", { class: "hint" }, t("customer.receipt")))));
}

/** Returns to the shop's name after an outcome, and loads a new version between two customers. */
function tick() {
  const stays = staysMs(picture, cardLeft);
  if (stays !== null && performance.now() - picture.since > stays) clear();
  if (picture.name === "idle" && state.link === "up" && settings.version && isNewer(settings.version)) loadAgain(settings.version);
}

let beats = 0;
async function beat() {
  await connection.beat();
  beats += 1;
  if (beats % 60 === 0) readSettings();
}

async function boot() {
  takeWords();
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
