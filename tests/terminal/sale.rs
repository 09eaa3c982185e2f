//! Sales over real connections, end to end, with the actions of cashier and customer. `tests/deck/` contains all test
//! cards.

use crate::counter::{Counter, ended};
use pos_agent::till::{Attention, SaleState, StatusView};
use pos_sim::gateway::outcomes;
use pos_sim::reader::CardEntry::{Insert, Swipe, Tap};
use pos_sim::reader::{self, Dukpt, WaitsFor, card};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;

#[tokio::test]
async fn a_reader_with_aes_keys_sells() {
    let reader = reader::Options { dukpt: Dukpt::AES, removes_card: true, ..reader::Options::default() };
    let counter = Counter::open_with(Options { reader, ..Options::default() }).await;
    for (reference, name, entry) in [("R1", "pan-19", Insert), ("R2", "tap-pin", Tap), ("R3", "swipe-pin", Swipe)] {
        counter.sell(reference, "12.34", name, entry).await;
        let refusals = || counter.shop.gateway.ledger().refusals().to_vec();
        assert_eq!(
            ended(&counter.until_ended(reference).await),
            Some(OutcomeWord::Approved),
            "{name}: {:?}",
            refusals()
        );
        counter.until_ready().await;
    }
    assert_eq!(counter.charged(), ["12.34 EUR"; 3]);
}

#[tokio::test]
async fn the_same_reference_is_the_same_sale() {
    let counter = Counter::open().await;
    counter.sell("R1", "12.34", "tap", Tap).await;
    counter.until_ended("R1").await;
    counter.until_ready().await;
    let (status, again) = counter.begin("R1", "12.34").await;
    assert_eq!((status, &again["replayed"], &again["outcome"]), (200, &true.into(), &"approved".into()));
    let (status, other) = counter.begin("R1", "12.35").await;
    assert_eq!((status, &other["code"]), (409, &"amount-differs".into()), "{other}");
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn a_busy_terminal_says_with_what() {
    let counter = Counter::open().await;
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    let (status, busy) = counter.begin("R2", "1.00").await;
    assert_eq!(status, 409);
    assert_eq!(busy["code"], "busy");
    assert!(busy["detail"].as_str().unwrap().contains("R1"), "{busy}");
}

#[tokio::test]
async fn a_card_that_is_left_in_the_reader_never_pays_for_the_next_sale() {
    let counter = Counter::open().await;
    counter.sell("R1", "12.34", "chip-pin", Insert).await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    counter.until_status("card left", |status| status.needs(Attention::ReaderCardLeft)).await;
    let (status, view) = counter.begin("R2", "2.00").await;
    assert_eq!(status, 201, "{view}");
    counter.until("R2", "asked for the card", |view| view.step.as_deref() == Some("remove-card")).await;
    counter.shop.reader.remove();
    counter.present(card("tap").unwrap(), Tap).await;
    let view = counter.until_ended("R2").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{view:?}");
    assert_eq!(view.card.unwrap().entry_mode, "NFC_ICC");
    assert_eq!(counter.charged(), ["12.34 EUR", "2.00 EUR"]);
}

#[tokio::test]
async fn the_cashier_cancels_before_a_card_is_read() {
    let counter = Counter::open().await;
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    pos_test_kit::within("armed", counter.shop.reader.waits_for(WaitsFor::Card)).await;
    let (status, view) = counter.post("/v1/sales/R1/cancel").await;
    assert_eq!((status, &view["outcome"], &view["cancel"]), (200, &"cancelled".into(), &"in-time".into()), "{view}");
    counter.until_ready().await;
    // The next sale has its own card.
    counter.sell("R2", "2.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.charged(), ["2.00 EUR"]);
}

#[tokio::test]
async fn a_cancel_that_comes_too_late_says_so_and_changes_nothing() {
    let counter = Counter::open().await;
    // The sale is pending: the request was sent, and the money may move at any moment.
    counter.sell("R1", "10.61", "tap", Tap).await;
    counter.until("R1", "asked", |view| view.state == SaleState::InProgress).await;
    let (status, view) = counter.post("/v1/sales/R1/cancel").await;
    assert_eq!((status, &view["cancel"]), (200, &"too-late".into()), "{view}");
    let output = pos_test_kit::within("the program", counter.verb(&["cancel", "R1"])).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && said.starts_with("too late: "), "{said}");
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    let (_, view) = counter.post("/v1/sales/R1/cancel").await;
    let said = view["cancelText"].as_str().unwrap();
    assert!(said.starts_with("too late") && said.contains("APPROVED 10.61 EUR"), "{said}");
    assert_eq!(counter.charged(), ["10.61 EUR"]);
}

#[tokio::test]
async fn a_request_that_the_gateway_had_no_time_for_can_be_cancelled() {
    let counter = Counter::open().await;
    counter.shop.gateway.throttle_next(1000);
    counter.sell("R1", "12.34", "tap", Tap).await;
    counter.until("R1", "asked", |view| view.state == SaleState::InProgress).await;
    // Between two tries, the gateway has certainly not processed the request. During a try, this is unknown.
    let cancelled = async {
        loop {
            let (_, view) = counter.post("/v1/sales/R1/cancel").await;
            if view["cancel"] == "in-time" {
                return view;
            }
        }
    };
    let view = pos_test_kit::within("the cancel", cancelled).await;
    assert_eq!(view["outcome"], "cancelled", "{view}");
    counter.until_ready().await;
    assert!(counter.charged().is_empty());
    assert!(matches!(counter.kept()[0].ended(), Some(pos_core::transaction::Outcome::Cancelled { .. })));
}

#[tokio::test]
async fn the_customer_cancels_at_the_reader() {
    let counter = Counter::open().await;
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    pos_test_kit::within("armed", counter.shop.reader.waits_for(WaitsFor::Card)).await;
    counter.shop.reader.key(pos_sim::reader::Key::Cancel);
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Cancelled));
    assert!(counter.shop.gateway.ledger().entries().is_empty());
}

