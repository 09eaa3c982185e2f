//! The journal's index of payments and gateway references. The journal finds them by their ids after any change to the
//! file, and never answers from the index alone.

use std::fs;
use std::path::Path;

use crate::book::{DAY, NOON, asked, file, leave_open, number, open, open_journal, order, record, sql, started, well};
use pos_core::transaction::Record;
use pos_journal::{Db, Error, adopt};
use pos_terms::transaction::{PaymentId, Reference, SaleNumber};
use serde_json::json;
use tempfile::TempDir;

/// Returns the id of a transaction's payment.
fn id(number: u64) -> String {
    format!("{number:032}")
}

fn approved(number: u64) -> Record {
    let amount = json!({"minor": 1234, "currency": "EUR"});
    let host = json!({"id": id(number), "code": "000.000.000"});
    record(json!({"kind": "host-approved", "payment": id(number), "approved": amount, "host": host}))
}

fn ended() -> Record {
    record(json!({"kind": "ended", "outcome": {"is": "approved"}}))
}

fn refund_of_unknown(number: u64, reference: &str, payment: &str) -> Record {
    let mut order = order(number, reference);
    order["kind"] = json!({"is": "refund", "of": {"payment": payment}});
    record(json!({"kind": "started", "order": order}))
}

/// Writes four steps as for an inserted card. Its payment is [`id`].
fn buy(db: &mut Db, number: u64, unix_ms: i64) {
    db.write(SaleNumber::new(number), 0, unix_ms, &[started(number, &format!("R{number}"))]).unwrap();
    db.write(SaleNumber::new(number), 1, unix_ms, &[asked()]).unwrap();
    db.write(SaleNumber::new(number), 2, unix_ms, &[approved(number)]).unwrap();
    db.write(SaleNumber::new(number), 3, unix_ms, &[ended()]).unwrap();
}

/// Writes a refund of a payment that this journal does not contain.
fn give_back(db: &mut Db, number: u64, payment: &str, unix_ms: i64) {
    db.write(SaleNumber::new(number), 0, unix_ms, &[refund_of_unknown(number, &format!("R{number}"), payment)])
        .unwrap();
    db.write(SaleNumber::new(number), 1, unix_ms, &[asked()]).unwrap();
    let host = json!({"id": id(number), "code": "000.000.000"});
    let ended = json!({"kind": "ended", "outcome": {"is": "approved"}, "host": host});
    db.write(SaleNumber::new(number), 2, unix_ms, &[record(ended)]).unwrap();
}

fn referring(db: &Db, payment: &str) -> Vec<u64> {
    db.referring_to(&PaymentId::new(payment)).unwrap().iter().map(|sale| sale.order().number.get()).collect()
}

const UNKNOWN: &str = "8ac7a4a18f00000000000000000000aa";

