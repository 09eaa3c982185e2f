//! The first boot, with browsers that are wrong, misused and hostile, and with a root's half that is. Root's half is a
//! stand-in that speaks the contract of `pos-first-boot` on a real socket.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pos_first_boot::{
    Devices, Fault, FoundDevice, LASTS_S, LONGEST_REQUEST, Refusal, Reply, Request, Stage, State, Step, TRIES,
};
use reqwest::{Client, Method, Response};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, watch};

use crate::process::{client, json, problem, provider};

const CODE: &str = "48291537";
const COOKIE: &str = "__Host-pos_first_boot";
const PROGRAM: &str = env!("CARGO_BIN_EXE_pos-front");
/// The longest time that a test waits for the program.
const LONG: Duration = Duration::from_secs(60);

/// Root's half.
#[derive(Clone)]
struct Root {
    socket: PathBuf,
    shared: Arc<Mutex<Shared>>,
    /// A root that keeps a connection open ends its work at this word.
    goes_on: Arc<Notify>,
}

struct Shared {
    heard: Vec<Request>,
    stage: Stage,
    left: u32,
    left_s: u64,
    has_code: bool,
    /// The replies to a request of the browser that gave the code.
    replies: Vec<Reply>,
    /// Bytes instead of every reply. Root then closes the connection, or keeps it open.
    instead: Option<(Vec<u8>, bool)>,
}

impl Root {
    fn begin(socket: PathBuf) -> Self {
        let listener = UnixListener::bind(&socket).unwrap();
        let shared = Shared {
            heard: Vec::new(),
            stage: Stage::Waiting,
            left: TRIES,
            left_s: LASTS_S,
            has_code: false,
            replies: vec![Reply::Done],
            instead: None,
        };
        let root = Self { socket, shared: Arc::new(Mutex::new(shared)), goes_on: Arc::default() };
        let serving = root.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        root
    }

    async fn serve(self, stream: UnixStream) {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let (bytes, stays) = self.replies(&serde_json::from_str(&line).unwrap());
        // A front that has heard enough closes the connection.
        let _ = stream.write_all(&bytes).await;
        if stays {
            tokio::select! {
                _ = stream.read_u8() => {}
                () = self.goes_on.notified() => stream.write_all(b"\"done\"\n").await.unwrap(),
            }
        }
    }

    fn replies(&self, request: &Request) -> (Vec<u8>, bool) {
        let mut shared = self.shared.lock().unwrap();
        shared.heard.push(request.clone());
        if let Some(instead) = &shared.instead {
            return instead.clone();
        }
        let replies = match request {
            Request::State => vec![Reply::State(State {
                stage: shared.stage,
                code_at: vec!["console".to_owned()],
                has_code: shared.has_code,
                tries_left: shared.left,
                left_s: shared.left_s,
                board: Some("rpi".to_owned()),
                wifi: true,
                time_zone: Some("Europe/Berlin".to_owned()),
                clock_is_right: true,
            })],
            Request::Show { .. } => {
                shared.has_code = true;
                vec![Reply::Done]
            }
            Request::Enter { code } if shared.stage == Stage::Waiting && code.as_str() == CODE => {
                shared.stage = Stage::Entered;
                vec![Reply::Done]
            }
            Request::Enter { .. } if shared.stage == Stage::Waiting => {
                shared.left -= 1;
                if shared.left == 0 {
                    shared.stage = Stage::Closed;
                }
                vec![Reply::Refused(Refusal::WrongCode { left: shared.left })]
            }
            _ if shared.stage != Stage::Entered => vec![Reply::Refused(Refusal::NotEntered)],
            _ => shared.replies.clone(),
        };
        let line = |reply: &Reply| serde_json::to_string(reply).unwrap() + "\n";
        (replies.iter().map(line).collect::<String>().into_bytes(), false)
    }

    fn set(&self, change: impl FnOnce(&mut Shared)) {
        change(&mut self.shared.lock().unwrap());
    }

    /// Returns the requests of browsers, without the front's own.
    fn heard(&self) -> Vec<Request> {
        let own = |request: &Request| matches!(request, Request::State | Request::Show { .. });
        self.shared.lock().unwrap().heard.iter().filter(|request| !own(request)).cloned().collect()
    }
}

/// A running first boot.
struct FirstBoot {
    folder: TempDir,
    child: Child,
    log: watch::Receiver<String>,
    address: String,
    root: Root,
}

