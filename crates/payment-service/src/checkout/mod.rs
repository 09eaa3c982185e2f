//! Checkouts of the hosted widget: made by the merchant's server, paid by the shopper's browser, asked for by the
//! server again (behaviour: States and transitions, Endpoints, Hosted widget usage, Fast checkout, Limits).
//!
//! ```text
//!  merchant's server ── POST /v1/checkouts ─────────────▶ an id for 30 minutes
//!  shopper's browser ── POST /checkouts/{id}/payment ───▶ the shopper's data beside the server's: one payment
//!  merchant's server ── GET /checkouts/{id}/payment ────▶ what became of it
//!                    ◀── GET shopperResultUrl?resourcePath=… ── after 29 minutes, when nobody has asked
//! ```
//!
//! Where the interface is silent, this is assumed:
//!
//! - `POST /v1/checkouts` makes one, and `POST /v1/checkouts/{id}` changes it until something was submitted. What its
//!   server has said the shopper's browser cannot change; a name that it sends
//!   as well must have the same value. Amount, currency and type are the server's alone.
//! - A checkout with `createRegistration` and without amount, currency and type stores payment data and pays nothing:
//!   it is served at `/registration`, all others at `/payment`.
//! - One payment for each checkout, approved, declined or pending. What was not processed (refused, throttled, a server
//!   that failed before) leaves it open.
//! - What the browser sends must come from a page of the origin of `shopperResultUrl`: of the one that the checkout was
//!   made with, else of the one that the widget sends (the action of the merchant's form). It carries no token.
//! - What the browser is (`customer.browser.*`) counts when the server has said whose it is: any field of a customer
//!   comes with a name. A card that takes part in 3-D Secure cannot do without.
//! - Before anything was paid the server is told `000.200.100`; an expired checkout is `200.300.404`.
//! - The 29 minutes begin with the submission (behaviour: Events). Where the id ends before they do, [`LateShopCall`]
//!   says what happens. The call is made once, its answer is not looked at, and no redirect is followed.
//! - Checkouts are in memory: they live half an hour, and what was paid is in the books.
//!
//! [`LateShopCall`]: super::LateShopCall

mod create;
mod origin;
pub(crate) mod reminder;
mod sheet;
pub(crate) mod submit;

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::options::LateShopCall;
use super::redirect::with_query;
use super::refusal::{Refusal, rule};

/// How long an id is valid (behaviour: Limits).
const VALID: TimeDelta = TimeDelta::minutes(30);
/// When the shop is called that has not asked (behaviour: Limits).
const REMINDED_AFTER: TimeDelta = TimeDelta::minutes(29);
/// Checkouts that are kept; an expired one makes room for a new one.
const MOST: usize = 10_000;
/// Names and values that are kept of all of them, in bytes: 6 kB for each of the most, or 16 of the longest forms.
const MOST_BYTES: usize = 64 << 20;

/// Said of a checkout that waits for its shopper. Which code says so is not documented.
const CREATED: (&str, &str) = ("000.200.100", "successfully created checkout");

// Which code says so is not documented.
const USED_UP: Refusal =
    rule("id", "700.300.700", "this checkout was used: there is one payment for each, make another");

/// What a checkout is for: the last word of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Payment,
    Registration,
}

impl Purpose {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::Registration => "registration",
        }
    }
}

/// A checkout.
struct Checkout {
    id: String,
    purpose: Purpose,
    created: DateTime<Utc>,
    /// What the server has said about it.
    pairs: Vec<(String, String)>,
    /// What the shopper's browser has sent.
    submitted: Option<Submitted>,
}

/// A checkout that was used.
struct Submitted {
    at: DateTime<Utc>,
    /// Where the shopper comes back to.
    shopper_result_url: String,
    result: Submission,
    /// The server has asked, or was called.
    fetched: bool,
}

