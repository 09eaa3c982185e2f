//! Frames as shown in documents (readers: 2.13). They are never edited to make a test pass: if a test fails here, the
//! code no longer matches the wire format.

use pos_reader::LocalTime;
use pos_reader::miura::message::{
    AnswerTemplate, ApplicationChoice, CardStatus, ContinueData, DeviceInfoAnswer, DeviceStatus, GetDynamicTip,
    GetNumericData, GetSecureData, MpiCommand, OnlinePinAnswer, P2peStatus, PinBlock, ResetAnswer, ResetKind,
    ShownAmount, SoftwareVersion, SredBlock, StatusWord, TransactionAnswer, TransactionData, TypedCardAnswer,
    UnsolicitedMessage, encode_numeric, last_sealed, parse_numeric, search, split, status, tags,
};
use pos_reader_link::apdu_link::{Decoder, LinkFault, Nad, Received, chain};

fn hex(text: &str) -> Vec<u8> {
    hex::decode(text.replace([' ', '\n'], "")).unwrap()
}

/// Returns the messages (unsolicited, bytes) and faults of a stream that is followed by silence.
fn decode(stream: &[u8]) -> (Vec<(bool, Vec<u8>)>, Vec<LinkFault>) {
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    let mut on = |received: Received<'_>| match received {
        Received::Message(message) => messages.push((message.unsolicited, message.bytes.to_vec())),
        Received::Fault(fault) => faults.push(fault),
    };
    let mut decoder = Decoder::default();
    decoder.feed(stream, &mut on);
    decoder.silence(&mut on);
    (messages, faults)
}

/// Returns the only message of a correct stream.
fn one(stream: &str) -> (bool, Vec<u8>) {
    let (mut messages, faults) = decode(&hex(stream));
    assert_eq!((messages.len(), faults), (1, vec![]), "{stream}");
    messages.remove(0)
}

const AT: LocalTime = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 56 };
const TERMS: TransactionData =
    TransactionData { transaction_type: 0, amount: [0, 0, 0, 0, 0x04, 0x56], currency: [0x08, 0x26], at: AT };

#[test]
fn captured_packets_are_taken() {
    assert_eq!(one("01 00 06 10 11 12 13 90 00 97"), (false, hex("101112139000")));
    assert_eq!(one("01 40 06 10 11 12 13 90 00 D7"), (true, hex("101112139000")));
    assert_eq!(one("01 00 02 50 60 33"), (false, hex("5060")));
    // A chained packet is not a message until the last packet of its chain has arrived.
    let (messages, faults) = decode(&hex("01 01 06 10 11 12 13 90 00 96"));
    assert_eq!((messages.len(), faults), (0, vec![LinkFault::BrokenChain(Nad::Reader)]));
    assert_eq!(
        one("01 01 06 10 11 12 13 90 00 96  01 00 06 10 11 12 13 90 00 97"),
        (false, hex("101112139000 101112139000"))
    );
    assert_eq!(
        one("01 41 06 10 11 12 13 90 00 D6  01 40 06 10 11 12 13 90 00 D7"),
        (true, hex("101112139000 101112139000"))
    );
}

#[test]
fn wrong_packets_are_refused() {
    // Each packet is the captured one with one wrong byte. Its LRC is corrected, unless the LRC is the fault.
    for (what, packet) in [
        ("NAD 00", "00 00 06 10 11 12 13 90 00 96"),
        ("NAD 03", "03 00 06 10 11 12 13 90 00 95"),
        ("PCB FF", "01 FF 06 10 11 12 13 90 00 68"),
        ("PCB 02", "01 02 06 10 11 12 13 90 00 95"),
        ("LEN 00", "01 00 00 10 11 12 13 90 00 91"),
        ("LEN 01", "01 00 01 10 11 12 13 90 00 90"),
        ("LEN FF", "01 00 FF 10 11 12 13 90 00 6E"),
        ("LEN too small", "01 00 05 10 11 12 13 90 00 97"),
        ("LEN too large", "01 00 07 10 11 12 13 90 00 97"),
        ("LRC 00", "01 00 06 10 11 12 13 90 00 00"),
        ("Bluefin's GET DEVICE INFO", "01 00 04 D0 02 00 00 D4"),
    ] {
        let bytes = hex(packet);
        assert_eq!(decode(&bytes), (vec![], vec![LinkFault::Garbage { bytes: bytes.len() }]), "{what}");
    }
    assert!(one("01 00 04 D2 D0 00 00 07").1 == hex("D2D00000"), "VIPA's own example is right");
}

