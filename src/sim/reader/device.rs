//! The reader as a machine without I/O: bytes, hands and time in; bytes and a display out. The same inputs always give
//! the same outputs.
//!
//! ```text
//!             ┌── DEC1 ──▶ waits for a tap ── tap ─────────┐
//!   idle ─────┼── DED1 ──▶ reads the chip ─────────────────┼─▶ PIN ─▶ E4 ─▶ idle, holds the payment ── DED2 ─▶ E3 / E5
//!             ├── DED6 ──▶ PIN of the last swipe ─▶ block  │
//!             └── D204, D205, D2E0 ──▶ digits ─▶ number     └─▶ E3, E5: no DED2
//! ```
//!
//! Each named step of a sale is an event that a script can meet (`script`, `follow`); what the device does next waits
//! for it.
//!
//! One command is under way at a time ([`Running`]); any other but ABORT and RESET is then refused with 9F26. What the
//! commands do is in `plain` and `pay`, what goes out in `voice`. Where the protocol is silent: RESET ends a running
//! command without an answer to it; a card pulled during START ends it with 9F41, and CONTINUE without the card is
//! 9F23.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::Options;
use super::chip::{Payment, Terms};
use super::choice::Choosing;
use super::deck::{Application, Card, Entry};
use super::flood::Flood;
use super::follow::Following;
use super::pin::PinEntry;
use super::script::When;
use super::sealing::{Sealed, Sealing};
use super::wire::{self, Command, Sw};
use crate::reader::link::{Decoder, Nad, Received};

/// What people do with the reader.
#[derive(Clone, Debug)]
pub enum Hand {
    /// Put a card into the slot.
    Insert(&'static Card),
    /// Hold a card to the antenna. Without START CONTACTLESS nothing happens.
    Tap(&'static Card),
    /// Draw a card through the stripe reader.
    Swipe(&'static Card),
    /// Take the card out of the slot.
    Remove,
    /// Press a key.
    Key(Key),
    /// Let the time for what is being waited for run out now.
    WaitTooLong,
    /// Switch it off and on: all that was under way or switched on is lost, the line stays.
    Reboot,
}

/// A key of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Red.
    Cancel,
    /// Green.
    Enter,
    /// Yellow.
    Clear,
    /// 0 to 9.
    Digit(u8),
}

/// What the cardholder will do at the next PIN prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PinPlan {
    /// Type the card's PIN.
    #[default]
    Right,
    /// Type a PIN that is not the card's.
    Wrong,
    /// Type these digits.
    Digits(String),
    /// Press cancel.
    Cancel,
    /// Press enter without digits.
    Bypass,
    /// Do nothing until keys are pressed ([`Hand::Key`]).
    Hesitate,
}

/// What the cardholder will do when he is asked for an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChoicePlan {
    /// Take the first.
    #[default]
    First,
    /// Take the one with this number, from 1.
    Number(usize),
    /// Do nothing until keys are pressed.
    Hesitate,
}

/// What happens when an ABORT meets a running command (readers: 2.8).
#[derive(Clone, Copy, Debug, Default)]
pub enum AbortRace {
    /// The ABORT is answered first, then the command with 9F41.
    #[default]
    AbortWins,
    /// The command is over just before the ABORT is seen: a waiting tap gets this card, a PIN is typed to its end. Its
    /// answer goes out first, then that of the ABORT.
    CardWins(&'static Card),
}

/// Bytes for the wire.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    /// The bytes of whole packets.
    pub bytes: Vec<u8>,
    /// They are the first ones that carry a card: E3, E4, E5 of START, or a swipe.
    pub card: bool,
}

/// What a person standing at the reader sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The lines of the display.
    pub lines: Vec<String>,
    /// What the cardholder is asked to pay, as `12.34 EUR`: the amount that the agent sent, on the display's first row.
    pub amount: Option<String>,
    /// What the reader waits for.
    pub waits_for: WaitsFor,
    /// A card is in the slot.
    pub card_in_slot: bool,
}

