//! The address that a till names for the events of one transaction (`Pos-Callback`), within the limits of `callbacks`
//! in front.toml.
//!
//! ```text
//!  till ── POST /v1/sales, Pos-Callback ──▶ permitted by a webhook? ─▶ written to disk ─▶ passed on to the agent
//!  agent ── events of the transaction ────▶ webhook ─▶ the address, instead of the webhook's url
//! ```
//!
//! The first address of a transaction stays. A repeated request is the same transaction, so its address changes
//! nothing. Only if the agent does not know the transaction, because it refused the first request, another address
//! takes its place. An address is written before the request is passed on, so no event of the transaction is earlier.
//!
//! The address comes from a till, and the front sends messages to it. So an address is permitted only if a person named
//! its host and the beginning of its path. Both are compared after parsing. A text that programs could read in two ways
//! is refused, even if its parsed form is permitted.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use hyper::header::HeaderName;
use hyper::{HeaderMap, StatusCode};
use pos_till_api::routes::{ApiRoute, encoded};
use reqwest::Url;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::agent::{Agent, Question};
use crate::config::{WebhookConfig, is_on_loopback};
use crate::control::unix_s;
use crate::problem::Problem;
use crate::state::{StateError, StateFolder};

/// The header with the address for the events of the transaction that the request begins.
pub(crate) const CALLBACK: HeaderName = HeaderName::from_static("pos-callback");
/// The longest address in bytes, as for the other headers that the front reads.
const LONGEST: usize = crate::forward::LONGEST_HEADER;
/// The longest reference in bytes. The agent refuses a longer one.
const LONGEST_REFERENCE: usize = 64;
/// The largest number of kept addresses. Their file is written whole for each of them: 280 kB at most, usually 90.
const MOST: usize = 512;
/// The time for which an address is kept after its webhook would have given up the last event.
const KEPT_LONGER: Duration = Duration::from_secs(24 * 3600);
/// The file in the state folder.
const FILE: &str = "callbacks.json";

/// An address, or the permitted beginning of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallbackAddress(Url);

impl CallbackAddress {
    /// Reads an address. The error says what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Self, &'static str> {
        if text.len() > LONGEST {
            return Err("is longer than 256 bytes");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains('\\') {
            return Err("holds a character that must be escaped");
        }
        let Some((_, rest)) = text.split_once("://") else { return Err("does not begin with https://") };
        if text.contains('#') {
            return Err("has a fragment (#)");
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() || authority.contains('@') {
            return Err("has no host, or a user name or password");
        }
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        if path.split('/').any(is_dots) || ESCAPED.iter().any(|escape| path.to_ascii_lowercase().contains(escape)) {
            return Err("has . or .. in its path, or an escaped dot, slash, backslash or percent sign");
        }
        let url = Url::parse(text).map_err(|_| "is not an address")?;
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if is_on_loopback(&url) => Ok(Self(url)),
            _ => Err("needs https; http is only for receivers on this terminal (127.0.0.1)"),
        }
    }

    /// Reads the beginning of permitted addresses.
    pub(crate) fn beginning(text: &str) -> Result<Self, &'static str> {
        let address = Self::read(text)?;
        if address.0.query().is_some() {
            return Err("has a query (?)");
        }
        Ok(address)
    }

    /// Checks whether this address begins with a permitted beginning. The beginning of the path ends at a slash.
    fn begins_with(&self, beginning: &Self) -> bool {
        let origin =
            |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
        let rest = self.0.path().strip_prefix(beginning.0.path());
        let on_boundary =
            rest.is_some_and(|rest| beginning.0.path().ends_with('/') || rest.is_empty() || rest.starts_with('/'));
        origin(&self.0) == origin(&beginning.0) && on_boundary
    }

    /// Returns the text in its normal form, which is also the one for requests.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// The escapes that some servers decode before they look for `..` and `/`.
const ESCAPED: [&str; 4] = ["%2e", "%2f", "%5c", "%25"];

/// Checks for `.` and `..`, also before the parameters of a segment, which some servers cut off.
fn is_dots(segment: &str) -> bool {
    matches!(segment.split(';').next(), Some("." | ".."))
}

/// The permitted addresses of one webhook.
#[derive(Debug)]
struct CallbackRule {
    webhook: String,
    tills: Option<BTreeSet<String>>,
    beginnings: Vec<CallbackAddress>,
}

