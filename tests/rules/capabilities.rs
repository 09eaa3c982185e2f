//! The contents of the interface documents, heading by heading, and their tests. The tables in
//! `docs/src/capabilities.md` have a row for each heading of both documents, each rule between fields and each set of
//! words. Each test that they name exists.
//!
//! The documents are not in the repository, so their headings are copied here. Rules and words are those of
//! `pos-gateway-model`.

use std::collections::BTreeSet;
use std::fs;

use pos_gateway_model::rule::RULES;
use pos_gateway_model::{Format, SECTIONS};

const TABLE: &str = "docs/src/capabilities.md";
/// The mark of a row with the tests of the row above.
const DITTO: &str = "″";

/// The headings that have content, by the document's name in the table.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "behaviour",
        &[
            "States and transitions",
            "Endpoints",
            "Hosted widget usage",
            "Fast checkout",
            "Authentication",
            "Events",
            "Errors",
            "Limits",
            "Versioning",
        ],
    ),
    (
        "data-model",
        &[
            "What the service does",
            "Resources and their fields",
            "Conventions",
            "Basic payment parameters",
            "Forex",
            "Authentication parameters",
            "Card account",
            "Mobile-wallet payments",
            "Virtual account",
            "Bank account",
            "Token account",
            "Customer",
            "Billing address",
            "Shipping address",
            "Corporate",
            "Sender",
            "Recipient",
            "Merchant (acceptor)",
            "Cart items",
            "Cart payments",
            "Marketplace",
            "Airline",
            "Tokenization and registration parameters",
            "Recurring migration",
            "3D Secure",
            "Custom parameters and scheme data",
            "Asynchronous payments",
            "Webhook notification body",
            "Point of sale",
            "Reporting parameters",
            "Gift card",
            "Risk",
            "Scheduling",
            "Payment response fields",
            "Reconciliation file",
            "Card on file",
            "Chargeback",
            "Query parameters",
        ],
    ),
];

#[test]
fn every_heading_has_a_row_and_every_row_a_test_that_is_there() {
    let table = fs::read_to_string(TABLE).unwrap();
    let known: BTreeSet<String> = headings().collect();
    let (faults, seen) = faults_of(&table, &known, |file| fs::read_to_string(file).ok());
    assert!(faults.is_empty(), "{TABLE}:\n{}\n", faults.join("\n"));
    let missing: Vec<_> = known.difference(&seen).collect();
    assert!(missing.is_empty(), "{TABLE} has no row for {missing:?}");
}

#[test]
fn a_row_without_its_test_is_found() {
    let known = BTreeSet::from(["behaviour: Limits".to_owned()]);
    let there = |file: &str| (file == "tests/a.rs").then(|| "#[test]\nfn it_holds() {}\nfn no_test() {}\n".to_owned());
    for (row, fault) in [
        ("| behaviour: Limits | it holds | `tests/a.rs` `it_holds` |", None),
        ("| behaviour: Limits | it holds | `tests/a.rs` `it_holds`, `it_holds` |", None),
        ("| behaviour: Limits | it holds | `tests/a.rs` `it_hold` |", Some("no test it_hold in tests/a.rs")),
        ("| behaviour: Limits | it holds | `tests/a.rs` `no_test` |", Some("no test no_test in tests/a.rs")),
        ("| behaviour: Limits | it holds | `tests/b.rs` `it_holds` |", Some("there is no file tests/b.rs")),
        ("| behaviour: Limits | it holds | `tests/a.rs` |", Some("names no test")),
        ("| behaviour: Limits | it holds | |", Some("names no test")),
        ("| behaviour: Limit | it holds | `tests/a.rs` `it_holds` |", Some("is no heading of the documents")),
        ("| behaviour: Limits | it holds | ″ |", Some("names no test")),
        ("| heading | a | `tests/a.rs` `it_holds` |\n| behaviour: Limits | it holds | ″ |", None),
    ] {
        let (faults, _) = faults_of(&format!("{row}\n"), &known, there);
        match fault {
            None => assert!(faults.is_empty(), "{faults:?}"),
            Some(fault) => assert!(faults.len() == 1 && faults[0].ends_with(fault), "{row}: {faults:?}"),
        }
    }
}

