//! The start of a service that has failed before. systemd starts the service again each second. With a wrong
//! configuration, that would fill the log, and clients would wait at the socket for an answer.
//!
//! | start | behaviour |
//! |---|---|
//! | the first with this cause | fails at once: `systemctl start` fails, and the log has the cause |
//! | each further one | logs nothing, shows the cause in `systemctl status`, and waits 2, 4, 8, … 60 s before it fails |
//!
//! A wait ends early when a file in the configuration's folder changes. The next start then reads the new files. During
//! the wait, the sockets from systemd answer each request with the cause. A file in the service's runtime folder keeps
//! the cause from one start to the next. Without systemd there is no such folder, so every start is the first one.
//! systemd 254 can wait longer each time (`RestartSteps=`), but Debian 12 has an earlier version.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::future::pending;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::time::{sleep, timeout};

use crate::systemd::{Notify, Sockets};
use crate::wire::Stream;

/// The name of the file that keeps the cause.
const MARK: &str = "failed-start";
/// The longest wait. A person who mends another file than the configuration need not wait longer than this.
const LONGEST_S: u32 = 60;
/// The interval between two looks at the configuration's folder.
const LOOK: Duration = Duration::from_secs(1);
/// The age from which the file says nothing. systemd starts the service again after a second (`RestartSec=`), but a
/// board that is starting up can need many more.
const OUTDATED: Duration = Duration::from_secs(60);
/// The time that systemd allows for a start in addition to the wait.
const RESERVE: Duration = Duration::from_secs(10);
/// The time for one request. A local client sends it at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// The earlier starts of this service.
#[derive(Debug)]
pub struct Starts {
    mark: Option<PathBuf>,
    folder: PathBuf,
    /// The files of the folder, before this start has read them.
    files: Vec<SeenFile>,
}

/// A file's name, and the time at which its content, owner or mode last changed.
type SeenFile = (OsString, (i64, i64), u64);

impl Starts {
    /// Looks at the earlier starts, and at the folder of the configuration. Call it before the configuration is read.
    #[must_use]
    pub fn of(config: &Path) -> Self {
        // systemd.exec(5): the paths of `RuntimeDirectory=`, separated by colons.
        let folders = env::var_os("RUNTIME_DIRECTORY");
        Self::kept_in(folders.and_then(|folders| env::split_paths(&folders).next()), config)
    }

    fn kept_in(folder: Option<PathBuf>, config: &Path) -> Self {
        let mark = folder.map(|folder| folder.join(MARK));
        let folder = config.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self { mark, files: seen(folder), folder: folder.to_owned() }
    }

    /// Forgets the earlier failures, because the service has started, or because a person stops it.
    pub fn forget(&self) {
        // If the file stays, it says nothing after a minute.
        if let Some(mark) = &self.mark {
            let _ = fs::remove_file(mark);
        }
    }

    /// Keeps the cause of a failed start. Returns `None` for the first failure with this cause.
    #[must_use]
    pub fn failed(&self, cause: &str) -> Option<FailedAgain<'_>> {
        let failures = self.failures(cause).map_or(1, |failures| failures.saturating_add(1));
        let again = FailedAgain { starts: self, cause: cause.to_owned(), failures };
        if failures > 1 {
            return Some(again);
        }
        again.keep();
        None
    }

    /// Returns the number of the latest starts that failed with this cause.
    fn failures(&self, cause: &str) -> Option<u32> {
        let mark = self.mark.as_ref()?;
        let age = fs::metadata(mark).and_then(|facts| facts.modified()).ok()?.elapsed().ok()?;
        let kept = fs::read_to_string(mark).ok().filter(|_| age < OUTDATED)?;
        let (failures, kept) = kept.split_once('\n')?;
        failures.parse().ok().filter(|_| kept == cause)
    }

    async fn a_file_changes(&self) {
        while seen(&self.folder) == self.files {
            sleep(LOOK).await;
        }
    }
}

