//! Is: the terms that every part of the project uses for a card payment, as data. Is not: a rule of a transaction, a
//! protocol, a file or a clock. Invariant: no type here can print a PAN, a track or a PIN block.

// Amounts and currencies, in integers.
pub mod money;
// BER-TLV, tags, track 2.
pub mod emv;
// The data from a card reader: sealed card data, sealed PIN, and a few facts.
pub mod card;
// The terms for a transaction: its kinds, its ids, its callers, its outcomes.
pub mod transaction;
