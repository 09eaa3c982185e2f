//! The gateway itself, without a wire: a request in, what to answer (or how to fail) out.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::{Value, json};

use super::answer::{self, result};
use super::form::{self, Form, Invalid};
use super::issuer::{self, ChipData, Declined, Issuer};
use super::ledger::{Entry, Kind, Ledger, State};
use super::outcomes::{self, Outcome};
use super::sealed::{Card, KeySets, Sealed};
use super::{Mode, Options};
use crate::emv::track2::PinRule;
use crate::money::{Amount, Currency};

/// What becomes of a request on its line.
#[derive(Debug)]
pub(super) enum Delivery {
    /// An answer: HTTP status and JSON body.
    Answer(u16, Value),
    /// An answer with any body.
    Raw(u16, Vec<u8>),
    /// The head and half of the body, then the line is cut.
    Half(Vec<u8>),
    /// HTTP 307 to this address.
    Redirect(String),
    /// Nothing; the line stays open.
    Silence,
    /// Nothing; the line is cut.
    Cut,
}

/// The host's memory.
pub(super) struct Host {
    options: Arc<Options>,
    pub(super) ledger: Ledger,
    /// What is answered about each entry of the ledger, in the same order.
    records: Vec<Record>,
    key_sets: KeySets,
    issuer: Issuer,
    redirected: HashSet<String>,
    /// Outcomes that a test has ordered for the next requests.
    pub(super) forced: VecDeque<Outcome>,
}

struct Record {
    answer: Value,
    at: DateTime<Utc>,
    /// Questions that do not find it yet.
    hidden: u8,
    /// What is answered once it is asked for the second time.
    later: Option<(u8, Value)>,
    /// What its first reversal meets.
    reversal_fault: Option<Outcome>,
}

/// A payment request that is in order so far.
struct Request {
    form: Form,
    merchant_transaction_id: String,
    amount: Amount,
    entry_mode: String,
}

/// How a payment came out.
struct Decided {
    card: Option<Card>,
    icc_response: Option<String>,
    declined: Option<Declined>,
    amount: String,
}

impl Host {
    pub(super) fn new(options: Arc<Options>) -> Self {
        Self {
            options,
            ledger: Ledger::default(),
            records: Vec::new(),
            key_sets: KeySets::default(),
            issuer: Issuer::new(),
            redirected: HashSet::new(),
            forced: VecDeque::new(),
        }
    }

    /// `POST /v1/payments`.
    pub(super) fn payment(&mut self, body: &[u8]) -> Delivery {
        self.try_payment(body).unwrap_or_else(|invalid| self.refuse(&invalid))
    }

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

    pub(super) fn refuse(&mut self, invalid: &Invalid) -> Delivery {
        self.ledger.refuse(invalid.to_string());
        tracing::info!("gateway: refused: {invalid}");
        answer::invalid(invalid)
    }

    fn try_payment(&mut self, body: &[u8]) -> Result<Delivery, Invalid> {
        let form = Form::parse(body, form::PAYMENT)?;
        let request = self.check_payment(form)?;
        if self.options.mode == Mode::Fast {
            let decided = Decided {
                card: None,
                icc_response: Some("8A023030".to_owned()),
                declined: None,
                amount: in_two_decimals(request.amount)?,
            };
            return Ok(Delivery::Answer(200, self.enter(&request, decided, Outcome::Approve)));
        }
        let chip = self.check_reader(&request)?;
        let sealed = Sealed::from_form(&request.form)?;
        if chip.as_ref().is_some_and(|chip| chip.wants_online_pin) && !sealed.has_pin() {
            return Err(Invalid::new(
                "pos.encryptedPin.data",
                "9F34 says that a PIN was entered for the issuer, and none was sent",
            ));
        }
        let outcome = self.forced.pop_front().unwrap_or_else(|| outcomes::for_amount(form_amount(&request)));
        if let Some(instead) = self.before(outcome, &request.merchant_transaction_id, "/v1/payments") {
            return Ok(instead);
        }
        let card = self.key_sets.open(&sealed, &request.entry_mode)?;
        check_card(&card, &request, sealed.has_pin())?;
        let verdict = self.issuer.decide(&card.pan, sealed.pin(&card.pan), chip.as_ref());
        let decided = self.conclude(&request, card, chip.as_ref(), verdict.err(), outcome)?;
        let status = if decided.declined.is_some() { 400 } else { 200 };
        let declined = decided.declined.is_some();
        let answer = self.enter(&request, decided, outcome);
        Ok(if declined { Delivery::Answer(status, answer) } else { after(outcome, answer) })
    }

