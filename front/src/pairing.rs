//! Pairing: how a till in the network comes to its token.
//!
//! ```text
//!  till                          front                          a person at the terminal
//!  POST /front/pair {"name"} ──▶ request, six-digit code ─────▶ sees code, name and address
//!                                                               pos-front pair approve CODE --till NAME
//!  POST /front/pair/{request}
//!       {"code"} as typed    ──▶ the token, once
//! ```
//!
//! The code proves that whoever typed it at the till stands before the terminal; the approval says for which till the
//! token is. A wrong code is counted: five end the request, ten within a quarter of an hour stop all pairing for the
//! rest of it. Of a token only the digest is kept. A till that is paired again has the new token alone.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::attempts::counted;
use crate::state::{StateError, StateFolder};

/// In the state folder.
const FILE: &str = "tills.json";
/// How long a request waits to be approved and collected.
const GOOD_FOR: Duration = Duration::from_secs(300);
/// Requests that wait at a time.
const WAITING: usize = 5;
/// Wrong codes for one request.
const WRONG_OF_REQUEST: u32 = 5;
/// Wrong codes for all requests within [`PAUSE`]: a guess then has one chance in a hundred thousand.
const WRONG_OF_ALL: u32 = 10;
const PAUSE: Duration = Duration::from_secs(900);
/// Longest name that a till may give itself.
const LONGEST_NAME: usize = 40;

/// A till that is paired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paired {
    /// Its name, as the agent knows it.
    pub(crate) till: String,
    /// What it called itself.
    pub(crate) name: String,
    /// Since when, RFC 3339.
    pub(crate) since: String,
    /// SHA-256 of its token, in hexadecimal digits.
    digest: String,
}

/// A till that asks for a token.
#[derive(Debug)]
struct PairRequest {
    id: String,
    name: String,
    from: IpAddr,
    code: String,
    /// The till that it was approved as.
    approved: Option<String>,
    wrong: u32,
    since: Instant,
}

/// Why a till is not given a token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PairError {
    /// The name is no text of that length.
    #[error("name: 1 to {LONGEST_NAME} characters of text")]
    Name,
    /// As many wait as may.
    #[error("{WAITING} tills wait to be paired already; try again in {GOOD_FOR:?}")]
    TooMany,
    /// Too many wrong codes.
    #[error("too many wrong codes were sent: nothing is paired for now")]
    Paused {
        /// How long yet.
        left: Duration,
    },
    /// It has ended, was refused, or never was.
    #[error("there is no such request any more; begin again")]
    NoRequest,
    /// Not the code that the terminal shows.
    #[error("this is not the code that the terminal shows")]
    WrongCode {
        /// How many more may be tried.
        left: u32,
    },
    /// A till that the configuration does not list.
    #[error("{till} is none of the tills that may be paired; add it to tills in front.toml, or name one of: {known}")]
    UnknownTill {
        /// The till.
        till: String,
        /// Those that may.
        known: String,
    },
    /// It was not written down.
    #[error("{0}")]
    State(String),
}

impl From<StateError> for PairError {
    fn from(error: StateError) -> Self {
        Self::State(error.to_string())
    }
}

/// What a till hears that has sent the right code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Collected {
    /// Nobody has approved it yet.
    Waiting,
    /// Its till and its token, this once.
    Token { till: String, token: String },
}

/// All pairings.
#[derive(Debug)]
pub(crate) struct Pairings {
    state: StateFolder,
    /// Tills that may be paired.
    allowed: Vec<String>,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct Inner {
    paired: Vec<Paired>,
    waiting: Vec<PairRequest>,
    wrong: u32,
    wrong_since: Option<Instant>,
}

impl Pairings {
    pub(crate) fn open(state: StateFolder, allowed: Vec<String>) -> Result<Self, StateError> {
        let paired: Vec<Paired> = state.read(FILE)?.unwrap_or_default();
        let inner = Inner { paired, waiting: Vec::new(), wrong: 0, wrong_since: None };
        Ok(Self { state, allowed, inner: Mutex::new(inner), changed: watch::channel(0).0 })
    }

    /// Hears of each change of what waits.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// A till asks for a token; the request is for it alone to know. An address has one request.
    pub(crate) fn ask(&self, name: &str, from: IpAddr, now: Instant) -> Result<(String, Duration), PairError> {
        let name = name.trim();
        if !(1..=LONGEST_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            return Err(PairError::Name);
        }
        let mut inner = self.inner(now);
        inner.paused(now)?;
        inner.waiting.retain(|request| counted(request.from) != counted(from));
        if inner.waiting.len() >= WAITING {
            return Err(PairError::TooMany);
        }
        let code = loop {
            let code = code();
            if inner.waiting.iter().all(|request| request.code != code) {
                break code;
            }
        };
        let id = hex::encode(random::<16>());
        let (name, approved) = (name.to_owned(), None);
        inner.waiting.push(PairRequest { id: id.clone(), name, from, code, approved, wrong: 0, since: now });
        drop(inner);
        self.tell();
        Ok((id, GOOD_FOR))
    }

