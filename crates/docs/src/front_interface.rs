//! The description of the whole interface: the agent's, and what the front adds for tills on the network. The front
//! does not contain it. `tests/libraries/run` compares the answers of a real front with it.

use serde_json::{Value, json};

use crate::examples;

/// Returns the agent's description with the front's paths, events for servers, and names for both.
pub(crate) fn complete(mut document: Value) -> Value {
    document["info"]["title"] = "pos-agent and pos-front".into();
    document["info"]["description"] = "A till on the network reaches the terminal through the front, with HTTPS and a \
        token from `POST /front/pair`. A program on the terminal may also reach the agent itself. A reference is one \
        transaction: a repeated request returns that transaction. Within version 1, no field or word changes its \
        meaning. New fields, and new words in fields without an enumeration, may be added, so ignore unknown ones; \
        unknown fields of a request are refused."
        .into();
    document["servers"] = json!([
        { "url": "https://{terminal}:{port}", "description": "The front, for tills on the network.",
          "variables": { "terminal": { "default": "127.0.0.1" }, "port": { "default": "8443" } } },
        { "url": "http://127.0.0.1:8650", "description": "The agent, for a till with a token on the terminal itself." },
    ]);
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.push(json!({ "name": "front", "description": "The front: pairing, session, settings, health." }));
    }
    let responses = document["components"]["responses"].clone();
    with_callback(&mut document["paths"]["/v1/sales"]["post"], &responses);
    for (path, operations) in paths() {
        document["paths"][path] = operations;
    }
    for (name, schema) in schemas() {
        assert!(document["components"]["schemas"][name].is_null(), "{name} is a schema of the agent");
        document["components"]["schemas"][name] = schema;
    }
    document["webhooks"] = webhooks();
    examples::add(&mut document);
    without_unused(&mut document);
    document
}

/// Removes the shared refusals that no operation has any more, because the front adds its own to them.
fn without_unused(document: &mut Value) {
    let paths = document["paths"].to_string();
    if let Some(responses) = document["components"]["responses"].as_object_mut() {
        responses.retain(|name, _| paths.contains(&format!("\"#/components/responses/{name}\"")));
    }
}

/// Adds the header for a callback address to the request that begins a transaction, with the front's refusals.
fn with_callback(begins: &mut Value, responses: &Value) {
    let header = json!({ "name": "Pos-Callback", "in": "header", "required": false,
        "description": "Only at the front: the address that gets the events of this transaction by webhook. \
            A webhook of the terminal must permit it (`callbacks`). The address of a transaction's first request stays.",
        "schema": { "type": "string", "format": "uri", "maxLength": 256 } });
    if let Some(parameters) = begins["parameters"].as_array_mut() {
        parameters.push(header);
    }
    for (status, code, text) in [
        ("422", "callback-not-allowed", "No webhook of the terminal may send to the address in `Pos-Callback`."),
        ("503", "state", "The front cannot write the address to its state; nothing was sent."),
    ] {
        let of_agent = begins["responses"][status]["$ref"].as_str().and_then(|name| name.rsplit('/').next());
        let mut refusal = responses[of_agent.expect("the agent refuses with this status too")].clone();
        let known = refusal["description"].as_str().unwrap_or_default();
        refusal["description"] = format!("{known} `{code}`: {text}").into();
        if let Some(codes) = refusal["x-codes"].as_array_mut() {
            codes.push(code.into());
        }
        begins["responses"][status] = refusal;
    }
}

/// Returns an operation that everyone may ask for.
fn operation(id: &str, summary: &str, responses: Value, more: Value) -> Value {
    let mut operation = json!({ "operationId": id, "summary": summary, "tags": ["front"], "security": [],
                                "responses": responses });
    if let (Some(operation), Value::Object(more)) = (operation.as_object_mut(), more) {
        operation.extend(more);
    }
    operation
}

fn answer(text: &str, schema: &str, example: &Value) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
    json!({ "description": text, "content": { "application/json": { "schema": schema, "example": example } } })
}

fn body(schema: &str, example: &Value) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
    json!({ "requestBody": { "required": true,
                             "content": { "application/json": { "schema": schema, "example": example } } } })
}