#[test]
fn a_rule_or_a_set_of_words_without_a_row_is_found() {
    let known: BTreeSet<String> = rules_and_words().collect();
    assert!(known.len() > 70, "{known:?}");
    let there = |_: &str| Some("#[test]\nfn it_holds() {}\n".to_owned());
    let (faults, seen) = faults_of("| rule: `brand` | it holds | `tests/a.rs` `it_holds` |\n", &known, there);
    assert!(faults.is_empty(), "{faults:?}");
    let missing: BTreeSet<_> = known.difference(&seen).map(String::as_str).collect();
    assert!(missing.contains("rule: `sequence`") && missing.contains("values: `pos.entryMode`"), "{missing:?}");
    assert!(!missing.contains("rule: `brand`"));
}

fn headings() -> impl Iterator<Item = String> {
    let of_documents = HEADINGS
        .iter()
        .flat_map(|(document, headings)| headings.iter().map(move |heading| format!("{document}: {heading}")));
    of_documents.chain(rules_and_words())
}

/// Returns rules and sets of words. Sets of yes and no do not count.
fn rules_and_words() -> impl Iterator<Item = String> {
    let rows = SECTIONS.iter().filter(|section| section.copied.is_none()).flat_map(|section| section.rows);
    let with_words = rows.filter(|row| match row.format {
        Format::OneOf(words) => words != ["true", "false"],
        Format::List(_) => true,
        _ => false,
    });
    let words: BTreeSet<String> = with_words.map(|row| format!("values: `{}`", row.name)).collect();
    RULES.iter().map(|rule| format!("rule: `{}`", rule.name)).chain(words)
}

/// Returns the faults in the table's rows, and the headings of these rows. `file` reads a file's text.
fn faults_of(
    table: &str,
    known: &BTreeSet<String>,
    file: impl Fn(&str) -> Option<String>,
) -> (Vec<String>, BTreeSet<String>) {
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    let documents = HEADINGS.iter().map(|(document, _)| *document).chain(["rule", "values"]);
    let documents: Vec<String> = documents.map(|document| format!("{document}: ")).collect();
    let mut above = "";
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" |").map(str::trim).collect();
        let [heading, _, shown_by, ..] = cells[..] else { continue };
        let shown_by = if shown_by == DITTO { above } else { shown_by };
        above = shown_by;
        if !documents.iter().any(|document| heading.starts_with(document)) {
            continue;
        }
        if !known.contains(heading) {
            faults.push(format!("{heading}: is no heading of the documents"));
        }
        seen.insert(heading.to_owned());
        let (mut text, mut count) = (None, 0);
        let mut named = "";
        for word in shown_by.split('`').skip(1).step_by(2) {
            if word.contains('/') {
                named = word;
                text = file(word);
                if text.is_none() {
                    faults.push(format!("{heading}: there is no file {word}"));
                    count += 1;
                }
            } else if let Some(text) = &text {
                count += 1;
                if !has_test(text, word) {
                    faults.push(format!("{heading}: no test {word} in {named}"));
                }
            }
        }
        if count == 0 {
            faults.push(format!("{heading}: names no test"));
        }
    }
    (faults, seen)
}

/// Returns whether a Rust file has a test with this name. The test attribute precedes it, possibly with other
/// attributes in between.
fn has_test(text: &str, name: &str) -> bool {
    let begins = [format!("fn {name}("), format!("async fn {name}(")];
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    lines.iter().enumerate().any(|(at, line)| {
        begins.iter().any(|begin| line.starts_with(begin.as_str()))
            && lines[..at]
                .iter()
                .rev()
                .take_while(|before| before.starts_with("#["))
                .any(|before| before.contains("test"))
    })
}
