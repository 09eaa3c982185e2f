// The history: a list that can be searched, and one transaction with all actions that are possible for it.

import * as api from "./api.js";
import { AMOUNT_KEYS, button, closer, dialog, DIGIT_KEYS, fill, h, icon, keypad, onEnter, text, typeInto } from "./dom.js";
import { movesMoney, payable, paysOut, signed } from "./draft.js";
import { minor, shift, typed, unshift, wire } from "./money.js";
import { failure, showReceipt } from "./receipt.js";
import { badge, whyOf } from "./sale.js";
import { isLost, isUnderWay } from "./state.js";
import { clock, day, dayAndTime, first, money, t } from "./words.js";

const PAGE = 100;
/** The number of pages that a search reads before it asks whether to continue. */
const PAGES_AT_ONCE = 5;
/** The pause in typing after which a search begins. */
const TYPING_MS = 250;

/** Reads the list newest first, as far as needed: `next()` returns an older page. */
export function backwards(wanted = {}) {
  let cursor = "";
  return {
    done: () => cursor === null,
    async next() {
      const asked = new URLSearchParams({ order: "newest", limit: PAGE, ...wanted, ...(cursor && { cursor }) });
      const { sales, next } = await api.get(api.ofSales(`?${asked}`));
      cursor = next ?? null;
      return sales;
    },
  };
}

/** Returns the requests of a search: one for each meaning that the words may have. */
export function questions(words, exponent = 2, now = new Date()) {
  const said = words.trim();
  if (!said) return [{}];
  const span = (from, ms) => [{ from: from.toISOString(), to: new Date(from.getTime() + ms).toISOString() }];
  const hour = /^([01]?\d|2[0-3]):([0-5]\d)?$/.exec(said);
  if (hour) return span(new Date(new Date(now).setHours(Number(hour[1]), Number(hour[2] ?? 0), 0, 0)), hour[2] ? 60000 : 3600000);
  const date = dateOf(said, now);
  if (date) return [{ from: date.toISOString(), to: new Date(new Date(date).setDate(date.getDate() + 1)).toISOString() }];
  const all = [];
  const amount = /^[\d.,]+\s*[^\d\s]{0,3}$/.test(said) && typed(said.replace(/[^\d.,]/g, ""), exponent);
  if (amount) all.push({ amount });
  if (/^\d{4}$/.test(said)) all.push({ last4: said });
  if (/^[1-9]\d{0,8}$/.test(said)) all.push({ since: String(Number(said) - 1), limit: "1", order: "oldest" });
  if (/^[\x20-\x7e]+$/.test(said)) all.push({ reference: said });
  return all;
}
/** Reads a day as 22.11., 22.11.2026, 22/11, 22/11/2026 or 2026-11-22; without a year, the last such day. */
function dateOf(said, now) {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(said) ?? [];
  const [, d, m, y] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})?$/.exec(said) ?? /^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?$/.exec(said) ?? [];
  if (!year && !d) return null;
  const date = new Date(Number(year ?? y ?? now.getFullYear()), Number(month ?? m) - 1, Number(day ?? d));
  if (date.getMonth() !== Number(month ?? m) - 1) return null;
  if (!year && !y && date > now) date.setFullYear(date.getFullYear() - 1);
  return date;
}

/** Reads the lists of several requests: their pages are merged into one, each transaction once, newest first. */
function search(words, exponent) {
  const asked = questions(words, exponent);
  const sources = asked.map(backwards);
  const ended = new Set();
  return {
    done: () => sources.every((one) => ended.has(one) || one.done()),
    /** One after the other: the terminal makes one list at a time. */
    async next() {
      const found = [];
      for (const [n, one] of sources.entries()) {
        if (ended.has(one) || one.done()) continue;
        const sales = await one.next();
        const { since } = asked[n];
        if (since) ended.add(one);
        found.push(...(since ? sales.filter((sale) => sale.number === Number(since) + 1) : sales));
      }
      return found;
    },
  };
}
export function merged(sales, more) {
  const all = new Map([...sales, ...more].map((sale) => [sale.number, sale]));
  return [...all.values()].sort((a, b) => b.number - a.number);
}

