//! Tills that speak Caisse-AP over IP: the listener of each till, and the exchange between its session and the agent.
//! `pos_protocols::caisse_ap::session` decides how a request is handled.
//!
//! | wait | time limit |
//! |---|---|
//! | for the request, for the outcome | in the session |
//! | for the till's system to acknowledge an answer on which money depends | in `delivered` |
//! | for the till to read any other answer | `READ` |

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::header::HeaderValue;
use pos_protocols::caisse_ap::request::Direction;
use pos_protocols::caisse_ap::session::{Action, Line, SUPERVISOR, Session, Settings};
use pos_protocols::caisse_ap::trace;
use pos_till_api::{Ask, Kind, Said};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout};

use crate::agent::{Agent, Room};
use crate::asking::{ask_as, begin_asking, until};
use crate::config::caisse_ap::CaisseApConfig;
use crate::delivered::deliver;
use crate::listen::until_stopped;
use crate::payouts::{AskedPayout, Payouts};
use crate::seen::SeenTill;
use crate::session::end;
use crate::task;
use crate::till_lines;

/// The time in which a till reads an answer on which no money depends.
const READ: Duration = Duration::from_secs(2);
/// The largest number of bytes in one read. A request has at most 1,024.
const CHUNK: usize = 2048;
/// The largest number of bytes that are read and ignored after an answer.
const MOST_IGNORED: usize = 65_536;
/// The largest number of connections, including those whose answer is still to be read.
const MOST_OPEN: usize = 8;
/// The largest number of events that wait for the session.
const MOST_WAITING: usize = 16;
/// The time that a front that stops has to record which answers were delivered. systemd waits 10 s for it.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// A till that speaks Caisse-AP over IP.
#[derive(Debug)]
pub(crate) struct CaisseApTill {
    config: CaisseApConfig,
    pub(crate) seen: Arc<SeenTill>,
}

/// An event on a line.
enum Event {
    Opened(Line, mpsc::Sender<LastWord>, String),
    Heard(Line, Vec<u8>),
    Lost(Line),
    Taken(Line, bool),
}

/// The only answer on a line. Without one, the line is closed when its sender is dropped.
struct LastWord {
    bytes: Vec<u8>,
    /// True if the session hears whether the answer was delivered.
    reports: bool,
}

/// The agent's and the supervisors' answers that are still missing.
#[derive(Default)]
struct Missing {
    said: JoinSet<(u64, Said)>,
    confirmed: JoinSet<(u64, String, Option<HeaderValue>)>,
    /// The questions to supervisors, by their tickets.
    waiting: HashMap<u64, AbortHandle>,
    /// The sessions of the supervisors who have confirmed a payout, by its reference. A repeated begin request needs
    /// the session again.
    supervisors: HashMap<String, HeaderValue>,
}

impl CaisseApTill {
    pub(crate) fn new(config: CaisseApConfig, now: fn() -> SystemTime) -> Self {
        let seen = Arc::new(SeenTill::new(&config.till, "caisse-ap", now));
        Self { config, seen }
    }

    /// Serves the till until the shutdown.
    pub(crate) async fn run(
        self: Arc<Self>,
        listener: TcpListener,
        (agent, payouts): (Arc<Agent>, Arc<Payouts>),
        stopped: watch::Receiver<bool>,
    ) {
        let (events, heard) = mpsc::channel(MOST_WAITING);
        tokio::select! {
            () = accept(listener, &self.config.from, &events, stopped.clone()) => {}
            () = self.serve(heard, (&agent, &payouts), stopped) => {}
        }
    }

