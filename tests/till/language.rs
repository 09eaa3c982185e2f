//! A terminal whose language is German: the texts that a till, a cashier and a technician read over the real socket.

use std::time::Duration;

use pos_agent::till::Attention;
use pos_sim::shop::Options;
use pos_test_kit::within;

use crate::counter::Counter;

async fn in_german() -> Counter {
    let mut options = Options::default();
    options.config.push(("[terminal]".to_owned(), "[terminal]\nlanguage = \"de\"".to_owned()));
    Counter::open_with(options).await
}

#[tokio::test]
async fn refusals_and_the_status_are_in_the_terminals_language() {
    let counter = in_german().await;
    counter.until_ready().await;
    let status = counter.status().await;
    assert_eq!((status.clock.text.as_str(), status.journal.text.as_str()), ("die des Terminals", "wird geschrieben"));
    // The terminal's settings forbid the first request. An earlier sale of the same till forbids the second.
    let (status, refused) = counter.begin_in("R1", "12.34", "USD").await;
    assert_eq!((status, refused["code"].as_str()), (422, Some("currency")), "{refused}");
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with("USD kann nicht belastet werden: dieses Terminal nimmt nur EUR;"), "{detail}");
    assert_eq!(counter.begin("R2", "12.34").await.0, 201);
    let (status, refused) = counter.begin("R2", "99.99").await;
    let detail = refused["detail"].as_str().unwrap();
    assert_eq!((status, refused["code"].as_str()), (409, Some("amount-differs")), "{refused}");
    assert!(detail.contains("gehört schon zu einem anderen Vorgang (KARTENZAHLUNG 12,34 EUR)"), "{detail}");
    let (_, refused) = counter.begin("R3", "1.00").await;
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with("das Terminal ist mit dem Vorgang R2 der Kasse local beschäftigt"), "{detail}");

    // The reader's own words follow the sentence about its state. The command-line program prints both.
    counter.shop.reader.unplug();
    let absent = within("the absent reader", async {
        loop {
            let status = counter.status().await;
            if let Some(one) = status.attention.into_iter().find(|one| one.code == Attention::ReaderAbsent) {
                return one.text;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(absent.starts_with("der Kartenleser ist nicht zu finden: no reader at "), "{absent}");
    let output = within("the program", counter.verb(&["status"])).await.unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("der Kartenleser ist nicht zu finden: "), "{shown}");
    counter.until_ended("R2").await;
    let (status, refused) = counter.begin("R4", "1.00").await;
    let detail = refused["detail"].as_str().unwrap();
    assert_eq!((status, refused["code"].as_str()), (503, Some("not-ready")), "{refused}");
    assert!(detail.starts_with("das geht jetzt nicht: der Kartenleser ist nicht zu finden: "), "{detail}");
}

/// Checks that refusals before any command (wrong path, missing rights) are in German too.
#[tokio::test]
async fn what_is_refused_before_a_command_is_in_the_terminals_language() {
    let counter = in_german().await;
    let (status, refused) = counter.get("/v1/sales/R9").await;
    assert_eq!(status, 404, "{refused}");
    assert_eq!(refused["detail"], "die Kasse local hat keinen Vorgang mit der Referenz R9");
    let (status, refused) = counter.get("/v1/sales/R9?till=till-1").await;
    let detail = refused["detail"].as_str().unwrap();
    assert!(status == 404 && detail.contains("die Kasse till-1"), "{refused}");
    let (status, refused) = counter.post("/v1/status").await;
    assert_eq!((status, refused["code"].as_str()), (405, Some("method-not-allowed")), "for a developer: {refused}");
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("use GET to read")), "{refused}");
}
