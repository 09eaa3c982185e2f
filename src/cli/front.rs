//! What `pos-front` tells of the tills that it serves by a till protocol, for `status` and `doctor`. A terminal works
//! without a front, so that none is no news.
//!
//! The front faces a network: what it says is bounded and cleaned before anybody is shown it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use tokio::time::timeout;

use super::daemon::{Daemon, Error};
use crate::doctor::{Front, FrontTill};
use crate::words::clean;

/// Where the front's unit has it.
const SOCKET: &str = "/run/pos-front/control.sock";
/// It has nobody to wait for; a person waits for it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Tills that are shown; a shop has fewer.
const MOST_TILLS: usize = 64;
/// Longer than any name, address or command.
const MOST_LETTERS: usize = 100;

/// Which front.
#[derive(Debug, Args)]
pub(super) struct AtFront {
    /// The control socket of pos-front, which tells of the tills that speak a till protocol, as ZVT [default:
    /// /run/pos-front/control.sock if it is there]
    #[arg(long, value_name = "PATH")]
    front: Option<PathBuf>,
}

/// What is wanted of its status.
#[derive(Deserialize)]
struct FrontStatus {
    #[serde(default)]
    tills: Vec<FrontTill>,
}

impl AtFront {
    pub(super) async fn ask(&self) -> Front {
        let socket = self.front.clone().unwrap_or_else(|| SOCKET.into());
        let daemon = Daemon::at(socket.clone());
        let asked = timeout(PATIENCE, daemon.get::<FrontStatus>("/status")).await;
        let why = match asked {
            Ok(Ok(status)) => return Front::Answers(status.tills.into_iter().take(MOST_TILLS).map(cleaned).collect()),
            Ok(Err(Error::Unreachable { cause, .. })) => match cause.kind() {
                io::ErrorKind::NotFound if self.front.is_none() => return Front::Absent,
                io::ErrorKind::PermissionDenied => return Front::Closed(socket),
                _ => cause.to_string(),
            },
            Ok(Err(Error::Lost { why })) => why,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        Front::Silent(format!("{}: {}", socket.display(), short(&why)))
    }
}

fn cleaned(till: FrontTill) -> FrontTill {
    let FrontTill { till, protocol, connected, from, last_command, at } = till;
    let some = |text: Option<String>| text.as_deref().map(short);
    let (till, protocol) = (short(&till), short(&protocol));
    FrontTill { till, protocol, connected, from: some(from), last_command: some(last_command), at: some(at) }
}

fn short(text: &str) -> String {
    clean::line(text).chars().take(MOST_LETTERS).collect()
}
