// The client for browsers and Node. In Node, "pos-agent-client/node" adds the transport that trusts one CA.

import { fetchTransport } from "./browser.js";
import { type PairOptions, pairOver } from "./pair.js";

export * from "./browser.js";
export * from "./errors.js";
export type { TerminalEvent } from "./events.js";
export type { PairOptions } from "./pair.js";
export { Terminal, type Copies, type SellOptions, type TerminalOptions } from "./terminal.js";
export type { Answer, Transport, Wanted } from "./transport.js";
export type * from "./types.js";
export {
  isWebhookTest, verifyWebhook, type Webhook, type WebhookEvent, type WebhookStep, type WebhookTest,
} from "./webhook.js";

/** Pairs a browser till. The device must trust the terminal's CA. */
export const pair = (options: PairOptions) => pairOver(fetchTransport(), options);
