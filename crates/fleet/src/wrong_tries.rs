//! Limits how often someone may guess a code or a token.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);
/// The greatest number of addresses that are counted.
const ADDRESSES: usize = 4096;

/// The wrong tries of the present minute, by address.
#[derive(Debug)]
pub(crate) struct WrongTries {
    /// The wrong tries in a minute from one address.
    of_one: u32,
    /// The wrong tries in a minute from all addresses. A sender could lock out the others with it, so it is for short
    /// codes only.
    of_all: Option<u32>,
    since: Instant,
    all: u32,
    by_address: HashMap<IpAddr, u32>,
}

impl WrongTries {
    pub(crate) fn new(of_one: u32, of_all: Option<u32>, now: Instant) -> Self {
        Self { of_one, of_all, since: now, all: 0, by_address: HashMap::new() }
    }

    /// Returns whether this address may try.
    pub(crate) fn may_try(&mut self, address: IpAddr, now: Instant) -> bool {
        self.begin_minute(now);
        let own = self.by_address.get(&network(address)).copied().unwrap_or_default();
        own < self.of_one && self.of_all.is_none_or(|most| self.all < most)
    }

    /// Counts a wrong try.
    pub(crate) fn count(&mut self, address: IpAddr, now: Instant) {
        self.begin_minute(now);
        self.all = self.all.saturating_add(1);
        let address = network(address);
        if self.by_address.len() < ADDRESSES || self.by_address.contains_key(&address) {
            let count = self.by_address.entry(address).or_default();
            *count = count.saturating_add(1);
        }
    }

    fn begin_minute(&mut self, now: Instant) {
        if now >= self.since + MINUTE {
            *self = Self::new(self.of_one, self.of_all, now);
        }
    }
}

/// Returns the address as one sender has it: with IPv6, a sender has 64 bits of its own.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn wrong_tries_are_limited_by_address_for_a_minute() {
        let now = Instant::now();
        let mut tries = WrongTries::new(10, None, now);
        for _ in 0..10 {
            assert!(tries.may_try(address("192.0.2.7"), now));
            tries.count(address("192.0.2.7"), now);
        }
        assert!(!tries.may_try(address("192.0.2.7"), now));
        assert!(!tries.may_try(address("::ffff:192.0.2.7"), now), "the same address");
        assert!(tries.may_try(address("192.0.2.8"), now), "no other address waits for it");
        for at in 0..2 * ADDRESSES {
            tries.count(address(&format!("2001:db8:{:x}:{:x}::1", at >> 8, at & 0xff)), now);
        }
        assert!(tries.by_address.len() <= ADDRESSES);
        assert!(tries.may_try(address("192.0.2.9"), now));
        assert!(tries.may_try(address("192.0.2.7"), now + MINUTE));
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_for_all_stops_all() {
        let now = Instant::now();
        let mut tries = WrongTries::new(10, Some(100), now);
        for last in 0..100 {
            assert!(tries.may_try(address("192.0.2.8"), now));
            tries.count(address(&format!("2001:db8:0:{last:x}::1")), now);
        }
        assert!(!tries.may_try(address("192.0.2.8"), now));
        assert!(tries.may_try(address("192.0.2.8"), now + MINUTE));
    }

    #[test]
    fn neighbours_in_an_ipv6_network_are_one_sender() {
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8::ffff:1")));
        assert_ne!(network(address("2001:db8::1")), network(address("2001:db8:0:1::1")));
    }
}
