// The screen of a transaction: the code that a customer scans, and the buttons after a decline.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { found, said } from "./elements.js";
import { ended, play, up, view } from "./playing.js";
import { deviceWords } from "../parts.js";
import { printCopy } from "../receipt.js";
import { barOf, saleScreen } from "../sale.js";
import { limited } from "../api.js";
import { load } from "../words.js";

const WORDS = JSON.parse(readFileSync(new URL("../words/en.json", import.meta.url), "utf8"));
globalThis.fetch = async () => ({ ok: true, json: async () => WORDS });
await load("en");

const job = (sale, more = {}) => ({
  reference: sale.reference, request: { kind: "sale", amount: "12.34" }, draft: null, mine: true, phase: "known", sale, fresh: true, posts: 1,
  begunAt: 0, step: null, wait: null, cancel: null, judged: null, problem: null, ...more,
});
const page = (one, tries = []) => ({
  state: () => ({ job: one, own: [one.reference], link: "up", open: [] }), settings: () => ({ exponent: 2, currency: "EUR" }),
  dispatch() {}, say() {}, printCopy, tryAgain: () => tries.push("again"),
});

test("where the customer acts stands as a code, and in words too", async () => {
  const redirectUrl = "https://bank.example/pay?id=1&x=ä";
  const asked = [];
  globalThis.fetch = async (path) => { asked.push(path); return { ok: true, text: async () => JSON.stringify({ size: 37, path: "M4 4h7v1h-7z" }) }; };
  const now = job(view({ state: "in-progress", redirectUrl }), { step: { word: "customer-acts" } });
  const screen = saleScreen(page(now), { job: now });
  const state = { job: now, link: "up" };
  screen.update(state);
  screen.update(state);
  await new Promise(setImmediate);
  assert.deepEqual(asked, ["/front/qr/r-1?till=local"], "once, and the agent says which address");
  const code = found(screen.el, "class", "qr");
  assert.equal(code.getAttribute("viewBox"), "0 0 37 37");
  assert.ok(found(code, "d", "M4 4h7v1h-7z"));
  assert.match(said(screen.el), /bank\.example/);
  // Without the QR code the text is enough.
  globalThis.fetch = async () => { throw new Error("the line is cut"); };
  const other = saleScreen(page(now), { job: now });
  other.update(state);
  await new Promise(setImmediate);
  assert.equal(found(other.el, "class", "qr"), undefined);
  assert.match(said(other.el), /bank\.example/);
});

test("after a tap that the bank did not take the chief button inserts the card", () => {
  const tries = [];
  const now = job(ended("declined", { reason: "insert-and-pin" }));
  const screen = saleScreen(page(now, tries), { job: now });
  screen.update({ job: now, link: "up", own: [now.reference] });
  const chief = found(screen.el, "class", "primary");
  assert.equal(chief.getAttribute("id"), "retry");
  assert.match(said(chief), /^Insert the card: .*12\.34/);
  assert.match(said(screen.el), /The bank requires the PIN/);
  chief.removeAttribute("aria-disabled");
  chief.click();
  assert.deepEqual(tries, ["again"]);
});

test("a card that the bank has given up is not tried again", () => {
  for (const [reason, offered] of [["do-not-try-again", false], ["bank-declined", true]]) {
    const now = job(ended("declined", { reason }));
    const screen = saleScreen(page(now), { job: now });
    screen.update({ job: now, link: "up", own: [now.reference] });
    assert.equal(!!found(screen.el, "id", "retry"), offered, reason);
    assert.equal(found(screen.el, "class", "primary").getAttribute("id"), "new", reason);
  }
});

/** Returns the screen of a job as the page shows it. */
function shown(now, more = {}) {
  const state = { job: now, own: [now.reference], link: "up", open: [], status: null, ...more };
  const screen = saleScreen({ ...page(now), state: () => state }, state);
  screen.update(state);
  return screen;
}
const SETTINGS = { exponent: 2, currency: "EUR" };

