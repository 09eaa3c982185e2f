//! The line to the reader as the rules see it: one command at a time, its deadline, ABORT beside it (readers: 2.1,
//! 2.8), what is to go out, and how long to wait before the port is opened again.

use std::collections::VecDeque;
use std::time::Duration;

use tracing::{debug, warn};

use super::clock::ReaderClock;
use super::message::{Command, Status};
use super::session::Output;
use crate::reader::keys::Keys;
use crate::reader::link::Packets;
use crate::reader::{Event, Identity, Settings, Step, Unready};
use crate::transaction::SaleNumber;

/// A plain command's answer. The vendor names none; its own programs' advice (readers: 2.1).
pub(super) const PLAIN_ANSWER: Duration = Duration::from_secs(5);
/// A command during which the cardholder may choose an application and enter a PIN: a slow person needs a minute.
pub(super) const CARDHOLDER: Duration = Duration::from_secs(120);
/// The answers that ABORT brings about.
pub(super) const ABORT_ANSWER: Duration = Duration::from_secs(5);

/// First and longest wait before the port is opened again; doubled each time in between. A reader boots in some ten
/// seconds.
const REOPEN_FIRST: Duration = Duration::from_millis(500);
const REOPEN_LONGEST: Duration = Duration::from_secs(10);
/// First and longest wait before a reader that floods is listened to again; doubled each time in between.
const FLOOD_FIRST: Duration = Duration::from_secs(2);
const FLOOD_LONGEST: Duration = Duration::from_secs(60);
/// Floods that are longer ago are forgotten.
const FLOOD_FORGOTTEN: Duration = Duration::from_secs(600);

/// A command whose answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    FirstAbort,
    Reset,
    P2peStatus,
    DeviceInfo,
    Configuration,
    ClockSet,
    ClockGet,
    /// Answered by an unsolicited message (readers: 2.2).
    CardStatus,
    Keyboard,
    Contactless,
    Start,
    Continue,
    OnlinePin,
    /// GET NUMERIC DATA, GET DYNAMIC TIP.
    Amount,
    /// GET SECURE DATA, GET SECURE PAN.
    TypedCard,
    Display,
    /// GET SECURE DATA that forgets what was typed.
    Forget,
}

impl Ask {
    /// A plain command beside what the state is about: its answer changes nothing, but a reader that gives none is
    /// lost.
    pub(super) fn is_aside(self) -> bool {
        matches!(self, Self::ClockSet | Self::CardStatus | Self::Display | Self::Forget)
    }
}

/// The awaited answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) ask: Ask,
    pub(super) name: &'static str,
    pub(super) deadline: Duration,
    /// Bytes were lost meanwhile: the answer may have been among them.
    pub(super) disturbed: bool,
}

struct Queued {
    ask: Ask,
    name: &'static str,
    packets: Packets,
    patience: Duration,
}

pub(super) struct Line {
    pub(super) settings: Settings,
    pub(super) identity: Option<Identity>,
    /// A card is in the slot, as far as we were told.
    pub(super) slot: bool,
    /// Commands may be longer than one packet.
    pub(super) extended: bool,
    /// The keys that were seen; they outlive a connection.
    pub(super) keys: Keys,
    /// When the reader's clock was set.
    pub(super) clock: ReaderClock,
    /// When an idle reader is asked next.
    pub(super) check_at: Duration,
    out: VecDeque<Output>,
    pending: Option<Pending>,
    /// Until when the ABORT's own answer is awaited.
    abort: Option<Duration>,
    queue: VecDeque<Queued>,
    /// The last [`Unready`] that was told and not made up for by a [`Event::Ready`].
    told: Option<Unready>,
    failures: u32,
    /// How often it has flooded, and when it did last. A start that was good does not make up for it.
    floods: u32,
    flooded_at: Duration,
}

