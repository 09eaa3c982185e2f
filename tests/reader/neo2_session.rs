//! A NEO2 reader's rules for a card, as traces (readers: 4). The virtual reader answers each command by hand.

use std::sync::Arc;

use pos_reader::ReaderSettings;
use pos_reader::neo2::Neo2Settings;

use crate::neo2_trace::{
    AMOUNT, CONTACT, CURRENCY, STARTED, TAP, block, card, card_ksn, key, ksn, masked_track2, neo2, pin, play,
    play_with, result, swipe, swipe_of, text, typed, unsealed,
};
use crate::trace::{Player, settings, t};

const ARMED: &str = "
         10 arm 1
            ! 1 PresentCard
            {ACTIVATE}
         11";

/// The chip has started.
const INSERTED: &str = "
         10 arm 1
            ! 1 PresentCard
            {ACTIVATE}
            {INSERTED}
            ! 1 ReadingCard
            {GO_ON}
            < 60-63
         11";

/// The gateway is asked about a chip.
const READ: &str = "
         10 arm 1
            ! 1 PresentCard
            {ACTIVATE}
            {INSERTED}
            ! 1 ReadingCard
            {GO_ON}
            < 60-63
         12 {CHIP}
            ! 1 {CARD} Signature
         13";

const ENTRY: &str = "{ASK_PIN}\n ! 1 PinEntry { digits: None }\n < 62-63";

fn swiped(entry: &str, ksn_counter: u32) -> String {
    format!("! 1 card {entry} 4761********0010 GoOnline sealed 43 ksn {}", ksn(ksn_counter))
}

mod start_up {
    use super::*;

    #[test]
    fn identity_keys_encryption_poll_mode_and_clock() {
        play("");
    }

    #[test]
    fn without_a_card_key_nothing_starts_until_there_is_one() {
        let (begun, _) = STARTED.split_once("< 81-00 {KEY}").unwrap();
        Player::new(neo2()).play(&format!(
            "{begun} < 81-00 00
               ! unready no-card-key 30003638
            1  arm 7
               ! 7 no-card NotReady
            30 tick
               > KSN 020000
               < 81-00 02
            60 tick
               > KSN 020000
               < 81-00 FF
            90 tick
               > KSN 020000
               < 81-00 {{KEY}}
               > KSN 010000"
        ));
    }

    #[test]
    fn a_reader_that_does_not_know_the_key_command_is_judged_by_its_cards() {
        for status in ["02", "03", "05", "06"] {
            Player::new(neo2()).play(&STARTED.replace("< 81-00 {KEY}", &format!("< 81-{status}")));
        }
        let (begun, _) = STARTED.split_once("< 81-00 {KEY}").unwrap();
        Player::new(neo2()).play(&format!("{begun} < 81-0A\n ! unready no-card-key 30003638"));
    }

    #[test]
    fn a_reader_without_a_pin_key_says_so() {
        for answer in ["81-00 00", "81-00 02", "81-0A", "81-02"] {
            let script = STARTED.replace("< 81-00 {PIN_KEY}", &format!("< {answer}")).replace("pin-key", "no-pin-key");
            Player::new(neo2()).play(&script);
        }
    }

    #[test]
    fn a_reader_whose_encryption_is_off_is_not_used() {
        let (begun, _) = STARTED.split_once("< C7-00 03").unwrap();
        let (_, rest) = STARTED.split_once("< C7-00 03").unwrap();
        // The reader is asked again about its encryption. That it has a key is no answer to this question.
        Player::new(neo2()).play(&format!(
            "{begun} < C7-00 00
               ! unready no-card-key 30003638
             30 tick
               > ENCRYPTION SWITCH
               < C7-00 00
             60 tick
               > ENCRYPTION SWITCH
               < C7-00 03{rest}"
        ));
        for answer in ["C7-02", "C7-03", "C7-00 01"] {
            Player::new(neo2()).play(&STARTED.replace("< C7-00 03", &format!("< {answer}")));
        }
    }

    #[test]
    fn a_clock_that_is_not_trusted_sets_nothing() {
        let settings = ReaderSettings { clock: Arc::new(|| None), ..settings() };
        let (begun, _) = STARTED.split_once("> SET DATE").unwrap();
        Player::new((settings, neo2())).play(&format!("{begun} ! ready 30003638 VP6800 V1.01.057 pin-key"));
    }

