//! Root's replies to the request that writes the files, as the browser gets them.

use bytes::Bytes;
use pos_first_boot::Reply;
use serde_json::json;
use tokio::sync::mpsc;

use super::refusal::root_down;
use super::root::{Replies, RootError};

/// What became of the writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// Root has said that it is done.
    Written,
    /// Root has refused it or taken it back.
    NotWritten,
    /// Root has not said it. The browser stays paired: the files may be there.
    Unknown,
}

/// Sends root's replies to the browser, one in each line, up to the last one.
pub(super) async fn written(mut replies: Replies, browser: &mpsc::Sender<Bytes>) -> WriteOutcome {
    loop {
        let reply = replies.next().await;
        let outcome = match &reply {
            Ok(Reply::Progress(step)) => {
                tracing::info!(?step, "root sets up the terminal");
                None
            }
            Ok(Reply::Done) => Some(WriteOutcome::Written),
            Ok(Reply::Faulty(_) | Reply::Refused(_)) => Some(WriteOutcome::NotWritten),
            Ok(Reply::State(_) | Reply::Devices(_)) | Err(_) => Some(WriteOutcome::Unknown),
        };
        let said = match reply {
            Ok(reply) if outcome != Some(WriteOutcome::Unknown) => json!(reply),
            Ok(_) => json!({ "problem": root_down(RootError::Garbage).object() }),
            Err(error) => json!({ "problem": root_down(error).object() }),
        };
        // A browser that has left needs no reply.
        let _ = browser.send(Bytes::from(format!("{said}\n"))).await;
        if let Some(outcome) = outcome {
            tracing::info!(?outcome, "the writing has ended");
            return outcome;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::first_boot::STEP;
    use crate::first_boot::root::RootHalf;

    #[tokio::test]
    async fn the_writing_ends_with_roots_last_reply_and_goes_on_without_its_browser() {
        let told: [(&[u8], WriteOutcome, &str); 5] = [
            (
                b"{\"progress\":\"writing\"}\n\"done\"\n",
                WriteOutcome::Written,
                "{\"progress\":\"writing\"}\n\"done\"\n",
            ),
            (b"{\"faulty\":[]}\n", WriteOutcome::NotWritten, "{\"faulty\":[]}\n"),
            (b"{\"refused\":\"busy\"}\n", WriteOutcome::NotWritten, "{\"refused\":\"busy\"}\n"),
            (b"{\"progress\":\"agent\"}\n", WriteOutcome::Unknown, "{\"progress\":\"agent\"}\n{\"problem\":"),
            (
                b"{\"devices\":{\"reader\":null,\"printer\":null,\"looked\":[]}}\n",
                WriteOutcome::Unknown,
                "{\"problem\":",
            ),
        ];
        for (bytes, expected, heard) in told {
            for listens in [true, false] {
                let folder = tempfile::tempdir().unwrap();
                let socket = folder.path().join("root.sock");
                let listener = tokio::net::UnixListener::bind(&socket).unwrap();
                let replies = RootHalf { socket }.ask(b"\"write\"\n", STEP).await.unwrap();
                let (mut root, _) = listener.accept().await.unwrap();
                root.write_all(bytes).await.unwrap();
                drop(root);
                let (sender, mut stream) = mpsc::channel(8);
                if !listens {
                    stream.close();
                }
                assert_eq!(written(replies, &sender).await, expected);
                drop(sender);
                let mut said = String::new();
                while let Some(line) = stream.recv().await {
                    said.push_str(std::str::from_utf8(&line).unwrap());
                }
                let begin = if listens { heard } else { "" };
                assert!(said.starts_with(begin) && said.is_empty() != listens, "{said}");
            }
        }
    }
}
