//! The board. It boots the agent from the disk in its current state, with a separate clock, and runs it until the power
//! is cut.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Datelike, TimeDelta};
use pos_agent::agent::{self, AgentEnd, AnyBook, Surroundings};
use pos_agent::till::{ProgressLog, Wires};
use pos_agent::{config, overlay};
use pos_core::book::{Book, BookEntry};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::bank_server;
use super::cut_points::{Fate, PointKind};
use super::host_rules::HostRules;
use super::tills::Till;
use super::{World, cable, hardware};

/// The reason why a board stopped.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// All work was done, and then the power was switched off.
    Done,
    /// The plan cut the power.
    Cut,
    /// The agent ended in order to start again.
    Restarted,
    /// The agent failed to start, for this reason.
    NotStarted(String),
}

impl World {
    /// Boots the agent, lets `people` act, and switches off.
    pub fn boot<F>(&self, people: impl FnOnce(Till) -> F) -> End
    where
        F: Future<Output = ()>,
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let end = runtime.block_on(async {
            {
                let mut state = self.lock();
                state.dead = false;
                state.booted = Some(Instant::now());
            }
            let (sender, commands) = mpsc::channel(32);
            let progress = ProgressLog::new(256);
            let till = Till::new(self.clone(), sender, &progress);
            let loaded = overlay::begin(config::load_own(&write_config(self)).unwrap());
            let agent =
                agent::run_in(self.surroundings(), Wires { commands, progress }, loaded, std::future::pending());
            let agent = tokio::spawn(agent);
            tokio::spawn(bank_works(self.clone()));
            let end = tokio::select! {
                biased;
                () = self.0.died.notified() => End::Cut,
                ended = agent => match ended.unwrap() {
                    Ok(AgentEnd::Restart) => End::Restarted,
                    Ok(AgentEnd::Stopped) => End::NotStarted(String::new()),
                    Err(error) => End::NotStarted(error.to_string()),
                },
                () = people(till) => End::Done,
            };
            // The time is counted while the board's clock runs, because the world's time is the sum of all boards'
            // times.
            self.lock().points.rest();
            self.die();
            end
        });
        drop(runtime);
        // Takes the signal for this board's end, so that the next board does not get it.
        let _ = futures_now(self.0.died.notified());
        end
    }

    fn surroundings(&self) -> Surroundings {
        let (clock, world, random, link) = (self.clone(), self.clone(), self.clone(), self.clone());
        Surroundings {
            reader: Some(hardware::reader(self)),
            gateway: Some(cable::way(self)),
            link: Some(Arc::new(move || link.lock().no_link.then(|| "eth0".to_owned()))),
            printer: Some(hardware::printer(self)),
            board: Arc::new(move || DateTime::from_timestamp_millis(clock.lock().clock_ms()).unwrap_or_default()),
            random: Arc::new(move || Ok(random.lock().next_random())),
            book: Some(Arc::new(move |book| Box::new(BookOfTheWorld { book, world: world.clone() }))),
        }
    }

    /// Decides whether a write of the journal succeeds.
    fn may_write(&self) -> Result<(), pos_journal::Error> {
        let failed = |why: &str| Err(pos_journal::Error::Failed { cause: why.to_owned() });
        self.take_the_journal_away();
        if self.lock().disk_full {
            return failed("database or disk is full");
        }
        match self.pass(PointKind::Commit) {
            Fate::Happens => Ok(()),
            Fate::Last => {
                let mut state = self.lock();
                state.last_commit = true;
                // The disk's earlier state is kept, because unsynced data may be missing after a power cut.
                copy_disk(&self.journal_of(state.boots), &self.journal_before());
                Ok(())
            }
            Fate::Cut => failed("disk I/O error"),
            Fate::Dead => failed("no power"),
        }
    }

    /// Passes the cut point after a write, before any other action.
    fn has_written(&self) {
        self.take_the_journal_away();
        if std::mem::take(&mut self.lock().last_commit) {
            self.die();
        }
    }
}

