//! A table of answers, whose keys are taken one after the other. Each wrong value is a fault, and is wiped.

use std::cell::RefCell;

use serde_json::{Map, Value};
use zeroize::{Zeroize as _, Zeroizing};

use super::Source;
use crate::answers::Secret;
use crate::message::Fault;

/// A table whose keys are taken one after the other. The keys that are left at the end are unknown.
pub(super) struct Table<'a> {
    pub(super) fields: Map<String, Value>,
    /// The path of the table with a point at its end, or an empty text.
    path: String,
    pub(super) source: Source,
    faults: &'a RefCell<Vec<Fault>>,
}

impl<'a> Table<'a> {
    pub(super) fn of(value: Value, path: String, source: Source, faults: &'a RefCell<Vec<Fault>>) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self { fields, path, source, faults }),
            other => {
                wipe(other);
                faults.borrow_mut().push(fault(path.trim_end_matches('.'), "must be a table", "write it as a table"));
                None
            }
        }
    }

    pub(super) fn tell(&self, key: &str, wrong: &str, remedy: &str) {
        self.faults.borrow_mut().push(fault(&format!("{}{key}", self.path), wrong, remedy));
    }

    pub(super) fn missing(&self, key: &str) {
        self.tell(key, "is missing", "add it");
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.fields.remove(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            other => {
                wipe(other);
                self.tell(key, "must be a text", "write it in quotes");
                None
            }
        }
    }

    /// Takes a text that may not be missing.
    pub(super) fn needed(&mut self, key: &str) -> String {
        if self.fields.get(key).is_none_or(Value::is_null) {
            self.missing(key);
        }
        self.text(key).unwrap_or_default()
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let Value::Array(items) = self.take(key)? else {
            self.tell(key, "must be a list of texts", "write it as [\"…\"]");
            return None;
        };
        let count = items.len();
        let text = |item| if let Value::String(text) = item { Some(text) } else { None };
        let texts: Vec<String> = items.into_iter().filter_map(text).collect();
        if texts.len() < count {
            self.tell(key, "must be a list of texts", "write each text in quotes");
        }
        Some(texts)
    }

    pub(super) fn number(&mut self, key: &str) -> Option<u8> {
        let value = self.take(key)?;
        let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
        if number.is_none() {
            self.tell(key, "must be a number from 0 to 255", "write a number without quotes");
        }
        number
    }

    pub(super) fn truth(&mut self, key: &str) -> Option<bool> {
        let truth = self.take(key)?.as_bool();
        if truth.is_none() {
            self.tell(key, "must be true or false", "write true or false without quotes");
        }
        truth
    }

    pub(super) fn table(&mut self, key: &str) -> Option<Self> {
        let value = self.take(key)?;
        Table::of(value, format!("{}{key}.", self.path), self.source, self.faults)
    }

    pub(super) fn tables(&mut self, key: &str) -> Vec<Self> {
        match self.take(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let table = |(n, item)| Table::of(item, format!("{}{key}[{n}].", self.path), self.source, self.faults);
                items.into_iter().enumerate().filter_map(table).collect()
            }
            Some(other) => {
                wipe(other);
                self.tell(key, "must be a list of tables", &format!("write each one below [[{key}]]"));
                Vec::new()
            }
        }
    }

    /// Takes a secret in the form of the source. The other form is a fault and is wiped.
    pub(super) fn secret(&mut self, key: &str) -> Option<Secret> {
        let mut table = self.table(key)?;
        let secret = match (self.source, table.fields.remove("file"), table.fields.remove("value")) {
            (Source::File, Some(Value::String(file)), None) => Some(Secret::File(file)),
            (Source::Page, None, Some(Value::String(value))) => Some(Secret::Value(Zeroizing::new(value))),
            (_, file, value) => {
                file.into_iter().chain(value).for_each(wipe);
                match self.source {
                    Source::File => self.tell(
                        key,
                        "must be the path of a file, because a file of answers holds no secret",
                        &format!("write {key} = {{ file = \"/path\" }}"),
                    ),
                    Source::Page => self.tell(key, "must be a value, because a page names no file", "send the value"),
                }
                None
            }
        };
        table.end();
        secret
    }

    /// Names the keys that are left.
    pub(super) fn end(self) {
        for (key, value) in self.fields {
            wipe(value);
            let key = key.chars().filter(|letter| !letter.is_control()).take(100).collect::<String>();
            let (path, faults) = (&self.path, self.faults);
            let unknown = fault(&format!("{path}{key}"), "is an unknown key", "correct its name, or remove it");
            faults.borrow_mut().push(unknown);
        }
    }
}

/// Wipes what may be a secret in a wrong place.
fn wipe(value: Value) {
    match value {
        Value::String(mut text) => text.zeroize(),
        Value::Array(items) => items.into_iter().for_each(wipe),
        Value::Object(fields) => fields.into_iter().for_each(|(_, value)| wipe(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub(super) fn fault(key: &str, wrong: &str, remedy: &str) -> Fault {
    Fault { key: key.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}
