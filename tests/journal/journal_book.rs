//! The journal as an account book. A verification finds rows that were altered, removed, added or moved, and names
//! their transaction. The journal stays verifiable through program versions, retention and clock changes.

use std::path::Path;

use crate::book::{
    self, DAY, NOON, asked, end, ended, file, leave_open, number, open, open_journal, refund, reversing, said, sell,
    sql, started, until_free, verb, verify, well,
};
use pos_core::book::commit;
use pos_core::transaction::{Standing, Transaction};
use pos_journal::{Db, Error, OldCopyFound, adopt};
use pos_terms::transaction::{Reference, SaleNumber};
use serde_json::Value;
use tempfile::TempDir;

/// Writes six transactions with interleaved steps. Transaction 2 ends while 4 is running, 6 is a refund of 3, and 5
/// stays open.
fn written(path: &Path) {
    let mut db = open(path);
    sell(&mut db, 1, "one", NOON);
    leave_open(&mut db, 2, "two", NOON + 10_000);
    sell(&mut db, 3, "three", NOON + 20_000);
    db.write(SaleNumber::new(4), 0, NOON + 30_000, &[started(4, "four")]).unwrap();
    db.write(SaleNumber::new(2), 3, NOON + 31_000, &[ended()]).unwrap();
    db.write(SaleNumber::new(4), 1, NOON + 32_000, &[asked()]).unwrap();
    leave_open(&mut db, 5, "five", NOON + 40_000);
    end(&mut db, 6, refund(6, "six", 3), NOON + 50_000);
    db.write(SaleNumber::new(4), 2, NOON + 60_000, &[ended()]).unwrap();
}

#[test]
fn a_book_is_as_it_was_written_also_when_it_is_opened_again() {
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    let verdict = well(&file(&dir));
    assert_eq!((verdict.transactions, verdict.steps, verdict.marks, verdict.not_entered), (6, 19, 0, 0));
    let before = verdict.head.unwrap();
    assert_eq!(before.entry, 19);
    sell(&mut open(&file(&dir)), 7, "seven", NOON + DAY);
    let output = verb(&["verify", "--head", &format!("{}:{}", before.entry, before.hex())], &file(&dir));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for line in ["unaltered: 7 transactions, 22 steps", "entry 19 has the given hash", "head 22:"] {
        assert!(said(&output).contains(line), "{line}: {}", said(&output));
    }
    let output = verb(&["verify", "--json"], &file(&dir));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["isAsWritten"], &answer["entry"]), (&true.into(), &22.into()), "{answer}");
}

/// A person's change to the file | the transaction number that the verification names | the text about it.
#[rustfmt::skip]
const ALTERED: &[(&str, Option<i64>, &str)] = &[
    ("UPDATE step SET records = replace(records, '1234', '1134') WHERE sale = 3", Some(3), "it was changed"),
    ("UPDATE step SET unix_ms = unix_ms + 1 WHERE id = 3 << 20 | 1", Some(3), "it was changed"),
    ("UPDATE step SET records = CAST(records AS BLOB) WHERE id = 3 << 20 | 1", Some(3), "wrong type"),
    ("UPDATE step SET chain = zeroblob(32) WHERE id = 3 << 20 | 1", Some(3), "it was changed"),
    ("UPDATE step SET chain = NULL WHERE id = 3 << 20 | 1", Some(3), "wrong type"),
    ("UPDATE step SET sale = 1 WHERE id = 3 << 20 | 1", Some(3), "it was changed"),
    ("DELETE FROM step WHERE id = 3 << 20 | 1", Some(3), "are missing"),
    ("DELETE FROM step WHERE sale = 3; DELETE FROM sale WHERE number = 3", Some(4), "are missing"),
    ("DELETE FROM step WHERE sale = 1; DELETE FROM sale WHERE number = 1", Some(2), "are missing"),
    // An additional row has the hash of another row. A row has another row's position.
    ("INSERT INTO step SELECT 5 << 20 | 3, 5, unix_ms, records, 20, chain FROM step WHERE id = 1 << 20 | 2", Some(5), "it was changed"),
    ("UPDATE step SET entry = 99 WHERE id = 3 << 20 | 1", Some(3), "are missing"),
    // Two rows swap their positions or their contents.
    ("UPDATE step SET entry = -1 WHERE id = 3 << 20 | 1; UPDATE step SET entry = 8 WHERE id = 3 << 20 | 2; \
      UPDATE step SET entry = 9 WHERE id = 3 << 20 | 1", Some(3), "it was changed"),
    ("UPDATE step SET records = CASE id WHEN 3 << 20 | 1 THEN (SELECT records FROM step WHERE id = 3 << 20 | 2) \
      ELSE '[{\"kind\":\"asked\"}]' END WHERE id IN (3 << 20 | 1, 3 << 20 | 2)", Some(3), "it was changed"),
    ("UPDATE step SET id = 4 << 20 | 9 WHERE id = 3 << 20 | 2", Some(4), "it was changed"),
    // The keys are changed.
    ("UPDATE sale SET till = 'till-9' WHERE number = 3", Some(3), "differs from its first record"),
    ("UPDATE sale SET reference = 'other' WHERE number = 3", Some(3), "differs from its first record"),
    ("UPDATE sale SET earlier = 1 WHERE number = 6", Some(6), "differs from its first record"),
    ("UPDATE sale SET earlier = NULL WHERE number = 6", Some(6), "differs from its first record"),
    ("UPDATE sale SET number = 99 WHERE number = 3", Some(3), "no longer has a key"),
    ("DELETE FROM sale WHERE number = 6", Some(6), "no longer has a key"),
    ("INSERT INTO sale(number, till, reference) VALUES (9, 'till-1', 'nine')", Some(9), "it has a key but no steps"),
    // The agent would forget an open reversal.
    ("UPDATE sale SET settled = 1 WHERE number = 5", Some(5), "marked as settled"),
    // Removed rows must leave a mark.
    ("INSERT INTO gap SELECT 1, 3, chain FROM step WHERE entry = 3; DELETE FROM step WHERE entry < 4; DELETE FROM sale WHERE number = 1",
      None, "without a mark"),
    ("INSERT INTO gap VALUES (2, 3, zeroblob(32))", Some(1), "two rows have this position"),
];

