//! The program that uses this journal, and whether the reader and the gateway answered it. The table has one row for
//! the current program and one for the previous program. It is not part of the chain, because it says nothing about
//! money. An earlier version can ignore the table.
//!
//! `pos-agent health` uses the table to judge an update. If the reader answered the previous program but not this one,
//! the update may be faulty. If the reader was already unplugged before the update, its silence does not count.

use rusqlite::{OptionalExtension, params};

use super::db::{Db, failed};
use super::{Error, Journal};

/// The table; the first use creates it.
const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS program(
        before INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        reader_ever INTEGER NOT NULL DEFAULT 0,
        gateway_ever INTEGER NOT NULL DEFAULT 0,
        reader INTEGER NOT NULL DEFAULT 0,
        gateway INTEGER NOT NULL DEFAULT 0);";

/// A program, and whether the reader and the gateway answered it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The name of the program: its version and build.
    pub name: String,
    /// True if the reader has ever answered this program.
    pub reader_ever: bool,
    /// True if the gateway has ever answered this program.
    pub gateway_ever: bool,
    /// True if the reader was answering this program at the last write.
    pub reader: bool,
    /// True if the gateway was answering this program at the last write.
    pub gateway: bool,
}

impl Journal {
    /// Records that a program has started, and waits until the record is on the disk. This proves that the journal can
    /// be written. Returns the row of this program from an earlier run, and the row of the previous program.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn program_began(&mut self, name: &str) -> Result<(Program, Option<Program>), Error> {
        self.db.program_began(name)
    }

    /// Records whether the reader and the gateway answer the current program.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn program_heard(&mut self, program: &Program) -> Result<(), Error> {
        self.db.program_heard(program)
    }
}

impl Db {
    fn program_began(&mut self, name: &str) -> Result<(Program, Option<Program>), Error> {
        self.connection.execute_batch(TABLE).map_err(failed)?;
        let known = self.program(false)?;
        let transaction = self.connection.transaction().map_err(failed)?;
        if known.as_ref().is_some_and(|known| known.name == name) {
            // The values of the last run are cleared, because the reader and the gateway have not answered this run
            // yet.
            transaction.execute("UPDATE program SET reader = 0, gateway = 0 WHERE before = 0", []).map_err(failed)?;
        } else {
            transaction.execute("DELETE FROM program WHERE before = 1", []).map_err(failed)?;
            transaction.execute("UPDATE program SET before = 1 WHERE before = 0", []).map_err(failed)?;
            transaction.execute("INSERT INTO program(before, name) VALUES (0, ?1)", [name]).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        let now = self.program(false)?.unwrap_or_default();
        Ok((now, self.program(true)?))
    }

    fn program_heard(&mut self, program: &Program) -> Result<(), Error> {
        let Program { name, reader_ever, gateway_ever, reader, gateway } = program;
        let sql = "UPDATE program SET reader_ever = ?2, gateway_ever = ?3, reader = ?4, gateway = ?5
                   WHERE before = 0 AND name = ?1";
        let row = params![name, reader_ever, gateway_ever, reader, gateway];
        self.connection.execute(sql, row).map(drop).map_err(failed)
    }

    fn program(&self, before: bool) -> Result<Option<Program>, Error> {
        let sql = "SELECT name, reader_ever, gateway_ever, reader, gateway FROM program WHERE before = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Program {
                name: row.get(0)?,
                reader_ever: row.get(1)?,
                gateway_ever: row.get(2)?,
                reader: row.get(3)?,
                gateway: row.get(4)?,
            })
        };
        self.connection.query_row(sql, [before], read).optional().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_before_is_the_last_run_of_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let open = || Db::open(&path).unwrap().0;
        let fresh = |name: &str| Program { name: name.to_owned(), ..Program::default() };
        assert_eq!(open().program_began("1").unwrap(), (fresh("1"), None));
        let all = Program { reader_ever: true, gateway_ever: true, reader: true, gateway: true, ..fresh("1") };
        let mut db = open();
        assert_eq!(db.program_began("1").unwrap(), (fresh("1"), None));
        db.program_heard(&all).unwrap();
        drop(db);
        // The same program starts again and keeps its two "ever" values.
        let again = Program { reader: false, gateway: false, ..all.clone() };
        let mut db = open();
        assert_eq!(db.program_began("1").unwrap(), (again.clone(), None));
        db.program_heard(&Program { gateway: true, ..again.clone() }).unwrap();
        drop(db);
        let before = Program { gateway: true, ..again };
        for _ in 0..3 {
            assert_eq!(open().program_began("2").unwrap(), (fresh("2"), Some(before.clone())));
        }
        // A program to which the system was rolled back starts with no values.
        assert_eq!(open().program_began("1").unwrap(), (fresh("1"), Some(fresh("2"))));
        // The row of another program is not overwritten.
        open().program_heard(&all.clone()).unwrap();
        let mut db = open();
        db.program_heard(&Program { name: "2".to_owned(), ..Program::default() }).unwrap();
        assert_eq!(db.program(false).unwrap(), Some(all));
        assert_eq!(super::super::Head::read(&db.connection).unwrap().entry, 0, "it is no part of the book");
    }
}
