//! The paths of the JSON interface with their verbs, and the requests of the verbs to the agent.
//!
//! | file | verbs for |
//! |---|---|
//! | `sales` | one transaction: begin, show, cancel, report a signature, resolve |
//! | `confirm` | the till's confirmation of how much it accepts |
//! | `lists` | several transactions: list, search, sums |
//! | `receipts` | receipts: read, print again |
//! | `closes` | closes of day |
//! | `entries` | the entries of the journal's chain |
//! | `events` | all steps as they happen |
//! | `terminal` | the terminal: status, metrics, log, an amount typed at the reader, a till's own text |
//! | `payments` | payments at the gateway |
//! | `operators` | operators: list, add, remove, set a PIN, unlock |
//! | `fleet` | the fleet's signed commands and their results |
//! | `fleet_settings` | the fleet's signed settings and keys, and the report about them |
//! | `sessions` | the operator at the counter: sign in and out, and a supervisor's approval |
//!
//! The table in `till/rights.rs` lists the rights that each verb needs. A caller that lacks a right gets a 403 that
//! names the right, the caller, and the key to change. `?till=NAME` names the till of a request. A program that acts
//! for several tills must name one in each request except `status` and `events`. A caller with the right `any-till` can
//! see, cancel and print the transactions of other tills. Other callers can do this only with their own.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::MethodRouter;
use axum::{Router, middleware};
use pos_till_api::deadlines::AnswerDeadline;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::asked::MAX_BODY;
use super::failure::{Failure, tell};
use super::guard::{Entrance, guard, in_json};
use super::slots::count;
use super::{
    Stopped, closes, confirm, entries, events, fleet, fleet_settings, lists, operators, payments, receipts, sales,
    sessions, terminal,
};
use crate::till::{Command, Permit, PortView, ProblemType, ProgressLog};
use pos_terms::money::Currency;
use pos_words::Words;

/// The state that every verb needs.
pub(super) struct App {
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) progress: ProgressLog,
    pub(super) currency: Currency,
    pub(super) stopped: Stopped,
    /// The state of the port, or `None` if no till has a token.
    pub(super) port: watch::Receiver<Option<PortView>>,
    /// True if callers with a token may also read the metrics.
    pub(super) metrics_at_port: bool,
    /// True if an operator must be signed in for anything that moves money, unless the connection is exempt.
    pub(super) operators_required: bool,
    /// The terminal's language.
    pub(super) words: Words,
}

/// One method of one path.
pub(super) struct Route {
    pub(super) path: &'static str,
    pub(super) serve: fn() -> MethodRouter<Arc<App>>,
    #[cfg(any(test, feature = "docs"))]
    pub(super) method: &'static str,
    #[cfg(feature = "docs")]
    pub(super) describe: fn() -> super::description::ApiOperation,
}

/// Lists routes: method, path, handler, and the route's part of the interface's description. The program on a board
/// does not contain the description.
macro_rules! routes {
    ($($method:ident $path:literal => $handler:ident, $description:expr;)+) => {
        &[$(
            $crate::till::http::api::Route {
                path: $path,
                serve: || axum::routing::$method($handler),
                #[cfg(any(test, feature = "docs"))]
                method: stringify!($method),
                #[cfg(feature = "docs")]
                describe: || {
                    #[allow(unused_imports, reason = "not every description has an example")]
                    use $crate::till::http::description::{ApiOperation, ProblemType, examples, json};
                    $description
                },
            },
        )+]
    };
}
pub(super) use routes;

/// All verbs, in the order of the manual.
const ROUTES: &[&[Route]] = &[
    sales::ROUTES,
    confirm::ROUTES,
    lists::ROUTES,
    receipts::ROUTES,
    closes::ROUTES,
    entries::ROUTES,
    terminal::ROUTES,
    events::ROUTES,
    payments::ROUTES,
    operators::ROUTES,
    fleet::ROUTES,
    fleet_settings::ROUTES,
    sessions::ROUTES,
];

/// Returns all routes.
#[cfg(any(test, feature = "docs"))]
pub(super) fn every_route() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().copied().flatten().chain(sessions::ROUTES_TO_SIGN_IN)
}