#[test]
fn whatever_is_done_to_a_row_is_found_and_named() {
    for (done, transaction, why) in ALTERED {
        let dir = TempDir::new().unwrap();
        written(&file(&dir));
        sql(&file(&dir), done);
        let altered = verify(&file(&dir)).altered.unwrap_or_else(|| panic!("not noticed: {done}"));
        assert!(altered.why.contains(why), "{done}: {altered:?}");
        assert_eq!(altered.number, *transaction, "{done}: {altered:?}");
    }
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    sql(&file(&dir), ALTERED[0].0);
    let output = verb(&["verify"], &file(&dir));
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    let line = "ALTERED: entry 7, step 3145728 of sale 3 (three of till till-1): it was changed";
    assert!(said(&output).contains(line), "{}", said(&output));
    let output = verb(&["verify", "--json"], &file(&dir));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(65));
    assert_eq!((&answer["isAsWritten"], &answer["altered"]["reference"]), (&false.into(), &"three".into()), "{answer}");
}

/// Computes the hash of a step from the documentation's description, not from the code.
fn hash(before: &[u8], entry: i64, id: i64, sale: i64, unix_ms: i64, records: &str) -> Vec<u8> {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    context.update(before);
    let numbers = [entry, id, sale, unix_ms].map(i64::to_be_bytes);
    for field in
        [b"step".as_slice()].into_iter().chain(numbers.iter().map(|number| &number[..])).chain([records.as_bytes()])
    {
        context.update(&u64::try_from(field.len()).unwrap().to_be_bytes());
        context.update(field);
    }
    context.finish().as_ref().to_vec()
}

#[test]
fn a_row_that_was_altered_with_a_right_hash_of_its_own_does_not_fit_the_next_one() {
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    let db = rusqlite::Connection::open(file(&dir)).unwrap();
    let before: Vec<u8> = db.query_row("SELECT chain FROM step WHERE entry = 7", [], |row| row.get(0)).unwrap();
    let step = "SELECT id, unix_ms, records, chain FROM step WHERE entry = 8";
    type Row = (i64, i64, String, Vec<u8>);
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let (id, unix_ms, records, chain): Row = db.query_row(step, [], read).unwrap();
    assert_eq!(hash(&before, 8, id, 3, unix_ms, &records), chain, "the hash is that of the documentation");
    let later = hash(&before, 8, id, 3, unix_ms + 1, &records);
    db.execute("UPDATE step SET unix_ms = unix_ms + 1, chain = ?1 WHERE entry = 8", [later]).unwrap();
    let altered = verify(&file(&dir)).altered.unwrap();
    assert_eq!((altered.entry, altered.number), (Some(9), Some(3)), "{altered:?}");
}

#[test]
fn a_book_that_was_cut_at_its_end_is_known_by_a_head_that_was_kept() {
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    let head = well(&file(&dir)).head.unwrap();
    // The last step of the journal is missing, but every remaining hash is correct.
    sql(&file(&dir), "DELETE FROM step WHERE entry = 19; UPDATE sale SET settled = 0");
    well(&file(&dir));
    let output = verb(&["verify", "--head", &format!("19:{}", head.hex())], &file(&dir));
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert!(said(&output).contains("entry 19 does not have the given hash"), "{}", said(&output));
    let output = verb(&["verify", "--head", "19:abc"], &file(&dir));
    assert_eq!(output.status.code(), Some(64), "{}", said(&output));
}

