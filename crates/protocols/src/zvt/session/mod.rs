//! The terminal's side of a ZVT session: the response to each command, and its timing. The session has no socket and no
//! clock. Events come in with their time, and [`Action`]s go out.
//!
//! | command | request to the terminal | answer to the till (ZVT PA00P015, chapter 2) |
//! |---|---|---|
//! | `06 00`, `06 02` | status | `06 0F`; nothing after a log-off |
//! | `06 01`, `06 22` | begin with `confirm`, show, confirm | `04 FF`… `04 0F`, receipts, `06 0F` or `06 1E` |
//! | `06 31` | begin (a credit), show | as for `06 01`, without confirmation |
//! | `06 30`, `06 25` | the transaction by its receipt, begin (a reversal; a refund after a decline) | as for `06 31` |
//! | `06 23`, `06 24` | the reservation by its receipt, begin (a capture, FINAL) | as for `06 31` |
//! | `06 20` | latest | `04 0F` with the current state, the receipt again, `06 0F`; `06 1E 9B` while the outcome is unknown |
//! | `06 12` | the transactions by their receipts, the receipts again | receipts, `06 0F` |
//! | `06 10`, `06 50` | the open period, a close | `04 0F` with the sums, `06 0F` |
//! | `05 01`, `06 70`, `06 79`, `06 93`, `06 1A`, `06 18` | status | the terminal's state, for the printer of administration; `06 0F`, or `06 1E` with the fault |
//! | `06 D1`, `06 D3` | lines to print, as one slip | `80 00 00`, or `84 CC 00` if they are not on paper |
//! | `06 E0` | a text to show, between transactions | a positive answer |
//! | `06 91`, `08 30`, `08 50` | nothing | a positive answer |
//! | `06 B0` | cancel | `80 00 00`, or `84 83 00` if it is too late |
//! | `06 C0` | nothing | `84 A5 00`: card data stay in the reader |
//! | any other command | nothing | `84 83 00` |
//!
//! The session stores no fact that decides about money. It asks the terminal each time for the last transaction, its
//! outcome and the amount left. A crash of this process has the same effect as a pulled cable. If a transaction then
//! waits for the till's confirmation, the terminal reverses or keeps it at its own deadline.
//!
//! [`Action`]: Action

mod earlier;
mod flow;
mod job;
mod outcome;
mod paper;
mod period;
mod printing;
mod wishes;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use super::answer::{Reply, completion_of_enquiry};
use super::apdu::{Apdu, Control};
use super::bmp::{Fields, Order};
use super::code;
use super::command::{Command, Guarded, Password, Registration};
use super::text::Charset;
use flow::Flow;
use job::Job;
use pos_till_api::{Ask, OnSilence, Said, Status};
use printing::{LinesOfTill, TooLong};

/// Maximum number of open lines. A till may keep an old connection open while it opens another.
const MOST_LINES: usize = 4;

/// The number of a line to the till: a connection, or the serial line.
pub type Line = u32;

/// The settings for this till.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The six-digit password. Without it, the session refuses commands that return money or close the day.
    pub password: Option<u32>,
    /// The till may pay out money without an earlier payment.
    pub credit: bool,
    /// How to handle an approval that the till does not acknowledge.
    pub unacknowledged: OnSilence,
    /// The order of fields in `04 0F`.
    pub order: Order,
    /// `04 0F` may contain a container of TLVs.
    pub status_containers: bool,
    /// The till gets neither `04 FF` nor printed lines.
    pub needed_frames_only: bool,
    /// The till's name at the terminal, if the till wants its own sums instead of the terminal's.
    pub own_sums: Option<String>,
    /// The prefix of the references in this run. It is random, so that no reference occurs twice.
    pub references: String,
}

