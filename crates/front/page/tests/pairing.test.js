// Pairing of tills: how long it is open, which tills wait, and the part of the terminal's screen that opens it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, mock, test } from "node:test";
import { found, said } from "./elements.js";
import { holds, minutes, pairingPart, told } from "../pairing.js";
import { terminalScreen } from "../terminal.js";
import { load } from "../words.js";

const WORDS = JSON.parse(readFileSync(new URL("../words/en.json", import.meta.url), "utf8"));
const KASSE = { name: "kasse-2", code: "482915", from: "192.168.1.31", approvedAs: null, leftS: 300 };
const json = (status, body) => new Response(JSON.stringify(body), { status });
/** Lets all asynchronous work continue as far as it can. */
const settled = async () => { for (let n = 0; n < 50; n += 1) await new Promise(setImmediate); };

let now, asked, streams, answer;
beforeEach(async () => {
  [now, asked, streams] = [1000, [], []];
  answer = () => json(200, { openForS: 300 });
  mock.method(performance, "now", () => now);
  mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.fetch = async () => json(200, WORDS);
  await load("en");
  globalThis.fetch = async (path, { method = "GET", signal, headers }) => {
    asked.push(`${method} ${path}`);
    if (path !== "/front/events") return answer();
    let writer;
    const body = new ReadableStream({ start(controller) { writer = controller; } });
    signal.addEventListener("abort", () => writer.error(new Error("aborted")));
    const bytes = new TextEncoder();
    streams.push({
      headers, signal, end: () => writer.close(),
      tell: async (state) => { writer.enqueue(bytes.encode(`event: pairing\ndata: ${JSON.stringify(state)}\n\n`)); await settled(); },
    });
    return new Response(body);
  };
});
afterEach(() => mock.reset());

/** Builds the part on a page with a connection, and functions to press its controls. */
async function shown() {
  const part = pairingPart();
  part.update("up", true);
  await settled();
  const button = found(part.el, "id", "pair-open");
  return { ...part, button, at: (role) => found(part.el, "role", role).textContent, press: async () => { await button.click(); await settled(); } };
}

test("what the front told holds for its seconds, from the arrival of the answer", () => {
  const open = told({ openForS: 300, waiting: [KASSE, { ...KASSE, code: "111111", leftS: 20 }] }, 5000);
  const codes = (tick) => holds(open, tick).waiting.map((one) => one.code);
  assert.deepEqual([5000, 5001, 6000, 304999, 305000, 900000].map((tick) => holds(open, tick).leftS), [300, 300, 299, 1, 0, 0]);
  assert.deepEqual([codes(24999), codes(25000), codes(305000)], [["482915", "111111"], ["482915"], []]);
  // The front sends `null` while pairing is closed; a till that has asked in time can still finish.
  const closed = holds(told({ openForS: null, waiting: [KASSE] }, 5000), 5000);
  assert.deepEqual([closed.leftS, closed.waiting.length], [0, 1]);
  assert.deepEqual([300, 299, 61, 9, 0].map(minutes), ["5:00", "4:59", "1:01", "0:09", "0:00"]);
});

test("one press opens pairing, and the time that is left is counted down to its end", async () => {
  const part = await shown();
  assert.equal(part.at("status"), WORDS.pair.closed);
  assert.equal(said(part.button), WORDS.pair.open);
  await part.press();
  assert.deepEqual(asked.slice(1), ["POST /front/pairing"]);
  assert.deepEqual([part.at("status"), part.at("timer"), part.at("alert")], [WORDS.pair.opened, "5:00 left", ""]);
  assert.equal(said(part.button), WORDS.pair.longer);
  now += 61000;
  part.tick();
  assert.equal(part.at("timer"), "3:59 left");
  await part.press();
  assert.equal(part.at("timer"), "5:00 left", "the time begins anew");
  now += 300000;
  part.tick();
  assert.deepEqual([part.at("status"), part.at("timer"), said(part.button)], [WORDS.pair.closed, "", WORDS.pair.open]);
});

test("each second says nothing to a screen reader; opening and the end do", async () => {
  const part = await shown();
  await part.press();
  const [status, timer] = ["status", "timer"].map((role) => found(part.el, "role", role));
  assert.ok(!status.textContent.includes("left"));
  assert.equal(timer.getAttribute("aria-live"), null, "a timer is silent by itself");
  const texts = status.nodes;
  now += 5000;
  part.tick();
  assert.equal(status.nodes, texts, "the same words are not written again");
});

test("a refusal is said in words, and nothing is said to be open", async () => {
  for (const [refused, words] of [
    [() => json(401, { code: "sign-in", detail: "nobody is signed in" }), WORDS.problem.unauthorized],
    [() => json(503, { code: "agent-down", detail: "x" }), WORDS.problem["agent-down"]],
    [() => json(429, { code: "too-many-requests", detail: "x" }), WORDS.problem["too-many-requests"]],
    [() => json(403, { code: "forbidden", detail: "x" }), WORDS.problem.forbidden],
    [() => json(403, { code: "later-word", detail: "why" }), `${WORDS.problem.other} (why)`],
    [() => json(401, { code: "session-ended", detail: "x" }), WORDS.problem.unauthorized],
    [() => { throw new TypeError("no line"); }, WORDS.problem.lost],
  ]) {
    const part = await shown();
    answer = refused;
    await part.press();
    assert.deepEqual([part.at("alert"), part.at("status"), part.at("timer")], [words, WORDS.pair.closed, ""]);
    answer = () => json(200, { openForS: 300 });
    await part.press();
    assert.deepEqual([part.at("alert"), part.at("timer")], ["", "5:00 left"], "it may be pressed again");
  }
});