fn command(folder: &Path) -> Command {
    let at = |name: &str| folder.join(name);
    let mut command = Command::new(PROGRAM);
    command.args(["first-boot", "--listen", "127.0.0.1:0", "--log", "trace"]);
    command.arg("--state").arg(at("state")).arg("--root-socket").arg(at("root.sock"));
    command.arg("--configuration").arg(at("etc")).arg("--agent").arg(at("till.sock"));
    command.stderr(Stdio::piped()).kill_on_drop(true);
    command
}

impl FirstBoot {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::begin(folder.path().join("root.sock"));
        let mut child = command(folder.path()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, mut log) = watch::channel(String::new());
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                sender.send_modify(|log| log.extend([line.as_str(), "\n"]));
            }
        });
        // Then root shows the code, and takes other requests.
        let shown = log.wait_for(|log| log.contains("root shows the code"));
        let said = tokio::time::timeout(LONG, shown).await.unwrap().unwrap().clone();
        let (_, address) = said.split_once("url=\"https://").unwrap();
        let address = address.split('"').next().unwrap().to_owned();
        Self { folder, child, log, address, root }
    }

    fn ca(&self) -> String {
        let ca = std::fs::read_to_string(self.folder.path().join("state/ca.json")).unwrap();
        serde_json::from_str::<Value>(&ca).unwrap()["certificate"].as_str().unwrap().to_owned()
    }

    /// Sends the head of a request and no body. Returns the answer.
    async fn without_a_body(&self, path: &str) -> String {
        provider();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.ca().as_bytes()).unwrap()).unwrap();
        let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let stream = TcpStream::connect(&self.address).await.unwrap();
        let name = "127.0.0.1".try_into().unwrap();
        let mut stream = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        let address = &self.address;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: https://{address}\r\n\
             Content-Type: application/json\r\nContent-Length: 20\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        String::from_utf8(said).unwrap()
    }

    /// Returns a browser that has opened the page.
    async fn visitor(&self) -> Browser {
        let mut browser = self.browser();
        browser.cookie = Some(cookie(&browser.state().await, COOKIE));
        browser
    }

    /// Returns a browser without cookies.
    fn browser(&self) -> Browser {
        let ca = reqwest::Certificate::from_pem(self.ca().as_bytes()).unwrap();
        let client = client().tls_certs_only([ca]).build().unwrap();
        Browser { client, origin: format!("https://{}", self.address), cookie: None }
    }

    /// Returns the browser that has given the code.
    async fn let_in(&self) -> Browser {
        let browser = self.visitor().await;
        assert_eq!(browser.post("code", json!({ "code": CODE })).await.status(), 200);
        browser
    }

    fn paired(&self) -> usize {
        let file = std::fs::read_to_string(self.folder.path().join("state/browsers.json")).unwrap();
        serde_json::from_str::<Value>(&file).unwrap().as_array().unwrap().len()
    }

    /// Waits for the end of the program. Returns the exit code and the log.
    async fn end(mut self) -> (Option<i32>, String, TempDir) {
        let status = tokio::time::timeout(LONG, self.child.wait()).await.unwrap().unwrap();
        // The log ends with the program.
        while self.log.changed().await.is_ok() {}
        let log = self.log.borrow().clone();
        (status.code(), log, self.folder)
    }
}

/// A browser with the page of the first boot.
#[derive(Clone)]
struct Browser {
    client: Client,
    origin: String,
    cookie: Option<String>,
}

impl Browser {
    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.origin));
        match &self.cookie {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        }
    }

    async fn post(&self, name: &str, body: Value) -> Response {
        let request = self.request(Method::POST, &format!("/first-boot/{name}"));
        let request = request.header("origin", &self.origin).header("content-type", "application/json");
        request.body(body.to_string()).send().await.unwrap()
    }

    async fn state(&self) -> Response {
        self.request(Method::GET, "/first-boot/state").send().await.unwrap()
    }
}

/// Returns the cookie of this name that an answer sets, and checks how it is protected.
fn cookie(answer: &Response, name: &str) -> String {
    let set = answer.headers()["set-cookie"].to_str().unwrap();
    for part in ["HttpOnly", "Secure", "SameSite=Strict"] {
        assert!(set.contains(part), "{set}");
    }
    let cookie = set.split(';').next().unwrap().to_owned();
    assert!(cookie.starts_with(&format!("{name}=")) && cookie.len() > 64, "{set}");
    cookie
}

