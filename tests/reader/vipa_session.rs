//! The rules for a card at a VIPA reader, run as traces (`trace`, `vipa_trace`). The rules that it shares with Miura
//! are in `miura_session`.

use std::sync::Arc;
use std::time::Duration;

use pos_reader::vipa::{SredForm, VipaSettings};
use pos_reader::{ReaderLanguage, ReaderSettings};

use crate::trace::{Player, settings, t};
use crate::vipa_trace::{card, e2, keys, list, play, play_with, sealed, sealed_with, swipe, unsealed, vipa};

/// The trace of an armed reader, up to the beginning of the wait.
const ARMED: &str = "
         10 arm 1
            ! 1 PresentCard
            {TAP}
            < 9000
         11";

/// The trace of a chip in the slot, up to the reader's first answer.
const INSERTED: &str = "
         9  * {CARD_IN}
         10 arm 1
            ! 1 PresentCard
            ! 1 ReadingCard
            {START}
         11";

/// The trace of a chip whose E4 was read.
const READ: &str = "
         9  * {CARD_IN}
         10 arm 1
            ! 1 PresentCard
            ! 1 ReadingCard
            {START}
         11 < {E2}
            {GO_ON}
         12 < {E4}
            ! 1 {CARD}
         13";

const REMOVE: &str = "> DISPLAY REMOVE CARD
            ! 1 RemoveCard
            < 9000
         80 * {NO_CARD}
            ! idle";

fn with_language(language: ReaderLanguage) -> (ReaderSettings, VipaSettings) {
    (ReaderSettings { language, ..settings() }, vipa())
}

mod start_up {
    use super::*;

    #[test]
    fn identity_in_several_packets_keys_clock_and_card_events() {
        play("");
        assert!((2 * 254..4 * 254).contains(&(crate::vipa_trace::reset().len() / 2)), "three or four packets");
    }

    #[test]
    fn the_state_of_the_slot_may_come_unsolicited_and_after_an_empty_answer() {
        for state in ["* {NO_CARD}", "< 9000\n * {NO_CARD}", "* {NO_CARD}\n < 9000"] {
            let script = crate::vipa_trace::STARTED.replace("< {NO_CARD}9000", state);
            // The last form has an answer after the reader is ready.
            let (before, ready) = script.split_once("! ready").unwrap();
            let script = match before.trim_end().strip_suffix("< 9000").filter(|_| state.ends_with("9000")) {
                Some(before) => format!("{before}! ready{ready}\n < 9000"),
                None => script,
            };
            let mut player = Player::new(vipa());
            player.play(&script);
            player.play("10 arm 1\n ! 1 PresentCard\n {TAP}");
        }
    }

    #[test]
    fn a_transaction_of_a_dead_program_is_aborted_and_passed_over() {
        Player::new(vipa()).play(
            "0 open
               > ABORT
               < {E4}
               * {TAPPED}
               ~ 9F41
               < 9F43
               < 9000
               > RESET
               < 9F41
               < {E3}
               < 9000
               < {RESET}
               > GET SECURITY CONFIGURATION
               < {RESET}
               < 9000
               < {KEYS}
               > DATE AND TIME E00B9A032501319F2103123456",
        );
    }

    #[test]
    fn the_readers_clock_is_read_when_ours_is_not_trusted() {
        let settings = ReaderSettings { clock: Arc::new(|| None), ..settings() };
        let script = crate::vipa_trace::STARTED
            .replace(
                "> DATE AND TIME E00B9A032501319F2103123456\n       < 9000",
                "> DATE AND TIME\n < E00B9A032502289F21031112139000",
            )
            .replace(
                "pin-key",
                "pin-key clock LocalTime { year: 25, month: 2, day: 28, hour: 11, minute: 12, second: 13 }",
            );
        Player::new((settings.clone(), vipa())).play(&script);
        // An impossible date is no time.
        let script = script.replace("9A03250228", "9A03251332");
        let (script, _) = script.split_once(" clock Local").unwrap();
        Player::new((settings, vipa())).play(script);
    }

    #[test]
    fn without_a_card_key_nothing_starts_until_there_is_one() {
        let (none, pin) = (keys(false, false), keys(false, true));
        Player::new(vipa()).play(&format!(
            "0 open
               > ABORT
               < 9000
               > RESET
               < {{RESET}}
               > GET SECURITY CONFIGURATION
               < 9F19
               ! unready no-card-key 40123456
            1  arm 7
               ! 7 no-card NotReady
            30 tick
               > GET SECURITY CONFIGURATION
               < {none}
            60 tick
               > GET SECURITY CONFIGURATION
               < {pin}
            90 tick
               > GET SECURITY CONFIGURATION
               < {{KEYS}}
               > DATE AND TIME E00B9A032501319F2103123456"
        ));
    }

    #[test]
    fn a_reader_without_a_pin_key_says_so() {
        let script = crate::vipa_trace::STARTED.replace("{KEYS}", &keys(true, false)).replace("pin-key", "no-pin-key");
        Player::new(vipa()).play(&script);
    }

    #[test]
    fn the_pin_key_may_have_another_tag() {
        let other = keys(true, true).replace("DFED03", "DFED0D");
        Player::new(vipa()).play(&crate::vipa_trace::STARTED.replace("{KEYS}", &other));
    }

    #[test]
    fn a_reader_that_is_not_listed_is_asked_for_no_card() {
        let serials = vec!["40123457".to_owned()];
        Player::new((ReaderSettings { serials, ..settings() }, vipa())).play(
            "0   open
                 > ABORT
                 < 9000
                 > RESET
                 < {RESET}
                 ! unready not-listed 40123456
                 reopen 0.5
             0.2 arm 7
                 ! 7 no-card NotReady",
        );
    }

    #[test]
    fn another_device_is_named_and_tried_again_later() {
        Player::new(vipa()).play(
            "0   open
                 > ABORT
                 raw 4154 0D0A 4F4B 0D0A FFFF 00 FFFF FFFF
             1   tick
             5   tick
                 ! unready wrong-device no answer to ABORT
                 reopen 0.5
             6   open
                 > ABORT
                 < 9000
                 > RESET
                 < 6D00
             11  tick
                 ! unready wrong-device no answer to RESET
                 reopen 1
             12  open
                 > ABORT
                 < 9000
                 > RESET
                 < {RESET}
                 > GET SECURITY CONFIGURATION
                 < 9F11
                 ! unready wrong-device it answers GET SECURITY CONFIGURATION with 9F11 command not supported
                 reopen 2",
        );
    }

    /// A Miura reader knows ABORT and RESET. Its serial number has the same tag, but it has no key status of VIPA.
    #[test]
    fn a_miura_reader_is_no_vipa_reader() {
        Player::new(vipa()).play(&format!(
            "0   open
                 > ABORT
                 < 9000
                 > RESET
                 < {}
                 > GET SECURITY CONFIGURATION
                 < 6D00
                 ! unready wrong-device it answers GET SECURITY CONFIGURATION with 6D00 unknown command
                 reopen 0.5",
            crate::trace::RESET
        ));
    }

