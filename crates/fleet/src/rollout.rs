//! The rules of a roll-out of settings, without a clock and without a database: which terminal is in which wave, and
//! what is to be done now.
//!
//! ```text
//!  pilot ─▶ 1 % ─▶ 10 % ─▶ 50 % ─▶ 100 %
//!    each begins when the one before has proven itself; one that returns too often stops all
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | released | the terminal has got the settings |
//! | here | the terminal is connected, and was heard of after the release |
//! | kept | the terminal has reported that it keeps the settings |
//! | proven | it has kept them for the whole soak, with a close of day if the roll-out wants one |
//! | failed | it went back to the settings before, or refuses these |
//!
//! A terminal that is away blocks nothing: it counts from when it is here. A terminal to which somebody gave later
//! settings does not count any more.

use std::time::{Duration, SystemTime};

use pos_fleet_terms::Id;
use ring::digest::{SHA256, digest};

/// The part of all terminals that has the settings when a wave has begun, in per cent. The wave 0 is the pilot.
const SHARES: [usize; 4] = [1, 10, 50, 100];
/// The number of waves, with the pilot.
pub const WAVES: u32 = 5;
/// The part of a wave that must be proven, in per cent.
const PROVEN: usize = 95;
/// The failed terminals that stop a roll-out: this many, or this part in per cent. In the pilot, one.
const FAILED: (usize, usize) = (3, 2);
/// Fewer payments tell nothing about a share.
const PAYMENTS: u64 = 50;
/// A rise of the payments that were not approved is at least one more in this many payments.
const RISE: u128 = 20;
/// It is also at least this many standard deviations.
const DEVIATIONS: u128 = 3;
/// A rise of faults is at least this many terminals with a new one, and at least this part in per cent.
const FAULTS: (usize, usize) = (3, 5);

/// Returns the wave of each terminal. The order of the others follows from the salt: it stays the same for one
/// roll-out, and differs between two.
#[must_use]
pub fn waves(pilot: &Id, terminals: &[Id], salt: &[u8]) -> Vec<(Id, u32)> {
    let order = |id: &Id| digest(&SHA256, &[salt, &[0], id.as_str().as_bytes()].concat()).as_ref().to_vec();
    let mut others: Vec<&Id> = terminals.iter().filter(|id| *id != pilot).collect();
    others.sort_by_cached_key(|id| order(id));
    others.dedup();
    let all = others.len() + 1;
    let mut waves = vec![(pilot.clone(), 0)];
    for (wave, share) in (1..).zip(SHARES) {
        // At least one terminal more than in the wave before, as long as there is one.
        let until = (all * share).div_ceil(100).max(waves.len() + 1).min(all);
        waves.extend(others[waves.len() - 1..until - 1].iter().map(|id| ((*id).clone(), wave)));
    }
    waves
}

/// Payments of a terminal in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payments {
    /// Those that were approved.
    pub approved: u64,
    /// Those that were declined or not sent. One that a person cancelled is not among them.
    pub other: u64,
}

impl Payments {
    fn all(self) -> u64 {
        self.approved.saturating_add(self.other)
    }
}

impl std::iter::Sum for Payments {
    fn sum<I: Iterator<Item = Self>>(payments: I) -> Self {
        payments.fold(Self::default(), |sum, one| Self {
            approved: sum.approved.saturating_add(one.approved),
            other: sum.other.saturating_add(one.other),
        })
    }
}

/// What is known of a terminal to which the settings were released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasedTerminal {
    /// Its wave.
    pub wave: u32,
    /// True if it is connected, and was heard of after the release.
    pub is_here: bool,
    /// The time at which it reported that it keeps the settings.
    pub kept: Option<SystemTime>,
    /// True if it went back, or refuses the settings.
    pub failed: bool,
    /// True if somebody has given it later settings.
    pub is_superseded: bool,
    /// True if it has closed a day since it keeps the settings.
    pub has_closed: bool,
    /// True if it has a fault that it did not have at the release.
    pub has_new_fault: bool,
    /// Its payments in as long a time before the release as the soak takes, and since it keeps the settings.
    pub payments: (Payments, Payments),
}

/// How a roll-out stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RolloutStanding {
    /// The wave that has begun last, `None` before the pilot.
    pub wave: Option<u32>,
    /// The time for which a terminal must keep the settings.
    pub soak: Duration,
    /// True if this time must contain a close of day.
    pub with_close: bool,
    /// The failed terminals that a person has let pass.
    pub forgiven: usize,
    /// The last wave of which a person has let a rise pass.
    pub forgiven_wave: Option<u32>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RolloutStep {
    /// Nothing now. The text says what is missing.
    Wait(String),
    /// The settings go to the terminals of this wave.
    Begin(u32),
    /// No further terminal gets the settings, until a person says so.
    Stop(String),
    /// All waves are proven.
    Done,
}

