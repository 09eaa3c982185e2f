//! Checks any bytes from a Miura reader. There is no panic, no message exceeds the limit, and any split gives the same
//! messages. Every message that can be read as a command can be written again, in one packet or several. Typed input is
//! either an amount within limits or no amount.

use super::recording;
use pos_reader::config::ReaderProtocol;
use pos_reader::keys;
use pos_reader::miura::message::{
    ConfigurationAnswer, DeviceInfoAnswer, MpiCommand, TransactionAnswer, TypedCardAnswer, UnsolicitedMessage,
    last_sealed, minor_units, parse_numeric, split,
};
use pos_reader_link::apdu_link::{Decoder, MAX_MESSAGE, Received};

/// Checks that the conditions above hold for these bytes. The first byte determines the split of the others.
pub fn holds(input: &[u8]) {
    let Some((&cut, bytes)) = input.split_first() else { return };
    recording::holds(ReaderProtocol::MiuraMpi, usize::from(cut).max(1), bytes);
    let whole = decode(std::iter::once(bytes));
    assert_eq!(decode(bytes.chunks(usize::from(cut).max(1))), whole);
    for message in whole {
        assert!((2..=MAX_MESSAGE).contains(&message.len()));
        if let Ok(command) = MpiCommand::parse(&message)
            && let Ok(packet) = command.encode()
        {
            assert!(MpiCommand::parse(&packet[3..packet.len() - 1]) == Ok(command));
        }
        if let Ok(command) = MpiCommand::parse(&message)
            && let Ok(packets) = command.packets(true)
        {
            let [apdu] = &decode(packets.iter().map(|packet| &packet[..]))[..] else { panic!("one message") };
            assert!(MpiCommand::parse(apdu) == Ok(command));
        }
        let (body, _) = split(&message).expect("a message has two bytes at least");
        let _ = UnsolicitedMessage::parse(body);
        let _ = TransactionAnswer::parse(body);
        if let Ok(info) = DeviceInfoAnswer::parse(body) {
            let _ = (info.extended_apdu(None), info.extended_apdu(Some("x")));
        }
        if let Ok(configuration) = ConfigurationAnswer::parse(body) {
            assert!(configuration.files.len() <= 64);
        }
        let _ = TypedCardAnswer::parse(body);
        if let Ok(Some(sealed)) = last_sealed(body) {
            assert!(keys::left(sealed.ksn).is_none_or(|left| left < 1 << 32));
        }
        if let Ok(digits) = parse_numeric(body) {
            for exponent in 0..4 {
                assert!(minor_units(digits, exponent).is_none_or(|minor| minor < 10_u64.pow(13)));
            }
        }
    }
}

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
