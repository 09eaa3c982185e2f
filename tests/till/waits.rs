//! The reason for each wait of a sale, and its duration, as a page shows them: in the view, in the events, and after a
//! reload.

use pos_agent::till::{SaleState, SaleView};
use pos_sim::reader::CardEntry::Insert;
use pos_sim::reader::card;
use pos_sim::shop::Options;
use pos_test_kit::within;
use serde_json::json;

use crate::counter::Counter;

/// Returns the remaining and the total time of a wait, if the view reports one.
fn wait(view: &SaleView) -> Option<(u64, u64)> {
    let told = (view.until.is_some(), view.left_s.is_some(), view.wait_s.is_some());
    assert!(told == (true, true, true) || told == (false, false, false), "{view:?}");
    view.left_s.zip(view.wait_s)
}

#[tokio::test]
async fn each_wait_says_how_much_of_it_is_left_and_a_reload_shows_the_last_step() {
    let mut options = Options::default();
    options.reader.removes_card = true;
    let limits = "[terminal]\ntill-confirm-s = 600";
    options.config.push(("[terminal]".to_owned(), limits.to_owned()));
    let counter = Counter::open_with(options).await;
    let mut ears = counter.listen().await;
    let body = json!({ "reference": "R1", "amount": "12.34", "confirm": "till" });
    assert_eq!(counter.ask(body).await.0, 201);
    let asked = counter.until("R1", "the card", |view| view.step.as_deref() == Some("present-card")).await;
    let (left, all) = wait(&asked).expect("a card is waited for");
    assert!(all > 5 && (1..=all).contains(&left), "{asked:?}");
    // The status, which a page reads first, shows the same.
    let current = counter.status().await.current.unwrap();
    assert_eq!((current.step.as_deref(), current.wait_s), (Some("present-card"), Some(all)));
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    let to_confirm = counter.until("R1", "its confirmation", |view| view.state == SaleState::AwaitingTill).await;
    let (left, all) = wait(&to_confirm).expect("the till is waited for");
    assert!(all == 600 && (500..=600).contains(&left), "{to_confirm:?}");
    assert_eq!(to_confirm.until.as_ref().map(String::len), Some("2026-11-20T12:35:56Z".len()));
    let step = within("the step", async {
        loop {
            if let Some(step) = ears.hear().await.into_iter().find(|step| step.step == "confirm-needed") {
                return step;
            }
        }
    });
    let told = step.await.sale.unwrap();
    assert_eq!((told.step.as_deref(), told.wait_s), (Some("confirm-needed"), Some(600)));
    assert_eq!(counter.confirm("R1", json!({ "taken": "all" })).await.0, 200);
    let ended = counter.until_ended("R1").await;
    assert_eq!((wait(&ended), ended.step), (None, None));
    // The wait for the gateway includes its time limit, which begins with the request. While the card works there is no
    // wait.
    let asked = ears.heard.iter().filter(|step| step.step == "authorising").filter_map(|step| step.sale.as_ref());
    assert!(asked.clone().count() > 0 && asked.clone().all(|sale| wait(sale).is_some()), "{:?}", ears.heard);
}
