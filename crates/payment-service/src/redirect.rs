//! Payments that end on a page of this gateway: they wait until the customer has acted there (data-model: Asynchronous
//! payments; behaviour: States and transitions). The answer to the request is pending, with `redirect.url` and
//! `redirect.parameters`. The customer's action decides the payment once, and the browser goes to `shopperResultUrl`.
//!
//! | the customer | the payment |
//! |---|---|
//! | pays, or confirms with the right password | as decided at the request (the cents choose) |
//! | cancels | declined, 100.396.101 |
//! | gives the wrong password three times | declined, 100.380.401 |
//! | does nothing until the page ends | declined, 100.396.103 |
//! | authenticates on another device (`threeDSecure.decoupled`) | as decided at the request, two minutes later |
//!
//! Where the interface is silent, this is assumed. A page lives for 30 minutes, as a checkout does. `shopperResultUrl`
//! gets `id` and `resourcePath`. A decided payment is not decided again, even if a customer opens its page later.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::entry::State;
use super::envelope::{new_id, result};
use super::form::Form;
use super::invalid::Invalid;

/// The time for which a page waits for its customer.
const LIFE: TimeDelta = TimeDelta::minutes(30);
/// The time that a customer takes to authenticate on another device.
const DECOUPLED: TimeDelta = TimeDelta::minutes(2);
/// The one-time password of every test card.
pub(super) const PASSWORD: &str = "1234";
/// The parameter with the page's token, which the answer to the request contains.
pub(super) const TOKEN: &str = "token";

const SHOPPER: &str = "shopperResultUrl";

/// The question to the customer on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// To pay from an account.
    Account,
    /// To authenticate (3-D Secure).
    Challenge,
    /// No question: the customer authenticates on another device, and the result is known when the time is over. No
    /// page is served.
    Decoupled,
}

/// The page for which a payment is to wait.
pub(super) struct RedirectPlan {
    pub kind: PageKind,
    pub result_url: String,
    /// Id and path for fetching the result, if they are not those of the payment.
    pub resource: Option<(String, String)>,
}

/// The result once the customer has paid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settlement {
    pub state: String,
    pub code: String,
    pub answer: Value,
    /// The same as `Booking::later`.
    pub later: Option<(u8, Value)>,
}

/// A payment's page.
pub(super) struct Redirect {
    pub id: String,
    /// The page's token: a browser that has it comes from the shop.
    pub token: String,
    pub payment: String,
    pub kind: PageKind,
    /// The end of the page, in seconds since 1970.
    pub until: i64,
    pub end: Option<PageEnd>,
    pub tries: u8,
    /// The address to which the browser goes at the end.
    pub back: String,
    pub settlement: Settlement,
}

/// The end of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageEnd {
    Done,
    Cancelled,
    Refused,
    Expired,
}

impl PageKind {
    pub(super) const ALL: [Self; 3] = [Self::Account, Self::Challenge, Self::Decoupled];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Challenge => "challenge",
            Self::Decoupled => "decoupled",
        }
    }
}

impl PageEnd {
    pub(super) const ALL: [Self; 4] = [Self::Done, Self::Cancelled, Self::Refused, Self::Expired];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }

    /// Returns code and description of a payment whose page ended like this; `None`: as decided at the request.
    fn result(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Done => None,
            Self::Cancelled => Some(("100.396.101", "cancelled by user")),
            Self::Refused => Some(("100.380.401", "user authentication failed")),
            Self::Expired => Some(("100.396.103", "previously pending transaction timed out")),
        }
    }
}

impl RedirectPlan {
    /// Plans the page of a payment, whose form must say where its customer returns.
    pub(super) fn new(form: &Form, kind: PageKind, resource: Option<(&str, &str)>) -> Result<Self, Invalid> {
        let nowhere = (kind == PageKind::Decoupled).then_some("");
        let result_url = form
            .get(SHOPPER)
            .or(nowhere)
            .ok_or_else(|| Invalid::new(SHOPPER, "required and not sent: the customer must return from the page"))?;
        let resource = resource.map(|(id, path)| (id.to_owned(), path.to_owned()));
        Ok(Self { kind, result_url: result_url.to_owned(), resource })
    }

    /// Makes the page itself.
    pub(super) fn opened(self, payment: &str, at: DateTime<Utc>, settlement: Settlement) -> Redirect {
        let (id, path) = self.resource.unwrap_or_else(|| (payment.to_owned(), format!("/v1/payments/{payment}")));
        Redirect {
            id: new_id(),
            token: new_id(),
            payment: payment.to_owned(),
            kind: self.kind,
            until: (at + if self.kind == PageKind::Decoupled { DECOUPLED } else { LIFE }).timestamp(),
            end: None,
            tries: 0,
            back: with_query(&self.result_url, &[("id", &id), ("resourcePath", &path)]),
            settlement,
        }
    }
}

/// Adds pairs to the query string of an address, before its fragment.
pub(super) fn with_query(url: &str, pairs: &[(&str, &str)]) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, None), |(url, fragment)| (url, Some(fragment)));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let mark = if url.contains('?') { '&' } else { '?' };
    fragment.map_or_else(|| format!("{url}{mark}{query}"), |fragment| format!("{url}{mark}{query}#{fragment}"))
}

impl Redirect {
    /// Returns the answer while the customer has not acted.
    pub(super) fn pending_answer(&self, base_url: &str) -> Value {
        let mut answer = self.settlement.answer.clone();
        for name in ["redirect", "threeDSecure", "risk"] {
            answer.as_object_mut().map(|fields| fields.remove(name));
        }
        answer["result"] = result(PENDING.0, PENDING.1);
        answer["resultDetails"].as_object_mut().map(|details| details.remove("MerchantAdviceCode"));
        if self.kind == PageKind::Decoupled {
            return answer;
        }
        answer["redirect"] = json!({
            "url": format!("{base_url}redirect/{}", self.id),
            "parameters": [{ "name": TOKEN, "value": self.token }],
        });
        answer
    }

    /// Returns the result of the payment when the page ended like this.
    pub(super) fn settled(&self, end: PageEnd) -> Settlement {
        let Some((code, description)) = end.result() else { return self.settlement.clone() };
        let mut answer = self.settlement.answer.clone();
        for name in ["registration", "registrationId", "standingInstruction", "risk"] {
            answer.as_object_mut().map(|fields| fields.remove(name));
        }
        answer["result"] = result(code, description);
        answer["resultDetails"]["AcquirerResponse"] = json!("05");
        if self.kind == PageKind::Challenge {
            answer["threeDSecure"] = json!({ "authenticationStatus": "N", "version": "2.2.0" });
        }
        Settlement { state: State::Declined.as_str().to_owned(), code: code.to_owned(), answer, later: None }
    }
}

/// Code and description while the customer has not acted.
pub(super) const PENDING: (&str, &str) = ("000.200.000", "transaction pending");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shop_is_told_where_the_result_is() {
        let path = "/v1/payments/ab";
        for (url, to) in [
            ("https://shop.test/r", "https://shop.test/r?id=ab&resourcePath=%2Fv1%2Fpayments%2Fab"),
            ("https://shop.test/r?a=b", "https://shop.test/r?a=b&id=ab&resourcePath=%2Fv1%2Fpayments%2Fab"),
            ("https://shop.test/r#top", "https://shop.test/r?id=ab&resourcePath=%2Fv1%2Fpayments%2Fab#top"),
        ] {
            assert_eq!(with_query(url, &[("id", "ab"), ("resourcePath", path)]), to);
        }
    }
}
