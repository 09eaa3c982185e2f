//! One command of the till, from its answer `80 00 00` to `06 0F` or `06 1E`.
//!
//! ```text
//!  Status ─▶ InStep ─▶ Finding ─▶ Beginning ─▶ Watching ─▶ Telling ─▶ Confirming ─▶ Receipts ─▶ Ending
//!            (1F1F)   (an earlier (write down) (how it    (04 0F)    (what the     (06 D1/D3)  (06 0F/06 1E)
//!                      sale)                    stands)               till takes)
//! ```
//!
//! One frame at a time goes out, and the next one when it was answered, or after T3. A till may answer `04 FF` later
//! than that. Once it has answered one, each that it has not answered is owed:
//!
//! - no other `04 FF` goes out until the owed answer is there;
//! - an answer to `04 0F` that may be the owed one decides nothing: `04 0F` goes out once more;
//! - a till that hears nothing meanwhile is not kept waiting for longer than T4.

mod reprint;
mod telling;
mod till;
mod wanting;

use std::time::Duration;

use super::Line;
use super::earlier::Search;
use super::flow::Flow;
use super::outcome::{code_of, code_of_refusal};
use crate::zvt::apdu::Apdu;
use crate::zvt::bmp::Fields;
use crate::zvt::code;
use crate::zvt::command::Command;
use pos_till_api::{Ask, Begin, Copy, Kind, OnSilence, Outcome, PrintLine, Said, Sale, State, Status, Taken};
use reprint::Range;
use till::{Frame, Till};

/// T3: an APDU is answered within it.
const T3: Duration = Duration::from_secs(5);
/// T4 less what the last frames take: a till that hears no intermediate status gives up after 180 s.
const PATIENCE_OF_TILL: Duration = Duration::from_secs(165);
/// An intermediate status is said at least this often.
const KEEP_ALIVE: Duration = Duration::from_secs(8);
/// How long one question for the state of a sale waits at the terminal, in seconds.
const WATCH_S: u8 = 2;
/// `84 9C`: asked again after it.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How often `04 0F` is said at most where the till does not say (BMP 02): without an answer, and with `84 9C`.
const TRIES: u8 = 3;
const LATER: u8 = 30;
/// The terminal is asked again after no answer.
const PAUSE: Duration = Duration::from_secs(1);
/// For so long; the terminal may be restarted meanwhile.
const NO_ANSWER: Duration = Duration::from_secs(30);

/// What stands in the way of a command, and what is known exactly while it does.
#[derive(Debug)]
enum Stage {
    Status,
    /// So many of the till's latest transactions were asked for.
    InStep(u8),
    Undoing(Undoing),
    Finding(Search),
    Beginning(Payment),
    Watching(Watched),
    Cancelling(Watched),
    Signing(Watched),
    Telling(Told),
    Confirming(Confirming),
    /// The latest transaction is told once more.
    Latest,
    Receipt {
        slip: Slip,
        approved: bool,
    },
    Period,
    /// Receipts from one number to another are to be printed again.
    Newest {
        from: u16,
        to: u16,
    },
    Again {
        number: u64,
        range: Range,
    },
    /// A receipt goes to the terminal's own printer once more.
    PrintAgain(Slip),
    /// Lines of the till's own.
    Printing,
    Ending,
    Over,
}

/// An approval that the till has never heard of is taken back.
#[derive(Debug)]
struct Undoing {
    of: String,
    kind: Kind,
}

/// A transaction that the terminal was asked to begin.
#[derive(Debug, Default)]
struct Payment {
    reference: String,
    confirm: Option<OnSilence>,
    /// The transaction that it follows.
    earlier: Option<Earlier>,
    /// What `04 FF` says in words: how it stood when it was last looked at.
    text: Option<String>,
    /// The till has waited for as long as it does.
    gave_up: bool,
    /// Its till is gone, and it was to be stopped.
    stopped: bool,
}

#[derive(Debug)]
struct Earlier {
    reference: String,
    number: u64,
}

