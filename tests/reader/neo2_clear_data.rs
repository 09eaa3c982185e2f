//! Clear card data that a NEO2 reader sends ends the sale, in any answer, in any template and behind any marker
//! (readers: 4.4). Data that are encrypted wrongly, or with a key that was used before, end it too.

use crate::neo2_trace::{
    CONTACT, SEALED, TAP, block, card, card_ksn, framed, ksn, masked_track2, play, result, swipe, swipe_of, unsealed,
};
use crate::trace::t;

const DISTRUSTED: &str = "! unready clear-card-data 30003638
         20 arm 2
            ! 2 no-card NotReady
         30 closed unplugged
            ! unready absent unplugged
            reopen 0.5
         31 open
            > CANCEL";

const ARMED: &str = "
         10 arm 1
            ! 1 PresentCard
            {ACTIVATE}
         11";

const INSERTED: &str = "
         10 arm 1
            ! 1 PresentCard
            {ACTIVATE}
            {INSERTED}
            ! 1 ReadingCard
            {GO_ON}
         11";

/// Public test card numbers with 13, 15, 16 and 19 digits as in tag 5A, padded to whole bytes.
const PANS: [&str; 4] = ["4222222222222F", "374245001751006F", "4761739001010119", "6799998900000074316F"];

/// Checks the elements in each message that may have a card's data.
fn is_distrusted(more: &str) {
    for (begun, message) in [
        (ARMED, format!("< 02-23 {}", card(TAP, "0004", 5, more))),
        (ARMED, format!("< 02-00 {}{CONTACT}{more}", result("0010"))),
        (ARMED, format!("< 02-00 {}{more}", swipe("101", 5))),
        (ARMED, format!("< 02-0A {}{more}", result("3001"))),
        (INSERTED, format!("< 60-00 {}", card(CONTACT, "0004", 5, more))),
    ] {
        play(&format!("{begun} {message}\n > CANCEL\n {DISTRUSTED}"));
    }
}

fn is_read(more: &str) {
    play(&format!("{ARMED} < 02-23 {}\n ! 1 {{TAP}} Signature", card(TAP, "0004", 5, more)));
}

/// Nests the value in this many templates.
fn nested(depth: usize, value: &str) -> String {
    ["70", "FFEE01", "E1", "FF8105", "BF0C", "FF8106"]
        .iter()
        .cycle()
        .take(depth)
        .fold(value.to_owned(), |value, tag| t(tag, &value))
}

fn padded(text: String) -> String {
    if text.len() % 2 == 1 { text + "F" } else { text }
}

/// Makes an element with a marker before its length.
fn marked(tag: &str, marker: &str, value: &str) -> String {
    format!("{tag}{marker}{:02X}{value}", value.len() / 2)
}

/// Makes an "encrypted" element that has its own plaintext, filled with zeros to the cipher's block.
fn unencrypted(tag: &str, value: &str) -> String {
    let plain = t(tag, value);
    let length = (plain.len() / 2).next_multiple_of(8) * 2;
    marked(tag, "C1", &format!("{plain:0<length$}"))
}

/// Returns the masked form of a card number: six and four digits, and `mask` for each other.
fn masked(pan: &str, mask: &str) -> String {
    let digits = pan.trim_end_matches('F');
    format!("{}{}{}", &digits[..6], mask.repeat(digits.len() - 10), &digits[digits.len() - 4..])
}

fn ascii(text: &str) -> String {
    hex::encode(text)
}

