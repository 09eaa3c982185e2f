//! Is: the receipt printer, from what stands on a receipt to paper.
//! Is not: what decides that something is printed, or what it says.
//! Invariant: a receipt waits until it is on paper; a till's own lines are tried once.
//!
//! ```text
//!  sale::Receipt ─▶ receipt (rows) ─▶ layout (lines that fit the paper) ─▶ escpos (bytes) ─▶ port (who waits) ─▶ wire (TCP 9100, tty, USB)
//!                     words ┘             └─▶ text (for `pos-agent receipt` and tills)       └─ status (what the printer says of itself)
//! ```
//!
//! A close of day goes the same way: `counter::Close` ─▶ `close` (rows) ─▶ layout. So do lines of a till's own, which
//! are no receipt: they are not kept, wait for nobody, and the till hears whether they are on paper.
//!
//! `receipt`, `close`, `layout`, `text`, `escpos`, `code`, `code_page`, `qr` and `status` are pure. What happens to the
//! printer never changes the outcome of a sale: a receipt that was not printed waits, is kept in the journal and can be
//! printed again (design: path of a sale, 8).

pub mod close;
pub mod code;
mod code_page;
pub mod config;
pub mod escpos;
pub mod layout;
pub mod logo;
pub mod port;
mod qr;
pub mod receipt;
pub mod status;
pub mod text;
mod wire;

pub use close::compose_close;
pub use code::{Code, CodeKind, QrLevel};
pub use layout::{Page, PrintedLine, TillLine};
pub use port::{Handle, NotPrinted, PrinterEvent, QueueFull, Slip, spawn, spawn_over};
pub use receipt::{Letterhead, compose};
pub use text::{plain, text};
