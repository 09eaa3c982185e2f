//! Printers at a real counter. A sale goes on despite any fault of a printer, the status says what a printer needs, and
//! a receipt can be reprinted.

use crate::counter::Counter;
use pos_agent::till::{Attention, PrinterState};
use pos_sim::printer::{Printer, Sensors};
use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::within;
use serde_json::json;

fn with(what: &str, instead: &str) -> Options {
    Options { config: vec![(what.to_owned(), instead.to_owned())], ..Options::default() }
}

#[tokio::test]
async fn a_printer_without_paper_delays_no_sale_and_prints_when_it_has_some() {
    let mut counter = Counter::open().await;
    counter.shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    counter.sell("R1", "12.34", "tap", CardEntry::Tap).await;
    assert_eq!(counter.until_ended("R1").await.outcome, Some(OutcomeWord::Approved));
    let out = "the printer is out of paper: put a roll in; 2 receipts wait";
    let status = counter.until_status(out, |status| status.attention.iter().any(|one| one.text == out)).await;
    let printer = &status.printers[0];
    assert_eq!((printer.name.as_str(), &printer.port), ("printer-1", &counter.shop.printer.place()));
    assert_eq!((printer.state, printer.waiting), (PrinterState::NoPaper, 2));
    assert_eq!(printer.text, "out of paper: put a roll in; 2 receipts wait");
    assert!(status.needs(Attention::PrinterNoPaper) && status.ready, "sales go on: {status:?}");
    let told = counter.verb(&["status"]).await.unwrap();
    assert!(String::from_utf8_lossy(&told.stdout).contains(out), "{told:?}");

    counter.shop.printer.set_sensors(Sensors::default());
    assert!(counter.paper().await.ends_with("MERCHANT COPY\n"));
    assert!(counter.paper().await.ends_with("CUSTOMER COPY\n"));
    counter
        .until_status("ok", |status| status.attention.is_empty() && status.printers[0].state == PrinterState::Ready)
        .await;
}

#[tokio::test]
async fn a_day_is_closed_without_paper_and_its_slip_comes_when_there_is_some() {
    let mut counter = Counter::open().await;
    counter.shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    for _ in 0..2 {
        // A person whose printer stays silent requests the same close again.
        let closed = counter.verb(&["close", "--reference", "Z1", "--print"]).await.unwrap();
        assert_eq!(closed.status.code(), Some(0), "{closed:?}");
    }
    counter.until_status("out of paper", |status| status.printers[0].state == PrinterState::NoPaper).await;
    let (code, body) = counter.post("/v1/closes/1/print").await;
    assert_eq!((code, body["state"].as_str()), (202, Some("no-paper")), "{body}");
    counter.shop.printer.set_sensors(Sensors::default());
    let first = counter.paper().await;
    assert!(first.contains("CLOSE OF DAY") && !first.contains("DUPLICATE"), "{first}");
    let again = counter.paper().await;
    assert!(again.contains("CLOSE OF DAY") && again.contains("DUPLICATE"), "{again}");
    counter.until_status("ready", |status| status.printers[0].state == PrinterState::Ready).await;
    assert_eq!(counter.shop.printer.receipts().len(), 2, "one for the close, one for who asked again by hand");
}

#[tokio::test]
async fn a_receipt_is_printed_again_with_the_mark_by_till_and_by_hand() {
    let mut counter = Counter::open().await;
    let (code, body) = counter.post("/v1/sales/R1/receipt").await;
    assert_eq!((code, body["code"].as_str()), (404, Some("no-such-sale")));
    counter.begin("R0", "1.00").await;
    let (code, body) = counter.post("/v1/sales/R0/receipt").await;
    assert_eq!((code, body["code"].as_str()), (409, Some("no-receipt-yet")), "{body}");
    counter.post("/v1/sales/R0/cancel").await;
    counter.until_ready().await;
    let before = counter.shop.printer.receipts().len();

    counter.sell("R1", "12.34", "tap", CardEntry::Tap).await;
    counter.until_ended("R1").await;
    let (merchants, customers) = loop {
        let (first, second) = (counter.paper().await, counter.paper().await);
        if first.contains("R1") {
            break (first, second);
        }
    };
    assert!(!merchants.contains("DUPLICATE") && !customers.contains("DUPLICATE"));
    let (code, body) = counter.post("/v1/sales/R1/receipt?copy=merchant").await;
    assert_eq!((code, body["printer"].as_str()), (202, Some("printer-1")), "{body}");
    let mark = format!("{}DUPLICATE\n", " ".repeat(16));
    assert_eq!(counter.paper().await, format!("{mark}{merchants}{mark}"));
    let told = counter.verb(&["receipt", "R1", "--print"]).await.unwrap();
    assert!(
        told.status.success() && String::from_utf8_lossy(&told.stdout).contains("was sent to printer-1"),
        "{told:?}"
    );
    assert_eq!(counter.paper().await, format!("{mark}{customers}{mark}"));
    assert!(counter.shop.printer.receipts().len() >= before + 4);
    // The outcome stays the same.
    assert_eq!(counter.show("R1").await.outcome, Some(OutcomeWord::Approved));
}

