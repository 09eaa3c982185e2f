// The terminal over a real connection to a small server: lost answers, refusals, and older and newer agents.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  NoAnswer,
  nodeTransport,
  OutcomeUnknown,
  ProblemError,
  ReferenceUsed,
  Terminal,
  TerminalError,
} from "../dist/node.js";
import { problem, sale, server } from "./server.js";

const TOKEN = "secret-token-4711";
const till = ({ url }, more) => new Terminal({ url, token: TOKEN, transport: nodeTransport(), ...more });
const REQUEST = { reference: "r-1", amount: "12.34" };
const isBegin = ({ method, path }) => method === "POST" && path === "/v1/sales";
const begins = (asked) => asked.filter(isBegin).map(({ body }) => body.reference);
const steps =
  (...said) =>
  (asked) =>
    asked.path === "/v1/events" ? [404] : said.length > 1 ? said.shift() : said[0];

test("a sale is begun and followed to its outcome", async (t) => {
  const there = await server(
    t,
    steps([201, sale("waiting-for-card")], [200, sale("in-progress")], [200, sale("ended", { outcome: "approved" })]),
  );
  let stored;
  const result = await till(there, { operator: "Anna" }).sell(
    { amount: "12.34" },
    {
      onReference: (one) => {
        stored = one;
      },
    },
  );
  assert.equal(result.outcome, "approved");
  const [first, second] = there.asked;
  assert.deepEqual(first.body, { operator: "Anna", amount: "12.34", reference: stored });
  assert.equal(first.headers.authorization, `Bearer ${TOKEN}`);
  assert.equal(first.headers["content-type"], "application/json");
  assert.deepEqual([second.path, second.query.get("wait-s")], [`/v1/sales/${stored}`, "10"]);
});

test("the address for the events goes with each request that begins the sale, and with no other", async (t) => {
  const callback = "https://till.example/pos/42";
  const there = await server(t, steps("cut", [201, sale("waiting-for-card")], [200, sale("ended", { outcome: "approved" })]));
  await till(there).sell({ amount: "12.34" }, { callback: new URL(callback) });
  const sent = there.asked.filter(({ path }) => path !== "/v1/events").map(({ headers }) => headers["pos-callback"]);
  assert.deepEqual(sent, [callback, callback, undefined]);
  const plain = await server(t, steps([201, sale("ended", { outcome: "approved" })]));
  await till(plain).refund("1", { amount: "1.00" });
  await till(plain).begin({ reference: "2", amount: "1.00" }, { callback });
  assert.deepEqual(plain.asked.map(({ headers }) => headers["pos-callback"]), [undefined, callback]);
});

test("a lost answer is asked for with the same reference", async (t) => {
  const there = await server(
    t,
    steps("cut", [200, '{"state":"in-prog'], problem(503, "journal"), [
      200,
      sale("ended", { outcome: "declined", replayed: true }),
    ]),
  );
  assert.equal((await till(there).sell({ amount: "12.34" })).outcome, "declined");
  assert.equal(there.asked.length, 4);
  assert.equal(new Set(begins(there.asked)).size, 1, "one reference");
});

test("a first refusal is one, and names its reference", async (t) => {
  const there = await server(t, steps(problem(409, "busy", { reference: "other" })));
  await assert.rejects(
    till(there).sell(REQUEST),
    (error) =>
      error instanceof ProblemError &&
      error.code === "busy" &&
      error.status === 409 &&
      error.reference === "r-1" &&
      error.problem.reference === "other" &&
      error.detail === "do this",
  );
});

test("a reference that was used before is another sale's, unless it is the same sale again", async (t) => {
  const there = await server(t, steps([200, sale("ended", { outcome: "approved", replayed: true })]));
  await assert.rejects(
    till(there).sell(REQUEST),
    (error) => error instanceof ReferenceUsed && error.sale.outcome === "approved",
  );
  assert.equal((await till(there).sell(REQUEST, { again: true })).outcome, "approved");
});

