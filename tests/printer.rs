//! The printer's task on real wires: TCP to the simulated printer, and a pty.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use pos_agent::config::{self, CodePage, Copies};
use pos_agent::money::{Amount, Currency};
use pos_agent::printer::port::{QUEUE, Timing, spawn_with};
use pos_agent::printer::{Event, Handle, Job, lay_out, plain};
use pos_agent::sale::{Copy, HostFacts, Receipt, ReceiptOutcome};
use pos_agent::sim::printer::Printer;
use tokio::sync::mpsc;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

#[tokio::test]
async fn both_copies_come_out_of_the_printer_as_their_text() {
    let mut printer = Printer::start_with(ANY, 32).await.unwrap();
    let (handle, mut events) = spawn(&tcp(&printer), patient());
    assert_eq!(handle.state(), "not used yet");
    for copy in [Copy::Merchant, Copy::Customer] {
        handle.print(&receipt(7), copy).unwrap();
        assert_eq!(events.recv().await, Some(Event::Printed { sale: 7, copy }));
        assert_eq!(printer.next_receipt().await, plain(&lay_out(&receipt(7), &shop(), copy, 32), 32));
    }
    assert_eq!(printer.errors(), 0);
    assert_eq!(handle.state(), "ok");
}

#[tokio::test]
async fn a_receipt_comes_out_of_a_tty() {
    let (master, path) = pty();
    let (handle, mut events) = spawn(&path, patient());
    handle.print_job(Job { sale: 1, copy: Copy::Customer, bytes: b"\x1B@caf\x82\n\x1DVB\x00".to_vec() }).unwrap();
    assert_eq!(events.recv().await, Some(Event::Printed { sale: 1, copy: Copy::Customer }));
    // Raw: nothing was added to the line feed, nothing was echoed.
    let mut bytes = [0; 64];
    let size = rustix::io::read(&master, &mut bytes).unwrap();
    assert_eq!(&bytes[..size], b"\x1B@caf\x82\n\x1DVB\x00");
    assert_eq!(handle.state(), "ok");
}

#[tokio::test]
async fn a_dead_printer_is_reported_and_the_next_receipt_still_comes_out_once_it_lives() {
    let mut printer = Printer::start(ANY).await.unwrap();
    printer.set_dead(true).await;
    let (handle, mut events) = spawn(&tcp(&printer), impatient());
    handle.print(&receipt(1), Copy::Merchant).unwrap();
    let Some(Event::Failed { sale: 1, copy: Copy::Merchant, why }) = events.recv().await else {
        panic!("not reported")
    };
    assert!(why.starts_with(&format!("unreachable: {}: ", printer.address)), "{why}");
    assert_eq!(handle.state(), why);

    printer.set_dead(false).await;
    handle.print(&receipt(2), Copy::Merchant).unwrap();
    assert_eq!(events.recv().await, Some(Event::Printed { sale: 2, copy: Copy::Merchant }));
    assert!(printer.next_receipt().await.contains("Sale number"));
    assert_eq!(printer.receipts().len(), 1);
    assert_eq!(handle.state(), "ok");
}

#[tokio::test]
async fn a_printer_that_comes_back_in_time_prints_what_waited() {
    let mut printer = Printer::start(ANY).await.unwrap();
    printer.set_dead(true).await;
    // So many tries that no machine is slow enough to use them up.
    let timing = Timing { back_off: vec![Duration::from_millis(5); 100_000], ..patient() };
    let (handle, mut events) = spawn(&tcp(&printer), timing);
    handle.print(&receipt(1), Copy::Customer).unwrap();
    while !handle.state().starts_with("unreachable") {
        tokio::task::yield_now().await;
    }
    printer.set_dead(false).await;
    assert_eq!(events.recv().await, Some(Event::Printed { sale: 1, copy: Copy::Customer }));
    printer.next_receipt().await;
}

