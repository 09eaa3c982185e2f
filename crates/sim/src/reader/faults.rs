//! The reader's faults: damaged, lost or late messages, a reboot, a pulled cable, a flood, and the race between an
//! ABORT and the command to end. They happen only if a script or a test requests them.

use std::collections::VecDeque;
use std::time::Duration;

use super::deck::Card;
use super::flood::Flood;

/// The result of an ABORT during a running command (readers: 2.8).
#[derive(Clone, Copy, Debug, Default)]
pub enum AbortRace {
    /// The ABORT is answered first, and then the command is answered with 9F41.
    #[default]
    AbortWins,
    /// The command ends just before the ABORT is read. A waiting tap gets this card, or a PIN entry is completed. The
    /// command's answer is sent before the ABORT's answer.
    CardWins(&'static Card),
}

/// A script's order for the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cable {
    /// Pull it.
    Out,
    /// Put it back.
    In,
}

/// What the current script has done so far, for a test that waits until its fault has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptEffects {
    /// The number of rules and moments whose actions were carried out.
    pub acts: usize,
    /// The number of messages that were lost in a silence.
    pub lost: usize,
    /// The number of damaged messages.
    pub damaged: usize,
    /// The number of reboots.
    pub reboots: usize,
}

/// The requested faults.
pub(super) struct Faults {
    pub(super) abort_race: AbortRace,
    /// True if the next message will have one wrong bit.
    pub(super) damages_next: bool,
    /// True if the next message will be lost.
    pub(super) loses_next: bool,
    /// The time until which all messages are lost.
    pub(super) silent_until: Option<Duration>,
    /// The time until which messages are held back.
    pub(super) held_until: Option<Duration>,
    /// The time until which the device boots and reads no data.
    pub(super) off_until: Option<Duration>,
    /// The cable orders that the port has not yet carried out.
    cable: VecDeque<Cable>,
    /// The flood that the reader sends.
    pub(super) flood: Option<Flood>,
    /// The number of flood bytes so far.
    pub(super) flooded: u64,
    pub(super) effects: ScriptEffects,
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
            effects: ScriptEffects::default(),
        }
    }

    /// Prepares for a new script. Cancels the fault for the next message if that message was never sent, so that no
    /// other message gets it.
    pub(super) fn begin_script(&mut self) {
        (self.damages_next, self.loses_next) = (false, false);
        self.effects = ScriptEffects::default();
    }

    pub(super) fn is_off(&self) -> bool {
        self.off_until.is_some()
    }

    /// Returns whether a message sent at `now` is lost.
    pub(super) fn loses_message(&mut self, now: Duration) -> bool {
        if self.is_off() {
            return true;
        }
        let silent = self.silent_until.is_some_and(|until| now < until);
        let is_lost = silent || std::mem::take(&mut self.loses_next);
        self.effects.lost += usize::from(is_lost);
        is_lost
    }

    /// Damages the packets of a message if requested. The last byte is the LRC.
    pub(super) fn damage(&mut self, bytes: &mut [u8]) {
        if std::mem::take(&mut self.damages_next)
            && let Some(last) = bytes.last_mut()
        {
            *last ^= 0x04;
            self.effects.damaged += 1;
        }
    }

    /// Returns whether a message must wait.
    pub(super) fn holds_back(&self, now: Duration) -> bool {
        self.held_until.is_some_and(|until| now < until)
    }

    pub(super) fn move_cable(&mut self, cable: Cable) {
        self.cable.push_back(cable);
    }

    /// Returns the next cable order, each one once.
    pub(super) fn take_cable(&mut self) -> Option<Cable> {
        self.cable.pop_front()
    }

    /// Returns whether the cable will be pulled. A command that arrived at the same time is ignored.
    pub(super) fn pulls_cable(&self) -> bool {
        self.cable.contains(&Cable::Out)
    }
}
