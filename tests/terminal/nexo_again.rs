//! Repeated message numbers of a nexo till, in the world. The same message or another one arrives with the same
//! numbers, immediately and after days, for all categories. The power is cut, or the connection broken, at each point.
//! Each Success reports exactly what its message requested, and the till knows every payment of the gateway.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::world::World;
use crate::world::cut_points::{CUTS, Plan};
use crate::world::nexo_counter::{Asked, Counter, NexoResult};

const DAYS: Duration = Duration::from_secs(3 * 24 * 3600);
/// The number of pairs of messages.
const PAIRS: usize = 6;

fn payment(kind: &str, amounts: &str, order: &str, original: Option<&(String, String)>) -> String {
    let original = original.map_or_else(String::new, |(name, time)| {
        format!(r#","OriginalPOITransaction":{{"POITransactionID":{{"TransactionID":"{name}","TimeStamp":"{time}"}}}}"#)
    });
    format!(
        r#"{{"SaleData":{{"SaleTransactionID":{{"TransactionID":"{order}","TimeStamp":"t"}}}},
        "PaymentTransaction":{{"AmountsReq":{{"Currency":"EUR",{amounts}}}{original}}},
        "PaymentData":{{"PaymentType":"{kind}"}}}}"#
    )
}

fn reversal((name, time): &(String, String), amount: Option<&str>) -> String {
    let amount = amount.map_or_else(String::new, |amount| format!(r#","ReversedAmount":{amount}"#));
    format!(
        r#"{{"OriginalPOITransaction":{{"POITransactionID":{{"TransactionID":"{name}","TimeStamp":"{time}"}}}},
        "ReversalReason":"CustCancel"{amount}}}"#
    )
}

