//! What the device says and shows: answers, unsolicited messages, their packets, the display (readers: 2.1, 2.3).

use super::device::{Device, Output, Running};
use super::wire::{self, Sw};
use crate::reader::apdu_link::{self, Nad};

/// Rows of the display (readers: 2.2, D201).
const ROWS: usize = 4;
/// Characters of a row.
const COLUMNS: usize = 21;

impl Device {
    /// Sends the answer to the running command and ends it.
    pub(super) fn finish(&mut self, body: &[u8], sw: Sw) {
        self.running = Running::Nothing;
        self.due = None;
        if matches!(sw, Sw::CANCELLED | Sw::TIMED_OUT) {
            self.sale_is_open = false;
            self.amount = None;
        }
        self.answer(body, sw);
    }

    /// Sends an answer.
    pub(super) fn answer(&mut self, body: &[u8], sw: Sw) {
        if self.options.chatter {
            self.chatter();
        }
        self.packets(body, sw, false, false);
    }

    /// Sends an answer that carries a card.
    pub(super) fn finish_with_card(&mut self, body: &[u8]) {
        self.running = Running::Nothing;
        self.due = None;
        if self.options.chatter {
            self.chatter();
        }
        self.packets(body, Sw::OK, false, true);
    }

    /// Sends an unsolicited message.
    pub(super) fn event(&mut self, body: &[u8]) {
        self.packets(body, Sw::OK, true, false);
    }

    /// Sends an unsolicited message that carries a card.
    pub(super) fn event_with_card(&mut self, body: &[u8]) {
        self.packets(body, Sw::OK, true, true);
    }

    /// Unsolicited messages that a driver must let pass: a beep, a status without text, the printer.
    fn chatter(&mut self) {
        self.event(&wire::template(0xE6, &[(0xC3, &[0xCB]), (0xC4, b"Success beep")]));
        self.event(&wire::template(0xE6, &[(0xC3, &[0xC0])]));
        self.event(&wire::template(0xE6, &[(0xDFA401, &[0x03])]));
    }

    fn packets(&mut self, body: &[u8], sw: Sw, unsolicited: bool, card: bool) {
        let silent = self.silent_until.is_some_and(|until| self.now < until);
        if silent || self.off_until.is_some() || std::mem::take(&mut self.loses_next) {
            return;
        }
        let message = [body, &sw.0.to_be_bytes()].concat();
        let packets = apdu_link::chain(Nad::Reader, unsolicited, &message, self.options.chain_size);
        let mut bytes = Vec::new();
        for packet in packets.expect("a status word is long enough for a packet") {
            let last = packet.get(1).is_some_and(|pcb| pcb & 1 == 0);
            bytes.extend(packet);
            if !last && self.options.chatter {
                // Packets of the other NAD may come between those of a chain (readers: 2.1).
                let barcode = [&wire::template(0xE1, &[(0xDFAB01, b"something")])[..], &[0x90, 0x00]].concat();
                let other = apdu_link::chain(Nad::Base, true, &barcode, apdu_link::MAX_APDU);
                other.expect("long enough for a packet").for_each(|packet| bytes.extend(packet));
            }
        }
        if std::mem::take(&mut self.spoil)
            && let Some(last) = bytes.last_mut()
        {
            *last ^= 0x04;
        }
        self.out.push_back(Output { bytes, card });
    }

    /// Shows text, lines separated by LF, cut to the display.
    pub(super) fn show(&mut self, text: &str) {
        self.lines = text.split('\n').take(ROWS).map(|line| line.chars().take(COLUMNS).collect()).collect();
    }
}
