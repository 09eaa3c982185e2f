//! The probe of the tills that `pos-front` serves with a till protocol. They are shown in the front's own words and not
//! judged. A missing till may be switched off, and many tills connect only for one command.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Report;
use pos_daemon::access::{SocketAccess, way_in};

/// The state of the front, as far as it answers.
#[derive(Clone, Debug)]
pub enum Front {
    /// There is no front. A terminal works without one.
    Absent,
    /// This user may not open the front's socket.
    Closed(PathBuf),
    /// The front does not answer correctly.
    Silent(String),
    /// The front answers.
    Answers {
        /// The front's control socket.
        socket: PathBuf,
        /// The tills that the front serves with a protocol.
        tills: Vec<FrontTill>,
        /// The front's whole status in JSON, without control characters.
        status: String,
    },
}

/// One till, as the front describes it.
#[derive(Clone, Debug, Default)]
pub struct FrontTill {
    /// The till's name.
    pub till: String,
    /// The name of the till's protocol.
    pub protocol: String,
    /// The number of the till's open connections.
    pub connected: u64,
    /// The address of the till's latest connection.
    pub from: Option<String>,
    /// The till's latest command since the front was started.
    pub last_command: Option<String>,
    /// The time of that command.
    pub at: Option<String>,
    /// True if the agent's configuration does not name the till.
    pub is_not_named: bool,
}

impl fmt::Display for FrontTill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { till, protocol, connected, from, last_command, at, is_not_named } = self;
        let connected = match connected {
            0 => "not connected".to_owned(),
            1 => "connected".to_owned(),
            many => format!("{many} connections"),
        };
        write!(f, "{till} ({protocol}): {connected}")?;
        if let Some(from) = from {
            write!(f, "{} {from}", if self.connected == 1 { " from" } else { ", last from" })?;
        }
        match (last_command, at) {
            (Some(command), Some(at)) => write!(f, "; last command {command}, {at}")?,
            (Some(command), None) => write!(f, "; last command {command}")?,
            (None, _) => f.write_str("; no command since pos-front was started")?,
        }
        f.write_str(if *is_not_named { "; REFUSED: no [[till.peer]] names this till" } else { "" })
    }
}

pub(super) fn look(report: &mut Report<'_>, front: &Front) {
    match front {
        Front::Absent => {}
        Front::Closed(socket) => report.note(format!(
            "the tills of pos-front are not shown: this user may not open {}; {}",
            socket.display(),
            way_in(socket)
        )),
        Front::Silent(why) => report.warning(
            format!("pos-front did not report its tills: {why}"),
            "check journalctl -u pos-front, then run: systemctl restart pos-front",
        ),
        Front::Answers { socket, tills, .. } => {
            control_socket(report, socket);
            tills.iter().for_each(|till| match till.is_not_named {
                false => report.ok(format!("till {till}")),
                true => report.fault(
                    format!("till {till}"),
                    "add the till to tills in the front's [[till.peer]] in config.toml, then run: systemctl restart \
                     pos-agent",
                ),
            });
        }
    }
}

/// Checks the control socket. The front creates it only for its own user and for root, because a user who can open it
/// can pair tills.
fn control_socket(report: &mut Report<'_>, socket: &Path) {
    let Ok(SocketAccess { mode, owner, group }) = SocketAccess::of(socket) else { return };
    let seen = format!("pos-front answers at {} (mode {mode:04o}, owner {owner}, group {group})", socket.display());
    let remedy = "find out who changed the socket, then run systemctl restart pos-front, which creates it again with \
        mode 0600";
    match mode {
        _ if mode & 0o077 != 0 => report.fault(format!("{seen}: other users may pair tills"), remedy),
        _ if mode & 0o200 == 0 => report.warning(format!("{seen}: only root may use this socket"), remedy),
        _ => report.ok(seen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_till_is_told_in_one_line() {
        let of = |protocol: &str, connected, from: Option<&str>, command: Option<&str>, at: Option<&str>| {
            let [from, last_command, at] = [from, command, at].map(|text| text.map(str::to_owned));
            let (till, protocol) = ("kasse-1".to_owned(), protocol.to_owned());
            FrontTill { till, protocol, connected, from, last_command, at, is_not_named: false }.to_string()
        };
        let never = of("zvt", 0, None, None, None);
        assert_eq!(never, "kasse-1 (zvt): not connected; no command since pos-front was started");
        let once = of("zvt", 1, Some("192.0.2.7:4711"), Some("06 01 authorisation"), Some("2026-11-20T12:34:56Z"));
        let told =
            "kasse-1 (zvt): connected from 192.0.2.7:4711; last command 06 01 authorisation, 2026-11-20T12:34:56Z";
        assert_eq!(once, told);
        let several = of("nexo", 2, Some("192.0.2.7:1"), Some("Payment"), None);
        assert_eq!(several, "kasse-1 (nexo): 2 connections, last from 192.0.2.7:1; last command Payment");
        let gone = of("zvt", 0, Some("192.0.2.7:1"), None, None);
        assert!(gone.starts_with("kasse-1 (zvt): not connected, last from 192.0.2.7:1; no command"), "{gone}");
    }
}
