//! Is: the terms that every part of the project has for a card payment, as data.
//! Is not: a rule of a sale, a wire, a file or a clock.
//! Invariant: no type here can print a PAN, a track or a PIN block.

// Amounts and currencies, in integers.
pub mod money;
// BER-TLV, tags, track 2.
pub mod emv;
// What a reader hands over: sealed card data, sealed PIN, a few facts.
pub mod card;
// The words for a transaction: its kinds, its ids, who asked for it, how it ended.
pub mod transaction;
