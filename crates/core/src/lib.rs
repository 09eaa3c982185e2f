//! Is: the decisions. The state machine of a transaction, follow-ups, sums, closes of day, operators, training. Is not:
//! the actions themselves. This crate knows no protocol, no file and no clock. Invariant: a step gives out its actions
//! only after its records are on the disk.

// Every transition gives the records to write first, and the actions to carry out second.
pub mod transaction;
// Gives out the actions of a step only after its records are on the disk.
pub mod book;
// The till's request for one transaction, checked once.
pub mod wish;
// The follow-ups that a transaction allows, and the amount that is left for them.
pub mod follow_up;
// The sums of a close of day.
pub mod totals;
// The work at the counter apart from transactions: closes of day, signed-in operators, and their rights.
pub mod counter;
// Plays the reader and the bank in a transaction of training, which has neither.
pub mod training;
