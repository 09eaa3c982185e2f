//! `cargo demo` as a person starts it: the real programs as processes, a pty, TLS, a printer, one sale, its exit code.
//!
//! What each card does is proved in `tests/sale.rs`; here it is that the programs fit together. That the demo's own agent is
//! built without the simulators cannot be seen from inside `cargo test`, which builds it with them: `.ci/run` looks.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::process::{Command, Output, Stdio};

/// `pos-sim demo --once …` with the agent of this test run.
fn demo(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pos-sim"))
        .args(["demo", "--once", "--agent", env!("CARGO_BIN_EXE_pos-agent")])
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .env_remove("RUST_LOG")
        .output()
        .unwrap()
}

/// Words of the command line, exit code, and what is on both copies of the receipt.
type Line = (&'static str, i32, &'static [&'static str]);

const DEMOS: &[Line] = &[
    ("--amount 12.34 --card chip-pin --entry insert", 0, &["CHIP", "12.34 EUR", "APPROVED", "PIN VERIFIED ONLINE"]),
    ("--card tap --entry tap", 0, &["CONTACTLESS", "APPROVED"]),
    ("--card tap-insert --entry tap", 0, &["CHIP", "APPROVED"]),
    ("--card swipe", 0, &["SWIPED", "APPROVED"]),
    // Swiped first, then inserted, then swiped because the chip is dead.
    ("--card chip-broken --entry swipe", 0, &["SWIPED (CHIP FAILED)", "APPROVED"]),
    ("--card chip-refuses", 1, &["CHIP", "REVERSED", "NOT CHARGED"]),
    ("--amount 5.51", 1, &["DECLINED", "NOT CHARGED"]),
    ("--amount 5.60", 4, &["PARTIALLY APPROVED", "2.80 EUR"]),
    ("--gateway-off", 69, &["NOT CHARGED"]),
];

#[test]
fn a_sale_ends_with_its_exit_code_and_two_receipts() {
    for (words, code, on_paper) in DEMOS {
        let output = demo(words);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(*code), "{words}: {output:?}");
        let copies: Vec<_> = said.split_inclusive(" COPY").filter(|text| text.ends_with(" COPY")).collect();
        assert_eq!(copies.len(), 2, "{words}: {said}");
        assert!(copies[0].ends_with("MERCHANT COPY") && copies[1].ends_with("CUSTOMER COPY"), "{words}: {said}");
        for word in *on_paper {
            assert!(copies.iter().all(|copy| copy.contains(word)), "{words}: {word} is missing:\n{said}");
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_before_the_shop_opens() {
    for (words, says) in [
        ("--card nonsense", "the deck has chip-pin"),
        ("--card chip-pin --entry tap", "chip-pin can be presented by insert, swipe"),
        ("--card swipe --entry insert", "swipe can be presented by swipe"),
        ("--unheard-of", "--help"),
    ] {
        let output = demo(words);
        assert_eq!(output.status.code(), Some(64), "{words}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{words}: {output:?}");
        assert!(output.stdout.is_empty(), "{words}: {output:?}");
    }
}

#[test]
fn an_agent_that_cannot_run_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_pos-sim"))
        .args(["demo", "--once", "--agent", "/no/such/pos-agent"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(70), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/pos-agent cannot be started"), "{output:?}");
}

#[test]
fn the_open_shop_ends_with_its_input_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pos-sim"))
        .args(["demo", "--agent", env!("CARGO_BIN_EXE_pos-agent")])
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    for word in ["The shop is open", "sale 12.34 --config", "chip-pin", "q quit"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the shop's folder was left behind");
}
