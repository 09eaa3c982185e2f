//! Tests each cell of the follow-up table, and checks random histories against the sums of a simulated bank.

use proptest::prelude::*;

use super::*;
use crate::transaction::{Order, Reason, Record};

pub(super) fn eur(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap()
}

pub(super) fn usd(minor: u64) -> Amount {
    Amount::from_minor(minor, Currency::from_code("USD").unwrap()).unwrap()
}

pub(super) fn one(kind: Kind, minor: u64, held: Held) -> History {
    History { kind, amount: eur(minor), held, is_last: false, most_captures: None, later: Vec::new() }
}

fn with(mut of: History, later: impl IntoIterator<Item = History>) -> History {
    of.later.extend(later);
    of
}

fn stands(kind: Kind, minor: u64) -> History {
    one(kind, minor, Held::Certainly)
}

fn last(of: History) -> History {
    History { is_last: true, ..of }
}

/// Returns possible histories of a transaction of 100.00, each with a name.
fn happened(of: Kind) -> Vec<(&'static str, History)> {
    let is = || stands(of, 10_000);
    let open = |kind, minor| one(kind, minor, Held::Perhaps);
    let mut all = vec![
        ("nothing", is()),
        ("reversal of a part", with(is(), [stands(Kind::Reversal, 4000)])),
        ("reversal open", with(is(), [open(Kind::Reversal, 4000)])),
        ("reversal of all", with(is(), [stands(Kind::Reversal, 10_000)])),
        ("reversal declined", with(is(), [one(Kind::Reversal, 10_000, Held::Not)])),
    ];
    if of.takes_money() {
        all.extend([
            ("refund of a part", with(is(), [stands(Kind::Refund, 3000)])),
            ("refund open", with(is(), [open(Kind::Refund, 3000)])),
            ("refund of all", with(is(), [stands(Kind::Refund, 10_000)])),
            ("last refund", with(is(), [last(stands(Kind::Refund, 3000))])),
            ("refund and reversal", with(is(), [stands(Kind::Refund, 3000), stands(Kind::Reversal, 2000)])),
        ]);
    }
    if of.is_reservation() {
        let reversed = |of: History, minor, held| with(of, [one(Kind::Reversal, minor, held)]);
        all.extend([
            ("increment", with(is(), [stands(Kind::Increment, 5000)])),
            ("increment open", with(is(), [open(Kind::Increment, 5000)])),
            ("increment declined", with(is(), [one(Kind::Increment, 5000, Held::Not)])),
            ("increment reversed", with(is(), [reversed(stands(Kind::Increment, 5000), 5000, Held::Certainly)])),
            ("increment being reversed", with(is(), [reversed(stands(Kind::Increment, 5000), 5000, Held::Perhaps)])),
            (
                "increment in another currency",
                with(is(), [History { amount: usd(5000), ..stands(Kind::Increment, 5000) }]),
            ),
            ("capture", with(is(), [stands(Kind::Capture, 3000)])),
            ("capture open", with(is(), [open(Kind::Capture, 3000)])),
            ("capture reversed", with(is(), [reversed(stands(Kind::Capture, 3000), 3000, Held::Certainly)])),
            ("capture being reversed", with(is(), [reversed(stands(Kind::Capture, 3000), 3000, Held::Perhaps)])),
            ("last capture", with(is(), [last(stands(Kind::Capture, 3000))])),
            ("reauthorisation", with(is(), [stands(Kind::Reauthorisation, 9000)])),
            ("reauthorisation open", with(is(), [open(Kind::Reauthorisation, 9000)])),
        ]);
    }
    all
}

/// Returns one cell of the table: an amount in minor units, or the name of the refusal.
fn cell(of: &History, follow: Kind) -> String {
    match of.left(follow, None) {
        Ok(Left::UpTo(amount)) => amount.minor().to_string(),
        Ok(Left::Nothing) => "0".to_owned(),
        Ok(Left::Any(_)) => "any".to_owned(),
        Err(refusal) => format!("{refusal:?}").split([' ', '{']).next().unwrap().to_owned(),
    }
}

