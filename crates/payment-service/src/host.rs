//! The gateway without its connections: its state, and the common checks of all requests. Each kind of request has its
//! own file, and this file depends on none of them.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::brand;
use super::checkout::Checkouts;
use super::clear_card_data::ClearCard;
use super::clock::Clock;
use super::database::Books;
use super::delivery::Delivery;
use super::encrypted_data::KeySets;
use super::form::{self, Form, FormReading};
use super::host_rules::{self, ArrivedRequest, HostRules, Redirects};
use super::invalid::Invalid;
use super::issuer::Issuer;
use super::options::Options;
use super::outcomes::{self, Outcome};
use super::refusal::{self, Refusal, rule};
use super::throttle::Throttle;
use super::webhook::queue::Webhooks;
use pos_gateway_model::Names;
use pos_terms::money::{Amount, Currency};

/// The gateway's state.
pub(super) struct Host {
    options: Arc<Options>,
    /// The interface-related settings from the options.
    names: Arc<Names>,
    pub(super) books: Books,
    pub(super) clock: Clock,
    pub(super) throttle: Throttle,
    pub(super) checkouts: Checkouts,
    pub(super) key_sets: KeySets,
    /// The gateway's base address, with a slash at its end.
    pub(super) base_url: String,
    pub(super) issuer: Issuer,
    redirected: HashSet<String>,
    pub(super) redirects: Redirects,
    /// True if the current request was already redirected; it is not redirected again.
    pub(super) again: bool,
    /// The delay between a request and its answer.
    pub(super) delay: Duration,
    /// Outcomes that a test has set for the next requests.
    pub(super) forced: VecDeque<Outcome>,
    /// Wakes the clockwork task.
    pub(super) called: Arc<Notify>,
    pub(super) webhooks: Webhooks,
    /// Wakes the task that sends webhooks.
    pub(super) posted: Arc<Notify>,
}

impl Host {
    pub(super) fn new(options: Arc<Options>, base_url: String) -> rusqlite::Result<Self> {
        Ok(Self {
            names: Arc::new(Names::new(&[], &options.schemes)),
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

    /// Returns the gateway's start options.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the host rules.
    pub(super) fn host_rules(&self) -> HostRules {
        self.options.host_rules
    }

    /// Returns the settings for parsing a form.
    pub(super) fn reading(&self) -> FormReading {
        FormReading { spelling: self.host_rules().spelling(), names: Arc::clone(&self.names) }
    }

    /// Parses the form of a request that may move money. The form must name this entity. If the rules require a unique
    /// reference, the reference must be unused. Only a booked entry uses up its reference.
    pub(super) fn form(&self, body: &[u8], taken: &form::AcceptedParameters) -> Result<Form, Refusal> {
        self.accepted(Form::parse(body, taken, self.reading())?)
    }

    /// Applies the same checks to a parsed form.
    pub(super) fn accepted(&self, form: Form) -> Result<Form, Refusal> {
        self.check_entity(&form, true)?;
        self.check_merchant(&form)?;
        match form.get("merchantTransactionId").filter(|_| self.host_rules().is_literal()) {
            Some(reference) if self.books.knows(reference)? => Err(refusal::USED),
            _ => Ok(form),
        }
    }

    /// Refuses a request and records the reason, without a booking.
    pub(super) fn refuse(&mut self, refusal: &Refusal) -> Delivery {
        if let Some(why) = refusal.note() {
            tracing::info!("gateway: refused: {why}");
            if let Err(error) = self.books.refuse(&why) {
                return Refusal::Books(error).answer(self.host_rules());
            }
        }
        refusal.answer(self.host_rules())
    }

    /// Returns the outcome that a test has set, or else the outcome that the cents choose.
    pub(super) fn outcome(&mut self, amount: Option<&str>) -> Outcome {
        let host_rules = self.host_rules();
        self.forced
            .pop_front()
            .unwrap_or_else(|| amount.map_or(Outcome::Approve, |amount| outcomes::for_amount(amount, host_rules)))
    }

    /// Returns the delivery for a fault that happens before the request is processed.
    pub(super) fn instead_of_processing(&mut self, outcome: Outcome, key: &str, path: &str) -> Option<Delivery> {
        match outcome {
            Outcome::Throttle => Some(refusal::throttled()),
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

    /// Checks terminal and currency against the merchant's contract, if the options define one.
    fn check_merchant(&self, form: &Form) -> Result<(), Refusal> {
        const TERMINAL: &str = "pos.terminalId";
        let Options { terminals, currencies, .. } = self.options();
        let is_foreign = |id: &str| !terminals.is_empty() && !terminals.iter().any(|known| known == id);
        if form.get(TERMINAL).is_some_and(is_foreign) {
            return Err(Invalid::new(TERMINAL, "not a terminal of this merchant").into());
        }
        let is_foreign = |code: &str| !currencies.is_empty() && !currencies.iter().any(|known| known.code() == code);
        if form.get("currency").is_some_and(is_foreign) {
            return Err(OTHER_CURRENCY);
        }
        Ok(())
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

/// The interface does not document the code for this refusal.
const OTHER_CURRENCY: Refusal =
    rule("currency", "600.200.500", "invalid payment data: the merchant has no contract for this currency");

/// Returns the amount and currency of a form. The amount must be valid in the currency.
pub(super) fn money(form: &Form) -> Result<Amount, Invalid> {
    Amount::from_gateway(form.required("amount")?, currency(form)?)
        .map_err(|why| Invalid::new("amount", why.to_string()))
}

/// Returns the currency of a form.
pub(super) fn currency(form: &Form) -> Result<Currency, Invalid> {
    Currency::from_code(form.required("currency")?).map_err(|_| Invalid::new("currency", "not an ISO 4217 currency"))
}

/// Checks that no other field contains the card number, and that a named brand is the card's brand.
pub(super) fn not_in_clear(card: &ClearCard, form: &Form) -> Result<(), Invalid> {
    if let Some((name, _)) = form.iter().find(|(_, value)| value.contains(&card.pan)) {
        return Err(Invalid::new(name, "holds the unencrypted card number"));
    }
    match form.get("paymentBrand") {
        Some(brand) if Some(brand) != brand::of(&card.pan) => {
            Err(Invalid::new("paymentBrand", "does not belong to this card number"))
        }
        _ => Ok(()),
    }
}