/// The terminal has it, and this is how it stood.
#[derive(Debug)]
struct Watched {
    payment: Payment,
    state: State,
}

/// What `04 0F` tells, until the till has answered it.
#[derive(Debug)]
struct Told {
    reference: String,
    confirm: Option<OnSilence>,
    sale: Box<Sale>,
    result: u8,
}

#[derive(Debug)]
struct Confirming {
    taken: Taken,
    /// Since when the terminal has heard it, and has not carried it out.
    unsettled_since: Option<Duration>,
}

/// One copy of a receipt.
#[derive(Debug)]
struct Slip {
    reference: String,
    copy: Copy,
    then: Then,
}

/// What follows the receipts of a transaction.
#[derive(Debug)]
enum Then {
    /// `06 1E` with this code; `06 0F` for `None`.
    End(Option<u8>),
    Next(Range),
}

/// A question to the terminal.
#[derive(Debug)]
enum Question {
    /// After no answer it is asked again, where it may be.
    Open { ticket: u64, ask: Option<Ask> },
    /// It is asked then.
    Later { at: Duration, ask: Ask },
}

/// A command that is being carried out.
#[derive(Debug)]
pub(super) struct Job {
    command: Command,
    till: Till,
    stage: Stage,
    question: Option<Question>,
    /// Since when there is no answer.
    silent_since: Option<Duration>,
}

impl Job {
    pub(super) fn new(line: Line, command: Command, now: Duration) -> Self {
        let till = Till::new(line, now);
        Self { command, till, stage: Stage::Status, question: None, silent_since: None }
    }

    pub(super) fn is_on(&self, line: Line) -> bool {
        self.till.line == line
    }

    /// The stage, to be gone on from: whoever takes it sets the next one, or the command is over.
    fn leave(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Over)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Only the answer to the last frame is missing: a till that goes on without it has had it.
    pub(super) fn is_told(&self) -> bool {
        matches!(self.stage, Stage::Ending)
            && self.till.frames.is_empty()
            && matches!(self.till.unanswered, Some((Frame::Last(_), _)))
    }

    pub(super) fn waits_for(&self, asked: u64) -> bool {
        matches!(self.question, Some(Question::Open { ticket, .. }) if ticket == asked)
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        let unanswered = self.till.unanswered.as_ref().map(|(_, until)| *until);
        let again = self.question.as_ref().and_then(Question::at);
        let alive = self.stage.keeps_alive().then(|| self.till.last_frame + KEEP_ALIVE);
        let patience =
            (self.stage.is_under_way() && self.till.hears_nothing()).then(|| self.till.waits_since + self.patience());
        [unanswered, again, alive, patience].into_iter().flatten().min()
    }

    /// How long a till that hears nothing waits: for the answer to a line that is printed it has T3.
    fn patience(&self) -> Duration {
        if matches!(self.stage, Stage::Printing) { T3 - PAUSE } else { PATIENCE_OF_TILL }
    }

    /// The command is answered at once, never after a question.
    pub(super) fn begin(&mut self, flow: &mut Flow<'_>) {
        self.till.hears = flow.hears_intermediate();
        // A registration with another currency is refused by its very answer, so the terminal's is known first.
        if !matches!(self.command, Command::Registration(_)) {
            flow.send(self.till.line, Apdu::ok());
        }
        self.ask(Ask::Status, Stage::Status, flow);
    }

    fn ask(&mut self, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        self.stage = stage;
        let ticket = flow.ask(ask.clone());
        self.question = Some(Question::Open { ticket, ask: Some(ask) });
    }

    fn ask_later(&mut self, ask: Ask, stage: Stage, flow: &Flow<'_>) {
        self.stage = stage;
        self.question = Some(Question::Later { at: flow.now + PAUSE, ask });
    }

