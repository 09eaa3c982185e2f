//! The export of the facts that a dispute about a transaction needs: the amount, the time, the means of payment, the
//! answers of the gateway and the card, and the outcome.
//!
//! Each exported field is chosen explicitly, so a new field of a record is not exported automatically. The card number
//! is masked, and external texts are searched for card numbers once more. Parameters and other fields of the gateway's
//! answer are not exported.

use chrono::{DateTime, SecondsFormat, Utc};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::Value;

use pos_core::transaction::{HostFacts, Outcome, Record, Standing, Transaction};
use pos_terms::card::{CardFacts, Cryptogram, Cvm, mask_pans};
use pos_terms::transaction::{PaymentId, SaleNumber, Who};

use super::chain::Head;
use super::db::{STEPS_OF_SALE, failed};
use super::reading::Reading;
use super::{Error, open};

/// One exported transaction.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedTransaction<'a> {
    number: i64,
    till: &'a str,
    reference: &'a str,
    #[serde(flatten)]
    told: SaleFacts<'a>,
    records: Vec<Entry<'a>>,
}

/// The facts from a transaction's records, or the error if this version cannot read them.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SaleFacts<'a> {
    Read(Box<Facts<'a>>),
    #[serde(rename_all = "camelCase")]
    Unreadable {
        unreadable: String,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts<'a> {
    /// The kind (`sale`, `refund`, …), in addition to the gateway's own name.
    kind: &'static str,
    /// True for a training transaction, which moves no money.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    training: bool,
    payment_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_payment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_number: Option<SaleNumber>,
    currency: String,
    /// The requested amount, before a tip.
    amount: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tip: Option<String>,
    /// The amount to charge.
    total: String,
    terminal_id: &'a str,
    merchant_transaction_id: &'a str,
    started_at: String,
    local_time: &'a str,
    /// The person or program that requested the transaction; absent if it was not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a Who>,
    /// `ended`, or the current state.
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<String>,
    /// The reason, one word from a closed list (`pos-agent reasons`).
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The external detail, or the sentence that an earlier version wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Absent if an earlier version recorded the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<Card<'a>>,
    #[serde(skip_serializing_if = "Host::is_empty")]
    host: Host<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Card<'a> {
    entry_mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_pan: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pan_sequence_number: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cvm: Option<Cvm>,
    /// The kind and the value of the cryptogram. An issuer may ask for it as the card's proof of its approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    cryptogram: Option<Cryptogram>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tvr: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tsi: Option<&'a str>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Host<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brand: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acquirer_code: Option<&'a str>,
    /// The issuer's authorisation code.
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clearing_identifier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pos_timestamp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ndc: Option<&'a str>,
}

/// One record, with its time and its position in the chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<i64>,
    is: &'static str,
    /// The id of the payment that the record names.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reversal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The person who caused the record, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a Who>,
}

/// The last line of an export. If it is missing, the file was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Closing {
    /// Always true.
    pub end: bool,
    /// The number of transactions before this line.
    pub transactions: u64,
    /// The number of these transactions that this version cannot read.
    pub unreadable: u64,
    /// The number of the last entry of the chain; absent if the journal has no entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<i64>,
    /// The hash of that entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

/// A step that was read from the journal.
struct Step {
    unix_ms: i64,
    entry: Option<i64>,
    records: Vec<Record>,
}