impl CallbackRule {
    fn permits(&self, till: &str, address: &CallbackAddress) -> bool {
        let its_till = self.tills.as_ref().is_none_or(|tills| tills.contains(till));
        its_till && self.beginnings.iter().any(|beginning| address.begins_with(beginning))
    }
}

/// The address of one transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptCallback {
    till: String,
    reference: String,
    /// The webhook that sends the events. Each other webhook sends them to its own `url`.
    webhook: String,
    address: String,
    /// The time of the request, in seconds since 1970.
    at: u64,
    ended: bool,
    /// True if the agent may know the transaction.
    #[serde(skip, default = "assumed")]
    begun: bool,
    /// The number of requests that named this address.
    #[serde(skip)]
    requests: u32,
    /// The age at `since`. While the front runs, the age does not depend on the clock, which a board may set late.
    #[serde(skip)]
    aged: Duration,
    #[serde(skip)]
    since: Option<Instant>,
}

/// After a restart, the front does not know the agent's answers.
fn assumed() -> bool {
    true
}

impl KeptCallback {
    fn is_of(&self, till: &str, reference: &str) -> bool {
        self.till == till && self.reference == reference
    }

    fn age(&self, now: Instant) -> Duration {
        self.aged + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

/// A request whose address is on disk. [`Callbacks::answered`] takes it.
#[derive(Debug)]
pub(crate) struct CallbackTicket {
    till: String,
    reference: String,
    request: u32,
}

/// All addresses, and the rules that permit them.
#[derive(Debug)]
pub(crate) struct Callbacks {
    rules: Vec<CallbackRule>,
    kept_for: Duration,
    state: StateFolder,
    now: fn() -> SystemTime,
    kept: Mutex<Vec<KeptCallback>>,
}

impl Callbacks {
    /// Reads the addresses from the state folder. If they cannot be read, the front must not forget them silently.
    pub(crate) fn restored(
        state: StateFolder,
        webhooks: &[WebhookConfig],
        now: fn() -> SystemTime,
    ) -> Result<Self, StateError> {
        let rule = |webhook: &WebhookConfig| CallbackRule {
            webhook: webhook.name.clone(),
            tills: webhook.tills.clone(),
            beginnings: webhook.callbacks.iter().flat_map(|text| CallbackAddress::beginning(text)).collect(),
        };
        let rules = webhooks.iter().map(rule).collect();
        let give_up = webhooks.iter().map(|webhook| webhook.give_up).max().unwrap_or_default();
        let mut kept: Vec<KeptCallback> = state.read(FILE)?.unwrap_or_default();
        let (wall, since) = (unix_s(now()), Instant::now());
        for one in &mut kept {
            (one.aged, one.since) = (Duration::from_secs(wall.saturating_sub(one.at)), Some(since));
        }
        Ok(Self { rules, kept_for: give_up + KEPT_LONGER, state, now, kept: Mutex::new(kept) })
    }

    /// Returns the address that a request names. Only a request that begins a transaction may name one.
    pub(crate) fn named(headers: &HeaderMap, row: &ApiRoute) -> Result<Option<CallbackAddress>, Problem> {
        let mut all = headers.get_all(&CALLBACK).iter();
        let Some(value) = all.next() else { return Ok(None) };
        let wrong = |wrong: &str| Problem::malformed(format!("Pos-Callback: {wrong}"));
        if all.next().is_some() {
            return Err(wrong("send this header once"));
        }
        if (row.method, row.path) != ("POST", "/v1/sales") {
            return Err(wrong("only POST /v1/sales may name an address"));
        }
        let text = value.to_str().map_err(|_| wrong("holds a character that must be escaped"))?;
        CallbackAddress::read(text).map(Some).map_err(|said| not_allowed(&format!("the address {said}")))
    }

    /// Writes the address of the transaction that this request begins, before the request is passed on. The body is the
    /// agent's to judge: a body without a reference begins no transaction, and one of training mode has no messages.
    pub(crate) async fn keep(
        &self,
        agent: &Agent,
        (till, body): (&str, &[u8]),
        address: CallbackAddress,
    ) -> Result<Option<CallbackTicket>, Problem> {
        #[derive(Deserialize)]
        struct Begun {
            reference: String,
            training: Option<IgnoredAny>,
        }
        let Some(rule) = self.rules.iter().find(|rule| rule.permits(till, &address)) else {
            return Err(not_allowed(&format!("no webhook may send to this address for the till {till}")));
        };
        let Ok(Begun { reference, training: None }) = serde_json::from_slice(body) else { return Ok(None) };
        if reference.len() > LONGEST_REFERENCE {
            return Ok(None);
        }
        let first = self.find(till, &reference).map(|one| one.address);
        let is_other = first.is_some_and(|first| first != address.as_str());
        if is_other && is_begun(agent, till, &reference).await {
            return Ok(None);
        }
        let told = self.write(rule, (till, &reference), &address);
        told.map(Some).map_err(|error| {
            let title = "The front cannot write its state";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "state", title, format!("nothing was sent: {error}"))
        })
    }

    fn write(
        &self,
        rule: &CallbackRule,
        (till, reference): (&str, &str),
        address: &CallbackAddress,
    ) -> Result<CallbackTicket, StateError> {
        let mut kept = self.kept();
        let now = Instant::now();
        let ticket = |request| CallbackTicket { till: till.to_owned(), reference: reference.to_owned(), request };
        let known = kept.iter_mut().find(|one| one.is_of(till, reference) && one.age(now) < self.kept_for);
        if let Some(known) = known.filter(|one| one.address == address.as_str()) {
            known.requests += 1;
            return Ok(ticket(known.requests));
        }
        let mut next = kept.clone();
        next.retain(|one| !one.is_of(till, reference) && one.age(now) < self.kept_for);
        while next.len() >= MOST {
            next.remove(to_drop(&next));
        }
        next.push(KeptCallback {
            till: till.to_owned(),
            reference: reference.to_owned(),
            webhook: rule.webhook.clone(),
            address: address.as_str().to_owned(),
            at: unix_s((self.now)()),
            ended: false,
            begun: false,
            requests: 1,
            aged: Duration::ZERO,
            since: Some(now),
        });
        self.state.write(FILE, &next)?;
        *kept = next;
        Ok(ticket(1))
    }

    /// Takes the agent's answer. A request that the agent refused began no transaction, so its address is removed,
    /// unless another request named it too.
    pub(crate) fn answered(&self, ticket: &CallbackTicket, status: StatusCode) {
        let mut kept = self.kept();
        let Some(at) = kept.iter().position(|one| one.is_of(&ticket.till, &ticket.reference)) else { return };
        let one = &mut kept[at];
        if !status.is_client_error() {
            one.begun = true;
        } else if !one.begun && one.requests == ticket.request {
            kept.remove(at);
            self.rewrite(&kept);
        }
    }

    /// Notes that a transaction has ended. Its address stays for later events, such as a reversal.
    pub(crate) fn ended(&self, till: &str, reference: &str) {
        let mut kept = self.kept();
        let Some(one) = kept.iter_mut().find(|one| one.is_of(till, reference) && !one.ended) else { return };
        one.ended = true;
        self.rewrite(&kept);
    }

    fn rewrite(&self, kept: &[KeptCallback]) {
        if let Err(error) = self.state.write(FILE, &kept) {
            tracing::warn!(%error, "the addresses of tills could not be saved");
        }
    }

    /// Returns the address to which this webhook sends the events of a transaction, instead of its `url`.
    pub(crate) fn address(&self, webhook: &str, till: &str, reference: &str) -> Option<String> {
        self.find(till, reference).filter(|one| self.is_for(one, webhook)).map(|one| one.address)
    }

    /// Returns the addresses of the transactions that have not ended.
    pub(crate) fn open(&self, webhook: &str) -> BTreeSet<String> {
        let now = Instant::now();
        let kept = self.kept();
        let open = kept.iter().filter(|one| !one.ended && one.age(now) < self.kept_for && self.is_for(one, webhook));
        open.map(|one| one.address.clone()).collect()
    }

    /// Checks an address for a test of this webhook.
    pub(crate) fn for_test(&self, webhook: &str, text: &str) -> Result<String, Problem> {
        let address = CallbackAddress::read(text).map_err(|said| not_allowed(&format!("the address {said}")))?;
        let rule = self.rules.iter().find(|rule| rule.webhook == webhook);
        match rule.is_some_and(|rule| rule.beginnings.iter().any(|beginning| address.begins_with(beginning))) {
            true => Ok(address.as_str().to_owned()),
            false => Err(not_allowed(&format!("the webhook {webhook} may not send to this address"))),
        }
    }

    /// Checks whether this webhook sends to the address. The configuration may have changed since the request.
    fn is_for(&self, one: &KeptCallback, webhook: &str) -> bool {
        let Ok(address) = CallbackAddress::read(&one.address) else { return false };
        one.webhook == webhook
            && self.rules.iter().any(|rule| rule.webhook == webhook && rule.permits(&one.till, &address))
    }

    fn find(&self, till: &str, reference: &str) -> Option<KeptCallback> {
        let now = Instant::now();
        let kept = self.kept();
        kept.iter().find(|one| one.is_of(till, reference) && one.age(now) < self.kept_for).cloned()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<KeptCallback>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the position of the address that makes room: of the till with the most, the first ended one, or else the
/// first. So one till cannot displace the addresses of another.
fn to_drop(kept: &[KeptCallback]) -> usize {
    let count = |till: &str| kept.iter().filter(|one| one.till == till).count();
    let most =
        kept.iter().map(|one| one.till.as_str()).collect::<BTreeSet<_>>().into_iter().max_by_key(|till| count(till));
    let of_till = |one: &KeptCallback| Some(one.till.as_str()) == most;
    let ended = kept.iter().position(|one| of_till(one) && one.ended);
    ended.or_else(|| kept.iter().position(of_till)).unwrap_or_default()
}

/// Asks the agent whether it knows a transaction. Without an answer, the transaction may exist.
async fn is_begun(agent: &Agent, till: &str, reference: &str) -> bool {
    let target = format!("/v1/sales/{}?till={}", encoded(reference), encoded(till));
    !matches!(agent.ask_json(Question::get(&target)).await, Ok((StatusCode::NOT_FOUND, _)))
}

/// Creates the refusal of an address. The address may contain a secret, so the refusal does not repeat it.
fn not_allowed(why: &str) -> Problem {
    let detail = format!(
        "Pos-Callback: {why}; correct the header, or let the person who configures the terminal add the beginning of the \
         address to callbacks of a [[webhook]] in front.toml"
    );
    let title = "The front may not send events to this address";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "callback-not-allowed", title, detail)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use hyper::header::HeaderValue;
    use pos_till_api::routes::ROUTES;

    use super::*;

    fn permitted(beginning: &str, address: &str) -> bool {
        let beginning = CallbackAddress::beginning(beginning).unwrap();
        CallbackAddress::read(address).is_ok_and(|address| address.begins_with(&beginning))
    }

    #[test]
    fn an_address_is_permitted_by_its_parsed_beginning_row_by_row() {
        let pos = "https://till.example/pos/";
        for (beginning, address, is_permitted) in [
            (pos, "https://till.example/pos/42", true),
            (pos, "https://till.example/pos/", true),
            (pos, "https://till.example/pos/a/b?sale=1&at=..%2f", true),
            (pos, "https://till.example:443/pos/42", true),
            (pos, "https://TILL.example/pos/42", true),
            (pos, "HTTPS://till.example/pos/42", true),
            (pos, "https://till.example/pos/a..b/..c", true),
            (pos, "https://till.example/pos", false),
            (pos, "https://till.example/post/42", false),
            (pos, "https://till.example/Pos/42", false),
            (pos, "https://till.example/", false),
            (pos, "https://till.example.evil/pos/42", false),
            (pos, "https://till.example./pos/42", false),
            (pos, "https://eviltill.example/pos/42", false),
            (pos, "https://till.example:8443/pos/42", false),
            (pos, "http://till.example/pos/42", false),
            (pos, "https://evil/https://till.example/pos/42", false),
            (pos, "https://till.example/pos/../x", false),
            (pos, "https://till.example/pos/a/../b", false),
            (pos, "https://till.example/x/../pos/b", false),
            (pos, "https://till.example/pos/./b", false),
            (pos, "https://till.example/pos/..", false),
            (pos, "https://till.example/pos/..;a=b/x", false),
            (pos, "https://till.example/pos/%2e%2e/x", false),
            (pos, "https://till.example/pos/.%2E/x", false),
            (pos, "https://till.example/pos/..%2fx", false),
            (pos, "https://till.example/pos/%252e%252e/x", false),
            (pos, "https://till.example/pos/%5c..%5cx", false),
            (pos, "https://till.example/pos\\..\\x", false),
            (pos, "https://till.example\\@evil/pos/42", false),
            (pos, "https://till.example@evil/pos/42", false),
            (pos, "https://user@till.example/pos/42", false),
            (pos, "https://user:secret@till.example/pos/42", false),
            (pos, "https://@till.example/pos/42", false),
            (pos, "https://till.example/pos/42#x", false),
            (pos, "https:till.example/pos/42", false),
            (pos, "https:/till.example/pos/42", false),
            (pos, "https:///till.example/pos/42", false),
            (pos, "//till.example/pos/42", false),
            (pos, "/pos/42", false),
            (pos, "", false),
            (pos, " https://till.example/pos/42", false),
            (pos, "https://till.example/pos/4 2", false),
            (pos, "https://till.example/pos/4\t2", false),
            (pos, "https://till.exämple/pos/42", false),
            (pos, "ftp://till.example/pos/42", false),
            ("https://till.example/pos", "https://till.example/pos", true),
            ("https://till.example/pos", "https://till.example/pos/42", true),
            ("https://till.example/pos", "https://till.example/pos?a", true),
            ("https://till.example/pos", "https://till.example/post", false),
            ("https://till.example", "https://till.example/anything", true),
            ("https://till.example", "https://till.example", true),
            ("https://till.example:8443/", "https://till.example:8443/x", true),
            ("https://till.example:8443/", "https://till.example/x", false),
            ("http://127.0.0.1:9000/", "http://127.0.0.1:9000/x", true),
            ("http://127.0.0.1:9000/", "http://127.0.0.2:9000/x", false),
            ("http://127.0.0.1:9000/", "https://127.0.0.1:9000/x", false),
            ("http://[::1]:9000/", "http://[::1]:9000/x", true),
        ] {
            assert_eq!(permitted(beginning, address), is_permitted, "{beginning} {address}");
        }
        let long = format!("https://till.example/pos/{}", "a".repeat(LONGEST));
        assert!(!permitted(pos, &long) && permitted(pos, &long[..LONGEST]));
    }

    #[test]
    fn a_beginning_has_no_query_and_uses_http_only_on_the_terminal() {
        for wrong in ["https://till.example/?a", "http://till.example/", "till.example/pos/", "https://a@till.example/"]
        {
            assert!(CallbackAddress::beginning(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_header_is_sent_once_and_only_with_a_request_that_begins_a_transaction() {
        let row =
            |method: &str, path: &str| ROUTES.iter().find(|row| (row.method, row.path) == (method, path)).unwrap();
        let of = |values: &[&[u8]], row| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CALLBACK, HeaderValue::from_bytes(value).unwrap());
            }
            Callbacks::named(&headers, row).map(|it| it.is_some()).map_err(|it| it.object()["code"].clone())
        };
        let (begin, address) = (row("POST", "/v1/sales"), &b"https://till.example/pos/1"[..]);
        assert_eq!((of(&[], begin), of(&[address], begin)), (Ok(false), Ok(true)));
        let not_utf8 = &b"https://till.example/pos/\xff"[..];
        for (values, row, code) in [
            (&[address, address][..], begin, "malformed"),
            (&[not_utf8], begin, "malformed"),
            (&[address], row("GET", "/v1/sales"), "malformed"),
            (&[address], row("POST", "/v1/sales/{reference}/cancel"), "malformed"),
            (&[b"http://till.example/pos/1"], begin, "callback-not-allowed"),
            (&[b""], begin, "callback-not-allowed"),
        ] {
            assert_eq!(of(values, row), Err(code.into()), "{values:?}");
        }
    }

    fn webhook(name: &str, tills: Option<&str>) -> WebhookConfig {
        WebhookConfig {
            name: name.to_owned(),
            url: None,
            callbacks: vec!["https://till.example/pos/".to_owned()],
            secret_file: "/none".into(),
            ca_file: None,
            tills: tills.map(|till| BTreeSet::from([till.to_owned()])),
            steps: None,
            give_up: Duration::from_secs(3600),
        }
    }

    fn restored(folder: &std::path::Path) -> Callbacks {
        let state = StateFolder::open(folder).unwrap();
        let webhooks = [webhook("other", Some("b")), webhook("books", None), webhook("third", None)];
        Callbacks::restored(state, &webhooks, || SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)).unwrap()
    }

    fn address(n: usize) -> CallbackAddress {
        CallbackAddress::read(&format!("https://till.example/pos/{n}")).unwrap()
    }

    /// Writes an address for a transaction, as a request does.
    fn write(all: &Callbacks, till: &str, reference: &str, n: usize) -> CallbackTicket {
        let rule = all.rules.iter().find(|rule| rule.permits(till, &address(n))).unwrap();
        all.write(rule, (till, reference), &address(n)).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_is_there_after_a_restart_and_until_its_events_are_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let mut all = restored(folder.path());
        write(&all, "a", "1", 1);
        write(&all, "b", "1", 2);
        let of = |all: &Callbacks, webhook: &str, till: &str| all.address(webhook, till, "1");
        for _ in 0..2 {
            let (one, two) = (Some(address(1).as_str().to_owned()), Some(address(2).as_str().to_owned()));
            assert_eq!((of(&all, "books", "a"), of(&all, "other", "a"), of(&all, "third", "a")), (one, None, None));
            assert_eq!((of(&all, "books", "b"), of(&all, "other", "b")), (None, two), "the first that permits it");
            tokio::time::advance(KEPT_LONGER).await;
            assert!(of(&all, "books", "a").is_some(), "its webhook may still send");
            tokio::time::advance(Duration::from_secs(3600)).await;
            assert_eq!(of(&all, "books", "a"), None);
            all = restored(folder.path());
        }
    }

    /// An address that the configuration no longer permits gets nothing.
    #[tokio::test]
    async fn a_change_of_the_configuration_holds_for_addresses_that_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        write(&restored(folder.path()), "a", "1", 1);
        let state = StateFolder::open(folder.path()).unwrap();
        let mut books = webhook("books", None);
        books.callbacks = vec!["https://till.example/new/".to_owned()];
        let all = Callbacks::restored(state, &[books], || SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!((all.address("books", "a", "1"), all.open("books").len()), (None, 0));
    }

    /// A refused request began no transaction. A request without an answer may have begun one.
    #[tokio::test]
    async fn a_refused_request_leaves_no_address_unless_another_one_named_it() {
        let folder = tempfile::tempdir().unwrap();
        let all = restored(folder.path());
        let is_kept = || all.address("books", "a", "1").is_some();
        let ticket = write(&all, "a", "1", 1);
        all.answered(&ticket, StatusCode::CONFLICT);
        assert!(!is_kept() && restored(folder.path()).address("books", "a", "1").is_none());
        let (first, second) = (write(&all, "a", "1", 1), write(&all, "a", "1", 1));
        all.answered(&first, StatusCode::CONFLICT);
        assert!(is_kept(), "the second request is under way");
        all.answered(&second, StatusCode::CREATED);
        let third = write(&all, "a", "1", 1);
        all.answered(&third, StatusCode::CONFLICT);
        assert!(is_kept(), "the transaction exists");
    }

    #[tokio::test]
    async fn the_oldest_ended_one_of_the_till_with_the_most_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let all = restored(folder.path());
        write(&all, "b", "first", 0);
        all.ended("b", "first");
        // The files of this test are in memory or on a fast disk; the loop writes one per address.
        for n in 0..MOST - 1 {
            write(&all, "a", &n.to_string(), n);
        }
        all.ended("a", "7");
        write(&all, "a", "more", 1);
        let has = |till, reference| all.find(till, reference).is_some();
        assert!(!has("a", "7") && has("a", "0") && has("b", "first"));
        write(&all, "b", "second", 1);
        assert!(!has("a", "0") && has("a", "1") && has("b", "first"), "another till's are not displaced");
        assert_eq!(all.kept().len(), MOST);
        assert_eq!(restored(folder.path()).kept().len(), MOST, "the largest file can be read");
        let open = all.open("books");
        assert!(!open.contains(address(7).as_str()) && open.contains(address(8).as_str()));
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_keeps_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let all = restored(folder.path());
        write(&all, "a", "1", 1);
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        // A folder in the place of the new file refuses every user, also root.
        std::fs::create_dir(folder.path().join("callbacks.new")).unwrap();
        let rule = all.rules.iter().find(|rule| rule.webhook == "books").unwrap();
        assert!(all.write(rule, ("a", "2"), &address(2)).is_err());
        assert!(all.find("a", "2").is_none() && all.find("a", "1").is_some());
    }
}
