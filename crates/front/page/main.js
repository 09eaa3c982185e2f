// The start of the page. It carries out the effects of `state.js`, keeps the connection, and shows the matching screen.
// `state.js` decides what follows from an event.

import * as api from "./api.js";
import { closeDialogs, button, fill, h, icon, text } from "./dom.js";
import { EMPTY, movesMoney } from "./draft.js";
import { isNewer, keepLink, loadAgain, nextSettings, sleep, stayAwake, takeWords } from "./link.js";
import { loadFont, logo, showAccent } from "./look.js";
import { payScreen } from "./pay.js";
import { barOf, noticeOf, saleScreen } from "./sale.js";
import * as sound from "./sound.js";
import { begin, CLOSABLE, isLost, isUnderWay, reduce, screenOf } from "./state.js";
import { language, load, loadRest, t } from "./words.js";

const MEMORY = "pos.sale";
const DRAFT = "pos.draft";
/** The cookie with the language that was chosen on this device, from which the front chooses the next document. */
const LANGUAGE = "pos_language";
/** The longest life of a cookie in browsers: 400 days. */
const LANGUAGE_S = 34560000;
const TRAINING = "pos.training";
/** The limit for a status request; a longer one is given up. The next one begins five seconds after it. */
const LOOK_MS = 4000;
const LOOK_EVERY = 5;
/** The time after which an outcome that was not closed makes room for the next customer. */
const OUTCOME_STAYS_MS = 60000;
const UNSEEN_MS = 30000;

const at = (id) => document.getElementById(id);
/** The exports of `later.js`; null until they are loaded. */
let rest = null;
let restIsLoaded = null;
/** Resolves to `rest`. */
const later = new Promise((done) => { restIsLoaded = done; });
// A copied tab also has the draft, and a restored one has that of the day before.
const reloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
let state = begin(recall("localStorage", MEMORY), reloaded && recall("sessionStorage", DRAFT));
let settings = { languages: ["en"], currency: "EUR", exponent: 2, merchant: [], tips: null, mayTrain: false, customer: false };
/** The outcome to be trained; null when the page takes money. It belongs to this page alone and survives a reload. */
let training = null;
let session = null;
let signedOut = false;
let view = "pay";
let screen = { key: null, el: null };
let newer = false;
let posting = new AbortController();
let touched = Date.now();

/** Reads stored data; null without storage. `sessionStorage` belongs to this page alone, and lasts as long as it. */
function recall(storage, name) {
  try { return JSON.parse(window[storage].getItem(name)); } catch { return null; }
}
const keepLanguage = (name) => { document.cookie = `${LANGUAGE}=${name}; Path=/; Max-Age=${LANGUAGE_S}; SameSite=Lax`; };
const keep = (name, value, storage = "localStorage") => { try { window[storage].setItem(name, value); } catch { /* private mode: the agent has the state */ } };

/** Checks whether the screen shows training mode: a transaction in hand has its own mark. */
const trains = () => Boolean(state.job?.sale ? state.job.sale.training : state.job?.request ? state.job.request.training : training);
function train(outcome) {
  if (outcome === null) {
    // The page is still in training mode, so a transaction in progress is cancelled there.
    training ??= "by-amount";
    dispatch({ type: "end-training" });
  } else if (isUnderWay(state.job)) return;
  training = outcome;
  keep(TRAINING, outcome ?? "", "sessionStorage");
  view = "pay";
  screen.key = null;
  dispatch({ type: "leave" });
  dispatch({ type: "draft", change: EMPTY });
  render();
  readStatus();
}

/* ---- events and effects ---- */

function dispatch(event) {
  const was = state;
  let effects;
  [state, effects] = reduce(state, { now: Date.now(), tick: performance.now(), training: trains(), ...event });
  api.train(trains());
  if (state.draft !== was.draft) keep(DRAFT, JSON.stringify(state.draft), "sessionStorage");
  effects.forEach(carryOut);
  if (state !== was) render();
}