#[test]
fn after_a_write_that_failed_the_chain_goes_on_from_the_disk() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    sell(&mut db, 1, "one", NOON);
    let other = rusqlite::Connection::open(file(&dir)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(db.write(SaleNumber::new(2), 0, NOON, &[started(2, "two")]).is_err());
    // A step that was reported as failed may still reach the disk.
    let first = serde_json::to_string(&[started(2, "two")]).unwrap();
    other.execute("INSERT INTO sale(number, till, reference) VALUES (2, 'till-1', 'two')", []).unwrap();
    let head = well(&file(&dir)).head.unwrap();
    let next = {
        // In a copy of the journal, the same step has the hash that it should have here.
        let twin = TempDir::new().unwrap();
        let mut db = open(&file(&twin));
        sell(&mut db, 1, "one", NOON);
        db.write(SaleNumber::new(2), 0, NOON, &[started(2, "two")]).unwrap();
        drop(db);
        well(&file(&twin)).head.unwrap()
    };
    assert_eq!((head.entry, next.entry), (3, 4));
    let row = rusqlite::params![2 << 20, NOON, first, next.hash];
    other.execute("INSERT INTO step VALUES (?1, 2, ?2, ?3, 4, ?4); ", row).unwrap();
    other.execute_batch("COMMIT").unwrap();
    db.write(SaleNumber::new(2), 1, NOON, &[asked()]).unwrap();
    assert_eq!(well(&file(&dir)).head.unwrap().entry, 5);
}

// ---- Versions

/// The tables and statements of the released program with format 2.
const FORMAT_2: &str = "PRAGMA journal_mode=WAL;
    CREATE TABLE sale(number INTEGER PRIMARY KEY, till TEXT NOT NULL, reference TEXT NOT NULL, settled INTEGER NOT NULL DEFAULT 0,
        UNIQUE(till, reference));
    CREATE INDEX sale_unsettled ON sale(number) WHERE settled = 0;
    CREATE TABLE step(id INTEGER PRIMARY KEY, sale INTEGER NOT NULL, unix_ms INTEGER NOT NULL, records TEXT NOT NULL);
    ALTER TABLE sale ADD COLUMN earlier INTEGER;
    CREATE INDEX sale_earlier ON sale(earlier) WHERE earlier IS NOT NULL;
    PRAGMA user_version=2;";
const FORMAT_2_SALE: &str = "INSERT INTO sale(number, till, reference, earlier) VALUES (?1, ?2, ?3, ?4)";
const FORMAT_2_STEP: &str = "INSERT INTO step(id, sale, unix_ms, records) VALUES (?1, ?2, ?3, ?4)";
const FORMAT_2_SETTLED: &str = "UPDATE sale SET settled = 1 WHERE number = ?1";

/// Writes a whole transaction as the program with format 2 did.
fn sold_by_format_2(path: &Path, number: u64, reference: &str) {
    let db = rusqlite::Connection::open(path).unwrap();
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert!(version <= 2, "the program of format 2 refuses {version}");
    let number = i64::try_from(number).unwrap();
    db.execute(FORMAT_2_SALE, rusqlite::params![number, "till-1", reference, None::<i64>]).unwrap();
    let steps = [started(number.unsigned_abs(), reference), asked(), ended()];
    for (place, record) in (0..).zip(steps) {
        let text = serde_json::to_string(&[record]).unwrap();
        db.execute(FORMAT_2_STEP, rusqlite::params![(number << 20) + place, number, NOON + place, text]).unwrap();
    }
    db.execute(FORMAT_2_SETTLED, [number]).unwrap();
}

#[test]
fn an_earlier_program_goes_on_with_the_journal_and_what_it_wrote_is_entered_later() {
    let dir = TempDir::new().unwrap();
    sql(&file(&dir), FORMAT_2);
    sold_by_format_2(&file(&dir), 1, "one");
    sold_by_format_2(&file(&dir), 2, "two");
    let verdict = verify(&file(&dir));
    assert_eq!((verdict.not_entered, verdict.head), (6, None), "read beside it: nothing is entered by reading");
    assert_eq!(verb(&["verify"], &file(&dir)).status.code(), Some(75));

    // The journal is updated, a sale is written, and the program is downgraded.
    sell(&mut open(&file(&dir)), 3, "three", NOON);
    let verdict = well(&file(&dir));
    assert_eq!((verdict.steps, verdict.marks, verdict.entered_later, verdict.not_entered), (9, 1, 6, 0));
    sold_by_format_2(&file(&dir), 4, "four");
    assert_eq!(well(&file(&dir)).not_entered, 3);

    // The journal is updated again.
    let (journal, opened) = open_journal(&file(&dir)).unwrap();
    assert_eq!((opened.unsettled.len(), opened.last_number.get()), (0, 4));
    assert!(journal.find("till-1", &Reference::parse("four").unwrap()).unwrap().is_some());
    drop(journal);
    let verdict = well(&file(&dir));
    assert_eq!((verdict.steps, verdict.marks, verdict.entered_later, verdict.not_entered), (12, 2, 9, 0));
    let output = verb(&["verify"], &file(&dir));
    assert!(said(&output).contains("9 steps were written by an earlier version"), "{}", said(&output));
    assert_eq!(output.status.code(), Some(0));
    // Opening the journal once more adds no entries.
    drop(open(&file(&dir)));
    assert_eq!(well(&file(&dir)).marks, 2);
    // The verification notices a removed mark.
    sql(&file(&dir), "DELETE FROM mark WHERE entry = 7");
    assert!(verify(&file(&dir)).altered.is_some());
}

