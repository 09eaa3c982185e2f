//! A journal that is an old copy of itself: restored while a sale was open in it, after its board had gone on. What a till was told is
//! approved may not be reversed by it. The real agent, the real command line, a real file.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod counter;

use std::fs;
use std::path::PathBuf;

use counter::{Counter, ended, within};
use pos_agent::sim::gateway::Kind;
use pos_agent::sim::reader::Entry::Tap;
use pos_agent::till::{Outcome, State};

/// The journal with its WAL, as they are on the disk now.
struct Backup(Vec<(PathBuf, Vec<u8>)>);

impl Backup {
    fn of(counter: &Counter) -> Self {
        let files = ["journal.db", "journal.db-wal"].map(|name| counter.shop.folder().join(name));
        Self(files.map(|file| (file.clone(), fs::read(&file).unwrap())).into())
    }

    fn restore(&self) {
        for (file, bytes) in &self.0 {
            fs::write(file, bytes).unwrap();
        }
        let _ = fs::remove_file(self.0[0].0.with_extension("db-shm"));
    }
}

fn reversals(counter: &Counter) -> usize {
    counter.shop.gateway.ledger().entries().iter().filter(|entry| entry.kind == Kind::Reversal).count()
}

/// R1 is approved after a while and R2 after it; the terminal then starts from a copy in which R1 was being asked for.
async fn restored() -> Counter {
    let mut counter = Counter::open().await;
    // Pending at first: the gateway holds it, and the journal knows that it was asked for.
    counter.sell("R1", "10.61", "tap", Tap).await;
    within("the gateway's book", async {
        while counter.shop.gateway.ledger().entries().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let backup = Backup::of(&counter);
    assert_eq!(ended(&counter.until_ended("R1").await), Some(Outcome::Approved));
    counter.until_ready().await;
    counter.sell("R2", "12.34", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(Outcome::Approved));
    counter.stop_agent().await;
    backup.restore();
    counter.start_agent();
    counter.until_ready().await;
    counter.until("R1", "the open sale waiting for a person", |view| view.needs_person.is_some()).await;
    counter
}

#[tokio::test]
async fn what_was_told_approved_is_not_reversed_by_an_old_copy_and_a_person_keeps_it() {
    let mut counter = restored().await;
    assert_eq!(reversals(&counter), 0);
    let status = counter.until_status("ready", |status| status.ready).await;
    assert!(status.attention.iter().any(|line| line.contains("this journal is an old copy")), "{:?}", status.attention);
    assert!(counter.show("R1").await.needs_person.unwrap().contains("pos-agent settle 1 --keep, or --reverse"));

    // Numbers go on above those that are missing, and selling goes on.
    counter.sell("R3", "5.00", "tap", Tap).await;
    let sold = counter.until_ended("R3").await;
    assert_eq!((ended(&sold), sold.number), (Some(Outcome::Approved), 3));

    // A start later it is the same, and what was sold since is nobody's to decide.
    counter.until_ready().await;
    counter.stop_agent().await;
    counter.start_agent();
    counter.until_ready().await;
    assert!(counter.show("R1").await.needs_person.is_some());
    assert_eq!(reversals(&counter), 0);

    let settled = counter.verb(&["settle", "1", "--keep"]).await.unwrap();
    assert_eq!(settled.status.code(), Some(0), "{settled:?}");
    assert_eq!(ended(&counter.until_ended("R1").await), Some(Outcome::Approved));
    assert_eq!((reversals(&counter), counter.charged().len()), (0, 3));
    // Once.
    let again = counter.verb(&["settle", "1", "--reverse"]).await.unwrap();
    assert_eq!(again.status.code(), Some(65), "{again:?}");
    assert_eq!(counter.charged(), ["10.61 EUR", "12.34 EUR", "5.00 EUR"]);
}

#[tokio::test]
async fn a_person_has_it_reversed() {
    let counter = restored().await;
    let settled = counter.verb(&["settle", "1", "--reverse"]).await.unwrap();
    assert_eq!(settled.status.code(), Some(0), "{settled:?}");
    let view = counter.until_ended("R1").await;
    assert_eq!(ended(&view), Some(Outcome::Declined));
    assert!(view.text.contains("reversed"), "{}", view.text);
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

/// A journal that is whole makes nobody wait, and a reversal waits for a gateway that is away at the start.
#[tokio::test]
async fn a_whole_journal_reverses_what_is_open_as_soon_as_the_gateway_can_be_asked() {
    let mut counter = Counter::open().await;
    counter.sell("R1", "10.61", "tap", Tap).await;
    within("the gateway's book", async {
        while counter.shop.gateway.ledger().entries().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    counter.cut_power().await;
    counter.shop.gateway.set_offline(true).await.unwrap();
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(counter.show("R1").await.state, State::Unconfirmed);
    counter.shop.gateway.set_offline(false).await.unwrap();
    assert_eq!(ended(&counter.until_ended("R1").await), Some(Outcome::Declined));
    assert!(counter.status().await.attention.iter().all(|line| !line.contains("old copy")));
    assert_eq!(counter.charged(), Vec::<String>::new());
}
