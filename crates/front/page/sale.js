// The transaction in hand: one screen for each state, each with the one action that is possible.

import * as api from "./api.js";
import { armLater, button, fill, folded, h, icon, qr, s, text } from "./dom.js";
import { EMPTY, movesMoney, payable, paysOut, restOf, signed } from "./draft.js";
import { wire } from "./money.js";
import { deviceWords } from "./parts.js";
import { CLOSABLE, isLost, isUnderWay, mayCancel, mayTryAgain, NEEDS_CARD, screenOf, waitOf, whose } from "./state.js";
import { clock, clockSeconds, first, has, money, reason, t } from "./words.js";

/** Returns the name of a transaction's outcome or state. */
export function wordOf(sale) {
  if (sale.state !== "ended") {
    if (sale.needsPerson) return t("outcome.needs-person");
    const word = { unconfirmed: "unconfirmed", "unconfirmed-finishing": "finishing", "awaiting-signature": "signature", "awaiting-till": "confirm" }[sale.state];
    return t(`outcome.${word ?? "running"}`);
  }
  return first([`outcome.${sale.outcome}.${sale.kind}`, `outcome.${sale.outcome}`], sale.outcome ?? "");
}
export function iconOf(sale) {
  if (sale.state !== "ended") return { "awaiting-signature": "signature" }[sale.state] ?? (sale.state?.startsWith("unconfirmed") ? "question" : "clock");
  return { "partially-approved": "partial" }[sale.outcome] ?? sale.outcome ?? "question";
}
/** Builds the name of a transaction's outcome or state, with its image. */
export const badge = (sale) => h("span", { class: "badge" }, icon(iconOf(sale)), h("span", {}, wordOf(sale)));
/**
 * Returns the reason of an outcome and what to do. When the page has no text for the reason, it is the agent's
 * sentence.
 */
export function whyOf(sale) {
  if (sale.outcome === "approved" || sale.outcome === "partially-approved") return "";
  return reason(sale.unsettled, "") || reason(sale.reason, "") || (has(`reason.${sale.reason}`) || !sale.reason ? "" : sale.text);
}

/** Names the till or operator of a transaction that this page has not begun; empty for its own. */
export function whoseWords(state, sale, before = "") {
  const found = whose(state, sale);
  return found ? before + t(found.operator ? "whose.by" : "whose", found) : "";
}

const needsSupervisor = (job) => job.problem?.code === "supervisor-needed";
const kindOf = (job) => job.sale?.kind ?? job.request?.kind ?? "sale";
/** Returns the amount of a job as other screens name it; the kind if it moves no money. */
function amountOf(job, { exponent, currency }) {
  const kind = kindOf(job);
  return movesMoney(kind) ? money(payable(job.sale ?? job.request, exponent), job.sale?.currency ?? currency) : t(`kind.${kind}`);
}
/** Returns the sentence about the tip in a job's amount, as far as the tip is known. */
function tipWords(job, { currency }) {
  const { tip } = job.sale ?? job.request ?? {};
  return tip && tip !== "ask" ? t("with-tip", { tip: money(tip, job.sale?.currency ?? currency) }) : "";
}
/** Returns the sentence about a transaction that is not on the screen. */
export const noticeOf = (state, sale, { exponent, currency }) => t("notice", {
  amount: money(payable(sale, exponent), sale.currency ?? currency), time: clock(sale.startedAt), word: wordOf(sale) + whoseWords(state, sale, " · "),
});
/** Returns the sentence about the job in hand, for the other screens. A refused request has no transaction. */
export function barOf(state, job, settings) {
  if (isUnderWay(job)) return t("running.bar", { amount: amountOf(job, settings) }) + whoseWords(state, job.sale, " · ");
  return job.sale ? noticeOf(state, job.sale, settings) : t("notice.request", { amount: amountOf(job, settings), word: wordFor(job.phase, job) });
}
/** Returns the number of tries that the reader's sentence about a wrong PIN names, in the cashier's words. */
function pinWords(wrong) {
  const tries = /\d+/.exec(wrong)?.[0];
  return tries ? t(tries === "1" ? "pin.one" : "pin.tries", { tries }) : t("pin.wrong");
}

