//! Miura MPI (readers: 2): M006, M007, M010, M020, M021, POSzle.
//!
//! The files in order. Each uses only those above it:
//!
//! | file | content |
//! |---|---|
//! | `settings` | the settings that only Miura readers have |
//! | `message` | the content of the packets of [`pos_reader_link::apdu_link`]: bytes and their meaning |
//! | `line` | one command at a time, its deadline, ABORT |
//! | `display` | the driver's own texts on the reader |
//! | `next` | the result of a stage |
//! | `card_read` | turns a read card into a [`Presented`](pos_terms::card::Presented), or rejects it |
//! | `completing` | from the read card to the card's last answer, with the gateway's answer |
//! | `sale`, then `waiting`, `contact`, `swipe`, `manual`, `stopping` | a transaction up to the read card |
//! | `idle`, `startup`, `typing`, `card_removal` | idle, start-up, a typed amount or tip, the end of a transaction |
//! | `machine` | the choice of the stage that takes an event, and the next state |
//! | `session` | the outer layer with bytes, floods and deadlines, which a `driver` runs |
//!
//! No file does I/O or reads the clock. `tests/rules/layers.rs` checks that they have no circular dependency.

mod card_read;
mod card_removal;
mod completing;
mod contact;
mod display;
mod idle;
mod line;
mod machine;
mod manual;
pub mod message;
mod next;
mod sale;
mod session;
mod settings;
mod startup;
mod stopping;
mod swipe;
mod typing;
mod waiting;

pub use session::MiuraSession;
pub use settings::{ManualEntry, MiuraSettings};
