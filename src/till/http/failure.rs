//! The answer to a request that is not carried out. It is a problem details object (RFC 9457) from the closed list in
//! `till/problem.rs`, with its facts. [`tell`] writes its sentence in the terminal's language.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::api::App;
use crate::till::{ConfirmedView, Denied, ProblemType, ProblemView, Refused};
use pos_words::{Sentence, Words};

/// A refusal. The `detail` of its view is empty until [`tell`] sets it.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    problem: ProblemType,
    detail: Sentence,
    view: Box<ProblemView>,
}

/// The media type of a refusal (RFC 9457, 3).
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");
/// The greatest number of characters in a text. A text may repeat a word from the request, which can have any length.
const LONGEST_TEXT: usize = 1000;
/// The number of seconds after which a caller that exceeds its limits may ask again.
const RETRY_AFTER_S: u32 = 1;

impl Failure {
    pub(super) fn new(problem: ProblemType, detail: impl Into<Sentence>) -> Self {
        let retry_after_s = (problem.status() == 429).then_some(RETRY_AFTER_S);
        let view = ProblemView { retry_after_s, ..ProblemView::new(problem, "") };
        Self { problem, detail: detail.into(), view: Box::new(view) }
    }

    /// Makes the refusal of an invalid request.
    pub(super) fn malformed(detail: impl Into<Sentence>) -> Self {
        Self::new(ProblemType::Malformed, detail)
    }

    /// Makes the answer if it is unknown whether the agent received the request.
    pub(super) fn no_answer() -> Self {
        let detail = "the agent did not answer; it may have carried out the request: ask for this reference again";
        Self::new(ProblemType::NoAnswer, detail)
    }

    /// Sets the wrong field or parameter of the request.
    pub(super) fn field(mut self, name: &str) -> Self {
        self.view.field = Some(shown(name));
        self
    }

    /// Sets the number of seconds after which the request may be repeated.
    pub(super) fn retry_after(mut self, seconds: Option<u32>) -> Self {
        self.view.retry_after_s = seconds.or(self.view.retry_after_s);
        self
    }

    /// Adds the command that a supervisor would confirm.
    pub(super) fn asking_for(mut self, command: Option<ConfirmedView>) -> Self {
        self.view.to_confirm = command;
        self
    }

    /// Returns the body of the refusal, in the terminal's language.
    pub(super) fn into_view(self, words: &Words) -> ProblemView {
        let Self { detail, mut view, .. } = self;
        view.detail = shown(&words.tell(&detail));
        *view
    }

    /// Sets the transaction that the refusal concerns.
    fn about(mut self, till: Option<String>, reference: Option<String>) -> Self {
        (self.view.till, self.view.reference) = (till, reference);
        self
    }

    pub(super) fn code(&self) -> &'static str {
        self.problem.code()
    }

    pub(super) fn detail(&self) -> &Sentence {
        &self.detail
    }
}

/// Removes control characters from repeated parts of the request, because they must not control the terminal emulator
/// that shows them.
fn shown(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let detail = refused.sentence();
        let of = |problem| Self::new(problem, detail);
        match refused {
            Refused::AmountDiffers { reference, .. } => {
                of(ProblemType::AmountDiffers).about(None, Some(reference.to_string()))
            }
            Refused::Busy { till, reference } => of(ProblemType::Busy).about(Some(till), Some(reference.to_string())),
            Refused::BusyElsewhere => of(ProblemType::Busy),
            Refused::NotReady { .. } => of(ProblemType::NotReady),
            Refused::NothingTyped { .. } => of(ProblemType::NothingTyped),
            Refused::Denied(denied) => denied.into(),
            Refused::Operator(refused) => refused.into(),
            Refused::NoSignatureAwaited { .. } => of(ProblemType::NoSignatureAwaited),
            Refused::NoConfirmationAwaited { .. } => of(ProblemType::NoConfirmationAwaited),
            Refused::NoReceiptYet { .. } => of(ProblemType::NoReceiptYet),
            Refused::NotPossible { .. } => of(ProblemType::NotPossible),
            Refused::Parameter { name, .. } => of(ProblemType::Parameter).field(&name),
            Refused::Amount { .. } => of(ProblemType::Amount).field("amount"),
            Refused::Tip { .. } => of(ProblemType::Amount).field("tip"),
            Refused::TrainingOff => of(ProblemType::TrainingOff),
            Refused::Currency { .. } => of(ProblemType::Currency).field("currency"),
            Refused::NoneYet { till } => of(ProblemType::NoSuchSale).about(Some(till), None),
            Refused::NoSuchSale { till, reference } => {
                of(ProblemType::NoSuchSale).about(Some(till), Some(reference.to_string()))
            }
            Refused::NoSuchClose { .. } => of(ProblemType::NoSuchClose),
            Refused::Line { at, .. } => of(ProblemType::Malformed).field(&format!("lines[{at}]")),
            Refused::Printer { .. } => of(ProblemType::Printer),
            Refused::Gateway { .. } => of(ProblemType::Gateway),
            Refused::Journal { .. } => of(ProblemType::Journal),
        }
    }
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        let detail = denied.sentence();
        match denied {
            Denied::WhichTill { .. } => Self::malformed(detail).field("till"),
            Denied::NotItsTill { till, .. } => {
                Self::new(ProblemType::Forbidden, detail).about(Some(shown(&till)), None)
            }
            Denied::OperatorRequired => Self::new(ProblemType::OperatorRequired, detail),
            Denied::Role { .. } => Self::new(ProblemType::OperatorRole, detail),
            Denied::NoStatedOperator { .. } => Self::new(ProblemType::Operator, detail).field("operator"),
            Denied::Lacks { .. } | Denied::OnlyAtTheSocket => Self::new(ProblemType::Forbidden, detail),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        // The list contains only valid statuses.
        let status = StatusCode::from_u16(self.problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.view.retry_after_s;
        let mut response = status.into_response();
        response.extensions_mut().insert(self);
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// Writes the body of a refusal, in the terminal's language.
pub(super) async fn tell(State(app): State<Arc<App>>, mut response: Response) -> Response {
    let Some(failure) = response.extensions_mut().remove::<Failure>() else { return response };
    *response.body_mut() = Json(failure.into_view(&app.words)).into_response().into_body();
    response.headers_mut().insert(header::CONTENT_TYPE, PROBLEM_JSON);
    response
}
