//! Messages of a terminal, and the answers to them. A terminal writes these messages, and a simulated till reads them.

use super::apdu::{Apdu, Control};
use super::bmp::{BmpError, Fields, Order, digits};
use super::code;
use super::text::Charset;
use super::tlv;

/// Length of the longest printer line, in bytes.
const LONGEST_LINE: usize = 250;
/// Length of the shortest block, in bytes: the head of the block and one line.
const SHORTEST_BLOCK: usize = 300;
/// The largest sum of twelve digits, in minor units.
const MOST_SUM: u64 = 999_999_999_999;

/// The other side's answer to an APDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `80 00` or `84 00`.
    Ok,
    /// `84 9C`: ask again in two seconds.
    Later,
    /// `84 9D`: the value of the goods that were handed out, in minor units.
    Part(u64),
    /// `84 xx`.
    Refused(u8),
}

impl Reply {
    /// Reads an answer. Returns `None` if the APDU is a command.
    ///
    /// # Errors
    /// Fails if the amount of `84 9D` cannot be read.
    pub fn read(apdu: &Apdu) -> Result<Option<Self>, BmpError> {
        Ok(Some(match apdu.control {
            Control(0x80, _) | Control(0x84, 0x00) => Self::Ok,
            Control(0x84, code::BUSY) => Self::Later,
            Control(0x84, code::PART) => {
                let amount = Fields::read(&apdu.data)?.number(0x04)?;
                Self::Part(amount.ok_or(BmpError::Short { bmp: 0x04, at: 0 })?)
            }
            Control(0x84, code) => Self::Refused(code),
            _ => return Ok(None),
        }))
    }
}

/// The content of an intermediate status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording<'a> {
    /// A new T4 in minutes, or `None` to keep the agreed T4.
    pub minutes: Option<u8>,
    /// A text for the cashier, with its character set. Only a till that accepts containers gets it.
    pub text: Option<(&'a str, Charset)>,
}

/// Builds `04 FF`.
#[must_use]
pub fn intermediate(status: u8, wording: Wording<'_>) -> Apdu {
    let mut data = vec![status];
    if let Some(minutes) = wording.minutes {
        data.extend(digits(u64::from(minutes.min(99)), 1));
    }
    if let Some((text, charset)) = wording.text {
        let (mut lines, mut container) = (Vec::new(), Vec::new());
        for line in text.split('\n').take(8) {
            let mut line = charset.encode(line);
            line.truncate(LONGEST_LINE);
            tlv::push(&mut lines, 0x07, &line);
        }
        tlv::push(&mut container, 0x24, &lines);
        // The container follows the minutes, so the minutes must be present.
        if wording.minutes.is_none() {
            data.extend(digits(3, 1));
        }
        super::bmp::push(&mut data, 0x06, &container);
    }
    Apdu::new(Control::INTERMEDIATE, data)
}

/// Builds `04 0F`.
#[must_use]
pub fn status(fields: &Fields, order: Order) -> Apdu {
    Apdu::new(Control::STATUS, fields.write(order))
}

/// Builds `06 0F` with these fields.
#[must_use]
pub fn completion(fields: &Fields) -> Apdu {
    Apdu::new(Control::COMPLETION, fields.write(Order::Ascending))
}

/// Builds `06 0F` for a status enquiry: the version if requested, the terminal's state, and the container if there is
/// one.
#[must_use]
pub fn completion_of_enquiry(version: Option<&str>, state: u8, container: Option<&[u8]>) -> Apdu {
    let mut data = Vec::new();
    if let Some(version) = version {
        let version = &version.as_bytes()[..version.len().min(99)];
        data.extend(format!("{:03}", version.len()).bytes().map(|digit| 0xF0 | digit & 0x0F));
        data.extend_from_slice(version);
    }
    data.push(state);
    if let Some(container) = container {
        super::bmp::push(&mut data, 0x06, container);
    }
    Apdu::new(Control::COMPLETION, data)
}

/// Builds `06 1E`.
#[must_use]
pub fn abort(code: u8, fields: &Fields) -> Apdu {
    let mut data = vec![code];
    data.extend(fields.write(Order::Ascending));
    Apdu::new(Control::ABORT, data)
}

/// The payments of a period with one kind of card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardTotal {
    /// The number of payments. The field holds at most 255, so the caller reports a larger number elsewhere.
    pub count: u64,
    /// The sum in minor units.
    pub sum: u64,
}

