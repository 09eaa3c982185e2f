//! The verbs for one transaction: begin it, show its state, wait for its end, cancel it, report its signature, resolve
//! it.
//!
//! `"kind"` is `sale` by default. `pre-authorisation` and `credit` also read a card. `capture`, `refund`, `reversal`,
//! `increment` and `reauthorisation` need no card, but name an earlier transaction in one of three ways. The usual one
//! is its reference, `"of":"its reference"`. The second is its number in this terminal's journal, `"number":17`, which
//! needs the right `any-till` for another till's transaction. The third is its id at the gateway, `"payment":"its id"`,
//! which needs the right `unknown-payment` if the journal does not know the payment. Without an `amount`, the whole
//! remaining amount is meant. `by-registration` charges a stored card, and `pre-authorisation-by-registration` reserves
//! an amount on it (`"registration":"its id"`). `store-card` reads and stores a card, and `forget-card` deletes it.
//! Neither has an amount. `"parameters":{…}` are passed to the gateway, flat (`"cart.items[0].name"`) or nested.
//!
//! With `"tip":"ask"`, the cardholder types a tip at the reader. `"tip":"1.50"` is a tip that the till already knows.
//! Both are charged in addition to the amount. With `"entry":"manual"`, the card number is typed at the reader, if the
//! terminal allows this. `"entry":"chip"` accepts no tap and no swipe. `"acceptPartial":true` means that the till
//! accepts an approval for less than the amount, and the rest is paid another way. It is for a sale, a
//! pre-authorisation and `by-registration`. Without it, such an approval is reversed. A transaction in the state
//! `awaiting-signature` waits for its `signature`. `wait-s` also ends in this state, because an operator must act. With
//! `"confirm":"till"` (a sale, a pre-authorisation), the transaction waits in `awaiting-till` for the till's `confirm`
//! before it is approved. If the till does not answer in time, the transaction is reversed, or kept with
//! `"onSilence":"keep"`. A till with its own cashiers may name one, as `"operator":"12"`, which is recorded as the
//! till's statement. `settle` is for earlier transactions that wait for a person because the journal is an outdated
//! copy.
//!
//! `"training":"approved"` (or another outcome) begins a training transaction, which reads no card and reaches no
//! gateway. Requests about a training transaction need `?training=true`. Without it, training transactions are never
//! shown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pos_core::wish::{EarlierName, WantedEntry, WantedTip, WishFields};
use pos_till_api::deadlines::LONGEST_WAIT_S;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use super::api::{App, Route, routes};
use super::asked::{InPath, JsonBody, Nothing, Parameters, ReferenceInPath, SaleQuery, TillQuery, checked_reference};
use super::credentials;
use super::failure::Failure;
use super::values::{amount_text, whole_number};
use crate::till::{
    Caller, CancelView, Command, Missed, Permit, ProblemType, ProgressListener, Refused, SaleState, SaleView, TillSide,
    Verb, Wanted,
};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, OnSilence, PaymentId, Reference, SaleNumber, TrainingResult};

