// What a cashier prepares: one draft, from the keypad to the end of what was begun with it, and what it comes to. No DOM,
// no network, no clock.

import { minor, percent, wire } from "./money.js";

/** Kinds that name a card which the bank keeps. */
export const STORED = ["by-registration", "pre-authorisation-by-registration"];
/** Kinds by which no money moves: they have no amount. */
export const movesMoney = (kind) => kind !== "store-card" && kind !== "forget-card";
/** Nothing is prepared. `tip` is null, so many per cent, or `ask`. */
export const EMPTY = { kind: "sale", amount: "", tip: null, reference: "", registration: "" };

/** The body of `POST /v1/sales` that a draft of the keypad comes to, without its reference. */
export function requestOf({ kind, amount, tip, registration }, exponent) {
  const request = { kind, amount };
  if (kind !== "credit") request.acceptPartial = true;
  if (STORED.includes(kind)) request.registration = registration;
  if (tip === "ask") request.tip = "ask";
  else if (tip !== null) request.tip = wire(percent(minor(amount, exponent) ?? 0n, tip), exponent);
  return request;
}

/** What the customer pays for a request or a sale, as far as it is known: the amount with its tip. */
export function payable({ amount, tip } = {}, exponent) {
  const [units, more] = [minor(amount, exponent), minor(tip === "ask" ? "0" : tip ?? "0", exponent)];
  return units === null || more === null ? amount : wire(units + more, exponent);
}

/** What another card is to pay when a part was approved: as a charge of a charge, and as a reservation of a reservation. */
export function restOf(sale, draft, exponent) {
  const kind = { "by-registration": "sale", "pre-authorisation-by-registration": "pre-authorisation" }[sale.kind] ?? sale.kind;
  const amount = wire(minor(payable(sale, exponent), exponent) - minor(sale.approvedAmount, exponent), exponent);
  return { ...EMPTY, kind, amount, reference: draft?.reference ?? "" };
}

/** The command that a supervisor confirms; `resolved` is what the terminal says that it comes to. */
export function toApprove(reference, request, resolved, exponent) {
  const { kind = "sale", of, till, number, payment, registration, entry } = request;
  const tip = request.tip === "ask" ? "ask" : undefined;
  const amount = movesMoney(kind) ? resolved?.amount ?? payable(request, exponent) : undefined;
  const currency = movesMoney(kind) ? resolved?.currency : undefined;
  const said = { reference, kind, of, till, number, payment, registration, entry, tip, amount, currency };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}