#[test]
fn a_journal_of_a_later_format_is_used_when_it_allows_it_and_refused_when_it_does_not() {
    let dir = TempDir::new().unwrap();
    sell(&mut open(&file(&dir)), 1, "one", NOON);
    sql(
        &file(&dir),
        "UPDATE about SET format = 9; ALTER TABLE about ADD COLUMN more TEXT; ALTER TABLE step ADD COLUMN more TEXT;
         ALTER TABLE sale ADD COLUMN more TEXT DEFAULT 'x'; ALTER TABLE mark ADD COLUMN more TEXT; CREATE TABLE later(x);",
    );
    // A record has a field that this program does not know.
    let later = "[{\"kind\":\"started\",\"aura\":\"blue\",\"order\":";
    let order = serde_json::to_string(&book::order(2, "two")).unwrap();
    sql(
        &file(&dir),
        &format!(
            "INSERT INTO sale(number, till, reference) VALUES (2, 'till-1', 'two'); \
        INSERT INTO step(id, sale, unix_ms, records) VALUES (2 << 20, 2, {NOON}, '{later}{order}}}]')"
        ),
    );
    let (journal, opened) = open_journal(&file(&dir)).unwrap();
    assert_eq!((opened.unsettled.len(), opened.set_aside.len()), (1, 0));
    drop(journal);
    let mut db = open(&file(&dir));
    sell(&mut db, 3, "three", NOON);
    drop(db);
    assert_eq!(well(&file(&dir)).transactions, 3);
    assert_eq!(number(&file(&dir), "SELECT format FROM about"), 9, "the later format stays");
    sql(&file(&dir), "PRAGMA user_version = 8");
    let bytes = std::fs::read(file(&dir)).unwrap();
    let error = open_journal(&file(&dir)).unwrap_err();
    assert!(matches!(error, Error::Format { found: 8, known: 7, .. }), "{error}");
    assert!(error.to_string().contains("install the later version again"), "{error}");
    assert_eq!(std::fs::read(file(&dir)).unwrap(), bytes);
    assert_eq!(verb(&["verify"], &file(&dir)).status.code(), Some(74));
}

#[test]
fn an_open_sale_of_a_later_program_is_set_aside_and_its_reference_is_never_new() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        leave_open(&mut db, 1, "later", NOON);
        leave_open(&mut db, 2, "ours", NOON);
    }
    sql(
        &file(&dir),
        &format!(
            "INSERT INTO step(id, sale, unix_ms, records) VALUES (1 << 20 | 3, 1, {NOON}, '[{{\"kind\":\"teleported\"}}]')"
        ),
    );
    let (mut journal, opened) = open_journal(&file(&dir)).unwrap();
    let open: Vec<_> = opened.unsettled.iter().map(|sale| sale.order().reference.as_str()).collect();
    let aside: Vec<_> = opened.set_aside.iter().map(|aside| (aside.number.get(), aside.reference.as_str())).collect();
    assert_eq!((open, aside), (vec!["ours"], vec![(1, "later")]));
    // A query for this reference finds the unreadable transaction, and the reference cannot begin again.
    assert!(matches!(journal.find("till-1", &Reference::parse("later").unwrap()), Err(Error::Unreadable { .. })));
    let order = serde_json::from_value(book::order(9, "later")).unwrap();
    let (mut again, step) = Transaction::begin(order);
    assert!(commit(&mut journal, NOON, &mut again, step).is_err(), "the disk itself refuses it");
    assert_eq!(journal.unsettled().unwrap().len(), 1, "and taking up open sales goes on without it");
    drop(journal);
    assert_eq!(well(&file(&dir)).unreadable, 1);
    assert_eq!(verb(&["verify"], &file(&dir)).status.code(), Some(75));
    let output = verb(&["export"], &file(&dir));
    assert_eq!(output.status.code(), Some(75), "{}", said(&output));
    assert!(said(&output).contains("\"reference\":\"later\",\"unreadable\":"), "{}", said(&output));
    // If the transaction is unreadable for another reason, the agent refuses the whole journal.
    sql(&file(&dir), "UPDATE step SET records = '[{\"kind\":\"teleportex\"}]' WHERE id = 1 << 20 | 3");
    assert!(matches!(open_journal(&file(&dir)), Err(Error::Unreadable { .. })));
}

// ---- Retention

/// Writes one sale per day, beginning on day 0. Sale 3 stays open, 5 is quarantined, 9 refunds 8, and the last
/// transaction refunds 7.
fn a_hundred_days(db: &mut Db) {
    for day in 0..100_u64 {
        let (number, at) = (day + 1, NOON + i64::try_from(day).unwrap() * DAY);
        let reference = format!("R{number}");
        match number {
            3 => leave_open(db, number, &reference, at),
            5 => {
                leave_open(db, number, &reference, at);
                let quarantined = book::record(serde_json::json!({"kind": "quarantined", "why": "refused"}));
                db.write(SaleNumber::new(number), 3, at, &[quarantined]).unwrap();
            }
            9 => end(db, number, refund(number, &reference, 8), at),
            100 => end(db, number, refund(number, &reference, 7), at),
            _ => sell(db, number, &reference, at),
        }
    }
}

fn prune(db: &mut Db) -> u64 {
    std::iter::from_fn(|| Some(db.prune().unwrap())).take_while(|pruned| *pruned > 0).sum()
}

