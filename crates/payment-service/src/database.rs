//! The database of the books. Each table has one file that reads and writes it: `books`, `registration_book`,
//! `redirect_book`, `schedule/rows`.

use rusqlite::{Connection, Row};
use serde_json::Value;

use super::method::Method;

/// The books.
pub(super) struct Books(pub(super) Connection);

impl Books {
    /// Returns the connection, for the modules of the other tables.
    pub(super) fn connection(&self) -> &Connection {
        &self.0
    }
}

/// Makes the error for a column value that the gateway never writes.
pub(super) fn strange(column: &str) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnName(column.to_owned())
}

/// Reads the means of payment from its column.
pub(super) fn method(row: &Row<'_>) -> rusqlite::Result<Method> {
    let method: String = row.get("method")?;
    Method::ALL.into_iter().find(|known| known.as_str() == method).ok_or_else(|| strange("method"))
}

/// Reads a column that holds JSON or is empty.
pub(super) fn json(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text).map_err(|_| strange(column))).transpose()
}
