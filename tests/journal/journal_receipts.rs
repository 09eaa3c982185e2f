//! Receipts in the journal. They are written when the next sale begins or at the end, and the first one is kept. They
//! are removed and moved with their sale. No hash of the chain covers them.

use std::path::Path;

use crate::book::{DAY, NOON, file, number, open, sell, sql, well};
use pos_journal::{Db, adopt};
use pos_terms::transaction::{ReceiptCopy, SaleNumber};
use tempfile::TempDir;

fn keep(db: &mut Db, sale: u64) {
    db.keep_receipt(SaleNumber::new(sale), ReceiptCopy::Merchant, format!("merchant's {sale}"));
    db.keep_receipt(SaleNumber::new(sale), ReceiptCopy::Customer, format!("customer's {sale}"));
}

fn kept(db: &Db, sale: u64) -> Option<String> {
    db.receipt(SaleNumber::new(sale), ReceiptCopy::Customer).unwrap()
}

fn written(path: &Path) -> i64 {
    number(path, "SELECT count(*) FROM receipt")
}

#[test]
fn a_receipt_is_written_with_the_next_beginning_or_at_the_end_and_stays_as_it_was() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    sell(&mut db, 1, "R1", NOON);
    keep(&mut db, 1);
    assert_eq!(
        (kept(&db, 1).as_deref(), written(&file(&dir))),
        (Some("customer's 1"), 0),
        "known, and no sync of its own"
    );
    sell(&mut db, 2, "R2", NOON);
    assert_eq!(written(&file(&dir)), 2);
    keep(&mut db, 2);
    db.write_receipts().unwrap();
    assert_eq!(written(&file(&dir)), 4);
    // A later receipt changes nothing.
    db.keep_receipt(SaleNumber::new(1), ReceiptCopy::Customer, "another".to_owned());
    db.write_receipts().unwrap();
    assert_eq!(kept(&db, 1).as_deref(), Some("customer's 1"));
    // A receipt that is lost in a power cut is missing. The others are there.
    keep(&mut db, 3);
    drop(db);
    let db = open(&file(&dir));
    assert_eq!((kept(&db, 1).as_deref(), kept(&db, 3)), (Some("customer's 1"), None));
    assert_eq!(db.receipt(SaleNumber::new(2), ReceiptCopy::Merchant).unwrap().as_deref(), Some("merchant's 2"));
    assert_eq!((kept(&db, 99), kept(&db, 2).as_deref()), (None, Some("customer's 2")));
    assert!(db.receipt(SaleNumber::new(u64::MAX), ReceiptCopy::Customer).is_err());
    drop(db);
    well(&file(&dir));
}

#[test]
fn receipts_leave_with_their_sale_also_those_that_an_earlier_program_left() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    for sale in 1..=100_u64 {
        sell(&mut db, sale, &format!("R{sale}"), NOON + i64::try_from(sale).unwrap() * DAY);
        keep(&mut db, sale);
    }
    db.write_receipts().unwrap();
    // A program that does not know receipts has removed a sale.
    drop(db);
    sql(&file(&dir), "INSERT INTO receipt VALUES (0, 'customer', 'of a sale that is gone')");
    let mut db = open(&file(&dir));
    db.keep_days(Some(90));
    let gone: u64 = std::iter::from_fn(|| Some(db.prune().unwrap())).take_while(|gone| *gone > 0).sum();
    assert_eq!((gone, written(&file(&dir))), (10, 180));
    assert_eq!((kept(&db, 10), kept(&db, 11).as_deref()), (None, Some("customer's 11")));
    drop(db);
    well(&file(&dir));
}

#[test]
fn receipts_are_taken_over_with_their_sales() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    {
        let mut db = open(&file(&old));
        sell(&mut db, 1, "old-1", NOON);
        keep(&mut db, 1);
        db.write_receipts().unwrap();
        let mut db = open(&file(&new));
        sell(&mut db, 1, "new-1", NOON);
        db.keep_receipt(SaleNumber::new(1), ReceiptCopy::Customer, "our own".to_owned());
        db.write_receipts().unwrap();
    }
    let adopted = adopt(&file(&new), &file(&old), None, NOON + DAY).unwrap();
    assert_eq!(adopted.added, 1);
    let db = open(&file(&new));
    assert_eq!(
        (kept(&db, 1).as_deref(), kept(&db, 2).as_deref()),
        (Some("our own"), Some("customer's 1")),
        "word for word"
    );
}

#[test]
fn a_journal_of_format_5_has_none_and_that_program_goes_on_with_it() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        sell(&mut db, 1, "R1", NOON);
    }
    sql(&file(&dir), "DROP TABLE close; DROP TABLE receipt; UPDATE about SET format = 5");
    let mut db = open(&file(&dir));
    assert_eq!(kept(&db, 1), None);
    assert_eq!((number(&file(&dir), "SELECT format FROM about"), number(&file(&dir), "PRAGMA user_version")), (7, 2));
    sell(&mut db, 2, "R2", NOON);
    keep(&mut db, 2);
    sell(&mut db, 3, "R3", NOON);
    assert_eq!(kept(&db, 2).as_deref(), Some("customer's 2"));
    drop(db);
    well(&file(&dir));
}
