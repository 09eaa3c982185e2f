//! Properties of the link layer's decoder: any split of the stream, garbage between packets, and a peer that sends
//! arbitrary bytes.

use pos_reader_link::apdu_link::{Decoder, LinkFault, MAX_MESSAGE, MIN_PACKET, Nad, Received, chain, command};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq)]
enum Out {
    Message(Nad, bool, Vec<u8>),
    Fault(LinkFault),
}

fn own(received: Received<'_>) -> Out {
    match received {
        Received::Message(message) => Out::Message(message.nad, message.unsolicited, message.bytes.to_vec()),
        Received::Fault(fault) => Out::Fault(fault),
    }
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Out> {
    let mut out = Vec::new();
    let mut decoder = Decoder::default();
    for piece in pieces {
        decoder.feed(piece, |received| out.push(own(received)));
    }
    decoder.silence(|received| out.push(own(received)));
    assert!(!decoder.is_unfinished());
    out
}

fn bytes_of(nad: Nad, unsolicited: bool, message: &[u8], size: usize) -> Vec<u8> {
    chain(nad, unsolicited, message, size).unwrap().flatten().collect()
}

fn message() -> impl Strategy<Value = (Nad, bool, Vec<u8>, usize)> {
    let nad = prop_oneof![Just(Nad::Reader), Just(Nad::Base)];
    (nad, any::<bool>(), prop::collection::vec(any::<u8>(), 2..900), 0usize..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_encoded_and_split_anywhere_is_decoded(
        messages in prop::collection::vec(message(), 1..6),
        cuts in prop::collection::vec(1usize..400, 1..40),
    ) {
        let mut stream = Vec::new();
        let mut expected = Vec::new();
        for (nad, unsolicited, message, size) in messages {
            stream.extend(bytes_of(nad, unsolicited, &message, size));
            expected.push(Out::Message(nad, unsolicited, message));
        }
        let mut pieces = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, later) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = later;
        }
        prop_assert_eq!(decode(pieces), expected);
    }

    #[test]
    fn garbage_that_cannot_begin_a_packet_is_skipped_and_counted(
        garbage in prop::collection::vec(prop_oneof![Just(0u8), 3u8..=255], 1..700),
        one in message(),
        two in message(),
    ) {
        let (nad, unsolicited, message, size) = one;
        let mut stream = bytes_of(nad, unsolicited, &message, size);
        stream.extend(&garbage);
        let mut expected = vec![Out::Message(nad, unsolicited, message), Out::Fault(LinkFault::Garbage { bytes: garbage.len() })];
        let (nad, unsolicited, message, size) = two;
        stream.extend(bytes_of(nad, unsolicited, &message, size));
        expected.push(Out::Message(nad, unsolicited, message));
        prop_assert_eq!(decode([&stream[..]]), expected);
    }

    #[test]
    fn anything_is_decoded_the_same_in_any_split_and_stays_bounded(
        stream in prop::collection::vec(prop_oneof![3 => Just(1u8), 1 => Just(0u8), 1 => Just(2u8), 1 => Just(0x41), 4 => any::<u8>()], 0..3000),
        cut in 1usize..300,
    ) {
        let whole = decode([&stream[..]]);
        prop_assert_eq!(&decode(stream.chunks(cut)), &whole);
        for out in whole {
            if let Out::Message(_, _, message) = out {
                prop_assert!((2..=MAX_MESSAGE).contains(&message.len()));
            }
        }
    }

    #[test]
    fn one_wrong_bit_never_gives_the_message_and_after_a_silence_never_costs_the_next(
        message in prop::collection::vec(any::<u8>(), 2..254),
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
    ) {
        let mut stream = bytes_of(Nad::Reader, false, &message, 254);
        let at = at.index(stream.len());
        stream[at] ^= 1 << bit;
        let mut out = Vec::new();
        let mut decoder = Decoder::default();
        decoder.feed(&stream, |received| out.push(own(received)));
        // Without the silence, a wrong LEN includes bytes of the next packet, and one LRC in 256 is then correct by
        // chance.
        decoder.silence(|received| out.push(own(received)));
        prop_assert!(!out.contains(&Out::Message(Nad::Reader, false, message)));
        decoder.feed(&hex::decode("010002900093").unwrap(), |received| out.push(own(received)));
        prop_assert_eq!(out.last(), Some(&Out::Message(Nad::Reader, false, vec![0x90, 0x00])));
    }
}