/// Decides what is to be done now.
#[must_use]
pub fn step(standing: &RolloutStanding, released: &[ReleasedTerminal], now: SystemTime) -> RolloutStep {
    let Some(wave) = standing.wave else { return RolloutStep::Begin(0) };
    if let Some(why) = too_many_failed(standing, released) {
        return RolloutStep::Stop(why);
    }
    let of_wave = || released.iter().filter(|it| it.wave == wave && !it.is_superseded);
    let proven = of_wave().filter(|it| is_proven(standing, it, now)).count();
    // A terminal that is away is pending, and blocks nothing.
    let counted = of_wave().filter(|it| it.is_here || it.failed || is_proven(standing, it, now)).count();
    // Failed terminals that a person has let pass do not block either.
    let passed = of_wave().filter(|it| it.failed).count().min(standing.forgiven);
    let counted = counted - passed;
    let is_settled = of_wave().next().is_none() || (passed > 0 && counted == 0);
    if !is_settled && (counted == 0 || proven * 100 < counted * PROVEN) {
        let kept = of_wave().filter(|it| it.kept.is_some()).count();
        return RolloutStep::Wait(format!(
            "wave {wave}: {proven} of {counted} terminals that are here are proven, and {kept} keep the settings"
        ));
    }
    let is_forgiven = standing.forgiven_wave.is_some_and(|forgiven| wave <= forgiven);
    if let Some(why) = rise(released).filter(|_| !is_forgiven) {
        return RolloutStep::Stop(why);
    }
    match wave + 1 {
        next if next < WAVES => RolloutStep::Begin(next),
        _ => RolloutStep::Done,
    }
}

fn is_proven(standing: &RolloutStanding, terminal: &ReleasedTerminal, now: SystemTime) -> bool {
    let has_soaked = terminal.kept.is_some_and(|kept| kept + standing.soak <= now);
    has_soaked && !terminal.failed && (terminal.has_closed || !standing.with_close)
}

fn too_many_failed(standing: &RolloutStanding, released: &[ReleasedTerminal]) -> Option<String> {
    let all = released.len();
    let failed = released.iter().filter(|it| it.failed).count();
    let new = failed.saturating_sub(standing.forgiven);
    let (most, share) = FAILED;
    let is_pilot = standing.wave == Some(0);
    let is_too_many = new > 0 && (is_pilot || new >= most || new * 100 >= all * share);
    is_too_many.then(|| format!("{failed} of {all} terminals went back to the settings before, or refuse these"))
}

/// Returns the reason why the terminals are worse off than before. Small numbers are no rise.
fn rise(released: &[ReleasedTerminal]) -> Option<String> {
    let kept = || released.iter().filter(|it| it.kept.is_some() && !it.is_superseded);
    let (before, after): (Payments, Payments) =
        (kept().map(|it| it.payments.0).sum(), kept().map(|it| it.payments.1).sum());
    if is_rise(before, after) {
        let share = |it: Payments| {
            let thousandth = it.other.saturating_mul(1_000) / it.all().max(1);
            format!("{}.{} % of {} payments", thousandth / 10, thousandth % 10, it.all())
        };
        return Some(format!("{} were not approved, and {} before", share(after), share(before)));
    }
    let here = kept().filter(|it| it.is_here).count();
    let faulty = kept().filter(|it| it.is_here && it.has_new_fault).count();
    let (least, part) = FAULTS;
    (faulty >= least && faulty * 100 >= here * part)
        .then(|| format!("{faulty} of {here} terminals have a fault that they did not have before"))
}

