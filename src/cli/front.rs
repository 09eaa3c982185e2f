//! The client of `pos-front`. For `status` and `doctor`, it asks which tills the front serves over a till protocol. A
//! terminal works without a front, so a missing front is not reported.
//!
//! The front faces a network, so its answers are limited in size and cleaned before they are shown.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::Value;
use tokio::time::timeout;

use super::daemon::{Daemon, Error};
use crate::doctor::{Front, FrontTill};
use pos_words::clean;

/// The socket of the front's unit.
const SOCKET: &str = "/run/pos-front/control.sock";
/// The deadline for the answer. It is short, because the front answers immediately and a person is waiting.
const PATIENCE: Duration = Duration::from_secs(3);
/// The maximum number of tills that are shown; a shop has fewer.
const MOST_TILLS: usize = 64;
/// The maximum length of a text, in characters. Every name, address and command is shorter.
const MOST_LETTERS: usize = 100;

/// The option that names the front's socket.
#[derive(Debug, Args)]
pub(super) struct AtFront {
    /// The control socket of pos-front, to list the tills that use a till protocol such as ZVT [default:
    /// /run/pos-front/control.sock if it exists]
    #[arg(long, value_name = "PATH")]
    front: Option<PathBuf>,
}

impl AtFront {
    pub(super) async fn ask(&self) -> Front {
        let socket = self.front.clone().unwrap_or_else(|| SOCKET.into());
        let daemon = Daemon::at(socket.clone());
        let asked = timeout(PATIENCE, daemon.get::<Value>("/status")).await;
        let why = match asked {
            Ok(Ok(status)) => {
                let (tills, status) = (tills(&status), clean::line(&status.to_string()));
                return Front::Answers { socket, tills, status };
            }
            Ok(Err(Error::Closed { .. })) => return Front::Closed(socket),
            Ok(Err(Error::Unreachable { cause, .. })) => match cause.kind() {
                io::ErrorKind::NotFound if self.front.is_none() => return Front::Absent,
                _ => cause.to_string(),
            },
            Ok(Err(Error::Lost { why })) => why,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        Front::Silent(format!("{}: {}", socket.display(), short(&why)))
    }
}

/// Returns the tills that use a till protocol, and any other tills that the agent refuses.
fn tills(status: &Value) -> Vec<FrontTill> {
    let list = |of: &Value| of.as_array().into_iter().flatten().take(MOST_TILLS).cloned().collect::<Vec<_>>();
    let refused: Vec<String> = list(&status["agent"]["notNamed"]).iter().filter_map(Value::as_str).map(short).collect();
    let mut tills: Vec<FrontTill> = list(&status["tills"]).iter().map(till).collect();
    for name in refused {
        match tills.iter_mut().find(|till| till.till == name) {
            Some(till) => till.is_not_named = true,
            None => tills.push(FrontTill {
                till: name,
                protocol: "page or paired".to_owned(),
                is_not_named: true,
                ..FrontTill::default()
            }),
        }
    }
    tills
}

/// Parses the front's entry for one till. Another version of the front may send more or fewer fields.
fn till(told: &Value) -> FrontTill {
    let text = |name: &str| told[name].as_str().map(short);
    let (till, protocol) = (text("till").unwrap_or_default(), text("protocol").unwrap_or_default());
    let connected = told["connected"].as_u64().unwrap_or_default();
    let (from, last_command, at) = (text("from"), text("lastCommand"), text("at"));
    FrontTill { till, protocol, connected, from, last_command, at, is_not_named: false }
}

fn short(text: &str) -> String {
    clean::line(text).chars().take(MOST_LETTERS).collect()
}
