//! The verbs of the JSON interface, one function each.
//!
//! | request | answer |
//! |---|---|
//! | `POST /v1/sales` `{"reference","amount","currency",…}` | 201 the sale; 200 with `replayed` when the reference is known |
//! | `GET /v1/sales/{reference}[?wait-s=N]` | the sale, once it has ended or after N seconds |
//! | `GET /v1/latest` | the latest sale of the till |
//! | `GET /v1/sales[?since=N&limit=N&till=NAME]` | `{"sales":[…]}`, oldest first |
//! | `GET /v1/totals[?since=N&carried=N,N]` | counts and sums after a number; `next` and `carried` are the next question's |
//! | `POST /v1/sales/{reference}/cancel` | the sale, with `"cancel"`: `in-time` or `too-late`, and `"cancelText"` |
//! | `POST /v1/sales/{reference}/signature` `{"accepted"}` | the sale: ended, or being reversed |
//! | `GET /v1/sales/{reference}/receipt[?copy=customer]` | text |
//! | `POST /v1/sales/{reference}/receipt[?copy=customer]` | 202: it is printed again, marked as a duplicate; `{"printer","state","waiting"}` |
//! | `POST /v1/settle/{number}` `{"keep"}` | the sale: what was paid stays, or is reversed; on the Unix socket only |
//! | `GET /v1/payments/{id}` | the payment as the gateway knows it, by its flat names; on the Unix socket only |
//! | `GET /v1/query?NAME=VALUE&…` | `{"payments":[…]}`, by the interface's query parameters; on the Unix socket only |
//! | `POST /v1/reader/amount` `{"currency"}` | `{"amount","currency"}` as typed at the reader; nothing is begun by it |
//! | `GET /v1/status` | the terminal |
//! | `GET /v1/metrics` | figures for machines (OpenMetrics); with a token only where `[till] metrics` is set |
//! | `POST /v1/log-level` `{"level","forS"}` | how much is logged for a while, `{"level","leftS"}`, or `null` for as it was started; on the Unix socket only |
//! | `GET /v1/events` | server-sent events |
//!
//! The verbs about operators, and the headers `Pos-Session` and `Pos-Supervisor`, are in `operators.rs`. A till that has
//! cashiers of its own may say who it is: `"operator":"12"`, which is kept as the till's word.
//!
//! `"kind"` is `sale` when it is left out; `pre-authorisation` and `credit` take a card too. `capture`, `refund`,
//! `reversal`, `increment` and `reauthorisation` need no card but the earlier transaction: `"of":"its reference"`, or
//! `"number":17`, its number in this terminal's journal, which names another till's too (for callers with the right
//! `any-till`), or `"payment":"its id"` at the gateway (one that the journal does not know: for callers with the right
//! `unknown-payment`). Without an `amount` all that is left is meant. `by-registration` charges stored card data:
//! `"registration":"its id"`. `"parameters":{…}` are the gateway's, flat (`"cart.items[0].name"`) or nested.
//!
//! `"tip":"ask"` lets the cardholder type a tip at the reader, which is charged on top of the amount.
//! `"entry":"manual"` lets the card number be typed there, where the terminal allows it. `"acceptPartial":true` says
//! that the till can take an approval of less than the amount and have the rest paid another way (a sale, a
//! pre-authorisation, `by-registration`); without it such an approval is reversed. A sale in the state
//! `awaiting-signature` waits for its `signature`. `wait-s` ends there too, for somebody at the counter is asked.
//!
//! What each verb needs is the table in `till/rights.rs`; who lacks it hears 403 with the right, whose it is, and the
//! key to change. `?till=NAME` names the till that is meant: a program that stands for several names one with each
//! request but `status` and `events`, and whoever has the right `any-till` sees, cancels and prints those of other
//! tills. A till has its own only. `settle` is for the sales of before that wait for a person because the journal was
//! found to be an old copy of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Extension, FromRequest, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, body, middleware};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::Stopped;
use super::events;
use super::failure::Failure;
use super::guard::{Door, guard};
use super::list;
use super::operators;
use super::places::{Allowance, count};
use crate::money::{Amount, Currency};
use crate::till::{
    Attention, AttentionView, Caller, CancelView, Command, EarlierName, LogLevel, LogView, Permit, PortView, Progress,
    Refused, RequestFields, SaleState, SaleView, StatusView, TotalsView, Verb, Wanted,
};
use crate::transaction::{Kind, PaymentId, ReceiptCopy, Reference, SaleNumber};

