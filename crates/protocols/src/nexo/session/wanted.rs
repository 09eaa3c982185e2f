//! The steps from a request to the transaction that it begins: the meaning of each field, and the refusals.
//!
//! | PaymentType | kind of transaction |
//! |---|---|
//! | Normal | a sale; with a PaymentToken, a sale with the stored card |
//! | Refund | a refund of the original; without an original a credit, if that is allowed |
//! | FirstReservation, OneTimeReservation | a pre-authorisation |
//! | UpdateReservation | an increment: RequestedAmount is the new total of the reservation |
//! | Completion | a capture, which is the only one (FINAL) |
//! | Reversal (the message) | a reversal; a refund if it names only a part of the remaining amount |
//!
//! If the terminal cannot keep to a limit on a payment, it refuses the limit by name and never ignores it.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Settings;
use super::acquirer;
use super::flow::Flow;
use super::metadata;
use super::refusal::because;
use crate::nexo::enums::{Device, ErrorCondition, ForceEntryMode, InputCommand, PaymentType, Words};
use crate::nexo::meaning::Meaning;
use crate::nexo::number::Decimal;
use crate::nexo::reference::replaces;
use crate::nexo::request::{
    InputRequest, PaymentRequest, Request, RequestBody, ReversalRequest, TransactionConditions,
};
use crate::nexo::shared::{OriginalPoiTransaction, Outcome, TransactionIdentification};
use pos_till_api::{Begin, Entry, Kind, Sale};

/// Maximum length of a till's transaction number or SaleReferenceID.
const LONGEST_ID: usize = 80;
/// Maximum length of a cashier's name.
const LONGEST_OPERATOR: usize = 40;
/// A text from a till with this many digits may look like a card number, which a till's data must not contain.
const MANY_DIGITS: usize = 11;
/// The prefix of a till's text that is stored as base64.
const IN_BASE64: &str = "b64:";

/// Names of the till's data that the agent returns with a transaction.
pub(super) mod data {
    pub(in super::super) const SERVICE_ID: &str = "ServiceID";
    pub(in super::super) const CATEGORY: &str = "MessageCategory";
    pub(in super::super) const PAYMENT_TYPE: &str = "PaymentType";
    pub(in super::super) const TRANSACTION: &str = "TransactionID";
    pub(in super::super) const TIME: &str = "TimeStamp";
    pub(in super::super) const SALE_REFERENCE: &str = "SaleReferenceID";
    pub(in super::super) const ORIGINAL: &str = "OriginalID";
    pub(in super::super) const ORIGINAL_TIME: &str = "OriginalTimeStamp";
    /// The effect of the message on money. Records of earlier versions do not contain it.
    pub(in super::super) const MEANING: &str = "Meaning";
}

/// The relation to an earlier transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// No earlier transaction.
    Alone,
    /// A refund of this amount.
    Refund,
    /// A new total of the reservation.
    Update,
    /// A capture of this amount.
    Completion,
    /// A reversal, or a refund of a part.
    Reversal,
}

/// The transaction that a request asks for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The request to begin the transaction. If there is an earlier transaction, amount and kind are added later.
    pub(super) begin: Begin,
    pub(super) how: How,
    original: Option<TransactionIdentification>,
    /// The amount in minor units, or `None` for the whole remaining amount.
    amount: Option<u64>,
    /// The currency that the till states for the amount.
    currency: Option<String>,
    payment_type: Option<PaymentType>,
}

/// Reads the requested transaction, or returns the refusal.
pub(super) fn of(request: &Request, flow: &Flow<'_>) -> Result<Wanted, Outcome> {
    let mut wanted = match &request.body {
        RequestBody::Payment(payment) => of_payment(payment, flow)?,
        RequestBody::Reversal(reversal) => of_reversal(reversal, flow)?,
        _ => return Err(Outcome::failure(ErrorCondition::UnavailableService)),
    };
    let not_served = match &request.body {
        RequestBody::Payment(payment) => payment.refused.as_ref(),
        RequestBody::Reversal(reversal) => reversal.refused.as_ref(),
        _ => None,
    };
    if let Some(field) = not_served {
        return Err(not_allowed(&format!("{field}: this terminal does not support it; omit it")));
    }
    if let Some(transaction) = request.body.transaction() {
        for (field, text) in [("TransactionID", &transaction.transaction_id), ("TimeStamp", &transaction.time_stamp)] {
            if !(1..=LONGEST_ID).contains(&text.len()) {
                return Err(malformed(&format!("SaleTransactionID.{field}"), "must have 1 to 80 characters"));
            }
        }
    }
    wanted.begin.till_prints = !flow.settings.terminal_prints;
    wanted.begin.till_data = till_data(request, flow.settings);
    Ok(wanted)
}

