//! The log of announced steps. The steps are numbered, and the last ones are kept for listeners that were briefly
//! disconnected.
//!
//! A listener is a position in the log and stores no steps. If the log no longer holds the step at that position, the
//! listener has missed steps. The log reports this, and the listener must ask for the current state.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;

use super::Progress;

/// The log in which the agent announces its steps. All clones share one log.
#[derive(Clone, Debug)]
pub struct ProgressLog(Arc<Log>);

#[derive(Debug)]
struct Log {
    /// The random number of this run of the agent.
    start: u64,
    most: usize,
    kept: Mutex<VecDeque<Arc<Announced>>>,
    /// The number of the newest step. The first step is 1.
    newest: watch::Sender<u64>,
}

/// A step and the time of its announcement.
#[derive(Debug)]
pub struct Announced {
    at: Instant,
    step: Progress,
}

/// A step's id, which is unique among all runs of the agent: a random number of the run, and the step's number in it.
/// Because the number is random and not a time, a wrong clock cannot make two runs look the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressId {
    start: u64,
    number: u64,
}

/// A listener that reads the log from a position onwards.
#[derive(Debug)]
pub struct ProgressListener {
    log: Arc<Log>,
    newest: watch::Receiver<u64>,
    heard: u64,
}

/// The error that the listener has missed steps that are no longer kept. It continues with the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed;

impl ProgressLog {
    /// Creates a log that keeps this many steps.
    #[must_use]
    pub fn new(most: usize) -> Self {
        // The hasher is seeded with the system's random numbers.
        let start = RandomState::new().build_hasher().finish();
        let (newest, _) = watch::channel(0);
        Self(Arc::new(Log { start, most, kept: Mutex::default(), newest }))
    }

    /// Announces a step to the listeners, if there are any.
    pub fn send(&self, step: Progress) {
        let mut kept = self.0.kept();
        if kept.len() == self.0.most {
            kept.pop_front();
        }
        kept.push_back(Arc::new(Announced { at: Instant::now(), step }));
        self.0.newest.send_modify(|newest| *newest += 1);
    }

    /// Listens to all steps from now on.
    #[must_use]
    pub fn listen(&self) -> ProgressListener {
        let newest = self.0.newest.subscribe();
        let heard = *newest.borrow();
        ProgressListener { log: Arc::clone(&self.0), newest, heard }
    }

    /// Listens to the steps after this one. Fails if one of them is no longer kept, or the agent has since been
    /// restarted.
    ///
    /// # Errors
    /// Returns a listener for all steps from now on.
    pub fn listen_after(&self, id: ProgressId) -> Result<ProgressListener, ProgressListener> {
        let listener = self.listen();
        let kept = self.0.kept();
        let newest = *self.0.newest.borrow();
        let oldest = newest - u64::try_from(kept.len()).unwrap_or(newest);
        if id.start == self.0.start && (oldest..=newest).contains(&id.number) {
            Ok(ProgressListener { heard: id.number, ..listener })
        } else {
            drop(kept);
            Err(listener)
        }
    }

    /// Returns the number of listeners.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.0.newest.receiver_count()
    }
}

impl Log {
    fn kept(&self) -> MutexGuard<'_, VecDeque<Arc<Announced>>> {
        // One call adds a step, so the data is consistent even after a panic.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProgressListener {
    /// Returns the next step. Dropping the future loses no step.
    ///
    /// # Errors
    /// Returns [`Missed`] if the log no longer holds the next step.
    pub async fn next(&mut self) -> Result<Arc<Announced>, Missed> {
        loop {
            if let Some(heard) = self.try_next() {
                return heard;
            }
            // This cannot fail, because the log exists as long as its listeners.
            let _ = self.newest.changed().await;
        }
    }

    /// Returns the next step, if there already is one.
    pub fn try_next(&mut self) -> Option<Result<Arc<Announced>, Missed>> {
        let kept = self.log.kept();
        let newest = *self.newest.borrow_and_update();
        let behind = usize::try_from(newest - self.heard).unwrap_or(usize::MAX);
        if behind == 0 {
            return None;
        }
        let Some(place) = kept.len().checked_sub(behind) else {
            self.heard = newest;
            return Some(Err(Missed));
        };
        self.heard += 1;
        Some(Ok(Arc::clone(&kept[place])))
    }

