//! The table of parameters and its command line, checked against a typed copy of the interface document (`data_model`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

use crate::data_model::{self, DOCUMENT, REPEATED};
use pos_gateway_model::form::{self, FormContext};
use pos_gateway_model::{
    self as parameter, Call, CharacterSet, Direction, Format, Names, Need, Parameter, Unfit, named, named_in, rule,
};
use proptest::prelude::*;

// ---- The document

/// A line of the document.
struct Line {
    group: &'static str,
    direction: &'static str,
    call: &'static str,
    name: &'static str,
    need: &'static str,
    format: &'static str,
}

fn document() -> Vec<Line> {
    let (mut lines, mut heading, mut expected) = (Vec::new(), [""; 3], 0);
    let complete = |lines: &Vec<Line>, expected: usize, heading: [&str; 3]| {
        assert_eq!(lines.len(), expected, "as many fields as the heading says: {heading:?}");
    };
    for line in DOCUMENT.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&'static str> = line.split(' ').collect();
        match words[..] {
            ["#", group, direction, call, count] => {
                complete(&lines, expected, heading);
                heading = [group, direction, call];
                expected += count.parse::<usize>().unwrap();
            }
            [name, need, format] => {
                let [group, direction, call] = heading;
                lines.push(Line { group, direction, call, name, need, format });
            }
            _ => panic!("not a line of the document: {line}"),
        }
    }
    complete(&lines, expected, heading);
    lines
}

fn need(need: Need) -> &'static str {
    match need {
        Need::Required => "R",
        Need::Conditional => "C",
        Need::Optional => "O",
    }
}

fn at(parameter: &Parameter) -> [String; 4] {
    [parameter.section.group, parameter.section.direction.as_str(), parameter.call().as_str(), &parameter.name()]
        .map(str::to_owned)
}

fn rows() -> BTreeMap<[String; 4], Parameter> {
    parameter::all().map(|parameter| (at(&parameter), parameter)).collect()
}

#[test]
fn the_table_has_every_field_of_the_document_and_no_other() {
    let mut typed: BTreeSet<[String; 5]> = document()
        .iter()
        .map(|line| [line.group, line.direction, line.call, line.name, line.need].map(str::to_owned))
        .collect();
    for (group, from, to, except, count) in REPEATED {
        let of = from.trim_end_matches('.');
        let lines = document();
        let repeated = lines.iter().filter(|line| line.group == of && !except.contains(&line.name)).map(|line| {
            let name = line.name.replacen(from, to, 1);
            [*group, "request", "payment", &name, "O"].map(str::to_owned)
        });
        let before = typed.len();
        typed.extend(repeated);
        assert_eq!(typed.len() - before, *count, "{group}");
    }
    let known: BTreeSet<[String; 5]> = parameter::all()
        .map(|parameter| {
            let [group, direction, call, name] = at(&parameter);
            [group, direction, call, name, need(parameter.need()).to_owned()]
        })
        .collect();
    assert_eq!(known.difference(&typed).collect::<Vec<_>>(), Vec::<&[String; 5]>::new(), "not in the document");
    assert_eq!(typed.difference(&known).collect::<Vec<_>>(), Vec::<&[String; 5]>::new(), "not in the table");
    assert_eq!(parameter::all().count(), typed.len(), "none stands twice");
}

#[test]
fn the_columns_of_the_file_are_those_of_the_document() {
    let columns: BTreeSet<(&str, String)> =
        parameter::all().filter_map(|parameter| Some((parameter.row.column?, parameter.name().into_owned()))).collect();
    let typed =
        data_model::COLUMNS.iter().flat_map(|(column, names)| names.iter().map(|name| (*column, (*name).to_owned())));
    assert_eq!(columns, typed.collect());
    let lines = parameter::all().filter(|parameter| parameter.call() == Call::Reconciliation).count();
    assert_eq!(columns.len(), lines, "every field of a line is a column");
}

#[test]
fn every_row_is_explained_in_words_and_secrets_are_known() {
    for parameter in parameter::all() {
        assert!(!parameter.row.meaning.is_empty(), "{}", parameter.name());
        assert!(!parameter.row.meaning.contains("  "), "{}", parameter.name());
    }
    for name in [
        "Authorization",
        "card.number",
        "card.holder",
        "card.expiryMonth",
        "card.expiryYear",
        "card.cvv",
        "pos.encryptedPin.data",
        "pos.encryptedPin.ksn",
        "pos.encryptedSred.data",
        "pos.encryptedSred.ksn",
        "pos.iccDataRequest",
        "tokenAccount.number",
        "tokenAccount.cryptogram",
        "bankAccount.iban",
        "bankAccount.number",
        "giftCard.number",
        "giftCard.pin",
        "<wallet_a>.paymentToken",
    ] {
        assert!(parameter::find(name).unwrap().secret, "{name}");
    }
    assert!(!parameter::find("amount").unwrap().secret);
}

/// Checks that each parameter that `request` writes has a row, because `request` relies on this.
#[test]
fn every_parameter_that_the_terminal_sends_has_a_row() {
    let source = std::fs::read_to_string("crates/gateway/src/request.rs").unwrap();
    let call = ["form.text(\"", "form.hex(\"", "form.ksn(\"", "form.optional(\""];
    let names = call.iter().flat_map(|call| source.split(call).skip(1));
    let names: BTreeSet<&str> = names.map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(parameter::find(name).is_some(), "{name}");
    }
}

