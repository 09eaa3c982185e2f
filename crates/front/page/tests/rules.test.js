// The rules of the state machine one by one: what each word of the terminal, each retry and each reading of the state
// may do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { REPEAT_MS } from "../api.js";
import { begin, isRunning, isUnconfirmed, isUnderWay, mayBeReplaced, mayCancel, mayTryAgain, reduce, screenOf, waitOf, whose } from "../state.js";
import { EMPTY } from "../draft.js";
import { ended, play, T, up, view } from "./playing.js";

const REQUEST = { kind: "sale", amount: "12.34" };
const START = { type: "start", reference: "r-1", request: REQUEST };
const started = () => play(up(), START)[0];
const posted = (sale) => ({ type: "posted", reference: "r-1", sale });
const running = (sale = view()) => play(up(), START, posted(sale))[0];
const fetched = (sale, more = {}) => ({ type: "fetched", reference: "r-1", sale, heard: 9, ...more });
const step = (data, more = {}) => ({ type: "step", data: { till: "local", reference: "r-1", text: "", ...data }, ...more });
const refused = (code, status = 403) => play(started(), { type: "post-refused", reference: "r-1", problem: { code, status } })[0];
/** A transaction of another page, shown on this one. */
const others = (sale = view()) => play(up(), { type: "status", status: { current: view() } }, fetched(sale))[0];
const names = (done) => done.map((effect) => effect.do);
const sounds = (done) => done.filter((effect) => effect.do === "sound").map((effect) => effect.name);
/** Checks that an event changes nothing and has no effect. */
const nothing = (state, event) => assert.deepEqual(reduce(state, { now: T, ...event }), [state, []], event.type);

test("at the page's start nothing is known and nothing is its own; a reload keeps what was its own", () => {
  assert.deepEqual(begin(null), { link: "connecting", job: null, draft: EMPTY, own: [], open: [], notices: [], status: null });
  const again = begin({ reference: "r-1", request: REQUEST, begunAt: T });
  assert.equal(whose(again, view()), null, "its own sale is nobody else's after a reload");
  assert.deepEqual(whose(again, view({ reference: "x" })), { till: "local", operator: null });
  assert.equal(whose(again, view({ reference: "x", by: { statedOperator: "Anna" } })).operator, "Anna");
});

test("fifty references are known as its own, the last ones", () => {
  let state = up();
  for (let n = 1; n <= 60; n += 1) [state] = play(state, { ...START, reference: `r-${n}` }, { type: "posted", reference: `r-${n}`, sale: ended("declined", { reference: `r-${n}` }) });
  assert.deepEqual([state.own.length, state.own[0], state.own.at(-1)], [50, "r-11", "r-60"]);
});

test("a word that this page does not know is of a sale that runs: nothing is begun beside it, and nothing hides it", () => {
  const state = running(view({ state: "a-later-word" }));
  assert.ok(isRunning(state.job.sale) && isUnderWay(state.job) && mayCancel(state.job) && !mayBeReplaced(state.job));
  for (const event of [{ ...START, reference: "r-2" }, { type: "try-again", reference: "r-2" }, { type: "leave" }, { type: "prepare", draft: {} }]) nothing(state, event);
  assert.equal(others(view({ state: "a-later-word" })).job.sale.state, "a-later-word");
  assert.deepEqual([isRunning(undefined), isRunning(null), isRunning(ended("approved")), isRunning(view({ state: "unconfirmed" }))], [false, false, false, false]);
});

test("what the bank has still to finish is unconfirmed: it is watched, and a person is called for where one is needed", () => {
  const finishing = view({ state: "unconfirmed-finishing" });
  assert.ok(isUnconfirmed(finishing));
  assert.deepEqual(play(running(finishing), { type: "leave" })[0].open, [finishing]);
  assert.deepEqual(waitOf(running(finishing).job).until, null);
  assert.equal(screenOf(running({ ...finishing, needsPerson: "x" }).job), "needs-person");
  assert.equal(screenOf(null), "none");
  assert.deepEqual([waitOf(null), waitOf(started().job)], [null, null]);
});

