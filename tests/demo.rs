//! `cargo demo` as a person starts it: the real programs as processes, a pty, TLS, a printer, one sale, its exit code.
//!
//! What each card does is proved in `tests/sale.rs`; here it is that the programs fit together. That the demo's own agent is
//! built without the simulators cannot be seen from inside `cargo test`, which builds it with them: `.ci/run` looks.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

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
    ("--gateway-off", 69, &["NOT CARRIED OUT", "NOT CHARGED"]),
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

// ---- The screen, in a real pseudo-terminal, read by a terminal emulator -------------------------------------------------

/// For a whole step of a person, on a slow and busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The demo in a terminal: keys go in, what a person would see comes out.
struct Terminal {
    demo: Child,
    keys: File,
    /// The demo's side of the terminal, kept open so that its settings can be read afterwards.
    _inside: OwnedFd,
    output: mpsc::Receiver<Vec<u8>>,
    emulator: vt100::Parser,
    folder: tempfile::TempDir,
}

impl Terminal {
    fn open(term: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (demo, outside, inside) = start(term, more, folder.path());
        let keys = File::from(outside);
        let mut screen = keys.try_clone().unwrap();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { demo, keys, _inside: inside, output, emulator: vt100::Parser::new(cells(24), cells(80), 0), folder }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until every one of these is on the screen at once.
    fn shows(&mut self, words: &[&str]) {
        self.until(|screen| words.iter().all(|word| screen.contents().contains(word)), &format!("{words:?}"));
    }

    #[allow(clippy::disallowed_methods, reason = "a deadline of the test itself, over however many pieces of output")]
    fn until(&mut self, wanted: impl Fn(&vt100::Screen) -> bool, what: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !wanted(self.emulator.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.emulator.process(&bytes),
                Err(error) => panic!("{what}: {error}; the screen:\n{}", self.emulator.screen().contents()),
            }
        }
    }

    fn resize(&mut self, width: u16, height: u16) {
        self.emulator.screen_mut().set_size(cells(height), cells(width));
        tcsetwinsize(&self.keys, size(width, height)).unwrap();
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.demo), signal).unwrap();
    }

    /// The demo ends with 0, the terminal is as it was, and nothing is left behind.
    fn ends_and_gives_the_terminal_back(mut self) {
        assert_eq!(self.demo.wait().unwrap().code(), Some(0));
        self.until(|screen| !screen.alternate_screen() && !screen.hide_cursor(), "the screen before, and its cursor");
        let modes = tcgetattr(&self.keys).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "{modes:?}");
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 0, "the shop's folder was left behind");
    }
}

/// Starts the demo in a new terminal: the process, the person's side, and the demo's.
fn start(term: &str, more: &[&str], folder: &Path) -> (Child, OwnedFd, OwnedFd) {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&outside).unwrap();
    unlockpt(&outside).unwrap();
    let inside =
        open(ptsname(&outside, Vec::new()).unwrap(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
            .unwrap();
    tcsetwinsize(&outside, size(80, 24)).unwrap();
    // A session of its own, so that the demo sees this terminal and not the one in which the tests run. It replaces itself
    // by the demo: the process is the same.
    let demo = Command::new("setsid")
        .args(["--ctty", env!("CARGO_BIN_EXE_pos-sim"), "demo", "--agent", env!("CARGO_BIN_EXE_pos-agent")])
        .args(more)
        .env("TERM", term)
        .env("TMPDIR", folder)
        .env_remove("RUST_LOG")
        .stdin(inside.try_clone().unwrap())
        .stdout(inside.try_clone().unwrap())
        .stderr(inside.try_clone().unwrap())
        .spawn()
        .unwrap();
    (demo, outside, inside)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // After a test that failed: it ends its agent with it.
        if let Ok(None) = self.demo.try_wait() {
            self.send(Signal::TERM);
            let _ = self.demo.wait();
        }
    }
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

fn size(width: u16, height: u16) -> Winsize {
    Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }
}

#[test]
fn a_shop_on_one_screen_from_the_first_sale_through_a_power_cut_to_the_end() {
    let mut shop = Terminal::open("xterm-256color", &[]);
    shop.shows(&["agent ready", "Press n to start a sale", "WELCOME", "1 chip-pin", "Receipts 0", "q quit"]);
    assert!(shop.emulator.screen().alternate_screen());

    shop.press("n");
    shop.shows(&["New sale", "12.34", "declined: insufficient funds"]);
    shop.press("\r");
    shop.shows(&["demo-1: Waiting for a card to pay 12.34 EUR", "INSERT, TAP OR SWIPE", "i insert  s swipe"]);
    shop.press("i");
    shop.shows(&["demo-1: APPROVED 12.34 EUR", "REMOVE CARD", "in the slot: chip-pin", "PIN ****"]);
    shop.press("r");
    shop.shows(&["Receipts 2", "CUSTOMER COPY", "Ready for the next sale", "the slot is empty"]);
    // PgUp: the receipt's middle.
    shop.press("\x1b[5~\x1b[5~\x1b[5~");
    shop.shows(&["PIN VERIFIED ONLINE"]);
    shop.press("\t");
    shop.shows(&["12.34 EUR  charged   sale 1 ICC", "charged in all: 12.34 EUR"]);
    shop.press("d");
    shop.shows(&["replayed: demo-1 is known, no second sale", "Ledger 1"]);

    // Approved, and the answer never comes: the power goes while the agent waits for it.
    shop.press("n5.71\r");
    shop.shows(&["demo-2: Waiting for a card to pay 5.71 EUR", "INSERT, TAP OR SWIPE"]);
    shop.press("9t");
    shop.shows(&["5.71 EUR  charged   sale 2", "charged in all: 18.05 EUR", "demo-2: Authorising"]);
    shop.press("k");
    shop.shows(&["agent no power", "the agent is gone", "k power back"]);
    shop.press("k");
    shop.shows(&["the agent runs", "demo-2: DECLINED, reversed, not charged", "5.71 EUR  reversed  sale 2"]);
    shop.shows(&["reversal of sale 2", "charged in all: 12.34 EUR", "agent ready"]);

    shop.resize(120, 40);
    shop.shows(&["Receipts 4", "Ledger of the gateway", "charged in all: 12.34 EUR", "E swipe-pin"]);
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
        // The card list is longer than the screen: its end is what stands there.
        shop.shows(&["E swipe-pin", "stripe only: PIN"]);
        assert!(!shop.emulator.screen().alternate_screen(), "{term} {more:?}");
        shop.press("i");
        shop.shows(&["you      insert the card chip-pin"]);
        shop.press("q");
        shop.ends_and_gives_the_terminal_back();
    }
}
