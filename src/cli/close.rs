//! `pos-agent close`: closes the day. Its subcommands list, show, print and export the recorded closes.

use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;
use serde_json::json;

use super::daemon::of_till;
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::{CloseView, PrintView, WhichClose};
use pos_core::counter::{Close, Turnover};

/// Arguments.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
A close adds up everything that ended since the previous close, in the
journal's order, and names what is still open. It stops no transaction and
changes nothing at the gateway. A transaction that is voided or resolved after
the close is in the next close.

Examples:
  pos-agent close --print               close the day, print the slip
  pos-agent close show last             show the latest close
  pos-agent close export 17 --form csv  write close 17 as a table

Exit codes: 0 everything has ended or is reserved; 3 something is unconfirmed,
in progress, or must be resolved by a person."
)]
pub(super) struct CloseDay {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Your reference for this close; a repeated reference shows the existing close and makes no new one
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
    /// The till that requests the close [default: this user's till, usually local]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// Print the slip as soon as the close is recorded
    #[arg(long)]
    print: bool,
    /// Print one JSON object, in the form that tills get
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the closes, newest first
    List(List),
    /// Show the slip of a close
    Show(Show),
    /// Print a close again, marked as a duplicate
    Print(Print),
    /// Write a close as a table for a spreadsheet, or as JSON
    Export(Export),
}

#[derive(Debug, Args)]
struct List {
    /// Maximum number of closes to list
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Debug, Args)]
struct Show {
    /// The close: its number, `last`, or `open` for a preview of the next close
    #[arg(value_name = "CLOSE", default_value_t = WhichClose::Last, value_parser = which)]
    close: WhichClose,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Debug, Args)]
struct Print {
    /// The close: its number, or `last`; only a recorded close has a slip
    #[arg(value_name = "CLOSE", default_value_t = WhichClose::Last, value_parser = made)]
    close: WhichClose,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Debug, Args)]
struct Export {
    /// The close: its number, `last`, or `open` for a preview of the next close
    #[arg(value_name = "CLOSE", default_value_t = WhichClose::Last, value_parser = which)]
    close: WhichClose,
    /// File format
    #[arg(long, value_enum, default_value_t = ExportForm::Csv)]
    form: ExportForm,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExportForm {
    Csv,
    Json,
}

fn which(text: &str) -> Result<WhichClose, String> {
    text.parse().map_err(|_| "give a number, last, or open for a preview of the next close".to_owned())
}

/// Parses the number of a recorded close, or `last`. Refuses `open`, because only a recorded close has a slip.
fn made(text: &str) -> Result<WhichClose, String> {
    match which(text) {
        Ok(WhichClose::Open) | Err(_) => {
            Err("give a number, or last; to preview the next close, run: pos-agent close show open".to_owned())
        }
        made => made,
    }
}

/// The answer to a request for a close, apart from the close itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    replayed: bool,
    not_printed: Option<String>,
}

/// One page of the agent's list of closes.
#[derive(Deserialize)]
struct Closes {
    closes: Vec<Close>,
    next: Option<String>,
}

/// The number of closes per request.
const PAGE: usize = 50;

impl CloseDay {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        match self.verb {
            Some(Verb::List(verb)) => verb.run().await,
            Some(Verb::Show(verb)) => verb.run().await,
            Some(Verb::Print(verb)) => verb.run().await,
            Some(Verb::Export(verb)) => verb.run().await,
            None => self.close().await,
        }
    }

    async fn close(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let path = format!("/v1/closes{}", of_till('?', self.till.as_deref()));
        let mut wish = json!({ "print": self.print });
        if let Some(reference) = &self.reference {
            wish["reference"] = json!(reference);
        }
        let (close, Made { replayed, not_printed }) = daemon.post_for_two(&path, &wish).await?;
        let made = CloseView { close, replayed, not_printed };
        if self.json {
            out::say_json(&made);
        } else {
            out::say_lines(&daemon.get_as(&path_of(WhichClose::Number(made.close.number)), TEXT).await?);
            if made.replayed {
                out::aside("this close was made earlier with this reference; no new close was made");
            }
            if let Some(why) = &made.not_printed {
                out::aside(&format!("the close was recorded, but its slip was not printed: {why}"));
            }
        }
        Ok(exit(&made.close))
    }
}

impl List {
    async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let (mut left, mut cursor) = (self.limit, String::new());
        while left > 0 {
            let Closes { closes, next } = daemon.get(&format!("/v1/closes?limit={}{cursor}", left.min(PAGE))).await?;
            for close in &closes {
                if self.json { out::say_json(close) } else { out::say(&line(close)) }
            }
            left = left.saturating_sub(closes.len());
            match next {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        Ok(Exit::Success)
    }
}

impl Show {
    async fn run(self) -> Result<Exit, Stop> {
        let (daemon, path) = (self.daemon.daemon()?, path_of(self.close));
        let close: Close = daemon.get(&path).await?;
        if self.json {
            out::say_json(&close);
        } else {
            // The slip is requested by number, because `last` may already mean a newer close.
            out::say_lines(&daemon.get_as(&path_of(WhichClose::Number(close.number)), TEXT).await?);
        }
        Ok(exit(&close))
    }
}

impl Print {
    async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let view: PrintView = daemon.post(&format!("{}/print", path_of(self.close)), &json!({})).await?;
        if self.json {
            out::say_json(&view);
        } else {
            let PrintView { printer, text, .. } = view;
            out::say(&format!("the slip was sent to {printer}, marked as a duplicate; state of the printer: {text}"));
        }
        Ok(Exit::Success)
    }
}

impl Export {
    async fn run(self) -> Result<Exit, Stop> {
        let media = match self.form {
            ExportForm::Csv => "text/csv",
            ExportForm::Json => "application/json",
        };
        out::say_lines(&self.daemon.daemon()?.get_as(&path_of(self.close), media).await?);
        Ok(Exit::Success)
    }
}

const TEXT: &str = "text/plain";

fn path_of(close: WhichClose) -> String {
    format!("/v1/closes/{close}")
}

fn exit(close: &Close) -> Exit {
    if close.waits_for_somebody() { Exit::Unconfirmed } else { Exit::Success }
}

fn line(close: &Close) -> String {
    let Close { number, day, period, open, .. } = close;
    let net = |Turnover { net, currency, .. }: &Turnover| format!("{net} {currency}");
    let net = close.net.iter().map(net).collect::<Vec<_>>().join(", ");
    let net = if net.is_empty() { "no money moved".to_owned() } else { net };
    let open = if open.is_empty() { String::new() } else { format!("  {} open", open.len()) };
    format!("{number:>6}  {day}  {}  {net:>18}{open}", period.to)
}
