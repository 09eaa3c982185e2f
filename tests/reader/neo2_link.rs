//! Properties of the NEO2 link's decoder: any split of the stream, noise around frames, lengths that are wrong, and a
//! peer that sends arbitrary bytes.

use pos_reader_link::neo2_link::{
    HeaderKind, MAX_DATA, MAX_FRAME, MIN_FRAME, Neo2Decoder, Neo2Direction, Neo2EncodeError, Neo2Frame, Neo2LinkFault,
    Neo2Received, encode, encode_frame,
};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq)]
enum Out {
    Frame(HeaderKind, u8, u8, Vec<u8>),
    Fault(Neo2LinkFault),
}

fn own(received: Neo2Received<'_>) -> Out {
    match received {
        Neo2Received::Frame(Neo2Frame { header, command, sub_or_status, data }) => {
            Out::Frame(header, command, sub_or_status, data.to_vec())
        }
        Neo2Received::Fault(fault) => Out::Fault(fault),
    }
}

fn decode<'a>(direction: Neo2Direction, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Out> {
    let mut out = Vec::new();
    let mut decoder = Neo2Decoder::new(direction);
    for piece in pieces {
        decoder.feed(piece, |received| out.push(own(received)));
    }
    decoder.silence(|received| out.push(own(received)));
    assert!(!decoder.is_unfinished());
    out
}

fn bytes_of(direction: Neo2Direction, out: &Out) -> Vec<u8> {
    let Out::Frame(header, command, sub_or_status, data) = out else { panic!("a frame") };
    let frame = Neo2Frame { header: *header, command: *command, sub_or_status: *sub_or_status, data };
    encode_frame(direction, &frame).unwrap().to_vec()
}

fn direction() -> impl Strategy<Value = Neo2Direction> {
    prop_oneof![Just(Neo2Direction::Command), Just(Neo2Direction::Response)]
}

fn frame() -> impl Strategy<Value = Out> {
    let header = prop_oneof![4 => Just(HeaderKind::Vivotech2), 1 => Just(HeaderKind::VivopayV3)];
    (header, any::<u8>(), any::<u8>(), prop::collection::vec(any::<u8>(), 0..900))
        .prop_map(|(header, command, second, data)| Out::Frame(header, command, second, data))
}

