//! Capture, reversal and refund of an earlier payment, if the payment's state allows it. A refusal changes nothing.
//! With permissive rules (`host_rules`), the gateway books them in any state.
//!
//! The path, `referenceUuid`, or both name the payment. If both do, they must name the same payment (data-model: Basic
//! payment parameters). Where the interface is silent, the gateway assumes the following:
//!
//! - A reversal covers all or part of the amount that was neither captured nor refunded.
//! - After a reversal with `sequence` FINAL, no further reversal is allowed, and the shop keeps the rest.
//! - An increment can be reversed only as a whole.
//!
//! The gateway checks the kind, the amount with currency, the payment's existence and state, and the remaining amount.
//! It does not check whether a follow-up has its own reference, or how old the payment is.

use super::balance::Balance;
use super::booking::Draft;
use super::books::Booking;
use super::delivery::Delivery;
use super::entry::{Kind, LedgerEntry, State};
use super::form::{self, Form};
use super::host::{Host, money};
use super::included;
use super::increment::{NAMES_ANOTHER, REFERENCE};
use super::invalid::Invalid;
use super::outcomes;
use super::refusal::{Refusal, rule};
use super::standing_instruction::{PRACTICE, PRACTICES};
use pos_terms::money::Amount;

const OTHER_CURRENCY: Refusal =
    rule("currency", "700.100.500", "referenced payment currency does not match with requested payment currency");

impl Host {
    /// Handles `POST /v1/payments/{id}`: a follow-up, increment or reauthorisation of this payment.
    pub(super) fn follow_up(&mut self, id: &str, body: &[u8]) -> Result<Delivery, Refusal> {
        if raises_or_renews(&form::decoded(body)?) {
            return self.increment_by_path(id, body);
        }
        let form = self.form(body, form::FOLLOW_UP)?;
        if form.get(REFERENCE).is_some_and(|named| named != id) {
            return Err(Invalid::new(REFERENCE, NAMES_ANOTHER).into());
        }
        self.follow(id, &form, &format!("/v1/payments/{id}"))
    }

    /// Handles `POST /v1/payments` with `referenceUuid` and the type of a follow-up.
    pub(super) fn follow_up_by_reference(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::FOLLOW_UP)?;
        let id = form.required(REFERENCE)?.to_owned();
        // The reference is a parameter, so an unknown reference is an invalid parameter, not an unknown path.
        self.follow(&id, &form, "/v1/payments").map_err(|refusal| match refusal {
            Refusal::NotFound => Invalid::new(REFERENCE, "matches no payment").into(),
            refusal => refusal,
        })
    }

    /// Books a follow-up of the payment with this id. A redirect points to `path`.
    fn follow(&mut self, id: &str, form: &Form, path: &str) -> Result<Delivery, Refusal> {
        let kind = match form.required("paymentType")? {
            "CP" => Kind::Capture,
            "RV" => Kind::Reversal,
            "RF" => Kind::Refund,
            _ => return Err(Invalid::new("paymentType", "must be CP, RV or RF to refer to a payment").into()),
        };
        if form.get("amount").is_some() != form.get("currency").is_some() {
            return Err(Invalid::new("amount", "amount and currency must be sent together").into());
        }
        let asked = form.get("amount").map(|_| money(form)).transpose()?;
        let of = self.books.find(id)?;
        if of.is_none() && !self.host_rules().books_all() {
            return Err(Refusal::NotFound);
        }
        // The cents choose the outcome of captures and refunds. A reversal has the cents of its payment, and they have
        // already chosen the payment's outcome.
        let outcome = match kind {
            Kind::Reversal => {
                let first = of.as_ref().and_then(|of| of.first_reversal).map(outcomes::for_cents);
                if first.is_some() {
                    self.books.take_first_reversal(id)?;
                }
                self.forced.pop_front().or(first).unwrap_or(outcomes::Outcome::Approve)
            }
            _ => self.outcome(form.get("amount")),
        };
        let key = form.get("amount").unwrap_or(kind.as_str());
        if let Some(instead) = self.instead_of_processing(outcome, &format!("{key} {id}"), path) {
            return Ok(instead);
        }
        let amount = match &of {
            Some(of) if !self.host_rules().books_all() => self.allowed(kind, of, asked)?,
            _ => self.amount_without_rules(of.as_ref(), asked)?,
        };
        let is_remote = of.as_ref().is_some_and(|of| of.answer.get("pos").is_none());
        if is_remote && !self.host_rules().books_all() {
            included::check(form, amount)?;
        }
        self.book(Draft { of: of.as_ref(), ..Draft::after(form, kind, amount, id) }, outcome)
    }

    /// Returns the amount that permissive rules book: the requested amount or, without one, the whole payment.
    fn amount_without_rules(&self, of: Option<&Booking>, asked: Option<Amount>) -> Result<Amount, Refusal> {
        match (asked, of) {
            (Some(asked), _) => Ok(asked),
            (None, None) => Err(Invalid::new("amount", "required: the payment is unknown").into()),
            (None, Some(of)) => {
                let standing = Balance::of(&of.entry, self.books.following(&of.entry.id)?.iter());
                let currency = of.entry.currency().ok_or(OTHER_CURRENCY)?;
                Ok(Amount::from_minor(standing.authorised, currency)
                    .map_err(|why| Invalid::new("amount", why.to_string()))?)
            }
        }
    }

    /// Returns the amount that may be booked.
    fn allowed(&self, kind: Kind, of: &Booking, asked: Option<Amount>) -> Result<Amount, Refusal> {
        let payment = &of.entry;
        let standing = Balance::of(payment, self.books.following(&payment.id)?.iter());
        match kind {
            Kind::Capture => capturable(payment, &standing)?,
            Kind::Refund => refundable(payment, &standing)?,
            _ => reversible(payment, &standing)?,
        }
        if let Some(root) = payment.refers_to.as_deref().filter(|_| kind == Kind::Reversal && payment.is_increment()) {
            self.increment_is_free(payment, root)?;
        }
        let currency = payment.currency().ok_or(OTHER_CURRENCY)?;
        if asked.is_some_and(|asked| asked.currency() != currency) {
            return Err(OTHER_CURRENCY);
        }
        let (most, too_much) = match kind {
            Kind::Capture => (
                standing.left,
                rule("amount", "700.400.100", "cannot capture (PA value exceeded, PA reverted or invalid workflow?)"),
            ),
            Kind::Refund => (
                standing.left,
                rule(
                    "amount",
                    "700.400.200",
                    "cannot refund (refund volume exceeded or tx reversed or invalid workflow?)",
                ),
            ),
            _ => (
                standing.authorised.saturating_sub(standing.reversed),
                rule("amount", "700.100.200", "non matching reference amount"),
            ),
        };
        match asked {
            Some(asked) if asked.minor() > most => Err(too_much),
            // The gateway cannot tell which part of the payment the increment added, so it reverses the whole
            // increment.
            Some(asked) if kind == Kind::Reversal && payment.is_increment() && asked.minor() != most => Err(too_much),
            Some(asked) => Ok(asked),
            None => Ok(Amount::from_minor(most, currency).map_err(|why| Invalid::new("amount", why.to_string()))?),
        }
    }

    /// Checks that an increment can be reversed: the remaining amount of its payment must cover it.
    fn increment_is_free(&self, increment: &LedgerEntry, root: &str) -> Result<(), Refusal> {
        let Some(root) = self.books.find(root)? else { return Ok(()) };
        let standing = Balance::of(&root.entry, self.books.following(&root.entry.id)?.iter());
        if standing.left >= increment.minor() {
            Ok(())
        } else {
            Err(rule(
                "paymentType",
                "700.400.300",
                "cannot reverse (the increment is captured or its payment is closed)",
            ))
        }
    }
}

