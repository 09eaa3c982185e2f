//! Limits on guessing. Wrong tokens and sign-ins are counted per address and period. `pairing` counts wrong codes
//! itself, under the same addresses.
//!
//! A remote IPv6 host can use any number of addresses, so its /64 network counts as one address. In the shop's network,
//! which is the terminal's own, each address counts separately. The table has a fixed size: when it is full, a new
//! address replaces the one with the oldest count.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The largest number of addresses in the table. A shop's network has fewer.
const ADDRESSES: usize = 256;

/// The source of a connection, in the form in which it is counted. Only [`Whence::of`] creates one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Whence(IpAddr);

impl Whence {
    /// Returns the source for a peer that connected to the terminal's address `reached`.
    pub(crate) fn of(peer: IpAddr, reached: IpAddr) -> Self {
        let network = |address: Ipv6Addr| address.to_bits() >> 64;
        Self(match (peer.to_canonical(), reached.to_canonical()) {
            (IpAddr::V6(peer), IpAddr::V6(reached))
                if !peer.is_unicast_link_local() && network(peer) != network(reached) =>
            {
                IpAddr::V6(Ipv6Addr::from_bits(network(peer) << 64))
            }
            (peer, _) => peer,
        })
    }
}

impl fmt::Display for Whence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of attempts of each address.
#[derive(Debug)]
pub(crate) struct Attempts {
    most: u32,
    period: Duration,
    counts: BTreeMap<Whence, Count>,
}

#[derive(Debug)]
struct Count {
    since: Instant,
    attempts: u32,
}

impl Attempts {
    /// Creates an empty table that allows each address `most` attempts in each `period`.
    pub(crate) fn new(most: u32, period: Duration) -> Self {
        Self { most, period, counts: BTreeMap::new() }
    }

    /// Returns how long this address must wait, or `None` if it may try.
    pub(crate) fn must_wait(&self, address: Whence, now: Instant) -> Option<Duration> {
        let count = self.counts.get(&address).filter(|count| count.attempts >= self.most)?;
        Some((count.since + self.period).saturating_duration_since(now)).filter(|left| !left.is_zero())
    }

    /// Counts one attempt.
    pub(crate) fn count(&mut self, address: Whence, now: Instant) {
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

    /// Removes an attempt from the count because it was never checked.
    pub(crate) fn take_back(&mut self, address: Whence) {
        if let Some(count) = self.counts.get_mut(&address) {
            count.attempts = count.attempts.saturating_sub(1);
        }
    }

    /// Forgets the attempts of this address after a success.
    pub(crate) fn forget(&mut self, address: Whence) {
        self.counts.remove(&address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_secs(60);

    fn from(peer: &str) -> Whence {
        Whence::of(peer.parse().unwrap(), "2001:db8:0:1::7".parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_waits_until_its_period_has_passed_and_others_do_not() {
        let mut attempts = Attempts::new(3, PERIOD);
        let (one, other) = (from("192.0.2.1"), from("192.0.2.2"));
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
    async fn a_far_host_with_many_addresses_is_one_and_the_table_has_a_bound() {
        let mut attempts = Attempts::new(2, PERIOD);
        let now = Instant::now();
        for last in 0..2 {
            attempts.count(from(&format!("2001:db8::{last}")), now);
        }
        assert!(attempts.must_wait(from("2001:db8::99"), now).is_some());
        for n in 0..2 * ADDRESSES {
            attempts.count(from(&format!("2001:db8:{n:x}::1")), now);
        }
        assert_eq!(attempts.counts.len(), ADDRESSES);
    }

    /// A shop's devices share one /64 network, so a mistake on one device must not lock out a till.
    #[test]
    fn in_the_terminals_own_network_each_address_counts_by_itself() {
        for (one, other, alike) in [
            ("2001:db8:0:1::8", "2001:db8:0:1::9", false),
            ("fe80::1", "fe80::2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8:0:2::8", "2001:db8:0:2::9", true),
            ("2001:db8:0:2::8", "2001:db8:0:3::8", false),
        ] {
            assert_eq!(from(one) == from(other), alike, "{one} {other}");
        }
    }
}
