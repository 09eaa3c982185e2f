//! A till on a serial line. The device is opened again after it is lost.

use std::path::Path;
use std::time::Duration;

use pos_protocols::zvt::apdu::Apdu;
use pos_protocols::zvt::serial::{Link, LinkAction};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tokio_serial::{DataBits, FlowControl, Parity, SerialPortBuilderExt, SerialStream, StopBits};

use super::{AGAIN, CHUNK, Event, MOST_WAITING};
use crate::asking::until;

/// Opens the line, serves it until it is lost, and then opens it again.
pub(super) async fn hold(path: &Path, speed: u32, events: &mpsc::Sender<Event>) {
    let (mut count, mut said) = (0, false);
    loop {
        let port = tokio_serial::new(path.to_string_lossy(), speed)
            .data_bits(DataBits::Eight)
            .parity(Parity::None)
            // The specification requires two stop bits. Data from a till with one stop bit is also received.
            .stop_bits(StopBits::Two)
            .flow_control(FlowControl::None)
            .open_native_async();
        match port {
            Ok(port) => {
                said = false;
                count += 1;
                let _ = serve(count, port, speed, path, events).await;
                let _ = events.send(Event::Lost(count)).await;
            }
            Err(error) if !said => {
                said = true;
                tracing::warn!(
                    path = %path.display(), %error,
                    "a till's serial line cannot be opened; check serial in [[zvt]]"
                );
            }
            Err(_) => {}
        }
        sleep(AGAIN).await;
    }
}

async fn serve(
    line: u32,
    mut port: SerialStream,
    speed: u32,
    path: &Path,
    events: &mpsc::Sender<Event>,
) -> std::io::Result<()> {
    let (writer, mut waiting) = mpsc::channel::<Apdu>(MOST_WAITING);
    // The event needs the handle of a task to stop. This task ends with the line anyway, so the handle is that of an
    // empty task.
    let stop = tokio::spawn(std::future::pending::<()>()).abort_handle();
    if events.send(Event::Opened(line, writer, stop, path.display().to_string())).await.is_err() {
        return Ok(());
    }
    let (mut link, start, mut chunk) = (Link::new(speed), Instant::now(), vec![0; CHUNK]);
    loop {
        let deadline = link.next_deadline().map(|at| start + at);
        let actions = tokio::select! {
            read = port.read(&mut chunk) => match read? {
                0 => return Ok(()),
                count => link.receive(chunk.get(..count).unwrap_or_default(), start.elapsed()),
            },
            apdu = waiting.recv() => match apdu {
                Some(apdu) => link.send(apdu, start.elapsed()).unwrap_or_default(),
                None => return Ok(()),
            },
            () = until(deadline) => link.poll(start.elapsed()),
        };
        for action in actions {
            match action {
                LinkAction::Write(bytes) => {
                    tokio::time::timeout(Duration::from_secs(90), port.write_all(&bytes)).await??;
                }
                LinkAction::Deliver(apdu) => {
                    if events.send(Event::Heard(line, apdu)).await.is_err() {
                        return Ok(());
                    }
                }
                // A till that does not acknowledge counts as disconnected.
                LinkAction::Lost => return Ok(()),
            }
        }
    }
}
