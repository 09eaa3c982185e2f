//! EMV data as every part of the project reads it: BER-TLV objects, tags by name, track 2.
//!
//! The reader, the gateway client, the receipt and the simulators share it. It interprets bytes. It performs no I/O,
//! stores nothing and decrypts nothing.

pub mod luhn;
pub mod pan;
pub mod tag;
pub mod tlv;
pub mod track2;

pub use tag::Tag;
pub use tlv::{Tlv, TlvError};
