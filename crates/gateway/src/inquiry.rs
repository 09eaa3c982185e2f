//! Reads the answer to a query by `merchantTransactionId` or by date. Only an answer that certainly means "nothing"
//! counts as "not there" (design: path of a sale, 9). Any other answer is "cannot ask", unless it is certainly a list
//! of payments that includes the requested one. The entries are passed on unchanged, because the transaction judges
//! amounts, currencies and codes.
//!
//! Assumed, because the interface shows no answer to a query (`[gateway.assumptions]`):
//! - the answer is HTTP 200 with a JSON object that contains the list in a field of `query-list`. It may also be a bare
//!   list or a single payment;
//! - an empty list counts only if it comes without a `result.code`, with an approved code, or with 700.400.580 ("cannot
//!   find transaction");
//! - `query-not-found` lists further answers that mean "nothing", by HTTP status and result code;
//! - a linked transaction (capture, reversal, refund) may carry its own `merchantTransactionId`. A payment (DB, PA, CD)
//!   with another `merchantTransactionId` is not ours. It is never passed on, so it cannot be reversed. If the answer
//!   contains only such payments, the gateway did not understand the query;
//! - a payment is listed once. A second, equal entry is the same payment. A second, different entry about the same
//!   transaction makes the answer unusable, whether it is in the same answer or in another one. It is not known which
//!   entry is right;
//! - a `paymentType` is two upper-case letters or digits.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answer::{Reply, amount, is_payment_id, payment_id, text_at};
use super::code::{self, Class};
use super::json;
use crate::config::{Assumptions, NotFound};
use pos_core::transaction::{Inquiry, ListedState, ListedTransaction, Reason};
use pos_terms::transaction::PaymentId;

/// The code for "cannot find transaction", which comes with an empty list.
const NO_MATCH: &str = "700.400.580";
/// Payment types that start a payment, as opposed to those that refer to one (design: payment types at the counter).
const PAYMENTS: [&str; 3] = ["DB", "PA", "CD"];

/// Reads the result of the query.
pub(super) fn read(reply: &Reply, merchant_transaction_id: &str, assumptions: &Assumptions) -> Inquiry {
    let entries = match listed(reply, assumptions).and_then(each_once) {
        Ok(entries) => entries,
        Err(why) => return cannot(why),
    };
    let nameless = |entry: &Value| {
        text_at(entry, "/merchantTransactionId").is_none()
            && text_at(entry, "/paymentType").is_none_or(|kind| PAYMENTS.contains(&kind))
    };
    if assumptions.query_echoes_reference && entries.iter().any(nameless) {
        // The payment may belong to another terminal, and the agent can reverse a payment that it finds here.
        return cannot(
            "the gateway's answer to the query holds a payment without merchantTransactionId; if this gateway never \
             names it, set query-echoes-reference = false in [gateway.assumptions]"
                .to_owned(),
        );
    }
    let ours = |entry: &&Value| {
        let other = text_at(entry, "/merchantTransactionId").is_some_and(|id| id != merchant_transaction_id);
        !(other && text_at(entry, "/paymentType").is_none_or(|kind| PAYMENTS.contains(&kind)))
    };
    let kept: Vec<&Value> = entries.iter().filter(ours).collect();
    if kept.is_empty() && !entries.is_empty() {
        return cannot("the gateway answered the query with payments that were not asked for".to_owned());
    }
    if kept.iter().any(|entry| is_payment_under(entry, merchant_transaction_id))
        && entries.iter().any(|entry| is_strangers_payment(entry, merchant_transaction_id))
        && kept.iter().any(|entry| is_of_nobody(entry, merchant_transaction_id))
    {
        let why = "the gateway answered the query with other payments too, and does not say which payment the listed reversals and refunds refer to";
        return cannot(why.to_owned());
    }
    match kept.into_iter().map(|entry| found(entry, assumptions)).collect::<Option<Vec<_>>>() {
        Some(payments) => Inquiry::Payments(payments),
        None => cannot("the gateway's answer to the query holds a payment that cannot be read".to_owned()),
    }
}

