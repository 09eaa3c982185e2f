//! What a program is told when a verb ends without doing what was asked: with `--json` one object on standard output,
//! besides the sentence for people on standard error. Its codes are a closed list, and never change their meaning.

use std::ffi::OsString;

use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::{Deserialize, Serialize};

use super::exit::{Exit, Stop};
use super::out;

/// Why, for programs. The codes of the daemon are those of its interface for tills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    // What the command line finds itself: one for each exit code, and what is worth knowing beyond that.
    /// The arguments are wrong.
    Usage,
    /// What became of it is not known yet.
    Unconfirmed,
    /// It was cancelled before it began.
    Cancelled,
    /// A name, a reference or a file does not fit.
    Data,
    /// Nothing was sent.
    NotSent,
    /// No daemon listens at the socket.
    NoDaemon,
    /// The connection to the daemon broke off.
    DaemonLost,
    /// A fault of the program.
    Software,
    /// A file or the socket cannot be used.
    File,
    /// This user may not.
    NotPermitted,
    /// The configuration is wrong.
    Configuration,
    // What the daemon refused.
    /// The amount cannot be charged.
    Amount,
    /// The currency is unknown, or not this terminal's.
    Currency,
    /// No transaction can have such a reference.
    Reference,
    /// The request cannot be understood.
    Malformed,
    /// The reference is another transaction's.
    AmountDiffers,
    /// Nothing has this reference.
    NoSuchSale,
    /// The earlier transaction does not allow it.
    NotPossible,
    /// A parameter for the gateway cannot be sent.
    Parameter,
    /// Another sale is under way.
    Busy,
    /// No sale can be taken.
    NotReady,
    /// Nobody waits for this signature to be compared.
    NoSignatureAwaited,
    /// The sale has no receipt yet.
    NoReceiptYet,
    /// The agent gave no answer: ask again for the reference.
    NoAnswer,
    /// The gateway does not answer.
    Gateway,
    /// This caller asks too much at a time.
    TooManyRequests,
    /// This caller listens too often.
    TooManyListeners,
    /// A list is being read.
    ListUnderWay,
    /// The daemon has no place for this connection.
    NoPlace,
    /// The journal cannot be read or written.
    Journal,
    /// The receipt cannot be printed.
    Printer,
    /// A right is missing.
    Forbidden,
    /// A token is missing.
    Unauthorized,
    /// Somebody must be signed in.
    OperatorRequired,
    /// The operator who is signed in may not.
    OperatorRole,
    /// The name or the PIN is wrong.
    WrongPin,
    /// Nobody is signed in with this session.
    SessionEnded,
    /// A supervisor must confirm.
    SupervisorNeeded,
    /// No supervisor has confirmed this command.
    NotApproved,
    /// It is no supervisor who would confirm.
    NoSupervisor,
    /// After too many wrong PINs nobody may try for a while.
    OperatorLocked,
    /// Another PIN is being looked at.
    PinUnderWay,
    /// No operator has this name.
    NoSuchOperator,
    /// An operator has this name already.
    OperatorExists,
    /// No more operators can be added.
    TooManyOperators,
    /// No operator can have such a name.
    Operator,
    /// It is no PIN.
    Pin,
    /// The daemon does not know what is asked.
    NotFound,
    /// The daemon does not know what is asked in this way.
    MethodNotAllowed,
    /// The request is not JSON.
    MediaType,
    /// The request is too large.
    TooLarge,
    /// The request came too slowly.
    Timeout,
    /// For a reason that a later daemon has, and this program does not know.
    Refused,
}

impl Code {
    /// The daemon's word.
    pub(super) fn of_daemon(word: &str) -> Self {
        let word: StrDeserializer<'_, Unknown> = word.into_deserializer();
        Self::deserialize(word).unwrap_or(Self::Refused)
    }

    /// The exit code that goes with it.
    pub(super) fn exit(self) -> Exit {
        match self {
            Self::Usage
            | Self::Amount
            | Self::Currency
            | Self::Reference
            | Self::Operator
            | Self::Pin
            | Self::Malformed => Exit::Usage,
            Self::Unconfirmed => Exit::Unconfirmed,
            Self::Cancelled => Exit::Cancelled,
            Self::Data
            | Self::AmountDiffers
            | Self::NoSuchSale
            | Self::NotPossible
            | Self::Parameter
            | Self::NoSignatureAwaited
            | Self::NoReceiptYet
            | Self::NoSuchOperator
            | Self::OperatorExists
            | Self::TooManyOperators => Exit::Data,
            Self::NotSent
            | Self::NoDaemon
            | Self::DaemonLost
            | Self::Busy
            | Self::NotReady
            | Self::NoAnswer
            | Self::Gateway
            | Self::TooManyRequests
            | Self::TooManyListeners
            | Self::ListUnderWay
            | Self::OperatorLocked
            | Self::PinUnderWay
            | Self::NoPlace => Exit::NotSent,
            Self::File | Self::Journal => Exit::Io,
            Self::NotPermitted
            | Self::Forbidden
            | Self::OperatorRequired
            | Self::OperatorRole
            | Self::WrongPin
            | Self::SessionEnded
            | Self::SupervisorNeeded
            | Self::NotApproved
            | Self::NoSupervisor => Exit::NoPermission,
            Self::Configuration => Exit::Config,
            Self::Software
            | Self::Printer
            | Self::Unauthorized
            | Self::NotFound
            | Self::MethodNotAllowed
            | Self::MediaType
            | Self::TooLarge
            | Self::Timeout
            | Self::Refused => Exit::Software,
        }
    }
}

