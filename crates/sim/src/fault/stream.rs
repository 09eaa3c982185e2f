//! The stream that applies the faults.
//!
//! A cancelled read or write loses nothing. The stream keeps bytes that were read, and a write accepts only bytes that
//! the inner stream has accepted.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::futures::OwnedNotified;
use tokio::time::{Sleep, sleep};

use super::{ByteFate, Direction, LineFaults, Next};

/// A byte stream with faults. Wrap the innermost stream, which is the serial port or the socket, below any TLS.
#[derive(Debug)]
pub struct FaultyStream<S> {
    /// The inner stream; `None` once cut. When it is dropped, the other side notices.
    inner: Option<S>,
    faults: LineFaults,
    read: Half,
    write: Half,
    /// Bytes that were read and wait for the end of their delay or for a large enough buffer.
    held: Vec<u8>,
    /// True if the connection must be cut once `held` is delivered.
    ends: bool,
    /// The position up to which the write delay has passed.
    waited_to: u64,
}

#[derive(Debug)]
struct Half {
    delay: Option<Pin<Box<Sleep>>>,
    cut: Pin<Box<OwnedNotified>>,
}

impl<S> FaultyStream<S> {
    /// Wraps `inner` with `faults`.
    pub fn new(inner: S, faults: &LineFaults) -> Self {
        let half = || Half { delay: None, cut: Box::pin(Arc::clone(&faults.0.cut).notified_owned()) };
        Self {
            inner: Some(inner),
            read: half(),
            write: half(),
            faults: faults.clone(),
            held: Vec::new(),
            ends: false,
            waited_to: 0,
        }
    }

    fn cut(&mut self) {
        self.inner = None;
        self.faults.cut_now();
    }
}

impl Half {
    fn start(&mut self, delay: Duration) {
        self.delay = (!delay.is_zero()).then(|| Box::pin(sleep(delay)));
    }

    fn poll_delay(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(delay) = &mut self.delay {
            ready!(delay.as_mut().poll(cx));
            self.delay = None;
        }
        Poll::Ready(())
    }

    fn was_cut(&mut self, cx: &mut Context<'_>) -> bool {
        self.cut.as_mut().poll(cx).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FaultyStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let line = &mut *self;
        loop {
            if line.read.was_cut(cx) {
                line.inner = None;
            }
            // An unplugged port reads as the end of file.
            let Some(inner) = &mut line.inner else { return Poll::Ready(Ok(())) };
            ready!(line.read.poll_delay(cx));
            if !line.held.is_empty() || line.ends {
                let n = line.held.len().min(buf.remaining());
                buf.put_slice(&line.held[..n]);
                line.held.drain(..n);
                if line.ends && line.held.is_empty() {
                    line.cut();
                }
                return Poll::Ready(Ok(()));
            }
            let mut scratch = [0; 1024];
            let mut piece = ReadBuf::new(&mut scratch);
            ready!(Pin::new(inner).poll_read(cx, &mut piece))?;
            if piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            line.hold(piece.filled());
        }
    }
}

