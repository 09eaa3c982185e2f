// A receipt on the screen, and its reprint.

import * as api from "./api.js";
import { button, dialog, h, text } from "./dom.js";
import { first, t } from "./words.js";
import { problemWords } from "./sale.js";

/** Returns the text for the cashier about a failed request. */
export const failure = (error) => (error instanceof api.Problem
  ? problemWords({ code: error.status === 401 ? "unauthorized" : error.code, detail: error.message }) : t("problem.lost"));

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
