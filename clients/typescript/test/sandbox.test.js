// The client against a whole shop: real agent and front, simulated devices. POS_SANDBOX names the pos-sandbox program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import {
  nodeTransport,
  pair,
  ProblemError,
  ReferenceUsed,
  Terminal,
  verifyWebhook,
  WrongCertificate,
} from "../dist/node.js";

const program = process.env.POS_SANDBOX;
const options = { skip: program ? false : "POS_SANDBOX names no pos-sandbox program", timeout: 120_000 };
let [shop, sandbox, terminal, hooks] = [];

const simulator = async (method, path, body) => {
  const answer = await fetch(`${shop.simulator}/simulator${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text && JSON.parse(text);
};
const CHIP = { card: "chip-pin", entry: "insert", pin: "1234" };
const present = (card = CHIP) => simulator("POST", "/card", card);
const at = (url, more) => new Terminal({ url, token: shop.token, transport: nodeTransport(), ...more });
/** Sells with a card that waits for the reader. */
async function sold(request, how, one = terminal) {
  // The card of the sale before may still be in the slot.
  while ((await terminal.status()).busy) await wait(200);
  await present();
  return one.sell(request, how);
}
/** Waits until the agent has settled a transaction. */
async function settled(sale) {
  const until = Date.now() + 90_000;
  for (let now = sale; ; now = await terminal.show(sale.reference, { waitS: 5 })) {
    if (now.state === "ended") return now.outcome;
    assert.ok(Date.now() < until && now.outcome === undefined, JSON.stringify(now));
    await wait(500);
  }
}
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/** Receives the webhooks of the front. */
function receiver() {
  const heard = [];
  const server = createHttpServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    heard.push({ headers: request.headers, body });
    response.writeHead(204).end();
  });
  return new Promise((done) =>
    server.listen(0, "127.0.0.1", () => done({ heard, server, url: `http://127.0.0.1:${server.address().port}/hook` })),
  );
}

before(async () => {
  if (!program) return;
  hooks = await receiver();
  sandbox = spawn(program, ["--json", "--webhook", hooks.url], { stdio: ["pipe", "pipe", "inherit"] });
  const silent = setTimeout(() => sandbox.kill(), 60_000).unref();
  const [line] = await Promise.race([
    once(createInterface(sandbox.stdout), "line"),
    once(sandbox, "exit").then(() => []),
  ]);
  clearTimeout(silent);
  assert.ok(line, "the sandbox says its addresses");
  shop = JSON.parse(line);
  terminal = at(shop.agent);
});
after(() => {
  sandbox?.stdin.end();
  hooks?.server.close();
  hooks?.server.closeAllConnections();
});

test("a sale has each outcome that the bank gives", options, async () => {
  for (const [amount, outcome, more] of [
    ["12.34", "approved"],
    ["5.51", "declined"],
    ["5.60", "partially-approved", { acceptPartial: true }],
    ["5.60", "reversed"],
  ]) {
    const sale = await sold({ amount, ...more });
    assert.deepEqual([sale.state, sale.outcome], ["ended", outcome], amount);
  }
  const partial = await terminal.sales({ order: "newest", outcome: "partially-approved" }).next();
  assert.equal(partial.value.approvedAmount, "2.80");
});

test("an approval without an answer is unconfirmed, and later reversed", options, async () => {
  assert.equal(await settled(await sold({ amount: "5.73" })), "reversed");
  // The bank approves and is silent, and then the line is cut, so nobody can ask it.
  const onStep = ({ step }) => {
    if (step === "authorising") setTimeout(() => simulator("POST", "/line", { gateway: "cut" }), 2000);
  };
  const sale = await sold({ amount: "5.71" }, { onStep });
  assert.deepEqual([sale.state, sale.outcome], ["unconfirmed", undefined]);
  await simulator("POST", "/line", { gateway: "restored" });
  assert.equal(await settled(sale), "reversed");
});

test("an abort cancels a sale that waits for a card", options, async () => {
  const stop = new AbortController();
  const steps = [];
  const sale = terminal.sell({ amount: "1.00" }, { signal: stop.signal, onStep: ({ step }) => steps.push(step) });
  await wait(2000);
  stop.abort();
  assert.equal((await sale).outcome, "cancelled");
  assert.ok(steps.includes("present-card"), steps.join());
});

