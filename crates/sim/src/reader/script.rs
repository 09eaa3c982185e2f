//! Scripts: a script is a text file that defines the simulated reader's actions at its events. With a script, a
//! scenario runs without a person and always in the same way. This file defines the parts of a script. `parse` reads
//! the text, and `run` carries out the script.
//!
//! ```text
//! # a line is a rule, or a comment
//! on waiting: tap tap-pin              # whenever the reader is waiting for a card
//! on pin 2: type 9999, wait 1s, remove # the second PIN prompt of all
//! on asked: unplug 2s
//! after 300ms: key cancel              # once, counted from the script's beginning
//! ```
//!
//! ```text
//! script = { [ rule ] [ "#" comment ] end-of-line }
//! rule   = ( "on" EVENT [ NUMBER ] | "after" TIME ) ":" ACTION { "," ACTION }
//! TIME   = a whole number and "ms" or "s", at most an hour
//! ```
//!
//! With a NUMBER, the rule applies only to the nth occurrence of the event; without one, it applies to every
//! occurrence. Events come from the device and depend on no clock, so the same script and the same received bytes
//! produce the same answers. At an event, the actions are carried out in their order, before the device continues.
//!
//! [`EVENTS`] and [`ACTIONS`] list the events and actions. `pos-sim reader --help` also prints them.

use std::fmt::Write as _;
use std::time::Duration;

pub use self::parse::{ScriptError, ScriptFault};
use super::cardholder::{Key, PinPlan};
use super::deck::{Card, CardEntry};
use super::flood::Flood;

pub(super) mod parse;
pub(super) mod run;

/// The maximum length of a script, far longer than a person writes.
pub const MAX_TEXT: usize = 64 * 1024;
/// The maximum number of rules in a script.
pub const MAX_RULES: usize = 500;
/// The maximum number of actions in a rule.
pub const MAX_ACTIONS: usize = 20;
/// The longest time; no test and no person waits longer.
pub const MAX_TIME: Duration = Duration::from_secs(3600);
/// The maximum number of garbage bytes in one action, the same as in a message.
pub const MAX_GARBAGE: usize = pos_reader_link::apdu_link::MAX_MESSAGE;

/// An event of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScriptEvent {
    /// A host has opened the connection.
    Connected,
    /// The reader is on again after a reboot.
    PoweredOn,
    /// A command has arrived and is not processed yet.
    Frame,
    /// ABORT has arrived and is not processed yet.
    Abort,
    /// A transaction begins, by START or START CONTACTLESS while no transaction is open.
    Sale,
    /// START CONTACTLESS waits for a card.
    Waiting,
    /// A card is in the slot.
    Inserted,
    /// The chip will be read next, for START.
    Start,
    /// The cardholder is asked to choose an application.
    Choice,
    /// The cardholder is asked for a PIN.
    Pin,
    /// The reader asks for a number.
    Number,
    /// The card has been read; E3, E4 or E5 is not sent yet.
    Answer,
    /// E4 was sent, so the agent asks the issuer.
    Asked,
    /// CONTINUE has arrived, and the card has not received it yet.
    Continue,
    /// The card has made its final decision (E3 or E5).
    Ended,
    /// The card is out of the slot.
    Removed,
}

/// All events: name, value, and description for people.
pub const EVENTS: &[(&str, ScriptEvent, &str)] = &[
    ("connected", ScriptEvent::Connected, "a host has connected"),
    ("powered-on", ScriptEvent::PoweredOn, "the reader is on again after a reboot"),
    ("frame", ScriptEvent::Frame, "a command has arrived and is not processed yet"),
    ("abort", ScriptEvent::Abort, "ABORT has arrived and is not processed yet"),
    ("sale", ScriptEvent::Sale, "a sale begins"),
    ("waiting", ScriptEvent::Waiting, "the reader is waiting for a card"),
    ("inserted", ScriptEvent::Inserted, "a card is in the slot"),
    ("start", ScriptEvent::Start, "the reader begins to read the chip"),
    ("choice", ScriptEvent::Choice, "the cardholder must choose an application"),
    ("pin", ScriptEvent::Pin, "the cardholder must enter a PIN"),
    ("number", ScriptEvent::Number, "the cardholder must enter a number"),
    ("answer", ScriptEvent::Answer, "the card is read; its answer (E3, E4 or E5) is not sent yet"),
    ("asked", ScriptEvent::Asked, "the card asks for the issuer (E4 is sent); the host must answer"),
    ("continue", ScriptEvent::Continue, "CONTINUE has arrived; the card has not received it yet"),
    ("ended", ScriptEvent::Ended, "the card has given its last answer"),
    ("removed", ScriptEvent::Removed, "the card is out of the slot"),
];