/// Returns values that a format of the document accepts and values that it refuses.
fn examples(format: &str) -> (Vec<String>, Vec<String>) {
    let (kind, rest) = format.split_once(':').unwrap();
    let spelled = |text: &str| {
        let text = if text == "%" { "" } else { text };
        let text = text.replace('~', " ");
        if text.starts_with('{') { text.replace('\'', "\"") } else { text }
    };
    let lengths = |one: &str, wrong: &[&str]| {
        let (min, max) = rest.split_once('-').unwrap();
        let (min, max): (usize, usize) = (min.parse().unwrap(), max.parse().unwrap());
        let bad = wrong.iter().map(|wrong| format!("{}{wrong}", one.repeat(min - 1)));
        (
            vec![one.repeat(min), one.repeat(max)],
            [one.repeat(min - 1), one.repeat(max + 1)].into_iter().chain(bad).collect(),
        )
    };
    match kind {
        "an" => lengths("é", &["\u{7}", "\n"]),
        "n" => lengths("9", &["a", "-", "٣"]),
        "ld" => lengths("Z", &["-", "_", " ", "é"]),
        "w" => lengths("_", &["-", " ", "é"]),
        "a" => lengths("x", &["1", "-", "é"]),
        "up" => lengths("X", &["x", "1", "É"]),
        "hex" => lengths("f", &["F", "g"]),
        "any" => {
            let most: usize = rest.parse().unwrap();
            (vec![String::new(), "\n".to_owned(), "é".repeat(most)], vec!["é".repeat(most + 1)])
        }
        "amount" => {
            let whole: usize = rest.parse().unwrap();
            let nines = "9".repeat(whole);
            let bad =
                ["1", "1.", "1.5", "1.555", ".50", "-1.00", "+1.00", "1,00", " 1.00", "1.00 ", "", "1e2.00", "1.0.0"];
            (
                vec!["0.01".to_owned(), "0.00".to_owned(), format!("{nines}.99")],
                bad.iter().map(|bad| (*bad).to_owned()).chain([format!("1{nines}.99")]).collect(),
            )
        }
        "v" => {
            let words: Vec<&str> = rest.split('|').collect();
            let other = |word: &str| {
                let swapped: String = word
                    .chars()
                    .map(|c| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
                    .collect();
                swapped
            };
            let bad = words.iter().flat_map(|word| [other(word), format!("{word} "), format!("{word}X")]);
            let bad = bad.filter(|bad| !words.contains(&bad.as_str())).chain([String::new()]).collect();
            (words.iter().map(|word| (*word).to_owned()).collect(), bad)
        }
        "x" => {
            let (good, bad) = rest.split_once('!').unwrap();
            (good.split(';').map(spelled).collect(), bad.split(';').map(spelled).collect())
        }
        _ => panic!("{format}"),
    }
}

#[test]
fn values_are_held_to_the_formats_of_the_document() {
    let rows = rows();
    let mut wrong = Vec::new();
    for Line { group, direction, call, name, format, .. } in document() {
        let parameter = rows[&[group, direction, call, name].map(str::to_owned)];
        let (good, bad) = examples(format);
        assert!(!good.is_empty() && !bad.is_empty(), "{name}");
        for (value, takes) in good.iter().map(|value| (value, true)).chain(bad.iter().map(|value| (value, false))) {
            if parameter.row.format.fits(value) != takes {
                let shown: String = value.chars().take(80).collect();
                wrong.push(format!("{group} {name} {}: {shown:?}", if takes { "must take" } else { "must refuse" }));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

// ---- Names

/// Checks that the words of a value set are written as in the document, in the same case.
#[test]
fn each_word_of_a_value_set_is_taken_and_no_other() {
    let mut sets = 0;
    for row in parameter::SECTIONS.iter().flat_map(|section| section.rows) {
        let (Format::OneOf(words) | Format::List(words)) = row.format else { continue };
        sets += 1;
        for word in words {
            assert_eq!(row.format.check(word), Ok(()), "{} {word}", row.name);
            let other_case = if word.contains(|c: char| c.is_ascii_lowercase()) {
                word.to_ascii_uppercase()
            } else {
                word.to_ascii_lowercase()
            };
            for wrong in [format!("{word}X"), format!(" {word}"), other_case, String::new()] {
                let is_a_word = words.contains(&wrong.as_str());
                assert_eq!(row.format.check(&wrong).is_ok(), is_a_word, "{} {wrong:?}", row.name);
            }
        }
        let all = words.join(",");
        let is_list = matches!(row.format, Format::List(_));
        assert_eq!(row.format.check(&all).is_ok(), is_list || words.len() == 1, "{} {all}", row.name);
    }
    assert!(sets > 60, "{sets}");
}

#[test]
fn names_have_indexes_and_keys_in_brackets() {
    let names = Names::default();
    let key = |length: usize| format!("customParameters[{}]", "a".repeat(length));
    for name in [
        "cart.items[0].name",
        "cart.items[1000].recipient.email",
        "airline.passengers[3].legs[12].flightNumber",
        "redirect.parameters[0].name",
        "overridePaymentType[VISA_DEBIT]",
        "customParameters[a.B_3]",
        &key(3),
        &key(64),
        "risk.parameters[abc]",
        "merchant.data[abc]",
        "threeDSecure.schemeData[CB-USECASE]",
        "shipping.customer.givenName",
        "merchant.billing.city",
        "merchant.shipping.method",
        "resultDetails.ExtendedDescription",
        // Only a cart's items have a highest index (interface: Cart items; Limits).
        "airline.passengers[0].legs[1001].taxAmount",
        "airline.passengers[123456789012345678901234567890].name",
        "cart.payments[1001].name",
        "marketPlace.sellers[5000].id",
        "redirect.parameters[1001].value",
        "matchedTransactions.payment[1001].id",
    ] {
        assert!(named(name, &names, Direction::Request).is_ok(), "{name}");
    }
    for (name, says) in [
        ("cart.items[1001].name", "from 0 to 1000"),
        ("cart.items[01].name", "from 0 to 1000"),
        ("cart.items[-1].name", "from 0 to 1000"),
        ("cart.items[n].name", "from 0 to 1000"),
        ("cart.items[1001].recipient.email", "from 0 to 1000"),
        ("airline.passengers[0].legs[01].taxAmount", "a whole number without leading zeros"),
        ("airline.passengers[-1].name", "a whole number without leading zeros"),
        ("cart.payments[n].name", "a whole number without leading zeros"),
        ("cart.items[].name", "wrong brackets"),
        ("cart.items[0.name", "wrong brackets"),
        ("cart.items0].name", "wrong brackets"),
        ("cart.items[0]name", "wrong brackets"),
        ("cart.items[0][1].name", "wrong brackets"),
        ("cart.items[[0]].name", "wrong brackets"),
        ("[0]", "wrong brackets"),
        ("cart.items.name", "needs brackets, as in cart.items[n].name"),
        ("amount[0]", "brackets where amount has none"),
        ("cart..items", "empty part"),
        ("amount.", "empty part"),
        ("", "empty part"),
        (&key(2), "3 to 64 letters"),
        (&key(65), "3 to 64 letters"),
        ("customParameters[a b]", "3 to 64 letters"),
        ("customParameters[ab-c]", "3 to 64 letters"),
        ("overridePaymentType[VISA.X]", "1 to 32 letters"),
        ("threeDSecure.schemeData[CB-OTHER]", "unknown"),
        ("resultDetails.ab", "unknown"),
        ("shipping.customer.browserFingerprint.id", "unknown"),
        ("shipping.customer.browser.deviceId", "unknown"),
        ("shipping.customer.app.deviceId", "unknown"),
        ("merchant.shipping.customer.givenName", "unknown"),
        (&"a".repeat(161), "longer than 160"),
    ] {
        let said = named(name, &names, Direction::Request).unwrap_err().to_string();
        assert!(said.contains(says), "{name}: {said}");
    }
}

#[test]
fn wallets_and_schemes_are_settings() {
    let names = Names::new(&["firstPay".to_owned(), "secondPay".to_owned()], &["ONE".to_owned(), "TWO".to_owned()]);
    for (name, known) in [
        ("firstPay.cardNetwork", true),
        ("secondPay.paymentToken", true),
        ("secondPay.cardNetwork", false),
        ("thirdPay.paymentToken", false),
        ("<wallet_a>.paymentToken", false),
        ("<wallet_c>.paymentToken", true),
        ("threeDSecure.v2.TWO.requestorId", true),
        ("threeDSecure.v2.THREE.requestorId", false),
    ] {
        assert_eq!(named(name, &names, Direction::Request).is_ok(), known, "{name}");
    }
    let found = form::alone("firstPay.paymentTokem", "x", &names, Direction::Request).unwrap();
    assert_eq!(found.rule, "did you mean firstPay.paymentToken?");
}

#[test]
fn a_name_can_have_a_format_for_each_call() {
    let names = Names::default();
    let format = |call| named_in("date.from", &names, Direction::Request, call).map(|found| found.row.format);
    assert_eq!(format(Call::Report), Ok(Format::Date));
    assert_eq!(format(Call::Query), Ok(Format::Moment));
    assert_eq!(format(Call::Payment), Err(Unfit::OtherCall { of: vec![Call::Report, Call::Query] }));
    for (value, good) in [("2026-01-02", true), ("2026-01-02 03:04:05", true), ("2026-01-02 03:04", false)] {
        assert_eq!(form::alone("date.from", value, &names, Direction::Request).is_none(), good, "{value}");
    }
    let reference = |call| named_in("merchantTransactionId", &names, Direction::Request, call).unwrap().row.format;
    assert!(reference(Call::Query).fits("short") && !reference(Call::Payment).fits("short"));
    // The rules for requests come first: a response's looser format does not apply to a request.
    assert!(form::alone("card.expiryMonth", "13", &names, Direction::Request).is_some());
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    for (name, meant) in [
        ("ammount", Some("amount")),
        ("Amount", Some("amount")),
        ("merchantTransactionID", Some("merchantTransactionId")),
        ("customer.given_name", Some("customer.givenName")),
        ("billing.street", Some("billing.street1")),
        ("cart.items[0].nam", Some("cart.items[n].name")),
        ("shipping.customer.surnam", Some("shipping.customer.surname")),
        ("somethingThatNobodyKnowsAtAll", None),
    ] {
        assert_eq!(parameter::nearest(name, &Names::default()).as_deref(), meant, "{name}");
    }
}

// ---- Rules

/// A payment with every mandatory field.
const SALE: &str = "amount=12.34&currency=EUR&paymentType=DB";
const BANK: &str =
    "amount=12.34&currency=EUR&paymentType=DB&paymentBrand=DIRECTDEBIT_SEPA&bankAccount.holder=Jane%20Jones";
const BROWSER: &str = "amount=12.34&currency=EUR&paymentType=DB&customer.givenName=Jane&customer.surname=Jones\
    &customer.browser.acceptHeader=*&customer.browser.language=en&customer.browser.screenHeight=900\
    &customer.browser.screenWidth=1600&customer.browser.timezone=-60&customer.browser.userAgent=X\
    &customer.browser.javaEnabled=false&billing.street1=Main%20Street&billing.city=Town&billing.postcode=12345\
    &billing.country=DE";
const V2: &str = "&threeDSecure.v2.%3Cscheme%3E.requestorId=1&billing.street1=Main%20Street&billing.city=Town\
    &billing.postcode=12345&billing.country=DE";
const CARD: &str = "&card.number=4111111111111111&card.expiryMonth=12&card.expiryYear=2030";

fn asked(call: Call, names: &Names) -> FormContext<'_> {
    let direction = match call {
        Call::Webhook | Call::Reconciliation => Direction::Response,
        _ => Direction::Request,
    };
    FormContext { direction, call, from_client_side: false, names }
}

fn judged(form: &str, asked: &FormContext<'_>) -> Vec<String> {
    let pairs = form::decode(form.as_bytes()).unwrap();
    form::judge(&pairs, asked).iter().map(ToString::to_string).collect()
}

/// Lists rule, call, a form that keeps the rule, a form that breaks it, and the field that the refusal names.
fn cases() -> Vec<(&'static str, Call, String, String, &'static str)> {
    use Call::{ByRegistration, Checkout, FollowUp, Increment, Payment, Query};
    let iban = format!("{BANK}&bankAccount.iban=DE89370400440532013000&bankAccount.bic=DEUTDEFF");
    let with = |more: &str| format!("{SALE}{more}");
    let name = "&customer.givenName=Jane&customer.surname=Jones";
    let document = "customer.identificationDocType=PASSPORT";
    let frame = "date.from=2026-01-01%2000:00:00&date.to=2026-01-02%2000:00:00";
    let wallet =
        "&%3Cwallet_b%3E.source=app&threeDSecure.verificationId=AAAAAAAAAAAAAAAAAAAAAAAAAAA%3D&threeDSecure.eci=05";
    let seller = "&marketPlace.sellers[0].id=S1&cart.items[7].sellerId=";
    let french = "&threeDSecure.schemeData[CB-ITEMSNB]=3";
    let exempt = "&threeDSecure.challengeIndicator=02&threeDSecure.exemptionFlag=01&threeDSecure.version=2.2.0";
    let refund = |more: &str| format!("amount=1.00&currency=EUR&paymentType=RF{more}");
    let increment = "amount=1.00&currency=EUR&paymentType=PA&referenceUuid=1\
        &standingInstruction.industryPractice=INCREMENTAL_AUTH";
    let stored = "&overrideHolder=true&bankAccount.holder=Jane%20Jones";
    let without = |form: &str, field: &str| {
        let kept: Vec<&str> = form.split('&').filter(|pair| !pair.starts_with(&format!("{field}="))).collect();
        kept.join("&")
    };
    let mut cases = vec![
        ("brand", Payment, iban.clone(), without(&iban, "paymentBrand"), "paymentBrand"),
        ("brand", Payment, with(CARD), with("&virtualAccount.accountId=1"), "paymentBrand"),
        ("brand", Checkout, without(&iban, "paymentBrand"), String::new(), ""),
        ("payment-type", FollowUp, "paymentType=RV".to_owned(), "amount=1.00&currency=EUR".to_owned(), "paymentType"),
        (
            "wallet",
            Payment,
            with("&%3Cwallet_a%3E.paymentToken=1&%3Cwallet_a%3E.cardType=x"),
            with("&%3Cwallet_a%3E.cardType=x"),
            "<wallet_a>.paymentToken",
        ),
        (
            "wallet",
            Payment,
            with(&format!("{CARD}{wallet}")),
            with(&format!("{CARD}{wallet}&%3Cwallet_b%3E.paymentToken=1")),
            "<wallet_b>.source",
        ),
        ("bank-account-number", Payment, iban.clone(), without(&iban, "bankAccount.iban"), "bankAccount.number"),
        (
            "bank-account-number",
            Payment,
            format!("{}&bankAccount.number=123", without(&iban, "bankAccount.iban")),
            String::new(),
            "",
        ),
        ("bank-code", Payment, iban.clone(), without(&iban, "bankAccount.bic"), "bankAccount.bankCode"),
        (
            "bank-code",
            Payment,
            format!("{}&bankAccount.bankCode=123", without(&iban, "bankAccount.bic")),
            String::new(),
            "",
        ),
        (
            "customer-name",
            Payment,
            with(&format!("{name}&customer.sex=F")),
            with("&customer.sex=F&customer.surname=Jones"),
            "customer.givenName",
        ),
        ("customer-name", Payment, with(name), with("&customer.sex=F&customer.givenName=Jane"), "customer.surname"),
        ("customer-name", Payment, with("&shipping.customer.sex=F"), String::new(), ""),
        (
            "identification",
            Payment,
            with(&format!("{name}&{document}&customer.identificationDocId=12345678")),
            with(&format!("{name}&{document}")),
            "customer.identificationDocId",
        ),
        (
            "identification",
            Payment,
            with(""),
            with("&shipping.customer.identificationDocId=12345678"),
            "shipping.customer.identificationDocType",
        ),
        (
            "street",
            Payment,
            with("&billing.street1=12&billing.street2=Main%20Street"),
            with("&billing.street1=12&billing.street2=34"),
            "billing.street1",
        ),
        (
            "street",
            Payment,
            with("&billing.street1=12%20b"),
            with("&merchant.billing.street2=12%2034"),
            "merchant.billing.street1",
        ),
        (
            "street",
            Payment,
            with("&billing.street1=Main&billing.street2=5&billing.houseNumber1=5"),
            with("&billing.street1=12&billing.street2=Main&billing.houseNumber1=5"),
            "billing.street1",
        ),
        ("seller", Payment, with(&format!("{seller}S1")), with(&format!("{seller}S2")), "cart.items[7].sellerId"),
        ("seller", Payment, with("&cart.items[7].sellerId=S2"), String::new(), ""),
        (
            "three-ri",
            Payment,
            with("&threeDSecure.channel=3&standingInstruction.source=MIT"),
            with("&threeDSecure.channel=3&standingInstruction.source=CIT"),
            "threeDSecure.channel",
        ),
        (
            "exemption",
            Payment,
            with(exempt),
            without(&with(exempt), "threeDSecure.exemptionFlag"),
            "threeDSecure.exemptionFlag",
        ),
        (
            "exemption",
            Payment,
            with(exempt),
            without(&with(exempt), "threeDSecure.challengeIndicator"),
            "threeDSecure.challengeIndicator",
        ),
        ("exemption-version", Payment, with(exempt), with(&exempt.replace("2.2.0", "2.1.0")), "threeDSecure.version"),
        (
            "exemption-version",
            Payment,
            with(&exempt.replace("2.2.0", "2.10.0")),
            without(&with(exempt), "threeDSecure.version"),
            "threeDSecure.version",
        ),
        ("exemption-version", Payment, with("&threeDSecure.version=2.1.0"), String::new(), ""),
        ("reference-given", Increment, increment.to_owned(), without(increment, "referenceUuid"), "referenceUuid"),
        (
            "reference-given",
            Increment,
            increment.to_owned(),
            without(increment, "standingInstruction.industryPractice"),
            "standingInstruction.industryPractice",
        ),
        ("sequence", FollowUp, refund("&sequence=FINAL"), String::new(), ""),
        ("sequence", Payment, with(""), with("&sequence=FINAL"), "sequence"),
        ("sequence", ByRegistration, with(""), with("&sequence=FINAL"), "sequence"),
        ("sequence", Increment, increment.to_owned(), format!("{increment}&sequence=FINAL"), "sequence"),
        (
            "captures",
            Payment,
            with("&numberOfCaptures=98").replace("DB", "PA"),
            with("&numberOfCaptures=3"),
            "numberOfCaptures",
        ),
        ("captures", ByRegistration, with(""), with("&numberOfCaptures=3").replace("DB", "CD"), "numberOfCaptures"),
        ("captures", FollowUp, refund(""), refund("&numberOfCaptures=3"), "numberOfCaptures"),
        ("captures", Checkout, with("&numberOfCaptures=3&overridePaymentType[VISA]=PA"), String::new(), ""),
        ("payment-data", FollowUp, refund("&cart.items[0].name=Tea"), refund(CARD), "card.expiryYear"),
        (
            "payment-data",
            Increment,
            increment.to_owned(),
            format!("{increment}&%3Cwallet_b%3E.paymentToken=1"),
            "<wallet_b>.paymentToken",
        ),
        ("create-registration", Payment, with("&createRegistration=true"), String::new(), ""),
        ("create-registration", FollowUp, refund(""), refund("&createRegistration=true"), "createRegistration"),
        ("create-registration", ByRegistration, with(""), with("&createRegistration=true"), "createRegistration"),
        ("override-holder", ByRegistration, with("&overrideHolder=true"), String::new(), ""),
        ("override-holder", FollowUp, refund(""), refund("&overrideHolder=true"), "overrideHolder"),
        // A holder that replaces an empty stored one does not count as a separate account.
        ("bank-account-number", Payment, with(stored), with(&stored.replace("true", "false")), "bankAccount.number"),
        (
            "scheme-use-case",
            Payment,
            with(&format!("{french}&threeDSecure.schemeData[CB-USECASE]=01")),
            with(french),
            "threeDSecure.schemeData[CB-USECASE]",
        ),
        (
            "scheme-use-case",
            Payment,
            with(&format!("{french}&threeDSecure.npa=true&threeDSecure.authenticationInd=ADD_CARD")),
            with(&format!("{french}&threeDSecure.npa=true&threeDSecure.authenticationInd=RECURRING")),
            "threeDSecure.schemeData[CB-USECASE]",
        ),
        (
            "scheme-use-case",
            Payment,
            with(""),
            with(&format!("{french}&threeDSecure.npa=true&threeDSecure.authenticationInd=INSTALLMENT")),
            "threeDSecure.schemeData[CB-USECASE]",
        ),
        (
            "installments",
            Payment,
            with(
                "&standingInstruction.type=INSTALLMENT&threeDSecure.eci=05&standingInstruction.numberOfInstallments=3",
            ),
            with("&standingInstruction.type=INSTALLMENT&threeDSecure.eci=05"),
            "standingInstruction.numberOfInstallments",
        ),
        (
            "installments",
            Payment,
            with("&standingInstruction.type=INSTALLMENT&threeDSecure.disable=true"),
            with("&threeDSecure.authenticationInd=INSTALLMENT"),
            "standingInstruction.numberOfInstallments",
        ),
        ("time-frame", Query, frame.to_owned(), format!("{frame}&merchantTransactionId=1"), "merchantTransactionId"),
        ("time-frame", Query, "merchantTransactionId=1&limit=100".to_owned(), String::new(), ""),
        ("time-frame-ends", Query, frame.to_owned(), "date.from=2026-01-01%2000:00:00".to_owned(), "date.to"),
        ("time-frame-ends", Query, frame.to_owned(), "date.to=2026-01-01%2000:00:00".to_owned(), "date.from"),
        (
            "three-d-secure-2",
            Payment,
            with(&format!("{V2}&threeDSecure.deviceInfo=x")),
            with(V2),
            "customer.browser.userAgent",
        ),
        (
            "three-d-secure-2",
            Payment,
            with(&format!("{V2}&threeDSecure.threeRIInd=RECURRING")),
            with("&threeDSecure.v2.%3Cscheme%3E.requestorId=1&threeDSecure.deviceInfo=x"),
            "billing.city",
        ),
    ];
    for at in ["billing.", "merchant.billing.", "shipping.", "merchant.shipping."] {
        let name: &'static str = Box::leak(format!("{at}houseNumber1").into_boxed_str());
        let second = format!("&{at}street1=Main&{at}houseNumber2=b");
        cases.push(("house-number", Payment, with(&format!("{second}&{at}houseNumber1=5")), with(&second), name));
    }
    let whole = format!("{}{wallet}", with(CARD));
    for field in
        ["card.number", "card.expiryMonth", "card.expiryYear", "threeDSecure.verificationId", "threeDSecure.eci"]
    {
        cases.push(("wallet-decrypted", Payment, whole.clone(), without(&whole, field), field));
    }
    for field in [
        "customer.browser.acceptHeader",
        "customer.browser.language",
        "customer.browser.screenHeight",
        "customer.browser.screenWidth",
        "customer.browser.timezone",
        "customer.browser.userAgent",
        "customer.browser.javaEnabled",
        "billing.street1",
        "billing.city",
        "billing.postcode",
        "billing.country",
    ] {
        cases.push(("three-d-secure-2", Payment, BROWSER.to_owned(), without(BROWSER, field), field));
    }
    cases
}

#[test]
fn every_rule_accepts_and_rejects() {
    let names = Names::default();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for (rule, call, good, bad, field) in cases() {
        let asked = asked(call, &names);
        assert_eq!(judged(&good, &asked), Vec::<String>::new(), "{rule}: {good}");
        if !bad.is_empty() {
            let said = judged(&bad, &asked);
            let fits = |said: &String| said.starts_with(&format!("{field}: ")) && said.ends_with(&format!("({rule})"));
            assert!(said.iter().any(fits), "{rule}: {bad}: {said:?}");
            told.insert(rule);
        }
    }
    // The rules for answers and for the client side have separate tests below.
    told.extend(["redirect-parameters", "chargeback-reason", "client-side"]);
    assert_eq!(told, rule::RULES.iter().map(|rule| rule.name).collect(), "every rule has a form that breaks it");
}

#[test]
fn from_the_client_side_custom_names_begin_with_shopper() {
    let names = Names::default();
    let server = asked(Call::Payment, &names);
    let client = FormContext { from_client_side: true, ..server };
    let (plain, shopper) =
        (format!("{SALE}&customParameters[abc]=1"), format!("{SALE}&customParameters[SHOPPER_abc]=1"));
    assert!(judged(&plain, &server).is_empty() && judged(&shopper, &server).is_empty());
    assert!(judged(&shopper, &client).is_empty());
    let said = judged(&plain, &client);
    assert!(said[0].starts_with("customParameters[abc]: ") && said[0].ends_with("(client-side)"), "{said:?}");
}

#[test]
fn answers_have_rules_too() {
    let names = Names::default();
    let answer = FormContext { direction: Direction::Response, ..asked(Call::Payment, &names) };
    let id = "8ac7a4a17e0b1c3a017e0b1c3a017e0b";
    let good = format!("id={id}&result.code=000.000.000&buildNumber=1&timestamp=2026-01-02%2003:04:05%2B0000&ndc=a");
    assert_eq!(judged(&good, &answer), Vec::<String>::new());
    // An answer may return any structure of the request.
    assert_eq!(judged(&format!("{good}&customParameters[abc]=1&customer.sex=M"), &answer), Vec::<String>::new());
    for (more, field) in [
        ("&redirect.parameters[0].name=a", "redirect.parameters[0].value"),
        ("&redirect.parameters[1].value=a", "redirect.parameters[1].name"),
    ] {
        let said = judged(&format!("{good}{more}"), &answer);
        assert!(said[0].starts_with(&format!("{field}: ")) && said[0].ends_with("(redirect-parameters)"), "{said:?}");
    }
    let both = format!("{good}&redirect.parameters[0].name=a&redirect.parameters[0].value=b");
    assert_eq!(judged(&both, &answer), Vec::<String>::new());
    // New fields are tolerated, and their names are listed (interface: Versioning).
    let newer = format!("{good}&registration.id={id}&novelty=1&card.colour=blue");
    assert_eq!(judged(&newer, &answer), Vec::<String>::new());
    let pairs = form::decode(newer.as_bytes()).unwrap();
    assert_eq!(form::unknown(&pairs, &names), ["novelty", "card.colour"]);
    // A known field must still have its format, and a request may not contain an unknown field.
    assert_eq!(judged(&format!("{good}&registration.id=short"), &answer).len(), 1);
    assert_eq!(judged(&format!("{SALE}&novelty=1"), &asked(Call::Payment, &names)).len(), 1);
    // This field occurs only in notifications (interface: Payment response fields, referencedId).
    let said = judged(&format!("{good}&referencedId={id}"), &answer);
    assert!(said[0].starts_with("referencedId: not a parameter of this call, but of webhook"), "{said:?}");
    let webhook = format!("type=PAYMENT&action=CREATED&payload=%7B%7D&referencedId={id}&presentationAmount=1.00");
    assert_eq!(judged(&webhook, &asked(Call::Webhook, &names)), Vec::<String>::new());
    assert_eq!(judged("action=CREATED", &asked(Call::Webhook, &names)).len(), 2);
    let line = |kind: &str| {
        judged(&format!("recordType={kind}&result.code=000.100.200"), &asked(Call::Reconciliation, &names))
    };
    assert!(
        line("SETTLED").iter().any(|said| said.starts_with("result.code: ") && said.ends_with("(chargeback-reason)"))
    );
    for kind in ["CHARGEBACK", "CHARGEBACK+REVERSAL"] {
        assert!(!line(kind).iter().any(|said| said.starts_with("result.code: ")), "{kind}");
    }
}

#[test]
fn what_is_required_binds_within_its_group() {
    use Call::{ByRegistration, Checkout, FollowUp, Payment, Query, Registration, Report};
    let names = Names::default();
    let missing = |form: &str, call| -> Vec<String> {
        let said = judged(form, &asked(call, &names));
        let fields = said.iter().filter(|said| said.contains(": required and not sent; "));
        fields.map(|said| said.split(':').next().unwrap().to_owned()).collect()
    };
    for (call, form, fields) in [
        (Payment, "entityId=00000000000000000000000000000000", &["amount", "currency", "paymentType"][..]),
        (Payment, "amount=1.00&paymentType=DB", &["currency"]),
        (Checkout, "paymentType=DB", &["amount", "currency"]),
        (Payment, SALE, &[]),
        (FollowUp, "paymentType=RF", &[]),
        (Registration, "paymentBrand=VISA&card.number=4111111111111111", &["card.expiryMonth", "card.expiryYear"]),
        (Registration, "recurringMigration.amount=1.00", &["recurringMigration.paymentType"]),
        (Query, "", &[]),
        (Report, "sortOrder=ASC", &["date.from", "date.to"]),
        (Report, "date.from=2026-01-01&date.to=2026-01-31", &[]),
    ] {
        assert_eq!(missing(form, call), fields, "{form}");
    }
    for (field, fields) in [
        ("card.cvv=123", &["card.number", "card.expiryMonth", "card.expiryYear"][..]),
        ("pos.deviceId=1", &["pos.entryMode", "pos.terminalId"]),
        ("tokenAccount.expiryYear=2030", &["tokenAccount.number", "tokenAccount.type"]),
        ("customer.sex=M", &["customer.givenName", "customer.surname"]),
        ("giftCard.holder=Jane", &[]),
    ] {
        assert_eq!(missing(&format!("{SALE}&{field}"), Payment), fields, "{field}");
    }
    // A payment needs a read card. A follow-up payment has its POS fields without an entry mode. A payment with stored
    // data needs no card number.
    let override_holder = "overrideHolder=true&card.holder=Jane%20Jones";
    for (call, form, fields) in [
        (FollowUp, "paymentType=RF&pos.terminalId=1&pos.transactionSequenceNumber=2", &[][..]),
        (FollowUp, "paymentType=RF&pos.transactionSource=POS", &["pos.terminalId"]),
        (ByRegistration, &format!("{SALE}&pos.terminalId=1"), &[]),
        (ByRegistration, &format!("{SALE}&card.cvv=123"), &[]),
        (Payment, &format!("{SALE}&{override_holder}"), &[]),
        (ByRegistration, &format!("{SALE}&{override_holder}"), &[]),
        (Checkout, &format!("{SALE}&{override_holder}"), &[]),
        (
            Payment,
            &format!("{SALE}&overrideHolder=false&card.holder=Jane%20Jones"),
            &["card.number", "card.expiryMonth", "card.expiryYear"],
        ),
        (
            Payment,
            &format!("{SALE}&{override_holder}&card.cvv=123"),
            &["card.number", "card.expiryMonth", "card.expiryYear"],
        ),
    ] {
        assert_eq!(missing(form, call), fields, "{form}");
    }
    let bank = missing(&format!("{SALE}&paymentBrand=X&transactionDueDate=2026-01-01&bankAccount.country=DE"), Payment);
    assert_eq!(bank, ["bankAccount.holder", "bankAccount.number", "bankAccount.bankCode"]);
}

#[test]
fn a_call_takes_its_own_parameters() {
    let names = Names::default();
    for (call, good, form, says) in [
        (Call::Checkout, true, "overridePaymentType[VISA]=PA", ""),
        (
            Call::Payment,
            false,
            "overridePaymentType[VISA]=PA",
            "overridePaymentType[VISA]: not a parameter of this call, but of checkout",
        ),
        (Call::Payment, false, "limit=100", "limit: not a parameter of this call, but of query"),
        (Call::Payment, false, "sortOrder=ASC", "sortOrder: not a parameter of this call, but of report"),
        (
            Call::Payment,
            false,
            "recurringMigration.amount=1.00",
            "recurringMigration.amount: not a parameter of this call, but of registration",
        ),
        (Call::Payment, true, "createRegistration=true&job.hour=8-18&chargebackResultCode=000.100.200", ""),
        (Call::FollowUp, false, "job.hour=8-18", "job.hour: not a parameter of this call, but of schedule"),
    ] {
        let said = judged(&format!("{SALE}&{form}"), &asked(call, &names));
        assert_eq!(said.is_empty(), good, "{said:?}");
        assert!(good || said[0].starts_with(says), "{said:?}");
    }
    let said = judged("amount=1.00", &asked(Call::Query, &names));
    assert!(said[0].starts_with("amount: not a parameter of this call, but of payment"), "{said:?}");
}

// ---- Properties

/// Returns values at the limits of a format and values just beyond them. Both lists are empty for a format without
/// limits.
fn bounds(format: Format) -> (Vec<String>, Vec<String>) {
    let number = |min: u32, max: u32, wide: usize| {
        let (min, max) = (i64::from(min), i64::from(max));
        (
            vec![format!("{min:0wide$}"), format!("{max:0wide$}")],
            vec![format!("{:0wide$}", min - 1), format!("{:0wide$}", max + 1)],
        )
    };
    match format {
        Format::Chars(of, min, max) => {
            let (min, max, one) = (usize::from(min), usize::from(max), letter(of));
            let whole = |length: usize| if of == CharacterSet::Base64 { length.div_ceil(4) * 4 } else { length };
            let mut bad = vec![one.repeat(whole(max + 1))];
            if min > 0 {
                bad.push(one.repeat(if of == CharacterSet::Base64 { min - 4 } else { min - 1 }));
            }
            (vec![one.repeat(whole(min)), one.repeat(max)], bad)
        }
        Format::Decimal { whole, decimals: (fewest, most), .. } => {
            let digits =
                |whole: u8, decimals: u8| format!("{}.{}", "9".repeat(whole.into()), "9".repeat(decimals.into()));
            (
                vec![digits(1, fewest), digits(whole, most)],
                vec![digits(whole + 1, most), digits(whole, most + 1), digits(1, fewest - 1), digits(0, most)],
            )
        }
        Format::Number(min, max) => number(min, max, 1),
        Format::TwoDigits(min, max) => number(min.into(), max.into(), 2),
        Format::Signed(most) => {
            let most = usize::from(most);
            (vec!["9".repeat(most), format!("-{}", "9".repeat(most))], vec!["1".repeat(most + 1), "-".to_owned()])
        }
        Format::OneOf(words) | Format::List(words) => (
            words.iter().map(|word| (*word).to_owned()).collect(),
            words.iter().map(|word| format!("{word}.")).collect(),
        ),
        // Both limits count the characters after the first one.
        Format::Phone(min, max) => {
            let after = |length: u8| format!("+{}", "1".repeat(length.into()));
            let mut bad = vec![after(max + 1)];
            if min > 0 {
                bad.push(after(min - 1));
            }
            (vec![after(min), after(max)], bad)
        }
        Format::Url(_, max) => {
            let address = |length: usize| format!("https://a/{}", "a".repeat(length - 10));
            (vec![address(11), address(max.into())], vec![address(usize::from(max) + 1)])
        }
        Format::UrlPart(min, max) => (
            vec!["a".repeat(min.into()), "a".repeat(max.into())],
            vec!["a".repeat(usize::from(min) - 1), "a".repeat(usize::from(max) + 1)],
        ),
        _ => (Vec::new(), Vec::new()),
    }
}

/// Returns a character from a character set.
fn letter(of: CharacterSet) -> &'static str {
    match of {
        CharacterSet::Digits | CharacterSet::DigitsDots | CharacterSet::LowerHex => "7",
        _ => "A",
    }
}

#[test]
fn one_step_beyond_a_bound_fails_for_every_row_that_has_bounds() {
    let mut judged = 0;
    for parameter in parameter::all() {
        let (good, bad) = bounds(parameter.row.format);
        for (value, takes) in good.iter().map(|value| (value, true)).chain(bad.iter().map(|value| (value, false))) {
            assert_eq!(parameter.row.format.fits(value), takes, "{}: {} characters", parameter.name(), value.len());
            judged += 1;
        }
    }
    assert!(judged > 1500, "{judged}");
}

/// Returns the parameter's name as it is sent, with an index or key.
fn spelled(parameter: &Parameter, index: usize) -> String {
    let index = format!("[{index}]");
    parameter
        .name()
        .replace("[n]", &index)
        .replace("[name]", "[abc]")
        .replace("[key]", "[abc]")
        .replace("[brand]", "[VISA]")
}

proptest! {
    /// Checks random rows: a text within its limits fits its format, and only a cart's items refuse an index above
    /// 1000.
    #[test]
    fn values_between_the_bounds_pass(row in any::<prop::sample::Index>(), part in any::<prop::sample::Index>(), index in 0_usize..=1000) {
        let rows: Vec<Parameter> = parameter::all().collect();
        let parameter = rows[row.index(rows.len())];
        let (name, names) = (spelled(&parameter, index), Names::default());
        let call = if parameter.call() == Call::Any { Call::Payment } else { parameter.call() };
        let found = named_in(&name, &names, parameter.section.direction, call).unwrap();
        prop_assert_eq!(found.row.format, parameter.row.format);
        if let Format::Chars(of, min, max) = parameter.row.format {
            let length = usize::from(min) + part.index(usize::from(max - min) + 1);
            let length = if of == CharacterSet::Base64 { length / 4 * 4 } else { length };
            prop_assert!(found.row.format.fits(&letter(of).repeat(length)), "{} {}", name, length);
        }
        let beyond = name.replace(&format!("[{index}]"), "[1001]");
        if beyond != name {
            let found = named_in(&beyond, &names, parameter.section.direction, call).map(|found| found.row.format);
            let is_item = name.starts_with("cart.items[");
            prop_assert_eq!(found, if is_item { Err(Unfit::ItemIndex) } else { Ok(parameter.row.format) });
        }
    }

    #[test]
    fn no_text_makes_a_format_panic(value in "\\PC{0,40}|[-0-9:. +#/,LW?*]{0,24}") {
        for parameter in parameter::all() {
            let _ = parameter.row.format.check(&value);
        }
    }

    #[test]
    fn no_bytes_make_the_form_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let names = Names::default();
        if let Ok(pairs) = form::decode(&bytes) {
            for call in Call::ALL {
                let _ = form::judge(&pairs, &asked(*call, &names));
            }
        }
    }

    #[test]
    fn no_name_makes_the_parser_panic(name in "[a-z.\\[\\]0-9<>_é]{0,30}|(cart\\.items|airline\\.passengers|customParameters|customer)[\\[\\].0-9a-z]{0,12}") {
        let names = Names::default();
        let _ = named(&name, &names, Direction::Request);
        let _ = parameter::nearest(&name, &names);
        prop_assert!(parameter::shown(&name).chars().count() <= 97);
    }
}

// ---- The command line

fn agent(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.arg("parameters").args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG");
    command
}

/// Returns the exit code, standard output and standard error.
fn ended(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    ended(&agent(arguments).output().unwrap())
}

/// Runs `check --form` with these bytes as input and with more arguments.
fn check_form(bytes: &[u8], more: &[&str]) -> (i32, String, String) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut command = agent(&["check", "--form", file.path().to_str().unwrap()]);
    ended(&command.args(more).output().unwrap())
}

#[test]
fn list_is_a_table_for_people_and_for_programs() {
    let (code, json, _) = run(&["list", "--json"]);
    assert_eq!(code, 0);
    let all: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(&json).unwrap();
    assert_eq!(all.len(), parameter::all().count());
    for row in &all {
        for key in ["name", "format", "required", "group", "direction", "call", "meaning"] {
            assert!(row[key].as_str().is_some_and(|text| !text.is_empty()), "{row:?}");
        }
    }
    let from: Vec<(&str, &str)> = all
        .iter()
        .filter(|row| row["name"] == "date.from")
        .map(|row| (row["call"].as_str().unwrap(), row["format"].as_str().unwrap()))
        .collect();
    assert_eq!(from, [("report", "date"), ("query", "yyyy-MM-dd HH:mm:ss")]);
    let (_, text, _) = run(&["list", "--group", "forex"]);
    let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["forex.amount", "conditional", "request", "payment", "forex", "amount10.2"]);
    assert_eq!(words.len(), 2);
    let (code, _, said) = run(&["list", "--group", "nothing"]);
    assert_eq!(code, 65);
    assert!(said.contains("there is no group nothing; the groups are resource, payment, "), "{said}");
}