#[test]
fn a_payment_is_found_by_its_id_from_the_step_that_brings_it_on() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    db.write(SaleNumber::new(1), 0, NOON, &[started(1, "R1")]).unwrap();
    db.write(SaleNumber::new(1), 1, NOON, &[asked()]).unwrap();
    assert_eq!(db.of_payment(&PaymentId::new(id(1))).unwrap(), None);
    db.write(SaleNumber::new(1), 2, NOON, &[approved(1)]).unwrap();
    assert_eq!(db.of_payment(&PaymentId::new(id(1))).unwrap(), Some(SaleNumber::new(1)));
    buy(&mut db, 2, NOON);
    give_back(&mut db, 3, UNKNOWN, NOON);
    give_back(&mut db, 4, UNKNOWN, NOON);
    assert_eq!(db.of_payment(&PaymentId::new(UNKNOWN)).unwrap(), None, "who refers to it does not own it");
    assert_eq!((referring(&db, UNKNOWN), referring(&db, &id(2))), (vec![3, 4], vec![]));
    assert_eq!(
        db.of_payment(&PaymentId::new(id(3))).unwrap(),
        Some(SaleNumber::new(3)),
        "a refund has a payment of its own"
    );
    // The payments are approved and waiting for a signature, found by a look-up and about to be reversed, or partially
    // approved and not accepted.
    let payment = |id: &str| json!({"id": id, "amount": {"minor": 1234, "currency": "EUR"}});
    for (number, step, named) in [
        (5, json!({"kind": "signature-asked", "payment": payment("signed")}), "signed"),
        (6, json!({"kind": "reversal-asked", "payment": payment("found")}), "found"),
        (7, json!({"kind": "reversing", "why": "less", "payment": payment("part")}), "part"),
        (8, json!({"kind": "reversing", "why": "less", "host": {"id": "said", "code": "000.000.000"}}), "said"),
    ] {
        leave_open(&mut db, number, &format!("R{number}"), NOON);
        db.write(SaleNumber::new(number), 3, NOON, &[record(step)]).unwrap();
        assert_eq!(db.of_payment(&PaymentId::new(named)).unwrap(), Some(SaleNumber::new(number)), "{named}");
    }
    let done = json!({"kind": "reversal-done", "payment": "part", "reversal": "reversal"});
    db.write(SaleNumber::new(7), 4, NOON, &[record(done)]).unwrap();
    assert_eq!(
        db.of_payment(&PaymentId::new("reversal")).unwrap(),
        None,
        "what was reversed by itself is nobody's payment"
    );
    // If a gateway gives the same id twice, the first transaction keeps it.
    buy(&mut db, 9, NOON);
    db.write(SaleNumber::new(10), 0, NOON, &[started(10, "R10")]).unwrap();
    db.write(SaleNumber::new(10), 1, NOON, &[asked()]).unwrap();
    db.write(SaleNumber::new(10), 2, NOON, &[approved(9)]).unwrap();
    assert_eq!(db.of_payment(&PaymentId::new(id(9))).unwrap(), Some(SaleNumber::new(9)));
    drop(db);
    let (journal, _) = open_journal(&file(&dir)).unwrap();
    assert_eq!(journal.of_payment(&PaymentId::new(id(2))).unwrap(), Some(SaleNumber::new(2)));
    assert_eq!(journal.number(SaleNumber::new(2)).unwrap().unwrap().order().reference, "R2");
    assert_eq!(
        journal.key(SaleNumber::new(2)).unwrap().unwrap(),
        ("till-1".to_owned(), Reference::parse("R2").unwrap())
    );
    assert!(
        journal.number(SaleNumber::new(99)).unwrap().is_none()
            && journal.key(SaleNumber::new(u64::MAX)).unwrap().is_none()
    );
    drop(journal);
    well(&file(&dir));
}

/// The statements that turn a journal back into one of format 3.
const FORMAT_3: &str = "DROP TABLE close; DROP TABLE payment; ALTER TABLE about DROP COLUMN payments; ALTER TABLE about DROP COLUMN whole_until; \
     DROP TABLE receipt; UPDATE about SET format = 3;";

#[test]
fn a_journal_of_format_3_is_indexed_at_its_first_start_and_what_that_program_wrote_later_at_the_next() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        (1..=3).for_each(|number| buy(&mut db, number, NOON));
        give_back(&mut db, 4, UNKNOWN, NOON);
    }
    sql(&file(&dir), FORMAT_3);
    let mut db = open(&file(&dir));
    assert_eq!(
        (db.of_payment(&PaymentId::new(id(2))).unwrap(), referring(&db, UNKNOWN)),
        (Some(SaleNumber::new(2)), vec![4])
    );
    assert_eq!(number(&file(&dir), "SELECT format FROM about"), 7);
    assert_eq!(number(&file(&dir), "PRAGMA user_version"), 2, "the earlier program may go on with it");
    buy(&mut db, 5, NOON);
    // After a downgrade, the earlier program writes its steps without the index.
    buy(&mut db, 6, NOON);
    give_back(&mut db, 7, UNKNOWN, NOON);
    drop(db);
    sql(&file(&dir), "DELETE FROM payment WHERE sale >= 6");
    // The program with format 2 does not know entries either.
    let first = serde_json::to_string(&[started(8, "R8")]).unwrap();
    let then = serde_json::to_string(&[asked(), approved(8), ended()]).unwrap();
    sql(
        &file(&dir),
        &format!(
            "INSERT INTO sale(number, till, reference) VALUES (8, 'till-1', 'R8');
            INSERT INTO step(id, sale, unix_ms, records) VALUES (8 << 20, 8, {NOON}, '{first}'), (8 << 20 | 1, 8, {NOON}, '{then}')"
        ),
    );
    let db = open(&file(&dir));
    for number in [1, 5, 6, 7, 8] {
        assert_eq!(db.of_payment(&PaymentId::new(id(number))).unwrap(), Some(SaleNumber::new(number)));
    }
    assert_eq!(referring(&db, UNKNOWN), [4, 7]);
    drop(db);
    well(&file(&dir));
}

