//! The verbs for receipts: show one copy as text, as data or as a page, or print it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::accept;
use super::api::{App, Route, routes};
use super::asked::{JsonBody, Nothing, Parameters, ReferenceInPath};
use super::failure::Failure;
use super::receipt_page::{POLICY, receipt_page};
use crate::till::{Caller, Command, Verb};
#[cfg(feature = "docs")]
use crate::till::{PrintView, ReceiptView};
use pos_terms::transaction::ReceiptCopy;

/// The verbs for the receipts of a transaction.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/sales/{reference}/receipt" => receipt,
        ApiOperation::new("receipt", "Get a receipt as text, as data or as a page")
            .needs(Verb::Receipt)
            .query::<ReceiptQuery>()
            .header("Accept", "The form. Usual: `application/json`.", json!({ "type": "string", "enum": ["application/json", "text/plain", "text/html"] }))
            .answers::<ReceiptView>(200, "The receipt, in the form that `Accept` asks for; data if it accepts any form.", examples::receipt())
            .answers_text(200, "", "text/plain", examples::RECEIPT)
            .answers_text(200, "", "text/html", examples::RECEIPT_AS_PAGE)
            .refuses(&[ProblemType::NoSuchSale, ProblemType::NoReceiptYet, ProblemType::NotAcceptable])
            .refuses(&[ProblemType::Journal]);
    post "/v1/sales/{reference}/receipt" => print,
        ApiOperation::new("printReceipt", "Print a receipt, marked as a duplicate unless it is the first print on demand")
            .needs(Verb::Receipt)
            .query::<CopyQuery>()
            .body::<Nothing>(json!({}))
            .answers::<PrintView>(
                202,
                "The printer has the job.",
                json!({ "printer": "printer-1", "state": "ready", "text": "ok", "waiting": 1 }),
            )
            .refuses(&[ProblemType::NoSuchSale, ProblemType::NoReceiptYet, ProblemType::Printer, ProblemType::Journal]);
};

/// The number of characters per line that may be requested. The range is from the narrowest supported paper to more
/// than any paper has.
const WIDTHS: RangeInclusive<u8> = 24..=64;

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ReceiptQuery {
    /// The merchant's or the customer's copy.
    #[serde(default)]
    copy: ReceiptCopy,
    /// The number of characters per line. The default is that of the terminal's paper.
    #[cfg_attr(feature = "docs", schemars(range(min = 24, max = 64)))]
    width: Option<u8>,
    /// True to mark the receipt as a duplicate, because it is shown or printed again.
    #[serde(default)]
    duplicate: bool,
    /// The till of the request, for a caller that acts for several tills or has the right `any-till`.
    till: Option<String>,
    /// True for a training transaction. Training has its own references.
    #[serde(default)]
    training: bool,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct CopyQuery {
    /// The merchant's or the customer's copy.
    #[serde(default)]
    copy: ReceiptCopy,
    /// The till of the request, for a caller that acts for several tills or has the right `any-till`.
    till: Option<String>,
    /// True for a training transaction. Training has its own references.
    #[serde(default)]
    training: bool,
}

/// The form of an answer with a receipt.
#[derive(Clone, Copy)]
enum ReceiptForm {
    Text,
    Json,
    Page,
}

/// The forms of a receipt. A program that accepts any form gets data, as everywhere in this interface.
const FORMS: &[(&str, ReceiptForm)] =
    &[("application/json", ReceiptForm::Json), ("text/plain", ReceiptForm::Text), ("text/html", ReceiptForm::Page)];

async fn receipt(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(ReceiptQuery { copy, width, duplicate, till, training }): Parameters<ReceiptQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Receipt)?;
    let till = permit.one(till)?;
    let form = accept::wanted(&headers, FORMS)?;
    if width.is_some_and(|width| !WIDTHS.contains(&width)) {
        let detail = format!("width: must be {} to {} characters", WIDTHS.start(), WIDTHS.end());
        return Err(Failure::malformed(detail).field("width"));
    }
    let shown = app
        .ask_of(training, &permit, |reply| Command::Receipt { till, reference, copy, width, duplicate, reply })
        .await??;
    let of = |media| [(header::CONTENT_TYPE, media)];
    Ok(match form {
        ReceiptForm::Text => (of("text/plain; charset=utf-8"), shown.text).into_response(),
        ReceiptForm::Json => Json(shown).into_response(),
        ReceiptForm::Page => {
            let policy = [(header::CONTENT_SECURITY_POLICY, POLICY), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
            (of("text/html; charset=utf-8"), policy, receipt_page(&shown)).into_response()
        }
    })
}

async fn print(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(CopyQuery { copy, till, training }): Parameters<CopyQuery>,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Receipt)?;
    let till = permit.one(till)?;
    let printing = app.ask_of(training, &permit, |reply| Command::Print { till, reference, copy, reply }).await??;
    Ok((StatusCode::ACCEPTED, Json(printing)).into_response())
}