impl From<Exit> for Code {
    /// When no more is known.
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Usage => Self::Usage,
            Exit::Unconfirmed => Self::Unconfirmed,
            Exit::Cancelled => Self::Cancelled,
            Exit::Data => Self::Data,
            Exit::NotSent => Self::NotSent,
            Exit::Io => Self::File,
            Exit::NoPermission => Self::NotPermitted,
            Exit::Config => Self::Configuration,
            // The others are ends of a verb that was done.
            Exit::Success
            | Exit::Declined
            | Exit::PartiallyApproved
            | Exit::Reversed
            | Exit::UnconfirmedFinishing
            | Exit::Attention
            | Exit::Software => Self::Software,
        }
    }
}

#[derive(Serialize)]
struct Failure<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: Code,
    text: &'a str,
}

/// Tells why a verb stopped: people, and a program when it asked for JSON.
pub(super) fn tell(stop: &Stop, in_json: bool) -> Exit {
    let text = stop.to_string();
    if in_json {
        out::say_json(&Failure { error: Error { code: stop.code(), text: &text } });
    }
    text.lines().for_each(out::complain);
    stop.exit()
}

/// Tells what clap found wrong with the arguments. `--help` and `--version` are answers, and no fault.
pub(super) fn tell_usage(error: &clap::Error, in_json: bool) -> Exit {
    // Nobody is left to tell when the terminal is gone.
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Success;
    }
    if in_json {
        let text = error.to_string();
        let first = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let text = format!("{}; see pos-agent --help", first.strip_prefix("error: ").unwrap_or(&first));
        out::say_json(&Failure { error: Error { code: Code::Usage, text: &text } });
    }
    Exit::Usage
}

/// Whether JSON is asked for: no verb takes `--json` for anything else, and behind `--` there are no options.
pub(super) fn is_in_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The words in the sources of the daemon's answers: behind a status, or in the two forms that have one of their
    /// own.
    fn words_of_the_daemon() -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/till/http");
        let mut words = BTreeSet::new();
        for file in fs::read_dir(folder).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let status = text.split("StatusCode::").skip(1).filter_map(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_')?;
                rest[end..].strip_prefix(", \"")
            });
            let forms = ["Failure::value(\"", "Failure::too_many(\"", "Failure::too_many( \""];
            let forms = forms.iter().flat_map(|form| text.split(form).skip(1));
            words.extend(status.chain(forms).map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
        words
    }

    #[test]
    fn every_word_of_the_daemon_has_its_code() {
        let words = words_of_the_daemon();
        assert!(words.len() > 20 && words.contains("no-such-sale") && words.contains("list-under-way"), "{words:?}");
        for word in &words {
            let code = Code::of_daemon(word);
            assert_eq!(serde_json::to_value(code).unwrap(), *word, "src/cli/failure.rs has no code for {word}");
            assert_ne!(code, Code::Refused);
            let page = include_str!("../../docs/src/till-http.md");
            assert!(page.contains(&format!("`{word}`")), "docs/src/till-http.md does not list {word}");
        }
        assert_eq!(Code::of_daemon("a-word-of-tomorrow"), Code::Refused);
    }

    #[test]
    fn what_is_known_by_the_exit_code_alone_keeps_it() {
        use Exit::{Cancelled, Config, Data, Io, NoPermission, NotSent, Software, Unconfirmed, Usage};
        for exit in [Cancelled, Config, Data, Io, NoPermission, NotSent, Software, Unconfirmed, Usage] {
            assert_eq!(Code::from(exit).exit(), exit);
        }
    }

    #[test]
    fn every_code_stands_in_the_manual_with_its_exit_code() {
        let source = include_str!("failure.rs");
        let listed = source.split("pub enum Code {").nth(1).unwrap().split("\n}").next().unwrap();
        let names = listed.lines().filter_map(|line| line.trim().strip_suffix(','));
        let page = include_str!("../../docs/src/till.md");
        let (_, table) = page.split_once("| exit code | `code` with `--json` |").unwrap();
        let rows: Vec<&str> = table.split("\n\n").next().unwrap().lines().collect();
        let mut count = 0;
        for name in names {
            let kebab =
                name.char_indices().fold(String::new(), |word, (at, c)| match c.is_ascii_uppercase() && at > 0 {
                    true => format!("{word}-{}", c.to_ascii_lowercase()),
                    false => format!("{word}{}", c.to_ascii_lowercase()),
                });
            let row = rows.iter().find(|row| row.contains(&format!("`{kebab}`")));
            let row = row.unwrap_or_else(|| panic!("docs/src/till.md does not list the code {kebab}"));
            let exit = Code::of_daemon(&kebab).exit() as u8;
            let numbers = row.trim_start_matches("| ").split(" |").next().unwrap();
            assert!(numbers.split(", ").any(|number| number == exit.to_string()), "{kebab}: {exit} in {row}");
            count += 1;
        }
        assert!(count > 30, "{count}");
    }

    #[test]
    fn json_is_asked_for_by_an_option_and_by_nothing_else() {
        let asked = |line: &str| is_in_json(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(asked("pos-agent sale 1 --json") && asked("pos-agent --json"));
        assert!(
            !asked("pos-agent sale 1") && !asked("--json sale 1") && !asked("pos-agent parameters check -- --json")
        );
    }
}
