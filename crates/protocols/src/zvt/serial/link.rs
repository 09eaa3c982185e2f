//! One end of the serial line: acknowledgements, repeats, timers (ZVT PA00P016, 3). The functions take the time as an
//! argument and return actions for the caller.
//!
//! The link acknowledges each frame before it acts on it. If our frame is not acknowledged within T2, the link sends it
//! again, at most three times in total. After that, the line counts as lost. An answer from the peer also counts as an
//! acknowledgement, because it proves that the peer received the frame.
//!
//! **Repeats from the peer.** When our acknowledgement is lost, the peer sends the same bytes again. The link must not
//! act on them twice. Frames are not numbered, so the link decides by the rules of the protocol. Each message is
//! answered before the next one is sent. When the same bytes arrive again, they are therefore
//! - new, if the peer has acknowledged a frame that we sent since, because the peer has then moved on;
//! - a repeat, if we have sent no frame since, because the peer has nothing new to send;
//! - in the remaining case, a repeat if they are a command, because a new command would leave two unanswered. An answer
//!   is then a repeat only if it comes about T2 later. An earlier one answers the frame that we sent meanwhile.
//!
//! Two cases cannot be recognised: a repeat later than three times T2, and an answer that a peer repeats before T2
//! while our next frame is on its way. The link delivers both.

use std::collections::VecDeque;
use std::time::Duration;

use super::frame::{self, ACK, FrameError, Frames, Heard, NAK};
use crate::zvt::apdu::Apdu;

/// T1: the longest silence inside a frame.
const T1: Duration = Duration::from_millis(200);
/// T2: the time to wait for an acknowledgement.
const T2: Duration = Duration::from_secs(5);
/// A repeat may come this much earlier than T2.
const T2_SLACK: Duration = Duration::from_secs(1);
/// Maximum number of times that a frame is sent.
const MAX_SENDS: u8 = 3;
/// Maximum number of waiting messages. The protocol needs two: an answer, and the message after it.
const MAX_QUEUE: usize = 4;
/// Bits on the line for one byte: one start bit, eight data bits, two stop bits.
const BITS_PER_BYTE: u32 = 11;

/// An action for the caller.
#[derive(Clone, PartialEq, Eq)]
pub enum LinkAction {
    /// Write these bytes to the port.
    Write(Vec<u8>),
    /// Handle this message, which has arrived.
    Deliver(Apdu),
    /// The peer does not acknowledge. The link has dropped the waiting messages and returned to its initial state.
    Lost,
}

// The written bytes may contain a password.
impl std::fmt::Debug for LinkAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Write(bytes) => write!(f, "Write[{}]", bytes.len()),
            Self::Deliver(apdu) => write!(f, "Deliver({apdu:?})"),
            Self::Lost => f.write_str("Lost"),
        }
    }
}

/// The error of a full queue, which holds more messages than the protocol can need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_QUEUE} messages already wait to be sent")]
pub struct QueueFull;

/// The frame that waits for its acknowledgement.
struct Sending {
    frame: Vec<u8>,
    is_answer: bool,
    sends: u8,
    resend_at: Duration,
}

/// The last message from the peer.
struct Received {
    apdu: Apdu,
    at: Duration,
    /// The time until which a repeat can come.
    until: Duration,
    since: Since,
}

/// The state of our frames since the last message from the peer.
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
    /// Creates an unused line of `baud` bits per second. T2 starts when the whole frame has been sent, because a
    /// receipt takes a second or more at 9600 baud.
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

    /// Handles received bytes.
    pub fn receive(&mut self, bytes: &[u8], now: Duration) -> Vec<LinkAction> {
        let mut actions = self.fell_silent(now);
        self.last_byte = now;
        let mut chunk = bytes;
        while let Some(heard) = self.frames.next(&mut chunk) {
            match heard {
                Heard::Frame(apdu) => self.frame(apdu, now, &mut actions),
                Heard::Ack => self.acknowledged(now, &mut actions),
                Heard::Nak => self.send_again(now, &mut actions),
                // The frame is over, so the refusal goes out immediately.
                Heard::Bad(FrameError::Checksum { .. } | FrameError::Message(_)) => {
                    actions.push(LinkAction::Write(vec![NAK]));
                }
                // The peer may still be sending and would not receive a refusal.
                Heard::Bad(FrameError::TooLong | FrameError::Escape { .. }) => self.refuse = true,
                // These bytes may be noise. If they were a frame, the peer repeats it.
                Heard::Bad(FrameError::Noise | FrameError::BrokenOff) => {}
            }
        }
        actions
    }

    /// Sends a message immediately, or after the previous one is acknowledged.
    ///
    /// # Errors
    /// Returns [`QueueFull`] and drops the message if too many messages are waiting.
    pub fn send(&mut self, apdu: Apdu, now: Duration) -> Result<Vec<LinkAction>, QueueFull> {
        if self.queue.len() == MAX_QUEUE {
            return Err(QueueFull);
        }
        let mut actions = self.fell_silent(now);
        self.queue.push_back(apdu);
        self.advance(now, &mut actions);
        Ok(actions)
    }

    /// Handles the arrival of [`Self::next_deadline`].
    pub fn poll(&mut self, now: Duration) -> Vec<LinkAction> {
        let mut actions = self.fell_silent(now);
        if self.resend_at().is_some_and(|at| at <= now) {
            self.send_again(now, &mut actions);
        }
        actions
    }

    /// Returns when to call [`Self::poll`] if no event comes earlier.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let silence = (!self.frames.is_outside()).then_some(self.last_byte + T1);
        silence.into_iter().chain(self.resend_at()).min()
    }

    /// Returns whether all sent messages are acknowledged.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.sending.is_none()
    }

    /// Returns when to send the frame again, or `None` while the peer is sending a frame.
    fn resend_at(&self) -> Option<Duration> {
        self.sending.as_ref().filter(|_| !self.frames.is_inside()).map(|sending| sending.resend_at)
    }

    /// Checks for a silence of T1 and ends a broken frame.
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

    /// Returns the time that `bytes` bytes take on the line.
    fn air_time(&self, bytes: usize) -> Duration {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Duration::from_secs(1) * bytes.saturating_mul(BITS_PER_BYTE) / self.baud
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
