//! The words of VIPA's traces (`trace`): answers, events and commands, with the values of the published frames
//! (readers: 3.7).

use pos_reader::vipa::message::VipaCommand;
use pos_reader::vipa::{SredForm, VipaSettings};

use crate::trace::{Player, Setup, Words, apdu, packets, t};

pub const WORDS: Words =
    Words { started: STARTED, filled, message: packets, command: |bytes| apdu(bytes).map(|apdu| shown(&apdu)) };

/// Returns the settings of a reader in Germany.
pub fn vipa() -> VipaSettings {
    VipaSettings {
        country: [0x02, 0x76],
        acquirer: "65".to_owned(),
        sred_form: SredForm::IvFirst,
        ..VipaSettings::default()
    }
}

/// Runs `script` after start-up.
pub fn play(script: &str) {
    play_with(vipa(), script);
}

/// Runs `script` after start-up with different settings.
pub fn play_with(setup: impl Into<Setup>, script: &str) {
    Player::started(setup).play(script);
}

pub const STARTED: &str = "
    0  open
       > ABORT
       < 9000
       > RESET
       < {RESET}
       > GET SECURITY CONFIGURATION
       < {KEYS}
       > DATE AND TIME E00B9A032501319F2103123456
       < 9000
       > CONTACTLESS OPEN
       < 9000
       > CARD STATUS
       < {NO_CARD}9000
       ! ready 40123456 UX301 6.8.2.19 pin-key";

/// The answer to GET SECURITY CONFIGURATION, with the KSNs of these key sets.
pub fn keys(card: bool, pin: bool) -> String {
    let card = if card { "DFDF110AFFFF98765432110010A3DFDF1208ED02AA537757D99F" } else { "" };
    let pin = if pin { "DFED030AF876543210040B800009" } else { "" };
    format!("{}9000", t("E0", &format!("DFEC46010B{pin}{card}")))
}

pub const NO_CARD: &str = "E00448020000";
pub const E3: &str = "E3178A0230309F260811223344556677889F2701409B02E8009000";
pub const E5: &str = "E5048A025A319000";
pub const CRYPTOGRAM: &str = "9F260811223344556677889F270180";
pub const MASKED: &str = "5713374245AAAAA1006D2412201AAAAAAAAAAAAAAA5A08374245AAAAA1006F";
pub const AMOUNT: &str = "9F0206000000001234";
pub const CURRENCY: &str = "5F2A020978";
pub const PIN: &str = "DFED6C08B2449FABB96D4228DFED030AF876543210040B800009";

/// The answer to RESET, which the reader sends in four packets. The length is that of the captured ones.
pub fn reset() -> String {
    let ascii = |tag: &str, text: &str| t(tag, &hex::encode(text));
    let program = |name: &str| t("EF", &[ascii("DF0D", name), ascii("DF7F", "6.8.2.19")].concat());
    let device = [
        ascii("9F1E", "40123456"),
        ascii("DF0D", "UX301"),
        ascii("DF7F", "6.8.2.19"),
        t("DF8102", "01"),
        t("DF8101", "00"),
        ascii("DFEC1F", &"component ".repeat(40)),
    ];
    let programs =
        ["RELEASE", "VSD", "AUTHAPP", "CICAPP", "GUIPROXY", "MAPP", "WATCHDOG", "CARDAPP"].map(program).concat();
    format!("{}{}{programs}9000", ascii("9F1C", "12345678"), t("EE", &device.concat()))
}

/// Makes a sealed template with this counter of the published key set.
pub fn sealed(counter: u32) -> String {
    sealed_with("DFDF1208ED02AA537757D99F", counter, "DFDB0F0400000000")
}

/// Makes a sealed template with this initial value and state.
pub fn sealed_with(iv: &str, counter: u32, state: &str) -> String {
    let data = "DFDF102031846E94DC3183BA6DC45E2A6AC6DEF03F93434756A4D0261572B5C23519BFC0";
    t("FF7F", &format!("{iv}DFDF110AFFFF9876543211{counter:06X}{data}{state}DFDB0E0400000D01"))
}

/// Makes a card's answer with its amount, its cryptogram and a sealed block. The cardholder signs, unless `more` has
/// another result.
pub fn card(template: &str, counter: u32, more: &str) -> String {
    unsealed(template, &format!("{}{more}", sealed(counter)))
}

/// Makes a card's answer without a sealed block.
pub fn unsealed(template: &str, more: &str) -> String {
    let verified = if more.contains("9F3403") { "" } else { "9F34031E0300" };
    let tlvs = format!("9F0606A00000002501{CURRENCY}{AMOUNT}95050000008000{CRYPTOGRAM}{verified}{MASKED}{more}");
    t(template, &tlvs)
}

