//! The reader as a machine without I/O. Its inputs are bytes, people's actions and the time. Its outputs are bytes and
//! a display. The same inputs always produce the same outputs.
//!
//! ```text
//!             ┌── DEC1 ──▶ waits for a tap ── tap ─────────┐
//!   idle ─────┼── DED1 ──▶ reads the chip ─────────────────┼─▶ PIN ─▶ E4 ─▶ idle, awaits the host ── DED2 ─▶ E3 / E5
//!             ├── DED6 ──▶ PIN of the last swipe ─▶ block  │
//!             └── D204, D205, D2E0 ──▶ digits ─▶ number     └─▶ E3, E5: no DED2
//! ```
//!
//! Each named step of a transaction is an event for a script (`script`). The device continues only after the script.
//!
//! One command runs at a time (`Running` in `kernel`). The codes in the drawing are Miura's; `family` connects the
//! device to its own commands and answers.

use std::collections::VecDeque;
use std::time::Duration;

use super::Options;
use super::cardholder::{Cardholder, PersonAction};
use super::deck::{Card, CardEntry};
use super::display::{Display, Screen};
use super::family::{Failure, FamilySession, Protocol};
use super::faults::{AbortRace, Cable, Faults, ScriptEffects};
use super::kernel::{CardStep, Kernel, Running};
use super::keys::Keys;
use super::script::ScriptEvent;
use super::script::run::ScriptRun;

/// Bytes to send.
#[derive(Debug, PartialEq, Eq)]
pub struct OutgoingBytes {
    /// One or more whole packets.
    pub bytes: Vec<u8>,
    /// True if these bytes are the first with card data: E3, E4, E5 of START, or a swipe.
    pub card: bool,
}

/// Counts of the input so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCounters {
    /// The code of every command (for Miura and VIPA: CLA and INS), in their order.
    pub commands: Vec<u16>,
    /// The number of commands with the issuer's answer.
    pub answers_of_issuer: usize,
    /// The number of damaged or malformed packets.
    pub faults: usize,
}

/// The simulated reader.
pub struct Device {
    pub(super) options: Options,
    pub(super) cardholder: Cardholder,
    pub(super) kernel: Kernel,
    pub(super) keys: Keys,
    pub(super) faults: Faults,
    pub(super) script: ScriptRun,
    pub(super) display: Display,
    pub(super) session: FamilySession,
    /// The time of the latest call.
    pub(super) now: Duration,
    /// The device's date and time (9A and 9F21).
    pub(super) clock: [u8; 6],
    random: u64,
    pub(super) outgoing: VecDeque<OutgoingBytes>,
    pub(super) counters: LineCounters,
}