#[tokio::test]
async fn a_power_cut_while_the_gateway_is_asked_is_reversed_after_the_restart() {
    let mut counter = Counter::open().await;
    // At .71, the gateway processes the payment and does not answer.
    counter.sell("R1", "10.71", "tap", Tap).await;
    counter.until("R1", "asked", |view| view.state == SaleState::InProgress).await;
    pos_test_kit::within("charged", async {
        while counter.charged().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    counter.cut_power().await;
    counter.start_agent();
    counter.until_ready().await;
    let view = counter.until_ended("R1").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{}", view.text);
    assert!(counter.charged().is_empty());
}

#[tokio::test]
async fn a_write_that_fails_for_one_sale_leaves_the_other_alone() {
    let cents = outcomes::TABLE.iter().find(|row| row.1 == outcomes::Outcome::LateApproval).unwrap().0;
    let counter = Counter::open().await;
    counter.sell("R1", &format!("10.{cents:02}"), "tap", Tap).await;
    counter.until("R1", "unconfirmed", |view| view.state == SaleState::Unconfirmed).await;
    counter.until_status("the reader free", |status| status.current.is_none()).await;
    assert_eq!(counter.begin("R2", "2.00").await.0, 201);
    // Another program locks the journal, so the reversal of R1 cannot be recorded when the payment is found.
    let somebody = rusqlite::Connection::open(counter.shop.folder().join("journal.db")).unwrap();
    somebody.execute_batch("BEGIN IMMEDIATE").unwrap();
    let failed = |status: &StatusView| status.needs(Attention::JournalCannotBeWritten);
    counter.until_status("the journal's fault", failed).await;
    assert_eq!(counter.show("R1").await.state, SaleState::Unconfirmed);
    somebody.execute_batch("ROLLBACK").unwrap();
    counter.until_status("the journal mended", |status| !failed(status)).await;
    assert_eq!(counter.show("R2").await.state, SaleState::WaitingForCard, "{}", counter.show("R2").await.text);
    counter.present(card("tap").unwrap(), Tap).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(OutcomeWord::Approved));
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Reversed));
    assert_eq!(counter.charged(), ["2.00 EUR"]);
}

