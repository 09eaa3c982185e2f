//! A till that speaks ZVT over TCP: it registers, pays, and acknowledges each message immediately.
//!
//! The front leaves 20 ms between two APDUs to the same till, which some tills need. The share of the outcome contains
//! this pause if the front has sent a message shortly before. A real bank never answers that fast.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use pos_protocols::zvt::answer::TerminalMessage;
use pos_protocols::zvt::apdu::{Apdu, Splitter};
use pos_protocols::zvt::bmp::Fields;
use pos_protocols::zvt::command::{Command, Password, Registration};

use crate::agent::{Desk, Moments};
use crate::{IDLE, Row, SALES, WARM_UP, rows};

/// The config byte: the till prints payments itself and receives intermediate statuses (bits 02 and 08).
const CONFIG: u8 = 0x0A;

/// Makes all payments of a measurement. `card` is the time that the agent needs for a card.
pub(crate) fn measure(card: Duration) -> Vec<Row> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config =
        format!("[[zvt]]\ntill = \"till-1\"\nlisten = \"127.0.0.1:{port}\"\npassword-file = \"FOLDER/password\"\n");
    let desk = Desk::begin(card, &[("password", "123456\n")], config);
    let mut till = Till::at(port);
    till.registers();
    let payment = payment();
    let sales: Vec<_> = (0..WARM_UP + SALES)
        .map(|_| {
            std::thread::sleep(IDLE);
            let paid = till.pays(&payment);
            let Moments { asked, answered } = desk.moments();
            let (request, outcome) = (asked - paid.sent, paid.outcome - answered);
            [request, outcome, request + outcome, paid.over - paid.acknowledged]
        })
        .collect();
    let names =
        ["06 01 to POST /v1/sales", "the sale's answer to 04 0F", "both", "04 0F acknowledged to 06 0F, with its gap"];
    rows(names, &sales)
}

/// Builds a payment of 12.34 EUR.
fn payment() -> Vec<u8> {
    let mut fields = Fields::default();
    fields.set_number(0x04, 1234);
    fields.set(0x49, [0x09, 0x78]);
    Command::Authorisation(fields).apdu().encode()
}

/// The moments of one payment at the till.
struct Paid {
    sent: Instant,
    outcome: Instant,
    acknowledged: Instant,
    over: Instant,
}

struct Till {
    stream: TcpStream,
    splitter: Splitter,
}

impl Till {
    fn at(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream, splitter: Splitter::default() }
    }

    fn registers(&mut self) {
        let (password, fields) = (Password(123_456), Fields::default());
        let registration = Registration { password, config: CONFIG, currency: Some([0x09, 0x78]), fields };
        self.stream.write_all(&Command::Registration(registration).apdu().encode()).unwrap();
        while !matches!(self.hears().1, TerminalMessage::Completion(_)) {}
    }

    fn pays(&mut self, payment: &[u8]) -> Paid {
        self.stream.write_all(payment).unwrap();
        let sent = Instant::now();
        let mut status = None;
        loop {
            match self.hears() {
                (at, TerminalMessage::Status(_)) => status = Some((at, Instant::now())),
                (over, TerminalMessage::Completion(_)) => {
                    let (outcome, acknowledged) = status.expect("04 0F comes before 06 0F");
                    return Paid { sent, outcome, acknowledged, over };
                }
                (_, TerminalMessage::Ok | TerminalMessage::Intermediate(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Reads the next APDU and acknowledges it if it needs an answer. Returns the moment of its first byte and its
    /// message.
    fn hears(&mut self) -> (Instant, TerminalMessage) {
        let (mut chunk, mut first) = ([0; 4096], None);
        loop {
            let read = self.stream.read(&mut chunk).unwrap();
            assert!(read > 0, "the front has hung up");
            let at = *first.get_or_insert_with(Instant::now);
            let mut bytes = &chunk[..read];
            let Some(apdu) = self.splitter.next(&mut bytes) else { continue };
            assert!(bytes.is_empty(), "two APDUs at once");
            if !apdu.control.is_answer() {
                self.stream.write_all(&Apdu::ok().encode()).unwrap();
            }
            return (at, TerminalMessage::read(&apdu).unwrap());
        }
    }
}
