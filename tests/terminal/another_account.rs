//! The account at the gateway is changed while transactions are open. With the new account's access, the agent cannot
//! find requests to the old one. It neither looks them up, nor reverses them, nor reports them as never received. The
//! transactions wait, and every till and the status say so. They continue automatically once the old account is back.

use std::time::Duration;

use pos_terms::transaction::Kind;
use tokio::time::sleep;

use crate::world::World;
use crate::world::bank::Behaviour;
use crate::world::host_rules::{self, HostRules};
use crate::world::tills::{By, Earlier, TillResult, Wish};

const HOUR: Duration = Duration::from_secs(3600);
/// The account of another shop.
const ANOTHER: &str = "8a8294174b7ecb28014b9699220015cb";

fn last_told(world: &World, wish: usize) -> Option<TillResult> {
    world.lock().wishes[wish].told.last().cloned()
}

fn of_the_first(number: usize, kind: Kind, by: By) -> Wish {
    Wish { of: Some(Earlier::Wish { number: 1, by }), till: "till-1".to_owned(), ..Wish::new(number, kind, 300) }
}

/// Returns a world with an approved sale, its follow-up, and a sale and a refund that were carried out without an
/// answer.
fn with_open_transactions(host_rules: HostRules) -> World {
    let world = World::new("");
    {
        let mut state = world.lock();
        state.bank.host_rules = host_rules;
        state.wishes.push(Wish { till: "till-1".to_owned(), ..Wish::new(1, Kind::ByRegistration, 2000) });
        state.wishes.push(Wish::new(2, Kind::ByRegistration, 1000));
        state.wishes.push(of_the_first(3, Kind::Refund, By::Reference));
        let later = [(Kind::Refund, By::Reference), (Kind::Refund, By::Number), (Kind::Reversal, By::Payment)];
        state.wishes.extend((4..).zip(later).map(|(number, (kind, by))| of_the_first(number, kind, by)));
    }
    world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        world.lock().bank.behaviours.extend([Behaviour::SilentAfter; 2]);
        till.ask(1).await;
        till.ask(2).await;
        sleep(Duration::from_secs(2)).await;
    });
    assert_eq!(world.lock().bank.asked.len(), 3, "{}", world.story());
    world
}

#[test]
fn what_another_account_was_asked_waits_for_that_account() {
    for host_rules in host_rules::played() {
        let world = with_open_transactions(*host_rules);
        world.lock().entity = ANOTHER;
        for _ in 0..2 {
            world.boot(async |till| {
                till.until_ready().await;
                sleep(48 * HOUR).await;
                for open in [1, 2] {
                    till.look(open).await;
                    let told = last_told(&world, open);
                    assert_eq!(told, Some(TillResult::Unconfirmed { needs_a_person: true }), "{}", world.story());
                }
                let attention = till.attention().await;
                let waiting = attention.iter().filter(|text| text.contains("a different account")).count();
                assert_eq!(waiting, 2, "{attention:?}");
                for later in 3..6 {
                    till.ask(later).await;
                    let told = last_told(&world, later);
                    let names = |text: &str| text.contains("a different account") && text.contains("entity-id");
                    assert!(matches!(&told, Some(TillResult::Unknown(text)) if names(text)), "{told:?}");
                }
            });
        }
        assert_eq!(world.lock().bank.asked.len(), 3, "nothing was sent again: {}", world.story());
        world.lock().entity = crate::world::board::ENTITY;
        world.boot(async |mut till| {
            till.until_ready().await;
            sleep(6 * HOUR).await;
            till.look(1).await;
            till.look(2).await;
            till.wants(3).await;
        });
        assert!(matches!(last_told(&world, 1), Some(TillResult::Nothing(_))), "{}", world.story());
        for given in [2, 3] {
            assert_eq!(last_told(&world, given), Some(TillResult::Approved { minor: 300 }), "{}", world.story());
        }
        let (violations, _) = world.judge();
        assert!(violations.is_empty(), "{host_rules:?}: {violations:?}\n{}", world.story());
    }
}
