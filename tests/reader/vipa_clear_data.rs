//! Clear card data that a VIPA reader sends ends the sale, in every message and inside templates, with every length of
//! a card number (readers: 3.5).

use pos_reader::vipa::VipaSettings;

use crate::trace::t;
use crate::vipa_trace::{card, e2, filled, masked_track2, play, play_with, sealed, swipe, vipa};

const DISTRUSTED: &str = "! unready clear-card-data 40123456
         20 arm 2
            ! 2 no-card NotReady
         30 closed unplugged
            ! unready absent unplugged
            reopen 0.5
         31 open
            > ABORT";

const ARMED: &str = "
         10 arm 1
            ! 1 PresentCard
            {TAP}
            < 9000
         11";

const INSERTED: &str = "
         9  * {CARD_IN}
         10 arm 1
            ! 1 PresentCard
            ! 1 ReadingCard
            {START}
         11";

/// Card numbers with 13, 15, 16 and 19 digits as in tag 5A, padded to whole bytes.
const PANS: [&str; 4] = ["4222222222222F", "374245001751006F", "4761739001010119", "6799998900000074316F"];

/// Checks the elements in each message that may have a card's data.
fn is_distrusted(more: &str) {
    for (begun, message, stop) in [
        (ARMED, format!("* {}", card("E4", 0x10A5, more)), "> CANCEL CONTACTLESS"),
        (
            ARMED,
            format!("* {}", t("E0", &format!("48020005{}{}{more}", masked_track2("101"), sealed(0x10A4)))),
            "> CANCEL CONTACTLESS",
        ),
        (INSERTED, format!("< {}9000", e2(more)), "> ABORT"),
        (INSERTED, format!("< {}9000", card("E4", 0x10A5, more)), "> ABORT"),
    ] {
        play(&format!("{begun} {message}\n {stop}\n {DISTRUSTED}"));
    }
}

fn is_read(more: &str) {
    play(&format!("{INSERTED} < {{E2}}\n {{GO_ON}}\n < {}9000\n ! 1 {{CARD}}", card("E4", 0x10A5, more)));
}

/// Nests the value in this many templates.
fn nested(depth: usize, value: &str) -> String {
    ["70", "77", "E1", "BF0C", "61", "A5"]
        .iter()
        .cycle()
        .take(depth)
        .fold(value.to_owned(), |value, tag| t(tag, &value))
}

fn padded(text: String) -> String {
    if text.len() % 2 == 1 { text + "F" } else { text }
}

/// Returns the masked form of a card number: six and four digits, and `mask` for each other.
fn masked(pan: &str, mask: &str) -> String {
    let digits = pan.trim_end_matches('F');
    format!("{}{}{}", &digits[..6], mask.repeat(digits.len() - 10), &digits[digits.len() - 4..])
}

#[test]
fn every_length_at_every_depth() {
    for pan in PANS {
        let digits = pan.trim_end_matches('F');
        let ascii = |text: &str| hex::encode(text);
        for clear in [
            t("5A", pan),
            t("57", &padded(format!("{digits}D25122011234567890"))),
            t("9F6B", &padded(format!("{digits}D25122011234567890"))),
            t("56", &ascii(&format!("B{digits}^POE/ADA^2512201"))),
            t("5F21", &ascii(&format!("%B{digits}^POE/ADA^2512201?"))),
            t("5F22", &ascii(&format!(";{digits}=2512201?"))),
            t("5F23", &ascii(&format!(";{digits}=2512201?"))),
            t("99", "0412345678901234"),
            // Only the names of these copies say that they are masked.
            t("DFDB05", &ascii(&format!("%B{digits}^POE/ADA^2512201?"))),
            t("DFDB06", &ascii(&format!(";{digits}=2512201?"))),
            t("DFDB01", &ascii(digits)),
            t("DFDB04", &ascii(digits)),
        ] {
            for depth in [0, 1, 5] {
                is_distrusted(&nested(depth, &clear));
            }
        }
    }
}

#[test]
fn a_track_that_begins_otherwise_is_looked_at_too() {
    for clear in [
        // Without sentinels, and with another format code before a name that has a B.
        t("DFDB05", &hex::encode("4761739001010119^POE/ADA^2512201")),
        t("DFDB05", &hex::encode("%A4761739001010119^BLOGGS/JOE^2512201?")),
        t("DFDB05", &hex::encode("%4761739001010119^POE/ADA^2512201?")),
        t("DFDB06", &hex::encode("4761739001010119=2512201")),
        t("DFDB06", &hex::encode("?4761739001010119=2512201?")),
        // The number is masked, and a copy of it follows in the discretionary data.
        t("DFDB06", &format!("{}{}", hex::encode(";476173"), hex::encode("******0119=25122014761739001010119?"))),
    ] {
        is_distrusted(&clear);
    }
}

