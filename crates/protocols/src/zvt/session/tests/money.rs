//! Tests of requested, approved, captured and refunded amounts, row by row. Each table over an enum has a `match`
//! without a wildcard, so a new variant without a row does not compile.

use super::*;
use crate::zvt::code::*;
use pos_till_api::{Begin, Kind, Outcome, State};

const NO_CLOSE: &str = r#"{ "type": "x", "title": "t", "status": 404, "detail": "d", "code": "no-such-close" }"#;

fn no_close() -> Value {
    serde_json::from_str(NO_CLOSE).unwrap()
}

/// Returns the code that ended a command, or `None` for `06 0F`.
fn ended(told: &[TerminalMessage]) -> Option<u8> {
    match told.last() {
        Some(TerminalMessage::Completion(_)) => None,
        Some(TerminalMessage::Aborted { code, .. }) => Some(*code),
        other => panic!("{other:?}"),
    }
}

/// Returns the only `04 0F` among the messages.
fn the_status(told: &[TerminalMessage]) -> &Fields {
    let mut all = told.iter().filter_map(|told| match told {
        TerminalMessage::Status(fields) => Some(fields),
        _ => None,
    });
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        other => panic!("{other:?}"),
    }
}

/// Brings a payment to this state after the acknowledgement, and returns the messages for the till.
fn ends_as(state: &str, more: Value) -> (Vec<TerminalMessage>, Vec<TerminalMessage>, Option<Ask>) {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.told();
    stage.terminal(201, &sale(state, more));
    let before = stage.told();
    stage.till("80 00 00");
    let next = stage.asked.last().map(|(_, ask)| ask.clone());
    (before, stage.told(), next)
}

#[test]
fn each_end_is_told_as_what_it_is() {
    let word = |outcome: Outcome| match outcome {
        Outcome::Approved => ("approved", OK),
        Outcome::PartiallyApproved => ("partially-approved", OK),
        Outcome::Declined => ("declined", DECLINED),
        Outcome::Cancelled => ("cancelled", CANCELLED),
        Outcome::NotSent => ("not-sent", PROCESSING),
        Outcome::Reversed => ("reversed", ALREADY_REVERSED),
        // An unknown outcome counts neither as a decline nor as an approval.
        Outcome::Other => ("a word of later", COMMUNICATION),
    };
    for outcome in [
        Outcome::Approved,
        Outcome::PartiallyApproved,
        Outcome::Declined,
        Outcome::Cancelled,
        Outcome::NotSent,
        Outcome::Reversed,
        Outcome::Other,
    ] {
        let (word, code) = word(outcome);
        let (before, after, _) = ends_as("ended", json!({ "outcome": word, "approvalCode": "A1B2", "text": "why" }));
        let fields = the_status(&before);
        assert_eq!(fields.byte(0x27), Some(code), "{word}");
        assert_eq!(ended(&after), Some(code).filter(|code| *code != OK), "{word}");
        // The approval code appears only with an approval, and the text of the reason only with another result.
        assert_eq!(fields.get(0x3B).is_some(), code == OK, "{word}");
        assert_eq!(fields.get(0x3C).is_some(), code != OK, "{word}");
    }
    // Without an outcome the result is unknown.
    let (before, after, _) = ends_as("ended", json!({}));
    assert_eq!((the_status(&before).byte(0x27), ended(&after)), (Some(COMMUNICATION), Some(COMMUNICATION)));
}

