//! The doctor's findings for the page. The front does not run the doctor: it may not read the agent's files. It
//! connects to a socket of systemd, which runs `pos-agent doctor --json` as the agent's user and passes on its output.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::StatusCode;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::problem::{Answer, Problem, json_answer};

/// The largest output in bytes. A doctor with a hundred findings writes less.
const MOST: u64 = 256 * 1024;
/// The time limit. The doctor needs a few seconds, or longer if the gateway does not answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// The title of a refusal.
const TITLE: &str = "The doctor's findings are missing";

/// The access to the doctor, which one caller uses at a time.
#[derive(Debug)]
pub(crate) struct Doctor {
    socket: PathBuf,
    one: Mutex<()>,
}

impl Doctor {
    pub(crate) fn at(socket: &Path) -> Self {
        Self { socket: socket.to_owned(), one: Mutex::new(()) }
    }

    /// Runs the doctor and returns its findings.
    pub(crate) async fn ask(&self) -> Result<Answer, Problem> {
        let Ok(_one) = self.one.try_lock() else {
            let detail = "the doctor is checking the terminal for another page; ask again in some seconds";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "doctor-busy", TITLE, detail).again_in(5));
        };
        let found = match timeout(PATIENCE, self.output()).await {
            Ok(Ok(output)) => {
                serde_json::from_slice::<Value>(&output).ok().filter(|found| found["findings"].is_array())
            }
            Ok(Err(error)) => return Err(self.missing(&error.to_string())),
            Err(_) => return Err(self.missing(&format!("no answer within {} s", PATIENCE.as_secs()))),
        };
        found.map(|found| json_answer(StatusCode::OK, &found)).ok_or_else(|| self.missing("its answer is no list"))
    }

    async fn output(&self) -> io::Result<Vec<u8>> {
        let mut output = Vec::new();
        UnixStream::connect(&self.socket).await?.take(MOST).read_to_end(&mut output).await?;
        Ok(output)
    }

    fn missing(&self, why: &str) -> Problem {
        let detail = format!(
            "{}: {why}; run: systemctl start pos-doctor.socket, or as root at the terminal: pos-agent doctor",
            self.socket.display()
        );
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no-doctor", TITLE, detail)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixListener;

    use super::*;

    async fn refused(doctor: &Doctor) -> (StatusCode, bool) {
        let answer = Answer::from(doctor.ask().await.unwrap_err());
        (answer.status(), answer.headers().contains_key("retry-after"))
    }

    #[tokio::test]
    async fn one_caller_at_a_time_gets_the_findings_and_nothing_else_is_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("doctor.sock");
        let doctor = Arc::new(Doctor::at(&socket));
        assert_eq!(refused(&doctor).await, (StatusCode::SERVICE_UNAVAILABLE, false), "no socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let asking = Arc::clone(&doctor);
        let first = tokio::spawn(async move { asking.ask().await.map(|answer| answer.status()) });
        let (mut stream, _) = listener.accept().await.unwrap();
        assert_eq!(refused(&doctor).await, (StatusCode::SERVICE_UNAVAILABLE, true), "it is busy");
        stream.write_all(b"{\"worst\":\"ok\",\"findings\":[]}\n").await.unwrap();
        drop(stream);
        assert_eq!(first.await.unwrap().ok(), Some(StatusCode::OK));
        let unbounded = vec![b' '; usize::try_from(MOST).unwrap() + 1];
        for output in [&b""[..], b"{}", b"not JSON", &unbounded] {
            let write = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                // The front stops reading at its limit.
                let _ = stream.write_all(output).await;
            };
            let (refused, ()) = tokio::join!(refused(&doctor), write);
            assert_eq!(refused, (StatusCode::SERVICE_UNAVAILABLE, false));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_doctor_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("doctor.sock");
        let _listener = UnixListener::bind(&socket).unwrap();
        let doctor = Doctor::at(&socket);
        for _ in 0..2 {
            assert_eq!(refused(&doctor).await, (StatusCode::SERVICE_UNAVAILABLE, false), "and it is free again");
        }
    }
}
