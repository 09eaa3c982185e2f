//! Is: what decides. The sale's machine, what may follow a transaction, sums, closes of day, operators, training.
//! Is not: what acts. Nothing here knows a wire, a file or a clock.
//! Invariant: a step gives out its actions only after its records are on the disk.

// Every transition says what to write, then what to do.
pub mod transaction;
// What is to be done is given out only after what is to be written is on the disk.
pub mod book;
// What a till wants of one transaction, judged once.
pub mod wish;
// What may follow a transaction, and how much of it is left.
pub mod follow_up;
// The sums of a closing.
pub mod totals;
// A cashier's day beside its transactions: closes of day, who stands at the counter, and what each may do.
pub mod counter;
// Plays reader and bank in a transaction of training: it has neither.
pub mod training;
