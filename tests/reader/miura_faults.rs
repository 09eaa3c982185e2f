//! Every step of a sale with every fault of a reader or its connection, in virtual time. Each case ends once within the
//! deadline, reports no card twice, and is followed by a sale that works.
//!
//! The reader in this file answers as a Miura reader does (readers: 2). A comment marks each point where the documents
//! leave a choice.

use std::time::Duration;

use crate::fault_cases::{Agent, each};
use crate::trace::*;
use pos_reader::driver::PortAction;
use pos_reader::miura::message::{GetSecureData, MpiCommand, ResetKind};
use pos_reader::miura::{ManualEntry, MiuraSession, MiuraSettings};
use pos_reader::{EntryRequest, ReaderEvent, ReaderOrder};
use pos_reader_link::apdu_link::{Nad, chain};
use pos_terms::transaction::SaleNumber;

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

struct Reader {
    mood: Mood,
    slot: bool,
    /// True while a command that waits for the cardholder is running.
    running: bool,
    /// True if cards are presented and host answers processed immediately.
    quick: bool,
    /// The number of commands that the reader still answers before it dies.
    answers: usize,
    key: u32,
}

impl Reader {
    fn slot_status(&self) -> (bool, String) {
        (true, if self.slot { CARD_IN } else { NO_CARD }.to_owned())
    }

    /// Returns an E4. Each call uses another key.
    fn card(&mut self) -> String {
        self.key += 1;
        e4("").replace("1100005F", &format!("11{:06X}", self.key))
    }

    fn hears(&mut self, command: &MpiCommand<'_>) -> Vec<(bool, String)> {
        if self.answers == 0 {
            self.mood = Mood::Dead;
        }
        self.answers = self.answers.saturating_sub(1);
        if self.mood == Mood::Dead {
            return Vec::new();
        }
        let says = |text: &str| vec![(false, text.to_owned())];
        match command {
            MpiCommand::Abort if std::mem::take(&mut self.running) => [says("9000"), says("9F41")].concat(),
            MpiCommand::Reset(ResetKind::Soft) => {
                (self.mood, self.running) = (Mood::Healthy, false);
                says(RESET)
            }
            MpiCommand::P2peStatus => says(P2PE),
            MpiCommand::GetDeviceInfo => says(INFO),
            MpiCommand::CardStatus { .. } => vec![self.slot_status()],
            MpiCommand::StartContactless { .. }
            | MpiCommand::StartTransaction(_)
            | MpiCommand::Continue(_)
            | MpiCommand::OnlinePin { .. }
            | MpiCommand::GetNumeric(_)
            | MpiCommand::SecureData(GetSecureData::Ask { .. }) => match (self.mood, command) {
                (Mood::Forgetful(status), _) => says(status),
                (_, MpiCommand::Continue(_)) if self.quick => says(E3),
                (_, MpiCommand::StartContactless { .. }) if self.slot => says("9F43"),
                (_, MpiCommand::StartTransaction(_)) if !self.slot => says("9F23"),
                _ if self.quick => {
                    let card = self.card();
                    says(&card)
                }
                _ => {
                    self.running = true;
                    Vec::new()
                }
            },
            _ => says("9000"),
        }
    }
}

struct Shop {
    session: MiuraSession,
    reader: Reader,
    agent: Agent,
    now: Duration,
    /// The time until which the port is closed.
    reopen_at: Option<Duration>,
    name: String,
}

impl Shop {
    fn new(name: String) -> Self {
        let miura = MiuraSettings { manual_entry: Some(ManualEntry::default()), ..MiuraSettings::default() };
        let reader =
            Reader { mood: Mood::Healthy, slot: false, running: false, quick: false, answers: usize::MAX, key: 0 };
        let (session, agent) = (MiuraSession::new(settings(), miura), Agent::default());
        Self { session, reader, agent, now: Duration::ZERO, reopen_at: None, name }
    }

    fn started(name: String) -> Self {
        let mut shop = Self::new(name);
        shop.session.opened(shop.now);
        shop.exchange();
        assert!(shop.agent.ready);
        shop
    }

    fn says(&mut self, unsolicited: bool, message: &str) {
        let message = hex::decode(if unsolicited { format!("{message}9000") } else { message.to_owned() }).unwrap();
        for packet in chain(Nad::Reader, unsolicited, &message, 254).unwrap() {
            self.session.bytes(&packet, self.now);
        }
    }

    fn says_and_settles(&mut self, unsolicited: bool, message: &str) {
        // An answer ends the running command.
        self.reader.running &= unsolicited;
        self.says(unsolicited, message);
        self.exchange();
    }

