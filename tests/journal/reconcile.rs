//! The gateway's settlement file, compared with the journal. The file is typed by hand from the document and damaged in
//! every way. A simple second computation checks the results, and the tests run the command as a person does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::process::{Command, Output};

use chrono::NaiveDate;
use pos_core::transaction::{HostFacts, Order, Outcome, Payment, Record};
use pos_journal::{Db, Error, Reading};
use pos_reconcile::{Difference, DifferenceKind, HeaderError, Ledger, Matching, Period, SettlementFile, Summary};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Earlier, Operation, PaymentId, Reference, SaleNumber};
use proptest::prelude::*;

/// The columns in the document's order, followed by the two that it mentions separately (interface: Reconciliation
/// file).
const HEADER: &str = "ReconciliationType;PaymentType;Cashflow;ClearingInstituteMerchantId;MerchantAccountId;\
    MerchantAccountName;PspId;DivisionId;MerchantId;SettlementTxId;UniqueID;ShortId;ConnectorTxId1;ConnectorTxId2;\
    ConnectorTxId3;Amount;Currency;Brand;TxRequestTime;SettlementAmount;SettlementCurrency;SettlementFee;SettlementFxRate;\
    SettlementDate;SettlementStatus;Descriptor;AccountNumberLast4;BankCode;AccountHolder;ReasonCode;ReasonDesc;\
    SettlementFileFormat;ClearingInsitituteName;MatchingStatus;MatchedTransactions;ChargebackId;TransactionId;InvoiceId";

/// A file with the document's order of columns: lines that settle sales 1 to 5 of `journal`, and other lines.
const TYPED: &str = "\
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-1;8ac7a4a0000000000000000000000001;1234.5678.9012;C1;C2;C3;12.34;EUR;VISA;2026-11-20 09:00:01;12.34;EUR;0.12;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;12345678-1-00000000000000000000000000000001;
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-2;8ac7a4a0000000000000000000000002;1234.5678.9013;C1;C2;C3;10.00;EUR;VISA;2026-11-20 09:10:00;10.00;EUR;0.10;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;12345678-2-00000000000000000000000000000002;
SETTLED;REFUND;NEG;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-3;8ac7a4a0000000000000000000000099;1234.5678.9014;C1;C2;C3;2.50;EUR;VISA;2026-11-20 09:11:00;2.50;EUR;;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;12345678-2-00000000000000000000000000000002;
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-4;8ac7a4a0000000000000000000000004;1234.5678.9015;C1;C2;C3;44.00;EUR;VISA;2026-11-20 09:30:00;44.00;EUR;0.44;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;12345678-4-00000000000000000000000000000004;
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-5;8ac7a4a0000000000000000000000005;1234.5678.9016;C1;C2;C3;5.00;EUR;VISA;2026-11-20 09:40:00;5.00;EUR;0.05;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;12345678-5-00000000000000000000000000000005;
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-6;8ac7a4a0000000000000000000000006;1234.5678.9017;C1;C2;C3;7.77;EUR;VISA;2026-11-20 10:00:00;7.77;EUR;0.07;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;NOT_MATCHED;;;12345678-77-0000000000000000000000000000004d;INVOICE-77
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-7;8ac7a4a0000000000000000000000007;1234.5678.9018;C1;C2;C3;99.00;EUR;VISA;2026-11-20 10:00:00;99.00;EUR;0.99;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;87654321-1-00000000000000000000000000000001;
CHARGEBACK;DEBIT;NEG;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-8;8ac7a4a0000000000000000000000001;1234.5678.9019;C1;C2;C3;12.34;EUR;VISA;2026-11-20 09:00:01;12.34;EUR;;1.00;2026-11-28;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;000.100.2;\"not recognised; \"\"never there\"\"\";ACQ1;Test Clearing;MATCHED;8ac7a4a0000000000000000000000001;8ac7a4a00000000000000000000000cb;12345678-1-00000000000000000000000000000001;
CHARGEBACK REVERSAL;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-9;8ac7a4a0000000000000000000000001;1234.5678.9020;C1;C2;C3;12.34;EUR;VISA;2026-11-20 09:00:01;12.34;EUR;;1.00;2026-12-05;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;8ac7a4a0000000000000000000000001;;12345678-1-00000000000000000000000000000001;
FEE;MONTHLY;NEG;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-10;;;C1;C2;C3;15.00;EUR;;;15.00;EUR;;1.00;2026-11-30;SUCCESS;CORNER SHOP;;;;;;ACQ1;Test Clearing;;;;;
FEE;AUTH_FEE;NEG;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-11;8ac7a4a0000000000000000000000001;;C1;C2;C3;0.03;EUR;;2026-11-20 09:00:01;0.03;EUR;;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;;;;12345678-1-00000000000000000000000000000001;
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-12;8ac7a4a0000000000000000000000001;1234.5678.9021;C1;C2;C3;12,34;EUR;VISA;2026-11-20 09:00:01;12.34;EUR;;1.00;2026-11-21;SUCCESS;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;12345678-1-00000000000000000000000000000001;
SETTLED;DEBIT;POS;CLRMID01;8ac7a4c97044c00601704a9b2a2b0c01;Corner Shop;8ac7a4c97044c00601704a9b2a2b0c02;;8ac7a4c97044c00601704a9b2a2b0c03;S-13;8ac7a4a0000000000000000000000006;1234.5678.9022;C1;C2;C3;6.00;EUR;VISA;2026-11-20 09:50:01;6.00;EUR;;1.00;2026-11-21;FAILED;CORNER SHOP;4242;12345678;Erika Mustermann;;;ACQ1;Test Clearing;MATCHED;;;12345678-6-00000000000000000000000000000006;
";

