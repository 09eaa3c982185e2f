//! A journal that someone removes or replaces while the agent runs. The agent charges nothing more on it and saves the
//! open transactions in a rescue journal.

use std::fs;
use std::path::{Path, PathBuf};

use crate::book::{
    NOON, asked, file, leave_open, open, open_journal, order, record, said, sell, sql, started, verb, well,
};
use crate::counter::{Counter, ended};
use pos_agent::till::{Attention, JournalState, SaleState, StatusView};
use pos_journal::{Error, Journal, Purpose, Rescued};
use pos_sim::reader::CardEntry::Tap;
use pos_sim::shop::Options;
use pos_terms::transaction::{OutcomeWord, Reference, SaleNumber};
use pos_test_kit::within;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Does what `rm journal.db*` does.
fn remove(journal: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{end}", journal.display())));
    }
}

/// Runs `pos-agent journal …` for a shop whose agent is stopped.
fn journal_verb(counter: &Counter, arguments: &[&str]) -> String {
    let config = counter.shop.config().display().to_string();
    let arguments: Vec<_> = arguments.iter().copied().chain(["--config", &config]).collect();
    let output = verb(&arguments, &counter.shop.folder().join("journal.db"));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    said(&output)
}

async fn is_refused(counter: &Counter, reference: &str, amount: &str) {
    let (status, body) = counter.begin(reference, amount).await;
    assert_eq!((status, body["code"].as_str()), (503, Some("journal")), "{body}");
}

/// Opens a shop with the approved sale R0.
async fn sold() -> Counter {
    let counter = Counter::open().await;
    counter.sell("R0", "1.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R0").await), Some(OutcomeWord::Approved));
    counter.until_ready().await;
    counter
}

#[tokio::test]
async fn nothing_is_charged_on_a_journal_that_was_removed() {
    let mut counter = sold().await;
    let folder = counter.shop.folder().to_owned();
    remove(&folder.join("journal.db"));
    is_refused(&counter, "R1", "2.00").await;
    let saved = |status: &StatusView| status.journal.text.contains("journal adopt");
    let status = counter.until_status("what was saved", saved).await;
    assert!(!status.ready && status.needs(Attention::JournalCannotBeWritten), "{status:?}");
    assert_eq!(status.journal.state, JournalState::CannotBeWritten);
    // The agent still reports what it knows.
    assert_eq!(ended(&counter.show("R0").await), Some(OutcomeWord::Approved));
    // After a start, the same reference is not charged again, although a new journal does not contain the old sales.
    counter.stop_agent().await;
    counter.start_agent();
    counter.until_status("the journal", |status| status.journal.state == JournalState::CannotBeWritten).await;
    is_refused(&counter, "R0", "1.00").await;
    assert_eq!(counter.charged(), ["1.00 EUR"]);
    // A person adopts the rescue journal.
    counter.stop_agent().await;
    let rescue = folder.join("journal-rescue.db");
    assert_eq!(well(&rescue).transactions, 1);
    journal_verb(&counter, &["adopt", rescue.to_str().unwrap()]);
    counter.start_agent();
    counter.until_ready().await;
    let (status, body) = counter.begin("R0", "1.00").await;
    assert_eq!((status, &body["replayed"]), (200, &json!(true)), "{body}");
    counter.sell("R1", "2.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.charged(), ["1.00 EUR", "2.00 EUR"]);
}

/// Checks that only a person can give up a lost journal, giving a name, when none of its files can be found.
#[tokio::test]
async fn a_journal_that_is_lost_is_given_up_by_a_person_alone() {
    let mut counter = sold().await;
    counter.stop_agent().await;
    remove(&counter.shop.folder().join("journal.db"));
    counter.start_agent();
    counter.until_status("the journal", |status| status.journal.state == JournalState::CannotBeWritten).await;
    is_refused(&counter, "R1", "2.00").await;
    counter.stop_agent().await;
    journal_verb(&counter, &["accept", "--by", "J. Doe"]);
    counter.start_agent();
    counter.until_ready().await;
    counter.sell("R1", "2.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    counter.stop_agent().await;
    let output = verb(
        &["accept", "--by", "J. Doe", "--config", &counter.shop.config().display().to_string()],
        &counter.shop.folder().join("journal.db"),
    );
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert_eq!(well(&counter.shop.folder().join("journal.db")).altered, None);
}

/// Checks a journal whose WAL was removed. The journal contains everything that was in the WAL, and the next start
/// finds all of it.
#[tokio::test]
async fn a_wal_that_was_removed_costs_nothing_but_a_start() {
    let mut counter = sold().await;
    fs::remove_file(counter.shop.folder().join("journal.db-wal")).unwrap();
    is_refused(&counter, "R1", "2.00").await;
    let saved = |status: &StatusView| status.journal.text.contains("nothing is lost: restart the agent");
    counter.until_status("what was saved", saved).await;
    counter.cut_power().await;
    counter.start_agent();
    counter.until_ready().await;
    let (status, body) = counter.begin("R0", "1.00").await;
    assert_eq!((status, &body["replayed"]), (200, &json!(true)), "{body}");
}

/// Checks that a mark in another folder stays when the journal's folder is emptied.
#[tokio::test]
async fn the_mark_lies_in_the_folder_of_the_configuration() {
    let elsewhere = TempDir::new().unwrap();
    let folder = format!("[journal]\nmark-folder = {:?}", elsewhere.path());
    let config = vec![("[journal]".to_owned(), folder)];
    let mut counter = Counter::open_with(Options { config, ..Options::default() }).await;
    counter.sell("R0", "1.00", "tap", Tap).await;
    counter.until_ended("R0").await;
    counter.until_ready().await;
    let marks = |folder: &Path| {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".sold")).count()
    };
    assert_eq!((marks(elsewhere.path()), marks(counter.shop.folder())), (1, 0));
    counter.stop_agent().await;
    remove(&counter.shop.folder().join("journal.db"));
    counter.start_agent();
    counter.until_status("the journal", |status| status.journal.state == JournalState::CannotBeWritten).await;
    is_refused(&counter, "R0", "1.00").await;
    assert_eq!(counter.charged(), ["1.00 EUR"]);
}