fn sale(service_id: &str, minor: u64) -> Asked {
    let amounts = format!(r#""RequestedAmount":{}.{:02}"#, minor / 100, minor % 100);
    let body = payment("Normal", &amounts, &format!("order {service_id}"), None);
    Asked { category: "Payment", service_id: service_id.to_owned(), body, is: ("DB", minor, None) }
}

/// The payments that a paid till knows and may refer to, in the order of their numbers.
struct Known(Vec<String>);

impl Known {
    /// Returns the name under which the terminal reports this transaction.
    fn name(&self, at: usize) -> (String, String) {
        (format!("{}.{}", at + 1, self.0[at]), "t".to_owned())
    }

    /// Returns two messages with the same numbers and different contents. The flag is set if the second message gets
    /// its own transaction once its number is free.
    fn pair(&self, which: usize) -> (Asked, Asked, bool) {
        let (one, two, reserved) = (self.name(0), self.name(1), self.name(2));
        let of = |at: usize| Some(self.0[at].clone());
        let asked = |category, body, is| Asked { category, service_id: "again".to_owned(), body, is };
        let refund = |original, amount: &str| {
            payment("Refund", &format!(r#""RequestedAmount":{amount}"#), "refund", Some(original))
        };
        let update = |amount: &str| {
            payment("UpdateReservation", &format!(r#""RequestedAmount":{amount}"#), "more", Some(&reserved))
        };
        let tip = |amount: &str, tip: &str| {
            payment("Normal", &format!(r#""RequestedAmount":{amount},"TipAmount":{tip}"#), "tip", None)
        };
        match which {
            0 => (
                asked("Reversal", reversal(&one, Some("2.00")), ("RF", 200, of(0))),
                asked("Reversal", reversal(&two, Some("2.00")), ("RF", 200, of(1))),
                true,
            ),
            1 => (
                asked("Reversal", reversal(&two, Some("2.00")), ("RF", 200, of(1))),
                asked("Reversal", reversal(&two, None), ("RF", 2800, of(1))),
                true,
            ),
            2 => (
                asked("Reversal", reversal(&one, None), ("RV", 1000, of(0))),
                asked("Reversal", reversal(&two, None), ("RV", 3000, of(1))),
                true,
            ),
            3 => (
                asked("Payment", refund(&one, "3.00"), ("RF", 300, of(0))),
                asked("Payment", refund(&two, "3.00"), ("RF", 300, of(1))),
                false,
            ),
            4 => (
                asked("Payment", update("80.00"), ("PA", 3000, of(2))),
                asked("Payment", update("200.00"), ("PA", 15_000, of(2))),
                false,
            ),
            _ => (
                asked("Payment", tip("12.00", "2.00"), ("DB", 1200, None)),
                asked("Payment", tip("13.00", "3.00"), ("DB", 1300, None)),
                false,
            ),
        }
    }
}

fn done(told: NexoResult) -> String {
    match told {
        NexoResult::Done(payment) => payment,
        other => panic!("{other:?}"),
    }
}

/// Opens a shop that has taken 10.00 and 30.00 and reserved 50.00.
fn opened() -> (World, Known) {
    let world = World::new("on waiting: tap tap");
    let mut known = Vec::new();
    world.boot(async |till| {
        till.until_ready().await;
        let mut counter = Counter::new(&till);
        let body = payment("FirstReservation", r#""RequestedAmount":50.00"#, "room", None);
        let reserve = Asked { category: "Payment", service_id: "3".to_owned(), body, is: ("PA", 5000, None) };
        for asked in [sale("1", 1000), sale("2", 3000), reserve] {
            known.push(done(counter.asks(&asked).await));
            till.until_ready().await;
        }
    });
    (world, Known(known))
}

#[test]
fn another_message_under_used_numbers_is_told_no_success_of_the_first() {
    for which in 0..PAIRS {
        let (world, known) = opened();
        let (first, second, moves) = known.pair(which);
        let mut told: BTreeSet<String> = known.0.iter().cloned().collect();
        world.boot(async |till| {
            till.until_ready().await;
            let mut counter = Counter::new(&till);
            let paid = done(counter.asks(&first).await);
            told.insert(paid.clone());
            till.until_ready().await;
            assert_eq!(counter.asks(&first).await, NexoResult::Done(paid), "{which}");
            assert_eq!(counter.asks(&second).await, NexoResult::Rejected, "{which}");
        });
        world.wait(DAYS);
        world.boot(async |till| {
            till.until_ready().await;
            let mut counter = Counter::new(&till);
            assert!(matches!(counter.asks(&first).await, NexoResult::Done(paid) if told.contains(&paid)), "{which}");
            match counter.asks(&second).await {
                NexoResult::Done(paid) => assert!(moves && told.insert(paid), "{which}"),
                other => assert!(!moves && other == NexoResult::Rejected, "{which}: {other:?}"),
            }
            assert_eq!(counter.not_told(&told), Vec::<String>::new(), "{which}");
        });
    }
}

#[test]
fn a_twin_has_the_answer_of_the_first_and_the_bank_has_one() {
    let mut rounds = 0;
    for which in 0..PAIRS {
        for after in 0..6 {
            let (world, known) = opened();
            let (first, ..) = known.pair(which);
            let mut told: BTreeSet<String> = known.0.iter().cloned().collect();
            world.boot(async |till| {
                till.until_ready().await;
                let mut counter = Counter::new(&till);
                let [one, other] = counter.asks_twice(&first, after).await;
                assert_eq!(one, other, "{which} {after}");
                told.insert(done(one));
                assert_eq!(counter.not_told(&told), Vec::<String>::new(), "{which} {after}");
            });
            rounds += 1;
        }
    }
    println!("{rounds} twins");
}

#[test]
fn whatever_is_cut_no_message_is_answered_by_another_one() {
    let (mut runs, mut moved, mut unsent) = (0, 0, 0);
    for which in 0..PAIRS {
        let (points, ..) = cut_in_the_middle(which, None);
        // Each moment of the longest messages takes time, so every third one is enough: neighbouring moments have the
        // same steps.
        for at in (0..points).step_by(if points > 20 { 3 } else { 1 }) {
            for cut in CUTS {
                let (_, second_moved, second_unsent) = cut_in_the_middle(which, Some(Plan { at, cut }));
                (runs, moved) = (runs + 1, moved + usize::from(second_moved));
                unsent += usize::from(second_unsent);
            }
        }
    }
    println!("{runs} runs, {moved} moved by the second message, {unsent} not sent");
    assert!(runs > 60 && moved > 20 && unsent < runs / 10, "{runs} runs, {moved} moved, {unsent} not sent");
}

/// Sends the second message days after the first one, with a cut, and repeats it until it is answered. Returns the
/// number of points passed, whether the second message moved money, and whether it was reported as not sent.
fn cut_in_the_middle(which: usize, plan: Option<Plan>) -> (usize, bool, bool) {
    let (world, known) = opened();
    let (first, second, moves) = known.pair(which);
    let mut told: BTreeSet<String> = known.0.iter().cloned().collect();
    world.boot(async |till| {
        till.until_ready().await;
        told.insert(done(Counter::new(&till).asks(&first).await));
    });
    world.wait(DAYS);
    world.boot(async |till| {
        till.until_ready().await;
        world.plan(plan);
        Counter::new(&till).asks(&second).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
    let points = world.lock().points.seen().len();
    world.plan(None);
    let (mut moved, mut unsent) = (false, false);
    world.boot(async |till| {
        till.until_ready().await;
        let mut counter = Counter::new(&till);
        match counter.insists(&second).await {
            NexoResult::Done(paid) => moved = told.insert(paid),
            // The connection was lost before the request was sent. The transaction ends, and none stays open.
            NexoResult::Failure(condition) if condition == "UnreachableHost" => {
                assert!(moves, "{which} {plan:?}");
                assert_eq!(counter.unsettled().await, Vec::<String>::new(), "{which} {plan:?}");
                unsent = true;
            }
            // The transaction was recorded, but the power was cut before the request was sent. The till learns this,
            // and there is no payment.
            NexoResult::Failure(condition) => assert!(condition == "Aborted" && moves, "{which} {plan:?}: {condition}"),
            other => assert!(other == NexoResult::Rejected && !moves, "{which} {plan:?}: {other:?}"),
        }
        assert!(
            matches!(counter.insists(&first).await, NexoResult::Done(paid) if told.contains(&paid)),
            "{which} {plan:?}"
        );
        assert_eq!(counter.not_told(&told), Vec::<String>::new(), "{which} {plan:?}");
    });
    assert_eq!(world.lock().bank.booked_twice(), 0);
    (points, moved, unsent)
}

#[test]
fn a_close_under_an_old_number_has_the_sums_of_its_own_time() {
    let (world, _) = opened();
    world.boot(async |till| {
        till.until_ready().await;
        let mut counter = Counter::new(&till);
        let first = counter.closes("9").await.unwrap();
        assert_eq!(first, ("1".to_owned(), 90.0));
        assert_eq!(counter.closes("9").await.unwrap(), first, "soon it is the same one");
    });
    world.wait(DAYS);
    world.boot(async |till| {
        till.until_ready().await;
        let mut counter = Counter::new(&till);
        done(counter.asks(&sale("20", 700)).await);
        let second = counter.closes("9").await.unwrap();
        assert_eq!(second, ("2".to_owned(), 7.0));
        assert_eq!(counter.closes("9").await.unwrap(), second);
        assert_eq!(counter.closes("10").await.unwrap(), ("3".to_owned(), 0.0));
        assert_eq!(counter.closes("10").await.unwrap().0, "3");
    });
}
