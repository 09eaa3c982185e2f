// Every outcome, every loss and every double tap, played on the pure state machine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { REPEAT_MS } from "../api.js";
import { EVENTS, begin, isUnderWay, mayCancel, screenOf, waitOf } from "../state.js";
import { ended, play, T, up, view } from "./playing.js";

const REQUEST = { kind: "sale", amount: "12.34" };
const START = { type: "start", reference: "r-1", request: REQUEST };
const started = () => play(up(), START)[0];
const running = (sale = view()) => play(up(), START, { type: "posted", reference: "r-1", sale })[0];
const names = (done) => done.map((effect) => effect.do);
const step = (data) => ({ type: "step", data: { till: "local", reference: "r-1", text: "", ...data } });

test("the reference is remembered before the request leaves", () => {
  const [, done] = play(up(), START);
  assert.deepEqual(names(done), ["remember", "post"]);
  assert.equal(done[0].memory.reference, done[1].reference);
});

test("each outcome and each state has its screen", () => {
  for (const [sale, screen] of [
    [view(), "card"], [view({ state: "in-progress" }), "bank"], [view({ state: "awaiting-signature" }), "signature"],
    [view({ state: "awaiting-till" }), "confirm"], [view({ state: "unconfirmed" }), "unconfirmed"],
    [view({ state: "unconfirmed-finishing" }), "finishing"], [view({ state: "unconfirmed", needsPerson: "x" }), "needs-person"],
    [view({ state: "a-later-word" }), "bank"],
    [ended("approved"), "approved"], [ended("partially-approved"), "partial"], [ended("declined"), "declined"],
    [ended("cancelled"), "cancelled"], [ended("not-sent"), "not-sent"], [ended("reversed"), "reversed"],
  ]) assert.equal(screenOf(running(sale).job), screen, JSON.stringify(sale));
});

test("each end has a sound, once, and none after a reload", () => {
  for (const outcome of ["approved", "partially-approved", "declined", "cancelled", "not-sent", "reversed"]) {
    const [state, done] = play(running(), step({ step: "ended", sale: ended(outcome) }));
    assert.equal(done.filter((effect) => effect.do === "sound").length, 1, outcome);
    const [, twice] = play(state, { type: "fetched", reference: "r-1", sale: ended(outcome), heard: 9 });
    assert.ok(!names(twice).includes("sound"), outcome);
    const restored = begin({ reference: "r-1", request: REQUEST, begunAt: T - 5000 });
    const [, after] = play(restored, { type: "link-up" }, { type: "fetched", reference: "r-1", sale: ended(outcome), heard: 0 });
    assert.ok(!names(after).includes("sound"), outcome);
  }
});

test("a second tap starts nothing, whatever the sale is doing", () => {
  const other = { type: "start", reference: "r-2", request: REQUEST };
  for (const state of [started(), running(), running(view({ state: "in-progress" })), running(view({ state: "awaiting-signature" })), running(view({ state: "awaiting-till" }))]) {
    const [next, done] = play(state, other);
    assert.equal(next, state);
    assert.deepEqual(done, []);
  }
});

test("after an end, and beside an unconfirmed sale, a new one may start", () => {
  for (const sale of [ended("approved"), view({ state: "unconfirmed" })]) {
    const [next, done] = play(running(sale), { type: "start", reference: "r-2", request: REQUEST });
    assert.equal(next.job.reference, "r-2");
    assert.deepEqual(names(done), ["remember", "post"]);
  }
  const [next] = play(running(view({ state: "unconfirmed" })), { type: "start", reference: "r-2", request: REQUEST });
  assert.deepEqual(next.open.map((sale) => sale.reference), ["r-1"], "and the open one is still watched");
});

test("a lost answer is asked for under the same reference, and sent again when it was not received", () => {
  const [lost, done] = play(started(), { type: "post-lost", reference: "r-1" });
  assert.deepEqual(done, [{ do: "later", ms: done[0].ms, event: { type: "ask-again", reference: "r-1" } }]);
  const [asked, asks] = play(lost, done[0].event);
  assert.deepEqual(asks, [{ do: "fetch", reference: "r-1", heard: 0 }]);
  const [again, posts] = play(asked, { type: "missing", reference: "r-1" });
  assert.deepEqual(posts, [{ do: "post", reference: "r-1", request: REQUEST }]);
  const [known] = play(again, { type: "posted", reference: "r-1", sale: view({ replayed: true }) });
  assert.equal(screenOf(known.job), "card", "a replayed answer to the second try is this sale");
});