/// Generates bytes in which no header can begin.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>().prop_filter("a header begins with V", |byte| *byte != b'V'), 1..700)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_encoded_and_split_anywhere_is_decoded(
        direction in direction(),
        frames in prop::collection::vec(frame(), 1..6),
        cuts in prop::collection::vec(1usize..400, 1..40),
    ) {
        let stream: Vec<u8> = frames.iter().flat_map(|frame| bytes_of(direction, frame)).collect();
        let mut pieces = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, later) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = later;
        }
        prop_assert_eq!(decode(direction, pieces), frames);
    }

    #[test]
    fn noise_before_and_between_frames_is_skipped_and_counted(
        direction in direction(),
        before in noise(),
        one in frame(),
        between in noise(),
        two in frame(),
        after in noise(),
        cut in 1usize..300,
    ) {
        let stream =
            [before.clone(), bytes_of(direction, &one), between.clone(), bytes_of(direction, &two), after.clone()].concat();
        let lost = |noise: &[u8]| Out::Fault(Neo2LinkFault::Garbage { bytes: noise.len() });
        let expected = [lost(&before), one, lost(&between), two, lost(&after)];
        prop_assert_eq!(decode(direction, stream.chunks(cut)), expected);
    }

    #[test]
    fn a_frame_with_noise_in_its_header_is_lost_and_the_next_one_is_not(
        direction in direction(),
        lost in frame(),
        at in 1usize..10,
        noise in noise(),
        next in frame(),
    ) {
        let mut damaged = bytes_of(direction, &lost);
        damaged.splice(at..at, noise);
        let mut out = Vec::new();
        let mut decoder = Neo2Decoder::new(direction);
        decoder.feed(&damaged, |received| out.push(own(received)));
        decoder.silence(|received| out.push(own(received)));
        prop_assert_eq!(&out, &[Out::Fault(Neo2LinkFault::Garbage { bytes: damaged.len() })]);
        decoder.feed(&bytes_of(direction, &next), |received| out.push(own(received)));
        prop_assert_eq!(out.last(), Some(&next));
    }

    #[test]
    fn anything_is_decoded_the_same_in_any_split_and_stays_bounded(
        direction in direction(),
        parts in prop::collection::vec(
            prop_oneof![
                3 => Just(b"ViVOtech2\0".to_vec()),
                1 => Just(b"ViVOpayV3\0".to_vec()),
                1 => Just(b"ViVO".to_vec()),
                2 => Just(vec![0; 3]),
                4 => prop::collection::vec(any::<u8>(), 0..40),
            ],
            0..120,
        ),
        cut in 1usize..300,
    ) {
        let stream = parts.concat();
        let whole = decode(direction, [&stream[..]]);
        prop_assert_eq!(&decode(direction, stream.chunks(cut)), &whole);
        let mut bytes = 0;
        for out in &whole {
            bytes += match out {
                Out::Frame(_, _, _, data) => {
                    prop_assert!(data.len() <= MAX_DATA);
                    MIN_FRAME + data.len()
                }
                Out::Fault(Neo2LinkFault::Garbage { bytes }) => *bytes,
            };
        }
        prop_assert_eq!(bytes, stream.len(), "every byte belongs to a frame or is reported");
    }

    #[test]
    fn one_wrong_bit_never_gives_the_frame_and_after_a_silence_never_costs_the_next(
        direction in direction(),
        frame in frame(),
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
    ) {
        let mut stream = bytes_of(direction, &frame);
        let at = at.index(stream.len());
        stream[at] ^= 1 << bit;
        let next = Out::Frame(HeaderKind::Vivotech2, 0x18, 0, vec![]);
        let mut out = Vec::new();
        let mut decoder = Neo2Decoder::new(direction);
        decoder.feed(&stream, |received| out.push(own(received)));
        decoder.silence(|received| out.push(own(received)));
        prop_assert!(!out.contains(&frame));
        decoder.feed(&bytes_of(direction, &next), |received| out.push(own(received)));
        prop_assert_eq!(out.last(), Some(&next));
    }
}

#[test]
fn a_length_that_lies_hides_the_next_frame_only_until_a_silence() {
    let next = Out::Frame(HeaderKind::Vivotech2, 0x18, 0, vec![]);
    let ping = bytes_of(Neo2Direction::Response, &next);
    // LEN says 4096 and 20 bytes follow. The reader then restarts and sends a whole frame.
    let stream = [b"ViVOtech2\0\x02\x00\x10\x00".as_slice(), &[7; 20]].concat();
    let mut out = Vec::new();
    let mut decoder = Neo2Decoder::new(Neo2Direction::Response);
    decoder.feed(&stream, |received| out.push(own(received)));
    decoder.feed(&ping, |received| out.push(own(received)));
    assert_eq!(out, []);
    assert!(decoder.is_unfinished());
    decoder.silence(|received| out.push(own(received)));
    let lost = Out::Fault(Neo2LinkFault::Garbage { bytes: stream.len() });
    assert_eq!(out, [lost.clone(), next.clone()]);
    assert!(!decoder.is_unfinished());
    // Even without silence the decoder recovers, if enough bytes follow.
    let many = [stream, ping.repeat(300)].concat();
    let out = decode(Neo2Direction::Response, [&many[..]]);
    assert_eq!(out[0], lost);
    assert_eq!(&out[1..], vec![next.clone(); 300]);
    // A LEN over the bound is refused at once, without any silence.
    for length in [[0x10, 0x01], [0xFF, 0xFF]] {
        let head = [b"ViVOtech2\0\x02\x00".as_slice(), &length].concat();
        let mut out = Vec::new();
        let mut decoder = Neo2Decoder::new(Neo2Direction::Response);
        decoder.feed(&[&head[..], &ping[..]].concat(), |received| out.push(own(received)));
        assert_eq!(out, [Out::Fault(Neo2LinkFault::Garbage { bytes: head.len() }), next.clone()]);
    }
}

