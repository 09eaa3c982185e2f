//! The requests of the first boot's page, and root's replies.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::answers::{Answers, WifiAnswers};

/// A request to root's half. `Debug` shows its name alone, because a code and answers are secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Asks where the code is shown, and what is known of the board. Answered with [`Reply::State`].
    State,
    /// Shows a code on the console and on the printer, with these addresses of the page. The front sends it at its
    /// start. Each time, root makes a new code; the tries are kept. Answered with [`Reply::Done`].
    Show {
        /// The addresses, the most useful one first.
        urls: Vec<String>,
    },
    /// Brings the code that a person typed. Answered with [`Reply::Done`] or [`Reply::Refused`].
    Enter {
        /// The code as typed, without spaces.
        code: Zeroizing<String>,
    },
    /// Looks for readers and printers. Answered with [`Reply::Devices`].
    Search,
    /// Prints a line at a printer. Answered with [`Reply::Done`] or [`Reply::Faulty`].
    TryPrinter {
        /// The printer's port.
        port: String,
        /// Characters per line.
        columns: u8,
        /// The text, in the language of the page.
        text: String,
    },
    /// Shows a text at a reader for some seconds. Answered with [`Reply::Done`] or [`Reply::Faulty`].
    TryReader {
        /// The reader's port.
        port: String,
        /// The text, in the language of the page.
        text: String,
    },
    /// Sets the board's time zone and time servers at once, because TLS needs the time. Answered with [`Reply::Done`].
    Clock {
        /// The time zone, for example `Europe/Berlin`.
        time_zone: Option<String>,
        /// The servers; empty for the usual ones.
        time_servers: Vec<String>,
    },
    /// Joins a wireless network at once. Answered with [`Reply::Done`] or [`Reply::Faulty`].
    Wifi(WifiAnswers),
    /// Checks answers and writes nothing. Answered with [`Reply::Done`] or [`Reply::Faulty`].
    Check(Box<Answers>),
    /// Checks the answers, writes all files, and starts the agent and the front. The progress names each [`Step`].
    /// Answered with [`Reply::Done`] or [`Reply::Faulty`]. What was written before a fault is taken back.
    Write(Box<Answers>),
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::State => "State",
            Self::Show { .. } => "Show",
            Self::Enter { .. } => "Enter",
            Self::Search => "Search",
            Self::TryPrinter { .. } => "TryPrinter",
            Self::TryReader { .. } => "TryReader",
            Self::Clock { .. } => "Clock",
            Self::Wifi(_) => "Wifi",
            Self::Check(_) => "Check",
            Self::Write(_) => "Write",
        })
    }
}

/// A reply of root's half.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    /// More follows.
    Progress(Step),
    /// The answer to [`Request::State`].
    State(State),
    /// The answer to [`Request::Search`].
    Devices(Devices),
    /// It is done.
    Done,
    /// Something is wrong with what was asked for.
    Faulty(Vec<Fault>),
    /// The request is refused.
    Refused(Refusal),
}

/// What root knows before a code was right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct State {
    /// How far the first boot is.
    pub stage: Stage,
    /// The places where the code is shown: `console`, `printer`.
    pub code_at: Vec<String>,
    /// True if root has made a code since its start. Without one, the front sends [`Request::Show`].
    pub has_code: bool,
    /// The number of tries left.
    pub tries_left: u32,
    /// The time until the first boot ends, in seconds. It counts from the first start of root's half, and a restart of
    /// either half gives no new time.
    pub left_s: u64,
    /// The board's name, if a code was right.
    pub board: Option<String>,
    /// True if the board can join a wireless network through NetworkManager.
    pub wifi: bool,
    /// The time zone of the board, if a code was right.
    pub time_zone: Option<String>,
    /// True if the clock is synchronised.
    pub clock_is_right: bool,
}

/// How far the first boot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// No browser has given the code.
    Waiting,
    /// A browser has given the code.
    Entered,
    /// The files are written.
    Written,
    /// Too many codes were wrong, or the time is over. The board must start again.
    Closed,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Devices {
    /// The reader that answered.
    pub reader: Option<FoundDevice>,
    /// The protocol of that reader, as in the answer `reader-protocol`.
    pub reader_protocol: Option<String>,
    /// The protocols that the terminal knows.
    pub protocols: Vec<KnownProtocol>,
    /// The printer that answered, or that calls itself one.
    pub printer: Option<FoundDevice>,
    /// Every port that was looked at, with what was found there.
    pub looked: Vec<FoundDevice>,
}

/// A protocol of readers, with the answers that only it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KnownProtocol {
    /// The name, as in the answer `reader-protocol`.
    pub name: String,
    /// The values of the answer `sred-form`; empty if it is not needed.
    pub sred_forms: Vec<String>,
    /// True if the answers `terminal-country` and `acquirer` are needed.
    pub needs_acquirer: bool,
}

/// A device at a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FoundDevice {
    /// The port.
    pub port: String,
    /// The device in its own words, or the reason why none was found.
    pub said: String,
}

/// A fault in an answer, or in what was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fault {
    /// The answer, as a path of [`Answers`], for example `gateway.url` or `operator[0].pin`; empty for a device or a
    /// disk.
    pub key: String,
    /// What is wrong, in English.
    pub wrong: String,
    /// The remedy, in English.
    pub remedy: String,
}

/// The reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Refusal {
    /// The code is wrong.
    WrongCode {
        /// The number of tries left.
        left: u32,
    },
    /// Too many codes were wrong, or the time is over. The board must start again.
    Closed,
    /// Another browser has given the code, or no code was given yet.
    NotEntered,
    /// A configuration exists or an agent runs.
    Configured,
    /// Another request is being worked on.
    Busy,
    /// The request cannot be read.
    Malformed(String),
}

/// A step of the writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The answers are checked.
    Checking,
    /// The files are written.
    Writing,
    /// The operators are added.
    Operators,
    /// The agent starts.
    Agent,
    /// The front starts.
    Front,
}
