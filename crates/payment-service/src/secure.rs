//! 3-D Secure (data-model: 3D Secure): the decision to authenticate a cardholder, the result of the authentication, and
//! its proof in the answer. `test_card` defines the behaviour of each test card, and `page` shows the challenge.
//!
//! | request | behaviour |
//! |---|---|
//! | `threeDSecure.disable` = true, or a payment that the merchant starts (MIT) | no authentication |
//! | `eci`, `verificationId`, … of another server | returned unchanged |
//! | `exemptionFlag` with `challengeIndicator`, 2.2 or higher | no authentication; a challenge if `challengeIndicator` is 03 or 04 |
//! | `threeRIInd`, `channel` | the merchant's own authentication, without a customer |
//! | an enrolled card | browser fields and billing address are required; the card decides the result |
//! | `decoupled` = true with a card that has a challenge | no page; the payment is pending and decided two minutes later |
//! | `npa` = true | authentication without a payment, for any amount; a card that is not enrolled is declined |
//! | any other card | no authentication |
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - The version is 2.2.0.
//! - `exemptionFlag` 01 is a low value, up to 30 euros. A higher amount is declined with 300.100.100. 02 is a low risk,
//!   03 is a trusted shop, and 04 is a corporate payment.
//! - `eci` 05, 06 and 07 (for Mastercard test cards 02, 01 and 07) mean authenticated, attempted and neither.
//! - The gateway checks only the lengths of another server's proof. The card scheme defines the meaning of its `eci`.
//! - A proof that claims an authentication needs a `verificationId`. Status Y or A claims an authentication. Without a
//!   status, an `eci` of 01, 02, 05 or 06 does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::brand;
use super::declined::Declined;
use super::envelope;
use super::form::Form;
use super::invalid::Invalid;
use super::test_card::Secure;
use pos_terms::money::Amount;

/// The result of an authentication, or its wait for the customer.
pub(super) enum Authentication {
    /// No authentication was necessary.
    Without,
    /// The authentication ended. The answer contains this `threeDSecure`.
    Done(Value),
    Refused(Value, Declined),
    /// The customer must enter a password. This is the result once the password is right.
    Challenge(Value),
}

pub(super) const REJECTED: Declined =
    Declined { code: "100.380.401", description: "user authentication failed", arc: *b"05" };
const NEEDS_CUSTOMER: Declined = Declined {
    code: "300.100.100",
    description: "transaction declined (additional customer authentication required)",
    arc: *b"1A",
};

/// The version of 3-D Secure in answers.
const VERSION: &str = "2.2.0";
/// The upper limit of a low value, in cents of a euro.
const LOW_VALUE: u64 = 3000;

/// The browser and customer fields that version 2 requires (data-model: Customer, Billing address).
const BROWSER: [&str; 7] = [
    "customer.browser.acceptHeader",
    "customer.browser.language",
    "customer.browser.screenHeight",
    "customer.browser.screenWidth",
    "customer.browser.timezone",
    "customer.browser.userAgent",
    "customer.browser.javaEnabled",
];
const ADDRESS: [&str; 4] = ["billing.street1", "billing.city", "billing.postcode", "billing.country"];

/// The fields that only another server can know.
const EXTERNAL: [&str; 5] = ["eci", "verificationId", "authenticationStatus", "dsTransactionId", "acsTransactionId"];

fn field(name: &str) -> String {
    format!("threeDSecure.{name}")
}

/// Authenticates the holder of a card.
pub(super) fn authenticate(
    form: &Form,
    number: &str,
    secure: Secure,
    amount: Amount,
) -> Result<Authentication, Invalid> {
    if EXTERNAL.iter().any(|name| form.get(&field(name)).is_some()) {
        let proof = external(form)?;
        return Ok(match form.get("threeDSecure.authenticationStatus") {
            Some("N") => Authentication::Refused(proof, REJECTED),
            _ => Authentication::Done(proof),
        });
    }
    if form.is_true("threeDSecure.disable") {
        return Ok(Authentication::Without);
    }
    let mut wants_challenge = false;
    if let Some(flag) = form.get("threeDSecure.exemptionFlag") {
        let indicator = form.get("threeDSecure.challengeIndicator").unwrap_or_default();
        wants_challenge = matches!(indicator, "03" | "04");
        let asked = json!({ "exemptionFlag": flag, "challengeIndicator": indicator, "version": form.get("threeDSecure.version") });
        let is_low = amount.currency().code() == "EUR" && amount.minor() <= LOW_VALUE;
        match (wants_challenge, flag) {
            (false, "01") if !is_low => return Ok(Authentication::Refused(asked, NEEDS_CUSTOMER)),
            (false, _) => return Ok(Authentication::Done(asked)),
            (true, _) => {}
        }
    }
    if form.first_under("threeDSecure.threeRIInd").or(form.first_under("threeDSecure.channel")).is_some() {
        installments(form)?;
        return Ok(Authentication::Done(proof(number, 'Y')));
    }
    if form.get("standingInstruction.source") == Some("MIT") || secure == Secure::NotEnrolled {
        return Ok(Authentication::Without);
    }
    customer(form)?;
    installments(form)?;
    let done = |status| shows(form, proof(number, status));
    Ok(match secure {
        Secure::Challenge => Authentication::Challenge(done('Y')),
        Secure::Frictionless if wants_challenge => Authentication::Challenge(done('Y')),
        Secure::Frictionless => Authentication::Done(done('Y')),
        Secure::Attempted => Authentication::Done(done('A')),
        Secure::Unavailable => Authentication::Done(done('U')),
        Secure::Rejected | Secure::NotEnrolled => Authentication::Refused(done('N'), REJECTED),
    })
}

