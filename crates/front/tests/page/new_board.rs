//! A board at its first boot, for a browser. It speaks the contract of the first boot, as `pos-front first-boot` does
//! together with root's half. The page itself, and the terminal after the writing, are those of a real counter.

use std::sync::{Arc, Mutex, MutexGuard};

use pos_first_boot::{Answers, Devices, Fault, FoundDevice, LASTS_S, Secret, Stage, TRIES};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The steps of the writing, in their order.
const WRITING: [&str; 5] = ["checking", "writing", "operators", "agent", "front"];

/// What the board knows.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) stage: Stage,
    pub(crate) code: &'static str,
    pub(crate) tries_left: u32,
    /// The number of the browser that is in. Its cookie holds it.
    browser: u32,
    /// The time left of the hour.
    pub(crate) left_s: u64,
    /// True if no request is answered.
    pub(crate) is_away: bool,
    /// True if the gateway answers the network check.
    pub(crate) reaches_bank: bool,
    /// The number of the step of the writing before which the power is cut.
    pub(crate) cut_before: Option<usize>,
    /// The requests with their bodies.
    pub(crate) asked: Vec<(String, String)>,
    /// The answers that are written.
    pub(crate) written: Option<Answers>,
}

/// The board, which ends with this value.
pub(crate) struct NewBoard {
    pub(crate) url: String,
    standing: Arc<Mutex<Standing>>,
    serves: tokio::task::JoinHandle<()>,
}

impl Drop for NewBoard {
    fn drop(&mut self) {
        self.serves.abort();
    }
}

impl NewBoard {
    /// Starts a board whose page comes from the front at this address.
    pub(crate) async fn start(front: &str) -> Self {
        let standing = Arc::new(Mutex::new(Standing {
            stage: Stage::Waiting,
            code: "12345678",
            tries_left: TRIES,
            browser: 0,
            left_s: LASTS_S,
            is_away: false,
            reaches_bank: true,
            cut_before: None,
            asked: Vec::new(),
            written: None,
        }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let half = Half { standing: standing.clone(), front: front.to_owned(), client: Client::new() };
        let serves = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let half = half.clone();
                // A browser may leave a connection at any time.
                tokio::spawn(async move { half.serve(stream).await });
            }
        });
        Self { url, standing, serves }
    }

    pub(crate) fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap()
    }

    /// Restarts the board, which then has this code and knows no browser.
    pub(crate) fn restart(&self, code: &'static str) {
        let mut standing = self.standing();
        (standing.stage, standing.code, standing.is_away) = (Stage::Waiting, code, false);
        standing.browser += 1;
    }
}

#[derive(Clone)]
struct Half {
    standing: Arc<Mutex<Standing>>,
    front: String,
    client: Client,
}

/// A request of the browser.
struct Asked {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Asked {
    async fn read(stream: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
        let mut body = vec![0; length.parse().ok()?];
        stream.read_exact(&mut body).await.ok()?;
        Some(Self { method, path, headers, body: String::from_utf8(body).ok()? })
    }

    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// The head of an answer that ends with its connection.
fn head(status: u16, more: &str) -> String {
    format!("HTTP/1.1 {status} Said\r\nConnection: close\r\nCache-Control: no-store\r\n{more}\r\n")
}
fn answer(status: u16, body: &Value) -> String {
    head(status, "Content-Type: application/json\r\n") + &body.to_string()
}
fn refusal(status: u16, code: &str) -> String {
    answer(status, &json!({ "code": code, "title": code, "status": status, "detail": format!("refused: {code}") }))
}

impl Half {
    async fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let Some(asked) = Asked::read(&mut stream).await else { return };
        let is_written = {
            let mut standing = self.standing.lock().unwrap();
            if standing.is_away {
                return;
            }
            standing.asked.push((asked.path.clone(), asked.body.clone()));
            standing.stage == Stage::Written
        };
        let path = asked.path.as_str();
        let said = match path {
            "/first-boot/write" if self.is_in(&asked) => return self.write(&asked, stream.get_mut()).await,
            path if path.starts_with("/first-boot/") => self.answer(&asked).into_bytes(),
            // The terminal's own page answers after the writing.
            "/" if !is_written => self.passed_on(&asked, "/first-boot").await,
            path if !is_written && (path.starts_with("/front/") || path.starts_with("/v1/")) => {
                refusal(404, "not-found").into_bytes()
            }
            path => self.passed_on(&asked, path).await,
        };
        let _ = stream.get_mut().write_all(&said).await;
    }