#[test]
fn a_till_hears_an_end_in_each_state_that_is_one_for_it_and_in_no_other() {
    let word = |state: State| match state {
        State::WaitingForCard => ("waiting-for-card", None),
        State::InProgress => ("in-progress", None),
        State::AwaitingSignature => ("awaiting-signature", None),
        State::AwaitingTill => ("awaiting-till", None),
        State::Unconfirmed => ("unconfirmed", Some(COMMUNICATION)),
        State::UnconfirmedFinishing => ("unconfirmed-finishing", Some(COMMUNICATION)),
        State::Ended => ("ended", Some(OK)),
        State::Other => ("a state of later", None),
    };
    for state in [
        State::WaitingForCard,
        State::InProgress,
        State::AwaitingSignature,
        State::AwaitingTill,
        State::Unconfirmed,
        State::UnconfirmedFinishing,
        State::Ended,
        State::Other,
    ] {
        let (word, code) = word(state);
        // The outcome has no effect while the transaction is not over.
        let (before, after, next) = ends_as(word, json!({ "outcome": "approved" }));
        match code {
            Some(code) => {
                assert_eq!(the_status(&before).byte(0x27), Some(code), "{word}");
                assert_eq!(ended(&after), Some(code).filter(|code| *code != OK), "{word}");
            }
            None => {
                assert!(before.is_empty() && after.is_empty(), "{word}: {before:?} {after:?}");
                let goes_on = matches!(next, Some(Ask::Show { .. } | Ask::Sign { .. }));
                assert!(goes_on || matches!(state, State::AwaitingSignature | State::AwaitingTill), "{word}: {next:?}");
            }
        }
    }
}

#[test]
fn why_nothing_was_sent_has_its_code() {
    for (reason, code) in [
        ("card-unreadable", CARD_UNREADABLE),
        ("reader-lost", READER),
        ("reader-", READER),
        ("gateway-unreachable", NO_CONNECTION),
        ("a reason of later", PROCESSING),
        ("", PROCESSING),
    ] {
        let (before, after, _) = ends_as("ended", json!({ "outcome": "not-sent", "reason": reason }));
        assert_eq!((the_status(&before).byte(0x27), ended(&after)), (Some(code), Some(code)), "{reason}");
    }
}

#[test]
fn a_refusal_has_its_code_and_nothing_was_done() {
    for (word, code) in [
        ("busy", BUSY),
        ("amount", TOO_MUCH),
        ("currency", WRONG_CURRENCY),
        ("not-ready", READER),
        ("forbidden", NOT_POSSIBLE),
        ("operator-required", NOT_POSSIBLE),
        ("supervisor-needed", NOT_POSSIBLE),
        ("not-approved", NOT_POSSIBLE),
        ("operator-role", NOT_POSSIBLE),
        ("not-possible", NO_REVERSAL),
        ("no-such-sale", NO_REVERSAL),
        ("a word of later", PROCESSING),
    ] {
        let mut stage = Stage::quiet();
        stage.till(PAY);
        stage.terminal(200, &status());
        stage.told();
        stage.terminal(409, &json!({ "status": 409, "code": word, "detail": "d" }));
        assert_eq!(ended(&stage.told()), Some(code), "{word}");
        assert!(stage.asked.is_empty());
    }
}

#[test]
fn an_approval_in_part_is_told_with_its_own_amount_wherever_an_amount_is_told() {
    // The till accepts partial approvals, and sees 6.00 of 10.00 before it confirms.
    let mut stage = Stage::quiet();
    stage.till("06 01 0D 04 00 00 00 00 10 00 06 04 1F 70 01 01");
    stage.terminal(200, &status());
    let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.question()) };
    assert!(begin.accept_partial);
    let part = json!({
        "toConfirm": { "amount": "6.00", "until": "2026-11-20T12:36:56Z", "onSilence": "reverse" },
        "approvedAmount": "6.50",
    });
    stage.terminal(201, &sale("awaiting-till", part));
    // The amount to confirm is sent, rather than the requested or an earlier approved amount.
    assert_eq!(the_status(&stage.told()).number(0x04), Ok(Some(600)));
    stage.till("80 00 00");
    assert_eq!(stage.question(), &Ask::Confirm { reference: "zvt-test-1".to_owned(), taken: Taken::All });
    // The transaction ended with a partial approval that the till did not confirm, so the approved amount is sent.
    let (before, ..) = ends_as("ended", json!({ "outcome": "partially-approved", "approvedAmount": "6.00" }));
    assert_eq!(the_status(&before).number(0x04), Ok(Some(600)));
    // The repeat has the partial amount too.
    let mut stage = Stage::quiet();
    stage.till("06 20 03 12 34 56");
    stage.terminal(200, &status());
    stage.told();
    stage.terminal(200, &sale("ended", json!({ "outcome": "partially-approved", "approvedAmount": "6.00" })));
    assert_eq!(the_status(&stage.told()).number(0x04), Ok(Some(600)));
}

