//! The bank: the gateway and everything behind it, with a ledger in memory. It is written from the interface and shares nothing
//! with the agent, nor with `pos-sim`'s gateway. It books what it is told as often as it is told: whoever sends a payment twice
//! is charged twice.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::cable::Link;
use super::points::{Fate, Phase, Place};
use super::{State, World};

/// When a request is carried out whose line was cut before it was: longer than any answer is waited for.
pub(crate) const LATE: Duration = Duration::from_secs(90);
/// How long a late answer takes; the agent waits 10 s.
const LATE_ANSWER: Duration = Duration::from_secs(25);
/// How long a payment is pending.
const PENDING: Duration = Duration::from_secs(3);

/// How the bank treats the next payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Behaviour {
    Approves,
    Declines,
    ApprovesPart,
    PendingThenApproved,
    PendingThenDeclined,
    /// Too many requests, twice; then approved.
    Throttles,
    /// HTTP 500 and nothing done.
    FailsBefore,
    /// HTTP 500 and all done.
    FailsAfter,
    /// Booked, and an answer of no meaning.
    Garbage,
    SilentBefore,
    SilentAfter,
    /// Booked at once, answered when nobody listens any more.
    AnswersLate,
    /// Booked later than the agent waits for the answer.
    BooksLate,
    /// Approves more than was asked for.
    ApprovesMore,
    ApprovesInAnotherCurrency,
    /// Approves, and says "declined" to the chip.
    ContradictsItself,
    /// Does nothing, and answers with the approval of somebody else's payment.
    MixesUp,
}

impl Behaviour {
    pub(crate) const ALL: [Self; 17] = [
        Self::Approves,
        Self::Declines,
        Self::ApprovesPart,
        Self::PendingThenApproved,
        Self::PendingThenDeclined,
        Self::Throttles,
        Self::FailsBefore,
        Self::FailsAfter,
        Self::Garbage,
        Self::SilentBefore,
        Self::SilentAfter,
        Self::AnswersLate,
        Self::BooksLate,
        Self::ApprovesMore,
        Self::ApprovesInAnotherCurrency,
        Self::ContradictsItself,
        Self::MixesUp,
    ];
}

/// How the bank treats what comes after: questions and reversals, so many times before it is well again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Trouble {
    /// HTTP 404 to a query.
    CannotFind,
    /// HTTP 500.
    Fails,
    /// An answer of no meaning.
    Garbage,
    /// Nothing is done, nothing is said.
    Silent,
    /// All is done, nothing is said.
    SilentAfter,
    /// The access token was revoked.
    Refuses,
    /// The list holds everybody's payments.
    ListsAll,
    /// HTTP 404 to every query, for good; reversals are taken.
    NeverFinds,
}

/// One line of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) kind: String,
    /// What was asked for, in minor units.
    pub(crate) asked: u64,
    pub(crate) approved: u64,
    pub(crate) currency: String,
    pub(crate) reference: String,
    pub(crate) refers_to: Option<String>,
    pub(crate) state: EntryState,
    pub(crate) reversed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryState {
    Approved,
    Declined,
    Pending { until: Duration, approve: bool },
}

impl Entry {
    /// Money moved, and did not move back.
    pub(crate) fn holds(&self) -> bool {
        self.state == EntryState::Approved && !self.reversed
    }
}

/// A request, read whole.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    path: String,
    form: Vec<(String, String)>,
}

