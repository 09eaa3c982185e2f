//! The database that the books are in. Each table has a file that reads and writes it: `books`, `registration_book`,
//! `redirect_book`, `schedule/rows`.

use rusqlite::{Connection, Row};
use serde_json::Value;

use super::method::Method;

/// The books.
pub(super) struct Books(pub(super) Connection);

impl Books {
    /// For a room with a table of its own.
    pub(super) fn connection(&self) -> &Connection {
        &self.0
    }
}

/// A column holds what nobody here has written.
pub(super) fn strange(column: &str) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnName(column.to_owned())
}

/// The column of the means of payment.
pub(super) fn method(row: &Row<'_>) -> rusqlite::Result<Method> {
    let method: String = row.get("method")?;
    Method::ALL.into_iter().find(|known| known.as_str() == method).ok_or_else(|| strange("method"))
}

/// A column that holds JSON, or nothing.
pub(super) fn json(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text).map_err(|_| strange(column))).transpose()
}
