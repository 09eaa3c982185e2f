// Amounts, search, possible actions, the chart's sums, the stream's events, and the texts.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { get, read, waitFor } from "../api.js";
import { byHour, countOf, markReserved, netOf } from "../day.js";
import { merged, possible, questions } from "../history.js";
import { minor, percent, shift, shown, typed, unshift, wire } from "../money.js";
import { language, load, t } from "../words.js";

const PAGE = new URL("..", import.meta.url);
const file = (name) => readFileSync(new URL(name, PAGE), "utf8");

test("amounts keep every digit on their way through", () => {
  for (const [text, exponent, units] of [["12.34", 2, 1234n], ["0.05", 2, 5n], ["12", 2, 1200n], ["12.3", 2, 1230n], ["1234", 0, 1234n], ["1.234", 3, 1234n], ["90071992547409.93", 2, 9007199254740993n], ["-3.10", 2, -310n]]) {
    assert.equal(minor(text, exponent), units);
    assert.equal(minor(wire(units, exponent), exponent), units);
  }
  for (const wrong of ["", "12,34", "1.234", "abc", "1e3", " 1", "1.", ".5", null, undefined]) assert.equal(minor(wrong, 2), null, String(wrong));
});

test("digits shift in from the right, and out again", () => {
  let units = 0n;
  for (const digit of ["1", "2", "00", "3"]) units = shift(units, digit);
  assert.equal(wire(units, 2), "120.03");
  assert.equal(unshift(units), 1200n);
  assert.equal(shift(0n, "00"), 0n);
  assert.equal(shift(999999999n, "1"), 999999999n, "no digit more than fits");
});

test("a person may type a comma or a point", () => {
  assert.deepEqual(["12,34", "12.34", " 12 ", "12,3"].map((text) => typed(text, 2)), ["12.34", "12.34", "12.00", "12.30"]);
  for (const wrong of ["", "x", "1,234", "1.2.3", "12,"]) assert.equal(typed(wrong, 2), null, wrong);
});

test("an amount is shown as the language writes it, and text that is none as it came", () => {
  const blank = (text) => text.replace(/\s/g, " ");
  assert.equal(blank(shown("1234.50", "EUR", "de-DE")), "1.234,50 €");
  assert.equal(shown("1234.50", "EUR", "en-GB"), "€1,234.50");
  assert.equal(blank(shown("1234", "JPY", "de-DE", 0)), "1.234 ¥");
  assert.equal(shown("<b>", "EUR", "en-GB"), "<b>");
  assert.equal(shown("90071992547409.93", "EUR", "en-GB"), "€90,071,992,547,409.93");
  assert.equal(percent(1235n, 10), 124n);
});

const sale = (more) => ({ reference: "Order-4711-X", number: 17, kind: "sale", amount: "12.34", state: "ended", outcome: "approved", startedAt: "2026-11-22T14:03:22Z", card: { last4: "0119" }, ...more });

test("what is typed into the search is asked of the terminal, each thing that it may mean", () => {
  const now = new Date(2026, 10, 22, 15, 30);
  const at = (...parts) => new Date(2026, ...parts).toISOString();
  for (const [words, asked] of [
    ["", [{}]], ["12,34", [{ amount: "12.34" }, { reference: "12,34" }]], ["12.34 €", [{ amount: "12.34" }]],
    ["0119", [{ amount: "119.00" }, { last4: "0119" }, { reference: "0119" }]],
    ["17", [{ amount: "17.00" }, { since: "16", limit: "1", order: "oldest" }, { reference: "17" }]], ["order-1", [{ reference: "order-1" }]],
    ["14:03", [{ from: at(10, 22, 14, 3), to: at(10, 22, 14, 4) }]], ["9:", [{ from: at(10, 22, 9), to: at(10, 22, 10) }]],
    ["21.11.", [{ from: at(10, 21), to: at(10, 22) }]], ["2026-02-01", [{ from: at(1, 1), to: at(1, 2) }]], ["1/2", [{ from: at(1, 1), to: at(1, 2) }]],
    ["24.12.", [{ from: new Date(2025, 11, 24).toISOString(), to: new Date(2025, 11, 25).toISOString() }]],
    ["31.2.", [{ reference: "31.2." }]], ["25:00", [{ reference: "25:00" }]], ["käse", []],
  ]) assert.deepEqual(questions(words, 2, now), asked, words);
});

