//! Tests against third-party bytes: captures and test data of open-source clients, and examples from the specification.
//! Our code must encode messages to the same bytes, and refuse messages that are wrong in their source. If a test here
//! fails, the code is wrong.
//!
//! Sources: mathiasfrey/ecrterm (serial), EVerest/zvt, bezahl-online/zvt, Portalum.Zvt (TCP), PA00P015 13.08.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_protocols::zvt::answer::{self, Reply, TerminalMessage, Wording};
use pos_protocols::zvt::apdu::{Apdu, ApduError, Control, Splitter};
use pos_protocols::zvt::bmp::{Fields, Order};
use pos_protocols::zvt::command::{Command, Guarded, Password, ReceiptNumber, Registration, receipt_number};
use pos_protocols::zvt::serial::{self, Frames, Heard};
use pos_protocols::zvt::tlv;

#[path = "../../test-kit/src/world/pcap.rs"]
#[allow(unreachable_pub, reason = "the worlds call it from outside")]
mod pcap;

fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text.replace([' ', '\n'], "")).unwrap()
}

fn apdu(text: &str) -> Apdu {
    Apdu::decode(&bytes(text)).unwrap()
}

fn command(text: &str) -> Command {
    if let Some(mut stream) = pcap::Stream::begin() {
        stream.till_says(&bytes(text));
    }
    let read = Command::read(&apdu(text)).unwrap();
    // A second pass gives the same result, in any order of the fields.
    assert_eq!(Command::read(&read.apdu()).map(|again| again.apdu()), Ok(read.apdu()), "{text}");
    read
}

/// Reads a command and checks that a simulated till writes the same bytes.
fn written(text: &str) -> Command {
    let read = command(text);
    assert_eq!(hex::encode(read.apdu().encode()), hex::encode(bytes(text)));
    read
}

fn told(text: &str) -> TerminalMessage {
    if let Some(mut stream) = pcap::Stream::begin() {
        stream.terminal_says(&bytes(text));
    }
    TerminalMessage::read(&apdu(text)).unwrap()
}

const SERIAL: &[(&str, &str)] = &[
    ("1002 06 00 06 12 34 56 BA 09 78 1003 24C3", "06 00 06 12 34 56 BA 09 78"),
    ("1002 06 93 03 12 34 56 1003 CAA4", "06 93 03 12 34 56"),
    ("1002 06 01 0A 04 00 00 00 01 10 10 00 49 09 78 1003 F2FF", "06 01 0A 04 00 00 00 01 10 00 49 09 78"),
    ("1002 06 70 00 1003 D9F9", "06 70 00"),
    ("1002 80 00 00 1003 F51F", "80 00 00"),
    ("1002 84 9C 00 1003 C341", "84 9C 00"),
    ("1002 06 18 00 1003 563A", "06 18 00"),
    ("1002 05 01 03 12 34 56 1003 E043", "05 01 03 12 34 56"),
    ("1002 06 0F 0B F0 F0 F7 32 2E 31 34 2E 31 35 00 1003 B111", "06 0F 0B F0 F0 F7 32 2E 31 34 2E 31 35 00"),
    (
        "1002 06 D1 17 00 202020202020202020 4B617373656E7363686E697474 1003 2F07",
        "06 D1 17 00 202020202020202020 4B617373656E7363686E697474",
    ),
    ("1002 06 0F 00 1003 C633", "06 0F 00"),
    ("1002 04 FF 01 0A 1003 F57D", "04 FF 01 0A"),
    ("1002 06 1E 01 6C 1003 C9F2", "06 1E 01 6C"),
    ("1002 84 83 00 1003 918E", "84 83 00"),
    ("1002 06 01 07 04 00 00 00 00 12 50 1003 2DF7", "06 01 07 04 00 00 00 00 12 50"),
];

