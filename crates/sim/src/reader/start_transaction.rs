//! A transaction from its start up to the card's first cryptogram. The family's command gives the terms, and the family
//! says the result. `continue_transaction` passes the issuer's answer to the card.

use std::time::Duration;

use super::deck::{Application, Card, Chip};
use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction, Interface, Numbers, StartTerms, Terminal, Verified, WantsPin};
use super::family::Failure;
use super::kernel::{CardStep, ChipRead, Running};
use super::keys::{NoKey, Sealed, bytes};
use super::pin_entry::PinPurpose;
use super::script::ScriptEvent;

impl Device {
    /// Starts a transaction with the chip in the slot.
    pub(super) fn start_chip(&mut self, terms: StartTerms, by_agent: bool) -> Result<(), Failure> {
        self.kernel.forget_last_transaction();
        self.card_key_is_there()?;
        let card = self.kernel.slot.ok_or(Failure::NoCard)?;
        self.sale_begins();
        match card.chip {
            Chip::None | Chip::Mute => {
                self.kernel.chip_failed = true;
                Err(Failure::UnreadableChip)
            }
            Chip::Foreign => {
                self.kernel.chip_failed = true;
                Err(Failure::UnsupportedCard)
            }
            Chip::Blocked => {
                self.kernel.sale_is_open = false;
                Err(Failure::BlockedCard)
            }
            Chip::Works { .. } => {
                self.select_application(card, terms, by_agent);
                Ok(())
            }
        }
    }

    /// Begins a transaction with any card, unless one is open.
    pub(super) fn open_sale(&mut self) -> Result<(), Failure> {
        self.kernel.forget_last_transaction();
        self.card_key_is_there()?;
        self.sale_begins();
        Ok(())
    }

    /// Waits for a tap, at most for this time.
    pub(super) fn wait_for_tap(&mut self, terms: StartTerms, at_most: Option<Duration>) {
        self.kernel.running = Running::Tap(terms);
        self.kernel.due = at_most.map(|time| self.now + time);
        self.happens(ScriptEvent::Waiting);
    }

    /// Checks that the keys for card data are not used up. Otherwise, the device accepts no transaction.
    fn card_key_is_there(&self) -> Result<(), Failure> {
        if self.keys.encrypts_card_data && !self.keys.card_keys_are_left() { Err(Failure::NoCardKey) } else { Ok(()) }
    }

    pub(super) fn read_chip(&mut self, terms: StartTerms, application: Application) {
        self.display.show("PLEASE WAIT");
        self.kernel.running = Running::Chip(ChipRead { terms, application });
        self.kernel.due = Some(self.now + self.options.pace.chip);
        self.happens(ScriptEvent::Start);
    }

    pub(super) fn chip_is_read(&mut self, read: ChipRead) {
        let Some(card) = self.kernel.slot else { return self.fail(Failure::NoCard) };
        let transaction = self.new_transaction(card, read.application, Interface::Contact, read.terms);
        self.protocol().chip_read(self, transaction);
    }
}

// The steps from the card to the answer.
impl Device {
    pub(super) fn new_transaction(
        &mut self,
        card: &'static Card,
        application: Application,
        interface: Interface,
        terms: StartTerms,
    ) -> EmvTransaction {
        let terms = self.signed_terms(terms);
        let terminal = Terminal {
            serial: self.options.serial.clone(),
            country: terms.country.unwrap_or(self.options.country),
            pin_key: self.keys.holds_pin_key,
            secured: self.keys.encrypts_card_data,
        };
        let numbers = Numbers {
            atc: self.kernel.next_transaction_of(card),
            unpredictable: self.next_random(),
            sequence: self.kernel.next_sequence(),
        };
        EmvTransaction::new(card, application, interface, terminal, terms, &numbers)
    }

    /// Returns the amount that the card signs: the requested amount, or another if the options set one.
    pub(super) fn signed_terms(&self, mut terms: StartTerms) -> StartTerms {
        if let Some(amount) = self.options.amount_override {
            let digits = format!("{:012}", amount % 1_000_000_000_000);
            terms.amount = bytes(&digits).try_into().expect("twelve digits are six bytes");
        }
        if let Some(currency) = self.options.currency_override {
            let digits = format!("{:04}", currency % 10_000);
            terms.currency = bytes(&digits).try_into().expect("four digits are two bytes");
        }
        terms
    }

    pub(super) fn verify_or_decide(&mut self, mut transaction: EmvTransaction) {
        match transaction.wants_pin() {
            WantsPin::Online if self.protocol().asks_online_pin_later(self) => {
                transaction.verified(Verified::PinEntered);
                self.card_will_decide(transaction, None);
            }
            WantsPin::Online if !self.keys.pin_keys_are_left() => self.fail(Failure::NoPinKey),
            WantsPin::Offline if *self.kernel.pin_tries(transaction.card) == 0 => {
                transaction.verified(Verified::PinTriesExceeded);
                self.card_will_decide(transaction, None);
            }
            WantsPin::Online | WantsPin::Offline => self.ask_for_pin(PinPurpose::Operation(transaction)),
            WantsPin::No => self.card_will_decide(transaction, None),
        }
    }

    /// Prepares the answer of a card that has been read.
    pub(super) fn card_will_decide(&mut self, transaction: EmvTransaction, pin: Option<Sealed>) {
        self.kernel.running = Running::Card(Box::new(CardStep::Answering { transaction, pin }));
        self.kernel.due = Some(self.now);
        self.happens(ScriptEvent::Answer);
    }

    /// Makes the card's first cryptogram: E3, E4 or E5.
    pub(super) fn card_decides(&mut self, mut transaction: EmvTransaction, pin: Option<&Sealed>) {
        let decision = transaction.first();
        if let Err(NoKey) = self.protocol().decided(self, &transaction, decision, pin) {
            return self.fail(Failure::NoCardKey);
        }
        match decision {
            Decision::Online => {
                self.kernel.awaiting_host = Some(transaction);
                self.display.show("PLEASE WAIT");
                self.happens(ScriptEvent::Asked);
            }
            Decision::Approved => self.display.show("APPROVED\nREMOVE CARD"),
            Decision::Declined => self.display.show("DECLINED\nREMOVE CARD"),
        }
        if decision != Decision::Online {
            self.transaction_is_over();
        }
    }
}
