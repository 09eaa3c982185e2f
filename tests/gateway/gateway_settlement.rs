//! The simulated gateway's reports and settlement files over real HTTPS: the settled entries of a ledger, the columns
//! and the dates. The gateway refuses an impossible report and names the parameter. Every value is checked against the
//! interface's table.

use std::collections::HashMap;
use std::fs;

use crate::gateway_counter::{Counter, INVALID, at, refusal, text};
use crate::page_shop::PageShop;
use crate::shop_client::{Sales, with};
use pos_gateway_model::form::{FormContext, judge};
use pos_gateway_model::{Call, Direction, Names};
use pos_sim::gateway::{Options, Outcome};
use pos_terms::money::Currency;
use serde_json::Value;

/// The columns in the interface's order, followed by the two that have no place in it.
const HEADER: &str = "ReconciliationType;PaymentType;Cashflow;ClearingInstituteMerchantId;MerchantAccountId;\
    MerchantAccountName;PspId;DivisionId;MerchantId;SettlementTxId;UniqueID;ShortId;ConnectorTxId1;ConnectorTxId2;\
    ConnectorTxId3;Amount;Currency;Brand;TxRequestTime;SettlementAmount;SettlementCurrency;SettlementFee;\
    SettlementFxRate;SettlementDate;SettlementStatus;Descriptor;AccountNumberLast4;BankCode;AccountHolder;ReasonCode;\
    ReasonDesc;SettlementFileFormat;ClearingInsitituteName;MatchingStatus;MatchedTransactions;ChargebackId;\
    TransactionId;InvoiceId";

type Row = HashMap<String, String>;

/// Returns the rows of a file, with values by column. Checks each value against the interface.
fn rows(file: &str) -> Vec<Row> {
    let mut lines = file.lines();
    let header = lines.next().unwrap();
    assert_eq!(header, HEADER);
    let names = Names::default();
    let asked = FormContext {
        direction: Direction::Response,
        call: Call::Reconciliation,
        from_client_side: false,
        names: &names,
    };
    let row = |line: &str| -> Row {
        let values: Vec<&str> = line.split(';').collect();
        assert_eq!(values.len(), header.split(';').count(), "{line}");
        let row: Row = header.split(';').map(str::to_owned).zip(values.into_iter().map(str::to_owned)).collect();
        let fields: Vec<(String, String)> = row
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.clone(), value.split(',').next().unwrap().to_owned()))
            .collect();
        let wrong: Vec<String> = judge(&fields, &asked).iter().map(ToString::to_string).collect();
        assert_eq!(wrong, Vec::<String>::new(), "{line}");
        row
    };
    lines.map(row).collect()
}

/// Returns `ReconciliationType PaymentType Cashflow Amount Currency` of each row.
fn kinds(rows: &[Row]) -> Vec<String> {
    let columns = ["ReconciliationType", "PaymentType", "Cashflow", "Amount", "Currency"];
    rows.iter().map(|row| columns.map(|column| row[column].as_str()).join(" ")).collect()
}

async fn open(mut options: Options) -> Counter {
    options.clock = Some(at("2026-11-20T09:00:00Z"));
    let counter = Counter::with(options).await;
    counter.shop.gateway.set_clock(at("2026-11-20T09:00:00Z"));
    counter
}

