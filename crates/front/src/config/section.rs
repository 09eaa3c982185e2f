//! Tables of the configuration file. Each known key is taken out of its table and checked for its type. The keys that
//! remain are unknown. All such faults of a file are therefore found in one run.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use toml::Table;

use super::Fault;

/// A table of the file. Reading a key removes it, so the keys that remain are unknown.
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

    /// Takes the value of a key and checks its type. `fitting` returns `None` for a value of the right type that cannot
    /// be used.
    fn take<T: DeserializeOwned, U>(
        &mut self,
        key: &str,
        wanted: &str,
        fitting: impl FnOnce(T) -> Option<U>,
    ) -> Option<U> {
        let value = self.table.remove(key)?;
        let kind = value.type_str();
        let read = value.try_into().ok().and_then(fitting);
        if read.is_none() {
            self.fault(key, format!("has an invalid value ({kind})"), &format!("write {wanted}"));
        }
        read
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.take(key, "text in quotes", Some)
    }

    /// Takes a required text.
    pub(super) fn needed_text(&mut self, key: &str) -> String {
        if !self.table.contains_key(key) {
            self.fault(key, "is missing", "add this key");
        }
        self.text(key).unwrap_or_default()
    }

    pub(super) fn path(&mut self, key: &str) -> Option<PathBuf> {
        self.take(key, "an absolute path in quotes", |path: PathBuf| path.is_absolute().then_some(path))
    }

    /// Takes a value that must be one of these words, and returns the word's meaning.
    pub(super) fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let (last, others) = quoted.split_last()?;
        let wanted = format!("{} or {last}", others.join(", "));
        self.take(key, &wanted, |given: String| words.iter().find(|(word, _)| *word == given).map(|(_, means)| *means))
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.take(key, "true or false", Some)
    }

    pub(super) fn number(&mut self, key: &str, within: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let wanted = format!("a number from {} to {}", within.start(), within.end());
        self.take(key, &wanted, |number| within.contains(&number).then_some(number))
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.take(key, "a list of texts, such as [\"one\", \"two\"]", Some)
    }

    pub(super) fn addresses(&mut self, key: &str) -> Vec<SocketAddr> {
        self.take(key, "a list of addresses with ports, such as [\"0.0.0.0:8443\"]", Some).unwrap_or_default()
    }

    /// Takes one address with its port.
    pub(super) fn address(&mut self, key: &str) -> Option<SocketAddr> {
        self.take(key, "an address with its port, such as \"0.0.0.0:20007\"", Some)
    }

    /// Takes a list of addresses without ports.
    pub(super) fn ips(&mut self, key: &str) -> Vec<IpAddr> {
        self.take(key, "a list of addresses, such as [\"192.168.1.20\"]", Some).unwrap_or_default()
    }

    /// Reads a table below this one. A missing table counts as empty.
    pub(super) fn section<T>(&mut self, key: &str, read: impl FnOnce(&mut Section<'_>) -> T) -> T {
        let mut table: Table = self.take(key, &format!("a table [{key}]"), Some).unwrap_or_default();
        let prefix = format!("{}{key}.", self.prefix);
        let mut section = Section { prefix, table: &mut table, faults: self.faults };
        let read = read(&mut section);
        section.nothing_else();
        read
    }

    /// Reads a list of tables, each below `[[key]]`.
    pub(super) fn sections<T>(&mut self, key: &str, read: impl Fn(&mut Section<'_>) -> T) -> Vec<T> {
        let tables: Vec<Table> = self.take(key, &format!("tables [[{key}]]"), Some).unwrap_or_default();
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
            self.fault(&key, "is not a key of this file", "correct the name or omit it; the manual lists the keys");
        }
    }
}
