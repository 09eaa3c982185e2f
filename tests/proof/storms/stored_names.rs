//! The names that a journal stores: tables, columns, the fields of its records, and the words of their enumerations.
//! The program uses these names to read a journal of the previous version, so an existing name must stay.
//! `stored-names.txt` lists each name that the storms of `cargo test` write. A developer adds a new name by hand, with
//! the first version that writes it.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

const KNOWN: &str = include_str!("stored-names.txt");
/// The columns that contain JSON.
const TEXTS: [(&str, &str); 4] = [("step", "records"), ("mark", "what"), ("close", "content"), ("receipt", "page")];
/// Fields that contain free text instead of enumeration words.
const FREE: [&str; 1] = ["registration"];

/// Returns every name in this journal.
pub(crate) fn of(journal: &Path) -> BTreeSet<String> {
    let connection = Connection::open(journal).unwrap();
    let mut names = BTreeSet::new();
    let mut columns = connection
        .prepare(
            "SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
        )
        .unwrap();
    names.extend(columns.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap));
    for (table, column) in TEXTS {
        let mut rows = connection.prepare(&format!("SELECT {column} FROM {table}")).unwrap();
        for text in rows.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            let value: Value = serde_json::from_str(&text.unwrap()).unwrap();
            collect(&format!("{table}.{column}"), &value, &mut names);
        }
    }
    names
}

fn collect(path: &str, value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path} {name}");
                collect(&path, value, names);
                names.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(path, value, names)),
        Value::String(word) if is_word(path, word) => {
            names.insert(format!("{path} = {word}"));
        }
        _ => {}
    }
}

fn is_word(path: &str, word: &str) -> bool {
    let free = FREE.iter().any(|name| path.ends_with(name));
    !free
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|c| c.is_ascii_lowercase() || c == b'-')
}

/// Returns the names that are not on the list, and the names on the list that are missing in the journals.
pub(crate) fn changed(names: &BTreeSet<String>) -> Vec<String> {
    let known: BTreeSet<String> = KNOWN.lines().map(str::to_owned).collect();
    let new = names.difference(&known).map(|name| format!("+ {name}"));
    let gone = known.difference(names).map(|name| format!("- {name}"));
    new.chain(gone).collect()
}
