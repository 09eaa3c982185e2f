//! Pairing: how a till on the network gets its token.
//!
//! ```text
//!  till                          front                          a person at the terminal
//!                                                               pos-front pair open, or the page: five minutes
//!  POST /front/pair {"name"} ──▶ request, six-digit code ─────▶ sees code, name and address
//!                                                               pos-front pair approve CODE --till NAME
//!  POST /front/pair/{request}
//!       {"code"} as typed    ──▶ the token, once
//! ```
//!
//! The code proves that the person at the till can read the codes at the terminal. The approval decides which till the
//! token is for. A till can ask for a token only while pairing is open. Each wrong code is counted on disk before it is
//! answered. Five wrong codes end the request. Ten lock out their address for a quarter of an hour, and a hundred lock
//! out everyone. Each address can have one request, and 64 requests can wait. An attacker therefore needs that many
//! addresses to lock out a till. Only the digest of a token is stored. When a till is paired again, only the new token
//! is valid.

use std::collections::BTreeMap;
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

use crate::attempts::Whence;
use crate::guard::Way;
use crate::state::{StateError, StateFolder};

/// The file of the paired tills in the state folder.
const FILE: &str = "tills.json";
/// The file of the wrong codes in the state folder.
const WRONG_FILE: &str = "wrong-codes.json";
/// The time for which pairing stays open.
const OPEN_FOR: Duration = Duration::from_secs(300);
/// The time within which a request must be approved and its token collected.
const GOOD_FOR: Duration = Duration::from_secs(300);
/// The largest number of waiting requests.
const WAITING: usize = 64;
/// The largest number of wrong codes for one request.
const WRONG_OF_REQUEST: u32 = 5;
/// The largest numbers of wrong codes within [`PAUSE`]: from one address, and from all addresses. One address then
/// guesses a code with a chance of one in a hundred thousand. For many addresses together, the chance is one in ten
/// thousand. A request with a guessed code also needs an approval.
const WRONG_OF_ADDRESS: u32 = 10;
const WRONG_OF_ALL: u32 = 100;
const PAUSE: Duration = Duration::from_secs(900);
/// The greatest length of the name that a till gives itself.
const LONGEST_NAME: usize = 40;

/// A paired till.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paired {
    /// The till's name, as the agent knows it.
    pub(crate) till: String,
    /// The name that the till gave itself.
    pub(crate) name: String,
    /// The time of the pairing, RFC 3339.
    pub(crate) since: String,
    /// The SHA-256 digest of the till's token, hexadecimal.
    digest: String,
}

/// A till that asks for a token.
#[derive(Debug)]
struct PairRequest {
    id: String,
    name: String,
    from: IpAddr,
    whence: Whence,
    code: String,
    /// The till for which the request was approved.
    approved: Option<String>,
    wrong: u32,
    since: Instant,
}

/// The reason why a till gets no token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PairError {
    /// The name is empty, too long, or contains control characters.
    #[error("name: must be 1 to {LONGEST_NAME} characters, without control characters")]
    Name,
    /// Pairing is not open.
    #[error("pairing is closed; open pairing at the terminal, with pos-front pair open or on the page")]
    Closed,
    /// Too many wrong codes were sent.
    #[error("too many wrong codes were sent: pairing is blocked for now")]
    Paused {
        /// The time left.
        left: Duration,
    },
    /// The request has ended, was refused, or never existed.
    #[error("this request no longer exists; begin again")]
    NoRequest,
    /// The code is not the one that the terminal shows.
    #[error("the code differs from the one that the terminal shows")]
    WrongCode {
        /// The number of tries left.
        left: u32,
    },
    /// The configuration does not list this till.
    #[error("{till} may not be paired; add it to tills in front.toml, or use one of: {known}")]
    UnknownTill {
        /// The till.
        till: String,
        /// The tills that may be paired.
        known: String,
    },
    /// The change could not be stored.
    #[error("{0}")]
    State(String),
}

impl From<StateError> for PairError {
    fn from(error: StateError) -> Self {
        Self::State(error.to_string())
    }
}