/// The agent's journal. At every write, the power can be cut.
struct BookOfTheWorld<'a> {
    book: &'a mut AnyBook<'a>,
    world: World,
}

impl Book for BookOfTheWorld<'_> {
    type Error = pos_journal::Error;

    fn write(&mut self, unix_ms: i64, entries: &[BookEntry<'_>]) -> Result<Duration, pos_journal::Error> {
        self.world.may_write()?;
        let took = self.book.write(unix_ms, entries)?;
        self.world.has_written();
        Ok(took)
    }
}

/// The way in which the agent loses its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenAway {
    /// `rm journal.db*`.
    Wholly,
    /// Only its `-wal` file is removed.
    WalAlone,
    /// Another terminal's journal is moved over it.
    Replaced,
    /// A fresh copy of the journal is written over it, so the file itself stays the same.
    WrittenOver,
}

impl World {
    /// Makes the agent lose its journal at the nth point from now. Each commit has one point before it and one after
    /// it.
    pub fn takes_journal_away(&self, nth: usize, how: TakenAway) {
        self.lock().taken_away = Some((nth, how));
    }

    /// Returns whether the agent has lost its journal.
    pub fn was_taken_away(&self) -> bool {
        self.lock().taken_away.is_none()
    }

    fn take_the_journal_away(&self) {
        let mut state = self.lock();
        let how = match &mut state.taken_away {
            Some((0, how)) => *how,
            Some((nth, _)) => return *nth -= 1,
            None => return,
        };
        state.taken_away = None;
        let journal = self.journal_of(state.boots);
        drop(state);
        let name = |end: &str| format!("{}{end}", journal.display());
        match how {
            TakenAway::Wholly => ["", "-wal", "-shm"].iter().for_each(|end| fs::remove_file(name(end)).unwrap()),
            TakenAway::WalAlone => fs::remove_file(name("-wal")).unwrap(),
            TakenAway::WrittenOver => fs::write(&journal, fs::read(&journal).unwrap()).unwrap(),
            TakenAway::Replaced => {
                let other = self.folder().join("other.db");
                drop(pos_journal::Journal::open(&other).unwrap());
                fs::rename(&other, &journal).unwrap();
            }
        }
    }
}

/// Polls a future once, drops it, and returns whether it was ready.
fn futures_now(future: impl Future<Output = ()>) -> bool {
    let mut future = std::pin::pin!(future);
    let waker = std::task::Waker::noop();
    future.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_ready()
}

/// Carries out the bank's due work, even without requests.
async fn bank_works(world: World) {
    loop {
        let next = {
            let mut state = world.lock();
            state.bank_goes_on();
            let now = state.now();
            state.bank.next_late().map(|at| at.saturating_sub(now))
        };
        tokio::time::sleep(next.unwrap_or(Duration::from_secs(30)).max(Duration::from_millis(1))).await;
    }
}

/// Writes the files that all boards share.
pub(super) fn write_files(folder: &Path) {
    let private = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    private("gateway-token", "OGE4Mjk0MTc0YjdlY2IyODAxNGI5Njk5MjIwMDE1Y2N8c3k2S0pzVDg=");
    fs::write(folder.join("ca.pem"), bank_server::tls(0).0).unwrap();
}

/// The acquirer's terminal id.
pub const TERMINAL: &str = "12345678";

/// The shop's account at the gateway.
pub const ENTITY: &str = "8a8294174b7ecb28014b9699220015ca";

/// The configuration for a gateway that accepts each reference only once.
const OF_LITERAL: &str = "refuses-repeated-references = true\n";

