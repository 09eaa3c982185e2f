//! The till's request. The protocol has no end mark, so a request is whole when its last field ends and no further
//! byte comes. A line end, which some tills send, ends it at once.
//!
//! | tag | content | rule |
//! |---|---|---|
//! | `CZ` | version of the protocol, 4 characters | the first field; echoed |
//! | `CA` | number of the counter, 1 to 8 characters | echoed |
//! | `CB` | amount in minor units, 1 to 12 digits | above zero; echoed as written |
//! | `CD` | action | `0` debit, `1` credit; otherwise refused with 12; echoed |
//! | `CE` | number of the currency, 3 digits | the terminal's, otherwise refused with 13; echoed |
//! | `CC` | means of payment, `00C` is a cheque | refused with 10: the customer chooses the card |
//! | `CJ` | identifier of the protocol | without effect |
//! | `BF` | whether the till accepts a part | without effect, because this terminal never approves a part |
//! | other | | ignored and logged |

use super::failure::Failure;
use super::tlv::{Scan, Tag, scan};

/// Maximum number of characters of the counter's number.
const LONGEST_COUNTER: usize = 8;
/// Maximum number of digits of an amount.
const LONGEST_AMOUNT: usize = 12;
/// Tags that have no effect.
const WITHOUT_EFFECT: [Tag; 2] = [Tag::PROTOCOL, Tag::PARTIAL];
/// Tags that each request must have.
const NEEDED: [Tag; 5] = [Tag::VERSION, Tag::COUNTER, Tag::CURRENCY, Tag::ACTION, Tag::AMOUNT];

/// The fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestFault {
    /// The request is longer than a message may be.
    #[error("the request is longer than 1024 bytes")]
    TooLong,
    /// A tag is not two capital letters or digits.
    #[error("a tag is not two capital letters or digits")]
    Tag,
    /// A tag occurs twice.
    #[error("{0}: occurs twice")]
    Twice(Tag),
    /// A length is wrong.
    #[error("{0}: the length is not three digits, is zero, or is beyond the longest request")]
    Length(Tag),
    /// A value is not printable ASCII.
    #[error("{0}: the value is not printable ASCII")]
    Value(Tag),
    /// A mandatory field is missing.
    #[error("{0}: is missing")]
    Missing(Tag),
    /// The first field is not the version.
    #[error("CZ: is not the first field with 4 characters")]
    Version,
    /// The number of the counter is too long.
    #[error("CA: is longer than 8 characters")]
    Counter,
    /// The amount is not a number above zero.
    #[error("CB: is not 1 to 12 digits above zero")]
    Amount,
    /// The action is unknown.
    #[error("CD: is neither 0 nor 1")]
    Action,
    /// The currency is not a number, or not the terminal's.
    #[error("CE: is not the currency of this terminal")]
    Currency,
    /// The till selects a means of payment.
    #[error("CC: this terminal offers no choice of the means of payment, and reads no cheque")]
    Means,
    /// The rest of the request did not come in time.
    #[error("the request was not complete in time")]
    Late,
    /// The till sent more after its request.
    #[error("the till sent more after its request")]
    GoesOn,
}

impl RequestFault {
    /// Returns the reason for the negative answer.
    #[must_use]
    pub fn failure(self) -> Failure {
        match self {
            Self::Action => Failure::Action,
            Self::Currency => Failure::Currency,
            Self::Means => Failure::Selection,
            _ => Failure::Format,
        }
    }
}

/// The values that the answer repeats as the till wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// `CZ`.
    pub version: Option<String>,
    /// `CA`.
    pub counter: Option<String>,
    /// `CB`.
    pub amount: Option<String>,
    /// `CD`.
    pub action: Option<String>,
    /// `CE`.
    pub currency: Option<String>,
}

impl Echo {
    /// Returns the values of a message, whole or not. A value that is too long is left out.
    #[must_use]
    pub fn of(scan: &Scan<'_>) -> Self {
        let value = |tag| scan.get(tag).filter(|value| value.len() <= LONGEST_AMOUNT).map(str::to_owned);
        Self {
            version: value(Tag::VERSION),
            counter: value(Tag::COUNTER),
            amount: value(Tag::AMOUNT),
            action: value(Tag::ACTION),
            currency: value(Tag::CURRENCY),
        }
    }

    pub(super) fn fields(&self) -> [(Tag, Option<&str>); 4] {
        [
            (Tag::COUNTER, self.counter.as_deref()),
            (Tag::AMOUNT, self.amount.as_deref()),
            (Tag::ACTION, self.action.as_deref()),
            (Tag::CURRENCY, self.currency.as_deref()),
        ]
    }
}

