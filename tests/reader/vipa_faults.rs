//! Every step of a sale with every fault of a VIPA reader or its connection, in virtual time. Each case ends once
//! within the deadline, reports no card twice, approves no card twice, and is followed by a sale that works.
//!
//! The reader in this file answers as a VIPA reader does (readers: 3). A comment marks each point where the documents
//! leave a choice.

use std::time::Duration;

use pos_reader::driver::PortAction;
use pos_reader::vipa::message::VipaCommand;
use pos_reader::vipa::{VipaSession, VipaSettings};
use pos_reader::{EntryRequest, ReaderEvent, ReaderOrder};
use pos_reader_link::apdu_link::{Nad, chain};
use pos_terms::transaction::SaleNumber;

use crate::fault_cases::{Agent, each};
use crate::trace::{arm, complete, settings, t, typing};
use crate::vipa_trace::{AMOUNT, PIN, card, e2, filled, keys, list, reset, sealed, sealed_with, swipe, unsealed, vipa};

/// The longest time that a sale may take after a fault. It begins with 120 s for a cardholder, or 60 s for a card and
/// its host. ABORT, the check of the slot (30 s), and start-ups with their waits follow. After a fault, no step depends
/// on a person.
const LONGEST: Duration = Duration::from_secs(240);

/// The condition of the reader.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Healthy,
    /// The reader is silent until the port is opened again.
    Dead,
    /// The reader has restarted without a message. Until RESET, it refuses the interrupted command with this status.
    Forgetful(&'static str),
}

/// The command whose result is due.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Running {
    Nothing,
    /// The result is unsolicited.
    Tap,
    /// A tapped card hears the gateway's answer. The result is unsolicited.
    TapIsTold,
    /// A chip hears the gateway's answer. The result is the answer.
    ChipIsTold,
    /// The result is the answer.
    Other,
}

/// The card that has sent an E4 and waits for the gateway's answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Awaits {
    Nothing,
    Tap,
    Chip,
}

struct Reader {
    mood: Mood,
    slot: bool,
    running: Running,
    awaits: Awaits,
    /// True if the fault has the form of an answer, so that the session cannot know what became of the card.
    lies: bool,
    /// True if cards are presented and host answers processed immediately.
    quick: bool,
    /// The number of commands that the reader still answers before it dies.
    answers: usize,
    key: u32,
    /// The number of answers to CARD STATUS. They come in both forms in turn.
    states: usize,
}

/// A message with its status, and whether it is unsolicited.
type Said = (bool, String);

impl Reader {
    fn slot_status(&self) -> String {
        filled(if self.slot { "{CARD_IN}9000" } else { "{NO_CARD}9000" })
    }

    fn key(&mut self) -> u32 {
        self.key += 1;
        0x10_0000 + self.key
    }

    /// Returns an E4. Each call uses another key.
    fn card(&mut self) -> String {
        let key = self.key();
        format!("{}9000", card("E4", key, ""))
    }

    fn card_with_pin(&mut self) -> String {
        let key = self.key();
        format!("{}9000", card("E4", key, "9F3403420300"))
    }

    fn e2(&mut self) -> String {
        let key = self.key();
        format!("{}9000", e2(&sealed(key)))
    }

    fn pin(&mut self) -> String {
        let key = self.key();
        format!("{}9000", t("E0", &PIN.replace("40B800009", &format!("4{key:08X}"))))
    }

    fn swipe(&mut self, code: &str) -> String {
        let key = self.key();
        format!("{}9000", swipe(code, key))
    }

    /// Ends the running command with its result.
    fn result(&mut self, result: &str) -> Said {
        let running = std::mem::replace(&mut self.running, Running::Nothing);
        match running {
            Running::Tap if result.starts_with("E4") => self.awaits = Awaits::Tap,
            Running::Other if result.starts_with("E4") => self.awaits = Awaits::Chip,
            _ => {}
        }
        (matches!(running, Running::Tap | Running::TapIsTold), result.to_owned())
    }

    /// Begins to wait for a card. The card before it has had its answer, or is gone.
    fn begins(&mut self) {
        let waits = self.awaits == Awaits::Tap || (self.awaits == Awaits::Chip && self.slot);
        assert!(!waits || self.lies, "a card was left without an answer");
        self.awaits = Awaits::Nothing;
    }

