//! A whole sale: `sale REFERENCE AMOUNT`. The program needs the crate `serde_json` and exits with success if the sale
//! is approved.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let [reference, amount] = [(); 2].map(|()| arguments.next().unwrap_or_default());
    let file = std::env::var("POS_AGENT_TOKEN_FILE").unwrap_or_default();
    let token = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let terminal = Terminal { address: "127.0.0.1:8650".to_owned(), token: token.trim().to_owned() };
    println!("{}", terminal.sell(&reference, &amount)?);
    Ok(())
}

/// The refusals after which the same request is sent again.
const PASSING: [&str; 5] = ["no-answer", "too-many-requests", "no-place", "timeout", "agent-down"];

pub struct Terminal {
    pub address: String,
    pub token: String,
}

impl Terminal {
    /// Makes a sale and returns its receipt if the sale is approved.
    pub fn sell(&self, reference: &str, amount: &str) -> Result<String, String> {
        let wanted = json!({ "reference": reference, "amount": amount }).to_string();
        let mut sale = self.ask("POST", "/v1/sales", "application/json", &wanted)?;
        loop {
            let read: Value = serde_json::from_str(&sale).map_err(|error| error.to_string())?;
            let word = |field: &str| read[field].as_str().unwrap_or_default();
            // This is the text for the cashier. At awaiting-signature, compare the signature and post {"accepted":true}
            // or false.
            println!("{} {}", word("outcome"), word("text"));
            match (word("state"), word("outcome")) {
                ("ended", "approved") => break,
                ("ended", _) => return Err(word("text").to_owned()),
                _ => {
                    // A sale that waits for a person is answered at once.
                    std::thread::sleep(Duration::from_secs(1));
                    sale = self.ask("GET", &format!("/v1/sales/{reference}?wait-s=60"), "application/json", "")?;
                }
            }
        }
        self.ask("GET", &format!("/v1/sales/{reference}/receipt?width=32"), "text/plain", "")
    }

    /// Sends a request. If the answer is lost, sends the same request again: the reference makes both one sale.
    fn ask(&self, method: &str, path: &str, accept: &str, body: &str) -> Result<String, String> {
        for _ in 0..10 {
            match self.ask_once(method, path, accept, body) {
                Ok((200..300, answer)) => return Ok(answer),
                Ok((_, problem)) => {
                    let problem: Value = serde_json::from_str(&problem).map_err(|error| error.to_string())?;
                    if !PASSING.contains(&problem["code"].as_str().unwrap_or("")) {
                        return Err(format!("refused: {}", problem["detail"]));
                    }
                }
                Err(lost) => eprintln!("asked again: {lost}"),
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        Err("the terminal does not answer: ask for the same reference later".to_owned())
    }

    fn ask_once(&self, method: &str, path: &str, accept: &str, body: &str) -> io::Result<(u16, String)> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(90)))?;
        write!(
            stream,
            // With HTTP/1.0, the answer arrives in one piece and ends with the connection.
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nAccept: {accept}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len(),
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
        let status = head.get(9..12).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
        Ok((status, body.to_owned()))
    }
}
