//! Payments per second of the simulated gateway, compared with a constant answer to the same requests in the same run.
//! Both use the same HTTP server (hyper over TLS 1.3, one thread).
//!
//! Three rows are measured alternately. The first is the constant answer. The second includes the validation of every
//! parameter, the ledger and the answer, without keys ([`Mode::Fast`]). The third also opens a sealed stripe
//! ([`Mode::Checked`]: DUKPT, issuer). The clients are threads of this process and share the machine with the server.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures and prints")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use pos_sim::gateway::{Gateway, Mode, Options, start};
use pos_sim::keys::tdes_dukpt::{Device, Usage, initial_key};
use pos_sim::keys::{TEST_BDK_SRED, TEST_KSN_SRED, ZERO_IV};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The number of requests per client in one round.
const REQUESTS: usize = 400;
/// The number of clients. Each has its own persistent connection.
const CLIENTS: usize = 4;
/// The number of rounds. The result is their median.
const ROUNDS: usize = 7;
/// 5F22 of the public test card 4761739001010119, with its LRC.
const STRIPE: &[u8] = b"\x5F\x22\x25;4761739001010119=31121011234567890?9";

fn main() {
    let modes =
        [("a constant", Mode::Constant), ("validation and ledger", Mode::Fast), ("and the card opened", Mode::Checked)];
    let gateways: Vec<Served> = modes.iter().map(|(_, mode)| Served::start(*mode)).collect();
    let mut readers: Vec<Device> = (0..CLIENTS).map(reader).collect();
    let mut rates = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        for (served, rates) in gateways.iter().zip(&mut rates) {
            let rate = served.round(&mut readers, round);
            // The first round only warms up.
            if round > 0 {
                rates.push(rate);
            }
        }
    }
    println!(
        "payments per second, hyper over TLS 1.3 on one thread, {CLIENTS} connections, median of {ROUNDS} rounds\n"
    );
    let rates = rates.map(|mut rates| {
        rates.sort_unstable();
        rates[rates.len() / 2]
    });
    for ((name, _), rate) in modes.iter().zip(rates) {
        println!("  {name:<24}{rate:>8} /s {:>5} % {:>8} us each", rate * 100 / rates[0], 1_000_000 / rate);
    }
    let verdict = if rates[1] * 2 >= rates[0] { "holds" } else { "FAILS" };
    println!("\n  validation and ledger at least half of the constant: {verdict}");
}

/// Returns one of several readers, each with its own serial number and therefore its own key.
fn reader(n: usize) -> Device {
    let mut ksn = TEST_KSN_SRED;
    ksn.0[2] ^= u8::try_from(n).expect("a small number");
    Device::new(&initial_key(&TEST_BDK_SRED, ksn), ksn)
}

/// A gateway that runs on its own thread.
struct Served {
    gateway: Gateway,
}

impl Served {
    fn start(mode: Mode) -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("the system has threads").block_on(async {
                let gateway = start(Options { mode, ..Options::default() }).await;
                // Sending cannot fail, because the receiver waits below.
                let _ = sender.send(gateway);
                std::future::pending::<()>().await;
            });
        });
        Self { gateway: receiver.recv().expect("the thread sends").expect("a free port") }
    }

    /// Runs all clients at the same time. Returns payments per second.
    fn round(&self, readers: &mut [Device], round: usize) -> u128 {
        let client = |(n, reader): (usize, &mut Device)| {
            let requests: Vec<Vec<u8>> =
                (0..REQUESTS).map(|m| self.request(reader, &format!("bench-{round:02}-{n}-{m:06}"))).collect();
            (Client::open(self.gateway.address(), self.gateway.ca_pem()), requests)
        };
        let clients: Vec<_> = readers.iter_mut().enumerate().map(client).collect();
        let begun = Instant::now();
        thread::scope(|scope| {
            for (mut client, requests) in clients {
                scope.spawn(move || requests.iter().for_each(|request| client.send(request)));
            }
        });
        let count = u128::try_from(CLIENTS * REQUESTS).expect("a small number");
        count * 1_000_000_000 / begun.elapsed().as_nanos()
    }

    fn request(&self, reader: &mut Device, reference: &str) -> Vec<u8> {
        let (ksn, key) = reader.next().expect("a reader has a million keys");
        let sealed = key.working(Usage::DataRequest).cbc_encrypt_zero_padded(&ZERO_IV, STRIPE);
        let gateway = &self.gateway;
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("entityId", gateway.entity_id()),
                ("paymentType", "DB"),
                ("amount", "12.34"),
                ("currency", "EUR"),
                ("merchantTransactionId", reference),
                ("merchantInvoiceId", "invoice-0001"),
                ("descriptor", "A shop on the corner"),
                ("customParameters[till]", "till-1"),
                ("pos.terminalId", "10000001"),
                ("pos.entryMode", "MAGSTRIPE"),
                ("pos.transactionSource", "POS"),
                ("pos.deviceId", "26011234"),
                ("pos.pinEntryCapability", "PIN_ENTRY_AVAILABLE"),
                ("pos.location.latitude", "+48.13513"),
                ("pos.location.longitude", "+11.58198"),
                ("pos.transactionSequenceNumber", "1"),
                ("pos.encryptedSred.data", &hex::encode_upper(&sealed)),
                ("pos.encryptedSred.ksn", &hex::encode_upper(ksn.0)),
            ])
            .finish();
        format!(
            "POST /v1/payments HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\nContent-Length: {}\r\n\r\n{body}",
            gateway.token(),
            body.len()
        )
        .into_bytes()
    }
}

struct Client(StreamOwned<ClientConnection, TcpStream>);

impl Client {
    fn open(gateway: SocketAddr, ca: &str) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).expect("PEM")).expect("a CA");
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has them")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(Arc::new(config), name).expect("a right configuration");
        let socket = TcpStream::connect(gateway).expect("the simulated gateway listens");
        socket.set_nodelay(true).expect("TCP");
        let mut tls = StreamOwned::new(connection, socket);
        tls.flush().expect("the handshake");
        Self(tls)
    }

    /// Sends one request and reads the whole answer, which must be HTTP 200 with a Content-Length.
    fn send(&mut self, request: &[u8]) {
        self.0.write_all(request).expect("the gateway reads");
        self.0.flush().expect("the gateway reads");
        let (mut buffer, mut have) = ([0; 8192], 0);
        loop {
            have += self.0.read(&mut buffer[have..]).expect("the gateway writes");
            let Some(end) = buffer[..have].windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = std::str::from_utf8(&buffer[..end]).expect("HTTP is ASCII");
            assert!(head.starts_with("HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..have]));
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            let length: usize = length.and_then(|text| text.trim().parse().ok()).expect("a Content-Length");
            if have >= end + 4 + length {
                return;
            }
        }
    }
}
