//! Answers about several transactions: the list of transactions, page by page, and the sums after a number.
//!
//! Only two or three pages of a list are in memory, however long it is. No page is read before there is room for it.
//! One request reads a limited number of transactions. If a search has not found enough by then, its answer contains
//! the cursor where it continues (`next`). Cursors are transaction numbers, so new transactions do not shift a list.
//! They are missing from a list with the newest first, and are at the end of a list with the oldest first.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::deadline_of;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::api::{App, Route, routes};
use super::asked::Parameters;
use super::failure::Failure;
use super::searching::{SalesFilter, WantedSales};
use super::slots::Allowance;
use super::values::exact_number;
use crate::till::{Caller, Command, Permit, SaleState, SaleView, TotalsView, Verb};
use pos_terms::transaction::{Kind, OutcomeWord, SaleNumber};

const COUNT_DEADLINE: AnswerDeadline = deadline_of("GET", "/v1/totals");
/// The greatest number of transactions without an outcome that one count may pass to the next.
const MAX_CARRIED: usize = 1000;
/// The number of transactions in a list: by default, and at most.
const LIST_LIMIT: (u32, u32) = (100, 1000);
/// The number of transactions per page. As JSON, a page has about 40 KiB.
const PAGE: u32 = 50;
/// The greatest number of transactions that one request reads. This takes a second on a slow board.
const LOOKED_AT: u32 = 1000;

/// The verbs for several transactions.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/sales" => list,
        ApiOperation::new("listSales", "List all or selected transactions by number, oldest or newest first")
            .text("Send `next` as `cursor` of the next request, with the same other parameters; without `next` the \
                list is complete.")
            .text("A search over many transactions may answer early with the matches so far, perhaps none, and `next`.")
            .needs(Verb::List)
            .query::<ListQuery>()
            .answers::<SalesView>(200, "The transactions.", json!({ "sales": [examples::sale()], "next": "17" }))
            .refuses(&[ProblemType::ListUnderWay, ProblemType::Journal]);
    get "/v1/totals" => totals,
        ApiOperation::new("totals", "Get counts and sums of transactions after a number, for the close of day")
            .text("Send `next` and `carried` as `since` and `carried` of the next request.")
            .needs(Verb::Totals)
            .query::<TotalsQuery>()
            .answers::<TotalsView>(200, "The sums.", examples::totals())
            .refuses(&[ProblemType::ListUnderWay, ProblemType::Journal]);
};

