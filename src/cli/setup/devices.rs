//! Which reader and which printer are there. A port is asked only when nobody else has it, and never the system's
//! console.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::super::out;
use crate::board::Board;
use crate::doctor;
use pos_reader::{ReaderEvent, ReaderFamily, ReaderSettings, Unready};

/// Longer than a reader needs to say who it is; what is none has been given up by then (two answers of 5 s each).
const PATIENCE: Duration = Duration::from_secs(12);

/// Of a port at which nobody says anything.
const SILENT: &str = "no Miura reader answers there; check that it is on, and that this is its port";

/// A reader that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) port: String,
    pub(super) who: String,
}

/// Ports at which a reader may be, the likeliest first, each device once.
pub(super) fn reader_ports(board: &Board) -> Vec<String> {
    let usual = board.reader_ports.iter().cloned();
    let by_id = in_folder(Path::new("/dev/serial/by-id"), "");
    // Where no udev gives names.
    let plain = in_folder(Path::new("/dev"), "ttyACM").chain(in_folder(Path::new("/dev"), "ttyUSB"));
    let own = board.serial.keys().cloned();
    let printers: BTreeSet<PathBuf> = printer_ports(board).iter().filter_map(|port| real(port)).collect();
    let consoles = consoles();
    let mut seen = BTreeSet::new();
    let is_new = |port: &String| {
        real(port)
            .is_some_and(|device| !printers.contains(&device) && !consoles.contains(&device) && seen.insert(device))
    };
    usual.chain(by_id).chain(plain).chain(own).filter(is_new).collect()
}

/// Printers that are there.
pub(super) fn printer_ports(board: &Board) -> Vec<String> {
    let usual = board.printer_ports.iter().cloned().chain(in_folder(Path::new("/dev/usb"), "lp"));
    let mut seen = BTreeSet::new();
    usual.filter(|port| real(port).is_some_and(|device| seen.insert(device))).collect()
}

/// Asks each port whether a reader is there, and tells what it hears.
pub(super) async fn readers(ports: &[String], baud: u32) -> Vec<Found> {
    let mut found = Vec::new();
    for port in ports {
        match heard(port, baud).await {
            Ok(who) => {
                out::say(&format!("  {port}: {who}"));
                found.push(Found { port: port.clone(), who });
            }
            Err(why) => out::say(&format!("  {port}: {why}")),
        }
    }
    found
}

/// Who answers at a port, or why it is no reader and what to do.
pub(super) async fn heard(port: &str, baud: u32) -> Result<String, String> {
    match doctor::held_by(port) {
        Some(program) => {
            Err(format!("not asked, {program} has it; stop that program (ModemManager and getty take serial lines)"))
        }
        None => ask(port, baud).await,
    }
}

async fn ask(port: &str, baud: u32) -> Result<String, String> {
    let (handle, mut events) =
        pos_reader::spawn(ReaderSettings { baud, ..ReaderSettings::new(port) }, ReaderFamily::default());
    let answer = async {
        while let Some(event) = events.recv().await {
            match event {
                ReaderEvent::Ready(identity) => {
                    return Ok(format!("{} {}, serial {}", identity.model, identity.firmware, identity.serial));
                }
                ReaderEvent::Unready(Unready::NoCardKey { serial }) => {
                    return Ok(format!("a reader, serial {serial}, without a card-data key"));
                }
                // It begins again; the deadline ends it.
                ReaderEvent::Unready(Unready::Restarting { .. }) => {}
                ReaderEvent::Unready(Unready::Absent { cause, .. }) => {
                    return Err(format!("{cause}; check the reader's power and cable, or give another port"));
                }
                ReaderEvent::Unready(Unready::WrongDevice { .. }) => {
                    return Err("no Miura reader answers there; another device has this port, or the reader is off or in another mode"
                        .to_owned());
                }
                ReaderEvent::Unready(why) => return Err(why.to_string()),
                _ => {}
            }
        }
        Err(SILENT.to_owned())
    };
    let answer = timeout(PATIENCE, answer).await.unwrap_or_else(|_| Err(SILENT.to_owned()));
    // The port is free again when its task has ended, and that is when its events end.
    drop(handle);
    while events.recv().await.is_some() {}
    answer
}

/// The device behind a name.
fn real(port: &str) -> Option<PathBuf> {
    fs::canonicalize(port).ok()
}

fn in_folder(folder: &Path, beginning: &'static str) -> impl Iterator<Item = String> + use<> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning))
        .map(|entry| entry.path().display().to_string())
        .collect();
    found.sort();
    found.into_iter()
}

/// Lines on which the kernel talks and people log in.
fn consoles() -> BTreeSet<PathBuf> {
    let active = fs::read_to_string("/sys/class/tty/console/active").unwrap_or_default();
    active.split_whitespace().map(|name| Path::new("/dev").join(name)).collect()
}