#[test]
fn packets_of_the_other_nad_may_stand_between() {
    let first = bytes_of(Nad::Reader, false, &[7; 20], 10);
    let second = bytes_of(Nad::Base, true, &[8; 20], 10);
    let (a, b) = first.split_at(14);
    let (c, d) = second.split_at(14);
    let stream = [a, c, b, d].concat();
    assert_eq!(
        decode([&stream[..]]),
        [Out::Message(Nad::Reader, false, vec![7; 20]), Out::Message(Nad::Base, true, vec![8; 20])]
    );
}

#[test]
fn a_mixed_chain_is_broken_and_the_newer_message_lives() {
    let first = bytes_of(Nad::Reader, false, &[7; 20], 10);
    let second = bytes_of(Nad::Reader, true, &[8; 10], 10);
    let stream = [&first[..14], &second[..]].concat();
    assert_eq!(
        decode([&stream[..]]),
        [Out::Fault(LinkFault::BrokenChain(Nad::Reader)), Out::Message(Nad::Reader, true, vec![8; 10])]
    );
}

#[test]
fn a_reader_that_died_in_a_packet_does_not_swallow_the_next_one() {
    // LEN says 254, but only ten bytes arrive. The reader then restarts and sends a whole packet.
    let stream = hex::decode("0100FE E4820123500D56495341 010002900093".replace(' ', "")).unwrap();
    let mut out = Vec::new();
    let mut decoder = Decoder::default();
    decoder.feed(&stream, |received| out.push(own(received)));
    assert_eq!(out, []);
    assert!(decoder.is_unfinished());
    decoder.silence(|received| out.push(own(received)));
    let lost = Out::Fault(LinkFault::Garbage { bytes: 13 });
    let next = Out::Message(Nad::Reader, false, vec![0x90, 0x00]);
    assert_eq!(out, [lost.clone(), next.clone()]);
    // Even without silence the decoder recovers, if enough bytes follow.
    let stream = [&stream[..13], &hex::decode("010002900093").unwrap().repeat(60)].concat();
    let out = decode([&stream[..]]);
    assert_eq!(out[0], lost);
    assert_eq!(&out[1..], vec![next; 60]);
}

#[test]
fn a_packet_lost_from_a_chain_costs_the_chain() {
    let stream = bytes_of(Nad::Reader, false, &[7; 30], 10);
    let mut damaged = stream;
    damaged[14 + 5] ^= 1;
    let out = decode([&damaged[..]]);
    // The last packet looks like a whole message. The bytes around its TLVs show that it is only a part.
    assert_eq!(
        out,
        [
            Out::Fault(LinkFault::Garbage { bytes: 14 }),
            Out::Fault(LinkFault::BrokenChain(Nad::Reader)),
            Out::Message(Nad::Reader, false, vec![7; 10])
        ]
    );
}

#[test]
fn a_message_over_the_bound_is_dropped_to_its_end() {
    let mut stream = bytes_of(Nad::Reader, false, &vec![7; MAX_MESSAGE + 1], 254);
    assert_eq!(decode([&bytes_of(Nad::Reader, false, &vec![7; MAX_MESSAGE], 254)[..]]).len(), 1);
    stream.extend(bytes_of(Nad::Reader, false, &vec![9; 20_000], 254));
    stream.extend(bytes_of(Nad::Reader, false, &[8; 4], 254));
    assert_eq!(
        decode([&stream[..]]),
        [
            Out::Fault(LinkFault::TooLong(Nad::Reader)),
            Out::Fault(LinkFault::TooLong(Nad::Reader)),
            Out::Message(Nad::Reader, false, vec![8; 4])
        ]
    );
}

#[test]
fn no_packet_of_a_chain_has_one_byte_and_a_command_fits_one_packet() {
    for length in 2..600 {
        for size in [0, 3, 4, 253, 254, 255] {
            let packets: Vec<_> = chain(Nad::Reader, false, &vec![7; length], size).unwrap().collect();
            assert!(packets.iter().all(|packet| packet.len() >= MIN_PACKET), "{length} in {size}");
        }
    }
    assert!(chain(Nad::Reader, false, &[7], 254).is_err());
    assert!(command(&[7; 254]).is_ok());
    assert!(command(&[7; 255]).is_err());
    assert!(command(&[7]).is_err());
}