fn malformed(field: &str, why: &str) -> Outcome {
    because(ErrorCondition::MessageFormat, &format!("{field}: {why}"))
}

fn not_allowed(why: &str) -> Outcome {
    because(ErrorCondition::NotAllowed, &why)
}

fn of_payment(payment: &PaymentRequest, flow: &Flow<'_>) -> Result<Wanted, Outcome> {
    let amounts = &payment.payment_transaction.amounts_req;
    let facts = flow.facts.ok_or_else(|| Outcome::failure(ErrorCondition::UnavailableDevice))?;
    if amounts.currency != facts.currency {
        return Err(not_allowed(&format!("AmountsReq.Currency: this terminal accepts {}", facts.currency)));
    }
    let of = |field: &str, amount: Option<Decimal>| minor(field, amount, facts.decimals);
    let requested = of("AmountsReq.RequestedAmount", amounts.requested_amount)?;
    let tip = of("AmountsReq.TipAmount", amounts.tip_amount)?.filter(|tip| *tip > 0);
    if of("AmountsReq.CashBackAmount", amounts.cash_back_amount)?.is_some_and(|amount| amount > 0) {
        return Err(not_allowed("AmountsReq.CashBackAmount: this terminal gives no cash"));
    }
    let acquirer = acquirer::read(payment.sale_data.sale_to_acquirer_data.as_ref(), flow.settings)?;
    if acquirer.currency.as_ref().is_some_and(|currency| *currency != amounts.currency) {
        return Err(acquirer::refused("currency"));
    }
    let data = payment.payment_data.clone().unwrap_or_default();
    let original = payment.payment_transaction.original_poi_transaction.as_ref();
    let token = data.payment_instrument_data.and_then(|data| data.card_data?.payment_token);
    let payment_type = meant(payment.payment_type(), acquirer.reserves, flow)?;
    let (how, kind) = match (payment_type, token.is_some()) {
        (PaymentType::Normal, false) => (How::Alone, Kind::Sale),
        (PaymentType::Normal, true) => (How::Alone, Kind::ByRegistration),
        (PaymentType::FirstReservation | PaymentType::OneTimeReservation, false) => {
            (How::Alone, Kind::PreAuthorisation)
        }
        (PaymentType::FirstReservation | PaymentType::OneTimeReservation, true) => {
            (How::Alone, Kind::PreAuthorisationByRegistration)
        }
        (PaymentType::Refund, false) if original.is_none() && flow.settings.credit => (How::Alone, Kind::Credit),
        (PaymentType::Refund, false) if original.is_none() => {
            return Err(not_allowed("a refund needs OriginalPOITransaction: this till may not pay out without one"));
        }
        (PaymentType::Refund, false) => (How::Refund, Kind::Refund),
        (PaymentType::UpdateReservation, false) => (How::Update, Kind::Increment),
        (PaymentType::Completion, false) => (How::Completion, Kind::Capture),
        (other, _) => {
            let why = format!("this terminal does not support PaymentType {other}");
            return Err(because(ErrorCondition::UnavailableService, &why));
        }
    };
    if original.is_some() && how == How::Alone {
        let why = "OriginalPOITransaction: not possible with this PaymentType, which reads a card";
        return Err(not_allowed(why));
    }
    if acquirer.asks_tip && kind != Kind::Sale {
        return Err(acquirer::refused("tenderOption=AskGratuity"));
    }
    let manual = conditions(payment.payment_transaction.transaction_conditions.as_ref())?;
    if requested == Some(0) || (requested.is_none() && matches!(how, How::Alone | How::Update)) {
        return Err(malformed("AmountsReq.RequestedAmount", "must be above zero"));
    }
    let mut begin = Begin::new("", kind, None);
    begin.currency = Some(facts.currency.clone());
    begin.registration = token.map(|token| token.token_value);
    let takes_card = matches!(kind, Kind::Sale | Kind::PreAuthorisation | Kind::Credit);
    begin.entry = manual.filter(|_| takes_card);
    let mut amount = requested;
    if kind == Kind::Sale {
        amount = with_tip(&mut begin, acquirer.asks_tip, (requested, tip), facts.decimals)?;
    } else if tip.is_some() {
        return Err(not_allowed("AmountsReq.TipAmount: only the PaymentType Normal can have a tip"));
    }
    // The terminal would have to reverse a partial approval below the till's minimum. So a request with a minimum
    // accepts no partial approval.
    let least = amounts.minimum_amount_to_deliver.or(amounts.minimum_split_amount);
    let in_part = data.split_payment_flag || acquirer.in_part;
    let may_be_less = matches!(kind, Kind::Sale | Kind::PreAuthorisation | Kind::ByRegistration);
    begin.accept_partial = in_part && least.is_none() && may_be_less;
    operator(&mut begin, payment.sale_data.operator_id.as_deref())?;
    if payment.sale_data.token_requested_type.is_some() && matches!(kind, Kind::Sale | Kind::PreAuthorisation) {
        begin.parameters.insert("createRegistration".to_owned(), "true".to_owned());
    }
    begin.amount = amount.filter(|_| how == How::Alone).map(|amount| text(amount, facts.decimals));
    let original = match how {
        How::Alone => None,
        _ => Some(named(original, flow)?),
    };
    let currency = Some(amounts.currency.clone());
    Ok(Wanted { begin, how, original, amount, currency, payment_type: Some(payment.payment_type()) })
}

