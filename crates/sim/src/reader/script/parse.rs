//! Parses the text of a script (`script` describes the grammar). An error names the line, the wrong word, and the word
//! that was probably meant.

use std::str::FromStr;
use std::time::Duration;

use super::{
    ACTIONS, EVENTS, MAX_ACTIONS, MAX_GARBAGE, MAX_RULES, MAX_TEXT, MAX_TIME, Script, ScriptAction, ScriptRule,
};
use crate::reader::cardholder::{Key, PinPlan};
use crate::reader::deck::{self, Card, CardEntry, DECK};
use crate::reader::flood::FLOODS;

/// The fault in a script's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {wrong}")]
pub struct ScriptError {
    /// The line number, counted from 1.
    pub line: usize,
    /// The fault.
    pub wrong: ScriptFault,
}

/// The fault of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFault {
    /// The line begins with neither `on` nor `after`.
    #[error("\"{word}\" does not begin a rule; write on EVENT: ACTION, or after TIME: ACTION")]
    NoRule {
        /// The first word.
        word: String,
    },
    /// There is no colon, or an action is missing after the colon or a comma.
    #[error("an action is missing; write on EVENT: ACTION, ACTION")]
    NoAction,
    /// A word is not allowed at its position.
    #[error("\"{word}\" is not a known {kind}; {}", instead(*.meant, .known))]
    Unknown {
        /// The word.
        word: String,
        /// The kind of word that this position requires: event, action, card, key.
        kind: &'static str,
        /// The word that was probably meant.
        meant: Option<&'static str>,
        /// All words that are allowed at this position.
        known: Vec<&'static str>,
    },
    /// A number, time or PIN is required.
    #[error("\"{word}\" is not valid; expected: {wanted}")]
    NotA {
        /// The word.
        word: String,
        /// The required value with its limits.
        wanted: &'static str,
    },
    /// A word that an event or action needs is missing.
    #[error("\"{after}\" needs {wanted} after it")]
    Missing {
        /// The last word of the line.
        after: String,
        /// The needed word.
        wanted: &'static str,
    },
    /// There is a word too many.
    #[error("\"{word}\" does not belong here; separate actions with commas")]
    TooMuch {
        /// The word.
        word: String,
    },
    /// The script exceeds a limit.
    #[error("the script has more than {0}; make it smaller")]
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
            return Err(ScriptError { line: 1, wrong: ScriptFault::TooLarge("64 KiB of text") });
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
    fn read(&mut self, line: &str) -> Result<(), ScriptFault> {
        if self.rules.len() + self.moments.len() >= MAX_RULES {
            return Err(ScriptFault::TooLarge("500 rules"));
        }
        let (head, actions) = line.split_once(':').unwrap_or((line, ""));
        let mut words = LineWords { words: head.split_whitespace(), last: "" };
        match words.next() {
            Some("on") => {
                let name = words.need("an event")?;
                let when = EVENTS.iter().find(|event| event.0 == name).map(|event| event.1);
                let when = when.ok_or_else(|| unknown(name, "event", EVENTS.iter().map(|event| event.0)))?;
                let nth = words.next().map(|word| number(word, "a number from 1", 1..=u32::MAX)).transpose()?;
                words.end()?;
                self.rules.push(ScriptRule { when, nth, actions: read_actions(actions)? });
            }
            Some("after") => {
                let time = time(words.need("a time")?)?;
                words.end()?;
                self.moments.push((time, read_actions(actions)?));
            }
            word => return Err(ScriptFault::NoRule { word: word.unwrap_or_default().to_owned() }),
        }
        Ok(())
    }
}

fn read_actions(text: &str) -> Result<Vec<ScriptAction>, ScriptFault> {
    let actions = text.split(',').map(read_action).collect::<Result<Vec<_>, _>>()?;
    if actions.len() > MAX_ACTIONS { Err(ScriptFault::TooLarge("20 actions in a rule")) } else { Ok(actions) }
}

