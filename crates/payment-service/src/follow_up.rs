//! Capture, reversal and refund of an earlier payment: what its state allows, and nothing else. A refusal changes
//! nothing. The host without rules (`host_rules`) books them whatever the state is.
//!
//! The payment is named by the path, by `referenceUuid`, or by both when they say the same (data-model: Basic payment
//! parameters). Assumed, as the interface is silent: a reversal takes back a part or the whole of what nobody has
//! captured or refunded; `sequence` FINAL ends the reversals, and what is left stays with the shop; an increment is
//! reversed as a whole.
//!
//! Checked: kind, amount with currency, that the payment is known, its state and what is left of it. Not checked: that
//! a follow-up has a reference of its own, or how long ago the payment was.

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
    /// `POST /v1/payments/{id}`: what follows this payment, an increment or a reauthorisation too.
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

    /// `POST /v1/payments` with `referenceUuid` and the type of a follow-up.
    pub(super) fn follow_up_by_reference(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::FOLLOW_UP)?;
        let id = form.required(REFERENCE)?.to_owned();
        // A reference is a parameter: one that names nothing is a wrong one, and no missing page.
        self.follow(&id, &form, "/v1/payments").map_err(|refusal| match refusal {
            Refusal::NotFound => Invalid::new(REFERENCE, "matches no payment").into(),
            refusal => refusal,
        })
    }

    /// What follows the payment with this id; `path` is asked again when the request is redirected.
    fn follow(&mut self, id: &str, form: &Form, path: &str) -> Result<Delivery, Refusal> {
        let kind = match form.required("paymentType")? {
            "CP" => Kind::Capture,
            "RV" => Kind::Reversal,
            "RF" => Kind::Refund,
            _ => return Err(Invalid::new("paymentType", "must be CP, RV or RF to refer to a payment").into()),
        };
        if form.get("amount").is_some() != form.get("currency").is_some() {
            return Err(Invalid::new("amount", "amount and currency come together").into());
        }
        let asked = form.get("amount").map(|_| money(form)).transpose()?;
        let of = self.books.find(id)?;
        if of.is_none() && !self.host_rules().books_all() {
            return Err(Refusal::NotFound);
        }
        // The cents choose for captures and refunds; a reversal has the cents of its payment, which have chosen
        // already.
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

    /// The amount that a bank without rules books: what is asked for, or all of the payment.
    fn amount_without_rules(&self, of: Option<&Booking>, asked: Option<Amount>) -> Result<Amount, Refusal> {
        match (asked, of) {
            (Some(asked), _) => Ok(asked),
            (None, None) => Err(Invalid::new("amount", "required: nobody knows the payment").into()),
            (None, Some(of)) => {
                let standing = Balance::of(&of.entry, self.books.following(&of.entry.id)?.iter());
                let currency = of.entry.currency().ok_or(OTHER_CURRENCY)?;
                Ok(Amount::from_minor(standing.authorised, currency)
                    .map_err(|why| Invalid::new("amount", why.to_string()))?)
            }
        }
    }

    /// The amount that may be booked.
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
            // What it has added to its payment is not known in parts.
            Some(asked) if kind == Kind::Reversal && payment.is_increment() && asked.minor() != most => Err(too_much),
            Some(asked) => Ok(asked),
            None => Ok(Amount::from_minor(most, currency).map_err(|why| Invalid::new("amount", why.to_string()))?),
        }
    }

    /// An increment can be taken back while nobody has captured it.
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

/// Whether a request captures, reverses or refunds the payment that its `referenceUuid` names.
pub(super) fn follows_by_reference(pairs: &[(String, String)]) -> bool {
    let get = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    get(REFERENCE).is_some() && matches!(get("paymentType"), Some("CP" | "RV" | "RF"))
}

/// Whether a request to a payment's path raises it or takes its place.
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

/// Declined, not decided, or an authentication alone, of which no money is.
fn moves_nothing(payment: &LedgerEntry) -> bool {
    matches!(payment.state, State::Declined | State::Pending) || payment.minor() == 0
}
