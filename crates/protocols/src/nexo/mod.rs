//! nexo Retailer as terminals with Adyen's Terminal API speak it: JSON objects from a till to the terminal and back
//! (Sale to POI Protocol 3.0; the names are those of `@adyen/api-library` 32.1.0), read and written on both sides.
//!
//! ```text
//!  a body ─▶ envelope ─▶ header · request  ─▶ what the till wants
//!              │ seal                                 │ reference: the same again, or another one
//!         ◀─ envelope ◀─ header · response ◀─ what it is told
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `envelope` | one JSON object as it arrives, plain or sealed, bounded; and as it leaves |
//! | `seal` | the key of a passphrase, and what is sealed with it |
//! | `header` | which message it is, and between whom |
//! | `request`, `response` | the bodies |
//! | `shared` | what stands in both |
//! | `output` | texts to show and to print |
//! | `enums` | the words, spelled exactly |
//! | `number` | amounts, as the digits they are |
//! | `receipt` | the lines of a receipt, for tills that print them and for tills that read them |
//! | `additional` | `key=value&…` in a text |
//! | `reject` | the answer to what cannot be read |
//! | `reference` | the till's transaction as one short text |
//! | `meaning` | what a message means for money, as one short text |
//! | `fields` | every field of a payment and a reversal: obeyed, refused or harmless |
//! | `session` | what is done about each message |
//! | `trace` | a message as a line for a technician |
//!
//! All of it but `session` is bytes and words, and no rules.

pub mod additional;
pub mod enums;
pub mod envelope;
pub mod fields;
pub mod header;
pub mod meaning;
pub mod number;
pub mod output;
pub mod receipt;
pub mod reference;
pub mod reject;
pub mod request;
pub mod response;
pub mod seal;
pub mod session;
pub mod shared;
pub mod trace;