impl Reading {
    /// Passes the transactions with a number above `since` to `take`, oldest first. It ends early if `take` does.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn export<E>(
        &mut self,
        since: SaleNumber,
        mut take: impl FnMut(&ExportedTransaction<'_>) -> Result<(), E>,
    ) -> Result<Result<Closing, E>, Error> {
        // All reads see one moment of the journal, regardless of later writes.
        let moment = self.connection.transaction().map_err(failed)?;
        let has_chain = open::has_chain(&moment)?;
        let head = if has_chain { Some(Head::read(&moment)?) } else { None };
        let entry = if has_chain { "entry" } else { "NULL" };
        let select = format!("SELECT unix_ms, {entry}, records FROM step WHERE id >= ?1 AND id < ?2 ORDER BY id");
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        let mut sales = moment
            .prepare("SELECT number, till, reference FROM sale WHERE number > ?1 ORDER BY number")
            .map_err(failed)?;
        let mut sales = sales.query([since]).map_err(failed)?;
        let (head, entry) = (head.map(|head| head.hex()), head.map(|head| head.entry));
        let mut closing = Closing { end: true, transactions: 0, unreadable: 0, entry, head };
        while let Some(row) = sales.next().map_err(failed)? {
            let read = || -> rusqlite::Result<(i64, String, String)> { Ok((row.get(0)?, row.get(1)?, row.get(2)?)) };
            let (number, till, reference) = read().map_err(failed)?;
            let steps = steps(&moment, &select, number)?;
            let sale = steps.as_ref().map_err(Clone::clone).and_then(|steps| {
                let records: Vec<_> = steps.iter().map(|step| step.records.clone()).collect();
                Transaction::replay(&records).ok_or_else(|| "its beginning is missing".to_owned())
            });
            let told = match &sale {
                Ok(sale) => SaleFacts::Read(Box::new(facts(sale))),
                Err(cause) => {
                    closing.unreadable += 1;
                    SaleFacts::Unreadable { unreadable: cause.clone() }
                }
            };
            let records = steps.iter().flatten().flat_map(entries).collect();
            closing.transactions += 1;
            if let Err(stopped) =
                take(&ExportedTransaction { number, till: &till, reference: &reference, told, records })
            {
                return Ok(Err(stopped));
            }
        }
        Ok(Ok(closing))
    }
}

/// Returns the steps of a transaction, or the reason why they cannot be read, as text.
fn steps(moment: &Connection, select: &str, number: i64) -> Result<Result<Vec<Step>, String>, Error> {
    let mut select = moment.prepare_cached(select).map_err(failed)?;
    let first = number.saturating_mul(STEPS_OF_SALE);
    let mut rows = select.query([first, first.saturating_add(STEPS_OF_SALE)]).map_err(failed)?;
    let mut steps = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (unix_ms, entry) = (row.get(0).unwrap_or_default(), row.get(1).unwrap_or_default());
        let text = row.get_ref(2).map_err(failed)?.as_str().map_err(|error| error.to_string());
        // The parser's message is not shown, because it may repeat data from the record.
        let records = text.and_then(|text| {
            serde_json::from_str(text).map_err(|error| format!("step {} of it, column {}", steps.len(), error.column()))
        });
        match records {
            Ok(records) => steps.push(Step { unix_ms, entry, records }),
            Err(cause) => return Ok(Err(cause)),
        }
    }
    Ok(Ok(steps))
}

/// Returns the facts of a transaction, as an export contains them.
pub(super) fn exported_facts(sale: &Transaction) -> Result<Value, serde_json::Error> {
    serde_json::to_value(facts(sale))
}

/// Returns the records of one step, as an export contains them.
pub(super) fn exported_records(unix_ms: i64, records: Vec<Record>) -> Result<Value, serde_json::Error> {
    let step = Step { unix_ms, entry: None, records };
    serde_json::to_value(entries(&step).collect::<Vec<_>>())
}

