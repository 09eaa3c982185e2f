//! Typing on a Miura reader, run as traces (`support/trace.rs`): amounts, tips and card numbers.

use crate::trace::*;
use pos_agent::config::{ManualEntryCommand, TipEntry};
use pos_reader::miura::{ManualEntry, MiuraSettings};
use pos_reader::{EntryRequest, NoAmount};

/// The command for an amount in EUR, typed from documents (readers: 2.10): prompts 1, ten digits and two, currency,
/// exponent, amount line.
const AMOUNT: &str =
    "> GET NUMERIC DATA E02DDFA20606000100000000DFA207020A025F2A0209785F3601029F0206000000000000DFA20E0102DFFF0102001E";

mod amount {
    use super::*;

    #[test]
    fn both_forms_of_the_answer_are_the_same_amount() {
        // The typed inputs are "1234" and "12.34".
        for digits in ["31323334", "31322E3334"] {
            let answer = t("E1", &t("DFA208", digits));
            play(&format!("10 type 5 amount EUR\n {AMOUNT}\n < {answer}9000\n ! 5 typed 12.34 EUR\n {ARM}"));
        }
    }

    /// The reader is free immediately: no Idle follows, and a sale can begin.
    const ARM: &str = "arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION";

    #[test]
    fn the_currency_s_exponent_decides() {
        let yen = AMOUNT.replace("0A02", "0A00").replace("0978", "0392").replace("5F360102", "5F360100");
        let answer = t("E1", &t("DFA208", "31323030"));
        play(&format!("type 5 amount JPY\n {yen}\n < {answer}9000\n ! 5 typed 1200 JPY"));
        // In a currency without decimals, input with a decimal point is not an amount.
        let answer = t("E1", &t("DFA208", "31322E3030"));
        play(&format!("type 5 amount JPY\n {yen}\n < {answer}9000\n ! 5 typed-not NotAnAmount"));
        let dinar = AMOUNT.replace("0A02", "0A03").replace("0978", "0414").replace("5F360102", "5F360103");
        let answer = t("E1", &t("DFA208", "312E323330"));
        play(&format!("type 5 amount KWD\n {dinar}\n < {answer}9000\n ! 5 typed 1.230 KWD"));
    }

    #[test]
    fn every_other_answer_is_a_reason() {
        let typed = |digits: &str| format!("{}9000", t("E1", &t("DFA208", digits)));
        for (answer, why) in [
            ("9F41".to_owned(), "CancelledAtReader"),
            ("9F42".to_owned(), "TimedOut"),
            ("9F14".to_owned(), "NotAnAmount"),
            ("6D00".to_owned(), "Unknown"),
            ("6E00".to_owned(), "Unknown"),
            ("9F2A".to_owned(), "Refused { cause: \"file missing\" }"),
            ("9F88".to_owned(), "Refused { cause: \"mandatory element missing\" }"),
            // These answers contain zero, no digits, nonsense, no DFA208, or no TLV.
            (typed("303030"), "NotAnAmount"),
            (typed(""), "NotAnAmount"),
            (typed("312C3233"), "NotAnAmount"),
            (typed("2D31"), "NotAnAmount"),
            (typed("3132333435363738393031323334"), "NotAnAmount"),
            ("9000".to_owned(), "NotAnAmount"),
            ("E1009000".to_owned(), "NotAnAmount"),
            ("DFA2089000".to_owned(), "NotAnAmount"),
        ] {
            play(&format!("10 type 5 amount EUR\n {AMOUNT}\n < {answer}\n ! 5 typed-not {why}"));
        }
    }

    #[test]
    fn cancelled_at_the_till_whoever_is_faster() {
        let typed = t("E1", &t("DFA208", "31323334"));
        for answers in
            ["< 9000\n < 9F41".to_owned(), format!("< {typed}9000\n < 9000"), format!("< 9000\n < {typed}9000")]
        {
            play(&format!(
                "10 type 5 amount EUR
                    {AMOUNT}
                    cancel 4
                    cancel 5
                    > ABORT
                    cancel 5
                    {answers}
                    ! 5 typed-not CancelledByTill"
            ));
        }
    }

    #[test]
    fn nobody_types_and_the_reader_does_not_say_so() {
        // The deadline is 30 s, plus five more for the reader's own time-out.
        play(&format!(
            "10 type 5 amount EUR
                {AMOUNT}
             45 tick
                > ABORT
                < 9000
                < 9F41
                ! 5 typed-not TimedOut"
        ));
        play(&format!(
            "10 type 5 amount EUR
                {AMOUNT}
             45 tick
                > ABORT
             50 tick
                ! unready restarting no answer to ABORT
                reopen 0.5"
        ));
    }

