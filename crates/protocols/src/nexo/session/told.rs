//! The answer to the till about a transaction.
//!
//! | outcome | Result | ErrorCondition |
//! |---|---|---|
//! | approved | Success | |
//! | approved in part | Partial | |
//! | declined | Failure | Refusal |
//! | cancelled by the customer, or no card in time | Failure | Cancel |
//! | cancelled by a till | Failure | Aborted |
//! | not sent: the gateway | Failure | UnreachableHost |
//! | not sent: the card, the reader, any other reason | Failure | InvalidCard, UnavailableDevice, Aborted |
//! | reversed by the terminal | Failure | Aborted |
//! | not known yet | Failure | UnreachableHost; TransactionStatus answers InProgress until the outcome is known |

use super::flow::Flow;
use super::metadata;
use super::receipt_keys::keyed;
use super::wanted::{data, unkept};
use crate::lines::wrapped;
use crate::nexo::additional;
use crate::nexo::enums::{
    AuthenticationMethod, Category, DocumentQualifier, EntryMode, ErrorCondition, PaymentInstrumentType, PaymentType,
    TokenRequestedType, Words,
};
use crate::nexo::header::Header;
use crate::nexo::number::Decimal;
use crate::nexo::receipt::{Line, PaymentReceipt, Profile};
use crate::nexo::request::{Request, RequestBody};
use crate::nexo::response::{
    AmountsResp, PaymentAcquirerData, PaymentResponse, PaymentResult, RepeatedBody, RepeatedMessageResponse,
    ResponseBody, ReversalResponse, TransactionStatusResponse,
};
use crate::nexo::shared::{
    CardData, OriginalPoiTransaction, Outcome, PaymentInstrumentData, PaymentToken, PoiData, SaleData,
    TransactionIdentification,
};
use pos_till_api::{Copy, Receipt, RowIs, Sale, State};

/// Returns the ServiceID of the message that began a transaction.
pub(super) fn service_id_of(sale: &Sale) -> Option<String> {
    sale.till_data.get(data::SERVICE_ID).map(|text| unkept(text))
}

/// The transaction of a request, with the receipts read so far.
pub(super) struct TransactionReport<'a> {
    pub(super) request: &'a Request,
    pub(super) sale: &'a Sale,
    pub(super) receipts: &'a [Receipt],
}

/// Builds the answer that contains the outcome.
pub(super) fn body(told: &TransactionReport<'_>, flow: &Flow<'_>) -> Option<ResponseBody> {
    match &told.request.body {
        RequestBody::Payment(payment) => {
            Some(ResponseBody::Payment(Box::new(payment_response(payment.sale_data.returned(), told, flow))))
        }
        RequestBody::Reversal(reversal) => {
            let original = reversal.original_poi_transaction.clone();
            Some(ResponseBody::Reversal(Box::new(reversal_response(Some(original), told, flow))))
        }
        RequestBody::TransactionStatus(status) => {
            Some(ResponseBody::TransactionStatus(Box::new(TransactionStatusResponse {
                outcome: Outcome::success(),
                message_reference: status.message_reference.clone(),
                repeated_message_response: Some(repeated(told, flow)),
            })))
        }
        _ => None,
    }
}

/// Builds the answer to an earlier message from the terminal's current record.
fn repeated(told: &TransactionReport<'_>, flow: &Flow<'_>) -> RepeatedMessageResponse {
    let sale = told.sale;
    let kept = |name: &str| sale.till_data.get(name).map(|text| unkept(text));
    let category = kept(data::CATEGORY).and_then(|word| Category::from_word(&word)).unwrap_or(Category::Payment);
    let header = &told.request.header;
    let service_id = kept(data::SERVICE_ID).unwrap_or_default();
    let message_header =
        Header::request(category, &service_id, header.sale_id.as_deref().unwrap_or_default(), &header.poi_id)
            .response();
    let of = |id: &str, time: &str| {
        Some(TransactionIdentification { transaction_id: kept(id)?, time_stamp: kept(time).unwrap_or_default() })
    };
    let body = if category == Category::Reversal {
        let original = of(data::ORIGINAL, data::ORIGINAL_TIME)
            .map(|id| OriginalPoiTransaction { poi_transaction_id: Some(id), ..OriginalPoiTransaction::default() });
        RepeatedBody { payment_response: None, reversal_response: Some(reversal_response(original, told, flow)) }
    } else {
        let mut sale_data = SaleData::new(of(data::TRANSACTION, data::TIME).unwrap_or_default());
        sale_data.sale_reference_id = kept(data::SALE_REFERENCE);
        RepeatedBody { payment_response: Some(payment_response(sale_data, told, flow)), reversal_response: None }
    };
    RepeatedMessageResponse { message_header, repeated_response_message_body: body }
}

