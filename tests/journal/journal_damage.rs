//! A journal that is damaged, full or read-only. The agent takes no new payment, says what to do, and does not
//! overwrite a single byte of the journal. The tests use real files. The tests of the agent's start use the real
//! program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::book::{self, NOON, asked, file, leave_open, open, open_journal, said, sell, sql, started, well};
use crate::counter::{self, Counter};
use pos_agent::till::{Attention, JournalState};
use pos_journal::Error;
use pos_sim::shop::Options;
use pos_terms::transaction::{Reference, SaleNumber};
use pos_test_kit::within;
use tempfile::TempDir;

/// Returns a journal after a power cut. Most of it is in the file, and the last four commits are only in the WAL.
fn cut() -> TempDir {
    let (made, cut) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut db = open(&file(&made));
    for number in 1..=40 {
        sell(&mut db, number, &format!("R{number}"), NOON);
    }
    db.checkpoint().unwrap();
    leave_open(&mut db, 41, "open", NOON);
    db.write(SaleNumber::new(42), 0, NOON, &[started(42, "waiting")]).unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        fs::copy(made.path().join(name), cut.path().join(name)).unwrap();
    }
    cut
}

/// Returns the same journal after an orderly shutdown, as one file.
fn whole() -> TempDir {
    let dir = cut();
    drop(open(&file(&dir)));
    assert!(!wal(&dir).exists());
    dir
}

