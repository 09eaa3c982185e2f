//! The connection to root's half of the first boot. The front understands root's replies. It passes a browser's
//! request on as it is, so that a secret has as few copies as possible.

use std::path::PathBuf;
use std::time::Duration;

use pos_first_boot::Reply;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;
use zeroize::Zeroizing;

/// The time for the connection and for sending a request. Root reads a request at once.
const SENDING: Duration = Duration::from_secs(10);
/// The greatest length of a reply in bytes. The longest one lists the ports of a search, or the faults in the answers.
const LONGEST_REPLY: u64 = 64 * 1024;
/// The largest number of replies to one request. Root has fewer steps.
const MOST_REPLIES: u32 = 64;

/// The reason why root's half gave no reply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RootError {
    /// It is not there, or it ended before its reply.
    #[error("{0}")]
    Away(#[from] std::io::Error),
    /// The time for the reply is over.
    #[error("it has not answered within {} s", .0.as_secs())]
    Silent(Duration),
    /// The reply is too long, or it is no reply.
    #[error("its reply cannot be understood")]
    Garbage,
}

/// Root's half, behind its socket.
#[derive(Debug)]
pub(crate) struct RootHalf {
    pub(crate) socket: PathBuf,
}

/// The replies to one request.
pub(crate) struct Replies {
    stream: BufReader<UnixStream>,
    patience: Duration,
    left: u32,
}

impl RootHalf {
    /// Sends a request, which is one line. Root may take `patience` for each reply.
    pub(crate) async fn ask(&self, request: &[u8], patience: Duration) -> Result<Replies, RootError> {
        let sent = async {
            let mut stream = UnixStream::connect(&self.socket).await?;
            // Root closes the connection early if it refuses the request. Its reply then says why.
            let _ = stream.write_all(request).await;
            Ok(stream)
        };
        let sent: Result<UnixStream, std::io::Error> =
            timeout(SENDING, sent).await.map_err(|_| RootError::Silent(SENDING))?;
        Ok(Replies { stream: BufReader::new(sent?), patience, left: MOST_REPLIES })
    }

    /// Sends a request that has one reply.
    pub(crate) async fn answer(&self, request: &[u8], patience: Duration) -> Result<Reply, RootError> {
        match self.ask(request, patience).await?.next().await? {
            Reply::Progress(_) => Err(RootError::Garbage),
            reply => Ok(reply),
        }
    }
}

impl Replies {
    /// Returns the next reply. The last one is no progress.
    pub(crate) async fn next(&mut self) -> Result<Reply, RootError> {
        self.left = self.left.checked_sub(1).ok_or(RootError::Garbage)?;
        let mut line = Vec::new();
        let mut bounded = (&mut self.stream).take(LONGEST_REPLY);
        let read = timeout(self.patience, bounded.read_until(b'\n', &mut line)).await;
        read.map_err(|_| RootError::Silent(self.patience))??;
        match line.pop() {
            Some(b'\n') => serde_json::from_slice(&line).map_err(|_| RootError::Garbage),
            Some(_) if line.len() as u64 + 1 == LONGEST_REPLY => Err(RootError::Garbage),
            _ => Err(RootError::Away(std::io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Returns the line of a request whose content a browser sent, or `None` if the content is not one JSON value. Line
/// breaks between the values of the content become spaces, because a line break ends a request.
pub(crate) fn line(name: &str, content: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    serde_json::from_slice::<IgnoredAny>(content).ok()?;
    // The vector never grows: it would leave its earlier content in memory.
    let mut line = Zeroizing::new(Vec::with_capacity(name.len() + content.len() + 8));
    for piece in [&b"{\""[..], name.as_bytes(), b"\":", content, b"}"] {
        line.extend(piece.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    }
    line.push(b'\n');
    Some(line)
}

#[cfg(test)]
mod tests {
    use pos_first_boot::{Refusal, Request, Step};
    use tokio::net::UnixListener;

    use super::*;

    /// A root that sends these bytes to its first caller, and then closes the connection or keeps it open.
    async fn told(bytes: Vec<u8>, closes: bool) -> Result<Reply, RootError> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("root.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let root = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.write_all(&bytes).await;
            if !closes {
                std::future::pending::<()>().await;
            }
        };
        let half = RootHalf { socket };
        tokio::select! {
            biased;
            reply = half.answer(b"\"state\"\n", Duration::from_millis(200)) => reply,
            () = async { root.await; std::future::pending().await } => unreachable!(),
        }
    }

    #[tokio::test]
    async fn a_reply_is_one_bounded_line_within_its_time() {
        assert_eq!(told(b"\"done\"\nmore".to_vec(), false).await.unwrap(), Reply::Done);
        let refused = told(b"{\"refused\":{\"wrong-code\":{\"left\":3}}}\n".to_vec(), true).await.unwrap();
        assert_eq!(refused, Reply::Refused(Refusal::WrongCode { left: 3 }));
        let garbage: [&[u8]; 5] = [
            b"\n",
            b"{}\n",
            b"\"done\" \"done\"\n",
            b"{\"progress\":\"agent\"}\n",
            &[b'x'; 2 * LONGEST_REPLY as usize],
        ];
        for garbage in garbage {
            assert!(matches!(told(garbage.to_vec(), false).await, Err(RootError::Garbage)));
        }
        for away in [&b""[..], b"\"done\"", b"\"do"] {
            assert!(matches!(told(away.to_vec(), true).await, Err(RootError::Away(_))));
            assert!(matches!(told(away.to_vec(), false).await, Err(RootError::Silent(_))));
        }
        let nobody = RootHalf { socket: "/nonexistent/root.sock".into() };
        assert!(matches!(nobody.answer(b"\"state\"\n", SENDING).await, Err(RootError::Away(_))));
    }

    #[tokio::test]
    async fn progress_does_not_go_on_for_ever() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let root = async { while far.write_all(b"{\"progress\":\"writing\"}\n").await.is_ok() {} };
        let mut replies = Replies { stream: BufReader::new(near), patience: SENDING, left: MOST_REPLIES };
        let read = async {
            for _ in 0..MOST_REPLIES {
                assert_eq!(replies.next().await.unwrap(), Reply::Progress(Step::Writing));
            }
            assert!(matches!(replies.next().await, Err(RootError::Garbage)));
            drop(replies);
        };
        tokio::join!(root, read);
    }

    /// A browser must not be able to send root a second request, or a request of another kind.
    #[test]
    fn what_a_browser_sends_is_the_content_of_one_request() {
        let request = |content: &[u8]| {
            let line = line("enter", content)?;
            let (end, line) = line.split_last().unwrap();
            assert!(*end == b'\n' && !line.contains(&b'\n'));
            Some(serde_json::from_slice::<Request>(line).ok())
        };
        let code = || Zeroizing::new("12 34".to_owned());
        assert_eq!(request(b"{\"code\":\r\n\"12 34\"\n}\n"), Some(Some(Request::Enter { code: code() })));
        for broken in [
            &b""[..],
            b"{",
            b"{\"code\":\"1\"}}",
            b"{\"code\":\"1\"}}\n{\"write\":{}",
            b"{\"code\":\"1\"},\"write\":{}",
            b"{\"code\":\"a\nb\"}",
            b"\xff",
        ] {
            assert_eq!(request(broken), None, "{broken:?}");
        }
        for other in [&b"1"[..], b"{}", b"{\"code\":\"1\",\"write\":{}}", b"[{\"code\":\"1\"}]"] {
            let understood = request(other).unwrap();
            assert!(matches!(understood, None | Some(Request::Enter { .. })), "{other:?}");
        }
    }
}
