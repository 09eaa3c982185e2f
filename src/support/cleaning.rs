//! The removal of secrets from every text before it is written to the archive: card numbers (even masked ones), tracks,
//! tokens, passwords and private keys.
//!
//! The texts should not contain any, because the agent writes none, and tokens have their own files. But a person may
//! have pasted a secret into the configuration, and the log may contain texts of other programs.

use std::fs;
use std::path::Path;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::config::Config;
use pos_terms::card::mask_pans;
use pos_terms::emv::luhn;

/// The replacement for a secret.
const SECRET: &str = "[secret]";
/// The replacement for a card number.
const CARD: &str = "[card number]";
/// The shortest secret to search for, in bytes. A shorter one would match by chance, and the configuration accepts none
/// below 16.
const SHORTEST: usize = 8;
/// The smallest number of characters in a masked card number, as in `card::masking`.
const PLACES: usize = 12;
/// The number of digits of a card number (ISO/IEC 7812).
const DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// The longest separator between two groups of a number, in characters, as in `4, 1, 1, 1`.
const SIGN: usize = 2;
/// The smallest number of hidden characters among them.
const HIDDEN: usize = 2;
/// The folder from which systemd takes the unit's credentials, and the folder where it puts them.
const CREDENTIALS: [&str; 2] = ["/etc/pos-agent", "/run/credentials/pos-agent.service"];
/// The words in keys of a configuration that mean that the value is private.
const TELLING: [&str; 4] = ["token", "secret", "password", "key"];
/// The endings of keys whose values are only paths or names, or are public.
const HARMLESS: [&str; 4] = ["-file", "-credential", "-pins", "keys-left"];

/// The removal of this terminal's secrets, and of texts that look like secrets.
pub(super) struct Cleaning {
    secrets: Vec<Zeroizing<String>>,
}

impl Cleaning {
    pub(super) fn of(config: Option<&Config>) -> Self {
        let Some(config) = config else { return Self { secrets: Vec::new() } };
        let gateway = &config.gateway;
        let names = [&gateway.token_credential, &gateway.client_key_credential].into_iter().flatten();
        let handed_over = std::env::var("CREDENTIALS_DIRECTORY").ok();
        let folders: Vec<&str> = CREDENTIALS.into_iter().chain(handed_over.as_deref()).collect();
        let credentials = names.flat_map(|name| folders.iter().map(move |folder| Path::new(folder).join(name)));
        let files = [&gateway.token_file, &gateway.client_key_file].into_iter().flatten();
        let files = files.chain(config.till.token.iter().map(|entry| &entry.token_file)).cloned();
        let read = |file| fs::read_to_string(file).ok().map(Zeroizing::new);
        let mut secrets: Vec<_> = credentials.chain(files).filter_map(read).flat_map(|text| lines(&text)).collect();
        // The longest secret is removed first. So a secret that begins with another one is removed completely.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Returns the text without secrets and card numbers.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), SECRET);
            }
        }
        without_spread_numbers(&without_masked_numbers(&mask_pans(&without_bearers(&without_keys(&text)))))
    }
}

/// Returns each line of a secret that is long enough. A token has one line, and a key in PEM form has many.
fn lines(text: &str) -> Vec<Zeroizing<String>> {
    let is_secret = |line: &&str| line.len() >= SHORTEST && !line.starts_with("-----");
    text.lines().map(str::trim).filter(is_secret).map(|line| Zeroizing::new(line.to_owned())).collect()
}

/// Returns a configuration without the values of keys that sound like secrets. An example is `token = "…"` instead of
/// the name of the token's file.
pub(super) fn without_secrets(config: &str) -> String {
    let line = |line: &str| {
        let Some((key, _)) = line.split_once('=') else { return line.to_owned() };
        let name = key.trim().trim_matches(['"', '\'', '#', ' ']).to_lowercase();
        let is_telling =
            TELLING.iter().any(|word| name.contains(word)) && !HARMLESS.iter().any(|end| name.ends_with(end));
        if is_telling { format!("{key}= \"{SECRET}\"") } else { without_password(line) }
    };
    config.lines().map(|text| line(text) + "\n").collect()
}

/// Removes name and password from a line such as `https://name:password@host`.
fn without_password(line: &str) -> String {
    let Some((before, rest)) = line.split_once("://") else { return line.to_owned() };
    let host = rest.split(['/', '"', '\'', ' ']).next().unwrap_or_default();
    match host.rsplit_once('@') {
        Some((who, _)) => format!("{before}://{SECRET}{}", &rest[who.len()..]),
        None => line.to_owned(),
    }
}

/// Returns the agent's status without the data of cards.
pub(super) fn without_cards(status: &str) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("card");
                fields.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    match serde_json::from_str(status) {
        Ok(mut value) => {
            strip(&mut value);
            format!("{value}\n")
        }
        Err(error) => format!("{{\"unreadable\":\"{error}\"}}\n"),
    }
}

/// Removes private keys in PEM form.
fn without_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_inside = false;
    for line in text.split_inclusive('\n') {
        let begins = line.contains("-----BEGIN") && line.contains("PRIVATE KEY");
        if begins && !is_inside {
            out.push_str(SECRET);
            out.push('\n');
        }
        is_inside |= begins;
        if !is_inside {
            out.push_str(line);
        }
        is_inside &= !line.contains("-----END");
    }
    out
}

/// Removes the text after `Bearer`, for any token.
fn without_bearers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find_bearer(rest) {
        let (before, after) = rest.split_at(at);
        let length = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte)).count();
        out.push_str(before);
        out.push_str(if length >= SHORTEST { SECRET } else { &after[..length] });
        rest = &after[length..];
    }
    out + rest
}

