//! The line to the reader and its rules: one command at a time, with a deadline, and the abort, which may be sent at
//! any time (readers: 2.1, 2.8, 3.4, 4.1). It also holds the known state of the reader.

use std::collections::VecDeque;
use std::time::Duration;

use tracing::{debug, warn};

use crate::capability::Capability;
use crate::clock_setting::ClockSetting;
use crate::family::{AbortedCommand, CommandFrames, CommandPurpose, Outstanding, ReaderQuestion, Speaker};
use crate::keys::KeySets;
use crate::outbox::Outbox;
use crate::{ReaderEvent, ReaderIdentity, ReaderProgress, ReaderSettings, Unready};
use pos_terms::transaction::SaleNumber;

/// The deadline of a plain command. The vendor states none, so this value follows the vendor's own programs (readers:
/// 2.1).
pub(super) const PLAIN_ANSWER: Duration = Duration::from_secs(5);
/// The deadline of a command in which the cardholder may choose an application and enter a PIN. A slow person needs a
/// minute.
pub(super) const CARDHOLDER: Duration = Duration::from_secs(120);
/// The deadline of the answers to an ABORT.
pub(super) const ABORT_ANSWER: Duration = Duration::from_secs(5);

/// The wait for the answer of an aborted command in a family that may leave it out. A reader at work answers within
/// this time.
const ABORTED_ANSWER: Duration = Duration::from_millis(500);

/// An awaited answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingAnswer {
    pub(super) purpose: CommandPurpose,
    pub(super) name: &'static str,
    pub(super) deadline: Duration,
    /// Bytes were lost meanwhile, so the answer may be lost too.
    pub(super) disturbed: bool,
    /// The command was aborted, and the reader may leave it unanswered.
    pub(super) may_stay_out: bool,
}

struct QueuedCommand {
    purpose: CommandPurpose,
    name: &'static str,
    frames: CommandFrames,
    patience: Duration,
}

/// The line to one reader, with the known state of that reader.
pub(super) struct ReaderLine {
    pub(super) settings: ReaderSettings,
    /// The family's way to write commands.
    pub(super) speaker: Box<dyn Speaker>,
    /// The outgoing data for port and agent.
    pub(super) out: Outbox,
    pub(super) identity: Option<ReaderIdentity>,
    /// `true` if a card is in the slot, according to the latest message.
    pub(super) slot: bool,
    /// `true` if commands may be longer than one packet.
    pub(super) extended: bool,
    /// The keys seen so far. They are kept when the connection ends.
    pub(super) keys: KeySets,
    /// The time at which the reader's clock was set.
    pub(super) clock: ClockSetting,
    /// `true` if the clock must be set as soon as the reader is idle.
    pub(super) clock_is_due: bool,
    /// The time of the next check of an idle reader.
    pub(super) check_at: Duration,
    pending: Option<PendingAnswer>,
    /// The deadline of the ABORT's own answer.
    abort: Option<Duration>,
    queue: VecDeque<QueuedCommand>,
}

