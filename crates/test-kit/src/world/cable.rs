//! The connection to the bank, in memory. It can be cut before, during and after every phase of a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use pos_daemon::wire::{Connecting, Connector, Stream};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

use super::World;
use super::bank_server;
use super::cut_points::{Fate, Phase, PointKind};

/// The minimum length of a TLS record that contains a request. Shorter records of application data belong to the end of
/// the handshake or of the connection.
const SHORTEST_REQUEST: usize = 100;
/// The type of application data in a TLS record.
const APPLICATION_DATA: u8 = 0x17;

/// The agent's side of the cable.
struct Cable {
    world: World,
    wire: DuplexStream,
    link: Arc<Link>,
}

/// The state that both sides share.
#[derive(Default)]
pub struct Link {
    cut: AtomicBool,
    /// True if the rest of an answer is on the cable.
    answer_is_whole: AtomicBool,
}

impl Link {
    pub fn answer_is_whole(&self) {
        self.answer_is_whole.store(true, Ordering::Relaxed);
    }
}

/// Returns the connection to the bank.
pub fn way(world: &World) -> Connector {
    let world = world.clone();
    Arc::new(move || -> Connecting {
        let world = world.clone();
        Box::pin(async move { connect(&world) })
    })
}

fn connect(world: &World) -> io::Result<Box<dyn Stream>> {
    let fate = world.pass(PointKind::Gateway(Phase::BeforeConnect));
    if matches!(fate, Fate::Cut | Fate::Dead) || world.lock().bank.is_away() {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let link = Arc::new(Link::default());
    tokio::spawn(bank_server::serve(world.clone(), Arc::clone(&link), theirs));
    if fate == Fate::Last {
        world.die();
    }
    Ok(Box::new(Cable { world: world.clone(), wire: ours, link }))
}

impl Cable {
    fn is_cut(&self) -> bool {
        self.link.cut.load(Ordering::Relaxed) || self.world.is_dead()
    }

    fn cut(&self) -> io::Error {
        self.link.cut.store(true, Ordering::Relaxed);
        io::ErrorKind::ConnectionReset.into()
    }
}

impl AsyncWrite for Cable {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_cut() {
            return Poll::Ready(Err(self.cut()));
        }
        let is_request = bytes.len() > SHORTEST_REQUEST && bytes[0] == APPLICATION_DATA;
        if !is_request {
            return Pin::new(&mut self.wire).poll_write(cx, bytes);
        }
        match self.world.pass(PointKind::Gateway(Phase::RequestHalfSent)) {
            Fate::Happens => return Pin::new(&mut self.wire).poll_write(cx, bytes),
            Fate::Dead => {}
            fate @ (Fate::Cut | Fate::Last) => {
                let _ = Pin::new(&mut self.wire).poll_write(cx, &bytes[..bytes.len() / 2]);
                if fate == Fate::Last {
                    self.world.die();
                }
            }
        }
        Poll::Ready(Err(self.cut()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}

impl AsyncRead for Cable {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.is_cut() {
            return Poll::Ready(Err(self.cut()));
        }
        let before = into.filled().len();
        let read = Pin::new(&mut self.wire).poll_read(cx, into);
        if into.filled().len() > before && self.link.answer_is_whole.swap(false, Ordering::Relaxed) {
            match self.world.pass(PointKind::Gateway(Phase::AnswerRead)) {
                Fate::Happens => {}
                Fate::Last => self.world.die(),
                Fate::Cut => drop(self.cut()),
                Fate::Dead => {
                    into.set_filled(before);
                    return Poll::Ready(Err(self.cut()));
                }
            }
        }
        read
    }
}