    pub(super) fn line_lost(&mut self, flow: &mut Flow<'_>) {
        self.till.is_up = false;
        self.till.frames.clear();
        (self.till.unanswered, self.till.owed) = (None, 0);
        match self.leave() {
            // Nobody would take the goods: no card is asked for any longer. What is just being begun is stopped when it
            // has.
            Stage::Watching(watched) => self.cancel(watched, flow),
            Stage::Telling(told) => self.not_heard(told, flow),
            stage @ (Stage::Beginning(_)
            | Stage::Cancelling(_)
            | Stage::Signing(_)
            | Stage::Confirming(_)
            | Stage::Undoing(_)) => self.stage = stage,
            _ => {}
        }
    }

    /// `06 B0`.
    pub(super) fn abort(&mut self, line: Line, flow: &mut Flow<'_>) {
        let is_payment = self.is_on(line) && fields_of(&self.command).is_some();
        if is_payment && self.till.is_aborting {
            // The answer to the first `06 B0` is the answer to both.
            return;
        }
        match self.leave() {
            Stage::Watching(watched) if is_payment => {
                self.till.is_aborting = true;
                self.cancel(watched, flow);
            }
            // The terminal may have begun it already: it is cancelled as soon as that is known.
            stage @ Stage::Beginning(_) if is_payment => {
                self.till.is_aborting = true;
                self.stage = stage;
            }
            Stage::Status | Stage::InStep(_) | Stage::Finding(_) if is_payment => {
                flow.send(line, Apdu::ok());
                self.end_with(code::CANCELLED, flow);
            }
            stage => {
                self.stage = stage;
                flow.send(line, Apdu::refused(code::NOT_POSSIBLE));
            }
        }
    }

    fn cancel(&mut self, watched: Watched, flow: &mut Flow<'_>) {
        self.ask(Ask::Cancel(watched.payment.reference.clone()), Stage::Cancelling(watched), flow);
    }

    pub(super) fn tick(&mut self, flow: &mut Flow<'_>) {
        if let Some((frame, _)) = self.till.unanswered.take_if(|(_, until)| flow.now >= *until) {
            self.silence(frame, flow);
        }
        let is_due = |question: &mut Question| question.at().is_some_and(|at| flow.now >= at);
        if let Some(Question::Later { ask, .. }) = self.question.take_if(is_due) {
            let stage = self.leave();
            self.ask(ask, stage, flow);
        }
        let waited = flow.now >= self.till.waits_since + self.patience() && self.till.hears_nothing();
        if self.stage.is_under_way() && waited {
            return match self.stage {
                // They are on their way to a printer that was ready a moment ago.
                Stage::Printing => self.printed(code::OK, flow),
                _ => self.till_gave_up(flow),
            };
        }
        if self.stage.keeps_alive() && flow.now >= self.till.last_frame + KEEP_ALIVE {
            let text = match &self.stage {
                Stage::Watching(watched) => watched.payment.text.clone(),
                _ => None,
            };
            let status = self.till.last_status.unwrap_or(code::intermediate::STILL_WAIT);
            self.till.say_intermediate(status, text.as_deref(), flow);
            self.till.last_frame = flow.now;
        }
    }

    /// The till, which hears nothing meanwhile, has waited long enough: nobody knows, and it can ask later. What it
    /// does not confirm the terminal takes back, or keeps, by its own deadline.
    fn till_gave_up(&mut self, flow: &mut Flow<'_>) {
        match self.leave() {
            // A few seconds more, to know that nothing is charged.
            Stage::Watching(mut watched) | Stage::Cancelling(mut watched)
                if watched.state == State::WaitingForCard && !watched.payment.gave_up =>
            {
                watched.payment.gave_up = true;
                self.till.waits_since = flow.now - (PATIENCE_OF_TILL - T3);
                self.cancel(watched, flow);
            }
            _ => self.end_with(code::COMMUNICATION, flow),
        }
    }

    // ---- What the terminal says

