//! The work at the counter apart from transactions: closes of day and signed-in operators. Pure: it knows no clock, no
//! disk and no device.
//!
//! | file | what it decides |
//! |---|---|
//! | `close.rs` | the contents of a close of day, and which of them another till may see |
//! | `day_sums.rs` | the sums of a close: the amounts taken and given, by kind, brand, till, operator and currency |
//! | `business_day.rs` | the date that a close belongs to |
//! | `csv.rs` | a close as a table for a spreadsheet |
//! | `operators.rs` | the operators' roles, their rights, and the amounts above which a supervisor confirms |
//! | `pin.rs` | an operator's PIN, and the data that is kept of it |
//! | `attempts.rs` | wrong PINs: the number of free attempts, and the waits after them |
//! | `sessions.rs` | the signed-in operators, their sign-in sources, and when a session ends |
//! | `approvals.rs` | a supervisor's approval of one command of a cashier |
//!
//! **The rule of a close.** Money counts when the journal records the end of a transaction, in the close whose period
//! contains that entry. The order is the journal's, never the clock's, so each end is in exactly one period. A
//! transaction without an outcome is in no sum, and the close lists it by number. All closes together, with the amounts
//! moved after the last one, therefore equal the gateway's ledger once everything has an outcome. At each close the
//! ledger differs from them only by the open items.

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
pub use business_day::{DayEnd, NoDayEnd};
pub use close::{Close, ClosePeriod, OpenItem, OpenKind, Sum, TillSums};
pub use csv::csv;
pub use day_sums::{DaySums, Turnover};
pub use operators::{Deed, NeedsSupervisor, Role, SupervisorAbove};
pub use pin::{ITERATIONS, Pin, PinDigest, PinError, PinKey};
pub use sessions::{Session, Sessions, TokenDigest};
