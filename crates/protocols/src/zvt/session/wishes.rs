//! The handling of each field in a command that moves money. The session obeys the field, refuses it by name, or
//! ignores it as harmless. It never ignores a field that changes who pays, how much, how, or to whom. The manual
//! ("Replace your ZVT terminal") contains the same table, and a test compares the two.
//!
//! | kind | commands |
//! |---|---|
//! | new | `06 01`, `06 22`, `06 31`: a card is read |
//! | about an earlier one | `06 23`, `06 24`, `06 25`, `06 30`: the fields that identify it must agree with it |

use std::fmt;

use super::outcome::card_type;
use crate::zvt::apdu::Control;
use crate::zvt::bmp::{self, Fields, number};
use crate::zvt::code;
use crate::zvt::command::Command;
use crate::zvt::tlv::{self, Tag};
use pos_till_api::Sale;

/// Kinds of commands, as bits.
pub(super) type Kinds = u8;
pub(super) const PAY: Kinds = 1;
pub(super) const RESERVE: Kinds = 1 << 1;
pub(super) const PAY_OUT: Kinds = 1 << 2;
pub(super) const CAPTURE: Kinds = 1 << 3;
pub(super) const GIVE_UP: Kinds = 1 << 4;
pub(super) const VOID: Kinds = 1 << 5;
const NEW: Kinds = PAY | RESERVE | PAY_OUT;
const EARLIER: Kinds = CAPTURE | GIVE_UP | VOID;
const ALL: Kinds = NEW | EARLIER;

/// Maximum number of unknown tags that are logged for one command. A till repeats the same tags.
const MOST_UNKNOWN: usize = 8;

/// The value with which a refused field is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unless {
    Never,
    /// No amount.
    Zero,
    /// `4x` and `5x`: the terminal chooses the payment method. The low bits mean that a tip may be booked later, and
    /// that a printer is ready.
    TerminalChooses,
}

/// Fields that are handled in the same way. A field is harmless in each command that neither obeys nor refuses it.
pub(super) struct Rule {
    pub(super) bmps: &'static [u8],
    pub(super) tlvs: &'static [Tag],
    pub(super) obeyed: Kinds,
    pub(super) refused: Kinds,
    pub(super) code: u8,
    pub(super) unless: Unless,
}

const fn rule(bmps: &'static [u8], tlvs: &'static [Tag], obeyed: Kinds, refused: Kinds) -> Rule {
    Rule { bmps, tlvs, obeyed, refused, code: code::NOT_POSSIBLE, unless: Unless::Never }
}

pub(super) const RULES: &[Rule] = &[
    // The number of tries of `04 0F`, the amount, the container, the terminal's number, its merchant and the currency.
    rule(&[0x02, 0x04, 0x06, 0x29, 0x2A, 0x49], &[0x1F1F], ALL, 0),
    rule(&[], &[0x1F70], PAY | RESERVE, 0),
    rule(&[0x3D], &[], VOID | PAY_OUT, 0),
    // Fields that identify an earlier transaction. They must agree with it, and a new transaction has none.
    rule(&[0x0B, 0x37, 0x3B, 0x87, 0x8A], &[0x1F2B], EARLIER, NEW),
    // Numbers and records that this terminal never issues.
    rule(&[0x88, 0x92, 0x9A, 0xA7, 0xBA], &[0x01, 0x08, 0x69], 0, ALL),
    Rule { unless: Unless::TerminalChooses, ..rule(&[0x19], &[], 0, NEW) },
    Rule { code: code::NO_CASHBACK, unless: Unless::Zero, ..rule(&[], &[0x1F25], 0, ALL) },
    Rule { unless: Unless::Zero, ..rule(&[], &[0x1F0B, 0x1F20, 0x1F30, 0x1F36], 0, ALL) },
    // Data of cards that were read or typed elsewhere.
    Rule {
        code: code::FORBIDDEN,
        ..rule(
            &[0x0E, 0x17, 0x22, 0x23, 0x24, 0x2D, 0x3A],
            &[0x1F08, 0x1F09, 0x1F0A, 0x1F14, 0x1F1A, 0x1F31, 0x1F5E, 0x1F5F, 0x1F66],
            0,
            ALL,
        )
    },
    // Pumps, goods, fleets, and lists of cards.
    rule(&[0x05, 0x4C], &[0x05, 0x06, 0x0D, 0x20, 0x21, 0x22, 0x30], 0, ALL),
    // Restrictions on cards and reading methods.
    rule(
        &[0x8B, 0x8C],
        &[0x2F, 0x41, 0x43, 0x49, 0x60, 0x61, 0x62, 0xE6, 0x1F2D, 0x1F59, 0x1F60, 0x1F65, 0x1F6F],
        0,
        NEW,
    ),
    // Other amounts, currencies and transactions, instalments, mandates, vouchers, the customer's age, and data only
    // for the host.
    rule(
        &[],
        &[
            0x31, 0x63, 0xC1, 0xC2, 0xC3, 0xC5, 0xE1, 0xE2, 0xE8, 0xFF01, 0xFF02, 0xFF03, 0xFF04, 0x1F05, 0x1F06,
            0x1F0D, 0x1F1B, 0x1F21, 0x1F28, 0x1F29, 0x1F51, 0x1F52, 0x1F53, 0x1F64, 0x1F67, 0x1F68, 0x1F69, 0x1F6A,
            0x1F6B,
        ],
        0,
        ALL,
    ),
    // Waits, texts, displays, fields of answers, and fields of other commands.
    rule(
        &[
            0x01, 0x03, 0x0C, 0x0D, 0x27, 0x3C, 0x60, 0xA0, 0xAA, 0xD2, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7,
            0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD,
        ],
        &[
            0x07, 0x09, 0x0A, 0x12, 0x14, 0x15, 0x1A, 0x1B, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x34, 0x40, 0x44,
            0x45, 0x46, 0x47, 0x4A, 0x66, 0x67, 0xE3, 0xE4, 0xE9, 0x1F01, 0x1F02, 0x1F03, 0x1F04, 0x1F07, 0x1F0E,
            0x1F0F, 0x1F10, 0x1F12, 0x1F15, 0x1F37, 0x1F40, 0x1F41, 0x1F42, 0x1F43, 0x1F44, 0x1F5B, 0x1F62, 0x1F63,
            0x1F73,
        ],
        0,
        0,
    ),
];

