//! `pos-agent status`: shows the state of the terminal.

use clap::Args;

use super::exit::{Exit, Stop};
use super::front::AtFront;
use super::{Where, log_level, out};
use crate::doctor::Front;
use crate::till::{GatewayState, PrinterView, ReaderView, SaleView, StatusView};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Root also sees the tills that pos-front serves by a till protocol; --json
leaves them out.

Exit codes: 0 the terminal can work, even while it is busy; 69 it cannot work,
or the agent is not running.")]
pub(super) struct Status {
    /// Print one JSON object on one line, in the form that tills get
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
    #[command(flatten)]
    front: AtFront,
}

impl Status {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let status: StatusView = self.daemon.daemon()?.get("/v1/status").await?;
        if self.json {
            out::say_json(&status)
        } else {
            table(&status, &self.front.ask().await)
        }
        Ok(if status.ready { Exit::Success } else { Exit::NotSent })
    }
}

fn table(status: &StatusView, front: &Front) {
    let ready = match (status.ready, status.busy) {
        (true, false) => "ready",
        (true, true) => "ready, busy at the reader",
        (false, _) => "NOT READY",
    };
    out::say(&format!("terminal     {}: {ready}", status.terminal_id));
    for (n, attention) in status.attention.iter().enumerate() {
        let head = if n == 0 { "attention" } else { "" };
        out::say(&format!("{head:<13}{}: {attention}", attention.code.as_str()));
    }
    let StatusView { reader, gateway, clock, journal, .. } = status;
    out::say(&format!("reader       {}: {}", reader.state.as_str(), reader.text));
    for line in reader_details(reader) {
        out::say(&format!("{:<13}{line}", ""));
    }
    // If the gateway answers, its text adds nothing to its state.
    let more = if gateway.state == GatewayState::Answers { String::new() } else { format!(": {}", gateway.text) };
    out::say(&format!("gateway      {}: {}{more}", gateway.state.as_str(), gateway.url));
    for (n, PrinterView { name, port, state, text, .. }) in status.printers.iter().enumerate() {
        let name = if status.printers.len() > 1 { format!("{name}, ") } else { String::new() };
        let head = if n == 0 { "printer" } else { "" };
        out::say(&format!("{head:<13}{}: {name}{port}: {text}", state.as_str()));
    }
    if status.printers.is_empty() {
        out::say("printer      none; receipts are kept");
    }
    out::say(&format!("clock        {}: {}", clock.state.as_str(), clock.text));
    out::say(&format!("journal      {}: {}", journal.state.as_str(), journal.text));
    out::say(&format!("sale         {}", status.current.as_ref().map_or_else(|| "none".to_owned(), sale)));
    for (n, unconfirmed) in status.unconfirmed.iter().enumerate() {
        out::say(&format!("{:<13}{}", if n == 0 { "unconfirmed" } else { "" }, sale(unconfirmed)));
    }
    for (n, till) in tills(front).iter().enumerate() {
        out::say(&format!("{:<13}{till}", if n == 0 { "tills" } else { "" }));
    }
    if let Some(logging) = &status.logging {
        out::say(&format!("log          {}", log_level::line(logging)));
    }
    out::say(&format!("version      {}", status.version));
}

/// Returns the tills that use a till protocol. A user without access to the front sees no tills here; `doctor` explains
/// why.
fn tills(front: &Front) -> Vec<String> {
    match front {
        Front::Absent | Front::Closed(_) => Vec::new(),
        Front::Silent(why) => vec![format!("pos-front did not report the tills: {why}")],
        Front::Answers { tills, .. } => tills.iter().map(ToString::to_string).collect(),
    }
}

/// Returns the reader's configuration, and its latest change.
fn reader_details(reader: &ReaderView) -> Vec<String> {
    let files = reader.configuration.iter().map(|file| format!("{} {}", file.name, file.version));
    let files = files.collect::<Vec<_>>().join(", ");
    let tampered = reader.tampered.then(|| "the reader says that it was opened; stop using it".to_owned());
    let experimental = reader.protocol.as_ref().filter(|_| reader.experimental);
    let experimental = experimental.map(|protocol| format!("{protocol} is experimental"));
    let cannot = (!reader.cannot.is_empty()).then(|| format!("cannot {}", reader.cannot.join("; ")));
    let changed = reader.changed_at.as_ref().zip(reader.changed.as_ref());
    let changed = changed.map(|(at, what)| format!("changed at {at}: {what}"));
    let files = (!files.is_empty()).then(|| format!("configuration {files}"));
    [tampered, experimental, cannot, files, changed].into_iter().flatten().collect()
}

fn sale(sale: &SaleView) -> String {
    let SaleView { number, till, reference, text, .. } = sale;
    format!("{number} {reference} of {till}: {}, {text}", out::sale_line(sale))
}
