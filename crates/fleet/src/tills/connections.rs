//! The connections to the database: a few for requests, and one that hears of new results.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;

use crate::database::{Database, DatabaseError, connect, connect_with_notes};
use crate::orders::RESULT_CHANNEL;

/// The greatest number of connections for requests.
const CONNECTIONS: usize = 8;
/// The time to connect, and for a free connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause after a failed connection that hears of results.
const PAUSE: Duration = Duration::from_secs(2);
/// The limits of a connection. No lock of another program holds a till for long.
const LIMITS: &str = "set statement_timeout = '5s'; set lock_timeout = '3s';
    set idle_in_transaction_session_timeout = '20s'";

/// The name of the connections at the database.
const PROGRAM: &str = "pos-fleet tills";

/// The connections for requests.
pub(super) struct ClientPool {
    database: Database,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Client>>>,
}

/// The reason why the database does not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoDatabase {
    #[error(transparent)]
    Connect(#[from] DatabaseError),
    #[error("there is no connection within {} s", PATIENCE.as_secs())]
    Late,
    #[error("the connection has ended")]
    Ended,
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
pub(super) struct ClientLease {
    client: Option<Client>,
    idle: Arc<Mutex<Vec<Client>>>,
    _place: OwnedSemaphorePermit,
}

impl ClientPool {
    pub(super) fn of(database: Database) -> Self {
        Self { database, places: Arc::new(Semaphore::new(CONNECTIONS)), idle: Arc::default() }
    }

    /// Takes a connection, and opens one if none is kept.
    pub(super) async fn lease(&self) -> Result<ClientLease, NoDatabase> {
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        let place = place.map_err(|_| NoDatabase::Late)?.map_err(|_| NoDatabase::Late)?;
        let kept = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let client = loop {
            match kept() {
                Some(client) if client.is_closed() => {}
                Some(client) => break client,
                None => {
                    let opened = async {
                        let client = connect(&self.database, PROGRAM).await?;
                        client.batch_execute(LIMITS).await?;
                        Ok::<_, NoDatabase>(client)
                    };
                    break timeout(PATIENCE, opened).await.map_err(|_| NoDatabase::Late)??;
                }
            }
        };
        Ok(ClientLease { client: Some(client), idle: Arc::clone(&self.idle), _place: place })
    }
}

impl std::ops::Deref for ClientLease {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("a lease has its client until it is dropped")
    }
}

impl std::ops::DerefMut for ClientLease {
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("a lease has its client until it is dropped")
    }
}

impl Drop for ClientLease {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }
}

/// Passes on the id of each command with a new result. Without the connection, each request looks from time to time.
pub(super) async fn hear_results(database: Database, heard: broadcast::Sender<String>) {
    loop {
        if let Err(error) = hear(&database, &heard).await {
            tracing::warn!(%error, "results are looked for from time to time, because the database does not tell them");
        }
        sleep(PAUSE).await;
    }
}

async fn hear(database: &Database, heard: &broadcast::Sender<String>) -> Result<(), NoDatabase> {
    let (client, notes) = connect_with_notes(database, PROGRAM).await?;
    client.batch_execute(&format!("listen {RESULT_CHANNEL}")).await?;
    while !client.is_closed() {
        let Ok(new) = timeout(PATIENCE, notes.take()).await else { continue };
        for (_, id) in new {
            // Perhaps no request waits now.
            let _ = heard.send(id);
        }
    }
    Err(NoDatabase::Ended)
}
