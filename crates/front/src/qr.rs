//! Web addresses as QR codes, for the page and for a terminal window. A customer opens the address on their own device,
//! so no one has to type it. The address is never the caller's: it is that of a receipt, of the page where the customer
//! must act, of the customer's screen, or of the link for a browser.

use std::fmt::Write as _;

use http_body_util::BodyExt;
use hyper::{Response, StatusCode};
use qrcodegen::{QrCode, QrCodeEcc};
use serde_json::{Value, json};

use crate::agent::AnswerBody;
use crate::forward::handed_back;
use crate::problem::{Answer, Problem, json_answer};

/// The longest text in bytes, which is the longest address that the interface permits (`redirect.url`).
const LONGEST: usize = 2048;

/// The addresses that a customer opens: of the receipt, or of the page where the customer must act.
const ADDRESSES: [&str; 2] = ["receiptUrl", "redirectUrl"];

/// Returns the address of a transaction that a customer opens, if it has one.
pub(crate) fn address_of(sale: &Value) -> Option<&str> {
    ADDRESSES.iter().find_map(|name| sale.get(*name)?.as_str())
}

/// Returns the code with the address of a transaction, as the agent's answer names it. A refusal is passed on.
///
/// # Errors
/// Returns a [`Problem`] if the agent's answer is lost, or if the transaction has no address that fits in a code.
pub(crate) async fn of_sale(answer: Response<AnswerBody>) -> Result<Answer, Problem> {
    if answer.status() != StatusCode::OK {
        return Ok(handed_back(answer.map(BodyExt::boxed_unsync)));
    }
    let sale = answer.into_body().collect().await.map_err(|_| Problem::no_answer())?.to_bytes();
    let sale: Value = serde_json::from_slice(&sale).unwrap_or_default();
    let drawn = address_of(&sale).and_then(|address| drawn(address).ok()).ok_or_else(Problem::not_found)?;
    Ok(json_answer(StatusCode::OK, &drawn))
}

/// Returns the code as `{"size", "path"}`. `size` is the number of modules in a row, including the quiet zone. `path`
/// is an SVG path of the dark modules, in units of modules.
///
/// # Errors
/// Returns an error if the text is empty or has more than [`LONGEST`] bytes.
pub(crate) fn drawn(text: &str) -> Result<Value, String> {
    if text.is_empty() || text.len() > LONGEST {
        return Err(format!("text: must be 1 to {LONGEST} bytes"));
    }
    let code = QrCode::encode_text(text, QrCodeEcc::Low).map_err(|error| format!("text: {error}"))?;
    // ISO/IEC 18004, 9.1: four light modules on each side.
    const QUIET: i32 = 4;
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            // Adjacent dark modules in a row are one stroke.
            if x > 0 && code.get_module(x - 1, y) {
                continue;
            }
            let width = (x..code.size()).take_while(|x| code.get_module(*x, y)).count();
            write!(path, "M{} {}h{width}v1h-{width}z", x + QUIET, y + QUIET).expect("text takes all of it");
        }
    }
    Ok(json!({ "size": code.size() + 2 * QUIET, "path": path }))
}

/// Returns the code as text for a terminal window with a dark background: each character is two modules, one above the
/// other.
pub(crate) fn in_text(text: &str) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    let mut lines = String::new();
    for y in (-2..code.size() + 2).step_by(2) {
        for x in -2..code.size() + 2 {
            lines.push(match (code.get_module(x, y), code.get_module(x, y + 1)) {
                (false, false) => '█',
                (false, true) => '▀',
                (true, false) => '▄',
                (true, true) => ' ',
            });
        }
        lines.push('\n');
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strokes cover exactly the dark modules of the code.
    #[test]
    fn an_address_is_drawn_module_by_module() {
        for text in ["https://bank.example/3ds?id=1", &"x".repeat(LONGEST)] {
            let drawn = drawn(text).unwrap();
            let code = QrCode::encode_text(text, QrCodeEcc::Low).unwrap();
            assert_eq!(drawn["size"], code.size() + 8);
            let mut dark = std::collections::BTreeSet::new();
            for stroke in drawn["path"].as_str().unwrap().split('M').skip(1) {
                let (x, rest) = stroke.split_once(' ').unwrap();
                let (y, rest) = rest.split_once('h').unwrap();
                let width: i32 = rest.split_once('v').unwrap().0.parse().unwrap();
                let (x, y): (i32, i32) = (x.parse().unwrap(), y.parse().unwrap());
                (x..x + width).for_each(|x| assert!(dark.insert((x - 4, y - 4)), "drawn twice"));
            }
            let modules = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (x, y)));
            let expected: std::collections::BTreeSet<_> = modules.filter(|(x, y)| code.get_module(*x, *y)).collect();
            assert_eq!(dark, expected);
        }
        assert!(drawn("").unwrap_err().starts_with("text: "));
        assert!(drawn(&"x".repeat(LONGEST + 1)).is_err());
    }
}
