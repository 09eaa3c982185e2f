//! One command of the till, from its answer `80 00 00` to `06 0F` or `06 1E`.
//!
//! ```text
//!  Status ─▶ InStep ─▶ Finding ──▶ Following ─▶ Telling ─▶ AwaitingReceipt ─▶ Receipt ───▶ Ending
//!            (1F1F)   (an earlier  (begin and   (04 0F)    (the part that     (06 D1/D3)  (06 0F/06 1E)
//!                     transaction)  watch)                  the till takes)
//! ```
//!
//! Frames go out one at a time. The next frame follows when the till has answered, or after T3. A till may answer `04
//! FF` after T3. Once a till has answered one `04 FF`, it owes each missing answer:
//!
//! - No other `04 FF` goes out until the owed answer has arrived.
//! - An answer to `04 0F` that may be the owed one has no effect, and `04 0F` is sent again.
//! - If the till gets no `04 FF` meanwhile, the session keeps it waiting no longer than T4.

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
use pos_till_api::follow::{Follower, Heard, NextActor, PAUSE, Silence};
use pos_till_api::{Ask, Begin, Copy, Kind, OnSilence, Outcome, PrintLine, Said, Sale, State, Status, Taken};
use reprint::Range;
use till::{Frame, Till};

/// T3: the time within which an APDU must be answered.
const T3: Duration = Duration::from_secs(5);
/// T4 minus the time for the last frames. A till without intermediate statuses gives up after 180 s.
const PATIENCE_OF_TILL: Duration = Duration::from_secs(165);
/// Longest time between two intermediate statuses.
const KEEP_ALIVE: Duration = Duration::from_secs(8);
/// Time that the terminal may hold a question about the state of a transaction, in seconds.
const WATCH_S: u8 = 2;
/// Time to wait after `84 9C` before asking again.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// Maximum number of times that `04 0F` is sent without an answer, if the till sets no limit (BMP 02). With `84 9C`,
/// the maximum is [`LATER`].
const TRIES: u8 = 3;
const LATER: u8 = 30;
/// Longest time that the terminal may need to carry out the till's confirmation.
const LONGEST_UNSETTLED: Duration = Duration::from_secs(30);

/// The current stage of a command, with the data of that stage.
#[derive(Debug)]
enum Stage {
    Status,
    /// The terminal was asked for this many of the till's latest transactions.
    InStep(u8),
    Undoing(Undoing),
    Finding(Search),
    Following(Payment),
    Telling(StatusReport),
    AwaitingReceipt(AwaitingReceipt),
    /// The state of the latest transaction is repeated.
    Latest,
    Receipt {
        slip: Slip,
        approved: bool,
    },
    Period,
    /// The receipts of a range of numbers are printed again.
    Newest {
        from: u16,
        to: u16,
    },
    Again {
        number: u64,
        range: Range,
    },
    /// The terminal's own printer reprints a receipt.
    PrintAgain(Slip),
    /// The terminal prints lines from the till.
    Printing,
    Ending,
    Over,
}

/// The reversal of an approval that never reached the till.
#[derive(Debug)]
struct Undoing {
    of: String,
    kind: Kind,
    follower: Follower,
}

/// A transaction that the session asked the terminal to begin.
#[derive(Debug)]
struct Payment {
    follower: Follower,
    confirm: Option<OnSilence>,
    /// The earlier transaction that this one refers to.
    earlier: Option<Earlier>,
    /// The last known state.
    state: Option<State>,
    /// The text of the state, for `04 FF`.
    text: Option<String>,
    /// The till's waiting time is over.
    gave_up: bool,
    /// The till is disconnected, and the transaction has been cancelled for that reason.
    stopped: bool,
}

#[derive(Debug)]
struct Earlier {
    reference: String,
    number: u64,
}

/// The content of `04 0F`, until the till has answered it.
#[derive(Debug)]
struct StatusReport {
    follower: Follower,
    confirm: Option<OnSilence>,
    sale: Box<Sale>,
    result: u8,
}

#[derive(Debug)]
struct AwaitingReceipt {
    follower: Follower,
    taken: Taken,
    /// The time at which the terminal first reported that it has not carried out the confirmation.
    unsettled_since: Option<Duration>,
}

/// One copy of a receipt.
#[derive(Debug)]
struct Slip {
    reference: String,
    copy: Copy,
    /// The copy was printed before, or may have been.
    again: bool,
    then: Then,
}