    fn hears(&mut self, command: &VipaCommand<'_>) -> Vec<Said> {
        if self.answers == 0 {
            self.mood = Mood::Dead;
        }
        self.answers = self.answers.saturating_sub(1);
        if self.mood == Mood::Dead {
            return Vec::new();
        }
        let ok = (false, "9000".to_owned());
        // ABORT ends the dialogue with a chip.
        if *command == VipaCommand::Abort && self.awaits == Awaits::Chip {
            self.awaits = Awaits::Nothing;
        }
        match command {
            VipaCommand::Abort | VipaCommand::CancelContactless if self.running != Running::Nothing => {
                // Which of the two commands ends a wait for a tap is not published. This reader takes both.
                vec![ok, self.result("9F41")]
            }
            VipaCommand::Reset => {
                (self.mood, self.running, self.awaits) = (Mood::Healthy, Running::Nothing, Awaits::Nothing);
                vec![(false, reset())]
            }
            VipaCommand::SecurityConfiguration { .. } => vec![(false, keys(true, true))],
            VipaCommand::CardStatus => {
                self.states += 1;
                match self.states % 3 {
                    0 => vec![(false, self.slot_status())],
                    1 => vec![(true, self.slot_status())],
                    _ => vec![ok, (true, self.slot_status())],
                }
            }
            VipaCommand::StartContactless { .. } | VipaCommand::ContinueContactless(_) => {
                if let Mood::Forgetful(status) = self.mood {
                    return vec![(false, status.to_owned())];
                }
                match command {
                    VipaCommand::StartContactless { .. } => self.begins(),
                    _ if std::mem::replace(&mut self.awaits, Awaits::Nothing) != Awaits::Tap => {
                        return vec![(false, "9F24".to_owned())];
                    }
                    _ => {}
                }
                let is_told = matches!(command, VipaCommand::ContinueContactless(_));
                self.running = if is_told { Running::TapIsTold } else { Running::Tap };
                match command {
                    _ if !self.quick => vec![ok],
                    VipaCommand::StartContactless { .. } => {
                        let card = self.card();
                        vec![ok, self.result(&card)]
                    }
                    _ => vec![ok, self.result("9000")],
                }
            }
            VipaCommand::Start { .. }
            | VipaCommand::Continue(_)
            | VipaCommand::OnlinePin(_)
            | VipaCommand::Numeric { .. }
            | VipaCommand::ManualPan { .. } => {
                if let Mood::Forgetful(status) = self.mood {
                    return vec![(false, status.to_owned())];
                }
                match command {
                    VipaCommand::Start { .. } => self.begins(),
                    VipaCommand::Continue(terms) if terms.host.is_some() => {
                        if self.awaits != Awaits::Chip || !self.slot {
                            return vec![(false, "9F24".to_owned())];
                        }
                        self.awaits = Awaits::Nothing;
                    }
                    _ => {}
                }
                let is_told = matches!(command, VipaCommand::Continue(terms) if terms.host.is_some());
                self.running = if is_told { Running::ChipIsTold } else { Running::Other };
                let result = match command {
                    VipaCommand::Start { .. } if !self.slot => "9F23".to_owned(),
                    _ if !self.quick => return Vec::new(),
                    VipaCommand::Start { .. } => self.e2(),
                    VipaCommand::Continue(terms) if terms.host.is_some() => filled("{E3}"),
                    VipaCommand::Continue(_) => self.card(),
                    VipaCommand::OnlinePin(_) => self.pin(),
                    _ => "9F41".to_owned(),
                };
                vec![self.result(&result)]
            }
            _ => vec![ok],
        }
    }
}

struct Shop {
    session: VipaSession,
    reader: Reader,
    agent: Agent,
    now: Duration,
    /// The time until which the port is closed.
    reopen_at: Option<Duration>,
    /// The sales whose card was told that it is approved.
    approved: Vec<u64>,
    name: String,
}

impl Shop {
    fn new(name: String) -> Self {
        let vipa = VipaSettings { manual_entry: Some("manual.html".to_owned()), ..vipa() };
        let reader = Reader {
            mood: Mood::Healthy,
            slot: false,
            running: Running::Nothing,
            awaits: Awaits::Nothing,
            lies: false,
            quick: false,
            answers: usize::MAX,
            key: 0,
            states: 0,
        };
        let session = VipaSession::new(settings(), vipa);
        let (agent, approved) = (Agent::default(), Vec::new());
        Self { session, reader, agent, now: Duration::ZERO, reopen_at: None, approved, name }
    }