    #[test]
    fn another_device_is_named_and_tried_again_later() {
        Player::new(neo2()).play(
            "0   open
                 > CANCEL
                 raw 4154 0D0A 4F4B 0D0A FFFF 00 FFFF FFFF
             1   tick
             5   tick
                 ! unready wrong-device no answer to cancel
                 reopen 0.5
             6   open
                 > CANCEL
                 < 05-00
                 > SERIAL NUMBER
                 < 12-02
                 ! unready wrong-device it answers serial number with 0002 unknown command
                 reopen 1",
        );
    }

    #[test]
    fn a_reader_that_is_not_listed_is_asked_for_no_card() {
        let serials = vec!["30003639".to_owned()];
        Player::new((ReaderSettings { serials, ..settings() }, neo2())).play(
            "0   open
                 > CANCEL
                 < 05-00
                 > SERIAL NUMBER
                 < 12-00 {SERIAL}
                 ! unready not-listed 30003638
                 reopen 0.5",
        );
    }

    #[test]
    fn answers_of_a_dead_programs_sale_are_passed_over() {
        let stale = "{CHIP}\n {TAPPED}\n < 02-0A\n < 62-0A 02";
        let script = STARTED
            .replace("> CANCEL\n", &format!("> CANCEL\n {stale}\n"))
            .replace("> SERIAL NUMBER\n", &format!("> SERIAL NUMBER\n {stale}\n"));
        Player::new(neo2()).play(&script);
    }
}

mod idle {
    use super::*;

    #[test]
    fn it_is_checked_each_minute() {
        let check = "> SET DATE 20250131\n < 25-00\n > SET TIME 1234\n < 25-00\n > PING";
        play(&format!("60 tick\n {check}\n < 18-00\n 120 tick\n {check}\n < 18-00"));
        play(&format!("60 tick\n {check}\n 65 tick\n ! unready restarting no answer to ping\n reopen 0.5"));
    }

    #[test]
    fn what_was_not_asked_for_changes_nothing() {
        play(
            "20 {CHIP}
                {TAPPED}
                {PIN}
                < 05-00
                < 62-00
                < 99-02
                < 61-00
             21 arm 1
                ! 1 PresentCard
                {ACTIVATE}",
        );
    }

    #[test]
    fn a_restart_is_noticed() {
        for when in ["20", ARMED, INSERTED, READ] {
            play(&format!("{when} < 14-01\n ! unready restarting the reader restarted\n reopen 0.5"));
        }
    }
}

mod waiting {
    use super::*;

    #[test]
    fn a_tap_needs_no_answer_of_the_gateway() {
        for (arc, status) in [("00", "23"), ("05", "23"), ("00", "00")] {
            play(&format!(
                "{ARMED} < 02-{status} {}
                    ! 1 {{TAP}} Signature
                    complete 1 {arc}
                    ! 1 completed Approved
                    ! idle
                 20 arm 2
                    ! 2 PresentCard
                    {{ACTIVATE}}",
                card(TAP, "0004", 5, "")
            ));
        }
    }

    #[test]
    fn the_result_code_counts_and_without_it_the_cryptogram() {
        let tap =
            |outcome: &str| format!("! 1 card NFC_ICC 4761********0119 {outcome} sealed 44 ksn {} Signature", ksn(5));
        for (code, outcome) in [("0002", "GoOnline"), ("0003", "Declined"), ("0004", "GoOnline")] {
            play(&format!("{ARMED} < 02-00 {}\n {}", card(TAP, code, 5, ""), tap(outcome)));
        }
        for (information, outcome) in [("40", "GoOnline"), ("80", "GoOnline"), ("00", "Declined")] {
            let answer = card(TAP, "0004", 5, "").replace(&result("0004"), "");
            let answer = answer.replace("9F270180", &format!("9F2701{information}"));
            play(&format!("{ARMED} < 02-00 {answer}\n {}", tap(outcome)));
        }
    }

    #[test]
    fn a_tap_in_magstripe_mode() {
        let answer = card("DFEE2601D19F390191", "0004", 5, "").replace("9F260811223344556677889F270180", "");
        play(&format!(
            "{ARMED} < 02-23 {answer}
                ! 1 card NFC_MAGSTRIPE 4761********0119 GoOnline sealed 44 ksn {} Signature",
            ksn(5)
        ));
    }

