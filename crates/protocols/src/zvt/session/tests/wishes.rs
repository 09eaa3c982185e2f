//! Tests of each field of a command that moves money. Each field is added alone to the fields that the command needs.
//! It is refused, obeyed or ignored, as the table and the manual say.

use super::super::wishes::{CAPTURE, Field, GIVE_UP, Kinds, PAY, PAY_OUT, RESERVE, RULES, Rule, Unless, VOID};
use super::*;
use crate::zvt::command::Guarded;
use crate::zvt::{bmp, tlv};

const MANUAL: &str = include_str!("../../../../../../docs/src/zvt.md");

/// The commands with their kinds, in the order of the manual's columns.
const COMMANDS: [(Control, Kinds); 7] = [
    (Control::AUTHORISATION, PAY),
    (Control::PRE_AUTHORISATION, RESERVE),
    (Control::REFUND, PAY_OUT),
    (Control::PARTIAL_REVERSAL, CAPTURE),
    (Control::BOOK_TOTAL, CAPTURE),
    (Control::PRE_AUTHORISATION_REVERSAL, GIVE_UP),
    (Control::REVERSAL, VOID),
];

fn fields_of(rule: &Rule) -> impl Iterator<Item = Field> {
    let tlvs = rule.tlvs.iter().map(|tag| Field::Tlv(*tag));
    rule.bmps.iter().map(|bmp| Field::Bmp(*bmp)).chain(tlvs)
}

/// Returns the fields that a command needs, as the till sends them.
fn needed(control: Control) -> Fields {
    let mut fields = Fields::default();
    match control {
        Control::AUTHORISATION | Control::PRE_AUTHORISATION | Control::REFUND => fields.set_number(0x04, 1000),
        Control::PARTIAL_REVERSAL | Control::BOOK_TOTAL => {
            fields.set_number(0x04, 400);
            fields.set(0x87, [0x00, 0x17]);
        }
        _ => fields.set(0x87, [0x00, 0x17]),
    }
    fields
}

fn command(control: Control, fields: Fields) -> Command {
    let guarded = |fields| Guarded { password: Some(Password(123_456)), fields };
    match control {
        Control::AUTHORISATION => Command::Authorisation(fields),
        Control::PRE_AUTHORISATION => Command::PreAuthorisation(fields),
        Control::PARTIAL_REVERSAL => Command::PartialReversal(fields),
        Control::BOOK_TOTAL => Command::BookTotal(fields),
        Control::PRE_AUTHORISATION_REVERSAL => Command::PreAuthorisationReversal(fields),
        Control::REFUND => Command::Refund(guarded(fields)),
        _ => Command::Reversal(guarded(fields)),
    }
}

/// Builds the earlier transaction of a command.
fn earlier(control: Control) -> Value {
    let kind = if control == Control::REVERSAL { "sale" } else { "pre-authorisation" };
    sale(
        "ended",
        json!({
            "kind": kind, "outcome": "approved", "approvedAmount": "10.00", "left": "10.00", "approvalCode": "123456",
            "endedAt": "2026-11-20T12:35:00Z", "card": { "brand": "VISA", "entryMode": "CHIP", "last4": "1111" },
        }),
    )
}

/// The result: either the questions to the terminal up to the new transaction, or the code of the refusal.
#[derive(Debug, PartialEq)]
struct Came {
    asked: Vec<String>,
    begins: bool,
    code: Option<u8>,
}

fn comes_to(control: Control, apdu: &Apdu) -> Came {
    let mut stage = Stage::with(Settings { credit: true, ..settings(OnSilence::Reverse) }, "00 00 00 06");
    stage.till(&hex::encode(apdu.encode()));
    let mut came = Came { asked: Vec::new(), begins: false, code: None };
    loop {
        if let Some(TerminalMessage::Aborted { code, .. }) = stage.told().pop() {
            came.code = Some(code);
            return came;
        }
        let ask = stage.question().clone();
        came.asked.push(format!("{ask:?}"));
        match ask {
            Ask::Status => stage.terminal(200, &status()),
            Ask::Newest(_) => stage.terminal(200, &json!({ "sales": [earlier(control)] })),
            Ask::Number(17) => stage.terminal(200, &json!({ "sales": [earlier(control)] })),
            Ask::Number(_) => stage.terminal(200, &json!({ "sales": [] })),
            Ask::LastClose => {
                let none = json!({ "type": "x", "title": "t", "status": 404, "detail": "d", "code": "no-such-close" });
                stage.terminal(404, &none);
            }
            Ask::Show { .. } => stage.terminal(200, &earlier(control)),
            _ => {
                came.begins = matches!(ask, Ask::Begin(_));
                return came;
            }
        }
    }
}