/// A list, for the description only. The answer is written page by page.
#[cfg(feature = "docs")]
#[derive(Deserialize, serde::Serialize, schemars::JsonSchema)]
struct SalesView {
    /// The transactions, in their order.
    sales: Vec<SaleView>,
    /// The cursor for the next transactions. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Only transactions with a greater number.
    #[serde(default, deserialize_with = "exact_number")]
    since: SaleNumber,
    /// The greatest number of transactions to list. The default is 100.
    #[cfg_attr(feature = "docs", schemars(range(min = 1, max = 1000)))]
    limit: Option<u32>,
    /// The till of the request, for a caller that acts for several tills or has the right `any-till`.
    till: Option<String>,
    /// True to list training transactions instead of real ones.
    #[serde(default)]
    training: bool,
    /// The order of the list.
    #[serde(default)]
    order: ListOrder,
    /// The `next` of an earlier answer, to list the transactions after it.
    #[cfg_attr(feature = "docs", schemars(regex(pattern = "^[0-9]{1,19}$")))]
    cursor: Option<String>,
    /// Only transactions with this requested or approved amount, such as `12.34`.
    amount: Option<String>,
    /// Only transactions that began at this time or later (RFC 3339).
    from: Option<String>,
    /// Only transactions that began before this time (RFC 3339).
    to: Option<String>,
    /// Only transactions with a card that ends with these four digits.
    #[cfg_attr(feature = "docs", schemars(regex(pattern = "^[0-9]{4}$")))]
    last4: Option<String>,
    /// Only transactions whose reference contains this text (case-insensitive).
    reference: Option<String>,
    /// Only transactions of this kind.
    kind: Option<Kind>,
    /// Only transactions in this state.
    state: Option<SaleState>,
    /// Only transactions with this outcome.
    outcome: Option<OutcomeWord>,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum ListOrder {
    /// The smallest number first.
    #[default]
    Oldest,
    /// The greatest number first.
    Newest,
}

async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    Parameters(asked): Parameters<ListQuery>,
) -> Result<Response, Failure> {
    let ListQuery {
        since,
        limit,
        till,
        training,
        order,
        cursor,
        amount,
        from,
        to,
        last4,
        reference,
        kind,
        state,
        outcome,
    } = asked;
    let (usual, most) = LIST_LIMIT;
    let limit = limit.unwrap_or(usual);
    if !(1..=most).contains(&limit) {
        let detail = format!("limit: must be 1 to {most}; get the rest with since or cursor");
        return Err(Failure::malformed(detail).field("limit"));
    }
    let cursor: Option<SaleNumber> = cursor
        .map(|cursor| cursor.parse())
        .transpose()
        .map_err(|_| Failure::malformed("cursor: send next from an earlier answer, or omit cursor").field("cursor"))?;
    let filter = SalesFilter { amount, from, to, last4, reference, kind, state, outcome }.read(app.currency)?;
    let permit = caller.may(Verb::List)?;
    let till = permit.one_or_all(till)?;
    let (above, below) = match order {
        ListOrder::Oldest => (cursor.map_or(since, |cursor| since.max(cursor)), None),
        ListOrder::Newest => (since, Some(cursor.unwrap_or(SaleNumber::AFTER_ALL))),
    };
    let reading = allowance.permit_to_read().await?;
    let wanted = ListWanted { training, till, above, below, filter, limit, looks_at: LOOKED_AT, next: None };
    answer(app, permit, wanted, reading).await
}

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct TotalsQuery {
    /// The number after which transactions are counted.
    #[serde(default, deserialize_with = "exact_number")]
    since: SaleNumber,
    /// The transactions that had no outcome at the last count, as numbers separated by commas.
    #[serde(default)]
    #[cfg_attr(feature = "docs", schemars(regex(pattern = "^[0-9]{0,19}(,[0-9]{0,19})*$")))]
    carried: String,
    /// The till of the request, for a caller that acts for several tills or has the right `any-till`.
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
    let carried =
        numbers.map_err(|_| Failure::malformed("carried: must be numbers separated by commas, for example 97,112"))?;
    if carried.len() > MAX_CARRIED {
        return Err(Failure::malformed(format!("carried: at most {MAX_CARRIED} numbers")));
    }
    // A transaction after `since` is counted anyway. One that is named twice is counted once.
    let carried: BTreeSet<SaleNumber> = carried.into_iter().filter(|number| *number <= since).collect();
    let carried = carried.into_iter().collect();
    let permit = caller.may(Verb::Totals)?;
    let till = permit.one_or_all(till)?;
    let _reading = allowance.permit_to_read().await?;
    let counted = app.ask_within(&permit, COUNT_DEADLINE, |reply| Command::Totals { till, since, carried, reply });
    Ok(Json(counted.await??))
}

/// The request for a list, and its progress.
struct ListWanted {
    /// True to list training transactions.
    training: bool,
    /// The till, or `None` for all tills.
    till: Option<String>,
    /// The number above which transactions are listed.
    above: SaleNumber,
    /// The number below which transactions are listed, newest first. `None` lists the oldest first.
    below: Option<SaleNumber>,
    filter: WantedSales,
    /// The number of transactions that may still be listed. At zero, the list ends.
    limit: u32,
    /// The number of transactions that may still be read.
    looks_at: u32,
    /// The cursor where the list continues, or `None` if there are no more transactions.
    next: Option<SaleNumber>,
}

