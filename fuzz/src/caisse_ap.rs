//! Checks any bytes from a Caisse-AP till, in any pieces. There is no panic. The session answers each connection once
//! at most, with a short answer in ASCII that can be read again. It asks the terminal for a transaction only after a
//! whole request, and with its amount. No line for people contains a card number.

use std::time::Duration;

use pos_protocols::caisse_ap::answer::Answer;
use pos_protocols::caisse_ap::request::{Request, arrived};
use pos_protocols::caisse_ap::session::{Action, Session, Settings};
use pos_protocols::caisse_ap::{tlv, trace};
use pos_till_api::{Ask, OnSilence, Said};

const STATUS: &[u8] = br#"{"version":"1","terminalId":"4711","ready":true,"busy":false,"reader":{"state":"ready"},
    "gateway":{"state":"answers"},"printers":[],"clock":{"time":null},"currency":"EUR","currencyNumber":978,
    "currencyDecimals":2}"#;

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let request = Request::read(bytes);
    assert!(request.is_err() || arrived(bytes).is_ok());
    let _ = Answer::read(bytes);
    let line = trace::line(bytes);
    assert!(line.len() < 16 * tlv::MOST_BYTES && !has_card_number(&line), "{line}");
    let pieces = (bytes.chunks(bytes.len().max(1)), bytes.chunks(3));
    let (whole, cut) = (play(pieces.0), play(pieces.1));
    let wanted = request.ok().filter(|request| request.currency == 978);
    let amount = wanted.map(|request| format!("{}.{:02}", request.minor / 100, request.minor % 100));
    assert_eq!(whole, amount);
    // Line ends after a request have no limit of their own.
    assert!(bytes.len() > tlv::MOST_BYTES || cut == whole, "{cut:?}");
}

/// Returns whether a text has as many digits in sequence as a card number. An application identifier (A0000000031010)
/// has zeros with which no card number begins.
fn has_card_number(text: &str) -> bool {
    let mut sequences = text.split(|letter: char| !letter.is_ascii_digit());
    sequences.any(|digits| digits.len() > 12 && !digits.starts_with("0000"))
}

/// Plays a connection with these pieces, and returns the amount that the terminal is asked for.
fn play<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    let settings = Settings { credit: true, unacknowledged: OnSilence::Reverse, references: "fuzz".to_owned() };
    let mut session = Session::new(settings);
    let mut actions = session.line_opened(1, Duration::ZERO);
    for piece in pieces {
        actions.extend(session.heard(1, piece, Duration::from_millis(1)));
    }
    let mut asked = None;
    let (mut answers, mut now) = (0, Duration::ZERO);
    loop {
        for action in std::mem::take(&mut actions) {
            match action {
                Action::Answer { bytes, .. } => {
                    answers += 1;
                    assert!(bytes.len() < tlv::MOST_BYTES && bytes.is_ascii() && Answer::read(&bytes).is_some());
                }
                Action::Hang { .. } => answers += 1,
                Action::Ask { ticket, ask } => {
                    if let Ask::Begin(begin) = &ask {
                        asked.clone_from(&begin.amount);
                    }
                    actions.extend(session.said(ticket, said(&ask), now));
                }
                Action::WaitForSupervisor { ticket, .. } => actions.extend(session.supervisor_said(ticket, true, now)),
                Action::Note(note) => assert!(!has_card_number(&note), "{note}"),
            }
        }
        if !actions.is_empty() {
            continue;
        }
        let Some(at) = session.next_deadline() else { break };
        now = now.max(at);
        actions = session.tick(now);
    }
    assert_eq!(answers, 1, "each connection has one end");
    asked
}

/// Returns the answers of an agent that then falls silent.
fn said(ask: &Ask) -> Said {
    match ask {
        Ask::Status => Said::read(ask, 200, STATUS),
        _ => Said::NoAnswer { may_be_done: true },
    }
}
