//! The rules of the gateway's host: its checks, and the form of its answers. The interface leaves much open, so the
//! agent must work correctly with every permitted behaviour.
//!
//! | | checked | permissive | literal |
//! |---|---|---|---|
//! | a request that a payment's state does not allow | refused | booked, each time it is sent | refused |
//! | a follow-up of an unknown payment | 404 | booked | 404 |
//! | a used `merchantTransactionId` | accepted | accepted | refused: `refusal::USED` |
//! | `amount` in answers | text | text | text or number, by the payment's id |
//! | `pos.iccDataResponse` | upper case | upper case | upper or lower case, by the payment's id |
//! | letters in names and places | letters of any script | letters of any script | A to Z |
//! | the parameter that failed | `result.parameterErrors` | `result.parameterErrors` | not named |
//! | HTTP 307 | chosen by the cents | chosen by the cents | also for the first request and every third one after it |
//! | a mandate, a due date, a gift card's balance, partial amounts | checked | not checked | checked |
//! | an agreement for payments that the merchant starts | required | not required | required |
//! | throttling | all requests together | all requests together | each operation separately |
//! | a query without a filter | refused | refused | everything, up to `limit` |
//! | a checkout that was used or is older than 30 minutes | refused | served | refused |
//! | the origin of the page that pays a checkout | the origin of `shopperResultUrl` | any | any |
//! | a request for the script's hash without a token | answered | answered | 401 |
//! | `GET /` | `{}` | `{}` | 404 |
//!
//! With all rules, the gateway requires a token, an existing path and a readable form, and decrypts the card data. It
//! always refuses cards and accounts other than the public test ones, a second means of payment, and a page that has
//! ended.

use std::fmt::Write as _;

use hyper::Method;
use hyper::header::{HOST, HeaderMap};
use serde_json::{Value, json};

use super::form::Spelling;

/// The strictness of the gateway's checks, and the form of its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostRules {
    /// Our reading of the interface, which refuses a request that a payment's state does not allow.
    #[default]
    Checked,
    /// No rules. Every readable request is booked, each time it is sent.
    Permissive,
    /// The letter of the interface, with everything that it says and nothing else.
    Literal,
}

/// The prefix that a redirect adds to the path. For a request without body, the mark may be in the query instead.
const AGAIN_PATH: &str = "/again";
const AGAIN_QUERY: &str = "again=1";
/// One request in this many is redirected.
const REDIRECTS: u64 = 3;

impl HostRules {
    /// All host rules.
    pub const ALL: [Self; 3] = [Self::Checked, Self::Permissive, Self::Literal];

    /// Returns the name in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Checked => "checked",
            Self::Permissive => "permissive",
            Self::Literal => "literal",
        }
    }

    /// Returns each of the rules in turn, for a test that covers all three.
    #[must_use]
    pub fn in_turn(number: u64) -> Self {
        match number % 3 {
            0 => Self::Checked,
            1 => Self::Permissive,
            _ => Self::Literal,
        }
    }

    /// Returns whether the rules book every readable request.
    pub(super) fn books_all(self) -> bool {
        self == Self::Permissive
    }

    /// Returns whether these are the literal rules.
    pub(super) fn is_literal(self) -> bool {
        self == Self::Literal
    }

    /// Returns an amount for an answer, exactly, as text or as a JSON number.
    pub(super) fn amount(self, id: &str, amount: &str) -> Value {
        let number = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_number);
        let bare = || amount.strip_suffix(".00").unwrap_or(amount);
        match (self, digit(id, 0) % 4) {
            (Self::Literal, 1) => number(amount).unwrap_or_else(|| json!(amount)),
            (Self::Literal, 3) => number(bare()).unwrap_or_else(|| json!(amount)),
            _ => json!(amount),
        }
    }

    /// Converts upper-case hexadecimal to the letter case of an answer.
    pub(super) fn hex(self, id: &str, upper: &str) -> String {
        if self.is_literal() && digit(id, 1).is_multiple_of(2) { upper.to_ascii_lowercase() } else { upper.to_owned() }
    }

    /// Returns the meaning of "letter".
    pub(super) fn spelling(self) -> Spelling {
        if self.is_literal() { Spelling::Literal } else { Spelling::Usual }
    }

    /// Returns the original request, without the marks of our redirect.
    pub(super) fn arrived<'a>(self, path: &'a str, query: &'a str) -> ArrivedRequest<'a> {
        if self.is_literal() {
            if let Some(path) = path.strip_prefix(AGAIN_PATH).filter(|path| path.starts_with('/')) {
                return ArrivedRequest { path, query, again: true };
            }
            if let Some(before) = query.strip_suffix(AGAIN_QUERY)
                && (before.is_empty() || before.ends_with('&'))
            {
                return ArrivedRequest { path, query: before.strip_suffix('&').unwrap_or(before), again: true };
            }
        }
        ArrivedRequest { path, query, again: false }
    }
}

