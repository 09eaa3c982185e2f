//! The one browser that is let in: the browser that gave the code. Each browser gets a cookie before it gives a code.
//! So it is let in even if the answer to the right code is lost. The front keeps only the digest of one cookie, and
//! only in memory.
//!
//! The name's beginning makes browsers refuse this cookie from any place but this front over TLS. Otherwise, another
//! device in the network could give a browser a cookie that the device knows, and use it once the browser is let in.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use hyper::header::{COOKIE, HeaderValue};
use subtle::ConstantTimeEq;

use crate::pairing::{digest_of, random};
use crate::session::in_cookies;

/// The name of the cookie.
const NAME: &str = "__Host-pos_first_boot";
/// The number of its random bytes.
const BYTES: usize = 32;

/// The digest of a browser's cookie.
#[derive(Debug)]
pub(super) struct Known(String);

/// The browser that is let in, if there is one.
#[derive(Debug, Default)]
pub(super) struct LetIn(Mutex<Option<Known>>);

impl Known {
    /// Returns the browser that sends this cookie. The front made the cookie, so it has the front's form.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let cookie = in_cookies(cookies, NAME).filter(|cookie| hex::decode(cookie).is_ok_and(|it| it.len() == BYTES));
        cookie.map(digest_of).map(Self)
    }
}

/// Returns the header with a cookie for a browser without one.
pub(super) fn offer() -> HeaderValue {
    let cookie = hex::encode(random::<BYTES>());
    let set = format!("{NAME}={cookie}; Path=/; HttpOnly; Secure; SameSite=Strict");
    HeaderValue::from_str(&set).expect("hexadecimal digits")
}

impl LetIn {
    /// Lets this browser in, and no other one any more.
    pub(super) fn begin(&self, browser: Known) {
        *self.digest() = Some(browser);
    }

    /// Lets no browser in until the next right code.
    pub(super) fn end(&self) {
        *self.digest() = None;
    }

    /// Checks whether a request has the cookie.
    pub(super) fn has_sent(&self, headers: &HeaderMap) -> bool {
        let given = Known::of(headers);
        let is_same = |(given, right): (Known, &Known)| given.0.as_bytes().ct_eq(right.0.as_bytes()).into();
        given.zip(self.digest().as_ref()).is_some_and(is_same)
    }

    fn digest(&self) -> MutexGuard<'_, Option<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_browser_that_gave_the_code_is_let_in() {
        let let_in = LetIn::default();
        let headers = |cookies: &str| HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(cookies).unwrap())]);
        let sent = |cookies: &str| let_in.has_sent(&headers(cookies));
        let offered = || offer().to_str().unwrap().split(';').next().unwrap().to_owned();
        let (first, second) = (offered(), offered());
        assert!(!let_in.has_sent(&HeaderMap::new()) && !sent(&first), "nobody has given the code");
        let_in.begin(Known::of(&headers(&first)).unwrap());
        assert!(sent(&first) && sent(&format!("pos_language=de; {first}")) && !sent(&second));
        let wrong = format!("{NAME}={}", "0".repeat(2 * BYTES));
        for other in ["", "a=b", &format!("{NAME}="), &wrong, &format!("{first}0"), &format!("{first}; {first}")] {
            assert!(!sent(other), "{other}");
        }
        let_in.begin(Known::of(&headers(&second)).unwrap());
        assert!(sent(&second) && !sent(&first));
        let_in.end();
        assert!(!sent(&second) && !sent(&first));
    }

    #[test]
    fn a_cookie_that_the_front_did_not_make_names_no_browser() {
        for cookie in ["1", &"0".repeat(2 * BYTES - 2), &"x".repeat(2 * BYTES)] {
            let sent = HeaderValue::from_str(&format!("{NAME}={cookie}")).unwrap();
            assert!(Known::of(&HeaderMap::from_iter([(COOKIE, sent)])).is_none(), "{cookie}");
        }
    }
}
