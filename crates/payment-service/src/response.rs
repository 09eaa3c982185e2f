//! Writes HTTP answers: a whole answer with its time, half of an answer, no answer, or a cut connection.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION};
use hyper::{Response, StatusCode};

use super::delivery::{Asset, Delivery};
use super::envelope;

/// An order to cut the connection.
#[derive(Debug, thiserror::Error)]
#[error("the outcome of this payment cuts the line")]
pub(super) struct CutLine;

pub(super) async fn deliver(delivery: Delivery, at: DateTime<Utc>) -> Result<Response<ResponseBody>, CutLine> {
    let mut kind = "application/json;charset=UTF-8";
    let (status, reply) = match delivery {
        Delivery::File(of_file, bytes) => {
            kind = of_file;
            (200, ResponseBody::whole(bytes))
        }
        Delivery::Answer(status, value) => {
            // An answer that a webhook repeats already has its stamp, because both must have the same one.
            let value = if value.get("ndc").is_some() { value } else { envelope::stamped(value, at) };
            (status, ResponseBody::whole(envelope::text(&value).into_bytes()))
        }
        Delivery::Raw(status, bytes) => (status, ResponseBody::whole(bytes)),
        Delivery::Half(bytes) => return Ok(half(bytes)),
        Delivery::Redirect(location) => {
            let location = HeaderValue::try_from(location).expect("made of what came as the request's own address");
            return Ok(elsewhere(StatusCode::TEMPORARY_REDIRECT, location));
        }
        Delivery::Asset(asset) => return Ok(browser_answer(asset)),
        Delivery::Page(status, html) => return Ok(page(status, html)),
        Delivery::SeeOther(location) => {
            // Replaces an address that is invalid in a header by `/`.
            let location = HeaderValue::try_from(location).unwrap_or(HeaderValue::from_static("/"));
            return Ok(elsewhere(StatusCode::SEE_OTHER, location));
        }
        Delivery::Silence => std::future::pending().await,
        Delivery::Cut => return Err(CutLine),
    };
    let mut response = Response::new(reply);
    *response.status_mut() = StatusCode::from_u16(status).expect("only documented statuses are used");
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// Makes a redirect to this address.
fn elsewhere(status: StatusCode, location: HeaderValue) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(Vec::new()));
    *response.status_mut() = status;
    response.headers_mut().insert(LOCATION, location);
    response
}

/// Makes the answer with a file for a browser. The file is not cached, is used only with its declared media type, and
/// any page may load it.
fn browser_answer(asset: Asset) -> Response<ResponseBody> {
    const ALWAYS: [(&str, &str); 4] = [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "cross-origin"),
    ];
    let mut response = Response::new(ResponseBody { steps: VecDeque::new() });
    *response.status_mut() = StatusCode::from_u16(asset.status).expect("only known statuses are used");
    let always = ALWAYS.into_iter().map(|(name, value)| (name, value.to_owned()));
    for (name, value) in always.chain(asset.headers) {
        // Omits an address that is invalid in a header.
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    }
    if !asset.body.is_empty() {
        response.body_mut().steps.push_back(BodyStep::Data(asset.body));
    }
    response
}

/// Makes a page for a browser, without scripts, cache and referrer.
fn page(status: u16, html: String) -> Response<ResponseBody> {
    const HEADERS: [(&str, &str); 5] = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    ];
    let mut response = Response::new(ResponseBody::whole(html.into_bytes()));
    *response.status_mut() = StatusCode::from_u16(status).expect("only known statuses are used");
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Announces the whole body, sends half of it, and then cuts the connection.
fn half(mut bytes: Vec<u8>) -> Response<ResponseBody> {
    let announced = bytes.len();
    bytes.truncate(announced / 2);
    let steps = [BodyStep::Data(bytes.into()), BodyStep::Flush, BodyStep::Cut];
    let mut response = Response::new(ResponseBody { steps: steps.into() });
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(announced));
    response
}

/// The body of an answer.
pub(super) struct ResponseBody {
    steps: VecDeque<BodyStep>,
}

enum BodyStep {
    Data(Bytes),
    /// Sends the bytes so far.
    Flush,
    Cut,
}

impl ResponseBody {
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        Self { steps: if bytes.is_empty() { VecDeque::new() } else { [BodyStep::Data(bytes.into())].into() } }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = CutLine;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CutLine>>> {
        match self.steps.pop_front() {
            Some(BodyStep::Data(bytes)) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Some(BodyStep::Flush) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(BodyStep::Cut) => Poll::Ready(Some(Err(CutLine))),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        match self.steps.iter().collect::<Vec<_>>().as_slice() {
            [] => SizeHint::with_exact(0),
            [BodyStep::Data(bytes)] => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::default(),
        }
    }
}
