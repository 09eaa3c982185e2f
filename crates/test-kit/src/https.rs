//! A scripted HTTPS server: it has one reaction for each request, and records the events. It is not the simulated
//! gateway: it handles bytes and knows no payments.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls_pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{ServerConfig, crypto, version};
use tokio_rustls::server::TlsStream;

/// The server's reaction to one request.
pub enum Act {
    /// Answers with these bytes, and waits for the next request.
    Answer(Vec<u8>),
    /// Answers, and then ends TLS and TCP properly.
    AnswerAndClose(Vec<u8>),
    /// Sends these bytes, and then cuts the connection without ending TLS.
    Cut(Vec<u8>),
    /// Sends these bytes and nothing more, until the client leaves.
    Mute(Vec<u8>),
    /// Sends nothing until the client leaves.
    Silence,
    /// Closes the port to all other clients, answers, and then ends TLS and TCP properly. No other connection exists.
    AnswerAsTheLast(Vec<u8>),
}

/// The server's reaction to each request that is not in the script.
type Answers = Box<dyn FnMut(&str) -> Act + Send>;

/// The server's records, in their order; the number identifies the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The TCP connection is open.
    Connected(usize),
    /// The TLS handshake is complete.
    Handshake(usize),
    /// A whole request was received.
    Request(usize),
    /// The server has closed the connection.
    Closed(usize),
}

#[derive(Default)]
struct Seen {
    events: Vec<Event>,
    requests: Vec<String>,
    script: VecDeque<Act>,
    answers: Option<Answers>,
}

/// A running server, which ends with the test's runtime.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    closed: watch::Receiver<usize>,
}

impl Server {
    /// Listens on a free port of the loopback address.
    pub async fn start(tls: ServerConfig, script: Vec<Act>) -> Self {
        Self::serving(tls, Seen { script: script.into(), ..Seen::default() }).await
    }

    /// Does the same as [`Self::start`], but selects the reaction when a request arrives, from its head and body.
    pub async fn answering(tls: ServerConfig, answers: impl FnMut(&str) -> Act + Send + 'static) -> Self {
        Self::serving(tls, Seen { answers: Some(Box::new(answers)), ..Seen::default() }).await
    }

    async fn serving(tls: ServerConfig, seen: Seen) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(seen));
        let (leave, mut leaving) = mpsc::channel::<oneshot::Sender<()>>(1);
        let (closing, closed) = watch::channel(0);
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            for number in 1.. {
                let tcp = tokio::select! {
                    accepted = listener.accept() => accepted,
                    left = leaving.recv() => {
                        drop(listener);
                        if let Some(left) = left {
                            let _ = left.send(());
                        }
                        return;
                    }
                };
                let Ok((tcp, _)) = tcp else { return };
                let (acceptor, shared, closing) = (acceptor.clone(), Arc::clone(&shared), closing.clone());
                let leave = leave.clone();
                tokio::spawn(async move {
                    see(&shared, Event::Connected(number));
                    if let Ok(stream) = acceptor.accept(tcp).await {
                        see(&shared, Event::Handshake(number));
                        serve(stream, number, &shared, &leave).await;
                    }
                    see(&shared, Event::Closed(number));
                    closing.send_modify(|count| *count += 1);
                });
            }
        });
        Self { address, seen, closed }
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the records, except for the ends of connections.
    pub fn events(&self) -> Vec<Event> {
        let seen = self.seen.lock().unwrap();
        seen.events.iter().copied().filter(|event| !matches!(event, Event::Closed(_))).collect()
    }

    /// Waits until this many handshakes are complete on the server's side too. In TLS 1.3, the client finishes earlier.
    pub async fn handshakes(&self, count: usize) {
        while self.events().iter().filter(|event| matches!(event, Event::Handshake(_))).count() < count {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the received requests, each with head and body.
    pub fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().requests.clone()
    }

    /// Waits until the server has closed this many connections.
    pub async fn closed(&self, count: usize) {
        let mut closed = self.closed.clone();
        closed.wait_for(|closed| *closed >= count).await.unwrap();
    }

    /// Checks that every step of the script was used.
    pub fn finish(&self) {
        assert!(self.seen.lock().unwrap().script.is_empty(), "the server still waits for requests");
    }
}

fn see(seen: &Mutex<Seen>, event: Event) {
    seen.lock().unwrap().events.push(event);
}

async fn serve(
    mut stream: TlsStream<TcpStream>,
    number: usize,
    seen: &Mutex<Seen>,
    leave: &mpsc::Sender<oneshot::Sender<()>>,
) {
    let mut received = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut received).await {
        see(seen, Event::Request(number));
        let act = {
            let mut seen = seen.lock().unwrap();
            let act = seen.script.pop_front();
            let act = act.or_else(|| seen.answers.as_mut().map(|answers| answers(&request)));
            seen.requests.push(request);
            act
        };
        // A client that has read enough may leave while the server still writes.
        match act.expect("a request the script does not know") {
            Act::Answer(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.flush().await;
            }
            Act::AnswerAndClose(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Act::Cut(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.flush().await;
                drop(stream.into_inner().0);
                return;
            }
            Act::Mute(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.flush().await;
            }
            Act::Silence => {}
            Act::AnswerAsTheLast(bytes) => {
                let (left, when_left) = oneshot::channel();
                leave.send(left).await.unwrap();
                when_left.await.unwrap();
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
        }
    }
}

/// Reads the next request, with its body by Content-Length; `None` if the client has left.
async fn next_request(stream: &mut TlsStream<TcpStream>, received: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(received[..end].to_vec()).unwrap();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
            });
            let whole = end + 4 + length.unwrap_or(0);
            if received.len() >= whole {
                return Some(String::from_utf8(received.drain(..whole).collect()).unwrap());
            }
        }
        match stream.read_buf(received).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// The certification authority of one test.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Makes a CA with a new key.
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// Returns its certificate for `ca-file`.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns a server's TLS settings, with a certificate for `name` valid from 1 January of the first year to 1
    /// January of the second.
    pub fn server(&self, name: &str, (from, until): (i32, i32)) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap()
    }
}
