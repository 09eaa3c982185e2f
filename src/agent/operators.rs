//! The operators, their sessions, and the supervisors' approvals. The core's module `counter` decides the consequences
//! of a wrong PIN and the rights of a role. This module writes to the journal and computes the digests.
//!
//! A separate thread checks PINs one at a time, and at most one PIN waits for each sign-in source. An attacker who
//! floods the terminal with PINs keeps one processor core busy, but delays no transaction. Each attempt is on the disk
//! before the PIN is checked (`counter/attempts.rs`).

use std::collections::VecDeque;
use std::num::NonZeroU32;

use tokio::sync::mpsc;
use zeroize::Zeroizing;

use crate::config::Operators;
use crate::operator_secrets;
use crate::till::{
    ApprovalView, ConfirmedView, Denied, OperatorCommand, OperatorRefused, OperatorView, OperatorsView, Presence,
    Refused, SessionView, SignedIn, Wanted,
};
use pos_core::counter::{
    Approvals, Approved, Attempts, GivenApproval, ITERATIONS, Pin, PinDigest, PinKey, PinPlace, Role, Session,
    Sessions, SupervisorAbove, TokenDigest, TryKey,
};
use pos_core::transaction::Order;
use pos_core::wish::{WantedEntry, WantedTip};
use pos_journal::{Journal, KeptOperator, OperatorChange};
use pos_terms::emv::pan;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Operation, OperatorName, Who};
use pos_words::{Message, Sentence};

use super::clock::Clock;
use super::journal_writer::{JournalWriter, refused_by_journal};
use super::task_results::{PinReckoned, TaskResult};
use super::{Error, Random};

/// The greatest number of operators. This is enough for a shop's staff over several years.
const MOST_OPERATORS: usize = 200;
/// The greatest number of PINs that wait while one is checked. Each check takes a second on a slow board.
const MOST_WAITING: usize = 8;

/// The operators, with their state from the journal and in memory.
pub(super) struct OperatorService {
    required: bool,
    /// The number of digits of each new PIN, if it is fixed.
    pin_digits: Option<u8>,
    above: SupervisorAbove,
    operators: Vec<KeptOperator>,
    key: Option<PinKey>,
    attempts: Attempts,
    sessions: Sessions,
    approvals: Approvals,
    /// The PINs that wait while another is checked.
    waiting: VecDeque<OperatorCommand>,
    is_reckoning: bool,
    /// True in training mode, where no money moves and a cashier needs no supervisor.
    in_training: bool,
    clock: Clock,
    random: Random,
    /// The channel that returns the digests.
    tasks: mpsc::Sender<TaskResult>,
}

/// The operation and amount of a command that a supervisor confirms, resolved as when the transaction begins.
pub(super) type Resolved = Result<(Operation, Amount), Refused>;

impl OperatorService {
    pub(super) fn new(
        config: &Operators,
        currency: Currency,
        journal: &Journal,
        in_training: bool,
        (clock, random, tasks): (Clock, Random, mpsc::Sender<TaskResult>),
    ) -> Result<Self, Error> {
        let above = config.supervisor_above.in_currency(currency);
        let above = above.map_err(|(key, cause)| Error::SupervisorAbove { key, cause })?;
        let operators = journal.operators()?;
        let key = journal.pin_key_file().read().unwrap_or_else(|error| {
            tracing::error!(%error, "no operator can sign in; repair the key file, or set each PIN again");
            None
        });
        Ok(Self {
            required: config.required,
            pin_digits: config.pin_digits,
            above,
            operators,
            key,
            attempts: Attempts::restored(journal.pin_tries()?, clock.monotonic()),
            sessions: Sessions::new(std::time::Duration::from_secs(config.idle_lock_s)),
            approvals: Approvals::default(),
            waiting: VecDeque::new(),
            is_reckoning: false,
            in_training,
            clock,
            random,
            tasks,
        })
    }

    fn find(&self, name: &OperatorName) -> Option<&KeptOperator> {
        self.operators.iter().find(|operator| operator.name == *name)
    }

    fn known(&self, name: &OperatorName) -> Result<&KeptOperator, OperatorRefused> {
        self.find(name).ok_or_else(|| OperatorRefused::Unknown { name: name.clone() })
    }

