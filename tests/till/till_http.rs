//! The JSON interface over a real Unix socket and real TCP, byte by byte. The agent follows a script.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use easy_ext::ext;
use pos_agent::config::{Right, Rights, Socket, Till, TillToken};
use pos_agent::till::http::{self, Error};
use pos_agent::till::{Caller, ProblemType, ProblemView, ProgressLog, ServedTerminal};
use pos_core::wish::EarlierName;
use pos_daemon::systemd::Sockets;
use pos_terms::money::Currency;
use pos_terms::transaction::{PaymentId, ReceiptCopy, Reference, SaleNumber};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{mpsc, oneshot};

use crate::events::Listener;
use crate::fake_agent::{self, Shop, TOKENS};

/// The status, head and body of an answer.
pub(super) struct Answer(pub(super) u16, String, String);

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.2).unwrap_or_else(|error| panic!("{error}: {}", self.2))
    }

    /// Returns the code of a problem in RFC 9457 form.
    pub(super) fn code(&self) -> String {
        assert!(self.1.contains("content-type: application/problem+json"), "{}", self.1);
        let view: ProblemView = serde_json::from_str(&self.2).unwrap_or_else(|error| panic!("{error}: {}", self.2));
        let problem = ProblemType::ALL.iter().find(|problem| problem.code() == view.code).unwrap();
        assert_eq!(
            (view.type_uri.as_str(), view.title.as_str(), view.status),
            (problem.type_uri(), problem.title(), self.0)
        );
        assert!(!view.detail.is_empty());
        let retry = view.retry_after_s.map(|seconds| format!("retry-after: {seconds}"));
        assert!(retry.is_none_or(|retry| self.1.contains(&retry)), "{}", self.1);
        view.code
    }
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &[u8]) -> Answer {
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    Answer(head[9..12].parse().unwrap(), head.to_ascii_lowercase(), body.to_owned())
}

pub(super) fn get_request(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").into_bytes()
}

