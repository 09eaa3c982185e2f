//! One request of the till, from its message to its answer.
//!
//! ```text
//!  Facts ─▶ Known ─▶ SameMessage ─▶ SameTransaction ─▶ Original ─▶ OriginalWhole ─▶ Following ─▶ Receipts
//!             │      (the ServiceID) (of payments)     (the earlier transaction)    (its own)   (both copies)
//!             └── it is known: the answer again ───────────────────────────────────▶
//!  TransactionStatus: Earlier ─▶ Receipts      Abort: Earlier ─▶ Stopping
//!  Reconciliation: Closing ─▶ LastClose        the rest: Facts ─▶ Terminal, Typing or Printing
//! ```
//!
//! The session asks the terminal one question at a time. If no answer comes, it asks again, unless the question has
//! lines that may be on paper.

mod closing;
mod earlier;
mod following;
mod known;
mod terminal;

use std::fmt;
use std::time::Duration;

use super::flow::Flow;
use super::refusal::{because, refused};
use super::{Action, Arrival, Exchange, metadata};
use crate::clock::rfc3339;
use crate::nexo::additional;
use crate::nexo::enums::{ErrorCondition, ReconciliationType};
use crate::nexo::envelope::Message;
use crate::nexo::meaning::Meaning;
use crate::nexo::reference::Identity;
use crate::nexo::reject::Rejected;
use crate::nexo::request::{Request, RequestBody};
use crate::nexo::response::{Response, ResponseBody};
use crate::nexo::shared::Outcome;
use following::{Following, Receipts};
use pos_till_api::follow::Silence;
use pos_till_api::{Ask, Close, ProblemType, Said};

/// Time that the terminal may hold a question about the state of a transaction, in seconds.
pub(super) const WATCH_S: u8 = 60;
/// The time within which a ServiceID identifies one message, in seconds (Terminal API: unique within 48 hours).
const SERVICE_ID_LASTS_S: u64 = 48 * 3600;

/// The current stage of a request, with the data of that stage.
#[derive(Debug)]
enum Stage {
    /// The question about the currency and the names of the terminal.
    Facts,
    /// The question whether the message is known.
    Known(Standing),
    /// The search for other messages with the same ServiceID.
    SameMessage(Standing),
    /// The search for other messages about the same transaction.
    SameTransaction(Standing),
    /// The search for the earlier transaction to which the request refers.
    Original(Standing),
    /// The question about the remaining amount of the earlier transaction.
    OriginalWhole(Standing),
    /// The request's own transaction, from its begin on.
    Following(Following),
    Receipts(Receipts),
    /// The search for the transaction of the message that the request names.
    Earlier,
    /// The end of the transaction that the request names.
    Stopping,
    /// A question about the terminal.
    Terminal,
    /// An input at the reader.
    Typing {
        /// The till's time-out (MaxInputTime).
        until: Option<Duration>,
    },
    /// Lines from the till for the printer.
    Printing,
    Closing,
    /// The question about the last close. The value is the earlier close under the same reference.
    LastClose(Box<Close>),
    Over,
}

/// The relation of a payment or a reversal to the terminal's records.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// Another message has the normal reference, so this one uses a separate reference that depends on its meaning.
    apart: bool,
    /// The transaction was begun, or may have been.
    may_stand: bool,
}

/// A question to the terminal.
#[derive(Debug)]
enum Question {
    Open {
        ticket: u64,
        ask: Ask,
    },
    /// The question will be asked at this time.
    Later {
        at: Duration,
        ask: Ask,
    },
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct Job {
    /// The exchange of the first request.
    pub(super) exchange: Exchange,
    pub(super) request: Request,
    /// The caller has accepted it earlier.
    is_repeated: bool,
    /// No new transaction begins from this time on.
    begins_until: Duration,
    /// Another message has stopped this request.
    pub(super) aborted: bool,
    /// The exchanges that wait for the answer. A repeated message adds another one.
    pub(super) heard_by: Vec<Exchange>,
    meaning: Option<Meaning>,
    received: Vec<u8>,
    stage: Stage,
    question: Option<Question>,
    /// The time-out of all questions, except those about the request's own transaction.
    silence: Silence,
}

impl Job {
    pub(super) fn new(
        exchange: Exchange,
        request: Request,
        received: Vec<u8>,
        (arrival, now): (Arrival, Duration),
    ) -> Self {
        Self {
            exchange,
            is_repeated: arrival != Arrival::New,
            begins_until: match arrival {
                Arrival::New => Duration::MAX,
                Arrival::Again { left } => now + left,
                Arrival::Late => Duration::ZERO,
            },
            meaning: Meaning::of(&request),
            request,
            received,
            aborted: false,
            heard_by: vec![exchange],
            stage: Stage::Over,
            question: None,
            silence: Silence::default(),
        }
    }

