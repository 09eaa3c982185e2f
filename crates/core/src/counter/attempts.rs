//! The limits on wrong PINs: the number of attempts without a wait (free attempts), and the waits after further
//! attempts.
//!
//! | count of | free attempts | wait after the last free attempt |
//! |---|---|---|
//! | an operator | 5 | 30 s, doubled by each further attempt, up to one hour |
//! | a name that no operator has | 5, shared by all such names in one group | the same |
//! | the till or user that sends the PIN, with any operator name | 10 | the same |
//!
//! A program that serves several devices (`[[till.peer]]`) reports the address of the device at which a PIN is typed.
//! This address is the place of the PIN. A place is known once an operator has signed in there, and it then has its own
//! counts for operators and callers. All unknown places share one count for each operator. That count is separate from
//! those of the terminal's sign-in sources. An attacker at an unknown place therefore cannot lock an operator out at
//! the terminal or at a known place.
//!
//! The new count is on the disk before the PIN is checked, and a correct PIN removes it. A power cut in between
//! therefore costs an attempt and never adds one. The waits use a monotonic clock, so a change of the terminal's clock
//! does not end them. After a restart, each wait begins again.

use std::collections::BTreeMap;
use std::time::Duration;

use pos_terms::transaction::{OperatorName, Who};

/// The number of free attempts for an operator.
const FREE_OF_OPERATOR: u32 = 5;
/// The number of free attempts for a till or a user. It is higher because several cashiers share a till or a user.
const FREE_OF_DOOR: u32 = 10;
/// The first wait and the longest wait.
const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// The maximum number of known places, which are the devices of a shop at which operators sign in.
const KNOWN_PLACES: usize = 32;
/// The number of groups. Names without an operator share one count per group, and so do unknown places. This limits the
/// number of counts, no matter how many names are tried.
const STRANGERS: u32 = 64;

/// The place at which a PIN is typed: an address, as reported by a program that serves several devices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PinPlace(String);

impl PinPlace {
    /// Parses a place of 1 to 45 visible ASCII characters. The longest IPv6 address has 45.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=45).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }
}

/// The key of a count, in its stored form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TryKey(String);

impl TryKey {
    /// Returns the key of an operator.
    #[must_use]
    pub fn operator(name: &OperatorName) -> Self {
        Self(format!("operator:{}", name.folded()))
    }

    /// Returns the key of a name that no operator has.
    #[must_use]
    pub fn stranger(name: &OperatorName) -> Self {
        Self(format!("stranger:{}", group(&name.folded())))
    }

    /// Returns the key of an operator at a known place.
    fn operator_at(name: &OperatorName, place: &PinPlace) -> Self {
        Self(format!("at:{} {}", place.0, name.folded()))
    }

    /// Returns the key of an operator at all unknown places.
    #[must_use]
    pub fn operator_elsewhere(name: &OperatorName) -> Self {
        Self(format!("elsewhere:{}", name.folded()))
    }

    /// Returns the key of a known place. Its count is the order in which the places became known.
    fn known(place: &PinPlace) -> Self {
        Self(format!("known:{}", place.0))
    }

    /// Returns the key of a caller at a known place.
    fn caller_at(who: &Who, place: &PinPlace) -> Self {
        Self(format!("{}@{}", Self::caller(who).0, place.0))
    }

    /// Returns the key of a caller at all unknown places in one group.
    fn caller_elsewhere(who: &Who, place: &PinPlace) -> Self {
        Self(format!("{}@#{}", Self::caller(who).0, group(&place.0)))
    }

    /// Returns whether the key counts for this operator, at any place.
    #[must_use]
    pub fn is_of(&self, name: &OperatorName) -> bool {
        let at_place = self.0.strip_prefix("at:").and_then(|at| at.split_once(' '));
        at_place.is_some_and(|(_, who)| who == name.folded())
            || *self == Self::operator(name)
            || *self == Self::operator_elsewhere(name)
    }

