//! The operators: who they are, who is signed in, and what a supervisor has confirmed. What follows from a wrong PIN
//! and what a role may do is decided in `counter`; here the journal is written and the digests are reckoned.
//!
//! A PIN is looked at on a thread of its own, one at a time, and at most one waits for each door: whoever floods the
//! terminal with PINs keeps a core busy for as long as its tries last, and holds up no sale. The try is on the disk
//! before that (`counter/attempts.rs`).

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

use super::clock::Clock;
use super::journal_writer::{JournalWriter, refused_by_journal};
use super::task_results::{PinReckoned, TaskResult};
use super::{Error, Random};

/// A shop's staff over some years.
const MOST_OPERATORS: usize = 200;
/// PINs that wait while one is looked at; each takes a second on a slow board.
const MOST_WAITING: usize = 8;

/// The operators, and what is known of them beside the journal.
pub(super) struct OperatorService {
    required: bool,
    above: SupervisorAbove,
    operators: Vec<KeptOperator>,
    key: Option<PinKey>,
    attempts: Attempts,
    sessions: Sessions,
    approvals: Approvals,
    /// PINs that wait for the one that is being looked at.
    waiting: VecDeque<OperatorCommand>,
    is_reckoning: bool,
    /// No money moves, and a cashier learns alone.
    in_training: bool,
    clock: Clock,
    random: Random,
    /// What is reckoned comes back there.
    tasks: mpsc::Sender<TaskResult>,
}

