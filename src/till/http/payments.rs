//! The verbs that show a person at the terminal one payment at the gateway, or those that match filters.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::deadline_of;
use serde::Serialize;

use super::api::{App, Route, routes};
use super::asked::{InPath, Parameters};
use super::failure::Failure;
use crate::till::{Caller, Command, Verb};
use pos_terms::transaction::PaymentId;

const PAYMENT_DEADLINE: AnswerDeadline = deadline_of("GET", "/v1/payments/{id}");
const QUERY_DEADLINE: AnswerDeadline = deadline_of("GET", "/v1/query");

/// The verbs for the gateway's records.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/payments/{id}" => payment,
        ApiOperation::new("payment", "Ask the gateway for a payment; the answer has the gateway's flat names")
            .needs(Verb::AskGateway)
            .answers::<BTreeMap<String, String>>(200, "The payment's fields.", json!({ "result.code": "000.000.000" }))
            .refuses(&[ProblemType::Gateway, ProblemType::Parameter]);
    get "/v1/query" => query,
        ApiOperation::new("query", "Find payments at the gateway with the gateway's query parameters")
            .text("Accepts every parameter of the gateway's query.")
            .needs(Verb::AskGateway)
            .answers::<Found>(200, "The payments.", json!({ "payments": [{ "result.code": "000.000.000" }] }))
            .refuses(&[ProblemType::Gateway, ProblemType::Parameter, ProblemType::Malformed]);
};

async fn payment(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InPath(id): InPath<String>,
) -> Result<Json<BTreeMap<String, String>>, Failure> {
    let permit = caller.may(Verb::AskGateway)?;
    Ok(Json(
        app.ask_within(&permit, PAYMENT_DEADLINE, |reply| Command::Payment { id: PaymentId::new(id), reply }).await??,
    ))
}

/// The payments that match the filters.
#[derive(Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Deserialize))]
struct Found {
    /// Each payment's fields, by their flat names.
    payments: Vec<BTreeMap<String, String>>,
}

async fn query(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Parameters(filters): Parameters<Vec<(String, String)>>,
) -> Result<Json<Found>, Failure> {
    let permit = caller.may(Verb::AskGateway)?;
    let payments = app.ask_within(&permit, QUERY_DEADLINE, |reply| Command::Query { filters, reply }).await??;
    Ok(Json(Found { payments }))
}