/// Returns the entries without duplicates. Ids that differ only in case count as the same id, because the interface
/// does not promise that they are different.
///
/// # Errors
/// Returns a sentence if a payment is listed twice with different content.
fn each_once(entries: Vec<Value>) -> Result<Vec<Value>, String> {
    let mut once: Vec<Value> = Vec::with_capacity(entries.len());
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        // An entry without an id stays in the list, and makes the answer unreadable.
        if let Some(id) = payment_id(&entry) {
            if let Some(place) = places.get(&id.in_lower_case()) {
                let known = &once[*place];
                if *known != entry {
                    return Err(differently(&payment_id(known).unwrap_or(id)));
                }
                continue;
            }
            places.insert(id.in_lower_case(), once.len());
        }
        once.push(entry);
    }
    Ok(once)
}

/// Checks whether a payment was already found. Another query about the same transaction may find it again.
///
/// # Errors
/// Returns a sentence if the payment was found with different content.
pub(super) fn is_known(all: &[ListedTransaction], one: &ListedTransaction) -> Result<bool, String> {
    match all.iter().find(|known| known.id == one.id) {
        Some(known) if known != one || !known.id.is_written_as(&one.id) => Err(differently(&known.id)),
        known => Ok(known.is_some()),
    }
}

fn differently(id: &PaymentId) -> String {
    format!("the gateway lists payment {id} twice with different contents")
}

fn is_payment_under(entry: &Value, reference: &str) -> bool {
    text_at(entry, "/merchantTransactionId") == Some(reference)
        && text_at(entry, "/paymentType").is_some_and(|kind| PAYMENTS.contains(&kind))
}

fn is_strangers_payment(entry: &Value, reference: &str) -> bool {
    text_at(entry, "/merchantTransactionId").is_some_and(|other| other != reference)
        && text_at(entry, "/paymentType").is_some_and(|kind| PAYMENTS.contains(&kind))
}

/// Checks for a reversal or refund that names its payment neither by our gateway reference nor by a `referencedId`. In
/// a list of only that payment, it is linked to the payment. In a list with other payments, it may be linked to any of
/// them. The gateway references of our own reversals begin with the transaction's reference.
fn is_of_nobody(entry: &Value, reference: &str) -> bool {
    matches!(text_at(entry, "/paymentType"), Some("RV" | "RF"))
        && text_at(entry, "/referencedId").is_none()
        && text_at(entry, "/merchantTransactionId").is_none_or(|other| !other.starts_with(reference))
}

/// Checks whether the gateway throttled the query.
pub(super) fn is_throttled(reply: &Reply, assumptions: &Assumptions) -> bool {
    let code = json::read(&reply.body).and_then(|body| text_at(&body, "/result/code").map(str::to_owned));
    code.is_some_and(|code| code::class(&code, assumptions) == Some(Class::Throttled))
}

/// Returns the entries of an answered query, or none if the gateway answered that there is no such payment.
///
/// # Errors
/// Returns a sentence if the gateway did not answer the query.
pub(super) fn listed(reply: &Reply, assumptions: &Assumptions) -> Result<Vec<Value>, String> {
    let status = reply.status;
    let body = json::read(&reply.body);
    if body.as_ref().is_some_and(|body| says_nothing_is_there(status, body, assumptions)) {
        return Ok(Vec::new());
    }
    if status != 200 {
        return Err(format!(
            "the gateway did not answer the query (HTTP {status}); check query-path and query-not-found in \
             [gateway.assumptions]"
        ));
    }
    let body = body.ok_or("the gateway's answer to the query is not JSON")?;
    entries(body, assumptions).ok_or_else(|| {
        "the gateway's answer to the query holds no list of payments; check query-list in [gateway.assumptions]"
            .to_owned()
    })
}

