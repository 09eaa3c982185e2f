//! `pos-agent receipt`: the receipt of a sale as text.

use clap::{Args, ValueEnum};

use super::daemon::in_path;
use super::exit::{Exit, Stop};
use super::{Where, out};

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Receipt {
    /// The sale's reference
    reference: String,
    /// Whose copy
    #[arg(long, value_enum, default_value_t = Copy::Customer)]
    copy: Copy,
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
        let path = format!("/v1/sales/{}/receipt?copy={copy}", in_path(&self.reference));
        out::say_lines(&self.daemon.daemon()?.get_text(&path).await?);
        Ok(Exit::Success)
    }
}
