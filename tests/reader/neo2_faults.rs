//! Every step of a sale with every fault of a NEO2 reader or its connection, in virtual time. Each case ends once
//! within the deadline, reports no card twice, approves no card twice, and is followed by a sale that works.
//!
//! The reader in this file answers as a NEO2 reader does (readers: 4). A comment marks each point where the documents
//! leave a choice.

use std::time::Duration;

use pos_reader::driver::PortAction;
use pos_reader::neo2::Neo2Session;
use pos_reader::neo2::message::Neo2Command;
use pos_reader::{EntryRequest, ReaderOrder};
use pos_reader_link::neo2_link::{Neo2Decoder, Neo2Direction, Neo2Received};
use pos_terms::transaction::SaleNumber;

use crate::fault_cases::{Agent, each};
use crate::neo2_trace::{
    AMOUNT, CONTACT, SEALED, TAP, block, card, card_ksn, frame, framed, key, ksn, masked_track2, neo2, pin, result,
    swipe, swipe_of, text, typed, unsealed,
};
use crate::trace::{arm, complete, settings, t};

/// The longest time that a sale may take after a fault. It begins with 120 s for a cardholder. The abort, and start-ups
/// with their waits follow. After a fault, no step depends on a person.
const LONGEST: Duration = Duration::from_secs(240);

/// The condition of the reader.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Healthy,
    /// The reader is silent until the port is opened again.
    Dead,
    /// The reader has restarted without a message. Until 01-01, it refuses the commands for a card with this status.
    Forgetful(&'static str),
}

/// The command whose answer is due, by its CMD.
const ACTIVATE: u8 = 0x02;
const CHIP: u8 = 0x60;
const PIN: u8 = 0x62;
const TYPED: u8 = 0x83;

struct Reader {
    mood: Mood,
    running: Option<u8>,
    /// The CMD of the last command that has run.
    last: u8,
    /// A chip has started, and waits for 60-11.
    started: bool,
    /// A chip waits for the gateway's answer.
    awaits: bool,
    /// A chip hears the gateway's answer. It asks for no other.
    is_told: bool,
    /// True if the fault has the form of an answer, so that the session cannot know what became of the card.
    lies: bool,
    /// True if cards are presented and host answers processed immediately.
    quick: bool,
    /// The number of commands that the reader still answers before it dies.
    answers: usize,
    key: u32,
    /// The number of cancellations. Their answers come in each published form in turn.
    cancelled: usize,
}

impl Reader {
    fn key(&mut self) -> u32 {
        self.key += 1;
        0x1000 + self.key
    }

    /// Returns the data of a chip that asks for the gateway. Each call uses another key.
    fn chip(&mut self, more: &str) -> String {
        format!("00 {}", card(CONTACT, "0004", self.key(), more))
    }

    /// Returns the data of a tap.
    fn tapped(&mut self, more: &str) -> String {
        format!("23 {}", card(TAP, "0004", self.key(), more))
    }

    /// Returns the data of the card that fits the running command.
    fn card(&mut self) -> String {
        match self.running {
            Some(CHIP) => self.chip(""),
            _ => self.tapped(""),
        }
    }

    fn swipe(&mut self, code: &str) -> String {
        format!("00 {}", swipe(code, self.key()))
    }

    fn pin(&mut self) -> String {
        format!("00 {}", pin(self.key()))
    }

    fn inserted() -> String {
        format!("00 {}{CONTACT}", result("0010"))
    }

    /// Ends the running command with its status and data.
    fn ends(&mut self, answer: &str) -> String {
        // A message without a command has no owner.
        let running = self.running.take();
        let command = running.unwrap_or(self.last);
        self.started = running.is_some() && answer.contains("DFEE25020010");
        let is_told = std::mem::take(&mut self.is_told);
        self.awaits = running == Some(CHIP) && !is_told && answer.contains("DFEE25020004");
        format!("{command:02X}-{answer}")
    }