fn eur(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap()
}

fn reference(number: u64) -> String {
    format!("12345678-{number}-{number:032x}")
}

fn payment(number: u64) -> String {
    format!("8ac7a4a0{number:024x}")
}

fn started(number: u64, amount: Amount, day: &str) -> Record {
    Record::Started {
        order: Order {
            operation: Operation::Sale,
            parameters: Vec::new(),
            number: SaleNumber::new(number),
            till: "till-1".to_owned(),
            reference: Reference::parse(format!("R{number}")).unwrap(),
            by: None,
            amount,
            ask_tip: false,
            manual: false,
            chip_alone: false,
            accept_partial: false,
            till_confirms: None,
            gives_rest: false,
            till_prints: false,
            till_data: Default::default(),
            tip: None,
            training: None,
            terminal_id: "12345678".to_owned(),
            account: None,
            merchant_transaction_id: reference(number),
            started_unix_ms: 1_795_000_000_000,
            local_time: format!("{day} 09:00:00"),
        },
    }
}

fn ended(outcome: Outcome, number: Option<u64>) -> Record {
    let host = number.map(|number| HostFacts { id: Some(PaymentId::new(payment(number))), ..HostFacts::default() });
    Record::Ended { outcome, host, card: None, by: None, at_unix_ms: None }
}

fn reversing(number: u64, amount: Amount) -> Vec<Record> {
    let paid = Payment { id: PaymentId::new(payment(number)), amount };
    vec![
        Record::Reversing { why: "cut".into(), payment: Some(paid.clone()), host: None, by: None },
        Record::ReversalAsked { payment: paid, reference: None },
    ]
}

/// Returns a sale's steps as the agent writes them.
fn sale(number: u64, minor: u64, day: &str, outcome: Option<Outcome>) -> Vec<Vec<Record>> {
    let amount = eur(minor);
    let mut steps = vec![vec![started(number, amount, day)]];
    match outcome {
        Some(outcome @ Outcome::Reversed { .. }) => {
            steps.push(reversing(number, amount));
            let done = Record::ReversalDone {
                payment: PaymentId::new(payment(number)),
                reversal: PaymentId::new(payment(number + 1_000_000)),
                amount: None,
            };
            steps.push(vec![done, ended(outcome, None)]);
        }
        Some(outcome @ (Outcome::Cancelled { .. } | Outcome::NotSent { .. })) => steps.push(vec![ended(outcome, None)]),
        Some(outcome) => steps.push(vec![ended(outcome, Some(number))]),
        None => steps.push(reversing(number, amount)),
    }
    steps
}

fn declined() -> Outcome {
    Outcome::Declined { why: "no".into() }
}

fn reversed() -> Outcome {
    Outcome::Reversed { why: "cut".into() }
}

/// Returns the sales: 1 agrees, 2 was settled for too little, 3 is missing, 4 was reversed, 5 was declined, 6 failed, 7
/// is from another day.
fn journal() -> Vec<Vec<Vec<Record>>> {
    let partly = Outcome::PartiallyApproved { amount: eur(1000) };
    vec![
        sale(1, 1234, "2026-11-20", Some(Outcome::Approved)),
        sale(2, 2000, "2026-11-20", Some(partly)),
        sale(3, 300, "2026-11-20", Some(Outcome::Approved)),
        sale(4, 4400, "2026-11-20", Some(reversed())),
        sale(5, 500, "2026-11-20", Some(declined())),
        sale(6, 600, "2026-11-20", Some(Outcome::Approved)),
        sale(7, 700, "2026-11-25", Some(Outcome::Approved)),
    ]
}

fn ledger(journal: &[Vec<Vec<Record>>]) -> Ledger {
    let mut ledger = Ledger::new(Some("12345678".to_owned()));
    journal.iter().for_each(|steps| ledger.add(steps).unwrap());
    ledger.sorted()
}