test("what was lost for long is started only by a person, and under the same reference", () => {
  const [lost] = play(started(), { type: "post-lost", reference: "r-1" });
  const [late, done] = play(lost, { type: "missing", reference: "r-1", now: T + REPEAT_MS + 1 });
  assert.deepEqual([screenOf(late.job), done], ["not-begun", []]);
  const [again, posts] = play(late, { type: "start-again" });
  assert.deepEqual(posts, [{ do: "post", reference: "r-1", request: REQUEST }]);
  assert.ok(isUnderWay(again.job));
  const [left, forgets] = play(late, { type: "leave" });
  assert.deepEqual([left.job, names(forgets)], [null, ["forget"]]);
  const [, forgotten] = play(again, { type: "posted", reference: "r-1", sale: ended("declined") }, { type: "leave" });
  assert.deepEqual(forgotten.at(-1), { do: "forget", reference: "r-1", till: "local" }, "a reference is unique only with its till");
});

test("a running sale of another page does not take the place of a question that a person must answer", () => {
  const [lost] = play(started(), { type: "post-lost", reference: "r-1" }, { type: "missing", reference: "r-1", now: T + 60000 });
  const [next] = play(lost, step({ reference: "other", step: "waiting-for-card", sale: view({ reference: "other" }) }));
  assert.equal(next.job.reference, "r-1");
});

test("an answer to nobody's second try is another transaction's, and its outcome is not shown", () => {
  const [next, done] = play(started(), { type: "posted", reference: "r-1", sale: ended("approved", { replayed: true }) });
  assert.equal(screenOf(next.job), "refused");
  assert.deepEqual(names(done), ["forget"]);
});

test("a reload in each state asks for the same reference and shows what it is then", () => {
  for (const [sale, screen] of [[view(), "card"], [view({ state: "in-progress" }), "bank"], [view({ state: "awaiting-signature" }), "signature"], [view({ state: "unconfirmed" }), "unconfirmed"], [ended("approved"), "approved"], [ended("partially-approved"), "partial"], [ended("declined"), "declined"]]) {
    const state = begin({ reference: "r-1", request: REQUEST, begunAt: T });
    assert.equal(screenOf(state.job), "asking", "nothing is shown before it is known");
    const [asked, done] = play(state, { type: "link-up" });
    assert.deepEqual(done[0], { do: "fetch", reference: "r-1", heard: 0 });
    const [next, later] = play(asked, { type: "fetched", reference: "r-1", sale, heard: 0 });
    assert.equal(screenOf(next.job), screen);
    assert.ok(![...names(done), ...names(later)].includes("post"));
  }
  const [next, done] = play(begin({ reference: "r-1", request: REQUEST, begunAt: T }), { type: "link-up" }, { type: "missing", reference: "r-1" });
  assert.equal(screenOf(next.job), "not-begun", "after a reload nothing is started by itself");
  assert.ok(!names(done).includes("post"));
});

test("what is remembered but damaged is nothing", () => {
  for (const memory of [null, undefined, {}, { reference: "r" }, { request: REQUEST }, "text", 7]) assert.equal(begin(memory).job, null);
});

test("a lost connection marks what is shown as old, and it is asked for anew when it is back", () => {
  for (const sale of [view(), ended("approved"), view({ state: "unconfirmed" }), view({ state: "awaiting-signature" })]) {
    const [old] = play(running(sale), { type: "link-lost" });
    assert.equal(old.job.fresh, false);
    const [back, done] = play(old, { type: "link-up" });
    assert.deepEqual(done.map((effect) => [effect.do, effect.reference]), [["fetch", "r-1"], ["status", undefined]]);
    assert.equal(back.job.fresh, false, "and is old until the answer is there");
    const [fresh] = play(back, { type: "fetched", reference: "r-1", sale: ended("declined"), heard: back.job.heard });
    assert.equal(fresh.job.fresh, true);
  }
});

test("a connection that is lost while the request is on its way ends the waiting for it", () => {
  const [next, done] = play(started(), { type: "link-lost" });
  assert.deepEqual(names(done), ["abort-post"]);
  const [, nothing] = play(next, { type: "post-lost", reference: "r-1" }, { type: "ask-again", reference: "r-1" });
  assert.deepEqual(names(nothing), ["later"], "nothing is asked on a line that is known to be cut");
  const [, asks] = play(next, { type: "post-lost", reference: "r-1" }, { type: "link-up" });
  assert.ok(names(asks).includes("fetch"));
});

