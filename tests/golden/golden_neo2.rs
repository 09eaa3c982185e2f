//! Frames of NEO2 as shown in documents (readers: 4.5). They are never edited to make a test pass: if a test fails
//! here, the code no longer matches the wire format.

use pos_reader::LocalTime;
use pos_reader::neo2::message::{
    Activation, ContactStart, Fallback, HostResponse, Interface, Interfaces, KeySlot, ManualFlags, Neo2CardAnswer,
    Neo2Command, Neo2MessageError, ResultCode, StandardMessage, StripeBlock, TransactionTerms, has_clear_card_data,
    masked_block_pan,
};
use pos_reader_link::neo2_link::{
    HeaderKind, Neo2Decoder, Neo2Direction, Neo2Frame, Neo2LinkFault, Neo2Received, encode,
};
use pos_terms::card::EntryMode;

fn hex(text: &str) -> Vec<u8> {
    hex::decode(text.replace([' ', '\n'], "")).unwrap()
}

/// CMD, the second byte, and the data.
type OwnedFrame = (u8, u8, Vec<u8>);

/// Returns the frames and faults of a stream that is followed by silence.
fn decode(direction: Neo2Direction, stream: &[u8]) -> (Vec<OwnedFrame>, Vec<Neo2LinkFault>) {
    let (mut frames, mut faults) = (Vec::new(), Vec::new());
    let mut on = |received: Neo2Received<'_>| match received {
        Neo2Received::Frame(frame) => frames.push((frame.command, frame.sub_or_status, frame.data.to_vec())),
        Neo2Received::Fault(fault) => faults.push(fault),
    };
    let mut decoder = Neo2Decoder::new(direction);
    decoder.feed(stream, &mut on);
    decoder.silence(&mut on);
    (frames, faults)
}

/// Frames from the manual (readers: 4.5).
const CAPTURED: [(Neo2Direction, &str, u8, u8, &str); 8] = [
    (Neo2Direction::Command, "5669564F7465636832001801 0000 B3CD", 0x18, 0x01, ""),
    (Neo2Direction::Response, "5669564F7465636832001800 0000 FA83", 0x18, 0x00, ""),
    (Neo2Direction::Command, "5669564F7465636832000101 0001 01 D734", 0x01, 0x01, "01"),
    (Neo2Direction::Response, "5669564F7465636832000100 0000 1253", 0x01, 0x00, ""),
    (Neo2Direction::Command, "5669564F7465636832000201 0001 0A 6E6B", 0x02, 0x01, "0A"),
    (Neo2Direction::Command, "5669564F7465636832000302 0000 5B91", 0x03, 0x02, ""),
    (Neo2Direction::Response, "5669564F7465636832002C00 0000 1C9B", 0x2C, 0x00, ""),
    (
        Neo2Direction::Command,
        "5669564f746563683200024000221e9c01009f02060000000001009f0306000000000000dfef370107dfef3c0301006018d1",
        0x02,
        0x40,
        "1e9c01009f02060000000001009f0306000000000000dfef370107dfef3c03010060",
    ),
];

/// Frames that were computed from the rules (readers: 4.5).
const COMPUTED: [(Neo2Direction, &str, u8, u8, &str); 4] = [
    (Neo2Direction::Command, "5669564F74656368320029000000DEA0", 0x29, 0x00, ""),
    (Neo2Direction::Command, "5669564F7465636832001201000018A5", 0x12, 0x01, ""),
    (Neo2Direction::Command, "5669564F7465636832000501000092EF", 0x05, 0x01, ""),
    (Neo2Direction::Command, "5669564F7465636832000340000096E2", 0x03, 0x40, ""),
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
            let lost = vec![Neo2LinkFault::Garbage { bytes: wrong.len() }];
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
        let lost = vec![Neo2LinkFault::Garbage { bytes: end }];
        assert_eq!(decode(direction, &swapped), (vec![], lost.clone()), "{command:02X}-{second:02X}");
        // The same frame in the other direction has the other order, so it is refused there.
        let other = if direction == Neo2Direction::Command { Neo2Direction::Response } else { Neo2Direction::Command };
        assert_eq!(decode(other, &frame), (vec![], lost), "{command:02X}-{second:02X}");
        assert_eq!(decode(other, &swapped).0.len(), 1, "{command:02X}-{second:02X}");
    }
}