test("a cancel is offered before the card and at the bank, and nowhere else", () => {
  for (const [sale, may] of [
    [view(), true], [view({ state: "in-progress" }), true], [view({ state: "awaiting-signature" }), false], [view({ state: "awaiting-till" }), false],
    [view({ state: "unconfirmed" }), false], [ended("approved"), false], [ended("declined"), false],
  ]) {
    assert.equal(mayCancel(running(sale).job), may, `${sale.state} ${sale.outcome}`);
    if (!may) nothing(running(sale), { type: "cancel" });
  }
  for (const state of [up(), started(), refused("busy")]) nothing(state, { type: "cancel" });
});

test("a card's payment that is taken back may be tried again whatever its kind; what runs may not, whatever it says", () => {
  for (const kind of ["sale", "pre-authorisation", "credit", "store-card"]) assert.ok(mayTryAgain(running(view({ state: "unconfirmed", kind })).job), kind);
  for (const state of ["in-progress", "unconfirmed-finishing", "awaiting-till"]) assert.ok(!mayTryAgain(running(view({ state, outcome: "declined" })).job), state);
});

test("an event that nobody knows does nothing", () => nothing(running(), { type: "a-later-event" }));

test("a new sale is as old as its request: nothing is shown as fresh before the terminal has answered", () => {
  const { job } = started();
  assert.deepEqual([job.fresh, job.posting, job.sale], [false, true, null]);
});

test("each try counts: an answer that was given before is this sale's after the second try, however it came to that", () => {
  const replayed = posted(ended("approved", { replayed: true }));
  const lost = { type: "post-lost", reference: "r-1" };
  const late = { type: "missing", reference: "r-1", now: T + REPEAT_MS };
  const resent = { type: "missing", reference: "r-1" };
  const supervisor = { type: "post-refused", reference: "r-1", problem: { code: "supervisor-needed", status: 403 } };
  for (const [name, ...events] of [
    ["sent again by itself", lost, resent], ["twice by itself", lost, resent, lost, resent],
    ["by a person", lost, late, { type: "start-again" }], ["by itself and by a person", lost, resent, lost, late, { type: "start-again" }],
    ["by a person and by itself", lost, late, { type: "start-again" }, lost, resent],
    ["with a supervisor's word", supervisor, { type: "start-approved", approval: "x" }],
    ["by itself and with a supervisor's word", lost, resent, supervisor, { type: "start-approved", approval: "x" }],
  ]) {
    const [state, done] = play(started(), ...events);
    assert.equal(screenOf(state.job), "asking", name);
    assert.ok(state.job.posting && done.at(-1).do === "post", name);
    assert.equal(screenOf(play(state, replayed)[0].job), "approved", name);
  }
});

test("what a person begins again after a reload is a request as every other one: it is sent again by itself, and has its sound", () => {
  const [asked] = play(begin({ reference: "r-1", request: REQUEST, begunAt: T - 60000 }), { type: "link-up" }, { type: "missing", reference: "r-1" });
  assert.deepEqual([screenOf(asked.job), asked.job.fresh], ["not-begun", true]);
  const [again] = play(asked, { type: "start-again" });
  const [resent, done] = play(again, { type: "post-lost", reference: "r-1" }, { type: "missing", reference: "r-1" });
  assert.deepEqual([screenOf(resent.job), names(done)], ["asking", ["later", "post"]]);
  assert.deepEqual(sounds(play(again, posted(ended("approved")))[1]), ["approved"]);
});

test("by itself a request is sent again for less than ten seconds", () => {
  const after = (ms) => screenOf(play(started(), { type: "post-lost", reference: "r-1" }, { type: "missing", reference: "r-1", now: T + ms })[0].job);
  assert.deepEqual([after(REPEAT_MS - 1), after(REPEAT_MS)], ["asking", "not-begun"]);
});

test("another transaction's reference is said, and the request is over", () => {
  const [{ job }] = play(started(), posted(ended("approved", { replayed: true })));
  assert.deepEqual([job.problem, job.posting, job.sale], [{ code: "amount-differs" }, false, null]);
});

