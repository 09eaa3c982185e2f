//! Look-ups of payments by id, or by a query with filters.
//!
//! The gateway checks the form and the entity. The two dates must be sent together and in order, and never with a
//! reference. Except for the literal rules, the host rules (`host_rules`) also require at least one filter.

use chrono::NaiveDateTime;
use serde_json::json;

use super::books::SearchFilter;
use super::delivery::Delivery;
use super::envelope;
use super::form::{self, Form};
use super::host::Host;
use super::invalid::Invalid;
use super::refusal::Refusal;

/// The default limit on transactions in an answer (behaviour: Limits).
const LIMIT: u32 = 100;

impl Host {
    /// Handles `GET /v1/payments/{id}`.
    pub(super) fn retrieve(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, false)?;
        let booking = self.books.find(id)?.ok_or(Refusal::NotFound)?;
        let payment = self.ask(booking)?.ok_or(Refusal::NotFound)?;
        // Each answer has a separate time stamp.
        Ok(Delivery::Answer(200, envelope::stamped(payment, self.clock.now())))
    }

    /// Handles `GET /v1/query` with its query string and `POST /v1/query` with its body. The interface does not say
    /// which method is right. The answer lists the found payments in the order of their times, and then their
    /// follow-ups.
    pub(super) fn query(&mut self, asked: &[u8]) -> Result<Delivery, Refusal> {
        let form = Form::parse(asked, form::QUERY, self.reading())?;
        self.check_entity(&form, true)?;
        let time = |name: &str| form.get(name).map(|text| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S"));
        let frame = match (time("date.from"), time("date.to")) {
            (None, None) => None,
            (Some(Ok(from)), Some(Ok(to))) if from <= to => {
                Some((from.and_utc().timestamp(), to.and_utc().timestamp()))
            }
            _ => {
                return Err(Invalid::new(
                    "date.from",
                    "date.from and date.to must be sent together, date.from before date.to",
                )
                .into());
            }
        };
        let reference = form.get("merchantTransactionId");
        // Every filter is optional (data-model: Query parameters). The form checks that a reference is not sent with
        // dates. Without a filter, the answer would be the whole ledger. The literal rules allow that, but hardly any
        // caller wants it.
        let filters = ["merchantTransactionId", "date.from", "paymentTypes", "paymentMethods", "shortId"];
        if !self.host_rules().is_literal() && filters.iter().all(|name| form.get(name).is_none()) {
            let why = "a query needs at least one filter: this one, date.from and date.to, paymentTypes, paymentMethods or shortId";
            return Err(Invalid::new("merchantTransactionId", why).into());
        }
        let wanted = SearchFilter {
            reference,
            frame,
            kinds: form.get("paymentTypes").map(|list| format!(",{list},")),
            methods: form.get("paymentMethods").map(|list| format!(",{list},")),
            short_id: form.get("shortId"),
            with_linked: form.get("includeLinkedTransactions") == Some("true"),
            limit: form.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(LIMIT),
        };
        let found = self.books.search(&wanted)?;
        let mut payments = Vec::with_capacity(found.len());
        for booking in found {
            payments.extend(self.ask(booking)?);
        }
        // In a query, the type of a stored card is RG. A stored card has no short id.
        let wants_them = form.get("paymentTypes").is_none_or(|list| list.split(',').any(|kind| kind == "RG"));
        if wants_them && wanted.short_id.is_none() {
            let most = usize::try_from(wanted.limit).unwrap_or(usize::MAX).saturating_sub(payments.len());
            for (id, reference) in self.books.stored_alone(&wanted, most)? {
                let (code, description, _) = envelope::approved(None);
                let mut stored =
                    json!({ "id": id, "paymentType": "RG", "result": envelope::result(code, description) });
                if !reference.is_empty() {
                    stored["merchantTransactionId"] = json!(reference);
                }
                payments.push(envelope::stamped(stored, self.clock.now()));
            }
        }
        Ok(envelope::list(payments))
    }
}