export function historyScreen(page, argument) {
  const el = h("section", { class: "sales" });
  const { exponent, currency } = page.settings();
  const field = h("input", { id: "search", type: "search", autocomplete: "off", "aria-describedby": "search-hint", placeholder: t("sales.search-hint") });
  const list = h("ul", { class: "list" });
  // A kiosk has no keyboard, and most searches are digits.
  const pad = keypad(DIGIT_KEYS, (name) => typeInto(field, name));
  pad.hidden = true;
  const digits = button("pin", t("sales.digits"), () => {
    pad.hidden = !pad.hidden;
    digits.setAttribute("aria-expanded", String(!pad.hidden));
  }, { class: "quiet", id: "digits", "aria-expanded": "false" });
  const said = h("p", { class: "hint", role: "status" });
  const more = button(null, t("sales.more"), () => look(false), { class: "quiet", id: "more", hidden: true });
  const title = h("h1", { tabindex: "-1" }, t("sales.title"));
  fill(el, h("header", {}, title, h("div", { class: "search" }, icon("search"), h("label", { class: "unseen", for: "search" }, t("sales.search")), field,
    h("span", { class: "unseen", id: "search-hint" }, t("sales.search-hint"))), digits), pad, said, list, more);
  let source = search("", exponent);
  let sales = [];
  let turn = 0;
  let before = Promise.resolve();
  let typing = null;
  field.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(anew, TYPING_MS); });
  onEnter(field, () => { clearTimeout(typing); anew(); });

  function anew() { source = search(field.value, exponent); look(true); }
  function look(first) {
    const mine = (turn += 1);
    text(said, t("loading"));
    before = before.then(() => mine === turn && read(mine, first));
  }
  async function read(mine, first) {
    try {
      let found = [];
      for (let n = 0; n < PAGES_AT_ONCE && !source.done() && !found.length; n += 1) {
        found = await source.next();
        if (mine !== turn) return;
      }
      sales = merged(first ? [] : sales, found);
      draw();
    } catch (error) { if (mine === turn) text(said, failure(error)); }
  }
  function draw() {
    const all = sales;
    text(said, all.length ? t("sales.count", { count: all.length }) : t("sales.none"));
    more.hidden = source.done();
    const today = new Date().toDateString();
    rows(all, (sale) => h("li", { class: sale === all[0] ? "latest" : "" }, h("button", {
      class: "entry", "data-reference": sale.reference, "data-outcome": sale.outcome ?? sale.state, "data-out": String(paysOut(sale.kind)), onclick: () => showOne(sale.reference),
    }, badge(sale),
    h("span", { class: "when" }, new Date(sale.startedAt).toDateString() === today ? clock(sale.startedAt) : `${day(sale.startedAt)} ${clock(sale.startedAt)}`),
    h("span", { class: "what" }, `${t(`kind.${sale.kind}`)}${sale.card?.last4 ? ` ·· ${sale.card.last4}` : ""}`),
    h("strong", { class: "sum" }, sumOf(sale, exponent, sale.currency ?? currency))),
    // Most refunds are of the newest payment, or of the one that a search has found.
    sale === all[0] && possible(sale, exponent, page.may).includes("refund") && button("reversed", t("act.refund"), () => follow(page, sale, "refund"), { class: "quiet", "data-refund": sale.reference, "aria-label": t("act.refund") })));
  }
  /** Draws what is new: thousands of rows take seconds on a slow board. */
  let drawn = [];
  function rows(all, row) {
    const isOlder = drawn.length && all.length >= drawn.length && drawn.every((sale, n) => sale === all[n]);
    if (isOlder) list.append(...all.slice(drawn.length).map(row)); else fill(list, all.map(row));
    drawn = all;
  }
  if (argument?.reference) showOne(argument.reference); else look(true);

  async function showOne(reference) {
    fill(el, h("p", { class: "hint" }, t("loading")));
    try {
      const sale = await api.sale(reference);
      fill(el, detail(page, sale, () => page.go("sales"), () => showOne(reference)));
      el.querySelector("h1").focus();
    } catch (error) {
      fill(el, h("h1", { tabindex: "-1" }, t("sales.title")), h("p", { class: "wrong" }, failure(error)), button("back", t("detail.back"), () => page.go("sales"), { class: "quiet" }));
    }
  }
  let wasUp = page.state().link === "up";
  let lastEnd = null;
  return {
    el, focus: title, leave: () => clearTimeout(typing),
    /** Reads the shown data again when the connection is back or when a transaction has ended. */
    update({ link, job }) {
      el.dataset.stale = String(isLost(link));
      const end = job?.sale?.state === "ended" ? job.reference : null;
      const again = (link === "up" && !wasUp) || (end && end !== lastEnd && lastEnd !== null);
      wasUp = link === "up";
      lastEnd = end ?? lastEnd ?? "";
      if (again && el.contains(list)) anew();
      else if (again) { const shown = el.querySelector("[data-detail]")?.dataset.detail; if (shown) showOne(shown); }
    },
    press(event) {
      if (event.key === "Escape" && !el.contains(list)) { page.go("sales"); return true; }
      if (el.contains(list) && event.key.length === 1 && event.target.tagName !== "BUTTON") { field.focus(); }
      return false;
    },
  };
}