    /// Whatever can be checked without keys.
    fn check_payment(&self, form: Form) -> Result<Request, Invalid> {
        self.check_entity(&form, true)?;
        if form.required("paymentType")? != "DB" {
            return Err(Invalid::new("paymentType", "only DB is simulated here"));
        }
        let code = form.required("currency")?;
        let currency = Currency::from_code(code).map_err(|_| Invalid::new("currency", "not a currency of ISO 4217"))?;
        let amount = Amount::from_gateway(form.required("amount")?, currency)
            .map_err(|why| Invalid::new("amount", why.to_string()))?;
        // Required by this receiver (data-model: merchantTransactionId, "Required by some receivers").
        let merchant_transaction_id = form.required("merchantTransactionId")?.to_owned();
        form.required("pos.terminalId")?;
        let entry_mode = form.required("pos.entryMode")?.to_owned();
        Ok(Request { form, merchant_transaction_id, amount, entry_mode })
    }

    /// Whether the entry mode and the chip's data belong together, and the chip signed this amount.
    fn check_reader(&self, request: &Request) -> Result<Option<ChipData>, Invalid> {
        const ICC: &str = "pos.iccDataRequest";
        let tlvs = request.form.hex(ICC)?;
        if let Some(tlvs) = &tlvs {
            issuer::check_tlvs(tlvs)?;
        }
        let amount = request.amount;
        let psn = request.form.get("pos.panSequenceNumber");
        match (request.entry_mode.as_str(), tlvs) {
            ("ICC" | "NFC_ICC", Some(tlvs)) => {
                ChipData::read(tlvs, amount.minor(), amount.currency().numeric(), psn).map(Some)
            }
            ("ICC" | "NFC_ICC", None) => Err(Invalid::new(ICC, format!("{} needs it", request.entry_mode))),
            (mode, Some(_)) if mode != "NFC_MAGSTRIPE" => Err(Invalid::new(ICC, format!("{mode} has no chip data"))),
            _ => Ok(None),
        }
    }

    /// The faults that come before anything is done.
    fn before(&mut self, outcome: Outcome, key: &str, path: &str) -> Option<Delivery> {
        match outcome {
            Outcome::Throttle => Some(answer::throttled()),
            Outcome::ServerError { processed: false } => Some(Delivery::Raw(500, b"Internal Server Error".to_vec())),
            Outcome::Silence { processed: false } => Some(Delivery::Silence),
            Outcome::Cut { processed: false } => Some(Delivery::Cut),
            Outcome::RedirectElsewhere => Some(Delivery::Redirect(format!("https://elsewhere.test{path}"))),
            Outcome::RedirectOnce if self.redirected.insert(key.to_owned()) => {
                Some(Delivery::Redirect(path.to_owned()))
            }
            _ => None,
        }
    }

    /// Joins the issuer's word with the outcome that the amount chooses.
    fn conclude(
        &self,
        request: &Request,
        card: Card,
        chip: Option<&ChipData>,
        refused: Option<Declined>,
        outcome: Outcome,
    ) -> Result<Decided, Invalid> {
        let chosen = match outcome {
            Outcome::Decline { code, description, arc } => Some(Declined { code, description, arc }),
            _ => None,
        };
        let declined = refused.or(chosen);
        let arc = declined.map_or(*b"00", |declined| declined.arc);
        let icc_response = chip.map(|chip| self.issuer.icc_response(&card.pan, chip, arc, declined.is_none()));
        let icc_response = match (outcome, chip) {
            _ if declined.is_some() => icc_response,
            (Outcome::NoIccResponse, _) => None,
            (Outcome::MalformedIcc, Some(_)) => Some("8A0230309110ABCD".to_owned()),
            (Outcome::Contradiction, Some(chip)) => Some(self.issuer.icc_response(&card.pan, chip, *b"05", false)),
            _ => icc_response,
        };
        let minor = request.amount.minor();
        let approved = match outcome {
            _ if declined.is_some() => minor,
            Outcome::Partial => minor / 2,
            Outcome::HigherAmount => minor + 10_u64.pow(u32::from(request.amount.currency().exponent())),
            _ => minor,
        };
        let amount = Amount::from_minor(approved, request.amount.currency())
            .map_err(|why| Invalid::new("amount", why.to_string()))?;
        Ok(Decided { card: Some(card), icc_response, declined, amount: in_two_decimals(amount)? })
    }

