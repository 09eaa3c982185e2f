//! Subscriptions: a payment with `job.*` is repeated with a stored card, by the gateway's clock (data-model:
//! Scheduling). `timetable` says when a payment is due, and `job` says how long the schedule lasts.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - `job.*` is sent with a payment by registration, or with payment data that are then stored.
//! - The request itself makes no payment, and its answer has the schedule's id.
//! - The reference of each payment is the request's reference followed by `-0001`, `-0002`, …. The merchant starts each
//!   payment (MIT, REPEATED).
//! - A declined payment does not affect the next one.
//! - A deleted stored card stops its schedules.
//!
//! | request | what it does |
//! |---|---|
//! | `GET /v1/schedules/{id}` | returns the schedule's state |
//! | `POST /v1/schedules/{id}` with `job.*` | sets a new timetable |
//! | `DELETE /v1/schedules/{id}` | gives notice |

pub(crate) mod job;
pub(crate) mod rows;
mod timetable;

pub use timetable::Timetable;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::booking::Draft;
use super::delivery::Delivery;
use super::entry::Kind;
use super::envelope::{self, result};
use super::form::{self, Form};
use super::host::{Host, money};
use super::invalid::Invalid;
use super::outcomes::Outcome;
use super::refusal::{Refusal, rule};
use super::registration;
use super::remote_payment::Origin;
use super::secure;
use job::Job;
use rows::{Schedule, State};

/// The maximum number of payments in one clockwork round, which take about a tenth of a second. The next round makes
/// the rest.
pub(super) const MOST_AT_ONCE: usize = 500;
/// The maximum number of active schedules. Each one is examined when the clock advances.
const MOST_SCHEDULES: u32 = 10_000;
/// The fields that a payment copies from the request for its schedule. None of them belongs to a card or a reader.
const KEPT: &[&str] = &[
    "entityId",
    "amount",
    "currency",
    "paymentType",
    "merchantTransactionId",
    "merchantInvoiceId",
    "merchantMemo",
    "descriptor",
    "transactionCategory",
    "testMode",
];

impl Host {
    /// Sets up a schedule for a usable stored card.
    pub(super) fn schedule(&mut self, registration: &str, form: &Form) -> Result<Delivery, Refusal> {
        if !matches!(form.required("paymentType")?, "DB" | "PA") {
            return Err(Invalid::new("paymentType", "must be DB or PA with job.*").into());
        }
        if secure::is_alone(form) {
            return Err(Invalid::new(secure::NPA, "a schedule pays").into());
        }
        money(form)?;
        form.required("merchantTransactionId")?;
        let job = Job::read(form)?;
        let now = self.clock.now();
        let next = job.first(now)?;
        if self.books.active_schedules()? >= MOST_SCHEDULES {
            return Err(rule(
                "job.name",
                "800.110.100",
                "too many schedules; cancel one with DELETE /v1/schedules/{id}",
            ));
        }
        let kept =
            |name: &str| KEPT.contains(&name) || name.starts_with("customParameters[") || name.starts_with("job.");
        let kept: Vec<(String, String)> = form
            .iter()
            .filter(|(name, _)| kept(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let schedule = Schedule {
            id: envelope::new_id(),
            registration: registration.to_owned(),
            form: Form::of(kept),
            set_up: now,
            next: Some(next),
            last: job.last(now)?,
            paid: 0,
            state: State::Active,
        };
        self.books.enter_schedule(&schedule)?;
        self.called.notify_one();
        Ok(Delivery::Answer(200, shown(&schedule)))
    }

    /// Handles `GET /v1/schedules/{id}`.
    pub(super) fn show_schedule(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, true)?;
        let schedule = self.books.schedule(id)?.ok_or(Refusal::NotFound)?;
        Ok(Delivery::Answer(200, shown(&schedule)))
    }

    /// Handles `POST /v1/schedules/{id}`, which sets a new timetable.
    pub(super) fn reschedule(&mut self, id: &str, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::RESCHEDULE)?;
        let mut schedule = self.active(id)?;
        let job = Job::read(&form)?;
        let now = self.clock.now();
        schedule.next = Some(job.first(now)?);
        schedule.last = job.last(now)?;
        schedule.set_up = now;
        let kept = schedule.form.iter().filter(|(name, _)| !name.starts_with("job.")).chain(form.iter());
        let kept = kept.filter(|(name, _)| name.starts_with("job.") || schedule.form.get(name).is_some());
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in kept {
            if !pairs.iter().any(|(known, _)| known == name) {
                pairs.push((name.to_owned(), value.to_owned()));
            }
        }
        schedule.form = Form::of(pairs);
        self.books.change_schedule(&schedule)?;
        self.called.notify_one();
        Ok(Delivery::Answer(200, shown(&schedule)))
    }