    #[test]
    fn a_tap_with_its_pin_in_the_answer() {
        let pin = format!("9F3403420300{}{}", t("99", "B2449FABB96D4228"), t("DFEE51", "FFFF9876543211E00009"));
        play(&format!("{ARMED} < 02-23 {}\n ! 1 {{TAP}} OnlinePin pin", card(TAP, "0004", 5, &pin)));
    }

    #[test]
    fn nobody_presents_a_card() {
        // The reader's time is over first, or the session's.
        play(&format!("{ARMED} 69.9 < 02-08\n ! 1 no-card TimedOut\n ! idle").replace("11 69.9", "70"));
        play(&format!("{ARMED}\n 70 tick\n > CANCEL\n < 05-00\n < 02-0A\n ! 1 no-card TimedOut\n ! idle"));
        // The reader's own time may be shorter than the session's.
        play(&format!("{ARMED}\n 40 < 02-08\n {{ACTIVATE 30}}"));
    }

    #[test]
    fn failed_asks_for_another_tap() {
        play(&format!("{ARMED} < 02-0A\n ! 1 TryAgain\n {{ACTIVATE 59}}\n 12 {{TAPPED}}\n ! 1 {{TAP}} Signature"));
        play(&format!("{ARMED} < 02-00 {}\n ! 1 TryAgain\n {{ACTIVATE 59}}", result("3001")));
    }

    #[test]
    fn a_reader_that_refuses_each_wait_ends_the_sale() {
        let mut script = "10 arm 1\n ! 1 PresentCard\n {ACTIVATE}\n".to_owned();
        for _ in 0..3 {
            script += "< 02-05\n ! 1 InsertCard\n {SLOT 60}\n";
        }
        script += "< 02-05\n ! 1 no-card Unreadable { cause: \"wrong parameter\" }\n > KSN 020000\n";
        play(&format!("{script} < 81-00 {}\n ! idle", key(7)));
        play(&format!("{script} < 81-00 02\n ! unready no-card-key 30003638\n > CANCEL"));
    }

    #[test]
    fn a_reader_in_another_state_is_started_anew() {
        for status in ["0B", "0C"] {
            let mut player = Player::started(neo2());
            player.play(ARMED);
            player.line(&format!("< 02-{status}"));
            assert!(player.output().unwrap().starts_with("! unready restarting the reader lost its state"), "{status}");
            player.line("> CANCEL");
        }
    }

    #[test]
    fn another_amount_or_currency_is_refused() {
        for (right, wrong) in [
            (AMOUNT, "9F0206000000001235"),
            (CURRENCY, "5F2A020840"),
            (AMOUNT, ""),
            (CURRENCY, ""),
            (AMOUNT, "9F02060000000012349F0206000000009999"),
        ] {
            let differs = "! 1 no-card AmountDiffers\n ! idle";
            let tapped = card(TAP, "0004", 5, "").replace(right, wrong);
            play(&format!("{ARMED} < 02-23 {tapped}\n {differs}"));
            // A chip waits for the answer, and hears that it is declined.
            let chip = card(CONTACT, "0004", 5, "").replace(right, wrong);
            play(&format!("{INSERTED} < 60-00 {chip}\n {{DECLINE}}\n < 60-63\n {{AAC}}\n {differs}"));
        }
    }
}

mod cancelled {
    use super::*;

    const ENDED: &str = "! 1 no-card CancelledByTill\n ! idle\n 30 arm 2\n ! 2 PresentCard\n {ACTIVATE}";

    #[test]
    fn in_every_order_of_the_answers() {
        for order in ["< 05-00\n < 02-0A", "< 02-0A\n < 05-00", "< 05-00\n < 02-08", "< 02-08\n < 05-00"] {
            play(&format!("{ARMED} cancel 1\n > CANCEL\n {order}\n {ENDED}"));
        }
        // The reader does not answer the wait.
        play(&format!("{ARMED} cancel 1\n > CANCEL\n < 05-00\n 11.5 tick\n > PING\n < 18-00\n {ENDED}"));
    }

    #[test]
    fn a_card_that_comes_late_is_used_by_no_other_sale() {
        let late = "cancel 1\n > CANCEL\n < 05-00\n 11.5 tick\n > PING\n {TAPPED}";
        play(&format!("{ARMED} {late}\n < 18-00\n {ENDED}"));
        // A reader that answers nothing more is started again.
        play(&format!("{ARMED} {late}\n 17 tick\n ! unready restarting no answer to ping\n reopen 0.5"));
    }

