//! A world in memory with virtual time, around a real agent. The agent's core, journal (in real files), recovery,
//! reader session and gateway client are the released code. The connections are in memory, hours pass in milliseconds,
//! and the power can be cut at any moment.
//!
//! ```text
//!   tills (tills.rs) ──▶ the agent, booted on a board (board.rs) ──▶ reader and printer (hardware.rs)
//!                              │            │
//!                       journal's files     └──▶ bank (bank.rs) behind TLS (bank_server.rs) on a cable (cable.rs)
//! ```
//!
//! The bank has one of three sets of rules (host_rules.rs): checked, permissive or literal. The simulated reader
//! includes the cardholder. disturbances.rs contains the random faults and their times.
//!
//! Every externally visible event passes a numbered point (cut_points.rs): a commit of the journal, a packet of the
//! reader, a phase of a request, a piece of paper, a message to a till. A plan names a number, and the power or the
//! connection is cut at that point. At a power cut, the disk keeps its current state, and all messages in transit are
//! lost. A new board boots from that disk. The bank continues with the requests that it has already read.
//!
//! `verdict.rs` is the judge. It reads the bank's requests and bookings (ledger.rs), the printed bytes and the messages
//! to the tills, but never the agent's data. The equation for the closes of day (closes.rs) follows the same rule.

pub mod asked;
pub mod bank;
pub mod bank_server;
pub mod board;
pub mod cable;
pub mod caisse_ap;
pub mod closes;
pub mod cloud;
pub mod cut_points;
pub mod disturbances;
pub mod hardware;
pub mod host_rules;
pub mod ledger;
pub mod nexo;
pub mod nexo_counter;
pub mod pcap;
pub mod tills;
pub mod verdict;
pub mod zvt;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pos_sim::reader::device::Device;
use pos_sim::reader::{self, AbortRace, Family, Script};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::time::Instant;

use bank::Bank;
use closes::HeardClose;
use cut_points::{Cut, Fate, Plan, PointKind, Points};
use hardware::Printer;
use tills::Wish;
use verdict::Verdict;

/// The world; all clones are the same world.
#[derive(Clone)]
pub struct World(Arc<Shared>);

pub struct Shared {
    state: Mutex<State>,
    /// Signals that the power was cut.
    died: Notify,
    /// Signals new bytes for the agent, or a change at the reader's device.
    pub reader_moves: Notify,
    folder: TempDir,
}

pub struct State {
    pub bank: Bank,
    /// The family of the reader.
    pub family: Family,
    pub device: Device,
    pub reader_plugged: bool,
    /// The number of times that the reader's cable was plugged in.
    plugs: u64,
    /// True if the power goes off after the current commit.
    last_commit: bool,
    pub printer: Printer,
    pub wishes: Vec<Wish>,
    /// The closes of day that a till has received.
    pub closes: Vec<HeardClose>,
    pub points: Points,
    pub verdict: Verdict,
    /// True while the power is off, when no action of the agent is visible.
    dead: bool,
    /// The virtual time of all earlier boards.
    before: Duration,
    booted: Option<Instant>,
    /// The error of the board's clock, in milliseconds; positive if it is ahead.
    pub clock_off_ms: i64,
    /// The number of commit points until the agent loses its journal, and the way in which it is lost.
    taken_away: Option<(usize, board::TakenAway)>,
    /// True if the disk is full.
    pub disk_full: bool,
    /// True if the network's cable is unplugged.
    pub no_link: bool,
    /// The terminal id in the board's configuration.
    pub terminal: &'static str,
    /// The section `[fleet]` in the board's configuration; empty if the terminal belongs to no fleet.
    pub fleet: String,
    /// The account at the gateway in the board's configuration.
    pub entity: &'static str,
    randoms: u64,
    /// The number of boots so far, which selects the disk.
    boots: usize,
}

/// The board's clock time at the beginning of the world: one day after the program was built.
const BEGINNING_AFTER_BUILD_MS: i64 = 24 * 3600 * 1000;

impl World {
    /// Opens a shop whose cardholder follows `script`.
    pub fn new(script: &str) -> Self {
        Self::with(Family::default(), AbortRace::AbortWins, script)
    }

    /// Opens the same shop with a reader of this family.
    pub fn of_family(family: Family, script: &str) -> Self {
        Self::with(family, AbortRace::AbortWins, script)
    }

    /// Opens a shop with a reader that resolves the race between an ABORT and a card in this way.
    pub fn with(family: Family, race: AbortRace, script: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("world").tempdir_in(memory()).unwrap();
        let options = reader::Options { family, removes_card: true, race, ..reader::Options::default() };
        let mut device = Device::new(options);
        device.run_script(script.parse::<Script>().unwrap(), Duration::ZERO);
        let state = State {
            bank: Bank::default(),
            family,
            device,
            reader_plugged: true,
            plugs: 0,
            last_commit: false,
            printer: Printer::default(),
            wishes: Vec::new(),
            closes: Vec::new(),
            points: Points::default(),
            verdict: Verdict::default(),
            dead: true,
            before: Duration::ZERO,
            booted: None,
            clock_off_ms: 0,
            taken_away: None,
            disk_full: false,
            no_link: false,
            terminal: board::TERMINAL,
            entity: board::ENTITY,
            randoms: 0,
            fleet: String::new(),
            boots: 0,
        };
        let world = Self(Arc::new(Shared {
            state: Mutex::new(state),
            died: Notify::new(),
            reader_moves: Notify::new(),
            folder,
        }));
        board::write_files(world.folder());
        board::new_disk(&world.journal_of(0));
        world
    }

