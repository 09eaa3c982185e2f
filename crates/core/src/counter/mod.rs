//! The work at the counter other than transactions: closes of day and signed-in operators. This module is pure: it uses
//! no clock, no disk and no device.
//!
//! | file | content |
//! |---|---|
//! | `close.rs` | the contents of a close of day, and which of them another till may see |
//! | `day_sums.rs` | the sums of a close: the amounts taken and given, by kind, brand, till, operator and currency |
//! | `business_day.rs` | the date that a close belongs to |
//! | `csv.rs` | a close as a table for a spreadsheet |
//! | `operators.rs` | the operators' roles, their rights, and the amounts above which a supervisor confirms |
//! | `pin.rs` | an operator's PIN, and the data stored for it |
//! | `attempts.rs` | the limits on wrong PINs: the number of free attempts, and the waits after them |
//! | `sessions.rs` | the signed-in operators, their sign-in sources, and when a session ends |
//! | `approvals.rs` | a supervisor's approval of one command from a cashier |
//!
//! **The rule of a close.** A transaction counts in the close whose period contains the journal entry of its end.
//! Periods follow the order of the journal, never the clock, so each end is in exactly one period. A transaction
//! without an outcome is in no sum, and the close lists it by number. Once every transaction has an outcome, all closes
//! and the amounts moved after the last one together equal the gateway's ledger. At each close, the ledger differs from
//! the closes only by the open items.

mod approvals;
mod attempts;
mod business_day;
mod close;
mod csv;
mod day_sums;
mod operators;
mod pin;
mod sessions;

pub use approvals::{Approvals, Approved, GivenApproval, NoApproval};
pub use attempts::{Attempts, PinPlace, TryKey};
pub use business_day::{DayEnd, NoDayEnd, time_of_day};
pub use close::{Close, ClosePeriod, OpenItem, OpenKind, Shift, Sum, TillSums};
pub use csv::csv;
pub use day_sums::{DaySums, Turnover};
pub use operators::{Deed, NeedsSupervisor, Role, SupervisorAbove};
pub use pin::{ITERATIONS, Pin, PinDigest, PinError, PinKey};
pub use sessions::{Session, Sessions, TokenDigest};