    /// Returns the key of the till or user that sends the PIN.
    #[must_use]
    pub fn caller(who: &Who) -> Self {
        Self(match (&who.token, who.uid) {
            (Some(till), _) => format!("till:{till}"),
            (None, Some(uid)) => format!("user:{uid}"),
            (None, None) => "user:?".to_owned(),
        })
    }

    /// Creates a key from its stored form.
    #[must_use]
    pub fn as_kept(text: String) -> Self {
        Self(text)
    }

    /// Returns the stored form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the key belongs to a till or a user.
    #[must_use]
    pub fn is_caller(&self) -> bool {
        self.0.starts_with("till:") || self.0.starts_with("user:")
    }

    fn free(&self) -> u32 {
        if self.is_caller() { FREE_OF_DOOR } else { FREE_OF_OPERATOR }
    }

    /// Returns the wait after this number of attempts without a correct PIN.
    fn wait_after(&self, tries: u32) -> Duration {
        if self.0.starts_with("known:") {
            return Duration::ZERO;
        }
        match tries.checked_sub(self.free()) {
            None => Duration::ZERO,
            Some(more) => FIRST_WAIT.saturating_mul(1_u32.checked_shl(more).unwrap_or(u32::MAX)).min(LONGEST_WAIT),
        }
    }
}

/// Returns the group of a text, computed with FNV-1a. It does not matter which texts share a group.
fn group(text: &str) -> u32 {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, hash) % STRANGERS
}

/// All counts.
#[derive(Debug, Default)]
pub struct Attempts(BTreeMap<TryKey, Count>);

#[derive(Clone, Copy, Debug)]
struct Count {
    /// The number of attempts since the last correct PIN.
    tries: u32,
    /// The end of the wait, on the monotonic clock.
    free_at: Duration,
}

impl Attempts {
    /// Restores the stored counts. Each wait begins again.
    #[must_use]
    pub fn restored(kept: impl IntoIterator<Item = (TryKey, u32)>, now: Duration) -> Self {
        let mut attempts = Self::default();
        kept.into_iter().for_each(|(key, tries)| attempts.set(key, tries, now));
        attempts
    }

    /// Returns the keys that count an attempt with `name`. `operator` is true if an operator has that name.
    #[must_use]
    pub fn keys(&self, (name, operator): (&OperatorName, bool), caller: &Who, place: Option<&PinPlace>) -> [TryKey; 2] {
        let named = |of_operator: TryKey| if operator { of_operator } else { TryKey::stranger(name) };
        match place {
            None => [named(TryKey::operator(name)), TryKey::caller(caller)],
            Some(place) if self.0.contains_key(&TryKey::known(place)) => {
                [named(TryKey::operator_at(name, place)), TryKey::caller_at(caller, place)]
            }
            Some(place) => [named(TryKey::operator_elsewhere(name)), TryKey::caller_elsewhere(caller, place)],
        }
    }

    /// Returns the counts to store after a correct PIN. The counts of `keys` become zero, and the place becomes known.
    /// If `KNOWN_PLACES` places are known, the one that became known first is removed.
    #[must_use]
    pub fn forgiven(&self, keys: &[TryKey], place: Option<&PinPlace>) -> Vec<(TryKey, u32)> {
        let mut counts: Vec<_> = keys.iter().map(|key| (key.clone(), 0)).collect();
        let Some(place) = place.map(TryKey::known).filter(|place| !self.0.contains_key(place)) else { return counts };
        let known = || self.0.iter().filter(|(key, _)| key.0.starts_with("known:"));
        let last = known().map(|(_, count)| count.tries).max().unwrap_or_default();
        if known().count() >= KNOWN_PLACES
            && let Some((first, _)) = known().min_by_key(|(_, count)| count.tries)
        {
            counts.push((first.clone(), 0));
        }
        counts.push((place, last.saturating_add(1)));
        counts
    }

    /// Returns all keys that count for this operator.
    pub fn of_operator(&self, name: &OperatorName) -> Vec<TryKey> {
        self.0.keys().filter(|key| key.is_of(name)).cloned().collect()
    }

