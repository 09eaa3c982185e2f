//! Checks any bytes as a till's request, at the socket and at the port. There is no panic, and a request in two pieces
//! gets the same answer as in one. Every error has the agent's form and does not contain the token. Every command that
//! reaches the agent has been checked.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{LazyLock, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;

use pos_agent::config::{Rights, Socket, Till, TillToken};
use pos_agent::till::http::serve;
use pos_agent::till::{Command, ProgressLog, Refused, ServedTerminal};
use pos_daemon::systemd::Sockets;
use pos_terms::money::Currency;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;

/// The token in the seeds.
const TOKEN: &str = "0123456789abcdef-1";
/// A time that exceeds any answer in this target.
const PATIENCE: Duration = Duration::from_secs(30);

/// Both interfaces, with an agent that knows no sales.
struct Listeners {
    _folder: TempDir,
    socket: PathBuf,
    port: SocketAddr,
}

static LISTENERS: LazyLock<Listeners> = LazyLock::new(open);

fn open() -> Listeners {
    let folder = tempfile::tempdir().expect("a folder for the socket");
    let token_file = folder.path().join("till-1.token");
    fs::write(&token_file, TOKEN).expect("a file of the test");
    fs::set_permissions(&token_file, fs::Permissions::from_mode(0o600)).expect("a file of the test");
    let socket = folder.path().join("till.sock");
    let token = vec![TillToken { till: "till-1".to_owned(), token_file, rights: Rights::till(), operator: true }];
    let http = ([127, 0, 0, 1], 0).into();
    let config = Till { socket: Socket::at(&socket), http, token, ..Till::default() };
    let (tell, told) = std_mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime of one thread").block_on(async move {
            let (commands, mut heard) = mpsc::channel(8);
            let progress = ProgressLog::new(8);
            let eur = Currency::from_code("EUR").expect("a currency");
            let terminal = ServedTerminal::new(eur);
            let bound = serve(&config, terminal, Sockets::default(), commands, progress, std::future::pending());
            let bound = bound.await.expect("a fresh folder and any port");
            tell.send(bound.http.expect("a till has a token")).expect("somebody waits for it");
            while let Some(command) = heard.recv().await {
                answer(command);
            }
        });
    });
    let port = told.recv().expect("the listeners open");
    Listeners { _folder: folder, socket, port }
}

/// Answers a command, which must be well-formed but is unknown to this agent.
fn answer(command: Command) {
    let is_reference =
        |text: &str| (1..=64).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    match command {
        Command::Begin { wanted, reply } => {
            assert!(is_reference(wanted.reference.as_str()), "{:?}", wanted.reference);
            let _ = reply.send(Err(Refused::Journal { why: "nothing is begun here".into() }));
        }
        Command::Show { till, reference, reply } => {
            assert!(is_reference(reference.as_str()), "{reference:?}");
            let _ = reply.send(Err(Refused::NoSuchSale { till, reference }));
        }
        Command::List { limit, reply, .. } => {
            assert!((1..=1000).contains(&limit), "{limit} sales at once");
            let _ = reply.send(Ok(Vec::new()));
        }
        Command::Payment { reply, .. } => drop(reply.send(Ok(Default::default()))),
        Command::Query { reply, .. } => drop(reply.send(Ok(Vec::new()))),
        // The caller gets the message that the agent did not answer.
        other => drop(other),
    }
}

/// Checks that the conditions above hold for these bytes. The first byte determines the interface and the split.
pub fn holds(input: &[u8]) {
    let Some((&first, bytes)) = input.split_first() else { return };
    let at = usize::from(first >> 1).min(bytes.len());
    let (whole, split) = if first % 2 == 0 {
        let connect = || UnixStream::connect(&LISTENERS.socket).expect("the socket is open");
        (exchange(connect(), &[bytes]), exchange(connect(), &[&bytes[..at], &bytes[at..]]))
    } else {
        let connect = || TcpStream::connect(LISTENERS.port).expect("the port is open");
        (exchange(connect(), &[bytes]), exchange(connect(), &[&bytes[..at], &bytes[at..]]))
    };
    // The answer to a HEAD has a length but no body.
    let has_body = !bytes.trim_ascii_start().starts_with(b"HEAD");
    is_sound(&whole, has_body);
    is_sound(&split, has_body);
    // After an invalid head, the agent closes the connection, with or without an answer.
    if !whole.is_empty() && !split.is_empty() {
        assert_eq!(without_date(first_answer(&split)), without_date(first_answer(&whole)));
    }
}

/// A connection for reading and writing whose writing side can be closed.
trait Line: Read + Write {
    fn patient(&self);
    fn no_more(&self);
}

impl Line for UnixStream {
    fn patient(&self) {
        self.set_read_timeout(Some(PATIENCE)).expect("a socket has a time-out");
    }

    fn no_more(&self) {
        // The agent may have closed the connection already.
        let _ = self.shutdown(Shutdown::Write);
    }
}

impl Line for TcpStream {
    fn patient(&self) {
        self.set_read_timeout(Some(PATIENCE)).expect("a socket has a time-out");
    }

    fn no_more(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

/// Sends the pieces. Returns everything that arrives until the connection is closed.
fn exchange(mut line: impl Line, pieces: &[&[u8]]) -> Vec<u8> {
    line.patient();
    for piece in pieces {
        // The agent may have refused the earlier bytes.
        if line.write_all(piece).is_err() {
            break;
        }
    }
    line.no_more();
    let mut answer = Vec::new();
    match line.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("no answer, and the line stays open"),
        // The connection was reset because of unread bytes.
        _ => answer,
    }
}

/// Checks the first answer. Other tests check answers that are not errors.
fn is_sound(answer: &[u8], has_body: bool) {
    assert!(!answer.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes()), "the token is said");
    let text = String::from_utf8_lossy(answer);
    let Some((head, _)) = text.split_once("\r\n\r\n") else {
        assert!(answer.is_empty(), "half an answer: {text}");
        return;
    };
    let status: u16 = head[9..12].parse().expect("a status has three digits");
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let is_problem = head.to_ascii_lowercase().contains("content-type: application/problem+json");
    if let (400..=599, Some(length), true) = (status, length, is_problem && has_body) {
        let body = &answer[head.len() + 4..];
        let error: Value = serde_json::from_slice(&body[..length]).expect("JSON");
        assert_eq!(error["status"], status, "the body says another status");
        let message = error["detail"].as_str().expect("an error says what is wrong");
        assert!(!message.contains(|c: char| c.is_control()) && message.len() < 4096, "{message:?}");
    }
}

/// Returns only the first answer. Bytes after a request may be answered too, or the connection may be closed before
/// they are read.
fn first_answer(answer: &[u8]) -> &[u8] {
    let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { return answer };
    let text = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    length.and_then(|length| answer.get(..head + 4 + length)).unwrap_or(answer)
}

fn without_date(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    text.split_inclusive('\n').filter(|line| !line.to_ascii_lowercase().starts_with("date: ")).collect()
}
