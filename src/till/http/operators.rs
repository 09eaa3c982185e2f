//! The verbs about operators, and who stands at the counter, for every other verb.
//!
//! | request | answer |
//! |---|---|
//! | `GET /v1/operators` | `{"required","operators":[{"name","role","lockedS"}]}` |
//! | `POST /v1/sessions` `{"operator","pin"}` | 201 `{"session","operator","role","idleLockS","wrongBefore"}` |
//! | `GET /v1/sessions/current` | `{"operator","role"}` of the session that is sent as `Pos-Session` |
//! | `DELETE /v1/sessions/current` | 204: signed out |
//! | `POST /v1/approvals` `{"operator","pin","for":{"kind","reference","amount","currency"}}` | 201 `{"approval","supervisor","goodForS"}`, to be sent once as `Pos-Supervisor` |
//! | `POST /v1/operators` `{"name","role","pin"}` | 201 the operator; on the Unix socket only |
//! | `DELETE /v1/operators/{name}` | 204: it is none any more; on the Unix socket only |
//! | `POST /v1/operators/{name}/pin` `{"pin"}` | the operator; on the Unix socket only |
//! | `POST /v1/operators/{name}/unlock` | the operator |
//!
//! A request with `Pos-Session` is made by that operator; a session that has ended is refused with whatever it is sent,
//! so that a page hears of it at once. Any request but a `GET` keeps the session open. No answer, no refusal and no log
//! repeats what stood in the place of a PIN.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::api::{App, Route};
use super::asked::{InPath, JsonBody, Nothing, Parameters, TillQuery, checked_reference};
use super::failure::Failure;
use super::sales::amount_text;
use crate::counter::{Approved, Pin, PinError, Role, TokenDigest};
use crate::money::{Amount, Currency};
use crate::till::{
    Caller, Command, OperatorCommand, OperatorRefused, OperatorView, OperatorsView, Presence, ProblemType, SignedIn,
    Verb,
};
use crate::transaction::{Kind, OperatorName};

/// The header with a session.
const SESSION: HeaderName = HeaderName::from_static("pos-session");
/// The header with a supervisor's word.
const SUPERVISOR: HeaderName = HeaderName::from_static("pos-supervisor");
/// Longer than all PINs that may wait take on a slow board.
const PIN_DEADLINE: Duration = Duration::from_secs(30);
/// The longest name of a till's own cashier.
const LONGEST_STATED: usize = 40;

/// To sign in and out.
pub(super) const SESSION_ROUTES: &[Route] = &[
    Route { path: "/v1/sessions", serve: || post(sign_in) },
    Route { path: "/v1/sessions/current", serve: || get(current).delete(sign_out) },
];

/// The other verbs about operators.
pub(super) const ROUTES: &[Route] = &[
    Route { path: "/v1/approvals", serve: || post(approve) },
    Route { path: "/v1/operators", serve: || get(list).post(add) },
    Route { path: "/v1/operators/{name}", serve: || delete(remove) },
    Route { path: "/v1/operators/{name}/pin", serve: || post(set_pin) },
    Route { path: "/v1/operators/{name}/unlock", serve: || post(unlock) },
];

/// Finds out who stands at the counter, for the verb that follows.
pub(super) async fn person(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return next.run(request).await;
    };
    let commands = request.method() != Method::GET;
    let operator = match sent(request.headers(), &SESSION) {
        None => None,
        Some(token) => match app.whose(&caller, token, commands).await {
            Ok(signed_in) => Some(signed_in),
            Err(failure) => return failure.into_response(),
        },
    };
    let approval = sent(request.headers(), &SUPERVISOR);
    let present = Presence { required: app.operators_required, operator, approval };
    request.extensions_mut().insert(caller.with(present));
    next.run(request).await
}

/// The token in a header; what is none has no session.
fn sent(headers: &HeaderMap, header: &HeaderName) -> Option<TokenDigest> {
    headers.get(header).map(|token| TokenDigest::of(token.as_bytes()))
}