/// Builds the value of BMP 60: the first and last receipt, and seven sums (girocard, JCB, Mastercard, American Express,
/// Visa, Diners, all others). Also returns whether a count or a sum was too large for its field.
#[must_use]
pub fn totals(receipts: [u16; 2], cards: &[CardTotal; 7]) -> (Vec<u8>, bool) {
    let mut value = Vec::new();
    for receipt in receipts {
        value.extend(digits(u64::from(receipt), 2));
    }
    for card in cards {
        value.push(u8::try_from(card.count).unwrap_or(u8::MAX));
        value.extend(digits(card.sum.min(MOST_SUM), 6));
    }
    (value, cards.iter().any(|card| card.count > u64::from(u8::MAX) || card.sum > MOST_SUM))
}

/// The recipient of a receipt (TLV 1F07).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptFor {
    /// The shop.
    Merchant,
    /// The customer.
    Customer,
    /// Administration: the receipt belongs to no payment.
    Administration,
}

/// A line of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The attribute, as in `06 D1`.
    pub attribute: u8,
    /// The text of the line.
    pub text: String,
}

/// Attributes of a line.
pub mod attribute {
    /// Left-aligned.
    pub const NORMAL: u8 = 0x00;
    /// Centred.
    pub const CENTRE: u8 = 0x40;
    /// Double width.
    pub const WIDE: u8 = 0x20;
    /// Double height.
    pub const HIGH: u8 = 0x10;
    /// The last line.
    pub const LAST: u8 = 0x81;
}

/// Builds a receipt as `06 D1`, line by line. The last line is marked as such.
#[must_use]
pub fn lines(lines: &[Line], charset: Charset) -> Vec<Apdu> {
    let line = |attribute: u8, text: &str| {
        let mut data = vec![attribute];
        data.extend(charset.encode(text));
        data.truncate(LONGEST_LINE);
        Apdu::new(Control::PRINT_LINE, data)
    };
    lines.iter().map(|it| line(it.attribute, &it.text)).chain([line(attribute::LAST, "")]).collect()
}

/// Builds a receipt as `06 D3`, in blocks that are no longer than the till accepts.
#[must_use]
pub fn blocks(lines: &[Line], charset: Charset, whose: ReceiptFor, about: u8, longest: usize) -> Vec<Apdu> {
    let longest = longest.max(SHORTEST_BLOCK);
    let mut parts: Vec<Vec<u8>> = vec![Vec::new()];
    for line in lines {
        let mut text = charset.encode(&line.text);
        text.truncate(LONGEST_LINE);
        let mut one = Vec::new();
        tlv::push(&mut one, 0x09, &[line.attribute]);
        tlv::push(&mut one, 0x07, &text);
        // Space for the head of the APDU, the container with its other objects, and the last attribute.
        let used = parts.last().map_or(0, Vec::len);
        if used > 0 && used + one.len() + 30 > longest {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(one);
        }
    }
    let last = parts.len().saturating_sub(1);
    let block = |(number, mut part): (usize, Vec<u8>)| {
        if number == last {
            tlv::push(&mut part, 0x09, &[attribute::LAST]);
        }
        let mut container = Vec::new();
        let whose = match whose {
            ReceiptFor::Merchant => 1,
            ReceiptFor::Customer => 2,
            ReceiptFor::Administration => 3,
        };
        tlv::push(&mut container, 0x1F07, &[whose]);
        tlv::push(&mut container, 0x1F37, &[about]);
        tlv::push(&mut container, 0x25, &part);
        let mut data = Vec::new();
        super::bmp::push(&mut data, 0x06, &container);
        Apdu::new(Control::PRINT_BLOCK, data)
    };
    parts.into_iter().enumerate().map(block).collect()
}

/// A message of a terminal, as a simulated till reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalMessage {
    /// `80 00` or `84 00`.
    Ok,
    /// `84 xx`.
    Refused(u8),
    /// `04 FF`.
    Intermediate(u8),
    /// `04 0F`.
    Status(Fields),
    /// `06 0F`. Its data depend on the command.
    Completion(Vec<u8>),
    /// `06 1E`.
    Aborted {
        /// The result code.
        code: u8,
        /// The fields after the code.
        fields: Fields,
    },
    /// `06 D1`: a flag for the last line, and the text.
    Line(bool, Vec<u8>),
    /// `06 D3`: the lines, and a flag for the last block.
    Block(Vec<Vec<u8>>, bool),
    /// Any other message.
    Other(Control),
}