    #[test]
    fn while_the_reader_is_busy_or_away_nothing_is_typed() {
        play("arm 1\n ! 1 PresentCard\n > START CONTACTLESS TRANSACTION\n type 5 amount EUR\n ! 5 typed-not NotReady");
        play(&format!(
            "type 5 amount EUR\n {AMOUNT}\n arm 6\n ! 6 no-card NotReady\n type 7 tip 1.00 EUR\n ! 7 typed-not NotReady"
        ));
        play("closed gone\n ! unready absent gone\n reopen 0.5\n type 5 amount EUR\n ! 5 typed-not NotReady");
    }
}

mod tip {
    use super::*;

    /// Offers 10, 15 and 20 per cent of 20.00 EUR, with "other" in the fourth place (readers: 2.10).
    const TIP: &str =
        "> GET DYNAMIC TIP E01FDFA217040A0F14FFDFA21801015F2A0209785F3601029F0206000000002000\n ! 5 ChoosingTip";

    fn answered(digits: &str, rest: &str) {
        let answer = t("E1", &t("DFA208", &hex::encode(digits)));
        play(&format!("10 type 5 tip 20.00 EUR 10 15 20\n {TIP}\n < {answer}9000\n ! 5 {rest}"));
    }

    #[test]
    fn a_tip_none_and_nonsense() {
        answered("300", "typed 3.00 EUR");
        answered("3.00", "typed 3.00 EUR");
        answered("000", "typed nothing");
        answered("0.00", "typed nothing");
        answered("2000", "typed 20.00 EUR");
        // The tip exceeds the bill. This is a typing error, or the reader returns the total instead of the tip.
        answered("2001", "typed-not DoesNotFit");
        answered("23.00", "typed-not DoesNotFit");
        answered("", "typed-not NotAnAmount");
        answered("3.0", "typed-not NotAnAmount");
    }

    #[test]
    fn the_total_may_be_asked_for() {
        let settings = || MiuraSettings { tip_entry: TipEntry::Total, ..MiuraSettings::default() };
        for (digits, rest) in [
            ("2300", "typed 3.00 EUR"),
            ("2000", "typed nothing"),
            ("1999", "typed-not DoesNotFit"),
            ("4000", "typed 20.00 EUR"),
            ("4001", "typed-not DoesNotFit"),
        ] {
            let answer = t("E1", &t("DFA208", &hex::encode(digits)));
            play_with(settings(), &format!("10 type 5 tip 20.00 EUR 10 15 20\n {TIP}\n < {answer}9000\n ! 5 {rest}"));
        }
    }

    #[test]
    fn the_four_places() {
        for (percentages, places) in [
            ("", "FFFEFEFE"),
            ("5", "05FFFEFE"),
            ("5 10 15 100", "050A0F64"),
            // The customer can type no other percentage.
            ("5 10 only", "050AFEFE"),
        ] {
            let command = TIP.replace("0A0F14FF", places);
            play(&format!("type 5 tip 20.00 EUR {percentages}\n {command}"));
        }
        for wrong in ["0", "101", "10 255"] {
            play(&format!("type 5 tip 20.00 EUR {wrong}\n ! 5 typed-not WrongPercentages"));
        }
    }

    #[test]
    fn an_old_reader_says_that_it_cannot() {
        play(&format!("type 5 tip 20.00 EUR 10 15 20\n {TIP}\n < 6D00\n ! 5 typed-not Unknown"));
        assert!(NoAmount::Unknown.to_string().contains("type the amount at the till"));
    }
}

mod manual {
    use super::*;

    fn with(command: ManualEntryCommand, verification_value: bool) -> MiuraSettings {
        let manual_entry = Some(ManualEntry { command, verification_value });
        MiuraSettings { manual_entry, ..MiuraSettings::default() }
    }

    /// The commands that clear the data, ask for the card's data and seal it (readers: 2.9). The PAN has prompt 4, 60 s
    /// and the amount in row 2. The expiry (YYMM) has prompt 0A.
    const CLEAR: &str = "> GET SECURE DATA 0000";
    const PAN: &str = "> GET SECURE DATA 010B2EE02CDFA2100101DFA206060004000000009F02060000000012345F2A0209785F360102DFA20E0102DFFF0102003C";
    const EXPIRY: &str = "> GET SECURE DATA 01032EE02CDFA2100104DFA20606000A000000009F02060000000012345F2A0209785F360102DFA20E0102DFFF0102003C";
    const VALUE: &str = "> GET SECURE DATA 01032EE02CDFA2100106DFA20606000C000000009F02060000000012345F2A0209785F360102DFA20E0102DFFF0102003C";
    const SEAL: &str = "> GET SECURE DATA 0200";

    fn sealed() -> String {
        let masked = hex::encode("476173******0010");
        format!("{}9000", t("E1", &format!("{}{SEALED}", t("DFA208", &masked))))
    }

    const CARD: &str = "! 1 card MANUAL 476173******0010 GoOnline sealed 24 ksn FFFF0102628D1100005F";

