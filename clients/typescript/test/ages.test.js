// The client against a newer and an older agent: a real shop behind a line that changes its answers (ages.js).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { nodeTransport, Terminal } from "../dist/node.js";
import { FIELD, LATER, lineTo, VALUE, WORD } from "./ages.js";

const program = process.env.POS_SANDBOX;
const options = { skip: program ? false : "POS_SANDBOX names no pos-sandbox program", timeout: 60_000 };
let [shop, sandbox] = [];
const ledger = async () => (await fetch(`${shop.simulator}/simulator/ledger`)).json();
const at = (url) => new Terminal({ url, token: shop.token, transport: nodeTransport() });

before(async () => {
  if (!program) return;
  sandbox = spawn(program, ["--json", "--auto", "tap"], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await Promise.race([
    once(createInterface(sandbox.stdout), "line"),
    once(sandbox, "exit").then(() => []),
  ]);
  assert.ok(line, "the sandbox says its addresses");
  shop = JSON.parse(line);
});
after(() => sandbox?.stdin.end());

/** Returns the id of the terminal's latest event. */
async function latestEvent() {
  const stop = new AbortController();
  const headers = { Authorization: `Bearer ${shop.token}` };
  const { body } = await fetch(`${shop.agent}/v1/events`, { headers, signal: stop.signal });
  let text = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const [, id] = /^id: (.*)\n/m.exec((text += part)) ?? [];
    if (id) return id;
  }
}
/** Returns the events after one, up to the end of the transaction. */
async function eventsOf(reference, terminal, start) {
  const heard = [];
  for await (const event of terminal.events({ after: start })) {
    heard.push(event);
    if (event.step === "ended" && event.data.reference === reference) return heard;
  }
}

test("the description names the fields that an older agent lacks", () => {
  assert.ok(LATER.includes("Status.waits") && LATER.includes("Sale.receiptNumber"), LATER.join());
});

for (const isNewer of [true, false]) {
  const age = isNewer ? "a newer" : "an older";
  const line = async (t) => {
    const one = await lineTo(shop.agent, isNewer);
    t.after(one.close);
    return [one, at(one.url)];
  };

  test(`${age} agent: sales, a refund, the receipt and the status`, options, async (t) => {
    const [, till] = await line(t);
    const sale = await till.sell({ amount: "12.34", tillData: { table: "7" } });
    assert.deepEqual([sale.outcome, sale.approvedAmount, sale.tillData], ["approved", "12.34", { table: "7" }]);
    assert.deepEqual([sale[FIELD], sale.card[FIELD]], isNewer ? [VALUE, VALUE] : [undefined, undefined]);
    assert.equal(sale.receiptNumber, isNewer ? sale.number : undefined);
    const declined = await till.sell({ amount: "5.51" });
    assert.deepEqual([declined.outcome, declined.reason === WORD], ["declined", isNewer]);
    const refund = await till.refund(sale.reference, { amount: "4.00" });
    assert.deepEqual([refund.kind, refund.outcome], ["refund", "approved"]);
    assert.equal((await till.show(sale.reference)).left, "8.34");
    assert.match(await till.receipt(sale.reference, { as: "text" }), /12\.34/);
    assert.match((await till.receipt(sale.reference)).text, /APPROVED/);
    const all = [];
    for await (const one of till.sales({ order: "newest", limit: 1 })) if (all.push(one.reference) === 3) break;
    assert.deepEqual(all, [refund.reference, declined.reference, sale.reference]);
    const { ready, waits } = await till.status();
    assert.deepEqual([ready, waits?.cardS], [true, isNewer ? 60 : undefined]);
    await assert.rejects(till.follow("never"), { code: "no-such-sale", status: 404 });
    if (isNewer) assert.equal((await till.latest()).reference, refund.reference);
    else await assert.rejects(till.latest(), { code: "not-found", status: 404 });
  });

  test(`${age} agent: the events continue inside an event that was cut`, options, async (t) => {
    const [one, till] = await line(t);
    const start = await latestEvent();
    one.cuts = 1;
    const reference = `events-${isNewer}`;
    const [heard, sale] = await Promise.all([
      eventsOf(reference, till, start),
      till.sell({ reference, amount: "3.00" }),
    ]);
    const known = (events) => events.filter(({ step }) => step !== WORD).map(({ id, step }) => `${id} ${step}`);
    assert.deepEqual(known(heard), known(await eventsOf(reference, at(shop.agent), start)));
    assert.deepEqual([one.cuts, one.streams], [0, 2]);
    const { data } = heard.at(-1);
    assert.deepEqual([data.sale.outcome, data.sale.number], ["approved", sale.number]);
    assert.deepEqual([data[FIELD], data.sale[FIELD]], isNewer ? [VALUE, VALUE] : [undefined, undefined]);
    assert.equal(heard.some((event) => event.data.sale?.step === WORD), isNewer);
    assert.equal(heard.some(({ step, data }) => step === WORD && data.reference === reference), isNewer);
  });

  test(`${age} agent: a lost answer to the begin charges once`, options, async (t) => {
    const [one, till] = await line(t);
    const before = (await ledger()).length;
    one.loses = 1;
    const sale = await till.sell({ amount: "6.00" });
    assert.deepEqual([one.loses, sale.outcome, sale.approvedAmount], [0, "approved", "6.00"]);
    // A second transaction would be the newest one, before its card is charged.
    const { value: newest } = await till.sales({ order: "newest", limit: 1 }).next();
    assert.equal(newest.reference, sale.reference);
    const charged = (await ledger()).slice(before).map(({ id, amount }) => [id, amount]);
    assert.deepEqual(charged, [[sale.paymentId, "6.00"]]);
  });
}