    /// Gives the first board the disk of a terminal that has been in use.
    pub fn has_sold_before(&self) {
        board::used_disk(&self.journal_of(0));
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn folder(&self) -> &std::path::Path {
        self.0.folder.path()
    }

    pub fn reader_moves(&self) -> &Notify {
        &self.0.reader_moves
    }

    /// Passes a point, and returns the result for its event.
    pub fn pass(&self, place: PointKind) -> Fate {
        let mut state = self.lock();
        if state.dead {
            return Fate::Dead;
        }
        match state.points.pass(place) {
            None => Fate::Happens,
            Some(Cut::Line) => Fate::Cut,
            Some(Cut::PowerAfter) => Fate::Last,
            Some(Cut::PowerBefore) => {
                drop(state);
                self.die();
                Fate::Dead
            }
        }
    }

    /// Cuts the power. The disk keeps its current state.
    pub fn die(&self) {
        let mut state = self.lock();
        if state.dead {
            return;
        }
        state.dead = true;
        let lived = state.booted.take().map_or(Duration::ZERO, |booted| booted.elapsed());
        state.before += lived;
        let (from, to) = (self.journal_of(state.boots), self.journal_of(state.boots + 1));
        board::copy_disk(&from, &to);
        state.boots += 1;
        // The reader gets its power from the board.
        let now = state.before;
        state.device.unplugged();
        state.device.person_does(reader::PersonAction::Remove, now);
        while state.device.output().is_some() {}
        drop(state);
        self.0.died.notify_one();
    }

    pub fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// Returns the journal of this board, or of the next one if none is running.
    pub fn journal(&self) -> PathBuf {
        let boots = self.lock().boots;
        self.journal_of(boots)
    }

    fn journal_of(&self, boot: usize) -> PathBuf {
        self.folder().join(format!("journal-{boot}.db"))
    }

    /// Returns the disk's state before the commit after which the power was cut.
    pub fn journal_before(&self) -> PathBuf {
        self.folder().join("before.db")
    }

    /// Keeps a copy of the disk in its current state.
    pub fn keep_copy(&self) {
        board::copy_disk(&self.journal(), &self.kept());
    }

    /// Lets the next board boot from the kept copy.
    pub fn put_copy_back(&self) {
        assert!(self.is_dead(), "a copy is put back between two boards");
        board::copy_disk(&self.kept(), &self.journal());
    }

    /// Replaces the board. The next board has an empty journal, and no mark that the terminal has been in use.
    pub fn change_board(&self) {
        assert!(self.is_dead(), "a board is changed between two");
        for file in std::fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|end| end == "sold") {
                std::fs::remove_file(file).unwrap();
            }
        }
        board::new_disk(&self.journal());
    }

    fn kept(&self) -> PathBuf {
        self.folder().join("kept.db")
    }

    /// Returns the virtual time since the world began.
    pub fn now(&self) -> Duration {
        self.lock().now()
    }

    /// Lets time pass without a board.
    pub fn wait(&self, time: Duration) {
        let mut state = self.lock();
        state.before += time;
        state.bank_goes_on();
    }

    pub fn plan(&self, plan: Option<Plan>) {
        self.lock().points.plan(plan);
    }
}

impl State {
    pub fn now(&self) -> Duration {
        self.before + self.booted.map_or(Duration::ZERO, |booted| booted.elapsed())
    }

    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// Returns the number of this board, counted over all boots from the disk.
    pub fn board(&self) -> usize {
        self.boots
    }

    /// Returns 128 bits that are unique among the transactions of this world.
    fn next_random(&mut self) -> [u8; 16] {
        let mut dice = disturbances::Dice::new(self.randoms);
        self.randoms += 1;
        let mut random = [0; 16];
        random[..8].copy_from_slice(&dice.roll().to_be_bytes());
        random[8..].copy_from_slice(&dice.roll().to_be_bytes());
        random
    }

    /// Returns the time of the board's clock.
    pub fn clock_ms(&self) -> i64 {
        let since = i64::try_from(self.now().as_millis()).unwrap_or(i64::MAX);
        beginning_ms() + since + self.clock_off_ms
    }
}

/// Returns the time at which every world begins.
pub fn beginning_ms() -> i64 {
    static BEGINNING: std::sync::OnceLock<i64> = std::sync::OnceLock::new();
    *BEGINNING.get_or_init(|| chrono::Utc::now().timestamp_millis() + BEGINNING_AFTER_BUILD_MS)
}

/// Returns a folder in a memory file system, if there is one.
fn memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}
