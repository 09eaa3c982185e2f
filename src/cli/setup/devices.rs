//! The readers and printers of the board. Setup probes a port only if no other program has it open, and never probes
//! the system's console.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::super::out;
use crate::board::Board;
use crate::doctor;
use pos_reader::{ReaderEvent, ReaderFamily, ReaderSettings, Unready};

/// The deadline for a reader to identify itself. A reader needs less time, and the driver gives up another device
/// earlier (two answers of 5 s each).
const PATIENCE: Duration = Duration::from_secs(12);

/// The message for a port where nothing answers.
const SILENT: &str = "no Miura reader answers at this port; check that the reader is on and uses this port";

/// A reader that setup found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) port: String,
    pub(super) who: String,
}

/// Returns the ports that may have a reader, the most likely first. Each device is listed once.
pub(super) fn reader_ports(board: &Board) -> Vec<String> {
    let usual = board.reader_ports.iter().cloned();
    let by_id = in_folder(Path::new("/dev/serial/by-id"), "");
    // These names are for systems on which udev creates none.
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

/// Returns the ports of the printers that exist.
pub(super) fn printer_ports(board: &Board) -> Vec<String> {
    let usual = board.printer_ports.iter().cloned().chain(in_folder(Path::new("/dev/usb"), "lp"));
    let mut seen = BTreeSet::new();
    usual.filter(|port| real(port).is_some_and(|device| seen.insert(device))).collect()
}

/// Probes each port for a reader, and shows each result.
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

/// Returns the identity of the reader at a port, or the reason why none was found and the remedy.
pub(super) async fn heard(port: &str, baud: u32) -> Result<String, String> {
    match doctor::held_by(port) {
        Some(program) => Err(format!(
            "not checked: {program} is using this port; stop that program (ModemManager and getty take serial lines)"
        )),
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
                // The reader is restarting; the deadline limits the wait.
                ReaderEvent::Unready(Unready::Restarting { .. }) => {}
                ReaderEvent::Unready(Unready::Absent { cause, .. }) => {
                    return Err(format!("{cause}; check the reader's power and cable, or give a different port"));
                }
                ReaderEvent::Unready(Unready::WrongDevice { .. }) => {
                    return Err(
                        "no Miura reader answers at this port; check for a different device, or for a reader that is \
                         off or in a different mode"
                            .to_owned(),
                    );
                }
                ReaderEvent::Unready(why) => return Err(why.to_string()),
                _ => {}
            }
        }
        Err(SILENT.to_owned())
    };
    let answer = timeout(PATIENCE, answer).await.unwrap_or_else(|_| Err(SILENT.to_owned()));
    // The port is free once the reader's task has ended, which the end of its events shows.
    drop(handle);
    while events.recv().await.is_some() {}
    answer
}

/// Returns the device that a port's name points to.
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

/// Returns the devices that the kernel uses for its messages and for logins.
fn consoles() -> BTreeSet<PathBuf> {
    let active = fs::read_to_string("/sys/class/tty/console/active").unwrap_or_default();
    active.split_whitespace().map(|name| Path::new("/dev").join(name)).collect()
}
