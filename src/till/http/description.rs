//! The machine-readable description of the interface (OpenAPI 3.1), generated from its verbs and types. It is generated
//! for the manual, and for the tests that compare `openapi.json` with it. The agent only serves that file.
//!
//! Each route describes its request and answers next to its handler (`routes!`). The schemas come from the types (with
//! schemars), and the refusals from the closed list (`till/problem.rs`). Each example is parsed with its type.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
pub(super) use serde_json::json;
use serde_json::{Map, Value};

pub(super) use super::examples;
pub(super) use crate::till::ProblemType;
use crate::till::{ProblemView, Verb};

/// The descriptions of the parts of paths in braces.
const PARTS_OF_PATHS: &[(&str, &str)] = &[
    ("reference", "The till's reference for the transaction."),
    ("number", "The number in the terminal's journal."),
    ("close", "The number of the close of day, `last`, or `open` for a preview of the next one."),
    ("id", "The id of the payment at the gateway."),
    ("name", "The operator's name."),
];

/// The refusals that any request may get.
const ANYWHERE: &[ProblemType] =
    &[ProblemType::Unauthorized, ProblemType::Forbidden, ProblemType::TooManyRequests, ProblemType::NoPlace];
/// The refusals about the operator at the counter.
const OF_A_PERSON: &[ProblemType] =
    &[ProblemType::OperatorRequired, ProblemType::SessionEnded, ProblemType::OperatorRole];
/// The refusals that any request with a body may get.
const OF_A_BODY: &[ProblemType] =
    &[ProblemType::Malformed, ProblemType::Timeout, ProblemType::TooLarge, ProblemType::MediaType];

/// The description of one method of one path.
pub(super) struct ApiOperation {
    id: &'static str,
    summary: &'static str,
    text: String,
    query: Option<Schema>,
    headers: Vec<(&'static str, &'static str, Value)>,
    body: Option<(Schema, Value)>,
    answers: Vec<Answer>,
    problems: Vec<ProblemType>,
}

type Schema = fn(&mut Schemas) -> Value;

struct Answer {
    status: u16,
    text: &'static str,
    /// The contents by media type.
    content: Vec<(&'static str, Schema, Value)>,
}

impl ApiOperation {
    /// Creates the description of an operation. `id` is the operation's name in generated programs, and `summary` is
    /// one line.
    pub(super) fn new(id: &'static str, summary: &'static str) -> Self {
        let (text, query, headers, body, answers) = (String::new(), None, Vec::new(), None, Vec::new());
        let mut problems = [ANYWHERE, OF_A_PERSON].concat();
        problems.push(ProblemType::NoAnswer);
        Self { id, summary, text, query, headers, body, answers, problems }
    }

    /// Adds a sentence or two.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.text = format!("{}{}{text}", self.text, if self.text.is_empty() { "" } else { " " });
        self
    }

    /// Adds the rights that the operation needs, from the table of rights.
    pub(super) fn needs(self, verb: Verb) -> Self {
        self.text(&verb.told())
    }