test("other screens name a refused request by its amount, and nothing that it does not have", () => {
  const refused = { ...job(view()), sale: null, phase: "refused", problem: { code: "amount" } };
  assert.equal(barOf({ own: ["r-1"] }, refused, SETTINGS), "€12.34: Not possible");
  assert.equal(barOf({ own: ["r-1"] }, { ...refused, phase: "not-begun" }, SETTINGS), "€12.34: Not started");
  assert.match(barOf({ own: ["r-1"] }, job(ended("declined")), SETTINGS), /^€12\.34 of \d\d:\d\d: Declined$/);
  assert.equal(barOf({ own: ["r-1"] }, job(view()), SETTINGS), "A payment is running: €12.34");
});

test("a wrong PIN is told until the next one is entered, although the reader asks for it at once", () => {
  const step = (word, text = "") => ({ type: "step", data: { reference: "r-1", step: word, text } });
  const begun = [{ type: "start", reference: "r-1", request: { kind: "sale", amount: "12.34" } }, { type: "posted", reference: "r-1", sale: view() }];
  let [state] = play(up(), ...begun, step("pin-entry"), step("pin-wrong", "Wrong PIN, 1 try left"), step("pin-entry"));
  assert.match(said(shown(state.job).el), /Enter the PIN on the reader Wrong PIN: one try left/);
  [state] = play(state, step("pin-entry", "**"));
  assert.match(said(shown(state.job).el), /•• Wrong PIN: one try left/);
  [state] = play(state, step("pin-done"));
  assert.doesNotMatch(said(shown(state.job).el), /Wrong PIN/);
  for (const [text, words] of [["Falsche PIN, noch 2 Versuche", "Wrong PIN: 2 tries left"], ["Wrong PIN", "Wrong PIN"]]) {
    const [one] = play(up(), ...begun, step("pin-wrong", text));
    assert.match(said(shown(one.job).el), new RegExp(`${words}( |$)`));
  }
});

test("the customer chooses a tip, and is not asked for the card meanwhile", () => {
  const words = said(shown(job(view(), { step: { word: "choosing-tip", text: "ENTER TIP" } })).el);
  assert.ok(words.includes(WORDS.step["choosing-tip"]) && !words.includes(WORDS.step["present-card"]), words);
});

test("after an outcome the cashier reads what the devices need, as long as they need it", () => {
  const status = { reader: { state: "ready", cardLeft: true }, printers: [{ state: "ready" }] };
  const approved = job(ended("approved"));
  const screen = shown(approved, { status });
  assert.match(said(screen.el), /Take the card out/);
  screen.update({ job: approved, link: "up", own: ["r-1"], status: { ...status, reader: { state: "ready", cardLeft: false } } });
  assert.doesNotMatch(said(screen.el), /Take the card out/);
  const paperless = { ...status, reader: { state: "ready" }, printers: [{ state: "ready" }, { state: "no-paper" }] };
  assert.match(said(shown(approved, { status: paperless }).el), /Printer: No paper: put a new roll in/);
  assert.doesNotMatch(said(shown(approved, { status: paperless, link: "lost" }).el), /No paper/, "what is old is not said");
});

test("an approved sale offers the customer's receipt as the agent says: on paper, as a code, or not at all", () => {
  const receiptUrl = "https://shop.example/r/r-1";
  for (const [more, offered] of [
    [{}, ["new", "receipt"]],
    [{ receiptOnDemand: true }, ["new", "print", "receipt"]],
    [{ receiptUrl }, ["new", "code", "receipt"]],
    [{ receiptOnDemand: true, receiptUrl }, ["new", "print", "code", "receipt"]],
  ]) {
    const buttons = shown(job(ended("approved", more))).el.all.filter((one) => one.tagName === "BUTTON");
    assert.deepEqual(buttons.map((one) => one.getAttribute("id")), offered, JSON.stringify(more));
  }
});

