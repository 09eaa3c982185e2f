//! Trust in readers, over real connections. A reader that is not listed gets no request for a card. A reader that
//! differs from the earlier one, or has another configuration, is recorded, reported and shown.

use crate::counter::till::program;
use crate::counter::{Counter, ended};
use pos_agent::till::{Attention, ReaderState, StatusView};
use pos_journal::Db;
use pos_sim::reader::{CardEntry, Script};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use rusqlite::{Connection, OpenFlags};

/// Commands that make the reader read a card.
const FOR_A_CARD: [u16; 2] = [0xDEC1, 0xDED1];

fn listing(serials: &str) -> Options {
    let config = vec![("[reader]\n".to_owned(), format!("[reader]\nserials = {serials}\n"))];
    Options { config, ..Options::default() }
}

fn script(text: &str) -> Script {
    text.parse().unwrap()
}

async fn doctor(counter: &Counter) -> String {
    let mut doctor = program(&["doctor", "--config"]);
    let output = doctor.arg(counter.shop.config()).output().await.unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the journal's marks that name a reader.
fn marks(counter: &Counter) -> Vec<String> {
    let path = counter.shop.folder().join("journal.db");
    let journal = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut marks =
        journal.prepare("SELECT what FROM mark WHERE what LIKE '%\"is\":\"reader\"%' ORDER BY entry").unwrap();
    marks.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn a_reader_that_is_not_listed_is_asked_for_no_card() {
    let mut counter = Counter::closed(listing("[\"30003639\", \"30003640\"]")).await;
    counter.start_agent();
    let refused = "reader 30003638 is not in serials in [reader] and is not used";
    let not_listed = |status: &StatusView| status.needs(Attention::ReaderNotListed);
    let status = counter.until_status("that it is refused", not_listed).await;
    let reader = &status.reader;
    assert!(!status.ready && reader.state == ReaderState::NotListed && reader.serial.is_none(), "{status:?}");
    assert!(reader.text.starts_with(refused), "{status:?}");
    let (status, answer) = counter.begin("s", "12.34").await;
    assert!(status >= 400 && answer["detail"].as_str().unwrap().contains(refused), "{status} {answer}");
    let commands = counter.shop.reader.counters().commands;
    assert!(!commands.iter().any(|command| FOR_A_CARD.contains(command)), "{commands:04X?}");
    let report = doctor(&counter).await;
    assert!(report.contains(refused), "{report}");

    // The listed reader replaces the other one.
    counter.shop.reader.run_script(script("after 0ms: serial 30003640"));
    counter.until_ready().await;
    counter.sell("s", "12.34", "tap", CardEntry::Tap).await;
    assert_eq!(ended(&counter.until_ended("s").await), Some(OutcomeWord::Approved));
}

#[tokio::test]
async fn another_reader_and_another_configuration_are_recorded_told_and_shown() {
    let mut counter = Counter::open().await;
    let details = counter.status().await.reader;
    assert_eq!((details.serial.as_deref(), details.changed), (Some("30003638"), None));
    let files: Vec<_> = details.configuration.iter().map(|file| format!("{} {}", file.name, file.version)).collect();
    assert_eq!(files, ["ARQCDOL.CFG 1", "TCDOL.CFG 1", "AACDOL.CFG 1", "P2PEDOL.CFG 1"]);
    assert_eq!(marks(&counter).len(), 1, "{:?}", marks(&counter));
    let report = doctor(&counter).await;
    assert!(
        report.contains("the reader's configuration: ARQCDOL.CFG 1, TCDOL.CFG 1")
            && !report.contains("the reader changed"),
        "{report}"
    );

    // A restart of the same reader causes no report.
    counter.shop.reader.run_script(script("after 0ms: reboot 1ms"));
    counter.until_status("the restart", |status| !status.ready).await;
    counter.until_ready().await;
    assert_eq!(marks(&counter).len(), 1);

    let mut ears = counter.listen().await;
    counter.shop.reader.run_script(script("after 0ms: version TCDOL.CFG 2, version emv.cfg 7, reboot 1ms"));
    let what = "TCDOL.CFG has version 2 instead of 1, emv.cfg 7 is new";
    let changed = |status: &StatusView| status.reader.changed.as_deref() == Some(what);
    counter.until_status("another configuration", changed).await;
    let told = async {
        loop {
            let step = ears.next().await;
            if step.step == "reader-changed" {
                return step.text;
            }
        }
    };
    assert!(pos_test_kit::within("that the change is told", told).await.contains(what));
    assert_eq!(marks(&counter).len(), 2);

    // After a restart of the agent, the report is still there. The change is not recorded again.
    counter.stop_agent().await;
    counter.start_agent();
    let status = counter.until_status("ready again", |status| status.ready).await;
    assert!(changed(&status) && status.reader.changed_at.is_some());
    assert_eq!(marks(&counter).len(), 2);

    counter.shop.reader.run_script(script("after 0ms: serial 30003639, reboot 1ms"));
    let other = "serial number 30003639 instead of 30003638";
    let is_other = |status: &StatusView| status.reader.changed.as_deref() == Some(other);
    counter.until_status("another reader", is_other).await;
    let report = doctor(&counter).await;
    assert!(report.contains("the reader changed at 20") && report.contains(other), "{report}");
    let shown = counter.verb(&["status"]).await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("configuration ARQCDOL.CFG 1, TCDOL.CFG 2") && shown.contains(other), "{shown}");

    // The journal is intact, and the marks are part of its chain.
    counter.stop_agent().await;
    let (journal, _) = Db::open(&counter.shop.folder().join("journal.db")).unwrap();
    drop(journal);
    let verified = program(&["journal", "verify", "--config"]).arg(counter.shop.config()).output().await.unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