/// All actions: written form, and description for people.
pub const ACTIONS: &[(&str, &str)] = &[
    ("insert CARD", "puts a card into the slot"),
    ("tap CARD", "holds a card to the antenna"),
    ("swipe CARD", "swipes a card through the stripe reader"),
    ("remove", "takes the card out of the slot"),
    ("type DIGITS", "types at this or the next PIN or number prompt; also right, wrong, cancel, bypass, nothing"),
    ("choose NUMBER", "chooses the application, counted from 1, now or at the next choice; or nothing"),
    ("key KEY", "presses cancel, enter, clear or a digit"),
    ("too-long", "lets the current prompt time out"),
    ("unplug [TIME]", "removes the cable, and restores it after the time"),
    ("plug", "restores the cable"),
    ("reboot [TIME]", "reports power-off, loses the current work, and reports power-on after the time"),
    ("garbage NUMBER", "sends this number of meaningless bytes"),
    ("spoil", "damages the LRC of the next message"),
    ("silent [TIME]", "loses the next message, or each message of this time"),
    ("delay TIME", "delays each later message by this time"),
    ("clear", "stops encrypting card data"),
    ("amount MINOR", "makes the card sign a different amount; right: the requested amount"),
    ("wait TIME", "delays the actions that follow"),
    (
        "flood KIND",
        "sends without end, as fast as the line allows: status, cards, keys, answers, garbage, partial or huge; nothing: ends it",
    ),
    ("serial DIGITS", "acts as a different reader, which the next identity request shows"),
    ("version FILE TEXT", "changes the version of a configuration file, or adds a file"),
];

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptAction {
    /// Presents a card.
    Present(CardEntry, &'static Card),
    /// Takes the card out.
    Remove,
    /// Types at the current prompt or, without one, at the next prompt.
    Type(PinPlan),
    /// Chooses the application with this number, counted from 1; `None` makes no choice.
    Choose(Option<usize>),
    /// Presses a key.
    Key(Key),
    /// Lets the time-out of the current wait expire.
    TooLong,
    /// Pulls the cable for this time, or until [`Self::Plug`].
    Unplug(Option<Duration>),
    /// Puts the cable back.
    Plug,
    /// Reboots in this time, or in the device's usual time.
    Reboot(Option<Duration>),
    /// Sends meaningless bytes.
    Garbage(usize),
    /// Damages the next message.
    Spoil,
    /// Loses the next message, or all messages for this time.
    Silent(Option<Duration>),
    /// Holds back all messages for this time.
    Delay(Duration),
    /// Stops encrypting.
    Clear,
    /// Signs this amount; `None` restores the requested amount.
    Amount(Option<u64>),
    /// Delays the remaining actions.
    Wait(Duration),
    /// Starts this flood; `None` ends the flood.
    Flood(Option<Flood>),
    /// Sets another serial number of the reader.
    Serial(String),
    /// Sets another version of a configuration file: file name, version.
    Version(String, String),
}

/// The rules of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    rules: Vec<ScriptRule>,
    /// Actions that are carried out once, each at its time after the script's beginning.
    moments: Vec<(Duration, Vec<ScriptAction>)>,
}

/// The actions for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ScriptRule {
    when: ScriptEvent,
    /// The occurrence of the event to which the rule applies, counted from 1; `None` for all.
    nth: Option<u32>,
    actions: Vec<ScriptAction>,
}

impl Script {
    /// Adds a rule for every occurrence of `when`, or only for the `nth` (counted from 1).
    #[must_use]
    pub fn on(mut self, when: ScriptEvent, nth: Option<u32>, actions: &[ScriptAction]) -> Self {
        self.rules.push(ScriptRule { when, nth, actions: actions.to_vec() });
        self
    }
}

/// Returns a description of the format, for `--help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "A script (--script FILE) is a text of rules, one per line; # begins a comment:\n\n  \
         on EVENT [N]: ACTION, ACTION     at the event, each time or only the Nth time\n  \
         after TIME: ACTION, ACTION       once; TIME as 300ms or 2s\n\nEvents:\n",
    );
    for (name, _, about) in EVENTS {
        let _ = writeln!(text, "  {name:15} {about}");
    }
    text.push_str("\nActions:\n");
    for (form, about) in ACTIONS {
        let _ = writeln!(text, "  {form:15} {about}");
    }
    text.push_str(
        "\nEvents have one name for every family. In the commands of each family, waiting is DEC1, C0A0 or 02-40, abort is\n\
         D0FF, C0C0 or 05-01, and continue is DED2, C0A1 or 60-12.\n",
    );
    text.push_str("\nFor example: \"on waiting: insert chip-pin\", \"on pin: type 9999\", \"on asked: unplug 2s\".\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_event_and_action() {
        let help = help();
        assert!(EVENTS.iter().all(|(name, ..)| help.contains(name)));
        assert!(ACTIONS.iter().all(|(form, _)| help.contains(form)));
    }
}