#[tokio::test]
async fn two_printers_have_a_copy_each_and_one_that_is_off_does_not_hold_up_the_other() {
    let mut second = Printer::open(pos_sim::printer::Options::default()).await.unwrap();
    let tables = format!(
        "copies = \"merchant\"\nname = \"office\"\n\n[[printer]]\nname = \"counter\"\ncopies = \"customer\"\ncolumns = 42\nport = \"{}\"",
        second.place()
    );
    let counter = Counter::open_with(with("columns = 42", &tables)).await;
    counter.shop.printer.set_dead(true).await;
    counter.sell("R1", "12.34", "tap", CardEntry::Tap).await;
    assert_eq!(counter.until_ended("R1").await.outcome, Some(OutcomeWord::Approved));
    assert!(within("a receipt", second.next_receipt()).await.ends_with("CUSTOMER COPY\n"));
    let status = counter.until_status("the office waits", |status| {
        status.attention.iter().any(|one| {
            one.text.starts_with("the printer office is unreachable") && one.text.ends_with("1 receipt waits")
        })
    });
    let names: Vec<String> = status.await.printers.into_iter().map(|printer| printer.name).collect();
    assert_eq!(names, ["office", "counter"]);
    // The duplicate comes from the printer of this copy.
    let (code, body) = counter.post("/v1/sales/R1/receipt?copy=customer").await;
    assert_eq!((code, body["printer"].as_str()), (202, Some("counter")));
    assert!(within("the duplicate", second.next_receipt()).await.contains("DUPLICATE"));
}

#[tokio::test]
async fn without_a_printer_receipts_are_kept() {
    let mut options = with("[[printer]]\nport = ", "#");
    options.config.push(("columns = 42\n".to_owned(), String::new()));
    let counter = Counter::open_with(options).await;
    counter.sell("R1", "12.34", "tap", CardEntry::Tap).await;
    counter.until_ended("R1").await;
    assert!(counter.until_status("none", |_| true).await.printers.is_empty());
    assert!(counter.receipt("R1", "customer").await.contains("APPROVED"));
    let (code, body) = counter.post("/v1/sales/R1/receipt").await;
    assert_eq!((code, body["code"].as_str()), (503, Some("printer")));
    assert!(body["detail"].as_str().unwrap().contains("[[printer]]"), "{body}");
}

#[tokio::test]
async fn a_till_has_its_own_lines_printed_and_hears_whether_they_are_on_paper() {
    let mut counter = Counter::open().await;
    let voucher = json!({ "lines": [
        { "text": "VOUCHER", "align": "centre", "style": "big" },
        { "text": "10 % off\u{1B}@", "align": "right" },
        {},
        { "text": "Points", "value": "120" },
    ] });
    let (code, body) = counter.post_json("/v1/printer/lines", voucher.clone()).await;
    assert_eq!((code, body["printer"].as_str(), body["waiting"].as_u64()), (200, Some("printer-1"), Some(0)), "{body}");
    let paper = counter.paper().await;
    let lines: Vec<&str> = paper.lines().map(str::trim).collect();
    assert_eq!(lines, ["VOUCHER", "10 % off@", "", "Points                                 120"], "{paper}");
    // The agent does not keep the lines, because they are not a transaction.
    assert!(!counter.verb(&["receipt", "last"]).await.unwrap().status.success());

    counter.shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    let (code, body) = counter.post_json("/v1/printer/lines", voucher).await;
    assert_eq!((code, body["code"].as_str()), (503, Some("printer")), "{body}");
    let why = "out of paper: put a roll in; nothing was printed";
    assert!(body["detail"].as_str().unwrap().contains(why), "{body}");
    counter.shop.printer.set_sensors(Sensors::default());

    let many = json!({ "lines": vec![json!({}); 201] });
    let long = json!({ "lines": [{}, { "text": "x".repeat(257) }] });
    for (body, field) in [
        (json!({}), None),
        (json!({ "lines": [] }), Some("lines")),
        (many, Some("lines")),
        (long, Some("lines[1]")),
        (json!({ "lines": [{ "text": "x", "align": "middle" }] }), Some("lines[0].align")),
    ] {
        let (code, answer) = counter.post_json("/v1/printer/lines", body).await;
        assert_eq!((code, answer["field"].as_str()), (400, field), "{answer}");
    }
}

