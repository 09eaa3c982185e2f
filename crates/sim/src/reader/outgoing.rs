//! The output: answers and unsolicited messages, split into packets (readers: 2.1, 2.3), with the requested faults.

use super::device::{Device, OutgoingBytes};
use super::message::{self, StatusWord};
use pos_reader_link::apdu_link::{self, Nad};

impl Device {
    /// Sends the answer to the running command, and ends the command.
    pub(super) fn finish(&mut self, body: &[u8], sw: StatusWord) {
        self.kernel.end_command();
        if matches!(sw, StatusWord::CANCELLED | StatusWord::TIMED_OUT) {
            self.kernel.sale_is_open = false;
            self.display.amount = None;
        }
        self.answer(body, sw);
    }

    /// Sends an answer.
    pub(super) fn answer(&mut self, body: &[u8], sw: StatusWord) {
        if self.options.chatter {
            self.chatter();
        }
        self.packets(body, sw, false, false);
    }

    /// Sends an answer with card data.
    pub(super) fn finish_with_card(&mut self, body: &[u8]) {
        self.kernel.end_command();
        if self.options.chatter {
            self.chatter();
        }
        self.packets(body, StatusWord::OK, false, true);
    }

    /// Sends an unsolicited message.
    pub(super) fn event(&mut self, body: &[u8]) {
        self.packets(body, StatusWord::OK, true, false);
    }

    /// Sends an unsolicited message with card data.
    pub(super) fn event_with_card(&mut self, body: &[u8]) {
        self.packets(body, StatusWord::OK, true, true);
    }

    /// Sends unsolicited messages that a driver must ignore: a beep, a status without text, and a printer message.
    fn chatter(&mut self) {
        self.event(&message::template(0xE6, &[(0xC3, &[0xCB]), (0xC4, b"Success beep")]));
        self.event(&message::template(0xE6, &[(0xC3, &[0xC0])]));
        self.event(&message::template(0xE6, &[(0xDFA401, &[0x03])]));
    }

    fn packets(&mut self, body: &[u8], sw: StatusWord, unsolicited: bool, card: bool) {
        if self.faults.loses_message(self.now) {
            return;
        }
        let message = [body, &sw.0.to_be_bytes()].concat();
        let packets = apdu_link::chain(Nad::Reader, unsolicited, &message, self.options.chain_size);
        let mut bytes = Vec::new();
        for packet in packets.expect("a status word is long enough for a packet") {
            let last = packet.get(1).is_some_and(|pcb| pcb & 1 == 0);
            bytes.extend(packet);
            if !last && self.options.chatter {
                // Packets with the other NAD may come between the packets of a chain (readers: 2.1).
                let barcode = [&message::template(0xE1, &[(0xDFAB01, b"something")])[..], &[0x90, 0x00]].concat();
                let other = apdu_link::chain(Nad::Base, true, &barcode, apdu_link::MAX_APDU);
                other.expect("long enough for a packet").for_each(|packet| bytes.extend(packet));
            }
        }
        self.faults.damage(&mut bytes);
        self.outgoing.push_back(OutgoingBytes { bytes, card });
    }
}