/// The verbs for one transaction.
pub(super) const ROUTES: &[Route] = routes! {
    post "/v1/sales" => begin,
        ApiOperation::new("beginSale", "Begin a transaction, or get its state if the reference is already known")
            .text("The agent records the transaction before it answers. Follow it with `GET` and `wait-s`, or with the \
                events.")
            .text("Needs the right for the transaction's kind: `sale`, `pre-authorise`, `capture`, `refund`, `reverse` \
                or `credit`.")
            .header("Pos-Supervisor", "The token of a supervisor's approval, if the command needs one.", json!({ "type": "string" }))
            .query::<TillQuery>()
            .body::<SaleRequest>(json!({ "reference": "order-4711", "amount": "12.34" }))
            .answers::<SaleView>(201, "The new transaction.", examples::begun())
            .answers::<SaleView>(200, "The transaction that already has this reference (`replayed`).", examples::replayed())
            .refuses(&[ProblemType::AmountDiffers, ProblemType::Busy, ProblemType::NotReady, ProblemType::TrainingOff])
            .refuses(&[ProblemType::Amount, ProblemType::Currency, ProblemType::Reference, ProblemType::Operator])
            .refuses(&[ProblemType::SupervisorNeeded, ProblemType::NotApproved])
            .refuses(&[ProblemType::NotPossible, ProblemType::Parameter, ProblemType::NoSuchSale, ProblemType::Journal]);
    get "/v1/sales/{reference}" => show,
        ApiOperation::new("showSale", "Get the current state of a transaction, or wait for its end")
            .needs(Verb::Show)
            .query::<ShowQuery>()
            .answers::<SaleView>(200, "The transaction.", examples::sale())
            .refuses(&[ProblemType::NoSuchSale, ProblemType::Journal]);
    get "/v1/latest" => latest,
        ApiOperation::new("latestSale", "Get the latest transaction of the till")
            .needs(Verb::Show)
            .query::<SaleQuery>()
            .answers::<SaleView>(200, "The transaction.", examples::sale())
            .refuses(&[ProblemType::NoSuchSale, ProblemType::Journal]);
    post "/v1/sales/{reference}/cancel" => cancel,
        ApiOperation::new("cancelSale", "Cancel a transaction")
            .text("Nothing is charged when `cancel` is `in-time`. Needs the right for the transaction's kind.")
            .query::<SaleQuery>()
            .body::<Nothing>(json!({}))
            .answers::<CancelView>(200, "Whether the cancel was in time, and the transaction.", examples::cancelled())
            .refuses(&[ProblemType::NoSuchSale, ProblemType::Journal]);
    post "/v1/sales/{reference}/signature" => signature,
        ApiOperation::new("judgeSignature", "Report whether the signature on the slip matches the card")
            .text("Repeating the same answer changes nothing. Needs the right for the transaction's kind.")
            .query::<SaleQuery>()
            .body::<SignatureCheck>(json!({ "accepted": true }))
            .answers::<SaleView>(200, "The transaction, which has ended or is being reversed.", examples::sale())
            .refuses(&[ProblemType::NoSignatureAwaited, ProblemType::NoSuchSale, ProblemType::Journal]);
    post "/v1/settle/{number}" => settle,
        ApiOperation::new("settleSale", "Decide about a transaction that is waiting for a person")
            .text("For earlier transactions, if the journal was found to be an outdated copy.")
            .needs(Verb::Settle)
            .body::<Settlement>(json!({ "keep": true }))
            .answers::<SaleView>(200, "The transaction; its payment is kept or reversed.", examples::sale())
            .refuses(&[ProblemType::NotPossible, ProblemType::NotReady, ProblemType::NoSuchSale, ProblemType::Journal]);
};

/// The body of `POST /v1/sales`.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct SaleRequest {
    /// The till's own reference. A repeated request with the same reference returns the same transaction, and never
    /// begins a second one.
    #[cfg_attr(feature = "docs", schemars(length(min = 1, max = 64), regex(pattern = "^[!-~]([ -~]*[!-~])?$")))]
    reference: String,
    /// The kind of transaction.
    #[serde(default)]
    kind: Kind,
    /// The amount, such as `12.34`, with no more decimals than the currency has. If the transaction refers to an
    /// earlier one, the default is the whole remaining amount.
    #[serde(default, deserialize_with = "amount_text")]
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    amount: Option<String>,
    /// The currency (ISO 4217), which is optional and must be the terminal's.
    currency: Option<String>,
    /// The tip in addition to the amount. With `ask`, the cardholder types it at the reader. A number, such as `1.50`,
    /// is a tip that the till already knows. It must not exceed the amount.
    tip: Option<Tip>,
    /// The outcome of a training transaction. No card is read, and nothing leaves the terminal.
    training: Option<TrainingResult>,
    /// The way to read the card. With `manual`, the card number is typed at the reader, if the terminal allows this.
    /// With `chip`, the card is inserted.
    entry: Option<AskedEntry>,
    /// True if the till accepts an approval for less than the amount, and the rest is paid another way.
    #[serde(rename = "acceptPartial")]
    accept_partial: Option<bool>,
    /// With `till`, an approval waits until the till confirms how much it accepts (a sale, a pre-authorisation).
    confirm: Option<Confirms>,
    /// With `confirm`, the action if the till does not answer in time. The default is `reverse`.
    #[serde(rename = "onSilence")]
    on_silence: Option<OnSilence>,
    /// The reference of the earlier transaction, for the kinds that refer to one.
    of: Option<String>,
    /// The till of the reference in `of`, if it is another till's.
    till: Option<String>,
    /// The number of the earlier transaction in the journal, instead of `of`.
    #[serde(default, deserialize_with = "whole_number")]
    number: Option<SaleNumber>,
    /// The id of the earlier transaction at the gateway, instead of `of`.
    payment: Option<String>,
    /// The id of the stored card, for `by-registration`, `pre-authorisation-by-registration` and `forget-card`.
    registration: Option<String>,
    /// The till's own cashier, as stated by the till. Refused if operators sign in at the terminal.
    #[cfg_attr(feature = "docs", schemars(length(min = 1, max = 40)))]
    operator: Option<String>,
    /// The party that prints the receipts, by default the terminal. With `till`, the terminal prints only the slip to
    /// sign.
    receipts: Option<Prints>,
    /// The till's own texts, which are returned with the transaction. There are up to 16, with names of up to 32 and
    /// values of up to 128 printable ASCII characters.
    #[serde(default, rename = "tillData")]
    #[cfg_attr(feature = "docs", schemars(extend("maxProperties" = 16)))]
    till_data: BTreeMap<String, String>,
    /// Further parameters for the gateway, with flat names or nested.
    #[serde(default)]
    parameters: serde_json::Map<String, serde_json::Value>,
}

