//! Books each decision and builds its answer: every entry is booked here. This file applies the chosen outcome to
//! payments and to their follow-ups.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::answer::{self, AnswerParts, CheckLetters};
use super::books::Booking;
use super::declined::Declined;
use super::delivery::Delivery;
use super::entry::{Kind, LedgerEntry, State};
use super::envelope;
use super::form::Form;
use super::host::Host;
use super::invalid::Invalid;
use super::masked_card::MaskedCard;
use super::method::Method;
use super::outcomes::Outcome;
use super::redirect::{PENDING, RedirectPlan, Settlement};
use super::refusal::Refusal;
use super::registration_book::Registration;
use super::webhook::queue::Action;
use super::widget;
use pos_terms::money::Amount;

/// An entry to be booked.
pub(super) struct Draft<'a> {
    pub form: &'a Form,
    pub kind: Kind,
    /// The requested amount.
    pub amount: Amount,
    /// The id of the original payment of a follow-up.
    pub refers_to: Option<&'a str>,
    /// The original payment of a follow-up. With permissive rules it may be unknown.
    pub of: Option<&'a Booking>,
    pub masked_card: Option<MaskedCard>,
    pub icc: Option<String>,
    pub declined: Option<Declined>,
    pub checks: CheckLetters,
    /// The id of the stored card that pays.
    pub registration: Option<String>,
    /// True if the request stores the card.
    pub stores: bool,
    pub instruction: Option<Value>,
    pub method: Method,
    /// The further fields about the means of payment that an answer may show, in addition to the masked card.
    pub shown: Option<Value>,
    /// The fields of a bank account that the settlement contains.
    pub account: Option<Value>,
    /// True if a terminal sent the request.
    pub at_the_counter: bool,
    /// The page on which the customer must act first.
    pub redirect: Option<RedirectPlan>,
}

/// A booked entry: its id, and the delivery for the connection.
pub(super) struct Booked {
    pub id: String,
    pub delivery: Delivery,
}

impl<'a> Draft<'a> {
    /// Makes a draft of the requested entry, without card or customer.
    pub(super) fn new(form: &'a Form, kind: Kind, amount: Amount) -> Self {
        Self {
            form,
            kind,
            amount,
            refers_to: None,
            of: None,
            masked_card: None,
            icc: None,
            declined: None,
            checks: CheckLetters::default(),
            registration: None,
            stores: false,
            instruction: None,
            method: Method::Card,
            shown: None,
            account: None,
            at_the_counter: true,
            redirect: None,
        }
    }

    /// Returns the stored card that the entry creates.
    fn stored(&self, payment: &str) -> Option<Registration> {
        let mut shown = self.shown.clone().unwrap_or_else(|| json!({}));
        // A 3-D Secure proof is valid for one payment.
        shown.as_object_mut().map(|fields| fields.remove("threeDSecure"));
        self.stores.then(|| Registration {
            id: envelope::new_id(),
            method: self.method,
            masked_card: self.masked_card.clone(),
            shown,
            account: self.account.clone(),
            first: None,
            payment: Some(payment.to_owned()),
            is_deleted: false,
        })
    }

    /// Makes a draft of a follow-up to the payment with this id.
    pub(super) fn after(form: &'a Form, kind: Kind, amount: Amount, refers_to: &'a str) -> Self {
        Self { refers_to: Some(refers_to), ..Self::new(form, kind, amount) }
    }
}

/// The decline of an issuer that does not accept contactless payments.
const CHIP_WANTED: Declined = Declined {
    code: "300.100.100",
    description: "transaction declined (additional customer authentication required)",
    arc: *b"65",
};

/// Returns the decline that an outcome requires.
pub(super) fn chosen(outcome: Outcome, form: &Form) -> Option<Declined> {
    let was_tapped = form.get("pos.entryMode").is_some_and(|mode| mode.starts_with("NFC_"));
    match outcome {
        Outcome::ChipWanted if was_tapped => Some(CHIP_WANTED),
        Outcome::Decline { code, description, arc } => Some(Declined { code, description, arc }),
        _ => None,
    }
}

impl Host {
    /// Books the draft and returns the delivery for the connection.
    pub(super) fn book(&mut self, draft: Draft<'_>, outcome: Outcome) -> Result<Delivery, Refusal> {
        self.enter(draft, outcome).map(|booked| booked.delivery)
    }

