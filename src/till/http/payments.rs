//! What the gateway holds, asked by a person at the terminal: one payment, or those that filters find.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, State};
use axum::routing::get;
use serde::Serialize;

use super::api::{App, Route};
use super::asked::{InPath, Parameters};
use super::failure::Failure;
use crate::till::{Caller, Command, Verb};
use crate::transaction::PaymentId;

/// Longer than the gateway's own two deadlines.
const GATEWAY_DEADLINE: Duration = Duration::from_secs(170);

/// The gateway's own records.
pub(super) const ROUTES: &[Route] =
    &[Route { path: "/v1/payments/{id}", serve: || get(payment) }, Route { path: "/v1/query", serve: || get(query) }];

async fn payment(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InPath(id): InPath<String>,
) -> Result<Json<BTreeMap<String, String>>, Failure> {
    let permit = caller.may(Verb::AskGateway)?;
    Ok(Json(
        app.ask_within(&permit, GATEWAY_DEADLINE, |reply| Command::Payment { id: PaymentId::new(id), reply }).await??,
    ))
}

#[derive(Serialize)]
struct Found {
    payments: Vec<BTreeMap<String, String>>,
}

async fn query(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Parameters(filters): Parameters<Vec<(String, String)>>,
) -> Result<Json<Found>, Failure> {
    let permit = caller.may(Verb::AskGateway)?;
    let payments = app.ask_within(&permit, GATEWAY_DEADLINE, |reply| Command::Query { filters, reply }).await??;
    Ok(Json(Found { payments }))
}