test("the agent's restart is another thing than a lost connection", () => {
  const [next] = play(running(), { type: "link-lost", agent: true });
  assert.equal(next.link, "agent-down");
  assert.equal(play(next, { type: "link-lost" })[0].link, "lost");
});

test("an end is never replaced by an earlier state, nor by an older answer", () => {
  const [done] = play(running(), step({ step: "ended", sale: ended("approved") }));
  for (const late of [{ type: "fetched", reference: "r-1", sale: view(), heard: 0 }, step({ step: "authorising", sale: view({ state: "in-progress" }) }), { type: "posted", reference: "r-1", sale: view({ replayed: true }) }]) {
    assert.equal(screenOf(play(done, late)[0].job), "approved");
  }
  const [bank] = play(running(), step({ step: "authorising", sale: view({ state: "in-progress" }) }));
  assert.equal(screenOf(play(bank, { type: "fetched", reference: "r-1", sale: view(), heard: 0 })[0].job), "bank");
});

test("an answer about another reference never becomes this sale's", () => {
  const state = running();
  for (const event of [
    { type: "fetched", reference: "r-0", sale: ended("approved", { reference: "r-0" }), heard: 0 },
    { type: "posted", reference: "r-0", sale: ended("approved", { reference: "r-0" }) },
    { type: "cancelled", reference: "r-0", sale: ended("cancelled"), cancel: "in-time" },
    { type: "judged", reference: "r-0", sale: ended("approved") }, { type: "post-lost", reference: "r-0" }, { type: "missing", reference: "r-0" },
  ]) assert.equal(play(state, event)[0].job, state.job, event.type);
});

test("a cancel says what happened", () => {
  const [asked, done] = play(running(), { type: "cancel" });
  assert.deepEqual(done, [{ do: "cancel", reference: "r-1" }]);
  assert.deepEqual(play(asked, { type: "cancel" })[1], [], "once");
  assert.ok(!mayCancel(asked.job));
  const [inTime] = play(asked, { type: "cancelled", reference: "r-1", cancel: "in-time", sale: ended("cancelled") });
  assert.deepEqual([screenOf(inTime.job), inTime.job.cancel], ["cancelled", "in-time"]);
  const [late] = play(asked, { type: "cancelled", reference: "r-1", cancel: "too-late", sale: view({ state: "in-progress" }) });
  assert.deepEqual([screenOf(late.job), late.job.cancel], ["bank", "too-late"]);
  const [lateEnd] = play(late, step({ step: "ended", sale: ended("approved") }));
  assert.deepEqual([screenOf(lateEnd.job), lateEnd.job.cancel], ["approved", "too-late"]);
  const [unanswered, looks] = play(asked, { type: "cancel-lost", reference: "r-1" });
  assert.deepEqual([unanswered.job.cancel, names(looks)], ["unanswered", ["fetch"]]);
  assert.ok(mayCancel(unanswered.job), "and may be asked for again");
});

test("a signature is judged once, and again only when the answer was lost", () => {
  const waiting = running(view({ state: "awaiting-signature" }));
  for (const [accepted, outcome] of [[true, ended("approved")], [false, view({ state: "unconfirmed" })]]) {
    const [judged, done] = play(waiting, { type: "judge", accepted });
    assert.deepEqual(done, [{ do: "sign", reference: "r-1", accepted }]);
    assert.deepEqual(play(judged, { type: "judge", accepted: !accepted })[1], [], "no second mind");
    const [next] = play(judged, { type: "judged", reference: "r-1", sale: outcome });
    assert.equal(screenOf(next.job), accepted ? "approved" : "unconfirmed");
    const [lost, looks] = play(judged, { type: "judge-lost", reference: "r-1" });
    assert.deepEqual([lost.job.judged, names(looks)], [null, ["fetch"]]);
  }
  assert.deepEqual(play(running(), { type: "judge", accepted: true })[1], [], "nobody waits for one");
});

test("what the till takes is confirmed in its own words", () => {
  const waiting = running(view({ state: "awaiting-till" }));
  assert.deepEqual(play(waiting, { type: "judge", accepted: true })[1], [{ do: "confirm", reference: "r-1", taken: "all" }]);
  assert.deepEqual(play(waiting, { type: "judge", accepted: false })[1], [{ do: "confirm", reference: "r-1", taken: "nothing" }]);
});

