// Amounts: whole minor units inside (as BigInt), texts such as "12.34" in requests, the shop's language on the screen.

/** Converts "12.34" to minor units. */
export function minor(text, exponent) {
  const found = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(text ?? ""));
  if (!found || (found[3]?.length ?? 0) > exponent) return null;
  const units = BigInt(found[2] + (found[3] ?? "").padEnd(exponent, "0"));
  return found[1] ? -units : units;
}

/** Converts minor units to the text of requests. */
export function wire(units, exponent) {
  const digits = (units < 0n ? -units : units).toString().padStart(exponent + 1, "0");
  const text = exponent ? `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}` : digits;
  return units < 0n ? `-${text}` : text;
}

/** Formats an amount for people. A text that is not an amount is shown unchanged. */
export function shown(text, currency, locale, exponent = 2) {
  if (text === undefined || text === null) return "";
  if (minor(text, 6) === null) return String(text);
  const how = { style: "currency", currency, minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  try {
    return new Intl.NumberFormat(locale, how).format(text);
  } catch {
    return `${text} ${currency}`;
  }
}

/** Converts typed text, "12,34" or "12.34" or "12", to the text of requests; null when it is not an amount. */
export function typed(text, exponent) {
  const units = minor(text.trim().replace(",", "."), exponent);
  return units === null ? null : wire(units, exponent);
}

/** Adds digits from the right, as on a terminal's keypad. At most nine digits. */
export const shift = (units, digits) => {
  const next = BigInt(`${units}${digits}`);
  return next > 999999999n ? units : next;
};
export const unshift = (units) => units / 10n;

/** Returns a percentage, rounded to the nearest minor unit. */
export const percent = (units, rate) => (units * BigInt(rate) + 50n) / 100n;
