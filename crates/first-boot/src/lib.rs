//! The first boot of a terminal: what its page, which `pos-front` serves, and root's `pos-agent first-boot` say to each
//! other, and the answers that `pos-agent setup --from` reads from a file.
//!
//! ```text
//!  browser ── HTTPS ──▶ pos-front first-boot ── Unix socket ──▶ pos-agent first-boot (root, without a network)
//!                       user pos-front           SOCKET                │
//!                                                                      └─ the same setup as pos-agent setup --from
//! ```
//!
//! Each connection to [`SOCKET`] carries one [`Request`] as one line of JSON, at most [`LONGEST_REQUEST`] bytes. The
//! answer is any number of [`Reply::Progress`] lines, and then one other [`Reply`].
//!
//! The code on the console and on the receipt printer lets one browser in. Root makes the code, compares it and counts
//! the tries. Until a code was right, root answers [`Request::State`], [`Request::Show`] and
//! [`Request::Enter`] only.

pub mod answers;
pub mod message;
pub mod read;

pub use answers::{
    Answers, GatewayAnswers, OperatorAnswer, PageAnswers, PrinterAnswers, Secret, SystemAnswers, TillAnswers,
    WifiAnswers,
};
pub use message::{Devices, Fault, FoundDevice, KnownProtocol, Refusal, Reply, Request, Stage, State, Step};

/// The socket of root's half.
pub const SOCKET: &str = "/run/pos-first-boot/setup.sock";
/// The greatest length of a request in bytes. It leaves room for a logo of 64 KiB in base64, a CA and the answers.
pub const LONGEST_REQUEST: usize = 256 * 1024;
/// The number of wrong codes after which the first boot is closed until the board starts again.
pub const TRIES: u32 = 5;
/// The number of digits of the code.
pub const CODE_DIGITS: usize = 8;
/// The time after which the first boot ends, in seconds. Root's half measures it.
pub const LASTS_S: u64 = 3600;