function carryOut(effect) {
  const { reference, till } = effect;
  const tell = (type) => (answer) => dispatch({ type, reference, sale: answer, cancel: answer.cancel });
  switch (effect.do) {
    case "remember": return keep(MEMORY, JSON.stringify(effect.memory));
    case "forget": return forget(effect);
    case "later": return void setTimeout(() => dispatch(effect.event), effect.ms);
    case "sound": return sound.play(effect.name);
    case "abort-post": return posting.abort();
    case "post": return void begins(effect);
    case "fetch": return void api.sale(reference, till).then(
      (sale) => dispatch({ type: "fetched", reference, sale, heard: effect.heard }),
      (error) => dispatch({ type: noted(error).code === "no-such-sale" ? "missing" : "fetch-lost", reference }));
    case "cancel": return void api.cancel(reference, till).then(tell("cancelled"), lost("cancel-lost", reference));
    case "sign": return void api.sign(reference, till, effect.accepted).then(tell("judged"), lost("judge-lost", reference));
    case "confirm": return void api.confirm(reference, till, effect.taken).then(tell("judged"), lost("judge-lost", reference));
    case "status": return void readStatus();
  }
}
/** Forgets a transaction that the cashier has left, and tells the customer's screen. */
function forget({ reference, till }) {
  if (recall("localStorage", MEMORY)?.reference === reference) localStorage.removeItem(MEMORY);
  // Without a till, that screen never had the transaction. Without an answer, it shows the shop after half a minute.
  if (settings.customer && till) api.post("/front/customer/leave", { reference, till }).catch(() => {});
}
const lost = (type, reference) => (error) => { noted(error); dispatch({ type, reference }); };

async function begins({ reference, request, approval }) {
  posting = new AbortController();
  try {
    const headers = approval ? { "Pos-Supervisor": approval } : {};
    const sale = await api.post("/v1/sales", { reference, ...request }, { signal: posting.signal, headers });
    dispatch({ type: "posted", reference, sale });
  } catch (error) {
    if (!(error instanceof api.Problem)) return dispatch({ type: "post-lost", reference });
    noted(error);
    dispatch({ type: "post-refused", reference, problem: { code: error.status === 401 ? "unauthorized" : error.code, status: error.status, detail: error.message, toConfirm: error.body?.toConfirm } });
  }
}

let statusAsked = null;
async function readStatus() {
  statusAsked ??= api.get("/v1/status", { ms: LOOK_MS }).finally(() => { statusAsked = null; });
  try {
    const status = await statusAsked;
    dispatch({ type: "status", status });
  } catch (error) { noted(error); }
}

function noted(error) {
  if (error instanceof api.Problem && error.status === 401) signOut("sign.ended");
  return error;
}

/** Begins a transaction of the cashier; its reference is made here, once. */
function start(request, draft = null) {
  if (isUnderWay(state.job)) return;
  view = "pay";
  dispatch({ type: "start", reference: made(draft), draft, request: training ? { ...request, training } : request });
}
const made = (draft) => (draft?.reference ? `${draft.reference}-${random(5)}` : `${new Date().toISOString().slice(5, 10).replace("-", "")}-${random(8)}`);
/** Begins the same transaction again, as a new one. */
const tryAgain = () => dispatch({ type: "try-again", reference: made(state.job?.draft) });
function random(length) {
  const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => letters[byte % 32]).join("");
}

/** Sends the refused request again, with a supervisor's approval or after sign-in. */
async function again() {
  const { job } = state;
  if (job.problem?.code !== "supervisor-needed") return dispatch({ type: "start-approved" });
  const approval = await (await later).askSupervisor(context, job);
  if (approval) dispatch({ type: "start-approved", approval });
}

/* ---- the connection ---- */

const connection = keepLink({
  listen: api.listen,
  opened() {
    readSettings();
    dispatch({ type: state.link === "up" ? "look" : "link-up" });
  },
  event: heard,
  failed: (error) => void noted(error),
  told: dispatch,
  async noted({ payouts }) {
    if (signedOut || !payouts && !payout) return;
    payout = payouts && await rest?.payoutBar();
    bars();
  },
  rests: () => signedOut || asleep,
});
function heard(data) {
  if (data.step === "reset") return dispatch({ type: "look" });
  dispatch({ type: "step", data });
}

/** The bar of a till's payout that waits for a supervisor. */
let payout;

