// Local Network Access in a real Chromium: a till's page on the internet, one in the shop's network, and a whole shop.
// POS_SANDBOX names the pos-sandbox program. All servers are on 127.0.0.1. The test tells Chromium where it is to
// believe them, and Chromium decides.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { nodeTransport, pair, Terminal } from "../dist/node.js";
import { chromium, hasChromium } from "./chromium.js";

const program = process.env.POS_SANDBOX;
const skip = program ? !hasChromium && "Chromium is not installed" : "POS_SANDBOX names no pos-sandbox program";
const options = { skip, timeout: 60_000 };

/** The till's pages, and the network in which Chromium believes each of them. */
const [INTERNET, IN_SHOP, ON_TERMINAL] = ["https://till.example", "https://till.local", "https://terminal.example"];
const WITHOUT_TLS = "http://plain.example";
const PAGES = { [INTERNET]: "public", [IN_SHOP]: "local", [ON_TERMINAL]: "loopback", [WITHOUT_TLS]: "public" };
const ALL = ["local-network", "loopback-network"];
const folder = mkdtempSync(join(tmpdir(), "pos-agent-client-"));
const servers = [];
let [sandbox, shop, terminals, browser] = [];

const simulator = async (method, path, body) => {
  const how = { method, headers: { "Content-Type": "application/json" }, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${shop.simulator}/simulator${path}`, how);
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text && JSON.parse(text);
};
const booked = async () => (await simulator("GET", "/ledger")).length;

/** Serves the built library and an empty page. */
async function pageServer(origin, tls) {
  const answers = ({ url }, response) => {
    const [name] = /[a-z]+\.js$/.exec(url) ?? [];
    response.writeHead(200, { "Content-Type": name ? "text/javascript" : "text/html" });
    response.end(name ? readFileSync(new URL(`../dist/${name}`, import.meta.url)) : "<!doctype html>");
  };
  const one = origin.startsWith("https:") ? createServer(tls, answers) : createHttpServer(answers);
  servers.push(one);
  await new Promise((done) => one.listen(0, "127.0.0.1", done));
  return one.address().port;
}
function pagesCertificate() {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name));
  const how = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "9"];
  const names = Object.keys(PAGES).map((origin) => `DNS:${new URL(origin).host}`);
  const of = ["-subj", "/CN=till", "-addext", `subjectAltName=${names}`, "-keyout", key, "-out", cert];
  execFileSync("openssl", [...how, ...of], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}
/** Returns the digest by which Chromium trusts a certificate. */
const digestOf = (certificate) =>
  createHash("sha256").update(certificate.publicKey.export({ type: "spki", format: "der" })).digest("base64");
async function certificateAt(url) {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port, ca: readFileSync(shop.ca) });
  await once(socket, "secureConnect");
  const certificate = new X509Certificate(socket.getPeerCertificate().raw);
  socket.destroy();
  return certificate;
}

before(async () => {
  if (skip) return;
  const origins = Object.keys(PAGES).flatMap((origin) => ["--origin", origin]);
  sandbox = spawn(program, ["--json", "--auto", "tap", ...origins], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(sandbox.stdout), "line", { signal: AbortSignal.timeout(60_000) });
  shop = JSON.parse(line);
  await simulator("POST", "/pairing", { open: true });
  const { token } = await pair({
    url: shop.https,
    name: "till-2",
    ca: readFileSync(shop.ca, "utf8"),
    confirmFingerprint: () => true,
    askCode: async () => {
      const [{ code }] = (await simulator("GET", "/pairing")).waiting;
      await simulator("POST", "/pairing", { approve: code });
      return code;
    },
  });
  // The same front twice: as a terminal in the shop's network, and as one on the device of the browser.
  terminals = {
    local: { url: shop.https, token, transport: { addressSpace: "local" } },
    loopback: { url: shop.http, token, transport: {} },
  };
  const tls = pagesCertificate();
  const spaces = [`127.0.0.1:${new URL(shop.https).port}=local`];
  const rules = [];
  for (const [origin, space] of Object.entries(PAGES)) {
    const port = await pageServer(origin, tls);
    spaces.push(`127.0.0.1:${port}=${space}`);
    rules.push(`MAP ${new URL(origin).host} 127.0.0.1:${port}`);
  }
  const trusted = [new X509Certificate(tls.cert), await certificateAt(shop.https)].map(digestOf);
  browser = await chromium(
    `--ip-address-space-overrides=${spaces}`,
    `--host-resolver-rules=${rules}`,
    `--ignore-certificate-errors-spki-list=${trusted}`,
  );
});
after(async () => {
  await browser?.close();
  sandbox?.stdin.end();
  for (const one of servers) {
    one.close();
    one.closeAllConnections();
  }
  rmSync(folder, { recursive: true });
});

/** Waits until the card of the sale before has left the reader. */
async function free() {
  const terminal = new Terminal({ url: shop.agent, token: shop.token, transport: nodeTransport() });
  while ((await terminal.status()).busy) await new Promise((done) => setTimeout(done, 100));
}

/** Opens the till's page of this origin. These permissions get this state, and all others are denied. */
async function opened(t, origin, state, names = ALL) {
  await free();
  await browser.permit(origin, Object.fromEntries(ALL.map((name) => [name, "denied"])));
  await browser.permit(origin, Object.fromEntries(names.map((name) => [name, state])));
  const page = await browser.open(`${origin}/`);
  t.after(page.close);
  await page.run(async () => {
    const { fetchTransport, LocalNetworkDenied, Terminal } = await import("/index.js");
    Object.assign(globalThis, {
      terminalOf: ({ transport, ...more }) => new Terminal({ ...more, transport: fetchTransport(transport) }),
      /** Makes what a test compares of an error. */
      told: ({ name, message, mayBeDone, reference, ...error }) => ({ name, message, mayBeDone, reference }),
    });
  });
  return page;
}
const sell = (terminal, reference) =>
  terminalOf(terminal).sell({ amount: "12.34", reference }).then((sale) => sale.outcome, told);
/** Asks with the browser's own means. */
const plainly = (url) => fetch(`${url}/front/health`).then(({ status }) => status, String);

test("Chromium itself asks for the permission, but only for a page in a wider network", options, async (t) => {
  for (const [origin, state, reached] of [
    [INTERNET, "granted", true],
    [INTERNET, "denied", false],
    [INTERNET, "prompt", false],
    [IN_SHOP, "denied", true],
    [ON_TERMINAL, "denied", true],
  ]) {
    const page = await opened(t, origin, state);
    const said = await page.run(plainly, shop.https);
    const expected = reached ? [200] : ["TypeError: Failed to fetch", "LocalNetworkAccessPermissionDenied"];
    assert.deepEqual([said, ...new Set(page.blocked())], expected, `${origin} ${state}`);
  }
});

test("a page on the internet without TLS is blocked, and cannot get the permission", options, async (t) => {
  const page = await browser.open(`${WITHOUT_TLS}/`);
  t.after(page.close);
  assert.equal(await page.run(plainly, shop.https), "TypeError: Failed to fetch");
  assert.deepEqual([...new Set(page.blocked())], ["InsecureLocalNetwork"]);
  await assert.rejects(browser.permit(WITHOUT_TLS, { "local-network": "granted" }), /can't be granted/);
});

test("with the permission, a page on the internet takes a sale", options, async (t) => {
  for (const [space, name] of [
    ["local", "local-network"],
    ["loopback", "loopback-network"],
  ]) {
    const page = await opened(t, INTERNET, "granted", [name]);
    const before = await booked();
    assert.equal(await page.run(sell, terminals[space], `granted-${space}`), "approved", space);
    assert.deepEqual([await booked(), page.blocked()], [before + 1, []], space);
  }
});

test("without it, the page says what to do, and nothing is charged", options, async (t) => {
  const page = await opened(t, INTERNET, "denied");
  const before = await booked();
  for (const [space, setting] of [
    ["local", "Local network"],
    ["loopback", "Apps on device"],
  ]) {
    const { message, ...rest } = await page.run(sell, terminals[space], `denied-${space}`);
    assert.deepEqual(rest, { name: "LocalNetworkDenied", mayBeDone: false, reference: `denied-${space}` });
    assert.ok(message.includes(`allow "${setting}" in the site's settings`), message);
  }
  assert.equal(await booked(), before);
});

