//! The tills that `pos-front` serves by a till protocol, in its own words. They are shown and not judged: one that says
//! nothing may be switched off, and many connect for one command only.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

use super::Report;

/// The front, as far as it answers.
#[derive(Clone, Debug)]
pub enum Front {
    /// There is none: a terminal needs none.
    Absent,
    /// This user may not open its socket.
    Closed(PathBuf),
    /// It does not answer as it should.
    Silent(String),
    /// The tills that it serves by a protocol.
    Answers(Vec<FrontTill>),
}

/// One till, as the front tells it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrontTill {
    /// Its name.
    pub till: String,
    /// What it speaks, as a word.
    pub protocol: String,
    /// Its open connections.
    pub connected: u64,
    /// Where the latest one came from.
    pub from: Option<String>,
    /// What it asked for last, since the front runs.
    pub last_command: Option<String>,
    /// When that was.
    pub at: Option<String>,
}

impl fmt::Display for FrontTill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { till, protocol, connected, from, last_command, at } = self;
        let connected = match connected {
            0 => "not connected".to_owned(),
            1 => "connected".to_owned(),
            many => format!("connected {many} times"),
        };
        write!(f, "{till} ({protocol}): {connected}")?;
        if let Some(from) = from {
            write!(f, "{} {from}", if self.connected == 1 { " from" } else { ", last from" })?;
        }
        match (last_command, at) {
            (Some(command), Some(at)) => write!(f, "; last command {command}, {at}"),
            (Some(command), None) => write!(f, "; last command {command}"),
            (None, _) => f.write_str("; no command since pos-front was started"),
        }
    }
}

pub(super) fn look(report: &mut Report<'_>, front: &Front) {
    match front {
        Front::Absent => {}
        Front::Closed(socket) => report.note(format!(
            "the tills of pos-front are not shown: this user may not open {}; run this as root",
            socket.display()
        )),
        Front::Silent(why) => report.warning(
            format!("pos-front does not tell of its tills: {why}"),
            "see journalctl -u pos-front, then systemctl restart pos-front",
        ),
        Front::Answers(tills) => tills.iter().for_each(|till| report.ok(format!("till {till}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_till_is_told_in_one_line() {
        let of = |json: &str| serde_json::from_str::<FrontTill>(json).unwrap().to_string();
        let never = r#"{"till":"kasse-1","protocol":"zvt","connected":0,"from":null,"lastCommand":null,"at":null}"#;
        assert_eq!(of(never), "kasse-1 (zvt): not connected; no command since pos-front was started");
        let once = r#"{"till":"kasse-1","protocol":"zvt","connected":1,"from":"192.0.2.7:4711",
            "lastCommand":"06 01 authorisation","at":"2026-11-20T12:34:56Z"}"#;
        let told =
            "kasse-1 (zvt): connected from 192.0.2.7:4711; last command 06 01 authorisation, 2026-11-20T12:34:56Z";
        assert_eq!(of(once), told);
        // A later front says more, and perhaps something else.
        let several =
            r#"{"till":"k","protocol":"nexo","connected":2,"from":"192.0.2.7:1","lastCommand":"Payment","more":{}}"#;
        assert_eq!(of(several), "k (nexo): connected 2 times, last from 192.0.2.7:1; last command Payment");
        let gone = r#"{"till":"k","protocol":"zvt","connected":0,"from":"192.0.2.7:1"}"#;
        assert!(of(gone).starts_with("k (zvt): not connected, last from 192.0.2.7:1; no command"));
    }
}
