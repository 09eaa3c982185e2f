//! An insider who uses a supervisor's approval for another command. The gateway's ledger decides: it pays out only what
//! the supervisor saw. `crates/core/src/counter/approvals.rs` and `src/agent/tests/operators.rs` test outdated
//! approvals.

use pos_sim::gateway::Kind;
use pos_sim::reader::CardEntry;
use serde_json::{Value, json};

use crate::counter::Counter;
use crate::operators::{ANNA, Asked, BEN, TestTill, any_card, staffed};

pub(crate) const CARL: (&str, &str) = ("Carl", "551902");
/// The setting with which a cashier may refund up to 0.50 without a supervisor.
const ABOVE: &str = "supervisor-above = { refund = \"0.50\" }\n";

/// Returns the gateway's repayments: the amount, and the payment that each one refers to.
pub(crate) fn given(counter: &Counter) -> Vec<(String, Option<String>)> {
    let ledger = counter.shop.gateway.ledger();
    let gives = |kind: Kind| matches!(kind, Kind::Refund | Kind::Credit | Kind::Reversal);
    let entries = ledger.entries().iter().filter(|entry| gives(entry.kind));
    entries.map(|entry| (entry.amount.clone(), entry.refers_to.clone())).collect()
}

pub(crate) async fn sold(counter: &Counter, till: &TestTill, reference: &str, amount: &str) -> Value {
    let begun = till.post("/v1/sales", json!({ "reference": reference, "amount": amount })).await;
    assert_eq!(begun.status, 201, "{}", begun.body);
    counter.present(any_card(), CardEntry::Tap).await;
    let ended = till.ended(reference).await;
    assert_eq!(ended["outcome"], "approved", "{ended}");
    counter.until_ready().await;
    ended
}

/// Asks Ben to approve a command.
pub(crate) async fn asked_for(till: &TestTill, command: Value) -> Asked {
    till.post("/v1/approvals", json!({ "operator": BEN.0, "pin": BEN.1, "for": command })).await
}

/// Gets Ben's approval, which the returned caller sends with every request.
async fn confirmed(till: &TestTill, command: Value) -> (TestTill, Value) {
    let answer = asked_for(till, command).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    (till.with_word(&answer), answer.body["for"].clone())
}

#[tokio::test]
async fn a_word_that_names_no_earlier_transaction_gives_nothing_back() {
    let (counter, _, till) = staffed(ABOVE).await;
    let anna = till.signed_in(ANNA).await;
    sold(&counter, &anna, "small", "1.00").await;
    sold(&counter, &anna, "large", "900.00").await;
    // The cashier claims that the approval is for the whole small sale.
    let answer = asked_for(&anna, json!({ "kind": "refund", "reference": "r" })).await;
    let word = anna.with_word(&answer);
    let sent = word.post("/v1/sales", json!({ "kind": "refund", "of": "large", "reference": "r" })).await;
    if sent.status == 201 {
        anna.ended("r").await;
    }
    assert_eq!(given(&counter), [], "nobody has confirmed that: {}", sent.body);
    assert_eq!((answer.status, answer.code()), (400, "malformed"), "{}", answer.body);
    assert_eq!(answer.body["detail"], "for.of: a refund needs it");
    assert_eq!(sent.code(), "supervisor-needed", "{}", sent.body);
}

