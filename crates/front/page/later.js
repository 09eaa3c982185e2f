// What a cashier needs after the keypad: the screens behind the menu, sign-in, a supervisor's approval, and receipts.
// `main.js` loads this module when the keypad is shown.

import { dayScreen } from "./day.js";
import { historyScreen } from "./history.js";
import { printCopy, showReceipt } from "./receipt.js";
import { askSupervisor, signInScreen } from "./signin.js";
import { loadSupport, terminalScreen } from "./terminal.js";

export const later = { screens: { sales: historyScreen, day: dayScreen, terminal: terminalScreen }, signInScreen, askSupervisor, printCopy, showReceipt, pairThis: async () => (await loadSupport()).pairThis(), payoutBar: async () => (await loadSupport()).payoutBar() };
