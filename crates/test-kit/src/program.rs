//! The real program in a shop of simulators, and raw HTTP requests to it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pos_agent::till::StatusView;
use pos_sim::shop::{Options, Shop, TILL_TOKEN};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::within;

/// A terminal: the simulators in this process, and the program in a separate process.
pub struct Terminal {
    pub shop: Shop,
    /// The address for tills that use a token.
    pub http: String,
    agent: Child,
}

/// The status, head and body of an answer.
pub struct Answer(pub u16, pub String, pub String);

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.2).unwrap_or_else(|error| panic!("{error}: {}", self.2))
    }
}

impl Terminal {
    /// Starts the program, and waits until it answers on its socket.
    pub async fn start(mut options: Options, http: String) -> Self {
        options.config.push(("http = \"127.0.0.1:0\"".to_owned(), format!("http = \"{http}\"")));
        let shop = Shop::open(options).await.unwrap();
        let log = fs::File::create(shop.folder().join("agent.log")).unwrap();
        let agent = Command::new(crate::agent())
            .args(["run", "--config"])
            .arg(shop.config())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .env_remove("CREDENTIALS_DIRECTORY")
            .env_remove("NOTIFY_SOCKET")
            .env_remove("RUST_LOG")
            .spawn()
            .unwrap();
        let mut terminal = Self { shop, http, agent };
        let answers = async {
            // The port is opened after the socket.
            while UnixStream::connect(terminal.shop.socket()).await.is_err()
                || TcpStream::connect(&terminal.http).await.is_err()
            {
                assert_eq!(terminal.agent.try_wait().unwrap(), None, "the agent ended: {}", terminal.log());
                tokio::task::yield_now().await;
            }
        };
        within("the agent's socket and port", answers).await;
        terminal
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.shop.folder().join("agent.log")).unwrap_or_default()
    }

    pub async fn at_socket(&self, request: &str) -> Answer {
        exchange(UnixStream::connect(self.shop.socket()).await.unwrap(), request).await
    }

    pub async fn at_port(&self, request: &str) -> Answer {
        exchange(TcpStream::connect(&self.http).await.unwrap(), request).await
    }

    pub async fn until_status(&self, what: &str, wanted: impl Fn(&StatusView) -> bool) -> StatusView {
        let asked = async {
            loop {
                let answer = self.at_socket(&get("/v1/status", "")).await;
                let status: StatusView = serde_json::from_str(&answer.2).unwrap();
                if wanted(&status) {
                    return status;
                }
                tokio::task::yield_now().await;
            }
        };
        within(what, asked).await
    }

    /// Returns the number in a line of the program's `/proc/…/status`.
    pub fn in_proc(&self, name: &str) -> u64 {
        let text = fs::read_to_string(Path::new("/proc").join(self.agent.id().to_string()).join("status")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// Returns an address that no other test uses. No other socket can take the port, as an outgoing connection from
/// 127.0.0.1 could.
pub fn own_address(of_this_program: u8) -> String {
    let [.., high, low] = std::process::id().to_be_bytes();
    format!("127.{}.{low}.{of_this_program}:8470", 1 + high % 254)
}

/// Returns the header with the token of `till-1`.
pub fn token() -> String {
    format!("Authorization: Bearer {TILL_TOKEN}\r\n")
}

pub fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

pub fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    )
}

pub async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> Answer {
    let exchanged = async {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    };
    let answer = within("an answer", exchanged).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let head = head.to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") { whole(body) } else { body.to_owned() };
    Answer(head[9..12].parse().unwrap(), head, body)
}

/// Joins a chunked body, which must include its last chunk.
fn whole(mut chunks: &str) -> String {
    let mut body = String::new();
    loop {
        let (length, rest) = chunks.split_once("\r\n").expect("the body is incomplete");
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return body;
        }
        body.push_str(&rest[..length]);
        chunks = &rest[length + 2..];
    }
}

/// Copies the program with `cp` to a path where another user can start it. A file that this process has open for
/// writing may be inherited by a program that another test's thread starts. Until that program runs, the copy cannot be
/// started ("text file busy").
pub fn copied_to(path: &Path) {
    let copied = Command::new("cp").arg(crate::agent()).arg(path).status().unwrap();
    assert!(copied.success(), "the program is copied to {}", path.display());
}