    /// The till sends the code that a person has read from the terminal.
    pub(crate) fn collect(&self, id: &str, code: &str, now: Instant, at: &str) -> Result<Collected, PairError> {
        let mut inner = self.inner(now);
        inner.paused(now)?;
        let position = inner.waiting.iter().position(|it| bool::from(it.id.as_bytes().ct_eq(id.as_bytes())));
        let position = position.ok_or(PairError::NoRequest)?;
        let request = &mut inner.waiting[position];
        if !bool::from(request.code.as_bytes().ct_eq(code.as_bytes())) {
            request.wrong += 1;
            let left = WRONG_OF_REQUEST.saturating_sub(request.wrong);
            if left == 0 {
                inner.waiting.remove(position);
            }
            inner.count_wrong(now);
            drop(inner);
            self.tell();
            return Err(PairError::WrongCode { left });
        }
        let Some(till) = request.approved.clone() else { return Ok(Collected::Waiting) };
        let name = request.name.clone();
        let token = hex::encode(random::<32>());
        let mut paired: Vec<Paired> = inner.paired.iter().filter(|it| it.till != till).cloned().collect();
        paired.push(Paired { till: till.clone(), name, since: at.to_owned(), digest: digest_of(&token) });
        self.state.write(FILE, &paired)?;
        inner.paired = paired;
        inner.waiting.remove(position);
        drop(inner);
        self.tell();
        tracing::info!(till, "paired");
        Ok(Collected::Token { till, token })
    }

    /// A person at the terminal says that the till with this code is `till`; without a name, what it called itself.
    pub(crate) fn approve(&self, code: &str, till: Option<&str>, now: Instant) -> Result<String, PairError> {
        let mut inner = self.inner(now);
        let request = inner.waiting.iter_mut().find(|it| it.code == code).ok_or(PairError::NoRequest)?;
        let till = till.unwrap_or(&request.name).to_owned();
        if !self.allowed.contains(&till) {
            return Err(PairError::UnknownTill { till, known: self.allowed.join(", ") });
        }
        request.approved = Some(till.clone());
        drop(inner);
        self.tell();
        Ok(till)
    }

    /// A person at the terminal does not want it.
    pub(crate) fn refuse(&self, code: &str, now: Instant) -> Result<(), PairError> {
        let mut inner = self.inner(now);
        let position = inner.waiting.iter().position(|it| it.code == code).ok_or(PairError::NoRequest)?;
        inner.waiting.remove(position);
        drop(inner);
        self.tell();
        Ok(())
    }

    /// The token of a till is good no more.
    pub(crate) fn revoke(&self, till: &str, now: Instant) -> Result<(), PairError> {
        let mut inner = self.inner(now);
        let left: Vec<Paired> = inner.paired.iter().filter(|it| it.till != till).cloned().collect();
        if left.len() == inner.paired.len() {
            let known = inner.paired.iter().map(|it| it.till.as_str()).collect::<Vec<_>>().join(", ");
            return Err(PairError::UnknownTill { till: till.to_owned(), known });
        }
        self.state.write(FILE, &left)?;
        inner.paired = left;
        tracing::info!(till, "its token was revoked");
        Ok(())
    }

    /// The till of a token; every one is compared, in constant time. A till that the configuration has dropped is none.
    pub(crate) fn whose(&self, token: &str, now: Instant) -> Option<String> {
        let (digest, inner) = (digest_of(token), self.inner(now));
        let mut whose = None;
        for paired in &inner.paired {
            if bool::from(paired.digest.as_bytes().ct_eq(digest.as_bytes())) {
                whose = Some(paired.till.clone());
            }
        }
        whose.filter(|till| self.allowed.contains(till))
    }

    /// What waits, with the codes: for whoever stands at the terminal alone.
    pub(crate) fn waiting(&self, now: Instant) -> Value {
        let inner = self.inner(now);
        let shown = |it: &PairRequest| {
            let left = GOOD_FOR.saturating_sub(now.duration_since(it.since)).as_secs();
            json!({ "name": it.name, "code": it.code, "from": it.from, "approvedAs": it.approved, "leftS": left })
        };
        Value::Array(inner.waiting.iter().map(shown).collect())
    }

    /// The tills that are paired.
    pub(crate) fn paired(&self, now: Instant) -> Value {
        let shown = |it: &Paired| json!({ "till": it.till, "name": it.name, "since": it.since });
        Value::Array(self.inner(now).paired.iter().map(shown).collect())
    }

    fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// What has waited too long is gone.
    fn inner(&self, now: Instant) -> MutexGuard<'_, Inner> {
        // Each change is one assignment: what a panic left behind is whole.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.waiting.retain(|request| now.duration_since(request.since) < GOOD_FOR);
        inner
    }
}

