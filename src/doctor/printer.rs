//! The receipt printer: what the agent knows of it, and whether it can be reached. Nothing is printed.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_serial::SerialPortBuilderExt;

use super::reader::device_can_be_opened;
use super::{Agent, Report, Severity};
use crate::config::{Config, Printer};

/// It stands in the same network.
const CONNECT: Duration = Duration::from_secs(5);

pub(super) async fn look(report: &mut Report<'_>, config: &Config, agent: &Agent) {
    let Some(printer) = &config.printer else {
        return report.note("none is configured: receipts are kept and shown by pos-agent receipt");
    };
    match agent {
        Agent::Answers(status) if status.printer.ends_with(": ok") => {
            report.ok(format!("the agent says: {}", status.printer));
        }
        Agent::Answers(status) if status.printer.ends_with(": not used yet") => {
            // Between two sales nobody else uses it.
            if status.current.is_none() { reach(report, printer).await } else { report.note(&status.printer) }
        }
        Agent::Answers(status) => report.say(Severity::Warning, &status.printer),
        Agent::Absent => reach(report, printer).await,
        Agent::Closed | Agent::Silent(_) => {
            report.note("not looked at: the agent may be printing, and cannot be asked")
        }
    }
}

async fn reach(report: &mut Report<'_>, printer: &Printer) {
    let port = &printer.port;
    let opened = match port.strip_prefix("tcp://") {
        Some(address) => timeout(CONNECT, TcpStream::connect(address))
            .await
            .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "no answer within 5 s")))
            .map(|stream| Box::new(stream) as Box<dyn Wire>),
        None => {
            if !device_can_be_opened(report, port, "printer") {
                return;
            }
            let opened = tokio_serial::new(port, printer.baud).open_native_async();
            opened.map(|stream| Box::new(stream) as Box<dyn Wire>).map_err(io::Error::from)
        }
    };
    match opened {
        Ok(wire) => {
            report.ok(format!("reached at {port}"));
            condition(report, wire).await;
        }
        // Receipts are kept: a sale does not need paper.
        Err(error) => {
            report
                .warning(format!("cannot be reached at {port}: {error}"), "see to its power, cable and [printer] port");
        }
    }
}

/// A printer's wire.
trait Wire: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Wire for T {}

/// What the printer says of itself (paper, cover, cutter): asked here once it is known how.
async fn condition(_report: &mut Report<'_>, _wire: Box<dyn Wire>) {}
