//! A world of memory and virtual time around a real agent: its core, its journal on real files, its recovery, the
//! reader's session and the gateway's client run as they ship; the wires are memory, the hours pass in milliseconds,
//! and the power can be cut at any moment.
//!
//! ```text
//!   tills (tills.rs) ──▶ the agent, booted on a board (board.rs) ──▶ reader and printer (hardware.rs)
//!                              │            │
//!                       journal's files     └──▶ bank (bank.rs) behind TLS (bank_server.rs) on a cable (cable.rs)
//! ```
//!
//! The bank's host has one of three sets of rules (host_rules.rs): one checks what it books, one books whatever it is
//! told, one takes the interface at its word. The cardholder is the simulated reader's. What goes wrong at random, and
//! when, is in disturbances.rs.
//!
//! Everything that can be seen from outside passes a numbered point (cut_points.rs): a commit of the journal, a frame
//! of the reader, a phase of a request, a piece of paper, a message to a till. A plan names a number, and there the
//! power or the line is cut. When the power is cut the disk is kept as it is in that moment, everything on its way is
//! lost, and a new board boots from that disk. What the bank has read it goes on with.
//!
//! `verdict.rs` is the judge. It reads what the bank was asked for and booked (ledger.rs), the printed bytes and what
//! the tills were told, and never the agent. So is the equation of the closes of day (closes.rs).

pub mod asked;
pub mod bank;
pub mod bank_server;
pub mod board;
pub mod cable;
pub mod closes;
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
use pos_sim::reader::{self, AbortRace, Script};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::time::Instant;

use bank::Bank;
use closes::HeardClose;
use cut_points::{Cut, Fate, Place, Plan, Points};
use hardware::Printer;
use tills::Wish;
use verdict::Verdict;

/// The world; clones are the same one.
#[derive(Clone)]
pub struct World(Arc<Shared>);

pub struct Shared {
    state: Mutex<State>,
    /// The power was cut.
    died: Notify,
    /// Bytes for the agent are there, or the reader's device was touched.
    pub reader_moves: Notify,
    folder: TempDir,
}

pub struct State {
    pub bank: Bank,
    pub device: Device,
    pub reader_plugged: bool,
    /// How often its cable was put in.
    plugs: u64,
    /// The commit that is being written is the last thing before the power is gone.
    last_commit: bool,
    pub printer: Printer,
    pub wishes: Vec<Wish>,
    /// The closes of day that a till was told of.
    pub closes: Vec<HeardClose>,
    pub points: Points,
    pub verdict: Verdict,
    /// No power: nothing that the agent does is seen any more.
    dead: bool,
    /// Virtual time of all boards before this one.
    before: Duration,
    booted: Option<Instant>,
    /// What the board's clock shows too much, in milliseconds.
    pub clock_off_ms: i64,
    /// After so many moments of commits the journal is taken away.
    taken_away: Option<(usize, board::TakenAway)>,
    /// The disk takes nothing.
    pub disk_full: bool,
    /// The terminal id that the board is set up with.
    pub terminal: &'static str,
    /// The account at the gateway that the board is set up with.
    pub entity: &'static str,
    randoms: u64,
    /// The disk of the next board.
    boots: usize,
}

/// What the board's clock shows when the world begins: after the program was built, whenever that was.
const BEGINNING_AFTER_BUILD_MS: i64 = 24 * 3600 * 1000;

impl World {
    /// A shop that opens. The cardholder follows `script`.
    pub fn new(script: &str) -> Self {
        Self::with(AbortRace::AbortWins, script)
    }

    /// The same, with a reader in which a cancel meets the card in this way.
    pub fn with(race: AbortRace, script: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("world").tempdir_in(memory()).unwrap();
        let options = reader::Options { removes_card: true, race, ..reader::Options::default() };
        let mut device = Device::new(options);
        device.run_script(script.parse::<Script>().unwrap(), Duration::ZERO);
        let state = State {
            bank: Bank::default(),
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
            terminal: board::TERMINAL,
            entity: board::ENTITY,
            randoms: 0,
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

    /// Its first board has the disk of one that has sold for a while.
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

    /// Passes a point: what becomes of what is about to happen there.
    pub fn pass(&self, place: Place) -> Fate {
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

    /// The power is cut: the disk stays as it is now.
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
        // The reader hangs on the board's power.
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

    /// The journal of this board, or of the next one when there is none.
    pub fn journal(&self) -> PathBuf {
        let boots = self.lock().boots;
        self.journal_of(boots)
    }

    fn journal_of(&self, boot: usize) -> PathBuf {
        self.folder().join(format!("journal-{boot}.db"))
    }

    /// The disk as it was before the commit after which the power was cut.
    pub fn journal_before(&self) -> PathBuf {
        self.folder().join("before.db")
    }

    /// Keeps a copy of the disk as it is now.
    pub fn keep_copy(&self) {
        board::copy_disk(&self.journal(), &self.kept());
    }

    /// The next board boots from the copy that was kept.
    pub fn put_copy_back(&self) {
        assert!(self.is_dead(), "a copy is put back between two boards");
        board::copy_disk(&self.kept(), &self.journal());
    }

    /// The next board is another one: with an empty journal, and without a mark that the terminal has sold.
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

    /// Virtual time since the world began.
    pub fn now(&self) -> Duration {
        self.lock().now()
    }

    /// Time passes without a board.
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

    /// Which board this is, of all that were booted from the disk.
    pub fn board(&self) -> usize {
        self.boots
    }

    /// 128 bits that no other sale of this world has.
    fn next_random(&mut self) -> [u8; 16] {
        let mut dice = disturbances::Dice::new(self.randoms);
        self.randoms += 1;
        let mut random = [0; 16];
        random[..8].copy_from_slice(&dice.roll().to_be_bytes());
        random[8..].copy_from_slice(&dice.roll().to_be_bytes());
        random
    }

    /// What the board's clock shows.
    pub fn clock_ms(&self) -> i64 {
        let since = i64::try_from(self.now().as_millis()).unwrap_or(i64::MAX);
        beginning_ms() + since + self.clock_off_ms
    }
}

/// The moment at which every world begins.
pub fn beginning_ms() -> i64 {
    static BEGINNING: std::sync::OnceLock<i64> = std::sync::OnceLock::new();
    *BEGINNING.get_or_init(|| chrono::Utc::now().timestamp_millis() + BEGINNING_AFTER_BUILD_MS)
}

/// A file system in memory, where there is one.
fn memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}
