//! A transaction as the till receives it: the result code, and the fields of `04 0F` (ZVT PA00P015, chapter 3.9).
//!
//! | state or outcome | 27 | last frame |
//! |---|---|---|
//! | approved, in full or in part | 00 | `06 0F` |
//! | declined by the issuer | 05 | `06 1E 05` |
//! | cancelled, or no card in time | 6C | `06 1E 6C` |
//! | not sent: the gateway is unreachable | A3 | `06 1E A3` |
//! | not sent for another reason | 66, E2, … | `06 1E` with the same code |
//! | reversed | B4 | `06 1E B4` |
//! | unconfirmed | 7D: the outcome is unknown, and a later `06 20` returns it | `06 1E 7D` |

use super::Facts;
use super::flow::Flow;
pub(super) use crate::minor::{decimal, minor};
use crate::zvt::bmp::{Fields, digits};
use crate::zvt::code;
use crate::zvt::tlv;
use pos_till_api::{Card, Outcome, Problem, ProblemType, Sale, State, Status};

/// Returns the result code of a transaction that is over for the till, or `None` while it is in progress.
pub(super) fn code_of(sale: &Sale) -> Option<u8> {
    match (sale.state, sale.outcome) {
        (State::Unconfirmed | State::UnconfirmedFinishing, _) => Some(code::COMMUNICATION),
        (State::Ended, Some(Outcome::Approved | Outcome::PartiallyApproved)) => Some(code::OK),
        (State::Ended, Some(Outcome::Declined)) => Some(code::DECLINED),
        (State::Ended, Some(Outcome::Cancelled)) => Some(code::CANCELLED),
        (State::Ended, Some(Outcome::Reversed)) => Some(code::ALREADY_REVERSED),
        (State::Ended, Some(Outcome::NotSent)) => Some(not_sent(sale.reason.as_deref().unwrap_or_default())),
        (State::Ended, _) => Some(code::COMMUNICATION),
        _ => None,
    }
}

/// Returns the result code for the reason why the agent sent nothing.
fn not_sent(reason: &str) -> u8 {
    match reason {
        "card-unreadable" => code::CARD_UNREADABLE,
        reason if reason.starts_with("reader-") => code::READER,
        reason if reason.starts_with("gateway-") => code::NO_CONNECTION,
        _ => code::PROCESSING,
    }
}

/// Returns the result code of a refusal. After a refusal, nothing was done.
pub(super) fn code_of_refusal(problem: &Problem) -> u8 {
    use ProblemType as P;
    match problem.known() {
        Some(P::Busy) => code::BUSY,
        Some(P::Amount) => code::TOO_MUCH,
        Some(P::Currency) => code::WRONG_CURRENCY,
        Some(P::NotReady) => code::READER,
        Some(P::Forbidden | P::OperatorRequired | P::SupervisorNeeded | P::NotApproved | P::OperatorRole) => {
            code::NOT_POSSIBLE
        }
        Some(P::NotPossible | P::NoSuchSale) => code::NO_REVERSAL,
        _ => code::PROCESSING,
    }
}

/// Reads the offset of an RFC 3339 time, in seconds east of UTC.
pub(super) fn offset_of(time: &str) -> Option<i64> {
    let tail = time.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    if tail == "Z" {
        return Some(0);
    }
    let (sign, hours, minutes) = (tail.get(..1)?, tail.get(1..3)?, tail.get(4..6)?);
    let seconds = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
    Some(if sign == "-" { -seconds } else { seconds })
}

