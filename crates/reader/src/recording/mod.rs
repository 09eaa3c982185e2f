//! A recording of a session with a reader, as text. It has each frame with its meaning, the orders to the session and
//! its events. It has no card data: sealed and clear card data are zeros of the same length, and check bytes are made
//! again for them. KSNs stay.
//!
//! A recording can be played to a session without the reader, which makes a test of it. So it also has the values of
//! the clock.
//!
//! ```text
//! # comment: what the line above means
//! SECONDS open · close CAUSE · order ORDER · timer · clock TIME   what happened to the session
//! SECONDS < BYTES     a frame from the reader
//!   <? <0 <! <r       the same: malformed; sealed data are zeros; clear card data; sealed data can be read
//! SECONDS > BYTES # COMMAND                               a frame to the reader
//! SECONDS = EVENT                                         an event for the agent
//! ```

mod elements;
mod line;
mod words;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::family::MessageMeaning;
use crate::outbox::PortAction;
use crate::settings::ClockSource;
use crate::{ReaderOrder, ReaderSettings};

pub(crate) use elements::{KnownElement, known};
pub use elements::{PartContent, RecordedPart};
pub use line::{CardDataFill, FirstPiece, LinePiece, LineRewriter, MessageKind, RecordedWire};

/// Takes the lines of a recording, each without its line feed.
pub type RecordingSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Maximum length of a recording in bytes. A sale has about 20 kB.
pub const MAX_RECORDING: usize = 2 << 20;
/// The last line of a recording that has reached its maximum length.
pub const RECORDING_ENDS: &str = "# The recording ends here, because it has reached its maximum length.";
/// Maximum number of lines that wait for the end of an unfinished message.
const MAX_WAITING: usize = 256;

/// Writes the recording of one session.
pub(crate) struct SessionRecorder {
    out: BoundedSink,
    line: LineRewriter,
    waiting: VecDeque<WaitingLine>,
    now: Duration,
}

/// A line that may wait for the end of an unfinished message before it.
enum WaitingLine {
    /// A whole line.
    Text(String),
    /// The next frame of the rewriter, received at this time.
    Frame(Duration),
}

impl SessionRecorder {
    /// Creates the recorder of a session whose settings ask for a recording. It also records the clock's values.
    pub(crate) fn of(settings: &mut ReaderSettings, wire: &'static dyn RecordedWire) -> Option<Self> {
        let out = BoundedSink { sink: settings.recording.clone()?, length: Arc::default() };
        settings.clock = recorded_clock(Arc::clone(&settings.clock), out.clone());
        let line = LineRewriter::new(wire);
        Some(Self { out, line, waiting: VecDeque::new(), now: Duration::ZERO })
    }

    pub(crate) fn opened(&mut self, now: Duration) {
        self.now = now;
        self.silence();
        self.tell("open");
    }

    pub(crate) fn closed(&mut self, cause: &str) {
        self.silence();
        self.tell(&format!("close {cause}"));
    }

    pub(crate) fn ordered(&mut self, order: &ReaderOrder, now: Duration) {
        self.now = now;
        self.tell(&format!("order {}", words::of_order(order)));
    }

    pub(crate) fn received(&mut self, bytes: &[u8], now: Duration) {
        self.now = now;
        let frames = self.line.feed(bytes);
        self.waiting.extend((0..frames).map(|_| WaitingLine::Frame(now)));
        if self.waiting.len() > MAX_WAITING {
            self.line.give_up();
            self.write();
        }
    }

    /// Records the meaning of the next message that was received.
    pub(crate) fn meant(&mut self, meaning: &MessageMeaning<'_>) {
        self.write_message();
        self.out.write(&format!("#   means: {}", words::of_meaning(meaning)));
    }

    /// Records that a silence has ended an unfinished message.
    pub(crate) fn silence(&mut self) {
        let frames = self.line.silence();
        self.waiting.extend((0..frames).map(|_| WaitingLine::Frame(self.now)));
        self.write();
    }

    /// Records that a deadline has passed.
    pub(crate) fn passed(&mut self, now: Duration) {
        self.now = now;
        self.tell("timer");
    }

    /// Records an action of the session. `command` is the name of the frame's command.
    pub(crate) fn did(&mut self, action: &PortAction, command: &str) {
        match action {
            PortAction::Write(frame) => self.tell(&format!("> {} # {command}", hex::encode_upper(frame))),
            PortAction::Report(event) => self.tell(&format!("= {}", words::of_event(event))),
            PortAction::Reopen { after } => self.tell(&format!("= opens the port again after {after:?}")),
        }
    }

    fn tell(&mut self, text: &str) {
        self.waiting.push_back(WaitingLine::Text(format!("{} {text}", seconds(self.now))));
        self.write();
    }

    /// Writes the lines up to an unfinished message.
    pub(crate) fn write(&mut self) {
        while self.write_message() {}
    }

    /// Writes the lines up to the end of a message. Returns whether there was a message.
    fn write_message(&mut self) -> bool {
        while let Some(first) = self.waiting.front() {
            let mut ends = false;
            match first {
                WaitingLine::Text(line) => self.out.write(line),
                WaitingLine::Frame(at) => {
                    let Some(piece) = self.line.pop() else { return false };
                    ends = piece.ends;
                    self.out.write(&received_line(*at, &piece));
                }
            }
            self.waiting.pop_front();
            if ends {
                return true;
            }
        }
        false
    }
}

fn received_line(at: Duration, piece: &LinePiece) -> String {
    let kind = match piece.kind {
        MessageKind::Sealed => "<",
        MessageKind::Malformed => "<?",
        MessageKind::Zeros => "<0",
        MessageKind::Clear => "<!",
        MessageKind::Readable => "<r",
    };
    let mut line = format!("{} {kind} {}", seconds(at), hex::encode_upper(&piece.bytes));
    for note in &piece.notes {
        line.push_str("\n#   ");
        line.push_str(note);
    }
    line
}

fn seconds(at: Duration) -> String {
    format!("{:4}.{:06}", at.as_secs(), at.subsec_micros())
}

/// Returns a clock whose values are recorded.
fn recorded_clock(clock: ClockSource, out: BoundedSink) -> ClockSource {
    Arc::new(move || {
        let now = clock();
        out.write(&match now {
            Some(now) => format!("{} clock {}", seconds(Duration::ZERO), words::of_time(&now)),
            None => format!("{} clock none", seconds(Duration::ZERO)),
        });
        now
    })
}

/// A sink that takes no more than [`MAX_RECORDING`] bytes.
#[derive(Clone)]
struct BoundedSink {
    sink: RecordingSink,
    length: Arc<AtomicUsize>,
}

impl BoundedSink {
    fn write(&self, line: &str) {
        let before = self.length.fetch_add(line.len() + 1, Ordering::Relaxed);
        if before + line.len() < MAX_RECORDING {
            (self.sink)(line);
        } else if before < MAX_RECORDING {
            // The counter stays above the maximum, so this is the last line.
            self.length.fetch_add(MAX_RECORDING, Ordering::Relaxed);
            (self.sink)(RECORDING_ENDS);
        }
    }
}
