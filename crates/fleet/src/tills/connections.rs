//! What a request of a cloud till has of the database: a connection, and the news of results.

use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::{sleep, timeout};

use crate::database::{Database, connect_with_notes};
use crate::orders::RESULT_CHANNEL;
use crate::pool::{ClientPool, NoDatabase};

/// The greatest number of connections for requests.
const CONNECTIONS: usize = 8;
/// The time after which the connection that hears of results is looked at.
const LOOK: Duration = Duration::from_secs(5);
/// The pause after a failed connection that hears of results.
const PAUSE: Duration = Duration::from_secs(2);
/// The limits of a connection. No lock of another program holds a till for long.
const LIMITS: &str = "set statement_timeout = '5s'; set lock_timeout = '3s';
    set idle_in_transaction_session_timeout = '20s'";
/// The name of the connections at the database.
pub(super) const PROGRAM: &str = "pos-fleet tills";

/// Returns the connections for requests.
pub(super) fn pool(database: Database) -> ClientPool {
    ClientPool::new(database, PROGRAM, CONNECTIONS, LIMITS.to_owned())
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
        let Ok(new) = timeout(LOOK, notes.take()).await else { continue };
        for (_, id) in new {
            // Perhaps no request waits now.
            let _ = heard.send(id);
        }
    }
    Err(NoDatabase::Ended)
}
