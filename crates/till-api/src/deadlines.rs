//! Deadlines for answers. Each class has one figure, which is the agent's deadline. The deadlines of all callers derive
//! from it.
//!
//! ```text
//!  agent ──────────────▶│ the route's own question: agent()
//!  … and in addition ───────▶│ who is signed in, and one further question: BESIDE
//!  front, command line ───────▶│ caller()
//!  page, through the front ──────▶│ page()
//! ```

use std::time::Duration;

/// The longest `wait-s` in seconds. Some proxies and libraries give up after two minutes.
pub const LONGEST_WAIT_S: u8 = 120;

/// The maximum time for which a list waits in the agent for the previous list.
pub const READ_PERMIT: Duration = Duration::from_secs(8);

/// The time for the agent's own questions in addition to a route's question. It first asks who is signed in. It then
/// does one of three: it waits for its permit to read, reads a transaction before a command about it, or reads its
/// state after a wait.
const BESIDE: Duration = AnswerDeadline::AtOnce.agent().saturating_mul(2);

/// The time that a request and its answer spend on their way. Each program in between adds this time once.
const WAY: Duration = Duration::from_secs(5);

/// The class of an answer, by the time that the agent needs for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerDeadline {
    /// One write to the journal, or one page read from it. A slow SD card needs a second.
    AtOnce,
    /// The time that the caller states in `wait-s`.
    Named,
    /// The check of an operator's PIN. On a slow terminal, all waiting sign-ins together take this long.
    Pin,
    /// Lines on paper, after the waiting receipts.
    Printing,
    /// Counting over a journal of a hundred thousand transactions on a slow SD card.
    Counting,
    /// The same count, after another close of day that is running.
    Closing,
    /// A question to the gateway. Its deadline is longer than the gateway's own two deadlines together.
    Gateway,
    /// Input by a person at the reader. Its deadline is longer than any `card-timeout-s`, which ends the input.
    Typing,
}

impl AnswerDeadline {
    /// All classes.
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

    /// Returns how long the agent waits for the answer to the route's own question. After that it answers `no-answer`.
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

    /// Returns how long a caller waits for the head of an answer, which is longer than the agent may need in total.
    pub const fn caller(self) -> Duration {
        self.agent().saturating_add(BESIDE).saturating_add(WAY)
    }

    /// Returns how long the cashier's page waits for an answer through the front. The page repeats requests of the
    /// class `AtOnce` under the same reference. It gives up such a request soon after the agent's own deadline, because
    /// a radio link may have lost the answer.
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

    /// The agent may ask both in addition to a route's own question.
    #[test]
    fn a_turn_to_read_takes_no_longer_than_a_plain_question() {
        assert!(READ_PERMIT <= AnswerDeadline::AtOnce.agent());
    }

    #[test]
    fn the_longest_wait_is_the_deadline_of_what_the_caller_names() {
        assert_eq!(AnswerDeadline::Named.agent().as_secs(), u64::from(LONGEST_WAIT_S));
    }
}