    /// Adds the parameters after the path, which are the fields of `T`.
    pub(super) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(|schemas| schemas.of_request::<T>());
        self.problems.push(ProblemType::Malformed);
        self
    }

    /// Adds a header that the caller may send.
    pub(super) fn header(mut self, name: &'static str, text: &'static str, schema: Value) -> Self {
        self.headers.push((name, text, schema));
        self
    }

    /// Adds the header `Pos-Place`.
    pub(super) fn place(self) -> Self {
        let schema = json!({ "type": "string", "pattern": "^[!-~]{1,45}$" });
        self.header("Pos-Place", "The source of the PIN, from a program that acts for several tills.", schema)
    }

    /// Adds the body, with an example.
    pub(super) fn body<T: JsonSchema + DeserializeOwned>(mut self, example: Value) -> Self {
        drop(read_back::<T>(&example));
        self.body = Some((|schemas| schemas.of_request::<T>(), example));
        self.problems.extend(OF_A_BODY);
        self
    }

    /// Adds an answer with `T` as JSON.
    pub(super) fn answers<T>(self, status: u16, text: &'static str, example: Value) -> Self
    where
        T: JsonSchema + DeserializeOwned + serde::Serialize,
    {
        let read = serde_json::to_value(read_back::<T>(&example)).expect("a view is text and numbers");
        assert_eq!(read, example, "an example of {} has fields that the type does not have", T::schema_name());
        self.content(status, text, "application/json", |schemas| schemas.of_answer::<T>(), example)
    }

    /// Adds an answer with text in this media type.
    pub(super) fn answers_text(self, status: u16, text: &'static str, media: &'static str, example: &str) -> Self {
        self.content(status, text, media, |_| json!({ "type": "string" }), example.into())
    }

    /// Adds an answer with only a status.
    pub(super) fn answers_nothing(mut self, status: u16, text: &'static str) -> Self {
        self.answers.push(Answer { status, text, content: Vec::new() });
        self
    }

    /// Adds an answer with server-sent events, each with a `T` as its data.
    pub(super) fn streams<T: JsonSchema>(self, status: u16, text: &'static str) -> Self {
        let schema: Schema = |schemas| {
            // OpenAPI 3.1 has no schema for a stream. Generators take this one as the data of each event.
            schemas.of_answer::<T>()
        };
        self.content(status, text, "text/event-stream", schema, examples::step())
    }

    fn content(mut self, status: u16, text: &'static str, media: &'static str, schema: Schema, example: Value) -> Self {
        match self.answers.iter_mut().find(|answer| answer.status == status) {
            Some(answer) => answer.content.push((media, schema, example)),
            None => self.answers.push(Answer { status, text, content: vec![(media, schema, example)] }),
        }
        self
    }

    /// Adds refusals to those that every request may get.
    pub(super) fn refuses(mut self, problems: &[ProblemType]) -> Self {
        self.problems.extend(problems);
        self
    }

    fn described(mut self, method: &str, path: &str, schemas: &mut Schemas) -> Value {
        assert_eq!(method == "post", self.body.is_some(), "{method} {path}: only a POST has a body");
        let mut parameters = Vec::new();
        for part in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            let (_, text) = PARTS_OF_PATHS.iter().find(|(known, _)| *known == part).expect("PARTS_OF_PATHS names it");
            let schema = match part {
                "reference" => reference(),
                "number" => json!({ "type": "integer", "format": "uint64", "minimum": 0 }),
                "close" => json!({ "type": "string", "pattern": "^(last|open|[0-9]{1,19})$" }),
                _ => json!({ "type": "string", "minLength": 1 }),
            };
            parameters
                .push(json!({ "name": part, "in": "path", "required": true, "description": text, "schema": schema }));
            let wrong = if part == "reference" { ProblemType::Reference } else { ProblemType::Malformed };
            self.problems.extend([wrong, ProblemType::Malformed]);
        }
        if let Some(query) = self.query {
            parameters.extend(in_query(&query(schemas)));
        }
        parameters.extend(self.headers.iter().map(|(name, text, schema)| {
            json!({ "name": name, "in": "header", "required": false, "description": text, "schema": schema })
        }));
        if parameters.iter().any(|parameter| parameter["name"] == "training") {
            self.problems.push(ProblemType::TrainingOff);
        }
        let mut responses = Map::new();
        for Answer { status, text, content } in self.answers {
            let content: Map<String, Value> = content
                .into_iter()
                .map(|(media, schema, example)| {
                    (media.to_owned(), json!({ "schema": schema(schemas), "example": example }))
                })
                .collect();
            let mut response = json!({ "description": text });
            if !content.is_empty() {
                response["content"] = content.into();
            }
            responses.insert(status.to_string(), response);
        }
        for (status, problems) in by_status(self.problems) {
            responses.insert(status.to_string(), schemas.refusal(status, &problems));
        }
        let mut described = json!({ "operationId": self.id, "summary": self.summary, "responses": responses });
        let mut insert = |key: &str, value: Value| described[key] = value;
        if !self.text.is_empty() {
            insert("description", self.text.into());
        }
        if !parameters.is_empty() {
            insert("parameters", parameters.into());
        }
        if let Some((body, example)) = self.body {
            let schema = body(schemas);
            let content = json!({ "application/json": { "schema": schema, "example": example } });
            insert("requestBody", json!({ "required": true, "content": content }));
        }
        described
    }
}

