//! Receipts over the real socket, against the real program: three forms, every width, and texts from outside.

use easy_ext::ext;
use pos_agent::till::{ReceiptRowIs, ReceiptView};
use pos_journal::Db;
use pos_sim::shop::Options;
use pos_terms::transaction::{ReceiptCopy, SaleNumber};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::book;
use crate::program::{Answer, Terminal, get, own_address};

const STRANGE: &str = "<script>alert(1)</script>\u{7}\u{202e} & \"quoted\"";

/// Opens a terminal with one sale of till-1. The gateway sent a hostile text for it.
async fn terminal(place: u8) -> (Terminal, TempDir) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let journal = book::file(&folder);
    {
        let mut db = Db::open(&journal).unwrap().0;
        let number = SaleNumber::new(1);
        let host = json!({ "id": "b".repeat(32), "code": "000.000.000", "statusText": STRANGE });
        let ended = json!({ "kind": "ended", "outcome": { "is": "approved" }, "host": host });
        db.write(number, 0, book::NOON, &[book::started(1, "R<1>")]).unwrap();
        db.write(number, 1, book::NOON, &[book::asked()]).unwrap();
        db.write(number, 2, book::NOON, &[book::record(ended)]).unwrap();
    }
    let options = Options { journal: Some(journal), ..Options::default() };
    let terminal = Terminal::start(options, own_address(place)).await;
    terminal.until_status("a ready terminal", |status| status.ready).await;
    (terminal, folder)
}

#[ext(ShowsReceipts)]
impl Terminal {
    async fn receipt(&self, parameters: &str, accept: &str) -> Answer {
        let accept = if accept.is_empty() { String::new() } else { format!("Accept: {accept}\r\n") };
        let path = format!("/v1/sales/R%3C1%3E/receipt?till=till-1{parameters}");
        self.at_socket(&get(&path, &accept)).await
    }
}

#[tokio::test]
async fn a_receipt_is_text_data_or_a_page_by_what_is_accepted() {
    let (terminal, _folder) = terminal(31).await;
    let text = terminal.receipt("", "text/plain").await;
    assert!(text.1.contains("content-type: text/plain; charset=utf-8"), "{}", text.1);
    assert!(text.2.contains("12.34") && text.2.contains("R<1>"), "{}", text.2);
    for accept in ["text/*", "text/html;q=0.1, text/plain"] {
        assert_eq!(terminal.receipt("", accept).await.2, text.2, "{accept}");
    }
    let data = terminal.receipt("", "application/json").await;
    // A client that accepts any form gets data, as everywhere in this interface.
    for accept in ["*/*", "", "image/png, */*;q=0.1"] {
        let any = terminal.receipt("", accept).await;
        assert!(any.1.contains("content-type: application/json"), "{accept}: {}", any.1);
        assert_eq!(any.json(), data.json(), "{accept}");
    }
    let view: ReceiptView = serde_json::from_value(data.json()).unwrap();
    assert_eq!((view.till.as_str(), view.reference.as_str(), view.number), ("till-1", "R<1>", SaleNumber::new(1)));
    assert_eq!((view.copy, view.language.as_str(), &view.text), (ReceiptCopy::Customer, "en", &text.2));
    assert!(view.rows.iter().any(|row| row.is == ReceiptRowIs::Amount && row.text.contains("12.34")), "{view:?}");
    assert!(view.rows.iter().any(|row| row.is == ReceiptRowIs::Pair && row.value == "R<1>"), "{view:?}");
    // Every word of the rows is on the paper. Neither the rows nor the paper contain a control sequence.
    for row in &view.rows {
        for word in row.text.split_whitespace().chain(row.value.split_whitespace()) {
            let on_paper: String = view.text.split_whitespace().collect();
            assert!(on_paper.contains(word), "{word}: {}", view.text);
        }
        assert!(!row.text.contains(['\u{7}', '\u{202e}']), "{row:?}");
    }
    let merchant = terminal.receipt("&copy=merchant", "application/json").await.json();
    assert_eq!(merchant["copy"], "merchant");

    let page = terminal.receipt("", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8").await;
    assert!(page.1.contains("content-type: text/html; charset=utf-8"), "{}", page.1);
    assert!(page.1.contains("content-security-policy: default-src 'none'"), "{}", page.1);
    assert!(page.2.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && page.2.contains("12.34"), "{}", page.2);
    assert!(page.2.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.2.contains("R&lt;1&gt;"), "{}", page.2);
    for never in ["<script", "src=", "href=", "url(", "@import", "\u{202e}", "onload"] {
        assert!(!page.2.contains(never), "{never}: {}", page.2);
    }
    for accept in ["image/png", "application/pdf", "text/plain;q=0"] {
        let refused = terminal.receipt("", accept).await;
        assert_eq!((refused.0, &refused.json()["code"]), (406, &json!("not-acceptable")), "{accept}");
    }
}

#[tokio::test]
async fn text_is_as_wide_as_it_is_asked_for_and_says_the_same() {
    let (terminal, _folder) = terminal(32).await;
    let words = |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect::<String>();
    let narrow = terminal.receipt("&width=24", "text/plain").await.2;
    for width in [24_usize, 25, 32, 42, 48, 64] {
        let text = terminal.receipt(&format!("&width={width}"), "text/plain").await.2;
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        assert!(text.lines().any(|line| line == "-".repeat(width)), "{width}: {text}");
        let data: Value = terminal.receipt(&format!("&width={width}"), "application/json").await.json();
        assert_eq!((&data["text"], &data["width"]), (&json!(text), &json!(width)));
        assert_eq!(words(&text), words(&narrow), "{width}");
    }
    for width in ["0", "23", "65", "-1", "300", "x", ""] {
        let refused = terminal.receipt(&format!("&width={width}"), "").await;
        assert_eq!((refused.0, &refused.json()["code"]), (400, &json!("malformed")), "{width}");
    }
}
