//! What a cashier's day at the counter is made of, beside the sale itself: closes of day, and who stands there. Pure:
//! nothing here knows a clock, a disk or a device.
//!
//! | file | what it decides |
//! |---|---|
//! | `close.rs` | what stands in a close of day, and what of it another till may see |
//! | `day_sums.rs` | the sums of a close: what was taken and given, by kind, brand, till, operator and currency |
//! | `business_day.rs` | the date that a close belongs to |
//! | `csv.rs` | a close as a table for a spreadsheet |
//! | `operators.rs` | the operators' roles, what each may do, and above which amount a supervisor confirms |
//! | `pin.rs` | an operator's PIN, and what is kept of it |
//! | `attempts.rs` | wrong PINs: from which one on, and for how long, nobody may try again |
//! | `sessions.rs` | who is signed in, through which door, and when that ends |
//! | `approvals.rs` | a supervisor's word for one command of a cashier |
//!
//! **The rule of a close.** Money counts where the journal wrote that a transaction has ended: in the close whose
//! period contains that entry. Order is the journal's, never the clock's, so each end is in exactly one period. What
//! has no end yet is in no sum and stands in the close by name. So all closes together, with what moved after the last
//! one, are the gateway's ledger once all is settled; and at each close the ledger differs by its open items alone.

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