test("a silence of half a minute is unknown, and never declined", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const transport = async () => {
    throw new NoAnswer("cut", true);
  };
  const sold = till({ url: "https://kasse.local" }, { transport })
    .sell(REQUEST)
    .catch((error) => error);
  for (let n = 0; n < 40; n += 1) {
    await new Promise(setImmediate);
    t.mock.timers.tick(1000);
  }
  const error = await sold;
  assert.ok(error instanceof OutcomeUnknown, String(error));
  assert.equal(error.reference, "r-1");
  assert.match(error.message, /r-1.*follow\(reference\)/);
});

test("a terminal that nobody reaches has begun nothing", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const closed = createServer();
  await new Promise((done) => closed.listen(0, "127.0.0.1", done));
  const { port } = closed.address();
  await new Promise((done) => closed.close(done));
  const sold = till({ url: `http://127.0.0.1:${port}` })
    .sell(REQUEST)
    .catch((error) => error);
  setTimeout(() => t.mock.timers.tick(31_000), 500);
  const error = await sold;
  assert.ok(error instanceof NoAnswer && !error.mayBeDone && error.reference === "r-1", String(error));
});

test("an abort cancels at the terminal, and the outcome is still the real one", async (t) => {
  const stop = new AbortController();
  const there = await server(t, async ({ method, path }) => {
    if (path.endsWith("/cancel")) return [200, sale("in-progress", { cancel: "too-late", cancelText: "too late" })];
    if (method === "POST") return [201, sale("waiting-for-card")];
    if (!stop.signal.aborted) {
      stop.abort();
      return new Promise((done) => setTimeout(() => done([200, sale("in-progress")]), 300));
    }
    return [200, sale("ended", { outcome: "approved" })];
  });
  assert.equal((await till(there).sell(REQUEST, { signal: stop.signal })).outcome, "approved");
  assert.equal(there.asked.filter(({ path }) => path.endsWith("/cancel")).length, 1);
  await assert.rejects(till(there).sell(REQUEST, { signal: stop.signal }), { name: "AbortError" });
});

test("an abort before the begin is answered asks for it in its own time, and then cancels", async (t) => {
  const stop = new AbortController();
  const there = await server(t, ({ path }, count) => {
    if (count === 1) setTimeout(() => stop.abort(), 200);
    if (count < 3) return "cut";
    if (path.endsWith("/cancel")) return [200, sale("ended", { cancel: "in-time", outcome: "cancelled" })];
    return [200, sale("waiting-for-card", { replayed: true })];
  });
  assert.equal((await till(there).sell(REQUEST, { signal: stop.signal })).outcome, "cancelled");
  assert.deepEqual(
    there.asked.map(({ path }) => path),
    [...Array(3).fill("/v1/sales"), "/v1/sales/r-1/cancel"],
  );
});

test("an abort while nobody is reached begins nothing", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 200);
  await assert.rejects(till({ url: "http://127.0.0.1:1" }).sell(REQUEST, { signal: stop.signal }), {
    name: "AbortError",
  });
});

test("the transport over fetch carries a sale, its lost answer and its events", async (t) => {
  const step = (word) => `id: 1\nevent: ${word}\ndata: ${JSON.stringify({ reference: "r-1", step: word })}\n\n`;
  const there = await server(t, ({ path }, count) => {
    if (path === "/v1/events") return [200, step("idle"), { "Content-Type": "text/event-stream" }];
    return count === 1 ? "cut" : [200, sale("ended", { outcome: "approved", replayed: true })];
  });
  const one = new Terminal({ url: there.url, token: TOKEN });
  assert.equal((await one.sell(REQUEST)).outcome, "approved");
  assert.equal((await one.events().next()).value.step, "idle");
  assert.equal(there.asked[0].headers.authorization, `Bearer ${TOKEN}`);
});

test("the client for browsers imports nothing of Node", () => {
  const seen = new Set();
  const walk = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(new URL(`../dist/${file}`, import.meta.url), "utf8");
    for (const [, from] of text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
      assert.match(from, /^\.\//, `${file} imports ${from}`);
      walk(from.slice(2));
    }
  };
  walk("index.js");
  assert.ok(seen.size > 6);
});

