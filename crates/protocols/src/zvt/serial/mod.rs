//! ZVT on a serial line (ZVT PA00P016, 3): 9600 baud, 8 data bits, no parity, 2 stop bits, no handshake.
//!
//! [`frame`] puts a message into its frame and finds frames in bytes. [`Link`] sends, acknowledges and repeats. Opening
//! the port is the caller's task.

mod crc;
pub mod frame;
mod link;

pub use crc::crc;
pub use frame::{FrameError, Frames, Heard, encode};
pub use link::{Link, LinkAction, QueueFull};
