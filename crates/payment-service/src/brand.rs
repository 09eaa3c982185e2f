//! The brand of a card number.

/// Returns the brand that the first digits of a PAN identify; `None` if they identify no brand.
pub(super) fn of(pan: &str) -> Option<&'static str> {
    let first = |n: usize| pan.get(..n).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or_default();
    match (first(1), first(2), first(4)) {
        (4, ..) => Some("VISA"),
        (_, 51..=55, _) | (.., 2221..=2720) => Some("MASTER"),
        (_, 34 | 37, _) => Some("AMEX"),
        (_, 35, _) => Some("JCB"),
        (_, 30 | 36 | 38, _) => Some("DINERS"),
        (.., 6011) | (_, 65, _) => Some("DISCOVER"),
        (_, 50 | 56..=59 | 67, _) => Some("MAESTRO"),
        (_, 62, _) => Some("UNIONPAY"),
        _ => None,
    }
}