fn reconcile(ledger: Ledger, given: Period, file: impl BufRead) -> (Vec<Difference>, Summary) {
    let mut file = SettlementFile::open(file).unwrap();
    let mut matching = Matching::new(ledger, given);
    matching.next_file(file.has_transaction_ids());
    let mut findings = Vec::new();
    while let Some(line) = file.next().unwrap() {
        matching.take(line, &mut |finding| findings.push(finding));
    }
    matching.take_columns(file.wrong_columns(), &mut |finding| findings.push(finding));
    let summary = matching.finish(&mut |finding| findings.push(finding));
    (findings, summary)
}

const NO_PERIOD: Period = Period { from: None, to: None };

#[test]
fn each_record_type_of_the_document() {
    let file = format!("\u{FEFF}{HEADER}\r\n{}", TYPED.replace('\n', "\r\n"));
    let (findings, summary) = reconcile(ledger(&journal()), NO_PERIOD, file.as_bytes());
    let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
    let institute = "from Test Clearing";
    assert_eq!(
        told,
        [
            format!(
                "missing at the terminal     line 7  of 2026-11-20  row 7.77 EUR  TransactionId 12345678-77-0000000000000000000000000000004d  \
                 UniqueID 8ac7a4a0000000000000000000000006  InvoiceId INVOICE-77  {institute}"
            ),
            format!(
                "chargeback                  line 9  sale 1  of 2026-11-20  due 12.34 EUR  row -12.34 EUR  TransactionId {}  \
                 UniqueID {}  {institute}  reason 000.100.2  not recognised; \"never there\"",
                reference(1),
                payment(1)
            ),
            format!(
                "chargeback reversal         line 10  sale 1  of 2026-11-20  due 12.34 EUR  row 12.34 EUR  TransactionId {}  \
                 UniqueID {}  {institute}",
                reference(1),
                payment(1)
            ),
            "malformed line              line 13  Amount must be 1 to 10 digits, a dot and 2 digits, no finer than the currency"
                .to_owned(),
            format!(
                "settlement failed           line 14  sale 6  of 2026-11-20  due 6.00 EUR  row 6.00 EUR  TransactionId {}  \
                 UniqueID {}  {institute}",
                reference(6),
                payment(6)
            ),
            "amount differs              line 4  sale 2  of 2026-11-20  due 10.00 EUR  settled 7.50 EUR".to_owned(),
            "missing at the gateway      sale 3  of 2026-11-20  due 3.00 EUR".to_owned(),
            "settled though reversed     line 5  sale 4  of 2026-11-20  settled 44.00 EUR".to_owned(),
            "settled though not charged  line 6  sale 5  of 2026-11-20  settled 5.00 EUR".to_owned(),
        ]
    );
    assert_eq!(
        summary.to_string(),
        "\
matched by TransactionId, 7 sales of the journal
period 2026-11-20 (of the file) to 2026-11-20 (of the file)

rows                                        13  
matched                                      1  12.34 EUR
missing at the gateway                       1  3.00 EUR
missing at the terminal                      1  7.77 EUR
amount differs                               1  -2.50 EUR
chargeback                                   1  -12.34 EUR
chargeback reversal                          1  12.34 EUR
settled though reversed                      1  44.00 EUR
settled though not charged                   1  5.00 EUR
settlement failed                            1  6.00 EUR
malformed line                               1  
settled rows, and their fees                 6  0.78 EUR
fee records, AUTH_FEE                        1  0.03 EUR
fee records, MONTHLY                         1  15.00 EUR
rows of other terminals                      1  99.00 EUR

there are differences: see the lines above the table"
    );
}

/// Checks that the header names the columns. The document's file gives the same result with its columns in reverse
/// order. A reason on a settled line is ignored, because only chargebacks have reasons.
#[test]
fn columns_are_read_by_their_names_and_reasons_are_of_chargebacks_only() {
    let plain = TYPED.replace("\"not recognised; \"\"never there\"\"\"", "not recognised");
    let with_reasons = plain.replace(";Erika Mustermann;;;", ";Erika Mustermann;000.100.299;nobody's reason;");
    assert_ne!(with_reasons, plain);
    let turned = |file: &str| -> String {
        file.lines().map(|line| line.split(';').rev().collect::<Vec<_>>().join(";") + "\n").collect()
    };
    let told = |lines: &str, turn: bool| {
        let file = format!("{HEADER}\n{lines}");
        let file = if turn { turned(&file) } else { file };
        let (findings, summary) = reconcile(ledger(&journal()), NO_PERIOD, file.as_bytes());
        (findings.iter().map(ToString::to_string).collect::<Vec<_>>(), summary.to_string())
    };
    let expected = told(&plain, false);
    assert_eq!(told(&plain, true), expected);
    let (findings, summary) = told(&with_reasons, true);
    assert_eq!(summary, expected.1);
    let reasons = findings.iter().filter(|told| told.contains("nobody's reason"));
    assert_eq!(reasons.count(), 1, "that of the chargeback reversal: {findings:#?}");
}