test("a refusal is over and heard; where a word or a sign-in is missing, its reference is kept and sent again", () => {
  for (const code of ["printer", "gateway", "journal", "not-ready"]) {
    const [{ job }, done] = play(started(), { type: "post-refused", reference: "r-1", problem: { code, status: 503 } });
    assert.deepEqual([screenOf(job), job.posting, names(done), sounds(done)], ["refused", false, ["forget", "sound"], ["declined"]], code);
  }
  for (const [code, approval] of [["supervisor-needed", "word"], ["unauthorized", undefined]]) {
    const [state, done] = play(started(), { type: "post-refused", reference: "r-1", problem: { code, status: 401 } });
    assert.deepEqual([screenOf(state.job), done], ["refused", []], code);
    const [again, posts] = play(state, { type: "start-approved", approval });
    assert.deepEqual(posts, [{ do: "post", reference: "r-1", request: REQUEST, approval }]);
    assert.deepEqual([screenOf(again.job), isUnderWay(again.job), again.job.problem], ["asking", true, null]);
    nothing(again, { ...START, reference: "r-2" });
  }
});

test("what may have been carried out is asked for, by its word whatever its status", () => {
  for (const code of ["no-answer", "agent-down", "no-place", "timeout", "too-many-requests"]) {
    const [state, done] = play(started(), { type: "post-refused", reference: "r-1", problem: { code, status: 400 } });
    assert.deepEqual([screenOf(state.job), names(done)], ["asking", ["later"]], code);
    assert.deepEqual(names(play(state, done[0].event)[1]), ["fetch"], "it waits for no answer any more");
  }
});

test("what is lost or missing late changes nothing that is known or refused", () => {
  const lost = { type: "post-lost", reference: "r-1" };
  for (const state of [running(), running(ended("approved")), refused("busy")]) nothing(state, lost);
  for (const state of [running(), running(ended("approved")), refused("busy"), started()]) nothing(state, { type: "missing", reference: "r-1" });
  nothing(refused("busy"), { type: "fetch-lost", reference: "r-1" });
  assert.deepEqual(names(play(running(), { type: "fetch-lost", reference: "r-1" })[1]), ["later"]);
});

test("an answer that is older than an event is passed over, unless it is the end", () => {
  const [bank] = play(running(), step({ step: "authorising", sale: view({ state: "in-progress" }) }));
  assert.equal(bank.job.heard, 1);
  nothing(bank, fetched(view(), { heard: 0 }));
  assert.equal(screenOf(play(bank, fetched(ended("declined"), { heard: 0 }))[0].job), "declined");
});

test("what is trained is no event of a payment's, nor a payment of what is trained", () => {
  nothing(running(), step({ step: "pin-entry", training: true }));
  nothing(running(view({ training: true })), step({ step: "pin-entry" }, { training: true }));
});

test("an event about nothing asks how the terminal stands", () => {
  for (const data of [undefined, {}, { step: "printer" }]) assert.deepEqual(reduce(up(), { type: "step", data, now: T }), [up(), [{ do: "status" }]]);
});

test("a step is no news of what is not known, nor of what is over", () => {
  const pin = step({ step: "pin-entry" }, { now: T + 5000 });
  for (const [state, asked] of [[started(), ["fetch"]], [refused("busy"), []], [running(ended("approved")), []], [running(view({ state: "unconfirmed" })), []]]) {
    const [old] = play(state, { type: "link-lost" });
    const [{ job }, done] = play(old, pin);
    const { fresh, seenAt, step: word, heard, wait } = job;
    assert.deepEqual([fresh, seenAt, word, heard, wait, names(done)], [false, old.job.seenAt, null, 1, old.job.wait, asked], screenOf(state.job));
  }
  const [over] = play(running(), step({ step: "ended", sale: ended("approved") }));
  assert.equal(over.job.step, null, "an end has no step");
});

test("a step makes what is shown fresh only while the line is up", () => {
  const pin = step({ step: "pin-entry" }, { now: T + 5000, tick: 5000 });
  const [cut] = play(running(view({ leftS: 45 })), { type: "link-lost" });
  assert.equal(play(cut, pin)[0].job.fresh, false, "from a line that is cut");
  const [back] = play(cut, { type: "link-up" });
  assert.equal(back.link, "up");
  assert.equal(back.job.fresh, false);
  const [{ job }] = play(back, pin);
  assert.deepEqual([job.fresh, job.seenAt, job.wait], [true, T + 5000, null], "the old wait is over");
  assert.deepEqual(job.step, { word: "pin-entry", text: "", at: 5000, wait: undefined });
  assert.equal(play(back, { type: "step", data: { till: "local", reference: "r-1", step: "pin-entry" } })[0].job.step.text, "");
});