const TERMS: TransactionTerms = TransactionTerms {
    transaction_type: 0,
    amount: [0, 0, 0, 0, 0x01, 0],
    other_amount: Some([0; 6]),
    currency: None,
    at: None,
};

/// Reads a frame of the host as a command.
fn command_of<R>(frame: &[u8], then: impl FnOnce(Result<Neo2Command<'_>, Neo2MessageError>) -> R) -> R {
    let (frames, faults) = decode(Neo2Direction::Command, frame);
    let [(command, sub_or_status, data)] = &frames[..] else { panic!("one frame, not {faults:?}") };
    let frame = Neo2Frame { header: HeaderKind::Vivotech2, command: *command, sub_or_status: *sub_or_status, data };
    then(Neo2Command::parse(&frame))
}

#[test]
fn published_commands_are_written_and_read_bit_by_bit() {
    let activation = Activation {
        timeout_s: 30,
        terms: TERMS,
        interfaces: Some(Interfaces::ALL),
        fallback: Some(Fallback { is_allowed: true, next_command_s: 0x60 }),
    };
    for (frame, command) in [
        ("5669564F7465636832001801 0000 B3CD", Neo2Command::Ping),
        ("5669564F7465636832000101 0001 01 D734", Neo2Command::PollMode { on_demand: true }),
        (CAPTURED[7].1, Neo2Command::Activate(activation)),
        ("5669564F74656368320029000000DEA0", Neo2Command::FirmwareVersion),
        ("5669564F7465636832001201000018A5", Neo2Command::SerialNumber),
        ("5669564F7465636832000501000092EF", Neo2Command::Cancel),
        ("5669564F7465636832000340000096E2", Neo2Command::GetResult),
    ] {
        assert_eq!(&command.encode().unwrap()[..], hex(frame), "{command:?}");
        command_of(&hex(frame), |read| assert!(read == Ok(command), "{command:?} read back"));
    }
    // 02-01 and 03-02 are published, but the driver does not use them.
    for (frame, code) in [(CAPTURED[4].1, 0x0201), (CAPTURED[5].1, 0x0302)] {
        command_of(&hex(frame), |read| assert!(read == Err(Neo2MessageError::UnknownCommand(code))));
    }
}

/// Checks commands without published frames. Their data are assembled by hand from the description (readers: 4.2).
#[test]
fn other_commands_are_written_and_read_bit_by_bit() {
    const AT: LocalTime = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 0 };
    let terms = TransactionTerms { other_amount: None, currency: Some([0x08, 0x26]), at: Some(AT), ..TERMS };
    let scripts = hex("72099F180400000001860071049F180101");
    let (midnight, first) = (LocalTime { hour: 0, minute: 0, ..AT }, LocalTime { year: 0, month: 1, day: 1, ..AT });
    for (code, data, command) in [
        (
            [0x60, 0x10],
            "01 003C 0060 9C0100 9F0206000000000100 5F2A020826 9A03250131 9F2103123400",
            Neo2Command::StartContact(ContactStart { fallback: true, card_s: 60, next_command_s: 0x60, terms }),
        ),
        ([0x60, 0x11], "", Neo2Command::Authenticate { next_command_s: None }),
        ([0x60, 0x11], "0060", Neo2Command::Authenticate { next_command_s: Some(0x60) }),
        (
            [0x60, 0x12],
            "8A023030 910A11223344556677883030 72099F180400000001860071049F180101",
            Neo2Command::ApplyHostResponse(HostResponse {
                arc: *b"00",
                authentication: Some(&[0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x30, 0x30]),
                scripts: &scripts,
            }),
        ),
        (
            [0x60, 0x12],
            "8A025A31",
            Neo2Command::ApplyHostResponse(HostResponse { arc: *b"Z1", authentication: None, scripts: &[] }),
        ),
        ([0x01, 0x02], "0100FF00", Neo2Command::ShowMessage { message: StandardMessage::PRESENT_CARD, beep: 0 }),
        ([0x61, 0x01], "01010002", Neo2Command::Displayed { mode: 1, choice: Some(2) }),
        ([0x61, 0x01], "010000", Neo2Command::Displayed { mode: 1, choice: None }),
        ([0x61, 0x02], "00", Neo2Command::RefusePin),
        ([0x62, 0x00], "", Neo2Command::CancelKeypad),
        ([0x62, 0x01], "01000C0403 50494E", Neo2Command::EncryptedPin { most: 12, least: 4, message: b"PIN" }),
        ([0x83, 0x41], "003C2500", Neo2Command::ManualPan { timeout_s: 60, flags: ManualFlags::PAN_AND_EXPIRY }),
        ([0x81, 0x0A], "02", Neo2Command::KsnOfSlot { slot: 2 }),
        ([0x81, 0x0B], "02012C", Neo2Command::Ksn(KeySlot { key: KeySlot::DATA, slot: 300 })),
        ([0x81, 0x0C], "", Neo2Command::KeyInfo),
        ([0x81, 0x0D], "010000", Neo2Command::KeyHeader(KeySlot { key: KeySlot::PIN, slot: 0 })),
        ([0xC7, 0x37], "", Neo2Command::EncryptionSwitch),
        ([0xC7, 0xA3], "", Neo2Command::KeyAttribution),
        ([0x25, 0x01], "1234", Neo2Command::SetTime(first)),
        ([0x25, 0x02], "", Neo2Command::GetTime),
        ([0x25, 0x03], "20250131", Neo2Command::SetDate(midnight)),
        ([0x25, 0x04], "", Neo2Command::GetDate),
    ] {
        let frame = encode(Neo2Direction::Command, code[0], code[1], &hex(data)).unwrap();
        assert_eq!(hex::encode_upper(command.encode().unwrap()), hex::encode_upper(&frame), "{command:?}");
        command_of(&frame, |read| assert!(read == Ok(command), "{command:?} read back"));
    }
}

