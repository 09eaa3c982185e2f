//! A few connections to the database for one service. Each request takes one for a moment, and one that is gone is
//! opened again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::database::{Database, DatabaseError, connect, without_values};

/// The time to connect, and for a free connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// The connections of a service.
pub(crate) struct ClientPool {
    database: Database,
    /// The service's name at the database.
    program: &'static str,
    /// The SQL that prepares a new connection: its limits.
    prepares: String,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Client>>>,
}

/// The reason why the database does not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoDatabase {
    #[error(transparent)]
    Connect(#[from] DatabaseError),
    #[error("there is no connection to the database within {} s", PATIENCE.as_secs())]
    Late,
    #[error("the connection to the database has ended")]
    Ended,
    #[error("{}", without_values(.0))]
    Query(#[from] tokio_postgres::Error),
}

/// A connection for one request. It goes back when it is dropped.
pub(crate) struct ClientLease {
    client: Option<Client>,
    idle: Arc<Mutex<Vec<Client>>>,
    _place: OwnedSemaphorePermit,
}

impl ClientPool {
    pub(crate) fn new(database: Database, program: &'static str, most: usize, prepares: String) -> Self {
        Self { database, program, prepares, places: Arc::new(Semaphore::new(most)), idle: Arc::default() }
    }

    /// Takes a connection, and opens one if none is kept.
    pub(crate) async fn lease(&self) -> Result<ClientLease, NoDatabase> {
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        let place = place.map_err(|_| NoDatabase::Late)?.map_err(|_| NoDatabase::Ended)?;
        let kept = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let client = loop {
            match kept() {
                Some(client) if client.is_closed() => {}
                Some(client) => break client,
                None => break self.opened().await?,
            }
        };
        Ok(ClientLease { client: Some(client), idle: Arc::clone(&self.idle), _place: place })
    }

    async fn opened(&self) -> Result<Client, NoDatabase> {
        let client = async {
            let client = connect(&self.database, self.program).await?;
            client.batch_execute(&self.prepares).await?;
            Ok(client)
        };
        timeout(PATIENCE, client).await.map_err(|_| NoDatabase::Late)?
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
