// The check of webhooks.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { isWebhookTest, verifyWebhook, WebhookError } from "../dist/index.js";

// The public test vector of Standard Webhooks.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const [ID, AT, BODY] = ["msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, '{"test": 2432232314}'];
const SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const vector = (more = {}) => ({
  headers: { "webhook-id": ID, "webhook-timestamp": String(AT), "webhook-signature": SIGNATURE },
  body: BODY,
  secret: SECRET,
  now: new Date(AT * 1000),
  ...more,
});
const headers = (more) => ({ headers: { ...vector().headers, ...more } });

test("the public test vector is accepted, as text, bytes and headers of each form", async () => {
  for (const more of [
    {},
    { body: new TextEncoder().encode(BODY) },
    { body: Buffer.from(BODY) },
    { headers: new Headers(vector().headers) },
    { headers: { "Webhook-Id": ID, "WEBHOOK-TIMESTAMP": String(AT), "Webhook-Signature": SIGNATURE } },
    { secret: [`whsec_${btoa("another secret of a shop")}`, SECRET] },
    { secret: `${SECRET}\n` },
    headers({ "webhook-signature": `v1a,abc v1,bm9uZQ== v1,!!! ${SIGNATURE}` }),
  ]) {
    const event = await verifyWebhook(vector(more));
    assert.deepEqual([event.id, event.test], [ID, 2432232314]);
  }
});

test("another body, id, time, secret or version is refused", async () => {
  for (const more of [
    { body: `${BODY} ` },
    headers({ "webhook-id": "msg_2" }),
    headers({ "webhook-timestamp": String(AT + 1) }),
    { secret: `whsec_${btoa("another secret of a shop")}` },
    { secret: [] },
    { secret: "whsec_" },
    { secret: "whsec_?" },
    headers({ "webhook-signature": SIGNATURE.replace("v1", "v2") }),
    headers({ "webhook-signature": undefined }),
    headers({ "webhook-timestamp": "1e9" }),
    headers({ "webhook-signature": ["v1,a", "v1,b"] }),
    { now: new Date((AT + 301) * 1000) },
    { now: new Date((AT - 301) * 1000) },
  ])
    await assert.rejects(verifyWebhook(vector(more)), WebhookError, JSON.stringify(more));
  await verifyWebhook(vector({ now: new Date((AT + 299) * 1000) }));
});

test("a signed body that is no JSON is refused", async () => {
  const signature = createHmac("sha256", Buffer.from(SECRET.slice(6), "base64"))
    .update(`${ID}.${AT}.x`)
    .digest("base64");
  await assert.rejects(
    verifyWebhook(vector({ body: "x", ...headers({ "webhook-signature": `v1,${signature}` }) })),
    /not JSON/,
  );
});

test("a test of the terminal is a message like any other, and can be told apart", async () => {
  const told = async (type, data) => {
    const body = JSON.stringify({ type, timestamp: "2021-02-22T20:25:30Z", data });
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`${ID}.${AT}.${body}`).digest("base64");
    return verifyWebhook(vector({ body, ...headers({ "webhook-signature": `v1,${signature}` }) }));
  };
  const event = await told("test", { webhook: "books" });
  assert.deepEqual([isWebhookTest(event), event.data.webhook], [true, "books"]);
  assert.equal(isWebhookTest(await told("ended", { till: "kasse-2", reference: "1", step: "ended", text: "" })), false);
});
