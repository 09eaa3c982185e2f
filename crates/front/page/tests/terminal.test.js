// The terminal's screen: a cashier reads words and a remedy; a device's own report is folded away.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { found, said } from "./elements.js";
import { terminalScreen } from "../terminal.js";
import { load } from "../words.js";

const WORDS = JSON.parse(readFileSync(new URL("../words/en.json", import.meta.url), "utf8"));
globalThis.fetch = async () => new Response(JSON.stringify(WORDS));
await load("en");

test("what a device reports is for the technician, and the cashier reads the remedy", () => {
  const text = "cannot connect to /dev/pos/reader: os error 111";
  const screen = terminalScreen({ settings: () => ({ languages: ["en"] }), training: () => false });
  const state = { link: "up", open: [], status: { ready: false, reader: { state: "lost", text }, printers: [{ state: "absent", text }] } };
  for (const group of ["reader", "printer"]) {
    screen.update(state);
    const row = found(screen.el, "data-part", group);
    const fold = row.all.find((one) => one.tagName === "DETAILS");
    assert.match(said(fold), /^For the technician .*os error 111/, group);
    const outside = row.all.filter((one) => !one.all.includes(fold) && !fold.all.includes(one));
    assert.ok(!outside.some((one) => said(one).includes("os error")), group);
    assert.ok(outside.some((one) => said(one).length > 20), `${group} has a remedy: ${said(row)}`);
  }
});
