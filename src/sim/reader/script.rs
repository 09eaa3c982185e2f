//! Scripts: what happens to the simulated reader when, told in a text file, so that a scenario runs without a person
//! and always alike. Here is the text and its reading; what the device does with it is in `follow`.
//!
//! ```text
//! # a line is a rule, or a comment
//! on waiting: tap tap-pin              # whenever the reader waits for a card
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
//! With a NUMBER the rule is for the so-manieth time that the event happens, without one for every time. Events are the
//! device's own, no clock is asked: the same script and the same bytes on the line give the same answers. Actions are
//! done in their order at the event, before anything that the device does next by itself.
//!
//! Events and actions are listed in [`EVENTS`] and [`ACTIONS`], which `pos-sim reader --help` prints too.

use std::fmt::Write as _;
use std::str::FromStr;
use std::time::Duration;

use super::deck::{self, Card, DECK, Entry};
use super::device::{Key, PinPlan};
use super::flood::{FLOODS, Flood};

/// Longest text of a script: far more than a person writes.
pub const MAX_TEXT: usize = 64 * 1024;
/// Most rules of a script.
pub const MAX_RULES: usize = 500;
/// Most actions of a rule.
pub const MAX_ACTIONS: usize = 20;
/// Longest time: no test and no person waits longer.
pub const MAX_TIME: Duration = Duration::from_secs(3600);
/// Most bytes of garbage at once: as many as a message may have.
pub const MAX_GARBAGE: usize = crate::reader::apdu_link::MAX_MESSAGE;

/// A thing that happens to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// A host has opened the line.
    Connected,
    /// It is on again after a reboot.
    PoweredOn,
    /// A command has come, and nothing is done with it yet.
    Frame,
    /// ABORT has come, and nothing is done with it yet.
    Abort,
    /// A sale begins: START or START CONTACTLESS, when no sale is open.
    Sale,
    /// START CONTACTLESS waits for a card.
    Waiting,
    /// A card is in the slot.
    Inserted,
    /// START: the chip is going to be read.
    Start,
    /// The cardholder is asked to choose an application.
    Choice,
    /// The cardholder is asked for a PIN.
    Pin,
    /// A number is asked for.
    Number,
    /// The card has been read, E3, E4 or E5 is not said yet.
    Answer,
    /// E4 is said: the host is being asked.
    Asked,
    /// CONTINUE has come, the card has not heard of it yet.
    Continue,
    /// The card has said its last word (E3 or E5).
    Ended,
    /// The card is out of the slot.
    Removed,
}

/// Every event: name, which, and what a person reads about it.
pub const EVENTS: &[(&str, When, &str)] = &[
    ("connected", When::Connected, "a host has opened the line"),
    ("powered-on", When::PoweredOn, "on again after a reboot"),
    ("frame", When::Frame, "a command has come, nothing is done with it yet"),
    ("abort", When::Abort, "ABORT has come, nothing is done with it yet"),
    ("sale", When::Sale, "a sale begins"),
    ("waiting", When::Waiting, "waits for a card"),
    ("inserted", When::Inserted, "a card is in the slot"),
    ("start", When::Start, "the chip is going to be read"),
    ("choice", When::Choice, "an application is to be chosen"),
    ("pin", When::Pin, "a PIN is asked for"),
    ("number", When::Number, "a number is asked for"),
    ("answer", When::Answer, "the card is read, E3, E4 or E5 is not said yet"),
    ("asked", When::Asked, "E4 is said, the host is being asked"),
    ("continue", When::Continue, "CONTINUE has come, the card has not heard of it yet"),
    ("ended", When::Ended, "the card has said its last word"),
    ("removed", When::Removed, "the card is out of the slot"),
];

