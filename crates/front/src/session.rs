//! The session of the operator who is signed in at the page. It is a cookie in the browser, and the header
//! `Pos-Session` at the agent.
//!
//! The front neither stores nor checks sessions. It stores only digests of the sessions that the agent knew. With them,
//! it counts their requests separately from those of unidentified callers. Scripts cannot read the cookie (`HttpOnly`),
//! and browsers do not send it with requests from other sites (`SameSite=Strict`). If the page uses TLS, the cookie is
//! sent only over TLS (`Secure`).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use hyper::header::{HeaderValue, SET_COOKIE};
use hyper::{Method, StatusCode};
use pos_till_api::routes::deadline_of;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::agent::{Agent, PLACE, Question, Room};
use crate::guard::Way;
use crate::problem::{Answer, Problem, empty_answer, json_answer};

/// The name of the cookie.
pub(crate) const COOKIE_NAME: &str = "pos_session";
/// The greatest length of a session in characters. The agent's sessions have 64 characters.
const LONGEST: usize = 128;
const PIN_PATIENCE: std::time::Duration = deadline_of("POST", "/v1/sessions").caller();

/// The detail of the refusal of a browser that is not paired.
pub(crate) const NOT_PAIRED: &str =
    "this browser is not paired with the terminal; on a paired one choose Terminal, Pair a device";
/// The number of remembered sessions, which is more than the number of operators who are signed in at the same time.
const REMEMBERED: usize = 64;

/// A digest that identifies a session but gives no access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionDigest([u8; 32]);

impl SessionDigest {
    pub(crate) fn of(session: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, session).as_ref());
        Self(bytes)
    }
}

/// The sessions that the agent knew at their last request. The agent decides for each request whether the session is
/// still valid.
#[derive(Debug, Default)]
pub(crate) struct KnownSessions(Mutex<VecDeque<SessionDigest>>);

impl KnownSessions {
    pub(crate) fn knows(&self, session: SessionDigest) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&session)
    }

    /// Remembers a session that the agent knows. If there is no room, the session that was added first is removed.
    pub(crate) fn learn(&self, session: SessionDigest) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|other| *other != session);
        if known.len() >= REMEMBERED {
            known.pop_front();
        }
        known.push_back(session);
    }

    /// Forgets a session that the agent no longer knows.
    pub(crate) fn forget(&self, session: SessionDigest) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != session);
    }
}

/// Returns the value of a cookie of the front from the cookies of a request, or `None` if there are two.
pub(crate) fn in_cookies<'a>(headers: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    let pairs = headers.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut ours = pairs.filter(|(found, _)| *found == name).map(|(_, value)| value);
    let value = ours.next().filter(|value| is_session(value))?;
    if ours.next().is_some() { None } else { Some(value) }
}

fn is_session(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_+/=.".contains(&b))
}

fn cookie(session: &str, tls: bool, ends: bool) -> HeaderValue {
    set_cookie(&format!("{COOKIE_NAME}={session}"), tls, ends.then_some(0))
}

/// Returns the header that gives a browser a cookie, for `lasts_s` seconds or until the browser ends.
pub(crate) fn set_cookie(pair: &str, tls: bool, lasts_s: Option<u64>) -> HeaderValue {
    let secure = if tls { "; Secure" } else { "" };
    let lasts = lasts_s.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    HeaderValue::from_str(&format!("{pair}; Path=/; HttpOnly; SameSite=Strict{secure}{lasts}"))
        .expect("a cookie of the front is letters, digits and signs")
}

/// Handles `POST /front/session`: signs an operator in. The page gets the cookie and never sees the session itself.
pub(crate) async fn sign_in(
    agent: &Agent,
    known: &KnownSessions,
    body: bytes::Bytes,
    way: Way,
) -> Result<Answer, Problem> {
    match begin(agent, body, way).await? {
        Begun::Session { session, who } => {
            known.learn(SessionDigest::of(session.as_bytes()));
            let mut answer = json_answer(StatusCode::OK, &who);
            answer.headers_mut().insert(SET_COOKIE, cookie(&session, way.tls, false));
            Ok(answer)
        }
        Begun::Refused(answer) => Ok(answer),
    }
}

/// The agent's answer to a name and a PIN.
pub(crate) enum Begun {
    /// The session, and the operator without it.
    Session { session: String, who: Value },
    /// The refusal, in the agent's words.
    Refused(Answer),
}

/// Begins a session at the agent, with a body that has an operator's name and PIN.
pub(crate) async fn begin(agent: &Agent, body: bytes::Bytes, way: Way) -> Result<Begun, Problem> {
    // A sign-in at the terminal must not wait for the PIN checks of callers from the network.
    let room = if way.is_local() { Room::Page } else { Room::Pins };
    let question = Question { method: Method::POST, body, patience: PIN_PATIENCE, ..Question::get("/v1/sessions") };
    let mut question = Question { room, ..question };
    if let Some(place) = way.place() {
        question.headers.insert(PLACE, place);
    }
    let (status, mut said) = agent.ask_json(question).await?;
    let session = said.as_object_mut().and_then(|said| said.remove("session"));
    match session {
        Some(Value::String(session)) if status.is_success() && is_session(&session) => {
            Ok(Begun::Session { session, who: said })
        }
        _ if status.is_success() => Err(Problem::no_answer()),
        _ => Ok(Begun::Refused(passed_on(status, said))),
    }
}

