//! The operators of this terminal: names, roles, PIN digests, and counted attempts.
//!
//! | table | a row is |
//! |---|---|
//! | `operator` | an operator; not part of the chain, because entries of the chain are never deleted |
//! | `pin_try` | the number of attempts since the last correct PIN, for an operator or a till; not part of the chain |
//!
//! Every change to an operator is a mark in the chain with its author, in the same commit as the row. Neither exists
//! without the other. The mark contains no PIN and no data derived from one. The tables are created with the first
//! operator, so the journal of a shop without operators is unchanged. An earlier version ignores them.
//!
//! The digests are keyed (`counter::PinKey`). The key is next to the journal, in a separate file that only its owner
//! may read. A person who has only a copy of the journal cannot try PINs.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::num::NonZeroU32;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use rusqlite::{Connection, params};
use zeroize::Zeroizing;

use super::chain::Mark;
use super::db::{Db, failed, put};
use super::open::{beside, has_chain};
use super::{Error, Journal, Reading};
use pos_core::counter::{PinDigest, PinKey, Role, TryKey};
use pos_terms::transaction::{OperatorName, Who};

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS operator(
        name TEXT PRIMARY KEY, shown TEXT NOT NULL, role TEXT NOT NULL,
        salt BLOB NOT NULL, iterations INTEGER NOT NULL, pin_key BLOB NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pin_try(who TEXT PRIMARY KEY, tries INTEGER NOT NULL) WITHOUT ROWID;";

/// An operator's stored data.
#[derive(Clone, Debug)]
pub struct KeptOperator {
    /// The operator's name.
    pub name: OperatorName,
    /// The operator's role.
    pub role: Role,
    /// The PIN digest.
    pub pin: PinDigest,
}

/// A change to the operators.
#[derive(Clone, Debug)]
pub enum OperatorChange {
    /// A new operator.
    Added(KeptOperator),
    /// The operator was removed.
    Removed(OperatorName),
    /// The operator has a new PIN.
    PinSet(OperatorName, PinDigest),
    /// The operator may try the PIN again immediately, and every till may try again too.
    Unlocked(OperatorName),
}

impl OperatorChange {
    fn mark(&self, by: &Who) -> Mark {
        let by = by.clone();
        match self {
            Self::Added(KeptOperator { name, role, .. }) => {
                Mark::OperatorAdded { name: name.clone(), role: role.as_str().to_owned(), by }
            }
            Self::Removed(name) => Mark::OperatorRemoved { name: name.clone(), by },
            Self::PinSet(name, _) => Mark::OperatorPinSet { name: name.clone(), by },
            Self::Unlocked(name) => Mark::OperatorUnlocked { name: name.clone(), by },
        }
    }
}

/// The journal's entry about a change to the operators, for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorEntry {
    /// The position in the chain.
    pub entry: i64,
    /// The time, in milliseconds since 1970.
    pub unix_ms: i64,
    /// The change: `added`, `removed`, `pin-set` or `unlocked`.
    pub done: &'static str,
    /// The name of the changed operator.
    pub name: OperatorName,
    /// The role, if the change was an addition.
    pub role: Option<String>,
    /// The author of the change.
    pub by: Who,
}

