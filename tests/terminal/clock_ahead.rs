//! A board's clock was a year ahead during one sale and is then correct again. The next start takes sales, because the
//! reader's clock and the gateway's both confirm the earlier time. If one of them does not confirm it, the terminal
//! waits for a technician.

use std::time::Duration;

use crate::world::World;
use crate::world::bank_server;
use crate::world::board::End;
use crate::world::tills::{Till, TillResult, Wish};
use pos_journal::{Db, inspect};
use pos_terms::transaction::Kind;
use tokio::time::sleep;

const YEAR_MS: i64 = 365 * 24 * 3600 * 1000;

/// Returns a world in which a clock that was a year ahead recorded one sale. The reader's clock had been set while the
/// board's clock was correct. The gateway shows this certificate.
fn with_a_record_of_next_year(certificate: usize) -> World {
    let world = World::new("");
    world.lock().bank.certificate = certificate;
    std::fs::write(world.folder().join("ca.pem"), bank_server::tls(certificate).0).unwrap();
    world.lock().points.plan(None);
    world.lock().wishes = (1..=4).map(|number| Wish::new(number, Kind::ByRegistration, 500)).collect();
    let end = world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        // The agent sets the reader's clock when the terminal is idle.
        sleep(Duration::from_secs(80)).await;
        world.lock().clock_off_ms = YEAR_MS;
        till.wants(1).await;
        // In this time the reader's clock could be set again, which would hide the time that it knows.
        sleep(Duration::from_secs(80)).await;
        world.lock().clock_off_ms = 0;
    });
    assert_eq!(end, End::Done);
    world
}

fn is_approved(world: &World, wish: usize) -> bool {
    matches!(world.lock().wishes[wish].told.last(), Some(TillResult::Approved { .. }))
}

#[test]
fn a_record_of_next_year_does_not_stop_the_terminal_for_a_year() {
    for certificate in [0, bank_server::ENDS_SOON] {
        goes_on(&with_a_record_of_next_year(certificate));
    }
}

fn goes_on(world: &World) {
    assert!(is_approved(world, 0));
    let end = world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(2).await;
        assert!(is_approved(world, 2), "{:?}", world.lock().wishes[2].told);
    });
    assert_eq!(end, End::Done);
    let found = inspect(&world.journal()).unwrap().sales.unwrap();
    let set_back = found.set_back.clone().expect("the book says that the clock was set back");
    assert!(set_back.by.contains("reader") && set_back.by.contains("gateway"), "{set_back:?}");
    assert!(set_back.latest_unix_ms > set_back.now_unix_ms + YEAR_MS - 24 * 3600 * 1000, "{set_back:?}");
    assert!(found.latest.unix_ms < set_back.latest_unix_ms, "{found:?}");
    // The next start needs no other clock to confirm the time.
    world.lock().bank.away = true;
    let end = world.boot(async |till| {
        till.until_ready().await;
        assert!(till.is_ready().await);
    });
    assert_eq!(end, End::Done);
}

/// Checks a start that is too short for the check of an idle reader, which takes place each minute. The agent still
/// sets the reader's clock after the first answers of reader and gateway, in either order. The clock therefore confirms
/// the time at the next start.
#[test]
fn whichever_witness_is_heard_first_the_clock_goes_back() {
    for reader_first in [true, false] {
        for reader_first_again in [true, false] {
            let world = World::new("");
            world.lock().points.plan(None);
            world.lock().wishes = (1..=3).map(|number| Wish::new(number, Kind::ByRegistration, 500)).collect();
            let end = world.boot(async |mut till| {
                heard_in_this_order(&world, &till, reader_first).await;
                till.wants(0).await;
                world.lock().clock_off_ms = YEAR_MS;
                till.wants(1).await;
                world.lock().clock_off_ms = 0;
            });
            assert_eq!(end, End::Done);
            let end = world.boot(async |mut till| {
                heard_in_this_order(&world, &till, reader_first_again).await;
                till.wants(2).await;
                let told = world.lock().wishes[2].told.clone();
                assert!(is_approved(&world, 2), "{reader_first} {reader_first_again}: {told:?}");
            });
            assert_eq!(end, End::Done);
        }
    }
}

/// Waits until the reader and the gateway have answered, in this order.
async fn heard_in_this_order(world: &World, till: &Till, reader_first: bool) {
    world.lock().bank.away = reader_first;
    sleep(Duration::from_secs(3)).await;
    world.lock().bank.away = false;
    // The agent asks the gateway again within seconds.
    sleep(Duration::from_secs(10)).await;
    assert!(till.is_ready().await, "the reader first: {reader_first}");
}

#[test]
fn without_the_gateways_clock_it_waits_for_a_technician() {
    let world = with_a_record_of_next_year(0);
    world.lock().bank.away = true;
    let end = world.boot(async |mut till| {
        sleep(Duration::from_secs(600)).await;
        assert!(!till.is_ready().await);
        till.wants(2).await;
        let told = world.lock().wishes[2].told.clone();
        let Some(TillResult::Unknown(why)) = told.last() else { panic!("{told:?}") };
        assert!(why.contains("the journal's latest record is from") && why.contains("set-clock-back"), "{why}");
    });
    assert_eq!(end, End::Done);
    // The technician has set the board's clock and confirms it.
    let now = world.lock().clock_ms();
    Db::open(&world.journal()).unwrap().0.set_clock_back(now, "J. Doe").unwrap();
    world.lock().bank.away = false;
    let end = world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(3).await;
        assert!(is_approved(&world, 3), "{:?}", world.lock().wishes[3].told);
    });
    assert_eq!(end, End::Done);
}

#[test]
fn a_record_of_next_year_does_not_hide_that_the_journal_is_an_old_copy() {
    const DAYS: Duration = Duration::from_secs(5 * 24 * 3600);
    for by_a_technician in [false, true] {
        let world = World::new("");
        world.lock().points.plan(None);
        world.lock().wishes = (1..=3).map(|number| Wish::new(number, Kind::ByRegistration, 500)).collect();
        let end = world.boot(async |mut till| {
            till.until_ready().await;
            till.wants(0).await;
            world.lock().clock_off_ms = YEAR_MS;
            till.wants(1).await;
            world.keep_copy();
            // The board goes on. The copy is restored days later.
            world.lock().clock_off_ms = 0;
            till.wants(2).await;
        });
        assert_eq!(end, End::Done);
        world.wait(DAYS);
        world.put_copy_back();
        if by_a_technician {
            let now = world.lock().clock_ms();
            Db::open(&world.journal()).unwrap().0.set_clock_back(now, "J. Doe").unwrap();
        }
        let end = world.boot(async |till| {
            sleep(Duration::from_secs(600)).await;
            let attention = till.attention().await;
            assert!(attention.iter().any(|what| what.contains("this journal is an outdated copy")), "{attention:?}");
        });
        assert_eq!(end, End::Done);
    }
}
