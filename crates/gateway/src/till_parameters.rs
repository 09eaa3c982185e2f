//! The parameters that a till adds to its transaction. Flat names (`cart.items[0].name`) or nested JSON become the flat
//! names that the gateway accepts (interface: What the service does). A till must not add the parameters that the
//! terminal sets. A parameter that this call or this gateway does not accept is refused here, before the agent asks for
//! the card. The shop's own parameters in `[gateway.parameters]` are added. A till's parameter replaces the shop's
//! parameter with the same name.

use serde_json::{Map, Value};

use super::request::MAX_PARAMETERS;
use crate::config::{self, Assumptions};
use pos_gateway_model::form::{self, FormContext};
use pos_gateway_model::rule::{HOLDERS, OVERRIDE};
use pos_gateway_model::{self as parameter, Call, Direction, Names, named_in, shown};
use pos_terms::emv::pan;
use pos_terms::transaction::Kind;

/// Names that only the terminal may set, because it knows the values better or because they would be card data.
const OWNED: [&str; 13] = [
    "Authorization",
    "amount",
    "currency",
    "entityId",
    "paymentType",
    "paymentBrand",
    "merchantTransactionId",
    "testMode",
    "referenceUuid",
    "pos",
    "card",
    "tokenAccount",
    "overridePaymentType",
];
/// Other means of payment, and proofs for them. At the counter, only the card pays, and the journal keeps none of
/// these.
const OTHER_MEANS: [&str; 5] = ["bankAccount", "virtualAccount", "giftCard", "threeDSecure", "recurringMigration"];
/// The parameters that say how a payment with a stored card is authenticated, or why it need not be. No cardholder is
/// present. These parameters need the right `three-d-secure`.
const HOW_AUTHENTICATED: [&str; 7] = [
    "threeDSecure.disable",
    "threeDSecure.version",
    "threeDSecure.challengeIndicator",
    "threeDSecure.exemptionFlag",
    "threeDSecure.channel",
    "threeDSecure.threeRIInd",
    "threeDSecure.authenticationInd",
];
/// The parameters that a shop may send with each of its payments.
const OF_THE_SHOP: [&str; 3] = ["merchant", "descriptor", "customParameters"];
/// The parameters that may be sent with a card that is stored without a payment.
const WITH_A_STORED_CARD: [&str; 2] = ["customer", "billing"];
/// The parameter with the kind of an increment. In an increment, the terminal sets it.
const PRACTICE: &str = "standingInstruction.industryPractice";
/// Structures whose members have keys in brackets (interface: Custom parameters and scheme data; Merchant; Risk).
const KEYED: [&str; 4] = ["customParameters", "merchant.data", "risk.parameters", "threeDSecure.schemeData"];
/// The maximum nesting depth. `airline.passengers[0].legs[0].carrierCode` has five levels.
const MAX_DEPTH: usize = 8;

/// The reason why a parameter cannot be sent. It does not show the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {why}")]
pub struct UnfitParameter {
    /// The parameter's flat name.
    pub name: String,
    /// The problem and its remedy.
    pub why: String,
}

/// Returns the till's parameters by their flat names, sorted by name. The interface's data model contains each of them
/// and permits its value. This kind of call and this gateway accept them. Together with the shop's own parameters, they
/// break no rule.
///
/// # Errors
/// Returns an error for the first parameter that cannot be sent.
pub fn parameters(
    added: &Map<String, Value>,
    kind: Kind,
    gateway: &config::Gateway,
) -> Result<Vec<(String, String)>, UnfitParameter> {
    if added.is_empty() {
        return Ok(Vec::new());
    }
    let flat = flattened(added)?;
    judged(&flat, &gateway.shops_parameters(kind, &flat), kind, &gateway.assumptions)?;
    Ok(flat)
}