#[test]
fn what_is_old_and_settled_leaves_with_its_family_and_the_rest_stays_verifiable() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    a_hundred_days(&mut db);
    assert_eq!(prune(&mut db), 0, "all is kept until it is said how long");
    db.keep_days(Some(90));
    // The sales of days 11 to 100 stay. Of the first ten, 3 and 5 are open, and a later refund refers to 7.
    assert_eq!(prune(&mut db), 7);
    let left = |db: &Db| {
        db.list(None, SaleNumber::new(0), 12).unwrap().iter().map(|sale| sale.order().number.get()).collect::<Vec<_>>()
    };
    assert_eq!(left(&db), [3, 5, 7, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    assert!(db.find("till-1", &Reference::parse("R1").unwrap()).unwrap().is_none(), "the reference is new again");
    let verdict = well(&file(&dir));
    assert_eq!((verdict.transactions, verdict.pruned, verdict.marks), (93, 21, 1));
    // More days follow, with a restart in between. The gaps grow, and old marks are removed too.
    for number in 101..=140_u64 {
        sell(&mut db, number, &format!("R{number}"), NOON + i64::try_from(number).unwrap() * DAY);
    }
    db.write(SaleNumber::new(3), 3, NOON + 150 * DAY, &[ended()]).unwrap();
    drop(db);
    let mut db = open(&file(&dir));
    db.keep_days(Some(90));
    sell(&mut db, 141, "R141", NOON + 141 * DAY);
    assert_eq!(prune(&mut db), 42, "11 to 51, and 3, which has ended");
    assert_eq!(left(&db)[..4], [5, 7, 52, 53]);
    let verdict = well(&file(&dir));
    assert_eq!(verdict.transactions, 92);
    assert_eq!(db.unsettled().unwrap().len(), 1);
    drop(db);
    for done in [
        "DELETE FROM gap WHERE first = 1",
        "UPDATE gap SET last = last + 1 WHERE first = 1",
        "UPDATE gap SET chain = zeroblob(32) WHERE first = 1",
        "DELETE FROM step WHERE sale = 60",
        "INSERT INTO gap SELECT min(entry), max(entry), (SELECT chain FROM step WHERE id = 60 << 20 | 2) FROM step WHERE sale = 60; \
         DELETE FROM step WHERE sale = 60; DELETE FROM sale WHERE number = 60",
    ] {
        let copy = dir.path().join("copy.db");
        std::fs::copy(file(&dir), &copy).unwrap();
        sql(&copy, done);
        assert!(verify(&copy).altered.is_some(), "not noticed: {done}");
    }
}

#[test]
fn a_clock_that_jumps_deletes_nothing() {
    for jump in [365 * DAY, 4000 * DAY, -4000 * DAY] {
        let dir = TempDir::new().unwrap();
        let mut db = open(&file(&dir));
        a_hundred_days(&mut db);
        db.keep_days(Some(101));
        // One busy trading day with the wrong clock.
        for number in 101..=200 {
            let at = NOON + 100 * DAY + jump + i64::try_from(number).unwrap();
            sell(&mut db, number, &format!("R{number}"), at);
            assert_eq!(prune(&mut db), 0, "{jump}");
        }
        // The clock then jumps back and forth.
        for number in 201..=260 {
            let at = NOON + 100 * DAY + if number % 2 == 0 { jump } else { 0 };
            sell(&mut db, number, &format!("R{number}"), at);
        }
        let gone = prune(&mut db);
        assert!(gone <= 1, "one day more has passed, and one day less is kept: {gone}");
        assert_eq!(well(&file(&dir)).transactions, 260 - gone);
    }
}

#[tokio::test]
async fn the_agents_journal_prunes_when_it_tidies_up() {
    let dir = TempDir::new().unwrap();
    a_hundred_days(&mut open(&file(&dir)));
    let (mut journal, _) = open_journal(&file(&dir)).unwrap();
    journal.keep_days(Some(90));
    journal.tidy();
    journal.tidied().await;
    assert!(journal.find("till-1", &Reference::parse("R1").unwrap()).unwrap().is_none());
    let kept = journal.find("till-1", &Reference::parse("R3").unwrap()).unwrap().unwrap();
    assert!(matches!(kept.standing(), Standing::Unconfirmed { .. }));
    drop(journal);
    well(&file(&dir));
}

// ---- Export

/// Everything that a record can contain, with planted data that no record may contain.
const PLANTED: &str = r#"[{"kind":"asked","track2":"4761739001010119=22122011143804400000","pin":"1234","card":{"entry":"ICC",
    "pan":"4761739001010119","panSequenceNumber":1,"aid":"A0000000031010","label":"VISA 4761739001010119","cvm":"online-pin",
    "cryptogram":{"kind":"ARQC","value":"7a788ea6b8a3e733"},"tvr":"0580000480","tsi":"6800","expiry":"2212","pinBlock":"0412AC89ABCDEF67",
    "ksn":"FFFF9876543210E00001","track1":"B4761739001010119^DOE/JANE^2212201"}},
    {"kind":"reversing","why":"said 4761739001010119D2212201114380440000F","host":{"id":"8ac7a4a18f00000000000000000000aa","code":"000.100.110",
    "description":"card 4761739001010119=22122011143804400000 ok","brand":"VISA","bin":"476173","last4":"0119",
    "acquirerCode":"012345","issuerCode":"654321","clearingIdentifier":"c-1","merchantId":"m-1","posTimestamp":"2026-11-20 13:00:00",
    "timestamp":"2026-11-20 12:00:00+0000","ndc":"ndc-1","more":{"card.holder":"JANE DOE","card.expiryYear":"2022"}}}]"#;

