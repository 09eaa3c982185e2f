//! The outgoing data of a driver, in order: frames for the port, events for the agent, and the time to open the port
//! again. Every family of readers has an outbox, which contains no protocol.

use std::collections::VecDeque;
use std::time::Duration;

use pos_reader_link::apdu_link;

use super::family::CommandFrames;
use super::{ReaderEvent, ReaderIdentity, ReaderProgress, Unready};
use pos_terms::transaction::SaleNumber;

/// The first wait before the port is opened again. It doubles each time, up to the longest. A reader boots in about ten
/// seconds.
const REOPEN_FIRST: Duration = Duration::from_millis(500);
const REOPEN_LONGEST: Duration = Duration::from_secs(10);
/// The first wait before the agent reads again from a flooding reader. It doubles each time, up to the longest.
const FLOOD_FIRST: Duration = Duration::from_secs(2);
const FLOOD_LONGEST: Duration = Duration::from_secs(60);
/// Floods older than this are forgotten.
const FLOOD_FORGOTTEN: Duration = Duration::from_secs(600);

/// The bytes of one write. The longest frame is a packet of [`apdu_link`].
pub type Frame = heapless::Vec<u8, { apdu_link::MAX_PACKET }>;

/// An action that a driver requests from the task that owns the port.
#[derive(Debug)]
pub enum PortAction {
    /// Send the frame in one write.
    Write(Frame),
    /// Report the event to the agent.
    Report(ReaderEvent),
    /// Close the port, and open it again after this time. Unsent frames are dropped.
    Reopen {
        /// The time to wait.
        after: Duration,
    },
}

/// A driver's pending actions for port and agent, and the state of its reports.
pub(super) struct Outbox {
    /// The port's name for reports.
    port: String,
    /// The actions, each with the name of the command whose frame it sends.
    actions: VecDeque<(PortAction, &'static str)>,
    /// The latest [`Unready`] that was reported, if no [`ReaderEvent::Ready`] came after it.
    told: Option<Unready>,
    failures: u32,
    /// The number of floods and, below, the time of the latest one. A successful start does not reset them.
    floods: u32,
    flooded_at: Duration,
}

impl Outbox {
    pub(super) fn new(port: String) -> Self {
        Self { port, actions: VecDeque::new(), told: None, failures: 0, floods: 0, flooded_at: Duration::ZERO }
    }

    /// Returns the next action, and the name of the command whose frame it sends.
    pub(super) fn poll(&mut self) -> Option<(PortAction, &'static str)> {
        self.actions.pop_front()
    }

    /// Sends the frames of a command.
    pub(super) fn write(&mut self, name: &'static str, frames: CommandFrames) {
        self.actions.extend(frames.into_iter().map(|frame| (PortAction::Write(frame), name)));
    }

    pub(super) fn report(&mut self, event: ReaderEvent) {
        self.actions.push_back((PortAction::Report(event), ""));
    }

    pub(super) fn progress(&mut self, sale: SaleNumber, progress: ReaderProgress) {
        self.report(ReaderEvent::Progress { sale, progress });
    }

    pub(super) fn ready(&mut self, identity: ReaderIdentity) {
        self.failures = 0;
        self.told = None;
        self.report(ReaderEvent::Ready(identity));
    }

    /// Reports the reason once, even if it is found again.
    pub(super) fn unready(&mut self, why: Unready) {
        if self.told.as_ref() != Some(&why) {
            self.told = Some(why.clone());
            self.report(ReaderEvent::Unready(why));
        }
    }

    /// Gives up this connection: reports the reason, and requests that the port be opened again after a wait that grows
    /// each time.
    pub(super) fn reopen(&mut self, why: Unready) {
        self.unready(why);
        self.forget_unsent();
        let after = REOPEN_FIRST.saturating_mul(1 << self.failures.min(16)).min(REOPEN_LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.actions.push_back((PortAction::Reopen { after }, ""));
    }

    /// Records that the port could not be opened, or that the other end closed it.
    pub(super) fn port_lost(&mut self, cause: &str) {
        self.reopen(Unready::Absent { port: self.port.clone(), cause: cause.to_owned() });
    }

    /// Gives up this connection because the reader sends without end. The agent stops reading from it for a while, each
    /// time for longer.
    pub(super) fn reopen_after_flood(&mut self, now: Duration) {
        if now.saturating_sub(self.flooded_at) >= FLOOD_FORGOTTEN {
            self.floods = 0;
        }
        let after = FLOOD_FIRST.saturating_mul(1 << self.floods.min(16)).min(FLOOD_LONGEST);
        (self.floods, self.flooded_at) = (self.floods.saturating_add(1), now);
        self.unready(Unready::Flooding { port: self.port.clone(), wait_s: after.as_secs() });
        self.forget_unsent();
        self.actions.push_back((PortAction::Reopen { after }, ""));
    }

    /// Drops unsent frames and keeps the events for the agent.
    pub(super) fn forget_unsent(&mut self) {
        self.actions.retain(|(action, _)| matches!(action, PortAction::Report(_)));
    }
}