/// Returns the payment type, after SaleToAcquirerData has said whether to reserve the amount.
fn meant(payment_type: PaymentType, reserves: Option<bool>, flow: &Flow<'_>) -> Result<PaymentType, Outcome> {
    use PaymentType::{FirstReservation, Normal, OneTimeReservation, UpdateReservation};
    match (payment_type, reserves) {
        (Normal, Some(true)) if flow.settings.reserves => Ok(FirstReservation),
        (FirstReservation | OneTimeReservation | UpdateReservation, Some(true)) => Ok(payment_type),
        (FirstReservation | OneTimeReservation | UpdateReservation, Some(false)) | (_, Some(true)) => {
            let why = "SaleToAcquirerData: authorisationType, manualCapture: this till does not capture at this \
                terminal (reserves in front.toml); use FirstReservation, or omit them";
            Err(not_allowed(why))
        }
        (payment_type, _) => Ok(payment_type),
    }
}

/// Sets the tip and returns the amount without it. RequestedAmount includes the tip.
fn with_tip(
    begin: &mut Begin,
    asks: bool,
    (requested, tip): (Option<u64>, Option<u64>),
    decimals: u8,
) -> Result<Option<u64>, Outcome> {
    match (requested, tip) {
        (Some(requested), Some(tip)) if tip >= requested => {
            Err(malformed("AmountsReq.TipAmount", "must be less than RequestedAmount, which includes it"))
        }
        (Some(requested), Some(tip)) => {
            begin.tip = Some(text(tip, decimals));
            Ok(Some(requested - tip))
        }
        _ => {
            begin.tip = asks.then(|| "ask".to_owned());
            Ok(requested)
        }
    }
}

/// Checks the restrictions on the card. Returns `Manual` if the card number is to be typed.
fn conditions(conditions: Option<&TransactionConditions>) -> Result<Option<Entry>, Outcome> {
    let Some(conditions) = conditions else { return Ok(None) };
    if !conditions.allowed_payment_brand.is_empty() {
        let why = "AllowedPaymentBrand: the reader determines the brands; omit it";
        return Err(because(ErrorCondition::PaymentRestriction, &why));
    }
    let modes = &conditions.force_entry_mode;
    let has = |wanted: &[ForceEntryMode]| modes.iter().any(|mode| wanted.contains(mode));
    if has(&[ForceEntryMode::Keyed, ForceEntryMode::Manual]) {
        return Ok(Some(Entry::Manual));
    }
    let chip = has(&[ForceEntryMode::Icc]);
    let tapped = has(&[ForceEntryMode::Contactless, ForceEntryMode::Tapped, ForceEntryMode::Rfid]);
    if modes.is_empty() || chip && tapped {
        return Ok(None);
    }
    let why = "ForceEntryMode: the reader takes both chip and contactless cards; write both, or Keyed, or omit it";
    Err(because(ErrorCondition::PaymentRestriction, &why))
}

