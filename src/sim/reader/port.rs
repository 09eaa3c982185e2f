//! The wire of the simulated reader: a pty or a TCP listener, the task that owns it, and the handle by which people and
//! tests put their hands on the device. The only file of the reader that knows the time.
#![allow(clippy::disallowed_methods, reason = "a simulator's port file: it gives the time to the device")]

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use tokio::sync::{Notify, watch};

use super::Options;
use super::deck::{Card, Entry};
use super::device::{AbortRace, Cable, ChoicePlan, Counters, Device, Hand, Key, Output, PinPlan, Screen, WaitsFor};
use super::line::{Line, Socket};
use super::script::{Action, Script, When};

/// The code of CONTINUE TRANSACTION.
const CONTINUE: u16 = 0xDED2;
/// Pause between the pieces of [`Options::fragment`].
const FRAGMENT_PAUSE: Duration = Duration::from_millis(1);

/// A running reader: its handle. Clones are the same reader; it ends with the last of them.
#[derive(Clone)]
pub struct Reader {
    shared: Arc<Shared>,
    _task: Arc<EndWithHandle>,
}

/// Moments for a benchmark, of the latest payment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    /// The last byte of the card (E3, E4 or E5 of START, or the swipe event) was written.
    pub card_written: Option<Instant>,
    /// The first byte of CONTINUE TRANSACTION was read.
    pub continue_read: Option<Instant>,
}

/// Starts a reader on the current tokio runtime.
///
/// # Errors
/// When the pty or its link cannot be made, or the TCP address not be bound.
pub async fn start(options: Options) -> io::Result<Reader> {
    let socket = Socket::open(options.tcp, options.link.as_ref())?;
    let place = socket.place()?;
    let device =
        Device::new(Options { says_powered_on: options.says_powered_on || options.tcp.is_some(), ..options.clone() });
    let (screen, _) = watch::channel(device.screen());
    let inner = Inner {
        device,
        place,
        new_socket: Some(socket),
        plugged: true,
        unplugged_times: 0,
        moments: Moments::default(),
    };
    let shared = Arc::new(Shared {
        inner: Mutex::new(inner),
        wake: Notify::new(),
        screen,
        started: Instant::now(),
        tcp: options.tcp.is_some(),
        link: options.link,
        fragment: options.fragment,
        at_continue: OnceLock::new(),
    });
    let task = tokio::spawn(own(Arc::clone(&shared)));
    Ok(Reader { shared, _task: Arc::new(EndWithHandle(task)) })
}

impl Reader {
    /// Where it is: the path of the pty (or of its link), or the TCP address with port.
    #[must_use]
    pub fn place(&self) -> String {
        self.shared.lock().place.clone()
    }

    /// Inserts a card.
    pub fn insert(&self, card: &'static Card) {
        self.hand(Hand::Insert(card));
    }

    /// Taps a card. Nothing happens unless the reader waits for one: see [`Self::waits_for`].
    pub fn tap(&self, card: &'static Card) {
        self.hand(Hand::Tap(card));
    }

    /// Swipes a card.
    pub fn swipe(&self, card: &'static Card) {
        self.hand(Hand::Swipe(card));
    }

    /// Presents a card one way or another.
    pub fn present(&self, card: &'static Card, entry: Entry) {
        match entry {
            Entry::Insert => self.insert(card),
            Entry::Tap => self.tap(card),
            Entry::Swipe => self.swipe(card),
        }
    }

    /// Takes the card out of the slot.
    pub fn remove(&self) {
        self.hand(Hand::Remove);
    }

    /// Takes the card out when this happens for the next time, as a script with this one rule.
    pub fn remove_at(&self, when: When) {
        self.follow(Script::default().on(when, Some(1), &[Action::Remove]));
    }

    /// Follows a script from now on, instead of the one before; its events are counted from now.
    pub fn follow(&self, script: Script) {
        self.shared.act(|device, now| device.follow(script, now));
    }

    /// Switches it off and on ([`super::Pace::boot`]); the line stays.
    pub fn reboot(&self) {
        self.hand(Hand::Reboot);
    }

    /// Presses a key.
    pub fn key(&self, key: Key) {
        self.hand(Hand::Key(key));
    }

    /// Lets the time run out for what the reader waits for (9F42, or a PIN not entered).
    pub fn wait_too_long(&self) {
        self.hand(Hand::WaitTooLong);
    }

    /// What the cardholder types at the next PIN prompt instead of the right PIN.
    pub fn next_pin(&self, digits: &str) {
        self.plan_pin(PinPlan::Digits(digits.to_owned()));
    }

    /// The cardholder presses cancel at the next PIN prompt.
    pub fn next_pin_cancel(&self) {
        self.plan_pin(PinPlan::Cancel);
    }

