//! The gateway itself, without a wire: a request in, what to answer (or how to fail) out. Here what is paid with a card
//! at the counter; what follows a payment is in `follow_up`, `increment`, `registration` and `query`.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::address_and_code;
use super::answer::{self, CheckLetters};
use super::booking::{Draft, chosen};
use super::books::{Books, MaskedCard};
use super::checkout::Checkouts;
use super::clear_card_data::ClearCard;
use super::clock::Clock;
use super::encrypted_data::{EncryptedData, KeySets};
use super::form::{self, Form, Invalid};
use super::host_rules::{self, ArrivedRequest, HostRules, Redirects};
use super::issuer::{self, ChipData, Declined, Issuer};
use super::ledger::Kind;
use super::outcomes::{self, Outcome};
use super::refusal::Refusal;
use super::registration_book::Registration;
use super::remote_payment::{self, Origin};
use super::schedule;
use super::standing_instruction;
use super::throttle::Throttle;
use super::webhook::Webhooks;
use super::widget::Asset;
use super::{Mode, Options};
use pos_terms::emv::track2::PinRule;
use pos_terms::money::{Amount, Currency};

/// What becomes of a request on its line.
#[derive(Debug)]
pub(super) enum Delivery {
    /// An answer: HTTP status and JSON body, to be stamped with the time.
    Answer(u16, serde_json::Value),
    /// An answer with any body.
    Raw(u16, Vec<u8>),
    /// A file of this kind.
    File(&'static str, Vec<u8>),
    /// The head and half of the body, then the line is cut.
    Half(Vec<u8>),
    /// HTTP 307 to this address.
    Redirect(String),
    /// What the hosted widget is made of.
    Asset(Asset),
    /// A page: HTTP status and HTML.
    Page(u16, String),
    /// HTTP 303: the browser goes on to this address.
    SeeOther(String),
    /// Nothing; the line stays open.
    Silence,
    /// Nothing; the line is cut.
    Cut,
}

/// The host's memory.
pub(super) struct Host {
    options: Arc<Options>,
    pub(super) books: Books,
    pub(super) clock: Clock,
    pub(super) throttle: Throttle,
    pub(super) checkouts: Checkouts,
    pub(super) key_sets: KeySets,
    /// Its own address, with a slash at its end.
    pub(super) base_url: String,
    pub(super) issuer: Issuer,
    redirected: HashSet<String>,
    pub(super) redirects: Redirects,
    /// The request under way was redirected: it is not redirected again.
    pub(super) again: bool,
    /// Between a request and its answer.
    pub(super) delay: Duration,
    /// Outcomes that a test has ordered for the next requests.
    pub(super) forced: VecDeque<Outcome>,
    /// Wakes what happens by itself.
    pub(super) called: Arc<Notify>,
    pub(super) webhooks: Webhooks,
    /// Wakes who sends to them.
    pub(super) posted: Arc<Notify>,
}

/// A payment request that is in order so far.
struct PaymentRequest {
    form: Form,
    kind: Kind,
    amount: Amount,
    entry_mode: String,
}

impl Host {
    pub(super) fn new(options: Arc<Options>, base_url: String) -> rusqlite::Result<Self> {
        Ok(Self {
            books: Books::open(options.ledger.as_deref())?,
            clock: Clock::new(options.clock),
            throttle: Throttle::new(options.throttle),
            checkouts: Checkouts::default(),
            delay: options.delay,
            options,
            base_url,
            key_sets: KeySets::default(),
            issuer: Issuer::new(),
            redirected: HashSet::new(),
            redirects: Redirects::default(),
            again: false,
            forced: VecDeque::new(),
            called: Arc::default(),
            webhooks: Webhooks::default(),
            posted: Arc::default(),
        })
    }