#[test]
fn what_a_till_takes_of_an_approval_is_what_it_says() {
    for (answer, taken, code) in [
        ("80 00 00", Taken::All, None),
        ("84 00 00", Taken::All, None),
        ("84 9D 07 04 00 00 00 00 08 00", Taken::Part { amount: "8.00".to_owned() }, None),
        ("84 9D 07 04 00 00 00 00 00 01", Taken::Part { amount: "0.01".to_owned() }, None),
        ("84 66 00", Taken::Nothing, Some(CANCELLED)),
        // An unreadable amount counts as no amount, so the till takes nothing.
        ("84 9D 00", Taken::Nothing, Some(CANCELLED)),
        ("84 9D 02 04 00", Taken::Nothing, Some(CANCELLED)),
    ] {
        let mut stage = Stage::quiet();
        stage.sells(PAY);
        stage.told();
        stage.till(answer);
        assert_eq!(stage.question(), &Ask::Confirm { reference: "zvt-test-1".to_owned(), taken }, "{answer}");
        let after = if code.is_some() { sale("ended", json!({ "outcome": "reversed" })) } else { approved() };
        stage.terminal(200, &after);
        assert_eq!(ended(&stage.told()), code, "{answer}");
    }
}

#[test]
fn whether_a_till_takes_parts_is_read_from_its_container() {
    for (container, takes) in [
        ("", false),
        ("06 04 1F 70 01 01", true),
        ("06 04 1F 70 01 00", false),
        ("06 05 1F 70 02 00 00", false),
        ("06 05 1F 70 02 00 01", true),
        // The tag alone, without a value, is a request.
        ("06 03 1F 70 00", true),
    ] {
        let mut stage = Stage::quiet();
        let data = format!("04 00 00 00 00 10 00 {container}");
        stage.till(&format!("06 01 {:02X} {data}", data.split_whitespace().count()));
        stage.terminal(200, &status());
        let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.question()) };
        assert_eq!(begin.accept_partial, takes, "{container}");
    }
}

#[test]
fn the_least_amount_is_one_minor_unit_and_none_is_none() {
    for (command, kind) in [("06 01", Kind::Sale), ("06 22", Kind::PreAuthorisation), ("06 31", Kind::Credit)] {
        let password = if command == "06 31" { "12 34 56 " } else { "" };
        for (decimals, amount, begins) in [
            (2, "04 00 00 00 00 00 01", Some("0.01")),
            (2, "04 00 00 00 00 00 00", None),
            (2, "", None),
            (0, "04 00 00 00 00 00 01", Some("1")),
            (2, "04 99 99 99 99 99 99", Some("9999999999.99")),
        ] {
            let mut stage = Stage::with(Settings { credit: true, ..settings(OnSilence::Keep) }, "00 00 00 06");
            let data = format!("{password}{amount}");
            stage.till(&format!("{command} {:02X} {data}", data.split_whitespace().count()));
            let mut about = status();
            about["currencyDecimals"] = json!(decimals);
            stage.terminal(200, &about);
            match begins {
                Some(text) => {
                    let Ask::Begin(begin) = stage.question() else { panic!("{:?}", stage.question()) };
                    assert_eq!((begin.kind, begin.amount.as_deref()), (kind, Some(text)), "{command} {amount}");
                    // A payout to a card needs no confirmation and accepts no partial approval.
                    assert_eq!(begin.confirm.is_some(), kind != Kind::Credit, "{command}");
                    assert!(!begin.accept_partial && begin.of.is_none() && begin.till_prints);
                }
                None => {
                    assert_eq!(ended(&stage.told()), Some(TOO_LITTLE), "{command} {amount}");
                    assert!(stage.asked.is_empty());
                }
            }
        }
    }
}

