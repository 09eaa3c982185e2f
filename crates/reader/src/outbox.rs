//! What goes out of a driver, in its order: frames for the port, events for the agent, and when the port is to be
//! opened again. Every family of readers has one; nothing here knows a protocol.

use std::collections::VecDeque;
use std::time::Duration;

use pos_reader_link::apdu_link;

use super::{ReaderEvent, ReaderIdentity, ReaderProgress, Unready};
use pos_terms::transaction::SaleNumber;

/// First and longest wait before the port is opened again; doubled each time in between. A reader boots in some ten
/// seconds.
const REOPEN_FIRST: Duration = Duration::from_millis(500);
const REOPEN_LONGEST: Duration = Duration::from_secs(10);
/// First and longest wait before a reader that floods is listened to again; doubled each time in between.
const FLOOD_FIRST: Duration = Duration::from_secs(2);
const FLOOD_LONGEST: Duration = Duration::from_secs(60);
/// Floods that are longer ago are forgotten.
const FLOOD_FORGOTTEN: Duration = Duration::from_secs(600);

/// The bytes of one write. The longest frame of any family is a packet of [`apdu_link`].
pub type Frame = heapless::Vec<u8, { apdu_link::MAX_PACKET }>;

/// What a driver asks of the task that owns the port.
#[derive(Debug)]
pub enum PortAction {
    /// Send the frame, in one write.
    Write(Frame),
    /// Tell the agent.
    Report(ReaderEvent),
    /// Close the port, and open it again after this time. What is not sent yet is not sent any more.
    Reopen {
        /// How long to wait.
        after: Duration,
    },
}

/// What a driver has for port and agent, and what it has told already.
pub(super) struct Outbox {
    /// The port's name, for whoever is told about it.
    port: String,
    actions: VecDeque<PortAction>,
    /// The last [`Unready`] that was told and not made up for by a [`ReaderEvent::Ready`].
    told: Option<Unready>,
    failures: u32,
    /// How often the reader has flooded, and when it did last. A start that was good does not make up for it.
    floods: u32,
    flooded_at: Duration,
}

impl Outbox {
    pub(super) fn new(port: String) -> Self {
        Self { port, actions: VecDeque::new(), told: None, failures: 0, floods: 0, flooded_at: Duration::ZERO }
    }

    /// The next thing to do.
    pub(super) fn poll(&mut self) -> Option<PortAction> {
        self.actions.pop_front()
    }

    pub(super) fn write(&mut self, frame: Frame) {
        self.actions.push_back(PortAction::Write(frame));
    }

    pub(super) fn report(&mut self, event: ReaderEvent) {
        self.actions.push_back(PortAction::Report(event));
    }

    pub(super) fn progress(&mut self, sale: SaleNumber, progress: ReaderProgress) {
        self.report(ReaderEvent::Progress { sale, progress });
    }

    pub(super) fn ready(&mut self, identity: ReaderIdentity) {
        self.failures = 0;
        self.told = None;
        self.report(ReaderEvent::Ready(identity));
    }

    /// Tells it once, however often it is found again.
    pub(super) fn unready(&mut self, why: Unready) {
        if self.told.as_ref() != Some(&why) {
            self.told = Some(why.clone());
            self.report(ReaderEvent::Unready(why));
        }
    }

    /// Gives up this connection: tells why, and has the port opened anew after a while, longer each time.
    pub(super) fn reopen(&mut self, why: Unready) {
        self.unready(why);
        self.forget_unsent();
        let after = REOPEN_FIRST.saturating_mul(1 << self.failures.min(16)).min(REOPEN_LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.actions.push_back(PortAction::Reopen { after });
    }

    /// The port could not be opened, or was closed by the other end.
    pub(super) fn port_lost(&mut self, cause: &str) {
        self.reopen(Unready::Absent { port: self.port.clone(), cause: cause.to_owned() });
    }

    /// Gives up this connection because the reader sends without end: it is not listened to for a while, longer each
    /// time.
    pub(super) fn reopen_after_flood(&mut self, now: Duration) {
        if now.saturating_sub(self.flooded_at) >= FLOOD_FORGOTTEN {
            self.floods = 0;
        }
        let after = FLOOD_FIRST.saturating_mul(1 << self.floods.min(16)).min(FLOOD_LONGEST);
        (self.floods, self.flooded_at) = (self.floods.saturating_add(1), now);
        self.unready(Unready::Flooding { port: self.port.clone(), wait_s: after.as_secs() });
        self.forget_unsent();
        self.actions.push_back(PortAction::Reopen { after });
    }

    /// What is not sent yet is not sent any more; what the agent is to hear stays.
    pub(super) fn forget_unsent(&mut self) {
        self.actions.retain(|action| matches!(action, PortAction::Report(_)));
    }
}
