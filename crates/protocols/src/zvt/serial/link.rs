//! One end of the serial line: acknowledgements, repeats, timers (ZVT PA00P016, 3). Time is an argument; what to do
//! comes back as actions.
//!
//! Each frame is acknowledged before it is acted on. A frame of ours that is not acknowledged within T2 goes out again,
//! three times in all; then the line is lost. Where nothing came back but the peer's answer, the answer is
//! acknowledgement enough: it cannot answer what it did not receive.
//!
//! **Repeats that come in.** When our acknowledgement is lost, the peer sends the same bytes again, and they must not
//! be acted on twice. Frames have no number, so it is told by what may be: each message is answered before the next one
//! is sent, hence the same bytes again are
//! - new, once a frame that we sent since has been acknowledged: the peer went on;
//! - a repeat, as long as we sent no frame since: the peer has nothing to send;
//! - between the two, a repeat if they are a command (it would stand unanswered twice); if they are an answer, a repeat
//!   only when they come as late as T2 lets a repeat come, else the answer to what we sent meanwhile.
//!
//! What cannot be told: a repeat that comes later than three times T2, and an answer that a peer repeats before T2
//! while our next frame is under way. Both are handed on.

use std::collections::VecDeque;
use std::time::Duration;

use super::frame::{self, ACK, FrameError, Frames, Heard, NAK};
use crate::zvt::apdu::Apdu;

/// T1: longest silence inside a frame.
const T1: Duration = Duration::from_millis(200);
/// T2: how long an acknowledgement is awaited.
const T2: Duration = Duration::from_secs(5);
/// How much sooner than T2 a repeat is still believed to be one.
const T2_SLACK: Duration = Duration::from_secs(1);
/// How often a frame is sent in all.
const MAX_SENDS: u8 = 3;
/// Most messages that wait. The protocol needs two: an answer, and what follows it.
const MAX_QUEUE: usize = 4;
/// Bits on the line for one byte: start, eight, two stop bits.
const BITS_PER_BYTE: u32 = 11;

/// What the caller must now do.
#[derive(Clone, PartialEq, Eq)]
pub enum LinkAction {
    /// Write these bytes to the port.
    Write(Vec<u8>),
    /// A message came.
    Deliver(Apdu),
    /// The peer does not acknowledge. What was to be sent is forgotten; the link is as new.
    Lost,
}

// What is written may hold a password.
impl std::fmt::Debug for LinkAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Write(bytes) => write!(f, "Write[{}]", bytes.len()),
            Self::Deliver(apdu) => write!(f, "Deliver({apdu:?})"),
            Self::Lost => f.write_str("Lost"),
        }
    }
}

/// More messages wait than the protocol can want to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_QUEUE} messages wait to be sent already")]
pub struct QueueFull;

/// The frame whose acknowledgement is awaited.
struct Sending {
    frame: Vec<u8>,
    is_answer: bool,
    sends: u8,
    resend_at: Duration,
}

/// The last message that came.
struct Received {
    apdu: Apdu,
    at: Duration,
    /// Until when a repeat can come.
    until: Duration,
    since: Since,
}

/// What became of our frames since then.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Since {
    NothingSent,
    Sent,
    Acknowledged,
}

/// One end of a serial line.
pub struct Link {
    baud: u32,
    frames: Frames,
    last_byte: Duration,
    /// A frame was lost, and the line is not quiet yet.
    refuse: bool,
    sending: Option<Sending>,
    queue: VecDeque<Apdu>,
    received: Option<Received>,
}

impl Link {
    /// A line of `baud` bits a second, on which nothing has been said yet. T2 runs from when a frame is out, and a
    /// receipt takes a second or more at 9600.
    #[must_use]
    pub fn new(baud: u32) -> Self {
        Self {
            baud: baud.max(1),
            frames: Frames::new(),
            last_byte: Duration::ZERO,
            refuse: false,
            sending: None,
            queue: VecDeque::new(),
            received: None,
        }
    }

    /// Bytes came.
    pub fn receive(&mut self, bytes: &[u8], now: Duration) -> Vec<LinkAction> {
        let mut actions = self.fell_silent(now);
        self.last_byte = now;
        let mut chunk = bytes;
        while let Some(heard) = self.frames.next(&mut chunk) {
            match heard {
                Heard::Frame(apdu) => self.frame(apdu, now, &mut actions),
                Heard::Ack => self.acknowledged(now, &mut actions),
                Heard::Nak => self.send_again(now, &mut actions),
                // The frame is over: say so at once.
                Heard::Bad(FrameError::Checksum { .. } | FrameError::Message(_)) => {
                    actions.push(LinkAction::Write(vec![NAK]));
                }
                // The peer may still be sending, and would not hear us.
                Heard::Bad(FrameError::TooLong | FrameError::Escape { .. }) => self.refuse = true,
                // Nobody may have meant a frame; who did repeats it.
                Heard::Bad(FrameError::Noise | FrameError::BrokenOff) => {}
            }
        }
        actions
    }