#[test]
fn without_a_configured_password_what_gives_money_back_or_closes_the_day_is_refused() {
    /// The passwords with which a command is accepted.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Needs {
        /// Only the till's password. Without a configured password, the command is refused.
        Always,
        /// Only the till's password, if one is configured.
        Configured,
        /// Any password, or none.
        Nothing,
    }
    for (command, rest, needs) in [
        ("06 30", "87 00 17", Needs::Always),
        ("06 31", "04 00 00 00 00 10 00", Needs::Always),
        ("06 50", "", Needs::Always),
        ("06 12", "00 16", Needs::Configured),
        ("06 10", "", Needs::Nothing),
        ("06 20", "", Needs::Nothing),
    ] {
        for configured in [Some(123_456), None] {
            for (sent, is_right) in [("12 34 56", true), ("12 34 57", false), ("02 34 56", false)] {
                let settings = Settings { password: configured, credit: true, ..settings(OnSilence::Keep) };
                let mut stage = Stage::with(settings, "00 00 00 00");
                let data = format!("{sent} {rest}");
                stage.till(&format!("{command} {:02X} {data}", data.split_whitespace().count()));
                stage.terminal(200, &status());
                let carried_out = match needs {
                    Needs::Always => configured.is_some() && is_right,
                    Needs::Configured => configured.is_none() || is_right,
                    Needs::Nothing => true,
                };
                let row = format!("{command} {configured:?} {sent}");
                assert_eq!(!stage.asked.is_empty(), carried_out, "{row}");
                if !carried_out {
                    assert_eq!(ended(&stage.told()), Some(NOT_POSSIBLE), "{row}");
                }
            }
        }
    }
}

/// Runs a command up to the earlier transaction. Returns the request that follows, or the code for the till.
fn about(command: &str, rest: &str, earlier: Value) -> Result<Begin, Option<u8>> {
    let mut stage = Stage::quiet();
    let password = if command == "06 30" { "12 34 56 " } else { "" };
    let data = format!("{password}87 00 17 {rest}");
    stage.till(&format!("{command} {:02X} {data}", data.split_whitespace().count()));
    stage.terminal(200, &status());
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 20 }))] }));
    stage.terminal(404, &no_close());
    stage.terminal(200, &json!({ "sales": [earlier.clone()] }));
    if let Some((_, Ask::Show { reference, wait_s })) = stage.asked.last() {
        assert_eq!((reference.as_str(), *wait_s), ("zvt-test-1", 0));
        stage.terminal(200, &earlier);
    }
    match stage.asked.last() {
        Some((_, Ask::Begin(begin))) => Ok((**begin).clone()),
        _ => Err(ended(&stage.told())),
    }
}

