//! The journal in a real SQLite file. A written step survives a power failure, and an unwritten step does not appear.
//! The agent refuses a file that it cannot trust and names it.

use std::time::Duration;

use pos_core::book::commit;
use pos_core::transaction::{Action, Answer, Deadlines, Event, Now, Order, Standing, Transaction};
use pos_journal::{Error, Journal};
use pos_terms::card::{CardFacts, EntryMode, FirstAnswer};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Operation, Reference, SaleNumber};
use tempfile::TempDir;

const DEADLINES: Deadlines = Deadlines {
    refuses_repeats: false,
    lists_registrations: true,
    pending: Duration::from_secs(40),
    resend: Duration::from_secs(180),
    absence_final: Duration::from_secs(86_400),
    signature: None,
    till: Duration::ZERO,
};

fn now() -> Now {
    Now { monotonic: Duration::from_secs(1), unix_ms: 1_800_000_000_000 }
}

fn order(number: u64, reference: &str) -> Order {
    Order {
        operation: Operation::Sale,
        parameters: Vec::new(),
        number: SaleNumber::new(number),
        till: "till-1".to_owned(),
        reference: Reference::parse(reference).unwrap(),
        by: None,
        amount: Amount::from_minor(1234, Currency::from_code("EUR").unwrap()).unwrap(),
        ask_tip: false,
        manual: false,
        chip_alone: false,
        accept_partial: false,
        till_confirms: None,
        gives_rest: false,
        till_prints: false,
        till_data: Default::default(),
        tip: None,
        training: None,
        terminal_id: "12345678".to_owned(),
        account: None,
        merchant_transaction_id: format!("12345678-{number}-00112233445566778899aabbccddeeff"),
        started_unix_ms: 1_800_000_000_000,
        local_time: "2027-01-15 09:00:00".to_owned(),
    }
}

fn read() -> Event {
    let facts = CardFacts {
        entry: EntryMode::Icc,
        pan: None,
        pan_sequence_number: None,
        aid: None,
        label: None,
        cvm: None,
        cryptogram: None,
        tvr: None,
        tsi: None,
        iad: None,
    };
    Event::CardRead { facts, first_answer: FirstAnswer::GoOnline }
}

fn begin(journal: &mut Journal, number: u64, reference: &str) -> Result<Transaction, Error> {
    let (mut sale, step) = Transaction::begin(order(number, reference));
    commit(journal, now().unix_ms, &mut sale, step)?;
    Ok(sale)
}

fn on(journal: &mut Journal, sale: &mut Transaction, event: Event) -> Vec<Action> {
    let step = sale.handle(event, now(), DEADLINES);
    commit(journal, now().unix_ms, sale, step).unwrap().0
}

fn file(dir: &TempDir) -> std::path::PathBuf {
    dir.path().join("journal.db")
}

