//! Answers as they are shown in the interface's description. Each is read back by the type that it is an example of.

use serde_json::{Value, json};

/// A sale that has ended well.
pub(super) fn sale() -> Value {
    json!({
        "till": "till-1", "reference": "order-4711", "by": { "token": "till-1" }, "number": 17, "kind": "sale",
        "left": "12.34", "amount": "12.34", "currency": "EUR", "state": "ended", "outcome": "approved",
        "approvedAmount": "12.34", "text": "APPROVED", "startedAt": "2026-11-20T12:34:56Z",
        "endedAt": "2026-11-20T12:35:04Z", "replayed": false, "paymentId": "8ac7a4a18b2c3d4e018b2c3d4e5f6789",
        "code": "000.000.000", "approvalCode": "012345",
        "card": { "entryMode": "CONTACTLESS_CHIP", "brand": "VISA", "last4": "0119", "aid": "A0000000031010" },
    })
}

/// The same before the card.
pub(super) fn begun() -> Value {
    json!({
        "till": "till-1", "reference": "order-4711", "by": { "token": "till-1" }, "number": 17, "kind": "sale",
        "amount": "12.34", "currency": "EUR", "state": "waiting-for-card", "text": "waiting for a card",
        "startedAt": "2026-11-20T12:34:56Z", "replayed": false,
    })
}

/// The same when it is asked for again.
pub(super) fn replayed() -> Value {
    let mut sale = sale();
    sale["replayed"] = true.into();
    sale
}

/// The same when it was cancelled before the card.
pub(super) fn cancelled() -> Value {
    let mut sale = begun();
    let cancelled = json!({
        "cancel": "in-time", "cancelText": "cancelled in time: nothing is charged", "state": "ended",
        "outcome": "cancelled", "reason": "till-cancelled", "text": "CANCELLED", "endedAt": "2026-11-20T12:35:01Z",
    });
    let more = cancelled.as_object().into_iter().flatten();
    more.for_each(|(field, value)| sale[field] = value.clone());
    sale
}

/// The sums of a day with one sale.
pub(super) fn totals() -> Value {
    let sum = json!({ "kind": "sale", "currency": "EUR", "count": 1, "sum": "12.34" });
    let visa = json!({ "kind": "sale", "scheme": "VISA", "currency": "EUR", "count": 1, "sum": "12.34" });
    json!({
        "terminalId": "4711", "open": [], "since": 16, "next": 17, "carried": [], "kinds": [sum], "schemes": [visa],
        "tips": [], "declined": 0, "takenBack": 0, "cancelled": 0, "notSent": 0,
    })
}

/// A terminal that works.
pub(super) fn status() -> Value {
    json!({
        "version": "1.0.0", "terminalId": "4711", "currency": "EUR", "ready": true, "busy": false, "attention": [],
        "reader": { "state": "ready", "text": "Miura M010 001-12345", "serial": "001-12345", "model": "M010" },
        "gateway": { "state": "answers", "text": "answers", "url": "https://gateway.example" },
        "printers": [{ "name": "printer-1", "port": "/dev/pos/printer", "state": "ready", "text": "ok", "waiting": 0 }],
        "clock": { "state": "ready", "text": "the board's" },
        "journal": { "state": "ready", "text": "written", "freeBytes": 4_000_000_000_u64 },
        "unconfirmed": [],
    })
}

/// A receipt, in 32 columns.
pub(super) const RECEIPT: &str = "\
          CORNER SHOP
          ** SALE **
TOTAL                  12.34 EUR
            APPROVED
";
