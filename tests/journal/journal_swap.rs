//! Two ways in which a board receives an earlier journal.
//!
//! In the first, a board is swapped while a reversal is open. The new board adopts the old board's journal, resolves
//! the open transactions with the real gateway, and knows the tills' references. In the second, a journal is restored
//! from a backup that was made during a sale. If the agent has meanwhile reported this sale as approved to the till,
//! the restored journal must not reverse it.

use std::fs;
use std::path::PathBuf;

use crate::book::{said, verb, verb_beside_the_agent, well};
use crate::counter::{Counter, ended};
use easy_ext::ext;
use pos_agent::till::{Attention, GatewayState, SaleState};
use pos_sim::gateway::Kind;
use pos_sim::reader::CardEntry;
use pos_sim::reader::CardEntry::Tap;
use pos_sim::shop::Options;
use pos_terms::transaction::{OutcomeWord, SaleNumber};
use pos_test_kit::within;
use serde_json::Value;

#[tokio::test]
async fn a_new_board_settles_what_the_old_one_left_open() {
    let mut options = Options::default();
    options.config.push(("answer-timeout-ms = 10000".to_owned(), "answer-timeout-ms = 3000".to_owned()));
    let mut counter = Counter::open_with(options).await;
    counter.sell("r-0", "1.00", "tap", CardEntry::Tap).await;
    counter.until_ended("r-0").await;
    counter.shop.reader.remove();
    counter.until_ready().await;
    // The reversal is approved, but the answer is lost.
    counter.sell("r-1", "10.71", "tap", CardEntry::Tap).await;
    let asked = async {
        while !counter.kept().last().unwrap().asked() || counter.charged().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    pos_test_kit::within("the payment at the gateway", asked).await;
    // The power is cut. Only what is on the disk at this moment remains.
    let folder = counter.shop.folder().to_owned();
    let old = folder.join("old");
    std::fs::create_dir(&old).unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        std::fs::copy(folder.join(name), old.join(name)).unwrap();
    }
    counter.cut_power().await;
    counter.shop.reader.remove();

    // The new board makes sales before a person remembers the old one.
    std::fs::remove_file(folder.join("journal.db")).unwrap();
    // The new board has none of the old board's files.
    std::fs::remove_file(folder.join("12345678.sold")).unwrap();
    let before = [std::fs::read(old.join("journal.db")).unwrap(), std::fs::read(old.join("journal.db-wal")).unwrap()];
    counter.start_agent();
    counter.until_ready().await;
    counter.sell("n-1", "2.00", "tap", CardEntry::Tap).await;
    counter.until_ended("n-1").await;
    counter.shop.reader.remove();
    counter.until_ready().await;
    let (journal, file) = (folder.join("journal.db"), old.join("journal.db"));
    let adopt = ["adopt", file.to_str().unwrap(), "--config", &counter.shop.config().display().to_string()];
    let output = verb_beside_the_agent(&adopt, &journal);
    assert_eq!(output.status.code(), Some(74), "the agent runs: {}", said(&output));
    assert!(said(&output).contains("in use by another pos-agent; stop that one first"), "{}", said(&output));
    counter.stop_agent().await;
    let output = verb(&adopt, &journal);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("open: r-1 of till local"), "{}", said(&output));
    let after = [std::fs::read(&file).unwrap(), std::fs::read(old.join("journal.db-wal")).unwrap()];
    assert!(before == after, "the old board's files are as they were");

    counter.start_agent();
    counter.until_ready().await;
    let view = counter.until_ended("r-1").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "what was charged and lost is taken back");
    assert_eq!(counter.charged(), ["1.00 EUR", "2.00 EUR"]);
    // A till that repeats an old reference gets the old sale. The next number is above both journals' numbers.
    let (status, body) = counter.begin("r-0", "1.00").await;
    assert_eq!((status, &body["replayed"], &body["number"]), (200, &true.into(), &2.into()), "{body}");
    let (status, body) = counter.begin("n-2", "3.00").await;
    assert_eq!((status, &body["number"]), (201, &4.into()), "{body}");

    // Both verbs work while the agent runs.
    let output = verb_beside_the_agent(&["verify"], &journal);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = verb_beside_the_agent(&["export"], &journal);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let references: Vec<_> = lines.iter().filter_map(|line| line["reference"].as_str()).collect();
    assert_eq!(references, ["n-1", "r-0", "r-1", "n-2"]);
    assert_eq!((&lines[2]["outcome"], &lines[4]["end"]), (&"reversed".into(), &true.into()), "{text}");
    assert_eq!(counter.show("n-2").await.state, SaleState::WaitingForCard, "nobody was disturbed");
    counter.cut_power().await;
    assert_eq!(well(&journal).transactions, 4);
    let output = verb(&adopt, &journal);
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert!(said(&output).contains("was already taken over"), "{}", said(&output));
}

/// The journal and its WAL as they are on the disk at one moment.
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

/// Checks a copy that is restored and started before any sale. The agent finds its missing numbers again, and new
/// numbers stay above them.
#[tokio::test]
async fn what_was_found_missing_stays_known_after_a_start_without_a_sale() {
    let mut counter = restored().await;
    counter.stop_agent().await;
    counter.start_agent();
    counter.until_ready().await;
    assert!(counter.show("R1").await.needs_person.is_some());
    counter.sell("R3", "5.00", "tap", Tap).await;
    assert_eq!(counter.until_ended("R3").await.number, SaleNumber::new(5));
    assert_eq!(reversals(&counter), 0);
}