#[test]
fn an_export_has_what_a_dispute_needs_and_nothing_that_card_rules_forbid() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        let mut order = book::order(1, "one");
        order["parameters"] = serde_json::json!([["customer.email", "jane@example.org"]]);
        let first = book::record(serde_json::json!({"kind": "started", "order": order}));
        db.write(SaleNumber::new(1), 0, NOON, &[first]).unwrap();
    }
    sql(
        &file(&dir),
        &format!("INSERT INTO step(id, sale, unix_ms, records) VALUES (1 << 20 | 1, 1, {}, '{PLANTED}')", NOON + 1500),
    );
    {
        let mut db = open(&file(&dir));
        let done = serde_json::json!({"kind": "reversal-done", "payment": "8ac7a4a18f00000000000000000000aa", "reversal": "r".repeat(32)});
        let reversed = serde_json::json!({"kind": "ended", "outcome": {"is": "reversed", "why": "no answer"}});
        db.write(SaleNumber::new(1), 2, NOON + 3000, &[book::record(done), book::record(reversed)]).unwrap();
        sell(&mut db, 2, "two", NOON);
    }
    let output = verb(&["export"], &file(&dir));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    let wanted = serde_json::json!({
        "number": 1, "till": "till-1", "reference": "one", "kind": "sale", "paymentType": "DB", "currency": "EUR",
        "amount": "12.34", "total": "12.34", "terminalId": "12345678", "merchantTransactionId": "12345678-1-one-aabbccddeeff",
        "startedAt": "2026-11-20T12:00:00.000Z", "localTime": "2026-11-20 13:00:00", "standing": "ended", "outcome": "reversed",
        "reason": "recorded",
        "why": "no answer",
        "card": {"entryMode": "ICC", "maskedPan": "476173******0119", "panSequenceNumber": 1, "aid": "A0000000031010",
            "label": "VISA 476173******0119", "cvm": "online-pin", "cryptogram": {"kind": "ARQC", "value": "7a788ea6b8a3e733"},
            "tvr": "0580000480", "tsi": "6800"},
        "host": {"paymentId": "8ac7a4a18f00000000000000000000aa", "code": "000.100.110",
            "description": "card 476173******0119********************* ok", "brand": "VISA", "acquirerCode": "012345",
            "issuerCode": "654321", "clearingIdentifier": "c-1", "merchantId": "m-1", "posTimestamp": "2026-11-20 13:00:00",
            "timestamp": "2026-11-20 12:00:00+0000", "ndc": "ndc-1"},
        "records": [
            {"at": "2026-11-20T12:00:00.000Z", "entry": 1, "is": "started"},
            {"at": "2026-11-20T12:00:01.500Z", "entry": 2, "is": "asked"},
            {"at": "2026-11-20T12:00:01.500Z", "entry": 2, "is": "reversing", "why": "said 476173******0119*********************"},
            {"at": "2026-11-20T12:00:03.000Z", "entry": 4, "is": "reversal-done", "payment": "8ac7a4a18f00000000000000000000aa",
                "reversal": "r".repeat(32)},
            {"at": "2026-11-20T12:00:03.000Z", "entry": 4, "is": "ended"},
        ],
    });
    assert_eq!(lines[0], wanted, "{:#}", lines[0]);
    for forbidden in [
        "4761739001010119",
        "22122011",
        "2212",
        "0412AC89ABCDEF67",
        "FFFF9876543210E00001",
        "DOE",
        "DOE/JANE",
        "jane@",
        "\"1234\"",
        "track",
        "ksn",
        "pinBlock",
        "expiry",
    ] {
        assert!(!text.contains(forbidden), "{forbidden} is in the export: {text}");
    }
    let head = well(&file(&dir)).head.unwrap();
    let closing =
        serde_json::json!({"end": true, "transactions": 2, "unreadable": 0, "entry": head.entry, "head": head.hex()});
    assert_eq!(lines[2], closing);
    let output = verb(&["export", "--since", "1"], &file(&dir));
    assert!(said(&output).starts_with("{\"number\":2,"), "{}", said(&output));
}