impl TerminalMessage {
    /// Reads a message of a terminal.
    ///
    /// # Errors
    /// Fails if the fields cannot be read.
    pub fn read(apdu: &Apdu) -> Result<Self, BmpError> {
        let data = apdu.data.as_slice();
        Ok(match apdu.control {
            Control(0x80, _) | Control(0x84, 0) => Self::Ok,
            Control(0x84, code) => Self::Refused(code),
            Control::INTERMEDIATE => Self::Intermediate(data.first().copied().unwrap_or(0)),
            Control::STATUS => Self::Status(Fields::of_terminal(data)?),
            Control::COMPLETION => Self::Completion(data.to_vec()),
            Control::ABORT => {
                let (code, rest) = data.split_first().ok_or(BmpError::Short { bmp: 0, at: 0 })?;
                // The answer to a request for open reservations has fields after the code: B8 87 nnnn.
                Self::Aborted { code: *code, fields: Fields::of_terminal(rest)? }
            }
            Control::PRINT_LINE => {
                let attribute = data.first().copied().unwrap_or(attribute::LAST);
                Self::Line(attribute & 0x80 != 0, data.get(1..).unwrap_or_default().to_vec())
            }
            Control::PRINT_BLOCK => {
                let fields = Fields::of_terminal(data)?;
                let lines = fields.tlv(&[0x25]).unwrap_or_default();
                let all: Vec<_> = tlv::walk(lines).map_while(Result::ok).collect();
                let texts = all.iter().filter(|tlv| tlv.tag == 0x07).map(|tlv| tlv.value.to_vec()).collect();
                let is_last = all.last().is_some_and(|tlv| tlv.tag == 0x09 && tlv.value.first() >= Some(&0x80));
                Self::Block(texts, is_last)
            }
            other => Self::Other(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(apdu: &Apdu) -> String {
        hex::encode_upper(apdu.encode())
    }

    #[test]
    fn frames_are_those_of_the_document() {
        let nothing = Wording { minutes: None, text: None };
        assert_eq!(hex(&intermediate(0x17, nothing)), "04FF0117");
        assert_eq!(hex(&completion(&Fields::default())), "060F00");
        assert_eq!(hex(&abort(0x6C, &Fields::default())), "061E016C");
        assert_eq!(hex(&completion_of_enquiry(Some("2.14.15"), 0, None)), "060F0BF0F0F7322E31342E313500");
        assert_eq!(hex(&completion_of_enquiry(None, 0xDC, None)), "060F01DC");
        assert_eq!((hex(&Apdu::ok()), hex(&Apdu::refused(0x9C))), ("800000".to_owned(), "849C00".to_owned()));
        let mut open = Fields::default();
        open.set(0x87, [0xFF, 0xFF]);
        assert_eq!(hex(&abort(0xB8, &open)), "061E04B887FFFF");
    }

    #[test]
    fn an_answer_is_one_of_four() {
        let read = |control, data: &[u8]| Reply::read(&Apdu::new(control, data.to_vec()));
        assert_eq!(read(Control(0x84, 0), &[]), Ok(Some(Reply::Ok)));
        assert_eq!(read(Control(0x84, 0x9C), &[]), Ok(Some(Reply::Later)));
        assert_eq!(read(Control(0x84, 0x9D), &[4, 0, 0, 0, 0, 0x22, 0]), Ok(Some(Reply::Part(2200))));
        assert_eq!(read(Control(0x84, 0x66), &[]), Ok(Some(Reply::Refused(0x66))));
        assert_eq!(read(Control::AUTHORISATION, &[]), Ok(None));
        assert!(read(Control(0x84, 0x9D), &[]).is_err());
    }

    #[test]
    fn a_long_receipt_is_divided_and_only_its_end_says_so() {
        let many: Vec<Line> = (0..100)
            .map(|n| Line { attribute: attribute::CENTRE, text: format!("line {n} with some more text") })
            .collect();
        let blocks = blocks(&many, Charset::Cp437, ReceiptFor::Merchant, 1, 400);
        let told: Vec<TerminalMessage> = blocks.iter().map(|block| TerminalMessage::read(block).unwrap()).collect();
        assert!(blocks.len() > 5 && blocks.iter().all(|block| block.encode().len() <= 400));
        let lasts: Vec<bool> = told.iter().map(|told| matches!(told, TerminalMessage::Block(_, true))).collect();
        assert_eq!(lasts.iter().filter(|last| **last).count(), 1);
        assert_eq!(lasts.last(), Some(&true));
        let lines: usize =
            told.iter().map(|told| if let TerminalMessage::Block(lines, _) = told { lines.len() } else { 0 }).sum();
        assert_eq!(lines, 100);
        let lines = super::lines(&many[..2], Charset::Cp437);
        assert_eq!(TerminalMessage::read(&lines[2]), Ok(TerminalMessage::Line(true, Vec::new())));
    }

    #[test]
    fn counts_without_room_are_said_otherwise() {
        let mut cards = [CardTotal::default(); 7];
        cards[2] = CardTotal { count: 2, sum: 958 };
        let (value, full) = totals([233, 234], &cards);
        assert_eq!((value.len(), full, &value[..4]), (53, false, &[2, 0x33, 2, 0x34][..]));
        cards[6].count = 300;
        let (value, full) = totals([233, 234], &cards);
        assert_eq!((value[46], full), (255, true));
    }
}
