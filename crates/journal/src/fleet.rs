//! The fleet's commands that this terminal has judged, and the counters of the keys that signed them.
//!
//! | table | a row is |
//! |---|---|
//! | `fleet_command` | a command by its id, with its answer once that is final; not part of the chain |
//! | `fleet_counter` | the counters that a key has used: the greatest one, and a bit for each of the 64 up to it |
//!
//! A command that the terminal accepts is a mark in the chain, in the same commit as its row and its counter. It acts
//! only afterwards, so a command never acts twice, and the chain says who asked. A command that is refused has a row
//! alone. The answer of a transaction's command is the transaction itself, so its row has none.
//!
//! The tables are created with the first command. An earlier version ignores them.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::chain::Mark;
use super::db::{Db, failed, put};
use super::{Error, Journal};
use pos_core::fleet::{AcceptedCommand, JudgedCommand, UsedCounters};

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS fleet_command(
        id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, counter INTEGER NOT NULL,
        till TEXT, reference TEXT, answer TEXT, entry INTEGER, unix_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS fleet_command_age ON fleet_command(unix_ms);
    CREATE TABLE IF NOT EXISTS fleet_counter(key TEXT PRIMARY KEY, highest INTEGER NOT NULL, used INTEGER NOT NULL)
        WITHOUT ROWID;";
/// The time for which a command with its final answer is kept, in milliseconds: 30 days.
const KEPT_MS: i64 = 30 * 24 * 3600 * 1000;
/// The greatest number of commands that are kept.
const MOST_KEPT: u32 = 10_000;
const COLUMNS: &str = "id, sha256, kind, key, counter, till, reference, answer, unix_ms";

impl Db {
    /// Writes a judged command. With `accepted`, also writes the mark and the counters, in the same commit.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written. Nothing was then written, and the command must not act.
    pub(super) fn write_command(
        &mut self,
        command: &JudgedCommand,
        accepted: Option<&AcceptedCommand>,
    ) -> Result<(), Error> {
        let counter = i64::try_from(command.counter).map_err(failed)?;
        let head = self.take_head()?;
        let transaction = self.connection.savepoint().map_err(failed)?;
        transaction.execute_batch(TABLES).map_err(failed)?;
        let mut next = head;
        if let Some(AcceptedCommand { key_name, author, used }) = accepted {
            let mark = Mark::FleetCommand {
                id: command.id.clone(),
                kind: command.kind.clone(),
                key: command.key.clone(),
                key_name: key_name.clone(),
                counter: command.counter,
                author: author.clone(),
                sha256: command.sha256.clone(),
                till: command.till.clone(),
                reference: command.reference.clone(),
            };
            next = mark.write(&transaction, head, command.unix_ms)?;
            let highest = i64::try_from(used.highest).map_err(failed)?;
            put(
                &transaction,
                "INSERT INTO fleet_counter(key, highest, used) VALUES (?1, ?2, ?3)
                 ON CONFLICT(key) DO UPDATE SET highest = ?2, used = ?3",
                params![command.key, highest, used.bits.cast_signed()],
            )?;
        }
        put(
            &transaction,
            "INSERT INTO fleet_command(id, sha256, kind, key, counter, till, reference, answer, entry, unix_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                command.id,
                command.sha256,
                command.kind,
                command.key,
                counter,
                command.till,
                command.reference,
                command.answer,
                accepted.map(|_| next.entry),
                command.unix_ms,
            ],
        )?;
        transaction.commit().map_err(failed)?;
        self.head = Some(next);
        self.written += 1;
        self.in_place()
    }

    /// Stores the final answer of a command. The first answer stays.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub(super) fn answer_command(&mut self, id: &str, answer: &str) -> Result<(), Error> {
        let sql = "UPDATE fleet_command SET answer = ?2 WHERE id = ?1 AND answer IS NULL";
        self.connection.execute(sql, params![id, answer]).map_err(failed)?;
        self.written += 1;
        self.in_place()
    }

    /// Returns the command with this id.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn command(&self, id: &str) -> Result<Option<JudgedCommand>, Error> {
        if !has_tables(&self.connection)? {
            return Ok(None);
        }
        let sql = format!("SELECT {COLUMNS} FROM fleet_command WHERE id = ?1");
        let mut select = self.connection.prepare_cached(&sql).map_err(failed)?;
        select.query_row([id], judged).optional().map_err(failed)
    }

    /// Returns the commands without an answer, oldest first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn unanswered_commands(&self) -> Result<Vec<JudgedCommand>, Error> {
        if !has_tables(&self.connection)? {
            return Ok(Vec::new());
        }
        let sql = format!("SELECT {COLUMNS} FROM fleet_command WHERE answer IS NULL ORDER BY unix_ms");
        let mut select = self.connection.prepare(&sql).map_err(failed)?;
        select.query_map([], judged).and_then(Iterator::collect).map_err(failed)
    }

    /// Returns the counters that a key has used.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn used_counters(&self, key: &str) -> Result<UsedCounters, Error> {
        if !has_tables(&self.connection)? {
            return Ok(UsedCounters::default());
        }
        let sql = "SELECT highest, used FROM fleet_counter WHERE key = ?1";
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let row = |row: &Row<'_>| {
            let highest = row.get::<_, i64>(0)?.unsigned_abs();
            Ok(UsedCounters { highest, bits: row.get::<_, i64>(1)?.cast_unsigned() })
        };
        Ok(select.query_row([key], row).optional().map_err(failed)?.unwrap_or_default())
    }

    /// Removes the commands that are answered and old, or too many. Their counters stay, so none of them acts again.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn forget_commands(&mut self, unix_ms: i64) -> Result<u64, Error> {
        if !has_tables(&self.connection)? {
            return Ok(0);
        }
        let is_final = "(answer IS NOT NULL OR EXISTS (SELECT 1 FROM sale WHERE sale.till = fleet_command.till
            AND sale.reference = fleet_command.reference AND sale.settled = 1))";
        let sql = format!(
            "DELETE FROM fleet_command WHERE {is_final} AND (unix_ms < ?1 OR unix_ms <
             (SELECT unix_ms FROM fleet_command ORDER BY unix_ms DESC LIMIT 1 OFFSET ?2))"
        );
        let removed = self.connection.execute(&sql, params![unix_ms.saturating_sub(KEPT_MS), MOST_KEPT]);
        removed.map(|removed| removed as u64).map_err(failed)
    }
}