test("a refusal is shown and forgotten; one that may have been carried out is asked for", () => {
  for (const [code, status] of [["busy", 409], ["amount", 422], ["not-ready", 503], ["forbidden", 403], ["journal", 503], ["amount-differs", 409]]) {
    const [next, done] = play(started(), { type: "post-refused", reference: "r-1", problem: { code, status } });
    assert.equal(screenOf(next.job), "refused", code);
    assert.ok(names(done).includes("forget"), code);
  }
  for (const [code, status] of [["no-answer", 503], ["agent-down", 503], ["http-502", 502], ["timeout", 408], ["too-many-requests", 429], ["no-place", 503], ["http-500", 500]]) {
    const [next, done] = play(started(), { type: "post-refused", reference: "r-1", problem: { code, status } });
    assert.deepEqual([screenOf(next.job), names(done)], ["asking", ["later"]], code);
  }
});

test("a supervisor's word goes with the same reference", () => {
  const [refused, kept] = play(started(), { type: "post-refused", reference: "r-1", problem: { code: "supervisor-needed", status: 403 } });
  assert.ok(!names(kept).includes("forget"));
  const [, done] = play(refused, { type: "start-approved", approval: "token" });
  assert.deepEqual(done, [{ do: "post", reference: "r-1", request: REQUEST, approval: "token" }]);
});

test("another page's sale is shown here too, from an event or from the status", () => {
  for (const event of [step({ step: "waiting-for-card", sale: view() }), { type: "status", status: { current: view(), unconfirmed: [] } }]) {
    const [next, done] = play(up(), event);
    assert.deepEqual([screenOf(next.job), next.job.mine, next.job.reference], ["card", false, "r-1"]);
    assert.ok(!names(done).includes("remember") && !names(done).includes("post"));
  }
  const [mine] = play(running(ended("approved")), step({ reference: "r-2", step: "waiting-for-card", sale: view({ reference: "r-2" }) }));
  assert.equal(mine.job.reference, "r-2", "an outcome makes room");
  const [busy] = play(running(), step({ reference: "r-2", step: "waiting-for-card", sale: view({ reference: "r-2" }) }));
  assert.equal(busy.job.reference, "r-1", "a running one does not");
});

test("an ended sale of another page is not thrown at this one", () => {
  const state = up();
  assert.equal(play(state, step({ step: "ended", sale: ended("approved") }))[0].job, null);
});

test("an unconfirmed sale can be left, is watched, and its end is told once", () => {
  const [left, done] = play(running(view({ state: "unconfirmed" })), { type: "leave" });
  assert.deepEqual([left.job, left.open.length, names(done)], [null, 1, ["forget"]]);
  const [told] = play(left, step({ step: "ended", sale: ended("reversed") }));
  assert.deepEqual([told.open.length, told.notices.map((sale) => sale.outcome)], [0, ["reversed"]]);
  const [again] = play(told, step({ step: "ended", sale: ended("reversed") }));
  assert.equal(again.notices.length, 1);
  assert.equal(play(told, { type: "notice-read" })[0].notices.length, 0);
});

test("what runs cannot be left", () => {
  for (const state of [started(), running(), running(view({ state: "awaiting-signature" }))]) {
    const [next, done] = play(state, { type: "leave" });
    assert.deepEqual([next, done], [state, []]);
  }
});

test("steps at the reader are shown, and belong to their state", () => {
  const [pin] = play(running(), step({ step: "pin-entry", text: "PIN **" }));
  assert.deepEqual([pin.job.step.word, pin.job.step.text], ["pin-entry", "PIN **"]);
  const [bank] = play(pin, step({ step: "authorising", sale: view({ state: "in-progress" }) }));
  assert.equal(bank.job.step.word, "authorising");
  const [fetched] = play(bank, { type: "fetched", reference: "r-1", sale: view({ state: "in-progress" }), heard: bank.job.heard });
  assert.equal(fetched.job.step.word, "authorising", "a look at the same state forgets no step");
});

test("missed events are made up for by looking", () => {
  assert.deepEqual(names(play(running(), { type: "look" })[1]), ["fetch", "status"]);
  assert.deepEqual(names(play(up(), { type: "look" })[1]), ["status"]);
});