    fn started(name: String) -> Self {
        let mut shop = Self::new(name);
        shop.session.opened(shop.now);
        shop.exchange();
        assert!(shop.agent.ready);
        shop
    }

    fn says(&mut self, unsolicited: bool, message: &str) {
        let message = hex::decode(message).unwrap();
        for packet in chain(Nad::Reader, unsolicited, &message, 254).unwrap() {
            self.session.bytes(&packet, self.now);
        }
    }

    fn raw(&mut self, bytes: &str) {
        self.session.bytes(&hex::decode(bytes.replace(' ', "")).unwrap(), self.now);
        self.exchange();
    }

    fn event(&mut self, message: &str) {
        self.says(true, message);
        self.exchange();
    }

    /// Ends the running command with this result.
    fn result(&mut self, result: &str) {
        let (unsolicited, result) = self.reader.result(result);
        self.says(unsolicited, &result);
        self.exchange();
    }

    /// Sends a message whose last byte is damaged in transit.
    fn spoiled(&mut self, unsolicited: bool, message: &str) {
        let message = hex::decode(message).unwrap();
        for mut packet in chain(Nad::Reader, unsolicited, &message, 254).unwrap() {
            *packet.last_mut().unwrap() ^= 0x20;
            self.session.bytes(&packet, self.now);
        }
        self.exchange();
    }

    /// Lets the reader miss the commands that follow from `what`.
    fn unheard(&mut self, what: impl FnOnce(&mut Self)) {
        self.reader.answers = 0;
        what(self);
        (self.reader.answers, self.reader.mood) = (usize::MAX, Mood::Healthy);
    }

    /// Carries out everything that is due at this moment.
    fn exchange(&mut self) {
        for _ in 0..10_000 {
            match self.session.poll() {
                Some(PortAction::Report(event)) => {
                    let over = matches!(event, ReaderEvent::NoCard { .. } | ReaderEvent::Completed { .. });
                    self.agent.hears(&event);
                    if over && self.reader.slot && self.reader.mood != Mood::Dead {
                        self.reader.slot = false;
                        let status = self.reader.slot_status();
                        self.says(true, &status);
                    }
                }
                Some(PortAction::Write(packet)) => {
                    let command = VipaCommand::parse(&packet[3..packet.len() - 1]).unwrap();
                    if let VipaCommand::Continue(terms) | VipaCommand::ContinueContactless(terms) = command
                        && terms.host.is_some_and(|host| host.arc == *b"00")
                    {
                        assert!(!self.approved.contains(&self.agent.sale), "{}: approved twice", self.name);
                        self.approved.push(self.agent.sale);
                    }
                    for (unsolicited, answer) in self.reader.hears(&command) {
                        self.says(unsolicited, &answer);
                    }
                }
                Some(PortAction::Reopen { after }) => self.reopen_at = Some(self.now + after),
                None if self.reader.quick && std::mem::take(&mut self.agent.card) => {
                    self.agent.completing = true;
                    self.session.order(complete(&format!("{} 00", self.agent.sale)), self.now);
                }
                None => return,
            }
        }
        panic!("{}: no end of what is to be done in one moment", self.name);
    }

    /// Moves to the next moment at which something is due.
    fn step(&mut self) {
        let due = self.reopen_at.or_else(|| self.session.deadline());
        let due = due.unwrap_or_else(|| panic!("{}: nothing will ever happen again", self.name));
        self.now = self.now.max(due);
        if self.reopen_at.take().is_some() {
            // The port was closed. This switches the reader off and on, which repairs any fault.
            (self.reader.mood, self.reader.running, self.reader.answers) =
                (Mood::Healthy, Running::Nothing, usize::MAX);
            self.reader.awaits = Awaits::Nothing;
            self.session.opened(self.now);
        } else {
            self.session.timeout(self.now);
        }
        self.exchange();
    }

    fn arm(&mut self, entry: EntryRequest) {
        assert!(self.agent.ready && !self.agent.busy);
        self.agent.sale += 1;
        (self.agent.busy, self.agent.waiting) = (true, true);
        let arm = pos_reader::Arm { entry, ..arm(self.agent.sale) };
        self.session.order(ReaderOrder::Arm(arm), self.now);
        self.exchange();
    }