/// Makes a request for a decision about one application.
pub fn e2(more: &str) -> String {
    let label = t("50", &hex::encode("AMERICAN EXPRESS"));
    t("E2", &format!("C10100{label}{MASKED}5F340100{}{more}", t("9F06", "A00000002501")))
}

/// The request for a decision about two applications.
pub fn list() -> String {
    let visa = format!("{}9F0607A0000000031010", t("50", &hex::encode("VISA")));
    let other = format!("{}9F0605A000000004", t("50", &hex::encode("OTHER")));
    format!("{}9000", t("E2", &format!("{visa}{other}")))
}

/// Makes the event of a swipe with this service code.
pub fn swipe(service_code: &str, counter: u32) -> String {
    t("E0", &format!("48020005{}{}", masked_track2(service_code), sealed(counter)))
}

/// Makes DFDB06 as a reader masks it, with AA for each digit.
pub fn masked_track2(service_code: &str) -> String {
    let track = [b";410039", &[0xAA; 6][..], b"9976=2504", service_code.as_bytes(), &[0xAA; 10], b"?5"].concat();
    t("DFDB06", &hex::encode(track))
}

/// Replaces the names in a script with their values.
pub fn filled(script: &str) -> String {
    let money = format!("{AMOUNT}9F0306000000000000");
    let elements = format!("{money}9A032501319C01009F2103123456{CURRENCY}9F1A020276");
    let tap = format!("> START CONTACTLESS {}", t("E0", &elements));
    let start = format!("9C0100{money}9A032501319F21031234569F1A020276{CURRENCY}DFA2140101DFA2180100");
    let start = format!("> START TRANSACTION {}", t("E0", &start));
    let terms = format!("{money}{CURRENCY}9F1A020276");
    let go_on = format!("> CONTINUE TRANSACTION {}", t("E0", &format!("{terms}C00101C2023635")));
    let host = |arc: &str, c0: &str| t("E0", &format!("{terms}8A02{arc}C001{c0}C2023635"));
    let pin = t("E0", "DFEC050100DFED040104DFED05010CDFDF1706000000001234DFDF2403455552DFDF1C0102");
    let mut text = script.to_owned();
    for (name, value) in [
        ("RESET", reset()),
        ("KEYS", keys(true, true)),
        ("NO_CARD", NO_CARD.to_owned()),
        ("CARD_IN", t("E0", "4802030063093B6500002063CB6800")),
        ("E2", format!("{}9000", e2(&sealed(0x10A4)))),
        ("E2_BARE", format!("{}9000", e2(""))),
        ("LIST", list()),
        ("E4", format!("{}9000", card("E4", 0x10A5, ""))),
        ("E4_BARE", format!("{}9000", unsealed("E4", ""))),
        ("E4_PIN", format!("{}9000", card("E4", 0x10A5, "9F3403420300"))),
        ("TAPPED", card("E4", 0x10A5, "")),
        ("E3", E3.to_owned()),
        ("E5", E5.to_owned()),
        ("PIN", format!("{}9000", t("E0", PIN))),
        ("TAP", tap),
        ("START", start),
        ("GO_ON", go_on),
        ("APPROVE", format!("> CONTINUE TRANSACTION {}", host("3030", "01"))),
        ("DECLINE", format!("> CONTINUE TRANSACTION {}", host("5A31", "00"))),
        ("APPROVE_TAP", "> CONTINUE CONTACTLESS E00B8A023030C00101C2023635".to_owned()),
        ("DECLINE_TAP", "> CONTINUE CONTACTLESS E00B8A025A31C00100C2023635".to_owned()),
        ("CHOOSE", format!("> CONTINUE TRANSACTION {}", t("E0", "5004564953419F0607A0000000031010"))),
        ("REFUSE", format!("> CONTINUE TRANSACTION {}", t("E0", &format!("{terms}C00100C2023635")))),
        ("ASK_PIN", format!("> ONLINE PIN {pin}")),
        ("CARD", "card ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature".to_owned()),
    ] {
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    text
}

/// Returns the line of a VIPA command.
fn shown(apdu: &[u8]) -> String {
    let command = VipaCommand::parse(apdu).unwrap();
    match command {
        VipaCommand::Show { text } => {
            format!("> DISPLAY {}", String::from_utf8(text.to_vec()).unwrap().replace('\n', "/"))
        }
        _ if apdu.len() > 5 => format!("> {} {}", command.name(), hex::encode_upper(&apdu[5..])),
        _ => format!("> {}", command.name()),
    }
}