async fn report(counter: &Counter, what: &str, query: &str) -> (u16, Value) {
    let path = format!("v1/reports/{what}?entityId={}&{query}", counter.shop.gateway.entity_id());
    let response = counter.shop.asked("GET", &path, None).await;
    (response.status().as_u16(), serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

/// Returns the same report as a file.
async fn file(counter: &Counter, from: &str, to: &str) -> String {
    let entity = counter.shop.gateway.entity_id();
    let url = format!(
        "{}v1/reports/reconciliations?entityId={entity}&date.from={from}&date.to={to}",
        counter.shop.gateway.base_url()
    );
    let asked = counter.shop.client.get(url).bearer_auth(counter.shop.gateway.token()).header("Accept", "text/csv");
    let response = asked.send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/csv; charset=utf-8");
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_day_is_settled_on_the_next_one() {
    let mut counter = open(Options::default()).await;
    let sale = counter.paid("DB", "20.00", &[("merchantInvoiceId", "INVOICE-1"), ("merchant.payFacId", "F1")]).await;
    let refund = counter.followed(&sale, "RF", Some("5.00")).await;
    let held = counter.paid("PA", "100.00", &[]).await;
    let capture = counter.followed(&held, "CP", Some("30.00")).await;
    counter.followed(&held, "CP", Some("10.00")).await;
    let credit = counter.paid("CD", "7.00", &[]).await;
    // Declined payments, pending payments, and payments that are reversed before the end of the day are not settled.
    counter.pay("DB", "9.51", &[]).await;
    counter.pay("DB", "9.62", &[]).await;
    let void = counter.paid("DB", "3.00", &[]).await;
    counter.followed(&void, "RV", None).await;
    let gone = counter.paid("PA", "4.00", &[]).await;
    counter.followed(&gone, "RV", None).await;

    let rows = rows(&file(&counter, "2026-11-21", "2026-11-21").await);
    assert_eq!(
        kinds(&rows),
        [
            "SETTLED DEBIT POS 20.00 EUR",
            "SETTLED REFUND NEG 5.00 EUR",
            "SETTLED DEBIT POS 30.00 EUR",
            "SETTLED DEBIT POS 10.00 EUR",
            "SETTLED CREDIT NEG 7.00 EUR",
            "FEE PAYMENT_FACILITATOR NEG 0.04 EUR",
            "FEE REFUND_FEE NEG 0.25 EUR",
            "FEE AUTH_FEE NEG 0.03 EUR",
            "FEE CAPTURE_FEE NEG 0.02 EUR",
            "FEE CAPTURE_FEE NEG 0.02 EUR",
            "FEE CANCEL_FEE NEG 0.05 EUR",
            "FEE AUTH_FEE NEG 0.03 EUR",
            "FEE CANCEL_FEE NEG 0.05 EUR",
            "FEE BATCH NEG 0.10 EUR",
        ]
    );
    for (row, id) in rows.iter().zip([&sale, &refund, &capture]) {
        assert_eq!(
            (&row["UniqueID"], &row["MatchedTransactions"], row["MatchingStatus"].as_str()),
            (id, id, "MATCHED")
        );
    }
    let first = &rows[0];
    for (column, value) in [
        ("InvoiceId", "INVOICE-1"),
        ("TransactionId", "life-0001"),
        ("TxRequestTime", "2026-11-20 09:00:00"),
        ("SettlementDate", "2026-11-21"),
        ("SettlementStatus", "SUCCESS"),
        ("SettlementFxRate", "1.00"),
        ("SettlementFee", "0.23"),
        ("Brand", "VISA"),
        ("AccountNumberLast4", "0119"),
        ("SettlementTxId", "S-20261121-000001"),
        ("ReasonCode", ""),
        ("ChargebackId", ""),
    ] {
        assert_eq!(first[column], value, "{column}");
    }
    assert_eq!(rows[1]["TransactionId"], "life-0001", "a refund without a reference of its own has its payment's");
    assert_eq!(rows[4]["UniqueID"], credit);

    // On the next day, a settled capture and a credit are reversed.
    counter.shop.gateway.set_clock(at("2026-11-21T09:00:00Z"));
    counter.followed(&capture, "RV", None).await;
    counter.followed(&credit, "RV", None).await;
    let next = kinds(&self::rows(&file(&counter, "2026-11-22", "2026-11-22").await));
    assert_eq!(next[..2], ["SETTLED REFUND NEG 30.00 EUR", "SETTLED CREDIT POS 7.00 EUR"]);
    assert_eq!(
        kinds(&self::rows(&file(&counter, "2026-11-21", "2026-11-21").await)),
        kinds(&rows),
        "it stays as it was"
    );
}

#[tokio::test]
async fn a_bank_account_a_long_brand_and_a_payment_without_reference_have_their_columns() {
    let mut page = PageShop::with(Options { clock: Some(at("2026-11-20T09:00:00Z")), ..Options::default() }).await;
    page.shop.gateway.set_clock(at("2026-11-20T09:00:00Z"));
    let sepa = [
        ("bankAccount.holder", "Jane Jones"),
        ("bankAccount.iban", "DE89370400440532013000"),
        ("bankAccount.bic", "COBADEFF"),
        ("paymentBrand", "DIRECTDEBIT_SEPA"),
    ];
    let debit = text(&page.paid("20.00", &[&sepa, &[("merchantTransactionId", "")]]).await, "/id");
    let refund = [("paymentType", "RF"), ("merchantTransactionId", "")];
    assert_eq!(page.post(&format!("v1/payments/{debit}"), &[&refund]).await.0, 200);
    let account = [("virtualAccount.accountId", "jane@shop.test"), ("paymentBrand", "A_BRAND_OF_MORE_THAN_16")];
    page.paid("5.00", &[&account, &[("paymentType", "CD")]]).await;

    let rows = rows(&page.shop.gateway.settlement_file("2026-11-21".parse().unwrap()));
    let of_account = ["Brand", "AccountNumberLast4", "BankCode", "AccountHolder", "TransactionId"];
    let shown = |row: &Row| of_account.map(|column| row[column].clone());
    let expected = ["DIRECTDEBITSEPA", "3000", "37040044", "Jane Jones", debit.as_str()].map(str::to_owned);
    assert_eq!(shown(&rows[0]), expected);
    assert_eq!(shown(&rows[1])[..4], expected[..4], "of the refund as well");
    assert_eq!(rows[2]["Brand"], "ABRANDOFMORETHAN");
    for row in &rows {
        assert!((8..=255).contains(&row["TransactionId"].len()), "{row:?}");
    }
    let path = format!(
        "v1/reports/reconciliations?entityId={}&date.from=2026-11-21&date.to=2026-11-21",
        page.shop.gateway.entity_id()
    );
    let report = page.shop.asked("GET", &path, None).await;
    let report: Value = serde_json::from_slice(&report.bytes().await.unwrap()).unwrap();
    assert!(
        report.to_string().contains("\"bankAccount\":{\"bankCode\":\"37040044\",\"holder\":\"Jane Jones\""),
        "{report}"
    );
}

#[tokio::test]
async fn other_currencies_are_settled_at_the_rate_that_is_written() {
    let counter = &mut open(Options::default()).await;
    for (amount, code, numeric, minor) in
        [("12.34", "USD", 840, 1234), ("1200.00", "JPY", 392, 1200), ("1.23", "KWD", 414, 1230)]
    {
        let reference = counter.reference();
        let form = counter.reader.chip_sale_in(amount, code, numeric, minor, &reference);
        let (status, answer) = counter.shop.pay(&with(form, &[("currency", code)])).await;
        assert_eq!(status, 200, "{answer}");
    }
    let columns = ["Amount", "Currency", "SettlementFxRate", "SettlementAmount", "SettlementCurrency", "SettlementFee"];
    let settled = |file: &str| -> Vec<String> {
        let rows = rows(file);
        let settled = rows.iter().filter(|row| row["ReconciliationType"] == "SETTLED");
        settled.map(|row| columns.map(|column| row[column].as_str()).join(" ")).collect()
    };
    assert_eq!(
        settled(&file(counter, "2026-11-21", "2026-11-21").await),
        ["12.34 USD 0.90 11.11 EUR 0.15", "1200.00 JPY 0.01 12.00 EUR 0.16", "1.23 KWD 3.00 3.69 EUR 0.08"]
    );
    // An account in yen has no decimals.
    let yen = Options { settlement_currency: Currency::from_code("JPY").unwrap(), ..Options::default() };
    let mut counter = open(yen).await;
    counter.paid("DB", "10.50", &[]).await;
    assert_eq!(settled(&file(&counter, "2026-11-21", "2026-11-21").await), ["10.50 EUR 100.00 1050.00 JPY 10.00"]);
}

#[tokio::test]
async fn the_amount_chooses_what_is_charged_back_and_why() {
    let mut counter = open(Options::default()).await;
    let disputed = counter.paid("DB", "13.97", &[]).await;
    let won = counter.paid("DB", "26.98", &[]).await;
    counter.paid("DB", "1.94", &[]).await;
    counter.paid("DB", "2.59", &[]).await;
    let of = async |date: &str| -> Vec<Row> { rows(&file(&counter, date, date).await) };
    let settled = of("2026-11-21").await;
    let status: Vec<_> =
        settled.iter().map(|row| (row["SettlementStatus"].as_str(), row["MatchingStatus"].as_str())).collect();
    assert_eq!(
        status[..4],
        [("SUCCESS", "MATCHED"), ("SUCCESS", "MATCHED"), ("FAILED", "MATCHED"), ("SUCCESS", "NOT_MATCHED")]
    );
    assert_eq!((settled[3]["UniqueID"].as_str(), settled[3]["TransactionId"].as_str()), ("", "life-0004"));
    assert_eq!(settled[2]["SettlementFee"], "0.00");

    let back = of("2026-11-26").await;
    assert_eq!(kinds(&back)[..2], ["CHARGEBACK DEBIT NEG 13.97 EUR", "CHARGEBACK DEBIT NEG 26.98 EUR"]);
    let reasons: Vec<_> =
        back[..2].iter().map(|row| (row["ReasonCode"].as_str(), row["ReasonDesc"].as_str())).collect();
    assert_eq!(reasons, [("000.100.203", "Insufficient funds"), ("000.100.206", "Revocation or dispute")]);
    assert_eq!((&back[0]["UniqueID"], &back[1]["UniqueID"]), (&disputed, &won));
    let again = of("2026-12-01").await;
    assert_eq!(
        kinds(&again),
        ["CHARGEBACK REVERSAL DEBIT POS 26.98 EUR", "FEE BATCH NEG 0.10 EUR", "FEE MONTHLY NEG 15.00 EUR"]
    );
    assert_eq!(again[0]["ChargebackId"], back[1]["ChargebackId"]);
    for nothing in ["2026-11-20", "2026-11-22", "2026-11-27", "2027-01-01"] {
        assert_eq!(of(nothing).await.len(), 0, "{nothing}");
    }
    // A reference that two payments share is ambiguous.
    let mut two = open(Options { host_rules: pos_sim::gateway::HostRules::Permissive, ..Options::default() }).await;
    let first = two.paid("DB", "10.00", &[]).await;
    let second = two.paid("DB", "10.00", &[("merchantTransactionId", "life-0001")]).await;
    let both = rows(&file(&two, "2026-11-21", "2026-11-21").await);
    assert_eq!(
        (both[0]["MatchingStatus"].as_str(), &both[0]["MatchedTransactions"]),
        ("MULTIPLE_MATCHES", &format!("{first},{second}"))
    );
}

#[tokio::test]
async fn reports_have_a_range_and_an_order_and_refuse_by_name() {
    let mut counter = open(Options::default()).await;
    let first = counter.paid("DB", "10.00", &[]).await;
    counter.pay("DB", "9.51", &[]).await;
    counter.shop.gateway.set_clock(at("2026-11-21T09:00:00Z"));
    let third = counter.paid("DB", "30.97", &[]).await;
    let ids = |answer: &Value, list: &str, pointer: &str| -> Vec<String> {
        let of = answer[list].as_array().unwrap_or_else(|| panic!("{answer}"));
        of.iter().filter_map(|item| item.pointer(pointer)?.as_str().map(str::to_owned)).collect()
    };
    let (status, all) = report(&counter, "transactions", "date.from=2026-11-20&date.to=2026-11-21").await;
    assert_eq!((status, ids(&all, "payments", "/id").len()), (200, 3), "declined ones too");
    let query = "date.from=2026-11-20&date.to=2026-11-21&sortValue=SettlementTxDate&sortOrder=DESC";
    let (_, down) = report(&counter, "transactions", query).await;
    let (up, mut turned) = (ids(&all, "payments", "/id"), ids(&down, "payments", "/id"));
    assert_eq!((up.first(), up.last()), (Some(&first), Some(&third)));
    turned.reverse();
    assert_eq!(turned, up);
    let (_, day) = report(&counter, "transactions", "date.from=2026-11-21&date.to=2026-11-21").await;
    assert_eq!(ids(&day, "payments", "/id"), [third.as_str()]);

    let (status, settled) = report(&counter, "reconciliations", "date.from=2026-11-21&date.to=2026-11-27").await;
    assert_eq!(status, 200);
    assert_eq!(ids(&settled, "reconciliations", "/payment/id"), [first.as_str(), &third, &third]);
    let record = &settled["reconciliations"][0];
    let facts =
        ["/recordType", "/transactionType", "/settlement/cashflow", "/settlement/amount", "/merchantTransactionId"];
    assert_eq!(
        facts.map(|pointer| record.pointer(pointer).unwrap().as_str().unwrap()),
        ["SETTLED", "DEBIT", "POS", "10.00", "life-0001"]
    );
    assert_eq!(record["matchedTransactions"]["payment"][0]["id"], first.as_str());
    let (_, down) = report(&counter, "reconciliations", "date.from=2026-11-21&date.to=2026-11-27&sortOrder=desc").await;
    assert_eq!(ids(&down, "reconciliations", "/payment/id"), [third.as_str(), &third, &first]);

    for (query, name, why) in [
        ("date.from=2026-11-21&date.to=2026-11-20", "date.from", "2026-11-21 is after date.to, 2026-11-20"),
        ("date.from=2026-11-21", "date.to", "required"),
        ("date.to=2026-11-21", "date.from", "required"),
        ("date.from=2026-02-30&date.to=2026-03-01", "date.from", ""),
        ("date.from=2026-11-21+00:00:00&date.to=2026-11-22", "date.from", ""),
        ("date.from=2026-01-01&date.to=2026-04-11", "date.to", "at most 100 days"),
        ("date.from=1901-01-01&date.to=2099-12-31", "date.to", "at most 100 days"),
        ("date.from=2026-11-20&date.to=2026-11-21&sortValue=Amount", "sortValue", ""),
        ("date.from=2026-11-20&date.to=2026-11-21&sortOrder=up", "sortOrder", ""),
        ("date.from=2026-11-20&date.to=2026-11-21&limit=100", "limit", ""),
    ] {
        for what in ["transactions", "reconciliations"] {
            let (status, answer) = report(&counter, what, query).await;
            assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), name.to_owned())), "{query}: {answer}");
            let said = answer["result"]["description"].as_str().unwrap();
            assert!(said.contains(why), "{query}: {said}");
        }
    }
    assert_eq!(report(&counter, "transactions", "date.from=2026-01-01&date.to=2026-04-10").await.0, 200);
    assert_eq!(report(&counter, "invoices", "date.from=2026-11-20&date.to=2026-11-21").await.0, 404);
}