/// Returns month, day, hour, minute and second of a UTC time at an offset.
fn local(utc: &str, offset_s: i64) -> Option<[u8; 5]> {
    let part = |range: std::ops::Range<usize>| utc.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    let second_of_day = part(11..13)? * 3600 + part(14..16)? * 60 + part(17..19)? + offset_s;
    // Days since 1970-03-01 and back, in a calendar whose years begin in March (proleptic Gregorian).
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day - 1;
    let (days, second) = (days + second_of_day.div_euclid(86_400), second_of_day.rem_euclid(86_400));
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * of_year + 2) / 153;
    let (month, day) = (if m < 10 { m + 3 } else { m - 9 }, of_year - (153 * m + 2) / 5 + 1);
    let small = |n: i64| u8::try_from(n).ok();
    Some([small(month)?, small(day)?, small(second / 3600)?, small(second / 60 % 60)?, small(second % 60)?])
}

/// Sets time and date from month, day, hour, minute and second.
pub(super) fn set_time(fields: &mut Fields, [month, day, hour, minute, second]: [u8; 5]) {
    let two = |number: u8| digits(u64::from(number), 1);
    fields.set(0x0C, [hour, minute, second].map(two).concat());
    fields.set(0x0D, [month, day].map(two).concat());
}

/// Builds the fields of `04 0F` for a transaction. The amount is the amount to confirm, otherwise the approved amount,
/// otherwise the requested amount.
pub(super) fn fields(sale: &Sale, result: u8, flow: &Flow<'_>, echoes_currency: bool) -> Fields {
    let Facts { decimals, offset_s, .. } = *flow.facts;
    let mut fields = Fields::default();
    fields.set(0x27, [result]);
    let approved = sale.to_confirm.as_ref().map(|it| &it.amount).or(sale.approved_amount.as_ref());
    if let Some(amount) = minor(approved.unwrap_or(&sale.amount), decimals) {
        fields.set_number(0x04, amount);
    }
    fields.set_number(0x0B, sale.number % 1_000_000);
    if let Some(time) = local(&sale.started_at, offset_s) {
        set_time(&mut fields, time);
    }
    fields.set(0x29, terminal_id(&flow.facts.terminal_id));
    fields.set(0x2A, padded(&flow.facts.terminal_id));
    fields.set_number(0x87, u64::from(sale.receipt_number));
    // Fields 88 and A0 are left out, because some tills stop reading there and lose the fields after them.
    if echoes_currency && let Some(currency) = flow.facts.currency {
        fields.set(0x49, currency);
    }
    if let Some(code) = sale.approval_code.as_deref().filter(|_| result == code::OK) {
        let code: Vec<u8> = code.bytes().filter(u8::is_ascii_alphanumeric).take(8).collect();
        fields.set(0x3B, code);
    }
    if let Some(card) = &sale.card {
        add_card(&mut fields, card, flow);
    }
    let text = flow.charset().encode(&sale.text);
    if result != code::OK && !text.is_empty() {
        fields.set(0x3C, text);
    }
    fields
}

