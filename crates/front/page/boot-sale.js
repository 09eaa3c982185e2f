// The first payments: one in training, and one of the smallest amount, which is given back at once. Both go through the
// same requests as those of the cashier's page, and follow its rules about money.

import * as api from "./api.js";
import { doctor, otherPage, tellTill, untilFront } from "./boot-end.js";
import { button, fill, h, text } from "./dom.js";
import { sleep } from "./link.js";
import { wire } from "./money.js";
import { first, loadRest, money, reason, setExponent, t } from "./words.js";

const b = (key, facts) => t(`boot.${key}`, facts);
/** The transaction that the cashier's page takes over if this page is left. */
const MEMORY = "pos.sale";
const EVERY_MS = 1000;

const remember = (memory) => { try { localStorage.setItem(MEMORY, JSON.stringify(memory)); } catch { /* private mode: the agent has the state */ } };
const forget = () => { try { localStorage.removeItem(MEMORY); } catch { /* private mode */ } };
const random = () => Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The terminal has started again, which ends the session: what became of the transaction can be read after a sign-in. */
class SignedOut extends Error {}
/** Reads a transaction that may have begun. */
const read = (reference) => api.sale(reference).catch((error) => { throw error.status === 401 ? new SignedOut() : error; });

/** Begins a transaction under one reference. Resolves to null if the terminal never received it. */
async function begin(reference, request) {
  let repeats = false;
  for (const until = performance.now() + api.REPEAT_MS; ;) {
    try {
      return await api.post("/v1/sales", { reference, ...request });
    } catch (error) {
      // The refusal of a repeated request does not tell what became of the first one.
      if (!repeats && error instanceof api.Problem && !api.mayHaveBegun(error)) throw error;
    }
    repeats = true;
    try {
      return await read(reference);
    } catch (error) {
      if (error instanceof SignedOut) throw error;
      if (error.code === "no-such-sale" && performance.now() > until) return null;
    }
    await sleep(EVERY_MS);
  }
}
/** Follows a transaction to its end or until it is unconfirmed. `seen` is called with each state. */
async function follow(sale, seen) {
  for (let now = sale; ;) {
    seen(now);
    if (now.state === "ended" || now.state.startsWith("unconfirmed")) return now;
    await sleep(EVERY_MS);
    now = await read(now.reference).catch((error) => { if (error instanceof SignedOut) throw error; return now; });
  }
}
/** A payment that the cashier's page takes over. */
const UNKNOWN = { state: "unknown" };
const isApproved = (sale) => sale.state === "ended" && sale.outcome === "approved";

export function saleStep(page) {
  const { draft } = page;
  const place = h("div", { class: "looked" });
  const elsewhere = otherPage(draft);
  const open = h("a", { class: "primary", id: "open", href: elsewhere ?? "/" }, b("open"));
  const other = elsewhere && h("p", {}, b("sale.elsewhere", { address: elsewhere }));
  if (!elsewhere) run(page, place);
  return [place, other, h("div", { class: "buttons" }, open), tellTill(draft), elsewhere ? null : doctor()];
}

async function run(page, place) {
  fill(place, h("p", { class: "busy", role: "status" }, b("sale.waits")));
  const settings = await untilFront();
  setExponent(settings.exponent);
  loadRest().catch(() => { /* the agent's sentences stay */ });
  if (settings.operators) return signIn(page, place, settings);
  choose(page, place, settings);
}

/** Signs in one of the people of the first boot: a supervisor, who may give money back. */
async function signIn(page, place, settings) {
  const { people } = page.draft;
  const who = people.find((one) => one.role === "supervisor") ?? people[0];
  if (!who) return fill(place, h("p", {}, b("sale.sign-in")));
  try {
    await api.post("/front/session", { operator: who.name.trim(), pin: who.pin });
    people.forEach((one) => Object.assign(one, { pin: "", again: "" }));
    choose(page, place, settings);
  } catch (error) {
    if (error instanceof api.Lost) { await sleep(EVERY_MS); return signIn(page, place, settings); }
    fill(place, h("p", { class: "wrong", role: "alert" }, b("sale.sign-in")));
  }
}

