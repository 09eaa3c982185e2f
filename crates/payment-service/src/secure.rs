//! 3-D Secure (data-model: 3D Secure): whether a card's holder is authenticated, how it ends, and the proof of it in
//! the answer. Which test card does what is in `test_card`; the challenge page is in `page`.
//!
//! | request | what happens |
//! |---|---|
//! | `threeDSecure.disable` = true, or the merchant's own payment (MIT) | goes without |
//! | `eci`, `verificationId`, … of another server | passed through |
//! | `exemptionFlag` with `challengeIndicator`, 2.2 or higher | goes without; or `challengeIndicator` 03, 04: asks |
//! | `threeRIInd`, `channel` | the merchant's own authentication, without a customer |
//! | a card that takes part | browser fields and billing address are mandatory; then as the card says |
//! | `decoupled` = true where the card would ask | no page: pending, and decided two minutes later |
//! | `npa` = true | the same, and nothing is paid, whatever the amount is; a card that takes no part is declined |
//! | any other card | goes without |
//!
//! Assumed, as the interface is silent: the version is 2.2.0; `exemptionFlag` 01 is a low value, up to 30 euros (more
//! is declined, 300.100.100), 02 a low risk, 03 a trusted shop, 04 a firm; `eci` 05, 06 and 07 (of a Mastercard-type
//! card 02, 01 and 07) are authenticated, attempted and neither. Of a proof from elsewhere the lengths count alone.
//! What its `eci` means is its scheme's. A proof that says it has authenticated (status Y or A, or without a status an
//! `eci` of 01, 02, 05 or 06) has a `verificationId`.

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

/// How an authentication ended, or that it waits for the customer.
pub(super) enum Authentication {
    /// There was none.
    Without,
    /// `threeDSecure` of the answer.
    Done(Value),
    Refused(Value, Declined),
    /// What it will be when the customer has given the right password.
    Challenge(Value),
}

pub(super) const REJECTED: Declined =
    Declined { code: "100.380.401", description: "user authentication failed", arc: *b"05" };
const NEEDS_CUSTOMER: Declined = Declined {
    code: "300.100.100",
    description: "transaction declined (additional customer authentication required)",
    arc: *b"1A",
};

/// The version that is spoken here.
const VERSION: &str = "2.2.0";
/// The most that is a low value, in cents of a euro.
const LOW_VALUE: u64 = 3000;

/// What version 2 wants to know of a browser, and of whoever pays (data-model: Customer, Billing address).
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

/// What only another server can know.
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

/// Browser and address of the customer, who sits before it.
fn customer(form: &Form) -> Result<(), Invalid> {
    let browser = if form.get("threeDSecure.deviceInfo").is_some() { &[][..] } else { &BROWSER[..] };
    match browser.iter().chain(&ADDRESS).find(|name| form.get(name).is_none()) {
        Some(name) => Err(Invalid::new(*name, "mandatory for 3-D Secure 2, in which this card takes part")),
        None => Ok(()),
    }
}

/// Installments say how many they are when 3-D Secure is processed (data-model: Card on file). The table's rule knows
/// it where a field of 3-D Secure is sent; here the card says it.
fn installments(form: &Form) -> Result<(), Invalid> {
    const HOW_MANY: &str = "standingInstruction.numberOfInstallments";
    if form.get("standingInstruction.type") == Some("INSTALLMENT") && form.get(HOW_MANY).is_none() {
        return Err(Invalid::new(HOW_MANY, "mandatory when 3-D Secure is processed, in which this card takes part"));
    }
    Ok(())
}

/// Flags an authentication without a payment.
pub(super) const NPA: &str = "threeDSecure.npa";

/// Whether the holder is authenticated and nothing is paid.
pub(super) fn is_alone(form: &Form) -> bool {
    form.is_true(NPA)
}

/// The amount that is authenticated is another one when the request says so (data-model: 3D Secure; Risk).
fn shows(form: &Form, mut proof: Value) -> Value {
    if let Some(amount) = form.get("threeDSecure.amount").or(form.get("risk.amount")) {
        proof["amount"] = json!(amount);
        proof["currency"] = json!(form.get("threeDSecure.currency").or(form.get("currency")));
    }
    proof
}

/// The proof that an authentication here ended so: Y authenticated, A attempted, U not available, N rejected.
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

/// How sure an authentication is, as the brand numbers it.
fn eci(brand: &str, status: char) -> &'static str {
    match (matches!(brand, "MASTER" | "MAESTRO"), status) {
        (true, 'Y') => "02",
        (true, 'A') => "01",
        (false, 'Y') => "05",
        (false, 'A') => "06",
        _ => "07",
    }
}

/// The proof of another server, as it is passed on: the table has judged its lengths.
pub(super) fn external(form: &Form) -> Result<Value, Invalid> {
    let get = |name: &str| form.get(&field(name));
    let eci = form.required("threeDSecure.eci")?;
    let is_proven = match get("authenticationStatus") {
        Some(status) => matches!(status, "Y" | "A"),
        None => matches!(eci, "01" | "02" | "05" | "06"),
    };
    if is_proven && get("verificationId").is_none() {
        return Err(Invalid::new("threeDSecure.verificationId", "required: this says that there is a proof"));
    }
    let mut proof = json!({});
    for name in EXTERNAL.into_iter().chain(["version", "authType", "challengeMandatedIndicator"]) {
        if let Some(value) = get(name) {
            proof[name] = json!(value);
        }
    }
    Ok(proof)
}