/// What the reader waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitsFor {
    /// The agent.
    #[default]
    Agent,
    /// A card: START CONTACTLESS is running.
    Card,
    /// A PIN.
    Pin,
    /// A choice among applications.
    Choice,
    /// A number.
    Number,
}

/// What came over the line so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// CLA and INS of every command, in their order.
    pub commands: Vec<u16>,
    /// Packets that were damaged or broken.
    pub faults: usize,
}

/// The command that is under way.
pub(super) enum Running {
    Nothing,
    /// START CONTACTLESS waits; ends with 9F42 at `due`.
    Tap(Terms),
    /// START reads the chip until `due`.
    Chip(ChipRead),
    /// A step between the card and what is said of it.
    Card(Box<CardStep>),
    /// A PIN is entered; the next key falls at `due`.
    Pin(Box<PinEntry>),
    /// GET NUMERIC, GET DYNAMIC TIP, GET SECURE DATA or GET SECURE PAN waits for keys.
    Number(Typing),
}

/// Digits that are being typed.
pub(super) struct Typing {
    pub(super) digits: String,
    pub(super) what: Typed,
}

/// What digits are typed for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// An amount or a tip.
    Amount,
    /// An element of a card number, and whether it is sealed at once (D25A).
    Secure { element: u8, at_once: bool },
}

/// What a chip is read for.
#[derive(Clone, Copy)]
pub(super) struct ChipRead {
    pub(super) terms: Terms,
    pub(super) application: Application,
}

/// A step between the card and what is said of it.
pub(super) enum CardStep {
    /// The cardholder chooses an application; he does it at `due`.
    Choosing(Choosing),
    /// The card has been read; its answer is said at `due`, which is now.
    Answering { payment: Payment, pin: Option<Sealed> },
    /// CONTINUE has come; the card hears it at `due`, which is now.
    Continuing { payment: Payment, arc: [u8; 2], elements: Vec<u8> },
}

/// What the device's script does with the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cable {
    /// Pulls it.
    Out,
    /// Puts it back.
    In,
}

/// What the agent has switched on (D060, D061).
#[derive(Clone, Copy, Default)]
pub(super) struct Switches {
    /// Bits of CARD STATUS: 0 unsolicited, 1 ATR, 2 to 4 tracks.
    pub(super) card_status: u8,
    pub(super) keys: bool,
}

/// The simulated reader.
pub struct Device {
    pub(super) options: Options,
    pub(super) sealing: Sealing,
    pub(super) switches: Switches,
    pub(super) running: Running,
    /// When the running command goes on by itself.
    pub(super) due: Option<Duration>,
    /// The payment that waits for CONTINUE.
    pub(super) asked: Option<Payment>,
    /// The START that was answered with E2.
    pub(super) choosing: Option<Choosing>,
    pub(super) slot: Option<&'static Card>,
    pub(super) last_swipe: Option<&'static Card>,
    pub(super) pin_plan: PinPlan,
    pub(super) number_plan: VecDeque<String>,
    /// Elements of a card number that were typed (DFA210).
    pub(super) typed: Vec<(u8, String)>,
    pub(super) choice_plan: ChoicePlan,
    pub(super) following: Following,
    /// A sale has begun and not ended.
    pub(super) sale_is_open: bool,
    /// In this sale a chip could not be read.
    pub(super) chip_failed: bool,
    pub(super) race: AbortRace,
    pub(super) now: Duration,
    /// 9A and 9F21.
    pub(super) clock: [u8; 6],
    atcs: HashMap<&'static str, u16>,
    /// PINs that each chip will still try (9F17).
    tries: HashMap<&'static str, u8>,
    sequence: u32,
    random: u64,
    pub(super) lines: Vec<String>,
    /// The amount that the last command carried, in the form in which it came: shown until its sale is over and the
    /// display changes.
    pub(super) amount: Option<wire::Money>,
    /// When the cardholder takes the card out by himself.
    removal: Option<Duration>,
    decoder: Decoder,
    pub(super) out: VecDeque<Output>,
    counters: Counters,
    pub(super) spoil: bool,
    /// The next message is lost.
    pub(super) loses_next: bool,
    /// All messages up to this time are lost.
    pub(super) silent_until: Option<Duration>,
    /// What is said goes out at this time.
    pub(super) held_until: Option<Duration>,
    /// It boots until then, and hears nothing.
    pub(super) off_until: Option<Duration>,
    /// What the port has not done with the cable yet.
    pub(super) cable: VecDeque<Cable>,
    /// What it says without end.
    pub(super) flood: Option<Flood>,
    pub(super) flooded: u64,
}