impl Device {
    /// Makes a reader that has just been switched on.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            cardholder: Cardholder::default(),
            kernel: Kernel::new(options.atc),
            keys: Keys::new(&options),
            faults: Faults::new(options.race),
            script: ScriptRun::new(options.script.clone(), Duration::ZERO),
            display: Display::new(),
            session: options.family.session(),
            now: Duration::ZERO,
            clock: options.clock,
            random: options.seed,
            outgoing: VecDeque::new(),
            counters: LineCounters::default(),
            options,
        }
    }

    /// Processes bytes from the connection. `now` is the time since a fixed moment.
    pub fn bytes(&mut self, bytes: &[u8], now: Duration) {
        self.now = now;
        if self.faults.is_off() {
            return self.run_due();
        }
        if self.options.wrong_device {
            return self.outgoing.push_back(OutgoingBytes { bytes: b"\r\nERROR\r\n".to_vec(), card: false });
        }
        self.protocol().hear(self, bytes);
        self.run_due();
    }

    /// Carries out a person's action.
    pub fn person_does(&mut self, action: PersonAction, now: Duration) {
        self.now = now;
        match action {
            PersonAction::Present(card, entry) => self.present(card, entry),
            PersonAction::Remove => self.remove(),
            PersonAction::Key(key) => self.press(key),
            PersonAction::WaitTooLong => self.waited_too_long(),
            PersonAction::Reboot => self.reboot(self.options.pace.boot),
        }
        self.run_due();
    }

    pub(super) fn present(&mut self, card: &'static Card, entry: CardEntry) {
        match entry {
            CardEntry::Insert => self.insert(card),
            CardEntry::Tap => self.tap(card),
            CardEntry::Swipe => self.swipe(card),
        }
    }

    /// Advances to this time.
    pub fn timer(&mut self, now: Duration) {
        self.now = now;
        self.run_due();
    }

    /// Returns the time of the next call to [`Self::timer`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let held = self.faults.held_until.filter(|_| !self.outgoing.is_empty());
        let script = self.script.deadline();
        [self.kernel.due, self.cardholder.removes_at, self.faults.off_until, held, script].into_iter().flatten().min()
    }

    /// Returns the next bytes to send.
    pub fn output(&mut self) -> Option<OutgoingBytes> {
        if self.faults.holds_back(self.now) {
            return None;
        }
        self.outgoing.pop_front()
    }

    /// Returns the next cable order, each one once.
    pub fn take_cable(&mut self) -> Option<Cable> {
        self.faults.take_cable()
    }

    /// Returns the display.
    #[must_use]
    pub fn screen(&self) -> Screen {
        Screen {
            lines: self.display.lines.clone(),
            amount: self.display.amount.map(|money| money.to_string()),
            waits_for: self.kernel.waits_for(),
            card_in_slot: self.kernel.slot.is_some(),
        }
    }

    /// Returns the counters of the input.
    #[must_use]
    pub fn counters(&self) -> &LineCounters {
        &self.counters
    }

    /// Returns what the current script has done so far.
    #[must_use]
    pub fn effects(&self) -> ScriptEffects {
        self.faults.effects
    }

    /// Returns whether a packet has begun but not ended.
    #[must_use]
    pub fn is_mid_packet(&self) -> bool {
        self.protocol().is_mid_packet(self)
    }

    /// Reports that the host has opened the connection. Over TCP and Bluetooth, the device sends a message; over USB,
    /// it does not (readers: 2.1).
    pub fn connected(&mut self, now: Duration) {
        self.now = now;
        self.protocol().forget_input(self);
        if self.options.says_powered_on {
            self.protocol().powered_on(self);
        }
        self.happens(ScriptEvent::Connected);
        self.run_due();
    }

    pub(super) fn protocol(&self) -> &'static dyn Protocol {
        self.options.family.protocol()
    }

    /// Handles a pulled cable. Switches and running steps are lost; keys and counters are kept.
    pub fn unplugged(&mut self) {
        self.lose_power();
        self.outgoing.clear();
    }

    /// Clears everything that a loss of power erases.
    pub(super) fn lose_power(&mut self) {
        self.reset();
        self.session = self.options.family.session();
    }

    /// Counts a command with its code, and lets the script act before it. Returns whether the device carries it out.
    pub(super) fn command_arrives(&mut self, code: Option<u16>, is_abort: bool, is_answer_of_issuer: bool) -> bool {
        self.counters.commands.extend(code);
        self.counters.answers_of_issuer += usize::from(is_answer_of_issuer);
        self.happens(ScriptEvent::Frame);
        if is_abort {
            self.happens(ScriptEvent::Abort);
        }
        self.meet_script();
        !(self.faults.pulls_cable() || self.faults.is_off())
    }

    /// Lets the card win the race against an ABORT, if a plan requires it. The card's answer is sent before the ABORT's
    /// answer.
    pub(super) fn race_before_abort(&mut self) {
        if let AbortRace::CardWins(card) = self.faults.abort_race {
            match self.kernel.running {
                Running::Tap(_) => self.tap(card),
                Running::Pin(_) => self.type_pin_to_the_end(),
                _ => {}
            }
            self.run_due();
        }
    }

    /// Ends the running command, because the host has cancelled it.
    pub(super) fn end_running_command(&mut self) {
        if !self.kernel.is_idle() {
            self.kernel.awaiting_host = None;
            self.fail(Failure::Aborted);
            self.display.show("CANCELLED");
        }
    }

    /// Ends all running steps without an answer.
    pub(super) fn reset(&mut self) {
        self.kernel.reset();
        self.display.amount = None;
        self.display.show("WELCOME");
    }

    /// Does everything that is due. The script comes first, because it handles past events before the device continues.
    pub(super) fn run_due(&mut self) {
        let is_due = |at: Option<Duration>, now| at.is_some_and(|at| at <= now);
        if is_due(self.faults.held_until, self.now) {
            self.faults.held_until = None;
        }
        loop {
            if self.meet_script() {
            } else if is_due(self.kernel.due, self.now) {
                self.kernel.due = None;
                self.go_on();
            } else if is_due(self.cardholder.removes_at, self.now) {
                self.remove();
            } else if is_due(self.faults.off_until, self.now) {
                self.powers_on();
            } else {
                return;
            }
        }
    }

    /// Does the due step of the running command.
    fn go_on(&mut self) {
        match std::mem::replace(&mut self.kernel.running, Running::Nothing) {
            Running::Nothing => {}
            Running::Tap(_) => {
                self.fail(Failure::TimedOut);
                self.display.show("TIMED OUT");
            }
            Running::Chip(read) => self.chip_is_read(read),
            Running::Card(step) => match *step {
                CardStep::Choosing(choice) => self.cardholder_chooses(choice),
                CardStep::Answering { transaction, pin } => self.card_decides(transaction, pin.as_ref()),
                CardStep::Continuing { transaction, arc, elements } => {
                    self.card_hears_host(transaction, arc, &elements)
                }
            },
            Running::Pin(entry) => self.cardholder_types_pin(entry),
            Running::Number(entry) => self.cardholder_types_number(entry),
        }
    }

    pub(super) fn waited_too_long(&mut self) {
        match &self.kernel.running {
            Running::Tap(_) | Running::Number(_) => {
                self.fail(Failure::TimedOut);
                self.display.show("TIMED OUT");
            }
            Running::Card(_) if self.kernel.is_choosing() => {
                self.fail(Failure::NotEntered);
                self.display.show("TIMED OUT");
            }
            Running::Pin(_) => self.pin_given_up(Failure::NotEntered),
            _ => {}
        }
    }

    pub(super) fn set_removes_card(&mut self, removes: bool) {
        self.options.removes_card = removes;
    }

    /// Sets when the cardholder takes the card out, if a plan requires it.
    pub(super) fn expect_removal(&mut self) {
        if self.options.removes_card && self.kernel.slot.is_some() {
            self.cardholder.removes_at = Some(self.now + self.options.pace.removal);
        }
    }

    pub(super) fn remove(&mut self) {
        self.cardholder.removes_at = None;
        self.card_is_out();
    }

    /// Returns an unpredictable number from the seeded generator (SplitMix64).
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
    use super::super::{Key, Pace, card};
    use super::*;

    /// START CONTACTLESS for 4.56 GBP, copied by hand from documents (readers: 2.13).
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
        device.person_does(PersonAction::Present(card("chip-pin").unwrap(), CardEntry::Insert), Duration::ZERO);
        send(&mut device, START, 0);
        let mut moments = Vec::new();
        while let Some(deadline) = device.deadline() {
            device.timer(deadline);
            moments.extend(said(&mut device).into_iter().map(|frame| (deadline.as_millis(), frame.len() / 2)));
        }
        // The messages arrive together: the prompt, four digits, PIN OK and E4.
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
            device.person_does(PersonAction::Present(card("tap").unwrap(), CardEntry::Tap), Duration::ZERO);
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
        device.person_does(PersonAction::Key(Key::Cancel), Duration::ZERO);
        assert_eq!(device.screen().amount, None, "cancelled");
        device.person_does(PersonAction::Present(card("chip-no-cvm").unwrap(), CardEntry::Insert), Duration::ZERO);
        send(&mut device, START, 0);
        send(&mut device, "01000BDED2000006E0048A0230306C", 0);
        let screen = device.screen();
        assert_eq!((screen.lines[0].as_str(), screen.amount.as_deref()), ("APPROVED", Some("4.56 GBP")));
        device.person_does(PersonAction::Remove, Duration::ZERO);
        assert_eq!(device.screen().amount, None, "the next customer does not see it");
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