/** Waits until the terminal is ready, and offers the two payments. */
async function choose(page, place, settings) {
  const said = h("p", { class: "busy", role: "status" }, b("sale.not-ready"));
  fill(place, said);
  for (;;) {
    try {
      if ((await api.get("/v1/status")).ready) break;
    } catch (error) {
      if (error.status === 401) return fill(place, h("p", {}, b("sale.not-here")));
    }
    await sleep(EVERY_MS);
  }
  const amount = wire(1n, settings.exponent);
  const shown = money(amount, settings.currency);
  const part = (name, facts, act) => {
    const outcome = h("div", { role: "status" });
    const go = button("pay", b(`${name}.go`, facts), async () => {
      go.hidden = true;
      await act(outcome);
      go.hidden = false;
      go.setAttribute("class", "quiet");
      text(go.querySelector("span"), t("again"));
    }, { class: "primary", id: `first-${name}` });
    return h("div", { class: "looked part-of-sale", "data-part": name }, h("h2", {}, b(name)), h("p", { class: "hint" }, b(`${name}.about`, facts)), go, outcome);
  };
  fill(place,
    settings.mayTrain && part("training", {}, (outcome) => pay(outcome, { kind: "sale", amount: wire(100n, settings.exponent), training: "approved" })),
    part("real", { amount: shown }, (outcome) => payAndReverse(outcome, amount, shown)));
}

/** Carries out one payment, and shows it. Resolves to the transaction; null if there is none; `UNKNOWN` after a sign-out. */
async function pay(place, request) {
  const reference = `first-${random()}`;
  const training = Boolean(request.training);
  const buttons = h("div", { class: "buttons" });
  const result = h("div", { class: "result", "data-tone": "" });
  const tell = (tone, word, why = "") => {
    result.dataset.tone = tone;
    result.dataset.outcome = word;
    fill(result, h("strong", {}, first([`boot.sale.${word}`, `outcome.${word}.${request.kind}`, `outcome.${word}`], word)), why && h("span", {}, why), buttons);
  };
  fill(place, result);
  // The reference is kept before the request leaves, so that the cashier's page finds the payment.
  if (!training) remember({ reference, request, draft: null, begunAt: Date.now() });
  api.train(training);
  try {
    tell("", "asking");
    const begun = await begin(reference, request);
    if (!begun) { tell("bad", "not-received"); return null; }
    const ended = await follow(begun, (sale) => seen(sale, tell, buttons));
    if (isApproved(ended)) tell("good", "approved");
    else tell(ended.state === "ended" ? "bad" : "warn", ended.state === "ended" ? ended.outcome : "unconfirmed", reason(ended.reason, ended.text ?? ""));
    if (!training && ended.state === "ended") forget();
    if (isApproved(ended)) showReceipt(place, reference);
    return ended;
  } catch (error) {
    if (error instanceof SignedOut) { tell("warn", "unconfirmed", b("sale.sign-in")); return UNKNOWN; }
    if (!training) forget();
    tell("bad", "refused", error.message);
    return null;
  } finally {
    api.train(false);
  }
}
function seen(sale, tell, buttons) {
  const word = { "waiting-for-card": "card", "in-progress": "bank", "awaiting-signature": "signature" }[sale.state];
  if (!word || buttons.dataset.word === word) return;
  buttons.dataset.word = word;
  const judge = (accepted) => () => api.sign(sale.reference, null, accepted).catch(() => {});
  fill(buttons, word === "card" && button("close", t("cancel"), () => api.cancel(sale.reference).catch(() => {}), { class: "quiet", id: "cancel" }),
    word === "signature" && [button("approved", b("sale.signed"), judge(true), { class: "quiet" }), button("declined", b("sale.not-signed"), judge(false), { class: "quiet" })]);
  tell(word === "signature" ? "warn" : "", word, b(`sale.${word}.about`));
}
async function showReceipt(place, reference) {
  try {
    place.append(h("details", {}, h("summary", {}, b("receipt")), h("pre", { tabindex: "0" }, await api.receipt({ reference }, "customer"))));
  } catch { /* the page's list has it */ }
}

/** Takes the smallest amount, and gives it back. */
async function payAndReverse(place, amount, shown) {
  const paid = h("div", {});
  const back = h("div", {});
  fill(place, paid, back);
  const isBack = (done) => back.append(h("p", { "data-back": String(done) }, b(done ? "real.back" : "real.not-back", { amount: shown })));
  const sale = await pay(paid, { kind: "sale", amount });
  if (sale === UNKNOWN) return isBack(false);
  if (!sale || !isApproved(sale)) return;
  fill(back, h("p", { class: "busy" }, b("real.reverses", { amount: shown })));
  const reversal = await pay(back, { kind: "reversal", of: sale.reference });
  isBack(Boolean(reversal && isApproved(reversal)));
}
