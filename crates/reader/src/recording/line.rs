//! The bytes of a reader without card data: frame by frame, with the same lengths and correct check bytes.

use std::collections::VecDeque;
use std::ops::Range;

use zeroize::Zeroizing;

use super::elements::{PartContent, RecordedPart};
use crate::family::RawMessage;
use crate::masked_pan::{CLEAR_DIGITS, digits, has_clear_digits, is_readable};
use pos_reader_link::apdu_link;
use pos_terms::emv::tlv;

/// The sender of bytes that belong to no frame.
const NO_SENDER: u8 = u8::MAX;

/// The frames of a family, for a recording.
pub trait RecordedWire: Sync {
    /// Finds the frame at the start of received bytes.
    fn first(&self, bytes: &[u8]) -> FirstPiece;

    /// Calls `see` with the parts of a message that may be recorded. All other bytes are recorded as zeros. Returns
    /// whether the message is well-formed.
    fn parts<'a>(&self, message: &RawMessage<'a>, see: &mut dyn FnMut(RecordedPart<'a>)) -> bool;

    /// Returns whether a message has clear card data, for which a session refuses the reader.
    fn is_clear(&self, message: &RawMessage<'_>) -> bool;

    /// Makes check bytes inside the data of a message again.
    fn renew_inside(&self, _data: &mut [u8]) {}

    /// Makes the check bytes of a frame again.
    fn renew(&self, frame: &mut [u8]);
}

/// The start of received bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstPiece {
    /// More bytes are needed.
    Incomplete,
    /// The first byte belongs to no frame.
    Garbage,
    /// A frame.
    Frame {
        /// Its length.
        length: usize,
        /// The place of its data.
        data: Range<usize>,
        /// The part of the reader whose message it belongs to.
        sender: u8,
        /// `true` if the reader sent the message without a preceding command.
        unsolicited: bool,
        /// The message's own codes ([`RawMessage::codes`]).
        codes: [u8; 2],
        /// `true` if the message has more frames.
        more: bool,
    },
}

/// The kind of a message, as far as a session judges it by card data that are not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageKind {
    /// Its sealed data are sealed.
    #[default]
    Sealed,
    /// It is malformed.
    Malformed,
    /// Sealed data are zeros already at the reader.
    Zeros,
    /// It has clear card data.
    Clear,
    /// Its sealed data can be read.
    Readable,
}

/// The bytes that replace card data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardDataFill {
    /// Zeros, for a recording.
    Zeros,
    /// Bytes that a session judges like those of a message of this kind, to play a recording.
    Like(MessageKind),
}

impl CardDataFill {
    /// Returns the bytes in place of sealed data, of other card data, and of what belongs to no part.
    fn bytes(self) -> (u8, u8, u8) {
        match self {
            Self::Zeros | Self::Like(MessageKind::Zeros) => (0, 0, 0),
            // The letter E is also a hexadecimal digit, but no decimal one.
            Self::Like(MessageKind::Sealed) => (b'E', 0, 0),
            // No element begins with the bytes FF FF.
            Self::Like(MessageKind::Malformed) => (b'E', 0, 0xFF),
            // The byte 31 has decimal digits in ASCII and in both halves.
            Self::Like(MessageKind::Clear) => (b'E', b'1', 0),
            Self::Like(MessageKind::Readable) => (b'1', 0, 0),
        }
    }
}

/// A frame without card data, or bytes that belong to no frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePiece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The kind of the message that ends here.
    pub kind: MessageKind,
    /// The content of the message that ends here, one line for each part.
    pub notes: Vec<String>,
    /// `true` if a message ends here.
    pub ends: bool,
}

/// Removes card data from a reader's bytes.
pub struct LineRewriter {
    wire: &'static dyn RecordedWire,
    fill: CardDataFill,
    input: Zeroizing<Vec<u8>>,
    held: VecDeque<HeldPiece>,
    /// `true` if the caller knows that a piece begins with `input`.
    announced: bool,
}

/// A frame whose message may be unfinished.
struct HeldPiece {
    bytes: Zeroizing<Vec<u8>>,
    kind: MessageKind,
    notes: Vec<String>,
    ends: bool,
    /// The place of the data, until they are rewritten.
    unfinished: Option<Range<usize>>,
    sender: u8,
    unsolicited: bool,
}

