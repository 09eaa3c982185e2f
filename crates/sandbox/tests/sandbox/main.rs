//! The sandbox as a program of another language meets it: a process, one line of JSON, and HTTP.
//!
//! | file | content |
//! |---|---|
//! | `main` | cards, faults, the ledger, pairing, webhooks |
//! | `examples` | the answers that the interface's description shows |
//! | `shop` | a running sandbox |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod examples;
mod shop;

use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

use shop::{PATIENCE, SANDBOX, Sandbox, with};

#[tokio::test]
async fn a_program_presents_cards_and_reads_the_ledger() {
    let sandbox = Sandbox::start(&[]).await;
    // The card may come before the sale, or after it.
    let card = json!({ "card": "chip-pin" });
    assert_eq!(sandbox.simulator(Method::POST, "/card", card.clone()).await.0, 202);
    let (status, twice) = sandbox.simulator(Method::POST, "/card", json!({ "card": "tap" })).await;
    assert_eq!((status, &twice["code"]), (409, &json!("card-presented")));
    sandbox.begin("first", "12.34").await;
    assert_eq!(sandbox.outcome("first").await, "approved");
    sandbox.begin("wrong-pin", "3.00").await;
    let wrong = json!({ "card": "chip-pin", "pin": "9999", "leaveIn": true, "wait": true });
    assert_eq!(sandbox.simulator(Method::POST, "/card", wrong).await.0, 200);
    assert_eq!(sandbox.outcome("wrong-pin").await, "declined");
    // A card that stays in the slot is in the way of the next one.
    assert_eq!(sandbox.simulator(Method::POST, "/card", card).await.1["code"], "card-presented");
    assert_eq!(sandbox.simulator(Method::DELETE, "/card", Value::Null).await.0, 204);
    assert_eq!(sandbox.simulator(Method::DELETE, "/card", Value::Null).await.0, 404);
    let (_, ledger) = sandbox.simulator(Method::GET, "/ledger", Value::Null).await;
    let entries: Vec<_> = ledger.as_array().unwrap().iter().map(|entry| (&entry["amount"], &entry["state"])).collect();
    assert_eq!(entries, [(&json!("12.34"), &json!("approved")), (&json!("3.00"), &json!("declined"))]);
    let (_, receipts) = sandbox.simulator(Method::GET, "/receipts", Value::Null).await;
    assert!(receipts[0].as_str().unwrap().contains("12.34"), "{receipts}");
}

#[tokio::test]
async fn a_card_presents_itself_and_faults_are_made_and_mended() {
    let sandbox = Sandbox::start(&["--auto", "tap-insert"]).await;
    // This card must be inserted after its tap.
    sandbox.begin("auto", "1.00").await;
    assert_eq!(sandbox.outcome("auto").await, "approved");
    assert_eq!(sandbox.simulator(Method::PUT, "/auto", json!({ "card": "tap" })).await.0, 200);
    for (path, broken, mended) in [
        ("/paper", json!({ "out": true }), json!({ "out": false })),
        ("/line", json!({ "gateway": "cut" }), json!({ "gateway": "restored" })),
    ] {
        assert_eq!(sandbox.simulator(Method::POST, path, broken).await.0, 204);
        assert_eq!(sandbox.simulator(Method::POST, path, mended).await.0, 204);
    }
    for program in ["agent", "front"] {
        assert_eq!(sandbox.simulator(Method::POST, "/power", json!({ "program": program })).await.0, 204);
    }
    assert_eq!(sandbox.outcome("auto").await, "approved", "the journal survives the power");
    sandbox.begin("after", "2.00").await;
    assert_eq!(sandbox.outcome("after").await, "approved");
    // A person at the terminal lets a till be paired.
    assert_eq!(sandbox.simulator(Method::POST, "/pairing", json!({ "open": true })).await.0, 200);
    let pair = format!("{}/front/pair", sandbox.text("http"));
    let (_, asked) = sandbox.ask(with(sandbox.client.post(&pair), &json!({ "name": "till-2" }))).await;
    let (_, waiting) = sandbox.simulator(Method::GET, "/pairing", Value::Null).await;
    let code = waiting["waiting"][0]["code"].as_str().unwrap().to_owned();
    assert_eq!(sandbox.simulator(Method::POST, "/pairing", json!({ "approve": code })).await.0, 200);
    let asked = format!("{pair}/{}", asked["request"].as_str().unwrap());
    let (status, paired) = sandbox.ask(with(sandbox.client.post(asked), &json!({ "code": code }))).await;
    assert_eq!((status, &paired["till"]), (201, &json!("till-2")));
    // The paired till takes a payment through the front, and another till does not see it.
    let sales = format!("{}/v1/sales", sandbox.text("http"));
    let sale = sandbox.client.post(&sales).bearer_auth(paired["token"].as_str().unwrap());
    let (status, begun) = sandbox.ask(with(sale, &json!({ "reference": "paired", "amount": "4.00" }))).await;
    assert_eq!((status, &begun["till"]), (201, &json!("till-2")), "{begun}");
    assert_eq!(sandbox.agent(Method::GET, "/v1/sales/paired", Value::Null).await.0, 404);
}

