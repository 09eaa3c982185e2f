//! A ZVT till in the world: the real session of `pos-front` without a connection. At each answer of the agent and at
//! each APDU, the power or the connection can be cut. After that, the till's knowledge is compared with the bank's
//! ledger.

use std::collections::VecDeque;
use std::time::Duration;

use pos_protocols::zvt::answer::TerminalMessage;
use pos_protocols::zvt::apdu::{Apdu, Control};
use pos_protocols::zvt::bmp::{Fields, Order};
use pos_protocols::zvt::command::{self, Guarded, Password, Registration};
use pos_protocols::zvt::session::{Action, Line, Session, Settings};
use pos_terms::transaction::OnSilence;
use pos_till_api::Said;
use tokio::time::{Instant, sleep, sleep_until};

use super::asked::{Belief, Terminal};
use super::pcap::Stream;
use super::tills::Till;

const LINE: Line = 1;

/// The behaviour of a till.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The terminal's action if the till does not acknowledge.
    pub unacknowledged: OnSilence,
    /// True if the till gets `04 FF` (config byte, bit 08).
    pub hears: bool,
    /// T4: the time that the till waits for the next frame.
    pub patience: Duration,
    /// The number of frames after which the till sends `06 B0`.
    pub aborts_after: Option<usize>,
    /// The frame from which the till reads nothing, and for how long. After that, the till answers all waiting frames
    /// in their order.
    pub sleeps: Option<(usize, Duration)>,
    /// True if the till answers `04 0F` with `84 66`, because the shop does not hand over the goods.
    pub refuses: bool,
    /// True if the till answers `04 FF` with `84 83`, like a till that cannot show the text.
    pub shows_nothing: bool,
}

impl Manner {
    /// Makes a till that follows the specification.
    pub fn new(unacknowledged: OnSilence) -> Self {
        Self {
            unacknowledged,
            hears: false,
            patience: Duration::from_secs(180),
            aborts_after: None,
            sleeps: None,
            refuses: false,
            shows_nothing: false,
        }
    }
}

/// A till with its session at the terminal, while the board has power.
pub struct ZvtTill<'a> {
    terminal: Terminal<'a>,
    session: Session,
    start: Instant,
    /// The terminal's answers that are not yet delivered.
    said: VecDeque<(u64, Said)>,
    belief: &'a std::cell::Cell<Belief>,
    /// The amount in `04 0F`, kept until the command ends.
    approved: Option<u64>,
    over: bool,
    manner: Manner,
    /// The time at which the till gives up.
    until: Instant,
    /// The number of frames that the till has received.
    heard: usize,
    /// True if the command was answered.
    answered: bool,
    gave_up: bool,
    /// The time until which the till reads nothing, and the waiting frames.
    asleep: Option<Instant>,
    unread: VecDeque<TerminalMessage>,
    stream: Option<Stream>,
}

impl<'a> ZvtTill<'a> {
    pub fn new(till: &'a Till, manner: Manner, belief: &'a std::cell::Cell<Belief>) -> Self {
        let unacknowledged = match manner.unacknowledged {
            OnSilence::Reverse => pos_till_api::OnSilence::Reverse,
            OnSilence::Keep => pos_till_api::OnSilence::Keep,
        };
        let settings = Settings {
            password: Some(123_456),
            credit: false,
            unacknowledged,
            order: Order::Table,
            status_containers: true,
            needed_frames_only: !manner.hears,
            own_sums: None,
            references: format!("zvt-{}", till.world.now().as_millis()),
        };
        let config = if manner.hears { 0x0E } else { 0x06 };
        let registration = Registration { password: Password(0), config, currency: None, fields: Fields::default() };
        let data = command::Command::Registration(registration).apdu().data;
        let mut session = Session::new(settings, Some(&data));
        let _ = session.line_opened(LINE);
        // A till that stops reading has answered intermediate frames in an earlier payment.
        session.set_answers_intermediate(manner.sleeps.is_some());
        let terminal = Terminal(till);
        Self {
            terminal,
            session,
            start: Instant::now(),
            said: VecDeque::new(),
            belief,
            approved: None,
            over: false,
            manner,
            until: Instant::now(),
            heard: 0,
            answered: false,
            gave_up: false,
            asleep: None,
            unread: VecDeque::new(),
            stream: Stream::begin(),
        }
    }

    /// Sends `06 01`, and waits until the command or the connection ends.
    pub async fn pays(&mut self, minor: u64) {
        let mut fields = Fields::default();
        fields.set_number(0x04, minor);
        self.does(&command::Command::Authorisation(fields).apdu()).await;
    }

    /// Sends `06 20` until the outcome is known, for at most `patience`.
    pub async fn learns(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.belief.get() == Belief::Unknown && Instant::now() < until {
            let mut fields = Fields::default();
            fields.set(0x03, [0x03]);
            let repeat = Guarded { password: Some(Password(123_456)), fields };
            self.does(&command::Command::RepeatReceipt(repeat).apdu()).await;
            sleep(Duration::from_secs(20)).await;
        }
    }

    /// Returns whether T4 has expired.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Returns the number of frames that the till has received.
    pub fn heard(&self) -> usize {
        self.heard
    }