/// Checks that the agent goes on after its folder was moved away and back.
#[tokio::test]
async fn a_journal_that_is_put_back_is_the_journal_again() {
    let counter = sold().await;
    let (journal, wal) = (counter.shop.folder().join("journal.db"), counter.shop.folder().join("journal.db-wal"));
    let aside = |path: &Path| path.with_file_name(format!("aside-{}", path.file_name().unwrap().to_string_lossy()));
    for file in [&wal, &journal] {
        fs::rename(file, aside(file)).unwrap();
    }
    is_refused(&counter, "R1", "2.00").await;
    for file in [&wal, &journal] {
        fs::rename(aside(file), file).unwrap();
    }
    counter.until_ready().await;
    counter.sell("R1", "2.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.charged(), ["1.00 EUR", "2.00 EUR"]);
}

/// Checks that a commit fails after the files were removed, so the step releases no actions.
#[test]
fn a_commit_into_a_file_that_is_gone_is_no_commit() {
    for end in ["", "-wal"] {
        let dir = TempDir::new().unwrap();
        let mut db = open(&file(&dir));
        sell(&mut db, 1, "one", NOON);
        fs::remove_file(PathBuf::from(format!("{}{end}", file(&dir).display()))).unwrap();
        let error = db.write(SaleNumber::new(2), 0, NOON, &[started(2, "two")]).unwrap_err();
        assert!(matches!(error, Error::Gone { .. }), "{end}: {error}");
        assert!(error.to_string().contains("was removed"), "{end}: {error}");
    }
    // Another file with the same name is a different file.
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    let other = dir.path().join("other.db");
    drop(open(&other));
    fs::rename(&other, file(&dir)).unwrap();
    let error = db.write(SaleNumber::new(1), 0, NOON, &[started(1, "one")]).unwrap_err();
    assert!(error.to_string().contains("has become a different file"), "{error}");
}

/// Does what `cp old.db journal.db` does: the file stays the same, but its content is another journal.
#[test]
fn a_journal_that_somebody_writes_over_takes_no_more_commits_and_nothing_is_mixed_with_it() {
    let (dir, old) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    sell(&mut open(&file(&dir)), 1, "one", NOON);
    fs::copy(file(&dir), file(&old)).unwrap();
    let mut db = open(&file(&dir));
    for number in 2..=50 {
        sell(&mut db, number, &format!("r-{number}"), NOON);
    }
    assert!(db.checkpoint().unwrap(), "the agent's own copying is nobody else's");
    sell(&mut db, 51, "r-51", NOON);
    let theirs = fs::read(file(&old)).unwrap();
    fs::write(file(&dir), &theirs).unwrap();
    let error = db.write(SaleNumber::new(52), 0, NOON, &[started(52, "r-52")]).unwrap_err();
    assert!(matches!(error, Error::Gone { .. }) && error.to_string().contains("another program"), "{error}");
    let error = db.checkpoint().unwrap_err();
    assert!(matches!(error, Error::Gone { .. }), "{error}");
    assert!(fs::read(file(&dir)).unwrap() == theirs, "nothing of ours is written between");
}

/// Checks a journal that was overwritten with an equally new copy. All of it can still be read, so it is saved.
#[tokio::test]
async fn nothing_is_charged_on_a_journal_that_was_written_over() {
    let mut counter = sold().await;
    let journal = counter.shop.folder().join("journal.db");
    fs::write(&journal, fs::read(&journal).unwrap()).unwrap();
    is_refused(&counter, "R1", "2.00").await;
    let saved = |status: &StatusView| status.journal.text.contains("journal adopt");
    let status = counter.until_status("what was saved", saved).await;
    assert!(!status.ready && status.needs(Attention::JournalCannotBeWritten), "{status:?}");
    counter.stop_agent().await;
    remove(&journal);
    let rescue = counter.shop.folder().join("journal-rescue.db");
    journal_verb(&counter, &["adopt", rescue.to_str().unwrap()]);
    counter.start_agent();
    counter.until_ready().await;
    let (status, body) = counter.begin("R0", "1.00").await;
    assert_eq!((status, &body["replayed"]), (200, &json!(true)), "{body}");
    assert_eq!(counter.charged(), ["1.00 EUR"]);
}

/// Checks a journal that was overwritten with an older one. The agent would read a mixture of both, so it saves none of
/// it.
#[test]
fn what_somebody_else_has_written_between_is_not_saved_as_ours() {
    let (dir, old) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    sell(&mut open(&file(&dir)), 1, "one", NOON);
    fs::copy(file(&dir), file(&old)).unwrap();
    {
        let mut db = open(&file(&dir));
        for number in 2..=200 {
            sell(&mut db, number, &format!("r-{number}"), NOON);
        }
    }
    let (journal, _) = open_journal(&file(&dir)).unwrap();
    fs::write(file(&dir), fs::read(file(&old)).unwrap()).unwrap();
    let saved = journal.rescue(&[dir.path()], NOON);
    assert!(saved.is_err(), "{saved:?}");
    assert!(!dir.path().join("journal-rescue.db").exists());
}

/// Checks that a rescue journal contains only the open transactions and the latest of the others, and that closes are
/// not counted twice.
#[test]
fn a_rescue_journal_has_all_that_is_open_and_the_latest() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    leave_open(&mut db, 1, "open", NOON);
    for number in 2..=1100 {
        sell(&mut db, number, &format!("r-{number}"), NOON);
    }
    drop(db);
    let (journal, _) = open_journal(&file(&dir)).unwrap();
    remove(&file(&dir));
    let saved = journal.rescue(&[Path::new("/nowhere"), dir.path()], NOON).unwrap();
    let Rescued::Into(rescue) = saved else { panic!("{saved:?}") };
    assert_eq!(well(&rescue).transactions, 1001);
    let (again, opened) = open_journal(&rescue).unwrap();
    assert_eq!(opened.unsettled.len(), 1);
    assert_eq!(opened.last_number, SaleNumber::new(1100));
    let till = |reference: &str| again.find("till-1", &Reference::parse(reference.to_owned()).unwrap()).unwrap();
    assert!(till("open").is_some() && till("r-101").is_some() && till("r-100").is_none());
    // A second rescue is written next to the first.
    let saved = journal.rescue(&[dir.path()], NOON).unwrap();
    assert_eq!(saved, Rescued::Into(dir.path().join("journal-rescue-2.db")));
}

