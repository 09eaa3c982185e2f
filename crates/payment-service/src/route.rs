//! What path, method, token and content type mean (behaviour: Endpoints, Authentication).
//!
//! Checked: that the endpoint exists, one bearer token, a form in UTF-8, and no parameters in the address of a POST. No
//! other header is looked at; whether the entity belongs to the token is checked with the form.

use hyper::Method;
use hyper::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};

use super::checkout::Purpose;
use super::delivery::Delivery;
use super::host::Host;
use super::host_rules::ArrivedRequest;
use super::invalid::Invalid;
use super::refusal::{self, Refusal};
use super::reports::Report;
use super::widget;

/// A request whose token is right.
pub(super) struct RouteRequest<'a> {
    pub method: &'a Method,
    pub arrived: ArrivedRequest<'a>,
    pub headers: &'a HeaderMap,
    /// `None`: it was too long, or ended early.
    pub body: Option<&'a [u8]>,
}

/// What a method and a path name.
enum Operation<'a> {
    Pay,
    FollowUp(&'a str),
    Retrieve(&'a str),
    /// With its parameters in the query string, or in the body.
    Query,
    QueryByBody,
    Report(Report),
    RegisterWebhook,
    ListWebhooks,
    RemoveWebhook(&'a str),
    ShowSchedule(&'a str),
    Reschedule(&'a str),
    CancelSchedule(&'a str),
    /// Of the simulator alone: its clock is put forward.
    SetClock,
    Register,
    Deregister(&'a str),
    PayStored(&'a str),
    CreateCheckout,
    UpdateCheckout(&'a str),
    /// By the widget, in a shopper's browser.
    Submit(&'a str, Purpose),
    CheckoutResult(&'a str, Purpose),
    /// A shopper comes back from a page that they were sent to.
    Return(&'a str),
    Script,
    Integrity,
    /// The amount and the token of a simulated wallet.
    Sheet,
    /// What the script loads.
    Asset(&'a str),
    /// A browser asks whether it may ask.
    Preflight,
}

/// A method that a path does not take is an endpoint that does not exist.
fn operation<'a>(method: &Method, path: &'a str, literal: bool) -> Option<Operation<'a>> {
    if !literal && (method.as_str(), path) == ("POST", CLOCK) {
        return Some(Operation::SetClock);
    }
    // The paths of a checkout are written without a version too (behaviour: Endpoints).
    let bare = || path.strip_prefix('/').filter(|path| path.starts_with("checkouts/"));
    let parts: Vec<&str> = path.strip_prefix("/v1/").or_else(bare)?.split('/').collect();
    Some(match (method.as_str(), parts.as_slice()) {
        ("POST", ["payments"]) => Operation::Pay,
        ("POST", ["payments", id]) if is_id(id) => Operation::FollowUp(id),
        ("GET", ["payments", id]) if is_id(id) => Operation::Retrieve(id),
        ("GET", ["query"]) => Operation::Query,
        ("POST", ["query"]) => Operation::QueryByBody,
        ("POST", ["webhooks"]) => Operation::RegisterWebhook,
        ("GET", ["webhooks"]) => Operation::ListWebhooks,
        ("DELETE", ["webhooks", id]) if is_id(id) => Operation::RemoveWebhook(id),
        ("GET", ["schedules", id]) if is_id(id) => Operation::ShowSchedule(id),
        ("POST", ["schedules", id]) if is_id(id) => Operation::Reschedule(id),
        ("DELETE", ["schedules", id]) if is_id(id) => Operation::CancelSchedule(id),
        ("GET", ["reports", "transactions"]) => Operation::Report(Report::Transactions),
        ("GET", ["reports", "reconciliations"]) => Operation::Report(Report::Reconciliations),
        ("POST", ["registrations"]) => Operation::Register,
        ("DELETE", ["registrations", id]) if is_id(id) => Operation::Deregister(id),
        ("POST", ["registrations", id, "payments"]) if is_id(id) => Operation::PayStored(id),
        ("POST", ["checkouts"]) => Operation::CreateCheckout,
        ("POST", ["checkouts", id]) if is_checkout(id) => Operation::UpdateCheckout(id),
        ("POST", ["checkouts", id, what]) if is_checkout(id) => Operation::Submit(id, purpose(what)?),
        ("GET", ["checkouts", id, "return"]) if is_checkout(id) => Operation::Return(id),
        ("GET", ["checkouts", id, what]) if is_checkout(id) => Operation::CheckoutResult(id, purpose(what)?),
        ("OPTIONS", ["checkouts", _, what]) if purpose(what).is_some() => Operation::Preflight,
        ("GET", ["paymentWidgets.js"]) => Operation::Script,
        ("GET", ["fastcheckout", "integrity"]) => Operation::Integrity,
        ("GET", ["widget", "wallet"]) => Operation::Sheet,
        ("GET", ["widget", name]) => Operation::Asset(name),
        _ => return None,
    })
}

fn purpose(word: &str) -> Option<Purpose> {
    [Purpose::Payment, Purpose::Registration].into_iter().find(|purpose| purpose.as_str() == word)
}

/// Whether a request comes from a shopper's browser, which has no access token. The hash of the script is no secret,
/// and the interface's letter asks for a token all the same (behaviour: Authentication, 2).
pub(super) fn is_for_shoppers(method: &Method, path: &str, headers: &HeaderMap, literal: bool) -> bool {
    match operation(method, path, literal) {
        Some(
            Operation::Submit(..)
            | Operation::Return(_)
            | Operation::Script
            | Operation::Sheet
            | Operation::Asset(_)
            | Operation::Preflight,
        ) => true,
        Some(Operation::Integrity) => !literal && !headers.contains_key(AUTHORIZATION),
        _ => false,
    }
}

/// Whether a request puts the clock forward.
pub(super) fn is_of_clock(path: &str) -> bool {
    path == CLOCK
}

/// Where the clock is set; of the simulator alone.
const CLOCK: &str = "/simulator/clock";

/// What every page may read: there is no token and no cookie in such a request, and what may be paid for is told by
/// where the page is from.
pub(super) const FOR_ANY_PAGE: (HeaderName, HeaderValue) = (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));

impl Operation<'_> {
    /// What is counted together (behaviour: Limits, "the number of requests to an operation").
    fn name(&self) -> &'static str {
        match self {
            Self::Pay => "payment",
            Self::FollowUp(_) => "follow-up",
            Self::Retrieve(_) => "retrieval",
            Self::Query | Self::QueryByBody => "query",
            Self::Report(_) => "report",
            Self::RegisterWebhook | Self::ListWebhooks | Self::RemoveWebhook(_) => "webhook",
            Self::ShowSchedule(_) | Self::Reschedule(_) | Self::CancelSchedule(_) => "schedule",
            Self::SetClock => "clock",
            Self::Register => "registration",
            Self::Deregister(_) => "deregistration",
            Self::PayStored(_) => "stored card",
            Self::CreateCheckout | Self::UpdateCheckout(_) => "checkout",
            Self::Submit(..) => "checkout payment",
            Self::CheckoutResult(..) => "checkout result",
            Self::Return(_) | Self::Script | Self::Sheet | Self::Integrity | Self::Asset(_) | Self::Preflight => {
                "widget"
            }
        }
    }
}

/// Does what is asked.
pub(super) fn route(host: &mut Host, asked: &RouteRequest<'_>) -> Delivery {
    let literal = host.host_rules().is_literal();
    let operation = operation(asked.method, asked.arrived.path, literal);
    match operation {
        Some(Operation::Asset(name)) => return widget::asset(name).unwrap_or_else(refusal::not_found),
        Some(Operation::Preflight) => return widget::preflight(),
        _ => {}
    }
    if literal && operation.is_some() {
        host.again = asked.arrived.again;
        if let Some(redirect_target) = host.redirects.next(asked.method, asked.arrived, asked.headers) {
            return Delivery::Redirect(redirect_target);
        }
    }
    let together = if literal { operation.as_ref().map(Operation::name) } else { Some("all") };
    if together.is_some_and(|name| host.throttle.refuses(name, host.clock.now())) {
        return refusal::throttled();
    }
    let query = asked.arrived.query.as_bytes();
    let done = match operation {
        Some(Operation::Pay) => form(asked).and_then(|body| host.payment(body)),
        Some(Operation::FollowUp(id)) => form(asked).and_then(|body| host.follow_up(id, body)),
        Some(Operation::Retrieve(id)) => host.retrieve(id, query),
        Some(Operation::Query) => host.query(query),
        Some(Operation::QueryByBody) => form(asked).and_then(|body| host.query(body)),
        Some(Operation::Report(report)) => host.report(report, query, accepts_csv(asked.headers)),
        Some(Operation::RegisterWebhook) => form(asked).and_then(|body| host.register_webhook(body)),
        Some(Operation::ListWebhooks) => host.list_webhooks(query),
        Some(Operation::RemoveWebhook(id)) => host.remove_webhook(id, query),
        Some(Operation::ShowSchedule(id)) => host.show_schedule(id, query),
        Some(Operation::Reschedule(id)) => form(asked).and_then(|body| host.reschedule(id, body)),
        Some(Operation::CancelSchedule(id)) => host.cancel_schedule(id, query),
        Some(Operation::SetClock) => form(asked).and_then(|body| host.set_clock(body)),
        Some(Operation::Register) => form(asked).and_then(|body| host.register(body)),
        Some(Operation::Deregister(id)) => host.deregister(id, query),
        Some(Operation::PayStored(id)) => form(asked).and_then(|body| host.pay_with_registration(id, body)),
        Some(Operation::CreateCheckout) => form(asked).and_then(|body| host.create_checkout(body)),
        Some(Operation::UpdateCheckout(id)) => form(asked).and_then(|body| host.update_checkout(id, body)),
        Some(Operation::Submit(id, purpose)) => {
            form(asked).and_then(|body| host.submit(id, purpose, asked.headers, body))
        }
        Some(Operation::CheckoutResult(id, purpose)) => host.checkout_result(id, purpose, query),
        Some(Operation::Return(id)) => host.shopper_returns(id, asked.headers),
        Some(Operation::Script) => host.script(query),
        Some(Operation::Sheet) => host.wallet_sheet(query),
        Some(Operation::Integrity) => Ok(widget::integrity_answer()),
        Some(Operation::Asset(_) | Operation::Preflight) | None => Err(Refusal::NotFound),
    };
    done.unwrap_or_else(|refusal| host.refuse(&refusal))
}

/// Whether a report is wanted as a file.
fn accepts_csv(headers: &HeaderMap) -> bool {
    let said = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    said.split(',').any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "text/csv"))
}

/// The body of a request that may have one.
fn form<'a>(asked: &RouteRequest<'a>) -> Result<&'a [u8], Refusal> {
    check_form(asked.headers, asked.arrived.query)?;
    Ok(asked.body.ok_or_else(|| Invalid::new("body", "too long, or ends early"))?)
}

/// 32 to 48 letters, digits, dots and hyphens.
fn is_checkout(id: &str) -> bool {
    (32..=48).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-'))
}

/// Exactly 32 letters and digits.
fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|c| c.is_ascii_alphanumeric())
}

/// The access token (behaviour: Authentication, 2 and 5).
pub(super) fn authorized(headers: &HeaderMap, token: &str) -> Result<(), Delivery> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (sent.next(), sent.next()) else { return Err(refusal::unauthorized()) };
    let said = header.to_str().ok().and_then(|value| value.split_once(' '));
    match said {
        Some((scheme, said)) if scheme.eq_ignore_ascii_case("bearer") && !said.is_empty() && !said.contains(' ') => {
            if said == token {
                Ok(())
            } else {
                Err(refusal::forbidden())
            }
        }
        _ => Err(refusal::unauthorized()),
    }
}

/// Request data are body parameters, form-encoded and UTF-8 (data-model: What the service does; behaviour:
/// Authentication, 6).
fn check_form(headers: &HeaderMap, query: &str) -> Result<(), Invalid> {
    if !query.is_empty() {
        return Err(Invalid::new("query string", "parameters of a POST belong into its body"));
    }
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    let mut parts = said.split(';').map(str::trim);
    let form = parts.next() == Some("application/x-www-form-urlencoded");
    let utf8 = parts.all(|parameter| matches!(parameter, "charset=utf-8" | "charset=\"utf-8\""));
    if form && utf8 {
        Ok(())
    } else {
        Err(Invalid::new("Content-Type", "must be application/x-www-form-urlencoded; charset=UTF-8"))
    }
}