test("the customer's copy is demanded once, and again only after a failure", async () => {
  const asked = [];
  const answers = [{ ok: false, status: 503, body: { code: "printer" } }, { ok: true, status: 202, body: { state: "no-paper" } }];
  globalThis.fetch = async (path, { method }) => {
    asked.push(`${method} ${path}`);
    const { ok, status, body } = answers.shift();
    return { ok, status, headers: { get: () => null }, text: async () => JSON.stringify(body) };
  };
  const { el } = shown(job(ended("approved", { receiptOnDemand: true, till: "kasse-2" })));
  const print = found(el, "id", "print");
  print.removeAttribute("aria-disabled");
  const pressed = async () => { print.click(); print.click(); await new Promise(setImmediate); };
  await pressed();
  assert.match(said(el), /The receipt cannot be printed/);
  await pressed();
  assert.match(said(el), /No paper.*The receipt waits/);
  await pressed();
  assert.deepEqual(asked, Array(2).fill("POST /v1/sales/r-1/receipt?copy=customer&till=kasse-2"));
});

test("the keypad names the device that cannot work, and none that can", () => {
  for (const [reader, printer, words] of [
    ["ready", "ready", ""], ["opening", "paper-low", ""], ["lost", "ready", "Card reader: The card reader is not responding; check its cable and power, then start again."],
    ["ready", "cover-open", "Printer: The cover is open: close it."], ["ready", "a-later-word", ""],
  ]) assert.equal(deviceWords({ reader: { state: reader }, printers: [{ state: printer }] }), words, `${reader} ${printer}`);
});

test("while the terminal is gone no cancel is offered, and the words say what happens", () => {
  const now = job(view(), { fresh: false });
  for (const [link, words, hidden] of [["agent-down", "hint.agent-down", true], ["lost", "hint.lost", true], ["up", "hint.card", false]]) {
    const { el } = shown({ ...now, fresh: link === "up" }, { link });
    assert.equal(found(el, "id", "cancel").hidden, hidden, link);
    assert.ok(said(el).includes(WORDS.hint[words.split(".")[1]]), `${link}: ${said(el)}`);
  }
});

test("a supervisor's word is a step, and the technician's words are folded away from the cashier's", () => {
  const refused = (problem) => shown({ ...job(view()), sale: null, phase: "refused", problem });
  const step = refused({ code: "supervisor-needed", detail: "kind refund needs a supervisor ([operators.supervisor-above])" });
  assert.equal(step.el.getAttribute("data-asks"), "true");
  assert.equal(said(step.el).includes("A supervisor must confirm"), true);
  assert.doesNotMatch(said(step.el), /\[operators/);
  // The screen that calls a person is an alarm, and no step.
  assert.equal(shown(job(view({ state: "unconfirmed", needsPerson: "x" }))).el.getAttribute("data-asks"), "false");
  const { el } = refused({ code: "amount", detail: "100.00 is more than [terminal] max-credit-amount" });
  const fold = el.all.find((one) => one.tagName === "DETAILS");
  assert.match(said(fold), /^For the technician .*max-credit-amount/);
  const outside = el.all.filter((one) => !one.all.includes(fold) && !fold.all.includes(one));
  assert.ok(!outside.some((one) => said(one).includes("max-credit-amount")));
});

test("money that leaves the shop has a sign and a mark", () => {
  for (const [kind, out] of [["refund", true], ["reversal", true], ["credit", true], ["sale", false], ["capture", false]]) {
    const { el } = shown(job(ended("approved", { kind, number: 8 })));
    assert.equal(el.getAttribute("data-out"), String(out), kind);
    assert.equal(said(found(el, "class", "sum")), out ? "− €12.34" : "€12.34", kind);
  }
});

test("a screen reader hears the outcome's title once, from its focus, and the amount with the rest", () => {
  const screen = shown(job(ended("declined", { reason: "bank-declined" })));
  assert.equal(said(screen.focus), "Declined");
  assert.match(screen.said, /^€12\.34\. Nothing was charged\./);
  assert.doesNotMatch(screen.said, /Declined/);
});

test("a request ends by its limit, by its owner, and not after it is over", async () => {
  const late = limited(undefined, 1);
  await new Promise((done) => { late.signal.addEventListener("abort", done); });
  const owner = new AbortController();
  const owned = limited(owner.signal, 0);
  owner.abort();
  assert.ok(owned.signal.aborted && limited(owner.signal, 0).signal.aborted);
  const over = new AbortController();
  const ended = limited(over.signal, 60000);
  ended.end();
  over.abort();
  assert.ok(!ended.signal.aborted, "and its timer keeps no process alive");
});