#[test]
fn commands_are_written_and_read_bit_by_bit() {
    let masked = b";476173******0010=1512201**********?*";
    let authentication = hex("11223344556677883030");
    let script = hex("72129F1804000000018609842400000411223344");
    let host = |arc, authentication, scripts| MpiCommand::Continue(ContinueData::Host { arc, authentication, scripts });
    for (frame, command) in [
        ("010004D0000000D5", MpiCommand::Reset(ResetKind::Soft)),
        ("010004D0000100D4", MpiCommand::Reset(ResetKind::Hard)),
        ("010004D0010000D4", MpiCommand::GetConfiguration),
        ("010004D0020000D7", MpiCommand::GetDeviceInfo),
        ("010004EEE000000B", MpiCommand::P2peStatus),
        ("010004D0601F00AA", MpiCommand::CardStatus { flags: 0x1F }),
        ("010004D0600000B5", MpiCommand::CardStatus { flags: 0x00 }),
        ("010004D0610101B4", MpiCommand::Keyboard { keys: 1, light: 1 }),
        ("010004D0620000B7", MpiCommand::BatteryStatus),
        ("010004D0100000C5", MpiCommand::ClockGet),
        ("010004D0FF00002A", MpiCommand::Abort),
        ("010012D01000000DE00B9A032501319F210312345674", MpiCommand::ClockSet(AT)),
        ("01000AD20100010548656C6C6F9E", MpiCommand::DisplayText { light: true, utf8: false, text: b"Hello" }),
        (
            "01002DDED1000028E0269C01009F02060000000004569A032501319F2103123456DFA2040101DFA20301005F2A02082687",
            MpiCommand::StartTransaction(TERMS),
        ),
        (
            "010023DEC100001EE01C9C01009F02060000000004569A032501319F21031234565F2A02082693",
            MpiCommand::StartContactless { transaction: TERMS, language: None, timeout: None },
        ),
        ("01000BDED2000006E0048A0230306C", host(*b"00", None, &[])),
        ("01000BDED2000006E0048A025A3107", host(*b"Z1", None, &[])),
        (
            "01002BDED2000026E0248A023030910A1122334455667788303072129F1804000000018609842400000411223344D2",
            host(*b"00", Some(&authentication), &script),
        ),
        (
            "010044DED601003FE03D9F02060000000004565004564953415F2A020826DFAE22253B3437363137332A2A2A2A2A2A303031303D313531323230312A2A2A2A2A2A2A2A2A2A3F2A37",
            MpiCommand::OnlinePin {
                amount: TERMS.amount,
                currency: TERMS.currency,
                label: b"VISA",
                masked_track2: masked,
            },
        ),
        (
            "010017D204000112E010DFA20606000100020003DFA20702060222",
            MpiCommand::GetNumeric(GetNumericData {
                light: true,
                prompts: [0, 1, 0, 2, 0, 3],
                format: [6, 2],
                money: None,
                timeout: None,
            }),
        ),
    ] {
        assert_eq!(hex::encode_upper(command.encode().unwrap()), frame, "{command:?}");
        let (_, apdu) = one(frame);
        assert!(MpiCommand::parse(&apdu) == Ok(command), "{command:?} read back");
    }
}

