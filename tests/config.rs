//! The configuration as a technician meets it: examples that must be right, and mistakes that must be named with their remedy.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pos_agent::config::{self, Config};

/// A good file; `@` stands for the folder with the files it names.
const GOOD: &str = r#"
[terminal]
id = "00004711"
merchant = ["Corner Shop", "1 High Street", "Townsville"]
currency = "EUR"
max-amount = "5000.00"
card-timeout-s = 60
location = { latitude = "48.137154", longitude = "-11.576124", accuracy = "15" }

[reader]
protocol = "miura-mpi"
port = "/dev/serial/by-id/usb-reader"

[gateway]
url = "https://gateway.example/base"
entity-id = "8ac7a4c97044c00601704a9b2a2b0c5f"
token-file = "@/gateway.token"
ca-file = "@/ca.pem"
device-type = "MODEL_1"
brand-by-aid = { A0000000031010 = "VISA" }

[gateway.assumptions]
query-path = "/v1/query"

[printer]
port = "tcp://192.0.2.7:9100"
columns = 42

[till]
socket = "@/till.sock"
http = "127.0.0.1:8650"

[[till.token]]
till = "till-1"
token-file = "@/till-1.token"

[[till.token]]
till = "till-2"
token-file = "@/till-2.token"

[journal]
path = "@/journal.db"
"#;

/// The form is what counts here: a PEM file is checked for being one, the TLS module reads the certificate in it.
const CA: &str = "-----BEGIN CERTIFICATE-----\nMIIBAAA=\n-----END CERTIFICATE-----\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("ca.pem", CA, 0o644);
        for (name, token) in
            [("gateway", "OGFjN2E0Yzk3MDQ0YzAw"), ("till-1", "0123456789abcdef0"), ("till-2", "0123456789abcdef1")]
        {
            folder.write(&format!("{name}.token"), token, 0o600);
        }
        folder
    }

    fn write(&self, name: &str, content: &str, mode: u32) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content.replace('@', self.0.path().to_str().unwrap())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn load(&self, text: &str) -> Result<Config, String> {
        let path = self.write("config.toml", text, 0o644);
        config::load(&path).map_err(|error| error.to_string())
    }
}

#[test]
fn a_good_file_is_taken_as_written() {
    let config = Folder::new().load(GOOD).unwrap();
    assert_eq!(config.terminal.id, "00004711");
    assert_eq!(config.till.token.len(), 2);
    // What is left out has its documented default.
    assert_eq!((config.gateway.connect_timeout_ms, config.gateway.answer_timeout_ms), (10_000, 40_000));
    assert_eq!(config.gateway.assumptions.absence_final_after_h, 24);
}

#[test]
fn the_examples_are_good() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md exists");
    let blocks: Vec<_> = readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty(), "README.md shows no configuration");
    for block in blocks {
        let config = config::parse(block, Path::new("README.md")).unwrap_or_else(|error| panic!("{error}"));
        config.check_values().unwrap_or_else(|fault| panic!("README.md: {fault}"));
    }
    let mut boards = 0;
    for board in fs::read_dir(root.join("board")).expect("board/ exists") {
        let file = board.unwrap().path().join("config.toml");
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let config = config::parse(&text, &file).unwrap_or_else(|error| panic!("{error}"));
        config.check_values().unwrap_or_else(|fault| panic!("{}: {fault}", file.display()));
        boards += 1;
    }
    assert!(boards > 0, "no board/*/config.toml");
}