    fn type_amount(&mut self) {
        self.agent.sale += 1;
        (self.agent.busy, self.agent.typing) = (true, true);
        self.session.order(ReaderOrder::TypeAmount(typing(&format!("{} amount EUR", self.agent.sale))), self.now);
        self.exchange();
    }

    fn complete(&mut self, arc: &str) {
        assert!(std::mem::take(&mut self.agent.card), "{}: a card", self.name);
        self.agent.completing = true;
        self.session.order(complete(&format!("{} {arc}", self.agent.sale)), self.now);
        self.exchange();
    }

    fn cancel(&mut self) {
        self.session.order(ReaderOrder::Cancel { sale: SaleNumber::new(self.agent.sale) }, self.now);
        self.exchange();
    }

    /// Takes the card out when the sale has ended. A dead reader does not report the removal, and a closed port does
    /// not transmit it.
    fn take_card_out(&mut self) {
        let Agent { waiting, card, completing, .. } = self.agent;
        if self.reader.slot && !(waiting || card || completing) {
            self.reader.slot = false;
            if self.reader.mood != Mood::Dead && self.reopen_at.is_none() {
                let status = self.reader.slot_status();
                self.event(&status);
            }
        }
    }

    fn insert(&mut self) {
        self.reader.slot = true;
        let status = self.reader.slot_status();
        self.event(&status);
    }

    /// Reads a chip up to the answer after its request for a decision.
    fn chip(&mut self) {
        self.insert();
        self.arm(EntryRequest::Card);
        let e2 = self.reader.e2();
        self.result(&e2);
    }

    fn chip_is_read(&mut self) {
        self.chip();
        let card = self.reader.card();
        self.result(&card);
    }

    fn tap(&mut self) {
        self.arm(EntryRequest::Card);
        let card = self.reader.card();
        self.result(&card);
    }
}