    /// `POST /v1/payments`.
    pub(super) fn payment(&mut self, body: &[u8]) -> Result<Delivery, Refusal> {
        let form = self.form(body, form::PAYMENT)?;
        if form.get("referenceUuid").is_some() || standing_instruction::renews_or_adds(&form) {
            return self.increment(&form);
        }
        if remote_payment::is_remote(&form)? && schedule::is_asked(&form) {
            let new = self.typed(&form)?;
            return self.schedule_with(&new, &form);
        }
        if remote_payment::is_remote(&form)? {
            return self
                .pay_remotely(&form, &Origin { path: "/v1/payments", resource: None })
                .map(|paid| paid.delivery);
        }
        let request = check_payment(form)?;
        let PaymentRequest { form, kind, amount, .. } = &request;
        if self.options.mode == Mode::Fast {
            let draft = Draft { icc: Some("8A023030".to_owned()), ..Draft::new(form, *kind, *amount) };
            return self.book(draft, Outcome::Approve);
        }
        let stores = form.is_true("createRegistration");
        let instruction = standing_instruction::at_the_counter(form)?;
        let chip = check_reader(&request)?;
        let sealed = EncryptedData::from_form(form)?;
        if chip.as_ref().is_some_and(|chip| chip.wants_online_pin) && !sealed.has_pin() {
            return Err(Invalid::new(
                "pos.encryptedPin.data",
                "9F34 says that a PIN was entered for the issuer, and none was sent",
            )
            .into());
        }
        if schedule::is_asked(form) {
            let new = self.read(form)?;
            return self.schedule_with(&new, form);
        }
        let outcome = self.outcome(form.get("amount"));
        let reference = form.required("merchantTransactionId")?;
        if let Some(instead) = self.instead_of_processing(outcome, reference, "/v1/payments") {
            return Ok(instead);
        }
        let card = self.key_sets.open(&sealed, &request.entry_mode)?;
        check_card(&card, &request, sealed.has_pin())?;
        let verdict = self.issuer.decide(&card.pan, sealed.pin(&card.pan), chip.as_ref());
        let (checks, wrong) = self.check_address_and_code(&card, form);
        let declined = verdict.err().or(wrong).or(chosen(outcome));
        let draft = Draft {
            icc: chip.as_ref().and_then(|chip| self.icc_data_response(&card, chip, declined, outcome)),
            masked_card: Some(MaskedCard::of(&card)),
            declined,
            checks,
            stores,
            instruction,
            ..Draft::new(form, *kind, *amount)
        };
        self.book(draft, outcome)
    }

    /// A schedule with what was read or typed, which is stored for it.
    fn schedule_with(&mut self, new: &Registration, form: &Form) -> Result<Delivery, Refusal> {
        let answer = self.schedule(&new.id, form)?;
        self.books.store(new, None)?;
        Ok(answer)
    }

    /// How it was started.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Its rules.
    pub(super) fn host_rules(&self) -> HostRules {
        self.options.host_rules
    }

    /// The form of a request that may move money: of this entity, and with a reference of its own where one is
    /// demanded. Only what was booked has used its reference.
    pub(super) fn form(&self, body: &[u8], taken: &form::AcceptedParameters) -> Result<Form, Refusal> {
        let form = Form::parse(body, taken, self.host_rules())?;
        self.check_entity(&form, true)?;
        match form.get("merchantTransactionId").filter(|_| self.host_rules().is_literal()) {
            Some(reference) if self.books.knows(reference)? => Err(host_rules::USED),
            _ => Ok(form),
        }
    }

    /// Refuses a request: nothing is booked, and why is noted.
    pub(super) fn refuse(&mut self, refusal: &Refusal) -> Delivery {
        if let Some(why) = refusal.note() {
            tracing::info!("gateway: refused: {why}");
            if let Err(error) = self.books.refuse(&why) {
                return Refusal::Books(error).answer(self.host_rules());
            }
        }
        refusal.answer(self.host_rules())
    }

