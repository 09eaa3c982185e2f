//! The functions for rules that check values, or more than two fields. The rules in `rules` name them. Each function
//! receives the content of a form and reports the fields that break the rule.

use std::collections::BTreeSet;

use super::format;
use super::rule::{MISSING, ReportBroken, Sent};

pub(super) fn payment_type(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    if !sent.has("paymentType") {
        found("paymentType", MISSING);
    }
}

pub(super) fn captures(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    if sent.has("numberOfCaptures") && sent.get("paymentType").is_some_and(|kind| kind != "PA") {
        found("numberOfCaptures", "must not be sent here");
    }
}

pub(super) fn payment_data(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    const DATA: [&str; 5] = ["card.", "virtualAccount.", "bankAccount.", "tokenAccount.", "giftCard."];
    let wallets: Vec<String> = sent.names.wallets.iter().map(|wallet| format!("{wallet}.")).collect();
    for beginning in DATA.into_iter().chain(wallets.iter().map(String::as_str)) {
        sent.under(beginning).for_each(|(name, _)| found(name, "must not be sent here"));
    }
}

pub(super) fn wallet(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    for wallet in &sent.names.wallets {
        let (token, source) = (format!("{wallet}.paymentToken"), format!("{wallet}.source"));
        match (sent.has(&token), sent.has(&source)) {
            (true, true) => found(&source, "sent with a token of this wallet"),
            (false, false) if sent.has(&format!("{wallet}.")) => found(&token, MISSING),
            _ => {}
        }
    }
}

pub(super) fn wallet_decrypted(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    const NEEDED: [&str; 5] =
        ["card.number", "card.expiryMonth", "card.expiryYear", "threeDSecure.verificationId", "threeDSecure.eci"];
    if sent.names.wallets.iter().any(|wallet| sent.has(&format!("{wallet}.source"))) {
        NEEDED.into_iter().filter(|name| !sent.has(name)).for_each(|name| found(name, MISSING));
    }
}

pub(super) fn three_d_secure_2(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
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
    let in_browser = BROWSER.iter().any(|name| sent.has(name));
    let elsewhere = sent.has("threeDSecure.deviceInfo") || sent.has("threeDSecure.threeRIInd");
    if in_browser || sent.has("threeDSecure.v2.") {
        let browser = if in_browser || !elsewhere { &BROWSER[..] } else { &[] };
        browser.iter().chain(&ADDRESS).filter(|name| !sent.has(name)).for_each(|name| found(name, MISSING));
    }
}

pub(super) fn street(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    for at in ["billing.", "merchant.billing."] {
        let part = |name: &str| sent.get(&format!("{at}{name}")).unwrap_or("");
        // With houseNumber1, street2 is ignored (interface: Billing address).
        let second = if sent.has(&format!("{at}houseNumber1")) { "" } else { part("street2") };
        let mut characters = part("street1").chars().chain(second.chars()).filter(|c| *c != ' ').peekable();
        if characters.peek().is_some() && characters.all(|c| c.is_numeric()) {
            found(&format!("{at}street1"), "holds only digits, together with street2");
        }
    }
}

pub(super) fn seller(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    let sellers: BTreeSet<&str> =
        sent.under("marketPlace.sellers[").filter(|(name, _)| name.ends_with("].id")).map(|(_, id)| id).collect();
    if sellers.is_empty() {
        return;
    }
    for (name, id) in sent.under("cart.items[") {
        if name.ends_with("].sellerId") && !sellers.contains(id) {
            found(name, "is not one of marketPlace.sellers");
        }
    }
}

pub(super) fn three_ri(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    if sent.has("threeDSecure.channel") && sent.get("standingInstruction.source") == Some("CIT") {
        found("threeDSecure.channel", "sent for a payment that the customer starts");
    }
}

pub(super) fn exemption_version(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    let asked = sent.has("threeDSecure.challengeIndicator") || sent.has("threeDSecure.exemptionFlag");
    match sent.get("threeDSecure.version").map(format::version) {
        _ if !asked => {}
        None => found("threeDSecure.version", MISSING),
        Some(Some(version)) if version < (2, 2) => found("threeDSecure.version", "too low"),
        // The format reports an invalid version.
        Some(_) => {}
    }
}

pub(super) fn scheme_use_case(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    const USE_CASE: &str = "threeDSecure.schemeData[CB-USECASE]";
    let repeated = matches!(sent.get("threeDSecure.authenticationInd"), Some("RECURRING" | "INSTALLMENT"));
    let no_payment = sent.get("threeDSecure.npa") == Some("true");
    if sent.under("threeDSecure.schemeData[CB-").next().is_some() && (!no_payment || repeated) && !sent.has(USE_CASE) {
        found(USE_CASE, MISSING);
    }
}

pub(super) fn client_side(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    if sent.from_client_side {
        for (name, _) in sent.under("customParameters[") {
            if !name.starts_with("customParameters[SHOPPER_") {
                found(name, "sent from the client side");
            }
        }
    }
}

pub(super) fn redirect_parameters(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    for (name, _) in sent.under("redirect.parameters[") {
        let other = match name.rsplit_once('.') {
            Some((index, "name")) => format!("{index}.value"),
            Some((index, "value")) => format!("{index}.name"),
            _ => continue,
        };
        if !sent.has(&other) {
            found(&other, MISSING);
        }
    }
}

pub(super) fn chargeback_reason(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    if !sent.get("recordType").is_some_and(|kind| kind.starts_with("CHARGEBACK")) {
        ["result.code", "result.description"].into_iter().filter(|name| sent.has(name)).for_each(|name| {
            found(name, "must not be sent here");
        });
    }
}

pub(super) fn installments(sent: &Sent<'_>, found: &mut ReportBroken<'_>) {
    const HOW_MANY: &str = "standingInstruction.numberOfInstallments";
    let installments = sent.get("standingInstruction.type") == Some("INSTALLMENT")
        || sent.get("threeDSecure.authenticationInd") == Some("INSTALLMENT");
    let secured = sent.has("threeDSecure.") && sent.get("threeDSecure.disable") != Some("true");
    if installments && secured && !sent.has(HOW_MANY) {
        found(HOW_MANY, MISSING);
    }
}