impl Request {
    fn get(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A payment, as opposed to a question or a reversal.
    fn moves_money(&self) -> bool {
        self.method == "POST" && !self.is_reversal()
    }

    fn is_reversal(&self) -> bool {
        self.get("paymentType") == Some("RV")
    }
}

/// What is done with a request.
enum Reply {
    Answer { status: u16, body: Value, after: Duration },
    Bytes(Vec<u8>),
    Silence,
}

#[derive(Default)]
pub(crate) struct Bank {
    pub(crate) ledger: Vec<Entry>,
    /// For each payment in turn; the last one stays.
    pub(crate) behaviours: VecDeque<Behaviour>,
    /// For each question and reversal in turn.
    pub(crate) troubles: VecDeque<Trouble>,
    throttled: u32,
    /// Requests that are carried out later.
    late: Vec<(Duration, Request)>,
    /// Nobody answers.
    pub(crate) away: bool,
    pub(crate) token_revoked: bool,
    /// Answers are cut after so many bytes.
    pub(crate) answers_end_after: Option<usize>,
    /// How long the last answer to a payment was, in bytes.
    pub(crate) last_answer: usize,
    /// Which certificate is shown.
    pub(crate) certificate: usize,
    pub(crate) requests: u64,
}

impl Bank {
    pub(crate) fn is_away(&self) -> bool {
        self.away
    }

    /// A payment of an earlier day.
    pub(crate) fn earlier(&mut self, kind: &str, minor: u64) -> String {
        let id = self.next_id();
        self.ledger.push(Entry {
            id: id.clone(),
            kind: kind.to_owned(),
            asked: minor,
            approved: minor,
            currency: "EUR".to_owned(),
            reference: "of-an-earlier-day".to_owned(),
            refers_to: None,
            state: EntryState::Approved,
            reversed: false,
        });
        id
    }

    fn next_id(&self) -> String {
        format!("{:032x}", self.ledger.len() + 1)
    }

    pub(crate) fn next_late(&self) -> Option<Duration> {
        let pending = self.ledger.iter().filter_map(|entry| match entry.state {
            EntryState::Pending { until, .. } => Some(until),
            _ => None,
        });
        self.late.iter().map(|(at, _)| *at).chain(pending).min()
    }
}

impl State {
    /// Carries out what is due.
    pub(crate) fn bank_goes_on(&mut self) {
        let now = self.now();
        for number in 0..self.bank.ledger.len() {
            if let EntryState::Pending { until, approve } = self.bank.ledger[number].state
                && until <= now
            {
                let state = if approve { EntryState::Approved } else { EntryState::Declined };
                self.bank.ledger[number].state = state;
                self.booked();
            }
        }
        let due: Vec<_> = self.bank.late.extract_if(.., |(at, _)| *at <= now).collect();
        for (_, request) in due {
            let _ = self.carry_out(&request, Behaviour::Approves);
        }
    }

    /// The answer to a request, and all that it does to the ledger.
    fn bank_answers(&mut self, request: &Request) -> Reply {
        self.bank_goes_on();
        self.bank.requests += 1;
        if self.bank.token_revoked {
            return said(401, json!({"result": {"code": "800.900.300", "description": "invalid authentication"}}));
        }
        if !request.moves_money() {
            return self.question(request);
        }
        let behaviours = &mut self.bank.behaviours;
        let behaviour = match behaviours.front().copied() {
            Some(Behaviour::Throttles) if self.bank.throttled < 2 => {
                self.bank.throttled += 1;
                return said(400, json!({"result": {"code": "800.120.100", "description": "too many requests"}}));
            }
            Some(Behaviour::Throttles) => {
                self.bank.throttled = 0;
                behaviours.pop_front();
                Behaviour::Approves
            }
            Some(behaviour) => {
                behaviours.pop_front();
                behaviour
            }
            None => Behaviour::Approves,
        };
        match behaviour {
            Behaviour::FailsBefore => return said(500, json!({"result": {"code": "900.100.100"}})),
            Behaviour::SilentBefore => return Reply::Silence,
            Behaviour::MixesUp => {
                let stranger = Entry {
                    id: "f".repeat(32),
                    kind: request.get("paymentType").unwrap_or_default().to_owned(),
                    asked: minor(request.get("amount").unwrap_or_default()),
                    approved: minor(request.get("amount").unwrap_or_default()),
                    currency: "EUR".to_owned(),
                    reference: "of-another-shop".to_owned(),
                    refers_to: None,
                    state: EntryState::Approved,
                    reversed: false,
                };
                return said(200, shown(&stranger));
            }
            Behaviour::BooksLate => {
                self.bank.late.push((self.now() + LATE, request.clone()));
                return Reply::Silence;
            }
            _ => {}
        }
        let answer = self.carry_out(request, behaviour);
        match behaviour {
            Behaviour::FailsAfter => said(500, json!({"result": {"code": "900.100.100"}})),
            Behaviour::Garbage => Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<html>\x00\xFF}".to_vec()),
            Behaviour::SilentAfter => Reply::Silence,
            Behaviour::AnswersLate => Reply::Answer { status: 200, body: answer, after: LATE_ANSWER },
            _ => {
                let code = answer.pointer("/result/code").and_then(Value::as_str).unwrap_or("");
                let status = if code.starts_with("000.") { 200 } else { 400 };
                Reply::Answer { status, body: answer, after: Duration::ZERO }
            }
        }
    }