#[tokio::test]
async fn the_code_lets_one_browser_in_and_another_one_learns_nothing() {
    let first_boot = FirstBoot::begin().await;
    let stranger = first_boot.visitor().await;
    let page = stranger.request(Method::GET, "/").send().await.unwrap();
    assert_eq!((page.status().as_u16(), &page.headers()["x-content-type-options"]), (200, &"nosniff".parse().unwrap()));
    let ca = stranger.request(Method::GET, "/front/certificate.pem").send().await.unwrap().text().await.unwrap();
    assert!(ca.starts_with("-----BEGIN CERTIFICATE-----") && !ca.contains("PRIVATE"), "{ca}");
    let answer = stranger.state().await;
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let state = json(answer).await;
    assert_eq!((&state["stage"], &state["mine"], &state["tries-left"]), (&json!("waiting"), &json!(false), &json!(5)));
    assert!(
        (1..=3600).contains(&state["left-s"].as_u64().unwrap()) && state["languages"].as_array().unwrap().len() == 7
    );
    assert!(state["fingerprint"].as_str().unwrap().len() > 60 && state.get("board").is_none(), "{state}");

    assert_eq!(problem(stranger.post("search", json!({})).await).await, (401, "not-entered".to_owned()));
    let wrong = stranger.post("code", json!({ "code": "48291538" })).await;
    assert_eq!(wrong.status(), 403);
    let wrong = json(wrong).await;
    assert_eq!((&wrong["code"], &wrong["tries-left"]), (&json!("wrong-code"), &json!(4)));
    let browser = first_boot.let_in().await;
    let state = json(browser.state().await).await;
    assert_eq!((&state["stage"], &state["mine"], &state["board"]), (&json!("entered"), &json!(true), &json!("rpi")));
    assert_eq!((&state["wifi"], &state["clock-is-right"]), (&json!(true), &json!(true)));

    // The right code does not let a second browser in, and root does not hear it.
    let heard = first_boot.root.heard().len();
    for code in [CODE, "00000000"] {
        assert_eq!(problem(stranger.post("code", json!({ "code": code })).await).await, (403, "taken".to_owned()));
    }
    let state = json(stranger.state().await).await;
    assert!(state["stage"] == "entered" && state["mine"] == false && state.get("board").is_none(), "{state}");
    let mut thief = first_boot.browser();
    for cookie in [&format!("{COOKIE}="), &format!("{COOKIE}=0000"), "pos_session=1"] {
        thief.cookie = Some(cookie.to_owned());
        for name in ["search", "try-printer", "try-reader", "clock", "wifi", "network", "check", "write"] {
            assert_eq!(problem(thief.post(name, json!({})).await).await, (401, "not-entered".to_owned()), "{name}");
        }
    }
    let own = browser.cookie.clone().unwrap();
    thief.cookie = Some(format!("{own}; {own}"));
    assert_eq!(problem(thief.post("search", json!({})).await).await.0, 401, "two cookies");
    assert_eq!(first_boot.root.heard().len(), heard);

    // Root has started again, and shows a new code.
    first_boot.root.set(|root| root.stage = Stage::Waiting);
    assert_eq!(problem(browser.post("search", json!({})).await).await, (401, "not-entered".to_owned()));
    assert_eq!(json(browser.state().await).await["mine"], false);
    first_boot.let_in().await;
    assert_eq!(problem(browser.post("search", json!({})).await).await.0, 401, "the former cookie");
}

/// A person who has typed the right code is in, whatever becomes of the answer. No one else is.
#[tokio::test]
async fn a_browser_whose_answer_is_lost_is_in_and_another_one_with_the_same_code_is_not() {
    let first_boot = FirstBoot::begin().await;
    let (browser, other) = (first_boot.visitor().await, first_boot.visitor().await);
    assert_ne!(browser.cookie, other.cookie);
    assert!(!browser.state().await.headers().contains_key("set-cookie"), "a browser keeps its cookie");
    // The connection is cut while root judges the code.
    let sent = tokio::spawn({
        let browser = browser.clone();
        async move { browser.post("code", json!({ "code": CODE })).await }
    });
    let mut log = first_boot.log.clone();
    log.wait_for(|log| log.contains("a browser has given the code")).await.unwrap();
    sent.abort();
    let state = json(browser.state().await).await;
    assert_eq!((&state["stage"], &state["mine"]), (&json!("entered"), &json!(true)));
    assert_eq!(browser.post("code", json!({ "code": CODE })).await.status(), 200, "the same code again");
    assert_eq!(browser.post("check", json!({})).await.status(), 200);
    for stranger in [other, first_boot.browser(), first_boot.visitor().await] {
        assert_eq!(problem(stranger.post("code", json!({ "code": CODE })).await).await, (403, "taken".to_owned()));
        assert_eq!(json(stranger.state().await).await["mine"], false);
        assert_eq!(problem(stranger.post("check", json!({})).await).await, (401, "not-entered".to_owned()));
    }
}