test("where the customer acts the time counts up; where the bank, the till or a card is waited for, how long is asked", () => {
  for (const word of ["remove-card", "reading-card", "pin-entry", "pin-wrong", "choosing-application", "type-card"]) {
    const [{ job }, done] = play(running(view({ leftS: 45 })), step({ step: word }, { tick: 7000 }));
    assert.deepEqual([waitOf(job), names(done).includes("fetch")], [{ since: 7000, until: null }, false], word);
  }
  for (const word of ["present-card", "authorising", "awaiting-signature", "awaiting-till", "waiting-for-card"]) {
    const [state, done] = play(running(), step({ step: word }, { tick: 7000 }));
    assert.deepEqual([waitOf(state.job), names(done)], [{ since: 7000, until: null }, ["fetch"]], word);
    const [{ job }] = play(state, step({ step: "another" }, { tick: 9000 }));
    assert.equal(waitOf(job).since, 7000, "a step on the way begins no new wait");
  }
});

test("a step belongs to its state; a page that has heard none takes the terminal's", () => {
  const bank = (more) => view({ state: "in-progress", ...more });
  const [pin] = play(running(), step({ step: "pin-entry" }));
  assert.equal(play(pin, fetched(bank()))[0].job.step, null, "the PIN is no step of the bank's");
  assert.equal(play(pin, fetched(bank({ step: "authorising" })))[0].job.step.word, "authorising");
  assert.equal(play(pin, fetched(view({ step: "present-card" })))[0].job.step.word, "pin-entry", "what was heard last is newer");
  assert.deepEqual(play(running(), fetched(view({ step: "pin-entry" }), { tick: 3000 }))[0].job.step, { word: "pin-entry", text: "", at: 3000 });
  for (const sale of [ended("approved", { step: "authorising" }), view({ state: "unconfirmed", step: "authorising" }), view()]) assert.equal(running(sale).job.step, null);
});

test("who must act hears it: the card is to be taken out, a PIN was wrong, a card is to be read again, a person is to decide", () => {
  for (const [word, sound] of [["remove-card", "card"], ["pin-wrong", "attention"], ["try-again", "attention"]]) assert.deepEqual(sounds(play(running(), step({ step: word }))[1]), [sound]);
  assert.deepEqual(sounds(play(running(), step({ step: "reading-card" }))[1]), []);
  for (const [state, more] of [["awaiting-signature"], ["awaiting-till"], ["unconfirmed"], ["unconfirmed-finishing"], ["unconfirmed", { needsPerson: "x" }]]) {
    assert.deepEqual(sounds(play(running(), step({ step: "x", sale: view({ state, ...more }) }))[1]), ["attention"], state);
  }
});

test("an end has its sound whoever tells it first: the answer, an event that overtakes it, or a look after a lost answer", () => {
  const lost = { type: "post-lost", reference: "r-1" };
  for (const events of [[posted(ended("declined"))], [step({ step: "ended", sale: ended("declined") }), posted(ended("declined"))], [lost, fetched(ended("declined"))]]) {
    assert.deepEqual(sounds(play(started(), ...events)[1]), ["declined"], events[0].type);
  }
  const restored = begin({ reference: "r-1", request: REQUEST, begunAt: T });
  for (const event of [step({ step: "ended", sale: ended("declined") }), fetched(ended("declined"))]) assert.deepEqual(sounds(play(restored, event)[1]), []);
  const [seen] = play(restored, fetched(view()));
  assert.deepEqual(sounds(play(seen, step({ step: "ended", sale: ended("approved") }))[1]), ["approved"], "what ends after the reload has its sound");
  const signature = view({ state: "awaiting-signature" });
  assert.deepEqual(sounds(play(up(), step({ step: "x", sale: signature }))[1]), [], "another's signature is that page's to ask for");
});

test("an end has the terminal looked at, once; a sale that goes on does not", () => {
  const [over, done] = play(running(), step({ step: "ended", sale: ended("approved") }));
  assert.deepEqual(names(done), ["sound", "status"]);
  assert.deepEqual(play(over, fetched(ended("approved")))[1], []);
  assert.deepEqual(play(running(), fetched(view({ state: "in-progress" })))[1], []);
});