/// A request without the marks of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrivedRequest<'a> {
    pub path: &'a str,
    pub query: &'a str,
    /// True if the request was already redirected; it is not redirected again.
    pub again: bool,
}

/// The counter of requests that may be redirected.
#[derive(Debug, Default)]
pub(super) struct Redirects {
    asked: u64,
}

impl Redirects {
    /// Returns the redirect address for this request, if it is the first one or every third after it. The mark is in
    /// the path or, for a request without body, in the query. Some addresses include the host. All lead to the same
    /// resource.
    pub(super) fn next(&mut self, method: &Method, arrived: ArrivedRequest<'_>, headers: &HeaderMap) -> Option<String> {
        if arrived.again {
            return None;
        }
        let asked = self.asked;
        self.asked += 1;
        if !asked.is_multiple_of(REDIRECTS) {
            return None;
        }
        let nth = asked / REDIRECTS;
        Some(redirect_target(
            arrived,
            nth % 2 == 1 && method != Method::POST,
            host(headers).filter(|_| nth / 2 % 2 == 1),
        ))
    }
}

/// Returns an address that leads to the same resource.
pub(super) fn redirect_target(arrived: ArrivedRequest<'_>, by_query: bool, host: Option<&str>) -> String {
    let ArrivedRequest { path, query, .. } = arrived;
    let mut to = host.map_or_else(String::new, |host| format!("https://{host}"));
    let (before, mark) = if by_query { ("", AGAIN_QUERY) } else { (AGAIN_PATH, "") };
    let _ = write!(to, "{before}{path}");
    for (n, part) in [query, mark].into_iter().filter(|part| !part.is_empty()).enumerate() {
        let _ = write!(to, "{}{part}", if n == 0 { '?' } else { '&' });
    }
    to
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

/// Returns a hexadecimal digit that is derived from an id.
fn digit(id: &str, n: usize) -> u32 {
    id.chars().nth(n).and_then(|c| c.to_digit(16)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_in_every_form() {
        let all = |host_rules: HostRules, amount: &str| -> Vec<String> {
            ["0a", "1a", "2a", "3a"].iter().map(|id| host_rules.amount(id, amount).to_string()).collect()
        };
        assert_eq!(all(HostRules::Checked, "12.30"), ["\"12.30\""; 4]);
        assert_eq!(all(HostRules::Literal, "12.34"), ["\"12.34\"", "12.34", "\"12.34\"", "12.34"]);
        assert_eq!(all(HostRules::Literal, "10.00"), ["\"10.00\"", "10.0", "\"10.00\"", "10"]);
        assert_eq!(all(HostRules::Literal, "9999999999.99")[1], "9999999999.99");
        assert_eq!(all(HostRules::Literal, "0.01")[3], "0.01");
        let hex: Vec<String> = ["00", "01"].iter().map(|id| HostRules::Literal.hex(id, "8A023030")).collect();
        assert_eq!(hex, ["8a023030", "8A023030"]);
    }

    #[test]
    fn a_redirect_leads_to_the_same_and_is_not_redirected() {
        let mut redirects = Redirects::default();
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost:8443".parse().unwrap());
        let asked = HostRules::Literal.arrived("/v1/query", "limit=100");
        let mut next = |asked| redirects.next(&Method::GET, asked, &headers);
        let went: Vec<Option<String>> = (0..12).map(|_| next(asked)).collect();
        let to: Vec<&str> = went.iter().flatten().map(String::as_str).collect();
        let expected = [
            "/again/v1/query?limit=100",
            "/v1/query?limit=100&again=1",
            "https://localhost:8443/again/v1/query?limit=100",
            "https://localhost:8443/v1/query?limit=100&again=1",
        ];
        assert_eq!(to, expected);
        assert!((0..12).all(|n| went[n].is_some() == (n % 3 == 0)), "{went:?}");
        for to in expected {
            let (path, query) = to.trim_start_matches("https://localhost:8443").split_once('?').unwrap();
            let arrived = HostRules::Literal.arrived(path, query);
            assert_eq!(arrived, ArrivedRequest { path: "/v1/query", query: "limit=100", again: true });
            assert!((0..6).all(|_| next(arrived).is_none()));
            assert!(!HostRules::Checked.arrived(path, query).again);
        }
        let bare = HostRules::Literal.arrived("/v1/payments", "again=1");
        assert_eq!(bare, ArrivedRequest { path: "/v1/payments", query: "", again: true });
        assert!(!HostRules::Literal.arrived("/v1/payments", "limit=again=1").again);
        let post = HostRules::Literal.arrived("/v1/payments", "");
        assert!((0..9).filter_map(|_| redirects.next(&Method::POST, post, &headers)).all(|to| !to.contains('?')));
    }
}
