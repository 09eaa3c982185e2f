//! The tables of the configuration's file: keys are taken out one by one, each as what it must be, and what is left at
//! the end is unknown. So all that is wrong with the form of a file is found at once.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use toml::{Table, Value};

use super::Fault;

/// A table of the file whose keys are taken out one by one; what is left is unknown.
pub(super) struct Section<'a> {
    pub(super) prefix: String,
    pub(super) table: &'a mut Table,
    pub(super) faults: &'a mut Vec<Fault>,
}

impl Section<'_> {
    fn fault(&mut self, key: &str, wrong: impl Into<String>, remedy: &str) {
        let key = format!("{}{key}", self.prefix);
        self.faults.push(Fault { key, wrong: wrong.into(), remedy: remedy.to_owned() });
    }

    fn take<T>(&mut self, key: &str, wanted: &str, read: impl FnOnce(Value) -> Option<T>) -> Option<T> {
        let value = self.table.remove(key)?;
        let kind = value.type_str();
        let read = read(value);
        if read.is_none() {
            self.fault(key, format!("cannot be this {kind}"), &format!("write {wanted}"));
        }
        read
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.take(key, "text in quotes", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    /// A text without which nothing can be done.
    pub(super) fn needed_text(&mut self, key: &str) -> String {
        if !self.table.contains_key(key) {
            self.fault(key, "is missing", "write it");
        }
        self.text(key).unwrap_or_default()
    }

    pub(super) fn path(&mut self, key: &str) -> Option<PathBuf> {
        let absolute = |value: Value| value.as_str().map(PathBuf::from).filter(|path| path.is_absolute());
        self.take(key, "an absolute path in quotes", absolute)
    }

    /// One of a closed list.
    pub(super) fn word<T>(&mut self, key: &str, wanted: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        self.take(key, wanted, |value| value.as_str().and_then(read))
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.take(key, "true or false", |value| value.as_bool())
    }

    pub(super) fn number(&mut self, key: &str, within: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let wanted = format!("a number from {} to {}", within.start(), within.end());
        let fitting = |value: Value| value.as_integer()?.try_into().ok().filter(|number| within.contains(number));
        self.take(key, &wanted, fitting)
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let all = |value: Value| match value {
            Value::Array(texts) => texts.into_iter().map(|text| text.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        self.take(key, "a list of texts, as [\"one\", \"two\"]", all)
    }

    pub(super) fn addresses(&mut self, key: &str) -> Vec<SocketAddr> {
        let all = |value: Value| match value {
            Value::Array(texts) => texts.into_iter().map(|text| text.as_str()?.parse().ok()).collect(),
            _ => None,
        };
        self.take(key, "a list of addresses with ports, as [\"0.0.0.0:8443\"]", all).unwrap_or_default()
    }

    /// One address with its port.
    pub(super) fn address(&mut self, key: &str) -> Option<SocketAddr> {
        self.take(key, "an address with its port, as \"0.0.0.0:20007\"", |value| value.as_str()?.parse().ok())
    }

    /// Addresses without ports.
    pub(super) fn ips(&mut self, key: &str) -> Vec<IpAddr> {
        let all = |value: Value| match value {
            Value::Array(texts) => texts.into_iter().map(|text| text.as_str()?.parse().ok()).collect(),
            _ => None,
        };
        self.take(key, "a list of addresses, as [\"192.168.1.20\"]", all).unwrap_or_default()
    }

    /// A table below this one, empty when it is not there.
    pub(super) fn section<T>(&mut self, key: &str, read: impl FnOnce(&mut Section<'_>) -> T) -> T {
        let table = |value: Value| match value {
            Value::Table(table) => Some(table),
            _ => None,
        };
        let mut table = self.take(key, &format!("a table [{key}]"), table).unwrap_or_default();
        let prefix = format!("{}{key}.", self.prefix);
        let mut section = Section { prefix, table: &mut table, faults: self.faults };
        let read = read(&mut section);
        section.nothing_else();
        read
    }

    /// Tables in a row, each below `[[key]]`.
    pub(super) fn sections<T>(&mut self, key: &str, read: impl Fn(&mut Section<'_>) -> T) -> Vec<T> {
        let tables = |value: Value| match value {
            Value::Array(tables) => tables
                .into_iter()
                .map(|table| match table {
                    Value::Table(table) => Some(table),
                    _ => None,
                })
                .collect::<Option<Vec<_>>>(),
            _ => None,
        };
        let tables = self.take(key, &format!("tables [[{key}]]"), tables).unwrap_or_default();
        let mut all = Vec::new();
        for (n, mut table) in tables.into_iter().enumerate() {
            let prefix = format!("{}{key}[{}].", self.prefix, n + 1);
            let mut section = Section { prefix, table: &mut table, faults: self.faults };
            all.push(read(&mut section));
            section.nothing_else();
        }
        all
    }

    pub(super) fn nothing_else(&mut self) {
        let left: Vec<String> = self.table.keys().cloned().collect();
        for key in left {
            self.fault(&key, "is no key of this file", "correct the name or leave it out; the manual lists them");
        }
    }
}
