//! The readers and printers of the board. Setup probes a port only if no other program has it open, and never probes
//! the system's console.
//!
//! A receipt printer prints the bytes that ask for a reader. So the search begins at the most likely port and ends with
//! the first reader. It leaves out each device that calls itself a printer. The ports that are left get only the
//! question for a printer's state, which prints nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::out;
use super::draft::{Draft, Printer};
use crate::board::Board;
use crate::config;
use crate::doctor;
use pos_reader::ReaderIdentity;
use pos_reader::config::ReaderProtocol;
use pos_reader::identify::{Attempt, FoundReader, identify};

/// The words by which a USB device calls itself a printer, in lower case: kinds, makers and usual models.
const PRINTER_WORDS: [&str; 11] = [
    "printer",
    "receipt",
    "thermal",
    "esc/pos",
    "epson",
    "star micronics",
    "citizen",
    "bixolon",
    "pos-58",
    "pos-80",
    "pos80",
];

/// A reader that setup found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Found {
    pub(in crate::cli) port: String,
    pub(in crate::cli) protocol: ReaderProtocol,
    pub(in crate::cli) baud: u32,
    pub(in crate::cli) who: String,
}

/// What a search said about a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Looked {
    pub(in crate::cli) port: String,
    pub(in crate::cli) said: String,
    /// True if the device was found there.
    pub(in crate::cli) is_there: bool,
}

impl Looked {
    /// Shows the line and keeps it.
    fn told(port: &str, said: String, is_there: bool) -> Self {
        out::say(&format!("  {port}: {said}"));
        Self { port: port.to_owned(), said, is_there }
    }
}

/// A serial port that exists.
#[derive(Clone, Debug)]
pub(in crate::cli) struct SerialPort {
    pub(super) path: String,
    /// The device that the path points to.
    device: PathBuf,
    likely: Likely,
}

/// The probable device at a port. The order is the order of the search for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likely {
    /// The board's file names the port for a reader.
    BoardsReader,
    /// A USB device with its own port (CDC-ACM), as readers are.
    UsbDevice,
    /// An adapter on USB, for any device.
    UsbAdapter,
    /// A serial port of the board itself.
    OwnPort,
    /// A device that calls itself a printer. It is never probed for a reader.
    Printer,
}

impl Likely {
    /// The order in which the ports without a reader are searched for a printer.
    const FOR_PRINTER: [Self; 5] =
        [Self::Printer, Self::UsbAdapter, Self::UsbDevice, Self::OwnPort, Self::BoardsReader];

    fn of(device: &Path, usb_texts: &str, is_boards: bool) -> Self {
        let name = device.file_name().unwrap_or_default().to_string_lossy();
        if PRINTER_WORDS.iter().any(|word| usb_texts.contains(word)) {
            Self::Printer
        } else if is_boards {
            Self::BoardsReader
        } else if name.starts_with("ttyACM") {
            Self::UsbDevice
        } else if name.starts_with("ttyUSB") {
            Self::UsbAdapter
        } else {
            Self::OwnPort
        }
    }
}

/// Returns the serial ports that may have a reader or a printer, the most likely reader's first. Each device is listed
/// once. The printers of [`printer_ports`] are not listed.
pub(in crate::cli) fn serial_ports(board: &Board) -> Vec<SerialPort> {
    let boards = board.reader_ports.iter().cloned().map(|path| (path, true));
    let by_id = in_folder(Path::new("/dev/serial/by-id"), "");
    // These names are for systems on which udev creates none.
    let plain = in_folder(Path::new("/dev"), "ttyACM").chain(in_folder(Path::new("/dev"), "ttyUSB"));
    let others = by_id.chain(plain).chain(board.serial.keys().cloned()).map(|path| (path, false));
    let printers: BTreeSet<PathBuf> = printer_ports(board).iter().filter_map(|port| real(port)).collect();
    let consoles = consoles();
    let mut seen = BTreeSet::new();
    let port = |(path, is_boards): (String, bool)| {
        let device = real(&path)?;
        let likely = Likely::of(&device, &usb_texts(Path::new("/sys/class/tty"), &device), is_boards);
        let is_new = !printers.contains(&device) && !consoles.contains(&device) && seen.insert(device.clone());
        is_new.then_some(SerialPort { path, device, likely })
    };
    let mut ports: Vec<_> = boards.chain(others).filter_map(port).collect();
    ports.sort_by_key(|port| port.likely);
    ports
}

/// Returns the ports that a search asks for a reader, the most likely one first.
pub(in crate::cli) fn searched_ports(board: &Board) -> Vec<String> {
    let ports = serial_ports(board).into_iter().filter(|port| port.likely != Likely::Printer);
    ports.map(|port| port.path).collect()
}

