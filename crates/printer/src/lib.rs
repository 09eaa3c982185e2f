//! The receipt printer: everything from the content of a receipt to paper. This crate does not decide that a receipt is
//! printed, and is not the source of its facts. Invariant: a receipt waits until it is on paper, but a till's own lines
//! are tried once.
//!
//! ```text
//!  transaction::Receipt ─▶ receipt (rows) ─▶ layout (lines that fit) ─▶ escpos (bytes) ─▶ port (queue) ─▶ wire (TCP 9100, tty, USB)
//!                       words ┘                  └─▶ text (for `pos-agent receipt` and tills) └─ status (the printer's own reports)
//! ```
//!
//! A close of day takes the same path: `counter::Close` ─▶ `close` (rows) ─▶ layout. So do a till's own lines, which
//! are not receipts. They are not stored and no task waits for them, but the till learns whether they are on paper.
//!
//! `receipt`, `close`, `layout`, `text`, `escpos`, `code`, `code_page`, `template` and `status` are pure. A printer's
//! fault never changes the outcome of a transaction. An unprinted receipt waits. It is also in the journal and can be
//! printed again (design: path of a sale, 8).

pub mod close;
pub mod code;
mod code_page;
pub mod config;
pub mod escpos;
pub mod layout;
pub mod logo;
pub mod port;
pub mod receipt;
pub mod status;
pub mod template;
pub mod text;
mod wire;

pub use close::compose_close;
pub use code::{Code, CodeKind, QrLevel};
pub use layout::{Page, PrintedLine, TillLine};
pub use port::{Handle, NotPrinted, PrinterEvent, QueueFull, Slip, spawn, spawn_over};
pub use receipt::{Letterhead, compose};
pub use text::{plain, text};
