//! Read-only connections to the database.

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::{IsolationLevel, Transaction};

use crate::database::{Database, connect};
use crate::pool::{ClientLease, ClientPool, NoDatabase};

/// The service's name at the database.
const PROGRAM: &str = "pos-fleet pages";
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
    pool: ClientPool,
}

impl Reader {
    pub(super) fn of(database: Database, zone: String) -> Self {
        let quoted = zone.replace('\'', "''");
        let prepares = format!("{LIMITS}; set time zone '{quoted}'");
        let pool = ClientPool::new(database.clone(), PROGRAM, CONNECTIONS, prepares);
        Self { database, zone, pool }
    }

    /// Returns whether the database knows the time zone.
    pub(super) async fn knows_zone(&self) -> Result<bool, NoDatabase> {
        let known = async {
            let client = connect(&self.database, PROGRAM).await?;
            client.batch_execute(LIMITS).await?;
            let select = "select exists (select from pg_timezone_names where name = $1)";
            Ok(client.query_one(select, &[&self.zone]).await?.get(0))
        };
        timeout(CONNECT_DEADLINE, known).await.map_err(|_| NoDatabase::Late)?
    }

    /// Takes a connection.
    pub(super) async fn lease(&self) -> Result<ClientLease, NoDatabase> {
        self.pool.lease().await
    }
}

/// Begins to read one moment of the database.
pub(super) async fn read(lease: &mut ClientLease) -> Result<Transaction<'_>, NoDatabase> {
    let moment = lease.build_transaction().read_only(true).isolation_level(IsolationLevel::RepeatableRead);
    Ok(moment.start().await?)
}
