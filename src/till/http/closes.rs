//! Closes of day: made, listed with the newest first, shown in three forms, and printed again.
//!
//! A close covers the whole terminal, with the sums of all tills. Only callers with the right to see other tills'
//! transactions see their references.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::deadline_of;
use serde::{Deserialize, Serialize};

use super::accept;
use super::api::{App, Route, routes};
use super::asked::{InPath, JsonBody, Nothing, Parameters, TillQuery, checked_reference};
use super::failure::Failure;
use super::slots::Allowance;
use crate::till::{Caller, CloseAsked, CloseView, Command, PrintView, Verb, WhichClose};
use pos_core::counter::{Close, csv};

const CLOSE_DEADLINE: AnswerDeadline = deadline_of("POST", "/v1/closes");
const SHOW_DEADLINE: AnswerDeadline = deadline_of("GET", "/v1/closes/{close}");
/// The number of closes in a list: by default (some weeks), and at most (about a quarter of a year).
const LIST_LIMIT: (u32, u32) = (20, 100);

/// The verbs for closes of day.
pub(super) const ROUTES: &[Route] = routes! {
    post "/v1/closes" => close,
        ApiOperation::new("closeDay", "Close the day, or return the close that was made with this reference")
            .text("Counts every transaction that ended since the previous close. It stops no transaction and changes \
                nothing at the gateway.")
            .needs(Verb::Close)
            .query::<TillQuery>()
            .body::<CloseRequest>(json!({ "reference": "Z-2026-11-20", "print": true }))
            .answers::<CloseView>(201, "The new close, which is recorded.", examples::close_made(false))
            .answers::<CloseView>(200, "The close that was made earlier with this reference.", examples::close_made(true))
            .refuses(&[ProblemType::Reference, ProblemType::ListUnderWay, ProblemType::Journal]);
    get "/v1/closes" => list,
        ApiOperation::new("listCloses", "List the closes of day, newest first")
            .text("Send `next` as `cursor` of the next request; without `next` there are no earlier closes.")
            .needs(Verb::Close)
            .query::<ClosesQuery>()
            .answers::<Closes>(200, "The closes.", json!({ "closes": [examples::close()], "next": "7" }))
            .refuses(&[ProblemType::ListUnderWay, ProblemType::Journal]);
    get "/v1/closes/{close}" => show,
        ApiOperation::new("showClose", "Get a close of day as JSON, as a table or as printed")
            .text("Name the close by its number, `last`, or `open`: a preview of the next close, which closes nothing.")
            .needs(Verb::Close)
            .query::<TillQuery>()
            .header("Accept", "The form. Usual: `application/json`.", json!({ "type": "string", "enum": ["application/json", "text/csv", "text/plain"] }))
            .answers::<Close>(200, "The close, in the form that `Accept` asks for.", examples::close())
            .answers_text(200, "", "text/csv", examples::CLOSE_AS_TABLE)
            .answers_text(200, "", "text/plain", examples::CLOSE_AS_TEXT)
            .refuses(&[ProblemType::NoSuchClose, ProblemType::NotAcceptable])
            .refuses(&[ProblemType::ListUnderWay, ProblemType::Journal]);
    post "/v1/closes/{close}/print" => print,
        ApiOperation::new("printClose", "Print a close of day again, marked as a duplicate")
            .needs(Verb::Close)
            .body::<Nothing>(json!({}))
            .answers::<PrintView>(
                202,
                "The printer has the job.",
                json!({ "printer": "printer-1", "state": "ready", "text": "ok", "waiting": 1 }),
            )
            .refuses(&[ProblemType::NoSuchClose, ProblemType::Printer, ProblemType::Journal]);
};

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct CloseRequest {
    /// The till's own reference. A repeated request with the same reference returns the same close.
    #[cfg_attr(feature = "docs", schemars(length(min = 1, max = 64), regex(pattern = "^[!-~]([ -~]*[!-~])?$")))]
    reference: Option<String>,
    /// True to print the close as soon as it is recorded.
    #[serde(default)]
    print: bool,
}