#[test]
fn programs_are_told_of_one_parameter_and_of_violations_in_json() {
    let (code, json, _) = run(&["show", "cart.items[12].price", "--json"]);
    let row: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &row["name"], &row["format"]), (0, &"cart.items[n].price".into(), &"amount10.2".into()));
    let (code, json, _) = run(&["check", "amount=12.34", "limit=x", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &told["checked"], &told["violations"][0]["parameter"]), (65, &2.into(), &"limit".into()));
    assert_eq!(told["violations"].as_array().unwrap().len(), 1);
    let good = serde_json::json!({ "checked": 1, "violations": [] }).to_string() + "\n";
    assert_eq!(run(&["check", "amount=12.34", "--json"]), (0, good, String::new()));
    let (code, json, _) = run(&["show", "no.such.name", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &told["error"]["code"]), (65, &"data".into()), "{told}");
}

#[test]
fn show_explains_one() {
    let (code, text, _) = run(&["show", "cart.items[12].price"]);
    assert_eq!(code, 0);
    for words in [
        "cart.items[n].price",
        "amount10.2",
        "1 to 10 digits, a dot and two decimals",
        "conditional",
        "cart (Cart items)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(run(&["show", "cart.items[n].price"]).1 == text);
    let (_, text, _) = run(&["show", "date.from"]);
    assert!(text.contains("call       report") && text.contains("call       query"), "{text}");
    assert!(text.contains("rule       date.from and date.to must be sent together (time-frame-ends)"), "{text}");
    let (code, _, said) = run(&["show", "customer.givenNam"]);
    assert_eq!(code, 65);
    assert!(said.contains("did you mean customer.givenName?"), "{said}");
}

#[test]
fn check_judges_each_value_alone() {
    let (code, text, _) =
        run(&["check", "amount=12.34", "date.from=2026-01-02", "billing.houseNumber2=b", "limit=100"]);
    assert_eq!((code, text.as_str()), (0, "good: 4 checked\n"));
    let (code, text, _) = run(&["check", "amount=12.3", "limit=501", "merchantTransactionId=short", "ammount=1"]);
    assert_eq!(code, 65);
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "amount: does not have this form; must be 1 to 10 digits, a dot and two decimals",
            "limit: is out of bounds; must be a whole number from 100 to 500",
            "ammount: unknown parameter; did you mean amount?",
        ]
    );
    assert_eq!(run(&["check"]).0, 64);
    assert_eq!(run(&["check", "amount=1.00", "--call", "sale"]).0, 64);
}