#[test]
fn a_command_with_too_long_scripts_is_refused() {
    for (length, fits) in [(1024 - 4, true), (1024 - 3, false)] {
        let scripts = vec![0; length];
        let response = HostResponse { arc: *b"00", authentication: None, scripts: &scripts };
        assert_eq!(Neo2Command::ApplyHostResponse(response).encode().is_ok(), fits, "{length}");
    }
    let text = [b'x'; 256];
    assert!(Neo2Command::EncryptedPin { most: 12, least: 4, message: &text }.encode().is_err());
}

/// A swipe of a test card at a VP3350, the answer to 02-40, as a gateway publishes it (developers.bluefin.com, ID TECH
/// VP3350, 2025). The CRC, the XOR and the sum in it are right.
const SWIPE: &str = "
    5669564f74656368320002000179e8dfee25020011dfee23820138023201801f4f2800a39b252a343736312a2a2a2a2a2a2a2a303034335e
    554154205553412f5445535420434152442030322020202020205e323431322a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a
    2a2a3f2a3b343736312a2a2a2a2a2a2a2a303034333d323431322a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a3f2a38047053c538669d53a00c53
    8d71234ef4869898eaea0d0f92ec5ba3825ec225c29dee9b7f878b0e7afb16955678bfdd8c9f628311d2158b40bb553dca6d9a197dc7954b
    10d9c977636d49d692aed1802f33f5033ce7f7ddee87fe9b6554eade63862f1aa4f6c44f04aa91c5876875083e791b510c6d1b8900000000
    00000000000000000000000000000000000000000000000000000000000000000000000033313054303631303430ffffff0200110940000f
    ae68039f390190ffee0105dfee30010cdfee2602e8009f02060000000000009f0306000000000000df5b01059a032311169f2103202609c6
    b8";