    pub(super) fn is_twin_of(&self, other: &Self) -> bool {
        let is_once = match (&self.request.body, &other.request.body) {
            (RequestBody::Reconciliation(own), RequestBody::Reconciliation(other)) => own == other,
            _ => self.moves_money(),
        };
        is_once && self.meaning == other.meaning && self.request.identity() == other.request.identity()
    }

    pub(super) fn is_heard(&self) -> bool {
        !self.heard_by.is_empty()
    }

    pub(super) fn moves_money(&self) -> bool {
        matches!(self.request.body, RequestBody::Payment(_) | RequestBody::Reversal(_))
    }

    pub(super) fn is_input(&self) -> bool {
        matches!(self.request.body, RequestBody::Input(_))
    }

    pub(super) fn service_id(&self) -> Option<&str> {
        self.request.header.service_id.as_deref()
    }

    fn identity(&self) -> Identity<'_> {
        self.request.identity()
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Returns the number of the open question.
    pub(super) fn ticket(&self) -> Option<u64> {
        match self.question {
            Some(Question::Open { ticket, .. }) => Some(ticket),
            _ => None,
        }
    }

    /// Returns the time of the next question, or `Duration::MAX` while a question is open.
    pub(super) fn asks_at(&self) -> Option<Duration> {
        self.question.as_ref().map(|question| match question {
            Question::Open { .. } => Duration::MAX,
            Question::Later { at, .. } => *at,
        })
    }

    /// Returns how long the till waits for the input.
    pub(super) fn until(&self) -> Option<Duration> {
        match self.stage {
            Stage::Typing { until } => until,
            _ => None,
        }
    }

    pub(super) fn start(&mut self, flow: &mut Flow<'_>) {
        match &self.request.body {
            RequestBody::Payment(_) | RequestBody::Reversal(_) => match flow.facts {
                Some(_) => self.look_whether_known(Standing::default(), flow),
                None => self.ask(Ask::Status, Stage::Facts, flow),
            },
            RequestBody::TransactionStatus(status) => {
                let named = status.message_reference.clone().unwrap_or_default();
                self.look_for(&named, flow);
            }
            RequestBody::Abort(abort) => {
                let named = abort.message_reference.clone();
                self.look_for(&named, flow);
            }
            RequestBody::Login(login) if login.training_mode_flag => {
                let why = "TrainingModeFlag: a till cannot start training at this terminal; nothing was changed";
                self.answered(because(ErrorCondition::UnavailableService, &why), flow);
            }
            RequestBody::Diagnosis(_) | RequestBody::Login(_) => self.ask(Ask::Status, Stage::Terminal, flow),
            RequestBody::Logout(_) => {
                *flow.logged_in = false;
                self.answered(Outcome::success(), flow);
            }
            RequestBody::Reconciliation(wanted) => match wanted.reconciliation_type {
                ReconciliationType::PreviousReconciliation => self.ask(Ask::LastClose, Stage::Terminal, flow),
                _ => self.close(self.identity().reference(), Stage::Closing, flow),
            },
            RequestBody::Input(_) | RequestBody::Print(_) | RequestBody::Display(_) if self.is_repeated => {
                let why = "the terminal was interrupted and may have done it; look at the terminal";
                self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
            }
            RequestBody::GetTotals(_) => self.ask(Ask::OpenPeriod, Stage::Terminal, flow),
            RequestBody::Input(_) => self.type_amount(flow),
            RequestBody::Print(_) => self.ask(Ask::Status, Stage::Facts, flow),
            RequestBody::Display(_) => self.show_text(flow),
            _ => self.answered(Outcome::failure(ErrorCondition::UnavailableService), flow),
        }
    }

    // ---- Questions and the terminal's answers

    fn ask(&mut self, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        self.stage = stage;
        let ticket = flow.ask(ask.clone());
        self.question = Some(Question::Open { ticket, ask });
    }

    /// Asks at the given time, or immediately if that time has passed.
    fn ask_at(&mut self, at: Duration, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        if at <= flow.now.steady {
            return self.ask(ask, stage, flow);
        }
        self.stage = stage;
        self.question = Some(Question::Later { at, ask });
    }

    pub(super) fn ask_again(&mut self, flow: &mut Flow<'_>) {
        if let Some(Question::Open { ask, .. } | Question::Later { ask, .. }) = self.question.take() {
            let stage = self.leave();
            self.ask(ask, stage, flow);
        }
    }

    /// Removes and returns the stage. The caller sets the next one. If it does not, the request is over.
    fn leave(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Over)
    }

