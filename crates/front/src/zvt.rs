//! Tills that speak ZVT: the listener or serial line of each till, and the exchange between its session and the agent.
//! `pos_protocols::zvt::session` decides how a command is handled.
//!
//! | wait | time limit |
//! |---|---|
//! | for the rest of an APDU | `WHOLE` |
//! | for the till to read an APDU | `TAKEN` |
//! | between two APDUs to the same till | `GAP`: some tills mistake APDUs that arrive together for one APDU |

mod serial;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use pos_protocols::zvt::apdu::{Apdu, Splitter};
use pos_protocols::zvt::bmp::Order;
use pos_protocols::zvt::session::{Action, Line, Session, Settings};
use pos_protocols::zvt::trace;
use pos_till_api::Said;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::agent::{Agent, Room};
use crate::asking::{begin_asking, until};
use crate::config::zvt::{ZvtConfig, ZvtLine};
use crate::listen::until_stopped;
use crate::seen::SeenTill;
use crate::state::StateFolder;
use crate::task;
use crate::till_lines;

/// The time limit for each further part of an incomplete APDU. Over Ethernet, the whole APDU arrives immediately.
const WHOLE: Duration = Duration::from_secs(5);
const TAKEN: Duration = Duration::from_secs(5);
const GAP: Duration = Duration::from_millis(20);
/// The pause after a serial line is lost.
const AGAIN: Duration = Duration::from_secs(1);
/// The largest number of bytes in one read.
const CHUNK: usize = 4096;
/// The largest number of APDUs that wait for a till to read them. When there are more, the line is closed.
const MOST_WAITING: usize = 64;

/// The registration of a till, as stored.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// The data of `06 00`, hexadecimal.
    registration: Option<String>,
    /// True when the till has answered a `04 FF`.
    #[serde(default)]
    answers_intermediate: bool,
}

/// A till that speaks ZVT.
#[derive(Debug)]
pub(crate) struct ZvtTill {
    config: ZvtConfig,
    pub(crate) seen: Arc<SeenTill>,
}

/// An event on a line.
enum Event {
    Opened(Line, mpsc::Sender<Apdu>, AbortHandle, String),
    Heard(Line, Apdu),
    Lost(Line),
}

impl ZvtTill {
    pub(crate) fn new(config: ZvtConfig, now: fn() -> SystemTime) -> Self {
        let seen = Arc::new(SeenTill::new(&config.till, "zvt", now));
        Self { config, seen }
    }

    /// Serves the till until the shutdown. The caller creates the listener before the front serves anything, so a port
    /// that is in use is reported immediately.
    pub(crate) async fn run(
        self: Arc<Self>,
        listener: Option<TcpListener>,
        agent: Arc<Agent>,
        state: StateFolder,
        mut stopped: watch::Receiver<bool>,
    ) {
        let (events, heard) = mpsc::channel(MOST_WAITING);
        let lines = async {
            match (&self.config.line, listener) {
                (ZvtLine::Tcp { from, .. }, Some(listener)) => accept(listener, from, &events).await,
                (ZvtLine::Serial { path, speed }, _) => serial::hold(path, *speed, &events).await,
                (ZvtLine::Tcp { .. }, None) => {}
            }
        };
        tokio::select! {
            () = lines => {}
            () = self.serve(heard, &agent, &state) => {}
            () = until_stopped(&mut stopped) => {}
        }
    }

