//! The terminal's surroundings: its connections, its clock and its random numbers. A test or simulator can replace each
//! of them.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use pos_core::book::Book;
use pos_daemon::wire::Connector;

/// A source of the board's time.
pub type BoardClock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// A look at the network's link. It returns the names of the interfaces if none of them has one.
pub type LinkLook = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// A source of 128 random bits.
pub type Random = Arc<dyn Fn() -> Result<[u8; 16], getrandom::Error> + Send + Sync>;

/// A journal, or a wrapper around it, with the journal's errors.
pub type AnyBook<'a> = dyn Book<Error = pos_journal::Error> + 'a;

/// A wrapper between the agent and its journal, through which every step and every close is written.
pub type BookWrapper = Arc<dyn for<'a> Fn(&'a mut AnyBook<'a>) -> Box<AnyBook<'a>> + Send + Sync>;

/// The terminal's surroundings. An absent connection means the system's own.
#[derive(Clone)]
pub struct Surroundings {
    /// The connection to the reader.
    pub reader: Option<Connector>,
    /// The connection to the gateway, below TLS.
    pub gateway: Option<Connector>,
    /// The look at the link below that connection. A supplied connection has none of its own.
    pub link: Option<LinkLook>,
    /// The connection to each printer.
    pub printer: Option<Connector>,
    /// The board's clock.
    pub board: BoardClock,
    /// The random bits that make the gateway references unique.
    pub random: Random,
    /// The wrapper around the journal; a real board has none.
    pub book: Option<BookWrapper>,
}

impl Default for Surroundings {
    /// Returns the system's surroundings.
    fn default() -> Self {
        Self {
            reader: None,
            gateway: None,
            link: None,
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
