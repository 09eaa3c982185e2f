//! Paired browsers: phones, tablets and counters that may use the page without an operator (`[page] without-sign-in =
//! "paired"`).
//!
//! ```text
//!  browser that may use the page      front                            new browser
//!  POST /front/browser/open ────────▶ a link with a token, as a QR code
//!                                                                      opens https://HOST:8443/#pair=TOKEN
//!                                     the cookie, once ◀────────────── POST /front/browser {"token", "name"}
//! ```
//!
//! A browser sends the part of an address behind `#` to no server, so the token is in no log. A link is valid for five
//! minutes, for one browser. The cookie proves the pairing. Scripts cannot read it, and the front keeps only its
//! digest. A removed browser is refused immediately, and its open streams end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::pairing::{digest_of, random};
use crate::session;
use crate::state::{StateError, StateFolder};

/// The name of the cookie.
pub(crate) const COOKIE_NAME: &str = "pos_browser";
/// The lifetime of the cookie: one year. Each start of the page renews it.
const COOKIE_S: u64 = 365 * 24 * 3600;
/// The file of the paired browsers in the state folder.
const FILE: &str = "browsers.json";
/// The largest number of paired browsers. A shop has fewer.
const MOST: usize = 32;
/// The largest number of links that wait for a browser. A further one replaces the oldest.
const LINKS: usize = 8;
/// The time for which a link is valid.
const GOOD_FOR: Duration = Duration::from_secs(300);
/// The greatest length of a browser's name.
const LONGEST_NAME: usize = 40;

/// A paired browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Browser {
    /// The id under which a person removes the browser. It gives no access.
    id: String,
    /// The name that a person gave the browser.
    name: String,
    /// The time of the pairing, RFC 3339.
    since: String,
    /// The SHA-256 digest of the cookie, hexadecimal.
    digest: String,
}

impl Browser {
    fn has(&self, digest: &str) -> bool {
        self.digest.as_bytes().ct_eq(digest.as_bytes()).into()
    }
}

/// The reason why a browser is not paired, or not removed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BrowserError {
    /// The name is empty, too long, or contains control characters.
    #[error("name: must be 1 to {LONGEST_NAME} characters, without control characters")]
    Name,
    /// The link was used, is too old, or never existed.
    #[error(
        "this link was used, or is older than five minutes; ask for a new one: Terminal, or pos-front pair browser open"
    )]
    Link,
    /// No further browser can be paired.
    #[error("{MOST} browsers are paired, which is the maximum; remove one: Terminal, or pos-front pair browser revoke")]
    Full,
    /// No browser has this id.
    #[error("no paired browser has this id; see: pos-front pair browser list")]
    Unknown,
    /// The change could not be stored.
    #[error("{0}")]
    State(String),
}

impl From<StateError> for BrowserError {
    fn from(error: StateError) -> Self {
        Self::State(error.to_string())
    }
}

/// The paired browsers, and the links that wait for one.
#[derive(Debug)]
pub(crate) struct Browsers {
    state: StateFolder,
    inner: Mutex<Inner>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct Inner {
    paired: Vec<Browser>,
    /// The digests of the links' tokens, and the times at which they end.
    links: Vec<(String, Instant)>,
}

impl Browsers {
    pub(crate) fn restored(state: StateFolder) -> Result<Self, StateError> {
        let inner = Inner { paired: state.read(FILE)?.unwrap_or_default(), links: Vec::new() };
        Ok(Self { state, inner: Mutex::new(inner), changed: watch::channel(()).0 })
    }

    /// Makes a link for one browser. Returns its token and its lifetime.
    pub(crate) fn open(&self, now: Instant) -> (String, Duration) {
        let token = hex::encode(random::<16>());
        let mut inner = self.inner(now);
        if inner.links.len() >= LINKS {
            inner.links.remove(0);
        }
        inner.links.push((digest_of(&token), now + GOOD_FOR));
        (token, GOOD_FOR)
    }

