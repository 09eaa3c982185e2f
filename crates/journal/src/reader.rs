//! The marks about the card reader in the chain. One is written when a reader is first seen, and one at each change of
//! the reader, its firmware or its configuration.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::Error;
use super::chain::Mark;
use super::db::{Db, failed};

/// A reader's own description and its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KnownReader {
    /// The serial number.
    pub serial: String,
    /// The model.
    pub model: String,
    /// The firmware version.
    pub firmware: String,
    /// The versions of the reader's configuration files, by name; empty if the reader does not report them.
    pub files: BTreeMap<String, String>,
}

/// The latest change of the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderChange {
    /// The time of the change, in milliseconds since 1970, by the clock at that time.
    pub unix_ms: i64,
    /// The reader from then on.
    pub reader: KnownReader,
    /// The previous reader; `None` for the first one.
    pub before: Option<KnownReader>,
}

impl ReaderChange {
    /// Returns the differences from the previous reader in words. The text is empty for the first reader.
    #[must_use]
    pub fn words(&self) -> String {
        self.before.as_ref().map(|before| self.reader.differences(before).join(", ")).unwrap_or_default()
    }
}

impl KnownReader {
    /// Returns the differences from `before`, one short sentence for each.
    #[must_use]
    pub fn differences(&self, before: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let names = [("serial number", &self.serial, &before.serial), ("model", &self.model, &before.model)];
        let names = names.into_iter().chain([("firmware", &self.firmware, &before.firmware)]);
        for (what, now, then) in names.filter(|(_, now, then)| now != then) {
            found.push(format!("{what} {now} instead of {then}"));
        }
        for (name, version) in &self.files {
            match before.files.get(name) {
                Some(then) if then == version => {}
                Some(then) => found.push(format!("{name} has version {version} instead of {then}")),
                None => found.push(format!("{name} {version} is new")),
            }
        }
        let gone = before.files.keys().filter(|name| !self.files.contains_key(*name));
        found.extend(gone.map(|name| format!("{name} is gone")));
        found
    }
}

impl Db {
    /// Writes a mark with the reader.
    pub(super) fn mark_reader(&mut self, reader: &KnownReader, unix_ms: i64) -> Result<(), Error> {
        self.mark(&Mark::Reader { reader: reader.clone() }, unix_ms)
    }
}

/// Returns the latest reader in the chain, and the previous one.
pub(super) fn latest(connection: &Connection) -> Result<Option<ReaderChange>, Error> {
    let sql = "SELECT unix_ms, what FROM mark WHERE what LIKE '{\"is\":\"reader\",%' ORDER BY entry DESC";
    let mut select = connection.prepare(sql).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    let mut latest: Option<ReaderChange> = None;
    while let Some(row) = rows.next().map_err(failed)? {
        let (unix_ms, what): (i64, String) = row.get(0).and_then(|at| Ok((at, row.get(1)?))).map_err(failed)?;
        let Ok(Mark::Reader { reader }) = serde_json::from_str(&what) else { continue };
        match &mut latest {
            None => latest = Some(ReaderChange { unix_ms, reader, before: None }),
            Some(latest) => {
                latest.before = Some(reader);
                break;
            }
        }
    }
    Ok(latest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(serial: &str, files: &[(&str, &str)]) -> KnownReader {
        KnownReader {
            serial: serial.to_owned(),
            model: "M000-MPI".to_owned(),
            firmware: "1-51".to_owned(),
            files: files.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect(),
        }
    }

    #[test]
    fn what_changed_is_told_in_words() {
        let before = reader("1", &[("A", "1"), ("B", "1")]);
        assert!(before.differences(&before).is_empty());
        let now = KnownReader { firmware: "1-52".to_owned(), ..reader("2", &[("A", "2"), ("C", "9")]) };
        let words = "serial number 2 instead of 1, firmware 1-52 instead of 1-51, A has version 2 instead of 1, C 9 is new, B is gone";
        let change = ReaderChange { unix_ms: 0, reader: now, before: Some(before) };
        assert_eq!(change.words(), words);
    }

    #[test]
    fn the_book_keeps_the_reader_and_the_one_before_and_stays_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (mut db, _) = Db::open(&path).unwrap();
        assert_eq!(latest(&db.connection).unwrap(), None);
        let (one, other) = (reader("1", &[("A", "1")]), reader("2", &[("A", "1")]));
        db.mark_reader(&one, 7).unwrap();
        let first = ReaderChange { unix_ms: 7, reader: one.clone(), before: None };
        assert_eq!(latest(&db.connection).unwrap(), Some(first));
        db.mark_reader(&other, 8).unwrap();
        drop(db);
        let (db, _) = Db::open(&path).unwrap();
        let change = latest(&db.connection).unwrap().unwrap();
        assert_eq!((change.unix_ms, &change.reader, change.before.as_ref()), (8, &other, Some(&one)));
        let verdict = super::super::verify::verify(&db.connection).unwrap();
        assert!(verdict.altered.is_none() && verdict.marks == 2, "{verdict:?}");
    }
}
