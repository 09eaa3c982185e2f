//! What surrounds the terminal: its wires, its clock and its random numbers, where they are not what the system gives.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use pos_daemon::wire::Connector;

/// Gives the board's time.
pub type BoardClock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// Gives 128 random bits.
pub type Random = Arc<dyn Fn() -> Result<[u8; 16], getrandom::Error> + Send + Sync>;

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
    /// Who sees each commit of the journal.
    pub watch: Option<pos_journal::Watch>,
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
            watch: None,
        }
    }
}