    /// Pairs the browser that has a link's token. Returns the value of its cookie. The link is then used up. A browser
    /// that was paired before, as the cookie `former` shows, has only the new entry.
    pub(crate) fn pair(
        &self,
        (token, name): (&str, &str),
        former: Option<&str>,
        (now, since): (Instant, String),
    ) -> Result<String, BrowserError> {
        let digest = digest_of(token);
        let mut inner = self.inner(now);
        let matching = |(link, _): &(String, Instant)| bool::from(link.as_bytes().ct_eq(digest.as_bytes()));
        let position = inner.links.iter().position(matching).ok_or(BrowserError::Link)?;
        let (cookie, _) = self.add(&mut inner, name, former, since)?;
        inner.links.remove(position);
        Ok(cookie)
    }

    /// Pairs a browser that another proof has let in. Returns the value of its cookie, and its id.
    pub(crate) fn pair_now(
        &self,
        name: &str,
        since: String,
        former: Option<&str>,
    ) -> Result<(String, String), BrowserError> {
        self.add(&mut self.inner(Instant::now()), name, former, since)
    }

    fn add(
        &self,
        inner: &mut Inner,
        name: &str,
        former: Option<&str>,
        since: String,
    ) -> Result<(String, String), BrowserError> {
        let name = name.trim();
        if !(1..=LONGEST_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            return Err(BrowserError::Name);
        }
        let former = former.map(digest_of);
        let is_former = |browser: &Browser| former.as_ref().is_some_and(|former| browser.has(former));
        let mut paired: Vec<Browser> = inner.paired.iter().filter(|browser| !is_former(browser)).cloned().collect();
        if paired.len() >= MOST {
            return Err(BrowserError::Full);
        }
        let (cookie, id) = (hex::encode(random::<32>()), hex::encode(random::<4>()));
        paired.push(Browser { id: id.clone(), name: name.to_owned(), since, digest: digest_of(&cookie) });
        self.keep(inner, paired)?;
        tracing::info!(id, "a browser was paired");
        Ok((cookie, id))
    }

    /// Removes a browser. Its cookie is invalid, and its open streams end.
    pub(crate) fn remove(&self, id: &str) -> Result<(), BrowserError> {
        let mut inner = self.inner(Instant::now());
        let left: Vec<Browser> = inner.paired.iter().filter(|browser| browser.id != id).cloned().collect();
        if left.len() == inner.paired.len() {
            return Err(BrowserError::Unknown);
        }
        self.keep(&mut inner, left)?;
        tracing::info!(id, "a browser was removed");
        Ok(())
    }

    /// Checks whether this is the cookie of a paired browser. It is compared with all of them in constant time.
    pub(crate) fn is_paired(&self, cookie: &str) -> bool {
        let digest = digest_of(cookie);
        self.inner(Instant::now()).paired.iter().filter(|browser| browser.has(&digest)).count() > 0
    }

    /// Returns the paired browsers. The one with the cookie `own` has the mark `own`.
    pub(crate) fn list(&self, own: Option<&str>) -> Value {
        let own = own.map(digest_of);
        let shown = |it: &Browser| {
            let is_own = own.as_ref().is_some_and(|own| it.has(own));
            json!({ "id": it.id, "name": it.name, "since": it.since, "own": is_own })
        };
        Value::Array(self.inner(Instant::now()).paired.iter().map(shown).collect())
    }

    /// Waits until the browser with this cookie is removed.
    pub(crate) async fn removed(&self, cookie: &str) {
        let mut changes = self.changed.subscribe();
        while self.is_paired(cookie) && changes.changed().await.is_ok() {}
    }

    /// Stores the browsers first. If that fails, nothing has changed.
    fn keep(&self, inner: &mut Inner, paired: Vec<Browser>) -> Result<(), BrowserError> {
        self.state.write(FILE, &paired)?;
        inner.paired = paired;
        self.changed.send_replace(());
        Ok(())
    }

    /// Locks the state and removes links that are too old.
    fn inner(&self, now: Instant) -> MutexGuard<'_, Inner> {
        // Each change is one assignment, so the data is complete even after a panic.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.links.retain(|(_, ends)| now < *ends);
        inner
    }
}

