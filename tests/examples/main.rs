//! The manual's examples. The manual includes these files unchanged. Each example makes a sale with the real program
//! and the simulators, over a connection that loses the answer to the first request.
//!
//! | File | Subject |
//! |---|---|
//! | `sale` | a sale in Rust, next to `sale.sh`, `sale.py` and `sale.mjs` |
//!
//! The last three need curl, Python and Node.js. A plain `cargo test` therefore leaves them out and says so. `.ci/run`
//! installs these programs (lap "examples of the manual"), and a missing program is a failure there.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

#[allow(dead_code, clippy::print_stdout, clippy::print_stderr, unreachable_pub, reason = "a program of its own")]
#[path = "sale.rs"]
mod sale;

use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pos_sim::reader::deck::card;
use pos_sim::reader::{CardEntry, WaitsFor};
use pos_sim::shop::{Options, TILL_TOKEN};
use pos_test_kit::program;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use crate::program::{Terminal, get, own_address, token};

/// Opens a terminal, and a customer who taps a card. Returns the address of a proxy to the terminal's port. The proxy
/// loses the first answer.
async fn open(place: u8) -> (Arc<Terminal>, String, Arc<AtomicUsize>) {
    let terminal = Arc::new(Terminal::start(Options::default(), own_address(place)).await);
    terminal.until_status("a ready terminal", |status| status.ready).await;
    let customer = Arc::clone(&terminal);
    tokio::spawn(async move {
        let reader = &customer.shop.reader;
        reader.until(|screen| screen.waits_for == WaitsFor::Card).await;
        reader.present(card("tap").unwrap(), CardEntry::Tap);
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, lost) = (listener.local_addr().unwrap().to_string(), Arc::new(AtomicUsize::new(0)));
    let (agent, losing) = (terminal.http.clone(), Arc::clone(&lost));
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(&agent).await.unwrap();
            let is_lost = losing.fetch_add(1, Ordering::SeqCst) == 0;
            tokio::spawn(async move {
                if is_lost {
                    lose(&mut near, &mut far).await;
                } else {
                    let _ = copy_bidirectional(&mut near, &mut far).await;
                }
            });
        }
    });
    (terminal, address, lost)
}

/// Delivers the request and loses its answer.
async fn lose(near: &mut TcpStream, far: &mut TcpStream) {
    let (mut request, mut answer) = (vec![0; 4096], [0; 1]);
    loop {
        tokio::select! {
            read = near.read(&mut request) => match read.unwrap_or_default() {
                0 => return,
                read => far.write_all(&request[..read]).await.unwrap(),
            },
            _ = far.read(&mut answer) => return,
        }
    }
}

/// Checks that there is exactly one sale, of 12.34, with this reference.
async fn assert_sold_once(terminal: &Terminal, reference: &str) {
    let sales = terminal.at_port(&get("/v1/sales", &token())).await.json();
    let sales = sales["sales"].as_array().unwrap();
    assert_eq!(sales.len(), 1, "{sales:?}");
    assert_eq!((&sales[0]["reference"], &sales[0]["outcome"]), (&reference.into(), &"approved".into()));
}

async fn runs(place: u8, program: &str, file: &str) {
    let (terminal, address, connections) = open(place).await;
    let token_file = terminal.shop.folder().join("token-of-the-till");
    fs::write(&token_file, TILL_TOKEN).unwrap();
    let told = Command::new(program)
        .arg(format!("{}/tests/examples/{file}", env!("CARGO_MANIFEST_DIR")))
        .args(["order-4711", "12.34"])
        .env("POS_AGENT", format!("http://{address}"))
        .env("POS_AGENT_TOKEN_FILE", &token_file)
        .env("no_proxy", "127.0.0.1")
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap_or_else(|error| panic!("{program}: {error}; .ci/run installs it"));
    let said = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{said}\n{}", String::from_utf8_lossy(&told.stderr));
    assert!(said.contains("approved: APPROVED") && said.contains("12.34"), "{said}");
    assert!(connections.load(Ordering::SeqCst) > 1, "nothing was lost");
    assert_sold_once(&terminal, "order-4711").await;
}

#[tokio::test]
#[ignore = "needs curl: .ci/run installs it"]
async fn a_sale_with_curl() {
    runs(1, "sh", "sale.sh").await;
}

#[tokio::test]
#[ignore = "needs Python: .ci/run installs it"]
async fn a_sale_in_python() {
    runs(2, "python3", "sale.py").await;
}

#[tokio::test]
#[ignore = "needs Node.js: .ci/run installs it"]
async fn a_sale_in_javascript() {
    runs(3, "node", "sale.mjs").await;
}

#[tokio::test]
async fn a_sale_in_rust() {
    let (terminal, address, connections) = open(4).await;
    let till = sale::Terminal { address, token: TILL_TOKEN.to_owned() };
    let receipt = tokio::task::spawn_blocking(move || till.sell("order-4711", "12.34")).await.unwrap().unwrap();
    assert!(receipt.contains("12.34"), "{receipt}");
    assert!(connections.load(Ordering::SeqCst) > 1, "nothing was lost");
    assert_sold_once(&terminal, "order-4711").await;
}