impl LineRewriter {
    /// Creates a rewriter for a family's bytes.
    #[must_use]
    pub fn new(wire: &'static dyn RecordedWire) -> Self {
        Self { wire, fill: CardDataFill::Zeros, input: Zeroizing::default(), held: VecDeque::new(), announced: false }
    }

    /// Chooses the bytes that replace card data in the messages that end from now on.
    pub fn fill_with(&mut self, fill: CardDataFill) {
        self.fill = fill;
    }

    /// Takes received bytes. Returns the number of pieces that begin with them. [`Self::pop`] returns them as soon as
    /// their messages have ended.
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        self.input.extend_from_slice(bytes);
        let before = self.held.len();
        let mut at = 0;
        while at < self.input.len() {
            match self.wire.first(&self.input[at..]) {
                FirstPiece::Incomplete => break,
                FirstPiece::Garbage => {
                    // After lost bytes, unfinished messages are useless.
                    self.hide(|_| true);
                    self.garbage(1, before);
                    at += 1;
                }
                FirstPiece::Frame { length, data, sender, unsolicited, codes, more } => {
                    self.hide(|held| held.sender == sender && held.unsolicited != unsolicited);
                    let bytes = Zeroizing::new(self.input[at..at + length].to_vec());
                    let (kind, notes, ends) = Default::default();
                    let unfinished = Some(data);
                    self.held.push_back(HeldPiece { bytes, kind, notes, ends, unfinished, sender, unsolicited });
                    at += length;
                    if !more {
                        self.finish(sender, codes);
                    }
                }
            }
        }
        let rest = Zeroizing::new(self.input[at..].to_vec());
        self.input = rest;
        self.announce(self.held.len() - before)
    }

    /// Returns the number of pieces that the caller does not know yet.
    fn announce(&mut self, complete: usize) -> usize {
        let begun = !self.input.is_empty();
        let known = std::mem::replace(&mut self.announced, begun);
        (complete + usize::from(begun)).saturating_sub(usize::from(known))
    }

    /// Ends unfinished data. Returns the number of further pieces.
    pub fn silence(&mut self) -> usize {
        let before = self.held.len();
        self.hide(|_| true);
        self.garbage(self.input.len(), before);
        self.input = Zeroizing::default();
        self.announce(self.held.len() - before)
    }

    /// Records unfinished messages as zeros, because too many other lines wait for their end.
    pub fn give_up(&mut self) {
        self.hide(|_| true);
    }

    /// Returns the next piece. The message to which it belongs has ended.
    pub fn pop(&mut self) -> Option<LinePiece> {
        let HeldPiece { bytes, kind, notes, ends, .. } = self.held.pop_front_if(|held| held.unfinished.is_none())?;
        Some(LinePiece { bytes: bytes.to_vec(), kind, notes, ends })
    }

    /// Adds bytes that belong to no frame. They may be card data of a damaged frame, so they are recorded as zeros.
    fn garbage(&mut self, count: usize, since: usize) {
        if self.held.len() > since
            && let Some(last) = self.held.back_mut().filter(|held| held.sender == NO_SENDER)
        {
            let length = last.bytes.len() + count;
            return last.bytes.resize(length, 0);
        }
        if count > 0 {
            let notes = vec!["bytes of no frame".to_owned()];
            let bytes = Zeroizing::new(vec![0; count]);
            let (kind, ends, unfinished, unsolicited) = Default::default();
            self.held.push_back(HeldPiece { bytes, kind, notes, ends, unfinished, sender: NO_SENDER, unsolicited });
        }
    }

    /// Replaces the data of unfinished messages by zeros.
    fn hide(&mut self, which: impl Fn(&HeldPiece) -> bool) {
        for held in self.held.iter_mut().filter(|held| which(held)) {
            if let Some(data) = held.unfinished.take() {
                held.bytes[data].fill(0);
                self.wire.renew(&mut held.bytes);
                held.notes.push("a part of an unfinished message".to_owned());
            }
        }
    }

    /// Rewrites the message whose last frame has come.
    fn finish(&mut self, sender: u8, codes: [u8; 2]) {
        let (wire, fill) = (self.wire, self.fill);
        let mut frames: Vec<&mut HeldPiece> =
            self.held.iter_mut().filter(|held| held.sender == sender && held.unfinished.is_some()).collect();
        let mut whole = Zeroizing::new(Vec::new());
        for held in &frames {
            whole.extend_from_slice(held.unfinished.clone().map_or(&[][..], |data| &held.bytes[data]));
        }
        let unsolicited = frames.last().is_some_and(|held| held.unsolicited);
        let message = RawMessage { unsolicited, codes, bytes: &whole };
        let mut clean =
            CleanMessage { whole: &whole, bytes: Vec::new(), fill: fill.bytes(), ..CleanMessage::default() };
        clean.bytes.resize(whole.len(), clean.fill.2);
        let mut kind = MessageKind::Sealed;
        if whole.len() <= apdu_link::MAX_MESSAGE {
            let well_formed = wire.parts(&message, &mut |part| clean.take(&part));
            wire.renew_inside(&mut clean.bytes);
            kind = match clean.kind {
                _ if wire.is_clear(&message) && clean.is_readable => MessageKind::Readable,
                _ if wire.is_clear(&message) => MessageKind::Clear,
                MessageKind::Sealed if !well_formed => MessageKind::Malformed,
                kind => kind,
            };
        }
        let CleanMessage { bytes: clean, notes, .. } = clean;
        let mut rest = &clean[..];
        for held in &mut frames {
            let Some(data) = held.unfinished.take() else { continue };
            let (now, later) = rest.split_at(data.len());
            if held.bytes[data.clone()] != *now {
                held.bytes[data].copy_from_slice(now);
                wire.renew(&mut held.bytes);
            }
            rest = later;
        }
        if let Some(last) = frames.last_mut() {
            (last.kind, last.notes, last.ends) = (kind, notes, true);
        }
    }
}

