//! The proof that a till's system has an answer: TCP has acknowledged all its bytes. A protocol without an
//! acknowledgement of its own has no better one. The kernel shows the number of unacknowledged bytes in
//! `/proc/self/net/tcp` and `tcp6`.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// The time within which the till's system must acknowledge the answer.
const ACKNOWLEDGED: Duration = Duration::from_secs(10);
/// The time within which the answer must fit into the send buffer.
const WRITTEN: Duration = Duration::from_secs(5);
/// The pause between two looks at the connection. It doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// The largest part of the kernel's table that is read: the connections of a busy board many times over.
const MOST_TABLE: u64 = 1 << 20;
/// The states of a connection on which an acknowledgement counts: open, and closed by the till.
const ESTABLISHED: &str = "01";
const CLOSE_WAIT: &str = "08";

/// Sends an answer and returns whether all of it was delivered. If not, the connection is reset when it is closed, so
/// that the till does not get the answer later. This also holds if the front is stopped or killed meanwhile.
pub(crate) async fn deliver(stream: &mut TcpStream, answer: &[u8]) -> bool {
    stream.set_zero_linger().is_ok()
        && !has_left(stream)
        && is_acknowledged(stream, answer).await
        // A reset now could take the answer from a till that has not read it yet.
        && set_socket_linger(&stream, None).is_ok()
}

