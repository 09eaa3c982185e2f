//! The line to the reader as the rules see it: one command at a time, its deadline, ABORT beside it (readers: 2.1,
//! 2.8), and what is known of the reader at its other end.

use std::collections::VecDeque;
use std::time::Duration;

use tracing::{debug, warn};

use super::message::{MpiCommand, StatusWord};
use super::settings::MiuraSettings;
use crate::clock_setting::ClockSetting;
use crate::keys::KeySets;
use crate::outbox::Outbox;
use crate::{ReaderEvent, ReaderIdentity, ReaderProgress, ReaderSettings, Unready};
use pos_reader_link::apdu_link::Packets;
use pos_terms::transaction::SaleNumber;

/// A plain command's answer. The vendor names none; its own programs' advice (readers: 2.1).
pub(super) const PLAIN_ANSWER: Duration = Duration::from_secs(5);
/// A command during which the cardholder may choose an application and enter a PIN: a slow person needs a minute.
pub(super) const CARDHOLDER: Duration = Duration::from_secs(120);
/// The answers that ABORT brings about.
pub(super) const ABORT_ANSWER: Duration = Duration::from_secs(5);

/// A command whose answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandPurpose {
    /// ABORT, before anything else: it answers for itself.
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

impl CommandPurpose {
    /// A plain command beside what the state is about: its answer changes nothing, but a reader that gives none is
    /// lost.
    pub(super) fn is_aside(self) -> bool {
        matches!(self, Self::ClockSet | Self::CardStatus | Self::Display | Self::Forget)
    }
}

/// The awaited answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingAnswer {
    pub(super) purpose: CommandPurpose,
    pub(super) name: &'static str,
    pub(super) deadline: Duration,
    /// Bytes were lost meanwhile: the answer may have been among them.
    pub(super) disturbed: bool,
}

struct QueuedCommand {
    purpose: CommandPurpose,
    name: &'static str,
    packets: Packets,
    patience: Duration,
}

/// The line to one reader, and what is known of that reader.
pub(super) struct ReaderLine {
    pub(super) settings: ReaderSettings,
    pub(super) miura: MiuraSettings,
    /// What goes out to port and agent.
    pub(super) out: Outbox,
    pub(super) identity: Option<ReaderIdentity>,
    /// A card is in the slot, as far as we were told.
    pub(super) slot: bool,
    /// Commands may be longer than one packet.
    pub(super) extended: bool,
    /// The keys that were seen; they outlive a connection.
    pub(super) keys: KeySets,
    /// When the reader's clock was set.
    pub(super) clock: ClockSetting,
    /// The clock is to be set as soon as the reader is idle.
    pub(super) clock_is_due: bool,
    /// When an idle reader is asked next.
    pub(super) check_at: Duration,
    pending: Option<PendingAnswer>,
    /// Until when the ABORT's own answer is awaited.
    abort: Option<Duration>,
    queue: VecDeque<QueuedCommand>,
}

/// What a solicited message is (readers: 2.8).
pub(super) enum AnswerTo {
    /// The ABORT's own.
    Abort,
    /// The awaited command's.
    Command(PendingAnswer),
    /// Nobody's.
    Nobody,
}

impl ReaderLine {
    pub(super) fn new(settings: ReaderSettings, miura: MiuraSettings) -> Self {
        Self {
            out: Outbox::new(settings.port.clone()),
            settings,
            miura,
            identity: None,
            slot: false,
            extended: false,
            keys: KeySets::default(),
            clock: ClockSetting::default(),
            clock_is_due: false,
            check_at: Duration::ZERO,
            pending: None,
            abort: None,
            queue: VecDeque::new(),
        }
    }

    /// Sends a command, at once or when the one before is answered.
    pub(super) fn ask(&mut self, purpose: CommandPurpose, command: &MpiCommand<'_>, patience: Duration, now: Duration) {
        let name = command.name();
        match command.packets(self.extended) {
            Ok(packets) => self.queue.push_back(QueuedCommand { purpose, name, packets, patience }),
            // Every caller keeps within the limit; a command that could not be written is like one that is never
            // answered.
            Err(error) => {
                warn!(name, %error, "command not sent");
                self.pending = Some(PendingAnswer { purpose, name, deadline: now, disturbed: false });
            }
        }
        self.advance(now);
    }

    /// Takes back what of this purpose was not sent yet.
    pub(super) fn take_back(&mut self, purpose: CommandPurpose) {
        self.queue.retain(|command| command.purpose != purpose);
    }