fn judged(row: &Row<'_>) -> rusqlite::Result<JudgedCommand> {
    Ok(JudgedCommand {
        id: row.get(0)?,
        sha256: row.get(1)?,
        kind: row.get(2)?,
        key: row.get(3)?,
        counter: row.get::<_, i64>(4)?.unsigned_abs(),
        till: row.get(5)?,
        reference: row.get(6)?,
        answer: row.get(7)?,
        unix_ms: row.get(8)?,
    })
}

fn has_tables(connection: &Connection) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('fleet_command', 'fleet_counter')";
    let mut select = connection.prepare_cached(sql).map_err(failed)?;
    select.query_row([], |row| row.get::<_, i64>(0)).map(|found| found == 2).map_err(failed)
}

impl Journal {
    /// See [`Db::command`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn command(&self, id: &str) -> Result<Option<JudgedCommand>, Error> {
        self.db.command(id)
    }

    /// See [`Db::unanswered_commands`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn unanswered_commands(&self) -> Result<Vec<JudgedCommand>, Error> {
        self.db.unanswered_commands()
    }

    /// See [`Db::used_counters`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn used_counters(&self, key: &str) -> Result<UsedCounters, Error> {
        self.db.used_counters(key)
    }

    /// See [`Db::forget_commands`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn forget_commands(&mut self, unix_ms: i64) -> Result<u64, Error> {
        self.db.forget_commands(unix_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(id: &str, unix_ms: i64, answer: Option<&str>) -> JudgedCommand {
        JudgedCommand {
            id: id.to_owned(),
            sha256: "ab".repeat(32),
            kind: "message".to_owned(),
            key: "cd".repeat(32),
            counter: 7,
            till: None,
            reference: None,
            answer: answer.map(str::to_owned),
            unix_ms,
        }
    }

    fn accepted(highest: u64, bits: u64) -> AcceptedCommand {
        let used = UsedCounters { highest, bits };
        AcceptedCommand { key_name: "desk".to_owned(), author: "anna".to_owned(), used }
    }

    #[test]
    fn a_command_its_counter_and_its_mark_stay_and_the_first_answer_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (mut db, _) = Db::open(&path).unwrap();
        let key = "cd".repeat(32);
        assert_eq!((db.command("a").unwrap(), db.used_counters(&key).unwrap()), (None, UsedCounters::default()));
        db.write_command(&command("a", 5, None), Some(&accepted(9, u64::MAX))).unwrap();
        db.write_command(&command("b", 6, Some("refused")), None).unwrap();
        assert!(db.write_command(&command("a", 7, None), Some(&accepted(10, 1))).is_err(), "an id is used once");
        drop(db);
        let (mut db, _) = Db::open(&path).unwrap();
        assert_eq!(db.command("a").unwrap(), Some(command("a", 5, None)));
        assert_eq!(db.used_counters(&key).unwrap(), UsedCounters { highest: 9, bits: u64::MAX });
        assert_eq!(db.unanswered_commands().unwrap(), [command("a", 5, None)]);
        db.answer_command("a", "one").unwrap();
        db.answer_command("a", "two").unwrap();
        assert_eq!(db.command("a").unwrap().unwrap().answer.as_deref(), Some("one"));
        assert!(db.unanswered_commands().unwrap().is_empty());
        let verdict = super::super::verify::verify(&db.connection).unwrap();
        assert!(verdict.altered.is_none() && verdict.marks == 1, "a refused command has no mark: {verdict:?}");
    }

    #[test]
    fn what_is_answered_and_old_is_forgotten_and_its_counter_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (mut db, _) = Db::open(&folder.path().join("journal.db")).unwrap();
        assert_eq!(db.forget_commands(KEPT_MS).unwrap(), 0);
        db.write_command(&command("old", 1, Some("x")), Some(&accepted(3, 7))).unwrap();
        db.write_command(&command("open", 1, None), None).unwrap();
        db.write_command(&command("new", KEPT_MS, Some("x")), None).unwrap();
        assert_eq!(db.forget_commands(KEPT_MS + 2).unwrap(), 1);
        let left = ["old", "open", "new"].map(|id| db.command(id).unwrap().is_some());
        assert_eq!(left, [false, true, true]);
        assert_eq!(db.used_counters(&"cd".repeat(32)).unwrap(), UsedCounters { highest: 3, bits: 7 });
    }

    #[test]
    fn no_more_than_ten_thousand_commands_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (mut db, _) = Db::open(&folder.path().join("journal.db")).unwrap();
        db.write_command(&command("first", 1, Some("x")), None).unwrap();
        let sql = "WITH RECURSIVE n(n) AS (VALUES(2) UNION ALL SELECT n + 1 FROM n WHERE n <= 10005)
            INSERT INTO fleet_command(id, sha256, kind, key, counter, answer, unix_ms) SELECT 'n' || n, '', '', '', n, 'x', n FROM n";
        db.connection.execute(sql, []).unwrap();
        db.forget_commands(0).unwrap();
        let count = db.connection.query_row("SELECT count(*) FROM fleet_command", [], |row| row.get::<_, i64>(0));
        assert_eq!(count.unwrap(), i64::from(MOST_KEPT) + 1);
        assert_eq!(db.command("first").unwrap(), None);
    }
}