    async fn serve(
        &self,
        mut heard: mpsc::Receiver<Event>,
        (agent, payouts): (&Arc<Agent>, &Arc<Payouts>),
        mut stopped: watch::Receiver<bool>,
    ) {
        let mut session = Session::new(Settings {
            credit: self.config.credit,
            unacknowledged: self.config.unacknowledged,
            references: till_lines::references("caisse"),
        });
        let mut lines: HashMap<Line, mpsc::Sender<LastWord>> = HashMap::new();
        let (mut missing, mut requests, mut end) = (Missing::default(), 0, None);
        let start = Instant::now();
        loop {
            let deadline = session.next_deadline().map(|at| start + at);
            let actions = tokio::select! {
                event = heard.recv() => match event {
                    Some(Event::Opened(line, writer, from)) => {
                        tracing::info!(till = self.config.till, from, "a till has connected");
                        lines.insert(line, writer);
                        self.seen.came(from);
                        session.line_opened(line, start.elapsed())
                    }
                    Some(Event::Heard(line, bytes)) => {
                        self.seen.said("till says", || trace::line(&bytes));
                        session.heard(line, &bytes, start.elapsed())
                    }
                    Some(Event::Lost(line)) => {
                        lines.remove(&line);
                        session.line_lost(line, start.elapsed())
                    }
                    Some(Event::Taken(line, taken)) => {
                        lines.remove(&line);
                        if !taken {
                            tracing::warn!(till = self.config.till, "the till did not get the answer to its payment");
                        }
                        session.taken(line, taken, start.elapsed())
                    }
                    None => return,
                },
                Some(Ok((ticket, said))) = missing.said.join_next() => session.said(ticket, said, start.elapsed()),
                Some(confirmed) = missing.confirmed.join_next() => match confirmed {
                    Ok((ticket, reference, confirmed)) => {
                        let is_confirmed = confirmed.is_some();
                        missing.supervisors.extend(confirmed.map(|session| (reference, session)));
                        session.supervisor_said(ticket, is_confirmed, start.elapsed())
                    }
                    // The till no longer waits.
                    Err(_) => Vec::new(),
                },
                () = until(deadline) => session.tick(start.elapsed()),
                () = until_stopped(&mut stopped), if end.is_none() => {
                    end = Some(Instant::now() + LAST_RECORDS);
                    session.stop();
                    Vec::new()
                }
                () = until(end), if end.is_some() => return,
            };
            let (count, direction) = session.requests();
            if std::mem::replace(&mut requests, count) != count {
                self.seen.commanded(direction.map(named));
            }
            let mut actions = VecDeque::from(actions);
            while let Some(action) = actions.pop_front() {
                match action {
                    Action::Answer { line, bytes, reports } => {
                        self.seen.said("is told ", || trace::line(&bytes));
                        let word = LastWord { bytes, reports };
                        let is_gone = lines.remove(&line).is_none_or(|line| line.try_send(word).is_err());
                        if is_gone && reports {
                            actions.extend(session.taken(line, false, start.elapsed()));
                        }
                    }
                    Action::Hang { line } => drop(lines.remove(&line)),
                    Action::WaitForSupervisor { ticket, reference, amount, currency } => {
                        let asked = AskedPayout { till: self.config.till.clone(), reference, amount, currency };
                        missing.wait(ticket, asked, payouts);
                    }
                    Action::Ask { ticket, ask } => missing.ask(ticket, ask, (agent, &self.config.till)),
                    Action::Note(note) => tracing::warn!(till = self.config.till, "{note}"),
                }
            }
            missing.forget(&session, agent);
            self.seen.open(session.lines());
            if end.is_some() && !session.is_settling() {
                return;
            }
        }
    }
}

impl Missing {
    /// Asks the agent. A payout is begun as its supervisor, also when its begin request is repeated.
    fn ask(&mut self, ticket: u64, asked: Ask, (agent, till): (&Arc<Agent>, &str)) {
        let supervisor = match &asked {
            Ask::Begin(begin) if begin.kind == Kind::Credit => self.supervisors.get(&begin.reference).cloned(),
            _ => {
                begin_asking(&mut self.said, (agent, Room::CaisseAp, till), (ticket, asked));
                return;
            }
        };
        let (agent, till) = (Arc::clone(agent), till.to_owned());
        task::spawn_in(&mut self.said, async move {
            let said = match supervisor {
                Some(session) => ask_as(&agent, Room::CaisseAp, &till, &asked, Some(&session)).await,
                // Without a supervisor, no payout begins.
                None => Said::NoAnswer { may_be_done: true },
            };
            (ticket, said)
        });
    }

