//! Look-ups of payments: by id, or by the query with its filters.
//!
//! Checked: the form, the entity, that both dates come together and in order, and that a reference comes without dates.
//! The host rules (`host_rules`) that are not literal also require at least one filter.

use chrono::NaiveDateTime;
use serde_json::json;

use super::books::SearchFilter;
use super::delivery::Delivery;
use super::envelope;
use super::form::{self, Form};
use super::host::Host;
use super::invalid::Invalid;
use super::refusal::Refusal;

/// The most transactions in an answer, unless the query sets a number (behaviour: Limits).
const LIMIT: u32 = 100;

impl Host {
    /// Handles `GET /v1/payments/{id}`.
    pub(super) fn retrieve(&mut self, id: &str, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, false)?;
        let booking = self.books.find(id)?.ok_or(Refusal::NotFound)?;
        let payment = self.ask(booking)?.ok_or(Refusal::NotFound)?;
        // Each answer has its own time stamp.
        Ok(Delivery::Answer(200, envelope::stamped(payment, self.clock.now())))
    }

    /// Handles `GET /v1/query` by its query string and `POST /v1/query` by its body; the interface does not say which
    /// of them is right. The found payments come first, in the order of their time; their follow-ups come after them.
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
                return Err(
                    Invalid::new("date.from", "date.from and date.to must be sent together, in this order").into()
                );
            }
        };
        let reference = form.get("merchantTransactionId");
        // Every filter is optional (data-model: Query parameters); the form checks that reference and dates do not come
        // together. Without a filter the answer would be the whole ledger. The literal rules allow that, but hardly any
        // caller wants it.
        let filters = ["merchantTransactionId", "date.from", "paymentTypes", "paymentMethods", "shortId"];
        if !self.host_rules().is_literal() && filters.iter().all(|name| form.get(name).is_none()) {
            let why =
                "a query needs at least one filter: it, date.from and date.to, paymentTypes, paymentMethods or shortId";
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
        // A stored card has the query's type RG. It has no short id.
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
