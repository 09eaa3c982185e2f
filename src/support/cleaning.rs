//! The removal of secrets from every text before it is written to the archive: card numbers (even masked ones), tracks,
//! tokens, passwords and private keys.
//!
//! The texts should not contain any, because the agent writes none, and tokens have their own files. But a person may
//! have pasted a secret into the configuration, and the log may contain texts of other programs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use zeroize::Zeroizing;

use pos_terms::card::{is_id, mask_pans};
use pos_terms::emv::luhn;

/// The replacement for a secret.
const SECRET: &str = "[secret]";
/// The replacement for a card number.
const CARD: &str = "[card number]";
/// The shortest secret to search for, in bytes: the password of a till that uses ZVT.
const SHORTEST: usize = 6;
/// The length from which a secret is also removed inside a longer word. A shorter one would match there by chance.
const LONG: usize = 8;
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
/// The keys that name a file with a secret, in the configurations of the agent and of the front.
const FILES: [&str; 6] =
    ["token-file", "client-key-file", "password-file", "passphrase-file", "api-key-file", "secret-file"];
/// The fields of a transaction that hold an id. Support finds a payment by them.
const IDS: [&str; 3] = ["paymentId", "earlierPayment", "merchantTransactionId"];
/// The keys that name a credential of systemd.
const NAMES: [&str; 2] = ["token-credential", "client-key-credential"];
/// The words in keys of a configuration that mean that the value is private.
const TELLING: [&str; 5] = ["token", "secret", "password", "passphrase", "key"];
/// The endings of keys whose values are only paths or names, or are public.
const HARMLESS: [&str; 6] = ["-file", "-credential", "-pins", "keys-left", "-identifier", "-version"];

/// The removal of this terminal's secrets, and of texts that look like secrets.
pub(super) struct Cleaning {
    secrets: Vec<Zeroizing<String>>,
}

impl Cleaning {
    /// Reads the secrets that these configurations name.
    pub(super) fn of(configs: &[&str]) -> Self {
        let named = |keys: &[&str]| -> Vec<&str> {
            configs.iter().flat_map(|text| keys.iter().flat_map(move |key| values(text, key))).collect()
        };
        let handed_over = std::env::var("CREDENTIALS_DIRECTORY").ok();
        let folders: Vec<&str> = CREDENTIALS.into_iter().chain(handed_over.as_deref()).collect();
        let names = named(&NAMES);
        let credentials = names.iter().flat_map(|name| folders.iter().map(move |folder| Path::new(folder).join(name)));
        let files = named(&FILES).into_iter().map(PathBuf::from);
        // A device could be endless.
        let is_file = |file: &PathBuf| fs::metadata(file).is_ok_and(|facts| facts.is_file());
        let read = |file| fs::read_to_string(file).ok().map(Zeroizing::new);
        let mut secrets: Vec<_> =
            credentials.chain(files).filter(is_file).filter_map(read).flat_map(|text| lines(&text)).collect();
        // The longest secret is removed first. So a secret that begins with another one is removed completely.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Returns the text without secrets and card numbers.
    pub(super) fn clean(&self, text: &str) -> String {
        without_spread_numbers(&without_masked_numbers(&mask_pans(&self.without_secrets(text))))
    }

    /// Cleans every text of a transaction. A number in an id is a card number only by chance, so an id keeps its
    /// digits.
    pub(super) fn clean_transaction(&self, transaction: &mut Value) {
        match transaction {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if IDS.contains(&name.as_str()) && is_id(text) => {
                            *text = self.without_secrets(text);
                        }
                        _ => self.clean_transaction(value),
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean_transaction(value)),
            Value::String(text) => *text = self.clean(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn without_secrets(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = without(&text, secret);
        }
        without_bearers(&without_keys(&text))
    }
}

/// Returns each line of a secret that is long enough. A token has one line, and a key in PEM form has many.
fn lines(text: &str) -> Vec<Zeroizing<String>> {
    let is_secret = |line: &&str| line.len() >= SHORTEST && !line.starts_with("-----");
    text.lines().map(str::trim).filter(is_secret).map(|line| Zeroizing::new(line.to_owned())).collect()
}

/// Returns the values of a key wherever it occurs, even in an inline table or in a comment. The configuration may have
/// faults, so it is not parsed.
fn values<'a>(config: &'a str, key: &str) -> Vec<&'a str> {
    let value = |(at, _): (usize, &str)| {
        let rest = config[at + key.len()..].trim_start_matches(['"', '\'', ' ', '\t']).strip_prefix('=')?.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest[1..].split([quote, '\n']).next()
    };
    config.match_indices(key).filter_map(value).collect()
}