#[test]
fn training_is_not_adopted() {
    let dir = TempDir::new().unwrap();
    let (ours, training) = (file(&dir), dir.path().join("training.db"));
    sell(&mut open(&ours), 1, "one", NOON);
    trained(&training);
    let output = verb(&["adopt", training.to_str().unwrap()], &ours);
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert!(said(&output).contains("is a journal of training"), "{}", said(&output));
    assert_eq!(well(&ours).transactions, 1);
}

/// Writes a journal with an approved training sale, as an earlier version left it.
fn trained(path: &Path) {
    let mut order = order(1, "trained");
    order["training"] = json!("approved");
    let started = record(json!({"kind": "started", "order": order}));
    crate::book::end(&mut open(path), 1, started, NOON);
    sql(path, "ALTER TABLE about DROP COLUMN journal");
}

/// Checks that the agent refuses a training journal in place of the journal, and a journal of payments in training
/// mode. The message names the journal.
#[tokio::test]
async fn training_in_the_journals_place_is_refused() {
    let options = Options {
        config: vec![("[journal]".to_owned(), "[training]\nallowed = true\n\n[journal]".to_owned())],
        ..Options::default()
    };
    let mut counter = Counter::closed(options).await;
    let folder = counter.shop.folder().to_owned();
    trained(&folder.join("journal.db"));
    let output = run(&counter).await;
    assert_eq!(output.status.code(), Some(74), "{}", said(&output));
    assert!(said(&output).contains("is a journal of training"), "{}", said(&output));
    // A journal created for training says so even before its first training sale.
    remove(&folder.join("journal.db"));
    drop(Journal::open_for(&folder.join("journal.db"), Purpose::Training).unwrap());
    let output = run(&counter).await;
    assert!(said(&output).contains("is a journal of training"), "{}", said(&output));
    // The same applies to the reverse case.
    remove(&folder.join("journal.db"));
    sell(&mut open(&folder.join("training.db")), 1, "one", NOON);
    counter.start_agent();
    counter.until_ready().await;
    let (status, body) = counter.ask(json!({ "reference": "T1", "amount": "1.00", "training": "approved" })).await;
    assert_eq!((status, body["code"].as_str()), (503, Some("journal")), "{body}");
    assert!(body.to_string().contains("is a journal of payments"), "{body}");
}