#[test]
fn a_tag_that_is_repeated_is_looked_at_each_time() {
    for tag in ["5A", "57"] {
        let hidden = t(tag, &padded(masked(PANS[2], "A")));
        let (empty, clear) = (t(tag, ""), t(tag, PANS[2]));
        is_distrusted(&format!("{empty}{clear}"));
        is_distrusted(&format!("{clear}{empty}"));
        is_distrusted(&format!("{hidden}{clear}"));
        is_distrusted(&format!("{}{clear}", nested(2, &hidden)));
        is_distrusted(&format!("{clear}{hidden}"));
    }
}

#[test]
fn a_verification_value_is_clear_wherever_it_is() {
    for clear in [
        t("DFDB02", &hex::encode("123")),
        t("DFDB02", &hex::encode("1234")),
        t("DFDB02", &hex::encode("*2*")),
        // In older versions it has the tag of track 1.
        t("DFDB05", &hex::encode("123")),
        t("DFDB05", &hex::encode("1234")),
    ] {
        is_distrusted(&clear);
        is_distrusted(&nested(3, &clear));
    }
    for hidden in [t("DFDB02", "2A2A2A"), t("DFDB02", "AAAAAA"), t("DFDB02", ""), t("DFDB05", "AAAAAA")] {
        is_read(&hidden);
    }
}

#[test]
fn a_typed_number_in_clear_ends_everything() {
    let typed = || VipaSettings { manual_entry: Some("manual.html".to_owned()), ..vipa() };
    let asked = "10 manual 1\n ! 1 TypeCard\n > MANUAL PAN E00FDFAA010B6D616E75616C2E68746D6C\n 11";
    for tag in ["DFDB01", "DFDB04"] {
        for pan in PANS {
            let digits = hex::encode(pan.trim_end_matches('F'));
            let answer = t("E0", &format!("{}{}", t(tag, &digits), sealed(0x10A4)));
            play_with(typed(), &format!("{asked} < {answer}9000\n > ABORT\n {DISTRUSTED}"));
            // Also after the masked number.
            let hidden = t(tag, &hex::encode(masked(pan, "*")));
            let answer = t("E0", &format!("{hidden}{}{}", t(tag, &digits), sealed(0x10A4)));
            play_with(typed(), &format!("{asked} < {answer}9000\n > ABORT\n {DISTRUSTED}"));
        }
    }
}

#[test]
fn what_is_masked_or_empty_is_no_card_data() {
    for pan in PANS {
        is_read(&t("5A", &padded(masked(pan, "A"))));
        is_read(&nested(3, &t("57", &padded(format!("{}D2512201AAAAAAAAA", masked(pan, "A"))))));
        for mask in ["*", "\u{2A}"] {
            is_read(&t("DFDB05", &hex::encode(format!("%B{}^POE/BOB^2512201?", masked(pan, mask)))));
            is_read(&t("DFDB06", &hex::encode(format!(";{}=2512201?", masked(pan, mask)))));
        }
        is_read(&t("DFDB01", &hex::encode(masked(pan, "*"))));
    }
    for empty in ["5A00", "5700", "DFDB0500", "DFDB0600", "DFDB0100", "5F2200", "9900"] {
        is_read(&nested(1, empty));
    }
    // The published form of a masked track.
    play(&format!(
        "{ARMED} * {}
            > CANCEL CONTACTLESS
            < 9000
            ~ 9F41
            ! 1 card MAGSTRIPE 410039******9976 GoOnline sealed 40 ksn FFFF98765432110010A4 Signature",
        swipe("101", 0x10A4)
    ));
}

#[test]
fn it_counts_between_sales_and_at_the_start_too() {
    let clear = t("E0", &format!("48020005{}", t("5F22", &hex::encode(";4761739001010119=2512201?"))));
    play(&format!("10 * {clear}\n ! unready clear-card-data 40123456\n 20 arm 1\n ! 1 no-card NotReady"));
    let mut player = crate::trace::Player::new(vipa());
    player.play(&filled(&format!(
        "0 open
           > ABORT
           < 9000
           > RESET
           < {{RESET}}
           > GET SECURITY CONFIGURATION
           * {clear}
           ! unready clear-card-data 40123456
         1 < {{KEYS}}
           < 9000
         9 arm 1
           ! 1 no-card NotReady"
    )));
    assert_eq!(player.session.deadline(), None, "nothing more is asked");
}

/// Checks that a message with a gap has no meaning, so that its bytes are no card data either.
#[test]
fn what_is_damaged_is_not_believed() {
    play(&format!("{ARMED} * E0185F2225\n * 5F22253B343736313733393030313031303131393D"));
}