    #[test]
    fn number_and_date_are_sealed_and_the_host_decides() {
        play_with(
            with(ManualEntryCommand::D2E0, false),
            &format!(
                "10 manual 1
                    ! 1 TypeCard
                    {CLEAR}
                    < 9000
                    {PAN}
                 20 < 9000
                    {EXPIRY}
                 25 < 9000
                    {SEAL}
                    < {}
                    {CARD}
                 30 complete 1 00
                    ! 1 completed Approved
                    > DISPLAY TEXT APPROVED
                    < 9000
                    ! idle",
                sealed()
            ),
        );
    }

    #[test]
    fn with_the_verification_value_when_the_shop_wants_it() {
        play_with(
            with(ManualEntryCommand::D2E0, true),
            &format!(
                "manual 1\n ! 1 TypeCard\n {CLEAR}\n < 9000\n {PAN}\n < 9000\n {EXPIRY}\n < 9000\n {VALUE}\n < 9000\n {SEAL}\n < {}\n {CARD}",
                sealed()
            ),
        );
    }

    #[test]
    fn an_older_reader_has_one_command() {
        play_with(
            with(ManualEntryCommand::D25A, false),
            &format!(
                "manual 1\n ! 1 TypeCard\n > GET SECURE PAN E00FDFA2100101DFA20606000400000000\n < {}\n {CARD}",
                sealed()
            ),
        );
    }

    #[test]
    fn only_where_it_is_allowed() {
        play("manual 1\n ! 1 no-card ManualEntryOff\n ! idle");
    }

    #[test]
    fn whatever_ends_it_the_reader_forgets() {
        for (answer, why) in [
            ("9F41", "CancelledAtReader"),
            ("9F42", "TimedOut"),
            ("9F14", "Unreadable { cause: \"the typed value is not a card number or date\" }"),
            ("9FED", "Unreadable { cause: \"the reader does not allow it\" }"),
        ] {
            play_with(
                with(ManualEntryCommand::D2E0, false),
                &format!(
                    "manual 1\n ! 1 TypeCard\n {CLEAR}\n < 9000\n {PAN}\n < {answer}\n {CLEAR}\n ! 1 no-card {why}\n < 9000\n ! idle"
                ),
            );
        }
        play_with(
            with(ManualEntryCommand::D2E0, false),
            &format!(
                "manual 1\n ! 1 TypeCard\n {CLEAR}\n < 9000\n {PAN}\n cancel 1\n > ABORT\n < 9000\n < 9F41\n {CLEAR}\n ! 1 no-card CancelledByTill\n < 9000\n ! idle"
            ),
        );
        // A reader that does not know the command has no data to clear.
        play_with(
            with(ManualEntryCommand::D2E0, false),
            &format!("manual 1\n ! 1 TypeCard\n {CLEAR}\n < 6D00\n ! 1 no-card ManualEntryUnknown\n ! idle"),
        );
    }

    #[test]
    fn nothing_sealed_or_a_number_in_clear_is_refused() {
        let to_seal =
            format!("manual 1\n ! 1 TypeCard\n {CLEAR}\n < 9000\n {PAN}\n < 9000\n {EXPIRY}\n < 9000\n {SEAL}\n");
        let masked = t("E1", &t("DFA208", &hex::encode("476173******0010")));
        play_with(
            with(ManualEntryCommand::D2E0, false),
            &format!("{to_seal} < {masked}9000\n ! unready not-encrypting 04000203 Nothing\n > ABORT"),
        );
        let clear = t("E1", &format!("{}{SEALED}", t("DFA208", &hex::encode("4761739001010010"))));
        play_with(
            with(ManualEntryCommand::D2E0, false),
            &format!("{to_seal} < {clear}9000\n ! unready clear-card-data 04000203\n arm 2\n ! 2 no-card NotReady"),
        );
    }

    #[test]
    fn the_words_say_what_to_do() {
        assert_eq!(EntryRequest::default(), EntryRequest::Card);
        for why in [pos_reader::NoCard::ManualEntryOff, pos_reader::NoCard::ManualEntryUnknown] {
            assert!(why.to_string().contains("see manual-entry"), "{why}");
        }
    }
}

/// Checks an answer of a thousand digits, with keys and card events during typing. The session reports one reason and
/// no event of a sale.
#[test]
fn much_that_is_said_while_typing_changes_nothing() {
    let mut player = Player::started(settings());
    player.play(&format!("10 type 5 amount EUR\n {AMOUNT}"));
    // More in one moment would be a flood (`miura_session`).
    for _ in 0..100 {
        player.play("* E005DFA2050135\n * E10448020300\n * E10448020000\n * E606C30102C40142");
    }
    player.play(&format!("< {}9000\n ! 5 typed-not NotAnAmount", t("E1", &t("DFA208", &"31".repeat(1_000)))));
}
