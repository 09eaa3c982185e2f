//! What the first boot shows: the code on the console and on paper, a line on paper, a text at the reader.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use pos_printer::code::{Code, CodeKind, QrLevel};
use pos_printer::layout::{Align, Style, TillLine};
use pos_reader::capability::Capability;
use pos_reader::identify::FoundReader;
use pos_reader::{ReaderEvent, ReaderFamily, ReaderOrder, ReaderSettings, Unready};
use rustix::fs::OFlags;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::super::setup::devices;
use crate::config;
use crate::doctor;

/// The deadline for a slip. It is that of a printer that opens its cover, and of a person who waits for a code.
const PRINTED: Duration = Duration::from_secs(20);
/// The deadline for the search of the reader's family. With the steps after it, it fits the minute that the page waits.
const FOUND: Duration = Duration::from_secs(25);
/// The deadline for a reader to identify itself, as in setup's search.
const READY: Duration = Duration::from_secs(12);
/// The time for which a text is shown. A person looks from the page to the reader.
const SHOWN: Duration = Duration::from_secs(5);
/// The deadline for the console, whose line may be stopped.
const CONSOLE: Duration = Duration::from_secs(3);

/// Writes a text to the console. Returns whether it was shown.
pub(super) async fn on_console(console: PathBuf, text: zeroize::Zeroizing<String>) -> bool {
    let write = move || -> std::io::Result<()> {
        let flags = i32::try_from((OFlags::NOCTTY | OFlags::NONBLOCK).bits()).expect("a flag is below 2^31");
        OpenOptions::new().write(true).custom_flags(flags).open(console)?.write_all(text.as_bytes())
    };
    matches!(timeout(CONSOLE, tokio::task::spawn_blocking(write)).await, Ok(Ok(Ok(()))))
}

/// Returns a line of a slip.
pub(super) fn line(text: &str, style: Style) -> TillLine {
    TillLine { text: text.to_owned(), value: String::new(), align: Align::Centre, style, code: None }
}

/// Returns a QR code of a slip, if the content fits the paper.
pub(super) fn qr(content: &str, columns: u8) -> Option<TillLine> {
    let code = Code::new(CodeKind::Qr(QrLevel::Medium), content, columns).ok()?;
    Some(TillLine { code: Some(code), ..line("", Style::Plain) })
}

/// Prints lines. Returns the reason why they are not on paper.
pub(super) async fn on_paper(printer: config::Printer, lines: Vec<TillLine>) -> Result<(), String> {
    if let Some(program) = doctor::held_by(&printer.port) {
        return Err(format!("{program} is using this port"));
    }
    let (events, mut told) = mpsc::channel(1);
    let handle = pos_printer::port::spawn(printer, events);
    let printed = match handle.print_till_lines(lines) {
        Ok(printed) => timeout(PRINTED, printed).await,
        Err(why) => return Err(why.to_string()),
    };
    // The port is free once the printer's task has ended.
    drop(handle);
    let _ = timeout(PRINTED, async { while told.recv().await.is_some() {} }).await;
    match printed {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(why))) => Err(why.to_string()),
        _ => Err("the printer did not take the lines in time".to_owned()),
    }
}

/// Shows a text at a reader for some seconds. Returns the reason why it was not shown.
pub(super) async fn on_reader(port: &str, baud: u32, text: String) -> Result<(), String> {
    let found = timeout(FOUND, devices::identified(port, baud, |_| {})).await;
    let FoundReader { protocol, baud, .. } =
        found.unwrap_or_else(|_| Err("no reader answers at this port".to_owned()))?;
    let can_show = protocol.capabilities().contains(&Capability::Texts);
    let family = ReaderFamily::plain(protocol).filter(|_| can_show);
    let Some(family) = family else {
        return Err(format!("a reader ({}) answers here, but it shows only its own texts", protocol.name()));
    };
    let settings = ReaderSettings { baud, ..ReaderSettings::new(port) };
    let (handle, mut events) = pos_reader::spawn(settings, family);
    let ready = async {
        while let Some(event) = events.recv().await {
            match event {
                ReaderEvent::Ready(_) => return Ok(()),
                ReaderEvent::Unready(Unready::Restarting { .. }) => {}
                ReaderEvent::Unready(why) => return Err(why.to_string()),
                _ => {}
            }
        }
        Err("the reader is gone".to_owned())
    };
    let ready = timeout(READY, ready).await.unwrap_or_else(|_| Err("no reader answers at this port".to_owned()));
    let shown = match ready {
        Ok(()) => match timeout(READY, handle.order(ReaderOrder::Show { text })).await {
            Ok(Ok(())) => Ok(()),
            _ => Err("the reader is gone".to_owned()),
        },
        Err(why) => Err(why),
    };
    if shown.is_ok() {
        sleep(SHOWN).await;
    }
    // The port is free once the reader's task has ended.
    drop(handle);
    let _ = timeout(READY, async { while events.recv().await.is_some() {} }).await;
    shown
}
