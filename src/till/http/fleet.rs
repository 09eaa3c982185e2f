//! The requests of the program that connects this terminal to its fleet (`pos-uplink`). It passes on what the fleet
//! signs, and the agent decides: it alone knows the keys.
//!
//! A command is judged and written into the journal by the agent's loop. Then it is carried out here, by the same
//! functions as a till's request and with the rights of the key's till. It is a task of its own, so that a caller which
//! disconnects does not leave a written command undone.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use pos_fleet_terms::{ARCHIVE_PART, CommandKind, CommandResult, Id, LARGEST_COMMAND};
use pos_till_api::deadlines::LONGEST_WAIT_S;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::api::{App, Route, routes};
use super::asked::{InPath, JsonBody, Nothing, Parameters, checked_reference, read_json};
use super::confirm::{TakenRequest, confirm_for};
use super::failure::Failure;
use super::sales::{SaleRequest, begin_for, cancel_for};
use super::terminal::{LogRequest, log_level_for};
use crate::till::{
    Caller, Command, CommandEnd, FleetConnection, FleetOrder, FleetRefused, FleetRequest, FleetTaken, Permit,
    ProblemType, SaleState, Verb,
};

/// The time after which the state of a running command is read again. A transaction announces its changes itself.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The verbs for the fleet's program.
pub(super) const ROUTES: &[Route] = routes! {
    post "/v1/fleet/connection" => connect,
        ApiOperation::new("beginFleetConnection", "Begin a connection to the fleet; the nonce before it is void")
            .text("For the program that connects this terminal to its fleet.")
            .needs(Verb::PassFleet)
            .body::<Nothing>(json!({}))
            .answers::<FleetConnection>(200, "The nonce and the counters.", examples::fleet_connection())
            .refuses(&[ProblemType::NoFleet, ProblemType::Journal]);
    post "/v1/fleet/commands" => command,
        ApiOperation::new("passFleetCommand", "Pass on a signed command, and get its result as it stands")
            .text("The body is a DSSE envelope of at most 16 KiB. The same envelope again gets the same answer, and \
                acts only once.")
            .needs(Verb::PassFleet)
            .body::<serde_json::Map<String, serde_json::Value>>(examples::fleet_envelope())
            .answers::<serde_json::Map<String, serde_json::Value>>(200, "The result.", examples::fleet_result())
            .refuses(&[ProblemType::NotSigned, ProblemType::NoFleet, ProblemType::Journal]);
    get "/v1/fleet/commands/{id}" => result,
        ApiOperation::new("fleetCommand", "Get what became of a command, or wait until that is final")
            .needs(Verb::PassFleet)
            .query::<WaitQuery>()
            .answers::<serde_json::Map<String, serde_json::Value>>(200, "The result.", examples::fleet_result())
            .refuses(&[ProblemType::NoSuchCommand, ProblemType::NoFleet, ProblemType::Journal]);
    get "/v1/fleet/commands/{id}/archive" => archive,
        ApiOperation::new("fleetArchive", "Get a part of the support archive that a command has made")
            .text("Each part has 16 KiB, and the last one the rest. The archive is gone after the next one, and after \
                a restart.")
            .needs(Verb::PassFleet)
            .query::<PartQuery>()
            .answers_text(200, "The bytes of the part.", "application/octet-stream", "…")
            .refuses(&[ProblemType::NoSuchCommand, ProblemType::NoFleet]);
};

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WaitQuery {
    /// The number of seconds to wait. The answer comes earlier if the result is final, or if a transaction needs the
    /// till.
    #[serde(default)]
    #[cfg_attr(feature = "docs", schemars(range(max = LONGEST_WAIT_S)))]
    wait_s: u32,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct PartQuery {
    /// The number of the part, from 0.
    #[serde(default)]
    part: u32,
}

async fn connect(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<Json<FleetConnection>, Failure> {
    let permit = caller.may(Verb::PassFleet)?;
    Ok(Json(app.ask(&permit, |reply| Command::Fleet(FleetRequest::Connect { reply })).await??))
}

async fn command(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    bytes: Bytes,
) -> Result<Json<CommandResult>, Failure> {
    let permit = caller.may(Verb::PassFleet)?;
    if bytes.len() > LARGEST_COMMAND {
        return Err(Failure::new(ProblemType::TooLarge, format!("the body exceeds {LARGEST_COMMAND} bytes")));
    }
    let envelope = bytes.to_vec();
    // The caller may disconnect while the command is on its way.
    let task = tokio::spawn(async move {
        let taken = app.ask(&permit, |reply| Command::Fleet(FleetRequest::Take { envelope, reply })).await??;
        match taken {
            FleetTaken::Answered(result) => Ok(*result),
            FleetTaken::Act(order) => carry_out(&app, &permit, *order).await,
        }
    });
    task.await.unwrap_or_else(|_| Err(Failure::no_answer())).map(Json)
}

/// Carries out a command that is in the journal, and returns its result.
async fn carry_out(app: &Arc<App>, permit: &Permit, order: FleetOrder) -> Result<CommandResult, Failure> {
    let FleetOrder { id, kind, caller, body } = order;
    let end = match act(app, &caller, kind, &body).await {
        Ok(end) => end,
        Err(failure) => {
            let problem = failure.into_view(&app.words);
            match ProblemType::of_code(&problem.code) {
                // A write of the journal that failed may be on the disk.
                Some(ProblemType::NoAnswer | ProblemType::Journal) => CommandEnd::Unknown,
                Some(ProblemType::Malformed) => CommandEnd::Malformed(problem.detail),
                _ => CommandEnd::Refused {
                    text: problem.detail.clone(),
                    problem: serde_json::to_value(problem).unwrap_or_default(),
                },
            }
        }
    };
    app.ask(permit, |reply| Command::Fleet(FleetRequest::Finish { id, end, reply })).await?.map_err(Failure::from)
}

/// The body of a command about a transaction that began.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfReference {
    reference: String,
}

/// Does what a command asks, as its caller.
async fn act(app: &Arc<App>, caller: &Caller, kind: CommandKind, body: &Value) -> Result<CommandEnd, Failure> {
    match kind {
        CommandKind::Sale => {
            let asked: SaleRequest = read(body)?;
            if asked.is_training() {
                return Err(Failure::malformed("training: a command cannot begin a training transaction"));
            }
            begin_for(app, caller.clone(), None, asked).await.map(|_| CommandEnd::Began)
        }
        CommandKind::Cancel => {
            let OfReference { reference } = read(body)?;
            let reference = checked_reference("reference", reference)?;
            done(&cancel_for(app, caller, reference).await?)
        }
        CommandKind::Confirm => {
            let mut said = body.clone();
            let reference = said.as_object_mut().and_then(|said| said.remove("reference")).unwrap_or_default();
            let OfReference { reference } = read(&json!({ "reference": reference }))?;
            let reference = checked_reference("reference", reference)?;
            let said: TakenRequest = read(&said)?;
            done(&confirm_for(app, caller, reference, said).await?)
        }
        CommandKind::LogLevel => {
            let asked: LogRequest = read(body)?;
            done(&log_level_for(app, caller, asked).await?)
        }
        // The agent's loop carries these out.
        CommandKind::Message | CommandKind::Archive | CommandKind::Restart => Ok(CommandEnd::Unknown),
    }
}

fn done(answer: &impl serde::Serialize) -> Result<CommandEnd, Failure> {
    Ok(CommandEnd::Done(serde_json::to_value(answer).unwrap_or_default()))
}

/// Reads the content of a command like the body of a request.
fn read<T: DeserializeOwned>(body: &Value) -> Result<T, Failure> {
    let text = serde_json::to_vec(body).unwrap_or_default();
    // serde would also accept a list with the fields in their order.
    if !body.is_object() {
        return Err(Failure::malformed("the body must be one JSON object"));
    }
    read_json(&text)
}

async fn result(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InPath(id): InPath<Id>,
    Parameters(WaitQuery { wait_s }): Parameters<WaitQuery>,
) -> Result<Json<CommandResult>, Failure> {
    let permit = caller.may(Verb::PassFleet)?;
    if wait_s > u32::from(LONGEST_WAIT_S) {
        return Err(Failure::malformed(format!("wait-s: must be at most {LONGEST_WAIT_S}; to wait longer, ask again")));
    }
    let deadline = Instant::now() + Duration::from_secs(wait_s.into());
    let (mut progress, mut stopped) = (app.progress.listen(), app.stopped.clone());
    loop {
        let of = id.clone();
        let result: Result<CommandResult, FleetRefused> =
            app.ask(&permit, |reply| Command::Fleet(FleetRequest::Result { id: of, reply })).await?;
        let result = result?;
        let now = Instant::now();
        if result.code.is_final() || needs_the_till(&result.body) || now >= deadline {
            return Ok(Json(result));
        }
        tokio::select! {
            // Any step may be one of this command's transaction.
            _ = timeout_at(deadline.min(now + LOOK_AGAIN), progress.next()) => {}
            () = stopped.wait() => return Ok(Json(result)),
        }
    }
}

/// Returns whether a command's transaction cannot continue without its till or a person.
fn needs_the_till(body: &Value) -> bool {
    [SaleState::AwaitingTill, SaleState::AwaitingSignature].iter().any(|state| body["state"] == state.as_str())
}

async fn archive(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InPath(id): InPath<Id>,
    Parameters(PartQuery { part }): Parameters<PartQuery>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::PassFleet)?;
    let file = app.ask(&permit, |reply| Command::Fleet(FleetRequest::Archive { id, reply })).await??;
    let at = u64::from(part) * ARCHIVE_PART as u64;
    let read = move || {
        let mut file = std::fs::File::open(file)?;
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::with_capacity(ARCHIVE_PART);
        file.take(ARCHIVE_PART as u64).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(Ok(bytes)) if !bytes.is_empty() => {
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
        }
        _ => Err(FleetRefused::NoSuchCommand.into()),
    }
}

impl From<FleetRefused> for Failure {
    fn from(refused: FleetRefused) -> Self {
        match refused {
            FleetRefused::NoFleet => {
                let remedy = "add the section [fleet] to the configuration, with the fleet's keys";
                Self::new(ProblemType::NoFleet, remedy)
            }
            FleetRefused::NotSigned => {
                let remedy = "sign it with a key that the terminal's configuration names in [[fleet.key]]";
                Self::new(ProblemType::NotSigned, remedy)
            }
            FleetRefused::Malformed(why) => Self::malformed(why),
            FleetRefused::NoSuchCommand => {
                let detail = "no command has this id, it is older than 30 days, or its archive is gone";
                Self::new(ProblemType::NoSuchCommand, detail)
            }
            FleetRefused::Journal(why) => Self::new(ProblemType::Journal, why),
        }
    }
}
