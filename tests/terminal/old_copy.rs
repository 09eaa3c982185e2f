//! A journal that is an outdated copy: it was restored from a backup and shows as open a sale that ended long ago. The
//! agent then reverses no earlier transaction automatically. The open sales wait for a person. An intact journal waits
//! only until the gateway has answered.

use std::time::Duration;

use crate::world::World;
use crate::world::bank::Behaviour;
use crate::world::board;
use crate::world::host_rules::{self, HostRules};
use crate::world::tills::{By, Earlier, TillResult, Wish};
use crate::world::verdict::EndState;
use pos_terms::transaction::Kind;
use tokio::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);

/// The number of another terminal's payments in the period of the look-up. The gateway lists fewer in one answer, so
/// the agent divides the period. The literal gateway throttles frequent requests.
const OTHERS: u32 = 300;
/// Another terminal id of the same shop.
const ANOTHER_ID: &str = "87654321";
/// An unused terminal id, for which the gateway has no payments.
const UNUSED_ID: &str = "87654322";
/// The account of another shop.
const ANOTHER_ACCOUNT: &str = "8a8294174b7ecb28014b9699220015cb";

/// Returns a terminal whose journal is a copy from the time when its first sale was pending. That sale ended, a second
/// one followed, and the till knows both outcomes.
fn with_an_old_copy(host_rules: HostRules, hand: &str) -> World {
    let world = World::new(&format!("on waiting 1: {hand}\non waiting 2: tap tap\non waiting 3: tap tap\n"));
    {
        let mut state = world.lock();
        state.bank.host_rules = host_rules;
        state.bank.elsewhere(OTHERS, Duration::from_secs(600));
        state.bank.behaviours.push_back(Behaviour::PendingThenApproved);
        state.wishes.extend((1..=3).map(|number| Wish::new(number, Kind::Sale, 1000 + number as u64)));
    }
    // The sale takes place in the middle of the other terminal's payments.
    world.wait(24 * HOUR);
    world.boot(async |mut till| {
        till.until_ready().await;
        till.ask(0).await;
        while world.lock().bank.asked.is_empty() {
            sleep(Duration::from_millis(50)).await;
        }
        world.keep_copy();
        till.until_final(0, HOUR).await;
        till.until_ready().await;
        till.wants(1).await;
    });
    assert!(matches!(world.lock().wishes[1].told.last(), Some(TillResult::Approved { .. })));
    world.wait(HOUR);
    world.put_copy_back();
    world
}

fn reversals(world: &World) -> usize {
    world.lock().bank.asked.iter().filter(|asked| asked.what.kind == "RV").count()
}

fn last_told(world: &World, wish: usize) -> Option<TillResult> {
    world.lock().wishes[wish].told.last().cloned()
}

#[test]
fn an_old_copy_reverses_nothing_by_itself_and_asks_a_person() {
    for host_rules in host_rules::played() {
        let world = with_an_old_copy(*host_rules, "insert chip-no-cvm");
        assert!(matches!(last_told(&world, 0), Some(TillResult::Approved { .. })), "{host_rules:?}");
        world.boot(async |mut till| {
            till.until_ready().await;
            sleep(48 * HOUR).await;
            till.look(0).await;
            // New sales go on, with numbers that no earlier sale had.
            till.wants(2).await;
        });
        assert_eq!(reversals(&world), 0, "{host_rules:?}: {}", world.story());
        assert_eq!(last_told(&world, 0), Some(TillResult::Unconfirmed { needs_a_person: true }), "{host_rules:?}");
        let numbers: Vec<_> = world.lock().wishes.iter().map(|wish| wish.in_journal.unwrap()).collect();
        assert!(numbers[2] > numbers[1], "{host_rules:?}: {numbers:?}");
        // The sale still waits after another start. A person knows the receipt.
        world.boot(async |mut till| {
            sleep(HOUR).await;
            till.look(0).await;
            assert_eq!(last_told(&world, 0), Some(TillResult::Unconfirmed { needs_a_person: true }), "{host_rules:?}");
            till.settle(0, true).await;
            till.until_final(0, 6 * HOUR).await;
        });
        let (violations, ends) = world.judge();
        assert!(violations.is_empty(), "{host_rules:?}: {violations:?}\n{}", world.story());
        assert_eq!(ends, [EndState::Approved; 3], "{host_rules:?}");
    }
}

/// Checks a sale that was reversed after the copy was made, because the card refused the approval. The agent finds the
/// reversal and does not reverse again.
#[test]
fn what_has_gone_back_does_not_go_back_again() {
    for host_rules in host_rules::played() {
        let world = with_an_old_copy(*host_rules, "insert chip-refuses");
        assert!(matches!(last_told(&world, 0), Some(TillResult::Nothing(_))), "{host_rules:?}");
        assert_eq!(reversals(&world), 1, "{host_rules:?}");
        world.boot(async |mut till| {
            till.until_ready().await;
            sleep(48 * HOUR).await;
            till.look(0).await;
            if last_told(&world, 0) == Some(TillResult::Unconfirmed { needs_a_person: true }) {
                till.settle(0, false).await;
                till.until_final(0, 6 * HOUR).await;
            }
        });
        assert_eq!(reversals(&world), 1, "{host_rules:?}: {}", world.story());
        assert!(matches!(last_told(&world, 0), Some(TillResult::Nothing(_))), "{host_rules:?}");
        let (violations, _) = world.judge();
        assert!(violations.is_empty(), "{host_rules:?}: {violations:?}\n{}", world.story());
    }
}