fn wal(dir: &TempDir) -> PathBuf {
    dir.path().join("journal.db-wal")
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Reads the bytes of the journal and its WAL. An empty WAL counts as none, because SQLite creates one when it reads.
fn bytes(folder: &Path) -> [Option<Vec<u8>>; 2] {
    let [journal, wal] = ["journal.db", "journal.db-wal"].map(|name| fs::read(folder.join(name)).ok());
    [journal, wal.filter(|wal| !wal.is_empty())]
}

type Damage = (&'static str, fn() -> TempDir, fn(&TempDir), &'static str);

/// The damage | the undamaged journal | the function that damages it | the text of the error.
const DAMAGES: &[Damage] = &[
    ("no bytes", whole, |dir| fs::write(file(dir), "").unwrap(), "it is empty, 0 bytes long"),
    ("no database", whole, |dir| fs::write(file(dir), "a shopping list ".repeat(1000)).unwrap(), "not a database"),
    ("random bytes", whole, |dir| change(&file(dir), |bytes| bytes.fill(0xA5)), "not a database"),
    ("zeros", whole, |dir| change(&file(dir), |bytes| bytes.fill(0)), "no"),
    ("cut in the middle", whole, |dir| change(&file(dir), |bytes| bytes.truncate(bytes.len() / 2)), "malformed"),
    ("cut behind its first page", whole, |dir| change(&file(dir), |bytes| bytes.truncate(4096)), "malformed"),
    ("a flipped byte in its head", whole, |dir| change(&file(dir), |bytes| bytes[3] ^= 0x10), "not a database"),
    ("the page of the sales", whole, |dir| page(dir, "sale"), "malformed"),
    ("the page of the steps", whole, |dir| page(dir, "step"), "malformed"),
    ("an open sale's record", whole, |dir| flip(dir, b"\"no answer\"}", b'}'), "cannot be read"),
    ("no file, and its WAL", cut, |dir| fs::remove_file(file(dir)).unwrap(), "it is missing, but its -wal file exists"),
    ("a WAL of garbage", cut, |dir| change(&wal(dir), |bytes| bytes.fill(0xA5)), "has a wrong beginning"),
    ("a flipped byte in the WAL's head", cut, |dir| change(&wal(dir), |bytes| bytes[17] ^= 1), "has a wrong beginning"),
    (
        "a flipped byte in the WAL",
        cut,
        |dir| change(&wal(dir), |bytes| bytes[32 + 24 + 100] ^= 1),
        "damaged before its last commits",
    ),
    (
        "another program's database",
        whole,
        |dir| {
            fs::remove_file(file(dir)).unwrap();
            sql(&file(dir), "CREATE TABLE notes(text TEXT)");
        },
        "it is not a journal of pos-agent",
    ),
];

/// Overwrites the first page of a table.
fn page(dir: &TempDir, table: &str) {
    let page = book::number(&file(dir), &format!("SELECT rootpage FROM sqlite_master WHERE name = '{table}'"));
    let at = usize::try_from(page - 1).unwrap() * 4096;
    change(&file(dir), |bytes| bytes[at..at + 4096].fill(0xA5));
}

/// Flips the last byte of the first occurrence of these bytes.
fn flip(dir: &TempDir, what: &[u8], last: u8) {
    change(&file(dir), |bytes| {
        let at = bytes.windows(what.len()).position(|bytes| bytes == what).unwrap();
        assert_eq!(bytes[at + what.len() - 1], last);
        bytes[at + what.len() - 1] ^= 1;
    });
}

#[test]
fn a_damaged_journal_is_refused_with_its_remedy_and_not_one_byte_is_overwritten() {
    for (what, before, damage, says) in DAMAGES {
        let dir = before();
        damage(&dir);
        let before = bytes(dir.path());
        let error = open_journal(&file(&dir)).err().unwrap_or_else(|| panic!("{what}: it was opened"));
        let text = error.to_string();
        assert!(text.contains(says) && text.contains("ask for support"), "{what}: {text}");
        assert!(matches!(error, Error::Damaged { .. } | Error::Unreadable { .. }), "{what}: {error:?}");
        assert!(bytes(dir.path()) == before, "{what}: the journal was changed");
        // A second try does not overwrite anything either.
        assert!(open_journal(&file(&dir)).is_err(), "{what}");
        assert!(bytes(dir.path()) == before, "{what}: the journal was changed by the second try");
    }
}

#[tokio::test]
async fn the_agent_does_not_start_on_a_damaged_journal() {
    let counter = Counter::closed(Options::default()).await;
    let journal = counter.shop.folder().join("journal.db");
    for (what, before, damage, says) in DAMAGES {
        let dir = before();
        damage(&dir);
        for name in ["journal.db", "journal.db-wal"] {
            let _ = fs::remove_file(journal.with_file_name(name));
            let _ = fs::copy(dir.path().join(name), journal.with_file_name(name));
        }
        let before = bytes(counter.shop.folder());
        let output = run(&counter).await;
        assert_eq!(output.status.code(), Some(74), "{what}: {}", said(&output));
        assert!(said(&output).contains(says), "{what}: {}", said(&output));
        assert!(bytes(counter.shop.folder()) == before, "{what}: the journal was changed");
    }
    assert_eq!(counter.shop.gateway.counters().connections, 0);
}

async fn run(counter: &Counter) -> Output {
    let config = counter.shop.config();
    let mut run = counter::till::program(&["run", "--config", config.to_str().unwrap()]);
    within("the end of run", run.output()).await.unwrap()
}

#[test]
fn what_a_power_cut_leaves_is_no_damage() {
    // The last transaction is torn. Only the step that was never acknowledged is lost.
    type Torn = (&'static str, fn(&mut Vec<u8>));
    let torn: &[Torn] = &[
        ("nothing", |_| {}),
        ("a frame of the last transaction", |bytes| {
            let last = last_frame(bytes);
            bytes[last + 24 + 50] ^= 1;
        }),
        ("the last frame cut", |bytes| bytes.truncate(last_frame(bytes) + 1000)),
    ];
    for (what, tear) in torn {
        let dir = cut();
        change(&wal(&dir), tear);
        let (_, opened) = open_journal(&file(&dir)).unwrap();
        let open: Vec<_> = opened.unsettled.iter().map(|sale| sale.order().reference.clone()).collect();
        let wanted: &[&str] = if *what == "nothing" { &["open", "waiting"] } else { &["open"] };
        assert_eq!(open, wanted, "{what}");
        well(&file(&dir));
    }
    // A WAL was created but not written, or not yet synced.
    for left in [Vec::new(), vec![0; 4096], vec![0; 7]] {
        let dir = whole();
        fs::write(wal(&dir), &left).unwrap();
        assert_eq!(open_journal(&file(&dir)).unwrap().1.unsettled.len(), 2);
    }
    // The creation of a new journal was interrupted.
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("journal.db.new"), "half a jour").unwrap();
    assert_eq!(open_journal(&file(&dir)).unwrap().1.last_number, SaleNumber::new(0));
}

/// Returns the offset of the last frame in the WAL's current generation.
fn last_frame(bytes: &[u8]) -> usize {
    let frames = (0..).map(|n| 32 + n * (24 + 4096)).take_while(|at| at + 24 + 4096 <= bytes.len());
    frames.take_while(|at| bytes[at + 8..at + 16] == bytes[16..24]).last().unwrap()
}

#[test]
fn a_damaged_page_that_is_met_later_stops_that_sale_and_no_other_byte_changes() {
    let dir = whole();
    // The row of the first sale is unreadable. The rows of open transactions are readable.
    sql(&file(&dir), "UPDATE step SET records = '[{\"kind\":\"started\"' WHERE id = 1 << 20");
    let (journal, opened) = open_journal(&file(&dir)).unwrap();
    assert_eq!(opened.unsettled.len(), 2);
    let error = journal.find("till-1", &Reference::parse("R1").unwrap()).unwrap_err();
    assert!(error.to_string().contains("keep the file and ask for support"), "{error}");
    assert!(journal.find("till-1", &Reference::parse("R2").unwrap()).unwrap().is_some());
}

#[tokio::test]
async fn on_a_full_disk_the_agent_does_not_start_and_a_running_one_takes_no_sale_until_there_is_room() {
    let counter = Counter::closed(Options::default()).await;
    let journal = counter.shop.folder().join("journal.db");
    sell(&mut open(&journal), 1, "one", NOON);
    let before = bytes(counter.shop.folder());
    // For SQLite, a file that may not grow is the same as a full disk.
    let config = counter.shop.config();
    let limited = format!(
        "trap '' XFSZ; ulimit -f 100; exec {} run --config {}",
        env!("CARGO_BIN_EXE_pos-agent"),
        config.to_str().unwrap()
    );
    let mut shell = tokio::process::Command::new("sh");
    let output = within("the end of run", shell.args(["-c", &limited]).kill_on_drop(true).output()).await.unwrap();
    assert_eq!(output.status.code(), Some(74), "{}", said(&output));
    assert!(
        said(&output).contains("check that its folder exists, is writable and has free space"),
        "{}",
        said(&output)
    );
    assert!(bytes(counter.shop.folder())[0] == before[0], "the journal was changed");

    let unlimited = limited.replace("ulimit -f 100; ", "");
    let mut shell = tokio::process::Command::new("sh");
    let mut agent = shell.args(["-c", &unlimited]).kill_on_drop(true).spawn().unwrap();
    counter.until_ready().await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(agent.id().unwrap()).unwrap());
    let limit = |current: Option<u64>| {
        let limit = rustix::process::Rlimit { current, maximum: None };
        rustix::process::prlimit(pid, rustix::process::Resource::Fsize, limit).unwrap();
    };
    limit(Some(4096));
    let (status, body) = counter.begin("R1", "12.34").await;
    assert_eq!((status, body["code"].as_str()), (503, Some("journal")), "{body}");
    let status = counter.status().await;
    assert!(!status.ready && status.needs(Attention::JournalCannotBeWritten), "{status:?}");
    assert_eq!(status.journal.state, JournalState::CannotBeWritten);
    // This wait is longer than the pause between tries. A successful read does not make the journal writable.
    let asked = tokio::time::Instant::now();
    while asked.elapsed() < std::time::Duration::from_secs(6) {
        let status = counter.status().await;
        assert!(!status.ready && status.journal.state == JournalState::CannotBeWritten, "{status:?}");
    }
    assert!(
        counter.shop.gateway.counters().requests <= 3,
        "more than the probe of the start, the token's, and the look for an old copy"
    );
    limit(None);
    counter.until_ready().await;
    // The same reference is sent again and written for the first time.
    let (status, body) = counter.begin("R1", "12.34").await;
    assert_eq!(status, 201, "{body}");
    agent.kill().await.unwrap();
    let verdict = well(&journal);
    assert_eq!(verdict.transactions, 2);
}