async fn run(counter: &Counter) -> std::process::Output {
    let mut agent = tokio::process::Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    agent.arg("run").arg("--config").arg(counter.shop.config()).kill_on_drop(true);
    within("the end of run", agent.output()).await.unwrap()
}

/// Checks a journal into which an earlier version adopted training transactions. No transaction can follow a training
/// transaction, by any name, and an open training transaction is never sent.
#[tokio::test]
async fn nothing_follows_what_was_trained_wherever_it_comes_from() {
    let mut counter = Counter::closed(Options::default()).await;
    let journal = counter.shop.folder().join("journal.db");
    let payment = format!("training{:0>24}", 2);
    {
        let mut db = open(&journal);
        sell(&mut db, 1, "real", NOON);
        let trained = |number: u64, kind: Value| {
            let mut order = order(number, &format!("T{number}"));
            order["till"] = json!("local");
            order["training"] = json!("approved");
            order["kind"] = kind;
            record(json!({"kind": "started", "order": order}))
        };
        let ended = record(
            json!({"kind": "ended", "outcome": {"is": "approved"}, "host": {"id": payment, "code": "000.000.000"}}),
        );
        for (number, kind) in [(2, json!({"is": "sale"})), (3, json!({"is": "pre-authorisation"}))] {
            db.write(SaleNumber::new(number), 0, NOON, &[trained(number, kind)]).unwrap();
            db.write(SaleNumber::new(number), 1, NOON, &[asked()]).unwrap();
            db.write(SaleNumber::new(number), 2, NOON, std::slice::from_ref(&ended)).unwrap();
        }
        // A training sale is open, and so is a refund that an earlier version accepted.
        db.write(SaleNumber::new(4), 0, NOON, &[trained(4, json!({"is": "sale"}))]).unwrap();
        db.write(SaleNumber::new(4), 1, NOON, &[asked()]).unwrap();
    }
    counter.start_agent();
    counter.until_ready().await;
    for (kind, of) in [
        ("refund", json!("T2")),
        ("reversal", json!("T2")),
        ("capture", json!("T3")),
        ("increment", json!("T3")),
        ("reauthorisation", json!("T3")),
    ] {
        for of in
            [json!({ "of": of }), json!({ "number": if of == "T2" { 2 } else { 3 } }), json!({ "payment": payment })]
        {
            let mut body = json!({ "reference": format!("F-{kind}"), "kind": kind, "amount": "1.00" });
            body.as_object_mut().unwrap().extend(of.as_object().unwrap().clone());
            let (status, refused) = counter.ask(body.clone()).await;
            assert_eq!(status, 422, "{body}: {refused}");
            assert!(refused.to_string().contains("training"), "{body}: {refused}");
        }
    }
    let status = counter.status().await;
    let left = status.attention.iter().find(|one| one.code == Attention::SaleNeedsPerson);
    assert!(left.is_some_and(|one| one.text.contains("it was made in training mode")), "{:?}", status.attention);
    let asked = counter.shop.gateway.ledger().entries().len();
    assert_eq!(asked, 0, "nothing of training is at the gateway");
}

