// The keypad: amount, reference, kind and tip; one press starts.

import { AMOUNT_KEYS, button, closer, dialog, DIGIT_KEYS, h, keypad, onEnter, text, typeInto } from "./dom.js";
import { EMPTY, payable, paysOut, requestOf, signed, STORED } from "./draft.js";
import { minor, percent, shift, unshift, wire } from "./money.js";
import { deviceWords } from "./parts.js";
import { problemWords } from "./sale.js";
import { money, t } from "./words.js";

const KINDS = ["sale", "pre-authorisation", "credit", "by-registration", "pre-authorisation-by-registration", "store-card"];
/** The outcomes that can be trained by name; the cents of the amount choose these and others. */
const RESULTS = ["by-amount", "approved", "declined", "partial", "signature", "unconfirmed"];

/**
 * Builds the keypad. The typed data is the state's draft: it stays when another screen is shown, and returns after a
 * refusal.
 */
export function payScreen(page) {
  const { exponent, currency, tips } = page.settings();
  const draft = () => page.state().draft;
  const change = (more) => page.dispatch({ type: "draft", change: more });
  const unitsOf = () => minor(draft().amount, exponent) ?? 0n;

  const label = h("label", { for: "amount" });
  // It takes the label's place, so that the keypad stays where it is.
  const trouble = h("p", { class: "trouble", role: "status", hidden: true });
  const figure = h("output", { class: "figure", id: "amount" });
  const total = h("p", { class: "total" });
  const charge = button(null, "", start, { class: "charge", id: "charge" });
  const kindButton = button("more", "", chooseKind, { class: "quiet", id: "kind" });
  const referenceButton = button("tag", "", typeReference, { class: "quiet", id: "reference" });
  const tipRow = h("div", { class: "tips", role: "group", "aria-label": t("tip") });
  const keys = keypad(AMOUNT_KEYS, digit);
  const el = h("section", { class: "pay" },
    h("h1", { class: "unseen", tabindex: "-1" }, t("pay.title")),
    h("div", { class: "order" },
      h("div", { class: "row" }, kindButton, referenceButton),
      h("div", { class: "display" }, label, trouble, figure, total),
      tipRow, charge),
    keys);

  function digit(name) {
    const before = unitsOf();
    const units = name === "erase" ? unshift(before) : shift(before, name);
    change({ amount: wire(units, exponent) });
    if (units !== before || name === "erase") draw(true);
  }
  const sumOf = (units) => money(wire(units, exponent), currency);
  let saying = null;
  function draw(spoken) {
    const { kind, reference, registration } = draft();
    const units = unitsOf();
    text(label, [t(`kind.${kind}`), reference].filter(Boolean).join(" · "));
    text(figure, signed(kind, money(wire(units, exponent), currency)));
    figure.dataset.long = String(figure.textContent.length > 9);
    text(charge.querySelector("span"), units > 0n ? t(`do.${kind}`, { amount: money(payable(requestOf(draft(), exponent), exponent), currency) }) : t("pay.enter-amount"));
    const { tip } = requestOf(draft(), exponent);
    text(total, units > 0n && tip && tip !== "ask" ? t("pay.total", { tip: money(tip, currency), total: money(payable(requestOf(draft(), exponent), exponent), currency) }) : "");
    charge.dataset.empty = String(units === 0n);
    charge.dataset.out = String(paysOut(kind));
    const stored = STORED.includes(kind) && `·· ${registration.slice(-4)}`;
    text(kindButton.querySelector("span"), stored || t(`kind.${kind}`));
    if (stored) kindButton.setAttribute("aria-label", `${t(`kind.${kind}`)} ${stored}`); else kindButton.removeAttribute("aria-label");
    text(referenceButton.querySelector("span"), reference || t("pay.reference"));
    drawTips();
    if (!spoken) return;
    clearTimeout(saying);
    saying = setTimeout(() => page.say(figure.textContent), 700);
  }

  function drawTips() {
    const { kind, tip } = draft();
    tipRow.hidden = !tips || kind !== "sale";
    if (tipRow.hidden) return;
    const choices = [[null, t("tip.none")], ...(tips.presets ?? []).map((rate) => [rate, t("tip.rate", { rate })])];
    if (tips.custom) choices.push(["ask", t("tip.ask")]);
    if (tipRow.children.length !== choices.length) {
      tipRow.replaceChildren(...choices.map(([value, word]) => h("button", { "data-tip": String(value), onclick: () => { change({ tip: value }); draw(); } },
        h("span", {}, word), h("small", {}))));
    }
    [...tipRow.children].forEach((one, n) => {
      const [rate] = choices[n];
      one.setAttribute("aria-pressed", String(rate === tip));
      // The customer hears a sum, and not a rate.
      text(one.lastChild, rate === null || rate === "ask" || !unitsOf() ? "" : sumOf(percent(unitsOf(), rate)));
    });
  }

  async function chooseKind() {
    const { kind, registration } = draft();
    const chosen = await dialog(t("pay.kind"), (close) => [
      h("div", { class: "choices" }, KINDS.filter((one) => one === kind || page.may(one)).map((one) => h("button", {
        "data-kind": one, "data-first": one === kind, "aria-pressed": String(one === kind), onclick: () => close(one),
      }, h("strong", {}, t(`kind.${one}`)), h("span", {}, t(`about.${one}`))))),
      h("div", { class: "answers" },
        page.settings().mayTrain && !page.training() && button("person", t("train.title"), () => close("train"), { class: "quiet", id: "train" }),
        closer(close)),
    ]);
    if (chosen === "train") return chooseOutcome();
    // This kind has no amount: it needs only the customer's card.
    if (chosen === "store-card") return void page.start({ kind: chosen });
    if (STORED.includes(chosen)) {
      const value = await typeText("registration", registration, /^[\x21-\x7e]+$/, 48);
      if (value === null) return settle();
      change({ registration: value });
    }
    if (chosen) change({ kind: chosen, tip: null });
    settle();
  }
  /** Chooses the answer of the bank in training mode. */
  async function chooseOutcome() {
    const word = (one) => t(one === "by-amount" ? "train.by-amount" : `outcome.${one}`);
    const chosen = await dialog(t("train.title"), (close) => [
      h("p", {}, t("train.about")),
      h("div", { class: "choices results" }, RESULTS.map((one, n) => h("button", { "data-result": one, "data-first": !n, onclick: () => close(one) }, h("strong", {}, word(one))))),
      closer(close),
    ]);
    if (chosen) page.train(chosen); else settle();
  }
  /** Asks for a text; null when the cashier closes the question. */
  async function typeText(name, old, right, most) {
    const wrong = h("p", { class: "wrong", id: "typed-wrong", role: "alert" });
    const field = h("input", { id: `${name}-field`, type: "text", maxlength: most, autocomplete: "off", "data-first": true, "aria-describedby": "typed-hint typed-wrong", value: old });
    const typed = await dialog(t(`pay.${name}`), (close) => {
      const done = () => {
        const value = field.value.trim();
        if (!right.test(value)) { field.setAttribute("aria-invalid", "true"); text(wrong, t(`pay.${name}-wrong`)); return; }
        close({ value });
      };
      onEnter(field, done);
      return [
        h("label", { class: "unseen", for: `${name}-field` }, t(`pay.${name}`)), field, h("p", { class: "hint", id: "typed-hint" }, t(`pay.${name}-hint`)), wrong,
        keypad(DIGIT_KEYS, (key) => typeInto(field, key)),
        h("div", { class: "answers" }, button(null, t("pay.ok"), done, { class: "primary", id: "ok" }), button(null, t("no"), () => close(null), { class: "quiet" })),
      ];
    }, "with-keys");
    return typed && typed.value;
  }
  async function typeReference() {
    const { reference } = draft();
    change({ reference: await typeText("reference", reference, /^[\x20-\x7e]*$/, 40) ?? reference });
    settle();
  }
  /** Returns the keyboard to the keypad after a question: Enter charges and does not open the question again. */
  function settle() {
    draw();
    el.querySelector("h1").focus();
  }

  function start() {
    if (unitsOf() === 0n) return void page.say(t("pay.enter-amount"), true);
    if (page.state().link !== "up") return void page.say(t("link.lost"), true);
    page.start(requestOf(draft(), exponent), draft());
  }

  draw();
  return {
    el,
    update(state) {
      charge.dataset.off = String(state.link !== "up" || state.status?.ready === false);
      const words = state.link !== "up" || !state.status ? ""
        : deviceWords(state.status) || (state.status.ready === false ? problemWords({ code: "not-ready" }, state.status) : "");
      text(trouble, words);
      trouble.hidden = !words;
      label.setAttribute("class", words ? "unseen" : "");
    },
    leave: () => clearTimeout(saying),
    press(event) {
      if (/^\d$/.test(event.key)) digit(event.key);
      else if (event.key === "Backspace") digit("erase");
      else if (event.key === "Escape" || event.key === "Delete") { change({ amount: EMPTY.amount }); draw(true); }
      else if (event.key === "Enter") {
        if (event.repeat) return true;
        // Enter on a focused button presses that button; the numpad's Enter always charges.
        if (event.target.tagName === "BUTTON" && event.code !== "NumpadEnter") return false;
        start();
      } else return false;
      return true;
    },
  };
}
