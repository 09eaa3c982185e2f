// The state of the terminal: each part with a sign, a word and a remedy; unconfirmed transactions; pairing; the
// language; theme and size; the parts of `support.js`.

import * as api from "./api.js";
import * as dom from "./dom.js";
import * as words from "./words.js";
import { fill, folded, h, icon, text } from "./dom.js";
import { payable, toApprove } from "./draft.js";
import { pairingPart } from "./pairing.js";
import { levelOf, stateWords } from "./parts.js";
import { isNewer, sleep } from "./link.js";
import { failure } from "./receipt.js";
import { badge, whoseWords, whyOf } from "./sale.js";
import { languageChoice, pinPad } from "./signin.js";
import { isLost } from "./state.js";
import { clock, has, LANGUAGES, money, reason, t } from "./words.js";

/** The choices, by the name under which `start.js` finds them. The first is the default. */
const CHOICES = { theme: ["auto", "light", "dark"], size: ["normal", "large"] };

/** The pause before a lost part is loaded again. */
const AGAIN_MS = 3000;

/** Loads the parts that work only with a connection, until they have come. */
export async function loadSupport() {
  for (let tries = 0; ; tries += 1) {
    try {
      const { support, version } = await import(`./support.js?${tries}`);
      await words.loadSupport();
      if (!isNewer(version)) return support({ api, dom, failure, pinPad, toApprove, words });
    } catch { /* loaded again */ }
    await sleep(AGAIN_MS);
  }
}

export function terminalScreen(page) {
  const title = h("h1", { tabindex: "-1" }, t("terminal.title"));
  const head = h("p", { class: "ready", role: "status" });
  const parts = h("ul", { class: "parts" });
  const open = h("div", {});
  const pairing = pairingPart();
  const foot = h("p", { class: "hint" });
  const more = h("div", {});
  loadSupport().then(({ customerPart, devicesPart, doctorPart }) => {
    const { browsers, customer } = page.settings();
    fill(more, customer && customerPart(), browsers && devicesPart(), doctorPart());
  });
  const select = languageChoice(page, (name) => LANGUAGES[name]?.[1] ?? name);
  const el = h("section", { class: "terminal" }, h("header", {}, title, select), head, parts, open, pairing.el, more, lookPart(page.relook), foot);
  let drawn = "";

  function update(state) {
    const { status, link } = state;
    el.dataset.stale = String(isLost(link));
    pairing.update(link, page.settings().mayPair);
    const key = JSON.stringify([link, status && { ...status, clock: status.clock?.state, journal: status.journal?.state }, state.open, page.training()]);
    if (key === drawn) return;
    drawn = key;
    const ready = link === "up" && status?.ready;
    head.dataset.level = ready ? "good" : "bad";
    fill(head, icon(ready ? "approved" : "declined"), h("span", {}, link !== "up" ? t(`link.${link}`) : t(ready ? "terminal.ready" : "terminal.unready")));
    fill(parts, status ? [
      part("card", "part.reader", status.reader, "reader"),
      part("bank", "part.gateway", status.gateway, "gateway"),
      ...status.printers.map((one) => part("printer", "part.printer", one, "printer", status.printers.length > 1 ? one.name : "")),
      part("clock", "part.clock", status.clock, "clock"),
      part("journal", "part.journal", status.journal, "journal"),
    ] : []);
    const others = (status?.attention ?? []).filter((one) => !covered(one.code));
    fill(open,
      others.length ? [h("h2", {}, t("terminal.todo")), h("ul", { class: "list" }, others.map((one) => h("li", { class: "line" }, h("span", {}, reason(one.code, one.text)))))] : null,
      state.open.length && !page.training() ? [h("h2", {}, t("terminal.open")), h("ul", { class: "list" }, state.open.map((sale) => h("li", {}, h("button", { class: "entry", "data-outcome": "unconfirmed", onclick: () => page.go("sales", sale) },
        badge(sale), h("span", { class: "when" }, clock(sale.startedAt)), h("strong", { class: "sum" }, money(payable(sale, page.settings().exponent), sale.currency)), h("span", { class: "why" }, whyOf(sale) + whoseWords(state, sale, " · "))))))] : null);
    text(foot, `${t("terminal.id", { id: status?.terminalId ?? page.settings().terminal ?? "" })} · ${status?.version ?? ""}`);
  }
  return { el, update, focus: title, tick: pairing.tick, leave: pairing.leave };
}
/** Checks whether a part's own row, or the list of open transactions, already shows the code. */
const covered = (code) => /^(reader-(?!keys-low|card-left)|printer-|clock|journal-(full|nearly|cannot)|sale-|signature-)/.test(code) || (code.startsWith("gateway-") && has(`reason.${code}`));

function part(picture, word, view, group, name = "") {
  if (!view) return null;
  const { state } = view;
  const level = levelOf(state);
  const said = stateWords(group, state, view.text);
  const waits = view.waiting ? ` ${t("state.printer.waiting", { count: view.waiting })}` : "";
  return h("li", { class: "part", "data-level": level, "data-part": group },
    icon(picture), h("div", {}, h("h2", {}, name ? `${t(word)} · ${name}` : t(word)), h("p", {}, said + waits),
      // A good reader's text is its name and serial number.
      level === "good" ? group === "reader" && h("p", { class: "detail" }, view.text) : folded(view.text)),
    h("span", { class: "sign" }, icon({ good: "approved", soon: "question", bad: "declined" }[level])));
}

/** Builds the choices of theme and size, which each device keeps for itself. */
function lookPart(changed) {
  const chosen = (name) => { try { return localStorage.getItem(`pos.${name}`) ?? CHOICES[name][0]; } catch { return CHOICES[name][0]; } };
  const rows = Object.entries(CHOICES).map(([name, values]) => h("div", { class: "tabs", role: "group", "aria-label": t(`look.${name}`) },
    values.map((value) => h("button", { "data-look": value, "aria-pressed": String(value === chosen(name)), onclick: (event) => choose(name, value, event) }, t(`look.${value}`)))));
  function choose(name, value, { currentTarget }) {
    try { localStorage.setItem(`pos.${name}`, value); } catch { /* lasts until a reload */ }
    dispatchEvent(new CustomEvent("look", { detail: { [name]: value } }));
    for (const one of currentTarget.parentElement.children) one.setAttribute("aria-pressed", String(one === currentTarget));
    changed();
  }
  return h("div", { class: "look" }, h("h2", {}, t("look.title")), rows);
}
