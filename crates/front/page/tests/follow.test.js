// The cases of a followed transaction, which every client of the interface plays.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PASSING } from "../api.js";
import { screenOf } from "../state.js";
import { play, up, view } from "./playing.js";

const { cases, passing, afterTheLook } = JSON.parse(readFileSync(new URL("../../../till-api/src/follow-cases.json", import.meta.url)));
const about = { reference: "r-1" };
const WORD = { card: "watch", bank: "watch", signature: "judge", confirm: "say", unconfirmed: "open", finishing: "open", asking: "again", "not-begun": "again" };
const QUESTIONS = ["post", "fetch", "cancel", "sign", "confirm"];

/** A page that follows one transaction, and its open request. */
class Following {
  constructor() {
    this.state = up();
    this.hear({ type: "start", ...about, request: { kind: "sale", amount: "12.34" } });
  }
  hear(event) {
    this.was = this.state;
    let done;
    [this.state, done] = play(this.state, event);
    // Effects that are due later are played immediately.
    for (let later; (later = done.find((effect) => effect.do === "later")); done = play(this.state, later.event)[1]);
    this.asks = done.find((effect) => QUESTIONS.includes(effect.do))?.do;
  }
  lost() {
    this.hear({ type: { post: "post-lost", fetch: "fetch-lost", cancel: "cancel-lost" }[this.asks ?? "fetch"] ?? "judge-lost", ...about });
  }
  refused(code, status) {
    if (this.asks === "post") return this.hear({ type: "post-refused", ...about, problem: { code, status: status ?? 422 } });
    // A begin that is refused after the question for the reference: the terminal did not have it, so the begin was sent
    // again.
    if (this.asks === "fetch" && this.state.job.phase === "asking" && afterTheLook.includes(code)) {
      this.hear({ type: "missing", ...about });
      return this.refused(code, status);
    }
    return this.lost();
  }
  stands(more, stopped) {
    const sale = view(more);
    const was = this.asks;
    if (was === "fetch" && this.state.job.phase === "asking" && !more.replayed) {
      this.hear({ type: "missing", ...about });
      return this.stands(more);
    }
    const type = { post: "posted", cancel: "cancelled", sign: "judged", confirm: "judged" }[was] ?? "fetched";
    return this.hear({ type, ...about, sale, cancel: stopped, heard: this.state.job.heard });
  }
  command(name) {
    this.hear({ stop: { type: "cancel" }, sign: { type: "judge", accepted: true }, take: { type: "judge", accepted: true } }[name]);
    assert.ok(this.asks, name);
  }
  comesTo(line) {
    const screen = screenOf(this.state.job);
    if (this.asks) return "again";
    if (screen === "refused") return line.sale ? "another" : "refused";
    return this.state.job.sale?.state === "ended" ? "over" : WORD[screen];
  }
}

test("every case comes to what it says", () => {
  let played = 0;
  for (const { name, each = [""], play: lines } of cases) {
    for (const one of each) {
      const page = new Following();
      for (const line of JSON.parse(JSON.stringify(lines).replaceAll("$each", one))) {
        if (line.till) page.command(line.till);
        else if (line.lost || line.unreached) page.lost();
        else if (line.refused) page.refused(line.refused, line.status);
        else page.stands(line.sale, line.stopped);
        assert.equal(page.comesTo(line), line.then, `${name}, ${one}: ${JSON.stringify(line)}`);
        played += 1;
      }
    }
  }
  assert.ok(played > 80, `${played} lines`);
});

test("what is asked again is what the cases name, and a front without its agent", () => {
  assert.deepEqual([...PASSING].sort(), [...passing, "agent-down"].sort());
});