/// An action for the caller. The caller carries out actions in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send an APDU to the till.
    Send {
        /// The line.
        line: Line,
        /// The APDU.
        apdu: Apdu,
    },
    /// Ask the terminal. Its answer comes back through [`Session::said`] with the same ticket.
    Ask {
        /// The number of the question.
        ticket: u64,
        /// The question.
        ask: Ask,
    },
    /// Close a line.
    Hang {
        /// The line.
        line: Line,
    },
    /// Store the till's registration and [`Session::answers_intermediate`], because one of them has changed. Keep both
    /// across connections and restarts.
    Remember(Option<Vec<u8>>),
    /// Log a sentence that names a refused or ignored field of a command. It contains no value.
    Note(String),
}

/// The facts about the terminal, from its latest status.
#[derive(Clone, Debug, Default)]
struct Facts {
    terminal_id: String,
    currency: Option<[u8; 2]>,
    /// The alphabetic code of the currency.
    currency_code: Option<String>,
    decimals: u8,
    /// Seconds east of UTC.
    offset_s: i64,
    version: String,
}

/// The session of one till.
#[derive(Debug)]
pub struct Session {
    settings: Settings,
    registration: Option<Registration>,
    facts: Facts,
    lines: BTreeSet<Line>,
    job: Option<Job>,
    to_print: LinesOfTill,
    tickets: u64,
    references: u64,
    /// The registered till has answered a `04 FF`, so it answers each one, sometimes later than T3.
    answers_intermediate: bool,
    last_command: Option<Control>,
}

impl Session {
    /// Creates a session with the stored registration from [`Action::Remember`].
    #[must_use]
    pub fn new(settings: Settings, kept: Option<&[u8]>) -> Self {
        let kept = kept.map(|data| Command::read(&Apdu::new(Control::REGISTRATION, data.to_vec())));
        let registration = match kept {
            Some(Ok(Command::Registration(registration))) => Some(registration),
            _ => None,
        };
        Self {
            settings,
            registration,
            facts: Facts { decimals: 2, ..Facts::default() },
            lines: BTreeSet::new(),
            job: None,
            to_print: LinesOfTill::default(),
            tickets: 0,
            references: 0,
            answers_intermediate: false,
            last_command: None,
        }
    }

    /// Returns whether the till has answered a `04 FF`.
    #[must_use]
    pub fn answers_intermediate(&self) -> bool {
        self.answers_intermediate
    }

    /// Restores the stored value of [`Self::answers_intermediate`].
    pub fn set_answers_intermediate(&mut self, answers: bool) {
        self.answers_intermediate = answers;
    }

    /// Returns the till's last command.
    #[must_use]
    pub fn last_command(&self) -> Option<Control> {
        self.last_command
    }

