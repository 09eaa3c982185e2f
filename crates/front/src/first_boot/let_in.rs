//! The one browser that is let in: the browser that gave the code. Its cookie ends with the first boot. The front keeps
//! only the cookie's digest, and only in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use hyper::header::{COOKIE, HeaderValue};
use subtle::ConstantTimeEq;

use crate::pairing::{digest_of, random};
use crate::session::in_cookies;

/// The name of the cookie.
const NAME: &str = "pos_first_boot";

/// The digest of the browser's cookie.
#[derive(Debug, Default)]
pub(super) struct LetIn(Mutex<Option<String>>);

impl LetIn {
    /// Lets a browser in, and no other one any more. Returns the header with its cookie.
    pub(super) fn begin(&self) -> HeaderValue {
        let cookie = hex::encode(random::<32>());
        *self.digest() = Some(digest_of(&cookie));
        let set = format!("{NAME}={cookie}; Path=/first-boot/; HttpOnly; Secure; SameSite=Strict");
        HeaderValue::from_str(&set).expect("hexadecimal digits")
    }

    /// Lets no browser in until the next right code.
    pub(super) fn end(&self) {
        *self.digest() = None;
    }

    /// Checks whether a request has the cookie.
    pub(super) fn has_sent(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let given = in_cookies(cookies, NAME).map(digest_of);
        given.zip(self.digest().as_ref()).is_some_and(|(given, right)| given.as_bytes().ct_eq(right.as_bytes()).into())
    }

    fn digest(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_browser_that_gave_the_code_is_let_in() {
        let let_in = LetIn::default();
        let sent =
            |cookies: &str| let_in.has_sent(&HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(cookies).unwrap())]));
        let begun = || let_in.begin().to_str().unwrap().split(';').next().unwrap().to_owned();
        assert!(!let_in.has_sent(&HeaderMap::new()) && !sent("pos_first_boot=0"), "nobody has given the code");
        let first = begun();
        assert!(sent(&first) && sent(&format!("pos_language=de; {first}")));
        let wrong = format!("pos_first_boot={}", "0".repeat(64));
        for other in ["", "a=b", "pos_first_boot=", &wrong, &format!("{first}0"), &format!("{first}; {first}")] {
            assert!(!sent(other), "{other}");
        }
        let second = begun();
        assert!(sent(&second) && !sent(&first));
        let_in.end();
        assert!(!sent(&second) && !sent(&first));
    }
}