    /// Returns the counters of an attempt to sign in as `name`.
    fn keys(&self, Tried { name, from, place }: Tried<'_>) -> [TryKey; 2] {
        self.attempts.keys((name, self.find(name).is_some()), from, place)
    }

    /// Ends all sessions of an operator, and all approvals given by or to the operator. None of them outlasts the
    /// operator's PIN.
    fn end_all_of(&mut self, name: &OperatorName) {
        self.sessions.end_all_of(name);
        self.approvals.end_all_of(name);
        self.approvals.end_all_for(name);
    }
}

impl OperatorService {
    pub(super) fn asked(&mut self, journal: &mut JournalWriter, asked: OperatorCommand) {
        let now = self.clock.monotonic();
        match asked {
            OperatorCommand::List { reply } => drop(reply.send(self.view())),
            OperatorCommand::Session { token, from, commands, reply } => {
                let session = self.sessions.find(&token, &from, commands, now);
                let who =
                    session.map(|Session { operator, role, .. }| SignedIn { name: operator.clone(), role: *role });
                let _ = reply.send(who.ok_or_else(|| OperatorRefused::SessionEnded.into()));
            }
            OperatorCommand::SignOut { token, from, reply } => {
                let gone = self.sessions.end(&token, &from);
                if let Some(name) = &gone {
                    // The approvals of an operator who has signed out are no longer valid.
                    self.approvals.end_all_of(name);
                }
                let _ = reply.send(gone.map(drop).ok_or_else(|| OperatorRefused::SessionEnded.into()));
            }
            OperatorCommand::Remove { name, by, reply } => {
                let removed = self.change(journal, OperatorChange::Removed(name), by.who());
                let _ = reply.send(removed.map(|_| ()));
            }
            OperatorCommand::Unlock { name, by, reply } => {
                let unlocked = self.change(journal, OperatorChange::Unlocked(name.clone()), by.who());
                let _ = reply.send(unlocked.and_then(|()| self.view_of(&name)));
            }
            with_pin => self.pin_given(journal, with_pin),
        }
    }

    fn view(&self) -> OperatorsView {
        let operators = self.operators.iter().map(|operator| self.view_of_one(operator)).collect();
        OperatorsView { required: self.required, pin_digits: self.pin_digits, operators }
    }

    fn view_of(&self, name: &OperatorName) -> Result<OperatorView, Refused> {
        Ok(self.view_of_one(self.known(name)?))
    }

    fn view_of_one(&self, operator: &KeptOperator) -> OperatorView {
        let KeptOperator { name, role, pin } = operator;
        let attempts = &self.attempts;
        let wait = attempts.wait(&attempts.of_operator(name), self.clock.monotonic());
        OperatorView {
            name: name.clone(),
            role: *role,
            locked_s: wait.and_then(|wait| OperatorRefused::Locked { wait }.retry_after_s()),
            needs_pin: self.key.as_ref().is_none_or(|key| operator_secrets::id_of_key(key) != pin.key),
        }
    }

    /// Handles a PIN that is to be checked or set, either immediately or after the waiting ones.
    fn pin_given(&mut self, journal: &mut JournalWriter, asked: OperatorCommand) {
        let refused = match (tried(&asked), self.may_set(&asked)) {
            (_, Err(refused)) => Some(refused),
            (Some(tries), Ok(())) => {
                let keys = self.keys(tries);
                let wait = self.attempts.wait(&keys, self.clock.monotonic());
                let is_there =
                    |other: &OperatorCommand| tried(other).is_some_and(|theirs| self.keys(theirs)[1] == keys[1]);
                match wait {
                    Some(wait) => Some(OperatorRefused::Locked { wait }.into()),
                    None if self.waiting.iter().any(is_there) => Some(OperatorRefused::PinUnderWay.into()),
                    None => None,
                }
            }
            (None, Ok(())) => None,
        };
        let full = || self.waiting.len() >= MOST_WAITING;
        match refused.or_else(|| full().then(|| OperatorRefused::PinUnderWay.into())) {
            Some(refused) => answer_refused(asked, refused),
            None => {
                self.waiting.push_back(asked);
                self.next_pin(journal);
            }
        }
    }

