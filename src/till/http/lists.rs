//! Several transactions at once: the list of sales, page by page, and the sums for the closing of a day.
//!
//! However long a list is, two or three pages of it are in memory, and none is read before there is room for it.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::api::{App, Route, routes};
use super::asked::Parameters;
use super::failure::Failure;
use super::places::Allowance;
use crate::till::{Caller, Command, Permit, SaleView, TotalsView, Verb};
use crate::transaction::SaleNumber;

/// A journal of a hundred thousand transactions on a slow card.
const COUNT_DEADLINE: Duration = Duration::from_secs(60);
/// Transactions without an end that may be handed on from one count to the next.
const MAX_CARRIED: usize = 1000;
/// Sales of one list when the till names no limit, and at most.
const LIST_LIMIT: (u32, u32) = (100, 1000);
/// Sales of one page; as JSON some 40 KiB.
const PAGE: u32 = 50;

/// Many transactions.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/sales" => list,
        Operation::new("listSales", "Transactions by their numbers, oldest first")
            .needs(Verb::List)
            .query::<ListQuery>()
            .answers::<SalesView>(200, "The transactions.", json!({ "sales": [examples::sale()] }))
            .refuses(&[ProblemType::ListUnderWay, ProblemType::Journal]);
    get "/v1/totals" => totals,
        Operation::new("totals", "Counts and sums after a number, for the closing of a day")
            .text("`next` and `carried` are the next question's `since` and `carried`.")
            .needs(Verb::Totals)
            .query::<TotalsQuery>()
            .answers::<TotalsView>(200, "The sums.", examples::totals())
            .refuses(&[ProblemType::ListUnderWay, ProblemType::Journal]);
};

/// A list, as it is described; it is written page by page.
#[cfg(feature = "docs")]
#[derive(Deserialize, serde::Serialize, schemars::JsonSchema)]
struct SalesView {
    /// One after the other.
    sales: Vec<SaleView>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Only those with a greater number.
    #[serde(default)]
    since: SaleNumber,
    /// At most so many; 100 when nothing is said.
    #[cfg_attr(feature = "docs", schemars(range(min = 1, max = 1000)))]
    limit: Option<u32>,
    /// The till that is meant: for a program that stands for several, and for whoever has the right `any-till`.
    till: Option<String>,
    /// The transactions of training, and no others.
    #[serde(default)]
    training: bool,
}

async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    Parameters(ListQuery { since, limit, till, training }): Parameters<ListQuery>,
) -> Result<Response, Failure> {
    let (usual, most) = LIST_LIMIT;
    let limit = limit.unwrap_or(usual);
    if !(1..=most).contains(&limit) {
        return Err(Failure::malformed(format!("limit is 1 to {most}; ask for the rest with since")));
    }
    let permit = caller.may(Verb::List)?;
    let till = permit.one_or_all(till)?;
    let turn = allowance.turn_to_read().await?;
    answer(app, permit, ListWanted { training, till, since, limit }, turn).await
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct TotalsQuery {
    /// Only those with a greater number are counted.
    #[serde(default)]
    since: SaleNumber,
    /// The numbers, with commas between them, that had no end the last time.
    #[serde(default)]
    #[cfg_attr(feature = "docs", schemars(regex(pattern = "^[0-9]{0,19}(,[0-9]{0,19})*$")))]
    carried: String,
    /// The till that is meant: for a program that stands for several, and for whoever has the right `any-till`.
    till: Option<String>,
}

async fn totals(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    Parameters(TotalsQuery { since, carried, till }): Parameters<TotalsQuery>,
) -> Result<Json<TotalsView>, Failure> {
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

/// What is asked for.
struct ListWanted {
    /// Of training.
    training: bool,
    /// Whose; `None` is every till's.
    till: Option<String>,
    /// Number to start after.
    since: SaleNumber,
    /// At most so many.
    limit: u32,
}

/// `{"sales":[…]}`, of which the first page is read before anything is answered. `turn` is held as long as it takes.
async fn answer(
    app: Arc<App>,
    permit: Permit,
    mut wanted: ListWanted,
    turn: OwnedSemaphorePermit,
) -> Result<Response, Failure> {
    let first = wanted.page(&app, &permit).await?;
    let mut text = br#"{"sales":["#.to_vec();
    write(&mut text, &first, true);
    let json = [(header::CONTENT_TYPE, "application/json")];
    if wanted.limit == 0 {
        text.extend_from_slice(b"]}");
        return Ok((json, text).into_response());
    }
    let (taker, pages) = mpsc::channel(1);
    tokio::spawn(async move {
        let _turn = turn;
        feed(&app, &permit, wanted, text, taker).await;
    });
    Ok((json, Body::new(Pages(pages))).into_response())
}

/// Ends with the list, or when nobody takes it any more.
async fn feed(
    app: &App,
    permit: &Permit,
    mut wanted: ListWanted,
    mut text: Vec<u8>,
    taker: mpsc::Sender<Result<Bytes, BrokenOff>>,
) {
    loop {
        if wanted.limit == 0 {
            text.extend_from_slice(b"]}");
        }
        let taken = taker.send(Ok(std::mem::take(&mut text).into())).await;
        if taken.is_err() || wanted.limit == 0 {
            return;
        }
        match wanted.page(app, permit).await {
            Ok(page) => write(&mut text, &page, false),
            Err(failure) => {
                // An end that is missing is seen; a list that ends too early is not.
                tracing::warn!(code = failure.code(), why = failure.detail(), "a list of sales broke off");
                let _ = taker.send(Err(BrokenOff)).await;
                return;
            }
        }
    }
}

impl ListWanted {
    /// The next page. Afterwards `limit` is what is still wanted behind it: zero when there is nothing more.
    async fn page(&mut self, app: &App, permit: &Permit) -> Result<Vec<SaleView>, Failure> {
        let (till, since, limit) = (self.till.clone(), self.since, self.limit.min(PAGE));
        let page = app.ask_of(self.training, permit, |reply| Command::List { till, since, limit, reply }).await??;
        let whole = u32::try_from(page.len()).is_ok_and(|read| read == limit);
        self.limit = if whole { self.limit - limit } else { 0 };
        self.since = page.last().map_or(since, |sale| sale.number);
        Ok(page)
    }
}

fn write(text: &mut Vec<u8>, page: &[SaleView], first: bool) {
    for (n, sale) in page.iter().enumerate() {
        if n > 0 || !first {
            text.push(b',');
        }
        serde_json::to_writer(&mut *text, sale).expect("a sale's view holds only text and numbers");
    }
}

/// The rest of a list could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the rest of the list could not be read")]
struct BrokenOff;

struct Pages(mpsc::Receiver<Result<Bytes, BrokenOff>>);

impl hyper::body::Body for Pages {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.0.poll_recv(cx).map(|page| page.map(|page| page.map(Frame::data)))
    }
}
