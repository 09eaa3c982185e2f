//! `pos-agent receipt`: shows the receipt of a sale as text, or prints it.

use clap::{Args, ValueEnum};
use serde_json::json;

use super::daemon::lost;
use super::exit::{Exit, Stop};
use super::out;
use super::reference::Meant;
use crate::till::{PrintView, ReceiptView};

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Receipt {
    /// The copy: customer or merchant
    #[arg(long, value_enum, default_value_t = Copy::Customer)]
    copy: Copy,
    /// Characters per line, 24 to 64 [default: the width of the terminal's paper]
    #[arg(long, value_name = "COLUMNS", conflicts_with = "print")]
    width: Option<u8>,
    /// Print the receipt instead of showing it; only a customer's copy on demand can be the first print, all others are
    /// duplicates
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    of: Meant,
}

#[derive(Clone, std::marker::Copy, Debug, ValueEnum)]
enum Copy {
    Customer,
    Merchant,
}

impl Receipt {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let copy = match self.copy {
            Copy::Customer => "customer",
            Copy::Merchant => "merchant",
        };
        let of = self.of.found_to_read().await?;
        let path = of.path_with("/receipt", &format!("copy={copy}"));
        let width = self.width.map_or_else(String::new, |width| format!("&width={width}"));
        match (self.print, self.of.json) {
            (true, true) => out::say_json(&of.daemon.post::<PrintView>(&path, &json!({})).await?),
            (true, false) => {
                let PrintView { printer, text, .. } = of.daemon.post(&path, &json!({})).await?;
                out::say(&format!("the {copy}'s copy was sent to {printer}; state of the printer: {text}"));
            }
            (false, true) => {
                let shown = of.daemon.get_as(&format!("{path}{width}"), "application/json").await?;
                let shown: ReceiptView = serde_json::from_str(&shown).map_err(lost)?;
                out::say_json(&shown);
            }
            (false, false) => out::say_lines(&of.daemon.get_as(&format!("{path}{width}"), "text/plain").await?),
        }
        Ok(Exit::Success)
    }
}