#[tokio::test]
async fn a_server_gets_signed_events_and_a_wrong_address_ends_the_sandbox() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let sandbox = Sandbox::start(&["--auto", "tap", "--webhook", &url]).await;
    assert!(sandbox.text("webhookSecret").starts_with("whsec_"));
    sandbox.begin("hooked", "1.00").await;
    let (mut stream, _) = timeout(PATIENCE, listener.accept()).await.expect("the front calls").unwrap();
    let mut head = vec![0; 4096];
    let length = timeout(PATIENCE, stream.read(&mut head)).await.expect("a head").unwrap();
    let head = String::from_utf8_lossy(&head[..length]).to_lowercase();
    assert!(head.starts_with("post /hook") && head.contains("webhook-signature: v1,"), "{head}");
    drop(sandbox);
    // Standard input stays open, and the program ends nevertheless.
    let mut wrong = Command::new(SANDBOX)
        .args(["--json", "--webhook", "ftp://127.0.0.1/"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let _input = wrong.stdin.take();
    assert_eq!(timeout(PATIENCE, wrong.wait()).await.expect("it ends").unwrap().code(), Some(70));
}

#[tokio::test]
async fn bad_input_gets_a_named_error() {
    let sandbox = Sandbox::start(&[]).await;
    for (method, path, body, expected) in [
        (Method::POST, "/card", json!({ "card": "none" }), (404, "no-such-card")),
        (Method::POST, "/card", json!({ "card": "chip-pin", "entry": "tap" }), (422, "entry")),
        (Method::POST, "/card", json!({ "card": "chip-pin", "entry": "throw" }), (422, "entry")),
        (Method::POST, "/card", json!({ "card": "tap", "pin": "12a4" }), (422, "pin")),
        (Method::POST, "/card", json!({ "card": "tap", "colour": "red" }), (400, "malformed")),
        (Method::PUT, "/auto", json!({ "card": "none" }), (404, "no-such-card")),
        (Method::POST, "/line", json!({}), (422, "line")),
        (Method::POST, "/line", json!({ "gateway": "slow" }), (400, "malformed")),
        (Method::POST, "/power", json!({ "program": "printer" }), (400, "malformed")),
        (Method::POST, "/pairing", json!({ "open": true, "approve": "1" }), (422, "pairing")),
        (Method::POST, "/pairing", json!({ "approve": "123456" }), (409, "pairing-refused")),
        (Method::PUT, "/card", json!({}), (405, "method-not-allowed")),
        (Method::GET, "/nowhere", Value::Null, (404, "not-found")),
    ] {
        let (status, problem) = sandbox.simulator(method.clone(), path, body.clone()).await;
        let code = problem["code"].as_str().unwrap_or_default();
        assert_eq!((status, code), expected, "{method} {path} {body}: {problem}");
        assert!(!problem["detail"].as_str().unwrap().is_empty());
    }
    let card = format!("{}/simulator/card", sandbox.text("simulator"));
    let large = with(sandbox.client.post(&card), &json!({ "card": "x".repeat(70_000) }));
    assert_eq!(sandbox.ask(large).await.0, 413);
    assert_eq!(sandbox.ask(sandbox.client.post(&card).body("{}")).await.0, 415, "a form of a web page");
    let rebound = with(sandbox.client.post(&card).header("Host", "evil.example"), &json!({ "card": "tap" }));
    assert_eq!(sandbox.ask(rebound).await.0, 421);
}

#[tokio::test]
async fn another_configuration_is_refused_and_a_folder_with_other_files_stays() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), "[reader]\nport = \"/dev/ttyACM0\"\n").unwrap();
    let ran = async |arguments: &[&str]| {
        let arguments: Vec<_> =
            arguments.iter().map(|word| word.replace("DIR", folder.path().to_str().unwrap())).collect();
        let output = Command::new(SANDBOX).args(arguments).stdin(Stdio::null()).output();
        let output = timeout(PATIENCE, output).await.expect("it ends").unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = ran(&["agent", "run", "--config", "DIR/config.toml"]).await;
    assert!(code == 65 && said.contains("not in the folder of a sandbox"), "{code} {said}");
    let (code, said) = ran(&["front", "run"]).await;
    assert!(code == 65 && said.contains("--config"), "{code} {said}");
    let (code, said) = ran(&["--json", "--folder", "DIR"]).await;
    assert!(code == 64 && said.contains("contains other files"), "{code} {said}");
    assert!(folder.path().join("config.toml").exists());
    let (code, said) = ran(&["--auto", "no-card"]).await;
    assert!(code == 64 && said.contains("chip-pin"), "{code} {said}");
}

/// Returns the process of the sandbox's agent.
fn agent_of(sandbox: u32) -> i32 {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let mut agents = processes.filter(|process| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
        read("status").lines().any(|line| line == format!("PPid:\t{sandbox}"))
            && read("cmdline").contains("\0agent\0run")
    });
    agents.next().expect("the agent runs").parse().unwrap()
}

#[tokio::test]
async fn a_program_that_ends_without_being_asked_ends_the_sandbox() {
    let mut sandbox = Sandbox::start(&[]).await;
    let agent = rustix::process::Pid::from_raw(agent_of(sandbox.process.id().unwrap())).unwrap();
    rustix::process::kill_process(agent, rustix::process::Signal::KILL).unwrap();
    let _input = sandbox.process.stdin.take();
    let ended = timeout(PATIENCE, sandbox.process.wait()).await.expect("it ends").unwrap();
    assert_eq!(ended.code(), Some(70));
}

#[tokio::test]
async fn it_ends_with_its_input_and_removes_its_folder() {
    let mut sandbox = Sandbox::start(&[]).await;
    let folder = std::path::PathBuf::from(sandbox.text("folder"));
    assert!(folder.join("journal.db").exists());
    drop(sandbox.process.stdin.take());
    let ended = timeout(PATIENCE, sandbox.process.wait()).await.expect("it ends").unwrap();
    assert!(ended.success());
    assert!(!folder.exists());
}
