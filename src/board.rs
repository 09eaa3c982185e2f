//! The boards that are known: where their readers and printers are found, their udev rules and what their systemd unit
//! needs beside the usual.
//!
//! They are in the program, and not in files beside it: they are small, and `pos-agent setup` works as soon as the
//! program has been copied. A board that is not among them has a file of its own, in the same form, which is given by
//! its path.
//!
//! Not here: what a configuration may say (`config`), and who asks for it (`cli::setup`).

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
    /// `board.toml`.
    pub text: &'static str,
    /// `README.md`: the facts with their sources.
    pub readme: &'static str,
    /// `udev.rules`: stable names for the board's own ports.
    pub rules: &'static str,
    /// `pos-agent.service.d/board.conf`, where the unit needs more.
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

/// What is known of a board: its `board.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Board {
    /// What people call it.
    pub title: String,
    /// Beginnings of `/proc/device-tree/model` by which it is recognised.
    #[serde(default)]
    pub models: Vec<String>,
    /// Whether anybody has run the program on it.
    #[serde(default)]
    pub tried_on_hardware: bool,
    /// Where a reader is looked for, the likeliest first.
    pub reader_ports: Vec<String>,
    /// The reader's line speed, in baud.
    pub reader_baud: u32,
    /// Where a printer is looked for, the likeliest first.
    pub printer_ports: Vec<String>,
    /// Characters on the printer's line.
    pub printer_columns: u8,
    /// The driver of its hardware watchdog.
    pub watchdog: Option<String>,
    /// The longest time that the watchdog can wait, in seconds.
    pub watchdog_longest_s: Option<u32>,
    /// Serial ports of the board itself, and what each is.
    #[serde(default)]
    pub serial: BTreeMap<String, String>,
}

/// Why there is no such board.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that is not on the list.
    #[error(
        "no board is called {name}; pos-agent boards lists them, and a file of your own is given with its path, as ./board.toml"
    )]
    Unknown {
        /// What was given.
        name: String,
    },
    /// A file that cannot be read.
    #[error("{}: cannot be read: {cause}; give the path of a board's file, or a name from pos-agent boards", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// A file that is none of a board.
    #[error("{file}: {what}; compare it with pos-agent boards generic-armv7 --file")]
    Malformed {
        /// The file.
        file: String,
        /// The fault, with its place.
        what: String,
    },
}

/// The known board of this name.
///
/// # Errors
/// [`Error::Unknown`].
pub fn known(name: &str) -> Result<&'static Known, Error> {
    KNOWN.iter().find(|known| known.name == name).ok_or_else(|| Error::Unknown { name: name.to_owned() })
}

/// A board by its name, or from a file: whatever has a `/` in it is a path.
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

/// The known board whose model begins like this one (`/proc/device-tree/model`).
#[must_use]
pub fn recognised(model: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| {
        let board = known.board();
        board.models.iter().any(|beginning| model.starts_with(beginning.as_str()))
    })
}

/// What the device tree calls this board; `None` where there is no device tree.
#[must_use]
pub fn model() -> Option<String> {
    let bytes = fs::read(Path::new("/proc/device-tree/model")).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
}

impl Known {
    /// What is known of it.
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