/// What to replace in the good file, with what, and the words that the error must hold.
#[rustfmt::skip]
const BAD: &[(&str, &str, &[&str])] = &[
    // Unknown, missing, of the wrong type, not TOML.
    ("currency =", "curency =", &["line 5", "terminal.curency", "unknown field `curency`", "`currency`", "README"]),
    ("[printer]", "[printr]", &["printr", "unknown field", "`printer`"]),
    ("id = \"00004711\"\n", "", &["terminal", "missing field `id`"]),
    ("id = \"00004711\"", "id = 4711", &["line 3", "terminal.id", "integer `4711`", "a string"]),
    ("card-timeout-s = 60", "card-timeout-s = \"60\"", &["terminal.card-timeout-s", "string", "u64"]),
    ("card-timeout-s = 60", "card-timeout-s = -1", &["terminal.card-timeout-s", "-1"]),
    ("\"miura-mpi\"", "\"miura\"", &["reader.protocol", "unknown variant `miura`", "`miura-mpi`"]),
    ("http = \"127.0.0.1:8650\"", "http = \"8650\"", &["till.http", "socket address"]),
    ("[journal]", "[journal", &["line 41", "README"]),
    // The shop.
    ("\"00004711\"", "\"4711A\"", &["terminal.id", "1 to 32 digits"]),
    ("\"00004711\"", "\"\"", &["terminal.id", "1 to 32 digits"]),
    ("[\"Corner Shop\", \"1 High Street\", \"Townsville\"]", "[]", &["terminal.merchant", "1 to 6 lines", "write name"]),
    ("Corner Shop", "Corner\\u001bShop", &["terminal.merchant", "control character"]),
    ("\"EUR\"", "\"eur\"", &["terminal.currency", "unknown currency", "ISO 4217"]),
    ("\"5000.00\"", "\"5000.0\"", &["terminal.max-amount", "EUR amounts have 2 decimals"]),
    ("card-timeout-s = 60", "card-timeout-s = 4", &["terminal.card-timeout-s", "4 is not between 5 and 600"]),
    ("card-timeout-s = 60", "card-timeout-s = 601", &["terminal.card-timeout-s", "601"]),
    ("48.137154", "148.1", &["terminal.location.latitude", "up to 2 digits"]),
    ("48.137154", "48", &["terminal.location.latitude"]),
    ("48.137154", "48.123456789", &["terminal.location.latitude"]),
    ("-11.576124", "--11.5", &["terminal.location.longitude", "up to 3 digits"]),
    ("accuracy = \"15\"", "accuracy = \"15m\"", &["terminal.location.accuracy", "digits"]),
    // The devices.
    ("/dev/serial/by-id/usb-reader", "ttyUSB0", &["reader.port", "tcp://host:port", "/dev/serial/by-id"]),
    ("/dev/serial/by-id/usb-reader", "tcp://reader", &["reader.port"]),
    ("/dev/serial/by-id/usb-reader", "tcp://reader:0", &["reader.port"]),
    ("/dev/serial/by-id/usb-reader", "tcp://reader:65536", &["reader.port"]),
    ("tcp://192.0.2.7:9100", "192.0.2.7:9100", &["printer.port"]),
    ("columns = 42", "columns = 40", &["printer.columns", "32, 42 or 48"]),
    ("columns = 42", "baud = 300", &["printer.baud", "300"]),
    // The gateway.
    ("https://gateway.example/base", "http://gateway.example", &["gateway.url", "plain http is refused", "https://"]),
    ("https://gateway.example/base", "gateway.example", &["gateway.url", "https://"]),
    ("https://gateway.example/base", "https://user:pw\\u0040gateway.example", &["gateway.url", "user name or password"]),
    ("https://gateway.example/base", "https://gateway.example/?x=1", &["gateway.url", "query"]),
    ("https://gateway.example/base", "https://gateway.example/#x", &["gateway.url", "fragment"]),
    ("https://gateway.example/base", "https://gateway .example/", &["gateway.url"]),
    ("8ac7a4c97044c00601704a9b2a2b0c5f", "8AC7A4C97044C00601704A9B2A2B0C5F", &["gateway.entity-id", "32 lower-case hex"]),
    ("token-file = \"@/gateway.token\"\n", "", &["gateway.token-file", "exactly one of"]),
    ("ca-file =", "token-credential = \"x\"\nca-file =", &["gateway.token-file", "exactly one of"]),
    ("token-file = \"@/gateway.token\"", "token-credential = \"../x\"", &["gateway.token-credential"]),
    ("\"@/ca.pem\"", "\"ca.pem\"", &["gateway.ca-file", "absolute path"]),
    ("\"@/ca.pem\"", "\"@/none.pem\"", &["gateway.ca-file", "/none.pem", "cannot be read", "PEM"]),
    ("\"@/ca.pem\"", "\"@/till-1.token\"", &["gateway.ca-file", "holds no certificate", "PEM"]),
    ("MODEL_1", "123456789012345678901234567890123", &["gateway.device-type", "1 to 32"]),
    ("A0000000031010 =", "a0000000031010 =", &["gateway.brand-by-aid", "upper-case hex"]),
    ("A0000000031010 =", "A000000003101 =", &["gateway.brand-by-aid"]),
    ("\"VISA\"", "\"VISA CARD\"", &["gateway.brand-by-aid"]),
    ("device-type", "connect-timeout-ms = 1\ndevice-type", &["gateway.connect-timeout-ms", "1 is not between"]),
    ("device-type", "answer-timeout-ms = 3000000\ndevice-type", &["gateway.answer-timeout-ms"]),
    ("\"/v1/query\"", "\"v1/query\"", &["gateway.assumptions.query-path"]),
    ("query-path = \"/v1/query\"", "approved = []", &["gateway.assumptions.approved", "at least one"]),
    ("query-path = \"/v1/query\"", "declined = [\"\"]", &["gateway.assumptions.declined"]),
    ("query-path = \"/v1/query\"", "absence-final-after-h = 0", &["gateway.assumptions.absence-final-after-h"]),
    ("query-path = \"/v1/query\"", "wallets = [\"a\", \"b\", \"c\", \"d\"]", &["gateway.assumptions.wallets", "at most 3"]),
    ("query-path = \"/v1/query\"", "schemes = [\"one.two\"]", &["gateway.assumptions.schemes", "letters, digits"]),
    // Tills and the journal.
    ("127.0.0.1:8650", "0.0.0.0:8650", &["till.http", "not a loopback address", "127.0.0.1:8650"]),
    ("till = \"till-2\"", "till = \"till-1\"", &["till.token[1].till", "same name"]),
    ("till = \"till-2\"", "till = \"local\"", &["till.token[1].till", "Unix socket"]),
    ("till = \"till-2\"", "till = \"till 2\"", &["till.token[1].till", "letters, digits"]),
    ("@/till-2.token", "@/till-1.token", &["till.token[1].token-file", "same token"]),
    ("@/till-2.token", "@/none.token", &["till.token[1].token-file", "/none.token", "cannot be read", "mode 0600"]),
    ("@/till.sock", "till.sock", &["till.socket", "absolute path"]),
    ("@/journal.db", "journal.db", &["journal.path", "absolute path"]),
];