    #[test]
    fn an_encrypted_line_answers_nothing() {
        // PCB 02: the reader encrypts its line.
        Player::new(vipa()).play(
            "0   open
                 > ABORT
                 raw 0102080102030405060708 03
             5   tick
                 ! unready wrong-device no answer to ABORT
                 reopen 0.5",
        );
    }

    #[test]
    fn a_reader_without_clock_contactless_part_or_events_is_found_soon() {
        let script = crate::vipa_trace::STARTED
            .replace("9A032501319F2103123456\n       < 9000", "9A032501319F2103123456\n < 9F11")
            .replace("> CONTACTLESS OPEN\n       < 9000", "> CONTACTLESS OPEN\n < 9F22");
        Player::new(vipa()).play(&script);
        let (script, _) = script.split_once("< {NO_CARD}9000").unwrap();
        Player::new(vipa()).play(&format!(
            "{script} < 9F11
             5 tick
               ! unready wrong-device no answer to CARD STATUS
               reopen 0.5"
        ));
    }
}

mod idle {
    use super::*;

    /// The clock of the tests stands still, so each check sets the reader's clock too.
    const CHECK: &str = "> DATE AND TIME E00B9A032501319F2103123456\n < 9000\n > CARD STATUS";

    #[test]
    fn it_is_checked_each_minute_however_it_answers() {
        for answer in ["< {NO_CARD}9000", "* {NO_CARD}", "< 9000\n * {NO_CARD}"] {
            play(&format!("60 tick\n {CHECK}\n {answer}\n 120 tick\n {CHECK}\n {answer}"));
        }
        play(&format!(
            "60 tick
                {CHECK}
             65 tick
                ! unready restarting no answer to CARD STATUS
                reopen 0.5"
        ));
    }

    #[test]
    fn a_card_that_the_check_finds_is_read_by_the_next_sale() {
        play(&format!(
            "60 tick
                {CHECK}
                < {{CARD_IN}}9000
             61 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                {{START}}"
        ));
    }

    #[test]
    fn after_a_fault_of_the_line_the_slot_is_asked_for_and_believed() {
        for answer in ["< {CARD_IN}9000", "* {CARD_IN}", "< 9000\n * {CARD_IN}"] {
            play(&format!(
                "20 raw FFFF FFFF FFFF FFFF
                 21 tick
                    > CARD STATUS
                    {answer}
                 22 arm 1
                    ! 1 PresentCard
                    ! 1 ReadingCard
                    {{START}}"
            ));
        }
    }

    #[test]
    fn what_was_not_asked_for_changes_nothing() {
        play(
            "20 < {E4}
                < 9000
                < {PIN}
                < 9F43
                * {TAPPED}
                ~ 9000
                ~ 9F33
                * E005DFA205011B
                < {RESET}
             21 arm 1
                ! 1 PresentCard
                {TAP}",
        );
    }
}

mod waiting {
    use super::*;

    #[test]
    fn a_tap_is_answered_after_it_has_begun() {
        play(
            &format!(
                "{ARMED} * {{TAPPED}}
                ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature
                complete 1 00 91 11223344556677883030 scripts 7203AABBCC
                {{APPROVE_TAP}}
                < 9000
                * {{E3_BODY}}
                ! 1 completed Approved Tc
                ! idle",
            )
            .replace("{E3_BODY}", "E30F9F260811223344556677889F270140"),
        );
        play(&format!(
            "{ARMED} * {{TAPPED}}
                ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature
                complete 1 05
                > CONTINUE CONTACTLESS E00B8A023035C00100C2023635
                < 9000
                ~ 9000
                ! 1 completed Approved
                ! idle"
        ));
    }

    #[test]
    fn the_readers_silence_after_a_tap_changes_nothing() {
        play(&format!(
            "{ARMED} * {{TAPPED}}
                ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature
             20 complete 1 00
                {{APPROVE_TAP}}
                < 9000
             25 tick
                > CANCEL CONTACTLESS
                ! 1 completed Approved
             26 < 9000
             30 tick
                ! unready restarting no answer to CONTINUE CONTACTLESS
                reopen 0.5"
        ));
    }

