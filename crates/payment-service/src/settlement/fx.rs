//! The exchange rates between the payment's currency and the currency of the merchant's account. `SettlementFxRate` has
//! two decimals (data-model: Reconciliation file, amount format), so the rates are round. The written amount is the
//! payment's amount times the written rate.

use pos_terms::money::Currency;

/// The value of one unit, in cents of a euro. A unit that is not listed is worth one euro.
const CENTS: &[(&str, u64)] =
    &[("USD", 90), ("GBP", 115), ("CHF", 105), ("JPY", 1), ("KWD", 300), ("SEK", 9), ("DKK", 13), ("PLN", 23)];

/// Returns the rate for one unit of the payment's currency, in hundredths of the account's unit, at least one.
pub(super) fn rate(from: Currency, to: Currency) -> u64 {
    let worth =
        |currency: Currency| CENTS.iter().find(|(code, _)| *code == currency.code()).map_or(100, |(_, cents)| *cents);
    if from == to { 100 } else { ((worth(from) * 100 + worth(to) / 2) / worth(to)).max(1) }
}

/// Converts hundredths of a unit of `from` to hundredths of a unit of `to`, rounded half up to the precision of `to`.
pub(super) fn convert(hundredths: u64, from: Currency, to: Currency) -> u64 {
    let exact = u128::from(hundredths) * u128::from(rate(from, to));
    let step = if to.exponent() == 0 { 100 } else { 1 };
    let rounded = (exact + 50 * step) / (100 * step) * step;
    // The file allows at most ten digits and two decimals.
    u64::try_from(rounded)
        .unwrap_or(u64::MAX)
        .min(999_999_999_999 / u64::try_from(step).unwrap_or(1) * u64::try_from(step).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_multiplied_by_the_rate_that_is_written() {
        let of = |code| Currency::from_code(code).unwrap();
        for (from, to, hundredths, rate_written, settled) in [
            ("EUR", "EUR", 1234, 100, 1234),
            ("USD", "EUR", 1234, 90, 1111),
            ("JPY", "EUR", 120_000, 1, 1200),
            ("KWD", "EUR", 123, 300, 369),
            ("EUR", "JPY", 1050, 10_000, 105_000),
            ("USD", "JPY", 1, 9_000, 100),
            ("JPY", "JPY", 120_000, 100, 120_000),
        ] {
            assert_eq!(rate(of(from), of(to)), rate_written, "{from} {to}");
            assert_eq!(convert(hundredths, of(from), of(to)), settled, "{from} {to}");
        }
        assert_eq!(convert(999_999_999_999, of("KWD"), of("EUR")), 999_999_999_999);
    }
}