    fn question(&mut self, request: &Request) -> Reply {
        let counts = request.is_reversal() || request.path.starts_with("/v1/query");
        let never = self.bank.troubles.front() == Some(&Trouble::NeverFinds);
        let trouble = match never {
            true => (!request.is_reversal()).then_some(Trouble::NeverFinds),
            false => counts.then(|| self.bank.troubles.pop_front()).flatten(),
        };
        match trouble.filter(|_| counts) {
            Some(Trouble::CannotFind | Trouble::NeverFinds) => {
                return said(404, json!({"result": {"code": "700.400.580"}}));
            }
            Some(Trouble::Fails) => return said(500, json!({})),
            Some(Trouble::Garbage) => return Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n[{]".to_vec()),
            Some(Trouble::Silent) => return Reply::Silence,
            Some(Trouble::Refuses) => return said(403, json!({})),
            Some(Trouble::SilentAfter) => {
                if request.is_reversal() {
                    let _ = self.carry_out(request, Behaviour::Approves);
                }
                return Reply::Silence;
            }
            Some(Trouble::ListsAll) if !request.is_reversal() => {
                let all: Vec<_> = self.bank.ledger.iter().map(shown).collect();
                return said(200, json!({"result": {"code": "000.000.100"}, "payments": all}));
            }
            Some(Trouble::ListsAll) | None => {}
        }
        if request.is_reversal() {
            let answer = self.carry_out(request, Behaviour::Approves);
            let approved = answer.pointer("/result/code") == Some(&json!("000.000.000"));
            return said(if approved { 200 } else { 400 }, answer);
        }
        if let Some(id) = request.path.strip_prefix("/v1/payments/") {
            let found = self.bank.ledger.iter().find(|entry| entry.id == id);
            return match found {
                Some(entry) => said(200, shown(entry)),
                None => said(404, json!({"result": {"code": "700.400.580"}})),
            };
        }
        if request.path.starts_with("/v1/query") {
            let reference = request.get("merchantTransactionId").unwrap_or_default();
            let of_it = |entry: &&Entry| entry.reference == reference;
            let ids: Vec<_> = self.bank.ledger.iter().filter(of_it).map(|entry| entry.id.clone()).collect();
            let linked = |entry: &&Entry| {
                entry.reference == reference || entry.refers_to.as_ref().is_some_and(|id| ids.contains(id))
            };
            let found: Vec<_> = self.bank.ledger.iter().filter(linked).map(shown).collect();
            return said(200, json!({"result": {"code": "000.000.100"}, "payments": found}));
        }
        said(200, json!({}))
    }

    /// Books a request.
    fn carry_out(&mut self, request: &Request, behaviour: Behaviour) -> Value {
        let text = |name: &str| request.get(name).unwrap_or_default().to_owned();
        let kind = text("paymentType");
        let asked = minor(&text("amount"));
        let refers_to = (request.path.strip_prefix("/v1/payments/").map(str::to_owned))
            .or_else(|| request.get("referenceUuid").map(str::to_owned));
        let allowed = self.allows(&kind, asked, refers_to.as_deref());
        let (approved, currency) = match behaviour {
            Behaviour::ApprovesPart => (asked / 2 + 1, text("currency")),
            Behaviour::ApprovesMore => (asked + 100, text("currency")),
            Behaviour::ApprovesInAnotherCurrency => (asked, "USD".to_owned()),
            _ => (asked, text("currency")),
        };
        let until = self.now() + PENDING;
        let state = match behaviour {
            _ if !allowed => EntryState::Declined,
            Behaviour::Declines => EntryState::Declined,
            Behaviour::PendingThenApproved => EntryState::Pending { until, approve: true },
            Behaviour::PendingThenDeclined => EntryState::Pending { until, approve: false },
            _ => EntryState::Approved,
        };
        let id = self.bank.next_id();
        if state == EntryState::Approved && kind == "RV" {
            let undone = self.bank.ledger.iter_mut().find(|entry| Some(&entry.id) == refers_to.as_ref());
            undone.unwrap().reversed = true;
        }
        let entry = Entry {
            id,
            kind,
            asked,
            approved,
            currency,
            reference: text("merchantTransactionId"),
            refers_to,
            state,
            reversed: false,
        };
        let mut answer = shown(&entry);
        if behaviour == Behaviour::ContradictsItself {
            // 8A "05": do not honour.
            answer["pos"]["iccDataResponse"] = json!("8A023035");
        }
        self.bank.ledger.push(entry);
        self.booked();
        answer
    }

    /// Whether the state of an earlier transaction allows it.
    fn allows(&self, kind: &str, asked: u64, refers_to: Option<&str>) -> bool {
        let Some(id) = refers_to else { return true };
        let Some(earlier) = self.bank.ledger.iter().find(|entry| entry.id == id) else { return false };
        let taken: u64 = (self.bank.ledger.iter())
            .filter(|entry| entry.refers_to.as_deref() == Some(id) && entry.kind == kind && entry.holds())
            .map(|entry| entry.approved)
            .sum();
        match kind {
            "RV" => earlier.holds(),
            "CP" | "RF" => earlier.holds() && taken + asked <= earlier.approved,
            _ => earlier.holds(),
        }
    }
}

fn said(status: u16, body: Value) -> Reply {
    Reply::Answer { status, body, after: Duration::ZERO }
}

/// An entry as the interface shows it.
fn shown(entry: &Entry) -> Value {
    let (code, description) = match entry.state {
        EntryState::Approved => ("000.000.000", "Transaction succeeded"),
        EntryState::Declined => ("800.100.152", "transaction declined by authorization system"),
        EntryState::Pending { .. } => ("000.200.000", "transaction pending"),
    };
    let amount = entry.approved;
    let mut shown = json!({
        "id": entry.id,
        "paymentType": entry.kind,
        "amount": format!("{}.{:02}", amount / 100, amount % 100),
        "currency": entry.currency,
        "merchantTransactionId": entry.reference,
        "result": {"code": code, "description": description},
    });
    if let Some(id) = &entry.refers_to {
        shown["referencedId"] = json!(id);
    }
    shown
}

/// `12.34` in minor units.
fn minor(amount: &str) -> u64 {
    let digits: String = amount.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// One connection.
pub(crate) async fn serve(world: World, link: Arc<Link>, wire: DuplexStream) {
    let Ok(start) = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), wire).await else { return };
    if end_here(&world, Place::Gateway(Phase::InHandshake)) {
        return;
    }
    let certificate = world.lock().bank.certificate;
    let Ok(mut line) = start.into_stream(tls(certificate).1).await else { return };
    if end_here(&world, Place::Gateway(Phase::HandshakeDone)) {
        return;
    }
    while let Some(request) = read(&mut line).await {
        match world.pass(Place::Gateway(Phase::RequestRead)) {
            Fate::Happens => {}
            Fate::Dead => return,
            fate @ (Fate::Cut | Fate::Last) => {
                let mut state = world.lock();
                if request.method == "POST" {
                    let at = state.now() + LATE;
                    state.bank.late.push((at, request));
                }
                drop(state);
                if fate == Fate::Last {
                    world.die();
                }
                return;
            }
        }
        let fate = world.pass(Place::Gateway(Phase::Processed));
        if fate == Fate::Dead {
            return;
        }
        let reply = world.lock().bank_answers(&request);
        if fate != Fate::Happens {
            if fate == Fate::Last {
                world.die();
            }
            return;
        }
        let bytes = match reply {
            Reply::Silence => {
                // Until the other side has enough of it.
                let _ = line.read(&mut [0; 16]).await;
                return;
            }
            Reply::Bytes(bytes) => bytes,
            Reply::Answer { status, body, after } => {
                tokio::time::sleep(after).await;
                http(status, &body)
            }
        };
        if answer(&world, &link, &mut line, &bytes, request.moves_money()).await.is_none() {
            return;
        }
    }
}

