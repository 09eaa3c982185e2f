//! Wrong input from outside, over real connections. Each case gives its documented outcome and message, and none
//! charges without a record.
//!
//! There is a table for each source of input. A line contains: fault | input | text for the till or the technician |
//! outcome | the gateway's final payments.

#![allow(clippy::too_many_arguments, clippy::type_complexity, reason = "a line of a table is as wide as the table")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::counter::{self, Counter};
use pos_agent::till::{SaleState, SaleView};
use pos_core::transaction::Reason;
use pos_sim::gateway::Certificate;
use pos_sim::reader::CardEntry::{self, Insert, Swipe, Tap};
use pos_sim::reader::card;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::within;
use serde_json::json;
use tokio::io::AsyncReadExt;

/// The fault | the text that is replaced in the configuration, and its replacement | the text of `check` and `run`. The
/// exit code is always 78.
const CONFIGURATIONS: &[(&str, &str, &str, &[&str])] = &[
    ("unknown key", "columns = 42", "colums = 42", &["line ", "printer[0].colums", "unknown field", "`columns`"]),
    ("unknown table", "[journal]", "[journals]", &["journals", "unknown field"]),
    (
        "wrong type",
        "answer-timeout-ms = 10000",
        "answer-timeout-ms = \"10 s\"",
        &["gateway.answer-timeout-ms", "string"],
    ),
    ("a number for text", "currency = \"EUR\"", "currency = 978", &["terminal.currency", "integer", "string"]),
    ("a fraction for a whole number", "columns = 42", "columns = 42.5", &["printer[0].columns", "floating point"]),
    ("out of bounds", "answer-timeout-ms = 10000", "answer-timeout-ms = 5", &["gateway.answer-timeout-ms", "500"]),
    ("missing key", "protocol = \"miura-mpi\"", "", &["missing field `protocol`"]),
    ("unknown reader", "miura-mpi", "miura", &["reader.protocol", "unknown variant", "miura-mpi"]),
    ("not TOML", "[terminal]", "[terminal", &["line 1"]),
    ("unknown currency", "currency = \"EUR\"", "currency = \"XYZ\"", &["terminal.currency", "unknown currency"]),
    ("plain HTTP", "url = \"https:", "url = \"http:", &["gateway.url", "https"]),
    ("missing token", "/gateway-token\"", "/no-token\"", &["gateway.token-file", "no-token", "cannot be read", "0600"]),
    (
        "two tokens",
        "gateway-token\"",
        "gateway-token\"\ntoken-credential = \"token\"",
        &["gateway.token-file", "exactly one"],
    ),
    ("missing CA", "/ca.pem\"", "/no.pem\"", &["gateway.ca-file", "no.pem", "cannot be read"]),
    ("a CA file without certificates", "/ca.pem\"", "/config.toml\"", &["gateway.ca-file", "holds no certificate"]),
    ("tills from everywhere", "http = \"127.0.0.1:0\"", "http = \"0.0.0.0:8650\"", &["till.http", "not a loopback"]),
];

#[tokio::test]
async fn a_wrong_configuration_is_refused_before_anything_is_opened() {
    for (what, old, new, words) in CONFIGURATIONS {
        let config = vec![((*old).to_owned(), (*new).to_owned())];
        let counter = Counter::closed(Options { config, ..Options::default() }).await;
        refused(&counter, what, words).await;
    }
}

#[tokio::test]
async fn files_that_others_could_read_or_write_are_refused() {
    for (what, file, mode, words) in [
        ("a token that all may read", "gateway-token", 0o644, &["gateway.token-file", "mode 0644", "chmod 0600"][..]),
        ("a token that the group may read", "gateway-token", 0o640, &["gateway.token-file", "mode 0640"]),
        ("a till's token that all may read", "till-token", 0o604, &["till.token[0].token-file", "chmod 0600"]),
        ("a configuration that all may write", "config.toml", 0o666, &["config.toml", "mode 0666", "chmod o-w"]),
    ] {
        let counter = Counter::closed(Options::default()).await;
        fs::set_permissions(counter.shop.folder().join(file), fs::Permissions::from_mode(mode)).unwrap();
        refused(&counter, what, words).await;
    }
}