test("the status says what is open; a sale that is on the screen already is not thrown at it anew", () => {
  const open = view({ reference: "o", state: "unconfirmed" });
  assert.deepEqual(play(up(), { type: "status", status: { unconfirmed: [open] } })[0].open, [open]);
  assert.deepEqual(play(up(), { type: "status", status: {} })[0].open, []);
  // The status was asked before the outcome arrived, so it is older.
  const late = { type: "status", status: { current: view(), unconfirmed: [] } };
  for (const state of [running(ended("approved")), others(ended("approved")), others(ended("declined"))]) {
    const [{ job }, done] = play(state, late);
    assert.deepEqual([screenOf(job), job.mine, done], [screenOf(state.job), state.job.mine, []]);
  }
});

test("what is asked for when the line is back, and at each look, is what may have changed", () => {
  const lostNow = play(started(), { type: "post-lost", reference: "r-1" })[0];
  const notBegun = play(lostNow, { type: "missing", reference: "r-1", now: T + REPEAT_MS })[0];
  for (const [state, look] of [
    [up(), ["status"]], [started(), ["status"]], [refused("busy"), ["status"]], [notBegun, ["status"]],
    [running(ended("approved")), ["status"]], [running(), ["fetch", "status"]], [running(view({ state: "unconfirmed" })), ["fetch", "status"]], [lostNow, ["fetch", "status"]],
  ]) assert.deepEqual(names(play(state, { type: "look" })[1]), look, screenOf(state.job));
  const old = play(running(ended("approved")), { type: "link-lost" })[0];
  assert.deepEqual(names(play(old, { type: "look" })[1]), ["fetch", "status"], "an end that is old is asked for again");
  for (const [state, back] of [[up(), ["status"]], [refused("busy"), ["status"]], [running(), ["fetch", "status"]], [running(ended("approved")), ["fetch", "status"]]]) {
    const [cut] = play(state, { type: "link-lost" });
    assert.deepEqual(names(play(cut, { type: "link-up" })[1]), back, screenOf(state.job));
  }
});

test("a line that is up or cut already is no news", () => {
  nothing(running(), { type: "link-up" });
  for (const agent of [true, false]) {
    const [cut] = play(started(), { type: "link-lost", agent });
    nothing(cut, { type: "link-lost", agent });
  }
});

test("one mind about a signature, and about what the till takes: a look in between gives no second one", () => {
  for (const state of ["awaiting-signature", "awaiting-till"]) {
    const [judged] = play(running(view({ state })), { type: "judge", accepted: false });
    const [looked] = play(judged, fetched(view({ state })));
    assert.equal(looked.job.judged, "refused", state);
    nothing(looked, { type: "judge", accepted: true });
  }
  const [signed] = play(running(view({ state: "awaiting-signature" })), { type: "judge", accepted: true }, step({ step: "x", sale: view({ state: "in-progress" }) }));
  assert.equal(signed.job.judged, null);
  const [confirm] = play(signed, step({ step: "awaiting-till", sale: view({ state: "awaiting-till" }) }));
  assert.deepEqual(names(play(confirm, { type: "judge", accepted: true })[1]), ["confirm"], "the till's word is another question");
});

test("training that ends beside a signature refuses it", () => {
  const [, done] = play(running(view({ training: true, state: "awaiting-signature" })), { type: "end-training" });
  assert.deepEqual(done[0], { do: "sign", reference: "r-1", accepted: false });
});

test("what is open is listed once, is told when it has ended, and not before", () => {
  const open = view({ state: "unconfirmed" });
  const listed = play(running(open), { type: "status", status: { unconfirmed: [open] } })[0];
  assert.deepEqual(play(listed, { type: "leave" })[0].open, [open], "the status has it already");
  const [left] = play(running(open), { type: "leave" });
  const person = { ...open, needsPerson: "x" };
  assert.deepEqual(play(left, step({ step: "x", sale: person }))[0].open, [person], "as it was heard of last");
  const elsewhere = view({ state: "unconfirmed", reference: "x" });
  assert.deepEqual(play(left, step({ reference: "x", step: "x", sale: elsewhere }))[0].open, [open, elsewhere]);
  const [again, none] = play(left, fetched(view({ state: "in-progress" })));
  assert.deepEqual([again.open, again.notices, none], [[open], [], []], "it has not ended");
  const [told, done] = play(left, fetched(ended("reversed")));
  assert.deepEqual([told.open, told.notices.length, done], [[], 1, [{ do: "sound", name: "attention" }]]);
});
