//! `pos-agent boards`: lists the known boards, or shows a board's ports, udev rules, systemd unit and file.

use clap::Args;

use super::exit::{Exit, Stop};
use super::out;
use crate::board::{self, KNOWN, Known};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
A board is known if this program has a file about it. The file gives the ports of the reader and the printer, their stable udev names,
and what the systemd unit needs. For any other board, use generic-armv7 or generic-aarch64, or your own file. This verb opens no device.

Examples:
  pos-agent boards                                 list all boards
  pos-agent boards raspberry-pi                    show the facts of a board, with their sources
  pos-agent boards raspberry-pi --rules >/etc/udev/rules.d/99-pos-agent-board.rules
  pos-agent boards stm32mp157-dk2 --unit >/etc/systemd/system/pos-agent.service.d/board.conf
  pos-agent boards generic-armv7 --file >board.toml   a template for your own file, for setup --board ./board.toml")]
pub(super) struct Boards {
    /// The board's name, as shown in the list
    name: Option<String>,
    /// Show the board's udev rules, which give its ports stable names
    #[arg(long, requires = "name", conflicts_with_all = ["unit", "file"])]
    rules: bool,
    /// Show the drop-in file that the board's systemd unit needs
    #[arg(long, requires = "name", conflicts_with = "file")]
    unit: bool,
    /// Show the board's file, in the form that setup reads
    #[arg(long, requires = "name")]
    file: bool,
}

impl Boards {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let Some(name) = &self.name else {
            KNOWN.iter().for_each(line);
            return Ok(Exit::Success);
        };
        let known = board::known(name)?;
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