/// Checks a file with a different order of columns, an unknown column and no `TransactionId`. Rows are then matched by
/// the payment's id. The row of a reversal, which has its own id, belongs to the reversed sale.
#[test]
fn by_unique_id_where_there_is_no_transaction_id() {
    let header = "Novelty;UniqueID;Amount;Currency;Cashflow;PaymentType;ReconciliationType;SettlementStatus;SettlementDate;\
        SettlementCurrency;SettlementAmount;ClearingInstituteName";
    let row = |id: u64, amount: &str, flow: &str| {
        let kind = if flow == "POS" { "DEBIT" } else { "REFUND" };
        format!("x;{};{amount};EUR;{flow};{kind};SETTLED;SUCCESS;2026-11-20;EUR;{amount};Clearing\n", payment(id))
    };
    let file = [
        format!("{header}\n"),
        row(1, "12.34", "POS"),
        row(4, "44.00", "POS"),
        row(1_000_004, "44.00", "NEG"),
        row(90, "1.00", "POS"),
    ]
    .concat();
    let period = Period { from: NaiveDate::from_ymd_opt(2026, 11, 25), to: NaiveDate::from_ymd_opt(2026, 11, 30) };
    let (findings, summary) = reconcile(ledger(&journal()), period, file.as_bytes());
    let kinds: Vec<_> =
        findings.iter().map(|finding| (finding.kind, finding.line, finding.sale.map(SaleNumber::get))).collect();
    assert_eq!(
        kinds,
        [(DifferenceKind::MissingAtTerminal, Some(5), None), (DifferenceKind::MissingAtGateway, None, Some(7))]
    );
    assert_eq!((summary.matched.count, summary.matched_by), (1, "UniqueID"));
    assert_eq!(findings[0].clearing_institute.as_deref(), Some("Clearing"), "the other spelling of the column");
    assert!(summary.to_string().contains("period 2026-11-25 (given) to 2026-11-30 (given)"), "{summary}");
}

/// Checks that a row may leave `TransactionId` empty in a file with this column.
#[test]
fn by_unique_id_where_the_transaction_id_is_empty() {
    let file = small(&["SETTLED;DEBIT;POS;12.34;EUR;12.34;EUR;2026-11-20;SUCCESS;;8ac7a4a0000000000000000000000001"]);
    let (findings, summary) = reconcile(ledger(&journal()[..1]), NO_PERIOD, file.as_bytes());
    assert_eq!((findings.len(), summary.matched.count), (0, 1));
    assert!(summary.agrees() && summary.to_string().ends_with("everything agrees"));
}

fn small(rows: &[&str]) -> String {
    let header = "ReconciliationType;PaymentType;Cashflow;Amount;Currency;SettlementAmount;SettlementCurrency;SettlementDate;\
        SettlementStatus;TransactionId;UniqueID";
    rows.iter().fold(header.to_owned() + "\n", |file, row| file + row + "\n")
}

#[test]
fn sums_and_currencies() {
    let row = |kind: &str, amount: &str, currency: &str| {
        format!("SETTLED;{kind};{amount};{currency};{amount};{currency};2026-11-20;SUCCESS;{};", reference(1))
    };
    for (rows, expected) in [
        (vec![row("DEBIT;POS", "12.34", "EUR")], vec![]),
        (vec![row("DEBIT;POS", "10.34", "EUR"), row("DEBIT;POS", "2.00", "EUR")], vec![]),
        (vec![row("DEBIT;POS", "12.35", "EUR"), row("CREDIT;NEG", "0.01", "EUR")], vec![]),
        (vec![row("DEBIT;POS", "12.34", "EUR"); 2], vec![DifferenceKind::AmountDiffers]),
        (vec![row("DEBIT;POS", "0.00", "EUR")], vec![DifferenceKind::AmountDiffers]),
        (
            vec![row("DEBIT;POS", "12.34", "EUR"), row("REFUND;NEG", "12.34", "EUR")],
            vec![DifferenceKind::AmountDiffers],
        ),
        (vec![row("DEBIT;POS", "12.34", "USD")], vec![DifferenceKind::CurrencyDiffers]),
    ] {
        let file = small(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        let (findings, _) = reconcile(ledger(&journal()[..1]), NO_PERIOD, file.as_bytes());
        assert_eq!(findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), expected, "{file}");
    }
}

