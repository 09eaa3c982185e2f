//! What ends on a page of ours: a payment that waits until its customer has acted there (data-model: Asynchronous
//! payments; behaviour: States and transitions). The request is answered pending, with `redirect.url` and
//! `redirect.parameters`; what the customer does settles it, once, and the browser goes to `shopperResultUrl`.
//!
//! | the customer | the payment |
//! |---|---|
//! | pays, or confirms with the right password | what was decided for it when it was asked for (the cents choose) |
//! | cancels | declined, 100.396.101 |
//! | gives the wrong password three times | declined, 100.380.401 |
//! | does nothing until the page ends | declined, 100.396.103 |
//! | proves elsewhere who they are (`threeDSecure.decoupled`) | what was decided for it, two minutes later |
//!
//! Assumed, as the interface is silent: a page lives 30 minutes, as a checkout does; `shopperResultUrl` gets `id` and
//! `resourcePath`; what has been settled is not settled again, whoever comes back.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::entry::State;
use super::envelope::{new_id, result};
use super::form::Form;
use super::invalid::Invalid;

/// How long a page waits for its customer.
const LIFE: TimeDelta = TimeDelta::minutes(30);
/// How long a customer takes who proves elsewhere who they are.
const DECOUPLED: TimeDelta = TimeDelta::minutes(2);
/// The one-time password of every test card.
pub(super) const PASSWORD: &str = "1234";
/// What the page is told by the request that was answered.
pub(super) const TOKEN: &str = "token";

const SHOPPER: &str = "shopperResultUrl";

/// What the customer is asked on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// To pay from an account.
    Account,
    /// To prove who they are (3-D Secure).
    Challenge,
    /// Nothing here: they prove it elsewhere, and it is known when the time is over. No page is served.
    Decoupled,
}

/// What a payment wants to wait for.
pub(super) struct RedirectPlan {
    pub kind: PageKind,
    pub result_url: String,
    /// Where the result is fetched when that is not the payment itself: id and path.
    pub resource: Option<(String, String)>,
}

/// What is known when the customer has paid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settlement {
    pub state: String,
    pub code: String,
    pub answer: Value,
    /// As `Booking::later`.
    pub later: Option<(u8, Value)>,
}

/// A payment's page.
pub(super) struct Redirect {
    pub id: String,
    /// Whoever knows it comes from the shop.
    pub token: String,
    pub payment: String,
    pub kind: PageKind,
    /// Seconds since 1970.
    pub until: i64,
    pub end: Option<PageEnd>,
    pub tries: u8,
    /// Where the browser goes when all is done.
    pub back: String,
    pub settlement: Settlement,
}

/// How a page ended.
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

    /// Code and description of a payment that ended so; `None`: as it was decided.
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
    /// The page of a payment, which has to say where its customer comes back to.
    pub(super) fn new(form: &Form, kind: PageKind, resource: Option<(&str, &str)>) -> Result<Self, Invalid> {
        let nowhere = (kind == PageKind::Decoupled).then_some("");
        let result_url = form.get(SHOPPER).or(nowhere).ok_or_else(|| {
            Invalid::new(SHOPPER, "required and not sent: the customer is sent to a page, and has to come back")
        })?;
        let resource = resource.map(|(id, path)| (id.to_owned(), path.to_owned()));
        Ok(Self { kind, result_url: result_url.to_owned(), resource })
    }

    /// The page itself.
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

/// An address with more in its query string, before its fragment.
pub(super) fn with_query(url: &str, pairs: &[(&str, &str)]) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, None), |(url, fragment)| (url, Some(fragment)));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let mark = if url.contains('?') { '&' } else { '?' };
    fragment.map_or_else(|| format!("{url}{mark}{query}"), |fragment| format!("{url}{mark}{query}#{fragment}"))
}

impl Redirect {
    /// What is answered while nobody has acted.
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

    /// What became of the payment when the page ended so.
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

/// Code and description while nobody has acted.
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
