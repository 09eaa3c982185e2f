//! What comes after a payment: retrieval, query and reversal.

use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::Value;

use super::answer::{self, result};
use super::form::{self, Form, Invalid};
use super::host::{Delivery, Host, Record, after};
use super::ledger::{Entry, Kind, State};
use super::outcomes::Outcome;

impl Host {
    /// `POST /v1/payments/{id}`.
    pub(super) fn referencing(&mut self, id: &str, body: &[u8]) -> Delivery {
        self.try_reversal(id, body).unwrap_or_else(|invalid| self.refuse(&invalid))
    }

    /// `GET /v1/payments/{id}`.
    pub(super) fn retrieve(&mut self, id: &str, query: &[u8]) -> Delivery {
        if let Err(invalid) = Form::parse(query, form::RETRIEVAL).and_then(|form| self.check_entity(&form, false)) {
            return self.refuse(&invalid);
        }
        match self.ledger.entries().iter().position(|entry| entry.id == id).and_then(|n| self.ask(n)) {
            Some(payment) => Delivery::Answer(200, payment),
            None => answer::not_found(),
        }
    }

    /// `GET /v1/query`.
    pub(super) fn query(&mut self, query: &[u8]) -> Delivery {
        self.try_query(query).unwrap_or_else(|invalid| self.refuse(&invalid))
    }

    fn try_reversal(&mut self, id: &str, body: &[u8]) -> Result<Delivery, Invalid> {
        let form = Form::parse(body, form::REFERENCING)?;
        self.check_entity(&form, true)?;
        if form.required("paymentType")? != "RV" {
            return Err(Invalid::new("paymentType", "only RV is simulated here"));
        }
        if form.get("amount").is_some() != form.get("currency").is_some() {
            return Err(Invalid::new("amount", "amount and currency come together"));
        }
        let Some(n) = self.ledger.entries().iter().position(|entry| entry.id == id) else {
            return Ok(answer::not_found());
        };
        let fault = self.records[n].reversal_fault.take();
        let outcome = self.forced.pop_front().or(fault).unwrap_or(Outcome::Approve);
        if let Some(instead) = self.before(outcome, id, &format!("/v1/payments/{id}")) {
            return Ok(instead);
        }
        let payment = self.ledger.entries()[n].clone();
        if let Some(refusal) = cannot_be_reversed(&payment, &form) {
            return Ok(refusal);
        }
        if let Outcome::Decline { code, description, .. } = outcome {
            return Ok(answer::failed(code, description));
        }
        let answer = self.reverse(&payment, &form);
        Ok(after(outcome, answer))
    }

    fn reverse(&mut self, payment: &Entry, form: &Form) -> Value {
        let (code, description, state) = answer::approved(form.get("testMode"));
        self.ledger.set_state(&payment.id, State::Reversed);
        let entry = Entry {
            id: answer::new_id(),
            kind: Kind::Reversal,
            merchant_transaction_id: form.get("merchantTransactionId").map(str::to_owned),
            state,
            code: code.to_owned(),
            refers_to: Some(payment.id.clone()),
            entry_mode: None,
            parameters: form.names(),
            ..payment.clone()
        };
        tracing::info!("gateway: RV {} {}: {code} {description}", entry.amount, entry.currency);
        let mut answer = answer::payment(&entry, None, None, Outcome::Approve, form);
        answer["result"] = result(code, description);
        let record = Record { answer: answer.clone(), at: Utc::now(), hidden: 0, later: None, reversal_fault: None };
        self.remember(entry, record);
        answer
    }

    fn try_query(&mut self, query: &[u8]) -> Result<Delivery, Invalid> {
        let form = Form::parse(query, form::QUERY)?;
        self.check_entity(&form, true)?;
        let time = |name: &str| form.get(name).map(|text| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S"));
        let frame = match (time("date.from"), time("date.to")) {
            (None, None) => None,
            (Some(Ok(from)), Some(Ok(to))) if from <= to => Some((from, to)),
            _ => return Err(Invalid::new("date.from", "date.from and date.to come together, in this order")),
        };
        let reference = form.get("merchantTransactionId");
        if reference.is_some() == frame.is_some() {
            return Err(Invalid::new("merchantTransactionId", "either it or date.from and date.to"));
        }
        let in_frame = |at: DateTime<Utc>| frame.is_none_or(|(from, to)| (from..=to).contains(&at.naive_utc()));
        let wanted = |n: &usize| {
            let entry = &self.ledger.entries()[*n];
            let matches = reference.is_none_or(|reference| entry.merchant_transaction_id.as_deref() == Some(reference));
            let kind =
                form.get("paymentTypes").is_none_or(|list| list.split(',').any(|kind| kind == entry.kind.as_str()));
            let method = form.get("paymentMethods").is_none_or(|list| list.split(',').any(|method| method == "CC"));
            matches && kind && method && form.get("shortId").is_none() && in_frame(self.records[*n].at)
        };
        let mut found: Vec<usize> = (0..self.records.len()).filter(wanted).collect();
        if form.get("includeLinkedTransactions") == Some("true") {
            let entries = self.ledger.entries();
            let ids: Vec<&str> = found.iter().map(|n| entries[*n].id.as_str()).collect();
            let linked = (0..entries.len())
                .filter(|n| entries[*n].refers_to.as_deref().is_some_and(|id| ids.contains(&id)) && !found.contains(n));
            let linked: Vec<usize> = linked.collect();
            found.extend(linked);
        }
        let limit = form.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(100);
        found.truncate(limit);
        let payments: Vec<Value> = found.into_iter().filter_map(|n| self.ask(n)).collect();
        Ok(answer::list(payments))
    }

    /// What is known about an entry now. Each question counts: some entries show themselves or are decided later.
    fn ask(&mut self, n: usize) -> Option<Value> {
        let record = &mut self.records[n];
        if record.hidden > 0 {
            record.hidden -= 1;
            return None;
        }
        match record.later.take() {
            Some((0, answer)) => {
                record.answer = answer;
                let id = self.ledger.entries()[n].id.clone();
                self.ledger.set_state(&id, State::Approved);
            }
            Some((questions, answer)) => record.later = Some((questions - 1, answer)),
            None => {}
        }
        Some(answer::stamped(self.records[n].answer.clone()))
    }
}

/// Why this payment cannot be reversed, as an answer.
fn cannot_be_reversed(payment: &Entry, form: &Form) -> Option<Delivery> {
    let failed = |code, description| Some(answer::failed(code, description));
    match (payment.kind, payment.state) {
        (Kind::Debit, State::Approved) => {}
        (Kind::Debit, State::Reversed) => {
            return failed("700.300.300", "referenced tx can not be reversed (already reversed)");
        }
        _ => return failed("700.300.700", "referenced tx can not be reversed (it is not an approved payment)"),
    }
    if form.get("currency").is_some_and(|currency| currency != payment.currency) {
        return failed("700.100.500", "referenced payment currency does not match with requested payment currency");
    }
    if form.get("amount").is_some_and(|amount| amount != payment.amount) {
        return failed("700.100.200", "non matching reference amount");
    }
    None
}