fn operator(begin: &mut Begin, operator: Option<&str>) -> Result<(), Outcome> {
    if operator.is_some_and(|name| !(1..=LONGEST_OPERATOR).contains(&name.chars().count())) {
        return Err(malformed("SaleData.OperatorID", "must have 1 to 40 characters"));
    }
    begin.operator = operator.map(str::to_owned);
    Ok(())
}

fn of_reversal(reversal: &ReversalRequest, flow: &Flow<'_>) -> Result<Wanted, Outcome> {
    let decimals = flow.facts.map_or(2, |facts| facts.decimals);
    let amount = minor("ReversedAmount", reversal.reversed_amount, decimals)?;
    if amount == Some(0) {
        return Err(malformed("ReversedAmount", "must be above zero; omit it for the whole amount"));
    }
    let data = reversal.sale_data.as_ref().and_then(|data| data.sale_to_acquirer_data.as_ref());
    let acquirer = acquirer::read(data, flow.settings)?;
    if acquirer.reserves == Some(true) || acquirer.asks_tip {
        return Err(acquirer::refused("authorisationType, manualCapture, tenderOption"));
    }
    let mut begin = Begin::new("", Kind::Reversal, None);
    operator(&mut begin, reversal.sale_data.as_ref().and_then(|data| data.operator_id.as_deref()))?;
    let original = Some(named(Some(&reversal.original_poi_transaction), flow)?);
    let currency = acquirer.currency;
    Ok(Wanted { begin, how: How::Reversal, original, amount, currency, payment_type: None })
}

/// Returns the terminal's name of the original, if it belongs to this till and this terminal.
fn named(original: Option<&OriginalPoiTransaction>, flow: &Flow<'_>) -> Result<TransactionIdentification, Outcome> {
    let original = original.ok_or_else(|| malformed("OriginalPOITransaction", "is missing"))?;
    let elsewhere = original.sale_id.as_ref().is_some_and(|sale_id| *sale_id != flow.settings.sale_id)
        || original.poi_id.as_ref().is_some_and(|poi_id| *poi_id != flow.settings.poi_id);
    if elsewhere {
        let why = "OriginalPOITransaction: it belongs to another till or terminal; send the request there";
        return Err(because(ErrorCondition::NotFound, &why));
    }
    let named = original.poi_transaction_id.clone();
    named.ok_or_else(|| malformed("OriginalPOITransaction.POITransactionID", "is missing"))
}

impl Wanted {
    /// Returns the original's number in the journal, with which its name begins.
    pub(super) fn original_number(&self) -> Option<u64> {
        let (number, _) = parts(&self.original.as_ref()?.transaction_id);
        number
    }

    /// Returns whether a transaction is the original. The payment ID follows the number in its name. Without a payment
    /// ID, the time must match.
    pub(super) fn is_original(&self, sale: &Sale) -> bool {
        let Some(original) = &self.original else { return false };
        let (number, payment) = parts(&original.transaction_id);
        number == Some(sale.number)
            && match payment {
                Some(payment) => sale.payment_id.as_deref() == Some(payment),
                None => sale.started_at == original.time_stamp,
            }
    }