    fn begins(&mut self, command: u8) {
        assert!(!self.awaits || self.lies, "a card was left without an answer");
        (self.running, self.last, self.started, self.awaits) = (Some(command), command, false, false);
        self.is_told = false;
    }

    fn hears(&mut self, command: &Neo2Command<'_>) -> Vec<String> {
        if self.answers == 0 {
            self.mood = Mood::Dead;
        }
        self.answers = self.answers.saturating_sub(1);
        if self.mood == Mood::Dead {
            return Vec::new();
        }
        let [cmd, _] = command.code();
        let says = |answer: &str| vec![format!("{cmd:02X}-{answer}")];
        let is_for_card = matches!(cmd, ACTIVATE | CHIP | PIN | TYPED);
        match (command, self.mood, self.running) {
            // The host's answer to a call-back is no command.
            (Neo2Command::Displayed { .. } | Neo2Command::RefusePin, ..) => Vec::new(),
            (Neo2Command::CancelKeypad, _, Some(PIN)) => self.cancel("62-00", "0A 02"),
            (Neo2Command::Cancel, _, Some(ACTIVATE | CHIP | TYPED)) => {
                (self.started, self.awaits) = (false, false);
                self.cancel("05-00", "0A")
            }
            (_, _, Some(_)) => says("0B"),
            (Neo2Command::Cancel, _, None) => {
                (self.started, self.awaits) = (false, false);
                says("00")
            }
            (Neo2Command::PollMode { .. }, ..) => {
                self.mood = Mood::Healthy;
                says("00")
            }
            (_, Mood::Forgetful(status), None) if is_for_card => says(status),
            (Neo2Command::Activate(_), ..) => {
                self.begins(ACTIVATE);
                self.at_once(&[], |reader| reader.tapped(""))
            }
            (Neo2Command::StartContact(_), ..) => {
                self.begins(CHIP);
                self.at_once(&["60-63"], |_| Self::inserted())
            }
            (Neo2Command::Authenticate { .. }, ..) if std::mem::take(&mut self.started) => {
                (self.running, self.last) = (Some(CHIP), CHIP);
                self.at_once(&["60-63"], |reader| reader.chip(""))
            }
            (Neo2Command::ApplyHostResponse(_), ..) if std::mem::take(&mut self.awaits) => {
                (self.running, self.last, self.is_told) = (Some(CHIP), CHIP, true);
                self.at_once(&["60-63"], |_| format!("00 {}", result("0002")))
            }
            (Neo2Command::Authenticate { .. } | Neo2Command::ApplyHostResponse(_), ..) => says("0B"),
            (Neo2Command::EncryptedPin { .. }, ..) => {
                // The dialogue with a chip goes on after its PIN.
                let awaits = self.awaits;
                (self.running, self.last) = (Some(PIN), PIN);
                let answers = self.at_once(&["62-63"], Self::pin);
                self.awaits = awaits;
                answers
            }
            (Neo2Command::ManualPan { .. }, ..) => {
                self.begins(TYPED);
                self.at_once(&[], |reader| format!("00 {}", typed(reader.key())))
            }
            (Neo2Command::SerialNumber, ..) => says("00 3330303033363338"),
            (Neo2Command::FirmwareVersion | Neo2Command::KernelVersion, ..) => says("00 565036383030205631"),
            (Neo2Command::Ksn(_), ..) => says(&format!("00 {}", key(1))),
            (Neo2Command::EncryptionSwitch, ..) => says("00 03"),
            _ => says("00"),
        }
    }

    /// Ends the running command. It is not published whether it still answers, and in which order.
    fn cancel(&mut self, own: &str, ended: &str) -> Vec<String> {
        self.cancelled += 1;
        let awaits = self.awaits && self.running == Some(PIN);
        let ended = self.ends(ended);
        self.awaits = awaits;
        match self.cancelled % 3 {
            0 => vec![own.to_owned()],
            1 => vec![own.to_owned(), ended],
            _ => vec![ended, own.to_owned()],
        }
    }