async fn close(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    Parameters(TillQuery { till }): Parameters<TillQuery>,
    JsonBody(CloseRequest { reference, print }): JsonBody<CloseRequest>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Close)?;
    let till = permit.own(till)?;
    let reference = reference.map(|reference| checked_reference("reference", reference)).transpose()?;
    let wish = CloseAsked { till, reference, by: caller.who().clone(), print };
    let _reading = allowance.permit_to_read().await?;
    let made = app.ask_within(&permit, CLOSE_DEADLINE, |reply| Command::Close { wish, reply }).await??;
    let status = if made.replayed { StatusCode::OK } else { StatusCode::CREATED };
    let close = made.close.told_to(|till| permit.sees(till));
    Ok((status, Json(CloseView { close, ..made })).into_response())
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ClosesQuery {
    /// The greatest number of closes to list. The default is 20.
    #[cfg_attr(feature = "docs", schemars(range(min = 1, max = 100)))]
    limit: Option<u32>,
    /// The `next` of an earlier answer, to list the closes before it.
    #[cfg_attr(feature = "docs", schemars(regex(pattern = "^[0-9]{1,19}$")))]
    cursor: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "docs", derive(Deserialize, schemars::JsonSchema))]
struct Closes {
    /// The closes, newest first.
    closes: Vec<Close>,
    /// The cursor for earlier closes. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    Parameters(ClosesQuery { limit, cursor }): Parameters<ClosesQuery>,
) -> Result<Json<Closes>, Failure> {
    let permit = caller.may(Verb::Close)?;
    let (usual, most) = LIST_LIMIT;
    let limit = limit.unwrap_or(usual);
    if !(1..=most).contains(&limit) {
        return Err(Failure::malformed(format!("limit: must be 1 to {most}; get the rest with cursor")).field("limit"));
    }
    let below = cursor.map_or(Ok(u64::MAX), |cursor| cursor.parse());
    let below = below.map_err(|_| wrong_cursor())?;
    let _reading = allowance.permit_to_read().await?;
    let closes = app.ask(&permit, |reply| Command::ListCloses { below, limit, reply }).await??;
    let closes: Vec<Close> = closes.into_iter().map(|close| close.told_to(|till| permit.sees(till))).collect();
    let last = closes.last().map(|close| close.number).filter(|number| *number > 1);
    let next = last.filter(|_| u32::try_from(closes.len()).is_ok_and(|read| read == limit));
    Ok(Json(Closes { next: next.map(|number| number.to_string()), closes }))
}

async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    InPath(which): InPath<String>,
    Parameters(TillQuery { till }): Parameters<TillQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Close)?;
    permit.if_named(till)?;
    let (which, form) = (which_close(&which)?, accept::wanted(&headers, FORMS)?);
    let asked = permit.clone();
    let _reading = if which == WhichClose::Open { Some(allowance.permit_to_read().await?) } else { None };
    let look = |reply| Command::ShowClose { which, permit: asked, reply };
    let shown = app.ask_within(&permit, SHOW_DEADLINE, look).await??;
    Ok(match form {
        CloseForm::Json => Json(shown.close).into_response(),
        CloseForm::Csv => {
            ([(header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present")], csv(&shown.close)).into_response()
        }
        CloseForm::Text => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], shown.text).into_response(),
    })
}

async fn print(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InPath(which): InPath<String>,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<(StatusCode, Json<PrintView>), Failure> {
    let permit = caller.may(Verb::Close)?;
    let which = which_close(&which)?;
    let printing = app.ask(&permit, |reply| Command::PrintClose { which, reply }).await??;
    Ok((StatusCode::ACCEPTED, Json(printing)))
}

fn which_close(which: &str) -> Result<WhichClose, Failure> {
    which.parse().map_err(|_| {
        Failure::malformed("name a close by its number, last, or open (a preview of the next close)").field("number")
    })
}

fn wrong_cursor() -> Failure {
    Failure::malformed("cursor: send next from an earlier answer, or omit cursor").field("cursor")
}

/// The form of an answer with a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CloseForm {
    Json,
    Csv,
    Text,
}

/// The forms of a close. The default is JSON.
const FORMS: &[(&str, CloseForm)] =
    &[("application/json", CloseForm::Json), ("text/plain", CloseForm::Text), ("text/csv", CloseForm::Csv)];