test("the signature is judged once, although its answer is lost", async (t) => {
  const there = await server(
    t,
    steps([201, sale("waiting-for-card")], [200, sale("awaiting-signature")], "cut", [
      200,
      sale("ended", { outcome: "approved" }),
    ]),
  );
  let judged = 0;
  assert.equal(
    (
      await till(there).sell(REQUEST, {
        onSignature: () => {
          judged += 1;
          return true;
        },
      })
    ).outcome,
    "approved",
  );
  assert.equal(judged, 1);
  assert.deepEqual(
    there.asked.filter(({ path }) => path.endsWith("/signature")).map(({ body }) => body),
    Array(2).fill({ accepted: true }),
  );
});

test("a refused confirmation is answered again, and the outcome is heard", async (t) => {
  const there = await server(
    t,
    steps(
      [201, sale("awaiting-till", { toConfirm: { amount: "12.34" } })],
      problem(422, "amount"),
      [200, sale("awaiting-till")],
      [200, sale("ended", { outcome: "approved" })],
    ),
  );
  const heard = [];
  const onConfirm = (_, refused) => {
    heard.push(refused?.code);
    return { taken: "part", amount: refused ? "8.00" : "80.00" };
  };
  assert.equal((await till(there).sell({ ...REQUEST, confirm: "till" }, { onConfirm })).outcome, "approved");
  assert.deepEqual(heard, [undefined, "amount"]);
  assert.deepEqual(there.asked.at(-1).body, { taken: "part", amount: "8.00" });
  await assert.rejects(till(there).sell({ ...REQUEST, confirm: "till" }), TypeError);
});

test("an unconfirmed sale has no outcome", async (t) => {
  const there = await server(t, steps([201, sale("in-progress")], [200, sale("unconfirmed", { reason: "no-answer" })]));
  const { state, outcome } = await till(there).sell(REQUEST);
  assert.deepEqual([state, outcome], ["unconfirmed", undefined]);
});

test("an older agent's missing fields and a newer agent's words are no fault", async (t) => {
  const old = await server(
    t,
    steps([201, { state: "waiting-for-card" }], [200, { state: "ended", outcome: "approved" }]),
  );
  assert.equal((await till(old).sell(REQUEST)).outcome, "approved");
  const later = await server(
    t,
    steps(
      [201, sale("a-later-state", { laterField: { a: [1] } })],
      [200, sale("ended", { outcome: "a-later-outcome", card: { laterField: 1 } })],
    ),
  );
  assert.equal((await till(later).sell(REQUEST)).outcome, "a-later-outcome");
  const refusing = await server(t, steps([418, { code: "a-later-code", laterField: 1 }]));
  await assert.rejects(till(refusing).status(), { code: "a-later-code", detail: "" });
  const list = await server(t, steps([200, {}]));
  for await (const one of till(list).sales()) assert.fail(one);
});

test("too many requests are repeated after the time that the terminal says", async (t) => {
  const there = await server(
    t,
    steps([...problem(429, "list-under-way"), { "Retry-After": "1" }], problem(503, "agent-down", { retryAfterS: 1 }), [
      200,
      { ready: true },
    ]),
  );
  const began = Date.now();
  assert.equal((await till(there).status()).ready, true);
  assert.ok(Date.now() - began > 1900);
  const once = await server(t, steps(problem(429, "operator-locked", { retryAfterS: 3600 })));
  await assert.rejects(till(once).latest(), { code: "operator-locked", retryAfterS: 3600 });
});

test("a list follows its cursors, also over an empty page", async (t) => {
  const there = await server(t, ({ query }) => [
    200,
    {
      null: { sales: [sale("ended", { number: 1 })], next: "1" },
      1: { sales: [], next: "2" },
      2: { sales: [sale("ended", { number: 2 })] },
    }[query.get("cursor")],
  ]);
  const numbers = [];
  for await (const { number } of till(there).sales({ kind: "sale", limit: 1 })) numbers.push(number);
  assert.deepEqual(numbers, [1, 2]);
  assert.deepEqual(
    there.asked.map(({ query }) => query.toString()),
    ["kind=sale&limit=1", "kind=sale&limit=1&cursor=1", "kind=sale&limit=1&cursor=2"],
  );
});

