// Sign-in: when a PIN is sent. And the look: a shop's colour stays readable.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { found, said } from "./elements.js";
import { accentFor, contrast } from "../look.js";
import { pinPad } from "../signin.js";
import { load } from "../words.js";

const words = readFileSync(new URL("../words/en.json", import.meta.url), "utf8");
globalThis.fetch = async () => new Response(words);
await load("en");

/** Types on a pad; returns the PINs that were sent. */
async function typed(digits, length) {
  const sent = [];
  const pad = pinPad("Sign in", async (pin) => { sent.push(pin); }, { setAttribute() {}, textContent: "" }, length);
  for (const digit of digits) { found(pad.el, "data-pin", digit).click(); await new Promise(setImmediate); }
  return { sent, pad };
}

test("a PIN of a fixed length goes with its last digit", async () => {
  assert.deepEqual((await typed("135", 4)).sent, []);
  assert.deepEqual((await typed("1357", 4)).sent, ["1357"]);
  assert.deepEqual((await typed("135724", 4)).sent, ["1357"], "the digits after it begin the next PIN");
});

test("without a fixed length, a person sends the PIN", async () => {
  for (const none of [null, undefined]) {
    const { sent, pad } = await typed("135724", none);
    assert.deepEqual(sent, []);
    found(pad.el, "id", "pin-enter").click();
    assert.deepEqual(sent, ["135724"]);
    assert.doesNotMatch(said(pad.el), /1357/, "no PIN is on the screen");
  }
});

test("a shop's colour can be read in both themes", () => {
  for (const colour of ["#0a4d8c", "#ffff00", "#000000", "#ffffff", "#e2001a", "#7fdca6"]) {
    for (const card of ["#ffffff", "#182433"]) {
      const { accent, ink } = accentFor(colour, card);
      assert.ok(contrast(accent, card) >= 4.5, `${colour}: ${accent} on ${card}`);
      assert.ok(contrast(accent, ink) >= 4.5, `${colour}: ${ink} on ${accent}`);
    }
  }
  assert.equal(accentFor("#0a4d8c", "#ffffff").accent, "#0a4d8c", "a readable colour stays as it is");
});
