//! The terminal's side of Caisse-AP: rules and time, without a socket and without a clock. Events come in with their
//! time, and [`Action`]s go out.
//!
//! ```text
//!  Receiving ─▶ Status ─▶ Supervisor ─▶ Following ─▶ Telling ──────▶ Confirming
//!  (200 ms of   (currency) (CD 1 only)  (begin and   (the answer and (what the till
//!   silence, 5 s)                        watch)       its TCP acks)   took)
//! ```
//!
//! | second of the connection | event |
//! |---|---|
//! | 5 | the request is not complete: `AE` 01, `AF` 09 |
//! | 110 | no request to the gateway begins any more: the transaction is cancelled |
//! | 170 | the outcome is still open: the connection is closed without an answer |
//! | 177 | the till gives up |
//!
//! The till takes each `AE` 01 for "nothing is charged". The session sends one only if the terminal has said so, or if
//! nothing was begun. Otherwise it closes the connection without an answer, which the till shows as an open outcome.
//!
//! The protocol has no acknowledgement, no reference and no repeated message. The session confirms an approval to the
//! terminal only after the caller has reported that TCP has delivered the answer ([`Session::taken`]). Otherwise the
//! terminal takes the payment back, or keeps it ([`Settings::unacknowledged`]). A till that repeats a payment therefore
//! does not pay twice.
//!
//! The session stores no fact that decides about money.

mod job;
mod outcome;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use super::answer::Answer;
use super::failure::Failure;
use super::request::{Arrived, Direction, Echo, Request, RequestFault, arrived};
use super::tlv::{MOST_BYTES, scan};
use job::Job;
pub use job::SUPERVISOR;
use pos_till_api::{Ask, OnSilence, Said};

/// Maximum number of open lines. A till uses one.
const MOST_LINES: usize = 4;
/// Maximum number of transactions in progress, including those whose till is gone.
const MOST_JOBS: usize = 8;
/// The silence that ends a request without a line end.
const QUIET: Duration = Duration::from_millis(200);
/// The time from the connection to the end of the request.
const COMPLETE: Duration = Duration::from_secs(5);

/// The number of a connection.
pub type Line = u32;

/// The settings for this till.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The till may pay out money without an earlier payment.
    pub credit: bool,
    /// How to handle an approval that the till does not get.
    pub unacknowledged: OnSilence,
    /// The prefix of the references in this run. It is random, so that no reference occurs twice.
    pub references: String,
}

/// An action for the caller. The caller carries out actions in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the only answer to the till.
    Answer {
        /// The line.
        line: Line,
        /// The answer.
        bytes: Vec<u8>,
        /// `true` if money depends on its delivery: report it through [`Session::taken`]. Otherwise close the line
        /// when the till has read it.
        reports: bool,
    },
    /// Close a line without an answer.
    Hang {
        /// The line.
        line: Line,
    },
    /// Ask the terminal. Its answer comes back through [`Session::said`] with the same ticket.
    Ask {
        /// The number of the question.
        ticket: u64,
        /// The question.
        ask: Ask,
    },
    /// Ask a supervisor at the terminal whether the till may pay out. The answer comes back through
    /// [`Session::supervisor_said`] with the same ticket.
    WaitForSupervisor {
        /// The number of the question.
        ticket: u64,
        /// The reference of the transaction.
        reference: String,
        /// The amount, such as `12.34`.
        amount: String,
        /// The currency, ISO 4217.
        currency: String,
    },
    /// Log a sentence. It contains no value.
    Note(String),
}

/// The state of a line.
#[derive(Debug)]
enum Wire {
    Receiving {
        bytes: Vec<u8>,
        opened: Duration,
        /// The time at which a request without a line end counts as whole.
        quiet_at: Option<Duration>,
    },
    /// A transaction with the same number is in progress.
    Paying,
}

/// The session of one till.
#[derive(Debug)]
pub struct Session {
    settings: Settings,
    lines: BTreeMap<Line, Wire>,
    jobs: BTreeMap<Line, Job>,
    tickets: u64,
    references: u64,
    /// The number of requests so far, and the direction of the last one.
    requests: (u64, Option<Direction>),
    /// No transaction begins any more.
    stops: bool,
}