/// The answer to a till that has sent the right code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Collected {
    /// The request is not approved yet.
    Waiting,
    /// The till's name and its token, which is given only once.
    Token { till: String, token: String },
}

/// The paired tills, and the tills that ask for a token.
#[derive(Debug)]
pub(crate) struct Pairings {
    state: StateFolder,
    /// The tills that may be paired.
    allowed: Vec<String>,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct Inner {
    paired: Vec<Paired>,
    waiting: Vec<PairRequest>,
    opened: Option<Instant>,
    wrong: WrongCodes,
    /// The time of the first wrong code in `wrong`. After a restart, it is the start time of the front.
    wrong_since: Option<Instant>,
}

/// The number of wrong codes by source address, as stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct WrongCodes(BTreeMap<Whence, u32>);

impl WrongCodes {
    fn are_too_many(&self, whence: Whence) -> bool {
        let of_address = self.0.get(&whence).is_some_and(|count| *count >= WRONG_OF_ADDRESS);
        of_address || self.0.values().sum::<u32>() >= WRONG_OF_ALL
    }
}

impl Pairings {
    pub(crate) fn restored(state: StateFolder, allowed: Vec<String>, now: Instant) -> Result<Self, StateError> {
        let paired: Vec<Paired> = state.read(FILE)?.unwrap_or_default();
        let wrong: WrongCodes = state.read(WRONG_FILE)?.unwrap_or_default();
        let wrong_since = (!wrong.0.is_empty()).then_some(now);
        let inner = Inner { paired, waiting: Vec::new(), opened: None, wrong, wrong_since };
        Ok(Self { state, allowed, inner: Mutex::new(inner), changed: watch::channel(0).0 })
    }

    /// Returns a receiver that is notified when the waiting requests change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Opens pairing on behalf of a person at the terminal. Returns the time for which it stays open.
    pub(crate) fn open(&self, now: Instant) -> Duration {
        self.inner(now).opened = Some(now);
        self.tell();
        OPEN_FOR
    }

    /// Returns how long pairing stays open, or `None` if it is closed.
    pub(crate) fn open_for(&self, now: Instant) -> Option<Duration> {
        let until = self.inner(now).opened? + OPEN_FOR;
        Some(until.saturating_duration_since(now)).filter(|left| !left.is_zero())
    }

    /// Adds a till's request for a token. Returns the request's secret id and lifetime. An earlier request from the
    /// same address is removed.
    pub(crate) fn ask(&self, name: &str, way: Way, now: Instant) -> Result<(String, Duration), PairError> {
        let name = name.trim();
        if !(1..=LONGEST_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            return Err(PairError::Name);
        }
        if self.open_for(now).is_none() {
            return Err(PairError::Closed);
        }
        let mut inner = self.inner(now);
        let (from, whence) = (way.peer.ip(), way.whence());
        inner.paused(whence, now)?;
        inner.waiting.retain(|request| request.whence != whence);
        if inner.waiting.len() >= WAITING {
            // The oldest request without an approval is removed.
            let first = inner.waiting.iter().position(|request| request.approved.is_none()).unwrap_or_default();
            inner.waiting.remove(first);
        }
        let code = loop {
            let code = code();
            if inner.waiting.iter().all(|request| request.code != code) {
                break code;
            }
        };
        let id = hex::encode(random::<16>());
        let (name, approved) = (name.to_owned(), None);
        inner.waiting.push(PairRequest { id: id.clone(), name, from, whence, code, approved, wrong: 0, since: now });
        drop(inner);
        self.tell();
        Ok((id, GOOD_FOR))
    }