/// Checks a gateway that is unreachable at the start. The agent cannot know whether the journal is an outdated copy, so
/// it reverses nothing.
#[test]
fn as_long_as_the_gateway_cannot_be_asked_nothing_of_before_is_reversed() {
    for host_rules in host_rules::played() {
        let world = with_an_old_copy(*host_rules, "insert chip-no-cvm");
        world.lock().bank.away = true;
        world.boot(async |till| {
            till.until_ready().await;
            sleep(10 * HOUR).await;
            till.look(0).await;
            assert_eq!(last_told(&world, 0), Some(TillResult::Unconfirmed { needs_a_person: false }), "{host_rules:?}");
            world.lock().bank.away = false;
            sleep(HOUR).await;
            till.look(0).await;
        });
        assert_eq!(last_told(&world, 0), Some(TillResult::Unconfirmed { needs_a_person: true }), "{host_rules:?}");
        assert_eq!(reversals(&world), 0, "{host_rules:?}: {}", world.story());
    }
}

/// Checks an intact journal after a power cut during a pending sale. The agent reverses the sale after the look-up by
/// date, regardless of the number of other terminals' payments in that period. The judge checks that it sends no
/// request earlier.
#[test]
fn a_journal_that_is_whole_goes_on_as_soon_as_the_gateway_was_asked() {
    for host_rules in host_rules::played() {
        let world = World::new("on waiting 1: insert chip-no-cvm");
        {
            let mut state = world.lock();
            state.bank.host_rules = *host_rules;
            state.bank.elsewhere(OTHERS, Duration::from_secs(600));
            state.bank.behaviours.push_back(Behaviour::PendingThenApproved);
            state.wishes.push(Wish::new(1, Kind::Sale, 1001));
        }
        world.wait(24 * HOUR);
        world.boot(async |till| {
            till.until_ready().await;
            till.ask(0).await;
            while world.lock().bank.asked.is_empty() {
                sleep(Duration::from_millis(50)).await;
            }
        });
        world.lock().bank.away = true;
        world.boot(async |mut till| {
            till.until_ready().await;
            sleep(HOUR).await;
            assert_eq!(reversals(&world), 0, "{host_rules:?}");
            world.lock().bank.away = false;
            till.until_final(0, HOUR).await;
        });
        let (violations, ends) = world.judge();
        assert!(violations.is_empty(), "{host_rules:?}: {violations:?}\n{}", world.story());
        assert_eq!(ends, [EndState::TakenBack], "{host_rules:?}: {}", world.story());
    }
}

/// Checks a copy that is restored together with another terminal id. A refund made after the copy was sent with the
/// earlier id. The agent finds the refund with that id.
#[test]
fn an_old_copy_with_another_terminal_id_gives_nothing_back_a_second_time() {
    for host_rules in host_rules::played() {
        let world = World::new("");
        {
            let mut state = world.lock();
            state.bank.host_rules = *host_rules;
            state.wishes.push(Wish { till: "till-1".to_owned(), ..Wish::new(1, Kind::ByRegistration, 1000) });
            for number in [2, 3] {
                let of = Some(Earlier::Wish { number: 1, by: By::Reference });
                let till = "till-1".to_owned();
                state.wishes.push(Wish { of, till, ..Wish::new(number, Kind::Refund, 1000) });
            }
        }
        world.boot(async |mut till| {
            till.until_ready().await;
            till.wants(0).await;
            world.keep_copy();
            till.wants(1).await;
        });
        assert_eq!(last_told(&world, 1), Some(TillResult::Approved { minor: 1000 }), "{}", world.story());
        world.wait(HOUR);
        world.put_copy_back();
        world.lock().terminal = ANOTHER_ID;
        world.boot(async |mut till| {
            till.until_ready().await;
            sleep(HOUR).await;
            let attention = till.attention().await;
            assert!(attention.iter().any(|text| text.contains("is an outdated copy")), "{host_rules:?}: {attention:?}");
            till.ask(2).await;
            till.until_final(2, HOUR).await;
        });
        let given = world.lock().bank.asked.iter().filter(|asked| asked.what.kind == "RF").count();
        assert_eq!(given, 1, "{host_rules:?}: {}", world.story());
        assert!(matches!(last_told(&world, 2), Some(TillResult::Unknown(_))), "{host_rules:?}: {}", world.story());
    }
}

