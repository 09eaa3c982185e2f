// The first boot: its answers, which of them the browser keeps, its faults, and its texts in each language.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { answersOf, begin, faultsOn, faultsUntil, idOf, kept, missing, pagePort, stepOf, STEPS } from "../boot-answers.js";
import { outcome } from "../boot-link.js";

const PAGE = new URL("..", import.meta.url);
const file = (name) => readFileSync(new URL(name, PAGE), "utf8");
const CONTRACT = readFileSync(new URL("../../../first-boot/src/answers.rs", import.meta.url), "utf8");
const SECRETS = ["tok-1", "zvt-2", "wifi-3", "2580", "1470"];

/** Returns a draft with every answer. */
function full(kind = "nexo") {
  const draft = begin(null);
  Object.assign(draft.values, {
    language: "de", "time-zone": "Europe/Berlin", "system.time-servers": "ntp1.example, ntp2.example", "gateway.url": " https://bank.example ", "gateway.entity-id": "0".repeat(32),
    "gateway.ca": "-----BEGIN", "terminal-id": "60001234", merchant: "Cafe Sonne\n\n Hauptstr. 1 ", country: "DE", currency: "EUR", "max-amount": "", "page.logo": "PHN2Zz4=",
    reader: "/dev/ttyACM0", "reader-protocol": "verifone-vipa", "sred-form": "iv-first", "terminal-country": "276", acquirer: "01", "printer.port": "/dev/ttyUSB0", "till.kind": kind, "till.address": "192.168.1.20", "till.sale-id": "K1", "till.name": "kasse-1", "till.port": "8443",
    "till.poi-id": "T1", "till.key-identifier": "key", "till.key-version": "2", "till.certificate-name": "till",
  });
  Object.assign(draft.secrets, { "gateway.token": " tok-1\n", "till.secret": "zvt-2", "system.wifi.password": "wifi-3" });
  draft.people.push({ name: "Ada ", role: "supervisor", pin: "2580", again: "2580" }, { name: "Bo", role: "cashier", pin: "1470", again: "1470" });
  return draft;
}

test("the browser keeps every answer and no secret, and names the secrets that must be typed again", () => {
  const draft = full();
  draft.step = "people";
  const text = kept(draft);
  for (const secret of SECRETS) assert.ok(!text.includes(secret), secret);
  const again = begin(text);
  assert.equal(again.step, "people");
  assert.deepEqual(again.values, draft.values);
  assert.deepEqual(again.people.map((one) => one.name), ["Ada ", "Bo"]);
  assert.deepEqual(missing(again), ["gateway.token", "till.secret", "operator[0].pin", "operator[1].pin"]);
  assert.deepEqual(missing(draft), [], "nothing is missing before the reload");
  again.values["till.kind"] = "page";
  assert.ok(!missing(again).includes("till.secret"), "the secret of a till that is not connected is not asked for");
  // A second reload still knows what was typed on the first page.
  assert.deepEqual(missing(begin(kept(begin(text)))), ["gateway.token", "till.secret", "operator[0].pin", "operator[1].pin"]);
  for (const text of [null, "", "{", "[]", "{\"step\":\"no-such-step\"}"]) assert.equal(begin(text).step, "place");
});

/** Returns the fields of a type of the contract, as JSON has them. */
function fieldsOf(type) {
  const [, body] = new RegExp(`pub struct ${type} \\{([^}]*)\\}`).exec(CONTRACT);
  return [...body.matchAll(/pub (\w+):/g)].map(([, name]) => name.replaceAll("_", "-"));
}