/// A step and a function that brings a shop to it. The fault, or time, does the rest.
type Stage = (&'static str, fn(&mut Shop));

const STAGES: &[Stage] = &[
    ("idle", |_| {}),
    ("idle, the check is out", |shop| shop.unheard(Shop::step)),
    ("armed", |shop| shop.arm(EntryRequest::Card)),
    ("armed, the wait has not begun", |shop| shop.unheard(|shop| shop.arm(EntryRequest::Card))),
    ("insert and swipe", |shop| {
        shop.arm(EntryRequest::Card);
        shop.result("9F33");
    }),
    ("a text is out", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(|shop| shop.result("9F33"));
    }),
    ("a second tap", |shop| {
        shop.arm(EntryRequest::Card);
        shop.result("9F35");
    }),
    ("a second tap, the wait has not begun", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(|shop| shop.result("9F35"));
    }),
    ("inserted, the wait is being cancelled", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(Shop::insert);
    }),
    ("swiped, the wait is being cancelled", |shop| {
        shop.arm(EntryRequest::Card);
        let swipe = shop.reader.swipe("101");
        shop.unheard(|shop| shop.event(&swipe));
    }),
    ("swiped, the host is asked", |shop| {
        shop.arm(EntryRequest::Card);
        let swipe = shop.reader.swipe("101");
        shop.event(&swipe);
        assert!(shop.agent.card);
    }),
    ("chip", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
    }),
    ("chip, inserted while it waits", |shop| {
        shop.arm(EntryRequest::Card);
        shop.insert();
        assert_eq!(shop.reader.running, Running::Other);
    }),
    ("chip, E2", Shop::chip),
    ("chip, a list", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        shop.result(&list());
    }),
    ("chip, offline PIN", |shop| {
        shop.chip();
        shop.event("E60AC3010CC40250 4EC501039000".replace(' ', "").as_str());
    }),
    ("chip, online PIN", |shop| {
        shop.chip();
        let card = shop.reader.card_with_pin();
        shop.result(&card);
        assert!(!shop.agent.card);
    }),
    ("chip, online PIN, the host is asked", |shop| {
        shop.chip();
        let card = shop.reader.card_with_pin();
        shop.result(&card);
        let pin = shop.reader.pin();
        shop.result(&pin);
        assert!(shop.agent.card);
    }),
    ("chip, the bypassed PIN is being declined", |shop| {
        shop.chip();
        let card = shop.reader.card_with_pin();
        shop.result(&card);
        shop.result("9015");
    }),
    ("the chip failed", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        shop.result("9F28");
    }),
    ("PIN of a swipe", |shop| {
        shop.arm(EntryRequest::Card);
        let swipe = shop.reader.swipe("120");
        shop.event(&swipe);
        assert_eq!(shop.reader.running, Running::Other);
    }),
    ("chip, the host is asked", Shop::chip_is_read),
    ("tap, the host is asked", Shop::tap),
    ("chip, CONTINUE", |shop| {
        shop.chip_is_read();
        shop.complete("00");
    }),
    ("tap, CONTINUE", |shop| {
        shop.tap();
        shop.complete("00");
    }),
    ("tap, CONTINUE has not begun", |shop| {
        shop.tap();
        shop.unheard(|shop| shop.complete("00"));
    }),
    ("remove card", |shop| {
        shop.chip_is_read();
        shop.complete("00");
        // The card stays in the slot. Otherwise, the reader in this file would report its removal when it gets the
        // verdict.
        shop.reader.slot = false;
        shop.result(&filled("{E3}"));
        shop.reader.slot = true;
    }),
    ("cancelled", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(Shop::cancel);
    }),
    ("inserted before the wait has begun", |shop| {
        shop.unheard(|shop| {
            shop.arm(EntryRequest::Card);
            shop.insert();
        });
        // The answer of the wait, its end, and the answer of the cancellation.
        for (unsolicited, answer) in [(false, "9000"), (true, "9F41"), (false, "9000")] {
            shop.says(unsolicited, answer);
            shop.exchange();
        }
        assert_eq!(shop.reader.running, Running::Other);
    }),
    ("cancelled, the tap was faster", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(Shop::cancel);
        shop.reader.running = Running::Tap;
        let card = shop.reader.card();
        shop.result(&card);
        shop.says(false, "9000");
        shop.exchange();
    }),
    ("cancelled, the chip was faster", |shop| {
        shop.chip();
        shop.unheard(Shop::cancel);
        shop.reader.running = Running::Other;
        let card = shop.reader.card();
        shop.result(&card);
        shop.says(false, "9000");
        shop.exchange();
    }),
    ("another amount, being declined", |shop| {
        shop.chip();
        let card = shop.reader.card().replace(AMOUNT, "9F0206000000009999");
        shop.result(&card);
    }),
    ("typing an amount", Shop::type_amount),
    ("typing, cancelled", |shop| {
        shop.type_amount();
        shop.unheard(Shop::cancel);
    }),
    ("typing a card", |shop| shop.arm(EntryRequest::Manual)),
    ("a typed card, the host is asked", |shop| {
        shop.arm(EntryRequest::Manual);
        let key = shop.reader.key();
        let masked = t("DFDB01", &hex::encode("476173******0010"));
        shop.result(&format!("{}9000", t("E0", &format!("{masked}{}", sealed(key)))));
        assert!(shop.agent.card);
    }),
];

