//! What a till hears when its request is not carried out: always `{"error":{"code":"…","message":"…"}}`.
//!
//! The code is for programs and never changes its meaning; the message is for people and says what to do.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::till::{Denied, Refused};

/// One refusal.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// After how many seconds to ask again, where that is known.
    retry_after_s: Option<u64>,
}

/// Most characters of a message: it may repeat a word of the request, and that may have any length.
const LONGEST_MESSAGE: usize = 1000;

impl Failure {
    /// What a message repeats of the request steers no terminal that shows it.
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let shown = message.chars().take(LONGEST_MESSAGE).map(|c| if c.is_control() { '\u{FFFD}' } else { c });
        Self { status, code, message: shown.collect(), retry_after_s: None }
    }

    /// The same, with the time after which to ask again.
    pub(super) fn retry_after(self, seconds: Option<u64>) -> Self {
        Self { retry_after_s: seconds, ..self }
    }

    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The request cannot be understood.
    pub(super) fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", message)
    }

    /// Understood, but the value cannot be used.
    pub(super) fn value(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// The caller has as much of it as one may have.
    pub(super) fn too_many(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, code, message)
    }

    /// Nobody knows whether the agent heard the request.
    pub(super) fn no_answer() -> Self {
        let message = "the agent does not answer; the request may have been carried out: ask for this reference again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "no-answer", message)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let (status, code) = match refused {
            Refused::AmountDiffers { .. } => (StatusCode::CONFLICT, "amount-differs"),
            Refused::Busy { .. } | Refused::BusyElsewhere => (StatusCode::CONFLICT, "busy"),
            Refused::NotReady { .. } => (StatusCode::SERVICE_UNAVAILABLE, "not-ready"),
            Refused::Denied(denied) => return denied.into(),
            Refused::Operator(refused) => return refused.into(),
            Refused::NoSignatureAwaited { .. } => (StatusCode::CONFLICT, "no-signature-awaited"),
            Refused::NoReceiptYet { .. } => (StatusCode::CONFLICT, "no-receipt-yet"),
            Refused::NotPossible { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "not-possible"),
            Refused::Parameter { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "parameter"),
            Refused::Amount { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "amount"),
            Refused::Currency { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "currency"),
            Refused::NoSuchSale { .. } | Refused::NoneYet { .. } => (StatusCode::NOT_FOUND, "no-such-sale"),
            Refused::Printer { .. } => (StatusCode::SERVICE_UNAVAILABLE, "printer"),
            Refused::Gateway { .. } => (StatusCode::BAD_GATEWAY, "gateway"),
            Refused::Journal { .. } => (StatusCode::SERVICE_UNAVAILABLE, "journal"),
        };
        Self::new(status, code, refused.to_string())
    }
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        let message = denied.to_string();
        match denied {
            Denied::WhichTill { .. } => Self::malformed(message),
            Denied::OperatorRequired => Self::new(StatusCode::UNAUTHORIZED, "operator-required", message),
            Denied::Role { .. } => Self::new(StatusCode::FORBIDDEN, "operator-role", message),
            Denied::NoStatedOperator { .. } => Failure::value("operator", message),
            Denied::Lacks { .. } | Denied::NotItsTill { .. } | Denied::OnlyAtTheSocket => {
                Self::new(StatusCode::FORBIDDEN, "forbidden", message)
            }
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "code": self.code, "message": self.message } });
        let mut response = (self.status, Json(body)).into_response();
        let more = match self.status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            StatusCode::TOO_MANY_REQUESTS => {
                Some((header::RETRY_AFTER, HeaderValue::from(self.retry_after_s.unwrap_or(1))))
            }
            _ => None,
        };
        response.headers_mut().extend(more);
        response
    }
}