    /// Answers a command of which the first response is `first`.
    fn at_once(&mut self, first: &[&str], result: fn(&mut Self) -> String) -> Vec<String> {
        let mut said: Vec<String> = first.iter().map(|&first| first.to_owned()).collect();
        if self.quick {
            let result = result(self);
            said.push(self.ends(&result));
        }
        said
    }
}

struct Shop {
    session: Neo2Session,
    /// The reader's side of the line.
    decoder: Neo2Decoder,
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
        let reader = Reader {
            mood: Mood::Healthy,
            running: None,
            last: ACTIVATE,
            started: false,
            awaits: false,
            is_told: false,
            lies: false,
            quick: false,
            answers: usize::MAX,
            key: 0,
            cancelled: 0,
        };
        let session = Neo2Session::new(settings(), neo2());
        let decoder = Neo2Decoder::new(Neo2Direction::Command);
        let (agent, approved) = (Agent::default(), Vec::new());
        Self { session, decoder, reader, agent, now: Duration::ZERO, reopen_at: None, approved, name }
    }

    fn started(name: String) -> Self {
        let mut shop = Self::new(name);
        shop.session.opened(shop.now);
        shop.exchange();
        assert!(shop.agent.ready);
        shop
    }

    fn says(&mut self, message: &str) {
        self.session.bytes(&frame(message), self.now);
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.session.bytes(bytes, self.now);
        self.exchange();
    }

    fn event(&mut self, message: &str) {
        self.says(message);
        self.exchange();
    }

    /// Ends the running command with this status and data.
    fn result(&mut self, answer: &str) {
        let awaits = self.reader.awaits && self.reader.running == Some(PIN);
        let answer = self.reader.ends(answer);
        self.reader.awaits |= awaits;
        self.event(&answer);
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
                Some(PortAction::Report(event)) => self.agent.hears(&event),
                Some(PortAction::Write(bytes)) => {
                    let mut answers = Vec::new();
                    let Self { decoder, reader, agent, approved, name, .. } = self;
                    decoder.feed(&bytes, |received| {
                        let Neo2Received::Frame(frame) = received else { panic!("{received:?} to the reader") };
                        let command = Neo2Command::parse(&frame).unwrap();
                        if matches!(command, Neo2Command::ApplyHostResponse(host) if host.arc == *b"00") {
                            assert!(!approved.contains(&agent.sale), "{name}: approved twice");
                            approved.push(agent.sale);
                        }
                        answers = reader.hears(&command);
                    });
                    answers.iter().for_each(|answer| self.says(answer));
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
            (self.reader.mood, self.reader.running, self.reader.answers) = (Mood::Healthy, None, usize::MAX);
            (self.reader.started, self.reader.awaits) = (false, false);
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

    /// Reads a chip up to the start of its decision.
    fn chip(&mut self) {
        self.arm(EntryRequest::Card);
        self.result(&Reader::inserted());
        assert_eq!(self.reader.running, Some(CHIP));
    }

    fn chip_is_read(&mut self) {
        self.chip();
        let card = self.reader.chip("");
        self.result(&card);
        assert!(self.agent.card);
    }

    fn chip_asks_for_pin(&mut self) {
        self.chip();
        let card = self.reader.chip("9F3403420300");
        self.result(&card);
        assert_eq!(self.reader.running, Some(PIN));
    }

    fn tap(&mut self) {
        self.arm(EntryRequest::Card);
        let card = self.reader.tapped("");
        self.result(&card);
        assert!(self.agent.card);
    }

    fn swipe(&mut self, code: &str) {
        self.arm(EntryRequest::Card);
        let swipe = self.reader.swipe(code);
        self.result(&swipe);
    }
}

/// A step and a function that brings a shop to it. The fault, or time, does the rest.
type Stage = (&'static str, fn(&mut Shop));

const STAGES: &[Stage] = &[
    ("idle", |_| {}),
    ("idle, the check is out", |shop| shop.unheard(Shop::step)),
    ("armed", |shop| shop.arm(EntryRequest::Card)),
    ("armed, the wait has not begun", |shop| shop.unheard(|shop| shop.arm(EntryRequest::Card))),
    ("armed for a chip", |shop| shop.arm(EntryRequest::Chip)),
    ("a second tap", |shop| {
        shop.arm(EntryRequest::Card);
        shop.result("0A");
        assert_eq!(shop.reader.running, Some(ACTIVATE));
    }),
    ("tap, the host is asked", Shop::tap),
    ("tap, online PIN", |shop| {
        shop.arm(EntryRequest::Card);
        let card = shop.reader.tapped("9F3403420300");
        shop.result(&card);
        assert_eq!(shop.reader.running, Some(PIN));
    }),
    ("swiped, the host is asked", |shop| {
        shop.swipe("101");
        assert!(shop.agent.card);
    }),
    ("swiped, the card has a chip", |shop| {
        shop.swipe("201");
        assert_eq!(shop.reader.running, Some(ACTIVATE));
    }),
    ("PIN of a swipe", |shop| {
        shop.swipe("120");
        assert_eq!(shop.reader.running, Some(PIN));
    }),
    ("PIN of a swipe, the host is asked", |shop| {
        shop.swipe("120");
        let pin = shop.reader.pin();
        shop.result(&pin);
        assert!(shop.agent.card);
    }),
    ("inserted, the chip is being started", |shop| {
        shop.arm(EntryRequest::Card);
        shop.result(&format!("00 {CONTACT}"));
        assert_eq!(shop.reader.running, Some(CHIP));
    }),
    ("inserted, the start has not begun", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(|shop| shop.result(&format!("00 {CONTACT}")));
    }),
    ("chip", Shop::chip),
    ("chip, the decision has not begun", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(|shop| shop.result(&Reader::inserted()));
    }),
    ("chip, a text", |shop| {
        shop.chip();
        shop.event(&format!("61-01 {}", text("03", &["\u{1}PLEASE WAIT"])));
    }),
    ("chip, a menu", |shop| {
        shop.chip();
        shop.event(&format!("61-01 {}", text("01", &["\u{1}VISA", "\u{2}OTHER"])));
    }),
    ("the chip failed", |shop| {
        shop.chip();
        shop.result("0A");
        assert_eq!(shop.reader.running, Some(ACTIVATE));
    }),
    ("the chip failed for good", |shop| {
        shop.chip();
        shop.result("0A");
        for _ in 0..2 {
            shop.result(&Reader::inserted());
            shop.result("0A");
        }
        assert_eq!(shop.reader.running, Some(ACTIVATE));
    }),
    ("chip, online PIN", Shop::chip_asks_for_pin),
    ("chip, online PIN, not begun", |shop| {
        shop.chip();
        let card = shop.reader.chip("9F3403420300");
        shop.unheard(|shop| shop.result(&card));
    }),
    ("chip, online PIN, the host is asked", |shop| {
        shop.chip_asks_for_pin();
        let pin = shop.reader.pin();
        shop.result(&pin);
        assert!(shop.agent.card);
    }),
    ("chip, the PIN is being cancelled", |shop| {
        shop.chip_asks_for_pin();
        shop.unheard(Shop::cancel);
    }),
    ("chip, without its PIN, being declined", |shop| {
        shop.chip_asks_for_pin();
        shop.result("00 01");
        assert_eq!(shop.reader.running, Some(CHIP));
    }),
    ("chip, the host is asked", Shop::chip_is_read),
    ("chip, the host's answer", |shop| {
        shop.chip_is_read();
        shop.complete("00");
        assert_eq!(shop.reader.running, Some(CHIP));
    }),
    ("chip, the host's answer has not begun", |shop| {
        shop.chip_is_read();
        shop.unheard(|shop| shop.complete("00"));
    }),
    ("chip, the host's refusal", |shop| {
        shop.chip_is_read();
        shop.complete("05");
    }),
    ("cancelled", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(Shop::cancel);
    }),
    ("cancelled, the tap was faster", |shop| {
        shop.arm(EntryRequest::Card);
        shop.unheard(Shop::cancel);
        shop.reader.running = Some(ACTIVATE);
        let card = shop.reader.tapped("");
        shop.result(&card);
        shop.event("05-00");
    }),
    ("chip, cancelled", |shop| {
        shop.chip();
        shop.unheard(Shop::cancel);
    }),
    ("cancelled, the chip was faster", |shop| {
        shop.chip();
        shop.unheard(Shop::cancel);
        let card = shop.reader.chip("");
        shop.result(&card);
        shop.event("05-00");
    }),
    ("another amount, being declined", |shop| {
        shop.chip();
        let card = shop.reader.chip("").replace(AMOUNT, "9F0206000000009999");
        shop.result(&card);
        assert_eq!(shop.reader.running, Some(CHIP));
    }),
    ("typing a card", |shop| shop.arm(EntryRequest::Manual)),
    ("typing a card, cancelled", |shop| {
        shop.arm(EntryRequest::Manual);
        shop.unheard(Shop::cancel);
    }),
    ("a typed card, the host is asked", |shop| {
        shop.arm(EntryRequest::Manual);
        let typed = format!("00 {}", typed(shop.reader.key()));
        shop.result(&typed);
        assert!(shop.agent.card);
    }),
];

