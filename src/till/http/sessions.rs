//! The person at the counter. Operators sign in and out, a supervisor confirms one command of a cashier, and every
//! other verb learns who is signed in.
//!
//! A request with `Pos-Session` is made by the operator of that session. If the session has ended, any request with it
//! is refused, so a page learns this immediately. Every request except a `GET` keeps the session open.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pos_core::wish::{WantedTip, WishFields};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::headers;
use pos_till_api::routes::deadline_of;
use serde::{Deserialize, Serialize};

use super::api::{App, Route, routes};
use super::asked::{JsonBody, Parameters, TillQuery, checked_reference};
use super::credentials::Unrepeated;
#[cfg(feature = "docs")]
use super::description::REFERENCE;
use super::failure::Failure;
use super::sales::{AskedEntry, EarlierFields, how_much};
use super::values::{amount_text, whole_number};
use crate::operator_secrets::digest_of_token;
#[cfg(feature = "docs")]
use crate::till::{ApprovalView, SessionView};
use crate::till::{
    Caller, Command, Denied, OperatorCommand, OperatorRefused, Permit, Presence, ProblemType, SignedIn, TillSide, Verb,
    Wanted,
};
use pos_core::counter::{PinPlace, Role, TokenDigest};
use pos_terms::transaction::{Kind, OperatorName, SaleNumber};

/// The header with a session.
const SESSION: HeaderName = HeaderName::from_static(headers::SESSION);
/// The header with the network location from which a PIN comes.
const PLACE: HeaderName = HeaderName::from_static(headers::PLACE);
/// The header with a supervisor's approval.
const SUPERVISOR: HeaderName = HeaderName::from_static(headers::SUPERVISOR);
/// The header of requests from the front's page.
const PAGE: HeaderName = HeaderName::from_static(headers::PAGE);
const SIGN_IN_DEADLINE: AnswerDeadline = deadline_of("POST", "/v1/sessions");
const APPROVAL_DEADLINE: AnswerDeadline = deadline_of("POST", "/v1/approvals");

/// The verbs for signing in and out. Their callers have no session, or one that may have ended.
pub(super) const ROUTES_TO_SIGN_IN: &[Route] = routes! {
    post "/v1/sessions" => sign_in,
        ApiOperation::new("signIn", "Sign in an operator")
            .place()
            .text("Send the session in the header `Pos-Session` of each further request.")
            .needs(Verb::SignIn)
            .body::<Credentials>(json!({ "operator": "Anna", "pin": "4862" }))
            .answers::<SessionView>(201, "The session; only this answer contains it.", examples::session())
            .refuses(&[ProblemType::Operator, ProblemType::Pin, ProblemType::WrongPin])
            .refuses(&[ProblemType::OperatorLocked, ProblemType::PinUnderWay, ProblemType::Journal]);
    get "/v1/sessions/current" => current,
        ApiOperation::new("showSession", "Show the operator of the session in `Pos-Session`")
            .needs(Verb::SignIn)
            .answers::<Current>(200, "The operator.", json!({ "operator": "Anna", "role": "cashier" }));
    delete "/v1/sessions/current" => sign_out,
        ApiOperation::new("signOut", "Sign out the operator of `Pos-Session`")
            .needs(Verb::SignIn)
            .answers_nothing(204, "The session has ended.");
};

/// The verb for a supervisor's approval.
pub(super) const ROUTES: &[Route] = routes! {
    post "/v1/approvals" => approve,
        ApiOperation::new("approve", "Approve one command of a cashier as a supervisor")
            .place()
            .text("Send the approval in the header `Pos-Supervisor` of that command, once, within two minutes.")
            .text("`for` in the answer describes the command as the terminal read it; the approval covers only this \
                command.")
            .needs(Verb::SignIn)
            .query::<TillQuery>()
            .body::<ApprovalRequest>(json!({
                "operator": "Berta", "pin": "1973",
                "for": { "kind": "refund", "of": "order-4711", "reference": "refund-4711", "amount": "5.00" },
            }))
            .answers::<ApprovalView>(201, "The approval; only this answer contains it.", examples::approval())
            .refuses(&[ProblemType::Operator, ProblemType::Pin, ProblemType::WrongPin, ProblemType::NoSupervisor])
            .refuses(&[ProblemType::OperatorLocked, ProblemType::PinUnderWay, ProblemType::Journal])
            .refuses(&[ProblemType::Amount, ProblemType::Currency, ProblemType::Reference])
            .refuses(&[ProblemType::NotPossible, ProblemType::NotReady, ProblemType::NoSuchSale]);
};

