//! Tests of messages that start nothing at the terminal, and of the number of lines.

use super::*;

const READ_CARD: &str = "06 C0 01 0F";
const TEXT: &str = "06 E0 05 F1 F0 F2 61 62";

#[test]
fn what_is_no_order_is_answered_at_once_whatever_goes_on() {
    for (command, answer) in [
        (READ_CARD, TerminalMessage::Refused(0xA5)),
        ("06 E1 00", TerminalMessage::Refused(0xA5)),
        ("06 E2 00", TerminalMessage::Refused(0xA5)),
        ("06 0C 00", TerminalMessage::Refused(0x83)),
        ("08 10 00", TerminalMessage::Refused(0x83)),
        ("08 30 00", TerminalMessage::Ok),
        (TEXT, TerminalMessage::Ok),
    ] {
        let mut idle = Stage::quiet();
        idle.till(command);
        assert_eq!(idle.told(), std::slice::from_ref(&answer), "{command}");
        assert_eq!(idle.asked.len(), usize::from(command == TEXT), "{command}");
        let mut paying = Stage::quiet();
        paying.till(PAY);
        paying.told();
        let asked = paying.asked.clone();
        paying.till(command);
        assert_eq!((paying.told(), &paying.asked), (vec![answer], &asked), "{command}");
    }
}

#[test]
fn a_till_that_registers_while_its_payment_goes_on_waits() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.told();
    let asked = stage.asked.clone();
    stage.till("06 00 04 00 00 00 0E");
    assert_eq!((stage.told(), &stage.asked), (vec![TerminalMessage::Refused(0x9C)], &asked));
}

#[test]
fn a_till_that_has_logged_off_hears_no_intermediate_status() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0E");
    for hears in [true, false] {
        stage.till(PAY);
        stage.terminal(200, &status());
        stage.terminal(201, &sale("waiting-for-card", json!({})));
        assert_eq!(stage.told().contains(&TerminalMessage::Intermediate(0x0A)), hears);
        stage.till("80 00 00");
        stage.terminal(200, &sale("ended", json!({ "outcome": "cancelled", "endedAt": "2026-11-20T12:35:00Z" })));
        while !stage.told().is_empty() {
            stage.till("80 00 00");
        }
        stage.till("06 02 00");
        assert_eq!(stage.told(), [TerminalMessage::Ok]);
    }
}

#[test]
fn the_oldest_line_without_a_payment_is_hung_up_for_a_new_one() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    let mut hung = Vec::new();
    for line in 2..=2 + MOST_LINES as Line {
        hung.extend(stage.session.line_opened(line));
    }
    assert!(matches!(hung.as_slice(), [Action::Hang { line: 2 }, Action::Hang { line: 3 }]), "{hung:?}");
}

#[test]
fn twenty_receipts_at_most_are_printed_again() {
    let rows = [
        (1, 20, true),
        (1, 21, false),
        (100, 119, true),
        (100, 120, false),
        (9, 9, true),
        (7, 6, false),
        (0, 3, false),
    ];
    for (from, to, are_looked_for) in rows {
        let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 86 09 78 06 06 26 04 0A 02 06 D3");
        let digits = |number: u16| format!("{:02} {:02}", number / 100, number % 100);
        stage.till(&format!("06 12 07 12 34 56 {} {}", digits(from), digits(to)));
        stage.terminal(200, &status());
        assert_eq!(matches!(stage.asked.as_slice(), [(_, Ask::Newest(1))]), are_looked_for, "{from} {to}");
        let told = stage.told();
        assert_eq!(
            matches!(told.last(), Some(TerminalMessage::Aborted { code: 0x83, .. })),
            !are_looked_for,
            "{told:?}"
        );
    }
}