/// Every action as it is written, and what a person reads about it.
pub const ACTIONS: &[(&str, &str)] = &[
    ("insert CARD", "puts a card into the slot"),
    ("tap CARD", "holds a card to the antenna"),
    ("swipe CARD", "draws a card through the stripe reader"),
    ("remove", "takes the card out of the slot"),
    ("type DIGITS", "at the PIN or number prompt, or the next one; also right, wrong, cancel, bypass, nothing"),
    ("choose NUMBER", "the application, counted from 1, now or at the next choice; or nothing"),
    ("key KEY", "presses cancel, enter, clear or a digit"),
    ("too-long", "lets the time run out for what is waited for"),
    ("unplug [TIME]", "pulls the cable, and puts it back after the time"),
    ("plug", "puts the cable back"),
    ("reboot [TIME]", "says it is powering off, loses what was under way, says after the time that it is on"),
    ("garbage NUMBER", "says so many bytes without meaning"),
    ("spoil", "damages the LRC of the next message"),
    ("silent [TIME]", "loses the next message, or all that is said in this time"),
    ("delay TIME", "holds back for this time what is said from now on"),
    ("clear", "stops encrypting card data"),
    ("amount MINOR", "has the card sign another amount; right for the one asked for"),
    ("wait TIME", "does the actions that follow later"),
    (
        "flood KIND",
        "says without end, as fast as the line takes it: status, cards, keys, answers, garbage, partial or huge; or ends it: nothing",
    ),
    ("serial DIGITS", "is another reader from now on, as it says when it is asked"),
    ("version FILE TEXT", "has another version of a configuration file, or one more"),
];

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Presents a card.
    Present(Entry, &'static Card),
    /// Takes the card out.
    Remove,
    /// Types at the prompt, or at the next one.
    Type(PinPlan),
    /// Chooses the application with this number, from 1; `None` leaves the list alone.
    Choose(Option<usize>),
    /// Presses a key.
    Key(Key),
    /// Lets the time run out.
    TooLong,
    /// Pulls the cable, for a time or until [`Self::Plug`].
    Unplug(Option<Duration>),
    /// Puts the cable back.
    Plug,
    /// Reboots, in this time or the device's own.
    Reboot(Option<Duration>),
    /// Says bytes without meaning.
    Garbage(usize),
    /// Damages the next message.
    Spoil,
    /// Loses the next message, or all for a time.
    Silent(Option<Duration>),
    /// Holds back what is said.
    Delay(Duration),
    /// Stops encrypting.
    Clear,
    /// Has another amount signed; `None` for the one asked for.
    Amount(Option<u64>),
    /// Does the rest later.
    Wait(Duration),
    /// Says this without end, or ends it.
    Flood(Option<Flood>),
    /// Is another reader.
    Serial(String),
    /// Has another version of a configuration file: its name, its version.
    Version(String, String),
}

/// What happens when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    pub(super) rules: Vec<Rule>,
    /// Once, so long after the beginning.
    pub(super) moments: Vec<(Duration, Vec<Action>)>,
}

/// Actions for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) when: When,
    /// For the so-manieth time only, from 1.
    pub(super) nth: Option<u32>,
    pub(super) actions: Vec<Action>,
}

impl Script {
    /// Adds a rule: at every `when`, or at the `nth` only (from 1).
    #[must_use]
    pub fn on(mut self, when: When, nth: Option<u32>, actions: &[Action]) -> Self {
        self.rules.push(Rule { when, nth, actions: actions.to_vec() });
        self
    }
}

/// Why a text is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {wrong}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// It begins with neither `on` nor `after`.
    #[error("\"{word}\" begins no rule; write on EVENT: ACTION, or after TIME: ACTION")]
    NoRule {
        /// The first word.
        word: String,
    },
    /// No colon, or nothing behind it or between commas.
    #[error("an action is missing; write on EVENT: ACTION, ACTION")]
    NoAction,
    /// A word that is not in the list where it stands.
    #[error("\"{word}\" is no {kind}; {}", instead(*.meant, .known))]
    Unknown {
        /// The word.
        word: String,
        /// What it should be: event, action, card, key.
        kind: &'static str,
        /// The word that was probably meant.
        meant: Option<&'static str>,
        /// All words that can stand there.
        known: Vec<&'static str>,
    },
    /// A number, time or PIN is wanted.
    #[error("\"{word}\" is no {wanted}")]
    NotA {
        /// The word.
        word: String,
        /// What is wanted, and its bounds.
        wanted: &'static str,
    },
    /// A word that an event or action needs is not there.
    #[error("\"{after}\" needs {wanted} behind it")]
    Missing {
        /// The last word that is there.
        after: String,
        /// What is wanted.
        wanted: &'static str,
    },
    /// A word too many.
    #[error("\"{word}\" is too much here; actions are parted by commas")]
    TooMuch {
        /// The word.
        word: String,
    },
    /// More than a script may hold.
    #[error("more than {0}; a script may not be larger")]
    TooLarge(&'static str),
}

