//! Frames of VIPA as shown in documents (readers: 3.7). They are never edited to make a test pass: if a test fails
//! here, the code no longer matches the wire format.

use pos_reader::LocalTime;
use pos_reader::card_answer::AnswerTemplate;
use pos_reader::family::{HostAnswer, TransactionData};
use pos_reader::vipa::SredForm;
use pos_reader::vipa::message::{
    CardTemplate, ContinueTerms, OnlinePinTerms, VipaCommand, has_clear_card_data, parse_card, sealed_of,
};
use pos_reader_link::apdu_link::{Decoder, LinkFault, Profile, Received};

fn hex(text: &str) -> Vec<u8> {
    hex::decode(text.replace([' ', '\n'], "")).unwrap()
}

/// Returns the messages and faults of a stream that is followed by silence.
fn decode(stream: &[u8]) -> (Vec<Vec<u8>>, Vec<LinkFault>) {
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    let mut on = |received: Received<'_>| match received {
        Received::Message(message) => messages.push(message.bytes.to_vec()),
        Received::Fault(fault) => faults.push(fault),
    };
    let mut decoder = Decoder::new(Profile::Vipa);
    decoder.feed(stream, &mut on);
    decoder.silence(&mut on);
    (messages, faults)
}

/// Returns the only message of a correct frame.
fn one(frame: &str) -> Vec<u8> {
    let (mut messages, faults) = decode(&hex(frame));
    assert_eq!((messages.len(), faults), (1, vec![]), "{frame}");
    messages.remove(0)
}

/// Checks that a frame is this command, and that this command is written as the frame.
fn is(frame: &str, command: VipaCommand<'_>) {
    let message = one(frame);
    assert_eq!(VipaCommand::parse(&message), Ok(command), "{frame}");
    let packets: Vec<u8> = command.packets().unwrap().into_iter().flatten().collect();
    assert_eq!(hex::encode_upper(packets), frame, "{}", command.name());
}

const START: &str = "01003BDED1000036E0349C01009F02060000000032509F03060000000000009A032103039F21031957249F1A0208405F2A020840DFA2140101DFA2180100BB";
const E2: &str = "0100EAE281E5C10100FF7F4EDFDF1208ED02AA537757D99FDFDF110AFFFF98765432110010A4DFDF102031846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0DFDB0F0400000000DFDB0E0400000D015010414D45524943414E20455850524553535713374245AAAAA1006D2412201AAAAAAAAAAAAAAA5A08374245AAAAA1006F5F24032412315F25031711015F280208405F300202015F3401009F0606A000000025019F0702FF009F080200019F09020001FF7C2BDF837F20FDCC8BA35EE1901DE86A23AF78F5A636FC9E3E1541FB8ED46E34DF6C12ED1260DF837E03E7C4D99000ED";

#[test]
fn captured_commands_are_written_as_they_were() {
    let at = LocalTime { year: 21, month: 3, day: 3, hour: 19, minute: 57, second: 24 };
    let transaction =
        TransactionData { transaction_type: 0, amount: [0, 0, 0, 0, 0x32, 0x50], currency: [0x08, 0x40], at };
    is(START, VipaCommand::Start { transaction, country: [0x08, 0x40] });
    is("010004D2D0000007", VipaCommand::Language);
}

#[test]
fn computed_commands_are_written_as_they_were() {
    is("010004D0000001D4", VipaCommand::Reset);
    is("010004D0601D03AB", VipaCommand::CardStatus);
    is("010004C0000100C4", VipaCommand::ContactlessStatus);
    is("010004C0010000C4", VipaCommand::ContactlessOpen);
    is("010004C0C0000005", VipaCommand::CancelContactless);
    is("010004D0FF00002A", VipaCommand::Abort);
    for (frame, index) in [("010004D2010101D6", 0x01), ("010004D2010E01D9", 0x0E), ("010004D2010D01DA", 0x0D)] {
        is(frame, VipaCommand::ShowPrepared { index });
    }
    is("010004C4110B06DD", VipaCommand::SecurityConfiguration { slot: 0x0B, host: 0x06 });
    let at = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 56 };
    let transaction = TransactionData { transaction_type: 0, amount: [0, 0, 0, 0, 1, 0], currency: [0x08, 0x26], at };
    is(
        "010028C0A0010023E0219F02060000000001009A032501319C01009F21031234565F2A0208269F1A0208261C",
        VipaCommand::StartContactless { transaction, other: None, country: [0x08, 0x26] },
    );
    is(
        "010031DED602002CE02ADFEC050100DFED050108DFDF1706000000012300DFDF2403504C4EDFDF1C01025A0854133300890000391A",
        VipaCommand::OnlinePin(OnlinePinTerms {
            host: 2,
            min: None,
            max: 8,
            amount: [0, 0, 0, 1, 0x23, 0],
            currency: b"PLN",
            exponent: 2,
            pan: Some(&hex("5413330089000039")),
        }),
    );
    let host = HostAnswer { arc: *b"00", authentication: Some(&hex("11223344556677883030")), scripts: &[] };
    is(
        "01001EDED2000019E0178A023030910A11223344556677883030C00101C202303066",
        VipaCommand::Continue(ContinueTerms {
            host: Some(host),
            decision: Some(1),
            acquirer: Some(b"00"),
            ..ContinueTerms::default()
        }),
    );
}

#[test]
fn the_captured_error_is_a_status() {
    assert_eq!(one("0100029F24B8"), hex("9F24"));
}

#[test]
fn the_captured_e2_holds_sealed_data_and_an_application() {
    let message = one(E2);
    let (body, status) = message.split_at(message.len() - 2);
    assert_eq!(status, [0x90, 0x00]);
    assert!(!has_clear_card_data(body), "57 and 5A are masked");
    let card = CardTemplate::parse(body).unwrap();
    assert_eq!((card.template, card.magstripe_mode), (AnswerTemplate::Decision, false));
    let answer = parse_card(card, &[], SredForm::IvFirst);
    let found = answer.elements.unwrap();
    assert_eq!(found.masked_pan.unwrap().as_str(), "374245*****1006");
    let application = found.application.unwrap();
    assert_eq!((application.aid, application.label), (&hex("A00000002501")[..], Some(&b"AMERICAN EXPRESS"[..])));
    assert!(!found.several_applications && found.pin.is_none());
    let ksn = hex("FFFF98765432110010A4");
    let (iv, data) = (hex("ED02AA537757D99F"), hex("31846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0"));
    assert_eq!(found.sealed, pos_reader::card_answer::SealedBlock::new(&[&iv, &data], &ksn));
    let bare = sealed_of(body, SredForm::DataOnly).unwrap();
    assert_eq!(bare, pos_reader::card_answer::SealedBlock::new(&[&data], &ksn));
}

#[test]
fn a_flipped_bit_is_never_taken() {
    for frame in [START, E2, "0100029F24B8", "010004D2D0000007"] {
        let right = hex(frame);
        let message = one(frame);
        for bit in 0..right.len() * 8 {
            let mut wrong = right.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let (messages, _) = decode(&wrong);
            assert!(!messages.contains(&message), "bit {bit} of {frame}");
        }
    }
}
