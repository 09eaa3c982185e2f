//! nexo Retailer (Sale to POI Protocol 3.0), as used by terminals with Adyen's Terminal API. Till and terminal exchange
//! JSON objects. This module reads and writes the messages of both sides. The names are those of `@adyen/api-library`
//! 32.1.0.
//!
//! ```text
//!  a body ─▶ envelope ─▶ header · request  ─▶ the till's wish
//!              │ seal                              │ reference: a repeat, or a new message
//!         ◀─ envelope ◀─ header · response ◀─ the answer
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `envelope` | one JSON object as it arrives or leaves, plain or sealed, within size limits |
//! | `seal` | the key from a passphrase, and the sealing of messages with it |
//! | `header` | the kind of a message, its sender and its receiver |
//! | `request`, `response` | the bodies of messages |
//! | `shared` | objects in both kinds of bodies |
//! | `output` | texts to show and to print |
//! | `enums` | the words, in their exact spelling |
//! | `number` | amounts, as exact digits |
//! | `receipt` | the lines of a receipt, for tills that print them and for tills that parse them |
//! | `additional` | `key=value&…` in a text |
//! | `reject` | the answer to a message that cannot be read |
//! | `reference` | the till's transaction as one short text |
//! | `meaning` | the effect of a message on money, as one short text |
//! | `card_number` | card numbers, which no message may contain |
//! | `fields` | every field of a payment and a reversal: obeyed, refused or harmless |
//! | `session` | the response to each message |
//! | `trace` | a message as a line for a technician |
//!
//! Only `session` contains rules. The other files handle bytes and words.

pub mod additional;
pub mod card_number;
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