    /// Checks each result of a tap (readers: 3.4).
    #[test]
    fn every_template() {
        let asked = "! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature";
        for (template, then) in [
            ("E3", asked),
            ("E4", asked),
            ("E5", "! 1 card NFC_ICC 374245*****1006 Declined sealed 40 ksn FFFF98765432110010A5 Signature"),
            ("E7", "! 1 card NFC_MAGSTRIPE 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature"),
        ] {
            play(&format!("{ARMED} * {}\n {then}", card(template, 0x10A5, "")));
        }
        // A card that is no payment card, and a template that asks for a decision, which no tap does.
        play(&format!("{ARMED} * E8020500\n ! 1 InsertCard\n > DISPLAY INSERT OR SWIPE"));
        play(&format!(
            "{ARMED} * {}
                > ABORT
                < 9000
                {{DECLINE_TAP}}
                < 9F24
                ! 1 no-card Unreadable {{ cause: \"the reader's answer was damaged\" }}
                ! idle",
            e2("")
        ));
    }

    #[test]
    fn every_status_that_asks_for_something_else() {
        for (status, progress, shown) in [
            ("9F32", "InsertCard", "INSERT OR SWIPE"),
            ("9F33", "InsertCard", "INSERT OR SWIPE"),
            ("9F34", "InsertCard", "INSERT OR SWIPE"),
            ("9F0D", "InsertCard", "INSERT OR SWIPE"),
        ] {
            play(&format!(
                "{ARMED} ~ {status}
                    ! 1 {progress}
                    > DISPLAY {shown}
                    < 9000
                 20 * {{CARD_IN}}
                    ! 1 ReadingCard
                    {{START}}"
            ));
        }
        for status in ["9F31", "9F35", "9F36", "9F37"] {
            play(&format!(
                "{ARMED} ~ {status}
                    ! 1 TryAgain
                    {{TAP}}
                    < 9000
                 12 * {{TAPPED}}
                    ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature"
            ));
        }
    }

    #[test]
    fn a_card_that_asks_for_a_tap_without_end_must_be_inserted() {
        let again = "~ 9F36\n ! 1 TryAgain\n {TAP}\n < 9000\n";
        play(&format!(
            "10 arm 1\n ! 1 PresentCard\n {{TAP}}\n < 9000\n {}~ 9F36\n ! 1 InsertCard\n > DISPLAY INSERT OR SWIPE",
            again.repeat(5)
        ));
    }

    #[test]
    fn what_comes_before_the_wait_has_begun_is_of_an_earlier_one() {
        play(
            "10 arm 1
                ! 1 PresentCard
                {TAP}
                ~ 9F41
                * {TAPPED}
                ~ 9F33
                < 9000
             12 ~ 9F33
                ! 1 InsertCard
                > DISPLAY INSERT OR SWIPE",
        );
    }

    /// Checks a second tap that the reader takes by itself, while the wait begins again. It is lost with neither
    /// reading of the document.
    #[test]
    fn a_second_tap_may_come_before_the_wait_begins_again() {
        play(&format!(
            "{ARMED} ~ 9F35
                ! 1 TryAgain
                {{TAP}}
                * {{TAPPED}}
                ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature
                < 9000
                complete 1 00
                {{APPROVE_TAP}}
                < 9000
                ~ 9000
                ! 1 completed Approved
                ! idle
             20 arm 2
                ! 2 PresentCard
                {{TAP}}
                * {{TAPPED}}
                < 9000"
        ));
    }

    #[test]
    fn the_beginning_may_be_unsolicited() {
        play(
            "10 arm 1
                ! 1 PresentCard
                {TAP}
                ~ 9000
             12 * {TAPPED}
                ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature",
        );
    }

    #[test]
    fn a_reader_that_refuses_the_wait_takes_chip_and_stripe() {
        play(
            "10 arm 1
                ! 1 PresentCard
                {TAP}
                < 9F11
                ! 1 InsertCard
                > DISPLAY INSERT OR SWIPE
                < 9000
             70 tick
                ! 1 no-card TimedOut
                ! idle",
        );
    }

    #[test]
    fn nobody_presents_a_card() {
        play(&format!(
            "{ARMED}
             70 tick
                > CANCEL CONTACTLESS
                < 9000
                ~ 9F41
                ! 1 no-card TimedOut
                ! idle"
        ));
    }

    #[test]
    fn a_damaged_result_ends_the_sale_and_declines_the_card() {
        // The outer length is too large.
        play(&format!(
            "{ARMED} ~ E4209F02060000000012349000
                > ABORT
                < 9000
                {{DECLINE_TAP}}
                < 9F24
                ! 1 no-card Unreadable {{ cause: \"the reader's answer was damaged\" }}
                ! idle"
        ));
        // An element inside is cut.
        play(
            &format!(
                "{ARMED} ~ E4089F02060000000012349000
                {{DECLINE_TAP}}
                < 9000
                ~ 9000
                ! 1 no-card Unreadable {{ cause: \"its data are malformed\" }}
                ! idle"
            )
            .replace("E4089F0206000000001234", "E4079F020600000000"),
        );
    }

    #[test]
    fn another_amount_or_currency_is_declined_at_the_card() {
        for (right, wrong) in [
            ("9F0206000000001234", "9F0206000000001235"),
            ("5F2A020978", "5F2A020840"),
            ("9F0206000000001234", ""),
            ("5F2A020978", ""),
            ("9F0206000000001234", "9F02060000000012349F0206000000009999"),
        ] {
            let tlvs = unsealed("E4", &sealed(0x10A5))[6..].replace(right, wrong);
            play(&format!(
                "{ARMED} * {}
                    {{DECLINE_TAP}}
                    < 9000
                    ~ 9000
                    ! 1 no-card AmountDiffers
                    ! idle",
                t("E4", &tlvs)
            ));
        }
    }

    #[test]
    fn without_correctly_sealed_data_nothing_goes_to_the_host() {
        let good = "DFDB0F0400000000";
        for block in [
            String::new(),
            sealed_with("", 0x10A5, good),
            sealed_with("DFDF1204ED02AA53", 0x10A5, good),
            sealed_with("DFDF1200", 0x10A5, good),
            sealed_with("DFDF1208ED02AA537757D99F", 0x10A5, "DFDB0F0400000001"),
            sealed_with("DFDF1208ED02AA537757D99F", 0x10A5, "DFDB0F0401000000"),
        ] {
            play(&format!(
                "{ARMED} * {}
                    ! unready not-encrypting 40123456 Nothing
                    > ABORT",
                unsealed("E4", &block)
            ));
        }
        // A ciphertext of zeros. The initial value before it does not hide that.
        let zeros = format!("DFDF1020{}", "00".repeat(32));
        let block = t("FF7F", &format!("DFDF1208ED02AA537757D99FDFDF110AFFFF98765432110010A5{zeros}{good}"));
        play(&format!(
            "{ARMED} * {}
                ! unready not-encrypting 40123456 Zeros
                > ABORT",
            unsealed("E4", &block)
        ));
        // Without an initial value in the gateway's form, its absence does not matter.
        let plain = VipaSettings { sred_form: SredForm::DataOnly, ..vipa() };
        play_with(
            plain,
            &format!(
                "{ARMED} * {}
                    ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 32 ksn FFFF98765432110010A5 Signature",
                unsealed("E4", &sealed_with("", 0x10A5, good))
            ),
        );
    }

    #[test]
    fn keys_that_are_used_up_end_the_sale_and_are_asked_for() {
        let ended = "10 arm 1
                ! 1 PresentCard
                {TAP}
                < 9000
                ~ 9F19
                ! 1 no-card NoKeyLeft
                > GET SECURITY CONFIGURATION
                < 9000";
        // An empty answer says nothing about the keys.
        play(&format!("{ended}\n < 9F19\n ! unready no-card-key 40123456\n > ABORT"));
        play(&format!("{ended}\n < {}\n ! idle\n 20 arm 2\n ! 2 PresentCard\n {{TAP}}", keys(true, false)));
        play(&format!("{ended}\n 16 tick\n ! unready restarting no answer to GET SECURITY CONFIGURATION\n reopen 0.5"));
        play(&format!("{ended}\n < 9F11\n ! unready restarting it did not report its keys\n > ABORT"));
    }

    #[test]
    fn a_key_is_accepted_once() {
        play(&format!(
            "{ARMED} * {{TAPPED}}
                ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature
                complete 1 00
                {{APPROVE_TAP}}
                < 9000
                ~ 9000
                ! 1 completed Approved
                ! idle
             20 arm 2
                ! 2 PresentCard
                {{TAP}}
                < 9000
                * {{TAPPED}}
                ! unready not-encrypting 40123456 KeyAgain
                > ABORT"
        ));
    }

    #[test]
    fn a_card_that_is_inserted_or_swiped_ends_the_wait_first() {
        play(&format!(
            "{ARMED}
             12 * {{CARD_IN}}
                > CANCEL CONTACTLESS
                < 9000
                ~ 9F41
                ! 1 ReadingCard
                {{START}}"
        ));
        play(&format!(
            "{ARMED}
             12 * {}
                > CANCEL CONTACTLESS
                < 9000
                ~ 9F41
                ! 1 card MAGSTRIPE 410039******9976 GoOnline sealed 40 ksn FFFF98765432110010A4 Signature",
            swipe("101", 0x10A4)
        ));
    }

    #[test]
    fn a_card_that_is_pulled_at_once_is_waited_for_again() {
        play(&format!(
            "{ARMED}
             12 * {{CARD_IN}}
                > CANCEL CONTACTLESS
                * {{NO_CARD}}
                < 9000
                ~ 9F41
                ! 1 ReadingCard
                {{START}}
                < 9F23
                ! 1 TryAgain
                {{TAP}}"
        ));
    }

    #[test]
    fn an_unreadable_swipe_leaves_the_reader_waiting() {
        // Without track 2, and with a track of noise.
        for event in ["E00448020003", "E00B48020005DFDB06033B3F35"] {
            play(
                &format!(
                    "{ARMED} * {event}
                 12 * {{TAPPED}}
                    ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 Signature"
                )
                .replace("E00B48020005DFDB06033B3F35", &t("E0", &format!("48020005DFDB06033B3F35{}", sealed(0x10A4)))),
            );
        }
    }

    #[test]
    fn a_swipe_that_is_not_sealed_ends_everything() {
        for sealed in [String::new(), sealed_with("DFDF1208ED02AA537757D99F", 0x10A4, "DFDB0F0400000001")] {
            play(&format!(
                "{ARMED} * {}
                    ! unready not-encrypting 40123456 Nothing
                    > ABORT",
                t("E0", &format!("48020005{}{sealed}", crate::vipa_trace::masked_track2("101")))
            ));
        }
    }
}

mod cancelled {
    use super::*;

    const NOT_BEGUN: &str = "10 arm 1\n ! 1 PresentCard\n {TAP}\n 11";

    /// Checks every order of the two answers to CANCEL CONTACTLESS, and of the late answer to START CONTACTLESS.
    #[test]
    fn in_every_order_of_the_answers() {
        let begun = format!("{ARMED} cancel 1\n > CANCEL CONTACTLESS");
        let not_begun = format!("{NOT_BEGUN} cancel 1\n > CANCEL CONTACTLESS");
        for script in [
            format!("{begun}\n < 9000\n ~ 9F41"),
            format!("{begun}\n ~ 9F41\n < 9000"),
            format!("{begun}\n < 9000\n ~ 9F43"),
            format!("{begun}\n < 9000\n ~ 9000"),
            format!("{not_begun}\n < 9000\n < 9000\n ~ 9F41"),
            format!("{not_begun}\n < 9000\n ~ 9F41\n < 9000"),
            // The wait was refused.
            format!("{not_begun}\n < 9F22\n < 9000"),
        ] {
            play(&format!(
                "{script}\n ! 1 no-card CancelledByTill\n ! idle\n 20 arm 2\n ! 2 PresentCard\n {{TAP}}\n < 9000"
            ));
        }
    }

    #[test]
    fn the_late_answer_of_the_wait_is_not_the_end_of_the_cancellation() {
        // The chip is not started, and no PIN is asked for, before all three answers have come.
        play(&format!(
            "{NOT_BEGUN} * {{CARD_IN}}
                > CANCEL CONTACTLESS
                < 9000
                ~ 9F41
             12 < 9000
                ! 1 ReadingCard
                {{START}}
             13 < {{E2}}
                {{GO_ON}}"
        ));
        play(&format!(
            "{NOT_BEGUN} * {}
                > CANCEL CONTACTLESS
                < 9000
                ~ 9F41
             12 < 9000
                {{ASK_PIN}}
                ! 1 PinEntry {{ digits: None }}
             13 < {{PIN}}
                ! 1 PinDone
                ! 1 card MAGSTRIPE 410039******9976 GoOnline sealed 40 ksn FFFF98765432110010A4 OnlinePin pin",
            swipe("106", 0x10A4)
        ));
    }

    #[test]
    fn a_tap_that_was_faster_is_declined_by_the_contactless_command() {
        for order in ["* {TAPPED}\n < 9000", "< 9000\n * {TAPPED}"] {
            play(&format!(
                "{ARMED} cancel 1
                    > CANCEL CONTACTLESS
                    {order}
                    {{DECLINE_TAP}}
                    ~ 9F41
                    < 9000
                    ~ 9000
                    ! 1 no-card CancelledByTill
                    ! idle"
            ));
        }
        // A card in the slot is read after the tapped one has its answer.
        play(&format!(
            "{ARMED} * {{CARD_IN}}
                > CANCEL CONTACTLESS
                < 9000
                * {{TAPPED}}
                {{DECLINE_TAP}}
                < 9000
                ~ 9000
                ! 1 ReadingCard
                {{START}}"
        ));
    }

    #[test]
    fn an_end_of_the_cancellation_that_never_comes_restarts_the_reader() {
        play(&format!(
            "{ARMED} cancel 1
                > CANCEL CONTACTLESS
                < 9000
             16 tick
                ! unready restarting no answer to START CONTACTLESS
                reopen 0.5"
        ));
        play(&format!(
            "{ARMED} cancel 1
                > CANCEL CONTACTLESS
             16 tick
                ! unready restarting no answer to ABORT
                reopen 0.5"
        ));
    }

    #[test]
    fn with_the_readers_key() {
        play(&format!(
            "{ARMED} * E005DFA205011B
                > CANCEL CONTACTLESS
                < 9000
                ~ 9F41
                ! 1 no-card CancelledAtReader
                ! idle"
        ));
        play(&format!("{ARMED} ~ 9F43\n ! 1 no-card CancelledAtReader\n ! idle"));
        // Other keys are for the reader.
        play(&format!("{ARMED} * E005DFA205010D\n * E005DFA2050135"));
    }

    #[test]
    fn while_the_chip_is_read_in_both_orders() {
        for (end, order) in [("9F41", "< 9000\n < 9F41"), ("9F43", "< 9F43\n < 9000")] {
            play(&format!(
                "{INSERTED} cancel 1
                    > ABORT
                    {order}
                    ! 1 no-card CancelledByTill
                    {REMOVE}"
            ));
            assert!(order.contains(end));
        }
    }

    #[test]
    fn a_chip_that_was_faster_is_declined() {
        for order in ["< {E4}\n < 9000", "< 9000\n < {E4}"] {
            play(&format!(
                "{INSERTED} < {{E2}}
                    {{GO_ON}}
                    cancel 1
                    > ABORT
                    {order}
                    {{DECLINE}}
                    < {{E5}}
                    ! 1 no-card CancelledByTill
                    {REMOVE}"
            ));
        }
        // An E2 asks for nothing that must be answered.
        play(&format!("{INSERTED} cancel 1\n > ABORT\n < {{E2}}\n < 9000\n ! 1 no-card CancelledByTill\n {REMOVE}"));
    }
}

mod decision {
    use super::*;

    #[test]
    fn one_application_is_used() {
        play(&format!("{INSERTED} < {{E2}}\n {{GO_ON}}\n < {{E4}}\n ! 1 {{CARD}}"));
    }

    #[test]
    fn of_a_list_the_first_is_chosen_and_the_next_request_is_about_it() {
        play(&format!(
            "{INSERTED} < {{LIST}}
                {{CHOOSE}}
                < {{E2}}
                {{GO_ON}}
                < {{E4}}
                ! 1 {{CARD}}"
        ));
    }

    /// Checks one application whose identifier comes twice: the card's own, and the terminal's, which may be shorter.
    #[test]
    fn one_application_with_both_identifiers_is_no_list() {
        for (card, terminal) in [("A000000025010402", "A00000002501"), ("A00000002501", "A00000002501")] {
            for order in [[("4F", card), ("9F06", terminal)], [("9F06", terminal), ("4F", card)]] {
                let identifiers = order.map(|(tag, aid)| t(tag, aid)).concat();
                let e2 = t("E2", &format!("{}{identifiers}{}", t("50", "414D4558"), sealed(0x10A4)));
                play(&format!("{INSERTED} < {e2}9000\n {{GO_ON}}\n < {{E4}}\n ! 1 {{CARD}}"));
            }
        }
    }

    #[test]
    fn without_an_application_the_card_is_refused() {
        play(&format!(
            "{INSERTED} < E203C101009000
                {{REFUSE}}
                < 9F2C
                ! 1 no-card Unreadable {{ cause: \"no application could be selected\" }}
                {REMOVE}"
        ));
    }

    #[test]
    fn decisions_are_not_made_for_ever() {
        let again = "< {E2}\n {GO_ON}\n".repeat(8);
        play(&format!(
            "{INSERTED} {again}
                < {{E2}}
                > ABORT
                < 9000
                ! 1 no-card Unreadable {{ cause: \"the reader asks for too many decisions\" }}
                {REMOVE}"
        ));
    }

    #[test]
    fn sealed_data_of_the_request_count_where_the_answer_has_none() {
        let of_e2 = "card ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A4 Signature";
        play(&format!("{INSERTED} < {{E2}}\n {{GO_ON}}\n < {{E4_BARE}}\n ! 1 {of_e2}"));
        // The answer has its own.
        play(&format!("{INSERTED} < {{E2}}\n {{GO_ON}}\n < {{E4}}\n ! 1 {{CARD}}"));
        play(&format!("{INSERTED} < {{E2_BARE}}\n {{GO_ON}}\n < {{E4}}\n ! 1 {{CARD}}"));
        // Neither has any.
        play(&format!(
            "{INSERTED} < {{E2_BARE}}
                {{GO_ON}}
                < {{E4_BARE}}
                ! unready not-encrypting 40123456 Nothing
                > ABORT"
        ));
    }

    /// Checks that the amount of an E2, which the card has not signed, replaces no missing amount.
    #[test]
    fn the_request_supplies_no_amount_and_no_currency() {
        for (right, name) in [("9F0206000000001234", "9F02"), ("5F2A020978", "5F2A")] {
            let e2 = format!("{}9000", e2(&format!("{}{right}", sealed(0x10A4))));
            let without = unsealed("E4", "");
            let without = format!("{}9000", t("E4", &without[4..].replace(right, "")));
            assert!(!without.contains(name));
            play(&format!(
                "{INSERTED} < {e2}
                    {{GO_ON}}
                    < {without}
                    {{DECLINE}}
                    < {{E5}}
                    ! 1 no-card AmountDiffers
                    {REMOVE}"
            ));
        }
        // It may contradict.
        let e2 = format!("{}9000", e2(&format!("{}9F0206000000009999", sealed(0x10A4))));
        play(&format!(
            "{INSERTED} < {e2}
                {{GO_ON}}
                < {{E4_BARE}}
                {{DECLINE}}
                < {{E5}}
                ! 1 no-card AmountDiffers
                {REMOVE}"
        ));
    }

    #[test]
    fn a_request_about_an_earlier_card_is_never_used() {
        // The first card is pulled after its E2, fails after it, or is cancelled after it.
        for (end, anew) in [
            ("< 9F23\n ! 1 TryAgain\n {TAP}\n < 9000\n", ""),
            (
                "< 9F25\n ! 1 InsertCard\n > DISPLAY REMOVE CARD/INSERT CARD\n < 9000\n",
                "* {NO_CARD}\n > DISPLAY INSERT CARD\n < 9000\n",
            ),
        ] {
            let stop = if end.contains("{TAP}") { "> CANCEL CONTACTLESS\n < 9000\n ~ 9F41\n" } else { "" };
            play(&format!(
                "{INSERTED} < {{E2}}
                    {{GO_ON}}
                    {end}
                    {anew}
                 20 * {{CARD_IN}}
                    {stop}
                    ! 1 ReadingCard
                    {{START}}
                    < {{E4_BARE}}
                    ! unready not-encrypting 40123456 Nothing
                    > ABORT"
            ));
        }
        play(
            &format!(
                "{INSERTED} < {{E2}}
                {{GO_ON}}
                cancel 1
                > ABORT
                < 9000
                < 9F41
                ! 1 no-card CancelledByTill
                {REMOVE}
             90 arm 2
                ! 2 PresentCard
                {{TAP}}
                < 9000
                * {{E4_TAP}}
                ! unready not-encrypting 40123456 Nothing
                > ABORT"
            )
            .replace("{E4_TAP}", &unsealed("E4", "")),
        );
    }

    #[test]
    fn a_late_answer_to_the_question_about_the_slot_is_no_answer_of_the_chip() {
        for answer in ["< {CARD_IN}9000", "< 9000"] {
            play(&format!(
                "{ARMED} ~ 9F33
                    ! 1 InsertCard
                    > DISPLAY INSERT OR SWIPE
                    < 9000
                 12 raw FFFF FFFF FFFF FFFF
                 13 tick
                    > CARD STATUS
                    * {{CARD_IN}}
                    ! 1 ReadingCard
                    {{START}}
                    {answer}
                    < {{E2}}
                    {{GO_ON}}
                    < {{E4}}
                    ! 1 {{CARD}}"
            ));
        }
    }

    #[test]
    fn the_holders_language_is_told() {
        play(&format!(
            "{INSERTED} < {}9000\n ! 1 language fr\n {{GO_ON}}",
            e2(&format!("5F2D046672656E{}", sealed(0x10A4)))
        ));
    }
}

mod fallback {
    use super::*;

    #[test]
    fn a_chip_that_cannot_be_used_is_swiped() {
        play(&format!(
            "{INSERTED} < 9F28
                ! 1 SwipeCard
                > DISPLAY REMOVE CARD/SWIPE CARD
                < 9000
             20 * {{NO_CARD}}
                > DISPLAY SWIPE CARD
                < 9000
             21 * {}
                ! 1 card MAGSTRIPE_AS_FALLBACK 410039******9976 GoOnline sealed 40 ksn FFFF98765432110010A4 Signature",
            swipe("201", 0x10A4)
        ));
    }

    #[test]
    fn after_three_failed_insertions_a_swipe_is_accepted() {
        let failed = "< 9F25
                ! 1 InsertCard
                > DISPLAY REMOVE CARD/INSERT CARD
                < 9000
                * {NO_CARD}
                > DISPLAY INSERT CARD
                < 9000
             20 * {CARD_IN}
                ! 1 ReadingCard
                {START}";
        play(&format!(
            "{INSERTED} {failed}
                {failed}
                < 9F25
                ! 1 SwipeCard
                > DISPLAY REMOVE CARD/SWIPE CARD"
        ));
    }
}

mod pin {
    use super::*;

    /// A chip whose E4 names an online PIN.
    const WANTED: &str = "
         9  * {CARD_IN}
         10 arm 1
            ! 1 PresentCard
            ! 1 ReadingCard
            {START}
         11 < {E2}
            {GO_ON}
         12 < {E4_PIN}
            {ASK_PIN}
            ! 1 PinEntry { digits: None }
         13";

    #[test]
    fn entered_in_both_forms() {
        let ksn = "F876543210040B800009";
        for pin in [
            t("E0", &format!("DFED6C08B2449FABB96D4228DFED030A{ksn}")),
            format!("DFED6C08B2449FABB96D4228DFED030A{ksn}"),
            t("E0", &t("FF7F", &format!("DFDF1008B2449FABB96D4228DFDF110A{ksn}DFDB0F0400000000"))),
            t("FF7F", &format!("DFDF1008B2449FABB96D4228DFDF110A{ksn}")),
        ] {
            play(&format!(
                "{WANTED} * E603C3010C
                    ! 1 PinEntry {{ digits: None }}
                    < {pin}9000
                    ! 1 PinDone
                    ! 1 card ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 OnlinePin pin"
            ));
        }
    }

    #[test]
    fn a_pin_inside_the_answer_is_not_asked_for_again() {
        let more = format!("9F3403420300{}", crate::vipa_trace::PIN);
        play(&format!(
            "{INSERTED} < {{E2}}
                {{GO_ON}}
                < {}9000
                ! 1 card ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 OnlinePin pin",
            card("E4", 0x10A5, &more)
        ));
    }

    fn ends(answer: &str, why: &str) {
        play(&format!("{WANTED} < {answer}\n {{DECLINE}}\n < {{E5}}\n ! 1 no-card {why}\n {REMOVE}"));
    }

    #[test]
    fn without_a_pin_the_card_is_declined() {
        for (answer, why) in [
            ("9015", "PinMissing"),
            ("9000", "PinMissing"),
            ("9F41", "CancelledAtReader"),
            ("9F43", "CancelledAtReader"),
            ("9F19", "PinMissing"),
            ("9F0D", "Unreadable { cause: \"internal error\" }"),
            ("E0029A009000", "Unreadable { cause: \"the PIN entry failed\" }"),
            // A block or a KSN of a wrong length, or only one of them.
            (
                "E018DFED6C07B2449FABB96D42DFED030AF876543210040B8000099000",
                "Unreadable { cause: \"its PIN block is malformed\" }",
            ),
            ("E0", "Unreadable { cause: \"the PIN entry failed\" }"),
        ] {
            let answer = match answer {
                "E0" => format!("{}9000", t("E0", "DFED6C08B2449FABB96D4228")),
                short if short.starts_with("E018") => {
                    format!("{}9000", t("E0", "DFED6C07B2449FABB96D42DFED030AF876543210040B800009"))
                }
                other => other.to_owned(),
            };
            ends(&answer, why);
        }
        // The state of the encryption says that it failed.
        let failed = t("FF7F", "DFDF1008B2449FABB96D4228DFDF110AF876543210040B800009DFDB0F0400000001");
        ends(&format!("{failed}9000"), "Unreadable { cause: \"the PIN entry failed\" }");
        // The block is all zeros, or its KSN was used before.
        play(&format!(
            "{WANTED} < {}9000
                ! 1 PinDone
                ! unready not-encrypting 40123456 Zeros
                > ABORT",
            t("E0", "DFED6C080000000000000000DFED030AF876543210040B800009")
        ));
    }

    #[test]
    fn a_second_answer_of_the_chip_is_no_pin() {
        play(&format!(
            "{WANTED} < {{E4_PIN}}
                < {{E4}}
                < {{PIN}}
                ! 1 PinDone
                ! 1 card ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 OnlinePin pin"
        ));
    }

    #[test]
    fn the_holder_never_enters_it() {
        for order in ["< 9000\n < 9F41", "< 9F43\n < 9000", "< {PIN}\n < 9000", "< 9000\n < {PIN}"] {
            play(&format!(
                "{WANTED}
                132 tick
                    > ABORT
                    {order}
                    {{DECLINE}}
                    < {{E5}}
                    ! 1 no-card TimedOut
                    > DISPLAY REMOVE CARD
                    ! 1 RemoveCard"
            ));
        }
    }

    #[test]
    fn cancelled_at_the_till() {
        play(&format!(
            "{WANTED} cancel 1
                > ABORT
                < 9000
                < 9F41
                {{DECLINE}}
                < {{E5}}
                ! 1 no-card CancelledByTill
                {REMOVE}"
        ));
    }

    /// Checks a card that is pulled while its PIN is entered. Nothing is sent, because it could not answer the host.
    #[test]
    fn the_card_is_pulled() {
        play(&format!(
            "{WANTED}
             20 * {{NO_CARD}}
             25 tick
                > ABORT
                < 9000
                < 9F41
                {{DECLINE}}
                < 9F23
                ! 1 no-card Unreadable {{ cause: \"it was removed too early\" }}
                ! idle"
        ));
    }

    /// Checks that a tapped card whose PIN is asked for afterwards is answered by the command for taps.
    #[test]
    fn of_a_tapped_card() {
        let tapped = format!(
            "{ARMED} * {}
                {{ASK_PIN}}
                ! 1 PinEntry {{ digits: None }}",
            card("E4", 0x10A5, "9F3403420300")
        );
        play(
            &format!(
                "{tapped} < {{PIN}}
                ! 1 PinDone
                ! 1 card NFC_ICC 374245*****1006 GoOnline sealed 40 ksn FFFF98765432110010A5 OnlinePin pin
                complete 1 00
                {{APPROVE_TAP}}
                < 9000
                ~ 9000
                ! 1 completed Approved
                ! idle"
            )
            .replace("digits: None } < ", "digits: None }\n < "),
        );
        play(&format!(
            "{tapped}\n < 9F43\n {{DECLINE_TAP}}\n < 9000\n ~ 9000\n ! 1 no-card CancelledAtReader\n ! idle"
        ));
    }

    #[test]
    fn the_reader_is_lost() {
        play(&format!("{WANTED} closed unplugged\n ! unready absent unplugged\n reopen 0.5"));
        play(&format!(
            "{WANTED} < 9F22\n ! unready restarting the reader lost its state (terminal not ready)\n > ABORT"
        ));
    }

    #[test]
    fn a_swiped_card_follows_its_service_code() {
        let armed = |code: &str| format!("{ARMED} * {}\n > CANCEL CONTACTLESS\n < 9000\n ~ 9F41", swipe(code, 0x10A4));
        let card = "card MAGSTRIPE 410039******9976 GoOnline sealed 40 ksn FFFF98765432110010A4";
        let asked = "{ASK_PIN}\n ! 1 PinEntry { digits: None }";
        play(&format!("{}\n ! 1 {card} Signature", armed("101")));
        play(&format!("{}\n {asked}\n < {{PIN}}\n ! 1 PinDone\n ! 1 {card} OnlinePin pin", armed("100")));
        // It may be bypassed where the code does not require it.
        for bypass in ["9015", "9000", "9F19"] {
            play(&format!("{}\n {asked}\n < {bypass}\n ! 1 {card} Signature", armed("106")));
            play(&format!(
                "{}\n {asked}\n < {bypass}\n ! 1 no-card Unreadable {{ cause: \"it needs a PIN, which this reader could not take\" }}\n ! idle",
                armed("100")
            ));
        }
        // A chip card must be inserted.
        play(&format!("{}\n ! 1 InsertCard\n {{TAP}}", armed("201")));
        play(&format!("{}\n ! 1 InsertCard\n {{TAP}}", armed("620")));
    }
}

mod host {
    use super::*;

    #[test]
    fn approved() {
        play(&format!(
            "{READ} complete 1 00
                {{APPROVE}}
             14 < {{E3}}
                ! 1 completed Approved Tc
                > DISPLAY APPROVED/REMOVE CARD
                ! 1 RemoveCard
                < 9000
             20 * {{NO_CARD}}
                ! idle"
        ));
    }

    #[test]
    fn declined() {
        play(&format!(
            "{READ} complete 1 Z1
                {{DECLINE}}
                < {{E5}}
                ! 1 completed Refused Arqc
                > DISPLAY DECLINED/REMOVE CARD
                ! 1 RemoveCard"
        ));
    }

    fn completed(more: &str) -> String {
        let terms = "9F02060000000012349F03060000000000005F2A0209789F1A0202768A023030";
        format!("> CONTINUE TRANSACTION {}", t("E0", &format!("{terms}{more}C00101C2023635")))
    }

    #[test]
    fn the_issuers_data_and_scripts_reach_the_card() {
        let authentication = "910A11223344556677883030";
        // The command has one packet, exactly one full packet, several, and Lc of 255 and more.
        let lengths =
            [3, 150, 160, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 300, 412, 413, 414, 415, 480];
        for length in lengths {
            let script = t("72", &"A5".repeat(length));
            play(&format!(
                "{READ} complete 1 00 91 11223344556677883030 scripts {script}
                    {}
                    < {{E3}}
                    ! 1 completed Approved Tc
                    > DISPLAY APPROVED/REMOVE CARD
                    ! 1 RemoveCard",
                completed(&format!("{authentication}{script}"))
            ));
        }
        // Malformed scripts are left out.
        for scripts in ["72FF", "9A03112233"] {
            play(&format!(
                "{READ} complete 1 00 91 11223344556677883030 scripts {scripts}
                    {}
                    < {{E3}}
                    ! 1 completed Approved Tc scripts-dropped
                    > DISPLAY APPROVED/REMOVE CARD
                    ! 1 RemoveCard",
                completed(authentication)
            ));
        }
    }

    #[test]
    fn no_packet_is_full_and_last() {
        for length in 150..=420 {
            let mut player = Player::started(vipa());
            player.play(READ.trim_end().strip_suffix("13").unwrap());
            let script = t("72", &"A5".repeat(length));
            player.line(&format!("complete 1 00 scripts {script}"));
            let mut packets = Vec::new();
            while let Some(pos_reader::driver::PortAction::Write(packet)) = player.session.poll() {
                packets.push(packet);
            }
            let (last, others) = packets.split_last().unwrap();
            assert!(last[1] == 0 && last[2] < 254 && others.iter().all(|packet| packet[1] == 1), "{length}");
        }
    }

    #[test]
    fn the_card_refuses_after_the_host_approved() {
        play(&format!(
            "{READ} complete 1 00
                {{APPROVE}}
                < E50F9F260811223344556677889F2701009000
                ! 1 completed Refused Aac
                > DISPLAY DECLINED/REMOVE CARD
                ! 1 RemoveCard"
        ));
    }

    #[test]
    fn the_card_is_pulled_before_its_last_word() {
        play(&format!(
            "{READ} * {{NO_CARD}}
                complete 1 00
                {{APPROVE}}
                < 9F23
                ! 1 completed Lost
                ! idle"
        ));
        play(&format!(
            "{READ} complete 1 00
                {{APPROVE}}
             20 * {{NO_CARD}}
             25 tick
                > ABORT
                ! 1 completed Lost
                < 9000
                < 9F41
                ! idle"
        ));
    }

    #[test]
    fn no_last_word_in_time_is_lost() {
        play(&format!(
            "{READ}
             20 complete 1 00
                {{APPROVE}}
             21 < 9000
            140 tick
                > ABORT
                ! 1 completed Lost
                ! 1 RemoveCard
                < 9000
                < 9F41
                > DISPLAY REMOVE CARD"
        ));
    }

    #[test]
    fn another_request_instead_of_a_last_word_is_lost() {
        for answer in ["{E2}", "{E4_BARE}"] {
            play(&format!(
                "{READ} complete 1 00
                    {{APPROVE}}
                    < {answer}
                    > ABORT
                    ! 1 completed Lost Arqc
                    ! 1 RemoveCard
                    < 9000
                    > DISPLAY REMOVE CARD"
            ));
        }
    }

    #[test]
    fn the_reader_damaged_or_refused_the_command() {
        for status in ["9F01", "9F21", "9F27"] {
            play(&format!(
                "{READ} complete 1 00\n {{APPROVE}}\n < {status}\n ! 1 completed Lost\n > DISPLAY REMOVE CARD\n ! 1 RemoveCard"
            ));
        }
        for status in ["9F22", "9F24", "9F26", "9FFF"] {
            let mut player = Player::started(vipa());
            player.play(&format!("{READ} complete 1 00\n {{APPROVE}}"));
            player.line(&format!("< {status}"));
            player.line("! 1 completed Lost");
            assert!(player.output().unwrap().starts_with("! unready restarting"), "{status}");
            player.line("> ABORT");
        }
    }

    #[test]
    fn the_first_answer_ends_the_dialogue() {
        play(&format!(
            "{INSERTED} < {{E2}}
                {{GO_ON}}
                < {}9000
                ! 1 card ICC 374245*****1006 Declined sealed 40 ksn FFFF98765432110010A4 Signature
                complete 1 Z1
                ! 1 completed Refused
                > DISPLAY DECLINED/REMOVE CARD
                ! 1 RemoveCard",
            unsealed("E5", "")
        ));
        play(&format!(
            "{INSERTED} < {{E2}}
                {{GO_ON}}
                < {}9000
                ! 1 {{CARD}}
                complete 1 00
                ! 1 completed Approved
                > DISPLAY APPROVED/REMOVE CARD
                ! 1 RemoveCard",
            card("E3", 0x10A5, "")
        ));
    }

    #[test]
    fn aac_is_normal_for_a_refund() {
        let refund = |script: &str| script.replace("arm 1", "refund 1");
        let mut player = Player::started(vipa());
        player.play(&refund("9 * {CARD_IN}\n 10 arm 1\n ! 1 PresentCard\n ! 1 ReadingCard\n > START TRANSACTION E0349C01209F02060000000012349F03060000000000009A032501319F21031234569F1A0202765F2A020978DFA2140101DFA2180100\n < {E2}\n {GO_ON}\n < {E4}\n ! 1 {CARD}"));
        player.play("13 complete 1 00\n {APPROVE}\n < {E5}\n ! 1 completed Refused Arqc\n > DISPLAY APPROVED/REMOVE CARD\n ! 1 RemoveCard");
    }
}

mod typing {
    use super::*;

    fn typed() -> VipaSettings {
        VipaSettings { manual_entry: Some("manual.html".to_owned()), ..vipa() }
    }

    const ASKED: &str = "10 manual 1
            ! 1 TypeCard
            > MANUAL PAN E00FDFAA010B6D616E75616C2E68746D6C
         20";

    fn answer(pan: &str, sealed: &str) -> String {
        format!("{}9000", t("E0", &format!("{}{}{sealed}", t("DFDB01", &hex::encode(pan)), t("DFDB03", "32353132"))))
    }

    #[test]
    fn a_card_number() {
        for tag in ["DFDB01", "DFDB04"] {
            let answer = answer("410039******9976", &sealed(0x10A4)).replace("DFDB01", tag);
            play_with(
                typed(),
                &format!(
                    "{ASKED} < {answer}
                    ! 1 card MANUAL 410039******9976 GoOnline sealed 40 ksn FFFF98765432110010A4
                    complete 1 00
                    ! 1 completed Approved
                    > DISPLAY APPROVED
                    < 9000
                    ! idle"
                ),
            );
        }
    }

    #[test]
    fn it_is_off_without_the_setting() {
        play("10 manual 1\n ! 1 no-card ManualEntryOff\n ! idle");
    }

    #[test]
    fn ends_without_a_number() {
        for (status, why) in [
            ("9F41", "CancelledAtReader"),
            ("9F43", "CancelledAtReader"),
            ("9F45", "CancelledAtReader"),
            ("9F11", "ManualEntryUnknown"),
            ("9F19", "NoKeyLeft"),
            ("9000", "Unreadable { cause: \"the reader's answer was damaged\" }"),
        ] {
            let more = if status == "9F19" { "> GET SECURITY CONFIGURATION\n < {KEYS}\n" } else { "" };
            play_with(typed(), &format!("{ASKED} < {status}\n ! 1 no-card {why}\n {more} ! idle"));
        }
        for order in ["< 9000\n < 9F41", "< 9F43\n < 9000"] {
            play_with(typed(), &format!("{ASKED} cancel 1\n > ABORT\n {order}\n ! 1 no-card CancelledByTill\n ! idle"));
        }
        // A number that was typed at the same moment is not used.
        let late = answer("410039******9976", &sealed(0x10A4));
        play_with(
            typed(),
            &format!("{ASKED} cancel 1\n > ABORT\n < {late}\n < 9000\n ! 1 no-card CancelledByTill\n ! idle"),
        );
        play_with(typed(), &format!("{ASKED}\n 135 tick\n > ABORT\n < 9000\n < 9F41\n ! 1 no-card TimedOut\n ! idle"));
    }

    #[test]
    fn a_number_that_is_not_sealed_ends_everything() {
        for sealed in [
            String::new(),
            sealed_with("", 0x10A4, ""),
            sealed_with("DFDF1208ED02AA537757D99F", 0x10A4, "DFDB0F0400000001"),
        ] {
            play_with(
                typed(),
                &format!(
                    "{ASKED} < {}\n ! unready not-encrypting 40123456 Nothing\n > ABORT",
                    answer("410039******9976", &sealed)
                ),
            );
        }
    }

    #[test]
    fn an_amount() {
        let asked = format!("10 type 1 amount EUR\n > NUMERIC {}\n 20", t("E0", &format!("{}DFA207020A02", prompts())));
        let digits = |digits: &str| format!("{}9000", t("E0", &t("DFA208", &hex::encode(digits))));
        for (answer, then) in [
            (digits("1234"), "typed 12.34 EUR"),
            (digits("12.34"), "typed 12.34 EUR"),
            (digits("0"), "typed-not NotAnAmount"),
            (digits("1.2"), "typed-not NotAnAmount"),
            (digits(""), "typed-not NotAnAmount"),
            ("9F41".to_owned(), "typed-not CancelledAtReader"),
            ("9F43".to_owned(), "typed-not CancelledAtReader"),
        ] {
            play(&format!("{asked} < {answer}\n ! 1 {then}"));
        }
        for order in ["< 9000\n < 9F41", "< 9F43\n < 9000"] {
            play(&format!("{asked} cancel 1\n > ABORT\n {order}\n ! 1 typed-not CancelledByTill"));
        }
        play(&format!("{asked}\n 45 tick\n > ABORT\n < 9F41\n < 9000\n ! 1 typed-not TimedOut"));
        // The reader asks for no tip.
        play("10 type 1 tip 10.00 EUR 5 10\n ! 1 typed-not Unknown");
    }

    /// The prompts of the default settings.
    fn prompts() -> String {
        let prompts = vipa().prompts.amount;
        t("DFA206", &prompts.map(|prompt| format!("{prompt:04X}")).concat())
    }
}

mod texts {
    use super::*;

    #[test]
    fn letters_outside_ascii_have_a_plain_form() {
        for (language, shown) in [
            (ReaderLanguage::English, "INSERT OR SWIPE"),
            (ReaderLanguage::German, "STECKEN ODER ZIEHEN"),
            (ReaderLanguage::French, "INSEREZ OU GLISSEZ"),
            (ReaderLanguage::Polish, "WSUN LUB PRZECIAGNIJ"),
        ] {
            play_with(with_language(language), &format!("{ARMED} ~ 9F33\n ! 1 InsertCard\n > DISPLAY {shown}"));
        }
        play("5 show Müller & Söhne/12,34 zł\n > DISPLAY Muller & Sohne/12,34 zl");
        // A control character moves nothing on the display.
        play("5 show a\u{1B}b\u{7F}c\n > DISPLAY a?b?c");
        // What has no plain form is a question mark, and never a byte outside ASCII.
        play("5 show 1 € ★\n > DISPLAY 1 ? ?");
    }

    #[test]
    fn a_tills_text_is_cut_to_the_display() {
        let rows = "ä".repeat(30);
        play(&format!("5 show {rows}/b/c/d/e\n > DISPLAY {}/b/c/d", "a".repeat(21)));
    }

    #[test]
    fn a_text_that_is_not_answered_restarts_the_reader() {
        play("5 show x\n > DISPLAY x\n 10 tick\n ! unready restarting no answer to DISPLAY\n reopen 0.5");
    }
}

mod line {
    use super::*;

    #[test]
    fn an_answer_of_the_pin_pad_is_not_the_readers() {
        // NAD 02, an empty answer: it ends no command of the reader.
        let other = "raw 0200029000 90";
        play(&format!("{INSERTED} {other}\n < {{E2}}\n {{GO_ON}}\n {other}\n < {{E4}}\n ! 1 {{CARD}}"));
        play(&format!(
            "{ARMED} cancel 1
                > CANCEL CONTACTLESS
                {other}
                {other}
                < 9000
                ~ 9F41
                ! 1 no-card CancelledByTill
                ! idle"
        ));
    }

    #[test]
    fn a_chain_without_its_end_is_given_up() {
        play(&format!(
            "{INSERTED} raw 0101041E023040 6A
             12 tick
             17 tick
                > ABORT
                < 9000
                < 9F41
                ! 1 no-card Unreadable {{ cause: \"the line to the reader is disturbed\" }}
                {REMOVE}"
        ));
    }

    #[test]
    fn the_readers_complaint_about_our_packet_ends_the_sale() {
        // The reader received a damaged packet: the command was not carried out.
        for status in ["9F01", "9F05", "9F0C"] {
            play(&format!(
                "{INSERTED} < {status}
                    > ABORT
                    < 9000
                    {{DECLINE}}
                    < 9F24
                    ! 1 no-card Unreadable {{ cause: \"the reader's answer was damaged\" }}
                    {REMOVE}"
            ));
        }
    }

    #[test]
    fn each_step_has_a_deadline() {
        let mut player = Player::started(vipa());
        assert!(player.session.deadline() <= Some(Duration::from_secs(60)));
        for line in ["10 arm 1", "! 1 PresentCard", "{TAP}"] {
            player.now = Duration::from_secs(10);
            let line = crate::vipa_trace::filled(line.trim_start_matches("10 "));
            player.line(&line);
        }
        assert!(player.session.deadline() <= Some(Duration::from_secs(70)));
        assert!(list().starts_with("E2"));
    }
}
