//! Routes requests by path, method, token and content type (behaviour: Endpoints, Authentication).
//!
//! A request needs an existing endpoint, exactly one bearer token and a UTF-8 form. The address of a POST must not have
//! parameters. Other headers are ignored. The check of the form compares its entity with the token's entity.

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

/// A request that has passed the token check.
pub(super) struct RouteRequest<'a> {
    pub method: &'a Method,
    pub arrived: ArrivedRequest<'a>,
    pub headers: &'a HeaderMap,
    /// The body; `None` if it was too long or ended early.
    pub body: Option<&'a [u8]>,
}

/// The call that method and path identify.
enum ServiceCall<'a> {
    Pay,
    FollowUp(&'a str),
    Retrieve(&'a str),
    /// Has its parameters in the query string or in the body.
    Query,
    QueryByBody,
    Report(Report),
    RegisterWebhook,
    ListWebhooks,
    RemoveWebhook(&'a str),
    ShowSchedule(&'a str),
    Reschedule(&'a str),
    CancelSchedule(&'a str),
    /// Sets the clock forward; only the simulator has this call.
    SetClock,
    Register,
    Deregister(&'a str),
    PayStored(&'a str),
    CreateCheckout,
    UpdateCheckout(&'a str),
    /// Comes from the widget in a shopper's browser.
    Submit(&'a str, Purpose),
    CheckoutResult(&'a str, Purpose),
    /// Returns the shopper from a page of a bank or provider.
    Return(&'a str),
    Script,
    Integrity,
    /// Returns the amount and the token of a simulated wallet.
    Sheet,
    /// Returns a file that the script loads.
    Asset(&'a str),
    /// Answers a browser's preflight request.
    Preflight,
}

/// Returns the call. A method that a path does not support is treated as an unknown endpoint.
fn operation<'a>(method: &Method, path: &'a str, literal: bool) -> Option<ServiceCall<'a>> {
    if !literal && (method.as_str(), path) == ("POST", CLOCK) {
        return Some(ServiceCall::SetClock);
    }
    // The paths of a checkout also work without the version (behaviour: Endpoints).
    let bare = || path.strip_prefix('/').filter(|path| path.starts_with("checkouts/"));
    let parts: Vec<&str> = path.strip_prefix("/v1/").or_else(bare)?.split('/').collect();
    Some(match (method.as_str(), parts.as_slice()) {
        ("POST", ["payments"]) => ServiceCall::Pay,
        ("POST", ["payments", id]) if is_id(id) => ServiceCall::FollowUp(id),
        ("GET", ["payments", id]) if is_id(id) => ServiceCall::Retrieve(id),
        ("GET", ["query"]) => ServiceCall::Query,
        ("POST", ["query"]) => ServiceCall::QueryByBody,
        ("POST", ["webhooks"]) => ServiceCall::RegisterWebhook,
        ("GET", ["webhooks"]) => ServiceCall::ListWebhooks,
        ("DELETE", ["webhooks", id]) if is_id(id) => ServiceCall::RemoveWebhook(id),
        ("GET", ["schedules", id]) if is_id(id) => ServiceCall::ShowSchedule(id),
        ("POST", ["schedules", id]) if is_id(id) => ServiceCall::Reschedule(id),
        ("DELETE", ["schedules", id]) if is_id(id) => ServiceCall::CancelSchedule(id),
        ("GET", ["reports", "transactions"]) => ServiceCall::Report(Report::Transactions),
        ("GET", ["reports", "reconciliations"]) => ServiceCall::Report(Report::Reconciliations),
        ("POST", ["registrations"]) => ServiceCall::Register,
        ("DELETE", ["registrations", id]) if is_id(id) => ServiceCall::Deregister(id),
        ("POST", ["registrations", id, "payments"]) if is_id(id) => ServiceCall::PayStored(id),
        ("POST", ["checkouts"]) => ServiceCall::CreateCheckout,
        ("POST", ["checkouts", id]) if is_checkout(id) => ServiceCall::UpdateCheckout(id),
        ("POST", ["checkouts", id, what]) if is_checkout(id) => ServiceCall::Submit(id, purpose(what)?),
        ("GET", ["checkouts", id, "return"]) if is_checkout(id) => ServiceCall::Return(id),
        ("GET", ["checkouts", id, what]) if is_checkout(id) => ServiceCall::CheckoutResult(id, purpose(what)?),
        ("OPTIONS", ["checkouts", _, what]) if purpose(what).is_some() => ServiceCall::Preflight,
        ("GET", ["paymentWidgets.js"]) => ServiceCall::Script,
        ("GET", ["fastcheckout", "integrity"]) => ServiceCall::Integrity,
        ("GET", ["widget", "wallet"]) => ServiceCall::Sheet,
        ("GET", ["widget", name]) => ServiceCall::Asset(name),
        _ => return None,
    })
}

fn purpose(word: &str) -> Option<Purpose> {
    [Purpose::Payment, Purpose::Registration].into_iter().find(|purpose| purpose.as_str() == word)
}

/// Returns whether a request comes from a shopper's browser, which has no access token. The hash of the script is not
/// secret, but literal rules require a token for it (behaviour: Authentication, 2).
pub(super) fn is_for_shoppers(method: &Method, path: &str, headers: &HeaderMap, literal: bool) -> bool {
    match operation(method, path, literal) {
        Some(
            ServiceCall::Submit(..)
            | ServiceCall::Return(_)
            | ServiceCall::Script
            | ServiceCall::Sheet
            | ServiceCall::Asset(_)
            | ServiceCall::Preflight,
        ) => true,
        Some(ServiceCall::Integrity) => !literal && !headers.contains_key(AUTHORIZATION),
        _ => false,
    }
}

/// Returns whether a request sets the clock forward.
pub(super) fn is_of_clock(path: &str) -> bool {
    path == CLOCK
}

/// The path that sets the clock; only the simulator has it.
const CLOCK: &str = "/simulator/clock";

/// The header for answers that every page may read. Such a request has neither token nor cookie. The origin of the page
/// decides whether it may pay.
pub(super) const FOR_ANY_PAGE: (HeaderName, HeaderValue) = (ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));

impl ServiceCall<'_> {
    /// Returns the name of the operation, by which requests are counted (behaviour: Limits, "the number of requests to
    /// an operation").
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

/// Carries out the request.
pub(super) fn route(host: &mut Host, asked: &RouteRequest<'_>) -> Delivery {
    let literal = host.host_rules().is_literal();
    let operation = operation(asked.method, asked.arrived.path, literal);
    match operation {
        Some(ServiceCall::Asset(name)) => return widget::asset(name).unwrap_or_else(refusal::not_found),
        Some(ServiceCall::Preflight) => return widget::preflight(),
        _ => {}
    }
    if literal && operation.is_some() {
        host.again = asked.arrived.again;
        if let Some(redirect_target) = host.redirects.next(asked.method, asked.arrived, asked.headers) {
            return Delivery::Redirect(redirect_target);
        }
    }
    let together = if literal { operation.as_ref().map(ServiceCall::name) } else { Some("all") };
    if together.is_some_and(|name| host.throttle.refuses(name, host.clock.now())) {
        return refusal::throttled();
    }
    let query = asked.arrived.query.as_bytes();
    let done = match operation {
        Some(ServiceCall::Pay) => form(asked).and_then(|body| host.payment(body)),
        Some(ServiceCall::FollowUp(id)) => form(asked).and_then(|body| host.follow_up(id, body)),
        Some(ServiceCall::Retrieve(id)) => host.retrieve(id, query),
        Some(ServiceCall::Query) => host.query(query),
        Some(ServiceCall::QueryByBody) => form(asked).and_then(|body| host.query(body)),
        Some(ServiceCall::Report(report)) => host.report(report, query, accepts_csv(asked.headers)),
        Some(ServiceCall::RegisterWebhook) => form(asked).and_then(|body| host.register_webhook(body)),
        Some(ServiceCall::ListWebhooks) => host.list_webhooks(query),
        Some(ServiceCall::RemoveWebhook(id)) => host.remove_webhook(id, query),
        Some(ServiceCall::ShowSchedule(id)) => host.show_schedule(id, query),
        Some(ServiceCall::Reschedule(id)) => form(asked).and_then(|body| host.reschedule(id, body)),
        Some(ServiceCall::CancelSchedule(id)) => host.cancel_schedule(id, query),
        Some(ServiceCall::SetClock) => form(asked).and_then(|body| host.set_clock(body)),
        Some(ServiceCall::Register) => form(asked).and_then(|body| host.register(body)),
        Some(ServiceCall::Deregister(id)) => host.deregister(id, query),
        Some(ServiceCall::PayStored(id)) => form(asked).and_then(|body| host.pay_with_registration(id, body)),
        Some(ServiceCall::CreateCheckout) => form(asked).and_then(|body| host.create_checkout(body)),
        Some(ServiceCall::UpdateCheckout(id)) => form(asked).and_then(|body| host.update_checkout(id, body)),
        Some(ServiceCall::Submit(id, purpose)) => {
            form(asked).and_then(|body| host.submit(id, purpose, asked.headers, body))
        }
        Some(ServiceCall::CheckoutResult(id, purpose)) => host.checkout_result(id, purpose, query),
        Some(ServiceCall::Return(id)) => host.shopper_returns(id, asked.headers),
        Some(ServiceCall::Script) => host.script(query),
        Some(ServiceCall::Sheet) => host.wallet_sheet(query),
        Some(ServiceCall::Integrity) => Ok(widget::integrity_answer()),
        Some(ServiceCall::Asset(_) | ServiceCall::Preflight) | None => Err(Refusal::NotFound),
    };
    done.unwrap_or_else(|refusal| host.refuse(&refusal))
}

/// Returns whether the client asks for a report as a file.
fn accepts_csv(headers: &HeaderMap) -> bool {
    let said = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    said.split(',').any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "text/csv"))
}

/// Returns the body if the request may have one.
fn form<'a>(asked: &RouteRequest<'a>) -> Result<&'a [u8], Refusal> {
    check_form(asked.headers, asked.arrived.query)?;
    Ok(asked.body.ok_or_else(|| Invalid::new("body", "too long, or ends early"))?)
}

/// Returns whether the id has 32 to 48 letters, digits, dots and hyphens.
fn is_checkout(id: &str) -> bool {
    (32..=48).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-'))
}

/// Returns whether the id has exactly 32 letters and digits.
fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|c| c.is_ascii_alphanumeric())
}

/// Checks the access token (behaviour: Authentication, 2 and 5).
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

/// Checks that the data are form-encoded UTF-8 parameters in the body (data-model: What the service does; behaviour:
/// Authentication, 6).
fn check_form(headers: &HeaderMap, query: &str) -> Result<(), Invalid> {
    if !query.is_empty() {
        return Err(Invalid::new("query string", "parameters of a POST belong in its body"));
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
