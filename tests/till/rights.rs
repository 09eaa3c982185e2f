//! Rights over real connections. Each verb is tested with each right, for a till with a token and for another user's
//! program at the Unix socket. The tests also check the operators in a real agent's journal.
//!
//! If the tests run as root, the program at the socket is a child process with its own user. Otherwise it is the test
//! process, whose user has its own entry.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::counter::{self, Counter};
use crate::fake_agent::{self, Shop, TOKENS};
use pos_agent::config::{Right, Rights, TillPeer};
use pos_sim::reader::{CardEntry, card};
use pos_sim::shop::{Options, TILL_TOKEN};
use pos_terms::transaction::{Kind, Who};
use serde_json::{Value, json};

/// The environment variable with the child's task as JSON: the socket and the requests.
const SAYS: &str = "POS_AGENT_TEST_SAYS";
const MARK: &str = "answers of the other user: ";

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the user that the program at the socket runs as.
fn someone() -> u32 {
    if own_uid() == 0 { 1234 } else { own_uid() }
}

/// The status and the JSON body of an answer.
struct Answer(u16, Value);

impl Answer {
    fn code(&self) -> &str {
        self.1["code"].as_str().unwrap_or_default()
    }

    fn message(&self) -> &str {
        self.1["detail"].as_str().unwrap_or_default()
    }
}

/// A request: method, path and body.
#[derive(Clone, Debug)]
struct Request(&'static str, String, Value);

fn get(path: &str) -> Request {
    Request("GET", path.to_owned(), Value::Null)
}

fn post(path: &str, body: Value) -> Request {
    Request("POST", path.to_owned(), body)
}

impl Request {
    fn text(&self, headers: &str) -> String {
        let Self(method, path, body) = self;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let length = body.len();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        )
    }

    fn is_stream(&self) -> bool {
        self.1.ends_with("/events")
    }
}

/// Sends a request and returns the answer as it was sent. From a stream it returns only the bytes that arrive
/// immediately.
fn exchange(mut stream: impl Read + Write, text: &str, is_stream: bool) -> String {
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    if is_stream {
        let mut some = [0; 4096];
        while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
            let count = stream.read(&mut some).unwrap();
            answer.extend_from_slice(&some[..count]);
        }
    } else {
        stream.read_to_end(&mut answer).unwrap();
    }
    String::from_utf8(answer).unwrap()
}

fn understood(answer: &str) -> Answer {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    Answer(head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Returns the answers that `uid` gets at the socket.
async fn at_socket(socket: &Path, uid: u32, requests: &[Request]) -> Vec<Answer> {
    let says: Vec<(String, bool)> = requests.iter().map(|one| (one.text(""), one.is_stream())).collect();
    let socket = socket.to_owned();
    let said = tokio::task::spawn_blocking(move || {
        if uid == own_uid() { speak(&socket, &says) } else { speak_as(uid, &socket, &says) }
    });
    said.await.unwrap().iter().map(|answer| understood(answer)).collect()
}

fn speak(socket: &Path, says: &[(String, bool)]) -> Vec<String> {
    let answer = |(text, is_stream): &(String, bool)| exchange(UnixStream::connect(socket).unwrap(), text, *is_stream);
    says.iter().map(answer).collect()
}

/// Runs this program again as another user in the socket's group.
fn speak_as(uid: u32, socket: &Path, says: &[(String, bool)]) -> Vec<String> {
    let folder = socket.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o750)).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "rights::the_voice_of_another_user", "--nocapture"])
        .env(SAYS, json!([socket, says]).to_string())
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .uid(uid)
        .gid(0)
        .output()
        .unwrap();
    let text = String::from_utf8(child.stdout).unwrap();
    let said = text.split_once(MARK).and_then(|(_, rest)| rest.lines().next());
    let said = said.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&child.stderr)));
    serde_json::from_str(said).unwrap()
}