test("what several questions find is one list, each sale once, the newest first", () => {
  const numbers = (list) => list.map((one) => one.number);
  assert.deepEqual(numbers(merged([{ number: 9 }, { number: 4 }], [{ number: 7 }, { number: 4 }, { number: 2 }])), [9, 7, 4, 2]);
});

test("only what the sale allows is offered", () => {
  assert.deepEqual(possible(sale({ left: "12.34" })), ["refund", "reversal"]);
  assert.deepEqual(possible(sale({ left: "0.00" })), []);
  assert.deepEqual(possible(sale({ left: "7.34", later: [{ kind: "refund", state: "ended", outcome: "approved" }] })), ["refund"]);
  assert.deepEqual(possible(sale({ left: "12.34", later: [{ kind: "refund", state: "ended", outcome: "declined" }] })), ["refund", "reversal"]);
  assert.deepEqual(possible(sale({ kind: "pre-authorisation", left: "50.00" })), ["capture", "increment", "reauthorisation", "reversal"]);
  assert.deepEqual(possible(sale({ kind: "pre-authorisation", left: "50.00", later: [{ kind: "increment", state: "ended", outcome: "approved" }] })), ["capture", "increment", "reauthorisation", "reversal"]);
  assert.deepEqual(possible(sale({ kind: "pre-authorisation", left: "20.00", later: [{ kind: "capture", state: "ended", outcome: "approved" }] })), ["capture", "reauthorisation"]);
  assert.deepEqual(possible(sale({ kind: "reauthorisation", left: "50.00" })), ["capture", "increment", "reauthorisation", "reversal"]);
  assert.deepEqual(possible(sale({ left: "0.00", registration: "8ac7" })), ["by-registration", "forget-card"], "the card is kept, whatever becomes of the payment");
  assert.deepEqual(possible(sale({ kind: "pre-authorisation-by-registration", left: "5.00" })), ["capture", "increment", "reauthorisation", "reversal"]);
  assert.deepEqual(possible(sale({ kind: "store-card", amount: "0.00", registration: "8ac7" })), ["by-registration", "pre-authorisation-by-registration", "forget-card"]);
  assert.deepEqual(possible(sale({ kind: "forget-card", amount: "0.00", registration: "8ac7" })), []);
  assert.deepEqual(possible(sale({ left: "1.00", registration: "8ac7" }), 2, (kind) => kind === "refund"), ["refund"], "what the caller may");
  for (const outcome of ["declined", "cancelled", "not-sent", "reversed"]) assert.deepEqual(possible(sale({ outcome })), []);
  for (const state of ["unconfirmed", "in-progress", "awaiting-signature"]) assert.deepEqual(possible(sale({ state, outcome: undefined })), []);
});

test("the chart counts what came in and what went out, and nothing that was only reserved", () => {
  const at = (hour, more) => sale({ startedAt: `2026-11-22T${hour}:30:00Z`, ...more });
  const hours = byHour(markReserved([
    at("09", { amount: "10.00" }), at("09", { amount: "5.00", approvedAmount: "2.50", outcome: "partially-approved" }), at("10", { kind: "refund", amount: "1.00" }),
    at("11", { kind: "pre-authorisation", reference: "p", amount: "99.00" }), at("11", { kind: "reversal", of: "p", amount: "99.00" }), at("11", { kind: "reversal", of: "s", amount: "4.00" }),
    at("12", { outcome: "declined" }), at("12", { state: "unconfirmed", outcome: undefined }), at("13", { kind: "capture", amount: "7.00" }),
  ]), 2, (time) => new Date(time).getUTCHours());
  assert.deepEqual([9, 10, 11, 12, 13].map((n) => [hours[n].taken, hours[n].given]), [[1250n, 0n], [0n, 100n], [0n, 400n], [0n, 0n], [700n, 0n]]);
});