    /// Sends a message, now or when the one before is acknowledged.
    ///
    /// # Errors
    /// [`QueueFull`] when too many wait; the message is dropped.
    pub fn send(&mut self, apdu: Apdu, now: Duration) -> Result<Vec<LinkAction>, QueueFull> {
        if self.queue.len() == MAX_QUEUE {
            return Err(QueueFull);
        }
        let mut actions = self.fell_silent(now);
        self.queue.push_back(apdu);
        self.advance(now, &mut actions);
        Ok(actions)
    }

    /// The time of [`Self::next_deadline`] has come.
    pub fn poll(&mut self, now: Duration) -> Vec<LinkAction> {
        let mut actions = self.fell_silent(now);
        if self.resend_at().is_some_and(|at| at <= now) {
            self.send_again(now, &mut actions);
        }
        actions
    }

    /// When to call [`Self::poll`], if nothing comes before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let silence = (!self.frames.is_outside()).then_some(self.last_byte + T1);
        silence.into_iter().chain(self.resend_at()).min()
    }

    /// Everything that was to be sent is acknowledged.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.sending.is_none()
    }

    /// When the frame goes out again; not while the peer is in a frame of its own.
    fn resend_at(&self) -> Option<Duration> {
        self.sending.as_ref().filter(|_| !self.frames.is_inside()).map(|sending| sending.resend_at)
    }

    /// T1.
    fn fell_silent(&mut self, now: Duration) -> Vec<LinkAction> {
        if self.frames.is_outside() || now.saturating_sub(self.last_byte) < T1 {
            return Vec::new();
        }
        let broken = self.frames.silence().is_some();
        if std::mem::take(&mut self.refuse) || broken { vec![LinkAction::Write(vec![NAK])] } else { Vec::new() }
    }

    fn frame(&mut self, apdu: Apdu, now: Duration, actions: &mut Vec<LinkAction>) {
        actions.push(LinkAction::Write(vec![ACK]));
        if self.is_repeat(&apdu, now) {
            return;
        }
        let is_answer = apdu.control.is_answer();
        if self.sending.as_ref().is_some_and(|sending| sending.is_answer != is_answer) {
            self.acknowledged(now, actions);
        }
        let until = now + 3 * (T2 + self.air_time(apdu.data.len()));
        self.received = Some(Received { apdu: apdu.clone(), at: now, until, since: Since::NothingSent });
        actions.push(LinkAction::Deliver(apdu));
    }

    fn is_repeat(&self, apdu: &Apdu, now: Duration) -> bool {
        let Some(last) = self.received.as_ref().filter(|last| last.apdu == *apdu && now < last.until) else {
            return false;
        };
        match last.since {
            Since::NothingSent => true,
            Since::Sent => !apdu.control.is_answer() || now.saturating_sub(last.at) >= T2 - T2_SLACK,
            Since::Acknowledged => false,
        }
    }

    fn acknowledged(&mut self, now: Duration, actions: &mut Vec<LinkAction>) {
        if self.sending.take().is_some() {
            if let Some(received) = &mut self.received {
                received.since = Since::Acknowledged;
            }
            self.advance(now, actions);
        }
    }

    fn advance(&mut self, now: Duration, actions: &mut Vec<LinkAction>) {
        if self.sending.is_some() {
            return;
        }
        if let Some(apdu) = self.queue.pop_front() {
            let frame = frame::encode(&apdu);
            let resend_at = now + self.air_time(frame.len()) + T2;
            actions.push(LinkAction::Write(frame.clone()));
            self.sending = Some(Sending { frame, is_answer: apdu.control.is_answer(), sends: 1, resend_at });
            if let Some(received) = self.received.as_mut().filter(|last| last.since == Since::NothingSent) {
                received.since = Since::Sent;
            }
        }
    }

    fn send_again(&mut self, now: Duration, actions: &mut Vec<LinkAction>) {
        let Some(mut sending) = self.sending.take() else {
            return;
        };
        if sending.sends == MAX_SENDS {
            self.queue.clear();
            self.received = None;
            actions.push(LinkAction::Lost);
            return;
        }
        sending.sends += 1;
        sending.resend_at = now + self.air_time(sending.frame.len()) + T2;
        actions.push(LinkAction::Write(sending.frame.clone()));
        self.sending = Some(sending);
    }

    /// How long so many bytes are on the line.
    fn air_time(&self, bytes: usize) -> Duration {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Duration::from_secs(1) * bytes.saturating_mul(BITS_PER_BYTE) / self.baud
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