let beats = 0;
/** The link as the sign-in screen shows it. No stream is open then, so only the health request tells it. */
let linkAtSignIn = "connecting";
async function beat() {
  if (asleep) return;
  const found = await connection.beat();
  beats += 1;
  if (found === "unsure") return;
  if (signedOut) {
    linkAtSignIn = found === "up" ? "signed-out" : found;
    return strip();
  }
  if (state.link === "up" && beats % LOOK_EVERY === 0) dispatch({ type: "look" });
  if (beats % 60 === 0) readSettings();
}

async function readSettings() {
  try {
    settings = await nextSettings(settings);
    newer = isNewer(settings.version);
    render();
  } catch { /* asked again later */ }
}

/* ---- operators ---- */

function signIn(who) {
  session = who;
  signedOut = false;
  touched = Date.now();
  view = "pay";
  readStatus();
  render();
}
function signOut(why) {
  if (signedOut || !(settings.operators || settings.browsers)) return;
  signedOut = true;
  session = null;
  connection.cut();
  closeDialogs();
  screen.key = null;
  signInWhy = why;
  // The draft of one cashier is not shown to the next.
  dispatch({ type: "draft", change: EMPTY });
  render();
}
let signInWhy = null;
async function lock() {
  try { await api.ask("DELETE", "/front/session", { ms: api.SETTINGS_MS }); } catch { /* the session ends automatically */ }
  signOut("sign.locked");
}

/* ---- screens ---- */

const context = {
  dispatch, start, again, tryAgain, signIn, lock, train, training: trains,
  /**
   * Checks whether the terminal lets this page begin such a transaction. Rare kinds are not offered before this is
   * known.
   */
  may: (kind) => state.status?.mayBegin?.includes(kind) ?? (!kind.endsWith("by-registration") && movesMoney(kind)),
  state: () => state, settings: () => settings, session: () => session,
  go,
  say, showOutcome: () => { view = "pay"; render(); },
  relook: () => showAccent(settings.accent),
  chooseLanguage: async (name) => { keepLanguage(name); await load(name); screen.key = null; shell(); render(); },
  showReceipt: async (sale, begin) => (await later).showReceipt(context, sale, begin),
  printCopy: async (sale, copy) => (await later).printCopy(sale, copy),
};
/** Changes the view. This closes an outcome that needs no further action. */
function go(to, argument) {
  if (CLOSABLE.includes(screenOf(state.job)) && state.job.fresh) dispatch({ type: "leave" });
  view = to;
  screen.key = null;
  render(argument);
}
function say(words, urgent = false) {
  const place = at(urgent ? "assertive" : "polite");
  place.textContent = "";
  setTimeout(() => { place.textContent = words; }, 50);
}

function wanted() {
  if (signedOut) return rest ? "sign-in" : "loading";
  if (view !== "pay") return rest ? view : "loading";
  const { job } = state;
  return job ? `sale:${screenOf(job)}:${job.reference}` : "pay";
}

/** Builds the screen that is shown until `later.js` is loaded. */
function loadingScreen() {
  const title = h("h1", { tabindex: "-1" }, t("loading"));
  return { el: h("section", {}, title), focus: title };
}
function render(argument) {
  const key = wanted();
  if (screen.key !== key) {
    if (key.startsWith("sale:") || key === "sign-in") closeDialogs();
    screen.leave?.();
    if (key === "loading") screen = loadingScreen();
    else if (key === "sign-in") screen = rest.signInScreen(context, signInWhy);
    else if (key.startsWith("sale:")) screen = saleScreen(context, state);
    else if (key === "pay") screen = payScreen(context);
    else screen = rest.screens[view](context, argument);
    screen.key = key;
    screen.since = Date.now();
    document.body.dataset.screen = key.split(":").slice(0, 2).join("-");
    at("main").replaceChildren(screen.el);
    at("main").scrollTop = 0;
    (screen.focus ?? screen.el.querySelector("h1"))?.focus({ preventScroll: true });
    if (screen.said) say(screen.said, true);
  }
  screen.update?.(state);
  document.body.dataset.link = state.link;
  document.body.dataset.old = String(isLost(state.link));
  strip();
  bars();
}