#[test]
fn answers_are_written_and_read_bit_by_bit() {
    let answer = |frame: &str, body: &[u8]| {
        let (unsolicited, message) = one(frame);
        assert!(!unsolicited);
        assert_eq!(hex::encode_upper(body), hex::encode_upper(&message), "{frame}");
        let frames: Vec<_> = chain(Nad::Reader, false, body, 254).unwrap().collect();
        assert_eq!(hex::encode_upper(&frames[0]), frame);
        message
    };
    let message = answer("010009E105DFAE01010790000A", &P2peStatus::ALL.encode().unwrap());
    assert_eq!(P2peStatus::parse(split(&message).unwrap().0), Ok(P2peStatus(0x07)));

    let (block, ksn) = (hex("8B68AF72199529B8"), hex("FFFF0102628D12000001"));
    let pin = OnlinePinAnswer::Entered(PinBlock { block: &block, ksn: &ksn });
    let message =
        answer("01001EE11ADFAE04088B68AF72199529B8DFAE050AFFFF0102628D120000019000AB", &pin.encode().unwrap());
    assert_eq!(OnlinePinAnswer::parse(split(&message).unwrap().0), Ok(pin));
    let message = answer("0100030890009A", &OnlinePinAnswer::Cancelled.encode().unwrap());
    assert_eq!(OnlinePinAnswer::parse(split(&message).unwrap().0), Ok(OnlinePinAnswer::Cancelled));

    let message = answer("01000BE107DFA2080331323390003A", &encode_numeric(b"123").unwrap());
    assert_eq!(parse_numeric(split(&message).unwrap().0), Ok(&b"123"[..]));

    let software = |name: &str, version: &str| SoftwareVersion { name: name.into(), version: version.into() };
    let reset = ResetAnswer {
        serial: "04000203".into(),
        software: vec![software("M000-MPI", "1-51"), software("M000-OS", "9-7")],
    };
    let message = answer(
        "010035E1319F1E083034303030323033EF12DF0D084D3030302D4D5049DF7F04312D3531EF10DF0D074D3030302D4F53DF7F03392D37900081",
        &reset.encode().unwrap(),
    );
    assert_eq!(ResetAnswer::parse(split(&message).unwrap().0), Ok(reset));

    for (frame, code) in [
        ("0100029F43DF", StatusWord::CARD_INSERTED),
        ("0100029F44D8", StatusWord::CARD_SWIPED),
        ("0100029F42DE", StatusWord::CONTACTLESS_TIMEOUT),
        ("0100029F41DD", StatusWord::CANCELLED),
        ("0100029F30AC", StatusWord::CARD_READ_ERROR),
        ("0100029FE07C", StatusWord::NO_PIN_KEY),
        ("010002900093", StatusWord::OK),
    ] {
        assert_eq!(split(&answer(frame, &status(code))), Ok((&[][..], code)));
    }
}

#[test]
fn the_second_name_is_the_version_in_old_base_firmware() {
    // The answer in the source comment (RPI unit), and the same answer with the quirk of RPI 1-1: DF0D instead of DF7F.
    for version in ["DF7F", "DF0D"] {
        let body = hex(&format!(
            "E130 9F1E083034303030323033 EF11DF0D084D3130302D525049{version}03312D32 EF10DF0D074D3130302D4F53{version}03312D36"
        ));
        let reset = ResetAnswer::parse(&body).unwrap();
        let [rpi, os] = &reset.software[..] else { panic!("two pieces of software") };
        assert_eq!((reset.serial.as_str(), rpi.name.as_str(), rpi.version.as_str()), ("04000203", "M100-RPI", "1-2"));
        assert_eq!((os.name.as_str(), os.version.as_str()), ("M100-OS", "1-6"));
    }
}

#[test]
fn unsolicited_messages_are_written_and_read_bit_by_bit() {
    let none = CardStatus { slot: 0, stripe: 0, atr: None, sealed: None, masked_track2: None, clear_tracks: false };
    let device = |code, text, pin_status| {
        UnsolicitedMessage::Device(DeviceStatus { code, text, digits: None, pin_status, tries_left: None })
    };
    let atr = hex("3B6500002063CB6800");
    for (frame, event) in [
        ("01 40 14 E6 10 C3 01 02 C4 06 50 49 4E 20 4F 4B DF A1 02 01 02 90 00 3D", device(2, b"PIN OK", Some(2))),
        ("014013E60FC30101C40A506F7765726564204F6E900079", device(1, b"Powered On", None)),
        (
            "014013E10F4802030063093B6500002063CB68009000B1",
            UnsolicitedMessage::Card(CardStatus { slot: 3, atr: Some(&atr), ..none }),
        ),
        ("014008E10448020000900076", UnsolicitedMessage::Card(none)),
        ("014009E005DFA205011B90005F", UnsolicitedMessage::Key(0x1B)),
    ] {
        let (unsolicited, message) = one(frame);
        assert!(unsolicited);
        assert_eq!(UnsolicitedMessage::parse(split(&message).unwrap().0), Ok(event));
        let written = event.encode().unwrap();
        let packet = chain(Nad::Reader, true, &written, 254).unwrap().next().unwrap();
        assert_eq!(hex::encode_upper(packet), frame.replace(' ', ""));
    }
    // Bodies from the vendor's test, without frames.
    let both_tracks = CardStatus { slot: 3, stripe: 2, ..none };
    assert_eq!(UnsolicitedMessage::parse(&hex("E10448020302")), Ok(UnsolicitedMessage::Card(both_tracks)));
    assert_eq!(UnsolicitedMessage::parse(&hex("E605DFA4010103")), Ok(UnsolicitedMessage::Printer(3)));
    assert_eq!(UnsolicitedMessage::parse(&hex("E10DDFAB0109736F6D657468696E67")), Ok(UnsolicitedMessage::Other));
}

