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
mod wanting;

use std::collections::VecDeque;
use std::time::Duration;

use super::Line;
use super::earlier::Search;
use super::flow::Flow;
use super::outcome::{code_of, code_of_refusal};
use crate::zvt::apdu::Apdu;
use crate::zvt::bmp::Fields;
use crate::zvt::code;
use crate::zvt::command::{Command, Registration};
use pos_till_api::{Ask, Begin, Copy, Kind, Outcome, PrintLine, Said, Sale, State, Status, Taken};
use reprint::Range;

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

/// What stands in the way of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Status,
    /// So many of the till's latest transactions were asked for.
    InStep(u8),
    Undoing,
    Finding,
    Beginning,
    Watching,
    Cancelling,
    Signing,
    Telling,
    Confirming,
    Receipt(Copy),
    Period,
    /// Receipts from one number to another are to be printed again.
    Newest {
        from: u16,
        to: u16,
    },
    Again(u64),
    /// A receipt goes to the terminal's own printer once more.
    PrintAgain(Copy),
    /// Lines of the till's own.
    Printing,
    Ending,
    Over,
}

/// A frame that waits for its turn.
#[derive(Clone, Debug)]
enum Frame {
    Intermediate(Apdu),
    /// `04 0F`, whose answer decides.
    Status(Apdu),
    Print(Apdu),
    Last(Apdu),
}

/// A command that is being carried out.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) line: Line,
    /// The till has registered with this; taken by the session.
    pub(super) registered: Option<Registration>,
    command: Command,
    /// Since when the till waits: from its command on, or from the last intermediate status, which gives it all its
    /// patience again.
    waits_since: Duration,
    /// The till hears intermediate statuses.
    hears: bool,
    /// Intermediate statuses that it has not answered within T3.
    owed: u32,
    line_up: bool,
    stage: Stage,
    /// The question that is open.
    ticket: Option<u64>,
    /// The same question again, then.
    again: Option<(Duration, Ask)>,
    /// Since when there is no answer.
    silent_since: Option<Duration>,
    /// Since when the terminal has heard what is taken, and has not carried it out.
    unsettled_since: Option<Duration>,
    frames: VecDeque<Frame>,
    /// What was sent and is not answered, and until when that is waited for.
    unanswered: Option<(Frame, Duration)>,
    last_frame: Duration,
    last_status: Option<u8>,
    begin: Option<Begin>,
    search: Option<Search>,
    range: Option<Range>,
    earlier: Option<Sale>,
    sale: Option<Sale>,
    /// How often `04 0F` was sent without an answer, and how often the till said later.
    tries: u8,
    laters: u8,
    /// What `06 1E` says at the end; `06 0F` for `None`.
    failed: Option<u8>,
    taken: Option<Taken>,
    aborting: bool,
    /// The till has waited for as long as it does.
    gave_up: bool,
    /// A payment whose till is gone was to be stopped.
    stopped: bool,
}

impl Job {
    pub(super) fn new(line: Line, command: Command, now: Duration) -> Self {
        Self {
            line,
            registered: None,
            command,
            waits_since: now,
            hears: false,
            owed: 0,
            line_up: true,
            stage: Stage::Status,
            ticket: None,
            again: None,
            silent_since: None,
            unsettled_since: None,
            frames: VecDeque::new(),
            unanswered: None,
            last_frame: now,
            last_status: None,
            begin: None,
            search: None,
            range: None,
            earlier: None,
            sale: None,
            tries: 0,
            laters: 0,
            failed: None,
            taken: None,
            aborting: false,
            gave_up: false,
            stopped: false,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Only the answer to the last frame is missing: a till that goes on without it has had it.
    pub(super) fn is_told(&self) -> bool {
        self.stage == Stage::Ending && self.frames.is_empty() && matches!(self.unanswered, Some((Frame::Last(_), _)))
    }

    pub(super) fn waits_for(&self, ticket: u64) -> bool {
        self.ticket == Some(ticket)
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        let unanswered = self.unanswered.as_ref().map(|(_, until)| *until);
        let again = self.again.as_ref().map(|(at, _)| *at);
        let alive = (self.stage == Stage::Watching).then(|| self.last_frame + KEEP_ALIVE);
        let patience = (self.is_under_way() && self.hears_nothing()).then(|| self.waits_since + self.patience());
        [unanswered, again, alive, patience].into_iter().flatten().min()
    }

    /// How long a till that hears nothing waits: for the answer to a line that is printed it has T3.
    fn patience(&self) -> Duration {
        if self.stage == Stage::Printing { T3 - PAUSE } else { PATIENCE_OF_TILL }
    }

    /// Nothing tells the till that its command goes on.
    fn hears_nothing(&self) -> bool {
        !self.hears || self.owed > 0
    }

    fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Telling | Stage::Confirming | Stage::Receipt(_) | Stage::Ending | Stage::Over)
    }

