// The parts that work only with a connection: paired devices, the doctor's findings, and the payouts of tills.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, mock, test } from "node:test";
import { found, said } from "./elements.js";
import * as api from "../api.js";
import * as dom from "../dom.js";
import { toApprove } from "../draft.js";
import { failure } from "../receipt.js";
import { pinPad } from "../signin.js";
import { support } from "../support.js";
import * as words from "../words.js";

const WORDS = JSON.parse(readFileSync(new URL("../words/en.json", import.meta.url), "utf8"));
const TABLET = { id: "1f", name: "Tablet", since: "2026-11-20T10:00:00Z", own: true };
const PHONE = { id: "2f", name: "<b>x</b>", since: "2026-11-20T11:00:00Z", own: false };
const LINK = { address: "https://kasse.local:8443/#pair=77", code: { size: 29, path: "M4 4h1v1h-1z" }, goodForS: 300, origins: [], fingerprint: "AB:CD" };
const json = (status, body) => new Response(body === undefined ? null : JSON.stringify(body), { status });
const settled = async () => { for (let n = 0; n < 50; n += 1) await new Promise(setImmediate); };

let now, asked, answers, dialogs;
beforeEach(async () => {
  [now, asked, answers, dialogs] = [1000, [], {}, []];
  mock.method(performance, "now", () => now);
  mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.fetch = async () => json(200, WORDS);
  await words.load("en");
  globalThis.fetch = async (path, { method = "GET", body }) => {
    asked.push(`${method} ${path}${body ? ` ${body}` : ""}`);
    return answers[`${method} ${path}`]();
  };
  answers["GET /front/browsers"] = () => json(200, { browsers: [TABLET, PHONE] });
});
afterEach(() => mock.reset());

/** Builds the parts. A question over the page is kept in `dialogs` until the test closes it. */
function parts() {
  const dialog = (title, build) => new Promise((close) => {
    dialogs.push({ title, close, el: dom.h("div", {}, build(close)) });
  });
  return support({ api, dom: { ...dom, dialog }, failure, pinPad, toApprove, words });
}
async function press(el, name, value) {
  found(el, name, value).click();
  await settled();
}

test("the paired devices are shown as text, and the one in hand is marked", async () => {
  const part = parts().devicesPart();
  await settled();
  assert.deepEqual(asked, ["GET /front/browsers"]);
  const shown = said(part);
  for (const each of ["Tablet · 20 Nov · this device", "<b>x</b> · 20 Nov", WORDS.devices.open]) assert.ok(shown.includes(each), shown);
});

test("a device is removed after a question, and the list is read again", async () => {
  const part = parts().devicesPart();
  await settled();
  await press(part, "data-remove", "2f");
  assert.equal(dialogs[0].title, "Remove <b>x</b>? It is locked out immediately.");
  dialogs[0].close(null);
  await settled();
  assert.equal(asked.length, 1, "nothing without an answer");
  answers["DELETE /front/browsers/2f"] = () => new Response(null, { status: 204 });
  answers["GET /front/browsers"] = () => json(200, { browsers: [TABLET] });
  await press(part, "data-remove", "2f");
  await press(dialogs[1].el, "id", "browser-remove");
  assert.deepEqual(asked.slice(1), ["DELETE /front/browsers/2f", "GET /front/browsers"]);
  assert.ok(!said(part).includes("<b>x</b>"));
  answers["DELETE /front/browsers/1f"] = () => json(404, { code: "no-such-browser", detail: "x" });
  await press(part, "data-remove", "1f");
  await press(dialogs[2].el, "id", "browser-remove");
  assert.equal(found(part, "role", "alert").textContent, WORDS.devices.gone);
});

test("a code pairs another device: what it will warn of is said before, and the question closes when it is paired", async () => {
  const part = parts().devicesPart();
  await settled();
  answers["POST /front/browser/open"] = () => json(201, LINK);
  await press(part, "id", "browser-open");
  const [{ el, title }] = dialogs;
  assert.equal(title, WORDS.devices.open);
  for (const each of ["warns", "android", "apple", "avoid", "install"]) assert.ok(said(el).includes(WORDS.devices[each]), each);
  assert.ok(said(el).includes("AB:CD") && !said(el).includes("#pair="), "the token is only in the picture");
  assert.equal(el.all.find((one) => one.tagName === "A").getAttribute("href"), "/front/certificate.pem");
  mock.timers.tick(2000);
  await settled();
  answers["GET /front/browsers"] = () => json(200, { browsers: [TABLET, PHONE, { ...PHONE, id: "3f", name: "Phone" }] });
  mock.timers.tick(2000);
  await settled();
  assert.equal(found(part, "role", "status").textContent, "Phone is paired.");
  const before = asked.length;
  mock.timers.tick(10000);
  await settled();
  assert.equal(asked.length, before, "it looks no more");
});