#[test]
fn whole_and_part_of_a_reservation_are_taken_and_freed_to_the_minor_unit() {
    let reserved = |left: &str| {
        let mut sale = approved();
        (sale["kind"], sale["left"]) = (json!("pre-authorisation"), json!(left));
        sale
    };
    let cents = |cents: u64| format!("04 {}", hex::encode(crate::zvt::bmp::digits(cents, 6)));
    let rest = |amount: Option<u64>| {
        let text = amount.map(cents).unwrap_or_default().replace(' ', "");
        text.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair)).collect::<Vec<_>>().join(" ")
    };
    let takes = |amount: Option<&str>| Ok((Kind::Capture, amount.map(str::to_owned)));
    let frees = Ok((Kind::Reversal, None));
    for (command, left, amount, comes_to) in [
        // `06 23` states the unused part.
        ("06 23", "10.00", None, Err(RESERVED_AMOUNT)),
        ("06 23", "10.00", Some(0), takes(Some("10.00"))),
        ("06 23", "10.00", Some(1), takes(Some("9.99"))),
        ("06 23", "10.00", Some(999), takes(Some("0.01"))),
        ("06 23", "10.00", Some(1000), frees.clone()),
        ("06 23", "10.00", Some(1001), Err(RESERVED_AMOUNT)),
        // `06 24` states the used part.
        ("06 24", "10.00", None, takes(None)),
        ("06 24", "10.00", Some(0), Err(RESERVED_AMOUNT)),
        ("06 24", "10.00", Some(1), takes(Some("0.01"))),
        ("06 24", "10.00", Some(1000), takes(Some("10.00"))),
        ("06 24", "10.00", Some(1001), Err(RESERVED_AMOUNT)),
        // `06 25` releases the whole reservation.
        ("06 25", "10.00", None, frees.clone()),
        ("06 25", "10.00", Some(1000), frees.clone()),
        ("06 25", "10.00", Some(999), Err(RESERVED_AMOUNT)),
        ("06 25", "10.00", Some(1001), Err(RESERVED_AMOUNT)),
        ("06 25", "10.00", Some(0), Err(RESERVED_AMOUNT)),
        // The remaining amount counts, rather than the approved amount.
        ("06 23", "4.00", Some(400), frees),
        ("06 23", "4.00", Some(401), Err(RESERVED_AMOUNT)),
        ("06 24", "4.00", Some(400), takes(Some("4.00"))),
        ("06 24", "4.00", Some(401), Err(RESERVED_AMOUNT)),
        ("06 25", "4.00", Some(1000), Err(RESERVED_AMOUNT)),
        // No amount remains.
        ("06 23", "0.00", Some(0), Err(NO_RESERVATION)),
        ("06 24", "0.00", None, Err(NO_RESERVATION)),
        ("06 25", "0.00", None, Err(NO_RESERVATION)),
    ] {
        let row = format!("{command} of {left}: {amount:?}");
        match (about(command, &rest(amount), reserved(left)), comes_to) {
            (Ok(begin), Ok((kind, amount))) => {
                assert_eq!(
                    (begin.kind, &begin.amount, begin.of.as_deref()),
                    (kind, &amount, Some("zvt-test-1")),
                    "{row}"
                );
                // Nothing is left for a second capture.
                let last = begin.parameters.get("sequence").map(String::as_str);
                assert_eq!(last, (kind == Kind::Capture).then_some("FINAL"), "{row}");
            }
            (Err(told), Err(code)) => assert_eq!(told, Some(code), "{row}"),
            (came, expected) => panic!("{row}: {came:?}, not {expected:?}"),
        }
    }
}

#[test]
fn a_void_takes_back_a_payment_that_stands_and_says_when_it_is_back_already() {
    let begin = about("06 30", "", approved()).unwrap();
    assert_eq!((begin.kind, begin.amount, begin.of.as_deref()), (Kind::Reversal, None, Some("zvt-test-1")));
    assert!(begin.parameters.is_empty());
    let back = sale("ended", json!({ "outcome": "reversed", "endedAt": "2026-11-20T12:35:00Z" }));
    assert_eq!(about("06 30", "", back), Err(Some(ALREADY_REVERSED)));
}

#[test]
fn only_payments_are_voided_and_only_reservations_that_stand_are_taken_or_freed() {
    let word = |kind: Kind| match kind {
        Kind::Sale => ("sale", true, false),
        Kind::ByRegistration => ("by-registration", true, false),
        Kind::Credit => ("credit", true, false),
        Kind::PreAuthorisation => ("pre-authorisation", false, true),
        Kind::PreAuthorisationByRegistration => ("pre-authorisation-by-registration", false, true),
        Kind::Capture => ("capture", false, false),
        Kind::Increment => ("increment", false, false),
        Kind::Reauthorisation => ("reauthorisation", false, false),
        Kind::Refund => ("refund", false, false),
        Kind::Reversal => ("reversal", false, false),
        Kind::StoreCard => ("store-card", false, false),
        Kind::ForgetCard => ("forget-card", false, false),
        Kind::Other => ("a kind of later", false, false),
    };
    for kind in [
        Kind::Sale,
        Kind::ByRegistration,
        Kind::Credit,
        Kind::PreAuthorisation,
        Kind::PreAuthorisationByRegistration,
        Kind::Capture,
        Kind::Increment,
        Kind::Reauthorisation,
        Kind::Refund,
        Kind::Reversal,
        Kind::StoreCard,
        Kind::ForgetCard,
        Kind::Other,
    ] {
        let (word, voided, taken) = word(kind);
        let mut earlier = approved();
        (earlier["kind"], earlier["left"]) = (json!(word), json!("10.00"));
        assert_eq!(about("06 30", "", earlier.clone()).is_ok(), voided, "{word}");
        for command in ["06 24", "06 25"] {
            assert_eq!(about(command, "", earlier.clone()).is_ok(), taken, "{command} {word}");
        }
    }
    // No amount is captured from a reservation that was declined, reversed or is unconfirmed.
    for (state, outcome, stands) in [
        ("ended", "approved", true),
        ("ended", "partially-approved", true),
        ("ended", "declined", false),
        ("ended", "reversed", false),
        ("ended", "cancelled", false),
        ("ended", "not-sent", false),
        ("unconfirmed", "approved", false),
        ("awaiting-till", "approved", false),
    ] {
        let earlier = sale(state, json!({ "kind": "pre-authorisation", "left": "10.00", "outcome": outcome }));
        let told = about("06 24", "", earlier).map(|begin| begin.kind);
        assert_eq!(told, if stands { Ok(Kind::Capture) } else { Err(Some(NO_RESERVATION)) }, "{state} {outcome}");
    }
}

