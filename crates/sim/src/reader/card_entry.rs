//! Card actions at the reader (insertion, removal, tap and swipe), and the events that report them to the agent
//! (readers: 2.2, 2.3, 2.6).

use super::deck::{Application, Card, CardEntry, Chip, Tap};
use super::device::Device;
use super::emv_transaction::Interface;
use super::kernel::Running;
use super::keys::NoKey;
use super::message::{self, StatusWord};
use super::script::ScriptEvent;

/// The answer to reset of every chip in the deck, as in a computed event (readers: 2.13).
const ATR: [u8; 9] = [0x3B, 0x65, 0x00, 0x00, 0x20, 0x63, 0xCB, 0x68, 0x00];

/// The bits of P1 in CARD STATUS (readers: 2.2).
const UNSOLICITED: u8 = 0x01;
const WITH_ATR: u8 = 0x02;
const TRACK_1: u8 = 0x04;
const TRACK_2: u8 = 0x08;

impl Device {
    pub(super) fn insert(&mut self, card: &'static Card) {
        if self.kernel.slot.is_some() {
            return;
        }
        self.kernel.slot = Some(card);
        let waited = self.kernel.waits_for_tap();
        if waited && !self.options.events_first {
            self.finish(&[], StatusWord::CARD_INSERTED);
        }
        self.card_event();
        if waited && self.options.events_first {
            self.finish(&[], StatusWord::CARD_INSERTED);
        }
        self.display.show("PLEASE WAIT");
        self.happens(ScriptEvent::Inserted);
    }

    pub(super) fn card_is_out(&mut self) {
        if self.kernel.slot.take().is_none() {
            return;
        }
        if self.kernel.reads_slot() {
            self.finish(&[], StatusWord::CANCELLED);
        }
        self.card_event();
        // In an open transaction, the card may be swiped next, so the amount stays.
        self.display.amount.take_if(|_| !self.kernel.sale_is_open);
        self.display.show("WELCOME");
        self.happens(ScriptEvent::Removed);
    }

    pub(super) fn swipe(&mut self, card: &'static Card) {
        let waited = self.kernel.waits_for_tap();
        if !card.stripe || !(waited || self.kernel.is_idle()) {
            return;
        }
        self.kernel.last_swipe = Some(card);
        let event = if self.switches.card_status & UNSOLICITED != 0 { self.swipe_event(card).ok() } else { None };
        if waited && !self.options.events_first {
            self.finish(&[], StatusWord::CARD_SWIPED);
        }
        if let Some(event) = event {
            self.event_with_card(&event);
        }
        if waited && self.options.events_first {
            self.finish(&[], StatusWord::CARD_SWIPED);
        }
        self.display.show("PLEASE WAIT");
        // After the swipe of a chip card, the card may be inserted in the same transaction.
        self.kernel.sale_is_open &= card.after(CardEntry::Swipe).is_some() && !self.kernel.chip_failed;
    }

    pub(super) fn tap(&mut self, card: &'static Card) {
        let Running::Tap(terms) = self.kernel.running else { return };
        match card.tap {
            Tap::None => {}
            Tap::Insert => {
                self.finish(&[], StatusWord::INSERT_CARD);
                self.display.show("INSERT CARD");
            }
            Tap::Emv(_) | Tap::Magstripe => {
                self.kernel.end_command();
                let application = Application { aid: card.aid, label: card.label };
                let transaction = self.new_transaction(card, application, Interface::Contactless, terms);
                self.verify_or_decide(transaction);
            }
        }
    }

    /// Handles CARD STATUS, whose answer is the unsolicited message (readers: 2.2).
    pub(super) fn card_status(&mut self, bits: u8) {
        self.switches.card_status = bits;
        self.event(&self.slot_status());
    }

    /// Reports the current card status if the agent has switched that on.
    fn card_event(&mut self) {
        if self.switches.card_status & UNSOLICITED != 0 {
            self.event(&self.slot_status());
        }
    }

    fn slot_status(&self) -> Vec<u8> {
        let answers = self.kernel.slot.is_some_and(|card| !matches!(card.chip, Chip::None | Chip::Mute));
        let b1 = u8::from(self.kernel.slot.is_some()) | (u8::from(answers) << 1);
        let mut inner = message::object(0x48, &[b1, 0x00]);
        if answers && self.switches.card_status & WITH_ATR != 0 {
            message::put(&mut inner, 0x63, &ATR);
        }
        message::object(0xE1, &inner)
    }

    /// Reports the tracks that the agent has switched on. They are encrypted, or in clear on a device without an SRED
    /// key.
    fn swipe_event(&mut self, card: &Card) -> Result<Vec<u8>, NoKey> {
        let on = |bit| self.switches.card_status & bit != 0;
        let track1 = on(TRACK_1).then(|| card.track1());
        let track2 = on(TRACK_2).then(|| card.track2());
        let b1 = u8::from(self.kernel.slot.is_some());
        let b2 = 0x01 | (u8::from(track1.is_some()) << 1) | (u8::from(track2.is_some()) << 2);
        let mut inner = message::object(0x48, &[b1, b2]);
        if self.keys.encrypts_card_data {
            let sealed = self.keys.seal_swipe(track1.as_deref(), track2.as_deref())?;
            message::put(&mut inner, 0xDFAE02, &sealed.data);
            message::put(&mut inner, 0xDFAE03, &sealed.ksn);
            message::put(&mut inner, 0xDFAE22, card.masked_track2().as_bytes());
        } else {
            for (tag, track) in [(0x5F21, track1), (0x5F22, track2)] {
                if let Some(track) = track {
                    message::put(&mut inner, tag, track.as_bytes());
                }
            }
        }
        Ok(message::object(0xE1, &inner))
    }
}