test("without a line to the gateway, nothing is sent", options, async () => {
  await simulator("POST", "/line", { gateway: "cut" });
  try {
    assert.equal((await sold({ amount: "1.00" })).outcome, "not-sent");
  } finally {
    await simulator("POST", "/line", { gateway: "restored" });
  }
});

/** A line that loses the first answer to a begin. */
async function losing(t, url) {
  const { hostname, port } = new URL(url);
  let lost = 0;
  const server = createServer((till) => {
    const agent = connect(Number(port), hostname);
    let begins = false;
    till.on("data", (part) => {
      begins ||= part.includes("POST /v1/sales ");
      agent.write(part);
    });
    agent.on("data", (part) => {
      if (begins && lost === 0) {
        lost += 1;
        till.destroy();
        agent.destroy();
      } else till.write(part);
    });
    for (const [one, other] of [
      [till, agent],
      [agent, till],
    ])
      one.on("error", () => {}).on("close", () => other.destroy());
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, lost: () => lost };
}

test("a lost answer to the begin charges once", options, async (t) => {
  const line = await losing(t, shop.agent);
  let reference;
  const sale = await sold(
    { amount: "2.00" },
    {
      onReference: (one) => {
        reference = one;
      },
    },
    at(line.url),
  );
  assert.deepEqual([line.lost(), sale.outcome, sale.reference], [1, "approved", reference]);
  const all = [];
  for await (const one of terminal.sales({ reference })) all.push(one.outcome);
  assert.deepEqual(all, ["approved"]);
});

test("a sale survives the death of the agent", options, async () => {
  const sale = terminal.sell({ amount: "3.00", reference: `dies-${Date.now()}` });
  await wait(1500);
  await simulator("POST", "/power", { program: "agent" });
  const { reference, state, outcome } = await sale;
  assert.ok(state === "ended" && ["cancelled", "not-sent"].includes(outcome), `${state} ${outcome}`);
  await assert.rejects(terminal.sell({ amount: "3.00", reference }), ReferenceUsed);
  assert.equal((await terminal.sell({ amount: "3.00", reference }, { again: true })).outcome, outcome);
});

test("a known reference with another amount is refused", options, async () => {
  const { reference } = await sold({ amount: "1.00" });
  await assert.rejects(terminal.sell({ reference, amount: "1.01" }), { code: "amount-differs", reference });
  await assert.rejects(terminal.follow("never-asked-for"), { code: "no-such-sale" });
});

test("a busy terminal refuses, and names the sale", options, async () => {
  const stop = new AbortController();
  const first = terminal.sell({ amount: "1.00", reference: `busy-${Date.now()}` }, { signal: stop.signal });
  await wait(1000);
  const error = await terminal.sell({ amount: "2.00" }).catch((caught) => caught);
  stop.abort();
  assert.equal((await first).outcome, "cancelled");
  assert.ok(error instanceof ProblemError && error.code === "busy", String(error));
  assert.match(error.problem.reference, /^busy-/);
});

test("a refund, its receipt and the list", options, async () => {
  const sale = await sold({ amount: "10.00" });
  const refund = await terminal.refund(sale.reference, { amount: "4.00" });
  assert.deepEqual([refund.kind, refund.outcome], ["refund", "approved"]);
  await assert.rejects(terminal.refund(sale.reference, { amount: "7.00" }), { code: "amount" });
  assert.equal((await terminal.show(sale.reference)).left, "6.00");
  const text = await terminal.receipt(sale.reference, { as: "text", copy: "customer", width: 32 });
  assert.ok(text.includes("10.00") && text.split("\n").every((line) => line.length <= 32), text);
  assert.equal((await terminal.receipt(sale.reference)).reference, sale.reference);
  await terminal.printReceipt(sale.reference, { copy: "customer" });
  assert.equal((await terminal.latest()).reference, refund.reference);
  const numbers = [];
  for await (const { number } of terminal.sales({ limit: 2 })) numbers.push(number);
  assert.ok(numbers.length > 6 && new Set(numbers).size === numbers.length, numbers.join());
});

test("a till confirms a part, and the rest is refunded", options, async () => {
  const sale = await sold(
    { amount: "10.00", confirm: "till" },
    { onConfirm: () => ({ taken: "part", amount: "8.00" }) },
  );
  assert.deepEqual([sale.outcome, sale.rest?.amount], ["approved", "2.00"]);
  const none = await sold({ amount: "10.00", confirm: "till" }, { onConfirm: () => ({ taken: "nothing" }) });
  assert.equal(await settled(none), "reversed");
});

test("a training sale with a signature", options, async () => {
  for (const accepted of [true, false]) {
    const how = { onSignature: () => accepted };
    const begun = () => terminal.sell({ amount: "1.00", training: "signature" }, how).catch((error) => error);
    let sale = await begun();
    // For a moment after its end, the transaction before still keeps the terminal busy.
    for (let tries = 0; sale.code === "busy" && tries < 20; tries += 1) {
      await wait(500);
      sale = await begun();
    }
    assert.equal(sale.training, true, String(sale));
    assert.ok((accepted ? ["approved"] : [undefined, "reversed"]).includes(sale.outcome), String(sale.outcome));
  }
});

test("too many listeners are refused, and the events resume after the last one", options, async () => {
  const stop = new AbortController();
  const listeners = Array.from({ length: 4 }, () => terminal.events({ signal: stop.signal }));
  const firsts = listeners.map((one) => one.next());
  await wait(1000);
  const answer = await fetch(`${shop.agent}/v1/events`, { headers: { Authorization: `Bearer ${shop.token}` } });
  assert.equal(answer.status, 429);
  assert.equal((await answer.json()).code, "too-many-listeners");
  const { reference } = await sold({ amount: "1.00" });
  const [{ value: first }] = await Promise.all(firsts);
  stop.abort();
  const steps = [];
  for await (const event of terminal.events({ after: first.id })) {
    assert.equal(event.kind, "step");
    if (event.data.reference === reference) steps.push(event.step);
    if (event.step === "ended") break;
  }
  assert.ok(steps.length > 2, steps.join());
  const { value } = await terminal.events({ after: "0-0" }).next();
  assert.equal(value.kind, "reset");
});

test("a till is paired with the CA pinned, and its sale survives the death of the front", options, async () => {
  const start = hooks.heard.length;
  await simulator("POST", "/pairing", { open: true });
  const code = async () => (await simulator("GET", "/pairing")).waiting[0].code;
  const paired = await pair({
    url: shop.https,
    name: "till-2",
    confirmFingerprint: () => true,
    askCode: async () => {
      const shown = await code();
      setTimeout(() => simulator("POST", "/pairing", { approve: shown }), 1500);
      return shown;
    },
  });
  assert.deepEqual([paired.till, paired.ca.trim()], ["till-2", readFileSync(shop.ca, "utf8").trim()]);
  const till = new Terminal({ url: shop.https, token: paired.token, transport: nodeTransport({ ca: paired.ca }) });
  assert.equal((await till.status()).ready, true);
  await assert.rejects(
    new Terminal({ url: shop.https, token: paired.token, transport: nodeTransport() }).status(),
    WrongCertificate,
  );

  const sale = till.sell({ amount: "4.00" });
  await wait(1500);
  await simulator("POST", "/power", { program: "front" });
  await present();
  const { outcome, reference } = await sale;
  assert.equal(outcome, "approved");

  const until = Date.now() + 30_000;
  for (;;) {
    const events = await Promise.all(
      hooks.heard.slice(start).map((hook) => verifyWebhook({ ...hook, secret: shop.webhookSecret })),
    );
    if (
      events.some(
        ({ type, data }) => type === "ended" && data.reference === reference && data.sale.outcome === "approved",
      )
    )
      break;
    assert.ok(Date.now() < until, "a webhook says the outcome");
    await wait(500);
  }
});

test("the day is closed once", options, async () => {
  const reference = `Z-${Date.now()}`;
  const first = await terminal.close({ reference });
  assert.equal((await terminal.close({ reference })).number, first.number);
  assert.equal((await terminal.closeOf("last")).number, first.number);
  const numbers = [];
  for await (const { number } of terminal.closes()) numbers.push(number);
  assert.deepEqual(numbers, [first.number]);
});
