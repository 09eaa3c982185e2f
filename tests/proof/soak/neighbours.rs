//! The neighbours, each of which continues until it is stopped. Their requests have no purpose and must not harm the
//! shop.

use std::sync::Arc;
use std::time::Duration;

use pos_sim::reader::flood::FLOODS;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::terminal::{NOISY_TOKEN, Terminal};

/// The number of silent connections. The next constant is how long each one stays open.
const SILENT: usize = 60;
const SILENCE: Duration = Duration::from_secs(20);
/// The interval of each kind of disturbance. In a short soak, they come many times as often.
const KILL_EVERY: Duration = Duration::from_secs(240);
const JUMP_EVERY: Duration = Duration::from_secs(45);
const PULL_EVERY: Duration = Duration::from_secs(17);
const AWAY_EVERY: Duration = Duration::from_secs(53);
const FLOOD_EVERY: Duration = Duration::from_secs(120);

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
/// Offsets of the board's clock from the true time, in seconds. A board without a battery starts in 1970.
const JUMPS: &[i64] = &[2 * HOUR, -3 * HOUR, 40 * DAY, -400 * DAY, 370 * DAY, -20_000 * DAY, 0];

/// Opens connections and sends no bytes.
pub async fn silent(terminal: Arc<Terminal>) {
    async fn at_port(terminal: Arc<Terminal>) {
        loop {
            if let Ok(mut line) = TcpStream::connect(&terminal.loopback).await {
                let _ = timeout(SILENCE, line.read(&mut [0; 64])).await;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
    async fn at_socket(terminal: Arc<Terminal>) {
        loop {
            if let Ok(mut line) = UnixStream::connect(terminal.shop.socket()).await {
                let _ = timeout(SILENCE, line.read(&mut [0; 64])).await;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
    tokio::join!(all(SILENT, &terminal, at_port), all(4, &terminal, at_socket));
}

/// Sends a request byte by byte, or only its head, and never completes it.
pub async fn dribbling(terminal: Arc<Terminal>) {
    async fn head(terminal: Arc<Terminal>) {
        loop {
            if let Ok(mut line) = TcpStream::connect(&terminal.loopback).await {
                let _ = line.write_all(b"POST /v1/sales HTTP/1.1\r\nHost: localhost\r\nX: ").await;
                while line.write_all(b"x").await.is_ok() {
                    sleep(Duration::from_millis(100)).await;
                }
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
    async fn body(terminal: Arc<Terminal>) {
        loop {
            let head = "POST /v1/sales HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n";
            if let Some(mut line) = with_token(&terminal, head).await {
                let _ = line.write_all(b"{").await;
                let _ = timeout(SILENCE, line.read(&mut [0; 512])).await;
            }
            sleep(Duration::from_millis(500)).await;
        }
    }
    tokio::join!(all(12, &terminal, head), all(2, &terminal, body));
}

/// Sends bytes that are not a request, or not a request for this terminal.
pub async fn shouting(terminal: Arc<Terminal>) {
    async fn shout(terminal: Arc<Terminal>) {
        let long = vec![b'A'; 64 * 1024];
        let wrong = b"POST /v1/sales HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\
                      Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        let foreign = b"GET /v1/status HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n";
        let hello = [&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03][..], &[0xA5; 500]].concat();
        let shouts: [&[u8]; 5] = [&long, wrong, foreign, &hello, b"\r\n\r\n\0\0\0"];
        for shout in shouts.iter().cycle() {
            if let Ok(mut line) = TcpStream::connect(&terminal.loopback).await {
                let _ = line.write_all(shout).await;
                let _ = timeout(Duration::from_secs(5), line.read(&mut [0; 4096])).await;
            }
            sleep(Duration::from_millis(30)).await;
        }
    }
    all(4, &terminal, shout).await;
}

/// Requests events with a token and never reads them.
pub async fn deaf_listeners(terminal: Arc<Terminal>) {
    async fn listen(terminal: Arc<Terminal>) {
        loop {
            if let Some(_line) = with_token(&terminal, "GET /v1/events HTTP/1.1\r\n").await {
                sleep(Duration::from_secs(30)).await;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }
    all(8, &terminal, listen).await;
}

/// Requests the whole list many times in parallel and reads it slowly.
pub async fn listings(terminal: Arc<Terminal>) {
    async fn list(terminal: Arc<Terminal>) {
        loop {
            if let Some(mut line) = with_token(&terminal, "GET /v1/sales?limit=1000 HTTP/1.1\r\n").await {
                let mut bytes = vec![0; 16 * 1024];
                while let Ok(Ok(1..)) = timeout(Duration::from_secs(10), line.read(&mut bytes)).await {
                    sleep(Duration::from_millis(5)).await;
                }
            }
            sleep(Duration::from_millis(500)).await;
        }
    }
    all(8, &terminal, list).await;
}

/// Opens a connection and sends the beginning of a request with a token. Returns `None` if no agent answers.
async fn with_token(terminal: &Terminal, head: &str) -> Option<TcpStream> {
    let mut line = TcpStream::connect(&terminal.loopback).await.ok()?;
    let rest = format!("Host: localhost\r\nAuthorization: Bearer {NOISY_TOKEN}\r\nConnection: close\r\n\r\n");
    line.write_all(format!("{head}{rest}").as_bytes()).await.ok()?;
    Some(line)
}

/// Pulls the reader's cable and puts it back.
pub async fn cable(terminal: Arc<Terminal>) {
    loop {
        sleep(terminal.every(PULL_EVERY)).await;
        terminal.shop.reader.unplug();
        sleep(Duration::from_millis(400)).await;
        let _ = terminal.shop.reader.replug();
    }
}

/// Makes the reader send endlessly, each time with another message. The agent then stops listening to it for a while.
pub async fn floods(terminal: Arc<Terminal>) {
    let reader = &terminal.shop.reader;
    for (name, _) in FLOODS.iter().cycle() {
        sleep(terminal.every(FLOOD_EVERY)).await;
        for what in [name, &"nothing"] {
            reader.run_script(format!("after 0ms: flood {what}").parse().unwrap());
            sleep(Duration::from_millis(700)).await;
        }
    }
}

/// Makes the gateway unreachable, then reachable again but slow for a while.
pub async fn gateway(terminal: Arc<Terminal>) {
    loop {
        sleep(terminal.every(AWAY_EVERY)).await;
        terminal.shop.gateway.set_offline(true).await.unwrap();
        sleep(Duration::from_secs(3)).await;
        terminal.shop.gateway.set_offline(false).await.unwrap();
        terminal.shop.gateway.set_delay(Duration::from_millis(300));
        sleep(Duration::from_secs(5)).await;
        terminal.shop.gateway.set_delay(Duration::ZERO);
    }
}

/// Cuts the power.
pub async fn kills(terminal: Arc<Terminal>) {
    loop {
        sleep(terminal.every(KILL_EVERY)).await;
        terminal.kill();
    }
}

/// Sets the board's clock to a wrong time, and to the right time at the end of each round.
pub async fn clocks(terminal: Arc<Terminal>) {
    for ahead in JUMPS.iter().cycle() {
        sleep(JUMP_EVERY).await;
        terminal.set_clock(*ahead);
    }
}

/// Runs this many neighbours of one kind at the same time. They end with this function.
async fn all<F>(count: usize, terminal: &Arc<Terminal>, one: fn(Arc<Terminal>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut all: JoinSet<()> = (0..count).map(|_| one(Arc::clone(terminal))).collect();
    while all.join_next().await.is_some() {}
}