impl ReaderLine {
    pub(super) fn new(settings: ReaderSettings, speaker: Box<dyn Speaker>) -> Self {
        Self {
            out: Outbox::new(settings.port.clone()),
            settings,
            speaker,
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

    /// Sends a command immediately, or after the previous one is answered.
    pub(super) fn ask(&mut self, ask: &ReaderQuestion<'_>, patience: Duration, now: Duration) {
        let purpose = ask.purpose();
        match self.speaker.encode(ask, self.extended) {
            Ok(command) => {
                let (name, frames) = (command.name, command.frames);
                self.queue.push_back(QueuedCommand { purpose, name, frames, patience });
            }
            // No caller exceeds the limit. A command that could not be encoded counts as unanswered.
            Err(error) => {
                warn!(?purpose, %error, "command not sent");
                let name = "a command that could not be sent";
                self.pending =
                    Some(PendingAnswer { purpose, name, deadline: now, disturbed: false, may_stay_out: false });
            }
        }
        self.advance(now);
    }

    /// Removes unsent commands with this purpose.
    pub(super) fn take_back(&mut self, purpose: CommandPurpose) {
        self.queue.retain(|command| command.purpose != purpose);
    }

    /// Asks for a card-status message outside the queue, if the family answers it by an event.
    pub(super) fn ask_card_status(&mut self, now: Duration) {
        if self.is_free()
            && self.speaker.can(Capability::SlotEvents)
            && let Ok(command) = self.speaker.encode(&ReaderQuestion::CardStatus, self.extended)
        {
            debug!(name = command.name, at = ?now, "command");
            self.out.write(command.name, command.frames);
        }
    }

    /// Sends ABORT while the awaited command runs, and drops unsent commands.
    pub(super) fn abort(&mut self, now: Duration) {
        self.queue.clear();
        if let Some(pending) = &mut self.pending {
            pending.deadline = now + ABORT_ANSWER;
        }
        let running = self.pending.map(|pending| pending.purpose);
        if self.abort.is_none()
            && let Ok(command) = self.speaker.encode(&ReaderQuestion::Abort(running), self.extended)
        {
            debug!(name = command.name, "command");
            self.out.write(command.name, command.frames);
        }
        self.abort = Some(now + ABORT_ANSWER);
    }

    /// Returns the outstanding commands.
    pub(super) fn awaited(&self) -> Outstanding {
        Outstanding { command: self.pending.map(|pending| pending.purpose), abort: self.abort.is_some() }
    }

    /// Records the answer to the abort.
    pub(super) fn aborted(&mut self, command: AbortedCommand, now: Duration) {
        self.abort = None;
        if let (AbortedCommand::MayAnswer, Some(pending)) = (command, &mut self.pending) {
            pending.deadline = now + ABORTED_ANSWER;
            pending.may_stay_out = true;
        }
    }

    /// Answers a question of the reader, which does not end the awaited command.
    pub(super) fn reply(&mut self, frames: CommandFrames) {
        self.out.write("reply", frames);
    }

    /// Takes the command that is answered.
    pub(super) fn take_answered(&mut self) -> Option<PendingAnswer> {
        self.pending.take()
    }

    /// Records a card-status message. Returns whether it is the awaited answer.
    pub(super) fn card_status_came(&mut self) -> bool {
        self.pending.take_if(|pending| pending.purpose == CommandPurpose::CardStatus).is_some()
    }

    /// Continues to wait, because the message was not the answer.
    pub(super) fn wait_on(&mut self, pending: PendingAnswer) {
        self.pending = Some(pending);
    }

    /// Sends the next queued command if no answer is outstanding.
    pub(super) fn advance(&mut self, now: Duration) {
        if self.pending.is_some() || self.abort.is_some() {
            return;
        }
        if let Some(QueuedCommand { purpose, name, frames, patience }) = self.queue.pop_front() {
            debug!(name, bytes = frames.iter().map(|frame| frame.len()).sum::<usize>(), "command");
            self.pending =
                Some(PendingAnswer { purpose, name, deadline: now + patience, disturbed: false, may_stay_out: false });
            self.out.write(name, frames);
        }
    }

    /// Returns whether no answer is outstanding and no command is queued.
    pub(super) fn is_free(&self) -> bool {
        self.pending.is_none() && self.abort.is_none() && self.queue.is_empty()
    }

    /// Returns whether a command with the cardholder is running, which only ABORT ends.
    pub(super) fn runs_transaction(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.purpose.has_cardholder())
    }

    /// Shortens the deadline of the awaited answer to at most `patience`.
    pub(super) fn hurry(&mut self, patience: Duration, now: Duration) {
        if let Some(pending) = &mut self.pending {
            pending.deadline = pending.deadline.min(now + patience);
        }
    }

    /// Shortens the deadline after lost bytes. Nothing is repeated, so the awaited answer may never come (readers:
    /// 2.1).
    pub(super) fn disturbed(&mut self, now: Duration) {
        self.hurry(PLAIN_ANSWER, now);
        if let Some(pending) = &mut self.pending {
            pending.disturbed = true;
        }
    }

    /// Returns the next deadline of a command or an ABORT.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.pending.map(|pending| pending.deadline).into_iter().chain(self.abort).min()
    }

    /// Returns whether the ABORT was not answered in time.
    pub(super) fn abort_overdue(&self, now: Duration) -> bool {
        self.abort.is_some_and(|deadline| deadline <= now)
    }

    /// Returns the command that was not answered in time. It stays awaited until the current state decides about it.
    pub(super) fn overdue(&self, now: Duration) -> Option<PendingAnswer> {
        self.pending.filter(|pending| pending.deadline <= now)
    }

    /// Reports an event to the agent.
    pub(super) fn report(&mut self, event: ReaderEvent) {
        self.out.report(event);
    }

    /// Reports a step of a transaction that the cashier should see.
    pub(super) fn progress(&mut self, sale: SaleNumber, progress: ReaderProgress) {
        self.out.progress(sale, progress);
    }

    /// Reports that the start-up is done.
    pub(super) fn ready(&mut self, identity: ReaderIdentity) {
        self.identity = Some(identity.clone());
        self.out.ready(identity);
    }

    /// Reports the number of keys left.
    pub(super) fn keys_left(&mut self) {
        let (card, pin) = self.keys.left();
        self.report(ReaderEvent::KeysLeft { card, pin });
    }

    /// Gives up this connection: reports the reason, drops outstanding commands, and requests that the port be opened
    /// again after a while.
    pub(super) fn reopen(&mut self, why: Unready) {
        self.forget();
        self.out.reopen(why);
    }

    /// Gives up this connection because the reader sends without end.
    pub(super) fn reopen_after_flood(&mut self, now: Duration) {
        self.forget();
        self.out.reopen_after_flood(now);
    }

    /// Records that the port is lost.
    pub(super) fn port_lost(&mut self, cause: &str) {
        self.forget();
        self.out.port_lost(cause);
    }

    /// Drops all outstanding commands and the state of the slot.
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