/** Returns the possible actions for a transaction, by its kind, its outcome and the amount that is left of it. */
export function possible(sale, exponent = 2, may = () => true) {
  return allowed(sale, exponent).filter((kind) => kind && may(kind));
}
function allowed(sale, exponent) {
  if (sale.state !== "ended" || !["approved", "partially-approved"].includes(sale.outcome)) return [];
  const left = sale.left === undefined ? null : minor(sale.left, exponent);
  const some = left === null || left > 0n;
  const untouched = !(sale.later ?? []).some((one) => one.kind !== "increment" && (one.state !== "ended" || one.outcome === "approved"));
  const stored = sale.registration && "by-registration";
  const forget = sale.registration && "forget-card";
  switch (sale.kind) {
    case "sale": case "by-registration": case "capture": return [some && "refund", some && untouched && "reversal", stored, forget];
    case "pre-authorisation": case "pre-authorisation-by-registration": case "reauthorisation":
      return [some && "capture", some && untouched && "increment", some && "reauthorisation", some && untouched && "reversal", stored, forget];
    case "store-card": return [stored, stored && "pre-authorisation-by-registration", forget];
    case "credit": return [untouched && "reversal"];
    default: return [];
  }
}

const entryWord = (mode) => first([`entry.${mode}`], mode);

/** Returns the sum of a transaction as it is shown: with a sign if money was paid out, none if no money was moved. */
const sumOf = (sale, exponent, currency) => movesMoney(sale.kind) && signed(sale.kind, money(sale.approvedAmount ?? payable(sale, exponent), currency));

function detail(page, sale, back, reload) {
  const { exponent } = page.settings();
  const amount = (value) => money(value, sale.currency);
  const by = sale.by?.operator ?? sale.operator;
  const facts = [["why", whyOf(sale)], ["approved", sale.approvedAmount && sale.approvedAmount !== sale.amount && amount(sale.approvedAmount)], ["amount", movesMoney(sale.kind) && amount(sale.amount)], ["tip", sale.tip && amount(sale.tip)],
    ["left", sale.left !== undefined && amount(sale.left)], ["started", dayAndTime(sale.startedAt)], ["ended", sale.endedAt && dayAndTime(sale.endedAt)],
    ["card", sale.card?.last4 && t("card.line", { brand: sale.card.brand ?? "", last4: sale.card.last4 })], ["entry", sale.card && entryWord(sale.card.entryMode)],
    ["reference", sale.reference], ["number", String(sale.number)], ["of", sale.of], ["by", by], ["approval", sale.approvalCode], ["payment", sale.paymentId], ["registration", sale.registration], ["code", sale.code]];
  const acts = possible(sale, exponent, page.may).map((kind) => button(ICON_OF_ACT[kind], t(`act.${kind}`), () => follow(page, sale, kind), { class: kind === "refund" || kind === "capture" ? "primary" : "quiet", "data-act": kind }));
  const open = sale.state !== "ended" && button("reversed", t("again"), reload, { class: "quiet" });
  return [
    h("header", { "data-detail": sale.reference }, button("back", t("back"), back, { class: "quiet", id: "back" }), h("h1", { tabindex: "-1" }, t("detail.title", { kind: t(`kind.${sale.kind}`), number: sale.number }))),
    h("div", { class: "one" },
      h("div", { class: "head", "data-outcome": sale.outcome ?? sale.state, "data-out": String(paysOut(sale.kind)) }, badge(sale), h("strong", { class: "sum" }, sumOf(sale, exponent, sale.currency))),
      h("div", { class: "answers", role: "group", "aria-label": t("detail.actions") }, acts, button("sales", t("outcome.receipt"), () => showReceipt(page, sale), { class: "quiet", id: "receipt" }), open),
      h("dl", {}, facts.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, t(`fact.${name}`)), h("dd", {}, value)))),
      sale.later?.length ? [h("h2", {}, t("detail.later")), h("ul", { class: "list" }, sale.later.map((one) => h("li", {}, h(one.reference ? "button" : "div", {
        type: one.reference ? "button" : null, class: "entry", "data-out": String(paysOut(one.kind)), onclick: one.reference ? () => page.go("sales", one) : null,
      }, badge(one), h("span", { class: "what" }, t(`kind.${one.kind}`)), h("strong", { class: "sum" }, movesMoney(one.kind) && signed(one.kind, money(one.amount, one.currency)))))))] : null),
  ];
}
const ICON_OF_ACT = { refund: "reversed", reversal: "cancelled", capture: "approved", increment: "more", reauthorisation: "clock", "by-registration": "card", "pre-authorisation-by-registration": "clock", "forget-card": "cancelled" };