    /// Handles `DELETE /v1/schedules/{id}`, which gives notice.
    pub(super) fn cancel_schedule(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, true)?;
        let mut schedule = self.active(id)?;
        let now = self.clock.now();
        let last = Job::read(&schedule.form)?.last_after_notice(schedule.set_up, now)?;
        schedule.last = Some(schedule.last.map_or(last, |known| known.min(last)));
        schedule.end_if_over();
        self.books.change_schedule(&schedule)?;
        Ok(Delivery::Answer(200, shown(&schedule)))
    }

    fn active(&self, id: &str) -> Result<Schedule, Refusal> {
        match self.books.schedule(id)?.ok_or(Refusal::NotFound)? {
            schedule if schedule.state == State::Active => Ok(schedule),
            _ => Err(rule("id", "700.400.100", "the schedule has ended")),
        }
    }

    /// Makes the due payments in their order, and returns whether more may be due.
    pub(super) fn pay_schedules(&mut self) -> rusqlite::Result<bool> {
        let now = self.clock.now();
        for _ in 0..MOST_AT_ONCE {
            let Some(mut schedule) = self.books.next_schedule()? else { return Ok(false) };
            let Some(at) = schedule.next.filter(|at| *at <= now) else { return Ok(false) };
            // The payment is counted before it is made, so a schedule never pays twice for one due time.
            schedule.paid += 1;
            let job = Job::read(&schedule.form).ok();
            schedule.next = job.and_then(|job| job.after(at));
            schedule.end_if_over();
            self.books.change_schedule(&schedule)?;
            self.clock.lives_through(Some(at));
            let paid = self.pay_schedule(&schedule);
            self.clock.lives_through(None);
            match paid {
                Ok(_) => {}
                Err(Refusal::Books(error)) => return Err(error),
                Err(refusal) => {
                    let why = refusal.note().unwrap_or_else(|| "the stored card is unknown".to_owned());
                    tracing::warn!("gateway: the schedule {} has stopped: {why}", schedule.id);
                    schedule.state = State::Stopped;
                    schedule.next = None;
                    self.books.change_schedule(&schedule)?;
                }
            }
        }
        Ok(true)
    }

    /// Makes one payment of a schedule, with the time at which it was due.
    fn pay_schedule(&mut self, schedule: &Schedule) -> Result<Delivery, Refusal> {
        let stored = self.usable(&schedule.registration)?;
        let form = schedule.payment();
        let kind = if form.required("paymentType")? == "PA" { Kind::PreAuthorisation } else { Kind::Debit };
        let amount = money(&form)?;
        // No client waits for an answer, so connection faults cannot happen here.
        let outcome = match self.outcome(form.get("amount")) {
            Outcome::Throttle | Outcome::RedirectElsewhere | Outcome::RedirectOnce => Outcome::Approve,
            outcome => outcome,
        };
        let paying = registration::with(&stored, &form, kind)?;
        let instruction =
            json!({ "type": "RECURRING", "recurringType": "SUBSCRIPTION", "mode": "REPEATED", "source": "MIT" });
        let draft = Draft {
            registration: Some(schedule.registration.clone()),
            instruction: Some(instruction),
            at_the_counter: stored.shown == json!({}),
            ..Draft::new(&form, kind, amount)
        };
        let path = format!("/v1/registrations/{}/payments", schedule.registration);
        let paid = self.settle_or_ask(draft, paying, outcome, &Origin { path: &path, resource: None })?;
        Ok(paid.delivery)
    }

    /// Returns when the next payment is due in any schedule.
    pub(super) fn next_payment(&self) -> rusqlite::Result<Option<DateTime<Utc>>> {
        Ok(self.books.next_schedule()?.and_then(|schedule| schedule.next))
    }
}

/// Returns a schedule for an answer: the fields of its request, and its state.
fn shown(schedule: &Schedule) -> Value {
    let (code, description, _) = envelope::approved(schedule.form.get("testMode"));
    let mut answer = json!({
        "id": schedule.id,
        "registrationId": schedule.registration,
        "result": result(code, description),
        "schedule": {
            "state": schedule.state.as_str(),
            "payments": schedule.paid.to_string(),
        },
    });
    for (name, at) in [("next", schedule.next), ("last", schedule.last)] {
        if let Some(at) = at {
            answer["schedule"][name] = json!(at.format("%Y-%m-%d %H:%M:%S").to_string());
        }
    }
    for (name, value) in schedule.form.iter() {
        if let Some(name) = name.strip_prefix("job.") {
            answer["job"][name] = json!(value);
        } else if matches!(name, "paymentType" | "amount" | "currency" | "merchantTransactionId") {
            answer[name] = json!(value);
        }
    }
    answer
}
