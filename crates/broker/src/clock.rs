//! The clock of both ends. A test can move it, while the connections stay real.

use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;
use tokio::time::sleep;

/// The time of this program. All clones are one clock.
#[derive(Clone, Debug)]
pub struct Clock {
    wall: fn() -> SystemTime,
    moved: watch::Sender<Duration>,
}

impl Clock {
    /// Creates a clock. `wall` asks the system for the time of day.
    #[must_use]
    pub fn new(wall: fn() -> SystemTime) -> Self {
        Self { wall, moved: watch::Sender::new(Duration::ZERO) }
    }

    /// Returns the time since some start.
    #[must_use]
    pub fn now(&self) -> Instant {
        real() + *self.moved.borrow()
    }

    /// Returns the time of day.
    #[must_use]
    pub fn wall(&self) -> SystemTime {
        (self.wall)() + *self.moved.borrow()
    }

    /// Moves the clock forward, and ends the waits that are over then.
    pub fn move_on(&self, by: Duration) {
        self.moved.send_modify(|moved| *moved += by);
    }

    /// Waits for this time.
    pub async fn sleep(&self, time: Duration) {
        self.sleep_until(self.now() + time).await;
    }

    /// Waits until this time.
    pub async fn sleep_until(&self, time: Instant) {
        let mut moved = self.moved.subscribe();
        loop {
            let now = real() + *moved.borrow_and_update();
            let left = time.saturating_duration_since(now);
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = sleep(left) => {}
                // This clone keeps the sender, so the channel is open.
                _ = moved.changed() => {}
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place of the fleet that asks for the time since some start")]
fn real() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wait_of_days_ends_when_the_clock_is_moved() {
        let clock = Clock::new(|| SystemTime::UNIX_EPOCH);
        let (day, start) = (Duration::from_secs(86_400), clock.now());
        let waits = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(3 * day).await }
        });
        // The wait begins before the clock is moved.
        tokio::task::yield_now().await;
        clock.move_on(2 * day);
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        clock.move_on(day);
        waits.await.unwrap();
        assert!(clock.now() >= start + 3 * day);
        assert_eq!(clock.wall(), SystemTime::UNIX_EPOCH + 3 * day);
    }
}