/// The direction of the money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The customer pays.
    Debit,
    /// The shop pays out, without an earlier payment.
    Credit,
}

/// A request of the till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The values for the answer.
    pub echo: Echo,
    /// The direction of the money.
    pub direction: Direction,
    /// The amount in minor units.
    pub minor: u64,
    /// The number of the currency.
    pub currency: u16,
    /// Tags that no rule names.
    pub ignored: Vec<Tag>,
}

/// How much of a request has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A part.
    Part,
    /// All mandatory fields. It is whole if no further byte comes.
    Whole,
    /// All, with a line end.
    Ended,
}

/// Returns how much of a request has arrived.
pub fn arrived(bytes: &[u8]) -> Result<Arrived, RequestFault> {
    let scan = scan(bytes)?;
    let line_end = scan.rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let missing = NEEDED.into_iter().find(|tag| scan.get(*tag).is_none());
    match (missing, line_end) {
        (None, 0) if scan.rest.is_empty() => Ok(Arrived::Whole),
        (_, 0) => Ok(Arrived::Part),
        (_, ends) if ends < scan.rest.len() => Err(RequestFault::GoesOn),
        (Some(tag), _) => Err(RequestFault::Missing(tag)),
        (None, _) => Ok(Arrived::Ended),
    }
}

impl Request {
    /// Reads a whole request.
    pub fn read(bytes: &[u8]) -> Result<Self, RequestFault> {
        if arrived(bytes)? == Arrived::Part {
            return Err(RequestFault::Late);
        }
        let scan = scan(bytes)?;
        let needed = |tag| scan.get(tag).ok_or(RequestFault::Missing(tag));
        let (version, counter) = (needed(Tag::VERSION)?, needed(Tag::COUNTER)?);
        if version.len() != 4 || scan.fields.first().map(|(tag, _)| *tag) != Some(Tag::VERSION) {
            return Err(RequestFault::Version);
        }
        if counter.len() > LONGEST_COUNTER {
            return Err(RequestFault::Counter);
        }
        let direction = match needed(Tag::ACTION)? {
            "0" => Direction::Debit,
            "1" => Direction::Credit,
            _ => return Err(RequestFault::Action),
        };
        let currency = number(needed(Tag::CURRENCY)?, 3..=3).ok_or(RequestFault::Currency)?;
        let minor = number(needed(Tag::AMOUNT)?, 1..=LONGEST_AMOUNT).filter(|minor| *minor > 0);
        let minor = minor.ok_or(RequestFault::Amount)?;
        if scan.get(Tag::MEANS).is_some() {
            return Err(RequestFault::Means);
        }
        let is_known = |tag: &Tag| NEEDED.contains(tag) || WITHOUT_EFFECT.contains(tag);
        let ignored = scan.fields.iter().map(|(tag, _)| *tag).filter(|tag| !is_known(tag)).collect();
        let currency = u16::try_from(currency).map_err(|_| RequestFault::Currency)?;
        Ok(Self { echo: Echo::of(&scan), direction, minor, currency, ignored })
    }
}