/// Returns the position where a token begins.
fn find_bearer(text: &str) -> Option<usize> {
    const WORD: &[u8] = b"bearer ";
    text.as_bytes().windows(WORD.len()).position(|word| word.eq_ignore_ascii_case(WORD)).map(|at| at + WORD.len())
}

/// Removes whole masked card numbers, such as `476173******0119` and `4761 73** **** 0119`.
fn without_masked_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(is_place) {
        let (before, row) = rest.split_at(from);
        out.push_str(before);
        let length = row_length(row);
        let number = &row[..length];
        let (places, hidden) = (number.matches(is_place).count(), number.matches('*').count());
        let is_masked = places >= PLACES && hidden >= HIDDEN && hidden < places;
        out.push_str(if is_masked { CARD } else { number });
        rest = &row[length..];
    }
    out + rest
}

/// Returns the length of the digits and hidden characters at the beginning of a text. A single space or dash may
/// separate two of them.
fn row_length(text: &str) -> usize {
    let mut length = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_place(c) {
            length = at + 1;
        } else if !matches!(c, ' ' | '-') || !chars.peek().is_some_and(|(_, next)| is_place(*next)) {
            break;
        }
    }
    length
}

/// Removes card numbers with the same separator of points, commas or colons between all groups, such as
/// `4111.1111.1111.1111`. `mask_pans` does not mask them, because it would also mask lists of amounts. In the archive,
/// the loss of such a list is acceptable.
fn without_spread_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, row) = rest.split_at(from);
        out.push_str(before);
        let first = group(row);
        match spread_number(row, first) {
            Some(length) => {
                out.push_str(CARD);
                rest = &row[length..];
            }
            None => {
                out.push_str(&row[..first]);
                rest = &row[first..];
            }
        }
    }
    out + rest
}

/// Returns the length of the number at the beginning of a text, including its separators.
fn spread_number(text: &str, first: usize) -> Option<usize> {
    let sign = text[first..].find(|c: char| c.is_ascii_digit())?;
    let sign = &text[first..first + sign];
    let is_sign = sign.len() <= SIGN && sign.bytes().all(|byte| byte.is_ascii_punctuation() || byte == b' ');
    let (mut digits, mut end) = (text[..first].to_owned(), first);
    while is_sign && digits.len() <= *DIGITS.end() {
        let next = text[end..].strip_prefix(sign)?;
        let length = group(next);
        digits.push_str(&next[..length]);
        end += sign.len() + length;
        if DIGITS.contains(&digits.len()) && luhn::is_valid(&digits) {
            return Some(end);
        }
        if length == 0 {
            break;
        }
    }
    None
}

/// Returns the number of digits at the beginning of a text.
fn group(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn is_place(c: char) -> bool {
    c.is_ascii_digit() || c == '*'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        let secrets = vec![Zeroizing::new("a-token-of-the-gateway".to_owned())];
        Cleaning { secrets }.clean(text)
    }

    #[test]
    fn no_card_number_stays_not_even_a_masked_one() {
        for (text, expected) in [
            ("card 4761739001010119, sale 12", "card [card number], sale 12"),
            ("4761 7390 0101 0119", "[card number]"),
            ("476173******0119 and 4761-73**-****-0119.", "[card number] and [card number]."),
            (";4761739001010119=15122011234567890?", ";[card number]?"),
            (
                "PIN ****, amount 12.34, 2026-11-22 05:31:04, 8ac7a4a18f476173900101011800aaaa",
                "PIN ****, amount 12.34, 2026-11-22 05:31:04, 8ac7a4a18f476173900101011800aaaa",
            ),
            ("12345678-123-4761739001010119aaaaaaaaaaaaaaaa", "12345678-123-4761739001010119aaaaaaaaaaaaaaaa"),
            ("****************", "****************"),
            ("4111.1111.1111.1111 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1!", "[card number] [card number]!"),
            ("41:11:11:11:11:11:11:11", "[card number]"),
            ("10:18:45.263576, 10.0.2.15, 1.2, 3.4", "10:18:45.263576, 10.0.2.15, 1.2, 3.4"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn no_token_and_no_key_stays() {
        for (text, expected) in [
            ("it said a-token-of-the-gateway.", "it said [secret]."),
            (
                "authorization: Bearer OGFjN2E0Yzk3MDQ0YzAw|x\nbearer of news",
                "authorization: Bearer [secret]|x\nbearer of news",
            ),
            ("a\n-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\nb\n", "a\n[secret]\nb\n"),
            (
                "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            ),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn a_configuration_keeps_the_names_of_files_and_loses_values_that_sound_like_secrets() {
        let text = "token-file = \"/etc/t\"\ntoken = \"abc\"\n#password=\"x\"\nwarn-keys-left = 7\nurl = \"https://me:pw@gateway.example/\"\nid = \"1\"";
        let expected = "token-file = \"/etc/t\"\ntoken = \"[secret]\"\n#password= \"[secret]\"\nwarn-keys-left = 7\nurl = \"https://[secret]@gateway.example/\"\nid = \"1\"\n";
        assert_eq!(without_secrets(text), expected);
    }

    #[test]
    fn a_status_tells_of_sales_and_not_of_cards() {
        let status = r#"{"current":{"number":7,"card":{"last4":"0119"}},"unconfirmed":[{"card":{"last4":"0119"}}]}"#;
        assert_eq!(without_cards(status), "{\"current\":{\"number\":7},\"unconfirmed\":[{}]}\n");
    }
}
