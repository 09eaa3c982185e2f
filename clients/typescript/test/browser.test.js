// The browser's permission for the local network, with a browser that is played.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { addressSpaceOf, fetchTransport, localNetwork, LocalNetworkDenied, NoAnswer } from "../dist/index.js";

const real = { fetch: globalThis.fetch, navigator: Object.getOwnPropertyDescriptor(globalThis, "navigator") };
afterEach(() => {
  globalThis.fetch = real.fetch;
  delete globalThis.isSecureContext;
  delete globalThis.location;
  if (real.navigator) Object.defineProperty(globalThis, "navigator", real.navigator);
  else delete globalThis.navigator;
});

function browser(states, { fails = false, secure = true } = {}) {
  const asked = [];
  const sent = [];
  const query = async ({ name }) => {
    asked.push(name);
    if (!(name in states)) throw new TypeError("no such permission");
    return { state: states[name] };
  };
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { permissions: { query } } });
  globalThis.isSecureContext = secure;
  globalThis.fetch = async (url, how) => {
    sent.push(how.targetAddressSpace);
    if (fails) {
      Object.assign(states, fails);
      throw new TypeError("Failed to fetch");
    }
    return new Response("{}");
  };
  return { asked, sent };
}
const wanted = {
  method: "POST",
  url: "https://kasse.local:8443/v1/sales",
  headers: {},
  body: "{}",
  signal: new AbortController().signal,
};

test("an address says where it is", () => {
  for (const [space, ...hosts] of [
    [
      "local",
      "192.168.1.30",
      "10.0.0.1",
      "172.16.0.1",
      "172.31.255.1",
      "169.254.1.1",
      "kasse.local",
      "[fd00::1]",
      "[fe80::1]",
    ],
    ["loopback", "127.0.0.1", "localhost", "till.localhost", "[::1]"],
    ["public", "terminal.example", "172.32.0.1", "8.8.8.8", "[2001:db8::1]", "notlocalhost.example"],
  ])
    for (const host of hosts) assert.equal(addressSpaceOf(`https://${host}:8443`), space, host);
});

test("the permission has a name for each network, and an older one for both", async () => {
  let { asked } = browser({ "local-network": "granted" });
  assert.equal(await localNetwork(wanted.url), "granted");
  assert.deepEqual(asked, ["local-network"]);
  ({ asked } = browser({ "local-network-access": "prompt" }));
  assert.equal(await localNetwork("http://127.0.0.1:8651"), "prompt");
  assert.deepEqual(asked, ["loopback-network", "local-network-access"]);
  browser({});
  assert.equal(await localNetwork(wanted.url), "not-needed");
  browser({ "local-network": "prompt" }, { secure: false });
  assert.equal(await localNetwork(wanted.url), "not-needed");
});

test("only a page in a wider network than the terminal's needs the permission", async () => {
  for (const [page, url, needed] of [
    ["https://till.example/", "https://kasse.local:8443", true],
    ["https://till.example/", "http://127.0.0.1:8651", true],
    ["https://till.local/", "https://kasse.local:8443", false],
    ["https://till.local/", "http://127.0.0.1:8651", true],
    ["http://localhost:3000/", "https://kasse.local:8443", false],
    ["http://localhost:3000/", "http://127.0.0.1:8651", false],
  ]) {
    browser({ "local-network": "denied", "loopback-network": "denied" });
    globalThis.location = { href: page };
    assert.equal(await localNetwork(url), needed ? "denied" : "not-needed", `${page} ${url}`);
  }
});

test("the reason is said once before the question, and a request without TLS names its network", async () => {
  const { sent } = browser({ "local-network": "prompt" });
  let said = 0;
  const transport = fetchTransport({
    explain: () => {
      assert.equal(sent.length, 0);
      said += 1;
    },
  });
  await transport(wanted);
  await transport({ ...wanted, url: "http://kasse.local/v1/sales" });
  assert.deepEqual([said, sent], [1, [undefined, "local"]]);
  const there = browser({ "loopback-network": "granted" });
  await fetchTransport()({ ...wanted, url: "http://127.0.0.1:8651/v1/sales" });
  assert.deepEqual(there.sent, ["loopback"]);
});

test("a denied permission is said in words, and nothing is sent", async () => {
  const { sent } = browser({ "local-network": "denied" });
  await assert.rejects(fetchTransport()(wanted), (error) => error instanceof LocalNetworkDenied && !error.mayBeDone);
  assert.deepEqual(sent, []);
  browser({ "local-network": "prompt" }, { fails: { "local-network": "denied" } });
  await assert.rejects(fetchTransport()(wanted), LocalNetworkDenied);
  browser({ "loopback-network": "denied" });
  await assert.rejects(fetchTransport()({ ...wanted, url: "http://localhost:8651/" }), /allow "Apps on device"/);
});

test("a browser without the permission sends as always, and a failure may be a lost answer", async () => {
  const { sent } = browser({}, { fails: {} });
  await assert.rejects(fetchTransport()(wanted), (error) => error.constructor === NoAnswer && error.mayBeDone);
  assert.deepEqual(sent, [undefined]);
});