#[test]
fn every_length_at_every_depth() {
    for pan in PANS {
        let digits = pan.trim_end_matches('F');
        let track2 = padded(format!("{digits}D25122011234567890"));
        let (text1, text2) = (ascii(&format!("%B{digits}^POE/ADA^2512201?")), ascii(&format!(";{digits}=2512201?")));
        for clear in [
            t("5A", pan),
            t("57", &track2),
            t("9F6B", &track2),
            t("58", &track2),
            t("56", &text1),
            t("5F21", &text1),
            t("5F22", &text2),
            t("5F23", &text2),
            t("DFEF17", &text1),
            t("DFEF18", &text2),
            t("FFEE13", &text1),
            t("FFEE14", &text2),
            t("DFEF4D", &text2),
            // A PIN block without the KSN of a PIN.
            t("99", "0412345678901234"),
        ] {
            for depth in [0, 1, 4] {
                is_distrusted(&nested(depth, &clear));
            }
        }
    }
}

#[test]
fn a_marker_is_not_believed() {
    for pan in PANS {
        let digits = pan.trim_end_matches('F');
        let track2 = padded(format!("{digits}D25122011234567890"));
        let text2 = ascii(&format!(";{digits}=2512201?"));
        for clear in [
            marked("5A", "A1", pan),
            marked("57", "A1", &track2),
            marked("9F6B", "A1", &track2),
            marked("5F22", "A1", &text2),
            unencrypted("5A", pan),
            unencrypted("57", &track2),
            marked("5F22", "C1", &text2),
        ] {
            for depth in [0, 2] {
                is_distrusted(&nested(depth, &clear));
            }
        }
    }
}

#[test]
fn a_tag_that_is_repeated_is_looked_at_each_time() {
    for tag in ["5A", "57"] {
        let hidden = marked(tag, "A1", &padded(masked(PANS[2], "C")));
        let (empty, clear) = (t(tag, ""), t(tag, PANS[2]));
        for repeated in [
            format!("{empty}{clear}"),
            format!("{clear}{empty}"),
            format!("{hidden}{clear}"),
            format!("{clear}{hidden}"),
            format!("{}{clear}", nested(2, &hidden)),
        ] {
            is_distrusted(&repeated);
        }
    }
}

/// Makes a block of which track 2 is masked or encrypted in this way.
fn block_with(masked: &[u8], encrypted: &[u8]) -> String {
    let head = [0x80, 0x02, 0, u8::try_from(masked.len()).unwrap(), 0, 0x02, 0x82];
    framed(&[&head[..], masked, encrypted, &hex::decode(ksn(5)).unwrap()].concat())
}

#[test]
fn a_clear_track_in_a_block_ends_everything() {
    for pan in PANS {
        let clear = format!(";{}=2512201?", pan.trim_end_matches('F'));
        let hidden = vec![b'*'; clear.len()];
        let sealed = vec![0xA5; clear.len().next_multiple_of(8)];
        let mut plain = clear.clone().into_bytes();
        plain.resize(sealed.len(), 0);
        for block in [block_with(clear.as_bytes(), &sealed), block_with(&hidden, &plain)] {
            play(&format!("{ARMED} < 02-00 {}\n > CANCEL\n {DISTRUSTED}", swipe_of(&block, "90")));
            // A typed card has the same block, alone or as an element.
            for data in [block.clone(), t("DFEE23", &block)] {
                play(&format!(
                    "10 manual 1
                        ! 1 TypeCard
                        {{TYPE}}
                     11 < 83-00 {data}
                        > CANCEL
                        {DISTRUSTED}"
                ));
            }
        }
        // A readable number counts even if it is in no block.
        play(&format!("{ARMED} < 02-00 {}\n > CANCEL\n {DISTRUSTED}", t("DFEE23", &ascii(&clear))));
    }
}

#[test]
fn a_clear_answer_counts_while_a_pin_is_entered_and_after_the_host_has_answered() {
    let clear = t("5A", PANS[2]);
    play(&format!(
        "{INSERTED} {{CHIP_PIN}}\n {{ASK_PIN}}\n ! 1 PinEntry {{ digits: None }}\n < 62-00 {clear}\n > CANCEL KEYPAD\n {DISTRUSTED}"
    ));
    play(&format!(
        "{INSERTED} {{CHIP}}
            ! 1 {{CARD}} Signature
            complete 1 00
            {{APPROVE}}
            < 60-00 {}{clear}
            > CANCEL
            {DISTRUSTED}",
        result("0002")
    ));
}