fn seen(folder: &Path) -> Vec<SeenFile> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut seen: Vec<SeenFile> = files
        .map(|file| {
            // The file of a symbolic link is the one that counts. A link to nothing has only its name.
            let facts = fs::metadata(file.path()).map(|facts| ((facts.ctime(), facts.ctime_nsec()), facts.size()));
            let (changed, size) = facts.unwrap_or_default();
            (file.file_name(), changed, size)
        })
        .collect();
    seen.sort();
    seen
}

/// A start that failed with the same cause as the one before it.
#[derive(Debug)]
pub struct FailedAgain<'a> {
    starts: &'a Starts,
    cause: String,
    failures: u32,
}

impl FailedAgain<'_> {
    /// Waits, and answers each request at the sockets with `problem`, a problem details object (RFC 9457). The service
    /// then ends without another message.
    pub async fn wait(self, notify: &Notify, sockets: Sockets, problem: &str) {
        let wait_s = 2_u32.saturating_pow(self.failures.saturating_sub(1)).min(LONGEST_S);
        let wait = Duration::from_secs(wait_s.into());
        let folder = self.starts.folder.display();
        notify.start_takes(wait + RESERVE);
        notify.status(&format!("cannot start: {}; tries again in {wait_s} s, or when {folder} changes", self.cause));
        tokio::select! {
            () = sleep(wait) => {}
            () = self.starts.a_file_changes() => {}
            () = answer_all(sockets, problem) => {}
        }
        self.keep();
    }

    /// Keeps the cause. Without it, the next start fails at once.
    fn keep(&self) {
        if let Some(mark) = &self.starts.mark
            && let Err(error) = fs::write(mark, format!("{}\n{}", self.failures, self.cause))
        {
            tracing::debug!(%error, "the cause of the failed start was not kept");
        }
    }
}

/// Answers each connection with the problem, one after another. Never returns.
async fn answer_all(Sockets { unix, tcp }: Sockets, problem: &str) {
    let length = problem.len();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{problem}"
    );
    let unix = unix.and_then(|unix| unix.set_nonblocking(true).and_then(|()| UnixListener::from_std(unix)).ok());
    let tcp = tcp.and_then(|tcp| tcp.set_nonblocking(true).and_then(|()| TcpListener::from_std(tcp)).ok());
    loop {
        let accepted: io::Result<Box<dyn Stream>> = tokio::select! {
            accepted = accept(unix.as_ref().map(UnixListener::accept)) => accepted.map(|(stream, _)| Box::new(stream) as _),
            accepted = accept(tcp.as_ref().map(TcpListener::accept)) => accepted.map(|(stream, _)| Box::new(stream) as _),
        };
        match accepted {
            // A client that does not read loses its answer.
            Ok(stream) => drop(timeout(PATIENCE, answer_one(stream, answer.as_bytes())).await),
            Err(_) => sleep(LOOK).await,
        }
    }
}

/// Waits for a connection at the socket, or for ever if there is no socket.
async fn accept<T>(socket: Option<impl Future<Output = T>>) -> T {
    match socket {
        Some(accepted) => accepted.await,
        None => pending().await,
    }
}

