//! A wire that is given instead of opened: the terminal in the world of its tests is connected by memory, and its time is not the
//! system's. What is sent over it, and when, is the same.
//!
//! What it is not: a setting. No configuration names such a wire; a terminal opens its tty, its socket, its printer itself.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes both ways.
pub trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// Makes a connection each time it is asked.
pub type Way = Arc<dyn Fn() -> Opening + Send + Sync>;

/// A connection that is being made.
pub type Opening = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send>>;