/// Checks that new fields of an answer are tolerated and that the program names them (interface: Versioning).
#[test]
fn check_judges_an_answer_with_and_without_a_call() {
    const ID: &str = "registration.id=8ac7a4a17e0b1c3a017e0b1c3a017e0b";
    let (code, text, aside) = run(&["check", "--response", ID, "result.code=000.100.110", "card.type=CREDIT"]);
    assert_eq!((code, text.as_str(), aside.as_str()), (0, "good: 3 checked\n", ""));
    let (code, text, aside) = run(&["check", "--response", "novelty=1", "result.code=000.100.110"]);
    assert_eq!((code, text.as_str()), (0, "good: 2 checked\n"));
    assert_eq!(
        aside,
        "novelty: not in the interface's documents; tolerated, because an answer may contain new fields\n"
    );
    // The format of the answer's field applies, not that of a request field with the same name. An answer may return a
    // structure of the request.
    assert_eq!(run(&["check", "--response", "card.expiryMonth=99", "customer.sex=M"]).0, 0);
    let (code, text, _) = run(&["check", "--response", "result.code=x", "customer.sex=X", "registration.id=1"]);
    assert_eq!((code, text.lines().count()), (65, 3), "{text}");
    let (code, text, aside) = run(&["check", "--response", "--call", "payment", "novelty=1", ID]);
    assert_eq!(code, 65, "what must be there is missing");
    assert!(!text.contains("novelty") && aside.starts_with("novelty: "), "{text}{aside}");
    // The program shows neither the value of an unknown field nor a number where its name should be.
    let (code, text, aside) = run(&["check", "--response", "4111111111111119=4111111111111119"]);
    assert!(code == 0 && !text.contains("1119") && !aside.contains("1119"), "{text}{aside}");
    assert_eq!(run(&["check", "novelty=1"]).0, 65);
}

