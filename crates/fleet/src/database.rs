//! The connection to PostgreSQL: through its socket, or with TLS and the database's CA.

use std::path::PathBuf;

use serde::Deserialize;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use pos_broker::tls;

/// How the database is reached.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Database {
    /// The connection string of PostgreSQL, for example `host=/run/postgresql dbname=pos_fleet`.
    pub url: String,
    /// The CA of the database's certificate (PEM). Without it, only a socket or a loopback address is allowed.
    pub ca: Option<PathBuf>,
}

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The connection string.
    #[error("database.url: {0}")]
    Url(tokio_postgres::Error),
    /// The database is on another host, and nothing names its CA.
    #[error("database.ca: a database on another host needs the file with its CA")]
    NoCa,
    /// The file with the CA.
    #[error(transparent)]
    Ca(#[from] tls::TlsError),
    /// The database does not answer, or refuses.
    #[error("the database does not let this program in: {0}")]
    Refused(tokio_postgres::Error),
}

/// Connects. A task ends with the connection, and the client then says so.
///
/// # Errors
/// Fails if the setting is wrong, or if the database refuses.
pub async fn connect(database: &Database, name: &str) -> Result<Client, DatabaseError> {
    let mut config: tokio_postgres::Config = database.url.parse().map_err(DatabaseError::Url)?;
    config.application_name(name);
    match &database.ca {
        Some(ca) => {
            config.ssl_mode(SslMode::Require);
            let tls = MakeRustlsConnect::new((*tls::client(ca, None)?).clone());
            let (client, connection) = config.connect(tls).await.map_err(DatabaseError::Refused)?;
            tokio::spawn(ended(connection));
            Ok(client)
        }
        None if config.get_hosts().iter().all(is_near) => {
            let (client, connection) = config.connect(NoTls).await.map_err(DatabaseError::Refused)?;
            tokio::spawn(ended(connection));
            Ok(client)
        }
        None => Err(DatabaseError::NoCa),
    }
}

fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
    }
}

async fn ended(connection: impl Future<Output = Result<(), tokio_postgres::Error>>) {
    if let Err(error) = connection.await {
        tracing::warn!(%error, "the connection to the database ended");
    }
}