/// What a solicited message is (readers: 2.8).
pub(super) enum Answered {
    /// The ABORT's own.
    Abort,
    /// The awaited command's.
    Command(Pending),
    /// Nobody's.
    Nobody,
}

impl Line {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            identity: None,
            slot: false,
            extended: false,
            keys: Keys::default(),
            clock: ReaderClock::default(),
            check_at: Duration::ZERO,
            out: VecDeque::new(),
            pending: None,
            abort: None,
            queue: VecDeque::new(),
            told: None,
            failures: 0,
            floods: 0,
            flooded_at: Duration::ZERO,
        }
    }

    /// Sends a command, at once or when the one before is answered.
    pub(super) fn ask(&mut self, ask: Ask, command: &Command<'_>, patience: Duration, now: Duration) {
        let name = command.name();
        match command.packets(self.extended) {
            Ok(packets) => self.queue.push_back(Queued { ask, name, packets, patience }),
            // Every caller keeps within the limit; a command that could not be written is like one that is never
            // answered.
            Err(error) => {
                warn!(name, %error, "command not sent");
                self.pending = Some(Pending { ask, name, deadline: now, disturbed: false });
            }
        }
        self.advance(now);
    }

    /// Asks for a card-status message, outside of the order of commands: there is no solicited answer to it.
    pub(super) fn ask_card_status(&mut self, now: Duration) {
        if self.is_free()
            && let Ok(packet) = CARD_STATUS_ON.encode()
        {
            debug!(name = CARD_STATUS_ON.name(), at = ?now, "command");
            self.out.push_back(Output::Transmit(packet));
        }
    }

    /// Sends ABORT beside the awaited command and forgets what was not sent yet.
    pub(super) fn abort(&mut self, now: Duration) {
        self.queue.clear();
        if let Some(pending) = &mut self.pending {
            pending.deadline = now + ABORT_ANSWER;
        }
        if self.abort.is_none()
            && let Ok(packet) = Command::Abort.encode()
        {
            debug!(name = Command::Abort.name(), "command");
            self.out.push_back(Output::Transmit(packet));
        }
        self.abort = Some(now + ABORT_ANSWER);
    }

    /// Whose a solicited message is. While an ABORT is outstanding two answers are expected, in any order: an empty
    /// body with 9000 is the ABORT's.
    pub(super) fn answered(&mut self, body: &[u8], status: Status) -> Answered {
        if self.abort.is_some() && body.is_empty() && status == Status::OK {
            self.abort = None;
            return Answered::Abort;
        }
        // CARD STATUS is answered by an unsolicited message only.
        match self.pending.take_if(|pending| pending.ask != Ask::CardStatus) {
            Some(pending) => Answered::Command(pending),
            None => Answered::Nobody,
        }
    }

    /// A card-status message came: whether it is the awaited answer.
    pub(super) fn card_status_came(&mut self) -> bool {
        self.pending.take_if(|pending| pending.ask == Ask::CardStatus).is_some()
    }

    /// Goes on waiting: what came was not the answer.
    pub(super) fn wait_on(&mut self, pending: Pending) {
        self.pending = Some(pending);
    }

    /// Sends what is queued, when nothing is outstanding.
    pub(super) fn advance(&mut self, now: Duration) {
        if self.pending.is_some() || self.abort.is_some() {
            return;
        }
        if let Some(Queued { ask, name, packets, patience }) = self.queue.pop_front() {
            debug!(name, bytes = packets.iter().map(|packet| packet.len()).sum::<usize>(), "command");
            self.pending = Some(Pending { ask, name, deadline: now + patience, disturbed: false });
            self.out.extend(packets.into_iter().map(Output::Transmit));
        }
    }

    /// Nothing is outstanding or queued.
    pub(super) fn is_free(&self) -> bool {
        self.pending.is_none() && self.abort.is_none() && self.queue.is_empty()
    }

    /// A command during which people do something is running: only ABORT ends it.
    pub(super) fn runs_transaction(&self) -> bool {
        let cardholder = |pending: &Pending| {
            matches!(
                pending.ask,
                Ask::Contactless | Ask::Start | Ask::Continue | Ask::OnlinePin | Ask::Amount | Ask::TypedCard
            )
        };
        self.pending.as_ref().is_some_and(cardholder)
    }

    /// The awaited answer must come within `patience`, if it was to come later.
    pub(super) fn hurry(&mut self, patience: Duration, now: Duration) {
        if let Some(pending) = &mut self.pending {
            pending.deadline = pending.deadline.min(now + patience);
        }
    }

    /// Bytes were lost: there is no repetition, so the awaited answer may never come (readers: 2.1).
    pub(super) fn disturbed(&mut self, now: Duration) {
        self.hurry(PLAIN_ANSWER, now);
        if let Some(pending) = &mut self.pending {
            pending.disturbed = true;
        }
    }

    /// The next deadline of a command or an ABORT.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.pending.map(|pending| pending.deadline).into_iter().chain(self.abort).min()
    }

    /// Whether the ABORT was not answered in time.
    pub(super) fn abort_overdue(&self, now: Duration) -> bool {
        self.abort.is_some_and(|deadline| deadline <= now)
    }

    /// The command that was not answered in time; it stays awaited until its state decides.
    pub(super) fn overdue(&self, now: Duration) -> Option<Pending> {
        self.pending.filter(|pending| pending.deadline <= now)
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.out.push_back(Output::Event(event));
    }

    pub(super) fn step(&mut self, sale: SaleNumber, step: Step) {
        self.emit(Event::Step { sale, step });
    }

    pub(super) fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    pub(super) fn ready(&mut self, identity: Identity) {
        self.failures = 0;
        self.told = None;
        self.identity = Some(identity.clone());
        self.emit(Event::Ready(identity));
    }

    /// Tells it once, however often it is found again.
    pub(super) fn unready(&mut self, why: Unready) {
        if self.told.as_ref() != Some(&why) {
            self.told = Some(why.clone());
            self.emit(Event::Unready(why));
        }
    }

    /// How many keys are left.
    pub(super) fn keys_left(&mut self) {
        let (card, pin) = self.keys.left();
        self.emit(Event::KeysLeft { card, pin });
    }

    /// Gives up this connection: tells why, forgets what is outstanding, and has the port opened anew after a while.
    pub(super) fn reopen(&mut self, why: Unready) {
        self.unready(why);
        self.forget();
        let after = REOPEN_FIRST.saturating_mul(1 << self.failures.min(16)).min(REOPEN_LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.out.push_back(Output::Reopen { after });
    }

    /// Gives up this connection because the reader sends without end: it is not listened to for a while, longer each
    /// time.
    pub(super) fn reopen_after_flood(&mut self, now: Duration) {
        if now.saturating_sub(self.flooded_at) >= FLOOD_FORGOTTEN {
            self.floods = 0;
        }
        let after = FLOOD_FIRST.saturating_mul(1 << self.floods.min(16)).min(FLOOD_LONGEST);
        (self.floods, self.flooded_at) = (self.floods.saturating_add(1), now);
        self.unready(Unready::Flooding { port: self.settings.port.clone(), wait_s: after.as_secs() });
        self.forget();
        self.out.push_back(Output::Reopen { after });
    }

    pub(super) fn forget(&mut self) {
        self.out.retain(|output| matches!(output, Output::Event(_)));
        self.queue.clear();
        self.pending = None;
        self.abort = None;
        self.slot = false;
    }

    pub(super) fn serial(&self) -> String {
        self.identity.as_ref().map(|identity| identity.serial.clone()).unwrap_or_default()
    }
}

/// Everything on: unsolicited messages, ATR, three tracks.
pub(super) const CARD_STATUS_ON: Command<'static> = Command::CardStatus { flags: 0x1F };
