//! A board is swapped while a reversal is open: the new board takes over the journal of the old one, settles what is open with the real
//! gateway, and knows the references of tills.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

#[path = "support/book.rs"]
mod book;
mod counter;

use book::{said, verb, well};
use counter::{Counter, ended};
use pos_agent::sim::reader::Entry;
use pos_agent::sim::shop::Options;
use pos_agent::till::{Outcome, State};
use serde_json::Value;

#[tokio::test]
async fn a_new_board_settles_what_the_old_one_left_open() {
    let mut options = Options::default();
    options.config.push(("answer-timeout-ms = 10000".to_owned(), "answer-timeout-ms = 3000".to_owned()));
    let mut counter = Counter::open_with(options).await;
    counter.sell("r-0", "1.00", "tap", Entry::Tap).await;
    counter.until_ended("r-0").await;
    counter.shop.reader.remove();
    counter.until_ready().await;
    // Approved, and the answer is lost.
    counter.sell("r-1", "10.71", "tap", Entry::Tap).await;
    let asked = async {
        while !counter.kept().last().unwrap().asked() || counter.charged().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    counter::within("the payment at the gateway", asked).await;
    // The power is cut: what is on the disk in this moment is all there is.
    let folder = counter.shop.folder().to_owned();
    let old = folder.join("old");
    std::fs::create_dir(&old).unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        std::fs::copy(folder.join(name), old.join(name)).unwrap();
    }
    counter.cut_power().await;
    counter.shop.reader.remove();

    // The new board has sold on its own before somebody thinks of the old one.
    std::fs::remove_file(folder.join("journal.db")).unwrap();
    let before = [std::fs::read(old.join("journal.db")).unwrap(), std::fs::read(old.join("journal.db-wal")).unwrap()];
    counter.start_agent();
    counter.until_ready().await;
    counter.sell("n-1", "2.00", "tap", Entry::Tap).await;
    counter.until_ended("n-1").await;
    counter.shop.reader.remove();
    counter.until_ready().await;
    let (journal, file) = (folder.join("journal.db"), old.join("journal.db"));
    let adopt = ["adopt", file.to_str().unwrap(), "--config", &counter.shop.config().display().to_string()];
    let output = verb(&adopt, &journal);
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
    assert_eq!(ended(&view), Some(Outcome::Declined), "what was charged and lost is taken back");
    assert_eq!(counter.charged(), ["1.00 EUR", "2.00 EUR"]);
    // A till that repeats an old reference hears the old sale, and the next number is above both.
    let (status, body) = counter.begin("r-0", "1.00").await;
    assert_eq!((status, &body["replayed"], &body["number"]), (200, &true.into(), &2.into()), "{body}");
    let (status, body) = counter.begin("n-2", "3.00").await;
    assert_eq!((status, &body["number"]), (201, &4.into()), "{body}");

    // Beside the running agent.
    let output = verb(&["verify"], &journal);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = verb(&["export"], &journal);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let references: Vec<_> = lines.iter().filter_map(|line| line["reference"].as_str()).collect();
    assert_eq!(references, ["n-1", "r-0", "r-1", "n-2"]);
    assert_eq!((&lines[2]["outcome"], &lines[4]["end"]), (&"reversed".into(), &true.into()), "{text}");
    assert_eq!(counter.show("n-2").await.state, State::WaitingForCard, "nobody was disturbed");
    counter.cut_power().await;
    assert_eq!(well(&journal).transactions, 4);
    let output = verb(&adopt, &journal);
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert!(said(&output).contains("was taken over already"), "{}", said(&output));
}