    /// What was ordered, or what the cents of the amount choose.
    pub(super) fn outcome(&mut self, amount: Option<&str>) -> Outcome {
        let host_rules = self.host_rules();
        self.forced
            .pop_front()
            .unwrap_or_else(|| amount.map_or(Outcome::Approve, |amount| outcomes::for_amount(amount, host_rules)))
    }

    /// The faults that come before anything is done.
    pub(super) fn instead_of_processing(&mut self, outcome: Outcome, key: &str, path: &str) -> Option<Delivery> {
        match outcome {
            Outcome::Throttle => Some(answer::throttled()),
            Outcome::ServerError { processed: false } => Some(Delivery::Raw(500, b"Internal Server Error".to_vec())),
            Outcome::Silence { processed: false } => Some(Delivery::Silence),
            Outcome::Cut { processed: false } => Some(Delivery::Cut),
            Outcome::RedirectElsewhere => Some(Delivery::Redirect(format!("https://elsewhere.test{path}"))),
            Outcome::RedirectOnce if !self.again && self.redirected.insert(format!("{path} {key}")) => {
                let asked = ArrivedRequest { path, query: "", again: false };
                let literal = self.host_rules().is_literal();
                Some(Delivery::Redirect(if literal {
                    host_rules::redirect_target(asked, false, None)
                } else {
                    path.to_owned()
                }))
            }
            _ => None,
        }
    }

    /// Address, security code and expiry as far as they were sent.
    fn check_address_and_code(&self, card: &ClearCard, form: &Form) -> (CheckLetters, Option<Declined>) {
        let code = card.code.as_deref().map(|code| address_and_code::code_check(&card.pan, code));
        let this_month = self.clock.now().format("%y%m").to_string();
        let typed_expiry = card.expiry.as_deref().filter(|_| card.service_code.is_none());
        let letters = CheckLetters {
            address: address_and_code::address_check(form.get("billing.street1"), form.get("billing.postcode")),
            code: code.map(|(letter, _)| letter),
        };
        let expired = typed_expiry.and_then(|expiry| address_and_code::expiry_check(expiry, &this_month));
        (letters, code.and_then(|(_, wrong)| wrong).or(expired))
    }

