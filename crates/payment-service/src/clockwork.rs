//! Work that the gateway does automatically as its clock advances: payments of schedules, settlement files at the end
//! of the day, and pages that no customer opened (`redirect`). One task waits for the next due time. If nothing is due,
//! it waits for a wake-up.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Days, NaiveTime, Utc};

use serde_json::json;

use super::delivery::Delivery;
use super::envelope;
use super::host::Host;
use super::invalid::Invalid;
use super::refusal::Refusal;
use super::shared::Shared;
use pos_gateway_model::{form, shown};

/// The longest interval between two checks of the clock, because the system clock may be set forward without notice.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
/// The pause after a failure, before the retry.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The maximum number of rounds when the clock is set, before the answer: ten thousand payments.
const MOST_ROUNDS: usize = 20;

/// The result of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// Everything due is done.
    Done,
    /// The round has reached its limit, and more work is due.
    More,
    /// Some or all of the work failed and must be retried.
    Failed,
}

impl Host {
    /// Does the due work: first pages that no customer opened, then payments of schedules, then the settlement files
    /// with these payments.
    pub(super) fn round(&mut self) -> Round {
        if let Err(error) = self.expire_due() {
            tracing::error!("gateway: the ledger failed: {error}");
            return Round::Failed;
        }
        match self.pay_schedules() {
            Ok(true) => return Round::More,
            Ok(false) => {}
            Err(why) => {
                tracing::warn!("gateway: no schedule can be paid: {why}");
                return Round::Failed;
            }
        }
        let Some(folder) = self.options().settlement_folder.clone() else { return Round::Done };
        match self.write_settlements(&folder) {
            Ok(0) => Round::Done,
            Ok(written) => {
                tracing::info!("gateway: {written} settlement files written to {}", folder.display());
                Round::Done
            }
            Err(why) => {
                tracing::warn!("gateway: {why}");
                Round::Failed
            }
        }
    }

    /// Does the due work immediately, up to a limit. The background task does the rest.
    fn rounds(&mut self) {
        let more = (0..MOST_ROUNDS).all(|_| self.round() == Round::More);
        if more {
            self.called.notify_one();
        }
    }

    /// Returns when the next work is due.
    fn next_turn(&self) -> Option<DateTime<Utc>> {
        let page = self.books.next_expiry().ok().flatten();
        let page = page.and_then(|until| DateTime::from_timestamp(until.checked_add(1)?, 0));
        let payment = self.next_payment().ok().flatten();
        let tomorrow = self.clock.now().date_naive().checked_add_days(Days::new(1));
        let midnight = tomorrow.filter(|_| self.options().settlement_folder.is_some());
        let midnight = midnight.map(|day| day.and_time(NaiveTime::MIN).and_utc());
        [page, payment, midnight].into_iter().flatten().min()
    }

    /// Handles `POST /simulator/clock`, which only the simulator has. `at` is a time such as 2026-11-20T12:34:56Z. The
    /// clock never goes back, so the entries keep their order.
    pub(super) fn set_clock(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let pairs = form::decode(body).map_err(|wrong| Invalid::new(wrong.name, wrong.problem))?;
        let [(name, at)] = pairs.as_slice() else {
            return Err(Invalid::new("at", "this request has one parameter").into());
        };
        if name != "at" {
            return Err(Invalid::new(shown(name), "not a parameter of this request, which has at").into());
        }
        let at = DateTime::parse_from_rfc3339(at).map(|at| at.to_utc());
        let at = at.map_err(|_| Invalid::new("at", "must be a time such as 2026-11-20T12:34:56Z"))?;
        if at < self.clock.now() {
            return Err(Invalid::new("at", "earlier than the clock, which only goes forward").into());
        }
        self.clock.go_on_from(at);
        self.rounds();
        self.posted.notify_one();
        self.called.notify_one();
        let result = envelope::result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "result": result })))
    }

    /// Stops the clock at this time, and does the work that has become due.
    pub(super) fn stand_at(&mut self, at: DateTime<Utc>) {
        self.clock.stop_at(at);
        self.rounds();
        self.posted.notify_one();
    }
}

/// Runs until the gateway ends.
pub(super) async fn run(shared: Arc<Shared>) {
    loop {
        let wait = {
            let mut host = shared.host();
            let round = host.round();
            match host.next_turn() {
                _ if round == Round::Failed => Some(AFTER_FAILURE),
                _ if round == Round::More => Some(Duration::ZERO),
                // When the clock is stopped, the call that moves it also does the due work.
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
