//! ZVT: the protocol of nearly every till in Germany, Austria and Switzerland (PA00P015, revision 13.08; PA00P016,
//! revision 04), from the terminal's side, and from the till's for simulated ones.
//!
//! ```text
//!  line ─▶ apdu · serial ─▶ command (what a till wants) ─▶ session ─▶ what is asked of the terminal
//!       ◀─ apdu · serial ◀─ answer  (what it is told)   ◀─ (rules, time) ◀─ what the terminal says
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `apdu` | class, instruction, length and data in a stream |
//! | `serial` | the frames of a serial line, and who repeats what |
//! | `bmp`, `tlv`, `text` | the fields of an APDU, the container among them, the letters in both |
//! | `command` | what a till sends, read; and written, for a simulated one |
//! | `answer` | what a terminal sends, written; and read, for a simulated till |
//! | `code` | result codes and what they mean |
//! | `session` | what is done about a command, and when |
//! | `trace` | an APDU as a line for people, without card data |

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
