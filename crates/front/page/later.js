// What a cashier needs after the keypad: the screens behind the menu, sign-in, and receipts.
// `main.js` loads this module when the keypad is shown.

import { dayScreen } from "./day.js";
import { historyScreen } from "./history.js";
import { printCopy, showReceipt } from "./receipt.js";
import { signInScreen } from "./signin.js";
import { loadSupport, terminalScreen } from "./terminal.js";

/** Returns a function of `support.js`, which is loaded when it is called. */
const supported = (name) => async (...given) => (await loadSupport())[name](...given);

export const later = {
  screens: { sales: historyScreen, day: dayScreen, terminal: terminalScreen }, signInScreen, printCopy, showReceipt,
  askSupervisor: supported("askSupervisor"), pairThis: supported("pairThis"), payoutBar: supported("payoutBar"),
};
