//! The outcome of a payment, chosen by the cents of its amount. `pos-sim gateway --help` prints the table.
//!
//! With all other cents, a payment is approved if the card, its PIN and its cryptogram are right.

use std::fmt::Write as _;

use super::host_rules::HostRules;

/// The outcome of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Approved.
    Approve,
    /// Declined by the acquirer (HTTP 400).
    Decline {
        /// The value of `result.code`.
        code: &'static str,
        /// The value of `result.description`.
        description: &'static str,
        /// The response code in tag 8A for the chip.
        arc: [u8; 2],
    },
    /// Approved for half of the amount, rounded down to a cent.
    Partial,
    /// Approved for one unit of the currency more than requested.
    HigherAmount,
    /// Pending; approved from the second look-up on.
    PendingThenApproved,
    /// Pending; never decided.
    Pending,
    /// Refused because of too many requests; not processed.
    Throttle,
    /// Answered with HTTP 500.
    ServerError {
        /// True if the payment was approved.
        processed: bool,
    },
    /// Approved; the answer is HTTP 200 with a body that is not JSON.
    Garbage,
    /// Approved; the connection is cut in the middle of the answer.
    HalfJson,
    /// Approved; the answer is ten megabytes long.
    HugeBody,
    /// No answer; the connection stays open.
    Silence {
        /// True if the payment was approved.
        processed: bool,
    },
    /// The connection is cut instead of an answer.
    Cut {
        /// True if the payment was approved.
        processed: bool,
    },
    /// Approved, and the connection is cut. The first two look-ups (query or retrieval) do not find the payment; for a
    /// reversal, the first four do not.
    LateApproval,
    /// Approved, and the connection is cut. Its first reversal gets HTTP 500 and is not processed.
    ReversalFailsOnce,
    /// Approved, and the connection is cut. Its first reversal is processed and gets HTTP 500.
    ReversalAnswerLost,
    /// Approved. The outcome of its first reversal is that of these cents.
    FirstReversal(u8),
    /// Declined (HTTP 400) if the card was tapped, because its issuer requires chip and PIN. Otherwise approved.
    ChipWanted,
    /// Approved, but neither address nor security code could be checked.
    Unchecked,
    /// Approved; `pos.statusText` contains control bytes and printer commands.
    ControlBytes,
    /// Approved without `pos.iccDataResponse`.
    NoIccResponse,
    /// Approved; `pos.iccDataResponse` is not TLV.
    MalformedIcc,
    /// Approved; the issuer's scripts for the card do not fit into one packet to the reader.
    LongScripts,
    /// Approved, but 8A and CSU in `pos.iccDataResponse` say declined.
    Contradiction,
    /// HTTP 307 to the same address at first, then approved.
    RedirectOnce,
    /// HTTP 307 to another host each time; not processed.
    RedirectElsewhere,
    /// Approved with HTTP 200 and a result code that no list contains.
    StrangeCode,
    /// Approved with HTTP 200 and a result code of two characters.
    ShortCode,
}

