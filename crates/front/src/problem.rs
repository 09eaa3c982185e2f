//! The refusal of a request, and the common type of all answers.
//!
//! A refusal is a problem details object (RFC 9457), as in the agent's interface. `code` is for programs, and its
//! meaning never changes. `detail` is for people and names the remedy.

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use pos_till_api::ProblemType;
use serde_json::{Value, json};

/// The reason why the body of an answer broke off.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;
/// The body of an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, BodyError>;
/// An answer.
pub(crate) type Answer = Response<Body>;

/// The largest number of characters in a detail, which may quote the request.
const LONGEST_DETAIL: usize = 600;

/// A refusal.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    detail: String,
    retry_after_s: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        let detail: String = detail.into();
        let shown = detail.chars().take(LONGEST_DETAIL).map(|c| if c.is_control() { '\u{FFFD}' } else { c });
        Self { status, code, title, detail: shown.collect(), retry_after_s: None }
    }

    /// Creates a refusal with a problem type of the agent.
    pub(crate) fn of(problem: ProblemType, detail: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(problem.status()).expect("each problem has the status of an error");
        Self::new(status, problem.code(), problem.title(), detail)
    }

    /// Creates the refusal of a request that cannot be understood.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::of(ProblemType::Malformed, detail)
    }

    /// Creates the refusal of a request that the caller has no right to make.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::of(ProblemType::Forbidden, detail)
    }

    /// Creates the refusal of a path that does not exist, or not with this method.
    pub(crate) fn not_found() -> Self {
        let detail = "there is no such path and method; the manual (\"The front\") lists all paths";
        Self::of(ProblemType::NotFound, detail)
    }

    /// Creates the refusal of a caller that must identify itself.
    pub(crate) fn unauthorized(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, code, "The front does not know the caller", detail)
    }

    /// Creates the refusal of a caller that has reached a limit on slots or attempts.
    pub(crate) fn too_many(detail: impl Into<String>, retry_after_s: u64) -> Self {
        Self::of(ProblemType::TooManyRequests, detail).again_in(retry_after_s)
    }

    /// Adds the seconds after which the caller may ask again.
    pub(crate) fn again_in(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    /// Creates the refusal of a request while the agent is unreachable.
    pub(crate) fn agent_down(detail: impl Into<String>) -> Self {
        let title = "The terminal's agent is not running";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "agent-down", title, detail).again_in(1)
    }

    /// Creates the refusal of a request that the agent may have carried out.
    pub(crate) fn no_answer() -> Self {
        let detail = "the agent did not answer; it may have carried out the request: ask for this reference again";
        Self::of(ProblemType::NoAnswer, detail)
    }

    /// Returns the object of the refusal.
    pub(crate) fn object(&self) -> Value {
        json!({
            "type": format!("urn:pos-agent:problem:{}", self.code),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": self.detail,
            "code": self.code,
        })
    }

    /// Returns the refusal as an answer, with additional members in its object.
    pub(crate) fn with(self, members: &[(&str, Value)]) -> Answer {
        let mut object = self.object();
        for (name, value) in members {
            object[*name] = value.clone();
        }
        let mut answer = json_answer(self.status, &object);
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::PAYLOAD_TOO_LARGE {
            // The rest of the body is read only to be forgotten, so the connection serves no other request.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        answer
    }
}

impl From<Problem> for Answer {
    fn from(problem: Problem) -> Self {
        problem.with(&[])
    }
}

/// Creates a body from complete data.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Creates an answer from a JSON value.
pub(crate) fn json_answer(status: StatusCode, value: &Value) -> Answer {
    let mut answer = Response::new(whole(value.to_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Creates an answer without a body.
pub(crate) fn empty_answer(status: StatusCode) -> Answer {
    let mut answer = Response::new(whole(Bytes::new()));
    *answer.status_mut() = status;
    answer
}