    /// Writes a payment into the ledger; gives what is answered about it.
    fn enter(&mut self, request: &Request, decided: Decided, outcome: Outcome) -> Value {
        let id = answer::new_id();
        let (code, description, state) = match (decided.declined, outcome) {
            (Some(declined), _) => (declined.code, declined.description, State::Declined),
            (None, Outcome::Pending | Outcome::PendingThenApproved) => {
                ("000.200.000", "transaction pending", State::Pending)
            }
            (None, Outcome::StrangeCode) => ("999.999.999", "a code that no list knows", State::Approved),
            (None, _) => answer::approved(request.form.get("testMode")),
        };
        let entry = Entry {
            id,
            kind: Kind::Debit,
            merchant_transaction_id: Some(request.merchant_transaction_id.clone()),
            amount: decided.amount,
            currency: request.amount.currency().code().to_owned(),
            state,
            code: code.to_owned(),
            refers_to: None,
            entry_mode: Some(request.entry_mode.clone()),
            parameters: request.form.names(),
        };
        let later =
            answer::payment(&entry, decided.card.as_ref(), decided.icc_response.as_deref(), outcome, &request.form);
        let mut answer = later.clone();
        answer["result"] = result(code, description);
        if state == State::Pending
            && let Some(pos) = answer["pos"].as_object_mut()
        {
            pos.remove("iccDataResponse");
            pos.remove("clearing");
        }
        let approves_later = outcome == Outcome::PendingThenApproved && state == State::Pending;
        tracing::info!("gateway: {} {} {}: {code} {description}", entry.kind.as_str(), entry.amount, entry.currency);
        self.remember(
            entry,
            Record {
                answer: answer.clone(),
                at: Utc::now(),
                hidden: if outcome == Outcome::LateApproval { 2 } else { 0 },
                later: approves_later.then_some((1, later)),
                reversal_fault: match outcome {
                    Outcome::ReversalFailsOnce => Some(Outcome::ServerError { processed: false }),
                    Outcome::ReversalAnswerLost => Some(Outcome::ServerError { processed: true }),
                    _ => None,
                },
            },
        );
        answer
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

    fn remember(&mut self, entry: Entry, record: Record) {
        self.ledger.push(entry);
        self.records.push(record);
    }

    fn check_entity(&self, form: &Form, required: bool) -> Result<(), Invalid> {
        match form.get("entityId") {
            None if required => Err(Invalid::new("entityId", "required and not sent")),
            Some(entity) if entity != self.options.entity_id => {
                Err(Invalid::new("entityId", "not an entity of this access token"))
            }
            _ => Ok(()),
        }
    }
}

/// The faults that come when everything is done.
fn after(outcome: Outcome, answer: Value) -> Delivery {
    match outcome {
        Outcome::ServerError { .. } => Delivery::Raw(500, b"Internal Server Error".to_vec()),
        Outcome::Garbage => Delivery::Raw(200, b"\x00\xFF<html>{]} not the JSON you are looking for".to_vec()),
        Outcome::HalfJson => Delivery::Half(answer.to_string().into_bytes()),
        Outcome::HugeBody => {
            let mut answer = answer;
            answer["padding"] = json!("x".repeat(10 << 20));
            Delivery::Answer(200, answer)
        }
        Outcome::Silence { .. } => Delivery::Silence,
        Outcome::Cut { .. } | Outcome::LateApproval | Outcome::ReversalFailsOnce | Outcome::ReversalAnswerLost => {
            Delivery::Cut
        }
        _ => Delivery::Answer(200, answer),
    }
}

/// What the decrypted card says against the rest of the request.
fn check_card(card: &Card, request: &Request, has_pin: bool) -> Result<(), Invalid> {
    let has_chip = card.service_code.is_some_and(|code| code.has_chip());
    if request.entry_mode == "MAGSTRIPE" && has_chip {
        return Err(Invalid::new(
            "pos.entryMode",
            "the card has a chip: it must be inserted, or MAGSTRIPE_AS_FALLBACK",
        ));
    }
    let swiped = request.entry_mode.starts_with("MAGSTRIPE");
    if swiped && !has_pin && card.service_code.is_some_and(|code| code.wants_pin() == PinRule::Required) {
        return Err(Invalid::new("pos.encryptedPin.data", "the service code of this stripe demands a PIN"));
    }
    if let Some((name, _)) = request.form.iter().find(|(_, value)| value.contains(&card.pan)) {
        return Err(Invalid::new(name, "holds the card number in clear"));
    }
    match request.form.get("paymentBrand") {
        Some(brand) if Some(brand) != answer::brand(&card.pan) => {
            Err(Invalid::new("paymentBrand", "does not belong to this card number"))
        }
        _ => Ok(()),
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

fn form_amount(request: &Request) -> &str {
    request.form.get("amount").unwrap_or_default()
}

fn in_two_decimals(amount: Amount) -> Result<String, Invalid> {
    amount.to_gateway().map_err(|why| Invalid::new("amount", why.to_string()))
}
