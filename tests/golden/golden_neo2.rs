//! Frames of NEO2 as shown in documents (readers: 4.5). They are never edited to make a test pass: if a test fails here,
//! the code no longer matches the wire format.

use pos_reader_link::neo2_link::{Decoder, Direction, LinkFault, Received, encode};

fn hex(text: &str) -> Vec<u8> {
    hex::decode(text.replace([' ', '\n'], "")).unwrap()
}

/// Returns the frames (CMD, second byte, data) and faults of a stream that is followed by silence.
fn decode(direction: Direction, stream: &[u8]) -> (Vec<(u8, u8, Vec<u8>)>, Vec<LinkFault>) {
    let (mut frames, mut faults) = (Vec::new(), Vec::new());
    let mut on = |received: Received<'_>| match received {
        Received::Frame(frame) => frames.push((frame.command, frame.sub_or_status, frame.data.to_vec())),
        Received::Fault(fault) => faults.push(fault),
    };
    let mut decoder = Decoder::new(direction);
    decoder.feed(stream, &mut on);
    decoder.silence(&mut on);
    (frames, faults)
}

/// Frames from the manual (readers: 4.5).
const CAPTURED: [(Direction, &str, u8, u8, &str); 8] = [
    (Direction::Command, "5669564F7465636832001801 0000 B3CD", 0x18, 0x01, ""),
    (Direction::Response, "5669564F7465636832001800 0000 FA83", 0x18, 0x00, ""),
    (Direction::Command, "5669564F7465636832000101 0001 01 D734", 0x01, 0x01, "01"),
    (Direction::Response, "5669564F7465636832000100 0000 1253", 0x01, 0x00, ""),
    (Direction::Command, "5669564F7465636832000201 0001 0A 6E6B", 0x02, 0x01, "0A"),
    (Direction::Command, "5669564F7465636832000302 0000 5B91", 0x03, 0x02, ""),
    (Direction::Response, "5669564F7465636832002C00 0000 1C9B", 0x2C, 0x00, ""),
    (
        Direction::Command,
        "5669564f746563683200024000221e9c01009f02060000000001009f0306000000000000dfef370107dfef3c0301006018d1",
        0x02,
        0x40,
        "1e9c01009f02060000000001009f0306000000000000dfef370107dfef3c03010060",
    ),
];

/// Frames that were computed from the rules (readers: 4.5).
const COMPUTED: [(Direction, &str, u8, u8, &str); 4] = [
    (Direction::Command, "5669564F74656368320029000000DEA0", 0x29, 0x00, ""),
    (Direction::Command, "5669564F7465636832001201000018A5", 0x12, 0x01, ""),
    (Direction::Command, "5669564F7465636832000501000092EF", 0x05, 0x01, ""),
    (Direction::Command, "5669564F7465636832000340000096E2", 0x03, 0x40, ""),
];

#[test]
fn frames_are_written_and_read_bit_by_bit() {
    for (direction, frame, command, second, data) in CAPTURED.into_iter().chain(COMPUTED) {
        let (frame, data) = (hex(frame), hex(data));
        assert_eq!(&encode(direction, command, second, &data).unwrap()[..], frame, "{command:02X}-{second:02X}");
        assert_eq!(decode(direction, &frame), (vec![(command, second, data)], vec![]), "{command:02X}-{second:02X}");
    }
}

#[test]
fn every_wrong_bit_is_refused() {
    for (direction, frame, command, second, _) in CAPTURED.into_iter().chain(COMPUTED) {
        let frame = hex(frame);
        for bit in 0..frame.len() * 8 {
            let mut wrong = frame.clone();
            wrong[bit / 8] ^= 0x80 >> (bit % 8);
            let lost = vec![LinkFault::Garbage { bytes: wrong.len() }];
            assert_eq!(decode(direction, &wrong), (vec![], lost), "{command:02X}-{second:02X}, bit {bit}");
        }
    }
}

#[test]
fn the_other_order_of_the_crc_is_refused() {
    for (direction, frame, command, second, _) in CAPTURED.into_iter().chain(COMPUTED) {
        let frame = hex(frame);
        let mut swapped = frame.clone();
        let end = frame.len();
        swapped.swap(end - 2, end - 1);
        let lost = vec![LinkFault::Garbage { bytes: end }];
        assert_eq!(decode(direction, &swapped), (vec![], lost.clone()), "{command:02X}-{second:02X}");
        // The same frame in the other direction has the other order, so it is refused there.
        let other = if direction == Direction::Command { Direction::Response } else { Direction::Command };
        assert_eq!(decode(other, &frame), (vec![], lost), "{command:02X}-{second:02X}");
        assert_eq!(decode(other, &swapped).0.len(), 1, "{command:02X}-{second:02X}");
    }
}
