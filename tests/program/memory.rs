//! The memory of a running agent is private: another process of the same user can read neither the memory nor the
//! environment. The test checks the effect of `PR_SET_DUMPABLE`: the process's files in `/proc` belong to root, not to
//! its user.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pos_sim::shop::{Options, Shop};

/// The user id of `nobody`.
const OTHER: u32 = 65534;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn as_other(program: impl AsRef<std::ffi::OsStr>, is_root: bool) -> Command {
    let mut command = Command::new(program);
    if is_root {
        command.uid(OTHER).gid(OTHER);
    }
    command
}

fn give_away(path: &Path) {
    for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
        // The link for the reader leads to a device.
        if entry.file_type().unwrap().is_file() {
            chown(entry.path(), Some(OTHER), Some(OTHER)).unwrap();
        }
    }
    chown(path, Some(OTHER), Some(OTHER)).unwrap();
}

#[tokio::test]
async fn no_process_of_the_same_user_looks_into_the_agents_memory() {
    let is_root = rustix::process::geteuid().is_root();
    let shop = Shop::open(Options::default()).await.unwrap();
    // Another user may be unable to enter the program's own folder.
    let program = shop.folder().join("pos-agent");
    crate::program::copied_to(&program);
    if is_root {
        give_away(shop.folder());
    }
    let mut agent = as_other(&program, is_root);
    agent.arg("run").arg("--config").arg(shop.config()).env("RUST_LOG", "info").stderr(Stdio::piped());
    let mut agent = Running(agent.spawn().unwrap());
    let id = agent.0.id();
    let log = BufReader::new(agent.0.stderr.take().unwrap());
    let mut seen = Vec::new();
    let is_up = tokio::task::spawn_blocking(move || {
        log.lines().map_while(Result::ok).any(|line| {
            let is_up = line.contains("tills are served");
            seen.push(line);
            is_up
        })
    });
    assert!(is_up.await.unwrap(), "the agent ended before it was up");

    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next()).unwrap();
    assert_ne!(user, "0", "the agent runs as another user");
    for name in ["environ", "mem"] {
        let file = format!("/proc/{id}/{name}");
        assert_eq!(fs::metadata(&file).unwrap().uid(), 0, "{file} is root's");
        let read = as_other("head", is_root).args(["-c", "1", &file]).stderr(Stdio::null()).output().unwrap();
        assert!(!read.status.success() && read.stdout.is_empty(), "{file} was read by another process of user {user}");
    }
}
