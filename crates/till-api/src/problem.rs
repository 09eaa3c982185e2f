//! The reasons why a request is refused, as data: the closed list of problem types (RFC 9457). Each has a word, an HTTP
//! status and a title.
//!
//! This is the only such list. It is the source of the interface's answers, its description (OpenAPI) and the manual's
//! table. The command line's codes and exit codes, and each till protocol's view of a refusal, derive from it too.
//! Words may be added, but a word never changes its meaning.

use serde::{Deserialize, Serialize};

macro_rules! problems {
    ($($name:ident = $word:literal, $status:literal, $title:literal;)*) => {
        /// A problem type of the closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[allow(rustdoc::broken_intra_doc_links, reason = "a title may name a section of the configuration in brackets")]
        pub enum ProblemType { $(#[doc = $title] #[serde(rename = $word)] $name,)* }

        impl ProblemType {
            /// All problem types, in the order of this file.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the machine-readable word.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Returns the problem type with this word, or `None` for a word from a later agent version.
            #[must_use]
            pub fn of_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|problem| problem.code() == code)
            }

            /// Returns the word as a URI. RFC 9457 compares types by their URIs.
            #[must_use]
            pub fn type_uri(self) -> &'static str {
                match self { $(Self::$name => concat!("urn:pos-agent:problem:", $word),)* }
            }

            /// Returns the HTTP status of the answer.
            #[must_use]
            pub fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }

            /// Returns the human-readable title. It is always the same for one type.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

problems! {
    Malformed = "malformed", 400, "The request cannot be understood";
    Unauthorized = "unauthorized", 401, "The token is missing or unknown at this terminal";
    OperatorRequired = "operator-required", 401, "An operator must be signed in";
    WrongPin = "wrong-pin", 401, "The name or the PIN is wrong";
    SessionEnded = "session-ended", 401, "No operator is signed in with this session";
    Forbidden = "forbidden", 403, "A right is missing";
    NotSigned = "not-signed", 403, "No key of this terminal has signed this";
    OperatorRole = "operator-role", 403, "The signed-in operator's role does not allow this request";
    SupervisorNeeded = "supervisor-needed", 403, "A supervisor must confirm this command";
    NotApproved = "not-approved", 403, "No supervisor has confirmed this command";
    NoSupervisor = "no-supervisor", 403, "The confirming operator is not a supervisor";
    NoSuchSale = "no-such-sale", 404, "No transaction has this reference";
    NoSuchClose = "no-such-close", 404, "There is no such close of day";
    NoSuchOperator = "no-such-operator", 404, "No operator has this name";
    NoSuchCommand = "no-such-command", 404, "The terminal knows no command with this id";
    NotFound = "not-found", 404, "There is no such path";
    MethodNotAllowed = "method-not-allowed", 405, "This path does not support the method";
    NotAcceptable = "not-acceptable", 406, "The answer is available only in other formats";
    Timeout = "timeout", 408, "The request arrived too slowly";
    AmountDiffers = "amount-differs", 409, "The reference belongs to a different transaction";
    Busy = "busy", 409, "Another transaction is in progress";
    NothingTyped = "nothing-typed", 409, "No amount was typed at the reader";
    NoSignatureAwaited = "no-signature-awaited", 409, "This transaction is not waiting for a signature check";
    NoConfirmationAwaited = "no-confirmation-awaited", 409, "This transaction is not waiting for the till's confirmation, or the till has already confirmed a different amount";
    NoReceiptYet = "no-receipt-yet", 409, "The transaction has no receipt yet";
    TrainingOff = "training-off", 409, "Training mode is switched off at this terminal";
    NoFleet = "no-fleet", 409, "The terminal is in no fleet: its configuration has no section [fleet]";
    OperatorExists = "operator-exists", 409, "An operator with this name already exists";
    TooManyOperators = "too-many-operators", 409, "No more operators can be added";
    TooLarge = "too-large", 413, "The request is too large";
    MediaType = "media-type", 415, "The request is not JSON";
    Amount = "amount", 422, "The amount cannot be charged";
    Currency = "currency", 422, "The currency is unknown or not used by this terminal";
    Reference = "reference", 422, "The reference is not valid";
    NotPossible = "not-possible", 422, "The earlier transaction does not allow this request";
    Parameter = "parameter", 422, "A gateway parameter cannot be sent";
    Operator = "operator", 422, "The operator name is not valid";
    Pin = "pin", 422, "The PIN is not valid or not allowed";
    OperatorLocked = "operator-locked", 429, "Too many wrong PINs: no PIN is accepted for a while";
    PinUnderWay = "pin-under-way", 429, "Another PIN is being checked";
    TooManyRequests = "too-many-requests", 429, "This caller is sending too many requests at the same time";
    TooManyListeners = "too-many-listeners", 429, "This caller has too many event streams open";
    ListUnderWay = "list-under-way", 429, "Another list or count for this caller is still being read";
    Gateway = "gateway", 502, "The gateway did not answer";
    NotReady = "not-ready", 503, "No transaction can be started now";
    NoAnswer = "no-answer", 503, "The agent did not answer in time: ask for the reference again";
    NoPlace = "no-place", 503, "A newer connection has replaced this one";
    Printer = "printer", 503, "The receipt cannot be printed";
    Journal = "journal", 503, "The journal cannot be read or written";
}

impl ProblemType {
    /// Returns whether the refusal has a passing cause that is unrelated to the content of the request. The same
    /// request may succeed a moment later.
    #[must_use]
    pub fn is_passing(self) -> bool {
        matches!(self, Self::NoAnswer | Self::NoPlace | Self::Timeout | Self::TooManyRequests)
    }

    /// Returns whether the agent refuses a begin in this way only after searching its journal for the reference. Such a
    /// refusal proves that no earlier request with this reference was carried out.
    #[must_use]
    pub fn follows_the_look_for_the_reference(self) -> bool {
        matches!(
            self,
            Self::AmountDiffers
                | Self::Busy
                | Self::SupervisorNeeded
                | Self::NotApproved
                | Self::Amount
                | Self::Currency
                | Self::NotPossible
                | Self::Parameter
                | Self::NotReady
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_problem_has_a_word_of_its_own_and_the_status_of_an_error() {
        let words: BTreeSet<_> = ProblemType::ALL.iter().map(|problem| problem.code()).collect();
        assert_eq!(words.len(), ProblemType::ALL.len());
        for problem in ProblemType::ALL {
            let word = problem.code();
            assert_eq!(serde_json::to_value(problem).unwrap(), word);
            assert_eq!(ProblemType::of_code(word), Some(*problem));
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{word}");
            assert_eq!(problem.type_uri(), format!("urn:pos-agent:problem:{word}"));
            assert!((400..600).contains(&problem.status()), "{word}");
            assert!(!problem.title().ends_with('.'), "{word}");
        }
    }
}