    /// What the cardholder does at the next PIN prompt.
    pub fn plan_pin(&self, plan: PinPlan) {
        self.shared.act(|device, _| device.plan_pin(plan));
    }

    /// What the cardholder does when he is next asked for an application.
    pub fn plan_choice(&self, plan: ChoicePlan) {
        self.shared.act(|device, _| device.plan_choice(plan));
    }

    /// What is typed at the next GET NUMERIC.
    pub fn next_number(&self, digits: &str) {
        self.shared.act(|device, _| device.plan_number(digits));
    }

    /// How ABORT meets a running command from now on.
    pub fn plan_abort(&self, race: AbortRace) {
        self.shared.act(|device, _| device.plan_abort(race));
    }

    /// Damages the next message by one bit.
    pub fn spoil_next(&self) {
        self.shared.act(|device, _| device.spoil_next());
    }

    /// Pulls the cable: the other side's reads end. What the device had under way is lost, its keys and counters are
    /// not.
    pub fn unplug(&self) {
        self.shared.act(|device, _| device.unplugged());
        self.shared.pull(&mut self.shared.lock());
        self.shared.wake.notify_one();
    }

    /// Puts the cable back: the same TCP address, or a new pty under the same link. Without a link [`Self::place`] is
    /// another one.
    ///
    /// # Errors
    /// As [`start`].
    pub fn replug(&self) -> io::Result<()> {
        self.shared.put_back(&mut self.shared.lock())?;
        self.shared.wake.notify_one();
        Ok(())
    }

    /// The lines of the display.
    #[must_use]
    pub fn display(&self) -> Vec<String> {
        self.shared.screen.borrow().lines.clone()
    }

    /// The display and what the reader waits for, as it changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Screen> {
        self.shared.screen.subscribe()
    }

    /// Returns when the reader waits for this.
    pub async fn waits_for(&self, what: WaitsFor) {
        self.until(|screen| screen.waits_for == what).await;
    }

    /// Returns when the screen is as wanted.
    pub async fn until(&self, wanted: impl FnMut(&Screen) -> bool + Send) {
        // The sender lives in `self.shared`: waiting cannot fail.
        let _ = self.watch().wait_for(wanted).await;
    }

    /// Bytes of a flood that were taken from it so far ([`Action::Flood`]).
    #[must_use]
    pub fn flooded(&self) -> u64 {
        self.shared.lock().device.flooded
    }

    /// What came over the line so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.lock().device.counters().clone()
    }

    /// Calls `told` each time CONTINUE TRANSACTION was read, before any answer to it is written. There is one listener:
    /// false when another one came before.
    pub fn at_continue(&self, told: impl Fn() + Send + Sync + 'static) -> bool {
        self.shared.at_continue.set(Box::new(told)).is_ok()
    }

    /// The moments of the latest payment.
    #[must_use]
    pub fn moments(&self) -> Moments {
        self.shared.lock().moments
    }

    fn hand(&self, hand: Hand) {
        self.shared.act(|device, now| device.hands(hand, now));
    }
}

/// What the handles and the task share. The lock is held for moments, never over an await.
struct Shared {
    inner: Mutex<Inner>,
    wake: Notify,
    screen: watch::Sender<Screen>,
    started: Instant,
    tcp: bool,
    link: Option<PathBuf>,
    fragment: Option<usize>,
    at_continue: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

struct Inner {
    device: Device,
    place: String,
    /// Plugged in and not yet taken over by the task.
    new_socket: Option<Socket>,
    plugged: bool,
    unplugged_times: usize,
    moments: Moments,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happens to the device; the task is told.
    fn act(&self, on: impl FnOnce(&mut Device, Duration)) {
        let mut inner = self.lock();
        on(&mut inner.device, self.started.elapsed());
        self.move_cable(&mut inner);
        self.tell(&inner.device);
        self.wake.notify_one();
    }

    /// What the device's script wants done with the cable.
    fn move_cable(&self, inner: &mut Inner) {
        while let Some(cable) = inner.device.take_cable() {
            match cable {
                Cable::Out => self.pull(inner),
                Cable::In => {
                    if let Err(error) = self.put_back(inner) {
                        tracing::warn!("reader: the cable cannot be put back: {error}");
                    }
                }
            }
        }
    }

    fn pull(&self, inner: &mut Inner) {
        inner.plugged = false;
        inner.unplugged_times += 1;
        inner.new_socket = None;
        // As udev does: a link that stayed would lead to whatever pty gets the number next, somebody else's reader
        // perhaps.
        if let Some(link) = self.link.as_ref().filter(|_| !self.tcp) {
            let _ = std::fs::remove_file(link);
        }
    }

