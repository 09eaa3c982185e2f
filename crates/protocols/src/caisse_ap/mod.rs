//! Caisse-AP over IP, the protocol of French tills: one request of a till, and one answer of the terminal.
//!
//! The project has no document of the protocol. The facts come from an independent till: the module
//! `l10n_fr_pos_caisse_ap_ip` for Odoo (19.0.1.0.0.3), which the tests run unmodified.
//!
//! A message is a sequence of fields in ASCII: a tag of two characters, a length of three digits, and the value.
//!
//! ```text
//!  CZ 004 0300   CJ 012 012345678901   CA 002 01   CE 003 978   CD 001 0   CB 004 1250
//! ```
//!
//! | file | content |
//! |---|---|
//! | `tlv` | fields |
//! | `request` | the till's request, and its faults |
//! | `answer`, `failure` | the terminal's answer, and the reasons for a negative one |
//! | `session` | rules and time |
//! | `trace` | a message as a readable line |

pub mod answer;
pub mod failure;
pub mod request;
pub mod session;
pub mod tlv;
pub mod trace;
