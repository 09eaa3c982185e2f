//! Checks any bytes from a till that uses the Terminal API. Each line is a message, or any answer of an agent between
//! messages. There is no panic, and a readable message can be written and read again, even sealed. Each message is
//! answered immediately, or waits for the agent or for a time.

use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

use pos_protocols::nexo::envelope::{Envelope, Message, header_of};
use pos_protocols::nexo::receipt::Profile;
use pos_protocols::nexo::seal::Key;
use pos_protocols::nexo::session::{Action, Arrival, Exchange, Now, Session, Settings, leaves_open};
use pos_protocols::nexo::trace;
use pos_till_api::{Ask, Begin, Said};

/// The key of the public sample message. Its derivation takes 4000 rounds.
static KEY: LazyLock<Key> = LazyLock::new(|| Key::derive("mypassphrase", "mykey", 1).expect("a passphrase and a name"));
/// The number of requests to the agent after which it no longer answers.
const MOST_ASKED: usize = 64;

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let mut lines: VecDeque<&[u8]> = bytes.split(|byte| *byte == b'\n').take(32).collect();
    let mut session = Session::new(Settings {
        sale_id: "POSSystemID12345".to_owned(),
        poi_id: "P400Plus-123456789".to_owned(),
        credit: true,
        terminal_prints: false,
        profile: Profile::Plain,
        width: 32,
        reserves: true,
        ignore: vec!["store".to_owned()],
        own_sums: None,
    });
    let (mut asked, mut exchanges) = (0, 0);
    while let Some(line) = lines.pop_front() {
        let _ = header_of(line);
        let message = match Envelope::read(line) {
            Ok(Envelope::Plain(message)) => message,
            Ok(Envelope::Sealed(sealed)) => {
                match sealed.open(std::slice::from_ref(&KEY)).map(|opened| opened.message) {
                    Ok(Ok(message)) => message,
                    Ok(Err(_)) | Err(_) => continue,
                }
            }
            Err(_) => continue,
        };
        round(&message);
        let Message::Request(request) = message else { continue };
        exchanges += 1;
        let now = |asked: usize| Now { steady: Duration::from_secs(asked as u64), unix_s: 1_795_430_096 };
        // Some messages come back after an interruption.
        let again = Arrival::Again { left: Duration::from_secs(120) };
        let arrival = [Arrival::New, Arrival::New, again, Arrival::Late][exchanges as usize % 4];
        let mut to_do = VecDeque::from(session.arrived(exchanges, (request, arrival), line.to_vec(), now(asked)));
        let mut answered = false;
        while let Some(action) = to_do.pop_front() {
            match action {
                Action::Ask { ticket, ask } if asked < MOST_ASKED => {
                    asked += 1;
                    if let Ask::Begin(begin) = &ask {
                        fits(begin);
                    }
                    let said = lines.pop_front().map_or(Said::NoAnswer { may_be_done: true }, |line| {
                        let (status, body) = line
                            .split_first_chunk()
                            .map_or((200, line), |(status, body)| (u16::from_be_bytes(*status), body));
                        // A line that begins like an object is the agent's answer to a successful request.
                        if line.first() == Some(&b'{') {
                            Said::read(&ask, 200, line)
                        } else {
                            Said::read(&ask, status, body)
                        }
                    });
                    to_do.extend(session.said(ticket, said, now(asked)));
                }
                Action::Ask { .. } | Action::GiveUp { .. } => answered = true,
                Action::Answer { exchange, message } => {
                    answered |= exchange == exchanges;
                    if let Some(message) = message {
                        round(&message);
                        let _ = leaves_open(&message);
                    }
                }
            }
        }
        assert!(answered || session.next_deadline().is_some(), "nothing comes of the message");
        to_do.extend(session.tick(now(asked + 1000)));
    }
    (1..=exchanges).for_each(|exchange: Exchange| {
        session.gone(exchange);
    });
}

/// Checks that the agent accepts the data that it is to store for the till, including the till's own texts.
fn fits(begin: &Begin) {
    assert!(begin.till_data.len() <= 16, "{:?}", begin.till_data);
    // A ServiceID or a transaction number may be longer; the agent refuses it by name.
    for (name, text) in begin.till_data.iter().filter(|(name, _)| name.starts_with("Metadata")) {
        assert!(text.len() <= 128 && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name}: {text}");
    }
}

/// Checks that a message can be written and read again, and sealed and opened.
fn round(message: &Message) {
    let _ = trace::line(message);
    let Ok(Envelope::Plain(again)) = Envelope::read(&message.write()) else { panic!("what was written is not read") };
    assert_eq!(&again, message);
    let Ok(Envelope::Sealed(sealed)) = Envelope::read(&message.seal(&KEY, [7; 16])) else {
        panic!("what was sealed is not read");
    };
    let opened = sealed.open(std::slice::from_ref(&KEY)).expect("the key that sealed it");
    assert_eq!(opened.message.as_ref(), Ok(message));
}