/// Checks the lines of the file by the names in its header.
#[test]
fn check_knows_the_columns_of_the_reconciliation_file() {
    let columns = data_model::COLUMNS.iter().map(|(column, _)| *column);
    let mut known = 0;
    for column in columns {
        let (code, text, said) = run(&["show", column]);
        assert_eq!(code, 0, "{column}: {said}");
        assert!(text.contains(&format!("column     {column}\n")), "{column}: {text}");
        known += 1;
    }
    assert_eq!(known, 38);
    let id = "8ac7a4a17e0b1c3a017e0b1c3a017e0b";
    let line = |kind: &str, more: &str| {
        let form = format!(
            "ReconciliationType={kind}&PaymentType=DEBIT&Cashflow=POS&ClearingInstituteMerchantId=CLRMID01&MerchantAccountId={id}\
             &PspId={id}&MerchantId={id}&UniqueID={id}&TransactionId=12345678-1&Amount=1.00&Currency=EUR&SettlementAmount=1.00\
             &SettlementCurrency=EUR&SettlementFxRate=1.00&SettlementDate=2026-01-02&SettlementStatus=SUCCESS\
             &SettlementFileFormat=X&ClearingInsitituteName=Y&MatchedTransactions={id}{more}"
        );
        check_form(form.as_bytes(), &["--call", "reconciliation"])
    };
    assert_eq!(line("SETTLED", "").0, 0, "{}", line("SETTLED", "").1);
    assert_eq!(line("CHARGEBACK", "&ReasonCode=000.100.201&ReasonDesc=x").0, 0);
    assert_eq!(line("CHARGEBACK REVERSAL", "&ReasonCode=000.100.201").0, 65, "a space has to be encoded");
    assert_eq!(line("CHARGEBACK+REVERSAL", "&ReasonCode=000.100.201").0, 0);
    let (code, text, _) = line("SETTLED", "&ReasonCode=000.100.201");
    assert_eq!(code, 65);
    assert!(text.starts_with("result.code: must not be sent here; ") && text.contains("ReasonCode"), "{text}");
    assert_eq!(run(&["check", "Cashflow=NEG", "ReasonCode=000.100.201", "TransactionId=12345678-1"]).0, 0);
    assert_eq!(run(&["check", "Cashflow=neutral"]).0, 65);
    assert_eq!(line("SETTLED", "&amount=1.00").1, "amount: sent twice; each parameter is sent once\n");
}