    /// `pos.iccDataResponse`, right or as wrong as the outcome says.
    fn icc_data_response(
        &self,
        card: &ClearCard,
        chip: &ChipData,
        declined: Option<Declined>,
        outcome: Outcome,
    ) -> Option<String> {
        let arc = declined.map_or(*b"00", |declined| declined.arc);
        match outcome {
            Outcome::NoIccResponse if declined.is_none() => None,
            Outcome::MalformedIcc if declined.is_none() => Some("8A0230309110ABCD".to_owned()),
            Outcome::LongScripts if declined.is_none() => {
                let response = self.issuer.icc_response(&card.pan, chip, arc, true);
                Some(response + &self.issuer.more_scripts(&card.pan, chip))
            }
            Outcome::Contradiction if declined.is_none() => {
                Some(self.issuer.icc_response(&card.pan, chip, *b"05", false))
            }
            _ => Some(self.issuer.icc_response(&card.pan, chip, arc, declined.is_none())),
        }
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

impl MaskedCard {
    /// Of a number in clear, with its expiry as YYMM.
    pub(super) fn of_number(number: &str, expiry: Option<&str>) -> Self {
        let (bin, last4) = (number[..6].to_owned(), number[number.len() - 4..].to_owned());
        Self { bin, last4, expiry: expiry.map(str::to_owned) }
    }

    pub(super) fn of(card: &ClearCard) -> Self {
        Self {
            bin: card.pan[..6].to_owned(),
            last4: card.pan[card.pan.len() - 4..].to_owned(),
            expiry: card.expiry.clone(),
        }
    }
}

/// The amount and currency of a form, which must be money.
pub(super) fn money(form: &Form) -> Result<Amount, Invalid> {
    let code = form.required("currency")?;
    let currency = Currency::from_code(code).map_err(|_| Invalid::new("currency", "not a currency of ISO 4217"))?;
    Amount::from_gateway(form.required("amount")?, currency).map_err(|why| Invalid::new("amount", why.to_string()))
}

/// Whatever can be checked without keys.
fn check_payment(form: Form) -> Result<PaymentRequest, Invalid> {
    let kind = match form.required("paymentType")? {
        "DB" => Kind::Debit,
        "PA" => Kind::PreAuthorisation,
        "CD" => Kind::Credit,
        _ => {
            return Err(Invalid::new(
                "paymentType",
                "must be DB, PA or CD with a card; CP, RV and RF refer to a payment",
            ));
        }
    };
    let amount = money(&form)?;
    // Required by this receiver (data-model: merchantTransactionId, "Required by some receivers").
    form.required("merchantTransactionId")?;
    form.required("pos.terminalId")?;
    let entry_mode = form.required("pos.entryMode")?.to_owned();
    if kind != Kind::PreAuthorisation && form.get("numberOfCaptures").is_some() {
        return Err(Invalid::new("numberOfCaptures", "belongs to a pre-authorisation (PA)"));
    }
    if kind == Kind::Credit && form.get("createRegistration") == Some("true") {
        return Err(Invalid::new("createRegistration", "a card is stored with DB or PA"));
    }
    Ok(PaymentRequest { form, kind, amount, entry_mode })
}

/// Whether the entry mode and the chip's data belong together, and the chip signed this amount. A card that gets money
/// has nothing to sign.
fn check_reader(request: &PaymentRequest) -> Result<Option<ChipData>, Invalid> {
    const ICC: &str = "pos.iccDataRequest";
    let tlvs = request.form.hex(ICC)?;
    if let Some(tlvs) = &tlvs {
        issuer::check_tlvs(tlvs)?;
    }
    let (amount, gets) = (request.amount, request.kind == Kind::Credit);
    let psn = request.form.get("pos.panSequenceNumber");
    match (request.entry_mode.as_str(), tlvs) {
        ("ICC" | "NFC_ICC", Some(tlvs)) => {
            ChipData::read(tlvs, amount.minor(), amount.currency().numeric(), psn, gets).map(Some)
        }
        ("ICC" | "NFC_ICC", None) if !gets => Err(Invalid::new(ICC, format!("{} needs it", request.entry_mode))),
        (mode, Some(_)) if mode != "NFC_MAGSTRIPE" => Err(Invalid::new(ICC, format!("{mode} has no chip data"))),
        _ => Ok(None),
    }
}

/// What the decrypted card says against the rest of the request.
fn check_card(card: &ClearCard, request: &PaymentRequest, has_pin: bool) -> Result<(), Invalid> {
    let has_chip = card.service_code.is_some_and(|code| code.has_chip());
    if request.entry_mode == "MAGSTRIPE" && has_chip {
        return Err(Invalid::new(
            "pos.entryMode",
            "the card has a chip: it must be inserted, or MAGSTRIPE_AS_FALLBACK",
        ));
    }
    let must_sign = request.entry_mode.starts_with("MAGSTRIPE") && request.kind != Kind::Credit;
    if must_sign && !has_pin && card.service_code.is_some_and(|code| code.wants_pin() == PinRule::Required) {
        return Err(Invalid::new("pos.encryptedPin.data", "the service code of this stripe demands a PIN"));
    }
    not_in_clear(card, &request.form)
}

/// The card number must not stand anywhere, and a brand that is named must be its own.
pub(super) fn not_in_clear(card: &ClearCard, form: &Form) -> Result<(), Invalid> {
    if let Some((name, _)) = form.iter().find(|(_, value)| value.contains(&card.pan)) {
        return Err(Invalid::new(name, "holds the card number in clear"));
    }
    match form.get("paymentBrand") {
        Some(brand) if Some(brand) != answer::brand(&card.pan) => {
            Err(Invalid::new("paymentBrand", "does not belong to this card number"))
        }
        _ => Ok(()),
    }
}
