//! One request of the till, from its end to the terminal's record of what the till took.

use std::time::Duration;

use super::outcome::{Told, of_refusal, told};
use super::{Action, Flow, negative};
use crate::caisse_ap::answer::{Answer, Paid};
use crate::caisse_ap::failure::Failure;
use crate::caisse_ap::request::{Direction, Request, RequestFault};
use crate::minor::{decimal, minor};
use pos_till_api::follow::{Follower, Heard, NextActor, PAUSE, Silence};
use pos_till_api::{Ask, Begin, Kind, OnSilence, Outcome, Problem, ProblemType, Said, Sale, State, Status, Taken};

/// The time from the connection after which no request to the gateway begins. The gateway then has a minute.
const LAST_BEGIN: Duration = Duration::from_secs(110);
/// The time from the connection after which the till gets no answer any more. The till itself gives up after 177 s.
const LAST_ANSWER: Duration = Duration::from_secs(170);
/// The time from the connection for which a transaction without a till is followed. The terminal decides by itself
/// about one that waits for its till.
const FORGOTTEN: Duration = Duration::from_secs(600);
/// The time for a supervisor to confirm a credit.
pub const SUPERVISOR: Duration = Duration::from_secs(60);
/// The time for the caller to report the fate of an answer. The caller itself waits 10 s.
const REPORT: Duration = Duration::from_secs(20);
/// The time for which the till's confirmation is repeated until the terminal has recorded it.
const LONGEST_UNSETTLED: Duration = Duration::from_secs(300);
/// Time that the terminal may hold a question about the state of a transaction, in seconds.
const WATCH_S: u8 = 2;

/// The current stage, with its data.
#[derive(Debug)]
enum Stage {
    /// The terminal's currency is asked for.
    Status,
    Supervisor {
        ticket: u64,
        until: Duration,
        begin: Begin,
    },
    Following(Follower),
    /// The answer is on its way. An approval without a confirmation, such as a credit, stands anyway.
    Telling {
        follower: Follower,
        confirms: bool,
        until: Duration,
    },
    Confirming {
        follower: Follower,
        taken: Taken,
        until: Duration,
    },
    Over,
}

/// A question to the terminal.
#[derive(Debug)]
enum Question {
    Open { ticket: u64 },
    Later { at: Duration, ask: Ask },
}

/// The reason why the session cancels the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// Second 110 has passed.
    Late,
    /// The till is gone, or its outcome became unknown.
    Gone,
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct Job {
    request: Request,
    /// The time of the connection.
    opened: Duration,
    /// A till waits for the answer.
    heard: bool,
    stage: Stage,
    question: Option<Question>,
    silence: Silence,
    decimals: u8,
    stop: Option<Stop>,
    /// The terminal has answered a cancellation.
    stop_answered: bool,
    /// An approval is taken back in any case, because the till broke the protocol or the amount differs.
    void: bool,
}