#[test]
fn it_counts_between_sales_and_at_the_start_too() {
    let clear = t("5A", PANS[2]);
    for code in ["02-00", "18-00", "99-02", "05-00"] {
        play(&format!("10 < {code} {clear}\n ! unready clear-card-data 30003638\n 20 arm 1\n ! 1 no-card NotReady"));
    }
    let mut player = crate::trace::Player::new(crate::neo2_trace::neo2());
    player.play(&format!(
        "0 open
           > CANCEL
           < 05-00
           > SERIAL NUMBER
           < 12-00 {{SERIAL}}
           > FIRMWARE VERSION
           < 29-00 {clear}
           ! unready clear-card-data 30003638
         9 arm 1
           ! 1 no-card NotReady"
    ));
}

#[test]
fn what_is_masked_encrypted_or_empty_is_no_card_data() {
    for pan in PANS {
        is_read(&marked("5A", "A1", &padded(masked(pan, "C"))));
        is_read(&nested(3, &marked("57", "A1", &padded(format!("{}D2512CCCCCCCCCCCC", masked(pan, "C"))))));
        is_read(&marked("5F22", "A1", &ascii(&format!(";{}=2512201?", masked(pan, "*")))));
    }
    for empty in ["5A00", "5700", "DFEF1700", "5F2200", "9900", "DFEE2300", "DFEF4D00"] {
        is_read(&nested(1, empty));
    }
    play(&format!(
        "{ARMED} < 02-00 {}
            ! 1 card MAGSTRIPE 4761********0010 GoOnline sealed 43 ksn {} Signature",
        swipe("101", 5),
        ksn(5)
    ));
}

/// Checks that a message with a gap has no meaning, so that its bytes are no card data either.
#[test]
fn what_is_damaged_is_not_believed() {
    let clear = t("5A", PANS[2]);
    play(&format!("20 < 02-00 {clear}9F02\n < 02-00 {clear}57FF\n 21 arm 1\n ! 1 PresentCard\n {{ACTIVATE}}"));
}