/// Checks an outdated copy that a technician starts with another terminal id or account and corrects a day later. The
/// sale that was reported to the till as approved then waits for a person and is not reversed. With an unused id, all
/// unknown payments are found immediately, so the correction finds no more.
#[test]
fn an_old_copy_is_found_out_although_it_ran_under_another_name_meanwhile() {
    for host_rules in host_rules::played() {
        for (terminal, entity) in
            [(ANOTHER_ID, board::ENTITY), (UNUSED_ID, board::ENTITY), (board::TERMINAL, ANOTHER_ACCOUNT)]
        {
            let scenario = format!("{host_rules:?}, terminal {terminal}, account {entity}");
            let world = with_an_old_copy(*host_rules, "insert chip-no-cvm");
            (world.lock().terminal, world.lock().entity) = (terminal, entity);
            world.boot(async |mut till| {
                till.until_ready().await;
                // A new sale is recorded. It extends the period that this journal knows until today.
                till.wants(2).await;
                sleep(25 * HOUR).await;
            });
            (world.lock().terminal, world.lock().entity) = (board::TERMINAL, board::ENTITY);
            world.boot(async |till| {
                till.until_ready().await;
                sleep(6 * HOUR).await;
                till.look(0).await;
            });
            assert_eq!(reversals(&world), 0, "{scenario}: {}", world.story());
            assert_eq!(last_told(&world, 0), Some(TillResult::Unconfirmed { needs_a_person: true }), "{scenario}");
        }
    }
}

/// Checks a board with an empty journal that replaces one with sales. It sells immediately. Ten minutes later it
/// reports that the other board's journal should be adopted. It reverses nothing and delays nothing because of that.
#[test]
fn a_board_in_anothers_place_says_that_its_journal_began_anew() {
    for (sold_before, says) in [(true, 1), (false, 0)] {
        let world = World::new("");
        for number in 1..=3 {
            let wish = Wish { till: "till-1".to_owned(), ..Wish::new(number, Kind::ByRegistration, 1000) };
            world.lock().wishes.push(wish);
        }
        if sold_before {
            world.boot(async |mut till| {
                till.until_ready().await;
                till.wants(0).await;
            });
            world.wait(24 * HOUR);
        }
        world.change_board();
        world.boot(async |mut till| {
            let began_anew = async || {
                let attention = till.attention().await;
                attention
                    .iter()
                    .filter(|text| text.contains("journal is new") && text.contains("journal adopt"))
                    .count()
            };
            till.until_ready().await;
            sleep(HOUR).await;
            assert_eq!(began_anew().await, 0, "nobody was served yet");
            till.another().wants(1).await;
            assert_eq!(began_anew().await, 0, "the first customer is served first");
            sleep(Duration::from_secs(700)).await;
            assert_eq!(began_anew().await, says, "{}", world.story());
            till.wants(2).await;
        });
        for sold in [1, 2] {
            assert_eq!(last_told(&world, sold), Some(TillResult::Approved { minor: 1000 }), "{}", world.story());
        }
        assert_eq!(reversals(&world), 0, "{}", world.story());
    }
}

/// Checks a second with more transactions than the gateway lists. The agent cannot know whether the journal is an
/// outdated copy. A follow-up of an earlier payment waits for the look-up of that payment, which shows what this
/// journal lacks.
#[test]
fn a_refund_of_before_is_looked_up_where_a_second_is_full() {
    for host_rules in host_rules::played() {
        for by_an_old_copy in [false, true] {
            let world = World::new("");
            {
                let mut state = world.lock();
                state.bank.host_rules = *host_rules;
                let of_the_first = |number| Wish {
                    of: Some(Earlier::Wish { number: 1, by: By::Reference }),
                    till: "till-1".to_owned(),
                    ..Wish::new(number, Kind::Refund, 400)
                };
                let sale = Wish { till: "till-1".to_owned(), ..Wish::new(1, Kind::ByRegistration, 1000) };
                state.wishes.extend([sale, of_the_first(2), of_the_first(3)]);
                state.bank.elsewhere(600, Duration::ZERO);
            }
            world.boot(async |mut till| {
                till.until_ready().await;
                till.wants(0).await;
                world.keep_copy();
                till.wants(1).await;
            });
            let refunds =
                |world: &World| world.lock().bank.asked.iter().filter(|asked| asked.what.kind == "RF").count();
            assert_eq!(refunds(&world), 1, "{host_rules:?}: {}", world.story());
            if by_an_old_copy {
                world.put_copy_back();
            }
            world.boot(async |mut till| {
                till.until_ready().await;
                sleep(HOUR).await;
                till.wants(2).await;
            });
            // The copy lacks the first refund, and the look-up shows it.
            let all = if by_an_old_copy { 1 } else { 2 };
            assert_eq!(refunds(&world), all, "{host_rules:?} {by_an_old_copy}: {}", world.story());
            let (violations, _) = world.judge();
            assert!(violations.is_empty(), "{host_rules:?}: {violations:?}\n{}", world.story());
        }
    }
}