#[tokio::test]
async fn a_receipt_that_broke_in_the_middle_is_not_printed_twice() {
    let mut printer = Printer::start(ANY).await.unwrap();
    printer.die_after(200);
    let (handle, mut events) = spawn(&tcp(&printer), patient());
    handle.print(&receipt(1), Copy::Customer).unwrap();
    let Some(Event::Failed { sale: 1, why, .. }) = events.recv().await else { panic!("not reported") };
    assert!(why.starts_with("stopped in the middle of a receipt: "), "{why}");
    assert!(printer.uncut().contains("CORNER SHOP"));
    assert!(printer.receipts().is_empty());

    printer.set_dead(false).await;
    handle.print(&receipt(2), Copy::Customer).unwrap();
    assert_eq!(events.recv().await, Some(Event::Printed { sale: 2, copy: Copy::Customer }));
    // The torn beginning is still on the paper before it.
    assert_eq!(printer.next_receipt().await.matches("CORNER SHOP").count(), 2);
    assert_eq!(printer.receipts().len(), 1);
}

#[tokio::test]
async fn a_printer_that_takes_nothing_is_given_up_at_the_deadline() {
    // Accepts and never reads: paper out, with more bytes than the kernel keeps.
    let listener = tokio::net::TcpListener::bind(ANY).await.unwrap();
    let port = format!("tcp://{}", listener.local_addr().unwrap());
    let (handle, mut events) = spawn(&port, Timing { write: Duration::from_millis(50), ..patient() });
    handle.print_job(Job { sale: 1, copy: Copy::Customer, bytes: vec![b'x'; 32 << 20] }).unwrap();
    let Some(Event::Failed { why, .. }) = events.recv().await else { panic!("not reported") };
    assert!(why.contains("no progress within"), "{why}");
}

#[tokio::test]
async fn a_tty_that_is_not_there_is_unreachable() {
    let (handle, mut events) = spawn("/dev/serial/by-id/no-such-printer", impatient());
    handle.print(&receipt(1), Copy::Merchant).unwrap();
    let Some(Event::Failed { why, .. }) = events.recv().await else { panic!("not reported") };
    assert!(why.starts_with("unreachable: /dev/serial/by-id/no-such-printer: "), "{why}");
}

#[tokio::test]
async fn a_full_queue_refuses_the_newest_and_keeps_the_others() {
    let printer = Printer::start(ANY).await.unwrap();
    let (handle, mut events) = spawn(&tcp(&printer), patient());
    // Nothing runs in between on one thread: the task has taken none yet.
    for sale in 0..QUEUE as u64 {
        handle.print(&receipt(sale), Copy::Customer).unwrap();
    }
    let full = handle.print(&receipt(99), Copy::Customer).unwrap_err();
    assert_eq!((full.sale, full.copy), (99, Copy::Customer));
    drop(handle);
    for sale in 0..QUEUE as u64 {
        assert_eq!(events.recv().await, Some(Event::Printed { sale, copy: Copy::Customer }));
    }
    // The task ended with its last handle.
    assert_eq!(events.recv().await, None);
}

fn spawn(port: &str, timing: Timing) -> (Handle, mpsc::Receiver<Event>) {
    let (events, heard) = mpsc::channel(4);
    let config = config::Printer {
        port: port.to_owned(),
        baud: 9600,
        columns: 32,
        code_page: CodePage::Cp858,
        copies: Copies::Both,
    };
    (spawn_with(config, shop(), events, timing), heard)
}

fn tcp(printer: &Printer) -> String {
    format!("tcp://{}", printer.address)
}

/// Deadlines that no machine is slow enough to meet; no second try.
fn patient() -> Timing {
    let long = Duration::from_secs(600);
    Timing { connect: long, write: long, close: long, back_off: Vec::new() }
}

/// Three tries at once.
fn impatient() -> Timing {
    Timing { back_off: vec![Duration::ZERO; 2], ..patient() }
}

fn shop() -> Vec<String> {
    vec!["CORNER SHOP".to_owned()]
}

fn receipt(number: u64) -> Receipt {
    Receipt {
        kind: pos_agent::sale::Kind::Sale,
        terminal_id: "12345678".to_owned(),
        local_time: "2026-11-20 12:34:56".to_owned(),
        number,
        reference: format!("T-{number}"),
        amount: Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap(),
        tip: None,
        outcome: ReceiptOutcome::Approved,
        card: None,
        host: HostFacts { status_text: Some("Merci, à bientôt!".to_owned()), ..HostFacts::default() },
    }
}

/// The master's end of a pty and the path of the other end.
fn pty() -> (OwnedFd, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    (master, path.into_string().unwrap())
}
