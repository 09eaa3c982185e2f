//! `pos-sim gateway`: the gateway as a program. The arguments are here, so the service needs no command-line parser.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use pos_payment_service::{Certificate, Demand, HostRules, LateShopCall, Options, start};
use pos_terms::money::Currency;

/// The gateway's arguments.
#[derive(Debug, clap::Args)]
#[command(about = "A simulated payment gateway", after_help = pos_payment_service::help())]
pub struct Args {
    /// The address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8443")]
    pub listen: SocketAddr,
    /// The access token to accept (a test token: the gateway prints it)
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// The entityId to serve: 32 lower-case hex digits
    #[arg(long, value_name = "ID")]
    pub entity_id: Option<String>,
    /// Write the CA certificate to trust into this file (PEM); each start makes a new one
    #[arg(long, value_name = "FILE")]
    pub ca_out: Option<PathBuf>,
    /// Additional name or address for the server's certificate, for requests from another machine
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Days until the server's certificate expires
    #[arg(long, value_name = "NUMBER")]
    pub valid_days: Option<u16>,
    /// Require client certificates from the CA in this file (PEM)
    #[arg(long, value_name = "FILE")]
    pub client_ca: Option<PathBuf>,
    /// Trust the CA in this file (PEM) for HTTPS calls to a shop that did not fetch a checkout result
    #[arg(long, value_name = "FILE")]
    pub shop_ca: Option<PathBuf>,
    /// Use only TLS 1.2
    #[arg(long)]
    pub tls12: bool,
    /// Keep the ledger in this SQLite file, which survives a restart [default: in memory]
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Maximum requests per second, such as 5/s; further requests get 800.120.100 and are not processed
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub throttle: Option<u32>,
    /// Start time of the gateway's clock, such as 2026-11-20T12:34:56Z [default: the system time]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub clock: Option<DateTime<Utc>>,
    /// Delay before each answer
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=600_000))]
    pub delay_ms: u64,
    /// Write the settlement file of each day into this folder at the end of the day (UTC)
    #[arg(long, value_name = "DIR")]
    pub settlement_folder: Option<PathBuf>,
    /// The currency of the merchant's account, for settlement
    #[arg(long, value_name = "CODE", default_value = "EUR", value_parser = currency)]
    pub settlement_currency: Currency,
    /// Send the interface's webhooks to this URL; can be given more than once
    #[arg(long, value_name = "URL")]
    pub webhook: Vec<String>,
    /// Encrypt the webhooks with this AES-256 key: 64 hex digits (a test key: others can see it)
    #[arg(long, value_name = "HEX")]
    pub webhook_key: Option<String>,
    /// Trust only the CAs in this file (PEM) for webhook servers
    #[arg(long, value_name = "FILE")]
    pub webhook_ca: Option<PathBuf>,
    /// Accept only this pos.terminalId; can be given more than once
    #[arg(long, value_name = "ID")]
    pub terminal: Vec<String>,
    /// Accept only this currency, and refuse others (600.200.500); can be given more than once
    #[arg(long, value_name = "CODE", value_parser = currency)]
    pub currency: Vec<Currency>,
    /// The name of a card scheme, which follows threeDSecure.v2. in parameters; at most six
    #[arg(long, value_name = "NAME")]
    pub scheme: Vec<String>,
    /// When to call a shop that has not fetched the result, if the call is due after the checkout's id has expired:
    /// after the expiry, before it (in the last of the 30 minutes), or never
    #[arg(long, value_name = "WHEN", default_value = "after", value_parser = late_shop_call)]
    pub late_shop_call: LateShopCall,
    #[command(flatten)]
    host_rules: HostRulesArgs,
}

/// The gateway's rules. Without an argument, they are our reading of the interface.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct HostRulesArgs {
    /// Book every readable request, every time it is sent, without checking the earlier payment
    #[arg(long, conflicts_with = "literal")]
    permissive: bool,
    /// Follow the interface's text literally
    #[arg(long)]
    literal: bool,
}

impl HostRulesArgs {
    /// Returns the host rules that the arguments select.
    #[must_use]
    pub fn host_rules(self) -> HostRules {
        match (self.permissive, self.literal) {
            (true, _) => HostRules::Permissive,
            (_, true) => HostRules::Literal,
            _ => HostRules::Checked,
        }
    }
}

