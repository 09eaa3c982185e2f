//! schemathesis makes valid and invalid requests from the description that the agent serves, and checks each answer
//! against it. Failures are: a status that is not described, a body that does not match its schema, an accepted request
//! that the agent should refuse, and any 5xx. `schemathesis.toml` lists exceptions that a description cannot express.

use std::process::Stdio;
use std::sync::Arc;

use pos_sim::reader::deck::card;
use pos_sim::reader::{CardEntry, Key, WaitsFor};
use pos_sim::shop::Options;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, UnixStream};
use tokio::process::Command;

use crate::program::{Terminal, get, own_address};

/// The environment variable with the folder of the Python packages. `.ci/run` sets it.
const PACKAGES: &str = "POS_AGENT_SCHEMATHESIS";

/// The number of requests of each kind for each route. With this number, the run takes a minute.
const EXAMPLES: &str = "20";

/// Sends all requests of schemathesis to the Unix socket as the agent's own user, who has every right.
#[tokio::test]
#[ignore = "needs Python packages: .ci/run installs them"]
async fn every_answer_is_as_described() {
    let packages = std::env::var(PACKAGES).unwrap_or_else(|_| panic!("{PACKAGES} names no folder: see .ci/run"));
    let mut options = Options::default();
    options.config.push(("card-timeout-s = 60".to_owned(), "card-timeout-s = 5".to_owned()));
    options.reader.removes_card = true;
    let terminal = Arc::new(Terminal::start(options, own_address(1)).await);
    terminal.until_status("a ready terminal", |status| status.ready).await;
    let customer = Arc::clone(&terminal);
    tokio::spawn(async move {
        let reader = &customer.shop.reader;
        loop {
            reader.until(|screen| matches!(screen.waits_for, WaitsFor::Card | WaitsFor::Number)).await;
            let waits_for = reader.watch().borrow().waits_for;
            match waits_for {
                WaitsFor::Card => reader.present(card("tap").unwrap(), CardEntry::Tap),
                _ => reader.key(Key::Cancel),
            }
            reader.until(|screen| screen.waits_for == WaitsFor::Agent).await;
        }
    });
    let description = terminal.shop.folder().join("openapi.json");
    std::fs::write(&description, terminal.at_socket(&get("/v1/openapi.json", "")).await.2).unwrap();

    let validator = format!("{packages}/bin/openapi-spec-validator");
    let told = Command::new(validator).arg(&description).output().await.unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stdout));

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let socket = terminal.shop.socket();
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let socket = socket.clone();
            tokio::spawn(async move {
                let mut far = UnixStream::connect(socket).await.unwrap();
                let _ = copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    let told = Command::new(format!("{packages}/bin/schemathesis"))
        .args(["--config-file", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/schemathesis.toml"), "run"])
        .arg(&description)
        .args(["--url", &format!("http://{address}"), "--max-examples", EXAMPLES, "--seed", "1"])
        // An endless stream is not an answer that can be checked. It has separate tests.
        .args(["--exclude-path", "/v1/events", "--request-timeout", "60", "--no-color"])
        // The agent closes a connection that was idle for ten seconds. That may happen just when the connection is used
        // again.
        .args(["--request-retries", "3"])
        .current_dir(terminal.shop.folder())
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&told.stdout);
    println!("{said}");
    assert!(told.status.success(), "{}\n{}", String::from_utf8_lossy(&told.stderr), terminal.log());
    terminal.until_status("a terminal that still works", |status| status.ready).await;
}