    /// Checks that the command's operator exists if it sets a PIN, or does not exist if it adds the operator.
    fn may_set(&self, asked: &OperatorCommand) -> Result<(), Refused> {
        match asked {
            OperatorCommand::Add { name, .. } if self.find(name).is_some() => {
                Err(OperatorRefused::Exists { name: name.clone() }.into())
            }
            OperatorCommand::Add { .. } if self.operators.len() >= MOST_OPERATORS => {
                Err(OperatorRefused::TooMany { most: MOST_OPERATORS }.into())
            }
            OperatorCommand::SetPin { name, pin, .. } => {
                self.known(name)?;
                Ok(OperatorRefused::check_length(pin, self.pin_digits)?)
            }
            OperatorCommand::Add { pin, .. } => Ok(OperatorRefused::check_length(pin, self.pin_digits)?),
            _ => Ok(()),
        }
    }

    /// Starts with the next PIN, unless one is being checked.
    fn next_pin(&mut self, journal: &mut JournalWriter) {
        while !self.is_reckoning
            && let Some(asked) = self.waiting.pop_front()
        {
            match &asked {
                OperatorCommand::SignIn { name, pin, from, place, .. }
                | OperatorCommand::Approve { name, pin, from, place, .. } => {
                    match self.count_try(journal, Tried { name, from, place: place.as_ref() }) {
                        Ok(()) => {
                            let (name, pin) = (name.clone(), pin.clone());
                            self.look_at_pin(asked, &name, pin);
                        }
                        Err(refused) => answer_refused(asked, refused),
                    }
                }
                OperatorCommand::Add { pin, .. } | OperatorCommand::SetPin { pin, .. } => {
                    let pin = pin.clone();
                    match self.key_and_salt(journal) {
                        Ok((key, salt)) => self.make_digest(asked, pin, key, salt),
                        Err(error) => answer_refused(asked, refused_by_journal(error)),
                    }
                }
                _ => {}
            }
        }
    }

    /// Counts an attempt, in memory and on the disk, before the PIN is used.
    fn count_try(&mut self, journal: &mut JournalWriter, tries: Tried<'_>) -> Result<(), Refused> {
        let (keys, now) = (self.keys(tries), self.clock.monotonic());
        // Earlier attempts may have used up the limit.
        if let Some(wait) = self.attempts.wait(&keys, now) {
            return Err(OperatorRefused::Locked { wait }.into());
        }
        let counts = self.attempts.one_more(&keys);
        journal.count_pin_tries(&counts).map_err(refused_by_journal)?;
        self.attempts.kept(counts, now);
        Ok(())
    }

    fn look_at_pin(&mut self, asked: OperatorCommand, name: &OperatorName, pin: Pin) {
        let kept = self.find(name).map_or_else(PinDigest::of_nobody, |operator| operator.pin.clone());
        let key = self.key.clone().unwrap_or_else(|| PinKey::new(Zeroizing::new([0; 32])));
        self.reckon(
            move || operator_secrets::is_the_pin(&pin, &key, &kept),
            |right| PinReckoned::LookedAt { asked, right: right.unwrap_or(false) },
        );
    }

    fn make_digest(&mut self, asked: OperatorCommand, pin: Pin, key: PinKey, salt: [u8; 16]) {
        let iterations = NonZeroU32::new(ITERATIONS).unwrap_or(NonZeroU32::MIN);
        let make = move || operator_secrets::digest_of_pin(&pin, &key, salt, iterations);
        self.reckon(make, |made| PinReckoned::Made { asked, made });
    }