/// A fault. Afterwards the reader works correctly unless it is dead.
type Fault = (&'static str, fn(&mut Shop));

const HEADER: &[u8] = b"ViVOtech2\0";

const FAULTS: &[Fault] = &[
    ("the port is gone", |shop| {
        shop.session.closed("unplugged");
        shop.exchange();
    }),
    ("it restarts (14-01)", |shop| {
        (shop.reader.running, shop.reader.started, shop.reader.awaits) = (None, false, false);
        shop.event("14-01");
    }),
    ("it restarts without a word (0B)", |shop| restarts(shop, "0B")),
    ("it restarts without a word (0C)", |shop| restarts(shop, "0C")),
    ("it refuses (0B)", |shop| refuses(shop, "0B")),
    ("it refuses (05)", |shop| refuses(shop, "05")),
    ("it does not know the command (02)", |shop| refuses(shop, "02")),
    ("it received a damaged frame (04)", |shop| refuses(shop, "04")),
    ("it failed (0A)", |shop| refuses(shop, "0A")),
    ("its time is over (08)", |shop| refuses(shop, "08")),
    ("it was opened (1D)", |shop| refuses(shop, "1D")),
    ("an unknown status (99)", |shop| refuses(shop, "99")),
    ("garbage", |shop| shop.raw(&[0xFF, 0x00, 0x41, 0x54, 0x0D, 0x0A, 0x56, 0x69, 0x56, 0x4F, 0x55, 0xAA])),
    ("much garbage", |shop| shop.raw(&[0x56; 300])),
    ("another device on the port", |shop| {
        for _ in 0..20 {
            shop.raw(b"\r\n+CSQ: 17,99\r\nOK\r\n$GPGGA,123519,4807.038,N*47\r\n");
        }
    }),
    ("a reader of another family", |shop| shop.raw(&[0x01, 0x00, 0x02, 0x90, 0x00, 0x93])),
    ("half a frame, then nothing", |shop| {
        shop.reader.mood = Mood::Dead;
        shop.raw(&frame("02-00 DFEE25020010")[..17]);
    }),
    ("half a frame, then as before", |shop| shop.raw(&frame("02-00 DFEE25020010")[..17])),
    ("a length that is too long", |shop| shop.raw(&[HEADER, &[2, 0, 0x0F, 0xFF], &[0x9C; 40]].concat())),
    ("a length beyond every frame", |shop| shop.raw(&[HEADER, &[2, 0, 0xFF, 0xFF], &[0x9C; 40]].concat())),
    ("a length that is too short", |shop| {
        let mut bytes = frame("02-00 DFEE25020010");
        bytes[13] -= 1;
        shop.raw(&bytes);
    }),
    ("frames without an end", |shop| {
        for _ in 0..300 {
            shop.session.bytes(&[HEADER, &[2, 0, 0x0F, 0xFF], &[0; 400]].concat(), shop.now);
        }
        shop.exchange();
    }),
    ("nothing comes any more", |shop| shop.reader.mood = Mood::Dead),
    ("the answer's CRC is wrong", |shop| spoiled(shop, |bytes| *bytes.last_mut().unwrap() ^= 0x20)),
    ("the answer's CRC has the other order", |shop| {
        spoiled(shop, |bytes| {
            let end = bytes.len();
            bytes.swap(end - 2, end - 1);
        });
    }),
    ("the answer's header is wrong", |shop| spoiled(shop, |bytes| bytes[8] = b'3')),
    ("the answer's data are wrong", |shop| spoiled(shop, |bytes| bytes[20] ^= 0x01)),
    ("a block with a wrong LRC", |shop| {
        let key = shop.reader.key();
        let mut block = block(0x80, &masked_track2("101"), false, key);
        let at = block.len() - 6;
        block.replace_range(at..at + 2, "5C");
        shop.result(&format!("00 {}", swipe_of(&block, "90")));
    }),
    ("a block whose lengths lie", |shop| {
        let head = [0x80, 0x02, 0, 200, 0, 0x02, 0x82];
        shop.result(&format!("00 {}", swipe_of(&framed(&[&head[..], &[b'*'; 30]].concat()), "90")));
    }),
    ("an answer to a ping that nobody asked for", |shop| unexpected(shop, "18-00")),
    ("an identity that nobody asked for", |shop| unexpected(shop, "12-00 3330303033363338")),
    ("a key that nobody asked for", |shop| unexpected(shop, "81-00 00")),
    ("a cancellation that nobody asked for", |shop| unexpected(shop, "05-00")),
    ("an end of a PIN that nobody asked for", |shop| unexpected(shop, "62-00")),
    ("a PIN that nobody asked for", |shop| {
        let pin = shop.reader.pin();
        unexpected(shop, &format!("62-{pin}"));
    }),
    ("a card's last word that nobody asked for", |shop| unexpected(shop, &format!("60-00 {}", result("0002")))),
    ("a first response that nobody asked for", |shop| unexpected(shop, "60-63")),
    ("an empty answer that nobody asked for", |shop| unexpected(shop, "02-00")),
    ("an error of an unknown command", |shop| unexpected(shop, "99-02")),
    ("answers of last week", |shop| {
        let old = shop.reader.tapped("").replace(AMOUNT, "9F0206000000009999");
        for answer in ["05-00", "02-0A", &format!("02-{old}"), "62-0A 02", "83-08"] {
            unexpected(shop, answer);
        }
    }),
    ("the answer comes twice", |shop| {
        let card = shop.reader.card();
        let card = shop.reader.ends(&card);
        shop.says(&card);
        shop.says(&card);
        shop.exchange();
        shop.event(&card);
    }),
    ("the answer comes late", |shop| {
        let running = shop.reader.running;
        let card = shop.reader.card();
        shop.reader.mood = Mood::Dead;
        for _ in 0..2 {
            // The gateway is not late.
            if shop.reopen_at.is_none() && shop.session.deadline().is_some() && !shop.agent.card {
                shop.step();
            }
        }
        shop.reader.mood = Mood::Healthy;
        if running.is_some() && shop.reopen_at.is_none() {
            shop.reader.lies = true;
            shop.result(&card);
        }
    }),
    ("a malformed answer", |shop| shop.result("00 DFEE250200049F0220000000001234")),
    ("an answer with two results", |shop| {
        let card = shop.reader.card();
        shop.reader.lies = true;
        shop.result(&format!("{card}{}", result("0003")));
    }),
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
    ("no sealed data", |shop| badly_sealed(shop, |_| String::new())),
    ("no KSN", |shop| badly_sealed(shop, |_| SEALED.to_owned())),
    ("a short KSN", |shop| badly_sealed(shop, |_| format!("{}{SEALED}", t("DFEE12", "FFFF98765432")))),
    ("two KSNs", |shop| badly_sealed(shop, |key| format!("{}{}{SEALED}", card_ksn(key), card_ksn(key + 1)))),
    ("a cipher that the KSN does not fit", |shop| {
        badly_sealed(shop, |key| format!("{}{SEALED}", t("DFEE12", &format!("0000{}", ksn(key)))));
    }),
    ("a ciphertext that is no block", |shop| badly_sealed(shop, |key| format!("{}57C103AE5BC2", card_ksn(key)))),
    ("a ciphertext of zeros", |shop| {
        badly_sealed(shop, |key| format!("{}57C118{}", card_ksn(key), "00".repeat(24)));
    }),
    ("an encryption that is off", |shop| {
        let card = shop.reader.card().replace("DFEE2601C", "DFEE26010");
        shop.result(&card);
    }),
    ("a flood of call-backs", |shop| {
        for n in 0..60 {
            shop.says(&format!("61-01 {}", text("03", &[&format!("\u{1}TEXT {}", n % 3)])));
            shop.says(&format!("61-01 {}", text("01", &["\u{1}VISA"])));
            shop.says("61-02 00");
        }
        shop.exchange();
    }),
    ("a flood without an end", |shop| {
        for _ in 0..1000 {
            shop.says(&format!("61-01 {}", text("03", &["\u{1}WAIT"])));
        }
        shop.exchange();
    }),
];

/// Loses the running command, and refuses commands for a card.
fn restarts(shop: &mut Shop, status: &'static str) {
    shop.reader.mood = Mood::Forgetful(status);
    (shop.reader.running, shop.reader.started, shop.reader.awaits) = (None, false, false);
}

/// Ends a running command with this status.
fn refuses(shop: &mut Shop, status: &str) {
    if shop.reader.running.is_some() {
        shop.result(status);
    }
}

/// Damages the running command's answer in transit.
fn spoiled(shop: &mut Shop, damage: fn(&mut [u8])) {
    let card = shop.reader.card();
    let card = shop.reader.ends(&card);
    let mut bytes = frame(&card);
    damage(&mut bytes);
    shop.raw(&bytes);
}

/// Sends a message that does not end the running command.
fn unexpected(shop: &mut Shop, answer: &str) {
    shop.reader.lies = true;
    shop.event(answer);
}

fn badly_sealed(shop: &mut Shop, sealed: fn(u32) -> String) {
    let key = shop.reader.key();
    let from = if shop.reader.running == Some(CHIP) { CONTACT } else { TAP };
    shop.result(&format!("00 {}", unsealed(from, "0004", &sealed(key))));
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
    each((0..9).flat_map(|answered| FAULTS.iter().map(move |fault| (answered, fault))).map(|(answered, fault)| {
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

/// One fault of each kind.
const KINDS: [&str; 12] = [
    "it restarts without a word (0B)",
    "it refuses (05)",
    "it failed (0A)",
    "half a frame, then nothing",
    "nothing comes any more",
    "the answer's CRC is wrong",
    "a cancellation that nobody asked for",
    "answers of last week",
    "the answer comes twice",
    "the answer comes late",
    "another amount",
    "no sealed data",
];

/// Causes two faults in sequence, because some faults matter only after another one.
#[test]
fn every_pair_of_faults_while_a_card_is_read() {
    let stages = STAGES.iter().filter(|stage| {
        ["armed", "chip", "chip, online PIN", "chip, the host's answer", "PIN of a swipe"].contains(&stage.0)
    });
    let faults: Vec<&Fault> = FAULTS.iter().filter(|fault| KINDS.contains(&fault.0)).collect();
    assert_eq!(faults.len(), KINDS.len());
    let pairs = stages.flat_map(|stage| faults.iter().map(move |first| (stage, *first)));
    let triples = pairs.flat_map(|(stage, first)| faults.iter().map(move |second| (stage, first, *second)));
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