#[tokio::test]
async fn open_sales_are_found_again_and_settled_ones_are_not() {
    let dir = TempDir::new().unwrap();
    {
        let (mut journal, opened) = Journal::open(&file(&dir)).unwrap();
        assert_eq!((opened.unsettled.len(), opened.last_number.get(), opened.last_unix_ms), (0, 0, 0));
        let mut asked = begin(&mut journal, 1, "asked").unwrap();
        assert_eq!(on(&mut journal, &mut asked, read()), [Action::Ask, Action::Tell]);
        let mut ended = begin(&mut journal, 2, "ended").unwrap();
        on(&mut journal, &mut ended, Event::NoCard { why: "no card".into() });
    }
    let (mut journal, opened) = Journal::open(&file(&dir)).unwrap();
    assert_eq!((opened.unsettled.len(), opened.last_number.get()), (1, 2));
    assert_eq!(opened.last_unix_ms, 1_800_000_000_000);
    let mut asked = opened.unsettled.into_iter().next().unwrap();
    assert_eq!(asked.standing(), Standing::InProgress);
    let query = Action::Query { references: vec![asked.order().merchant_transaction_id.clone()] };
    assert_eq!(on(&mut journal, &mut asked, Event::Restarted), [Action::Tell, query]);
    let ended = journal.find("till-1", &Reference::parse("ended").unwrap()).unwrap().unwrap();
    assert!(matches!(ended.standing(), Standing::Ended(_)));
    assert!(
        journal.find("till-2", &Reference::parse("ended").unwrap()).unwrap().is_none(),
        "a till's references are its own"
    );
    let listed = journal.list(None, SaleNumber::new(1), 10).await.unwrap();
    assert_eq!(listed.iter().map(|sale| sale.order().number).collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn one_reference_of_a_till_is_one_sale() {
    let dir = TempDir::new().unwrap();
    let (mut journal, _) = Journal::open(&file(&dir)).unwrap();
    begin(&mut journal, 1, "R").unwrap();
    assert!(matches!(begin(&mut journal, 2, "R"), Err(Error::Failed { .. })), "the disk itself refuses a second one");
    assert!(matches!(begin(&mut journal, 1, "S"), Err(Error::Failed { .. })), "and a number given twice");
}

#[tokio::test]
async fn an_unwritable_step_gives_out_no_action_and_leaves_the_sale() {
    let dir = TempDir::new().unwrap();
    let (mut journal, _) = Journal::open(&file(&dir)).unwrap();
    let mut sale = begin(&mut journal, 1, "R").unwrap();
    // Another connection holds the write lock, so the commit fails as it would on a full disk.
    let other = rusqlite::Connection::open(file(&dir)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let step = sale.handle(read(), now(), DEADLINES);
    assert!(matches!(commit(&mut journal, 0, &mut sale, step), Err(Error::Failed { .. })));
    assert_eq!(sale.standing(), Standing::Waiting);
    other.execute_batch("ROLLBACK").unwrap();
    let answered = Event::Answered(Answer::Unknown { why: "x".into() });
    assert_eq!(on(&mut journal, &mut sale, answered), [], "an answer to what was never asked means nothing");
    assert_eq!(on(&mut journal, &mut sale, read()), [Action::Ask, Action::Tell]);
}

#[test]
fn two_agents_cannot_share_a_journal() {
    let dir = TempDir::new().unwrap();
    let _first = Journal::open(&file(&dir)).unwrap();
    let error = Journal::open(&file(&dir)).unwrap_err();
    assert!(error.to_string().contains("in use by another pos-agent"), "{error}");
}

#[test]
fn a_file_that_cannot_be_trusted_is_refused_by_name() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("no/such/folder/journal.db");
    let error = Journal::open(&missing).unwrap_err().to_string();
    assert!(error.contains("no/such/folder") && error.contains("check that its folder exists"), "{error}");

    std::fs::write(file(&dir), b"this is not a database, it is a shopping list of sufficient length").unwrap();
    let error = Journal::open(&file(&dir)).unwrap_err().to_string();
    assert!(error.contains("journal.db"), "{error}");
    assert!(std::fs::read(file(&dir)).unwrap().starts_with(b"this is not"), "nothing is overwritten");

    let later = TempDir::new().unwrap();
    drop(Journal::open(&file(&later)).unwrap());
    let other = rusqlite::Connection::open(file(&later)).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    drop(other);
    let error = Journal::open(&file(&later)).unwrap_err();
    assert!(matches!(error, Error::Format { found: 99, known: 7, .. }), "{error}");
}

#[tokio::test]
async fn the_settings_that_payments_rest_on_are_in_force() {
    let dir = TempDir::new().unwrap();
    let (mut journal, _) = Journal::open(&file(&dir)).unwrap();
    begin(&mut journal, 1, "R").unwrap();
    let other = rusqlite::Connection::open(file(&dir)).unwrap();
    let mode: String = other.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    // A person can read the journal with any SQLite tool while the agent runs.
    let body: String = other.query_row("SELECT records FROM step WHERE sale = 1", [], |row| row.get(0)).unwrap();
    assert!(body.contains("\"started\""), "{body}");
}

#[tokio::test]
async fn the_wal_is_written_from_its_beginning_again() {
    let dir = TempDir::new().unwrap();
    let (mut journal, _) = Journal::open(&file(&dir)).unwrap();
    let wal = dir.path().join("journal.db-wal");
    let made = std::fs::metadata(&wal).unwrap().len();
    for number in 1..=400 {
        let mut sale = begin(&mut journal, number, &format!("R{number}")).unwrap();
        on(&mut journal, &mut sale, read());
        on(&mut journal, &mut sale, Event::Restarted);
        journal.tidy();
        journal.tidied().await;
    }
    let now = std::fs::metadata(&wal).unwrap().len();
    assert!(now <= made, "{made} bytes were made, there are {now}");
}
