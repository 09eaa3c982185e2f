//! Signed commands of a fleet, over the real socket, to the real agent with a simulated reader and gateway: each
//! refusal in its order, the same envelope again, rights, restarts, and power cuts at each step.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use pos_agent::agent::{AgentEnd, Surroundings};
use pos_agent::till::{Attention, Command, FleetRequest, FleetTaken, ProgressLog, Wires};
use pos_core::book::{Book as _, BookEntry};
use pos_core::fleet::{AcceptedCommand, JudgedCommand, UsedCounters};
use pos_fleet_terms::{CommandCode, CommandResult, DocumentKind, DocumentSignature, Envelope};
use pos_journal::Journal;
use pos_sim::reader::CardEntry::Insert;
use pos_sim::reader::card;
use pos_sim::shop::Options;
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::counter::Counter;
use pos_test_kit::within;

/// The seeds of the keys, which are also their places in the configuration.
const WEB: u8 = 1;
const DESK: u8 = 2;
const CONFIG: u8 = 3;
const SHOP: u8 = 4;
const STRANGER: u8 = 9;

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn id_of(seed: u8) -> String {
    hex::encode(digest(&SHA256, pair(seed).public_key().as_ref()))
}

fn section() -> String {
    let key = |name: &str, kind: &str, seed: u8, more: &str| {
        let public = hex::encode(pair(seed).public_key());
        format!("[[fleet.key]]\nname = \"{name}\"\nkind = \"{kind}\"\npublic = \"{public}\"\n{more}\n")
    };
    "\n[fleet]\norg = \"corner\"\nterminal = \"shop-17-1\"\n".to_owned()
        + &key("web shop", "till", WEB, "till = \"web\"")
        + &key("desk 2026", "desk", DESK, "")
        + &key("config a", "config", CONFIG, "")
        + &key("kiosk", "till", SHOP, "till = \"kiosk\"\nrights = [\"sale\", \"read\", \"refund\"]")
}

/// Opens a shop whose terminal is in a fleet.
async fn open() -> Counter {
    let mut counter = Counter::closed(Options::default()).await;
    join(&counter);
    counter.start_agent();
    counter.until_ready().await;
    counter
}

fn join(counter: &Counter) {
    let config = fs::read_to_string(counter.shop.config()).unwrap();
    fs::write(counter.shop.config(), config + &section()).unwrap();
}

