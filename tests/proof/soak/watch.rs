//! The resources that the process uses, read from outside: `/proc`, and the time that an honest till waits for an
//! answer. Prints a line for each minute.

use std::fs;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::terminal::Terminal;
use super::till::Tills;

const EVERY: Duration = Duration::from_millis(500);
const MINUTE: Duration = Duration::from_secs(60);
/// The time after which a process counts as warm. From then on, its memory must stay nearly the same.
const WARM: Duration = Duration::from_secs(45);
/// The limit `MemoryMax` of the unit file in KiB. The next constant is `TasksMax`.
const MOST_KIB: u64 = 64 * 1024;
const MOST_THREADS: u64 = 32;
/// The permitted growth of memory after a process is warm, in KiB. The allocator's pages and SQLite's cache need it.
const GROWTH_KIB: u64 = 4 * 1024;
/// The limit of open files: the connections of both interfaces, the journal and the devices.
const MOST_FILES: u64 = 128;

#[derive(Default)]
pub struct Watch {
    lines: Mutex<Vec<String>>,
    lives: Mutex<Vec<Life>>,
}

/// The measured values of one process.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    start: u32,
    age: Duration,
    warm_kib: u64,
    most_kib: u64,
    most_threads: u64,
    most_files: u64,
}

#[derive(Clone, Copy)]
struct Sample {
    kib: u64,
    threads: u64,
    files: u64,
}

impl Sample {
    /// Reads a process. Returns `None` if it has just ended.
    fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
        Some(Self { kib: field("VmRSS:")?, threads: field("Threads:")?, files: files.try_into().ok()? })
    }
}

/// Measures repeatedly until it is stopped.
pub async fn measure(watch: Arc<Watch>, terminal: Arc<Terminal>, tills: Arc<Tills>) {
    let (mut minute, mut life_began) = (Instant::now(), Instant::now());
    let mut waits: [Vec<Duration>; 2] = Default::default();
    let mut failed = [0; 2];
    let mut deals = 0;
    for passed in 1.. {
        while minute.elapsed() < MINUTE {
            let answers = tills.ask_for_status().await;
            for (at, answer) in answers.into_iter().enumerate() {
                match answer {
                    Some(wait) => waits[at].push(wait),
                    None => failed[at] += 1,
                }
            }
            let start = terminal.starts.load(Ordering::SeqCst);
            if let Some(sample) = terminal.pid().and_then(Sample::of) {
                watch.saw(start, sample, &mut life_began);
            }
            sleep(EVERY).await;
        }
        minute = Instant::now();
        let life = watch.lives.lock().unwrap().last().copied().unwrap_or_default();
        let now = terminal.pid().and_then(Sample::of);
        let (kib, threads, files) = now.map_or((0, 0, 0), |now| (now.kib, now.threads, now.files));
        let [socket, token] = waits.each_mut().map(|waits| quantiles(waits));
        let made = tills.deals().len();
        let line = format!(
            "minute {passed:3}: start {:2}, {kib:6} KiB (most {:6}), threads {threads:2}, files {files:3}, transactions {:4}, \
             status at the socket {socket}, with a token {token}, without an answer {}",
            life.start,
            life.most_kib,
            made - deals,
            failed.iter().sum::<u32>(),
        );
        println!("{line}");
        watch.lines.lock().unwrap().push(line);
        deals = made;
        waits = Default::default();
        failed = [0; 2];
    }
}

fn quantiles(waits: &mut [Duration]) -> String {
    waits.sort_unstable();
    let at = |part: usize| {
        let wait = waits.get((waits.len() * part / 100).min(waits.len().saturating_sub(1)));
        wait.copied().unwrap_or_default()
    };
    format!("median {:.1?}, 95 % {:.1?}, longest {:.1?}", at(50), at(95), at(100))
}

impl Watch {
    fn saw(&self, start: u32, sample: Sample, began: &mut Instant) {
        let mut lives = self.lives.lock().unwrap();
        if lives.last().is_none_or(|life| life.start != start) {
            *began = Instant::now();
            lives.push(Life { start, ..Life::default() });
        }
        let life = lives.last_mut().unwrap();
        life.age = began.elapsed();
        if life.age < WARM {
            life.warm_kib = life.warm_kib.max(sample.kib);
        }
        life.most_kib = life.most_kib.max(sample.kib);
        life.most_threads = life.most_threads.max(sample.threads);
        life.most_files = life.most_files.max(sample.files);
    }

    /// Prints each run of the agent.
    pub fn print(&self) {
        for life in self.lives.lock().unwrap().iter() {
            let Life { start, age, warm_kib, most_kib, most_threads, most_files } = life;
            println!(
                "start {start:2}: {:4} s, {warm_kib} KiB when warm, most {most_kib} KiB, threads {most_threads}, files {most_files}",
                age.as_secs()
            );
        }
    }

    /// Checks that no value has grown over time and that none exceeds the limits of the unit file.
    pub fn is_flat(&self) {
        let lives = self.lives.lock().unwrap();
        assert!(!lives.is_empty(), "the agent was never seen");
        for life in lives.iter() {
            assert!(
                life.most_kib <= MOST_KIB && life.most_threads <= MOST_THREADS && life.most_files <= MOST_FILES,
                "{life:?}"
            );
            assert!(life.age < WARM || life.most_kib <= life.warm_kib + GROWTH_KIB, "memory grows: {life:?}");
        }
    }
}
