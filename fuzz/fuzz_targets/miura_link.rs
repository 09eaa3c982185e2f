//! Any bytes as a Miura line: no panic, no message over the bound, the same messages in any split, and every message that can be
//! read as a command can be written again.
//!
//! Good seeds are the frames of `tests/golden_miura.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pos_agent::reader::link::{Decoder, MAX_MESSAGE, Received};
use pos_agent::reader::miura::message::{Command, Outcome, Unsolicited, split};

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let whole = decode(std::iter::once(bytes));
    assert_eq!(decode(bytes.chunks(usize::from(cut).max(1))), whole);
    for message in whole {
        assert!((2..=MAX_MESSAGE).contains(&message.len()));
        if let Ok(command) = Command::parse(&message)
            && let Ok(packet) = command.encode()
        {
            assert!(Command::parse(&packet[3..packet.len() - 1]) == Ok(command));
        }
        let (body, _) = split(&message).expect("a message has two bytes at least");
        let _ = (Unsolicited::parse(body), Outcome::parse(body).map(|outcome| outcome.tlvs().len()));
    }
});

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let mut on = |received: Received<'_>| {
        if let Received::Message(message) = received {
            messages.push(message.bytes.to_vec());
        }
    };
    let mut decoder = Decoder::default();
    for piece in pieces {
        decoder.feed(piece, &mut on);
    }
    decoder.silence(&mut on);
    messages
}