test("a receipt is text or data, and the path of a reference is encoded", async (t) => {
  const there = await server(t, ({ headers }) =>
    headers.accept === "text/plain" ? [200, "TEXT"] : [200, { text: "JSON" }],
  );
  assert.equal(await till(there).receipt("a/b ?", { as: "text", copy: "customer", width: 32 }), "TEXT");
  assert.equal((await till(there).receipt("a/b ?")).text, "JSON");
  assert.equal(there.asked[0].path, "/v1/sales/a%2Fb%20%3F/receipt");
  assert.equal(there.asked[0].query.toString(), "copy=customer&width=32");
});

test("an amount that is no text is refused before anything is sent", async (t) => {
  const there = await server(t, steps([500]));
  const one = till(there);
  for (const amount of [12.34, "12,34", "1e3", "-1.00", "", " 1", NaN, null]) {
    await assert.rejects(one.sell({ amount }), TypeError);
    assert.throws(() => one.begin({ reference: "r", amount }), TypeError);
    assert.throws(() => one.confirm("r", { taken: "part", amount }), TypeError);
  }
  await assert.rejects(one.sell({ amount: "1.00", tip: 0.5 }), TypeError);
  assert.deepEqual(there.asked, []);
});

test("the token is in no text of the terminal or its errors", async (t) => {
  const there = await server(t, steps(problem(401, "unauthorized")));
  const one = till(there);
  const error = await one.status().catch((caught) => caught);
  const lost = await till({ url: "http://127.0.0.1:1" })
    .printReceipt("r")
    .catch((caught) => caught);
  assert.ok(lost instanceof TerminalError);
  for (const text of [one, error, lost].flatMap((it) => [
    inspect(it, { depth: 9, showHidden: true }),
    JSON.stringify(it),
    String(it),
  ])) {
    assert.ok(!text.includes(TOKEN), text);
  }
  assert.throws(
    () => till(there, { token: `${TOKEN}\n` }),
    (bad) => !bad.message.includes(TOKEN),
  );
});

test("the address needs TLS, except on this machine", () => {
  for (const url of ["http://192.168.1.30:8651", "http://kasse.local", "ftp://127.0.0.1", "https://a:b@kasse.local"]) {
    assert.throws(() => till({ url }), TypeError, url);
  }
  for (const url of ["https://192.168.1.30:8443", "http://127.0.0.1:8650", "http://localhost:1", "http://[::1]:1"])
    till({ url });
});

test("a wait is longer than the idle time of a connection", async (t) => {
  const there = await server(t, () => new Promise((done) => setTimeout(() => done([200, sale("ended")]), 6000)));
  assert.equal((await till(there).show("r-1", { waitS: 10 })).state, "ended");
  assert.equal(there.asked.length, 1);
});

test("the steps are told while the sale is followed", async (t) => {
  const told = [];
  const step = (id, reference, word) =>
    `id: ${id}\nevent: ${word}\ndata: ${JSON.stringify({ till: "t", reference, step: word, text: "" })}\n\n`;
  const there = await server(t, async ({ path, method }) => {
    if (path === "/v1/events")
      return [
        200,
        step(1, "other", "present-card") + step(2, "r-1", "pin-entry"),
        { "Content-Type": "text/event-stream" },
      ];
    if (method === "POST") return [201, sale("waiting-for-card")];
    await new Promise((done) => setTimeout(done, 500));
    return [200, sale("ended", { outcome: "approved" })];
  });
  await till(there).sell(REQUEST, {
    onStep: ({ step: word }) => {
      told.push(word);
      throw new Error("a fault of the display");
    },
  });
  assert.deepEqual(told, ["pin-entry"]);
});
