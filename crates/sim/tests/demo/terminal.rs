//! The demo in a pseudo-terminal, read by a terminal emulator. The test sends keys and reads the visible screen.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::panes::{panes, panes_are_whole, words};

/// Words that a screen shows only if not everything fits.
const OF_NARROW_SCREENS: [&str; 6] = ["more", "earlier", "Tab", "receipts", "ledger", "Ledger"];

/// The number of bytes after which the screen is checked.
const PIECE: usize = 256;
/// The time-out for one whole step of a person, on a slow and busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The demo in a terminal. The test sends keys and reads the visible screen.
pub(crate) struct Terminal {
    demo: Child,
    keys: File,
    /// The demo's side of the terminal, kept open so that the test can read its settings afterwards.
    _inside: OwnedFd,
    output: mpsc::Receiver<Vec<u8>>,
    /// Output that is not yet on the screen.
    waiting: Vec<u8>,
    pub(crate) emulator: vt100::Parser,
    folder: tempfile::TempDir,
}

impl Terminal {
    pub(crate) fn open(term: &str, more: &[&str]) -> Self {
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

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until all these texts are on the screen at the same time.
    pub(crate) fn shows(&mut self, words: &[&str]) {
        self.until(|screen| words.iter().all(|word| screen.contents().contains(word)), &format!("{words:?}"));
    }

    /// Waits until this sentence is shown whole, in one pane or across the whole width, on any number of lines.
    pub(crate) fn says(&mut self, sentence: &str) {
        self.until(|screen| panes(screen).iter().any(|pane| pane.contains(sentence)), sentence);
    }

    #[allow(clippy::disallowed_methods, reason = "a deadline of the test itself, over however many pieces of output")]
    pub(crate) fn until(&mut self, wanted: impl Fn(&vt100::Screen) -> bool, what: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !wanted(self.emulator.screen()) {
            if self.waiting.is_empty() {
                let left = deadline.saturating_duration_since(Instant::now());
                match self.output.recv_timeout(left) {
                    Ok(bytes) => self.waiting = bytes,
                    Err(error) => panic!("{what}: {error}; the screen:\n{}", self.emulator.screen().contents()),
                }
            }
            // The output is processed in small chunks, so a text that is visible only briefly is also found.
            let next = self.waiting.drain(..self.waiting.len().min(PIECE)).collect::<Vec<_>>();
            self.emulator.process(&next);
        }
    }

    /// Checks that no word is cut at this size. Each word must also be on a screen where everything fits.
    pub(crate) fn cuts_no_word(&mut self, size: (u16, u16)) {
        let mut pieces = Vec::new();
        // The check is repeated if the screen has changed between the two readings.
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

    /// Returns the words on the screen after it was drawn again at this size.
    fn words_at(&mut self, (width, height): (u16, u16)) -> BTreeSet<String> {
        self.emulator.process(b"\x1b[2J");
        self.resize(width, height);
        // These texts are drawn last.
        let ends = |screen: &vt100::Screen| {
            let last = screen.rows(0, width).last().unwrap_or_default();
            last.contains("q quit") || last.contains("back to the shop")
        };
        self.until(ends, "a screen drawn to its end");
        words(self.emulator.screen())
    }

    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.emulator.screen_mut().set_size(cells(height), cells(width));
        tcsetwinsize(&self.keys, size(width, height)).unwrap();
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.demo), signal).unwrap();
    }

    /// Checks that the demo ends with 0, restores the terminal, and leaves no processes or files.
    pub(crate) fn ends_and_gives_the_terminal_back(mut self) {
        assert_eq!(self.demo.wait().unwrap().code(), Some(0));
        self.until(|screen| !screen.alternate_screen() && !screen.hide_cursor(), "the screen before, and its cursor");
        let modes = tcgetattr(&self.keys).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "{modes:?}");
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 0, "the shop's folder was left behind");
    }
}

/// Starts the demo in a new terminal. Returns the process, the person's side, and the demo's side.
pub(crate) fn start(term: &str, more: &[&str], folder: &Path) -> (Child, OwnedFd, OwnedFd) {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&outside).unwrap();
    unlockpt(&outside).unwrap();
    let inside =
        open(ptsname(&outside, Vec::new()).unwrap(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
            .unwrap();
    tcsetwinsize(&outside, size(80, 24)).unwrap();
    // The demo gets a new session, so that it uses this terminal and not the terminal of the tests. `setsid` replaces
    // itself with the demo, so the process is the same.
    let demo = Command::new("setsid")
        .args(["--ctty", env!("CARGO_BIN_EXE_pos-sim"), "demo", "--agent"])
        .arg(super::agent())
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
        // After a failed test, this ends the demo, and the demo ends its agent.
        if let Ok(None) = self.demo.try_wait() {
            self.send(Signal::TERM);
            let _ = self.demo.wait();
        }
    }
}

pub(crate) fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

fn size(width: u16, height: u16) -> Winsize {
    Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }
}
