// Every event of the state machine in any order: the effects that no order may have. And, row by row, the screens that
// may hide a transaction.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { EVENTS, isRunning, isUnconfirmed, isUnderWay, mayBeReplaced, mayCancel, reduce, screenOf } from "../state.js";
import { ended, play, T, up, view } from "./playing.js";

/** One transaction for each state that the page treats differently. */
const STATES = [
  view(), view({ state: "in-progress" }), view({ state: "awaiting-signature" }), view({ state: "awaiting-till" }), view({ state: "unconfirmed" }),
  view({ state: "unconfirmed-finishing" }), view({ state: "unconfirmed", needsPerson: "x" }), ended("approved"), ended("partially-approved"),
  ended("declined"), ended("cancelled"), ended("not-sent"), ended("reversed"), view({ replayed: true }), view({ state: "a-later-word" }),
];
/** The effects that `main.js` carries out. */
const EFFECTS = [...readFileSync(new URL("../main.js", import.meta.url), "utf8").matchAll(/^ {4}case "([\w-]+)": /gm)].map(([, name]) => name);
const REQUEST = { kind: "sale", amount: "12.34" };
/** The events that most often come next, so that an event is played where it has an effect. */
const LIKELY = {
  asking: ["post-lost", "ask-again", "missing", "post-refused"], "not-begun": ["start-again", "leave"], refused: ["start-approved", "leave", "prepare"],
};
/** The events of a person at this page; all others come from the terminal. */
const ACTS = ["start", "try-again", "start-again", "start-approved", "draft", "prepare", "cancel", "judge", "leave", "end-training", "notice-read"];

/** A pseudo-random sequence, the same in every run. */
function dice(seed) {
  const of = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
  return { of, one: (list) => list[of(list.length)], often: () => of(4) > 0 };
}

/** Returns an event of each type, about the job in hand or about another transaction. */
function events({ of, one, often }, state, fresh) {
  const { job } = state;
  const reference = job && often() ? job.reference : one(["r-1", "r-2", "other"]);
  const till = often() ? job?.sale?.till ?? "local" : one(["local", "till-2"]);
  const training = of(8) === 0 ? { training: true } : {};
  const sale = { ...one(STATES), ...training, reference, till };
  const problem = { code: one(["busy", "supervisor-needed", "unauthorized", "no-answer", "agent-down", "journal", "http-500"]), status: one([403, 409, 500, 503]) };
  const about = { reference, till, sale };
  return {
    start: { reference: fresh, request: { ...REQUEST, ...training } }, "try-again": { reference: fresh }, "start-again": {}, "start-approved": { approval: "word" },
    draft: { change: { amount: "5.00" } }, prepare: { draft: { amount: "1.00" } }, posted: about, "post-refused": { reference, problem }, "post-lost": { reference },
    "ask-again": { reference }, fetched: { ...about, heard: often() ? job?.heard ?? 0 : 0 }, missing: { reference }, "fetch-lost": { reference },
    step: { ...training, data: one([{ reference, till, ...training, step: one(["pin-entry", "authorising", "ended"]), text: "", ...(often() && { sale }) }, {}]) },
    status: { ...training, status: { current: one([null, { ...sale, ...view({ reference, till }) }]), unconfirmed: [] } }, "link-up": {}, "link-lost": { agent: often() }, look: {},
    cancel: {}, cancelled: { ...about, cancel: one(["in-time", "too-late"]) }, "cancel-lost": { reference }, judge: { accepted: often() }, judged: about,
    "judge-lost": { reference }, leave: {}, "end-training": {}, "notice-read": {},
  };
}
const trains = (job) => !!(job?.sale?.training ?? job?.request?.training);
const name = (one) => `${one.till}/${one.reference}`;
/** Returns the transactions that the page shows as unconfirmed. */
const unconfirmed = ({ job, open }) => [...open, job?.sale].filter((sale) => isUnconfirmed(sale) && !sale.training).map(name);