/// Returns the shop's own parameters by their flat names, sorted by name. A sale can carry each of them.
///
/// # Errors
/// Returns an error for the first parameter that cannot be sent.
pub(crate) fn of_the_shop(
    parameters: &Map<String, Value>,
    assumptions: &Assumptions,
) -> Result<Vec<(String, String)>, UnfitParameter> {
    let flat = flattened(parameters)?;
    if let Some((name, _)) = flat.iter().find(|(name, _)| !OF_THE_SHOP.contains(&first_word(name))) {
        return Err(problem(name, "the shop may set only merchant.…, descriptor and customParameters[…]; omit it"));
    }
    judged(&flat, &[], Kind::Sale, assumptions)?;
    Ok(flat)
}

/// Checks whether parameters say how a payment with a stored card is authenticated. The sender of such parameters is
/// liable for the authentication.
#[must_use]
pub fn say_how_authenticated(flat: &[(String, String)]) -> bool {
    flat.iter().any(|(name, _)| HOW_AUTHENTICATED.contains(&name.as_str()))
}

fn judged(
    flat: &[(String, String)],
    of_shop: &[(String, String)],
    kind: Kind,
    assumptions: &Assumptions,
) -> Result<(), UnfitParameter> {
    let call = call_of(kind);
    let names = Names::new(&assumptions.wallets, &assumptions.schemes);
    let other_means = |word: &str| OTHER_MEANS.contains(&word) || names.wallets.iter().any(|wallet| wallet == word);
    let is_the_terminals = |name: &str| is_owned(name) || call == Call::Increment && name == PRACTICE;
    let overrides =
        call == Call::ByRegistration && flat.iter().any(|(name, value)| name == OVERRIDE && value == "true");
    for (name, value) in flat {
        let why = match first_word(name) {
            _ if pan::is_in(name) || (pan::is_in(value) && !is_telephone(name)) => {
                "looks like a card number, which only the reader may take; omit it"
            }
            _ if kind == Kind::ForgetCard => "only the id of a stored card is needed to delete it; omit it",
            word if kind == Kind::StoreCard && !WITH_A_STORED_CARD.contains(&word) => {
                "storing a card pays nothing and takes only customer and billing; omit it"
            }
            _ if overrides && HOLDERS.contains(&name.as_str()) => continue,
            _ if call == Call::ByRegistration && HOLDERS.contains(&name.as_str()) => {
                "a stored card has its own holder; omit it, or add overrideHolder = true if the card has none"
            }
            _ if call == Call::ByRegistration && HOW_AUTHENTICATED.contains(&name.as_str()) => continue,
            _ if is_the_terminals(name) => "the terminal sets this parameter itself; omit it",
            word if other_means(word) => "this terminal takes only card payments; omit it",
            "integrity" => "is for the script of a web page, which a terminal does not have; omit it",
            "overrideHolder" if call == Call::Payment => {
                "is for a stored card, but a card is read here; omit it, or pay by registration"
            }
            "job" if matches!(call, Call::Payment | Call::ByRegistration) => {
                "a terminal cannot set up subscriptions; omit it"
            }
            _ => continue,
        };
        return Err(problem(name, why));
    }
    // Some rules depend on the kind of payment. The terminal's other parameters are still missing here, and the till
    // need not supply them.
    let mut form = [flat, of_shop].concat();
    form.push(("paymentType".to_owned(), kind.payment_type().to_owned()));
    let asked = FormContext { direction: Direction::Request, call, from_client_side: false, names: &names };
    let violation = form::judge(&form, &asked).into_iter().find(|violation| !is_the_terminals(&violation.name));
    if let Some(violation) = violation {
        return Err(UnfitParameter { why: format!("{}; {}", violation.problem, violation.rule), name: violation.name });
    }
    for (name, _) in flat {
        let Ok(known) = named_in(name, &names, Direction::Request, call) else { continue };
        if assumptions.parameters_not_taken.iter().any(|entry| parameter::means(entry, &known.name())) {
            return Err(problem(name, "this gateway does not accept this parameter (parameters-not-taken); omit it"));
        }
    }
    Ok(())
}

