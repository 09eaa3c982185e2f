//! The floor: blocking code that moves the identical bytes over the same connections, without a journal and without
//! checks. Its time is the cost of the connections and of TLS. Any additional time is the agent's own.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The commands CARD STATUS on, START TRANSACTION 12.34 EUR at 2026-11-20 12:34:56, and CONTINUE with 8A "00"
/// (readers: 2.13).
const CARD_STATUS: &str = "010004D0601F00AA";
const START: &str =
    "01002DDED1000028E0269C01009F02060000000012349A032611209F2103123456DFA2040101DFA20301005F2A020978AE";
const CONTINUE: &str = "01000BDED2000006E0048A0230306C";

pub(super) struct Floor {
    tty: File,
    tls: StreamOwned<ClientConnection, TcpStream>,
    request: Vec<u8>,
}

impl Floor {
    /// Opens the reader's tty and a TLS connection to the gateway, and finishes the handshake.
    pub(super) fn open(tty: &Path, gateway: std::net::SocketAddr, ca: &str, request: Vec<u8>) -> Self {
        let tty = File::options().read(true).write(true).open(tty).expect("the simulated reader's tty");
        let mut raw = rustix::termios::tcgetattr(tty.as_fd()).expect("a tty");
        raw.make_raw();
        rustix::termios::tcsetattr(tty.as_fd(), rustix::termios::OptionalActions::Now, &raw).expect("a tty");
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
        let mut floor = Self { tty, tls: StreamOwned::new(connection, socket), request };
        floor.tls.flush().expect("the handshake");
        floor.send(CARD_STATUS);
        floor.packets();
        floor
    }

    /// Makes one sale: START, the card's answer, the request, the gateway's answer, CONTINUE, the card's final answer.
    pub(super) fn sale(&mut self) {
        // The card is inserted, then answers.
        self.packets();
        self.send(START);
        self.packets();
        self.tls.write_all(&self.request).expect("the gateway reads");
        self.tls.flush().expect("the gateway reads");
        self.answer();
        self.send(CONTINUE);
        self.packets();
    }

    /// Reads the event for the card's removal.
    pub(super) fn card_is_out(&mut self) {
        self.packets();
    }

    fn send(&mut self, frame: &str) {
        let frame = hex::decode(frame).expect("typed in hex");
        self.tty.write_all(&frame).expect("the reader reads");
    }

    /// Reads packets up to one that ends a message.
    fn packets(&mut self) {
        let mut buffer = [0; 1024];
        let (mut have, mut at) = (0, 0);
        loop {
            have += self.tty.read(&mut buffer[have..]).expect("the reader writes");
            while have >= at + 3 && have >= at + 4 + usize::from(buffer[at + 2]) {
                let chained = buffer[at + 1] & 1 == 1;
                at += 4 + usize::from(buffer[at + 2]);
                if !chained && at == have {
                    return;
                }
            }
        }
    }

    /// Reads one HTTP answer with a Content-Length.
    fn answer(&mut self) {
        let (mut buffer, mut have) = ([0; 8192], 0);
        loop {
            have += self.tls.read(&mut buffer[have..]).expect("the gateway writes");
            let text = String::from_utf8_lossy(&buffer[..have]).to_ascii_lowercase();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
            if length.and_then(|text| text.trim().parse::<usize>().ok()).is_some_and(|length| body.len() >= length) {
                return;
            }
        }
    }
}
