//! The shopper's submission of a checkout, the answer to the merchant's server, and the shopper's return.

use hyper::header::HeaderMap;
use serde_json::{Value, json};

use super::create::OVERRIDE;
use super::{CREATED, Checkout, Purpose, Submission, Submitted, USED_UP, origin};
use crate::delivery::Delivery;
use crate::envelope::result;
use crate::form::{self, Form};
use crate::host::Host;
use crate::host_rules::HostRules;
use crate::invalid::Invalid;
use crate::refusal::{Refusal, USED, rule};
use crate::remote_payment::Origin;
use crate::widget;
use pos_gateway_model::{means, shown};

/// The parameters that the widget may send: the shopper's input and the browser's data. An entry that ends with a dot
/// allows all names with that prefix.
const OF_SHOPPER: &[&str] = &[
    "paymentBrand",
    "createRegistration",
    SHOPPER_RESULT_URL,
    "locale",
    "card.",
    "bankAccount.",
    "tokenAccount.",
    "virtualAccount.",
    "giftCard.",
    "<wallet_a>.",
    "<wallet_b>.",
    "<wallet_c>.",
    "customer.",
    "billing.",
    "shipping.",
];
const CUSTOM: &str = "customParameters[";
const CUSTOM_OF_SHOPPER: &str = "customParameters[SHOPPER_";
const BROWSER: &str = "customer.browser.";
const SHOPPER_RESULT_URL: &str = "shopperResultUrl";

// The interface does not document the codes for these refusals.
const EXPIRED: Refusal =
    rule("id", "200.300.404", "this checkout has expired: it was valid for 30 minutes; create another");
const STORES: Refusal =
    rule("id", "700.400.580", "this checkout stores payment data: it is served at its path /registration");
const PAYS: Refusal = rule("id", "700.400.580", "this checkout is paid: it is served at its path /payment");

impl Host {
    /// Handles `POST /checkouts/{id}/payment` or `/registration`.
    pub(crate) fn submit(
        &mut self,
        id: &str,
        purpose: Purpose,
        sender: &HeaderMap,
        body: &[u8],
    ) -> Result<Delivery, Refusal> {
        let host_rules = self.host_rules();
        let checkout = self.checkout(id, purpose)?;
        if checkout.submitted.is_some() && !host_rules.books_all() {
            return Err(USED_UP);
        }
        let theirs = of_shopper(body)?;
        let shopper_result_url = result_url(checkout, &theirs)?;
        if host_rules == HostRules::Checked {
            check_origin(sender, &shopper_result_url)?;
        }
        let back = format!("{}/v1/checkouts/{id}/return", origin::own(sender)?);
        let mut pairs = together(checkout, theirs, back)?;
        let nameless = leave_browser_out(&mut pairs);
        let path = checkout.path();
        let done = match purpose {
            Purpose::Payment => self.pay_checkout(pairs, (id, &path)),
            Purpose::Registration => self.store_by_checkout(pairs),
        };
        let (done, delivery) = done.map_err(|refusal| if nameless { name_wanted(refusal) } else { refusal })?;
        let Some(done) = done else { return Ok(delivery) };
        let at = self.clock.now();
        let Some(checkout) = self.checkouts.find_mut(id) else { return Err(Refusal::NotFound) };
        let submitted = Submitted { at, shopper_result_url, result: done, fetched: false };
        let back = submitted.back(checkout);
        checkout.submitted = Some(submitted);
        Ok(with_way_back(delivery, &path, &back))
    }

    /// Pays the checkout and returns the payment's id; `None` if the payment was not processed.
    fn pay_checkout(
        &mut self,
        pairs: Vec<(String, String)>,
        (id, path): (&str, &str),
    ) -> Result<(Option<Submission>, Delivery), Refusal> {
        let host_rules = self.host_rules();
        let form = Form::from_pairs(pairs, form::PAYMENT, self.reading())?;
        if let Some(reference) = form.get("merchantTransactionId")
            && host_rules.is_literal()
            && self.books.knows(reference)?
        {
            return Err(USED);
        }
        let paid = self.pay_remotely(&form, &Origin { path, resource: Some((id, path)) })?;
        Ok((paid.id.map(Submission::Payment), paid.delivery))
    }