/// Returns the ports of the printers that exist.
pub(super) fn printer_ports(board: &Board) -> Vec<String> {
    let usual = board.printer_ports.iter().cloned().chain(in_folder(Path::new("/dev/usb"), "lp"));
    let mut seen = BTreeSet::new();
    usual.filter(|port| real(port).is_some_and(|device| seen.insert(device))).collect()
}

/// Probes the ports for a reader up to the first one that has a reader, and shows each result.
pub(in crate::cli) async fn reader(ports: &[SerialPort], baud: u32, looked: &mut Vec<Looked>) -> Option<Found> {
    for SerialPort { path, likely, .. } in ports {
        let heard = match likely {
            Likely::Printer => {
                Err("not checked: the device calls itself a printer; if it is the reader, give this port".to_owned())
            }
            _ => heard(path, baud).await,
        };
        match heard {
            Ok(found) => {
                looked.push(Looked::told(path, found.who.clone(), true));
                return Some(found);
            }
            Err(why) => looked.push(Looked::told(path, why, false)),
        }
    }
    None
}

/// Looks for a printer where the reader is not. A printer's own port is taken as it is. The other ports are asked, the
/// most likely one first, up to the first one that answers.
pub(in crate::cli) async fn printers(board: &Board, draft: &mut Draft, columns: &str) -> Vec<Looked> {
    let reader = real(&draft.reader);
    let own = printer_ports(board).into_iter().find(|port| reader.is_none() || real(port) != reader);
    if let Some(port) = own {
        return vec![Looked::told(&port, "a printer".to_owned(), true)];
    }
    asked_for_printers(&left_for_printer(serial_ports(board), &draft.reader), draft, columns).await
}

/// Asks the ports for a printer up to the first one that answers.
pub(super) async fn asked_for_printers(ports: &[SerialPort], draft: &mut Draft, columns: &str) -> Vec<Looked> {
    let mut looked = Vec::new();
    for SerialPort { path, .. } in ports {
        draft.printer = Some(Printer { port: path.clone(), columns: columns.to_owned() });
        let answer = match draft.config() {
            Ok(config) => printer_answers(&config.printer[0]).await,
            Err(error) => Err(error.to_string()),
        };
        let is_there = answer.is_ok();
        looked.push(Looked::told(path, answer.map_or_else(|why| why, |()| "a printer".to_owned()), is_there));
        if is_there {
            break;
        }
    }
    looked
}

/// Returns whether a search looks at this port: only a device of the board, and never the console.
pub(in crate::cli) fn is_of_board(board: &Board, port: &str) -> bool {
    let device = real(port);
    device.is_some()
        && (serial_ports(board).iter().any(|known| device.as_ref() == Some(&known.device))
            || printer_ports(board).iter().any(|known| real(known) == device))
}

/// Returns the printers that show themselves, without a byte sent to any other device.
pub(in crate::cli) fn sure_printers(board: &Board) -> Vec<String> {
    let serial = serial_ports(board).into_iter().filter(|port| port.likely == Likely::Printer);
    printer_ports(board).into_iter().chain(serial.map(|port| port.path)).collect()
}

/// Returns the ports that are left when the reader has its port, the most likely printer's first.
pub(super) fn left_for_printer(mut ports: Vec<SerialPort>, reader: &str) -> Vec<SerialPort> {
    let reader = real(reader);
    ports.retain(|port| reader.as_ref() != Some(&port.device));
    ports.sort_by_key(|port| Likely::FOR_PRINTER.iter().position(|likely| *likely == port.likely));
    ports
}

/// Returns the port that a person is offered although no printer answered: a USB port, because a device was connected
/// to it.
pub(super) fn silent_printer(ports: &[SerialPort]) -> Option<&str> {
    let is_usb = |port: &&SerialPort| !matches!(port.likely, Likely::OwnPort | Likely::BoardsReader);
    ports.iter().find(is_usb).map(|port| port.path.as_str())
}

