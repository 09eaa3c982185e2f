//! One day from both sides. `pos-agent reconcile` compares the real agent's journal with the settlement file that the
//! gateway writes from its own ledger. At first there is no difference. Then each kind of difference is planted in the
//! file, and in each of its columns.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::counter::till::program;
use crate::counter::{Counter, ended};
use easy_ext::ext;
use pos_agent::till::SaleView;
use pos_sim::gateway::Outcome;
use pos_sim::reader::CardEntry::Tap;
use pos_sim::reader::card;
use pos_terms::transaction::OutcomeWord;
use serde_json::{Value, json};

#[ext(Settles)]
impl Counter {
    /// Pays with a card and waits for the expected outcome.
    async fn card_ends(&self, body: Value, outcome: OutcomeWord) -> SaleView {
        let reference = body["reference"].as_str().unwrap().to_owned();
        let (status, answer) = self.ask(body).await;
        assert_eq!(status, 201, "{answer}");
        self.present(card("tap").unwrap(), Tap).await;
        let view = self.until_ended(&reference).await;
        assert_eq!(ended(&view), Some(outcome), "{}", view.text);
        self.until_ready().await;
        view
    }

    /// Makes an approved follow-up of an earlier transaction.
    async fn follows(&self, body: Value) {
        let view = self.done(body).await;
        assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{}", view.text);
        self.until_ready().await;
    }

    /// Makes every kind of payment in one day.
    async fn a_day(&self) {
        use OutcomeWord::{Approved, Declined, PartiallyApproved, Reversed};
        self.card_ends(json!({"reference": "s1", "amount": "12.34", "tip": "1.00"}), Approved).await;
        self.card_ends(json!({"reference": "s2", "amount": "20.00"}), Approved).await;
        self.card_ends(json!({"reference": "part", "amount": "10.60", "acceptPartial": true}), PartiallyApproved).await;
        self.card_ends(json!({"reference": "declined", "amount": "9.51"}), Declined).await;
        self.card_ends(json!({"reference": "lost", "amount": "9.82"}), Reversed).await;
        self.card_ends(json!({"reference": "room", "kind": "pre-authorisation", "amount": "100.00"}), Approved).await;
        self.card_ends(json!({"reference": "gone", "kind": "pre-authorisation", "amount": "50.00"}), Approved).await;
        self.card_ends(json!({"reference": "credit", "kind": "credit", "amount": "7.00"}), Approved).await;
        self.card_ends(json!({"reference": "void", "amount": "5.00"}), Approved).await;
        for body in [
            json!({"reference": "r1", "kind": "refund", "of": "s2", "amount": "5.00"}),
            json!({"reference": "r2", "kind": "refund", "of": "part"}),
            json!({"reference": "more", "kind": "increment", "of": "room", "amount": "20.00"}),
            json!({"reference": "c1", "kind": "capture", "of": "room", "amount": "30.00"}),
            json!({"reference": "c2", "kind": "capture", "of": "room", "amount": "40.00"}),
            json!({"reference": "c3", "kind": "capture", "of": "room", "amount": "10.00"}),
            json!({"reference": "v1", "kind": "reversal", "of": "gone"}),
            json!({"reference": "v2", "kind": "reversal", "of": "void"}),
            json!({"reference": "v3", "kind": "reversal", "of": "c3"}),
        ] {
            self.follows(body).await;
        }
    }

    /// Returns the settlement file of the date on which today's payments are settled.
    fn settlement_file(&self) -> String {
        self.settled_in(1)
    }

    /// Returns the settlement file of the date this many days later.
    fn settled_in(&self, days: i64) -> String {
        let date = chrono::Utc::now().date_naive() + chrono::TimeDelta::days(days);
        self.shop.gateway.settlement_file(date)
    }

