//! Standing instructions (data-model: Card on file). The customer's first payment makes an agreement, and later
//! payments must follow its terms.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - Mode, source and type must be sent together.
//! - The customer starts an INITIAL payment (CIT). A payment that the merchant starts (MIT) cannot use a card at a
//!   terminal.
//! - The first payment sets the terms (`expiry`, `frequency`, `numberOfInstallments`). It counts as an installment.
//! - The merchant starts the payments of a follow-up practice. A RESUBMISSION repeats a declined payment with the same
//!   amount. DELAYED_CHARGES and NO_SHOW follow an approved payment.
//! - An agreement made with another service (`recurringMigration`) counts as a first payment of any type.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::books::Booking;
use super::entry::State;
use super::envelope::new_id;
use super::form::Form;
use super::invalid::Invalid;
use super::refusal::{Refusal, rule};

const TYPE: &str = "standingInstruction.type";
const MODE: &str = "standingInstruction.mode";
const SOURCE: &str = "standingInstruction.source";
const REFERENCE: &str = "standingInstruction.initialTransactionId";
const AGREEMENT: &str = "standingInstruction.agreementId";
pub(super) const PRACTICE: &str = "standingInstruction.industryPractice";
/// The practices that raise or replace a pre-authorisation.
pub(super) const PRACTICES: [&str; 2] = ["INCREMENTAL_AUTH", "REAUTHORIZATION"];

/// Returns whether a payment raises or replaces a pre-authorisation.
pub(super) fn renews_or_adds(form: &Form) -> bool {
    form.get(PRACTICE).is_some_and(|practice| PRACTICES.contains(&practice))
}

/// Returns the agreement of a payment with a card at a terminal.
pub(super) fn at_the_counter(form: &Form) -> Result<Option<Value>, Invalid> {
    let Some(mut fields) = agreement_fields(form)? else { return Ok(None) };
    match (form.get(MODE), form.get(SOURCE)) {
        (_, Some("MIT")) => Err(Invalid::new(SOURCE, "the merchant's own payment (MIT) has no card at the counter")),
        (Some("INITIAL"), _) => {
            fields.insert("initialTransactionId".to_owned(), json!(scheme_reference()));
            Ok(Some(Value::Object(fields)))
        }
        _ => Ok(Some(Value::Object(fields))),
    }
}

/// Returns the agreement of a payment whose form has the payment data. A payment that the merchant starts (MIT) must
/// name the customer's payment. Earlier payments with the same card do not count.
pub(super) fn typed(form: &Form) -> Result<Option<Value>, Invalid> {
    let Some(mut fields) = agreement_fields(form)? else { return Ok(None) };
    match (form.get(MODE), form.get(SOURCE)) {
        (Some("INITIAL"), Some("MIT")) => Err(Invalid::new(SOURCE, "the first payment is the customer's own (CIT)")),
        (Some("INITIAL"), _) => {
            fields.insert("initialTransactionId".to_owned(), json!(scheme_reference()));
            Ok(Some(Value::Object(fields)))
        }
        (_, Some("MIT")) if form.get(REFERENCE).or(form.get(AGREEMENT)).is_none() => Err(Invalid::new(
            REFERENCE,
            "a payment that the merchant starts needs the customer's first payment, or agreementId",
        )),
        _ => Ok(Some(Value::Object(fields))),
    }
}

/// Returns the agreement of a payment with a stored card. The earlier payments with this card are in `before`.
pub(super) fn with_stored(
    form: &Form,
    before: &[Booking],
    migrated: Option<&Value>,
    now: DateTime<Utc>,
) -> Result<Option<Value>, Refusal> {
    let Some(mut fields) = agreement_fields(form)? else { return Ok(None) };
    if form.get(MODE) == Some("INITIAL") {
        if form.get(SOURCE) != Some("CIT") {
            return Err(Invalid::new(SOURCE, "the first payment is the customer's own (CIT)").into());
        }
        fields.insert("initialTransactionId".to_owned(), json!(scheme_reference()));
        return Ok(Some(Value::Object(fields)));
    }
    practice(form, before)?;
    let approved = |booking: &&Booking| booking.entry.state == State::Approved;
    let named = |fields: &&Value| {
        let by_scheme = form.get(REFERENCE).is_none_or(|reference| fields["initialTransactionId"] == reference);
        by_scheme && form.get(AGREEMENT).is_none_or(|id| fields["agreementId"].is_null() || fields["agreementId"] == id)
    };
    let here = before.iter().filter(approved).rev().filter_map(|booking| booking.instruction.as_ref()).find(|fields| {
        fields["mode"] == "INITIAL" && fields["type"] == form.get(TYPE).unwrap_or_default() && named(fields)
    });
    // For an agreement made with another service, the type is unknown.
    let first = here.or_else(|| migrated.filter(|first| named(first)));
    let Some(first) = first else {
        return Err(Invalid::new(REFERENCE, "no first payment (INITIAL) of this type with this stored card").into());
    };
    let reference = first["initialTransactionId"].clone();
    let kept: Vec<&Booking> = before
        .iter()
        .filter(|booking| matches!(booking.entry.state, State::Approved | State::Pending))
        .filter(|booking| {
            booking.instruction.as_ref().is_some_and(|fields| fields["initialTransactionId"] == reference)
        })
        .collect();
    terms(first, &kept, now)?;
    fields.insert("initialTransactionId".to_owned(), reference);
    if let Some(id) = first.get("agreementId") {
        fields.insert("agreementId".to_owned(), id.clone());
    }
    Ok(Some(Value::Object(fields)))
}

