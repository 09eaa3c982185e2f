//! The configuration reference: every section of the file, read from the types that read it, and a table for each.

use std::fmt::Write as _;

use pos_agent::config::Config;
use serde_json::Value;

use super::source::members;
use super::{cell, without_citations};

/// The source files of the types. The schemas at run time do not keep the order of the fields.
const SOURCES: [&str; 11] = [
    include_str!("../../../../src/config.rs"),
    include_str!("../../../../src/config/close.rs"),
    include_str!("../../../../src/config/counter.rs"),
    include_str!("../../../../src/config/fleet.rs"),
    include_str!("../../../../src/config/operators.rs"),
    include_str!("../../../../src/config/receipts.rs"),
    include_str!("../../../../src/config/socket.rs"),
    include_str!("../../../gateway/src/config/mod.rs"),
    include_str!("../../../gateway/src/config/assumptions.rs"),
    include_str!("../../../printer/src/config.rs"),
    include_str!("../../../reader/src/config.rs"),
];

/// A section of the file.
pub(crate) struct Section {
    /// `[name]`, or `[[name]]` for a list.
    pub(crate) title: String,
    pub(crate) meaning: String,
    pub(crate) keys: Vec<Key>,
}

/// A key of a section. Backquotes mark the words of the file in its texts.
pub(crate) struct Key {
    pub(crate) name: String,
    /// The kind of its values, with their unit.
    pub(crate) kind: String,
    pub(crate) default: String,
    pub(crate) meaning: String,
}

/// Returns every section with its keys, in the order of the source.
pub(crate) fn read() -> Vec<Section> {
    let schema = schemars::schema_for!(Config).to_value();
    let mut sections = Vec::new();
    for (name, property) in fields(&schema, "Config") {
        section(&mut sections, &schema, &name, property, false);
    }
    sections
}

/// Returns a table for each section.
pub(super) fn tables() -> String {
    let mut text = String::new();
    for Section { title, meaning, keys } in read() {
        let _ = writeln!(text, "\n### `{title}`\n\n{meaning}\n");
        let _ = writeln!(text, "| key | value | default | meaning |\n|---|---|---|---|");
        for Key { name, kind, default, meaning } in keys {
            let _ = writeln!(text, "| `{name}` | {} | {default} | {} |", cell(&kind), cell(&meaning));
        }
    }
    text
}

/// Reads one section and the sections inside it.
fn section(sections: &mut Vec<Section>, whole: &Value, name: &str, property: &Value, repeated: bool) {
    let (table, type_name) = resolved(whole, property.get("items").unwrap_or(property));
    let repeated = repeated || property.get("items").is_some();
    let title = if repeated { format!("[[{name}]]") } else { format!("[{name}]") };
    let comment = property.get("description").or(table.get("description")).and_then(Value::as_str).unwrap_or_default();
    let required: Vec<&str> = table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let keys = fields(table, type_name);
    let (inner, plain): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(_, value)| is_table(whole, value));
    let keys = plain.into_iter().map(|(name, value)| {
        let kind = kind(whole, &name, value);
        let default = match default(value) {
            _ if required.contains(&name.as_str()) => "must be there".to_owned(),
            // The word would be read as the choice.
            none if none == "none" && kind.contains("`none`") => "–".to_owned(),
            default => default,
        };
        Key { kind, default, meaning: meaning(whole, value), name }
    });
    let keys = keys.collect();
    sections.push(Section { title, meaning: without_citations(&comment.replace('\n', " ")), keys });
    for (key, value) in inner {
        section(sections, whole, &format!("{name}.{key}"), value, false);
    }
}

/// Returns the keys of a table with their schemas, in the order of its type.
fn fields<'a>(table: &'a Value, type_name: &str) -> Vec<(String, &'a Value)> {
    let head = format!("struct {type_name}");
    let source =
        SOURCES.iter().find(|source| source.contains(&format!("{head} {{"))).expect("every type has its source");
    let names = members(source, &head).into_iter().map(|member| {
        let (name, _) = member.line.trim_start_matches("pub ").split_once(": ").expect("a field has its type");
        name.replace('_', "-")
    });
    names.filter_map(|key| Some((key.clone(), table["properties"].get(&key)?))).collect()
}

/// Resolves a reference or an optional value. Returns the schema and the name of its type.
fn resolved<'a>(whole: &'a Value, value: &'a Value) -> (&'a Value, &'a str) {
    let one = value.get("anyOf").and_then(|any| any.get(0)).unwrap_or(value);
    let name = one.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or((one, ""), |name| (&whole["$defs"][name], name))
}

fn is_table(whole: &Value, value: &Value) -> bool {
    resolved(whole, value.get("items").unwrap_or(value)).0.get("properties").is_some()
}

/// Returns the values of an enumeration, each with its meaning.
fn choices(value: &Value) -> Vec<(&str, &str)> {
    let listed = value.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    listed
        .filter_map(|choice| {
            let word = choice.get("const").and_then(Value::as_str)?;
            Some((word, choice.get("description").and_then(Value::as_str).unwrap_or_default()))
        })
        .collect()
}

/// Returns the kind of a value and its unit.
fn kind(whole: &Value, key: &str, value: &Value) -> String {
    let (value, _) = resolved(whole, value);
    let words: Vec<String> = choices(value).iter().map(|(word, _)| format!("`{word}`")).collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    let kinds = value.get("type").map(|kinds| kinds.to_string()).unwrap_or_default();
    let of = |kind: &str| kinds.contains(&format!("\"{kind}\""));
    match value.get("items") {
        Some(items) => match items.get("type").and_then(Value::as_str) {
            Some("integer") => match value.get("minItems").and_then(Value::as_u64) {
                Some(count) => format!("list of {count} numbers"),
                None => "list of numbers".to_owned(),
            },
            _ => "list of texts".to_owned(),
        },
        None if of("integer") => format!("number{}", unit(key)),
        None if of("boolean") => "`true` or `false`".to_owned(),
        None if of("object") => "table of texts".to_owned(),
        None => "text".to_owned(),
    }
}

/// Returns the unit of a number, which the end of its key shows.
fn unit(key: &str) -> &'static str {
    match key.rsplit('-').next() {
        Some("ms") => " of milliseconds",
        Some("s") => " of seconds",
        Some("h") => " of hours",
        Some("days") => " of days",
        Some("baud") => " of bits in a second",
        Some("columns") => " of characters",
        Some("left") => " of keys",
        _ => "",
    }
}

/// Returns the default of a key.
fn default(value: &Value) -> String {
    match value.get("default") {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "none".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(Value::Array(list)) if list.is_empty() => "none".to_owned(),
        Some(Value::Object(table)) if table.is_empty() => "none".to_owned(),
        Some(Value::Array(list)) => {
            let words = list.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
            words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        Some(other) => format!("`{other}`"),
    }
}

/// Returns the purpose of a key and the meaning of each choice.
fn meaning(whole: &Value, value: &Value) -> String {
    let mut text = value.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let choices = choices(resolved(whole, value).0);
    for (word, meaning) in choices.iter().filter(|_| choices.len() > 1) {
        let _ = write!(text, " `{word}`: {meaning}");
    }
    without_citations(&text)
}