    /// Checks the code that a person read at the terminal and typed at the till.
    pub(crate) fn collect(
        &self,
        (id, code): (&str, &str),
        whence: Whence,
        now: Instant,
        at: &str,
    ) -> Result<Collected, PairError> {
        let mut inner = self.inner(now);
        inner.paused(whence, now)?;
        let position = inner.waiting.iter().position(|it| bool::from(it.id.as_bytes().ct_eq(id.as_bytes())));
        let position = position.ok_or(PairError::NoRequest)?;
        let request = &mut inner.waiting[position];
        if !bool::from(request.code.as_bytes().ct_eq(code.as_bytes())) {
            request.wrong += 1;
            let left = WRONG_OF_REQUEST.saturating_sub(request.wrong);
            if left == 0 {
                inner.waiting.remove(position);
            }
            inner.count_wrong(whence, now);
            self.state.write(WRONG_FILE, &inner.wrong)?;
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

    /// Approves the request with this code for `till`. If `till` is `None`, the name that the till sent is used.
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

    /// Refuses the request with this code, on behalf of a person at the terminal.
    pub(crate) fn refuse(&self, code: &str, now: Instant) -> Result<(), PairError> {
        let mut inner = self.inner(now);
        let position = inner.waiting.iter().position(|it| it.code == code).ok_or(PairError::NoRequest)?;
        inner.waiting.remove(position);
        drop(inner);
        self.tell();
        Ok(())
    }

    /// Revokes the token of a till.
    pub(crate) fn revoke(&self, till: &str, now: Instant) -> Result<(), PairError> {
        let mut inner = self.inner(now);
        let left: Vec<Paired> = inner.paired.iter().filter(|it| it.till != till).cloned().collect();
        if left.len() == inner.paired.len() {
            let known = inner.paired.iter().map(|it| it.till.as_str()).collect::<Vec<_>>().join(", ");
            return Err(PairError::UnknownTill { till: till.to_owned(), known });
        }
        self.state.write(FILE, &left)?;
        inner.paired = left;
        tracing::info!(till, "the till's token was revoked");
        Ok(())
    }

    /// Returns the till that has this token. The token is compared with every stored one in constant time. A till that
    /// was removed from the configuration is not found.
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

    /// Returns the waiting requests with their codes, which only a person at the terminal may see.
    pub(crate) fn waiting(&self, now: Instant) -> Value {
        let inner = self.inner(now);
        let shown = |it: &PairRequest| {
            let left = GOOD_FOR.saturating_sub(now.duration_since(it.since)).as_secs();
            json!({ "name": it.name, "code": it.code, "from": it.from, "approvedAs": it.approved, "leftS": left })
        };
        Value::Array(inner.waiting.iter().map(shown).collect())
    }

    /// Returns the paired tills.
    pub(crate) fn paired(&self, now: Instant) -> Value {
        let shown = |it: &Paired| json!({ "till": it.till, "name": it.name, "since": it.since });
        Value::Array(self.inner(now).paired.iter().map(shown).collect())
    }

    fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Locks the state and removes requests that have waited too long.
    fn inner(&self, now: Instant) -> MutexGuard<'_, Inner> {
        // Each change is one assignment, so the data is complete even after a panic.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.waiting.retain(|request| now.duration_since(request.since) < GOOD_FOR);
        inner
    }
}

impl Inner {
    fn paused(&self, whence: Whence, now: Instant) -> Result<(), PairError> {
        let ends = self.wrong_since.filter(|_| self.wrong.are_too_many(whence)).map(|since| since + PAUSE);
        match ends.map(|ends| ends.saturating_duration_since(now)).filter(|left| !left.is_zero()) {
            Some(left) => Err(PairError::Paused { left }),
            None => Ok(()),
        }
    }

    fn count_wrong(&mut self, whence: Whence, now: Instant) {
        if self.wrong_since.is_none_or(|since| now.duration_since(since) >= PAUSE) {
            (self.wrong, self.wrong_since) = (WrongCodes::default(), Some(now));
        }
        *self.wrong.0.entry(whence).or_default() += 1;
    }
}

pub(crate) fn digest_of(token: &str) -> String {
    hex::encode(digest(&SHA256, token.as_bytes()))
}

pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("Linux has random numbers once it has booted");
    bytes
}

/// Returns a code of six digits. Numbers above the last whole million are drawn again, so all codes are equally likely.
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