    /// Returns the step that was heard last. If none was heard, returns the newest step at the time when listening
    /// began.
    #[must_use]
    pub fn heard(&self) -> ProgressId {
        ProgressId { start: self.log.start, number: self.heard }
    }
}

impl Deref for Announced {
    type Target = Progress;

    fn deref(&self) -> &Progress {
        &self.step
    }
}

impl Announced {
    /// Returns the step as it is now. Its remaining wait is shorter by the time since the announcement.
    #[must_use]
    pub fn now(&self) -> Cow<'_, Progress> {
        let gone_s = self.at.elapsed().as_secs();
        match self.step.sale.as_ref().and_then(|sale| sale.left_s) {
            Some(left_s) if gone_s > 0 => {
                let mut step = self.step.clone();
                step.sale.iter_mut().for_each(|sale| sale.left_s = Some(left_s.saturating_sub(gone_s)));
                Cow::Owned(step)
            }
            _ => Cow::Borrowed(&self.step),
        }
    }
}

impl fmt::Display for ProgressId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.start, self.number)
    }
}

/// The error that a text is no step id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoProgressId;

impl FromStr for ProgressId {
    type Err = NoProgressId;

    fn from_str(text: &str) -> Result<Self, NoProgressId> {
        let (start, number) = text.split_once('-').ok_or(NoProgressId)?;
        let start = u64::from_str_radix(start, 16).map_err(|_| NoProgressId)?;
        let id = Self { start, number: number.parse().map_err(|_| NoProgressId)? };
        // An id has only one valid form: no sign and no leading zeros.
        if id.to_string() == text { Ok(id) } else { Err(NoProgressId) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u64) -> Progress {
        let (till, step, text, training, sale) = Default::default();
        Progress { till, reference: number.to_string(), step, text, training, sale }
    }

    fn all(listener: &mut ProgressListener) -> Vec<String> {
        let next = || listener.try_next().map(|heard| heard.map_or("missed".to_owned(), |step| step.reference.clone()));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_listener_hears_each_step_once_and_whoever_is_too_slow_is_told() {
        let log = ProgressLog::new(4);
        let mut listener = log.listen();
        (1..=4).for_each(|n| log.send(step(n)));
        assert_eq!(all(&mut listener), ["1", "2", "3", "4"]);
        (5..=9).for_each(|n| log.send(step(n)));
        assert_eq!(all(&mut listener), ["missed"]);
        log.send(step(10));
        assert_eq!(all(&mut listener), ["10"]);
        assert_eq!(log.listeners(), 1);
    }

    /// Wherever a connection breaks, the listener gets the following steps once and completely, or learns of the gap.
    #[test]
    fn it_goes_on_after_each_step_that_is_kept_and_after_no_other() {
        let log = ProgressLog::new(5);
        let mut listener = log.listen();
        let mut ids = vec![listener.heard()];
        for n in 1..=12 {
            log.send(step(n));
            listener.try_next().unwrap().unwrap();
            ids.push(listener.heard());
        }
        for (after, id) in (0_u64..).zip(&ids) {
            assert_eq!(id.to_string().parse(), Ok(*id));
            match log.listen_after(*id) {
                Ok(mut resumed) => {
                    assert!(after >= 7, "{after}");
                    let expected: Vec<String> = (after + 1..=12).map(|n| n.to_string()).collect();
                    assert_eq!(all(&mut resumed), expected);
                }
                Err(mut from_now) => {
                    assert!(after < 7, "{after}");
                    assert!(all(&mut from_now).is_empty());
                }
            }
        }
        // It does not continue after a step that does not exist yet, or after a step of another run.
        let later = ProgressId { number: 13, ..ids[12] };
        let other = ProgressLog::new(5);
        (1..=12).for_each(|n| other.send(step(n)));
        assert!(log.listen_after(later).is_err() && other.listen_after(ids[12]).is_err());
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["", "-", "7", "0-1", "00000000000000a0-", "00000000000000a0-01", "00000000000000A0-1"] {
            assert_eq!(text.parse::<ProgressId>(), Err(NoProgressId), "{text}");
        }
        assert!("00000000000000a0-1".parse::<ProgressId>().is_ok());
        assert!("00000000000000a0-18446744073709551616".parse::<ProgressId>().is_err());
    }
}
