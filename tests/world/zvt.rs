//! A ZVT till in the world: the session of `pos-front` as it is, without a wire. Each answer of the agent and each APDU
//! is a point where the power can go or the line can break; what the till believes then is held against the bank's
//! ledger.

use std::collections::VecDeque;
use std::time::Duration;

use pos_agent::transaction::OnSilence;
use pos_protocols::terminal::{self, Said};
use pos_protocols::zvt::answer::Told;
use pos_protocols::zvt::apdu::Apdu;
use pos_protocols::zvt::bmp::{Fields, Order};
use pos_protocols::zvt::command::{self, Guarded, Password, Registration};
use pos_protocols::zvt::session::{Action, Line, Session, Settings};
use tokio::time::{Instant, sleep, sleep_until};

use super::asked::{Belief, Terminal};
use super::pcap::Stream;
use super::tills::Till;

const LINE: Line = 1;

/// A till with its terminal's session, as long as the board has power.
pub(crate) struct ZvtTill<'a> {
    terminal: Terminal<'a>,
    session: Session,
    start: Instant,
    /// What the terminal answered, to be handed over.
    said: VecDeque<(u64, Said)>,
    belief: &'a std::cell::Cell<Belief>,
    /// The amount of `04 0F`, until the end is heard.
    approved: Option<u64>,
    over: bool,
    stream: Option<Stream>,
}

impl<'a> ZvtTill<'a> {
    pub(crate) fn new(till: &'a Till, unacknowledged: OnSilence, belief: &'a std::cell::Cell<Belief>) -> Self {
        let unacknowledged = match unacknowledged {
            OnSilence::Reverse => terminal::OnSilence::Reverse,
            OnSilence::Keep => terminal::OnSilence::Keep,
        };
        let settings = Settings {
            password: Some(123_456),
            credit: false,
            unacknowledged,
            order: Order::Table,
            needed_frames_only: true,
            references: format!("zvt-{}", till.world.now().as_millis()),
        };
        let registration =
            Registration { password: Password(0), config: 0x06, currency: None, fields: Fields::default() };
        let data = command::Command::Registration(registration).apdu().data;
        let mut session = Session::new(settings, Some(&data));
        let _ = session.line_opened(LINE);
        let terminal = Terminal(till);
        Self {
            terminal,
            session,
            start: Instant::now(),
            said: VecDeque::new(),
            belief,
            approved: None,
            over: false,
            stream: Stream::begin(),
        }
    }

    /// `06 01`, to its end or to the end of its line.
    pub(crate) async fn pays(&mut self, minor: u64) {
        let mut fields = Fields::default();
        fields.set_number(0x04, minor);
        self.does(&command::Command::Authorisation(fields).apdu()).await;
    }

    /// `06 20`, until it is known; gives up after so long.
    pub(crate) async fn learns(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.belief.get() == Belief::Unknown && Instant::now() < until {
            let mut fields = Fields::default();
            fields.set(0x03, [0x03]);
            let repeat = Guarded { password: Some(Password(123_456)), fields };
            self.does(&command::Command::RepeatReceipt(repeat).apdu()).await;
            sleep(Duration::from_secs(20)).await;
        }
    }

    async fn does(&mut self, apdu: &Apdu) {
        (self.approved, self.over) = (None, false);
        self.record(Stream::till_says, apdu);
        let actions = self.session.heard(LINE, apdu, self.start.elapsed());
        self.act(actions).await;
        // Until it is told the end, or the session has nothing to do any more.
        while !self.over || self.session.is_busy() {
            let actions = if let Some((ticket, said)) = self.said.pop_front() {
                self.session.said(ticket, said, self.start.elapsed())
            } else if let Some(at) = self.session.next_deadline() {
                sleep_until(self.start + at).await;
                self.session.tick(self.start.elapsed())
            } else {
                return;
            };
            self.act(actions).await;
        }
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
                    if let Some(answer) = self.told(&Told::read(&apdu).unwrap()) {
                        self.record(Stream::till_says, &answer);
                        actions.extend(self.session.heard(LINE, &answer, self.start.elapsed()));
                    }
                }
                // The line has broken: a new one from the next command on.
                Action::Send { .. } => {
                    self.over = true;
                    actions.extend(self.session.line_lost(LINE, self.start.elapsed()));
                    let _ = self.session.line_opened(LINE);
                    self.stream = Stream::begin();
                }
                Action::Hang { .. } | Action::Remember(_) => {}
            }
        }
    }

    fn record(&mut self, direction: fn(&mut Stream, &[u8]), apdu: &Apdu) {
        if let Some(stream) = &mut self.stream {
            direction(stream, &apdu.encode());
        }
    }

    /// What the till answers to an APDU.
    fn told(&mut self, told: &Told) -> Option<Apdu> {
        match told {
            Told::Ok => return None,
            // A command was refused: busy.
            Told::Refused(_) => {
                self.over = true;
                return None;
            }
            Told::Status(fields) => {
                self.approved = fields.number(0x04).unwrap().filter(|_| fields.byte(0x27) == Some(0));
                if fields.byte(0x27).is_some_and(|code| code != 0 && code != 0x7D) {
                    self.belief.set(Belief::NotPaid);
                }
            }
            Told::Completion(_) => {
                self.over = true;
                if let Some(minor) = self.approved {
                    self.belief.set(Belief::Paid(minor));
                }
            }
            Told::Aborted { code, .. } => {
                self.over = true;
                if !matches!(code, 0x7D | 0x9B) {
                    self.belief.set(Belief::NotPaid);
                }
            }
            _ => {}
        }
        Some(Apdu::ok())
    }
}
