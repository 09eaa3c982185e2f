//! The EMV kernel's state: the running command, the transaction that waits for the issuer's answer, the card in the
//! slot, and the lasting counters. Commands (`start_transaction`, `continue_transaction`, `number_entry`), cards
//! (`card_entry`) and keys (`pin_entry`, `application_choice`) change it.

use std::collections::HashMap;
use std::time::Duration;

use super::application_choice::ApplicationChoice;
use super::deck::{Application, Card};
use super::display::WaitsFor;
use super::emv_transaction::{EmvTransaction, Interface, StartTerms};
use super::keys::Sealed;
use super::number_entry::NumberEntry;
use super::pin_entry::PinEntry;

/// The running command.
pub(super) enum Running {
    Nothing,
    /// START CONTACTLESS waits for a card; it ends with 9F42 at `due`.
    Tap(StartTerms),
    /// START reads the chip until `due`.
    Chip(ChipRead),
    /// A step between the card's action and its answer.
    Card(Box<CardStep>),
    /// A PIN is being entered, and the next key is pressed at `due`.
    Pin(Box<PinEntry>),
    /// GET NUMERIC, GET DYNAMIC TIP, GET SECURE DATA or GET SECURE PAN waits for keys.
    Number(NumberEntry),
}

/// The terms and the application of a chip that is being read.
#[derive(Clone, Copy)]
pub(super) struct ChipRead {
    pub(super) terms: StartTerms,
    pub(super) application: Application,
}

/// A step between the card's action and its answer.
pub(super) enum CardStep {
    /// The cardholder chooses an application at `due`.
    Choosing(ApplicationChoice),
    /// The card has been read, and its answer is sent at `due`.
    Answering { transaction: EmvTransaction, pin: Option<Sealed> },
    /// CONTINUE has arrived, and the card gets it at `due`.
    Continuing { transaction: EmvTransaction, arc: [u8; 2], elements: Vec<u8> },
}

/// The kernel.
pub(super) struct Kernel {
    pub(super) running: Running,
    /// The time at which the running command continues.
    pub(super) due: Option<Duration>,
    /// The transaction of the last E4, which waits for CONTINUE.
    pub(super) awaiting_host: Option<EmvTransaction>,
    /// The chip that was read, and that waits for the host's decision.
    pub(super) awaiting_decision: Option<EmvTransaction>,
    /// The START that was answered with the list of applications.
    pub(super) choice_by_agent: Option<ApplicationChoice>,
    pub(super) slot: Option<&'static Card>,
    pub(super) last_swipe: Option<&'static Card>,
    /// The typed elements of a card number (DFA210).
    pub(super) typed_card: Vec<(u8, String)>,
    /// True if a transaction has begun but not ended.
    pub(super) sale_is_open: bool,
    /// True if reading a chip has failed in this transaction.
    pub(super) chip_failed: bool,
    /// The application transaction counter (9F36) of each used card.
    transaction_counters: HashMap<&'static str, u16>,
    /// The number of earlier transactions of every card.
    first_transaction: u16,
    /// The remaining PIN tries of each chip (9F17).
    pin_tries: HashMap<&'static str, u8>,
    /// The device's transaction counter (9F41).
    sequence: u32,
}

impl Kernel {
    /// Makes a kernel for cards with this number of earlier transactions.
    pub(super) fn new(first_transaction: u16) -> Self {
        Self {
            running: Running::Nothing,
            due: None,
            awaiting_host: None,
            awaiting_decision: None,
            choice_by_agent: None,
            slot: None,
            last_swipe: None,
            typed_card: Vec::new(),
            sale_is_open: false,
            chip_failed: false,
            transaction_counters: HashMap::new(),
            first_transaction,
            pin_tries: HashMap::new(),
            sequence: 0,
        }
    }

    /// Ends the running command.
    pub(super) fn end_command(&mut self) {
        self.running = Running::Nothing;
        self.due = None;
    }

    /// Clears all running steps; the card in the slot and the counters stay.
    pub(super) fn reset(&mut self) {
        self.end_command();
        self.awaiting_host = None;
        self.awaiting_decision = None;
        self.choice_by_agent = None;
        self.last_swipe = None;
        self.typed_card.clear();
        self.sale_is_open = false;
    }

    /// Ends an unfinished transaction when another one starts.
    pub(super) fn forget_last_transaction(&mut self) {
        let left = [
            self.awaiting_host.take().is_some(),
            self.awaiting_decision.take().is_some(),
            self.choice_by_agent.take().is_some(),
        ];
        self.sale_is_open &= !left.contains(&true);
    }

    /// Begins a transaction unless one is open, and returns whether it began.
    pub(super) fn begin_sale(&mut self) -> bool {
        let begins = !std::mem::replace(&mut self.sale_is_open, true);
        self.chip_failed &= !begins;
        begins
    }

    /// Takes the transaction that waits for the issuer's answer, if its card was tapped or not tapped as required.
    pub(super) fn take_awaiting_host(&mut self, is_tap: bool) -> Option<EmvTransaction> {
        self.awaiting_host.take_if(|transaction| (transaction.interface == Interface::Contactless) == is_tap)
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(self.running, Running::Nothing)
    }

    pub(super) fn waits_for_tap(&self) -> bool {
        matches!(self.running, Running::Tap(_))
    }

    pub(super) fn is_choosing(&self) -> bool {
        matches!(&self.running, Running::Card(step) if matches!(**step, CardStep::Choosing(_)))
    }

    /// Returns whether the running command ends when the card is pulled out of the slot. CONTINUE makes its own check
    /// of the slot.
    pub(super) fn reads_slot(&self) -> bool {
        let is_contact = |transaction: &EmvTransaction| transaction.interface == Interface::Contact;
        match &self.running {
            Running::Chip(_) => true,
            Running::Card(step) => match &**step {
                CardStep::Choosing(_) => true,
                CardStep::Answering { transaction, .. } => is_contact(transaction),
                CardStep::Continuing { .. } => false,
            },
            Running::Pin(entry) => entry.transaction().is_some_and(is_contact),
            Running::Nothing | Running::Tap(_) | Running::Number(_) => false,
        }
    }

    pub(super) fn waits_for(&self) -> WaitsFor {
        match &self.running {
            Running::Card(_) if self.is_choosing() => WaitsFor::Choice,
            Running::Nothing | Running::Chip(_) | Running::Card(_) => WaitsFor::Agent,
            Running::Tap(_) => WaitsFor::Card,
            Running::Pin(_) => WaitsFor::Pin,
            Running::Number(_) => WaitsFor::Number,
        }
    }

    /// Increments a card's transaction counter (9F36) and returns it.
    pub(super) fn next_transaction_of(&mut self, card: &Card) -> u16 {
        let counter = self.transaction_counters.entry(card.name).or_insert(self.first_transaction);
        *counter = counter.wrapping_add(1);
        *counter
    }

    /// Returns the remaining PIN tries of a card's chip.
    pub(super) fn pin_tries(&mut self, card: &Card) -> &mut u8 {
        self.pin_tries.entry(card.name).or_insert(card.tries)
    }

    /// Increments the device's transaction counter (9F41) and returns it.
    pub(super) fn next_sequence(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence
    }
}
