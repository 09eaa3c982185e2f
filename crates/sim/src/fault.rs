//! Faults on a connection: delay, dropped byte, flipped bit, cut. They apply to any byte stream, and the same seed
//! produces the same faults.
//!
//! ```text
//!            ┌──────── FaultyStream<S> ────────┐
//!  holder ◀──┤ Read  : delay · drop · flip · cut ├◀── the other end
//!  holder ──▶┤ Write : delay · drop · flip · cut ├──▶ (pty, TCP, duplex)
//!            └────────────▲────────────────────┘
//!                      LineFaults (a cloneable handle: for a test, or for typed commands)
//! ```
//!
//! The fault of a byte depends only on the seed, the direction and the byte's position. It depends neither on the chunk
//! size nor on the time, so a failing run can be repeated. This is not a model of a radio or a network, because it
//! neither reorders nor repeats data. Positions and settings belong to the handle, so they continue after a reconnect.

mod proxy;
mod stream;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

pub use self::proxy::{FaultArgs, Misunderstood, proxy, run};
pub use self::stream::FaultyStream;

/// The direction of a byte, from the view of the holder of the [`FaultyStream`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the other side to the holder.
    Read,
    /// From the holder to the other side.
    Write,
}

/// Both directions, for settings that apply to each.
pub const BOTH_DIRECTIONS: [Direction; 2] = [Direction::Read, Direction::Write];

/// The handle for the faults on a connection. All clones control and count the same faults, even while the connection
/// is open.
#[derive(Clone, Debug)]
pub struct LineFaults(Arc<Shared>);

/// The injected faults, so that a test can prove that its faults happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Bytes that entered, in both directions.
    pub bytes: u64,
    /// Bytes that were dropped.
    pub dropped: u64,
    /// Bytes that were delivered with one wrong bit.
    pub flipped: u64,
    /// The number of cuts.
    pub cuts: u64,
}