/// Answers one request. Reads everything that the client sends, because unread data would reset the connection before
/// the client has read the answer.
async fn answer_one(mut stream: Box<dyn Stream>, answer: &[u8]) -> io::Result<()> {
    let mut request = [0; 1024];
    if stream.read(&mut request).await? == 0 {
        return Ok(());
    }
    stream.write_all(answer).await?;
    stream.shutdown().await?;
    while stream.read(&mut request).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::net::UnixDatagram;
    use std::time::SystemTime;

    use tokio::net::{TcpStream, UnixStream};
    use tokio::time::Instant;

    use super::*;

    /// A service with a runtime folder and a configuration.
    struct Service {
        folder: tempfile::TempDir,
    }

    impl Service {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["run", "etc"] {
                fs::create_dir(folder.path().join(name)).unwrap();
            }
            fs::write(folder.path().join("etc/config.toml"), "wrong").unwrap();
            Self { folder }
        }

        fn starts(&self) -> Starts {
            let folder = self.folder.path();
            Starts::kept_in(Some(folder.join("run")), &folder.join("etc/config.toml"))
        }

        /// Lets a start fail, and returns the seconds of its wait.
        async fn fails(&self, cause: &str) -> Option<u64> {
            let starts = self.starts();
            let begun = Instant::now();
            starts.failed(cause)?.wait(&Notify::nobody(), Sockets::default(), "").await;
            Some(begun.elapsed().as_secs())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_start_fails_at_once_and_each_further_one_waits_longer() {
        let service = Service::new();
        assert_eq!(service.fails("line 3").await, None);
        for wait in [2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(service.fails("line 3").await, Some(wait));
        }
        // Another cause is logged, and so is the first one if it comes back.
        assert_eq!(service.fails("line 3\nline 7").await, None);
        assert_eq!(service.fails("line 3\nline 7").await, Some(2));
        assert_eq!(service.fails("line 3").await, None);
        assert_eq!(service.fails("line 3").await, Some(2));
        // The service has started, or a person has stopped it.
        service.starts().forget();
        assert_eq!(service.fails("line 3").await, None);
        // A person starts the service much later.
        let mark = File::options().write(true).open(service.folder.path().join("run").join(MARK)).unwrap();
        mark.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(service.fails("line 3").await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_service_manager_every_start_is_the_first() {
        let service = Service::new();
        for _ in 0..3 {
            let starts = Starts::kept_in(None, &service.folder.path().join("etc/config.toml"));
            assert!(starts.failed("line 3").is_none());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_when_a_file_of_the_configuration_changes() {
        type Change = fn(&Path) -> io::Result<()>;
        let changes: &[Change] = &[
            |etc| fs::write(etc.join("config.toml"), "mended"),
            |etc| fs::write(etc.join("gateway-token"), "new"),
            |etc| fs::remove_file(etc.join("gateway-token")),
            |etc| fs::rename(etc.join("config.toml"), etc.join("config.toml.old")),
        ];
        let service = Service::new();
        assert_eq!(service.fails("wrong").await, None);
        for wait in [2, 4, 8] {
            assert_eq!(service.fails("wrong").await, Some(wait));
        }
        for change in changes {
            let etc = service.folder.path().join("etc");
            let mends = async {
                sleep(Duration::from_millis(3500)).await;
                change(&etc).unwrap();
            };
            let (waited, ()) = tokio::join!(service.fails("wrong"), mends);
            assert_eq!(waited, Some(4), "the look after the change");
        }
    }

    #[tokio::test]
    async fn systemd_and_every_client_are_told_the_cause() {
        let service = Service::new();
        assert_eq!(service.fails("line 3: wrong").await, None);
        let path = service.folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        let (notify, socket) = (Notify::to(path.as_os_str()).unwrap(), service.folder.path().join("socket"));
        let unix = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        let starts = service.starts();
        let again = starts.failed("line 3: wrong").unwrap();
        let asks = async {
            // A client that goes at once keeps no other client from its answer.
            drop(UnixStream::connect(&socket).await.unwrap());
            for stream in [
                Box::new(UnixStream::connect(&socket).await.unwrap()) as Box<dyn Stream>,
                Box::new(TcpStream::connect(address).await.unwrap()),
            ] {
                let (mut stream, mut answer) = (stream, String::new());
                let request = format!("POST /v1/sales HTTP/1.1\r\n\r\n{}", "x".repeat(5000));
                stream.write_all(request.as_bytes()).await.unwrap();
                stream.read_to_string(&mut answer).await.unwrap();
                assert!(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("\r\n\r\n{\"detail\":7}"), "{answer}");
                assert!(answer.contains("content-length: 12\r\n"), "{answer}");
            }
        };
        tokio::select! {
            () = asks => {}
            () = again.wait(&notify, Sockets { unix: Some(unix), tcp: Some(tcp) }, "{\"detail\":7}") => panic!("no answer"),
        }
        let next = || {
            let mut heard = [0; 512];
            let count = manager.recv(&mut heard).unwrap();
            String::from_utf8_lossy(&heard[..count]).into_owned()
        };
        assert_eq!(next(), "EXTEND_TIMEOUT_USEC=12000000");
        let status = next();
        assert!(status.starts_with("STATUS=cannot start: line 3: wrong; tries again in 2 s, or when /"), "{status}");
    }
}
