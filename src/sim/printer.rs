//! A receipt printer on a desk: takes ESC/POS on TCP (port 9100 on real ones) and shows what would stand on its paper.
//!
//! It shares nothing with the agent's printer module: [`paper`] reads the command language by itself, with code-page tables of
//! its own, so that a mistake there is seen here. Tests can make it dead or let it die in the middle of a receipt.

pub mod paper;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};

use paper::Paper;

/// `pos-sim printer`: a receipt printer that shows its paper on standard output.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:9100")]
    pub listen: SocketAddr,
    /// Characters on a line.
    #[arg(long, default_value_t = 42)]
    pub columns: u8,
}

/// Prints each receipt to standard output as it is cut, until the program is stopped.
///
/// # Errors
/// When the address cannot be listened on, or standard output is gone.
pub async fn run(args: Args) -> io::Result<()> {
    let mut printer = Printer::start_with(args.listen, args.columns).await?;
    writeln!(io::stdout(), "printer listens on tcp://{}", printer.address)?;
    loop {
        let receipt = printer.next_receipt().await;
        writeln!(io::stdout(), "{receipt}{}", "- ".repeat(usize::from(args.columns / 2)))?;
    }
}

/// A running printer; it stops when this is dropped.
#[derive(Debug)]
pub struct Printer {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    orders: mpsc::Sender<Order>,
    receipts: watch::Receiver<Vec<String>>,
    /// How many [`Self::next_receipt`] has given.
    taken: usize,
}

#[derive(Debug)]
struct Shared {
    paper: Mutex<Paper>,
    receipts: watch::Sender<Vec<String>>,
    /// Bytes until the printer dies, when that was ordered.
    die_after: Mutex<Option<usize>>,
}

/// What a person does to the printer, with a sign when it is done.
#[derive(Debug)]
enum Order {
    Dead(bool, oneshot::Sender<()>),
}

impl Printer {
    /// A printer of 42 columns; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn start(listen: SocketAddr) -> io::Result<Self> {
        Self::start_with(listen, 42).await
    }

    /// A printer of `columns` characters.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn start_with(listen: SocketAddr, columns: u8) -> io::Result<Self> {
        let listener = bind(listen)?.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        let (sender, receipts) = watch::channel(Vec::new());
        let paper = Mutex::new(Paper::new(usize::from(columns)));
        let shared = Arc::new(Shared { paper, receipts: sender, die_after: Mutex::new(None) });
        let (orders, inbox) = mpsc::channel(1);
        tokio::spawn(serve(listener, address, Arc::clone(&shared), inbox));
        Ok(Self { address, shared, orders, receipts, taken: 0 })
    }

    /// The receipts cut so far, oldest first.
    #[must_use]
    pub fn receipts(&self) -> Vec<String> {
        self.receipts.borrow().clone()
    }

    /// The receipts cut so far, and a sign at each further one.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Vec<String>> {
        self.receipts.clone()
    }

    /// The next receipt that was not given yet.
    pub async fn next_receipt(&mut self) -> String {
        let taken = self.taken;
        let all = self.receipts.wait_for(|all| all.len() > taken).await.expect("the sender is in `shared`");
        self.taken += 1;
        all[taken].clone()
    }

    /// What is on the paper since the last cut.
    #[must_use]
    pub fn uncut(&self) -> String {
        lock(&self.shared.paper).uncut()
    }

    /// How many commands and bytes it did not understand; they are on the paper as `<1B 3F>`.
    #[must_use]
    pub fn errors(&self) -> usize {
        lock(&self.shared.paper).errors()
    }

    /// Switches the printer off: every connection is cut and new ones are refused; or on again.
    pub async fn set_dead(&self, dead: bool) {
        let (done, wait) = oneshot::channel();
        self.orders.send(Order::Dead(dead, done)).await.expect("the printer runs as long as its handle");
        wait.await.expect("the printer obeys each order");
    }

    /// After `bytes` more bytes the printer cuts the connection, as one that loses its power, and refuses new ones.
    pub fn die_after(&self, bytes: usize) {
        *lock(&self.shared.die_after) = Some(bytes);
    }
}

/// Connections that may wait; a real printer serves one at a time.
const BACKLOG: u32 = 8;

/// A socket that has the address but does not listen: connections to it are refused, and nobody else gets the port.
fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// The printer as its switch has it.
enum Switch {
    On(TcpListener),
    Off(TcpSocket),
}

impl Switch {
    fn turn(self, address: SocketAddr, dead: bool) -> io::Result<Self> {
        match (self, dead) {
            (Self::On(listener), true) => {
                drop(listener);
                bind(address).map(Self::Off)
            }
            (Self::Off(socket), false) => socket.listen(BACKLOG).map(Self::On),
            (as_it_is, _) => Ok(as_it_is),
        }
    }
}

async fn serve(listener: TcpListener, address: SocketAddr, shared: Arc<Shared>, mut orders: mpsc::Receiver<Order>) {
    let mut switch = Switch::On(listener);
    let mut line: Option<TcpStream> = None;
    loop {
        let dead = tokio::select! {
            order = orders.recv() => match order {
                None => return,
                Some(Order::Dead(dead, done)) => Some((dead, Some(done))),
            },
            alive = work(&switch, &mut line, &shared) => (!alive).then_some((true, None)),
        };
        let Some((dead, done)) = dead else { continue };
        if dead && let Some(stream) = line.take() {
            let _ = stream.set_zero_linger();
        }
        switch = match switch.turn(address, dead) {
            Ok(switch) => switch,
            Err(_) => return,
        };
        // Nobody waits any more when the handle was dropped meanwhile.
        let _ = done.map(|done| done.send(()));
    }
}

/// One step: takes a connection, or prints what came on it. False when the printer died of it.
async fn work(switch: &Switch, line: &mut Option<TcpStream>, shared: &Shared) -> bool {
    let Switch::On(listener) = switch else { return std::future::pending().await };
    let Some(stream) = line else {
        *line = listener.accept().await.ok().map(|(stream, _)| stream);
        return true;
    };
    let mut bytes = [0; 1024];
    match stream.read(&mut bytes).await {
        Ok(0) | Err(_) => *line = None,
        Ok(size) => {
            let (size, alive) = shared.life_left(size);
            let answer = shared.print(&bytes[..size]);
            if !alive {
                return false;
            }
            if !answer.is_empty() && stream.write_all(&answer).await.is_err() {
                *line = None;
            }
        }
    }
    true
}

impl Shared {
    /// How many of `size` bytes are still printed, and whether the printer lives after them.
    fn life_left(&self, size: usize) -> (usize, bool) {
        let mut die_after = lock(&self.die_after);
        match *die_after {
            Some(left) if left <= size => {
                *die_after = None;
                (left, false)
            }
            Some(left) => {
                *die_after = Some(left - size);
                (size, true)
            }
            None => (size, true),
        }
    }

    /// Prints bytes; returns what the printer answers.
    fn print(&self, bytes: &[u8]) -> Vec<u8> {
        let mut paper = lock(&self.paper);
        let answer = paper.feed(bytes);
        let cut = paper.take_cut();
        drop(paper);
        if !cut.is_empty() {
            self.receipts.send_modify(|receipts| receipts.extend(cut));
        }
        answer
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