#[tokio::test]
async fn the_hour_is_roots_and_a_root_that_starts_again_is_asked_for_a_new_code() {
    let first_boot = FirstBoot::begin().await;
    let shown = || first_boot.log.borrow().matches("root shows the code").count();
    assert_eq!(shown(), 1);
    first_boot.root.set(|root| (root.has_code, root.left_s) = (false, 1800));
    // It is the next visitor who needs the code.
    let mut log = first_boot.log.clone();
    let asked = async {
        while log.borrow_and_update().matches("root shows the code").count() < 2 {
            first_boot.visitor().await;
            let _ = tokio::time::timeout(Duration::from_millis(200), log.changed()).await;
        }
    };
    tokio::time::timeout(LONG, asked).await.unwrap();
    let left = json(first_boot.visitor().await.state().await).await["left-s"].as_u64().unwrap();
    assert!((1700..=1800).contains(&left), "{left}");
    let browser = first_boot.let_in().await;
    first_boot.root.set(|root| root.left_s = 0);
    // Each question may be the last one that is answered.
    let (code, log, _) = tokio::join!(first_boot.end(), async {
        while browser.request(Method::GET, "/first-boot/state").send().await.is_ok() {}
    })
    .0;
    assert!(code == Some(0) && log.contains("its hour is over"), "{log}");
}

#[tokio::test]
async fn five_wrong_codes_close_the_first_boot() {
    let first_boot = FirstBoot::begin().await;
    let keeps_none = first_boot.browser();
    let refused = keeps_none.post("code", json!({ "code": CODE })).await;
    assert_eq!(problem(refused).await, (403, "no-cookie".to_owned()), "it would be locked out, and uses no try");
    let browser = first_boot.visitor().await;
    for left in (0..TRIES).rev() {
        assert_eq!(json(browser.post("code", json!({ "code": "1" })).await).await["tries-left"], left);
    }
    for code in ["1", CODE] {
        assert_eq!(problem(browser.post("code", json!({ "code": code })).await).await, (403, "closed".to_owned()));
    }
    assert_eq!(first_boot.root.heard().len(), TRIES as usize);
}

