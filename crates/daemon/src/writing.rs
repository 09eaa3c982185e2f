//! Connections with a deadline for the other end to read, so that unread data is not kept for long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream that fails if the other end does not read all written data in time. The deadline applies to the last byte,
/// so a client that reads single bytes gains no time.
#[derive(Debug)]
pub struct TimedWriter<S> {
    stream: S,
    patience: Duration,
    /// The deadline for the data that waits to be written.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedWriter<S> {
    /// Creates the writer. The time `patience` begins when data cannot be written immediately, and covers all waiting
    /// data.
    #[must_use]
    pub fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waits: None }
    }
}

impl<S: AsyncWrite + Unpin> TimedWriter<S> {
    fn within<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_pending() {
            let patience = self.patience;
            let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(patience)));
            ready!(waits.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedWriter<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedWriter<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.within(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.within(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Flushes the stream. The caller flushes when it has nothing left to write, so a finished flush ends the deadline.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        let flushed = self.within(cx, flushed);
        if flushed.is_ready() {
            self.waits = None;
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.within(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_or_byte_after_byte_is_given_up() {
        for every in [None, Some(Duration::from_secs(1))] {
            let (near, mut far) = tokio::io::duplex(64);
            let began = Instant::now();
            let reader = tokio::spawn(async move {
                while let Some(every) = every {
                    tokio::time::sleep(every).await;
                    if far.read_u8().await.is_err() {
                        break;
                    }
                }
                std::future::pending::<()>().await;
            });
            let error = TimedWriter::new(near, PATIENCE).write_all(&[0; 200]).await.unwrap_err();
            assert_eq!((error.kind(), began.elapsed().as_secs()), (io::ErrorKind::TimedOut, 10), "{every:?}");
            reader.abort();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_each_piece_in_time_may_take_long_for_all_of_them() {
        let (near, mut far) = tokio::io::duplex(64);
        tokio::spawn(async move {
            for _ in 0..10 {
                tokio::time::sleep(PATIENCE / 2).await;
                far.read_exact(&mut [0; 100]).await.unwrap();
            }
            std::future::pending::<()>().await;
        });
        let mut near = TimedWriter::new(near, PATIENCE);
        let began = Instant::now();
        for _ in 0..10 {
            near.write_all(&[0; 100]).await.unwrap();
            near.flush().await.unwrap();
        }
        assert!(began.elapsed() > PATIENCE * 3);
    }
}