#[test]
fn frames_of_a_serial_line_are_those_of_others() {
    for (frame, whole) in SERIAL {
        let frame = bytes(frame);
        let mut frames = Frames::new();
        assert_eq!(frames.next(&mut frame.as_slice()), Some(Heard::Frame(apdu(whole))), "{whole}");
        assert_eq!(hex::encode(serial::encode(&apdu(whole))), hex::encode(&frame), "{whole}");
    }
    assert_eq!(serial::crc(b"123456789"), 0x2189);
}

#[test]
fn tills_commands_are_read_as_they_are_meant() {
    let Command::Registration(it) = written("06 00 06 12 34 56 DE 09 78") else { panic!("no registration") };
    assert_eq!((it.password, it.config, it.currency), (Password(123_456), 0xDE, Some([0x09, 0x78])));
    let registration = "06 00 14 00 00 00 9E 09 78 06 0C 26 04 0A 02 06 D3 1F 73 03 00 00 00";
    let Command::Registration(it) = written(registration) else { panic!("no registration") };
    assert!(it.wants_message_numbers() && it.permits(Control::PRINT_BLOCK));
    for recommended in
        ["06 00 10 12 34 56 BE 09 78 03 01 06 06 26 04 0A 02 06 D3", "06 00 0A 12 34 56 3E 09 78 03 01 06 00"]
    {
        let Command::Registration(it) = written(recommended) else { panic!("no registration") };
        assert!(it.has_tlv() && it.hears_intermediate());
    }
    let reserve = "06 22 1E 19 40 49 09 78 04 00 00 00 00 25 00 06 10 E9 0E 1F 62 02 41 43 1F 63 06 33 38 34 48 48 32";
    let Command::PreAuthorisation(fields) = command(reserve) else { panic!("no pre-authorisation") };
    assert_eq!((fields.number(0x04), fields.byte(0x19)), (Ok(Some(2500)), Some(0x40)));
    assert_eq!(fields.tlv(&[0xE9, 0x1F62]), Some(&b"AC"[..]));
    let part =
        "06 23 21 19 40 87 04 91 49 09 78 04 00 00 00 00 12 95 06 10 E9 0E 1F 62 02 41 43 1F 63 06 4D 46 32 32 34 36";
    let Command::PartialReversal(fields) = command(part) else { panic!("no partial reversal") };
    assert_eq!((fields.number(0x04), receipt_number(&fields)), (Ok(Some(1295)), Ok(Some(ReceiptNumber::Is(491)))));
    let Command::PreAuthorisationReversal(fields) = command("06 25 08 19 40 87 02 31 49 09 78") else {
        panic!("no reversal")
    };
    assert_eq!(receipt_number(&fields), Ok(Some(ReceiptNumber::Is(231))));
    let Command::EndOfDay(it) = written("06 50 03 12 34 56") else { panic!("no end of day") };
    assert_eq!(it, Guarded { password: Some(Password(123_456)), fields: Fields::default() });
    let Command::ReadCard(fields) = command("06 C0 0F 0F 19 10 FC 02 06 08 1F 15 01 D0 1F 60 01 07") else {
        panic!("no read card")
    };
    assert_eq!((fields.byte(0x19), fields.tlv(&[0x1F60])), (Some(0x10), Some(&[7][..])));
    let Command::Authorisation(fields) = written("06 01 07 04 00 00 00 00 10 00") else { panic!("no authorisation") };
    assert_eq!(fields.number(0x04), Ok(Some(1000)));
    let Command::Authorisation(fields) = command("06 01 09 04 00 00 00 00 33 00 02 0A") else { panic!("none") };
    assert_eq!((fields.number(0x04), fields.byte(0x02)), (Ok(Some(3300)), Some(10)));
    // The length in the specification (0C) is wrong, because the data have 20 bytes.
    let data = "04 00 00 00 00 01 00 49 09 78 19 44 06 06 1F 73 03 00 00 01";
    let numbered = Apdu::new(Control::AUTHORISATION, bytes(data));
    let Ok(Command::Authorisation(fields)) = Command::read(&numbered) else { panic!("no authorisation") };
    assert_eq!(fields.tlv(&[0x1F73]), Some(&[0, 0, 1][..]));
    assert!(Apdu::decode(&bytes(&format!("06 01 0C {data}"))).is_err());
}

