//! Secrets that are wiped on drop are gone from the process's memory. The test reads the memory through the system's
//! own file, as a thief of a memory image would. A sale that is cancelled, or ends in any other way, drops its sealed
//! card (`agent.rs`). This test shows that dropping is enough.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs::File;
use std::os::unix::fs::FileExt;

use pos_terms::card::{MAX_SEALED, SealedCard, Wiped};

/// The number of bytes at the start of freed memory that the allocator uses for its own data.
const NOTES: usize = 32;

/// A place in this process's memory. Everything that reading needs is allocated before, so that reading does not reuse
/// memory that was just freed.
struct Window {
    memory: File,
    address: u64,
    found: Vec<u8>,
}

impl Window {
    fn on(bytes: &[u8]) -> Self {
        let memory = File::open("/proc/self/mem").unwrap();
        Self { memory, address: bytes.as_ptr() as u64, found: vec![0; bytes.len()] }
    }

    /// Returns whether any part of the secret is in this place. Memory that was returned to the system contains none.
    fn shows(&mut self, secret: &[u8]) -> bool {
        let read = self.memory.read_exact_at(&mut self.found, self.address);
        read.is_ok()
            && self.found[NOTES..].chunks(8).any(|part| secret.windows(part.len()).any(|secret| secret == part))
    }
}

/// Returns bytes that are unlike all other bytes in memory.
fn secret(seed: usize) -> Vec<u8> {
    (0..MAX_SEALED).map(|n| u8::try_from((n * n * seed + n) % 255).unwrap() | 1).collect()
}

#[test]
fn a_sealed_card_is_gone_when_it_is_dropped() {
    let secret = secret(7);
    let card = SealedCard { data: Wiped::copy_of(&secret).unwrap(), ksn: Wiped::copy_of(&[0xA5; 12]).unwrap() };
    let mut window = Window::on(card.data.expose());
    // Moving a secret leaves no copy, because only its owner moves.
    let moved = Box::new(card);
    assert_eq!(moved.data.expose().as_ptr() as u64, window.address);
    assert!(window.shows(&secret));
    drop(moved);
    assert!(!window.shows(&secret));
}

#[test]
fn what_is_not_wiped_would_be_found() {
    let secret = secret(11);
    let plain = secret.clone();
    let mut window = Window::on(&plain);
    drop(plain);
    assert!(window.shows(&secret), "or the other test could not fail");
}