#[tokio::test]
async fn a_query_has_any_one_filter() {
    let mut counter = open(Options::default()).await;
    let sale = counter.paid("DB", "10.00", &[]).await;
    let held = counter.paid("PA", "20.00", &[]).await;
    let capture = counter.followed(&held, "CP", Some("5.00")).await;
    let short = rows(&file(&counter, "2026-11-21", "2026-11-21").await)[0]["ShortId"].clone();
    for (query, found) in [
        ("merchantTransactionId=life-0001", vec![&sale]),
        ("date.from=2026-11-20+00:00:00&date.to=2026-11-20+23:59:59", vec![&sale, &held, &capture]),
        ("paymentTypes=PA,CP", vec![&held, &capture]),
        ("paymentTypes=RF", vec![]),
        ("paymentMethods=CC", vec![&sale, &held, &capture]),
        ("paymentMethods=DD,WA", vec![]),
        (&format!("shortId={short}"), vec![&sale]),
        ("merchantTransactionId=life-0002&includeLinkedTransactions=true&limit=500", vec![&held, &capture]),
    ] {
        assert_eq!(counter.found(query).await.iter().collect::<Vec<_>>(), found, "{query}");
    }
    for (query, name) in [
        ("limit=100", "merchantTransactionId"),
        ("includeLinkedTransactions=true", "merchantTransactionId"),
        ("paymentTypes=PA&limit=99", "limit"),
        ("paymentTypes=PA&limit=501", "limit"),
        ("paymentTypes=PA,XX", "paymentTypes"),
        ("paymentMethods=XX", "paymentMethods"),
        ("date.from=2026-11-21+00:00:00&date.to=2026-11-20+00:00:00", "date.from"),
        ("date.from=2026-11-20+00:00:00", "date.to"),
    ] {
        let path = format!("v1/query?entityId={}&{query}", counter.shop.gateway.entity_id());
        let (status, answer) = counter.shop.get(&path).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), name.to_owned())), "{query}: {answer}");
    }
}

