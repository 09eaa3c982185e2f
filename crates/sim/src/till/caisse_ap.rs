//! A Caisse-AP till. It sends one request, reads one answer as Odoo's module does, and prints it.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use pos_protocols::caisse_ap::answer::Answer;
use pos_protocols::caisse_ap::trace;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use pos_terms::money::{Amount, Currency};

/// The time that the till waits for its answer.
const PATIENCE: Duration = Duration::from_secs(177);

/// `pos-sim till caisse-ap`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ctrl-C closes the connection, which cancels the payment.\n\n\
Examples:\n  \
pos-sim till caisse-ap pay 12.50\n  \
pos-sim till caisse-ap --at 192.168.1.30:8888 reimburse 5.00")]
pub(super) struct Args {
    /// The address of the terminal
    #[arg(long, default_value = "127.0.0.1:8888")]
    at: SocketAddr,
    /// ISO 4217 code; the terminal accepts only its currency
    #[arg(long, default_value = "EUR", value_parser = super::currency)]
    currency: Currency,
    /// The means of payment
    #[arg(long, value_enum, default_value_t = Means::Card)]
    means: Means,
    #[command(subcommand)]
    command: Wish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Means {
    /// A card
    Card,
    /// A cheque, which the terminal refuses
    Cheque,
}

#[derive(Debug, Subcommand)]
enum Wish {
    /// The customer pays
    Pay {
        /// The amount, such as 12.50
        amount: String,
    },
    /// The shop pays out
    Reimburse {
        /// The amount, such as 12.50
        amount: String,
    },
}

/// Sends the request, and prints both messages.
pub(super) async fn run(args: Args) -> io::Result<u8> {
    let wrong = |error: &dyn std::fmt::Display| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
    let (action, amount) = match &args.command {
        Wish::Pay { amount } => (0, amount),
        Wish::Reimburse { amount } => (1, amount),
    };
    let minor = Amount::parse(amount, args.currency).map_err(|error| wrong(&error))?.minor().to_string();
    let means = if args.means == Means::Cheque { "CC00300C" } else { "" };
    let currency = args.currency.numeric();
    let request =
        format!("CZ0040300CJ012012345678901CA00201CE003{currency:03}CD001{action}CB{:03}{minor}{means}", minor.len());
    let mut stream = TcpStream::connect(args.at).await.map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}; check that the front is running", args.at))
    })?;
    let mut out = io::stdout();
    writeln!(out, "> {}", trace::line(request.as_bytes()))?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = [0; 1024];
    let read = timeout(PATIENCE, stream.read(&mut answer)).await;
    let count = read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
    let answer = answer.get(..count).unwrap_or_default();
    if answer.is_empty() {
        writeln!(out, "no answer: the outcome is not known")?;
        return Ok(1);
    }
    writeln!(out, "< {}", trace::line(answer))?;
    let answer = Answer::read(answer).ok_or_else(|| wrong(&"the answer does not say what became of the payment"))?;
    Ok(u8::from(answer.result.is_err()))
}