impl App {
    async fn whose(&self, caller: &Caller, token: TokenDigest, commands: bool) -> Result<SignedIn, Failure> {
        let (permit, door) = (caller.may(Verb::SignIn)?, caller.who().door());
        let asked = |reply| Command::Operators(OperatorCommand::Session { token, door, commands, reply });
        Ok(self.ask(&permit, asked).await??)
    }
}

/// The name of a till's own cashier, by the till's word.
pub(super) fn stated(name: &str) -> Result<String, Failure> {
    let name = name.trim();
    if (1..=LONGEST_STATED).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
        Ok(name.to_owned())
    } else {
        let wrong = format!("operator: 1 to {LONGEST_STATED} characters of text");
        Err(Failure::new(ProblemType::Operator, wrong).field("operator"))
    }
}

/// What stands in the place of a PIN or a name: a string, or something that is not repeated. A PIN that is sent as a
/// number, or in the place of the name, must not stand in a refusal.
struct Unrepeated(Zeroizing<String>);

impl<'de> Deserialize<'de> for Unrepeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        const WANTED: &str = "must be a string in quotes";

        impl<'de> Visitor<'de> for Text {
            type Value = Unrepeated;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Unrepeated, E> {
                Ok(Unrepeated(Zeroizing::new(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Unrepeated, E> {
                Ok(Unrepeated(Zeroizing::new(text)))
            }

            fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<Unrepeated, E> {
                Err(E::custom(WANTED))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Unrepeated, A::Error> {
                Err(serde::de::Error::custom(WANTED))
            }

            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Unrepeated, A::Error> {
                Err(serde::de::Error::custom(WANTED))
            }
        }

        deserializer.deserialize_any(Text)
    }
}

impl Unrepeated {
    fn name(self) -> Result<OperatorName, Failure> {
        name(self.0.as_str())
    }

    fn pin(self) -> Result<Pin, Failure> {
        Pin::parse(self.0).map_err(no_pin)
    }

    fn new_pin(self) -> Result<Pin, Failure> {
        Pin::to_be_set(self.0).map_err(no_pin)
    }
}

fn no_pin(error: PinError) -> Failure {
    Failure::new(ProblemType::Pin, error.to_string()).field("pin")
}

fn name(text: &str) -> Result<OperatorName, Failure> {
    OperatorName::parse(text).map_err(|error| Failure::new(ProblemType::Operator, error.to_string()))
}

async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<OperatorsView>, Failure> {
    let permit = caller.may(Verb::SignIn)?;
    Ok(Json(app.ask(&permit, |reply| Command::Operators(OperatorCommand::List { reply })).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    operator: Unrepeated,
    pin: Unrepeated,
}

async fn sign_in(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    JsonBody(Credentials { operator, pin }): JsonBody<Credentials>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::SignIn)?;
    let (name, pin, door) = (operator.name()?, pin.pin()?, caller.who().door());
    let asked = |reply| Command::Operators(OperatorCommand::SignIn { name, pin, door, reply });
    let opened = app.ask_within(&permit, PIN_DEADLINE, asked).await??;
    Ok((StatusCode::CREATED, Json(opened)).into_response())
}

/// Who is signed in.
#[derive(Serialize)]
struct Current {
    operator: OperatorName,
    role: Role,
}

async fn current(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Json<Current>, Failure> {
    let token = sent(&headers, &SESSION).ok_or_else(no_session)?;
    let signed_in = app.whose(&caller, token, false).await?;
    Ok(Json(Current { operator: signed_in.name, role: signed_in.role }))
}

async fn sign_out(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<StatusCode, Failure> {
    let permit = caller.may(Verb::SignIn)?;
    let (token, door) = (sent(&headers, &SESSION).ok_or_else(no_session)?, caller.who().door());
    app.ask(&permit, |reply| Command::Operators(OperatorCommand::SignOut { token, door, reply })).await??;
    Ok(StatusCode::NO_CONTENT)
}

fn no_session() -> Failure {
    OperatorRefused::SessionEnded.into()
}

/// The command that a supervisor confirms, as it will be sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Confirmed {
    kind: Kind,
    reference: String,
    #[serde(default, deserialize_with = "amount_text")]
    amount: Option<String>,
    currency: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalRequest {
    operator: Unrepeated,
    pin: Unrepeated,
    #[serde(rename = "for")]
    command: Confirmed,
}

async fn approve(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Parameters(TillQuery { till }): Parameters<TillQuery>,
    JsonBody(ApprovalRequest { operator, pin, command }): JsonBody<ApprovalRequest>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::SignIn)?;
    let (name, pin, door) = (operator.name()?, pin.pin()?, caller.who().door());
    let Confirmed { kind, reference, amount, currency } = command;
    let currency = match currency {
        Some(code) => Currency::from_code(&code)
            .map_err(|error| Failure::new(ProblemType::Currency, error.to_string()).field("for.currency"))?,
        None => app.currency,
    };
    let amount = amount.map(|text| Amount::parse(&text, currency)).transpose();
    let amount = amount.map_err(|error| Failure::new(ProblemType::Amount, error.to_string()).field("for.amount"))?;
    let command =
        Approved { till: permit.own(till)?, reference: checked_reference("for.reference", reference)?, kind, amount };
    let asked = |reply| Command::Operators(OperatorCommand::Approve { name, pin, command, door, reply });
    let given = app.ask_within(&permit, PIN_DEADLINE, asked).await??;
    Ok((StatusCode::CREATED, Json(given)).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewOperator {
    name: Unrepeated,
    role: Role,
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
    let added = app.ask_within(&permit, PIN_DEADLINE, asked).await??;
    Ok((StatusCode::CREATED, Json(added)).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPin {
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
        let problem = match refused {
            OperatorRefused::WrongPin => ProblemType::WrongPin,
            OperatorRefused::SessionEnded => ProblemType::SessionEnded,
            OperatorRefused::Locked { .. } => ProblemType::OperatorLocked,
            OperatorRefused::PinUnderWay => ProblemType::PinUnderWay,
            OperatorRefused::SupervisorNeeded { .. } => ProblemType::SupervisorNeeded,
            OperatorRefused::NotApproved => ProblemType::NotApproved,
            OperatorRefused::NoSupervisor { .. } => ProblemType::NoSupervisor,
            OperatorRefused::Unknown { .. } => ProblemType::NoSuchOperator,
            OperatorRefused::Exists { .. } => ProblemType::OperatorExists,
            OperatorRefused::TooMany { .. } => ProblemType::TooManyOperators,
        };
        Self::new(problem, message).retry_after(refused.retry_after_s().and_then(|s| u32::try_from(s).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_stands_in_the_place_of_a_pin_is_repeated() {
        for value in ["862486", "862486.5", "-862486", "true", "null", "[862486]", "{\"862486\":1}", "[\"862486\"]"] {
            for text in [
                format!("{{\"operator\":\"Anna\",\"pin\":{value}}}"),
                format!("{{\"operator\":{value},\"pin\":\"1\"}}"),
            ] {
                let error = serde_json::from_str::<Credentials>(&text).err().unwrap().to_string();
                assert!(!error.contains("862486") && error.contains("must be a string"), "{error}");
            }
        }
        let given: Credentials = serde_json::from_str("{\"operator\":\"862486862486\",\"pin\":\"x862486\"}").unwrap();
        assert!(!given.operator.name().unwrap_err().detail().contains("862486"));
        assert!(!given.pin.pin().unwrap_err().detail().contains("862486"));
    }

    #[test]
    fn a_tills_own_cashier_is_some_text() {
        assert_eq!(stated(" 12 ").unwrap(), "12");
        assert!(stated(&"a".repeat(LONGEST_STATED)).is_ok());
        for wrong in ["", "  ", "a\u{1b}[2J", "a\nb", &"a".repeat(LONGEST_STATED + 1)] {
            assert_eq!(stated(wrong).unwrap_err().code(), "operator", "{wrong:?}");
        }
    }
}
