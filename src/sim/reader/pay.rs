//! Cards at the reader and the commands about them: the events of slot and stripe, START, START CONTACTLESS, ONLINE PIN
//! (readers: 2.3, 2.5 to 2.9). What comes after the card's first answer is in `closing`.

use super::chip::{Decision, Interface, Numbers, Payment, Terminal, Terms, Verified, WantsPin};
use super::deck::{Application, Card, Chip, Entry, Tap};
use super::device::{CardStep, ChipRead, Device, Running};
use super::pin::Purpose;
use super::plain::DEFAULT_TAP_SECONDS;
use super::script::When;
use super::sealing::{NoKey, Sealed, bytes};
use super::wire::{self, Command, Sw};

/// Answer to reset of every chip of the deck, as in a computed event (readers: 2.13).
const ATR: [u8; 9] = [0x3B, 0x65, 0x00, 0x00, 0x20, 0x63, 0xCB, 0x68, 0x00];

/// Bits of CARD STATUS's P1 (readers: 2.2).
const UNSOLICITED: u8 = 0x01;
const WITH_ATR: u8 = 0x02;
const TRACK_1: u8 = 0x04;
const TRACK_2: u8 = 0x08;

// What people do with cards.
impl Device {
    pub(super) fn insert(&mut self, card: &'static Card) {
        if self.slot.is_some() {
            return;
        }
        self.slot = Some(card);
        let waited = matches!(self.running, Running::Tap(_));
        if waited && !self.options.events_first {
            self.finish(&[], Sw::CARD_INSERTED);
        }
        self.card_event();
        if waited && self.options.events_first {
            self.finish(&[], Sw::CARD_INSERTED);
        }
        self.show("PLEASE WAIT");
        self.happens(When::Inserted);
    }

    pub(super) fn card_is_out(&mut self) {
        if self.slot.take().is_none() {
            return;
        }
        // CONTINUE finds the slot empty by itself.
        let contact = match &self.running {
            Running::Chip(_) => true,
            Running::Card(step) => match &**step {
                CardStep::Choosing(_) => true,
                CardStep::Answering { payment, .. } => payment.interface == Interface::Contact,
                CardStep::Continuing { .. } => false,
            },
            Running::Pin(entry) => {
                matches!(&entry.purpose, Purpose::Payment(payment) if payment.interface == Interface::Contact)
            }
            _ => false,
        };
        if contact {
            self.finish(&[], Sw::CANCELLED);
        }
        self.card_event();
        // The sale may go on: its card is swiped next.
        self.amount.take_if(|_| !self.sale_is_open);
        self.show("WELCOME");
        self.happens(When::Removed);
    }

    pub(super) fn swipe(&mut self, card: &'static Card) {
        let waited = matches!(self.running, Running::Tap(_));
        if !card.stripe || !(waited || matches!(self.running, Running::Nothing)) {
            return;
        }
        self.last_swipe = Some(card);
        let event = if self.switches.card_status & UNSOLICITED != 0 { self.swipe_event(card).ok() } else { None };
        if waited && !self.options.events_first {
            self.finish(&[], Sw::CARD_SWIPED);
        }
        if let Some(event) = event {
            self.event_with_card(&event);
        }
        if waited && self.options.events_first {
            self.finish(&[], Sw::CARD_SWIPED);
        }
        self.show("PLEASE WAIT");
        // A chip card that was swiped first is going to be inserted in the same sale.
        self.sale_is_open &= card.after(Entry::Swipe).is_some() && !self.chip_failed;
    }

    pub(super) fn tap(&mut self, card: &'static Card) {
        let Running::Tap(terms) = self.running else { return };
        match card.tap {
            Tap::None => {}
            Tap::Insert => {
                self.finish(&[], Sw::INSERT_CARD);
                self.show("INSERT CARD");
            }
            Tap::Emv(_) | Tap::Magstripe => {
                self.running = Running::Nothing;
                self.due = None;
                let application = Application { aid: card.aid, label: card.label };
                let payment = self.payment(card, application, Interface::Contactless, terms);
                self.verify_or_decide(payment);
            }
        }
    }

    /// Card status as it is now, when the agent wants to hear of it.
    fn card_event(&mut self) {
        if self.switches.card_status & UNSOLICITED != 0 {
            self.event(&self.slot_status());
        }
    }