/// Groups the problems by status, in the order of the list.
fn by_status(mut problems: Vec<ProblemType>) -> BTreeMap<u16, Vec<ProblemType>> {
    problems.sort();
    problems.dedup();
    let mut statuses = BTreeMap::<u16, Vec<ProblemType>>::new();
    for problem in problems {
        statuses.entry(problem.status()).or_default().push(problem);
    }
    statuses
}

/// Parses an example with its type.
fn read_back<T: DeserializeOwned>(example: &Value) -> T {
    serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("an example is wrong: {error}: {example}"))
}

/// The collected schemas, and the refusals.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
    refusals: Map<String, Value>,
}

impl Schemas {
    fn new() -> Self {
        let settings = || {
            let settings = SchemaSettings::draft2020_12();
            settings.with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
            refusals: Map::new(),
        }
    }

    /// Returns the schema to write in place, because each request has its own.
    fn of_request<T: JsonSchema>(&mut self) -> Value {
        T::json_schema(&mut self.requests).to_value()
    }

    fn of_answer<T: JsonSchema>(&mut self) -> Value {
        self.answers.subschema_for::<T>().to_value()
    }

    /// Returns the refusal with this status and one of these problems.
    fn refusal(&mut self, status: u16, problems: &[ProblemType]) -> Value {
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code()).collect();
        let name = codes.join(".");
        if !self.refusals.contains_key(&name) {
            let view = self.of_answer::<ProblemView>();
            let titles: Vec<String> =
                problems.iter().map(|problem| format!("`{}`: {}.", problem.code(), problem.title())).collect();
            // One schema serves all refusals, so that a generated program has one type for them.
            let mut refusal = json!({
                "description": titles.join(" "),
                "content": { "application/problem+json": { "schema": view } },
                "x-codes": codes,
            });
            let header = match status {
                401 => Some(("WWW-Authenticate", json!({ "schema": { "const": "Bearer" } }))),
                429 => Some(("Retry-After", json!({ "schema": { "type": "integer" } }))),
                _ => None,
            };
            if let Some((header, schema)) = header {
                refusal["headers"] = json!({ header: schema });
            }
            self.refusals.insert(name.clone(), refusal);
        }
        json!({ "$ref": format!("#/components/responses/{name}") })
    }

    /// Returns the collected schemas, for `components`.
    fn components(mut self) -> Value {
        let mut schemas = self.answers.take_definitions(true);
        schemas.values_mut().for_each(without_nulls);
        for (name, schema) in self.requests.take_definitions(true) {
            let known = schemas.entry(name.clone()).or_insert_with(|| schema.clone());
            assert_eq!(*known, schema, "{name} differs in requests and answers");
        }
        let bearer =
            json!({ "type": "http", "scheme": "bearer", "description": "The content of the till's token-file." });
        let session = json!({ "type": "apiKey", "in": "header", "name": "Pos-Session", "description": "The operator who is signed in." });
        let ways = json!({ "bearer": bearer, "session": session });
        json!({ "schemas": schemas, "responses": self.refusals, "securitySchemes": ways })
    }
}

/// Returns the schema of a till's reference in requests.
fn reference() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 64, "pattern": REFERENCE })
}

/// The pattern of a reference: printable ASCII without spaces at the ends.
pub(super) const REFERENCE: &str = "^[!-~]([ -~]*[!-~])?$";

/// Returns the fields of an object as parameters.
fn in_query(object: &Value) -> Vec<Value> {
    let required: Vec<&str> = object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = object["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, schema)| {
            let mut schema = without_null(schema.clone());
            let text = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let required = required.contains(&name.as_str());
            json!({ "name": name, "in": "query", "required": required, "description": text, "schema": schema })
        })
        .collect()
}

