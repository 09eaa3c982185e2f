// Pairing with a terminal whose CA only it knows, over real TLS.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { nodeTransport, pair, Terminal, WrongCertificate } from "../dist/node.js";
import { problem, server } from "./server.js";

const folder = mkdtempSync(join(tmpdir(), "pos-agent-client-"));
after(() => rmSync(folder, { recursive: true }));

/** Makes a CA and a certificate that it signs, as the front does. */
function authority(name) {
  const at = (what) => join(folder, `${name}-${what}`);
  const openssl = (...how) => execFileSync("openssl", how, { stdio: ["ignore", "pipe", "ignore"] });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...key,
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
    "-days",
    "9",
    "-subj",
    "/CN=pos-front CA of this terminal",
  );
  openssl("req", ...key, "-keyout", at("key"), "-out", at("csr"), "-subj", "/CN=terminal");
  writeFileSync(at("ext"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n");
  openssl(
    "x509",
    "-req",
    "-in",
    at("csr"),
    "-CA",
    at("ca.pem"),
    "-CAkey",
    at("ca.key"),
    "-CAcreateserial",
    "-days",
    "9",
    "-extfile",
    at("ext"),
    "-out",
    at("pem"),
  );
  const read = (what) => readFileSync(at(what), "utf8");
  const ca = read("ca.pem");
  return { ca, fingerprint: new X509Certificate(ca).fingerprint256, tls: { key: read("key"), cert: read("pem") + ca } };
}
const ours = authority("ours");
const other = authority("other");

/** A front that approves the code 482915 at the second question for it. */
function front(t, { tls, ca } = ours) {
  let waits = 0;
  return server(
    t,
    ({ path, body }) => {
      if (path === "/front/certificate.pem") return [200, ca];
      if (path === "/front/pair")
        return body.name === "till-2" ? [202, { request: "5f/0c", goodForS: 300 }] : problem(403, "pairing-closed");
      if (path === "/front/pair/5f%2F0c") {
        if (body.code !== "482915") return problem(403, "wrong-code");
        return (waits += 1) < 2 ? [202, { state: "waiting-for-approval" }] : [201, { till: "till-2", token: "t-1" }];
      }
      return [200, { ready: true }];
    },
    tls,
  );
}

test("a till is paired with the CA that a person has compared, and trusts no other one", async (t) => {
  const there = await front(t);
  const shown = [];
  const codes = ["111111", "482 915"];
  const asked = [];
  const paired = await pair({
    url: there.url,
    name: "till-2",
    askCode: (how) => {
      asked.push(how);
      return codes.shift();
    },
    confirmFingerprint: (fingerprint) => {
      shown.push(fingerprint);
      return true;
    },
  });
  assert.deepEqual(paired, { till: "till-2", token: "t-1", ca: ours.ca });
  assert.deepEqual(shown, [ours.fingerprint]);
  assert.deepEqual(asked, [
    { goodForS: 300, wrong: false },
    { goodForS: 300, wrong: true },
  ]);
  const { ca, token } = paired;
  assert.equal((await new Terminal({ url: there.url, token, transport: nodeTransport({ ca }) }).status()).ready, true);

  const stranger = await front(t, other);
  const terminal = new Terminal({ url: stranger.url, token, transport: nodeTransport({ ca }) });
  for (const ask of [
    () => terminal.status(),
    () => terminal.sell({ amount: "1.00" }),
    () => terminal.events().next(),
  ]) {
    const began = Date.now();
    await assert.rejects(ask, WrongCertificate);
    assert.ok(Date.now() - began < 5000, "it is not asked again");
  }
  assert.deepEqual(stranger.asked, [], "nothing reached the stranger");
});

test("a stated fingerprint or CA needs no person, and a wrong one gets no request", async (t) => {
  const askCode = () => "482915";
  const there = await front(t);
  const how = { url: there.url, name: "till-2", askCode };
  assert.equal((await pair({ ...how, fingerprint: ours.fingerprint.toLowerCase().replaceAll(":", "") })).token, "t-1");
  assert.equal((await pair({ ...how, ca: ours.ca })).ca, ours.ca);
  const before = there.asked.length;
  await assert.rejects(pair({ ...how, fingerprint: other.fingerprint }), WrongCertificate);
  await assert.rejects(pair({ ...how, confirmFingerprint: () => false }), WrongCertificate);
  await assert.rejects(pair({ ...how, ca: other.ca }), WrongCertificate);
  await assert.rejects(pair(how), TypeError);
  assert.deepEqual(
    there.asked.slice(before).map(({ path }) => path),
    Array(2).fill("/front/certificate.pem"),
  );
});

test("a server whose certificate the shown CA did not sign is not paired", async (t) => {
  const there = await front(t, { tls: other.tls, ca: ours.ca });
  await assert.rejects(
    pair({ url: there.url, name: "till-2", askCode: () => "482915", fingerprint: ours.fingerprint }),
    WrongCertificate,
  );
  assert.deepEqual(
    there.asked.map(({ path }) => path),
    ["/front/certificate.pem"],
  );
});

test("a refused pairing says why", async (t) => {
  const { url } = await front(t);
  await assert.rejects(pair({ url, name: "till-9", askCode: () => "", ca: ours.ca }), {
    code: "pairing-closed",
    status: 403,
  });
});

test("the public CAs of the system are not trusted beside the pinned one", async (t) => {
  const { url } = await front(t);
  await assert.rejects(new Terminal({ url, token: "t", transport: nodeTransport() }).status(), WrongCertificate);
});