    /// Computes a digest on a separate thread. The result comes back through the loop.
    fn reckon<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
        told: impl FnOnce(Option<T>) -> PinReckoned + Send + 'static,
    ) {
        self.is_reckoning = true;
        let done = self.tasks.clone();
        tokio::spawn(async move {
            let reckoned = told(tokio::task::spawn_blocking(work).await.ok());
            let _ = done.send(TaskResult::Pin(Box::new(reckoned))).await;
        });
    }

    fn key_and_salt(&mut self, journal: &JournalWriter) -> Result<(PinKey, [u8; 16]), pos_journal::Error> {
        let key = journal.book().pin_key_file().read_or_make()?;
        self.key = Some(key.clone());
        Ok((key, pos_journal::pin_salt()?))
    }

    /// Handles a computed digest.
    pub(super) fn pin_reckoned(
        &mut self,
        journal: &mut JournalWriter,
        reckoned: PinReckoned,
        resolved: Option<Resolved>,
    ) {
        self.is_reckoning = false;
        match reckoned {
            PinReckoned::LookedAt { asked, right } => self.pin_looked_at(journal, asked, right, resolved),
            PinReckoned::Made { asked, made } => self.pin_made(journal, asked, made),
        }
        self.next_pin(journal);
    }

    fn pin_looked_at(
        &mut self,
        journal: &mut JournalWriter,
        asked: OperatorCommand,
        right: bool,
        resolved: Option<Resolved>,
    ) {
        match asked {
            OperatorCommand::SignIn { name, from, place, reply, .. } => {
                let tries = Tried { name: &name, from: &from, place: place.as_ref() };
                let opened = self
                    .right_or_wrong(journal, tries, right)
                    .and_then(|(operator, wrong_before)| self.open_session(operator, from, wrong_before));
                let _ = reply.send(opened);
            }
            OperatorCommand::Approve { name, wanted, from, place, reply, .. } => {
                let tries = Tried { name: &name, from: &from, place: place.as_ref() };
                let given = self.right_or_wrong(journal, tries, right);
                let _ = reply.send(given.and_then(|(operator, _)| self.approve(operator, &wanted, resolved, from)));
            }
            _ => {}
        }
    }

    /// Returns the operator and the number of earlier wrong attempts, and resets the counters. Refuses a wrong PIN, and
    /// an operator who was removed in the meantime.
    fn right_or_wrong(
        &mut self,
        journal: &mut JournalWriter,
        tried: Tried<'_>,
        right: bool,
    ) -> Result<(KeptOperator, u32), Refused> {
        let keys = self.keys(tried);
        let Tried { name, from, place } = tried;
        let tries = self.attempts.tries(&keys[0]);
        let Some(operator) = self.find(name).filter(|_| right).cloned() else {
            // An unknown name may be a PIN typed into the wrong field, so it is not logged.
            let name = self.find(name).map_or("nobody's", |operator| operator.name.as_str());
            tracing::warn!(name, %from, tries, "a wrong name or PIN");
            return Err(OperatorRefused::WrongPin.into());
        };
        let forgiven = self.attempts.forgiven(&keys, place);
        // The PIN was right, so the operator is signed in even if the counters on the disk cannot be reset.
        match journal.count_pin_tries(&forgiven) {
            Ok(()) => self.attempts.kept(forgiven, self.clock.monotonic()),
            Err(error) => tracing::warn!(%name, %error, "the attempt counter was not reset after a correct PIN"),
        }
        Ok((operator, tries.saturating_sub(1)))
    }

    fn open_session(&mut self, operator: KeptOperator, from: Who, wrong_before: u32) -> Result<SessionView, Refused> {
        let (session, token) = self.token()?;
        let KeptOperator { name, role, .. } = operator;
        tracing::info!(operator = %name, role = role.as_str(), %from, wrong_before, "signed in");
        self.sessions.begin(token, name.clone(), role, from, self.clock.monotonic());
        let idle_lock_s = self.sessions.idle().as_secs();
        Ok(SessionView { session, operator: name, role, idle_lock_s, wrong_before })
    }

    /// Gives an approval. The command is resolved as when the transaction begins, so the approval covers the operation
    /// and amount that are found now.
    fn approve(
        &mut self,
        operator: KeptOperator,
        wanted: &Wanted,
        resolved: Option<Resolved>,
        from: Who,
    ) -> Result<ApprovalView, Refused> {
        let KeptOperator { name: supervisor, role, .. } = operator;
        if role != Role::Supervisor {
            return Err(OperatorRefused::NoSupervisor { name: supervisor }.into());
        }
        let cashier = wanted.caller.who().operator.clone().ok_or(Denied::OperatorRequired)?;
        let unresolved = || Refused::NotReady { why: Message::CommandNotResolved.into() };
        let (transaction, amount) = resolved.unwrap_or_else(|| Err(unresolved()))?;
        let command = command_of(cashier, wanted, transaction, amount);
        let (approval, token) = self.token()?;
        tracing::info!(%supervisor, till = command.till, operator = %command.operator, "a supervisor confirmed {}", Sentence::from(&command));
        let (view, good_for_s) = (ConfirmedView::from(&command), Approvals::GOOD_FOR.as_secs());
        let given = GivenApproval { supervisor: supervisor.clone(), command, caller: from };
        self.approvals.give(token, given, self.clock.monotonic());
        Ok(ApprovalView { approval, supervisor, good_for_s, command: view })
    }

    /// Makes a token of 128 random bits, and the digest of it that the agent stores.
    fn token(&self) -> Result<(String, TokenDigest), Refused> {
        let bits = (self.random)()
            .map_err(|error| Refused::NotReady { why: Message::NoRandomNumbers.with("why", error.to_string()) })?;
        let token = hex::encode(bits);
        let kept = operator_secrets::digest_of_token(token.as_bytes());
        Ok((token, kept))
    }

    fn pin_made(&mut self, journal: &mut JournalWriter, asked: OperatorCommand, made: Option<PinDigest>) {
        let Some(pin) = made else {
            return answer_refused(asked, Refused::NotReady { why: Message::PinNotDigested.into() });
        };
        // Another request may have changed the operators in the meantime.
        if let Err(refused) = self.may_set(&asked) {
            return answer_refused(asked, refused);
        }
        let (change, name, by, reply) = match asked {
            OperatorCommand::Add { name, role, by, reply, .. } => {
                (OperatorChange::Added(KeptOperator { name: name.clone(), role, pin }), name, by, reply)
            }
            OperatorCommand::SetPin { name, by, reply, .. } => {
                (OperatorChange::PinSet(name.clone(), pin), name, by, reply)
            }
            _ => return,
        };
        let changed = self.change(journal, change, by.who());
        let _ = reply.send(changed.and_then(|()| self.view_of(&name)));
    }

    /// Writes a change and its author to the journal, and then applies the change in memory.
    fn change(&mut self, journal: &mut JournalWriter, change: OperatorChange, by: &Who) -> Result<(), Refused> {
        if let OperatorChange::Removed(name) | OperatorChange::Unlocked(name) = &change {
            self.known(name)?;
        }
        let now = self.clock.monotonic();
        journal.change_operator(&change, by, self.clock.unix_ms()).map_err(refused_by_journal)?;
        let desk = self;
        let name = match change {
            OperatorChange::Added(operator) => {
                let name = operator.name.clone();
                tracing::warn!(%name, role = operator.role.as_str(), %by, "an operator was added");
                let at = desk.operators.partition_point(|other| other.name.folded() < name.folded());
                desk.operators.insert(at, operator);
                name
            }
            OperatorChange::Removed(name) => {
                tracing::warn!(%name, %by, "an operator was removed");
                desk.end_all_of(&name);
                desk.operators.retain(|operator| operator.name != name);
                name
            }
            OperatorChange::PinSet(name, pin) => {
                tracing::warn!(%name, %by, "an operator's PIN was changed");
                desk.end_all_of(&name);
                desk.operators.iter_mut().filter(|it| it.name == name).for_each(|it| it.pin = pin.clone());
                name
            }
            OperatorChange::Unlocked(name) => {
                tracing::warn!(%name, %by, "an operator was unlocked");
                let callers = desk.attempts.callers().map(|from| (from.clone(), 0)).collect();
                desk.attempts.kept(callers, now);
                name
            }
        };
        let forgiven = desk.attempts.of_operator(&name).into_iter().map(|key| (key, 0)).collect();
        desk.attempts.kept(forgiven, now);
        Ok(())
    }

    /// Returns the author of a transaction that is about to begin. If a cashier needs a supervisor's approval, the
    /// author includes the supervisor. `amount` is the whole charge, including the tip that the till gave.
    pub(super) fn confirmed_author(
        &self,
        journal: &Journal,
        wanted: &Wanted,
        transaction: &Operation,
        amount: Amount,
    ) -> Result<Who, Refused> {
        let who = wanted.caller.who().clone();
        if who.stated_operator.as_deref().is_some_and(pan::is_in) {
            let why = Message::LooksLikeCardNumber.into();
            return Err(Refused::Parameter { name: "operator".to_owned(), why });
        }
        let Presence { operator: Some(SignedIn { role: Role::Cashier, name }), approval, .. } = wanted.caller.present()
        else {
            return Ok(who);
        };
        if self.in_training {
            return Ok(who);
        }
        let kind = transaction.kind();
        if !self.above.needs_supervisor(kind, amount, self.is_of_today(journal, transaction)) {
            return Ok(who);
        }
        let command = command_of(name.clone(), wanted, transaction.clone(), amount);
        let Some(token) = approval else {
            return Err(OperatorRefused::SupervisorNeeded { command: Box::new(command) }.into());
        };
        let confirmed = self.approvals.find(token, &command, &who.without_person(), self.clock.monotonic());
        let supervisor = confirmed.map_err(|found| OperatorRefused::not_approved(found, &command))?.clone();
        Ok(Who { supervisor: Some(supervisor), ..who })
    }

    /// Returns whether a cashier's transaction needs a supervisor for this total, and no supervisor has confirmed it.
    /// The total includes a tip that was typed at the reader.
    pub(super) fn tip_needs_supervisor(&self, order: &Order, total: Amount) -> bool {
        let Some(Who { operator: Some(name), supervisor: None, .. }) = order.by.clone() else { return false };
        // If the operator was removed in the meantime, the role is unknown.
        let known = self.operators.iter().find(|kept| kept.name == name);
        let is_cashier = known.is_none_or(|kept| kept.role == Role::Cashier);
        is_cashier && !self.in_training && self.above.needs_supervisor(order.kind(), total, false)
    }

    /// Uses up a supervisor's approval, which is valid only once.
    pub(super) fn approval_used(&mut self, token: Option<TokenDigest>) {
        if let Some(token) = token {
            self.approvals.used(&token);
        }
    }

    /// Returns whether the earlier transaction began on this day, as far as this journal knows.
    fn is_of_today(&self, journal: &Journal, transaction: &Operation) -> bool {
        let number = transaction.of().and_then(|of| of.number);
        let earlier = number.and_then(|number| journal.number(number).ok().flatten());
        match (earlier, self.clock.local()) {
            (Some(earlier), Some(now)) => {
                earlier.order().local_time.get(..10) == Some(now.format("%Y-%m-%d").to_string().as_str())
            }
            _ => false,
        }
    }
}

