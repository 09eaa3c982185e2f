//! A reader that sends endlessly, over a real pty and real TCP, blocks no other work. A till is answered, a sale
//! without a card succeeds, and the terminal reports the reader's fault. The limit is a number of bytes from the
//! reader, never a time.

use std::future::Future;

use crate::counter::{Counter, ended};
use pos_agent::till::{Attention, ReaderState, StatusView};
use pos_sim::reader::flood::FLOODS;
use pos_sim::reader::{CardEntry, card};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use serde_json::json;

/// The number of bytes that a reader may send before a till has its answer. The agent closes the connection after 64
/// KiB, and the system's buffers hold some megabytes for TCP. The limit is a few times their sum.
const MOST: u64 = 32 * 1024 * 1024;

async fn open(tcp: bool) -> Counter {
    let mut options = Options::default();
    if tcp {
        options.reader.tcp = Some(([127, 0, 0, 1], 0).into());
        options.config.push((
            "[reader]\nprotocol = \"miura-mpi\"\nport = \"".into(),
            "[reader]\nprotocol = \"miura-mpi\"\nport = \"tcp://".into(),
        ));
    }
    Counter::open_with(options).await
}

/// Returns the answer, which must arrive before the reader has sent more than [`MOST`].
async fn unless_flooded<T>(counter: &Counter, what: &str, answer: impl Future<Output = T>) -> T {
    let before = counter.shop.reader.flooded();
    let too_much = async {
        while counter.shop.reader.flooded() - before < MOST {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        answer = answer => answer,
        () = too_much => panic!("{what} waited while the reader said {MOST} bytes"),
    }
}

/// Waits until the reader has begun to flood.
async fn floods(counter: &Counter, what: &str) {
    let begun = async {
        while counter.shop.reader.flooded() == 0 {
            tokio::task::yield_now().await;
        }
    };
    pos_test_kit::within(&format!("{what}: a flood"), begun).await;
}

/// Stores a card and returns its id.
async fn registration(counter: &Counter) -> String {
    let body = json!({"reference": "first", "amount": "1.00", "parameters": {"createRegistration": true,
        "standingInstruction": {"type": "UNSCHEDULED", "mode": "INITIAL", "source": "CIT"}}});
    assert_eq!(counter.post_sale(&body.to_string()).await.0, 201);
    counter.present(card("tap").unwrap(), CardEntry::Tap).await;
    let view = counter.until_ended("first").await;
    counter.until_ready().await;
    view.registration.unwrap()
}

/// Queries the status and makes a sale while the reader floods the agent.
async fn serves_tills(counter: &Counter, kept: &str, what: &str) {
    for n in 0..3 {
        unless_flooded(counter, &format!("{what}: status {n}"), counter.status()).await;
    }
    let body = json!({"kind": "by-registration", "reference": "kept", "amount": "9.99", "registration": kept,
        "parameters": {"standingInstruction": {"type": "UNSCHEDULED", "mode": "REPEATED", "source": "MIT"}}});
    let sold = async {
        let (status, answer) = counter.post_sale(&body.to_string()).await;
        assert_eq!(status, 201, "{what}: {answer}");
        counter.until_ended("kept").await
    };
    let view = unless_flooded(counter, &format!("{what}: a sale without a card"), sold).await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{what}: {}", view.text);
}

async fn is_said(counter: &Counter, what: &str) {
    let floods = |status: &StatusView| status.needs(Attention::ReaderFlooding);
    let status = counter.until_status(&format!("{what}: that it floods"), floods).await;
    assert!(!status.ready && status.reader.state == ReaderState::Flooding, "{what}: {status:?}");
    assert!(status.reader.text.contains("sends data without end and is ignored"), "{what}: {status:?}");
}

#[tokio::test]
async fn no_flood_of_an_idle_reader_starves_a_till() {
    for tcp in [false, true] {
        for (name, _) in FLOODS {
            let what = format!("{name}, {}", if tcp { "TCP" } else { "pty" });
            let counter = open(tcp).await;
            let kept = registration(&counter).await;
            counter.shop.reader.run_script(format!("after 0ms: flood {name}").parse().unwrap());
            serves_tills(&counter, &kept, &what).await;
            is_said(&counter, &what).await;
        }
    }
}

#[tokio::test]
async fn no_flood_while_a_card_is_awaited_starves_a_till() {
    for tcp in [false, true] {
        for (name, _) in FLOODS {
            let what = format!("{name}, {}", if tcp { "TCP" } else { "pty" });
            let counter = open(tcp).await;
            let kept = registration(&counter).await;
            counter.shop.reader.run_script(format!("on waiting 1: flood {name}").parse().unwrap());
            assert_eq!(counter.begin("card", "12.34").await.0, 201);
            floods(&counter, &what).await;
            serves_tills(&counter, &kept, &what).await;
            let view = unless_flooded(&counter, &what, counter.until_ended("card")).await;
            // The agent gave up the reader, or the reader could not read the card.
            let nothing_sent = matches!(ended(&view), Some(OutcomeWord::NotSent | OutcomeWord::Cancelled));
            assert!(nothing_sent, "{what}: {}", view.text);
            assert_eq!(counter.charged(), ["1.00 EUR", "9.99 EUR"], "{what}");
            is_said(&counter, &what).await;
        }
    }
}

#[tokio::test]
async fn a_flood_while_the_host_is_asked_leaves_the_books_right_and_ends_with_the_flood() {
    // All cases run at the same time, because each mostly waits for the connection to be opened again.
    let mut all = tokio::task::JoinSet::new();
    for (name, _) in FLOODS {
        all.spawn(while_the_host_is_asked(name));
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
}

async fn while_the_host_is_asked(name: &str) {
    let counter = open(false).await;
    let kept = registration(&counter).await;
    counter.shop.reader.run_script(format!("on asked 1: flood {name}").parse().unwrap());
    assert_eq!(counter.begin("card", "12.34").await.0, 201);
    counter.present(card("chip-pin").unwrap(), CardEntry::Insert).await;
    floods(&counter, name).await;
    serves_tills(&counter, &kept, name).await;
    let view = counter.until_ended("card").await;
    // The sale is approved or reversed. The till's message matches the gateway.
    counter.audit(&format!("{name}: {}", view.text));
    is_said(&counter, name).await;
    counter.shop.reader.run_script("after 0ms: flood nothing".parse().unwrap());
    counter.shop.reader.remove();
    counter.until_ready().await;
    counter.sell("next", "5.00", "tap", CardEntry::Tap).await;
    assert_eq!(ended(&counter.until_ended("next").await), Some(OutcomeWord::Approved), "{name}");
    counter.audit(name);
}