/// Returns the outcome, with human-readable text and with the till's own texts.
fn outcome(told: &TransactionReport<'_>, flow: &Flow<'_>) -> Outcome {
    let sale = told.sale;
    use pos_till_api::Outcome as Ended;
    let reason = sale.reason.as_deref().unwrap_or_default();
    let failure = Outcome::failure;
    let outcome = match (sale.state, sale.outcome) {
        (State::Ended, Some(Ended::Approved)) => Outcome::success(),
        (State::Ended, Some(Ended::PartiallyApproved)) => Outcome::partial(),
        (State::Ended, Some(Ended::Declined)) => failure(ErrorCondition::Refusal),
        (State::Ended, Some(Ended::Cancelled)) => failure(match reason {
            "till-cancelled" | "terminal-stopped" => ErrorCondition::Aborted,
            "card-left-in" => ErrorCondition::InsertedCard,
            _ => ErrorCondition::Cancel,
        }),
        (State::Ended, Some(Ended::NotSent)) => failure(match reason {
            "card-unreadable" | "card-gone" => ErrorCondition::InvalidCard,
            reason if reason.starts_with("reader-") => ErrorCondition::UnavailableDevice,
            reason if reason.starts_with("gateway-") => ErrorCondition::UnreachableHost,
            _ => ErrorCondition::Aborted,
        }),
        (State::Ended, Some(Ended::Reversed)) => failure(ErrorCondition::Aborted),
        _ => failure(ErrorCondition::UnreachableHost),
    };
    let charged = match (sale.state, sale.outcome) {
        (State::Ended, Some(Ended::Approved | Ended::PartiallyApproved)) => "yes",
        (State::Ended, Some(Ended::Declined | Ended::Cancelled | Ended::NotSent | Ended::Reversed)) => "no",
        _ => "unknown",
    };
    let pairs = [
        ("message", Some(sale.text.as_str())),
        ("carriedOut", Some(charged)),
        ("reason", sale.reason.as_deref()),
        ("resultCode", sale.code.as_deref()),
        ("statusText", sale.status_text.as_deref()),
        // Tills that were made for Adyen's terminals read these two.
        ("pspReference", sale.payment_id.as_deref()),
        ("cardType", sale.card.as_ref().and_then(|card| card.brand.as_deref())),
    ];
    let outcome = outcome.with(additional::write(pairs.into_iter().filter_map(|(name, text)| Some((name, text?)))));
    // A record of an earlier version has no texts of the till.
    let metadata = metadata::unkept(&sale.till_data)
        .unwrap_or_else(|| metadata::of(told.request, flow.settings).unwrap_or_default());
    metadata::with(outcome, &metadata)
}

/// Returns the terminal's name of a transaction: its number, and then the payment ID at the gateway if there is one.
/// The payment ID keeps the name unique when the numbers restart.
fn poi_data(sale: &Sale) -> PoiData {
    let id = match &sale.payment_id {
        Some(payment) => format!("{}.{payment}", sale.number),
        None => sale.number.to_string(),
    };
    let poi_transaction_id = TransactionIdentification { transaction_id: id, time_stamp: sale.started_at.clone() };
    PoiData { poi_transaction_id, poi_reconciliation_id: None }
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap_or(Decimal::ZERO)
}

fn payment_response(sale_data: SaleData, told: &TransactionReport<'_>, flow: &Flow<'_>) -> PaymentResponse {
    let sale = told.sale;
    let outcome = outcome(told, flow);
    let known = sale.state == State::Ended;
    PaymentResponse {
        payment_result: known.then(|| payment_result(sale, flow)),
        poi_data: Some(poi_data(sale)),
        payment_receipt: receipts(told, flow),
        sale_data,
        outcome,
    }
}

fn reversal_response(
    original: Option<OriginalPoiTransaction>,
    told: &TransactionReport<'_>,
    flow: &Flow<'_>,
) -> ReversalResponse {
    let sale = told.sale;
    let done = matches!(sale.outcome, Some(pos_till_api::Outcome::Approved | pos_till_api::Outcome::PartiallyApproved));
    let reversed = sale.approved_amount.as_deref().unwrap_or(&sale.amount);
    ReversalResponse {
        outcome: outcome(told, flow),
        poi_data: Some(poi_data(sale)),
        original_poi_transaction: original,
        reversed_amount: (done && sale.state == State::Ended).then(|| decimal(reversed)),
        payment_receipt: receipts(told, flow),
    }
}

/// Returns how the cardholder was verified. The list is empty if no verification was requested.
fn authentication(card: &pos_till_api::Card) -> Vec<AuthenticationMethod> {
    use AuthenticationMethod::{OfflinePin, OnlinePin, PaperSignature, UnknownMethod};
    match card.verification.as_deref() {
        Some("online-pin") => vec![OnlinePin],
        Some("offline-pin") => vec![OfflinePin],
        Some("signature") => vec![PaperSignature],
        Some("offline-pin-and-signature") => vec![OfflinePin, PaperSignature],
        Some("none") | None => Vec::new(),
        // The customer was verified on their own device, or by a method that this version does not know.
        Some(_) => vec![UnknownMethod],
    }
}

