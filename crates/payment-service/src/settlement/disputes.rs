//! Events after the settlement of an approved sale or capture, chosen by the cents of its amount.

use std::fmt::Write as _;

use crate::entry::{Kind, LedgerEntry};

/// The event that follows the settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dispute {
    /// The cardholder's chargeback, five days after the settlement.
    Chargeback {
        /// The value of `result.code`.
        code: &'static str,
        /// The value of `result.description`.
        reason: &'static str,
        /// True if the chargeback is reversed in the shop's favour five days later.
        is_reversed: bool,
    },
    /// The clearing institute cannot settle the payment.
    Failed,
    /// The service cannot find the payment for a record of the clearing institute.
    NotMatched,
}

/// The cents, their event, and a description for people. All host rules approve these amounts, except for `.59`, which
/// the literal rules decline.
const TABLE: &[(u8, &str)] = &[
    (59, "settled, but its record is not matched to the payment"),
    (94, "its settlement has failed (SettlementStatus FAILED)"),
    (97, "settled, and charged back five days later"),
    (98, "settled, charged back five days later, and returned to the shop after five more"),
];

/// The chargeback reasons, by the last digit of the whole units. Each is `000.100.2` and two digits (data-model:
/// Chargeback). The interface does not document the meaning of each number.
const REASONS: [(&str, &str); 10] = [
    ("000.100.200", "Reason not specified"),
    ("000.100.201", "Account or bank details incorrect"),
    ("000.100.202", "Account closed"),
    ("000.100.203", "Insufficient funds"),
    ("000.100.204", "Mandate not valid"),
    ("000.100.205", "Mandate cancelled"),
    ("000.100.206", "Revocation or dispute"),
    ("000.100.207", "Cancellation in clearing network"),
    ("000.100.208", "Account blocked"),
    ("000.100.299", "Goods or services not received"),
];

/// Returns the event that the cents of an entry select.
pub(super) fn of(entry: &LedgerEntry) -> Option<Dispute> {
    let sold = matches!(entry.kind, Kind::Debit | Kind::Capture) && entry.has_moved();
    let (units, cents) = entry.amount.split_once('.').filter(|_| sold)?;
    match cents {
        "59" => Some(Dispute::NotMatched),
        "94" => Some(Dispute::Failed),
        "97" | "98" => {
            let last = units.bytes().last().map_or(0, |digit| usize::from(digit.saturating_sub(b'0')));
            let (code, reason) = REASONS[last % REASONS.len()];
            Some(Dispute::Chargeback { code, reason, is_reversed: cents == "98" })
        }
        _ => None,
    }
}

/// Returns the table as text, for `--help`.
pub(crate) fn help() -> String {
    let mut text =
        String::from("In the settlement files, the cents of an approved sale or capture determine its record:\n");
    for (cents, what) in TABLE {
        let _ = writeln!(text, "  .{cents:02}  {what}");
    }
    text.push_str("The last digit before the decimals determines the reason of a chargeback:\n");
    for (digit, (code, reason)) in REASONS.iter().enumerate() {
        let _ = writeln!(text, "  {digit}    {code} {reason}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostRules, Outcome, outcomes};

    #[test]
    fn each_row_is_one_that_approves_and_reasons_have_the_documented_form() {
        for (cents, what) in TABLE {
            assert_eq!(outcomes::for_amount(&format!("1.{cents}"), HostRules::Checked), Outcome::Approve, "{cents}");
            assert!(help().contains(&format!(".{cents:02}  {what}")));
        }
        for (code, _) in REASONS {
            let digits = code.strip_prefix("000.100.2").unwrap();
            assert!(digits.len() == 2 && digits.bytes().all(|c| c.is_ascii_digit()), "{code}");
        }
    }
}