/// Ends a session at the agent. If the agent cannot end it, it expires later.
pub(crate) async fn end(agent: &Agent, session: &HeaderValue) {
    let question = Question::get("/v1/sessions/current").with_session(Some(session));
    let _ = agent.ask_json(Question { method: Method::DELETE, ..question }).await;
}

/// Returns a refusal by the agent in the agent's words.
fn passed_on(status: StatusCode, said: Value) -> Answer {
    let retry_after = said.get("retryAfterS").and_then(Value::as_u64);
    let mut answer = json_answer(status, &said);
    let headers = answer.headers_mut();
    headers.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    if let Some(seconds) = retry_after {
        headers.insert(hyper::header::RETRY_AFTER, seconds.into());
    }
    answer
}

/// Whether a caller may use the page without an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Without {
    Permitted,
    Refused,
    /// Refused, because only paired browsers may. This browser is not paired.
    OnlyPaired,
}

/// Handles `GET /front/session`: returns the signed-in operator. Without one, it returns the operators who can sign in,
/// or `null` if no sign-in is needed.
pub(crate) async fn current(agent: &Agent, session: Option<&HeaderValue>, without: Without) -> Result<Answer, Problem> {
    if session.is_some() {
        let question = Question::get("/v1/sessions/current").with_session(session);
        let (status, said) = agent.ask_json(question).await?;
        if status == StatusCode::OK {
            return Ok(json_answer(status, &said));
        }
    }
    let operators = operators(agent).await?;
    if operators.is_none() && without == Without::Permitted {
        return Ok(json_answer(StatusCode::OK, &json!({ "operator": null })));
    }
    let detail = match &operators {
        Some(_) => "no operator is signed in",
        None if without == Without::OnlyPaired => NOT_PAIRED,
        None => "here the page needs a signed-in operator, but none is configured; see the manual (\"The front\")",
    };
    let to_pair = operators.is_none() && without == Without::OnlyPaired;
    let SignIn { operators, pin_digits } = operators.unwrap_or_default();
    let members = [("operators", operators.into()), ("pinDigits", pin_digits), ("toPair", to_pair.into())];
    Ok(Problem::unauthorized("sign-in", detail).with(&members))
}

/// What the page needs to sign an operator in.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SignIn {
    /// The operators, each with name and role.
    operators: Vec<Value>,
    /// The number of digits of each PIN, or `null` if it is not fixed.
    pin_digits: Value,
}

/// Returns the operators with name and role, or `None` if the agent uses no sign-in.
pub(crate) async fn operators(agent: &Agent) -> Result<Option<SignIn>, Problem> {
    let (status, said) = agent.ask_json(Question::get("/v1/operators")).await?;
    if status != StatusCode::OK {
        return Ok(None);
    }
    Ok(who_signs_in(&said))
}

/// Returns the operators as the page shows them, or `None` if the agent uses no sign-in.
fn who_signs_in(said: &Value) -> Option<SignIn> {
    let list = said.get("operators").and_then(Value::as_array).cloned().unwrap_or_default();
    let required = said.get("required").and_then(Value::as_bool).unwrap_or(false);
    let shown = |it: &Value| json!({ "name": it.get("name"), "role": it.get("role") });
    let operators: Vec<Value> = list.iter().map(shown).collect();
    let pin_digits = said.get("pinDigits").cloned().unwrap_or_default();
    Some(SignIn { operators, pin_digits }).filter(|_| required || !list.is_empty())
}

/// Handles `DELETE /front/session`: signs the operator out. The cookie is removed, regardless of the agent's answer.
pub(crate) async fn sign_out(agent: &Agent, session: Option<&HeaderValue>, tls: bool) -> Answer {
    // The browser forgets the cookie anyway.
    if let Some(session) = session {
        end(agent, session).await;
    }
    let mut answer = empty_answer(StatusCode::NO_CONTENT);
    answer.headers_mut().insert(SET_COOKIE, cookie("", tls, true));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_among_other_cookies_and_two_are_none() {
        let found = |cookies: &[&'static str]| in_cookies(cookies.iter().copied(), COOKIE_NAME);
        assert_eq!(found(&["a=b; pos_session=x-1_Y; c=d"]), Some("x-1_Y"));
        assert_eq!(found(&["a=b", "pos_session=x"]), Some("x"));
        for none in [
            &["pos_session=x; pos_session=y"][..],
            &["pos_session=x", "pos_session=y"],
            &["xpos_session=x"],
            &["pos_session="],
            &["pos_session=a b"],
            &[],
        ] {
            assert_eq!(found(none), None, "{none:?}");
        }
    }

    #[test]
    fn who_signs_in_is_told_by_name_and_role_alone() {
        let anna = json!({ "name": "Anna", "role": "supervisor", "locked": true });
        let shown =
            |pin_digits: Value| SignIn { operators: vec![json!({ "name": "Anna", "role": "supervisor" })], pin_digits };
        for (said, told) in [
            (json!({ "required": false, "operators": [anna] }), Some(shown(Value::Null))),
            (json!({ "required": true, "operators": [anna], "pinDigits": 6 }), Some(shown(json!(6)))),
            (json!({ "required": true, "operators": [] }), Some(SignIn::default())),
            (json!({ "required": false, "operators": [] }), None),
            (json!({}), None),
        ] {
            assert_eq!(who_signs_in(&said), told, "{said}");
        }
    }

    #[test]
    fn no_script_reads_the_cookie_and_no_other_site_sends_it() {
        assert_eq!(cookie("x", true, false), "pos_session=x; Path=/; HttpOnly; SameSite=Strict; Secure");
        assert_eq!(cookie("", false, true), "pos_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    }
}