/// Runs as a child of [`speak_as`] and is not a separate test.
#[test]
fn the_voice_of_another_user() {
    let Ok(says) = std::env::var(SAYS) else { return };
    let (socket, says): (PathBuf, Vec<(String, bool)>) = serde_json::from_str(&says).unwrap();
    println!("{MARK}{}", serde_json::to_string(&speak(&socket, &says)).unwrap());
}

async fn with_token(shop: &Shop, requests: &[Request]) -> Vec<Answer> {
    let headers = format!("Authorization: Bearer {}\r\n", TOKENS[0]);
    let says: Vec<(String, bool)> = requests.iter().map(|one| (one.text(&headers), one.is_stream())).collect();
    let http = shop.http;
    let answer = move |(text, is_stream): &(String, bool)| {
        exchange(std::net::TcpStream::connect(http).unwrap(), text, *is_stream)
    };
    let said = tokio::task::spawn_blocking(move || says.iter().map(answer).collect::<Vec<_>>());
    said.await.unwrap().iter().map(|answer| understood(answer)).collect()
}

/// Returns the request that begins a transaction of this kind.
fn begin(kind: Kind, reference: &str) -> Request {
    let mut body = json!({"reference": reference, "kind": kind.as_str()});
    if kind.moves_money() {
        body["amount"] = "1.00".into();
    }
    if kind.has_earlier() {
        body["of"] = "earlier".into();
    }
    if matches!(kind, Kind::ByRegistration | Kind::PreAuthorisationByRegistration | Kind::ForgetCard) {
        body["registration"] = "f".repeat(32).into();
    }
    post("/v1/sales", body)
}

/// Returns the right to begin a transaction of this kind.
fn right_of(kind: Kind) -> Right {
    match kind {
        Kind::Sale | Kind::ByRegistration | Kind::StoreCard | Kind::ForgetCard => Right::Sale,
        Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration | Kind::Increment | Kind::Reauthorisation => {
            Right::PreAuthorise
        }
        Kind::Capture => Right::Capture,
        Kind::Refund => Right::Refund,
        Kind::Reversal => Right::Reverse,
        Kind::Credit => Right::Credit,
    }
}

/// Lists every verb with its rights. One of the rights is enough. A caller with every right has begun `known-KIND`.
fn table() -> Vec<(Request, Vec<Right>)> {
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        let (word, right) = (kind.as_str(), vec![right_of(kind)]);
        rows.push((begin(kind, &format!("new-{word}")), right.clone()));
        let known = format!("/v1/sales/known-{word}");
        rows.push((post(&format!("{known}/signature"), json!({"accepted": true})), right.clone()));
        rows.push((post(&format!("{known}/cancel"), json!({})), right));
    }
    for path in [
        "/v1/sales/known-sale",
        "/v1/sales/known-sale?wait-s=0&till=till-1",
        "/v1/sales",
        "/v1/sales?till=till-1",
        "/v1/sales/known-sale/receipt",
        "/v1/latest",
        "/v1/latest?till=till-1",
        "/v1/status",
        "/v1/events",
    ] {
        rows.push((get(path), vec![Right::Read]));
    }
    rows.push((post("/v1/sales/known-sale/receipt", json!({})), vec![Right::Read]));
    rows.push((get("/v1/totals"), vec![Right::Totals]));
    rows.push((get("/v1/metrics"), vec![Right::Totals]));
    for path in ["/v1/closes", "/v1/closes/last"] {
        rows.push((get(path), vec![Right::Close]));
    }
    for path in ["/v1/closes", "/v1/closes/1/print"] {
        rows.push((post(path, json!({})), vec![Right::Close]));
    }
    rows.push((post("/v1/reader/amount", json!({})), vec![Right::Sale, Right::PreAuthorise, Right::Credit]));
    // These verbs need several rights.
    rows.push((post("/v1/settle/1", json!({"keep": true})), Vec::new()));
    rows.push((get(&format!("/v1/payments/{}", "f".repeat(32))), Vec::new()));
    rows.push((get("/v1/query?merchantTransactionId=x"), Vec::new()));
    rows
}