impl<S> FaultyStream<S> {
    /// Applies the faults to the bytes that were read, and keeps the rest.
    fn hold(&mut self, mut piece: &[u8]) {
        while let [first, ..] = piece {
            let (n, fate) = match self.faults.next(Direction::Read, piece.len()) {
                Next::Clean(n) => (n, ByteFate::Pass),
                Next::Fault(fate) => (1, fate),
            };
            match fate {
                ByteFate::Pass => self.held.extend_from_slice(&piece[..n]),
                ByteFate::Flip(mask) => self.held.push(first ^ mask),
                ByteFate::Drop => {}
                ByteFate::Cut => {
                    self.faults.passed(Direction::Read, 0, ByteFate::Cut);
                    self.ends = true;
                    break;
                }
            }
            self.ends = self.faults.passed(Direction::Read, n, fate);
            if self.ends {
                break;
            }
            piece = &piece[n..];
        }
        self.read.start(self.faults.way(Direction::Read, |way| way.delay));
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FaultyStream<S> {
    /// Accepts a run without faults or one faulty byte at a time, so nothing must be kept if the stream is not ready.
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let line = &mut *self;
        if line.write.was_cut(cx) {
            line.inner = None;
        }
        if line.inner.is_none() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let [first, ..] = bytes else { return Poll::Ready(Ok(0)) };
        let (position, delay) = line.faults.way(Direction::Write, |way| (way.position, way.delay));
        if line.waited_to <= position {
            line.waited_to = position + bytes.len() as u64;
            line.write.start(delay);
        }
        ready!(line.write.poll_delay(cx));
        let Some(inner) = &mut line.inner else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let (n, fate) = match line.faults.next(Direction::Write, bytes.len()) {
            Next::Clean(n) => (ready!(Pin::new(inner).poll_write(cx, &bytes[..n]))?, ByteFate::Pass),
            Next::Fault(ByteFate::Flip(mask)) => {
                (ready!(Pin::new(inner).poll_write(cx, &[first ^ mask]))?, ByteFate::Flip(mask))
            }
            Next::Fault(ByteFate::Cut) => (0, ByteFate::Cut),
            Next::Fault(fate) => (1, fate),
        };
        if line.faults.passed(Direction::Write, n, fate) {
            line.cut();
        }
        match fate {
            ByteFate::Cut => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            _ => Poll::Ready(Ok(n)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.inner {
            Some(inner) => Pin::new(inner).poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.inner {
            Some(inner) => Pin::new(inner).poll_shutdown(cx),
            None => Poll::Ready(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::Instant;

    use super::*;
    use crate::fault::{BOTH_DIRECTIONS, FaultCounts};

    const TEXT: &[u8] = b"0123456789";

    fn line(faults: &LineFaults) -> (FaultyStream<DuplexStream>, DuplexStream) {
        let (near, far) = duplex(65536);
        (FaultyStream::new(near, faults), far)
    }

    /// Returns the bytes that arrive at the other side when `bytes` are written in chunks of `piece`.
    async fn written(faults: &LineFaults, bytes: &[u8], piece: usize) -> Vec<u8> {
        let (mut near, mut far) = line(faults);
        for piece in bytes.chunks(piece) {
            near.write_all(piece).await.unwrap();
        }
        drop(near);
        let mut out = Vec::new();
        far.read_to_end(&mut out).await.unwrap();
        out
    }

    /// Returns the bytes that the holder reads when the other side writes `bytes` in chunks of `piece`.
    async fn read(faults: &LineFaults, bytes: &[u8], piece: usize) -> Vec<u8> {
        let (mut near, mut far) = line(faults);
        for piece in bytes.chunks(piece) {
            far.write_all(piece).await.unwrap();
        }
        drop(far);
        let mut out = Vec::new();
        near.read_to_end(&mut out).await.unwrap();
        out
    }

    #[tokio::test]
    async fn a_line_without_faults_changes_nothing() {
        let faults = LineFaults::seeded(1);
        let long: Vec<u8> = (0..5000_u32).map(|n| n.to_le_bytes()[0]).collect();
        assert_eq!(written(&faults, &long, 7).await, long);
        assert_eq!(read(&faults, &long, 700).await, long);
        assert_eq!(faults.counts(), FaultCounts { bytes: 10_000, ..FaultCounts::default() });
    }

    #[tokio::test]
    async fn the_same_seed_hits_the_same_bytes_in_whatever_pieces_they_come() {
        let long = vec![0x55; 4000];
        let set = |seed| {
            let faults = LineFaults::seeded(seed);
            for direction in BOTH_DIRECTIONS {
                faults.drop_per_mille(direction, 20);
                faults.flip_per_mille(direction, 20);
            }
            faults
        };
        let first = written(&set(7), &long, 4000).await;
        assert_eq!(first, written(&set(7), &long, 1).await);
        assert_ne!(first, written(&set(8), &long, 4000).await);
        assert_ne!(first, read(&set(7), &long, 4000).await, "the directions have faults of their own");
        assert_eq!(read(&set(7), &long, 4000).await, read(&set(7), &long, 13).await);
    }

    #[tokio::test]
    async fn chances_are_as_large_as_they_say() {
        let faults = LineFaults::seeded(3);
        faults.drop_per_mille(Direction::Read, 100);
        faults.flip_per_mille(Direction::Read, 100);
        let out = read(&faults, &[0; 20_000], 1000).await;
        let counts = faults.counts();
        assert_eq!(out.len() as u64, 20_000 - counts.dropped);
        assert_eq!(out.iter().filter(|b| b.count_ones() == 1).count() as u64, counts.flipped, "one bit, never more");
        assert!(out.iter().all(|b| b.count_ones() <= 1));
        // The expected number is 2000 of 20,000, and the standard deviation is 42.
        assert!((1700..2300).contains(&counts.dropped), "{counts:?}");
        assert!((1500..2100).contains(&counts.flipped), "{counts:?}");
    }

    #[tokio::test]
    async fn a_thousand_per_mille_is_every_byte() {
        let faults = LineFaults::seeded(3);
        faults.drop_per_mille(Direction::Write, 1000);
        assert_eq!(written(&faults, TEXT, 3).await, b"");
        faults.clear();
        faults.flip_per_mille(Direction::Write, 1000);
        assert!(written(&faults, TEXT, 3).await.iter().zip(TEXT).all(|(out, sent)| (out ^ sent).count_ones() == 1));
    }

    #[tokio::test]
    async fn drops_and_flips_exactly_the_byte_that_was_named() {
        let faults = LineFaults::seeded(1);
        faults.drop_byte(Direction::Write, 2);
        faults.flip_bit(Direction::Write, 4, 0);
        assert_eq!(written(&faults, TEXT, 10).await, b"013556789");
        // Positions are counted from the call, and a planned fault happens once.
        faults.flip_bit(Direction::Write, 1, 7);
        assert_eq!(written(&faults, b"abc", 3).await, b"a\xE2c");
        assert_eq!(written(&faults, b"abc", 3).await, b"abc");

        faults.drop_byte(Direction::Read, 0);
        faults.flip_bit(Direction::Read, 9, 1);
        assert_eq!(read(&faults, TEXT, 4).await, b"12345678;");
        assert_eq!(faults.counts(), FaultCounts { bytes: 26, dropped: 2, flipped: 3, cuts: 0 });
    }

    #[tokio::test(start_paused = true)]
    async fn delays_each_way_and_loses_nothing_when_the_reader_gives_up_meanwhile() {
        let faults = LineFaults::seeded(1);
        faults.delay(Direction::Read, Duration::from_millis(300));
        faults.delay(Direction::Write, Duration::from_millis(40));
        let (mut near, mut far) = line(&faults);

        let start = Instant::now();
        near.write_all(TEXT).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_millis(40));

        far.write_all(TEXT).await.unwrap();
        let mut buf = [0; 10];
        let start = Instant::now();
        let early = tokio::time::timeout(Duration::from_millis(100), near.read(&mut buf)).await;
        assert!(early.is_err(), "the delay is longer than the patience");
        near.read_exact(&mut buf).await.unwrap();
        assert_eq!((start.elapsed(), &buf[..]), (Duration::from_millis(300), TEXT));
    }

    #[tokio::test(start_paused = true)]
    async fn a_faulty_byte_does_not_add_a_delay() {
        let faults = LineFaults::seeded(1);
        faults.delay(Direction::Write, Duration::from_millis(40));
        faults.flip_bit(Direction::Write, 5, 0);
        let (mut near, _far) = line(&faults);
        let start = Instant::now();
        near.write_all(TEXT).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_millis(40));
    }

    #[tokio::test]
    async fn cuts_after_the_bytes_that_were_allowed() {
        for piece in [1, 3, 10] {
            let faults = LineFaults::seeded(1);
            faults.cut_after_bytes(Direction::Read, 4);
            assert_eq!(read(&faults, TEXT, piece).await, b"0123", "read in pieces of {piece}");
            assert_eq!(faults.counts().cuts, 1);
            assert_eq!(read(&faults, TEXT, piece).await, TEXT, "the next line is whole");
        }
        let faults = LineFaults::seeded(1);
        faults.cut_after_bytes(Direction::Write, 4);
        let (mut near, mut far) = line(&faults);
        assert_eq!(near.write_all(TEXT).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let mut out = Vec::new();
        far.read_to_end(&mut out).await.unwrap();
        assert_eq!(out, b"0123", "the other end sees the line end");
        assert_eq!(near.read(&mut [0]).await.unwrap(), 0, "and so does the holder");
    }

    #[tokio::test]
    async fn a_cut_before_the_first_byte_lets_none_pass() {
        let faults = LineFaults::seeded(1);
        faults.cut_after_bytes(Direction::Read, 0);
        assert_eq!(read(&faults, TEXT, 10).await, b"");
        faults.cut_after_bytes(Direction::Write, 0);
        let (mut near, _far) = line(&faults);
        assert!(near.write_all(TEXT).await.is_err());
        assert_eq!(faults.counts(), FaultCounts { cuts: 2, ..FaultCounts::default() });
    }

    #[tokio::test]
    async fn a_reader_that_waits_hears_of_the_cut() {
        let faults = LineFaults::seeded(1);
        let (mut near, mut far) = line(&faults);
        let waiting = tokio::spawn(async move { near.read(&mut [0; 8]).await.unwrap() });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        faults.cut_now();
        assert_eq!(waiting.await.unwrap(), 0);
        assert_eq!(far.read(&mut [0; 8]).await.unwrap(), 0);
    }
}
