//! The check of the file's form: TOML, known keys, and values of the right type. Parsing continues after a fault, so
//! all faults are reported at once.
//!
//! Invalid values are removed, and missing values are taken from [`SAMPLE`], until the result can be read as a
//! configuration. If there were faults, the configuration only serves to find further ones, and is returned together
//! with the faults.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Config, ConfigFault};

/// The replacements for missing values: everything that a file must contain. The agent never runs with these values.
const SAMPLE: &str = r#"
[terminal]
id = "0"
merchant = ["-"]
currency = "EUR"
location = { latitude = "0.0", longitude = "0.0" }
[reader]
protocol = "miura-mpi"
port = "/-"
[gateway]
url = "https://gateway.invalid"
entity-id = "00000000000000000000000000000000"
token-file = "/-"
ca-file = "/-"
[[printer]]
port = "/-"
[[till.token]]
till = "missing"
token-file = "/-"
[[till.peer]]
uid = 4294967294
"#;

/// The greatest number of faults to report, which is more than any file has keys. It also ensures that the loop ends.
const MOST_FAULTS: usize = 1000;

/// The result of reading.
#[derive(Debug)]
pub(super) struct Form {
    /// The configuration as far as it could be read, with replacements. `None` if it cannot be completed, for example
    /// because the file is not TOML.
    pub(super) config: Option<Config>,
    /// The faults of the form, in the order of the file.
    pub(super) faults: Vec<ConfigFault>,
    /// The keys of `config` whose values do not come from the file.
    replaced: BTreeSet<String>,
}

impl Form {
    /// Returns whether a value comes from the file. Faults in replaced values are not reported.
    pub(super) fn wrote(&self, key: &str) -> bool {
        let is_in = |part: &String| {
            key.strip_prefix(part.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        !self.replaced.iter().any(is_in)
    }
}

/// Parses the text of a file.
pub(super) fn read(text: &str) -> Form {
    let mut form = Form { config: None, faults: Vec::new(), replaced: BTreeSet::new() };
    let (mut document, unreadable) = DeTable::parse_recoverable(text);
    for error in &unreadable {
        form.faults.push(fault(text, error, String::new()));
    }
    for _ in 0..MOST_FAULTS {
        if !unreadable.is_empty() {
            break;
        }
        let error = match Config::deserialize(toml::Deserializer::from(document.clone())) {
            Ok(config) => {
                form.config = Some(config);
                break;
            }
            Err(error) => error,
        };
        let mut place = error.span().map(|span| place_of(&document, &span)).unwrap_or_default();
        let whose = written(&place);
        let missing = error.message().strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        let mended = match missing {
            Some(key) => put_in(&mut document, &place, key).map(|()| {
                let of = Segment::Map { key: key.to_owned() };
                written(&[place.as_slice(), &[of]].concat())
            }),
            None => take_out(&mut document, &mut place).map(|()| written(&place)),
        };
        // A value that was removed because it is invalid is not also reported as missing.
        let is_told = missing.is_some() && mended.as_ref().is_some_and(|key| form.replaced.contains(key));
        if !is_told {
            form.faults.push(fault(text, &error, whose));
        }
        let Some(key) = mended else { break };
        form.replaced.insert(key);
    }
    form.faults.sort_by_key(|fault| fault.line);
    form
}

fn fault(text: &str, error: &toml::de::Error, key: String) -> ConfigFault {
    let before = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(before).filter(|byte| *byte == b'\n').count() + 1;
    let version = env!("CARGO_PKG_VERSION");
    let what = if error.message().starts_with("missing field") { "add the key below" } else { "correct" };
    let remedy = format!("{what} that line; the manual (Configure) explains the keys of this version ({version})");
    ConfigFault { line: Some(line), key, wrong: error.message().replace(['\n', '\r'], " "), remedy }
}

/// One step on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// A key of a table.
    Map { key: String },
    /// An item of a list.
    Seq { index: usize },
}

/// Returns the path to the text that an error marks, which is that of the shortest key or value around it. If an error
/// marks the whole file, as for a missing table, the path is empty.
fn place_of(document: &Spanned<DeTable<'_>>, marked: &Range<usize>) -> Vec<Segment> {
    let mut nearest = Nearest { marked: marked.clone(), length: usize::MAX, place: Vec::new() };
    if *marked != document.span() {
        nearest.search(document.get_ref(), &mut Vec::new());
    }
    nearest.place
}

/// The shortest key or value that was found around the marked text.
struct Nearest {
    marked: Range<usize>,
    length: usize,
    place: Vec<Segment>,
}

impl Nearest {
    fn search(&mut self, table: &DeTable<'_>, at: &mut Vec<Segment>) {
        for (key, value) in table {
            at.push(Segment::Map { key: key.get_ref().to_string() });
            self.take(key.span(), at);
            self.search_value(value, at);
            at.pop();
        }
    }

