//! The terminal's own settings, and what they become with the fleet's.

use std::collections::BTreeMap;

use pos_fleet_terms::SETTINGS;
use serde_json::Value;

use crate::config::{self, Config, ConfigFault};

/// The terminal's own file, as a table and as text.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnSettings {
    table: toml::Table,
    text: String,
}

/// The reason why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotUsable {
    /// A setting that no fleet may give.
    NotAllowed(String),
    /// A value that the check of the configuration refuses, in its own words.
    Value(String),
}

impl OwnSettings {
    pub(super) fn of(text: &str) -> Self {
        Self { table: text.parse().unwrap_or_default(), text: text.to_owned() }
    }

    /// Returns the file's value of a setting; `None` if the file does not have it.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        let (section, key) = name.split_once('.')?;
        let value = self.table.get(section)?.as_table()?.get(key)?;
        serde_json::to_value(value).ok()
    }

    /// Returns the configuration with these settings in the place of the file's own. It is checked as a file is.
    pub(super) fn with(&self, settings: &BTreeMap<String, Value>) -> Result<Config, NotUsable> {
        let mut table = self.table.clone();
        for (name, value) in settings {
            let Some((section, key)) = name.split_once('.').filter(|_| SETTINGS.contains(&name.as_str())) else {
                return Err(NotUsable::NotAllowed(name.clone()));
            };
            let section = table.entry(section).or_insert_with(|| toml::Table::new().into());
            let section = section.as_table_mut().ok_or_else(|| wrong_type(name))?;
            section.insert(key.to_owned(), toml_of(value).ok_or_else(|| wrong_type(name))?);
        }
        let (config, found) = config::checked(&table.to_string());
        if found.is_empty() {
            return config.ok_or_else(|| NotUsable::Value("the settings are not readable".to_owned()));
        }
        // A fault that the file has by itself, such as a missing secret, is not one of these settings.
        let (_, own) = config::checked(&self.text);
        let is_own = |fault: &ConfigFault| own.iter().any(|one| one.key == fault.key && one.wrong == fault.wrong);
        let caused: Vec<String> = found
            .iter()
            .filter(|fault| !is_own(fault))
            // The line is that of no file.
            .map(|fault| ConfigFault { line: None, ..(*fault).clone() }.to_string())
            .collect();
        match caused.is_empty() {
            true => config.ok_or_else(|| NotUsable::Value("the terminal's own file is not readable".to_owned())),
            false => Err(NotUsable::Value(caused.join("; "))),
        }
    }
}

fn wrong_type(name: &str) -> NotUsable {
    NotUsable::Value(format!("{name}: the value has a wrong type"))
}

/// Returns a value in the form of the file. Nothing that a fleet may set is a table or a fraction.
fn toml_of(value: &Value) -> Option<toml::Value> {
    match value {
        Value::Bool(value) => Some((*value).into()),
        Value::Number(value) => value.as_i64().map(Into::into),
        Value::String(value) => Some(value.as_str().into()),
        Value::Array(values) => {
            let values = values.iter().map(|value| toml_of(value).filter(|value| !value.is_array()));
            values.collect::<Option<Vec<_>>>().map(toml::Value::Array)
        }
        Value::Null | Value::Object(_) => None,
    }
}