#[test]
fn a_start_reads_only_what_came_after_the_last_one_that_was_indexed() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    (1..=100).for_each(|number| buy(&mut db, number, NOON));
    // Without a restart, the file itself records how far the index reaches.
    let until = number(&file(&dir), "SELECT payments FROM about");
    assert!((340..=400).contains(&until), "{until} of 400 steps");
    drop(db);
    drop(open(&file(&dir)));
    assert_eq!(number(&file(&dir), "SELECT payments FROM about"), 400);
    // The agent does not read steps before that position again.
    sql(&file(&dir), "DELETE FROM payment WHERE sale = 50; UPDATE about SET payments = 300");
    assert_eq!(open(&file(&dir)).of_payment(&PaymentId::new(id(50))).unwrap(), None);
    sql(&file(&dir), "UPDATE about SET payments = 0");
    assert_eq!(open(&file(&dir)).of_payment(&PaymentId::new(id(50))).unwrap(), Some(SaleNumber::new(50)));
}

#[test]
fn the_index_cannot_make_up_what_the_steps_do_not_say() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        (1..=3).for_each(|number| buy(&mut db, number, NOON));
        give_back(&mut db, 4, UNKNOWN, NOON);
    }
    sql(
        &file(&dir),
        &format!(
            "INSERT INTO payment VALUES ('{UNKNOWN}', 1, 2), ('{UNKNOWN}', 1, 77), ('{}', 1, 1), ('{}', 0, 2), ('{UNKNOWN}', 0, 3)",
            id(3),
            id(1)
        ),
    );
    let db = open(&file(&dir));
    assert_eq!(
        db.of_payment(&PaymentId::new(UNKNOWN)).unwrap(),
        None,
        "neither sale 2, whose payment is another, nor 77, which is not there"
    );
    assert_eq!(
        db.of_payment(&PaymentId::new(id(3))).unwrap(),
        Some(SaleNumber::new(3)),
        "and not sale 1, which stands before it"
    );
    assert_eq!((referring(&db, &id(1)), referring(&db, UNKNOWN)), (vec![], vec![4]));
    drop(db);
    well(&file(&dir));
    // An unreadable transaction counts neither as absent nor as the owner of another payment.
    sql(&file(&dir), "UPDATE step SET records = '[{\"kind\":\"teleported\"}]' WHERE id = 2 << 20 | 1");
    assert!(matches!(open(&file(&dir)).of_payment(&PaymentId::new(id(2))), Err(Error::Unreadable { .. })));
}

#[test]
fn a_step_and_its_ids_are_on_the_disk_together_or_not_at_all() {
    let (dir, cut) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut db = open(&file(&dir));
    buy(&mut db, 1, NOON);
    give_back(&mut db, 2, UNKNOWN, NOON);
    let wal = fs::read(dir.path().join("journal.db-wal")).unwrap();
    let mut seen = Vec::new();
    // The power fails after each page that has reached the WAL.
    for pages in 0..40 {
        fs::copy(file(&dir), file(&cut)).unwrap();
        fs::write(cut.path().join("journal.db-wal"), &wal[..32 + pages * (24 + 4096)]).unwrap();
        let counts = ["%host-approved%", "%refund%", "%\"ended\"%\"id\"%"]
            .map(|what| number(&file(&cut), &format!("SELECT count(*) FROM step WHERE records LIKE '{what}'")));
        let indexed = number(&file(&cut), "SELECT count(*) FROM payment");
        assert_eq!(counts.iter().sum::<i64>(), indexed, "{pages} pages: {counts:?}");
        seen.push(indexed);
    }
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3]);
}

