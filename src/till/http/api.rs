//! The paths of the JSON interface, each with its verbs, and how a verb asks the agent.
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
//! | file | its verbs |
//! |---|---|
//! | `sales` | one transaction: begin, show, cancel, judge a signature, settle |
//! | `lists` | many: the list, the sums |
//! | `receipts` | a receipt, read or printed again |
//! | `events` | every step as it happens |
//! | `terminal` | status, figures, log, an amount that is typed |
//! | `payments` | what the gateway holds |
//! | `operators` | who stands at the counter: sessions, approvals, the operators; its head has their table |
//!
//! What each verb needs is the table in `till/rights.rs`; who lacks it hears 403 with the right, whose it is, and the
//! key to change. `?till=NAME` names the till that is meant: a program that stands for several names one with each
//! request but `status` and `events`, and whoever has the right `any-till` sees, cancels and prints those of other
//! tills. A till has its own only.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::MethodRouter;
use axum::{Router, middleware};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::timeout;

use super::asked::MAX_BODY;
use super::failure::Failure;
use super::guard::{Door, guard};
use super::places::count;
use super::{Stopped, events, lists, operators, payments, receipts, sales, terminal};
use crate::money::Currency;
use crate::till::{Command, Permit, PortView, ProblemType, Progress};

/// The agent answers within one write of the journal; a slow SD card needs a second.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);

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

/// One method of one path.
pub(super) struct Route {
    pub(super) path: &'static str,
    pub(super) serve: fn() -> MethodRouter<Arc<App>>,
}

/// Every verb, in the order of the manual.
const ROUTES: &[&[Route]] = &[
    sales::ROUTES,
    lists::ROUTES,
    receipts::ROUTES,
    terminal::ROUTES,
    events::ROUTES,
    payments::ROUTES,
    operators::ROUTES,
];

/// The verbs behind a door.
pub(super) fn router(app: Arc<App>, door: Door) -> Router {
    let add = |router: Router<Arc<App>>, route: &Route| router.route(route.path, (route.serve)());
    let router = ROUTES.iter().copied().flatten().fold(Router::new(), add);
    let router = router.route_layer(middleware::from_fn_with_state(Arc::clone(&app), operators::person));
    // Whoever signs in or out has no session, or one that may have ended.
    let router = operators::SESSION_ROUTES.iter().fold(router, add);
    router
        .fallback(|| async {
            let detail = "no such path; they all begin with /v1/sales, /v1/status or /v1/events";
            Failure::new(ProblemType::NotFound, detail)
        })
        .method_not_allowed_fallback(|| async {
            Failure::new(ProblemType::MethodNotAllowed, "this path has no such method: GET asks, POST changes")
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(count))
        .layer(middleware::from_fn_with_state(Arc::new(door), guard))
        .with_state(app)
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

    /// As [`Self::ask`], where the answer takes its time.
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
}
