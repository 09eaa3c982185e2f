//! The counter: what belongs to a shop's day beside the transactions themselves. Pure: no clock, no file, no network.
//!
//! | file | what it decides |
//! |---|---|
//! | `operators` | the operators' roles, what each may do, and above which amount a supervisor confirms |
//! | `pin` | an operator's PIN, and what is kept of it |
//! | `attempts` | wrong PINs: from which one on, and for how long, nobody may try again |
//! | `sessions` | who is signed in, through which door, and when that ends |
//! | `approvals` | a supervisor's word for one command of a cashier |

mod approvals;
mod attempts;
mod operators;
mod pin;
mod sessions;

pub use approvals::{Approvals, Approved, GivenApproval};
pub use attempts::{Attempts, TryKey};
pub use operators::{Deed, NeedsSupervisor, Role, SupervisorAbove};
pub use pin::{ITERATIONS, Pin, PinDigest, PinError, PinKey};
pub use sessions::{Session, Sessions, TokenDigest};
