// start.js: it sends the first requests, and loads a document again that broke off.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const file = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

/** Runs the script in a document without storage. Returns the page, its requests, and its timers with their times. */
function begun(document) {
  const [, asks] = /<html [^>]*data-asks="([^"]*)"/.exec(file(document));
  const page = { timers: [], asked: [], reloads: 0, document: { body: { dataset: {} }, documentElement: { dataset: { asks } } }, window: {} };
  runInNewContext(file("start.js"), {
    window: page.window, document: page.document, location: { reload() { page.reloads += 1; } }, setTimeout: (act, ms) => page.timers.push([act, ms]),
    matchMedia: () => ({ matches: false, addEventListener() {} }), addEventListener() {}, AbortController, Response,
    fetch: async (path, { signal }) => { page.asked.push([path, signal]); return new Response(`of ${path}`); },
  });
  return page;
}

const DOCUMENTS = { "index.html": ["/front/settings", "/front/session"], "customer.html": ["/front/settings"] };

test("a document whose end has not come is loaded again after twenty seconds, and no other one", () => {
  for (const document of Object.keys(DOCUMENTS)) {
    for (const [loaded, reloads] of [[undefined, 1], ["true", 0]]) {
      const page = begun(document);
      const [[act], ...others] = page.timers.filter(([, ms]) => ms === 20000);
      assert.deepEqual([others.length, page.reloads], [0, 0], document);
      page.document.body.dataset.loaded = loaded;
      act();
      assert.equal(page.reloads, reloads, `${document} ${loaded}`);
    }
  }
});

test("only a script that has read the end of its document says that it is loaded", () => {
  const [before, after, ...others] = file("link.js").split("document.body.dataset.loaded = \"true\";");
  assert.ok(after && !others.length);
  const taken = before.slice(before.lastIndexOf("export function takeWords()"));
  assert.match(taken, /^export function takeWords\(\)[^}]*JSON\.parse\(.*"words"\)\.textContent\)/, "the words are the end");
  for (const name of ["main.js", "customer.js"]) {
    assert.ok(!file(name).includes("dataset.loaded"), name);
    assert.equal(file(name).split("takeWords();").length, 2, name);
    assert.match(file(name), /^async function boot\(\) \{\n  takeWords\(\);\n/m, name);
  }
  for (const document of Object.keys(DOCUMENTS)) assert.match(file(document), /id="words">\{@WORDS@\}<\/script>\n<\/body>\n<\/html>\n$/);
});

test("the first requests are sent at once, each with a limit of its own", async () => {
  for (const [document, paths] of Object.entries(DOCUMENTS)) {
    const page = begun(document);
    assert.deepEqual(page.asked.map(([path]) => path), paths, document);
    for (const path of paths) assert.equal(await (await page.window.asked[path]).text(), `of ${path}`);
    const limits = page.timers.filter(([, ms]) => ms === 4000);
    assert.equal(limits.length, paths.length, document);
    limits[0][0]();
    assert.deepEqual(page.asked.map(([, signal]) => signal.aborted), paths.map((path) => path === paths[0]), document);
  }
});
