//! What happens by itself as the gateway's clock goes on: settlement files at the end of the day, pages that nobody
//! came to (`redirect`). One task waits for the next moment at which there is something to do; without such a moment it
//! only waits to be called.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Days, NaiveTime, Utc};

use serde_json::json;

use super::answer;
use super::form::Invalid;
use super::host::{Delivery, Host};
use super::refusal::Refusal;
use super::server::Shared;
use crate::gateway::parameter::{form, shown};

/// It looks at the clock at least as often: the system's may be put forward, and nobody tells.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
/// After something that failed, before it is tried again.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

impl Host {
    /// Does what is due; whether all of it is done.
    pub(super) fn turn(&mut self) -> bool {
        if let Err(error) = self.expire_due() {
            tracing::error!("gateway: the ledger failed: {error}");
            return false;
        }
        let Some(folder) = self.options().settlement_folder.clone() else { return true };
        match self.write_settlements(&folder) {
            Ok(0) => true,
            Ok(written) => {
                tracing::info!("gateway: {written} settlement files written to {}", folder.display());
                true
            }
            Err(why) => {
                tracing::warn!("gateway: {why}");
                false
            }
        }
    }

    /// When there is something to do next.
    fn next_turn(&self) -> Option<DateTime<Utc>> {
        let page = self.books.next_expiry().ok().flatten();
        let page = page.and_then(|until| DateTime::from_timestamp(until.checked_add(1)?, 0));
        let tomorrow = self.clock.now().date_naive().checked_add_days(Days::new(1));
        let midnight = tomorrow.filter(|_| self.options().settlement_folder.is_some());
        let midnight = midnight.map(|day| day.and_time(NaiveTime::MIN).and_utc());
        [page, midnight].into_iter().flatten().min()
    }

    /// `POST /simulator/clock`, of the simulator alone: `at` is a time as 2026-11-20T12:34:56Z. It does not go back:
    /// what was booked keeps its order.
    pub(super) fn set_clock(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let pairs = form::decode(body).map_err(|wrong| Invalid::new(wrong.name, wrong.problem))?;
        let [(name, at)] = pairs.as_slice() else {
            return Err(Invalid::new("at", "this request has one parameter").into());
        };
        if name != "at" {
            return Err(Invalid::new(shown(name), "not a parameter of this request, which has at").into());
        }
        let at = DateTime::parse_from_rfc3339(at).map(|at| at.to_utc());
        let at = at.map_err(|_| Invalid::new("at", "must be a time as 2026-11-20T12:34:56Z"))?;
        if at < self.clock.now() {
            return Err(Invalid::new("at", "before what the clock shows: it goes forward alone").into());
        }
        self.clock.go_on_from(at);
        self.turn();
        self.called.notify_one();
        let result = answer::result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "result": result })))
    }

    /// Puts the clock to this time, where it stands, and does what has become due.
    pub(super) fn stand_at(&mut self, at: DateTime<Utc>) {
        self.clock.stop_at(at);
        self.turn();
    }
}

/// Runs until the gateway ends.
pub(super) async fn run(shared: Arc<Shared>) {
    loop {
        let wait = {
            let mut host = shared.host();
            let done = host.turn();
            match host.next_turn() {
                _ if !done => Some(AFTER_FAILURE),
                // A clock that stands is put forward by somebody, who does what is due.
                Some(at) if !host.clock.stands() => {
                    Some((at - host.clock.now()).to_std().unwrap_or_default().min(LONGEST_SLEEP))
                }
                _ => None,
            }
        };
        let called = shared.called.notified();
        match wait {
            Some(wait) => {
                let _ = tokio::time::timeout(wait, called).await;
            }
            None => called.await,
        }
    }
}
