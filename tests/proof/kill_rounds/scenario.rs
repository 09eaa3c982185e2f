//! The agent's events as seen from outside, and the kills: the moment that a kill waits for, and the transaction's
//! stage when the kill occurred.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![allow(
    clippy::disallowed_methods,
    reason = "the story of a failed round tells its times; nothing is decided by them"
)]

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pos_agent::till::SaleState;
use pos_sim::gateway;
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::watch;

use super::plan::{Kill, Moment};

/// The stage of the transaction, seen from outside, when the agent was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Asking,
    GatewayReached,
    Accepted,
    CardPresented,
    GatewayAsked,
    GatewayCarriedOut,
    CardAnswered,
    SignatureWanted,
    ConfirmationWanted,
    Unconfirmed,
    EndTold,
    Printing,
    Over,
    Starting,
    Recovering,
    RecoveryLooks,
    RecoveryAsks,
    RecoveryCarriedOut,
    RecoveryEnded,
}

impl Stage {
    pub const ALL: [(Self, &'static str); 19] = [
        (Self::Asking, "the till has asked and has no answer"),
        (Self::GatewayReached, "the gateway has a connection, the till no answer yet"),
        (Self::Accepted, "the till has its answer, the card is waited for"),
        (Self::CardPresented, "the card is being read"),
        (Self::GatewayAsked, "the gateway has the request"),
        (Self::GatewayCarriedOut, "the gateway has carried it out"),
        (Self::CardAnswered, "the reader has CONTINUE TRANSACTION"),
        (Self::SignatureWanted, "the signature is wanted"),
        (Self::ConfirmationWanted, "the till is to confirm it"),
        (Self::Unconfirmed, "the till was told: not confirmed"),
        (Self::EndTold, "the till was told the end"),
        (Self::Printing, "the printer has begun"),
        (Self::Over, "all is over"),
        (Self::Starting, "restarted, not serving yet"),
        (Self::Recovering, "restarted, settling"),
        (Self::RecoveryLooks, "restarted, the gateway was asked what became of it"),
        (Self::RecoveryAsks, "restarted, the gateway has a new request"),
        (Self::RecoveryCarriedOut, "restarted, the gateway has carried that out"),
        (Self::RecoveryEnded, "restarted, the till was told the end"),
    ];
}

/// The visible events of the running transaction, or those since its last restart.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    restarted: bool,
    serving: bool,
    accepted: bool,
    presented: bool,
    connected: bool,
    looked: bool,
    asked: bool,
    carried_out: bool,
    continued: bool,
    told: Option<SaleState>,
    printing: bool,
    over: bool,
}

impl Seen {
    fn stage(&self) -> Stage {
        let ended = self.told == Some(SaleState::Ended);
        match *self {
            Self { over: true, .. } => Stage::Over,
            Self { restarted: true, .. } if ended => Stage::RecoveryEnded,
            Self { restarted: true, carried_out: true, .. } => Stage::RecoveryCarriedOut,
            Self { restarted: true, asked: true, .. } => Stage::RecoveryAsks,
            Self { restarted: true, looked: true, .. } => Stage::RecoveryLooks,
            Self { restarted: true, serving: false, .. } => Stage::Starting,
            Self { restarted: true, .. } => Stage::Recovering,
            Self { printing: true, .. } => Stage::Printing,
            _ if ended => Stage::EndTold,
            Self { told: Some(SaleState::Unconfirmed | SaleState::UnconfirmedFinishing), .. } => Stage::Unconfirmed,
            Self { told: Some(SaleState::AwaitingSignature), .. } => Stage::SignatureWanted,
            Self { told: Some(SaleState::AwaitingTill), .. } => Stage::ConfirmationWanted,
            Self { continued: true, .. } => Stage::CardAnswered,
            Self { carried_out: true, .. } => Stage::GatewayCarriedOut,
            Self { asked: true, .. } => Stage::GatewayAsked,
            Self { presented: true, .. } => Stage::CardPresented,
            Self { accepted: true, .. } | Self { told: Some(_), .. } => Stage::Accepted,
            Self { connected: true, .. } => Stage::GatewayReached,
            _ => Stage::Asking,
        }
    }
}

/// One terminal's round as seen from outside.
pub struct Scenario {
    inner: Mutex<Inner>,
    /// True once the till has its answer. The customer may then come to the reader.
    may_present: watch::Sender<bool>,
}