#[test]
fn a_void_is_of_the_open_period_and_a_reservation_is_as_old_as_it_is() {
    for (ended_at, closed_at, is_open) in [
        ("2026-11-20T12:35:00Z", Some("2026-11-20T12:34:59Z"), true),
        // The same moment belongs to the closed period.
        ("2026-11-20T12:35:00Z", Some("2026-11-20T12:35:00Z"), false),
        ("2026-11-20T12:35:00Z", Some("2026-11-20T12:35:01Z"), false),
        // Times are compared as moments, across offsets and days.
        ("2026-11-20T12:35:00Z", Some("2026-11-20T13:34:59+01:00"), true),
        ("2026-11-20T12:35:00Z", Some("2026-11-20T13:35:01+01:00"), false),
        ("2026-11-20T12:35:00Z", Some("2026-11-20T09:05:01-03:30"), false),
        ("2026-12-31T23:30:00Z", Some("2027-01-01T00:29:59+01:00"), true),
        ("2026-12-31T23:30:00Z", Some("2027-01-01T00:30:01+01:00"), false),
        ("2028-02-29T23:59:59Z", Some("2028-03-01T00:00:00Z"), false),
        ("2028-03-01T00:00:01Z", Some("2028-02-29T23:59:59Z"), true),
        ("2027-01-31T10:00:00Z", Some("2026-12-31T11:00:00Z"), true),
        // Before the first close, every payment is in the open period.
        ("1970-01-01T00:00:00Z", None, true),
    ] {
        for (command, kind) in [("06 30", "sale"), ("06 24", "pre-authorisation")] {
            let mut earlier = approved();
            (earlier["kind"], earlier["left"], earlier["endedAt"]) = (json!(kind), json!("10.00"), json!(ended_at));
            let mut stage = Stage::quiet();
            let password = if command == "06 30" { "12 34 56 " } else { "" };
            let data = format!("{password}87 00 17");
            stage.till(&format!("{command} {:02X} {data}", data.split_whitespace().count()));
            stage.terminal(200, &status());
            stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": 20 }))] }));
            assert_eq!(stage.question(), &Ask::LastClose);
            match closed_at {
                Some(at) => stage.terminal(200, &json!({ "number": 1, "period": { "to": at } })),
                None => stage.terminal(404, &no_close()),
            }
            stage.told();
            stage.terminal(200, &json!({ "sales": [earlier] }));
            let row = format!("{command} {ended_at} {closed_at:?}");
            if is_open || kind != "sale" {
                assert!(matches!(stage.question(), Ask::Show { .. }), "{row}");
            } else {
                assert_eq!(ended(&stage.told()), Some(NO_REVERSAL), "{row}");
            }
        }
    }
}