fn read_action(text: &str) -> Result<ScriptAction, ScriptFault> {
    let mut words = LineWords { words: text.split_whitespace(), last: "" };
    let name = words.next().ok_or(ScriptFault::NoAction)?;
    let action = match name {
        "insert" => ScriptAction::Present(CardEntry::Insert, card(words.need("a card")?)?),
        "tap" => ScriptAction::Present(CardEntry::Tap, card(words.need("a card")?)?),
        "swipe" => ScriptAction::Present(CardEntry::Swipe, card(words.need("a card")?)?),
        "remove" => ScriptAction::Remove,
        "type" => ScriptAction::Type(pin_plan(words.need("digits, right, wrong, cancel, bypass or nothing")?)?),
        "choose" => match words.need("a number or nothing")? {
            "nothing" => ScriptAction::Choose(None),
            word => ScriptAction::Choose(Some(number(word, "a number from 1 to 9, or nothing", 1..=9)?)),
        },
        "key" => ScriptAction::Key(key(words.need("a key")?)?),
        "too-long" => ScriptAction::TooLong,
        "unplug" => ScriptAction::Unplug(words.next().map(time).transpose()?),
        "plug" => ScriptAction::Plug,
        "reboot" => ScriptAction::Reboot(words.next().map(time).transpose()?),
        "garbage" => {
            ScriptAction::Garbage(number(words.need("a number")?, "a number from 1 to 4096", 1..=MAX_GARBAGE)?)
        }
        "spoil" => ScriptAction::Spoil,
        "silent" => ScriptAction::Silent(words.next().map(time).transpose()?),
        "delay" => ScriptAction::Delay(time(words.need("a time")?)?),
        "clear" => ScriptAction::Clear,
        "amount" => match words.need("an amount in minor units, or right")? {
            "right" => ScriptAction::Amount(None),
            word => ScriptAction::Amount(Some(number(word, "amount of at most twelve digits", 0..=999_999_999_999)?)),
        },
        "wait" => ScriptAction::Wait(time(words.need("a time")?)?),
        "flood" => match words.need("what to send, or nothing")? {
            "nothing" => ScriptAction::Flood(None),
            word => {
                let found = FLOODS.iter().find(|(name, _)| *name == word);
                let names = FLOODS.iter().map(|(name, _)| *name).chain(["nothing"]);
                ScriptAction::Flood(Some(found.ok_or_else(|| unknown(word, "flood", names))?.1))
            }
        },
        "serial" => ScriptAction::Serial(short_name(words.need("a serial number")?)?),
        "version" => ScriptAction::Version(short_name(words.need("a file")?)?, short_name(words.need("a version")?)?),
        other => return Err(unknown(other, "action", action_names())),
    };
    words.end()?;
    Ok(action)
}

/// The words of a line, and the last word read.
struct LineWords<'a> {
    words: std::str::SplitWhitespace<'a>,
    last: &'a str,
}

impl<'a> LineWords<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.next()?;
        self.last = word;
        Some(word)
    }

    fn need(&mut self, wanted: &'static str) -> Result<&'a str, ScriptFault> {
        let after = self.last;
        self.next().ok_or_else(|| ScriptFault::Missing { after: after.to_owned(), wanted })
    }

    fn end(&mut self) -> Result<(), ScriptFault> {
        self.next().map_or(Ok(()), |word| Err(ScriptFault::TooMuch { word: word.to_owned() }))
    }
}

/// Checks a short word, of the kind that devices use for their names and files.
fn short_name(word: &str) -> Result<String, ScriptFault> {
    let fits = word.len() <= 32 && word.bytes().all(|c| c.is_ascii_graphic());
    if fits {
        Ok(word.to_owned())
    } else {
        Err(ScriptFault::NotA { word: word.to_owned(), wanted: "name of at most 32 letters" })
    }
}

fn card(name: &str) -> Result<&'static Card, ScriptFault> {
    deck::card(name).ok_or_else(|| unknown(name, "card", DECK.iter().map(|card| card.name)))
}

/// Reads the cardholder's input, in a script or at the keyboard.
pub(in super::super) fn pin_plan(word: &str) -> Result<PinPlan, ScriptFault> {
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
            Err(ScriptFault::NotA { word: other.to_owned(), wanted: "number of at most twelve digits" })
        }
        other => Err(unknown(other, "typing", ["right", "wrong", "cancel", "bypass", "nothing"].into_iter())),
    }
}

/// Returns the key with this name.
pub(in super::super) fn key(word: &str) -> Result<Key, ScriptFault> {
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
) -> Result<N, ScriptFault> {
    let number = word.parse().ok().filter(|number| bounds.contains(number) && !word.starts_with('+'));
    number.ok_or_else(|| ScriptFault::NotA { word: word.to_owned(), wanted })
}

