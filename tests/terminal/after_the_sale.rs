//! Follow-up transactions of a sale that was partially approved, made in a currency other than the terminal's, or made
//! with a tip. The tests check the rest, the permitted refunds, the requests, the receipts, and the sums of the close
//! of day. All of these follow the payment, not the requested amount or the terminal's currency.

use crate::counter::{Counter, ended};
use easy_ext::ext;
use pos_agent::till::SaleView;
use pos_sim::gateway::{Kind, Outcome as Bank, State as Booked};
use pos_sim::reader::CardEntry::Tap;
use pos_sim::reader::{WaitsFor, card};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use serde_json::{Value, json};

/// Amounts in one currency.
struct Money {
    currency: &'static str,
    asked: &'static str,
    /// The approved amount, which is half of the requested one.
    part: &'static str,
    /// An amount above the approved one and below the requested one.
    beyond: &'static str,
    /// The first refund. The next field is the rest after it.
    first: &'static str,
    rest: &'static str,
    /// `part`, `first` and `rest` as sent to the gateway, always with two decimals.
    sent: [&'static str; 3],
}

#[rustfmt::skip]
const MONEY: &[Money] = &[
    Money { currency: "EUR", asked: "20.00", part: "10.00", beyond: "10.01", first: "4.00", rest: "6.00", sent: ["10.00", "4.00", "6.00"] },
    Money { currency: "USD", asked: "20.00", part: "10.00", beyond: "10.01", first: "3.99", rest: "6.01", sent: ["10.00", "3.99", "6.01"] },
    Money { currency: "JPY", asked: "1200",  part: "600",   beyond: "601",   first: "200",  rest: "400",  sent: ["600.00", "200.00", "400.00"] },
];

#[ext(SellsInPart)]
impl Counter {
    /// Pays with a card. The gateway approves half of the amount.
    async fn in_part(&mut self, money: &Money, kind: &str, reference: &str) -> SaleView {
        let Money { currency, asked, part, .. } = money;
        self.shop.gateway.force(Bank::Partial);
        let body =
            json!({"kind": kind, "reference": reference, "amount": asked, "currency": currency, "acceptPartial": true});
        let (status, answer) = self.ask(body).await;
        assert_eq!(status, 201, "{answer}");
        self.present(card("tap").unwrap(), Tap).await;
        let view = self.until_ended(reference).await;
        assert_eq!(ended(&view), Some(OutcomeWord::PartiallyApproved), "{}", view.text);
        assert_eq!(
            (view.amount.as_str(), view.approved_amount.as_deref(), view.currency.as_str()),
            (*asked, Some(*part), *currency)
        );
        self.until_ready().await;
        let (part, asked) = (format!("{part} {currency}"), format!("{asked} {currency}"));
        assert!(view.text.contains(&part) && view.text.contains(&asked), "{}", view.text);
        for _ in 0..2 {
            let receipt = self.paper().await;
            let line =
                |label: &str, value: &str| receipt.lines().any(|line| line.starts_with(label) && line.ends_with(value));
            assert!(line("Requested", &asked) && line("Approved", &part), "{receipt}");
            assert!(receipt.contains("PARTIALLY APPROVED"), "{receipt}");
            // The receipt prints the charged amount in big letters.
            let big = receipt.lines().position(|line| line.trim() == part);
            assert!(big < receipt.lines().position(|line| line.contains("PARTIALLY")) && big.is_some(), "{receipt}");
        }
        view
    }

    /// Reads a receipt of a follow-up transaction. Checks that it shows this amount in this currency and no other.
    async fn receipt_over(&mut self, amount: &str, currency: &str) {
        for _ in 0..2 {
            let receipt = self.paper().await;
            let wanted = format!("{amount} {currency}");
            assert!(receipt.lines().any(|line| line.trim() == wanted), "{wanted}:\n{receipt}");
            assert_eq!(receipt.matches(&format!(" {currency}")).count(), 1, "{receipt}");
        }
    }

    /// Returns the gateway's entries of one kind, as they were sent to it.
    fn booked(&self, kind: Kind) -> Vec<String> {
        let ledger = self.shop.gateway.ledger();
        let entries = ledger.entries().iter().filter(|entry| entry.kind == kind && entry.state != Booked::Declined);
        entries.map(|entry| format!("{} {}", entry.amount, entry.currency)).collect()
    }

    /// Returns the lines of the close of day as `kind count sum currency`.
    async fn totals(&self) -> Vec<String> {
        self.sums("kinds").await
    }