    pub(super) fn said(&mut self, said: Said, flow: &mut Flow<'_>) {
        let asked = match self.question.take() {
            Some(Question::Open { ask, .. }) => ask,
            _ => None,
        };
        // Not again after no answer: it may be on paper.
        let prints = matches!(self.stage, Stage::Printing | Stage::PrintAgain(_));
        // The sale that is looked at cannot be read: as no answer.
        let lost_sight = matches!((&self.stage, &said), (Stage::Watching(_) | Stage::Signing(_), Said::Refused(_)));
        if lost_sight || !prints && matches!(said, Said::NoAnswer { .. }) {
            return self.not_answered(asked, flow);
        }
        self.silent_since = None;
        match (self.leave(), said) {
            (Stage::Printing, Said::Done) => self.printed(code::OK, flow),
            (Stage::Printing, _) => self.printed(code::PRINTER, flow),
            (Stage::PrintAgain(slip), said) => self.printed_again(slip, &said, flow),
            (Stage::Status, Said::Status(status)) => self.status(&status, flow),
            (Stage::InStep(asked), said) => self.in_step(asked, said, flow),
            (Stage::Undoing(undoing), Said::Sale(sale)) => self.undoing(undoing, &sale, flow),
            (Stage::Finding(search), said) => self.finding(search, said, flow),
            (Stage::Beginning(payment), Said::Sale(sale)) => self.begun(payment, sale, flow),
            (Stage::Watching(it) | Stage::Signing(it), Said::Sale(sale)) => self.watched(it.payment, sale, flow),
            (Stage::Cancelling(watched), said) => self.cancelled(watched, said, flow),
            (Stage::Confirming(confirming), said) => self.confirmed(confirming, said, flow),
            (Stage::Latest, Said::Sale(sale)) => self.repeated(&sale, flow),
            (Stage::Receipt { slip, approved }, said) => self.receipt(slip, approved, said, flow),
            (Stage::Period, Said::Close(close)) => self.period(&close, flow),
            (Stage::Newest { from, to }, said @ Said::Sales { .. }) => self.newest((from, to), said, flow),
            (Stage::Again { number, range }, said) => self.again(number, range, said, flow),
            (_, Said::Refused(problem)) => self.end_with(code_of_refusal(&problem), flow),
            _ => self.end_with(code::SYSTEM, flow),
        }
    }

    /// The same question again, for as long as the terminal may be restarting.
    fn not_answered(&mut self, asked: Option<Ask>, flow: &mut Flow<'_>) {
        let since = *self.silent_since.get_or_insert(flow.now);
        match asked {
            Some(ask) if flow.now < since + NO_ANSWER => {
                let stage = self.leave();
                self.ask_later(ask, stage, flow);
            }
            _ => self.nobody_answers(flow),
        }
    }

    /// Lines of the till's own; the command is answered when they are on paper.
    pub(super) fn print(&mut self, lines: Vec<PrintLine>, flow: &mut Flow<'_>) {
        self.ask(Ask::Print(lines), Stage::Printing, flow);
    }

    fn printed(&mut self, code: u8, flow: &mut Flow<'_>) {
        self.stage = Stage::Over;
        if self.till.is_up {
            flow.send(self.till.line, if code == code::OK { Apdu::ok() } else { Apdu::refused(code) });
        }
    }

    /// The terminal has been silent for too long.
    fn nobody_answers(&mut self, flow: &mut Flow<'_>) {
        if let (Stage::Status, Command::Registration(registration)) = (&self.stage, &self.command) {
            // A till begins its day before the terminal does.
            flow.registered = Some(registration.clone());
            flow.send(self.till.line, Apdu::ok());
            return self.end(flow);
        }
        self.end_with(code::COMMUNICATION, flow);
    }

    fn begun(&mut self, payment: Payment, sale: Box<Sale>, flow: &mut Flow<'_>) {
        if self.till.is_aborting {
            let payment = Payment { text: Some(sale.text), ..payment };
            return self.cancel(Watched { payment, state: sale.state }, flow);
        }
        self.watched(payment, sale, flow);
    }