/// Returns the interface's call for this kind of transaction.
fn call_of(kind: Kind) -> Call {
    match kind {
        Kind::Sale | Kind::PreAuthorisation | Kind::Credit => Call::Payment,
        Kind::ByRegistration | Kind::PreAuthorisationByRegistration => Call::ByRegistration,
        Kind::StoreCard | Kind::ForgetCard => Call::Registration,
        Kind::Capture | Kind::Refund | Kind::Reversal => Call::FollowUp,
        Kind::Increment | Kind::Reauthorisation => Call::Increment,
    }
}

fn is_owned(name: &str) -> bool {
    OWNED.contains(&first_word(name))
}

/// Checks whether a parameter is a telephone number. A foreign one may look like a card number.
fn is_telephone(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("phone") || name.ends_with("mobile")
}

fn first_word(name: &str) -> &str {
    name.split(['.', '[']).next().unwrap_or_default()
}

/// Checks whether a till's parameters equal those that were sent earlier, in any notation.
#[must_use]
pub fn are_the_same(added: &Map<String, Value>, sent: &[(String, String)]) -> bool {
    flattened(added).is_ok_and(|flat| flat == sent)
}

/// Flattens parameters and sorts them by name.
pub(crate) fn flattened(added: &Map<String, Value>) -> Result<Vec<(String, String)>, UnfitParameter> {
    let mut flat = Vec::new();
    for (name, value) in added {
        flatten(name.clone(), value, 0, &mut flat)?;
    }
    let bytes: usize = flat.iter().map(|(name, value)| 3 * (name.len() + value.len()) + 2).sum();
    if bytes > MAX_PARAMETERS {
        let why = format!("all parameters together are more than {MAX_PARAMETERS} bytes");
        return Err(UnfitParameter { name: "parameters".to_owned(), why });
    }
    flat.sort();
    for (n, (name, _)) in flat.iter().enumerate() {
        if n > 0 && flat[n - 1].0 == *name {
            return Err(problem(name, "is given twice"));
        }
    }
    Ok(flat)
}

fn flatten(name: String, value: &Value, depth: usize, flat: &mut Vec<(String, String)>) -> Result<(), UnfitParameter> {
    if depth > MAX_DEPTH {
        return Err(problem(&name, "is nested too deeply"));
    }
    // A till may set some card parameters. The full name decides.
    let has_parts = value.as_object().is_some_and(|parts| !parts.is_empty());
    if is_owned(&name) && !has_parts && !HOLDERS.contains(&name.as_str()) {
        return Err(problem(&name, "the terminal sets this parameter itself; omit it"));
    }
    match value {
        Value::String(text) => flat.push((name, text.clone())),
        Value::Bool(yes) => flat.push((name, yes.to_string())),
        Value::Number(number) if number.is_u64() || number.is_i64() => flat.push((name, number.to_string())),
        Value::Number(_) => return Err(problem(&name, "write it as a string; a number could be rounded")),
        Value::Null => return Err(problem(&name, "is null; omit it")),
        Value::Array(values) => {
            for (n, value) in values.iter().enumerate() {
                flatten(format!("{name}[{n}]"), value, depth + 1, flat)?;
            }
        }
        Value::Object(members) => {
            let keyed = KEYED.contains(&name.as_str());
            for (key, value) in members {
                let name = if keyed { format!("{name}[{key}]") } else { format!("{name}.{key}") };
                flatten(name, value, depth + 1, flat)?;
            }
        }
    }
    Ok(())
}