fn rows(path: &Path) -> i64 {
    number(path, "SELECT count(*) FROM payment")
}

#[test]
fn a_transaction_that_leaves_takes_its_ids_with_it() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    for day in 0..20_u64 {
        let (number, at) = (2 * day + 1, NOON + i64::try_from(day).unwrap() * DAY);
        buy(&mut db, number, at);
        give_back(&mut db, number + 1, UNKNOWN, at);
    }
    assert_eq!(rows(&file(&dir)), 60);
    db.keep_days(Some(10));
    let gone: u64 = std::iter::from_fn(|| Some(db.prune().unwrap())).take_while(|gone| *gone > 0).sum();
    assert_eq!((gone, rows(&file(&dir))), (20, 30));
    assert_eq!(
        (db.of_payment(&PaymentId::new(id(1))).unwrap(), db.of_payment(&PaymentId::new(id(39))).unwrap()),
        (None, Some(SaleNumber::new(39)))
    );
    assert_eq!(referring(&db, UNKNOWN), (0..10).map(|day| 22 + 2 * day).collect::<Vec<_>>());
    drop(db);
    well(&file(&dir));
}

/// The statements that turn a journal back into one of format 4. That format knows neither reversals in the index nor a
/// look-up that continues.
const FORMAT_4: &str = "DROP TABLE close; DELETE FROM payment WHERE own = 2; ALTER TABLE about DROP COLUMN whole_until; DROP TABLE receipt; \
     UPDATE about SET format = 4;";

#[test]
fn a_journal_of_format_4_has_its_reversals_in_the_index_after_its_first_start() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        buy(&mut db, 1, NOON);
        leave_open(&mut db, 2, "R2", NOON);
        let payment = json!({"id": id(2), "amount": {"minor": 1234, "currency": "EUR"}});
        let asked = json!({"kind": "reversal-asked", "payment": payment, "reference": "again"});
        let done = json!({"kind": "reversal-done", "payment": id(2), "reversal": "back"});
        db.write(SaleNumber::new(2), 3, NOON, &[record(json!({"kind": "reversing", "why": "late"})), record(asked)])
            .unwrap();
        db.write(SaleNumber::new(2), 4, NOON, &[record(done)]).unwrap();
        assert_eq!(db.of_reversal(&PaymentId::new("back")).unwrap(), Some(SaleNumber::new(2)));
    }
    sql(&file(&dir), FORMAT_4);
    let (journal, opened) = open_journal(&file(&dir)).unwrap();
    assert_eq!((opened.unsettled.len(), opened.known_until_unix_ms), (1, Some(NOON)));
    assert_eq!(
        (journal.of_reversal(&PaymentId::new("back")).unwrap(), journal.of_payment(&PaymentId::new(id(1))).unwrap()),
        (Some(SaleNumber::new(2)), Some(SaleNumber::new(1)))
    );
    journal.look_from(Some(NOON - 1)).unwrap();
    drop(journal);
    assert_eq!(number(&file(&dir), "SELECT format FROM about"), 7);
    assert_eq!(number(&file(&dir), "PRAGMA user_version"), 2, "the earlier program may go on with it");
    assert_eq!(open_journal(&file(&dir)).unwrap().1.known_until_unix_ms, Some(NOON - 1));
    well(&file(&dir));
}

#[test]
fn payments_of_a_journal_that_was_taken_over_are_found_under_their_new_numbers() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    {
        let mut db = open(&file(&old));
        (1..=3).for_each(|number| buy(&mut db, number, NOON));
        give_back(&mut db, 4, UNKNOWN, NOON);
    }
    sql(&file(&old), FORMAT_3);
    {
        let mut db = open(&file(&new));
        for at in 10..=11 {
            db.write(SaleNumber::new(at), 0, NOON, &[started(at, &format!("N{at}"))]).unwrap();
            db.write(SaleNumber::new(at), 1, NOON, &[asked(), approved(at), ended()]).unwrap();
        }
    }
    adopt(&file(&new), &file(&old), None, NOON).unwrap();
    assert_eq!(rows(&file(&new)), 2 + 3 + 2, "in the same transaction");
    let db = open(&file(&new));
    assert_eq!(
        (db.of_payment(&PaymentId::new(id(2))).unwrap(), db.of_payment(&PaymentId::new(id(11))).unwrap()),
        (Some(SaleNumber::new(13)), Some(SaleNumber::new(11)))
    );
    assert_eq!(referring(&db, UNKNOWN), [15]);
    drop(db);
    well(&file(&new));
}

