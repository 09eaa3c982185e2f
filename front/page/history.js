// What was done: a list that can be searched, and one transaction with everything that may be done with it.

import * as api from "./api.js";
import { button, dialog, fill, h, icon, text } from "./dom.js";
import { minor, typed, wire } from "./money.js";
import { failure, showReceipt } from "./receipt.js";
import { iconOf, whyOf, wordOf } from "./sale.js";
import { isUnderWay } from "./state.js";
import { clock, day, dayAndTime, first, money, t } from "./words.js";

const PAGE = 100;
/** A search looks back through so many pages before it asks whether to go on. */
const PAGES_AT_ONCE = 5;

/** Reads the list newest first: `next()` gives an older page. */
export function backwards() {
  let cursor = "";
  return {
    done: () => cursor === null,
    async next() {
      const from = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const { sales, next } = await api.get(api.ofSales(`?order=newest&limit=${PAGE}${from}`));
      cursor = next ?? null;
      return sales;
    },
  };
}

/** Whether a sale fits what was typed: an amount, a time, four digits, a part of the reference. */
export function fits(sale, wanted, exponent = 2, time = "") {
  const words = wanted.trim().toLowerCase();
  if (!words) return true;
  const amount = typed(words.replace(/[^\d.,-]/g, "") || "x", exponent);
  const amounts = [sale.amount, sale.approvedAmount].map((one) => one && typed(one, exponent));
  if (/^[\d.,]+\s*[^\d\s]{0,3}$/.test(words) && amount !== null && amounts.includes(amount)) return true;
  if (/^\d{1,2}:\d{0,2}$/.test(words) && time.startsWith(words.padStart(words.indexOf(":") === 1 ? words.length + 1 : 0, "0"))) return true;
  if (/^\d{4}$/.test(words) && sale.card?.last4 === words) return true;
  return sale.reference.toLowerCase().includes(words) || String(sale.number) === words;
}

export function historyScreen(page, argument) {
  const el = h("section", { class: "sales" });
  const { exponent, currency } = page.settings();
  const field = h("input", { id: "search", type: "search", autocomplete: "off", "aria-describedby": "search-hint", placeholder: t("sales.search-hint") });
  const list = h("ul", { class: "list" });
  const said = h("p", { class: "hint", role: "status" });
  const more = button(null, t("sales.more"), () => look(true), { class: "quiet", id: "more", hidden: true });
  const title = h("h1", { tabindex: "-1" }, t("sales.title"));
  fill(el, h("header", {}, title, h("div", { class: "search" }, icon("search"), h("label", { class: "unseen", for: "search" }, t("sales.search")), field,
    h("span", { class: "unseen", id: "search-hint" }, t("sales.search-hint")))), said, list, more);
  let source = backwards();
  let sales = [];
  let turn = 0;
  field.addEventListener("input", () => { draw(); if (field.value && !list.children.length) look(false); });

  async function look(further) {
    const mine = (turn += 1);
    text(said, t("loading"));
    try {
      for (let n = 0; n < PAGES_AT_ONCE && !source.done(); n += 1) {
        if (!further && n && found().length) break;
        sales.push(...await source.next());
        if (mine !== turn) return;
        if (found().length >= 20 || (!field.value && sales.length)) break;
      }
      draw();
    } catch (error) { text(said, failure(error)); }
  }
  const found = () => sales.filter((sale) => fits(sale, field.value, exponent, clock(sale.startedAt)));
  function draw() {
    const all = found();
    text(said, all.length ? t("sales.count", { count: all.length }) : t("sales.none"));
    more.hidden = source.done();
    const today = new Date().toDateString();
    fill(list, all.map((sale) => h("li", {}, h("button", {
      class: "entry", "data-reference": sale.reference, "data-outcome": sale.outcome ?? sale.state, onclick: () => showOne(sale.reference),
    }, h("span", { class: "badge" }, icon(iconOf(sale)), h("span", {}, wordOf(sale))),
    h("span", { class: "when" }, new Date(sale.startedAt).toDateString() === today ? clock(sale.startedAt) : `${day(sale.startedAt)} ${clock(sale.startedAt)}`),
    h("span", { class: "what" }, `${t(`kind.${sale.kind}`)}${sale.card?.last4 ? ` ·· ${sale.card.last4}` : ""}`),
    h("strong", { class: "sum" }, money(sale.approvedAmount ?? sale.amount, sale.currency ?? currency))))));
  }
  if (argument?.reference) showOne(argument.reference); else look(false);

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
    el, focus: title,
    /** What is on the screen is asked for anew when the connection is back, or when a sale has ended. */
    update({ link, job }) {
      el.dataset.stale = String(link === "lost" || link === "agent-down");
      const end = job?.sale?.state === "ended" ? job.reference : null;
      const again = (link === "up" && !wasUp) || (end && end !== lastEnd && lastEnd !== null);
      wasUp = link === "up";
      lastEnd = end ?? lastEnd ?? "";
      if (again && el.contains(list)) { source = backwards(); sales = []; look(false); }
      else if (again) { const shown = el.querySelector("[data-detail]")?.dataset.detail; if (shown) showOne(shown); }
    },
    press(event) {
      if (event.key === "Escape" && !el.contains(list)) { page.go("sales"); return true; }
      if (el.contains(list) && event.key.length === 1 && event.target.tagName !== "BUTTON") { field.focus(); }
      return false;
    },
  };
}

