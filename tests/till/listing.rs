//! Many simultaneous long lists of a long journal, against the real program: its memory and its number of threads.

use crate::book;
use std::sync::Arc;

use crate::program::{Terminal, get, own_address, token};
use pos_journal::Db;
use pos_sim::shop::Options;

const SALES: u64 = 3000;
/// The highest permitted memory in KiB. The service's unit permits 64 MiB.
const MOST_KIB: u64 = 24 * 1024;
/// The permitted growth in KiB. A list consists of two or three pages of 40 KiB. The agent reads at most as many lists
/// at a time as there are tills.
const MORE_THAN_IDLE_KIB: u64 = 8 * 1024;
/// The maximum number of threads, which the service's unit sets (`TasksMax`).
const MOST_THREADS: u64 = 32;

#[tokio::test]
async fn many_long_lists_at_once_take_little_memory_and_few_threads() {
    // The journal is in memory: on a slow disk, a sync after each step takes minutes, and this test does not need it.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let journal = book::file(&folder);
    {
        let mut db = Db::open(&journal).unwrap().0;
        for number in 1..=SALES {
            book::sell(&mut db, number, &format!("reference-{number}"), book::NOON);
        }
    }
    let options = Options { journal: Some(journal), ..Options::default() };
    let terminal = Arc::new(Terminal::start(options, own_address(3)).await);
    terminal.until_status("a ready terminal", |status| status.ready).await;
    let idle = terminal.in_proc("VmHWM");
    // The till and the socket request all lists at the same time. A refused list is requested again.
    let lists: Vec<_> = (0..32)
        .map(|n| {
            let terminal = Arc::clone(&terminal);
            tokio::spawn(async move {
                let path = format!("/v1/sales?limit=1000&since={}", n % 3 * 1000);
                let mut refused = 0;
                loop {
                    let answer = match n % 4 {
                        0 => terminal.at_port(&get(&path, &token())).await,
                        _ => terminal.at_socket(&get(&path, "")).await,
                    };
                    if answer.0 == 429 {
                        refused += 1;
                        continue;
                    }
                    let sales = answer.json()["sales"].as_array().unwrap().len();
                    assert_eq!((answer.0, sales), (200, 1000), "{path}");
                    return refused;
                }
            })
        })
        .collect();
    let mut refused = 0;
    for list in lists {
        refused += list.await.unwrap();
    }
    let [most, own, threads] = ["VmHWM", "RssFile", "Threads"].map(|line| terminal.in_proc(line));
    let told =
        format!("idle {idle} kB, at most {most} kB, of it the program {own} kB; {threads} threads; {refused} refused");
    // The pages of the program's own file do not count. In an unoptimised build they take about 22 MB, and the system
    // may drop them.
    assert!(most - own < MOST_KIB, "{told}");
    assert!(most - idle < MORE_THAN_IDLE_KIB, "{told}");
    assert!(threads < MOST_THREADS, "{told}");
    eprintln!("{told}");
}
