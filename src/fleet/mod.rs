//! The fleet's part of the terminal that decides and does not act: who may sign what.

mod keys;

pub use keys::{CommandSigner, FleetKeys, FleetTill, KeysRefused};