    fn slot_status(&self) -> Vec<u8> {
        let answers = self.slot.is_some_and(|card| !matches!(card.chip, Chip::None | Chip::Mute));
        let b1 = u8::from(self.slot.is_some()) | (u8::from(answers) << 1);
        let mut inner = wire::object(0x48, &[b1, 0x00]);
        if answers && self.switches.card_status & WITH_ATR != 0 {
            wire::put(&mut inner, 0x63, &ATR);
        }
        wire::object(0xE1, &inner)
    }

    /// The tracks that the agent has switched on: sealed, or in clear on a device without SRED key.
    fn swipe_event(&mut self, card: &Card) -> Result<Vec<u8>, NoKey> {
        let on = |bit| self.switches.card_status & bit != 0;
        let track1 = on(TRACK_1).then(|| card.track1());
        let track2 = on(TRACK_2).then(|| card.track2());
        let b1 = u8::from(self.slot.is_some());
        let b2 = 0x01 | (u8::from(track1.is_some()) << 1) | (u8::from(track2.is_some()) << 2);
        let mut inner = wire::object(0x48, &[b1, b2]);
        if self.options.secured {
            let sealed = self.sealing.swipe(track1.as_deref(), track2.as_deref())?;
            wire::put(&mut inner, 0xDFAE02, &sealed.data);
            wire::put(&mut inner, 0xDFAE03, &sealed.ksn);
            wire::put(&mut inner, 0xDFAE22, card.masked_track2().as_bytes());
        } else {
            for (tag, track) in [(0x5F21, track1), (0x5F22, track2)] {
                if let Some(track) = track {
                    wire::put(&mut inner, tag, track.as_bytes());
                }
            }
        }
        Ok(wire::object(0xE1, &inner))
    }
}

// The commands.
impl Device {
    /// CARD STATUS: its answer is the unsolicited message (readers: 2.2).
    pub(super) fn card_status(&mut self, bits: u8) {
        self.switches.card_status = bits;
        self.event(&self.slot_status());
    }

    /// START TRANSACTION.
    pub(super) fn start(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        let elements = command.elements()?;
        let terms = Terms::read(elements)?;
        self.amount = Some(terms.money());
        let [selection] = wire::need::<1>(elements, 0xDFA204)?;
        self.forget_last_sale();
        self.card_key_is_there()?;
        let card = self.slot.ok_or(Sw::NO_CARD)?;
        self.sale_begins();
        match card.chip {
            Chip::None | Chip::Mute => {
                self.chip_failed = true;
                Err(Sw::CARD_READ_ERROR)
            }
            Chip::Foreign => {
                self.chip_failed = true;
                Err(Sw::UNSUPPORTED_CARD)
            }
            Chip::Blocked => {
                self.sale_is_open = false;
                Err(Sw::BAD_CARD)
            }
            Chip::Works { .. } => {
                self.select_application(card, terms, selection);
                Ok(())
            }
        }
    }

    /// A payment that was left in its middle is over when another one is started.
    fn forget_last_sale(&mut self) {
        let left = [self.asked.take().is_some(), self.choosing.take().is_some()];
        self.sale_is_open &= !left.contains(&true);
    }

    /// A device whose SRED keys are used up. What a real one says is UNCERTAIN (readers name no word for it): here it
    /// takes no payment, by the word for a failed encryption (9FE5; readers: 2.9), and P2PE STATUS loses the key's bit.
    fn card_key_is_there(&self) -> Result<(), Sw> {
        if self.options.secured && !self.sealing.card_keys_are_left() { Err(Sw::NO_KEY_LEFT) } else { Ok(()) }
    }

    pub(super) fn read_chip(&mut self, terms: Terms, application: Application) {
        self.show("PLEASE WAIT");
        self.running = Running::Chip(ChipRead { terms, application });
        self.due = Some(self.now + self.options.pace.chip);
        self.happens(When::Start);
    }

    pub(super) fn chip_is_read(&mut self, read: ChipRead) {
        let Some(card) = self.slot else { return self.finish(&[], Sw::NO_CARD) };
        let payment = self.payment(card, read.application, Interface::Contact, read.terms);
        self.verify_or_decide(payment);
    }

    /// START CONTACTLESS TRANSACTION. A card that is in the slot already ends it as one that is put in later.
    pub(super) fn start_contactless(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        let elements = command.elements()?;
        let terms = Terms::read(elements)?;
        self.amount = Some(terms.money());
        let seconds = wire::get::<2>(elements, 0xDFFF01)?.map_or(DEFAULT_TAP_SECONDS, u16::from_be_bytes);
        self.forget_last_sale();
        self.card_key_is_there()?;
        self.sale_begins();
        if self.slot.is_some() {
            return Err(Sw::CARD_INSERTED);
        }
        self.wait_for_tap(terms, seconds);
        self.happens(When::Waiting);
        Ok(())
    }

