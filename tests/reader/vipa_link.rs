//! The profile of VIPA on the shared link: the bits of its packets, and the way in which long commands are cut.

use pos_reader_link::apdu_link::{Decoder, LinkFault, MAX_APDU, MAX_MESSAGE, Nad, Profile, Received, vipa_command};
use proptest::prelude::*;

fn decoded(profile: Profile, bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<LinkFault>) {
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    let mut decoder = Decoder::new(profile);
    let mut on = |received: Received<'_>| match received {
        Received::Message(message) => messages.push(message.bytes.to_vec()),
        Received::Fault(fault) => faults.push(fault),
    };
    decoder.feed(bytes, &mut on);
    decoder.silence(&mut on);
    (messages, faults)
}

fn packet(pcb: u8, apdu: &[u8]) -> Vec<u8> {
    let mut packet = vec![1, pcb, u8::try_from(apdu.len()).unwrap()];
    packet.extend(apdu);
    packet.push(packet.iter().fold(0, |lrc, byte| lrc ^ byte));
    packet
}

proptest! {
    #[test]
    fn a_command_of_any_length_arrives_whole(apdu in prop::collection::vec(any::<u8>(), 2..=1024), cut in 1_usize..400) {
        let packets = vipa_command(&apdu).unwrap();
        // The last packet of a command is never full (readers: 3.1).
        prop_assert!(packets.last().unwrap().len() < MAX_APDU + 4);
        for (packet, last) in packets.iter().rev().zip(std::iter::once(true).chain(std::iter::repeat(false))) {
            prop_assert_eq!(packet[1], u8::from(!last));
        }
        let bytes: Vec<u8> = packets.into_iter().flatten().collect();
        let mut decoder = Decoder::new(Profile::Vipa);
        let mut messages = Vec::new();
        for piece in bytes.chunks(cut) {
            decoder.feed(piece, |received| match received {
                Received::Message(message) => messages.push(message.bytes.to_vec()),
                Received::Fault(fault) => panic!("{fault}"),
            });
        }
        prop_assert_eq!(messages, vec![apdu]);
    }
}

#[test]
fn lengths_around_a_packet_are_cut_before_it_is_full() {
    for (length, pieces) in [
        (253, &[253][..]),
        (254, &[252, 2]),
        (255, &[253, 2]),
        (256, &[254, 2]),
        (507, &[254, 253]),
        (508, &[253, 253, 2]),
        (509, &[254, 253, 2]),
    ] {
        let packets = vipa_command(&vec![0xAA; length]).unwrap();
        let lengths: Vec<usize> = packets.iter().map(|packet| packet.len() - 4).collect();
        assert_eq!(lengths, pieces, "{length}");
    }
    assert!(vipa_command(&[0; 1025]).is_err() && vipa_command(&[0]).is_err());
}

#[test]
fn an_encrypted_line_is_named_and_disturbs_no_later_message() {
    let clear = packet(0x00, &[0x90, 0x00]);
    for (pcb, before) in [(0x02, 0), (0x03, 0), (0x42, 1), (0x43, 1)] {
        let mut bytes = Vec::new();
        if before > 0 {
            bytes.extend(packet(pcb & 0x40 | 0x01, &[1, 2, 3]));
        }
        bytes.extend(packet(pcb, &[9; 40]));
        bytes.extend(&clear);
        let (messages, faults) = decoded(Profile::Vipa, &bytes);
        assert_eq!(messages, [[0x90, 0x00]], "{pcb:02X}");
        assert_eq!(faults, [LinkFault::Encrypted(Nad::Reader)], "{pcb:02X}");
        // Miura knows no such packet.
        let (messages, faults) = decoded(Profile::Miura, &bytes);
        assert_eq!(messages, [[0x90, 0x00]], "{pcb:02X}");
        assert!(faults.iter().all(|fault| *fault != LinkFault::Encrypted(Nad::Reader)), "{pcb:02X}");
    }
}

#[test]
fn other_bits_belong_to_no_family() {
    for pcb in (0..=0xFF_u8).filter(|pcb| pcb & !0x43 != 0) {
        for profile in [Profile::Miura, Profile::Vipa] {
            assert_eq!(decoded(profile, &packet(pcb, &[0x90, 0x00])).0, [[0_u8; 0]; 0], "{pcb:02X}");
        }
    }
}

#[test]
fn a_chain_without_end_keeps_no_more_than_one_message() {
    let endless: Vec<u8> = (0..100).flat_map(|_| packet(0x41, &[0x5A; MAX_APDU])).collect();
    let (messages, faults) = decoded(Profile::Vipa, &endless);
    assert!(messages.is_empty() && endless.len() > 6 * MAX_MESSAGE);
    assert_eq!(faults, [LinkFault::TooLong(Nad::Reader), LinkFault::BrokenChain(Nad::Reader)]);
}