impl Inner {
    fn paused(&self, now: Instant) -> Result<(), PairError> {
        let ends = self.wrong_since.filter(|_| self.wrong >= WRONG_OF_ALL).map(|since| since + PAUSE);
        match ends.map(|ends| ends.saturating_duration_since(now)).filter(|left| !left.is_zero()) {
            Some(left) => Err(PairError::Paused { left }),
            None => Ok(()),
        }
    }

    fn count_wrong(&mut self, now: Instant) {
        if self.wrong_since.is_none_or(|since| now.duration_since(since) >= PAUSE) {
            (self.wrong, self.wrong_since) = (0, Some(now));
        }
        self.wrong += 1;
    }
}

fn digest_of(token: &str) -> String {
    hex::encode(digest(&SHA256, token.as_bytes()))
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("Linux has random numbers once it has booted");
    bytes
}

/// Six digits, each code as likely as any other one: numbers above the last whole million are drawn again.
fn code() -> String {
    loop {
        let number = u32::from_be_bytes(random());
        if number < 4_294_000_000 {
            return format!("{:06}", number % 1_000_000);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "2026-01-01T00:00:00Z";

    fn pairings(folder: &tempfile::TempDir) -> Pairings {
        let state = StateFolder::open(folder.path()).unwrap();
        Pairings::open(state, vec!["kasse-2".to_owned(), "kasse-3".to_owned()]).unwrap()
    }

    fn shown_code(pairings: &Pairings, now: Instant) -> String {
        pairings.waiting(now)[0]["code"].as_str().unwrap().to_owned()
    }

    fn host(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    #[tokio::test(start_paused = true)]
    async fn a_till_gets_its_token_once_after_code_and_approval() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, now) = (pairings(&folder), Instant::now());
        let (id, _) = pairings.ask("kasse-2", host(1), now).unwrap();
        let code = shown_code(&pairings, now);
        assert_eq!(pairings.collect(&id, &code, now, AT), Ok(Collected::Waiting), "nobody has approved it");
        assert!(matches!(pairings.approve(&code, Some("counter"), now), Err(PairError::UnknownTill { .. })));
        assert_eq!(pairings.approve(&code, None, now).as_deref(), Ok("kasse-2"));
        let Ok(Collected::Token { till, token }) = pairings.collect(&id, &code, now, AT) else { panic!("no token") };
        assert_eq!((till.as_str(), token.len()), ("kasse-2", 64));
        assert_eq!(pairings.collect(&id, &code, now, AT), Err(PairError::NoRequest), "once");
        assert_eq!(pairings.whose(&token, now).as_deref(), Some("kasse-2"));
        let kept = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!kept.contains(&token), "only its digest");
        // After a restart it is as good; when the configuration drops the till, or a person revokes it, no more.
        let again = self::pairings(&folder);
        assert_eq!(again.whose(&token, now).as_deref(), Some("kasse-2"));
        let dropped = Pairings::open(StateFolder::open(folder.path()).unwrap(), vec![]).unwrap();
        assert_eq!(dropped.whose(&token, now), None);
        again.revoke("kasse-2", now).unwrap();
        assert_eq!(again.whose(&token, now), None);
        assert_eq!(self::pairings(&folder).whose(&token, now), None);
    }

    #[tokio::test(start_paused = true)]
    async fn ten_wrong_codes_stop_pairing_for_a_quarter_of_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, began) = (pairings(&folder), Instant::now());
        for host_number in [1, 2] {
            let (id, _) = pairings.ask("x", host(host_number), began).unwrap();
            let wrong = if shown_code(&pairings, began) == "000000" { "000001" } else { "000000" };
            for left in (0..WRONG_OF_REQUEST).rev() {
                assert_eq!(pairings.collect(&id, wrong, began, AT), Err(PairError::WrongCode { left }));
            }
            assert_eq!(pairings.waiting(began), json!([]), "five wrong codes end a request");
        }
        assert_eq!(pairings.ask("x", host(3), began), Err(PairError::Paused { left: PAUSE }));
        assert!(pairings.ask("x", host(3), began + PAUSE).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn requests_are_few_one_of_each_address_and_end_by_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, began) = (pairings(&folder), Instant::now());
        for n in 0..WAITING {
            pairings.ask("x", host(u8::try_from(n).unwrap()), began).unwrap();
        }
        assert!(pairings.ask("x", host(0), began).is_ok(), "in the place of its own");
        assert_eq!(pairings.ask("x", host(99), began), Err(PairError::TooMany));
        assert!(pairings.ask("x", host(99), began + GOOD_FOR).is_ok());
        for wrong in ["", " ", "a\u{1b}[2J", &"a".repeat(LONGEST_NAME + 1)] {
            assert_eq!(pairings.ask(wrong, host(99), began), Err(PairError::Name));
        }
    }
}
