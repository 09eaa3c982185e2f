//! The latest known state of the gateway, after any request by any caller: payment, look-up, reversal or probe.
//!
//! An answered probe says nothing about the token, because the path of a probe may be open to everyone. A refused token
//! counts as refused until the gateway accepts a request with it or the files change.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fault::Fault;

/// The gateway's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Contact {
    /// The client has sent no request yet.
    #[default]
    NotAskedYet,
    /// A connection is open, but no request has been sent over it yet.
    Connected,
    /// The gateway answers.
    Answers,
    /// The gateway receives more requests than it accepts.
    Throttles,
    /// The gateway does not answer, or its answer is wrong.
    Fault(Fault),
}

impl Contact {
    /// Checks whether the latest contact reached the gateway, with any answer.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        matches!(self, Self::Connected | Self::Answers | Self::Throttles | Self::Fault(Fault::TokenRefused { .. }))
    }

    /// Returns the fault.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        if let Self::Fault(fault) = self { Some(fault) } else { None }
    }
}

/// The store of the latest state.
#[derive(Debug, Default)]
pub(super) struct LastContact(Mutex<Latest>);

#[derive(Debug, Default)]
struct Latest {
    line: Contact,
    token: Token,
    /// The edition of the files that were in use. The files of another edition may be right.
    edition: u64,
}

/// The state of our token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Token {
    #[default]
    Unknown,
    Taken,
    /// The gateway refused the token with this status.
    Refused(u16),
}

impl LastContact {
    /// Records that a request with our token was answered with this status.
    pub(super) fn answered(&self, status: u16, edition: u64) {
        let mut latest = self.latest();
        let token = match status {
            401 | 403 => Token::Refused(status),
            // A gateway that is out of order may not have checked the token.
            500.. if latest.edition == edition => latest.token,
            500.. => Token::Unknown,
            _ => Token::Taken,
        };
        *latest = Latest { line: line_of(status), token, edition };
    }

    /// Records an answered probe.
    pub(super) fn probed(&self, status: u16) {
        self.latest().line = line_of(status);
    }

    /// Checks whether a request with our token is needed to show that the gateway accepts the token.
    pub(super) fn must_ask_for_token(&self, edition: u64) -> bool {
        let latest = self.latest();
        latest.token != Token::Taken || latest.edition != edition
    }

    /// Records that the gateway throttled a request.
    pub(super) fn throttles(&self) {
        self.latest().line = Contact::Throttles;
    }

    /// Records an open connection, which proves less than an answer.
    pub(super) fn connected(&self) {
        let mut latest = self.latest();
        if matches!(&latest.line, Contact::NotAskedYet) || latest.line.fault().is_some_and(Fault::ends_with_a_line) {
            latest.line = Contact::Connected;
        }
    }

    /// Records that a request had no answer.
    pub(super) fn failed(&self, fault: &Fault, edition: u64) {
        let mut latest = self.latest();
        latest.line = Contact::Fault(fault.clone());
        if latest.edition != edition {
            (latest.token, latest.edition) = (Token::Unknown, edition);
        }
    }

    /// Returns the state for this edition of the files.
    pub(super) fn contact(&self, edition: u64) -> Contact {
        let latest = self.latest();
        match (&latest.line, latest.token) {
            // An earlier refusal says nothing about other files, other certificates or another token.
            (Contact::Fault(_), _) if latest.edition != edition => Contact::NotAskedYet,
            (Contact::Fault(fault), _) => Contact::Fault(fault.clone()),
            (_, Token::Refused(status)) if latest.edition == edition => Contact::Fault(Fault::TokenRefused { status }),
            (line, _) => line.clone(),
        }
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line_of(status: u16) -> Contact {
    match status {
        500.. => Contact::Fault(Fault::OutOfOrder { status }),
        _ => Contact::Answers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_token_stays_refused_until_it_was_taken_or_the_files_have_changed() {
        let refused = Contact::Fault(Fault::TokenRefused { status: 401 });
        let heard = LastContact::default();
        assert_eq!(heard.contact(0), Contact::NotAskedYet);
        assert!(heard.must_ask_for_token(0));
        heard.answered(401, 0);
        assert_eq!(heard.contact(0), refused);
        assert!(heard.must_ask_for_token(0));
        // A probe says nothing about the token, and an open connection even less.
        heard.probed(200);
        heard.connected();
        assert_eq!(heard.contact(0), refused);
        // A cut connection is reported first; the token is still refused.
        heard.failed(&Fault::ConnectionRefused, 0);
        assert_eq!(heard.contact(0), Contact::Fault(Fault::ConnectionRefused));
        heard.connected();
        assert_eq!(heard.contact(0), refused);
        assert_eq!(heard.contact(1), Contact::Connected, "another token");
        heard.answered(503, 0);
        heard.probed(200);
        assert_eq!(heard.contact(0), refused);
        heard.answered(404, 0);
        assert_eq!(heard.contact(0), Contact::Answers);
        assert!(!heard.must_ask_for_token(0) && heard.must_ask_for_token(1));
        heard.answered(403, 0);
        heard.failed(&Fault::CaNotTrusted, 1);
        assert_eq!((heard.contact(1), heard.contact(2)), (Contact::Fault(Fault::CaNotTrusted), Contact::NotAskedYet));
    }

    #[test]
    fn an_open_line_is_less_than_an_answer() {
        let heard = LastContact::default();
        heard.connected();
        assert_eq!(heard.contact(0), Contact::Connected);
        heard.throttles();
        heard.connected();
        assert_eq!(heard.contact(0), Contact::Throttles);
        for (fault, after) in [
            (Fault::ConnectTimedOut { ms: 1 }, Contact::Connected),
            (Fault::CertificateExpired, Contact::Connected),
            (Fault::AnswerTimedOut { ms: 1 }, Contact::Fault(Fault::AnswerTimedOut { ms: 1 })),
        ] {
            heard.failed(&fault, 0);
            heard.connected();
            assert_eq!(heard.contact(0), after);
        }
        heard.answered(503, 0);
        heard.connected();
        assert_eq!(heard.contact(0), Contact::Fault(Fault::OutOfOrder { status: 503 }));
        assert!(!heard.contact(0).is_reached());
    }
}
