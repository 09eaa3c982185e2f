//! A till that speaks nexo with sealed messages, on one TLS connection that stays open. The time that the till needs to
//! seal a message and open the answer is not counted.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::seal::Key;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::agent::{Desk, Moments};
use crate::{IDLE, Row, SALES, WARM_UP, rows};

/// Makes all payments of a measurement. `card` is the time that the agent needs for a card.
pub(crate) fn measure(card: Duration) -> Vec<Row> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "[nexo]\nlisten = \"127.0.0.1:{port}\"\npoi-id = \"PosAgent-1\"\n\n[[nexo.till]]\ntill = \"till-1\"\n\
         sale-id = \"Till 1\"\npassphrase-file = \"FOLDER/passphrase\"\nkey-identifier = \"mykey\"\nkey-version = 1\n"
    );
    let desk = Desk::begin(card, &[("passphrase", "mypassphrase\n")], config);
    let mut till = Till::at(port, &desk.ca());
    let sales: Vec<_> = (0..WARM_UP + SALES)
        .map(|count| {
            let message = till.payment(count);
            std::thread::sleep(IDLE);
            let (sent, outcome) = till.pays(&message);
            let Moments { asked, answered } = desk.moments();
            let (request, outcome) = (asked - sent, outcome - answered);
            [request, outcome, request + outcome]
        })
        .collect();
    rows(["PaymentRequest to POST /v1/sales", "the sale's answer to PaymentResponse", "both"], &sales)
}

struct Till {
    stream: StreamOwned<ClientConnection, TcpStream>,
    key: Key,
}

impl Till {
    fn at(port: u16, ca: &[u8]) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca).unwrap()).unwrap();
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream: StreamOwned::new(connection, stream), key: Key::derive("mypassphrase", "mykey", 1).unwrap() }
    }

    /// Builds a request for 12.34 EUR, with different numbers each time.
    fn payment(&self, count: usize) -> Vec<u8> {
        let request = json!({ "SaleToPOIRequest": {
            "MessageHeader": {
                "ProtocolVersion": "3.0", "MessageClass": "Service", "MessageCategory": "Payment",
                "MessageType": "Request", "ServiceID": count.to_string(), "SaleID": "Till 1", "POIID": "PosAgent-1",
            },
            "PaymentRequest": {
                "SaleData": {
                    "SaleTransactionID": { "TransactionID": count.to_string(), "TimeStamp": "2026-11-20T12:34:56Z" },
                },
                "PaymentTransaction": { "AmountsReq": { "Currency": "EUR", "RequestedAmount": 12.34 } },
            },
        } });
        let Ok(Envelope::Plain(message)) = Envelope::read(request.to_string().as_bytes()) else {
            panic!("it is a message");
        };
        let body = message.seal(&self.key, [7; 16]);
        let head = format!(
            "POST /nexo/ HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.into_bytes(), body].concat()
    }

    /// Sends a message. Returns the moments at which its last byte was written and the answer's first byte arrived.
    fn pays(&mut self, message: &[u8]) -> (Instant, Instant) {
        self.stream.write_all(message).unwrap();
        self.stream.flush().unwrap();
        let sent = Instant::now();
        let (mut answer, mut chunk, mut outcome) = (Vec::new(), [0; 16_384], None);
        let body = loop {
            let read = self.stream.read(&mut chunk).unwrap();
            assert!(read > 0, "the front has hung up");
            outcome.get_or_insert_with(Instant::now);
            answer.extend_from_slice(&chunk[..read]);
            if let Some(body) = whole(&answer) {
                break body;
            }
        };
        let Ok(Envelope::Sealed(sealed)) = Envelope::read(&body) else { panic!("{}", String::from_utf8_lossy(&body)) };
        let opened: Result<Message, _> = sealed.open(std::slice::from_ref(&self.key)).unwrap().message;
        let answer: Value = serde_json::from_slice(&opened.unwrap().write()).unwrap();
        let result = &answer["SaleToPOIResponse"]["PaymentResponse"]["Response"]["Result"];
        assert_eq!(result, "Success", "{answer}");
        (sent, outcome.expect("something came"))
    }
}

/// Returns the body of an answer, or `None` while it is incomplete.
fn whole(answer: &[u8]) -> Option<Vec<u8>> {
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let (_, length) = head.split_once("content-length: ").expect("its length is said");
    let length: usize = length.lines().next().and_then(|it| it.trim().parse().ok()).expect("a number");
    (answer.len() >= end + length).then(|| answer[end..end + length].to_vec())
}