    /// ONLINE PIN. The masked track must be that of the last swipe, whose PAN the device remembers (readers: 2.9).
    pub(super) fn online_pin(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        let elements = command.elements()?;
        self.amount = Some(wire::Money::read(elements)?);
        let _label = wire::value(elements, 0x50).ok_or(Sw::DATA_MISSING)?;
        let masked = wire::value(elements, 0xDFAE22).ok_or(Sw::DATA_MISSING)?;
        // Used-up keys are as no key: UNCERTAIN, as for card data.
        if !self.options.pin_key || !self.sealing.pin_keys_are_left() {
            return Err(Sw::NO_PIN_KEY);
        }
        let card = self.last_swipe.filter(|card| card.masked_track2().as_bytes() == masked);
        let card = card.filter(|_| command.p1 == 0x01).ok_or(Sw::INVALID_PARAMETER)?;
        self.ask_for_pin(Purpose::Swipe(card));
        Ok(())
    }
}

// From the card to the answer.
impl Device {
    fn payment(
        &mut self,
        card: &'static Card,
        application: Application,
        interface: Interface,
        terms: Terms,
    ) -> Payment {
        let terms = self.signed_terms(terms);
        let terminal = Terminal {
            serial: self.options.serial.clone(),
            country: self.options.country,
            pin_key: self.options.pin_key,
            secured: self.options.secured,
        };
        let numbers =
            Numbers { atc: self.next_atc(card), unpredictable: self.next_random(), sequence: self.next_sequence() };
        Payment::new(card, application, interface, terminal, terms, &numbers)
    }

    /// What the card is made to sign: the amount asked for, or another one when the options say so.
    fn signed_terms(&self, mut terms: Terms) -> Terms {
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

    fn verify_or_decide(&mut self, mut payment: Payment) {
        match payment.wants_pin() {
            WantsPin::Online if !self.sealing.pin_keys_are_left() => self.finish(&[], Sw::NO_PIN_KEY),
            WantsPin::Offline if *self.pin_tries(payment.card) == 0 => {
                payment.verified(Verified::PinTriesExceeded);
                self.card_will_decide(payment, None);
            }
            WantsPin::Online | WantsPin::Offline => self.ask_for_pin(Purpose::Payment(payment)),
            WantsPin::No => self.card_will_decide(payment, None),
        }
    }

    /// The card has been read; it is said next.
    pub(super) fn card_will_decide(&mut self, payment: Payment, pin: Option<Sealed>) {
        self.running = Running::Card(Box::new(CardStep::Answering { payment, pin }));
        self.due = Some(self.now);
        self.happens(When::Answer);
    }

    /// The card gives its first cryptogram: E3, E4 or E5.
    pub(super) fn card_decides(&mut self, mut payment: Payment, pin: Option<&Sealed>) {
        let decision = payment.first();
        // A contactless answer mentions the sealed block twice (readers: 2.13).
        let blocks = if payment.interface == Interface::Contactless { 2 } else { 1 };
        let sealed = match self.seal(&payment, blocks) {
            Ok(sealed) => sealed,
            Err(sw) => return self.finish(&[], sw),
        };
        self.finish_with_card(&payment.template(decision, None, &sealed, pin));
        match decision {
            Decision::Online => {
                self.asked = Some(payment);
                self.show("PLEASE WAIT");
                self.happens(When::Asked);
            }
            Decision::Approved => self.show("APPROVED\nREMOVE CARD"),
            Decision::Declined => self.show("DECLINED\nREMOVE CARD"),
        }
        if decision != Decision::Online {
            self.card_has_spoken();
        }
    }

    /// The sealed card data, so many times, each under the next key; none on a device without SRED key.
    pub(super) fn seal(&mut self, payment: &Payment, blocks: usize) -> Result<Vec<Sealed>, Sw> {
        if !self.options.secured {
            return Ok(Vec::new());
        }
        (0..blocks)
            .map(|_| match payment.interface {
                Interface::Contact => self.sealing.chip(payment.card),
                Interface::Contactless => self.sealing.tap(payment.card),
            })
            .collect::<Result<_, NoKey>>()
            .map_err(|NoKey| Sw::NO_KEY_LEFT)
    }
}