    /// Books the draft, and returns the delivery with the entry's id. If the entry waits for a page, the decision is
    /// kept until the page ends.
    pub(super) fn enter(&mut self, mut draft: Draft<'_>, outcome: Outcome) -> Result<Booked, Refusal> {
        let declined = draft.declined.or(chosen(outcome, draft.form));
        let mut entry = entry(&draft, declined, outcome)?;
        let at = self.clock.now();
        let n = self.books.count()? + 1;
        let short_id = format!("{:04}.{:04}.{:04}", n / 100_000_000 % 10_000, n / 10_000 % 10_000, n % 10_000);
        let stored = draft.stored(&entry.id).filter(|_| declined.is_none());
        let (answer, later) = self.answers(&draft, &entry, stored.as_ref(), (declined, outcome), &short_id, at);
        let (answer, later) = match draft.redirect.take() {
            Some(plan) => {
                let (state, code) = (entry.state.as_str().to_owned(), entry.code.clone());
                let page = plan.opened(&entry.id, at, Settlement { state, code, answer, later });
                self.books.open_redirect(&page)?;
                self.called.notify_one();
                (entry.state, entry.code) = (State::Pending, PENDING.0.to_owned());
                (page.pending_answer(&self.base_url), None)
            }
            None => (answer, later),
        };
        tracing::info!("gateway: {} {} {}: {}", entry.kind.as_str(), entry.amount, entry.currency, entry.code);
        let booking = Booking {
            at: at.timestamp(),
            answer,
            hidden: match (outcome, entry.kind) {
                (Outcome::LateApproval, _) if entry.state != State::Approved => 0,
                // So many look-ups that an agent must ask more than once.
                (Outcome::LateApproval, Kind::Reversal) => 4,
                (Outcome::LateApproval, _) => 2,
                _ => 0,
            },
            later,
            first_reversal: outcome.first_reversal().filter(|_| entry.state == State::Approved),
            registration: stored.as_ref().map(|stored| stored.id.clone()).or(draft.registration),
            instruction: draft.instruction,
            account: draft.of.map_or(draft.account, |of| of.account.clone()),
            short_id,
            entry,
        };
        self.books.enter(&booking, stored.as_ref())?;
        self.tell_of_payment(Action::Created, &booking);
        if stored.is_some() {
            self.tell_of_registration(Action::Created, &booking.answer);
        }
        let Booking { answer, entry, .. } = booking;
        let delivery =
            if entry.state == State::Declined { Delivery::Answer(400, answer) } else { after(outcome, answer) };
        Ok(Booked { id: entry.id, delivery })
    }

    /// Makes the answer about an entry. Some entries also get a second answer, which replaces the first after further
    /// look-ups.
    fn answers(
        &self,
        draft: &Draft<'_>,
        entry: &LedgerEntry,
        stored: Option<&Registration>,
        (declined, outcome): (Option<Declined>, Outcome),
        short_id: &str,
        at: DateTime<Utc>,
    ) -> (Value, Option<(u8, Value)>) {
        let arc = String::from_utf8_lossy(&declined.map_or(*b"00", |declined| declined.arc)).into_owned();
        let (code, description, _) = verdict(draft.form, declined, outcome);
        let parts = AnswerParts {
            entry,
            form: draft.form,
            outcome,
            masked_card: draft.masked_card.as_ref(),
            as_before: draft.of.map(|of| &of.answer),
            icc: draft.icc.as_deref(),
            acquirer: &arc,
            checks: draft.checks,
            instruction: draft.instruction.as_ref(),
            shown: draft.shown.as_ref(),
            at_the_counter: draft.of.map_or(draft.at_the_counter, |of| of.answer.get("pos").is_some()),
            short_id,
            at,
            host_rules: self.host_rules(),
        };
        let with_registration = |mut answer: Value| {
            if draft.form.is_true("integrity") {
                answer["integrity"] = json!(widget::integrity());
            }
            if let Some(stored) = stored {
                answer["registrationId"] = json!(stored.id);
                answer["registration"] = json!({ "id": stored.id });
            }
            answer
        };
        let answer = with_registration(envelope::stamped(answer::payment(&parts, code, description), at));
        if entry.state != State::Pending {
            return (answer, None);
        }
        let later = (outcome == Outcome::PendingThenApproved).then(|| {
            let (code, description, _) = envelope::approved(draft.form.get("testMode"));
            let parts = AnswerParts { outcome: Outcome::Approve, ..parts };
            (1, with_registration(envelope::stamped(answer::payment(&parts, code, description), at)))
        });
        (without_approval(answer), later)
    }

    /// Returns the current answer about an entry. Each call counts as a look-up. Some entries become visible or are
    /// decided only after several look-ups.
    pub(super) fn ask(&mut self, mut booking: Booking) -> rusqlite::Result<Option<Value>> {
        if booking.entry.state == State::Pending
            && let Some(mut page) = self.books.open_redirect_of(&booking.entry.id)?
        {
            self.expire(&mut page)?;
            booking = self.books.find(&booking.entry.id)?.unwrap_or(booking);
        }
        if booking.hidden > 0 {
            booking.hidden -= 1;
            self.books.asked(&booking, false)?;
            return Ok(None);
        }
        match booking.later.take() {
            None => {}
            Some((0, answer)) => {
                booking.answer = answer;
                self.books.asked(&booking, true)?;
                self.tell_of_payment(Action::Updated, &booking);
            }
            Some((questions, answer)) => {
                booking.later = Some((questions - 1, answer));
                self.books.asked(&booking, false)?;
            }
        }
        Ok(Some(booking.answer))
    }
}