/** Asks for the amount and begins the transaction. */
async function follow(page, sale, kind) {
  const { exponent, currency } = page.settings();
  const left = sale.left ?? sale.approvedAmount ?? payable(sale, exponent);
  const shownLeft = money(left, sale.currency ?? currency);
  if (isUnderWay(page.state().job)) return page.showOutcome();
  if (kind === "reversal" || kind === "forget-card") {
    const sure = await dialog(t(`kind.${kind}`), (close) => [h("p", {}, t(kind === "reversal" ? "act.sure" : "about.forget-card", { amount: money(sale.approvedAmount ?? payable(sale, exponent), sale.currency) })),
      h("div", { class: "answers" }, button("cancelled", t(`do.${kind}`, { amount: shownLeft }), () => close(true), { class: "primary no", id: "do" }), closer(close, "no", { "data-first": true }))]);
    return sure && page.start(kind === "reversal" ? { kind, of: sale.reference } : { kind, registration: sale.registration });
  }
  // For these kinds the amount left is no limit, so the amount is typed.
  const stored = kind.endsWith("by-registration");
  const more = kind === "increment" || stored;
  const value = await dialog(t(`kind.${kind}`), (close) => {
    const field = h("input", { id: "how-much", type: "text", inputmode: "none", autocomplete: "off", "data-first": true, "aria-describedby": "how-much-hint how-much-wrong", value: more ? "" : plain(left) });
    const wrong = h("p", { class: "wrong", id: "how-much-wrong", role: "alert" });
    const act = button(null, "", done, { class: "primary", id: "do" });
    function read() { return typed(field.value || "x", exponent); }
    function draw() { const now = read(); text(act.querySelector("span"), now ? t(`do.${kind}`, { amount: money(now, sale.currency) }) : t(`kind.${kind}`)); }
    function done() {
      const now = read();
      const units = now === null ? 0n : minor(now, exponent);
      const problem = units <= 0n ? t("act.wrong", { example: plain(wire(1250n, exponent)) }) : !more && units > minor(left, exponent) ? t("act.too-much", { amount: shownLeft }) : "";
      text(wrong, problem);
      if (problem) { field.setAttribute("aria-invalid", "true"); field.focus(); } else close({ amount: now });
    }
    // The first digit replaces the proposed amount, as it does on a keyboard.
    let isProposed = !more;
    function press(name) {
      const before = isProposed ? 0n : minor(read() ?? "0", exponent);
      isProposed = false;
      field.value = plain(wire(name === "erase" ? unshift(before) : shift(before, name), exponent));
      draw();
    }
    field.addEventListener("input", () => { isProposed = false; draw(); });
    field.addEventListener("focus", () => field.select());
    onEnter(field, done);
    draw();
    return [h("label", { for: "how-much" }, t("act.amount")), field, h("p", { class: "hint", id: "how-much-hint" }, more ? t(`about.${kind}`) : t("act.at-most", { amount: shownLeft })), wrong,
      keypad(AMOUNT_KEYS, press), h("div", { class: "answers" }, act, closer(close))];
  }, "with-keys");
  if (!value) return;
  const by = stored ? { registration: sale.registration, acceptPartial: true } : { of: sale.reference };
  page.start({ kind, ...by, amount: value.amount });
}
/** Returns an amount as it is typed here: with the decimal sign of the language. */
const plain = (value) => (money("1.5", "EUR").includes(",") ? value.replace(".", ",") : value);
