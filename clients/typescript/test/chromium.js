// Debian's Chromium without a window, controlled through a pipe with the DevTools protocol.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = "/usr/bin/chromium";
const QUIET = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
export const hasChromium = existsSync(PROGRAM);

/** Starts a browser with an empty profile. */
export async function chromium(...more) {
  const profile = mkdtempSync(join(tmpdir(), "pos-chromium-"));
  const how = [...QUIET, `--user-data-dir=${profile}`, "--remote-debugging-pipe", ...more, "about:blank"];
  const child = spawn(PROGRAM, how, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const [, , , to, from] = child.stdio;
  const waiting = new Map();
  const hears = new Set();
  let last = 0;
  let text = "";
  to.on("error", () => {});
  from.setEncoding("utf8").on("data", (part) => {
    const messages = (text + part).split("\0");
    text = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
      if (message.id === undefined) for (const hear of hears) hear(message);
      else {
        const { done, fail } = waiting.get(message.id);
        if (message.error) fail(new Error(JSON.stringify(message.error)));
        else done(message.result);
      }
    }
  });
  child.on("exit", () => {
    for (const { fail } of waiting.values()) fail(new Error("Chromium has ended"));
  });
  const command = (method, params = {}, sessionId) =>
    new Promise((done, fail) => {
      waiting.set((last += 1), { done, fail });
      to.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });

  return {
    /** Sets permissions of an origin: `granted`, `denied` or `prompt`, by the permission's name. */
    async permit(origin, states) {
      for (const [name, setting] of Object.entries(states))
        await command("Browser.setPermission", { origin, permission: { name }, setting });
    },
    /** Opens a page. */
    async open(url) {
      const { targetId } = await command("Target.createTarget", { url: "about:blank" });
      const { sessionId } = await command("Target.attachToTarget", { targetId, flatten: true });
      const loaded = new Promise((done) => {
        hears.add((event) => event.sessionId === sessionId && event.method === "Page.loadEventFired" && done());
      });
      const blocked = [];
      hears.add(({ sessionId: of, method, params }) => {
        const why = of === sessionId && method === "Network.loadingFailed" && params.corsErrorStatus?.corsError;
        if (why) blocked.push(why);
      });
      for (const part of ["Page", "Network"]) await command(`${part}.enable`, {}, sessionId);
      const { errorText } = await command("Page.navigate", { url }, sessionId);
      if (errorText) throw new Error(`${url}: ${errorText}`);
      await loaded;
      return {
        /** Runs a function in the page with these arguments, and returns the value of its promise. */
        async run(what, ...given) {
          const expression = `(${what})(...${JSON.stringify(given)})`;
          const how = { expression, awaitPromise: true, returnByValue: true };
          const { result, exceptionDetails: thrown } = await command("Runtime.evaluate", how, sessionId);
          if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
          return result.value;
        },
        /** Returns why Chromium has blocked requests since the last call. */
        blocked: () => blocked.splice(0),
        close: () => command("Target.closeTarget", { targetId }),
      };
    },
    async close() {
      const ended = once(child, "exit");
      await command("Browser.close").catch(() => {});
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
