//! Amounts in minor units, and as decimals of the agent's interface.

/// Converts an amount such as `12.34` to minor units.
pub(crate) fn minor(amount: &str, decimals: u8) -> Option<u64> {
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let fits = part.len() <= usize::from(decimals) && !whole.is_empty();
    let all_digits = whole.bytes().chain(part.bytes()).all(|byte| byte.is_ascii_digit());
    if !fits || !all_digits {
        return None;
    }
    let text = format!("{whole}{part:0<width$}", width = usize::from(decimals));
    text.parse().ok()
}

/// Converts minor units to an amount such as `12.34`.
pub(crate) fn decimal(minor: u64, decimals: u8) -> String {
    let scale = 10_u64.pow(u32::from(decimals));
    match decimals {
        0 => minor.to_string(),
        decimals => format!("{}.{:0width$}", minor / scale, minor % scale, width = usize::from(decimals)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_integers_on_both_sides() {
        for (text, decimals, minor_units) in [("12.34", 2, 1234), ("0.05", 2, 5), ("1200", 0, 1200), ("1.230", 3, 1230)]
        {
            assert_eq!(minor(text, decimals), Some(minor_units));
            assert_eq!(decimal(minor_units, decimals), text);
        }
        for wrong in ["", ".5", "1.234", "-1.00", "1e3", "1,00"] {
            assert_eq!(minor(wrong, 2), None, "{wrong}");
        }
    }
}
