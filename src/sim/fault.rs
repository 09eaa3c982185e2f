//! Faults on the line: delay, drop, one wrong bit, cut; around any byte stream, the same again for the same seed.
//!
//! ```text
//!            ┌──────────── Line<S> ────────────┐
//!  holder ◀──┤ Read  : delay · drop · flip · cut ├◀── the other end
//!  holder ──▶┤ Write : delay · drop · flip · cut ├──▶ (pty, TCP, duplex)
//!            └────────────▲────────────────────┘
//!                      Faults (a cloneable handle: a test, or a person who types)
//! ```
//!
//! What happens to a byte depends on the seed, the direction and its position only, never on the pieces in which it travels or
//! on the time: a failing run can be repeated. It is not a model of a radio or of a network; it does not reorder or repeat.
//! Positions and settings belong to the handle, so after a reconnect the count goes on.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, futures::OwnedNotified};
use tokio::time::{Sleep, sleep};

/// Which way a byte travels, as seen by whoever holds the [`Line`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the other end to the holder.
    Read,
    /// From the holder to the other end.
    Write,
}

/// Both ways, for settings that are meant for both.
pub const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];

/// The handle: what is wrong with the line. Clones set and count the same faults; they may be changed while the line runs.
#[derive(Clone, Debug)]
pub struct Faults(Arc<Shared>);

/// What was really injected, so that a test can prove that it had its faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes that went in, either way.
    pub bytes: u64,
    /// Bytes that never came out.
    pub dropped: u64,
    /// Bytes that came out with one wrong bit.
    pub flipped: u64,
    /// Times the line was cut.
    pub cuts: u64,
}

