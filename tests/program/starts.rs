//! `pos-agent run` when it cannot start: again and again with the same cause, or as the wrong user. The tests start it
//! as systemd does.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use pos_sim::shop::{Options, Shop};
use pos_test_kit::within;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::counter::till::program;

/// Passes on the socket that is standard input, as the third file. The shell becomes the program.
const HANDS_OVER: &str = r#"exec 3<&0 </dev/null
export LISTEN_PID=$$ LISTEN_FDS=1
exec "$0" run --config "$1""#;

/// A board whose service has a runtime folder and a socket.
struct Board {
    shop: Shop,
    /// The configuration without a fault.
    right: String,
    socket: UnixListener,
    manager: UnixDatagram,
}

impl Board {
    async fn open() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let shop = Shop::open(Options::default()).await.unwrap();
        fs::create_dir(shop.folder().join("run")).unwrap();
        let manager = UnixDatagram::bind(shop.folder().join("notify")).unwrap();
        let socket = UnixListener::bind(shop.socket()).unwrap();
        fs::set_permissions(shop.socket(), fs::Permissions::from_mode(0o660)).unwrap();
        Self { right: fs::read_to_string(shop.config()).unwrap(), socket, manager, shop }
    }

    fn mark(&self) -> PathBuf {
        self.shop.folder().join("run/failed-start")
    }

    /// Writes a fault into the configuration.
    fn spoil(&self) {
        fs::write(self.shop.config(), format!("colour = \"red\"\n{}", self.right)).unwrap();
    }

    /// Starts the service.
    fn starts(&self) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", HANDS_OVER, env!("CARGO_BIN_EXE_pos-agent")]).arg(self.shop.config()).kill_on_drop(true);
        command.stdin(Stdio::from(OwnedFd::from(self.socket.try_clone().unwrap()))).stderr(Stdio::piped());
        command.env("RUNTIME_DIRECTORY", self.shop.folder().join("run")).env_remove("CREDENTIALS_DIRECTORY");
        command.env("NOTIFY_SOCKET", self.shop.folder().join("notify")).env_remove("RUST_LOG");
        command.spawn().unwrap()
    }

    /// Waits until the service sends systemd its state, and returns it.
    async fn status(&self) -> String {
        let manager = self.manager.try_clone().unwrap();
        let hears = move || loop {
            let mut heard = [0; 4096];
            let count = manager.recv(&mut heard).unwrap();
            let heard = String::from_utf8_lossy(&heard[..count]).into_owned();
            if let Some(status) = heard.strip_prefix("STATUS=") {
                return status.to_owned();
            }
        };
        within("the status", tokio::task::spawn_blocking(hears)).await.unwrap()
    }
}

async fn ended(service: Child) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = within("the end", service.wait_with_output()).await.unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[tokio::test]
async fn one_cause_is_logged_once_and_is_told_until_the_configuration_is_mended() {
    let board = Board::open().await;
    board.spoil();
    let (code, said) = ended(board.starts()).await;
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("colour"), "{said}");
    // Many starts later, the wait is a minute.
    let mark = fs::read_to_string(board.mark()).unwrap();
    fs::write(board.mark(), mark.replacen('1', "9", 1)).unwrap();
    let again = board.starts();
    let status = board.status().await;
    assert!(status.starts_with("cannot start: ") && status.contains("colour"), "{status}");
    assert!(status.contains("tries again in 60 s"), "{status}");
    // A verb is told the cause. A sale that was taken earlier may stand, so no answer says that it does not exist.
    let verb = |arguments: &[&str]| program(arguments).arg("--json").arg("--socket").arg(board.shop.socket()).output();
    for arguments in [&["status"][..], &["show", "one"], &["sale", "1.00"]] {
        let output = within("the verb", verb(arguments)).await.unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(said["error"]["code"], "no-answer", "{arguments:?}: {said}");
        assert!(said.to_string().contains("colour"), "{arguments:?}: {said}");
    }
    fs::write(board.shop.config(), &board.right).unwrap();
    assert_eq!(ended(again).await, (Some(78), String::new()));
    // The next start reads the mended file. A new fault then is the first one again.
    let mut right = board.starts();
    let runs = async {
        while board.mark().exists() {
            tokio::task::yield_now().await;
        }
    };
    within("the start", runs).await;
    right.kill().await.unwrap();
    board.spoil();
    let (code, said) = ended(board.starts()).await;
    assert!(code == Some(78) && said.contains("colour"), "{code:?} {said}");
}

#[tokio::test]
async fn a_person_who_restarts_the_service_is_told_the_cause_again() {
    let board = Board::open().await;
    board.spoil();
    assert_eq!(ended(board.starts()).await.0, Some(78));
    let again = board.starts();
    board.status().await;
    kill_process(Pid::from_raw(again.id().unwrap().cast_signed()).unwrap(), Signal::TERM).unwrap();
    let (code, said) = ended(again).await;
    assert!(code == Some(0) && !said.contains("colour"), "{code:?} {said}");
    let (code, said) = ended(board.starts()).await;
    assert!(code == Some(78) && said.contains("colour"), "{code:?} {said}");
}

/// Lists the files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()
}

#[tokio::test]
async fn root_does_not_run_the_agent_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user: not tested");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    chown(&data, Some(65534), Some(65534)).unwrap();
    // The folder below it does not exist yet, so the one above it counts.
    for journal in ["journal.db", "new/journal.db"] {
        let shop = Shop::open(Options { journal: Some(data.join(journal)), ..Options::default() }).await.unwrap();
        let run =
            program(&["run", "--config", shop.config().to_str().unwrap()]).stderr(Stdio::piped()).spawn().unwrap();
        let (code, said) = ended(run).await;
        assert_eq!(code, Some(77), "{said}");
        assert!(said.contains("belongs to nobody") && said.contains("runuser -u nobody -- pos-agent run"), "{said}");
        assert_eq!(files(&data), [] as [PathBuf; 0]);
    }
}

#[tokio::test]
async fn the_files_that_root_left_are_named_with_the_command() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user: not tested");
        return;
    }
    let shop = Shop::open(Options::default()).await.unwrap();
    let journal = shop.folder().join("journal.db");
    let agent = shop.folder().join("pos-agent");
    // Another process makes the copy, as in `crates/front/tests/front/verbs.rs`.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_pos-agent")).arg(&agent).status().await.unwrap();
    assert!(copied.success());
    for file in [shop.folder().to_owned()].into_iter().chain(files(shop.folder())) {
        chown(file, Some(65534), Some(65534)).unwrap();
    }
    drop(pos_journal::Journal::open(&journal).unwrap());
    let mut run = Command::new(agent);
    run.args(["run", "--config"]).arg(shop.config()).env_remove("CREDENTIALS_DIRECTORY").kill_on_drop(true);
    let (code, said) = ended(run.uid(65534).gid(65534).stderr(Stdio::piped()).spawn().unwrap()).await;
    assert_eq!(code, Some(74), "{said}");
    let (journal, lock) = (journal.display(), journal.with_extension("lock"));
    assert!(said.contains(&format!("chown 65534 {journal} {}", lock.display())), "{said}");
}