/// Returns the router with all verbs for one entrance.
pub(super) fn router(app: Arc<App>, entrance: Entrance) -> Router {
    let add = |router: Router<Arc<App>>, route: &Route| {
        router.route(route.path, (route.serve)().route_layer(middleware::from_fn(in_json)))
    };
    let router = ROUTES.iter().copied().flatten().fold(Router::new(), add);
    let router = router.route_layer(middleware::from_fn_with_state(Arc::clone(&app), sessions::person));
    let router = sessions::ROUTES_TO_SIGN_IN.iter().fold(router, add);
    router
        .fallback(|| async {
            let detail = "there is no such path; try /v1/status, or see /v1/openapi.json";
            Failure::new(ProblemType::NotFound, detail)
        })
        .method_not_allowed_fallback(|| async {
            Failure::new(
                ProblemType::MethodNotAllowed,
                "this path does not support the method: use GET to read, POST to change, DELETE to remove",
            )
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(count))
        .layer(middleware::from_fn_with_state(Arc::new(entrance), guard))
        .layer(middleware::map_response_with_state(Arc::clone(&app), tell))
        .with_state(app)
}

impl App {
    /// Sends a command, which needs a permit, and returns its answer.
    pub(super) async fn ask<T>(
        &self,
        permit: &Permit,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Failure> {
        self.ask_within(permit, AnswerDeadline::AtOnce, command).await
    }

    /// Sends a command like [`Self::ask`], to the training agent if `training` is true.
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

    /// Sends a command like [`Self::ask`], with the deadline in the route's line of the table.
    pub(super) async fn ask_within<T>(
        &self,
        _: &Permit,
        deadline: AnswerDeadline,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            self.commands.send(command(reply)).await.ok()?;
            answer.await.ok()
        };
        timeout(deadline.agent(), asked).await.ok().flatten().ok_or_else(Failure::no_answer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::{Body, to_bytes};
    use axum::http::{Request, StatusCode};
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use pos_till_api::routes::{ApiRoute, PassedFor, ROUTES as TABLE};
    use serde_json::Value;
    use tokio::time::{Instant, sleep};

    use super::super::guard::Peer;
    use super::super::slots::ConnectionSlots;
    use super::*;
    use crate::config;
    use crate::till::{OperatorCommand, SignedIn};
    use pos_core::counter::Role;
    use pos_terms::transaction::OperatorName;

    fn described() -> Value {
        serde_json::from_str(include_str!("openapi.json")).unwrap()
    }

    /// Returns the differences between these methods and paths and the table, one per line.
    fn other_than_the_table(names: impl Iterator<Item = (String, String)>) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut left: Vec<(&str, &str)> = TABLE.iter().map(|row| (row.method, row.path)).collect();
        for (method, path) in names {
            match left.iter().position(|row| *row == (method.as_str(), path.as_str())) {
                Some(at) => drop(left.remove(at)),
                None => wrong.push(format!("{method} {path} has no line in the table of pos-till-api")),
            }
        }
        wrong.extend(left.iter().map(|(method, path)| format!("the table alone has {method} {path}")));
        wrong
    }

    fn routed() -> impl Iterator<Item = (String, String)> {
        every_route().map(|route| (route.method.to_uppercase(), route.path.to_owned()))
    }

    #[test]
    fn the_router_has_the_routes_of_the_table_and_no_others() {
        assert_eq!(other_than_the_table(routed()), Vec::<String>::new());
    }

    #[test]
    fn a_planted_route_is_found_and_so_is_one_that_is_missing() {
        let planted = ("GET".to_owned(), "/v1/planted".to_owned());
        let wrong = other_than_the_table(routed().skip(1).chain([planted]));
        let missing = format!("the table alone has {} {}", TABLE[0].method, TABLE[0].path);
        assert_eq!(wrong, ["GET /v1/planted has no line in the table of pos-till-api", &missing]);
    }

    #[test]
    fn the_description_has_the_routes_of_the_table_with_their_parameters() {
        let described = described();
        let mut names = Vec::new();
        for (path, methods) in described["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let method = method.to_uppercase();
                names.push((method.clone(), path.clone()));
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let mut said: Vec<&str> =
                    parameters.filter(|it| it["in"] == "query").map(|it| it["name"].as_str().unwrap()).collect();
                let row = TABLE.iter().find(|row| row.method == method && row.path == path);
                let mut known = row.unwrap_or_else(|| panic!("{method} {path}")).parameters.to_vec();
                said.sort_unstable();
                known.sort_unstable();
                assert_eq!(said, known, "{method} {path}");
            }
        }
        assert_eq!(other_than_the_table(names.into_iter()), Vec::<String>::new());
    }

    /// The longest time that finding a request's session may take.
    const SESSION_TAKES: Duration = AnswerDeadline::AtOnce.agent().saturating_sub(Duration::from_millis(1));

    /// Acts as an agent that answers session requests at the last moment, and no other requests.
    async fn stalls(mut commands: mpsc::Receiver<Command>) {
        let mut held = Vec::new();
        while let Some(command) = commands.recv().await {
            match command {
                Command::Operators(OperatorCommand::Session { reply, .. }) => {
                    sleep(SESSION_TAKES).await;
                    let name = OperatorName::parse("Anna").unwrap();
                    drop(reply.send(Ok(SignedIn { name, role: Role::Supervisor })));
                }
                command => held.push(command),
            }
        }
    }

    /// Makes a route's request as the description shows it.
    fn request_of(route: &ApiRoute, described: &Value) -> Request<Body> {
        let parts =
            [("{reference}", "R-1"), ("{close}", "last"), ("{number}", "7"), ("{id}", "p1"), ("{name}", "Anna")];
        let path = parts.iter().fold(route.path.to_owned(), |path, (part, is)| path.replace(part, is));
        let query = match route.parameters {
            parameters if parameters.contains(&"copy") => "?copy=customer",
            parameters if parameters.contains(&"wait-s") => "?wait-s=120",
            _ => "",
        };
        let operation = &described["paths"][route.path][route.method.to_lowercase()];
        let example = &operation["requestBody"]["content"]["application/json"]["example"];
        let body = if example.is_null() { Body::empty() } else { Body::from(example.to_string()) };
        let request = Request::builder().method(route.method).uri(format!("{path}{query}"));
        // Signing out needs a session, and looks it up only once.
        let has_session = route.passed_for != PassedFor::Nobody || route.path.ends_with("/current");
        let request = if has_session { request.header("pos-session", "x") } else { request };
        request.header("content-type", "application/json").body(body).unwrap()
    }

    /// The agent's loop is blocked. Each route answers `no-answer` at the deadline in its line of the table, before its
    /// caller gives up.
    #[tokio::test(start_paused = true)]
    async fn each_route_gives_up_at_the_deadline_of_its_line_and_before_its_caller() {
        let (commands, heard) = mpsc::channel(8);
        tokio::spawn(stalls(heard));
        let (_stop, stopped) = watch::channel(false);
        let app = App {
            commands,
            progress: ProgressLog::new(8),
            currency: Currency::from_code("EUR").unwrap(),
            stopped: Stopped(stopped),
            port: watch::channel(None).1,
            metrics_at_port: false,
            operators_required: false,
            words: Words::default(),
        };
        let router = TowerToHyperService::new(router(Arc::new(app), Entrance::Local(config::Till::default())));
        let (described, mut asked) = (described(), 0);
        for route in TABLE {
            // These routes ask the loop for nothing, or only for the session.
            let asks_nothing = ["/v1/events", "/v1/openapi.json"].contains(&route.path);
            if asks_nothing || (route.method, route.path) == ("GET", "/v1/sessions/current") {
                continue;
            }
            let mut request = request_of(route, &described);
            request.extensions_mut().insert(Peer(Some(0)));
            request.extensions_mut().insert(Arc::new(ConnectionSlots::default()).enter(Some(0)));
            let began = Instant::now();
            let answer = router.call(request).await.unwrap();
            let took = began.elapsed();
            let is_no_answer = answer.status() == StatusCode::SERVICE_UNAVAILABLE;
            let said = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            let said: Value = serde_json::from_slice(&said).unwrap();
            assert!(is_no_answer && said["code"] == "no-answer", "{} {}: {said}", route.method, route.path);
            // The route shows the transaction before it waits.
            let own = if route.deadline == AnswerDeadline::Named { AnswerDeadline::AtOnce } else { route.deadline };
            let is_behind_a_session = route.passed_for != PassedFor::Nobody;
            let before = if is_behind_a_session { SESSION_TAKES } else { Duration::ZERO };
            assert_eq!(took, before + own.agent(), "{} {}", route.method, route.path);
            assert!(took < route.deadline.caller(), "{} {}", route.method, route.path);
            asked += 1;
        }
        assert_eq!(asked, TABLE.len() - 3);
    }
}