#[tokio::test]
async fn codes_of_a_till_are_drawn_by_the_printer_and_what_it_would_pass_over_is_refused() {
    let mut counter = Counter::open().await;
    let print = |lines: serde_json::Value| counter.post_json("/v1/printer/lines", json!({ "lines": lines }));
    let code = |code: &str, text: &str| json!({ "code": code, "text": text, "align": "centre" });
    let lines = json!([
        code("ean-13", "400638133393"),
        code("ean-8", "96385074"),
        code("upc-a", "03600029145"),
        code("code-25", "12345678"),
        code("code-128", "V-{2026}"),
        code("pdf-417", "Grüße"),
        code("qr", "https://shop.example/?v=1"),
        code("qr-high", "H"),
        { "text": "Thank you" },
    ]);
    let (status, body) = print(lines).await;
    assert_eq!(status, 200, "{body}");
    for (at, (code, text, says)) in [
        ("ean-13", "4006381333932", "the check digit of this EAN-13 is 1"),
        ("ean-8", "123", "EAN-8 takes 7 digits"),
        ("upc-a", "A3600029145", "UPC-A takes 11 digits"),
        ("code-25", "123", "Code 25 takes an even number of digits"),
        // This counter's printer has 42 characters per line, which is 504 dots.
        ("code-128", "1234567890123456789012345", "Code 128 takes 1 to 19 characters"),
        ("code-128", "a\u{1B}@", "Code 128 takes ASCII letters"),
        ("qr", "a\u{10}\u{04}\u{01}", "a QR code takes text without control characters"),
        ("pdf-417", "", "PDF417 takes 1 to 200 bytes"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut lines = vec![json!({ "text": "not printed" }); at];
        lines.push(json!({ "code": code, "text": text }));
        let (status, body) = print(json!(lines)).await;
        assert_eq!((status, body["code"].as_str()), (400, Some("malformed")), "{body}");
        assert_eq!(body["field"], json!(format!("lines[{at}]")), "{body}");
        assert!(body["detail"].as_str().unwrap().contains(says), "{body}");
    }
    let (status, body) = print(json!([{ "code": "ean-8", "text": "96385074", "value": "x" }])).await;
    assert!(status == 400 && body["detail"].as_str().unwrap().contains("omit value"), "{body}");
    let (status, body) = print(json!([code("aztec", "1")])).await;
    assert_eq!((status, body["field"].as_str()), (400, Some("lines[0].code")), "{body}");
    // Only the first request is on the paper, and the printer understood all of it.
    let paper = counter.paper().await;
    let lines: Vec<&str> = paper.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let expected = [
        "[EAN-13 4006381333931]",
        "[EAN-8 96385074]",
        "[UPC-A 036000291452]",
        "[ITF 12345678]",
        "[CODE128 V-{2026}]",
        "[PDF417 Grüße]",
        "[QR https://shop.example/?v=1]",
        "[QR H]",
        "Thank you",
    ];
    assert_eq!(lines, expected, "{paper}");
    assert_eq!(counter.shop.printer.errors(), 0);
}

#[tokio::test]
async fn a_tills_text_is_shown_to_the_customer_between_sales_alone() {
    let counter = Counter::open().await;
    counter.until_ready().await;
    let show = |text: String| counter.post_json("/v1/reader/text", json!({ "text": text }));
    let (code, body) = show("x".repeat(513)).await;
    assert_eq!((code, body["field"].as_str()), (400, Some("text")), "{body}");
    counter.begin("R1", "1.00").await;
    let (code, body) = show("ENTER PIN".to_owned()).await;
    assert_eq!((code, body["code"].as_str()), (503, Some("not-ready")), "{body}");
    counter.post("/v1/sales/R1/cancel").await;
}

#[tokio::test]
async fn a_duplicate_is_word_for_word_the_first_one_whatever_has_changed_since() {
    let mut counter = Counter::open().await;
    counter.sell("R1", "12.34", "tap", CardEntry::Tap).await;
    counter.until_ended("R1").await;
    let (_, customers) = (counter.paper().await, counter.paper().await);
    assert!(customers.contains("APPROVED") && customers.contains("Corner Shop"), "{customers}");
    counter.stop_agent().await;

    // The language changes, and so do the lines at the head and the foot.
    let config = std::fs::read_to_string(counter.shop.config()).unwrap();
    let changed = config.replacen("Corner Shop", "Am Eck", 1).replacen(
        "[terminal]",
        "[terminal]\nlanguage = \"de\"\nfooter = [\"Umtausch innerhalb von 14 Tagen\"]",
        1,
    );
    std::fs::write(counter.shop.config(), changed).unwrap();
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(counter.receipt("R1", "customer").await, customers);
    let (code, body) = counter.post("/v1/sales/R1/receipt?copy=customer").await;
    assert_eq!(code, 202, "{body}");
    let mark = format!("{}DUPLICATE\n", " ".repeat(16));
    assert_eq!(counter.paper().await, format!("{mark}{customers}{mark}"));

    // The next sale's receipts have the new lines.
    counter.sell("R2", "12.34", "tap", CardEntry::Tap).await;
    counter.until_ended("R2").await;
    let (_, customers) = (counter.paper().await, counter.paper().await);
    for word in ["Am Eck", "KARTENZAHLUNG", "12,34 EUR", "GENEHMIGT", "Umtausch innerhalb von 14 Tagen", "KUNDENBELEG"]
    {
        assert!(customers.contains(word), "{word}\n{customers}");
    }
}