test("an event is read whatever its word; comments and damage are passed over", () => {
  assert.deepEqual(read('id: 4\nevent: a-new-word\ndata: {"reference":"r"}'), { step: "a-new-word", reference: "r" });
  assert.deepEqual(read('event: x\r\ndata: {"reference":\r\ndata: "r"}'), { step: "x", reference: "r" });
  for (const block of [": listening", "", "event: x", "data: {half", "data:"]) assert.equal(read(block), null, block);
});

/** Returns the keys of a file as `a.b`. */
const flat = (groups) => Object.fromEntries(Object.entries(groups).flatMap(([group, texts]) => (typeof texts === "string" ? [[group, texts]]
  : Object.entries(texts).map(([name, text]) => [name ? `${group}.${name}` : group, text]))));
const WORDS = ["en", "de"].map((name) => [name, flat(JSON.parse(file(`words/${name}.json`)))]);
const OF_FIRST_BOOT = /^(boot-\w+|first-boot)\.js$/;
const SOURCES = readdirSync(PAGE).filter((name) => name.endsWith(".js") && !OF_FIRST_BOOT.test(name)).map(file).join("\n");

test("every language has the same texts with the same places in them", () => {
  const [[, first], ...others] = WORDS;
  for (const [name, words] of others) {
    assert.deepEqual(Object.keys(words), Object.keys(first), name);
    for (const [key, text] of Object.entries(words)) {
      const places = (one) => (one.match(/\{\w+\}/g) ?? []).sort();
      assert.deepEqual(places(text), places(first[key]), `${name} ${key}`);
      assert.ok(text.trim(), key);
    }
  }
});

