//! Tests that this crate reads and sends what `openapi.json` describes. `pos-docs` writes that file from the agent's
//! types.

use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

use crate::view::{Cancelled, Sales};
use crate::{
    Align, Begin, Close, Copy, Entries, Entry, Kind, OnSilence, Outcome, PrintCode, PrintLine, Problem, Receipt, RowIs,
    Sale, State, Status, Style, Taken, Typed,
};

const DESCRIPTION: &str = include_str!("../../../src/till/http/openapi.json");

fn description() -> Value {
    serde_json::from_str(DESCRIPTION).unwrap()
}

/// Resolves the references in a schema of a document.
fn behind<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    loop {
        let target = match (&schema["$ref"], schema["anyOf"].as_array()) {
            (Value::String(target), _) => target.trim_start_matches('#'),
            // This is a value that may be null.
            (_, Some(forms)) => {
                schema = forms.iter().find(|form| form["type"] != "null").unwrap();
                continue;
            }
            _ => return schema,
        };
        schema = document.pointer(target).unwrap_or_else(|| panic!("{target} is nowhere"));
    }
}

/// Returns the words of a closed list, sorted, without the word for an unknown one.
fn words(schema: &Value) -> Option<Vec<&str>> {
    let all = match (schema["enum"].as_array(), schema["oneOf"].as_array()) {
        (Some(words), _) => words.iter().filter_map(Value::as_str).collect(),
        (_, Some(forms)) => forms
            .iter()
            .flat_map(|form| match form["const"].as_str() {
                Some(word) => vec![word],
                None => words(form).unwrap_or_default(),
            })
            .collect::<Vec<_>>(),
        _ => return None,
    };
    let mut all: Vec<&str> = all.into_iter().filter(|word| *word != "other").collect();
    all.sort_unstable();
    // Forms without a word are objects, such as the kinds of a journal's entry.
    Some(all).filter(|all| !all.is_empty())
}

/// Returns the types of a value, without `null`.
fn types(schema: &Value) -> Vec<&str> {
    if words(schema).is_some() {
        return vec!["string"];
    }
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.into_iter().filter(|name| *name != "null").collect()
}

/// Collects one line for each difference between the schema that is read and the schema that is written.
fn differences((ours, read): (&Value, &Value), (agents, written): (&Value, &Value), at: &str, found: &mut Vec<String>) {
    let (read, written) = (behind(ours, read), behind(agents, written));
    if types(read) != types(written) {
        found.push(format!("{at}: read as {:?}, written as {:?}", types(read), types(written)));
        return;
    }
    // A closed list of words may be read as any text.
    if let Some(words_read) = words(read).filter(|read| words(written).as_ref() != Some(read)) {
        found.push(format!("{at}: {words_read:?} is read, {:?} is written", words(written)));
    }
    if !read["items"].is_null() {
        differences((ours, &read["items"]), (agents, &written["items"]), &format!("{at}[]"), found);
    }
    let required = |schema: &Value, name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    for (name, field) in read["properties"].as_object().into_iter().flatten() {
        match written["properties"].get(name) {
            None => found.push(format!("{at}.{name}: is read, and never written")),
            Some(written_field) => {
                if required(read, name) && !required(written, name) {
                    found.push(format!("{at}.{name}: must be there, and may be absent"));
                }
                differences((ours, field), (agents, written_field), &format!("{at}.{name}"), found);
            }
        }
    }
}

fn read_as<T: JsonSchema>(written: &str) -> Vec<String> {
    let (ours, agents, mut found) = (schema_for!(T).to_value(), description(), Vec::new());
    let schema = &agents["components"]["schemas"][written];
    assert!(schema.is_object(), "no schema {written}");
    differences((&ours, &ours), (&agents, schema), written, &mut found);
    found
}

#[test]
fn what_is_read_is_what_the_agent_writes() {
    let wrong: Vec<String> = [
        read_as::<Sale>("Sale"),
        read_as::<Sales>("Sales"),
        read_as::<Cancelled>("CancelledSale"),
        read_as::<Receipt>("Receipt"),
        read_as::<Status>("Status"),
        read_as::<Close>("CloseOfDay"),
        read_as::<Entries>("Entries"),
        read_as::<Typed>("AmountTyped"),
        read_as::<Problem>("Problem"),
        read_as::<State>("SaleState"),
        read_as::<Outcome>("Outcome"),
        read_as::<Kind>("Kind"),
        read_as::<OnSilence>("OnSilence"),
        read_as::<Copy>("ReceiptCopy"),
        read_as::<RowIs>("ReceiptRowIs"),
    ]
    .concat();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the members of the body that the agent accepts.
fn taken_by(path: &str) -> Value {
    let agents = description();
    behind(&agents, &agents["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]).clone()
}

#[test]
fn what_is_asked_is_what_the_agent_takes() {
    let text = || Some("x".to_owned());
    let begin = Begin {
        currency: text(),
        tip: text(),
        entry: Some(Entry::Manual),
        accept_partial: true,
        confirm: Some(OnSilence::Keep),
        of: text(),
        registration: text(),
        operator: text(),
        till_prints: true,
        till_data: [("a".to_owned(), "b".to_owned())].into(),
        parameters: [("a".to_owned(), "b".to_owned())].into(),
        ..Begin::new("r", Kind::Sale, text())
    };
    let code = Some(PrintCode::Ean13);
    let line =
        PrintLine { value: "v".to_owned(), align: Align::Right, style: Style::Big, code, ..PrintLine::plain("t") };
    assert_eq!(description()["components"]["schemas"]["LineCode"]["enum"], json!(PrintCode::ALL));
    let line_taken = {
        let agents = description();
        agents["components"]["schemas"]["LineToPrint"].clone()
    };
    for (what, sent, taken) in [
        ("begin", json!(begin), taken_by("/v1/sales")),
        ("confirm", json!(Taken::Part { amount: "1.00".to_owned() }), taken_by("/v1/sales/{reference}/confirm")),
        ("line", json!(line), line_taken),
    ] {
        let sent = sent.as_object().unwrap();
        for name in sent.keys() {
            assert!(taken["properties"].get(name).is_some(), "{what}: the agent takes no `{name}`");
        }
        for name in taken["required"].as_array().into_iter().flatten() {
            assert!(sent.contains_key(name.as_str().unwrap()), "{what}: `{name}` is not sent");
        }
    }
}

#[test]
fn a_planted_difference_is_found() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "its schema is read")]
    #[serde(rename_all = "kebab-case")]
    enum Stands {
        Ended,
        Lost,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "its schema is read")]
    struct Planted {
        reference: u64,
        outcome: String,
        state: Stands,
        unheard: Option<String>,
    }
    let found = read_as::<Planted>("Sale");
    let begins = |line: &str| found.iter().any(|found| found.starts_with(line));
    assert!(begins("Sale.reference: read as [\"integer\"], written as [\"string\"]"), "{found:#?}");
    assert!(begins("Sale.outcome: must be there, and may be absent"), "{found:#?}");
    assert!(begins("Sale.state: [\"ended\", \"lost\"] is read"), "{found:#?}");
    assert!(begins("Sale.unheard: is read, and never written"), "{found:#?}");
    assert_eq!(found.len(), 4);
}
