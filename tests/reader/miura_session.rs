//! A Miura reader's rules for a card, run as traces (`support/trace.rs`).

use std::sync::Arc;
use std::time::Duration;

use crate::trace::*;
use pos_reader::driver::PortAction;
use pos_reader::miura::{MiuraSession, MiuraSettings};
use pos_reader::{LocalTime, ReaderEvent, ReaderLanguage, ReaderOrder, ReaderSettings};
use pos_reader_link::apdu_link::{Nad, chain};
use pos_terms::card::Cvm;
use pos_terms::transaction::SaleNumber;

mod start_up {
    use super::*;

    #[test]
    fn identity_keys_clock_and_card_events() {
        play("");
    }

    #[test]
    fn a_transaction_of_a_dead_program_is_aborted_and_passed_over() {
        Player::new(settings()).play(&format!(
            "0 open
               > ABORT
               * E60FC30101C40A506F7765726564204F6E
               < {}
               < 9000
               > RESET DEVICE
               < 9F41
               < {RESET}
               > P2PE STATUS",
            e4("").replace("5F2A020978", "5F2A020826")
        ));
    }

    #[test]
    fn the_reader_s_clock_is_read_when_ours_is_not_trusted() {
        let settings = ReaderSettings { clock: Arc::new(|| None), ..settings() };
        let script = STARTED
            .replace(
                "> SYSTEM CLOCK E00B9A032501319F2103123456\n       < 9000",
                "> SYSTEM CLOCK\n < E10B9A032502289F21031112139000",
            )
            .replace(
                "pin-key",
                "pin-key clock LocalTime { year: 25, month: 2, day: 28, hour: 11, minute: 12, second: 13 }",
            )
            .replace("{RESET}", RESET)
            .replace("{P2PE}", P2PE)
            .replace("{INFO}", INFO)
            .replace("{CONFIG}", CONFIG)
            .replace("{NO_CARD}", NO_CARD);
        Player::new(settings).play(&script);
    }

    #[test]
    fn without_a_card_key_nothing_starts_until_there_is_one() {
        Player::new(settings()).play(&format!(
            "0 open
               > ABORT
               < 9000
               > RESET DEVICE
               < {RESET}
               > P2PE STATUS
               < E105DFAE0101039000
               ! unready no-card-key 04000203
            1  arm 7
               ! 7 no-card NotReady
            30 tick
               > P2PE STATUS
               < E105DFAE0101039000
            60 tick
               > P2PE STATUS
               < {P2PE}
               > GET DEVICE INFO
               < 6D00
               > GET CONFIGURATION
               < 6D00
               > SYSTEM CLOCK E00B9A032501319F2103123456"
        ));
    }

    #[test]
    fn a_reader_that_is_not_listed_is_asked_for_no_card() {
        let serials = vec!["04000204".to_owned()];
        Player::new(ReaderSettings { serials, ..settings() }).play(&format!(
            "0   open
                 > ABORT
                 < 9000
                 > RESET DEVICE
                 < {RESET}
                 ! unready not-listed 04000203
                 reopen 0.5
             0.2 arm 7
                 ! 7 no-card NotReady
             0.5 open
                 > ABORT
                 < 9000
                 > RESET DEVICE
                 < {RESET}
                 reopen 1"
        ));
        let serials = vec!["1".to_owned(), "04000203".to_owned()];
        play_with(
            ReaderSettings { serials, ..settings() },
            "1 arm 7\n ! 7 PresentCard\n > START CONTACTLESS TRANSACTION",
        );
    }

    #[test]
    fn the_configuration_is_told_with_the_reader() {
        let mut player = Player::new(settings());
        player.line("open");
        let script = filled(STARTED);
        for line in script.lines().map(str::trim).filter(|line| line.starts_with(['>', '<', '*'])) {
            player.line(line);
        }
        let ready = player.session.poll();
        let Some(PortAction::Report(ReaderEvent::Ready(identity))) = ready else { panic!("{ready:?}") };
        let files: Vec<_> =
            identity.configuration.iter().map(|file| (file.name.as_str(), file.version.as_str())).collect();
        assert_eq!(files, [("A", "1")]);
    }

    #[test]
    fn no_answer_and_wrong_answers_are_told_once_and_tried_again_later() {
        Player::new(settings()).play(
            "0   closed No such file or directory
                 ! unready absent No such file or directory
                 reopen 0.5
             0.5 closed No such file or directory
                 reopen 1
             1.5 open
                 > ABORT
             6.5 tick
                 ! unready wrong-device no answer to ABORT
                 reopen 2
             8.5 open
                 > ABORT
                 raw 4154 0D0A 4F4B 0D0A FFFF 00 FFFF FFFF
             9.5 tick
             13.5 tick
                 reopen 4",
        );
    }
}

/// A reader that sends more bytes than any real reader.
mod flood {
    use super::*;

    /// A number of bytes far above the few messages and kilobytes that a reader may send unasked.
    const ENOUGH: usize = 256 * 1024;

    fn packet(unsolicited: bool, message: &str) -> Vec<u8> {
        let message = hex::decode(message).unwrap();
        chain(Nad::Reader, unsolicited, &message, 254).unwrap().flatten().collect()
    }

    /// Lists messages that can be repeated endlessly.
    fn floods() -> Vec<(&'static str, Vec<u8>)> {
        let huge = chain(Nad::Reader, true, &[0xE6; 500], 254).unwrap().next().unwrap().to_vec();
        vec![
            ("device status", packet(true, "E60AC301C0C4056E6F6973659000")),
            ("a card in and out", [packet(true, "E104480203009000"), packet(true, "E104480200009000")].concat()),
            ("keys", packet(true, "E005DFA205010D9000")),
            ("answers that nobody waits for", packet(false, "9000")),
            ("messages that cannot be understood", packet(true, "E1FF9000")),
            ("garbage", vec![0xFF; 64]),
            ("beginnings of packets", vec![0x01, 0x40, 0xFE, 0xE6]),
            ("a message without an end", huge),
        ]
    }

    /// Repeats the bytes until the session closes the port. Returns the session's other actions, with the reason, and
    /// the time for which the port stays closed.
    fn say(player: &mut Player, bytes: &[u8]) -> (Vec<String>, f64) {
        let mut done = Vec::new();
        let mut said = 0;
        loop {
            player.session.bytes(bytes, player.now);
            said += bytes.len();
            while let Some(output) = player.output() {
                match output.strip_prefix("reopen ") {
                    Some(seconds) => return (done, seconds.parse().unwrap()),
                    None => done.push(output),
                }
            }
            assert!(said < ENOUGH, "{said} bytes were taken");
        }
    }

    #[test]
    fn it_is_not_listened_to_whatever_it_says() {
        for (what, bytes) in floods() {
            let mut player = Player::started(settings());
            let (done, seconds) = say(&mut player, &bytes);
            assert_eq!((done.last().map(String::as_str), seconds), (Some("! unready flooding 2"), 2.0), "{what}");
            // The session accepts no further bytes from the reader and sends it no further commands.
            player.session.bytes(&bytes, player.now);
            player.line("arm 7");
            player.line("! 7 no-card NotReady");
            assert_eq!(player.session.deadline(), None, "{what}");
        }
    }

    #[test]
    fn a_sale_is_over_for_it_at_every_stage() {
        for card_is_read in [false, true] {
            for (what, bytes) in floods() {
                let mut player = Player::started(settings());
                player.play("10 arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION");
                if card_is_read {
                    for line in filled("* {CARD_IN}\n< 9F43").lines() {
                        player.line(line);
                    }
                    while player.output().is_some() {}
                }
                let (done, _) = say(&mut player, &bytes);
                assert_eq!(done.last().map(String::as_str), Some("! unready flooding 2"), "{what}");
                assert!(done.len() < 1000, "{what}: {} things were done", done.len());
            }
        }
    }