test("the answers have the names of the contract, and every one that the page asks for", () => {
  const answers = JSON.parse(JSON.stringify(answersOf(full())));
  const inside = [["Answers", answers], ["GatewayAnswers", answers.gateway], ["PrinterAnswers", answers.printer], ["TillAnswers", answers.till], ["PageAnswers", answers.page], ["OperatorAnswer", answers.operator[0]], ["SystemAnswers", answers.system]];
  for (const [type, value] of inside) {
    const known = fieldsOf(type);
    for (const name of Object.keys(value)) assert.ok(known.includes(name), `${type}: ${name}`);
  }
  // The board and the journal's place are found by root's half. The rights are the usual ones, and the Wi-Fi is joined before.
  const notAsked = { Answers: ["board", "max-amount", "journal"], TillAnswers: ["rights", "operator"], SystemAnswers: ["wifi"] };
  for (const [type, value] of inside) {
    assert.deepEqual(fieldsOf(type).filter((name) => !(name in value)), notAsked[type] ?? [], type);
  }
  assert.deepEqual(answers.merchant, ["Cafe Sonne", "Hauptstr. 1"]);
  assert.deepEqual(answers.gateway.token, { value: "tok-1" });
  assert.equal(answers.gateway.url, "https://bank.example");
  assert.deepEqual(answers.operator[0], { name: "Ada", role: "supervisor", pin: { value: "2580" } });
  assert.deepEqual(answers.till.address, ["192.168.1.20"]);
  assert.deepEqual(answers.system["time-servers"], ["ntp1.example", "ntp2.example"]);
  assert.ok(!JSON.stringify(answers).includes('"file"'), "the page never names a file of the board");
});

test("the answers of a till that is not connected, and of no printer, are left out", () => {
  const draft = full("page");
  draft.values["printer.port"] = "none";
  const answers = JSON.parse(JSON.stringify(answersOf(draft)));
  assert.deepEqual(answers.till, { kind: "page" });
  assert.deepEqual(answers.printer, { port: "none" });
  assert.ok(!("poi-id" in answersOf(full("zvt")).till));
  assert.deepEqual(JSON.parse(JSON.stringify(answersOf(full("caisse-ap")).till)), { kind: "caisse-ap", name: "kasse-1", address: ["192.168.1.20"], port: "8443" }, "a password of another kind is not sent");
  assert.deepEqual([pagePort(full("nexo").values), pagePort(full("zvt").values), pagePort(draft.values)], ["8444", "8443", "8443"]);
});

test("a fault leads to the step that asks for its answer, and to its field", () => {
  for (const [key, step, id] of [
    ["language", "place", "language"], ["system.time-servers", "network", "system-time-servers"], ["gateway.url", "bank", "gateway-url"], ["printer.port", "devices", "printer-port"],
    ["reader", "devices", "reader"], ["sred-form", "devices", "sred-form"], ["terminal-country", "devices", "terminal-country"], ["page.logo", "shop", "page-logo"], ["merchant", "shop", "merchant"], ["operator[0].pin", "people", "operator-0-pin"], ["operator", "people", "operator"],
    ["page.without-sign-in", "people", "page-without-sign-in"], ["till.poi-id", "till", "till-poi-id"], ["", "review", ""], ["board", "review", "board"],
  ]) {
    assert.equal(stepOf(key), step, key);
    assert.equal(idOf(key), id);
  }
  const all = [{ key: "till.address" }, { key: "gateway.url" }, { key: "terminal-id" }, { key: "" }];
  assert.deepEqual(faultsUntil("bank", all), [{ key: "gateway.url" }]);
  assert.deepEqual(faultsUntil("shop", all), [{ key: "gateway.url" }, { key: "terminal-id" }]);
  assert.deepEqual(faultsUntil("review", all), all);
});

