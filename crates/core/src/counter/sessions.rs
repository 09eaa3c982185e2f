//! The signed-in operators. A session is identified by a token of 128 random bits, of which only a digest is kept. It
//! is valid only at the sign-in source where it was opened: with the same till's token, or for the same user at the
//! socket.
//!
//! A session ends when the operator signs out, is removed or gets another PIN, and after some time without a command.
//! It also ends with the program, because it is not stored on the disk. A transaction begun in a session continues
//! after the session ends.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::Role;
use pos_terms::transaction::{OperatorName, Who};

/// The maximum number of sessions for one sign-in source. A further session ends the least recently used one. A page
/// that is open in several browsers has several sessions.
const MOST_OF_ONE_DOOR: usize = 64;

/// The stored digest of a token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Wraps the SHA-256 digest of a token. The agent computes the digest.
    #[must_use]
    pub fn new(sha_256: [u8; 32]) -> Self {
        Self(sha_256)
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest")
    }
}

/// An operator who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The operator's name.
    pub operator: OperatorName,
    /// The operator's role.
    pub role: Role,
    /// The sign-in source.
    caller: Who,
    /// The time of sign-in or of the last command.
    used: Duration,
}

/// All sessions.
#[derive(Debug)]
pub struct Sessions {
    idle: Duration,
    open: BTreeMap<TokenDigest, Session>,
}

impl Sessions {
    /// Creates an empty set of sessions. Each session ends after it has had no command for `idle`.
    #[must_use]
    pub fn new(idle: Duration) -> Self {
        Self { idle, open: BTreeMap::new() }
    }

    /// Returns the time without a command after which a session ends.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.idle
    }

    /// Begins a session for an operator who has signed in.
    pub fn begin(&mut self, token: TokenDigest, operator: OperatorName, role: Role, caller: Who, now: Duration) {
        self.end_idle(now);
        let of_caller = self.open.iter().filter(|(_, session)| session.caller == caller);
        if of_caller.clone().count() >= MOST_OF_ONE_DOOR
            && let Some(oldest) = of_caller.min_by_key(|(_, session)| session.used).map(|(token, _)| *token)
        {
            self.open.remove(&oldest);
        }
        self.open.insert(token, Session { operator, role, caller, used: now });
    }

    /// Returns the session of this token, if it is valid at this sign-in source. `commands` is true for a command and
    /// false for a view.
    pub fn find(&mut self, token: &TokenDigest, caller: &Who, commands: bool, now: Duration) -> Option<&Session> {
        self.end_idle(now);
        let session = self.open.get_mut(token).filter(|session| session.caller == *caller)?;
        if commands {
            session.used = now;
        }
        Some(session)
    }

    /// Signs an operator out. Returns the operator's name if the session existed.
    pub fn end(&mut self, token: &TokenDigest, caller: &Who) -> Option<OperatorName> {
        self.open.get(token).filter(|session| session.caller == *caller)?;
        self.open.remove(token).map(|session| session.operator)
    }

    /// Ends all sessions of one operator.
    pub fn end_all_of(&mut self, operator: &OperatorName) {
        self.open.retain(|_, session| session.operator != *operator);
    }

    fn end_idle(&mut self, now: Duration) {
        self.open.retain(|_, session| now.saturating_sub(session.used) < self.idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anna() -> OperatorName {
        OperatorName::parse("Anna").unwrap()
    }

    fn user(uid: u32) -> Who {
        Who { uid: Some(uid), ..Who::default() }
    }

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    fn sessions() -> (Sessions, TokenDigest) {
        let (mut sessions, token) = (Sessions::new(seconds(300)), TokenDigest::new([1; 32]));
        sessions.begin(token, anna(), Role::Cashier, user(7), seconds(0));
        (sessions, token)
    }

    #[test]
    fn a_session_is_good_for_its_own_caller_alone() {
        let (mut sessions, token) = sessions();
        assert_eq!(sessions.find(&token, &user(7), false, seconds(1)).map(|it| it.role), Some(Role::Cashier));
        assert!(sessions.find(&token, &user(8), true, seconds(1)).is_none());
        assert!(sessions.find(&TokenDigest::new([2; 32]), &user(7), true, seconds(1)).is_none());
        assert_eq!(sessions.end(&token, &user(8)), None, "nobody else signs it out");
        assert_eq!(sessions.end(&token, &user(7)), Some(anna()));
        assert_eq!(sessions.end(&token, &user(7)), None);
        assert!(sessions.find(&token, &user(7), false, seconds(1)).is_none());
    }

    #[test]
    fn commands_keep_it_open_and_looks_do_not() {
        let (mut sessions, token) = sessions();
        assert!(sessions.find(&token, &user(7), true, seconds(200)).is_some());
        assert!(sessions.find(&token, &user(7), false, seconds(499)).is_some());
        assert!(sessions.find(&token, &user(7), true, seconds(500)).is_none(), "300 s after the last command");
        assert!(sessions.open.is_empty());
    }

    #[test]
    fn the_operators_end_is_that_of_all_its_sessions() {
        let (mut sessions, token) = sessions();
        let (other, ben) = (TokenDigest::new([2; 32]), OperatorName::parse("Ben").unwrap());
        sessions.begin(other, ben, Role::Supervisor, user(7), seconds(1));
        sessions.end_all_of(&anna());
        assert!(sessions.find(&token, &user(7), false, seconds(1)).is_none());
        assert!(sessions.find(&other, &user(7), false, seconds(1)).is_some());
    }

    #[test]
    fn one_door_has_so_many_and_no_more() {
        let (mut sessions, first) = sessions();
        for n in 0..MOST_OF_ONE_DOOR as u8 {
            sessions.begin(TokenDigest::new([100 + n; 32]), anna(), Role::Cashier, user(7), seconds(1 + u64::from(n)));
        }
        assert_eq!(sessions.open.len(), MOST_OF_ONE_DOOR);
        assert!(sessions.find(&first, &user(7), false, seconds(100)).is_none(), "the oldest has left");
    }
}