#[tokio::test]
async fn a_tip_is_typed_at_the_reader_and_charged_on_top() {
    let mut counter = Counter::open().await;
    counter.shop.reader.next_number("166");
    let (code, begun) = counter.post_sale(r#"{"reference":"R1","amount":"12.34","tip":"ask"}"#).await;
    assert_eq!(code, 201, "{begun}");
    counter.present(card("tap").unwrap(), Tap).await;
    let view = counter.until_ended("R1").await;
    assert_eq!(
        (ended(&view), view.amount.as_str(), view.tip.as_deref()),
        (Some(OutcomeWord::Approved), "12.34", Some("1.66"))
    );
    assert_eq!((view.approved_amount.as_deref(), counter.charged()), (Some("14.00"), vec!["14.00 EUR".to_owned()]));
    let receipt = counter.paper().await;
    for word in ["Amount", "12.34 EUR", "Tip", "1.66 EUR", "14.00 EUR", "APPROVED"] {
        assert!(receipt.contains(word), "{word}\n{receipt}");
    }
    // A repeated request returns the same sale. With another amount it is refused.
    let again = counter.post_sale(r#"{"reference":"R1","amount":"12.34","tip":"ask"}"#).await;
    assert_eq!((again.0, &again.1["replayed"]), (200, &true.into()));
    assert_eq!(counter.begin("R1", "14.00").await.0, 409);
    assert_eq!(counter.begin("R1", "12.34").await.0, 409, "it was asked for with a tip");
}

#[tokio::test]
async fn a_tip_that_is_cancelled_ends_the_sale_and_frees_the_reader() {
    let counter = Counter::open().await;
    let (code, begun) = counter.post_sale(r#"{"reference":"R1","amount":"12.34","tip":"ask"}"#).await;
    assert_eq!(code, 201, "{begun}");
    pos_test_kit::within("the question", counter.shop.reader.waits_for(WaitsFor::Number)).await;
    // The cashier sees why the reader does not ask for a card yet.
    let asked = counter.until("R1", "the tip", |view| view.step.as_deref() == Some("choosing-tip")).await;
    assert_eq!((asked.state, asked.text.as_str()), (SaleState::WaitingForCard, "The customer is choosing a tip"));
    counter.shop.reader.key(pos_sim::reader::Key::Cancel);
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Cancelled));
    counter.sell("R2", "2.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.charged(), ["2.00 EUR"]);
}

#[tokio::test]
async fn a_card_number_is_typed_where_the_terminal_allows_it() {
    let manual = r#"{"reference":"R1","amount":"12.34","entry":"manual"}"#;
    let counter = Counter::open().await;
    assert_eq!(counter.post_sale(manual).await.0, 201);
    let refused = counter.until_ended("R1").await;
    let why = refused.reason.as_deref();
    assert_eq!((ended(&refused), why), (Some(OutcomeWord::NotSent), Some("typing-not-possible")), "off by default");

    let mut options = Options::default();
    let (line, with) = ("protocol = \"miura-mpi\"", "protocol = \"miura-mpi\"\nmanual-entry = true");
    options.config.push((line.to_owned(), with.to_owned()));
    let mut counter = Counter::open_with(options).await;
    let pan = card("swipe").unwrap().pan;
    counter.shop.reader.next_number(pan);
    counter.shop.reader.next_number("3112");
    assert_eq!(counter.post_sale(manual).await.0, 201);
    let view = counter.until_ended("R1").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{}", view.text);
    assert_eq!(view.card.as_ref().map(|card| card.entry_mode.as_str()), Some("MANUAL"));
    assert_eq!(counter.charged(), ["12.34 EUR"]);
    let receipt = counter.paper().await;
    assert!(receipt.contains("MANUAL ENTRY") && !receipt.contains(pan), "{receipt}");
}

#[tokio::test]
async fn an_amount_is_typed_at_the_reader() {
    let counter = Counter::open().await;
    counter.shop.reader.next_number("1234");
    let sale = counter.verb(&["sale"]);
    counter.present(card("tap").unwrap(), Tap).await;
    let output = pos_test_kit::within("the program", sale).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("type the amount at the reader") && said.contains("APPROVED 12.34 EUR"), "{said}");
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn a_refused_signature_gives_the_money_back() {
    let mut counter = Counter::open().await;
    counter.sell("R1", "12.34", "swipe", Swipe).await;
    let slip = counter.paper().await;
    assert!(slip.contains("APPROVED") && slip.contains("SIGNATURE") && slip.contains("MERCHANT COPY"), "{slip}");
    let asked = counter.show("R1").await;
    assert_eq!((asked.state, asked.outcome), (SaleState::AwaitingSignature, None));
    assert_eq!(counter.charged(), ["12.34 EUR"]);
    // The next customer is served meanwhile.
    counter.until_ready().await;
    counter.sell("R2", "2.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(OutcomeWord::Approved));

    counter.sign("R1", false).await;
    let view = counter.until_ended("R1").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{}", view.text);
    assert_eq!(counter.charged(), ["2.00 EUR"]);
    // A repeated answer changes nothing. A different answer is refused.
    assert_eq!(ended(&counter.sign("R1", false).await), Some(OutcomeWord::Reversed));
    assert_eq!(counter.answer_signature("R1", true).await.0, 409);
    let papers = [counter.paper().await, counter.paper().await, counter.paper().await, counter.paper().await];
    assert_eq!(papers.iter().filter(|paper| paper.contains("REVERSED")).count(), 2, "{papers:#?}");
}

#[tokio::test]
async fn a_power_cut_asks_for_the_signature_again() {
    let mut counter = Counter::open().await;
    counter.sell("R1", "12.34", "swipe", Swipe).await;
    counter.paper().await;
    counter.cut_power().await;
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(counter.show("R1").await.state, SaleState::AwaitingSignature);
    assert!(counter.paper().await.contains("SIGNATURE"), "the slip is printed again");
    assert_eq!(ended(&counter.sign("R1", true).await), Some(OutcomeWord::Approved));
    assert!(counter.paper().await.contains("CUSTOMER COPY"));
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn a_stop_lets_the_sale_end_and_its_receipts_out() {
    let mut counter = Counter::open().await;
    // The customer leaves the card in the slot for a while. Meanwhile, the program is stopped.
    counter.sell("R1", "12.34", "chip-no-cvm", Insert).await;
    pos_test_kit::within("charged", async {
        while counter.charged().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    counter.stop_agent().await;
    for copy in ["MERCHANT COPY", "CUSTOMER COPY"] {
        let receipt = counter.paper().await;
        assert!(receipt.contains("APPROVED") && receipt.contains(copy), "{receipt}");
    }
    counter.shop.reader.remove();
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn a_stop_tells_a_waiting_till_that_nothing_was_charged() {
    let mut counter = Counter::open().await;
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    pos_test_kit::within("armed", counter.shop.reader.waits_for(WaitsFor::Card)).await;
    counter.stop_agent().await;
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Cancelled));
    assert!(counter.shop.gateway.ledger().entries().is_empty());
}

#[tokio::test]
async fn a_stop_while_the_pin_is_typed_charges_nothing() {
    let mut counter = Counter::open().await;
    counter.shop.reader.plan_pin(reader::PinPlan::Hesitate);
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    counter.present(card("chip-pin").unwrap(), Insert).await;
    pos_test_kit::within("a PIN", counter.shop.reader.waits_for(WaitsFor::Pin)).await;
    counter.stop_agent().await;
    counter.shop.reader.remove();
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Cancelled));
    assert!(counter.shop.gateway.ledger().entries().is_empty());
}

#[tokio::test]
async fn a_till_whose_line_broke_finds_the_outcome_under_its_reference() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let counter = Counter::open().await;
    let body = r#"{"reference":"R1","amount":"12.34"}"#;
    let head = format!(
        "POST /v1/sales HTTP/1.1\r\nhost: till\r\ncontent-type: application/json\r\ncontent-length: {}",
        body.len()
    );
    let mut line = tokio::net::UnixStream::connect(counter.shop.socket()).await.unwrap();
    line.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
    // The connection breaks after one byte of the answer. The next connection breaks too, while the till waits for the
    // outcome.
    line.read_u8().await.unwrap();
    drop(line);
    let mut line = tokio::net::UnixStream::connect(counter.shop.socket()).await.unwrap();
    line.write_all(b"GET /v1/sales/R1?wait-s=60 HTTP/1.1\r\nhost: till\r\n\r\n").await.unwrap();
    counter.present(card("tap").unwrap(), Tap).await;
    drop(line);
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    let (status, again) = counter.begin("R1", "12.34").await;
    assert_eq!((status, &again["replayed"], &again["outcome"]), (200, &true.into(), &"approved".into()), "{again}");
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}
