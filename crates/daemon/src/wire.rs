//! A wire that is given instead of opened: the terminal in the world of its tests is connected by memory, and its time
//! is not the system's. What is sent over it, and when, is the same. And what to say when a device may not be opened.
//!
//! What it is not: a setting. No configuration names such a wire; a terminal opens its tty, its socket, its printer
//! itself.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

/// The system's refusal to open a device; where its rights are the cause, with what to do.
#[must_use]
pub fn refused(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::PermissionDenied {
        return error;
    }
    let why = format!(
        "{error}; the device must belong to the agent's user, by 70-pos-agent.rules or a udev rule of the board"
    );
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Bytes both ways.
pub trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// Makes a connection each time it is asked.
pub type Connector = Arc<dyn Fn() -> Connecting + Send + Sync>;

/// A connection that is being made.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_not_open_a_device_hears_of_the_rule_that_is_missing() {
        let refused = refused(io::ErrorKind::PermissionDenied.into());
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(refused.to_string().starts_with("permission denied; the device must belong"), "{refused}");
        let absent = super::refused(io::ErrorKind::NotFound.into());
        assert_eq!(absent.to_string(), io::Error::from(io::ErrorKind::NotFound).to_string());
    }
}