fn instead(meant: Option<&str>, known: &[&str]) -> String {
    match meant {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("there are {}", known.join(", ")),
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        if text.len() > MAX_TEXT {
            return Err(ScriptError { line: 1, wrong: Wrong::TooLarge("64 KiB of text") });
        }
        let mut script = Self::default();
        for (text, line) in text.lines().zip(1..) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if !text.is_empty() {
                script.read(text).map_err(|wrong| ScriptError { line, wrong })?;
            }
        }
        Ok(script)
    }
}

impl Script {
    fn read(&mut self, line: &str) -> Result<(), Wrong> {
        if self.rules.len() + self.moments.len() >= MAX_RULES {
            return Err(Wrong::TooLarge("500 rules"));
        }
        let (head, actions) = line.split_once(':').unwrap_or((line, ""));
        let mut words = Words { words: head.split_whitespace(), last: "" };
        match words.next() {
            Some("on") => {
                let name = words.need("an event")?;
                let when = EVENTS.iter().find(|event| event.0 == name).map(|event| event.1);
                let when = when.ok_or_else(|| unknown(name, "event", EVENTS.iter().map(|event| event.0)))?;
                let nth = words.next().map(|word| number(word, "number from 1 on", 1..=u32::MAX)).transpose()?;
                words.end()?;
                self.rules.push(Rule { when, nth, actions: read_actions(actions)? });
            }
            Some("after") => {
                let time = time(words.need("a time")?)?;
                words.end()?;
                self.moments.push((time, read_actions(actions)?));
            }
            word => return Err(Wrong::NoRule { word: word.unwrap_or_default().to_owned() }),
        }
        Ok(())
    }
}

fn read_actions(text: &str) -> Result<Vec<Action>, Wrong> {
    let actions = text.split(',').map(read_action).collect::<Result<Vec<_>, _>>()?;
    if actions.len() > MAX_ACTIONS { Err(Wrong::TooLarge("20 actions in a rule")) } else { Ok(actions) }
}

fn read_action(text: &str) -> Result<Action, Wrong> {
    let mut words = Words { words: text.split_whitespace(), last: "" };
    let name = words.next().ok_or(Wrong::NoAction)?;
    let action = match name {
        "insert" => Action::Present(Entry::Insert, card(words.need("a card")?)?),
        "tap" => Action::Present(Entry::Tap, card(words.need("a card")?)?),
        "swipe" => Action::Present(Entry::Swipe, card(words.need("a card")?)?),
        "remove" => Action::Remove,
        "type" => Action::Type(typed(words.need("digits, right, wrong, cancel, bypass or nothing")?)?),
        "choose" => match words.need("a number or nothing")? {
            "nothing" => Action::Choose(None),
            word => Action::Choose(Some(number(word, "number from 1 to 9, or nothing", 1..=9)?)),
        },
        "key" => Action::Key(key(words.need("a key")?)?),
        "too-long" => Action::TooLong,
        "unplug" => Action::Unplug(words.next().map(time).transpose()?),
        "plug" => Action::Plug,
        "reboot" => Action::Reboot(words.next().map(time).transpose()?),
        "garbage" => Action::Garbage(number(words.need("a number")?, "number from 1 to 4096", 1..=MAX_GARBAGE)?),
        "spoil" => Action::Spoil,
        "silent" => Action::Silent(words.next().map(time).transpose()?),
        "delay" => Action::Delay(time(words.need("a time")?)?),
        "clear" => Action::Clear,
        "amount" => match words.need("an amount in minor units, or right")? {
            "right" => Action::Amount(None),
            word => Action::Amount(Some(number(word, "amount of at most twelve digits", 0..=999_999_999_999)?)),
        },
        "wait" => Action::Wait(time(words.need("a time")?)?),
        "flood" => match words.need("what to say, or nothing")? {
            "nothing" => Action::Flood(None),
            word => {
                let found = FLOODS.iter().find(|(name, _)| *name == word);
                let names = FLOODS.iter().map(|(name, _)| *name).chain(["nothing"]);
                Action::Flood(Some(found.ok_or_else(|| unknown(word, "flood", names))?.1))
            }
        },
        "serial" => Action::Serial(label(words.need("a serial number")?)?),
        "version" => Action::Version(label(words.need("a file")?)?, label(words.need("a version")?)?),
        other => return Err(unknown(other, "action", action_names())),
    };
    words.end()?;
    Ok(action)
}

