//! Miura MPI (readers: 2): M006, M007, M010, M020, M021, POSzle.
//!
//! `message` is the meaning of the bytes of [`super::link`], in both directions: [`command`], [`answer`], [`event`]. [`session`] is
//! the rules: start-up, then one sale after another, with `line` (one command at a time, its deadline, ABORT), `startup`, `sale`
//! (up to the card that was read), `swipe`, `completing`
//! (from the host's answer to the empty slot) and `reading` (what was read becomes a
//! [`Presented`](crate::card::Presented), or is refused). Only [`super::port`] does I/O and asks the clock.

pub mod answer;
pub mod command;
mod completing;
pub mod event;
mod line;
pub mod message;
mod reading;
mod sale;
pub mod session;
mod startup;
mod swipe;