/// Searches the rounds of a receipt number, newest first. Returns the numbers asked for, and the code for the till.
fn searches(command: &str, newest: u64, mut told: impl FnMut(u64) -> Value) -> (Vec<u64>, Option<u8>) {
    let mut stage = Stage::quiet();
    let password = if command == "06 30" { "12 34 56 " } else { "" };
    let data = format!("{password}87 00 17");
    stage.till(&format!("{command} {:02X} {data}", data.split_whitespace().count()));
    stage.terminal(200, &status());
    stage.terminal(200, &json!({ "sales": [sale("ended", json!({ "number": newest }))] }));
    if let Some((_, Ask::LastClose)) = stage.asked.last() {
        stage.terminal(200, &json!({ "number": 1, "period": { "to": "2026-11-20T00:00:00Z" } }));
    }
    let mut asked = Vec::new();
    while let Some((_, Ask::Number(number))) = stage.asked.last() {
        asked.push(*number);
        let sales = told(asked[asked.len() - 1]);
        stage.terminal(200, &sales);
    }
    let heard = if stage.asked.is_empty() { ended(&stage.told()) } else { None };
    (asked, heard)
}

#[test]
fn a_receipt_number_is_looked_for_in_each_round_and_of_two_none_is_taken() {
    let one = |number: u64, kind: &str, ended_at: &str| {
        let mut sale = approved();
        (sale["number"], sale["kind"], sale["endedAt"]) = (json!(number), json!(kind), json!(ended_at));
        json!({ "sales": [sale] })
    };
    let (today, before) = ("2026-11-20T12:35:00Z", "2026-11-19T12:35:00Z");
    // The newest transaction has this receipt number or the next one, in the first and in later rounds.
    for (newest, first) in [(17, 17), (18, 17), (10_015, 17), (10_016, 10_016), (20_014, 10_016), (20_015, 20_015)] {
        let (asked, _) = searches("06 30", newest, |number| one(number, "sale", before));
        assert_eq!(asked, [first], "{newest}");
    }
    assert_eq!(searches("06 30", 16, |number| one(number, "sale", today)), (vec![], Some(NO_REVERSAL)));
    // Two payments of today both match, so none is found. A payment of yesterday does not match.
    assert_eq!(
        searches("06 30", 20_015, |number| one(number, "sale", today)),
        (vec![20_015, 10_016], Some(NO_REVERSAL))
    );
    assert_eq!(
        searches("06 30", 20_015, |number| one(number, "sale", if number == 20_015 { today } else { before })),
        (vec![20_015, 10_016], None)
    );
    // A reservation may be old. A payment with the same number does not hide it. The search ends at the first round of
    // the journal.
    assert_eq!(
        searches("06 24", 20_015, |number| one(
            number,
            if number == 17 { "pre-authorisation" } else { "sale" },
            before
        )),
        (vec![20_015, 10_016, 17], None)
    );
    // Missing transactions and other transactions are skipped.
    let (asked, heard) = searches("06 24", 20_015, |number| one(number + 1, "pre-authorisation", today));
    assert_eq!((asked, heard), (vec![20_015, 10_016, 17], Some(NO_RESERVATION)));
    // The search ends after half a million transactions.
    let (asked, heard) = searches("06 24", 60 * 9999, |_| json!({ "sales": [] }));
    assert_eq!((asked.len(), heard), (50, Some(NO_RESERVATION)));
}

#[test]
fn a_search_without_an_answer_finds_nothing_and_says_that_nobody_could_be_asked() {
    let mut stage = Stage::quiet();
    stage.till("06 30 06 12 34 56 87 00 17");
    stage.terminal(200, &status());
    stage.told();
    // The journal contains no transaction.
    stage.terminal(200, &json!({ "sales": [] }));
    assert_eq!(ended(&stage.told()), Some(NO_REVERSAL));
    let mut stage = Stage::quiet();
    stage.till("06 30 06 12 34 56 87 00 17");
    stage.terminal(200, &status());
    stage.told();
    stage.terminal(409, &json!({ "status": 409, "code": "busy", "detail": "d" }));
    assert_eq!(ended(&stage.told()), Some(COMMUNICATION));
    assert!(stage.asked.is_empty());
}