/** What may be done with a transaction, by its kind, its end and what is left of it. */
export function possible(sale, exponent = 2) {
  if (sale.state !== "ended" || !["approved", "partially-approved"].includes(sale.outcome)) return [];
  const left = sale.left === undefined ? null : minor(sale.left, exponent);
  const some = left === null || left > 0n;
  const untouched = !(sale.later ?? []).some((one) => one.kind !== "increment" && (one.state !== "ended" || one.outcome === "approved"));
  switch (sale.kind) {
    case "sale": case "by-registration": case "capture": return [some && "refund", some && untouched && "reversal"].filter(Boolean);
    case "pre-authorisation": return [some && "capture", some && untouched && "increment", some && untouched && "reversal"].filter(Boolean);
    case "credit": case "refund": return [untouched && sale.kind === "credit" && "reversal"].filter(Boolean);
    default: return [];
  }
}

const entryWord = (mode) => first([`entry.${mode}`], mode);

function detail(page, sale, back, reload) {
  const { exponent } = page.settings();
  const amount = (value) => money(value, sale.currency);
  const by = sale.by?.operator ?? sale.operator;
  const facts = [["why", whyOf(sale)], ["approved", sale.approvedAmount && sale.approvedAmount !== sale.amount && amount(sale.approvedAmount)], ["amount", amount(sale.amount)], ["tip", sale.tip && amount(sale.tip)],
    ["left", sale.left !== undefined && amount(sale.left)], ["started", dayAndTime(sale.startedAt)], ["ended", sale.endedAt && dayAndTime(sale.endedAt)],
    ["card", sale.card?.last4 && t("card.line", { brand: sale.card.brand ?? "", last4: sale.card.last4 })], ["entry", sale.card && entryWord(sale.card.entryMode)],
    ["reference", sale.reference], ["number", String(sale.number)], ["of", sale.of], ["by", by], ["approval", sale.approvalCode], ["payment", sale.paymentId], ["code", sale.code]];
  const acts = possible(sale, exponent).map((kind) => button(ICON_OF_ACT[kind], t(`act.${kind}`), () => follow(page, sale, kind), { class: kind === "refund" || kind === "capture" ? "primary" : "quiet", "data-act": kind }));
  const open = sale.state !== "ended" && button("reversed", t("again"), reload, { class: "quiet" });
  return [
    h("header", { "data-detail": sale.reference }, button("back", t("back"), back, { class: "quiet", id: "back", "aria-label": t("detail.back") }), h("h1", { tabindex: "-1" }, t("detail.title", { kind: t(`kind.${sale.kind}`), number: sale.number }))),
    h("div", { class: "one" },
      h("div", { class: "head", "data-outcome": sale.outcome ?? sale.state }, h("span", { class: "badge" }, icon(iconOf(sale)), h("span", {}, wordOf(sale))), h("strong", { class: "sum" }, amount(sale.approvedAmount ?? sale.amount))),
      h("div", { class: "answers", role: "group", "aria-label": t("detail.actions") }, acts, button("sales", t("outcome.receipt"), () => showReceipt(page, sale), { class: "quiet", id: "receipt" }), open),
      h("dl", {}, facts.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, t(`fact.${name}`)), h("dd", {}, value)))),
      sale.later?.length ? [h("h2", {}, t("detail.later")), h("ul", { class: "list" }, sale.later.map((one) => h("li", {}, h(one.reference ? "button" : "div", {
        type: one.reference ? "button" : null, class: "entry", onclick: one.reference ? () => page.go("sales", one) : null,
      }, h("span", { class: "badge" }, icon(iconOf(one)), h("span", {}, wordOf(one))), h("span", { class: "what" }, t(`kind.${one.kind}`)), h("strong", { class: "sum" }, money(one.amount, one.currency))))))] : null),
  ];
}
const ICON_OF_ACT = { refund: "reversed", reversal: "cancelled", capture: "approved", increment: "more" };

/** Asks how much, and begins it. */
async function follow(page, sale, kind) {
  const { exponent, currency } = page.settings();
  const left = sale.left ?? sale.approvedAmount ?? sale.amount;
  const shownLeft = money(left, sale.currency ?? currency);
  if (isUnderWay(page.state().job)) return page.showOutcome();
  if (kind === "reversal") {
    const sure = await dialog(t("kind.reversal"), (close) => [h("p", {}, t("act.sure", { amount: money(sale.approvedAmount ?? sale.amount, sale.currency) })),
      h("div", { class: "answers" }, button("cancelled", t("do.reversal", { amount: shownLeft }), () => close(true), { class: "primary no", id: "do" }), button("close", t("no"), () => close(null), { class: "quiet", "data-first": true }))]);
    return sure && page.start({ kind, of: sale.reference });
  }
  const more = kind === "increment";
  const value = await dialog(t(`kind.${kind}`), (close) => {
    const field = h("input", { id: "how-much", type: "text", inputmode: "decimal", autocomplete: "off", "data-first": true, "aria-describedby": "how-much-hint how-much-wrong", value: more ? "" : plain(left) });
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
    field.addEventListener("input", draw);
    field.addEventListener("focus", () => field.select());
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); done(); } });
    draw();
    return [h("label", { for: "how-much" }, t("act.amount")), field, h("p", { class: "hint", id: "how-much-hint" }, more ? t(`about.${kind}`) : t("act.at-most", { amount: shownLeft })), wrong,
      h("div", { class: "answers" }, act, button("close", t("no"), () => close(null), { class: "quiet" }))];
  });
  if (value) page.start({ kind, of: sale.reference, amount: value.amount });
}
/** An amount as it is typed here: with the language's decimal sign. */
const plain = (value) => (money("1.5", "EUR").includes(",") ? value.replace(".", ",") : value);