const NOT_ENCRYPTING: &str = "! unready not-encrypting 30003638 Nothing\n > CANCEL";
const DAMAGED: &str = "> CANCEL
            < 05-00
            ! 1 no-card Unreadable { cause: \"the reader's answer was damaged\" }
            ! idle";

#[test]
fn without_correctly_sealed_data_nothing_goes_to_the_host() {
    for more in [
        String::new(),
        // Without a KSN, and with two.
        SEALED.to_owned(),
        format!("{}{}{SEALED}", card_ksn(5), card_ksn(6)),
        // A KSN, and nothing encrypted.
        card_ksn(5),
        // A ciphertext that is empty or no whole block.
        format!("{}57C100", card_ksn(5)),
        format!("{}57C107AE5BC24D0F83E3", card_ksn(5)),
    ] {
        play(&format!("{ARMED} < 02-23 {}\n {NOT_ENCRYPTING}", unsealed(TAP, "0004", &more)));
        play(&format!("{INSERTED} < 60-00 {}\n {NOT_ENCRYPTING}", unsealed(CONTACT, "0004", &more)));
    }
}

#[test]
fn a_ciphertext_of_zeros_is_no_encryption() {
    const ZEROS: &str = "! unready not-encrypting 30003638 Zeros\n > CANCEL";
    for more in [
        format!("{}57C110{}", card_ksn(5), "00".repeat(16)),
        // Beside a good one.
        format!("{}{SEALED}56C108{}", card_ksn(5), "00".repeat(8)),
    ] {
        play(&format!("{ARMED} < 02-23 {}\n {ZEROS}", unsealed(TAP, "0004", &more)));
        play(&format!("{INSERTED} < 60-00 {}\n {ZEROS}", unsealed(CONTACT, "0004", &more)));
    }
}

#[test]
fn an_attribution_that_denies_the_encryption_is_believed() {
    for off in ["DFEE2601019F390107", "DFEE2602010A9F390107"] {
        play(&format!("{ARMED} < 02-23 {}\n {NOT_ENCRYPTING}", card(off, "0004", 5, "")));
    }
    play(&format!("{INSERTED} < 60-00 {}\n {NOT_ENCRYPTING}", card("DFEE2601009F390105", "0004", 5, "")));
}

#[test]
fn an_attribution_that_contradicts_itself_makes_the_answer_damaged() {
    for wrong in [
        // Reserved values of the cipher and of the interface.
        "DFEE2601C59F390107",
        "DFEE2601C79F390107",
        "DFEE2601D0",
        // AES, with a KSN of TDES.
        "DFEE2601C39F390107",
        // Another interface than 9F39, the source of the track, or a second attribution.
        "DFEE2601C09F390107",
        "DFEE2601C19F390105",
        "DFEE2601C1DFEE30010C",
        "DFEE2601C1DFEE2601C0",
    ] {
        play(&format!("{ARMED} < 02-23 {}\n {DAMAGED}", card(wrong, "0004", 5, "")));
    }
    // A KSN of no cipher.
    for wrong in ["", "FFFF98765432", "0000FFFF9876543210E0000500"] {
        let sealed = format!("{}{SEALED}", t("DFEE12", wrong));
        play(&format!("{ARMED} < 02-23 {}\n {DAMAGED}", unsealed(TAP, "0004", &sealed)));
    }
}

#[test]
fn a_block_with_a_wrong_check_byte_is_damaged() {
    let good = block(0x80, &masked_track2("101"), false, 5);
    // The XOR, the sum, the last byte, the length, and a byte inside.
    for (at, byte) in [(good.len() - 6, "5C"), (good.len() - 4, "5C"), (good.len() - 2, "04"), (2, "00"), (40, "00")] {
        let mut wrong = good.clone();
        wrong.replace_range(at..at + 2, byte);
        assert_ne!(wrong, good);
        play(&format!("{ARMED} < 02-00 {}\n {DAMAGED}", swipe_of(&wrong, "90")));
    }
}

#[test]
fn a_key_is_accepted_once() {
    for (first, second, then) in [(5, 6, "! 2 card"), (5, 5, "KeyAgain"), (5, 4, "KeyAgain")] {
        let end = match then {
            "KeyAgain" => "! unready not-encrypting 30003638 KeyAgain\n > CANCEL".to_owned(),
            _ => format!("! 2 card NFC_ICC 4761********0119 GoOnline sealed 44 ksn {} Signature", ksn(second)),
        };
        play(&format!(
            "{ARMED} < 02-23 {}
                ! 1 card NFC_ICC 4761********0119 GoOnline sealed 44 ksn {} Signature
                complete 1 00
                ! 1 completed Approved
                ! idle
             20 arm 2
                ! 2 PresentCard
                {{ACTIVATE}}
                < 02-23 {}
                {end}",
            card(TAP, "0004", first, ""),
            ksn(first),
            card(TAP, "0004", second, ""),
        ));
    }
    // A swipe and a typed card count with the same keys, and a PIN has its own.
    play(&format!(
        "{ARMED} < 02-00 {}
            ! 1 card MAGSTRIPE 4761********0010 GoOnline sealed 43 ksn {} Signature
            complete 1 00
            ! 1 completed Approved
            ! idle
         20 manual 2
            ! 2 TypeCard
            {{TYPE}}
            < 83-00 {}
            ! unready not-encrypting 30003638 KeyAgain
            > CANCEL",
        swipe("101", 5),
        ksn(5),
        crate::neo2_trace::typed(5),
    ));
}
