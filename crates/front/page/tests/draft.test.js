// A repeated transaction has the same data, a refused draft is never replaced, and the paid amount is one number.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY, payable, requestOf, restOf, toApprove } from "../draft.js";
import { begin, mayBeReplaced, mayTryAgain, screenOf, whose } from "../state.js";
import { ended as over, play, up, view as shown } from "./playing.js";

const view = (more = {}) => shown({ amount: "48.00", ...more });
const ended = (outcome, more = {}) => over(outcome, { amount: "48.00", ...more });
const DRAFT = { kind: "sale", amount: "48.00", tip: 10, reference: "table-4", registration: "" };
const tried = (draft, sale) => play(up(), { type: "start", reference: "r-1", draft, request: requestOf(draft, 2) }, { type: "posted", reference: "r-1", sale });
const AGAIN = { type: "try-again", reference: "r-2" };

test("what is tried again is what was tried: kind, amount, tip, reference and stored card, under a new reference", () => {
  for (const draft of [
    DRAFT, { ...DRAFT, tip: "ask" }, { ...DRAFT, kind: "pre-authorisation", tip: null }, { ...DRAFT, kind: "credit", tip: null },
    { ...DRAFT, kind: "by-registration", tip: null, registration: "8ac7a4a1000000000000000000000007" },
  ]) for (const outcome of ["declined", "cancelled", "not-sent", "reversed"]) {
    const [state] = tried(draft, ended(outcome, { kind: draft.kind }));
    const [next, done] = play(state, AGAIN);
    const post = done.find((effect) => effect.do === "post");
    assert.deepEqual(post, { do: "post", reference: "r-2", request: requestOf(draft, 2) }, `${draft.kind} ${outcome}`);
    assert.deepEqual([next.job.draft, next.job.reference], [draft, "r-2"]);
    assert.equal(post.approval, undefined, "a supervisor is asked anew");
  }
});

test("it is tried again only where it is certain that the shop has nothing, or takes it back", () => {
  for (const [sale, may] of [
    [view(), false], [view({ state: "in-progress" }), false], [view({ state: "awaiting-signature" }), false],
    [ended("approved"), false], [ended("partially-approved", { approvedAmount: "5.00" }), false],
    [view({ state: "unconfirmed" }), true], [view({ state: "unconfirmed", needsPerson: "x" }), false],
    [view({ state: "unconfirmed-finishing" }), false], [view({ state: "unconfirmed", kind: "refund" }), false],
    [view({ state: "unconfirmed", kind: "by-registration" }), false],
    [ended("declined"), true],
  ]) {
    const [state] = tried(DRAFT, sale);
    assert.equal(mayTryAgain(state.job), may, JSON.stringify(sale));
    const [, done] = play(state, AGAIN);
    assert.equal(done.some((effect) => effect.do === "post"), may);
  }
  const [theirs] = play(up(), { type: "step", data: { till: "till-2", reference: "x", step: "waiting-for-card", sale: view({ till: "till-2", reference: "x" }) } });
  const [ends] = play(theirs, { type: "step", data: { till: "till-2", reference: "x", step: "ended", sale: ended("declined", { till: "till-2", reference: "x" }) } });
  assert.equal(screenOf(ends.job), "declined");
  assert.equal(mayTryAgain(ends.job), false, "another's is not this page's to repeat");
});

test("a refusal, and what a person must read or decide, is never replaced by another's transaction", () => {
  const theirs = (outcome) => [
    { type: "step", data: { till: "till-2", reference: "x", step: "waiting-for-card", sale: view({ till: "till-2", reference: "x" }) } },
    { type: "status", status: { current: view({ till: "till-2", reference: "x" }), unconfirmed: [] } },
    { type: "step", data: { till: "till-2", reference: "x", step: "ended", sale: ended(outcome, { till: "till-2", reference: "x" }) } },
  ];
  const refused = play(up(), { type: "start", reference: "r-1", draft: DRAFT, request: requestOf(DRAFT, 2) }, { type: "post-refused", reference: "r-1", problem: { code: "busy", status: 409 } })[0];
  const mine = ["declined", "cancelled", "not-sent", "reversed", "partially-approved"].map((outcome) => tried(DRAFT, ended(outcome, { approvedAmount: "5.00" }))[0]);
  for (const state of [refused, ...mine, tried(DRAFT, view({ state: "unconfirmed" }))[0]]) {
    assert.equal(mayBeReplaced(state.job), false, screenOf(state.job));
    const [next] = play(state, ...theirs("approved"));
    assert.equal(next.job.reference, "r-1", screenOf(state.job));
    assert.equal(screenOf(next.job), screenOf(state.job));
  }
  assert.ok(mayBeReplaced(null) && mayBeReplaced(tried(DRAFT, ended("approved"))[0].job), "an approval makes room");
  assert.equal(mayBeReplaced(tried(DRAFT, view())[0].job), false);
});

