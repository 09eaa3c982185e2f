//! Checkouts of the hosted widget. The merchant's server creates a checkout, the shopper's browser pays it, and the
//! server asks for the outcome (behaviour: States and transitions, Endpoints, Hosted widget usage, Fast checkout,
//! Limits).
//!
//! ```text
//!  merchant's server ── POST /v1/checkouts ─────────────▶ an id for 30 minutes
//!  shopper's browser ── POST /checkouts/{id}/payment ───▶ the shopper's data, added to the server's: one payment
//!  merchant's server ── GET /checkouts/{id}/payment ────▶ the outcome
//!                    ◀── GET shopperResultUrl?resourcePath=… ── after 29 minutes, if the server has not asked
//! ```
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - `POST /v1/checkouts` creates a checkout, and `POST /v1/checkouts/{id}` changes it until the shopper submits the
//!   form. The shopper's browser cannot change the server's fields. If the browser sends the same parameter, its value
//!   must be the same. Only the server sets amount, currency and type.
//! - A checkout with `createRegistration` and without amount, currency and type stores payment data and pays nothing.
//!   Its path ends with `/registration`; all others end with `/payment`.
//! - Each checkout makes one payment: approved, declined or pending. If a submission was not processed (refused,
//!   throttled, or the server failed first), the checkout stays open.
//! - A submission must come from a page with the origin of `shopperResultUrl`. This is the URL in the checkout or,
//!   without one, the URL that the widget sends (the action of the merchant's form). A submission has no token.
//! - The gateway uses the browser's data (`customer.browser.*`) only if the server has sent the customer's name,
//!   because every customer field requires a name. A card enrolled in 3-D Secure needs the browser's data.
//! - Before a payment, the server gets `000.200.100`. For an expired checkout it gets `200.300.404`.
//! - The 29 minutes begin with the submission (behaviour: Events). [`LateShopCall`] says what happens if the id expires
//!   earlier. The gateway calls once, ignores the answer, and follows no redirect.
//! - Checkouts are kept in memory, because they are valid for only half an hour. The books hold the payments.
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

/// The time for which an id is valid (behaviour: Limits).
const VALID: TimeDelta = TimeDelta::minutes(30);
/// The time after which the gateway calls a shop that has not asked (behaviour: Limits).
const REMINDED_AFTER: TimeDelta = TimeDelta::minutes(29);
/// The maximum number of checkouts. When it is reached, a new checkout replaces an expired one.
const MOST: usize = 10_000;
/// The maximum size of the names and values of all checkouts together, in bytes. It allows 6 kB for each checkout, or
/// 16 of the longest forms.
const MOST_BYTES: usize = 64 << 20;

/// The result of a checkout whose shopper has not submitted it. The interface does not document the code.
const CREATED: (&str, &str) = ("000.200.100", "successfully created checkout");

// The interface does not document the code for this refusal.
const USED_UP: Refusal = rule("id", "700.300.700", "this checkout has been used: a checkout pays once; create another");

/// The purpose of a checkout, which is the last word of its path.
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
    /// The fields that the server has sent.
    pairs: Vec<(String, String)>,
    /// The submission of the shopper's browser.
    submitted: Option<Submitted>,
}

/// The submission of a checkout.
struct Submitted {
    at: DateTime<Utc>,
    /// The address to which the shopper's browser returns.
    shopper_result_url: String,
    result: Submission,
    /// True if the server has asked for the outcome, or the gateway has called the shop.
    fetched: bool,
}

/// The result of a submission.
enum Submission {
    /// The payment with this id.
    Payment(String),
    /// The answer about the stored payment data.
    Registration(Value),
}

/// All checkouts.
#[derive(Default)]
pub(super) struct Checkouts {
    known: HashMap<String, Checkout>,
    /// The ids in the order of their creation.
    order: VecDeque<String>,
    bytes: usize,
}

/// A due call to a shop: its address and its checkout.
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

    /// Returns the server's value of this parameter.
    fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn bytes(&self) -> usize {
        self.pairs.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// Returns when the gateway calls the shop, unless the shop asks earlier.
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
    /// Returns the shopper's return address, with the checkout's path.
    fn back(&self, checkout: &Checkout) -> String {
        with_query(&self.shopper_result_url, &[("id", &checkout.id), ("resourcePath", &checkout.path())])
    }
}

impl Checkouts {
    /// Stores a new checkout; returns false if there are too many valid ones.
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

    /// Replaces the fields of a checkout; returns false if there is no room.
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

    /// Returns whether a page may still load the script for the checkout with this id.
    pub(super) fn is_open(&self, id: &str, now: DateTime<Utc>) -> Option<bool> {
        self.find(id).map(|checkout| !checkout.is_expired(now))
    }

    /// Removes and returns the due calls, up to this number. Each call is made once.
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

    /// Returns when the next call is due.
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
        // Submitted immediately. The id is still valid after 29 minutes, so the setting has no effect.
        assert!(LateShopCall::ALL.into_iter().all(|late| with(false, 0).next_due(late) == Some(at(29))));
        // Submitted in its last minute. The call is due immediately.
        assert_eq!(with(false, 29).next_due(before), Some(at(29)));
    }
}