#[test]
fn each_mistake_is_named_with_file_key_and_remedy() {
    let folder = Folder::new();
    for (old, new, words) in BAD {
        assert_eq!(GOOD.matches(old).count(), 1, "{old} must stand once in the good file");
        let error = folder.load(&GOOD.replace(old, new)).expect_err(new);
        assert!(error.contains("config.toml: "), "{new}: {error}");
        assert!(error.contains("; "), "{new}: no remedy in: {error}");
        for word in *words {
            assert!(error.contains(word), "{new}: \"{word}\" is not in: {error}");
        }
    }
}

#[test]
fn tokens_that_others_can_read_are_refused() {
    let folder = Folder::new();
    for (name, key) in [("gateway.token", "gateway.token-file"), ("till-1.token", "till.token[0].token-file")] {
        let path = folder.write(name, "0123456789abcdef2", 0o644);
        let error = folder.load(GOOD).unwrap_err();
        for word in [key, name, "mode 0644", "chmod 0600"] {
            assert!(error.contains(word), "\"{word}\" is not in: {error}");
        }
        assert!(!error.contains("0123456789abcdef"), "the token leaked: {error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    folder.write("gateway.token", "short", 0o600);
    let error = folder.load(GOOD).unwrap_err();
    assert!(error.contains("gateway.token-file") && error.contains("16 to 4096"), "{error}");
}

#[test]
fn a_file_that_everyone_may_write_or_nobody_can_read_is_refused() {
    let folder = Folder::new();
    let path = folder.write("config.toml", GOOD, 0o666);
    let error = config::load(&path).unwrap_err().to_string();
    assert!(error.contains("every user may write it (mode 0666)") && error.contains("chmod o-w"), "{error}");
    let error = config::load(&folder.0.path().join("none.toml")).unwrap_err().to_string();
    assert!(error.contains("none.toml") && error.contains("--config"), "{error}");
}