    #[test]
    fn without_an_answer_the_reader_is_started_anew() {
        play(&format!(
            "{ARMED} cancel 1
                > CANCEL
             16 tick
                ! unready restarting no answer to ABORT
                reopen 0.5"
        ));
    }

    #[test]
    fn a_tap_that_was_faster_is_not_used() {
        for order in ["{TAPPED}\n < 05-00", "< 05-00\n {TAPPED}"] {
            play(&format!("{ARMED} cancel 1\n > CANCEL\n {order}\n {ENDED}"));
        }
    }

    #[test]
    fn a_swipe_that_was_faster_is_not_used() {
        let swipe = swipe("101", 5);
        for order in [format!("< 02-00 {swipe}\n < 05-00"), format!("< 05-00\n < 02-00 {swipe}")] {
            play(&format!("{ARMED} cancel 1\n > CANCEL\n {order}\n {ENDED}"));
        }
    }

    #[test]
    fn a_chip_that_was_faster_is_declined() {
        for order in ["{CHIP}\n < 05-00", "< 05-00\n {CHIP}"] {
            play(&format!("{INSERTED} cancel 1\n > CANCEL\n {order}\n {{DECLINE}}\n < 60-63\n {{AAC}}\n {ENDED}"));
        }
        // UNCERTAIN: that the answer to the wait may be the chip's own decision.
        let chip = card(CONTACT, "0004", 5, "");
        for order in [format!("< 02-00 {chip}\n < 05-00"), format!("< 05-00\n < 02-00 {chip}")] {
            play(&format!("{ARMED} cancel 1\n > CANCEL\n {order}\n {{DECLINE}}\n < 60-63\n {{AAC}}\n {ENDED}"));
        }
        for order in ["< 60-0A\n < 05-00", "< 05-00\n < 60-0A"] {
            play(&format!("{INSERTED} cancel 1\n > CANCEL\n {order}\n {ENDED}"));
        }
    }

    #[test]
    fn while_a_pin_is_entered_in_both_orders() {
        for order in ["< 62-00\n < 62-0A 02", "< 62-0A 02\n < 62-00"] {
            play(&format!(
                "{INSERTED} {{CHIP_PIN}}
                    {ENTRY}
                    cancel 1
                    > CANCEL KEYPAD
                    {order}
                    {{DECLINE}}
                    < 60-63
                    {{AAC}}
                    {ENDED}"
            ));
            play(&format!(
                "{ARMED} < 02-00 {}\n {ENTRY}\n cancel 1\n > CANCEL KEYPAD\n {order}\n {ENDED}",
                swipe("120", 5)
            ));
        }
    }

    #[test]
    fn while_a_number_is_typed() {
        let typed = format!("< 83-00 {}", typed(5));
        for order in ["< 05-00\n < 83-0A", "< 83-0A\n < 05-00", &format!("{typed}\n < 05-00")] {
            play(&format!("10 manual 1\n ! 1 TypeCard\n {{TYPE}}\n cancel 1\n > CANCEL\n {order}\n {ENDED}"));
        }
    }
}

mod chip {
    use super::*;

    #[test]
    fn approved_by_the_host_and_the_card() {
        play(&format!("{READ} complete 1 00\n {{APPROVE}}\n < 60-63\n 14 {{TC}}\n ! 1 completed Approved Tc\n ! idle"));
    }

    #[test]
    fn the_first_response_may_be_empty() {
        play(&format!("{READ} complete 1 00\n {{APPROVE}}\n < 60-00\n {{TC}}\n ! 1 completed Approved Tc\n ! idle"));
    }

    #[test]
    fn refused_by_the_host_or_the_card() {
        play(&format!(
            "{READ} complete 1 05
                > APPLY HOST RESPONSE 8A023035
                {{AAC}}
                ! 1 completed Refused Aac
                ! idle"
        ));
        play(&format!("{READ} complete 1 00\n {{APPROVE}}\n {{AAC}}\n ! 1 completed Refused Aac\n ! idle"));
    }