impl SaleRequest {
    /// Returns whether a training transaction is asked for.
    pub(super) fn is_training(&self) -> bool {
        self.training.is_some()
    }
}

/// A tip: the word `ask`, or an amount.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(transparent)]
struct Tip(#[cfg_attr(feature = "docs", schemars(regex(pattern = "^(ask|[0-9]+([.][0-9]+)?)$")))] String);

impl Tip {
    fn wanted(&self, currency: Currency) -> Result<WantedTip, Failure> {
        let wrong = |why: String| Failure::new(ProblemType::Amount, why).field("tip");
        match self.0.as_str() {
            "ask" => Ok(WantedTip::Ask),
            amount => Amount::parse(amount, currency).map(WantedTip::Given).map_err(|error| {
                wrong(format!("tip: {error}; write \"ask\" or an amount such as \"1.50\", or omit it for no tip"))
            }),
        }
    }
}

/// The party that confirms that it accepts an approval.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum Confirms {
    Till,
}

/// The party that prints the receipts.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum Prints {
    Terminal,
    Till,
}

/// The way of reading the card, if the customer may not choose.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "docs", schemars(rename = "Entry"))]
#[serde(rename_all = "kebab-case")]
pub(super) enum AskedEntry {
    Manual,
    Chip,
}

impl AskedEntry {
    pub(super) fn wanted(self) -> WantedEntry {
        match self {
            Self::Manual => WantedEntry::Typed,
            Self::Chip => WantedEntry::Chip,
        }
    }
}

async fn begin(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Parameters(TillQuery { till }): Parameters<TillQuery>,
    JsonBody(asked): JsonBody<SaleRequest>,
) -> Result<Response, Failure> {
    let sale = begin_for(&app, caller, till, asked).await?;
    let status = if sale.replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(sale)).into_response())
}

/// Begins a transaction for a caller, or returns the one that already has the reference.
pub(super) async fn begin_for(
    app: &App,
    caller: Caller,
    till: Option<String>,
    asked: SaleRequest,
) -> Result<SaleView, Failure> {
    let caller = match &asked.operator {
        Some(name) => caller.with_stated(credentials::stated(name)?)?,
        None => caller,
    };
    let permit = caller.may(Verb::Begin(asked.kind))?;
    let (training, named) = (asked.training.is_some(), asked.of.is_some());
    let wanted = wanted(app, &permit, permit.own(till)?, asked)?;
    let sale = app.ask_of(training, &permit, |reply| Command::Begin { wanted: Box::new(wanted), reply }).await?;
    if let (Err(Refused::NoSuchSale { till, reference }), true) = (&sale, named)
        && app.show(!training, &permit, till, reference).await.is_ok()
    {
        let (is, wants) = if training {
            ("a real transaction", "omit \"training\"")
        } else {
            ("a training transaction", "send \"training\"")
        };
        let detail = format!("{reference} is {is}; real and training transactions cannot refer to each other: {wants}");
        return Err(Failure::new(ProblemType::NotPossible, detail).field("of"));
    }
    Ok(sale.map_err(|refused| refused.told_to(|till| permit.hears(till)))?)
}

