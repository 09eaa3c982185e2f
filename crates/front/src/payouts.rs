//! Payouts that a till asks for and a supervisor confirms at the page. The till's protocol has no room for a PIN.
//!
//! ```text
//!  till ──▶ its protocol ──▶ `Payouts::confirmed` ──▶ waits
//!  page ── GET /front/payouts ──────────────────────▶ what waits
//!  page ── POST /front/payouts/{reference} ─────────▶ name and PIN ── the agent checks them ──▶ the supervisor's session
//!  page ── DELETE /front/payouts/{reference} ───────▶ the payout is refused
//! ```
//!
//! The till's protocol begins the payout with that session, so the journal names the supervisor, and the agent checks
//! right, role and limit. Nothing is stored: if the front stops, no payout begins.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use pos_till_api::ProblemType;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::agent::Agent;
use crate::guard::Way;
use crate::problem::{Answer, Problem, empty_answer};
use crate::session::{self, Begun};

/// The largest number of waiting payouts, which is the largest number of tills.
const MOST: usize = 16;

/// A payout that a till asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedPayout {
    /// The till's name at the agent.
    pub(crate) till: String,
    /// The reference of the payout.
    pub(crate) reference: String,
    /// The amount, such as `12.34`.
    pub(crate) amount: String,
    /// The currency, ISO 4217.
    pub(crate) currency: String,
}

/// A payout that waits, with the way back to its till.
struct WaitingPayout {
    asked: AskedPayout,
    until: Instant,
    decided: oneshot::Sender<Option<HeaderValue>>,
}

/// The payouts that wait for a supervisor.
#[derive(Default)]
pub(crate) struct Payouts(Mutex<Vec<WaitingPayout>>);

/// Removes a payout that waits no longer, also when its till is gone.
struct Waits<'a> {
    payouts: &'a Payouts,
    reference: &'a str,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.payouts.take(self.reference);
    }
}

impl Payouts {
    /// Waits until a supervisor confirms the payout. Returns the supervisor's session at the agent, or `None` if the
    /// payout is refused or no one confirms it within `patience`.
    pub(crate) async fn confirmed(&self, asked: AskedPayout, patience: Duration) -> Option<HeaderValue> {
        let (reference, until) = (asked.reference.clone(), Instant::now() + patience);
        let (decided, decision) = oneshot::channel();
        {
            let mut waiting = self.locked();
            if waiting.len() >= MOST || waiting.iter().any(|other| other.asked.reference == reference) {
                return None;
            }
            tracing::info!(
                till = asked.till,
                reference,
                amount = asked.amount,
                currency = asked.currency,
                "a payout waits for a supervisor at the page"
            );
            waiting.push(WaitingPayout { asked, until, decided });
        }
        let _waits = Waits { payouts: self, reference: &reference };
        timeout_at(until, decision).await.ok()?.ok()?
    }

    /// Returns the number of waiting payouts.
    pub(crate) fn count(&self) -> usize {
        self.locked().len()
    }

    /// Returns the waiting payouts for the page.
    pub(crate) fn shown(&self, now: Instant) -> Value {
        let shown = |one: &WaitingPayout| {
            let AskedPayout { till, reference, amount, currency } = &one.asked;
            let left_s = one.until.saturating_duration_since(now).as_secs();
            json!({ "till": till, "reference": reference, "amount": amount, "currency": currency, "leftS": left_s })
        };
        json!({ "payouts": self.locked().iter().map(shown).collect::<Vec<_>>() })
    }

    /// Refuses a payout. A person at the page may do this without a PIN.
    pub(crate) fn refuse(&self, reference: &str) -> Result<Answer, Problem> {
        let waiting = self.take(reference).ok_or_else(gone)?;
        tracing::info!(till = waiting.asked.till, reference, "a payout was refused at the page");
        // A till that is gone needs no answer.
        let _ = waiting.decided.send(None);
        Ok(empty_answer(StatusCode::NO_CONTENT))
    }

    /// Confirms a payout as the supervisor whose name and PIN are in this body. The agent checks them and counts wrong
    /// PINs. The front does not read them.
    pub(crate) async fn confirm(
        &self,
        agent: &Agent,
        reference: &str,
        credentials: Bytes,
        way: Way,
    ) -> Result<Answer, Problem> {
        if !self.locked().iter().any(|one| one.asked.reference == reference) {
            return Err(gone());
        }
        let (session, who) = match session::begin(agent, credentials, way).await? {
            Begun::Session { session, who } => (session, who),
            Begun::Refused(answer) => return Ok(answer),
        };
        let session = HeaderValue::from_str(&session).map_err(|_| Problem::no_answer())?;
        let confirmed = match who["role"] == "supervisor" {
            true => self.take(reference).ok_or_else(gone),
            false => Err(Problem::of(ProblemType::NoSupervisor, "only a supervisor may confirm a payout")),
        };
        let sent = confirmed.and_then(|waiting| {
            tracing::info!(till = waiting.asked.till, reference, supervisor = %who["operator"], "a payout was confirmed");
            waiting.decided.send(Some(session.clone())).map_err(|_| gone())
        });
        match sent {
            Ok(()) => Ok(empty_answer(StatusCode::NO_CONTENT)),
            Err(problem) => {
                session::end(agent, &session).await;
                Err(problem)
            }
        }
    }

    fn take(&self, reference: &str) -> Option<WaitingPayout> {
        let mut waiting = self.locked();
        let at = waiting.iter().position(|one| one.asked.reference == reference)?;
        Some(waiting.remove(at))
    }

    fn locked(&self) -> MutexGuard<'_, Vec<WaitingPayout>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone() -> Problem {
    Problem::of(ProblemType::NotFound, "the till no longer waits for this payout")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn asked(reference: &str) -> AskedPayout {
        let [till, amount, currency] = ["kasse-1", "12.34", "EUR"].map(str::to_owned);
        AskedPayout { till, reference: reference.to_owned(), amount, currency }
    }

    #[tokio::test(start_paused = true)]
    async fn a_payout_waits_for_its_time_and_then_for_no_one() {
        let payouts = Payouts::default();
        let begin = Instant::now();
        assert_eq!(payouts.confirmed(asked("a"), PATIENCE).await, None);
        assert_eq!((begin.elapsed(), payouts.count()), (PATIENCE, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_till_that_is_gone_waits_no_more_and_one_reference_waits_once() {
        let payouts = Arc::new(Payouts::default());
        let waits = tokio::spawn({
            let payouts = Arc::clone(&payouts);
            async move { payouts.confirmed(asked("a"), PATIENCE).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(payouts.count(), 1);
        assert_eq!(payouts.confirmed(asked("a"), PATIENCE).await, None);
        assert_eq!(payouts.shown(Instant::now())["payouts"][0]["amount"], "12.34");
        waits.abort();
        assert!(waits.await.is_err());
        assert_eq!(payouts.count(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn more_payouts_than_tills_are_refused() {
        let payouts = Arc::new(Payouts::default());
        let mut waits = tokio::task::JoinSet::new();
        for count in 0..MOST {
            let payouts = Arc::clone(&payouts);
            waits.spawn(async move { payouts.confirmed(asked(&count.to_string()), PATIENCE).await });
        }
        tokio::task::yield_now().await;
        assert_eq!((payouts.count(), payouts.confirmed(asked("more"), PATIENCE).await), (MOST, None));
    }
}