async fn answer(
    world: &World,
    link: &Link,
    line: &mut TlsStream<DuplexStream>,
    bytes: &[u8],
    moves_money: bool,
) -> Option<()> {
    let mut bytes = bytes;
    if moves_money {
        let ends_after = {
            let mut state = world.lock();
            state.bank.last_answer = bytes.len();
            state.bank.answers_end_after.take()
        };
        if let Some(end) = ends_after {
            bytes = &bytes[..end.min(bytes.len())];
            line.write_all(bytes).await.ok()?;
            line.flush().await.ok()?;
            return None;
        }
    }
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    let fate = world.pass(Place::Gateway(Phase::AnswerHalfSent));
    if fate == Fate::Dead {
        return None;
    }
    line.write_all(first).await.ok()?;
    line.flush().await.ok()?;
    match fate {
        Fate::Happens => {}
        Fate::Last => {
            world.die();
            return None;
        }
        Fate::Cut | Fate::Dead => return None,
    }
    link.answer_is_whole();
    line.write_all(rest).await.ok()?;
    line.flush().await.ok()
}

/// Passes a point at which nothing but the line is at stake.
fn end_here(world: &World, place: Place) -> bool {
    match world.pass(place) {
        Fate::Happens => false,
        Fate::Last => {
            world.die();
            true
        }
        Fate::Cut | Fate::Dead => true,
    }
}

