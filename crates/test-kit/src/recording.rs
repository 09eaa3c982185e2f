//! Plays a recording of a reader to a session without the reader ([`pos_reader::recording`]). The session must send the
//! recorded commands and report the recorded events, in the recorded order.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pos_reader::config::Reader;
use pos_reader::recording::{CardDataFill, LineRewriter, MessageKind};
use pos_reader::{
    AmountToType, Arm, Completion, EntryRequest, LocalTime, ReaderFamily, ReaderOrder, ReaderSettings, TypeAmount,
};
use pos_terms::money::{Amount, Currency};
use serde::Deserialize;

/// A sink of a recording and the text that it has taken.
#[derive(Clone, Default)]
pub struct Recorded(Arc<Mutex<String>>);

impl Recorded {
    /// Returns settings that are recorded here.
    pub fn settings(&self, settings: ReaderSettings) -> ReaderSettings {
        let text = Arc::clone(&self.0);
        let sink = move |line: &str| {
            let mut text = text.lock().unwrap();
            text.push_str(line);
            text.push('\n');
        };
        ReaderSettings { recording: Some(Arc::new(sink)), ..settings }
    }

    pub fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

/// The head of a recording: the configuration of its reader.
#[derive(Deserialize)]
struct Head {
    reader: Reader,
}

/// Plays a whole recording, as `pos-agent reader trace` writes it.
///
/// # Panics
/// Panics at the first line that the session does not keep.
pub fn play_file(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let (head, lines) = text.split_once("\n---\n").expect("the configuration, then ---");
    let Head { reader } = toml::from_str(head).unwrap();
    play(lines, ReaderSettings::of(&reader), ReaderFamily::of(&reader).unwrap());
}

/// Plays the lines of a recording.
///
/// # Panics
/// Panics at the first line that the session does not keep.
pub fn play(lines: &str, settings: ReaderSettings, family: ReaderFamily) {
    let more = play_beginning(lines, settings, family);
    assert_eq!(more, Vec::<String>::new(), "after the end of the recording");
}

/// Plays the lines of a recording that was cut. Returns what the session does after its end.
///
/// # Panics
/// Panics at the first line that the session does not keep.
pub fn play_beginning(lines: &str, settings: ReaderSettings, family: ReaderFamily) -> Vec<String> {
    let lines: Vec<RecordedLine<'_>> =
        lines.lines().enumerate().filter_map(|(n, line)| RecordedLine::read(n + 1, line)).collect();
    let clock: VecDeque<_> = lines.iter().filter(|line| line.what == "clock").map(|line| time(line.rest)).collect();
    let clock = Mutex::new(clock);
    let clock = Arc::new(move || {
        let mut clock = clock.lock().unwrap();
        // The last value stays, because a changed session may ask more often.
        if clock.len() > 1 { clock.pop_front().flatten() } else { clock.front().copied().flatten() }
    });
    let played = Recorded::default();
    let settings = played.settings(ReaderSettings { clock, ..settings });
    let mut rewriter = LineRewriter::new(family.recorded_wire());
    let mut session = family.session(settings);
    let mut pieces = pieces(&lines, &mut rewriter);
    for line in &lines {
        match line.what {
            "open" => session.opened(line.at),
            "close" => session.closed(line.rest),
            "order" => session.order(order(line.rest), line.at),
            // A recorded time is cut to whole microseconds.
            "timer" => session.timeout(line.at + Duration::from_micros(1)),
            "<" | "<?" | "<0" | "<!" | "<r" => session.bytes(&pieces.pop_front().expect("one for each line"), line.at),
            _ => continue,
        }
        while session.poll().is_some() {}
    }
    let played = played.text();
    let played: Vec<_> = played.lines().enumerate().filter_map(|(n, line)| RecordedLine::read(n + 1, line)).collect();
    let is_output = |line: &&RecordedLine<'_>| matches!(line.what, ">" | "=");
    let mut outputs = played.iter().filter(is_output);
    for expected in lines.iter().filter(is_output) {
        let found = outputs.next().map(|line| format!("{} {}", line.what, line.rest));
        let expected_text = format!("{} {}", expected.what, expected.rest);
        assert_eq!(found.as_deref(), Some(&*expected_text), "line {} of the recording", expected.number);
    }
    outputs.map(|line| line.rest.to_owned()).collect()
}

/// Returns the bytes of each line from the reader, with a dummy in place of sealed data.
fn pieces(lines: &[RecordedLine<'_>], rewriter: &mut LineRewriter) -> VecDeque<Vec<u8>> {
    /// The silence after which a session drops an unfinished message.
    const MESSAGE_GAP: Duration = Duration::from_secs(1);
    let (mut counts, mut last) = (Vec::new(), Duration::ZERO);
    for line in lines {
        let kind = match line.what {
            "<" => MessageKind::Sealed,
            "<?" => MessageKind::Malformed,
            "<0" => MessageKind::Zeros,
            "<!" => MessageKind::Clear,
            "<r" => MessageKind::Readable,
            "open" | "close" => {
                rewriter.give_up();
                continue;
            }
            _ => continue,
        };
        if line.at >= last + MESSAGE_GAP {
            rewriter.give_up();
        }
        rewriter.fill_with(CardDataFill::Like(kind));
        counts.push(rewriter.feed(&hex::decode(line.rest).unwrap()));
        last = line.at;
    }
    rewriter.give_up();
    let piece = |count| (0..count).filter_map(|_| rewriter.pop()).flat_map(|piece| piece.bytes).collect();
    counts.into_iter().map(piece).collect()
}

/// A line of a recording that is no comment.
struct RecordedLine<'a> {
    number: usize,
    at: Duration,
    what: &'a str,
    rest: &'a str,
}

impl<'a> RecordedLine<'a> {
    fn read(number: usize, line: &'a str) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (at, rest) = line.split_once(' ').unwrap();
        let (what, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let rest = if what == ">" { rest.split_once(" #").map_or(rest, |(bytes, _)| bytes) } else { rest };
        let (seconds, micros) = at.split_once('.').unwrap();
        let at = Duration::from_secs(seconds.parse().unwrap()) + Duration::from_micros(micros.parse().unwrap());
        Some(Self { number, at, what, rest })
    }
}

/// Reads YYMMDDhhmmss, or `none`.
fn time(text: &str) -> Option<LocalTime> {
    let two = |n: usize| text.get(2 * n..2 * n + 2)?.parse().ok();
    Some(LocalTime { year: two(0)?, month: two(1)?, day: two(2)?, hour: two(3)?, minute: two(4)?, second: two(5)? })
}

fn amount(number: &str, currency: &str) -> Amount {
    Amount::parse(number, Currency::from_code(currency).unwrap()).unwrap()
}

fn order(text: &str) -> ReaderOrder {
    let words: Vec<&str> = text.split(' ').collect();
    let seconds = |text: &str| Duration::from_secs(text.parse().unwrap());
    match words[..] {
        ["arm", sale, number, currency, kind, at, timeout, entry] => ReaderOrder::Arm(Arm {
            sale: sale.parse().unwrap(),
            amount: amount(number, currency),
            transaction_type: u8::from_str_radix(kind, 16).unwrap(),
            at: time(at).unwrap(),
            card_timeout: seconds(timeout),
            entry: match entry {
                "card" => EntryRequest::Card,
                "chip" => EntryRequest::Chip,
                _ => EntryRequest::Manual,
            },
        }),
        ["type", sale, timeout, "amount", currency] => ReaderOrder::TypeAmount(TypeAmount {
            sale: sale.parse().unwrap(),
            what: AmountToType::Amount { currency: Currency::from_code(currency).unwrap() },
            timeout: seconds(timeout),
        }),
        ["type", sale, timeout, "tip", number, currency, other, ref percentages @ ..] => {
            ReaderOrder::TypeAmount(TypeAmount {
                sale: sale.parse().unwrap(),
                what: AmountToType::Tip {
                    base: amount(number, currency),
                    percentages: percentages.iter().map(|text| text.parse().unwrap()).collect(),
                    other: other == "other",
                },
                timeout: seconds(timeout),
            })
        }
        ["show", text] => ReaderOrder::Show { text: String::from_utf8(hex::decode(text).unwrap()).unwrap() },
        ["set-clock"] => ReaderOrder::SetClock,
        ["complete", sale, arc, authentication, ref scripts @ ..] => ReaderOrder::Complete {
            sale: sale.parse().unwrap(),
            completion: Completion {
                arc: hex::decode(arc).unwrap().try_into().unwrap(),
                issuer_authentication: hex::decode(authentication)
                    .ok()
                    .map(|value| heapless::Vec::from_slice(&value).unwrap()),
                scripts: heapless::Vec::from_slice(&hex::decode(scripts.concat()).unwrap()).unwrap(),
            },
        },
        ["cancel", sale] => ReaderOrder::Cancel { sale: sale.parse().unwrap() },
        _ => panic!("no order: {text}"),
    }
}