fn write_config(world: &World) -> std::path::PathBuf {
    let folder = world.folder().display();
    let journal = world.journal();
    let fleet = world.lock().fleet.clone();
    let (literal, by_post, terminal, entity, reader) = {
        let state = world.lock();
        let reader = state.family.configuration("/dev/null");
        (state.bank.host_rules == HostRules::Literal, state.bank.asked_by_post, state.terminal, state.entity, reader)
    };
    let of_literal = if literal { OF_LITERAL } else { "" };
    let by_post = if literal && by_post { "query-method = \"POST\"\n" } else { "" };
    let text = format!(
        r#"[terminal]
id = "{terminal}"
merchant = ["Corner Shop"]
currency = "EUR"
card-timeout-s = 60
max-credit-amount = "1000.00"

{reader}

[gateway]
url = "https://bank.test"
entity-id = "{}"
token-file = "{folder}/gateway-token"
ca-file = "{folder}/ca.pem"
connect-timeout-ms = 5000
answer-timeout-ms = 10000

[gateway.brand-by-aid]
A000000003 = "VISA"

[gateway.assumptions]
absence-final-after-h = 1
{of_literal}{by_post}
[[printer]]
port = "/dev/zero"
columns = 42
status = false

[till]
socket = "{folder}/till.sock"

[close]
time-zone = "{}"

[journal]
path = "{}"
{fleet}"#,
        entity,
        time_zone(),
        journal.display()
    );
    let path = world.folder().join("config.toml");
    fs::write(&path, text).unwrap();
    path
}

/// Returns a time zone whose clock goes forward in the world's second night, and back three nights later. In the POSIX
/// format, `Jn` is the nth day of a year without a leap day.
fn time_zone() -> String {
    let day = |after: i64| {
        let at = DateTime::from_timestamp_millis(super::beginning_ms()).unwrap() + TimeDelta::days(after);
        let leap = u32::from(at.date_naive().leap_year() && at.ordinal() > 59);
        at.ordinal() - leap
    };
    format!("CET-1CEST,J{}/2,J{}/3", day(1), day(4))
}

/// Copies the disk in its current state: the database and its WAL.
pub(super) fn copy_disk(from: &Path, to: &Path) {
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        let (from, to) = (name(from), name(to));
        let Ok(mut file) = fs::File::open(&from) else { continue };
        let length = file.metadata().unwrap().len();
        let bytes = written(&mut file, length);
        let mut copy = fs::File::create(&to).unwrap();
        copy.write_all(&bytes).unwrap();
        copy.set_len(length).unwrap();
    }
}

/// Returns the written part of a file, which ends before a long run of zeros.
fn written(file: &mut fs::File, length: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(AT_ONCE * 6);
    while (bytes.len() as u64) < length {
        let start = bytes.len();
        file.take(AT_ONCE as u64).read_to_end(&mut bytes).unwrap();
        if bytes[start..].iter().all(|byte| *byte == 0) {
            bytes.truncate(start);
            break;
        }
    }
    bytes
}

/// The number of bytes copied in one step. It is longer than any gap between two written parts in a world.
const AT_ONCE: usize = 16 * 1024;

/// Copies a new journal with a WAL of full size and without entries. The journal is made only once, because that takes
/// longer than the transactions of a day.
pub(super) fn new_disk(to: &Path) {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    let database = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        drop(pos_journal::Journal::open(&path).unwrap());
        // VACUUM removes the pages that were used to extend the WAL.
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = DELETE; VACUUM; PRAGMA journal_mode = WAL;").unwrap();
        drop(connection);
        fs::read(&path).unwrap()
    });
    fs::write(to, database).unwrap();
    fs::File::create(format!("{}-wal", to.display())).unwrap().set_len(WAL_BYTES).unwrap();
}

/// The size to which the journal extends its WAL.
const WAL_BYTES: u64 = 1 << 20;

/// Makes the disk of a terminal that has been in use. Its WAL has older entries after the current ones.
pub(super) fn used_disk(to: &Path) {
    static MADE: OnceLock<Vec<(&str, Vec<u8>)>> = OnceLock::new();
    let files = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("used.db");
        let journal = pos_journal::Journal::open(&path).unwrap();
        let copy = folder.path().join("copy.db");
        copy_disk(&path, &copy);
        drop(journal);
        let read = |suffix: &str| fs::read(format!("{}{suffix}", copy.display())).unwrap();
        vec![("", read("")), ("-wal", read("-wal"))]
    });
    for (suffix, bytes) in files {
        fs::write(format!("{}{suffix}", to.display()), bytes).unwrap();
    }
}
