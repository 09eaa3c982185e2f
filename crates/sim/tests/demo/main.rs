//! Tests `cargo demo` as a person starts it: the real programs as processes, a pty, TLS, a printer, one sale, and its
//! exit code.
//!
//! The agent's `tests/terminal/sale.rs` checks the behaviour of each card. The tests here check that the programs work
//! together.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use self::terminal::{Terminal, cells, start};

mod panes;
mod picture;
mod states;
mod terminal;

/// Returns the path of the agent, which is in the same folder as the simulators' program.
fn agent() -> PathBuf {
    let agent = Path::new(env!("CARGO_BIN_EXE_pos-sim")).with_file_name("pos-agent");
    assert!(agent.exists(), "{} is not there; run: cargo build --package pos-agent", agent.display());
    agent
}

/// Runs `pos-sim demo --once …` with the agent of this test run.
fn demo(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pos-sim"))
        .args(["demo", "--once", "--agent"])
        .arg(agent())
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .env_remove("RUST_LOG")
        .output()
        .unwrap()
}

/// The command-line arguments, the exit code, and the text on both copies of the receipt.
type Line = (&'static str, i32, &'static [&'static str]);

const DEMOS: &[Line] = &[
    ("--amount 12.34 --card chip-pin --entry insert", 0, &["CHIP", "12.34 EUR", "APPROVED", "PIN VERIFIED ONLINE"]),
    ("--card tap --entry tap", 0, &["CONTACTLESS", "APPROVED"]),
    ("--card tap-insert --entry tap", 0, &["CHIP", "APPROVED"]),
    ("--card swipe", 0, &["SWIPED", "APPROVED"]),
    // The card is swiped first, then inserted, and then swiped again because the chip does not answer.
    ("--card chip-broken --entry swipe", 0, &["SWIPED (CHIP FAILED)", "APPROVED"]),
    ("--card chip-refuses", 5, &["CHIP", "REVERSED", "NOT CHARGED"]),
    ("--amount 5.51", 1, &["DECLINED", "NOT CHARGED"]),
    ("--amount 5.60", 4, &["PARTIALLY APPROVED", "2.80 EUR"]),
    ("--gateway-off", 69, &["NOT CARRIED OUT", "NOT CHARGED"]),
];

/// The sentences about the person's actions, as in the open shop.
const TOLD: &[(&str, &[&str])] = &[
    ("--card swipe", &["You swipe the card swipe."]),
    (
        "--card chip-broken --entry insert",
        &["You insert the card chip-broken.", "You take the card out of the slot.", "You swipe the card chip-broken."],
    ),
    ("--gateway-off", &["You cut the network.", "You insert the card chip-pin."]),
];

#[test]
fn what_hands_do_is_told_in_the_sentences_of_the_open_shop() {
    for (words, sentences) in TOLD {
        let output = demo(words);
        let said = String::from_utf8_lossy(&output.stdout);
        let told: Vec<_> = said.lines().filter(|line| line.starts_with("You ")).collect();
        assert_eq!(told, *sentences, "{words}: {said}");
    }
}

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
        ("--card chip-pin --entry tap", "chip-pin accepts only insert or swipe"),
        ("--card swipe --entry insert", "swipe accepts only swipe"),
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
        .args(["demo", "--agent"])
        .arg(agent())
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    for word in
        ["The shop is open", "sale 12.34 --config", "1 chip-pin", "Q debit", "b  Refund the last sale", "q  Quit."]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the shop's folder was left behind");
}

#[test]
fn a_shop_on_one_screen_from_the_first_sale_through_a_power_cut_to_the_end() {
    let mut shop = Terminal::open("xterm-256color", &[]);
    shop.shows(&["agent ready", "Press n to start a sale.", "WELCOME", "1 chip-pin", "Receipts 0", "q quit"]);
    assert!(shop.emulator.screen().alternate_screen());

    shop.press("n");
    shop.shows(&["New sale", "12.34", "It is declined: there is not enough money in the account."]);
    shop.press("\r");
    shop.shows(&["demo-1: Waiting for a card to pay 12.34 EUR", "INSERT, TAP OR SWIPE", "i insert  s swipe"]);
    shop.press("i");
    shop.shows(&["demo-1: APPROVED 12.34 EUR", "REMOVE CARD", "It holds chip-pin.", "PIN ****"]);
    shop.press("r");
    shop.shows(&["Receipts 2", "CUSTOMER COPY", "Ready for the next sale", "The slot is empty."]);
    // PgUp shows the middle of the receipt.
    shop.press("\x1b[5~\x1b[5~\x1b[5~");
    shop.shows(&["PIN VERIFIED ONLINE"]);
    shop.press("\t");
    shop.shows(&["12.34 EUR  sale 1 by chip: charged", "charged in all: 12.34 EUR"]);
    shop.press("d");
    shop.says("The agent already knows demo-1 and does nothing twice.");
    shop.shows(&["Ledger 1"]);

    // The payment is approved, but the answer never arrives. The power is cut while the agent waits for it.
    shop.press("n5.71\r");
    shop.shows(&["demo-2: Waiting for a card to pay 5.71 EUR", "INSERT, TAP OR SWIPE"]);
    shop.press("9t");
    shop.shows(&["5.71 EUR  sale 2 by tapping: charged", "charged in all: 18.05 EUR", "demo-2: Authorising"]);
    shop.press("k");
    shop.shows(&["agent no power", "k give the agent its power back"]);
    shop.says("The agent is no longer running.");
    // The power is restored automatically. A second `k` after that would cut it again.
    shop.says("The agent has power again.");
    shop.shows(&["5.71 EUR  sale 2 by tapping: reversed"]);
    shop.shows(&["void of sale 2", "charged in all: 12.34 EUR", "agent ready"]);

    shop.resize(120, 40);
    shop.shows(&["Receipts 4", "Ledger of the gateway", "charged in all: 12.34 EUR", "H chip-offline-pin"]);
    shop.press("q");
    shop.ends_and_gives_the_terminal_back();
}

#[test]
fn a_signal_gives_the_terminal_back_too() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut shop = Terminal::open("xterm", &[]);
        shop.shows(&["agent ready"]);
        shop.send(signal);
        shop.ends_and_gives_the_terminal_back();
    }
}