const SWIPE: &str = "0140BCE181B748020007DFAE027872212907C9B93D919511254CA428CE061009857EC1F129D3DE63CBF9F7D5452C36C961C881A11E84EF2F7D6C223C12CF2CC55A87AFC2D097F57D07BFF787A997CA5DB3E0FE46AF9C7C37580459EE6F6065CAD8E1BDACAE01B8ED4E06D232485F3B7A72C88119E3DF27F3553284411FCC8DC25EFC8ECF4AFADFAE030A00000200000055400182DFAE22253B3437363137332A2A2A2A2A2A303031303D313531323230312A2A2A2A2A2A2A2A2A2A3F2A9000FE";

#[test]
fn the_swipe_event_gives_the_published_cryptogram() {
    let data = hex(
        "72212907C9B93D919511254CA428CE061009857EC1F129D3DE63CBF9F7D5452C36C961C881A11E84EF2F7D6C223C12CF2CC55A87AFC2D097F57D07BFF787A997CA5DB3E0FE46AF9C7C37580459EE6F6065CAD8E1BDACAE01B8ED4E06D232485F3B7A72C88119E3DF27F3553284411FCC8DC25EFC8ECF4AFA",
    );
    let ksn = hex("00000200000055400182");
    let (unsolicited, message) = one(SWIPE);
    assert!(unsolicited);
    let event = UnsolicitedMessage::Card(CardStatus {
        slot: 0,
        stripe: 7,
        atr: None,
        sealed: Some(SredBlock { data: &data, ksn: &ksn }),
        masked_track2: Some(b";476173******0010=1512201**********?*"),
        clear_tracks: false,
    });
    assert!(UnsolicitedMessage::parse(split(&message).unwrap().0) == Ok(event));
    let packet = chain(Nad::Reader, true, &event.encode().unwrap(), 254).unwrap().next().unwrap();
    assert_eq!(hex::encode_upper(packet), SWIPE);
}

const TAP_1: &str = "0101FEE4820123500D5649534120454C454354524F4E5F20175649534120434445542032312F434152443035202020205F2A0208405F340111820200008407A00000000320109A031505119C01009F02060000000006959F0607A00000000320109F090200019F100706011103A000009F1A0200569F1C0831323334353637389F1E0831303030333236389F260852A5A96394EDA96D9F2701809F3303E0B8C89F3501229F360200069F3704A4428D7A9F410400000289DF280100DF30020301DFAE021885D6E511F8844CEA0DC72883180AC081AF4593A8A3C5FDD8DFAE030AFFFF0102628D1100005EDFAE5712476173FFFFFFFFF2234D151220114524040FDFD0";
const TAP_2: &str = "01002BAE021892FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5DFAE030AFFFF0102628D1100005F900025";

#[test]
fn a_chained_answer_is_put_together_even_when_cut_in_a_tag() {
    let (unsolicited, message) = one(&format!("{TAP_1}{TAP_2}"));
    let (body, code) = split(&message).unwrap();
    let outcome = TransactionAnswer::parse(body).unwrap();
    assert_eq!((unsolicited, code, outcome.template), (false, StatusWord::OK, AnswerTemplate::Online));
    assert_eq!(search(body, tags::KERNEL_MODE).unwrap(), Some(&hex("0301")[..]));
    // If there are two sealed blocks, the last pair counts.
    let sealed = last_sealed(body).unwrap().unwrap();
    assert_eq!(hex::encode_upper(sealed.data), "92FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5");
    assert_eq!(hex::encode_upper(sealed.ksn), "FFFF0102628D1100005F");
    let frames: Vec<_> =
        chain(Nad::Reader, false, &outcome.encode().unwrap(), 254).unwrap().map(hex::encode_upper).collect();
    assert_eq!(frames, [TAP_1, TAP_2]);
}

