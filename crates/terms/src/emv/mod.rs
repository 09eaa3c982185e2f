//! EMV data as every part of the project reads it: BER-TLV objects, the tags by their names, track 2.
//!
//! Shared by the reader, the gateway client, the receipt and the simulators. It knows bytes and their meaning; it does
//! no I/O, keeps nothing and decrypts nothing.

pub mod luhn;
pub mod pan;
pub mod tag;
pub mod tlv;
pub mod track2;

pub use tag::Tag;
pub use tlv::{Tlv, TlvError};