/// Converts a till's request to the command language.
fn wanted(app: &App, permit: &Permit, own: String, asked: SaleRequest) -> Result<Wanted, Failure> {
    let SaleRequest {
        reference,
        kind,
        amount,
        currency,
        tip,
        training,
        entry,
        accept_partial,
        confirm,
        on_silence,
        of,
        till,
        number,
        payment,
        registration,
        operator: _,
        receipts,
        till_data,
        parameters,
    } = asked;
    let reference = checked_reference("reference", reference)?;
    let (currency, amount) = how_much(app, currency, amount, "")?;
    let of = EarlierFields { of, till, number, payment }.named(permit, &own, "")?;
    let tip = tip.map(|tip| tip.wanted(currency)).transpose()?;
    let entry = entry.map(AskedEntry::wanted);
    let till_confirms = match (confirm, on_silence) {
        (Some(Confirms::Till), on_silence) => Some(on_silence.unwrap_or_default()),
        (None, None) => None,
        (None, Some(_)) => return Err(Failure::malformed("onSilence: allowed only with \"confirm\":\"till\"")),
    };
    let fields = WishFields { kind, of, registration, amount, tip, entry, accept_partial, till_confirms };
    let wish = fields.judged().map_err(|misfit| Failure::malformed(misfit.to_string()))?;
    let till_side = TillSide { prints: receipts == Some(Prints::Till), data: till_data };
    Ok(Wanted { till: own, reference, wish, caller: permit.caller().clone(), training, parameters, till_side })
}

/// Parses the currency and the amount of a request. `within` is the prefix of its field names in refusals.
pub(super) fn how_much(
    app: &App,
    currency: Option<String>,
    amount: Option<String>,
    within: &str,
) -> Result<(Currency, Option<Amount>), Failure> {
    let wrong = |problem, error: &dyn fmt::Display, field: &str| {
        Failure::new(problem, error.to_string()).field(&format!("{within}{field}"))
    };
    let currency = match currency {
        Some(code) => Currency::from_code(&code).map_err(|error| wrong(ProblemType::Currency, &error, "currency"))?,
        None => app.currency,
    };
    let amount = amount.map(|text| Amount::parse(&text, currency)).transpose();
    Ok((currency, amount.map_err(|error| wrong(ProblemType::Amount, &error, "amount"))?))
}

/// The fields that name an earlier transaction.
pub(super) struct EarlierFields {
    pub(super) of: Option<String>,
    pub(super) till: Option<String>,
    pub(super) number: Option<SaleNumber>,
    pub(super) payment: Option<String>,
}

