// The day: the amounts taken, by kind and card, a chart by hour, and the close of day.

import * as api from "./api.js";
import { button, closer, dialog, fill, h, s, text } from "./dom.js";
import { backwards } from "./history.js";
import { minor, wire } from "./money.js";
import { failure, showClose } from "./receipt.js";
import { isLost } from "./state.js";
import { dayAndTime, clock, money, t } from "./words.js";

/** The kinds by which money comes in and goes out. Reservations are neither. */
const IN = ["sale", "capture", "by-registration"];
const OUT = ["refund", "credit", "reversal"];
const RESERVES = ["pre-authorisation", "pre-authorisation-by-registration", "increment", "reauthorisation"];

/** Returns the minor units that came in and went out in each hour of the day (0 to 23), for transactions of one day. */
export function byHour(sales, exponent, hourOf = (time) => new Date(time).getHours()) {
  const hours = Array.from({ length: 24 }, () => ({ taken: 0n, given: 0n, count: 0 }));
  for (const sale of sales) {
    if (sale.state !== "ended" || !["approved", "partially-approved"].includes(sale.outcome)) continue;
    const units = minor(sale.approvedAmount ?? sale.amount, exponent) ?? 0n;
    const hour = hours[hourOf(sale.startedAt)];
    if (IN.includes(sale.kind)) { hour.taken += units; hour.count += 1; }
    // The reversal of a reservation gives no money back, because none was taken.
    if (OUT.includes(sale.kind) && !(sale.kind === "reversal" && sale.reserved)) hour.given += units;
  }
  return hours;
}

/** Marks the reversals of reservations, as far as the list contains the reservations. */
export function markReserved(sales) {
  const kinds = new Map(sales.map((sale) => [sale.reference, sale.kind]));
  return sales.map((sale) => (sale.kind === "reversal" && RESERVES.includes(kinds.get(sale.of)) ? { ...sale, reserved: true } : sale));
}

/** Reads the next close as it would be at present; the terminal adds the sums. */
const openClose = () => api.get("/v1/closes/open");
/** Returns the net of a close, for each currency; the terminal has added it. */
export const netOf = ({ net }, currency) => (net.length ? net : [{ net: "0", currency }]).map((line) => money(line.net, line.currency)).join(" · ");
/** Returns the number of transactions that moved money. */
export const countOf = ({ net }) => net.map((line) => line.count).join(" · ") || "0";