fn problem(name: &str, why: &str) -> UnfitParameter {
    UnfitParameter { name: shown(name), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        let json: Value = serde_json::from_str(text).unwrap();
        let read = parameters(json.as_object().unwrap(), Kind::Sale, &gateway(""));
        read.map_err(|problem| problem.to_string())
    }

    #[test]
    fn with_a_stored_card_goes_what_the_gateway_takes_there() {
        let read = |kind, text: &str| {
            let json: Value = serde_json::from_str(text).unwrap();
            let read = parameters(json.as_object().unwrap(), kind, &gateway(""));
            read.map_err(|problem| problem.to_string())
        };
        let customer = r#"{"customer":{"givenName":"Ada","surname":"Poe"}}"#;
        assert_eq!(read(Kind::StoreCard, customer).map(|flat| flat.len()), Ok(2));
        for text in [r#"{"taxAmount":"1.00"}"#, r#"{"createRegistration":true}"#, r#"{"merchantMemo":"a long note"}"#] {
            assert!(read(Kind::StoreCard, text).unwrap_err().contains("pays nothing"), "{text}");
        }
        assert!(read(Kind::ForgetCard, customer).unwrap_err().contains("only the id"));
    }

    /// Returns the section of the settings with additional lines.
    fn gateway(more: &str) -> config::Gateway {
        let least = "url = \"https://g\"\nentity-id = \"e\"\nca-file = \"/ca\"\n";
        toml::from_str(&format!("{least}{more}")).unwrap()
    }

    #[test]
    fn of_a_stored_card_a_till_says_how_it_is_authenticated_and_whose_it_is() {
        let read = |kind, text: &str| {
            let json: Value = serde_json::from_str(text).unwrap();
            let read = parameters(json.as_object().unwrap(), kind, &gateway(""));
            read.map_err(|problem| problem.to_string())
        };
        let exempt = r#"{"threeDSecure":{"exemptionFlag":"01","challengeIndicator":"05","version":"2.2.0"}}"#;
        let by_shop = r#"{"threeDSecure.threeRIInd":"RECURRING","threeDSecure.channel":"3"}"#;
        for text in [r#"{"threeDSecure.disable":true}"#, exempt, by_shop] {
            let flat = read(Kind::ByRegistration, text).unwrap();
            assert!(say_how_authenticated(&flat), "{text}");
            assert!(read(Kind::Sale, text).unwrap_err().contains("only card payments"), "{text}");
            assert!(read(Kind::Refund, text).unwrap_err().contains("only card payments"), "{text}");
        }
        // A terminal sends no proof of an authentication.
        assert!(read(Kind::ByRegistration, r#"{"threeDSecure.eci":"05"}"#).is_err());
        let holder = r#"{"overrideHolder":true,"card":{"holder":"Ada Poe"}}"#;
        let flat = read(Kind::ByRegistration, holder).unwrap();
        assert!(flat.contains(&("card.holder".to_owned(), "Ada Poe".to_owned())) && !say_how_authenticated(&flat));
        assert!(read(Kind::Sale, holder).is_err());
        for (text, problem) in [
            (r#"{"card.holder":"Ada Poe"}"#, "card.holder: a stored card has its own holder"),
            (r#"{"card.holder":"Ada Poe","overrideHolder":false}"#, "card.holder: a stored card has its own holder"),
            (r#"{"card.number":"1","overrideHolder":true}"#, "card.number: the terminal sets this parameter itself"),
            (r#"{"card.holder":"4761739001010119","overrideHolder":true}"#, "card.holder: looks like a card number"),
        ] {
            let refused = read(Kind::ByRegistration, text).unwrap_err();
            assert!(refused.starts_with(problem), "{refused}");
        }
    }

    #[test]
    fn the_shops_own_parameters_are_its_statement_and_its_marks() {
        let own = "[parameters]\n\"merchant.name\" = \"Corner Shop\"\nmerchant.city = \"Berlin\"\n[parameters.customParameters]\nbranch = 7";
        let gateway = gateway(own);
        let shops = |kind, till: &[(String, String)]| {
            gateway.shops_parameters(kind, till).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let all = ["customParameters[branch]", "merchant.city", "merchant.name"];
        for kind in Kind::ALL {
            let sent = shops(kind, &[]);
            assert_eq!(sent, if kind.moves_money() { &all[..] } else { &[] }, "{kind:?}");
        }
        assert_eq!(shops(Kind::Sale, &[("merchant.name".to_owned(), "Stall".to_owned())]), all[..2]);
        let read = |text: &str| {
            let json: Value = serde_json::from_str(text).unwrap();
            of_the_shop(json.as_object().unwrap(), &Assumptions::default()).map_err(|problem| problem.to_string())
        };
        for (text, problem) in [
            (r#"{"merchantMemo":"a long note"}"#, "merchantMemo: the shop may set only"),
            (r#"{"merchant":{"mcc":"54111"}}"#, "merchant.mcc: "),
            (r#"{"merchant":{"nane":"x"}}"#, "merchant.nane: unknown parameter"),
            (r#"{"descriptor":"card 4761739001010119"}"#, "descriptor: looks like a card number"),
            (r#"{"amount":"1.00"}"#, "amount: the terminal sets this parameter itself"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.starts_with(problem), "{refused}");
        }
    }

    #[test]
    fn flat_and_nested_names_are_the_same() {
        let flat =
            read(r#"{"cart.items[0].name":"Tea","cart.items[0].price":"2.50","customParameters[shop]":"7"}"#).unwrap();
        let nested =
            read(r#"{"cart":{"items":[{"name":"Tea","price":"2.50"}]},"customParameters":{"shop":7}}"#).unwrap();
        assert_eq!(flat, nested);
        assert_eq!(flat[0], ("cart.items[0].name".to_owned(), "Tea".to_owned()));
    }

    #[test]
    fn what_the_terminal_says_itself_and_what_cannot_be_sent_is_refused_by_name() {
        for (text, problem) in [
            (r#"{"amount":"1.00"}"#, "amount: the terminal sets this parameter itself; omit it"),
            (r#"{"card":{"number":"4111"}}"#, "card.number: the terminal sets this parameter itself; omit it"),
            (r#"{"card":{}}"#, "card: the terminal sets this parameter itself; omit it"),
            (r#"{"giftCard":{"pin":"1234"}}"#, "giftCard.pin: this terminal takes only card payments; omit it"),
            (r#"{"threeDSecure.eci":"05"}"#, "threeDSecure.eci: this terminal takes only card payments; omit it"),
            (r#"{"pos.entryMode":"ICC"}"#, "pos.entryMode: the terminal sets this parameter itself; omit it"),
            (r#"{"4111111111111119":null}"#, "****************: is null; omit it"),
            (r#"{"taxAmount":1.5}"#, "taxAmount: write it as a string; a number could be rounded"),
            (r#"{"taxAmount":null}"#, "taxAmount: is null; omit it"),
            (
                r#"{"merchantMemo":"short"}"#,
                "merchantMemo: is too short (5 characters); must be 8 to 255 characters without control characters",
            ),
            (
                r#"{"merchantMemmo":"longer than eight"}"#,
                "merchantMemmo: unknown parameter; did you mean merchantMemo?",
            ),
            (
                r#"{"billing.houseNumber2":"7"}"#,
                "billing.houseNumber1: required and not sent; houseNumber2 needs houseNumber1 (house-number)",
            ),
            (r#"{"cart.items[0].name":"a","cart":{"items":[{"name":"b"}]}}"#, "cart.items[0].name: is given twice"),
        ] {
            assert_eq!(read(text).unwrap_err(), problem);
        }
        for value in ["4222222222222", "374245001751006", "card 4761-7390-0101-0119", "6799998900000074316"] {
            for name in [
                "customParameters[note]",
                "merchantMemo",
                "customer.givenName",
                "billing.street1",
                "cart.items[0].name",
            ] {
                let refused = read(&format!(r#"{{"{name}":"{value}"}}"#)).unwrap_err();
                assert!(refused.contains("looks like a card number"), "{name}: {refused}");
                assert!(!refused.contains("7390") && !refused.contains(value), "{refused}");
            }
        }
        assert!(
            read(r#"{"customParameters[4761739001010119]":"1"}"#).unwrap_err().contains("looks like a card number")
        );
        // A telephone number, and a number written on a parcel.
        let customer = r#"{"customer":{"givenName":"Ada","surname":"Poe","workPhone":"4222222222222"}}"#;
        assert_eq!(read(customer).map(|flat| flat.len()), Ok(3));
        assert!(read(r#"{"cart":{"items":[{"name":"4006381333931"}]}}"#).is_ok());
        let deep = format!("{}1{}", r#"{"a":"#.repeat(12), "}".repeat(12));
        assert!(read(&deep).unwrap_err().contains("nested too deeply"));
    }
}