/// Returns a refusal with these codes.
fn refused(codes: &[(&str, &str)]) -> Value {
    let text: Vec<String> = codes.iter().map(|(code, text)| format!("`{code}`: {text}")).collect();
    let names: Vec<&str> = codes.iter().map(|(code, _)| *code).collect();
    json!({ "description": text.join(" "), "x-codes": names, "content": { "application/problem+json": {
        "schema": { "$ref": "#/components/schemas/Problem" } } } })
}

const MALFORMED: (&str, &str) = ("malformed", "The request cannot be understood.");
const HOST: (&str, &str) = ("host", "The `Host` is not a name of the terminal.");
const FORBIDDEN: (&str, &str) = ("forbidden", "A change needs the page's own `Origin`, or a till's token.");

fn too_many() -> Value {
    let mut refused = refused(&[("too-many-requests", "Too many requests; wait for `Retry-After` seconds.")]);
    refused["headers"] = json!({ "Retry-After": { "schema": { "type": "integer" } } });
    refused
}

fn of_a_body() -> [(&'static str, Value); 3] {
    [
        ("408", refused(&[("timeout", "The body did not arrive in time.")])),
        ("413", refused(&[("too-large", "The body is too large.")])),
        ("415", refused(&[("media-type", "The body is not JSON.")])),
    ]
}

/// Adds the refusals that every request may get, and those of a body.
fn with_usual(mut responses: Value, has_body: bool) -> Value {
    responses["421"] = refused(&[HOST]);
    responses["429"] = too_many();
    if has_body {
        for (status, refusal) in of_a_body() {
            responses[status] = refusal;
        }
    }
    responses
}

fn paths() -> [(&'static str, Value); 6] {
    let agent_down = refused(&[
        ("agent-down", "The agent does not run; nothing was sent to it."),
        ("no-answer", "The agent did not answer in time."),
    ]);
    let pem = json!({ "description": "The CA as PEM. Compare its fingerprint with the terminal's.",
        "content": { "application/x-pem-file": { "schema": { "type": "string" } } } });
    let session = || {
        let example = json!({ "operator": "Anna", "role": "cashier", "till": "local" });
        answer("The operator of this browser's cookie; `null` without one.", "FrontSession", &example)
    };
    let request = json!([{ "name": "request", "in": "path", "required": true,
        "description": "`request` from the answer to `POST /front/pair`.",
        "schema": { "type": "string", "pattern": "^[0-9a-f]{32}$" } }]);
    let mut confirms = body("PairingCode", &json!({ "code": "482915" }));
    confirms["parameters"] = request;
    let closed = ("pairing-closed", "Pairing is not open; a person at the terminal opens it.");
    let wrong = ("wrong-code", "The code differs from the one that the terminal shows.");
    [
        (
            "/front/certificate.pem",
            json!({ "get": operation("terminalCa", "Get the CA of the terminal's certificate",
                with_usual(json!({ "200": pem, "404": refused(&[("not-found", "The front has no certificate.")]) }), false), json!({})) }),
        ),
        (
            "/front/health",
            json!({ "get": operation("frontHealth", "Get the state of the agent and of the webhooks",
                with_usual(json!({ "200": answer("The state.", "FrontHealth",
                    &json!({ "agent": "up", "since": "2026-11-20T12:00:00Z", "webhooks": [] })) }), false), json!({})) }),
        ),
        (
            "/front/pair",
            json!({ "post": operation("askForPairing", "Ask for a token as a till",
                with_usual(json!({
                    "202": answer("A person at the terminal now approves the code that the terminal shows.", "PairingRequest",
                        &json!({ "goodForS": 300, "request": "5f0c2a9d1e7b3a445f0c2a9d1e7b3a44" })),
                    "400": refused(&[MALFORMED]), "403": refused(&[closed, FORBIDDEN]),
                }), true),
                body("PairingName", &json!({ "name": "kasse-2" }))) }),
        ),
        (
            "/front/pair/{request}",
            json!({ "post": operation("takeToken", "Send the code that the terminal shows, and get the token once it is approved",
                with_usual(json!({
                    "201": answer("The token; only this answer contains it.", "PairedTill",
                        &json!({ "till": "kasse-2", "token": "1e565acf84cab92d06f469fd236c2e0d38a38a95d97af73f12b0b21ced8d5d68" })),
                    "202": answer("The code is right, and no person has approved it yet; send it again.", "PairingWait",
                        &json!({ "state": "waiting-for-approval" })),
                    "400": refused(&[MALFORMED]), "403": refused(&[closed, wrong, FORBIDDEN]),
                    "404": refused(&[("no-such-request", "The request is unknown, refused or too old."),
                                     ("not-found", "There is no such path.")]),
                }), true), confirms) }),
        ),
        (
            "/front/session",
            json!({ "get": operation("frontSession", "Show the operator of this browser",
                        with_usual(json!({ "401": refused(&[("sign-in", "No operator is signed in, and the page needs one.")]), "200": session() }), false), json!({})),
                    "post": operation("frontSignIn", "Sign in an operator in this browser, with a cookie",
                        with_usual(json!({ "200": session(), "400": refused(&[MALFORMED]),
                            "401": refused(&[("wrong-pin", "Operator or PIN is wrong.")]),
                            "403": refused(&[FORBIDDEN]), "422": refused(&[("operator", "The operator name is not valid."), ("pin", "The PIN is not valid.")]),
                            "503": agent_down }), true),
                        body("FrontCredentials", &json!({ "operator": "Anna", "pin": "4862" }))),
                    "delete": operation("frontSignOut", "Sign out",
                        with_usual(json!({ "204": { "description": "Signed out." }, "403": refused(&[FORBIDDEN]) }), false), json!({})) }),
        ),
        (
            "/front/settings",
            json!({ "get": operation("frontSettings", "Get what a page must know before anyone signs in",
                with_usual(json!({ "200": answer("The settings.", "FrontSettings", &json!({
                    "terminal": "12345678", "merchant": ["Corner Shop"], "currency": "EUR", "exponent": 2,
                    "language": "en", "languages": ["de", "en"], "operators": false, "mayPair": true, "mayTrain": false,
                    "version": "0cb799d7032bc4a7" })), "503": agent_down }), false), json!({})) }),
        ),
    ]
}

fn object(text: &str, required: &[&str], properties: Value, is_closed: bool) -> Value {
    let mut schema = json!({ "type": "object", "description": text, "required": required, "properties": properties });
    if is_closed {
        schema["additionalProperties"] = false.into();
    }
    schema
}

fn schemas() -> Vec<(&'static str, Value)> {
    let text = |text: &str| json!({ "type": "string", "description": text });
    let number = |text: &str| json!({ "type": "integer", "minimum": 0, "description": text });
    let truth = |text: &str| json!({ "type": "boolean", "description": text });
    let time = |text: &str| json!({ "type": "string", "format": "date-time", "description": text });
    let texts = |text: &str| json!({ "type": "array", "items": { "type": "string" }, "description": text });
    let hook = json!({ "type": "object", "additionalProperties": true });
    vec![
        (
            "FrontHealth",
            object(
                "The state of the front.",
                &["agent", "since"],
                json!({
                    "agent": { "type": "string", "description": "`up`, `down` or `silent`." },
                    "since": time("The time since when this is so (UTC, RFC 3339)."),
                    "payouts": number("The number of payouts of tills that wait for a supervisor at the page; absent if there is none."),
                    "webhooks": { "type": "array", "items": hook, "description": "The webhooks, for this terminal and paired tills only." },
                }),
                false,
            ),
        ),
        (
            "FrontCredentials",
            object(
                "An operator's name and PIN.",
                &["operator", "pin"],
                json!({
            "operator": text("The operator's name."), "pin": text("The PIN.") }),
                true,
            ),
        ),
        (
            "FrontSession",
            object(
                "The operator of a browser.",
                &["operator"],
                json!({
            "operator": { "type": ["string", "null"], "description": "The name; `null` if no one is signed in." },
            "role": text("The role."), "till": text("The page's till.") }),
                false,
            ),
        ),
        (
            "FrontSettings",
            object(
                "What a page must know before anyone signs in.",
                &["terminal", "merchant", "currency", "exponent", "language", "languages", "version"],
                json!({
                    "terminal": text("The terminal id."), "merchant": texts("The lines at the top of the receipt."),
                    "currency": text("The currency (ISO 4217)."), "exponent": number("The number of decimals."),
                    "language": text("The terminal's language."), "languages": texts("The languages of the page."),
                    "operators": truth("True if an operator must be signed in for anything that moves money."),
                    "mayPair": truth("True if the front may pair tills."), "mayTrain": truth("True if training is allowed."),
                    "accent": { "type": ["string", "null"], "description": "The shop's colour, as `#rrggbb`." },
                    "logo": truth("True if the shop has a logo, at `/front/logo`."),
                    "customer": truth("True if the customer's screen may be opened."),
                    "browsers": truth("True if a browser may be paired with the page."),
                    "tips": { "anyOf": [{ "$ref": "#/components/schemas/Tips" }, { "type": "null" }],
                              "description": "The tips that a page should offer." },
                    "waits": { "anyOf": [{ "$ref": "#/components/schemas/Waits" }, { "type": "null" }],
                               "description": "The terminal's longest waits." },
                    "version": text("The version of the page's files."),
                }),
                false,
            ),
        ),
        (
            "PairedTill",
            object(
                "A paired till.",
                &["till", "token"],
                json!({
            "till": text("The till's name at the terminal."),
            "token": text("The token for `Authorization: Bearer`.") }),
                false,
            ),
        ),
        (
            "PairingCode",
            object(
                "The code that the terminal shows.",
                &["code"],
                json!({
            "code": { "type": "string", "pattern": "^[0-9]{6}$", "description": "Six digits." } }),
                true,
            ),
        ),
        (
            "PairingName",
            object(
                "The till that asks for a token.",
                &["name"],
                json!({
            "name": { "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[!-~]([ -~]*[!-~])?$",
                      "description": "The name that the person at the terminal sees." } }),
                true,
            ),
        ),
        (
            "PairingRequest",
            object(
                "A request that waits for its code.",
                &["request", "goodForS"],
                json!({
            "request": text("The last part of the path for the code."),
            "goodForS": number("The time in which the code must be sent, in seconds.") }),
                false,
            ),
        ),
        (
            "PairingWait",
            object(
                "The code is right, and no one has approved it yet.",
                &["state"],
                json!({
            "state": { "type": "string", "enum": ["waiting-for-approval"], "description": "The state." } }),
                false,
            ),
        ),
        (
            "WebhookTest",
            object(
                "The body of a test, which a person at the terminal asks for (`pos-front webhook test`).",
                &["type", "timestamp", "data"],
                json!({
            "type": { "type": "string", "enum": ["test"], "description": "The type of a test." },
            "timestamp": time("The time of the test (UTC, RFC 3339)."),
            "data": object("The webhook.", &["webhook"], json!({ "webhook": text("The name of the webhook in front.toml.") }), false) }),
                false,
            ),
        ),
        (
            "WebhookMessage",
            object(
                "The body of a webhook (Standard Webhooks 1.0.0).",
                &["type", "timestamp", "data"],
                json!({
            "type": text("The step, as in `data.step`."), "timestamp": time("The time of the step (UTC, RFC 3339)."),
            "data": { "$ref": "#/components/schemas/Event" } }),
                false,
            ),
        ),
    ]
}

/// Returns the requests that the front sends to a till's server.
fn webhooks() -> Value {
    let header = |name: &str, text: &str| json!({ "name": name, "in": "header", "required": true, "description": text, "schema": { "type": "string" } });
    let message = |id: &str, summary: &str, schema: &str, accepted: &str| {
        json!({ "post": {
            "operationId": id,
            "summary": summary,
            "tags": ["front"],
            "security": [],
            "parameters": [
                header("webhook-id", "The id of the event; a repeated event has the same one."),
                header("webhook-timestamp", "The time of this attempt, in seconds since 1970."),
                header("webhook-signature", "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` under the secret."),
            ],
            "requestBody": { "required": true, "content": { "application/json": {
                "schema": { "$ref": format!("#/components/schemas/{schema}") } } } },
            "responses": { "2XX": { "description": accepted } },
        } })
    };
    json!({
        "step": message("webhook", "A step of a transaction, as configured in `[[webhook]]`", "WebhookMessage",
            "The event is accepted. After any other answer, the front sends it again."),
        "test": message("webhookTest", "A test, at the same address: type `test`, sent once", "WebhookTest",
            "The test is accepted. The front does not send it again."),
    })
}
