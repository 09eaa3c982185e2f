//! The examples in the description of the whole interface: answers of the real programs, from `clients/examples.json`.
//! A test of the sandbox records them (`crates/sandbox/tests/sandbox/examples.rs`).

use std::collections::BTreeMap;

use serde_json::Value;

const RECORDED: &str = include_str!("../../../clients/examples.json");

/// Adds each recorded answer to its operation and status. Refusals are examples of the type that all refusals have.
pub(crate) fn add(document: &mut Value) {
    let recorded: BTreeMap<String, Value> = serde_json::from_str(RECORDED).expect("a test writes the file");
    let mut refusals = Vec::new();
    for (name, answer) in recorded {
        let (operation, status) = name.split_once(' ').expect("each name has an operation and a status");
        let response = response(document, operation, status);
        let response = response.unwrap_or_else(|| panic!("{name}: the description has no such answer"));
        match response.pointer_mut("/content/application~1json") {
            Some(content) => content["example"] = answer,
            None => refusals.push(answer),
        }
    }
    document["components"]["schemas"]["Problem"]["examples"] = refusals.into();
}

/// Returns the answer of an operation.
fn response<'a>(document: &'a mut Value, operation: &str, status: &str) -> Option<&'a mut Value> {
    let operations = document["paths"].as_object_mut()?.values_mut().filter_map(Value::as_object_mut);
    let found = operations.flat_map(|methods| methods.values_mut()).find(|found| found["operationId"] == operation)?;
    found["responses"].get_mut(status)
}
