//! The reader's faults: damaged, lost or late messages, a reboot, a pulled cable, a flood, and the race of an ABORT
//! against the command that it should end. A script or a test orders them; otherwise there are none.

use std::collections::VecDeque;
use std::time::Duration;

use super::deck::Card;
use super::flood::Flood;

/// The result when an ABORT meets a running command (readers: 2.8).
#[derive(Clone, Copy, Debug, Default)]
pub enum AbortRace {
    /// The ABORT is answered first, then the command with 9F41.
    #[default]
    AbortWins,
    /// The command ends just before the ABORT is read: a waiting tap gets this card, a PIN is typed to its end. The
    /// command's answer goes out first, then that of the ABORT.
    CardWins(&'static Card),
}

/// An order of the device's script for the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cable {
    /// Pull it.
    Out,
    /// Put it back.
    In,
}

/// The ordered faults.
pub(super) struct Faults {
    pub(super) abort_race: AbortRace,
    /// One bit of the next message is wrong.
    pub(super) damages_next: bool,
    /// The next message is lost.
    pub(super) loses_next: bool,
    /// The time until which all messages are lost.
    pub(super) silent_until: Option<Duration>,
    /// The time until which messages are held back.
    pub(super) held_until: Option<Duration>,
    /// The time until which the device boots and reads nothing.
    pub(super) off_until: Option<Duration>,
    /// The orders for the cable that the port has not carried out yet.
    cable: VecDeque<Cable>,
    /// The flood that it sends.
    pub(super) flood: Option<Flood>,
    /// Bytes of floods so far.
    pub(super) flooded: u64,
}

impl Faults {
    pub(super) fn new(abort_race: AbortRace) -> Self {
        Self {
            abort_race,
            damages_next: false,
            loses_next: false,
            silent_until: None,
            held_until: None,
            off_until: None,
            cable: VecDeque::new(),
            flood: None,
            flooded: 0,
        }
    }

    /// Drops the fault for a next message that never came, so that no other message gets it.
    pub(super) fn forget_next_message(&mut self) {
        (self.damages_next, self.loses_next) = (false, false);
    }

    pub(super) fn is_off(&self) -> bool {
        self.off_until.is_some()
    }

    /// Returns whether a message that is sent at `now` is lost.
    pub(super) fn loses_message(&mut self, now: Duration) -> bool {
        let silent = self.silent_until.is_some_and(|until| now < until);
        silent || self.is_off() || std::mem::take(&mut self.loses_next)
    }

    /// Damages the packets of a message if that is ordered: the last byte is the LRC.
    pub(super) fn damage(&mut self, bytes: &mut [u8]) {
        if std::mem::take(&mut self.damages_next)
            && let Some(last) = bytes.last_mut()
        {
            *last ^= 0x04;
        }
    }

    /// Returns whether a message has to wait.
    pub(super) fn holds_back(&self, now: Duration) -> bool {
        self.held_until.is_some_and(|until| now < until)
    }

    pub(super) fn move_cable(&mut self, cable: Cable) {
        self.cable.push_back(cable);
    }

    /// Returns the next order for the cable, once.
    pub(super) fn take_cable(&mut self) -> Option<Cable> {
        self.cable.pop_front()
    }

    /// Returns whether the cable is to be pulled: a command that arrived with it is ignored.
    pub(super) fn pulls_cable(&self) -> bool {
        self.cable.contains(&Cable::Out)
    }
}