    /// The command is answered at once, never after a question.
    pub(super) fn begin(&mut self, flow: &mut Flow<'_>) {
        self.hears = flow.hears_intermediate();
        // A registration with another currency is refused by its very answer, so the terminal's is known first.
        if !matches!(self.command, Command::Registration(_)) {
            flow.send(self.line, Apdu::ok());
        }
        self.ask(Ask::Status, Stage::Status, flow);
    }

    fn ask(&mut self, ask: Ask, stage: Stage, flow: &mut Flow<'_>) {
        self.stage = stage;
        self.again = Some((Duration::MAX, ask.clone()));
        self.ticket = Some(flow.ask(ask));
    }

    pub(super) fn line_lost(&mut self, flow: &mut Flow<'_>) {
        self.line_up = false;
        self.frames.clear();
        (self.unanswered, self.owed) = (None, 0);
        match self.stage {
            // Nobody would take the goods: no card is asked for any longer. What is just being begun is stopped when it
            // has.
            Stage::Watching => self.cancel(flow),
            Stage::Telling => self.not_acknowledged(flow),
            Stage::Beginning | Stage::Cancelling | Stage::Signing | Stage::Confirming | Stage::Undoing => {}
            _ => self.stage = Stage::Over,
        }
    }

    /// `06 B0`.
    pub(super) fn abort(&mut self, line: Line, flow: &mut Flow<'_>) {
        let is_payment = line == self.line && fields_of(&self.command).is_some();
        match self.stage {
            // The answer to the first `06 B0` is the answer to both.
            _ if self.aborting && is_payment => {}
            Stage::Watching if self.begin.is_some() && is_payment => {
                self.aborting = true;
                self.cancel(flow);
            }
            // The terminal may have begun it already: it is cancelled as soon as that is known.
            Stage::Beginning if is_payment => self.aborting = true,
            Stage::Status | Stage::InStep(_) | Stage::Finding if is_payment => {
                flow.send(line, Apdu::ok());
                self.end_with(code::CANCELLED, flow);
            }
            _ => flow.send(line, Apdu::refused(code::NOT_POSSIBLE)),
        }
    }

    fn cancel(&mut self, flow: &mut Flow<'_>) {
        match &self.begin {
            Some(begin) => self.ask(Ask::Cancel(begin.reference.clone()), Stage::Cancelling, flow),
            None => self.stage = Stage::Over,
        }
    }

    pub(super) fn tick(&mut self, flow: &mut Flow<'_>) {
        if let Some((frame, _)) = self.unanswered.take_if(|(_, until)| flow.now >= *until) {
            self.silence(frame, flow);
        }
        if let Some((_, ask)) = self.again.take_if(|(at, _)| flow.now >= *at) {
            self.ask(ask, self.stage, flow);
        }
        if self.is_under_way() && flow.now >= self.waits_since + self.patience() && self.hears_nothing() {
            return match self.stage {
                // They are on their way to a printer that was ready a moment ago.
                Stage::Printing => self.printed(code::OK, flow),
                _ => self.till_gave_up(flow),
            };
        }
        if self.stage == Stage::Watching && flow.now >= self.last_frame + KEEP_ALIVE {
            self.say_intermediate(self.last_status.unwrap_or(code::intermediate::STILL_WAIT), flow);
            self.last_frame = flow.now;
        }
    }

    /// The till, which hears nothing meanwhile, has waited long enough: nobody knows, and it can ask later. What it
    /// does not confirm the terminal takes back, or keeps, by its own deadline.
    fn till_gave_up(&mut self, flow: &mut Flow<'_>) {
        match self.sale.as_ref().map(|sale| sale.state) {
            // A few seconds more, to know that nothing is charged.
            Some(State::WaitingForCard) if !self.gave_up => {
                self.gave_up = true;
                self.waits_since = flow.now - (PATIENCE_OF_TILL - T3);
                self.cancel(flow);
            }
            _ => self.end_with(code::COMMUNICATION, flow),
        }
    }

    // ---- What the terminal says

    pub(super) fn said(&mut self, said: Said, flow: &mut Flow<'_>) {
        self.ticket = None;
        let asked = self.again.take().map(|(_, ask)| ask);
        if self.stage == Stage::Printing {
            // Not again after no answer: they may be on paper.
            let printed = if said == Said::Done { code::OK } else { code::PRINTER };
            return self.printed(printed, flow);
        }
        if let Stage::PrintAgain(copy) = self.stage {
            return self.printed_again(copy, &said, flow);
        }
        // The sale that is looked at cannot be read: as no answer.
        let lost_sight = matches!((self.stage, &said), (Stage::Watching | Stage::Signing, Said::Refused(_)));
        if lost_sight && self.begin.is_some() || matches!(said, Said::NoAnswer { .. }) {
            let since = *self.silent_since.get_or_insert(flow.now);
            if flow.now < since + NO_ANSWER
                && let Some(ask) = asked
            {
                self.again = Some((flow.now + PAUSE, ask));
                return;
            }
            return self.nobody_answers(flow);
        }
        self.silent_since = None;
        match (self.stage, said) {
            (Stage::Status, Said::Status(status)) => self.status(&status, flow),
            (Stage::InStep(asked), said) => self.in_step(asked, said, flow),
            (Stage::Undoing, Said::Sale(sale)) => self.undoing(&sale, flow),
            (Stage::Finding, said) => self.finding(said, flow),
            (Stage::Beginning | Stage::Watching, Said::Sale(sale)) => self.watched(*sale, flow),
            (Stage::Signing, Said::Sale(sale)) => self.watched(*sale, flow),
            (Stage::Beginning, Said::Refused(problem)) => self.end_with(code_of_refusal(&problem), flow),
            (Stage::Cancelling, said) => self.cancelled(said, flow),
            (Stage::Confirming, said) => self.confirmed(said, flow),
            (Stage::Receipt(copy), said) => self.receipt(copy, said, flow),
            (Stage::Period, Said::Close(close)) => self.period(&close, flow),
            (Stage::Newest { from, to }, said @ Said::Sales { .. }) => self.newest((from, to), said, flow),
            (Stage::Again(number), said) => self.again(number, said, flow),
            (_, Said::Refused(problem)) => self.end_with(code_of_refusal(&problem), flow),
            _ => self.end_with(code::SYSTEM, flow),
        }
    }

