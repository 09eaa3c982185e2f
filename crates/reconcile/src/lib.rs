//! Is: the gateway's settlement file against the journal. Bytes and journal entries come in, findings go out.
//! Is not: money that moves. Nothing here changes a sale; a person acts on what is found.
//! Invariant: memory grows with neither the journal nor the file beyond the bounds of [`Ledger`].
//!
//! ```text
//!  journal ─ due.rs: what should be settled ─▶ ledger.rs: 56 bytes for each sale ─┐
//!                                                                                 ├─▶ matching.rs ─▶ report.rs
//!  FILE.csv ─ file.rs: lines, header ─ row.rs: what a line says ──────────────────┘   row by row     findings, summary
//! ```
//!
//! The journal is read once and kept small, the file is read once and not kept: memory grows with neither beyond the
//! bounds of [`Ledger`]. What is found in a row is given out at once; what only the end of the file can tell (a sum
//! that differs, a sale that no row settles) comes after it.

mod due;
mod file;
mod ledger;
mod matching;
mod report;
mod row;

pub use file::{HeaderError, SettlementFile, SettlementLine, WrongColumn, date};
pub use ledger::{Error, Ledger, MOST_SALES};
pub use matching::{Matching, Period};
pub use report::{Difference, DifferenceKind, Money, Summary, Tally};
pub use row::{PaymentType, RecordType, RowFault, SettlementRow};