fn peer(rights: Rights) -> TillPeer {
    TillPeer { uid: someone(), tills: vec!["till-1".into()], rights, operator: true, without_operator: Vec::new() }
}

/// Compares the answers with the table.
fn judge(who: &str, right: Right, answers: &[Answer]) {
    for ((request, opens), answer) in table().iter().zip(answers) {
        let context = format!("{who} with {right:?}: {request:?}: {} {}", answer.0, answer.1);
        if opens.contains(&right) {
            assert!(![401, 403].contains(&answer.0), "{context}");
            continue;
        }
        assert_eq!((answer.0, answer.code()), (403, "forbidden"), "{context}");
        for needed in opens {
            assert!(answer.message().contains(needed.as_str()), "the right is named: {context}");
        }
        let only_at_socket = answer.message().contains("send it on the terminal's Unix socket");
        let key = if who == "a till" {
            "the [[till.token]] table with till = \"till-1\""
        } else {
            "the [[till.peer]] table with uid = "
        };
        assert!(answer.message().contains(key) || (who == "a till" && only_at_socket), "the key is named: {context}");
    }
}

#[tokio::test]
async fn each_verb_needs_its_right_at_the_socket_and_with_a_token() {
    let requests: Vec<Request> = table().into_iter().map(|(request, _)| request).collect();
    let known: Vec<Request> = Kind::ALL.iter().map(|kind| begin(*kind, &format!("known-{}", kind.as_str()))).collect();
    for right in Right::ALL {
        let one: Rights = [right].into_iter().collect();
        let shop = fake_agent::open_with(16, |till| {
            till.metrics = true;
            till.token[0].rights = Rights::root();
            till.peer = vec![peer(one.clone())];
        })
        .await;
        assert!(with_token(&shop, &known).await.iter().all(|answer| answer.0 == 201));
        judge("a program", right, &at_socket(&shop.socket, someone(), &requests).await);
        let shop = fake_agent::open_with(16, |till| {
            till.metrics = true;
            till.token[0].rights = one.clone();
            till.peer = vec![peer(Rights::root())];
        })
        .await;
        assert!(at_socket(&shop.socket, someone(), &known).await.iter().all(|answer| answer.0 == 201));
        judge("a till", right, &with_token(&shop, &requests).await);
    }
}

#[tokio::test]
async fn what_needs_several_rights_needs_all_of_them_and_the_socket() {
    let requests = [
        post("/v1/settle/1", json!({"keep": true})),
        get(&format!("/v1/payments/{}", "f".repeat(32))),
        get("/v1/query?merchantTransactionId=x"),
        post("/v1/log-level", json!({"level": "debug"})),
        get("/v1/journal"),
        post("/v1/fleet/connection", json!({})),
    ];
    // The scripted agent is in no fleet (409).
    for (rights, codes) in [
        (vec![Right::AnyTill, Right::Reverse], [422, 403, 403, 403, 403, 403]),
        (vec![Right::Read, Right::AnyTill, Right::UnknownPayment], [403, 200, 200, 403, 403, 403]),
        (vec![Right::Read, Right::UnknownPayment, Right::Reverse], [403, 403, 403, 403, 403, 403]),
        (vec![Right::Service], [403, 403, 403, 200, 403, 403]),
        (vec![Right::Journal], [403, 403, 403, 403, 200, 403]),
        (vec![Right::Fleet], [403, 403, 403, 403, 403, 409]),
    ] {
        let rights: Rights = rights.into_iter().collect();
        let shop = fake_agent::open_with(16, |till| {
            till.token[0].rights = Rights::root();
            till.peer = vec![peer(rights.clone())];
        })
        .await;
        let answers = at_socket(&shop.socket, someone(), &requests).await;
        assert_eq!(answers.iter().map(|answer| answer.0).collect::<Vec<_>>(), codes, "{rights:?}");
        for answer in with_token(&shop, &requests).await {
            assert!(
                answer.0 == 403 && answer.message().contains("send it on the terminal's Unix socket"),
                "{}",
                answer.1
            );
        }
    }
}

