//! Finds out which family of readers answers at a port, and at which line speed. A reader is asked only for its
//! identity and its keys. Nothing of it is set, and no card is read.
//!
//! The families are asked one after another, and each at its usual speeds. A device that is no reader gets their first
//! questions, which a receipt printer prints, so the caller asks only where a reader may be.

use std::time::Duration;

use tokio::time::timeout;

use crate::config::ReaderProtocol;
use crate::driver::ReaderFamily;
use crate::{ReaderEvent, ReaderIdentity, ReaderSettings, Unready, spawn};

/// The longest time for one family at one speed. Its questions have deadlines of their own, which are shorter.
const LONGEST: Duration = Duration::from_secs(15);

/// A reader that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundReader {
    /// Its protocol.
    pub protocol: ReaderProtocol,
    /// The line speed at which it answered, in baud.
    pub baud: u32,
    /// Its identity.
    pub identity: ReaderIdentity,
    /// `true` if it holds a key for card data.
    pub card_key: bool,
}

/// The reason why no reader was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoReaderFound {
    /// The port cannot be opened.
    #[error("{cause}; check the reader's power and cable, or give a different port")]
    Absent {
        /// The system's error text.
        cause: String,
    },
    /// No reader of a known family answers.
    #[error(
        "no reader of a known family answers at this port; check for a different device, or for a reader that is off or \
         in a different mode"
    )]
    Silent,
}

/// One attempt: a protocol and a line speed.
pub type Attempt = (ReaderProtocol, u32);

/// Returns the attempts for a port, in order. Families that the program was built without are left out. Line speeds
/// have a meaning only at a tty. `first` is the speed that the board or the caller names for a reader.
#[must_use]
pub fn attempts(port: &str, first: Option<u32>) -> Vec<Attempt> {
    let is_tty = !port.contains("://");
    let mut attempts: Vec<Attempt> = Vec::new();
    for (protocol, _) in ReaderProtocol::ALL.into_iter().filter(|(protocol, _)| protocol.is_included()) {
        let speeds = protocol.speeds().iter().copied();
        for speed in first.into_iter().chain(speeds).take(if is_tty { usize::MAX } else { 1 }) {
            if !attempts.contains(&(protocol, speed)) {
                attempts.push((protocol, speed));
            }
        }
    }
    attempts
}

/// Asks the families at a port, up to the first that answers. `told` hears each attempt before it begins.
///
/// # Errors
/// Fails if the port cannot be opened, or if no family answers.
pub async fn identify(
    port: &str,
    first: Option<u32>,
    mut told: impl FnMut(Attempt),
) -> Result<FoundReader, NoReaderFound> {
    for (protocol, baud) in attempts(port, first) {
        told((protocol, baud));
        if let Some(found) = ask(port, protocol, baud).await? {
            return Ok(found);
        }
    }
    Err(NoReaderFound::Silent)
}

/// Asks one family at one speed. Returns `None` if no such reader answers.
async fn ask(port: &str, protocol: ReaderProtocol, baud: u32) -> Result<Option<FoundReader>, NoReaderFound> {
    let Some(family) = ReaderFamily::plain(protocol) else { return Ok(None) };
    let settings = ReaderSettings { baud, identity_only: true, ..ReaderSettings::new(port) };
    let (handle, mut events) = spawn(settings, family);
    let found = |identity, card_key| Some(FoundReader { protocol, baud, identity, card_key });
    let answer = async {
        while let Some(event) = events.recv().await {
            match event {
                ReaderEvent::Ready(identity) => return Ok(found(identity, true)),
                ReaderEvent::Unready(Unready::NoCardKey { serial }) => {
                    return Ok(found(ReaderIdentity { serial, ..ReaderIdentity::default() }, false));
                }
                ReaderEvent::Unready(Unready::Absent { cause, .. }) => return Err(NoReaderFound::Absent { cause }),
                // The reader is restarting, which the deadline limits.
                ReaderEvent::Unready(Unready::Restarting { .. }) => {}
                ReaderEvent::Unready(_) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    };
    let answer = timeout(LONGEST, answer).await.unwrap_or(Ok(None));
    // The port is free once the reader's task has ended, which the end of its events shows.
    drop(handle);
    while events.recv().await.is_some() {}
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_is_asked_at_its_speeds() {
        let tty = attempts("/dev/ttyUSB0", None);
        assert_eq!(tty[0], (ReaderProtocol::MiuraMpi, 115_200));
        assert!(
            tty.contains(&(ReaderProtocol::VerifoneVipa, 57_600)) && tty.contains(&(ReaderProtocol::IdtechNeo2, 9_600))
        );
        // The board's own speed is the first for each family, and no attempt is made twice.
        let named = attempts("/dev/ttyUSB0", Some(57_600));
        assert_eq!(named[0], (ReaderProtocol::MiuraMpi, 57_600));
        for (n, attempt) in named.iter().enumerate() {
            assert!(!named[..n].contains(attempt), "{attempt:?}");
        }
        assert_eq!(attempts("tcp://192.0.2.7:6543", None).len(), ReaderProtocol::ALL.len());
    }
}
