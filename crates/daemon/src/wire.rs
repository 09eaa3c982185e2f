//! Connections that are supplied to the terminal instead of opened by it. The tests connect the terminal in memory and
//! with their own clock; the data and its timing are the same. The module also explains why a device may not be opened.
//!
//! The connections are not a setting: no configuration names them. A real terminal opens its tty, socket and printer
//! itself.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

/// Adds the remedy to the system's refusal to open a device, if the cause is the device's permissions.
#[must_use]
pub fn refused(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::PermissionDenied {
        return error;
    }
    let why =
        format!("{error}; make the agent's user the owner of the device, with 70-pos-agent.rules or another udev rule");
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// A stream of bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// A function that makes a new connection each time it is called.
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
        assert!(
            refused.to_string().starts_with("permission denied; make the agent's user the owner of the device"),
            "{refused}"
        );
        let absent = super::refused(io::ErrorKind::NotFound.into());
        assert_eq!(absent.to_string(), io::Error::from(io::ErrorKind::NotFound).to_string());
    }
}
