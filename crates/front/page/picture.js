// The picture on the customer's screen. It follows from the state of the transaction. No DOM, no network, no clock.

import { movesMoney, paysOut } from "./draft.js";
import { isUnderWay, screenOf } from "./state.js";

/** The time after which an outcome makes room for the shop's name. */
const ENDED_STAYS_MS = 30000;
/** The same time for an unconfirmed transaction: by then the shop has spoken to the customer. */
const UNCONFIRMED_STAYS_MS = 120000;

/** The icon, the title and the hint of each step of the reader. */
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
 * Returns the picture. `name` is its name, and `icon` its icon. `tone` is its colour: `good`, `bad`, `warn` or `plain`;
 * before the outcome there is none. `title` and `hint` are keys of its texts. `title` is a list: the first key that has
 * a text counts. `sumWord` is the key of the words beside the sum, if it has one. `hasCode` tells whether it has the QR
 * code. `link` is the state of the connection, or `unpaired`. `unsure` means that events about the transaction were
 * missed. `cardLeft` means that its card is still in the reader.
 */
export function pictureOf(job, { link, unsure = false, cardLeft = false }) {
  // Without a connection, every amount would be old.
  if (link === "unpaired") return { name: "unpaired", tone: "plain", icon: "terminal", title: ["customer.unpaired"], hint: "customer.unpaired-hint" };
  if (link === "connecting") return IDLE;
  if (link !== "up") return { name: "lost", tone: "plain", icon: "not-sent", title: ["link.lost-short"], hint: "customer.lost" };
  if (job?.phase !== "known") return IDLE;
  if (unsure) return unconfirmed(job.sale);
  const screen = screenOf(job);
  if (screen in ENDS) return endOf(screen, job.sale, cardLeft);
  if (!isUnderWay(job)) return unconfirmed(job.sale);
  const pay = (icon, title, hint = null) => ({ name: "pay", icon, title: [title], hint, sumWord: sumWordOf(job.sale, "customer.due") });
  if (screen === "signature") return pay("signature", "customer.sign");
  const hasCode = Boolean(job.sale.qr);
  // The reader asks for the PIN again milliseconds later, so what was wrong stays until the next PIN is entered.
  const step = job.step?.word === "pin-entry" && job.step.wrong !== undefined ? "pin-wrong" : job.step?.word;
  if (hasCode && screen === "bank") return { ...pay("person", "customer.acts"), hasCode };
  if (step in STEPS) return pay(...STEPS[step]);
  // A confirmation by the till is not an outcome yet.
  return screen === "card" ? pay("card", "customer.present") : pay("bank", "customer.wait");
}

/** Returns the key of the words beside the sum: of a sale `ofSale`, of others their kind. Some kinds have no sum. */
const sumWordOf = ({ kind }, ofSale) => movesMoney(kind) && (kind === "sale" ? ofSale : `kind.${kind}`);
const unconfirmed = (sale) => ({ name: "unconfirmed", tone: "warn", icon: "clock", title: ["customer.unconfirmed"], hint: "customer.unknown", sumWord: sumWordOf(sale, "kind.sale") });

function endOf(screen, { kind, qr }, cardLeft) {
  const [icon, tone] = ENDS[screen];
  // Nothing is ever charged by a refund, so its decline does not say so.
  const own = kind === "sale" || (screen !== "approved" && !paysOut(kind)) ? `customer.${screen}` : `outcome.${screen}.${kind}`;
  const sumWord = ["approved", "partial"].includes(screen) && sumWordOf({ kind }, "customer.paid");
  return { name: screen, tone, icon, title: [own, `outcome.${screen}`], hint: cardLeft ? "step.remove-card" : null, sumWord, hasCode: screen === "approved" && Boolean(qr) };
}

/** Returns how long a picture stays; null while it stays until something happens. */
export const staysMs = ({ name }, cardLeft) => (cardLeft ? null : name === "unconfirmed" ? UNCONFIRMED_STAYS_MS : name in ENDS ? ENDED_STAYS_MS : null);