test("the page explains, and then the person allows, refuses or closes the question", options, async (t) => {
  for (const [answer, outcome, more] of [
    ["granted", "approved", 1],
    ["denied", "LocalNetworkDenied", 0],
    // Without a window, Chromium closes its question at once.
    ["prompt", "NoAnswer", 0],
  ]) {
    const page = await opened(t, INTERNET, "prompt");
    const before = await booked();
    await page.run(begin, terminals.local, `prompt-${answer}`);
    await browser.permit(INTERNET, { "local-network": answer });
    const end = await page.run(read);
    assert.equal(end.name ?? end, outcome, JSON.stringify(end));
    if (answer === "prompt") assert.match(end.message, /allow it$/);
    const why = more ? [] : ["LocalNetworkAccessPermissionDenied"];
    assert.deepEqual([await booked(), [...new Set(page.blocked())]], [before + more, why], answer);
  }
});
/** Begins a sale, and returns when the page explains the browser's question. The person then reads until `read`. */
const begin = (terminal, reference) =>
  new Promise((explains) => {
    const explain = () =>
      new Promise((isRead) => {
        globalThis.isRead = isRead;
        explains();
      });
    const transport = { ...terminal.transport, explain };
    globalThis.end = terminalOf({ ...terminal, transport })
      .begin({ kind: "sale", amount: "1.00", reference })
      .then(({ reference }) => terminalOf(terminal).follow(reference))
      .then(({ outcome }) => outcome, told);
  });
const read = () => {
  globalThis.isRead();
  return globalThis.end;
};

test("a page in the shop's own network needs no permission", options, async (t) => {
  const page = await opened(t, IN_SHOP, "denied");
  assert.equal(await page.run(sell, terminals.local, "in-shop"), "approved");
});

test("a wrong belief about the terminal's network blocks nothing", options, async (t) => {
  const page = await opened(t, INTERNET, "granted");
  const elsewhere = { ...terminals.local, transport: { addressSpace: "loopback" } };
  assert.equal(await page.run(sell, elsewhere, "elsewhere"), "approved");
});
