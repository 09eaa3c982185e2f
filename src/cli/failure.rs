//! What a program is told when a verb ends without doing what was asked: with `--json` one object on standard output,
//! besides the sentence for people on standard error. Its codes are a closed list, and never change their meaning.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::exit::{Exit, Stop};
use super::out;
use crate::till::ProblemType;

/// Why, for programs. The codes of the daemon are those of its interface for tills ([`ProblemType`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
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
    /// The daemon refused it for a reason that a later daemon has, and this program does not know.
    Refused,
    /// What the daemon refused, by its own word.
    #[serde(untagged)]
    Daemon(ProblemType),
}

impl Code {
    /// What the command line finds itself: one for each exit code, and what is worth knowing beyond that.
    pub const OWN: &[Self] = &[
        Self::Usage,
        Self::Unconfirmed,
        Self::Cancelled,
        Self::Data,
        Self::NotSent,
        Self::NoDaemon,
        Self::DaemonLost,
        Self::Software,
        Self::File,
        Self::NotPermitted,
        Self::Configuration,
        Self::Refused,
    ];

    /// The daemon's word.
    pub(super) fn of_daemon(word: &str) -> Self {
        let known = ProblemType::ALL.iter().find(|problem| problem.code() == word);
        known.map_or(Self::Refused, |problem| Self::Daemon(*problem))
    }

    /// The exit code that goes with it.
    pub(super) fn exit(self) -> Exit {
        match self {
            Self::Usage => Exit::Usage,
            Self::Unconfirmed => Exit::Unconfirmed,
            Self::Cancelled => Exit::Cancelled,
            Self::Data => Exit::Data,
            Self::NotSent | Self::NoDaemon | Self::DaemonLost => Exit::NotSent,
            Self::File => Exit::Io,
            Self::NotPermitted => Exit::NoPermission,
            Self::Configuration => Exit::Config,
            Self::Software | Self::Refused => Exit::Software,
            Self::Daemon(problem) => exit_of(problem),
        }
    }
}

/// How a verb ends that the daemon refused.
fn exit_of(problem: ProblemType) -> Exit {
    match problem {
        ProblemType::Amount
        | ProblemType::Currency
        | ProblemType::Reference
        | ProblemType::Operator
        | ProblemType::Pin
        | ProblemType::Malformed => Exit::Usage,
        ProblemType::AmountDiffers
        | ProblemType::NoSuchSale
        | ProblemType::NoSuchClose
        | ProblemType::NotPossible
        | ProblemType::Parameter
        | ProblemType::NoSignatureAwaited
        | ProblemType::NoConfirmationAwaited
        | ProblemType::NoReceiptYet
        | ProblemType::NoSuchOperator
        | ProblemType::OperatorExists
        | ProblemType::TooManyOperators => Exit::Data,
        ProblemType::Busy
        | ProblemType::NotReady
        | ProblemType::NothingTyped
        | ProblemType::NoAnswer
        | ProblemType::Gateway
        | ProblemType::TooManyRequests
        | ProblemType::TooManyListeners
        | ProblemType::ListUnderWay
        | ProblemType::OperatorLocked
        | ProblemType::PinUnderWay
        | ProblemType::NoPlace => Exit::NotSent,
        ProblemType::Journal => Exit::Io,
        ProblemType::Forbidden
        | ProblemType::TrainingOff
        | ProblemType::OperatorRequired
        | ProblemType::OperatorRole
        | ProblemType::WrongPin
        | ProblemType::SessionEnded
        | ProblemType::SupervisorNeeded
        | ProblemType::NotApproved
        | ProblemType::NoSupervisor => Exit::NoPermission,
        ProblemType::Printer
        | ProblemType::Unauthorized
        | ProblemType::NotAcceptable
        | ProblemType::NotFound
        | ProblemType::MethodNotAllowed
        | ProblemType::MediaType
        | ProblemType::TooLarge
        | ProblemType::Timeout => Exit::Software,
    }
}

impl From<ProblemType> for Code {
    fn from(problem: ProblemType) -> Self {
        Self::Daemon(problem)
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
    detail: &'a str,
}

/// Tells why a verb stopped: people, and a program when it asked for JSON.
pub(super) fn tell(stop: &Stop, in_json: bool) -> Exit {
    let text = stop.to_string();
    if in_json {
        out::say_json(&Failure { error: Error { code: stop.code(), detail: &text } });
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
        out::say_json(&Failure { error: Error { code: Code::Usage, detail: &text } });
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

    use super::*;

    /// Every code as it is written.
    fn words() -> Vec<(Code, String)> {
        let codes = Code::OWN.iter().copied().chain(ProblemType::ALL.iter().map(|problem| Code::Daemon(*problem)));
        codes.map(|code| (code, serde_json::to_value(code).unwrap().as_str().unwrap().to_owned())).collect()
    }

    #[test]
    fn every_word_has_one_code() {
        let words = words();
        let different: BTreeSet<_> = words.iter().map(|(_, word)| word).collect();
        assert_eq!(different.len(), words.len());
        for (code, word) in &words {
            assert_eq!(serde_json::from_value::<Code>(word.as_str().into()).unwrap(), *code);
        }
        assert_eq!(Code::of_daemon("no-such-sale"), Code::Daemon(ProblemType::NoSuchSale));
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
        let page = include_str!("../../docs/src/till.md");
        let (_, table) = page.split_once("| exit code | `code` with `--json` |").unwrap();
        let rows: Vec<&str> = table.split("\n\n").next().unwrap().lines().collect();
        for (code, word) in words() {
            let row = rows.iter().find(|row| row.contains(&format!("`{word}`")));
            let row = row.unwrap_or_else(|| panic!("docs/src/till.md does not list the code {word}"));
            let exit = code.exit() as u8;
            let numbers = row.trim_start_matches("| ").split(" |").next().unwrap();
            assert!(numbers.split(", ").any(|number| number == exit.to_string()), "{word}: {exit} in {row}");
        }
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