test("another till's transaction of the same reference is another one", () => {
  const [state] = tried(DRAFT, view());
  const [next] = play(state, { type: "step", data: { till: "till-2", reference: "r-1", step: "ended", sale: ended("approved", { till: "till-2" }) } });
  assert.equal(screenOf(next.job), "card");
  const [fetched] = play(state, { type: "fetched", reference: "r-1", heard: 9, sale: ended("approved", { till: "till-2" }) });
  assert.equal(screenOf(fetched.job), "card");
});

test("what is not mine says whose it is, and is asked for as its till's", () => {
  const sale = view({ till: "till-2", reference: "x", by: { token: "till-2", operator: "Carl" } });
  const [next, done] = play(up(), { type: "step", data: { till: "till-2", reference: "x", step: "waiting-for-card", sale } });
  assert.deepEqual(whose(next, next.job.sale), { till: "till-2", operator: "Carl" });
  assert.equal(done.find((effect) => effect.do === "fetch").till, "till-2");
  assert.equal(play(next, { type: "cancel" })[1][0].till, "till-2");
  const [mine] = tried(DRAFT, view());
  assert.equal(whose(mine, mine.job.sale), null);
});

test("a refused request gives its draft back, and a start takes it from the keypad", () => {
  const [typed] = play(up(), { type: "draft", change: DRAFT });
  assert.deepEqual(typed.draft, DRAFT);
  const [refused] = play(typed, { type: "start", reference: "r-1", draft: typed.draft, request: requestOf(DRAFT, 2) }, { type: "post-refused", reference: "r-1", problem: { code: "busy", status: 409 } });
  assert.deepEqual(refused.draft, EMPTY);
  const [back] = play(refused, { type: "prepare", draft: refused.job.draft });
  assert.deepEqual([back.job, back.draft], [null, DRAFT]);
  const [kept] = play(tried(DRAFT, view())[0], { type: "prepare", draft: DRAFT });
  assert.equal(kept.job.reference, "r-1", "while it runs nothing is prepared in its place");
});

test("a reload keeps what can be tried again", () => {
  const [, done] = play(up(), { type: "start", reference: "r-1", draft: DRAFT, request: requestOf(DRAFT, 2) });
  const memory = JSON.parse(JSON.stringify(done.find((effect) => effect.do === "remember").memory));
  const [state] = play(begin(memory), { type: "link-up" }, { type: "fetched", reference: "r-1", sale: ended("declined"), heard: 0 });
  assert.deepEqual(play(state, AGAIN)[1].find((effect) => effect.do === "post").request, requestOf(DRAFT, 2));
});

test("a reload keeps the typed draft; stored data that is no draft is none", () => {
  const [typed] = play(up(), { type: "draft", change: DRAFT });
  assert.deepEqual(begin(null, JSON.parse(JSON.stringify(typed.draft))).draft, DRAFT);
  for (const data of [null, undefined, "", 7, {}, { ...DRAFT, amount: 48 }, { ...DRAFT, kind: undefined }]) {
    assert.deepEqual(begin(null, data).draft, EMPTY, JSON.stringify(data));
  }
});

test("what the customer pays is one number", () => {
  assert.equal(payable(requestOf(DRAFT, 2), 2), "52.80");
  assert.equal(payable(view({ tip: "4.80" }), 2), "52.80");
  assert.equal(payable(requestOf({ ...DRAFT, tip: "ask" }, 2), 2), "48.00");
  assert.equal(payable({ amount: "480", tip: "48" }, 0), "528");
  assert.equal(payable({ kind: "store-card" }, 2), undefined);
});

test("the rest of a part is of the same kind, from another card", () => {
  for (const [kind, rest] of [["sale", "sale"], ["pre-authorisation", "pre-authorisation"], ["by-registration", "sale"], ["pre-authorisation-by-registration", "pre-authorisation"]]) {
    const sale = ended("partially-approved", { kind, amount: "48.00", tip: "4.80", approvedAmount: "12.80" });
    assert.deepEqual(restOf(sale, DRAFT, 2), { ...EMPTY, kind: rest, amount: "40.00", reference: "table-4" });
  }
});

test("a supervisor confirms the command as the terminal has resolved it", () => {
  const resolved = { kind: "refund", amount: "900.00", currency: "EUR", number: 7 };
  assert.deepEqual(toApprove("r-1", { kind: "refund", of: "s" }, resolved, 2), { reference: "r-1", kind: "refund", of: "s", amount: "900.00", currency: "EUR" });
  assert.deepEqual(toApprove("r-1", { kind: "sale", amount: "9.50", tip: "0.51", acceptPartial: true }, undefined, 2), { reference: "r-1", kind: "sale", amount: "10.01" });
  assert.deepEqual(toApprove("r-1", { kind: "sale", amount: "9.50", tip: "ask" }, undefined, 2), { reference: "r-1", kind: "sale", amount: "9.50", tip: "ask" });
  assert.deepEqual(toApprove("r-1", { kind: "forget-card", registration: "x" }, { amount: "0.00" }, 2), { reference: "r-1", kind: "forget-card", registration: "x" });
});