fn in_s(seconds: i64) -> String {
    (Utc::now() + chrono::Duration::seconds(seconds)).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A command of this kind, with its parts to change.
fn command(kind: &str, id: &str, counter: u64, nonce: &str, body: Value) -> Value {
    json!({
        "v": 1, "id": id, "org": "corner", "terminal": "shop-17-1", "counter": counter, "kind": kind, "body": body,
        "expires": in_s(30), "nonce": nonce, "author": "anna",
    })
}

fn sale(id: &str, counter: u64, nonce: &str, amount: &str) -> Value {
    command("sale", id, counter, nonce, json!({ "reference": format!("ref-{id}"), "amount": amount }))
}

fn with(mut command: Value, name: &str, value: impl Into<Value>) -> Value {
    command[name] = value.into();
    command
}

fn envelope(command: &Value, by: u8) -> Envelope {
    let document = serde_json::to_vec(command).unwrap();
    let bytes = pair(by).sign(&DocumentKind::Command.signed_bytes(&document)).as_ref().to_vec();
    let signatures = vec![DocumentSignature { key: id_of(by), bytes }];
    Envelope { kind: DocumentKind::Command, document, signatures }
}

fn signed(command: &Value, by: u8) -> Value {
    serde_json::from_slice(&envelope(command, by).write()).unwrap()
}

trait Fleet {
    async fn connect(&self) -> String;
    async fn give(&self, command: &Value, by: u8) -> CommandResult;
    async fn became(&self, id: &str, wait_s: u32) -> CommandResult;
}

impl Fleet for Counter {
    /// Begins a connection, and returns its nonce.
    async fn connect(&self) -> String {
        let (status, begun) = self.post_json("/v1/fleet/connection", json!({})).await;
        assert_eq!(status, 200, "{begun}");
        begun["nonce"].as_str().unwrap().to_owned()
    }

    async fn give(&self, command: &Value, by: u8) -> CommandResult {
        let (status, said) = self.post_json("/v1/fleet/commands", signed(command, by)).await;
        assert_eq!(status, 200, "{said}");
        serde_json::from_value(said).unwrap()
    }

    async fn became(&self, id: &str, wait_s: u32) -> CommandResult {
        let (status, said) = self.get(&format!("/v1/fleet/commands/{id}?wait-s={wait_s}")).await;
        assert_eq!(status, 200, "{said}");
        serde_json::from_value(said).unwrap()
    }
}

#[tokio::test]
async fn a_cloud_till_sells_once_however_often_its_command_comes() {
    let mut counter = open().await;
    let nonce = counter.connect().await;
    let asked = sale("s-1", 1, &nonce, "12.34");
    let first = counter.give(&asked, WEB).await;
    assert_eq!((first.code, first.body["till"].as_str()), (CommandCode::Running, Some("web")), "{first:?}");
    let by = &first.body["by"]["fleet"];
    assert_eq!((by["key"].as_str(), by["author"].as_str()), (Some("web shop"), Some("anna")));
    // The cashier sees who asks, as long as the transaction runs.
    assert!(first.body["text"].as_str().unwrap().starts_with("Payment asked by web: "), "{first:?}");
    for again in [counter.give(&asked, WEB).await, counter.became("s-1", 0).await] {
        assert_eq!((again.code, &again.body["number"]), (CommandCode::Running, &first.body["number"]));
    }
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    let done = counter.became("s-1", 60).await;
    assert_eq!((done.code, done.body["outcome"].as_str()), (CommandCode::Done, Some("approved")), "{done:?}");
    assert!(!done.body["text"].as_str().unwrap().contains("asked by"), "{done:?}");
    counter.shop.reader.remove();
    counter.until_free().await;
    let (one, two) = tokio::join!(counter.give(&asked, WEB), counter.give(&asked, WEB));
    for again in [one, two] {
        assert_eq!((again.code, &again.body["outcome"]), (CommandCode::Done, &done.body["outcome"]));
    }
    assert_eq!(counter.charged(), ["12.34 EUR"]);
    // The journal says who asked, and stays whole.
    counter.stop_agent().await;
    let entry = |text: &str| counter.marks().iter().filter(|mark| mark.contains(text)).count();
    assert_eq!(entry("\"is\":\"fleet-command\",\"id\":\"s-1\",\"kind\":\"sale\""), 1);
    assert_eq!(entry("\"keyName\":\"web shop\",\"counter\":1,\"author\":\"anna\""), 1);
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(counter.became("s-1", 0).await.body["outcome"], "approved");
}

impl Marks for Counter {
    fn marks(&self) -> Vec<String> {
        let path = self.shop.folder().join("journal.db");
        let db = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let mut rows = db.prepare("SELECT what FROM mark ORDER BY entry").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

trait Marks {
    fn marks(&self) -> Vec<String>;
}

#[tokio::test]
async fn what_is_not_right_is_refused_and_moves_no_money() {
    use CommandCode as C;
    let counter = open().await;
    let old = counter.connect().await;
    let nonce = counter.connect().await;
    assert_ne!(old, nonce);
    let good = |id: &str, counter: u64| sale(id, counter, &nonce, "1.00");
    let much = "1".repeat(41);
    let rows: Vec<(Value, u8, CommandCode)> = vec![
        (with(good("r-1", 1), "terminal", "shop-17-2"), WEB, C::WrongTerminal),
        (with(good("r-2", 1), "org", "other"), WEB, C::WrongTerminal),
        (good("r-3", 1), DESK, C::KeyNotAllowed),
        (good("r-4", 1), CONFIG, C::KeyNotAllowed),
        (command("restart", "r-5", 1, &nonce, json!({})), WEB, C::KeyNotAllowed),
        (command("restart", "r-6", 1, &nonce, json!({})), CONFIG, C::KeyNotAllowed),
        (with(good("r-7", 1), "kind", "shell"), WEB, C::Unsupported),
        (with(good("r-8", 1), "v", 2), WEB, C::Unsupported),
        (with(good("r-9", 1), "expires", in_s(-1)), WEB, C::Expired),
        (with(good("r-10", 1), "expires", in_s(90)), WEB, C::ExpiresTooLate),
        (with(good("r-11", 1), "nonce", old.clone()), WEB, C::StaleConnection),
        (with(good("r-12", 1), "nonce", Value::Null), WEB, C::StaleConnection),
        (good("r-13", 0), WEB, C::UsedCounter),
        (with(good("r-14", 1), "body", json!({})), WEB, C::Malformed),
        (with(good("r-15", 1), "body", json!({ "reference": "r-15", "amount": "1.00", "x": 1 })), WEB, C::Malformed),
        (with(good("r-16", 2), "body", json!({ "reference": "r-16", "amount": "0.001" })), WEB, C::Refused),
        (
            with(good("r-17", 3), "body", json!({ "reference": "r-17", "amount": "1.00", "training": "approved" })),
            WEB,
            C::Malformed,
        ),
        (with(good("r-18", 4), "author", much.repeat(13)), WEB, C::Done),
    ];
    for (command, by, code) in rows {
        let id = command["id"].as_str().unwrap().to_owned();
        let (status, said) = counter.post_json("/v1/fleet/commands", signed(&command, by)).await;
        if code == C::Done {
            // A text that is too long is no command at all.
            assert_eq!((status, said["code"].as_str()), (400, Some("malformed")), "{said}");
            continue;
        }
        assert_eq!((status, &said["code"]), (200, &json!(code)), "{id}: {said}");
        // The refusal stays: neither the same bytes nor corrected ones act under the same id.
        let is_stored = code != C::WrongTerminal;
        if is_stored {
            assert_eq!(counter.give(&command, by).await.code, code, "{id}");
            assert_eq!(counter.give(&sale(&id, 50, &nonce, "1.00"), WEB).await.code, C::IdTaken, "{id}");
            assert_eq!(counter.became(&id, 0).await.code, code, "{id}");
        }
        assert_eq!(counter.get(&format!("/v1/fleet/commands/{id}")).await.0, if is_stored { 200 } else { 404 });
    }
    assert!(counter.status().await.current.is_none() && counter.charged().is_empty());
    assert_eq!(counter.kept().len(), 0, "no transaction began");
}

#[tokio::test]
async fn who_is_unknown_gets_no_result_and_is_counted() {
    let counter = open().await;
    let nonce = counter.connect().await;
    let asked = sale("u-1", 1, &nonce, "1.00");
    let mut forged = signed(&asked, STRANGER);
    let refused = |said: (u16, Value)| (said.0, said.1["code"].as_str().unwrap().to_owned());
    let not_signed = (403, "not-signed".to_owned());
    assert_eq!(refused(counter.post_json("/v1/fleet/commands", forged.clone()).await), not_signed);
    // The id of a known key does not help, and neither does its signature of another document.
    forged["signatures"][0]["keyid"] = id_of(WEB).into();
    assert_eq!(refused(counter.post_json("/v1/fleet/commands", forged).await), not_signed);
    let mut other = signed(&asked, WEB);
    other["payload"] = signed(&sale("u-1", 1, &nonce, "9.00"), WEB)["payload"].clone();
    assert_eq!(refused(counter.post_json("/v1/fleet/commands", other).await), not_signed);
    let malformed = (400, "malformed".to_owned());
    assert_eq!(refused(counter.post_json("/v1/fleet/commands", json!({})).await), malformed);
    let mut settings = signed(&asked, WEB);
    settings["payloadType"] = "application/vnd.pos-agent.settings+json".into();
    assert_eq!(refused(counter.post_json("/v1/fleet/commands", settings).await), malformed);
    let long = json!({ "payload": "A".repeat(17 * 1024) });
    assert_eq!(refused(counter.post_json("/v1/fleet/commands", long).await), (413, "too-large".to_owned()));
    assert_eq!(refused(counter.get("/v1/fleet/commands/u-1").await), (404, "no-such-command".to_owned()));
    let (_, begun) = counter.post_json("/v1/fleet/connection", json!({})).await;
    assert_eq!(begun["notSigned"], 3, "{begun}");
    assert!(counter.charged().is_empty() && counter.kept().is_empty());
}

#[tokio::test]
async fn a_terminal_in_no_fleet_takes_no_command() {
    let counter = Counter::open().await;
    let (status, said) = counter.post_json("/v1/fleet/connection", json!({})).await;
    assert_eq!((status, said["code"].as_str()), (409, Some("no-fleet")), "{said}");
    let (status, said) = counter.post_json("/v1/fleet/commands", signed(&sale("n", 1, "", "1.00"), WEB)).await;
    assert_eq!((status, said["code"].as_str()), (409, Some("no-fleet")), "{said}");
}

#[tokio::test]
async fn counters_come_in_any_order_within_the_window_and_each_once() {
    use CommandCode as C;
    let counter = open().await;
    let nonce = counter.connect().await;
    let text = |n: u64, id: &str| command("message", id, n, &nonce, json!({ "text": format!("text {n}") }));
    for (id, n, code) in [
        ("c-1", 100, C::Done),
        ("c-2", 37, C::Done),
        ("c-3", 36, C::UsedCounter),
        ("c-4", 100, C::UsedCounter),
        ("c-5", 37, C::UsedCounter),
        ("c-6", 99, C::Done),
        ("c-7", 101, C::Done),
        ("c-8", 38, C::Done),
    ] {
        assert_eq!(counter.give(&text(n, id), DESK).await.code, code, "{id}");
    }
    // Another key has counters of its own.
    let asked = sale("c-9", 1, &nonce, "0.001");
    assert_eq!(counter.give(&asked, WEB).await.code, C::Refused);
    let (_, begun) = counter.post_json("/v1/fleet/connection", json!({})).await;
    let counters: BTreeMap<String, u64> = serde_json::from_value(begun["counters"].clone()).unwrap();
    let expected = [(WEB, 1), (DESK, 101), (CONFIG, 0), (SHOP, 0)].map(|(seed, highest)| (id_of(seed), highest));
    assert_eq!(counters, expected.into_iter().collect());
}

#[tokio::test]
async fn a_till_of_the_fleet_has_the_rights_of_its_entry_and_its_own_sales() {
    use CommandCode as C;
    let counter = open().await;
    let nonce = counter.connect().await;
    let body = |kind: &str| json!({ "reference": format!("ref-{kind}"), "kind": kind, "amount": "1.00" });
    let mut n = 0;
    let mut give = async |id: &str, kind: &str, body: Value, by: u8| {
        n += 1;
        counter.give(&command(kind, id, n, &nonce, body), by).await
    };
    for kind in ["refund", "capture", "reversal", "increment"] {
        let mut asked = body(kind);
        asked["of"] = "earlier".into();
        if kind == "reversal" {
            asked.as_object_mut().unwrap().remove("amount");
        }
        let refused = give(&format!("k-{kind}"), "sale", asked, WEB).await;
        assert_eq!((refused.code, refused.body["code"].as_str()), (C::Refused, Some("forbidden")), "{refused:?}");
        let told = refused.text.unwrap();
        assert!(told.contains("[[fleet.key]] table with till = \"web\""), "{told}");
    }
    for kind in ["credit", "pre-authorisation"] {
        let refused = give(&format!("k-{kind}"), "sale", body(kind), WEB).await;
        assert_eq!((refused.code, refused.body["code"].as_str()), (C::Refused, Some("forbidden")), "{refused:?}");
    }
    // The entry of the other till gives the right to refund, so only the earlier sale is missing.
    let mut refund = body("refund");
    refund["of"] = "earlier".into();
    let refused = give("k-kiosk", "sale", refund, SHOP).await;
    assert_eq!(refused.body["code"], "no-such-sale", "{refused:?}");
    let begun = give("k-sale", "sale", body("sale"), WEB).await;
    assert_eq!(begun.code, C::Running, "{begun:?}");
    let theirs = give("k-theirs", "cancel", json!({ "reference": "ref-sale" }), SHOP).await;
    assert_eq!((theirs.code, theirs.body["code"].as_str()), (C::Refused, Some("no-such-sale")), "{theirs:?}");
    let busy = give("k-busy", "sale", json!({ "reference": "other", "amount": "2.00" }), SHOP).await;
    assert_eq!((busy.code, busy.body["code"].as_str()), (C::Refused, Some("busy")), "{busy:?}");
    let cancelled = give("k-cancel", "cancel", json!({ "reference": "ref-sale" }), WEB).await;
    assert_eq!((cancelled.code, cancelled.body["cancel"].as_str()), (C::Done, Some("in-time")), "{cancelled:?}");
    assert_eq!(counter.became("k-sale", 10).await.body["outcome"], "cancelled");
    let confirmed = give("k-confirm", "confirm", json!({ "reference": "ref-sale", "taken": "all" }), WEB).await;
    assert_eq!(confirmed.body["code"], "no-confirmation-awaited", "{confirmed:?}");
    assert!(counter.charged().is_empty());
}

#[tokio::test]
async fn a_cloud_till_confirms_what_it_takes() {
    let counter = open().await;
    let nonce = counter.connect().await;
    let body = json!({ "reference": "r", "amount": "12.34", "confirm": "till", "onSilence": "reverse" });
    assert_eq!(counter.give(&command("sale", "f-1", 1, &nonce, body), WEB).await.code, CommandCode::Running);
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    let waits = counter.became("f-1", 60).await;
    assert_eq!((waits.code, waits.body["state"].as_str()), (CommandCode::Running, Some("awaiting-till")), "{waits:?}");
    let taken = json!({ "reference": "r", "taken": "all" });
    let confirmed = counter.give(&command("confirm", "f-2", 2, &nonce, taken), WEB).await;
    assert_eq!(confirmed.code, CommandCode::Done, "{confirmed:?}");
    let done = counter.became("f-1", 60).await;
    assert_eq!((done.code, done.body["outcome"].as_str()), (CommandCode::Done, Some("approved")), "{done:?}");
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn the_desk_shows_a_message_and_changes_nothing_else() {
    let counter = open().await;
    let nonce = counter.connect().await;
    let text = |id: &str, n: u64, text: &str| command("message", id, n, &nonce, json!({ "text": text }));
    let shown = async || {
        let status = counter.status().await;
        let found = status.attention.into_iter().find(|entry| entry.code == Attention::FleetMessage);
        found.map(|entry| entry.text)
    };
    assert_eq!(counter.give(&text("m-1", 1, "Paper comes\nat noon"), DESK).await.code, CommandCode::Done);
    assert_eq!(shown().await.as_deref(), Some("message from anna: Paper comesat noon"));
    assert!(counter.status().await.ready);
    assert_eq!(counter.give(&text("m-2", 2, "4111 1111 1111 1111"), DESK).await.code, CommandCode::Malformed);
    assert_eq!(counter.give(&text("m-3", 2, ""), DESK).await.code, CommandCode::Done);
    assert_eq!(shown().await, None);
    let level = command("log-level", "m-4", 3, &nonce, json!({ "level": "debug", "forS": 100_000 }));
    assert_eq!(counter.give(&level, DESK).await.code, CommandCode::Malformed);
    let full = command("restart", "m-5", 4, &nonce, json!({ "now": true }));
    assert_eq!(counter.give(&full, DESK).await.code, CommandCode::Malformed);
}

#[tokio::test]
async fn a_restart_waits_for_the_sale_and_is_answered_after_it() {
    let mut counter = open().await;
    let nonce = counter.connect().await;
    assert_eq!(counter.give(&sale("t-1", 1, &nonce, "12.34"), WEB).await.code, CommandCode::Running);
    let restart = command("restart", "t-2", 1, &nonce, json!({}));
    assert_eq!(counter.give(&restart, DESK).await.code, CommandCode::Running);
    // A later one replaces it, and it is never forced.
    let second = with(command("restart", "t-3", 2, &nonce, json!({})), "expires", in_s(600));
    assert_eq!(counter.give(&second, DESK).await.code, CommandCode::Running);
    assert_eq!(counter.became("t-2", 0).await.code, CommandCode::NotIdle);
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    assert_eq!(counter.became("t-1", 60).await.body["outcome"], "approved");
    counter.shop.reader.remove();
    assert_eq!(within("the restart", counter.agents_end()).await, AgentEnd::Restart);
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(counter.became("t-3", 0).await.code, CommandCode::Done);
    assert_eq!(counter.give(&second, DESK).await.code, CommandCode::Done, "it does not restart again");
    counter.until_ready().await;
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn a_restart_is_given_up_at_its_expiry() {
    let counter = open().await;
    let nonce = counter.connect().await;
    assert_eq!(counter.give(&sale("g-1", 1, &nonce, "12.34"), WEB).await.code, CommandCode::Running);
    let restart = with(command("restart", "g-2", 1, &nonce, json!({})), "expires", in_s(2));
    assert_eq!(counter.give(&restart, DESK).await.code, CommandCode::Running);
    assert_eq!(counter.became("g-2", 60).await.code, CommandCode::NotIdle);
    assert_eq!(counter.became("g-1", 0).await.body["state"], "waiting-for-card");
}

/// Writes a command into the journal as the agent does before it acts, and no more.
fn written_only(counter: &Counter, command: &Value, by: u8, reference: Option<&str>) {
    let (mut journal, _) = Journal::open(&counter.shop.folder().join("journal.db")).unwrap();
    let row = JudgedCommand {
        id: command["id"].as_str().unwrap().to_owned(),
        sha256: hex::encode(digest(&SHA256, &envelope(command, by).document)),
        kind: command["kind"].as_str().unwrap().to_owned(),
        key: id_of(by),
        counter: 1,
        till: reference.map(|_| "web".to_owned()),
        reference: reference.map(str::to_owned),
        answer: None,
        unix_ms: Utc::now().timestamp_millis(),
    };
    let used = UsedCounters { highest: 1, bits: 1 };
    let accepted = AcceptedCommand { key_name: "web shop".to_owned(), author: "anna".to_owned(), used };
    let entry = BookEntry::Command { command: &row, accepted: Some(&accepted) };
    journal.write(row.unix_ms, &[entry]).unwrap();
}

#[tokio::test]
async fn a_power_cut_between_the_journal_and_the_act_leaves_nothing_begun() {
    let mut counter = open().await;
    let nonce = counter.connect().await;
    let (cut, archive) = (sale("p-1", 1, &nonce, "12.34"), command("archive", "p-2", 1, &nonce, json!({})));
    counter.cut_power().await;
    written_only(&counter, &cut, WEB, Some("ref-p-1"));
    written_only(&counter, &archive, DESK, None);
    counter.start_agent();
    counter.until_ready().await;
    for (command, by) in [(&cut, WEB), (&archive, DESK)] {
        assert_eq!(counter.give(command, by).await.code, CommandCode::NotBegun);
        assert_eq!(counter.give(command, by).await.code, CommandCode::NotBegun, "and it stays so");
    }
    assert!(counter.kept().is_empty() && counter.charged().is_empty());
    // The same counter is used, and a new command sells.
    let nonce = counter.connect().await;
    assert_eq!(counter.give(&sale("p-3", 1, &nonce, "1.00"), WEB).await.code, CommandCode::UsedCounter);
    assert_eq!(counter.give(&sale("p-4", 2, &nonce, "1.00"), WEB).await.code, CommandCode::Running);
}

#[tokio::test]
async fn a_power_cut_during_and_after_the_sale_is_answered_from_the_ledger() {
    let mut counter = open().await;
    let nonce = counter.connect().await;
    let waiting = sale("l-1", 1, &nonce, "1.00");
    assert_eq!(counter.give(&waiting, WEB).await.code, CommandCode::Running);
    counter.cut_power().await;
    counter.start_agent();
    counter.until_ready().await;
    let said = counter.give(&waiting, WEB).await;
    assert_eq!((said.code, said.body["outcome"].as_str()), (CommandCode::Done, Some("not-sent")), "{said:?}");
    let nonce = counter.connect().await;
    let paid = sale("l-2", 2, &nonce, "12.34");
    assert_eq!(counter.give(&paid, WEB).await.code, CommandCode::Running);
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    assert_eq!(counter.became("l-2", 60).await.body["outcome"], "approved");
    counter.cut_power().await;
    // The power went off before these could be answered.
    let cancel = command("cancel", "l-3", 3, &nonce, json!({ "reference": "ref-l-2" }));
    let confirm = command("confirm", "l-4", 4, &nonce, json!({ "reference": "ref-l-2", "taken": "all" }));
    written_only(&counter, &cancel, WEB, Some("ref-l-2"));
    written_only(&counter, &confirm, WEB, Some("ref-l-2"));
    counter.shop.reader.remove();
    counter.start_agent();
    counter.until_ready().await;
    let said = counter.give(&paid, WEB).await;
    assert_eq!((said.code, said.body["outcome"].as_str()), (CommandCode::Done, Some("approved")), "{said:?}");
    let said = counter.give(&cancel, WEB).await;
    assert_eq!((said.code, said.body["cancel"].as_str()), (CommandCode::Done, Some("too-late")), "{said:?}");
    assert_eq!(said.body["outcome"], "approved", "a cancel answers what the ledger says");
    assert_eq!(counter.give(&confirm, WEB).await.code, CommandCode::NotBegun, "the till was not asked to confirm");
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_stops_every_command() {
    let counter = open().await;
    let nonce = counter.connect().await;
    let path = counter.shop.folder().join("journal.db");
    fs::rename(&path, path.with_extension("gone")).unwrap();
    let shown = command("message", "j-1", 1, &nonce, json!({ "text": "hello" }));
    for (asked, by) in [(shown, DESK), (sale("j-2", 1, &nonce, "1.00"), WEB)] {
        let (status, said) = counter.post_json("/v1/fleet/commands", signed(&asked, by)).await;
        assert_eq!((status, said["code"].as_str()), (503, Some("journal")), "{said}");
    }
    let status = counter.status().await;
    assert!(!status.needs(Attention::FleetMessage) && status.current.is_none(), "{status:?}");
}

#[tokio::test]
async fn an_old_disk_sells_nothing_with_an_old_command() {
    let mut counter = open().await;
    counter.stop_agent().await;
    let path = counter.shop.folder().join("journal.db");
    let old = fs::read(&path).unwrap();
    counter.start_agent();
    counter.until_ready().await;
    let nonce = counter.connect().await;
    let asked = sale("d-1", 1, &nonce, "12.34");
    counter.give(&asked, WEB).await;
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    assert_eq!(counter.became("d-1", 60).await.body["outcome"], "approved");
    counter.shop.reader.remove();
    counter.until_free().await;
    counter.stop_agent().await;
    fs::write(&path, old).unwrap();
    counter.start_agent();
    counter.until_free().await;
    // The journal does not know the command, and its counter is free again.
    assert_eq!(counter.get("/v1/fleet/commands/d-1").await.0, 404);
    let said = counter.give(&asked, WEB).await;
    assert_eq!(said.code, CommandCode::StaleConnection, "before a new connection");
    counter.connect().await;
    let other = with(asked.clone(), "id", "d-2");
    assert_eq!(counter.give(&other, WEB).await.code, CommandCode::StaleConnection);
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn a_clock_in_1970_sells_nothing_and_still_shows_a_message() {
    let mut counter = open().await;
    counter.stop_agent().await;
    let mut config = pos_agent::config::load(&counter.shop.config()).unwrap();
    // Without a reader, no other clock replaces the board's.
    config.reader.port = "/dev/none".to_owned();
    let board = Arc::new(|| DateTime::<Utc>::from_timestamp(3600, 0).unwrap());
    let (commands, received) = mpsc::channel(8);
    let wires = Wires { commands: received, progress: ProgressLog::new(8) };
    let surroundings = Surroundings { board, ..Surroundings::default() };
    let agent = tokio::spawn(pos_agent::agent::run_in(surroundings, wires, config, std::future::pending()));
    let (reply, begun) = oneshot::channel();
    commands.send(Command::Fleet(FleetRequest::Connect { reply })).await.unwrap();
    let nonce = begun.await.unwrap().unwrap().nonce;
    let give = async |command: Value, by: u8| {
        let (reply, taken) = oneshot::channel();
        let envelope = envelope(&command, by);
        commands.send(Command::Fleet(FleetRequest::Take { envelope: envelope.write(), reply })).await.unwrap();
        match taken.await.unwrap().unwrap() {
            FleetTaken::Answered(result) => result.code,
            FleetTaken::Act(order) => panic!("{order:?}"),
        }
    };
    let expires = "1970-01-01T01:00:30Z";
    let asked = with(sale("y-1", 1, &nonce, "1.00"), "expires", expires);
    assert_eq!(give(asked, WEB).await, CommandCode::ClockUnknown);
    let shown = command("message", "y-2", 1, &nonce, json!({ "text": "hello" }));
    assert_eq!(give(shown, DESK).await, CommandCode::Done, "the nonce replaces the clock");
    let replayed = command("message", "y-3", 2, "an older nonce", json!({ "text": "hello" }));
    assert_eq!(give(replayed, DESK).await, CommandCode::ClockUnknown);
    agent.abort();
}