    async fn reconcile(&self, file: &Path, more: &[&str]) -> (i32, Vec<String>) {
        let journal = self.shop.folder().join("journal.db");
        let mut command = program(&["reconcile"]);
        let output: Output = command.arg(file).arg("--journal").arg(journal).args(more).output().await.unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text.lines().map(str::to_owned).collect())
    }

    /// Returns the findings for a changed file, one line each.
    async fn findings(&self, file: &str) -> Vec<String> {
        let path = self.shop.folder().join("settled.csv");
        fs::write(&path, file).unwrap();
        let (code, lines) = self.reconcile(&path, &[]).await;
        let findings: Vec<String> = lines.into_iter().take_while(|line| !line.starts_with("matched by")).collect();
        assert_eq!(code, if findings.is_empty() { 0 } else { 65 }, "{findings:?}");
        findings.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

/// Returns the file with one column of one line changed.
fn spoilt(file: &str, line: usize, column: &str, value: &str) -> String {
    let at = file.lines().next().unwrap().split(';').position(|name| name == column).unwrap();
    let change = |(number, text): (usize, &str)| match number == line {
        true => {
            let mut fields: Vec<&str> = text.split(';').collect();
            fields[at] = value;
            fields.join(";") + "\r\n"
        }
        false => format!("{text}\r\n"),
    };
    (1..).zip(file.lines()).map(change).collect()
}

fn without(file: &str, line: usize) -> String {
    (1..).zip(file.lines()).filter(|(number, _)| *number != line).map(|(_, text)| format!("{text}\r\n")).collect()
}

fn twice(file: &str, line: usize) -> String {
    format!("{file}{}\r\n", file.lines().nth(line - 1).unwrap())
}

fn line_of(file: &str, what: &str) -> usize {
    1 + file.lines().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {file}"))
}

#[tokio::test]
async fn a_day_agrees_and_each_planted_difference_is_found() {
    let counter = Counter::open().await;
    counter.a_day().await;
    let file = counter.settlement_file();
    assert_eq!(counter.findings(&file).await, [""; 0], "{file}");
    let path = counter.shop.folder().join("settled.csv");
    let (_, lines) = counter.reconcile(&path, &[]).await;
    let said = lines.join("\n");
    // The matched payments are s1 with its tip, s2, the partially approved one, the refunds, two captures and the
    // credit.
    assert!(said.contains("matched                                      8  91.34 EUR"), "{said}\n{file}");
    assert!(said.contains("fee records, CAPTURE_FEE                     3  0.06 EUR"), "{said}");
    assert!(said.ends_with("everything agrees"), "{said}");

    let sale = line_of(&file, ";13.34;EUR;");
    let refund = line_of(&file, "SETTLED;REFUND;NEG");
    let credit = line_of(&file, "SETTLED;CREDIT;NEG");
    let fee = line_of(&file, "FEE;AUTH_FEE");
    let reference = |name: &str| {
        let ledger = counter.shop.gateway.ledger();
        let entries = ledger.entries();
        let found = entries.iter().find(|entry| entry.amount == name).unwrap();
        (found.id.clone(), found.merchant_transaction_id.clone().unwrap())
    };
    let as_other = |line: usize, amount: &str| {
        let (id, transaction) = reference(amount);
        let moved = spoilt(&file, line, "TransactionId", &transaction);
        spoilt(&moved, line, "UniqueID", &id)
    };
    let chargeback = twice(&file, sale).replace("\r\nSETTLED", "\nSETTLED");
    let back = chargeback.lines().count();
    let chargeback = spoilt(&spoilt(&chargeback, back, "ReconciliationType", "CHARGEBACK"), back, "Cashflow", "NEG");
    for (planted, found) in [
        (without(&file, sale), "missing at the gateway"),
        (without(&file, refund), "missing at the gateway"),
        (without(&file, credit), "missing at the gateway"),
        (twice(&file, sale), "amount differs"),
        (spoilt(&file, sale, "Amount", "13.35"), "amount differs"),
        (spoilt(&file, refund, "Cashflow", "POS"), "amount differs"),
        (spoilt(&file, sale, "Currency", "USD"), "currency differs"),
        (spoilt(&file, sale, "SettlementStatus", "FAILED"), "settlement failed"),
        (as_other(sale, "9.82"), "settled though reversed"),
        (as_other(sale, "9.51"), "settled though not charged"),
        (as_other(sale, "5.00"), "settled though reversed"),
        (
            spoilt(&file, sale, "TransactionId", "12345678-99-00000000000000000000000000000000"),
            "missing at the terminal",
        ),
        (chargeback.clone(), "chargeback "),
        (spoilt(&chargeback, back, "ReconciliationType", "CHARGEBACK REVERSAL"), "chargeback reversal"),
        (spoilt(&file, fee, "PaymentType", "FEES"), "malformed line"),
    ] {
        let findings = counter.findings(&planted).await;
        assert!(findings.iter().any(|line| line.starts_with(found)), "{found}: {findings:?}");
        let most = if found.starts_with("settled though") || found.contains("at the terminal") { 2 } else { 1 };
        assert!(findings.len() <= most, "{found}: {findings:?}");
    }
}

/// Returns a wrong value for a column. If the column accepts any text, the value is too long.
fn wrong_value(column: &str) -> (&str, String) {
    let long = |length: usize| "x".repeat(length);
    match column {
        "ClearingInstituteMerchantId" => ("must be 5 to 64", "x".to_owned()),
        "MerchantAccountId"
        | "PspId"
        | "DivisionId"
        | "MerchantId"
        | "UniqueID"
        | "MatchedTransactions"
        | "ChargebackId" => ("must be 32 letters and digits", "0".repeat(31)),
        "Descriptor" | "AccountHolder" | "ReasonDesc" => ("must be", long(129)),
        "TransactionId" | "InvoiceId" => ("must be 8 to 255", "x".to_owned()),
        _ => ("must be", long(300)),
    }
}

#[tokio::test]
async fn each_column_that_is_wrong_is_named_with_its_line() {
    let counter = Counter::open().await;
    counter.card_ends(json!({"reference": "s1", "amount": "10.00"}), OutcomeWord::Approved).await;
    counter.card_ends(json!({"reference": "s2", "amount": "20.00"}), OutcomeWord::Approved).await;
    let file = counter.settlement_file();
    assert_eq!(counter.findings(&file).await, [""; 0]);
    let columns: Vec<&str> = file.lines().next().unwrap().split(';').collect();
    assert_eq!(columns.len(), 38);
    for column in columns {
        let (must, value) = wrong_value(column);
        let findings = counter.findings(&spoilt(&file, 3, column, &value)).await;
        let named: Vec<&String> = findings
            .iter()
            .filter(|line| line.contains("line 3") && line.contains(&format!("{column} {must}")))
            .collect();
        assert_eq!(named.len(), 1, "{column}: {findings:?}");
        assert!(!findings.concat().contains(&value), "{column}: what was found there is not repeated");
        let lost = findings.iter().filter(|line| !line.contains("line 3")).count();
        assert!(lost <= 1, "{column}: the other line counts: {findings:?}");
    }
    // A fault that occurs on every line is reported once.
    let all = spoilt(&spoilt(&file, 2, "BankCode", &"1".repeat(13)), 3, "BankCode", &"1".repeat(13));
    let findings = counter.findings(&all).await;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("not as documented           line 2  BankCode must be"), "{findings:?}");
    assert!(findings[0].ends_with("but is not on 2 lines"), "{findings:?}");
}