/// Returns whether the share of payments that were not approved has risen by [`RISE`] and by [`DEVIATIONS`]. The
/// deviation is that of the difference of two shares, if nothing had changed.
fn is_rise(before: Payments, after: Payments) -> bool {
    if before.all() < PAYMENTS || after.all() < PAYMENTS {
        return false;
    }
    let [b, all_b, a, all_a] = [before.other, before.all(), after.other, after.all()].map(u128::from);
    let product = |factors: &[u128]| factors.iter().fold(1_u128, |all, factor| all.saturating_mul(*factor));
    // a / A - b / B, times A B.
    let Some(difference) = product(&[a, all_b]).checked_sub(product(&[b, all_a])) else { return false };
    let (all, both) = (all_a.saturating_add(all_b), a.saturating_add(b));
    // The square of the deviation is p (1 - p) (1 / A + 1 / B), with p = (a + b) / (A + B).
    let square = product(&[DEVIATIONS, DEVIATIONS, both, all.saturating_sub(both), all_a, all_b]);
    product(&[difference, RISE]) >= product(&[all_a, all_b]) && product(&[difference, difference, all]) >= square
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::UNIX_EPOCH;

    use proptest::prelude::*;

    use super::*;

    const SOAK: Duration = Duration::from_secs(86_400);

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn standing(wave: u32) -> RolloutStanding {
        RolloutStanding { wave: Some(wave), soak: SOAK, with_close: true, forgiven: 0, forgiven_wave: None }
    }

    fn good(wave: u32) -> ReleasedTerminal {
        ReleasedTerminal {
            wave,
            is_here: true,
            kept: Some(at(0)),
            failed: false,
            is_superseded: false,
            has_closed: true,
            has_new_fault: false,
            payments: Default::default(),
        }
    }

    fn pending(wave: u32) -> ReleasedTerminal {
        ReleasedTerminal { kept: None, has_closed: false, ..good(wave) }
    }

    fn failed(wave: u32) -> ReleasedTerminal {
        ReleasedTerminal { failed: true, ..pending(wave) }
    }

    fn ids(count: usize) -> Vec<Id> {
        (0..count).map(|at| format!("t-{at}").parse().unwrap()).collect()
    }

    fn is_stop(step: &RolloutStep) -> bool {
        matches!(step, RolloutStep::Stop(_))
    }

    #[test]
    fn a_thousand_terminals_have_the_waves_of_the_manual() {
        let all = ids(1_000);
        let mut counts = BTreeMap::new();
        for (_, wave) in waves(&all[7], &all, b"salt") {
            *counts.entry(wave).or_insert(0) += 1;
        }
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(0, 1), (1, 9), (2, 90), (3, 400), (4, 500)]);
        assert_eq!(waves(&all[7], &all, b"salt"), waves(&all[7], &all, b"salt"));
        assert_ne!(waves(&all[7], &all, b"salt"), waves(&all[7], &all, b"other"));
    }

    #[test]
    fn a_wave_goes_on_when_it_has_soaked_over_a_close() {
        assert_eq!(step(&RolloutStanding { wave: None, ..standing(0) }, &[], at(0)), RolloutStep::Begin(0));
        let all = [good(0)];
        assert!(matches!(step(&standing(0), &all, at(86_399)), RolloutStep::Wait(_)));
        assert_eq!(step(&standing(0), &all, at(86_400)), RolloutStep::Begin(1));
        let open = [ReleasedTerminal { has_closed: false, ..good(0) }];
        assert!(matches!(step(&standing(0), &open, at(86_400)), RolloutStep::Wait(_)));
        let without = RolloutStanding { with_close: false, ..standing(0) };
        assert_eq!(step(&without, &open, at(86_400)), RolloutStep::Begin(1));
        assert_eq!(step(&standing(WAVES - 1), &[good(WAVES - 1)], at(86_400)), RolloutStep::Done);
        // A small fleet has waves without terminals.
        assert_eq!(step(&standing(2), &all, at(86_400)), RolloutStep::Begin(3));
    }

    #[test]
    fn one_pilot_or_two_per_cent_or_three_stop_all() {
        assert!(is_stop(&step(&standing(0), &[failed(0)], at(0))));
        let forgiven = RolloutStanding { forgiven: 1, ..standing(1) };
        assert!(!is_stop(&step(&forgiven, &[failed(0), good(1)], at(0))), "a person has let it pass");
        let pilot = RolloutStanding { wave: Some(0), ..forgiven };
        assert_eq!(step(&pilot, &[failed(0)], at(0)), RolloutStep::Begin(1));
        let of = |good_ones: usize, failed_ones: usize| {
            let mut all = vec![good(0)];
            all.extend(std::iter::repeat_n(good(2), good_ones));
            all.extend(std::iter::repeat_n(failed(2), failed_ones));
            is_stop(&step(&standing(2), &all, at(0)))
        };
        assert!(of(48, 1), "2 per cent");
        assert!(!of(49, 1), "less");
        assert!(!of(199, 2));
        assert!(of(197, 3), "three");
    }

    #[test]
    fn whoever_is_away_blocks_nothing() {
        let away = ReleasedTerminal { is_here: false, ..pending(1) };
        assert!(matches!(step(&standing(1), std::slice::from_ref(&away), at(86_400)), RolloutStep::Wait(_)));
        let mut all = vec![good(0), good(1)];
        all.extend(std::iter::repeat_n(away, 8));
        assert_eq!(step(&standing(1), &all, at(86_400)), RolloutStep::Begin(2));
        all.push(pending(1));
        assert!(matches!(step(&standing(1), &all, at(86_400)), RolloutStep::Wait(_)));
        all.last_mut().unwrap().is_superseded = true;
        assert_eq!(step(&standing(1), &all, at(86_400)), RolloutStep::Begin(2));
    }

    #[test]
    fn a_rise_of_declines_or_faults_stops_and_small_numbers_do_not() {
        let of = |before: (u64, u64), after: (u64, u64)| {
            let payments = |(approved, other)| Payments { approved, other };
            let one = ReleasedTerminal { payments: (payments(before), payments(after)), ..good(0) };
            step(&standing(0), &[one], at(86_400))
        };
        assert!(is_stop(&of((970, 30), (85, 15))));
        assert_eq!(of((970, 30), (930, 70)), RolloutStep::Begin(1), "4 points");
        assert_eq!(of((970, 30), (30, 10)), RolloutStep::Begin(1), "40 payments");
        assert_eq!(of((40, 0), (0, 1_000)), RolloutStep::Begin(1), "nothing to compare with");
        assert_eq!(of((57, 3), (53, 7)), RolloutStep::Begin(1), "chance");
        let forgiven = RolloutStanding { forgiven_wave: Some(0), ..standing(0) };
        let worse = ReleasedTerminal {
            payments: (Payments { approved: 970, other: 30 }, Payments { approved: 50, other: 50 }),
            ..good(0)
        };
        assert_eq!(step(&forgiven, &[worse], at(86_400)), RolloutStep::Begin(1));
        let faulty = |count: usize, all: usize| {
            let mut released = vec![good(1); all - count];
            released.extend(vec![ReleasedTerminal { has_new_fault: true, ..good(1) }; count]);
            is_stop(&step(&standing(1), &released, at(86_400)))
        };
        assert!(!faulty(2, 10) && faulty(3, 10) && !faulty(3, 100) && faulty(5, 100));
    }

    fn any_terminal() -> impl Strategy<Value = ReleasedTerminal> {
        let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
        (0..WAVES, prop::option::of(0_u64..200_000), flags, (0_u64..100, 0_u64..100, 0_u64..100, 0_u64..100)).prop_map(
            |(wave, kept, (is_here, failed, is_superseded, has_closed, has_new_fault), (a, b, c, d))| {
                let payments = (Payments { approved: a, other: b }, Payments { approved: c, other: d });
                let kept = kept.map(at).filter(|_| !failed);
                ReleasedTerminal { wave, is_here, kept, failed, is_superseded, has_closed, has_new_fault, payments }
            },
        )
    }

    proptest! {
        #[test]
        fn each_terminal_is_in_one_wave_and_none_is_left_out(count in 1_usize..400, pilot in any::<prop::sample::Index>()) {
            let all = ids(count);
            let pilot = pilot.get(&all);
            let waves = waves(pilot, &all, b"salt");
            prop_assert_eq!(waves.len(), count);
            prop_assert_eq!(&waves[0], &(pilot.clone(), 0));
            let mut names: Vec<_> = waves.iter().map(|(id, _)| id.clone()).collect();
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), count);
            prop_assert!(waves.windows(2).all(|two| two[0].1 <= two[1].1));
            // With enough terminals, no wave is empty and none is larger than its share.
            if count >= 5 {
                for wave in 0..WAVES {
                    prop_assert!(waves.iter().any(|(_, it)| *it == wave), "wave {}", wave);
                }
            }
            let until_second = waves.iter().filter(|(_, wave)| *wave <= 2).count();
            prop_assert!(until_second <= (count * 10).div_ceil(100).max(3));
        }

        /// Whatever is reported: a wave begins only as the next one, and never over a failed pilot, a failed share, or
        /// an unproven wave.
        #[test]
        fn no_wave_begins_over_a_failed_or_unproven_one(
            mut released in prop::collection::vec(any_terminal(), 0..60),
            wave in 0..WAVES,
            now in 0_u64..400_000,
            with_close in any::<bool>(),
        ) {
            released.retain(|it| it.wave <= wave);
            let standing = RolloutStanding { with_close, ..standing(wave) };
            let step = step(&standing, &released, at(now));
            let failed = released.iter().filter(|it| it.failed).count();
            if let RolloutStep::Begin(next) = step {
                prop_assert_eq!(next, wave + 1);
            }
            if matches!(step, RolloutStep::Begin(_) | RolloutStep::Done) {
                prop_assert!(failed < 3 && failed * 50 < released.len().max(1));
                prop_assert!(wave > 0 || failed == 0);
                for it in released.iter().filter(|it| it.wave == wave && it.is_here && !it.is_superseded) {
                    let is_proven = it.kept.is_some_and(|kept| kept + SOAK <= at(now)) && (it.has_closed || !with_close);
                    // Fewer than twenty terminals: 95 per cent are all of them.
                    let counted = released.iter().filter(|it| it.wave == wave).count();
                    prop_assert!(is_proven || counted >= 20);
                }
            }
            if failed >= 3 {
                prop_assert!(is_stop(&step));
            }
        }
    }
}
