//! The library behind `pos-agent`: a payment terminal from a board, a card reader and a receipt printer.
//!
//! The map, in the order a sale meets the rooms:
//!
//! ```text
//!  till ──▶ agent ──▶ sale (decides) ──▶ journal (remembers) ──▶ then, and only then, the devices act:
//!                       ▲                                          reader · gateway · printer
//!                       └──────────── what the devices answer ◀────┘
//! ```

pub mod agent;
pub mod card;
pub mod cli;
pub mod config;
pub mod emv;
pub mod gateway;
pub mod journal;
pub mod money;
pub mod printer;
pub mod reader;
pub mod sale;
#[cfg(feature = "sim")]
pub mod sim;
pub mod systemd;
pub mod till;
