//! The books of pages that payments wait for (`redirect`), and of values that may be used once.

use rusqlite::{OptionalExtension, Row, params};

use super::database::Books;
use super::envelope::text;
use super::redirect::{PageEnd, PageKind, Redirect, Settlement};

pub(super) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS redirect (
        id TEXT PRIMARY KEY,
        token TEXT NOT NULL,
        payment TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        until INTEGER NOT NULL,
        end TEXT,
        tries INTEGER NOT NULL,
        back TEXT NOT NULL,
        settlement TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS used_once (what TEXT PRIMARY KEY) STRICT;
";

impl Books {
    /// Writes a new page.
    pub(super) fn open_redirect(&mut self, page: &Redirect) -> rusqlite::Result<()> {
        let settlement = serde_json::to_string(&page.settlement).expect("text and JSON can be written");
        self.0
            .prepare_cached(
                "INSERT INTO redirect (id, token, payment, kind, until, end, tries, back, settlement)
                 VALUES (?, ?, ?, ?, ?, NULL, 0, ?, ?)",
            )?
            .execute(params![
                page.id,
                page.token,
                page.payment,
                page.kind.as_str(),
                page.until,
                page.back,
                settlement
            ])?;
        Ok(())
    }

    /// Returns the page with this id.
    pub(super) fn redirect(&self, id: &str) -> rusqlite::Result<Option<Redirect>> {
        self.0.prepare_cached("SELECT * FROM redirect WHERE id = ?")?.query_row([id], redirect).optional()
    }

    /// Returns the open page of a payment.
    pub(super) fn open_redirect_of(&self, payment: &str) -> rusqlite::Result<Option<Redirect>> {
        let mut rows = self.0.prepare_cached("SELECT * FROM redirect WHERE payment = ? AND end IS NULL")?;
        rows.query_row([payment], redirect).optional()
    }

    /// Returns the open pages whose time has expired.
    pub(super) fn expired_redirects(&self, now: i64) -> rusqlite::Result<Vec<Redirect>> {
        let mut rows = self.0.prepare_cached("SELECT * FROM redirect WHERE end IS NULL AND until < ?")?;
        rows.query_map([now], redirect)?.collect()
    }

    /// Returns when the next open page ends, in seconds since 1970.
    pub(super) fn next_expiry(&self) -> rusqlite::Result<Option<i64>> {
        self.0.prepare_cached("SELECT min(until) FROM redirect WHERE end IS NULL")?.query_row([], |row| row.get(0))
    }

    /// Saves the number of wrong passwords.
    pub(super) fn tried(&mut self, id: &str, tries: u8) -> rusqlite::Result<()> {
        self.0.prepare_cached("UPDATE redirect SET tries = ? WHERE id = ?")?.execute(params![tries, id])?;
        Ok(())
    }

    /// Saves the end of a page and the result of its payment in one database transaction.
    pub(super) fn finish(&mut self, page: &Redirect, end: PageEnd, settled: &Settlement) -> rusqlite::Result<()> {
        let transaction = self.0.transaction()?;
        transaction
            .prepare_cached("UPDATE redirect SET end = ? WHERE id = ?")?
            .execute([end.as_str(), page.id.as_str()])?;
        let later = settled.later.as_ref();
        transaction
            .prepare_cached(
                "UPDATE payment SET state = ?, code = ?, answer = ?, later_in = ?, later = ?
                 WHERE id = ? AND state = 'pending'",
            )?
            .execute(params![
                settled.state,
                settled.code,
                text(&settled.answer),
                later.map(|(questions, _)| *questions),
                later.map(|(_, answer)| text(answer)),
                page.payment
            ])?;
        transaction.commit()
    }

    /// Marks a value as used, and returns whether it was unused before.
    pub(super) fn use_once(&mut self, what: &str) -> rusqlite::Result<bool> {
        let new = self.0.prepare_cached("INSERT OR IGNORE INTO used_once (what) VALUES (?)")?.execute([what])?;
        Ok(new == 1)
    }
}

fn redirect(row: &Row<'_>) -> rusqlite::Result<Redirect> {
    let strange = |what: &str| rusqlite::Error::InvalidColumnName(what.to_owned());
    let (kind, end, settlement): (String, Option<String>, String) =
        (row.get("kind")?, row.get("end")?, row.get("settlement")?);
    let end = end.map(|end| PageEnd::ALL.into_iter().find(|known| known.as_str() == end).ok_or_else(|| strange("end")));
    Ok(Redirect {
        id: row.get("id")?,
        token: row.get("token")?,
        payment: row.get("payment")?,
        kind: PageKind::ALL.into_iter().find(|known| known.as_str() == kind).ok_or_else(|| strange("kind"))?,
        until: row.get("until")?,
        end: end.transpose()?,
        tries: row.get("tries")?,
        back: row.get("back")?,
        settlement: serde_json::from_str(&settlement).map_err(|_| strange("settlement"))?,
    })
}
