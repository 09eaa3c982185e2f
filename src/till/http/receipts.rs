//! Receipts: one copy of them to be read, or printed again.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::api::{App, Route};
use super::asked::{JsonBody, Nothing, Parameters, ReferenceInPath};
use super::failure::Failure;
use crate::till::{Caller, Command, Verb};
use crate::transaction::ReceiptCopy;

/// The receipts of a transaction.
pub(super) const ROUTES: &[Route] = &[
    Route { path: "/v1/sales/{reference}/receipt", serve: || get(receipt) },
    Route { path: "/v1/sales/{reference}/receipt", serve: || post(print) },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiptQuery {
    #[serde(default)]
    copy: ReceiptCopy,
    till: Option<String>,
}

async fn receipt(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(ReceiptQuery { copy, till }): Parameters<ReceiptQuery>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Receipt)?;
    let till = permit.one(till)?;
    let text = app.ask(&permit, |reply| Command::Receipt { till, reference, copy, reply }).await??;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

async fn print(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(ReceiptQuery { copy, till }): Parameters<ReceiptQuery>,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Receipt)?;
    let till = permit.one(till)?;
    let printing = app.ask(&permit, |reply| Command::Print { till, reference, copy, reply }).await??;
    Ok((StatusCode::ACCEPTED, Json(printing)).into_response())
}
