//! A journal has one lock under all its names: a symbolic link to it or to its folder, or a hard link. While the agent
//! runs, the journal can be read under any name that shows all of it. A name that shows only part of it is refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::book::{NOON, file, leave_open, open, said, sell, until_free, verb, well};
use pos_journal::{Db, Error, adopt};
use tempfile::TempDir;

/// Creates a journal with a sale and three other names: a link to the file, a link to its folder, and a hard link.
fn with_names(dir: &TempDir) -> [PathBuf; 3] {
    sell(&mut open(&file(dir)), 1, "one", NOON);
    let [link, folder, hard] = ["link", "folder", "hard"].map(|name| dir.path().join(name));
    fs::create_dir(&link).unwrap();
    fs::create_dir(&hard).unwrap();
    symlink(file(dir), link.join("journal.db")).unwrap();
    symlink(dir.path(), &folder).unwrap();
    [link.join("journal.db"), folder.join("journal.db"), hard.join("journal.db")]
}

fn is_in_use(path: &Path) {
    let error = Db::open(path).map(drop).unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{}: {error}", path.display());
    assert!(error.to_string().contains("is in use by another pos-agent; stop that one first"), "{error}");
    assert!(pos_journal::is_held(path), "{}", path.display());
}

#[test]
fn a_second_program_is_refused_by_whatever_name_it_opens_the_journal() {
    let dir = TempDir::new().unwrap();
    let [link, folder, hard] = with_names(&dir);
    for first in [&file(&dir), &link, &folder] {
        let held = open(first);
        for second in [&file(&dir), &link, &folder] {
            is_in_use(second);
        }
        fs::hard_link(file(&dir), &hard).unwrap();
        is_in_use(&hard);
        // The first holder goes on and keeps its lock: the other tries have not released it.
        drop(held);
        fs::remove_file(&hard).unwrap();
        until_free(&file(&dir));
        assert!(!pos_journal::is_held(first));
    }
    sell(&mut open(&link), 2, "two", NOON + 10_000);
    assert_eq!(well(&file(&dir)).transactions, 2, "one journal, by all of its names");
}

#[test]
fn a_program_of_before_that_runs_is_noticed_by_its_own_lock() {
    let dir = TempDir::new().unwrap();
    let [link, ..] = with_names(&dir);
    let earlier = fs::File::open(dir.path().join("journal.lock")).unwrap();
    earlier.try_lock().unwrap();
    is_in_use(&file(&dir));
    is_in_use(&link);
}

#[test]
fn a_journal_with_two_hard_links_is_refused_until_one_is_gone() {
    let dir = TempDir::new().unwrap();
    let [.., hard] = with_names(&dir);
    // The power is cut. The last steps are in the -wal of the first name, and the second name does not show them.
    let mut db = open(&file(&dir));
    leave_open(&mut db, 2, "two", NOON + 10_000);
    let wal = fs::read(dir.path().join("journal.db-wal")).unwrap();
    drop(db);
    fs::write(dir.path().join("journal.db-wal"), wal).unwrap();
    fs::hard_link(file(&dir), &hard).unwrap();
    for name in [&file(&dir), &hard] {
        until_free(name);
        let error = Db::open(name).map(drop).unwrap_err();
        assert!(matches!(error, Error::Linked { names: 2, .. }), "{error}");
        assert!(error.to_string().contains("find / -xdev -samefile"), "{error}");
        for arguments in [&["verify"][..], &["export"]] {
            let output = verb(arguments, name);
            assert_eq!(output.status.code(), Some(74), "{arguments:?}: {}", said(&output));
            assert!(said(&output).contains("2 names (hard links)"), "{}", said(&output));
        }
    }
    fs::remove_file(hard).unwrap();
    assert_eq!(open(&file(&dir)).unsettled().unwrap().len(), 1, "the sale that was open");
}

#[test]
fn a_link_that_leads_nowhere_makes_no_new_journal() {
    let dir = TempDir::new().unwrap();
    symlink(dir.path().join("disk/journal.db"), file(&dir)).unwrap();
    let error = Db::open(&file(&dir)).map(drop).unwrap_err();
    assert!(error.to_string().contains("a symbolic link to a missing file"), "{error}");
    assert!(fs::symlink_metadata(file(&dir)).unwrap().is_symlink());
}

#[test]
fn beside_an_agent_the_journal_is_read_by_every_name_and_adopted_by_none() {
    let dir = TempDir::new().unwrap();
    let [link, folder, _] = with_names(&dir);
    let mut running = open(&file(&dir));
    sell(&mut running, 2, "two", NOON + 10_000);
    let ours = TempDir::new().unwrap();
    sell(&mut open(&file(&ours)), 1, "ours", NOON);
    for name in [&file(&dir), &link, &folder] {
        let output = verb(&["verify"], name);
        assert!(said(&output).contains("unaltered: 2 transactions"), "{}", said(&output));
        let output = verb(&["export"], name);
        assert!(said(&output).contains("\"reference\":\"two\""), "{}", said(&output));
        // Nothing can be adopted from the journal of a running agent, nor into it.
        until_free(&file(&ours));
        let error = adopt(&file(&ours), name, None, NOON).unwrap_err();
        assert!(matches!(error, Error::InUse { .. }), "{}: {error}", name.display());
        let error = adopt(name, &file(&ours), None, NOON).unwrap_err();
        assert!(matches!(error, Error::InUse { .. }), "{}: {error}", name.display());
        let error = adopt(&file(&dir), name, None, NOON).unwrap_err();
        assert!(error.to_string().contains("this is the terminal's own journal"), "{error}");
    }
    // The running agent is not affected.
    sell(&mut running, 3, "three", NOON + 20_000);
    drop(running);
    assert_eq!(well(&file(&dir)).transactions, 3);
}
