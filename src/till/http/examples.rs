//! The example answers in the interface's description. Each is parsed with its type.

use serde_json::{Value, json};

/// Returns a sale that has ended as approved.
pub(super) fn sale() -> Value {
    json!({
        "till": "till-1", "reference": "order-4711", "by": { "token": "till-1" }, "number": 17, "receiptNumber": 17, "kind": "sale",
        "left": "12.34", "amount": "12.34", "currency": "EUR", "state": "ended", "outcome": "approved",
        "approvedAmount": "12.34", "text": "APPROVED", "startedAt": "2026-11-20T12:34:56Z",
        "endedAt": "2026-11-20T12:35:04Z", "replayed": false, "paymentId": "8ac7a4a18b2c3d4e018b2c3d4e5f6789",
        "code": "000.000.000", "approvalCode": "012345",
        "card": { "entryMode": "CONTACTLESS_CHIP", "brand": "VISA", "last4": "0119", "aid": "A0000000031010" },
    })
}

/// Returns the data of an event.
pub(super) fn step() -> Value {
    json!({ "till": "till-1", "reference": "order-4711", "step": "ended", "text": "APPROVED", "sale": sale() })
}

/// Returns the same sale before its card is read.
pub(super) fn begun() -> Value {
    json!({
        "till": "till-1", "reference": "order-4711", "by": { "token": "till-1" }, "number": 17, "receiptNumber": 17, "kind": "sale",
        "amount": "12.34", "currency": "EUR", "state": "waiting-for-card", "text": "waiting for a card", "step": "present-card", "until": "2026-11-20T12:35:56Z", "leftS": 60, "waitS": 60,
        "startedAt": "2026-11-20T12:34:56Z", "replayed": false,
    })
}

/// Returns the same sale as the answer to a repeated request.
pub(super) fn replayed() -> Value {
    let mut sale = sale();
    sale["replayed"] = true.into();
    sale
}

/// Returns the same sale, cancelled before its card is read.
pub(super) fn cancelled() -> Value {
    let mut sale = begun();
    for gone in ["step", "until", "leftS", "waitS"] {
        sale.as_object_mut().and_then(|sale| sale.remove(gone));
    }
    let cancelled = json!({
        "cancel": "in-time", "cancelText": "cancelled in time: nothing is charged", "state": "ended",
        "outcome": "cancelled", "reason": "till-cancelled", "text": "CANCELLED", "endedAt": "2026-11-20T12:35:01Z",
    });
    let more = cancelled.as_object().into_iter().flatten();
    more.for_each(|(field, value)| sale[field] = value.clone());
    sale
}

/// Returns the session of an operator who is signed in.
pub(super) fn session() -> Value {
    json!({ "session": "9f2c…", "operator": "Anna", "role": "cashier", "idleLockS": 300 })
}

/// Returns a supervisor's approval.
pub(super) fn approval() -> Value {
    json!({
        "approval": "41d7…", "supervisor": "Berta", "goodForS": 120,
        "for": {
            "kind": "refund", "reference": "refund-4711", "amount": "5.00", "currency": "EUR", "number": 17,
            "payment": "8ac7a4a18b2c3d4e018b2c3d4e5f6789",
        },
    })
}

/// Returns the sums of a day with one sale.
pub(super) fn totals() -> Value {
    let sum = json!({ "kind": "sale", "currency": "EUR", "count": 1, "sum": "12.34" });
    let visa = json!({ "kind": "sale", "scheme": "VISA", "currency": "EUR", "count": 1, "sum": "12.34" });
    json!({
        "terminalId": "4711", "open": [], "since": 16, "next": 17, "carried": [], "kinds": [sum], "schemes": [visa],
        "tips": [], "declined": 0, "takenBack": 0, "cancelled": 0, "notSent": 0,
    })
}

/// Returns the close of a day with one sale.
pub(super) fn close() -> Value {
    let moved = |name: Option<&str>| {
        let mut moved = json!({
            "currency": "EUR", "count": 1, "takenCount": 1, "givenCount": 0, "taken": "12.34", "given": "0.00",
            "net": "12.34",
        });
        if let Some(name) = name {
            moved["name"] = name.into();
        }
        moved
    };
    let sum = json!({ "kind": "sale", "currency": "EUR", "count": 1, "sum": "12.34" });
    let visa = json!({ "kind": "sale", "scheme": "VISA", "currency": "EUR", "count": 1, "sum": "12.34" });
    json!({
        "number": 7, "terminalId": "4711", "day": "2026-11-20", "till": "till-1", "reference": "Z-2026-11-20",
        "by": { "token": "till-1" }, "firstNumber": 17, "lastNumber": 17, "net": [moved(None)], "kinds": [sum],
        "schemes": [visa],
        "period": {
            "afterEntry": 812, "toEntry": 816, "from": "2026-11-19T23:04:10+01:00", "to": "2026-11-20T23:01:52+01:00",
        },
        "tills": [moved(Some("till-1"))],
        "own": [{
            "till": "till-1", "firstNumber": 17, "lastNumber": 17, "brands": [moved(Some("VISA"))],
            "schemes": [visa],
        }],
        "tips": [], "declined": 0, "takenBack": 0, "cancelled": 0, "notSent": 0,
        "open": [{
            "is": "pre-authorisation", "number": 15, "till": "till-1", "reference": "room-12",
            "kind": "pre-authorisation", "amount": "80.00", "currency": "EUR",
        }],
    })
}