    /// Builds the request to begin a transaction that refers to the original.
    pub(super) fn following(&self, original: &Sale, flow: &Flow<'_>) -> Result<Begin, Outcome> {
        let decimals = flow.facts.map_or(2, |facts| facts.decimals);
        let in_minor = |text: &str| text.parse::<Decimal>().ok().and_then(|amount| amount.to_minor(decimals).ok());
        if let Some(currency) = self.currency.as_ref().filter(|currency| **currency != original.currency) {
            let (field, is) = (
                if self.how == How::Reversal { "SaleToAcquirerData: currency" } else { "Currency" },
                &original.currency,
            );
            return Err(not_allowed(&format!("{field}: the original is in {is}, not in {currency}")));
        }
        let left = original.left.as_deref().and_then(in_minor).unwrap_or(0);
        if left == 0 {
            return Err(not_allowed(
                "nothing is left of the original: it was not approved, or was refunded or reversed",
            ));
        }
        let amount = self.amount.unwrap_or(left);
        let reserves = matches!(original.kind, Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration);
        let whole = original.approved_amount.as_deref().and_then(in_minor);
        let (kind, amount) = match self.how {
            How::Update if amount <= left => {
                return Err(not_allowed("RequestedAmount: must be the new total, above the reserved amount"));
            }
            How::Update => (Kind::Increment, Some(amount - left)),
            _ if amount > left => {
                let left = text(left, decimals);
                return Err(not_allowed(&format!("more than the original's remaining {left}")));
            }
            How::Completion => (Kind::Capture, Some(amount)),
            How::Reversal if reserves && amount < left => {
                return Err(not_allowed(
                    "ReversedAmount: a reservation is reversed as a whole; capture a part with Completion",
                ));
            }
            How::Reversal if reserves || (amount == left && whole == Some(left)) => (Kind::Reversal, None),
            How::Reversal | How::Refund | How::Alone => (Kind::Refund, Some(amount)),
        };
        let mut begin = Begin { kind, of: Some(original.reference.clone()), ..self.begin.clone() };
        begin.amount = amount.map(|amount| text(amount, decimals));
        // A transaction that refers to an original uses its currency.
        begin.currency = None;
        if kind == Kind::Capture {
            begin.parameters.insert("sequence".to_owned(), "FINAL".to_owned());
        }
        Ok(begin)
    }

    /// Compares a transaction with the request field by field, for records that do not contain the meaning of their
    /// message. A fact that is missing from the record counts as different.
    pub(super) fn agrees_with(&self, sale: &Sale, flow: &Flow<'_>) -> bool {
        let decimals = flow.facts.map_or(2, |facts| facts.decimals);
        let in_minor = |text: &str| text.parse::<Decimal>().ok().and_then(|amount| amount.to_minor(decimals).ok());
        let kept = |name: &str| sale.till_data.get(name).map(|text| unkept(text));
        let kind = match self.how {
            How::Alone => sale.kind == self.begin.kind,
            How::Refund => sale.kind == Kind::Refund,
            How::Completion => sale.kind == Kind::Capture,
            How::Reversal => matches!(sale.kind, Kind::Reversal | Kind::Refund),
            // The record contains the added amount, but not the new total.
            How::Update => false,
        };
        let amount = match self.amount {
            Some(amount) => in_minor(&sale.amount) == Some(amount),
            // The request is for the whole amount, but a refund in the records may have been partial.
            None => sale.kind == Kind::Reversal || replaces(&sale.reference),
        };
        let told = sale.tip.as_deref().and_then(in_minor).filter(|tip| *tip > 0);
        let tip = match self.begin.tip.as_deref() {
            Some("ask") => true,
            tip => tip.and_then(in_minor) == told,
        };
        let original = match (&self.original, kept(data::ORIGINAL)) {
            (Some(named), Some(kept_id)) => {
                let by_time = parts(&kept_id).1.is_none();
                named.transaction_id == kept_id
                    && (!by_time || kept(data::ORIGINAL_TIME).is_none_or(|time| time == named.time_stamp))
            }
            (named, kept_id) => named.is_none() && kept_id.is_none(),
        };
        let payment_type = kept(data::PAYMENT_TYPE);
        let same_type = self.payment_type.is_none_or(|own| payment_type.is_none_or(|kept| kept == own.as_str()));
        let currency = self.currency.as_ref().is_none_or(|currency| *currency == sale.currency);
        kind && amount && tip && original && same_type && currency
    }
}

/// Splits the terminal's name of a transaction into its number and payment ID.
fn parts(id: &str) -> (Option<u64>, Option<&str>) {
    let (number, payment) = id.split_once('.').map_or((id, None), |(number, payment)| (number, Some(payment)));
    let digits = number.len() <= 18 && number.bytes().all(|byte| byte.is_ascii_digit());
    (number.parse().ok().filter(|_| digits), payment)
}

