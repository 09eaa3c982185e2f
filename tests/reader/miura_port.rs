//! The port on real connections: a pseudo-terminal and a TCP connection to a scripted reader, unplugged and plugged in
//! again.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use pos_reader::miura::message::{
    AnswerTemplate, CardStatus, MessageBody, MpiCommand, P2peStatus, ResetAnswer, ResetKind, SoftwareVersion,
    StatusWord, TransactionAnswer, UnsolicitedMessage, status,
};
use pos_reader::{
    Arm, CardVerdict, Completion, EntryRequest, LocalTime, NoCard, ReaderEvent, ReaderFamily, ReaderOrder,
    ReaderProgress, ReaderSettings, Unready, spawn,
};
use pos_reader_link::apdu_link::{Decoder, Nad, Received, chain};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const AT: LocalTime = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 56 };

/// Acts as the reader: taps one card for each sale, until the connection is cut or `answers` answers are given.
fn reader(wire: &mut (impl Read + Write), mut answers: usize) {
    let mut decoder = Decoder::default();
    let mut buffer = [0; 512];
    let mut taps = 0;
    while answers > 0 {
        let Ok(count @ 1..) = wire.read(&mut buffer) else { return };
        let mut out = Vec::new();
        decoder.feed(&buffer[..count], |received| {
            let Received::Message(message) = received else { panic!("a fault") };
            for (unsolicited, body) in answer(&MpiCommand::parse(message.bytes).unwrap(), &mut taps) {
                answers = answers.saturating_sub(1);
                // The packets are small, so every answer is chained.
                out.extend(chain(Nad::Reader, unsolicited, &body, 7).unwrap().flatten());
            }
        });
        wire.write_all(&out).unwrap();
    }
}

/// Returns the answers to a command. Each tap is sealed with its own key.
fn answer(command: &MpiCommand<'_>, taps: &mut u8) -> Vec<(bool, MessageBody)> {
    let no_card = CardStatus { slot: 0, stripe: 0, atr: None, sealed: None, masked_track2: None, clear_tracks: false };
    let mut tlvs = hex::decode(
        "9F0206000000001234 5F2A020978 9F260811223344556677889F270180 DFAE021892FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5 DFAE030AFFFF0102628D1100005F"
            .replace(' ', ""),
    )
    .unwrap();
    match command {
        MpiCommand::Reset(ResetKind::Soft) => {
            let software = vec![SoftwareVersion { name: "M000-MPI".into(), version: "1-51".into() }];
            vec![(false, ResetAnswer { serial: "04000203".into(), software }.encode().unwrap())]
        }
        MpiCommand::P2peStatus => vec![(false, P2peStatus::ALL.encode().unwrap())],
        MpiCommand::CardStatus { .. } => vec![(true, UnsolicitedMessage::Card(no_card).encode().unwrap())],
        MpiCommand::StartContactless { .. } => {
            *tlvs.last_mut().unwrap() += *taps;
            *taps += 1;
            vec![(false, TransactionAnswer::new(AnswerTemplate::Online, &tlvs).encode().unwrap())]
        }
        MpiCommand::Continue(_) => {
            vec![(false, TransactionAnswer::new(AnswerTemplate::Approved, &[]).encode().unwrap())]
        }
        _ => vec![(false, status(StatusWord::OK))],
    }
}

/// The number of answers until Ready (ABORT, RESET, P2PE, device info, configuration, clock, card status, keyboard).
/// The next constant is the number of answers for one tap.
const START_UP: usize = 8;
const TAP: usize = 2;

fn order(sale: u64) -> ReaderOrder {
    let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
    ReaderOrder::Arm(Arm {
        sale: SaleNumber::new(sale),
        amount,
        transaction_type: 0,
        at: AT,
        card_timeout: Duration::from_secs(60),
        entry: EntryRequest::Card,
    })
}

fn settings(port: String) -> ReaderSettings {
    ReaderSettings { clock: Arc::new(|| Some(AT)), ..ReaderSettings::new(port) }
}

fn pty() -> (File, String) {
    let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    (File::from(master), name)
}

