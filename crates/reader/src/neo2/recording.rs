//! NEO2's messages in a recording (readers: 4.2 to 4.4).

use super::listener::{CALL_BACK, CANCEL, KEYPAD, STARTED};
use super::message::{
    ElementForm, StripeBlock, each, has_clear_card_data, is_text_track, pin_digits, renew_check, split, tags,
};
use crate::family::RawMessage;
use crate::recording::{FirstPiece, KnownElement, PartContent, RecordedPart, RecordedWire, known};
use PartContent::{Hidden, Inside, Kept, MaskedDigits, MaskedText, Sealed};
use pos_reader_link::neo2_link::{self, FirstFrame, HEAD, Neo2Direction};
use pos_terms::emv::{Tag, tag};

/// The line of a NEO2 reader.
pub(crate) static RECORDING: Neo2Recording = Neo2Recording;

/// The line of every NEO2 reader.
pub(crate) struct Neo2Recording;

/// The command bytes whose answers have no elements.
const WITHOUT_ELEMENTS: [u8; 8] = [0x01, CANCEL, 0x12, STARTED, 0x18, 0x25, 0x29, 0x81];
/// C7-xx: the state of the encryption.
const ENCRYPTION: u8 = 0xC7;

const OWN: &[KnownElement] = &[
    (tags::KSN, "KSN of the card data", Kept),
    (tags::RESULT_CODE, "result code", Kept),
    (tags::ATTRIBUTION, "attribution", Kept),
    (tags::TRACK_SOURCE, "source of the track", Kept),
    (tags::TRACK_SOURCE_OLD, "source of the track", Kept),
    (tags::PIN_KSN, "KSN of the PIN", Kept),
    (tag::TRANSACTION_PIN_DATA, "sealed PIN", Sealed),
    (tags::MSD_TRACK1, "track 1 of magstripe mode", Hidden),
    (tags::MSD_TRACK2, "track 2 of magstripe mode", Hidden),
    (tags::MSD_TRACK1_OLD, "track 1 of magstripe mode", Hidden),
    (tags::MSD_TRACK2_OLD, "track 2 of magstripe mode", Hidden),
    (tags::TRACKS, "tracks", Hidden),
    (tags::TRACK3_EQUIVALENT, "track 3", Hidden),
    (tags::GROUP, "group", Kept),
    (tags::ERROR_DATA, "error data", Kept),
    (tags::DATA_RECORD, "data record", Kept),
    (tags::DISCRETIONARY_DATA, "discretionary data", Kept),
];

impl RecordedWire for Neo2Recording {
    fn first(&self, bytes: &[u8]) -> FirstPiece {
        match neo2_link::first_frame(bytes, Neo2Direction::Response) {
            FirstFrame::Incomplete => FirstPiece::Incomplete,
            FirstFrame::Wrong => FirstPiece::Garbage,
            FirstFrame::Frame { length, .. } => FirstPiece::Frame {
                length: neo2_link::frame_length(length),
                data: HEAD..HEAD + length,
                sender: 0,
                unsolicited: false,
                codes: neo2_link::codes(bytes),
                more: false,
            },
        }
    }

    fn parts<'a>(&self, message: &RawMessage<'a>, see: &mut dyn FnMut(RecordedPart<'a>)) -> bool {
        let RawMessage { codes: [command, _], bytes, .. } = *message;
        match command {
            _ if bytes.is_empty() => {}
            KEYPAD if bytes.len() == 1 || pin_digits(bytes.len() - 1).is_some() => pin_parts(bytes, see),
            CALL_BACK => see(RecordedPart::of("text or question", bytes, Kept)),
            command if command == ENCRYPTION || WITHOUT_ELEMENTS.contains(&command) => {
                see(RecordedPart::of("data", bytes, Kept));
            }
            _ if StripeBlock::is_framed(bytes) => block_parts(bytes, see),
            _ => return element_parts(bytes, see),
        }
        true
    }

    fn is_clear(&self, message: &RawMessage<'_>) -> bool {
        has_clear_card_data(message.bytes)
    }

    fn renew_inside(&self, data: &mut [u8]) {
        if let Some(block) = block_place(data) {
            renew_check(&mut data[block]);
        }
    }

    fn renew(&self, frame: &mut [u8]) {
        neo2_link::renew_crc(frame, Neo2Direction::Response);
    }
}