/// A fault. Afterwards the reader works correctly unless it is dead.
type Fault = (&'static str, fn(&mut Shop));

const GOOD: &str = "DFDB0F0400000000";
const IV: &str = "DFDF1208ED02AA537757D99F";

const FAULTS: &[Fault] = &[
    ("the port is gone", |shop| {
        shop.session.closed("unplugged");
        shop.exchange();
    }),
    ("it forgets (9F22)", |shop| forgets(shop, "9F22")),
    ("it forgets (9F24)", |shop| forgets(shop, "9F24")),
    ("it forgets (9F26)", |shop| forgets(shop, "9F26")),
    ("it is busy (9FFF)", |shop| forgets(shop, "9FFF")),
    ("garbage", |shop| shop.raw("FF00 4154 0D0A 0100 FFFF 55AA")),
    ("another device on the port", |shop| {
        for _ in 0..20 {
            shop.raw(&hex::encode("\r\n+CSQ: 17,99\r\nOK\r\n$GPGGA,123519,4807.038,N*47\r\n"));
        }
    }),
    ("half a packet, then nothing", |shop| {
        shop.reader.mood = Mood::Dead;
        shop.raw("01 00 20 E4 1E");
    }),
    ("half a packet, then as before", |shop| shop.raw("01 01 FE E4 82 01")),
    ("a length that is too long", |shop| shop.raw("01 00 03 9000 92 01 00 02 9000")),
    ("a length that is too short", |shop| shop.raw("01 00 01 9000 91")),
    ("the first packet of a chain, then as before", |shop| shop.raw("0101061011121390 0096")),
    ("a chain without an end", |shop| {
        let packet = chain(Nad::Reader, true, &[0xE6; 500], 254).unwrap().next().unwrap();
        for _ in 0..30 {
            shop.session.bytes(&packet, shop.now);
        }
        shop.exchange();
    }),
    ("an encrypted packet", |shop| shop.raw("01 02 08 0102030405060708 03")),
    ("an answer of the PIN pad", |shop| shop.raw("02 00 02 9000 90")),
    ("nothing comes any more", |shop| shop.reader.mood = Mood::Dead),
    ("the answer is spoiled", |shop| {
        let card = shop.reader.card();
        let (unsolicited, card) = shop.reader.result(&card);
        shop.spoiled(unsolicited, &card);
    }),
    ("a card's event is spoiled", |shop| {
        shop.reader.slot = !shop.reader.slot;
        let status = shop.reader.slot_status();
        shop.spoiled(true, &status);
    }),
    ("it received a damaged packet (9F01)", |shop| {
        if shop.reader.running != Running::Nothing {
            shop.reader.running = Running::Other;
        }
        shop.reader.lies = true;
        shop.result("9F01");
    }),
    ("an empty answer that nobody asked for", |shop| unexpected(shop, false, "9000")),
    ("an identity that nobody asked for", |shop| unexpected(shop, false, &reset())),
    ("keys that nobody asked for", |shop| unexpected(shop, false, &keys(false, false))),
    ("an E3 that nobody asked for", |shop| unexpected(shop, false, &filled("{E3}"))),
    ("a cancelled tap that nobody asked for", |shop| unexpected(shop, true, "9F41")),
    ("an error that nobody asked for", |shop| unexpected(shop, false, "9F0D")),
    ("answers of last week", |shop| {
        let old = shop.reader.card().replace(AMOUNT, "9F0206000000009999");
        for answer in ["9000", "9F41", &old, "9000"] {
            unexpected(shop, false, answer);
        }
    }),
    ("the answer comes twice", |shop| {
        let card = shop.reader.card();
        let (unsolicited, card) = shop.reader.result(&card);
        shop.says(unsolicited, &card);
        shop.says(unsolicited, &card);
        shop.exchange();
        shop.says(unsolicited, &card);
        shop.exchange();
    }),
    ("a malformed answer", |shop| shop.result("E4209F02060000000012349000")),
    ("another amount", |shop| {
        let card = shop.reader.card().replace(AMOUNT, "9F0206000000009999");
        shop.result(&card);
    }),
    ("a key is used again", |shop| {
        shop.reader.key = shop.reader.key.saturating_sub(3);
        let card = shop.reader.card();
        shop.result(&card);
        shop.reader.key += 3;
    }),
    ("no sealed data", |shop| shop.result(&format!("{}9000", unsealed("E4", "")))),
    ("an encryption that failed", |shop| badly_sealed(shop, |key| sealed_with(IV, key, "DFDB0F0400000002"))),
    ("no initial value", |shop| badly_sealed(shop, |key| sealed_with("", key, GOOD))),
    ("a short initial value", |shop| badly_sealed(shop, |key| sealed_with("DFDF1204ED02AA53", key, GOOD))),
    ("a block of zeros", |shop| {
        badly_sealed(shop, |key| {
            t(
                "FF7F",
                &format!("DFDF12080000000000000000DFDF110AFFFF9876543211{key:06X}DFDF1008{}{GOOD}", "00".repeat(8)),
            )
        });
    }),
    ("a flood of events", |shop| {
        let slot = shop.reader.slot_status();
        for n in 0..60 {
            shop.says(true, &format!("E606C301C0C401{:02X}9000", 0x41 + n % 3));
            shop.says(true, "E005DFA20501359000");
            shop.says(true, &slot);
        }
        shop.exchange();
    }),
    ("a flood without an end", |shop| {
        for _ in 0..1000 {
            shop.says(true, "E606C301C0C401419000");
        }
        shop.exchange();
    }),
];

fn badly_sealed(shop: &mut Shop, block: fn(u32) -> String) {
    let key = shop.reader.key();
    shop.result(&format!("{}9000", unsealed("E4", &block(key))));
}

/// Ends a running command with this status, and later commands too.
fn forgets(shop: &mut Shop, status: &'static str) {
    shop.reader.mood = Mood::Forgetful(status);
    if shop.reader.running != Running::Nothing {
        shop.result(status);
    }
}

/// Sends a message that does not end the running command.
fn unexpected(shop: &mut Shop, unsolicited: bool, answer: &str) {
    shop.reader.lies = true;
    shop.says(unsolicited, answer);
    shop.exchange();
}

/// Checks the time after the fault: the sale ends once within the deadline, and a later sale works.
fn ends_and_goes_on(mut shop: Shop, fault: &Fault) {
    let (busy, ends, cards) = (shop.agent.busy, shop.agent.ends, shop.agent.cards);
    let began = shop.now;
    fault.1(&mut shop);
    // The host always answers.
    if shop.agent.card {
        shop.complete("00");
    }
    while shop.agent.busy || !shop.agent.ready {
        shop.step();
        shop.take_card_out();
        assert!(shop.now - began <= LONGEST, "{}: no end after {:?}", shop.name, shop.now - began);
        if shop.agent.card {
            shop.complete("00");
        }
    }
    assert_eq!(shop.agent.ends - ends, usize::from(busy), "{}: ends", shop.name);
    assert!(shop.agent.cards - cards <= 1, "{}: {} cards", shop.name, shop.agent.cards - cards);
    // Either the agent notices that an idle reader is faulty, or the next sale does. The sale after that is normal.
    shop.reader.quick = true;
    let mut sold = 0;
    for _ in 0..3 {
        let cards = shop.agent.cards;
        let began = shop.now;
        shop.arm(EntryRequest::Card);
        while shop.agent.busy || !shop.agent.ready {
            shop.step();
            assert!(shop.now - began <= LONGEST, "{}: the next sale hangs", shop.name);
        }
        sold += shop.agent.cards - cards;
    }
    assert!(sold >= 2, "{}: only {sold} of the next 3 sales", shop.name);
    assert!(!shop.reader.slot, "{}: the card is still in the slot", shop.name);
}

#[test]
fn every_fault_in_every_step() {
    each(STAGES.iter().flat_map(|stage| FAULTS.iter().map(move |fault| (stage, fault))).map(|(stage, fault)| {
        let case = |name| {
            let mut shop = Shop::started(name);
            stage.1(&mut shop);
            ends_and_goes_on(shop, fault);
        };
        (format!("{} × {}", stage.0, fault.0), Box::new(case) as Box<dyn Fn(String)>)
    }));
}

#[test]
fn every_fault_at_every_question_of_the_start_up() {
    each((0..6).flat_map(|answered| FAULTS.iter().map(move |fault| (answered, fault))).map(|(answered, fault)| {
        let case = move |name| {
            let mut shop = Shop::new(name);
            shop.reader.answers = answered;
            shop.session.opened(shop.now);
            shop.exchange();
            assert!(!shop.agent.ready);
            (shop.reader.answers, shop.reader.mood) = (usize::MAX, Mood::Healthy);
            ends_and_goes_on(shop, fault);
        };
        (format!("start-up after {answered} answers × {}", fault.0), Box::new(case) as Box<dyn Fn(String)>)
    }));
}

/// Causes two faults in sequence, because some faults matter only after another one.
#[test]
fn every_pair_of_faults_while_a_card_is_read() {
    let stages = STAGES.iter().filter(|stage| {
        ["armed", "chip, E2", "chip, online PIN", "chip, CONTINUE", "tap, CONTINUE", "remove card"].contains(&stage.0)
    });
    let pairs = stages.flat_map(|stage| FAULTS.iter().map(move |first| (stage, first)));
    let triples = pairs.flat_map(|(stage, first)| FAULTS.iter().map(move |second| (stage, first, second)));
    each(triples.map(|(stage, first, second)| {
        let case = |name| {
            let mut shop = Shop::started(name);
            stage.1(&mut shop);
            first.1(&mut shop);
            // A closed port sends no bytes.
            if shop.reopen_at.is_none() || second.0 == "the port is gone" {
                ends_and_goes_on(shop, second);
            }
        };
        (format!("{} × {} × {}", stage.0, first.0, second.0), Box::new(case) as Box<dyn Fn(String)>)
    }));
}
