//! The connection to PostgreSQL: through its socket, or with TLS and the database's CA.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, NoTls};
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

/// The notes of the database (`pg_notify`) that this program has asked for, each once until it is read.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    new: Arc<Mutex<BTreeSet<(String, String)>>>,
    told: Arc<Notify>,
}

impl Notes {
    /// Waits until there are notes, and takes them: channel and text. Dropping the future loses nothing.
    pub async fn take(&self) -> BTreeSet<(String, String)> {
        loop {
            let told = self.told.notified();
            let new = std::mem::take(&mut *self.new.lock().unwrap_or_else(PoisonError::into_inner));
            if !new.is_empty() {
                return new;
            }
            told.await;
        }
    }

    fn add(&self, channel: &str, text: &str) {
        let note = (channel.to_owned(), text.to_owned());
        self.new.lock().unwrap_or_else(PoisonError::into_inner).insert(note);
        // One waits at a time, also if it begins to wait only now.
        self.told.notify_one();
    }
}

/// Connects. A task ends with the connection, and the client then says so.
///
/// # Errors
/// Fails if the setting is wrong, or if the database refuses.
pub async fn connect(database: &Database, name: &str) -> Result<Client, DatabaseError> {
    Ok(connect_with_notes(database, name).await?.0)
}

/// Connects, and collects the database's notes. The caller then asks for them (`listen`).
///
/// # Errors
/// Fails if the setting is wrong, or if the database refuses.
pub async fn connect_with_notes(database: &Database, name: &str) -> Result<(Client, Notes), DatabaseError> {
    let mut config: tokio_postgres::Config = database.url.parse().map_err(DatabaseError::Url)?;
    config.application_name(name);
    let notes = Notes::default();
    match &database.ca {
        Some(ca) => {
            config.ssl_mode(SslMode::Require);
            let tls = MakeRustlsConnect::new((*tls::client(ca, None)?).clone());
            let (client, connection) = config.connect(tls).await.map_err(DatabaseError::Refused)?;
            tokio::spawn(ended(connection, notes.clone()));
            Ok((client, notes))
        }
        None if config.get_hosts().iter().all(is_near) => {
            let (client, connection) = config.connect(NoTls).await.map_err(DatabaseError::Refused)?;
            tokio::spawn(ended(connection, notes.clone()));
            Ok((client, notes))
        }
        None => Err(DatabaseError::NoCa),
    }
}

/// The message of the database, without the values of a row.
pub(crate) fn without_values(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |error| format!("{} ({})", error.message(), error.code().code()))
}

fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
    }
}

async fn ended<S, T>(mut connection: tokio_postgres::Connection<S, T>, notes: Notes)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            None => return,
            Some(Ok(AsyncMessage::Notification(note))) => notes.add(note.channel(), note.payload()),
            Some(Ok(AsyncMessage::Notice(notice))) => tracing::debug!(%notice, "the database says"),
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                tracing::warn!(%error, "the connection to the database ended");
                return;
            }
        }
    }
}