/// Checks that an older record without an operator shows none.
#[test]
fn an_export_says_who_did_it_where_that_was_kept() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        sell(&mut db, 1, "of-before", NOON);
        let mut order = book::order(2, "since");
        order["by"] = serde_json::json!({"token": "till-1"});
        let first = book::record(serde_json::json!({"kind": "started", "order": order}));
        db.write(SaleNumber::new(2), 0, NOON, &[first]).unwrap();
        let outcome = serde_json::json!({"is": "cancelled", "why": "cancelled at the till"});
        let last = serde_json::json!({"kind": "ended", "outcome": outcome, "by": {"uid": 1001}});
        db.write(SaleNumber::new(2), 1, NOON, &[book::record(last)]).unwrap();
    }
    well(&file(&dir));
    let text = String::from_utf8(verb(&["export"], &file(&dir)).stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [before, since, _] = &lines[..] else { panic!("{text}") };
    assert!(!before.to_string().contains("\"by\""), "{before:#}");
    assert_eq!(since["by"], serde_json::json!({"token": "till-1"}), "{since:#}");
    assert_eq!(since["records"][0]["by"], serde_json::json!({"token": "till-1"}), "{since:#}");
    assert_eq!(since["records"][1]["by"], serde_json::json!({"uid": 1001}), "{since:#}");
    // The operator is part of the chain, so a verification finds the change.
    sql(&file(&dir), "UPDATE step SET records = replace(records, '1001', '1002') WHERE sale = 2");
    let altered = verify(&file(&dir)).altered.unwrap();
    assert_eq!(altered.number, Some(2), "{altered:?}");
}

#[test]
fn an_export_that_cannot_be_written_is_not_done() {
    let dir = TempDir::new().unwrap();
    sell(&mut open(&file(&dir)), 1, "one", NOON);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    let output = command.args(["journal", "export", "--journal"]).arg(file(&dir)).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(74), "{}", said(&output));
    assert!(said(&output).contains("the export could not be written"), "{}", said(&output));
}

// ---- Another board's journal

/// Checks an adopted journal in an outdated copy. The copy may have contained the adopted transactions earlier, and
/// their outcome is unknown. The agent therefore refuses transactions that would follow them.
#[test]
fn what_an_old_copy_takes_over_is_closed_to_what_would_follow_it() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    {
        let mut theirs = open(&file(&old));
        sell(&mut theirs, 1, "one", NOON);
        sell(&mut theirs, 2, "two", NOON);
    }
    for (is_old, before) in [(false, 0), (true, 3)] {
        let board = new.path().join(format!("{is_old}"));
        std::fs::create_dir(&board).unwrap();
        let path = board.join("journal.db");
        sell(&mut open(&path), 1, "own", NOON);
        if is_old {
            let (mut journal, _) = open_journal(&path).unwrap();
            let found = OldCopyFound {
                above: SaleNumber::new(7),
                before: SaleNumber::new(1),
                references: ["7-00112233445566aa".to_owned()].into(),
            };
            journal.mark_old_copy(&found, NOON + 1).unwrap();
        }
        let output = verb(&["adopt", file(&old).to_str().unwrap()], &path);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let (_, opened) = open_journal(&path).unwrap();
        assert_eq!(opened.old_copy.before, SaleNumber::new(before));
    }
}

/// Checks that the journal records the gateway's time at its beginning once. It must do so before the first
/// transaction, and not if it contains another journal.
#[test]
fn a_journal_keeps_when_it_began_by_the_gateways_time() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (mut journal, _) = open_journal(&file(&one)).unwrap();
    assert_eq!(journal.began().unwrap(), None);
    journal.begin(NOON + 5, NOON).unwrap();
    journal.begin(NOON + 9, NOON).unwrap();
    assert_eq!(journal.began().unwrap(), Some(NOON + 5));
    drop(journal);
    sell(&mut open(&file(&one)), 1, "one", NOON);
    assert_eq!(open_journal(&file(&one)).unwrap().0.began().unwrap(), Some(NOON + 5));
    assert!(well(&file(&one)).altered.is_none());
    sell(&mut open(&file(&two)), 1, "two", NOON);
    let (mut late, _) = open_journal(&file(&two)).unwrap();
    late.begin(NOON + 5, NOON).unwrap();
    assert_eq!(late.began().unwrap(), None, "it has a transaction");
    drop(late);
    let output = verb(&["adopt", file(&two).to_str().unwrap()], &file(&one));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(open_journal(&file(&one)).unwrap().0.began().unwrap(), None, "what was taken over began earlier");
}

