//! The paths of the JSON interface, each with its verbs, and how a verb asks the agent.
//!
//! | file | its verbs |
//! |---|---|
//! | `sales` | one transaction: begin, show, cancel, judge a signature, settle |
//! | `confirm` | what a till takes of a sale that it confirms |
//! | `lists` | many: the list and its search, the sums |
//! | `receipts` | a receipt, read or printed again |
//! | `closes` | closes of day |
//! | `events` | every step as it happens |
//! | `terminal` | status, figures, log, an amount that is typed |
//! | `payments` | what the gateway holds |
//! | `operators` | the operators: listed, added, removed, given a PIN |
//! | `sessions` | who stands at the counter: to sign in and out, and a supervisor's word |
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
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::asked::MAX_BODY;
use super::failure::Failure;
use super::guard::{Door, guard, in_json};
use super::places::count;
use super::{Stopped, closes, confirm, events, lists, operators, payments, receipts, sales, sessions, terminal};
use crate::money::Currency;
use crate::till::{Command, Permit, PortView, ProblemType, ProgressLog};

/// The agent answers within one write of the journal; a slow SD card needs a second.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);

/// What every verb needs.
pub(super) struct App {
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) progress: ProgressLog,
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
    #[cfg(feature = "docs")]
    pub(super) method: &'static str,
    #[cfg(feature = "docs")]
    pub(super) describe: fn() -> super::description::Operation,
}

/// Routes: method, path, handler, and what the interface's description says of it. The last is not in a board's
/// program.
macro_rules! routes {
    ($($method:ident $path:literal => $handler:ident, $description:expr;)+) => {
        &[$(
            $crate::till::http::api::Route {
                path: $path,
                serve: || axum::routing::$method($handler),
                #[cfg(feature = "docs")]
                method: stringify!($method),
                #[cfg(feature = "docs")]
                describe: || {
                    #[allow(unused_imports, reason = "not every description has an example")]
                    use $crate::till::http::description::{Operation, ProblemType, examples, json};
                    $description
                },
            },
        )+]
    };
}
pub(super) use routes;

/// Every verb, in the order of the manual.
const ROUTES: &[&[Route]] = &[
    sales::ROUTES,
    confirm::ROUTES,
    lists::ROUTES,
    receipts::ROUTES,
    closes::ROUTES,
    terminal::ROUTES,
    events::ROUTES,
    payments::ROUTES,
    operators::ROUTES,
    sessions::ROUTES,
];

/// Every route.
#[cfg(feature = "docs")]
pub(super) fn every_route() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().copied().flatten().chain(sessions::ROUTES_TO_SIGN_IN)
}

/// The verbs behind a door.
pub(super) fn router(app: Arc<App>, door: Door) -> Router {
    let add = |router: Router<Arc<App>>, route: &Route| {
        router.route(route.path, (route.serve)().route_layer(middleware::from_fn(in_json)))
    };
    let router = ROUTES.iter().copied().flatten().fold(Router::new(), add);
    let router = router.route_layer(middleware::from_fn_with_state(Arc::clone(&app), sessions::person));
    let router = sessions::ROUTES_TO_SIGN_IN.iter().fold(router, add);
    router
        .fallback(|| async {
            let detail = "no such path; they all begin with /v1/sales, /v1/status or /v1/events";
            Failure::new(ProblemType::NotFound, detail)
        })
        .method_not_allowed_fallback(|| async {
            Failure::new(
                ProblemType::MethodNotAllowed,
                "this path has no such method: GET asks, POST changes, DELETE removes",
            )
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

    /// As [`Self::ask`], of what may be training.
    pub(super) async fn ask_of<T>(
        &self,
        training: bool,
        permit: &Permit,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Failure> {
        let command = |reply| match training {
            true => Command::InTraining(Box::new(command(reply))),
            false => command(reply),
        };
        self.ask(permit, command).await
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
