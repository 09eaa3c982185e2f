//! The verbs for the terminal: its status, its metrics, its log level, an amount typed at its reader, and a till's own
//! text on its reader or its paper.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::deadline_of;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::api::{App, Route, routes};
use super::asked::{JsonBody, Parameters, TillQuery};
use super::failure::Failure;
use super::values::whole_number;
use crate::till::{
    Attention, AttentionView, Caller, Command, LineToPrint, LogLevel, LogView, PrintView, ProblemType, StatusView, Verb,
};
use pos_terms::money::Currency;
use pos_terms::transaction::Kind;
use pos_words::Message;

const TYPING_DEADLINE: AnswerDeadline = deadline_of("POST", "/v1/reader/amount");
const PRINT_DEADLINE: AnswerDeadline = deadline_of("POST", "/v1/printer/lines");
/// The `Content-Type` of `GET /v1/metrics`.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The time for which a changed log level lasts, by default and at most, in seconds. A detailed log wears out the
/// board's storage.
const LOG_FOR_S: u64 = 3600;
const LOG_FOR_MOST_S: u64 = 24 * 3600;

/// The verbs for the terminal.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/status" => status,
        ApiOperation::new("status", "Get the terminal's status")
            .needs(Verb::Status)
            .answers::<StatusView>(200, "The terminal.", examples::status());
    get "/v1/metrics" => figures,
        ApiOperation::new("metrics", "Get metrics (OpenMetrics)")
            .text("Over HTTP with a token, only if `metrics` is set in `[till]`.")
            .needs(Verb::Metrics)
            .answers_text(200, "The figures.", OPEN_METRICS, "# EOF\n");
    post "/v1/log-level" => log_level,
        ApiOperation::new("logLevel", "Change the log level for a limited time")
            .needs(Verb::Log)
            .body::<LogRequest>(json!({ "level": "debug", "forS": 600 }))
            .answers::<Option<LogView>>(200, "The log level; `null`: the usual level.", json!({ "level": "debug", "leftS": 600 }))
            .refuses(&[ProblemType::NotPossible]);
    post "/v1/reader/amount" => type_amount,
        ApiOperation::new("typeAmount", "Ask for an amount at the reader; this begins no transaction")
            .needs(Verb::TypeAmount)
            .query::<TillQuery>()
            .body::<AmountRequest>(json!({ "currency": "EUR" }))
            .answers::<AmountTyped>(200, "The typed amount.", json!({ "amount": "12.34", "currency": "EUR" }))
            .refuses(&[ProblemType::Currency, ProblemType::NothingTyped, ProblemType::NotReady]);
    post "/v1/reader/text" => show_text,
        ApiOperation::new("showText", "Show a text of the till to the customer between sales")
            .text(
                "The text stays until the reader shows another text or the next sale begins. Text that does not \
                 fit the display is cut.",
            )
            .needs(Verb::TillsText)
            .body::<TextRequest>(json!({ "text": "Total 12.34 EUR\nThank you" }))
            .answers_nothing(204, "The reader has the text.")
            .refuses(&[ProblemType::NotReady]);
    post "/v1/printer/lines" => print_lines,
        ApiOperation::new("printLines", "Print the till's own lines, which are not a receipt of this terminal")
            .text(
                "The answer comes when the lines are printed, as far as the printer reports it. The lines are tried \
                 once and not kept: after a refusal, the till may send them again.",
            )
            .needs(Verb::TillsText)
            .body::<LinesRequest>(json!({
                "lines": [
                    { "text": "VOUCHER", "align": "centre", "style": "big" },
                    { "text": "" },
                    { "text": "Points", "value": "120" },
                    { "text": "400638133393", "code": "ean-13", "align": "centre" },
                ],
            }))
            .answers::<PrintView>(
                200,
                "The lines are printed.",
                json!({ "printer": "printer-1", "state": "ready", "text": "ok", "waiting": 0 }),
            )
            .refuses(&[ProblemType::Printer]);
    get "/v1/openapi.json" => description,
        ApiOperation::new("description", "Get this description (OpenAPI 3.1)")
            .needs(Verb::Status)
            .answers::<serde_json::Map<String, serde_json::Value>>(200, "The description.", json!({ "openapi": "3.1.0" }));
};

/// The file with the interface's description (OpenAPI 3.1), compressed by the build (zlib, RFC 1950). It is generated
/// from the verbs and their types, and a test compares them. The agent contains only the file.
const DESCRIPTION: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.z"));

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct TextRequest {
    /// The text, with lines separated by line feeds.
    #[cfg_attr(feature = "docs", schemars(length(max = 512)))]
    text: String,
}