/// A PIN entry: the state, and KSN and block in hexadecimal digits.
fn pin_parts<'a>(bytes: &'a [u8], see: &mut dyn FnMut(RecordedPart<'a>)) {
    let (state, rest) = bytes.split_at(1);
    see(RecordedPart::of("state of the PIN entry", state, Kept));
    let (ksn, block) = rest.split_at(pin_digits(rest.len()).map_or(0, |(ksn, _)| ksn));
    if !ksn.is_empty() {
        see(RecordedPart::of("KSN of the PIN", ksn, Kept));
    }
    if !block.is_empty() {
        see(RecordedPart::of("sealed PIN", block, if ksn.is_empty() { Hidden } else { Sealed }));
    }
}

/// Returns whether the elements are well-formed.
fn element_parts<'a>(bytes: &'a [u8], see: &mut dyn FnMut(RecordedPart<'a>)) -> bool {
    let (attribution, elements) = split(bytes);
    if attribution.is_some() {
        see(RecordedPart::of("attribution", &bytes[..bytes.len() - elements.len()], Kept));
    }
    let walked = each(elements, &mut |element| {
        let (name, content) = known(element.tag, OWN);
        let (name, content) = match element.form {
            ElementForm::Encrypted => (name, Sealed),
            ElementForm::Masked => masked(element.tag),
            ElementForm::Plain if element.tag == tags::STRIPE_BLOCK => ("block of a swipe", Inside),
            ElementForm::Plain if tags::is_template(element.tag) => (name, Inside),
            ElementForm::Plain => (name, content),
        };
        let head = &element.raw[..element.raw.len() - element.value.len()];
        see(RecordedPart { head, tag: Some(element.tag), name, value: element.value, content });
        if element.form == ElementForm::Plain && element.tag == tags::STRIPE_BLOCK {
            block_parts(element.value, see);
        }
    });
    walked.is_ok()
}

/// Returns the name and the content of a masked element.
fn masked(masked: Tag) -> (&'static str, PartContent) {
    match masked {
        // A track 1 has the cardholder's name.
        tag::TRACK1_EQUIVALENT | tag::TRACK1_CLEAR | tags::MSD_TRACK1 | tags::MSD_TRACK1_OLD => {
            ("masked track 1", Hidden)
        }
        masked if is_text_track(masked) => ("masked track 2", MaskedText),
        tag::PAN => ("masked card number", MaskedDigits),
        tag::TRACK2_EQUIVALENT | tag::TRACK2_CONTACTLESS_MSD => ("masked track 2", MaskedDigits),
        _ => ("masked data", Hidden),
    }
}

/// The block of a swipe or of a typed card.
fn block_parts<'a>(bytes: &'a [u8], see: &mut dyn FnMut(RecordedPart<'a>)) {
    let Ok(block) = StripeBlock::parse(bytes) else {
        return see(RecordedPart::of("damaged block", bytes, Hidden));
    };
    see(RecordedPart::of("head of the block", block.head, Kept));
    see(RecordedPart::of("end of the block", &bytes[bytes.len() - 1..], Kept));
    for (n, (masked, encrypted)) in block.masked.into_iter().zip(block.encrypted).enumerate() {
        // A track 1 has the cardholder's name, and a track 3 no published layout.
        let content = if n == 1 { MaskedText } else { Hidden };
        for (name, value, content) in [("masked track", masked, content), ("sealed track", encrypted, Sealed)] {
            if !value.is_empty() {
                see(RecordedPart::of(name, value, content));
            }
        }
    }
    if let Some(ksn) = block.ksn {
        see(RecordedPart::of("KSN of the block", ksn, Kept));
    }
}

/// Returns the place of a block in the data of a message.
fn block_place(data: &[u8]) -> Option<std::ops::Range<usize>> {
    if StripeBlock::is_framed(data) {
        return Some(0..data.len());
    }
    let (_, elements) = split(data);
    let mut found = None;
    let _ = each(elements, &mut |element| {
        let at = element.value.as_ptr().addr() - data.as_ptr().addr();
        if element.tag == tags::STRIPE_BLOCK && StripeBlock::is_framed(element.value) {
            found = Some(at..at + element.value.len());
        }
    });
    found
}
