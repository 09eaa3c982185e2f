//! The journal of a simulated terminal: it grows as a shop's day does, and each entry follows from the seed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
use pos_till_api::{Entries, JournalEntry, LastEntry};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

/// The entries of a sale. The last one has its outcome.
const STEPS: [&str; 6] = ["started", "card-read", "asked", "host-approved", "card-confirmed", "ended"];
/// A close of day comes after this number of sales.
const SALES_OF_A_DAY: u64 = 300;
/// The share of a day's sales in each hour, in thousandths.
const HOURS: [u64; 24] = [0, 0, 0, 0, 0, 0, 5, 20, 45, 70, 85, 95, 100, 80, 65, 70, 85, 100, 95, 55, 20, 10, 0, 0];

/// Entries of which every field follows from the seed. Only hashes are stored.
#[derive(Clone, Debug)]
pub struct Journal {
    id: String,
    seed: u64,
    /// The last entry of a range that the shop has removed, 0 if there is none.
    removed: i64,
    /// The hashes of the entries after that range, and that of the range.
    hashes: Vec<[u8; 32]>,
    /// The times of the sales that have begun, in milliseconds since 1970.
    sales: Vec<i64>,
    /// The number of sales of a day.
    per_day: u64,
    /// The time up to which the journal has grown.
    grown: SystemTime,
}

impl Journal {
    /// Begins a journal. `removed` entries were removed before.
    #[must_use]
    pub fn begin(seed: u64, removed: i64, per_day: u64, now: SystemTime) -> Self {
        let id = format!("{:016x}{:016x}", mixed(seed ^ 1), mixed(seed ^ 2));
        let hashes = if removed > 0 { vec![hash(&[0; 32], seed, removed)] } else { Vec::new() };
        Self { id, seed, removed, hashes, sales: Vec::new(), per_day, grown: now }
    }

    /// Returns a copy that goes its own way from here, as that of a copied card does.
    #[must_use]
    pub fn copied(&self) -> Self {
        Self { seed: mixed(self.seed), ..self.clone() }
    }

    /// Returns the identity.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Adds the sales that the shop has made until now.
    pub fn grow(&mut self, now: SystemTime) {
        while self.grown < now {
            let share = HOURS[usize::try_from(seconds(self.grown) / 3600 % 24).unwrap_or_default()];
            let per_hour = (self.per_day * share).div_ceil(1000).max(1);
            // Sales come at random: twice the mean at most.
            let gap = mixed(self.seed ^ self.sales.len() as u64) % (2 * 3_600_000 / per_hour);
            let next = self.grown + Duration::from_millis(gap.max(1));
            if next > now {
                // The next look decides again, with the same number.
                return;
            }
            self.grown = next;
            if share > 0 {
                self.sell(next);
            }
        }
    }

    /// Adds a sale.
    pub fn sell(&mut self, at: SystemTime) {
        let at = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        self.sales.push(i64::try_from(at).unwrap_or(i64::MAX));
        let entries = STEPS.len() + usize::from((self.sales.len() as u64).is_multiple_of(SALES_OF_A_DAY));
        for _ in 0..entries {
            let before = self.hashes.last().copied().unwrap_or_default();
            self.hashes.push(hash(&before, self.seed, self.last() + 1));
        }
    }

    /// Returns the number of the last entry.
    #[must_use]
    pub fn last(&self) -> i64 {
        let count = i64::try_from(self.hashes.len()).unwrap_or(i64::MAX);
        if self.removed > 0 { self.removed + count - 1 } else { count }
    }

    /// Returns entries after this one, at most `most`.
    #[must_use]
    pub fn after(&self, entry: i64, most: usize) -> Entries {
        let begin = entry.max(self.removed - 1).saturating_add(1);
        let first = if self.removed > 0 { begin.max(self.removed) } else { begin };
        let entries = (first..=self.last()).take(most).map(|number| self.entry(number)).collect();
        let last = LastEntry { entry: self.last(), hash: self.hash_of(self.last()) };
        Entries { journal: self.id.clone(), last, entries }
    }