impl LineFaults {
    /// Makes a connection without faults. The seed decides which bytes the random faults will hit.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        let state = State { seed, ways: Default::default(), cuts: 0 };
        Self(Arc::new(Shared { state: Mutex::new(state), cut: Arc::new(Notify::new()) }))
    }

    /// Delays every chunk of data by `delay`.
    pub fn delay(&self, direction: Direction, delay: Duration) {
        self.way(direction, |way| way.delay = delay);
    }

    /// Drops this many bytes per thousand.
    pub fn drop_per_mille(&self, direction: Direction, chance: u16) {
        self.way(direction, |way| way.drop_per_mille = chance);
    }

    /// Flips one bit in this many bytes per thousand.
    pub fn flip_per_mille(&self, direction: Direction, chance: u16) {
        self.way(direction, |way| way.flip_per_mille = chance);
    }

    /// Drops the byte that follows `skip` further bytes (0: the next byte).
    pub fn drop_byte(&self, direction: Direction, skip: u64) {
        self.way(direction, |way| _ = way.planned.insert(way.position.saturating_add(skip), ByteFate::Drop));
    }

    /// Flips bit `bit` (0 is the lowest) of the byte that follows `skip` further bytes (0: the next byte).
    pub fn flip_bit(&self, direction: Direction, skip: u64, bit: u8) {
        let fate = ByteFate::Flip(1 << (bit % 8));
        self.way(direction, |way| _ = way.planned.insert(way.position.saturating_add(skip), fate));
    }

    /// Lets `n` more bytes pass, and then cuts the connection once.
    pub fn cut_after_bytes(&self, direction: Direction, n: u64) {
        self.way(direction, |way| way.cut_at = Some(way.position.saturating_add(n)));
    }

    /// Cuts every open connection, as an unplugged cable does. The holder reads the end of file and cannot write, and
    /// the other side loses its peer. Connections that are opened later are not cut.
    pub fn cut_now(&self) {
        self.lock().cuts += 1;
        self.0.cut.notify_waiters();
    }

    /// Removes all faults that have not happened yet.
    pub fn clear(&self) {
        for direction in BOTH_DIRECTIONS {
            self.way(direction, |way| {
                *way = DirectionFaults { position: way.position, counts: way.counts, ..DirectionFaults::default() }
            });
        }
    }

    /// Returns the faults injected so far.
    #[must_use]
    pub fn counts(&self) -> FaultCounts {
        let state = self.lock();
        let [read, write] = &state.ways;
        FaultCounts {
            bytes: read.position + write.position,
            dropped: read.counts.dropped + write.counts.dropped,
            flipped: read.counts.flipped + write.counts.flipped,
            cuts: state.cuts,
        }
    }

    fn way<T>(&self, direction: Direction, change: impl FnOnce(&mut DirectionFaults) -> T) -> T {
        change(&mut self.lock().ways[direction as usize])
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next bytes in this direction, at most `len`: a run without faults, or one fault.
    fn next(&self, direction: Direction, len: usize) -> Next {
        let state = self.lock();
        let way = &state.ways[direction as usize];
        let mut clean = 0;
        while clean < len {
            let position = way.position + clean as u64;
            match way.fate(state.seed, direction, position) {
                ByteFate::Pass => clean += 1,
                fate if clean == 0 => return Next::Fault(fate),
                _ => break,
            }
        }
        Next::Clean(clean)
    }

    /// Counts `n` bytes with this fault, and returns whether the connection must be cut after them.
    fn passed(&self, direction: Direction, n: usize, fate: ByteFate) -> bool {
        self.way(direction, |way| {
            way.position += n as u64;
            way.planned = way.planned.split_off(&way.position);
            match fate {
                ByteFate::Drop => way.counts.dropped += 1,
                ByteFate::Flip(_) => way.counts.flipped += 1,
                ByteFate::Pass | ByteFate::Cut => {}
            }
            way.cut_at.take_if(|at| *at <= way.position).is_some()
        })
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Wakes both halves of every open connection when it is cut.
    cut: Arc<Notify>,
}

#[derive(Debug)]
struct State {
    seed: u64,
    /// The state for each [`Direction`], by its index.
    ways: [DirectionFaults; 2],
    cuts: u64,
}

#[derive(Debug, Default)]
struct DirectionFaults {
    /// The number of bytes whose fault is decided.
    position: u64,
    delay: Duration,
    drop_per_mille: u16,
    flip_per_mille: u16,
    planned: BTreeMap<u64, ByteFate>,
    cut_at: Option<u64>,
    counts: FaultCounts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteFate {
    Pass,
    Drop,
    /// Exclusive-or with this mask, which has one bit set.
    Flip(u8),
    Cut,
}

enum Next {
    Clean(usize),
    Fault(ByteFate),
}

impl DirectionFaults {
    fn fate(&self, seed: u64, direction: Direction, position: u64) -> ByteFate {
        if self.cut_at.is_some_and(|at| at <= position) {
            return ByteFate::Cut;
        }
        if let Some(fate) = self.planned.get(&position) {
            return *fate;
        }
        // Three independent draws from one number: its bits 0..20, 20..40 and 40..43.
        let draw = scatter(seed, direction, position);
        let per_mille = |draw: u64| (draw & 0xF_FFFF) % 1000;
        if per_mille(draw) < u64::from(self.drop_per_mille) {
            ByteFate::Drop
        } else if per_mille(draw >> 20) < u64::from(self.flip_per_mille) {
            ByteFate::Flip(1 << ((draw >> 40) % 8))
        } else {
            ByteFate::Pass
        }
    }
}

/// Computes SplitMix64 (Steele, Lea, Flood 2014) as a hash. The value for a position does not depend on earlier
/// positions.
fn scatter(seed: u64, direction: Direction, position: u64) -> u64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let stream = mix(seed.wrapping_add(GOLDEN.wrapping_mul(1 + direction as u64)));
    mix(stream.wrapping_add(GOLDEN.wrapping_mul(position.wrapping_add(1))))
}
