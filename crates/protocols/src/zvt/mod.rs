//! ZVT: the protocol of nearly every till in Germany, Austria and Switzerland (PA00P015, revision 13.08; PA00P016,
//! revision 04). The module implements the terminal's side, and the till's side for simulated tills.
//!
//! ```text
//!  line ─▶ apdu · serial ─▶ command (what the till wants) ─▶ session ─▶ requests to the terminal
//!       ◀─ apdu · serial ◀─ answer  (what the till gets)  ◀─ (rules, time) ◀─ events from the terminal
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `apdu` | class, instruction, length and data in a stream |
//! | `serial` | the frames of a serial line, their acknowledgements and repeats |
//! | `bmp`, `tlv`, `text` | the fields of an APDU, the TLV container in one field, the character sets |
//! | `command` | messages of a till: read by the terminal, written by a simulated till |
//! | `answer` | messages of a terminal: written by the terminal, read by a simulated till |
//! | `code` | result codes and their meanings |
//! | `session` | the response to each command, and its timing |
//! | `trace` | an APDU as a readable line, without card data |

pub mod answer;
pub mod apdu;
pub mod bmp;
pub mod code;
pub mod command;
pub mod serial;
pub mod session;
pub mod text;
pub mod tlv;
pub mod trace;
