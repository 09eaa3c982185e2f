//! Miura MPI (readers: 2): M006, M007, M010, M020, M021, POSzle.
//!
//! `message` is the meaning of the bytes of [`super::link`], in both directions: [`command`] with [`terms`] and
//! [`number`], [`answer`], [`capability`], [`event`]. [`session`] is the rules: start-up, then one order after another,
//! with
//!
//! | | |
//! |---|---|
//! | `line` | one command at a time, its deadline, ABORT |
//! | `startup`, `idle`, `clock` | the reader by itself |
//! | `sale`: `waiting`, `contact`, `swipe`, `manual` | up to the card that was read |
//! | `stopping` | the ways out before that |
//! | `reading` | what was read becomes a [`Presented`](crate::card::Presented), or is refused |
//! | `completing` | from the host's answer to the empty slot |
//! | `typing` | an amount or a tip |
//! | `words` | the driver's own texts on the display |
//!
//! Only [`super::port`] does I/O and asks the clock.

pub mod answer;
pub mod capability;
mod clock;
pub mod command;
mod completing;
pub mod configuration;
mod contact;
pub mod event;
mod idle;
mod line;
mod manual;
pub mod message;
pub mod number;
mod reading;
mod sale;
pub mod session;
mod startup;
mod stopping;
mod swipe;
pub mod terms;
mod typing;
mod waiting;
mod words;
