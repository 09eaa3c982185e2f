//! The terminal's side of a ZVT till: what is done about each command, and when. Without a wire and without a clock:
//! what happens comes in as an event with its time, what is to be done goes out as [`Action`]s.
//!
//! | command | asked of the terminal | told to the till (ZVT PA00P015, chapter 2) |
//! |---|---|---|
//! | `06 00`, `06 02` | status | `06 0F`; nothing after a log-off |
//! | `06 01`, `06 22` | begin with `confirm`, show, confirm | `04 FF`… `04 0F`, receipts, `06 0F` or `06 1E` |
//! | `06 31` | begin (a credit), show | the same, without confirmation |
//! | `06 30`, `06 25` | the sale by its receipt, begin (a reversal; a refund after a decline) | the same |
//! | `06 23`, `06 24` | the reservation by its receipt, begin (a capture, FINAL) | the same |
//! | `06 20` | latest | `04 0F` with the present truth, the receipt again, `06 0F`; `06 1E 9B` while nobody knows |
//! | `06 12` | the sales by their receipts, the receipts again | receipts, `06 0F` |
//! | `06 10`, `06 50` | the open period, a close | `04 0F` with the sums, `06 0F` |
//! | `05 01`, `06 70`, `06 79`, `06 93`, `06 1A`, `06 18` | status | how it stands, for the printer of administration; `06 0F`, or `06 1E` with what is wrong |
//! | `06 D1`, `06 D3` | lines to print, as one slip | `80 00 00`, or `84 CC 00` when they are not on paper |
//! | `06 E0` | a text to show, between sales | that it is done |
//! | `06 91`, `08 30`, `08 50` | nothing | that it is done |
//! | `06 B0` | cancel | `80 00 00`, or `84 83 00` when it is too late |
//! | `06 C0` | nothing | `84 A5 00`: card data stay in the reader |
//! | everything else | nothing | `84 83 00` |
//!
//! It holds no fact that decides about money: which sale was the last, what it came to and what is left of it the
//! terminal says each time. What is lost with this process is lost as when a cable is pulled: a sale that waits for
//! its till's word is taken back, or kept, by the terminal's own deadline.
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

/// A till may hold an old connection open while it opens another.
const MOST_LINES: usize = 4;

/// A line to the till: one connection, or the serial line.
pub type Line = u32;

/// How this till is served.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Six digits; without one, what gives money back or closes the day is refused.
    pub password: Option<u32>,
    /// It may pay out without an earlier payment.
    pub credit: bool,
    /// What becomes of an approval that is not acknowledged.
    pub unacknowledged: OnSilence,
    /// The order of fields in `04 0F`.
    pub order: Order,
    /// `04 0F` may have a container of TLVs.
    pub status_containers: bool,
    /// Neither `04 FF` nor printed lines.
    pub needed_frames_only: bool,
    /// The till's name at the terminal, where it hears its own sums in the place of the terminal's.
    pub own_sums: Option<String>,
    /// What this start's references begin with: random, so that no reference comes twice.
    pub references: String,
}

/// What is to be done now, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// An APDU goes to the till.
    Send {
        /// Where.
        line: Line,
        /// What.
        apdu: Apdu,
    },
    /// The terminal is asked; its answer comes back by [`Session::said`] with the same number.
    Ask {
        /// Which question.
        ticket: u64,
        /// What.
        ask: Ask,
    },
    /// A line is closed.
    Hang {
        /// Which.
        line: Line,
    },
    /// The till's registration has changed, or [`Session::answers_intermediate`], and both are to be kept: they outlive
    /// connections and restarts.
    Remember(Option<Vec<u8>>),
    /// A sentence for the log: which field of a command is refused, or passed over. It holds no value.
    Note(String),
}

/// What is known of the terminal, as it said last.
#[derive(Clone, Debug, Default)]
struct Facts {
    terminal_id: String,
    currency: Option<[u8; 2]>,
    /// The same by its letters.
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
    /// The till that is registered has answered a `04 FF`: it answers each of them, some later than T3.
    answers_intermediate: bool,
    last_command: Option<Control>,
}