#[test]
fn a_journal_is_adopted_with_numbers_above_both_and_its_file_is_not_touched() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    written(&file(&old));
    let mut db = open(&file(&old));
    db.write(SaleNumber::new(5), 3, NOON + 70_000, &[reversing()]).unwrap();
    // The power was cut. Steps that are only in the WAL are adopted too.
    let cut = TempDir::new().unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        std::fs::copy(old.path().join(name), cut.path().join(name)).unwrap();
    }
    drop(db);
    let theirs = well(&file(&old)).head.unwrap();
    let before = files(cut.path());
    {
        let mut db = open(&file(&new));
        sell(&mut db, 1, "n-1", NOON);
        sell(&mut db, 2, "n-2", NOON);
    }
    let output = verb(&["adopt", file(&cut).to_str().unwrap()], &file(&new));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for line in [
        "6 transactions were copied",
        "above 2, the highest",
        "open: five of till till-1; the agent resolves this transaction",
        &format!("head of the adopted journal {}:{}", theirs.entry, theirs.hex()),
    ] {
        assert!(said(&output).contains(line), "{line}: {}", said(&output));
    }
    assert!(!said(&output).contains("open: two"), "{}", said(&output));
    assert_eq!(files(cut.path()), before, "the file is only read");
    assert!(!new.path().join("journal.db.adopting").exists());

    let (mut journal, opened) = open_journal(&file(&new)).unwrap();
    assert_eq!(opened.last_number, SaleNumber::new(8));
    let open: Vec<_> =
        opened.unsettled.iter().map(|sale| (sale.order().number.get(), sale.order().reference.as_str())).collect();
    assert_eq!(open, [(7, "five")]);
    let three = journal.find("till-1", &Reference::parse("three").unwrap()).unwrap().unwrap();
    assert_eq!(
        (three.order().number.get(), three.order().merchant_transaction_id.as_str()),
        (5, "12345678-3-three-aabbccddeeff")
    );
    assert!(matches!(three.standing(), Standing::Ended(_)));
    // The refund of the adopted sale still refers to it.
    let later: Vec<_> = journal.later(SaleNumber::new(5)).unwrap().iter().map(|sale| sale.order().number).collect();
    assert_eq!(later, [8]);
    // The chain continues in the old journal's order, and a new sale follows.
    let (mut sale, step) = Transaction::begin(serde_json::from_value(book::order(9, "n-9")).unwrap());
    commit(&mut journal, NOON, &mut sale, step).unwrap();
    drop(journal);
    let verdict = well(&file(&new));
    assert_eq!((verdict.transactions, verdict.steps, verdict.marks), (9, 6 + 20 + 1, 1));
    sql(&file(&new), "UPDATE step SET records = replace(records, '1234', '1134') WHERE sale = 5");
    assert_eq!(verify(&file(&new)).altered.unwrap().key.unwrap().1, "three");
}

#[test]
fn what_cannot_be_adopted_is_refused_and_changes_nothing() {
    let dir = TempDir::new().unwrap();
    let old = TempDir::new().unwrap();
    written(&file(&old));
    let adopted = |from: &Path, words: &str, exit: i32, journal: &Path| {
        let before = number(journal, "SELECT count(*) FROM step");
        let output = verb(&["adopt", from.to_str().unwrap()], journal);
        assert_eq!(output.status.code(), Some(exit), "{words}: {}", said(&output));
        assert!(said(&output).contains(words), "{words}: {}", said(&output));
        assert_eq!(number(journal, "SELECT count(*) FROM step"), before, "{words}");
        well(journal);
    };
    let ours = file(&dir);
    sell(&mut open(&ours), 1, "n-1", NOON);
    adopted(&ours, "the terminal's own journal", 65, &ours);
    adopted(Path::new("/nowhere/journal.db"), "there is no file /nowhere/journal.db", 65, &ours);
    let running = open(&ours);
    adopted(&file(&old), "in use by another pos-agent", 74, &ours);
    drop(running);
    let running = open(&file(&old));
    adopted(&file(&old), "in use by another pos-agent", 74, &ours);
    drop(running);
    // The adopted journal is altered, damaged, from a later version, or empty.
    let bad = |done: &str| {
        let bad = dir.path().join("bad.db");
        std::fs::copy(file(&old), &bad).unwrap();
        sql(&bad, done);
        bad
    };
    adopted(
        &bad("UPDATE step SET records = replace(records, '1234', '1134') WHERE sale = 3"),
        "sale three of till till-1",
        65,
        &ours,
    );
    adopted(&bad("PRAGMA user_version = 9"), "has format 9", 74, &ours);
    adopted(
        &bad("INSERT INTO step(id, sale, unix_ms, records) VALUES (5 << 20 | 3, 5, 0, '[{\"kind\":\"teleported\"}]')"),
        "install the version that wrote it",
        65,
        &ours,
    );
    std::fs::write(dir.path().join("bad.db"), "").unwrap();
    adopted(&dir.path().join("bad.db"), "0 bytes long", 74, &ours);
    let empty = TempDir::new().unwrap();
    drop(open(&file(&empty)));
    adopted(&file(&empty), "holds no transaction", 65, &ours);
    // The other journal has a different sale with the same reference.
    let other = TempDir::new().unwrap();
    sell(&mut open(&file(&other)), 9, "three", NOON);
    adopted(&file(&old), "both journals have a sale three of till till-1", 65, &file(&other));
    // The same journal is adopted twice.
    let output = verb(&["adopt", file(&old).to_str().unwrap()], &ours);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("there was no"), "without a -wal that is said: {}", said(&output));
    adopted(&file(&old), "was already taken over: sale one of till till-1 is here as number 2", 65, &ours);
}

#[test]
fn an_open_sale_of_another_terminal_is_not_adopted() {
    let (dir, old) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    written(&file(&old));
    let error = adopt(&file(&dir), &file(&old), Some("87654321"), NOON).unwrap_err();
    assert!(
        error.to_string().contains("five of till till-1 belongs to terminal 12345678, but this terminal is 87654321"),
        "{error}"
    );
    until_free(&file(&dir));
    adopt(&file(&dir), &file(&old), Some("12345678"), NOON).unwrap();
}

fn files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}