    /// Stores the typed payment data without a payment.
    fn store_by_checkout(
        &mut self,
        mut pairs: Vec<(String, String)>,
    ) -> Result<(Option<Submission>, Delivery), Refusal> {
        pairs.retain(|(name, _)| name != "createRegistration");
        let form = Form::from_pairs(pairs, form::REGISTRATION, self.reading())?;
        Ok(match self.store(&form)? {
            Delivery::Answer(200, answer) => {
                (Some(Submission::Registration(answer.clone())), Delivery::Answer(200, answer))
            }
            other => (None, other),
        })
    }

    /// Handles `GET /checkouts/{id}/payment` or `/registration`.
    pub(crate) fn checkout_result(&mut self, id: &str, purpose: Purpose, query: &[u8]) -> Result<Delivery, Refusal> {
        self.check_entity(&Form::parse(query, form::RETRIEVAL, self.reading())?, false)?;
        self.checkout(id, purpose)?;
        let Some(submitted) = self.checkouts.find_mut(id).and_then(|checkout| checkout.submitted.as_mut()) else {
            return Ok(Delivery::Answer(200, json!({ "id": id, "result": result(CREATED.0, CREATED.1) })));
        };
        submitted.fetched = true;
        let payment = match &submitted.result {
            Submission::Registration(answer) => return Ok(Delivery::Answer(200, answer.clone())),
            Submission::Payment(payment) => payment.clone(),
        };
        let booking = self.books.find(&payment)?.ok_or(Refusal::NotFound)?;
        let answer = self.ask(booking)?.ok_or(Refusal::NotFound)?;
        Ok(Delivery::Answer(200, answer))
    }

    /// Handles `GET /checkouts/{id}/return`: the shopper returns from a page of a bank or provider. If that page was in
    /// a frame of the widget, the frame notifies the page around it, and that page continues.
    pub(crate) fn shopper_returns(&mut self, id: &str, sender: &HeaderMap) -> Result<Delivery, Refusal> {
        let checkout = self.checkouts.find(id).ok_or(Refusal::NotFound)?;
        let submitted = checkout.submitted.as_ref().ok_or(Refusal::NotFound)?;
        let back = submitted.back(checkout);
        let in_frame = sender.get("sec-fetch-dest").is_some_and(|what| what == "iframe");
        let shop = origin::of(&submitted.shopper_result_url).unwrap_or_default();
        Ok(if in_frame { widget::tell_the_page(id, &shop, &back) } else { Delivery::SeeOther(back) })
    }

    /// Returns the checkout if its id is valid and the path matches its purpose.
    pub(super) fn checkout(&self, id: &str, purpose: Purpose) -> Result<&Checkout, Refusal> {
        let checkout = self.checkouts.find(id).ok_or(Refusal::NotFound)?;
        if checkout.is_expired(self.clock.now()) && !self.host_rules().books_all() {
            return Err(EXPIRED);
        }
        match (checkout.purpose, purpose) {
            (Purpose::Registration, Purpose::Payment) => Err(STORES),
            (Purpose::Payment, Purpose::Registration) => Err(PAYS),
            _ => Ok(checkout),
        }
    }
}

/// Reads the parameters of a widget request, and refuses names that a shopper may not send.
fn of_shopper(body: &[u8]) -> Result<Vec<(String, String)>, Invalid> {
    let pairs = form::decoded(body)?;
    for (name, _) in &pairs {
        if name.starts_with(CUSTOM) {
            if !name.starts_with(CUSTOM_OF_SHOPPER) {
                let why = "from the client side, names of custom parameters must begin with SHOPPER_";
                return Err(Invalid::new(shown(name), why));
            }
        } else if !OF_SHOPPER.iter().any(|entry| means(entry, name)) {
            let why = "the shopper's page cannot set it; the merchant's server sets it when it creates the checkout";
            return Err(Invalid::new(shown(name), why));
        }
    }
    Ok(pairs)
}

