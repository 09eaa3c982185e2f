// The check of a webhook by Standard Webhooks 1.0.0, with Web Crypto.

import { WebhookError } from "./errors.js";
import type { Later, Progress, Receipt } from "./types.js";

export interface WebhookStep {
  /** Ignore an event whose id was received before. */
  id: string;
  type: Later<"ended" | "reset">;
  timestamp: string;
  data: Progress & { receipt?: Receipt };
}
/** The message of `pos-front webhook test`, which is about no sale. Answer it like any other. */
export interface WebhookTest {
  id: string;
  type: "test";
  timestamp: string;
  data: { webhook: string };
}
export type WebhookEvent = WebhookStep | WebhookTest;
/** Checks whether a message is a test. The types cannot tell, because later versions may add steps. */
export const isWebhookTest = (event: WebhookEvent): event is WebhookTest => event.type === "test";
export interface Webhook {
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The body as it was received, not parsed and written again. */
  body: string | Uint8Array;
  /** The secret, `whsec_…`, or several while it is replaced. */
  secret: string | readonly string[];
  now?: Date;
}

const TOLERANCE_S = 300;
const MOST_SIGNATURES = 16;

/** Checks signature and time, and returns the event. */
export async function verifyWebhook({ headers, body, secret, now = new Date() }: Webhook): Promise<WebhookEvent> {
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name)
      : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
    if (typeof value !== "string" || value === "") throw new WebhookError(`the header ${name} is missing`);
    return value;
  };
  const [id, timestamp, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now.getTime() / 1000 - Number(timestamp)) > TOLERANCE_S) {
    throw new WebhookError("the webhook is more than five minutes old, or a clock is wrong");
  }
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array(start.length + content.length);
  signed.set(start);
  signed.set(content, start.length);
  const given = signatures.split(" ").filter((one) => one.startsWith("v1,")).slice(0, MOST_SIGNATURES);
  for (const one of typeof secret === "string" ? [secret] : secret) {
    const key = await keyOf(one);
    for (const signature of given) {
      const bytes = fromBase64(signature.slice("v1,".length));
      // The platform compares in constant time.
      if (bytes && await crypto.subtle.verify("HMAC", key, bytes, signed)) return eventOf(id, content);
    }
  }
  throw new WebhookError("no signature matches");
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.trim().replace(/^whsec_/, ""));
  if (!bytes?.length) throw new WebhookError("the secret must be whsec_ and base64");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try { return Uint8Array.from(atob(text), (char) => char.charCodeAt(0)); } catch { return undefined; }
}

function eventOf(id: string, content: Uint8Array): WebhookEvent {
  try {
    return { ...JSON.parse(new TextDecoder().decode(content)) as WebhookEvent, id };
  } catch (error) {
    throw new WebhookError("the body is not JSON", { cause: error });
  }
}
