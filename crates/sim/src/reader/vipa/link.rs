//! The input of a VIPA reader. It checks each packet of the host, and names its fault as a status word (readers: 3.1,
//! 3.6). Only packets without a fault reach the shared decoder, which joins them to messages.

use std::time::Duration;

use super::message::StatusWord;
use pos_reader_link::apdu_link::{Decoder, MAX_APDU, MIN_APDU, Profile, Received};

const TERMINAL: u8 = 0x01;
/// The bits of PCB: more packets follow, encrypted, unsolicited.
const CHAINED: u8 = 0x01;
const ENCRYPTED: u8 = 0x02;

/// The time after which the reader drops an unfinished packet. The protocol gives no time.
const PATIENCE: Duration = Duration::from_secs(1);

/// A result of the input.
pub(super) enum Heard {
    /// A complete command.
    Message(Vec<u8>),
    /// A packet with a fault.
    Fault(StatusWord),
}

/// The unfinished input.
pub(super) struct Link {
    packet: Vec<u8>,
    decoder: Decoder,
    last_byte: Duration,
}

impl Default for Link {
    fn default() -> Self {
        Self { packet: Vec::new(), decoder: Decoder::new(Profile::Vipa), last_byte: Duration::ZERO }
    }
}

/// The state of the first packet in the input.
enum Look {
    Incomplete,
    /// The packet has this length.
    Whole(usize),
    /// This many bytes are dropped.
    Wrong(StatusWord, usize),
}

impl Link {
    /// Takes bytes, and calls `on` for each command and each fault.
    pub(super) fn take(&mut self, bytes: &[u8], now: Duration, mut on: impl FnMut(Heard)) {
        if !self.packet.is_empty() && now.saturating_sub(self.last_byte) > PATIENCE {
            self.packet.clear();
        }
        self.last_byte = now;
        self.packet.extend(bytes);
        while !self.packet.is_empty() {
            match look(&self.packet) {
                Look::Incomplete => return,
                Look::Whole(length) => {
                    self.decoder.feed(&self.packet[..length], |received| match received {
                        Received::Message(message) => on(Heard::Message(message.bytes.to_vec())),
                        Received::Fault(_) => on(Heard::Fault(StatusWord::CHAINING)),
                    });
                    self.packet.drain(..length);
                }
                Look::Wrong(sw, length) => {
                    // Without this packet, its chain is useless.
                    self.decoder = Decoder::new(Profile::Vipa);
                    self.packet.drain(..length);
                    on(Heard::Fault(sw));
                }
            }
        }
    }

    pub(super) fn is_unfinished(&self) -> bool {
        !self.packet.is_empty() || self.decoder.is_unfinished()
    }
}

/// Checks the first packet. If its length cannot be known, all bytes are dropped.
fn look(bytes: &[u8]) -> Look {
    let all = bytes.len();
    match bytes.first() {
        Some(&TERMINAL) => {}
        // There is no external PIN pad (NAD 02).
        _ => return Look::Wrong(StatusWord::WRONG_NAD, all),
    }
    match bytes.get(1) {
        Some(pcb) if pcb & !(CHAINED | ENCRYPTED) == 0 => {}
        Some(_) => return Look::Wrong(StatusWord::WRONG_TYPE, all),
        None => return Look::Incomplete,
    }
    let len = match bytes.get(2) {
        Some(len) if (MIN_APDU..=MAX_APDU).contains(&usize::from(*len)) => usize::from(*len),
        Some(_) => return Look::Wrong(StatusWord::NO_LEN, all),
        None => return Look::Incomplete,
    };
    let whole = 3 + len + 1;
    let Some(packet) = bytes.get(..whole) else { return Look::Incomplete };
    if packet.iter().fold(0, |lrc, byte| lrc ^ byte) != 0 {
        return Look::Wrong(StatusWord::WRONG_LRC, whole);
    }
    if packet[1] & ENCRYPTED != 0 {
        return Look::Wrong(StatusWord::LINE_ENCRYPTION, whole);
    }
    // The vendor's program marks every packet of this length as chained, so the last packet must be shorter
    // (readers: 3.1).
    if packet[1] & CHAINED == 0 && len == MAX_APDU {
        return Look::Wrong(StatusWord::CHAINING, whole);
    }
    Look::Whole(whole)
}
