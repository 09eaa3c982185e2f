//! How often somebody may guess: wrong tokens, wrong codes and sign-ins, counted per address for a while.
//!
//! An IPv6 host has as many addresses as it likes: its network of 64 bits counts as one. The table has a bound of its
//! own; the address that was counted least recently is forgotten for a new one.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

/// Addresses that are remembered: a shop's network has fewer.
const ADDRESSES: usize = 256;

/// The address as it is counted.
pub(crate) fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// Counts for each address.
#[derive(Debug)]
pub(crate) struct Attempts {
    most: u32,
    period: Duration,
    counts: BTreeMap<IpAddr, Count>,
}

#[derive(Debug)]
struct Count {
    since: Instant,
    attempts: u32,
}

impl Attempts {
    /// At most `most` in each `period`.
    pub(crate) fn new(most: u32, period: Duration) -> Self {
        Self { most, period, counts: BTreeMap::new() }
    }

    /// How long this address has to wait, when it may not try.
    pub(crate) fn must_wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let count = self.counts.get(&counted(address)).filter(|count| count.attempts >= self.most)?;
        Some((count.since + self.period).saturating_duration_since(now)).filter(|left| !left.is_zero())
    }

    /// One more.
    pub(crate) fn count(&mut self, address: IpAddr, now: Instant) {
        let address = counted(address);
        if !self.counts.contains_key(&address) && self.counts.len() >= ADDRESSES {
            let oldest = self.counts.iter().min_by_key(|(_, count)| count.since).map(|(address, _)| *address);
            oldest.and_then(|oldest| self.counts.remove(&oldest));
        }
        let count = self.counts.entry(address).or_insert(Count { since: now, attempts: 0 });
        if now.duration_since(count.since) >= self.period {
            *count = Count { since: now, attempts: 0 };
        }
        count.attempts += 1;
    }

    /// It was none: nobody judged it.
    pub(crate) fn take_back(&mut self, address: IpAddr) {
        if let Some(count) = self.counts.get_mut(&counted(address)) {
            count.attempts = count.attempts.saturating_sub(1);
        }
    }

    /// It was who it said.
    pub(crate) fn forget(&mut self, address: IpAddr) {
        self.counts.remove(&counted(address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn an_address_waits_until_its_period_has_passed_and_others_do_not() {
        let mut attempts = Attempts::new(3, PERIOD);
        let (one, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let began = Instant::now();
        for _ in 0..3 {
            assert_eq!(attempts.must_wait(one, began), None);
            attempts.count(one, began);
        }
        assert_eq!(attempts.must_wait(one, began + PERIOD / 2), Some(PERIOD / 2));
        assert_eq!(attempts.must_wait(other, began), None);
        assert_eq!(attempts.must_wait(one, began + PERIOD), None);
        attempts.count(one, began + PERIOD);
        assert_eq!(attempts.must_wait(one, began + PERIOD), None, "a new period, a new count");
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_with_many_addresses_is_one_and_the_table_has_a_bound() {
        let mut attempts = Attempts::new(2, PERIOD);
        let now = Instant::now();
        for last in 0..2 {
            attempts.count(format!("2001:db8::{last}").parse().unwrap(), now);
        }
        assert!(attempts.must_wait("2001:db8::99".parse().unwrap(), now).is_some());
        for n in 0..2 * ADDRESSES {
            attempts.count(format!("2001:db8:{n:x}::1").parse().unwrap(), now);
        }
        assert_eq!(attempts.counts.len(), ADDRESSES);
    }
}