impl Device {
    /// A reader that was just switched on.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            sealing: Sealing::new(options.dukpt),
            switches: Switches::default(),
            running: Running::Nothing,
            due: None,
            asked: None,
            choosing: None,
            slot: None,
            last_swipe: None,
            pin_plan: PinPlan::Right,
            number_plan: VecDeque::new(),
            typed: Vec::new(),
            choice_plan: ChoicePlan::First,
            following: Following::new(options.script.clone(), Duration::ZERO),
            sale_is_open: false,
            chip_failed: false,
            race: options.race,
            now: Duration::ZERO,
            clock: options.clock,
            atcs: HashMap::new(),
            tries: HashMap::new(),
            sequence: 0,
            random: options.seed,
            lines: vec!["WELCOME".to_owned()],
            amount: None,
            removal: None,
            decoder: Decoder::default(),
            out: VecDeque::new(),
            counters: Counters::default(),
            spoil: false,
            loses_next: false,
            silent_until: None,
            held_until: None,
            off_until: None,
            cable: VecDeque::new(),
            flood: None,
            flooded: 0,
            options,
        }
    }

    /// Takes bytes from the line. `now` is the time since any fixed moment.
    pub fn bytes(&mut self, bytes: &[u8], now: Duration) {
        self.now = now;
        if self.off_until.is_some() {
            return self.settle();
        }
        if self.options.wrong_device {
            return self.out.push_back(Output { bytes: b"\r\nERROR\r\n".to_vec(), card: false });
        }
        let mut messages = Vec::new();
        let mut faults = 0;
        self.decoder.feed(bytes, |received| match received {
            Received::Message(message) => messages.push((message.nad, message.unsolicited, message.bytes.to_vec())),
            Received::Fault(_) => faults += 1,
        });
        self.counters.faults += faults;
        for message in messages {
            match message {
                (Nad::Reader, false, bytes) => self.message(&bytes),
                // Nothing for the retail base, and no host sends unsolicited messages.
                _ => self.counters.faults += 1,
            }
            self.settle();
        }
        self.settle();
    }

    /// A person does something.
    pub fn hands(&mut self, hand: Hand, now: Duration) {
        self.now = now;
        match hand {
            Hand::Insert(card) => self.present(card, Entry::Insert),
            Hand::Tap(card) => self.present(card, Entry::Tap),
            Hand::Swipe(card) => self.present(card, Entry::Swipe),
            Hand::Remove => self.remove(),
            Hand::Key(key) => self.press(key),
            Hand::WaitTooLong => self.waited_too_long(),
            Hand::Reboot => self.reboot(self.options.pace.boot),
        }
        self.settle();
    }

    pub(super) fn present(&mut self, card: &'static Card, entry: Entry) {
        match entry {
            Entry::Insert => self.insert(card),
            Entry::Tap => self.tap(card),
            Entry::Swipe => self.swipe(card),
        }
    }

    /// Time has passed.
    pub fn timer(&mut self, now: Duration) {
        self.now = now;
        self.settle();
    }

    /// When [`Self::timer`] must be called next.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let held = self.held_until.filter(|_| !self.out.is_empty());
        [self.due, self.removal, self.off_until, held, self.following.deadline()].into_iter().flatten().min()
    }

    /// The next bytes to send.
    pub fn output(&mut self) -> Option<Output> {
        if self.held_until.is_some_and(|until| self.now < until) {
            return None;
        }
        self.out.pop_front()
    }

    /// What is to be done with the cable, said once.
    pub fn take_cable(&mut self) -> Option<Cable> {
        self.cable.pop_front()
    }

    /// The display.
    #[must_use]
    pub fn screen(&self) -> Screen {
        let waits_for = match &self.running {
            Running::Card(step) if matches!(**step, CardStep::Choosing(_)) => WaitsFor::Choice,
            Running::Nothing | Running::Chip(_) | Running::Card(_) => WaitsFor::Agent,
            Running::Tap(_) => WaitsFor::Card,
            Running::Pin(_) => WaitsFor::Pin,
            Running::Number(_) => WaitsFor::Number,
        };
        let amount = self.amount.map(|money| money.to_string());
        Screen { lines: self.lines.clone(), amount, waits_for, card_in_slot: self.slot.is_some() }
    }

    /// What came so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether a packet has begun and not ended.
    #[must_use]
    pub fn is_mid_packet(&self) -> bool {
        self.decoder.is_unfinished()
    }

    /// The host has opened the connection: over TCP and Bluetooth the device says so, over USB it does not (readers:
    /// 2.1).
    pub fn connected(&mut self, now: Duration) {
        self.now = now;
        self.decoder = Decoder::default();
        if self.options.says_powered_on {
            self.powered_on_event();
        }
        self.happens(When::Connected);
        self.settle();
    }

    pub(super) fn powered_on_event(&mut self) {
        self.event(&wire::template(0xE6, &[(0xC3, &[0x01]), (0xC4, b"Powered On")]));
    }

    /// The cable was pulled: the switches and what was under way are lost, the keys and counters are not.
    pub fn unplugged(&mut self) {
        self.forget_everything();
        self.out.clear();
    }

    pub(super) fn forget_everything(&mut self) {
        self.reset();
        self.switches = Switches::default();
        self.decoder = Decoder::default();
    }

    /// What the cardholder will do at the next PIN prompt.
    pub fn plan_pin(&mut self, plan: PinPlan) {
        self.pin_plan = plan;
    }

    /// What the cardholder will do at the next choice of an application.
    pub fn plan_choice(&mut self, plan: ChoicePlan) {
        self.choice_plan = plan;
    }

    /// The digits that will be typed at the next question for a number; those of several questions one after the other.
    pub fn plan_number(&mut self, digits: &str) {
        self.number_plan.push_back(digits.to_owned());
    }

    /// How the next ABORTs meet a running command.
    pub fn plan_abort(&mut self, race: AbortRace) {
        self.race = race;
    }

    /// Damages one bit of the next message.
    pub fn spoil_next(&mut self) {
        self.spoil = true;
    }

    fn message(&mut self, bytes: &[u8]) {
        if let &[cla, ins, ..] = bytes {
            self.counters.commands.push(u16::from_be_bytes([cla, ins]));
        }
        self.happens(When::Frame);
        if bytes.starts_with(&[0xD0, 0xFF]) {
            self.happens(When::Abort);
        }
        self.meet_script();
        if self.cable.contains(&Cable::Out) || self.off_until.is_some() {
            return;
        }
        let command = match Command::parse(bytes) {
            Ok(command) => command,
            Err(sw) => return self.answer(&[], sw),
        };
        if command.extended && !self.options.extended_apdu {
            return self.answer(&[], Sw::WRONG_LENGTH);
        }
        match (command.code, &self.running) {
            (0xD0FF, _) => self.abort(),
            (0xD000, _) | (_, Running::Nothing) => {
                self.command(&command);
                if matches!(self.running, Running::Number(_)) {
                    self.happens(When::Number);
                }
            }
            _ => self.answer(&[], Sw::NOT_ALLOWED),
        }
    }

    fn abort(&mut self) {
        if let AbortRace::CardWins(card) = self.race {
            match self.running {
                Running::Tap(_) => self.tap(card),
                Running::Pin(_) => self.type_pin_to_the_end(),
                _ => {}
            }
            // The card's answer goes out before that of the ABORT.
            self.settle();
        }
        self.sale_is_open = false;
        self.amount = None;
        self.answer(&[], Sw::OK);
        if !matches!(self.running, Running::Nothing) {
            self.asked = None;
            self.finish(&[], Sw::CANCELLED);
            self.show("CANCELLED");
        }
    }

    /// Ends everything under way without a word.
    pub(super) fn reset(&mut self) {
        self.running = Running::Nothing;
        self.due = None;
        self.asked = None;
        self.choosing = None;
        self.last_swipe = None;
        self.typed.clear();
        self.sale_is_open = false;
        self.amount = None;
        self.show("WELCOME");
    }

    /// Does all that is due by now. The script comes first: what happened is met before the device goes on.
    pub(super) fn settle(&mut self) {
        let is_due = |at: Option<Duration>, now| at.is_some_and(|at| at <= now);
        if is_due(self.held_until, self.now) {
            self.held_until = None;
        }
        loop {
            if self.meet_script() {
            } else if is_due(self.due, self.now) {
                self.due = None;
                self.go_on();
            } else if is_due(self.removal, self.now) {
                self.remove();
            } else if is_due(self.off_until, self.now) {
                self.powers_on();
            } else {
                return;
            }
        }
    }

    /// The time of the running command's next step has come.
    fn go_on(&mut self) {
        match std::mem::replace(&mut self.running, Running::Nothing) {
            Running::Nothing => {}
            Running::Tap(_) => {
                self.finish(&[], Sw::TIMED_OUT);
                self.show("TIMED OUT");
            }
            Running::Chip(read) => self.chip_is_read(read),
            Running::Card(step) => match *step {
                CardStep::Choosing(choosing) => self.choice_goes_on(choosing),
                CardStep::Answering { payment, pin } => self.card_decides(payment, pin.as_ref()),
                CardStep::Continuing { payment, arc, elements } => self.card_is_told(payment, arc, &elements),
            },
            Running::Pin(entry) => self.pin_goes_on(entry),
            Running::Number(typed) => {
                self.running = Running::Number(typed);
                self.number_goes_on();
            }
        }
    }

    pub(super) fn waited_too_long(&mut self) {
        match &self.running {
            Running::Tap(_) | Running::Number(_) => {
                self.finish(&[], Sw::TIMED_OUT);
                self.show("TIMED OUT");
            }
            Running::Card(step) if matches!(**step, CardStep::Choosing(_)) => {
                self.finish(&[], Sw::CANCELLED);
                self.show("TIMED OUT");
            }
            Running::Pin(_) => self.pin_given_up(),
            _ => {}
        }
    }

    /// The cardholder will take the card out by himself, when he does so.
    pub(super) fn expect_removal(&mut self) {
        if self.options.removes_card && self.slot.is_some() {
            self.removal = Some(self.now + self.options.pace.removal);
        }
    }

    pub(super) fn remove(&mut self) {
        self.removal = None;
        self.card_is_out();
    }

    /// A card's transaction counter, counted on.
    pub(super) fn next_atc(&mut self, card: &Card) -> u16 {
        let atc = self.atcs.entry(card.name).or_insert(self.options.atc);
        *atc = atc.wrapping_add(1);
        *atc
    }

    /// The PINs that a card's chip will still try.
    pub(super) fn pin_tries(&mut self, card: &Card) -> &mut u8 {
        self.tries.entry(card.name).or_insert(card.tries)
    }

    /// The device's transaction counter (9F41), counted on.
    pub(super) fn next_sequence(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence
    }

    /// An unpredictable number of the seeded generator (SplitMix64).
    pub(super) fn next_random(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let [.., a, b, c, d] = (z ^ (z >> 31)).to_be_bytes();
        u32::from_be_bytes([a, b, c, d])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pace, card};
    use super::*;

    /// Terms of 4.56 GBP, typed from documents (readers: 2.13).
    const CONTACTLESS: &str = "010023DEC100001EE01C9C01009F02060000000004569A032501319F21031234565F2A02082693";
    const START: &str =
        "01002DDED1000028E0269C01009F02060000000004569A032501319F2103123456DFA2040101DFA20301005F2A02082687";

    fn said(device: &mut Device) -> Vec<String> {
        std::iter::from_fn(|| device.output()).map(|output| hex::encode_upper(output.bytes)).collect()
    }

    fn send(device: &mut Device, frame: &str, at: u64) {
        device.bytes(&hex::decode(frame).unwrap(), Duration::from_millis(at));
    }

    #[test]
    fn the_wait_for_a_tap_has_an_end() {
        let mut device = Device::new(Options::default());
        send(&mut device, CONTACTLESS, 1_000);
        // MPI-Dynamic.cfg: 30 seconds.
        assert_eq!(device.deadline(), Some(Duration::from_secs(31)));
        device.timer(Duration::from_millis(30_999));
        assert_eq!(said(&mut device), [""; 0]);
        device.timer(Duration::from_secs(31));
        assert_eq!(said(&mut device), ["0100029F42DE"]);
        assert_eq!(device.deadline(), None);
    }

    #[test]
    fn chips_and_people_take_their_time() {
        let mut device = Device::new(Options { pace: Pace::HUMAN, removes_card: true, ..Options::default() });
        device.hands(Hand::Insert(card("chip-pin").unwrap()), Duration::ZERO);
        send(&mut device, START, 0);
        let mut moments = Vec::new();
        while let Some(deadline) = device.deadline() {
            device.timer(deadline);
            moments.extend(said(&mut device).into_iter().map(|frame| (deadline.as_millis(), frame.len() / 2)));
        }
        // The prompt, four digits, PIN OK and E4 together.
        let times: Vec<_> = moments.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [600, 850, 1100, 1350, 1600, 1850, 1850]);
        send(&mut device, "01000BDED2000006E0048A0230306C", 2_000);
        assert!(device.screen().card_in_slot);
        device.timer(Duration::from_millis(3_200));
        assert!(!device.screen().card_in_slot);
    }

    #[test]
    fn the_same_inputs_give_the_same_outputs_and_another_seed_another_number() {
        let run = |seed| {
            let mut device = Device::new(Options { seed, ..Options::default() });
            send(&mut device, CONTACTLESS, 0);
            device.hands(Hand::Tap(card("tap").unwrap()), Duration::ZERO);
            said(&mut device)
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn the_amount_that_was_sent_stands_on_the_display_until_the_sale_is_over() {
        let mut device = Device::new(Options::default());
        assert_eq!(device.screen().amount, None);
        send(&mut device, CONTACTLESS, 0);
        assert_eq!(device.screen().amount.as_deref(), Some("4.56 GBP"));
        device.hands(Hand::Key(Key::Cancel), Duration::ZERO);
        assert_eq!(device.screen().amount, None, "cancelled");
        device.hands(Hand::Insert(card("chip-no-cvm").unwrap()), Duration::ZERO);
        send(&mut device, START, 0);
        send(&mut device, "01000BDED2000006E0048A0230306C", 0);
        let screen = device.screen();
        assert_eq!((screen.lines[0].as_str(), screen.amount.as_deref()), ("APPROVED", Some("4.56 GBP")));
        device.hands(Hand::Remove, Duration::ZERO);
        assert_eq!(device.screen().amount, None, "the next customer does not see it");
    }

    #[test]
    fn a_tip_that_is_typed_is_seen_as_money() {
        let mut device = Device::new(Options::default());
        let elements = "E0169F02060000000012345F2A020978DFA21704050A0F00";
        let body = hex::decode(elements).unwrap();
        let command = Command { code: 0xD205, p1: 1, extended: false, data: &body };
        device.command(&command);
        for key in [Key::Digit(2), Key::Digit(5), Key::Digit(0), Key::Digit(0), Key::Clear] {
            device.hands(Hand::Key(key), Duration::ZERO);
        }
        let screen = device.screen();
        assert_eq!(screen.amount.as_deref(), Some("12.34 EUR"));
        assert_eq!(screen.lines, ["ENTER TIP", "2.50 EUR"]);
    }

    #[test]
    fn garbage_and_split_packets_are_survived() {
        let mut device = Device::new(Options::default());
        device.bytes(b"\xFF\x00AT\r\n", Duration::ZERO);
        for byte in hex::decode("010004EEE000000B").unwrap() {
            device.bytes(&[byte], Duration::ZERO);
        }
        assert_eq!(said(&mut device), ["010009E105DFAE01010790000A"]);
        assert_eq!(device.counters().commands, [0xEEE0]);
        assert_eq!(device.counters().faults, 1);
    }
}