test("every text that the page names is there, and none is there for nothing", () => {
  const [[, words]] = WORDS;
  const named = [...SOURCES.matchAll(/"([a-z][\w-]*(?:\.[\w-]+)+)"/gi)].map((found) => found[1]).filter((key) => !/\.(js|json|svg|css|pem)$|^pos\./.test(key));
  for (const key of [...named, ...[...SOURCES.matchAll(/\bt\("([^"]+)"/g)].map((found) => found[1])]) assert.ok(key in words, key);
  const built = [...SOURCES.matchAll(/`([a-z-]+(?:\.[a-z-]+)*)\.\$\{/g)].map((found) => `${found[1]}.`);
  for (const key of Object.keys(words)) {
    assert.ok(SOURCES.includes(`"${key}"`) || built.some((start) => key.startsWith(start)) || /^(signature|confirm)\.(accept|refuse)$/.test(key), `${key} is used nowhere`);
  }
});

test("how a card was read is said in words, and not as the gateway's value", () => {
  const source = readFileSync(new URL("../../../terms/src/card.rs", import.meta.url), "utf8");
  const modes = [...source.matchAll(/Self::\w+ => "([A-Z_]+)",/g)].map((found) => found[1]);
  assert.ok(modes.includes("NFC_ICC"), "the gateway's values are found");
  for (const [name, words] of WORDS) for (const mode of modes) assert.ok(`entry.${mode}` in words, `${name} ${mode}`);
});

test("why something failed is said as the agent says it", () => {
  for (const [name, words] of WORDS) {
    const source = readFileSync(new URL(`../../../words/src/${name}.ftl`, import.meta.url), "utf8");
    const reasons = [...source.matchAll(/^([a-z0-9-]+) =\n((?:    \..*\n?)+)/gm)].map(([, word, lines]) => [word, /\.cashier = (.*)/.exec(lines)[1].replaceAll("{ $detail }", "")]);
    assert.ok(reasons.length > 60);
    for (const [word, text] of reasons) assert.equal(words[`reason.${word}`], text, `${name} ${word}`);
  }
});

test("the page asks nothing from outside", () => {
  const served = [...readdirSync(PAGE).filter((name) => /\.(js|css|svg|html)$/.test(name)), "words/de.json"];
  const outside = /https?:\/\/(?!www\.w3\.org\/2000\/svg)/;
  for (const name of served) assert.ok(!outside.test(file(name)), name);
  for (const name of served) assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/.test(file(name)), name);
  for (const name of ["index.html", "customer.html", "first-boot.html"]) {
    assert.ok(!/<script(?![^>]* (src=|type="application\/json"))|<style|\son\w+=|style=/.test(file(name)), `${name}: nothing inline`);
  }
});

test("the net of a close is the terminal's number, however many transactions it has", () => {
  const open = { net: [{ currency: "EUR", count: 6001, taken: "6010.00", given: "9.00", net: "6001.00" }] };
  assert.match(netOf(open, "EUR"), /6,?001\.00/);
  assert.equal(countOf(open), "6001");
  assert.equal(countOf({ net: [] }), "0");
});

test("an answer is waited for as the table says, whatever stands in its path", () => {
  const waits = { "POST /v1/closes": 3, "GET /v1/closes/{close}": 4, "GET /v1/sales/{reference}": 5, "": 1 };
  for (const [method, path, s] of [
    ["POST", "/v1/closes", 3], ["GET", "/v1/closes", 1], ["GET", "/v1/closes/open", 4], ["GET", "/v1/closes/7?till=x/y", 4], ["GET", "/v1/sales/R%2F1", 5],
    ["POST", "/v1/sales/R/cancel", 1], ["GET", "/v1/sales/R/receipt?copy=customer", 1], ["GET", "/v1/sales?limit=1", 1], ["POST", "/front/pairing", 1],
  ]) assert.equal(waitFor(method, path, waits), s * 1000, `${method} ${path}`);
  assert.ok(!waitFor("GET", "/v1/sales", {}), "only the build knows it");
});

test("nothing that the agent is asked has a time of the page's own, but the look that is repeated", () => {
  const scripts = readdirSync(PAGE).filter((name) => name.endsWith(".js")).map((name) => file(name)).join("\n");
  assert.ok(scripts.includes("/* @WAITS@ */"));
  const own = [...scripts.matchAll(/^.*"\/v1\/.*\bms:.*$/gm)].map(([line]) => line.trim());
  assert.equal(own.length, 1, own.join("\n"));
  assert.match(own[0], /"\/v1\/status", \{ ms: LOOK_MS \}/);
});

/** Returns the modules that a module imports, and those that they import. */
function imported(name, all = new Set()) {
  for (const [, other] of file(`${name}.js`).matchAll(/^import .* from "\.\/([\w-]+)\.js";$/gm)) if (!all.has(other)) imported(other, all.add(other));
  return all;
}

test("every module is in a document or is loaded after the keypad, and no document is slowed down by what it does not need", () => {
  const modules = readdirSync(PAGE).filter((name) => name.endsWith(".js")).map((name) => name.slice(0, -3));
  const starts = ["main", "later", "customer", "first-boot"];
  // `support.js` gets what it needs from the page.
  assert.equal(imported("support").size, 0);
  const joined = new Set(["start", "support", ...starts, ...starts.flatMap((start) => [...imported(start)])]);
  assert.deepEqual([...joined].sort(), modules.sort());
  const laterOnes = ["day", "history", "pairing", "receipt", "signin", "terminal"];
  for (const name of laterOnes) assert.ok(!imported("main").has(name), `${name} makes the first document slow`);
  for (const name of [...laterOnes, "main", "pay", "sale"]) {
    for (const start of ["customer", "first-boot"]) assert.ok(!imported(start).has(name), `${name} is no part of ${start}`);
  }
  for (const start of ["main", "later", "customer"]) assert.ok(![...imported(start)].some((name) => name.startsWith("boot-")), `${start} has a part of the first boot`);
  for (const start of ["main", "later"]) assert.ok(!imported(start).has("picture"), `${start} has a part of the customer's screen`);
  for (const [document, start] of [["index.html", "main"], ["customer.html", "customer"], ["first-boot.html", "first-boot"]]) {
    assert.ok(file(document).includes(`<script type="module" src="/assets/${start}.js"></script>`), document);
  }
});

test("each document has the words that its modules name", () => {
  const listed = (name) => {
    const [, list] = new RegExp(`const ${name}[^=]*=\\s*\\[([^\\]]*)\\];`).exec(file("../build.rs"));
    return [...list.matchAll(/"([\w-]+)"/g)].map(([, group]) => group);
  };
  const [later, customers, support] = ["LATER_WORDS", "CUSTOMERS_WORDS", "SUPPORT_WORDS"].map(listed);
  assert.ok(later.includes("reason") && later.length > 8 && customers.includes("customer"), `${later} ${customers}`);
  assert.deepEqual(support, ["customers-screen", "devices", "doctor", "payout"]);
  // Before the first payment, the page of the first boot loads the words that it does not have.
  const others = {
    main: [...later, ...customers, ...support], later: [...customers, ...support], customer: [...later, ...support], support: customers,
    "first-boot": [...later, ...customers, ...support],
  };
  for (const [start, without] of Object.entries(others)) {
    for (const name of [start, ...imported(start)]) {
      const named = [...file(`${name}.js`).matchAll(/\bt\(["`]([\w-]+)/g)].map(([, group]) => group);
      // `reason` asks first whether the page has the word.
      const missing = named.filter((group) => without.includes(group) && group !== "reason");
      assert.deepEqual(missing, [], `${start}: ${name}`);
    }
  }
  // This module names texts, and another one reads them.
  const named = [...file("picture.js").matchAll(/["`]([\w-]+)\.[\w-]/g)].map(([, group]) => group);
  assert.ok(named.includes("customer") && named.includes("step"), named.join());
  assert.deepEqual(named.filter((group) => later.includes(group)), []);
});

test("an answer that is already on its way is not asked for again", async () => {
  globalThis.fetch = async (path) => assert.fail(`${path} is asked for`);
  assert.deepEqual(await get("/front/settings", { sent: Promise.resolve(new Response('{"version":"1"}')) }), { version: "1" });
  const refused = get("/front/session", { sent: Promise.resolve(new Response('{"code":"sign-in"}', { status: 401 })) });
  await assert.rejects(refused, { status: 401, code: "sign-in" });
  await assert.rejects(get("/front/session", { sent: Promise.reject(new TypeError("the line is cut")) }), { name: "Error", message: /the line is cut/ });
});

test("words of a language that came too late do not replace those of the language that was chosen since", async () => {
  const answers = {};
  globalThis.document ??= { documentElement: {} };
  globalThis.fetch = (path) => new Promise((done) => { answers[path] = (texts) => done(new Response(JSON.stringify(texts))); });
  const [slow, chosen] = [load("en"), load("de")];
  answers["/assets/de.json"]({ no: "Abbrechen" });
  await chosen;
  answers["/assets/en.json"]({ no: "Cancel" });
  await slow;
  assert.deepEqual([t("no"), language(), document.documentElement.lang], ["Abbrechen", "de", "de"]);
  globalThis.fetch = async () => new Response("{}", { status: 404 });
  await assert.rejects(load("fr"), /fr: 404/);
  assert.equal(t("no"), "Abbrechen", "a refusal is no words");
});
