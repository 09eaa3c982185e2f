//! Checks any bytes from a NEO2 reader, and to one. There is no panic, no frame exceeds the limit, and any split gives
//! the same frames. Every frame that can be read as a command can be written again. Sealed data have the length of
//! their cipher, and what goes to the issuer holds no card data.

use super::recording;
use pos_reader::config::ReaderProtocol;
use pos_reader::keys;
use pos_reader::neo2::message::{
    CallBack, EncryptionSwitch, KeyInfoAnswer, KsnAnswer, ManualCardAnswer, Neo2CardAnswer, Neo2Command, Neo2PinAnswer,
    has_clear_card_data, icc_data, parse_clock, text,
};
use pos_reader_link::neo2_link::{
    HeaderKind, MAX_DATA, Neo2Decoder, Neo2Direction, Neo2Frame, Neo2Received, encode_frame,
};
use pos_terms::card::{SealedCard, SealedPin};
use pos_terms::emv::tlv;

type Owned = (HeaderKind, u8, u8, Vec<u8>);

/// Checks that the conditions above hold for these bytes. The first byte determines the split of the others.
pub fn holds(input: &[u8]) {
    let Some((&cut, bytes)) = input.split_first() else { return };
    recording::holds(ReaderProtocol::IdtechNeo2, usize::from(cut).max(1), bytes);
    for direction in [Neo2Direction::Command, Neo2Direction::Response] {
        let whole = decode(direction, std::iter::once(bytes));
        assert_eq!(decode(direction, bytes.chunks(usize::from(cut).max(1))), whole);
        for (header, command, sub_or_status, data) in whole {
            assert!(data.len() <= MAX_DATA);
            let frame = Neo2Frame { header, command, sub_or_status, data: &data };
            let written = encode_frame(direction, &frame).expect("a frame that was read");
            let again = decode(direction, std::iter::once(&written[..]));
            assert!(again == [(header, command, sub_or_status, data.clone())]);
            match direction {
                Neo2Direction::Command => command_holds(&frame),
                Neo2Direction::Response => answer_holds(&frame),
            }
        }
    }
    // The parsers of answers see these bytes too, so that the fuzzer need not find a CRC.
    answer_holds(&Neo2Frame { header: HeaderKind::default(), command: 0x61, sub_or_status: 0x01, data: bytes });
}

fn command_holds(frame: &Neo2Frame<'_>) {
    let Ok(command) = Neo2Command::parse(frame) else { return };
    if let Ok(written) = command.encode() {
        let [(header, command_byte, sub_or_status, data)] =
            &decode(Neo2Direction::Command, std::iter::once(&written[..]))[..]
        else {
            panic!("one frame");
        };
        let again = Neo2Frame { header: *header, command: *command_byte, sub_or_status: *sub_or_status, data };
        assert!(Neo2Command::parse(&again) == Ok(command));
    }
}

fn answer_holds(frame: &Neo2Frame<'_>) {
    let data = frame.data;
    let _ = has_clear_card_data(data);
    let _ = CallBack::parse(frame);
    if let Ok(answer) = Neo2CardAnswer::parse(data) {
        assert!(!format!("{answer:?}").is_empty());
        if let Ok(sealed) = answer.seal() {
            if let Some(sealed) = sealed.to_card() {
                sealed_holds(&sealed);
            }
            assert!(answer.interface().is_ok());
        }
        if let Some(pin) = answer.pin.and_then(|pin| pin.to_pin()) {
            pin_holds(&pin);
        }
    }
    if let Ok(icc) = icc_data(data, &[]) {
        for object in tlv::walk(icc.expose()) {
            let object = object.expect("whole elements");
            assert!(!object.tag.is_sensitive() && !object.tag.is_private());
        }
    }
    if let Ok(typed) = ManualCardAnswer::parse(data)
        && let Ok(sealed) = typed.sealed
        && let Some(sealed) = sealed.to_card()
    {
        sealed_holds(&sealed);
    }
    if let Ok(Neo2PinAnswer::Entered(pin)) = Neo2PinAnswer::parse(data) {
        pin_holds(&pin);
    }
    if let Ok(keys) = KeyInfoAnswer::parse(data) {
        assert!(keys.keys.len() <= 32);
    }
    let _ = (KsnAnswer::parse(data), EncryptionSwitch::parse(data));
    let (date, time) = data.split_at(data.len().min(4));
    if let Ok(clock) = parse_clock(date, time) {
        assert!(clock.month <= 12 && clock.day <= 31 && clock.hour < 24 && clock.minute < 60);
    }
    assert!(text(data).chars().all(|c| matches!(c, ' '..='~')));
}

fn sealed_holds(sealed: &SealedCard) {
    assert!(!sealed.data.expose().is_empty());
    assert!(matches!(sealed.ksn.expose().len(), 10 | 12));
    assert!(keys::left(sealed.ksn.expose()).is_none_or(|left| left < 1 << 32));
}

fn pin_holds(pin: &SealedPin) {
    assert!(matches!((pin.block.expose().len(), pin.ksn.expose().len()), (8, 10) | (16, 12)));
}

fn decode<'a>(direction: Neo2Direction, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Owned> {
    let mut frames = Vec::new();
    let mut on = |received: Neo2Received<'_>| {
        if let Neo2Received::Frame(Neo2Frame { header, command, sub_or_status, data }) = received {
            frames.push((header, command, sub_or_status, data.to_vec()));
        }
    };
    let mut decoder = Neo2Decoder::new(direction);
    for piece in pieces {
        decoder.feed(piece, &mut on);
    }
    decoder.silence(&mut on);
    frames
}