/// A row of the table: cents, outcome, and a description for people.
pub type Row = (u8, Outcome, &'static str);

/// The outcomes by cents.
pub const TABLE: &[Row] = &[
    (
        51,
        decline("800.100.155", "transaction declined (amount exceeds credit)", *b"51"),
        "declined: insufficient funds",
    ),
    (52, decline("800.100.165", "transaction declined (card lost)", *b"41"), "declined: lost card"),
    (53, decline("100.100.303", "card expired", *b"54"), "declined: expired card"),
    (54, decline("800.100.152", "transaction declined by authorization system", *b"05"), "declined: do not honour"),
    (
        55,
        decline("100.400.100", "transaction declined - very bad rating", *b"59"),
        "declined: risk (risk.score -00900)",
    ),
    (56, Outcome::Unchecked, "approved, address and security code not checked (U)"),
    (57, Outcome::LongScripts, "approved, with long issuer scripts for a card that receives scripts"),
    (
        93,
        Outcome::ChipWanted,
        "declined when tapped: the issuer wants the card inserted and the PIN (AcquirerResponse 65)",
    ),
    (60, Outcome::Partial, "approved for half of the amount; reversed unless the till takes partial approvals"),
    (61, Outcome::PendingThenApproved, "pending, approved from the second look-up"),
    (62, Outcome::Pending, "pending, never decided"),
    (63, Outcome::Throttle, "too many requests, not processed"),
    (64, Outcome::ServerError { processed: false }, "HTTP 500, not processed"),
    (65, Outcome::ServerError { processed: true }, "HTTP 500, but approved"),
    (66, Outcome::Garbage, "approved, answered with garbage"),
    (67, Outcome::HalfJson, "approved, answered with half a JSON"),
    (68, Outcome::HugeBody, "approved, answered with ten megabytes"),
    (69, Outcome::StrangeCode, "approved, with an unlisted result code"),
    (70, Outcome::Silence { processed: false }, "silence, not processed"),
    (71, Outcome::Silence { processed: true }, "approved, then silence"),
    (72, Outcome::Cut { processed: false }, "line cut, not processed"),
    (73, Outcome::Cut { processed: true }, "approved, then line cut"),
    (74, Outcome::ControlBytes, "approved, control bytes in pos.statusText"),
    (75, Outcome::NoIccResponse, "approved without pos.iccDataResponse"),
    (76, Outcome::MalformedIcc, "approved, pos.iccDataResponse malformed"),
    (77, Outcome::Contradiction, "approved, but 8A tells the card to decline"),
    (78, Outcome::RedirectOnce, "HTTP 307 to the same address once, then approved"),
    (79, Outcome::HigherAmount, "approved for one unit more than requested"),
    (80, Outcome::LateApproval, "approved, line cut, not found by the first two look-ups"),
    (81, Outcome::ReversalFailsOnce, "approved, line cut, first reversal HTTP 500, not processed"),
    (82, Outcome::ReversalAnswerLost, "approved, line cut, first reversal processed but HTTP 500"),
    (83, Outcome::RedirectElsewhere, "HTTP 307 to another host, not processed"),
];

/// Further rows, for approved payments whose first reversal gets another outcome.
pub const REVERSALS: &[Row] = &[
    (84, Outcome::FirstReversal(54), "approved; its first reversal is declined"),
    (85, Outcome::FirstReversal(61), "approved; its first reversal is pending, approved from the second look-up"),
    (86, Outcome::FirstReversal(62), "approved; its first reversal is pending, never decided"),
    (87, Outcome::FirstReversal(63), "approved; its first reversal is throttled, not processed"),
    (88, Outcome::FirstReversal(66), "approved; its first reversal is processed, answered with garbage"),
    (89, Outcome::FirstReversal(70), "approved; its first reversal has no answer, not processed"),
    (90, Outcome::FirstReversal(71), "approved; its first reversal is processed, then silence"),
    (91, Outcome::FirstReversal(72), "approved; its first reversal is cut off, not processed"),
    (92, Outcome::FirstReversal(73), "approved; its first reversal is processed, then cut off"),
    (95, Outcome::FirstReversal(60), "approved; its first reversal reverses half of the requested amount"),
    (
        96,
        Outcome::FirstReversal(80),
        "approved; its first reversal is processed, cut off, not found by the first four look-ups",
    ),
];

/// Rows that replace others under literal rules, because result codes have two to eleven digits and dots (behaviour:
/// Errors).
pub const SHORT_CODES: &[Row] = &[
    (58, decline("05", "do not honour", *b"05"), "declined, with the result code 05"),
    (59, decline("000.4", "not permitted", *b"57"), "declined, with the result code 000.4"),
    (93, decline("1.2.3", "insufficient funds", *b"51"), "declined, with the result code 1.2.3"),
    (94, Outcome::ShortCode, "approved, with the result code 00"),
];

/// Returns the outcome for the last two digits of an amount in the gateway's format.
pub(super) fn for_amount(amount: &str, host_rules: HostRules) -> Outcome {
    let cents = amount.rsplit('.').next().and_then(|digits| digits.parse().ok());
    let short = SHORT_CODES.iter().find(|(row, ..)| host_rules.is_literal() && cents == Some(*row));
    short.map_or_else(|| cents.map_or(Outcome::Approve, for_cents), |(_, outcome, _)| *outcome)
}

/// Returns the outcome that these cents choose.
pub(super) fn for_cents(cents: u8) -> Outcome {
    let rows = TABLE.iter().chain(REVERSALS);
    rows.into_iter().find(|(row, ..)| *row == cents).map_or(Outcome::Approve, |(_, outcome, _)| *outcome)
}

impl Outcome {
    /// Returns the cents that choose the outcome of this payment's first reversal.
    pub(super) fn first_reversal(self) -> Option<u8> {
        match self {
            Self::ReversalFailsOnce => Some(64),
            Self::ReversalAnswerLost => Some(65),
            Self::FirstReversal(cents) => Some(cents),
            _ => None,
        }
    }
}

/// Returns the table as text, for `--help`.
pub(super) fn help() -> String {
    let mut text = String::from("The cents of an amount determine the outcome; all other cents approve:\n");
    for (cents, _, what) in TABLE.iter().chain(REVERSALS) {
        let _ = writeln!(text, "  .{cents:02}  {what}");
    }
    text.push_str("With --literal instead:\n");
    for (cents, _, what) in SHORT_CODES {
        let _ = writeln!(text, "  .{cents:02}  {what}");
    }
    text.push_str(
        "The same applies to captures, refunds and payments with a stored card. A reversal reverses the whole payment:\n\
         the payment's cents determine its outcome, .81, .82, .84 to .92, .95 and .96.\n\
         Billing address of every test card: billing.street1=1 Test Street, billing.postcode=12345; security code 123,\n\
         or 1234 for a card of the American Express type.\n\n",
    );
    text
}

const fn decline(code: &'static str, description: &'static str, arc: [u8; 2]) -> Outcome {
    Outcome::Decline { code, description, arc }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_choose_and_everything_else_approves() {
        let checked = |amount| for_amount(amount, HostRules::Checked);
        assert_eq!(checked("1.60"), Outcome::Partial);
        assert_eq!(checked("1000.72"), Outcome::Cut { processed: false });
        for approved in ["12.34", "1.00", "0.01", "9999999999.50", "60.99", "1.94"] {
            assert_eq!(checked(approved), Outcome::Approve, "{approved}");
        }
        for (cents, outcome, _) in SHORT_CODES {
            assert_eq!(for_amount(&format!("1.{cents}"), HostRules::Literal), *outcome);
        }
        assert_eq!(for_amount("1.60", HostRules::Literal), Outcome::Partial);
    }

    #[test]
    fn each_row_stands_once_and_leaves_the_everyday_cents_alone() {
        let cents = |rows: &mut dyn Iterator<Item = &Row>| rows.map(|(cents, ..)| *cents).collect::<Vec<u8>>();
        let (rows, short) = (cents(&mut TABLE.iter().chain(REVERSALS)), cents(&mut SHORT_CODES.iter()));
        for rows in [&rows, &short] {
            for (n, cents) in rows.iter().enumerate() {
                assert!(*cents > 50, ".{cents:02}");
                assert!(!rows[..n].contains(cents), ".{cents:02}");
            }
        }
        // The cents of the reversal must be in the table, in a row that does not set the outcome of another reversal.
        for (_, outcome, _) in REVERSALS {
            let cents = outcome.first_reversal().unwrap();
            assert!(rows.contains(&cents) && for_cents(cents).first_reversal().is_none(), "{outcome:?}");
        }
        assert!(help().contains(".51  declined: insufficient funds"));
    }
}