/// What it was used for.
enum Submission {
    /// The payment with this id.
    Payment(String),
    /// The answer about what was stored.
    Registration(Value),
}

/// All checkouts.
#[derive(Default)]
pub(super) struct Checkouts {
    known: HashMap<String, Checkout>,
    /// The ids in the order of their making.
    order: VecDeque<String>,
    bytes: usize,
}

/// A call that is due: where to, and about which checkout.
struct ShopCall {
    shopper_result_url: String,
    resource_path: String,
}

impl Checkout {
    fn path(&self) -> String {
        format!("/v1/checkouts/{}/{}", self.id, self.purpose.as_str())
    }

    fn is_expired(&self, now: DateTime<Utc>) -> bool {
        now - self.created >= VALID
    }

    /// What the server has said by this name.
    fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn bytes(&self) -> usize {
        self.pairs.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// When the shop is called, unless it asks before.
    fn reminded_at(&self, late: LateShopCall) -> Option<DateTime<Utc>> {
        let submitted = self.submitted.as_ref().filter(|submitted| !submitted.fetched)?;
        let (due, last_minute) = (submitted.at + REMINDED_AFTER, self.created + REMINDED_AFTER);
        match late {
            _ if due < self.created + VALID => Some(due),
            LateShopCall::After => Some(due),
            LateShopCall::Before => Some(last_minute.max(submitted.at)),
            LateShopCall::Never => None,
        }
    }
}

impl Submitted {
    /// The shopper's way back, with the checkout.
    fn back(&self, checkout: &Checkout) -> String {
        with_query(&self.shopper_result_url, &[("id", &checkout.id), ("resourcePath", &checkout.path())])
    }
}

impl Checkouts {
    /// Keeps a new one; false when there are too many that live.
    fn keep(&mut self, new: Checkout, now: DateTime<Utc>) -> bool {
        let weight = new.bytes();
        while self.known.len() >= MOST || self.bytes.saturating_add(weight) > MOST_BYTES {
            let oldest = self.order.front().and_then(|id| self.known.get(id));
            if !oldest.is_some_and(|oldest| oldest.is_expired(now)) {
                return false;
            }
            if let Some(gone) = self.order.pop_front().and_then(|id| self.known.remove(&id)) {
                self.bytes = self.bytes.saturating_sub(gone.bytes());
            }
        }
        self.bytes = self.bytes.saturating_add(weight);
        self.order.push_back(new.id.clone());
        self.known.insert(new.id.clone(), new);
        true
    }

    /// Says something else of one; false when there is no room for it.
    fn replace(&mut self, id: &str, pairs: Vec<(String, String)>) -> bool {
        let Some(checkout) = self.known.get_mut(id) else { return false };
        let others = self.bytes.saturating_sub(checkout.bytes());
        let weight: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
        let fits = others.saturating_add(weight) <= MOST_BYTES;
        if fits {
            checkout.pairs = pairs;
            self.bytes = others + weight;
        }
        fits
    }

    fn find(&self, id: &str) -> Option<&Checkout> {
        self.known.get(id)
    }

    fn find_mut(&mut self, id: &str) -> Option<&mut Checkout> {
        self.known.get_mut(id)
    }

    /// Whether there is one with this id that a page may still load the script for.
    pub(super) fn is_open(&self, id: &str, now: DateTime<Utc>) -> Option<bool> {
        self.find(id).map(|checkout| !checkout.is_expired(now))
    }

    /// Takes the calls that are due, so many at most; each is made once.
    fn take_due(&mut self, now: DateTime<Utc>, late: LateShopCall, most: usize) -> Vec<ShopCall> {
        let mut due = Vec::new();
        for checkout in self.known.values_mut() {
            if due.len() == most {
                break;
            }
            if checkout.reminded_at(late).is_none_or(|at| at > now) {
                continue;
            }
            let resource_path = checkout.path();
            if let Some(submitted) = &mut checkout.submitted {
                submitted.fetched = true;
                due.push(ShopCall { shopper_result_url: submitted.shopper_result_url.clone(), resource_path });
            }
        }
        due
    }

