// The parser of server-sent events, and the stream over lost connections.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BadStream, NoAnswer, ProblemError } from "../dist/index.js";
import { EventParser, listen } from "../dist/events.js";

const bytes = (text) => new TextEncoder().encode(text);
const progress = (step, more) => JSON.stringify({ till: "t", reference: "r", step, text: "Karte – bitte €", ...more });
const TEXT = [
  "\uFEFF: listening\nid: a-1\n\n",
  `id: a-2\nevent: present-card\ndata: ${progress("present-card")}\n\n`,
  "data: one\r\ndata:two\r\nid: a-3\r\n\r\n",
  ":\rid: a-4\r\revent: x\rdata\r\r",
  "unknown: 1\nid: \0\ndata: {}\n\n",
  "id: a-5\ndata: half",
].join("");
const EXPECTED = [
  { id: "a-2", event: "present-card", data: progress("present-card") },
  { id: "a-3", event: "message", data: "one\ntwo" },
  { id: "a-4", event: "x", data: "" },
  { id: "a-4", event: "message", data: "{}" },
];

test("a stream split at any byte has the same events", () => {
  const all = bytes(TEXT);
  for (let at = 0; at <= all.length; at += 1) {
    const parser = new EventParser();
    assert.deepEqual(
      [...parser.push(all.subarray(0, at)), ...parser.push(all.subarray(at))],
      EXPECTED,
      `split at ${at}`,
    );
    assert.equal(parser.id, "a-4");
  }
  const parser = new EventParser();
  assert.deepEqual(
    [...all].flatMap((byte) => parser.push(Uint8Array.of(byte))),
    EXPECTED,
    "single bytes",
  );
});

test("a long line and a long event end the stream", () => {
  const parser = new EventParser();
  const part = bytes("x".repeat(1 << 16));
  assert.throws(() => {
    for (let n = 0; n < 20; n += 1) parser.push(part);
  }, BadStream);
  const other = new EventParser();
  const line = bytes(`data: ${"x".repeat(1 << 16)}\n`);
  assert.throws(() => {
    for (let n = 0; n < 20; n += 1) other.push(line);
  }, BadStream);
});

const refused = (status, code, after) =>
  new ProblemError(status, { code, status, title: "", detail: "", type: "" }, after);
/** Opens one of these streams after the other. */
function opening(...streams) {
  const after = [];
  async function* parts(texts) {
    for (const text of texts) yield bytes(text);
  }
  const open = async (id) => {
    after.push(id);
    const next = streams.shift();
    if (next instanceof Error) throw next;
    return parts(next);
  };
  return { open, after };
}

test("a lost stream continues after its last event, and says what it missed", async () => {
  const event = (id, step) => `id: ${id}\nevent: ${step}\ndata: ${progress(step)}\n\n`;
  const { open, after } = opening(
    [": listening\nid: 5\n\n", event(6, "idle"), event(7, "a-word-of-later")],
    new NoAnswer("cut", false),
    refused(429, "too-many-listeners", 0),
    refused(503, "agent-down", 0),
    ["id: 9\nevent: reset\ndata: {}\n\n", "id: 10\nevent: of-later\ndata: no object\n\n", event(11, "ended")],
  );
  const stop = new AbortController();
  const heard = [];
  for await (const one of listen(open, "3", stop.signal)) {
    heard.push(one.kind === "reset" ? "reset" : one.step);
    if (one.step === "ended") stop.abort();
  }
  assert.deepEqual(heard, ["idle", "a-word-of-later", "reset", "ended"]);
  assert.deepEqual(after, ["3", "7", "7", "7", "7"]);
});

test("a refusal that does not pass ends the stream", async () => {
  const { open } = opening(refused(401, "unauthorized"));
  await assert.rejects(listen(open).next(), { code: "unauthorized" });
});

test("a silent connection is opened again", async () => {
  const after = [];
  const open = async (id, signal) => {
    after.push(id);
    return (async function* () {
      yield bytes(after.length === 1 ? "id: 1\n\n" : `id: 2\nevent: idle\ndata: ${progress("idle")}\n\n`);
      await new Promise((_, failed) => signal.addEventListener("abort", () => failed(new Error("aborted"))));
    })();
  };
  const began = Date.now();
  for await (const one of listen(open)) {
    assert.equal(one.step, "idle");
    break;
  }
  assert.deepEqual(after, ["", "1"]);
  assert.ok(Date.now() - began > 9_900, "after ten seconds without a byte");
});
