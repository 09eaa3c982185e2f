//! Reads arbitrary bytes as the gateway's answer to every kind of request, for the fuzz targets (`fuzz/`). The code
//! that parses them also runs on a terminal, but this file does not.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hyper::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::answer::{self, Reply};
use super::by_date::Search;
use super::line::{Body, Connection, Exchange, GatewayLine, TlsEnd};
use super::{Expected, Fault, chip, inquiry, other_fields};
use crate::config::Assumptions;
use pos_core::transaction::{Answer, ForChip, Inquiry, ReversalAnswer};
use pos_terms::transaction::PaymentId;

/// One answer, read as the answer to every possible request.
#[derive(Debug, PartialEq, Eq)]
pub struct Readings {
    /// Read as the answer to a payment request.
    pub payment: Answer,
    /// Read as the answer to a request for a payment's outcome.
    pub retrieval: Answer,
    /// Read as the answer to the reversal of a payment.
    pub reversal: ReversalAnswer,
    /// Read as the answer to the query by gateway reference.
    pub inquiry: Inquiry,
    /// Read as the answer to the query by date, for one day.
    pub references: Result<Vec<String>, String>,
    /// Read as the answer to a person's request for one payment.
    pub shown: Result<BTreeMap<String, String>, String>,
    /// Read as the answer to a person's search for payments.
    pub found: Result<Vec<BTreeMap<String, String>>, String>,
    /// The decision to follow a redirect, or the reason against it.
    pub may_be_sent_elsewhere: Result<(), String>,
}

/// Reads an answer that arrives in pieces of `piece` bytes before the gateway closes the connection. Returns the HTTP
/// status and the readings.
///
/// # Errors
/// Returns an error if the bytes are not a complete answer.
pub async fn read(
    bytes: &[u8],
    piece: usize,
    payment: &PaymentId,
    asked: &Expected,
    assumptions: &Assumptions,
) -> Result<(u16, Readings), Fault> {
    let reply = exchange(bytes, piece).await?;
    let listed = || inquiry::listed(&reply, assumptions);
    let readings = Readings {
        payment: answer::payment(&reply, asked, assumptions),
        retrieval: answer::retrieval(&reply, payment, asked, assumptions),
        reversal: answer::reversal(&reply, payment, asked, assumptions),
        inquiry: inquiry::read(&reply, &asked.merchant_transaction_id, assumptions),
        references: listed().and_then(|entries| {
            let mut search = Search::new(&[terminal_of(asked).to_owned()].into(), 0, 24 * 3600 * 1000);
            let window = search.next()?.ok_or("a day is a window")?;
            let found = search.take(window, &entries)?;
            search.keep(found)?;
            Ok(search.finish().references)
        }),
        shown: reply.shown().map(|body| other_fields::shown(&body)),
        found: listed().map(|entries| entries.iter().map(other_fields::shown).collect()),
        may_be_sent_elsewhere: answer::may_be_sent_elsewhere(&reply, asked, assumptions),
    };
    Ok((reply.status, readings))
}

/// Reads `pos.iccDataResponse`.
#[must_use]
pub fn for_chip(field: &str) -> ForChip {
    chip::read(field)
}

/// Returns the terminal id, which begins each gateway reference.
fn terminal_of(asked: &Expected) -> &str {
    asked.merchant_transaction_id.split('-').next().unwrap_or_default()
}

/// Sends a request over a connection in memory and returns the answer.
async fn exchange(bytes: &[u8], piece: usize) -> Result<Reply, Fault> {
    let (ours, mut gateways) = duplex(1 << 16);
    let made = Connection {
        to: SocketAddr::from((Ipv4Addr::LOCALHOST, 443)),
        tcp: Duration::ZERO,
        tls: Duration::ZERO,
        version: String::new(),
        cipher: String::new(),
    };
    let mut line = GatewayLine::over(ours, made, 0, TlsEnd::default()).await?;
    let answering = async {
        // Bytes that arrive before the request do not answer it.
        let _ = gateways.read(&mut [0; 256]).await;
        for piece in bytes.chunks(piece.max(1)) {
            // The client stops reading when it cannot use the answer.
            if gateways.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        // The gateway closes the connection here, without reading the rest of the request.
        let _ = gateways.shutdown().await;
    };
    let request = Request::get("/").body(Body::default()).expect("a path alone is a request");
    match tokio::join!(line.exchange(request), answering).0 {
        Exchange::Answered(reply) => Ok(reply),
        Exchange::Broken(fault) => Err(fault),
        Exchange::HandedBack(_) => Err(Fault::AnswerNotWhole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::money::{Amount, Currency};

    #[tokio::test]
    async fn a_whole_answer_is_read_in_any_pieces_and_a_part_of_it_is_none() {
        let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
        let asked = Expected { merchant_transaction_id: "1-1".to_owned(), amount, payment_type: "DB".to_owned() };
        let id = PaymentId::new("8ac7a4a1940b8dd301940fbf4a3b5a5e");
        let body = format!(r#"{{"id":"{}","paymentType":"DB","result":{{"code":"000.000.000"}}}}"#, id.as_str());
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let assumptions = Assumptions::default();
        for piece in [1, 7, usize::MAX] {
            let (status, readings) = read(answer.as_bytes(), piece, &id, &asked, &assumptions).await.unwrap();
            assert!(status == 200 && matches!(readings.payment, Answer::Approved(_)), "{readings:?}");
        }
        let part = &answer.as_bytes()[..answer.len() - 1];
        let faulty = read(part, usize::MAX, &id, &asked, &assumptions).await.unwrap_err();
        assert!(matches!(faulty, Fault::AnswerNotWhole), "{faulty:?}");
    }
}
