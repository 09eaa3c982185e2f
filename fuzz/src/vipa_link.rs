//! Checks any bytes from a VIPA reader, and to one. There is no panic, no message exceeds the limit, and any split
//! gives the same messages. Every message that can be read as a command can be written again. What goes to the issuer
//! holds no card data.

use super::recording;
use pos_reader::card_read::for_host;
use pos_reader::config::ReaderProtocol;
use pos_reader::family::OwnTag;
use pos_reader::keys;
use pos_reader::vipa::SredForm;
use pos_reader::vipa::message::{
    CardTemplate, VipaCommand, VipaIdentity, VipaKeys, VipaPinAnswer, VipaStatus, VipaTypedCard, VipaUnsolicited,
    has_clear_card_data, masked_pan, parse_card, parse_time, sealed_of,
};
use pos_reader_link::apdu_link::{Decoder, MAX_MESSAGE, Profile, Received};
use pos_terms::emv::{Tag, tlv};

/// Checks that the conditions above hold for these bytes. The first byte determines the split of the others.
pub fn holds(input: &[u8]) {
    let Some((&cut, bytes)) = input.split_first() else { return };
    recording::holds(ReaderProtocol::VerifoneVipa, usize::from(cut).max(1), bytes);
    let whole = decode(std::iter::once(bytes));
    assert_eq!(decode(bytes.chunks(usize::from(cut).max(1))), whole);
    for message in whole {
        assert!((2..=MAX_MESSAGE).contains(&message.len()));
        command_holds(&message);
        let (body, status) = message.split_last_chunk::<2>().expect("a message has two bytes at least");
        assert!(!VipaStatus(u16::from_be_bytes(*status)).words().is_empty());
        answer_holds(body);
    }
    // The parsers see these bytes too, so that the fuzzer need not find an LRC.
    command_holds(bytes);
    answer_holds(bytes);
}

fn command_holds(message: &[u8]) {
    let Ok(command) = VipaCommand::parse(message) else { return };
    assert!(!command.name().is_empty());
    let packets = command.packets().expect("a command that was read");
    let [apdu] = &decode(packets.iter().map(|packet| &packet[..]))[..] else { panic!("one message") };
    assert!(VipaCommand::parse(apdu) == Ok(command));
}

fn answer_holds(body: &[u8]) {
    let is_clear = has_clear_card_data(body);
    for form in [SredForm::IvFirst, SredForm::DataOnly] {
        let _ = VipaUnsolicited::parse(body, form).map(|event| assert!(!format!("{event:?}").is_empty()));
        if let Ok(typed) = VipaTypedCard::parse(body, form) {
            assert!(!format!("{typed:?}").is_empty());
        }
        if let Ok(Some(sealed)) = sealed_of(body, form) {
            assert!(!sealed.is_empty());
            assert!(keys::left(sealed.ksn).is_none_or(|left| left < 1 << 32));
        }
        if let Ok(card) = CardTemplate::parse(body) {
            // The same bytes stand for an earlier request for a decision.
            for earlier in [&[][..], card.tlvs, &[0x5A]] {
                let answer = parse_card(card, earlier, form);
                assert!(!format!("{answer:?}").contains("tlvs"));
            }
        }
    }
    if let Ok(identity) = VipaIdentity::parse(body) {
        assert!(identity.programs.len() <= 64 && identity.serial.len() <= 32);
        assert!(identity.serial.chars().chain(identity.model.chars()).all(|c| matches!(c, ' '..='~')));
    }
    if let Ok(VipaPinAnswer::Entered(pin)) = VipaPinAnswer::parse(body) {
        assert!(!pin.block.is_empty() && !pin.ksn.is_empty());
    }
    let _ = VipaKeys::parse(body);
    if let Ok(time) = parse_time(body) {
        assert!(time.month <= 12 && time.day <= 31 && time.hour < 24 && time.minute < 60);
    }
    for object in tlv::walk(body).flatten() {
        let shown = masked_pan(object.tag, object.value);
        let digits = shown.as_ref().map_or(0, |pan| pan.as_str().bytes().filter(u8::is_ascii_digit).count());
        assert!(digits < 13 || !is_clear, "a masked number shows at most ten digits");
    }
    if let Ok(icc) = for_host(body, false, &[], &|_: Tag| OwnTag::Other) {
        for object in tlv::walk(icc.expose()) {
            let object = object.expect("whole elements");
            assert!(!object.tag.is_sensitive() && !object.tag.is_private());
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
    let mut decoder = Decoder::new(Profile::Vipa);
    for piece in pieces {
        decoder.feed(piece, &mut on);
    }
    decoder.silence(&mut on);
    messages
}