/// Returns the same close as the answer to its request.
pub(super) fn close_made(replayed: bool) -> Value {
    let mut close = close();
    close["replayed"] = replayed.into();
    close
}

/// The same close as a table.
pub(super) const CLOSE_AS_TABLE: &str = "\
    close,day,section,name,kind,currency,count,amount\r\n7,2026-11-20,net,,net,EUR,1,12.34\r\n";
/// The same close as it is printed.
pub(super) const CLOSE_AS_TEXT: &str = "          CLOSE OF DAY\nClose                          7\n";

/// Returns the status of a working terminal.
pub(super) fn status() -> Value {
    json!({
        "mayTrain": true, "mayBegin": ["sale", "by-registration"], "tips": { "presets": [5, 10, 15], "custom": true, "default": 0, "timeoutS": 30 },
        "version": "1.0.0", "terminalId": "4711", "merchant": ["Corner Shop"], "currency": "EUR", "currencyNumber": 978, "currencyDecimals": 2, "language": "en",
        "waits": { "cardS": 60, "answerS": 30, "signatureS": 120 }, "ready": true, "busy": false, "attention": [],
        "reader": { "state": "ready", "text": "Miura M010 001-12345", "serial": "001-12345", "model": "M010" },
        "gateway": { "state": "answers", "text": "answers", "url": "https://gateway.example" },
        "printers": [{ "name": "printer-1", "port": "/dev/pos/printer", "state": "ready", "text": "ok", "waiting": 0 }],
        "clock": { "state": "ready", "text": "the board's" },
        "journal": { "state": "ready", "text": "written", "freeBytes": 4_000_000_000_u64 },
        "unconfirmed": [],
    })
}

/// The begin of a connection to the fleet.
pub(super) fn fleet_connection() -> Value {
    json!({
        "nonce": "5f0c7d1e9a4b4c7e8d2a6b3f1c9e0d7a",
        "counters": { ("9f".repeat(32)): 17 },
        "notSigned": 0,
        "commands": ["sale", "cancel", "confirm", "message", "archive", "restart", "log-level"],
    })
}

/// A signed command. Its signature is one of no key.
pub(super) fn fleet_envelope() -> Value {
    json!({
        "payloadType": "application/vnd.pos-agent.command+json",
        "payload": "eyJ2IjoxfQ==",
        "signatures": [{ "keyid": "9f".repeat(32), "sig": "AAAA" }],
    })
}

/// The report of a terminal that keeps the settings of its fleet.
pub(super) fn fleet_report() -> Value {
    json!({
        "version": 7, "tried": 7, "sha256": "3c".repeat(32), "state": "kept", "entry": 4711,
        "keysVersion": 2, "keys": [{ "name": "config a", "kind": "config", "public": "9f".repeat(32) }],
        "at": "2026-11-20T10:00:07Z",
    })
}

/// The result of a command that has begun a sale.
pub(super) fn fleet_result() -> Value {
    json!({
        "id": "5f0c7d1e", "command": "3c".repeat(32), "code": "refused",
        "text": "Another transaction is in progress", "at": "2026-11-20T10:00:07Z",
        "body": { "code": "busy", "status": 409 },
    })
}

/// Entries of the journal: the last of a range of removed ones, a close of day, and the end of a sale.
pub(super) fn entries() -> Value {
    let (before, hash) = ("9f".repeat(32), "3c".repeat(32));
    json!({
        "journal": "5f0c7d1e9a4b4c7e8d2a6b3f1c9e0d7a",
        "last": { "entry": 42, "hash": hash },
        "entries": [
            { "entry": 40, "hash": before, "is": "removed", "first": 1 },
            { "entry": 41, "hash": "71".repeat(32), "is": "mark", "at": "2026-11-20T09:59:00.000Z",
              "what": { "is": "close", "number": 7, "sha256": "e5".repeat(32) }, "close": close() },
            { "entry": 42, "hash": hash, "is": "step", "at": "2026-11-20T10:00:07.250Z", "number": 17,
              "till": "till-1", "reference": "order-4711",
              "records": [{ "at": "2026-11-20T10:00:07.250Z", "is": "ended" }],
              "facts": { "kind": "sale", "standing": "ended", "outcome": "approved", "total": "12.34",
                         "currency": "EUR", "approved": "12.34", "card": { "maskedPan": "************1111" } } },
        ],
    })
}

/// A receipt, in 32 columns.
pub(super) const RECEIPT: &str = "\
          CORNER SHOP
          ** SALE **
TOTAL                  12.34 EUR
            APPROVED
";

/// Returns the same receipt as data.
pub(super) fn receipt() -> Value {
    json!({
        "till": "till-1", "reference": "order-4711", "number": 17, "copy": "customer", "language": "en", "width": 32,
        "text": RECEIPT,
        "rows": [
            { "is": "large", "text": "CORNER SHOP" }, { "is": "rule" },
            { "is": "pair", "text": "TOTAL", "value": "12.34 EUR" }, { "is": "bold", "text": "APPROVED" },
        ],
    })
}

/// The same receipt as a page.
pub(super) const RECEIPT_AS_PAGE: &str = "<!DOCTYPE html>\n<html lang=\"en\">…</html>\n";
