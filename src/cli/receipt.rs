//! `pos-agent receipt`: the receipt of a sale as text, or on paper once more.

use clap::{Args, ValueEnum};
use pos_till_api::routes::encoded;
use serde_json::json;

use super::daemon::{lost, of_sale};
use super::exit::{Exit, Stop};
use super::{Where, out, reference};
use crate::till::{PrintView, ReceiptView};

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Receipt {
    /// The sale's reference, or `last`
    reference: String,
    /// The till that began it [default: this user's own, local as a rule]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// The transaction is one of training
    #[arg(long)]
    training: bool,
    /// Whose copy
    #[arg(long, value_enum, default_value_t = Copy::Customer)]
    copy: Copy,
    /// Characters of a line, 24 to 64 [default: as on the terminal's paper]
    #[arg(long, value_name = "COLUMNS", conflicts_with = "print")]
    width: Option<u8>,
    /// Print it again, marked as a duplicate, instead of showing it
    #[arg(long)]
    print: bool,
    /// One JSON object, as tills get it: the receipt, or the printer that prints it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
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
        let daemon = self.daemon.daemon()?;
        let till = self.till.as_deref();
        let reference = reference::meant(&daemon, &self.reference, till, self.training).await?;
        let path =
            format!("/v1/sales/{}/receipt?copy={copy}{}", encoded(&reference), of_sale('&', till, self.training));
        let width = self.width.map_or_else(String::new, |width| format!("&width={width}"));
        match (self.print, self.json) {
            (true, true) => out::say_json(&daemon.post::<PrintView>(&path, &json!({})).await?),
            (true, false) => {
                let PrintView { printer, text, .. } = daemon.post(&path, &json!({})).await?;
                out::say(&format!("the {copy}'s copy goes to {printer}, marked as a duplicate; the printer: {text}"));
            }
            (false, true) => {
                let shown = daemon.get_as(&format!("{path}{width}"), "application/json").await?;
                let shown: ReceiptView = serde_json::from_str(&shown).map_err(lost)?;
                out::say_json(&shown);
            }
            (false, false) => out::say_lines(&daemon.get_as(&format!("{path}{width}"), "text/plain").await?),
        }
        Ok(Exit::Success)
    }
}
