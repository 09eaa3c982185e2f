//! What tills on plain TCP share, whatever protocol they speak: their listener, the check of their address, and the
//! random part of their references.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::listen::may_connect;

/// The pause after a connection cannot be accepted.
const AGAIN: Duration = Duration::from_secs(1);

/// Opens the listener of a till. The caller does so before the front serves anything, so a port that is in use is
/// reported immediately.
pub(crate) async fn bind(listen: SocketAddr, table: &str) -> Result<TcpListener, String> {
    TcpListener::bind(listen).await.map_err(|error| {
        format!(
            "cannot listen on {listen}: {error}; stop the other program, or change listen in [[{table}]] (front.toml)"
        )
    })
}

/// Returns the next connection from a permitted address. Any other connection is closed at once.
pub(crate) async fn next(listener: &TcpListener, from: &[IpAddr], table: &str) -> (TcpStream, SocketAddr) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(AGAIN).await;
            continue;
        };
        if !may_connect(peer, from) {
            tracing::warn!(%peer, "a connection was closed: its address is not allowed by from in [[{table}]]");
            continue;
        }
        // Each message is sent separately and immediately.
        let _ = stream.set_nodelay(true);
        return (stream, peer);
    }
}

/// Returns the beginning of a till's references in this run.
pub(crate) fn references(protocol: &str) -> String {
    let mut random = [0; 6];
    // Without random numbers, a reference would repeat. The agent would then return the earlier transaction and begin
    // no new one.
    if SystemRandom::new().fill(&mut random).is_err() {
        tracing::error!("the system provides no random numbers");
    }
    format!("{protocol}-{}", in_letters(&random))
}

/// Encodes bytes as letters. With digits, some references would look like card numbers.
fn in_letters(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|nibble| char::from(b'a' + nibble)).collect()
}
