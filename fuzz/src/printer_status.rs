//! Checks any bytes as a printer's answer to a status query. The query ends without a panic. It returns the condition
//! in the bytes that have an answer's form, regardless of other bytes between them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pos_agent::config;
use pos_daemon::wire::{Connecting, Stream};
use pos_printer::port::{PrinterNeed, PrinterStands, spawn_over};
use pos_printer::status::{Condition, is_answer, is_done};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

/// Checks that the conditions above hold for these bytes. The first byte says whether the printer closes the connection
/// after the others.
pub fn holds(input: &[u8]) {
    let Some((&closes, bytes)) = input.split_first() else { return };
    assert!(!bytes.iter().any(|byte| is_answer(*byte) && is_done(*byte)));
    let answers: Vec<u8> = bytes.iter().copied().filter(|byte| is_answer(*byte)).take(4).collect();
    let said = <[u8; 4]>::try_from(answers).ok().map(Condition::from_answers);
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let closes = closes % 2 == 1;
    let standing = runtime.expect("a runtime of one thread").block_on(looked(bytes, closes));
    match (said, standing) {
        // The next query does not reach the printer.
        (_, PrinterStands::Needs(PrinterNeed::Unreachable { .. })) if closes => {}
        (Some(Condition::Fine), PrinterStands::Ready) => {}
        (Some(Condition::PaperNearEnd), PrinterStands::Needs(PrinterNeed::PaperNearEnd)) => {}
        (Some(Condition::Trouble(trouble)), PrinterStands::Needs(PrinterNeed::Trouble(shown))) => {
            assert_eq!(shown, trouble)
        }
        // This printer does not answer such queries.
        (None, PrinterStands::Ready) => {}
        (said, standing) => panic!("{said:?} is shown as {standing:?}"),
    }
}

/// Returns the printer's state after one query.
async fn looked(bytes: &[u8], closes: bool) -> PrinterStands {
    let (ours, mut printers) = tokio::io::duplex(bytes.len().max(64));
    printers.write_all(bytes).await.expect("there is room for it");
    let _open = (!closes).then_some(printers);
    let once = Arc::new(Mutex::new(Some(ours)));
    let way = Arc::new(move || -> Connecting {
        let stream = once.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let stream = stream.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    });
    let (events, _heard) = mpsc::channel(1);
    let config: config::Printer = serde_json::from_value(json!({"port": "/dev/printer"})).expect("a port is enough");
    let handle = spawn_over(way, config, events);
    while handle.standing() == PrinterStands::NotUsedYet {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    handle.standing()
}
