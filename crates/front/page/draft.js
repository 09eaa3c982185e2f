// The cashier's draft, from the keypad to the end of the transaction that was begun with it, and its sums. No DOM, no
// network, no clock.

import { minor, percent, wire } from "./money.js";

/** The kinds that name a stored card. */
export const STORED = ["by-registration", "pre-authorisation-by-registration"];
/** Checks whether a kind moves money; the others have no amount. */
export const movesMoney = (kind) => kind !== "store-card" && kind !== "forget-card";
/** The kinds that pay money out to the customer. */
const PAYS_OUT = ["refund", "reversal", "credit"];
export const paysOut = (kind) => PAYS_OUT.includes(kind);
/** Returns an amount as the kind moves it: with a sign if it goes out of the shop. */
export const signed = (kind, shown) => (shown && paysOut(kind) ? `− ${shown}` : shown);
/** An empty draft. `tip` is null, a rate in per cent, or `ask`. */
export const EMPTY = { kind: "sale", amount: "", tip: null, reference: "", registration: "" };

/** Checks whether stored data is a draft of this version. */
export const isDraft = (data) => ["kind", "amount", "reference", "registration"].every((name) => typeof data?.[name] === "string");

/** Returns the body of `POST /v1/sales` for a draft of the keypad, without its reference. */
export function requestOf({ kind, amount, tip, registration }, exponent) {
  const request = { kind, amount };
  if (kind !== "credit") request.acceptPartial = true;
  if (STORED.includes(kind)) request.registration = registration;
  if (tip === "ask") request.tip = "ask";
  else if (tip !== null) request.tip = wire(percent(minor(amount, exponent) ?? 0n, tip), exponent);
  return request;
}

/** Returns what the customer pays for a request or a transaction, as far as it is known: the amount with its tip. */
export function payable({ amount, tip } = {}, exponent) {
  const [units, more] = [minor(amount, exponent), minor(tip === "ask" ? "0" : tip ?? "0", exponent)];
  return units === null || more === null ? amount : wire(units + more, exponent);
}

/**
 * Returns the draft for the rest after a partial approval, to be paid by another card: a charge of a stored card
 * becomes a sale, a reservation on a stored card becomes a pre-authorisation.
 */
export function restOf(sale, draft, exponent) {
  const kind = { "by-registration": "sale", "pre-authorisation-by-registration": "pre-authorisation" }[sale.kind] ?? sale.kind;
  const amount = wire(minor(payable(sale, exponent), exponent) - minor(sale.approvedAmount, exponent), exponent);
  return { ...EMPTY, kind, amount, reference: draft?.reference ?? "" };
}

/** Returns the command that a supervisor confirms. `resolved` is the terminal's result for the command. */
export function toApprove(reference, request, resolved, exponent) {
  const { kind = "sale", of, till, number, payment, registration, entry } = request;
  const tip = request.tip === "ask" ? "ask" : undefined;
  const amount = movesMoney(kind) ? resolved?.amount ?? payable(request, exponent) : undefined;
  const currency = movesMoney(kind) ? resolved?.currency : undefined;
  const said = { reference, kind, of, till, number, payment, registration, entry, tip, amount, currency };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}
