//! Sends notifications. One task serves all URLs: different URLs concurrently, and each URL in order. A receiver that
//! hangs runs into a time-out and does not delay the others.

use std::io;
use std::sync::Arc;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};
use tokio::task::JoinSet;

use super::queue::Task;
use crate::clock::waited;
use crate::options::Options;
use crate::shared::Shared;

/// Sends due notifications until the gateway ends.
pub(crate) async fn run(shared: Arc<Shared>, options: Arc<Options>, mut client: Option<Client>) {
    let mut sending = JoinSet::new();
    loop {
        let wait = {
            let mut host = shared.host();
            let now = host.clock.now();
            for task in host.webhooks.due(now) {
                if client.is_none() {
                    client = self::client(&options).inspect_err(|why| tracing::error!("gateway: {why}")).ok();
                }
                sending.spawn(post(client.clone(), task));
            }
            // When the clock is stopped, the call that moves it also wakes this task.
            let next = host.webhooks.next_due().filter(|_| !host.clock.stands());
            next.map(|next| (next - now).to_std().unwrap_or_default())
        };
        tokio::select! {
            Some(Ok((hook, went))) = sending.join_next() => {
                let mut host = shared.host();
                let now = host.clock.now();
                host.webhooks.sent(&hook, went, now);
            }
            () = shared.posted.notified() => {}
            () = waited(wait) => {}
        }
    }
}

/// Makes the HTTP client, with a time-out and without redirects and proxy. If a file names authorities, it trusts only
/// those.
pub(crate) fn client(options: &Options) -> io::Result<Client> {
    // An error means that another part of this program has already installed a provider, which also works.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unusable = |error: reqwest::Error| io::Error::new(io::ErrorKind::InvalidInput, format!("webhooks: {error}"));
    let mut client = Client::builder()
        .user_agent(concat!("pos-sim/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .timeout(options.webhook_timeout)
        .pool_max_idle_per_host(1);
    if let Some(pem) = &options.webhook_ca {
        client = client.tls_certs_only(Certificate::from_pem_bundle(pem.as_bytes()).map_err(unusable)?);
    }
    client.build().map_err(unusable)
}

async fn post(client: Option<Client>, task: Task) -> (String, Result<(), String>) {
    let Some(client) = client else { return (task.hook, Err("this program cannot create an HTTPS client".to_owned())) };
    let request = client.post(&task.url);
    let request = match &task.key {
        None => request.header("content-type", "application/json; charset=UTF-8").body(task.body.to_string()),
        Some(key) => {
            let sealed = key.seal(&task.body);
            request
                .header("content-type", "text/plain; charset=UTF-8")
                .header("x-initialization-vector", sealed.vector)
                .header("x-authentication-tag", sealed.tag)
                .body(sealed.body)
        }
    };
    let went = match request.send().await {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) if answer.status().is_redirection() => {
            Err(format!("{}: redirects are not followed; register the target address", answer.status()))
        }
        Ok(answer) => Err(answer.status().to_string()),
        Err(error) if error.is_timeout() => Err("no answer in time; the receiver hangs or is too slow".to_owned()),
        // The text of the error may contain the URL, and the URL may contain a secret.
        Err(error) => Err(cause(&error.without_url())),
    };
    (task.hook, went)
}

/// Returns the innermost text of an error. The outer texts only say that a request failed.
fn cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => cause(source),
        None => error.to_string(),
    }
}