test("each wait is counted from the arrival of the answer that told it, and by no clock", () => {
  const arrived = (sale) => play(up(), { ...START, tick: 400 }, { type: "posted", reference: "r-1", sale, tick: 1000 })[0];
  assert.deepEqual(waitOf(arrived(view({ leftS: 45, waitS: 60, until: "1999-01-01T00:00:00Z" })).job), { since: -14000, until: 46000 });
  assert.deepEqual(waitOf(arrived(view({ state: "awaiting-till", leftS: 9 })).job), { since: 1000, until: 10000 });
  assert.deepEqual(waitOf(arrived(view()).job), { since: 1000, until: null }, "nobody knows");
  const later = play(arrived(view({ leftS: 45 })), { type: "fetched", reference: "r-1", heard: 0, tick: 6000, sale: view({ leftS: 40, waitS: 60 }) })[0];
  assert.deepEqual(waitOf(later.job), { since: -14000, until: 46000 }, "a look on the way changes nothing");
  assert.deepEqual(waitOf(arrived(view({ state: "unconfirmed" })).job), { since: 1000, until: null }, "nobody knows when the bank answers");
  assert.equal(waitOf(arrived(ended("approved")).job), null);
  const [pin] = play(arrived(view({ state: "in-progress" })), { ...step({ step: "pin-entry" }), tick: 3000 });
  assert.deepEqual(waitOf(pin.job), { since: 3000, until: null }, "the customer is waited for, not the bank");
  const [bank, asked] = play(pin, { ...step({ step: "authorising" }), tick: 5000 });
  assert.deepEqual(waitOf(bank.job), { since: 5000, until: null });
  assert.deepEqual(names(asked), ["fetch"], "how long the bank may take is asked");
});

test("after a reload what goes on without a limit is counted from its beginning", () => {
  const [state] = play(begin({ reference: "r-1", request: REQUEST, begunAt: T - 7000 }), { type: "link-up" },
    { type: "fetched", reference: "r-1", sale: view({ state: "unconfirmed" }), heard: 0, tick: 300 });
  assert.deepEqual(waitOf(state.job), { since: 300 - 7000, until: null });
});

test("training ends from wherever it stands, and a payment is not touched by that", () => {
  for (const [sale, stops] of [
    [view({ training: true }), ["cancel", "forget"]], [view({ training: true, state: "in-progress" }), ["cancel", "forget"]],
    [view({ training: true, state: "awaiting-signature" }), ["sign", "forget"]], [ended("approved", { training: true }), ["forget"]],
    [view({ training: true, state: "unconfirmed" }), ["forget"]],
  ]) {
    const [state, done] = play(running(sale), { type: "end-training" });
    assert.deepEqual([state.job, state.open, names(done)], [null, [], stops], sale.state);
    const [after] = play(state, { type: "cancelled", reference: "r-1", sale, cancel: "in-time" });
    assert.equal(after.job, null, "its end is nobody's");
  }
  for (const sale of [view(), ended("approved")]) assert.deepEqual(names(play(running(sale), { type: "end-training" })[1]), []);
});

/**
 * Returns for each event of the page its possible content, for `n` draws of a sequence. A missing event fails the test.
 */
const DRAWN = {
  start: (of) => (of.flag ? START : { type: "start", reference: of.fresh, request: REQUEST }),
  "try-again": (of) => ({ type: "try-again", reference: of.fresh }),
  draft: () => ({ type: "draft", change: { amount: "1.00" } }),
  prepare: () => ({ type: "prepare", draft: { amount: "1.00" } }),
  "start-again": () => ({ type: "start-again" }),
  "start-approved": () => ({ type: "start-approved", approval: "x" }),
  posted: (of) => ({ type: "posted", reference: "r-1", sale: of.sale }),
  "post-refused": (of) => ({ type: "post-refused", reference: "r-1", problem: of.flag ? { code: "busy", status: 409 } : { code: "no-answer", status: 503 } }),
  "post-lost": () => ({ type: "post-lost", reference: "r-1" }),
  "ask-again": () => ({ type: "ask-again", reference: "r-1" }),
  fetched: (of) => ({ type: "fetched", reference: "r-1", sale: of.sale, heard: of.state.job?.heard ?? 0 }),
  missing: () => ({ type: "missing", reference: "r-1" }),
  "fetch-lost": () => ({ type: "fetch-lost", reference: "r-1" }),
  step: (of) => step({ step: "x", ...(of.flag && { sale: of.sale }), ...(of.other && { till: "till-2", reference: "x", sale: view({ till: "till-2", reference: "x" }) }) }),
  status: (of) => ({ type: "status", status: { current: of.flag ? view({ till: "till-2", reference: "x" }) : undefined, unconfirmed: [] } }),
  "link-up": () => ({ type: "link-up" }),
  "link-lost": (of) => ({ type: "link-lost", agent: of.flag }),
  look: () => ({ type: "look" }),
  cancel: () => ({ type: "cancel" }),
  cancelled: (of) => ({ type: "cancelled", reference: "r-1", sale: of.sale, cancel: "in-time" }),
  "cancel-lost": () => ({ type: "cancel-lost", reference: "r-1" }),
  judge: (of) => ({ type: "judge", accepted: of.flag }),
  judged: (of) => ({ type: "judged", reference: "r-1", sale: of.sale }),
  "judge-lost": () => ({ type: "judge-lost", reference: "r-1" }),
  leave: () => ({ type: "leave" }),
  "end-training": () => ({ type: "end-training" }),
  "notice-read": () => ({ type: "notice-read" }),
};