/// A sale's request is below 200 bytes; tills may add blanks.
const MAX_BODY: usize = 64 * 1024;
/// From a request's head to the end of its body.
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// The agent answers within one write of the journal; a slow SD card needs a second.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
/// Longer than the gateway's own two deadlines.
const GATEWAY_DEADLINE: Duration = Duration::from_secs(170);
/// Longer than any `card-timeout-s`, which ends the typing.
const TYPING_DEADLINE: Duration = Duration::from_secs(660);
/// A journal of a hundred thousand transactions on a slow card.
const COUNT_DEADLINE: Duration = Duration::from_secs(60);
/// Transactions without an end that may be handed on from one count to the next.
const MAX_CARRIED: usize = 1000;
/// Longest `wait-s`: some proxies and libraries give up at two minutes.
const MAX_WAIT_S: u32 = 120;
/// What `GET /v1/metrics` answers, for `Content-Type`.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// How long a changed log lasts when nobody says, and at most: a log that is full of detail wears out a board's card.
const LOG_FOR_S: u64 = 3600;
const LOG_FOR_MOST_S: u64 = 24 * 3600;
/// Sales of one list when the till names no limit, and at most.
const LIST_LIMIT: (u32, u32) = (100, 1000);

/// What every verb needs.
pub(super) struct App {
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) progress: broadcast::Sender<Progress>,
    pub(super) currency: Currency,
    pub(super) stopped: Stopped,
    /// How the port stands; `None` when no till has a token.
    pub(super) port: watch::Receiver<Option<PortView>>,
    /// Tokens may ask for the figures too.
    pub(super) metrics_at_port: bool,
    /// Somebody must be signed in for what moves money, unless a way in is exempt.
    pub(super) operators_required: bool,
}

/// The verbs behind a door.
pub(super) fn router(app: Arc<App>, door: Door) -> Router {
    Router::new()
        .route("/v1/sales", get(list).post(sale))
        .route("/v1/sales/{reference}", get(show))
        .route("/v1/latest", get(latest))
        .route("/v1/sales/{reference}/cancel", post(cancel))
        .route("/v1/sales/{reference}/signature", post(signature))
        .route("/v1/sales/{reference}/receipt", get(receipt).post(print))
        .route("/v1/settle/{number}", post(settle))
        .route("/v1/totals", get(totals))
        .route("/v1/payments/{id}", get(payment))
        .route("/v1/query", get(query))
        .route("/v1/reader/amount", post(type_amount))
        .route("/v1/status", get(status))
        .route("/v1/metrics", get(figures))
        .route("/v1/log-level", post(log_level))
        .route("/v1/events", get(listen))
        .merge(operators::with_session())
        .route_layer(middleware::from_fn_with_state(Arc::clone(&app), operators::person))
        .merge(operators::without_session())
        .fallback(|| async {
            Failure::new(
                StatusCode::NOT_FOUND,
                "not-found",
                "no such path; they all begin with /v1/sales, /v1/status or /v1/events",
            )
        })
        .method_not_allowed_fallback(|| async {
            let message = "this path has no such method: GET asks, POST changes";
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message)
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(count))
        .layer(middleware::from_fn_with_state(Arc::new(door), guard))
        .with_state(app)
}

/// The body of `POST /v1/sales`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaleRequest {
    reference: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default, deserialize_with = "amount_text")]
    amount: Option<String>,
    currency: Option<String>,
    tip: Option<Tip>,
    entry: Option<Entry>,
    /// The till can take less than the amount, and have the rest paid another way.
    #[serde(rename = "acceptPartial")]
    accept_partial: Option<bool>,
    of: Option<String>,
    /// The till of `of`, when it is another's.
    till: Option<String>,
    /// Its number in the journal.
    number: Option<SaleNumber>,
    payment: Option<String>,
    registration: Option<String>,
    /// The till's own cashier, by the till's word.
    operator: Option<String>,
    #[serde(default)]
    parameters: serde_json::Map<String, serde_json::Value>,
}