/// Removes a secret from a text.
fn without(text: &str, secret: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(secret) {
        out.push_str(&rest[..at]);
        let after = &rest[at + secret.len()..];
        let is_word = !out.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        out.push_str(if is_word || secret.len() >= LONG { SECRET } else { secret });
        rest = after;
    }
    out + rest
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

/// Returns the front's configuration in the same way, without the paths of addresses. The path of a webhook's address
/// may be a secret.
pub(super) fn without_secrets_and_paths(config: &str) -> String {
    let mut parts = config.split("://");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['"', '\'', ' ', '\n']).unwrap_or(part.len());
        let (address, rest) = part.split_at(end);
        let host = address.find(['/', '?', '#']).unwrap_or(end);
        let path = if end - host > 1 { format!("/{SECRET}") } else { address[host..].to_owned() };
        out += &format!("://{}{path}{rest}", &address[..host]);
    }
    without_secrets(&out)
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
/// the loss of such a list is acceptable. `mask_pans` has judged spaces and dashes, and it knows ids and dates.
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
    let is_sign = sign.len() <= SIGN
        && sign.bytes().all(|byte| byte.is_ascii_punctuation() || byte == b' ')
        && !sign.bytes().all(|byte| matches!(byte, b' ' | b'-'));
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
    use serde_json::json;

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
            ("12345678-2-686453013330172ce7faab8e0c97b899", "12345678-2-686453013330172ce7faab8e0c97b899"),
            ("****************", "****************"),
            ("4111.1111.1111.1111 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1!", "[card number] [card number]!"),
            ("41:11:11:11:11:11:11:11", "[card number]"),
            ("10:18:45.263576, 10.0.2.15, 1.2, 3.4", "10:18:45.263576, 10.0.2.15, 1.2, 3.4"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn a_transaction_keeps_its_ids_and_loses_card_numbers() {
        let id = "686453013330172ce7faab8e0c97b899";
        let mut transaction = json!({
            "number": 4_761_739_001_010_119_u64,
            "reference": "4761739001010119",
            "merchantTransactionId": format!("12345678-2-{id}"),
            "earlierPayment": "a-token-of-the-gateway",
            "host": {"paymentId": id, "description": format!("of {id}"), "why": ["4761 7390 0101 0119"]},
        });
        let secrets = vec![Zeroizing::new("a-token-of-the-gateway".to_owned())];
        Cleaning { secrets }.clean_transaction(&mut transaction);
        let expected = json!({
            "number": 4_761_739_001_010_119_u64,
            "reference": "[card number]",
            "merchantTransactionId": format!("12345678-2-{id}"),
            "earlierPayment": "[secret]",
            "host": {"paymentId": id, "description": "of [card number]ce7faab8e0c97b899", "why": ["[card number]"]},
        });
        assert_eq!(transaction, expected);
        let mut track = json!({"paymentId": "4761739001010119D151220112345678"});
        Cleaning { secrets: Vec::new() }.clean_transaction(&mut track);
        assert!(!track.to_string().contains("0119"), "{track}");
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
    fn the_fronts_configuration_also_loses_the_paths_of_addresses() {
        for (text, expected) in [
            (
                "url = \"https://me:pw@till.example:8443/hook/T0001?t=abc\"",
                "url = \"https://[secret]@till.example:8443/[secret]\"\n",
            ),
            ("url = \"https://till.example?t=abc\"", "url = \"https://till.example/[secret]\"\n"),
            (
                "origins = [\"https://a.example\", \"https://b.example/\"]",
                "origins = [\"https://a.example\", \"https://b.example/\"]\n",
            ),
            (
                "passphrase = 'a'\nkey-identifier = \"mykey\"\nkey-version = 1",
                "passphrase = \"[secret]\"\nkey-identifier = \"mykey\"\nkey-version = 1\n",
            ),
        ] {
            assert_eq!(without_secrets_and_paths(text), expected);
        }
    }

    #[test]
    fn the_secrets_of_the_files_that_a_configuration_names_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let agent = format!(
            "gateway = {{ url = 1, token-file='{}' }}\n# client-key-file = \"{}\"\nthis is no TOML",
            file("token", "a-token-of-the-gateway\n"),
            file("key", "-----BEGIN PRIVATE KEY-----\nMHcCAQEEIExample\nAA==\n-----END PRIVATE KEY-----\n"),
        );
        let front = format!(
            "[[zvt]]\n\"password-file\" = \"{}\"\n[[nexo.till]]\npassphrase-file=\"{}\"\napi-key-file = \"{}\"\nsecret-file = \"{}",
            file("zvt", "314159\n"),
            file("nexo", "correct horse battery"),
            file("cloud", "AQEyhmfxKorNaBZAw0m\n"),
            file("hook", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"),
        );
        let cleaning = Cleaning::of(&[&agent, &front]);
        for (text, expected) in [
            ("it said a-token-of-the-gateway.", "it said [secret]."),
            ("xMHcCAQEEIExamplex AA==", "x[secret]x AA=="),
            ("password=314159, at 12:00:00.3141592", "password=[secret], at 12:00:00.3141592"),
            ("314159314159 314159", "314159314159 [secret]"),
            ("\"correct horse battery\"", "\"[secret]\""),
            ("x-api-key: AQEyhmfxKorNaBZAw0m", "x-api-key: [secret]"),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "[secret]"),
        ] {
            assert_eq!(cleaning.clean(text), expected);
        }
    }

    #[test]
    fn a_status_tells_of_sales_and_not_of_cards() {
        let status = r#"{"current":{"number":7,"card":{"last4":"0119"}},"unconfirmed":[{"card":{"last4":"0119"}}]}"#;
        assert_eq!(without_cards(status), "{\"current\":{\"number\":7},\"unconfirmed\":[{}]}\n");
    }
}