/// The step after the receipts of a transaction.
#[derive(Debug)]
enum Then {
    /// Send `06 1E` with this code, or `06 0F` for `None`.
    End(Option<u8>),
    Next(Range),
}

/// A question to the terminal.
#[derive(Debug)]
enum Question {
    /// The question has been sent. If no answer comes, it is asked again if that is allowed.
    Open { ticket: u64, ask: Option<Ask> },
    /// The question will be asked at this time.
    Later { at: Duration, ask: Ask },
}

/// A command in progress.
#[derive(Debug)]
pub(super) struct Job {
    command: Command,
    till: Till,
    stage: Stage,
    question: Option<Question>,
    silence: Silence,
}

impl Job {
    pub(super) fn new(line: Line, command: Command, now: Duration) -> Self {
        let till = Till::new(line, now);
        Self { command, till, stage: Stage::Status, question: None, silence: Silence::default() }
    }

    pub(super) fn is_on(&self, line: Line) -> bool {
        self.till.line == line
    }

    /// Removes and returns the stage. The caller sets the next one. If it does not, the command is over.
    fn leave(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Over)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Returns whether only the answer to the last frame is missing. A till that sends its next command without that
    /// answer has received the frame.
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

    /// Returns how long a till without intermediate statuses waits. For the answer to a printed line it waits T3.
    fn patience(&self) -> Duration {
        if matches!(self.stage, Stage::Printing) { T3 - PAUSE } else { PATIENCE_OF_TILL }
    }