/// Checks for an answer of `query-not-found` that contains no payment.
fn says_nothing_is_there(status: u16, body: &Value, assumptions: &Assumptions) -> bool {
    let code = text_at(body, "/result/code");
    let named = |answer: &NotFound| answer.status == status && Some(answer.code.as_str()) == code;
    let holds_some =
        || lists(body, assumptions).any(|list| list.as_array().is_none_or(|list| !list.is_empty())) || is_payment(body);
    assumptions.query_not_found.iter().any(named) && !holds_some()
}

/// Returns every list in the answer. One empty list says nothing about the others.
fn lists<'a>(body: &'a Value, assumptions: &'a Assumptions) -> impl Iterator<Item = &'a Value> {
    let itself = Some(body).filter(|body| body.is_array());
    itself.into_iter().chain(assumptions.query_list.iter().filter_map(|name| body.get(name)))
}

/// Checks whether the body is a single payment.
fn is_payment(body: &Value) -> bool {
    payment_id(body).is_some() && text_at(body, "/paymentType").is_some()
}

/// Returns the entries of the lists, and the body itself if it is a payment.
fn entries(body: Value, assumptions: &Assumptions) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    let mut is_list = false;
    for list in lists(&body, assumptions) {
        is_list = true;
        found.extend(list.as_array()?.iter().cloned());
    }
    let fine = body.pointer("/result/code").is_none_or(|code| {
        let code = code.as_str().unwrap_or("");
        code == NO_MATCH || code::class(code, assumptions) == Some(Class::Approved)
    });
    if is_payment(&body) {
        found.push(body);
    }
    (!found.is_empty() || (is_list && fine)).then_some(found)
}

/// Parses one entry. Returns `None` if it has no valid id or type. The caller must not ignore an unreadable entry.
fn found(entry: &Value, assumptions: &Assumptions) -> Option<ListedTransaction> {
    let state = match text_at(entry, "/result/code").and_then(|code| code::class(code, assumptions)) {
        Some(Class::Approved) => ListedState::Approved,
        Some(Class::Declined) => ListedState::Declined,
        Some(Class::Pending | Class::Throttled) => ListedState::Undecided,
        Some(Class::Uncertain) | None => ListedState::Unclear,
    };
    Some(ListedTransaction {
        id: payment_id(entry)?,
        payment_type: text_at(entry, "/paymentType").filter(|kind| is_kind(kind))?.to_owned(),
        amount: amount(entry, None),
        state,
        reference: text_at(entry, "/merchantTransactionId").map(str::to_owned),
        refers_to: text_at(entry, "/referencedId").filter(|id| is_payment_id(id)).map(PaymentId::new),
    })
}