    /// Returns the number of open lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether a command is in progress.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Handles a new connection of the till.
    pub fn line_opened(&mut self, line: Line) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.lines.len() >= MOST_LINES
            && let Some(oldest) = self.lines.iter().copied().find(|open| !self.is_of_job(*open))
        {
            self.lines.remove(&oldest);
            actions.push(Action::Hang { line: oldest });
        }
        self.lines.insert(line);
        actions
    }

    /// Handles the loss of a line.
    pub fn line_lost(&mut self, line: Line, now: Duration) -> Vec<Action> {
        self.lines.remove(&line);
        if self.is_of_job(line) { self.with_job(now, |job, flow| job.line_lost(flow)) } else { Vec::new() }
    }

    /// Handles an APDU from the till.
    pub fn heard(&mut self, line: Line, apdu: &Apdu, now: Duration) -> Vec<Action> {
        match Reply::read(apdu) {
            Ok(Some(reply)) if self.is_of_job(line) => self.with_job(now, |job, flow| job.replied(&reply, flow)),
            // The answer belongs to no frame.
            Ok(Some(_)) => Vec::new(),
            Err(_) if self.is_of_job(line) => {
                self.with_job(now, |job, flow| job.replied(&Reply::Refused(code::PROTOCOL), flow))
            }
            Err(_) => Vec::new(),
            Ok(None) => {
                self.last_command = Some(apdu.control);
                match Command::read(apdu) {
                    Ok(command @ (Command::PrintLine { .. } | Command::PrintBlock(_))) => {
                        self.print(line, &command, now)
                    }
                    Ok(command) => [self.print_what_waits(), self.commanded(line, command, now)].concat(),
                    // The command is unreadable, so its purpose is unknown.
                    Err(_) => vec![Action::Send { line, apdu: Apdu::refused(code::PROTOCOL) }],
                }
            }
        }
    }

    /// Handles an answer of the terminal.
    pub fn said(&mut self, ticket: u64, said: Said, now: Duration) -> Vec<Action> {
        if let Said::Status(status) = &said {
            self.facts = Facts::of(status);
        }
        if self.job.as_ref().is_some_and(|job| job.waits_for(ticket)) {
            self.with_job(now, |job, flow| job.said(said, flow))
        } else {
            Vec::new()
        }
    }

    /// Handles the passing of time. Call it at [`Self::next_deadline`]. Additional calls are harmless.
    pub fn tick(&mut self, now: Duration) -> Vec<Action> {
        let waited = self.to_print.until().is_some_and(|until| now >= until);
        let printed = if waited { self.print_what_waits() } else { Vec::new() };
        [printed, self.with_job(now, |job, flow| job.tick(flow))].concat()
    }

    /// Returns when to call [`Self::tick`] next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let of_job = self.job.as_ref().and_then(Job::next_deadline);
        [of_job, self.to_print.until()].into_iter().flatten().min()
    }

    fn is_of_job(&self, line: Line) -> bool {
        self.job.as_ref().is_some_and(|job| job.is_on(line))
    }

    fn with_job(&mut self, now: Duration, act: impl FnOnce(&mut Job, &mut Flow<'_>)) -> Vec<Action> {
        let Some(mut job) = self.job.take() else { return Vec::new() };
        let answered = self.answers_intermediate;
        let mut flow = Flow {
            now,
            actions: Vec::new(),
            settings: &self.settings,
            registration: self.registration.as_ref(),
            facts: &self.facts,
            registered: None,
            tickets: &mut self.tickets,
            references: &mut self.references,
            answers_intermediate: &mut self.answers_intermediate,
        };
        act(&mut job, &mut flow);
        let (mut actions, registered) = (flow.actions, flow.registered);
        let data = |registration: &Registration| Command::Registration(registration.clone()).apdu().data;
        if self.answers_intermediate != answered {
            actions.insert(0, Action::Remember(self.registration.as_ref().map(data)));
        }
        if let Some(registration) = registered {
            // A different registration may come from another till.
            self.answers_intermediate &= self.registration.as_ref() == Some(&registration);
            // The registration is stored before the till gets the answer.
            actions.insert(0, Action::Remember(Some(data(&registration))));
            self.registration = Some(registration);
        }
        if !job.is_over() {
            self.job = Some(job);
        }
        actions
    }

    fn commanded(&mut self, line: Line, command: Command, now: Duration) -> Vec<Action> {
        let send = |apdu| vec![Action::Send { line, apdu }];
        self.job.take_if(|job| job.is_on(line) && job.is_told());
        match command {
            Command::LogOff => {
                // Until the till registers again, config byte 86 applies, and there are no containers.
                (self.registration, self.answers_intermediate) = (None, false);
                [send(Apdu::ok()), vec![Action::Remember(None)]].concat()
            }
            Command::Abort(_) => match &self.job {
                Some(_) => self.with_job(now, |job, flow| job.abort(line, flow)),
                None => send(Apdu::ok()),
            },
            Command::StatusEnquiry(fields) => {
                let state = if self.is_busy() { Some(code::BUSY) } else { None };
                match state {
                    // The terminal is busy, so it is not asked.
                    Some(state) => self.told_state(line, &fields, state),
                    None => self.begin(line, Command::StatusEnquiry(fields), now),
                }
            }
            Command::DisplayText(fields) => {
                let mut actions = send(Apdu::ok());
                // During a command, the terminal itself uses the display.
                if self.job.is_none() {
                    self.tickets += 1;
                    let text = printing::text_to_show(&fields, charset(self.registration.as_ref()));
                    actions.push(Action::Ask { ticket: self.tickets, ask: Ask::ShowText(text) });
                }
                actions
            }
            Command::Setting(_) => send(Apdu::ok()),
            Command::DisplayInput(_) | Command::ReadCard(_) => send(Apdu::refused(code::FORBIDDEN)),
            Command::BookTip(_) | Command::Telephone(_) | Command::Unknown(_) => {
                send(Apdu::refused(code::NOT_POSSIBLE))
            }
            _ if self.job.is_some() => send(Apdu::refused(code::BUSY)),
            command => self.begin(line, command, now),
        }
    }

    /// Accepts a line or block from the till immediately, and prints the slip with the last one.
    fn print(&mut self, line: Line, command: &Command, now: Duration) -> Vec<Action> {
        self.job.take_if(|job| job.is_on(line) && job.is_told());
        let send = |apdu| vec![Action::Send { line, apdu }];
        if self.job.is_some() {
            return send(Apdu::refused(code::BUSY));
        }
        match self.to_print.add(command, charset(self.registration.as_ref()), now) {
            Err(TooLong) => send(Apdu::refused(code::PRINTER)),
            Ok(None) => send(Apdu::ok()),
            Ok(Some(lines)) if lines.is_empty() => send(Apdu::ok()),
            Ok(Some(lines)) => {
                self.job = Some(Job::new(line, command.clone(), now));
                self.with_job(now, |job, flow| job.print(lines, flow))
            }
        }
    }

    /// Prints a slip that the till has not finished. The till gets no further answer, because the lines are already
    /// acknowledged.
    fn print_what_waits(&mut self) -> Vec<Action> {
        let lines = self.to_print.take();
        if lines.is_empty() {
            return Vec::new();
        }
        self.tickets += 1;
        vec![Action::Ask { ticket: self.tickets, ask: Ask::Print(lines) }]
    }

    /// Builds `06 0F` for a busy terminal.
    fn told_state(&self, line: Line, fields: &Fields, state: u8) -> Vec<Action> {
        let version = wants_version(fields).then_some(self.facts.version.as_str());
        let apdu = completion_of_enquiry(version, state, None);
        [Apdu::ok(), apdu].map(|apdu| Action::Send { line, apdu }).to_vec()
    }

    fn begin(&mut self, line: Line, command: Command, now: Duration) -> Vec<Action> {
        self.job = Some(Job::new(line, command, now));
        self.with_job(now, |job, flow| job.begin(flow))
    }
}