fn payment_result(sale: &Sale, flow: &Flow<'_>) -> PaymentResult {
    let approved =
        matches!(sale.outcome, Some(pos_till_api::Outcome::Approved | pos_till_api::Outcome::PartiallyApproved));
    let payment_type = sale.till_data.get(data::PAYMENT_TYPE).map(|text| unkept(text));
    let payment_type = payment_type.and_then(|word| PaymentType::from_word(&word)).unwrap_or(PaymentType::Normal);
    let amount = sale.approved_amount.as_deref().filter(|_| approved);
    PaymentResult {
        payment_type: Some(payment_type),
        payment_instrument_data: sale.card.as_ref().map(|card| PaymentInstrumentData {
            payment_instrument_type: PaymentInstrumentType::Card,
            card_data: Some(card_data(card, sale.registration.as_deref().filter(|_| approved))),
        }),
        amounts_resp: Some(AmountsResp {
            currency: Some(sale.currency.clone()),
            authorized_amount: amount.map_or(Decimal::ZERO, decimal),
            tip_amount: sale.tip.as_deref().filter(|_| approved).map(decimal),
        }),
        online_flag: Some(sale.code.is_some()),
        authentication_method: sale.card.as_ref().filter(|_| approved).map_or_else(Vec::new, authentication),
        payment_acquirer_data: flow.facts.map(|facts| PaymentAcquirerData {
            merchant_id: facts.merchant.clone(),
            acquirer_poi_id: facts.terminal_id.clone(),
            acquirer_transaction_id: sale.payment_id.clone().map(|id| TransactionIdentification {
                transaction_id: id,
                time_stamp: sale.ended_at.clone().unwrap_or_else(|| sale.started_at.clone()),
            }),
            approval_code: sale.approval_code.clone().filter(|_| approved),
        }),
    }
}

fn card_data(card: &pos_till_api::Card, registration: Option<&str>) -> CardData {
    let entry_mode = match card.entry_mode.as_str() {
        "ICC" => vec![EntryMode::Icc],
        "NFC_ICC" | "NFC_MAGSTRIPE" => vec![EntryMode::Contactless],
        "MAGSTRIPE" | "MAGSTRIPE_AS_FALLBACK" => vec![EntryMode::MagStripe],
        "MANUAL" => vec![EntryMode::Keyed],
        _ => Vec::new(),
    };
    CardData {
        payment_brand: card.brand.clone(),
        masked_pan: card.last4.as_deref().map(|last4| format!("**** **** **** {last4}")),
        entry_mode,
        payment_token: registration.map(|registration| PaymentToken {
            token_requested_type: TokenRequestedType::Customer,
            token_value: registration.to_owned(),
            expiry_date_time: None,
        }),
        ..CardData::default()
    }
}

fn receipts(told: &TransactionReport<'_>, flow: &Flow<'_>) -> Vec<PaymentReceipt> {
    let wanted = |whose: DocumentQualifier| match &told.request.body {
        RequestBody::TransactionStatus(status) => {
            status.document_qualifier.is_empty() || status.document_qualifier.contains(&whose)
        }
        _ => true,
    };
    let width = usize::from(flow.settings.width);
    let each = told.receipts.iter().map(|receipt| {
        let whose = match receipt.copy {
            Copy::Merchant => DocumentQualifier::CashierReceipt,
            Copy::Customer => DocumentQualifier::CustomerReceipt,
        };
        let signed = receipt.rows.iter().any(|row| row.is == RowIs::SignatureLine);
        let lines: Vec<Line> = match flow.settings.profile {
            Profile::Adyen => {
                let terminal_id = flow.facts.map_or("", |facts| facts.terminal_id.as_str());
                keyed(receipt, told.sale, terminal_id)
            }
            Profile::Plain => receipt.rows.iter().flat_map(|row| lines_of(row, width)).collect(),
        };
        (
            whose,
            PaymentReceipt::new(whose, signed && receipt.copy == Copy::Merchant, &lines, flow.settings.profile, width),
        )
    });
    each.filter(|(whose, _)| wanted(*whose)).map(|(_, receipt)| receipt).collect()
}

fn lines_of(row: &pos_till_api::Row, width: usize) -> Vec<Line> {
    let lines = |text: &str| wrapped(text, width).into_iter().map(|line| Line::text(&line)).collect::<Vec<_>>();
    let centred = |text: &str| lines(text).into_iter().map(Line::centred).collect::<Vec<_>>();
    match row.is {
        RowIs::Rule => vec![Line::text(&"-".repeat(width))],
        RowIs::Left | RowIs::Other => lines(&row.text),
        RowIs::Centred => centred(&row.text),
        RowIs::Bold | RowIs::Large | RowIs::Amount => centred(&row.text).into_iter().map(Line::bold).collect(),
        RowIs::Pair if row.value.chars().count() > width => [lines(&row.text), lines(&row.value)].concat(),
        RowIs::Pair => vec![Line::pair(&row.text, &row.value)],
        RowIs::Status => row.text.split('\n').flat_map(lines).collect(),
        RowIs::SignatureLine => vec![Line::gap(), Line::gap(), Line::text(&"_".repeat(width)), Line::text(&row.text)],
    }
}