/// Checks for two upper-case letters or digits.
fn is_kind(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn cannot(why: String) -> Inquiry {
    Inquiry::CannotAsk { why: Reason::GatewayCannotBeAsked.with(why) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use pos_core::transaction::ApprovedAmount;
    use pos_terms::money::{Amount, Currency};

    const OURS: &str = "4711-1-aa";

    fn query(status: u16, body: &str) -> Inquiry {
        let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
        read(&reply, OURS, &Assumptions::default())
    }

    fn entry(id: char, kind: &str, reference: &str, more: &str) -> String {
        let id = id.to_string().repeat(32);
        format!(
            r#"{{"id":"{id}","paymentType":"{kind}","amount":"12.34","currency":"EUR","merchantTransactionId":"{reference}",
            "result":{{"code":"000.100.110"}}{more}}}"#
        )
    }

    #[test]
    fn a_list_is_found_in_each_of_its_places() {
        let one = entry('a', "DB", OURS, "");
        let expected = ListedTransaction {
            id: PaymentId::new("a".repeat(32)),
            payment_type: "DB".to_owned(),
            amount: ApprovedAmount::Said(Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap()),
            state: ListedState::Approved,
            reference: Some(OURS.to_owned()),
            refers_to: None,
        };
        for body in [
            format!(r#"{{"result":{{"code":"000.000.100"}},"payments":[{one}]}}"#),
            format!(r#"{{"records":[{one}]}}"#),
            format!("[{one}]"),
            one,
        ] {
            assert_eq!(query(200, &body), Inquiry::Payments(vec![expected.clone()]), "{body}");
        }
    }

    #[test]
    fn a_found_payment_is_handed_on_as_it_is() {
        let state = |code: &str| {
            let Inquiry::Payments(found) = query(200, &entry('a', "DB", OURS, "").replace("000.100.110", code)) else {
                panic!("{code}")
            };
            found[0].state
        };
        for (code, expected) in [
            ("000.000.000", ListedState::Approved),
            ("800.100.152", ListedState::Declined),
            ("000.200.000", ListedState::Undecided),
            ("100.400.500", ListedState::Unclear),
            ("900.100.100", ListedState::Unclear),
            ("00", ListedState::Unclear),
            ("", ListedState::Unclear),
        ] {
            assert_eq!(state(code), expected, "{code}");
        }
        let eur = Currency::from_code("EUR").unwrap();
        for (written, expected) in [
            ("12.34", ApprovedAmount::Said(Amount::parse("12.34", eur).unwrap())),
            ("1", ApprovedAmount::Said(Amount::parse("1.00", eur).unwrap())),
            ("1.234", ApprovedAmount::Unreadable),
        ] {
            let body = entry('a', "DB", OURS, "").replace("\"12.34\"", written);
            let Inquiry::Payments(found) = query(200, &body) else { panic!("{body}") };
            assert_eq!(found[0].amount, expected, "{body}");
        }
    }

    #[test]
    fn only_an_answered_empty_list_means_not_there() {
        // One empty list says nothing about another list or about the answer itself.
        let one = entry('a', "DB", OURS, "");
        for body in [format!(r#"{{"payments":[],"records":[{one}]}}"#), one.replacen('{', r#"{"payments":[],"#, 1)] {
            assert!(matches!(query(200, &body), Inquiry::Payments(found) if found.len() == 1), "{body}");
        }
        for body in [
            "[]",
            r#"{"payments":[]}"#,
            r#"{"payments":[],"records":[]}"#,
            r#"{"payments":[],"result":{"code":"000.000.100"}}"#,
            r#"{"payments":[],"result":{"code":"700.400.580"}}"#,
        ] {
            assert_eq!(query(200, body), Inquiry::Payments(Vec::new()), "{body}");
        }
        for (status, body) in [
            (404, r#"{"payments":[]}"#),
            (401, "[]"),
            (500, "[]"),
            (204, ""),
            (200, ""),
            (200, "{}"),
            (200, "null"),
            (200, r#"{"payments":null}"#),
            (200, r#"{"payments":{}}"#),
            (200, r#"{"payments":[],"result":{"code":"900.100.100"}}"#),
            (200, r#"{"payments":[],"result":{"code":"800.120.100"}}"#),
            (200, r#"{"result":{"code":"700.400.580","description":"cannot find transaction"}}"#),
            (200, r#"{"payments":[{}]}"#),
            (200, r#"{"payments":[{"id":"x","paymentType":"DB"}]}"#),
        ] {
            assert!(matches!(query(status, body), Inquiry::CannotAsk { .. }), "HTTP {status} {body}");
        }
    }

    #[test]
    fn a_payment_of_another_sale_is_never_shown() {
        let (ours, other) = (entry('a', "DB", OURS, ""), entry('b', "DB", "4711-2-bb", ""));
        let reversal = entry('c', "RV", "4711-3-cc", &format!(r#","referencedId":"{}""#, "a".repeat(32)));
        let Inquiry::Payments(found) = query(200, &format!("[{other},{ours},{reversal}]")) else { panic!() };
        let kinds: Vec<_> = found.iter().map(|payment| payment.payment_type.as_str()).collect();
        assert_eq!(kinds, ["DB", "RV"]);
        assert_eq!(found[1].refers_to, Some(PaymentId::new("a".repeat(32))));
        // A gateway that ignores the query has not answered it.
        assert!(matches!(query(200, &format!("[{other}]")), Inquiry::CannotAsk { .. }));
    }

    #[test]
    fn a_strangers_reversal_in_a_mixed_list_is_nobodys() {
        let (ours, other) = (entry('a', "DB", OURS, ""), entry('b', "DB", "4711-2-bb", ""));
        let linked = entry('c', "RF", "of-the-back-office", "");
        let own = entry('d', "RV", &format!("{OURS}-r1"), "");
        // In a list of only this payment, the entry is linked to it.
        let Inquiry::Payments(found) = query(200, &format!("[{ours},{linked},{own}]")) else { panic!() };
        assert_eq!(found.len(), 3);
        assert!(matches!(query(200, &format!("[{other},{ours},{own}]")), Inquiry::Payments(_)));
        assert!(matches!(query(200, &format!("[{other},{ours},{linked}]")), Inquiry::CannotAsk { .. }));
        let named = entry('c', "RF", "of-the-back-office", &format!(r#","referencedId":"{}""#, "b".repeat(32)));
        assert!(matches!(query(200, &format!("[{other},{ours},{named}]")), Inquiry::Payments(_)));
    }

    #[test]
    fn where_no_payment_of_ours_is_listed_nobodys_refund_is_no_riddle() {
        let (ours, other) = (entry('a', "RV", OURS, ""), entry('b', "DB", "4711-2-bb", ""));
        let linked = entry('c', "RF", "of-the-back-office", "");
        let Inquiry::Payments(found) = query(200, &format!("[{ours},{other},{linked}]")) else { panic!() };
        let kinds: Vec<_> = found.iter().map(|one| one.payment_type.as_str()).collect();
        assert_eq!(kinds, ["RV", "RF"]);
    }

    #[test]
    fn nothing_is_there_when_the_gateway_says_so_in_the_agreed_way_and_holds_no_payment() {
        let agreed = NotFound { status: 404, code: "700.400.580".to_owned() };
        let assumptions = Assumptions { query_not_found: vec![agreed], ..Assumptions::default() };
        let query = |status, body: &str| {
            let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
            read(&reply, OURS, &assumptions)
        };
        let said = r#""result":{"code":"700.400.580"}"#;
        for body in [format!("{{{said}}}"), format!(r#"{{{said},"payments":[]}}"#)] {
            assert_eq!(query(404, &body), Inquiry::Payments(Vec::new()), "{body}");
        }
        let one = entry('a', "DB", OURS, "");
        for (status, body) in [
            (400, format!("{{{said}}}")),
            (404, said.replace("700.400.580", "800.900.300")),
            (404, r#"{"result":{"code":"800.900.300"}}"#.to_owned()),
            (404, "{}".to_owned()),
            (404, format!(r#"{{{said},"payments":[{one}]}}"#)),
            (404, format!(r#"{{{said},"payments":null}}"#)),
            (404, one.replace("000.100.110", "700.400.580")),
        ] {
            assert!(matches!(query(status, &body), Inquiry::CannotAsk { .. }), "HTTP {status} {body}");
        }
    }

    #[test]
    fn an_answer_with_an_id_of_its_own_is_no_payment() {
        let body = format!(r#"{{"id":"{}","payments":[],"result":{{"code":"000.000.100"}}}}"#, "e".repeat(32));
        assert_eq!(query(200, &body), Inquiry::Payments(Vec::new()));
    }

    #[test]
    fn a_question_that_was_not_processed_is_told_from_every_other_answer() {
        let is = |status, body: &str| {
            let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
            is_throttled(&reply, &Assumptions::default())
        };
        for status in [200, 400, 429, 503] {
            assert!(is(status, r#"{"result":{"code":"800.120.100"}}"#), "HTTP {status}");
            for body in [r#"{"result":{"code":"000.100.110"}}"#, r#"{"payments":[]}"#, "[]", ""] {
                assert!(!is(status, body), "HTTP {status} {body}");
            }
        }
    }

    #[test]
    fn a_payment_that_is_listed_twice_and_differently_is_no_answer() {
        let approved = entry('a', "DB", OURS, "");
        let reversal = entry('c', "RV", &format!("{OURS}-r1"), "");
        let declined = approved.replace("000.100.110", "800.100.152");
        // A difference in a field that the transaction does not use also counts.
        let later = approved.replace("\"paymentType\"", "\"timestamp\":\"2026-11-22 10:00:00\",\"paymentType\"");
        let strangers = approved.replace(OURS, "4711-2-bb");
        let upper = approved.replace(&"a".repeat(32), &"A".repeat(32));
        let unreadable = approved.replace("\"DB\"", "\"db\"");
        for other in [&declined, &later, &strangers, &upper, &unreadable] {
            for (first, second) in [(&approved, other), (other, &approved)] {
                let body = format!("[{first},{reversal},{second}]");
                let Inquiry::CannotAsk { why } = query(200, &body) else { panic!("{body}") };
                let id = payment_id(&json::read(first.as_bytes()).unwrap()).unwrap();
                let twice = format!("the gateway lists payment {id} twice with different contents");
                assert_eq!(why, Reason::GatewayCannotBeAsked.with(twice), "{body}");
            }
        }
        // Equal entries are one payment.
        let Inquiry::Payments(found) = query(200, &format!("[{approved},{reversal},{approved}]")) else { panic!() };
        let kinds: Vec<_> = found.iter().map(|payment| payment.payment_type.as_str()).collect();
        assert_eq!(kinds, ["DB", "RV"]);
    }

    #[test]
    fn what_two_questions_find_is_put_together_by_the_same_rule() {
        let found = |body: &str| {
            let Inquiry::Payments(mut found) = query(200, body) else { panic!("{body}") };
            found.remove(0)
        };
        let approved = found(&entry('a', "DB", OURS, ""));
        assert_eq!(is_known(&[], &approved), Ok(false));
        assert_eq!(is_known(&[found(&entry('b', "DB", OURS, ""))], &approved), Ok(false));
        assert_eq!(is_known(std::slice::from_ref(&approved), &approved), Ok(true));
        let declined = found(&entry('a', "DB", OURS, "").replace("000.100.110", "800.100.152"));
        let upper = ListedTransaction { id: PaymentId::new("A".repeat(32)), ..approved.clone() };
        let nameless = ListedTransaction { reference: None, ..approved.clone() };
        for other in [declined, upper, nameless] {
            for (first, second) in [(&approved, &other), (&other, &approved)] {
                let why = is_known(std::slice::from_ref(first), second).unwrap_err();
                assert_eq!(why, format!("the gateway lists payment {} twice with different contents", first.id));
            }
        }
    }

    #[test]
    fn a_kind_is_two_upper_case_letters_or_digits() {
        for kind in ["DB", "RV", "3D", "CP"] {
            assert!(matches!(query(200, &entry('a', kind, OURS, "")), Inquiry::Payments(_)), "{kind}");
        }
        for kind in ["rv", "Rv", "db", "d\\u0000", "\\u0000\\u0000", "D ", "D-", "  ", "ÄB", "DBX", "D", ""] {
            for reference in [OURS, "4711-1-aa-r1"] {
                let body = format!("[{},{}]", entry('a', "DB", OURS, ""), entry('b', kind, reference, ""));
                assert!(matches!(query(200, &body), Inquiry::CannotAsk { .. }), "{body}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(body in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = read(&Reply { status: 200, location: None, body }, OURS, &Assumptions::default());
        }
    }
}