/// Reads a number with this many digits.
fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u64> {
    let is_number = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bytes of the module for a payment of 12.50 EUR.
    const PAYS: &str = "CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250";

    #[test]
    fn the_modules_request_is_read() {
        let request = Request::read(PAYS.as_bytes()).unwrap();
        assert_eq!((request.direction, request.minor, request.currency), (Direction::Debit, 1250, 978));
        assert_eq!(request.echo.amount.as_deref(), Some("1250"));
        assert!(request.ignored.is_empty());
        for (whole, arrives) in [(PAYS, Arrived::Whole), (&format!("{PAYS}\r\n"), Arrived::Ended)] {
            assert_eq!(arrived(whole.as_bytes()), Ok(arrives));
            assert!(Request::read(whole.as_bytes()).is_ok());
        }
    }

    #[test]
    fn a_part_is_no_request_and_becomes_none_by_its_end() {
        for end in 0..PAYS.len() {
            let part = &PAYS.as_bytes()[..end];
            assert_eq!(arrived(part), Ok(Arrived::Part), "{end}");
            assert!(Request::read(part).is_err());
        }
        assert_eq!(arrived(b"CZ0040300\n"), Err(RequestFault::Missing(Tag::COUNTER)));
        assert_eq!(arrived(format!("{PAYS}\nCC00300C").as_bytes()), Err(RequestFault::GoesOn));
        assert_eq!(arrived(format!("{PAYS}CC").as_bytes()), Ok(Arrived::Part), "the cheque comes after the amount");
    }

    #[test]
    fn each_fault_has_its_name_and_its_answer() {
        let with = |old: &str, new: &str| PAYS.replace(old, new);
        for (bytes, fault, failure) in [
            (with("CB0041250", "CB0010"), RequestFault::Amount, Failure::Format),
            (with("CB0041250", "CB003-50"), RequestFault::Amount, Failure::Format),
            (with("CB0041250", "CB00412.5"), RequestFault::Amount, Failure::Format),
            (with("CB0041250", "CB0131000000000000"), RequestFault::Amount, Failure::Format),
            (with("CD0010", "CD0012"), RequestFault::Action, Failure::Action),
            (with("CD0010", "CD00200"), RequestFault::Action, Failure::Action),
            (with("CE003978", "CE003EUR"), RequestFault::Currency, Failure::Currency),
            (with("CE003978", "CE0040978"), RequestFault::Currency, Failure::Currency),
            (with("CB0041250", "CB0041250CC00300C"), RequestFault::Means, Failure::Selection),
            (with("CB0041250", "CB0041250CC003001"), RequestFault::Means, Failure::Selection),
            (with("CA00201", "CA009123456789"), RequestFault::Counter, Failure::Format),
            (with("CZ0040300", ""), RequestFault::Late, Failure::Format),
            (with("CZ0040300CJ012012345678901", "CJ012012345678901CZ0040300"), RequestFault::Version, Failure::Format),
            (with("CA00201", "CA00201CA00201"), RequestFault::Twice(Tag::COUNTER), Failure::Format),
            (with("CA00201", "CA00-01"), RequestFault::Length(Tag::COUNTER), Failure::Format),
            (with("CA00201", "CA000"), RequestFault::Length(Tag::COUNTER), Failure::Format),
            (with("CA00201", "CA00301"), RequestFault::Late, Failure::Format),
            (with("CB0041250", "CB9991250"), RequestFault::Length(Tag::AMOUNT), Failure::Format),
            (with("CA00201", "CA002\u{7}1"), RequestFault::Value(Tag::COUNTER), Failure::Format),
            (with("CA00201", "ca00201"), RequestFault::Tag, Failure::Format),
            (format!("{PAYS}ZZ960"), RequestFault::Late, Failure::Format),
            (format!("{PAYS}ZZ999"), RequestFault::Length(Tag(*b"ZZ")), Failure::Format),
            ("x".repeat(65_536), RequestFault::TooLong, Failure::Format),
        ] {
            let read = Request::read(bytes.as_bytes());
            assert_eq!(read.clone().map_err(|fault| fault.failure()), Err(failure), "{bytes:.80}: {read:?}");
            assert_eq!(read, Err(fault), "{bytes:.80}");
        }
    }

    #[test]
    fn a_tag_without_a_rule_is_ignored_by_name_and_the_known_ones_are_not() {
        let request = Request::read(format!("{PAYS}BF0011XX0041234").as_bytes()).unwrap();
        assert_eq!(request.ignored, [Tag(*b"XX")]);
    }

    proptest! {
        /// No bytes make a request that differs from what the till wrote.
        #[test]
        fn any_bytes_are_a_fault_a_part_or_a_request(bytes in proptest::collection::vec(any::<u8>(), 0..1100)) {
            if let Ok(request) = Request::read(&bytes) {
                prop_assert!(request.minor > 0);
            }
        }

        #[test]
        fn what_is_read_is_what_was_written(
            minor in 1_u64..1_000_000_000_000, currency in 0_u16..1000, credit: bool, counter in "[0-9A-Z]{1,8}",
            order in Just(vec![0, 1, 2, 3]).prop_shuffle(), cut in 0_usize..60,
        ) {
            let amount = minor.to_string();
            let action = if credit { "1" } else { "0" };
            let fields = [
                format!("CA{:03}{counter}", counter.len()), format!("CE003{currency:03}"), format!("CD001{action}"),
                format!("CB{:03}{amount}", amount.len()),
            ];
            let text: String = order.iter().map(|at| fields[*at].as_str()).collect();
            let text = format!("CZ0040300{text}");
            let request = Request::read(text.as_bytes()).unwrap();
            prop_assert_eq!((request.minor, request.currency), (minor, currency));
            prop_assert_eq!(request.direction == Direction::Credit, credit);
            prop_assert_eq!(request.echo.amount, Some(amount));
            prop_assert_eq!(request.echo.counter, Some(counter));
            let part = text.get(..cut.min(text.len() - 1)).unwrap();
            prop_assert_eq!(arrived(part.as_bytes()), Ok(Arrived::Part));
        }
    }
}
