//! Is: the comparison of the gateway's settlement file with the journal. Bytes and journal entries are the input, and
//! findings are the output. Is not: money that moves. Nothing here changes a transaction; a person acts on the
//! findings. Invariant: memory grows with neither the journal nor the file beyond the bounds of [`Ledger`].
//!
//! ```text
//!  journal ─ due.rs: expected settlement ─▶ ledger.rs: 56 bytes per transaction ─┐
//!                                                                                ├─▶ matching.rs ─▶ report.rs
//!  FILE.csv ─ file.rs: lines, header ─ row.rs: meaning of a line ────────────────┘   row by row     findings, summary
//! ```
//!
//! The journal is read once and kept in a compact form. The file is read once and not kept. A finding about one row is
//! reported immediately. Findings that need the whole file (a sum that differs, a transaction without a settled row)
//! follow at the end.

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