#[test]
fn a_captured_swipe_is_read_and_sealed() {
    let (frames, faults) = decode(Neo2Direction::Response, &hex(SWIPE));
    assert_eq!((frames.len(), faults), (1, vec![]));
    let (command, status, data) = &frames[0];
    assert_eq!((*command, *status), (0x02, 0x00));
    assert!(!has_clear_card_data(data));
    let answer = Neo2CardAnswer::parse(data).unwrap();
    assert!(answer.result.is(ResultCode::SWIPED));
    assert_eq!(answer.interface(), Ok(Some(Interface::Swipe)));
    assert_eq!(answer.entry(), Ok(Some(EntryMode::Magstripe)));
    assert_eq!(answer.masked_pan.as_ref().unwrap().as_str(), "4761********0043");
    assert!(answer.swiped_card_has_chip);
    assert!(answer.amount.is(&[0; 6]) && answer.currency.is_missing());
    let sealed = answer.seal().unwrap().to_card().unwrap();
    assert_eq!(hex::encode_upper(sealed.ksn.expose()), "FFFFFF0200110940000F");
    let tracks = [
        "5F2150 38047053C538669D53A00C538D71234EF4869898EAEA0D0F92EC5BA3825EC225C29DEE9B7F878B0E7AFB16955678BFDD8C9F628311D2158B40BB553DCA6D9A197DC7954B10D9C977636D49D692AED180",
        "5F2228 2F33F5033CE7F7DDEE87FE9B6554EADE63862F1AA4F6C44F04AA91C5876875083E791B510C6D1B89",
    ];
    assert_eq!(hex::encode(sealed.data.expose()), hex::encode(hex(&tracks.concat())));
    let shown = format!("{answer:?} {sealed:?}");
    assert!(!shown.contains("4761") && !shown.to_lowercase().contains("ffffff02"), "{shown}");
    // Each single wrong bit is found by the frame's CRC.
    let frame = hex(SWIPE);
    for bit in (0..frame.len() * 8).step_by(7) {
        let mut wrong = frame.clone();
        wrong[bit / 8] ^= 0x80 >> (bit % 8);
        assert_eq!(decode(Neo2Direction::Response, &wrong).0, vec![], "{bit}");
    }
}

/// A swipe at an Augusta S in the "enhanced format" (readers: 4.5), from developers.bluefin.com, ID TECH Augusta S. The
/// XOR and the sum in it are right.
const BLOCK: &str = "
    023201801F4F2800A39B252A353431332A2A2A2A2A2A2A2A343131315E444920544553542F4341524420303420202020202020202020205E
    2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A3F2A3B353431332A2A2A2A2A2A2A2A343131313D2A2A2A2A2A
    2A2A2A2A2A2A2A2A2A2A2A2A2A2A2A3F2A6F0F25415970287199A844F416AE153B45F3838F6FA0FEDA6399AF0DB5E23880335FA51120A7EC
    89CA3D946AD27FF773C32D1D90F462EEDD17173E2E373895FAB6C4CCEB83ACEF900B81FAFBC25E87291BAB6D5740844AC8AF35B88EBA06BD
    C359DC6128B2F0867556C5CDA29CCBD1B86BD8835E2796531E00000000000000000000000000000000000000000000000000000000000000
    000000000000000000373136543439343031306299490000000A0000022B2303";

#[test]
fn a_captured_block_is_read() {
    let bytes = hex(BLOCK);
    let block = StripeBlock::parse(&bytes).unwrap();
    assert_eq!((block.kind, block.has_chip, block.is_aes), (0x80, true, false));
    assert_eq!(block.masked.map(<[u8]>::len), [0x4F, 0x28, 0]);
    assert_eq!(block.encrypted.map(<[u8]>::len), [80, 40, 0]);
    assert_eq!(block.ksn.map(hex::encode_upper).as_deref(), Some("6299490000000A000002"));
    assert_eq!(masked_block_pan(&block).unwrap().as_str(), "5413********4111");
    assert!(!has_clear_card_data(&bytes));
    for bit in 0..bytes.len() * 8 {
        let mut wrong = bytes.clone();
        wrong[bit / 8] ^= 0x80 >> (bit % 8);
        assert!(StripeBlock::parse(&wrong).is_err(), "{bit}");
    }
}