impl Db {
    /// Returns the operators, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn operators(&self) -> Result<Vec<KeptOperator>, Error> {
        if !has_tables(&self.connection)? {
            return Ok(Vec::new());
        }
        let sql = "SELECT shown, role, salt, iterations, pin_key, hash FROM operator ORDER BY name";
        let mut select = self.connection.prepare(sql).map_err(failed)?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, [u8; 16]>(2)?,
                row.get::<_, u32>(3)?,
                row.get::<_, [u8; 8]>(4)?,
                row.get::<_, [u8; 32]>(5)?,
            ))
        };
        let rows = select.query_map([], row).map_err(failed)?;
        // An operator whose role or name only a later version knows cannot sign in.
        let read = rows.collect::<Result<Vec<_>, _>>().map_err(failed)?.into_iter();
        let kept = read.filter_map(|(shown, role, salt, iterations, key, hash)| {
            let (name, role) = (OperatorName::parse(shown).ok()?, Role::from_word(&role)?);
            let iterations = NonZeroU32::new(iterations)?;
            Some(KeptOperator { name, role, pin: PinDigest { salt, iterations, key, hash } })
        });
        Ok(kept.collect())
    }

    /// Makes a change and writes its mark with the author in one commit.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written. Nothing has then changed.
    pub fn change_operator(&mut self, change: &OperatorChange, by: &Who, unix_ms: i64) -> Result<(), Error> {
        let head = self.take_head()?;
        // SQLite overwrites deleted data, so the digest of an earlier PIN is replaced with zeros.
        self.connection.execute_batch("PRAGMA secure_delete=ON").map_err(failed)?;
        let transaction = self.connection.transaction().map_err(failed)?;
        transaction.execute_batch(TABLES).map_err(failed)?;
        match change {
            OperatorChange::Added(KeptOperator { name, role, pin }) => put(
                &transaction,
                "INSERT INTO operator(name, shown, role, salt, iterations, pin_key, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![name.folded(), name.as_str(), role.as_str(), pin.salt, pin.iterations.get(), pin.key, pin.hash],
            )?,
            OperatorChange::Removed(name) => {
                put(&transaction, "DELETE FROM operator WHERE name = ?1", [name.folded()])?;
            }
            OperatorChange::PinSet(name, pin) => put(
                &transaction,
                "UPDATE operator SET salt = ?2, iterations = ?3, pin_key = ?4, hash = ?5 WHERE name = ?1",
                params![name.folded(), pin.salt, pin.iterations.get(), pin.key, pin.hash],
            )?,
            OperatorChange::Unlocked(_) => {
                put(&transaction, "DELETE FROM pin_try WHERE who LIKE 'till:%' OR who LIKE 'user:%'", [])?;
            }
        }
        let (OperatorChange::Added(KeptOperator { name, .. })
        | OperatorChange::Removed(name)
        | OperatorChange::PinSet(name, _)
        | OperatorChange::Unlocked(name)) = change;
        for key in tries(&transaction)?.into_keys().filter(|key| key.is_of(name)) {
            put(&transaction, "DELETE FROM pin_try WHERE who = ?1", [key.as_str()])?;
        }
        let head = change.mark(by).write(&transaction, head, unix_ms)?;
        transaction.commit().map_err(failed)?;
        self.head = Some(head);
        self.connection.execute_batch("PRAGMA secure_delete=OFF").map_err(failed)
    }

    /// Returns the counted attempts since the last correct PIN.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn pin_tries(&self) -> Result<BTreeMap<TryKey, u32>, Error> {
        if !has_tables(&self.connection)? {
            return Ok(BTreeMap::new());
        }
        tries(&self.connection)
    }

    /// Writes counts of attempts. When it returns, they are on the disk. A count of zero removes the row.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written. No PIN may then be checked.
    pub fn count_pin_tries(&mut self, counts: &[(TryKey, u32)]) -> Result<(), Error> {
        let transaction = self.connection.transaction().map_err(failed)?;
        transaction.execute_batch(TABLES).map_err(failed)?;
        for (key, tries) in counts {
            match tries {
                0 => put(&transaction, "DELETE FROM pin_try WHERE who = ?1", [key.as_str()])?,
                tries => put(
                    &transaction,
                    "INSERT INTO pin_try(who, tries) VALUES (?1, ?2) ON CONFLICT(who) DO UPDATE SET tries = ?2",
                    params![key.as_str(), tries],
                )?,
            }
        }
        transaction.commit().map_err(failed)?;
        self.in_place()
    }
}

fn tries(connection: &Connection) -> Result<BTreeMap<TryKey, u32>, Error> {
    let mut select = connection.prepare("SELECT who, tries FROM pin_try").map_err(failed)?;
    let rows = select.query_map([], |row| Ok((TryKey::as_kept(row.get(0)?), row.get(1)?))).map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

/// Returns every change to the operators in the chain, oldest first.
fn entries(connection: &Connection) -> Result<Vec<OperatorEntry>, Error> {
    let mut entries = Vec::new();
    if !has_chain(connection)? {
        return Ok(entries);
    }
    let sql = "SELECT entry, unix_ms, what FROM mark WHERE what LIKE '{\"is\":\"operator-%' ORDER BY entry";
    let mut select = connection.prepare(sql).map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)));
    for row in rows.map_err(failed)? {
        let (entry, unix_ms, what) = row.map_err(failed)?;
        let (done, name, role, by) = match serde_json::from_str(&what) {
            Ok(Mark::OperatorAdded { name, role, by }) => ("added", name, Some(role), by),
            Ok(Mark::OperatorRemoved { name, by }) => ("removed", name, None, by),
            Ok(Mark::OperatorPinSet { name, by }) => ("pin-set", name, None, by),
            Ok(Mark::OperatorUnlocked { name, by }) => ("unlocked", name, None, by),
            _ => continue,
        };
        entries.push(OperatorEntry { entry, unix_ms, done, name, role, by });
    }
    Ok(entries)
}

impl Reading {
    /// Returns every change to the operators in the chain, oldest first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn operator_entries(&self) -> Result<Vec<OperatorEntry>, Error> {
        entries(&self.connection)
    }
}

