//! Tests of a till that aborts before it learns that its payment has begun.

use super::*;

const ABORT: &str = "06 B0 00";

fn cancelled(cancel: &str, sale: &Value) -> Value {
    let mut body = sale.clone();
    body["cancel"] = json!(cancel);
    body
}

#[test]
fn what_has_not_begun_is_aborted_at_once_and_never_begins() {
    for (questions, command) in [(0, PAY), (0, "06 30 06 12 34 56 87 00 17"), (1, "06 30 06 12 34 56 87 00 17")] {
        let mut stage = Stage::quiet();
        stage.till(command);
        if questions == 1 {
            stage.terminal(200, &status());
        }
        assert_eq!(stage.told(), [TerminalMessage::Ok], "{command}");
        assert!(!matches!(stage.question(), Ask::Begin(_)));
        stage.till(ABORT);
        let told = stage.told();
        assert!(
            matches!(told.as_slice(), [TerminalMessage::Ok, TerminalMessage::Aborted { code: 0x6C, .. }]),
            "{command} {told:?}"
        );
        // The terminal's answer comes too late to continue.
        let asked = stage.asked.len();
        stage.terminal(200, &status());
        assert_eq!(stage.asked.len(), asked - 1, "{command}");
        assert_eq!(stage.told(), []);
    }
}

#[test]
fn what_the_terminal_is_beginning_is_cancelled_as_soon_as_it_has_begun() {
    let waiting = sale("waiting-for-card", json!({}));
    let ended = sale("ended", json!({ "outcome": "cancelled", "endedAt": "2026-11-20T12:35:00Z" }));
    for (cancel, after, answer) in
        [("in-time", &ended, TerminalMessage::Ok), ("too-late", &approved(), TerminalMessage::Refused(0x83))]
    {
        let mut stage = Stage::quiet();
        stage.till(PAY);
        stage.terminal(200, &status());
        assert!(matches!(stage.question(), Ask::Begin(_)));
        assert_eq!(stage.told(), [TerminalMessage::Ok]);
        // Both aborts get one answer.
        stage.till(ABORT);
        stage.till(ABORT);
        assert_eq!(stage.told(), []);
        stage.terminal(201, &waiting);
        assert!(matches!(stage.question(), Ask::Cancel(reference) if reference == "zvt-test-1"), "{cancel}");
        stage.terminal(200, &cancelled(cancel, after));
        let told = stage.told();
        assert_eq!(told.first(), Some(&answer), "{cancel}");
        assert_eq!(
            told.iter().filter(|told| matches!(told, TerminalMessage::Ok | TerminalMessage::Refused(_))).count(),
            1,
            "{told:?}"
        );
    }
}

#[test]
fn an_abort_of_what_does_not_begin_has_its_answer_before_the_end() {
    let mut stage = Stage::quiet();
    stage.till(PAY);
    stage.terminal(200, &status());
    stage.told();
    stage.till(ABORT);
    stage.terminal(503, &json!({ "code": "not-ready", "title": "…", "status": 503 }));
    let told = stage.told();
    assert!(matches!(told.as_slice(), [TerminalMessage::Refused(0x83), TerminalMessage::Aborted { .. }]), "{told:?}");
}