/// Checks that names of people and places may be in any script, with the spaces and marks that people write.
#[test]
fn names_and_places_are_of_any_script() {
    for (name, values) in [
        ("card.holder", &["Zoë O'Neil-Müller", "Анна Петрова", "王 小明", "محمد علي", "Jose\u{301} Núñez"][..]),
        ("customer.givenName", &["Zoë", "Жанна", "王", "Jose\u{301}"]),
        ("customer.surname", &["O'Neil-Müller", "नई दिल्ली"]),
        ("merchant.name", &["CAFÉ*Größe 7", "кафе", "寿司屋"]),
        ("merchant.city", &["São Paulo", "Saint-Étienne", "東京", "नई दिल्ली"]),
        ("billing.city", &["L'Haÿ-les-Roses", "Αθήνα"]),
        ("billing.street1", &["Große Straße 7b", "ул. Ленина, 5"]),
        ("billing.state", &["Île.de.France", "Московская"]),
        ("shipping.city", &["'s-Hertogenbosch", "Санкт-Петербург"]),
        ("corporate.city", &["Łódź"]),
        ("sender.city", &["São Paulo", "Łódź 4"]),
        ("sender.surname", &["Müller", "Петрова"]),
        ("recipient.nationality", &["française", "česká republika"]),
    ] {
        for value in values {
            assert_eq!(form::alone(name, value, &Names::default(), Direction::Request), None, "{name} {value}");
        }
    }
}

