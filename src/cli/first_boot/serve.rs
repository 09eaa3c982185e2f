//! The connections of the front: one request at a time, each bounded in bytes and time.

use std::sync::Arc;
use std::time::Duration;

use pos_first_boot::{LONGEST_REQUEST, Refusal, Reply, Stage, read};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use zeroize::Zeroizing;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::boot::Boot;

/// The deadline for a request or a reply. Both ends are on this board.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause after a connection that cannot be accepted.
const PAUSE: Duration = Duration::from_millis(100);
/// The number of connections that are told at the same time that another request is worked on.
const REFUSED: usize = 8;

/// Serves the front until the files are written or the hour is over. After the hour, it serves long enough to say so:
/// systemd would start this program again for a request without an answer.
pub(super) async fn serve(listener: UnixListener, mut boot: Boot) -> Result<Exit, Stop> {
    let end = boot.ends.max(Instant::now() + PATIENCE);
    let refused = Arc::new(Semaphore::new(REFUSED));
    while boot.stage != Stage::Written {
        let stream = tokio::select! {
            stream = next(&listener, boot.peer) => stream,
            () = sleep_until(end) => {
                out::say("the hour of the first boot is over; restart the board to begin again");
                return Ok(Exit::Success);
            }
        };
        let peer = boot.peer;
        let mut work = std::pin::pin!(one(stream, &mut boot));
        loop {
            tokio::select! {
                () = &mut work => break,
                other = next(&listener, peer) => {
                    // Beyond this number, a connection is closed without a word.
                    if let Ok(permit) = Arc::clone(&refused).try_acquire_owned() {
                        tokio::spawn(async move {
                            busy(other).await;
                            drop(permit);
                        });
                    }
                }
            }
        }
    }
    boot.start_front().await;
    Ok(Exit::Success)
}

/// Returns the next connection of root, of this program's user or of the front's user. Others are closed.
async fn next(listener: &UnixListener, peer: Option<u32>) -> UnixStream {
    let own = rustix::process::geteuid().as_raw();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Without free files, the next try would fail at once.
            sleep(PAUSE).await;
            continue;
        };
        let user = stream.peer_cred().map(|peer| peer.uid());
        if user.is_ok_and(|user| user == 0 || user == own || Some(user) == peer) {
            return stream;
        }
    }
}

async fn one(mut stream: UnixStream, boot: &mut Boot) {
    let line = timeout(PATIENCE, line(&mut stream)).await.unwrap_or_else(|_| Err("is not complete in time"));
    let reply = match line.map(|line| read::request(&line)) {
        Ok(Ok(request)) => boot.answer(request, &mut stream).await,
        Ok(Err(faults)) if faults.iter().any(|fault| !fault.key.is_empty()) => Reply::Faulty(faults),
        Ok(Err(_)) => Reply::Refused(Refusal::Malformed("is no request".to_owned())),
        Err(why) => Reply::Refused(Refusal::Malformed(why.to_owned())),
    };
    send(&mut stream, &reply).await;
}

async fn busy(mut stream: UnixStream) {
    // The request is read first, because a closed connection with unread bytes loses the reply.
    let _ = timeout(PATIENCE, line(&mut stream)).await;
    send(&mut stream, &Reply::Refused(Refusal::Busy)).await;
}

/// Reads one line. The buffer never grows, so no copy of a secret remains on the heap.
async fn line(stream: &mut UnixStream) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let mut line = Zeroizing::new(vec![0; LONGEST_REQUEST + 1]);
    let mut length = 0;
    loop {
        let count = stream.read(&mut line[length..]).await.map_err(|_| "cannot be read")?;
        let end = line[length..length + count].iter().position(|byte| *byte == b'\n');
        if let Some(end) = end {
            line.truncate(length + end);
            return Ok(line);
        }
        length += count;
        if length > LONGEST_REQUEST {
            return Err("is too long");
        }
        if count == 0 {
            return Err("has no end");
        }
    }
}

/// Sends a reply. If the front is gone, the work goes on without it.
pub(super) async fn send(stream: &mut UnixStream, reply: &Reply) {
    let mut text = serde_json::to_string(reply).expect("replies hold only text and numbers");
    text.push('\n');
    let _ = timeout(PATIENCE, stream.write_all(text.as_bytes())).await;
}

#[cfg(test)]
mod tests {
    use pos_first_boot::LASTS_S;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn after_an_hour_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        let begin = Instant::now();
        let exit = serve(listener, Boot::for_tests(folder.path())).await.unwrap();
        assert_eq!((exit, begin.elapsed().as_secs()), (Exit::Success, LASTS_S));
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_after_the_hour_tells_the_front_so_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let mut front = UnixStream::connect(&socket).await.unwrap();
        front.write_all(b"\"state\"\n").await.unwrap();
        let boot = Boot { ends: Instant::now(), ..Boot::for_tests(folder.path()) };
        assert_eq!(serve(listener, boot).await.unwrap(), Exit::Success);
        let mut said = String::new();
        front.read_to_string(&mut said).await.unwrap();
        let Reply::State(state) = serde_json::from_str(&said).unwrap() else { panic!("{said}") };
        assert_eq!((state.stage, state.left_s), (Stage::Closed, 0));
    }
}
