//! What path, method, token and content type mean (behaviour: Endpoints, Authentication).

use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};

use super::answer;
use super::form::Invalid;
use super::host::{Delivery, Host};
use super::refusal::Refusal;

/// A request whose token is right.
pub(super) struct Asked<'a> {
    pub method: &'a Method,
    pub path: &'a str,
    pub query: &'a [u8],
    pub headers: &'a HeaderMap,
    /// `None`: it was too long, or ended early.
    pub body: Option<&'a [u8]>,
}

/// What a path names.
enum Place<'a> {
    Payments,
    Payment(&'a str),
    Query,
    Registrations,
    Registration(&'a str),
    WithRegistration(&'a str),
}

fn place(path: &str) -> Option<Place<'_>> {
    let parts: Vec<&str> = path.strip_prefix("/v1/")?.split('/').collect();
    Some(match parts.as_slice() {
        ["payments"] => Place::Payments,
        ["payments", id] if is_id(id) => Place::Payment(id),
        ["query"] => Place::Query,
        ["registrations"] => Place::Registrations,
        ["registrations", id] if is_id(id) => Place::Registration(id),
        ["registrations", id, "payments"] if is_id(id) => Place::WithRegistration(id),
        _ => return None,
    })
}

/// Does what is asked. A method that a path does not take is an endpoint that does not exist.
pub(super) fn route(host: &mut Host, asked: &Asked<'_>) -> Delivery {
    if host.throttle.refuses(host.clock.now()) {
        return answer::throttled();
    }
    let done = match (asked.method.as_str(), place(asked.path)) {
        ("POST", Some(Place::Payments)) => form(asked).and_then(|body| host.payment(body)),
        ("POST", Some(Place::Payment(id))) => form(asked).and_then(|body| host.referencing(id, body)),
        ("GET", Some(Place::Payment(id))) => host.retrieve(id, asked.query),
        ("GET", Some(Place::Query)) => host.query(asked.query),
        ("POST", Some(Place::Registrations)) => form(asked).and_then(|body| host.register(body)),
        ("DELETE", Some(Place::Registration(id))) => host.deregister(id, asked.query),
        ("POST", Some(Place::WithRegistration(id))) => {
            form(asked).and_then(|body| host.pay_with_registration(id, body))
        }
        _ => Err(Refusal::NotFound),
    };
    done.unwrap_or_else(|refusal| host.refuse(&refusal))
}

/// The body of a request that may have one.
fn form<'a>(asked: &Asked<'a>) -> Result<&'a [u8], Refusal> {
    check_form(asked.headers, asked.query)?;
    Ok(asked.body.ok_or_else(|| Invalid::new("body", "too long, or ends early"))?)
}

/// Exactly 32 letters and digits.
fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|c| c.is_ascii_alphanumeric())
}

/// The access token (behaviour: Authentication, 2 and 5).
pub(super) fn authorized(headers: &HeaderMap, token: &str) -> Result<(), Delivery> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (sent.next(), sent.next()) else { return Err(answer::unauthorized()) };
    let said = header.to_str().ok().and_then(|value| value.split_once(' '));
    match said {
        Some((scheme, said)) if scheme.eq_ignore_ascii_case("bearer") && !said.is_empty() && !said.contains(' ') => {
            if said == token {
                Ok(())
            } else {
                Err(answer::forbidden())
            }
        }
        _ => Err(answer::unauthorized()),
    }
}

/// Request data are body parameters, form-encoded and UTF-8 (data-model: What the service does; behaviour: Authentication, 6).
fn check_form(headers: &HeaderMap, query: &[u8]) -> Result<(), Invalid> {
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