#[tokio::test]
async fn what_the_browser_asks_reaches_root_as_it_is_and_roots_reply_comes_back() {
    let first_boot = FirstBoot::begin().await;
    let browser = first_boot.let_in().await;
    let found = |port: &str| FoundDevice { port: port.to_owned(), said: "a reader".to_owned() };
    let devices = Devices {
        reader: Some(found("/dev/ttyACM0")),
        reader_protocol: Some("idtech-neo2".to_owned()),
        looked: vec![found("/dev/ttyS0")],
        ..Devices::default()
    };
    first_boot.root.set(|root| root.replies = vec![Reply::Devices(devices.clone())]);
    let answer = browser.post("search", json!({})).await;
    assert_eq!((answer.status().as_u16(), json(answer).await), (200, json!(devices)));

    first_boot.root.set(|root| root.replies = vec![Reply::Done]);
    let printed = json!({ "port": "/dev/usb/lp0", "columns": 42, "text": "Grüße\n" });
    let sent = [
        ("try-printer", printed),
        ("try-reader", json!({ "port": "/dev/ttyACM0", "text": "Hallo" })),
        ("clock", json!({ "time-zone": "Europe/Berlin", "time-servers": [] })),
        ("wifi", json!({ "name": "Kasse", "password": { "value": "geheim" } })),
        ("check", json!({ "currency": "EUR", "operator": [] })),
    ];
    for (name, body) in sent {
        let answer = browser.post(name, body.clone()).await;
        assert_eq!((answer.status().as_u16(), json(answer).await), (200, json!({})), "{name}");
        let heard = json!(first_boot.root.heard().pop().unwrap());
        for (key, value) in body.as_object().unwrap() {
            assert_eq!(&heard[name][key], value, "{name}");
        }
    }
    let fault = Fault { key: "gateway.url".to_owned(), wrong: "is no URL".to_owned(), remedy: "type it".to_owned() };
    first_boot.root.set(|root| root.replies = vec![Reply::Faulty(vec![fault.clone()])]);
    let answer = browser.post("check", json!({})).await;
    assert_eq!(answer.status(), 422);
    let answer = json(answer).await;
    assert_eq!((&answer["code"], &answer["faults"]), (&json!("faulty"), &json!([fault])));
    for (refusal, expected) in [
        (Refusal::Busy, (409, "busy")),
        (Refusal::Configured, (409, "configured")),
        (Refusal::Malformed("gateway: unknown field".to_owned()), (400, "malformed")),
        (Refusal::WrongCode { left: 1 }, (502, "root-wrong")),
    ] {
        first_boot.root.set(|root| root.replies = vec![Reply::Refused(refusal)]);
        let (status, code) = problem(browser.post("check", json!({})).await).await;
        assert_eq!((status, code.as_str()), expected);
    }
    // The front itself looks at the network.
    let heard = first_boot.root.heard().len();
    let closed = json!({ "url": "https://127.0.0.1:1" });
    let findings = json(browser.post("network", closed).await).await;
    let words: Vec<_> =
        findings["findings"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(words, ["address", "clock", "name", "gateway"]);
    assert_eq!(findings["findings"][3]["fault"], "not-reached");
    assert_eq!(first_boot.root.heard().len(), heard);
}

/// The browser that gave the code shows a foreign page too. That page must not reach root.
#[tokio::test]
async fn misused_browsers_reach_nobody() {
    let first_boot = FirstBoot::begin().await;
    let browser = first_boot.let_in().await;
    let heard = first_boot.root.heard().len();
    let post = |path: &str| browser.request(Method::POST, path).header("content-type", "application/json").body("{}");
    let own = browser.origin.as_str();
    let requests = [
        ("a foreign page", post("/first-boot/write").header("origin", "https://evil.example"), 403),
        ("a page without an origin", post("/first-boot/write").header("origin", "null"), 403),
        ("no origin", post("/first-boot/write"), 403),
        ("no origin, with a token", post("/first-boot/write").header("authorization", "Bearer x"), 403),
        ("a foreign name", post("/first-boot/write").header("origin", own).header("host", "evil.example"), 421),
        (
            "a link from a foreign page",
            browser.request(Method::GET, "/first-boot/state").header("sec-fetch-site", "cross-site"),
            403,
        ),
        ("a form", browser.request(Method::POST, "/first-boot/write").header("origin", own).body("{}"), 415),
        (
            "text",
            browser
                .request(Method::POST, "/first-boot/write")
                .header("origin", own)
                .header("content-type", "text/plain")
                .body("{}"),
            415,
        ),
        ("GET", browser.request(Method::GET, "/first-boot/write"), 404),
        ("GET of a code", browser.request(Method::GET, "/first-boot/code?code=48291537"), 404),
        ("PUT", browser.request(Method::PUT, "/first-boot/write").header("origin", own).body("{}"), 404),
        ("DELETE", browser.request(Method::DELETE, "/first-boot/state").header("origin", own), 404),
        (
            "OPTIONS of a foreign page",
            browser.request(Method::OPTIONS, "/first-boot/write").header("origin", "https://evil.example"),
            403,
        ),
        ("another request of root's", post("/first-boot/enter").header("origin", own), 404),
        ("another request of root's", post("/first-boot/show").header("origin", own), 404),
        ("a path behind a request's", post("/first-boot/write/").header("origin", own), 404),
        ("the agent", post("/v1/sales").header("origin", own), 404),
        ("the front", browser.request(Method::GET, "/front/settings"), 404),
        ("a second request", post("/first-boot/check").header("origin", own).body("{}}\n{\"write\":{}"), 400),
        ("no JSON", post("/first-boot/check").header("origin", own).body("code=1"), 400),
    ];
    for (what, request, status) in requests {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{what}");
        assert_eq!(answer.headers().get("access-control-allow-origin"), None, "{what}");
    }
    assert_eq!(first_boot.root.heard().len(), heard);
    // The port speaks only TLS.
    let mut plain = TcpStream::connect(&first_boot.address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said).await;
    assert!(!String::from_utf8_lossy(&said).contains("HTTP/"));
}

#[tokio::test]
async fn a_body_is_bounded_in_length_and_time() {
    let first_boot = FirstBoot::begin().await;
    let stranger = first_boot.visitor().await;
    let slow = first_boot.without_a_body("/first-boot/code");
    let waits = async { tokio::time::timeout(LONG, slow).await.unwrap() };
    let others = async {
        let browser = first_boot.let_in().await;
        let large = json!({ "merchant": ["x".repeat(LONGEST_REQUEST)] });
        assert_eq!(problem(browser.post("check", large).await).await, (413, "too-large".to_owned()));
        let logo = json!({ "page": { "logo": { "value": "x".repeat(100 * 1024) } } });
        assert_eq!(browser.post("check", logo).await.status(), 200, "a logo and a CA have room");
        let code = json!({ "code": "1".repeat(8 * 1024) });
        assert_eq!(problem(stranger.post("code", code).await).await.0, 413);
    };
    let (said, ()) = tokio::join!(waits, others);
    assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("\"code\":\"timeout\""), "{said}");
}

