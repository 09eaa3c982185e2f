//! The known boards: the ports of their readers and printers, their udev rules, and the additions to their systemd
//! unit.
//!
//! They are compiled into the program, because they are small and `pos-agent setup` then works as soon as the program
//! has been copied. A board that is not among them has its own file in the same form, given by its path.
//!
//! Not here: the contents of a configuration (`config`), and the command that uses them (`cli::setup`).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A board of the folder `board/`.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The folder's name.
    pub name: &'static str,
    /// The content of `board.toml`.
    pub text: &'static str,
    /// The content of `README.md`: the facts with their sources.
    pub readme: &'static str,
    /// The content of `udev.rules`: stable names for the board's own ports.
    pub rules: &'static str,
    /// The content of `pos-agent.service.d/board.conf`, where the unit needs more.
    pub unit: Option<&'static str>,
}

macro_rules! known {
    ($name:literal) => {
        known!($name, None)
    };
    ($name:literal with a drop-in) => {
        known!($name, Some(include_str!(concat!("../board/", $name, "/pos-agent.service.d/board.conf"))))
    };
    ($name:literal, $unit:expr) => {
        Known {
            name: $name,
            text: include_str!(concat!("../board/", $name, "/board.toml")),
            readme: include_str!(concat!("../board/", $name, "/README.md")),
            rules: include_str!(concat!("../board/", $name, "/udev.rules")),
            unit: $unit,
        }
    };
}

/// Every board of the folder `board/`, by name.
pub const KNOWN: [Known; 7] = [
    known!("beaglebone-black" with a drop-in),
    known!("generic-aarch64"),
    known!("generic-armv7"),
    known!("imx6ull-evk" with a drop-in),
    known!("qemu-virt"),
    known!("raspberry-pi"),
    known!("stm32mp157-dk2" with a drop-in),
];

/// The facts about a board: its `board.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Board {
    /// The name for people.
    pub title: String,
    /// Beginnings of `/proc/device-tree/model` that identify the board.
    #[serde(default)]
    pub models: Vec<String>,
    /// True if the program was run on the real board.
    #[serde(default)]
    pub tried_on_hardware: bool,
    /// Ports to look for a reader, the likeliest first.
    pub reader_ports: Vec<String>,
    /// The reader's line speed, in baud.
    pub reader_baud: u32,
    /// Ports to look for a printer, the likeliest first.
    pub printer_ports: Vec<String>,
    /// Characters per line of the printer.
    pub printer_columns: u8,
    /// The driver of its hardware watchdog.
    pub watchdog: Option<String>,
    /// The longest time-out of the watchdog, in seconds.
    pub watchdog_longest_s: Option<u32>,
    /// Serial ports of the board, each with its description.
    #[serde(default)]
    pub serial: BTreeMap<String, String>,
}

/// The reason why there is no such board.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that is not on the list.
    #[error("there is no board {name}; pos-agent boards lists them; give your own file with its path, as ./board.toml")]
    Unknown {
        /// The given name.
        name: String,
    },
    /// A file that cannot be read.
    #[error("{}: cannot be read: {cause}; give the path of a board file, or a name from pos-agent boards", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// A file that describes no board.
    #[error("{file}: {what}; compare it with pos-agent boards generic-armv7 --file")]
    Malformed {
        /// The file.
        file: String,
        /// The fault, with its place.
        what: String,
    },
}

/// Returns the known board of this name.
///
/// # Errors
/// [`Error::Unknown`].
pub fn known(name: &str) -> Result<&'static Known, Error> {
    KNOWN.iter().find(|known| known.name == name).ok_or_else(|| Error::Unknown { name: name.to_owned() })
}

/// Loads a board by its name, or from a file: an argument with a `/` is a path.
///
/// # Errors
/// Every [`Error`].
pub fn load(name: &str) -> Result<Board, Error> {
    if !name.contains('/') {
        return parse(known(name)?.text, name);
    }
    let unreadable = |cause| Error::Unreadable { file: name.into(), cause };
    parse(&fs::read_to_string(name).map_err(unreadable)?, name)
}

/// Returns the known board whose model begins like this one (`/proc/device-tree/model`).
#[must_use]
pub fn recognised(model: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| {
        let board = known.board();
        board.models.iter().any(|beginning| model.starts_with(beginning.as_str()))
    })
}

/// Returns the device tree's name of this board; `None` where there is no device tree.
#[must_use]
pub fn model() -> Option<String> {
    let bytes = fs::read(Path::new("/proc/device-tree/model")).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
}

impl Known {
    /// Returns the facts about the board.
    ///
    /// # Panics
    /// Never: a test reads each of the files.
    #[must_use]
    pub fn board(&self) -> Board {
        parse(self.text, self.name).expect("tests/rules/boards.rs parses every board")
    }
}

fn parse(text: &str, name: &str) -> Result<Board, Error> {
    toml::from_str(text).map_err(|error| {
        let line =
            text.bytes().take(error.span().map_or(0, |span| span.start)).filter(|byte| *byte == b'\n').count() + 1;
        let what = format!("line {line}: {}", error.message().replace(['\n', '\r'], " "));
        Error::Malformed { file: name.to_owned(), what }
    })
}
