// The cases of a followed transaction, which every client of the interface plays.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Follower, isPassing, LONGEST_SILENCE, nextActor, PAUSE } from "../dist/follow.js";

const file = new URL("../../../crates/till-api/src/follow-cases.json", import.meta.url);
const { cases, passing, afterTheLook } = JSON.parse(readFileSync(file, "utf8"));
const begun = () => Follower.begin({ reference: "z 1", amount: "12.34" });
const STATUS = { journal: 503, "not-ready": 503, "no-answer": 503, "no-place": 503, printer: 503, gateway: 502 };
const refusal = (code, status) => ({ is: "refused", status: status ?? STATUS[code] ?? 422, problem: { code } });
const lost = (mayBeDone) => ({ is: "no-answer", mayBeDone });
const WORDS = { agent: "watch", cashier: "judge", till: "say", recovery: "open", none: "over" };

function said(follower, line) {
  // The transport reads this refusal as a missing answer.
  if (line.refused === "no-answer") return lost(follower.ask.do !== "show");
  if (line.refused) return refusal(line.refused, line.status);
  if (line.lost || line.unreached) return lost(Boolean(line.lost));
  const sale = { reference: "z 1", kind: "sale", amount: "12.34", ...line.sale };
  return line.stopped ? { is: "cancelled", inTime: line.stopped === "in-time", sale } : { is: "sale", sale };
}

function comesTo(heard) {
  switch (heard.is) {
    case "stands":
    case "stopped":
      return WORDS[nextActor(heard.sale.state)];
    case "was-there":
      return "another";
    case "next":
      return "again";
    case "silent":
      return heard.mayStand ? "unknown" : "nothing";
    default:
      return heard.is;
  }
}

function play(follower, line, now) {
  const command = {
    stop: () => follower.cancel(),
    sign: () => follower.sign(true),
    take: () => follower.confirm({ taken: "all" }),
  }[line.till];
  if (command) {
    command();
    return "again";
  }
  const what = comesTo(follower.said(said(follower, line), now));
  if (what === "watch") follower.watch();
  return what;
}

test("every case comes to what it says", () => {
  let played = 0;
  for (const { name, each = [""], play: lines } of cases) {
    for (const one of each) {
      const follower = begun();
      let now = 0;
      for (const line of JSON.parse(JSON.stringify(lines).replaceAll("$each", one))) {
        assert.equal(play(follower, line, now), line.then, `${name}, ${one}: ${JSON.stringify(line)}`);
        assert.equal(follower.reference, "z 1");
        now += PAUSE;
        played += 1;
      }
    }
  }
  assert.ok(played > 80, `${played} lines`);
});

test("the rules name the same problems as the cases", () => {
  for (const code of passing) assert.ok(isPassing({ code }), code);
  for (const code of afterTheLook) {
    const follower = begun();
    follower.said(lost(true), 0);
    assert.equal(follower.said(refusal(code), 1).is, "refused", code);
    assert.ok(!isPassing({ code }), code);
  }
});

function untilItGivesUp(follower, answer) {
  for (let now = 0, asked = 1; ; asked += 1) {
    const heard = follower.said(answer(), now);
    if (heard.is !== "next") return { asked, heard };
    assert.equal(heard.ask, follower.ask);
    now = heard.at;
  }
}

test("a silence of half a minute ends the questions and says what may be", () => {
  for (const mayStand of [true, false]) {
    assert.deepEqual(
      untilItGivesUp(begun(), () => lost(mayStand)),
      { asked: 31, heard: { is: "silent", mayStand } },
    );
  }
  let first = lost(true);
  const { heard } = untilItGivesUp(begun(), () => {
    const one = first ?? refusal("journal");
    first = null;
    return one;
  });
  assert.deepEqual(heard, { is: "silent", mayStand: true });
  assert.deepEqual(untilItGivesUp(begun(), () => refusal("too-many-requests")).heard, { is: "refused" });
});

test("a begin that reached nobody leaves nothing open", () => {
  const follower = begun();
  follower.said(lost(false), 0);
  assert.deepEqual(follower.said(refusal("journal"), PAUSE), { is: "refused" });
});

test("each answer starts the silence anew", () => {
  const follower = begun();
  assert.equal(follower.said(lost(true), 1000).is, "next");
  assert.equal(follower.said({ is: "sale", sale: { state: "in-progress", replayed: true } }, 2000).is, "stands");
  follower.watch();
  assert.deepEqual(follower.said(lost(true), 40_000), { is: "next", at: 40_000 + PAUSE, ask: follower.ask });
});

test("what stands is followed without a begin", () => {
  const follower = Follower.of("z 1");
  assert.ok(follower.mayStand);
  assert.equal(follower.said(lost(false), 0).is, "next");
  assert.deepEqual(follower.said(refusal("journal"), LONGEST_SILENCE), { is: "silent", mayStand: true });
});

test("a begin that the till may have sent before is its own transaction", () => {
  const follower = Follower.begin({ reference: "z 1" }, true);
  assert.equal(follower.said(refusal("forbidden"), 0).is, "next");
  assert.equal(follower.said({ is: "sale", sale: { state: "ended", replayed: true } }, 1000).is, "stands");
});

test("no name of an object's own methods is a state", () => assert.equal(nextActor("constructor"), "agent"));
