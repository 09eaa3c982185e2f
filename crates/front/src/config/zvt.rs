//! `[[zvt]]`: tills that speak ZVT. Each till's name at the agent is configured here and never comes from its
//! connection. The front listens only on the configured lines.

use std::fmt;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pos_till_api::OnSilence;

use super::section::Section;
use super::till_lines::{ON_SILENCE, judge_open};

/// The speeds that the specification names, in bits per second.
const SPEEDS: [u64; 2] = [9600, 115_200];

/// The sums that a till gets: the terminal's, or its own.
pub(super) const SUMS: [(&str, bool); 2] = [("terminal", false), ("own", true)];

/// An error and its remedy.
pub(super) type Wrong = (String, &'static str);

/// One till that speaks ZVT.
#[derive(Clone, Debug)]
pub(crate) struct ZvtConfig {
    /// The till's name at the agent.
    pub(crate) till: String,
    /// The line of the till.
    pub(crate) line: ZvtLine,
    /// The file with the till's six-digit password.
    password_file: Option<PathBuf>,
    /// True when the till may pay out without an earlier payment (06 31).
    pub(crate) credit: bool,
    /// The action after an approval that the till does not acknowledge.
    pub(crate) unacknowledged: OnSilence,
    /// True when the fields of 04 0F are in ascending order, not in the order of the specification's table.
    pub(crate) ascending: bool,
    /// True when 04 0F may contain a TLV container.
    pub(crate) status_containers: bool,
    /// True when only the necessary frames are sent, without 04 FF and print lines.
    pub(crate) needed_frames_only: bool,
    /// True when the till gets its own sums instead of the terminal's.
    pub(crate) own_sums: bool,
}

/// The line of a ZVT till.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ZvtLine {
    /// A TCP connection.
    Tcp {
        /// The address to listen on.
        listen: SocketAddr,
        /// The addresses that may connect.
        from: Vec<IpAddr>,
    },
    /// A serial line.
    Serial {
        /// The path of the device.
        path: PathBuf,
        /// The speed in bits per second.
        speed: u32,
    },
}

impl ZvtConfig {
    pub(super) fn read(zvt: &mut Section<'_>) -> Self {
        let listen = zvt.address("listen");
        let from = zvt.ips("from");
        let serial = zvt.path("serial");
        let speed = zvt.number("speed", 9600..=115_200).unwrap_or(9600);
        let line = match serial {
            Some(path) if listen.is_none() => ZvtLine::Serial { path, speed: u32::try_from(speed).unwrap_or(0) },
            // Setting both keys is a fault. `judge` recognises it by this value, which is never valid.
            Some(_) => ZvtLine::Serial { path: PathBuf::new(), speed: 0 },
            None => ZvtLine::Tcp { listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 20_007))), from },
        };
        let unacknowledged = zvt.word("unacknowledged", &ON_SILENCE);
        let order = zvt.word("field-order", &[("table", false), ("ascending", true)]);
        let frames = zvt.word("frames", &[("all", false), ("needed", true)]);
        Self {
            till: zvt.needed_text("till"),
            line,
            password_file: zvt.path("password-file"),
            credit: zvt.flag("credit").unwrap_or(false),
            unacknowledged: unacknowledged.unwrap_or(OnSilence::Reverse),
            ascending: order.unwrap_or(false),
            status_containers: zvt.flag("status-containers").unwrap_or(true),
            needed_frames_only: frames.unwrap_or(false),
            own_sums: zvt.word("sums", &SUMS).unwrap_or(false),
        }
    }

    /// Finds the faults that concern only this till.
    pub(super) fn judge(&self) -> Vec<(String, Wrong)> {
        let mut all = Vec::new();
        match &self.line {
            ZvtLine::Tcp { listen, from } => all.extend(judge_open(listen, from)),
            ZvtLine::Serial { speed: 0, .. } => {
                all.push((
                    "listen and serial: both are given".to_owned(),
                    "omit one of them, because a till has one line",
                ));
            }
            ZvtLine::Serial { speed, .. } if !SPEEDS.contains(&u64::from(*speed)) => {
                all.push((
                    format!("speed: {speed} is not a speed of the protocol"),
                    "write 9600 or 115200, as set in the till",
                ));
            }
            ZvtLine::Serial { .. } => {}
        }
        if let Err(wrong) = self.password() {
            all.push(wrong);
        }
        all.into_iter().map(|wrong| (format!("zvt {:?}", self.till), wrong)).collect()
    }

    /// Returns the password, if the till uses one.
    pub(crate) fn password(&self) -> Result<Option<u32>, Wrong> {
        let Some(file) = &self.password_file else { return Ok(None) };
        let remedy = "write the till's six-digit password to the file, owned by pos-front, mode 0600";
        let text = secret_line("password-file", file, remedy)?;
        let digits = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits);
        number.map(Some).ok_or_else(|| (format!("password-file: {}: is not six digits", file.display()), remedy))
    }
}

impl fmt::Display for ZvtLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { listen, .. } => listen.fmt(f),
            Self::Serial { path, .. } => path.display().fmt(f),
        }
    }
}

/// Reads a file that has one line and that only the front's user may open.
pub(super) fn secret_line(key: &str, file: &Path, remedy: &'static str) -> Result<String, Wrong> {
    let wrong = |what: &str| (format!("{key}: {}: {what}", file.display()), remedy);
    let facts = fs::metadata(file).map_err(|error| wrong(&error.to_string()))?;
    if !facts.is_file() || facts.len() > 4096 {
        return Err(wrong("is not a file with one line"));
    }
    if facts.permissions().mode() & 0o077 != 0 {
        return Err(wrong("other users may open it"));
    }
    let text = fs::read_to_string(file).map_err(|error| wrong(&error.to_string()))?;
    let line = text.trim_end_matches(['\r', '\n']);
    if line.is_empty() || line.contains('\n') { Err(wrong("is not a file with one line")) } else { Ok(line.to_owned()) }
}
