//! How long an answer may take. Each class has one number, the agent's; what others wait is made from it.
//!
//! ```text
//!  agent ──────────────▶│ its own question: agent()
//!  … beside it ─────────────▶│ who is signed in, and one thing more: BESIDE
//!  front, command line ───────▶│ caller()
//!  page, behind the front ──────▶│ page()
//! ```

use std::time::Duration;

/// Longest `wait-s`: some proxies and libraries give up at two minutes.
pub const LONGEST_WAIT_S: u8 = 120;

/// How long a list waits in the agent for the one before it.
pub const TURN: Duration = Duration::from_secs(8);

/// What the agent asks beside a route's own question. It is who is signed in, and then one of these: the turn to read,
/// a transaction before the command about it, a look after a wait.
const BESIDE: Duration = AnswerDeadline::AtOnce.agent().saturating_mul(2);

/// The way of a request and its answer: one more of it for each program between.
const WAY: Duration = Duration::from_secs(5);

/// What the agent does for an answer, by the time that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerDeadline {
    /// One write of the journal, or a page of it; a slow SD card needs a second.
    AtOnce,
    /// What the caller names with `wait-s`.
    Named,
    /// An operator's PIN: all that may be waiting take this long on a slow board.
    Pin,
    /// Lines on paper, behind the receipts that wait.
    Printing,
    /// A journal of a hundred thousand transactions on a slow card.
    Counting,
    /// The same, and another close before this one.
    Closing,
    /// What the gateway is asked: longer than the gateway's own two deadlines.
    Gateway,
    /// A person types at the reader: longer than any `card-timeout-s`, which ends the typing.
    Typing,
}

impl AnswerDeadline {
    /// Every class.
    pub const ALL: [Self; 8] = [
        Self::AtOnce,
        Self::Named,
        Self::Pin,
        Self::Printing,
        Self::Counting,
        Self::Closing,
        Self::Gateway,
        Self::Typing,
    ];

    /// How long the agent waits for the answer to the route's own question. After it the agent says `no-answer`.
    pub const fn agent(self) -> Duration {
        Duration::from_secs(match self {
            Self::AtOnce => 10,
            Self::Named => LONGEST_WAIT_S as u64,
            Self::Pin => 30,
            Self::Printing | Self::Counting => 60,
            Self::Closing => 120,
            Self::Gateway => 170,
            Self::Typing => 660,
        })
    }

    /// How long a caller waits for an answer to begin: longer than the agent may take in all.
    pub const fn caller(self) -> Duration {
        self.agent().saturating_add(BESIDE).saturating_add(WAY)
    }

    /// How long the cashier's page waits, which asks by the front. What is at once it asks again by its reference, so
    /// it gives that up soon after the agent's own deadline: a line by radio may have swallowed the answer.
    pub const fn page(self) -> Duration {
        match self {
            Self::AtOnce => self.agent().saturating_add(WAY),
            _ => self.caller().saturating_add(WAY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caller_waits_longer_than_the_agent_may_take() {
        let beside = AnswerDeadline::AtOnce.agent() * 2;
        for class in AnswerDeadline::ALL {
            assert!(class.caller() > class.agent() + beside, "{class:?}");
            assert!(class.page() > class.agent(), "{class:?}");
            let is_asked_again = class == AnswerDeadline::AtOnce;
            assert!(is_asked_again || class.page() > class.caller(), "{class:?}");
        }
    }

    /// Each of them is one of the two things that the agent may do beside a route's own question.
    #[test]
    fn a_turn_to_read_takes_no_longer_than_a_plain_question() {
        assert!(TURN <= AnswerDeadline::AtOnce.agent());
    }

    #[test]
    fn the_longest_wait_is_the_deadline_of_what_the_caller_names() {
        assert_eq!(AnswerDeadline::Named.agent().as_secs(), u64::from(LONGEST_WAIT_S));
    }
}
