//! Reserves the port of a stopped service. Connections are refused, and no other program can use the port.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::time::{Instant, sleep};

/// The longest wait. While another thread starts a program, that program briefly has a copy of the listener.
const LONGEST_START: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(2);

/// Closes the listener, and keeps its address with a socket that does not listen.
///
/// # Errors
///
/// Fails if another socket has the address.
pub async fn keep(listener: TcpListener) -> io::Result<TcpSocket> {
    let address = listener.local_addr()?;
    drop(listener);
    let until = Instant::now() + LONGEST_START;
    loop {
        match bind(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < until => sleep(AGAIN).await,
            bound => return bound,
        }
    }
}

/// Makes a socket with this address that does not listen.
///
/// # Errors
///
/// Fails if another socket has the address.
pub fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn a_kept_port_refuses_and_is_nobodys_else() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let kept = keep(listener).await.unwrap();
        let refused = tokio::net::TcpStream::connect(address).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let listener = kept.listen(1).unwrap();
        assert!(tokio::net::TcpStream::connect(address).await.is_ok());
        drop(listener);
    }

    /// Simulates a program that is just starting and has a copy.
    #[tokio::test]
    async fn a_copy_of_the_listener_is_waited_for() {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let copy = listener.try_clone().unwrap();
        let mut keeping = Box::pin(keep(TcpListener::from_std(listener).unwrap()));
        tokio::select! {
            biased;
            kept = &mut keeping => panic!("{kept:?}"),
            () = sleep(3 * AGAIN) => drop(copy),
        }
        keeping.await.unwrap();
    }
}
