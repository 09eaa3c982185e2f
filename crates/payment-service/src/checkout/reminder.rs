//! The call to a shop that has not asked for the outcome of its checkout (behaviour: Events, "Widget timeout event"): a
//! GET to `shopperResultUrl` with `resourcePath`. The calls follow the gateway's clock and run in their own task.
//!
//! A shop's server may misbehave, so the calls are limited. Few run at the same time, and each may take at most ten
//! seconds. The gateway follows no redirect and reads only the status of the answer. Over HTTPS, the shop's certificate
//! must be signed by the CA in [`Options::shop_ca`].
//!
//! [`Options::shop_ca`]: crate::Options::shop_ca

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::HOST;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use super::ShopCall;
use crate::clock::waited;
use crate::redirect::with_query;
use crate::response::ResponseBody;
use crate::shared::Shared;

/// The maximum number of concurrent calls. With several, a shop that hangs does not delay the others.
const MOST_AT_ONCE: usize = 16;
/// The time-out for the whole call, longer than any shop's page needs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest interval between two checks of the clock, because the system clock may be set forward without notice.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// The reason why a shop was not reached.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("it is not an http or https address")]
    Address,
    #[error("no connection: {0}")]
    Line(#[from] io::Error),
    #[error("no HTTP: {0}")]
    Http(#[from] hyper::Error),
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Late(#[from] tokio::time::error::Elapsed),
}

/// Makes the TLS configuration for calls to shops.
///
/// # Errors
///
/// Fails if the CA cannot be read.
pub(crate) fn trust(shop_ca: Option<&str>) -> io::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    for ca in shop_ca.into_iter().flat_map(|pem| CertificateDer::pem_slice_iter(pem.as_bytes())) {
        roots.add(ca.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// Calls each shop when its call is due. Never returns.
pub(crate) async fn remind_shops(shared: Arc<Shared>, tls: Arc<ClientConfig>) {
    let mut calls = JoinSet::new();
    loop {
        let (due, wait) = {
            let mut host = shared.host();
            let (now, late) = (host.clock.now(), host.options().late_shop_call);
            let due = host.checkouts.take_due(now, late, MOST_AT_ONCE - calls.len());
            let next = host.checkouts.next_due(late).and_then(|at| host.clock.until(at));
            let next = next.map(|wait| wait.min(LONGEST_SLEEP));
            let is_free = calls.len() + due.len() < MOST_AT_ONCE;
            (due, next.filter(|_| is_free))
        };
        for call in due {
            calls.spawn(call_shop(call, Arc::clone(&tls)));
        }
        tokio::select! {
            () = waited(wait) => {}
            () = shared.clock_or_checkouts_changed.notified() => {}
            Some(_) = calls.join_next() => {}
        }
    }
}

/// Makes one call and records its outcome.
async fn call_shop(call: ShopCall, tls: Arc<ClientConfig>) {
    let url = with_query(&call.shopper_result_url, &[("resourcePath", &call.resource_path)]);
    let called = tokio::time::timeout(PATIENCE, get(&url, tls)).await.unwrap_or_else(|late| Err(late.into()));
    match called {
        Ok(status) => tracing::info!("gateway: the shop was notified to query {}: {status}", call.resource_path),
        Err(why) => tracing::warn!("gateway: the shop could not be notified to query {}: {why}", call.resource_path),
    }
}

async fn get(url: &str, tls: Arc<ClientConfig>) -> Result<StatusCode, CallError> {
    let url = url.split_once('#').map_or(url, |(url, _)| url);
    let uri: Uri = url.parse().map_err(|_| CallError::Address)?;
    let authority = uri.authority().ok_or(CallError::Address)?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let secure = uri.scheme_str() == Some("https");
    let stream =
        TcpStream::connect((host.as_str(), authority.port_u16().unwrap_or(if secure { 443 } else { 80 }))).await?;
    if !secure {
        return ask(stream, &uri).await;
    }
    let name = ServerName::try_from(host).map_err(|_| CallError::Address)?;
    ask(TlsConnector::from(tls).connect(name, stream).await?, &uri).await
}

async fn ask(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, uri: &Uri) -> Result<StatusCode, CallError> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::get(path).header(HOST, host).body(ResponseBody::whole(Vec::new()));
    let request = request.map_err(|_| CallError::Address)?;
    let asked = sender.send_request(request);
    tokio::pin!(connection, asked);
    tokio::select! {
        answer = &mut asked => Ok(answer?.status()),
        ended = &mut connection => {
            ended?;
            Ok(asked.await?.status())
        }
    }
}