async fn is_acknowledged(stream: &mut TcpStream, answer: &[u8]) -> bool {
    let (Ok(local), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else { return false };
    if !matches!(timeout(WRITTEN, stream.write_all(answer)).await, Ok(Ok(()))) {
        return false;
    }
    let (until, mut pause) = (Instant::now() + ACKNOWLEDGED, FIRST_PAUSE);
    loop {
        // The table is read first. A reset that comes after an acknowledgement is then noticed as well.
        let unacknowledged = table(local).ok().and_then(|table| unacknowledged(&table, local, peer));
        if is_reset(stream) {
            return false;
        }
        if unacknowledged == Some(0) {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Returns whether the till closed the connection or sent more before its answer.
fn has_left(stream: &TcpStream) -> bool {
    let mut more = [0; 16];
    match stream.try_read(&mut more) {
        Ok(count) => count == 0 || !more.iter().take(count).all(|byte| matches!(byte, b'\r' | b'\n')),
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

/// Returns whether the connection was reset. A till that closes it normally has read its answer.
fn is_reset(stream: &TcpStream) -> bool {
    // After the till has closed the connection, only this call shows a reset.
    if !matches!(stream.take_error(), Ok(None)) {
        return true;
    }
    let mut ignored = [0; 256];
    matches!(stream.try_read(&mut ignored), Err(error) if error.kind() != io::ErrorKind::WouldBlock)
}

fn table(local: SocketAddr) -> io::Result<String> {
    let file = if local.is_ipv4() { "/proc/self/net/tcp" } else { "/proc/self/net/tcp6" };
    let mut text = String::new();
    File::open(file)?.take(MOST_TABLE).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the number of bytes on this connection that the peer has not acknowledged. Returns `None` if the table does
/// not list the connection as open.
fn unacknowledged(table: &str, local: SocketAddr, peer: SocketAddr) -> Option<u64> {
    let (local, peer) = (in_table(local), in_table(peer));
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_it = words.next()? == local && words.next()? == peer;
        let is_open = matches!(words.next()?, ESTABLISHED | CLOSE_WAIT);
        let queue = words.next()?.split(':').next()?;
        u64::from_str_radix(queue, 16).ok().filter(|_| is_it && is_open)
    })
}

/// Writes an address as the kernel does: each four bytes as one number in the board's byte order.
fn in_table(address: SocketAddr) -> String {
    let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
    let ip = match address.ip() {
        IpAddr::V4(ip) => word(ip.octets()),
        IpAddr::V6(ip) => ip.octets().chunks_exact(4).filter_map(|four| four.try_into().ok()).map(word).collect(),
    };
    format!("{ip}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:22B8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:22B8 0100007F:9C40 01 0000004B:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:22B8 0100007F:9C41 08 00000000:00000001 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1
   3: 0100007F:22B8 0100007F:9C42 06 00000000:00000000 00:00000000 00000000     0        0 0 3 0
   4: 0100007F:22B8 0100007F:9C43 01 zz";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_kernels_table_is_read() {
        let of = |peer: u16| unacknowledged(TABLE, ([127, 0, 0, 1], 8888).into(), ([127, 0, 0, 1], peer).into());
        assert_eq!((of(40_000), of(40_001)), (Some(75), Some(0)));
        // It has ended, is damaged, or is not listed.
        assert_eq!((of(40_002), of(40_003), of(40_004)), (None, None, None));
        let mapped: SocketAddr = "[::ffff:192.168.1.20]:8888".parse().unwrap();
        assert_eq!(in_table(mapped), "0000000000000000FFFF00001401A8C0:22B8");
    }

    async fn pair(receives: u32) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let till = TcpSocket::new_v4().unwrap();
        till.set_recv_buffer_size(receives).unwrap();
        let (till, terminal) = tokio::join!(till.connect(listener.local_addr().unwrap()), listener.accept());
        (till.unwrap(), terminal.unwrap().0)
    }

    #[tokio::test]
    async fn an_answer_counts_as_delivered_when_the_tills_system_has_it() {
        let (mut till, mut terminal) = pair(4096).await;
        assert!(deliver(&mut terminal, b"AE00210").await, "no program has read it yet");
        drop(terminal);
        let mut read = Vec::new();
        assert_eq!(till.read_to_end(&mut read).await.unwrap(), 7, "the connection was not reset");
    }

    #[tokio::test]
    async fn a_till_that_closes_after_its_answer_has_it_and_one_that_closes_before_has_not() {
        let (mut till, mut terminal) = pair(4096).await;
        let (delivered, ()) = tokio::join!(deliver(&mut terminal, b"AE00210"), async {
            till.read_exact(&mut [0; 7]).await.unwrap();
            drop(till);
        });
        assert!(delivered);
        for resets in [true, false] {
            let (till, mut terminal) = pair(4096).await;
            if resets {
                till.set_zero_linger().unwrap();
            }
            drop(till);
            terminal.readable().await.unwrap();
            assert!(!deliver(&mut terminal, b"AE00210").await);
        }
    }

    #[tokio::test]
    async fn an_answer_on_its_way_does_not_arrive_after_the_front_has_ended() {
        let (mut till, mut terminal) = pair(1).await;
        assert_eq!(terminal.try_write(&[0; 8192]).unwrap(), 8192);
        let ended = timeout(Duration::from_millis(20), deliver(&mut terminal, b"AE00210")).await;
        assert!(ended.is_err(), "it is still on its way");
        drop(terminal);
        let mut got = Vec::new();
        assert!(till.read_to_end(&mut got).await.is_err(), "it is reset");
        assert!(!got.ends_with(b"AE00210"));
    }

    /// The till's system has no room for the answer, so it acknowledges none of it, as after a cut cable.
    #[tokio::test(start_paused = true)]
    async fn what_is_not_acknowledged_is_not_delivered_and_never_arrives() {
        let (mut till, mut terminal) = pair(1).await;
        assert_eq!(terminal.try_write(&[0; 8192]).unwrap(), 8192);
        let (local, peer) = (terminal.local_addr().unwrap(), terminal.peer_addr().unwrap());
        let waiting = unacknowledged(&table(local).unwrap(), local, peer);
        assert!(waiting.is_some_and(|bytes| bytes > 0), "{waiting:?}");
        let start = Instant::now();
        assert!(!deliver(&mut terminal, b"AE00210").await);
        assert!(start.elapsed() >= ACKNOWLEDGED);
        drop(terminal);
        let mut got = Vec::new();
        assert!(till.read_to_end(&mut got).await.is_err(), "it is reset");
        assert!(!got.ends_with(b"AE00210"));
    }
}