    async fn does(&mut self, apdu: &Apdu) {
        (self.approved, self.over, self.answered) = (None, false, false);
        self.until = Instant::now() + self.manner.patience;
        let actions = self.says(apdu).await;
        self.act(actions).await;
        // Runs until the command ends and the session has no further work.
        while !self.over || self.session.is_busy() {
            if self.asleep.is_some_and(|until| Instant::now() >= until) {
                self.wakes().await;
                continue;
            }
            if !self.over && self.asleep.is_none() && Instant::now() >= self.until {
                self.gives_up().await;
                continue;
            }
            let actions = if let Some((ticket, said)) = self.said.pop_front() {
                self.session.said(ticket, said, self.start.elapsed())
            } else {
                let of_session = self.session.next_deadline().map(|at| self.start + at);
                let of_till = self.asleep.or((!self.over).then_some(self.until));
                // Without a deadline, no further message can arrive.
                let Some(at) = of_session.into_iter().chain(of_till).min() else { return };
                sleep_until(at).await;
                self.session.tick(self.start.elapsed())
            };
            self.act(actions).await;
        }
    }

    /// Reads all frames that have arrived in the meantime, and those that follow.
    async fn wakes(&mut self) {
        self.asleep = None;
        while let Some(told) = self.unread.pop_front() {
            for answer in self.told(&told) {
                let actions = self.says(&answer).await;
                self.act(actions).await;
            }
        }
    }

    /// Gives up after T4: the till aborts, and closes the connection after any answer.
    async fn gives_up(&mut self) {
        self.gave_up = true;
        let abort = Apdu::new(Control::TILL_ABORT, Vec::new());
        let actions = self.says(&abort).await;
        self.act(actions).await;
        if !self.over {
            let actions = self.line_breaks();
            self.act(actions).await;
        }
    }

    /// Sends an APDU from the till to the terminal.
    async fn says(&mut self, apdu: &Apdu) -> Vec<Action> {
        if !self.terminal.arrives().await {
            return self.line_breaks();
        }
        self.record(Stream::till_says, apdu);
        self.session.heard(LINE, apdu, self.start.elapsed())
    }

    /// Breaks the connection, so the next command uses a new one.
    fn line_breaks(&mut self) -> Vec<Action> {
        self.over = true;
        self.asleep = None;
        self.unread.clear();
        let actions = self.session.line_lost(LINE, self.start.elapsed());
        let _ = self.session.line_opened(LINE);
        self.stream = Stream::begin();
        actions
    }

    async fn act(&mut self, actions: Vec<Action>) {
        let mut actions: VecDeque<Action> = actions.into();
        while let Some(action) = actions.pop_front() {
            match action {
                Action::Ask { ticket, ask } => {
                    let said = self.terminal.ask(&ask).await;
                    self.said.push_back((ticket, said));
                }
                Action::Send { apdu, .. } if self.terminal.arrives().await => {
                    self.record(Stream::terminal_says, &apdu);
                    let told = TerminalMessage::read(&apdu).unwrap();
                    let frame = self.heard + self.unread.len() + 1;
                    if let Some((_, length)) = self.manner.sleeps.filter(|(first, _)| *first == frame) {
                        self.asleep = Some(Instant::now() + length);
                    }
                    if self.asleep.is_some() || !self.unread.is_empty() {
                        self.unread.push_back(told);
                        continue;
                    }
                    for answer in self.told(&told) {
                        actions.extend(self.says(&answer).await);
                    }
                }
                Action::Send { .. } => actions.extend(self.line_breaks()),
                Action::Hang { .. } | Action::Remember(_) | Action::Note(_) => {}
            }
        }
    }

    fn record(&mut self, direction: fn(&mut Stream, &[u8]), apdu: &Apdu) {
        if let Some(stream) = &mut self.stream {
            direction(stream, &apdu.encode());
        }
    }

    /// Returns the till's answer to an APDU.
    fn told(&mut self, told: &TerminalMessage) -> Vec<Apdu> {
        self.heard += 1;
        match told {
            // A further answer, to the command or to `06 B0`, changes nothing for the till.
            TerminalMessage::Ok | TerminalMessage::Refused(_) if self.answered => return Vec::new(),
            TerminalMessage::Ok => {
                (self.answered, self.until) = (true, Instant::now() + self.manner.patience);
                return self.abort();
            }
            // The command was refused, because the terminal is busy.
            TerminalMessage::Refused(_) => {
                self.over = true;
                return Vec::new();
            }
            TerminalMessage::Intermediate(_) => {
                self.until = Instant::now() + self.manner.patience;
                if self.manner.shows_nothing {
                    return vec![Apdu::refused(0x83)];
                }
            }
            TerminalMessage::Status(fields) => {
                self.until = Instant::now() + self.manner.patience;
                self.approved = fields.number(0x04).unwrap().filter(|_| fields.byte(0x27) == Some(0));
                if fields.byte(0x27).is_some_and(|code| code != 0 && code != 0x7D) {
                    self.belief.set(Belief::NotPaid);
                }
                if self.manner.refuses && self.approved.take().is_some() {
                    self.belief.set(Belief::NotPaid);
                    return vec![Apdu::refused(0x66)];
                }
            }
            TerminalMessage::Completion(_) => {
                self.over = true;
                if let Some(minor) = self.approved {
                    self.belief.set(Belief::Paid(minor));
                }
            }
            TerminalMessage::Aborted { code, .. } => {
                self.over = true;
                if !matches!(code, 0x7D | 0x9B) {
                    self.belief.set(Belief::NotPaid);
                }
            }
            _ => {}
        }
        let mut says = vec![Apdu::ok()];
        says.extend(self.abort());
        says
    }

    /// Aborts at the planned frame.
    fn abort(&mut self) -> Vec<Apdu> {
        if self.manner.aborts_after != Some(self.heard) || self.over {
            return Vec::new();
        }
        vec![Apdu::new(Control::TILL_ABORT, Vec::new())]
    }
}