    /// Sends a message whose last byte is damaged in transit.
    fn spoiled(&mut self, unsolicited: bool, message: &str) {
        let message = hex::decode(if unsolicited { format!("{message}9000") } else { message.to_owned() }).unwrap();
        for mut packet in chain(Nad::Reader, unsolicited, &message, 254).unwrap() {
            *packet.last_mut().unwrap() ^= 0x20;
            self.session.bytes(&packet, self.now);
        }
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
                        self.says(true, NO_CARD);
                    }
                }
                Some(PortAction::Write(packet)) => {
                    let command = MpiCommand::parse(&packet[3..packet.len() - 1]).unwrap();
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
            (self.reader.mood, self.reader.running, self.reader.answers) = (Mood::Healthy, false, usize::MAX);
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
                self.says_and_settles(true, NO_CARD);
            }
        }
    }

    fn insert(&mut self) {
        self.reader.slot = true;
        self.says_and_settles(true, CARD_IN);
    }
}

/// A step and a function that brings a shop to it. The fault, or time, does the rest.
type Stage = (&'static str, fn(&mut Shop));

const STAGES: &[Stage] = &[
    ("idle", |_| {}),
    ("idle, the check is out", |shop| {
        shop.reader.answers = 0;
        shop.step();
        (shop.reader.answers, shop.reader.mood) = (usize::MAX, Mood::Healthy);
    }),
    ("armed", |shop| shop.arm(EntryRequest::Card)),
    ("insert and swipe", |shop| {
        shop.arm(EntryRequest::Card);
        shop.says_and_settles(false, "9FC3");
    }),
    ("a text is out", |shop| {
        shop.arm(EntryRequest::Card);
        shop.reader.answers = 0;
        shop.says_and_settles(false, "9FC3");
        (shop.reader.answers, shop.reader.mood) = (usize::MAX, Mood::Healthy);
    }),
    ("the swipe is due", |shop| {
        shop.arm(EntryRequest::Card);
        shop.says_and_settles(false, "9F44");
    }),
    ("its status is due", |shop| {
        shop.arm(EntryRequest::Card);
        shop.says_and_settles(true, &swipe("101"));
    }),
    ("chip", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
    }),
    ("chip, PIN", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        shop.says_and_settles(true, "E60DC30102C40350494EDFA1010104");
    }),
    ("E2", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        shop.says_and_settles(false, "E2094F07A00000000310109000");
    }),
    ("the chip failed", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        shop.says_and_settles(false, "9F30");
    }),
    ("PIN of a swipe", |shop| {
        shop.arm(EntryRequest::Card);
        shop.says_and_settles(true, &swipe("120"));
        shop.says_and_settles(false, "9F44");
    }),
    ("chip, the host is asked", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        let card = shop.reader.card();
        shop.says_and_settles(false, &card);
    }),
    ("tap, the host is asked", |shop| {
        shop.arm(EntryRequest::Card);
        let card = shop.reader.card();
        shop.says_and_settles(false, &card);
    }),
    ("chip, CONTINUE", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        let card = shop.reader.card();
        shop.says_and_settles(false, &card);
        shop.complete("00");
    }),
    ("tap, CONTINUE", |shop| {
        shop.arm(EntryRequest::Card);
        let card = shop.reader.card();
        shop.says_and_settles(false, &card);
        shop.complete("00");
    }),
    ("remove card", |shop| {
        shop.insert();
        shop.arm(EntryRequest::Card);
        let card = shop.reader.card();
        shop.says_and_settles(false, &card);
        shop.complete("00");
        // The card stays in the slot. Otherwise, the reader in this file would report its removal when it gets the
        // verdict.
        shop.reader.slot = false;
        shop.says_and_settles(false, E3);
        shop.reader.slot = true;
    }),
    ("cancelled", |shop| {
        shop.arm(EntryRequest::Card);
        shop.reader.answers = 0;
        shop.cancel();
        (shop.reader.answers, shop.reader.mood) = (usize::MAX, Mood::Healthy);
    }),
    ("cancelled, the card was faster", |shop| {
        shop.arm(EntryRequest::Card);
        shop.reader.answers = 0;
        shop.cancel();
        (shop.reader.answers, shop.reader.mood) = (usize::MAX, Mood::Healthy);
        let card = shop.reader.card();
        shop.says_and_settles(false, &card);
        shop.says_and_settles(false, "9000");
    }),
    ("typing an amount", |shop| {
        shop.agent.sale += 1;
        (shop.agent.busy, shop.agent.typing) = (true, true);
        shop.session.order(ReaderOrder::TypeAmount(typing(&format!("{} amount EUR", shop.agent.sale))), shop.now);
        shop.exchange();
    }),
    ("typing, cancelled", |shop| {
        shop.agent.sale += 1;
        (shop.agent.busy, shop.agent.typing) = (true, true);
        shop.session.order(ReaderOrder::TypeAmount(typing(&format!("{} amount EUR", shop.agent.sale))), shop.now);
        shop.exchange();
        shop.reader.answers = 0;
        shop.cancel();
        (shop.reader.answers, shop.reader.mood) = (usize::MAX, Mood::Healthy);
    }),
    ("typing a card", |shop| shop.arm(EntryRequest::Manual)),
    ("typing its date", |shop| {
        shop.arm(EntryRequest::Manual);
        shop.says_and_settles(false, "9000");
    }),
    ("a typed card, the host is asked", |shop| {
        shop.arm(EntryRequest::Manual);
        shop.says_and_settles(false, "9000");
        shop.reader.answers = 0;
        shop.says_and_settles(false, "9000");
        (shop.reader.answers, shop.reader.mood) = (usize::MAX, Mood::Healthy);
        let masked = t("DFA208", &hex::encode("476173******0010"));
        shop.says_and_settles(false, &format!("{}9000", t("E1", &format!("{masked}{SEALED}"))));
        shop.reader.key = 0x5F;
    }),
];