    /// Returns the answer of the real front.
    async fn passed_on(&self, asked: &Asked, path: &str) -> Vec<u8> {
        let url = format!("{}{path}", self.front);
        let mut headers = HeaderMap::new();
        for name in ["content-type", "cookie", "accept", "accept-language", "pos-session"] {
            if !asked.header(name).is_empty() {
                headers.insert(HeaderName::from_static(name), asked.header(name).parse().unwrap());
            }
        }
        if asked.method != "GET" {
            headers.insert("origin", self.front.parse().unwrap());
        }
        let method = asked.method.parse().unwrap();
        let sent = self.client.request(method, url).headers(headers).body(asked.body.clone()).send().await;
        let Ok(found) = sent else { return refusal(503, "agent-down").into_bytes() };
        let mut more = String::new();
        for name in ["content-type", "content-security-policy", "set-cookie", "vary"] {
            for value in found.headers().get_all(name) {
                more += &format!("{name}: {}\r\n", value.to_str().unwrap());
            }
        }
        let status = found.status().as_u16();
        let body = found.bytes().await.unwrap_or_default();
        [head(status, &more).as_bytes(), &body].concat()
    }

    fn is_in(&self, asked: &Asked) -> bool {
        let standing = self.standing.lock().unwrap();
        let cookie = format!("pos_first_boot={}", standing.browser);
        matches!(standing.stage, Stage::Entered | Stage::Written) && asked.header("cookie").contains(&cookie)
    }

    fn answer(&self, asked: &Asked) -> String {
        let is_in = self.is_in(asked);
        let mut standing = self.standing.lock().unwrap();
        if asked.path == "/first-boot/state" {
            let mut said = json!({
                "stage": standing.stage, "code-at": ["console", "printer"], "tries-left": standing.tries_left,
                "mine": is_in, "left-s": standing.left_s, "urls": [],
            });
            if is_in {
                said["board"] = "virt".into();
                said["wifi"] = true.into();
            }
            return answer(200, &said);
        }
        let is_json = asked.header("content-type") == "application/json";
        assert!(asked.method == "POST" && is_json, "{} {}", asked.method, asked.path);
        if asked.path == "/first-boot/code" {
            return standing.enter(&asked.body);
        }
        if !is_in {
            return refusal(401, if standing.stage == Stage::Entered { "taken" } else { "not-entered" });
        }
        match asked.path.trim_start_matches("/first-boot/") {
            "search" => answer(200, &serde_json::to_value(devices()).unwrap()),
            "network" => answer(200, &network(&asked.body, standing.reaches_bank)),
            "check" => checked(&faults(&serde_json::from_str(&asked.body).unwrap())),
            "try-printer" | "try-reader" | "clock" | "wifi" => answer(200, &json!({})),
            other => refusal(404, other),
        }
    }

