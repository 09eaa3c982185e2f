// What the customer sees: the state of the transaction goes in, a picture with the names of its texts comes out. No DOM,
// no network, no clock.

import { movesMoney, paysOut } from "./draft.js";
import { isUnderWay, screenOf } from "./state.js";

/** The time after which an outcome makes room for the shop's name. */
export const OUTCOME_STAYS_MS = 30000;
/** The same time for an unconfirmed transaction: by then the shop has spoken to the customer. */
export const UNCONFIRMED_STAYS_MS = 120000;

/** The picture, the text and the second text of each step of the reader. */
const STEPS = {
  "choosing-tip": ["pin", "step.choosing-tip"],
  "insert-card": ["card", "step.insert-card"],
  "swipe-card": ["card", "step.swipe-card"],
  "try-again": ["card", "step.try-again"],
  "type-card": ["pin", "customer.wait"],
  "choosing-application": ["pin", "step.choosing-application"],
  "reading-card": ["card", "step.reading-card"],
  "pin-entry": ["pin", "step.pin-entry", "customer.cover"],
  "pin-wrong": ["pin", "step.pin-wrong", "customer.cover"],
  "pin-done": ["bank", "customer.wait"],
  "remove-card": ["remove", "step.remove-card"],
};
const ENDS = {
  approved: ["approved", "good"], partial: ["partial", "warn"], declined: ["declined", "bad"], cancelled: ["cancelled", "plain"],
  "not-sent": ["not-sent", "plain"], reversed: ["reversed", "plain"],
};
const IDLE = { name: "idle" };

/**
 * Returns the picture: its name, its colour (`good`, `bad`, `warn`, `plain`; none before the outcome), its icon, the
 * keys of its texts, the key of the words beside the sum if it has one, and whether it has the QR code. `link` is the
 * state of the connection, or `unpaired`. `unsure` means that events about the transaction were missed, and `cardLeft`
 * that its card is still in the reader.
 */
export function seen(job, { link, unsure = false, cardLeft = false }) {
  // Without a connection, every amount would be old.
  if (link === "unpaired") return { name: "unpaired", tone: "plain", icon: "terminal", title: ["customer.unpaired"], hint: "customer.unpaired-hint" };
  if (link === "connecting") return IDLE;
  if (link !== "up") return { name: "lost", tone: "plain", icon: "not-sent", title: ["link.lost-short"], hint: "customer.lost" };
  if (job?.phase !== "known") return IDLE;
  if (unsure) return unconfirmed(job.sale);
  const screen = screenOf(job);
  if (screen in ENDS) return endOf(screen, job.sale, cardLeft);
  if (!isUnderWay(job)) return unconfirmed(job.sale);
  const pay = (icon, title, hint = null) => ({ name: "pay", icon, title: [title], hint, sum: sumOf(job.sale, "customer.due") });
  if (screen === "signature") return pay("signature", "customer.sign");
  const qr = Boolean(job.sale.qr);
  // The reader asks for the PIN again milliseconds later, so what was wrong stays until the next PIN is entered.
  const step = job.step?.word === "pin-entry" && job.step.wrong !== undefined ? "pin-wrong" : job.step?.word;
  if (qr && screen === "bank") return { ...pay("person", "customer.acts"), qr };
  if (step in STEPS) return pay(...STEPS[step]);
  // A confirmation by the till is not an outcome yet.
  return screen === "card" ? pay("card", "customer.present") : pay("bank", "customer.wait");
}

/** Returns the key of the words beside the sum: of a sale `ofSale`, of others their kind. Some kinds have no sum. */
const sumOf = ({ kind }, ofSale) => movesMoney(kind) && (kind === "sale" ? ofSale : `kind.${kind}`);
const unconfirmed = (sale) => ({ name: "unconfirmed", tone: "warn", icon: "clock", title: ["customer.unconfirmed"], hint: "customer.unknown", sum: sumOf(sale, "kind.sale") });

function endOf(screen, { kind, qr }, cardLeft) {
  const [icon, tone] = ENDS[screen];
  // Nothing is ever charged by a refund, so its decline does not say so.
  const own = kind === "sale" || screen !== "approved" && !paysOut(kind) ? `customer.${screen}` : `outcome.${screen}.${kind}`;
  const sum = ["approved", "partial"].includes(screen) && sumOf({ kind }, "customer.paid");
  return { name: screen, tone, icon, title: [own, `outcome.${screen}`], hint: cardLeft ? "step.remove-card" : null, sum, qr: screen === "approved" && Boolean(qr) };
}

/** Returns how long a picture stays; null while it stays until something happens. */
export const staysMs = ({ name }, cardLeft) => (cardLeft ? null : name === "unconfirmed" ? UNCONFIRMED_STAYS_MS : name in ENDS ? OUTCOME_STAYS_MS : null);