#[test]
fn what_came_to_nothing_closes_nothing_and_counts_for_nothing() {
    let came_to_nothing = |kind| {
        let reversed = with(stands(kind, 3000), [stands(Kind::Reversal, 3000)]);
        [one(kind, 3000, Held::Not), reversed]
    };
    let reservation = || History { most_captures: Some(1), ..stands(Kind::PreAuthorisation, 10_000) };
    for capture in came_to_nothing(Kind::Capture) {
        assert_eq!(cell(&with(reservation(), [last(capture)]), Kind::Capture), "10000");
    }
    for anew in came_to_nothing(Kind::Reauthorisation) {
        assert_eq!(cell(&with(reservation(), [anew]), Kind::Capture), "10000");
    }
    for refund in came_to_nothing(Kind::Refund) {
        assert_eq!(cell(&with(stands(Kind::Sale, 10_000), [last(refund.clone())]), Kind::Refund), "10000");
        let elsewhere = History { amount: usd(3000), ..one(Kind::Refund, 3000, Held::Not) };
        assert_eq!(cell(&with(stands(Kind::Sale, 10_000), [elsewhere]), Kind::Refund), "10000");
    }
    // A transaction counts if it is held or may be held.
    for held in [Held::Certainly, Held::Perhaps] {
        let taken = with(reservation(), [one(Kind::Capture, 3000, held)]);
        assert_eq!(cell(&taken, Kind::Capture), "CapturesMade");
    }
}