/// Collects the data that the agent returns with the transaction, so the answer can be repeated later.
pub(super) fn till_data(request: &Request, settings: &Settings) -> BTreeMap<String, String> {
    let (payment_type, sale_reference, original) = match &request.body {
        RequestBody::Payment(payment) => (
            Some(payment.payment_type().as_str()),
            payment.sale_data.sale_reference_id.as_deref(),
            payment.payment_transaction.original_poi_transaction.as_ref(),
        ),
        RequestBody::Reversal(reversal) => {
            let data = reversal.sale_data.as_ref();
            let sale_reference = data.and_then(|data| data.sale_reference_id.as_deref());
            (None, sale_reference, Some(&reversal.original_poi_transaction))
        }
        _ => (None, None, None),
    };
    let transaction = request.body.transaction();
    let meaning = Meaning::of(request);
    let original = original.and_then(|original| original.poi_transaction_id.as_ref());
    let all = [
        (data::SERVICE_ID, Some(request.header.service_id())),
        (data::CATEGORY, Some(request.header.message_category.as_str())),
        (data::PAYMENT_TYPE, payment_type),
        (data::TRANSACTION, transaction.map(|transaction| transaction.transaction_id.as_str())),
        (data::TIME, transaction.map(|transaction| transaction.time_stamp.as_str())),
        (data::SALE_REFERENCE, sale_reference.filter(|text| text.len() <= LONGEST_ID)),
        (data::MEANING, meaning.as_ref().map(Meaning::as_str)),
        (data::ORIGINAL, original.map(|original| original.transaction_id.as_str()).filter(|id| id.len() <= LONGEST_ID)),
        (data::ORIGINAL_TIME, original.map(|it| it.time_stamp.as_str()).filter(|it| it.len() <= LONGEST_ID)),
    ];
    let mut all: BTreeMap<_, _> =
        all.into_iter().filter_map(|(name, text)| Some((name.to_owned(), kept(text?)))).collect();
    all.extend(metadata::kept(&metadata::of(request, settings).unwrap_or_default()));
    all
}

/// Encodes a till's text for storage, as short ASCII that cannot be mistaken for a card number.
fn kept(text: &str) -> String {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.bytes().filter(u8::is_ascii_digit).count() < MANY_DIGITS
        && !text.starts_with(IN_BASE64);
    if plain { text.to_owned() } else { format!("{IN_BASE64}{}", STANDARD.encode(text)) }
}

/// Decodes a stored text of the till.
pub(super) fn unkept(kept: &str) -> String {
    let text = kept.strip_prefix(IN_BASE64).and_then(|text| String::from_utf8(STANDARD.decode(text).ok()?).ok());
    text.unwrap_or_else(|| kept.to_owned())
}

/// Returns whether the reader supports this kind of input.
pub(super) fn typed(input: &InputRequest) -> bool {
    input.input_data.device == Device::CustomerInput && input.input_data.input_command == InputCommand::DecimalString
}

fn minor(field: &str, amount: Option<Decimal>, decimals: u8) -> Result<Option<u64>, Outcome> {
    let minor = amount.map(|amount| amount.to_minor(decimals)).transpose();
    minor.map_err(|error| malformed(field, &error.to_string()))
}

/// Formats an amount such as `12.34`.
fn text(minor: u64, decimals: u8) -> String {
    Decimal::from_minor(minor, decimals).map(|amount| amount.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tills_texts_are_kept_so_that_none_looks_like_a_card() {
        for text in ["27908", "2026-11-23T17:19:15.000Z", "4111111111111111", "Öl", "b64:x", "order 4711 / 12"] {
            let kept = kept(text);
            assert!(kept.is_ascii() && unkept(&kept) == text, "{text}: {kept}");
        }
        assert!(!kept("4111111111111111").contains("411111"));
        assert_eq!(unkept("b64:%%"), "b64:%%");
    }

    #[test]
    fn the_terminals_name_of_a_transaction_is_its_number_and_its_payment() {
        assert_eq!(parts("17.8ac7a4a1"), (Some(17), Some("8ac7a4a1")));
        assert_eq!(parts("17"), (Some(17), None));
        for id in ["", "x.1", "-1", "+1", "99999999999999999999"] {
            assert_eq!(parts(id).0, None, "{id}");
        }
    }
}