/// Asks for the printer's state. Returns the reason why no printer was found.
pub(super) async fn printer_answers(printer: &config::Printer) -> Result<(), String> {
    let config::Printer { port, .. } = printer;
    if let Some(program) = doctor::held_by(port) {
        return Err(format!("not checked: {program} is using this port"));
    }
    match pos_printer::port::condition(printer).await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err("no printer answers; if a printer is connected here, give this port".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the reader at a port, or the reason why none was found and the remedy. Each family is asked at the board's
/// line speed first.
pub(in crate::cli) async fn heard(port: &str, baud: u32) -> Result<Found, String> {
    let FoundReader { protocol, baud, identity, card_key } = identified(port, baud, |_| {}).await?;
    let who = who(protocol, &identity, card_key);
    Ok(Found { port: port.to_owned(), protocol, baud, who })
}

/// Searches like [`heard`], and returns all that the reader says. `told` hears each attempt before it begins.
pub(in crate::cli) async fn identified(
    port: &str,
    baud: u32,
    told: impl FnMut(Attempt),
) -> Result<FoundReader, String> {
    if let Some(program) = doctor::held_by(port) {
        return Err(format!(
            "not checked: {program} is using this port; stop that program (ModemManager and getty take serial lines)"
        ));
    }
    identify(port, Some(baud), told).await.map_err(|error| error.to_string())
}

/// Describes a reader in one line.
pub(in crate::cli) fn who(protocol: ReaderProtocol, identity: &ReaderIdentity, card_key: bool) -> String {
    let ReaderIdentity { serial, model, firmware, .. } = identity;
    let protocol = match protocol {
        ReaderProtocol::MiuraMpi => String::new(),
        other => format!(" ({})", other.name()),
    };
    match card_key {
        true => format!("{model} {firmware}, serial {serial}{protocol}"),
        false => format!("a reader, serial {serial}, without a card-data key{protocol}"),
    }
}

/// Returns the texts by which a USB device describes itself, in lower case. Other devices have none.
fn usb_texts(class: &Path, device: &Path) -> String {
    let folder = fs::canonicalize(class.join(device.file_name().unwrap_or_default()).join("device"));
    let folder = folder.unwrap_or_default();
    let Some(usb) = folder.ancestors().find(|folder| folder.join("idVendor").exists()) else { return String::new() };
    ["manufacturer", "product", "serial"]
        .map(|text| fs::read_to_string(usb.join(text)).unwrap_or_default().trim().to_lowercase())
        .join(" ")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn port(device: &str, usb_texts: &str, is_boards: bool) -> SerialPort {
        let device = PathBuf::from(device);
        SerialPort { path: device.display().to_string(), likely: Likely::of(&device, usb_texts, is_boards), device }
    }

    fn paths(ports: &[SerialPort]) -> Vec<&str> {
        ports.iter().map(|port| port.path.as_str()).collect()
    }

    #[test]
    fn what_calls_itself_a_printer_is_the_last_reader_and_the_first_printer() {
        let mut ports = vec![
            // systemd/udev gives every CDC-ACM device the name of the reader.
            port("/dev/ttyACM0", "epson tm-m30 x2ab", true),
            port("/dev/ttyAMA1", "", false),
            port("/dev/ttyUSB0", "ftdi ft232r printer", false),
            port("/dev/ttyUSB1", "ftdi ft232r ab12", false),
            port("/dev/ttyACM1", "miura systems m010 42", false),
            port("/dev/ttyAMA2", "", true),
        ];
        ports.sort_by_key(|port| port.likely);
        let expected = ["/dev/ttyAMA2", "/dev/ttyACM1", "/dev/ttyUSB1", "/dev/ttyAMA1", "/dev/ttyACM0", "/dev/ttyUSB0"];
        assert_eq!(paths(&ports), expected);
        let printers = ports.iter().filter(|port| port.likely == Likely::Printer).count();
        assert_eq!(printers, 2);
        let left = left_for_printer(ports, "/nowhere");
        let expected = ["/dev/ttyACM0", "/dev/ttyUSB0", "/dev/ttyUSB1", "/dev/ttyACM1", "/dev/ttyAMA1", "/dev/ttyAMA2"];
        assert_eq!(paths(&left), expected);
        assert_eq!(silent_printer(&left), Some("/dev/ttyACM0"));
        assert_eq!(silent_printer(&left[4..]), None, "no device is known to be connected to these");
    }

    #[test]
    fn a_usb_device_is_described_by_the_system() {
        let sys = tempfile::tempdir().unwrap();
        let (usb, uart, class) =
            (sys.path().join("usb1/1-1"), sys.path().join("platform/uart"), sys.path().join("class"));
        fs::create_dir_all(usb.join("1-1:1.0/ttyUSB0")).unwrap();
        fs::create_dir_all(&uart).unwrap();
        for (file, text) in [("idVendor", "0403"), ("manufacturer", "FTDI"), ("product", "FT232R"), ("serial", "A1")] {
            fs::write(usb.join(file), format!("{text}\n")).unwrap();
        }
        for (name, device) in [("ttyUSB0", usb.join("1-1:1.0/ttyUSB0")), ("ttyAMA0", uart)] {
            fs::create_dir_all(class.join(name)).unwrap();
            std::os::unix::fs::symlink(device, class.join(name).join("device")).unwrap();
        }
        assert_eq!(usb_texts(&class, Path::new("/dev/ttyUSB0")), "ftdi ft232r a1");
        assert_eq!(usb_texts(&class, Path::new("/dev/ttyAMA0")), "");
        assert_eq!(usb_texts(&class, Path::new("/dev/pts/3")), "");
    }
}