/// Removes `null` from a schema, because a parameter is present or absent but never `null`.
fn without_null(mut schema: Value) -> Value {
    if let Some(kinds) = schema["type"].as_array() {
        let kind = kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default();
        schema["type"] = kind;
    }
    schema
}

/// Removes `null` from the fields of an answer, because an absent field is never written as `null`.
fn without_nulls(schema: &mut Value) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if required.iter().any(|required| required == name) {
            continue;
        }
        *field = without_null(field.take());
        let kinds = field["anyOf"].as_array().cloned().unwrap_or_default();
        if let [kind, null] = kinds.as_slice()
            && null["type"] == "null"
        {
            let mut kind = kind.clone();
            kind["description"] = field["description"].take();
            *field = kind;
        }
    }
}

/// Returns the whole description.
#[must_use]
pub fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for route in super::api::every_route() {
        let mut described = (route.describe)().described(route.method, route.path, &mut schemas);
        described["tags"] = json!([tag(route.path)]);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = described;
    }
    let tags = TAGS.map(|(name, text, _)| json!({ "name": name, "description": text }));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "pos-agent",
            "version": "1",
            "summary": "The payment terminal's interface for tills",
            "description": "HTTP/1.1 with JSON, on the Unix socket `/run/pos-agent/till.sock`, where the system \
                identifies the user, and on loopback for tills with a token. A reference is one transaction: a \
                repeated request returns that transaction. Fields and words are added within `/v1/` and never change \
                their meaning, so ignore unknown ones; unknown fields of a request are refused. Every answer has \
                `Cache-Control: no-store`. An unknown path returns 404 `not-found`, an unsupported method 405 \
                `method-not-allowed`.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "tags": tags,
        "servers": [{ "url": "http://127.0.0.1:8650", "description": "For tills with a token; the Unix socket serves \
            the same paths." }],
        "security": [{ "bearer": [] }, {}, { "bearer": [], "session": [] }, { "session": [] }],
        "paths": paths,
        "components": schemas.components(),
    });
    for_readers(&mut document);
    with_public_names(document)
}

/// The groups of operations: name, description, and the second parts of their paths.
const TAGS: [(&str, &str, &[&str]); 7] = [
    ("sales", "Transactions: begin, show, cancel, confirm, list; their receipts.", &["sales", "latest", "settle"]),
    ("day", "Sums and closes of day.", &["totals", "closes", "journal"]),
    (
        "terminal",
        "The terminal: status, events, metrics, log.",
        &["status", "events", "metrics", "log-level", "openapi.json"],
    ),
    ("devices", "The reader and the printer between sales.", &["reader", "printer"]),
    ("operators", "Operators, their sessions, and a supervisor's approval.", &["operators", "sessions", "approvals"]),
    ("gateway", "Payments at the gateway.", &["payments", "query"]),
    ("fleet", "Signed commands, for the program that connects the terminal to its fleet.", &["fleet"]),
];

/// Returns the group of a path.
fn tag(path: &str) -> &'static str {
    let part = path.split('/').nth(2).unwrap_or_default();
    let tag = TAGS.iter().find(|(.., parts)| parts.contains(&part));
    tag.map(|(name, ..)| *name).unwrap_or_else(|| panic!("{path} has no group in TAGS"))
}

/// Gives the schemas the names that a till's programmer expects. The type of a view ends with `View` in this program
/// only.
fn with_public_names(mut document: Value) -> Value {
    const OTHERS: [(&str, &str); 7] = [
        ("AttentionView", "AttentionMessage"),
        ("CancelView", "CancelledSale"),
        ("CloseView", "CloseOfDay"),
        ("ConfirmedView", "CommandToConfirm"),
        ("HealthView", "TerminalHealth"),
        ("OutcomeWord", "Outcome"),
        ("Progress", "Event"),
    ];
    let public = |name: &str| match OTHERS.iter().find(|(own, _)| *own == name) {
        Some((_, public)) => (*public).to_owned(),
        None => name.strip_suffix("View").or_else(|| name.strip_suffix("Word")).unwrap_or(name).to_owned(),
    };
    let schemas = document["components"]["schemas"].as_object_mut().map(std::mem::take).unwrap_or_default();
    let count = schemas.len();
    let named: Map<String, Value> = schemas.into_iter().map(|(name, schema)| (public(&name), schema)).collect();
    assert_eq!(named.len(), count, "two schemas have one public name");
    document["components"]["schemas"] = named.into();
    each_reference(&mut document, &|target| {
        let name = target.strip_prefix("#/components/schemas/")?;
        Some(format!("#/components/schemas/{}", public(name)))
    });
    document
}