/// Returns the header that gives a browser its cookie.
pub(crate) fn cookie(value: &str, tls: bool) -> HeaderValue {
    session::set_cookie(&format!("{COOKIE_NAME}={value}"), tls, Some(COOKIE_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "2026-01-01T00:00:00Z";

    fn browsers(folder: &tempfile::TempDir) -> Browsers {
        Browsers::restored(StateFolder::open(folder.path()).unwrap()).unwrap()
    }

    fn pair(browsers: &Browsers, token: &str, now: Instant) -> Result<String, BrowserError> {
        browsers.pair((token, "Tablet"), None, (now, AT.to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_pairs_one_browser_and_only_within_five_minutes() {
        let folder = tempfile::tempdir().unwrap();
        let (browsers, now) = (browsers(&folder), Instant::now());
        let (token, good_for) = browsers.open(now);
        assert_eq!(browsers.pair((&token, " "), None, (now, AT.to_owned())), Err(BrowserError::Name));
        let cookie = pair(&browsers, &token, now + GOOD_FOR - Duration::from_secs(1)).unwrap();
        assert!(browsers.is_paired(&cookie) && !browsers.is_paired(&token) && !browsers.is_paired(""));
        assert_eq!(pair(&browsers, &token, now), Err(BrowserError::Link), "used");
        let (old, _) = browsers.open(now);
        assert_eq!(pair(&browsers, &old, now + good_for), Err(BrowserError::Link), "too old");
        let kept = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!kept.contains(&cookie) && !kept.contains(&token), "only the digest");
        assert!(self::browsers(&folder).is_paired(&cookie), "after a restart");
    }

    #[tokio::test(start_paused = true)]
    async fn a_removed_browser_is_out_at_once_and_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let browsers = browsers(&folder);
        let (cookie, id) = browsers.pair_now("Counter", AT.to_owned(), None).unwrap();
        let (other, _) = browsers.pair_now("Phone", AT.to_owned(), None).unwrap();
        let list = browsers.list(Some(&cookie));
        assert_eq!(list[0], json!({ "id": id, "name": "Counter", "since": AT, "own": true }));
        assert_eq!(list[1]["own"], false);
        let remove = async { (tokio::task::yield_now().await, browsers.remove(&id)).1 };
        let told = tokio::time::timeout(GOOD_FOR, browsers.removed(&cookie));
        let (told, removed) = tokio::join!(told, remove);
        assert_eq!((told.is_ok(), removed), (true, Ok(())), "its streams are told");
        assert!(!browsers.is_paired(&cookie) && browsers.is_paired(&other));
        assert_eq!(browsers.remove(&id), Err(BrowserError::Unknown));
        assert!(!self::browsers(&folder).is_paired(&cookie));
    }

    #[tokio::test(start_paused = true)]
    async fn a_browser_that_is_paired_again_has_one_entry_and_their_number_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let (browsers, now) = (browsers(&folder), Instant::now());
        let (first, _) = browsers.pair_now("Phone", AT.to_owned(), None).unwrap();
        for _ in 1..MOST {
            browsers.pair_now("x", AT.to_owned(), None).unwrap();
        }
        let (token, _) = browsers.open(now);
        assert_eq!(pair(&browsers, &token, now), Err(BrowserError::Full));
        let again = browsers.pair((&token, "Phone"), Some(&first), (now, AT.to_owned())).unwrap();
        assert!(browsers.is_paired(&again) && !browsers.is_paired(&first));
        assert_eq!(browsers.list(None).as_array().unwrap().len(), MOST);
        let links: Vec<String> = (0..=LINKS).map(|_| browsers.open(now).0).collect();
        assert_eq!(pair(&browsers, &links[0], now), Err(BrowserError::Link), "the oldest link made room");
        assert_eq!(pair(&browsers, &links[1], now), Err(BrowserError::Full), "the others are valid");
    }

    #[test]
    fn no_script_reads_the_cookie_and_no_other_site_sends_it() {
        let expected = "pos_browser=x; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=31536000";
        assert_eq!(cookie("x", true), expected);
    }
}