#[test]
fn terminals_messages_are_read_and_ours_are_the_same_bytes() {
    let nothing = Wording { minutes: None, text: None };
    assert_eq!(answer::intermediate(0x17, nothing), apdu("04 FF 01 17"));
    assert_eq!(told("04 FF 01 17"), TerminalMessage::Intermediate(0x17));
    for (completion, status_byte, terminal) in [
        ("06 0F 0A 19 10 29 52 52 35 35 49 09 78", 0x10, "52523535"),
        ("06 0F 0A 19 00 29 29 00 10 06 49 09 78", 0x00, "29001006"),
    ] {
        let TerminalMessage::Completion(data) = told(completion) else { panic!("no completion") };
        let fields = Fields::of_terminal(&data).unwrap();
        assert_eq!(
            (fields.byte(0x19), hex::encode(fields.get(0x29).unwrap())),
            (Some(status_byte), terminal.to_owned())
        );
        assert_eq!(answer::completion(&fields), apdu(completion));
    }
    let mut open = Fields::default();
    open.set(0x87, [0xFF, 0xFF]);
    assert_eq!(answer::abort(0xB8, &open), apdu("06 1E 04 B8 87 FF FF"));
    assert_eq!(answer::abort(0x6C, &Fields::default()), apdu("06 1E 01 6C"));
    assert_eq!(answer::completion_of_enquiry(None, 0xDC, None), apdu("06 0F 01 DC"));
    // Status 0A, a T4 of one minute, and a text whose letters the till decodes.
    let lines = "Karte vorhalten\neinstecken/durchziehen";
    let text = hex::encode(lines);
    let TerminalMessage::Intermediate(0x0A) = told(&format!("04 FF 2E 0A 01 06 2A 24 28 07 26 {text}")) else {
        panic!("none")
    };
    let declined = "04 0F 31 27 05 29 29 00 10 06 3C F0 F1 F5 4B6172746520616267656C65686E74 \
                    8A 0D 06 13 24 11 07 0F 4B6172746520616267656C65686E74";
    let TerminalMessage::Status(fields) = told(declined) else { panic!("no status") };
    assert_eq!((fields.byte(0x27), fields.byte(0x8A)), (Some(5), Some(0x0D)));
    let TerminalMessage::Status(fields) = told("04 0F 07 27 6C 29 29 00 10 06") else { panic!("no status") };
    assert_eq!(answer::status(&fields, Order::Table), apdu("04 0F 07 27 6C 29 29 00 10 06"));
    let good = "04 0F 77 27 00 04 00 00 00 00 20 40 0B 00 04 70 0C 22 39 53 0D 10 06 0E 25 12 17 00 01 19 70 \
                22 F0 F8 EE EE EE EE EE EE 47 71 29 28 00 48 69 2A 31 30 30 34 36 31 37 36 33 20 20 20 20 20 20 \
                3B 36 31 31 38 30 34 00 00 3C F0 F1 F4 47 45 4E 2E 4E 52 2E 3A 36 31 31 38 30 34 49 09 78 87 04 70 \
                88 00 04 70 8A 2E 8B F1 F7 44 65 62 69 74 20 4D 61 73 74 65 72 63 61 72 64 00";
    let TerminalMessage::Status(fields) = told(good) else { panic!("no status") };
    assert_eq!(
        (fields.number(0x04), fields.number(0x87), fields.byte(0x8A)),
        (Ok(Some(2040)), Ok(Some(470)), Some(0x2E))
    );
    assert_eq!(fields.get(0x22).map(|pan| pan[6..].to_vec()), Some(vec![0x47, 0x71]));
    assert_eq!(fields.get(0x3C), Some(&b"GEN.NR.:611804"[..]));
    assert_eq!(answer::status(&fields, Order::Ascending), apdu(good));
    let sums = "04 0F 4D 27 00 04 00 00 00 00 09 58 0B 00 09 82 0D 04 06 0C 08 17 06 60 F0 F5 F3 02 33 02 34 \
                00 000000000000 00 000000000000 02 000000000958 00 000000000000 00 000000000000 00 000000000000 \
                00 000000000000";
    let TerminalMessage::Status(fields) = told(sums) else { panic!("no status") };
    let mut cards = [answer::CardTotal::default(); 7];
    cards[2] = answer::CardTotal { count: 2, sum: 958 };
    assert_eq!(fields.get(0x60), Some(answer::totals([233, 234], &cards).0.as_slice()));
}

