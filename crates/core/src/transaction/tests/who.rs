//! Tests that the records name the people and programs that requested a transaction, cancelled it, checked its
//! signature or resolved it. Records made by earlier versions contain no names.

use super::*;
use pos_terms::transaction::Who;

fn cashier() -> Option<Who> {
    Some(Who { token: Some("till-1".to_owned()), ..Who::default() })
}

fn program() -> Option<Who> {
    Some(Who { uid: Some(1001), ..Who::default() })
}

/// Returns the name of each record that a person caused, with the person.
fn caused(trace: &Trace) -> Vec<(&'static str, Option<Who>)> {
    let records = trace.written.iter().flatten();
    let by = records.map(|record| match record {
        Record::Started { order } => (record.name(), order.by.clone()),
        Record::Reversing { by, .. } | Record::Settled { by, .. } | Record::Ended { by, .. } => {
            (record.name(), by.clone())
        }
        _ => (record.name(), None),
    });
    by.filter(|(_, by)| by.is_some()).collect()
}

fn begun(by: Option<Who>) -> Trace {
    let (sale, step) = Transaction::begin(Order { by, ..order() });
    let mut trace = Trace { sale, written: Vec::new() };
    let _ = trace.commit(step);
    trace
}

/// Returns a transaction that was approved and whose signature must be compared.
fn at_signature() -> Trace {
    let facts = CardFacts { cvm: Some(pos_terms::card::Cvm::Signature), ..facts(EntryMode::Magstripe) };
    let mut trace = begun(cashier());
    let _ = trace.on(Event::CardRead { facts, first_answer: FirstAnswer::GoOnline });
    let _ = trace.on(approved());
    trace
}

#[test]
fn who_cancelled_ends_it_also_when_another_began_it() {
    let mut trace = begun(cashier());
    assert_eq!(trace.on(Event::CancelAsked { by: program() }), [Action::StopReader]);
    let _ = trace.on(Event::NoCard { why: "cancelled".into() });
    assert_eq!(caused(&trace), [("started", cashier()), ("ended", program())]);

    // No one cancelled, because the cardholder did not present a card.
    let mut trace = begun(program());
    let _ = trace.on(Event::NoCard { why: "no card in time".into() });
    assert_eq!(caused(&trace), [("started", program())]);

    // A person cancels while the gateway has too many requests.
    let mut trace = begun(cashier());
    let _ = trace.on(Event::CardRead { facts: facts(EntryMode::Icc), first_answer: FirstAnswer::GoOnline });
    let refusal = Refusal {
        why: Reason::GatewayThrottles.with("busy"),
        for_chip: ForChip::default(),
        facts: HostFacts::default(),
    };
    let _ = trace.on(Event::Answered(Answer::Throttled(Box::new(refusal))));
    let _ = trace.on(Event::CancelAsked { by: program() });
    assert!(matches!(trace.outcome(), Some(Outcome::Cancelled { .. })));
    assert_eq!(caused(&trace), [("started", cashier()), ("ended", program())]);

    // A cancel that came too late changes nothing.
    let mut trace = begun(cashier());
    let _ = trace.on(Event::CardRead { facts: facts(EntryMode::NfcIcc), first_answer: FirstAnswer::GoOnline });
    assert_eq!(trace.on(Event::CancelAsked { by: program() }), []);
    let _ = trace.on(approved());
    assert_eq!(caused(&trace), [("started", cashier())]);
}

#[test]
fn who_judged_the_signature_is_kept() {
    let mut accepted = at_signature();
    let _ = accepted.on(Event::SignatureChecked { accepted: true, by: program() });
    assert_eq!(caused(&accepted), [("started", cashier()), ("ended", program())]);
    let mut refused = at_signature();
    let _ = refused.on(Event::SignatureChecked { accepted: false, by: program() });
    assert_eq!(caused(&refused), [("started", cashier()), ("reversing", program())]);
    let mut forgotten = at_signature();
    let _ = forgotten.on_at(Event::DeadlinePassed, 10_000);
    assert!(forgotten.is_unconfirmed());
    assert_eq!(caused(&forgotten), [("started", cashier())], "nobody did");
}

#[test]
fn who_settled_is_kept() {
    for keep in [true, false] {
        let mut trace = at_signature();
        let _ = trace.on(Event::OldCopy { why: "old copy".into() });
        let _ = trace.on(Event::Resolve { keep, by: program() });
        assert!(caused(&trace).contains(&("settled", program())), "{keep}: {:?}", trace.written);
    }
}

/// A record made by an earlier version can be read and names no person. A record without a person is written back
/// unchanged.
#[test]
fn records_of_before_name_nobody() {
    let first = Record::Started { order: order() };
    let text = serde_json::to_string(&first).unwrap();
    assert!(!text.contains("\"by\""), "{text}");
    assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), first);
    for (text, name) in [
        (r#"{"kind":"ended","outcome":{"is":"cancelled","why":"no card"}}"#, "ended"),
        (r#"{"kind":"settled","keep":true}"#, "settled"),
        (r#"{"kind":"reversing","why":"the signature was refused at the counter"}"#, "reversing"),
    ] {
        let record: Record = serde_json::from_str(text).unwrap();
        assert_eq!((record.name(), serde_json::to_string(&record).unwrap().as_str()), (name, text));
    }
    // A record made by a later version contains an additional fact about a person: the shift.
    let later = r#"{"kind":"settled","keep":true,"by":{"uid":0,"operator":"anna","shift":2}}"#;
    let Record::Settled { by, .. } = serde_json::from_str(later).unwrap() else { panic!("{later}") };
    assert_eq!(by.map(|by| by.to_string()).as_deref(), Some("user 0, operator anna"));
}