impl Faults {
    /// A clean line, until something is set. The seed decides which bytes the chances will hit.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        let state = State { seed, ways: Default::default(), cuts: 0 };
        Self(Arc::new(Shared { state: Mutex::new(state), cut: Arc::new(Notify::new()) }))
    }

    /// Holds up every piece of data for `delay`.
    pub fn delay(&self, direction: Direction, delay: Duration) {
        self.way(direction, |way| way.delay = delay);
    }

    /// Loses that many of a thousand bytes.
    pub fn drop_per_mille(&self, direction: Direction, chance: u16) {
        self.way(direction, |way| way.drop_per_mille = chance);
    }

    /// Turns one bit over in that many of a thousand bytes.
    pub fn flip_per_mille(&self, direction: Direction, chance: u16) {
        self.way(direction, |way| way.flip_per_mille = chance);
    }

    /// Loses the byte that comes after `skip` more bytes (0: the next).
    pub fn drop_byte(&self, direction: Direction, skip: u64) {
        self.way(direction, |way| _ = way.planned.insert(way.position.saturating_add(skip), Fate::Drop));
    }

    /// Turns over bit `bit` (0 is the lowest) of the byte that comes after `skip` more bytes (0: the next).
    pub fn flip_bit(&self, direction: Direction, skip: u64, bit: u8) {
        let fate = Fate::Flip(1 << (bit % 8));
        self.way(direction, |way| _ = way.planned.insert(way.position.saturating_add(skip), fate));
    }

    /// Lets `n` more bytes pass and then cuts the line, once.
    pub fn cut_after_bytes(&self, direction: Direction, n: u64) {
        self.way(direction, |way| way.cut_at = Some(way.position.saturating_add(n)));
    }

    /// Cuts every line that is open now, as pulling the plug does: the holder reads the end of file and can write no more, the
    /// other end loses its peer. A line opened later is whole.
    pub fn cut_now(&self) {
        self.lock().cuts += 1;
        self.0.cut.notify_waiters();
    }

    /// Takes all faults away that have not happened yet.
    pub fn clear(&self) {
        for direction in BOTH {
            self.way(direction, |way| *way = Way { position: way.position, counts: way.counts, ..Way::default() });
        }
    }

    /// What was injected so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let state = self.lock();
        let [read, write] = &state.ways;
        Counts {
            bytes: read.position + write.position,
            dropped: read.counts.dropped + write.counts.dropped,
            flipped: read.counts.flipped + write.counts.flipped,
            cuts: state.cuts,
        }
    }

    fn way<T>(&self, direction: Direction, change: impl FnOnce(&mut Way) -> T) -> T {
        change(&mut self.lock().ways[direction as usize])
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What becomes of the next bytes of this way, at most `len` of them: a clean run, or one fault.
    fn next(&self, direction: Direction, len: usize) -> Next {
        let state = self.lock();
        let way = &state.ways[direction as usize];
        let mut clean = 0;
        while clean < len {
            let position = way.position + clean as u64;
            match way.fate(state.seed, direction, position) {
                Fate::Pass => clean += 1,
                fate if clean == 0 => return Next::Fault(fate),
                _ => break,
            }
        }
        Next::Clean(clean)
    }

    /// `n` bytes have met their fate. True when the line is to be cut behind them.
    fn passed(&self, direction: Direction, n: usize, fate: Fate) -> bool {
        self.way(direction, |way| {
            way.position += n as u64;
            way.planned = way.planned.split_off(&way.position);
            match fate {
                Fate::Drop => way.counts.dropped += 1,
                Fate::Flip(_) => way.counts.flipped += 1,
                Fate::Pass | Fate::Cut => {}
            }
            way.cut_at.take_if(|at| *at <= way.position).is_some()
        })
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Wakes both halves of every open line when it is cut.
    cut: Arc<Notify>,
}

#[derive(Debug)]
struct State {
    seed: u64,
    /// Indexed by [`Direction`].
    ways: [Way; 2],
    cuts: u64,
}

#[derive(Debug, Default)]
struct Way {
    /// Bytes that have met their fate.
    position: u64,
    delay: Duration,
    drop_per_mille: u16,
    flip_per_mille: u16,
    planned: BTreeMap<u64, Fate>,
    cut_at: Option<u64>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    Drop,
    /// Exclusive-or with this mask of one bit.
    Flip(u8),
    Cut,
}

enum Next {
    Clean(usize),
    Fault(Fate),
}

impl Way {
    fn fate(&self, seed: u64, direction: Direction, position: u64) -> Fate {
        if self.cut_at.is_some_and(|at| at <= position) {
            return Fate::Cut;
        }
        if let Some(fate) = self.planned.get(&position) {
            return *fate;
        }
        // Three independent draws from one number: its bits 0..20, 20..40 and 40..43.
        let draw = scatter(seed, direction, position);
        let per_mille = |draw: u64| (draw & 0xF_FFFF) % 1000;
        if per_mille(draw) < u64::from(self.drop_per_mille) {
            Fate::Drop
        } else if per_mille(draw >> 20) < u64::from(self.flip_per_mille) {
            Fate::Flip(1 << ((draw >> 40) % 8))
        } else {
            Fate::Pass
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014) used as a hash: any position can be asked without the ones before it.
fn scatter(seed: u64, direction: Direction, position: u64) -> u64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let stream = mix(seed.wrapping_add(GOLDEN.wrapping_mul(1 + direction as u64)));
    mix(stream.wrapping_add(GOLDEN.wrapping_mul(position.wrapping_add(1))))
}

/// A byte stream with faults. Wrap the innermost stream: the serial port or the socket, below any TLS.
#[derive(Debug)]
pub struct Line<S> {
    /// None once cut: dropping it is what the other end notices.
    inner: Option<S>,
    faults: Faults,
    read: Half,
    write: Half,
    /// Bytes that were read and wait for their delay or for a large enough buffer.
    held: Vec<u8>,
    /// The line is to be cut when `held` has been delivered.
    ends: bool,
    /// Position up to which the delay of the writing way has been served.
    waited_to: u64,
}

#[derive(Debug)]
struct Half {
    delay: Option<Pin<Box<Sleep>>>,
    cut: Pin<Box<OwnedNotified>>,
}

impl<S> Line<S> {
    /// Puts `faults` on `inner`.
    pub fn new(inner: S, faults: &Faults) -> Self {
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

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
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

impl<S> Line<S> {
    /// Lets a piece that was read meet its fate and keeps what is left of it.
    fn hold(&mut self, mut piece: &[u8]) {
        while let [first, ..] = piece {
            let (n, fate) = match self.faults.next(Direction::Read, piece.len()) {
                Next::Clean(n) => (n, Fate::Pass),
                Next::Fault(fate) => (1, fate),
            };
            match fate {
                Fate::Pass => self.held.extend_from_slice(&piece[..n]),
                Fate::Flip(mask) => self.held.push(first ^ mask),
                Fate::Drop => {}
                Fate::Cut => {
                    self.faults.passed(Direction::Read, 0, Fate::Cut);
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Line<S> {
    /// Accepts a clean run or a single faulty byte at a time, so that nothing has to be kept when the stream is not ready.
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
            Next::Clean(n) => (ready!(Pin::new(inner).poll_write(cx, &bytes[..n]))?, Fate::Pass),
            Next::Fault(Fate::Flip(mask)) => {
                (ready!(Pin::new(inner).poll_write(cx, &[first ^ mask]))?, Fate::Flip(mask))
            }
            Next::Fault(Fate::Cut) => (0, Fate::Cut),
            Next::Fault(fate) => (1, fate),
        };
        if line.faults.passed(Direction::Write, n, fate) {
            line.cut();
        }
        match fate {
            Fate::Cut => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
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

/// Passes every connection to `listener` on to the TCP device at `to`, with `faults` between: `Read` is what the client says to
/// the device, `Write` what the device answers. Ends only with an error of the listener.
///
/// # Errors
/// When no connection can be accepted any more. A device that cannot be reached closes that one connection.
pub async fn proxy(listener: TcpListener, to: String, faults: Faults) -> io::Result<()> {
    loop {
        let (client, from) = listener.accept().await?;
        let (to, faults) = (to.clone(), faults.clone());
        tokio::spawn(async move {
            if let Err(error) = pass(client, &to, &faults).await {
                tracing::info!(%from, %to, %error, "a connection with faults ended");
            }
        });
    }
}

async fn pass(client: TcpStream, to: &str, faults: &Faults) -> io::Result<()> {
    // Before the connection to the device, so that a cut while connecting counts.
    let cut = Arc::clone(&faults.0.cut).notified_owned();
    client.set_nodelay(true)?;
    let mut line = Line::new(client, faults);
    let mut device = TcpStream::connect(to).await?;
    device.set_nodelay(true)?;
    tokio::select! {
        ended = tokio::io::copy_bidirectional(&mut line, &mut device) => ended.map(|_| ()),
        // Else a silent device would keep its half of a line that is cut.
        () = cut => Ok(()),
    }
}

/// What a person types to put faults before a TCP device: the arguments of `pos-sim fault`.
#[derive(Clone, Debug, clap::Args)]
pub struct FaultArgs {
    /// Where clients connect to instead of the device.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// The device.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub to: String,
    /// Delay of every piece of data, each way, in milliseconds.
    #[arg(long, default_value_t = 0)]
    pub delay_ms: u64,
    /// How many of a thousand bytes are lost, each way.
    #[arg(long, default_value_t = 0, value_name = "PER_MILLE", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub drop: u16,
    /// How many of a thousand bytes get one wrong bit, each way.
    #[arg(long, default_value_t = 0, value_name = "PER_MILLE", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub flip: u16,
    /// Cut the line, once, after that many bytes from the client.
    #[arg(long, value_name = "BYTES")]
    pub cut_after: Option<u64>,
    /// The same seed hits the same bytes.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl FaultArgs {
    /// The handle that these arguments describe.
    #[must_use]
    pub fn faults(&self) -> Faults {
        let faults = Faults::seeded(self.seed);
        for direction in BOTH {
            faults.delay(direction, Duration::from_millis(self.delay_ms));
            faults.drop_per_mille(direction, self.drop);
            faults.flip_per_mille(direction, self.flip);
        }
        if let Some(n) = self.cut_after {
            faults.cut_after_bytes(Direction::Read, n);
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::Instant;

    use super::*;

    const TEXT: &[u8] = b"0123456789";

    fn line(faults: &Faults) -> (Line<DuplexStream>, DuplexStream) {
        let (near, far) = duplex(65536);
        (Line::new(near, faults), far)
    }

    /// What comes out at the other end when `bytes` are written in pieces of `piece`.
    async fn written(faults: &Faults, bytes: &[u8], piece: usize) -> Vec<u8> {
        let (mut near, mut far) = line(faults);
        for piece in bytes.chunks(piece) {
            near.write_all(piece).await.unwrap();
        }
        drop(near);
        let mut out = Vec::new();
        far.read_to_end(&mut out).await.unwrap();
        out
    }

    /// What the holder reads when the other end writes `bytes` in pieces of `piece`.
    async fn read(faults: &Faults, bytes: &[u8], piece: usize) -> Vec<u8> {
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
        let faults = Faults::seeded(1);
        let long: Vec<u8> = (0..5000_u32).map(|n| n.to_le_bytes()[0]).collect();
        assert_eq!(written(&faults, &long, 7).await, long);
        assert_eq!(read(&faults, &long, 700).await, long);
        assert_eq!(faults.counts(), Counts { bytes: 10_000, ..Counts::default() });
    }

    #[tokio::test]
    async fn the_same_seed_hits_the_same_bytes_in_whatever_pieces_they_come() {
        let long = vec![0x55; 4000];
        let set = |seed| {
            let faults = Faults::seeded(seed);
            for direction in BOTH {
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
        let faults = Faults::seeded(3);
        faults.drop_per_mille(Direction::Read, 100);
        faults.flip_per_mille(Direction::Read, 100);
        let out = read(&faults, &[0; 20_000], 1000).await;
        let counts = faults.counts();
        assert_eq!(out.len() as u64, 20_000 - counts.dropped);
        assert_eq!(out.iter().filter(|b| b.count_ones() == 1).count() as u64, counts.flipped, "one bit, never more");
        assert!(out.iter().all(|b| b.count_ones() <= 1));
        // 2000 of 20,000 are expected; the standard deviation is 42.
        assert!((1700..2300).contains(&counts.dropped), "{counts:?}");
        assert!((1500..2100).contains(&counts.flipped), "{counts:?}");
    }

    #[tokio::test]
    async fn a_thousand_per_mille_is_every_byte() {
        let faults = Faults::seeded(3);
        faults.drop_per_mille(Direction::Write, 1000);
        assert_eq!(written(&faults, TEXT, 3).await, b"");
        faults.clear();
        faults.flip_per_mille(Direction::Write, 1000);
        assert!(written(&faults, TEXT, 3).await.iter().zip(TEXT).all(|(out, sent)| (out ^ sent).count_ones() == 1));
    }

    #[tokio::test]
    async fn drops_and_flips_exactly_the_byte_that_was_named() {
        let faults = Faults::seeded(1);
        faults.drop_byte(Direction::Write, 2);
        faults.flip_bit(Direction::Write, 4, 0);
        assert_eq!(written(&faults, TEXT, 10).await, b"013556789");
        // Positions count from now, and a planned fault happens once.
        faults.flip_bit(Direction::Write, 1, 7);
        assert_eq!(written(&faults, b"abc", 3).await, b"a\xE2c");
        assert_eq!(written(&faults, b"abc", 3).await, b"abc");

        faults.drop_byte(Direction::Read, 0);
        faults.flip_bit(Direction::Read, 9, 1);
        assert_eq!(read(&faults, TEXT, 4).await, b"12345678;");
        assert_eq!(faults.counts(), Counts { bytes: 26, dropped: 2, flipped: 3, cuts: 0 });
    }

    #[tokio::test(start_paused = true)]
    async fn delays_each_way_and_loses_nothing_when_the_reader_gives_up_meanwhile() {
        let faults = Faults::seeded(1);
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
        let faults = Faults::seeded(1);
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
            let faults = Faults::seeded(1);
            faults.cut_after_bytes(Direction::Read, 4);
            assert_eq!(read(&faults, TEXT, piece).await, b"0123", "read in pieces of {piece}");
            assert_eq!(faults.counts().cuts, 1);
            assert_eq!(read(&faults, TEXT, piece).await, TEXT, "the next line is whole");
        }
        let faults = Faults::seeded(1);
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
        let faults = Faults::seeded(1);
        faults.cut_after_bytes(Direction::Read, 0);
        assert_eq!(read(&faults, TEXT, 10).await, b"");
        faults.cut_after_bytes(Direction::Write, 0);
        let (mut near, _far) = line(&faults);
        assert!(near.write_all(TEXT).await.is_err());
        assert_eq!(faults.counts(), Counts { cuts: 2, ..Counts::default() });
    }

    #[tokio::test]
    async fn a_reader_that_waits_hears_of_the_cut() {
        let faults = Faults::seeded(1);
        let (mut near, mut far) = line(&faults);
        let waiting = tokio::spawn(async move { near.read(&mut [0; 8]).await.unwrap() });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        faults.cut_now();
        assert_eq!(waiting.await.unwrap(), 0);
        assert_eq!(far.read(&mut [0; 8]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn stands_before_a_tcp_device() {
        let device = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = device.local_addr().unwrap().to_string();
        let echo = tokio::spawn(async move {
            loop {
                let (mut stream, _) = device.accept().await.unwrap();
                let (mut from, mut back) = stream.split();
                _ = tokio::io::copy(&mut from, &mut back).await;
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let faults = Faults::seeded(1);
        let between = tokio::spawn(proxy(listener, to, faults.clone()));

        let talk = async |bytes: &[u8]| {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(bytes).await.unwrap();
            client.shutdown().await.unwrap();
            let mut out = Vec::new();
            _ = client.read_to_end(&mut out).await;
            out
        };
        assert_eq!(talk(TEXT).await, TEXT);
        faults.flip_bit(Direction::Read, 0, 0);
        faults.drop_byte(Direction::Write, 9);
        assert_eq!(talk(TEXT).await, b"112345678");
        faults.cut_after_bytes(Direction::Write, 3);
        assert!(TEXT[..3].starts_with(&talk(TEXT).await), "nothing comes behind the cut");
        assert_eq!(talk(TEXT).await, TEXT, "the next connection is whole");
        assert_eq!(faults.counts().cuts, 1);
        between.abort();
        echo.abort();
    }

    #[test]
    fn arguments_become_faults() {
        #[derive(clap::Parser)]
        struct Program {
            #[command(flatten)]
            fault: FaultArgs,
        }
        let parse = |more: &[&str]| {
            let base = ["pos-sim", "--listen", "127.0.0.1:9999", "--to", "127.0.0.1:9100"];
            <Program as clap::Parser>::try_parse_from(base.iter().chain(more)).map(|program| program.fault)
        };
        let faults = parse(&["--delay-ms", "20", "--drop", "5", "--cut-after", "12"]).unwrap().faults();
        let seen = faults.way(Direction::Read, |way| (way.delay, way.drop_per_mille, way.flip_per_mille, way.cut_at));
        assert_eq!(seen, (Duration::from_millis(20), 5, 0, Some(12)));
        assert_eq!(faults.way(Direction::Write, |way| (way.drop_per_mille, way.cut_at)), (5, None));
        assert!(parse(&["--drop", "1001"]).is_err(), "more than every byte");
    }
}
