//! Cloud tills: whatever is lost, repeated or killed, a reference is one transaction, and the till hears what the
//! terminal says.

use std::process::Command;
use std::time::Duration;

use pos_fleet::tills::tokens::revoke_tokens;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cloud::{Cloud, NONCE, TERMINAL, id, now, sale_body, view};

fn words<'a>(answer: &'a (u16, Value), names: &[&str]) -> (u16, Vec<&'a Value>) {
    (answer.0, names.iter().map(|name| &answer.1[*name]).collect())
}

fn is(answer: &(u16, Value), status: u16, name: &str, value: &str) {
    assert_eq!(words(answer, &[name]), (status, vec![&json!(value)]), "{answer:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn a_reference_is_one_command_however_often_it_is_asked() {
    let cloud = Cloud::start().await;
    let token = cloud.token(&[TERMINAL]).await;
    let sell = || cloud.sell(&token, "order-1", "12.34");
    let terminal = async {
        let command = cloud.offered("sale").await;
        assert_eq!((command.terminal.as_str(), command.nonce.as_deref()), (TERMINAL, Some(NONCE)));
        assert_eq!(command.body, sale_body("order-1", "12.34"));
        assert_eq!(command.author, "cloud till web");
        cloud.answers(&command, "running", &view("order-1", "waiting-for-card", None)).await;
        command
    };
    let (one, two, three, four, command) = tokio::join!(sell(), sell(), sell(), sell(), terminal);
    let mut replayed = Vec::new();
    for answer in [&one, &two, &three, &four] {
        assert_eq!(answer.1["state"], "waiting-for-card", "{answer:?}");
        replayed.push((answer.0, answer.1["replayed"].as_bool().unwrap()));
    }
    replayed.sort_unstable();
    assert_eq!(replayed, [(200, true), (200, true), (200, true), (201, false)]);
    assert_eq!(cloud.count("sale").await, 1);
    // Another content is another transaction.
    let other = cloud.sell(&token, "order-1", "12.35").await;
    is(&other, 409, "code", "amount-differs");
    assert_eq!(other.1["reference"], "order-1");
    // The wait ends with the result.
    let begun = Instant::now();
    let ends = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cloud.answers(&command, "done", &view("order-1", "ended", Some("approved"))).await;
    };
    let (answer, ()) = tokio::join!(cloud.get(&token, "/v1/sales/order-1?wait-s=20"), ends);
    is(&answer, 200, "outcome", "approved");
    assert!(begun.elapsed() < Duration::from_millis(1_500), "{:?}", begun.elapsed());
    is(&sell().await, 200, "outcome", "approved");
    is(&cloud.get(&token, "/v1/latest").await, 200, "reference", "order-1");
    assert_eq!(cloud.count("sale").await, 1);
    cloud.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn without_an_answer_nobody_knows_until_the_journal_says_it() {
    let mut cloud = Cloud::start().await;
    let token = cloud.token(&[TERMINAL]).await;
    // The terminal gets the command, and its answer is lost. The server dies in between.
    let (_, first) = tokio::join!(cloud.offered("sale"), cloud.sell(&token, "order-1", "12.34"));
    is(&first, 503, "code", "no-answer");
    assert_eq!(first.1["reference"], "order-1");
    cloud.again().await;
    // Also long after the expiry, no second command is given: the first one may have acted.
    cloud.client.execute("update command set expires = now() - interval '1 hour'", &[]).await.unwrap();
    let begun = Instant::now();
    is(&cloud.sell(&token, "order-1", "12.34").await, 503, "code", "no-answer");
    assert!(begun.elapsed() > Duration::from_secs(5), "a first word is waited for");
    is(&cloud.get(&token, "/v1/sales/order-1").await, 503, "code", "no-answer");
    assert_eq!(cloud.count("sale").await, 1);
    // The journal's entries come with the next connection.
    cloud.books(90, "order-1", "unconfirmed", None).await;
    is(&cloud.get(&token, "/v1/sales/order-1").await, 200, "state", "unconfirmed");
    cloud.books(91, "order-1", "ended", Some("reversed")).await;
    is(&cloud.get(&token, "/v1/sales/order-1?wait-s=60").await, 200, "outcome", "reversed");
    let again = cloud.sell(&token, "order-1", "12.34").await;
    is(&again, 200, "outcome", "reversed");
    assert_eq!((&again.1["replayed"], cloud.count("sale").await), (&json!(true), 1));
    // A database from a backup does not know the reference. The journal does.
    cloud.client.batch_execute("delete from cloud_sale; delete from command").await.unwrap();
    is(&cloud.get(&token, "/v1/sales/order-1").await, 200, "outcome", "reversed");
    is(&cloud.sell(&token, "order-1", "12.34").await, 200, "outcome", "reversed");
    is(&cloud.sell(&token, "order-1", "1.00").await, 409, "code", "amount-differs");
    assert_eq!(cloud.count("sale").await, 0);
    cloud.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn what_cannot_act_any_more_was_not_begun() {
    let cloud = Cloud::start().await;
    let token = cloud.token(&[TERMINAL, "shop-18-1", "shop-19-1"]).await;
    // The desk does not offer it. So it is withdrawn, and the desk finds nothing to offer.
    let unsent = cloud.sell(&token, "order-1", "12.34").await;
    is(&unsent, 503, "code", "not-ready");
    let open = "select count(*) from command where not is_final";
    let open: i64 = cloud.client.query_one(open, &[]).await.unwrap().get(0);
    assert_eq!(open, 0);
    is(&cloud.get(&token, "/v1/sales/order-1").await, 404, "code", "no-such-sale");
    // The same reference may begin, and each refusal that proves that nothing was done allows the next try.
    let problem = json!({ "type": "urn:pos-agent:problem:busy", "title": "t", "status": 409, "code": "busy",
        "detail": "the terminal is busy", "till": "till-1", "reference": "x" });
    for (code, body, status, word) in [
        ("refused", &problem, 409, "busy"),
        ("expired", &Value::Null, 503, "not-ready"),
        ("stale-connection", &Value::Null, 503, "not-ready"),
        ("not-begun", &Value::Null, 503, "not-ready"),
        ("key-not-allowed", &Value::Null, 403, "forbidden"),
        ("malformed", &Value::Null, 400, "malformed"),
    ] {
        let before = cloud.count("sale").await;
        let terminal = async {
            let command = cloud.offered("sale").await;
            cloud.answers(&command, code, body).await;
        };
        let (answer, ()) = tokio::join!(cloud.sell(&token, "order-1", "12.34"), terminal);
        is(&answer, status, "code", word);
        assert_eq!(cloud.count("sale").await, before + 1, "{code}");
    }
    // These prove nothing.
    for code in ["failed", "id-taken"] {
        let reference = format!("order-{code}");
        let terminal = async {
            let command = cloud.offered("sale").await;
            cloud.answers(&command, code, &Value::Null).await;
        };
        let (answer, ()) = tokio::join!(cloud.sell(&token, &reference, "12.34"), terminal);
        is(&answer, 503, "code", "no-answer");
        let before = cloud.count("sale").await;
        is(&cloud.sell(&token, &reference, "12.34").await, 503, "code", "no-answer");
        assert_eq!(cloud.count("sale").await, before);
    }
    // A terminal that is gone or takes no commands gets none.
    let before = cloud.count("sale").await;
    cloud.terminal("shop-18-1", false, Some(NONCE)).await;
    cloud.terminal("shop-19-1", true, None).await;
    for terminal in ["shop-18-1", "shop-19-1"] {
        let answer = cloud.post_to(terminal, &token, "/v1/sales", &sale_body("order-2", "1.00")).await;
        is(&answer, 503, "code", "not-ready");
    }
    assert_eq!(cloud.count("sale").await, before);
    cloud.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn a_cancel_answers_what_became_of_the_sale() {
    let cloud = Cloud::start().await;
    let token = cloud.token(&[TERMINAL]).await;
    let cancel = |reference: &'static str| {
        let (cloud, token) = (&cloud, &token);
        async move { cloud.post(token, &format!("/v1/sales/{reference}/cancel"), &json!({})).await }
    };
    // Before the terminal hears of it: it never begins, also not by a request that was on its way.
    let early = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        cancel("order-1").await
    };
    let (sold, cancelled) = tokio::join!(cloud.sell(&token, "order-1", "12.34"), early);
    assert_eq!(
        words(&cancelled, &["cancel", "outcome", "number"]),
        (200, vec![&json!("in-time"), &json!("cancelled"), &json!(0)])
    );
    is(&sold, 201, "outcome", "cancelled");
    is(&cloud.sell(&token, "order-1", "12.34").await, 200, "outcome", "cancelled");
    is(&cloud.get(&token, "/v1/sales/order-1").await, 200, "outcome", "cancelled");
    assert_eq!((cloud.count("sale").await, cloud.count("cancel").await), (1, 0));
    is(&cancel("order-0").await, 404, "code", "no-such-sale");
    // After that, only the terminal says so.
    let begins = async {
        let command = cloud.offered("sale").await;
        cloud.answers(&command, "running", &view("order-2", "waiting-for-card", None)).await;
        command
    };
    let (begun, command) = tokio::join!(cloud.sell(&token, "order-2", "12.34"), begins);
    is(&begun, 201, "state", "waiting-for-card");
    let (silent, again, _) = tokio::join!(cancel("order-2"), cancel("order-2"), cloud.offered("cancel"));
    is(&silent, 503, "code", "no-answer");
    is(&again, 503, "code", "no-answer");
    assert_eq!(cloud.count("cancel").await, 1, "the same cancel, as long as it may act");
    let stays = cloud.get(&token, "/v1/sales/order-2").await;
    is(&stays, 200, "state", "waiting-for-card");
    cloud
        .client
        .execute("update command set is_final = true, code = 'expired' where kind = 'cancel'", &[])
        .await
        .unwrap();
    let answers = async {
        let cancel = cloud.offered("cancel").await;
        assert_eq!(cancel.body, json!({ "reference": "order-2" }));
        let mut late = view("order-2", "in-progress", None);
        late["cancel"] = json!("too-late");
        cloud.answers(&cancel, "done", &late).await;
    };
    let (late, ()) = tokio::join!(cancel("order-2"), answers);
    assert_eq!(words(&late, &["cancel", "state"]), (200, vec![&json!("too-late"), &json!("in-progress")]));
    cloud.answers(&command, "done", &view("order-2", "ended", Some("approved"))).await;
    assert_eq!(
        words(&cancel("order-2").await, &["cancel", "outcome"]),
        (200, vec![&json!("too-late"), &json!("approved")])
    );
    assert_eq!(cloud.count("cancel").await, 2);
    // A confirmation is a command with its content.
    let confirm = json!({ "taken": "part", "amount": "8.00" });
    let answers = async {
        let command = cloud.offered("confirm").await;
        assert_eq!(command.body, json!({ "reference": "order-2", "taken": "part", "amount": "8.00" }));
        let problem = json!({ "status": 409, "code": "no-confirmation-awaited", "title": "", "detail": "" });
        cloud.answers(&command, "refused", &problem).await;
    };
    let (refused, ()) = tokio::join!(cloud.post(&token, "/v1/sales/order-2/confirm", &confirm), answers);
    is(&refused, 409, "code", "no-confirmation-awaited");
    cloud.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn a_token_is_for_its_terminals_until_it_is_revoked() {
    let cloud = Cloud::start().await;
    let (is_made, token) = cloud.program(&["till-token", "new", "web", "--terminals", TERMINAL, "--by", "anna"]);
    assert!(is_made && token.len() == 12 + 1 + 64, "{token}");
    let secret = token.split_once('.').unwrap().1;
    assert!(!cloud.cluster.dump("fleet").contains(secret), "the database has the secret");
    let (is_made, said) = cloud.program(&["till-token", "new", "app", "--terminals", TERMINAL]);
    assert!(!is_made && said.contains("no [[tills.key]] for the till app"), "{said}");
    let (_, listed) = cloud.program(&["till-token", "list"]);
    assert!(listed.contains("web  valid; for shop-17-1; made by anna") && !listed.contains(secret), "{listed}");
    is(&cloud.get(&token, "/v1/status").await, 200, "terminalId", "");
    cloud.terminal("shop-18-1", true, Some(NONCE)).await;
    let foreign = cloud.post_to("shop-18-1", &token, "/v1/sales", &sale_body("order-1", "1.00")).await;
    is(&foreign, 403, "code", "forbidden");
    assert!(foreign.1["detail"].as_str().unwrap().contains("shop-18-1"));
    is(&cloud.get(&token, "/v1/status?till=other").await, 403, "code", "forbidden");
    assert_eq!(cloud.count("sale").await, 0);
    // A wait ends too.
    cloud
        .client
        .execute("insert into cloud_sale values ('web', $1, 'order-1', '', '{}', now())", &[&TERMINAL])
        .await
        .unwrap();
    let revokes = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(revoke_tokens(&cloud.client, "web", "anna", now()).await.unwrap(), 1);
        let begun = Instant::now();
        let refused = cloud.get(&token, "/v1/status").await;
        (refused, begun.elapsed())
    };
    let (waited, (refused, took)) = tokio::join!(cloud.get(&token, "/v1/sales/order-1?wait-s=20"), revokes);
    is(&refused, 401, "code", "unauthorized");
    assert!(took < Duration::from_secs(1), "{took:?}");
    is(&waited, 401, "code", "unauthorized");
    // Wrong tokens are limited, and the database has a rest.
    let good = cloud.token(&[TERMINAL]).await;
    let mut last = 0;
    for at in 0..12 {
        last = cloud.get(&format!("{at:012x}.{}", "0".repeat(64)), "/v1/status").await.0;
    }
    assert_eq!(last, 429);
    is(&cloud.get(&good, "/v1/status").await, 429, "code", "too-many-requests");
    let (is_revoked, said) = cloud.program(&["till-token", "revoke", good.split_once('.').unwrap().0]);
    assert!(is_revoked && said == "1 revoked", "{said}");
    assert!(!cloud.program(&["till-token", "revoke", "web"]).0, "all are revoked");
    cloud.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn other_requests_are_refused_by_name() {
    let cloud = Cloud::start().await;
    let token = cloud.token(&[TERMINAL]).await;
    for path in ["/v1/sales", "/v1/events", "/v1/sales/r/receipt", "/v1/totals", "/v1/closes", "/v1/journal"] {
        is(&cloud.get(&token, path).await, 404, "code", "not-for-cloud-tills");
    }
    let body = json!({});
    is(&cloud.post(&token, "/v1/sales/r/signature", &body).await, 404, "code", "not-for-cloud-tills");
    is(&cloud.post(&token, "/v1/settle/7", &body).await, 404, "code", "not-for-cloud-tills");
    is(&cloud.post(&token, "/v1/status", &body).await, 405, "code", "method-not-allowed");
    is(&cloud.get(&token, "/v1/nothing").await, 404, "code", "not-found");
    is(&cloud.get("", "/v1/nothing").await, 401, "code", "unauthorized");
    let large = json!({ "reference": "r", "tillData": { "a": "b".repeat(9_000) } });
    is(&cloud.post(&token, "/v1/sales", &large).await, 413, "code", "too-large");
    is(&cloud.post(&token, "/v1/sales", &json!([])).await, 400, "code", "malformed");
    let training = json!({ "reference": "r", "amount": "1.00", "training": "declined" });
    is(&cloud.post(&token, "/v1/sales", &training).await, 409, "code", "training-off");
    let plain = format!(
        "POST /terminals/{TERMINAL}/v1/sales HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         content-length: 2\r\n\r\n{{}}"
    );
    is(&cloud.send(plain.as_bytes()).await, 415, "code", "media-type");
    let callback = plain.replace("host: x", "host: x\r\npos-callback: https://x.example");
    is(&cloud.send(callback.as_bytes()).await, 404, "code", "not-for-cloud-tills");
    // A reference may have any printable character.
    is(&cloud.get(&token, "/v1/sales/a%2Fb").await, 404, "reference", "a/b");
    is(&cloud.get(&token, "/v1/sales/%C3%A4").await, 422, "code", "reference");
    is(&cloud.get(&token, "/v1/sales/r?wait-s=500").await, 400, "code", "malformed");
    let (status, said) = cloud.get(&token, "/v1/status").await;
    assert_eq!((status, &said["ready"], &said["online"]), (200, &json!(true), &json!(true)), "{said}");
    cloud.terminal(TERMINAL, false, Some(NONCE)).await;
    let said = cloud.get(&token, "/v1/status").await.1;
    assert_eq!((&said["ready"], &said["attention"][0]["code"]), (&json!(false), &json!("terminal-offline")));
    assert_eq!(cloud.count("sale").await, 0);
    assert_eq!(id(TERMINAL).as_str(), TERMINAL);
    cloud.end().await;
}

/// The library's own `sell` and `cancel`, with another base address and nothing else.
const PYTHON_TILL: &str = r#"
import sys, threading
from pos_agent_client import Busy, NotReady, Terminal
url, token, ca = sys.argv[1:]
with Terminal(url, token, ca=ca) as till:
    assert till.status()["ready"] is True
    steps = []
    sale = till.sell("12.34", reference="order 1/a", on_step=lambda sale: steps.append(sale["state"]))
    assert (sale["outcome"], steps[0]) == ("approved", "waiting-for-card"), (sale, steps)
    assert till.show("order 1/a")["outcome"] == till.latest()["outcome"] == "approved"
    try:
        till.sell("1.00", reference="busy")
        raise SystemExit("not refused")
    except Busy as busy:
        assert busy.status == 409
    cancelled = till.cancel("order 1/a")
    assert cancelled["cancel"] == "too-late" and cancelled["outcome"] == "approved"
    taken = till.sell("12.34", reference="to confirm", confirm="till", on_confirm=lambda sale: True)
    assert taken["outcome"] == "approved", taken
print("sold")
"#;

#[tokio::test]
#[ignore = "needs PostgreSQL, and httpx in POS_FLEET_PYTHON: .ci/run fleet"]
async fn the_python_library_drives_a_cloud_till() {
    let cloud = Cloud::start().await;
    let token = cloud.token(&[TERMINAL]).await;
    let python = std::env::var("POS_FLEET_PYTHON").expect("POS_FLEET_PYTHON is a Python with httpx");
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python/src");
    let url = format!("https://localhost:{}/terminals/{TERMINAL}/", cloud.port);
    let ca = cloud.path("ca.pem");
    let till = tokio::task::spawn_blocking(move || {
        Command::new(python)
            .args(["-c", PYTHON_TILL, &url, &token])
            .arg(ca)
            .env("PYTHONPATH", library)
            .output()
            .unwrap()
    });
    let terminal = async {
        let first = cloud.offered("sale").await;
        let reference = first.body["reference"].as_str().unwrap();
        cloud.answers(&first, "running", &view(reference, "waiting-for-card", None)).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        cloud.answers(&first, "done", &view(reference, "ended", Some("approved"))).await;
        let busy = cloud.offered("sale").await;
        let problem = json!({ "status": 409, "code": "busy", "title": "", "detail": "busy" });
        cloud.answers(&busy, "refused", &problem).await;
        let third = cloud.offered("sale").await;
        assert_eq!(third.body["confirm"], "till");
        cloud.answers(&third, "running", &view("to confirm", "awaiting-till", None)).await;
        let confirm = cloud.offered("confirm").await;
        assert_eq!(confirm.body, json!({ "reference": "to confirm", "taken": "all" }));
        let ended = view("to confirm", "ended", Some("approved"));
        cloud.answers(&third, "done", &ended).await;
        cloud.answers(&confirm, "done", &ended).await;
    };
    let (output, ()) = tokio::join!(till, terminal);
    let output = output.unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("sold"), "{said}");
    assert_eq!(cloud.count("sale").await, 3);
    cloud.end().await;
}
