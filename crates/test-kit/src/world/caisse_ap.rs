//! A Caisse-AP till in the world: the real session of `pos-front` without a connection. At each answer of the agent and
//! at both messages of the till, the power or the connection can be cut. The till asks no second time, so after a cut
//! it may know only that the outcome is open.

use std::cell::Cell;
use std::collections::VecDeque;
use std::time::Duration;

use pos_protocols::caisse_ap::answer::Answer;
use pos_protocols::caisse_ap::session::{Action, Line, Session, Settings};
use pos_terms::transaction::OnSilence;
use pos_till_api::{Ask, Said};
use tokio::time::{Instant, sleep, sleep_until};

use super::asked::{Belief, Terminal};
use super::tills::Till;

const LINE: Line = 1;

/// The behaviour of a till.
#[derive(Clone, Copy, Debug)]
pub struct CaisseManner {
    /// The terminal's action if the till does not get its answer.
    pub unacknowledged: OnSilence,
    /// The time after which the till closes the connection. The module waits 177 s.
    pub patience: Duration,
    /// True if no acknowledgement of the till's system arrives.
    pub is_deaf: bool,
    /// The time that the agent needs for its status, before the transaction begins.
    pub slow: Duration,
}

impl CaisseManner {
    /// Makes a till that behaves as the module does.
    pub fn new(unacknowledged: OnSilence) -> Self {
        Self { unacknowledged, patience: Duration::from_secs(177), is_deaf: false, slow: Duration::ZERO }
    }
}

/// What a till learned, and when.
#[derive(Debug)]
pub struct CaisseMemory {
    pub belief: Cell<Belief>,
    /// The number of points that were passed when the till got the answer "paid".
    pub paid_at: Cell<Option<usize>>,
    /// The time that the till waited.
    pub waited: Cell<Duration>,
}

impl Default for CaisseMemory {
    fn default() -> Self {
        Self { belief: Cell::new(Belief::Unknown), paid_at: Cell::new(None), waited: Cell::new(Duration::ZERO) }
    }
}

/// A till with its session at the terminal, while the board has power.
pub struct CaisseTill<'a> {
    terminal: Terminal<'a>,
    session: Session,
    start: Instant,
    said: VecDeque<(u64, Said)>,
    memory: &'a CaisseMemory,
    manner: CaisseManner,
    /// True while the connection is open.
    waits: bool,
}

impl<'a> CaisseTill<'a> {
    pub fn new(till: &'a Till, manner: CaisseManner, memory: &'a CaisseMemory) -> Self {
        let unacknowledged = match manner.unacknowledged {
            OnSilence::Reverse => pos_till_api::OnSilence::Reverse,
            OnSilence::Keep => pos_till_api::OnSilence::Keep,
        };
        let references = format!("caisse-{}", till.world.now().as_millis());
        let session = Session::new(Settings { credit: false, unacknowledged, references });
        let (said, start) = (VecDeque::new(), Instant::now());
        Self { terminal: Terminal(till), session, start, said, memory, manner, waits: true }
    }

    /// Sends the request and reads once, and waits until the session has no further work.
    pub async fn pays(&mut self, minor: u64) {
        let amount = minor.to_string();
        let request = format!("CZ0040300CJ012012345678901CA00201CE003978CD0010CB{:03}{amount}", amount.len());
        let until = self.start + self.manner.patience;
        let opened = self.session.line_opened(LINE, self.now());
        self.act(opened).await;
        let heard = match self.terminal.arrives().await {
            true => self.session.heard(LINE, request.as_bytes(), self.now()),
            false => self.breaks(),
        };
        self.act(heard).await;
        while self.waits || self.session.is_busy() {
            if self.waits && Instant::now() >= until {
                let actions = self.breaks();
                self.act(actions).await;
                continue;
            }
            let of_session = self.session.next_deadline().map(|at| self.start + at);
            let actions = if of_session.is_some_and(|at| at <= Instant::now()) {
                self.session.tick(self.now())
            } else if let Some((ticket, said)) = self.said.pop_front() {
                self.session.said(ticket, said, self.now())
            } else {
                let Some(at) = of_session.into_iter().chain(self.waits.then_some(until)).min() else { return };
                sleep_until(at).await;
                self.session.tick(self.now())
            };
            self.act(actions).await;
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Ends the till's wait.
    fn ends(&mut self) {
        self.waits = false;
        self.memory.waited.set(self.start.elapsed());
    }

    fn breaks(&mut self) -> Vec<Action> {
        self.ends();
        self.session.line_lost(LINE, self.now())
    }

    async fn act(&mut self, actions: Vec<Action>) {
        let mut actions = VecDeque::from(actions);
        while let Some(action) = actions.pop_front() {
            match action {
                Action::Ask { ticket, ask } => {
                    if ask == Ask::Status {
                        sleep(self.manner.slow).await;
                    }
                    let said = self.terminal.ask(&ask).await;
                    self.said.push_back((ticket, said));
                }
                Action::Answer { bytes, reports, .. } => {
                    let arrives = self.terminal.arrives().await;
                    self.ends();
                    if arrives {
                        self.told(&bytes);
                    }
                    if reports {
                        let taken = arrives && !self.manner.is_deaf;
                        actions.extend(self.session.taken(LINE, taken, self.now()));
                    }
                }
                Action::Hang { .. } => self.ends(),
                Action::WaitForSupervisor { .. } => panic!("this till gives no credit"),
                Action::Note(_) => {}
            }
        }
    }

    /// Reads an answer. A till whose acknowledgements are lost has lost the answer too.
    fn told(&self, bytes: &[u8]) {
        let answer = Answer::read(bytes).unwrap();
        let minor = answer.echo.amount.as_deref().map(|amount| amount.parse().unwrap());
        match answer.result {
            Ok(_) if self.manner.is_deaf => {}
            Ok(_) => {
                self.memory.belief.set(Belief::Paid(minor.unwrap()));
                let passed = self.terminal.0.world.lock().points.seen().len();
                self.memory.paid_at.set(Some(passed));
            }
            Err(_) => self.memory.belief.set(Belief::NotPaid),
        }
    }
}