/// What a command that a supervisor confirms comes to, as it is when it begins.
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
            tracing::error!(%error, "nobody can sign in until that is put right, or each PIN is set anew");
            None
        });
        Ok(Self {
            required: config.required,
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

    /// What is counted when somebody tries to be `name`.
    fn keys(&self, Tried { name, door, place }: Tried<'_>) -> [TryKey; 2] {
        self.attempts.keys((name, self.find(name).is_some()), door, place)
    }

    /// No session and no word of an operator, or to it, outlasts its PIN.
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
            OperatorCommand::Session { token, door, commands, reply } => {
                let session = self.sessions.find(&token, &door, commands, now);
                let who =
                    session.map(|Session { operator, role, .. }| SignedIn { name: operator.clone(), role: *role });
                let _ = reply.send(who.ok_or_else(|| OperatorRefused::SessionEnded.into()));
            }
            OperatorCommand::SignOut { token, door, reply } => {
                let gone = self.sessions.end(&token, &door);
                if let Some(name) = &gone {
                    // Who has gone confirms nothing.
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
        OperatorsView { required: self.required, operators }
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

    /// A PIN is to be looked at, or set: now, or when those before it are done.
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

    /// Whether there is, or is not yet, an operator of the name that is to get a PIN.
    fn may_set(&self, asked: &OperatorCommand) -> Result<(), Refused> {
        match asked {
            OperatorCommand::Add { name, .. } if self.find(name).is_some() => {
                Err(OperatorRefused::Exists { name: name.clone() }.into())
            }
            OperatorCommand::Add { .. } if self.operators.len() >= MOST_OPERATORS => {
                Err(OperatorRefused::TooMany { most: MOST_OPERATORS }.into())
            }
            OperatorCommand::SetPin { name, .. } => Ok(self.known(name).map(|_| ())?),
            _ => Ok(()),
        }
    }

    /// Takes the next PIN on, unless one is being looked at.
    fn next_pin(&mut self, journal: &mut JournalWriter) {
        while !self.is_reckoning
            && let Some(asked) = self.waiting.pop_front()
        {
            match &asked {
                OperatorCommand::SignIn { name, pin, door, place, .. }
                | OperatorCommand::Approve { name, pin, door, place, .. } => {
                    match self.count_try(journal, Tried { name, door, place: place.as_ref() }) {
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

    /// Counts a try, on the disk too, before anything is done with the PIN.
    fn count_try(&mut self, journal: &mut JournalWriter, tries: Tried<'_>) -> Result<(), Refused> {
        let (keys, now) = (self.keys(tries), self.clock.monotonic());
        // Those before it may have used up the tries.
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

    /// On a thread of its own; what came of it comes back into the loop.
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

    /// A digest was reckoned.
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
            OperatorCommand::SignIn { name, door, place, reply, .. } => {
                let tries = Tried { name: &name, door: &door, place: place.as_ref() };
                let opened = self
                    .right_or_wrong(journal, tries, right)
                    .and_then(|(operator, wrong_before)| self.open_session(operator, door, wrong_before));
                let _ = reply.send(opened);
            }
            OperatorCommand::Approve { name, wanted, door, place, reply, .. } => {
                let tries = Tried { name: &name, door: &door, place: place.as_ref() };
                let given = self.right_or_wrong(journal, tries, right);
                let _ = reply.send(given.and_then(|(operator, _)| self.approve(operator, &wanted, resolved, door)));
            }
            _ => {}
        }
    }

    /// What came of a try: the operator with the wrong tries before this one, which are forgiven. One that was removed
    /// meanwhile is none.
    fn right_or_wrong(
        &mut self,
        journal: &mut JournalWriter,
        tried: Tried<'_>,
        right: bool,
    ) -> Result<(KeptOperator, u32), Refused> {
        let keys = self.keys(tried);
        let Tried { name, door, place } = tried;
        let tries = self.attempts.tries(&keys[0]);
        let Some(operator) = self.find(name).filter(|_| right).cloned() else {
            // A name that nobody has may be a PIN that was typed in its place.
            let name = self.find(name).map_or("nobody's", |operator| operator.name.as_str());
            tracing::warn!(name, %door, tries, "a wrong name or PIN");
            return Err(OperatorRefused::WrongPin.into());
        };
        let forgiven = self.attempts.forgiven(&keys, place);
        // The PIN was right: that its tries are still counted on the disk keeps nobody out.
        match journal.count_pin_tries(&forgiven) {
            Ok(()) => self.attempts.kept(forgiven, self.clock.monotonic()),
            Err(error) => tracing::warn!(%name, %error, "the tries of a PIN that was right stay counted"),
        }
        Ok((operator, tries.saturating_sub(1)))
    }

    fn open_session(&mut self, operator: KeptOperator, door: Who, wrong_before: u32) -> Result<SessionView, Refused> {
        let (session, token) = self.token()?;
        let KeptOperator { name, role, .. } = operator;
        tracing::info!(operator = %name, role = role.as_str(), %door, wrong_before, "signed in");
        self.sessions.begin(token, name.clone(), role, door, self.clock.monotonic());
        let idle_lock_s = self.sessions.idle().as_secs();
        Ok(SessionView { session, operator: name, role, idle_lock_s, wrong_before })
    }

    /// The command is resolved as it is when it begins: what the word is for is what is found now.
    fn approve(
        &mut self,
        operator: KeptOperator,
        wanted: &Wanted,
        resolved: Option<Resolved>,
        door: Who,
    ) -> Result<ApprovalView, Refused> {
        let KeptOperator { name: supervisor, role, .. } = operator;
        if role != Role::Supervisor {
            return Err(OperatorRefused::NoSupervisor { name: supervisor }.into());
        }
        let cashier = wanted.caller.who().operator.clone().ok_or(Denied::OperatorRequired)?;
        let unresolved = || Refused::NotReady { why: "the command was not resolved; ask again".to_owned() };
        let (transaction, amount) = resolved.unwrap_or_else(|| Err(unresolved()))?;
        let command = command_of(cashier, wanted, transaction, amount);
        let (approval, token) = self.token()?;
        tracing::info!(%supervisor, till = command.till, operator = %command.operator, "a supervisor confirmed {command}");
        let (view, good_for_s) = (ConfirmedView::from(&command), Approvals::GOOD_FOR.as_secs());
        let given = GivenApproval { supervisor: supervisor.clone(), command, door };
        self.approvals.give(token, given, self.clock.monotonic());
        Ok(ApprovalView { approval, supervisor, good_for_s, command: view })
    }

    /// 128 random bits as they are given out, and what is kept of them.
    fn token(&self) -> Result<(String, TokenDigest), Refused> {
        let bits = (self.random)()
            .map_err(|error| Refused::NotReady { why: format!("the system gives no random numbers ({error})") })?;
        let token = hex::encode(bits);
        let kept = operator_secrets::digest_of_token(token.as_bytes());
        Ok((token, kept))
    }

    fn pin_made(&mut self, journal: &mut JournalWriter, asked: OperatorCommand, made: Option<PinDigest>) {
        let Some(pin) = made else {
            let why = "the digest of the PIN could not be reckoned; try again".to_owned();
            return answer_refused(asked, Refused::NotReady { why });
        };
        // Another way in may have been quicker.
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

    /// Into the book with its author, and then here.
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
                tracing::warn!(%name, %by, "an operator has another PIN");
                desk.end_all_of(&name);
                desk.operators.iter_mut().filter(|it| it.name == name).for_each(|it| it.pin = pin.clone());
                name
            }
            OperatorChange::Unlocked(name) => {
                tracing::warn!(%name, %by, "an operator was unlocked");
                let doors = desk.attempts.doors().map(|door| (door.clone(), 0)).collect();
                desk.attempts.kept(doors, now);
                name
            }
        };
        let forgiven = desk.attempts.of_operator(&name).into_iter().map(|key| (key, 0)).collect();
        desk.attempts.kept(forgiven, now);
        Ok(())
    }

    /// Who is the author of a transaction that is about to begin: with the supervisor who confirmed it, where a cashier
    /// needs one. `amount` is all that is charged: what a supervisor confirms has the till's tip in it.
    pub(super) fn confirmed_author(
        &self,
        journal: &Journal,
        wanted: &Wanted,
        transaction: &Operation,
        amount: Amount,
    ) -> Result<Who, Refused> {
        let who = wanted.caller.who().clone();
        if who.stated_operator.as_deref().is_some_and(pan::is_in) {
            let why = "it looks like a card number, which belongs into the reader alone".to_owned();
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
        let confirmed = self.approvals.find(token, &command, &who.door(), self.clock.monotonic());
        let supervisor = confirmed.map_err(|found| OperatorRefused::not_approved(found, &command))?.clone();
        Ok(Who { supervisor: Some(supervisor), ..who })
    }

    /// Whether a cashier's sale would need a supervisor with this total, whose tip was typed at the reader, and none
    /// has confirmed it.
    pub(super) fn tip_needs_supervisor(&self, order: &Order, total: Amount) -> bool {
        let Some(Who { operator: Some(name), supervisor: None, .. }) = order.by.clone() else { return false };
        // Of one who was removed meanwhile no role is known.
        let known = self.operators.iter().find(|kept| kept.name == name);
        let is_cashier = known.is_none_or(|kept| kept.role == Role::Cashier);
        is_cashier && !self.in_training && self.above.needs_supervisor(order.kind(), total, false)
    }

    /// A supervisor's word is good once.
    pub(super) fn approval_used(&mut self, token: Option<TokenDigest>) {
        if let Some(token) = token {
            self.approvals.used(&token);
        }
    }

    /// Whether what it refers to began on this day, as far as this journal knows.
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

/// A command as a supervisor confirms it: `amount` is all that is charged.
fn command_of(operator: OperatorName, wanted: &Wanted, transaction: Operation, amount: Amount) -> Approved {
    let (till, reference) = (wanted.till.clone(), wanted.reference.clone());
    let (asks_tip, manual) = (wanted.wish.tip == Some(WantedTip::Ask), wanted.wish.entry == Some(WantedEntry::Typed));
    Approved { operator, till, reference, transaction, amount, asks_tip, manual }
}

/// As whom a PIN is tried, at which door, and from which place of its network.
#[derive(Clone, Copy)]
struct Tried<'a> {
    name: &'a OperatorName,
    door: &'a Who,
    place: Option<&'a PinPlace>,
}

/// Of a command with a PIN that is tried; nothing of what tries none.
fn tried(asked: &OperatorCommand) -> Option<Tried<'_>> {
    match asked {
        OperatorCommand::SignIn { name, door, place, .. } | OperatorCommand::Approve { name, door, place, .. } => {
            Some(Tried { name, door, place: place.as_ref() })
        }
        _ => None,
    }
}

/// Tells whoever gave a PIN that nothing came of it.
fn answer_refused(asked: OperatorCommand, refused: Refused) {
    match asked {
        OperatorCommand::SignIn { reply, .. } => drop(reply.send(Err(refused))),
        OperatorCommand::Approve { reply, .. } => drop(reply.send(Err(refused))),
        OperatorCommand::Add { reply, .. } | OperatorCommand::SetPin { reply, .. } => drop(reply.send(Err(refused))),
        _ => {}
    }
}
