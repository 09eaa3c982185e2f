// A receipt or the slip of a close on the screen; its reprint; a close as a file.

import * as api from "./api.js";
import { button, dialog, h, text } from "./dom.js";
import { first, t } from "./words.js";
import { problemWords } from "./sale.js";

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
      button("sales", t("day.csv"), save, { class: "quiet", id: "csv" }), button("close", t("close"), () => close(null), { class: "quiet", id: "close" }))];
  }, "receipt");
}

export function showReceipt(page, sale) {
  let copy = "customer";
  return dialog(t("outcome.receipt"), (close) => {
    const paper = h("pre", { class: "paper", tabindex: "0", "aria-label": t("outcome.receipt") });
    const said = h("p", { class: "hint", role: "status" });
    const copies = ["customer", "merchant"].map((name) => h("button", { "data-copy": name, onclick: () => show(name) }, t(`receipt.${name}`)));
    async function show(name) {
      copy = name;
      copies.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.copy === name)));
      text(paper, t("loading"));
      try {
        const found = await api.receipt(sale.reference, name);
        if (copy === name) text(paper, found);
      } catch (error) { text(paper, failure(error)); }
    }
    async function print() {
      try {
        const { state } = await api.print(sale.reference, copy);
        text(said, ["ready", "paper-low", "not-used-yet"].includes(state) ? t("receipt.printing")
          : t("receipt.waits", { why: first([`state.printer.${state}`], state).replace(/[.]$/, "") }));
      } catch (error) { text(said, failure(error)); }
    }
    show(copy);
    return [h("div", { class: "tabs", role: "group" }, copies), paper, said,
      h("div", { class: "answers" }, !sale.training && button("printer", t("receipt.print"), print, { class: "primary", id: "print" }), button("close", t("close"), () => close(null), { class: "quiet", id: "close" }))];
  }, "receipt");
}
