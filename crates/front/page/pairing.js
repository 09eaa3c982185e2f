// Pairing of tills: the front's information about it, and the part of the terminal's screen that opens it.

import * as api from "./api.js";
import { button, fill, h, text } from "./dom.js";
import { failure } from "./receipt.js";
import { t } from "./words.js";

/** The pause before a broken stream is opened again. */
const AGAIN_MS = 3000;

/** Keeps the front's information of `tick`. Its seconds count from there, so no clock of the terminal is compared. */
export const told = ({ openForS, waiting = [] }, tick) => ({
  until: tick + (openForS ?? 0) * 1000, waiting: waiting.map((one) => ({ ...one, until: tick + one.leftS * 1000 })),
});
/** Returns what is valid at `tick`: the seconds left for further tills, and the tills that wait. */
export const holds = ({ until, waiting }, tick) => ({
  leftS: Math.max(0, Math.ceil((until - tick) / 1000)), waiting: waiting.filter((one) => one.until > tick),
});
/** Formats seconds as 4:05. */
export const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

export function pairingPart() {
  const said = h("p", { role: "status" });
  // A screen reader reads the time on request, not each second.
  const left = h("p", { role: "timer" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const list = h("ul", { class: "list" });
  const then = h("p", { class: "hint", hidden: true }, t("pair.then"));
  const open = button("terminal", t("pair.open"), ask, { id: "pair-open" });
  const el = h("div", { class: "pairing" }, h("h2", {}, t("pair.title")), said, left, list, then, open, wrong);
  let state = told({}, 0);
  let drawn = null;
  let stream = null;

  async function ask() {
    open.setAttribute("aria-disabled", "true");
    text(wrong, "");
    try {
      const { until } = told(await api.post("/front/pairing", {}), performance.now());
      state = { ...state, until };
    } catch (error) { text(wrong, failure(error)); }
    open.removeAttribute("aria-disabled");
    tick();
  }
  /** Listens while the connection is up; a hidden page closes its connection. */
  function update(link, may) {
    el.hidden = !may;
    if (!may || link !== "up") leave();
    else if (!stream) listen();
  }
  async function listen() {
    const mine = new AbortController();
    stream = mine;
    try {
      await api.pairing((event) => { state = told(event, performance.now()); tick(); }, mine.signal);
    } catch { /* opened again */ }
    setTimeout(() => { if (stream === mine) listen(); }, AGAIN_MS);
  }
  function leave() {
    stream?.abort();
    stream = null;
  }
  function tick() {
    const { leftS, waiting } = holds(state, performance.now());
    text(said, t(leftS ? "pair.opened" : "pair.closed"));
    text(left, leftS ? t("pair.left", { time: minutes(leftS) }) : "");
    text(open.lastChild, t(leftS ? "pair.longer" : "pair.open"));
    const key = JSON.stringify(waiting.map(({ code, approvedAs }) => [code, approvedAs]));
    if (key === drawn) return;
    drawn = key;
    then.hidden = !waiting.length;
    // The name is the till's own text: `bdi` keeps its writing direction from changing the text next to it.
    fill(list, waiting.map((one) => h("li", { class: "line" }, h("span", {}, h("bdi", {}, one.name), ` · ${one.from}`,
      one.approvedAs && ` · ${t("pair.approved", { till: one.approvedAs })}`), h("strong", { class: "code" }, one.code))));
  }
  tick();
  return { el, update, tick, leave };
}