/// Checks that `check` and `run` of the real program exit with 78 and these words. They use no device and print no
/// token.
async fn refused(counter: &Counter, what: &str, words: &[&str]) {
    let config = counter.shop.config();
    let config = config.to_str().unwrap();
    for verb in [&["check", config][..], &["run", "--config", config]] {
        let output = program(verb).await;
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(78), "{what}: {text}");
        for word in words {
            assert!(text.contains(word), "{what}: \"{word}\" is not in: {text}");
        }
        assert!(!text.contains(counter.shop.gateway.token()), "{what}: the token leaked: {text}");
    }
    assert!(counter.shop.reader.counters().commands.is_empty(), "{what}");
    assert_eq!(counter.shop.gateway.counters().connections, 0, "{what}");
    assert!(!counter.shop.folder().join("journal.db").exists(), "{what}");
}

async fn program(arguments: &[&str]) -> Output {
    within(&format!("the end of {arguments:?}"), counter::till::program(arguments).output()).await.unwrap()
}

#[tokio::test]
async fn a_journal_that_cannot_be_kept_ends_the_start() {
    for (what, old, new, words) in [
        (
            "no folder",
            "/journal.db\"",
            "/none/journal.db\"",
            &["none/journal.db", "cannot be opened", "folder exists"][..],
        ),
        ("not a journal", "/journal.db\"", "/ca.pem\"", &["ca.pem", "cannot be opened"]),
    ] {
        let config = vec![(old.to_owned(), new.to_owned())];
        let counter = Counter::closed(Options { config, ..Options::default() }).await;
        let output = program(&["run", "--config", counter.shop.config().to_str().unwrap()]).await;
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(74), "{what}: {text}");
        for word in words {
            assert!(text.contains(word), "{what}: \"{word}\" is not in: {text}");
        }
    }
}

/// The fault | amount | currency | exit code of `pos-agent sale` | HTTP status and code | the text of both.
const AMOUNTS: &[(&str, &str, &str, i32, u16, &str, &str)] = &[
    ("zero", "0.00", "EUR", 64, 422, "amount", "the amount is zero"),
    ("zero without decimals", "0", "EUR", 64, 422, "amount", "the amount is zero"),
    ("negative", "-5.00", "EUR", 64, 422, "amount", "the amount is negative"),
    ("too large for the gateway", "10000000000.00", "EUR", 64, 422, "amount", "too large; at most 10 digits"),
    ("too large for a number", "184467440737095516.16", "EUR", 64, 422, "amount", "too large"),
    ("three decimals", "12.345", "EUR", 64, 422, "amount", "2 decimals, but this one has 3"),
    ("decimals where there are none", "12.00", "JPY", 64, 422, "amount", "0 decimals, but this one has 2"),
    (
        "not the terminal's currency",
        "12.34",
        "USD",
        64,
        422,
        "currency",
        "USD cannot be charged: this terminal takes only EUR",
    ),
    (
        "another currency without decimals",
        "1200",
        "JPY",
        64,
        422,
        "currency",
        "JPY cannot be charged: this terminal takes only EUR",
    ),
    ("words", "twelve", "EUR", 64, 422, "amount", "not a number"),
    ("an exponent", "1e3", "EUR", 64, 422, "amount", "not a number"),
    ("digits of another script", "１２.３４", "EUR", 64, 422, "amount", "not a number"),
    ("nothing", "", "EUR", 64, 422, "amount", "not a number"),
    ("unknown currency", "12.34", "XYZ", 64, 422, "currency", "unknown currency \"XYZ\"; use an ISO 4217 code"),
    ("a currency in small letters", "12.34", "eur", 64, 422, "currency", "unknown currency"),
    ("control bytes in the currency", "12.34", "E\u{1b}[2JUR", 64, 422, "currency", "unknown currency"),
];

/// Amounts that people may type but programs must not write.
const AMOUNTS_OF_PEOPLE: &[(&str, &str, &str, &str)] = &[
    ("one decimal", "12.3", "EUR", "EUR amounts have 2 decimals, but this one has 1"),
    ("a comma", "12,34", "EUR", "not a number; write it as 12.34"),
    ("two decimals where there are three", "1.23", "KWD", "KWD amounts have 3 decimals"),
];

/// Amounts that can be read in two ways, so no one may write them.
const AMOUNTS_OF_NOBODY: &[(&str, &str)] = &[
    ("1,000", "EUR amounts have at most 2 decimals, but this one has 3; write one thousand as 1000"),
    ("1.000", "EUR amounts have at most 2 decimals"),
    ("1,000.00", "more than one point or comma"),
    ("1.000,00", "write it without thousands separators, as 1000.00"),
    ("1 000", "not a number"),
];