    /// Creates pairings and opens them.
    fn pairings(folder: &tempfile::TempDir) -> Pairings {
        let state = StateFolder::open(folder.path()).unwrap();
        let allowed = vec!["kasse-2".to_owned(), "kasse-3".to_owned()];
        let pairings = Pairings::restored(state, allowed, Instant::now()).unwrap();
        pairings.open(Instant::now());
        pairings
    }

    fn shown_code(pairings: &Pairings, now: Instant) -> String {
        pairings.waiting(now)[0]["code"].as_str().unwrap().to_owned()
    }

    fn host(n: u8) -> Way {
        let address = |n: u8| std::net::SocketAddr::from(([192, 0, 2, n], 4000));
        Way { peer: address(n), reached: address(250), tls: true }
    }

    /// Sends a code from this host.
    fn sent(pairings: &Pairings, (id, code): (&str, &str), from: u8, now: Instant) -> Result<Collected, PairError> {
        pairings.collect((id, code), host(from).whence(), now, AT)
    }

    #[tokio::test(start_paused = true)]
    async fn a_till_gets_its_token_once_after_code_and_approval() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, now) = (pairings(&folder), Instant::now());
        let (id, _) = pairings.ask("kasse-2", host(1), now).unwrap();
        let code = shown_code(&pairings, now);
        assert_eq!(sent(&pairings, (&id, &code), 1, now), Ok(Collected::Waiting), "nobody has approved it");
        assert!(matches!(pairings.approve(&code, Some("counter"), now), Err(PairError::UnknownTill { .. })));
        assert_eq!(pairings.approve(&code, None, now).as_deref(), Ok("kasse-2"));
        let Ok(Collected::Token { till, token }) = sent(&pairings, (&id, &code), 1, now) else { panic!("no token") };
        assert_eq!((till.as_str(), token.len()), ("kasse-2", 64));
        assert_eq!(sent(&pairings, (&id, &code), 1, now), Err(PairError::NoRequest), "once");
        assert_eq!(pairings.whose(&token, now).as_deref(), Some("kasse-2"));
        let kept = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!kept.contains(&token), "only its digest");
        // The token stays valid after a restart. It is invalid after the configuration drops the till or a person
        // revokes it.
        let again = self::pairings(&folder);
        assert_eq!(again.whose(&token, now).as_deref(), Some("kasse-2"));
        let dropped = Pairings::restored(StateFolder::open(folder.path()).unwrap(), vec![], now).unwrap();
        assert_eq!(dropped.whose(&token, now), None);
        again.revoke("kasse-2", now).unwrap();
        assert_eq!(again.whose(&token, now), None);
        assert_eq!(self::pairings(&folder).whose(&token, now), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_till_that_was_refused_gets_no_token_and_nobody_approves_it_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, now) = (pairings(&folder), Instant::now());
        let (id, _) = pairings.ask("kasse-2", host(1), now).unwrap();
        let code = shown_code(&pairings, now);
        assert_eq!(pairings.approve(&code, None, now).as_deref(), Ok("kasse-2"));
        assert_eq!(pairings.refuse(&code, now), Ok(()));
        assert_eq!(sent(&pairings, (&id, &code), 1, now), Err(PairError::NoRequest));
        assert_eq!(pairings.approve(&code, None, now), Err(PairError::NoRequest));
        assert_eq!(pairings.refuse(&code, now), Err(PairError::NoRequest), "once");
        assert_eq!(pairings.waiting(now), serde_json::json!([]));
    }

    /// Sends this many wrong codes from a host.
    fn guess(pairings: &Pairings, from: u8, times: u32, now: Instant) {
        for _ in 0..times.div_ceil(WRONG_OF_REQUEST) {
            let (id, _) = pairings.ask("x", host(from), now).unwrap();
            let codes = pairings.waiting(now);
            let mut codes = codes.as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap());
            let wrong = if codes.any(|code| code == "000000") { "x" } else { "000000" };
            for left in (0..WRONG_OF_REQUEST).rev() {
                assert_eq!(sent(pairings, (&id, wrong), from, now), Err(PairError::WrongCode { left }));
            }
            let ended = sent(pairings, (&id, wrong), 99, now);
            assert!(matches!(ended, Err(PairError::NoRequest | PairError::Paused { .. })), "{ended:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn ten_wrong_codes_keep_their_address_out_for_a_quarter_of_an_hour_and_a_restart_forgets_none() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, began) = (pairings(&folder), Instant::now());
        guess(&pairings, 1, WRONG_OF_ADDRESS, began);
        assert_eq!(pairings.ask("x", host(1), began), Err(PairError::Paused { left: PAUSE }));
        let again = self::pairings(&folder);
        assert_eq!(again.ask("x", host(1), began), Err(PairError::Paused { left: PAUSE }), "over a restart");
        assert!(again.ask("x", host(2), began).is_ok());
        again.open(began + PAUSE);
        assert!(again.ask("x", host(1), began + PAUSE).is_ok());
    }

    /// An honest till is paired although five addresses guess codes. A hundred wrong codes lock out everyone.
    #[tokio::test(start_paused = true)]
    async fn five_addresses_keep_no_till_out() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, now) = (pairings(&folder), Instant::now());
        let (id, _) = pairings.ask("kasse-2", host(100), now).unwrap();
        let code = shown_code(&pairings, now);
        for from in 1..=5 {
            guess(&pairings, from, WRONG_OF_ADDRESS, now);
        }
        pairings.approve(&code, None, now).unwrap();
        assert!(matches!(sent(&pairings, (&id, &code), 100, now), Ok(Collected::Token { .. })));
        assert!(pairings.ask("kasse-3", host(101), now).is_ok());
        for from in 6..=10 {
            guess(&pairings, from, WRONG_OF_ADDRESS, now);
        }
        assert_eq!(pairings.ask("x", host(102), now), Err(PairError::Paused { left: PAUSE }));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_asks_before_somebody_has_opened_it_or_five_minutes_later() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let now = Instant::now();
        let pairings = Pairings::restored(state, vec!["kasse-2".to_owned()], now).unwrap();
        assert_eq!(pairings.ask("x", host(1), now), Err(PairError::Closed));
        assert_eq!(pairings.open_for(now), None);
        assert_eq!(pairings.open(now), OPEN_FOR);
        let last = now + OPEN_FOR - Duration::from_secs(1);
        let (id, _) = pairings.ask("x", host(1), last).unwrap();
        assert_eq!(pairings.open_for(last), Some(Duration::from_secs(1)));
        assert_eq!(pairings.ask("x", host(2), now + OPEN_FOR), Err(PairError::Closed));
        // A till that asked in time can still finish.
        let code = shown_code(&pairings, now + OPEN_FOR);
        assert_eq!(sent(&pairings, (&id, &code), 1, now + OPEN_FOR), Ok(Collected::Waiting));
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_one_request_and_the_oldest_that_nobody_approved_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let (pairings, began) = (pairings(&folder), Instant::now());
        let names = |pairings: &Pairings| {
            let waiting = pairings.waiting(began);
            waiting.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for n in 0..WAITING {
            let name = if n == 0 { "kasse-2".to_owned() } else { n.to_string() };
            pairings.ask(&name, host(u8::try_from(n).unwrap()), began).unwrap();
        }
        pairings.approve(&shown_code(&pairings, began), None, began).unwrap();
        assert!(pairings.ask("5b", host(5), began).is_ok(), "in the place of its own");
        assert_eq!((names(&pairings).len(), names(&pairings)[1].as_str()), (WAITING, "1"));
        pairings.ask("new", host(200), began).unwrap();
        let left = names(&pairings);
        assert_eq!((left.len(), left[0].as_str(), left[1].as_str()), (WAITING, "kasse-2", "2"));
        let later = began + GOOD_FOR;
        assert_eq!(pairings.waiting(later), json!([]));
        for wrong in ["", " ", "a\u{1b}[2J", &"a".repeat(LONGEST_NAME + 1)] {
            assert_eq!(pairings.ask(wrong, host(99), began), Err(PairError::Name));
        }
    }
}