/// Returns whether a request captures, reverses or refunds the payment that its `referenceUuid` names.
pub(super) fn follows_by_reference(pairs: &[(String, String)]) -> bool {
    let get = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    get(REFERENCE).is_some() && matches!(get("paymentType"), Some("CP" | "RV" | "RF"))
}

/// Returns whether a request to the path of a payment is an increment or a reauthorisation.
fn raises_or_renews(pairs: &[(String, String)]) -> bool {
    let has = |wanted: &str, value: &str| pairs.iter().any(|(name, sent)| name == wanted && sent == value);
    has("paymentType", "PA") && PRACTICES.into_iter().any(|practice| has(PRACTICE, practice))
}

fn capturable(payment: &LedgerEntry, is: &Balance) -> Result<(), Refusal> {
    if payment.kind != Kind::PreAuthorisation || payment.is_increment() || moves_nothing(payment) {
        return Err(rule(
            "paymentType",
            "700.400.510",
            "capture needs at least one successful transaction of type (PA)",
        ));
    }
    if is.is_reversed || is.is_renewed {
        return Err(rule("paymentType", "700.400.100", "cannot capture (the PA was reversed or reauthorised)"));
    }
    if is.is_final {
        return Err(rule("sequence", "700.300.300", "referenced tx can not be captured (its last capture was FINAL)"));
    }
    if payment.captures.is_some_and(|most| is.captures >= usize::from(most)) {
        return Err(rule("numberOfCaptures", "700.400.100", "cannot capture (numberOfCaptures is reached)"));
    }
    if is.left == 0 {
        return Err(rule("amount", "700.300.300", "referenced tx can not be captured (already captured)"));
    }
    Ok(())
}

fn refundable(payment: &LedgerEntry, is: &Balance) -> Result<(), Refusal> {
    if !matches!(payment.kind, Kind::Debit | Kind::Capture) || moves_nothing(payment) {
        let why = "refund needs at least one successful transaction of type (CP or DB)";
        return Err(rule("paymentType", "700.400.520", why));
    }
    if is.is_reversed {
        return Err(rule("paymentType", "700.400.200", "cannot refund (the payment was reversed)"));
    }
    if is.is_final {
        return Err(rule("sequence", "700.300.300", "referenced tx can not be refunded (its last refund was FINAL)"));
    }
    if is.left == 0 {
        return Err(rule("amount", "700.300.300", "referenced tx can not be refunded (already refunded)"));
    }
    Ok(())
}

fn reversible(payment: &LedgerEntry, is: &Balance) -> Result<(), Refusal> {
    if matches!(payment.kind, Kind::Reversal | Kind::Refund | Kind::RiskCheck) || moves_nothing(payment) {
        let why = "reversal needs at least one successful transaction of type (CP, DB, PA or CD)";
        return Err(rule("paymentType", "700.400.530", why));
    }
    if is.is_reversed {
        return Err(rule("paymentType", "700.300.300", "referenced tx can not be reversed (already reversed)"));
    }
    if is.was_last_reversal {
        return Err(rule("sequence", "700.300.300", "referenced tx can not be reversed (its last reversal was FINAL)"));
    }
    if is.captures > 0 || is.given_back > 0 || is.is_renewed {
        let why = "cannot reverse (already captured, refunded or reauthorised)";
        return Err(rule("paymentType", "700.400.300", why));
    }
    Ok(())
}

/// Returns whether a payment moves no money: it was declined or not decided, or it is only an authentication.
fn moves_nothing(payment: &LedgerEntry) -> bool {
    matches!(payment.state, State::Declined | State::Pending) || payment.minor() == 0
}