    /// When the next call is due.
    fn next_due(&self, late: LateShopCall) -> Option<DateTime<Utc>> {
        self.known.values().filter_map(|checkout| checkout.reminded_at(late)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout(id: usize, created: DateTime<Utc>, bytes: usize) -> Checkout {
        let pairs = vec![("merchantMemo".to_owned(), "x".repeat(bytes))];
        Checkout { id: format!("{id:032}"), purpose: Purpose::Payment, created, pairs, submitted: None }
    }

    #[test]
    fn an_address_keeps_its_query_and_its_fragment() {
        let more = [("id", "A.b-c"), ("resourcePath", "/v1/x")];
        for (url, with) in [
            ("https://shop.test/result", "https://shop.test/result?id=A.b-c&resourcePath=%2Fv1%2Fx"),
            ("https://shop.test/r?cart=7", "https://shop.test/r?cart=7&id=A.b-c&resourcePath=%2Fv1%2Fx"),
            ("https://shop.test/#done", "https://shop.test/?id=A.b-c&resourcePath=%2Fv1%2Fx#done"),
        ] {
            assert_eq!(with_query(url, &more), with);
        }
    }

    #[test]
    fn only_expired_ones_make_room() {
        let start = Utc::now();
        let mut all = Checkouts::default();
        let half = MOST_BYTES / 2;
        assert!(all.keep(checkout(0, start, half - 100), start));
        assert!(all.keep(checkout(1, start + TimeDelta::minutes(5), half - 100), start));
        assert!(!all.keep(checkout(2, start, 1000), start + TimeDelta::minutes(29)));
        assert!(all.keep(checkout(2, start, 1000), start + TimeDelta::minutes(30)));
        assert!(all.find(&format!("{:032}", 0)).is_none() && all.find(&format!("{:032}", 1)).is_some());
        let mut all = Checkouts::default();
        assert!((0..MOST).all(|id| all.keep(checkout(id, start, 0), start)));
        assert!(!all.keep(checkout(MOST, start, 0), start));
        assert!(all.keep(checkout(MOST, start, 0), start + VALID));
        assert_eq!((all.known.len(), all.order.len()), (MOST, MOST));
    }

    #[test]
    fn the_shop_is_called_once_and_only_when_it_has_not_asked() {
        let start = Utc::now();
        let at = |minutes| start + TimeDelta::minutes(minutes);
        let with = |fetched, submitted_after| {
            let mut all = Checkouts::default();
            let mut checkout = checkout(1, start, 1);
            checkout.submitted = Some(Submitted {
                at: at(submitted_after),
                shopper_result_url: "https://shop.test/".to_owned(),
                result: Submission::Payment(String::new()),
                fetched,
            });
            all.keep(checkout, start);
            all
        };
        let (after, before, never) = (LateShopCall::After, LateShopCall::Before, LateShopCall::Never);
        let mut all = with(false, 3);
        assert_eq!(all.next_due(after), Some(at(32)));
        assert_eq!((all.next_due(before), all.next_due(never)), (Some(at(29)), None));
        assert!(all.take_due(at(31), after, 9).is_empty());
        assert!(all.take_due(at(32), after, 0).is_empty());
        assert_eq!(all.take_due(at(32), after, 9).len(), 1);
        assert!(all.take_due(at(33), after, 9).is_empty() && all.next_due(after).is_none());
        assert!(with(true, 3).take_due(at(99), after, 9).is_empty());
        // Submitted at once: the id still lives, and the setting says nothing.
        assert!(LateShopCall::ALL.into_iter().all(|late| with(false, 0).next_due(late) == Some(at(29))));
        // Paid in its last minute: at once.
        assert_eq!(with(false, 29).next_due(before), Some(at(29)));
    }
}