/// Words of a line, and the last one that was taken.
struct Words<'a> {
    words: std::str::SplitWhitespace<'a>,
    last: &'a str,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.next()?;
        self.last = word;
        Some(word)
    }

    fn need(&mut self, wanted: &'static str) -> Result<&'a str, Wrong> {
        let after = self.last;
        self.next().ok_or_else(|| Wrong::Missing { after: after.to_owned(), wanted })
    }

    fn end(&mut self) -> Result<(), Wrong> {
        self.next().map_or(Ok(()), |word| Err(Wrong::TooMuch { word: word.to_owned() }))
    }
}

/// A short word as devices name themselves and their files.
fn label(word: &str) -> Result<String, Wrong> {
    let fits = word.len() <= 32 && word.bytes().all(|c| c.is_ascii_graphic());
    if fits {
        Ok(word.to_owned())
    } else {
        Err(Wrong::NotA { word: word.to_owned(), wanted: "name of at most 32 letters" })
    }
}

fn card(name: &str) -> Result<&'static Card, Wrong> {
    deck::card(name).ok_or_else(|| unknown(name, "card", DECK.iter().map(|card| card.name)))
}

/// What the cardholder types, as a script and the keyboard say it.
pub(super) fn typed(word: &str) -> Result<PinPlan, Wrong> {
    match word {
        "right" => Ok(PinPlan::Right),
        "wrong" => Ok(PinPlan::Wrong),
        "cancel" => Ok(PinPlan::Cancel),
        "bypass" => Ok(PinPlan::Bypass),
        "nothing" => Ok(PinPlan::Hesitate),
        digits if digits.len() <= 12 && digits.bytes().all(|c| c.is_ascii_digit()) => {
            Ok(PinPlan::Digits(digits.to_owned()))
        }
        other if other.bytes().any(|c| c.is_ascii_digit()) => {
            Err(Wrong::NotA { word: other.to_owned(), wanted: "number of at most twelve digits" })
        }
        other => Err(unknown(other, "typing", ["right", "wrong", "cancel", "bypass", "nothing"].into_iter())),
    }
}

/// A key by its name.
pub(super) fn key(word: &str) -> Result<Key, Wrong> {
    match (word, word.as_bytes()) {
        ("cancel", _) => Ok(Key::Cancel),
        ("enter", _) => Ok(Key::Enter),
        ("clear", _) => Ok(Key::Clear),
        (_, [digit @ b'0'..=b'9']) => Ok(Key::Digit(digit - b'0')),
        _ => Err(unknown(word, "key", ["cancel", "enter", "clear", "0", "9"].into_iter())),
    }
}

fn number<N: FromStr + PartialOrd>(
    word: &str,
    wanted: &'static str,
    bounds: std::ops::RangeInclusive<N>,
) -> Result<N, Wrong> {
    let number = word.parse().ok().filter(|number| bounds.contains(number) && !word.starts_with('+'));
    number.ok_or_else(|| Wrong::NotA { word: word.to_owned(), wanted })
}

fn time(word: &str) -> Result<Duration, Wrong> {
    let (digits, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    let time = match (digits.parse(), unit) {
        (Ok(count), "ms") => Some(Duration::from_millis(count)),
        (Ok(count), "s") => Some(Duration::from_secs(count)),
        _ => None,
    };
    let wanted = "time such as 300ms or 2s, of at most an hour";
    time.filter(|time| *time <= MAX_TIME).ok_or_else(|| Wrong::NotA { word: word.to_owned(), wanted })
}

fn action_names() -> impl Iterator<Item = &'static str> {
    ACTIONS.iter().filter_map(|(form, _)| form.split(' ').next())
}

fn unknown(word: &str, kind: &'static str, known: impl Iterator<Item = &'static str>) -> Wrong {
    let known: Vec<_> = known.collect();
    // A name is short; one much longer than any is not compared.
    let near = known.iter().filter(|_| word.len() <= 40).map(|name| (distance(word, name), *name));
    let meant = near.min().filter(|(distance, name)| *distance <= 2 && *distance < name.len()).map(|(_, name)| name);
    Wrong::Unknown { word: word.chars().take(40).collect(), kind, meant, known }
}