impl Job {
    pub(super) fn new(request: Request, opened: Duration) -> Self {
        Self {
            request,
            opened,
            heard: true,
            stage: Stage::Status,
            question: None,
            silence: Silence::default(),
            decimals: 2,
            stop: None,
            stop_answered: false,
            void: false,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Returns whether a till waits for the answer.
    pub(super) fn is_heard(&self) -> bool {
        self.heard
    }

    /// Returns whether the till may have its answer, and the terminal has not recorded yet what the till took.
    pub(super) fn is_settling(&self) -> bool {
        matches!(self.stage, Stage::Telling { .. } | Stage::Confirming { .. })
    }

    pub(super) fn waits_for(&self, asked: u64) -> bool {
        matches!(self.question, Some(Question::Open { ticket }) if ticket == asked)
    }

    pub(super) fn waits_for_supervisor(&self, asked: u64) -> bool {
        matches!(self.stage, Stage::Supervisor { ticket, .. } if ticket == asked)
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        let again = match &self.question {
            Some(Question::Later { at, .. }) => Some(*at),
            _ => None,
        };
        let of_stage = match &self.stage {
            Stage::Supervisor { until, .. } => Some(*until),
            Stage::Telling { until, .. } => Some(*until),
            _ => None,
        };
        let of_time = match &self.stage {
            Stage::Status | Stage::Supervisor { .. } | Stage::Following(_) if self.stop.is_none() => {
                Some(self.opened + LAST_BEGIN)
            }
            Stage::Following(_) if self.heard => Some(self.opened + LAST_ANSWER),
            Stage::Following(_) => Some(self.opened + FORGOTTEN),
            _ => None,
        };
        [again, of_stage, of_time].into_iter().flatten().min()
    }

    fn leave(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Over)
    }

    fn ask(&mut self, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        self.stage = stage;
        self.question = Some(Question::Open { ticket: flow.ask(ask) });
    }

    fn ask_at(&mut self, at: Duration, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        if at <= flow.now {
            return self.ask(ask, stage, flow);
        }
        self.stage = stage;
        self.question = Some(Question::Later { at, ask });
    }

    pub(super) fn begin(&mut self, flow: &mut Flow<'_>) {
        for tag in self.request.ignored.clone() {
            flow.note(format!("{tag}: the field is ignored"));
        }
        self.ask(Ask::Status, Stage::Status, flow);
    }

    // ---- The till, and time

    pub(super) fn line_lost(&mut self, flow: &mut Flow<'_>) {
        self.heard = false;
        match self.leave() {
            Stage::Following(follower) => self.stop(Stop::Gone, follower, flow),
            stage @ Stage::Telling { .. } => {
                self.stage = stage;
                self.taken(false, flow);
            }
            stage @ Stage::Confirming { .. } => self.stage = stage,
            // Nothing was begun.
            Stage::Status | Stage::Supervisor { .. } | Stage::Over => {}
        }
    }

    /// Handles further bytes of the till during its transaction. They may be a part of the request, so nothing may be
    /// charged.
    pub(super) fn till_goes_on(&mut self, flow: &mut Flow<'_>) {
        if matches!(self.stage, Stage::Telling { .. } | Stage::Confirming { .. }) {
            return;
        }
        flow.note(format!("the transaction is cancelled: {}", RequestFault::GoesOn));
        self.void = true;
        if matches!(self.stage, Stage::Following(_)) {
            flow.actions.push(Action::Hang { line: flow.line });
            return self.line_lost(flow);
        }
        self.not_done(RequestFault::GoesOn.failure(), flow);
    }

    /// Handles the fate of the answer.
    pub(super) fn taken(&mut self, taken: bool, flow: &mut Flow<'_>) {
        self.heard = false;
        match self.leave() {
            Stage::Telling { follower, confirms: true, .. } if taken => self.confirm(follower, Taken::All, flow),
            Stage::Telling { follower, confirms: true, .. } => self.confirm_by_silence(follower, flow),
            Stage::Telling { .. } if !taken => flow.note("the till did not get the answer; the transaction stands"),
            Stage::Telling { .. } => {}
            stage => self.stage = stage,
        }
    }

    pub(super) fn tick(&mut self, flow: &mut Flow<'_>) {
        let is_late = self.is_late(flow) && self.stop.is_none();
        match self.leave() {
            Stage::Status if is_late => return self.not_done(Failure::TimeOut, flow),
            Stage::Supervisor { until, .. } if is_late || flow.now >= until => {
                return self.not_done(Failure::Forbidden, flow);
            }
            Stage::Following(follower) if is_late => return self.stop(Stop::Late, follower, flow),
            stage @ Stage::Telling { until, .. } if flow.now >= until => {
                self.stage = stage;
                flow.actions.push(Action::Hang { line: flow.line });
                return self.taken(false, flow);
            }
            Stage::Following(follower) if self.heard && flow.now >= self.opened + LAST_ANSWER => {
                self.unknown(flow);
                return self.stop(Stop::Gone, follower, flow);
            }
            Stage::Following(_) if !self.heard && flow.now >= self.opened + FORGOTTEN => return,
            stage => self.stage = stage,
        }
        let is_due = |question: &mut Question| matches!(question, Question::Later { at, .. } if flow.now >= *at);
        if let Some(Question::Later { ask, .. }) = self.question.take_if(is_due) {
            let stage = self.leave();
            self.ask(ask, stage, flow);
        }
    }

    /// Returns whether no request to the gateway may begin any more.
    fn is_late(&self, flow: &Flow<'_>) -> bool {
        flow.now >= self.opened + LAST_BEGIN
    }

    /// Cancels the transaction, as soon as it is certain that its begin request is no longer on its way.
    fn stop(&mut self, stop: Stop, mut follower: Follower, flow: &mut Flow<'_>) {
        // The till's loss has the same effect as the time limit, but another reason.
        self.stop.get_or_insert(stop);
        let is_open = matches!(self.question, Some(Question::Open { .. }));
        match follower.ask() {
            Ask::Begin(_) if is_open => self.stage = Stage::Following(follower),
            Ask::Begin(_) if !follower.may_stand() => self.nothing_begun(flow),
            Ask::Cancel(_) => self.stage = Stage::Following(follower),
            _ if self.stop_answered => self.stage = Stage::Following(follower),
            _ => self.ask(follower.cancel(), Stage::Following(follower), flow),
        }
    }

    /// Ends a transaction whose begin request did not reach the agent.
    fn nothing_begun(&mut self, flow: &mut Flow<'_>) {
        let failure = if self.stop == Some(Stop::Late) { Failure::TimeOut } else { Failure::GivenUp };
        self.not_done(failure, flow);
    }

    // ---- Answers of the terminal

    pub(super) fn supervisor_said(&mut self, confirmed: bool, flow: &mut Flow<'_>) {
        match self.leave() {
            Stage::Supervisor { begin, .. } if confirmed && !self.is_late(flow) => self.begin_it(begin, flow),
            _ => self.not_done(Failure::Forbidden, flow),
        }
    }

    pub(super) fn said(&mut self, said: Said, flow: &mut Flow<'_>) {
        self.question = None;
        match (self.leave(), said) {
            (Stage::Status, Said::Status(status)) => self.status(&status, flow),
            (Stage::Status, Said::Refused(problem)) => self.refused(of_refusal(&problem), &problem.detail, flow),
            (Stage::Status, _) => match self.silence.goes_on(flow.now) {
                Some(at) => self.ask_at(at, Ask::Status, Stage::Status, flow),
                None => self.refused(Failure::GivenUp, "the agent does not answer", flow),
            },
            (Stage::Following(follower), said) => self.heard(follower, said, flow),
            (Stage::Confirming { follower, taken, until }, said) => self.confirmed(follower, taken, until, said, flow),
            (stage, _) => self.stage = stage,
        }
    }

    fn status(&mut self, status: &Status, flow: &mut Flow<'_>) {
        if self.is_late(flow) {
            return self.not_done(Failure::TimeOut, flow);
        }
        let known = status.currency.clone().filter(|_| status.currency_number == Some(self.request.currency));
        let Some(currency) = known else {
            return self.refused(Failure::Currency, &RequestFault::Currency.to_string(), flow);
        };
        self.decimals = status.currency_decimals.unwrap_or(2);
        let amount = decimal(self.request.minor, self.decimals);
        let (reference, is_debit) = (flow.new_reference(), self.request.direction == Direction::Debit);
        let kind = if is_debit { Kind::Sale } else { Kind::Credit };
        let begin = Begin {
            currency: Some(currency.clone()),
            confirm: is_debit.then_some(flow.settings.unacknowledged),
            ..Begin::new(&reference, kind, Some(amount.clone()))
        };
        if is_debit {
            return self.begin_it(begin, flow);
        }
        if !flow.settings.credit {
            return self.refused(Failure::Forbidden, "credits are not permitted for this till", flow);
        }
        let ticket = flow.ticket();
        self.stage = Stage::Supervisor { ticket, until: flow.now + SUPERVISOR, begin };
        flow.actions.push(Action::WaitForSupervisor { ticket, reference, amount, currency });
    }

    fn begin_it(&mut self, begin: Begin, flow: &mut Flow<'_>) {
        let follower = Follower::begin(begin, WATCH_S);
        self.ask(follower.ask(), Stage::Following(follower), flow);
    }

    fn heard(&mut self, mut follower: Follower, said: Said, flow: &mut Flow<'_>) {
        match follower.said(said, flow.now) {
            Heard::Stands(sale) => self.stands(follower, *sale, flow),
            Heard::Stopped { sale, .. } => {
                self.stop_answered = true;
                self.stands(follower, *sale, flow);
            }
            // A repeated begin request could begin the transaction after its time.
            Heard::Next { ask: Ask::Begin(_), .. } if self.stop.is_some() => match follower.may_stand() {
                true => self.ask(follower.cancel(), Stage::Following(follower), flow),
                false => self.nothing_begun(flow),
            },
            Heard::Next { at, ask } => self.ask_at(at, ask, Stage::Following(follower), flow),
            Heard::Refused(problem) => self.refused(of_refusal(&problem), &problem.detail, flow),
            Heard::Silent { may_stand: false } => self.refused(Failure::GivenUp, "the agent does not answer", flow),
            // Only this session uses its references.
            Heard::WasThere(_) => self.unknown(flow),
            Heard::Silent { may_stand: true } => {
                self.unknown(flow);
                self.stop.get_or_insert(Stop::Gone);
                self.ask_at(flow.now + PAUSE, follower.cancel(), Stage::Following(follower), flow);
            }
        }
    }

    /// Handles the current state of the transaction.
    fn stands(&mut self, mut follower: Follower, sale: Sale, flow: &mut Flow<'_>) {
        if self.is_late(flow) {
            self.stop.get_or_insert(Stop::Late);
        }
        match sale.state.next_actor() {
            NextActor::Till if sale.to_confirm.is_some() => self.approved(follower, &sale, flow),
            NextActor::None => self.ended(follower, &sale, flow),
            NextActor::Recovery => self.unknown(flow),
            _ if self.stop.is_some() && !self.stop_answered => {
                // After a refused cancellation, the transaction is cancelled again a little later.
                let at = if follower.is_looking() { flow.now + PAUSE } else { flow.now };
                self.ask_at(at, follower.cancel(), Stage::Following(follower), flow);
            }
            NextActor::Agent => self.ask(follower.watch(), Stage::Following(follower), flow),
            // The cashier compares the signature at the terminal. The terminal does not delay its answer here.
            NextActor::Cashier | NextActor::Till => {
                self.ask_at(flow.now + PAUSE, follower.watch(), Stage::Following(follower), flow);
            }
        }
    }

    /// Handles an approval that waits for the till.
    fn approved(&mut self, follower: Follower, sale: &Sale, flow: &mut Flow<'_>) {
        let amount = sale.to_confirm.as_ref().map(|it| it.amount.as_str());
        if !self.is_amount(amount) {
            self.void = true;
            self.unknown(flow);
        }
        if self.void || !self.heard {
            self.confirm_by_silence(follower, flow)
        } else {
            self.tell(follower, sale, true, flow)
        }
    }

    fn ended(&mut self, follower: Follower, sale: &Sale, flow: &mut Flow<'_>) {
        match told(sale, self.stop == Some(Stop::Late)) {
            Told::NotDone(failure) => self.not_done(failure, flow),
            Told::Paid if self.heard && self.is_amount(sale.approved_amount.as_deref()) => {
                self.tell(follower, sale, false, flow);
            }
            Told::Paid | Told::Unknown => self.unknown(flow),
        }
    }

    fn is_amount(&self, amount: Option<&str>) -> bool {
        amount.and_then(|amount| minor(amount, self.decimals)) == Some(self.request.minor)
    }

    // ---- Answers to the till

    fn tell(&mut self, follower: Follower, sale: &Sale, confirms: bool, flow: &mut Flow<'_>) {
        let paid = Paid::of(sale.card.as_ref(), sale.approval_code.as_deref());
        let bytes = Answer { echo: self.request.echo.clone(), result: Ok(paid) }.encode();
        flow.actions.push(Action::Answer { line: flow.line, bytes, reports: true });
        self.stage = Stage::Telling { follower, confirms, until: flow.now + REPORT };
    }

    /// Ends the request: nothing is charged.
    fn not_done(&mut self, failure: Failure, flow: &mut Flow<'_>) {
        self.stage = Stage::Over;
        if std::mem::take(&mut self.heard) {
            flow.actions.push(negative(flow.line, self.request.echo.clone(), failure));
        }
    }

    fn refused(&mut self, failure: Failure, why: &str, flow: &mut Flow<'_>) {
        flow.note(format!("a request was refused: {why}"));
        self.not_done(failure, flow);
    }

    /// Closes the line without an answer, because the outcome is not known.
    fn unknown(&mut self, flow: &mut Flow<'_>) {
        self.stage = Stage::Over;
        if std::mem::take(&mut self.heard) {
            flow.note("the connection is closed without an answer, because the outcome is not known");
            flow.actions.push(Action::Hang { line: flow.line });
        }
    }

    // ---- What the till took

    /// Keeps or takes back an approval that the till does not get.
    fn confirm_by_silence(&mut self, follower: Follower, flow: &mut Flow<'_>) {
        match flow.settings.unacknowledged {
            OnSilence::Keep if !self.void => self.confirm(follower, Taken::All, flow),
            _ => self.confirm(follower, Taken::Nothing, flow),
        }
    }

    fn confirm(&mut self, mut follower: Follower, taken: Taken, flow: &mut Flow<'_>) {
        let ask = follower.confirm(taken.clone());
        let until = flow.now + LONGEST_UNSETTLED;
        self.ask(ask, Stage::Confirming { follower, taken, until }, flow);
    }

    fn confirmed(&mut self, mut follower: Follower, taken: Taken, until: Duration, said: Said, flow: &mut Flow<'_>) {
        let takes = taken == Taken::All;
        let stands = |sale: &Sale| (sale.state, sale.outcome) == (State::Ended, Some(Outcome::Approved));
        let again = match follower.said(said, flow.now) {
            Heard::Next { at, ask } => Some((at, ask)),
            // The terminal has the confirmation, but has not carried it out. For example, its disk is full.
            Heard::Stands(sale) if sale.state == State::AwaitingTill || takes && sale.state != State::Ended => {
                Some((flow.now + PAUSE, follower.ask()))
            }
            Heard::Silent { .. } => Some((flow.now + PAUSE, follower.ask())),
            // The terminal cannot tell now. It may be unable to write its journal.
            Heard::Refused(problem) if !is_final(&problem) => Some((flow.now + PAUSE, follower.ask())),
            Heard::Stands(sale) if !takes || stands(&sale) => return,
            Heard::Stands(_) | Heard::Stopped { .. } | Heard::WasThere(_) | Heard::Refused(_) => None,
        };
        match again.filter(|_| flow.now < until) {
            Some((at, ask)) => self.ask_at(at, ask, Stage::Confirming { follower, taken, until }, flow),
            None if takes => flow.note("the till took a payment that the terminal does not confirm; check both"),
            None => {}
        }
    }
}

/// Returns whether a refused confirmation stays refused. The terminal has decided without the till, or knows no such
/// transaction.
fn is_final(problem: &Problem) -> bool {
    problem.is(ProblemType::NoConfirmationAwaited) || problem.is(ProblemType::NoSuchSale)
}