// ---- References that reveal an outdated copy

/// Returns a gateway reference in the agent's form.
fn ours(number: u64) -> String {
    format!("12345678-{number}-{:032x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn started_as(number: u64, reference_at_gateway: &str) -> Record {
    let mut order = order(number, &format!("R{number}"));
    order["merchantTransactionId"] = json!(reference_at_gateway);
    record(json!({"kind": "started", "order": order}))
}

#[test]
fn a_reference_at_the_gateway_is_known_or_not() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    {
        let mut db = open(&file(&old));
        for number in 1..=3 {
            db.write(SaleNumber::new(number), 0, NOON, &[started_as(number, &ours(number))]).unwrap();
        }
        // The reference in the gateway's answer differs from the one that was sent.
        let host = json!({"id": id(3), "code": "000.000.000", "more": {"merchantTransactionId": ours(9)}});
        let said = json!({"kind": "reversing", "why": "no answer", "host": host});
        db.write(SaleNumber::new(3), 1, NOON, &[asked(), record(said)]).unwrap();
        assert!(db.knows(&ours(2)).unwrap());
        for unknown in
            [&ours(4), &ours(9), &format!("12345678-2-{:032x}", 7), "12345678-x-1", "x", "", "9-9223372036854775807-1"]
        {
            assert!(!db.knows(unknown).unwrap(), "{unknown}");
        }
        // A till cannot make a reference known either.
        let mut order = order(4, &ours(5));
        order["parameters"] = json!([["custom", ours(4)]]);
        db.write(SaleNumber::new(4), 0, NOON, &[record(json!({"kind": "started", "order": order}))]).unwrap();
        assert!(!db.knows(&ours(4)).unwrap() && !db.knows(&ours(5)).unwrap());
        // A later request of a transaction has its own reference.
        let payment = json!({"id": id(3), "amount": {"minor": 1234, "currency": "EUR"}});
        let asked =
            json!([{"kind": "reversal-asked", "payment": payment, "reference": format!("12345678-3-{:032x}", 33)}]);
        let step = format!("INSERT INTO step(id, sale, unix_ms, records) VALUES (3 << 20 | 2, 3, {NOON}, '{asked}')");
        sql(&file(&old), &step);
        assert!(db.knows(&format!("12345678-3-{:032x}", 33)).unwrap());
    }
    {
        let mut db = open(&file(&new));
        db.write(SaleNumber::new(7), 0, NOON, &[started_as(7, &ours(7))]).unwrap();
        db.write(SaleNumber::new(7), 1, NOON, &[ended()]).unwrap();
    }
    // Adopting raises the numbers and keeps the references. Adopting twice has the same effect.
    adopt(&file(&new), &file(&old), None, NOON).unwrap();
    let third = TempDir::new().unwrap();
    {
        let mut db = open(&file(&third));
        buy(&mut db, 50, NOON);
    }
    adopt(&file(&third), &file(&new), None, NOON).unwrap();
    for path in [file(&new), file(&third)] {
        let db = open(&path);
        assert_eq!([2, 7, 9].map(|number| db.knows(&ours(number)).unwrap()), [true, true, false]);
    }
}