/// Parses the network location that a program states for a PIN.
fn place(caller: &Caller, headers: &HeaderMap) -> Result<Option<PinPlace>, Failure> {
    let Some(given) = headers.get(&PLACE) else { return Ok(None) };
    if !caller.says_places() {
        let message = "Pos-Place: only a program in a [[till.peer]] may send this header";
        return Err(Failure::new(ProblemType::Forbidden, message));
    }
    let place = given.to_str().ok().and_then(PinPlace::parse);
    place.map(Some).ok_or_else(|| Failure::malformed("Pos-Place: must be 1 to 45 visible ASCII characters"))
}

/// Identifies the person at the counter for the verb that follows.
pub(super) async fn person(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return next.run(request).await;
    };
    let commands = is_act(request.method());
    let caller = for_its_till(&caller, request.headers(), request.uri().query());
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

/// Returns the caller of a request, without the need for an operator if the request names an exempt till. A page is
/// never exempt, because a person is at the counter, whichever till the page names.
fn for_its_till(caller: &Caller, headers: &HeaderMap, query: Option<&str>) -> Caller {
    match headers.contains_key(&PAGE) {
        true => caller.clone(),
        false => caller.in_the_name_of(named_till(query).as_deref()),
    }
}

/// Returns the till that a query names, if it names only one. A request with two is refused when its parameters are
/// parsed.
fn named_till(query: Option<&str>) -> Option<String> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let mut tills = pairs.filter(|(name, _)| name == "till").map(|(_, till)| till.into_owned());
    let first = tills.next();
    // No till has an empty name, so an empty name exempts no request.
    if tills.next().is_some() { Some(String::new()) } else { first }
}

/// Returns whether a request keeps a session open. Reads do not, because a page continues to read after its user has
/// left.
fn is_act(method: &Method) -> bool {
    !method.is_safe()
}

/// Returns the token in a header. An invalid token belongs to no session.
fn sent(headers: &HeaderMap, header: &HeaderName) -> Option<TokenDigest> {
    headers.get(header).map(|token| digest_of_token(token.as_bytes()))
}

impl App {
    async fn whose(&self, caller: &Caller, token: TokenDigest, commands: bool) -> Result<SignedIn, Failure> {
        let (permit, from) = (caller.may(Verb::SignIn)?, caller.who().without_person());
        let asked = |reply| Command::Operators(OperatorCommand::Session { token, from, commands, reply });
        Ok(self.ask(&permit, asked).await??)
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Credentials {
    /// The operator's name.
    #[cfg_attr(feature = "docs", schemars(with = "String", length(min = 1, max = 32)))]
    operator: Unrepeated,
    /// The operator's PIN.
    #[cfg_attr(feature = "docs", schemars(with = "String", regex(pattern = "^[0-9]{4,12}$")))]
    pin: Unrepeated,
}

async fn sign_in(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    JsonBody(Credentials { operator, pin }): JsonBody<Credentials>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::SignIn)?;
    let (place, from) = (place(&caller, &headers)?, caller.who().without_person());
    let (name, pin) = (operator.name()?, pin.pin()?);
    let asked = |reply| Command::Operators(OperatorCommand::SignIn { name, pin, from, place, reply });
    let opened = app.ask_within(&permit, SIGN_IN_DEADLINE, asked).await??;
    Ok((StatusCode::CREATED, Json(opened)).into_response())
}

/// The signed-in operator.
#[derive(Serialize)]
#[cfg_attr(feature = "docs", derive(Deserialize, schemars::JsonSchema))]
struct Current {
    /// The name.
    operator: OperatorName,
    /// The role.
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
    let (token, from) = (sent(&headers, &SESSION).ok_or_else(no_session)?, caller.who().without_person());
    app.ask(&permit, |reply| Command::Operators(OperatorCommand::SignOut { token, from, reply })).await??;
    Ok(StatusCode::NO_CONTENT)
}

fn no_session() -> Failure {
    OperatorRefused::SessionEnded.into()
}

/// The command that a supervisor confirms, as it will be sent. It has every field that affects the money.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Confirmed {
    /// The kind of transaction.
    kind: Kind,
    /// The reference of the command.
    #[cfg_attr(feature = "docs", schemars(length(min = 1, max = 64), regex(pattern = REFERENCE)))]
    reference: String,
    /// The amount, such as `12.34`, including a tip that the command names. If the command refers to an earlier
    /// transaction, the default is the whole remaining amount.
    #[serde(default, deserialize_with = "amount_text")]
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    amount: Option<String>,
    /// The currency. The default is the terminal's.
    currency: Option<String>,
    /// The value `ask`, if the command lets the cardholder type a tip.
    tip: Option<AskedTip>,
    /// The way to read the card, as in the command.
    entry: Option<AskedEntry>,
    /// The reference of the earlier transaction, for the kinds that refer to one.
    of: Option<String>,
    /// The till of the reference in `of`, if it is another till's.
    till: Option<String>,
    /// The number of the earlier transaction in the journal, instead of `of`.
    #[serde(default, deserialize_with = "whole_number")]
    number: Option<SaleNumber>,
    /// The id of the earlier transaction at the gateway, instead of `of`.
    payment: Option<String>,
    /// The id of the stored card, as in the command.
    registration: Option<String>,
}

