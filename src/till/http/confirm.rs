//! `POST /v1/sales/{reference}/confirm`: the till confirms how much of the approved amount it accepts.
//!
//! | body | result |
//! |---|---|
//! | `{"taken":"all"}` | approved |
//! | `{"taken":"part","amount":"8.00"}` | approved; the rest is refunded, and `later` shows the refund (sales only) |
//! | `{"taken":"nothing"}` | the payment is reversed |
//!
//! The same answer again gets a 200 and changes nothing. A different answer, or one that is not awaited, gets a 409
//! that names the earlier answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use serde::Deserialize;

use super::api::{App, Route, routes};
use super::asked::{JsonBody, Parameters, ReferenceInPath, SaleQuery};
use super::failure::Failure;
use super::sales::see_to;
use super::values::amount_text;
use crate::till::{Caller, Command, ProblemType, SaleView};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Reference, Taken};

/// The verb for the till's confirmation.
pub(super) const ROUTES: &[Route] = routes! {
    post "/v1/sales/{reference}/confirm" => confirm,
        ApiOperation::new("confirmSale", "Confirm how much of an approved sale the till accepts")
            .text("Repeating the same answer changes nothing. Needs the right for the transaction's kind.")
            .query::<SaleQuery>()
            .body::<TakenRequest>(json!({ "taken": "all" }))
            .answers::<SaleView>(
                200,
                "The transaction: it has ended, with the refund of the rest in `later`, or is being reversed.",
                examples::sale(),
            )
            .refuses(&[ProblemType::NoConfirmationAwaited, ProblemType::Amount, ProblemType::NotPossible])
            .refuses(&[ProblemType::NotReady, ProblemType::NoSuchSale, ProblemType::Journal]);
};

/// The till's confirmation.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct TakenRequest {
    /// The part that the till accepts.
    taken: TakenWord,
    /// The amount that the till accepts, such as `8.00`, if it is a part. It must be less than the approved amount.
    #[serde(default, deserialize_with = "amount_text")]
    #[cfg_attr(feature = "docs", schemars(with = "String"))]
    amount: Option<String>,
}

/// The part of the approved amount that a till accepts.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum TakenWord {
    All,
    Part,
    Nothing,
}

impl TakenRequest {
    /// Parses the confirmation in the transaction's currency.
    fn taken(self, currency: Currency) -> Result<Taken, Failure> {
        match (self.taken, self.amount) {
            (TakenWord::All, None) => Ok(Taken::All),
            (TakenWord::Nothing, None) => Ok(Taken::Nothing),
            (TakenWord::Part, Some(text)) => match Amount::parse(&text, currency) {
                Ok(amount) => Ok(Taken::Part { amount }),
                Err(error) => Err(Failure::new(ProblemType::Amount, error.to_string()).field("amount")),
            },
            (TakenWord::Part, None) => Err(Failure::malformed("amount: required with \"taken\":\"part\"")),
            (TakenWord::All | TakenWord::Nothing, Some(_)) => {
                Err(Failure::malformed("amount: allowed only with \"taken\":\"part\""))
            }
        }
    }
}

async fn confirm(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    ReferenceInPath(reference): ReferenceInPath,
    Parameters(query): Parameters<SaleQuery>,
    JsonBody(said): JsonBody<TakenRequest>,
) -> Result<Json<SaleView>, Failure> {
    confirm_of(&app, &caller, query, reference, said).await.map(Json)
}

async fn confirm_of(
    app: &App,
    caller: &Caller,
    query: SaleQuery,
    reference: Reference,
    said: TakenRequest,
) -> Result<SaleView, Failure> {
    let training = query.training;
    let (permit, till) = see_to(app, caller, query, &reference).await?;
    // A card transaction is in the terminal's currency.
    let taken = said.taken(app.currency)?;
    let by = caller.who().clone();
    Ok(app.ask_of(training, &permit, |reply| Command::Confirm { till, reference, taken, by, reply }).await??)
}

/// Confirms a transaction of the caller's only till.
pub(super) async fn confirm_for(
    app: &App,
    caller: &Caller,
    reference: Reference,
    said: TakenRequest,
) -> Result<SaleView, Failure> {
    confirm_of(app, caller, SaleQuery { till: None, training: false }, reference, said).await
}