/// Answers with `{"sales":[…],"next":"…"}`, after it has read the first page. `reading` is held until the list ends.
async fn answer(
    app: Arc<App>,
    permit: Permit,
    mut wanted: ListWanted,
    reading: OwnedSemaphorePermit,
) -> Result<Response, Failure> {
    let first = wanted.page(&app, &permit).await?;
    let mut text = br#"{"sales":["#.to_vec();
    let mut is_first = write(&mut text, &first, true);
    let json = [(header::CONTENT_TYPE, "application/json")];
    if wanted.limit == 0 {
        wanted.end(&mut text);
        return Ok((json, text).into_response());
    }
    let (taker, pages) = mpsc::channel(1);
    tokio::spawn(async move {
        let _reading = reading;
        feed(&app, &permit, wanted, (text, &mut is_first), taker).await;
    });
    Ok((json, Body::new(Pages(pages))).into_response())
}

/// Sends the list until it ends, or until the caller stops reading it.
async fn feed(
    app: &App,
    permit: &Permit,
    mut wanted: ListWanted,
    (mut text, is_first): (Vec<u8>, &mut bool),
    taker: mpsc::Sender<Result<Bytes, BrokenOff>>,
) {
    loop {
        if wanted.limit == 0 {
            wanted.end(&mut text);
        }
        // A page without matches would be empty, so it is not sent.
        if !text.is_empty() {
            let taken = taker.send(Ok(std::mem::take(&mut text).into())).await;
            if taken.is_err() || wanted.limit == 0 {
                return;
            }
        }
        match wanted.page(app, permit).await {
            Ok(page) => *is_first = write(&mut text, &page, *is_first),
            Err(failure) => {
                // The missing end shows that the list is incomplete. A valid end would hide this.
                tracing::warn!(code = failure.code(), why = %failure.detail(), "a list of sales ended early");
                let _ = taker.send(Err(BrokenOff)).await;
                return;
            }
        }
        if taker.is_closed() {
            return;
        }
    }
}

impl ListWanted {
    /// Returns the matches of the next page. Then `limit` is the number of transactions still wanted, which is zero at
    /// the end.
    async fn page(&mut self, app: &App, permit: &Permit) -> Result<Vec<SaleView>, Failure> {
        let size = self.limit.min(PAGE).min(self.looks_at);
        // A search reads whole pages, however few matches it still needs.
        let size = if self.filter.is_for_all() { size } else { PAGE.min(self.looks_at) };
        let (till, above, limit) = (self.till.clone(), self.above, size);
        let page = match self.below {
            None => {
                app.ask_of(self.training, permit, |reply| Command::List { till, since: above, limit, reply }).await??
            }
            Some(below) => {
                let reference = self.filter.reference().map(str::to_owned);
                let list = |reply| Command::ListNewest { till, above, below, reference, limit, reply };
                app.ask_of(self.training, permit, list).await??
            }
        };
        let mut whole = u32::try_from(page.len()).is_ok_and(|read| read == size);
        let mut found = Vec::new();
        for sale in page {
            if self.limit == 0 {
                whole = true;
                break;
            }
            self.looks_at = self.looks_at.saturating_sub(1);
            self.next = Some(sale.number);
            if self.filter.wants(&sale) {
                self.limit -= 1;
                found.push(sale);
            }
        }
        match (self.below.is_some(), self.next) {
            (true, next) => self.below = next.or(self.below),
            (false, next) => self.above = next.unwrap_or(self.above),
        }
        if !whole {
            (self.limit, self.next) = (0, None);
        } else if self.looks_at == 0 {
            self.limit = 0;
        }
        Ok(found)
    }

    /// Writes the end of the answer.
    fn end(&self, text: &mut Vec<u8>) {
        match self.next {
            Some(next) => text.extend_from_slice(format!(r#"],"next":"{next}"}}"#).as_bytes()),
            None => text.extend_from_slice(b"]}"),
        }
    }
}

/// Writes a page. Returns whether the next transaction to write is still the first one.
fn write(text: &mut Vec<u8>, page: &[SaleView], first: bool) -> bool {
    for (n, sale) in page.iter().enumerate() {
        if n > 0 || !first {
            text.push(b',');
        }
        serde_json::to_writer(&mut *text, sale).expect("a sale's view holds only text and numbers");
    }
    first && page.is_empty()
}

/// The error that the rest of a list could not be read.
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