/// Makes the command that a supervisor confirms. `amount` is the whole charge.
fn command_of(operator: OperatorName, wanted: &Wanted, transaction: Operation, amount: Amount) -> Approved {
    let (till, reference) = (wanted.till.clone(), wanted.reference.clone());
    let (asks_tip, manual) = (wanted.wish.tip == Some(WantedTip::Ask), wanted.wish.entry == Some(WantedEntry::Typed));
    Approved { operator, till, reference, transaction, amount, asks_tip, manual }
}

/// An attempt with a PIN: the operator, the sign-in source, and the network location of the source.
#[derive(Clone, Copy)]
struct Tried<'a> {
    name: &'a OperatorName,
    from: &'a Who,
    place: Option<&'a PinPlace>,
}

/// Returns the attempt if the command signs in or approves with a PIN. Returns `None` for other commands.
fn tried(asked: &OperatorCommand) -> Option<Tried<'_>> {
    match asked {
        OperatorCommand::SignIn { name, from, place, .. } | OperatorCommand::Approve { name, from, place, .. } => {
            Some(Tried { name, from, place: place.as_ref() })
        }
        _ => None,
    }
}

/// Answers a command that contains a PIN with a refusal.
fn answer_refused(asked: OperatorCommand, refused: Refused) {
    match asked {
        OperatorCommand::SignIn { reply, .. } => drop(reply.send(Err(refused))),
        OperatorCommand::Approve { reply, .. } => drop(reply.send(Err(refused))),
        OperatorCommand::Add { reply, .. } | OperatorCommand::SetPin { reply, .. } => drop(reply.send(Err(refused))),
        _ => {}
    }
}