const RUNNING = ["asking", "card", "bank"];
const STEP_ICON = { "remove-card": "remove", "pin-entry": "pin", "pin-wrong": "pin", "pin-done": "bank", "type-card": "pin", "choosing-application": "pin", authorising: "bank", throttled: "bank" };

export function saleScreen(page, state) {
  const name = screenOf(state.job);
  return RUNNING.includes(name) ? runningScreen(page, name) : endScreen(page, name, state.job);
}

/* ---- in progress ---- */

function runningScreen(page, name) {
  const job = page.state().job;
  const kind = kindOf(job);
  const sent = !NEEDS_CARD.includes(kind);
  const who = h("p", { class: "who" });
  const title = h("h1", { tabindex: "-1" });
  const hint = h("p", { class: "hint" });
  const picture = h("div", { class: "picture" });
  const old = h("p", { class: "old" });
  const answer = h("p", { class: "answer", role: "alert" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const ring = countdown();
  const stop = button("close", t("cancel"), () => page.dispatch({ type: "cancel" }), { class: "stop", id: "cancel" });
  const sum = h("p", { class: "sum" });
  const tip = h("p", { class: "kind" });
  const theirs = h("p", { class: "kind whose" });
  const stages = ["card", "bank", "done"].map((stage) => h("li", { "data-stage": stage }, t(`stage.${stage}`)));
  const el = h("section", { class: "sale running", "data-screen": name, "data-out": String(paysOut(kind)) },
    h("div", { class: "act" },
      h("div", { class: "due" }, h("p", { class: "kind" }, t(`kind.${kind}`)), sum, tip, theirs),
      h("div", { class: "do" }, picture, h("div", {}, who, title, wrong, hint, old))),
    answer,
    h("div", { class: "foot" }, ring.el, !sent && h("ol", { class: "stages", "aria-label": t("stage.label") }, stages), stop));
  armLater([stop]);
  let shownIcon = null;
  let shownCode = null;
  let saidStep = null;

  function update({ job: now, link }) {
    if (!now) return;
    const screen = screenOf(now);
    const step = now.fresh ? now.step?.word : null;
    const word = screen === "asking" ? "asking"
      : screen === "bank" && (!step || !has(`step.${step}`) || step === "in-progress") ? "authorising"
      : step && has(`step.${step}`) ? step : "present-card";
    const person = screen === "asking" ? "terminal" : sent ? "bank" : ["authorising", "throttled", "pin-done"].includes(word) ? "bank" : "customer";
    text(who, t(`who.${person}`));
    text(sum, movesMoney(kind) ? signed(kind, amountOf(now, page.settings())) : "");
    text(tip, tipWords(now, page.settings()));
    text(theirs, whoseWords(page.state(), now.sale));
    const dots = word === "pin-entry" && now.step?.text ? "•".repeat((now.step.text.match(/\*/g) ?? []).length) : "";
    const unknown = step && !has(`step.${step}`) && now.step.text && !["in-progress", "waiting-for-card"].includes(step);
    const headline = screen === "asking" ? t("asking.word") : unknown ? now.step.text
      : word === "pin-wrong" ? pinWords(now.step.wrong ?? "")
      : word === "authorising" && sent ? t("step.authorising.sent") : t(`step.${word}`);
    text(title, dots ? `${headline} ${dots}` : headline);
    if (headline !== saidStep && saidStep !== null) page.say(headline);
    saidStep = headline;
    text(wrong, now.fresh && now.step?.wrong !== undefined && word !== "pin-wrong" ? pinWords(now.step.wrong) : "");
    text(hint, hintOf(now, screen, word));
    text(old, now.fresh || screen === "asking" || link === "connecting" ? "" : t("old", { time: clockSeconds(new Date(now.seenAt ?? now.begunAt)) }));
    const wantedIcon = screen === "asking" ? "clock" : STEP_ICON[word] ?? "card";
    if (wantedIcon !== shownIcon) { fill(picture, icon(wantedIcon)); shownIcon = wantedIcon; el.dataset.step = word; }
    if (word === "customer-acts" && now.sale?.redirectUrl && shownCode !== now.sale.redirectUrl) {
      shownCode = now.sale.redirectUrl;
      // Without the code, the text of the address is enough.
      drawCode(picture, now.sale).catch(() => {});
    }
    const reached = screen === "bank" ? 1 : 0;
    stages.forEach((stage, n) => {
      if (n === reached) stage.setAttribute("aria-current", "step"); else stage.removeAttribute("aria-current");
      stage.dataset.done = String(n < reached);
    });
    // Without a connection, no cancel would arrive.
    stop.hidden = (!mayCancel(now) && now.cancel !== "asked") || isLost(link);
    text(stop.querySelector("span"), now.cancel === "asked" ? t("cancel.asked") : t("cancel"));
    text(answer, cancelWords(now));
    el.dataset.stale = String(!now.fresh && screen !== "asking");
  }
  function hintOf(now, screen, word) {
    if (screen === "asking") return now.posting || now.posts <= 1 && !now.restored ? t("asking.text") : t("asking.checking");
    const { link } = page.state();
    if (!now.fresh && link !== "up") return t(link === "agent-down" ? "hint.agent-down" : "hint.lost");
    const wait = waitOf(now);
    if (wait?.until && performance.now() > wait.until + 500) return t("hint.long");
    // Until the transaction's own card is read, the card in the slot is that of the previous payment.
    if (word === "remove-card") return t(now.sale?.state === "waiting-for-card" ? "hint.remove-card.before" : "hint.remove-card");
    if (word === "customer-acts" && now.sale?.redirectUrl) return t("hint.customer-acts", { url: now.sale.redirectUrl });
    return sent ? t("hint.sent") : t(screen === "bank" ? "hint.bank" : "hint.card");
  }
  return {
    el, update, focus: title,
    tick() {
      const { job: current } = page.state();
      if (!current) return;
      ring.draw(waitOf(current), page);
      text(hint, hintOf(current, screenOf(current), el.dataset.step));
    },
    press(event) {
      if (event.key !== "Escape" || event.repeat || stop.hidden || stop.getAttribute("aria-disabled") === "true") return false;
      page.dispatch({ type: "cancel" });
      return true;
    },
  };
}

/** Draws the address of a transaction as a QR code, which customers open on their own devices. */
export async function drawCode(place, sale) {
  fill(place, qr(await api.code(sale), sale.receiptUrl ?? sale.redirectUrl));
}

function cancelWords(job) {
  if (!job.cancel || job.cancel === "asked") return "";
  if (job.cancel === "too-late" && job.sale?.state === "ended") return t("cancel.too-late-ended");
  return t(`cancel.${job.cancel}`);
}

/** Builds a ring that empties, with its seconds. When the end is unknown, it shows the elapsed seconds. */
function countdown() {
  const round = 2 * Math.PI * 44;
  const arc = s("circle", { class: "arc", cx: 50, cy: 50, r: 44, "stroke-dasharray": round });
  const number = h("strong", {});
  const unit = h("span", {});
  const spoken = h("span", { class: "unseen" });
  const el = h("div", { class: "ring", role: "timer", hidden: true },
    s("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, s("circle", { class: "track", cx: 50, cy: 50, r: 44 }), arc),
    h("div", { "aria-hidden": "true" }, number, unit), spoken);
  let warned = false;
  function draw(wait, page) {
    el.hidden = !wait;
    if (!wait) return;
    const now = performance.now();
    const counts = wait.until !== null && now < wait.until;
    const seconds = Math.max(0, counts ? Math.ceil((wait.until - now) / 1000) : Math.floor((now - wait.since) / 1000));
    text(number, String(seconds));
    text(unit, t(counts ? "seconds" : "so-far"));
    text(spoken, t(counts ? "left-s" : "since-s", { s: seconds }));
    el.dataset.counts = String(counts);
    el.dataset.short = String(counts && seconds <= 10);
    const share = counts ? Math.min(1, (wait.until - now) / Math.max(1, wait.until - wait.since)) : 0;
    arc.setAttribute("stroke-dashoffset", String(round * (1 - share)));
    if (counts && seconds === 10 && !warned) { warned = true; page.say(t("left-s", { s: 10 })); }
  }
  return { el, draw };
}

/* ---- screens to read, decide or confirm ---- */

const LOOK = {
  confirm: "question", unconfirmed: "question", finishing: "question", "needs-person": "person", "not-begun": "not-sent", refused: "declined",
};

function endScreen(page, name, job) {
  const currency = job.sale?.currency ?? page.settings().currency;
  const { exponent } = page.settings();
  const amount = (value) => money(value, currency);
  const title = h("h1", { tabindex: "-1" }, wordFor(name, job));
  const sum = h("p", { class: "sum" });
  const lines = h("div", { class: "lines" });
  const answers = h("div", { class: "answers" });
  const old = h("p", { class: "old", role: "status" });
  const todo = h("p", { class: "todo", role: "status" });
  const paper = h("p", { class: "more", role: "status" });
  const detail = h("div", {});
  const ring = countdown();
  const kind = kindOf(job);
  // The supervisor's approval is a step on the way, not a refusal.
  const asks = name === "refused" && needsSupervisor(job);
  const el = h("section", { class: "sale end", "data-screen": name, "data-asks": String(asks), "data-out": String(paysOut(kind)) },
    h("div", { class: "panel" }, h("div", { class: "picture" }, icon(asks ? "person" : LOOK[name] ?? name), ring.el),
      h("div", {}, title, sum, todo, lines, paper, detail, old)),
    answers);
  const leave = () => page.dispatch({ type: "leave" });
  const prepare = (draft) => page.dispatch({ type: "prepare", draft });
  /** Builds the button to try again; its text names the transaction that it begins. */
  const retry = (sale, word, props) => mayTryAgain(page.state().job)
    && button(null, t(word, { what: t(`do.${sale.kind}`, { amount: amount(payable(sale, exponent)) }) }), page.tryAgain, props);

  /** Prints the customer's copy once. After a failure, the cashier may press the button again. */
  async function print({ currentTarget: pressed }) {
    pressed.setAttribute("aria-disabled", "true");
    const { taken, words } = await page.printCopy(page.state().job.sale, "customer");
    text(paper, words);
    if (!taken) pressed.removeAttribute("aria-disabled");
  }
  function buttons({ job: now }) {
    const sale = now.sale;
    const receipt = [
      sale?.receiptOnDemand && button("printer", t("receipt.print"), print, { class: "quiet", id: "print" }),
      sale?.receiptUrl && button("qr", t("receipt.code"), () => page.showReceipt(sale, "code"), { class: "quiet", id: "code" }),
      sale && button("sales", t("outcome.receipt"), () => page.showReceipt(sale), { class: "quiet", id: "receipt" }),
    ];
    const fresh = (word, id = "new", look = "primary") => button(null, word, leave, { class: look, id });
    switch (name) {
      case "signature": case "confirm": return [["approved", "accept", "yes"], ["declined", "refuse", "no"]].map(([picture, id, look]) =>
        button(picture, t(`${name}.${id}`), () => page.dispatch({ type: "judge", accepted: id === "accept" }), { class: `primary ${look}`, id }));
      case "partial": {
        const rest = restOf(sale, now.draft, exponent);
        return [now.mine && button(null, t("partial.rest", { rest: amount(rest.amount) }), () => prepare(rest), { class: "primary", id: "rest" }), fresh(t("partial.done"), "done", "quiet"), ...receipt];
      }
      case "unconfirmed": return [retry(sale, "unconfirmed.new", { class: "primary", id: "rest" }), fresh(t("outcome.new"), "new", "quiet")];
      case "finishing": return [fresh(t("finishing.leave"))];
      case "needs-person": return [fresh(t("needs-person.leave"))];
      case "not-begun": return [
        button(null, movesMoney(now.request?.kind) ? t("not-begun.again", { amount: amount(payable(now.request, exponent)) }) : t("again"), () => page.dispatch({ type: "start-again" }), { class: "primary", id: "start-again" }),
        fresh(t("not-begun.leave"), "leave", "quiet")];
      case "refused": {
        const code = now.problem?.code;
        const more = code === "supervisor-needed" ? button("person", t("supervisor.ask"), page.again, { class: "primary", id: "supervisor" })
          : code === "unauthorized" ? button(null, t("again"), page.again, { class: "primary", id: "start-again" }) : null;
        return [more, button(null, t("refused.leave"), () => (now.draft ? prepare(now.draft) : leave()), { class: more ? "quiet" : "primary", id: "new" })];
      }
      case "declined": case "cancelled": case "not-sent": case "reversed":
        if (sale.reason === "insert-and-pin" && mayTryAgain(now)) return [retry(sale, "outcome.insert", { class: "primary", id: "retry" }), button(null, t("outcome.new"), leave, { class: "quiet", id: "new" }), ...receipt];
        return [fresh(t("outcome.new")), retry(sale, "outcome.retry", { class: "quiet", id: "retry" }), ...receipt];
      default: return [fresh(t("outcome.new")), ...receipt];
    }
  }
  let drawn = null;
  function update(state) {
    const now = state.job;
    if (!now) return;
    const sale = now.sale;
    const key = `${now.judged}${now.problem?.code}`;
    if (drawn !== key) {
      drawn = key;
      const made = buttons(state).filter(Boolean);
      if (now.judged) made.forEach((one) => one.setAttribute("aria-disabled", "true")); else armLater(made, name === "signature" || name === "confirm" ? 700 : 450);
      fill(answers, made);
    }
    text(sum, sumFor(name, now, exponent, currency));
    text(todo, todoFor(name, state));
    const technical = name === "refused" && !needsSupervisor(now) ? now.problem?.detail ?? "" : "";
    if (detail.dataset.said !== technical) { detail.dataset.said = technical; fill(detail, folded(technical)); }
    const said = linesFor(name, now, amount, exponent, state);
    if (lines.dataset.said !== said.join("\n")) { lines.dataset.said = said.join("\n"); fill(lines, said.map((line, n) => h("p", { class: n ? "more" : "main" }, line))); }
    const stale = !now.fresh && !!sale && state.link !== "connecting";
    el.dataset.stale = String(stale);
    text(old, stale ? t("old", { time: clockSeconds(new Date(now.seenAt ?? Date.now())) }) : "");
  }
  return {
    // The title has the focus, so a screen reader says it first; the rest follows.
    el, update, focus: title,
    said: [sumFor(name, job, exponent, currency), todoFor(name, page.state()), ...linesFor(name, job, amount, exponent, page.state())].filter(Boolean).join(". "),
    tick() {
      const { job: current } = page.state();
      if (current) ring.draw(["signature", "confirm", "unconfirmed", "finishing"].includes(name) ? waitOf(current) : null, page);
    },
    press(event) {
      if (event.repeat) return event.key === "Enter";
      const chief = answers.querySelector(".primary");
      const plain = CLOSABLE.includes(name);
      if (plain && /^\d$/.test(event.key) && !isUnderWay(page.state().job)) { prepare({ ...EMPTY, amount: wire(BigInt(event.key), exponent) }); return true; }
      const enters = event.key === "Enter" && (event.target.tagName !== "BUTTON" || (plain && event.code === "NumpadEnter"));
      if ((enters && !["signature", "confirm", "not-begun"].includes(name)) || (event.key === "Escape" && plain)) { chief?.click(); return true; }
      return false;
    },
  };
}

/** Returns the amount of an outcome, as its kind moves it. */
function sumFor(name, job, exponent, currency) {
  const kind = kindOf(job);
  if (!movesMoney(kind)) return "";
  const amount = name === "partial" ? job.sale.approvedAmount : payable(job.sale ?? job.request, exponent);
  return signed(kind, money(amount, job.sale?.currency ?? currency));
}
/** Returns what the cashier must do at the devices after a transaction: a card in the reader, a printer without paper. */
function todoFor(name, { status, link }) {
  if (link !== "up" || ["not-begun", "refused"].includes(name)) return "";
  if (status?.reader?.cardLeft) return t("step.remove-card");
  return deviceWords(status, ["printer"]);
}
function wordFor(name, job) {
  if (name === "not-begun") return t("not-begun.word");
  if (name === "refused") return t(needsSupervisor(job) ? "supervisor.title" : "refused.word");
  if (name === "approved") return wordOf(job.sale);
  return first([`outcome.${name}`], job.sale ? wordOf(job.sale) : name);
}

function linesFor(name, job, amount, exponent, state) {
  const { sale } = job;
  const lines = [whoseWords(state, sale)];
  const nothing = () => t(`nothing.${sale.kind ?? "sale"}`);
  switch (name) {
    case "partial": lines.push(t("partial.text", { part: amount(sale.approvedAmount), amount: amount(payable(sale, exponent)), rest: amount(restOf(sale, null, exponent).amount) })); break;
    case "signature": lines.push(t("signature.text"), job.judged ? t(`signature.${job.judged}`) : t("signature.late")); break;
    case "confirm": lines.push(t("confirm.text", { amount: amount(sale.toConfirm?.amount ?? payable(sale, exponent)) })); break;
    case "unconfirmed": lines.push(t("unconfirmed.now"), t("unconfirmed.text"), whyOf(sale)); break;
    case "finishing": lines.push(t("finishing.now"), t("finishing.text"), whyOf(sale)); break;
    case "needs-person": lines.push(t("needs-person.now", { number: sale.number }), whyOf(sale) || sale.needsPerson); break;
    case "not-begun": lines.push(t("not-begun.text")); break;
    case "refused":
      if (!needsSupervisor(job)) lines.push(problemWords(job.problem, state.status));
      lines.push(t("refused.text"));
      break;
    case "declined": case "cancelled": case "not-sent": case "reversed": lines.push(nothing(), whyOf(sale)); break;
    default: break;
  }
  lines.push(cancelWords(job));
  const small = [
    sale?.state === "ended" && name !== "partial" && sale.tip && t("with-tip", { tip: amount(sale.tip) }),
    sale?.card?.last4 && t("card.line", { brand: sale.card.brand ?? t("fact.card"), last4: sale.card.last4 }),
    sale?.endedAt && t("ended-at", { time: clockSeconds(sale.endedAt) }),
  ];
  lines.push(small.filter(Boolean).join(" · "));
  return lines.filter(Boolean);
}

/**
 * Returns a refusal in the cashier's language. The agent's own sentence is for the technician; only for a refusal that
 * this page does not know it is said here.
 */
export function problemWords(problem, status) {
  const why = problem?.code === "not-ready" && status?.attention?.map((one) => reason(one.code)).find(Boolean);
  if (why) return why;
  return first([`problem.${problem?.code}`], problem?.detail ? `${t("problem.other")} (${problem.detail})` : t("problem.other"));
}