#[tokio::test]
async fn an_amount_that_cannot_be_charged_is_refused_before_the_reader_is_armed() {
    let counter = Counter::open().await;
    let at_rest = counter.told_to_reader();
    for (what, amount, currency, message) in AMOUNTS_OF_PEOPLE {
        let (answered, body) = counter.begin_in("R1", amount, currency).await;
        assert_eq!((answered, &body["code"]), (422, &json!("amount")), "{what}: {body}");
        assert!(body["detail"].as_str().unwrap().contains(message), "{what}: {body}");
    }
    for (amount, message) in AMOUNTS_OF_NOBODY {
        // The amount is in the terminal's currency.
        let output = counter.verb(&["sale", amount, "--reference", "R1", "--json"]).await.unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &told["error"]["code"]), (Some(64), &json!("amount")), "{amount}: {told}");
        assert!(told["error"]["detail"].as_str().unwrap().contains(message), "{amount}: {told}");
    }
    // At the reader, too, an amount can be typed only in the terminal's currency.
    let output = counter.verb(&["sale", "--currency", "USD", "--json"]).await.unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &told["error"]["code"]), (Some(64), &json!("currency")), "{told}");
    for (what, amount, currency, exit, status, code, message) in AMOUNTS {
        let (answered, body) = counter.begin_in("R1", amount, currency).await;
        assert_eq!((answered, &body["code"]), (*status, &json!(code)), "{what}: {body}");
        let said = body["detail"].as_str().unwrap();
        assert!(said.contains(message) && !said.contains('\u{1b}'), "{what}: {said}");
        let output = counter.verb(&["sale", amount, "--currency", currency, "--reference", "R1"]).await.unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(output.status.code(), Some(*exit), "{what}: {text}");
        assert!(text.contains(message) && !text.contains('\u{1b}'), "{what}: {text}");
    }
    nothing_began(&counter, &at_rest);
}

