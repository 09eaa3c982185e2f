//! Is: the state machine of a transaction, and the decisions about follow-ups, sums, closes of day, operators and
//! training. Is not: the code that carries out the actions. This crate uses no protocol, no file and no clock.
//! Invariant: a step gives out its actions only after its records are on the disk.

// Every transition returns the records to write first, and the actions to carry out afterwards.
pub mod transaction;
// Gives out the actions of a step only after its records are on the disk.
pub mod book;
// The commands of the fleet that the terminal has judged.
pub mod fleet;
// The till's request for one transaction, checked once.
pub mod wish;
// The follow-ups that a transaction allows, and the amount that is left for them.
pub mod follow_up;
// The sums of a close of day.
pub mod totals;
// The work at the counter other than transactions: closes of day, signed-in operators, and their rights.
pub mod counter;
// Simulates the reader and the gateway for a training transaction, which uses neither.
pub mod training;