/// How many letters must be changed, put in or left out (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (n, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], n + 1);
        for (m, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[m + 1];
            row[m + 1] = changed.min(diagonal + 1).min(row[m] + 1);
        }
    }
    row[b.len()]
}

/// The format for a person, for `--help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "A script (--script FILE) is a text of rules, one a line, # before a comment:\n\n  \
         on EVENT [N]: ACTION, ACTION     at the event, every time or the Nth time only\n  \
         after TIME: ACTION, ACTION       once; TIME as 300ms or 2s\n\nEvents:\n",
    );
    for (name, _, about) in EVENTS {
        let _ = writeln!(text, "  {name:15} {about}");
    }
    text.push_str("\nActions:\n");
    for (form, about) in ACTIONS {
        let _ = writeln!(text, "  {form:15} {about}");
    }
    text.push_str("\nFor example: \"on waiting: insert chip-pin\", \"on pin: type 9999\", \"on asked: unplug 2s\".\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> Script {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn says(text: &str) -> String {
        text.parse::<Script>().unwrap_err().to_string()
    }

    #[test]
    fn every_event_and_every_action_is_read() {
        let all = "insert chip-pin, tap tap, swipe swipe, remove, type 9999, choose 2, key cancel, too-long, unplug 2s, \
                   plug, reboot 1s, garbage 40, spoil, silent 5s, delay 300ms, clear, amount 1, wait 0ms, flood status, serial 30003639, version A 2";
        let expected = vec![
            Action::Present(Entry::Insert, deck::card("chip-pin").unwrap()),
            Action::Present(Entry::Tap, deck::card("tap").unwrap()),
            Action::Present(Entry::Swipe, deck::card("swipe").unwrap()),
            Action::Remove,
            Action::Type(PinPlan::Digits("9999".to_owned())),
            Action::Choose(Some(2)),
            Action::Key(Key::Cancel),
            Action::TooLong,
            Action::Unplug(Some(Duration::from_secs(2))),
            Action::Plug,
            Action::Reboot(Some(Duration::from_secs(1))),
            Action::Garbage(40),
            Action::Spoil,
            Action::Silent(Some(Duration::from_secs(5))),
            Action::Delay(Duration::from_millis(300)),
            Action::Clear,
            Action::Amount(Some(1)),
            Action::Wait(Duration::ZERO),
            Action::Flood(Some(Flood::Status)),
            Action::Serial("30003639".to_owned()),
            Action::Version("A".to_owned(), "2".to_owned()),
        ];
        assert_eq!(expected.len(), ACTIONS.len());
        for (name, when, _) in EVENTS {
            for (head, nth) in [(format!("on {name}"), None), (format!("on {name} 12"), Some(12))] {
                let (first, rest) = all.split_at(all.find(", type").unwrap());
                let read = script(&format!("{head}: {first}"));
                assert_eq!(read.rules, [Rule { when: *when, nth, actions: expected[..4].to_vec() }]);
                let read = script(&format!("{head} :{}", &rest[1..]));
                assert_eq!(read.rules[0].actions, expected[4..]);
            }
        }
    }

    #[test]
    fn words_that_can_be_left_out_or_have_another_form() {
        for (text, action) in [
            ("unplug", Action::Unplug(None)),
            ("reboot", Action::Reboot(None)),
            ("silent", Action::Silent(None)),
            ("choose nothing", Action::Choose(None)),
            ("amount right", Action::Amount(None)),
            ("type right", Action::Type(PinPlan::Right)),
            ("type wrong", Action::Type(PinPlan::Wrong)),
            ("type cancel", Action::Type(PinPlan::Cancel)),
            ("type bypass", Action::Type(PinPlan::Bypass)),
            ("type nothing", Action::Type(PinPlan::Hesitate)),
            ("key 7", Action::Key(Key::Digit(7))),
            ("key enter", Action::Key(Key::Enter)),
            ("key clear", Action::Key(Key::Clear)),
        ] {
            assert_eq!(script(&format!("on pin: {text}")).rules[0].actions, [action]);
        }
        assert_eq!(script("after 300ms: remove").moments, [(Duration::from_millis(300), vec![Action::Remove])]);
        assert_eq!(script("\n  # nothing\n\n"), Script::default());
        assert_eq!(script("on pin: remove # at once").rules.len(), 1);
        assert_eq!(script("on pin 2: remove"), Script::default().on(When::Pin, Some(2), &[Action::Remove]));
    }

    #[test]
    fn what_is_no_script_is_named_with_its_line_and_word() {
        for (text, said) in [
            ("when pin: remove", "line 1: \"when\" begins no rule; write on EVENT: ACTION, or after TIME: ACTION"),
            (": remove", "line 1: \"\" begins no rule; write on EVENT: ACTION, or after TIME: ACTION"),
            ("# ok\n\non pinn: remove", "line 3: \"pinn\" is no event; did you mean \"pin\"?"),
            ("on pin: tapp tap", "line 1: \"tapp\" is no action; did you mean \"tap\"?"),
            ("on pin: tap tap-pni", "line 1: \"tap-pni\" is no card; did you mean \"tap-pin\"?"),
            ("on pin: key blue", "line 1: \"blue\" is no key; there are cancel, enter, clear, 0, 9"),
            ("on pin: type rigth", "line 1: \"rigth\" is no typing; did you mean \"right\"?"),
            ("on pin: type 1234567890123", "line 1: \"1234567890123\" is no number of at most twelve digits"),
            ("on pin: type", "line 1: \"type\" needs digits, right, wrong, cancel, bypass or nothing behind it"),
            ("on pin: remove remove", "line 1: \"remove\" is too much here; actions are parted by commas"),
            ("on pin 1 2: remove", "line 1: \"2\" is too much here; actions are parted by commas"),
            ("on: remove", "line 1: \"on\" needs an event behind it"),
            ("on pin", "line 1: an action is missing; write on EVENT: ACTION, ACTION"),
            ("on pin:", "line 1: an action is missing; write on EVENT: ACTION, ACTION"),
            ("on pin: remove,,", "line 1: an action is missing; write on EVENT: ACTION, ACTION"),
            ("on pin 0: remove", "line 1: \"0\" is no number from 1 on"),
            ("on pin +1: remove", "line 1: \"+1\" is no number from 1 on"),
            ("on pin x: remove", "line 1: \"x\" is no number from 1 on"),
            ("on pin: wait 2", "line 1: \"2\" is no time such as 300ms or 2s, of at most an hour"),
            ("on pin: wait 3601s", "line 1: \"3601s\" is no time such as 300ms or 2s, of at most an hour"),
            (
                "after 99999999999999999999s: remove",
                "line 1: \"99999999999999999999s\" is no time such as 300ms or 2s, of at most an hour",
            ),
            ("on pin: garbage 4097", "line 1: \"4097\" is no number from 1 to 4096"),
            ("on pin: amount 1000000000000", "line 1: \"1000000000000\" is no amount of at most twelve digits"),
            ("on pin: choose 0", "line 1: \"0\" is no number from 1 to 9, or nothing"),
        ] {
            assert_eq!(says(text), said, "{text}");
        }
        assert!(says("on x: remove").ends_with("is no event; there are connected, powered-on, frame, abort, sale, waiting, inserted, start, choice, pin, number, answer, asked, continue, ended, removed"));
    }

    #[test]
    fn a_script_has_bounds() {
        assert!(says(&"#".repeat(MAX_TEXT + 1)).contains("64 KiB"));
        assert_eq!(script(&"on pin: remove\n".repeat(MAX_RULES)).rules.len(), MAX_RULES);
        assert_eq!(
            says(&"on pin: remove\n".repeat(MAX_RULES + 1)),
            "line 501: more than 500 rules; a script may not be larger"
        );
        assert!(says(&format!("on pin: remove{}", ",remove".repeat(MAX_ACTIONS))).contains("20 actions"));
        let long = "x".repeat(10_000);
        assert!(says(&format!("on {long}: remove")).len() < 300, "a long word is cut");
    }

    #[test]
    fn the_help_names_every_event_and_action() {
        let help = help();
        assert!(EVENTS.iter().all(|(name, ..)| help.contains(name)));
        assert!(ACTIONS.iter().all(|(form, _)| help.contains(form)));
    }
}