    /// Acknowledges the command immediately and asks for the terminal's status.
    pub(super) fn begin(&mut self, flow: &mut Flow<'_>) {
        self.till.hears = flow.hears_intermediate();
        // The answer to a registration depends on the terminal's currency, so it waits for the status.
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

    /// Asks at the given time, or immediately if that time has passed.
    fn ask_at(&mut self, at: Duration, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        if at <= flow.now {
            return self.ask(ask, stage, flow);
        }
        self.stage = stage;
        self.question = Some(Question::Later { at, ask });
    }

    pub(super) fn line_lost(&mut self, flow: &mut Flow<'_>) {
        self.till.is_up = false;
        self.till.frames.clear();
        (self.till.unanswered, self.till.owed) = (None, 0);
        match self.leave() {
            // No till is connected to release the goods, so the reader stops asking for a card. A transaction that is
            // just beginning is cancelled when it has begun.
            Stage::Following(payment) if payment.follower.is_looking() => self.cancel(payment, flow),
            Stage::Telling(told) => self.not_heard(told, flow),
            stage @ (Stage::Following(_) | Stage::AwaitingReceipt(_) | Stage::Undoing(_)) => self.stage = stage,
            _ => {}
        }
    }

    /// Handles `06 B0`.
    pub(super) fn abort(&mut self, line: Line, flow: &mut Flow<'_>) {
        let is_payment = self.is_on(line) && fields_of(&self.command).is_some();
        if is_payment && self.till.is_aborting {
            // One answer is enough for both `06 B0`.
            return;
        }
        match self.leave() {
            Stage::Following(payment) if is_payment && payment.follower.is_looking() => {
                self.till.is_aborting = true;
                self.cancel(payment, flow);
            }
            // The terminal may have begun the transaction already. It is cancelled as soon as that is known.
            Stage::Following(payment) if is_payment && payment.follower.is_beginning() => {
                self.till.is_aborting = true;
                self.stage = Stage::Following(payment);
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

    fn cancel(&mut self, mut payment: Payment, flow: &mut Flow<'_>) {
        self.ask(payment.follower.cancel(), Stage::Following(payment), flow);
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
                // The lines are on their way to a printer that was ready before.
                Stage::Printing => self.printed(code::OK, flow),
                _ => self.till_gave_up(flow),
            };
        }
        if self.stage.keeps_alive() && flow.now >= self.till.last_frame + KEEP_ALIVE {
            let text = match &self.stage {
                Stage::Following(payment) => payment.text.clone(),
                _ => None,
            };
            let status = self.till.last_status.unwrap_or(code::intermediate::STILL_WAIT);
            self.till.say_intermediate(status, text.as_deref(), flow);
            self.till.last_frame = flow.now;
        }
    }

    /// Ends the command of a till without intermediate statuses when its waiting time is over. The outcome is unknown,
    /// and the till can ask for it later. The terminal reverses or keeps an unconfirmed approval at its own deadline.
    fn till_gave_up(&mut self, flow: &mut Flow<'_>) {
        match self.leave() {
            // A few more seconds may show that nothing is charged.
            Stage::Following(mut payment) if payment.state == Some(State::WaitingForCard) && !payment.gave_up => {
                payment.gave_up = true;
                self.till.waits_since = flow.now - (PATIENCE_OF_TILL - T3);
                self.cancel(payment, flow);
            }
            _ => self.end_with(code::COMMUNICATION, flow),
        }
    }

    // ---- Answers of the terminal

    pub(super) fn said(&mut self, said: Said, flow: &mut Flow<'_>) {
        let asked = match self.question.take() {
            Some(Question::Open { ask, .. }) => ask,
            _ => None,
        };
        let said = match (self.leave(), said) {
            // If no answer comes, the lines are not sent again, because they may be on paper.
            (Stage::Printing, Said::Done) => return self.printed(code::OK, flow),
            (Stage::Printing, _) => return self.printed(code::PRINTER, flow),
            (Stage::PrintAgain(slip), said) => return self.printed_again(slip, &said, flow),
            (Stage::Undoing(undoing), said) => return self.undoing(undoing, said, flow),
            (Stage::Following(payment), said) => return self.heard(payment, said, flow),
            (Stage::AwaitingReceipt(confirming), said) => return self.confirmed(confirming, said, flow),
            (stage, Said::NoAnswer { .. }) => return self.not_answered(stage, asked, flow),
            known => known,
        };
        self.silence.ends();
        match said {
            (Stage::Status, Said::Status(status)) => self.status(&status, flow),
            (Stage::InStep(asked), said) => self.in_step(asked, said, flow),
            (Stage::Finding(search), said) => self.finding(search, said, flow),
            (Stage::Latest, Said::Sale(sale)) => self.repeated(&sale, flow),
            (Stage::Receipt { slip, approved }, said) => self.receipt(slip, approved, said, flow),
            (Stage::Period, Said::Close(close)) => self.period(&close, flow),
            (Stage::Newest { from, to }, said @ Said::Sales { .. }) => self.newest((from, to), said, flow),
            (Stage::Again { number, range }, said) => self.again(number, range, said, flow),
            (_, Said::Refused(problem)) => self.end_with(code_of_refusal(&problem), flow),
            _ => self.end_with(code::SYSTEM, flow),
        }
    }

    /// Asks the same question again while the terminal may be restarting.
    fn not_answered(&mut self, stage: Stage, asked: Option<Ask>, flow: &mut Flow<'_>) {
        match asked.zip(self.silence.goes_on(flow.now)) {
            Some((ask, at)) => self.ask_at(at, ask, stage, flow),
            None => {
                self.stage = stage;
                self.nobody_answers(flow);
            }
        }
    }

    /// Prints lines from the till. The till gets its answer when they are on paper.
    pub(super) fn print(&mut self, lines: Vec<PrintLine>, flow: &mut Flow<'_>) {
        self.ask(Ask::Print(lines), Stage::Printing, flow);
    }

    fn printed(&mut self, code: u8, flow: &mut Flow<'_>) {
        self.stage = Stage::Over;
        if self.till.is_up {
            flow.send(self.till.line, if code == code::OK { Apdu::ok() } else { Apdu::refused(code) });
        }
    }

    /// Ends the command because the terminal has been silent for too long.
    fn nobody_answers(&mut self, flow: &mut Flow<'_>) {
        if let (Stage::Status, Command::Registration(registration)) = (&self.stage, &self.command) {
            // A till may start before the terminal does.
            flow.registered = Some(registration.clone());
            flow.send(self.till.line, Apdu::ok());
            return self.end(flow);
        }
        self.end_with(code::COMMUNICATION, flow);
    }

    fn heard(&mut self, mut payment: Payment, said: Said, flow: &mut Flow<'_>) {
        let was_beginning = payment.follower.is_beginning();
        match payment.follower.said(said, flow.now) {
            Heard::Stands(sale) if was_beginning && self.till.is_aborting => {
                (payment.state, payment.text) = (Some(sale.state), Some(sale.text));
                self.cancel(payment, flow);
            }
            Heard::Stands(sale) => {
                self.answer_abort(false, flow);
                self.stands(payment, sale, flow);
            }
            Heard::Stopped { in_time, sale } => {
                self.answer_abort(in_time, flow);
                self.stands(payment, sale, flow);
            }
            Heard::Next { at, ask } => {
                // After a refused cancellation, the session asks for the state.
                if payment.follower.is_looking() {
                    self.answer_abort(false, flow);
                }
                self.ask_at(at, ask, Stage::Following(payment), flow);
            }
            Heard::Refused(problem) => self.end_with(code_of_refusal(&problem), flow),
            // Only this session uses its references.
            Heard::WasThere(_) => self.end_with(code::SYSTEM, flow),
            Heard::Silent { .. } => self.end_with(code::COMMUNICATION, flow),
        }
    }

    /// Handles the current state of the transaction.
    fn stands(&mut self, mut payment: Payment, sale: Box<Sale>, flow: &mut Flow<'_>) {
        let (waits, is_up) = (sale.to_confirm.is_some(), self.till.is_up);
        self.till.say_step(&sale, flow);
        (payment.state, payment.text) = (Some(sale.state), Some(sale.text.clone()));
        match sale.state.next_actor() {
            NextActor::Till if waits && is_up => self.tell(payment, sale, code::OK, flow),
            NextActor::Till if waits => self.confirm_by_silence(payment.follower, payment.confirm, flow),
            // The cashier compares the signature if the terminal prints the slip and the till can wait that long.
            NextActor::Cashier if !(flow.hears_intermediate() && flow.prints_payments() && is_up) => {
                self.ask(payment.follower.sign(true), Stage::Following(payment), flow);
            }
            NextActor::Recovery | NextActor::None => self.ended(payment, sale, flow),
            NextActor::Agent if sale.state == State::WaitingForCard && !is_up && !payment.stopped => {
                payment.stopped = true;
                self.cancel(payment, flow);
            }
            // In these states the terminal does not delay its answer.
            NextActor::Cashier | NextActor::Till => {
                self.ask_at(flow.now + PAUSE, payment.follower.watch(), Stage::Following(payment), flow);
            }
            NextActor::Agent => self.ask(payment.follower.watch(), Stage::Following(payment), flow),
        }
    }

    fn ended(&mut self, payment: Payment, sale: Box<Sale>, flow: &mut Flow<'_>) {
        // If the issuer declines a reversal, the session begins a refund. A reversal with an unknown outcome stays
        // unknown.
        if let (Command::Reversal(_), Some(Outcome::Declined), Kind::Reversal, Some(earlier)) =
            (&self.command, sale.outcome, sale.kind, &payment.earlier)
        {
            let of = Some(earlier.reference.clone());
            let begin = Begin { of, ..Begin::new(&flow.new_reference(), Kind::Refund, None) };
            return self.begin_it(begin, payment.earlier, flow);
        }
        if self.till.is_up {
            let code = code_of(&sale).unwrap_or(code::COMMUNICATION);
            self.tell(payment, sale, code, flow);
        }
    }
}

impl Payment {
    fn new(follower: Follower) -> Self {
        Self { follower, confirm: None, earlier: None, state: None, text: None, gave_up: false, stopped: false }
    }
}

impl Stage {
    fn is_under_way(&self) -> bool {
        !matches!(self, Self::Telling(_) | Self::AwaitingReceipt(_) | Self::Receipt { .. } | Self::Ending | Self::Over)
    }

    /// Returns whether the session repeats intermediate statuses in this stage.
    fn keeps_alive(&self) -> bool {
        match self {
            Self::Following(payment) => payment.follower.is_looking(),
            stage => matches!(stage, Self::Latest),
        }
    }
}

impl Question {
    /// Returns when the question will be asked, or `None` if it has been asked.
    fn at(&self) -> Option<Duration> {
        match self {
            Self::Open { .. } => None,
            Self::Later { at, .. } => Some(*at),
        }
    }
}

/// Returns the state of the terminal for a status enquiry.
fn state_of(status: &Status) -> u8 {
    match () {
        // This state comes before "please wait", which does not say what the till waits for.
        () if status.reader.card_left => code::CARD_IN,
        () if status.busy => code::BUSY,
        () if status.clock.time.is_none() => code::CLOCK,
        () if status.reader.state != "ready" => code::READER,
        () if status.printers.iter().any(|printer| !prints(&printer.state)) => code::PRINTER,
        () if !status.ready => code::OUT_OF_ORDER,
        () => code::OK,
    }
}

/// Returns whether a printer prints, or will soon print without help. A printer in an unknown state counts as one that
/// prints.
fn prints(state: &str) -> bool {
    !matches!(state, "no-paper" | "paper-jam" | "cover-open" | "error" | "offline" | "absent" | "silent")
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
