//! Miura MPI (readers: 2): M006, M007, M010, M020, M021, POSzle.
//!
//! `message` is the meaning of the bytes of [`super::link`], in both directions.

pub mod answer;
pub mod command;
pub mod event;
pub mod message;
