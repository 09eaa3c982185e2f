//! `pos-sim gateway`: the gateway as a program of its own.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Certificate, Demand, Options, outcomes, start};

/// The gateway's arguments.
#[derive(Debug, clap::Args)]
#[command(about = "A payment gateway on a desk", after_help = outcomes::help())]
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
    /// Let the server's certificate end in so many days
    #[arg(long, value_name = "NUMBER")]
    pub valid_days: Option<u16>,
    /// Ask clients for a certificate of the authority in this file (PEM)
    #[arg(long, value_name = "FILE")]
    pub client_ca: Option<PathBuf>,
    /// Speak nothing but TLS 1.2
    #[arg(long)]
    pub tls12: bool,
}

impl Args {
    /// The options that they mean.
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
            demand: Demand { client_ca, tls12: self.tls12 },
            ..default
        })
    }
}

/// Runs the gateway until the program is interrupted; prints where everything is.
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

    #[test]
    fn help_lists_every_outcome() {
        let mut command = <Args as clap::Args>::augment_args(clap::Command::new("gateway"));
        let help = command.render_long_help().to_string();
        for (cents, _, what) in outcomes::TABLE {
            assert!(help.contains(&format!(".{cents:02}  {what}")), "{what}");
        }
    }
}