    #[test]
    fn the_issuers_data_and_scripts_reach_the_card() {
        // The command has one write, and several.
        for length in [3, 60, 120, 200, 300, 480] {
            let script = t("72", &t("86", &"01".repeat(length)));
            play(&format!(
                "{READ} complete 1 00 91 11223344556677883030 scripts {script}
                    > APPLY HOST RESPONSE 8A023030910A11223344556677883030{script}
                    {{TC}}
                    ! 1 completed Approved Tc
                    ! idle"
            ));
        }
        for scripts in ["72FF", "9A03112233"] {
            play(&format!(
                "{READ} complete 1 00 scripts {scripts}
                    {{APPROVE}}
                    {{TC}}
                    ! 1 completed Approved Tc scripts-dropped
                    ! idle"
            ));
        }
    }

    #[test]
    fn its_last_word_is_lost() {
        for status in ["0A", "08", "05", "1D"] {
            play(&format!(
                "{READ} complete 1 00\n {{APPROVE}}\n < 60-63\n < 60-{status}\n ! 1 completed Lost\n ! idle"
            ));
        }
        play(&format!(
            "{READ} complete 1 00
                {{APPROVE}}
                < 60-63
            133 tick
                > CANCEL
                ! 1 completed Lost
                < 05-00
                < 60-0A
                ! idle"
        ));
        // Another request instead of a last word.
        play(&format!(
            "{READ} complete 1 00
                {{APPROVE}}
                {{CHIP}}
                > CANCEL
                ! 1 completed Lost Arqc
                < 05-00
                ! idle"
        ));
    }

    #[test]
    fn the_reader_may_only_say_that_a_card_is_in_the_slot() {
        play(&format!(
            "{ARMED} < 02-00 {CONTACT}
                ! 1 ReadingCard
                {{START}}
                < 60-63
                < 60-00 {}{CONTACT}
                {{GO_ON}}
                {{CHIP}}
                ! 1 {{CARD}} Signature",
            result("0010")
        ));
    }

    #[test]
    fn failed_is_tried_again_and_then_a_swipe_is_accepted() {
        play(&format!(
            "{INSERTED} < 60-0A
                ! 1 InsertCard
                {{ACTIVATE 59}}
             12 {{INSERTED}}
                ! 1 ReadingCard
                {{GO_ON}}
                < 60-0A
                ! 1 InsertCard
                {{ACTIVATE 58}}
             13 {{INSERTED}}
                ! 1 ReadingCard
                {{GO_ON}}
                < 60-00 {}
                ! 1 SwipeCard
                {{SLOT 57}}
             14 < 02-00 {}
                {} Signature",
            result("3002"),
            swipe("201", 5),
            swiped("MAGSTRIPE_AS_FALLBACK", 5)
        ));
    }

    #[test]
    fn the_reader_itself_asks_for_a_swipe_after_a_failed_chip() {
        let swipe = swipe_of(&block(0x80, &masked_track2("201"), true, 5), "80");
        play(&format!("{ARMED} < 02-00 {swipe}\n {} Signature", swiped("MAGSTRIPE_AS_FALLBACK", 5)));
    }

    #[test]
    fn a_chip_is_asked_for_without_a_tap() {
        play(
            "10 chip 1\n ! 1 InsertCard\n {SLOT}\n {INSERTED}\n ! 1 ReadingCard\n {GO_ON}\n {CHIP}\n ! 1 {CARD} Signature",
        );
        // A swipe is not what was asked for.
        play(&format!(
            "10 chip 1\n ! 1 InsertCard\n {{SLOT}}\n 11 < 02-00 {}\n ! 1 InsertCard\n {{SLOT 59}}",
            swipe("101", 5)
        ));
    }

