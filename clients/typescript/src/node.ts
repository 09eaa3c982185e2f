// What only Node has: the transport that trusts one CA, and pairing that fetches this CA.

import { X509Certificate } from "node:crypto";
import { Agent as HttpAgent, type IncomingMessage, request as overHttp } from "node:http";
import { Agent as HttpsAgent, request as overHttps } from "node:https";
import { NoAnswer, WrongCertificate } from "./errors.js";
import { type PairOptions, pairOver } from "./pair.js";
import { addressOf } from "./terminal.js";
import type { Transport, Wanted } from "./transport.js";

export * from "./index.js";

/** The terminal closes a connection after ten idle seconds, so this side ends it first. */
const IDLE_MS = 5000;

/** Makes the transport. With `ca` (PEM), it trusts only this CA. */
export function nodeTransport({ ca }: { ca?: string | undefined } = {}): Transport {
  const secure = new HttpsAgent({ keepAlive: true, timeout: IDLE_MS, ...(ca !== undefined && { ca }) });
  const plain = new HttpAgent({ keepAlive: true, timeout: IDLE_MS });
  return ({ url, method, headers, body, signal }: Wanted) => new Promise((answered, failed) => {
    const isSecure = url.startsWith("https:");
    const sender = isSecure ? overHttps : overHttp;
    const agent = isSecure ? secure : plain;
    const request = sender(url, { method, headers, signal, agent }, (response) => answered({
      status: response.statusCode ?? 0,
      header: (name) => response.headers[name.toLowerCase()]?.toString(),
      body: response,
    }));
    // Until the connection stands, nothing of the request has left this machine.
    let isConnected = false;
    request.once("socket", (socket) => {
      if (request.reusedSocket) isConnected = true;
      else socket.once(isSecure ? "secureConnect" : "connect", () => { isConnected = true; });
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (!isConnected && isOfCertificate(error)) return failed(new WrongCertificate(error));
      const message = `no answer from ${new URL(url).host}: ${error.code ?? error.name}`;
      failed(new NoAnswer(message, isConnected && method === "POST", error));
    });
    request.end(body);
  });
}

const isOfCertificate = ({ code = "" }: NodeJS.ErrnoException) =>
  /CERT|ISSUER|SIGNATURE|HOSTNAME|INVALID_(CA|PURPOSE)/.test(code);

export interface NodePairOptions extends PairOptions {
  /** The terminal's CA (PEM), if the till has it already. */
  ca?: string;
  /** The CA's SHA-256 fingerprint, as `pos-front certificate` shows it. */
  fingerprint?: string;
  /** Shows the fingerprint to a person, who compares it with the terminal's. */
  confirmFingerprint?: (fingerprint: string) => boolean | Promise<boolean>;
}

/** Pairs the till, and returns its token and the CA for `nodeTransport`. Store both; the token is a secret. */
export async function pair(options: NodePairOptions): Promise<{ till: string; token: string; ca: string | undefined }> {
  const base = addressOf(options.url);
  const ca = options.ca ?? (base.protocol === "https:" ? await confirmedCa(base, options) : undefined);
  return { ...await pairOver(nodeTransport({ ca }), options), ca };
}

async function confirmedCa(base: URL, { fingerprint, confirmFingerprint, signal }: NodePairOptions): Promise<string> {
  if (fingerprint === undefined && !confirmFingerprint) {
    throw new TypeError("pair needs ca, fingerprint or confirmFingerprint");
  }
  const pem = await downloadedCa(base, signal);
  const found = new X509Certificate(pem).fingerprint256;
  const plain = (text: string) => text.replace(/[^0-9a-f]/gi, "").toLowerCase();
  if (fingerprint !== undefined && plain(fingerprint) !== plain(found)) throw new WrongCertificate();
  if (confirmFingerprint && !await confirmFingerprint(found)) throw new WrongCertificate();
  return pem;
}

/** Downloads the CA. Only here the server is not checked; the fingerprint replaces this check. */
function downloadedCa(base: URL, signal: AbortSignal | undefined): Promise<string> {
  const until = AbortSignal.timeout(15_000);
  return new Promise((done, failed) => {
    const lost = (error?: unknown) => failed(new NoAnswer(`no certificate from ${base.host}`, false, error));
    const either = signal ? AbortSignal.any([signal, until]) : until;
    const options = { rejectUnauthorized: false, agent: false as const, signal: either };
    overHttps(new URL("front/certificate.pem", base), options, (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("error", lost).on("end", () => {
        const [pem] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/.exec(text) ?? [];
        if (response.statusCode === 200 && pem) done(pem); else lost();
      }).on("data", (part: string) => {
        text += part;
        if (text.length > 1 << 16) response.destroy(new Error("the certificate is too long"));
      });
    }).on("error", lost).end();
  });
}
