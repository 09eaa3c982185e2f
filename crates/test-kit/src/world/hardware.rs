//! The card reader and the printer, with connections in memory. The reader is the simulated device, with a script for
//! the cardholder. The printer is a roll of paper.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pos_daemon::wire::{Connecting, Connector, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::cut_points::{Fate, PointKind};
use super::{State, World};

/// Returns the connection to the reader, which fails while the cable is out.
pub fn reader(world: &World) -> Connector {
    let world = world.clone();
    Arc::new(move || -> Connecting {
        let world = world.clone();
        Box::pin(async move {
            let mut state = world.lock();
            if state.is_dead() || !state.reader_plugged {
                return Err(io::ErrorKind::NotFound.into());
            }
            let now = state.now();
            state.device.connected(now);
            state.plugs += 1;
            let plug = state.plugs;
            drop(state);
            Ok(Box::new(ReaderWire { world, plug, rest: Vec::new(), timer: None, woken: None }) as Box<dyn Stream>)
        })
    })
}

struct ReaderWire {
    world: World,
    /// The number of times that the cable had been plugged in when this connection was made.
    plug: u64,
    rest: Vec<u8>,
    timer: Option<Pin<Box<Sleep>>>,
    woken: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl ReaderWire {
    fn is_out(&self, state: &State) -> bool {
        state.is_dead() || !state.reader_plugged || state.plugs != self.plug
    }
}

impl AsyncWrite for ReaderWire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_out(&self.world.lock()) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let fate = self.world.pass(PointKind::FrameOut);
        match fate {
            Fate::Dead => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            Fate::Cut => {
                self.world.unplug_reader();
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            Fate::Happens | Fate::Last => {
                let mut state = self.world.lock();
                let now = state.now();
                state.device.bytes(bytes, now);
            }
        }
        if fate == Fate::Last {
            self.world.die();
        }
        self.world.reader_moves().notify_waiters();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ReaderWire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let world = self.world.clone();
            // The listener is registered before the check, so it misses no signal.
            let woken = self.woken.get_or_insert_with(|| {
                let world = world.clone();
                Box::pin(async move { world.reader_moves().notified().await })
            });
            if woken.as_mut().poll(cx).is_ready() {
                self.woken = None;
                continue;
            }
            let mut state = world.lock();
            if self.is_out(&state) {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            if self.rest.is_empty()
                && let Some(output) = state.device.output()
            {
                drop(state);
                match world.pass(PointKind::FrameIn) {
                    Fate::Happens => self.rest = output.bytes,
                    Fate::Dead => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
                    Fate::Cut => {
                        world.unplug_reader();
                        return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
                    }
                    Fate::Last => {
                        world.die();
                        self.rest = output.bytes;
                    }
                }
                state = world.lock();
            }
            if !self.rest.is_empty() {
                let count = self.rest.len().min(into.remaining());
                into.put_slice(&self.rest[..count]);
                self.rest.drain(..count);
                return Poll::Ready(Ok(()));
            }
            let Some(due) = state.device.deadline() else { return Poll::Pending };
            let now = state.now();
            if due <= now {
                state.device.timer(now);
                continue;
            }
            drop(state);
            let mut timer = Box::pin(sleep(due - now));
            if timer.as_mut().poll(cx).is_pending() {
                self.timer = Some(timer);
                return Poll::Pending;
            }
        }
    }
}

impl World {
    /// Pulls the reader's cable. [`World::plug_reader`] puts it back; otherwise, the world does so after five seconds.
    pub fn unplug_reader(&self) {
        let mut state = self.lock();
        state.reader_plugged = false;
        state.device.unplugged();
        let now = state.now();
        state.device.person_does(pos_sim::reader::PersonAction::Remove, now);
        while state.device.output().is_some() {}
        drop(state);
        self.reader_moves().notify_waiters();
        let world = self.clone();
        tokio::spawn(async move {
            sleep(std::time::Duration::from_secs(5)).await;
            world.plug_reader();
        });
    }

    pub fn plug_reader(&self) {
        self.lock().reader_plugged = true;
    }
}

/// A roll of paper.
#[derive(Default)]
pub struct Printer {
    pub unplugged: bool,
    /// The pieces of paper; the bytes of each connection are one piece.
    pub papers: Vec<Vec<u8>>,
}

/// Returns the connection to the printer.
pub fn printer(world: &World) -> Connector {
    let world = world.clone();
    Arc::new(move || -> Connecting {
        let world = world.clone();
        Box::pin(async move {
            let mut state = world.lock();
            if state.is_dead() || state.printer.unplugged {
                return Err(io::ErrorKind::NotFound.into());
            }
            state.printer.papers.push(Vec::new());
            let paper = state.printer.papers.len() - 1;
            drop(state);
            Ok(Box::new(PrinterWire { world, paper }) as Box<dyn Stream>)
        })
    })
}

struct PrinterWire {
    world: World,
    paper: usize,
}

impl AsyncWrite for PrinterWire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let fate = self.world.pass(PointKind::Print);
        let mut state = self.world.lock();
        let broken = || Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        if state.printer.unplugged {
            return broken();
        }
        match fate {
            Fate::Dead => broken(),
            Fate::Cut => {
                state.printer.papers[self.paper].extend_from_slice(&bytes[..bytes.len() / 2]);
                broken()
            }
            Fate::Happens | Fate::Last => {
                state.printer.papers[self.paper].extend_from_slice(bytes);
                drop(state);
                if fate == Fate::Last {
                    self.world.die();
                }
                Poll::Ready(Ok(bytes.len()))
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for PrinterWire {
    /// Returns no bytes, because the printer sends nothing. If a connection ends, it is closed immediately.
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Returns the lines on a piece of paper as a person reads them, without the printer's commands.
pub fn lines(paper: &[u8]) -> Vec<String> {
    let mut text = String::new();
    let mut bytes = paper.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            0x1B => {
                let skip = if bytes.next() == Some(b'@') { 0 } else { 1 };
                bytes.by_ref().take(skip).for_each(drop);
            }
            0x1D => {
                let skip = if bytes.next() == Some(b'V') { 2 } else { 1 };
                bytes.by_ref().take(skip).for_each(drop);
            }
            0x1C => drop(bytes.next()),
            _ => text.push(char::from(byte)),
        }
    }
    text.lines().map(|line| line.trim().to_owned()).collect()
}
