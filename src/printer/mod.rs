//! The receipt printer: from what stands on a receipt to paper.
//!
//! ```text
//!  sale::Receipt ─▶ layout (lines that fit the paper) ─▶ escpos (bytes) ─▶ port (TCP 9100 or a tty)
//!                        └─▶ text (for `pos-agent receipt` and tills)
//! ```
//!
//! `layout`, `text`, `escpos` and `clean` are pure. What happens to the printer never changes the outcome of a sale: a
//! receipt that was not printed is kept in the journal and can be printed again (design: path of a sale, 8).

mod clean;
pub mod escpos;
pub mod layout;
pub mod port;
pub mod text;

pub use layout::{Line, lay_out};
pub use port::{Event, Handle, Job, QueueFull, spawn};
pub use text::{plain, text};