/// Returns the code, description and state that the decision gives the entry.
fn verdict(form: &Form, declined: Option<Declined>, outcome: Outcome) -> (&'static str, &'static str, State) {
    match (declined, outcome) {
        (Some(declined), _) => (declined.code, declined.description, State::Declined),
        (None, Outcome::Pending | Outcome::PendingThenApproved) => (PENDING.0, PENDING.1, State::Pending),
        (None, Outcome::StrangeCode) => ("999.999.999", "an unlisted code", State::Approved),
        (None, Outcome::ShortCode) => ("00", "approved", State::Approved),
        (None, _) => envelope::approved(form.get("testMode")),
    }
}

/// Makes the entry for the books.
fn entry(draft: &Draft<'_>, declined: Option<Declined>, outcome: Outcome) -> Result<LedgerEntry, Invalid> {
    let form = draft.form;
    let (code, _, state) = verdict(form, declined, outcome);
    let amount = if declined.is_some() { draft.amount } else { approved_amount(draft, outcome)? };
    Ok(LedgerEntry {
        id: envelope::new_id(),
        kind: draft.kind,
        merchant_transaction_id: form.get("merchantTransactionId").map(str::to_owned),
        amount: in_two_decimals(amount)?,
        currency: amount.currency().code().to_owned(),
        state,
        code: code.to_owned(),
        refers_to: draft.refers_to.map(str::to_owned),
        entry_mode: form.get("pos.entryMode").map(str::to_owned),
        parameters: form.names(),
        method: draft.of.map_or(draft.method, |of| of.entry.method),
        details: details(form),
        practice: form.get("standingInstruction.industryPractice").map(str::to_owned),
        is_last: form.get("sequence") == Some("FINAL"),
        captures: form.get("numberOfCaptures").and_then(|most| most.parse().ok()),
    })
}

/// Returns the form fields without a column, which the books keep together.
fn details(form: &Form) -> Vec<(String, String)> {
    const COLUMNS: [&str; 5] = ["entityId", "amount", "currency", "paymentType", "merchantTransactionId"];
    let kept = |(name, _): &(&str, &str)| !COLUMNS.contains(name) && !name.starts_with("pos.");
    form.open_pairs().filter(kept).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Removes the chip response and the clearing data, because a pending payment has neither.
fn without_approval(mut answer: Value) -> Value {
    if let Some(pos) = answer.get_mut("pos").and_then(Value::as_object_mut) {
        pos.remove("iccDataResponse");
        pos.remove("clearing");
    }
    answer
}

/// Returns the amount that this outcome approves.
fn approved_amount(draft: &Draft<'_>, outcome: Outcome) -> Result<Amount, Invalid> {
    let (minor, currency) = (draft.amount.minor(), draft.amount.currency());
    if minor == 0 {
        // An authentication without a payment has no amount, so no outcome changes it.
        return Ok(draft.amount);
    }
    let minor = match outcome {
        Outcome::Partial => minor / 2,
        // A follow-up is never booked for more than the requested amount, because the sums of the books would be wrong.
        Outcome::HigherAmount if draft.refers_to.is_none() => minor + 10_u64.pow(u32::from(currency.exponent())),
        _ => minor,
    };
    Amount::from_minor(minor, currency).map_err(|why| Invalid::new("amount", why.to_string()))
}

pub(super) fn in_two_decimals(amount: Amount) -> Result<String, Invalid> {
    amount.to_gateway().map_err(|why| Invalid::new("amount", why.to_string()))
}

/// Applies the faults that happen after the booking.
fn after(outcome: Outcome, answer: Value) -> Delivery {
    match outcome {
        Outcome::ServerError { .. } => Delivery::Raw(500, b"Internal Server Error".to_vec()),
        Outcome::Garbage => Delivery::Raw(200, b"\x00\xFF<html>{]} not the JSON you are looking for".to_vec()),
        Outcome::HalfJson => Delivery::Half(answer.to_string().into_bytes()),
        Outcome::HugeBody => {
            let mut answer = answer;
            answer["padding"] = json!("x".repeat(10 << 20));
            Delivery::Answer(200, answer)
        }
        Outcome::Silence { .. } => Delivery::Silence,
        Outcome::Cut { .. } | Outcome::LateApproval | Outcome::ReversalFailsOnce | Outcome::ReversalAnswerLost => {
            Delivery::Cut
        }
        _ => Delivery::Answer(200, answer),
    }
}