/** Checks what must be true after each event, regardless of the earlier events. */
function check(before, event, next, done) {
  const [was, is] = [before.job, next.job];
  const byPerson = ACTS.includes(event.type);
  const posts = done.filter((effect) => effect.do === "post");
  assert.ok(posts.length <= 1, "two requests for one event");
  for (const post of posts) {
    assert.ok(is.posting && is.reference === post.reference, "a request that is not the job's");
    assert.deepEqual(post.request, is.request);
    const begins = event.type === "start" || event.type === "try-again";
    if (begins) {
      assert.ok(!isUnderWay(was), "a second sale beside one that runs");
      assert.deepEqual(done[0], { do: "remember", memory: { reference: is.reference, request: is.request, draft: is.draft, begunAt: is.begunAt } }, "begun before it is remembered");
    } else assert.equal(post.reference, was.reference, "a new reference for an old request");
    if (event.type === "start-again") assert.equal(was.phase, "not-begun");
    if (event.type === "start-approved") assert.equal(was.phase, "refused");
  }
  for (const effect of done) {
    assert.ok(EFFECTS.includes(effect.do), `nobody carries ${JSON.stringify(effect)} out`);
    if (effect.do === "forget") assert.ok(!isUnderWay(is) || is.reference !== effect.reference, "forgotten while it runs");
    if (["fetch", "cancel", "sign", "confirm"].includes(effect.do)) {
      const about = effect.do === "fetch" || event.type === "end-training" ? is ?? was : was;
      assert.equal(effect.reference, about.reference, `${effect.do} for another sale`);
      if (event.type !== "end-training" && !about.mine) assert.equal(effect.till, about.sale.till, `${effect.do} at another till`);
    }
    if (effect.do === "cancel" && event.type !== "end-training") assert.ok(mayCancel(was) && is.cancel === "asked");
    if (effect.do === "sign" && event.type !== "end-training") assert.equal(screenOf(was), "signature");
    if (effect.do === "confirm") assert.deepEqual([screenOf(was), effect.taken], ["confirm", event.accepted ? "all" : "nothing"]);
  }
  const ends = event.type === "end-training" && trains(was);
  if (was && !ends) {
    if (isUnderWay(was) || !(byPerson || mayBeReplaced(was))) {
      assert.equal(is?.reference, was.reference, "another sale took its place");
      if (was.sale && is.sale) assert.equal(is.sale.till, was.sale.till, "another till's sale took its place");
    }
    if (is?.reference === was.reference && is.begunAt === was.begunAt) {
      if (was.phase === "known") assert.equal(is.phase, "known", "what is known became unknown");
      if (was.sale?.state === "ended") assert.equal(is.sale.state, "ended", "an end was taken back");
      if (was.sale && is.sale !== was.sale) assert.equal(event.sale ?? event.data.sale, is.sale, "a sale from nowhere");
    }
  }
  if (is?.mine) assert.ok(next.own.includes(is.reference), "its own is called another's");
  if (is && !is.mine && is !== was && is.reference !== was?.reference) assert.ok(isRunning(is.sale), "an ended sale is thrown at the page");
  const told = event.type === "status" ? [] : unconfirmed(next);
  for (const one of event.type === "status" ? [] : unconfirmed(before)) {
    const answer = event.sale ?? event.data?.sale;
    const heard = answer && name(answer) === one && !isUnconfirmed(answer);
    assert.ok(told.includes(one) || heard || answer?.training, `${one} is watched no more`);
  }
}

test("no order of events begins a second sale, hides one that runs, or forgets one that is open", () => {
  const seen = new Map(EVENTS.map((type) => [type, 0]));
  assert.deepEqual(Object.keys(events(dice(1), up(), "r")).sort(), [...EVENTS].sort(), "each event that it knows is played");
  for (let round = 0; round < 1500; round += 1) {
    const random = dice(round + 1);
    let state = up();
    for (let n = 0; n < 40; n += 1) {
      const made = events(random, state, `r-${round}-${n}`);
      const type = random.one(random.of(3) ? EVENTS : LIKELY[state.job?.phase] ?? EVENTS);
      const event = { type, now: T + n * 3000, tick: n * 3000, ...made[type] };
      const [next, done] = reduce(state, event);
      try {
        check(state, event, next, done);
      } catch (why) {
        why.message += `\nround ${round}, event ${n}: ${JSON.stringify(event)}\nbefore: ${JSON.stringify(state)}\nafter: ${JSON.stringify(next)}\ndone: ${JSON.stringify(done)}`;
        throw why;
      }
      if (next !== state || done.length) seen.set(type, seen.get(type) + 1);
      state = next;
    }
  }
  for (const [type, times] of seen) assert.ok(times > 50, `${type} did something ${times} times`);
});

test("another's sale takes the place of nothing that runs, and of nothing that a person must read", () => {
  const another = view({ reference: "r-2", till: "till-2" });
  const coming = [
    { type: "step", data: { reference: "r-2", till: "till-2", step: "waiting-for-card", sale: another } },
    { type: "status", status: { current: another, unconfirmed: [] } },
  ];
  const own = (sale) => play(up(), { type: "start", reference: "r-1", request: REQUEST }, { type: "posted", reference: "r-1", sale })[0];
  const others = (sale) => play(up(), { type: "status", status: { current: view(), unconfirmed: [] } }, { type: "fetched", reference: "r-1", sale, heard: 0 })[0];
  for (const sale of STATES.filter((one) => !one.replayed)) {
    const runs = ["card", "bank", "signature", "confirm"];
    const screen = screenOf(own(sale).job);
    for (const [state, stays] of [[own(sale), screen !== "approved"], [others(sale), runs.includes(screen)]]) {
      for (const event of coming) {
        const [next] = play(state, event);
        assert.deepEqual([next.job.reference, next.job.mine], stays ? ["r-1", state.job.mine] : ["r-2", false], `${screen}, ${event.type}`);
        assert.equal(mayBeReplaced(state.job), !stays, screen);
      }
    }
  }
});

test("what is unconfirmed at one till is watched beside that of another till with the same reference", () => {
  const open = view({ state: "unconfirmed", till: "till-2" });
  const [both] = play({ ...up(), open: [open] }, { type: "start", reference: "r-1", request: REQUEST },
    { type: "posted", reference: "r-1", sale: view({ state: "unconfirmed" }) }, { type: "leave" });
  assert.deepEqual(both.open.map((sale) => sale.till), ["till-2", "local"]);
  const [one] = play(both, { type: "fetched", reference: "r-1", sale: ended("declined", { till: "till-2" }), heard: 0 });
  assert.deepEqual([one.open.map((sale) => sale.till), one.notices.map((sale) => sale.till)], [["local"], ["till-2"]]);
});
