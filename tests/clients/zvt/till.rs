//! A till built with the unmodified crate `zvt`. It sends a registration, a status query, two reservations, a partial
//! reversal and a query for open reservations. Then it sends a reversal, a diagnosis and an end of day.
//! `zvt-client HOST:PORT` exits with 0 if each step has the expected result.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use tokio::net::TcpStream;
use tokio_stream::StreamExt;
use zvt::packets::{self, PartialReversalAbort};
use zvt::sequences::{self, AuthorizationResponse, PartialReversalResponse, Sequence};

const PASSWORD: usize = 123_456;
const EUROS: Option<usize> = Some(978);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let address = std::env::args().nth(1).expect("usage: zvt-client HOST:PORT");
    let mut till = TcpStream::connect(&address).await.unwrap();

    // Bits 02 and 04: this till prints. Bit 08: it wants intermediate status. Bit 80: it prints by print commands.
    let registration = packets::Registration { password: PASSWORD, config_byte: 0x8E, currency: EUROS, tlv: None };
    let mut said = sequences::Registration::into_stream(&registration, &mut till);
    let sequences::RegistrationResponse::CompletionData(data) = said.next().await.unwrap().unwrap();
    assert_eq!((data.status_byte, data.currency), (Some(0), EUROS));
    assert!(data.terminal_id.is_some());
    drop(said);

    let enquiry = packets::StatusEnquiry { password: Some(PASSWORD), service_byte: None, tlv: None };
    let mut said = sequences::StatusEnquiry::into_stream(&enquiry, &mut till);
    while let Some(it) = said.next().await {
        println!("status: {:?}", it.unwrap());
    }
    drop(said);

    let receipts = [reserve(&mut till).await, reserve(&mut till).await];

    // 12.95 of the reserved 25.00 is released, so 12.05 is captured.
    let part = packets::PartialReversal {
        receipt_no: Some(receipts[0]),
        amount: Some(1295),
        payment_type: Some(0x40),
        currency: EUROS,
        tlv: None,
    };
    assert_eq!(reverses(&mut till, &part).await, None);

    // Asks which reservation is open, which is the second one.
    let question = packets::PartialReversal { receipt_no: Some(0xFFFF), ..packets::PartialReversal::default() };
    let open = reverses(&mut till, &question).await.expect("an answer with 06 1E");
    assert_eq!((open.error, open.receipt_no), (0xB8, Some(receipts[1])));

    let given_up =
        packets::PreAuthReversal { payment_type: Some(0x40), currency: EUROS, receipt_no: Some(receipts[1]) };
    let mut said = sequences::PreAuthReversal::into_stream(&given_up, &mut till);
    let mut ended = None;
    while let Some(it) = said.next().await {
        ended = Some(it.unwrap());
    }
    assert!(matches!(ended, Some(PartialReversalResponse::CompletionData(_))), "{ended:?}");
    drop(said);
    let open = reverses(&mut till, &question).await.expect("an answer with 06 1E");
    assert_eq!(open.receipt_no, Some(0xFFFF), "none is open");

    let diagnosis = packets::Diagnosis { tlv: None };
    let mut said = sequences::Diagnosis::into_stream(&diagnosis, &mut till);
    let mut ended = None;
    while let Some(it) = said.next().await {
        ended = Some(it.unwrap());
    }
    assert!(matches!(ended, Some(sequences::DiagnosisResponse::CompletionData(_))), "{ended:?}");
    drop(said);

    let day = packets::EndOfDay { password: PASSWORD };
    let mut said = sequences::EndOfDay::into_stream(&day, &mut till);
    let (mut sums, mut printed, mut ended) = (None, 0, None);
    while let Some(it) = said.next().await {
        match it.unwrap() {
            sequences::EndOfDayResponse::StatusInformation(it) => sums = it.single_amounts,
            sequences::EndOfDayResponse::PrintLine(_) => printed += 1,
            other => ended = Some(other),
        }
    }
    let sums = sums.expect("BMP 60");
    assert_eq!((sums.visa.num, sums.visa.total), (1, 1205), "{sums:?}");
    assert!(printed > 2, "the slip is printed by the till");
    assert!(matches!(ended, Some(sequences::EndOfDayResponse::CompletionData(_))), "{ended:?}");
    println!("all as it must be");
}

/// Reserves 25.00 and returns the receipt number.
async fn reserve(till: &mut TcpStream) -> usize {
    let wanted = packets::Reservation {
        amount: Some(2500),
        currency: EUROS,
        payment_type: Some(0x40),
        ..packets::Reservation::default()
    };
    let mut said = sequences::Reservation::into_stream(&wanted, till);
    let (mut receipt, mut heard, mut printed, mut ended) = (None, 0, 0, None);
    while let Some(it) = said.next().await {
        match it.unwrap() {
            AuthorizationResponse::IntermediateStatusInformation(_) => heard += 1,
            AuthorizationResponse::StatusInformation(it) => {
                println!("reserved: {it:?}");
                assert_eq!((it.result_code, it.amount), (Some(0), Some(2500)));
                assert_eq!(it.card_name.as_deref().map(|name| name.trim_end_matches('\0')), Some("VISA"));
                receipt = it.receipt_no;
            }
            AuthorizationResponse::PrintLine(_) => printed += 1,
            other => ended = Some(other),
        }
    }
    assert!(heard > 0 && printed > 10, "{heard} {printed}");
    assert!(matches!(ended, Some(AuthorizationResponse::CompletionData(_))), "{ended:?}");
    receipt.expect("BMP 87")
}

/// Returns `None` if the reversal was completed, or else the reason for its abort.
async fn reverses(till: &mut TcpStream, wanted: &packets::PartialReversal) -> Option<PartialReversalAbort> {
    let mut said = sequences::PartialReversal::into_stream(wanted, till);
    let mut aborted = None;
    while let Some(it) = said.next().await {
        if let PartialReversalResponse::PartialReversalAbort(it) = it.unwrap() {
            aborted = Some(it);
        }
    }
    aborted
}
