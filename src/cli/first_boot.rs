//! `pos-agent first-boot`: root's half of the first boot. It answers the page that `pos-front first-boot` serves, and
//! does what `pos-agent setup --from` does.
//!
//! The front faces the network and has no rights. This half has rights and no network. It refuses every path of a file
//! that the front names, and every request before the right code (`code.rs`).

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use pos_daemon::access;
use pos_daemon::systemd::Sockets;
use tokio::net::UnixListener;
use tokio::time::Instant;

use self::boot::Boot;
use self::code::Tries;
use super::exit::{Exit, Stop};
use super::setup::front_file::FRONT_USER;
use super::setup::questions::usual_board;
use super::setup::system::Etc;
use super::setup::{failed, install};
use crate::board;
use crate::config::DEFAULT_PATH;

mod boot;
mod code;
mod hour;
mod serve;
mod show;
mod write;

/// The folder of the number of tries and of the hour's end. It is empty after the board has started.
const RUN: &str = "/run/pos-first-boot";

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
systemd runs this verb as root on a board without a configuration. It shows a
code on the console and on the receipt printer. pos-front first-boot serves the
page; the browser with the code sets the terminal up. It ends an hour after its
first start, or when the files are written.

Example:
  systemctl start pos-first-boot.socket pos-front-first-boot

Exit codes: 0 done, or the hour is over; 64 wrong usage; 74 the socket or a
file cannot be used; 78 a configuration exists.")]
pub(super) struct FirstBoot {
    /// The path of the configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// Remove what a power cut left of an unfinished first boot, and end
    #[arg(long)]
    take_back: bool,
    /// The socket, if systemd passes none
    #[arg(long, value_name = "PATH", hide = true)]
    socket: Option<PathBuf>,
    /// The folder of the number of tries and of the hour's end
    #[arg(long, value_name = "DIR", default_value = RUN, hide = true)]
    run: PathBuf,
    /// The console
    #[arg(long, value_name = "PATH", default_value = "/dev/console", hide = true)]
    console: PathBuf,
    /// The board, as `pos-agent boards` lists it, or the path of a board file
    #[arg(long, value_name = "NAME|FILE", hide = true)]
    board: Option<String>,
    /// The folder of the board's settings
    #[arg(long, value_name = "DIR", default_value = "/etc", hide = true)]
    etc: PathBuf,
    /// The path of the journal
    #[arg(long, value_name = "FILE", hide = true)]
    journal: Option<String>,
    /// The uid of pos-front
    #[arg(long, value_name = "NUMBER", hide = true)]
    front_user: Option<String>,
}

impl FirstBoot {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        install::mend(&self.config).map_err(|error| failed(&self.config, &error))?;
        if self.take_back {
            return Ok(Exit::Success);
        }
        if self.config.exists() {
            let why = format!("{} exists; the first boot is over; use pos-agent setup", self.config.display());
            return Err(Stop::new(Exit::Config, why));
        }
        let listener = self.listener()?;
        let left = hour::age_of_system().and_then(|age| hour::left(&self.run, age));
        let left = left.map_err(|error| failed(&self.run, &error))?;
        let name = self.board.unwrap_or_else(|| usual_board().to_owned());
        let front = self.front_user.as_ref().and_then(|user| user.parse().ok());
        let boot = Boot {
            config: self.config,
            board: board::load(&name)?,
            board_name: name,
            etc: Etc(self.etc),
            journal: self.journal,
            front_user: self.front_user,
            peer: front.or_else(|| access::user_number(FRONT_USER)),
            console: self.console,
            tries: Tries::of(&self.run),
            ends: Instant::now() + left,
            code: None,
            code_at: Vec::new(),
            slips: 0,
            stage: pos_first_boot::Stage::Waiting,
            has_wifi: false,
        };
        serve::serve(listener, boot).await
    }

    /// Returns the socket from systemd, or opens it.
    fn listener(&self) -> Result<UnixListener, Stop> {
        let wrong = |why: String| Stop::new(Exit::Io, why);
        let open = |path: &Path| {
            let listener = std::os::unix::net::UnixListener::bind(path)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
            Ok(listener)
        };
        let listener = match &self.socket {
            Some(path) => open(path).map_err(|error| failed(path, &error))?,
            None => {
                let passed = Sockets::from_env().map_err(|error| wrong(error.to_string()))?.unix;
                passed.ok_or_else(|| wrong("systemd passed no socket; start pos-first-boot.socket".to_owned()))?
            }
        };
        let listener = listener.set_nonblocking(true).and_then(|()| UnixListener::from_std(listener));
        listener.map_err(|error| wrong(format!("the socket cannot be used: {error}; start the board again")))
    }
}
