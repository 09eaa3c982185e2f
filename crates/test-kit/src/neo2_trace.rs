//! The words of NEO2's traces (`trace`): answers, call-backs and commands (readers: 4).
//!
//! A message of the reader is `< CMD-STATUS DATA`, and a call-back `< 61-SUB DATA`. A command is its name with its
//! data.

use pos_reader::neo2::Neo2Settings;
use pos_reader::neo2::message::Neo2Command;
use pos_reader_link::neo2_link::{Neo2Decoder, Neo2Direction, Neo2Received, encode};

use crate::trace::{Player, Setup, Words, t};

pub const WORDS: Words = Words { started: STARTED, filled, message: |_, text| vec![frame(text)], command: shown };

/// Returns the settings of a reader on which a card number may be typed.
pub fn neo2() -> Neo2Settings {
    Neo2Settings { manual_entry: true, ..Neo2Settings::default() }
}

/// Runs `script` after start-up.
pub fn play(script: &str) {
    play_with(neo2(), script);
}

/// Runs `script` after start-up with different settings.
pub fn play_with(setup: impl Into<Setup>, script: &str) {
    Player::started(setup).play(script);
}

pub const STARTED: &str = "
    0  open
       > CANCEL
       < 05-00
       > SERIAL NUMBER
       < 12-00 {SERIAL}
       > FIRMWARE VERSION
       < 29-00 {FIRMWARE}
       > KSN 020000
       < 81-00 {KEY}
       > KSN 010000
       < 81-00 {PIN_KEY}
       > ENCRYPTION SWITCH
       < C7-00 03
       > POLL MODE 01
       < 01-00
       > KERNEL VERSION
       < 29-00 {KERNEL}
       > SET DATE 20250131
       < 25-00
       > SET TIME 1234
       < 25-00
       ! ready 30003638 VP6800 V1.01.057 pin-key";

pub const AMOUNT: &str = "9F0206000000001234";
pub const CURRENCY: &str = "5F2A020978";
/// The interface and the encryption of a chip and of a tap.
pub const CONTACT: &str = "DFEE2601C09F390105";
pub const TAP: &str = "DFEE2601C19F390107";
/// The masked and the encrypted copies of a card's track and number.
pub const SEALED: &str = "57A1124761CCCCCCCC0119D2512CCCCCCCCCCCCCCC57C118AE5BC24D0F83E39A44D3A74D8E18F0D0B1F5A7C06C8E22915AA108\
                          4761CCCCCCCC01195AC1100C9E47D1A34BF5E288D0B6917F3ACE54";

/// Makes a KSN of the published key set with this counter.
pub fn ksn(counter: u32) -> String {
    format!("FFFF9876543210{:06X}", 0x00E0_0000 + counter)
}

/// Makes the KSN element of a card.
pub fn card_ksn(counter: u32) -> String {
    t("DFEE12", &ksn(counter))
}

/// Makes a result code.
pub fn result(code: &str) -> String {
    t("DFEE25", code)
}

/// Makes a card's answer: its result, amount, cryptogram and sealed elements. The cardholder signs, unless `more` has
/// another result.
pub fn card(from: &str, code: &str, counter: u32, more: &str) -> String {
    unsealed(from, code, &format!("{}{SEALED}{more}", card_ksn(counter)))
}

/// Makes a card's answer without sealed elements.
pub fn unsealed(from: &str, code: &str, more: &str) -> String {
    let verified = if more.contains("9F3403") { "" } else { "9F34031E0300" };
    let chip = "9F0607A000000003101095050000008000";
    format!("{}{from}{chip}{CURRENCY}{AMOUNT}{CRYPTOGRAM}{verified}{more}", result(code))
}

pub const CRYPTOGRAM: &str = "9F260811223344556677889F270180";

/// Makes the fields of a swipe's or a typed card's block (readers: 4.4) into a whole block.
pub fn framed(fields: &[u8]) -> String {
    let xor = fields.iter().fold(0, |xor, byte| xor ^ byte);
    let sum = fields.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    let length = u16::try_from(fields.len()).unwrap().to_le_bytes();
    hex::encode_upper([&[2][..], &length, fields, &[xor, sum, 3]].concat())
}

/// Makes a block with this masked track 2 and an encrypted one.
pub fn block(kind: u8, masked_track2: &str, has_chip: bool, counter: u32) -> String {
    let track = masked_track2.as_bytes();
    let length = u8::try_from(track.len()).unwrap();
    let sealed: Vec<u8> = (0..length.next_multiple_of(8)).map(|n| n.wrapping_mul(37) ^ 0xA5).collect();
    let clear = if has_chip { 0x22 } else { 0x02 };
    let head = [kind, 0x02, 0, length, 0, clear, 0x82];
    framed(&[&head[..], track, &sealed, &hex::decode(ksn(counter)).unwrap()].concat())
}

/// Makes the data of a swipe with this service code.
pub fn swipe(service_code: &str, counter: u32) -> String {
    swipe_of(&block(0x80, &masked_track2(service_code), service_code.starts_with(['2', '6']), counter), "90")
}

/// Makes the data of a swipe with this block and this POS entry mode.
pub fn swipe_of(block: &str, entry_mode: &str) -> String {
    format!("{}{}{}9F3901{entry_mode}DFEE2601C8", result("0011"), t("DFEE23", block), t("DFEE30", "0C"))
}