    /// Returns the number of entries that it has. A removed range counts as one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.hashes.len()
    }

    /// Returns every entry: the first of a range, the number, the hash.
    pub fn every(&self) -> impl Iterator<Item = (i64, i64, String)> {
        let begin = if self.removed > 0 { self.removed } else { 1 };
        (begin..=self.last()).map(|number| {
            let first = if number == self.removed { 1 } else { number };
            (first, number, self.hash_of(number))
        })
    }

    fn hash_of(&self, number: i64) -> String {
        let at = if self.removed > 0 { number - self.removed } else { number - 1 };
        usize::try_from(at).ok().and_then(|at| self.hashes.get(at)).map(hex::encode).unwrap_or_default()
    }

    fn entry(&self, number: i64) -> JournalEntry {
        let content =
            if number == self.removed { json!({ "is": "removed", "first": 1 }) } else { self.content(number) };
        let Value::Object(content) = content else {
            return JournalEntry { entry: number, hash: self.hash_of(number), content: serde_json::Map::new() };
        };
        JournalEntry { entry: number, hash: self.hash_of(number), content }
    }

    fn content(&self, number: i64) -> Value {
        // Each day has a close after its sales.
        let steps = STEPS.len() as u64;
        let of_day = steps * SALES_OF_A_DAY + 1;
        let at = u64::try_from(number - self.removed - 1).unwrap_or_default();
        let (day, within) = (at / of_day, at % of_day);
        let sale = (day * SALES_OF_A_DAY + within / steps).min(self.sales.len() as u64 - 1);
        let time = self.sales.get(usize::try_from(sale).unwrap_or_default()).copied().unwrap_or_default();
        if within == of_day - 1 {
            return json!({ "is": "mark", "at": rfc3339(time), "what": { "is": "close", "number": day + 1 } });
        }
        let step = usize::try_from(within % steps).unwrap_or_default();
        let at = rfc3339(time + 1_500 * i64::try_from(step).unwrap_or_default());
        let luck = mixed(self.seed ^ (sale << 20));
        let (declined, cents) = (luck.is_multiple_of(40), luck % 9_900 + 100);
        let total = format!("{}.{:02}", cents / 100, cents % 100);
        let outcome = if declined { "declined" } else { "approved" };
        let mut facts = json!({ "kind": "sale", "standing": "in-progress", "total": total, "currency": "EUR" });
        if step == STEPS.len() - 1 {
            facts["standing"] = json!("ended");
            facts["outcome"] = json!(outcome);
            if !declined {
                facts["approved"] = json!(total);
            }
            facts["card"] = json!({ "maskedPan": format!("************{:04}", luck % 10_000) });
        }
        json!({
            "is": "step", "at": at, "number": sale + 1, "till": "till-1", "reference": format!("order-{}", sale + 1),
            "records": [{ "at": at, "is": STEPS[step] }], "facts": facts,
        })
    }
}

fn hash(before: &[u8; 32], seed: u64, number: i64) -> [u8; 32] {
    let mut bytes = [0; 48];
    bytes[..32].copy_from_slice(before);
    bytes[32..40].copy_from_slice(&seed.to_be_bytes());
    bytes[40..].copy_from_slice(&number.to_be_bytes());
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, &bytes).as_ref());
    hash
}

/// Returns another number, as a random one would be (splitmix64).
pub(super) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn rfc3339(unix_ms: i64) -> String {
    DateTime::<Utc>::from_timestamp_millis(unix_ms)
        .map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_795_176_000)
    }

    #[test]
    fn every_entry_is_read_once_with_the_hash_of_its_place() {
        for removed in [0, 40] {
            let mut journal = Journal::begin(7, removed, 300, noon());
            for _ in 0..700 {
                journal.sell(noon());
            }
            let (mut after, mut read) = (0, Vec::new());
            while after < journal.last() {
                let some = journal.after(after, 50);
                after = some.entries.last().unwrap().entry;
                read.extend(some.entries.into_iter().map(|it| (it.first().unwrap_or(it.entry), it.entry, it.hash)));
            }
            assert_eq!(read, journal.every().collect::<Vec<_>>());
            assert_eq!(journal.last(), 700 * 6 + 2 + removed);
            let closes: Vec<_> =
                journal.after(removed, 10_000).entries.into_iter().filter(|it| it.is() == Some("mark")).collect();
            assert_eq!(closes.len(), 2);
        }
    }

    #[test]
    fn a_day_has_about_as_many_sales_as_it_should() {
        let mut journal = Journal::begin(7, 0, 300, noon());
        for hour in 1..=72 {
            journal.grow(noon() + Duration::from_secs(3600 * hour));
        }
        let sales = journal.sales.len();
        assert!((800..1_050).contains(&sales), "{sales} sales in three days");
    }

    #[test]
    fn a_copy_has_the_same_past_and_another_future() {
        let mut journal = Journal::begin(7, 0, 300, noon());
        journal.sell(noon());
        let mut copy = journal.copied();
        assert!(copy.every().eq(journal.every()));
        journal.sell(noon());
        copy.sell(noon());
        assert_eq!(copy.id(), journal.id());
        assert_ne!(copy.every().last(), journal.every().last());
    }
}