    fn search_value(&mut self, value: &Spanned<DeValue<'_>>, at: &mut Vec<Segment>) {
        self.take(value.span(), at);
        match value.get_ref() {
            DeValue::Table(table) => self.search(table, at),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    at.push(Segment::Seq { index });
                    self.search_value(item, at);
                    at.pop();
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, span: Range<usize>, at: &[Segment]) {
        let is_around = span.start <= self.marked.start && self.marked.end <= span.end;
        if is_around && span.len() <= self.length {
            self.length = span.len();
            self.place = at.to_vec();
        }
    }
}

/// Formats a key like the keys of values: `till.token[0].till`.
fn written(place: &[Segment]) -> String {
    let mut text = String::new();
    for segment in place {
        match segment {
            Segment::Map { key } if text.is_empty() => text.push_str(key),
            Segment::Map { key } => text += &format!(".{key}"),
            Segment::Seq { index } => text += &format!("[{index}]"),
        }
    }
    text
}

/// Returns the table at this path.
fn table<'a, 'i>(document: &'a mut Spanned<DeTable<'i>>, place: &[Segment]) -> Option<&'a mut DeTable<'i>> {
    let mut keys = place.iter();
    let Some(Segment::Map { key }) = keys.next() else { return Some(document.get_mut()) };
    let mut at = document.get_mut().get_mut(key.as_str())?.get_mut();
    for segment in keys {
        at = match (at, segment) {
            (DeValue::Table(table), Segment::Map { key }) => table.get_mut(key.as_str())?.get_mut(),
            (DeValue::Array(list), Segment::Seq { index }) => list.get_mut(*index)?.get_mut(),
            _ => return None,
        };
    }
    match at {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// Removes the key at `place`, or the nearest key that contains it. Afterwards `place` is the path of the removed key.
fn take_out(document: &mut Spanned<DeTable<'_>>, place: &mut Vec<Segment>) -> Option<()> {
    while let Some(last) = place.pop() {
        let Segment::Map { key } = &last else { continue };
        if table(document, place)?.remove(key.as_str()).is_some() {
            place.push(last);
            return Some(());
        }
    }
    None
}

/// Inserts the missing value for `key` at `place`.
fn put_in(document: &mut Spanned<DeTable<'_>>, place: &[Segment], key: &str) -> Option<()> {
    let mut sample = DeTable::parse(SAMPLE).expect("the sample is TOML");
    let first = |segment: &Segment| match segment {
        Segment::Seq { .. } => Segment::Seq { index: 0 },
        other => other.clone(),
    };
    // A single printer may be written as a table instead of a list.
    let mut place_in_sample: Vec<Segment> = place.iter().map(first).collect();
    if place_in_sample.len() == 1 && written(place) == "printer" {
        place_in_sample.push(Segment::Seq { index: 0 });
    }
    let (key, value) = table(&mut sample, &place_in_sample)?.remove_entry(key)?;
    table(document, place)?.insert(key, value).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_a_configuration_without_a_fault_of_its_form() {
        let form = read(SAMPLE);
        assert!(form.faults.is_empty(), "{:?}", form.faults);
        form.config
            .unwrap()
            .check_values()
            .unwrap_or_else(|fault| assert!(fault.key.starts_with("till.peer"), "{fault}"));
    }

    #[test]
    fn everything_that_is_missing_is_named_once_and_stands_for_nothing() {
        let form = read("[terminal]\nmerchant = 7\n[gateway]\n[[till.token]]\n[[till.peer]]\n[[printer]]\n");
        let mut keys: Vec<String> = form.faults.iter().map(ConfigFault::seen).collect();
        keys.sort();
        assert!(form.config.is_some(), "{keys:?}");
        for missing in ["id", "currency", "reader", "url", "entity-id", "ca-file", "till", "token-file", "uid", "port"]
        {
            let told = keys.iter().filter(|fault| fault.contains(&format!("missing field `{missing}`"))).count();
            assert_eq!(told, 1, "{missing}: {keys:?}");
        }
        assert!(!keys.iter().any(|fault| fault.contains("missing field `merchant`")), "wrong, not missing: {keys:?}");
        for (key, is_theirs) in [
            ("reader.port", false),
            ("terminal.merchant", false),
            ("till.token[0].till", false),
            ("till.token[1].till", true),
            ("reader-port", true),
            ("gateway.answer-timeout-ms", true),
        ] {
            assert_eq!(form.wrote(key), is_theirs, "{key}");
        }
    }

    #[test]
    fn what_is_no_toml_is_told_and_nothing_is_made_of_it() {
        let form = read("[terminal\nid = \n");
        assert!(form.config.is_none() && !form.faults.is_empty());
        assert_eq!(form.faults[0].line, Some(1));
    }
}