#[test]
fn a_terminal_that_hangs_up_ends_the_shop() {
    let folder = tempfile::tempdir().unwrap();
    let (mut demo, outside, inside) = start("xterm", &[], folder.path());
    drop(inside);
    let (mut outside, mut emulator) = (File::from(outside), vt100::Parser::new(cells(24), cells(80), 0));
    let mut bytes = [0; 4096];
    while !emulator.screen().contents().contains("agent ready") {
        let count = outside.read(&mut bytes).unwrap();
        emulator.process(&bytes[..count]);
    }
    drop(outside);
    demo.wait().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the shop's folder was left behind");
}

#[test]
fn a_terminal_that_can_do_no_more_gets_lines() {
    for (term, more) in [("dumb", &[][..]), ("xterm-256color", &["--plain"])] {
        let mut shop = Terminal::open(term, more);
        // The card list is longer than the screen, so the screen shows only its end.
        shop.shows(&["Q debit", "It is a debit card of another brand.", "[ WELCOME ]  It is idle."]);
        assert!(!shop.emulator.screen().alternate_screen(), "{term} {more:?}");
        shop.press("i");
        shop.shows(&["You insert the card chip-pin."]);
        shop.press("n\r");
        shop.shows(&[
            "You ask for 12.34 EUR; the sale is demo-1.",
            "[ 12.34 EUR / ENTER PIN ]  The customer types the PIN.",
        ]);
        shop.shows(&["APPROVED 12.34 EUR", "Take the card out."]);
        shop.press("r");
        shop.shows(&["You take the card out of the slot."]);
        shop.shows(&["CUSTOMER COPY"]);
        shop.press("b5\r");
        // A receipt may be printed between the two, and it fills the screen.
        shop.shows(&["You refund 5.00 EUR of demo-1; the refund is demo-2."]);
        shop.shows(&["REFUND APPROVED 5.00 EUR"]);
        shop.press("z");
        shop.shows(&["Refunds                          1            5.00 EUR", "Not sent"]);
        shop.press("q");
        shop.ends_and_gives_the_terminal_back();
    }
}