/// The one thing that can be said about a tip.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tip {
    Ask,
}

/// How the card comes to the terminal, when not by itself.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    Manual,
}

async fn sale(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<TillQuery>, QueryRejection>,
    Body(asked): Body<SaleRequest>,
) -> Result<Response, Failure> {
    let Query(TillQuery { till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let caller = match &asked.operator {
        Some(name) => caller.with_stated(operators::stated(name)?)?,
        None => caller,
    };
    let permit = caller.may(Verb::Begin(asked.kind))?;
    let wanted = wanted(&app, &permit, permit.own(till)?, asked)?;
    let sale = app.ask(&permit, |reply| Command::Begin { wanted: Box::new(wanted), reply }).await?;
    let sale = sale.map_err(|refused| refused.told_to(|till| permit.hears(till)))?;
    let status = if sale.replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(sale)).into_response())
}

/// The request of a till in its language.
fn wanted(app: &App, permit: &Permit, own: String, asked: SaleRequest) -> Result<Wanted, Failure> {
    let SaleRequest {
        reference,
        kind,
        amount,
        currency,
        tip,
        entry,
        accept_partial,
        of,
        till,
        number,
        payment,
        registration,
        operator: _,
        parameters,
    } = asked;
    let reference = checked_reference(reference)?;
    let currency = match currency {
        Some(code) => Currency::from_code(&code).map_err(|error| Failure::value("currency", error.to_string()))?,
        None => app.currency,
    };
    let amount = amount.map(|text| Amount::parse(&text, currency)).transpose();
    let amount = amount.map_err(|error| Failure::value("amount", error.to_string()))?;
    if till.is_some() && (number.is_some() || payment.is_some()) {
        return Err(Failure::malformed(
            "till: goes with of; a number and a payment name one transaction by themselves",
        ));
    }
    let of = match (of, number, payment) {
        (Some(of), None, None) => {
            let till = permit.one(Some(till.unwrap_or_else(|| own.clone())))?;
            Some(EarlierName::Reference { till, reference: checked_reference(of)? })
        }
        (None, Some(number), None) => Some(EarlierName::Number(number)),
        (None, None, Some(payment)) => Some(EarlierName::Payment(PaymentId::new(payment))),
        (None, None, None) => None,
        _ => return Err(Failure::malformed("of, number and payment: give one of them")),
    };
    let (ask_tip, manual) = (tip.is_some(), entry.is_some());
    let fields = RequestFields { kind, of, registration, amount, ask_tip, manual, accept_partial };
    let transaction = fields.transaction().map_err(|misfit| Failure::malformed(misfit.to_string()))?;
    Ok(Wanted { till: own, reference, transaction, caller: permit.caller().clone(), parameters })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ShowQuery {
    #[serde(default)]
    wait_s: u32,
    till: Option<String>,
}

async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    reference: Result<Path<String>, PathRejection>,
    query: Result<Query<ShowQuery>, QueryRejection>,
) -> Result<Json<SaleView>, Failure> {
    let reference = path_reference(reference)?;
    let Query(ShowQuery { wait_s, till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let permit = caller.may(Verb::Show)?;
    let till = permit.one(till)?;
    if wait_s > MAX_WAIT_S {
        return Err(Failure::malformed(format!("wait-s is at most {MAX_WAIT_S}; ask again after it")));
    }
    let deadline = Instant::now() + Duration::from_secs(wait_s.into());
    // Listening begins before asking: an end between the two is not missed.
    let mut progress = app.progress.subscribe();
    let mut stopped = app.stopped.clone();
    loop {
        let sale = app.show(&permit, &till, &reference).await?;
        if wants_the_till(&sale) || wait_s == 0 {
            return Ok(Json(sale));
        }
        let changed = async {
            tokio::select! {
                () = news_of(&mut progress, &till, &reference) => true,
                () = stopped.wait() => false,
            }
        };
        match timeout_at(deadline, changed).await {
            Ok(true) => {}
            Ok(false) | Err(_) => return app.show(&permit, &till, &reference).await.map(Json),
        }
    }
}

async fn latest(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<TillQuery>, QueryRejection>,
) -> Result<Json<SaleView>, Failure> {
    let Query(TillQuery { till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let permit = caller.may(Verb::Show)?;
    let till = permit.one(till)?;
    Ok(Json(app.ask(&permit, |reply| Command::Latest { till, reply }).await??))
}

/// It has ended, or cannot go on without somebody at the counter.
fn wants_the_till(sale: &SaleView) -> bool {
    matches!(sale.state, SaleState::Ended | SaleState::AwaitingSignature)
}

/// Returns when the sale may want the till; never, when the agent will say nothing more.
async fn news_of(progress: &mut broadcast::Receiver<Progress>, till: &str, reference: &Reference) {
    loop {
        match progress.recv().await {
            Ok(step) if step.till != till || step.reference != reference.as_str() => {}
            Ok(Progress { sale: Some(sale), .. }) if wants_the_till(&sale) => return,
            Ok(_) => {}
            Err(broadcast::error::RecvError::Lagged(_)) => return,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    #[serde(default)]
    since: SaleNumber,
    limit: Option<u32>,
    till: Option<String>,
}

async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(ListQuery { since, limit, till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let (usual, most) = LIST_LIMIT;
    let limit = limit.unwrap_or(usual);
    if !(1..=most).contains(&limit) {
        return Err(Failure::malformed(format!("limit is 1 to {most}; ask for the rest with since")));
    }
    let permit = caller.may(Verb::List)?;
    let till = permit.one_or_all(till)?;
    let turn = allowance.turn_to_read().await?;
    list::answer(app, permit, list::ListWanted { till, since, limit }, turn).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TotalsQuery {
    #[serde(default)]
    since: SaleNumber,
    #[serde(default)]
    carried: String,
    till: Option<String>,
}

async fn totals(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    query: Result<Query<TotalsQuery>, QueryRejection>,
) -> Result<Json<TotalsView>, Failure> {
    let Query(TotalsQuery { since, carried, till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let numbers =
        carried.split(',').filter(|number| !number.is_empty()).map(str::parse).collect::<Result<Vec<SaleNumber>, _>>();
    let carried = numbers.map_err(|_| Failure::malformed("carried: numbers with commas between them, as 97,112"))?;
    if carried.len() > MAX_CARRIED {
        return Err(Failure::malformed(format!("carried: at most {MAX_CARRIED} numbers")));
    }
    // One that is after `since` is counted there; one that is named twice is counted once.
    let carried: BTreeSet<SaleNumber> = carried.into_iter().filter(|number| *number <= since).collect();
    let carried = carried.into_iter().collect();
    let permit = caller.may(Verb::Totals)?;
    let till = permit.one_or_all(till)?;
    let _turn = allowance.turn_to_read().await?;
    let counted = app.ask_within(&permit, COUNT_DEADLINE, |reply| Command::Totals { till, since, carried, reply });
    Ok(Json(counted.await??))
}

/// A cancellation or a printing has nothing to say but its path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TillQuery {
    till: Option<String>,
}

/// The permit to cancel a transaction or to judge its signature: of whoever may begin one of its kind, which never
/// changes.
async fn see_to(
    app: &App,
    caller: &Caller,
    till: Option<String>,
    reference: &Reference,
) -> Result<(Permit, String), Failure> {
    let permit = caller.may(Verb::Attend)?;
    let till = permit.one(till)?;
    let kind = app.show(&permit, &till, reference).await?.kind;
    Ok((caller.may(Verb::SeeTo(kind))?, till))
}

async fn cancel(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    reference: Result<Path<String>, PathRejection>,
    query: Result<Query<TillQuery>, QueryRejection>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<CancelView>, Failure> {
    let Query(TillQuery { till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let reference = path_reference(reference)?;
    let (permit, till) = see_to(&app, &caller, till, &reference).await?;
    let by = caller.who().clone();
    let sale = app.ask(&permit, |reply| Command::Cancel { till, reference, by, reply }).await??;
    Ok(Json(sale.into()))
}

/// What somebody at the counter found when the signatures were compared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureCheck {
    accepted: bool,
}

async fn signature(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    reference: Result<Path<String>, PathRejection>,
    query: Result<Query<TillQuery>, QueryRejection>,
    Body(SignatureCheck { accepted }): Body<SignatureCheck>,
) -> Result<Json<SaleView>, Failure> {
    let Query(TillQuery { till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let reference = path_reference(reference)?;
    let (permit, till) = see_to(&app, &caller, till, &reference).await?;
    let by = caller.who().clone();
    Ok(Json(app.ask(&permit, |reply| Command::Signature { till, reference, accepted, by, reply }).await??))
}

/// What a person found out about a sale that waits for one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settlement {
    keep: bool,
}

async fn settle(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    number: Result<Path<SaleNumber>, PathRejection>,
    Body(Settlement { keep }): Body<Settlement>,
) -> Result<Json<SaleView>, Failure> {
    let permit = caller.may(Verb::Settle)?;
    let Path(number) = number.map_err(|error| Failure::malformed(error.body_text()))?;
    let by = caller.who().clone();
    Ok(Json(app.ask(&permit, |reply| Command::Settle { number, keep, by, reply }).await??))
}

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
    reference: Result<Path<String>, PathRejection>,
    query: Result<Query<ReceiptQuery>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(ReceiptQuery { copy, till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let permit = caller.may(Verb::Receipt)?;
    let (till, reference) = (permit.one(till)?, path_reference(reference)?);
    let text = app.ask(&permit, |reply| Command::Receipt { till, reference, copy, reply }).await??;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

async fn print(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    reference: Result<Path<String>, PathRejection>,
    query: Result<Query<ReceiptQuery>, QueryRejection>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, Failure> {
    let Query(ReceiptQuery { copy, till }) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let permit = caller.may(Verb::Receipt)?;
    let (till, reference) = (permit.one(till)?, path_reference(reference)?);
    let printing = app.ask(&permit, |reply| Command::Print { till, reference, copy, reply }).await??;
    Ok((StatusCode::ACCEPTED, Json(printing)).into_response())
}

async fn payment(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<BTreeMap<String, String>>, Failure> {
    let permit = caller.may(Verb::AskGateway)?;
    let Path(id) = id.map_err(|error| Failure::malformed(error.body_text()))?;
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
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Json<Found>, Failure> {
    let permit = caller.may(Verb::AskGateway)?;
    let Query(filters) = query.map_err(|error| Failure::malformed(error.body_text()))?;
    let payments = app.ask_within(&permit, GATEWAY_DEADLINE, |reply| Command::Query { filters, reply }).await??;
    Ok(Json(Found { payments }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AmountRequest {
    currency: Option<String>,
}

#[derive(Serialize)]
struct AmountTyped {
    amount: String,
    currency: &'static str,
}

async fn type_amount(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Body(asked): Body<AmountRequest>,
) -> Result<Json<AmountTyped>, Failure> {
    let permit = caller.may(Verb::TypeAmount)?;
    let currency = match asked.currency {
        Some(code) => Currency::from_code(&code).map_err(|error| Failure::value("currency", error.to_string()))?,
        None => app.currency,
    };
    let typed = app.ask_within(&permit, TYPING_DEADLINE, |reply| Command::TypeAmount { currency, reply }).await??;
    Ok(Json(AmountTyped { amount: typed.decimal(), currency: typed.currency().code() }))
}

async fn status(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<StatusView>, Failure> {
    let permit = caller.may(Verb::Status)?;
    let mut status = app.ask(&permit, |reply| Command::Status { permit: permit.clone(), reply }).await?;
    status.http.clone_from(&app.port.borrow());
    let trouble = status.http.as_ref().and_then(|port| port.trouble.clone());
    status.attention.extend(trouble.map(|text| AttentionView::new(Attention::TillPortClosed, text)));
    Ok(Json(status))
}

/// One text of bounded length, made between two turns of the agent's loop; what a caller may ask at a time is bounded
/// for all verbs.
async fn figures(State(app): State<Arc<App>>, Extension(caller): Extension<Caller>) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Metrics)?;
    if caller.who().token.is_some() && !app.metrics_at_port {
        let message = "figures are for the Unix socket alone; to serve them here too, write metrics = true into [till]";
        return Err(Failure::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    let text = app.ask(&permit, |reply| Command::Metrics { reply }).await?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}

/// A level, or back to how the program was started.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WantedLevel {
    Usual,
    Info,
    Debug,
    Trace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogRequest {
    level: WantedLevel,
    #[serde(rename = "forS")]
    for_s: Option<u64>,
}

async fn log_level(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Body(LogRequest { level, for_s }): Body<LogRequest>,
) -> Result<Json<Option<LogView>>, Failure> {
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
    Ok(Json(app.ask(&permit, |reply| Command::Log { level, lasts, by, reply }).await??))
}

async fn listen(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::Listen)?;
    let place = allowance.listener()?;
    Ok(events::stream(permit, app.progress.subscribe(), app.stopped.clone(), place))
}

impl App {
    /// One command and its answer; nothing is asked without a permit.
    pub(super) async fn ask<T>(
        &self,
        permit: &Permit,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Failure> {
        self.ask_within(permit, ANSWER_DEADLINE, command).await
    }

    pub(super) async fn ask_within<T>(
        &self,
        _: &Permit,
        deadline: Duration,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            self.commands.send(command(reply)).await.ok()?;
            answer.await.ok()
        };
        timeout(deadline, asked).await.ok().flatten().ok_or_else(Failure::no_answer)
    }

    async fn show(&self, permit: &Permit, till: &str, reference: &Reference) -> Result<SaleView, Failure> {
        let (till, reference) = (till.to_owned(), reference.clone());
        let shown: Result<SaleView, Refused> =
            self.ask(permit, |reply| Command::Show { till, reference, reply }).await?;
        Ok(shown?)
    }
}

fn path_reference(path: Result<Path<String>, PathRejection>) -> Result<Reference, Failure> {
    let Path(reference) = path.map_err(|error| Failure::malformed(error.body_text()))?;
    checked_reference(reference)
}

pub(super) fn checked_reference(reference: String) -> Result<Reference, Failure> {
    Reference::parse(reference).map_err(|error| Failure::value("reference", error.to_string()))
}

/// Takes a string and nothing else: 12.34 as a JSON number is a binary fraction somewhere on its way.
pub(super) fn amount_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct Text;

    impl Visitor<'_> for Text {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string such as \"12.34\" (a number could be rounded)")
        }

        fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
            Ok(Some(text.to_owned()))
        }
    }

    deserializer.deserialize_any(Text)
}

/// A JSON body within its size and its time; an empty one is `{}`. The field that is wrong is named.
pub(super) struct Body<T>(pub(super) T);

impl<T: for<'de> Deserialize<'de>, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let bytes = match timeout(BODY_DEADLINE, body::Bytes::from_request(request, state)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                let message = format!("the body is larger than {MAX_BODY} bytes");
                return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message));
            }
            Ok(Err(error)) => return Err(Failure::malformed(error.body_text())),
            Err(_) => {
                let message = "the body did not arrive in time";
                return Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "timeout", message));
            }
        };
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        // serde would take a list for the fields in their order.
        if !text.trim_ascii_start().starts_with(b"{") {
            return Err(Failure::malformed("the body: must be one JSON object"));
        }
        let mut json = serde_json::Deserializer::from_slice(text);
        let read =
            serde_path_to_error::deserialize(&mut json).map_err(|error| match error.path().to_string().as_str() {
                "." => Failure::malformed(format!("the body: {}", error.inner())),
                field => Failure::malformed(format!("{field}: {}", error.inner())),
            })?;
        json.end().map_err(|error| Failure::malformed(format!("the body: {error}")))?;
        Ok(Self(read))
    }
}