/// Checks that the approval covers the refund of the whole small sale (1.00) and no other command. The request may
/// identify the sale in any way.
#[tokio::test]
async fn a_word_is_refused_for_anything_else_and_stays_good_for_its_own() {
    let (counter, root, till) = staffed(ABOVE).await;
    root.add(CARL, "cashier").await;
    let (anna, carl) = (till.signed_in(ANNA).await, till.signed_in(CARL).await);
    let small = sold(&counter, &anna, "small", "1.00").await;
    let large = sold(&counter, &anna, "large", "900.00").await;
    let needed = anna.post("/v1/sales", json!({ "kind": "refund", "of": "small", "reference": "r" })).await;
    let resolved = json!({
        "kind": "refund", "reference": "r", "amount": "1.00", "currency": "EUR", "number": small["number"],
        "payment": small["paymentId"],
    });
    assert_eq!((needed.code(), &needed.body["toConfirm"]), ("supervisor-needed", &resolved), "{}", needed.body);
    let (word, shown) = confirmed(&anna, json!({ "kind": "refund", "reference": "r", "of": "small" })).await;
    assert_eq!(shown, resolved, "what the supervisor confirms");

    let refund = |of: Value, more: Value| {
        let mut body = json!({ "kind": "refund", "reference": "r" });
        for (name, value) in [of, more].iter().flat_map(|part| part.as_object().unwrap()) {
            body[name] = value.clone();
        }
        body
    };
    let (own, none) = (json!({ "of": "small" }), json!({}));
    let others = [
        refund(json!({ "of": "large" }), none.clone()),
        refund(json!({ "of": "large" }), json!({ "amount": "1.00" })),
        refund(json!({ "number": large["number"] }), none.clone()),
        refund(json!({ "payment": large["paymentId"] }), none.clone()),
        refund(own.clone(), json!({ "amount": "0.99" })),
        refund(own.clone(), json!({ "reference": "r-2" })),
    ];
    for other in others {
        let refused = word.post("/v1/sales", other.clone()).await;
        assert_eq!((refused.status, refused.code()), (403, "not-approved"), "{other}: {}", refused.body);
        let detail = refused.body["detail"].as_str().unwrap();
        let told = format!("for REFUND 1.00 EUR, transaction {}, reference r, but this", small["number"]);
        assert!(detail.contains(&told), "{detail}");
    }
    // Neither another operator at the same till nor the same operator at another interface can use the approval.
    let stolen = carl.with_word_of(&word);
    let refused = stolen.post("/v1/sales", refund(own.clone(), none.clone())).await;
    assert_eq!(refused.code(), "not-approved", "{}", refused.body);
    assert!(
        refused.body["detail"].as_str().unwrap().ends_with("was given to a different operator"),
        "{}",
        refused.body
    );
    let elsewhere = root.signed_in(ANNA).await.with_word_of(&word);
    let by_number = json!({ "number": small["number"] });
    let refused = elsewhere.post("/v1/sales", refund(by_number.clone(), none.clone())).await;
    assert_eq!(refused.code(), "not-approved", "{}", refused.body);
    assert_eq!(given(&counter), [], "nothing left the bank");

    // A command that requires no approval does not use it up. The approved command does, even if it identifies the same
    // sale in another way.
    let alone =
        word.post("/v1/sales", json!({ "kind": "refund", "of": "large", "reference": "r-3", "amount": "0.50" }));
    assert_eq!(alone.await.status, 201);
    anna.ended("r-3").await;
    let done = word.post("/v1/sales", refund(by_number, none.clone())).await;
    assert_eq!((done.status, &done.body["by"]["supervisor"]), (201, &json!("Ben")), "{}", done.body);
    anna.ended("r").await;
    let again = word.post("/v1/sales", refund(json!({ "of": "large" }), json!({ "reference": "r-4" }))).await;
    assert_eq!(again.code(), "not-approved", "once: {}", again.body);
    let payment = |sale: &Value| sale["paymentId"].as_str().map(str::to_owned);
    assert_eq!(given(&counter), [("0.50".to_owned(), payment(&large)), ("1.00".to_owned(), payment(&small))]);
}

/// Checks an approval for the whole rest. The approval fixes the amount of the rest, and the rest must still be that
/// amount when it is used.
#[tokio::test]
async fn a_word_for_all_that_is_left_is_for_what_was_left_when_it_was_given() {
    let (counter, _, till) = staffed(ABOVE).await;
    let (anna, ben) = (till.signed_in(ANNA).await, till.signed_in(BEN).await);
    sold(&counter, &anna, "s", "10.00").await;
    let all = || json!({ "kind": "refund", "of": "s", "reference": "r" });
    let (before, shown) = confirmed(&anna, all()).await;
    assert_eq!(shown["amount"], "10.00", "{shown}");
    let part =
        ben.post("/v1/sales", json!({ "kind": "refund", "of": "s", "reference": "part", "amount": "4.00" })).await;
    assert_eq!(part.status, 201, "{}", part.body);
    anna.ended("part").await;
    let refused = before.post("/v1/sales", all()).await;
    assert_eq!(refused.code(), "not-approved", "{}", refused.body);
    // The same request with the amount written out is the same command.
    let (now, shown) =
        confirmed(&anna, json!({ "kind": "refund", "of": "s", "reference": "r", "amount": "6.00" })).await;
    assert_eq!(shown["amount"], "6.00", "{shown}");
    let done = now.post("/v1/sales", all()).await;
    assert_eq!((done.status, &done.body["amount"]), (201, &json!("6.00")), "{}", done.body);
    anna.ended("r").await;
    let amounts: Vec<_> = given(&counter).into_iter().map(|(amount, _)| amount).collect();
    assert_eq!(amounts, ["4.00", "6.00"]);
    let nothing = asked_for(&anna, json!({ "kind": "refund", "of": "s", "reference": "r-2" })).await;
    assert_eq!(nothing.code(), "not-possible", "nothing is left: {}", nothing.body);
}

/// Checks that the request for a tip is part of the approved command, and so is the caller.
#[tokio::test]
async fn a_word_says_whether_a_tip_is_asked_for_and_who_asks() {
    let (_counter, _, till) = staffed("supervisor-above = { sale = \"10.00\" }\n").await;
    let command = json!({ "kind": "sale", "reference": "s", "amount": "10.01" });
    let nobody = asked_for(&till, command.clone()).await;
    assert_eq!((nobody.status, nobody.code()), (401, "operator-required"), "{}", nobody.body);
    let anna = till.signed_in(ANNA).await;
    let (word, shown) = confirmed(&anna, command).await;
    assert!(shown.get("asksTip").is_none(), "{shown}");
    let sale = json!({ "reference": "s", "amount": "10.01", "tip": "ask" });
    assert_eq!(word.post("/v1/sales", sale.clone()).await.code(), "not-approved");
    let (word, shown) =
        confirmed(&anna, json!({ "kind": "sale", "reference": "s", "amount": "10.01", "tip": "ask" })).await;
    assert_eq!(shown["asksTip"], true, "{shown}");
    assert_eq!(word.post("/v1/sales", sale).await.status, 201);
    anna.cancelled("s").await;
}
