//! Receipts: one copy of them to be read, or printed again.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::api::{App, Route, routes};
use super::asked::{JsonBody, Nothing, Parameters, ReferenceInPath};
use super::failure::Failure;
#[cfg(feature = "docs")]
use crate::till::PrintView;
use crate::till::{Caller, Command, Verb};
use crate::transaction::ReceiptCopy;

/// The receipts of a transaction.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/sales/{reference}/receipt" => receipt,
        Operation::new("receipt", "A receipt, to be read")
            .needs(Verb::Receipt)
            .query::<ReceiptQuery>()
            .answers_text(200, "Lines of text.", "text/plain", examples::RECEIPT)
            .refuses(&[ProblemType::NoSuchSale, ProblemType::NoReceiptYet, ProblemType::Journal]);
    post "/v1/sales/{reference}/receipt" => print,
        Operation::new("printReceipt", "Print a receipt again, marked as a duplicate")
            .needs(Verb::Receipt)
            .query::<ReceiptQuery>()
            .body::<Nothing>(json!({}))
            .answers::<PrintView>(
                202,
                "It is on its way.",
                json!({ "printer": "printer-1", "state": "ready", "text": "ok", "waiting": 1 }),
            )
            .refuses(&[ProblemType::NoSuchSale, ProblemType::NoReceiptYet, ProblemType::Printer, ProblemType::Journal]);
};

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ReceiptQuery {
    /// Whose copy.
    #[serde(default)]
    copy: ReceiptCopy,
    /// The till that is meant: for a program that stands for several, and for whoever has the right `any-till`.
    till: Option<String>,
    /// The transaction is one of training; those have references of their own.
    #[serde(default)]
    training: bool,
}

async fn receipt(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(ReceiptQuery { copy, till, training }): Parameters<ReceiptQuery>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Receipt)?;
    let till = permit.one(till)?;
    let text = app.ask_of(training, &permit, |reply| Command::Receipt { till, reference, copy, reply }).await??;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

async fn print(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(ReceiptQuery { copy, till, training }): Parameters<ReceiptQuery>,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Receipt)?;
    let till = permit.one(till)?;
    let printing = app.ask_of(training, &permit, |reply| Command::Print { till, reference, copy, reply }).await??;
    Ok((StatusCode::ACCEPTED, Json(printing)).into_response())
}
