//! `pos-agent receipt`: the receipt of a sale as text, or on paper once more.

use clap::{Args, ValueEnum};

use super::daemon::{in_path, of_till};
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::till::PrintView;

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Receipt {
    /// The sale's reference
    reference: String,
    /// The till that began it [default: this user's own, local as a rule]
    #[arg(long, value_name = "NAME")]
    till: Option<String>,
    /// Whose copy
    #[arg(long, value_enum, default_value_t = Copy::Customer)]
    copy: Copy,
    /// Print it again, marked as a duplicate, instead of showing it
    #[arg(long)]
    print: bool,
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
        let (reference, till) = (in_path(&self.reference), of_till('&', self.till.as_deref()));
        let path = format!("/v1/sales/{reference}/receipt?copy={copy}{till}");
        if self.print {
            let PrintView { printer, text, .. } = self.daemon.daemon()?.post(&path, &serde_json::json!({})).await?;
            out::say(&format!("the {copy}'s copy goes to {printer}, marked as a duplicate; the printer: {text}"));
        } else {
            out::say_lines(&self.daemon.daemon()?.get_text(&path).await?);
        }
        Ok(Exit::Success)
    }
}