test("a second press waits for the answer to the first", async () => {
  const part = await shown();
  let answered;
  answer = () => new Promise((done) => { answered = () => done(json(200, { openForS: 300 })); });
  const first = part.button.click();
  part.button.click();
  assert.equal(asked.filter((one) => one.startsWith("POST")).length, 1);
  answered();
  await first;
  assert.equal(part.button.getAttribute("aria-disabled"), null);
});

test("what was opened elsewhere is shown, with the code of each till that waits", async () => {
  const part = await shown();
  assert.deepEqual(asked, ["GET /front/events"]);
  assert.ok(!said(part.el).includes(WORDS.pair.then));
  await streams[0].tell({ openForS: 120, waiting: [{ ...KASSE, leftS: 200 }, { ...KASSE, name: "<b>x</b>", code: "000042", from: "fe80::1", approvedAs: "kasse-9" }] });
  assert.equal(part.at("timer"), "2:00 left");
  const words = said(part.el);
  for (const each of ["kasse-2 · 192.168.1.31 482915", "<b>x</b> · fe80::1 · approved as kasse-9 000042", WORDS.pair.then]) assert.ok(words.includes(each), words);
  // The page opens pairing for longer, and the waiting tills keep their own times.
  await part.press();
  assert.ok(said(part.el).includes("482915"));
  now += 200000;
  part.tick();
  assert.ok(!said(part.el).includes("482915") && said(part.el).includes("000042"), "it has waited too long");
  await streams[0].tell({ openForS: null, waiting: [] });
  assert.ok(!said(part.el).includes("000042") && !said(part.el).includes(WORDS.pair.then));
  assert.equal(part.at("status"), WORDS.pair.closed);
});

test("the list is written again only when it is another one", async () => {
  const part = await shown();
  await streams[0].tell({ openForS: 120, waiting: [KASSE] });
  const line = found(part.el, "class", "line");
  now += 1000;
  part.tick();
  assert.equal(found(part.el, "class", "line"), line);
  await streams[0].tell({ openForS: 119, waiting: [{ ...KASSE, approvedAs: "kasse-2" }] });
  assert.ok(said(part.el).includes("approved as kasse-2"));
});

test("it listens while it is shown and the line is up, and opens a stream that broke off again", async () => {
  const part = await shown();
  part.update("up", true);
  await settled();
  assert.equal(streams.length, 1, "one stream");
  assert.equal(streams[0].headers["Last-Event-ID"], undefined, "the ids of the sales' events are no business of this one");
  streams[0].end();
  await settled();
  mock.timers.tick(2999);
  await settled();
  assert.equal(streams.length, 1);
  mock.timers.tick(1);
  await settled();
  assert.equal(streams.length, 2);
  for (const link of ["lost", "agent-down"]) {
    part.update(link, true);
    assert.ok(streams.at(-1).signal.aborted, link);
    const before = streams.length;
    await settled();
    mock.timers.tick(10000);
    await settled();
    assert.equal(streams.length, before, `not while the line is ${link}`);
    part.update("up", true);
    await settled();
    assert.equal(streams.length, before + 1);
  }
  part.leave();
  assert.ok(streams.at(-1).signal.aborted);
  const before = streams.length;
  mock.timers.tick(10000);
  await settled();
  assert.equal(streams.length, before, "who has left the screen listens no more");
});

test("where no till may be paired the page offers nothing, and does not ask", async () => {
  const part = pairingPart();
  part.update("up", false);
  await settled();
  assert.deepEqual([part.el.hidden, asked], [true, []]);
  part.update("up", true);
  await settled();
  assert.deepEqual([part.el.hidden, asked], [false, ["GET /front/events"]]);
});

test("the terminal's screen has it, counts its time, and gives the stream free when it is left", async () => {
  let mayPair = false;
  const page = { settings: () => ({ languages: ["en", "de"], mayPair }), training: () => false };
  const screen = terminalScreen(page);
  const state = { link: "up", status: { ready: true, printers: [] }, open: [], job: { phase: "known" } };
  const button = found(screen.el, "id", "pair-open");
  screen.update(state);
  assert.ok(!said(screen.el).includes(WORDS.pair.title), "not where no till may be paired");
  mayPair = true;
  screen.update(state);
  await settled();
  assert.ok(said(screen.el).includes(`${WORDS.pair.title} ${WORDS.pair.closed}`));
  await button.click();
  now += 1000;
  screen.tick();
  assert.ok(said(screen.el).includes("4:59 left"));
  screen.update({ ...state, status: { ...state.status, ready: false } });
  assert.equal(found(screen.el, "id", "pair-open"), button, "what changes beside it takes no focus from the button");
  screen.leave();
  assert.ok(streams[0].signal.aborted);
});

test("the button has a name, is a button, and lies in no question over the page", async () => {
  const part = await shown();
  assert.deepEqual([part.button.tagName, part.button.type], ["BUTTON", "button"]);
  assert.ok(said(part.button));
  assert.ok(!part.el.all.some((one) => one.tagName === "DIALOG"), "a sale that runs stays in sight");
});