/// Returns whether the answer to a status enquiry includes the version. Bit 1 of the service byte suppresses it.
fn wants_version(fields: &Fields) -> bool {
    fields.byte(0x03).is_none_or(|service| service & 0x02 == 0)
}

/// Returns whether the answer to a status enquiry includes TLVs. Bit 2 of the service byte requests them.
fn wants_container(fields: &Fields) -> bool {
    fields.byte(0x03).is_some_and(|service| service & 0x04 != 0)
}

/// Returns whether a command's password is right. If no password is configured, no password is right.
fn is_allowed(settings: &Settings, guarded: &Guarded) -> bool {
    // Terminals in the specification compare five of the six digits, but this session compares all six.
    settings.password.is_some_and(|password| guarded.password == Some(Password(password)))
}

/// Checks the password of a command that moves no money. If no password is configured, any password is right.
fn is_right_where_asked(settings: &Settings, password: Password) -> bool {
    settings.password.is_none_or(|right| password == Password(right))
}

impl Facts {
    fn of(status: &Status) -> Self {
        let number = status.currency_number.map(|number| super::bmp::digits(u64::from(number), 2));
        Self {
            terminal_id: status.terminal_id.clone(),
            currency: number.and_then(|digits| digits.try_into().ok()),
            currency_code: status.currency.clone(),
            decimals: status.currency_decimals.unwrap_or(2),
            offset_s: status.clock.time.as_deref().and_then(outcome::offset_of).unwrap_or(0),
            version: status.version.clone(),
        }
    }
}

/// Returns the character set of a till's texts.
fn charset(registration: Option<&Registration>) -> Charset {
    registration.and_then(Registration::charset).unwrap_or_default()
}