impl Session {
    /// With the registration that was kept, as [`Action::Remember`] gave it.
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

    /// Whether the till has answered a `04 FF`.
    #[must_use]
    pub fn answers_intermediate(&self) -> bool {
        self.answers_intermediate
    }

    /// The same, as it was kept.
    pub fn set_answers_intermediate(&mut self, answers: bool) {
        self.answers_intermediate = answers;
    }

    /// The last command of the till.
    #[must_use]
    pub fn last_command(&self) -> Option<Control> {
        self.last_command
    }

    /// How many lines are open.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Whether a command is being carried out.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// A till has connected.
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

    /// A line is gone.
    pub fn line_lost(&mut self, line: Line, now: Duration) -> Vec<Action> {
        self.lines.remove(&line);
        if self.is_of_job(line) { self.with_job(now, |job, flow| job.line_lost(flow)) } else { Vec::new() }
    }

    /// The till has sent something.
    pub fn heard(&mut self, line: Line, apdu: &Apdu, now: Duration) -> Vec<Action> {
        match Reply::read(apdu) {
            Ok(Some(reply)) if self.is_of_job(line) => self.with_job(now, |job, flow| job.replied(&reply, flow)),
            // An answer to nothing.
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
                    // What it is wanted for cannot be known.
                    Err(_) => vec![Action::Send { line, apdu: Apdu::refused(code::PROTOCOL) }],
                }
            }
        }
    }

    /// The terminal has answered.
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

    /// Time has gone by: to be called at [`Self::next_deadline`], and allowed at any time.
    pub fn tick(&mut self, now: Duration) -> Vec<Action> {
        let waited = self.to_print.until().is_some_and(|until| now >= until);
        let printed = if waited { self.print_what_waits() } else { Vec::new() };
        [printed, self.with_job(now, |job, flow| job.tick(flow))].concat()
    }

    /// When [`Self::tick`] is to be called.
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
            // Another registration may be another till's.
            self.answers_intermediate &= self.registration.as_ref() == Some(&registration);
            // Kept before the till hears of it.
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
                // Config byte 86, and no containers, until it registers again.
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
                    // The terminal itself is busy: it is not asked.
                    Some(state) => self.told_state(line, &fields, state),
                    None => self.begin(line, Command::StatusEnquiry(fields), now),
                }
            }
            Command::DisplayText(fields) => {
                let mut actions = send(Apdu::ok());
                // While a command is carried out the display is the terminal's own.
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

    /// A line or a block of the till's own: taken at once, and with the last one printed.
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

    /// What the till has begun to print and not ended. Its lines were taken already: it hears no more of them.
    fn print_what_waits(&mut self) -> Vec<Action> {
        let lines = self.to_print.take();
        if lines.is_empty() {
            return Vec::new();
        }
        self.tickets += 1;
        vec![Action::Ask { ticket: self.tickets, ask: Ask::Print(lines) }]
    }

    /// `06 0F` about a terminal that is at work.
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

/// Whether the version is to be told after a status enquiry: bit 1 of its service byte says no.
fn wants_version(fields: &Fields) -> bool {
    fields.byte(0x03).is_none_or(|service| service & 0x02 == 0)
}

/// Whether more is to be told of the terminal in TLVs: bit 2 of its service byte.
fn wants_container(fields: &Fields) -> bool {
    fields.byte(0x03).is_some_and(|service| service & 0x04 != 0)
}

/// Whether a command's password is the till's; where none is configured, no password is the right one.
fn is_allowed(settings: &Settings, guarded: &Guarded) -> bool {
    // The specification's terminals compare five of the six digits; here all count.
    settings.password.is_some_and(|password| guarded.password == Some(Password(password)))
}

/// The same of what gives nothing away: where no password is configured, any is right.
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

/// The character set that a till's texts are in.
fn charset(registration: Option<&Registration>) -> Charset {
    registration.and_then(Registration::charset).unwrap_or_default()
}
