// Helpers for the tests of the state machine.

import { begin, reduce } from "../state.js";

/** The time of every event that names no other. */
export const T = Date.parse("2026-11-22T12:00:00Z");
/** A transaction of the terminal's own till, as the terminal shows it. */
export const view = (more = {}) => ({
  till: "local", reference: "r-1", number: 7, kind: "sale", amount: "12.34", currency: "EUR", state: "waiting-for-card",
  text: "", startedAt: "2026-11-22T12:00:00Z", replayed: false, ...more,
});
export const ended = (outcome, more = {}) => view({ state: "ended", outcome, endedAt: "2026-11-22T12:00:09Z", ...more });

/** Plays events; returns the last state and all effects. */
export function play(state, ...events) {
  const done = [];
  for (const event of events) {
    let effects;
    [state, effects] = reduce(state, { now: T, ...event });
    done.push(...effects);
  }
  return [state, done];
}
export const up = () => play(begin(null), { type: "link-up" })[0];
