// The script before the modules: a page that lost one of them is loaded again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const SCRIPT = readFileSync(new URL("../start.js", import.meta.url), "utf8");

/** Runs the script in a page without storage. Returns the page, and its timers with their times. */
function begun() {
  const page = { timers: [], reloads: 0, document: { body: { dataset: {} }, documentElement: { dataset: {} } } };
  runInNewContext(SCRIPT, {
    document: page.document, location: { reload() { page.reloads += 1; } }, setTimeout: (act, ms) => page.timers.push([act, ms]),
    matchMedia: () => ({ matches: false, addEventListener() {} }), addEventListener() {},
  });
  return page;
}

test("a page whose modules have not all come is loaded again after twenty seconds, and no other one", () => {
  for (const [loaded, reloads] of [[undefined, 1], ["true", 0]]) {
    const page = begun();
    const [[act, ms], ...others] = page.timers;
    assert.deepEqual([ms, others.length, page.reloads], [20000, 0, 0]);
    page.document.body.dataset.loaded = loaded;
    act();
    assert.equal(page.reloads, reloads, String(loaded));
  }
});