    /// Shows a payout at the page, and waits for a supervisor.
    fn wait(&mut self, ticket: u64, asked: AskedPayout, payouts: &Arc<Payouts>) {
        let payouts = Arc::clone(payouts);
        let question = task::spawn_in(&mut self.confirmed, async move {
            let reference = asked.reference.clone();
            (ticket, reference, payouts.confirmed(asked, SUPERVISOR).await)
        });
        self.waiting.insert(ticket, question);
    }

    /// Forgets the questions to supervisors whose tills are gone, and the sessions when no payout is in progress.
    fn forget(&mut self, session: &Session, agent: &Arc<Agent>) {
        self.waiting.retain(|ticket, question| {
            let waits = session.waits_for_supervisor(*ticket);
            if !waits {
                question.abort();
            }
            waits
        });
        if !session.is_busy() {
            for (_, supervisor) in std::mem::take(&mut self.supervisors) {
                let agent = Arc::clone(agent);
                task::spawn(async move { end(&agent, &supervisor).await });
            }
        }
    }
}

/// Returns the name of a request for the technician.
fn named(direction: Direction) -> String {
    match direction {
        Direction::Debit => "debit",
        Direction::Credit => "credit",
    }
    .to_owned()
}

/// Accepts connections until the front stops. Their answers may still be on their way then, so this never returns.
async fn accept(
    listener: TcpListener,
    from: &[IpAddr],
    events: &mpsc::Sender<Event>,
    mut stopped: watch::Receiver<bool>,
) {
    let (mut count, mut open): (Line, _) = (0, JoinSet::new());
    loop {
        let (stream, peer) = tokio::select! {
            next = till_lines::next(&listener, from, "caisse-ap") => next,
            () = until_stopped(&mut stopped) => {
                drop(listener);
                return std::future::pending().await;
            }
        };
        while open.try_join_next().is_some() {}
        if open.len() >= MOST_OPEN {
            tracing::warn!(%peer, "a connection was closed: the till has too many open");
            continue;
        }
        count = count.wrapping_add(1);
        let (writer, word) = mpsc::channel(1);
        if events.send(Event::Opened(count, writer, peer.to_string())).await.is_err() {
            return;
        }
        task::spawn_in(&mut open, hold(count, stream, word, events.clone()));
    }
}

/// Holds a connection until one side closes it.
async fn hold(line: Line, mut stream: TcpStream, mut word: mpsc::Receiver<LastWord>, events: mpsc::Sender<Event>) {
    let mut chunk = vec![0; CHUNK];
    loop {
        tokio::select! {
            read = stream.read(&mut chunk) => {
                let event = match read {
                    Ok(count @ 1..) => Event::Heard(line, chunk.get(..count).unwrap_or_default().to_vec()),
                    _ => Event::Lost(line),
                };
                let is_lost = matches!(event, Event::Lost(_));
                if events.send(event).await.is_err() || is_lost {
                    return;
                }
            }
            word = word.recv() => {
                match word {
                    Some(LastWord { bytes, reports: true }) => {
                        let taken = deliver(&mut stream, &bytes).await;
                        let _ = events.send(Event::Taken(line, taken)).await;
                    }
                    Some(LastWord { bytes, reports: false }) => {
                        let _ = timeout(READ, last_word(&mut stream, &bytes)).await;
                    }
                    None => {}
                }
                return;
            }
        }
    }
}

/// Sends an answer and waits until the till closes the connection. A connection that is closed with unread bytes is
/// reset, and the till could lose the answer.
async fn last_word(stream: &mut TcpStream, bytes: &[u8]) {
    if stream.write_all(bytes).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    let (mut ignored, mut chunk) = (0, [0; 1024]);
    while ignored < MOST_IGNORED {
        match stream.read(&mut chunk).await {
            Ok(count @ 1..) => ignored += count,
            _ => return,
        }
    }
}
