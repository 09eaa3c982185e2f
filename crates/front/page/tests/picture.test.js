// What the customer sees: each state of a transaction, and nothing that is old or that the customer must not read.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pictureOf, staysMs } from "../picture.js";
import { ended, play, up, view } from "./playing.js";

const WORDS = JSON.parse(readFileSync(new URL("../words/en.json", import.meta.url), "utf8"));
const has = (key) => { const [, group, name] = /^([^.]*)\.?(.*)$/.exec(key); return typeof WORDS[group]?.[name] === "string"; };
/** Returns the job of a customer's screen that has heard these events about the transaction. */
const job = (sale, ...events) => play(up(), { type: "status", status: { current: view() } }, ...(sale ? [{ type: "step", data: { till: "local", reference: "r-1", step: sale.state, sale } }] : []),
  ...events.map((step) => ({ type: "step", data: { till: "local", reference: "r-1", step } })))[0].job;
const shown = (sale, { events = [], ...how } = {}) => pictureOf(job(sale, ...events), { link: "up", ...how });

test("each picture has texts, and a sum where the customer pays or gets money", () => {
  const running = ["choosing-tip", "present-card", "insert-card", "swipe-card", "try-again", "type-card", "choosing-application", "reading-card", "pin-entry", "pin-wrong", "pin-done", "remove-card", "a-later-step"];
  const pictures = [
    ...running.map((step) => shown(null, { events: [step] })),
    ...["in-progress", "awaiting-signature", "awaiting-till", "unconfirmed", "unconfirmed-finishing", "a-later-state"].map((state) => shown(view({ state }))),
    ...["sale", "pre-authorisation", "credit", "store-card", "refund", "reversal"].flatMap((kind) =>
      ["approved", "partially-approved", "declined", "cancelled", "not-sent", "reversed"].map((outcome) => shown(ended(outcome, { kind })))),
    ...["lost", "agent-down", "unpaired"].map((link) => shown(null, { link })),
  ];
  for (const { name, title, hint, icon, sumWord } of pictures) {
    assert.ok(icon && title.some(has) && (!hint || has(hint)) && (!sumWord || has(sumWord)), `${name} ${title} ${hint} ${sumWord}`);
  }
  const sums = pictures.filter((one) => one.sumWord).map((one) => one.name);
  assert.deepEqual([...new Set(sums)].sort(), ["approved", "partial", "pay", "unconfirmed"]);
});

test("without a connection no amount is shown, whatever was shown before", () => {
  for (const sale of [null, view({ state: "in-progress" }), view({ state: "unconfirmed" }), ended("approved")]) {
    for (const link of ["connecting", "lost", "agent-down", "unpaired", "a-later-word"]) {
      const picture = shown(sale, { link });
      assert.ok(!picture.sumWord && ["idle", "lost", "unpaired"].includes(picture.name), `${link} ${picture.name}`);
    }
  }
});

test("between two customers only the shop is shown", () => {
  assert.deepEqual(pictureOf(null, { link: "up" }), { name: "idle" });
});

test("the customer is told where the card goes, as the reader offers it", () => {
  const title = (...events) => shown(null, { events }).title[0];
  assert.deepEqual([title(), title("present-card"), title("insert-card"), title("swipe-card")], ["customer.present", "customer.present", "step.insert-card", "step.swipe-card"]);
  assert.equal(title("present-card", "pin-done"), "customer.wait", "nobody is asked for a card that is in");
});

test("at the PIN the customer covers the keypad, and a wrong PIN is said until the next one is entered", () => {
  const at = (...events) => { const { title, hint } = shown(null, { events }); return [title[0], hint]; };
  assert.deepEqual(at("pin-entry"), ["step.pin-entry", "customer.cover"]);
  assert.deepEqual(at("pin-entry", "pin-wrong", "pin-entry"), ["step.pin-wrong", "customer.cover"]);
  assert.deepEqual(at("pin-entry", "pin-wrong", "pin-entry", "pin-done"), ["customer.wait", null]);
});

test("an outcome is said in its own words; no approval of money back is called a payment", () => {
  const title = (outcome, kind) => shown(ended(outcome, { kind })).title[0];
  assert.deepEqual(["approved", "declined", "cancelled", "not-sent", "reversed"].map((outcome) => title(outcome, "sale")),
    ["customer.approved", "customer.declined", "customer.cancelled", "customer.not-sent", "customer.reversed"]);
  for (const kind of ["refund", "credit", "reversal"]) {
    assert.ok(has(title("approved", kind)) && title("approved", kind).startsWith("outcome."), kind);
    assert.ok(!has(title("declined", kind)), `${kind}: the second key says it`);
  }
  assert.deepEqual([title("declined", "pre-authorisation"), title("approved", "pre-authorisation")], ["customer.declined", "outcome.approved.pre-authorisation"]);
  assert.equal(shown(ended("partially-approved")).tone, "warn");
});

test("only what is to be paid is called so, and only what is paid", () => {
  const beside = (sale) => shown(sale).sumWord;
  assert.deepEqual([view(), ended("approved"), ended("partially-approved"), view({ state: "unconfirmed" })].map(beside), ["customer.due", "customer.paid", "customer.paid", "kind.sale"]);
  for (const sale of [view({ kind: "refund", state: "in-progress" }), ended("approved", { kind: "refund" })]) assert.equal(beside(sale), "kind.refund");
  assert.equal(beside(view({ kind: "store-card" })), false);
});

test("nothing is an outcome before it is one", () => {
  for (const state of ["waiting-for-card", "in-progress", "awaiting-signature", "awaiting-till", "a-later-state"]) assert.equal(shown(view({ state })).name, "pay", state);
  for (const state of ["unconfirmed", "unconfirmed-finishing"]) assert.equal(shown(view({ state, needsPerson: "call" })).name, "unconfirmed", state);
  assert.equal(shown(view({ state: "in-progress" }), { unsure: true }).name, "unconfirmed", "its end was missed");
});

test("a card that is still in is named beside the outcome, which stays until it is out", () => {
  const picture = shown(ended("approved"), { cardLeft: true });
  assert.deepEqual([picture.name, picture.hint], ["approved", "step.remove-card"]);
  assert.equal(staysMs(picture, true), null);
  assert.equal(staysMs(picture, false), 30000);
});

test("an outcome stays half a minute, an unconfirmed one longer, a payment until its end", () => {
  for (const outcome of ["approved", "partially-approved", "declined", "cancelled", "not-sent", "reversed"]) assert.equal(staysMs(shown(ended(outcome))), 30000, outcome);
  assert.equal(staysMs(shown(view({ state: "unconfirmed" }))), 120000);
  for (const picture of [shown(null), shown(null, { link: "lost" }), pictureOf(null, { link: "up" })]) assert.equal(staysMs(picture), null, picture.name);
});

test("a code is shown where the front has drawn one: for the confirmation, and for the receipt", () => {
  const qr = { size: 29, path: "M0 0h1v1h-1z" };
  const at = (sale) => Boolean(shown(sale).hasCode);
  assert.deepEqual([at(view({ state: "in-progress", qr })), at(ended("approved", { qr })), at(ended("declined", { qr })), at(ended("approved"))], [true, true, false, false]);
});