async fn two_sales(port: String, hang_up: Sender<()>) {
    let (handle, mut events) = spawn(settings(port), ReaderFamily::default());
    assert!(matches!(events.recv().await, Some(ReaderEvent::Ready(id)) if id.serial == "04000203" && id.pin_key));
    for sale in 1..=2 {
        handle.order(order(sale)).await.unwrap();
        assert!(matches!(
            events.recv().await,
            Some(ReaderEvent::Progress { progress: ReaderProgress::PresentCard, .. })
        ));
        match events.recv().await {
            Some(ReaderEvent::Card { sale: of, presented }) if of == sale => {
                assert_eq!(presented.card.data.expose().len(), 24);
            }
            other => panic!("{other:?}"),
        }
        // The capture's counter is 5F, so fewer keys are left than in a new set. No PIN was sent.
        assert!(matches!(events.recv().await, Some(ReaderEvent::KeysLeft { card: Some(1..1_048_575), pin: None })));
        let completion = Completion { arc: *b"00", issuer_authentication: None, scripts: heapless::Vec::new() };
        handle.order(ReaderOrder::Complete { sale: SaleNumber::new(sale), completion }).await.unwrap();
        assert!(matches!(events.recv().await, Some(ReaderEvent::Completed { verdict: CardVerdict::Approved, .. })));
        assert!(matches!(events.recv().await, Some(ReaderEvent::Idle)));
    }
    hang_up.send(()).unwrap();
    assert!(matches!(events.recv().await, Some(ReaderEvent::Unready(Unready::Absent { .. }))));
    handle.order(order(3)).await.unwrap();
    assert!(matches!(
        events.recv().await,
        Some(ReaderEvent::NoCard { sale, why: NoCard::NotReady }) if sale == 3
    ));
}

#[tokio::test]
async fn over_a_tty() {
    let (master, name) = pty();
    let (hang_up, hung_up) = channel();
    let peer = thread::spawn(move || {
        let mut wire = master;
        reader(&mut wire, START_UP + 2 * TAP);
        hung_up.recv().unwrap();
    });
    two_sales(name, hang_up).await;
    peer.join().unwrap();
}

#[tokio::test]
async fn over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("tcp://{}", listener.local_addr().unwrap());
    let (hang_up, hung_up) = channel();
    let peer = thread::spawn(move || {
        let mut wire = listener.accept().unwrap().0;
        reader(&mut wire, START_UP + 2 * TAP);
        hung_up.recv().unwrap();
    });
    two_sales(port, hang_up).await;
    peer.join().unwrap();
}

#[tokio::test]
async fn unplugged_and_plugged_in_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("tcp://{}", listener.local_addr().unwrap());
    let peer = thread::spawn(move || {
        for _ in 0..2 {
            reader(&mut listener.accept().unwrap().0, START_UP);
        }
    });
    let (_handle, mut events) = spawn(settings(port), ReaderFamily::default());
    for _ in 0..2 {
        assert!(matches!(events.recv().await, Some(ReaderEvent::Ready(_))));
        assert!(matches!(events.recv().await, Some(ReaderEvent::Unready(Unready::Absent { .. }))));
    }
    peer.join().unwrap();
}

#[tokio::test]
async fn a_port_that_is_not_there_is_named() {
    let (_handle, mut events) = spawn(settings("/dev/serial/by-id/no-such-reader".into()), ReaderFamily::default());
    match events.recv().await {
        Some(ReaderEvent::Unready(why @ Unready::Absent { .. })) => {
            assert!(why.to_string().contains("/dev/serial/by-id/no-such-reader"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_agent_that_reads_no_events_can_still_give_orders() {
    let (handle, mut events) = spawn(settings("/dev/serial/by-id/no-such-reader".into()), ReaderFamily::default());
    for sale in 0..500 {
        handle.order(order(sale)).await.unwrap();
    }
    let mut refused = 0;
    while refused < 500 {
        match events.recv().await {
            Some(ReaderEvent::NoCard { sale, why: NoCard::NotReady }) => {
                assert_eq!(sale, refused);
                refused += 1;
            }
            Some(ReaderEvent::Unready(Unready::Absent { .. })) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn the_task_ends_with_the_agent() {
    let (handle, events) = spawn(settings("/dev/serial/by-id/no-such-reader".into()), ReaderFamily::default());
    drop(events);
    while handle.order(order(1)).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