#[test]
fn a_malformed_line_is_named_and_the_rest_goes_on() {
    let good = format!("SETTLED;DEBIT;POS;12.34;EUR;12.34;EUR;2026-11-20;SUCCESS;{};", reference(1));
    let spoil = |from: &str, to: &str| good.replacen(from, to, 1).into_bytes();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (spoil("SETTLED", "SETTLE"), "ReconciliationType must be SETTLED, CHARGEBACK, CHARGEBACK REVERSAL or FEE"),
        (spoil("DEBIT", "DEBET"), "PaymentType must be DEBIT"),
        (spoil("DEBIT", "BATCH"), "a SETTLED record has PaymentType BATCH"),
        (spoil("POS", "+"), "Cashflow must be POS or NEG"),
        (spoil("12.34", "-12.34"), "Amount must be"),
        (spoil("12.34", "12.3"), "Amount must be"),
        (spoil("12.34", ""), "Amount must be"),
        (spoil("12.34", "10000000000.00"), "Amount must be"),
        (spoil("12.34", "00000000012.34"), "Amount must be"),
        (spoil("12.34;EUR", "12.34;JPY"), "Amount must be"),
        (spoil("EUR", "EURO"), "Currency must be an ISO 4217 code"),
        (spoil("EUR;12.34;EUR", "EUR;12.34;eur"), "SettlementCurrency must be"),
        (spoil("EUR;12.34", "EUR;x"), "SettlementAmount must be"),
        (spoil("2026-11-20", "20.11.2026"), "SettlementDate must be a date such as 2026-11-20"),
        (spoil("SUCCESS", "PENDING"), "SettlementStatus must be SUCCESS or FAILED"),
        (spoil(&reference(1), ""), "names neither TransactionId nor UniqueID"),
        (spoil(";EUR", ""), "has 10 columns, the header has 11"),
        (spoil(";EUR", ";;EUR"), "has 12 columns, the header has 11"),
        (spoil("POS", "\"POS"), "has a quote that is not closed"),
        ([good.as_bytes(), b"\xC3\x28"].concat(), "is not UTF-8"),
        ([good.as_bytes(), &[b'x'; 20_000][..]].concat(), "is longer than 16384 bytes"),
    ];
    for (line, why) in cases {
        let file = [small(&[]).as_bytes(), b"\n", &line, b"\n", good.as_bytes()].concat();
        let (findings, summary) = reconcile(ledger(&journal()[..1]), NO_PERIOD, &file[..]);
        let [finding] = &findings[..] else { panic!("{why}: {findings:?}") };
        assert_eq!((finding.kind, finding.line), (DifferenceKind::Malformed, Some(3)), "{why}");
        assert!(finding.why.as_deref().unwrap().starts_with(why), "{finding:?}");
        assert_eq!((summary.rows, summary.matched.count), (2, 1), "{why}: what follows is read");
    }
}

/// Checks that a line of 64 MiB is refused and not kept in memory.
#[test]
fn a_line_without_an_end() {
    let good = format!("\nSETTLED;DEBIT;POS;12.34;EUR;12.34;EUR;2026-11-20;SUCCESS;{};", reference(1));
    let endless = std::io::repeat(b'x').take(1 << 26);
    let file = Cursor::new(small(&[])).chain(endless).chain(Cursor::new(good));
    let (findings, summary) = reconcile(ledger(&journal()[..1]), NO_PERIOD, BufReader::new(file));
    assert_eq!((findings.len(), findings[0].line, summary.matched.count), (1, Some(2), 1));
}

#[test]
fn a_header_that_does_not_serve_is_refused() {
    let header = |text: &str| SettlementFile::open(text.as_bytes()).err().map(|error| error.to_string());
    let missing =
        header("ReconciliationType;PaymentType;Cashflow;Amount;SettlementAmount;SettlementDate;ShortId").unwrap();
    assert!(
        missing.starts_with(
            "line 1, the header, lacks Currency, SettlementCurrency, SettlementStatus, TransactionId or UniqueID; use"
        ),
        "{missing}"
    );
    assert!(matches!(SettlementFile::open(&b""[..]), Err(HeaderError::Missing { names }) if names.len() == 10));
    assert!(header(&HEADER.replace(';', ",")).unwrap().contains("separated by semicolons"));
    assert!(header(&format!("{HEADER};Amount")).unwrap().contains("names Amount twice"));
    assert!(header(&format!("{HEADER};ClearingInstituteName")).unwrap().contains("ClearingInsitituteName twice"));
    assert!(header(&format!("{HEADER}{}", ";x".repeat(200))).unwrap().contains("more than 150 columns"));
    assert!(header(&"x".repeat(1 << 20)).unwrap().contains("is longer than 16384 bytes"));
    assert!(SettlementFile::open(&b"\xFF\xFE"[..]).is_err());
    assert!(
        header(&HEADER.replace("Clearing", "\"Clearing").replace("Id;MerchantAccountId", "Id\";MerchantAccountId"))
            .is_some()
    );
    assert_eq!(header(&HEADER.replace(";Cashflow;", " ;\"Cashflow\";")), None);
}

// ---- Comparison with a simple second computation

#[derive(Clone, Debug)]
struct Wanted {
    outcome: u8,
    minor: u64,
    day: u32,
}

#[derive(Clone, Debug)]
struct Line {
    kind: u8,
    number: u64,
    amount: i64,
    day: u32,
    foreign: bool,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    (0..6_u8, 1..5_u64, 1..6_u32).prop_map(|(outcome, minor, day)| Wanted { outcome, minor, day })
}

fn line() -> impl Strategy<Value = Line> {
    (0..10_u8, 1..14_u64, -5..6_i64, 1..6_u32, proptest::bool::weighted(0.1))
        .prop_map(|(kind, number, amount, day, foreign)| Line { kind, number, amount, day, foreign })
}