    async fn serve(&self, mut heard: mpsc::Receiver<Event>, agent: &Arc<Agent>, state: &StateFolder) {
        let file = format!("zvt-{}.json", self.config.till);
        let kept: Option<Kept> = state.read(&file).unwrap_or_else(|error| {
            tracing::warn!(
                till = self.config.till, %error,
                "the till's registration cannot be read; the till must register again"
            );
            None
        });
        let answers_intermediate = kept.as_ref().is_some_and(|kept| kept.answers_intermediate);
        let kept = kept.and_then(|kept| hex::decode(kept.registration?).ok());
        let mut session = Session::new(self.settings(), kept.as_deref());
        session.set_answers_intermediate(answers_intermediate);
        let mut lines: HashMap<Line, (mpsc::Sender<Apdu>, AbortHandle)> = HashMap::new();
        let mut asked: JoinSet<(u64, Said)> = JoinSet::new();
        let start = Instant::now();
        loop {
            let deadline = session.next_deadline().map(|at| start + at.min(Duration::from_secs(86_400)));
            let actions = tokio::select! {
                event = heard.recv() => match event {
                    Some(Event::Opened(line, writer, reader, from)) => {
                        tracing::info!(till = self.config.till, from, "a till has connected");
                        lines.insert(line, (writer, reader));
                        self.seen.came(from);
                        session.line_opened(line)
                    }
                    Some(Event::Heard(line, apdu)) => {
                        self.seen.said("till says", || trace::line(&apdu));
                        let actions = session.heard(line, &apdu, start.elapsed());
                        self.seen.commanded(session.last_command().map(|it| match it.name() {
                            Some(name) => format!("{it} {name}"),
                            None => it.to_string(),
                        }));
                        actions
                    }
                    Some(Event::Lost(line)) => {
                        lines.remove(&line);
                        session.line_lost(line, start.elapsed())
                    }
                    None => return,
                },
                Some(Ok((ticket, said))) = asked.join_next() => session.said(ticket, said, start.elapsed()),
                () = until(deadline) => session.tick(start.elapsed()),
            };
            let mut lost = Vec::new();
            for action in actions {
                match action {
                    Action::Send { line, apdu } => {
                        let Some((writer, _)) = lines.get(&line) else { continue };
                        self.seen.said("is told ", || trace::line(&apdu));
                        if writer.try_send(apdu).is_err() {
                            tracing::warn!(
                                till = self.config.till,
                                "the till is not reading its line; the line was closed"
                            );
                            lost.push(line);
                        }
                    }
                    Action::Ask { ticket, ask: question } => {
                        begin_asking(&mut asked, (agent, Room::Zvt, &self.config.till), (ticket, question));
                    }
                    Action::Hang { line } => lost.push(line),
                    Action::Note(note) => tracing::warn!(till = self.config.till, "{note}"),
                    Action::Remember(data) => {
                        let answers_intermediate = session.answers_intermediate();
                        let kept = Kept { registration: data.map(hex::encode), answers_intermediate };
                        if let Err(error) = state.write(&file, &kept) {
                            tracing::warn!(
                                till = self.config.till, %error,
                                "the till's registration could not be saved"
                            );
                        }
                    }
                }
            }
            for line in lost {
                if let Some((_, reader)) = lines.remove(&line) {
                    reader.abort();
                }
                for action in session.line_lost(line, start.elapsed()) {
                    if let Action::Ask { ticket, ask: question } = action {
                        begin_asking(&mut asked, (agent, Room::Zvt, &self.config.till), (ticket, question));
                    }
                }
            }
            self.seen.open(lines.len());
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            // The check of the configuration has already read the password.
            password: self.config.password().ok().flatten(),
            credit: self.config.credit,
            unacknowledged: self.config.unacknowledged,
            order: if self.config.ascending { Order::Ascending } else { Order::Table },
            status_containers: self.config.status_containers,
            needed_frames_only: self.config.needed_frames_only,
            own_sums: self.config.own_sums.then(|| self.config.till.clone()),
            references: till_lines::references("zvt"),
        }
    }
}

/// Opens the listener of a till that connects over the network.
pub(crate) async fn bind(config: &ZvtConfig) -> Result<Option<TcpListener>, String> {
    match &config.line {
        ZvtLine::Tcp { listen, .. } => till_lines::bind(*listen, "zvt").await.map(Some),
        ZvtLine::Serial { .. } => Ok(None),
    }
}

async fn accept(listener: TcpListener, from: &[IpAddr], events: &mpsc::Sender<Event>) {
    let mut count: Line = 0;
    loop {
        let (stream, peer) = till_lines::next(&listener, from, "zvt").await;
        count = count.wrapping_add(1);
        let (read, write) = stream.into_split();
        open(count, read, write, peer.to_string(), events).await;
    }
}

/// Starts the reader and the writer of a connection.
async fn open(
    line: Line,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
    from: String,
    events: &mpsc::Sender<Event>,
) {
    let (writer, waiting) = mpsc::channel(MOST_WAITING);
    let has_lengths = Arc::new(AtomicBool::new(false));
    let lost = events.clone();
    let (ready, begin) = tokio::sync::oneshot::channel::<()>();
    let both = task::spawn(async move {
        // The event `Opened` must come before any received APDU.
        let _ = begin.await;
        tokio::select! {
            () = read_on(line, read, &lost, &has_lengths) => {}
            () = write_on(write, waiting, &has_lengths) => {}
        }
        let _ = lost.send(Event::Lost(line)).await;
    });
    let _ = events.send(Event::Opened(line, writer, both.abort_handle(), from)).await;
    let _ = ready.send(());
}

async fn read_on(line: Line, mut read: impl AsyncRead + Unpin, events: &mpsc::Sender<Event>, has_lengths: &AtomicBool) {
    let (mut splitter, mut chunk) = (Splitter::default(), vec![0; CHUNK]);
    loop {
        let count = if splitter.is_inside() {
            match timeout(WHOLE, read.read(&mut chunk)).await {
                Ok(Ok(count)) => count,
                Ok(Err(_)) => return,
                Err(_) => {
                    tracing::warn!("a till did not send the rest of an APDU; its line was closed");
                    return;
                }
            }
        } else {
            match read.read(&mut chunk).await {
                Ok(count) => count,
                Err(_) => return,
            }
        };
        let mut bytes = chunk.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            return;
        }
        while let Some(apdu) = splitter.next(&mut bytes) {
            has_lengths.store(splitter.has_lengths(), Ordering::Relaxed);
            if events.send(Event::Heard(line, apdu)).await.is_err() {
                return;
            }
        }
    }
}

async fn write_on(mut write: impl AsyncWrite + Unpin, mut waiting: mpsc::Receiver<Apdu>, has_lengths: &AtomicBool) {
    while let Some(apdu) = waiting.recv().await {
        let bytes = if has_lengths.load(Ordering::Relaxed) { apdu.encode_with_length() } else { apdu.encode() };
        if !matches!(timeout(TAKEN, write.write_all(&bytes)).await, Ok(Ok(()))) {
            return;
        }
        sleep(GAP).await;
    }
}