#[test]
fn a_history_begins_with_what_the_journal_says_of_the_end_and_of_the_last_one() {
    let order = |parameters: &[(&str, &str)]| {
        let mut order: Order = serde_json::from_value(serde_json::json!({
            "kind": { "is": "pre-authorisation" }, "number": 1, "till": "till-1", "reference": "R1",
            "amount": eur(1000), "acceptPartial": true, "terminalId": "12345678",
            "merchantTransactionId": "12345678-1-00000000000000000000000000000001", "startedUnixMs": 0,
            "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        order.parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        order
    };
    let history = |order: Order, outcome: Option<Outcome>| {
        let ended =
            outcome.map(|outcome| Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None });
        let steps = [vec![Record::Started { order }], ended.into_iter().collect()];
        History::of(&Transaction::replay(&steps).unwrap(), Vec::new())
    };
    let why = || Reason::BankDeclined.into();
    for (outcome, held, minor) in [
        (None, Held::Perhaps, 1000),
        (Some(Outcome::Approved), Held::Certainly, 1000),
        (Some(Outcome::PartiallyApproved { amount: eur(600) }), Held::Certainly, 600),
        (Some(Outcome::Declined { why: why() }), Held::Not, 1000),
        (Some(Outcome::Cancelled { why: why() }), Held::Not, 1000),
        (Some(Outcome::NotSent { why: why() }), Held::Not, 1000),
        (Some(Outcome::Reversed { why: why() }), Held::Not, 1000),
    ] {
        let is = history(order(&[]), outcome.clone());
        assert_eq!((is.kind, is.held, is.amount), (Kind::PreAuthorisation, held, eur(minor)), "{outcome:?}");
        assert_eq!((is.is_last, is.most_captures), (false, None), "{outcome:?}");
    }
    let is = history(order(&[("numberOfCaptures", "3"), ("sequence", "FINAL")]), None);
    assert_eq!((is.is_last, is.most_captures), (true, Some(3)));
    let is = history(order(&[("sequence", "NOT_FINAL"), ("numberOfCaptures", "3")]), None);
    assert_eq!((is.is_last, is.most_captures), (false, Some(3)));
}

#[test]
fn what_a_reversal_may_do_after_what_cell_by_cell() {
    let payment: &[(&str, &str, &str)] = &[
        ("nothing", "10000", "10000"),
        ("reversal of a part", "6000", "6000"),
        ("reversal open", "BeingReversed", "BeingReversed"),
        ("reversal of all", "Reversed", "Reversed"),
        ("reversal declined", "10000", "10000"),
        ("refund of a part", "Refunded", "7000"),
        ("refund open", "Refunded", "7000"),
        ("refund of all", "Refunded", "0"),
        ("last refund", "Refunded", "Final"),
        ("refund and reversal", "Refunded", "5000"),
    ];
    for kind in [Kind::Sale, Kind::ByRegistration, Kind::Capture] {
        let all = happened(kind);
        assert_eq!(all.len(), payment.len());
        for ((name, of), (named, reversal, refund)) in all.iter().zip(payment) {
            assert_eq!(name, named);
            assert_eq!(cell(of, Kind::Reversal), *reversal, "{kind:?}, {name}: reversal");
            assert_eq!(cell(of, Kind::Refund), *refund, "{kind:?}, {name}: refund");
            for never in [Kind::Capture, Kind::Increment, Kind::Reauthorisation] {
                assert_eq!(cell(of, never), "NeverFollows", "{kind:?}, {name}: {never:?}");
            }
        }
    }
    let reservation: &[(&str, &str, &str, &str)] = &[
        ("nothing", "10000", "10000", "any"),
        ("reversal of a part", "6000", "6000", "any"),
        ("reversal open", "BeingReversed", "BeingReversed", "BeingReversed"),
        ("reversal of all", "Reversed", "Reversed", "Reversed"),
        ("reversal declined", "10000", "10000", "any"),
        ("increment", "15000", "15000", "any"),
        ("increment open", "IncrementOpen", "10000", "any"),
        ("increment declined", "10000", "10000", "any"),
        ("increment reversed", "10000", "10000", "any"),
        ("increment being reversed", "IncrementOpen", "10000", "any"),
        ("increment in another currency", "10000", "10000", "any"),
        ("capture", "Captured", "7000", "any"),
        ("capture open", "Captured", "7000", "any"),
        ("capture reversed", "10000", "10000", "any"),
        ("capture being reversed", "Captured", "7000", "any"),
        ("last capture", "Captured", "Final", "Final"),
        ("reauthorisation", "ReservedAnew", "ReservedAnew", "ReservedAnew"),
        ("reauthorisation open", "ReservedAnew", "ReservedAnew", "ReservedAnew"),
    ];
    for kind in [Kind::PreAuthorisation, Kind::Reauthorisation] {
        let all = happened(kind);
        assert_eq!(all.len(), reservation.len());
        for ((name, of), (named, reversal, take, grow)) in all.iter().zip(reservation) {
            assert_eq!(name, named);
            assert_eq!(cell(of, Kind::Reversal), *reversal, "{kind:?}, {name}: reversal");
            assert_eq!(cell(of, Kind::Capture), *take, "{kind:?}, {name}: capture");
            assert_eq!(cell(of, Kind::Reauthorisation), *take, "{kind:?}, {name}: reauthorisation");
            assert_eq!(cell(of, Kind::Increment), *grow, "{kind:?}, {name}: increment");
            assert_eq!(cell(of, Kind::Refund), "NeverFollows", "{kind:?}, {name}: refund");
        }
    }
    for (name, of) in happened(Kind::Credit).iter().zip(["10000", "6000", "BeingReversed", "Reversed", "10000"]) {
        assert_eq!(cell(&name.1, Kind::Reversal), of, "a credit, {}", name.0);
    }
    for end in [Kind::Refund, Kind::Reversal] {
        for follow in FOLLOWS {
            assert_eq!(cell(&stands(end, 100), follow), "NeverFollows", "{end:?}, {follow:?}");
        }
    }
}

#[test]
fn an_increment_is_reversed_while_its_reservation_is_untouched() {
    let increment = stands(Kind::Increment, 5000);
    let left = |root: &History| increment.left(Kind::Reversal, Some(root));
    let root = || stands(Kind::PreAuthorisation, 10_000);
    assert_eq!(left(&root()), Ok(Left::UpTo(eur(5000))));
    for used in [
        stands(Kind::Capture, 1),
        one(Kind::Capture, 1, Held::Perhaps),
        stands(Kind::Reversal, 1),
        one(Kind::Reauthorisation, 1, Held::Perhaps),
    ] {
        assert_eq!(left(&with(root(), [used.clone()])), Err(CannotFollow::ReservationUsed), "{used:?}");
    }
}

#[test]
fn nothing_follows_what_holds_nothing_or_has_no_end() {
    for follow in FOLLOWS {
        for kind in [Kind::Sale, Kind::PreAuthorisation] {
            assert_eq!(one(kind, 100, Held::Not).left(follow, None), Err(CannotFollow::HoldsNothing));
            assert_eq!(one(kind, 100, Held::Perhaps).left(follow, None), Err(CannotFollow::NotEnded));
        }
    }
}

#[test]
fn captures_end_at_the_allowed_number() {
    let of = History { most_captures: Some(2), ..stands(Kind::PreAuthorisation, 10_000) };
    let capture = || stands(Kind::Capture, 100);
    assert_eq!(with(of.clone(), [capture()]).left(Kind::Capture, None), Ok(Left::UpTo(eur(9900))));
    let two = with(of, [capture(), one(Kind::Capture, 100, Held::Perhaps)]);
    assert_eq!(two.left(Kind::Capture, None), Err(CannotFollow::CapturesMade { most: 2 }));
}

#[test]
fn a_refund_in_another_currency_is_for_a_person() {
    let strange = History { amount: usd(100), ..stands(Kind::Refund, 100) };
    let of = with(stands(Kind::Sale, 10_000), [strange]);
    assert_eq!(of.left(Kind::Refund, None), Err(CannotFollow::OtherCurrency));
}

const FOLLOWS: [Kind; 5] = [Kind::Capture, Kind::Refund, Kind::Reversal, Kind::Increment, Kind::Reauthorisation];

/// One request of a random history. The fields are its kind, its amount in thousandths of the remaining amount, and the
/// answer to the journal. Then follow the bank's decision for a request without an answer, and the request that is
/// answered late.
type Wish = (u8, u64, u8, bool, usize);

/// The bank's own sums over a history, in which every open request has ended as the bank decided.
#[derive(Clone, Default)]
struct Bank {
    /// For each position in the history, true if the bank carried out the transaction.
    truly: Vec<bool>,
}

/// Makes the till's requests that `left` allows. Returns the history, and the bank's decision on each later
/// transaction.
fn live(of: Kind, wishes: &[Wish]) -> (History, Bank) {
    let mut history = stands(of, 10_000);
    let mut bank = Bank::default();
    for (which, share, heard, truth, answered) in wishes {
        let follow = FOLLOWS[usize::from(*which) % FOLLOWS.len()];
        let Ok(left) = history.left(follow, None) else { continue };
        let most = match left {
            Left::Nothing => continue,
            Left::UpTo(left) => left.minor(),
            Left::Any(_) => 5000,
        };
        let minor = most * share / 1000;
        if minor == 0 || minor > most {
            continue;
        }
        let (held, truly) = match heard % 3 {
            0 => (Held::Certainly, true),
            1 => (Held::Not, false),
            _ => (Held::Perhaps, *truth),
        };
        history.later.push(one(follow, minor, held));
        bank.truly.push(truly);
        // Some open requests receive their answer here: the bank's decision.
        if !history.later.is_empty() {
            let number = answered % history.later.len();
            if history.later[number].held == Held::Perhaps && answered % 2 == 0 {
                let truth = if bank.truly[number] { Held::Certainly } else { Held::Not };
                history.later[number].held = truth;
            }
        }
    }
    (history, bank)
}

impl Bank {
    fn sum(&self, history: &History, kind: Kind) -> u64 {
        let done = history.later.iter().zip(&self.truly).filter(|(later, truly)| later.kind == kind && **truly);
        done.map(|(later, _)| later.amount.minor()).sum()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The amount given back never exceeds the amount paid, regardless of the outcome of unanswered requests.
    #[test]
    fn no_history_gives_back_more_than_was_paid(
        wishes in proptest::collection::vec((0_u8..5, 1_u64..1100, 0_u8..3, any::<bool>(), 0_usize..40), 0..20)
    ) {
        for of in [Kind::Sale, Kind::Capture, Kind::Credit] {
            let (history, bank) = live(of, &wishes);
            let given = bank.sum(&history, Kind::Refund) + bank.sum(&history, Kind::Reversal);
            prop_assert!(given <= 10_000, "{given} of {history:?}");
        }
    }

    /// A reservation is never captured, reversed and reauthorised for more in total than the bank holds.
    #[test]
    fn no_history_takes_more_than_is_reserved(
        wishes in proptest::collection::vec((0_u8..5, 1_u64..1100, 0_u8..3, any::<bool>(), 0_usize..40), 0..20)
    ) {
        for of in [Kind::PreAuthorisation, Kind::Reauthorisation] {
            let (history, bank) = live(of, &wishes);
            let reserved = 10_000 + bank.sum(&history, Kind::Increment);
            let taken = bank.sum(&history, Kind::Capture);
            let anew = bank.sum(&history, Kind::Reauthorisation);
            let reversed = bank.sum(&history, Kind::Reversal);
            prop_assert!(taken + reversed + anew <= reserved, "{taken} {reversed} {anew} of {reserved}: {history:?}");
        }
    }
}
