//! The journal is lost at each moment of a transaction while the agent runs. Either all of it is removed, or only its
//! `-wal`, or another terminal's journal is moved over it, or a copy is written over it. The agent then charges no new
//! payment on the remaining files. Once a person has adopted the rescue journal, everything ends as after a power cut.
//! The judge reads the gateway's ledger.

use std::time::Duration;

use pos_journal::SoldMark;
use pos_terms::transaction::Kind;
use tokio::time::sleep;

use crate::world::World;
use crate::world::bank::Behaviour;
use crate::world::board::{End, TakenAway};
use crate::world::tills::{TillResult, Wish};

const HOUR: Duration = Duration::from_secs(3600);
/// A number above the number of commits of each of these transactions.
const MOMENTS: usize = 60;

const SCENARIOS: [(&str, Kind, &str, Behaviour); 6] = [
    ("sale, tap", Kind::Sale, "on waiting: tap tap", Behaviour::Approves),
    ("sale, chip", Kind::Sale, "on waiting: insert chip-no-cvm", Behaviour::Approves),
    ("sale, chip, declined", Kind::Sale, "on waiting: insert chip-no-cvm", Behaviour::Declines),
    ("sale, chip, answer lost", Kind::Sale, "on waiting: insert chip-no-cvm", Behaviour::BooksLate),
    ("pre-authorisation", Kind::PreAuthorisation, "on waiting: insert chip-no-cvm", Behaviour::Approves),
    ("by registration", Kind::ByRegistration, "", Behaviour::Approves),
];

/// Runs one transaction and takes the journal away at the nth moment. Returns `None` if the transaction has no such
/// moment.
fn play((name, kind, hand, behaviour): (&str, Kind, &str, Behaviour), how: TakenAway, nth: usize) -> Option<World> {
    let place = format!("{name} / {how:?} / {nth}");
    let world = World::new(hand);
    {
        let mut state = world.lock();
        // An earlier transaction has ended, so the mark is written and the reference known.
        state.wishes.push(Wish::new(1, Kind::ByRegistration, 500));
        state.wishes.push(Wish::new(2, kind, 1234));
        state.wishes.push(Wish::new(3, Kind::ByRegistration, 700));
    }
    world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        till.until_ready().await;
        world.lock().bank.behaviours.push_back(behaviour);
        world.takes_journal_away(nth, how);
        till.ask(1).await;
        till.until_final(1, HOUR / 6).await;
        if world.was_taken_away() {
            till.ask(2).await;
            assert!(is_refused(&world, 2), "{place}: {:?}", world.lock().wishes[2].told);
            // The agent saves open transactions as soon as the till has its answer.
            sleep(Duration::from_secs(1)).await;
        }
    });
    world.was_taken_away().then_some(())?;
    // The whole journal is still at its path.
    let is_whole = matches!(how, TakenAway::WalAlone | TakenAway::WrittenOver);
    let rescued = rescue_of(&world);
    // The agent starts with the remaining files. A till that repeats its request is not charged again.
    let end = world.boot(async |mut till| {
        sleep(HOUR).await;
        till.ask(0).await;
        till.ask(1).await;
        if is_whole {
            till.until_final(1, 48 * HOUR).await;
        } else {
            assert!(is_refused(&world, 0) && is_refused(&world, 1), "{place}: {:?}", world.lock().wishes);
        }
    });
    assert_eq!(end, End::Done, "{place}");
    // A person adopts the rescue journal, unless the whole journal is still at its path.
    if !is_whole {
        let now = world.lock().clock_ms();
        let rescued = rescued.unwrap_or_else(|| panic!("{place}: nothing was saved"));
        if how == TakenAway::Replaced {
            let mark = SoldMark::of("12345678", world.folder(), &world.journal());
            pos_journal::accept(&world.journal(), &mark, "J. Doe", now).unwrap();
        }
        pos_journal::adopt(&world.journal(), &rescued, Some("12345678"), now).unwrap();
    }
    let end = world.boot(async |mut till| {
        till.until_ready().await;
        for wish in 0..3 {
            till.ask(wish).await;
            till.until_final(wish, 48 * HOUR).await;
        }
    });
    assert_eq!(end, End::Done, "{place}");
    Some(world)
}

fn is_refused(world: &World, wish: usize) -> bool {
    // With an unusable journal, the till gets "unconfirmed".
    world.lock().wishes[wish].told.last() == Some(&TillResult::Unconfirmed { needs_a_person: false })
}

fn rescue_of(world: &World) -> Option<std::path::PathBuf> {
    let mut files = std::fs::read_dir(world.folder()).unwrap().map(|entry| entry.unwrap().path());
    files.find(|file| file.to_string_lossy().ends_with("-rescue.db"))
}

#[test]
fn whatever_becomes_of_the_journal_nobody_is_charged_twice_and_nothing_stays_open() {
    let mut played = 0;
    for scenario in SCENARIOS {
        for how in [TakenAway::Wholly, TakenAway::WalAlone, TakenAway::Replaced, TakenAway::WrittenOver] {
            for nth in 0..MOMENTS {
                let Some(world) = play(scenario, how, nth) else { break };
                let (violations, ends) = world.judge();
                assert!(violations.is_empty(), "{scenario:?} / {how:?} / {nth}: {violations:?}\n{}", world.story());
                assert_eq!(ends.len(), 3, "{scenario:?} / {how:?} / {nth}: {ends:?}");
                played += 1;
            }
        }
    }
    println!("journals that were taken away: {played}, violations: 0");
    assert!(played > 100, "{played}");
}