    async fn sums(&self, what: &str) -> Vec<String> {
        let (status, totals) = self.get("/v1/totals").await;
        assert_eq!(status, 200, "{totals}");
        let text = |sum: &Value, field: &str| sum[field].as_str().unwrap().to_owned();
        let sums = totals[what].as_array().unwrap().iter();
        sums.map(|sum| format!("{} {} {} {}", text(sum, "kind"), sum["count"], text(sum, "sum"), text(sum, "currency")))
            .collect()
    }
}

#[tokio::test]
async fn a_part_in_any_currency_is_all_there_is_to_give_back() {
    let mut counter = Counter::open().await;
    for money in MONEY {
        counter.change_currency(money.currency).await;
        counter.in_part(money, "sale", &format!("sale-{}", money.currency)).await;
    }
    // A refund is made in the payment's own currency, regardless of the terminal's currency.
    for money in MONEY {
        let Money { currency, part, beyond, first, rest, .. } = money;
        let sale = format!("sale-{currency}");
        assert_eq!(counter.show(&sale).await.left.as_deref(), Some(*part), "{currency}");
        // The part that was not approved was never paid, and a payment has only one currency.
        let more = json!({"kind": "refund", "reference": "no", "of": sale, "amount": beyond, "currency": currency});
        let (status, refused) = counter.ask(more).await;
        let message = refused["detail"].as_str().unwrap();
        assert_eq!((status, message.contains(&format!("{part} {currency}"))), (422, true), "{refused}");
        for other in MONEY.iter().filter(|other| other.currency != *currency) {
            let other = json!({"kind": "refund", "reference": "no", "of": sale, "amount": other.first, "currency": other.currency});
            let (status, refused) = counter.ask(other).await;
            assert_eq!((status, &refused["code"]), (422, &json!("not-possible")), "{refused}");
        }
        let one = json!({"kind": "refund", "reference": format!("r1-{currency}"), "of": sale, "amount": first, "currency": currency});
        let view = counter.done(one).await;
        assert_eq!(view.text, format!("REFUND APPROVED {first} {currency}"));
        counter.receipt_over(first, currency).await;
        assert_eq!(counter.show(&sale).await.left.as_deref(), Some(*rest), "{currency}");
        // Refunds the whole rest, without naming an amount or a currency.
        let view = counter.done(json!({"kind": "refund", "reference": format!("r2-{currency}"), "of": sale})).await;
        assert_eq!(
            (ended(&view), view.amount.as_str(), view.currency.as_str()),
            (Some(OutcomeWord::Approved), *rest, *currency)
        );
        counter.receipt_over(rest, currency).await;
        assert_eq!(counter.show(&sale).await.left.as_deref(), Some("0"));
    }
    let sent = |which: &[usize]| -> Vec<String> {
        let of =
            |money: &Money| which.iter().map(|n| format!("{} {}", money.sent[*n], money.currency)).collect::<Vec<_>>();
        MONEY.iter().flat_map(of).collect()
    };
    assert_eq!(counter.booked(Kind::Debit), sent(&[0]));
    assert_eq!(counter.booked(Kind::Refund), sent(&[1, 2]));
    let mut expected: Vec<_> = ["refund 2", "sale 1"]
        .iter()
        .flat_map(|kind| MONEY.iter().map(move |money| format!("{kind} {} {}", money.part, money.currency)))
        .collect();
    expected.sort();
    let mut totals = counter.totals().await;
    totals.sort();
    assert_eq!(totals, expected, "each currency by itself, and only what was approved");
}

#[tokio::test]
async fn a_part_in_any_currency_is_all_there_is_to_capture_or_to_undo() {
    let mut counter = Counter::open().await;
    for money in MONEY {
        let Money { currency, part, beyond, first, rest, .. } = money;
        counter.change_currency(currency).await;
        let room = format!("room-{currency}");
        counter.in_part(money, "pre-authorisation", &room).await;
        let more = json!({"kind": "capture", "reference": "no", "of": room, "amount": beyond, "currency": currency});
        assert_eq!(counter.ask(more).await.0, 422, "{currency}: never reserved");
        let one = json!({"kind": "capture", "reference": format!("c1-{currency}"), "of": room, "amount": first, "currency": currency});
        assert_eq!(ended(&counter.done(one).await), Some(OutcomeWord::Approved));
        counter.receipt_over(first, currency).await;
        let last = counter.done(json!({"kind": "capture", "reference": format!("c2-{currency}"), "of": room})).await;
        assert_eq!((last.amount.as_str(), last.currency.as_str()), (*rest, *currency));
        counter.receipt_over(rest, currency).await;

        let sale = format!("sale-{currency}");
        counter.in_part(money, "sale", &sale).await;
        let undone = counter.done(json!({"kind": "reversal", "reference": format!("v-{currency}"), "of": sale})).await;
        assert_eq!(
            (ended(&undone), undone.amount.as_str(), undone.currency.as_str()),
            (Some(OutcomeWord::Approved), *part, *currency)
        );
        counter.receipt_over(part, currency).await;
        assert_eq!(counter.show(&sale).await.left.as_deref(), Some("0"));
    }
    let two = |money: &Money| [1, 2].map(|n| format!("{} {}", money.sent[n], money.currency));
    assert_eq!(counter.booked(Kind::Capture), MONEY.iter().flat_map(two).collect::<Vec<_>>());
    let whole = |money: &Money| format!("{} {}", money.sent[0], money.currency);
    assert_eq!(counter.booked(Kind::Reversal), MONEY.iter().map(whole).collect::<Vec<_>>());
    assert_eq!(counter.totals().await.iter().filter(|sum| sum.starts_with("reversal 1")).count(), MONEY.len());
}

/// Checks that the terminal reverses unusable approvals and unanswered payments in their own currency.
#[tokio::test]
async fn what_is_taken_back_by_itself_goes_back_in_its_own_currency() {
    let mut counter = Counter::open().await;
    for (bank, what) in [(Bank::Partial, "a part"), (Bank::Garbage, "no answer")] {
        for Money { currency, asked, .. } in MONEY {
            counter.change_currency(currency).await;
            let reference = format!("{what} {currency}");
            counter.shop.gateway.force(bank);
            assert_eq!(counter.begin_in(&reference, asked, currency).await.0, 201);
            counter.present(card("tap").unwrap(), Tap).await;
            let view = counter.until_ended(&reference).await;
            assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{}", view.text);
            counter.until_ready().await;
            // An earlier receipt may say that the payment is not confirmed yet.
            while !counter.paper().await.contains("CUSTOMER COPY") {}
            let receipt = counter.receipt(&reference, "customer").await;
            let wanted = format!("{asked} {currency}");
            assert!(receipt.lines().any(|line| line.trim() == wanted) && receipt.contains("NOT CHARGED"), "{receipt}");
        }
    }
    assert!(counter.charged().is_empty(), "{:?}", counter.charged());
    assert_eq!(counter.booked(Kind::Reversal), counter.booked(Kind::Debit));
    assert!(counter.totals().await.is_empty(), "{:?}", counter.totals().await);
}

#[tokio::test]
async fn the_limit_holds_for_the_amount_and_for_the_amount_with_its_tip() {
    let mut options = Options::default();
    let limited = ("currency = \"EUR\"".to_owned(), "currency = \"EUR\"\nmax-amount = \"14.00\"".to_owned());
    options.config.push(limited);
    let counter = Counter::open_with(options).await;
    for (amount, currency, word) in [
        ("14.01", "EUR", "above the terminal's limit of 14.00 EUR"),
        ("1.00", "USD", "takes only EUR"),
        ("1", "JPY", "takes only EUR"),
    ] {
        let (status, refused) = counter.begin_in("no", amount, currency).await;
        let message = refused["detail"].as_str().unwrap();
        assert_eq!((status, message.contains(word)), (422, true), "{refused}");
    }
    let with_tip = |reference: &str| json!({"reference": reference, "amount": "12.34", "tip": "ask"});
    counter.shop.reader.next_number("167");
    assert_eq!(counter.ask(with_tip("over")).await.0, 201);
    let view = counter.until_ended("over").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Cancelled), "{}", view.text);
    assert_eq!(view.reason.as_deref(), Some("tip-not-possible"), "{}", view.text);
    assert!(view.text.contains("14.01 EUR"), "{}", view.text);
    assert!(counter.shop.gateway.ledger().entries().is_empty());
    counter.until_ready().await;
    counter.shop.reader.next_number("166");
    assert_eq!(counter.ask(with_tip("at the limit")).await.0, 201);
    pos_test_kit::within("the reader asking for a card", counter.shop.reader.waits_for(WaitsFor::Card)).await;
    counter.shop.reader.tap(card("tap").unwrap());
    assert_eq!(ended(&counter.until_ended("at the limit").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.charged(), ["14.00 EUR"]);
}

/// Checks that the approved amount first covers the sale. Only what exceeds the sale is the tip.
#[tokio::test]
async fn of_a_part_below_the_amount_nothing_is_a_tip() {
    let counter = Counter::open().await;
    for (bank, reference) in [(Bank::Approve, "in full"), (Bank::Partial, "in part")] {
        counter.shop.gateway.force(bank);
        counter.shop.reader.next_number("200");
        let body = json!({"reference": reference, "amount": "12.00", "tip": "ask", "acceptPartial": true});
        assert_eq!(counter.ask(body).await.0, 201);
        counter.present(card("tap").unwrap(), Tap).await;
        let view = counter.until_ended(reference).await;
        assert!(view.approved_amount.is_some());
        assert_eq!(view.tip.as_deref(), Some("2.00"), "what was asked for");
        let receipt = counter.receipt(&reference.replace(' ', "%20"), "customer").await;
        assert_eq!(receipt.contains("Tip"), reference == "in full", "{receipt}");
        counter.until_ready().await;
    }
    assert_eq!(counter.totals().await, ["sale 2 21.00 EUR"]);
    assert_eq!(counter.sums("tips").await, ["sale 1 2.00 EUR"]);
}
