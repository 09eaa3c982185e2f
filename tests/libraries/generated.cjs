// A till made of nothing but the client that @hey-api/openapi-ts generates: it pairs, takes a sale, follows it by events
// and reads its receipt. Arguments: the folder of the compiled client. Standard input: the sandbox's line of JSON.

const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const assert = require("node:assert/strict");

const folder = process.argv[2];
const { askForPairing, beginSale, events, receipt, showSale, takeToken } = require(join(folder, "sdk.gen.js"));
const { client } = require(join(folder, "client.gen.js"));
const shop = JSON.parse(readFileSync(process.argv[3], "utf8"));

/** Acts as the person at the terminal. */
async function person(body) {
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(`${shop.simulator}/simulator/pairing`, {
    method, headers: { "Content-Type": "application/json" }, ...(body && { body: JSON.stringify(body) }),
  });
  return answer.json();
}

async function main() {
  client.setConfig({ baseUrl: shop.http });
  await person({ open: true });
  const { data: asked } = await askForPairing({ body: { name: "till-3" }, throwOnError: true });
  const { code } = (await person()).waiting.find(({ name }) => name === "till-3");
  await person({ approve: code });
  const { data: paired } = await takeToken({ path: { request: asked.request }, body: { code }, throwOnError: true });
  client.setConfig({ baseUrl: shop.http, headers: { Authorization: `Bearer ${paired.token}` } });

  const { stream } = await events();
  const steps = [];
  const listened = (async () => {
    for await (const event of stream) {
      if (event?.reference !== "generated-ts") continue;
      steps.push(event.step);
      if (event.step === "ended") return event.sale;
    }
    throw new Error("the stream ended");
  })();
  await beginSale({ body: { reference: "generated-ts", amount: "12.34" }, throwOnError: true });
  const ended = await listened;
  assert.equal(ended.outcome, "approved", steps.join(" "));
  const { data: sale } = await showSale({ path: { reference: "generated-ts" }, throwOnError: true });
  assert.equal(sale.approvedAmount, "12.34");
  const { data: paper } = await receipt({ path: { reference: "generated-ts" }, throwOnError: true });
  assert.ok(paper.rows.length > 5, JSON.stringify(paper));
  const { error } = await showSale({ path: { reference: "nowhere" } });
  assert.equal(error.code, "no-such-sale");
  console.log(`@hey-api/openapi-ts: ${steps.join(" ")}`);
  process.exit(0);
}
main();
