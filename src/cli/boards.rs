//! `pos-agent boards`: lists the known boards, shows a board's ports, udev rules, systemd unit and file, or writes its
//! files to their places.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Stop};
use super::out;
use super::setup::files::Prepared;
use super::setup::written;
use crate::board::{self, KNOWN, Known};

/// The places of a board's files, below /etc.
const RULES: &str = "udev/rules.d/99-pos-agent-board.rules";
const DROP_IN: &str = "systemd/system/pos-agent.service.d/board.conf";

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
A board is known if this program has a file about it. The file gives the ports
of the reader and the printer, their stable udev names, and what the systemd
unit needs. For any other board, use generic-armv7 or generic-aarch64, or your
own file. This verb opens no device.

Examples:
  pos-agent boards                         list all boards
  pos-agent boards raspberry-pi            show the facts and their sources
  pos-agent boards stm32mp157-dk2 --write  write its udev rules and drop-in
  # A template for your own file, for setup --board ./board.toml:
  pos-agent boards generic-armv7 --file >board.toml")]
pub(super) struct Boards {
    /// The board's name, as shown in the list
    name: Option<String>,
    /// Show the board's udev rules, which give its ports stable names
    #[arg(long, requires = "name", conflicts_with_all = ["unit", "file", "write"])]
    rules: bool,
    /// Show the drop-in file that the board's systemd unit needs
    #[arg(long, requires = "name", conflicts_with_all = ["file", "write"])]
    unit: bool,
    /// Show the board's file, in the form that setup reads
    #[arg(long, requires = "name", conflicts_with = "write")]
    file: bool,
    /// Write the board's udev rules, and the drop-in if the board needs one, below /etc, or below this folder of an
    /// image
    #[arg(
        long,
        value_name = "DIR",
        requires = "name",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "/etc"
    )]
    write: Option<PathBuf>,
}

impl Boards {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let Some(name) = &self.name else {
            KNOWN.iter().for_each(line);
            return Ok(Exit::Success);
        };
        let known = board::known(name)?;
        if let Some(etc) = &self.write {
            install(known, etc)?;
            out::say("Next, on the running board:");
            out::say("  systemctl daemon-reload && udevadm control --reload && udevadm trigger --subsystem-match=tty");
            return Ok(Exit::Success);
        }
        let text = match (self.rules, self.unit, self.file) {
            (true, ..) => known.rules,
            (_, true, _) => known
                .unit
                .ok_or_else(|| Stop::new(Exit::Data, format!("{name} needs only the usual unit; omit the drop-in")))?,
            (.., true) => known.text,
            _ => known.readme,
        };
        out::say_lines(text);
        Ok(Exit::Success)
    }
}

/// Writes the board's files. An earlier file with another content is kept in the same folder.
pub(super) fn install(known: &Known, etc: &Path) -> Result<(), Stop> {
    let files = [Some((RULES, known.rules)), known.unit.map(|unit| (DROP_IN, unit))];
    for (name, content) in files.into_iter().flatten() {
        let place = etc.join(name);
        if fs::read(&place).is_ok_and(|there| there == content.as_bytes()) {
            out::say(&format!("Already there: {}", place.display()));
            continue;
        }
        let folder = place.parent().expect("a name below /etc has a folder");
        let kept = fs::create_dir_all(folder)
            .and_then(|()| Prepared::write(&place, content.as_bytes(), 0o644))
            .and_then(Prepared::put_in_place_of_another)
            .map_err(|error| failed(&place, &error))?;
        written(&place, kept.as_deref());
    }
    Ok(())
}

fn failed(place: &Path, error: &io::Error) -> Stop {
    let (exit, remedy) = match error.kind() {
        io::ErrorKind::PermissionDenied => (Exit::NoPermission, "run this command as root"),
        _ => (Exit::Io, "check the path and the disk"),
    };
    Stop::new(exit, format!("{}: {error}; {remedy}", place.display()))
}

fn line(known: &Known) {
    let board = known.board();
    let tried = if board.tried_on_hardware { "" } else { "; not tried on hardware" };
    out::say(&format!("{:<18}{}{tried}", known.name, board.title));
}

impl From<board::Error> for Stop {
    fn from(error: board::Error) -> Self {
        let exit = match &error {
            board::Error::Unknown { .. } => Exit::Usage,
            board::Error::Unreadable { .. } => Exit::Io,
            board::Error::Malformed { .. } => Exit::Config,
        };
        Self::new(exit, error.to_string())
    }
}
