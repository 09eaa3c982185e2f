//! The requests about settings and command keys from the fleet. The agent's loop judges what is signed.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Extension, State};
use pos_fleet_terms::{LARGEST, Reported};
use serde::Deserialize;

use super::api::{App, Route, routes};
use super::asked::JsonBody;
use super::failure::Failure;
use crate::till::{Caller, Command, FleetSettingsRequest, ProblemType, Verb};

/// The verbs for settings and keys.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/fleet/settings" => report,
        ApiOperation::new("fleetSettings", "Get the terminal's report about the fleet's settings and keys")
            .needs(Verb::PassFleet)
            .answers::<serde_json::Map<String, serde_json::Value>>(200, "The report.", examples::fleet_report())
            .refuses(&[ProblemType::NoFleet]);
    post "/v1/fleet/settings" => settings,
        ApiOperation::new("passFleetSettings", "Pass on signed settings, and get the report")
            .text("The body is a DSSE envelope of at most 48 KiB. Settings that a key of the terminal signed and that \
                it refuses are also answered with the report, which says why.")
            .needs(Verb::PassFleet)
            .body::<serde_json::Map<String, serde_json::Value>>(examples::fleet_envelope())
            .answers::<serde_json::Map<String, serde_json::Value>>(200, "The report.", examples::fleet_report())
            .refuses(&[ProblemType::NotSigned, ProblemType::NoFleet, ProblemType::Journal]);
    post "/v1/fleet/keys" => keys,
        ApiOperation::new("passFleetKeys", "Pass on signed command keys, and get the report")
            .text("The body is a DSSE envelope of at most 48 KiB. Two config keys sign it.")
            .needs(Verb::PassFleet)
            .body::<serde_json::Map<String, serde_json::Value>>(examples::fleet_envelope())
            .answers::<serde_json::Map<String, serde_json::Value>>(200, "The report.", examples::fleet_report())
            .refuses(&[ProblemType::NotSigned, ProblemType::NoFleet, ProblemType::Journal]);
    post "/v1/fleet/acks" => acks,
        ApiOperation::new("passFleetAck", "Pass on how far the server has the journal, and get the report")
            .text("A trial of settings is kept only after an acknowledgement of the entry about its begin.")
            .needs(Verb::PassFleet)
            .body::<AckRequest>(json!({ "journal": "5f0c7d1e-7b1a-4b8e-9f53-0a4c2d6e8f10", "number": 4711 }))
            .answers::<serde_json::Map<String, serde_json::Value>>(200, "The report.", examples::fleet_report())
            .refuses(&[ProblemType::NoFleet]);
};

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct AckRequest {
    /// The identity of the journal.
    journal: String,
    /// The greatest number of an entry that the server has, with all entries before it.
    #[serde(deserialize_with = "entry_number")]
    #[cfg_attr(feature = "docs", schemars(with = "i64"))]
    number: i64,
}

/// Reads the number of an entry, also in the form `4711.0`. One that is too large counts as the greatest.
fn entry_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    let whole = |float: f64| {
        let greatest = if float < 0.0 { i64::MIN } else { i64::MAX };
        (float.fract() == 0.0).then(|| format!("{float:.0}").parse().unwrap_or(greatest))
    };
    let read = number.as_i64().or_else(|| number.as_f64().and_then(whole));
    read.ok_or_else(|| {
        serde::de::Error::custom(format_args!("invalid value: number `{number}`, expected a whole number"))
    })
}

async fn report(State(app): State<Arc<App>>, Extension(caller): Extension<Caller>) -> Result<Json<Reported>, Failure> {
    ask(&app, &caller, |reply| FleetSettingsRequest::Report { reply }).await
}

async fn settings(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    bytes: Bytes,
) -> Result<Json<Reported>, Failure> {
    let envelope = bounded(&bytes)?;
    ask(&app, &caller, |reply| FleetSettingsRequest::Settings { envelope, reply }).await
}

async fn keys(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    bytes: Bytes,
) -> Result<Json<Reported>, Failure> {
    let envelope = bounded(&bytes)?;
    ask(&app, &caller, |reply| FleetSettingsRequest::Keys { envelope, reply }).await
}

async fn acks(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    JsonBody(AckRequest { journal, number }): JsonBody<AckRequest>,
) -> Result<Json<Reported>, Failure> {
    ask(&app, &caller, |reply| FleetSettingsRequest::Acknowledged { journal, number, reply }).await
}

async fn ask(
    app: &App,
    caller: &Caller,
    request: impl FnOnce(Reply) -> FleetSettingsRequest,
) -> Result<Json<Reported>, Failure> {
    let permit = caller.may(Verb::PassFleet)?;
    Ok(Json(app.ask(&permit, |reply| Command::FleetSettings(request(reply))).await??))
}

type Reply = tokio::sync::oneshot::Sender<Result<Reported, crate::till::FleetRefused>>;

fn bounded(bytes: &Bytes) -> Result<Vec<u8>, Failure> {
    if bytes.len() > LARGEST {
        return Err(Failure::new(ProblemType::TooLarge, format!("the body exceeds {LARGEST} bytes")));
    }
    Ok(bytes.to_vec())
}