    /// Writes the answers, one step after the other.
    async fn write(&self, asked: &Asked, stream: &mut TcpStream) {
        let answers: Answers = serde_json::from_str(&asked.body).unwrap();
        let found = faults(&answers);
        let mut said = head(200, "Content-Type: application/x-ndjson\r\n");
        let cut_before = self.standing.lock().unwrap().cut_before.take();
        for (n, step) in WRITING.iter().enumerate() {
            if cut_before == Some(n) {
                let _ = stream.write_all(said.as_bytes()).await;
                self.standing.lock().unwrap().is_away = true;
                return;
            }
            said += &format!("{}\n", json!({ "progress": step }));
            if !found.is_empty() {
                break;
            }
        }
        match found.is_empty() {
            true => {
                let mut standing = self.standing.lock().unwrap();
                (standing.stage, standing.written) = (Stage::Written, Some(answers));
                said += "\"done\"\n";
            }
            false => said += &format!("{}\n", json!({ "faulty": found })),
        }
        let _ = stream.write_all(said.as_bytes()).await;
    }
}

impl Standing {
    fn enter(&mut self, body: &str) -> String {
        let body: Value = serde_json::from_str(body).unwrap();
        match self.stage {
            Stage::Closed => refusal(403, "closed"),
            Stage::Waiting if body["code"] == self.code => {
                self.stage = Stage::Entered;
                self.browser += 1;
                let cookie = format!("Set-Cookie: pos_first_boot={}; Path=/first-boot/; HttpOnly\r\n", self.browser);
                head(200, &format!("Content-Type: application/json\r\n{cookie}")) + "{}"
            }
            Stage::Waiting => {
                self.tries_left -= 1;
                if self.tries_left == 0 {
                    self.stage = Stage::Closed;
                    return refusal(403, "closed");
                }
                refusal(403, "wrong-code")
            }
            _ => refusal(403, "taken"),
        }
    }
}

fn checked(faults: &[Fault]) -> String {
    match faults.is_empty() {
        true => answer(200, &json!({})),
        false => answer(422, &json!({ "code": "faulty", "title": "faulty", "status": 422, "faults": faults })),
    }
}
fn devices() -> Devices {
    let found = |port: &str, said: &str| FoundDevice { port: port.to_owned(), said: said.to_owned() };
    let (reader, printer) = (found("/dev/ttyACM0", "VIPA 6.8.2.17"), found("/dev/ttyUSB0", "USB receipt printer"));
    Devices { reader: Some(reader.clone()), printer: Some(printer.clone()), looked: vec![reader, printer] }
}
fn network(body: &str, reaches_bank: bool) -> Value {
    let body: Value = serde_json::from_str(body).unwrap();
    let mut findings = vec![json!({ "name": "address", "good": true }), json!({ "name": "clock", "good": true })];
    if body["url"].is_string() {
        findings.push(json!({ "name": "name", "good": true }));
        findings.push(match reaches_bank {
            true => json!({ "name": "gateway", "good": true }),
            false => {
                json!({ "name": "gateway", "good": false, "fault": "ca-not-trusted", "wrong": "x", "remedy": "y" })
            }
        });
    }
    json!({ "findings": findings })
}
/// Returns the faults of these answers, as far as the tests make some.
fn faults(answers: &Answers) -> Vec<Fault> {
    let fault = |key: &str, wrong: &str, remedy: &str| Fault {
        key: key.to_owned(),
        wrong: wrong.to_owned(),
        remedy: remedy.to_owned(),
    };
    let mut found = Vec::new();
    let id = answers.gateway.entity_id.as_deref().unwrap_or_default();
    if id.len() != 32 {
        found.push(fault("gateway.entity-id", "it has no 32 characters", "copy it from the gateway's papers"));
    }
    if !answers.terminal_id.as_deref().unwrap_or_default().bytes().all(|byte| byte.is_ascii_digit()) {
        found.push(fault("terminal-id", "it has other signs than digits", "copy it from the bank's papers"));
    }
    let is_empty = |secret: &Option<Secret>| !matches!(secret, Some(Secret::Value(value)) if !value.is_empty());
    if is_empty(&answers.gateway.token) {
        found.push(fault("gateway.token", "it is missing", "paste the token"));
    }
    for (n, operator) in answers.operator.iter().enumerate() {
        if matches!(&operator.pin, Secret::Value(pin) if pin.is_empty()) {
            found.push(fault(&format!("operator[{n}].pin"), "it is missing", "enter the PIN"));
        }
    }
    found
}
