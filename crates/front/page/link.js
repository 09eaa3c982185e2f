// What both documents share: their words and settings, the connection to the front, the load of a new version, and the
// screen that stays on.

import { get, SETTINGS_MS } from "./api.js";
import { setExponent, speak } from "./words.js";

const HEALTH_EVERY_MS = 1000;
/**
 * The limit for a health request; a longer one counts as lost. With the second between two requests this is below three
 * seconds.
 */
const HEALTH_MS = 1500;
const AGAIN_MS = 700;
const REST_MS = 300;

export const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Takes the words of the document. They are its end, so it is complete and `start.js` does not load it again. */
export function takeWords() {
  speak(document.documentElement.lang, JSON.parse(document.getElementById("words").textContent));
  document.body.dataset.loaded = "true";
}
/** Reads the front's settings and adds them to those `before`. `sent` is a request that is already on its way. */
export async function nextSettings(before, sent) {
  const settings = { ...before, ...await get("/front/settings", { ms: SETTINGS_MS, sent }) };
  setExponent(settings.exponent);
  return settings;
}

/** Returns the state of the connection. `noted` gets the front's answer. */
async function health(noted) {
  const asked = performance.now();
  try {
    const found = await get("/front/health", { ms: HEALTH_MS });
    noted?.(found);
    return found.agent === "up" ? "up" : "agent-down";
  } catch {
    // When the page itself was suspended, its own timer has ended the request.
    return performance.now() - asked > HEALTH_MS + 300 ? "unsure" : "lost";
  }
}

/** Returns the event about a lost connection. */
const lost = (found) => ({ type: "link-lost", agent: found === "agent-down" });

/**
 * Keeps a stream open. `listen(on, signal)` is a stream of `api.js`, `opened()` is called when it is open, and `event`
 * with each of its events. `failed` gets the error that ended it; its result is the pause before the next attempt.
 * `told` gets the events about the state of the connection: `link-up` and `link-lost`. `noted` gets each answer about the
 * front's health. While `rests()` is true, nothing is opened.
 */
export function keepLink({ listen, opened, event, failed, told, noted, rests = () => false }) {
  let stream = new AbortController();
  let up = false;

  async function keep() {
    for (let tries = 0; ; tries += 1) {
      if (rests()) { await sleep(REST_MS); continue; }
      stream = new AbortController();
      let pause = AGAIN_MS;
      try {
        const open = () => {
          tries = 0;
          up = true;
          opened();
        };
        await listen({ open, event }, stream.signal);
      } catch (error) {
        up = false;
        pause = failed(error) ?? AGAIN_MS;
        const found = await health(noted);
        // When a stream ends although the server answers, it is opened again immediately. Only then the connection counts
        // as lost.
        if (found === "up" && tries === 0 && pause === AGAIN_MS) continue;
        told(lost(found));
      }
      await sleep(pause);
    }
  }
  /** Asks for the health once, and returns what was found. */
  async function beat() {
    const found = await health(noted);
    if (found === "unsure" || rests()) return found;
    if (found !== "up") {
      told(lost(found));
      // A cut connection gives no error: the stream is opened again.
      if (found === "lost") stream.abort();
    } else if (up) told({ type: "link-up" });
    return found;
  }
  /** Calls `beats` each second for ever. */
  async function beatForEver(beats) {
    for (;;) { await Promise.all([beats(), sleep(HEALTH_EVERY_MS)]); }
  }
  function cut() {
    up = false;
    stream.abort();
  }
  return { keep, beat, beatForEver, cut };
}

/** Keeps the screen on: a cashier does not unlock a kiosk before each customer. */
export async function stayAwake() {
  try { await navigator.wakeLock?.request("screen"); } catch { /* a browser may refuse it */ }
}

const LOADED = "pos.loaded";
/** Checks whether the front's version differs from the version of this page. */
export const isNewer = (version) => version !== document.querySelector("meta[name=version]").content;
/** Reloads the page once per version. If the new version does not load, the page does not try again. */
export function loadAgain(version) {
  try {
    if (sessionStorage.getItem(LOADED) === version) return;
    sessionStorage.setItem(LOADED, version);
    location.reload();
  } catch { /* without storage the reloads might never end */ }
}