/// The number of a field, without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Bmp(u8),
    Tlv(Tag),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bmp(bmp) => write!(f, "BMP {bmp:02X} ({})", bmp::name(*bmp).unwrap_or("unknown")),
            Self::Tlv(tag) => write!(f, "TLV {tag:02X} ({})", tlv::name(*tag).unwrap_or("unknown")),
        }
    }
}

/// The result for a command's fields: one sentence for the log per field, and the code of the first refused field.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) notes: Vec<String>,
    pub(super) refused: Option<u8>,
}

/// Returns the kind of a command and its number, or `None` for a command that moves no money.
fn kind_of(command: &Command) -> Option<(Kinds, Control)> {
    Some(match command {
        Command::Authorisation(_) => (PAY, Control::AUTHORISATION),
        Command::PreAuthorisation(_) => (RESERVE, Control::PRE_AUTHORISATION),
        Command::PartialReversal(_) => (CAPTURE, Control::PARTIAL_REVERSAL),
        Command::BookTotal(_) => (CAPTURE, Control::BOOK_TOTAL),
        Command::PreAuthorisationReversal(_) => (GIVE_UP, Control::PRE_AUTHORISATION_REVERSAL),
        Command::Reversal(_) => (VOID, Control::REVERSAL),
        Command::Refund(_) => (PAY_OUT, Control::REFUND),
        _ => return None,
    })
}

fn rule_of(field: Field) -> Option<&'static Rule> {
    RULES.iter().find(|rule| match field {
        Field::Bmp(bmp) => rule.bmps.contains(&bmp),
        Field::Tlv(tag) => rule.tlvs.contains(&tag),
    })
}

fn is_harmless(unless: Unless, value: &[u8]) -> bool {
    match unless {
        Unless::Never => false,
        Unless::Zero => value.iter().all(|byte| *byte == 0),
        Unless::TerminalChooses => matches!(value, [0x40..=0x5F]),
    }
}

/// Judges the fields of a command that moves money, before the session asks the terminal.
pub(super) fn judge(command: &Command, fields: &Fields) -> Judged {
    let mut judged = Judged::default();
    let Some((kind, control)) = kind_of(command) else { return judged };
    let container = tlv::walk(fields.get(0x06).unwrap_or_default()).map_while(Result::ok);
    let bmps = fields.iter().map(|(bmp, value)| (Field::Bmp(bmp), value));
    let mut seen = Vec::new();
    for (field, value) in bmps.chain(container.map(|object| (Field::Tlv(object.tag), object.value))) {
        let again = seen.contains(&field);
        seen.push(field);
        let refused = match rule_of(field) {
            // The field occurs twice, so one of its values would be ignored.
            Some(rule) if rule.obeyed & kind != 0 && again => Some(code::PROTOCOL),
            Some(rule) if rule.refused & kind != 0 && !is_harmless(rule.unless, value) => Some(rule.code),
            Some(_) => None,
            None => {
                if !again && judged.notes.len() < MOST_UNKNOWN {
                    judged.notes.push(format!("{control}: {field} is ignored"));
                }
                None
            }
        };
        if let Some(code) = refused {
            judged.notes.push(format!("{control}: {field} is refused with {code:02X}"));
            judged.refused = Some(code);
            return judged;
        }
    }
    judged
}

/// Returns whether the fields other than the receipt number agree with this transaction: traces, approval code and card
/// type. A receipt number occurs again after 9999, and in a new journal.
pub(super) fn agree(fields: &Fields, earlier: &Sale) -> bool {
    // A trace of zero is accepted, because a terminal may send a longer trace in another field.
    let is_trace = |digits: &[u8], of: u64| matches!(number(digits), Some(trace) if trace == 0 || trace == of);
    let short = |bmp| fields.get(bmp).is_none_or(|digits| is_trace(digits, earlier.number % 1_000_000));
    let long = fields.tlv(&[0x1F2B]).is_none_or(|digits| is_trace(digits, earlier.number));
    let approval = fields.get(0x3B).is_none_or(|code| {
        let known = earlier.approval_code.as_deref().unwrap_or_default();
        let known = known.bytes().filter(u8::is_ascii_alphanumeric).take(8);
        code.iter().copied().filter(|byte| !matches!(byte, 0 | b' ')).eq(known)
    });
    let brand = earlier.card.as_ref().and_then(|card| card.brand.as_deref());
    let card = fields.byte(0x8A).is_none_or(|kind| brand.and_then(card_type) == Some(kind));
    short(0x0B) && short(0x37) && long && approval && card
}