#[test]
fn the_card_s_last_word_is_read() {
    for (frame, template, tlvs) in [
        (
            "010022E31E8A0230309F260811223344556677889F270140950500000000009B02E8009000E7",
            AnswerTemplate::Approved,
            "8A0230309F260811223344556677889F270140950500000000009B02E800",
        ),
        ("010008E5048A025A3190009B", AnswerTemplate::Declined, "8A025A31"),
    ] {
        let (_, message) = one(frame);
        let tlvs = hex(tlvs);
        let outcome = TransactionAnswer::new(template, &tlvs);
        assert!(TransactionAnswer::parse(split(&message).unwrap().0).as_ref() == Ok(&outcome));
        assert_eq!(&outcome.encode().unwrap()[..], message);
    }
    // A message with a gap after a lost packet is not an outcome.
    let (_, message) = one(&format!("{TAP_1}{TAP_2}"));
    for cut in [&message[..250], &message[254..], &[&message[..100], &message[150..]].concat()[..]] {
        assert!(TransactionAnswer::parse(&cut[..cut.len() - 2]).is_err());
    }
}

#[test]
fn a_command_of_more_than_249_bytes_of_data_is_refused() {
    let script = [0u8; 249];
    for (bytes, fits) in [(249 - 7, true), (250 - 7, false)] {
        // The data begins with E0 81 xx 8A 02 xx xx, seven bytes before the scripts.
        let scripts = &script[..bytes];
        let host = MpiCommand::Continue(ContinueData::Host { arc: *b"00", authentication: None, scripts });
        assert_eq!(host.encode().is_ok(), fits, "{bytes}");
    }
}

/// Checks commands for typing on the reader (readers: 2.9, 2.10). No captures exist, so the bytes and the LRC are
/// assembled by hand from the description.
#[test]
fn commands_for_typing_are_written_and_read_bit_by_bit() {
    let money = ShownAmount { currency: [0x08, 0x26], exponent: 2, amount: TERMS.amount, line: 2 };
    let tip = GetDynamicTip {
        total: false,
        percentages: [10, 15, 20, GetDynamicTip::OTHER],
        template: 1,
        currency: [0x08, 0x26],
        exponent: 2,
        amount: TERMS.amount,
    };
    for (frame, command) in [
        (
            "010034D20400012FE02DDFA20606000100000000DFA207020A025F2A0208265F3601029F0206000000000000DFA20E0102DFFF0102001EE9",
            MpiCommand::GetNumeric(GetNumericData {
                light: true,
                prompts: [0, 1, 0, 0, 0, 0],
                format: [10, 2],
                money: Some(ShownAmount { amount: [0; 6], ..money }),
                timeout: Some(30),
            }),
        ),
        (
            "010026D205010021E01FDFA217040A0F14FFDFA21801015F2A0208265F3601029F020600000000045630",
            MpiCommand::GetTip(tip),
        ),
        (
            "010026D205000021E01FDFA217040A0F14FFDFA21801015F2A0208265F3601029F020600000000045631",
            MpiCommand::GetTip(GetDynamicTip { total: true, ..tip }),
        ),
        ("010004D2E0000037", MpiCommand::SecureData(GetSecureData::Clear)),
        ("010004D2E0020035", MpiCommand::SecureData(GetSecureData::Encrypt)),
        (
            "010033D2E0010B2EE02CDFA2100101DFA206060004000000009F02060000000004565F2A0208265F360102DFA20E0102DFFF0102003C69",
            MpiCommand::SecureData(GetSecureData::Ask {
                element: GetSecureData::PAN,
                flags: 0x0B,
                prompts: [0, 4, 0, 0, 0, 0],
                money: Some(money),
                timeout: Some(60),
            }),
        ),
        (
            "010016D2E0010311E00FDFA2100104DFA20606000A00000000C6",
            MpiCommand::SecureData(GetSecureData::Ask {
                element: GetSecureData::EXPIRY,
                flags: 0x03,
                prompts: [0, 0x0A, 0, 0, 0, 0],
                money: None,
                timeout: None,
            }),
        ),
        ("010016D25A000111E00FDFA2100101DFA2060600040000000074", MpiCommand::SecurePan { prompts: [0, 4, 0, 0, 0, 0] }),
        (
            "010016DED2000011E00F4F07A000000003101050045649534157",
            MpiCommand::Continue(ContinueData::Choose(ApplicationChoice {
                aid: &[0xA0, 0, 0, 0, 3, 0x10, 0x10],
                label: Some(b"VISA"),
            })),
        ),
        ("01000ADED2000005E003C0010020", MpiCommand::Continue(ContinueData::Decision(0))),
        (
            "010029DEC1000024E0229C01009F02060000000004569A032501319F21031234565F2A020826DFA20C026465EF",
            MpiCommand::StartContactless { transaction: TERMS, language: Some(*b"de"), timeout: None },
        ),
    ] {
        assert_eq!(hex::encode_upper(command.encode().unwrap()), frame, "{command:?}");
        let (_, apdu) = one(frame);
        assert!(MpiCommand::parse(&apdu) == Ok(command), "{command:?} read back");
    }
}

