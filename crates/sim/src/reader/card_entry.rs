//! Card actions at the reader: insertion, removal, tap and swipe. The family reports them to the agent.

use super::deck::{Application, Card, CardEntry, Tap};
use super::device::Device;
use super::emv_transaction::Interface;
use super::family::Failure;
use super::kernel::Running;
use super::script::ScriptEvent;

impl Device {
    pub(super) fn insert(&mut self, card: &'static Card) {
        if self.kernel.slot.is_some() {
            return;
        }
        self.kernel.slot = Some(card);
        let waited = self.kernel.waits_for_tap();
        self.display.show("PLEASE WAIT");
        self.protocol().inserted(self, waited);
        self.happens(ScriptEvent::Inserted);
    }

    pub(super) fn card_is_out(&mut self) {
        if self.kernel.slot.take().is_none() {
            return;
        }
        if self.kernel.reads_slot() {
            self.fail(Failure::CardPulled);
        }
        self.protocol().removed(self);
        // In an open transaction, the card may be swiped next, so the amount stays.
        self.display.amount.take_if(|_| !self.kernel.sale_is_open);
        if let Some(text) = self.protocol().text_after_removal(self) {
            self.display.show(text);
        }
        self.happens(ScriptEvent::Removed);
    }

    pub(super) fn swipe(&mut self, card: &'static Card) {
        let waited = self.kernel.waits_for_tap();
        if !card.stripe || !(waited || self.kernel.is_idle()) {
            return;
        }
        self.kernel.last_swipe = Some(card);
        self.protocol().swiped(self, card, waited);
        self.display.show("PLEASE WAIT");
        // After the swipe of a chip card, the card may be inserted in the same transaction.
        self.kernel.sale_is_open &= card.after(CardEntry::Swipe).is_some() && !self.kernel.chip_failed;
    }

    pub(super) fn tap(&mut self, card: &'static Card) {
        let Running::Tap(terms) = self.kernel.running else { return };
        if card.tap == Tap::None || !self.protocol().accepts_tap(self, card) {
            return;
        }
        match card.tap {
            Tap::None => {}
            Tap::Insert => {
                self.fail(Failure::NeedsContacts);
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
}
