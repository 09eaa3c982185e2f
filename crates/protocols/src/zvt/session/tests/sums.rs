//! Tests of the sums of a period, the facts about a card and the state of the terminal, as the till receives them.

use super::*;
use crate::zvt::bmp::number;
use crate::zvt::code::{BUSY, CLOCK, OK, OUT_OF_ORDER, PRINTER, READER, intermediate};

/// Returns the fields of a close after `06 10`.
fn told_of(close: &Value) -> Fields {
    let mut stage = Stage::quiet();
    stage.till("06 10 03 12 34 56");
    stage.terminal(200, &status());
    assert_eq!(stage.question(), &Ask::OpenPeriod);
    stage.terminal(200, close);
    match stage.told().as_slice() {
        [TerminalMessage::Ok, TerminalMessage::Status(fields)] => fields.clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns the count and sum of the seven kinds of cards in BMP 60.
fn cards(fields: &Fields) -> Vec<(u64, u64)> {
    let value = fields.get(0x60).unwrap();
    assert_eq!(value.len(), 53);
    value[4..].chunks(7).map(|card| (u64::from(card[0]), number(&card[1..]).unwrap())).collect()
}

fn turnover(name: Option<&str>, currency: &str, count: u64, net: &str) -> Value {
    let mut line = json!({ "currency": currency, "count": count, "taken": "0.00", "given": "0.00", "net": net });
    if let Some(name) = name {
        line["name"] = json!(name);
    }
    line
}

fn close(brands: &[Value], net: &[Value]) -> Value {
    json!({ "number": 7, "period": { "to": "2026-11-20T18:00:00+01:00" }, "brands": brands, "net": net })
}

#[test]
fn the_first_and_the_last_receipt_are_told_in_four_digits() {
    for (first, last, told) in [
        (json!(17), json!(42), [0x00, 0x17, 0x00, 0x42]),
        (json!(9_998), json!(10_003), [0x99, 0x98, 0x00, 0x04]),
        (json!(9_999), json!(10_000), [0x99, 0x99, 0x00, 0x01]),
        // Nothing was counted, or an earlier version of the agent does not send the numbers.
        (Value::Null, Value::Null, [0; 4]),
    ] {
        let mut made = close(&[], &[]);
        (made["firstNumber"], made["lastNumber"]) = (first, last);
        assert_eq!(told_of(&made).get(0x60).unwrap()[..4], told);
    }
}

/// Builds a close of two tills. The terminal has 17.34 in four transactions, of which one till has 12.34 in two.
fn of_two_tills() -> Value {
    let brands = [turnover(Some("VISA"), "EUR", 3, "14.00"), turnover(Some("JCB"), "EUR", 1, "3.34")];
    let mut made = close(&brands, &[turnover(None, "EUR", 4, "17.34")]);
    (made["firstNumber"], made["lastNumber"]) = (json!(11), json!(14));
    made["tills"] = json!([turnover(Some("bar"), "EUR", 2, "5.00"), turnover(Some("kasse-1"), "EUR", 2, "12.34")]);
    let scheme = |sum: &str| json!({ "kind": "sale", "scheme": "VISA", "currency": "EUR", "count": 2, "sum": sum });
    let own = |till: &str, numbers: [u64; 2], sum: &str| {
        json!({
            "till": till, "firstNumber": numbers[0], "lastNumber": numbers[1],
            "brands": [turnover(Some("VISA"), "EUR", 2, sum)], "schemes": [scheme(sum)],
        })
    };
    made["own"] = json!([own("bar", [11, 13], "5.00"), own("kasse-1", [12, 14], "12.34")]);
    made
}

#[test]
fn a_till_hears_its_own_sums_where_it_wants_them_and_the_close_stays_the_terminals() {
    let told = |till: Option<&str>, command: &str, close: &Value| {
        let own_sums = till.map(str::to_owned);
        let settings = Settings { own_sums, ..settings(OnSilence::Reverse) };
        let mut stage = Stage::with(settings, "00 00 00 06");
        stage.till(command);
        stage.terminal(200, &status());
        stage.told();
        stage.terminal(200, close);
        stage.told()
    };
    let sums = |till, command| match told(till, command, &of_two_tills()).as_slice() {
        [TerminalMessage::Status(fields)] => {
            let receipts = hex::encode(&fields.get(0x60).unwrap()[..4]);
            (fields.number(0x04).unwrap(), cards(fields)[4], receipts, fields.number(0x0B).unwrap())
        }
        other => panic!("{other:?}"),
    };
    for command in ["06 10 03 12 34 56", "06 50 03 12 34 56"] {
        assert_eq!(sums(None, command), (Some(1734), (3, 1400), "00110014".to_owned(), Some(7)));
        assert_eq!(sums(Some("kasse-1"), command), (Some(1234), (2, 1234), "00120014".to_owned(), Some(7)));
        assert_eq!(sums(Some("bar"), command), (Some(500), (2, 500), "00110013".to_owned(), Some(7)));
        // The close counted no transaction of this till.
        assert_eq!(sums(Some("kiosk"), command), (Some(0), (0, 0), "00000000".to_owned(), Some(7)));
    }
    // A close by an earlier version has no sums per till. The terminal's sums must not replace them.
    let mut earlier = of_two_tills();
    earlier.as_object_mut().unwrap().remove("own");
    let told = told(Some("bar"), "06 50 03 12 34 56", &earlier);
    assert!(!told.iter().any(|told| matches!(told, TerminalMessage::Status(_))), "{told:?}");
}

#[test]
fn each_brand_is_counted_at_its_place() {
    for (brand, place) in [
        (Some("GIROCARD"), 0),
        (Some("EC"), 0),
        (Some("JCB"), 1),
        (Some("MASTER"), 2),
        (Some("Mastercard"), 2),
        (Some("AMEX"), 3),
        (Some("VISA"), 4),
        (Some("DINERS"), 5),
        (Some("MAESTRO"), 6),
        (Some("VPAY"), 6),
        (Some("a brand of later"), 6),
        (None, 6),
    ] {
        let fields = told_of(&close(&[turnover(brand, "EUR", 3, "12.34")], &[turnover(None, "EUR", 3, "12.34")]));
        let mut expected = vec![(0, 0); 7];
        expected[place] = (3, 1234);
        assert_eq!(cards(&fields), expected, "{brand:?}");
        assert_eq!((fields.number(0x04), fields.byte(0x27)), (Ok(Some(1234)), Some(OK)));
        assert_eq!((fields.number(0x0B), fields.get(0x3C)), (Ok(Some(7)), None));
    }
}

#[test]
fn brands_of_one_place_are_added_and_one_that_gave_more_adds_nothing() {
    let brands = [
        turnover(Some("VISA"), "EUR", 2, "5.00"),
        turnover(Some("VISA"), "EUR", 1, "0.01"),
        turnover(Some("MAESTRO"), "EUR", 1, "-3.00"),
        turnover(None, "EUR", 1, "7.00"),
    ];
    let fields = told_of(&close(&brands, &[turnover(None, "EUR", 5, "-9.01")]));
    assert_eq!((cards(&fields)[4], cards(&fields)[6]), ((3, 501), (2, 700)));
    assert_eq!(fields.number(0x04), Ok(Some(0)), "the field has no minus");
}

#[test]
fn the_sums_are_of_the_terminals_currency_and_what_moved_in_another_is_said() {
    // Sums in yen or dollars must not appear as euros.
    let brands = [
        turnover(Some("VISA"), "USD", 2, "50.00"),
        turnover(Some("VISA"), "EUR", 1, "12.34"),
        turnover(Some("VISA"), "JPY", 4, "1200"),
    ];
    let net = [turnover(None, "USD", 2, "50.00"), turnover(None, "EUR", 1, "12.34"), turnover(None, "JPY", 4, "1200")];
    let fields = told_of(&close(&brands, &net));
    assert_eq!((cards(&fields)[4], fields.number(0x04)), ((1, 1234), Ok(Some(1234))));
    let note = fields.get(0x3C).map(String::from_utf8_lossy).unwrap();
    assert_eq!(note, "not in these sums: 50.00 USD; not in these sums: 1200 JPY");
    // If the sum in the terminal's currency is negative, the sum of another currency does not replace it.
    let net = [turnover(None, "EUR", 1, "-12.34"), turnover(None, "USD", 2, "50.00")];
    assert_eq!(told_of(&close(&[], &net)).number(0x04), Ok(Some(0)));
    // No amount is in the terminal's currency.
    let fields = told_of(&close(&brands[..1], &net[1..]));
    assert_eq!((cards(&fields)[4], fields.number(0x04)), ((0, 0), Ok(Some(0))));
}

#[test]
fn a_count_or_a_sum_without_room_is_said_in_words() {
    for (count, net, note) in [
        (255, "1.00", None),
        (256, "1.00", Some("counts above 255: 0 0 0 0 256 0 0")),
        (1, "9999999999.99", None),
        (1, "10000000000.00", Some("counts above 255: 0 0 0 0 1 0 0")),
    ] {
        let fields = told_of(&close(&[turnover(Some("VISA"), "EUR", count, net)], &[]));
        assert_eq!(fields.get(0x3C).map(String::from_utf8_lossy).as_deref(), note, "{count} {net}");
        assert_eq!(cards(&fields)[4].0, count.min(255));
    }
}

#[test]
fn the_slip_of_a_close_has_each_line_with_its_currency() {
    let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 86 09 78 06 06 26 04 0A 02 06 D3");
    stage.till("06 50 03 12 34 56");
    stage.terminal(200, &status());
    let Ask::Close { print, .. } = stage.question() else { panic!("{:?}", stage.question()) };
    assert!(!print, "the till prints it");
    stage.told();
    let kinds = [
        ("sale", "sales"),
        ("refund", "refunds"),
        ("reversal", "reversals"),
        ("credit", "credits"),
        ("capture", "captures"),
        ("pre-authorisation", "reserved"),
        ("increment", "others"),
    ];
    let line = |kind: &str| json!({ "kind": kind, "scheme": "VISA", "currency": "USD", "count": 2, "sum": "5.00" });
    let mut made = close(&[], &[turnover(None, "EUR", 1, "-12.34")]);
    made["schemes"] = json!(kinds.map(|(kind, _)| line(kind)));
    made["schemes"][0].as_object_mut().unwrap().remove("scheme");
    stage.terminal(200, &made);
    let mut text = Vec::new();
    while stage.session.is_busy() {
        for told in stage.told() {
            if let TerminalMessage::Block(lines, _) = told {
                text.extend(lines.into_iter().map(|line| String::from_utf8(line).unwrap()));
            }
        }
        stage.till("80 00 00");
    }
    let (rule, sum) = ("-".repeat(24), "  2             5.00 USD");
    let time = "2026-11-20 18:00".to_owned();
    let mut expected = vec!["END OF DAY             7".to_owned(), time, rule.clone()];
    for (kind, shown) in kinds {
        let scheme = if kind == "sale" { "other" } else { "VISA" };
        expected.extend([format!("{scheme} {shown}"), sum.to_owned()]);
    }
    expected.extend([rule, "net           -12.34 EUR".to_owned()]);
    assert_eq!(text, expected);
}

#[test]
fn the_state_of_the_terminal_is_the_first_thing_that_is_wrong() {
    let wrong: [(&str, Value, u8); 11] = [
        ("/busy", json!(true), BUSY),
        ("/clock/time", Value::Null, CLOCK),
        ("/reader/state", json!("lost"), READER),
        ("/printers", json!([{ "state": "ready" }, { "state": "no-paper" }]), PRINTER),
        ("/printers", json!([{ "state": "paper-jam" }]), PRINTER),
        ("/printers", json!([{ "state": "cover-open" }]), PRINTER),
        ("/printers", json!([{ "state": "absent" }]), PRINTER),
        ("/printers", json!([{ "state": "offline" }]), PRINTER),
        ("/printers", json!([{ "state": "paper-low" }]), OK),
        ("/printers", json!([{ "state": "a state of later" }]), OK),
        ("/ready", json!(false), OUT_OF_ORDER),
    ];
    let state_of = |about: &Value| {
        let mut stage = Stage::quiet();
        stage.till("05 01 05 12 34 56 03 02");
        stage.terminal(200, about);
        match stage.told().as_slice() {
            [TerminalMessage::Ok, TerminalMessage::Completion(data)] => data[0],
            other => panic!("{other:?}"),
        }
    };
    for (at, value, code) in &wrong {
        let mut about = status();
        *about.pointer_mut(at).unwrap() = value.clone();
        assert_eq!(state_of(&about), *code, "{at} {value}");
    }
    // With all faults together, the first in the list counts.
    let mut about = status();
    for (at, value, code) in wrong.iter().rev().filter(|(.., code)| *code != OK) {
        *about.pointer_mut(at).unwrap() = value.clone();
        assert_eq!(state_of(&about), *code, "{at} {value}");
    }
}

#[test]
fn each_step_is_told_to_a_till_that_hears() {
    use intermediate::{CASHIER, HOST, INSERT_CARD, PIN_PAD, REMOVE_CARD, WAIT, WRONG_PIN};
    for (state, step, told) in [
        ("waiting-for-card", None, Some(INSERT_CARD)),
        ("waiting-for-card", Some("a step of later"), Some(INSERT_CARD)),
        ("waiting-for-card", Some("choosing-tip"), Some(PIN_PAD)),
        ("waiting-for-card", Some("reading-card"), Some(WAIT)),
        ("waiting-for-card", Some("choosing-application"), Some(WAIT)),
        ("in-progress", Some("pin-entry"), Some(PIN_PAD)),
        ("in-progress", Some("pin-wrong"), Some(WRONG_PIN)),
        ("in-progress", Some("pin-done"), Some(WAIT)),
        ("in-progress", Some("remove-card"), Some(REMOVE_CARD)),
        ("in-progress", None, Some(HOST)),
        ("awaiting-signature", None, Some(CASHIER)),
        ("a state of later", None, None),
    ] {
        let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 0C");
        stage.till(PAY);
        stage.terminal(200, &status());
        stage.told();
        stage.terminal(201, &sale(state, json!({ "step": step })));
        let expected: Vec<TerminalMessage> = told.map(TerminalMessage::Intermediate).into_iter().collect();
        assert_eq!(stage.told(), expected, "{state} {step:?}");
    }
}

#[test]
fn a_transaction_is_told_with_its_own_numbers_and_what_may_be_shown_of_its_card() {
    let told = |more: Value| {
        let mut stage = Stage::with(settings(OnSilence::Reverse), "00 00 00 06 09 78 06 00");
        stage.till("06 01 0A 04 00 00 00 00 10 00 49 09 78");
        stage.terminal(200, &status());
        let mut sale = approved();
        sale.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.terminal(201, &sale);
        match stage.told().as_slice() {
            [TerminalMessage::Ok, TerminalMessage::Status(fields)] => fields.clone(),
            other => panic!("{other:?}"),
        }
    };
    let card = json!({ "entryMode": "ICC", "brand": "VISA", "last4": "0119", "aid": "A0000000031010" });
    let fields = told(json!({ "number": 1_000_017, "approvalCode": "A1-B2 C3456789", "card": card }));
    let hex = |bmp: u8| fields.get(bmp).map(hex::encode_upper);
    assert_eq!(fields.number(0x04), Ok(Some(1000)));
    assert_eq!(fields.number(0x0B), Ok(Some(17)), "six digits of the number");
    assert_eq!(fields.number(0x87), Ok(Some(17)));
    assert_eq!((hex(0x0C), hex(0x0D)), (Some("133456".to_owned()), Some("1120".to_owned())), "the shop's own time");
    assert_eq!((hex(0x29), hex(0x49)), (Some("00004711".to_owned()), Some("0978".to_owned())));
    assert_eq!(fields.get(0x2A), Some(&b"4711           "[..]));
    assert_eq!(fields.get(0x3B), Some(&b"A1B2C345"[..]));
    assert_eq!((hex(0x19), hex(0x0E)), (Some("40".to_owned()), Some("9999".to_owned())));
    assert_eq!(hex(0x22), Some("EEEEEEEEEEEE0119".to_owned()), "four digits, and no others");
    assert_eq!((hex(0x8A), fields.get(0x8B)), (Some("0A".to_owned()), Some(&b"VISA\0"[..])));
    assert_eq!(fields.tlv(&[0x60, 0x43]).map(hex::encode_upper), Some("A0000000031010".to_owned()));
    for (entry_mode, told_as) in
        [("MANUAL", 0x44), ("ICC", 0x40), ("NFC_ICC", 0x40), ("MAGSTRIPE", 0x40), ("a mode of later", 0x40)]
    {
        let fields = told(json!({ "card": { "entryMode": entry_mode } }));
        assert_eq!(fields.byte(0x19), Some(told_as), "{entry_mode}");
        assert!([0x22, 0x8A, 0x8B].iter().all(|bmp| fields.get(*bmp).is_none()), "{entry_mode}");
    }
    // A value that is not four digits is not shown as part of a number.
    for last4 in ["011", "01190", "4761739001010119"] {
        let fields = told(json!({ "card": { "entryMode": "ICC", "last4": last4 } }));
        assert_eq!(fields.get(0x22), None, "{last4}");
    }
    for (brand, kind) in [
        ("girocard", 0x05),
        ("EC", 0x05),
        ("Mastercard", 0x06),
        ("MASTER", 0x06),
        ("AMEX", 0x08),
        ("Visa", 0x0A),
        ("DINERS", 0x0C),
        ("VPAY", 0x0D),
        ("V PAY", 0x0D),
        ("JCB", 0x0E),
        ("MAESTRO", 0x2E),
    ] {
        let fields = told(json!({ "card": { "entryMode": "ICC", "brand": brand } }));
        assert_eq!(fields.byte(0x8A), Some(kind), "{brand}");
    }
}