#[ext(Refunds)]
impl Counter {
    /// Requests a full refund of R0.
    async fn refund(&self, reference: &str) -> (u16, Value) {
        self.post_sale(&format!(r#"{{"reference":"{reference}","kind":"refund","of":"R0"}}"#)).await
    }
}

fn reversals(counter: &Counter) -> usize {
    counter.shop.gateway.ledger().entries().iter().filter(|entry| entry.kind == Kind::Reversal).count()
}

/// Sells R1, which is approved after a while, and then R2. The terminal then starts from a copy that was made while R1
/// was being sent.
async fn restored() -> Counter {
    let mut counter = Counter::open().await;
    counter.sell("R0", "20.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R0").await), Some(OutcomeWord::Approved));
    counter.until_ready().await;
    // R1 is pending at first: the gateway holds the payment, and the journal knows that the request was sent.
    counter.sell("R1", "10.61", "tap", Tap).await;
    within("the gateway's book", async {
        while counter.shop.gateway.ledger().entries().len() < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let backup = Backup::of(&counter);
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    counter.until_ready().await;
    counter.sell("R2", "12.34", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(OutcomeWord::Approved));
    let (status, body) = counter.refund("F0").await;
    assert_eq!(status, 201, "{body}");
    assert_eq!(ended(&counter.until_ended("F0").await), Some(OutcomeWord::Approved));
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
    assert!(status.needs(Attention::JournalOldCopy), "{:?}", status.attention);
    let todo = counter.show("R1").await.needs_person.unwrap();
    assert!(
        todo.contains("without the outcome: 2.") && todo.contains("pos-agent settle NUMBER --keep or --reverse"),
        "{todo}"
    );
    // R0 was refunded under this reference after the copy was made. It is not refunded again.
    let (status, body) = counter.refund("F0").await;
    assert_eq!(status, 422, "{body}");
    assert!(body.to_string().contains("back office"), "{body}");

    // The numbers continue above the missing ones, and sales go on.
    counter.sell("R3", "5.00", "tap", Tap).await;
    let sold = counter.until_ended("R3").await;
    assert_eq!((ended(&sold), sold.number.get()), (Some(OutcomeWord::Approved), 5));

    // The result is the same after another start. Sales since then need no decision.
    counter.until_ready().await;
    counter.stop_agent().await;
    counter.start_agent();
    counter.until_ready().await;
    assert!(counter.show("R1").await.needs_person.is_some());
    assert_eq!(reversals(&counter), 0);
    assert_eq!(counter.refund("F0").await.0, 422);

    let settled = counter.verb(&["settle", "2", "--keep"]).await.unwrap();
    assert_eq!(settled.status.code(), Some(0), "{settled:?}");
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    assert_eq!((reversals(&counter), counter.charged().len()), (0, 3));
    // A decision can be made only once.
    let again = counter.verb(&["settle", "2", "--reverse"]).await.unwrap();
    assert_eq!(again.status.code(), Some(65), "{again:?}");
    assert_eq!(counter.charged(), ["10.61 EUR", "12.34 EUR", "5.00 EUR"]);
}

#[tokio::test]
async fn a_person_has_it_reversed() {
    let counter = restored().await;
    let settled = counter.verb(&["settle", "2", "--reverse"]).await.unwrap();
    assert_eq!(settled.status.code(), Some(0), "{settled:?}");
    let view = counter.until_ended("R1").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{}", view.text);
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

/// Checks that an intact journal delays no till, and that a reversal waits if the gateway cannot be reached at the
/// start.
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
    assert_eq!(counter.show("R1").await.state, SaleState::Unconfirmed);
    counter.shop.gateway.set_offline(false).await.unwrap();
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Reversed));
    assert!(counter.status().await.attention.iter().all(|one| !one.text.contains("old copy")));
    assert_eq!(counter.charged(), Vec::<String>::new());
}

/// Checks a board that immediately replaces another one, with an empty journal. Earlier payments at the gateway do not
/// belong to it.
#[tokio::test]
async fn a_board_that_takes_anothers_place_is_no_old_copy() {
    let mut counter = Counter::open().await;
    // Seconds pass between the two boards, which is more than the resolution of the gateway's time.
    counter.shop.gateway.set_clock(chrono::Utc::now() - chrono::TimeDelta::minutes(2));
    counter.sell("R0", "1.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R0").await), Some(OutcomeWord::Approved));
    counter.stop_agent().await;
    counter.shop.gateway.set_clock(chrono::Utc::now());
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "12345678.sold"] {
        let _ = std::fs::remove_file(counter.shop.folder().join(name));
    }
    counter.start_agent();
    counter.until_ready().await;
    counter.until_status("the gateway's time", |status| status.gateway.state == GatewayState::Answers).await;
    counter.sell("R1", "20.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    counter.stop_agent().await;
    counter.start_agent();
    counter.until_ready().await;
    let refund = async {
        // Requests are refused until the look-up by date is answered.
        let body = r#"{"reference":"F1","kind":"refund","of":"R1","amount":"5.00"}"#;
        loop {
            match counter.post_sale(body).await {
                (503, _) => tokio::task::yield_now().await,
                (status, said) => break assert_eq!(status, 201, "{said}"),
            }
        }
    };
    within("the refund", refund).await;
    assert_eq!(ended(&counter.until_ended("F1").await), Some(OutcomeWord::Approved));
    let attention = counter.until_status("ready", |status| status.ready).await.attention;
    assert!(!attention.iter().any(|one| one.text.contains("old copy")), "{attention:?}");
}