    /// Asks for a card-status message, outside of the order of commands: there is no solicited answer to it.
    pub(super) fn ask_card_status(&mut self, now: Duration) {
        if self.is_free()
            && let Ok(packet) = CARD_STATUS_ON.encode()
        {
            debug!(name = CARD_STATUS_ON.name(), at = ?now, "command");
            self.out.write(packet);
        }
    }

    /// Sends ABORT beside the awaited command and forgets what was not sent yet.
    pub(super) fn abort(&mut self, now: Duration) {
        self.queue.clear();
        if let Some(pending) = &mut self.pending {
            pending.deadline = now + ABORT_ANSWER;
        }
        if self.abort.is_none()
            && let Ok(packet) = MpiCommand::Abort.encode()
        {
            debug!(name = MpiCommand::Abort.name(), "command");
            self.out.write(packet);
        }
        self.abort = Some(now + ABORT_ANSWER);
    }

    /// Whose a solicited message is. While an ABORT is outstanding two answers are expected, in any order: an empty
    /// body with 9000 is the ABORT's.
    pub(super) fn answered(&mut self, body: &[u8], status: StatusWord) -> AnswerTo {
        if self.abort.is_some() && body.is_empty() && status == StatusWord::OK {
            self.abort = None;
            return AnswerTo::Abort;
        }
        // CARD STATUS is answered by an unsolicited message only.
        match self.pending.take_if(|pending| pending.purpose != CommandPurpose::CardStatus) {
            Some(pending) => AnswerTo::Command(pending),
            None => AnswerTo::Nobody,
        }
    }

    /// A card-status message came: whether it is the awaited answer.
    pub(super) fn card_status_came(&mut self) -> bool {
        self.pending.take_if(|pending| pending.purpose == CommandPurpose::CardStatus).is_some()
    }

    /// Goes on waiting: what came was not the answer.
    pub(super) fn wait_on(&mut self, pending: PendingAnswer) {
        self.pending = Some(pending);
    }

    /// Sends what is queued, when nothing is outstanding.
    pub(super) fn advance(&mut self, now: Duration) {
        if self.pending.is_some() || self.abort.is_some() {
            return;
        }
        if let Some(QueuedCommand { purpose, name, packets, patience }) = self.queue.pop_front() {
            debug!(name, bytes = packets.iter().map(|packet| packet.len()).sum::<usize>(), "command");
            self.pending = Some(PendingAnswer { purpose, name, deadline: now + patience, disturbed: false });
            packets.into_iter().for_each(|packet| self.out.write(packet));
        }
    }

    /// Nothing is outstanding or queued.
    pub(super) fn is_free(&self) -> bool {
        self.pending.is_none() && self.abort.is_none() && self.queue.is_empty()
    }

    /// A command during which people do something is running: only ABORT ends it.
    pub(super) fn runs_transaction(&self) -> bool {
        let cardholder = |pending: &PendingAnswer| {
            matches!(
                pending.purpose,
                CommandPurpose::Contactless
                    | CommandPurpose::Start
                    | CommandPurpose::Continue
                    | CommandPurpose::OnlinePin
                    | CommandPurpose::Amount
                    | CommandPurpose::TypedCard
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
    pub(super) fn overdue(&self, now: Duration) -> Option<PendingAnswer> {
        self.pending.filter(|pending| pending.deadline <= now)
    }

    /// Tells the agent.
    pub(super) fn report(&mut self, event: ReaderEvent) {
        self.out.report(event);
    }

    /// Tells what the cashier should see of a sale.
    pub(super) fn progress(&mut self, sale: SaleNumber, progress: ReaderProgress) {
        self.out.progress(sale, progress);
    }

    /// The start-up is done.
    pub(super) fn ready(&mut self, identity: ReaderIdentity) {
        self.identity = Some(identity.clone());
        self.out.ready(identity);
    }

    /// How many keys are left.
    pub(super) fn keys_left(&mut self) {
        let (card, pin) = self.keys.left();
        self.report(ReaderEvent::KeysLeft { card, pin });
    }

    /// Gives up this connection: tells why, forgets what is outstanding, and has the port opened anew after a while.
    pub(super) fn reopen(&mut self, why: Unready) {
        self.forget();
        self.out.reopen(why);
    }

    /// Gives up this connection because the reader sends without end.
    pub(super) fn reopen_after_flood(&mut self, now: Duration) {
        self.forget();
        self.out.reopen_after_flood(now);
    }

    /// The port is lost.
    pub(super) fn port_lost(&mut self, cause: &str) {
        self.forget();
        self.out.port_lost(cause);
    }

    /// Nothing is outstanding any more, and nothing is known of the slot.
    pub(super) fn forget(&mut self) {
        self.out.forget_unsent();
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
pub(super) const CARD_STATUS_ON: MpiCommand<'static> = MpiCommand::CardStatus { flags: 0x1F };