/// The greatest number of characters in a text to show, which is more than any reader's display has.
const LONGEST_TEXT: usize = 512;
/// The greatest number of lines in one request, which is about 80 cm of paper.
const MOST_LINES: usize = 200;

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct LinesRequest {
    /// The lines, from the top.
    #[cfg_attr(feature = "docs", schemars(length(min = 1, max = 200)))]
    lines: Vec<LineToPrint>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct AmountRequest {
    /// The currency (ISO 4217), which is optional and must be the terminal's.
    currency: Option<String>,
}

/// An amount that was typed at the reader.
#[derive(Serialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, Deserialize))]
struct AmountTyped {
    /// The amount, such as `12.34`.
    amount: String,
    /// The currency (ISO 4217).
    currency: String,
}

async fn show_text(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    JsonBody(TextRequest { text }): JsonBody<TextRequest>,
) -> Result<StatusCode, Failure> {
    let permit = caller.may(Verb::TillsText)?;
    if text.chars().count() > LONGEST_TEXT {
        return Err(Failure::malformed(format!("text: at most {LONGEST_TEXT} characters")).field("text"));
    }
    app.ask(&permit, |reply| Command::ShowText { text, reply }).await??;
    Ok(StatusCode::NO_CONTENT)
}

async fn print_lines(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    JsonBody(LinesRequest { lines }): JsonBody<LinesRequest>,
) -> Result<Json<PrintView>, Failure> {
    let permit = caller.may(Verb::TillsText)?;
    if lines.is_empty() || lines.len() > MOST_LINES {
        return Err(Failure::malformed(format!("lines: must be 1 to {MOST_LINES} lines")).field("lines"));
    }
    let is_long = |text: &str| text.chars().count() > LineToPrint::LONGEST;
    if let Some(at) = lines.iter().position(|line| is_long(&line.text) || is_long(&line.value)) {
        let why = format!("lines[{at}]: text and value have at most {} characters", LineToPrint::LONGEST);
        return Err(Failure::malformed(why).field(&format!("lines[{at}]")));
    }
    let ask = |reply| Command::PrintLines { lines, reply };
    Ok(Json(app.ask_within(&permit, PRINT_DEADLINE, ask).await??))
}

/// A caller that waits for an amount. This value is dropped when the request ends or the caller disconnects.
struct AmountWanted(mpsc::Sender<Command>);

impl Drop for AmountWanted {
    fn drop(&mut self) {
        let commands = self.0.clone();
        tokio::spawn(async move { commands.send(Command::NoAmountWanted).await });
    }
}

async fn type_amount(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Parameters(TillQuery { till }): Parameters<TillQuery>,
    JsonBody(asked): JsonBody<AmountRequest>,
) -> Result<Json<AmountTyped>, Failure> {
    let permit = caller.may(Verb::TypeAmount)?;
    permit.if_named(till)?;
    let currency = match asked.currency {
        Some(code) => Currency::from_code(&code)
            .map_err(|error| Failure::new(ProblemType::Currency, error.to_string()).field("currency"))?,
        None => app.currency,
    };
    let _until_here = AmountWanted(app.commands.clone());
    let typed = app.ask_within(&permit, TYPING_DEADLINE, |reply| Command::TypeAmount { currency, reply }).await??;
    Ok(Json(AmountTyped { amount: typed.decimal(), currency: typed.currency().code().to_owned() }))
}

async fn status(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<StatusView>, Failure> {
    let permit = caller.may(Verb::Status)?;
    let mut status = app.ask(&permit, |reply| Command::Status { permit: permit.clone(), reply }).await?;
    status.may_begin = Kind::ALL.into_iter().filter(|kind| caller.may(Verb::Begin(*kind)).is_ok()).collect();
    status.tills = caller.tills().to_vec();
    status.http.clone_from(&app.port.borrow());
    let trouble = status.http.as_ref().and_then(|port| port.trouble.as_deref());
    let trouble = trouble.map(|why| app.words.tell(&Message::AttentionTillPortClosed.with("why", why)));
    status.attention.extend(trouble.map(|text| AttentionView::new(Attention::TillPortClosed, text)));
    Ok(Json(status))
}

async fn description(Extension(caller): Extension<Caller>) -> Result<Response, Failure> {
    caller.may(Verb::Status)?;
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(DESCRIPTION).expect("the build has packed it");
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// Returns the metrics as one text of limited length, which the agent makes in one turn of its loop.
async fn figures(State(app): State<Arc<App>>, Extension(caller): Extension<Caller>) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Metrics)?;
    if caller.who().token.is_some() && !app.metrics_at_port {
        let message = "metrics are available only on the Unix socket; to serve them here, set metrics = true in [till]";
        return Err(Failure::new(ProblemType::Forbidden, message));
    }
    let text = app.ask(&permit, |reply| Command::Metrics { reply }).await?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}

/// A log level, or the level of the start.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum WantedLevel {
    Usual,
    Info,
    Debug,
    Trace,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct LogRequest {
    /// The level. `usual` is the level that the agent started with.
    level: WantedLevel,
    /// The number of seconds for which the level lasts. The default is an hour.
    #[serde(default, rename = "forS", deserialize_with = "whole_number")]
    #[cfg_attr(feature = "docs", schemars(range(min = 1, max = 86400)))]
    for_s: Option<u64>,
}

async fn log_level(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    JsonBody(asked): JsonBody<LogRequest>,
) -> Result<Json<Option<LogView>>, Failure> {
    log_level_for(&app, &caller, asked).await.map(Json)
}

/// Changes the log level for a caller.
pub(super) async fn log_level_for(
    app: &App,
    caller: &Caller,
    LogRequest { level, for_s }: LogRequest,
) -> Result<Option<LogView>, Failure> {
    let permit = caller.may(Verb::Log)?;
    let for_s = for_s.unwrap_or(LOG_FOR_S);
    if !(1..=LOG_FOR_MOST_S).contains(&for_s) {
        return Err(Failure::malformed(format!("forS: must be 1 to {LOG_FOR_MOST_S} seconds")));
    }
    let level = match level {
        WantedLevel::Usual => None,
        WantedLevel::Info => Some(LogLevel::Info),
        WantedLevel::Debug => Some(LogLevel::Debug),
        WantedLevel::Trace => Some(LogLevel::Trace),
    };
    let (lasts, by) = (Duration::from_secs(for_s), caller.who().clone());
    Ok(app.ask(&permit, |reply| Command::Log { level, lasts, by, reply }).await??)
}