    /// Lines of the till's own; the command is answered when they are on paper.
    pub(super) fn print(&mut self, lines: Vec<PrintLine>, flow: &mut Flow<'_>) {
        self.ask(Ask::Print(lines), Stage::Printing, flow);
    }

    fn printed(&mut self, code: u8, flow: &mut Flow<'_>) {
        self.stage = Stage::Over;
        if self.line_up {
            flow.send(self.line, if code == code::OK { Apdu::ok() } else { Apdu::refused(code) });
        }
    }

    /// The terminal has been silent for too long.
    fn nobody_answers(&mut self, flow: &mut Flow<'_>) {
        if let (Stage::Status, Command::Registration(registration)) = (self.stage, &self.command) {
            // A till begins its day before the terminal does.
            self.registered = Some(registration.clone());
            flow.send(self.line, Apdu::ok());
            return self.end(flow);
        }
        self.end_with(code::COMMUNICATION, flow);
    }

    fn watch(&mut self, flow: &mut Flow<'_>) {
        match &self.begin {
            Some(begin) => {
                let ask = Ask::Show { reference: begin.reference.clone(), wait_s: WATCH_S };
                self.ask(ask, Stage::Watching, flow);
            }
            None => self.end_with(code::SYSTEM, flow),
        }
    }

    fn watch_later(&mut self, flow: &mut Flow<'_>) {
        let Some(begin) = &self.begin else { return self.end_with(code::SYSTEM, flow) };
        let ask = Ask::Show { reference: begin.reference.clone(), wait_s: WATCH_S };
        self.stage = Stage::Watching;
        self.again = Some((flow.now + PAUSE, ask));
    }

    /// How the transaction stands.
    fn watched(&mut self, sale: Sale, flow: &mut Flow<'_>) {
        if self.begin.is_none() {
            return self.repeated(sale, flow);
        }
        let (state, waits) = (sale.state, sale.to_confirm.is_some());
        if self.aborting && self.stage == Stage::Beginning {
            self.sale = Some(sale);
            return self.cancel(flow);
        }
        self.say_step(&sale, flow);
        self.sale = Some(sale);
        match state {
            State::AwaitingTill if waits && self.line_up => self.tell(code::OK, flow),
            State::AwaitingTill if waits => self.not_acknowledged(flow),
            // The slip is compared by a person where the terminal prints it and the till can wait that long.
            State::AwaitingSignature if !(flow.hears_intermediate() && flow.prints_payments() && self.line_up) => {
                let reference = self.begin.as_ref().map(|begin| begin.reference.clone()).unwrap_or_default();
                self.ask(Ask::Sign { reference, accepted: true }, Stage::Signing, flow);
            }
            State::Ended | State::Unconfirmed | State::UnconfirmedFinishing => self.ended(flow),
            State::WaitingForCard if !self.line_up && !self.stopped => {
                self.stopped = true;
                self.cancel(flow);
            }
            // The terminal does not wait there with its answer.
            State::AwaitingSignature | State::AwaitingTill => self.watch_later(flow),
            _ => self.watch(flow),
        }
    }

    fn ended(&mut self, flow: &mut Flow<'_>) {
        let Some(sale) = &self.sale else { return self.end_with(code::SYSTEM, flow) };
        let code = code_of(sale).unwrap_or(code::COMMUNICATION);
        // A void that the bank declines is given back as a refund; one that nobody knows of stays unknown.
        if let (Command::Reversal(_), Some(Outcome::Declined), Kind::Reversal, Some(earlier)) =
            (&self.command, sale.outcome, sale.kind, &self.earlier)
        {
            let of = Some(earlier.reference.clone());
            let begin = Begin { of, ..Begin::new(&flow.new_reference(), Kind::Refund, None) };
            return self.begin_it(begin, flow);
        }
        self.failed = Some(code).filter(|code| *code != code::OK);
        if self.line_up { self.tell(code, flow) } else { self.stage = Stage::Over }
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
