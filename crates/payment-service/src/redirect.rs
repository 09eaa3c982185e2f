//! Payments that wait until the customer has acted on a page of this gateway (data-model: Asynchronous payments;
//! behaviour: States and transitions). The answer to the request is pending, with `redirect.url` and
//! `redirect.parameters`. The customer's action decides the payment once, and the browser goes to `shopperResultUrl`.
//!
//! | the customer | the payment |
//! |---|---|
//! | pays, or confirms with the right password | gets the result chosen at the request (by the cents) |
//! | cancels | is declined, 100.396.101 |
//! | gives a wrong password three times | is declined, 100.380.401 |
//! | does nothing until the page ends | is declined, 100.396.103 |
//! | authenticates on another device (`threeDSecure.decoupled`) | gets the result chosen at the request, two minutes later |
//!
//! Where the interface is silent, the gateway assumes the following. A page ends after 30 minutes, as a checkout does.
//! `shopperResultUrl` gets `id` and `resourcePath`. A decided payment is not decided again, even if a customer opens
//! its page later.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::entry::State;
use super::envelope::{new_id, result};
use super::form::Form;
use super::invalid::Invalid;

/// The time that a page waits for its customer.
const LIFE: TimeDelta = TimeDelta::minutes(30);
/// The time that a customer needs to authenticate on another device.
const DECOUPLED: TimeDelta = TimeDelta::minutes(2);
/// The one-time password of every test card.
pub(super) const PASSWORD: &str = "1234";
/// The parameter with the page's token; the answer to the request contains the token.
pub(super) const TOKEN: &str = "token";

const SHOPPER: &str = "shopperResultUrl";

/// The request to the customer on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// The customer must pay from an account.
    Account,
    /// The customer must authenticate (3-D Secure).
    Challenge,
    /// The customer authenticates on another device, so no page is served. The result is known when the time has
    /// expired.
    Decoupled,
}

/// The page that a payment must wait for.
pub(super) struct RedirectPlan {
    pub kind: PageKind,
    pub result_url: String,
    /// The id and path for fetching the result, if they are not those of the payment.
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
    /// The page's token, which proves that a browser comes from the shop.
    pub token: String,
    pub payment: String,
    pub kind: PageKind,
    /// The time when the page ends, in seconds since 1970.
    pub until: i64,
    pub end: Option<PageEnd>,
    pub tries: u8,
    /// The address to which the browser goes when the page ends.
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

    /// Returns the code and description for a payment whose page ended in this way. `None` means the result chosen at
    /// the request.
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
    /// Plans the page of a payment. The payment's form must contain the customer's return address.
    pub(super) fn new(form: &Form, kind: PageKind, resource: Option<(&str, &str)>) -> Result<Self, Invalid> {
        let nowhere = (kind == PageKind::Decoupled).then_some("");
        let result_url = form
            .get(SHOPPER)
            .or(nowhere)
            .ok_or_else(|| Invalid::new(SHOPPER, "required and not sent: the customer must return from the page"))?;
        let resource = resource.map(|(id, path)| (id.to_owned(), path.to_owned()));
        Ok(Self { kind, result_url: result_url.to_owned(), resource })
    }

    /// Makes the page.
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

/// Adds parameters to the query string of an address, before its fragment.
pub(super) fn with_query(url: &str, pairs: &[(&str, &str)]) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, None), |(url, fragment)| (url, Some(fragment)));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let mark = if url.contains('?') { '&' } else { '?' };
    fragment.map_or_else(|| format!("{url}{mark}{query}"), |fragment| format!("{url}{mark}{query}#{fragment}"))
}

impl Redirect {
    /// Returns the answer before the customer has acted.
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

    /// Returns the payment's result when the page has ended in this way.
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

/// The code and description before the customer has acted.
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