test("what is missing on a step, and a PIN that was typed in two ways, is found before anything is sent", () => {
  const empty = begin(null);
  const keys = (step, draft) => faultsOn(step, draft).map((one) => one.key);
  assert.deepEqual(keys("bank", empty), ["gateway.url", "gateway.entity-id", "gateway.ca", "gateway.token"]);
  assert.deepEqual(keys("devices", empty), ["reader", "printer.port"]);
  assert.deepEqual(keys("till", empty), []);
  assert.deepEqual(STEPS.flatMap((step) => keys(step, full())), []);
  const till = full("zvt");
  till.values["till.address"] = " ";
  assert.deepEqual(keys("till", till), ["till.address"]);
  till.values["till.kind"] = "caisse-ap";
  assert.deepEqual(keys("till", till), ["till.address"]);
  const people = full();
  Object.assign(people.people[1], { name: " ", pin: "12", again: "13" });
  assert.deepEqual(faultsOn("people", people), [{ key: "operator[1].name", word: "missing" }, { key: "operator[1].pin", word: "pin-wrong" }, { key: "operator[1].again", word: "pin-differs" }]);
  people.people = [];
  assert.deepEqual(faultsOn("people", people), []);
  people.values["page.without-sign-in"] = "nobody";
  assert.deepEqual(faultsOn("people", people), [{ key: "page.without-sign-in", word: "no-way-in" }], "no one could use the page");
});

test("each line about the writing is read", () => {
  assert.deepEqual(outcome('{"progress":"agent"}'), { progress: "agent" });
  assert.deepEqual(outcome('"done"'), { done: true });
  assert.deepEqual(outcome('{"refused":"configured"}'), { problem: { code: "configured", detail: "configured" } });
  assert.deepEqual(outcome('{"refused":{"malformed":"x"}}').problem.code, "malformed");
  assert.deepEqual(outcome('{"faulty":[{"key":"a","wrong":"b","remedy":"c"}]}').faulty[0].key, "a");
  assert.deepEqual(outcome('{"problem":{"code":"root-down","detail":"gone"}}').problem.code, "root-down");
});

const LANGUAGES = readdirSync(new URL("words/", PAGE)).filter((name) => name.endsWith(".json"));
const WORDS = LANGUAGES.map((name) => [name, JSON.parse(file(`words/first-boot/${name}`))]);

test("every language has the same texts of the first boot with the same places in them", () => {
  const [, first] = WORDS.find(([name]) => name === "en.json");
  assert.equal(WORDS.length, 7);
  for (const [name, words] of WORDS) {
    assert.deepEqual(Object.keys(words), Object.keys(first), name);
    const places = (one) => (one.match(/\{\w+\}/g) ?? []).sort();
    for (const [key, text] of Object.entries(words)) {
      assert.deepEqual(places(text), places(first[key]), `${name} ${key}`);
      assert.ok(text.trim(), `${name} ${key}`);
    }
    if (name === "en.json") continue;
    const same = Object.keys(words).filter((key) => words[key] === first[key] && words[key].split(" ").length > 3);
    assert.deepEqual(same, [], `${name} is not translated`);
  }
});

test("every text that the first boot names is there, and none is there for nothing", () => {
  const [, words] = WORDS.find(([name]) => name === "en.json");
  const sources = readdirSync(PAGE).filter((name) => /^(boot-\w+|first-boot)\.js$/.test(name)).map(file).join("\n");
  const named = [...sources.matchAll(/\bb\("([^"]+)"/g)].map(([, key]) => key);
  assert.ok(named.length > 60, named.length);
  assert.deepEqual(named.filter((key) => !(key in words)), []);
  const built = [...sources.matchAll(/`([\w.-]*)\$\{[^`]*\}([\w.-]*)`/g)].map(([, start, end]) => [start, end]).filter(([start, end]) => /[.]$/.test(start) || /^[.]/.test(end) || /-$/.test(start));
  const isUsed = (key) => sources.includes(`"${key}"`) || built.some(([start, end]) => (start || end) && key.startsWith(start.replace(/^boot\./, "")) && key.endsWith(end)) || /^(gateway\.mode|page\.without-sign-in|till\.kind)\./.test(key);
  assert.deepEqual(Object.keys(words).filter((key) => !isUsed(key)), []);
  for (const step of [...STEPS, "code", "taken", "closed", "over", "configured", "writing", "sale"]) {
    for (const part of ["title", "about"]) assert.ok(`${step}.${part}` in words, `${step}.${part}`);
  }
});
