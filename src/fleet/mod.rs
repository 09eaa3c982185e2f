//! The fleet's part of the terminal that decides and does not act: who may sign what, and which command is accepted.

mod judging;
mod keys;
mod window;

pub use judging::{AskedCommand, CommandVerdict, JudgingNow, OwnPlace, judge};
pub use keys::{CommandSigner, FleetKeys, FleetTill, KeysRefused};
pub use window::taking;