struct Inner {
    pid: Option<Pid>,
    armed: Option<Kill>,
    /// The action that replaces the next kill.
    takes: Option<Box<dyn FnOnce() + Send>>,
    /// True if the process was last ended by SIGTERM.
    gently: bool,
    /// A number that distinguishes one arming from the next.
    arming: u32,
    seen: Seen,
    story: Vec<String>,
    began: Instant,
    fell: Vec<Stage>,
    /// The number of this round's starts without a reachable gateway.
    away: usize,
    /// The number of times in this round that SIGTERM ended the agent.
    gentle: usize,
    started: Instant,
    /// The longest duration observed for a recovery.
    recovery: Duration,
}

/// The limit for moments in a recovery. Its first steps need more kills than its wait for a retry.
const LONGEST_RECOVERY: Duration = Duration::from_millis(400);

impl Scenario {
    pub fn new() -> Arc<Self> {
        let inner = Inner {
            pid: None,
            armed: None,
            takes: None,
            gently: false,
            arming: 0,
            seen: Seen::default(),
            story: Vec::new(),
            began: Instant::now(),
            fell: Vec::new(),
            away: 0,
            gentle: 0,
            started: Instant::now(),
            recovery: LONGEST_RECOVERY,
        };
        Arc::new(Self { inner: Mutex::new(inner), may_present: watch::Sender::new(false) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    // ---- The round

    pub fn round_begins(&self) {
        let mut inner = self.inner();
        (inner.armed, inner.story, inner.fell, inner.began) = (None, Vec::new(), Vec::new(), Instant::now());
        (inner.away, inner.gentle) = (0, 0);
    }

    pub fn note(&self, what: impl Into<String>) {
        self.inner().note(what);
    }

    pub fn story(&self) -> Vec<String> {
        self.inner().story.clone()
    }

    /// Returns the stages in which this round's kills occurred.
    pub fn fell(&self) -> Vec<Stage> {
        self.inner().fell.clone()
    }

    /// Notes that the agent is about to start without a reachable gateway.
    pub fn gateway_away(&self) {
        let mut inner = self.inner();
        inner.away += 1;
        inner.note("the gateway is away");
    }

    /// Returns the number of this round's starts without a reachable gateway.
    pub fn times_away(&self) -> usize {
        self.inner().away
    }

    /// Returns how often SIGTERM ended the agent in this round.
    pub fn times_gentle(&self) -> usize {
        self.inner().gentle
    }

    pub fn deal_begins(&self) {
        self.inner().seen = Seen::default();
        self.may_present.send_replace(false);
    }

    /// Waits for this moment to kill the agent. If the moment is a fraction of a duration, the kill comes after that
    /// many thousandths of `life`.
    pub fn arm(self: &Arc<Self>, kill: Kill, life: Duration) {
        let arming = {
            let mut inner = self.inner();
            inner.armed = Some(kill);
            inner.arming += 1;
            inner.note(format!("the hand is at the plug: {kill:?}"));
            inner.arming
        };
        let after = match kill.at {
            Moment::Life(part) => life * u32::try_from(part).unwrap() / 1000,
            Moment::Begin(ms) => Duration::from_millis(ms),
            _ => return,
        };
        let scenario = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let mut inner = scenario.inner();
            if inner.arming == arming && inner.armed.is_some() {
                inner.strike();
            }
        });
    }

    /// Sets the action that replaces the next kill.
    pub fn will_take(&self, take: impl FnOnce() + Send + 'static) {
        self.inner().takes = Some(Box::new(take));
    }

    pub fn is_armed(&self) -> bool {
        self.inner().armed.is_some()
    }

    /// Kills the agent immediately, before the awaited moment.
    pub fn strike(&self) {
        self.inner().strike();
    }

    // ---- The agent's process

    /// Returns the signal with which this test ended the agent, or `None` if the agent ended without one.
    pub fn ended_by(&self) -> Option<Signal> {
        let inner = self.inner();
        inner.pid.is_none().then_some(if inner.gently { Signal::TERM } else { Signal::KILL })
    }

    pub fn started(&self, pid: u32) {
        let mut inner = self.inner();
        inner.pid = Pid::from_raw(pid.cast_signed());
        inner.note(format!("started as process {pid}"));
        inner.started = Instant::now();
        inner.seen = Seen { restarted: true, over: inner.seen.over, ..Seen::default() };
        self.may_present.send_replace(false);
    }

    pub fn serving(&self) {
        let mut inner = self.inner();
        inner.seen.serving = true;
        inner.note("it serves tills");
        inner.comes(Moment::Serving);
    }

    // ---- Visible events

    pub fn accepted(&self) {
        self.inner().seen.accepted = true;
        self.may_present.send_replace(true);
    }

    /// Waits until the customer may come.
    pub async fn until_presentable(&self) {
        let _ = self.may_present.subscribe().wait_for(|may| *may).await;
    }

    pub fn presented(&self, card: &str) {
        let mut inner = self.inner();
        inner.seen.presented = true;
        inner.note(format!("the customer presents {card}"));
    }

    pub fn gateway(&self, seen: gateway::WireEvent<'_>) {
        let mut inner = self.inner();
        let moment = match seen {
            gateway::WireEvent::Connection => {
                inner.seen.connected = true;
                Moment::Connected
            }
            // The probe at each start does not concern a payment.
            gateway::WireEvent::Request { path: "/", .. } | gateway::WireEvent::Answer { path: "/", .. } => return,
            // A look-up may also be a POST.
            gateway::WireEvent::Request { path: "/v1/query", .. } => {
                inner.seen.looked = true;
                Moment::Looked
            }
            gateway::WireEvent::Answer { path: "/v1/query", .. } => return,
            gateway::WireEvent::Request { method: "POST", .. } => {
                inner.seen.asked = true;
                Moment::Asked
            }
            gateway::WireEvent::Answer { method: "POST", .. } => {
                inner.seen.carried_out = true;
                Moment::Answering
            }
            gateway::WireEvent::Request { .. } => {
                inner.seen.looked = true;
                Moment::Looked
            }
            gateway::WireEvent::Answer { .. } => return,
        };
        inner.note(format!("gateway: {seen:?}"));
        inner.comes(moment);
    }

    pub fn continued(&self) {
        let mut inner = self.inner();
        inner.seen.continued = true;
        inner.note("reader: CONTINUE TRANSACTION");
        inner.comes(Moment::Continue);
    }

    pub fn prints(&self) {
        let mut inner = self.inner();
        inner.seen.printing = true;
        inner.note("printer: the first byte of a receipt");
        inner.comes(Moment::Paper);
    }

    pub fn told(&self, state: SaleState) {
        let mut inner = self.inner();
        // An event in transit may arrive after the answer to a query.
        if inner.seen.told != Some(SaleState::Ended) {
            inner.seen.told = Some(state);
        }
        inner.comes(match state {
            SaleState::Ended => Moment::ToldEnd,
            SaleState::Unconfirmed | SaleState::UnconfirmedFinishing => Moment::ToldUnconfirmed,
            SaleState::InProgress => Moment::ToldProgress,
            SaleState::AwaitingSignature => Moment::ToldSignature,
            SaleState::AwaitingTill => Moment::ToldConfirm,
            SaleState::WaitingForCard => Moment::ToldWaiting,
        });
    }

    pub fn recovery(&self) -> Duration {
        self.inner().recovery
    }

    /// Notes that every open transaction is resolved.
    pub fn settled(&self) {
        let mut inner = self.inner();
        if !inner.fell.is_empty() && inner.pid.is_some() {
            inner.recovery = (inner.recovery * 3 + inner.started.elapsed().min(LONGEST_RECOVERY)) / 4;
        }
    }

    /// Notes that everything is resolved, reported and printed.
    pub fn over(&self) {
        self.inner().seen.over = true;
    }
}

impl Inner {
    fn note(&mut self, what: impl Into<String>) {
        let at = self.began.elapsed().as_micros();
        self.story.push(format!("{:7}.{:03} ms  {}", at / 1000, at % 1000, what.into()));
    }

    fn comes(&mut self, moment: Moment) {
        if self.armed.is_some_and(|kill| kill.at == moment) {
            self.strike();
        }
    }

    /// Kills the process. With SIGKILL, the process cannot clean up, and bytes that the system does not have yet are
    /// lost. With SIGTERM, the process may end in order.
    fn strike(&mut self) {
        let gently = self.armed.take().is_some_and(|kill| kill.gently);
        if let Some(take) = self.takes.take() {
            take();
            return self.note(format!("the journal is taken away: {:?}", self.seen.stage()));
        }
        // A process that was asked to stop may still be exiting. It then ends in that way, even if a later signal
        // arrives.
        let Some(pid) = self.pid.take() else { return };
        self.gently = gently;
        if kill_process(pid, if self.gently { Signal::TERM } else { Signal::KILL }).is_err() {
            return self.note("it was gone when it should be killed");
        }
        let stage = self.seen.stage();
        self.fell.push(stage);
        self.note(format!("{}: {stage:?}", if self.gently { "TOLD TO STOP" } else { "KILLED" }));
        self.gentle += usize::from(self.gently);
    }
}
