//! The verbs for operators: list, add, remove, set a PIN, and unlock after wrong PINs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::deadline_of;
use serde::Deserialize;

use super::api::{App, Route, routes};
use super::asked::{InPath, JsonBody, Nothing};
use super::credentials::{Unrepeated, name};
use super::failure::Failure;
use crate::till::{
    Caller, Command, ConfirmedView, OperatorCommand, OperatorRefused, OperatorView, OperatorsView, ProblemType, Verb,
};
use pos_core::counter::Role;

const ADD_DEADLINE: AnswerDeadline = deadline_of("POST", "/v1/operators");
const PIN_DEADLINE: AnswerDeadline = deadline_of("POST", "/v1/operators/{name}/pin");

/// The verbs for operators.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/operators" => list,
        ApiOperation::new("listOperators", "List the operators by name")
            .needs(Verb::SignIn)
            .answers::<OperatorsView>(
                200,
                "The operators, and whether money transactions require a signed-in operator.",
                json!({ "required": true, "operators": [{ "name": "Anna", "role": "cashier" }] }),
            );
    post "/v1/operators" => add,
        ApiOperation::new("addOperator", "Add an operator")
            .needs(Verb::ManageOperators)
            .body::<NewOperator>(json!({ "name": "Anna", "role": "cashier", "pin": "4862" }))
            .answers::<OperatorView>(201, "The operator.", json!({ "name": "Anna", "role": "cashier" }))
            .refuses(&[ProblemType::Operator, ProblemType::Pin, ProblemType::OperatorExists])
            .refuses(&[ProblemType::TooManyOperators, ProblemType::PinUnderWay, ProblemType::Journal]);
    delete "/v1/operators/{name}" => remove,
        ApiOperation::new("removeOperator", "Remove an operator; the operator's actions stay recorded")
            .needs(Verb::ManageOperators)
            .answers_nothing(204, "The operator is removed.")
            .refuses(&[ProblemType::Operator, ProblemType::NoSuchOperator, ProblemType::Journal]);
    post "/v1/operators/{name}/pin" => set_pin,
        ApiOperation::new("setPin", "Change an operator's PIN and end the operator's sessions")
            .needs(Verb::ManageOperators)
            .body::<NewPin>(json!({ "pin": "5973" }))
            .answers::<OperatorView>(200, "The operator.", json!({ "name": "Anna", "role": "cashier" }))
            .refuses(&[ProblemType::Operator, ProblemType::Pin, ProblemType::NoSuchOperator])
            .refuses(&[ProblemType::PinUnderWay, ProblemType::Journal]);
    post "/v1/operators/{name}/unlock" => unlock,
        ApiOperation::new("unlockOperator", "Unlock an operator for an immediate PIN attempt")
            .needs(Verb::Unlock)
            .body::<Nothing>(json!({}))
            .answers::<OperatorView>(200, "The operator.", json!({ "name": "Anna", "role": "cashier" }))
            .refuses(&[ProblemType::Operator, ProblemType::NoSuchOperator, ProblemType::Journal]);
};

async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<OperatorsView>, Failure> {
    let permit = caller.may(Verb::SignIn)?;
    Ok(Json(app.ask(&permit, |reply| Command::Operators(OperatorCommand::List { reply })).await?))
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct NewOperator {
    /// The name, with letters, digits and spaces.
    #[cfg_attr(feature = "docs", schemars(with = "String", length(min = 1, max = 32)))]
    name: Unrepeated,
    /// The role.
    role: Role,
    /// The PIN.
    #[cfg_attr(feature = "docs", schemars(with = "String", regex(pattern = "^[0-9]{4,12}$")))]
    pin: Unrepeated,
}

async fn add(
    State(app): State<Arc<App>>,
    Extension(by): Extension<Caller>,
    JsonBody(NewOperator { name, role, pin }): JsonBody<NewOperator>,
) -> Result<Response, Failure> {
    let permit = by.may(Verb::ManageOperators)?;
    let (name, pin) = (name.name()?, pin.new_pin()?);
    let asked = |reply| Command::Operators(OperatorCommand::Add { name, role, pin, by, reply });
    let added = app.ask_within(&permit, ADD_DEADLINE, asked).await??;
    Ok((StatusCode::CREATED, Json(added)).into_response())
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct NewPin {
    /// The new PIN.
    #[cfg_attr(feature = "docs", schemars(with = "String", regex(pattern = "^[0-9]{4,12}$")))]
    pin: Unrepeated,
}

async fn set_pin(
    State(app): State<Arc<App>>,
    Extension(by): Extension<Caller>,
    InPath(text): InPath<String>,
    JsonBody(NewPin { pin }): JsonBody<NewPin>,
) -> Result<Json<OperatorView>, Failure> {
    let permit = by.may(Verb::ManageOperators)?;
    let (name, pin) = (name(&text)?, pin.new_pin()?);
    let asked = |reply| Command::Operators(OperatorCommand::SetPin { name, pin, by, reply });
    Ok(Json(app.ask_within(&permit, PIN_DEADLINE, asked).await??))
}

async fn remove(
    State(app): State<Arc<App>>,
    Extension(by): Extension<Caller>,
    InPath(text): InPath<String>,
) -> Result<StatusCode, Failure> {
    let permit = by.may(Verb::ManageOperators)?;
    let name = name(&text)?;
    app.ask(&permit, |reply| Command::Operators(OperatorCommand::Remove { name, by, reply })).await??;
    Ok(StatusCode::NO_CONTENT)
}

async fn unlock(
    State(app): State<Arc<App>>,
    Extension(by): Extension<Caller>,
    InPath(text): InPath<String>,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<Json<OperatorView>, Failure> {
    let permit = by.may(Verb::Unlock)?;
    let name = name(&text)?;
    Ok(Json(app.ask(&permit, |reply| Command::Operators(OperatorCommand::Unlock { name, by, reply })).await??))
}

impl From<OperatorRefused> for Failure {
    fn from(refused: OperatorRefused) -> Self {
        let message = refused.to_string();
        let problem = match &refused {
            OperatorRefused::WrongPin => ProblemType::WrongPin,
            OperatorRefused::SessionEnded => ProblemType::SessionEnded,
            OperatorRefused::Locked { .. } => ProblemType::OperatorLocked,
            OperatorRefused::PinUnderWay => ProblemType::PinUnderWay,
            OperatorRefused::SupervisorNeeded { .. } => ProblemType::SupervisorNeeded,
            OperatorRefused::NotApproved { .. } => ProblemType::NotApproved,
            OperatorRefused::NoSupervisor { .. } => ProblemType::NoSupervisor,
            OperatorRefused::Unknown { .. } => ProblemType::NoSuchOperator,
            OperatorRefused::Exists { .. } => ProblemType::OperatorExists,
            OperatorRefused::TooMany { .. } => ProblemType::TooManyOperators,
            OperatorRefused::PinLength { .. } => ProblemType::Pin,
        };
        let command = match &refused {
            OperatorRefused::SupervisorNeeded { command } => Some(ConfirmedView::from(&**command)),
            _ => None,
        };
        let retry_after = refused.retry_after_s().and_then(|s| u32::try_from(s).ok());
        Self::new(problem, message).retry_after(retry_after).asking_for(command)
    }
}