    /// How the transaction stands.
    fn watched(&mut self, mut payment: Payment, sale: Box<Sale>, flow: &mut Flow<'_>) {
        let (state, waits, is_up) = (sale.state, sale.to_confirm.is_some(), self.till.is_up);
        self.till.say_step(&sale, payment.text.as_deref(), flow);
        payment.text = Some(sale.text.clone());
        match state {
            State::AwaitingTill if waits && is_up => self.tell(payment, sale, code::OK, flow),
            State::AwaitingTill if waits => self.confirm_by_silence(payment.reference, payment.confirm, flow),
            // The slip is compared by a person where the terminal prints it and the till can wait that long.
            State::AwaitingSignature if !(flow.hears_intermediate() && flow.prints_payments() && is_up) => {
                let ask = Ask::Sign { reference: payment.reference.clone(), accepted: true };
                self.ask(ask, Stage::Signing(Watched { payment, state }), flow);
            }
            State::Ended | State::Unconfirmed | State::UnconfirmedFinishing => self.ended(payment, sale, flow),
            State::WaitingForCard if !is_up && !payment.stopped => {
                payment.stopped = true;
                self.cancel(Watched { payment, state }, flow);
            }
            // The terminal does not wait there with its answer.
            State::AwaitingSignature | State::AwaitingTill => {
                self.ask_later(payment.show(), Stage::Watching(Watched { payment, state }), flow);
            }
            _ => self.watch(Watched { payment, state }, flow),
        }
    }

    fn watch(&mut self, watched: Watched, flow: &mut Flow<'_>) {
        self.ask(watched.payment.show(), Stage::Watching(watched), flow);
    }

    fn ended(&mut self, payment: Payment, sale: Box<Sale>, flow: &mut Flow<'_>) {
        // A void that the bank declines is given back as a refund; one that nobody knows of stays unknown.
        if let (Command::Reversal(_), Some(Outcome::Declined), Kind::Reversal, Some(earlier)) =
            (&self.command, sale.outcome, sale.kind, &payment.earlier)
        {
            let of = Some(earlier.reference.clone());
            let begin = Begin { of, ..Begin::new(&flow.new_reference(), Kind::Refund, None) };
            return self.begin_it(begin, payment, flow);
        }
        if self.till.is_up {
            let code = code_of(&sale).unwrap_or(code::COMMUNICATION);
            self.tell(payment, sale, code, flow);
        }
    }
}

impl Payment {
    fn show(&self) -> Ask {
        Ask::Show { reference: self.reference.clone(), wait_s: WATCH_S }
    }
}

impl Stage {
    fn is_under_way(&self) -> bool {
        !matches!(self, Self::Telling(_) | Self::Confirming(_) | Self::Receipt { .. } | Self::Ending | Self::Over)
    }

    /// The till hears again and again that it goes on.
    fn keeps_alive(&self) -> bool {
        matches!(self, Self::Watching(_) | Self::Latest)
    }
}

impl Question {
    /// When it is asked, where it is not open.
    fn at(&self) -> Option<Duration> {
        match self {
            Self::Open { .. } => None,
            Self::Later { at, .. } => Some(*at),
        }
    }
}

/// The state of the terminal for a till that asks for it.
fn state_of(status: &Status) -> u8 {
    match () {
        // Before "please wait": that would not say for what.
        () if status.reader.card_left => code::CARD_IN,
        () if status.busy => code::BUSY,
        () if status.clock.time.is_none() => code::CLOCK,
        () if status.reader.state != "ready" => code::READER,
        () if status
            .printers
            .iter()
            .any(|printer| matches!(printer.state.as_str(), "no-paper" | "paper-jam" | "cover-open")) =>
        {
            code::PRINTER
        }
        () if !status.ready => code::OUT_OF_ORDER,
        () => code::OK,
    }
}

fn fields_of(command: &Command) -> Option<&Fields> {
    match command {
        Command::Authorisation(fields)
        | Command::PreAuthorisation(fields)
        | Command::PartialReversal(fields)
        | Command::BookTotal(fields)
        | Command::PreAuthorisationReversal(fields) => Some(fields),
        Command::Reversal(guarded) | Command::Refund(guarded) => Some(&guarded.fields),
        _ => None,
    }
}