fn post_request(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

const JSON: &str = "Content-Type: application/json\r\n";

pub(super) fn token(n: usize) -> String {
    format!("Authorization: Bearer {}\r\n", TOKENS[n - 1])
}

#[ext(Asks)]
impl Shop {
    pub(super) async fn get(&self, path: &str) -> Answer {
        exchange(UnixStream::connect(&self.socket).await.unwrap(), &get_request(path, "")).await
    }

    pub(super) async fn get_as_text(&self, path: &str) -> Answer {
        let request = get_request(path, "Accept: text/plain\r\n");
        exchange(UnixStream::connect(&self.socket).await.unwrap(), &request).await
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> Answer {
        exchange(UnixStream::connect(&self.socket).await.unwrap(), &post_request(path, JSON, body.as_bytes())).await
    }

    pub(super) async fn tcp(&self, request: &[u8]) -> Answer {
        exchange(TcpStream::connect(self.http).await.unwrap(), request).await
    }
}

pub(super) fn sale(reference: &str, amount: &str) -> String {
    format!(r#"{{"reference":"{reference}","amount":"{amount}"}}"#)
}

#[tokio::test]
async fn a_sale_is_begun_once_and_answered_again() {
    let shop = fake_agent::open(16).await;
    let first = shop.post("/v1/sales", &sale("r 1", "12.34")).await;
    assert_eq!(first.0, 201);
    let view = first.json();
    assert_eq!((&view["till"], &view["reference"], &view["replayed"]), (&"local".into(), &"r 1".into(), &false.into()));
    assert_eq!(
        (&view["amount"], &view["currency"], &view["state"]),
        (&"12.34".into(), &"EUR".into(), &"waiting-for-card".into())
    );
    let again = shop.post("/v1/sales", &sale("r 1", "12.34")).await;
    assert_eq!((again.0, &again.json()["replayed"], &again.json()["number"]), (200, &true.into(), &view["number"]));
    let differs = shop.post("/v1/sales", &sale("r 1", "12.35")).await;
    assert_eq!((differs.0, differs.code().as_str()), (409, "amount-differs"));
    // The same reference at another till is another sale, in a currency of that till's choice.
    let body = br#"{"reference":"r 1","amount":"1200","currency":"JPY"}"#;
    let other = shop.tcp(&post_request("/v1/sales", &(token(2) + JSON), body)).await;
    assert_eq!((other.0, &other.json()["till"], &other.json()["currency"]), (201, &"till-2".into(), &"JPY".into()));
    let shown = shop.get("/v1/sales/r%201").await;
    assert_eq!((shown.0, &shown.json()["amount"]), (200, &"12.34".into()));
}

#[tokio::test]
async fn what_the_agent_refuses_has_its_status_and_code() {
    let shop = fake_agent::open(16).await;
    for (reference, status, code) in [
        ("busy", 409, "busy"),
        ("unready", 503, "not-ready"),
        ("refused-amount", 422, "amount"),
        ("journal", 503, "journal"),
        ("drop", 503, "no-answer"),
    ] {
        let answer = shop.post("/v1/sales", &sale(reference, "1.00")).await;
        assert_eq!((answer.0, answer.code().as_str()), (status, code), "{reference}");
    }
    for path in ["/v1/sales/none", "/v1/sales/none?wait-s=5"] {
        let answer = shop.get(path).await;
        assert_eq!((answer.0, answer.code().as_str()), (404, "no-such-sale"));
    }
    let answer = shop.post("/v1/sales/none/cancel", "").await;
    assert_eq!((answer.0, answer.code().as_str()), (404, "no-such-sale"));
}

/// Checks that facts have their own members, so that no program has to parse a sentence.
#[tokio::test]
async fn a_problem_names_the_field_and_the_transaction() {
    let shop = fake_agent::open(16).await;
    let told = |answer: Answer| {
        answer.code();
        let json = answer.json();
        ["field", "till", "reference"].map(|fact| json[fact].as_str().unwrap_or("-").to_owned()).join(" ")
    };
    for (body, facts) in [
        (sale("busy", "1.00"), "- till-2 other"),
        (sale("parameter", "1.00"), "merchantMemo - -"),
        (sale("r", "1,00"), "amount - -"),
        (r#"{"reference":"r","amount":"1.00","currency":"XXX"}"#.to_owned(), "currency - -"),
        (r#"{"reference":"r","amount":1}"#.to_owned(), "amount - -"),
        (r#"{"reference":"r","kind":"refund","of":" "}"#.to_owned(), "of - -"),
        (r#"{"reference":"r","amount":"1.00","parameters":7}"#.to_owned(), "parameters - -"),
        ("7".to_owned(), "- - -"),
    ] {
        assert_eq!(told(shop.post("/v1/sales", &body).await), facts, "{body}");
    }
    shop.post("/v1/sales", &sale("r", "1.00")).await;
    assert_eq!(told(shop.post("/v1/sales", &sale("r", "2.00")).await), "- - r");
    assert_eq!(told(shop.get("/v1/sales/none").await), "- local none");
    assert_eq!(told(shop.get("/v1/sales/%07").await), "reference - -");
    let foreign = shop.tcp(&get_request("/v1/sales/r?till=till-2", &token(1))).await;
    assert_eq!(told(foreign), "- - -");
}

/// Problems that concern operators. `operators` tests them at the real agent.
const OF_OPERATORS: [&str; 12] = [
    "operator-required",
    "wrong-pin",
    "session-ended",
    "operator-role",
    "supervisor-needed",
    "not-approved",
    "no-supervisor",
    "no-such-operator",
    "operator-exists",
    "operator-locked",
    "pin-under-way",
    "pin",
];

/// Problems that concern a fleet. `tests/terminal/fleet.rs` tests them at the real agent.
const OF_FLEET: [&str; 3] = ["no-fleet", "not-signed", "no-such-command"];

/// Checks that each problem occurs. `crowds` tests the problems that need several simultaneous callers. The tests of
/// the connection slots cover `no-place`, and the agent's tests cover a full list of operators.
#[tokio::test(start_paused = true)]
async fn every_problem_of_the_list_is_met() {
    let shop = fake_agent::open(16).await;
    let mut met: BTreeSet<String> =
        ["too-many-requests", "too-many-listeners", "list-under-way", "no-place", "too-many-operators"]
            .map(str::to_owned)
            .into();
    for code in OF_OPERATORS {
        assert!(include_str!("operators.rs").contains(&format!("\"{code}\"")), "{code}");
        met.insert(code.to_owned());
    }
    for code in OF_FLEET {
        assert!(include_str!("../terminal/fleet.rs").contains(&format!("\"{code}\"")), "{code}");
        met.insert(code.to_owned());
    }
    let begin = |reference: &str| post_request("/v1/sales", JSON, sale(reference, "1.00").as_bytes());
    let words = ["busy", "unready", "refused-amount", "journal", "drop", "not-possible", "parameter", "gateway"];
    let words =
        words.into_iter().chain(["nothing-typed", "printer", "no-signature", "no-confirmation", "no-receipt", " "]);
    let mut requests: Vec<Vec<u8>> = words.map(begin).collect();
    requests.extend([
        get_request("/", ""),
        get_request("/v1/sales/none", ""),
        get_request("/v1/closes/7", ""),
        get_request("/v1/closes/7", "Accept: image/png\r\n"),
        get_request("/v1/sales/r/cancel", ""),
        post_request("/v1/sales", "", b"{}"),
        post_request("/v1/sales", JSON, b"[]"),
        post_request("/v1/sales", JSON, br#"{"reference":"r","amount":"1.00","training":"approved"}"#),
        post_request("/v1/sales", JSON, &[b' '; 65 * 1024]),
        post_request("/v1/sales", JSON, br#"{"reference":"r","amount":"1.00","currency":"XXX"}"#),
        post_request("/v1/sales", JSON, br#"{"reference":"r","amount":"1.00","operator":" "}"#),
        // The body is never completed.
        b"POST /v1/sales HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            .to_vec(),
        begin("known"),
        post_request("/v1/sales", JSON, sale("known", "2.00").as_bytes()),
    ]);
    for request in requests {
        let answer = exchange(UnixStream::connect(&shop.socket).await.unwrap(), &request).await;
        met.extend((answer.0 >= 400).then(|| answer.code()));
    }
    met.insert(shop.tcp(&get_request("/v1/status", "")).await.code());
    met.insert(shop.tcp(&get_request("/v1/query", &token(1))).await.code());
    let all: BTreeSet<String> = ProblemType::ALL.iter().map(|problem| problem.code().to_owned()).collect();
    assert_eq!(met, all);
}

#[tokio::test]
async fn bad_bodies_are_refused_by_what_is_wrong_with_them() {
    let shop = fake_agent::open(16).await;
    for (body, status, code, words) in [
        (
            r#"{"reference":"r","amount":12.34}"#,
            400,
            "malformed",
            "amount: invalid type: floating point `12.34`, expected a string",
        ),
        (r#"{"reference":"r","amount":12}"#, 400, "malformed", "a string such as \"12.34\""),
        (r#"{"reference":"r","amount":null}"#, 400, "malformed", "amount: "),
        (r#"{"reference":"r"}"#, 400, "malformed", "amount: a sale needs it"),
        (r#"{"reference":7,"amount":"1.00"}"#, 400, "malformed", "reference: "),
        (
            r#"{"reference":"r","amount":"1.00","tip":1.00}"#,
            400,
            "malformed",
            "tip: invalid type: floating point `1.0`, expected a string",
        ),
        (r#"{"reference":"r","amount":"1.00","tip":"-1.00"}"#, 422, "amount", "tip: "),
        (r#"{"reference":"r","amount":"1.00","tip":"0.00"}"#, 422, "amount", "omit it for no tip"),
        (r#"{"reference":"r","amount":"1.00","tip":"0.505"}"#, 422, "amount", "tip: "),
        (r#"{"reference":"r","amount":"1.00","tip":"10%"}"#, 422, "amount", "write \"ask\" or an amount"),
        (
            r#"{"reference":"r","kind":"refund","of":"s","amount":"1.00","tip":"0.50"}"#,
            400,
            "malformed",
            "tip: a refund has none",
        ),
        (r#"{"reference":"r","amount":"1.00","training":"win"}"#, 400, "malformed", "unknown variant `win`"),
        (r#"{"reference":"r","amount":"1.00","tips":"1.00"}"#, 400, "malformed", "unknown field `tips`"),
        (r#"{"reference":"r","reference":"s","amount":"1.00"}"#, 400, "malformed", "duplicate field `reference`"),
        (r#"{"reference":"r","amount":"1.00"} x"#, 400, "malformed", "trailing characters"),
        (r#"{"reference":"r","amount":"1.0"#, 400, "malformed", "EOF"),
        ("", 400, "malformed", "missing field `reference`"),
        ("[]", 400, "malformed", "the body must be one JSON object"),
        (r#"{"reference":"r","amount":"0.00"}"#, 422, "amount", "zero"),
        (r#"{"reference":"r","amount":"-1.00"}"#, 422, "amount", "negative"),
        (r#"{"reference":"r","amount":"12,34"}"#, 422, "amount", "12.34"),
        (r#"{"reference":"r","amount":"1.234"}"#, 422, "amount", "2 decimals"),
        (r#"{"reference":"r","amount":"99999999999.00"}"#, 422, "amount", "too large"),
        (r#"{"reference":"r","amount":"1.00","currency":"XXX"}"#, 422, "currency", "ISO 4217"),
        (r#"{"reference":"","amount":"1.00"}"#, 422, "reference", "1 to 64"),
        (r#"{"reference":" r","amount":"1.00"}"#, 422, "reference", "spaces"),
        (r#"{"reference":"é","amount":"1.00"}"#, 422, "reference", "ASCII"),
        (r#"{"reference":"a\nb","amount":"1.00"}"#, 422, "reference", "printable"),
    ] {
        let answer = shop.post("/v1/sales", body).await;
        assert_eq!((answer.0, answer.code().as_str()), (status, code), "{body}");
        let message = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{body}: \"{words}\" is not in \"{message}\"");
    }
    let answer = shop.post("/v1/sales", &sale(&"r".repeat(65), "1.00")).await;
    assert_eq!(answer.code(), "reference");
    let not_utf8 = post_request("/v1/sales", JSON, b"{\"reference\":\"\xFF\",\"amount\":\"1.00\"}");
    let answer = exchange(UnixStream::connect(&shop.socket).await.unwrap(), &not_utf8).await;
    assert_eq!((answer.0, answer.code().as_str()), (400, "malformed"));
    let huge = format!(r#"{{"reference":"r","amount":"{}"}}"#, "1".repeat(64 * 1024));
    let answer = shop.post("/v1/sales", &huge).await;
    assert_eq!((answer.0, answer.code().as_str()), (413, "too-large"));
    assert_eq!(shop.get("/v1/sales").await.json()["sales"], Value::Array(vec![]), "nothing was begun");
}

#[tokio::test]
async fn what_is_not_a_verb_is_answered_in_json_too() {
    let shop = fake_agent::open(16).await;
    for (request, status, code) in [
        (get_request("/", ""), 404, "not-found"),
        (get_request("/v2/sales", ""), 404, "not-found"),
        (get_request("/v1/sales/a/b/c", ""), 404, "not-found"),
        (get_request("/v1/sales/r/cancel", ""), 405, "method-not-allowed"),
        (post_request("/v1/status", JSON, b""), 405, "method-not-allowed"),
        (
            b"DELETE /v1/sales/r HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_vec(),
            405,
            "method-not-allowed",
        ),
        (post_request("/v1/sales", "", b"{}"), 415, "media-type"),
        (post_request("/v1/sales", "Content-Type: text/plain\r\n", b"{}"), 415, "media-type"),
        (post_request("/v1/sales/r/cancel", "", b""), 415, "media-type"),
        (get_request("/v1/sales/%FF", ""), 400, "malformed"),
        (get_request("/v1/sales/%07", ""), 422, "reference"),
        (get_request("/v1/sales/r?wait-s=soon", ""), 400, "malformed"),
        (get_request("/v1/sales/r?wait-s=121", ""), 400, "malformed"),
        (get_request("/v1/sales/r?wait=1", ""), 400, "malformed"),
        (get_request("/v1/sales?limit=0", ""), 400, "malformed"),
        (get_request("/v1/sales?limit=1001", ""), 400, "malformed"),
        (get_request("/v1/sales?since=-1", ""), 400, "malformed"),
        (get_request("/v1/sales/r/receipt?copy=mine", ""), 400, "malformed"),
    ] {
        let answer = exchange(UnixStream::connect(&shop.socket).await.unwrap(), &request).await;
        assert_eq!((answer.0, answer.code().as_str()), (status, code), "{}", String::from_utf8_lossy(&request));
        assert!(answer.1.contains("content-type: application/problem+json"), "{}", answer.1);
    }
}

#[tokio::test]
async fn the_interface_describes_itself_to_whoever_may_read() {
    let shop = fake_agent::open_with(16, |till| till.token[1].rights = [Right::Sale].into_iter().collect()).await;
    let answer = shop.tcp(&get_request("/v1/openapi.json", &token(1))).await;
    assert!(answer.0 == 200 && answer.1.contains("content-type: application/json"), "{}", answer.1);
    assert_eq!(answer.2, include_str!("../../src/till/http/openapi.json"));
    assert_eq!(shop.tcp(&get_request("/v1/openapi.json", &token(2))).await.code(), "forbidden");
    // The descriptions in the answer match: every path exists, and each method belongs to its path.
    let paths = answer.json()["paths"].as_object().unwrap().clone();
    let methods =
        paths.iter().flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(move |key| (path, key)));
    let mut count = 0;
    for (path, method) in methods.filter(|(path, _)| *path != "/v1/events") {
        let path = path.replace("{reference}", "r").replace("{number}", "1").replace("{id}", "1");
        let path = path.replace("{name}", "Anna");
        let request = match method.as_str() {
            "post" => post_request(&path, JSON, b"{}"),
            "delete" => String::from_utf8(get_request(&path, "")).unwrap().replace("GET", "DELETE").into_bytes(),
            _ => get_request(&path, ""),
        };
        let answer = exchange(UnixStream::connect(&shop.socket).await.unwrap(), &request).await;
        let code = if answer.0 < 400 { String::new() } else { answer.code() };
        assert!(code != "not-found" && code != "method-not-allowed", "{method} {path}");
        count += 1;
    }
    assert!(count > 15, "{count}");
}

#[tokio::test]
async fn loopback_needs_a_token_and_no_foreign_page() {
    let shop = fake_agent::open(16).await;
    let own = shop.http;
    let origin = |origin: &str| format!("{}Origin: {origin}\r\n", token(1));
    for (headers, status) in [
        (String::new(), 401),
        ("Authorization: Bearer \r\n".into(), 401),
        (format!("Authorization: Basic {}\r\n", TOKENS[0]), 401),
        (format!("Authorization: Bearer {}x\r\n", TOKENS[0]), 401),
        (format!("{}{}", token(1), token(2)), 401),
        (format!("{}{}", token(2), token(2)), 401),
        (format!("Authorization: Bearer {}\r\n", &TOKENS[0][..17]), 401),
        (format!("Authorization: Bearer {}\r\n", TOKENS[0].replace('0', "1")), 401),
        (token(1), 200),
        (token(2).replace("Bearer", "bearer"), 200),
        (origin("https://evil.example"), 403),
        (origin("null"), 403),
        (origin("https://localhost"), 403),
        (origin("http://localhost"), 200),
    ] {
        let answer = shop.tcp(&get_request("/v1/status", &headers)).await;
        assert_eq!(answer.0, status, "{headers}");
        assert!(status != 401 || (answer.code() == "unauthorized" && answer.1.contains("www-authenticate: bearer")));
        assert!(status != 403 || answer.code() == "forbidden");
    }
    // A caller without a token does not learn which paths exist.
    assert_eq!(shop.tcp(&get_request("/v1/none", "")).await.0, 401);
    // The first request comes from the board's own page. The second uses a foreign host name that points to this
    // address.
    for (host, origin, status) in
        [(own.to_string(), own.to_string(), 200), ("evil.example".into(), "evil.example".into(), 403)]
    {
        let request = format!(
            "GET /v1/status HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{origin}\r\nConnection: close\r\n{}\r\n",
            token(1)
        );
        assert_eq!(shop.tcp(request.as_bytes()).await.0, status, "{host}");
    }
}

#[tokio::test]
async fn each_till_sees_its_own_and_the_socket_sees_all() {
    let shop = fake_agent::open(16).await;
    for (n, reference) in [(1, "a"), (2, "b"), (1, "c")] {
        let request = post_request("/v1/sales", &(token(n) + JSON), sale(reference, "1.00").as_bytes());
        assert_eq!(shop.tcp(&request).await.0, 201);
    }
    let references = |answer: &Answer| -> Vec<String> {
        let sales = answer.json()["sales"].as_array().unwrap().clone();
        sales.iter().map(|sale| sale["reference"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(references(&shop.get("/v1/sales").await), ["a", "b", "c"]);
    assert_eq!(references(&shop.get("/v1/sales?since=1&limit=1").await), ["b"]);
    assert_eq!(references(&shop.tcp(&get_request("/v1/sales", &token(1))).await), ["a", "c"]);
    assert_eq!(shop.tcp(&get_request("/v1/sales/b", &token(1))).await.0, 404);
    // A person at the terminal may handle every till's sales. A till may handle only its own.
    for path in ["/v1/sales/b?till=till-2", "/v1/sales/b/receipt?till=till-2"] {
        assert_eq!(shop.get(path).await.0, 200);
        assert_eq!(shop.tcp(&get_request(path, &token(1))).await.code(), "forbidden");
        assert_eq!(shop.tcp(&get_request(path, &token(2))).await.0, 200);
    }
    let foreign = post_request("/v1/sales/b/cancel?till=till-2", &(token(1) + JSON), b"");
    assert_eq!(shop.tcp(&foreign).await.code(), "forbidden");
    assert_eq!(shop.get("/v1/sales/b?till=till-2").await.json()["state"], "waiting-for-card");
    assert_eq!(shop.post("/v1/sales/b/cancel?till=till-2", "").await.json()["outcome"], "cancelled");
    let status = shop.tcp(&get_request("/v1/status", &token(2))).await.json();
    assert_eq!((&status["terminalId"], &status["current"]), (&"4711".into(), &Value::Null));
    assert_eq!(shop.get("/v1/status").await.json()["current"]["reference"], "a");
    // Every till may learn that the terminal is busy, but not with which sale.
    let busy = shop.tcp(&post_request("/v1/sales", &(token(1) + JSON), sale("busy", "1.00").as_bytes())).await;
    assert_eq!((busy.0, busy.code().as_str()), (409, "busy"));
    assert!(
        !busy.2.contains("till-2") && !busy.2.contains("\"other\"") && busy.2.contains("another till"),
        "{}",
        busy.2
    );
    let own = shop.tcp(&post_request("/v1/sales", &(token(2) + JSON), sale("busy", "1.00").as_bytes())).await;
    assert!(own.2.contains("transaction other of till till-2"), "{}", own.2);
}

#[tokio::test]
async fn what_a_caller_may_do_goes_with_what_it_wants() {
    let mut shop = fake_agent::open(16).await;
    let body = |named: &str| format!(r#"{{"reference":"r","kind":"refund","amount":"1.00",{named}}}"#);
    let wanted = |shop: &mut Shop| shop.wanted.borrow_and_update().clone().unwrap();
    shop.post("/v1/sales", &body(r#""number":17"#)).await;
    let told = wanted(&mut shop);
    let own = rustix::process::geteuid().as_raw();
    assert_eq!(
        (told.wish.of.clone(), told.caller),
        (Some(EarlierName::Number(SaleNumber::new(17))), Caller::root(own)),
        "the person at the terminal"
    );
    for (n, rights) in [(1, Rights::till()), (2, fake_agent::usual_and(&[Right::AnyTill]))] {
        let request = post_request("/v1/sales", &(token(n) + JSON), body(r#""number":17"#).as_bytes());
        shop.tcp(&request).await;
        let told = wanted(&mut shop);
        let caller =
            Caller::token(&TillToken { till: told.till.clone(), token_file: "token".into(), rights, operator: true });
        assert_eq!(
            (told.till, told.wish.of.clone(), told.caller),
            (format!("till-{n}"), Some(EarlierName::Number(SaleNumber::new(17))), caller)
        );
    }
    shop.post("/v1/sales", &body(r#""of":"o","till":"till-2""#)).await;
    let of = EarlierName::Reference { till: "till-2".into(), reference: Reference::parse("o").unwrap() };
    assert_eq!(wanted(&mut shop).wish.of, Some(of));
    shop.post("/v1/sales", &body(r#""payment":"p""#)).await;
    assert_eq!(wanted(&mut shop).wish.of, Some(EarlierName::Payment(PaymentId::new("p"))));
    // A request must use exactly one of them, and the number must be a whole number.
    for (named, words) in [
        (r#""of":"o","number":17"#, "of, number, payment: give only one of these"),
        (r#""number":17,"payment":"p""#, "of, number, payment: give only one of these"),
        (r#""of":"o","payment":"p""#, "of, number, payment: give only one of these"),
        (r#""till":"till-2""#, "of: a refund needs it"),
        (r#""number":17,"till":"till-2""#, "till: allowed only with of"),
        (r#""number":"17""#, "number: "),
        (r#""number":-1"#, "number: "),
        (r#""number":1.5"#, "number: "),
        (r#""number":17,"rights":["any-till"]"#, "unknown field `rights`"),
    ] {
        let answer = shop.post("/v1/sales", &body(named)).await;
        let message = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(answer.code() == "malformed" && message.contains(words), "{named}: {message}");
    }
    assert!(!shop.wanted.has_changed().unwrap(), "nothing of that was asked");
    let named = r#"{"reference":"r","amount":"1.00","number":17}"#;
    assert_eq!(shop.post("/v1/sales", named).await.code(), "malformed", "a sale refers to nothing");
}

#[tokio::test]
async fn only_the_person_at_the_terminal_settles() {
    let shop = fake_agent::open(16).await;
    for reference in ["unconfirmed", "r"] {
        shop.post("/v1/sales", &sale(reference, "1.00")).await;
    }
    for n in [1, 2] {
        let request = post_request("/v1/settle/1", &(token(n) + JSON), br#"{"keep":true}"#);
        let answer = shop.tcp(&request).await;
        assert_eq!((answer.0, answer.code().as_str()), (403, "forbidden"));
    }
    for (path, body, status, code) in [
        ("/v1/settle/one", r#"{"keep":true}"#, 400, "malformed"),
        ("/v1/settle/-1", r#"{"keep":true}"#, 400, "malformed"),
        ("/v1/settle/1", "", 400, "malformed"),
        ("/v1/settle/1", r#"{"keep":"true"}"#, 400, "malformed"),
        ("/v1/settle/1", r#"{"keep":true,"reverse":true}"#, 400, "malformed"),
        ("/v1/settle/2", r#"{"keep":true}"#, 422, "not-possible"),
        ("/v1/settle/9", r#"{"keep":true}"#, 422, "not-possible"),
    ] {
        let answer = shop.post(path, body).await;
        assert_eq!((answer.0, answer.code().as_str()), (status, code), "{path} {body}: {}", answer.2);
    }
    assert_eq!(shop.get("/v1/settle/1").await.code(), "method-not-allowed");
    let answer = shop.post("/v1/settle/1", r#"{"keep":false}"#).await;
    assert_eq!((answer.0, &answer.json()["state"]), (200, &"unconfirmed".into()), "it is being reversed");
    let answer = shop.post("/v1/settle/1", r#"{"keep":true}"#).await;
    assert_eq!((answer.0, &answer.json()["outcome"]), (200, &"approved".into()));
}

#[tokio::test]
async fn receipts_are_text_and_sales_can_be_cancelled() {
    let shop = fake_agent::open(16).await;
    shop.post("/v1/sales", &sale("r", "1.00")).await;
    let answer = shop.get_as_text("/v1/sales/r/receipt").await;
    assert_eq!((answer.0, answer.2.as_str()), (200, "Customer copy of r\nGrüße\n"));
    assert!(answer.1.contains("content-type: text/plain; charset=utf-8"));
    let answer = shop.get_as_text("/v1/sales/r/receipt?copy=merchant").await;
    assert!(answer.2.starts_with(&format!("{:?}", ReceiptCopy::Merchant)));
    let answer = shop.post("/v1/sales/r/cancel", "{}").await;
    assert_eq!((answer.0, &answer.json()["outcome"]), (200, &"cancelled".into()));
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_the_sale_or_with_the_time() {
    let shop = fake_agent::open(4).await;
    shop.post("/v1/sales", &sale("unconfirmed", "1.00")).await;
    let before = tokio::time::Instant::now();
    let answer = shop.get("/v1/sales/unconfirmed?wait-s=7").await;
    assert_eq!((answer.0, &answer.json()["state"]), (200, &"unconfirmed".into()));
    assert!(before.elapsed().as_secs() >= 7);
    // The sale ends during the wait. When other events have pushed its end out of the ring buffer, the agent reads the
    // sale again.
    for reference in ["r", "crowded"] {
        shop.post("/v1/sales", &sale(reference, "1.00")).await;
        let mut waiting = UnixStream::connect(&shop.socket).await.unwrap();
        waiting.write_all(&get_request(&format!("/v1/sales/{reference}?wait-s=120"), "")).await.unwrap();
        while shop.progress.listeners() == 0 {
            tokio::task::yield_now().await;
        }
        let before = tokio::time::Instant::now();
        shop.post(&format!("/v1/sales/{reference}/cancel"), "").await;
        let mut answer = String::new();
        waiting.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("\"outcome\":\"cancelled\""), "{answer}");
        assert!(before.elapsed().as_secs() < 100, "{reference}: it waited for the time, not for the sale");
    }
    // A request for an ended sale is answered immediately.
    assert_eq!(shop.get("/v1/sales/r?wait-s=120").await.json()["state"], "ended");
}

#[tokio::test(start_paused = true)]
async fn a_request_held_open_is_dropped_and_holds_up_nobody() {
    let shop = fake_agent::open(4).await;
    let before = tokio::time::Instant::now();
    let mut half = TcpStream::connect(shop.http).await.unwrap();
    half.write_all(b"GET /v1/status HTTP/1.1\r\nHost: loc").await.unwrap();
    let mut body = UnixStream::connect(&shop.socket).await.unwrap();
    let head =
        "POST /v1/sales HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    body.write_all(head.as_bytes()).await.unwrap();
    let mut idle = UnixStream::connect(&shop.socket).await.unwrap();
    assert_eq!(shop.get("/v1/status").await.0, 200);
    let mut answer = String::new();
    body.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("\"timeout\""), "{answer}");
    for stream in [&mut half as &mut (dyn AsyncRead + Unpin), &mut idle] {
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    }
    assert!((10..60).contains(&before.elapsed().as_secs()), "{:?}", before.elapsed());
}

#[tokio::test]
async fn the_shutdown_ends_everything_and_takes_the_socket_away() {
    let shop = fake_agent::open(4).await;
    assert_eq!(mode(&shop.socket), 0o660);
    let mut listener = Listener::at_socket(&shop, "").await.lines;
    let (done, stopped) = oneshot::channel();
    shop.stop.send(done).await.unwrap();
    stopped.await.unwrap();
    listener.read_to_end(&mut Vec::new()).await.unwrap();
    assert!(!shop.socket.exists());
    assert!(TcpStream::connect(shop.http).await.is_err());
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

async fn serve(socket: PathBuf) -> Result<http::Bound, Error> {
    let config = Till { socket: Socket::at(&socket), ..Till::default() };
    let eur = Currency::from_code("EUR").unwrap();
    http::serve(
        &config,
        ServedTerminal::new(eur),
        Sockets::default(),
        mpsc::channel(1).0,
        ProgressLog::new(1),
        std::future::pending(),
    )
    .await
}

#[tokio::test]
async fn a_stale_socket_is_replaced_and_a_living_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("till.sock");
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let bound = serve(socket.clone()).await.unwrap();
    assert!(bound.http.is_none(), "nothing listens on TCP without tokens");
    UnixStream::connect(&socket).await.unwrap();
    let error = serve(socket.clone()).await.unwrap_err();
    assert!(matches!(error, Error::SocketInUse { .. }), "{error}");
    assert!(std::fs::metadata(&socket).unwrap().file_type().is_socket());

    let file = folder.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    assert!(matches!(serve(file.clone()).await.unwrap_err(), Error::NotASocket { .. }));
    assert_eq!(std::fs::read(&file).unwrap(), b"kept");
    let error = serve(folder.path().join("none/till.sock")).await.unwrap_err().to_string();
    assert!(error.contains("create its folder"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_address_in_use_is_named_with_its_remedy_and_tried_again() {
    let shop = fake_agent::open(4).await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let token_file = shop.folder.path().join("till-1.token");
    let entry = TillToken { till: "till-1".into(), token_file, rights: Rights::till(), operator: true };
    let socket = shop.folder.path().join("other.sock");
    let config =
        Till { socket: Socket::at(&socket), http: taken.local_addr().unwrap(), token: vec![entry], ..Till::default() };
    let terminal = ServedTerminal::new(Currency::from_code("EUR").unwrap());
    let (commands, mut heard) = mpsc::channel(1);
    let bound =
        http::serve(&config, terminal, Sockets::default(), commands, ProgressLog::new(1), std::future::pending())
            .await
            .unwrap();
    assert_eq!(bound.http, None);
    // No task answers the commands. A received command shows that the agent serves the socket.
    let mut asking = UnixStream::connect(&socket).await.unwrap();
    asking.write_all(&get_request("/v1/status", "")).await.unwrap();
    assert!(heard.recv().await.is_some());
    drop(taken);
    while TcpStream::connect(config.http).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
}