#[test]
fn check_judges_a_form() {
    let good = b"amount=12.34&currency=EUR&paymentType=DB&pos.entryMode=ICC&pos.terminalId=12345678\n";
    assert_eq!(check_form(good, &["--call", "payment"]).0, 0);
    assert_eq!(check_form(b"amount=12.34\ncurrency=EUR\r\npaymentType=DB\n", &["--call", "payment"]).0, 0);
    let (code, text, _) =
        check_form(b"amount=12.34&currency=EUR&pos.entryMode=ICC&billing.houseNumber2=b", &["--call", "payment"]);
    assert_eq!(code, 65);
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "paymentType: required and not sent; must be 2 upper-case letters (Basic payment parameters)",
            "pos.terminalId: required and not sent; must be 1 to 32 digits (Point of sale)",
            "billing.houseNumber1: required and not sent; houseNumber2 needs houseNumber1 (house-number)",
        ]
    );
    // Without a call, each value is checked separately.
    assert_eq!(check_form(b"amount=12.34&billing.houseNumber2=b", &[]).0, 0);
    let custom = b"amount=12.34&currency=EUR&paymentType=DB&customParameters[abc]=1";
    assert_eq!(check_form(custom, &["--call", "payment"]).0, 0);
    assert_eq!(check_form(custom, &["--call", "payment", "--from-client-side"]).0, 65);
    assert_eq!(run(&["check", "--form", "/nowhere/form"]).0, 74);
}