fn outcome(wanted: &Wanted) -> Option<Outcome> {
    match wanted.outcome {
        0..=1 => Some(Outcome::Approved),
        2 => Some(Outcome::PartiallyApproved { amount: eur(1) }),
        3 => Some(reversed()),
        4 => Some(declined()),
        _ => None,
    }
}

fn written(line: &Line, by_reference: bool) -> String {
    let (record, status) = match line.kind {
        0 => ("CHARGEBACK", "SUCCESS"),
        1 => ("SETTLED", "FAILED"),
        2 => return "nonsense".to_owned(),
        _ => ("SETTLED", "SUCCESS"),
    };
    let (kind, flow) = if line.amount < 0 { ("REFUND", "NEG") } else { ("DEBIT", "POS") };
    let amount = format!("0.{:02}", line.amount.unsigned_abs());
    let terminal = if line.foreign { "99999999" } else { "12345678" };
    let names = if by_reference {
        format!("{};{:032}", reference(line.number).replacen("12345678", terminal, 1), 0)
    } else {
        format!(";{}", payment(line.number + if line.foreign { 500 } else { 0 }))
    };
    format!("{record};{kind};{flow};{amount};EUR;{amount};EUR;2026-11-0{};{status};{names}", line.day)
}

/// Returns the expected findings, computed in the simplest way: every row is compared with every sale.
fn oracle(sales: &[Wanted], lines: &[Line], by_reference: bool) -> BTreeSet<(DifferenceKind, u64)> {
    let mut found = BTreeSet::new();
    let mut rows_of: BTreeMap<u64, Vec<&Line>> = BTreeMap::new();
    let mut days = Vec::new();
    for (line, at) in lines.iter().zip(2..) {
        let known = !line.foreign && line.number <= sales.len() as u64;
        match line.kind {
            2 => {
                found.insert((DifferenceKind::Malformed, at));
                continue;
            }
            _ if line.foreign && by_reference => continue,
            0 => {
                found.insert((DifferenceKind::Chargeback, at));
                continue;
            }
            1 => {
                found.insert((DifferenceKind::SettlementFailed, at));
            }
            _ if !known => {
                found.insert((DifferenceKind::MissingAtTerminal, at));
            }
            _ => {}
        }
        days.push(line.day);
        if known {
            rows_of.entry(line.number).or_default().push(line);
        }
    }
    for (sale, number) in sales.iter().zip(1..) {
        let rows = rows_of.get(&number).cloned().unwrap_or_default();
        let settles: Vec<i64> = rows.iter().filter(|row| row.kind > 2).map(|row| row.amount).collect();
        let sum: i64 = settles.iter().sum();
        let due = if sale.outcome == 2 { 1 } else { sale.minor as i64 };
        let in_period =
            days.iter().min().is_some_and(|first| (*first..=*days.iter().max().unwrap()).contains(&sale.day));
        let kind = match sale.outcome {
            0..=2 if rows.is_empty() && in_period => DifferenceKind::MissingAtGateway,
            0..=2 if !settles.is_empty() && sum != due => DifferenceKind::AmountDiffers,
            3 if sum != 0 => DifferenceKind::SettledThoughReversed,
            4 if sum != 0 => DifferenceKind::SettledThoughNotCharged,
            5 if sum != 0 => DifferenceKind::SettledThoughUnconfirmed,
            _ => continue,
        };
        found.insert((kind, number));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn agrees_with_a_naive_account(
        sales in proptest::collection::vec(wanted(), 0..12),
        lines in proptest::collection::vec(line(), 0..25),
        by_reference: bool,
    ) {
        let journal: Vec<_> = sales
            .iter()
            .zip(1..)
            .map(|(wanted, number)| sale(number, wanted.minor, &format!("2026-11-0{}", wanted.day), outcome(wanted)))
            .collect();
        let rows: Vec<_> = lines.iter().map(|line| written(line, by_reference)).collect();
        let file = small(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        let (findings, summary) = reconcile(ledger(&journal), NO_PERIOD, file.as_bytes());
        let of_row = [DifferenceKind::Malformed, DifferenceKind::Chargeback, DifferenceKind::SettlementFailed, DifferenceKind::MissingAtTerminal];
        let found: BTreeSet<_> = findings
            .iter()
            .map(|one| (one.kind, if of_row.contains(&one.kind) { one.line } else { one.sale.map(SaleNumber::get) }.unwrap()))
            .collect();
        prop_assert_eq!(found.len(), findings.len());
        prop_assert_eq!(&found, &oracle(&sales, &lines, by_reference));
        prop_assert_eq!(summary.agrees(), found.is_empty());
        prop_assert_eq!(summary.rows, lines.len() as u64);
        prop_assert_eq!(summary.findings.values().map(|tally| tally.count).sum::<u64>(), found.len() as u64);
    }

    /// Checks arbitrary bytes: nothing panics, and each line is either a row or a finding.
    #[test]
    fn any_bytes_are_only_lines(bytes: Vec<u8>, pieces in proptest::collection::vec(0..14_usize, 0..40)) {
        let words =
            ["SETTLED", ";", ";", ";", "\n", "\r\n", "\"", "12.34", "EUR", "POS", "DEBIT", "2026-11-20", "SUCCESS", "é"];
        let text: String = pieces.iter().map(|piece| words[*piece]).collect();
        let file = [small(&[]).as_bytes(), text.as_bytes(), &bytes].concat();
        let lines = file.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty() && *line != b"\r").count();
        let (_, summary) = reconcile(ledger(&[]), NO_PERIOD, &file[..]);
        // A last line with only a CR counts as a line with one empty column.
        prop_assert!(summary.rows.abs_diff(lines as u64) <= 1);
    }
}

// ---- The command line

fn write(db: &mut Db, steps: &[Vec<Record>], number: u64) {
    for (records, place) in steps.iter().zip(0..) {
        db.write(SaleNumber::new(number), place, 1_795_000_000_000, records).unwrap();
    }
}

fn run(file: &Path, journal: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.arg("reconcile").arg(file).arg("--journal").arg(journal).args(more).output().unwrap()
}

#[test]
fn the_command_while_a_daemon_holds_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("journal.db"), folder.path().join("settled.csv"));
    let (mut db, _) = Db::open(&path).unwrap();
    for (steps, number) in journal().iter().zip(1..) {
        write(&mut db, steps, number);
    }
    let hostile = TYPED.replace("INVOICE-77", "\u{1b}[2J\u{202e}\u{9b}7");
    fs::write(&file, format!("{HEADER}\n{hostile}")).unwrap();

    let output = run(&file, &path, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(65), "{text}");
    assert!(text.contains("missing at the gateway      sale 3  of 2026-11-20  due 3.00 EUR\n"), "{text}");
    assert!(text.contains("malformed line              line 13  Amount"), "{text}");
    assert!(output.stderr.is_empty(), "no terminal, no progress: {:?}", String::from_utf8_lossy(&output.stderr));

    let output = run(&file, &path, &["--json", "--from", "2026-11-21", "--to", "2026-11-25"]);
    let json = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(65));
    let values: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let missing = values.iter().find(|value| value["finding"] == "missing-at-gateway").unwrap();
    assert_eq!(
        *missing,
        serde_json::json!({"finding": "missing-at-gateway", "sale": 7, "date": "2026-11-25",
            "due": {"amount": "7.00", "currency": "EUR"}})
    );
    let summary = &values.last().unwrap()["summary"];
    assert_eq!(summary["findings"]["missing-at-gateway"]["count"], 1);
    assert_eq!(summary["findings"]["currency-differs"]["count"], 0);
    assert_eq!(
        summary["period"],
        serde_json::json!({"from": "2026-11-21", "to": "2026-11-25", "fromGiven": true, "toGiven": true})
    );
    assert_eq!(summary["fees"]["MONTHLY"]["amounts"][0], serde_json::json!({"amount": "15.00", "currency": "EUR"}));
    for said in [&text, &json] {
        assert!(!said.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "a file commands no terminal: {said}");
        assert!(
            !said.contains("Mustermann") && !said.contains("4242"),
            "whose card it was is nobody's business: {said}"
        );
    }

    let good: String = TYPED.lines().next().unwrap().to_owned();
    fs::write(&file, format!("{HEADER}\n{good}\n")).unwrap();
    let output = run(&file, &path, &["--from", "2026-11-19", "--to", "2026-11-19"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("everything agrees\n"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("journal.db"), folder.path().join("settled.csv"));
    drop(Db::open(&path).unwrap());
    let nothing = folder.path().join("nothing");
    fs::write(&file, small(&[])).unwrap();
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let wrong = folder.path().join("wrong.csv");
    fs::write(&wrong, "a,b\n1,2\n").unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE a(b)").unwrap();
    for (file, journal, more, code, words) in [
        (&nothing, &path, &[][..], 74, "nothing: cannot be read"),
        (&empty, &path, &[], 65, "has no .csv file"),
        (&wrong, &path, &[], 65, "wrong.csv: line 1, the header, lacks ReconciliationType, PaymentType"),
        (&file, &nothing, &[], 74, "the journal"),
        (&file, &wrong, &[], 74, "the journal"),
        (&file, &other, &[], 74, "it is not a journal of pos-agent"),
        (&file, &path, &["--from", "2026-11-21", "--to", "2026-11-20"], 64, "--from 2026-11-21 is after --to"),
        (&file, &path, &["--from", "yesterday"], 64, "write the date as 2026-11-20"),
        (&file, &path, &["--config", "/nowhere.toml"], 78, "/nowhere.toml"),
    ] {
        let output = run(file, journal, more);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(output.stdout.is_empty());
    }
    assert!(!nothing.exists(), "a journal that is not there is not made");
    let output = run(&file, &path, &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no period: the file settles nothing"));
}

/// Checks that the agent goes on writing while the journal is read. The reader does not see the new steps and changes
/// no byte.
#[test]
fn reading_the_journal_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (mut db, _) = Db::open(&path).unwrap();
    for (steps, number) in journal().iter().zip(1..) {
        write(&mut db, steps, number);
    }
    let mut reading = Reading::open(&path).unwrap();
    let mut seen = Vec::new();
    let done = reading.latest::<Error>(1_000_000, |steps| {
        let Some(Record::Started { order }) = steps[0].first() else { panic!("{steps:?}") };
        if seen.is_empty() {
            write(&mut db, &sale(8, 800, "2026-11-20", Some(Outcome::Approved)), 8);
        }
        seen.push((order.number.get(), steps.len()));
        Ok(())
    });
    done.unwrap().unwrap();
    assert_eq!(seen, [(1, 2), (2, 2), (3, 2), (4, 3), (5, 2), (6, 2), (7, 2)]);
    let latest = |reading: &mut Reading, most| {
        let mut count = 0;
        let count_one = |_: &[Vec<Record>]| {
            count += 1;
            Ok(())
        };
        reading.latest::<Error>(most, count_one).unwrap().unwrap();
        count
    };
    assert_eq!((latest(&mut reading, 1_000_000), latest(&mut reading, 3)), (8, 3));
    drop(db);
    let before = fs::read(&path).unwrap();
    assert_eq!(latest(&mut Reading::open(&path).unwrap(), 1_000_000), 8);
    assert!(fs::read(&path).unwrap() == before);
}

/// Checks that only the latest sales of a long journal are compared. Rows of earlier sales are reported separately.
#[test]
fn rows_of_sales_before_the_first_that_is_kept() {
    let row = |number| format!("SETTLED;DEBIT;POS;12.34;EUR;12.34;EUR;2026-11-20;SUCCESS;{};", reference(number));
    let file = small(&[&row(1), &row(9)]);
    let (findings, summary) = reconcile(ledger(&journal()[6..]), NO_PERIOD, file.as_bytes());
    assert_eq!((summary.first_sale.get(), summary.earlier_sales.count), (7, 1));
    assert_eq!(
        findings.iter().map(|one| (one.kind, one.line)).collect::<Vec<_>>(),
        [(DifferenceKind::MissingAtTerminal, Some(3))]
    );
}

/// Checks that the approved part is due instead of the requested amount. This holds in any currency, and after a part
/// was reversed.
#[test]
fn a_part_is_due_in_its_own_currency_less_what_was_taken_back() {
    for (code, asked, part, back, rows) in [
        ("EUR", 2000, 1000, 400, ["6.00", "10.00", "20.00", "4.00"]),
        ("JPY", 1200, 600, 200, ["400.00", "600.00", "1200.00", "200.00"]),
        ("KWD", 2460, 1230, 230, ["1.00", "1.23", "2.46", "0.23"]),
    ] {
        let money = |minor| Amount::from_minor(minor, Currency::from_code(code).unwrap()).unwrap();
        let partly = Outcome::PartiallyApproved { amount: money(part) };
        let sale = vec![vec![started(1, money(asked), "2026-11-20")], vec![ended(partly, Some(1))]];
        let Record::Started { mut order } = started(2, money(back), "2026-11-20") else { unreachable!() };
        order.operation = Operation::Reversal {
            of: Earlier { payment: PaymentId::new(payment(1)), number: Some(SaleNumber::new(1)) },
        };
        let reversal = vec![vec![Record::Started { order }], vec![ended(Outcome::Approved, Some(2))]];
        let row = |amount: &str, currency: &str| {
            small(&[&format!(
                "SETTLED;DEBIT;POS;{amount};{currency};{amount};{currency};2026-11-20;SUCCESS;{};",
                reference(1)
            )])
        };
        let [rest, whole, more, other] = rows;
        let found = |journal: &[Vec<Vec<Record>>], file: String| -> Vec<DifferenceKind> {
            let (findings, _) = reconcile(ledger(journal), NO_PERIOD, file.as_bytes());
            findings.iter().map(|finding| finding.kind).collect()
        };
        let alone = &[sale.clone()][..];
        let taken_back = &[sale.clone(), reversal][..];
        assert_eq!(found(alone, row(whole, code)), [], "{code}");
        for wrong in [more, rest, other] {
            assert_eq!(found(alone, row(wrong, code)), [DifferenceKind::AmountDiffers], "{code} {wrong}");
        }
        assert_eq!(found(alone, row(whole, "CHF")), [DifferenceKind::CurrencyDiffers], "{code}");
        assert_eq!(found(taken_back, row(rest, code)), [], "{code}");
        assert_eq!(found(taken_back, row(whole, code)), [DifferenceKind::AmountDiffers], "{code}");
    }
}
