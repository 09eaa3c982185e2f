//! What a cashier's day at the counter is made of, beside the sale itself. Pure: nothing here knows a clock, a disk or
//! a device.
//!
//! | file | what it decides |
//! |---|---|
//! | `close.rs` | what stands in a close of day, and what of it another till may see |
//! | `day_sums.rs` | the sums of a close: what was taken and given, by kind, brand, till, operator and currency |
//! | `business_day.rs` | the date that a close belongs to |
//! | `csv.rs` | a close as a table for a spreadsheet |
//!
//! **The rule of a close.** Money counts where the journal wrote that a transaction has ended: in the close whose
//! period contains that entry. Order is the journal's, never the clock's, so each end is in exactly one period. What
//! has no end yet is in no sum and stands in the close by name. So all closes together, with what moved after the last
//! one, are the gateway's ledger once all is settled; and at each close the ledger differs by its open items alone.

mod business_day;
mod close;
mod csv;
mod day_sums;

pub use business_day::{DayEnd, NoDayEnd};
pub use close::{Close, OpenItem, OpenKind, Period, Sum};
pub use csv::csv;
pub use day_sums::{DaySums, Turnover};