#[test]
fn wrong_forms_are_named() {
    let long = [b"descriptor=".to_vec(), vec![b'a'; 20_000_000]].concat();
    for (form, says) in [
        (&b"amount=1.00&amount=2.00"[..], "amount: sent twice; each parameter is sent once"),
        (b"amount=1.00&colour=red", "colour: unknown parameter; "),
        (b"cart.items(0).name=a", "cart.items(0).name: unknown parameter; did you mean cart.items[n].name?"),
        (b"cart.items[0.name=a", "cart.items[0.name: wrong name; wrong brackets"),
        (
            b"cart.items%5B1001%5D.name=a",
            "cart.items[1001].name: wrong name; the index must be a whole number from 0 to 1000",
        ),
        (b"descriptor=%FF", "descriptor: not UTF-8; values are percent-encoded UTF-8"),
        (b"descriptor=\xFF", "descriptor: a byte that must be percent-encoded; "),
        (b"descriptor=%4", "descriptor: '%' without two hex digits; "),
        (b"%FF=1", "form: the name of pair 1: not UTF-8; "),
        (b"amount=1.00&currency", "form: pair 2 has no '='; "),
        (&long, "form: has more than 4100096 bytes; a form has at most 4100096 bytes"),
    ] {
        let (code, text, _) = check_form(form, &[]);
        assert_eq!((code, text.lines().count()), (65, 1), "{text}");
        assert!(text.starts_with(says), "{text}");
    }
    let many: String = (0..500).map(|n| format!("wrong{n}=1&")).collect();
    let (code, text, aside) = check_form(many.as_bytes(), &["--call", "payment"]);
    assert_eq!((code, text.lines().count()), (65, 100));
    assert!(aside.contains("stopped after 100 violations"), "{aside}");
    // The command line reports the same.
    assert!(run(&["check", "amount=1.00", "amount=1.00"]).1.contains("amount: sent twice"));
    let output = agent(&["check"]).arg(OsStr::from_bytes(b"descriptor=\xFF")).output().unwrap();
    let (code, text, _) = ended(&output);
    assert_eq!((code, text.as_str()), (65, "argument 1: is not UTF-8; write NAME=VALUE in UTF-8\n"));
}

#[test]
fn no_value_is_ever_shown() {
    const PAN: &str = "4111111111111119";
    for arguments in [
        &["check", "card.number=4111111111111119x", "card.cvv=41111", "card.holder=4111111111111119"][..],
        &["check", "4111111111111119"],
        &["check", "4111111111111119=1"],
        &["check", "4111-1111-1111-1119=1"],
        &["check", "cart.items[4111111111111119].name=1"],
        &["check", "customParameters[4111111111111119]=1", "--call", "query"],
        &["check", "pos.encryptedSred.data=4111111111111119-", "Authorization=4111111111111119"],
        &["check", "descriptor=4111111111111119\u{7}"],
        &["show", "4111111111111119"],
        &["list", "--group", "4111111111111119"],
    ] {
        let (code, text, said) = run(arguments);
        assert_eq!(code, 65, "{arguments:?}");
        for shown in [text, said] {
            assert!(!shown.contains(PAN) && !shown.contains("1119"), "{arguments:?}: {shown}");
        }
    }
    let (code, text, _) =
        check_form(b"card.number=4111111111111119%00&card.number=4111111111111119", &["--call", "payment"]);
    assert_eq!(code, 65);
    assert!(!text.contains("4111"), "{text}");
}

#[test]
fn wallets_and_schemes_come_from_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let text = "[terminal]\nid = \"12345678\"\nmerchant = [\"Shop\"]\ncurrency = \"EUR\"\n\
                [reader]\nprotocol = \"miura-mpi\"\nport = \"/dev/pos/reader\"\n\
                [gateway]\nurl = \"https://gateway.example\"\nentity-id = \"00000000000000000000000000000000\"\n\
                token-credential = \"gateway-token\"\nca-file = \"/etc/pos-agent/gateway-ca.pem\"\n";
    let assumed = "\n[gateway.assumptions]\nwallets = [\"firstPay\"]\nschemes = [\"ONE\"]\n";
    std::fs::write(&config, format!("{text}{assumed}")).unwrap();
    let config = config.to_str().unwrap();
    let check =
        |more: &[&str]| run(&[&["check", "firstPay.source=web", "threeDSecure.v2.ONE.requestorId=1"], more].concat()).0;
    assert_eq!(check(&["--config", config]), 0);
    assert_eq!(check(&[]), 65);
}