/// Returns the shopper's return address: the server's value or, without one, the page's value.
fn result_url(checkout: &Checkout, theirs: &[(String, String)]) -> Result<String, Invalid> {
    let sent = theirs.iter().find(|(name, _)| name == SHOPPER_RESULT_URL).map(|(_, value)| value.as_str());
    let url = checkout.get(SHOPPER_RESULT_URL).or(sent);
    let url = url.ok_or_else(|| Invalid::new(SHOPPER_RESULT_URL, "required: the action of the merchant's form"))?;
    origin::of(url).ok_or_else(|| Invalid::new(SHOPPER_RESULT_URL, origin::MUST_BE))?;
    Ok(url.to_owned())
}

/// Checks that the request comes from a page of the shop.
fn check_origin(sender: &HeaderMap, shopper_result_url: &str) -> Result<(), Invalid> {
    let shop = origin::shop(sender)?;
    if origin::of(shopper_result_url).is_some_and(|expected| expected == shop) {
        return Ok(());
    }
    Err(Invalid::new("Origin", "this checkout belongs to a page of another origin: that of its shopperResultUrl"))
}

/// Builds the form of the payment from the server's fields, the shopper's input, and a return address at this gateway.
fn together(
    checkout: &Checkout,
    theirs: Vec<(String, String)>,
    back: String,
) -> Result<Vec<(String, String)>, Invalid> {
    const OF_CHECKOUT: &[&str] = &["integrity", "overrideHolder", SHOPPER_RESULT_URL];
    let brand = theirs.iter().find(|(name, _)| name == "paymentBrand").map(|(_, brand)| brand.as_str());
    let brand = brand.or_else(|| checkout.get("paymentBrand"));
    let other_type = brand.and_then(|brand| checkout.get(&format!("{OVERRIDE}{brand}]"))).map(str::to_owned);
    let mut pairs: Vec<(String, String)> = Vec::with_capacity(checkout.pairs.len() + theirs.len());
    for (name, value) in &checkout.pairs {
        if OF_CHECKOUT.contains(&name.as_str()) || name.starts_with(OVERRIDE) {
            continue;
        }
        let value = other_type.as_ref().filter(|_| name == "paymentType").unwrap_or(value);
        pairs.push((name.clone(), value.clone()));
    }
    for (name, value) in theirs {
        match checkout.get(&name) {
            // The server may have got the browser's data from the browser, so both may send them.
            Some(_) if name.starts_with(BROWSER) => {}
            Some(known) if *known != value => {
                return Err(Invalid::new(shown(&name), "the merchant's server has set it to another value"));
            }
            Some(_) => {}
            None if name == SHOPPER_RESULT_URL => {}
            None => pairs.push((name, value)),
        }
    }
    pairs.push((SHOPPER_RESULT_URL.to_owned(), back));
    Ok(pairs)
}

/// Removes the browser's data from a form that names no customer, because every customer field requires a name
/// (data-model: Customer). Returns whether it removed anything.
fn leave_browser_out(pairs: &mut Vec<(String, String)>) -> bool {
    let has = |wanted: &str| pairs.iter().any(|(name, _)| name == wanted);
    if has("customer.givenName") && has("customer.surname") {
        return false;
    }
    let before = pairs.len();
    pairs.retain(|(name, _)| !name.starts_with(BROWSER));
    pairs.len() < before
}

/// Changes a refusal of 3-D Secure so that it names the field that the merchant can add.
fn name_wanted(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Invalid(invalid) if invalid.name.starts_with(BROWSER) => {
            let why = "required for 3-D Secure, with the surname; the server sends them when it creates the checkout";
            Invalid::new("customer.givenName", why).into()
        }
        other => other,
    }
}

/// Adds the addresses that the widget needs to continue.
fn with_way_back(delivery: Delivery, path: &str, back: &str) -> Delivery {
    match delivery {
        Delivery::Answer(status, mut answer) => {
            answer["resourcePath"] = Value::from(path);
            answer[SHOPPER_RESULT_URL] = Value::from(back);
            Delivery::Answer(status, answer)
        }
        other => other,
    }
}
