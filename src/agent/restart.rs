//! A restart as soon as the terminal is idle: no card and no till waits. An unconfirmed transaction does not hold it
//! up, because the next start continues with it. If the configuration has a window for the fleet, the restart waits for
//! it. After its deadline, the restart is given up and never forced.

use std::time::Duration;

use pos_core::transaction::Standing;
use pos_fleet_terms::Id;

use super::Agent;
use super::engine::open_transactions::OpenTransaction;

/// The time after which a restart that waits for its window is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How the agent's loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// It was told to stop.
    Stopped,
    /// It shall start again.
    Restart,
}

/// A wanted restart.
#[derive(Clone, Debug)]
pub(super) struct RestartWanted {
    /// The time of the process at which it is given up.
    pub(super) until: Duration,
    /// The command that asked for it.
    pub(super) command: Option<Id>,
}

impl Agent {
    /// Restarts the agent as soon as it is idle. A later wish replaces one that waits.
    pub(super) fn restart_when_idle(&mut self, wanted: RestartWanted) {
        if let Some(command) = self.restart.replace(wanted).and_then(|before| before.command) {
            self.was_not_idle(&command);
        }
    }

    /// Returns whether the agent restarts now. Gives up a restart whose deadline has passed.
    pub(super) fn restarts_now(&mut self) -> bool {
        let Some(wanted) = &self.restart else { return false };
        if self.is_idle() && self.is_in_window() {
            return true;
        }
        if wanted.until <= self.engine.clock.monotonic() {
            let given_up = self.restart.take();
            tracing::warn!("the terminal was not idle in its window, and the agent does not restart");
            if let Some(command) = given_up.and_then(|wanted| wanted.command) {
                self.was_not_idle(&command);
            }
        }
        false
    }

    /// Returns the time at which a wanted restart is looked at again: its deadline or, if it waits for the window, a
    /// little later.
    pub(super) fn restart_due(&self) -> Option<Duration> {
        let wanted = self.restart.as_ref()?;
        let again = (!self.is_in_window()).then(|| self.engine.clock.monotonic() + LOOK_AGAIN);
        Some(again.map_or(wanted.until, |again| again.min(wanted.until)))
    }

    /// Returns whether the fleet may restart the terminal at this time of day. Without a trusted time, it may not if
    /// the configuration has a window.
    pub(super) fn is_in_window(&self) -> bool {
        let Some(window) = self.engine.config.fleet.as_ref().and_then(|fleet| fleet.window) else { return true };
        self.engine.clock.local().is_some_and(|at| window.contains(at.time()))
    }

    /// Returns whether no card and no till waits, and no command of the fleet is being carried out.
    pub(super) fn is_idle(&self) -> bool {
        let reader = &self.engine.devices.reader;
        let waits = |active: &OpenTransaction| {
            matches!(
                active.sale().standing(),
                Standing::Waiting | Standing::InProgress | Standing::AtSignature | Standing::AwaitingTill { .. }
            )
        };
        let own = self.restart.as_ref().and_then(|wanted| wanted.command.as_ref());
        reader.in_use_by.is_none()
            && !self.fleet.acts_besides(own, self.engine.clock.monotonic())
            && self.waiting_for_list.is_empty()
            && !reader.awaits_amount()
            && reader.slot.next().is_none()
            && !self.engine.sales.iter().any(waits)
    }
}