impl EarlierFields {
    /// Returns the transaction that the fields name. A reference belongs to the caller's till, unless the fields name
    /// another till.
    pub(super) fn named(self, permit: &Permit, own: &str, within: &str) -> Result<Option<EarlierName>, Failure> {
        let Self { of, till, number, payment } = self;
        if till.is_some() && (number.is_some() || payment.is_some()) {
            return Err(Failure::malformed(format!(
                "{within}till: allowed only with of; omit it with number or payment"
            )));
        }
        Ok(match (of, number, payment) {
            (Some(of), None, None) => {
                let till = permit.one(Some(till.unwrap_or_else(|| own.to_owned())))?;
                Some(EarlierName::Reference { till, reference: checked_reference(&format!("{within}of"), of)? })
            }
            (None, Some(number), None) => Some(EarlierName::Number(number)),
            (None, None, Some(payment)) => Some(EarlierName::Payment(PaymentId::new(payment))),
            (None, None, None) => None,
            _ => {
                return Err(Failure::malformed(format!(
                    "{within}of, {within}number, {within}payment: give only one of these"
                )));
            }
        })
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ShowQuery {
    /// The number of seconds to wait. The answer comes earlier if the transaction has ended or needs the till.
    #[serde(default)]
    #[cfg_attr(feature = "docs", schemars(range(max = LONGEST_WAIT_S)))]
    wait_s: u32,
    /// The till of the request, for a caller that acts for several tills or has the right `any-till`.
    till: Option<String>,
    /// True for a training transaction. Training has its own references.
    #[serde(default)]
    training: bool,
}

async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(ShowQuery { wait_s, till, training }): Parameters<ShowQuery>,
) -> Result<Json<SaleView>, Failure> {
    let permit = caller.may(Verb::Show)?;
    let till = permit.one(till)?;
    if wait_s > u32::from(LONGEST_WAIT_S) {
        return Err(Failure::malformed(format!("wait-s: must be at most {LONGEST_WAIT_S}; to wait longer, ask again")));
    }
    let deadline = Instant::now() + Duration::from_secs(wait_s.into());
    // Listening begins before the first request, so an end between the two is not missed.
    let mut progress = app.progress.listen();
    let mut stopped = app.stopped.clone();
    loop {
        let sale = app.show(training, &permit, &till, &reference).await?;
        if wants_the_till(&sale) || Instant::now() >= deadline {
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
            Ok(false) | Err(_) => return app.show(training, &permit, &till, &reference).await.map(Json),
        }
    }
}

async fn latest(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Parameters(SaleQuery { till, training }): Parameters<SaleQuery>,
) -> Result<Json<SaleView>, Failure> {
    let permit = caller.may(Verb::Show)?;
    let till = permit.one(till)?;
    Ok(Json(app.ask_of(training, &permit, |reply| Command::Latest { till, reply }).await??))
}

/// Returns whether the transaction has ended, or cannot continue without an operator or the till.
fn wants_the_till(sale: &SaleView) -> bool {
    matches!(sale.state, SaleState::Ended | SaleState::AwaitingSignature | SaleState::AwaitingTill)
}

/// Waits until the transaction may need the till.
async fn news_of(progress: &mut ProgressListener, till: &str, reference: &Reference) {
    loop {
        match progress.next().await {
            Ok(step) if step.till != till || step.reference != reference.as_str() => {}
            Ok(step) if !step.sale.as_ref().is_some_and(|sale| wants_the_till(sale)) => {}
            Ok(_) | Err(Missed) => return,
        }
    }
}

/// Returns the permit to cancel a transaction, to report its signature or to confirm it. A caller gets it if it may
/// begin a transaction of this kind, which never changes.
pub(super) async fn see_to(
    app: &App,
    caller: &Caller,
    SaleQuery { till, training }: SaleQuery,
    reference: &Reference,
) -> Result<(Permit, String), Failure> {
    let permit = caller.may(Verb::Attend)?;
    let till = permit.one(till)?;
    let kind = app.show(training, &permit, &till, reference).await?.kind;
    Ok((caller.may(Verb::SeeTo(kind))?, till))
}

async fn cancel(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(query): Parameters<SaleQuery>,
    JsonBody(Nothing {}): JsonBody<Nothing>,
) -> Result<Json<CancelView>, Failure> {
    cancel_of(&app, &caller, query, reference).await.map(Json)
}

async fn cancel_of(app: &App, caller: &Caller, query: SaleQuery, reference: Reference) -> Result<CancelView, Failure> {
    let training = query.training;
    let (permit, till) = see_to(app, caller, query, &reference).await?;
    let by = caller.who().clone();
    let sale: Result<SaleView, Refused> =
        app.ask_of(training, &permit, |reply| Command::Cancel { till, reference, by, reply }).await?;
    Ok(sale?.into())
}

/// Cancels a transaction of the caller's only till.
pub(super) async fn cancel_for(app: &App, caller: &Caller, reference: Reference) -> Result<CancelView, Failure> {
    cancel_of(app, caller, SaleQuery { till: None, training: false }, reference).await
}

/// The operator's decision about the signature.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct SignatureCheck {
    /// True if the signature matches the one on the card. Otherwise the payment is reversed.
    accepted: bool,
}

async fn signature(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(query): Parameters<SaleQuery>,
    JsonBody(SignatureCheck { accepted }): JsonBody<SignatureCheck>,
) -> Result<Json<SaleView>, Failure> {
    let training = query.training;
    let (permit, till) = see_to(&app, &caller, query, &reference).await?;
    let by = caller.who().clone();
    Ok(Json(app.ask_of(training, &permit, |reply| Command::Signature { till, reference, accepted, by, reply }).await??))
}

/// A person's decision about a transaction that waits for one.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Settlement {
    /// True to keep the payment. Otherwise the payment is reversed.
    keep: bool,
}

async fn settle(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InPath(number): InPath<SaleNumber>,
    JsonBody(Settlement { keep }): JsonBody<Settlement>,
) -> Result<Json<SaleView>, Failure> {
    let permit = caller.may(Verb::Settle)?;
    let by = caller.who().clone();
    Ok(Json(app.ask(&permit, |reply| Command::Settle { number, keep, by, reply }).await??))
}

impl App {
    async fn show(
        &self,
        training: bool,
        permit: &Permit,
        till: &str,
        reference: &Reference,
    ) -> Result<SaleView, Failure> {
        let (till, reference) = (till.to_owned(), reference.clone());
        let shown: Result<SaleView, Refused> =
            self.ask_of(training, permit, |reply| Command::Show { till, reference, reply }).await?;
        Ok(shown?)
    }
}