    #[test]
    fn it_waits_longer_each_time_although_it_starts_well_and_is_forgiven_after_a_while() {
        let mut player = Player::started(settings());
        let (_, garbage) = floods().remove(5);
        let mut waits = Vec::new();
        for _ in 0..7 {
            let (_, seconds) = say(&mut player, &garbage);
            waits.push(seconds);
            player.now += Duration::from_secs_f64(seconds);
            player.play(&STARTED.replacen("0  open", "open", 1));
        }
        assert_eq!(waits, [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
        player.now += Duration::from_secs(600);
        assert_eq!(say(&mut player, &garbage).1, 2.0);
    }

    #[test]
    fn a_reader_at_work_is_none() {
        let mut player = Player::started(settings());
        for sale in 1..=500 {
            player.now += Duration::from_millis(10);
            player.line(&format!("arm {sale}"));
            while player.output().is_some() {}
            for _ in 0..60 {
                player.session.bytes(&packet(true, "E60AC301C0C4056E6F6973659000"), player.now);
            }
            player.session.bytes(&packet(false, "9F41"), player.now);
            player.session.bytes(&packet(false, "9000"), player.now);
            while let Some(output) = player.output() {
                assert!(!output.contains("flooding"), "sale {sale}");
            }
        }
    }
}

mod chip {
    use super::*;

    #[test]
    fn online_pin_approved_and_removed() {
        play(
            "10 arm 1
                ! 1 PresentCard
                > START CONTACTLESS TRANSACTION
             12 * {CARD_IN}
                < 9F43
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
             13 * E60DC30102C40350494EDFA1010104
                ! 1 PinEntry { digits: Some(4) }
                * E610C30102C40650494E204F4BDFA1020102
                ! 1 PinDone
             14 < {E4_PIN}
                ! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F OnlinePin pin
             15 complete 1 00 91 11223344556677883030
                > CONTINUE TRANSACTION E0108A023030910A11223344556677883030
             16 < {E3}
                ! 1 completed Approved Tc
                > DISPLAY TEXT APPROVED/REMOVE CARD
                ! 1 RemoveCard
                < 9000
             20 * {NO_CARD}
                ! idle
             21 arm 2
                ! 2 PresentCard
                > START CONTACTLESS TRANSACTION",
        );
    }

    /// Checks a sale without contactless: a swipe is accepted only after the chip has failed.
    #[test]
    fn the_chip_alone() {
        const ASKED: &str = "chip 1
                ! 1 InsertCard
                > DISPLAY TEXT INSERT CARD
                < 9000
            12 * {SWIPE}
                ! 1 InsertCard
                > DISPLAY TEXT INSERT CARD
                < 9000
            13 * {CARD_IN}
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978";
        play(
            &format!(
                "{ASKED}
            14 < {{E4}}
                ! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature"
            )
            .replace("{SWIPE}", &swipe("101")),
        );
        play(
            &format!(
                "{ASKED}
            14 < 9F30
                ! 1 SwipeCard
                > DISPLAY TEXT REMOVE CARD/SWIPE CARD"
            )
            .replace("{SWIPE}", &swipe("101")),
        );
        // The deadline is the same as for any other card.
        play("chip 1\n ! 1 InsertCard\n > DISPLAY TEXT INSERT CARD\n < 9000\n 60 tick\n ! 1 no-card TimedOut\n ! idle");
    }

    #[test]
    fn a_card_already_in_the_slot_is_started_at_once() {
        play(
            "9  * {CARD_IN}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978",
        );
    }

    const CARD: &str = "! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature";

    const READ: &str = "
             9  * {CARD_IN}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
             11 < {E4}
                ! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature
                ";

    #[test]
    fn the_card_refuses_after_the_host_approved() {
        play(&format!(
            "{READ} complete 1 00
                > CONTINUE TRANSACTION E0048A023030
                < E5169F260811223344556677889F270100950500000000009000
                ! 1 completed Refused Aac
                > DISPLAY TEXT DECLINED/REMOVE CARD
                ! 1 RemoveCard"
        ));
    }

    #[test]
    fn the_card_was_pulled_before_its_last_word() {
        play(&format!(
            "{READ} * {{NO_CARD}}
                complete 1 00
                > CONTINUE TRANSACTION E0048A023030
                < 9F23
                ! 1 completed Lost
                ! idle"
        ));
    }

    #[test]
    fn no_last_word_in_time_is_lost() {
        play(&format!(
            "{READ}
             20 complete 1 00
                > CONTINUE TRANSACTION E0048A023030
             140 tick
                > ABORT
                ! 1 completed Lost
                ! 1 RemoveCard
             141 < 9000
             142 < 9F41
                > DISPLAY TEXT REMOVE CARD
                < 9000
                * {{NO_CARD}}
                ! idle"
        ));
    }

    #[test]
    fn a_damaged_last_word_is_lost_soon() {
        play(&format!(
            "{READ}
             20 complete 1 00
                > CONTINUE TRANSACTION E0048A023030
             21 raw 010022E31E8A0230309F260811223344556677899F270140950500000000009B02E8009000E7
             22 tick
             27 tick
                > ABORT
                ! 1 completed Lost
                ! 1 RemoveCard
                < 9000"
        ));
    }

    #[test]
    fn e2_is_answered_but_not_for_ever() {
        let mut script = String::from(
            "9  * {CARD_IN}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978\n",
        );
        script.push_str(&"< E2094F07A00000000310109000\n > CONTINUE TRANSACTION E0094F07A0000000031010\n".repeat(8));
        play(&format!(
            "{script} < {{E4}}
             ! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature"
        ));
        play(&format!(
            "{script} < E2094F07A00000000310109000
             > ABORT
             < 9000
             ! 1 no-card Unreadable {{ cause: \"the reader asks for too many decisions\" }}
             > DISPLAY TEXT REMOVE CARD
             ! 1 RemoveCard
             < 9000"
        ));
    }

    #[test]
    fn declined_by_itself() {
        let answer = format!("{}9000", t("E5", &format!("9F260811223344556677889F270100{MASKED}")));
        play(&READ.replace("{E4}", &answer).replace(
            CARD,
            "! 1 card ICC 476173*********2234 Declined sealed 0 ksn
                complete 1 Z1
                ! 1 completed Refused
                > DISPLAY TEXT DECLINED/REMOVE CARD
                ! 1 RemoveCard",
        ));
    }

    /// Checks an E3. It names no currency, is still sent online, and needs no CONTINUE.
    #[test]
    fn approved_by_itself() {
        let answer = E4 { currency: "", more: format!("{SEALED}{MASKED}"), ..E4::default() }.answer("E3");
        play(&READ.replace("{E4}", &answer).replace(
            CARD,
            "! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F
                complete 1 00
                ! 1 completed Approved
                > DISPLAY TEXT APPROVED/REMOVE CARD
                ! 1 RemoveCard",
        ));
    }

    /// Checks an E3 without an amount. The TCDOL names the amount, so a missing amount is as wrong as a different one.
    /// The card has decided and needs no CONTINUE.
    #[test]
    fn approved_by_itself_without_the_amount() {
        let answer = E4 { amount: "", currency: "", more: format!("{SEALED}{MASKED}") }.answer("E3");
        play(&READ.replace("{E4}", &answer).replace(
            CARD,
            "! 1 no-card AmountDiffers
             > DISPLAY TEXT REMOVE CARD
             ! 1 RemoveCard
             < 9000
             * {NO_CARD}
             ! idle",
        ));
    }

    /// Checks that 08, 10 and 11 approve like 00. The customer must not read "declined" for a charged sale.
    #[test]
    fn every_code_that_approves_is_shown_as_approved() {
        for (arc, hex) in [("08", "3038"), ("10", "3130"), ("11", "3131")] {
            play(&format!(
                "{READ} complete 1 {arc}
                > CONTINUE TRANSACTION E0048A02{hex}
                < {{E3}}
                ! 1 completed Approved Tc
                > DISPLAY TEXT APPROVED/REMOVE CARD
                ! 1 RemoveCard"
            ));
        }
    }

    #[test]
    fn aac_is_normal_for_a_refund() {
        play(
            &format!(
                "{READ} complete 1 00
                > CONTINUE TRANSACTION E0048A023030
                < E5048A0230309000
                ! 1 completed Refused Arqc
                > DISPLAY TEXT APPROVED/REMOVE CARD
                ! 1 RemoveCard"
            )
            .replace("arm 1", "refund 1")
            .replace("9C0100", "9C0120"),
        );
    }

    #[test]
    fn scripts_that_do_not_fit_are_dropped_and_91_never() {
        let fits = t("72", &"AA".repeat(249 - 3 - 4 - 12 - 3));
        let one_more = t("72", &"AA".repeat(249 - 3 - 4 - 12 - 3 + 1));
        let read = READ.replace("{E4}", &e4(""));
        play(&format!(
            "{read} complete 1 00 91 11223344556677883030 scripts {fits}
                > CONTINUE TRANSACTION E081F68A023030910A11223344556677883030{fits}
                < {{E3}}
                ! 1 completed Approved Tc
                > DISPLAY TEXT APPROVED/REMOVE CARD
                ! 1 RemoveCard"
        ));
        for scripts in [one_more.as_str(), "72FF", "9A03112233"] {
            play(&format!(
                "{read} complete 1 00 91 11223344556677883030 scripts {scripts}
                > CONTINUE TRANSACTION E0108A023030910A11223344556677883030
                < {{E3}}
                ! 1 completed Approved Tc scripts-dropped
                > DISPLAY TEXT APPROVED/REMOVE CARD
                ! 1 RemoveCard"
            ));
        }
    }

    #[test]
    fn amount_or_currency_other_than_asked_for() {
        let more = format!("{CRYPTOGRAM}{SEALED}{MASKED}");
        for (amount, currency) in [
            ("9F0206000000001235", "5F2A020978"),
            ("9F0206000000001234", "5F2A020826"),
            ("", "5F2A020978"),
            ("9F0206000000001234", ""),
            ("9F02060000000012349F0206000000009999", "5F2A020978"),
        ] {
            let answer = E4 { amount, currency, more: more.clone() }.answer("E4");
            play(&READ.replace("{E4}", &answer).replace(
                CARD,
                "> CONTINUE TRANSACTION E0048A025A31
                 < {E5}
                 ! 1 no-card AmountDiffers
                 > DISPLAY TEXT REMOVE CARD
                 ! 1 RemoveCard
                 < 9000
                 * {NO_CARD}
                 ! idle",
            ));
        }
    }

    #[test]
    fn without_sealed_data_nothing_goes_to_the_host() {
        let answer = E4 { more: format!("{CRYPTOGRAM}{MASKED}"), ..E4::default() }.answer("E4");
        play(&READ.replace("{E4}", &answer).replace(
            CARD,
            "! unready not-encrypting 04000203 Nothing
                 > ABORT",
        ));
    }

    #[test]
    fn of_two_sealed_blocks_the_last_is_taken() {
        let more = format!("{CRYPTOGRAM}9F34031E0300{SEALED_BEFORE}{MASKED}{SEALED}");
        play(&READ.replace("{E4}", &E4 { more, ..E4::default() }.answer("E4")));
    }

    #[test]
    fn clear_card_data_end_everything() {
        for clear in ["5A084761739001010119", "57114761739001010119D15122011758989389", "DFAE5A084761739001010119"] {
            play(&READ.replace("{E4}", &e4(clear)).replace(
                CARD,
                "> ABORT
                 ! unready clear-card-data 04000203
                 < 9000
              20 arm 2
                 ! 2 no-card NotReady
              30 closed unplugged
                 ! unready absent unplugged
                 reopen 0.5
              31 open
                 > ABORT",
            ));
        }
    }

    #[test]
    fn errors_of_the_chip() {
        let failed = |status: &str| READ.replace("{E4}", status);
        play(&failed("9F25").replace(
            CARD,
            "! 1 no-card Unreadable { cause: \"bad card, swipe not allowed\" }
             > DISPLAY TEXT REMOVE CARD
             ! 1 RemoveCard",
        ));
        play(
            &failed("9F41")
                .replace(CARD, "! 1 no-card CancelledAtReader\n > DISPLAY TEXT REMOVE CARD\n ! 1 RemoveCard"),
        );
        play(&failed("9F23").replace(CARD, "! 1 TryAgain\n > START CONTACTLESS TRANSACTION"));
        // The answer has a gap, so the card may be waiting for the host.
        play(&failed("E4209F02060000000012349000").replace(
            CARD,
            "> ABORT
             < 9000
             > CONTINUE TRANSACTION E0048A025A31
             < 9F22
             ! 1 no-card Unreadable { cause: \"the reader's answer was damaged\" }
             > DISPLAY TEXT REMOVE CARD
             ! 1 RemoveCard",
        ));
    }

    #[test]
    fn keys_that_are_used_up_end_the_sale_and_are_asked_for() {
        // Without a key for card data, no sale begins until the reader has one.
        for status in ["9FE5", "9FE0"] {
            play(&format!(
                "10 arm 1
                    ! 1 PresentCard
                    > START CONTACTLESS TRANSACTION
                    < {status}
                    ! 1 no-card NoKeyLeft
                    > P2PE STATUS
                    < E105DFAE0101039000
                    ! unready no-card-key 04000203
                    > ABORT
                    < 9000
                    > RESET DEVICE
                    < {{RESET}}
                    > P2PE STATUS
                    < E105DFAE0101039000
                 11 arm 2
                    ! 2 no-card NotReady
                 40 tick
                    > P2PE STATUS
                    < {{P2PE}}
                    > GET DEVICE INFO"
            ));
        }
        // Only the PIN keys are used up, so cards without an online PIN are accepted.
        let chip = READ.replace("{E4}", "9FE0").replace(
            CARD,
            "! 1 no-card NoKeyLeft
             > DISPLAY TEXT REMOVE CARD
             ! 1 RemoveCard
             < 9000
             > P2PE STATUS
             < E105DFAE0101059000
             * {NO_CARD}
             ! idle",
        );
        play(&format!("{chip}\n 30 arm 2\n ! 2 PresentCard\n > START CONTACTLESS TRANSACTION"));
        // If the reader does not answer the query for its keys, it goes through the whole start-up again.
        play(
            "10 arm 1
                ! 1 PresentCard
                > START CONTACTLESS TRANSACTION
                < 9FE5
                ! 1 no-card NoKeyLeft
                > P2PE STATUS
                < 6D00
                ! unready restarting it did not report its keys
                > ABORT",
        );
    }

    #[test]
    fn a_wrong_pin_is_told_with_the_tries_left() {
        let event = |text: &str, more: &str| t("E6", &format!("C30102{}{more}", t("C4", &hex::encode(text))));
        let (asked, wrong) = (event("ENTER PIN", "DFA2010100C50103"), event("INCORRECT PIN", "C50102"));
        let (other, nothing) = (event("FALSCHE PIN", "C50101"), event("Wrong PIN", ""));
        play(&format!(
            "9  * {{CARD_IN}}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
                * {asked}
                ! 1 PinEntry {{ digits: Some(0) }}
                * {wrong}
                ! 1 PinWrong {{ tries_left: Some(2) }}
                * {other}
                ! 1 PinWrong {{ tries_left: Some(1) }}
                * {nothing}
                ! 1 PinWrong {{ tries_left: None }}"
        ));
    }

    #[test]
    fn a_cardholder_who_never_enters_the_pin() {
        play(
            "9  * {CARD_IN}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
            130 tick
                > ABORT
                < 9000
                < 9F41
                ! 1 no-card TimedOut
                > DISPLAY TEXT REMOVE CARD
                ! 1 RemoveCard
                < 9000
            160 tick
                > CARD STATUS
                * {NO_CARD}
                ! idle",
        );
    }
}

mod tap {
    use super::*;

    fn tapped(answer: &str, rest: &str) {
        play(&format!(
            "10 arm 1
                ! 1 PresentCard
                > START CONTACTLESS TRANSACTION
             12 < {answer}
                {rest}"
        ));
    }

    #[test]
    fn approved_with_8a_only() {
        tapped(
            "{E4}",
            "! 1 card NFC_ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature
             complete 1 00 91 11223344556677883030 scripts 7203AABBCC
             > CONTINUE TRANSACTION E0048A023030
             < {E5}
             ! 1 completed Approved Arqc
             ! idle",
        );
    }

    #[test]
    fn magstripe_mode_has_no_cryptogram_or_says_so() {
        let card = "! 1 card NFC_MAGSTRIPE 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F";
        for more in [format!("{SEALED}{MASKED}"), format!("{CRYPTOGRAM}9F390191{SEALED}{MASKED}")] {
            let answer = E4 { more, ..E4::default() }.answer("E4");
            tapped(&answer, card);
        }
    }

    #[test]
    fn the_published_mode_byte_is_emv_and_another_may_be_configured() {
        let answer = E4 { more: format!("{CRYPTOGRAM}DF30020302{SEALED}{MASKED}"), ..E4::default() }.answer("E4");
        for (magstripe_mode, entry) in [(None, "NFC_ICC"), (Some(2), "NFC_MAGSTRIPE"), (Some(3), "NFC_ICC")] {
            let script = format!(
                "{STARTED}
                 arm 1
                 ! 1 PresentCard
                 > START CONTACTLESS TRANSACTION
                 < {answer}
                 ! 1 card {entry} 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F"
            );
            let script = script
                .replace("{RESET}", RESET)
                .replace("{P2PE}", P2PE)
                .replace("{INFO}", INFO)
                .replace("{CONFIG}", CONFIG)
                .replace("{NO_CARD}", NO_CARD);
            Player::new(MiuraSettings { magstripe_mode, ..MiuraSettings::default() }).play(&script);
        }
    }

    #[test]
    fn not_accepted_means_insert_or_another_card() {
        for (status, step, text) in [
            ("9FC1", "InsertCard", "INSERT OR SWIPE"),
            ("9FC2", "TryAgain", "TRY AGAIN/INSERT OR SWIPE"),
            ("9FC3", "InsertCard", "INSERT OR SWIPE"),
            ("9FCF", "InsertCard", "INSERT OR SWIPE"),
        ] {
            tapped(
                status,
                &format!(
                    "! 1 {step}
                     > DISPLAY TEXT {text}
                     < 9000
                  20 * {{CARD_IN}}
                     ! 1 ReadingCard
                     > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978"
                ),
            );
        }
    }

    #[test]
    fn the_reader_s_shorter_time_out_starts_anew_until_ours() {
        tapped(
            "9F42",
            "> START CONTACTLESS TRANSACTION
          70 tick
             > ABORT
             < 9F42
             < 9000
             ! 1 no-card TimedOut
             ! idle",
        );
        // An immediate refusal is not a time-out.
        play(
            "10 arm 1
                ! 1 PresentCard
                > START CONTACTLESS TRANSACTION
                < 9F42
                ! 1 InsertCard
                > DISPLAY TEXT INSERT OR SWIPE
                < 9000
             70 tick
                ! 1 no-card TimedOut
                ! idle",
        );
    }
}

mod verification {
    use super::*;

    fn verified(results: &str, more: &str) -> String {
        E4 { more: format!("{CRYPTOGRAM}9F3403{results}{SEALED}{MASKED}{more}"), ..E4::default() }.answer("E4")
    }

    const ARMED: &str = "10 arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION\n 12";
    const CARD: &str = "! 1 card NFC_ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F";

    #[test]
    fn a_tap_with_its_pin_inside() {
        play(&format!("{ARMED} < {}\n {CARD} OnlinePin pin\n keys Some((Some(1048480), Some(1048574)))", e4(PIN)));
        // A PIN block without a result: the block itself shows the PIN entry.
        let answer = E4 { more: format!("{CRYPTOGRAM}{SEALED}{MASKED}{PIN}"), ..E4::default() }.answer("E4");
        play(&format!("{ARMED} < {answer}\n {CARD} OnlinePin pin"));
        play(&format!("{ARMED} < {}\n {CARD} Signature\n keys Some((Some(1048480), None))", e4("")));
    }

    #[test]
    fn a_pin_that_is_said_to_be_there_and_is_not() {
        for results in ["420300", "020000", "420302"] {
            let answer = verified(results, "");
            play(&format!(
                "{ARMED} < {answer}
                    > CONTINUE TRANSACTION E0048A025A31
                    < {{E5}}
                    ! 1 no-card PinMissing
                    ! idle"
            ));
        }
        // The PIN was bypassed or failed. The issuer decides, and the receipt has no line about it.
        play(&format!("{ARMED} < {}\n {CARD}", verified("420301", "")));
    }

    /// Checks that the receipt asks for a signature, alone or in addition to the PIN that the chip verified.
    #[test]
    fn a_signature_is_told_for_tap_and_chip() {
        for (results, cvm) in [
            ("1E0300", " Signature"),
            ("5E0300", " Signature"),
            ("030000", " OfflinePinAndSignature"),
            ("450302", " OfflinePinAndSignature"),
            ("1F0302", " None"),
            ("3F0000", ""),
        ] {
            play(&format!("{ARMED} < {}\n {CARD}{cvm}", verified(results, "")));
            play(&format!(
                "9  * {{CARD_IN}}
                 10 arm 1
                    ! 1 PresentCard
                    ! 1 ReadingCard
                    > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
                 11 < {}
                    ! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F{cvm}",
                verified(results, "")
            ));
        }
    }

    /// Checks that the chip's last result about the cardholder counts. E3 may require a signature although E4 did not.
    #[test]
    fn the_last_answer_s_verification_counts() {
        for (first, last, cvm) in [
            ("1F0302", "9F34031E0300", Some(Cvm::Signature)),
            ("1E0300", "", Some(Cvm::Signature)),
            ("410302", "9F3403410301", None),
        ] {
            let mut player = Player::started(settings());
            player.play(
                "9  * {CARD_IN}
                 10 arm 1
                    ! 1 PresentCard
                    ! 1 ReadingCard
                    > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978"
            );
            let answers = [verified(first, ""), format!("{}9000", t("E3", &format!("8A023030{CRYPTOGRAM}{last}")))];
            let mut verdicts = Vec::new();
            for answer in answers {
                for packet in chain(Nad::Reader, false, &hex::decode(answer).unwrap(), 254).unwrap() {
                    player.session.bytes(&packet, player.now);
                }
                while let Some(output) = player.session.poll() {
                    if let PortAction::Report(ReaderEvent::Completed { facts, .. }) = output {
                        verdicts.push(facts.unwrap().cvm);
                    }
                }
                player.session.order(complete("1 00"), player.now);
                while player.session.poll().is_some() {}
            }
            assert_eq!(verdicts, [cvm], "{first} {last}");
        }
    }
}

mod choice {
    use super::*;

    const START: &str = "9  * {CARD_IN}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978";

    #[test]
    fn the_cardholder_chooses_on_the_reader_and_the_till_sees_it() {
        play(&format!(
            "{START}\n * E61AC30103C4154170706C69636174696F6E2073656C656374696F6E\n ! 1 ChoosingApplication"
        ));
    }

    #[test]
    fn of_a_list_the_first_is_taken_in_every_form() {
        let visa = "4F07A0000000031010";
        let electron = "4F07A0000000032010";
        let (visa_label, electron_label) = ("500456495341", "500D5649534120454C454354524F4E");
        for (list, chosen) in [
            (format!("{visa}{electron}"), format!("E009{visa}")),
            (format!("{visa}{visa_label}{electron}{electron_label}"), format!("E00F{visa}{visa_label}")),
            (format!("{visa_label}{visa}{electron_label}{electron}"), format!("E00F{visa}{visa_label}")),
            (format!("{visa}{electron}{electron_label}"), format!("E009{visa}")),
            (format!("610F{visa}{visa_label}6118{electron}{electron_label}"), format!("E00F{visa}{visa_label}")),
            (format!("9F0607A0000000031010{visa_label}"), format!("E00F{visa}{visa_label}")),
        ] {
            play(&format!("{START}\n < {}9000\n > CONTINUE TRANSACTION {chosen}", t("E2", &list)));
        }
    }

    #[test]
    fn without_a_list_nobody_here_can_decide() {
        for (body, told) in [("", ""), ("C00101", ""), ("5F2D02656E", "! 1 language en")] {
            play(&format!(
                "{START}
                 < {}9000
                 {told}
                 > CONTINUE TRANSACTION E003C00100
                 < 9F41
                 ! 1 no-card CancelledAtReader
                 > DISPLAY TEXT REMOVE CARD
                 ! 1 RemoveCard",
                t("E2", body)
            ));
        }
    }
}

mod language {
    use super::*;

    #[test]
    fn the_shop_s_until_the_card_has_named_one() {
        let german = ReaderSettings { language: ReaderLanguage::German, ..settings() };
        let script = |(answer, told): (&str, &str), texts: [&str; 2]| {
            format!(
                "10 arm 1
                    ! 1 PresentCard
                    > START CONTACTLESS TRANSACTION de
                    < 9FC3
                    ! 1 InsertCard
                    > DISPLAY TEXT STECKEN ODER ZIEHEN
                    < 9000
                 12 * {{CARD_IN}}
                    ! 1 ReadingCard
                    > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
                    < {answer}
                    ! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature
                    {told}
                    complete 1 00
                    > CONTINUE TRANSACTION E0048A023030
                    < {{E3}}
                    ! 1 completed Approved Tc
                    > DISPLAY TEXT {}/{}
                    ! 1 RemoveCard",
                texts[0], texts[1]
            )
        };
        play_with(german.clone(), &script((&e4(""), ""), ["GENEHMIGT", "KARTE ENTNEHMEN"]));
        play_with(german.clone(), &script((&e4("5F2D0478786672"), "! 1 language fr"), ["ACCEPTÉ", "RETIREZ LA CARTE"]));
        play_with(german, &script((&e4("5F2D027878"), ""), ["GENEHMIGT", "KARTE ENTNEHMEN"]));
    }

    /// Checks that non-ASCII text is sent as UTF-8, with the flag in P2.
    #[test]
    fn utf_8_is_announced() {
        for (language, p2) in [(ReaderLanguage::Polish, 0x81), (ReaderLanguage::Dutch, 0x01)] {
            let mut player = Player::started(ReaderSettings { language, ..settings() });
            player.session.order(ReaderOrder::Arm(arm(1)), player.now);
            player.session.bytes(&hex::decode("0100029FC35F").unwrap(), player.now);
            let sent = std::iter::from_fn(|| player.session.poll()).filter_map(|output| match output {
                PortAction::Write(packet) => Some(packet),
                _ => None,
            });
            let display = sent.last().unwrap();
            assert_eq!(display[3..7], [0xD2, 0x01, 0x00, p2], "{language:?}");
        }
    }
}

mod keys {
    use super::*;

    /// The captures' counters are 5E and 5F, so 2^20 - 1 keys minus 94 and 95 are left.
    const TAP: &str = "arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION\n < {E4}
        ! 1 card NFC_ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature
        keys Some((Some(1048480), None))
        complete 1 00\n > CONTINUE TRANSACTION E0048A023030\n < {E3}\n ! 1 completed Approved Tc\n ! idle\n";

    /// The whole start-up up to the query for the keys. Ready comes only after that.
    const STARTS_AGAIN: &str = "> ABORT
        < 9F26
        < 9000
        > RESET DEVICE
        < {RESET}
        > P2PE STATUS
        arm 8
        ! 8 no-card NotReady
        < {P2PE}
        > GET DEVICE INFO
        < {INFO}
        > GET CONFIGURATION
        < {CONFIG}
        > SYSTEM CLOCK E00B9A032501319F2103123456
        < 9000
        > CARD STATUS
        * {NO_CARD}
        > KEYBOARD STATUS
        < 9000
        ! ready 04000203 M000-MPI 1-51 pin-key";

    fn next(answer: &str, fault: &str) {
        play(&format!(
            "{TAP} arm 2\n ! 2 PresentCard\n > START CONTACTLESS TRANSACTION\n < {answer}
             ! unready not-encrypting 04000203 {fault}
             {STARTS_AGAIN}
             complete 2 00
             arm 3\n ! 3 PresentCard\n > START CONTACTLESS TRANSACTION"
        ));
    }

    #[test]
    fn a_key_that_was_used_before() {
        next(&e4(""), "KeyAgain");
        // An earlier key is refused too, and the same applies to PINs.
        let earlier = E4 { more: format!("{CRYPTOGRAM}{SEALED_BEFORE}{MASKED}"), ..E4::default() }.answer("E4");
        next(&earlier, "KeyAgain");
        // A later key is accepted.
        let later = e4("").replace("1100005F", "11000060");
        play(&format!(
            "{TAP} arm 2\n ! 2 PresentCard\n > START CONTACTLESS TRANSACTION\n < {later}
             ! 2 card NFC_ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D11000060 Signature
             keys Some((Some(1048479), None))"
        ));
    }

    /// Checks that a used key is refused even after the cable was pulled. The process remembers the key.
    #[test]
    fn a_key_that_was_used_before_the_cable_was_pulled() {
        play(&format!(
            "{TAP} 20 closed pulled\n ! unready absent pulled\n reopen 0.5\n {STARTED}
             arm 2\n ! 2 PresentCard\n > START CONTACTLESS TRANSACTION\n < {{E4}}
             ! unready not-encrypting 04000203 KeyAgain\n > ABORT"
        ));
    }

    #[test]
    fn a_pin_key_that_was_used_before() {
        let later = e4(PIN).replace("1100005F", "11000060");
        play(&format!(
            "{} arm 2\n ! 2 PresentCard\n > START CONTACTLESS TRANSACTION\n < {later}
             ! unready not-encrypting 04000203 KeyAgain\n > ABORT",
            TAP.replace("{E4}", &e4(PIN)).replace("Signature", "OnlinePin pin").replace("None))", "Some(1048574)))")
        ));
    }

    #[test]
    fn nothing_sealed_or_zeros() {
        let unsealed = E4 { more: format!("{CRYPTOGRAM}{MASKED}"), ..E4::default() }.answer("E4");
        next(&unsealed, "Nothing");
        let no_ksn = e4("").replace("DFAE030AFFFF0102628D1100005F", "");
        let no_ksn = no_ksn.replacen(&no_ksn[2..6], &format!("81{:02X}", no_ksn.len() / 2 - 5), 1);
        next(&no_ksn, "Nothing");
        let zeros = e4("").replace("92FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5", &"00".repeat(24));
        next(&zeros, "Zeros");
        next(&E4 { more: MASKED.to_owned(), ..E4::default() }.answer("E3"), "Nothing");
    }

    #[test]
    fn a_swipe_without_sealed_data() {
        let unsealed = swipe("101").replace(&t("DFAE02", SWIPE_DATA), "").replace("DFAE030A00000200000055400182", "");
        let unsealed = format!("E1{:02X}{}", unsealed.len() / 2 - 2, &unsealed[4..]);
        let zeros = swipe("101").replace(SWIPE_DATA, &"00".repeat(16));
        for (event, fault) in [(unsealed, "Nothing"), (zeros, "Zeros")] {
            for order in ["< 9F44\n * {SWIPE}", "* {SWIPE}\n < 9F44"] {
                let order = order.replace("{SWIPE}", &event);
                // The event itself shows the missing data, so the next message does not matter.
                let order = if fault == "Nothing" { order.replace("\n < 9F44", "") } else { order };
                play(&format!(
                    "arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION\n {order}
                     ! unready not-encrypting 04000203 {fault}\n > ABORT"
                ));
            }
        }
    }

    /// Checks that a reader that reports lost keys is not ready.
    #[test]
    fn the_keys_are_gone() {
        play(&format!(
            "{TAP} arm 2\n ! 2 PresentCard\n > START CONTACTLESS TRANSACTION\n < {{E4}}
             ! unready not-encrypting 04000203 KeyAgain
             > ABORT\n < 9000\n > RESET DEVICE\n < {{RESET}}\n > P2PE STATUS\n < E105DFAE0101019000
             ! unready no-card-key 04000203"
        ));
    }
}

mod clock {
    use super::*;
    use std::sync::Mutex;

    /// Returns a board's clock that the test can set, and settings that use it.
    fn turned() -> (Arc<Mutex<Option<LocalTime>>>, ReaderSettings) {
        let board = Arc::new(Mutex::new(Some(AT)));
        let source = Arc::clone(&board);
        (board, ReaderSettings { clock: Arc::new(move || *source.lock().unwrap()), ..settings() })
    }

    const ALIVE: &str = "> CARD STATUS\n * {NO_CARD}";

    #[test]
    fn it_is_set_again_when_the_board_s_clock_jumps() {
        let (board, settings) = turned();
        let mut player = Player::started(settings);
        *board.lock().unwrap() = Some(LocalTime { minute: 35, ..AT });
        player.play(&format!("60 tick\n {ALIVE}"));
        *board.lock().unwrap() = Some(LocalTime { hour: 13, minute: 36, ..AT });
        player.play("120 tick\n > SYSTEM CLOCK E00B9A032501319F2103133656\n < 9000\n > CARD STATUS\n * {NO_CARD}");
        // The clock is not set again while it runs correctly.
        *board.lock().unwrap() = Some(LocalTime { hour: 13, minute: 37, ..AT });
        player.play(&format!("180 tick\n {ALIVE}"));
    }

    #[test]
    fn it_is_set_again_each_day_and_a_refusal_is_no_fault() {
        let (board, settings) = turned();
        let mut player = Player::started(settings);
        *board.lock().unwrap() = Some(LocalTime { month: 2, day: 1, ..AT });
        player.play("86400 tick\n > SYSTEM CLOCK E00B9A032502019F2103123456\n < 9F0D\n > CARD STATUS\n * {NO_CARD}");
        *board.lock().unwrap() = Some(LocalTime { month: 2, day: 1, minute: 35, ..AT });
        player.play(&format!("86460 tick\n {ALIVE}"));
    }

    /// Checks that the reader's clock is never set from an untrusted clock, and that it is set once the clock is
    /// trusted.
    #[test]
    fn an_untrusted_clock_never_sets_it() {
        let (board, settings) = turned();
        *board.lock().unwrap() = None;
        let mut player = Player::new(settings);
        player.play(
            &STARTED
                .replace(
                    "> SYSTEM CLOCK E00B9A032501319F2103123456\n       < 9000",
                    "> SYSTEM CLOCK\n < E10B9A032502289F21031112139000",
                )
                .replace(
                    "pin-key",
                    "pin-key clock LocalTime { year: 25, month: 2, day: 28, hour: 11, minute: 12, second: 13 }",
                ),
        );
        player.play(&format!("60 tick\n {ALIVE}\n 120 tick\n {ALIVE}"));
        *board.lock().unwrap() = Some(AT);
        player.play("180 tick\n > SYSTEM CLOCK E00B9A032501319F2103123456\n < 9000\n > CARD STATUS\n * {NO_CARD}");
        // The board's clock is lost again, and the reader keeps its time.
        *board.lock().unwrap() = None;
        player.play(&format!("240 tick\n {ALIVE}\n 90000 tick\n {ALIVE}"));
    }

    /// Checks that a reader that restarts during the day gets the time again.
    #[test]
    fn after_a_restart_in_the_middle_of_the_day() {
        let (board, settings) = turned();
        let mut player = Player::started(settings);
        player
            .play("3600 * E60FC30101C40A506F7765726564204F6E\n ! unready restarting the reader restarted\n reopen 0.5");
        *board.lock().unwrap() = Some(LocalTime { hour: 13, ..AT });
        player.play(&STARTED.replace("0  open", "3601 open").replace("2103123456", "2103133456"));
    }

    /// Checks that a sale is not disturbed by the answers if it begins while the clock is being set.
    #[test]
    fn a_sale_in_the_same_moment() {
        let (board, settings) = turned();
        let mut player = Player::started(settings);
        *board.lock().unwrap() = Some(LocalTime { hour: 13, ..AT });
        player.play(
            "60 tick
                > SYSTEM CLOCK E00B9A032501319F2103133456
                arm 1
                ! 1 PresentCard
                < 9000
                > CARD STATUS
                * {CARD_IN}
                > START CONTACTLESS TRANSACTION
                < 9F43
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978",
        );
    }
}

mod long_commands {
    use super::*;

    const READ: &str = "
             9  * {CARD_IN}
             10 arm 1
                ! 1 PresentCard
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
             11 < {E4}
                ! 1 card ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature";

    /// Checks "Extended APDU", and the same setting under a name that only a technician knows.
    #[test]
    fn a_reader_that_takes_them_gets_every_script() {
        let script = t("72", &"AA".repeat(300));
        for (capability, name, dropped) in [
            ("Extended APDU", None, ""),
            ("LongCommands", Some("LongCommands"), ""),
            ("LongCommands", None, " scripts-dropped"),
        ] {
            let info = format!("{}9000", t("E1", &t("EF", &t("DF0D", &hex::encode(capability)))));
            let extended_apdu_capability = name.map(str::to_owned);
            let mut player = Player::new(MiuraSettings { extended_apdu_capability, ..MiuraSettings::default() });
            player.play(&STARTED.replace("{INFO}", &info));
            let data = if dropped.is_empty() {
                t("E0", &format!("8A023030910A11223344556677883030{script}"))
            } else {
                "E0108A023030910A11223344556677883030".to_owned()
            };
            player.play(&format!(
                "{READ}
                 complete 1 00 91 11223344556677883030 scripts {script}
                 > CONTINUE TRANSACTION {data}
                 < {{E3}}
                 ! 1 completed Approved Tc{dropped}
                 > DISPLAY TEXT APPROVED/REMOVE CARD
                 ! 1 RemoveCard"
            ));
        }
    }
}

mod stripe {
    use super::*;

    const SWIPED: &str = "
             10 arm 1
                ! 1 PresentCard
                > START CONTACTLESS TRANSACTION
             12 * {SWIPE}
                < 9F44
                ";

    fn swiped(service_code: &str, rest: &str) {
        for script in [SWIPED, "10 arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION\n 12 < 9F44\n * {SWIPE}\n"]
        {
            play(&format!("{script} {rest}").replace("{SWIPE}", &swipe(service_code)));
        }
    }

    fn online_pin(service_code: &str) -> String {
        let track = hex::encode_upper(format!(";476173******0010=1512{service_code}**********?*"));
        format!("> ONLINE PIN E03D9F02060000000012345004434152445F2A020978DFAE2225{track}")
    }

    #[test]
    fn without_pin_the_cardholder_signs() {
        swiped(
            "101",
            "! 1 card MAGSTRIPE 476173******0010 GoOnline sealed 16 ksn 00000200000055400182 Signature
             complete 1 00
             ! 1 completed Approved
             > DISPLAY TEXT APPROVED
             < 9000
             ! idle",
        );
    }

    #[test]
    fn the_service_code_asks_for_a_pin() {
        let card = "card MAGSTRIPE 476173******0010 GoOnline sealed 16 ksn 00000200000055400182";
        for (answer, rest) in [
            (
                "E11ADFAE04088B68AF72199529B8DFAE050AFFFF0102628D120000019000",
                format!("! 1 PinDone\n ! 1 {card} OnlinePin pin"),
            ),
            ("089000", "! 1 no-card CancelledAtReader\n ! idle".to_owned()),
            ("9F41", "! 1 no-card CancelledAtReader\n ! idle".to_owned()),
            ("0A9000", "! 1 no-card Unreadable { cause: \"the PIN entry failed\" }\n ! idle".to_owned()),
            (
                "0C9000",
                "! 1 no-card Unreadable { cause: \"it needs a PIN, which this reader could not take\" }\n ! idle"
                    .to_owned(),
            ),
            (
                "9FE0",
                "! 1 no-card Unreadable { cause: \"it needs a PIN, which this reader could not take\" }\n ! idle"
                    .to_owned(),
            ),
            ("9F42", "! 1 no-card TimedOut\n ! idle".to_owned()),
            (
                "E115DFAE0403AABBCCDFAE050AFFFF0102628D120000019000",
                "! 1 no-card Unreadable { cause: \"its PIN block is malformed\" }\n ! idle".to_owned(),
            ),
            ("9F22", "! unready restarting the reader lost its state (terminal not ready)\n > ABORT".to_owned()),
            ("9F0F", "! 1 no-card Unreadable { cause: \"invalid parameter\" }\n ! idle".to_owned()),
        ] {
            let pin = online_pin("120");
            swiped("120", &format!("{pin}\n ! 1 PinEntry {{ digits: None }}\n < {answer}\n {rest}"));
        }
        for answer in ["0C9000", "9FE0"] {
            let pin = online_pin("126");
            swiped("126", &format!("{pin}\n ! 1 PinEntry {{ digits: None }}\n < {answer}\n ! 1 {card} Signature"));
        }
    }

    #[test]
    fn without_a_pin_key_a_card_that_needs_a_pin_is_refused() {
        let started = STARTED.replace("{P2PE}", "E105DFAE0101059000").replace("pin-key", "no-pin-key");
        for (service_code, rest) in [
            ("120", "! 1 no-card Unreadable { cause: \"it needs a PIN, which this reader could not take\" }\n ! idle"),
            ("126", "! 1 card MAGSTRIPE 476173******0010 GoOnline sealed 16 ksn 00000200000055400182 Signature"),
        ] {
            let script = format!("{started}{SWIPED}{rest}").replace("{SWIPE}", &swipe(service_code));
            let script = script
                .replace("{RESET}", RESET)
                .replace("{INFO}", INFO)
                .replace("{CONFIG}", CONFIG)
                .replace("{NO_CARD}", NO_CARD);
            Player::new(settings()).play(&script);
        }
    }

    #[test]
    fn a_chip_card_must_be_inserted() {
        swiped("201", "! 1 InsertCard\n > START CONTACTLESS TRANSACTION");
        swiped("620", "! 1 InsertCard\n > START CONTACTLESS TRANSACTION");
    }

    #[test]
    fn unless_its_chip_failed_in_this_very_sale() {
        for status in ["9F28", "9F30"] {
            let script = format!(
                "10 arm 1
                    ! 1 PresentCard
                    > START CONTACTLESS TRANSACTION
                 12 * {{CARD_IN}}
                    < 9F43
                    ! 1 ReadingCard
                    > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978
                    < {status}
                    ! 1 SwipeCard
                    > DISPLAY TEXT REMOVE CARD/SWIPE CARD
                    < 9000
                 14 * {{NO_CARD}}
                    > DISPLAY TEXT SWIPE CARD
                    < 9000
                 15 * {{SWIPE}}
                    ! 1 card MAGSTRIPE_AS_FALLBACK 476173******0010 GoOnline sealed 16 ksn 00000200000055400182 Signature
                 16 complete 1 05
                    ! 1 completed Approved
                    > DISPLAY TEXT DECLINED
                    < 9000
                    ! idle
                 20 arm 2
                    ! 2 PresentCard
                    > START CONTACTLESS TRANSACTION
                    * {{SWIPE}}
                    < 9F44
                    ! 2 InsertCard
                    > START CONTACTLESS TRANSACTION"
            );
            play(&script.replace("{SWIPE}", &swipe("201")));
        }
    }

    #[test]
    fn a_bad_swipe_is_tried_again() {
        let bad = t("E1", "48020001");
        play(&format!(
            "10 arm 1
                ! 1 PresentCard
                > START CONTACTLESS TRANSACTION
             12 < 9F44
                * {bad}
                ! 1 TryAgain
                > START CONTACTLESS TRANSACTION
             13 < 9F44
             15 tick
                ! 1 TryAgain
                > START CONTACTLESS TRANSACTION"
        ));
    }

    #[test]
    fn a_swipe_whose_status_never_comes_is_used_all_the_same() {
        play(
            &"10 arm 1
                ! 1 PresentCard
                > START CONTACTLESS TRANSACTION
              12 * {SWIPE}
              17 tick
                > ABORT
                < 9000
                < 9F41
                ! 1 card MAGSTRIPE 476173******0010 GoOnline sealed 16 ksn 00000200000055400182 Signature"
                .replace("{SWIPE}", &swipe("101")),
        );
    }

    #[test]
    fn clear_tracks_end_everything_even_for_nobody() {
        let clear = t("E1", &format!("48020007{}", t("5F22", "3B3437363137333930303130313030313F")));
        let unmasked =
            t("E1", &format!("48020007{}", t("DFAE22", &hex::encode(";4761739001010010=15122011143857589?<"))));
        for event in [&clear, &unmasked] {
            play(&format!("10 * {event}\n ! unready clear-card-data 04000203\n arm 1\n ! 1 no-card NotReady"));
            play(&format!(
                "10 arm 1
                    ! 1 PresentCard
                    > START CONTACTLESS TRANSACTION
                    * {event}
                    > ABORT
                    ! unready clear-card-data 04000203
                    < 9000
                    < 9F41
                 20 arm 2
                    ! 2 no-card NotReady"
            ));
        }
    }

    #[test]
    fn a_swipe_for_nobody_is_ignored() {
        play(
            &"10 * {SWIPE}\n 11 arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION"
                .replace("{SWIPE}", &swipe("101")),
        );
    }
}

mod cancel {
    use super::*;

    const ARMED: &str = "10 arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION\n";

    #[test]
    fn the_abort_is_answered_first() {
        play(&format!(
            "{ARMED} 12 cancel 1
                > ABORT
                < 9000
                < 9F41
                ! 1 no-card CancelledByTill
                ! idle"
        ));
    }

    #[test]
    fn the_card_was_faster() {
        for answers in ["< {E4}\n < 9000", "< 9000\n < {E4}"] {
            play(&format!(
                "{ARMED} 12 cancel 1
                    > ABORT
                    {answers}
                    > CONTINUE TRANSACTION E0048A025A31
                    < {{E5}}
                    ! 1 no-card CancelledByTill
                    ! idle
                 20 complete 1 00"
            ));
        }
    }

    #[test]
    fn before_the_card_and_after_the_card_are_told_apart() {
        // After the card event, a cancel is too late. The host's answer decides.
        play(&format!(
            "{ARMED} 12 < {{E4}}
                ! 1 card NFC_ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature
                cancel 1
                complete 1 Z1
                > CONTINUE TRANSACTION E0048A025A31
                < {{E5}}
                ! 1 completed Approved Arqc
                ! idle"
        ));
        // A cancel for another sale has no effect.
        play(&format!("{ARMED} cancel 9"));
    }

    #[test]
    fn while_only_insert_and_swipe_are_watched_there_is_nothing_to_abort() {
        play(&format!(
            "{ARMED} < 9FC3
                ! 1 InsertCard
                > DISPLAY TEXT INSERT OR SWIPE
                < 9000
                cancel 1
                ! 1 no-card CancelledByTill
                ! idle"
        ));
    }

    #[test]
    fn during_the_pin_of_a_swipe() {
        let script = format!(
            "{ARMED} * {{SWIPE}}
                < 9F44
                > ONLINE PIN E03D9F02060000000012345004434152445F2A020978DFAE2225{}
                ! 1 PinEntry {{ digits: None }}
                cancel 1
                > ABORT
                < E11ADFAE04088B68AF72199529B8DFAE050AFFFF0102628D120000019000
                < 9000
                ! 1 no-card CancelledByTill
                ! idle",
            hex::encode_upper(";476173******0010=1512120**********?*")
        );
        play(&script.replace("{SWIPE}", &swipe("120")));
    }

    #[test]
    fn the_cancel_key() {
        for answers in ["< 9F41\n < 9000", "< 9000\n < 9F41"] {
            play(&format!(
                "{ARMED} * E005DFA205011B
                    > ABORT
                    {answers}
                    ! 1 no-card CancelledAtReader
                    ! idle"
            ));
        }
        play(&format!("{ARMED} < 9F41\n ! 1 no-card CancelledAtReader\n ! idle"));
    }

    #[test]
    fn an_abort_that_is_never_answered_restarts_the_reader() {
        play(&format!(
            "{ARMED} 12 cancel 1
                > ABORT
             17 tick
                ! unready restarting no answer to ABORT
                reopen 0.5"
        ));
    }
}

mod line {
    use super::*;

    const ARMED: &str = "10 arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION\n";

    #[test]
    fn unplugged_in_any_step() {
        for before in [
            "",
            ARMED,
            &format!(
                "{ARMED} < 9F43\n ! 1 ReadingCard\n > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978\n"
            ),
        ] {
            play(&format!(
                "{before} 20 closed Input/output error
                    ! unready absent Input/output error
                    reopen 0.5
                 21 closed No such device
                    ! unready absent No such device
                    reopen 1
                    complete 1 00
                    cancel 1
                    arm 2
                    ! 2 no-card NotReady"
            ));
        }
    }

    #[test]
    fn a_reader_that_restarts_by_itself() {
        play(&format!(
            "{ARMED} 12 * E60FC30101C40A506F7765726564204F6E
                ! unready restarting the reader restarted
                reopen 0.5"
        ));
    }

    #[test]
    fn garbage_between_packets_is_passed_over() {
        play(&format!(
            "9  raw 00FF5500FF5500FF
             10 tick
                > CARD STATUS
                * {{NO_CARD}}
             {ARMED} 11 raw FF FF FF 0101
                raw 02 40
             12 tick
             17 tick
                > ABORT
                < 9000
                < 9F41
                > START CONTACTLESS TRANSACTION"
        ));
    }

    #[test]
    fn an_event_lost_while_cards_are_watched_is_asked_for() {
        play(&format!(
            "{ARMED} < 9FC3
                ! 1 InsertCard
                > DISPLAY TEXT INSERT OR SWIPE
                < 9000
             12 raw 014008E1044802030090000000
             13 tick
                > CARD STATUS
                * {{CARD_IN}}
                ! 1 ReadingCard
                > START TRANSACTION E0269C01009F02060000000012349A032501319F2103123456DFA2040101DFA20301005F2A020978"
        ));
    }

    #[test]
    fn an_order_while_a_sale_is_under_way() {
        play(&format!("{ARMED} arm 2\n ! 2 no-card NotReady"));
    }

    #[test]
    fn a_host_that_never_answers() {
        play(&format!(
            "{ARMED} 12 < {{E4}}
                ! 1 card NFC_ICC 476173*********2234 GoOnline sealed 24 ksn FFFF0102628D1100005F Signature
            312 tick
                ! unready restarting no answer from the gateway for the card
                reopen 0.5"
        ));
    }
}

mod anything {
    use super::*;
    use pos_reader::ReaderProgress;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Input {
        Message(bool, String),
        Raw(Vec<u8>),
        Arm,
        Type,
        Complete,
        Cancel,
        Deadline,
        Replug,
    }

    fn input() -> impl Strategy<Value = Input> {
        let answer = prop::sample::select(vec![
            "9000".to_owned(),
            "9F23".to_owned(),
            "9F30".to_owned(),
            "9F41".to_owned(),
            "9F42".to_owned(),
            "9F43".to_owned(),
            "9F44".to_owned(),
            "9FC2".to_owned(),
            "089000".to_owned(),
            "E2009000".to_owned(),
            "E2094F07A00000000310109000".to_owned(),
            "E106DFA20802353 09000".replace(' ', ""),
            "9F22".to_owned(),
            "6D00".to_owned(),
            E3.to_owned(),
            E5.to_owned(),
            RESET.to_owned(),
            P2PE.to_owned(),
            e4(""),
            e4(PIN),
        ]);
        let event = prop::sample::select(vec![
            NO_CARD.to_owned(),
            CARD_IN.to_owned(),
            swipe("101"),
            swipe("120"),
            swipe("201"),
            "E005DFA205011B".to_owned(),
            "E60FC30102C40350494EDFA1010104".to_owned(),
            "E606C3010BC40142".to_owned(),
        ]);
        prop_oneof![
            6 => answer.prop_map(|body| Input::Message(false, body)),
            4 => event.prop_map(|body| Input::Message(true, body)),
            1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Input::Raw),
            3 => Just(Input::Arm),
            1 => Just(Input::Type),
            3 => Just(Input::Complete),
            1 => Just(Input::Cancel),
            1 => Just(Input::Deadline),
            1 => Just(Input::Replug),
        ]
    }

    /// A stand-in for the agent that checks the events that the agent relies on. Each sale has steps, then exactly one
    /// of Card and NoCard. After Card and Complete there is exactly one Completed. Idle comes only after the end of the
    /// sale. After Unready there is no event of a sale.
    #[derive(Default)]
    struct Agent {
        number: u64,
        ready: bool,
        /// True from arming until the reader is idle again.
        busy: bool,
        waiting: bool,
        card: bool,
        completing: bool,
        typing: bool,
    }

    /// The number that every typing order uses.
    const TYPING: u64 = 1_000_000;

    impl Agent {
        fn hears(&mut self, event: &ReaderEvent) {
            match event {
                ReaderEvent::Ready(_) => {
                    assert!(!self.busy);
                    self.ready = true;
                }
                ReaderEvent::Unready(_) => *self = Self { number: self.number, ..Self::default() },
                ReaderEvent::KeysLeft { .. } => assert!(self.card),
                ReaderEvent::Typed { sale, .. } => assert!(*sale == TYPING && std::mem::take(&mut self.typing)),
                ReaderEvent::Progress { sale, progress: ReaderProgress::ChoosingTip } => {
                    assert!(*sale == TYPING && self.typing);
                }
                ReaderEvent::Progress { sale, progress } => {
                    assert_eq!(*sale, self.number);
                    assert!(self.busy && (self.waiting || *progress == ReaderProgress::RemoveCard), "{progress:?}");
                }
                ReaderEvent::Language { sale, .. } => assert!(*sale == self.number && self.waiting),
                ReaderEvent::Card { sale, .. } => {
                    assert!(*sale == self.number && std::mem::take(&mut self.waiting));
                    self.card = true;
                }
                ReaderEvent::NoCard { sale, why } => {
                    assert_eq!(*sale, self.number);
                    assert!(std::mem::take(&mut self.waiting) || *why == pos_reader::NoCard::NotReady);
                }
                ReaderEvent::Completed { sale, .. } => {
                    assert!(*sale == self.number && std::mem::take(&mut self.completing));
                }
                ReaderEvent::Idle => {
                    assert!(self.busy && !self.waiting && !self.card && !self.completing);
                    self.busy = false;
                }
            }
        }
    }

    /// Opens the port, for the first time or again, and answers every query of the start-up.
    fn start(session: &mut MiuraSession, now: Duration) {
        session.closed("pulled");
        session.opened(now);
        for (unsolicited, message) in [
            (false, "9000"),
            (false, RESET),
            (false, P2PE),
            (false, INFO),
            (false, CONFIG),
            (false, "9000"),
            (true, "E104480200009000"),
            (false, "9000"),
        ] {
            for packet in chain(Nad::Reader, unsolicited, &hex::decode(message).unwrap(), 254).unwrap() {
                session.bytes(&packet, now);
            }
        }
    }

    fn drain(session: &mut MiuraSession, agent: &mut Agent) {
        while let Some(output) = session.poll() {
            if let PortAction::Report(event) = output {
                agent.hears(&event);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn the_agent_hears_of_each_sale_in_order(inputs in prop::collection::vec(input(), 0..120)) {
            let mut session = MiuraSession::new(settings(), MiuraSettings::default());
            let mut agent = Agent::default();
            let mut now = Duration::ZERO;
            start(&mut session, now);
            drain(&mut session, &mut agent);
            for (n, input) in inputs.into_iter().enumerate() {
                now += Duration::from_millis(700);
                match input {
                    Input::Message(unsolicited, body) => {
                        // Each block has a separate key, and sometimes a key occurs twice.
                        let key = format!("{:06X}", n + 1 - usize::from(n % 7 == 0));
                        let body = body
                            .replace("FFFF0102628D1100005F", &format!("FFFF0102628D11{key}"))
                            .replace("FFFF0102628D12000001", &format!("FFFF0102628D12{key}"))
                            .replace("00000200000055400182", &format!("00000200000055{key}"));
                        let message = hex::decode(if unsolicited { format!("{body}9000") } else { body }).unwrap();
                        for packet in chain(Nad::Reader, unsolicited, &message, 254).unwrap() {
                            session.bytes(&packet, now);
                        }
                    }
                    Input::Raw(bytes) => session.bytes(&bytes, now),
                    Input::Type if agent.ready && !agent.busy && !agent.typing => {
                        agent.typing = true;
                        session.order(ReaderOrder::TypeAmount(typing(&format!("{TYPING} tip 10.00 EUR 10"))), now);
                    }
                    Input::Cancel if agent.typing => session.order(ReaderOrder::Cancel { sale: SaleNumber::new(TYPING) }, now),
                    Input::Arm if agent.ready && !agent.busy && !agent.typing => {
                        agent.number += 1;
                        (agent.busy, agent.waiting) = (true, true);
                        session.order(ReaderOrder::Arm(arm(agent.number)), now);
                    }
                    Input::Complete if agent.card => {
                        (agent.card, agent.completing) = (false, true);
                        session.order(complete(&format!("{} 00 91 1122334455667788", agent.number)), now);
                    }
                    Input::Cancel => session.order(ReaderOrder::Cancel { sale: SaleNumber::new(agent.number) }, now),
                    Input::Deadline => {
                        if let Some(deadline) = session.deadline() {
                            now = now.max(deadline);
                            session.timeout(now);
                        }
                    }
                    Input::Replug => session.closed("pulled"),
                    Input::Arm | Input::Complete | Input::Type => {}
                }
                drain(&mut session, &mut agent);
                if !agent.ready {
                    start(&mut session, now);
                    drain(&mut session, &mut agent);
                    prop_assert!(agent.ready);
                }
                // While a sale waits for an event, there is always a deadline, unless the sale waits for the agent's
                // answer.
                prop_assert!(!(agent.busy || agent.typing) || session.deadline().is_some());
            }
        }
    }
}

#[test]
fn a_tills_text_is_shown_between_sales_and_not_during_one() {
    play(
        "10 show Total 12,34 EUR/Thank you for your visit
         > DISPLAY TEXT Total 12,34 EUR/Thank you for your/visit
         show two
         show three
         show four
         arm 1
         ! 1 PresentCard
         < 9000
         > DISPLAY TEXT four
         < 9000
         > START CONTACTLESS TRANSACTION
         show ENTER PIN",
    );
    // A reader that does not know this command still does everything else.
    play("10 show Hello\n > DISPLAY TEXT Hello\n < 6D00\n arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION");
}
