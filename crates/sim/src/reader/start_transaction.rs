//! START TRANSACTION, START CONTACTLESS TRANSACTION and ONLINE PIN, up to the card's first cryptogram (readers: 2.5,
//! 2.6, 2.9). `continue_transaction` passes the issuer's answer to the card.

use std::time::Duration;

use super::deck::{Application, Card, Chip};
use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction, Interface, Numbers, StartTerms, Terminal, Verified, WantsPin};
use super::kernel::{CardStep, ChipRead, Running};
use super::keys::{NoKey, Sealed, bytes};
use super::message::{self, Command, StatusWord};
use super::pin_entry::PinPurpose;
use super::script::ScriptEvent;

/// The default waiting time of START CONTACTLESS, in seconds (MPI-Dynamic.cfg; readers: 2.6).
const DEFAULT_TAP_SECONDS: u16 = 30;

impl Device {
    /// Handles START TRANSACTION.
    pub(super) fn start_transaction(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        let elements = command.elements()?;
        let terms = StartTerms::read(elements)?;
        self.display.amount = Some(terms.money());
        let [selection] = message::need::<1>(elements, 0xDFA204)?;
        self.kernel.forget_last_transaction();
        self.card_key_is_there()?;
        let card = self.kernel.slot.ok_or(StatusWord::NO_CARD)?;
        self.sale_begins();
        match card.chip {
            Chip::None | Chip::Mute => {
                self.kernel.chip_failed = true;
                Err(StatusWord::CARD_READ_ERROR)
            }
            Chip::Foreign => {
                self.kernel.chip_failed = true;
                Err(StatusWord::UNSUPPORTED_CARD)
            }
            Chip::Blocked => {
                self.kernel.sale_is_open = false;
                Err(StatusWord::BAD_CARD)
            }
            Chip::Works { .. } => {
                self.select_application(card, terms, selection);
                Ok(())
            }
        }
    }

    /// Checks that the SRED keys are not used up. The answer of a real device is UNCERTAIN, because the protocol
    /// defines no code for it. Here the device accepts no transaction and returns the code for a failed encryption
    /// (9FE5; readers: 2.9). P2PE STATUS then no longer has the key's bit.
    fn card_key_is_there(&self) -> Result<(), StatusWord> {
        if self.keys.encrypts_card_data && !self.keys.card_keys_are_left() {
            Err(StatusWord::NO_KEY_LEFT)
        } else {
            Ok(())
        }
    }

    pub(super) fn read_chip(&mut self, terms: StartTerms, application: Application) {
        self.display.show("PLEASE WAIT");
        self.kernel.running = Running::Chip(ChipRead { terms, application });
        self.kernel.due = Some(self.now + self.options.pace.chip);
        self.happens(ScriptEvent::Start);
    }

    pub(super) fn chip_is_read(&mut self, read: ChipRead) {
        let Some(card) = self.kernel.slot else { return self.finish(&[], StatusWord::NO_CARD) };
        let transaction = self.new_transaction(card, read.application, Interface::Contact, read.terms);
        self.verify_or_decide(transaction);
    }

    /// Handles START CONTACTLESS TRANSACTION. A card that is already in the slot ends the command, like a card that is
    /// inserted later.
    pub(super) fn start_contactless(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        let elements = command.elements()?;
        let terms = StartTerms::read(elements)?;
        self.display.amount = Some(terms.money());
        let seconds = message::get::<2>(elements, 0xDFFF01)?.map_or(DEFAULT_TAP_SECONDS, u16::from_be_bytes);
        self.kernel.forget_last_transaction();
        self.card_key_is_there()?;
        self.sale_begins();
        if self.kernel.slot.is_some() {
            return Err(StatusWord::CARD_INSERTED);
        }
        self.display.show("INSERT, TAP OR SWIPE");
        self.kernel.running = Running::Tap(terms);
        self.kernel.due = Some(self.now + Duration::from_secs(u64::from(seconds)));
        self.happens(ScriptEvent::Waiting);
        Ok(())
    }

    /// Handles ONLINE PIN. The masked track must be that of the last swipe, because the device keeps only its PAN
    /// (readers: 2.9).
    pub(super) fn online_pin(&mut self, command: &Command<'_>) -> Result<(), StatusWord> {
        let elements = command.elements()?;
        self.display.amount = Some(message::CommandMoney::read(elements)?);
        let _label = message::value(elements, 0x50).ok_or(StatusWord::DATA_MISSING)?;
        let masked = message::value(elements, 0xDFAE22).ok_or(StatusWord::DATA_MISSING)?;
        // Used-up keys count as missing keys. This is UNCERTAIN, as for card data.
        if !self.keys.holds_pin_key || !self.keys.pin_keys_are_left() {
            return Err(StatusWord::NO_PIN_KEY);
        }
        let card = self.kernel.last_swipe.filter(|card| card.masked_track2().as_bytes() == masked);
        let card = card.filter(|_| command.p1 == 0x01).ok_or(StatusWord::INVALID_PARAMETER)?;
        self.ask_for_pin(PinPurpose::Swipe(card));
        Ok(())
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
            country: self.options.country,
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
    fn signed_terms(&self, mut terms: StartTerms) -> StartTerms {
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
            WantsPin::Online if !self.keys.pin_keys_are_left() => self.finish(&[], StatusWord::NO_PIN_KEY),
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
        // A contactless answer contains the encrypted block twice (readers: 2.13).
        let blocks = if transaction.interface == Interface::Contactless { 2 } else { 1 };
        let sealed = match self.seal_card_data(&transaction, blocks) {
            Ok(sealed) => sealed,
            Err(sw) => return self.finish(&[], sw),
        };
        self.finish_with_card(&transaction.template(decision, None, &sealed, pin));
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

    /// Encrypts the card data this many times, each time under the next key. Returns nothing on a device without an
    /// SRED key.
    pub(super) fn seal_card_data(
        &mut self,
        transaction: &EmvTransaction,
        blocks: usize,
    ) -> Result<Vec<Sealed>, StatusWord> {
        if !self.keys.encrypts_card_data {
            return Ok(Vec::new());
        }
        (0..blocks)
            .map(|_| match transaction.interface {
                Interface::Contact => self.keys.seal_chip(transaction.card),
                Interface::Contactless => self.keys.seal_tap(transaction.card),
            })
            .collect::<Result<_, NoKey>>()
            .map_err(|NoKey| StatusWord::NO_KEY_LEFT)
    }
}