#[test]
fn a_flood_of_headers_ends_and_every_byte_is_reported() {
    // Each header promises the longest frame, so each of them is checked in full.
    let flood = b"ViVOtech2\0\x02\x00\x10\x00".repeat(2_000);
    assert_eq!(
        decode(Neo2Direction::Response, flood.chunks(64)),
        [Out::Fault(Neo2LinkFault::Garbage { bytes: flood.len() })]
    );
    let flood = vec![b'V'; 100_000];
    assert_eq!(
        decode(Neo2Direction::Command, [&flood[..]]),
        [Out::Fault(Neo2LinkFault::Garbage { bytes: flood.len() })]
    );
}

#[test]
fn a_frame_inside_the_data_of_another_is_data() {
    let ping = encode(Neo2Direction::Response, 0x18, 0, &[]).unwrap();
    let outer = encode(Neo2Direction::Response, 0x02, 0, &ping).unwrap();
    let expected = Out::Frame(HeaderKind::Vivotech2, 0x02, 0, ping.to_vec());
    assert_eq!(decode(Neo2Direction::Response, outer.chunks(1)), [expected]);
    // If the outer frame is damaged, the inner one is found.
    let mut damaged = outer.to_vec();
    damaged[10] ^= 1;
    let found = Out::Frame(HeaderKind::Vivotech2, 0x18, 0, vec![]);
    let lost = |bytes| Out::Fault(Neo2LinkFault::Garbage { bytes });
    assert_eq!(decode(Neo2Direction::Response, [&damaged[..]]), [lost(14), found, lost(2)]);
}

#[test]
fn the_longest_frame_fits_and_a_longer_one_is_refused() {
    for direction in [Neo2Direction::Command, Neo2Direction::Response] {
        let frame = Out::Frame(HeaderKind::Vivotech2, 0x02, 0x00, vec![7; MAX_DATA]);
        let bytes = bytes_of(direction, &frame);
        assert_eq!(bytes.len(), MAX_FRAME);
        assert_eq!(decode(direction, bytes.chunks(1000)), [frame]);
        let refused = encode(direction, 0x02, 0x00, &[7; MAX_DATA + 1]);
        assert_eq!(refused, Err(Neo2EncodeError::TooLong { bytes: MAX_DATA + 1 }));
    }
}

#[test]
fn the_other_direction_is_refused_except_for_call_backs() {
    for (command, is_taken) in [(0x02, false), (0x60, false), (0x62, false), (0x61, true)] {
        let from_host = encode(Neo2Direction::Command, command, 0x01, &[1, 2, 3]).unwrap();
        let out = decode(Neo2Direction::Response, [&from_host[..]]);
        let frame = Out::Frame(HeaderKind::Vivotech2, command, 0x01, vec![1, 2, 3]);
        assert_eq!(out == [frame], is_taken, "{command:02X}");
        let from_reader = encode(Neo2Direction::Response, command, 0x01, &[1, 2, 3]).unwrap();
        let lost = Out::Fault(Neo2LinkFault::Garbage { bytes: from_reader.len() });
        assert_eq!(decode(Neo2Direction::Command, [&from_reader[..]]), [lost]);
    }
}

#[test]
fn debug_shows_no_data() {
    let data = *b"4761739001010119";
    let frame = Neo2Frame { header: HeaderKind::Vivotech2, command: 0x02, sub_or_status: 0x00, data: &data };
    assert_eq!(format!("{frame:?}"), "Neo2Frame(Vivotech2, 02-00, 16 bytes)");
    assert_eq!(format!("{:?}", Neo2Received::Frame(frame)), "Frame(Neo2Frame(Vivotech2, 02-00, 16 bytes))");
}