fn http(status: u16, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.into_bytes(), body.into_bytes()].concat()
}

/// One request of the agent; `None` when the line ends.
async fn read(line: &mut TlsStream<DuplexStream>) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        if let Some(request) = whole(&bytes) {
            return Some(request);
        }
        if line.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Request> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let body = bytes.get(end..end + length.unwrap_or(0))?;
    let mut words = head.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let form = if method == "GET" { query.as_bytes() } else { body };
    let form = form_urlencoded::parse(form).into_owned().collect();
    Some(Request { method, path: path.to_owned(), form })
}

/// The bank's certificates, each of its own CA: the CA as PEM, and the server's side of TLS. Made once for all worlds.
pub(crate) fn tls(number: usize) -> (String, Arc<ServerConfig>) {
    static MADE: OnceLock<Vec<(String, Arc<ServerConfig>)>> = OnceLock::new();
    MADE.get_or_init(|| (0..2).map(|_| made()).collect())[number].clone()
}

fn made() -> (String, Arc<ServerConfig>) {
    let mut ca = CertificateParams::new(Vec::<String>::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    ca.not_before = date_time_ymd(2020, 1, 1);
    ca.not_after = date_time_ymd(2090, 1, 1);
    let key = KeyPair::generate().unwrap();
    let pem = ca.self_signed(&key).unwrap().pem();
    let ca = Issuer::new(ca, key);
    let mut leaf = CertificateParams::new(vec!["bank.test".to_owned()]).unwrap();
    leaf.use_authority_key_identifier_extension = true;
    leaf.not_before = date_time_ymd(2020, 1, 1);
    leaf.not_after = date_time_ymd(2090, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = leaf.signed_by(&key, &ca).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    (pem, Arc::new(config))
}
