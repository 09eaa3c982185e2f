//! What surrounds the terminal: its wires, its clock and its random numbers, where they are not what the system gives.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use pos_core::book::Book;
use pos_daemon::wire::Connector;

/// Gives the board's time.
pub type BoardClock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// Gives 128 random bits.
pub type Random = Arc<dyn Fn() -> Result<[u8; 16], getrandom::Error> + Send + Sync>;

/// An account book whose writing can fail as the journal's.
pub type AnyBook<'a> = dyn Book<Error = pos_journal::Error> + 'a;

/// Stands between the agent and its book: every step and every close passes it.
pub type BookWrapper = Arc<dyn for<'a> Fn(&'a mut AnyBook<'a>) -> Box<AnyBook<'a>> + Send + Sync>;

/// What surrounds the terminal, where it is not what the system gives.
#[derive(Clone)]
pub struct Surroundings {
    /// The reader's wire.
    pub reader: Option<Connector>,
    /// The gateway's, below TLS.
    pub gateway: Option<Connector>,
    /// Every printer's.
    pub printer: Option<Connector>,
    /// The board's clock.
    pub board: BoardClock,
    /// What makes our references at the gateway unlike all others.
    pub random: Random,
    /// What stands between the agent and its book; nothing on a board.
    pub book: Option<BookWrapper>,
}

impl Default for Surroundings {
    /// The system's.
    fn default() -> Self {
        Self {
            reader: None,
            gateway: None,
            printer: None,
            board: Arc::new(Utc::now),
            random: Arc::new(|| {
                let mut random = [0; 16];
                getrandom::fill(&mut random).map(|()| random)
            }),
            book: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_board_nothing_stands_before_the_book() {
        assert!(Surroundings::default().book.is_none());
    }
}
