//! The answers that the interface's description shows: `clients/examples.json` has what the real programs answered.
//!
//! `POS_EXAMPLES=write cargo test --package pos-sandbox examples` writes the file again. Identifiers, tokens and times
//! have a fixed form in it. Other values differ in each run too, so the test compares the fields of each answer and
//! their types.

use std::collections::BTreeMap;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::shop::{Sandbox, with};

/// The file, seen from this package.
const FILE: &str = "../../clients/examples.json";

/// The answers by operation and status.
#[derive(Default)]
struct Recorded {
    answers: BTreeMap<String, Value>,
    /// The identifiers so far, in the order of their appearance.
    identifiers: Vec<String>,
}

impl Recorded {
    /// Keeps an answer as the example of its operation.
    fn keep(&mut self, operation: &str, expected: u16, (status, answer): (u16, Value)) -> Value {
        assert_eq!(status, expected, "{operation}: {answer}");
        let fixed = self.fixed(&answer);
        assert_eq!(self.answers.insert(format!("{operation} {status}"), fixed), None, "{operation} is asked once");
        answer
    }

    fn fixed(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), self.fixed(value))).collect(),
            Value::Array(values) => values.iter().map(|value| self.fixed(value)).collect(),
            Value::String(text) => self.fixed_text(text).into(),
            other => other.clone(),
        }
    }

    /// Replaces what differs in each run.
    fn fixed_text(&mut self, text: &str) -> String {
        let is_identifier = text.len() >= 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if is_identifier {
            let known = self.identifiers.iter().position(|known| known == text);
            let number = known.unwrap_or_else(|| {
                self.identifiers.push(text.to_owned());
                self.identifiers.len() - 1
            });
            // As long as the identifier, and no number that a reader takes for a real one.
            return format!("{:0>1$}", format!("a{number:02}"), text.len());
        }
        let digits: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        match digits.as_str() {
            "0000-00-00T00:00:00Z" => "2026-11-20T10:00:00Z".to_owned(),
            "0000-00-00T00:00:00.000Z" => "2026-11-20T10:00:00.250Z".to_owned(),
            "0000-00-00" => "2026-11-20".to_owned(),
            _ => text.to_owned(),
        }
    }
}

#[tokio::test]
async fn the_description_shows_answers_of_the_real_programs() {
    let sandbox = Sandbox::start(&[]).await;
    let mut kept = Recorded::default();
    let ask = async |method, path, body| sandbox.agent(method, path, body).await;
    let sale = json!({ "reference": "order-4711", "amount": "12.34" });
    kept.keep("status", 200, ask(Method::GET, "/v1/status", Value::Null).await);
    kept.keep("beginSale", 201, ask(Method::POST, "/v1/sales", sale.clone()).await);
    assert_eq!(sandbox.simulator(Method::POST, "/card", json!({ "card": "tap" })).await.0, 202);
    let shown = kept.keep("showSale", 200, ask(Method::GET, "/v1/sales/order-4711?wait-s=60", Value::Null).await);
    assert_eq!(shown["outcome"], "approved", "{shown}");
    kept.keep("beginSale", 200, ask(Method::POST, "/v1/sales", sale).await);
    let other = json!({ "reference": "order-4711", "amount": "99.00" });
    kept.keep("beginSale", 409, ask(Method::POST, "/v1/sales", other).await);
    kept.keep("showSale", 404, ask(Method::GET, "/v1/sales/none", Value::Null).await);
    kept.keep("listSales", 200, ask(Method::GET, "/v1/sales", Value::Null).await);
    kept.keep("latestSale", 200, ask(Method::GET, "/v1/latest", Value::Null).await);
    kept.keep("receipt", 200, receipt(&sandbox).await);
    kept.keep("printReceipt", 202, ask(Method::POST, "/v1/sales/order-4711/receipt", json!({})).await);
    kept.keep("totals", 200, ask(Method::GET, "/v1/totals", Value::Null).await);
    kept.keep("closeDay", 201, ask(Method::POST, "/v1/closes", json!({ "reference": "Z-2026-11-20" })).await);
    kept.keep("listCloses", 200, ask(Method::GET, "/v1/closes", Value::Null).await);
    kept.keep("showClose", 200, ask(Method::GET, "/v1/closes/1", Value::Null).await);
    kept.keep("printClose", 202, ask(Method::POST, "/v1/closes/1/print", json!({})).await);
    let front = |path: &str| format!("{}{path}", sandbox.text("http"));
    let get = async |path| sandbox.ask(sandbox.client.get(front(path))).await;
    kept.keep("frontHealth", 200, get("/front/health").await);
    kept.keep("frontSettings", 200, get("/front/settings").await);
    assert_eq!(sandbox.simulator(Method::POST, "/pairing", json!({ "open": true })).await.0, 200);
    let post = async |path: &str, body| sandbox.ask(with(sandbox.client.post(front(path)), &body)).await;
    let asked = kept.keep("askForPairing", 202, post("/front/pair", json!({ "name": "till-2" })).await);
    let (_, waiting) = sandbox.simulator(Method::GET, "/pairing", Value::Null).await;
    let code = waiting["waiting"][0]["code"].as_str().unwrap().to_owned();
    let request = format!("/front/pair/{}", asked["request"].as_str().unwrap());
    kept.keep("takeToken", 202, post(&request, json!({ "code": code })).await);
    assert_eq!(sandbox.simulator(Method::POST, "/pairing", json!({ "approve": code })).await.0, 200);
    kept.keep("takeToken", 201, post(&request, json!({ "code": code })).await);
    compare(&kept.answers);
}

async fn receipt(sandbox: &Sandbox) -> (u16, Value) {
    let url = format!("{}/v1/sales/order-4711/receipt?copy=customer", sandbox.text("agent"));
    let request = sandbox.client.get(url).bearer_auth(sandbox.text("token")).header("Accept", "application/json");
    sandbox.ask(request).await
}

/// Compares the answers with the file, or writes it.
fn compare(answers: &BTreeMap<String, Value>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let lines: Vec<String> =
        answers.iter().map(|(name, answer)| format!("{}:{answer}", Value::from(name.as_str()))).collect();
    let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
    if std::env::var_os("POS_EXAMPLES").is_some_and(|verb| verb == "write") {
        std::fs::write(&file, &text).unwrap();
    }
    let written: BTreeMap<String, Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for (name, answer) in answers {
        let written = written.get(name).unwrap_or(&Value::Null);
        assert!(alike(written, answer), "{name}: POS_EXAMPLES=write writes {FILE} again\n{written}\n{answer}");
    }
    assert_eq!(written.len(), answers.len(), "{FILE} has another answer");
}

/// Compares the fields and their types. Lists are compared by their first elements, if both have one.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.keys().eq(other.keys()) && one.iter().all(|(name, value)| alike(value, &other[name]))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.first().zip(other.first()).is_none_or(|(one, other)| alike(one, other))
        }
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

#[test]
fn an_answer_with_another_field_or_type_is_not_alike() {
    let one = json!({ "a": [{ "b": 1 }], "c": null });
    assert!(alike(&one, &json!({ "a": [{ "b": 2 }, {}], "c": null })) && alike(&one, &json!({ "a": [], "c": null })));
    for other in
        [json!({ "a": [{ "b": "1" }], "c": null }), json!({ "a": [{}], "c": null }), json!({ "a": [] }), json!([])]
    {
        assert!(!alike(&one, &other), "{other}");
    }
}
