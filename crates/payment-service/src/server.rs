//! The server: TCP, TLS and HTTP/1.1. `route` dispatches each request, and `response` sends the answer.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::counters::WireEvent;
use super::delivery::Delivery;
use super::kept_port;
use super::measured_stream::{MeasuredStream, StreamTimes};
use super::options::Mode;
use super::page;
use super::provider;
use super::refusal;
use super::response::{CutLine, ResponseBody, deliver};
use super::route::{self, RouteRequest};
use super::shared::Shared;
use pos_gateway_model::form;

/// The maximum length of a request body; a cart with the maximum number of items fits.
const MAX_BODY: usize = form::LONGEST;
/// The maximum number of bytes read from a body that is too long, before the connection is cut.
const MAX_READ: usize = 64 << 20;
/// The answer of [`Mode::Constant`], which is as long as the answer to a sale.
const CONSTANT: &[u8] = &[b' '; 900];

/// An order to the running server.
pub(super) enum Control {
    /// Refuses connections and cuts the open ones, or accepts connections again.
    Offline(bool, oneshot::Sender<io::Result<()>>),
}

/// Serves until the sender of `control` is dropped.
pub(super) async fn serve(
    listener: TcpListener,
    address: SocketAddr,
    tls: TlsAcceptor,
    shared: Arc<Shared>,
    mut control: mpsc::Receiver<Control>,
) {
    let mut listener = Some(listener);
    let mut kept: Option<TcpSocket> = None;
    let mut connections = JoinSet::new();
    loop {
        let accept = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            accepted = accept => if let Ok((stream, _)) = accepted {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                shared.sees(WireEvent::Connection);
                connections.spawn(connection(stream, tls.clone(), Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
            order = control.recv() => match order {
                None => return,
                Some(Control::Offline(true, done)) => {
                    let reserved = match listener.take() {
                        Some(listener) => kept_port::keep(listener).await.map(|socket| kept = Some(socket)),
                        None => Ok(()),
                    };
                    connections.shutdown().await;
                    let _ = done.send(reserved);
                }
                Some(Control::Offline(false, done)) => {
                    let bound = if listener.is_some() { Ok(()) } else {
                        let socket = kept.take().map_or_else(|| kept_port::bind(address), Ok);
                        socket.and_then(|socket| socket.listen(BACKLOG)).map(|bound| listener = Some(bound))
                    };
                    let _ = done.send(bound);
                }
            },
        }
    }
}

/// The maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 128;

async fn connection(stream: TcpStream, tls: TlsAcceptor, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let clock = Arc::new(StreamTimes::default());
    let metered = MeasuredStream::new(stream, Arc::clone(&shared.bytes), Arc::clone(&clock));
    let stream = match tls.accept(metered).await {
        Ok(stream) => stream,
        Err(why) => return tracing::debug!("gateway: no TLS: {why}"),
    };
    shared.handshakes.fetch_add(1, Ordering::Relaxed);
    let service = service_fn(|request| handle(request, Arc::clone(&shared), Arc::clone(&clock)));
    if let Err(why) = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!("gateway: connection ended: {why}");
    }
}

async fn handle(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    clock: Arc<StreamTimes>,
) -> Result<Response<ResponseBody>, CutLine> {
    shared.requests.fetch_add(1, Ordering::Relaxed);
    let (head, body) = request.into_parts();
    let body = read_body(body).await;
    let host_rules = shared.options.host_rules;
    let arrived = host_rules.arrived(head.uri.path(), head.uri.query().unwrap_or_default());
    let path = arrived.path;
    shared.sees(WireEvent::Request { method: head.method.as_str(), path });
    let payment = head.method == Method::POST && path == "/v1/payments";
    if payment && let Some(read) = clock.last_read() {
        *shared.last_payment.lock().unwrap_or_else(PoisonError::into_inner) = Some((read, Arc::clone(&clock)));
    }
    if payment && shared.options.mode == Mode::Fast {
        shared.keep_request(&head, body.as_deref().unwrap_or_default());
    }
    let for_shoppers = route::is_for_shoppers(&head.method, path, &head.headers, host_rules.is_literal());
    let (delivery, now, delay) = {
        let mut host = shared.host();
        let asked = RouteRequest { method: &head.method, arrived, headers: &head.headers, body: body.as_deref() };
        let delivery = if head.method == Method::GET && path == "/" {
            if host_rules.is_literal() { refusal::not_found() } else { Delivery::Raw(200, b"{}".to_vec()) }
        } else if shared.options.mode == Mode::Constant {
            Delivery::Raw(200, CONSTANT.to_vec())
        } else if page::is_page(path) {
            page::serve(&mut host, &asked)
        } else if for_shoppers {
            route::route(&mut host, &asked)
        } else if head.method == Method::GET && path.starts_with(provider::PATH) {
            provider::serve(path, arrived.query)
        } else {
            let refused = route::authorized(&head.headers, &shared.options.token).err();
            refused.unwrap_or_else(|| route::route(&mut host, &asked))
        };
        (delivery, host.clock.now(), host.delay)
    };
    shared.sees(WireEvent::Answer { method: head.method.as_str(), path });
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let mut response = deliver(delivery, now).await?;
    if for_shoppers {
        let (name, value) = route::FOR_ANY_PAGE;
        response.headers_mut().insert(name, value);
    }
    if for_shoppers || route::is_of_clock(path) {
        shared.clock_or_checkouts_changed.notify_one();
    }
    Ok(response)
}

/// Reads the body if it is not too long. A body that is too long is read up to a limit, because a client that is still
/// sending would not read the answer.
async fn read_body(mut body: Incoming) -> Option<Vec<u8>> {
    let (mut kept, mut seen) = (Vec::new(), 0_usize);
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen <= MAX_BODY {
            kept.extend_from_slice(&data);
        } else if seen > MAX_READ {
            return None;
        }
    }
    (seen <= MAX_BODY).then_some(kept)
}
