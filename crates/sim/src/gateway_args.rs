//! `pos-sim gateway`: the gateway as a program. The arguments are here, so that the service needs no parser for command
//! lines.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use pos_payment_service::{Certificate, Demand, HostRules, LateShopCall, Options, start};
use pos_terms::money::Currency;

/// The gateway's arguments.
#[derive(Debug, clap::Args)]
#[command(about = "A payment gateway on a desk", after_help = pos_payment_service::help())]
pub struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8443")]
    pub listen: SocketAddr,
    /// The access token to let in (a test token: it is printed)
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// The entityId to serve, 32 lower-case hex digits
    #[arg(long, value_name = "ID")]
    pub entity_id: Option<String>,
    /// Write the certificate of the authority to trust here (PEM); it is new at each start
    #[arg(long, value_name = "FILE")]
    pub ca_out: Option<PathBuf>,
    /// Let the server's certificate be good for this name or address too, as another machine calls it
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Let the server's certificate end in so many days
    #[arg(long, value_name = "NUMBER")]
    pub valid_days: Option<u16>,
    /// Ask clients for a certificate of the authority in this file (PEM)
    #[arg(long, value_name = "FILE")]
    pub client_ca: Option<PathBuf>,
    /// Trust the authority in this file (PEM) when a shop is called over HTTPS: the result of a checkout that it has
    /// not asked for
    #[arg(long, value_name = "FILE")]
    pub shop_ca: Option<PathBuf>,
    /// Speak nothing but TLS 1.2
    #[arg(long)]
    pub tls12: bool,
    /// Keep the ledger in this SQLite file, which survives a restart; otherwise it is in memory
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Answer more requests than these in a second with 800.120.100 and do not process them, as 5/s
    #[arg(long, value_name = "N/s", value_parser = rate)]
    pub throttle: Option<u32>,
    /// Let its clock begin at this time, as 2026-11-20T12:34:56Z; otherwise the system's
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub clock: Option<DateTime<Utc>>,
    /// Wait so long before each answer
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=600_000))]
    pub delay_ms: u64,
    /// Write the settlement file of each day into this folder when the day is over (its clock is in UTC)
    #[arg(long, value_name = "DIR")]
    pub settlement_folder: Option<PathBuf>,
    /// The currency of the merchant's account, in which it settles
    #[arg(long, value_name = "CODE", default_value = "EUR", value_parser = currency)]
    pub settlement_currency: Currency,
    /// Tell this URL what happens, as the interface's webhooks do; several may be named
    #[arg(long, value_name = "URL")]
    pub webhook: Vec<String>,
    /// Encrypt the notifications by this AES-256 key, 64 hex digits (a test key: others may see it)
    #[arg(long, value_name = "HEX")]
    pub webhook_key: Option<String>,
    /// Trust the authorities in this file (PEM) for the webhooks' servers, and no others
    #[arg(long, value_name = "FILE")]
    pub webhook_ca: Option<PathBuf>,
    /// Take this pos.terminalId and refuse all that are not named; several may be named
    #[arg(long, value_name = "ID")]
    pub terminal: Vec<String>,
    /// Take this currency and refuse all that are not named (600.200.500); several may be named
    #[arg(long, value_name = "CODE", value_parser = currency)]
    pub currency: Vec<Currency>,
    /// The name of a card scheme, as it stands behind threeDSecure.v2. in a parameter; six may be named
    #[arg(long, value_name = "NAME")]
    pub scheme: Vec<String>,
    /// When to call a shop that has not asked, where 29 minutes after the submission are more than the 30 of the
    /// checkout's id: after its end, before it (in its last minute), or never
    #[arg(long, value_name = "WHEN", default_value = "after", value_parser = late_shop_call)]
    pub late_shop_call: LateShopCall,
    #[command(flatten)]
    host_rules: HostRulesArgs,
}

/// How the gateway thinks; as we read the interface without either.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct HostRulesArgs {
    /// Book whatever can be read, whatever became of the earlier payment, and as often as it comes: a bank without
    /// rules
    #[arg(long, conflicts_with = "literal")]
    permissive: bool,
    /// Do nothing that the interface does not say, and all that it says
    #[arg(long)]
    literal: bool,
}

impl HostRulesArgs {
    /// Returns the host rules that the arguments mean.
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
    number.ok_or_else(|| "must be a number of requests in a second, from 1, as 5/s".to_owned())
}

fn currency(text: &str) -> Result<Currency, String> {
    Currency::from_code(text).map_err(|_| "must be a currency of ISO 4217, as EUR".to_owned())
}

fn late_shop_call(text: &str) -> Result<LateShopCall, String> {
    let known = LateShopCall::ALL.into_iter().find(|known| known.as_str() == text);
    known.ok_or_else(|| "must be after, before or never".to_owned())
}

fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let read = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc());
    read.map_err(|why| format!("must be a time as 2026-11-20T12:34:56Z or 2026-11-20T13:34:56+01:00: {why}"))
}

impl Args {
    /// Returns the options that the arguments mean.
    ///
    /// # Errors
    /// When a file that they name cannot be read.
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
/// When the address cannot be taken or the file cannot be written.
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
