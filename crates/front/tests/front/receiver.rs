//! The receiver of a webhook, which accepts, refuses, redirects or hangs.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The secret of the webhook.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The receiver's behaviour.
#[derive(Clone, Copy)]
pub(crate) enum Mood {
    Takes,
    Fails,
    Redirects,
    Hangs,
}

/// One attempt as received.
#[derive(Clone)]
pub(crate) struct Delivery {
    #[allow(dead_code, reason = "for the tests before the real agent")]
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    taken: bool,
}

/// A receiver, which runs until the test ends.
pub(crate) struct Receiver {
    pub(crate) address: String,
    mood: Arc<Mutex<Mood>>,
    pub(crate) deliveries: watch::Receiver<Vec<Delivery>>,
}

impl Receiver {
    pub(crate) async fn begin(mood: Mood) -> Self {
        Self::begin_at(0, mood).await
    }

    /// Begins at this port.
    pub(crate) async fn begin_at(port: u16, mood: Mood) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, deliveries) = watch::channel(Vec::new());
        let (mood, sender) = (Arc::new(Mutex::new(mood)), Arc::new(sender));
        let of_server = Arc::clone(&mood);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (mood, sender) = (Arc::clone(&of_server), Arc::clone(&sender));
                let service = service_fn(move |request| take(request, Arc::clone(&mood), Arc::clone(&sender)));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, mood, deliveries }
    }

    pub(crate) fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// Waits for this many attempts and returns them.
    pub(crate) async fn attempts(&mut self, most: usize) -> Vec<Delivery> {
        let waited = self.deliveries.wait_for(|all| all.len() >= most);
        tokio::time::timeout(Duration::from_secs(120), waited).await.expect("deliveries").unwrap().clone()
    }

    /// Waits until this many events were accepted and returns their ids in order.
    pub(crate) async fn taken(&mut self, most: usize) -> Vec<String> {
        let count = |all: &Vec<Delivery>| all.iter().filter(|it| it.taken).count();
        let waited = self.deliveries.wait_for(|all| count(all) >= most);
        let all = tokio::time::timeout(Duration::from_secs(120), waited).await.expect("deliveries").unwrap().clone();
        all.iter().filter(|it| it.taken).map(|it| it.headers["webhook-id"].to_str().unwrap().to_owned()).collect()
    }
}

async fn take(
    request: Request<Incoming>,
    mood: Arc<Mutex<Mood>>,
    sender: Arc<watch::Sender<Vec<Delivery>>>,
) -> Result<Response<Empty<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let mood = *mood.lock().unwrap();
    let path = head.uri.path().to_owned();
    assert_ne!(path, "/elsewhere", "a redirect was followed");
    let taken = matches!(mood, Mood::Takes);
    sender.send_modify(|all| all.push(Delivery { path, headers: head.headers, body, taken }));
    let answer = match mood {
        Mood::Takes => Response::builder().status(204),
        Mood::Fails => Response::builder().status(500),
        Mood::Redirects => Response::builder().status(307).header("location", "/elsewhere"),
        Mood::Hangs => std::future::pending().await,
    };
    Ok(answer.body(Empty::new()).unwrap())
}

/// Returns the configuration of a webhook to this receiver.
pub(crate) fn hook(folder: &Path, receiver: &Receiver, more: &str) -> String {
    let secret = folder.join("secret");
    std::fs::write(&secret, SECRET).unwrap();
    std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    format!(
        "[[webhook]]\nname = \"books\"\nurl = \"http://{}/hook\"\nsecret-file = {secret:?}\n{more}",
        receiver.address
    )
}