#[tokio::test]
async fn the_folder_gets_the_file_of_each_day_that_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { settlement_folder: Some(folder.path().to_owned()), ..Options::default() };
    let mut counter = open(options).await;
    let files = || {
        let mut names: Vec<String> =
            fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    counter.shop.gateway.force(Outcome::Approve);
    counter.paid("DB", "10.97", &[]).await;
    assert_eq!(files(), [""; 0], "the day is not over");
    // A person can move the clock of a gateway that runs as a separate program.
    let (status, answer) = counter.shop.post("simulator/clock", &[("at", "2026-11-21T00:00:01Z")]).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(files(), ["reconciliation-2026-11-21.csv"]);
    let text = fs::read_to_string(folder.path().join("reconciliation-2026-11-21.csv")).unwrap();
    assert_eq!(kinds(&rows(&text)), ["SETTLED DEBIT POS 10.97 EUR", "FEE BATCH NEG 0.10 EUR"]);
    assert_eq!(text, counter.shop.gateway.settlement_file("2026-11-21".parse().unwrap()));
    // A week later there is one file for each date, including the date of the chargeback. Existing files are not
    // overwritten.
    fs::write(folder.path().join("reconciliation-2026-11-21.csv"), "taken").unwrap();
    counter.shop.gateway.set_clock(at("2026-11-28T00:00:00Z"));
    assert_eq!(files().len(), 8);
    assert_eq!(fs::read_to_string(folder.path().join("reconciliation-2026-11-21.csv")).unwrap(), "taken");
    let text = fs::read_to_string(folder.path().join("reconciliation-2026-11-26.csv")).unwrap();
    assert_eq!(kinds(&rows(&text))[0], "CHARGEBACK DEBIT NEG 10.97 EUR");

    for (form, name) in [
        (&[("at", "2026-11-20T00:00:00Z")][..], "at"),
        (&[("at", "tomorrow")], "at"),
        (&[], "at"),
        (&[("now", "2026-11-30T00:00:00Z")], "now"),
    ] {
        let (status, answer) = counter.shop.post("simulator/clock", form).await;
        assert_eq!((status, refusal(&answer).1.as_str()), (400, name), "{answer}");
    }
}
