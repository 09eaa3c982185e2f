//! Miura MPI (readers: 2): M006, M007, M010, M020, M021, POSzle.
//!
//! The order of the files, each using only those above it:
//!
//! | | |
//! |---|---|
//! | `settings` | what the configuration says to such readers alone |
//! | `message` | what the packets of [`pos_reader_link::apdu_link`] hold: bytes and their meaning |
//! | `line` | one command at a time, its deadline, ABORT |
//! | `display` | the driver's own texts on the reader |
//! | `next` | what follows from what a stage has heard |
//! | `card_read` | what was read becomes a [`Presented`](pos_terms::card::Presented), or cannot be used |
//! | `completing` | from the card that was read, over the host's answer, to the card's last word |
//! | `sale`, then `waiting`, `contact`, `swipe`, `manual`, `stopping` | a sale up to the card that was read |
//! | `idle`, `startup`, `typing`, `card_removal` | the reader by itself, an amount or a tip, after a sale |
//! | `machine` | which of these stages hears what, and what follows |
//! | `session` | bytes, floods and deadlines around it: what a `driver` drives |
//!
//! No file does I/O or asks the clock. `tests/rules/layers.rs` holds that there is no circle among them.

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