fn add_card(fields: &mut Fields, card: &Card, flow: &Flow<'_>) {
    fields.set(0x19, [payment_type(&card.entry_mode)]);
    // The card schemes forbid the expiry date on a receipt, but tills expect the field.
    fields.set(0x0E, [0x99, 0x99]);
    if let Some(last4) = card.last4.as_deref().filter(|last4| last4.len() == 4) {
        let shown = last4.parse().ok().map(|last4| digits(last4, 2)).unwrap_or_default();
        fields.set(0x22, [vec![0xEE; 6], shown].concat());
    }
    if let Some(brand) = card.brand.as_deref() {
        if let Some(kind) = card_type(brand) {
            fields.set(0x8A, [kind]);
        }
        let mut name = flow.charset().encode(brand);
        name.truncate(98);
        name.push(0);
        fields.set(0x8B, name);
    }
    if flow.has_tlv()
        && let Some(aid) = card.aid.as_deref().and_then(hex)
    {
        let mut application = Vec::new();
        crate::zvt::tlv::push(&mut application, 0x43, &aid);
        fields.set_tlv(0x60, &application);
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (text.len().is_multiple_of(2) && text.len() <= 32).then(|| (0..text.len()).step_by(2).map(pair).collect()).flatten()
}

/// Returns how the card was read: 40 for the terminal, plus bit 04 for a typed number.
fn payment_type(entry_mode: &str) -> u8 {
    if entry_mode == "MANUAL" { 0x44 } else { 0x40 }
}

/// Returns the ZVT card type of a brand, or `None` for a brand outside the list.
pub(super) fn card_type(brand: &str) -> Option<u8> {
    Some(match brand.to_ascii_uppercase().as_str() {
        "GIROCARD" | "EC" => 0x05,
        "MASTER" | "MASTERCARD" => 0x06,
        "AMEX" => 0x08,
        "VISA" => 0x0A,
        "DINERS" => 0x0C,
        "VPAY" | "V PAY" => 0x0D,
        "JCB" => 0x0E,
        "MAESTRO" => 0x2E,
        _ => return None,
    })
}

/// Returns the last eight digits of the terminal's ID.
pub(super) fn terminal_id(id: &str) -> Vec<u8> {
    let all: String = id.chars().filter(char::is_ascii_digit).collect();
    let last = &all[all.len().saturating_sub(8)..];
    digits(last.parse().unwrap_or(0), 4)
}

/// Builds the container of a status enquiry: the terminal's number (1F44), model and version (E4), and time (34). It
/// omits the serial number and device state (1F42, 1F43), because no document confirms the form that real terminals
/// use.
pub(super) fn about_terminal(status: &Status) -> Vec<u8> {
    let (mut out, mut device) = (Vec::new(), Vec::new());
    tlv::push(&mut out, 0x1F44, &terminal_id(&status.terminal_id));
    let ascii = |text: &str| text.bytes().filter(u8::is_ascii_graphic).take(40).collect::<Vec<u8>>();
    if let Some(model) = &status.reader.model {
        tlv::push(&mut device, 0x1F40, &ascii(model));
    }
    tlv::push(&mut device, 0x1F41, &ascii(&status.version));
    tlv::push(&mut out, 0xE4, &device);
    if let Some(time) = status.clock.time.as_deref().and_then(|time| time.get(..19)) {
        // `2026-11-20T13:34:56`: the shop's local time.
        let digits_of = |part: &str, bytes: usize| {
            let all: String = part.chars().filter(char::is_ascii_digit).collect();
            all.parse().ok().map(|number| digits(number, bytes))
        };
        if let (Some(date), Some(time)) = (digits_of(&time[..10], 4), digits_of(&time[11..], 3)) {
            let mut at = Vec::new();
            tlv::push(&mut at, 0x1F0E, &date);
            tlv::push(&mut at, 0x1F0F, &time);
            tlv::push(&mut out, 0x34, &at);
        }
    }
    out
}

/// Pads a text with spaces to 15 characters.
pub(super) fn padded(text: &str) -> Vec<u8> {
    text.bytes().filter(u8::is_ascii_graphic).chain(std::iter::repeat(b' ')).take(15).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_shops() {
        assert_eq!(offset_of("2026-11-20T12:34:56+01:00"), Some(3600));
        assert_eq!(offset_of("2026-11-20T12:34:56.5-03:30"), Some(-12_600));
        assert_eq!((offset_of("2026-11-20T12:34:56Z"), offset_of("nonsense")), (Some(0), None));
        assert_eq!(local("2026-11-20T12:34:56Z", 3600), Some([11, 20, 13, 34, 56]));
        assert_eq!(local("2026-12-31T23:30:00Z", 3600), Some([1, 1, 0, 30, 0]));
        assert_eq!(local("2028-03-01T00:10:00Z", -3600), Some([2, 29, 23, 10, 0]));
        assert_eq!(local("2026-03-01T00:10:00Z", -3600), Some([2, 28, 23, 10, 0]));
    }

    #[test]
    fn ids_are_eight_digits() {
        assert_eq!(terminal_id("T-1234567890"), [0x34, 0x56, 0x78, 0x90]);
        assert_eq!(terminal_id("none"), [0; 4]);
    }
}