#[tokio::test]
async fn a_folder_is_read_file_by_file() {
    let counter = Counter::open().await;
    counter.card_ends(json!({"reference": "s1", "amount": "10.00"}), OutcomeWord::Approved).await;
    counter.shop.gateway.force(Outcome::Approve);
    let disputed = counter.card_ends(json!({"reference": "s2", "amount": "20.97"}), OutcomeWord::Approved).await;
    let folder = counter.shop.folder().join("settled");
    fs::create_dir(&folder).unwrap();
    for days in [1, 2, 6] {
        fs::write(folder.join(format!("day-{days}.csv")), counter.settled_in(days)).unwrap();
    }
    // Other files are ignored. A hidden file is still being written.
    fs::write(folder.join("notes.txt"), "nothing").unwrap();
    fs::write(folder.join(".day-9.csv"), "half").unwrap();
    let (code, lines) = counter.reconcile(&folder, &[]).await;
    let said = lines.join("\n");
    assert_eq!(code, 65, "{said}");
    assert!(lines[0].starts_with("chargeback                  in day-6.csv  line 2  sale 2"), "{said}");
    assert!(lines[0].contains("reason 000.100.200"), "{said}");
    assert!(said.contains("\nfiles                                        3  \n"), "{said}");
    assert!(said.contains("matched                                      2  30.97 EUR"), "{said}");
    assert_eq!(disputed.amount, "20.97");

    // An unreadable file is named in the findings, and the other files still count.
    fs::write(folder.join("day-0.csv"), "a,b\n1,2\n").unwrap();
    fs::create_dir(folder.join("day-3.csv")).unwrap();
    let (code, lines) = counter.reconcile(&folder, &["--json"]).await;
    assert_eq!(code, 65);
    let values: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let unreadable: Vec<(&str, &str)> = values
        .iter()
        .filter(|value| value["finding"] == "unreadable")
        .map(|value| (value["file"].as_str().unwrap(), value["why"].as_str().unwrap()))
        .collect();
    assert_eq!(unreadable.iter().map(|(file, _)| *file).collect::<Vec<_>>(), ["day-0.csv", "day-3.csv"]);
    assert!(unreadable[0].1.contains("lacks ReconciliationType"), "{unreadable:?}");
    let summary = &values.last().unwrap()["summary"];
    assert_eq!((&summary["files"], &summary["matched"]["count"]), (&json!(3), &json!(2)));

    // The same file twice cannot come from a real day.
    fs::copy(folder.join("day-1.csv"), folder.join("day-1-again.CSV")).unwrap();
    let (_, lines) = counter.reconcile(&folder, &[]).await;
    let differs = lines.iter().filter(|line| line.starts_with("amount differs              sale")).count();
    assert_eq!(differs, 2, "no line is named, as it could be any file's: {lines:?}");
}
