//! The journal stays small after any number of sales. Its WAL is copied back and old days are removed, even if no card
//! is ever presented and even if the reader is never free.

use std::path::Path;
use std::time::Duration;

use crate::world::board::End;
use crate::world::tills::Wish;
use crate::world::{self, World};
use pos_journal::Reading;
use pos_terms::transaction::Kind;
use rusqlite::Connection;

const HOUR_MS: i64 = 3600 * 1000;
/// The number of payments with a stored card. The next constant is the number per day.
const PAYMENTS: usize = 1500;
const OF_A_DAY: usize = 3;
/// The number of payments with a stored card while a sale waits for its card.
const BESIDE: usize = 400;
/// The number of days that the agent keeps by default.
const KEPT: usize = 400;
/// The greatest permitted length of the WAL in bytes, which is four times its initial length.
const LONGEST_WAL: u64 = 4 << 20;

fn wal(journal: &Path) -> u64 {
    std::fs::metadata(format!("{}-wal", journal.display())).map_or(0, |facts| facts.len())
}

fn count(journal: &Path, what: &str) -> usize {
    let count = Connection::open(journal).unwrap().query_row(what, [], |row| row.get::<_, i64>(0)).unwrap();
    usize::try_from(count).unwrap()
}

/// Makes sales with stored cards only. Returns the greatest length of the WAL.
async fn sell(world: &World, till: &mut world::tills::Till, payments: std::ops::Range<usize>) -> u64 {
    let journal = world.journal();
    let mut longest = 0;
    for wish in payments {
        till.wants(wish).await;
        till.until_final(wish, Duration::from_secs(60)).await;
        longest = wal(&journal).max(longest);
        world.lock().clock_off_ms += 24 * HOUR_MS / i64::try_from(OF_A_DAY).unwrap();
    }
    longest
}

#[test]
fn payments_without_a_card_at_the_reader_leave_a_short_wal_and_no_old_days() {
    let world = World::new("");
    world.lock().points.plan(None);
    world.lock().wishes = (1..=PAYMENTS).map(|number| Wish::new(number, Kind::ByRegistration, 500)).collect();
    let end = world.boot(async |mut till| {
        till.until_ready().await;
        let longest = sell(&world, &mut till, 0..PAYMENTS).await;
        assert!(longest < LONGEST_WAL, "the WAL was {longest} bytes long");
        let journal = world.journal();
        let sold = count(&journal, "SELECT max(number) FROM sale");
        assert_eq!(sold, PAYMENTS);
        let days = count(&journal, "SELECT count(*) FROM day");
        assert!((KEPT..KEPT + 3).contains(&days), "{days} days are kept");
        let kept = count(&journal, "SELECT count(*) FROM sale");
        assert!((KEPT * OF_A_DAY - OF_A_DAY..KEPT * OF_A_DAY + 40).contains(&kept), "{kept} transactions are kept");
        assert_eq!(Reading::open(&journal).unwrap().verify().unwrap().altered, None);
    });
    assert_eq!(end, End::Done);
}

#[test]
fn a_reader_that_is_never_free_does_not_keep_the_wal_from_being_copied() {
    // A sale waits throughout: no card is presented.
    let world = World::new("");
    world.lock().points.plan(None);
    let stored = (1..=BESIDE).map(|number| Wish::new(number, Kind::ByRegistration, 500));
    world.lock().wishes = stored.chain([Wish::new(BESIDE + 1, Kind::Sale, 1234)]).collect();
    let end = world.boot(async |mut till| {
        till.until_ready().await;
        till.ask(BESIDE).await;
        let longest = sell(&world, &mut till, 0..BESIDE).await;
        assert!(
            world.lock().wishes[BESIDE].told.last().is_some_and(|told| !told.is_final()),
            "it still waits for its card"
        );
        assert!(longest < 2 * LONGEST_WAL, "the WAL was {longest} bytes long");
    });
    assert_eq!(end, End::Done);
}
