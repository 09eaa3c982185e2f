//! From a decision to the books and to an answer: the one way in which anything is booked. What the outcome says is
//! done here, for payments and for what follows them.

use serde_json::{Value, json};

use super::answer::{self, AnswerParts, CheckLetters};
use super::books::{Booking, MaskedCard, Registration};
use super::form::{Form, Invalid};
use super::host::{Delivery, Host};
use super::issuer::Declined;
use super::ledger::{Kind, LedgerEntry, State};
use super::outcomes::Outcome;
use super::refusal::Refusal;
use super::webhook::Action;
use crate::money::Amount;

/// What is to be booked.
pub(super) struct Draft<'a> {
    pub form: &'a Form,
    pub kind: Kind,
    /// What was asked for.
    pub amount: Amount,
    /// The id of the payment that it follows.
    pub refers_to: Option<&'a str>,
    /// That payment; a bank without rules need not know it.
    pub of: Option<&'a Booking>,
    pub masked_card: Option<MaskedCard>,
    pub icc: Option<String>,
    pub declined: Option<Declined>,
    pub checks: CheckLetters,
    /// The stored card that is used.
    pub registration: Option<String>,
    /// Whether the card is stored now.
    pub stores: bool,
    pub instruction: Option<Value>,
}

impl<'a> Draft<'a> {
    /// With nothing but what was asked.
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
        }
    }

    /// What follows the payment with this id.
    pub(super) fn after(form: &'a Form, kind: Kind, amount: Amount, refers_to: &'a str) -> Self {
        Self { refers_to: Some(refers_to), ..Self::new(form, kind, amount) }
    }
}

/// What an outcome declines.
pub(super) fn chosen(outcome: Outcome) -> Option<Declined> {
    match outcome {
        Outcome::Decline { code, description, arc } => Some(Declined { code, description, arc }),
        _ => None,
    }
}

impl Host {
    /// Books it and gives what goes out on the line.
    pub(super) fn book(&mut self, draft: Draft<'_>, outcome: Outcome) -> Result<Delivery, Refusal> {
        let form = draft.form;
        let declined = draft.declined.or(chosen(outcome));
        let (code, description, state) = match (declined, outcome) {
            (Some(declined), _) => (declined.code, declined.description, State::Declined),
            (None, Outcome::Pending | Outcome::PendingThenApproved) => {
                ("000.200.000", "transaction pending", State::Pending)
            }
            (None, Outcome::StrangeCode) => ("999.999.999", "a code that no list knows", State::Approved),
            (None, Outcome::ShortCode) => ("00", "approved", State::Approved),
            (None, _) => answer::approved(form.get("testMode")),
        };
        let amount = if declined.is_some() { draft.amount } else { approved_amount(&draft, outcome)? };
        let entry = LedgerEntry {
            id: answer::new_id(),
            kind: draft.kind,
            merchant_transaction_id: form.get("merchantTransactionId").map(str::to_owned),
            amount: in_two_decimals(amount)?,
            currency: amount.currency().code().to_owned(),
            state,
            code: code.to_owned(),
            refers_to: draft.refers_to.map(str::to_owned),
            entry_mode: form.get("pos.entryMode").map(str::to_owned),
            parameters: form.names(),
            practice: form.get("standingInstruction.industryPractice").map(str::to_owned),
            is_last: form.get("sequence") == Some("FINAL"),
            captures: form.get("numberOfCaptures").and_then(|most| most.parse().ok()),
        };
        let at = self.clock.now();
        let n = self.books.count()? + 1;
        let short_id = format!("{:04}.{:04}.{:04}", n / 100_000_000 % 10_000, n / 10_000 % 10_000, n % 10_000);
        let arc = String::from_utf8_lossy(&declined.map_or(*b"00", |declined| declined.arc)).into_owned();
        let mut parts = AnswerParts {
            entry: &entry,
            form,
            outcome,
            masked_card: draft.masked_card.as_ref(),
            as_before: draft.of.map(|of| &of.answer),
            icc: draft.icc.as_deref(),
            acquirer: &arc,
            checks: draft.checks,
            instruction: draft.instruction.as_ref(),
            short_id: &short_id,
            at,
            host_rules: self.host_rules(),
        };
        let stored = draft.masked_card.clone().filter(|_| draft.stores && declined.is_none()).map(|masked_card| {
            Registration { id: answer::new_id(), masked_card, payment: Some(entry.id.clone()), is_deleted: false }
        });
        let used = stored.as_ref().map(|stored| &stored.id).or(draft.registration.as_ref());
        let with_registration = |mut answer: Value| {
            if let Some(stored) = &stored {
                answer["registrationId"] = json!(stored.id);
                answer["registration"] = json!({ "id": stored.id });
            }
            answer
        };
        let answer = with_registration(answer::payment(&parts, code, description));
        let answer = if state == State::Pending { without_approval(answer) } else { answer };
        let later = (outcome == Outcome::PendingThenApproved && state == State::Pending).then(|| {
            parts.outcome = Outcome::Approve;
            let (code, description, _) = answer::approved(form.get("testMode"));
            (1, with_registration(answer::payment(&parts, code, description)))
        });
        tracing::info!("gateway: {} {} {}: {code} {description}", entry.kind.as_str(), entry.amount, entry.currency);
        let booking = Booking {
            at: at.timestamp(),
            answer,
            hidden: match (outcome, entry.kind) {
                (Outcome::LateApproval, _) if state != State::Approved => 0,
                // So long that an agent may ask for it again.
                (Outcome::LateApproval, Kind::Reversal) => 4,
                (Outcome::LateApproval, _) => 2,
                _ => 0,
            },
            later,
            first_reversal: outcome.first_reversal().filter(|_| state == State::Approved),
            registration: used.cloned(),
            instruction: draft.instruction,
            short_id,
            entry,
        };
        self.books.enter(&booking, stored.as_ref())?;
        self.tell_of_payment(Action::Created, &booking);
        if stored.is_some() {
            self.tell_of_registration(Action::Created, &booking.answer);
        }
        let answer = booking.answer;
        Ok(if declined.is_some() { Delivery::Answer(400, answer) } else { after(outcome, answer) })
    }

    /// What is known about an entry now. Each question counts: some entries show themselves or are decided later.
    pub(super) fn ask(&mut self, mut booking: Booking) -> rusqlite::Result<Option<Value>> {
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

/// What is pending has no word for the chip yet, and nothing to be cleared.
fn without_approval(mut answer: Value) -> Value {
    if let Some(pos) = answer["pos"].as_object_mut() {
        pos.remove("iccDataResponse");
        pos.remove("clearing");
    }
    answer
}

/// The amount that this outcome approves.
fn approved_amount(draft: &Draft<'_>, outcome: Outcome) -> Result<Amount, Invalid> {
    let (minor, currency) = (draft.amount.minor(), draft.amount.currency());
    let minor = match outcome {
        Outcome::Partial => minor / 2,
        // What follows a payment is never more than was asked: the books would not be right.
        Outcome::HigherAmount if draft.refers_to.is_none() => minor + 10_u64.pow(u32::from(currency.exponent())),
        _ => minor,
    };
    Amount::from_minor(minor, currency).map_err(|why| Invalid::new("amount", why.to_string()))
}

pub(super) fn in_two_decimals(amount: Amount) -> Result<String, Invalid> {
    amount.to_gateway().map_err(|why| Invalid::new("amount", why.to_string()))
}

/// The faults that come when everything is done.
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