fn has_tables(connection: &Connection) -> Result<bool, Error> {
    let found = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('operator', 'pin_try')";
    connection.query_row(found, [], |row| row.get::<_, i64>(0)).map(|found| found == 2).map_err(failed)
}

impl Journal {
    /// See [`Db::operators`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn operators(&self) -> Result<Vec<KeptOperator>, Error> {
        self.db.operators()
    }

    /// See [`Db::change_operator`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written. Nothing has then changed.
    pub fn change_operator(&mut self, change: &OperatorChange, by: &Who, unix_ms: i64) -> Result<(), Error> {
        self.db.change_operator(change, by, unix_ms)
    }

    /// See [`Db::pin_tries`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn pin_tries(&self) -> Result<BTreeMap<TryKey, u32>, Error> {
        self.db.pin_tries()
    }

    /// See [`Db::count_pin_tries`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written. No PIN may then be checked.
    pub fn count_pin_tries(&mut self, counts: &[(TryKey, u32)]) -> Result<(), Error> {
        self.db.count_pin_tries(counts)
    }

    /// Returns the file with the key of the PIN digests.
    #[must_use]
    pub fn pin_key_file(&self) -> PinKeyFile {
        PinKeyFile::beside(&self.path)
    }
}

/// The file with the key of the PIN digests.
#[derive(Clone, Debug)]
pub struct PinKeyFile(PathBuf);

impl PinKeyFile {
    /// Returns the key file of this journal.
    #[must_use]
    pub fn beside(journal: &Path) -> Self {
        Self(beside(journal, ".pin-key"))
    }

    /// Returns the key, or `None` if there is no file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, has the wrong length, or can be opened by other users.
    pub fn read(&self) -> Result<Option<PinKey>, Error> {
        let mut file = match File::open(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(&error)),
        };
        let facts = file.metadata().map_err(|error| self.failed(&error))?;
        let mode = facts.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let path = self.0.display();
            return Err(self.failed(&format!("other users may open it, mode {mode:04o}; run: chmod 0600 {path}")));
        }
        let mut bits = Zeroizing::new([0; 32]);
        if facts.len() != 32 {
            return Err(self.failed(&"it is not 32 bytes long"));
        }
        file.read_exact(&mut *bits).map_err(|error| self.failed(&error))?;
        Ok(Some(PinKey::new(bits)))
    }

    /// Returns the key, and creates it if there is none.
    ///
    /// # Errors
    /// Returns an error of [`Self::read`], or an error if the file cannot be written.
    pub fn read_or_make(&self) -> Result<PinKey, Error> {
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        let mut bits = Zeroizing::new([0; 32]);
        SystemRandom::new().fill(&mut *bits).map_err(|_| self.failed(&"the system provides no random numbers"))?;
        // The file is first completed under another name.
        let new = beside(&self.0, ".new");
        let written = || -> io::Result<()> {
            match fs::remove_file(&new) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(&*bits)?;
            file.sync_all()?;
            fs::rename(&new, &self.0)?;
            let folder = self.0.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            File::open(folder)?.sync_all()
        };
        written().map_err(|error| self.failed(&error))?;
        Ok(PinKey::new(bits))
    }

    fn failed(&self, cause: &dyn std::fmt::Display) -> Error {
        Error::PinKey { path: self.0.display().to_string(), cause: cause.to_string() }
    }
}

