// Sign-in: a list of names, and a PIN pad.

import * as api from "./api.js";
import { button, DIGIT_KEYS, fill, h, icon, keypad, text } from "./dom.js";
import { failure } from "./receipt.js";
import { language, t } from "./words.js";

/** Reads who can sign in, and the number of digits of each PIN if it is fixed. */
async function people() {
  try { await api.get("/front/session", { ms: api.SETTINGS_MS }); } catch (error) {
    if (error.status === 401) return { operators: [], ...error.body };
    throw error;
  }
  return { operators: [] };
}

/** Builds the choice of the language; `label` returns what a button shows. */
export const languageChoice = (page, label) => h("div", { class: "tabs", role: "group", "aria-label": t("language.choose") }, page.settings().languages.map((name) =>
  h("button", { lang: name, "aria-pressed": String(name === language()), onclick: () => page.chooseLanguage(name) }, label(name))));

export function signInScreen(page, why) {
  const title = h("h1", { tabindex: "-1" }, t("sign.title"));
  const said = h("p", { class: "hint", role: "status" }, why ? t(why) : "");
  const place = h("div", { class: "who-works" });
  const tongues = languageChoice(page, (name) => name.toUpperCase());
  const el = h("section", { class: "sign-in" }, h("header", {}, title, tongues), said, place);
  let pad = null;
  let pinDigits = null;

  async function names() {
    pad = null;
    text(title, t("sign.title"));
    try {
      const { operators: found, pinDigits: length, toPair } = await people();
      if (toPair) text(title, t("sign.unpaired"));
      pinDigits = length;
      fill(place, h("div", { class: "names" }, found.map((one) => h("button", { "data-operator": one.name, onclick: () => pin(one) },
        icon("person"), h("strong", {}, one.name), h("span", {}, t(`role.${one.role}`))))));
      text(said, toPair ? t("sign.to-pair") : why ? t(why) : "");
    } catch (error) {
      text(said, failure(error));
      setTimeout(() => { if (el.isConnected && !pad) names(); }, 1500);
    }
  }
  function pin(one) {
    text(title, t("sign.pin", { name: one.name }));
    text(said, "");
    pad = pinPad(t("sign.in"), async (digits) => page.signIn(await api.post("/front/session", { operator: one.name, pin: digits })), said, pinDigits);
    fill(place, pad.el, button("back", t("sign.other"), names, { class: "quiet", id: "other" }));
    title.focus();
  }
  names();
  return { el, focus: title, update() {}, press: (event) => (event.key === "Escape" && pad ? (names(), true) : pad?.press(event) ?? false), leave: () => pad?.leave() };
}

/**
 * Builds a pad for a PIN, which is shown as dots and kept only until its request ends. With a fixed `length`, the last
 * digit sends it.
 */
export function pinPad(word, send, said, length = null) {
  let digits = "";
  let busy = false;
  let timer = null;
  const dots = h("p", { class: "dots", "aria-hidden": "true" });
  const spoken = h("span", { class: "unseen", role: "status" });
  const go = button(null, word, enter, { class: "primary", id: "pin-enter" });
  const el = h("div", { class: "pin", tabindex: "-1" }, dots, spoken, keypad(DIGIT_KEYS, type, "data-pin"), go);

  function tell(words, look = "wrong") {
    said.setAttribute("class", look);
    text(said, words);
  }
  function type(name) {
    if (busy || timer) return;
    tell("", "hint");
    digits = name === "erase" ? digits.slice(0, -1) : name === "clear" ? "" : (digits + name).slice(0, 12);
    draw();
    if (digits.length === length) enter();
  }
  function draw() {
    text(dots, "●".repeat(digits.length));
    text(spoken, digits ? t("sign.digits", { count: digits.length }) : "");
    el.dataset.empty = String(!digits);
  }
  async function enter() {
    if (busy || timer || !digits) return;
    busy = true;
    const sent = digits;
    digits = "";
    draw();
    try { await send(sent); } catch (error) {
      if (error.status === 429 && error.code !== "pin-under-way") wait(error.retryAfterS ?? 30);
      else tell(error.status === 401 ? t("sign.wrong") : failure(error));
    }
    busy = false;
  }
  function wait(seconds) {
    const until = Date.now() + seconds * 1000;
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left > 0) return tell(t("sign.wait", { s: left }));
      leave();
      tell(t("sign.wait-done"), "hint");
    };
    timer = setInterval(tick, 1000);
    tick();
  }
  function leave() { clearInterval(timer); timer = null; }
  draw();
  function press(event) {
    if (/^\d$/.test(event.key)) type(event.key);
    else if (event.key === "Backspace") type("erase");
    else if (event.key === "Enter" && (event.target.tagName !== "BUTTON" || event.code === "NumpadEnter")) enter();
    else return false;
    return true;
  }
  return { el, press, leave };
}