    /// Returns the longest remaining wait of these keys.
    #[must_use]
    pub fn wait(&self, keys: &[TryKey], now: Duration) -> Option<Duration> {
        let waits = keys.iter().filter_map(|key| self.0.get(key)?.free_at.checked_sub(now));
        waits.filter(|wait| !wait.is_zero()).max()
    }

    /// Returns the counts to store before the next PIN is checked.
    #[must_use]
    pub fn one_more(&self, keys: &[TryKey]) -> Vec<(TryKey, u32)> {
        keys.iter().map(|key| (key.clone(), self.tries(key).saturating_add(1))).collect()
    }

    /// Applies counts after they have been stored.
    pub fn kept(&mut self, counts: Vec<(TryKey, u32)>, now: Duration) {
        counts.into_iter().for_each(|(key, tries)| self.set(key, tries, now));
    }

    /// Returns the number of attempts since the last correct PIN.
    #[must_use]
    pub fn tries(&self, key: &TryKey) -> u32 {
        self.0.get(key).map_or(0, |count| count.tries)
    }

    /// Returns the keys of all tills and users with a count.
    pub fn callers(&self) -> impl Iterator<Item = &TryKey> {
        self.0.keys().filter(|key| key.is_caller())
    }

    fn set(&mut self, key: TryKey, tries: u32, now: Duration) {
        if tries == 0 {
            self.0.remove(&key);
            return;
        }
        let free_at = now.saturating_add(key.wait_after(tries));
        self.0.insert(key, Count { tries, free_at });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> OperatorName {
        OperatorName::parse(text).unwrap()
    }

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn five_tries_are_free_and_then_each_wait_is_twice_the_last_up_to_an_hour() {
        let key = TryKey::operator(&name("Anna"));
        let waits: Vec<u64> = (1..=14).map(|tries| key.wait_after(tries).as_secs()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
        assert_eq!(key.wait_after(u32::MAX), LONGEST_WAIT);
        let till = TryKey::caller(&Who { token: Some("till-1".into()), ..Who::default() });
        assert_eq!((till.wait_after(9), till.wait_after(10)), (seconds(0), seconds(30)));
    }

    #[test]
    fn the_longest_wait_of_all_that_are_concerned_counts() {
        let (anna, till) = (TryKey::operator(&name("Anna")), TryKey::caller(&Who { uid: Some(7), ..Who::default() }));
        let mut attempts = Attempts::default();
        attempts.kept(vec![(anna.clone(), 6), (till.clone(), 10)], seconds(100));
        let both = [anna.clone(), till.clone()];
        assert_eq!(attempts.wait(&both, seconds(100)), Some(seconds(60)));
        assert_eq!(attempts.wait(std::slice::from_ref(&till), seconds(100)), Some(seconds(30)));
        assert_eq!(attempts.wait(&both, seconds(160)), None);
        attempts.kept(vec![(anna.clone(), 0)], seconds(161));
        assert_eq!((attempts.tries(&anna), attempts.tries(&till)), (0, 10));
        assert_eq!(attempts.callers().collect::<Vec<_>>(), [&till]);
    }

    #[test]
    fn names_that_nobody_has_are_counted_in_few_groups_and_without_their_case() {
        let keys: std::collections::BTreeSet<_> =
            (0..10_000).map(|n| TryKey::stranger(&name(&format!("nobody {n}")))).collect();
        assert!(keys.len() <= STRANGERS as usize, "{}", keys.len());
        assert_eq!(TryKey::operator(&name("Anna")), TryKey::operator(&name("ANNA")));
        assert_eq!(TryKey::stranger(&name("Anna")), TryKey::stranger(&name("ANNA")));
    }

    /// An attacker at unknown places, with any number of addresses, locks out no operator at the terminal or at a known
    /// place. A new address gives no additional attempts.
    #[test]
    fn guesses_from_elsewhere_count_for_themselves() {
        let (anna, front) = (name("Anna"), Who { uid: Some(990), ..Who::default() });
        let place = |n: usize| PinPlace::parse(&format!("192.0.2.{n}")).unwrap();
        let (here, work) = ([TryKey::operator(&anna), TryKey::caller(&front)], place(7));
        let mut attempts = Attempts::default();
        let signed_in = attempts.forgiven(&attempts.keys((&anna, true), &front, Some(&work)), Some(&work));
        attempts.kept(signed_in, seconds(0));
        let mut tried = 0;
        for n in 0..200 {
            let keys = attempts.keys((&anna, true), &front, Some(&place(100 + n % 100)));
            if attempts.wait(&keys, seconds(1)).is_none() {
                let counts = attempts.one_more(&keys);
                attempts.kept(counts, seconds(1));
                tried += 1;
            }
        }
        assert_eq!(tried, FREE_OF_OPERATOR, "all places together");
        assert_eq!(attempts.keys((&anna, true), &front, None), here);
        assert_eq!(attempts.wait(&here, seconds(1)), None, "on the board");
        let at_work = attempts.keys((&anna, true), &front, Some(&work));
        assert_eq!(attempts.wait(&at_work, seconds(1)), None, "where somebody has signed in");
        // A known place has its own five attempts, and a restart keeps the known places.
        attempts.kept(at_work.iter().map(|key| (key.clone(), 5)).collect(), seconds(1));
        assert!(attempts.wait(&at_work, seconds(1)).is_some());
        assert_eq!(attempts.of_operator(&anna).len(), 2);
        let kept = attempts.0.iter().map(|(key, count)| (key.clone(), count.tries)).collect::<Vec<_>>();
        let again = Attempts::restored(kept, seconds(0));
        assert_eq!(again.keys((&anna, true), &front, Some(&work)), at_work);
    }

    #[test]
    fn so_many_places_are_known_and_the_first_makes_room() {
        let (anna, front) = (name("Anna"), Who { uid: Some(990), ..Who::default() });
        let place = |n: usize| PinPlace::parse(&n.to_string()).unwrap();
        let mut attempts = Attempts::default();
        for n in 0..=KNOWN_PLACES {
            let counts = attempts.forgiven(&attempts.keys((&anna, true), &front, Some(&place(n))), Some(&place(n)));
            attempts.kept(counts, seconds(0));
        }
        let is_known = |n: usize| attempts.0.contains_key(&TryKey::known(&place(n)));
        assert!(!is_known(0) && (1..=KNOWN_PLACES).all(is_known));
        for wrong in ["", "a b", "a\n", &"1".repeat(46), "ä"] {
            assert_eq!(PinPlace::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        /// Restarts and pauses at any point between wrong attempts give no extra attempt. Any period contains at most
        /// the free attempts, plus one for each wait that has passed.
        #[test]
        fn no_restart_gives_a_try(steps in proptest::collection::vec((0..100_u64, any::<bool>()), 1..300)) {
            let keys = [TryKey::operator(&name("Anna"))];
            let (mut attempts, mut now, mut tried) = (Attempts::default(), Duration::ZERO, 0_u32);
            let mut earliest = Duration::ZERO;
            for (passes, restarts) in steps {
                now += seconds(passes);
                if restarts {
                    let kept = keys.iter().map(|key| (key.clone(), attempts.tries(key))).collect::<Vec<_>>();
                    // After a restart, the monotonic clock begins at zero.
                    (earliest, now) = (earliest.saturating_sub(now), Duration::ZERO);
                    attempts = Attempts::restored(kept, now);
                }
                if attempts.wait(&keys, now).is_some() {
                    continue;
                }
                prop_assert!(now >= earliest, "a try after {tried} came {:?} too early", earliest - now);
                let counts = attempts.one_more(&keys);
                attempts.kept(counts, now);
                tried += 1;
                prop_assert_eq!(attempts.tries(&keys[0]), tried);
                if tried >= 5 {
                    earliest = now + seconds((30_u64 << (tried - 5).min(7)).min(3600));
                }
            }
        }
    }
}