pub fn masked_track2(service_code: &str) -> String {
    format!(";4761********0010=2512{service_code}**********?*")
}

/// Makes the data of a typed card.
pub fn typed(counter: u32) -> String {
    block(0xC0, ";4761********0010=2512?", false, counter)
}

/// Makes the data of an entered PIN. KSN and block are text.
pub fn pin(counter: u32) -> String {
    format!("00{}", hex::encode(format!("FFFF9876543211{:06X}B2449FABB96D4228", 0x00E0_0000 + counter)))
}

/// Makes the data of a key's state: valid, with its KSN.
pub fn key(counter: u32) -> String {
    format!("010A{}", ksn(counter))
}

/// Makes the data of a call-back: a text or a menu (readers: 4.2). `lines` has a number before each line.
pub fn text(mode: &str, lines: &[&str]) -> String {
    let lines = lines.join("\u{1C}");
    let length = u16::try_from(lines.len()).unwrap().to_le_bytes();
    // A time of 30 seconds, and English.
    format!("{mode}02001E000200656E{}{}", hex::encode(length), hex::encode(lines))
}

/// Makes the bytes of a message of the reader.
pub fn frame(text: &str) -> Vec<u8> {
    let (code, data) = text.split_once(' ').unwrap_or((text, ""));
    let (command, status) = code.split_once('-').unwrap_or_else(|| panic!("no CMD-STATUS: {text}"));
    let [command, status] = [command, status].map(|byte| u8::from_str_radix(byte, 16).unwrap());
    let data = hex::decode(data.replace(' ', "")).unwrap();
    encode(Neo2Direction::Response, command, status, &data).unwrap().to_vec()
}

/// The terms of a sale of 12.34 EUR.
pub fn terms() -> String {
    format!("9C0100{AMOUNT}9F0306000000000000{CURRENCY}")
}

fn activate(seconds: u8, interfaces: &str) -> String {
    format!("> ACTIVATE {seconds:02X}{}DFEF3701{interfaces}DFEF3C0301012C", terms())
}

/// Replaces the names in a script with their values. `{ACTIVATE N}` waits N seconds on every interface, and `{SLOT N}`
/// without contactless.
pub fn filled(script: &str) -> String {
    let mut text = script.to_owned();
    let seconds = if text.contains("{ACTIVATE ") || text.contains("{SLOT ") { 1..61 } else { 0..0 };
    for seconds in seconds {
        text = text.replace(&format!("{{ACTIVATE {seconds}}}"), &activate(seconds, "07"));
        text = text.replace(&format!("{{SLOT {seconds}}}"), &activate(seconds, "05"));
    }
    for (name, value) in [
        ("SERIAL", hex::encode("30003638")),
        ("FIRMWARE", hex::encode("VP6800 V1.01.057")),
        ("KERNEL", hex::encode("EMV L2 V1.00")),
        ("KEY", key(1)),
        ("PIN_KEY", key(1)),
        ("ACTIVATE", activate(60, "07")),
        ("SLOT", activate(60, "05")),
        ("START", format!("> START CONTACT 010005012C{}", terms())),
        ("GO_ON", "> AUTHENTICATE".to_owned()),
        ("APPROVE", "> APPLY HOST RESPONSE 8A023030".to_owned()),
        ("DECLINE", "> APPLY HOST RESPONSE 8A025A31".to_owned()),
        ("ASK_PIN", "> ENCRYPTED PIN 01000C0409454E5445522050494E".to_owned()),
        ("TYPE", "> MANUAL PAN 003C2500".to_owned()),
        // The wait ends with a chip that has started, and its answers.
        ("INSERTED", format!("< 02-00 {}{CONTACT}", result("0010"))),
        ("CHIP", format!("< 60-00 {}", card(CONTACT, "0004", 5, ""))),
        ("CHIP_PIN", format!("< 60-00 {}", card(CONTACT, "0004", 5, "9F3403420300"))),
        ("TC", format!("< 60-00 {}9F260811223344556677889F270140", result("0002"))),
        ("AAC", format!("< 60-00 {}9F260811223344556677889F270100", result("0003"))),
        ("TAPPED", format!("< 02-23 {}", card(TAP, "0004", 5, ""))),
        ("TAPPED_PIN", format!("< 02-23 {}", card(TAP, "0004", 5, "9F3403420300"))),
        ("PIN", format!("< 62-00 {}", pin(9))),
        ("CARD", format!("card ICC 4761********0119 GoOnline sealed 44 ksn {}", ksn(5))),
        ("TAP", format!("card NFC_ICC 4761********0119 GoOnline sealed 44 ksn {}", ksn(5))),
    ] {
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    text
}

/// Returns the line of a command.
fn shown(bytes: &[u8]) -> Option<String> {
    let mut line = None;
    Neo2Decoder::new(Neo2Direction::Command).feed(bytes, |received| {
        let Neo2Received::Frame(frame) = received else { panic!("{received:?} to the reader") };
        let name = Neo2Command::parse(&frame).unwrap().name().to_uppercase();
        assert!(line.is_none(), "two commands in one write");
        line = Some(format!("> {name} {}", hex::encode_upper(frame.data)).trim_end().to_owned());
    });
    line
}
