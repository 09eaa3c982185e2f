//! Questions to the person at the keyboard. Secrets are not shown while they are typed.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::exit::{Exit, Stop};
use super::out;
use crate::config::{self, SecretError};

/// The maximum length of a line, in bytes. Every answer is shorter, even a token with its line end.
const LONGEST: usize = 4100;
/// The bytes that a terminal window sends for Ctrl-C, Ctrl-D and the two kinds of backspace when it does not handle
/// them.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACES: [u8; 2] = [8, 127];

/// Returns the stop for questions that the person ended.
pub(super) fn gone() -> Stop {
    Stop::new(Exit::Cancelled, "stopped; nothing was written")
}

/// Returns whether a person can be asked.
pub(super) fn is_there() -> bool {
    io::stdin().is_terminal()
}

/// Asks a question. An empty answer means `usual`, or an empty text if there is no `usual`.
pub(super) fn ask(question: &str, usual: Option<&str>) -> Result<String, Stop> {
    match usual {
        Some(usual) => out::prompt(&format!("{question} [{usual}]: ")),
        None => out::prompt(&format!("{question}: ")),
    }
    let line = line()?;
    let typed = String::from_utf8_lossy(&line).trim().to_owned();
    Ok(if typed.is_empty() { usual.unwrap_or_default().to_owned() } else { typed })
}

/// Asks a yes-or-no question.
pub(super) fn agrees(question: &str, usual: bool) -> Result<bool, Stop> {
    loop {
        match ask(question, Some(if usual { "yes" } else { "no" }))?.to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => out::say("  please answer yes or no"),
        }
    }
}

/// Asks for a secret without showing it. The answer may be empty.
pub(super) fn ask_secret(question: &str) -> Result<Zeroizing<Vec<u8>>, Stop> {
    let typed = Unseen::begin().and_then(|unseen| {
        // Typed text is hidden before the question appears, because a person may type as soon as the question is
        // visible.
        out::prompt(&format!("{question}: "));
        let typed = hidden_line();
        drop(unseen);
        typed
    });
    // The line end was not shown either.
    out::say("");
    typed.map_err(failed)?.ok_or_else(gone)
}

/// Reads all of standard input as a secret.
pub(super) fn secret_from_input() -> Result<Zeroizing<Vec<u8>>, Stop> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST + 1));
    io::stdin().lock().take(LONGEST as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Reads the PIN of an operator who signs in, typed without being shown or given as a line of standard input.
pub(super) fn pin(operator: &str) -> Result<Zeroizing<Vec<u8>>, Stop> {
    if is_there() { ask_secret(&format!("PIN of {operator} (it is not shown)")) } else { line_from_input() }
}

/// Reads a line of standard input without showing it, and removes the line end.
pub(super) fn line_from_input() -> Result<Zeroizing<Vec<u8>>, Stop> {
    hidden_line().map_err(failed)?.ok_or_else(gone)
}

/// Checks a token against the rules of the configuration.
pub(super) fn judged(typed: &[u8]) -> Result<Zeroizing<String>, SecretError> {
    config::secret_line(typed, Path::new("the token"))
}

fn failed(error: io::Error) -> Stop {
    Stop::new(Exit::Io, format!("the terminal window cannot be read: {error}"))
}

/// Reads a line byte by byte, which leaves the rest of the input for the next question. Returns a stop at the end of
/// the input.
fn line() -> Result<Vec<u8>, Stop> {
    let mut line = Vec::new();
    let mut byte = [0_u8];
    loop {
        match rustix::io::read(io::stdin(), &mut byte) {
            Ok(0) if line.is_empty() => return Err(gone()),
            Ok(0) => return Ok(line),
            Ok(_) if byte[0] == b'\n' => return Ok(line),
            Ok(_) if line.len() < LONGEST => line.push(byte[0]),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
    }
}

/// Reads a line without the terminal window's line editing. Returns `None` if the person stops.
fn hidden_line() -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST));
    let mut byte = Zeroizing::new([0_u8]);
    loop {
        match rustix::io::read(io::stdin(), byte.as_mut_slice()) {
            Ok(0) => return Ok((!line.is_empty()).then_some(line)),
            Ok(_) => match byte[0] {
                b'\n' | b'\r' => return Ok(Some(line)),
                CTRL_C | CTRL_D => return Ok(None),
                rubbed if BACKSPACES.contains(&rubbed) => drop(line.pop()),
                // The buffer must not grow, because growing would leave a copy of the secret in memory.
                typed if line.len() < LONGEST => line.push(typed),
                _ => {}
            },
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A terminal window that hides typed text and passes on every key, including Ctrl-C. Dropping it restores the earlier
/// settings.
struct Unseen(Termios);

impl Unseen {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        unseen.special_codes[SpecialCodeIndex::VMIN] = 1;
        unseen.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &unseen)?;
        Ok(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // If the settings cannot be restored, the terminal window has been closed.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = io::stdout().flush();
    }
}