#[test]
fn a_till_of_another_currency_is_not_registered_and_hears_the_terminals() {
    for (command, told) in [
        ("06 00 06 12 34 56 06 08 40", vec!["841E036F0978"]),
        // With the same currency or none, the answer contains the terminal and the currency.
        ("06 00 06 12 34 56 06 09 78", vec!["800000", "060F0A19002900004711490978"]),
        ("06 00 04 12 34 56 06", vec!["800000", "060F0A19002900004711490978"]),
    ] {
        let mut stage = Stage::quiet();
        stage.till(command);
        stage.terminal(200, &status());
        let sent: String = stage.sent.drain(..).map(|apdu| hex::encode_upper(apdu.encode())).collect();
        assert_eq!(sent, told.concat(), "{command}");
        stage.till("80 00 00");
        assert!(!stage.session.is_busy(), "{command}");
    }
}

/// Tests a begin request that got no answer but may have been carried out. A refusal before the agent has looked up the
/// reference says nothing about the outcome.
#[test]
fn a_refusal_after_a_lost_begin_is_no_decline() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.silence();
    stage.told();
    for code in ["journal", "too-many-requests", "no-place", "forbidden"] {
        stage.wait();
        assert!(matches!(stage.question(), Ask::Begin(begin) if begin.reference == "zvt-test-1"), "{code}");
        stage.terminal(503, &json!({ "code": code, "title": "…", "status": 503 }));
        assert_eq!(stage.told(), [], "{code}");
    }
    stage.wait();
    stage.terminal(200, &sale("in-progress", json!({ "replayed": true })));
    stage.terminal(200, &approved());
    assert_eq!(statuses(&stage.told()), 1, "the approval is told");
}

#[test]
fn what_nobody_knows_for_half_a_minute_is_told_as_that() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.silence();
    stage.told();
    while stage.now < s(31) {
        stage.wait();
        if !stage.asked.is_empty() {
            stage.terminal(503, &json!({ "code": "journal", "title": "…", "status": 503 }));
        }
    }
    assert!(matches!(stage.told().last(), Some(TerminalMessage::Aborted { code: COMMUNICATION, .. })));
}

#[test]
fn a_first_begin_that_is_refused_for_its_way_alone_is_asked_again() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.told();
    stage.terminal(429, &json!({ "code": "too-many-requests", "title": "…", "status": 429 }));
    assert_eq!(stage.told(), []);
    stage.wait();
    assert!(matches!(stage.question(), Ask::Begin(_)));
    stage.terminal(409, &json!({ "code": "busy", "title": "…", "status": 409 }));
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { .. }]));
}

/// This relies on the fact that no other till uses references of this session.
#[test]
fn a_reference_that_was_there_before_its_first_begin_is_never_told_as_this_payment() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.told();
    let mut strange = approved();
    strange["replayed"] = true.into();
    stage.terminal(200, &strange);
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: SYSTEM, .. }]));
}

/// Checks that a rejected approval counts as cancelled only after the terminal has the till's answer. Without that
/// answer, the terminal may keep the payment.
#[test]
fn a_word_that_the_terminal_has_not_heard_cancels_nothing() {
    let mut stage = Stage::quiet();
    stage.sells(PAY);
    stage.told();
    stage.till("84 9A 00");
    assert!(matches!(stage.question(), Ask::Confirm { .. }));
    stage.terminal(429, &json!({ "code": "too-many-requests", "title": "…", "status": 429 }));
    assert_eq!(stage.told(), []);
    stage.wait();
    // The terminal has the answer, but has not recorded it.
    stage.terminal(200, &sale("awaiting-till", json!({})));
    assert_eq!(stage.told(), []);
    stage.wait();
    assert!(matches!(stage.question(), Ask::Confirm { .. }));
    stage.terminal(409, &json!({ "code": "no-confirmation-awaited", "title": "…", "status": 409 }));
    assert!(matches!(stage.told().as_slice(), [TerminalMessage::Aborted { code: COMMUNICATION, .. }]));
}