/// Checks a user who may open the socket but has no entry. Such a user has the group's rights, which neither pay out
/// money nor show another till's data.
#[tokio::test]
async fn a_member_of_the_group_has_the_groups_rights() {
    if own_uid() != 0 {
        // Only root can start another user's process. Without root, src/till/rights.rs tests the table of users.
        return;
    }
    let shop = fake_agent::open(16).await;
    let elsewhere = [begin(Kind::Sale, "elsewhere")];
    assert_eq!(with_token(&shop, &elsewhere).await[0].0, 201);
    let answers = at_socket(
        &shop.socket,
        4321,
        &[
            begin(Kind::Sale, "r"),
            begin(Kind::Credit, "c"),
            get("/v1/sales"),
            get("/v1/sales/elsewhere?till=till-1"),
            post("/v1/sales/elsewhere/cancel?till=till-1", json!({})),
            post("/v1/settle/1", json!({"keep": true})),
        ],
    )
    .await;
    assert_eq!(answers.iter().map(|answer| answer.0).collect::<Vec<_>>(), [201, 403, 200, 403, 403, 403]);
    assert_eq!(answers[0].1["till"], "local");
    let refused = answers[1].message();
    assert!(
        refused.contains("user 4321 needs the right credit") && refused.contains("rights in [till.socket]"),
        "{refused}"
    );
    assert_eq!(answers[2].1["sales"].as_array().unwrap().len(), 1, "its own only");
    assert!(answers[3].message().contains("the right any-till"), "{}", answers[3].1);
    // Root may do all of this.
    let root = at_socket(&shop.socket, 0, &[begin(Kind::Credit, "c"), get("/v1/sales")]).await;
    assert_eq!((root[0].0, root[1].1["sales"].as_array().unwrap().len()), (201, 3));
}

#[tokio::test]
async fn a_program_names_its_till_and_is_confined_to_those_it_was_given() {
    let shop = fake_agent::open_with(16, |till| {
        let tills = vec!["till-1".into(), "till-3".into()];
        till.peer = vec![TillPeer {
            uid: someone(),
            tills,
            rights: Rights::several_tills(),
            operator: true,
            without_operator: Vec::new(),
        }];
    })
    .await;
    let at = async |request: Request| at_socket(&shop.socket, someone(), &[request]).await.remove(0);
    let sale = |path: &str, reference: &str| post(path, json!({"reference": reference, "amount": "1.00"}));
    let unnamed = at(sale("/v1/sales", "r")).await;
    assert_eq!((unnamed.0, unnamed.code()), (400, "malformed"), "{}", unnamed.1);
    assert!(unnamed.message().contains("till-1, till-3"), "{}", unnamed.1);
    for till in ["till-1", "till-3"] {
        let begun = at(sale(&format!("/v1/sales?till={till}"), "r")).await;
        assert_eq!((begun.0, &begun.1["till"]), (201, &till.into()), "{}", begun.1);
        assert_eq!(at(get(&format!("/v1/sales/r?till={till}"))).await.0, 200);
        let list = at(get(&format!("/v1/sales?till={till}"))).await;
        assert_eq!(list.1["sales"].as_array().unwrap().len(), 1, "{}", list.1);
    }
    for path in ["/v1/sales", "/v1/sales/r", "/v1/totals"] {
        assert_eq!(at(get(path)).await.0, 400, "{path}");
    }
    // The user may not act for another till, whether a named one or the terminal itself. This includes the till of the
    // transaction that a request refers to.
    for till in ["till-2", "local", "TILL-1", ""] {
        for request in [
            sale(&format!("/v1/sales?till={till}"), "x"),
            get(&format!("/v1/sales/r?till={till}")),
            get(&format!("/v1/sales?till={till}")),
            get(&format!("/v1/sales/r/receipt?till={till}")),
            post(&format!("/v1/sales/r/cancel?till={till}"), json!({})),
        ] {
            let answer = at(request.clone()).await;
            assert_eq!((answer.0, answer.code()), (403, "forbidden"), "{request:?}: {}", answer.1);
        }
    }
    let refused = at(sale("/v1/sales?till=till-2", "x")).await;
    assert!(refused.message().contains("acts for till-1, till-3 but not for till till-2"), "{}", refused.1);
    assert!(refused.message().contains("tills in the [[till.peer]] table with uid = "), "{}", refused.1);
    let foreign = json!({"reference": "x", "kind": "refund", "of": "o", "till": "till-2"});
    assert_eq!(at(post("/v1/sales?till=till-1", foreign)).await.0, 403);
    // The user's entry and the token name the same till.
    assert_eq!(with_token(&shop, &[get("/v1/sales/r")]).await[0].0, 200);
    let status = at(get("/v1/status")).await;
    assert_eq!(status.1["current"]["reference"], "r", "{}", status.1);
}