#[test]
fn goods_that_are_given_out_later_are_answered_so() {
    let reply = |text| Reply::read(&apdu(text)).unwrap();
    assert_eq!(reply("84 9C 00"), Some(Reply::Later));
    assert_eq!(reply("84 9D 07 04 00 00 00 00 22 00"), Some(Reply::Part(2200)));
    assert_eq!((reply("80 00 00"), reply("84 00 00")), (Some(Reply::Ok), Some(Reply::Ok)));
    assert_eq!(reply("80 00 08 06 06 1F 73 03 00 00 01"), Some(Reply::Ok));
    assert_eq!(reply("06 0F 00"), None);
}

#[test]
fn a_text_block_in_fragments_is_one() {
    // Portalum, ReceiveHandlerTest. The APDU's length is little-endian, and the lengths of its TLVs are big-endian.
    let text = vec![b'x'; 600];
    let mut lines = Vec::new();
    for chunk in text.chunks(40) {
        tlv::push(&mut lines, 0x09, &[0x40]);
        tlv::push(&mut lines, 0x07, chunk);
    }
    let mut container = Vec::new();
    tlv::push(&mut container, 0x1F07, &[2]);
    tlv::push(&mut container, 0x25, &lines);
    let mut data = vec![0x06, 0x82];
    data.extend(u16::try_from(container.len()).unwrap().to_be_bytes());
    data.extend(&container);
    let mut stream = vec![0x06, 0xD3, 0xFF];
    stream.extend(u16::try_from(data.len()).unwrap().to_le_bytes());
    stream.extend(&data);
    for size in [1, 7, 64, 650] {
        let mut splitter = Splitter::default();
        let mut found = Vec::new();
        for chunk in stream.chunks(size) {
            let mut left = chunk;
            found.extend(std::iter::from_fn(|| splitter.next(&mut left)));
        }
        assert_eq!(found.len(), 1);
        let Ok(TerminalMessage::Block(lines, false)) = TerminalMessage::read(&found[0]) else { panic!("no block") };
        assert_eq!(lines.len(), 15);
    }
    let long = [bytes("04 0F FF 00 01"), vec![0; 256]].concat();
    assert_eq!(Apdu::decode(&long).unwrap().data.len(), 256);
}

#[test]
fn lengths_that_are_wrong_in_their_source_are_refused() {
    // bezahl 1617177992186PT and 1617181236803PT have 27h and 72 bytes. Portalum Parse_AbortViaTimeout has 44h and 37
    // bytes.
    for (length, there) in [(0x27, 72), (0x44, 37)] {
        let wrong = [vec![0x04, 0x0F, length], vec![0; there]].concat();
        let announced = usize::from(length);
        assert_eq!(Apdu::decode(&wrong), Err(ApduError::Length { control: Control::STATUS, announced, there }));
    }
    let registration = Registration { password: Password(0), config: 6, currency: None, fields: Fields::default() };
    assert_eq!(Command::Registration(registration).apdu().encode(), bytes("06 00 04 00 00 00 06"));
}