function shell() {
  text(at("skip"), t("page.skip"));
  at("nav").setAttribute("aria-label", t("page.nav"));
  at("bars").setAttribute("aria-label", t("page.news"));
  document.title = `${t("page.title")} · ${settings.merchant[0] ?? ""}`;
  const item = (name) => h("button", { "data-view": name, onclick: () => context.go(name) }, icon(name), h("span", {}, t(`nav.${name}`)));
  const items = ["pay", "sales", "day", "terminal"].map(item);
  items.push(h("button", { "data-view": "end-training", hidden: true, onclick: () => train(null) }, icon("close"), h("span", {}, t("train.end"))));
  if (settings.operators) items.push(h("button", { "data-view": "lock", onclick: lock }, icon("lock"), h("span", {}, t("nav.lock"))));
  fill(at("nav"), items);
}

function strip() {
  drawShop();
  text(at("operator"), session?.operator ?? "");
  at("training").hidden = !trains();
  text(at("training"), trains() ? t("training") : "");
  document.body.dataset.training = String(trains());
  at("nav").hidden = signedOut;
  at("nav").querySelectorAll("button").forEach((one) => {
    // The day is the shop's: no sum contains training.
    if (one.dataset.view === "day") one.hidden = trains();
    if (one.dataset.view === "end-training") one.hidden = !trains();
    if (one.dataset.view === view) one.setAttribute("aria-current", "page"); else one.removeAttribute("aria-current");
  });
  const { status } = state;
  let word = signedOut ? linkAtSignIn : state.link === "up" ? "ready" : state.link;
  if (!signedOut && state.link === "up" && status) {
    if (status.reader?.cardLeft) word = "card-left";
    else if (isUnderWay(state.job) || status.busy) word = "busy";
    else if (!status.ready) word = "not-ready";
    else if (status.attention?.length) word = "attention";
  }
  at("link").dataset.link = word;
  text(at("link"), t({ lost: "link.lost-short", "agent-down": "link.agent-down-short" }[word] ?? `link.${word}`));
}

let shopShown = null;
/** Shows the shop's name, logo and colour. */
function drawShop() {
  const key = JSON.stringify([settings.merchant[0], settings.accent, settings.logo]);
  if (key === shopShown) return;
  shopShown = key;
  fill(at("shop"), logo(settings.logo), settings.merchant[0] ?? "");
  showAccent(settings.accent);
}
addEventListener("relook", context.relook);

let barsShown = "";
function bars() {
  const { job } = state;
  const list = [];
  if (!signedOut) {
    if (isLost(state.link)) list.push(["alarm", t(`link.${state.link}`), null]);
    if (payout) list.push(payout);
    if (view !== "pay" && job) list.push(["note", barOf(state, job, settings), [t("running.show"), context.showOutcome]]);
    // Notices about the shop's money are not shown in training mode.
    const notice = !trains() && state.notices[0];
    if (notice) list.push(["note", noticeOf(state, notice, settings), [t("notice.read"), () => dispatch({ type: "notice-read" })]]);
    if (newer) list.push(["note", t("newer"), null]);
    if (state.open.length && !trains() && view === "pay" && !job && !list.length) {
      list.push(["warn", t("open.bar", { count: state.open.length }), [t("running.show"), () => context.go("terminal")]]);
    }
  }
  const now = JSON.stringify([language(), list.map(([kind, words]) => [kind, words])]);
  if (now === barsShown) return;
  barsShown = now;
  const lostWords = list.find(([kind]) => kind === "alarm")?.[1];
  if (lostWords) say(lostWords, true);
  fill(at("bars"), list.map(([kind, words, act]) => h("div", { class: `bar ${kind}` },
    icon(kind === "alarm" ? "not-sent" : kind === "warn" ? "question" : "journal"), h("p", {}, words), act && button(null, act[0], act[1]))));
}
/** Updates everything that needs no event: countdowns, the lock, an outcome that is shown for long. */
function tick() {
  const now = Date.now();
  screen.tick?.();
  const idle = now - touched;
  const { job } = state;
  if (session?.idleLockS && idle > session.idleLockS * 1000 && !isUnderWay(job)) lock();
  const ended = job?.phase === "known" && job.sale.state === "ended" && job.sale.outcome !== "partially-approved";
  if (ended && job.fresh && Math.min(idle, now - screen.since) > OUTCOME_STAYS_MS) dispatch({ type: "leave" });
  if (newer && !job && view === "pay" && idle > 3000 && state.link === "up" && !signedOut) renew();
}
/** Loads the new version of the page. */
function renew() {
  newer = false;
  loadAgain(settings.version);
}