/// Changes every reference in a document.
fn each_reference(value: &mut Value, change: &impl Fn(&str) -> Option<String>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| each_reference(value, change)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| each_reference(value, change));
            if let Some(Value::String(target)) = object.get_mut("$ref")
                && let Some(changed) = change(target)
            {
                *target = changed;
            }
        }
        _ => {}
    }
}

/// Converts comments in the source to texts for readers of the description, without citations and links to the source.
/// A list of codes becomes an enumeration, whose text ends with the meanings of the codes. The default `null` of
/// optional fields is removed.
fn for_readers(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(for_readers),
        Value::Object(object) => {
            object.values_mut().for_each(for_readers);
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            let most = object.get("format").and_then(|format| LARGEST.iter().find(|(name, _)| format == name));
            if let Some((_, most)) = most.filter(|_| !object.contains_key("maximum")) {
                object.insert("maximum".to_owned(), (*most).into());
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = without_source(text);
            }
            if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
                with_times(properties);
            }
            if let Some(words) = object.get("oneOf").and_then(words) {
                object.remove("oneOf");
                let meanings: Vec<String> = words
                    .iter()
                    .filter(|(_, text)| !text.is_empty())
                    .map(|(word, text)| format!("`{word}`: {text}"))
                    .collect();
                let text = object.get("description").and_then(Value::as_str).unwrap_or_default();
                let text = [&[text.to_owned()], &meanings[..]].concat().join(" ");
                let words: Vec<&String> = words.iter().map(|(word, _)| word).collect();
                let listed = json!({ "type": "string", "enum": words, "description": text.trim() });
                object.extend(listed.as_object().cloned().unwrap_or_default());
            }
        }
        _ => {}
    }
}

/// Marks the times among the fields of an object.
fn with_times(properties: &mut Map<String, Value>) {
    for field in properties.values_mut() {
        let is_time = field["description"].as_str().is_some_and(|text| text.contains("RFC 3339"));
        if is_time && field["type"] == "string" {
            field["format"] = "date-time".into();
        }
    }
}

/// The greatest number in each format.
const LARGEST: &[(&str, u64)] =
    &[("uint64", pos_till_api::GREATEST_NUMBER), ("uint32", u32::MAX as u64), ("uint16", u16::MAX as u64)];

/// Returns the codes of an enumeration with their meanings, if the schema lists codes.
fn words(choices: &Value) -> Option<Vec<(String, String)>> {
    let choices = choices.as_array()?;
    let mut words = Vec::new();
    for choice in choices {
        let text = choice["description"].as_str().unwrap_or_default();
        let text = if text.starts_with("See ") { "" } else { text };
        match (choice["const"].as_str(), choice["enum"].as_array()) {
            (Some(word), _) => words.push((word.to_owned(), text.to_owned())),
            (None, Some(list)) => {
                words.extend(list.iter().filter_map(Value::as_str).map(|word| (word.to_owned(), text.to_owned())));
            }
            (None, None) => return None,
        }
    }
    Some(words)
}

fn without_source(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`Self::", "[`");
    for book in [" (interface: ", " (readers: ", " (design: ", " (security: ", " (tills: "] {
        while let Some((before, after)) = text.split_once(book) {
            let after = after.split_once(')').map_or("", |(_, after)| after);
            text = format!("{before}{after}");
        }
    }
    text.replace("[`", "`").replace("`]", "`")
}