/// Returns random bytes for a PIN that is being set.
///
/// # Errors
/// Returns an error if the system provides no random bytes.
pub fn pin_salt() -> Result<[u8; 16], Error> {
    let mut salt = [0; 16];
    SystemRandom::new().fill(&mut salt).map_err(|_| failed("the system provides no random numbers"))?;
    Ok(salt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anna() -> OperatorName {
        OperatorName::parse("Anna").unwrap()
    }

    /// Returns a digest in the form that the agent computes. The table stores digests only, so the tests need no PIN.
    fn digest(of: u8) -> PinDigest {
        PinDigest { salt: pin_salt().unwrap(), iterations: NonZeroU32::MIN, key: [3; 8], hash: [of; 32] }
    }

    fn technician() -> Who {
        Who { uid: Some(0), operator: OperatorName::parse("Tom").ok(), ..Who::default() }
    }

    #[test]
    fn changes_are_in_the_table_and_in_the_book_with_their_author() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (mut db, _) = Db::open(&path).unwrap();
        let before = db.head().unwrap();
        assert!(db.operators().unwrap().is_empty() && db.pin_tries().unwrap().is_empty());
        assert!(!has_tables(&db.connection).unwrap(), "a shop without operators has no tables of them");
        let (first, second) = (digest(1), digest(2));
        let added = KeptOperator { name: anna(), role: Role::Cashier, pin: first.clone() };
        db.change_operator(&OperatorChange::Added(added), &technician(), 7).unwrap();
        db.count_pin_tries(&[(TryKey::operator(&anna()), 4)]).unwrap();
        db.change_operator(&OperatorChange::PinSet(anna(), second.clone()), &technician(), 8).unwrap();
        assert!(db.pin_tries().unwrap().is_empty(), "with a new PIN the tries begin anew");
        drop(db);
        let (mut db, _) = Db::open(&path).unwrap();
        let [kept] = db.operators().unwrap().try_into().unwrap();
        assert_eq!((kept.name.as_str(), kept.role), ("Anna", Role::Cashier));
        assert!(kept.pin == second);
        let other_case = OperatorName::parse("ANNA").unwrap();
        db.change_operator(&OperatorChange::Removed(other_case), &technician(), 9).unwrap();
        assert!(db.operators().unwrap().is_empty());
        let entries = entries(&db.connection).unwrap();
        let told: Vec<_> = entries.iter().map(|it| (it.done, it.unix_ms, it.by == technician())).collect();
        assert_eq!(told, [("added", 7, true), ("pin-set", 8, true), ("removed", 9, true)]);
        assert_eq!(entries[0].role.as_deref(), Some("cashier"));
        let verdict = super::super::verify::verify(&db.connection).unwrap();
        assert!(verdict.altered.is_none() && verdict.marks == 3, "{verdict:?}");
        assert_eq!(db.head().unwrap().entry, before.entry + 3);
        // The chain is exported and never deleted. Neither the chain nor the file may contain data derived from a
        // removed PIN.
        let marks: String =
            db.connection.query_row("SELECT group_concat(what) FROM mark", [], |row| row.get(0)).unwrap();
        assert!(!marks.contains("hash") && !marks.contains("salt"), "{marks}");
        db.checkpoint().unwrap();
        drop(db);
        let file = fs::read(&path).unwrap();
        for digest in [first, second] {
            assert!(!file.windows(32).any(|bytes| bytes == digest.hash), "a deleted digest is overwritten");
        }
    }

    #[test]
    fn an_operator_that_is_there_is_not_added_again_and_the_book_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (mut db, _) = Db::open(&path).unwrap();
        let add = |name: &str| {
            let name = OperatorName::parse(name).unwrap();
            OperatorChange::Added(KeptOperator { name, role: Role::Cashier, pin: digest(1) })
        };
        db.change_operator(&add("Anna"), &technician(), 7).unwrap();
        assert!(db.change_operator(&add("anna"), &technician(), 8).is_err());
        assert_eq!(entries(&db.connection).unwrap().len(), 1);
        db.change_operator(&add("Ben"), &technician(), 9).unwrap();
        assert!(super::super::verify::verify(&db.connection).unwrap().altered.is_none());
    }

    #[test]
    fn tries_are_counted_and_an_unlocking_frees_the_operator_and_every_till() {
        let folder = tempfile::tempdir().unwrap();
        let (mut db, _) = Db::open(&folder.path().join("journal.db")).unwrap();
        let till = TryKey::caller(&Who { token: Some("till-1".to_owned()), ..Who::default() });
        let (anna_key, stranger) = (TryKey::operator(&anna()), TryKey::stranger(&anna()));
        db.count_pin_tries(&[(anna_key.clone(), 5), (till.clone(), 9), (stranger.clone(), 2)]).unwrap();
        db.count_pin_tries(&[(anna_key.clone(), 6), (till.clone(), 10)]).unwrap();
        let kept: Vec<_> = db.pin_tries().unwrap().into_iter().collect();
        assert_eq!(kept, [(anna_key, 6), (stranger.clone(), 2), (till, 10)]);
        db.change_operator(&OperatorChange::Unlocked(anna()), &technician(), 7).unwrap();
        assert_eq!(db.pin_tries().unwrap().into_keys().collect::<Vec<_>>(), std::slice::from_ref(&stranger));
        db.count_pin_tries(&[(stranger, 0)]).unwrap();
        assert!(db.pin_tries().unwrap().is_empty());
    }

    #[test]
    fn the_key_is_made_once_and_read_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = PinKeyFile::beside(&folder.path().join("journal.db"));
        assert!(file.read().unwrap().is_none());
        let key = file.read_or_make().unwrap();
        assert_eq!(file.read_or_make().unwrap().bits(), key.bits());
        let path = folder.path().join("journal.db.pin-key");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("chmod 0600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, [1; 31]).unwrap();
        assert!(file.read_or_make().is_err(), "what is not ours is not written over");
    }
}
