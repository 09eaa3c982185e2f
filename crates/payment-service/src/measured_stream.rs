//! A TCP stream that counts its bytes and records the times of its last read and first write.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Byte counts of all connections.
#[derive(Debug, Default)]
pub(super) struct ByteCounts {
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
}

/// The times of one connection, shared with its request handler.
#[derive(Debug, Default)]
pub(super) struct StreamTimes {
    last_read: Mutex<Option<Instant>>,
    first_write: Mutex<Option<Instant>>,
}

impl StreamTimes {
    /// Returns the time of the last read.
    pub(super) fn last_read(&self) -> Option<Instant> {
        *lock(&self.last_read)
    }

    /// Returns the time of the first write after the last read.
    pub(super) fn first_write(&self) -> Option<Instant> {
        *lock(&self.first_write)
    }

    #[allow(clippy::disallowed_methods, reason = "a simulator measures on the wire")]
    fn has_read(&self) {
        *lock(&self.last_read) = Some(Instant::now());
        *lock(&self.first_write) = None;
    }

    /// Records the time of a write that began at `begun`, unless an earlier write is already recorded.
    fn has_written(&self, begun: Instant) {
        lock(&self.first_write).get_or_insert(begun);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A TCP stream with measurements.
pub(super) struct MeasuredStream {
    stream: TcpStream,
    bytes: Arc<ByteCounts>,
    clock: Arc<StreamTimes>,
}

impl MeasuredStream {
    pub(super) fn new(stream: TcpStream, bytes: Arc<ByteCounts>, clock: Arc<StreamTimes>) -> Self {
        Self { stream, bytes, clock }
    }
}

impl AsyncRead for MeasuredStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        let read = buf.filled().len() - before;
        if read > 0 {
            self.bytes.received.fetch_add(read as u64, Ordering::Relaxed);
            self.clock.has_read();
        }
        polled
    }
}

impl AsyncWrite for MeasuredStream {
    #[allow(clippy::disallowed_methods, reason = "a simulator measures on the wire")]
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        // The time is taken before the write. After the write, the other side may already be at work.
        let begun = Instant::now();
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        if let Poll::Ready(Ok(written)) = polled {
            self.bytes.sent.fetch_add(written as u64, Ordering::Relaxed);
            self.clock.has_written(begun);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