addEventListener("keydown", (event) => {
  touched = Date.now();
  sound.wake();
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (/^(input|select|textarea)$/i.test(event.target.tagName)) return;
  if (screen.press?.(event)) event.preventDefault();
});
addEventListener("pointerdown", () => { touched = Date.now(); sound.wake(); });
/**
 * A hidden page closes its connection, because a browser has only six to one server. When it is visible again, it reads
 * the state again.
 */
let unseen = null;
let asleep = false;
document.addEventListener("visibilitychange", () => {
  clearTimeout(unseen);
  asleep = false;
  if (!document.hidden) {
    stayAwake();
    return void beat();
  }
  unseen = setTimeout(() => { asleep = true; connection.cut(); dispatch({ type: "link-lost" }); }, UNSEEN_MS);
});
/** Another page has changed the stored transaction: if it was closed there, it is not kept here either. */
addEventListener("storage", (event) => { if (event.key === MEMORY) dispatch({ type: "look" }); });
at("skip").addEventListener("click", (event) => { event.preventDefault(); at("main").focus(); });

async function boot() {
  takeWords();
  // A browser forgets a cookie after a time: each start keeps the choice for longer.
  if (document.cookie.includes(`${LANGUAGE}=${language()}`)) keepLanguage(language());
  try { training = sessionStorage.getItem(TRAINING) || null; } catch { /* no storage */ }
  api.train(trains());
  const [, who] = await Promise.all([
    readSettingsAtStart(),
    api.get("/front/session", { ms: api.SETTINGS_MS, sent: window.asked["/front/session"] }).catch((error) => (error.status === 401 ? "nobody" : null)),
  ]);
  if (who === "nobody") {
    signedOut = true;
    dispatch({ type: "draft", change: EMPTY });
  } else if (who?.operator) session = who;
  shell();
  render();
  loadTheRest();
  if (state.job && !signedOut) dispatch({ type: "ask-again", reference: state.job.reference });
  if (!signedOut) readStatus();
  connection.keep();
  stayAwake();
  connection.beatForEver(beat);
  setInterval(tick, 200);
}
/** Loads what the keypad does not need. It is then in the page, so a lost connection leaves every screen as it is. */
async function loadTheRest() {
  const parts = [(tries) => import(`./later.js?${tries}`), loadRest, loadStyle];
  const [loaded] = await Promise.all(parts.map((part) => untilLoaded(part, partIsLost)));
  rest = loaded.later;
  restIsLoaded(rest);
  render();
  pairThis();
  await loadFont();
}
/** Pairs this browser, if its address is a link for that. */
function pairThis() { if (location.hash) rest?.pairThis(); }
addEventListener("hashchange", pairThis);
/** Loads a part of the page until it has come. `part` gets the number of failures; `failed` follows each of them. */
async function untilLoaded(part, failed) {
  for (let tries = 0; ; tries += 1) {
    try { return await part(tries); } catch { await sleep(1000); }
    await failed();
  }
}
const loadStyle = () => new Promise((done, failed) => {
  const lost = () => { sheet.remove(); failed(); };
  const sheet = h("link", { rel: "stylesheet", href: "/assets/later.css", onload: done, onerror: lost });
  document.head.append(sheet);
});
/** If the lost part is of another version, the whole page is loaded again. */
async function partIsLost() {
  await readSettings();
  if (newer && !isUnderWay(state.job)) renew();
}
async function readSettingsAtStart() {
  for (let tries = 0; ; tries += 1) {
    try {
      settings = await nextSettings(settings, tries ? undefined : window.asked["/front/settings"]);
      return;
    } catch { if (tries > 2) return; await sleep(500); }
  }
}
boot();