fn rate(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).parse().ok().filter(|rate| *rate > 0);
    number.ok_or_else(|| "must be a number of requests in a second, from 1, such as 5/s".to_owned())
}

fn currency(text: &str) -> Result<Currency, String> {
    Currency::from_code(text).map_err(|_| "must be an ISO 4217 currency, such as EUR".to_owned())
}

fn late_shop_call(text: &str) -> Result<LateShopCall, String> {
    let known = LateShopCall::ALL.into_iter().find(|known| known.as_str() == text);
    known.ok_or_else(|| "must be after, before or never".to_owned())
}

fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let read = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc());
    read.map_err(|why| format!("must be a time such as 2026-11-20T12:34:56Z or 2026-11-20T13:34:56+01:00: {why}"))
}

impl Args {
    /// Returns the options that the arguments select.
    ///
    /// # Errors
    ///
    /// Fails if a file that they name cannot be read.
    pub fn options(&self) -> io::Result<Options> {
        let default = Options::default();
        let client_ca = self.client_ca.as_ref().map(std::fs::read_to_string).transpose()?;
        Ok(Options {
            listen: self.listen,
            token: self.token.clone().unwrap_or(default.token),
            entity_id: self.entity_id.clone().unwrap_or(default.entity_id),
            certificate: self.valid_days.map_or(default.certificate, Certificate::EndsIn),
            name: self.name.clone(),
            demand: Demand { client_ca, tls12: self.tls12 },
            shop_ca: self.shop_ca.as_ref().map(std::fs::read_to_string).transpose()?,
            host_rules: self.host_rules.host_rules(),
            ledger: self.ledger.clone(),
            throttle: self.throttle,
            clock: self.clock,
            delay: Duration::from_millis(self.delay_ms),
            settlement_folder: self.settlement_folder.clone(),
            settlement_currency: self.settlement_currency,
            webhooks: self.webhook.clone(),
            webhook_key: self.webhook_key.clone(),
            webhook_ca: self.webhook_ca.as_ref().map(std::fs::read_to_string).transpose()?,
            terminals: self.terminal.clone(),
            currencies: self.currency.clone(),
            schemes: self.scheme.clone(),
            late_shop_call: self.late_shop_call,
            ..default
        })
    }
}

/// Runs the gateway until the program is interrupted, and prints its addresses and files.
///
/// # Errors
///
/// Fails if the address is in use or a file cannot be written.
#[allow(clippy::print_stdout, reason = "a program for a person at a desk")]
pub async fn run(args: Args) -> io::Result<()> {
    let gateway = start(args.options()?).await?;
    println!("gateway    {}", gateway.base_url());
    println!("token      {}", gateway.token());
    println!("entityId   {}", gateway.entity_id());
    match &args.ca_out {
        Some(file) => {
            std::fs::write(file, gateway.ca_pem())?;
            println!("CA         {}", file.display());
        }
        None => println!("CA\n{}", gateway.ca_pem()),
    }
    tokio::signal::ctrl_c().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_payment_service::outcomes;

    #[test]
    fn help_lists_every_outcome() {
        let mut command = <Args as clap::Args>::augment_args(clap::Command::new("gateway"));
        let help = command.render_long_help().to_string();
        for (cents, _, what) in outcomes::TABLE.iter().chain(outcomes::REVERSALS) {
            assert!(help.contains(&format!(".{cents:02}  {what}")), "{what}");
        }
        for option in
            ["--settlement-folder", "--ledger", "--throttle", "--clock", "--delay-ms", "--permissive", "--literal"]
                .into_iter()
                .chain(["--terminal", "--currency", "--scheme", "--late-shop-call"])
        {
            assert!(help.contains(option), "{option}");
        }
    }

    #[test]
    fn rates_and_times_say_what_they_must_be() {
        assert_eq!((rate("5/s"), rate("12")), (Ok(5), Ok(12)));
        for wrong in ["0/s", "-1", "5/m", "", "99999999999/s"] {
            assert!(rate(wrong).unwrap_err().contains("as 5/s"), "{wrong}");
        }
        assert_eq!(time("2026-11-20T13:34:56+01:00").unwrap().to_rfc3339(), "2026-11-20T12:34:56+00:00");
        for wrong in ["2026-11-20", "2026-02-30T00:00:00Z", "noon"] {
            assert!(time(wrong).unwrap_err().contains("must be a time"), "{wrong}");
        }
    }
}
