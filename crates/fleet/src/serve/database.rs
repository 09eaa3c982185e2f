//! Read-only connections to the database. A few are kept; one that is gone is opened again by the next request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::{Client, IsolationLevel, Transaction};

use crate::database::{Database, DatabaseError, connect};

/// The greatest number of connections, so that the pages leave the database free for the consumer.
const CONNECTIONS: usize = 4;
/// The time to connect.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
/// The limits of a connection. The consumer alone writes, so a page must not be able to.
const LIMITS: &str = "set default_transaction_read_only = on; set statement_timeout = '8s'; set lock_timeout = '2s';
    set idle_in_transaction_session_timeout = '30s'";

/// The connections of the pages.
pub(super) struct Reader {
    database: Database,
    /// The time zone of days and of shown times.
    zone: String,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Client>>>,
}

/// The reason why the database does not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Gone {
    #[error(transparent)]
    Connect(#[from] DatabaseError),
    #[error("the database did not let this program in within {} s", CONNECT_DEADLINE.as_secs())]
    Late,
    #[error("the program ends")]
    Ends,
    #[error("{}", with_code(.0))]
    Query(#[from] tokio_postgres::Error),
}

/// The message of the database, without the values of a row.
fn with_code(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |error| format!("{} ({})", error.message(), error.code().code()))
}

/// A connection for one request. It goes back when it is dropped.
pub(super) struct Lease {
    client: Option<Client>,
    idle: Arc<Mutex<Vec<Client>>>,
    _place: OwnedSemaphorePermit,
}

impl Reader {
    pub(super) fn of(database: Database, zone: String) -> Self {
        Self { database, zone, places: Arc::new(Semaphore::new(CONNECTIONS)), idle: Arc::default() }
    }

    /// Returns whether the database knows the time zone.
    pub(super) async fn knows_zone(&self) -> Result<bool, Gone> {
        let known = async {
            let client = connect(&self.database, "pos-fleet pages").await?;
            client.batch_execute(LIMITS).await?;
            let select = "select exists (select from pg_timezone_names where name = $1)";
            Ok(client.query_one(select, &[&self.zone]).await?.get(0))
        };
        timeout(CONNECT_DEADLINE, known).await.map_err(|_| Gone::Late)?
    }

    /// Takes a connection, and opens one if none is kept.
    pub(super) async fn lease(&self) -> Result<Lease, Gone> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Gone::Ends)?;
        let kept = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let client = loop {
            match kept() {
                Some(client) if client.is_closed() => {}
                Some(client) => break client,
                None => break self.opened().await?,
            }
        };
        Ok(Lease { client: Some(client), idle: Arc::clone(&self.idle), _place: place })
    }

    async fn opened(&self) -> Result<Client, Gone> {
        let client = async {
            let client = connect(&self.database, "pos-fleet pages").await?;
            client.batch_execute(LIMITS).await?;
            client.query("select set_config('TimeZone', $1, false)", &[&self.zone]).await?;
            Ok(client)
        };
        timeout(CONNECT_DEADLINE, client).await.map_err(|_| Gone::Late)?
    }
}

impl Lease {
    /// Begins to read one moment of the database.
    pub(super) async fn read(&mut self) -> Result<Transaction<'_>, Gone> {
        let client = self.client.as_mut().ok_or(Gone::Ends)?;
        let moment = client.build_transaction().read_only(true).isolation_level(IsolationLevel::RepeatableRead);
        Ok(moment.start().await?)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }
}
