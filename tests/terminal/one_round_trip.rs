//! One round trip after the card: the connection to the gateway, with its TLS handshake, is open before the card is
//! read. A server counts connections, handshakes, requests and bytes.

use crate::counter::{Counter, ended};
use easy_ext::ext;
use pos_agent::till::{GatewayState, SaleState};
use pos_sim::gateway::GatewayCounters;
use pos_sim::reader::CardEntry::{Insert, Tap};
use pos_sim::reader::card;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::within;

#[ext(CountsRoundTrips)]
impl Counter {
    /// Opens a shop and waits until the agent has probed its gateway, as it does at each start.
    async fn probed() -> Self {
        Self::probed_with(Options::default()).await
    }

    async fn probed_with(options: Options) -> Self {
        let counter = Self::open_with(options).await;
        let probed = counter.still("probed", |seen| seen.requests == 2).await;
        assert_eq!((probed.connections, probed.handshakes), (1, 1), "nothing else is opened before there is a sale");
        counter.until_status("the probe's answer", |status| status.gateway.state == GatewayState::Answers).await;
        counter
    }

    /// Begins a sale and waits until the connection to the gateway is ready and quiet, and the reader waits for a card.
    async fn armed(&self, reference: &str, handshakes: u64) -> GatewayCounters {
        assert_eq!(self.begin(reference, "12.34").await.0, 201);
        within("armed", self.shop.reader.waits_for(pos_sim::reader::WaitsFor::Card)).await;
        self.still("warm", |seen| seen.handshakes >= handshakes).await
    }

    async fn still(&self, what: &str, reached: impl Fn(&GatewayCounters) -> bool) -> GatewayCounters {
        within(what, async {
            let mut last = self.shop.gateway.counters();
            let mut unchanged = 0;
            // Meanwhile, status queries pass through the agent's whole loop.
            while !reached(&last) || unchanged < 20 {
                let _ = self.status().await;
                let now = self.shop.gateway.counters();
                unchanged = if now == last { unchanged + 1 } else { 0 };
                last = now;
            }
            last
        })
        .await
    }

    async fn approved(&self, reference: &str) -> GatewayCounters {
        let view = self.until_ended(reference).await;
        assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{}", view.text);
        self.until_ready().await;
        self.shop.gateway.counters()
    }
}

#[tokio::test]
async fn the_handshake_is_over_before_the_card_is_read() {
    for (name, entry) in [("tap", Tap), ("chip-no-cvm", Insert)] {
        let mut options = Options::default();
        options.reader.removes_card = true;
        let counter = Counter::probed_with(options).await;

        let before = counter.armed("R1", 2).await;
        assert_eq!((before.connections, before.handshakes, before.requests), (2, 2, 2), "{name}: TLS and no request");
        counter.present(card(name).unwrap(), entry).await;
        let after = counter.approved("R1").await;
        assert_eq!((after.connections, after.handshakes, after.requests), (2, 2, 3), "{name}: the payment alone");
        let payment = after.bytes_in - before.bytes_in;

        // The second sale makes no handshake and sends only its payment. The first sale's payment has the same length,
        // so it too was the only request between the card and the answer.
        let before = counter.armed("R2", 2).await;
        assert_eq!(before.requests, 3, "{name}: the line is there");
        counter.present(card(name).unwrap(), entry).await;
        let after = counter.approved("R2").await;
        assert_eq!((after.connections, after.handshakes, after.requests), (2, 2, 4), "{name}: the second sale");
        assert_eq!(payment, after.bytes_in - before.bytes_in, "{name}: bytes beside the request");
        // The whole request fits in one TLS record (at most 16 KiB).
        assert!((500..16_384).contains(&payment), "{name}: {payment} bytes");
        counter.audit(name);
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_before_the_card_came_is_opened_anew() {
    let counter = Counter::probed().await;
    counter.armed("R1", 2).await;
    // The connection is closed, as a load balancer does with an idle one.
    counter.shop.gateway.set_offline(true).await.unwrap();
    counter.shop.gateway.set_offline(false).await.unwrap();
    counter.present(card("tap").unwrap(), Tap).await;
    let after = counter.approved("R1").await;
    assert_eq!((after.connections, after.handshakes, after.requests), (3, 3, 3));
    assert_eq!(counter.charged(), ["12.34 EUR"]);
    counter.audit("closed and open again");
}

#[tokio::test]
async fn a_gateway_that_has_gone_before_the_card_came_is_not_sent() {
    let counter = Counter::probed().await;
    counter.armed("R1", 2).await;
    counter.shop.gateway.set_offline(true).await.unwrap();
    // The agent has noticed the end of the connection.
    for _ in 0..20 {
        counter.show("R1").await;
    }
    counter.present(card("tap").unwrap(), Tap).await;
    let view = counter.until_ended("R1").await;
    assert_eq!(ended(&view), Some(OutcomeWord::NotSent), "{}", view.text);
    assert_eq!(view.reason.as_deref(), Some("gateway-unreachable"), "{}", view.text);
    counter.shop.gateway.set_offline(false).await.unwrap();
    assert!(counter.shop.gateway.ledger().entries().is_empty());
    counter.audit("gone");
}

#[tokio::test]
async fn a_connection_that_closes_while_the_card_is_read_is_never_a_second_payment() {
    for gone_for_good in [false, true] {
        for steps in 0..12 {
            let what = format!("closed {steps} steps after the card, for good: {gone_for_good}");
            let counter = Counter::probed().await;
            counter.armed("R1", 2).await;
            counter.present(card("tap").unwrap(), Tap).await;
            for _ in 0..steps * 4 {
                tokio::task::yield_now().await;
            }
            counter.shop.gateway.set_offline(true).await.unwrap();
            if !gone_for_good {
                counter.shop.gateway.set_offline(false).await.unwrap();
            }
            let decided =
                counter.until("R1", &what, |view| matches!(view.state, SaleState::Ended | SaleState::Unconfirmed));
            let decided = decided.await;
            counter.shop.gateway.set_offline(false).await.unwrap();
            let debits = counter.shop.gateway.ledger();
            let debits = debits.entries().iter().filter(|entry| entry.entry_mode.is_some()).count();
            assert!(debits <= 1, "{what}: sent twice");
            if decided.state == SaleState::Ended {
                let undone = ended(&decided) == Some(OutcomeWord::Reversed);
                let plain = matches!(ended(&decided), Some(OutcomeWord::Approved | OutcomeWord::NotSent));
                assert!(plain || undone, "{what}: {decided:?}");
            }
            counter.audit(&what);
        }
    }
}
