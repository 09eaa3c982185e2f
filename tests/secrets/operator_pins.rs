//! Operators' PINs (correct, wrong, or in the wrong place) and the stored data about them. They appear in no answer, no
//! log at its finest level, no support archive, no export and no command-line output. Only the journal's file contains
//! the digests. Their key is in a file next to it that other users cannot read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use pos_sim::shop::Options;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::counter::{Counter, till};
use crate::leak::{Kept, Secret};
use crate::support_archive::{doctor, stop, unpacked};

const RIGHT: &str = "862435917046";
const OTHER: &str = "973546028157";
const WRONG: &str = "084657139268";

#[tokio::test]
async fn a_pin_and_what_is_kept_of_it_are_said_nowhere() {
    let counter = Counter::closed(Options::default()).await;
    let config = counter.shop.config();
    let mut agent = till::program(&["run", "--config", config.to_str().unwrap(), "--log", "trace"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = agent.stderr.take().unwrap();
    let log = tokio::spawn(async move {
        let mut log = Vec::new();
        stderr.read_to_end(&mut log).await.unwrap();
        log
    });
    counter.until_free().await;
    let mut outputs = Vec::new();
    for (arguments, input) in [
        (vec!["operator", "add", "Anna", "--role", "cashier", "--pin-stdin"], OTHER),
        (vec!["operator", "pin", "Anna", "--pin-stdin", "--json"], RIGHT),
        (vec!["status", "--operator", "Anna"], RIGHT),
        (vec!["status", "--operator", "Anna", "--json"], WRONG),
        (vec!["operator", "list", "--json"], ""),
    ] {
        let mut child = till::program(&arguments)
            .arg("--socket")
            .arg(counter.shop.socket())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        let output = pos_test_kit::within("a verb", child.wait_with_output()).await.unwrap();
        outputs.push((arguments.join(" "), [output.stdout, output.stderr].concat()));
    }
    assert!(String::from_utf8_lossy(&outputs[0].1).contains("Anna was added"), "{outputs:?}");
    let http = reqwest::Client::builder().unix_socket(counter.shop.socket()).no_proxy().pool_max_idle_per_host(0);
    let http = http.build().unwrap();
    let number: u64 = WRONG.parse().unwrap();
    let bodies: Vec<String> = [
        json!({ "operator": "Anna", "pin": RIGHT }),
        json!({ "operator": "Anna", "pin": WRONG }),
        json!({ "operator": "Anna", "pin": format!("x{WRONG}") }),
        json!({ "operator": WRONG, "pin": "Anna" }),
        json!({ "operator": WRONG, "pin": RIGHT }),
        json!({ "operator": number, "pin": number }),
        json!({ "operator": "Anna", "pin": [WRONG] }),
        json!({ "operator": "Anna", "pin": { WRONG: WRONG } }),
    ]
    .iter()
    .map(Value::to_string)
    .chain([format!("{{\"operator\":\"Anna\",\"pin\":\"{WRONG}"), format!("{WRONG} is my PIN")])
    .collect();
    for (n, body) in bodies.into_iter().enumerate() {
        for path in ["/v1/sessions", "/v1/operators", "/v1/operators/Anna/pin", "/v1/approvals"] {
            let request = http.post(format!("http://till{path}")).header("content-type", "application/json");
            let answer = pos_test_kit::within(path, request.body(body.clone()).send()).await.unwrap();
            let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
            assert!(n > 0 || path != "/v1/sessions" || status == 201, "{text}");
            outputs.push((format!("{path} {n}"), text.into_bytes()));
        }
    }
    for path in ["/v1/operators", "/v1/status", "/v1/metrics"] {
        let text = http.get(format!("http://till{path}")).send().await.unwrap().text().await.unwrap();
        outputs.push((path.to_owned(), text.into_bytes()));
    }
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("support.tar");
    let told = doctor(&config, &archive, None).await;
    outputs.push(("doctor".to_owned(), [told.stdout, told.stderr].concat()));
    outputs.extend(unpacked(&archive).into_iter().map(|(name, text)| (name, text.into_bytes())));
    for arguments in [["journal", "export"], ["journal", "verify"], ["operator", "history"]] {
        let mut command = till::program(&arguments);
        let output = pos_test_kit::within("a verb", command.arg("--config").arg(&config).output()).await.unwrap();
        assert!(output.status.success(), "{output:?}");
        outputs.push((arguments.join(" "), [output.stdout, output.stderr].concat()));
    }
    stop(&mut agent).await;
    let log = log.await.unwrap();
    let text = String::from_utf8_lossy(&log);
    assert!(text.contains("a wrong name or PIN") && text.contains("an operator's PIN was changed"), "{text}");
    outputs.push(("the log".to_owned(), log));

    let key = counter.shop.folder().join("journal.db.pin-key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o7777, 0o600);
    let file = counter.shop.folder().join("journal.db");
    let book = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?));
    let (hash, salt) = book.query_row("SELECT hash, salt FROM operator", [], row).unwrap();
    let mut secrets = vec![
        Secret::bytes("the digest of a PIN", &hash),
        Secret::bytes("its salt", &salt),
        Secret::bytes("the key of the digests", &fs::read(&key).unwrap()),
    ];
    secrets.extend([RIGHT, OTHER, WRONG].map(|pin| Secret::text("a PIN", pin)));
    for (name, bytes) in &outputs {
        let kept = Kept::new(name, bytes);
        for secret in &secrets {
            if let Some(found) = kept.shows(secret) {
                panic!("{name} says {}, {}: {}", secret.what, found.how, found.around);
            }
        }
    }
}
