//! The gateway itself, without a wire: a payment in, what to answer (or how to fail) out. What comes after a payment is in
//! `follow_up`.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Utc};
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
    pub(super) records: Vec<Record>,
    key_sets: KeySets,
    issuer: Issuer,
    redirected: HashSet<String>,
    /// Outcomes that a test has ordered for the next requests.
    pub(super) forced: VecDeque<Outcome>,
}

/// What is answered about an entry of the ledger.
pub(super) struct Record {
    pub(super) answer: Value,
    pub(super) at: DateTime<Utc>,
    /// Questions that do not find it yet.
    pub(super) hidden: u8,
    /// What is answered once it is asked for the second time.
    pub(super) later: Option<(u8, Value)>,
    /// What its first reversal meets.
    pub(super) reversal_fault: Option<Outcome>,
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
    pub(super) fn before(&mut self, outcome: Outcome, key: &str, path: &str) -> Option<Delivery> {
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
            (Outcome::LongScripts, Some(chip)) => {
                icc_response.map(|response| response + &self.issuer.more_scripts(&card.pan, chip))
            }
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
                hidden: if outcome == Outcome::LateApproval && state == State::Approved { 2 } else { 0 },
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

    pub(super) fn remember(&mut self, entry: Entry, record: Record) {
        self.ledger.push(entry);
        self.records.push(record);
    }

    pub(super) fn check_entity(&self, form: &Form, required: bool) -> Result<(), Invalid> {
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
pub(super) fn after(outcome: Outcome, answer: Value) -> Delivery {
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

fn form_amount(request: &Request) -> &str {
    request.form.get("amount").unwrap_or_default()
}

fn in_two_decimals(amount: Amount) -> Result<String, Invalid> {
    amount.to_gateway().map_err(|why| Invalid::new("amount", why.to_string()))
}