    #[test]
    fn decisions_are_not_made_for_ever() {
        let started = format!("< 60-00 {}{CONTACT}\n", result("0010"));
        let again = format!("{started} {{GO_ON}}\n").repeat(7);
        play(&format!(
            "{INSERTED} {again} {started}
                > CANCEL
                < 05-00
                ! 1 no-card Unreadable {{ cause: \"the reader asks for too many decisions\" }}
                ! idle"
        ));
    }

    #[test]
    fn its_first_answer_ends_the_dialogue() {
        for (code, outcome, verdict) in [("0003", "Declined", "Refused"), ("0002", "GoOnline", "Approved")] {
            play(&format!(
                "{INSERTED} < 60-00 {}
                    ! 1 card ICC 4761********0119 {outcome} sealed 44 ksn {} Signature
                    complete 1 00
                    ! 1 completed {verdict}
                    ! idle",
                card(CONTACT, code, 5, ""),
                ksn(5)
            ));
        }
        // A card that has declined needs no sealed data.
        play(&format!(
            "{INSERTED} < 60-00 {}\n ! 1 card ICC no-pan Declined sealed 0 ksn  Signature",
            unsealed(CONTACT, "0003", "")
        ));
    }
}

mod pin_entry {
    use super::*;

    #[test]
    fn of_a_chip_and_of_a_tap() {
        play(&format!("{INSERTED} {{CHIP_PIN}}\n {ENTRY}\n 20 {{PIN}}\n ! 1 PinDone\n ! 1 {{CARD}} OnlinePin pin"));
        play(&format!("{ARMED} {{TAPPED_PIN}}\n {ENTRY}\n 20 {{PIN}}\n ! 1 PinDone\n ! 1 {{TAP}} OnlinePin pin"));
    }

    #[test]
    fn of_a_swipe() {
        let card = swiped("MAGSTRIPE", 5);
        for code in ["120", "126"] {
            play(&format!(
                "{ARMED} < 02-00 {}\n {ENTRY}\n 20 {{PIN}}\n ! 1 PinDone\n {card} OnlinePin pin",
                swipe(code, 5)
            ));
        }
        // The first response may be empty, and may be left out.
        for first in ["< 62-00\n", ""] {
            let entry = ENTRY.replace("< 62-63", first);
            play(&format!(
                "{ARMED} < 02-00 {}\n {entry}\n 20 {{PIN}}\n ! 1 PinDone\n {card} OnlinePin pin",
                swipe("120", 5)
            ));
        }
    }

    #[test]
    fn each_end_without_a_pin_declines_the_chip() {
        for (answer, why) in [
            ("00 01", "CancelledAtReader"),
            ("0A 01", "CancelledAtReader"),
            ("0A 02", "CancelledAtReader"),
            ("0A 05", "PinMissing"),
            ("0A 06", "PinMissing"),
            ("08", "TimedOut"),
            ("0A 04", "Unreadable { cause: \"the PIN entry failed\" }"),
            ("0A 07", "Unreadable { cause: \"the PIN entry failed\" }"),
            ("00 00", "Unreadable { cause: \"the PIN entry failed\" }"),
        ] {
            let declined = format!("{{DECLINE}}\n < 60-63\n {{AAC}}\n ! 1 no-card {why}\n ! idle");
            play(&format!("{INSERTED} {{CHIP_PIN}}\n {ENTRY}\n < 62-{answer}\n {declined}"));
        }
    }

    #[test]
    fn a_tap_without_its_pin_hears_nothing() {
        play(&format!("{ARMED} {{TAPPED_PIN}}\n {ENTRY}\n < 62-0A 01\n ! 1 no-card CancelledAtReader\n ! idle"));
    }

    #[test]
    fn a_swipe_without_a_key_signs_if_it_may() {
        let needs = "! 1 no-card Unreadable { cause: \"it needs a PIN, which this reader could not take\" }\n ! idle";
        let asked = |code: &str| format!("{ARMED} < 02-00 {}\n {ENTRY}\n < 62-0A 05\n", swipe(code, 5));
        play(&format!("{} {needs}", asked("120")));
        play(&format!("{} {} Signature", asked("126"), swiped("MAGSTRIPE", 5)));
    }

    #[test]
    fn nobody_enters_it() {
        play(&format!(
            "{INSERTED} {{CHIP_PIN}}
                {ENTRY}
            131 tick
                > CANCEL KEYPAD
                < 62-00
                < 62-0A 02
                {{DECLINE}}
                < 60-63
                {{AAC}}
                ! 1 no-card TimedOut
                ! idle"
        ));
    }

    #[test]
    fn its_key_is_accepted_once() {
        let swipe = |sale: u32, counter: u32| {
            format!(
                "< 02-00 {}\n {}\n < 62-00 {}\n ! {sale} PinDone",
                swipe("120", counter),
                ENTRY.replace("! 1", &format!("! {sale}")),
                pin(9)
            )
        };
        play(&format!(
            "{ARMED} {}
                {} OnlinePin pin
                complete 1 00
                ! 1 completed Approved
                ! idle
             20 arm 2
                ! 2 PresentCard
                {{ACTIVATE}}
                {}
                ! unready not-encrypting 30003638 KeyAgain
                > CANCEL",
            swipe(1, 5),
            swiped("MAGSTRIPE", 5),
            swipe(2, 6)
        ));
    }
}

mod stripe {
    use super::*;

    #[test]
    fn a_card_with_a_chip_must_be_inserted() {
        for code in ["201", "620"] {
            play(&format!(
                "{ARMED} < 02-00 {}
                    ! 1 InsertCard
                    {{ACTIVATE 59}}
                 12 {{INSERTED}}
                    ! 1 ReadingCard
                    {{GO_ON}}
                    {{CHIP}}
                    ! 1 {{CARD}} Signature",
                swipe(code, 4)
            ));
        }
    }

    /// Checks a reader that masks the service code. The block says whether the card has a chip.
    #[test]
    fn the_service_code_may_be_masked() {
        let masked = |has_chip| swipe_of(&block(0x80, &masked_track2("***"), has_chip, 5), "90");
        play(&format!("{ARMED} < 02-00 {}\n ! 1 InsertCard\n {{ACTIVATE 59}}", masked(true)));
        play(&format!("{ARMED} < 02-00 {}\n {} Signature", masked(false), swiped("MAGSTRIPE", 5)));
    }

    #[test]
    fn nothing_was_read() {
        let empty = format!("{}9F390190DFEE2601C8", result("0011"));
        play(&format!("{ARMED} < 02-00 {empty}\n ! 1 TryAgain\n {{ACTIVATE 59}}"));
    }

    #[test]
    fn without_encryption_everything_ends() {
        let track = masked_track2("101");
        let head = [0x80, 0x02, 0, u8::try_from(track.len()).unwrap(), 0, 0x02, 0x00];
        let block = crate::neo2_trace::framed(&[&head[..], track.as_bytes()].concat());
        play(&format!(
            "{ARMED} < 02-00 {}\n ! unready not-encrypting 30003638 Nothing\n > CANCEL",
            swipe_of(&block, "90")
        ));
    }
}

mod typing {
    use super::*;

    const ASKED: &str = "10 manual 1\n ! 1 TypeCard\n {TYPE}\n 20";

    #[test]
    fn a_card_number() {
        for data in [typed(5), t("DFEE23", &typed(5))] {
            play(&format!(
                "{ASKED} < 83-00 {data}
                    ! 1 card MANUAL 4761********0010 GoOnline sealed 27 ksn {}
                    complete 1 00
                    ! 1 completed Approved
                    ! idle",
                ksn(5)
            ));
        }
    }

    #[test]
    fn the_settings_decide_what_is_asked_for() {
        play_with(Neo2Settings::default(), "10 manual 1\n ! 1 no-card ManualEntryOff\n ! idle");
        let both = Neo2Settings { manual_entry: true, verification_value: true };
        play_with(both, "10 manual 1\n ! 1 TypeCard\n > MANUAL PAN 003C2700");
    }

    #[test]
    fn ends_without_a_number() {
        let unreadable = |cause: &str| format!("Unreadable {{ cause: \"{cause}\" }}");
        for (answer, why) in [
            ("08", "TimedOut".to_owned()),
            ("02", "ManualEntryUnknown".to_owned()),
            ("03", "ManualEntryUnknown".to_owned()),
            ("0A", unreadable("failed")),
            ("00", unreadable("the reader's answer was damaged")),
            ("00 0200", unreadable("the reader's answer was damaged")),
            ("04", unreadable("the reader's answer was damaged")),
        ] {
            play(&format!("{ASKED} < 83-{answer}\n ! 1 no-card {why}\n ! idle"));
        }
        play("10 type 1 amount EUR\n ! 1 typed-not Unknown");
    }
}

mod call_backs {
    use super::*;

    #[test]
    fn a_text_is_reported_once() {
        let say = |line: &str| format!("< 61-01 {}", text("03", &[line]));
        let (wait, again) = (say("\u{1}PLEASE WAIT"), say("\u{1}TRY AGAIN"));
        play(&format!(
            "{INSERTED} {wait}
                ! 1 ReaderText(\"PLEASE WAIT\")
                {wait}
                {again}
                ! 1 ReaderText(\"TRY AGAIN\")
                < 61-01 10
                < 61-01 0302001E000200656E02008107
             20 {{CHIP}}
                ! 1 {{CARD}} Signature
                {wait}",
        ));
    }

    #[test]
    fn of_a_menu_the_first_line_is_chosen() {
        for (mode, lines, answer) in [
            ("01", &["\u{1}VISA", "\u{2}OTHER"][..], "0101 0001"),
            ("01", &["\u{5}OTHER"], "0101 0005"),
            ("08", &["\u{1}ENGLISH", "\u{2}DEUTSCH"], "0801 0001"),
            ("02", &["\u{1}PRESS OK"], "0201 0001"),
            // Without a line, a key is a key, and a menu is cancelled.
            ("02", &[], "0201 0000"),
            ("01", &[], "0100 00"),
        ] {
            let answer = answer.replace(' ', "");
            play(&format!(
                "{INSERTED} < 61-01 {}
                    > DISPLAYED {answer}
                    {{CHIP}}
                    ! 1 {{CARD}} Signature",
                text(mode, lines)
            ));
        }
    }

    #[test]
    fn a_pin_at_another_keypad_is_refused_and_a_stripe_ignored() {
        play(&format!("{INSERTED} < 61-02 0100\n > REFUSE PIN 00\n < 61-03 01\n {{CHIP}}\n ! 1 {{CARD}} Signature"));
    }

    #[test]
    fn wrong_lengths_are_not_answered() {
        for data in ["01", "0102", "010200", "0102001E00FF00", "0102001E000200656EFF0001", "01FFFF"] {
            play(&format!("{INSERTED} < 61-01 {data}\n {{CHIP}}\n ! 1 {{CARD}} Signature"));
        }
    }

    #[test]
    fn a_response_to_our_answer_is_no_call_back() {
        play(&format!("{INSERTED} < 61-00\n < 61-0B\n {{CHIP}}\n ! 1 {{CARD}} Signature"));
    }
}

mod line {
    use super::*;

    #[test]
    fn an_answer_to_another_command_is_not_the_answer() {
        let others = "< 60-00\n {CHIP}\n {TC}\n {PIN}\n < 83-0A\n < 18-00\n < 05-00";
        play(&format!("{ARMED} {others}\n {{TAPPED}}\n ! 1 {{TAP}} Signature"));
    }

    #[test]
    fn a_frame_without_its_end_is_given_up() {
        play(&format!(
            "{INSERTED} raw 5669564F7465636832006000 0FFF 9F02
             12 tick
             17 < 60-63"
        ));
        play(&format!(
            "{INSERTED} raw 5669564F7465636832006000 0FFF 9F02
             12 tick
             17 tick
                > CANCEL
                < 05-00
                < 60-0A
                ! 1 no-card Unreadable {{ cause: \"the line to the reader is disturbed\" }}
                ! idle"
        ));
    }

    #[test]
    fn the_readers_complaint_about_our_frame_ends_the_sale() {
        for status in ["01", "04"] {
            play(&format!(
                "{INSERTED} < 60-{status}
                    > CANCEL
                    < 05-00
                    {{DECLINE}}
                    < 60-0B
                    ! 1 no-card Unreadable {{ cause: \"the reader's answer was damaged\" }}
                    ! idle"
            ));
        }
    }

    #[test]
    fn frames_with_the_newer_header_are_read() {
        use pos_reader_link::neo2_link::{HeaderKind, Neo2Direction, Neo2Frame, encode_frame};
        let data = hex::decode(card(TAP, "0004", 5, "")).unwrap();
        let header = HeaderKind::VivopayV3;
        let frame = Neo2Frame { header, command: 0x02, sub_or_status: 0x23, data: &data };
        let bytes = hex::encode(encode_frame(Neo2Direction::Response, &frame).unwrap());
        play(&format!("{ARMED} raw {bytes}\n ! 1 {{TAP}} Signature"));
    }

    #[test]
    fn aes_has_a_longer_ksn() {
        let ksn = "000098765432100000000005";
        let sealed = crate::neo2_trace::SEALED.replace("57C118AE5BC24D0F83E39A44D3A74D8E18F0D0B1F5A7C06C8E2291", "");
        let answer = unsealed("DFEE2601C39F390107", "0004", &format!("{}{sealed}", t("DFEE12", ksn)));
        play(&format!(
            "{ARMED} < 02-23 {answer}
                ! 1 card NFC_ICC 4761********0119 GoOnline sealed 18 ksn {ksn} Signature"
        ));
        assert_ne!(card_ksn(5), t("DFEE12", ksn));
    }
}