#[test]
fn a_typed_card_and_capabilities_are_read() {
    let (_, message) = one(
        "010042E13EDFA208103437363137332A2A2A2A2A2A30303130DFAE021892FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5DFAE030AFFFF0102628D1100005F900028",
    );
    let typed = TypedCardAnswer::parse(split(&message).unwrap().0).unwrap();
    assert_eq!(typed.masked_pan, b"476173******0010");
    assert_eq!(hex::encode_upper(typed.sealed.unwrap().ksn), "FFFF0102628D1100005F");
    assert_eq!(format!("{typed:?}"), "TypedCard(16 places, sealed true)");

    let (_, message) =
        one("01002AE126EF0EDF0D0B436F6E746163746C657373EF14DF0D0D457874656E6465642041504455DF7F01319000BE");
    let info = DeviceInfoAnswer::parse(split(&message).unwrap().0).unwrap();
    let capabilities = vec![("Contactless".into(), None), ("Extended APDU".into(), Some("1".into()))];
    assert_eq!(info, DeviceInfoAnswer { capabilities });
    assert_eq!(&info.encode().unwrap()[..], message);
}

/// Checks a command with a three-byte Lc in two packets of 254 and 65 bytes (readers: 2.1).
#[test]
fn a_long_command_is_chained() {
    let script = hex(&format!("7282012C{}", "AA".repeat(300)));
    let command = MpiCommand::Continue(ContinueData::Host { arc: *b"00", authentication: None, scripts: &script });
    assert!(command.encode().is_err() && command.packets(false).is_err());
    let packets = command.packets(true).unwrap();
    let head = "0101FEDED20000000138E08201348A0230307282012C";
    let first = format!("{head}{}63", "AA".repeat(254 - 19));
    let last = format!("010041{}EA", "AA".repeat(65));
    let written: Vec<String> = packets.iter().map(hex::encode_upper).collect();
    assert_eq!(written, [first.clone(), last.clone()]);
    let (_, apdu) = one(&format!("{first}{last}"));
    assert!(MpiCommand::parse(&apdu) == Ok(command), "read back");
    // Data that fits in one packet is sent in the form for old devices. There is a maximum length.
    let short = MpiCommand::Continue(ContinueData::Host { arc: *b"00", authentication: None, scripts: &[] });
    assert_eq!(short.packets(true).unwrap()[..], [short.encode().unwrap()]);
    // The data has 1017 bytes: E0 82 xx xx, 8A 02 30 30, 72 82 xx xx and 1005 bytes.
    for (bytes, fits) in [(1005, true), (1006, false)] {
        let script = [&hex("7282")[..], &u16::try_from(bytes).unwrap().to_be_bytes(), &vec![0xAA; bytes]].concat();
        let command = MpiCommand::Continue(ContinueData::Host { arc: *b"00", authentication: None, scripts: &script });
        let packets = command.packets(true);
        assert_eq!(packets.is_ok(), fits, "{bytes}");
        if let Ok(packets) = packets {
            assert_eq!(packets.len(), 5);
            assert!(packets.iter().map(|packet| packet.len() - 4).eq([254, 254, 254, 254, 8]));
        }
    }
}