fn facts(sale: &Transaction) -> Facts<'_> {
    let order = sale.order();
    let outcome = match sale.standing() {
        Standing::Ended(outcome) => Some(outcome),
        _ => None,
    };
    let approved = match outcome {
        Some(Outcome::Approved) => Some(sale.amount()),
        Some(Outcome::PartiallyApproved { amount }) => Some(*amount),
        _ => None,
    };
    let why = match sale.standing() {
        Standing::Unconfirmed { why, .. } => Some(why),
        _ => outcome.and_then(Outcome::why),
    };
    let standing = match sale.standing() {
        Standing::Waiting => "waiting-for-card",
        Standing::InProgress => "in-progress",
        Standing::AtSignature => "awaiting-signature",
        Standing::AwaitingTill { .. } => "awaiting-till",
        Standing::Unconfirmed { quarantined: Some(_), .. } => "needs-a-person",
        Standing::Unconfirmed { .. } => "unconfirmed",
        Standing::Ended(_) => "ended",
    };
    Facts {
        kind: order.kind().as_str(),
        training: order.training.is_some(),
        payment_type: order.kind().payment_type(),
        earlier_payment: order.operation.of().map(|of| of.payment.as_str()),
        earlier_number: order.operation.of().and_then(|of| of.number),
        currency: order.amount.currency().to_string(),
        amount: order.amount.decimal(),
        tip: sale.tip().map(|tip| tip.decimal()),
        total: sale.amount().decimal(),
        terminal_id: &order.terminal_id,
        merchant_transaction_id: &order.merchant_transaction_id,
        started_at: time(order.started_unix_ms),
        local_time: &order.local_time,
        by: order.by.as_ref(),
        standing,
        outcome: outcome.map(|outcome| outcome.word().as_str()),
        approved: approved.map(|amount| amount.decimal()),
        reason: why.map(|why| why.reason.as_str()),
        why: why.and_then(|why| why.detail.as_deref()).map(mask_pans),
        ended_at: sale.ended_unix_ms().map(time),
        card: sale.card().map(card),
        host: host(sale.host()),
    }
}

fn card(card: &CardFacts) -> Card<'_> {
    Card {
        entry_mode: card.entry.as_str(),
        masked_pan: card.pan.as_ref().map(pos_terms::card::MaskedPan::as_str),
        pan_sequence_number: card.pan_sequence_number,
        aid: card.aid.as_deref(),
        label: card.label.as_deref().map(mask_pans),
        cvm: card.cvm,
        cryptogram: card.cryptogram,
        tvr: card.tvr.as_deref(),
        tsi: card.tsi.as_deref(),
    }
}

impl Host<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn host(host: &HostFacts) -> Host<'_> {
    Host {
        payment_id: host.id.as_ref().map(PaymentId::as_str),
        code: host.code.as_deref(),
        description: host.description.as_deref().map(mask_pans),
        brand: host.brand.as_deref(),
        acquirer_code: host.acquirer_code.as_deref(),
        issuer_code: host.issuer_code.as_deref(),
        clearing_identifier: host.clearing_identifier.as_deref(),
        merchant_id: host.merchant_id.as_deref(),
        pos_timestamp: host.pos_timestamp.as_deref(),
        timestamp: host.timestamp.as_deref(),
        ndc: host.ndc.as_deref(),
    }
}

fn entries(step: &Step) -> impl Iterator<Item = Entry<'_>> {
    step.records.iter().map(|record| {
        let (payment, reversal, why) = match record {
            Record::HostApproved { payment, .. } => (Some(payment.as_str()), None, None),
            Record::SignatureAsked { payment, .. }
            | Record::TillAsked { payment, .. }
            | Record::ReversalAsked { payment, .. } => (Some(payment.id.as_str()), None, None),
            Record::ReversalDone { payment, reversal, .. } => (Some(payment.as_str()), Some(reversal.as_str()), None),
            Record::Reversing { why, payment, .. } => {
                (payment.as_ref().map(|payment| payment.id.as_str()), None, Some(why))
            }
            Record::Confirming { why } | Record::Quarantined { why } | Record::Held { why } => (None, None, Some(why)),
            _ => (None, None, None),
        };
        let why = why.map(|why| mask_pans(&why.to_string()));
        let by = match record {
            Record::Started { order } => order.by.as_ref(),
            Record::TillAsked { by, .. }
            | Record::TillSaid { by, .. }
            | Record::Reversing { by, .. }
            | Record::Settled { by, .. }
            | Record::Ended { by, .. } => by.as_ref(),
            _ => None,
        };
        Entry { at: time(step.unix_ms), entry: step.entry, is: record.name(), payment, reversal, why, by }
    })
}

/// Formats a time in UTC (RFC 3339).
pub(super) fn time(unix_ms: i64) -> String {
    DateTime::<Utc>::from_timestamp_millis(unix_ms)
        .map_or_else(|| unix_ms.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}
