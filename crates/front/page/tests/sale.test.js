// The screen of a transaction: the code that a customer scans, and the buttons after a decline.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { found, said } from "./elements.js";
import { ended, view } from "./playing.js";
import { saleScreen } from "../sale.js";
import { load } from "../words.js";

const WORDS = JSON.parse(readFileSync(new URL("../words/en.json", import.meta.url), "utf8"));
globalThis.fetch = async () => ({ json: async () => WORDS });
await load("en");

const job = (sale, more = {}) => ({
  reference: sale.reference, request: { kind: "sale", amount: "12.34" }, draft: null, mine: true, phase: "known", sale, fresh: true, posts: 1,
  begunAt: 0, step: null, wait: null, cancel: null, judged: null, problem: null, ...more,
});
const page = (one, tries = []) => ({
  state: () => ({ job: one, own: [one.reference], link: "up", open: [] }), settings: () => ({ exponent: 2, currency: "EUR" }),
  dispatch() {}, say() {}, tryAgain: () => tries.push("again"),
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
  assert.deepEqual(asked, [`/front/qr?text=${encodeURIComponent(redirectUrl)}`], "once");
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
  assert.match(said(screen.el), /The bank wants the PIN/);
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