/// A tip that is not known yet. A tip that the command names is part of its amount.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum AskedTip {
    Ask,
}

impl Confirmed {
    fn wanted(self, app: &App, permit: &Permit, own: String) -> Result<Wanted, Failure> {
        let Self { kind, reference, amount, currency, tip, entry, of, till, number, payment, registration } = self;
        let reference = checked_reference("for.reference", reference)?;
        let (_, amount) = how_much(app, currency, amount, "for.")?;
        let of = EarlierFields { of, till, number, payment }.named(permit, &own, "for.")?;
        let tip = tip.map(|AskedTip::Ask| WantedTip::Ask);
        let entry = entry.map(AskedEntry::wanted);
        let fields = WishFields { of, registration, amount, tip, entry, ..WishFields::new(kind) };
        let wish = fields.judged().map_err(|misfit| Failure::malformed(format!("for.{misfit}")))?;
        Ok(Wanted {
            till: own,
            reference,
            wish,
            caller: permit.caller().clone(),
            training: None,
            parameters: serde_json::Map::new(),
            till_side: TillSide::default(),
        })
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ApprovalRequest {
    /// The supervisor's name.
    #[cfg_attr(feature = "docs", schemars(with = "String", length(min = 1, max = 32)))]
    operator: Unrepeated,
    /// The supervisor's PIN.
    #[cfg_attr(feature = "docs", schemars(with = "String", regex(pattern = "^[0-9]{4,12}$")))]
    pin: Unrepeated,
    /// The command, as it will be sent.
    #[serde(rename = "for")]
    command: Confirmed,
}

async fn approve(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Parameters(TillQuery { till }): Parameters<TillQuery>,
    headers: HeaderMap,
    JsonBody(ApprovalRequest { operator, pin, command }): JsonBody<ApprovalRequest>,
) -> Result<Response, Failure> {
    let permit = caller.may(Verb::SignIn)?;
    let (place, from) = (place(&caller, &headers)?, caller.who().without_person());
    let (name, pin) = (operator.name()?, pin.pin()?);
    if caller.present().operator.is_none() {
        // An approval is for the command of one cashier.
        return Err(Denied::OperatorRequired.into());
    }
    let wanted = Box::new(command.wanted(&app, &permit, permit.own(till)?)?);
    let asked = |reply| Command::Operators(OperatorCommand::Approve { name, pin, wanted, from, place, reply });
    let given = app.ask_within(&permit, APPROVAL_DEADLINE, asked).await??;
    Ok((StatusCode::CREATED, Json(given)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_asks_is_exempt_by_no_till_and_a_till_named_twice_exempts_nobody() {
        let (uid, tills) = (7, vec!["counter".to_owned(), "kasse-1".to_owned()]);
        let (rights, without_operator) = (crate::config::Rights::several_tills(), vec!["kasse-1".to_owned()]);
        let peer = vec![crate::config::TillPeer { uid, tills, rights, operator: true, without_operator }];
        let config = crate::config::Till { peer, ..Default::default() };
        let front = Caller::at_socket(Some(uid), 1, &config);
        let page = HeaderMap::from_iter([(PAGE, axum::http::HeaderValue::from_static("1"))]);
        let may = |headers: &HeaderMap, query| {
            let present = Presence { required: true, ..Presence::default() };
            for_its_till(&front, headers, query).with(present).may(Verb::Begin(Kind::Sale)).is_ok()
        };
        let till = HeaderMap::new();
        assert!(may(&till, Some("till=kasse-1")) && may(&till, Some("wait-s=1&till=kasse%2D1")));
        assert!(!may(&page, Some("till=kasse-1")));
        for query in [None, Some(""), Some("till=counter"), Some("till=kasse-1&till=counter"), Some("x=kasse-1")] {
            assert!(!may(&till, query), "{query:?}");
        }
    }

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
        assert!(!given.operator.name().unwrap_err().detail().to_string().contains("862486"));
        assert!(!given.pin.pin().unwrap_err().detail().to_string().contains("862486"));
    }

    #[test]
    fn whoever_only_looks_keeps_no_session_open() {
        for look in [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE] {
            assert!(!is_act(&look), "{look}");
        }
        for act in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            assert!(is_act(&act), "{act}");
        }
    }
}