/// A fault. Afterwards the reader works correctly unless it is dead.
type Fault = (&'static str, fn(&mut Shop));

const FAULTS: &[Fault] = &[
    ("the port is gone", |shop| {
        shop.session.closed("unplugged");
        shop.exchange();
    }),
    ("it says powered on", |shop| restarts(shop, "01")),
    ("it switches itself off", |shop| restarts(shop, "0A")),
    ("it reboots", |shop| restarts(shop, "0B")),
    ("its application restarts", |shop| restarts(shop, "0C")),
    ("it forgets (9F22)", |shop| forgets(shop, "9F22")),
    ("it forgets (9F26)", |shop| forgets(shop, "9F26")),
    ("garbage", |shop| {
        shop.session.bytes(&[0xFF, 0x00, 0x41, 0x54, 0x0D, 0x0A, 0x01, 0x00, 0xFF, 0xFF, 0x55, 0xAA], shop.now);
        shop.exchange();
    }),
    ("half a packet, then nothing", |shop| {
        shop.reader.mood = Mood::Dead;
        shop.session.bytes(&[0x01, 0x00, 0x20, 0xE4, 0x1E], shop.now);
        shop.exchange();
    }),
    ("half a packet, then as before", |shop| {
        shop.session.bytes(&[0x01, 0x01, 0xFE, 0xE4, 0x82, 0x01], shop.now);
        shop.exchange();
    }),
    ("the first packet of a chain, then as before", |shop| {
        shop.session.bytes(&hex::decode("0101061011121390 0096".replace(' ', "")).unwrap(), shop.now);
        shop.exchange();
    }),
    ("nothing comes any more", |shop| shop.reader.mood = Mood::Dead),
    ("the answer is spoiled", |shop| {
        let card = shop.reader.card();
        shop.reader.running = false;
        shop.spoiled(false, &card);
        shop.exchange();
    }),
    ("a card's event is spoiled", |shop| {
        shop.reader.slot = !shop.reader.slot;
        let status = if shop.reader.slot { CARD_IN } else { NO_CARD };
        shop.spoiled(true, status);
        shop.exchange();
    }),
    ("an empty answer that nobody asked for", |shop| unexpected(shop, "9000")),
    ("an E1 that nobody asked for", |shop| unexpected(shop, "E105DFAE0101079000")),
    ("an E3 that nobody asked for", |shop| unexpected(shop, E3)),
    ("an error that nobody asked for", |shop| unexpected(shop, "9F0D")),
    ("a flood of events", |shop| {
        let slot = if shop.reader.slot { CARD_IN } else { NO_CARD };
        for n in 0..60 {
            shop.says(true, &format!("E606C301C0C401{:02X}", 0x41 + n % 3));
            shop.says(true, "E005DFA2050135");
            shop.says(true, slot);
            shop.says(true, "E605DFA4010103");
        }
        shop.exchange();
    }),
];

fn restarts(shop: &mut Shop, code: &str) {
    shop.reader.mood = Mood::Dead;
    shop.says(true, &format!("E606C301{code}C40141"));
    shop.exchange();
}

/// Ends a running command with this status, and later commands too.
fn forgets(shop: &mut Shop, status: &'static str) {
    shop.reader.mood = Mood::Forgetful(status);
    if std::mem::take(&mut shop.reader.running) {
        shop.says(false, status);
    }
    shop.exchange();
}

/// Sends an answer that does not end the running command.
fn unexpected(shop: &mut Shop, answer: &str) {
    shop.says(false, answer);
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
    each((0..7).flat_map(|answered| FAULTS.iter().map(move |fault| (answered, fault))).map(|(answered, fault)| {
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
    let stages = STAGES.iter().filter(|stage| ["armed", "chip", "chip, CONTINUE", "remove card"].contains(&stage.0));
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
