//! Checks any bytes from a ZVT till, on a network and on a serial line, in any pieces. There is no panic, and a
//! readable command can be written and read again. A session answers each command, and no line for people contains a
//! card number.

use std::time::Duration;

use pos_protocols::zvt::answer::{Reply, TerminalMessage};
use pos_protocols::zvt::apdu::{Apdu, Splitter};
use pos_protocols::zvt::bmp::Order;
use pos_protocols::zvt::command::Command;
use pos_protocols::zvt::serial::{Frames, Link};
use pos_protocols::zvt::session::{Session, Settings};
use pos_protocols::zvt::trace;
use pos_till_api::OnSilence;

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let mut left = bytes;
    let (mut frames, mut link) = (Frames::new(), Link::new(9600));
    while frames.next(&mut left).is_some() {}
    let _ = (link.receive(bytes, Duration::ZERO), link.poll(Duration::from_secs(1)));
    let mut session = Session::new(
        Settings {
            password: None,
            credit: true,
            unacknowledged: OnSilence::Reverse,
            order: Order::Table,
            status_containers: true,
            needed_frames_only: false,
            own_sums: None,
            references: "fuzz".to_owned(),
        },
        Some(bytes),
    );
    let (whole, pieces) = (split(bytes, bytes.len().max(1)), split(bytes, 3));
    assert_eq!(whole, pieces);
    let _ = session.line_opened(1);
    for (number, apdu) in whole.iter().enumerate() {
        if let Ok(command) = Command::read(apdu) {
            let again = command.apdu();
            assert_eq!(Command::read(&again).map(|again| again.apdu()), Ok(again));
        }
        let _ = (Reply::read(apdu), TerminalMessage::read(apdu), trace::line(apdu));
        let now = Duration::from_secs(number as u64);
        let answered = session.heard(1, apdu, now);
        // The session answers a command immediately. It answers a registration only after the agent has given its
        // currency.
        assert!(apdu.control.is_answer() || !answered.is_empty() || session.is_busy());
        let _ = session.tick(now);
    }
    let _ = session.line_lost(1, Duration::from_secs(1000));
}

fn split(bytes: &[u8], size: usize) -> Vec<Apdu> {
    let mut splitter = Splitter::default();
    let mut found = Vec::new();
    for chunk in bytes.chunks(size) {
        let mut left = chunk;
        found.extend(std::iter::from_fn(|| splitter.next(&mut left)));
    }
    found
}