#[tokio::test]
async fn a_root_that_is_away_or_says_nonsense_is_named_and_the_page_stays() {
    let first_boot = FirstBoot::begin().await;
    let browser = first_boot.let_in().await;
    let endless = [b'x'; 256 * 1024].to_vec();
    for (bytes, stays, expected) in [
        (&b"hello\n"[..], true, (502, "root-wrong")),
        (b"{\"done\":1}\n", true, (502, "root-wrong")),
        (b"{\"progress\":\"agent\"}\n", false, (502, "root-wrong")),
        (&endless, true, (502, "root-wrong")),
        (b"", false, (503, "root-down")),
        (b"\"do", false, (503, "root-down")),
    ] {
        first_boot.root.set(|root| root.instead = Some((bytes.to_vec(), stays)));
        for name in ["check", "search"] {
            let (status, code) = problem(browser.post(name, json!({})).await).await;
            assert_eq!((status, code.as_str()), expected);
        }
        // The writing has begun, so its answer is a stream, which ends with the fault.
        let written = browser.post("write", json!({})).await;
        assert_eq!(
            (written.status().as_u16(), &written.headers()["content-type"]),
            (200, &"application/x-ndjson".parse().unwrap())
        );
        let lines = written.text().await.unwrap();
        let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!(
            last["problem"]["code"],
            if bytes.starts_with(b"{\"progress\"") { "root-down" } else { expected.1 },
            "{lines}"
        );
    }
    // A silent root does not keep the page from its state.
    first_boot.root.set(|root| root.instead = Some((Vec::new(), true)));
    let (searching, state) =
        tokio::join!(tokio::time::timeout(Duration::from_secs(3), browser.post("search", json!({}))), async {
            problem(first_boot.browser().state().await).await
        });
    assert!(searching.is_err() && matches!(state, (409 | 503, _)), "{state:?}");
    std::fs::remove_file(&first_boot.root.socket).unwrap();
    assert_eq!(problem(first_boot.browser().state().await).await.0, 503);
}