#[test]
fn what_is_not_known_is_looked_for_from_the_last_thing_that_is() {
    let dir = TempDir::new().unwrap();
    assert_eq!(open_journal(&file(&dir)).unwrap().1.known_until_unix_ms, None);
    buy(&mut open(&file(&dir)), 1, NOON);
    assert_eq!(open_journal(&file(&dir)).unwrap().1.known_until_unix_ms, Some(NOON));

    // The old board's journal ended a day before this one and contains an open sale.
    let old = TempDir::new().unwrap();
    {
        let mut db = open(&file(&old));
        leave_open(&mut db, 2, "open", NOON - 2 * DAY);
        buy(&mut db, 3, NOON - DAY);
    }
    adopt(&file(&dir), &file(&old), None, NOON + DAY).unwrap();
    let until = || open_journal(&file(&dir)).unwrap().1;
    let opened = until();
    assert_eq!((opened.known_until_unix_ms, opened.last_unix_ms), (Some(NOON - DAY), NOON));
    // A third journal has no open transactions.
    let third = TempDir::new().unwrap();
    {
        let mut db = open(&file(&third));
        db.write(SaleNumber::new(1), 0, NOON - 9 * DAY, &[started(1, "nine")]).unwrap();
        db.write(SaleNumber::new(1), 1, NOON - 9 * DAY, &[ended()]).unwrap();
    }
    adopt(&file(&dir), &file(&third), None, NOON + DAY).unwrap();
    let from_the_third = Some(NOON - 9 * DAY);
    assert_eq!(until().known_until_unix_ms, from_the_third, "what was given back of its sales since is not known here");
    // This journal goes on. Until a look-up is answered, look-ups still begin at the earlier time.
    buy(&mut open(&file(&dir)), 20, NOON + 3 * DAY);
    assert_eq!(until().known_until_unix_ms, from_the_third);
    open_journal(&file(&dir)).unwrap().0.look_from(None).unwrap();
    assert_eq!(until().known_until_unix_ms, Some(NOON - DAY), "it was answered, and one sale is still open");
    let open_sale = until().unsettled[0].order().number;
    open(&file(&dir)).write(open_sale, 3, NOON + 4 * DAY, &[ended()]).unwrap();
    assert_eq!(until().known_until_unix_ms, Some(NOON + 4 * DAY));
}

/// Writes a transaction that began at this time on the terminal with this id.
fn begin_as(path: &Path, number: u64, terminal: &str, unix_ms: i64) {
    let mut order = order(number, &format!("r{number}"));
    order["terminalId"] = terminal.into();
    let mut db = open(path);
    db.write(SaleNumber::new(number), 0, unix_ms, &[record(json!({"kind": "started", "order": order}))]).unwrap();
    db.write(SaleNumber::new(number), 1, unix_ms, &[ended()]).unwrap();
}

/// Checks the terminal ids since a given time. An unknown transaction since then was sent under one of them.
#[test]
fn the_ids_of_the_terminals_of_a_time_are_those_of_its_transactions_and_of_the_latest_one() {
    let (dir, old) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let since = |unix_ms| open_journal(&file(&dir)).unwrap().0.terminals_since(unix_ms).unwrap();
    let are = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(since(NOON), are(&[]));
    begin_as(&file(&dir), 1, "1", NOON);
    begin_as(&file(&dir), 2, "2", NOON + 2 * DAY);
    begin_as(&file(&dir), 3, "3", NOON + 2 * DAY + 1);
    for (from, ids) in [(NOON, ["1", "2", "3"].as_slice()), (NOON + 2 * DAY, &["2", "3"]), (NOON + 9 * DAY, &["3"])] {
        assert_eq!(since(from), are(ids), "{} days on", (from - NOON) / DAY);
    }
    // The other board's last transaction went on for days after it began.
    let its_last = NOON + 3 * DAY + DAY / 4;
    begin_as(&file(&old), 11, "4", NOON - 9 * DAY);
    begin_as(&file(&old), 12, "5", NOON - 3 * DAY);
    open(&file(&old)).write(SaleNumber::new(12), 2, its_last, &[asked()]).unwrap();
    adopt(&file(&dir), &file(&old), None, NOON + 4 * DAY).unwrap();
    begin_as(&file(&dir), 20, "6", NOON + 4 * DAY);
    for (from, ids) in [(NOON + 4 * DAY, ["6"].as_slice()), (its_last + 1, &["6"]), (its_last, &["5", "6"])] {
        assert_eq!(since(from), are(ids), "{} days on", (from - NOON) / DAY);
    }
}