/// Checks that the payment's practice can follow the earlier payments with the stored account.
fn practice(form: &Form, before: &[Booking]) -> Result<(), Invalid> {
    let Some(practice) = form.get(PRACTICE) else { return Ok(()) };
    let is = |state: State| move |booking: &&Booking| booking.entry.state == state;
    let (amount, currency) = (form.get("amount").unwrap_or_default(), form.get("currency").unwrap_or_default());
    let follows = match practice {
        "RESUBMISSION" => {
            let same = |booking: &&Booking| booking.entry.amount == amount && booking.entry.currency == currency;
            before.iter().filter(is(State::Declined)).any(|booking| same(&booking))
        }
        "DELAYED_CHARGES" => before.iter().any(|booking| is(State::Approved)(&booking)),
        "NO_SHOW" => before.iter().filter(is(State::Approved)).any(|booking| booking.entry.refers_to.is_none()),
        _ => return Err(Invalid::new(PRACTICE, "needs referenceUuid, not a stored account")),
    };
    if form.get(SOURCE) != Some("MIT") {
        return Err(Invalid::new(SOURCE, format!("{practice} is the merchant's own (MIT)")));
    }
    let why = match practice {
        "RESUBMISSION" => "no payment of this amount from this stored account was declined",
        _ => "no earlier payment from this stored account was approved",
    };
    if follows { Ok(()) } else { Err(Invalid::new(PRACTICE, why)) }
}

/// Checks that a further payment follows the terms of the first.
fn terms(first: &Value, kept: &[&Booking], now: DateTime<Utc>) -> Result<(), Refusal> {
    const CODE: &str = "800.100.190";
    let number = |name: &str| first[name].as_str().and_then(|text| text.parse::<u32>().ok());
    let ends = first["expiry"].as_str().and_then(|day| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok());
    if ends.is_some_and(|last_day| now.date_naive() > last_day) {
        return Err(rule("standingInstruction.expiry", CODE, "transaction declined (the agreement has ended)"));
    }
    let last = kept.iter().map(|booking| booking.at).max().and_then(|at| DateTime::from_timestamp(at, 0));
    let rest = number("frequency").map(|days| TimeDelta::days(i64::from(days)));
    if last.zip(rest).is_some_and(|(last, rest)| now - last < rest) {
        return Err(rule(
            "standingInstruction.frequency",
            CODE,
            "transaction declined (too soon after the previous one)",
        ));
    }
    let most = number("numberOfInstallments").map(|most| usize::try_from(most).unwrap_or(usize::MAX));
    if most.is_some_and(|most| kept.len() >= most) {
        let why = "transaction declined (all installments are paid)";
        return Err(rule("standingInstruction.numberOfInstallments", CODE, why));
    }
    Ok(())
}

/// Returns the agreement fields of a form, without their prefix.
fn agreement_fields(form: &Form) -> Result<Option<Map<String, Value>>, Invalid> {
    let named = form.iter().filter_map(|(name, value)| Some((name.strip_prefix("standingInstruction.")?, value)));
    let fields: Map<String, Value> = named.map(|(name, value)| (name.to_owned(), json!(value))).collect();
    if fields.is_empty() {
        return Ok(None);
    }
    for name in [TYPE, MODE, SOURCE] {
        form.get(name).ok_or_else(|| Invalid::new(name, "mode, source and type must be sent together"))?;
    }
    Ok(Some(fields))
}

/// Returns the first payment of an agreement made with another service (data-model: Recurring migration).
pub(super) fn migrated(form: &Form, now: DateTime<Utc>) -> Result<Option<Value>, Invalid> {
    const AT: &str = "recurringMigration.requestTimestamp";
    if form.first_under("recurringMigration.").is_none() {
        return Ok(None);
    }
    form.required("recurringMigration.paymentType")?;
    if form.get(AT).is_some_and(|at| at > now.format("%Y-%m-%d %H:%M:%S").to_string().as_str()) {
        return Err(Invalid::new(AT, "is in the future"));
    }
    let reference = form.get("recurringMigration.connectorTxId1").map_or_else(scheme_reference, str::to_owned);
    Ok(Some(json!({ "mode": "INITIAL", "source": "CIT", "initialTransactionId": reference })))
}

/// Makes a scheme's reference of fifteen digits.
fn scheme_reference() -> String {
    new_id().bytes().map(|c| char::from(b'0' + c % 10)).take(15).collect()
}
