//! The report of a failed verb. People get a sentence on standard error. With `--json`, programs also get one object on
//! standard output. The list of its codes is closed, and no code changes its meaning.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::exit::{Exit, Stop};
use super::out;
use crate::till::ProblemType;

/// The failure code for programs. When the agent refuses a request, the code is one of the till interface
/// ([`ProblemType`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The arguments are wrong.
    Usage,
    /// The outcome is not known yet.
    Unconfirmed,
    /// The transaction was cancelled before it began.
    Cancelled,
    /// A name, a reference or a file does not match.
    Data,
    /// Nothing was sent.
    NotSent,
    /// No agent listens at the socket.
    NoDaemon,
    /// The connection to the agent was lost.
    DaemonLost,
    /// A fault in the program.
    Software,
    /// A file or the socket cannot be used.
    File,
    /// This user has no permission.
    NotPermitted,
    /// The configuration is wrong.
    Configuration,
    /// The agent refused the request with a code that only a newer version knows.
    Refused,
    /// The agent refused the request with this code.
    #[serde(untagged)]
    Daemon(ProblemType),
}

impl Code {
    /// The codes that the command line itself gives: one for each exit code of a failure, and some that are more
    /// specific.
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

    /// Returns the code for a word that the agent sent.
    pub(super) fn of_daemon(word: &str) -> Self {
        let known = ProblemType::ALL.iter().find(|problem| problem.code() == word);
        known.map_or(Self::Refused, |problem| Self::Daemon(*problem))
    }

    /// Returns the exit code of this failure.
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

/// Returns the exit code for a refusal by the agent.
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
        | ProblemType::NoSuchCommand
        | ProblemType::NoFleet
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
        | ProblemType::NotSigned
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
    /// Returns the code of a stop for which only the exit code is known.
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
            // Apart from `Software`, these exit codes come from verbs that were carried out.
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

/// Reports why a verb stopped: to people, and to a program that asked for JSON.
pub(super) fn tell(stop: &Stop, in_json: bool) -> Exit {
    let text = stop.to_string();
    if in_json {
        out::say_json(&Failure { error: Error { code: stop.code(), detail: &text } });
    }
    text.lines().for_each(out::complain);
    stop.exit()
}

/// Reports the fault that clap found in the arguments. `--help` and `--version` are answers, not faults.
pub(super) fn tell_usage(error: &clap::Error, in_json: bool) -> Exit {
    pos_daemon::help::tell(&error.to_string(), error.use_stderr());
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

/// Returns whether the arguments ask for JSON. `--json` has this meaning for every verb, and `--` ends the options.
pub(super) fn is_in_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns every code with its word.
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
