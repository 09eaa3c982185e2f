//! What is wrong with the reader: messages that are damaged, lost or late, a reboot, a cable that is pulled, a flood,
//! and the race of an ABORT against what it is to end. A script or a test orders them; without one there are none.

use std::collections::VecDeque;
use std::time::Duration;

use super::deck::Card;
use super::flood::Flood;

/// What happens when an ABORT meets a running command (readers: 2.8).
#[derive(Clone, Copy, Debug, Default)]
pub enum AbortRace {
    /// The ABORT is answered first, then the command with 9F41.
    #[default]
    AbortWins,
    /// The command is over just before the ABORT is seen: a waiting tap gets this card, a PIN is typed to its end. Its
    /// answer goes out first, then that of the ABORT.
    CardWins(&'static Card),
}

/// What the device's script does with the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cable {
    /// Pulls it.
    Out,
    /// Puts it back.
    In,
}

/// The faults that are ordered.
pub(super) struct Faults {
    pub(super) abort_race: AbortRace,
    /// One bit of the next message is wrong.
    pub(super) damages_next: bool,
    /// The next message is lost.
    pub(super) loses_next: bool,
    /// All messages up to this time are lost.
    pub(super) silent_until: Option<Duration>,
    /// What is said goes out at this time.
    pub(super) held_until: Option<Duration>,
    /// It boots until then, and hears nothing.
    pub(super) off_until: Option<Duration>,
    /// What the port has not done with the cable yet.
    cable: VecDeque<Cable>,
    /// What it says without end.
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

    /// What was ordered for a message that never came is done to no other.
    pub(super) fn forget_next_message(&mut self) {
        (self.damages_next, self.loses_next) = (false, false);
    }

    pub(super) fn is_off(&self) -> bool {
        self.off_until.is_some()
    }

    /// Whether a message that is said now is lost on its way.
    pub(super) fn loses_message(&mut self, now: Duration) -> bool {
        let silent = self.silent_until.is_some_and(|until| now < until);
        silent || self.is_off() || std::mem::take(&mut self.loses_next)
    }

    /// Damages the packets of a message when that is ordered: the last byte is the LRC.
    pub(super) fn damage(&mut self, bytes: &mut [u8]) {
        if std::mem::take(&mut self.damages_next)
            && let Some(last) = bytes.last_mut()
        {
            *last ^= 0x04;
        }
    }

    /// Whether what is said has to wait.
    pub(super) fn holds_back(&self, now: Duration) -> bool {
        self.held_until.is_some_and(|until| now < until)
    }

    pub(super) fn move_cable(&mut self, cable: Cable) {
        self.cable.push_back(cable);
    }

    /// What is to be done with the cable, said once.
    pub(super) fn take_cable(&mut self) -> Option<Cable> {
        self.cable.pop_front()
    }

    /// The cable is to be pulled: a command that came with it is not heard any more.
    pub(super) fn pulls_cable(&self) -> bool {
        self.cable.contains(&Cable::Out)
    }
}