test("the faults come first, each with its remedy, and what is well is folded away", async () => {
  const finding = (severity, seen, remedy) => ({ number: 1, probe: "reader", severity, seen, remedy });
  answers["GET /front/doctor"] = () => json(200, { worst: "fault", findings: [finding("ok", "all good"), finding("warning", "paper low", "add paper"), finding("note", "a note"), finding("fault", "no reader", "plug it in")] });
  const part = parts().doctorPart();
  await press(part, "id", "doctor-look");
  const rows = part.all.filter((one) => one.getAttribute("data-level"));
  assert.deepEqual(rows.map((one) => [one.getAttribute("data-level"), said(one)]), [["bad", "no reader plug it in"], ["soon", "paper low add paper"]]);
  assert.equal(found(part, "role", "status").textContent, "");
  assert.equal(part.all.find((one) => one.tagName === "DETAILS").nodes.at(-1).textContent, "reader: a note\nreader: all good");
  answers["GET /front/doctor"] = () => json(200, { worst: "ok", findings: [finding("ok", "all good")] });
  await press(part, "id", "doctor-look");
  assert.equal(found(part, "role", "status").textContent, WORDS.doctor.well);
  for (const [code, text] of [["no-doctor", WORDS.doctor.none], ["doctor-busy", WORDS.doctor.busy]]) {
    answers["GET /front/doctor"] = () => json(503, { code, detail: "systemctl start pos-doctor.socket" });
    await press(part, "id", "doctor-look");
    assert.equal(found(part, "role", "status").textContent, text);
    assert.equal(said(part).includes("systemctl"), code === "no-doctor", "the technician reads why");
  }
});

test("a second press waits for the findings of the first", async () => {
  const part = parts().doctorPart();
  let answered;
  answers["GET /front/doctor"] = () => new Promise((done) => { answered = () => done(json(200, { findings: [] })); });
  await press(part, "id", "doctor-look");
  await press(part, "id", "doctor-look");
  assert.equal(asked.length, 1);
  assert.equal(found(part, "role", "status").textContent, WORDS.doctor.looking);
  answered();
  await settled();
  await press(part, "id", "doctor-look");
  assert.equal(asked.length, 2);
});

test("the token leaves the address before this device is paired with it", async () => {
  let reloads = 0;
  globalThis.location = { hash: "#pair=77", pathname: "/", reload: () => { reloads += 1; } };
  const addresses = [];
  globalThis.history = { replaceState: (state, title, address) => addresses.push(address) };
  Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Mozilla/5.0 (Linux; Android 16)" }, configurable: true });
  const done = parts().pairThis();
  assert.deepEqual([addresses, asked], [["/"], []]);
  const [{ el }] = dialogs;
  const name = found(el, "id", "browser-name");
  assert.equal(name.getAttribute("value"), "Android");
  name.value = " Counter ";
  for (const [code, text] of [["wrong-link", WORDS.devices.wrong], ["malformed", WORDS.devices.name], ["too-many-browsers", WORDS.devices.full]]) {
    answers["POST /front/browser"] = () => json(403, { code, detail: "x" });
    await press(el, "id", "browser-this");
    assert.equal(found(el, "role", "alert").textContent, text);
  }
  assert.equal(reloads, 0);
  answers["POST /front/browser"] = () => new Response(null, { status: 204 });
  await press(el, "id", "browser-this");
  await done;
  assert.equal(asked.at(-1), 'POST /front/browser {"token":"77","name":"Counter"}');
  assert.equal(reloads, 1);
  globalThis.location.hash = "#main";
  await parts().pairThis();
  assert.equal(dialogs.length, 1, "another mark in the address is no link");
});

test("a payout is shown with its till and amount, and the question is about the payout that waits now", async () => {
  const payout = (reference) => ({ till: "kasse-1", reference, amount: "12.34", currency: "EUR", leftS: 50 });
  const waiting = (...references) => { answers["GET /front/payouts"] = () => json(200, { payouts: references.map(payout) }); };
  answers["GET /v1/operators"] = () => json(200, { operators: [{ name: "Anna", role: "cashier" }, { name: "Berta", role: "supervisor" }], pinDigits: 4 });
  const page = parts();
  waiting();
  assert.equal(await page.payoutBar(), null);
  answers["GET /front/payouts"] = () => json(401, { code: "sign-in" });
  assert.equal(await page.payoutBar(), null);
  waiting("c-1");
  const [kind, words, [look, confirm]] = await page.payoutBar();
  assert.deepEqual([kind, look], ["warn", "Confirm"]);
  assert.match(words, /kasse-1.*12\.34/);
  // The first one is over when the supervisor comes.
  waiting("c-2", "c-3");
  answers["POST /front/payouts/c-2"] = () => json(204);
  const confirmed = confirm();
  await settled();
  const [{ el, close }] = dialogs;
  assert.ok(said(el).includes(words), said(el));
  for (const digit of "1973") found(el, "data-pin", digit).click();
  await settled();
  assert.equal(asked.at(-1), 'POST /front/payouts/c-2 {"operator":"Berta","pin":"1973"}');
  close(true);
  await confirmed;
  answers["DELETE /front/payouts/c-2"] = () => json(204);
  const refused = confirm();
  await settled();
  dialogs.at(-1).close(null);
  await refused;
  assert.equal(asked.at(-1), "DELETE /front/payouts/c-2");
  const before = asked.length;
  waiting();
  await confirm();
  assert.equal(asked.length, before + 1, "nothing waits, so nothing is asked");
});