/// Returns a value that differs from the one that is needed or true.
fn other_value(field: Field) -> Vec<u8> {
    match field {
        Field::Bmp(0x04) => vec![0, 0, 0, 0, 0x05, 0],
        Field::Bmp(0x0B | 0x37) => vec![0, 0, 0x99],
        Field::Bmp(0x2A) => b"ANOTHER".to_vec(),
        Field::Bmp(0x3B) => b"999999".to_vec(),
        Field::Bmp(0x49) => vec![0x08, 0x40],
        Field::Bmp(0x87) => vec![0, 0x18],
        Field::Bmp(0x8A) => vec![0x06],
        Field::Tlv(0x1F2B) => vec![0, 0, 0, 0x99],
        Field::Tlv(0x1F1F) => vec![0, 0x20],
        Field::Tlv(tag) if tlv::Tlv { tag, value: &[] }.is_constructed() => vec![0x07, 1, b'x'],
        _ => vec![1],
    }
}

fn with(mut fields: Fields, field: Field, value: &[u8]) -> Fields {
    match field {
        Field::Bmp(bmp) => fields.set(bmp, value),
        Field::Tlv(tag) => fields.set_tlv(tag, value),
    }
    fields
}

#[test]
fn every_field_of_the_protocols_lists_has_one_rule() {
    let known = bmp::known().map(Field::Bmp).chain(tlv::known().map(Field::Tlv));
    let known: Vec<Field> = known.collect();
    for field in &known {
        let rules = RULES.iter().filter(|rule| fields_of(rule).any(|it| it == *field)).count();
        assert_eq!(rules, 1, "{field}");
    }
    for field in RULES.iter().flat_map(fields_of) {
        assert!(known.contains(&field), "{field} has a rule and no name");
    }
}

#[test]
fn each_field_is_refused_or_obeyed_or_changes_nothing() {
    let mut sent = 0;
    for (control, kind) in COMMANDS {
        let plain = comes_to(control, &command(control, needed(control)).apdu());
        assert!(plain.begins, "{plain:?}");
        for rule in RULES {
            for field in fields_of(rule) {
                // The container itself, the number of tries of `04 0F`, and the password, which comes first.
                if matches!(field, Field::Bmp(0x06 | 0x02 | 0x3D)) {
                    continue;
                }
                let apdu = command(control, with(needed(control), field, &other_value(field))).apdu();
                let came = comes_to(control, &apdu);
                let case = format!("{control} with {field}: {came:?}");
                sent += 1;
                if rule.refused & kind != 0 {
                    assert_eq!((came.begins, came.code), (false, Some(rule.code)), "{case}");
                } else if rule.obeyed & kind != 0 {
                    assert_ne!(came, plain, "{case}");
                } else {
                    assert_eq!(came, plain, "{case}");
                }
                let harmless: &[u8] = match rule.unless {
                    Unless::Never => continue,
                    Unless::Zero => &[0; 6],
                    Unless::TerminalChooses => &[0x44],
                };
                let apdu = command(control, with(needed(control), field, harmless)).apdu();
                assert_eq!(comes_to(control, &apdu), plain, "{control} with {field}, which says nothing");
            }
        }
    }
    assert!(sent > 900, "{sent}");
}

#[test]
fn what_names_the_earlier_transaction_rightly_is_no_hindrance() {
    for (control, kind) in COMMANDS.into_iter().filter(|(_, kind)| kind & (CAPTURE | GIVE_UP | VOID) != 0) {
        let plain = comes_to(control, &command(control, needed(control)).apdu());
        for (field, value) in [
            (Field::Bmp(0x0B), vec![0, 0, 0x17]),
            (Field::Bmp(0x0B), vec![0; 3]),
            (Field::Bmp(0x37), vec![0, 0, 0x17]),
            (Field::Tlv(0x1F2B), vec![0, 0, 0, 0x17]),
            (Field::Bmp(0x3B), b"123456".to_vec()),
            (Field::Bmp(0x8A), vec![0x0A]),
        ] {
            let apdu = command(control, with(needed(control), field, &value)).apdu();
            assert_eq!(comes_to(control, &apdu), plain, "{control} {kind} with {field}");
        }
        // A different trace shows that the receipt number has been used again for another transaction.
        let code = if kind == VOID { code::NO_REVERSAL } else { code::NO_RESERVATION };
        let apdu = command(control, with(needed(control), Field::Bmp(0x0B), &[0, 0x99, 0x17])).apdu();
        assert_eq!(comes_to(control, &apdu).code, Some(code), "{control}");
    }
}

