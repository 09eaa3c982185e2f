//! The agent's stream of events, as `/v1/events` sends it: blocks of lines with an empty line after each. What a step
//! means is not known here.

use std::future::poll_fn;
use std::pin::Pin;

use hyper::body::{Body as _, Incoming};

use super::{Failed, MAX_ANSWER, Step, lost};

/// The stream of events.
pub(super) struct Events {
    body: Incoming,
    /// What has arrived of the next event; it survives a caller that stops waiting.
    buffer: Vec<u8>,
}

impl Events {
    /// The events in the body of an answer.
    pub(super) fn of(body: Incoming) -> Self {
        Self { body, buffer: Vec::new() }
    }

    /// The next step. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<Step, Failed> {
        loop {
            while let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
                if let Some(step) = step(&String::from_utf8_lossy(&block)) {
                    return Ok(step);
                }
            }
            self.more().await?;
        }
    }

    /// Waits for more of the stream.
    pub(super) async fn more(&mut self) -> Result<(), Failed> {
        let frame = poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await;
        let frame = frame.ok_or_else(|| lost("it ended the stream of events"))?.map_err(lost)?;
        self.buffer.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
        if self.buffer.len() > MAX_ANSWER { Err(lost("an event without an end")) } else { Ok(()) }
    }
}

/// Comments, and words of a newer agent, are nothing.
fn step(block: &str) -> Option<Step> {
    serde_json::from_str(block.lines().find_map(|line| line.strip_prefix("data: "))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_read_and_a_comment_is_not() {
        // As the interface documents it in `till/http/events.rs`.
        let block = "event: pin-entry\ndata: {\"till\":\"local\",\"reference\":\"r\",\"step\":\"pin-entry\",\"text\":\"PIN *\"}\n\n";
        let read = step(block).unwrap();
        assert_eq!((read.reference.as_str(), read.text.as_str(), read.sale), ("r", "PIN *", None));
        for nothing in [": listening\n\n", ":\n\n", "id: 7-1\n\n"] {
            assert_eq!(step(nothing), None);
        }
    }
}