/// The fault | the body of `POST /v1/sales` | HTTP status and code | its text.
const REQUESTS: &[(&str, &str, u16, &str, &str)] = &[
    (
        "the amount as a number",
        r#"{"reference":"R1","amount":12.34,"currency":"EUR"}"#,
        400,
        "malformed",
        "a string such as \\\"12.34\\\"",
    ),
    ("no amount", r#"{"reference":"R1"}"#, 400, "malformed", "amount: a sale needs it"),
    ("no reference", r#"{"amount":"12.34"}"#, 400, "malformed", "missing field `reference`"),
    (
        "a part of what is decided already",
        r#"{"reference":"R1","kind":"refund","of":"R0","amount":"12.34","acceptPartial":true}"#,
        400,
        "malformed",
        "acceptPartial: a refund has none",
    ),
    (
        "a part that is neither taken nor refused",
        r#"{"reference":"R1","amount":"12.34","acceptPartial":"yes"}"#,
        400,
        "malformed",
        "acceptPartial",
    ),
    (
        "an unknown field",
        r#"{"reference":"R1","amount":"12.34","tips":"1.00"}"#,
        400,
        "malformed",
        "unknown field `tips`",
    ),
    (
        "the amount twice",
        r#"{"reference":"R1","amount":"12.34","amount":"1.00"}"#,
        400,
        "malformed",
        "duplicate field `amount`",
    ),
    (
        "a parameter twice",
        r#"{"reference":"R1","amount":"12.34","parameters":{"descriptor":"A","descriptor":"B"}}"#,
        400,
        "malformed",
        "parameters: descriptor is given twice",
    ),
    (
        "a parameter twice, further down",
        r#"{"reference":"R1","amount":"12.34","parameters":{"customer":{"givenName":"A","givenName":"B"}}}"#,
        400,
        "malformed",
        "givenName is given twice",
    ),
    (
        "a text of the till twice",
        r#"{"reference":"R1","amount":"12.34","tillData":{"table":"7","table":"8"}}"#,
        400,
        "malformed",
        "tillData: table is given twice",
    ),
    ("two bodies", r#"{"reference":"R1","amount":"12.34"}{}"#, 400, "malformed", "trailing"),
    ("half a JSON", r#"{"reference":"R1","amo"#, 400, "malformed", "EOF"),
    ("not JSON", "reference=R1&amount=12.34", 400, "malformed", "the body"),
    ("a list", r#"["R1","12.34","EUR"]"#, 400, "malformed", "the body"),
    (
        "a reference that no path can hold",
        r#"{"reference":"..","amount":"12.34"}"#,
        422,
        "reference",
        "neither . nor ..",
    ),
    ("an empty reference", r#"{"reference":"","amount":"12.34"}"#, 422, "reference", "1 to 64 printable"),
    (
        "a reference with a space at its end",
        r#"{"reference":"R1 ","amount":"12.34"}"#,
        422,
        "reference",
        "without spaces",
    ),
    (
        "a parameter of another call",
        r#"{"reference":"R1","amount":"12.34","parameters":{"sequence":"FINAL"}}"#,
        422,
        "parameter",
        "sequence: must not be sent here",
    ),
    (
        "a parameter that does not fit, with an escape in it",
        r#"{"reference":"R1","amount":"12.34","parameters":{"locale":"\u001b[2Jtoo long"}}"#,
        422,
        "parameter",
        "locale: is too long",
    ),
    (
        "a card number where a parameter's name should be",
        r#"{"reference":"R1","amount":"12.34","parameters":{"4111111111111119":"x"}}"#,
        422,
        "parameter",
        "****************: unknown parameter",
    ),
    (
        "a token among the parameters",
        r#"{"reference":"R1","amount":"12.34","parameters":{"Authorization":"Bearer x"}}"#,
        422,
        "parameter",
        "Authorization: the terminal sets this parameter itself",
    ),
    ("a reference with a control byte", r#"{"reference":"R\u001b1","amount":"12.34"}"#, 422, "reference", "printable"),
];

#[tokio::test]
async fn a_request_that_is_not_as_documented_is_refused() {
    let counter = Counter::open().await;
    let at_rest = counter.told_to_reader();
    let (long, huge) = ("R".repeat(65), "R".repeat(65 * 1024));
    let long = json!({"reference": long, "amount": "12.34"}).to_string();
    let huge = json!({"reference": huge, "amount": "12.34"}).to_string();
    let mut lines = REQUESTS.to_vec();
    lines.push(("a reference of 65 characters", &long, 422, "reference", "1 to 64 printable"));
    lines.push(("a body of 65 KiB", &huge, 413, "too-large", "exceeds 65536 bytes"));
    for (what, body, status, code, message) in lines {
        let (answered, body) = counter.post_sale(body).await;
        assert_eq!((answered, &body["code"]), (status, &json!(code)), "{what}: {body}");
        let text = body.to_string();
        assert!(text.contains(message), "{what}: {text}");
    }
    nothing_began(&counter, &at_rest);
}

fn nothing_began(counter: &Counter, commands: &[u16]) {
    assert!(counter.kept().is_empty(), "a sale was recorded");
    assert_eq!(counter.told_to_reader(), commands, "the reader was told something");
    assert!(counter.shop.gateway.counters().requests <= 2, "more than the probe of each start");
}

#[tokio::test]
async fn the_largest_amount_and_the_longest_reference_are_taken() {
    let mut counter = Counter::open().await;
    let reference = "R".repeat(64);
    counter.sell(&reference, "9999999999.99", "tap", Tap).await;
    let view = counter.until_ended(&reference).await;
    assert_eq!((view.outcome, view.amount.as_str()), (Some(OutcomeWord::Approved), "9999999999.99"), "{}", view.text);
    counter.until_ready().await;
    // A currency without decimals.
    counter.change_currency("JPY").await;
    let (status, refused) = counter.begin_in("no", "1.235", "KWD").await;
    assert!(status == 422 && refused["detail"].as_str().unwrap().contains("takes only"), "{refused}");
    assert_eq!(counter.begin_in("J", "1200", "JPY").await.0, 201);
    counter.present(card("tap").unwrap(), Tap).await;
    assert_eq!(counter.until_ended("J").await.outcome, Some(OutcomeWord::Approved));
    assert_eq!(counter.charged_for("J"), ["1200.00 JPY"]);
    counter.until_ready().await;
    assert_eq!(counter.charged()[0], "9999999999.99 EUR");
    counter.audit("the largest amount");
}

/// The reader's fault | the options that cause it | the text of the status, the till and `pos-agent sale` (exit code
/// 69).
const NO_READER: &[(&str, fn(&mut Options), &[&str])] = &[
    (
        "absent",
        |shop| replace(shop, "miura-mpi\"\nport = \"", "miura-mpi\"\nport = \"/dev/no-such-reader\" #"),
        &["no reader at /dev/no-such-reader", "check the cable"],
    ),
    (
        "wrong device on the port",
        |shop| shop.reader.wrong_device = true,
        &["does not answer as a Miura MPI reader", "check port and protocol in [reader]"],
    ),
    (
        "no card-data key",
        |shop| shop.reader.secured = false,
        &["30003638", "no card-data key (SRED)", "must not be used"],
    ),
];

#[tokio::test]
async fn without_a_reader_that_encrypts_no_sale_begins() {
    for (what, wrong, words) in NO_READER {
        let mut options = Options::default();
        wrong(&mut options);
        let mut counter = Counter::closed(options).await;
        counter.start_agent();
        let status = counter.until_status(what, |status| status.reader.text.contains(words[0])).await;
        assert!(
            !status.ready && status.attention.iter().any(|one| one.text == status.reader.text),
            "{what}: {status:?}"
        );
        let (code, body) = counter.begin("R1", "12.34").await;
        assert_eq!((code, &body["code"]), (503, &json!("not-ready")), "{what}: {body}");
        let output = counter.verb(&["sale", "12.34"]).await.unwrap();
        assert_eq!(output.status.code(), Some(69), "{what}");
        let said = [body["detail"].as_str().unwrap().to_owned(), String::from_utf8(output.stderr).unwrap()];
        for word in *words {
            assert!(said.iter().all(|said| said.contains(word)), "{what}: \"{word}\" is not in: {said:?}");
        }
        // At each start the agent sends a probe and a request that checks the token.
        assert!(counter.kept().is_empty() && counter.shop.gateway.counters().requests <= 2, "{what}");
    }
}

/// The outcome of a sale and when it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The sale ends immediately.
    Now(OutcomeWord),
    /// The sale is unconfirmed at first and then reversed. The till gets it as declined.
    Reversed,
    /// The sale stays unconfirmed: absence is final only after a day, and a decision may still come.
    Open,
}
use End::{Now, Open, Reversed};

/// One sale.
struct Line {
    what: &'static str,
    wrong: fn(&mut Options),
    amount: &'static str,
    card: (&'static str, CardEntry),
    /// The cashier's text, during the sale or at its end.
    told: &'static str,
    end: End,
    /// The exit code of `pos-agent sale`.
    exit: i32,
    /// The gateway's final charges.
    holds: &'static [&'static str],
}

const NOTHING: &[&str] = &[];
const CHIP: (&str, CardEntry) = ("chip-no-cvm", Insert);
const TAP: (&str, CardEntry) = ("tap", Tap);
const SWIPE: (&str, CardEntry) = ("swipe", Swipe);

#[rustfmt::skip]
const fn line(what: &'static str, wrong: fn(&mut Options), amount: &'static str, card: (&'static str, CardEntry), told: &'static str, end: End, exit: i32, holds: &'static [&'static str]) -> Line {
    Line { what, wrong, amount, card, told, end, exit, holds }
}

/// The gateway's answers (`pos-sim gateway --help` lists the cents).
#[rustfmt::skip]
const ANSWERS: &[Line] = &[
    line("declined",                       as_it_is, "10.51", CHIP, "bank-declined",             Now(OutcomeWord::Declined), 1, NOTHING),
    line("approved for half",              as_it_is, "10.60", CHIP, "partial-not-taken", Reversed, 5, NOTHING),
    line("approved for half of a tap",     as_it_is, "10.60", TAP,  "partial-not-taken", Reversed, 5, NOTHING),
    line("a half that the till can take",  as_it_is, "10.60", CHIP, "PARTIALLY APPROVED: only 5.30 EUR of 10.60",  Now(OutcomeWord::PartiallyApproved), 4, &["5.30 EUR"]),
    line("pending, then approved",         as_it_is, "10.61", CHIP, "APPROVED 10.61 EUR",                          Now(OutcomeWord::Approved), 0, &["10.61 EUR"]),
    line("pending for ever",               hurried,  "10.62", CHIP, "not-decided-in-time", Open, 3, NOTHING),
    line("too many requests",              as_it_is, "10.63", CHIP, "gateway-throttles",        Now(OutcomeWord::NotSent), 69, NOTHING),
    line("HTTP 500, not processed",        as_it_is, "10.64", CHIP, "gateway-out-of-order",      Open, 3, NOTHING),
    line("HTTP 500, processed",            as_it_is, "10.65", CHIP, "gateway-out-of-order",      Reversed, 5, NOTHING),
    line("garbage",                        as_it_is, "10.66", TAP,  "answer-unclear",      Reversed, 5, NOTHING),
    line("half a JSON",                    as_it_is, "10.67", CHIP, "gateway-no-answer",           Reversed, 5, NOTHING),
    line("ten megabytes",                  as_it_is, "10.68", CHIP, "gateway-no-answer",           Reversed, 5, NOTHING),
    line("an unlisted code",      as_it_is, "10.69", TAP,  "code-unknown",        Reversed, 5, NOTHING),
    line("silence before it is processed", hurried,  "10.70", CHIP, "gateway-no-answer",           Open, 3, NOTHING),
    line("silence after it is processed",  hurried,  "10.71", CHIP, "gateway-no-answer",           Reversed, 5, NOTHING),
    line("cut before it is processed",     as_it_is, "10.72", CHIP, "gateway-no-answer",           Open, 3, NOTHING),
    line("cut after it is processed",      as_it_is, "10.73", SWIPE, "gateway-no-answer",          Reversed, 5, NOTHING),
    line("control bytes in statusText",    as_it_is, "10.74", CHIP, "APPROVED 10.74 EUR",                          Now(OutcomeWord::Approved), 0, &["10.74 EUR"]),
    line("no answer for the chip",         as_it_is, "10.75", CHIP, "APPROVED 10.75 EUR",                          Now(OutcomeWord::Approved), 0, &["10.75 EUR"]),
    line("the chip wants an answer",       as_it_is, "10.75", ("chip-pin", Insert), "card-refused", Reversed, 5, NOTHING),
    line("malformed answer for the chip",  as_it_is, "10.76", CHIP, "APPROVED 10.76 EUR",                          Now(OutcomeWord::Approved), 0, &["10.76 EUR"]),
    line("approved, 8A declines",          as_it_is, "10.77", CHIP, "chip-contradicted",   Reversed, 5, NOTHING),
    line("approved, 8A declines a tap",    as_it_is, "10.77", TAP,  "chip-contradicted",   Reversed, 5, NOTHING),
    line("HTTP 307 to the same host",      as_it_is, "10.78", CHIP, "APPROVED 10.78 EUR",                          Now(OutcomeWord::Approved), 0, &["10.78 EUR"]),
    line("approved for more",              as_it_is, "10.79", CHIP, "another-amount-approved", Reversed, 5, NOTHING),
    line("found at the third look only",   as_it_is, "10.80", CHIP, "gateway-no-answer",           Reversed, 5, NOTHING),
    line("the first reversal fails",       as_it_is, "10.81", CHIP, "gateway-no-answer",           Reversed, 5, NOTHING),
    line("the reversal's answer is lost",  as_it_is, "10.82", CHIP, "gateway-no-answer",           Reversed, 5, NOTHING),
    line("a tap that is not taken",        as_it_is, "10.93", TAP,  "insert-and-pin",          Now(OutcomeWord::Declined), 1, NOTHING),
    line("a chip where no tap is taken",   as_it_is, "10.93", CHIP, "APPROVED 10.93 EUR",                          Now(OutcomeWord::Approved), 0, &["10.93 EUR"]),
    line("long scripts for a plain card",  as_it_is, "10.57", CHIP, "APPROVED 10.57 EUR",                          Now(OutcomeWord::Approved), 0, &["10.57 EUR"]),
    line("HTTP 307 to another host",       as_it_is, "10.83", CHIP, "gateway-no-answer",           Open, 3, NOTHING),
];

/// Faults on the connection to the gateway.
#[rustfmt::skip]
const WAYS: &[Line] = &[
    line("expired certificate",         |shop| shop.gateway.certificate = Certificate::Expired,   "12.34", CHIP, "gateway-certificate-expired", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("certificate of another host", |shop| shop.gateway.certificate = Certificate::WrongName, "12.34", TAP,  "gateway-untrusted-certificate", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("certificate of another CA",   |shop| shop.gateway.certificate = Certificate::OtherCa,   "12.34", SWIPE, "gateway-untrusted-certificate", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("nobody listens",              |shop| to_port(shop, pos_test_kit::refusing_port()),                      "12.34", CHIP, "gateway-unreachable", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("no TLS handshake",            |shop| to_port(shop, deaf_port()),                        "12.34", CHIP, "gateway-unreachable", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("another's access token",      |shop| replace(shop, "/gateway-token\"", "/till-token\""), "12.34", CHIP, "gateway-refuses-token", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("a wrong path",                |shop| replace(shop, "/\"\nentity-id", "/elsewhere\"\nentity-id"), "12.34", CHIP, "gateway-wrong-address", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("another's entity",            |shop| replace(shop, "entity-id = \"8ac7", "entity-id = \"0000"), "12.34", CHIP, "request-not-possible", Now(OutcomeWord::NotSent), 69, NOTHING),
];

/// Actions of the reader.
#[rustfmt::skip]
const READERS: &[Line] = &[
    line("signs another amount",         |shop| shop.reader.amount_override = Some(1),       "12.34", CHIP, "reader-amount-differs", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("signs another amount, tapped", |shop| shop.reader.amount_override = Some(123_400), "12.34", TAP,  "reader-amount-differs", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("signs another currency",       |shop| shop.reader.currency_override = Some(840),   "12.34", CHIP, "reader-amount-differs", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("clear chip data",              in_clear, "12.34", CHIP,  "reader-clear-data", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("clear chip data of a tap",     in_clear, "12.34", TAP,   "reader-clear-data", Now(OutcomeWord::NotSent), 69, NOTHING),
    line("clear tracks",                 in_clear, "12.34", SWIPE, "reader-clear-data", Now(OutcomeWord::NotSent), 69, NOTHING),
];

fn as_it_is(_: &mut Options) {}

fn hurried(shop: &mut Options) {
    replace(shop, "answer-timeout-ms = 10000", "answer-timeout-ms = 500");
}

fn in_clear(shop: &mut Options) {
    (shop.reader.secured, shop.reader.claims_card_key) = (false, true);
}

/// Sets an address other than the shop's gateway. The rest of the line becomes a comment.
fn to_port(shop: &mut Options, port: u16) {
    replace(shop, "url = \"", &format!("url = \"https://localhost:{port}\" #"));
    replace(shop, "connect-timeout-ms = 5000", "connect-timeout-ms = 300");
}

/// Opens a port that accepts connections and sends no bytes.
fn deaf_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Box::leak(Box::new(listener)).local_addr().unwrap().port()
}

#[tokio::test]
async fn whatever_the_gateway_answers_has_its_outcome() {
    for line in ANSWERS {
        line.play().await;
    }
}

/// Checks that the table is complete. Cents below .60 are reasons to decline, which all have the same effect here.
#[test]
fn the_table_leaves_no_outcome_of_the_simulated_gateway_out() {
    for (cents, ..) in pos_sim::gateway::outcomes::TABLE.iter().filter(|(cents, ..)| *cents >= 60) {
        let end = format!(".{cents:02}");
        assert!(ANSWERS.iter().any(|line| line.amount.ends_with(&end)), "{end}");
    }
}

#[tokio::test]
async fn whatever_is_wrong_on_the_way_to_the_gateway_is_not_charged() {
    for line in WAYS {
        line.play().await;
    }
}

#[tokio::test]
async fn whatever_a_reader_does_wrong_is_not_sent() {
    for line in READERS {
        let counter = line.play().await;
        let view = counter.show("R1").await;
        assert_eq!(view.reason.as_deref(), Some(line.told), "{}: {}", line.what, view.text);
        assert!(counter.shop.gateway.ledger().entries().is_empty(), "{}", line.what);
        assert!(counter.shop.gateway.ledger().refusals().is_empty(), "{}", line.what);
        assert!(counter.kept().iter().all(|sale| !sale.asked()), "{}", line.what);
    }
}

impl Line {
    /// Makes the sale with the real command line and checks the results on every side.
    async fn play(&self) -> Counter {
        let what = self.what;
        let mut options = Options::default();
        options.reader.removes_card = true;
        (self.wrong)(&mut options);
        let counter = Counter::open_with(options).await;
        let mut ears = counter.listen().await;
        let settle = if self.end == Open { "1" } else { "20" };
        let mut sale = vec!["sale", self.amount, "--reference", "R1", "--settle-s", settle];
        sale.extend((self.end == Now(OutcomeWord::PartiallyApproved)).then_some("--accept-partial"));
        let sale = counter.verb(&sale);
        counter.present(card(self.card.0).unwrap(), self.card.1).await;

        let settled = |view: &SaleView| match self.end {
            Open => matches!(view.state, SaleState::Unconfirmed | SaleState::Ended),
            Now(_) | Reversed => view.state == SaleState::Ended,
        };
        let view = counter.follow(&mut ears, "R1", what, settled).await;
        let output = within(what, sale).await.unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(self.exit), "{what}: {text}");
        match Reason::of(self.told) {
            Some(_) => assert_eq!(view.reason.as_deref(), Some(self.told), "{what}: {text}"),
            None => assert!(text.contains(self.told), "{what}: \"{}\" is not in: {text}", self.told),
        }
        assert_eq!(counter.charged(), self.holds, "{what}");
        self.check_end(&counter, &mut ears, &view, &text).await;
        counter.audit(what);
        counter
    }

    async fn check_end(&self, counter: &Counter, ears: &mut counter::till::Ears, view: &SaleView, text: &str) {
        let what = self.what;
        ears.hear().await;
        let states = ears.states("R1");
        match self.end {
            Now(outcome) => {
                assert_eq!(view.outcome, Some(outcome), "{what}: {}", view.text);
                assert!(!states.contains(&SaleState::Unconfirmed), "{what}: {states:?}");
            }
            Reversed => {
                assert_eq!(view.outcome, Some(OutcomeWord::Reversed), "{what}: {}", view.text);
                assert!(states.ends_with(&[SaleState::Unconfirmed, SaleState::Ended]), "{what}: {states:?}");
                assert!(text.contains("UNCONFIRMED"), "{what}: {text}");
            }
            Open => {
                assert_eq!(states.last(), Some(&SaleState::Unconfirmed), "{what}: {states:?}");
                assert!(text.contains("under a new reference"), "{what}: {text}");
                self.check_open(counter).await;
            }
        }
    }

    /// Checks that an open sale is shown, stays open, and does not delay the next sale.
    async fn check_open(&self, counter: &Counter) {
        let what = self.what;
        let looked = |view: &SaleView| view.unsettled.is_some();
        let view = counter.until("R1", what, looked).await;
        assert_eq!(view.state, SaleState::Unconfirmed, "{what}: {}", view.text);
        let status = counter.until_status(what, |status| status.ready && !status.busy).await;
        assert_eq!(status.unconfirmed.len(), 1, "{what}");
        assert!(
            status.attention.iter().any(|one| one.sale.as_deref() == Some("R1") && one.text.contains("UNCONFIRMED")),
            "{status:?}"
        );
        counter.sell("R2", "2.00", "tap", Tap).await;
        assert_eq!(counter.until_ended("R2").await.outcome, Some(OutcomeWord::Approved), "{what}");
        assert_eq!(counter.charged_for("R2"), ["2.00 EUR"], "{what}");
        assert!(counter.charged_for("R1").is_empty(), "{what}");
        assert_eq!(counter.show("R1").await.state, SaleState::Unconfirmed, "{what}");
    }
}

#[tokio::test]
async fn text_of_the_gateway_commands_neither_printer_nor_screen() {
    let printer = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = printer.local_addr().unwrap().port();
    let paper = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let bytes = std::sync::Arc::clone(&paper);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = printer.accept().await {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                bytes.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        }
    });
    let mut options = Options::default();
    replace(
        &mut options,
        "[[printer]]\nport = ",
        &format!("[[printer]]\nstatus = false\nport = \"tcp://127.0.0.1:{port}\" #"),
    );
    let counter = Counter::open_with(options).await;
    let mut printed = Vec::new();
    for amount in ["12.34", "12.74"] {
        let begin = paper.lock().unwrap().len();
        let mut ears = counter.listen().await;
        counter.sell(amount, amount, "tap", Tap).await;
        let view = counter.until_ended(amount).await;
        counter.until_ready().await;
        for text in [counter.receipt(amount, "customer").await, counter.receipt(amount, "merchant").await] {
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        }
        ears.hear().await;
        let said = serde_json::to_string(&(&view, &ears.heard)).unwrap();
        for hostile in ["\\u001b", "\\u0007", "\\u0000", "\\r", "\u{9b}", "\u{7f}", "\\u007f"] {
            assert!(!said.contains(hostile), "{hostile:?} in {said}");
        }
        let whole = |bytes: &[u8]| commands(&bytes[begin..]).iter().filter(|command| command[0] == 0x1D).count() >= 2;
        within("both copies", async {
            while !whole(&paper.lock().unwrap()) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        printed.push(commands(&paper.lock().unwrap()[begin..]));
    }
    assert!(counter.show("12.74").await.status_text.unwrap().contains("THANK YOU"));
    assert_eq!(printed[0], printed[1], "the hostile text has brought commands of its own");
}

/// Returns every control byte with the byte after it. Skips line feeds.
fn commands(bytes: &[u8]) -> Vec<[u8; 2]> {
    let pairs = bytes.windows(2).filter(|pair| matches!(pair[0], 0..=9 | 11..=31 | 127));
    let mut commands: Vec<_> = pairs.map(|pair| [pair[0], pair[1]]).collect();
    commands.sort_unstable();
    commands
}

fn replace(shop: &mut Options, old: &str, new: &str) {
    shop.config.push((old.to_owned(), new.to_owned()));
}
