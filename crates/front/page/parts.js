// The parts of the terminal: what their states mean, and the remedy in words.

import { first, reason, t } from "./words.js";

/** The states of a part that are good, and those that only need attention. */
const GOOD = ["ready", "answers", "connected", "not-asked-yet", "not-used-yet"];
const SOON = ["opening", "restarting", "paper-low", "pausing", "nearly-full", "reader-serves", "differs", "throttles", "interrupted"];

/** Returns the level of a state: `good`, `soon` or `bad`. A state of a later agent version is bad. */
export const levelOf = (state) => (GOOD.includes(state) ? "good" : SOON.includes(state) ? "soon" : "bad");
/** Returns the words for a part's state; `otherwise` if the page does not know it. */
export const stateWords = (group, state, otherwise = "") =>
  first([`state.${group}.${state}`], reason(`${group}-${state}`, first([`state.${state}`], otherwise)));

/** Returns the remedy for the first device that cannot work; empty if all can. */
export function deviceWords(status, groups = ["reader", "printer"]) {
  const devices = [["reader", status?.reader], ...(status?.printers ?? []).map((one) => ["printer", one])];
  const found = devices.find(([group, one]) => groups.includes(group) && one && levelOf(one.state) === "bad");
  const words = found && stateWords(found[0], found[1].state);
  return words ? `${t(`part.${found[0]}`)}: ${words}` : "";
}
