// A receipt or the slip of a close on the screen; its reprint; a close as a file.

import * as api from "./api.js";
import { button, closer, dialog, h, text } from "./dom.js";
import { first, t } from "./words.js";
import { drawCode, problemWords } from "./sale.js";

/** Returns the text for the cashier about a failed request. */
export const failure = (error) => (error instanceof api.Problem
  ? problemWords({ code: error.status === 401 ? "unauthorized" : error.code, detail: error.message }) : t("problem.lost"));

/**
 * Shows the slip of a close with its number, or a preview of the next close (`open`). `print` prints a close and
 * resolves to the text for the cashier.
 */
export function showClose(which, print) {
  return dialog(which === "open" ? t("day.preview") : t("day.slip", { number: which }), (close) => {
    const paper = h("pre", { class: "paper", tabindex: "0", "aria-label": t("day.close") }, t("loading"));
    const said = h("p", { class: "hint", role: "status" });
    api.close(which).then((slip) => text(paper, slip), (error) => text(paper, failure(error)));
    async function save() {
      try {
        const file = URL.createObjectURL(new Blob([await api.close(which, "text/csv")], { type: "text/csv" }));
        h("a", { href: file, download: `close-${which}.csv` }).click();
        setTimeout(() => URL.revokeObjectURL(file), 60000);
      } catch (error) { text(said, failure(error)); }
    }
    return [paper, said, h("div", { class: "answers" },
      which !== "open" && button("printer", t("day.print"), async () => text(said, await print()), { class: "primary", id: "print" }),
      button("sales", t("day.csv"), save, { class: "quiet", id: "csv" }), closer(close, "close", { id: "close" }))];
  }, "receipt");
}

/** Prints a copy. Resolves to `{taken, words}`: whether a printer has it, and the text for the cashier. */
export async function printCopy(sale, copy) {
  try {
    const { state } = await api.print(sale, copy);
    const words = ["ready", "paper-low", "not-used-yet"].includes(state) ? t("receipt.printing")
      : t("receipt.waits", { why: first([`state.printer.${state}`], state).replace(/[.]$/, "") });
    return { taken: true, words };
  } catch (error) { return { taken: false, words: failure(error) }; }
}

/** Shows the receipt of a transaction: a copy as text, or its address on the shop's server as a QR code (`code`). */
export function showReceipt(page, sale, begin = "customer") {
  let copy = begin;
  return dialog(t("outcome.receipt"), (close) => {
    const paper = h("pre", { class: "paper", tabindex: "0", "aria-label": t("outcome.receipt") });
    const code = h("div", { class: "picture" });
    const said = h("p", { class: "hint", role: "status" });
    const print = async () => text(said, (await printCopy(sale, copy)).words);
    const printer = !sale.training && button("printer", t("receipt.print"), print, { class: "primary", id: "print" });
    const names = ["customer", "merchant", ...sale.receiptUrl ? ["code"] : []];
    const copies = names.map((name) => h("button", { "data-copy": name, onclick: () => show(name) }, t(`receipt.${name}`)));
    async function show(name) {
      copy = name;
      copies.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.copy === name)));
      const isCode = name === "code";
      [paper.hidden, code.hidden] = [isCode, !isCode];
      if (printer) printer.hidden = isCode;
      text(said, isCode ? t("receipt.scan") : "");
      text(paper, t("loading"));
      try {
        if (isCode) { await drawCode(code, sale); return; }
        const found = await api.receipt(sale, name);
        if (copy === name) text(paper, found);
      } catch (error) { if (copy === name) text(isCode ? said : paper, failure(error)); }
    }
    show(copy);
    return [h("div", { class: "tabs", role: "group" }, copies), paper, code, said,
      h("div", { class: "answers" }, printer, closer(close, "close", { id: "close" }))];
  }, "receipt");
}