/// Checks that a token acts for its own till, regardless of the name in the request. With `any-till` it sees other
/// tills.
#[tokio::test]
async fn a_token_speaks_for_its_own_till() {
    let shop = fake_agent::open_with(16, |till| till.token[0].rights = fake_agent::usual_and(&[Right::AnyTill])).await;
    let sale = |till: &str| post(&format!("/v1/sales?till={till}"), json!({"reference": "r", "amount": "1.00"}));
    let answers = with_token(&shop, &[sale("till-1"), sale("till-2"), sale("local")]).await;
    assert_eq!(answers.iter().map(|answer| answer.0).collect::<Vec<_>>(), [201, 403, 403]);
    let headers = format!("Authorization: Bearer {}\r\n", TOKENS[1]);
    let (http, text) = (shop.http, sale("till-2").text(&headers));
    let connect = move || exchange(std::net::TcpStream::connect(http).unwrap(), &text, false);
    assert_eq!(understood(&tokio::task::spawn_blocking(connect).await.unwrap()).0, 201);
    let answers =
        with_token(&shop, &[get("/v1/sales/r?till=till-2"), get("/v1/sales"), get("/v1/sales?till=till-2")]).await;
    assert_eq!(answers[0].1["till"], "till-2");
    assert_eq!(answers[1].1["sales"].as_array().unwrap().len(), 1, "its own, when it names none");
    assert_eq!(answers[2].1["sales"][0]["till"], "till-2");
}

// ---- The operator, in the journal of a real agent

/// Returns a port of the agent on a loopback address that no other test uses.
fn own_address() -> String {
    let [.., high, low] = std::process::id().to_be_bytes();
    format!("127.{}.{low}.77:8480", 1 + high % 254)
}