fn time(word: &str) -> Result<Duration, ScriptFault> {
    let (digits, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    let time = match (digits.parse(), unit) {
        (Ok(count), "ms") => Some(Duration::from_millis(count)),
        (Ok(count), "s") => Some(Duration::from_secs(count)),
        _ => None,
    };
    let wanted = "time such as 300ms or 2s, of at most an hour";
    time.filter(|time| *time <= MAX_TIME).ok_or_else(|| ScriptFault::NotA { word: word.to_owned(), wanted })
}

fn action_names() -> impl Iterator<Item = &'static str> {
    ACTIONS.iter().filter_map(|(form, _)| form.split(' ').next())
}

fn unknown(word: &str, kind: &'static str, known: impl Iterator<Item = &'static str>) -> ScriptFault {
    let known: Vec<_> = known.collect();
    // All names are short, so much longer words are not compared.
    let near = known.iter().filter(|_| word.len() <= 40).map(|name| (distance(word, name), *name));
    let meant = near.min().filter(|(distance, name)| *distance <= 2 && *distance < name.len()).map(|(_, name)| name);
    ScriptFault::Unknown { word: word.chars().take(40).collect(), kind, meant, known }
}

/// Counts the letters that must be changed, inserted or removed (Levenshtein).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::flood::Flood;
    use crate::reader::script::ScriptEvent;

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
            ScriptAction::Present(CardEntry::Insert, deck::card("chip-pin").unwrap()),
            ScriptAction::Present(CardEntry::Tap, deck::card("tap").unwrap()),
            ScriptAction::Present(CardEntry::Swipe, deck::card("swipe").unwrap()),
            ScriptAction::Remove,
            ScriptAction::Type(PinPlan::Digits("9999".to_owned())),
            ScriptAction::Choose(Some(2)),
            ScriptAction::Key(Key::Cancel),
            ScriptAction::TooLong,
            ScriptAction::Unplug(Some(Duration::from_secs(2))),
            ScriptAction::Plug,
            ScriptAction::Reboot(Some(Duration::from_secs(1))),
            ScriptAction::Garbage(40),
            ScriptAction::Spoil,
            ScriptAction::Silent(Some(Duration::from_secs(5))),
            ScriptAction::Delay(Duration::from_millis(300)),
            ScriptAction::Clear,
            ScriptAction::Amount(Some(1)),
            ScriptAction::Wait(Duration::ZERO),
            ScriptAction::Flood(Some(Flood::Status)),
            ScriptAction::Serial("30003639".to_owned()),
            ScriptAction::Version("A".to_owned(), "2".to_owned()),
        ];
        assert_eq!(expected.len(), ACTIONS.len());
        for (name, when, _) in EVENTS {
            for (head, nth) in [(format!("on {name}"), None), (format!("on {name} 12"), Some(12))] {
                let (first, rest) = all.split_at(all.find(", type").unwrap());
                let read = script(&format!("{head}: {first}"));
                assert_eq!(read.rules, [ScriptRule { when: *when, nth, actions: expected[..4].to_vec() }]);
                let read = script(&format!("{head} :{}", &rest[1..]));
                assert_eq!(read.rules[0].actions, expected[4..]);
            }
        }
    }

    #[test]
    fn words_that_can_be_left_out_or_have_another_form() {
        for (text, action) in [
            ("unplug", ScriptAction::Unplug(None)),
            ("reboot", ScriptAction::Reboot(None)),
            ("silent", ScriptAction::Silent(None)),
            ("choose nothing", ScriptAction::Choose(None)),
            ("amount right", ScriptAction::Amount(None)),
            ("type right", ScriptAction::Type(PinPlan::Right)),
            ("type wrong", ScriptAction::Type(PinPlan::Wrong)),
            ("type cancel", ScriptAction::Type(PinPlan::Cancel)),
            ("type bypass", ScriptAction::Type(PinPlan::Bypass)),
            ("type nothing", ScriptAction::Type(PinPlan::Hesitate)),
            ("key 7", ScriptAction::Key(Key::Digit(7))),
            ("key enter", ScriptAction::Key(Key::Enter)),
            ("key clear", ScriptAction::Key(Key::Clear)),
        ] {
            assert_eq!(script(&format!("on pin: {text}")).rules[0].actions, [action]);
        }
        assert_eq!(script("after 300ms: remove").moments, [(Duration::from_millis(300), vec![ScriptAction::Remove])]);
        assert_eq!(script("\n  # nothing\n\n"), Script::default());
        assert_eq!(script("on pin: remove # at once").rules.len(), 1);
        assert_eq!(
            script("on pin 2: remove"),
            Script::default().on(ScriptEvent::Pin, Some(2), &[ScriptAction::Remove])
        );
    }

    #[test]
    fn what_is_no_script_is_named_with_its_line_and_word() {
        for (text, said) in [
            (
                "when pin: remove",
                "line 1: \"when\" does not begin a rule; write on EVENT: ACTION, or after TIME: ACTION",
            ),
            (": remove", "line 1: \"\" does not begin a rule; write on EVENT: ACTION, or after TIME: ACTION"),
            ("# ok\n\non pinn: remove", "line 3: \"pinn\" is not a known event; did you mean \"pin\"?"),
            ("on pin: tapp tap", "line 1: \"tapp\" is not a known action; did you mean \"tap\"?"),
            ("on pin: tap tap-pni", "line 1: \"tap-pni\" is not a known card; did you mean \"tap-pin\"?"),
            ("on pin: key blue", "line 1: \"blue\" is not a known key; there are cancel, enter, clear, 0, 9"),
            ("on pin: type rigth", "line 1: \"rigth\" is not a known typing; did you mean \"right\"?"),
            (
                "on pin: type 1234567890123",
                "line 1: \"1234567890123\" is not valid; expected: number of at most twelve digits",
            ),
            ("on pin: type", "line 1: \"type\" needs digits, right, wrong, cancel, bypass or nothing after it"),
            ("on pin: remove remove", "line 1: \"remove\" does not belong here; separate actions with commas"),
            ("on pin 1 2: remove", "line 1: \"2\" does not belong here; separate actions with commas"),
            ("on: remove", "line 1: \"on\" needs an event after it"),
            ("on pin", "line 1: an action is missing; write on EVENT: ACTION, ACTION"),
            ("on pin:", "line 1: an action is missing; write on EVENT: ACTION, ACTION"),
            ("on pin: remove,,", "line 1: an action is missing; write on EVENT: ACTION, ACTION"),
            ("on pin 0: remove", "line 1: \"0\" is not valid; expected: a number from 1"),
            ("on pin +1: remove", "line 1: \"+1\" is not valid; expected: a number from 1"),
            ("on pin x: remove", "line 1: \"x\" is not valid; expected: a number from 1"),
            ("on pin: wait 2", "line 1: \"2\" is not valid; expected: time such as 300ms or 2s, of at most an hour"),
            (
                "on pin: wait 3601s",
                "line 1: \"3601s\" is not valid; expected: time such as 300ms or 2s, of at most an hour",
            ),
            (
                "after 99999999999999999999s: remove",
                "line 1: \"99999999999999999999s\" is not valid; expected: time such as 300ms or 2s, of at most an hour",
            ),
            ("on pin: garbage 4097", "line 1: \"4097\" is not valid; expected: a number from 1 to 4096"),
            (
                "on pin: amount 1000000000000",
                "line 1: \"1000000000000\" is not valid; expected: amount of at most twelve digits",
            ),
            ("on pin: choose 0", "line 1: \"0\" is not valid; expected: a number from 1 to 9, or nothing"),
        ] {
            assert_eq!(says(text), said, "{text}");
        }
        assert!(says("on x: remove").ends_with("is not a known event; there are connected, powered-on, frame, abort, sale, waiting, inserted, start, choice, pin, number, answer, asked, continue, ended, removed"));
    }

    #[test]
    fn a_script_has_bounds() {
        assert!(says(&"#".repeat(MAX_TEXT + 1)).contains("64 KiB"));
        assert_eq!(script(&"on pin: remove\n".repeat(MAX_RULES)).rules.len(), MAX_RULES);
        assert_eq!(
            says(&"on pin: remove\n".repeat(MAX_RULES + 1)),
            "line 501: the script has more than 500 rules; make it smaller"
        );
        assert!(says(&format!("on pin: remove{}", ",remove".repeat(MAX_ACTIONS))).contains("20 actions"));
        let long = "x".repeat(10_000);
        assert!(says(&format!("on {long}: remove")).len() < 300, "a long word is cut");
    }
}