    pub(super) fn said(&mut self, said: Said, flow: &mut Flow<'_>) {
        let Some(Question::Open { ask: asked, .. }) = self.question.take() else { return };
        let stage = self.leave();
        // These two stages handle a missing answer themselves.
        let is_asked_again = !matches!(stage, Stage::Following(_) | Stage::Printing);
        let unanswered = match &said {
            Said::NoAnswer { .. } => true,
            // This refusal says nothing about an earlier attempt of the message.
            Said::Refused(problem) => self.looks(&stage) && problem.known().is_some_and(says_nothing),
            _ => false,
        };
        if is_asked_again && unanswered {
            return self.not_answered(stage, asked, flow);
        }
        self.silence.ends();
        match stage {
            Stage::Facts => self.facts(&said, flow),
            Stage::Known(standing) => self.known(standing, said, flow),
            Stage::SameMessage(standing) => self.same_message(standing, said, flow),
            Stage::SameTransaction(standing) => self.same_transaction(standing, said, flow),
            Stage::Original(standing) => self.original(standing, said, flow),
            Stage::OriginalWhole(standing) => self.original_whole(standing, said, flow),
            Stage::Following(following) => self.heard(following, said, flow),
            Stage::Receipts(receipts) => self.receipt(receipts, said, flow),
            Stage::Earlier => self.earlier(said, flow),
            Stage::Terminal | Stage::Typing { .. } => self.terminal(&said, flow),
            Stage::Printing => self.printed(&said, flow),
            Stage::Closing => self.closing(said, flow),
            Stage::LastClose(known) => self.last_close(known, &said, flow),
            Stage::Stopping | Stage::Over => self.over(None, flow),
        }
    }

    /// Asks the same question again while the terminal may be restarting.
    fn not_answered(&mut self, stage: Stage, asked: Ask, flow: &mut Flow<'_>) {
        match self.silence.goes_on(flow.now.steady) {
            Some(at) => self.ask_at(at, asked, stage, flow),
            None => self.nobody_answers(self.may_stand(&stage), flow),
        }
    }

    /// Returns whether the request's transaction was begun, or may have been.
    fn may_stand(&self, stage: &Stage) -> bool {
        match stage {
            // An earlier attempt of this message may have been carried out.
            stage if self.looks(stage) => true,
            Stage::Original(standing) | Stage::OriginalWhole(standing) => standing.may_stand,
            // The transaction that a status asks for may stand.
            Stage::Earlier => true,
            // Receipts of an earlier message say nothing about this message.
            Stage::Receipts(_) => self.moves_money(),
            _ => false,
        }
    }

    /// Returns whether the terminal's record of this payment or reversal is still unknown.
    fn looks(&self, stage: &Stage) -> bool {
        match stage {
            Stage::Facts => self.moves_money(),
            stage => matches!(stage, Stage::Known(_) | Stage::SameMessage(_) | Stage::SameTransaction(_)),
        }
    }

    /// Ends the request because the terminal has been silent for too long.
    fn nobody_answers(&mut self, may_stand: bool, flow: &mut Flow<'_>) {
        if may_stand {
            let why = "the outcome is not known yet; ask for it by TransactionStatus";
            let pairs = additional::write([("message", why), ("carriedOut", "unknown")]);
            return self.answered(Outcome::failure(ErrorCondition::UnreachableHost).with(pairs), flow);
        }
        let why = "the terminal's program does not answer; nothing was started";
        self.answered(because(ErrorCondition::UnavailableDevice, &why), flow);
    }

    // ---- The end

    /// Ends an input for which no till waits.
    pub(super) fn gives_up(&mut self, condition: ErrorCondition, flow: &mut Flow<'_>) {
        flow.actions.extend(self.ticket().map(|ticket| Action::GiveUp { ticket }));
        self.answered(Outcome::failure(condition), flow);
    }

    /// Answers with only the outcome, and with the till's own texts.
    pub(super) fn answered(&mut self, outcome: Outcome, flow: &mut Flow<'_>) {
        let metadata = metadata::of(&self.request, flow.settings).unwrap_or_default();
        let outcome = metadata::with(outcome, &metadata);
        let body = self.request.body.answered(outcome);
        self.over(body, flow);
    }

    fn over(&mut self, body: Option<ResponseBody>, flow: &mut Flow<'_>) {
        let header = self.request.header.response();
        let message = body.map(|body| Box::new(Message::Response(Response { header, body })));
        self.end(message, flow);
    }

    /// Rejects the message with the reason.
    pub(super) fn reject(&mut self, why: &dyn fmt::Display, flow: &mut Flow<'_>) {
        *flow.rejected = flow.rejected.wrapping_add(1);
        let rejected = Rejected {
            header: Some(&self.request.header),
            received: &self.received,
            poi_id: &flow.settings.poi_id,
            device_id: &flow.rejected.to_string(),
            time_stamp: &rfc3339(flow.now.unix_s),
        };
        let message = Box::new(rejected.notification(why));
        self.end(Some(message), flow);
    }

    fn end(&mut self, message: Option<Box<Message>>, flow: &mut Flow<'_>) {
        self.stage = Stage::Over;
        let answer = |exchange| Action::Answer { exchange, message: message.clone() };
        flow.actions.extend(self.heard_by.drain(..).map(answer));
    }
}

/// Returns whether a look-up was refused only because the terminal could not carry it out.
fn says_nothing(problem: ProblemType) -> bool {
    problem.is_passing() || problem == ProblemType::Journal
}
