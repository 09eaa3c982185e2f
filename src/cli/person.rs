//! The person at the terminal: questions, answers, and a secret that is not shown while it is typed.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::exit::{Exit, Stop};
use super::out;
use crate::config::{self, SecretError};

/// The longest line that is read; more than any answer, a token with its end included.
const LONGEST: usize = 4100;
/// What a terminal sends for Ctrl-C, Ctrl-D and the two kinds of backspace, when it sends them on.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACES: [u8; 2] = [8, 127];

/// What was said to the end of the questions.
pub(super) fn gone() -> Stop {
    Stop::new(Exit::Cancelled, "stopped; nothing was written")
}

/// Whether anybody can be asked.
pub(super) fn is_there() -> bool {
    io::stdin().is_terminal()
}

/// Asks; an empty answer is the `usual` one. None without one.
pub(super) fn ask(question: &str, usual: Option<&str>) -> Result<String, Stop> {
    match usual {
        Some(usual) => out::prompt(&format!("{question} [{usual}]: ")),
        None => out::prompt(&format!("{question}: ")),
    }
    let line = line()?;
    let typed = String::from_utf8_lossy(&line).trim().to_owned();
    Ok(if typed.is_empty() { usual.unwrap_or_default().to_owned() } else { typed })
}

/// Asks for yes or no.
pub(super) fn agrees(question: &str, usual: bool) -> Result<bool, Stop> {
    loop {
        match ask(question, Some(if usual { "yes" } else { "no" }))?.to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => out::say("  please answer yes or no"),
        }
    }
}

/// Asks for a secret without showing it; an empty answer is none.
pub(super) fn ask_secret(question: &str) -> Result<Zeroizing<Vec<u8>>, Stop> {
    let typed = Unseen::begin().and_then(|unseen| {
        // Not before: what is typed as soon as the question stands there must not be shown.
        out::prompt(&format!("{question}: "));
        let typed = hidden_line();
        drop(unseen);
        typed
    });
    // What ended the line was not shown either.
    out::say("");
    typed.map_err(failed)?.ok_or_else(gone)
}

/// The secret on standard input, of which nobody sees anything.
pub(super) fn secret_from_input() -> Result<Zeroizing<Vec<u8>>, Stop> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST + 1));
    io::stdin().lock().take(LONGEST as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The PIN of an operator who signs in: typed unseen, or a line of standard input.
pub(super) fn pin(operator: &str) -> Result<Zeroizing<Vec<u8>>, Stop> {
    if is_there() { ask_secret(&format!("PIN of {operator} (it is not shown)")) } else { line_from_input() }
}

/// The line on standard input, of which nobody sees anything; without its end.
pub(super) fn line_from_input() -> Result<Zeroizing<Vec<u8>>, Stop> {
    hidden_line().map_err(failed)?.ok_or_else(gone)
}

/// A token in the words of the configuration's rules.
pub(super) fn judged(typed: &[u8]) -> Result<Zeroizing<String>, SecretError> {
    config::secret_line(typed, Path::new("the token"))
}

fn failed(error: io::Error) -> Stop {
    Stop::new(Exit::Io, format!("the terminal cannot be read: {error}"))
}

/// A line, byte by byte, so that what follows stays for the next question. The end of the input is the end of the
/// questions.
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

/// A line that the terminal does not edit; `None` when the person stops.
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
                // The buffer must not grow: a copy would stay behind.
                typed if line.len() < LONGEST => line.push(typed),
                _ => {}
            },
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A terminal that shows nothing of what is typed and hands on each key, Ctrl-C too: it is as it was when this goes.
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
        // A terminal that cannot be set any more is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = io::stdout().flush();
    }
}