/// Checks that the agent goes on when the log cannot be written, whether the log is on another disk or on the full one.
#[tokio::test]
async fn a_log_that_cannot_be_written_stops_nothing() {
    let counter = Counter::closed(Options::default()).await;
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let mut agent = tokio::process::Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    agent.args(["run", "--log", "trace", "--config"]).arg(counter.shop.config()).stdout(full()).stderr(full());
    let mut agent = agent.kill_on_drop(true).spawn().unwrap();
    counter.until_ready().await;
    let (status, body) = counter.begin("R1", "12.34").await;
    assert_eq!(status, 201, "{body}");
    assert_eq!(agent.try_wait().unwrap(), None, "it ended by itself");
}

#[test]
fn a_journal_that_this_user_may_not_write_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user: not tested");
        return;
    }
    let (dir, old) = (whole(), TempDir::new().unwrap());
    sell(&mut open(&file(&old)), 1, "old", NOON);
    let program = dir.path().join("pos-agent");
    crate::program::copied_to(&program);
    for (path, mode) in [(dir.path(), 0o755), (&program, 0o755), (old.path(), 0o755), (&file(&dir), 0o644)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let before = bytes(dir.path());
    let adopt = |says: &str| {
        let mut command = std::process::Command::new(&program);
        command.args(["journal", "adopt"]).arg(file(&old)).arg("--journal").arg(file(&dir)).uid(65534).gid(65534);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(74), "{}", said(&output));
        assert!(said(&output).contains(says) && said(&output).contains("is writable"), "{}", said(&output));
        assert!(bytes(dir.path()) == before);
    };
    // The folder is read-only. Later only the file is.
    adopt("cannot be opened");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::remove_file(dir.path().join("journal.lock")).unwrap();
    adopt("it is read-only");
}

#[test]
fn a_sale_in_a_journal_that_cannot_be_read_cannot_begin_anew() {
    let dir = whole();
    let mut db = open(&file(&dir));
    // The key exists even without its steps.
    sql(&file(&dir), "DELETE FROM step WHERE sale = 41");
    assert!(db.find("till-1", &Reference::parse("open").unwrap()).is_err());
    assert!(db.write(SaleNumber::new(50), 0, NOON, &[started(50, "open")]).is_err());
    db.write(SaleNumber::new(51), 0, NOON, &[started(51, "new")]).unwrap();
    db.write(SaleNumber::new(51), 1, NOON, &[asked()]).unwrap();
}