test("nothing that happens in any order starts a second sale, or forgets or hides one that runs", () => {
  assert.deepEqual(Object.keys(DRAWN).sort(), [...EVENTS].sort(), "each event of the page is drawn");
  // A fixed sequence of pseudo-random events: the same in every run.
  let seed = 7;
  const random = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
  const sales = [view(), view({ state: "in-progress" }), view({ state: "awaiting-signature" }), view({ state: "awaiting-till" }), view({ state: "unconfirmed" }), ended("approved"), ended("declined"), view({ replayed: true })];
  const seen = new Set();
  for (let round = 0; round < 800; round += 1) {
    let state = started();
    for (let n = 0; n < 40; n += 1) {
      const of = { state, sale: sales[random(sales.length)], flag: random(2) === 1, other: random(4) === 0, fresh: `r-${round}-${n}` };
      const event = DRAWN[EVENTS[random(EVENTS.length)]](of);
      const before = state;
      const [next, done] = play(before, { now: T + n * 1000, ...event });
      for (const effect of done) {
        if (effect.do === "post" && ["start", "try-again"].includes(event.type)) assert.ok(!isUnderWay(before.job), "a second sale beside one that runs");
        else if (effect.do === "post") assert.equal(effect.reference, before.job.reference, "a new reference for an old request");
        if (effect.do === "forget") assert.ok(!isUnderWay(next.job), "forgotten while it runs");
      }
      if (isUnderWay(before.job)) {
        assert.equal(next.job?.reference, before.job.reference, `${event.type} hides a sale that runs`);
        if (before.job.phase === "known") assert.equal(next.job.phase, "known", `${event.type} puts something else before a sale that runs`);
        seen.add(event.type);
      }
      const wasEnded = before.job?.phase === "known" && before.job.sale.state === "ended";
      if (wasEnded && next.job?.reference === before.job.reference && next.job.phase === "known") assert.equal(next.job.sale.state, "ended", "an end was taken back");
      state = next;
    }
  }
  assert.equal(seen.size, EVENTS.length, "each event came while a sale ran");
});

test("what is trained is never shown as a payment, and no payment as training", () => {
  const sale = ended("approved", { training: true });
  const [still] = play(running(), step({ step: "ended", training: true, sale }));
  assert.equal(screenOf(still.job), "card", "training has references of its own");
  const [trained] = play(running(view({ training: true })), { ...step({ step: "ended", training: true, sale }), training: true });
  assert.equal(screenOf(trained.job), "approved");
  const real = { ...step({ step: "ended", sale: ended("declined") }), training: true };
  assert.equal(screenOf(play(running(view({ training: true })), real)[0].job), "card");
  const status = { type: "status", status: { current: view({ reference: "till" }) } };
  assert.equal(play(up(), { ...status, training: true })[0].job, null, "who trains is shown no sale of the till beside it");
  assert.equal(play(up(), status)[0].job.reference, "till");
  const doubtful = view({ state: "unconfirmed", training: true });
  assert.deepEqual(play(running(doubtful), { type: "leave" })[0].open, [], "nothing that is trained is open in the shop");
  assert.deepEqual(play(up(), { type: "fetched", reference: "r-2", sale: doubtful, heard: 0 })[0].open, []);
});