/// Every secret that the page sends is searched for in the log, in the front's files, and in the answers.
#[tokio::test]
async fn the_writing_is_streamed_pairs_its_browser_leaves_no_secret_and_ends_the_first_boot() {
    let first_boot = FirstBoot::begin().await;
    let browser = first_boot.let_in().await;
    let secrets = ["t0k3n-0f-the-gateway", "86420975", "wlan-passphrase", "till-passphrase", CODE];
    let answers = json!({
        "gateway": { "token": { "value": secrets[0] } },
        "operator": [{ "name": "Anna", "role": "supervisor", "pin": { "value": secrets[1] } }],
        "system": { "wifi": { "name": "Kasse", "password": { "value": secrets[2] } }, "time-servers": [] },
        "till": { "kind": "zvt", "secret": { "value": secrets[3] } },
    });
    let mut said = String::new();
    for name in ["check", "write"] {
        let fault = Fault { key: "operator[0].pin".to_owned(), wrong: "x".to_owned(), remedy: "y".to_owned() };
        first_boot.root.set(|root| root.replies = vec![Reply::Faulty(vec![fault])]);
        said.push_str(&browser.post(name, answers.clone()).await.text().await.unwrap());
    }
    assert!(
        said.ends_with("{\"faulty\":[{\"key\":\"operator[0].pin\",\"remedy\":\"y\",\"wrong\":\"x\"}]}\n"),
        "{said}"
    );
    assert_eq!(first_boot.paired(), 0, "nothing was written");

    let steps = [Step::Checking, Step::Writing, Step::Operators, Step::Agent, Step::Front];
    let replies = steps.map(Reply::Progress).into_iter().chain([Reply::Done]).collect();
    first_boot.root.set(|root| root.replies = replies);
    let written = browser.post("write", answers).await;
    assert_eq!(written.status(), 200);
    let paired = cookie(&written, "pos_browser");
    let lines = written.text().await.unwrap();
    let expected =
        ["checking", "writing", "operators", "agent", "front"].map(|step| format!("{{\"progress\":\"{step}\"}}\n"));
    assert_eq!(lines, expected.concat() + "\"done\"\n");
    assert_eq!(first_boot.paired(), 1);
    let Some(Request::Write(heard)) = first_boot.root.heard().pop() else { panic!("root has not heard it") };
    assert!(json!(heard).to_string().contains(secrets[0]));

    let address = first_boot.address.clone();
    let (code, log, folder) = first_boot.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("the terminal is set up"), "{log}");
    assert!(TcpStream::connect(address).await.is_err(), "the port is free");
    let mut searched = vec![("log".to_owned(), log), ("answers".to_owned(), said + &lines)];
    for entry in std::fs::read_dir(folder.path().join("state")).unwrap() {
        let path = entry.unwrap().path();
        searched.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
    }
    assert!(searched.len() >= 5, "the CA, the certificate and the browsers");
    let cookies = [browser.cookie.as_deref().unwrap(), &paired].map(|cookie| cookie.split_once('=').unwrap().1);
    for (place, text) in &searched {
        for secret in secrets.iter().chain(&cookies) {
            assert!(!text.contains(secret), "{secret} is in {place}");
        }
    }
}

#[tokio::test]
async fn the_writing_goes_on_when_its_browser_leaves() {
    let first_boot = FirstBoot::begin().await;
    let browser = first_boot.let_in().await;
    first_boot.root.set(|root| root.instead = Some((b"{\"progress\":\"checking\"}\n".to_vec(), true)));
    let left = browser.post("write", json!({})).await;
    assert_eq!(left.status(), 200);
    drop((left, browser));
    // Root goes on when this test says so.
    let mut log = first_boot.log.clone();
    log.wait_for(|log| log.contains("step=Checking")).await.unwrap();
    first_boot.root.goes_on.notify_one();
    let (code, log, _) = first_boot.end().await;
    assert!(code == Some(0) && log.contains("the terminal is set up"), "{log}");
}

#[tokio::test]
async fn it_does_not_run_beside_a_configuration_or_an_agent_and_stops_when_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("etc")).unwrap();
    let refused = async |named: &str| {
        let said = command(folder.path()).output().await.unwrap();
        let text = String::from_utf8(said.stderr).unwrap();
        assert!(said.status.code() == Some(65) && text.contains(named) && text.contains("is set up"), "{text}");
        assert!(!folder.path().join("state").exists(), "nothing is made");
    };
    for name in ["config.toml", "front.toml"] {
        let file = folder.path().join("etc").join(name);
        std::fs::write(&file, "").unwrap();
        refused(name).await;
        std::fs::remove_file(file).unwrap();
    }
    let agent = UnixListener::bind(folder.path().join("till.sock")).unwrap();
    refused("an agent runs").await;
    drop(agent);

    let first_boot = FirstBoot::begin().await;
    let pid = i32::try_from(first_boot.child.id().unwrap()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::TERM).unwrap();
    assert_eq!(first_boot.end().await.0, Some(0));
    // Somebody runs `pos-agent setup` in a shell.
    let first_boot = FirstBoot::begin().await;
    std::fs::create_dir(first_boot.folder.path().join("etc")).unwrap();
    std::fs::write(first_boot.folder.path().join("etc/config.toml"), "").unwrap();
    let (code, log, _) = first_boot.end().await;
    assert!(code == Some(0) && log.contains("a configuration exists"), "{log}");
}
