//! `cargo demo` as a person starts it: the real programs as processes, a pty, TLS, a printer, one sale, its exit code.
//!
//! What each card does is proved in `tests/sale.rs`; here it is that the programs fit together. That the demo's own agent is
//! built without the simulators cannot be seen from inside `cargo test`, which builds it with them: `.ci/run` looks.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::collections::BTreeSet;
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
    ("--gateway-off", 69, &["NOT CHARGED"]),
];

/// What is told of the person's hands, in the words of the open shop.
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
        ("--card chip-pin --entry tap", "chip-pin can be presented by insert or swipe"),
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
    for word in
        ["The shop is open", "sale 12.34 --config", "1 chip-pin", "Q debit", "b  Refund the last sale", "q  Quit."]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the shop's folder was left behind");
}

// ---- The screen, in a real pseudo-terminal, read by a terminal emulator -------------------------------------------------

/// Bytes after which the screen is looked at.
const PIECE: usize = 256;
/// For a whole step of a person, on a slow and busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The demo in a terminal: keys go in, what a person would see comes out.
struct Terminal {
    demo: Child,
    keys: File,
    /// The demo's side of the terminal, kept open so that its settings can be read afterwards.
    _inside: OwnedFd,
    output: mpsc::Receiver<Vec<u8>>,
    /// What came and is not on the screen yet.
    waiting: Vec<u8>,
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
        Self {
            demo,
            keys,
            _inside: inside,
            output,
            waiting: Vec::new(),
            emulator: vt100::Parser::new(cells(24), cells(80), 0),
            folder,
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until every one of these is on the screen at once.
    fn shows(&mut self, words: &[&str]) {
        self.until(|screen| words.iter().all(|word| screen.contents().contains(word)), &format!("{words:?}"));
    }

    /// Waits until this sentence stands whole, in one pane or over the whole width, on however many lines.
    fn says(&mut self, sentence: &str) {
        self.until(|screen| panes(screen).iter().any(|pane| pane.contains(sentence)), sentence);
    }

    #[allow(clippy::disallowed_methods, reason = "a deadline of the test itself, over however many pieces of output")]
    fn until(&mut self, wanted: impl Fn(&vt100::Screen) -> bool, what: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !wanted(self.emulator.screen()) {
            if self.waiting.is_empty() {
                let left = deadline.saturating_duration_since(Instant::now());
                match self.output.recv_timeout(left) {
                    Ok(bytes) => self.waiting = bytes,
                    Err(error) => panic!("{what}: {error}; the screen:\n{}", self.emulator.screen().contents()),
                }
            }
            // A little at a time: what stands on the screen for a moment only is seen all the same.
            let next = self.waiting.drain(..self.waiting.len().min(PIECE)).collect::<Vec<_>>();
            self.emulator.process(&next);
        }
    }

    /// At this size no word is cut: each one that stands there stands on a screen with room for everything too.
    fn cuts_no_word(&mut self, size: (u16, u16)) {
        let mut pieces = Vec::new();
        // Again when something was told between the two.
        for _ in 0..5 {
            let whole = self.words_at((200, 60));
            let small = self.words_at(size);
            panes_are_whole(self.emulator.screen());
            pieces =
                small.difference(&whole).filter(|word| !OF_NARROW_SCREENS.contains(&word.as_str())).cloned().collect();
            if pieces.is_empty() {
                return;
            }
        }
        panic!("{pieces:?} at {size:?}:\n{}", self.emulator.screen().contents());
    }

    /// The words of the screen, drawn anew at this size.
    fn words_at(&mut self, (width, height): (u16, u16)) -> BTreeSet<String> {
        self.emulator.process(b"\x1b[2J");
        self.resize(width, height);
        // What is drawn last.
        let ends = |screen: &vt100::Screen| {
            let last = screen.rows(0, width).last().unwrap_or_default();
            last.contains("q quit") || last.contains("back to the shop")
        };
        self.until(ends, "a screen drawn to its end");
        let border = |c: char| c.is_whitespace() || ('─'..='╿').contains(&c) || "▲▼▏›…".contains(c);
        let text = self.emulator.screen().contents();
        // Paths are longer than a line can be.
        let is_word =
            |word: &&str| word.contains(char::is_alphabetic) && !word.contains('/') && !word.contains("pos-shop");
        text.split(border).filter(is_word).map(str::to_owned).collect()
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

/// What a screen says only when there is no room for everything.
const OF_NARROW_SCREENS: [&str; 6] = ["more", "earlier", "Tab", "receipts", "ledger", "Ledger"];

/// The corners of a pane or a sheet.
const CORNERS: [[&str; 5]; 2] = [["╭", "╮", "╰", "╯", "│"], ["╔", "╗", "╚", "╝", "║"]];

/// Where a pane is: the columns and rows of its border.
struct Pane {
    left: u16,
    right: u16,
    top: u16,
    bottom: u16,
    side: &'static str,
}

fn symbol(screen: &vt100::Screen, row: u16, column: u16) -> String {
    screen.cell(row, column).map(|cell| cell.contents().to_owned()).unwrap_or_default()
}

/// Every pane that has its four corners.
fn borders(screen: &vt100::Screen) -> Vec<Pane> {
    let (height, width) = screen.size();
    let mut panes = Vec::new();
    for (top, left) in (0..height.get()).flat_map(|row| (0..width.get()).map(move |column| (row, column))) {
        let Some([_, right, bottom, last, side]) =
            CORNERS.iter().find(|corners| symbol(screen, top, left) == corners[0])
        else {
            continue;
        };
        let right = (left..width.get()).find(|column| symbol(screen, top, *column) == *right);
        let bottom = (top..height.get()).find(|row| symbol(screen, *row, left) == *bottom);
        if let (Some(right), Some(bottom)) = (right, bottom)
            && symbol(screen, bottom, right) == *last
        {
            panes.push(Pane { left, right, top, bottom, side });
        }
    }
    panes
}

/// What stands in each pane, and on the whole screen: its words with a blank between two.
fn panes(screen: &vt100::Screen) -> Vec<String> {
    let in_one = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let pane = |Pane { left, right, top, bottom, .. }: &Pane| {
        let rows = (top + 1..*bottom).map(|row| {
            (left + 1..*right)
                .map(|column| symbol(screen, row, column))
                .map(|text| if text.is_empty() { " ".to_owned() } else { text })
                .collect::<String>()
        });
        in_one(rows.collect::<Vec<_>>().join(" "))
    };
    let mut all: Vec<String> = borders(screen).iter().map(pane).collect();
    all.push(in_one(screen.contents()));
    all
}

/// No pane lies over another: the border of each is there to its end, and no two have a cell in common.
fn panes_are_whole(screen: &vt100::Screen) {
    let panes = borders(screen);
    assert!(!panes.is_empty(), "no pane:\n{}", screen.contents());
    let mut taken = BTreeSet::new();
    for Pane { left, right, top, bottom, side } in panes {
        for row in top + 1..bottom {
            for column in [left, right] {
                assert_eq!(symbol(screen, row, column), side, "row {row}, column {column}:\n{}", screen.contents());
            }
        }
        for cell in (top..=bottom).flat_map(|row| (left..=right).map(move |column| (row, column))) {
            assert!(taken.insert(cell), "two panes at {cell:?}:\n{}", screen.contents());
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
    shop.shows(&["agent ready", "Press n to start a sale.", "WELCOME", "1 chip-pin", "Receipts 0", "q quit"]);
    assert!(shop.emulator.screen().alternate_screen());

    shop.press("n");
    shop.shows(&["New sale", "12.34", "It is declined: there is not enough money on the account."]);
    shop.press("\r");
    shop.shows(&["demo-1: Waiting for a card to pay 12.34 EUR", "INSERT, TAP OR SWIPE", "i insert  s swipe"]);
    shop.press("i");
    shop.shows(&["demo-1: APPROVED 12.34 EUR", "REMOVE CARD", "It holds chip-pin.", "PIN ****"]);
    shop.press("r");
    shop.shows(&["Receipts 2", "CUSTOMER COPY", "Ready for the next sale", "The slot is empty."]);
    // PgUp: the receipt's middle.
    shop.press("\x1b[5~\x1b[5~\x1b[5~");
    shop.shows(&["PIN VERIFIED ONLINE"]);
    shop.press("\t");
    shop.shows(&["12.34 EUR  sale 1 by chip: charged", "charged in all: 12.34 EUR"]);
    shop.press("d");
    shop.says("The agent knows demo-1 already and does nothing a second time.");
    shop.shows(&["Ledger 1"]);

    // Approved, and the answer never comes: the power goes while the agent waits for it.
    shop.press("n5.71\r");
    shop.shows(&["demo-2: Waiting for a card to pay 5.71 EUR", "INSERT, TAP OR SWIPE"]);
    shop.press("9t");
    shop.shows(&["5.71 EUR  sale 2 by tapping: charged", "charged in all: 18.05 EUR", "demo-2: Authorising"]);
    shop.press("k");
    shop.shows(&["agent no power", "k give the agent its power back"]);
    shop.says("The agent does not run any more.");
    shop.press("k");
    shop.says("The agent has power again.");
    shop.shows(&["5.71 EUR  sale 2 by tapping: taken back"]);
    shop.shows(&["void of sale 2", "charged in all: 12.34 EUR", "agent ready"]);

    shop.resize(120, 40);
    shop.shows(&["Receipts 4", "Ledger of the gateway", "charged in all: 12.34 EUR", "H chip-offline-pin"]);
    shop.press("q");
    shop.ends_and_gives_the_terminal_back();
}

#[test]
fn nothing_is_cut_off_at_80_by_24() {
    every_state((80, 24));
}

#[test]
fn nothing_is_cut_off_at_120_by_40() {
    every_state((120, 40));
}

/// Drives the shop through all that can be seen in it: in every state its sentence stands whole, and no word is cut.
fn every_state(size: (u16, u16)) {
    let mut shop = Terminal::open("xterm-256color", &[]);
    shop.resize(size.0, size.1);
    shop.shows(&["agent ready"]);
    shop.says("Press n to start a sale. Press ? to see what all keys do.");
    shop.cuts_no_word(size);

    // A sale with PIN. What the reader shows of the amount is what the agent has sent to it.
    shop.press("n\r");
    shop.says("12.34 EUR INSERT, TAP OR SWIPE It waits for a card. The slot is empty.");
    shop.cuts_no_word(size);
    shop.press("i");
    shop.says("12.34 EUR ENTER PIN * The customer types the PIN. It holds chip-pin.");
    shop.says("12.34 EUR APPROVED REMOVE CARD Take the card out. It holds chip-pin.");
    shop.says("demo-1: APPROVED 12.34 EUR");
    shop.cuts_no_word(size);
    takes_the_card(&mut shop);

    for (amount, says) in [("5.51", "demo-2: DECLINED, not charged"), ("5.60", "demo-3: PARTIALLY APPROVED")] {
        shop.press(&format!("2n{amount}\ri"));
        shop.says(says);
        shop.cuts_no_word(size);
        takes_the_card(&mut shop);
    }

    shop.press("Fn\ri");
    shop.says("You insert the card chip-signature.");
    shop.says("Its chip wants a signature.");
    shop.shows(&["SIGNATURE NEEDED", "y signature ok  f forged"]);
    shop.cuts_no_word(size);
    shop.press("y");
    shop.says("You accept the signature: it is the one on the card.");
    shop.says("demo-4: APPROVED 12.34 EUR");
    takes_the_card(&mut shop);

    // A part of it is given back, then it cannot be voided any more.
    shop.press("b");
    shop.says("How much of demo-4 is given back? Enter alone gives back all.");
    shop.cuts_no_word(size);
    shop.press("5\r");
    shop.says("You refund 5.00 EUR of demo-4; the refund is demo-5.");
    shop.says("demo-5: REFUND APPROVED 5.00 EUR");
    shop.cuts_no_word(size);
    shop.press("v");
    shop.says("The agent does not begin demo-6, and no money moves.");
    shop.cuts_no_word(size);

    // The tip is typed on the reader, and the card is asked for both together. Then all of it is undone.
    shop.press("2m\r");
    shop.says("12.34 EUR ENTER TIP Type the tip on the reader. The slot is empty.");
    shop.cuts_no_word(size);
    shop.press("200");
    shop.says("12.34 EUR ENTER TIP 2.00 EUR Type the tip on the reader.");
    shop.press("\r");
    shop.says("14.34 EUR INSERT, TAP OR SWIPE");
    shop.press("i");
    shop.says("demo-7: APPROVED 14.34 EUR");
    takes_the_card(&mut shop);
    shop.press("v");
    shop.says("You void demo-7; the void is demo-8.");
    shop.shows(&["demo-8: REVERSAL APPROVED 14.34 EUR"]);
    shop.cuts_no_word(size);

    // The ledger of the gateway, and the totals of the agent.
    shop.press("\t");
    shop.shows(&["14.34 EUR  sale 6 by chip: taken back", "14.34 EUR  void of sale 6", "charged in all: 22.48 EUR"]);
    shop.cuts_no_word(size);
    shop.press("z");
    shop.shows(&[
        "Refunds                          1            5.00 EUR",
        "Sales                            4",
        "Declined",
    ]);
    shop.cuts_no_word(size);
    shop.press("z?");
    shop.says("Take a card in your hand. ↑ and ↓ take the one before or after.");
    shop.says("q Quit.");
    shop.cuts_no_word(size);
    shop.press(" ");
    shop.says("The agent is the real one. Take a payment from a second terminal like this:");
    shop.cuts_no_word(size);
    shop.press(" p");

    shop.says("You take the paper out of the printer.");
    shop.press("n\ri");
    shop.says("demo-9: APPROVED 12.34 EUR");
    takes_the_card(&mut shop);
    shop.says("The printer is out of paper");
    shop.cuts_no_word(size);
    shop.press("ppp");
    shop.says("You switch the printer on.");

    // Approved without an answer, and then nobody can be asked any more.
    shop.press("n5.71\ri");
    shop.shows(&["5.71 EUR  sale 9 by chip: charged"]);
    shop.press("g");
    shop.says("You cut the network.");
    shop.shows(&["network off", "UNCONFIRMED"]);
    shop.cuts_no_word(size);
    takes_the_card(&mut shop);
    shop.press("n\ri");
    shop.shows(&["demo-11: NOT SENT"]);
    shop.cuts_no_word(size);
    shop.press("q");
    shop.ends_and_gives_the_terminal_back();
}

/// The card is taken out, and the terminal is ready for the next sale.
fn takes_the_card(shop: &mut Terminal) {
    shop.shows(&["REMOVE CARD"]);
    shop.press("r");
    shop.says("The slot is empty.");
    shop.until(|screen| !screen.contents().contains("agent busy"), "a terminal that is ready");
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
        shop.shows(&["Q debit", "It is a debit card of another brand.", "[ WELCOME ]  It has nothing to do."]);
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
        shop.shows(&["You refund 5.00 EUR of demo-1; the refund is demo-2.", "REFUND APPROVED 5.00 EUR"]);
        shop.press("z");
        shop.shows(&["Refunds                          1            5.00 EUR", "Not sent"]);
        shop.press("q");
        shop.ends_and_gives_the_terminal_back();
    }
}