export function dayScreen(page) {
  const { exponent, currency } = page.settings();
  const title = h("h1", { tabindex: "-1" }, t("day.title"));
  const said = h("p", { class: "hint", role: "status" }, t("loading"));
  const place = h("div", { class: "figures" });
  const graph = h("div", { class: "graph" });
  // They stand above the tables, so that a small screen shows them without scrolling.
  const acts = h("div", { class: "answers" }, button("journal", t("day.close"), closeDay, { class: "primary", id: "close-day" }), button("sales", t("day.preview"), () => showClose("open"), { class: "quiet", id: "preview" }));
  const closing = h("div", { class: "closing" });
  const el = h("section", { class: "day" }, h("header", {}, title), said, h("div", { class: "columns" }, h("div", {}, place, closing), graph));
  const amount = (units) => money(wire(units, exponent), currency);
  let mine = 0;

  async function look() {
    const turn = (mine += 1);
    try {
      const { closes } = await api.get("/v1/closes?limit=10");
      const open = await openClose();
      const today = await readToday();
      if (turn !== mine) return;
      text(said, open.period.from ? t("day.since", { time: dayAndTime(open.period.from) }) : "");
      drawTotals(open);
      drawChart(today ? byHour(markReserved(today), exponent) : []);
      drawCloses(closes);
    } catch (error) { if (turn === mine) text(said, failure(error)); }
  }
  /** Returns the transactions of this calendar day, for the chart; null when there are too many to read. */
  async function readToday() {
    const midnight = new Date(page.state().status?.clock?.time ?? Date.now()).setHours(0, 0, 0, 0);
    const source = backwards();
    const sales = [];
    for (let pages = 0; pages < 50 && !source.done(); pages += 1) {
      const found = await source.next();
      const today = found.filter((sale) => Date.parse(sale.startedAt) >= midnight);
      sales.push(...today);
      if (today.length < found.length) return sales;
    }
    return source.done() ? sales : null;
  }

  const rows = (lines, name) => lines.map((line) => h("tr", {}, h("th", { scope: "row" }, name(line)), h("td", {}, t("day.count", { count: line.count })), h("td", { class: "sum" }, money(line.sum, line.currency))));
  const kindWord = (line) => t(`kind.${line.kind}`);
  function drawTotals(totals) {
    const small = ["declined", "cancelled", "notSent", "takenBack"].filter((name) => totals[name]).map((name) => h("li", {}, `${t(`day.${name}`)} `, h("strong", {}, String(totals[name]))));
    if (totals.open.length) small.push(h("li", { class: "warn" }, `${t("day.open")} `, h("strong", {}, String(totals.open.length))));
    fill(place,
      h("p", { class: "net" }, h("span", {}, t("day.net")), h("strong", {}, netOf(totals, currency))), acts,
      totals.kinds.length ? h("table", {}, h("caption", { class: "unseen" }, t("day.kinds")), h("tbody", {}, rows(totals.kinds, kindWord), rows(totals.tips, () => t("day.tips")))) : h("p", { class: "hint" }, t("day.nothing")),
      shift(totals),
      totals.schemes.length ? [h("h2", {}, t("day.brands")), h("table", {}, h("tbody", {}, rows(totals.schemes, (line) => `${line.scheme} · ${kindWord(line)}`)))] : null,
      small.length ? h("ul", { class: "small" }, small) : null);
  }

  /** Shows the sums of the signed-in operator since the last close. */
  function shift({ operators = [], shifts = [] }) {
    const name = page.session()?.operator;
    const mine = shifts.find((one) => one.operator === name);
    const net = operators.filter((one) => one.name === name).map((line) => ({ ...line, sum: line.net }));
    return mine ? [h("h2", {}, t("day.mine", { name })), h("table", { id: "mine" }, h("tbody", {}, rows(mine.kinds, kindWord), rows(mine.tips, () => t("day.tips")), rows(net, () => t("day.net"))))] : null;
  }

  function drawChart(hours) {
    const used = hours.map((hour, n) => [n, hour]).filter(([, hour]) => hour.taken || hour.given);
    if (!used.length) return fill(graph);
    const firstHour = Math.max(0, Math.min(used[0][0], 8)), lastHour = Math.min(23, Math.max(used.at(-1)[0], 18));
    const shown = hours.slice(firstHour, lastHour + 1).map((hour, n) => ({ ...hour, at: firstHour + n }));
    const top = Number(shown.reduce((max, hour) => [hour.taken, hour.given, max].reduce((a, b) => (a > b ? a : b)), 1n));
    const wide = 100 / shown.length;
    const name = (n) => clock(new Date(2000, 0, 1, n));
    const bar = (units, kind, x, w) => { const tall = (Number(units) / top) * 80; return units ? s("rect", { class: kind, x, y: 88 - tall, width: w, height: Math.max(tall, 0.8), rx: 0.6 }) : null; };
    const picture = s("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", class: "bars", "aria-hidden": "true" },
      [8, 48, 88].map((y) => s("line", { class: "grid", x1: 0, x2: 100, y1: y, y2: y })),
      shown.map((hour, n) => [bar(hour.taken, "taken", n * wide + wide * 0.14, wide * (hour.given ? 0.4 : 0.72)), bar(hour.given, "given", n * wide + wide * 0.56, wide * 0.3)]).flat());
    const table = h("table", {}, h("caption", { class: "unseen" }, t("day.chart")),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("day.hour")), h("th", { scope: "col" }, t("day.taken")), h("th", { scope: "col" }, t("day.given")))),
      h("tbody", {}, used.map(([n, hour]) => h("tr", {}, h("th", { scope: "row" }, name(n)), h("td", { class: "sum" }, amount(hour.taken)), h("td", { class: "sum" }, amount(hour.given))))));
    fill(graph, h("h2", {}, t("day.chart")),
      h("p", { class: "legend" }, h("span", { class: "taken" }, t("day.taken")), h("span", { class: "given" }, t("day.given"))),
      h("div", { class: "chart" }, picture, h("div", { class: "hours", "aria-hidden": "true" }, shown.map((hour) => h("span", {}, String(hour.at))))),
      h("details", {}, h("summary", {}, t("day.table")), table));
  }

  function drawCloses(closes) {
    fill(closing, closes.length ? [h("h2", {}, t("day.closes")), h("ul", { class: "list" }, closes.map((one) => h("li", { class: "line" }, h("span", {}, `${one.number} · ${dayAndTime(one.period?.to)}`), h("strong", { class: "sum" }, (one.net ?? []).map((line) => money(line.net, line.currency)).join(" · ")),
        button("sales", t("running.show"), () => showClose(one.number, () => print(one.number)), { class: "quiet", "data-close": one.number }))))] : null);
  }
  async function print(number) {
    try { await api.post(`/v1/closes/${number}/print`, {}); return t("receipt.printing"); } catch (error) { return failure(error); }
  }
  async function closeDay() {
    let open;
    try { open = await openClose(); } catch (error) { return text(said, failure(error)); }
    const sure = await dialog(t("day.close"), (close) => [h("p", { id: "close-what" }, t("day.closes-what", { net: netOf(open, currency), count: countOf(open) })), h("p", {}, t("day.close-sure")),
      h("div", { class: "answers" }, button("journal", t("day.close"), () => close(true), { class: "primary", id: "do" }), closer(close))]);
    if (!sure) return;
    // The reference stays the same until there is an answer, so a close whose answer was lost is not made twice.
    closing.reference ??= `close-${Date.now().toString(36)}`;
    try {
      const made = await api.post("/v1/closes", { reference: closing.reference, print: true });
      delete closing.reference;
      await look();
      text(said, t("day.closed", { number: made.number, net: netOf(made, currency), count: countOf(made) }) + (made.notPrinted ? ` ${t("problem.printer")}` : ""));
    } catch (error) { text(said, failure(error)); }
  }
  look();
  let wasUp = page.state().link === "up";
  let ended = page.state().job?.sale?.state === "ended";
  return {
    el, focus: title,
    update({ link, job }) {
      el.dataset.stale = String(isLost(link));
      const isEnded = job?.sale?.state === "ended";
      if ((link === "up" && !wasUp) || (isEnded && !ended)) look();
      wasUp = link === "up";
      ended = isEnded;
    },
  };
}