/// Checks that the agent leaves another terminal's open sale alone: it neither looks the sale up nor reverses it with
/// its own access.
#[tokio::test]
async fn an_open_sale_of_another_terminal_is_left_alone() {
    let mut counter = Counter::closed(Options::default()).await;
    let journal = counter.shop.folder().join("journal.db");
    {
        let mut order = order(1, "theirs");
        (order["terminalId"], order["till"]) = (json!("99999999"), json!("local"));
        let mut db = open(&journal);
        db.write(SaleNumber::new(1), 0, NOON, &[record(json!({"kind": "started", "order": order}))]).unwrap();
        db.write(SaleNumber::new(1), 1, NOON, &[asked()]).unwrap();
        db.write(SaleNumber::new(1), 2, NOON, &[crate::book::reversing()]).unwrap();
    }
    counter.start_agent();
    counter.until_ready().await;
    let status = counter.status().await;
    let left = status.attention.iter().find(|one| one.code == Attention::SaleNeedsPerson);
    assert!(left.is_some_and(|one| one.text.contains("terminal 99999999 made it")), "{:?}", status.attention);
    assert_eq!(counter.show("theirs").await.state, SaleState::Unconfirmed);
}

/// Checks that a training journal is neither opened as a journal of payments nor adopted. Its mark shows its purpose,
/// and so do its transactions.
#[test]
fn a_journal_of_training_is_no_journal_of_payments() {
    let dir = TempDir::new().unwrap();
    let (ours, theirs, new) = (file(&dir), dir.path().join("earlier.db"), dir.path().join("new.db"));
    sell(&mut open(&ours), 1, "one", NOON);
    trained(&theirs);
    drop(Journal::open_for(&new, Purpose::Training).unwrap());
    for training in [theirs, new] {
        let error = Journal::open(&training).map(drop).unwrap_err();
        assert!(matches!(error, Error::OfAnotherPurpose { found: Purpose::Training, .. }), "{error}");
        let error = pos_journal::adopt(&ours, &training, None, NOON).unwrap_err();
        assert!(matches!(error, Error::NotAdopted { .. }), "{error}");
    }
    let error = Journal::open_for(&ours, Purpose::Training).map(drop).unwrap_err();
    assert!(matches!(error, Error::OfAnotherPurpose { found: Purpose::Payments, .. }), "{error}");
}