    /// The listener of TCP stays: without a cable it only turns callers away.
    fn put_back(&self, inner: &mut Inner) -> io::Result<()> {
        if !self.tcp {
            let socket = Socket::pty(self.link.as_ref())?;
            inner.place = socket.place()?;
            inner.new_socket = Some(socket);
        }
        inner.plugged = true;
        Ok(())
    }

    /// Returns when somebody acts, or when the device goes on by itself. Nobody is connected: what it says is lost.
    async fn idle(&self) {
        let deadline = self.lock().device.deadline();
        let wake_at = tokio::time::Instant::from_std(self.started + deadline.unwrap_or_default());
        tokio::select! {
            () = self.wake.notified() => {}
            () = tokio::time::sleep_until(wake_at), if deadline.is_some() => self.act(|device, now| device.timer(now)),
        }
        let mut inner = self.lock();
        while inner.device.output().is_some() {}
    }

    fn tell(&self, device: &Device) {
        let screen = device.screen();
        self.screen.send_if_modified(|before| {
            let changed = *before != screen;
            *before = screen;
            changed
        });
    }

    /// Bytes were read at `at`; `began` is when the packet they belong to began.
    fn read(&self, bytes: &[u8], at: Instant, began: &mut Instant) {
        let mut inner = self.lock();
        if !inner.device.is_mid_packet() {
            *began = at;
        }
        let before = inner.device.counters().commands.len();
        inner.device.bytes(bytes, at.duration_since(self.started));
        if inner.device.counters().commands[before..].contains(&CONTINUE) {
            inner.moments.continue_read = Some(*began);
            if let Some(told) = self.at_continue.get() {
                told();
            }
        }
        self.move_cable(&mut inner);
        self.tell(&inner.device);
    }
}

struct EndWithHandle(tokio::task::JoinHandle<()>);

impl Drop for EndWithHandle {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The task: serves one connection after the other.
async fn own(shared: Arc<Shared>) {
    loop {
        let socket = shared.lock().new_socket.take();
        match socket {
            Some(Socket::Pty { master, slave, .. }) => {
                #[allow(deprecated, reason = "its successor is unsafe; an OwnedFd is what that asks for")]
                let Ok(master) = AsyncFd::new(master) else { return };
                serve(&shared, &Line::Pty { master, _slave: slave }).await;
            }
            Some(Socket::Tcp(listener)) => {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                loop {
                    tokio::select! {
                        Ok((stream, _)) = listener.accept() => {
                            if shared.lock().plugged {
                                let _ = stream.set_nodelay(true);
                                serve(&shared, &Line::Tcp(stream)).await;
                            }
                        }
                        () = shared.idle() => {}
                    }
                }
            }
            None => shared.idle().await,
        }
    }
}

/// One connection, until it ends or the cable is pulled.
async fn serve(shared: &Shared, line: &Line) {
    let unplugged_times = shared.lock().unplugged_times;
    shared.act(|device, now| device.connected(now));
    let mut input = [0; 1024];
    let mut began = shared.started;
    let mut pending: Option<(Output, usize)> = None;
    loop {
        let deadline = {
            let mut inner = shared.lock();
            if !inner.plugged || inner.unplugged_times != unplugged_times {
                return;
            }
            pending = pending.or_else(|| inner.device.output().map(|output| (output, 0)));
            pending = pending.or_else(|| inner.device.flood().map(|output| (output, 0)));
            inner.device.deadline()
        };
        let rest = pending.as_ref().map_or(&[][..], |(output, done)| &output.bytes[*done..]);
        let piece = &rest[..rest.len().min(shared.fragment.unwrap_or(usize::MAX))];
        let wake_at = tokio::time::Instant::from_std(shared.started + deadline.unwrap_or_default());
        tokio::select! {
            read = line.read(&mut input) => match read {
                Ok(0) | Err(_) => return,
                Ok(count) => shared.read(&input[..count], Instant::now(), &mut began),
            },
            written = line.write(piece), if !piece.is_empty() => {
                let Ok(count) = written else { return };
                pending = after_writing(shared, pending, count);
                if shared.fragment.is_some() {
                    tokio::time::sleep(FRAGMENT_PAUSE).await;
                }
            }
            () = shared.wake.notified() => {}
            () = tokio::time::sleep_until(wake_at), if deadline.is_some() => {
                shared.act(|device, now| device.timer(now));
            }
        }
    }
}

/// `count` more bytes are out; the moment is noted when they were the card's last.
fn after_writing(shared: &Shared, pending: Option<(Output, usize)>, count: usize) -> Option<(Output, usize)> {
    let (output, done) = pending?;
    let done = done + count;
    if done < output.bytes.len() {
        return Some((output, done));
    }
    if output.card {
        shared.lock().moments.card_written = Some(Instant::now());
    }
    None
}
