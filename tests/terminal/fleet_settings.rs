//! Settings from a fleet in virtual time: a trial that is kept, given back by itself, or tried again later. Each
//! restart boots the next board from the disk.

use std::time::Duration;

use pos_agent::till::FleetSettingsRequest;
use pos_fleet_terms::{Reported, SettingsState};
use pos_terms::transaction::Kind;
use pos_test_kit::signed;
use serde_json::json;
use tokio::time::sleep;

use crate::world::World;
use crate::world::board::End;
use crate::world::tills::{Till, TillResult, Wish};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

fn shop() -> World {
    let world = World::new("");
    world.lock().points.plan(None);
    world.lock().fleet = signed::section();
    world
}

async fn report(till: &Till) -> Reported {
    till.fleet_settings(|reply| FleetSettingsRequest::Report { reply }).await.unwrap().unwrap()
}

async fn acknowledge(till: &Till, number: i64) -> Reported {
    let entries = till.entries().await;
    let ask = |reply| FleetSettingsRequest::Acknowledged { journal: entries.journal, number, reply };
    till.fleet_settings(ask).await.unwrap().unwrap()
}

/// Gives settings and lets the agent restart with them.
fn gives(world: &World, version: u64) {
    let envelope = signed::settings(version, json!({ "terminal.card-timeout-s": 30 }));
    let end = world.boot(async |till| {
        till.until_ready().await;
        till.fleet_settings(|reply| FleetSettingsRequest::Settings { envelope, reply }).await;
        std::future::pending::<()>().await;
    });
    assert_eq!(end, End::Restarted);
}

/// Boots a board and does nothing. Returns how long it ran until it restarted by itself.
fn runs_until_it_restarts(world: &World) -> Duration {
    let before = world.now();
    assert_eq!(world.boot(async |_| sleep(48 * HOUR).await), End::Restarted);
    world.now() - before
}

#[test]
fn settings_without_a_reader_are_given_back_by_themselves_in_ten_minutes_without_a_network() {
    let world = shop();
    gives(&world, 1);
    world.lock().bank.away = true;
    world.lock().reader_plugged = false;
    let ran = runs_until_it_restarts(&world);
    assert!((10 * MINUTE..11 * MINUTE).contains(&ran), "{ran:?}");
    world.lock().reader_plugged = true;
    world.lock().bank.away = false;
    world.boot(async |till| {
        till.until_ready().await;
        let report = report(&till).await;
        assert_eq!((report.state, report.version, report.tried), (SettingsState::Returned, 0, 1));
        assert_eq!(report.reason.unwrap().code, "no-reader");
        let told = till.attention().await;
        assert!(told.iter().any(|told| told.contains("went back from the fleet's settings, version 1")), "{told:?}");
        sleep(48 * HOUR).await;
        assert_eq!(self::report(&till).await.state, SettingsState::Returned, "never again");
    });
}

#[test]
fn settings_are_kept_after_the_acknowledgement_and_not_before() {
    let world = shop();
    gives(&world, 1);
    let end = world.boot(async |till| {
        till.until_ready().await;
        sleep(MINUTE).await;
        let trial = report(&till).await;
        assert_eq!((trial.state, trial.version), (SettingsState::Trial, 1));
        assert!(till.attention().await.iter().any(|told| told.contains("being tried")));
        assert_eq!(acknowledge(&till, trial.entry - 1).await.state, SettingsState::Trial);
        assert_eq!(acknowledge(&till, trial.entry).await.state, SettingsState::Kept);
        sleep(24 * HOUR).await;
        assert!(till.attention().await.is_empty());
    });
    assert_eq!(end, End::Done, "no further restart");
    world.boot(async |till| {
        till.until_ready().await;
        assert_eq!((report(&till).await.state, report(&till).await.version), (SettingsState::Kept, 1));
    });
}

#[test]
fn settings_that_nobody_acknowledged_are_tried_again_after_an_hour() {
    let world = shop();
    gives(&world, 1);
    let ran = runs_until_it_restarts(&world);
    assert!((10 * MINUTE..11 * MINUTE).contains(&ran), "{ran:?}");
    let ran = runs_until_it_restarts(&world);
    assert!((HOUR..HOUR + MINUTE).contains(&ran), "{ran:?}");
    world.boot(async |till| {
        till.until_ready().await;
        let trial = report(&till).await;
        assert_eq!((trial.state, trial.version), (SettingsState::Trial, 1));
        assert_eq!(acknowledge(&till, trial.entry).await.state, SettingsState::Kept);
    });
}

#[test]
fn a_sale_at_the_reader_ends_before_the_settings_are_given_back() {
    let world = shop();
    gives(&world, 1);
    world.lock().wishes.push(Wish::new(0, Kind::Sale, 1000));
    let before = world.now();
    let end = world.boot(async |till| {
        till.until_ready().await;
        sleep(9 * MINUTE + Duration::from_secs(40)).await;
        // No card is presented. The trial's setting lets the sale wait for 30 s.
        till.ask(0).await;
        sleep(HOUR).await;
    });
    assert_eq!(end, End::Restarted);
    let ran = world.now() - before;
    assert!(ran > 10 * MINUTE + Duration::from_secs(5) && ran < 11 * MINUTE, "{ran:?}");
    world.boot(async |till| {
        till.until_ready().await;
        till.look(0).await;
        assert_eq!(report(&till).await.state, SettingsState::Unheard);
    });
    let state = world.lock();
    let told = state.wishes[0].told.last().unwrap().clone();
    assert!(matches!(&told, TillResult::Nothing(why) if !why.contains("shutting down")), "{told:?}");
}