/// The context of a job during one event.
struct Flow<'a> {
    now: Duration,
    line: Line,
    actions: Vec<Action>,
    settings: &'a Settings,
    tickets: &'a mut u64,
    references: &'a mut u64,
}

impl Flow<'_> {
    fn ask(&mut self, ask: Ask) -> u64 {
        let ticket = self.ticket();
        self.actions.push(Action::Ask { ticket, ask });
        ticket
    }

    fn ticket(&mut self) -> u64 {
        *self.tickets += 1;
        *self.tickets
    }

    fn new_reference(&mut self) -> String {
        *self.references += 1;
        format!("{}-{}", self.settings.references, self.references)
    }

    fn note(&mut self, note: impl Into<String>) {
        self.actions.push(Action::Note(note.into()));
    }
}

impl Session {
    /// Creates the session of a till.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let (lines, jobs) = (BTreeMap::new(), BTreeMap::new());
        Self { settings, lines, jobs, tickets: 0, references: 0, requests: (0, None), stops: false }
    }

    /// Returns the number of whole requests so far, and the direction of the last one.
    #[must_use]
    pub fn requests(&self) -> (u64, Option<Direction>) {
        self.requests
    }

    /// Returns the number of open lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether a transaction is in progress, with or without a till that waits for it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Returns whether a till may have an answer that the terminal has not recorded yet. A caller that stops should
    /// wait for this record.
    #[must_use]
    pub fn is_settling(&self) -> bool {
        self.jobs.values().any(Job::is_settling)
    }

    /// Handles the end of the terminal's service. Each later request is refused.
    pub fn stop(&mut self) {
        self.stops = true;
    }

    /// Handles a new connection of the till. Line numbers are never used again while a transaction is in progress.
    pub fn line_opened(&mut self, line: Line, now: Duration) -> Vec<Action> {
        if self.lines.len() >= MOST_LINES || self.jobs.contains_key(&line) {
            return vec![Action::Note("too many connections".to_owned()), Action::Hang { line }];
        }
        self.lines.insert(line, Wire::Receiving { bytes: Vec::new(), opened: now, quiet_at: None });
        Vec::new()
    }

    /// Handles bytes from the till.
    pub fn heard(&mut self, line: Line, received: &[u8], now: Duration) -> Vec<Action> {
        match self.lines.get_mut(&line) {
            Some(Wire::Receiving { bytes, quiet_at, .. }) => {
                let room = (MOST_BYTES + 1).saturating_sub(bytes.len());
                bytes.extend_from_slice(received.get(..room.min(received.len())).unwrap_or_default());
                match arrived(bytes) {
                    Ok(Arrived::Part) => *quiet_at = None,
                    Ok(Arrived::Whole) => *quiet_at = Some(now + QUIET),
                    Ok(Arrived::Ended) => return self.begin(line, now),
                    Err(fault) => return self.refuse(line, fault),
                }
                Vec::new()
            }
            Some(Wire::Paying) if !received.iter().all(|byte| matches!(byte, b'\r' | b'\n')) => {
                self.with_job(line, now, Job::till_goes_on)
            }
            _ => Vec::new(),
        }
    }

    /// Handles the loss of a line.
    pub fn line_lost(&mut self, line: Line, now: Duration) -> Vec<Action> {
        match self.lines.remove(&line) {
            Some(Wire::Paying) => self.with_job(line, now, Job::line_lost),
            _ => Vec::new(),
        }
    }

    /// Handles the fate of an answer that reports it. `taken` is `true` if TCP has acknowledged all its bytes and the
    /// line was not reset. The caller then closes the line.
    pub fn taken(&mut self, line: Line, taken: bool, now: Duration) -> Vec<Action> {
        self.lines.remove(&line);
        self.with_job(line, now, |job, flow| job.taken(taken, flow))
    }

    /// Handles an answer of the terminal.
    pub fn said(&mut self, ticket: u64, said: Said, now: Duration) -> Vec<Action> {
        match self.jobs.iter().find(|(_, job)| job.waits_for(ticket)).map(|(line, _)| *line) {
            Some(line) => self.with_job(line, now, |job, flow| job.said(said, flow)),
            None => Vec::new(),
        }
    }

    /// Returns whether a supervisor's answer with this ticket is still awaited.
    #[must_use]
    pub fn waits_for_supervisor(&self, ticket: u64) -> bool {
        self.jobs.values().any(|job| job.waits_for_supervisor(ticket))
    }

    /// Handles a supervisor's answer.
    pub fn supervisor_said(&mut self, ticket: u64, confirmed: bool, now: Duration) -> Vec<Action> {
        match self.jobs.iter().find(|(_, job)| job.waits_for_supervisor(ticket)).map(|(line, _)| *line) {
            Some(line) => self.with_job(line, now, |job, flow| job.supervisor_said(confirmed, flow)),
            None => Vec::new(),
        }
    }

    /// Handles the passing of time. Call it at [`Self::next_deadline`]. Additional calls are harmless.
    pub fn tick(&mut self, now: Duration) -> Vec<Action> {
        let mut actions = Vec::new();
        for line in self.lines.keys().copied().collect::<Vec<_>>() {
            match self.lines.get(&line) {
                Some(Wire::Receiving { quiet_at: Some(at), .. }) if now >= *at => actions.extend(self.begin(line, now)),
                Some(Wire::Receiving { opened, .. }) if now >= *opened + COMPLETE => {
                    actions.extend(self.refuse(line, RequestFault::Late));
                }
                _ => {}
            }
        }
        for line in self.jobs.keys().copied().collect::<Vec<_>>() {
            actions.extend(self.with_job(line, now, Job::tick));
        }
        actions
    }

    /// Returns when to call [`Self::tick`] next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let of_lines = self.lines.values().filter_map(|wire| match wire {
            Wire::Receiving { opened, quiet_at, .. } => Some(quiet_at.unwrap_or(*opened + COMPLETE)),
            Wire::Paying => None,
        });
        of_lines.chain(self.jobs.values().filter_map(Job::next_deadline)).min()
    }

    /// Begins a whole request.
    fn begin(&mut self, line: Line, now: Duration) -> Vec<Action> {
        let Some(Wire::Receiving { bytes, opened, .. }) = self.lines.get(&line) else { return Vec::new() };
        let opened = *opened;
        let request = match Request::read(bytes) {
            Ok(request) => request,
            Err(fault) => return self.refuse(line, fault),
        };
        self.requests = (self.requests.0 + 1, Some(request.direction));
        let is_occupied = self.jobs.len() >= MOST_JOBS || self.jobs.values().any(Job::is_heard);
        if self.stops || is_occupied {
            self.lines.remove(&line);
            let note = match self.stops {
                true => "a request was refused: the service stops",
                false => "a request was refused: another payment of this till is in progress",
            };
            return vec![Action::Note(note.to_owned()), negative(line, request.echo, Failure::GivenUp)];
        }
        self.lines.insert(line, Wire::Paying);
        self.jobs.insert(line, Job::new(request, opened));
        self.with_job(line, now, Job::begin)
    }

    /// Answers a request that cannot be accepted. Nothing was begun.
    fn refuse(&mut self, line: Line, fault: RequestFault) -> Vec<Action> {
        let echo = match self.lines.remove(&line) {
            Some(Wire::Receiving { bytes, .. }) => scan(&bytes).map(|scan| Echo::of(&scan)).unwrap_or_default(),
            _ => Echo::default(),
        };
        let note = Action::Note(format!("a request was refused: {fault}"));
        vec![note, negative(line, echo, fault.failure())]
    }

    fn with_job(&mut self, line: Line, now: Duration, act: impl FnOnce(&mut Job, &mut Flow<'_>)) -> Vec<Action> {
        let Some(mut job) = self.jobs.remove(&line) else { return Vec::new() };
        let mut flow = Flow {
            now,
            line,
            actions: Vec::new(),
            settings: &self.settings,
            tickets: &mut self.tickets,
            references: &mut self.references,
        };
        act(&mut job, &mut flow);
        let actions = flow.actions;
        let closes = |action: &Action| match action {
            Action::Hang { line: one } | Action::Answer { line: one, reports: false, .. } => *one == line,
            _ => false,
        };
        if actions.iter().any(closes) {
            self.lines.remove(&line);
        }
        if !job.is_over() {
            self.jobs.insert(line, job);
        }
        actions
    }
}

fn negative(line: Line, echo: Echo, failure: Failure) -> Action {
    Action::Answer { line, bytes: Answer { echo, result: Err(failure) }.encode(), reports: false }
}
