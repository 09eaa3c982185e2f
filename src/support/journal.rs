//! The journal's part of the archive: whether the journal is intact, counts, and the latest transactions without their
//! cards.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use pos_journal::{Inspection, Reading, inspect};

use super::cleaning::Cleaning;

/// The number of transactions in the archive.
const LATEST: u64 = 200;

/// The only fields of a transaction that are included.
const FIELDS: [&str; 17] = [
    "number",
    "till",
    "reference",
    "unreadable",
    "kind",
    "paymentType",
    "earlierPayment",
    "earlierNumber",
    "currency",
    "total",
    "approved",
    "terminalId",
    "merchantTransactionId",
    "startedAt",
    "standing",
    "outcome",
    "why",
];

/// The included fields of the gateway's answer.
const HOST_FIELDS: [&str; 5] = ["paymentId", "code", "description", "acquirerCode", "clearingIdentifier"];

/// Returns the journal's parts, cleaned.
pub(super) fn parts(path: &Path, cleaning: &Cleaning) -> [(&'static str, String); 2] {
    let told = match inspect(path) {
        Ok(inspection) => seen(&inspection),
        Err(error) => json!({ "error": error.to_string() }),
    };
    let transactions =
        transactions(path, cleaning).unwrap_or_else(|error| cleaning.clean(&json!({ "error": error }).to_string()));
    [("journal.json", cleaning.clean(&format!("{told:#}\n"))), ("transactions.jsonl", transactions)]
}

fn seen(inspection: &Inspection) -> Value {
    let book = inspection.book.as_ref().map(|verdict| {
        let altered = verdict.altered.as_ref().map(|altered| {
            json!({ "entry": altered.entry, "step": altered.step, "number": altered.number, "why": altered.why })
        });
        json!({
            "altered": altered,
            "transactions": verdict.transactions,
            "steps": verdict.steps,
            "marks": verdict.marks,
            "pruned": verdict.pruned,
            "enteredLater": verdict.entered_later,
            "notEntered": verdict.not_entered,
            "unreadable": verdict.unreadable,
            "entry": verdict.head.map(|head| head.entry),
            "head": verdict.head.map(|head| head.hex()),
        })
    });
    let sales = match &inspection.sales {
        Ok(sales) => json!({
            "count": sales.count,
            "open": sales.open,
            "forAPerson": sales.quarantined,
            "ofALaterProgram": sales.set_aside.len(),
            "latestUnixMs": sales.latest.unix_ms,
        }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    json!({
        "format": inspection.format,
        "knownFormat": inspection.known_format,
        "mode": inspection.mode,
        "damage": inspection.damage,
        "book": book,
        "transactions": sales,
    })
}

/// Returns the latest transactions, one JSON object per line, oldest first.
fn transactions(path: &Path, cleaning: &Cleaning) -> Result<String, String> {
    let mut reading = Reading::open(path).map_err(|error| error.to_string())?;
    let last = reading.last_number().map_err(|error| error.to_string())?;
    let mut text = String::new();
    let told = reading.export(last.saturating_sub(LATEST), |transaction| {
        let whole = serde_json::to_value(transaction)?;
        let mut kept = picked(&whole, &FIELDS);
        kept["host"] = picked(&whole["host"], &HOST_FIELDS);
        cleaning.clean_transaction(&mut kept);
        let _ = writeln!(text, "{kept}");
        Ok::<(), serde_json::Error>(())
    });
    told.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    Ok(text)
}

fn picked(whole: &Value, fields: &[&str]) -> Value {
    let found = fields.iter().filter_map(|field| Some(((*field).to_owned(), whole.get(field)?.clone())));
    Value::Object(found.collect())
}