#[test]
fn one_of_two_values_is_never_passed_over() {
    // The first value is zero, and the second is an amount.
    let twice = with(with(needed(Control::AUTHORISATION), Field::Tlv(0x1F25), &[0; 6]), Field::Tlv(0x1F25), &[0, 9]);
    let came = comes_to(Control::AUTHORISATION, &Command::Authorisation(twice).apdu());
    assert_eq!((came.begins, came.code), (false, Some(0xCD)));
    let twice = with(needed(Control::AUTHORISATION), Field::Tlv(0x1F1F), &[0, 0x14]);
    let twice = with(twice, Field::Tlv(0x1F1F), &[0, 0x17]);
    let came = comes_to(Control::AUTHORISATION, &Command::Authorisation(twice).apdu());
    assert_eq!((came.begins, came.code), (false, Some(0x9A)));
    // The till's last known receipt is unreadable.
    let strange = with(needed(Control::AUTHORISATION), Field::Tlv(0x1F1F), &[0, 0x1A]);
    let came = comes_to(Control::AUTHORISATION, &Command::Authorisation(strange).apdu());
    assert_eq!((came.begins, came.code), (false, Some(0x9A)));
}

#[test]
fn what_is_unknown_is_passed_over_and_said_without_its_value() {
    let mut stage = Stage::quiet();
    stage.till("06 01 0D 04 00 00 00 00 10 00 06 04 1F 7A 01 42");
    let (ticket, ask) = stage.asked.pop().unwrap();
    let actions = stage.session.said(ticket, Said::read(&ask, 200, status().to_string().as_bytes()), stage.now);
    let note = Action::Note("06 01: TLV 1F7A (unknown) is ignored".to_owned());
    assert!(actions.contains(&note), "{actions:?}");
    assert!(matches!(actions.last(), Some(Action::Ask { ask: Ask::Begin(_), .. })), "{actions:?}");
    let mut stage = Stage::quiet();
    stage.till("06 01 09 04 00 00 00 00 10 00 8A 05");
    let (ticket, ask) = stage.asked.pop().unwrap();
    let actions = stage.session.said(ticket, Said::read(&ask, 200, status().to_string().as_bytes()), stage.now);
    assert_eq!(actions[0], Action::Note("06 01: BMP 8A (card type) is refused with 83".to_owned()));
}

/// Builds the manual's table, with one row for each rule.
fn table() -> String {
    let mut table =
        "| field | 06 01 | 06 22 | 06 31 | 06 23, 06 24 | 06 25 | 06 30 |\n|---|---|---|---|---|---|---|\n".to_owned();
    for rule in RULES {
        let bmps = rule.bmps.iter().map(|it| format!("{it:02X} {}", bmp::name(*it).unwrap()));
        let tlvs = rule.tlvs.iter().map(|it| format!("TLV {it:02X} {}", tlv::name(*it).unwrap()));
        let fields: Vec<String> = bmps.chain(tlvs).collect();
        let cell = |kind: Kinds| {
            let unless = match rule.unless {
                Unless::Never => "",
                Unless::Zero => " unless 0",
                Unless::TerminalChooses => " unless 40 to 5F",
            };
            match () {
                () if rule.obeyed & kind != 0 => "obeyed".to_owned(),
                () if rule.refused & kind != 0 => format!("{:02X}{unless}", rule.code),
                () => "harmless".to_owned(),
            }
        };
        let cells = [PAY, RESERVE, PAY_OUT, CAPTURE, GIVE_UP, VOID].map(cell);
        table.push_str(&format!("| {} | {} |\n", fields.join(", "), cells.join(" | ")));
    }
    table
}

#[test]
fn the_manual_has_the_table() {
    let table = table();
    assert!(MANUAL.contains(&table), "docs/src/zvt.md should have:\n{table}");
}