/// Checks the browser data and address of a customer who is present.
fn customer(form: &Form) -> Result<(), Invalid> {
    let browser = if form.get("threeDSecure.deviceInfo").is_some() { &[][..] } else { &BROWSER[..] };
    match browser.iter().chain(&ADDRESS).find(|name| form.get(name).is_none()) {
        Some(name) => Err(Invalid::new(*name, "mandatory for 3-D Secure 2, in which this card takes part")),
        None => Ok(()),
    }
}

/// Checks that an installment payment states the number of installments when 3-D Secure applies (data-model: Card on
/// file). The table's rule covers requests with a field of 3-D Secure. Here the card decides.
fn installments(form: &Form) -> Result<(), Invalid> {
    const HOW_MANY: &str = "standingInstruction.numberOfInstallments";
    if form.get("standingInstruction.type") == Some("INSTALLMENT") && form.get(HOW_MANY).is_none() {
        return Err(Invalid::new(HOW_MANY, "mandatory when 3-D Secure is processed, in which this card takes part"));
    }
    Ok(())
}

/// The parameter that requests an authentication without a payment.
pub(super) const NPA: &str = "threeDSecure.npa";

/// Returns whether the request authenticates the holder without a payment.
pub(super) fn is_alone(form: &Form) -> bool {
    form.is_true(NPA)
}

/// Adds the authenticated amount if the request states a different one (data-model: 3D Secure; Risk).
fn shows(form: &Form, mut proof: Value) -> Value {
    if let Some(amount) = form.get("threeDSecure.amount").or(form.get("risk.amount")) {
        proof["amount"] = json!(amount);
        proof["currency"] = json!(form.get("threeDSecure.currency").or(form.get("currency")));
    }
    proof
}

/// Makes the proof of an authentication at this gateway: Y authenticated, A attempted, U not available, N rejected.
pub(super) fn proof(number: &str, status: char) -> Value {
    let brand = brand::of(number).unwrap_or_default();
    let mut proof = json!({
        "eci": eci(brand, status),
        "version": VERSION,
        "authenticationStatus": status.to_string(),
        "dsTransactionId": uuid(),
        "acsTransactionId": uuid(),
    });
    if matches!(status, 'Y' | 'A') {
        let id = hex::decode([envelope::new_id(), envelope::new_id()].concat()).unwrap_or_default();
        proof["verificationId"] = json!(STANDARD.encode(&id[..20]));
    }
    proof
}

fn uuid() -> String {
    let id = envelope::new_id();
    format!("{}-{}-4{}-8{}-{}", &id[..8], &id[8..12], &id[13..16], &id[17..20], &id[20..])
}

/// Returns the strength of an authentication as the brand's number.
fn eci(brand: &str, status: char) -> &'static str {
    match (matches!(brand, "MASTER" | "MAESTRO"), status) {
        (true, 'Y') => "02",
        (true, 'A') => "01",
        (false, 'Y') => "05",
        (false, 'A') => "06",
        _ => "07",
    }
}

/// Returns the proof of another server unchanged; the table has already checked its lengths.
pub(super) fn external(form: &Form) -> Result<Value, Invalid> {
    let get = |name: &str| form.get(&field(name));
    let eci = form.required("threeDSecure.eci")?;
    let is_proven = match get("authenticationStatus") {
        Some(status) => matches!(status, "Y" | "A"),
        None => matches!(eci, "01" | "02" | "05" | "06"),
    };
    if is_proven && get("verificationId").is_none() {
        return Err(Invalid::new("threeDSecure.verificationId", "required with a proof of authentication"));
    }
    let mut proof = json!({});
    for name in EXTERNAL.into_iter().chain(["version", "authType", "challengeMandatedIndicator"]) {
        if let Some(value) = get(name) {
            proof[name] = json!(value);
        }
    }
    Ok(proof)
}