#[tokio::test]
async fn who_did_it_is_in_the_chain_and_is_shown() {
    let address = own_address();
    let mut options = Options::default();
    let entry = format!("[[till.peer]]\nuid = {}\ntills = [\"till-3\", \"till-4\"]\n\n[journal]", someone());
    options.config.extend([
        ("http = \"127.0.0.1:0\"".to_owned(), format!("http = \"{address}\"")),
        ("[journal]".to_owned(), entry),
    ]);
    let mut counter = Counter::closed(options).await;
    counter.start_agent();
    let token = format!("Authorization: Bearer {TILL_TOKEN}\r\n");
    let by_token = async |request: Request| {
        let (address, text) = (address.clone(), request.text(&token));
        let asked = move || exchange(std::net::TcpStream::connect(&*address).unwrap(), &text, false);
        understood(&tokio::task::spawn_blocking(asked).await.unwrap())
    };
    pos_test_kit::within("the terminal is ready", async {
        // The port opens at the same time as the socket.
        while !counter.shop.socket().exists() || by_token(get("/v1/status")).await.1["ready"] != true {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let socket = counter.shop.socket();
    // The program at the socket begins one sale and cancels it.
    let sale = |path: &str, reference: &str| post(path, json!({"reference": reference, "amount": "12.34"}));
    let begun = at_socket(&socket, someone(), &[sale("/v1/sales?till=till-3", "p")]).await.remove(0);
    assert_eq!((begun.0, &begun.1["by"]), (201, &json!({"uid": someone()})), "{}", begun.1);
    let cancelled = at_socket(&socket, someone(), &[post("/v1/sales/p/cancel?till=till-3", json!({}))]).await.remove(0);
    assert_eq!(cancelled.1["cancel"], "in-time", "{}", cancelled.1);
    // The till with the token begins one sale, which a card pays.
    let begun = pos_test_kit::within("the reader is free", async {
        loop {
            let begun = by_token(sale("/v1/sales", "t")).await;
            if begun.0 == 201 {
                return begun;
            }
        }
    })
    .await;
    assert_eq!(begun.1["by"], json!({"token": "till-1"}), "{}", begun.1);
    counter.present(card("tap").unwrap(), CardEntry::Tap).await;
    let paid = by_token(get("/v1/sales/t?wait-s=30")).await;
    assert_eq!((&paid.1["outcome"], &paid.1["by"]), (&"approved".into(), &json!({"token": "till-1"})), "{}", paid.1);
    // A program that acts for other tills cannot refund it. The refusal names the missing right.
    let number = paid.1["number"].clone();
    let refund = json!({"reference": "back", "kind": "refund", "number": number});
    let refused = at_socket(&socket, someone(), &[post("/v1/sales?till=till-4", refund)]).await.remove(0);
    assert_eq!((refused.0, refused.code()), (403, "forbidden"), "{}", refused.1);
    assert!(refused.message().contains("needs the right any-till to refer to another till's"), "{}", refused.1);
    counter.stop_agent().await;

    let journal = counter.shop.folder().join("journal.db");
    let verb = async |name: &str| {
        let mut command = counter::till::program(&["journal", name, "--journal"]);
        let output = command.arg(&journal).output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(verb("verify").await.contains("unaltered"));
    let export = verb("export").await;
    let lines: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [program, till, _] = &lines[..] else { panic!("{export}") };
    assert_eq!((&program["till"], &program["by"]), (&"till-3".into(), &json!({"uid": someone()})), "{program:#}");
    let ended = program["records"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&ended["is"], &ended["by"]),
        (&"ended".into(), &json!({"uid": someone()})),
        "who cancelled: {program:#}"
    );
    assert_eq!((&till["till"], &till["by"]), (&"till-1".into(), &json!({"token": "till-1"})), "{till:#}");
    let by_people = |one: &&Value| !one["by"].is_null();
    let caused: Vec<&Value> =
        till["records"].as_array().unwrap().iter().filter(by_people).map(|one| &one["is"]).collect();
    assert_eq!(caused, ["started"], "the gateway ended it, and nobody else: {till:#}");
}

#[tokio::test]
async fn the_command_line_is_its_user_and_shows_who_asked() {
    let counter = Counter::open().await;
    let begun = counter.begin("r", "12.34").await;
    assert_eq!(begun.0, 201);
    let who: Who = serde_json::from_value(begun.1["by"].clone()).unwrap();
    assert_eq!(who, Who { uid: Some(own_uid()), ..Who::default() });
    let cancelled = counter.verb(&["cancel", "r"]).await.unwrap();
    assert!(cancelled.status.success(), "{cancelled:?}");
    let shown = counter.verb(&["show", "r"]).await.unwrap();
    let line = format!("requested by user {}, at till local", own_uid());
    assert!(String::from_utf8_lossy(&shown.stdout).contains(&line), "{shown:?}");
}
