//! The list of sales, page by page: however long it is, two or three pages of it are in memory, and none is read before
//! there is room for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::api::App;
use super::failure::Failure;
use crate::till::{Command, Permit, SaleView};
use crate::transaction::SaleNumber;

/// Sales of one page; as JSON some 40 KiB.
const PAGE: u32 = 50;

/// What is asked for.
pub(super) struct ListWanted {
    /// Whose; `None` is every till's.
    pub(super) till: Option<String>,
    /// Number to start after.
    pub(super) since: SaleNumber,
    /// At most so many.
    pub(super) limit: u32,
}

/// `{"sales":[…]}`, of which the first page is read before anything is answered. `turn` is held as long as it takes.
pub(super) async fn answer(
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
                tracing::warn!(code = failure.code(), why = failure.message(), "a list of sales broke off");
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
        let page = app.ask(permit, |reply| Command::List { till, since, limit, reply }).await??;
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