/// A message without card data, and the notes about it.
#[derive(Default)]
struct CleanMessage<'a> {
    whole: &'a [u8],
    bytes: Vec<u8>,
    fill: (u8, u8, u8),
    notes: Vec<String>,
    kind: MessageKind,
    /// Whether a sealed part looks as if it could be read.
    is_readable: bool,
}

impl CleanMessage<'_> {
    /// Takes a part of the whole message, as far as it may be recorded.
    fn take(&mut self, part: &RecordedPart<'_>) {
        self.write(part.head, part.head);
        let (sealed, other, _) = self.fill;
        match part.recorded() {
            // A card number was here.
            Some(_) if other != 0 && part.is_zeros() && part.value.len() >= CLEAR_DIGITS => {
                self.write(part.value, &vec![other; part.value.len()]);
            }
            Some(recorded) => self.write(part.value, &recorded),
            None if part.content == PartContent::Inside => {}
            None if part.content == PartContent::Sealed => {
                self.is_readable |= looks_readable(part.value);
                if self.kind == MessageKind::Sealed && part.is_zeros() {
                    self.kind = MessageKind::Zeros;
                }
                self.write(part.value, &vec![sealed; part.value.len()]);
            }
            None => {
                // A masked copy that is not recorded is not masked.
                if part.content != PartContent::Hidden && !part.is_zeros() {
                    self.kind = MessageKind::Clear;
                }
                self.write(part.value, &vec![other; part.value.len()]);
            }
        }
        self.notes.push(part.to_string());
    }

    /// Writes the recorded form of a part to its place.
    fn write(&mut self, part: &[u8], recorded: &[u8]) {
        let start = part.as_ptr().addr().wrapping_sub(self.whole.as_ptr().addr());
        let place = start.checked_add(part.len()).and_then(|end| self.bytes.get_mut(start..end));
        if let Some(place) = place.filter(|place| place.len() == recorded.len()) {
            place.copy_from_slice(recorded);
        }
    }
}

/// Returns whether sealed data look as if they could be read. Only a message with clear card data is asked, so a chance
/// does no harm.
fn looks_readable(sealed: &[u8]) -> bool {
    let first = || tlv::walk(sealed).next()?.ok();
    is_readable(sealed) || first().is_some_and(|object| has_clear_digits(digits(object.value)))
}
