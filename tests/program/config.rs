//! The configuration as a technician meets it. Examples from the manual must be accepted. Mistakes must be reported
//! with the key and the remedy.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::counter::till::program;
use pos_agent::config::{self, Config, CustomerCopy, Right, Rights, Socket};

/// A valid file. The tests replace `@` by the folder with the files that it names.
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

[[printer]]
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

/// Only the form matters here. The configuration checks that a file is PEM, and the TLS module reads the certificate in
/// it.
const CA: &str = "-----BEGIN CERTIFICATE-----\nMIIBAAA=\n-----END CERTIFICATE-----\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("ca.pem", CA, 0o644);
        folder.write("wide.pbm", &format!("P1 512 1 {}", "1".repeat(512)), 0o644);
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
    // A missing setting gets its documented default.
    assert_eq!((config.gateway.connect_timeout_ms, config.gateway.answer_timeout_ms), (10_000, 40_000));
    assert_eq!(config.gateway.assumptions.absence_final_after_h, 24);
}

#[tokio::test]
async fn what_is_valid_but_probably_not_meant_is_a_warning() {
    let folder = Folder::new();
    let vipa = r#"protocol = "verifone-vipa"
port = "tcp-listen://192.0.2.7:16107"
sred-form = "data-only"
vipa = { terminal-country = "276", acquirer = "65" }"#;
    let listens = GOOD.replace("protocol = \"miura-mpi\"\nport = \"/dev/serial/by-id/usb-reader\"", vipa);
    let listed = listens.replace("sred-form", "serials = [\"40123456\"]\nsred-form");
    for (text, warned) in [(GOOD, 0), (&listed, 1), (&listens, 2)] {
        let file = folder.write("config.toml", text, 0o644);
        let output = program(&["check", "--json", file.to_str().unwrap()]).output().await.unwrap();
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let warnings = found["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), warned, "{found}");
        assert_eq!(warnings.iter().any(|warning| warning.as_str().unwrap().contains("tcp-listen")), warned == 2);
    }
}

#[test]
fn who_is_not_said_to_have_rights_has_the_usual_ones() {
    let folder = Folder::new();
    let widened = |more: &[Right]| -> Rights {
        Right::ALL.into_iter().filter(|right| Rights::till().has(*right) || more.contains(right)).collect()
    };
    let both = widened(&[Right::AnyTill, Right::UnknownPayment]);
    let config = folder.load(GOOD).unwrap();
    assert_eq!((&config.till.token[0].rights, &config.till.socket.rights), (&Rights::till(), &Rights::group()));
    assert!(config.till.peer.is_empty());
    assert_eq!(config.terminal.max_credit_amount, None, "nothing may be given");
    let with = GOOD
        .replace("till = \"till-1\"", "till = \"till-1\"\nrights = [\"any-till\", \"unknown-payment\"]")
        .replace("card-timeout-s = 60", "max-credit-amount = \"50.00\"");
    let config = folder.load(&with).unwrap();
    assert_eq!((&config.till.token[0].rights, &config.till.token[1].rights), (&both, &Rights::till()));
    assert_eq!(config.terminal.max_credit_amount.as_deref(), Some("50.00"));
    // The socket is written as a table, complete or in part.
    let socket = |text: &str| folder.load(&GOOD.replace("\"@/till.sock\"", text)).unwrap().till.socket;
    let written = folder.0.path().join("till.sock");
    assert_eq!(socket("\"@/till.sock\""), Socket { path: written.clone(), rights: Rights::group(), operator: true });
    assert_eq!(
        socket("{ path = \"@/till.sock\" }"),
        Socket { path: written.clone(), rights: Rights::group(), operator: true }
    );
    let none = socket("{ path = \"@/till.sock\", rights = [] }");
    assert_eq!(none, Socket { path: written, rights: Rights::default(), operator: true });
    // This earlier form dates from the time before each verb had its own right.
    let one = socket("{ rights = [\"any-till\"] }");
    assert_eq!(one.rights, widened(&[Right::AnyTill]));
    assert_eq!(one.path, Path::new("/run/pos-agent/till.sock"));
    let exactly = socket("{ rights = [\"read\", \"any-till\"] }");
    assert_eq!(exactly.rights, [Right::Read, Right::AnyTill].into_iter().collect());
}

#[test]
fn a_program_at_the_socket_has_its_own_tills_and_rights() {
    let folder = Folder::new();
    let peers = |text: &str| folder.load(&GOOD.replace("[journal]", &format!("{text}\n[journal]"))).unwrap().till.peer;
    let [peer] =
        &peers("[[till.peer]]\nuid = 1234\ntills = [\"till-3\", \"till-4\"]\nrights = [\"till\", \"credit\"]")[..]
    else {
        panic!("one entry")
    };
    assert_eq!((peer.uid, peer.tills.as_slice()), (1234, ["till-3".to_owned(), "till-4".to_owned()].as_slice()));
    assert!(peer.rights.has(Right::Credit) && peer.rights.has(Right::Refund) && !peer.rights.has(Right::AnyTill));
    // If settings are omitted, the entry is a program of the terminal itself with the usual rights. It may share a till
    // with a token.
    let several =
        peers("[[till.peer]]\nuid = 1234\n[[till.peer]]\nuid = 1235\ntills = [\"till-1\"]\nrights = [\"read\"]");
    assert_eq!(
        (several[0].tills.as_slice(), &several[0].rights),
        (["local".to_owned()].as_slice(), &Rights::several_tills())
    );
    assert_eq!(several[1].rights, [Right::Read].into_iter().collect());
}

#[test]
fn there_are_two_printers_or_one_or_none() {
    let folder = Folder::new();
    let names = |text: &str| -> Vec<String> {
        folder.load(text).unwrap().printer.into_iter().map(|printer| printer.name).collect()
    };
    assert_eq!(names(GOOD), ["printer-1"]);
    // A single table means the same. A logo that fits is accepted.
    let one = GOOD.replace("[[printer]]", "[printer]").replace("columns = 42", "columns = 42\nlogo = \"@/wide.pbm\"");
    assert_eq!(names(&one), ["printer-1"]);
    let second = "columns = 42\n[[printer]]\nname = \"counter\"\nport = \"/dev/usb/lp0\"\ncopies = \"customer\"";
    assert_eq!(names(&GOOD.replace("columns = 42", second)), ["printer-1", "counter"]);
    let none = GOOD.replace("[[printer]]\nport = \"tcp://192.0.2.7:9100\"\ncolumns = 42\n", "");
    assert_eq!(names(&none), [""; 0]);
}

#[test]
fn the_country_decides_how_customers_get_the_copy_of_a_sale_and_its_law_is_not_overruled() {
    let folder = Folder::new();
    let load = |country: &str, customer: &str| {
        let country = if country.is_empty() { String::new() } else { format!("country = \"{country}\"\n") };
        let text = GOOD.replace("card-timeout-s", &format!("{country}card-timeout-s"));
        let receipts =
            if customer.is_empty() { String::new() } else { format!("[receipts]\ncustomer = \"{customer}\"\n") };
        folder.load(&text.replace("[till]\n", &format!("{receipts}[till]\n")))
    };
    use CustomerCopy::{Ask, Print};
    for (country, customer, expected) in [
        ("", "", Print),
        ("DE", "", Print),
        ("DE", "ask", Ask),
        ("DE", "print", Print),
        ("DE", "none", CustomerCopy::None),
        ("FR", "", Ask),
        ("RE", "", Ask),
        ("FR", "ask", Ask),
        ("FR", "none", CustomerCopy::None),
    ] {
        assert_eq!(load(country, customer).unwrap().customer_copy(), expected, "{country} {customer}");
    }
    let refused = load("FR", "print").unwrap_err();
    for part in ["receipts.customer", "forbidden in FR", "décret n° 2022-1565", "write \"ask\" or \"none\""] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

#[test]
fn the_examples_are_good() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let blocks_of = |page: &str, language: &str| -> Vec<String> {
        let text = fs::read_to_string(root.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        let begin = format!("```{language}\n");
        text.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
    };
    let good = |text: &str, page: &str| {
        let config = config::parse(text, Path::new(page)).unwrap_or_else(|error| panic!("{error}"));
        config.check_values().unwrap_or_else(|fault| panic!("{page}: {fault}"));
        config
    };
    let [smallest] = &blocks_of("README.md", "toml")[..] else { panic!("README.md shows one configuration") };
    good(smallest, "README.md");
    for block in blocks_of("docs/src/configure.md", "toml") {
        good(&block, "docs/src/configure.md");
    }
    // These lines are added to one of the examples.
    let mut peers = 0;
    for page in ["docs/src/till.md", "docs/src/operate.md"] {
        for addition in blocks_of(page, "ini").iter().filter(|block| block.contains("[till.")) {
            peers += good(&format!("{smallest}\n{addition}"), page).till.peer.len();
        }
    }
    assert_eq!(peers, 1, "docs/src/till.md shows a program at the socket");
}

/// The text to replace in the valid file, its replacement, and the words that the error must contain.
#[rustfmt::skip]
const BAD: &[(&str, &str, &[&str])] = &[
    // Settings are unknown, missing, of the wrong type, or not TOML.
    ("currency =", "curency =", &["line 5", "terminal.curency", "unknown field `curency`", "`currency`", "manual"]),
    ("[[printer]]", "[[printr]]", &["printr", "unknown field", "`printer`"]),
    ("id = \"00004711\"\n", "", &["terminal", "missing field `id`"]),
    ("id = \"00004711\"", "id = 4711", &["line 3", "terminal.id", "integer `4711`", "a string"]),
    ("card-timeout-s = 60", "card-timeout-s = \"60\"", &["terminal.card-timeout-s", "string", "u64"]),
    ("card-timeout-s = 60", "card-timeout-s = -1", &["terminal.card-timeout-s", "-1"]),
    ("\"miura-mpi\"", "\"miura\"", &["reader.protocol", "unknown variant `miura`", "`miura-mpi`"]),
    ("http = \"127.0.0.1:8650\"", "http = \"8650\"", &["till.http", "socket address"]),
    ("[journal]", "[journal", &["line 41", "manual"]),
    // Settings of the shop.
    ("\"00004711\"", "\"4711A\"", &["terminal.id", "1 to 32 digits"]),
    ("\"00004711\"", "\"\"", &["terminal.id", "1 to 32 digits"]),
    ("[\"Corner Shop\", \"1 High Street\", \"Townsville\"]", "[]", &["terminal.merchant", "1 to 6 lines", "write the shop's name"]),
    ("Corner Shop", "Corner\\u001bShop", &["terminal.merchant", "control character"]),
    ("card-timeout-s = 60", "language = \"sv\"", &["terminal.language", "is not a language", "write en, de, fr, it, es, nl or pl"]),
    ("card-timeout-s = 60", "footer = [\"a\", \"\"]", &["terminal.footer", "a line is empty", "write plain text"]),
    ("card-timeout-s = 60", "footer = [\"a\\u001b\"]", &["terminal.footer", "control character"]),
    ("card-timeout-s = 60", "footer = [\"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\"]", &["terminal.footer", "more than 6 lines"]),
    ("card-timeout-s = 60", "footer = \"a\"", &["terminal.footer", "sequence"]),
    ("\"EUR\"", "\"eur\"", &["terminal.currency", "unknown currency", "ISO 4217"]),
    ("\"5000.00\"", "\"5000.0\"", &["terminal.max-amount", "EUR amounts have 2 decimals"]),
    ("card-timeout-s = 60", "max-credit-amount = \"20.0\"", &["terminal.max-credit-amount", "EUR amounts have 2 decimals"]),
    ("card-timeout-s = 60", "max-credit-amount = \"0.00\"", &["terminal.max-credit-amount", "zero"]),
    ("card-timeout-s = 60", "max-credit-amount = false", &["terminal.max-credit-amount", "a string"]),
    ("card-timeout-s = 60", "card-timeout-s = 4", &["terminal.card-timeout-s", "4 is not between 5 and 600"]),
    ("card-timeout-s = 60", "card-timeout-s = 601", &["terminal.card-timeout-s", "601"]),
    ("48.137154", "148.1", &["terminal.location.latitude", "at most 2 digits"]),
    ("48.137154", "48", &["terminal.location.latitude"]),
    ("48.137154", "48.123456789", &["terminal.location.latitude"]),
    ("-11.576124", "--11.5", &["terminal.location.longitude", "at most 3 digits"]),
    ("accuracy = \"15\"", "accuracy = \"15m\"", &["terminal.location.accuracy", "digits"]),
    // Settings of the devices.
    ("/dev/serial/by-id/usb-reader", "ttyUSB0", &["reader.port", "tcp://host:port", "/dev/serial/by-id"]),
    ("/dev/serial/by-id/usb-reader", "tcp://reader", &["reader.port"]),
    ("/dev/serial/by-id/usb-reader", "tcp://reader:0", &["reader.port"]),
    ("/dev/serial/by-id/usb-reader", "tcp://reader:65536", &["reader.port"]),
    ("\"miura-mpi\"", "\"miura-mpi\"\nlanguage = \"xx\"", &["reader.language", "write en, de"]),
    ("\"miura-mpi\"", "\"miura-mpi\"\nmanual-entry-command = \"D2E1\"", &["reader.manual-entry-command", "`D25A`"]),
    ("\"miura-mpi\"", "\"miura-mpi\"\nmanual-entry-command = \"D25A\"\nmanual-entry-verification-value = true",
        &["reader.manual-entry-verification-value", "D2E0"]),
    ("\"miura-mpi\"", "\"miura-mpi\"\nextended-apdu-capability = \"\"", &["reader.extended-apdu-capability", "1 to 32"]),
    ("\"miura-mpi\"", "\"miura-mpi\"\nprompts = { amount = [1, 2] }", &["reader.prompts.amount", "3"]),
    ("\"miura-mpi\"", "\"miura-mpi\"\ntip-entry = \"both\"", &["reader.tip-entry", "`total`"]),
    ("tcp://192.0.2.7:9100", "192.0.2.7:9100", &["printer[0].port"]),
    ("columns = 42", "columns = 40", &["printer[0].columns", "32, 42 or 48"]),
    ("columns = 42", "baud = 300", &["printer[0].baud", "300"]),
    ("columns = 42", "flow-control = \"dtr\"", &["printer[0].flow-control", "`rts-cts`", "`xon-xoff`"]),
    ("columns = 42", "code-page = \"cp1252\"", &["printer[0].code-page", "unknown variant `cp1252`", "`wpc1252`"]),
    ("columns = 42", "code-page = \"ascii\"\ncode-page-number = 3", &["printer[0].code-page-number", "ascii"]),
    ("columns = 42", "code-page-number = 256", &["printer[0].code-page-number", "256"]),
    ("columns = 42", "cut = \"half\"", &["printer[0].cut", "`partial`"]),
    ("columns = 42", "name = \"a b\"", &["printer[0].name", "1 to 32 letters"]),
    ("columns = 42", "qr = \"\"", &["printer[0].qr", "{reference}"]),
    ("columns = 42", "qr = \"https://shop.example/{pan}\"", &["printer[0].qr", "has no placeholder {pan}", "{reference}"]),
    ("columns = 42", "qr = \"https://shop.example/{reference\"", &["printer[0].qr", "an unmatched brace"]),
    ("columns = 42", "qr = \"{reference}{reference}\"", &["printer[0].qr", "384 bytes", "362"]),
    ("columns = 42", "qr = \"café\"", &["printer[0].qr", "printable ASCII"]),
    ("columns = 42", "[receipts]\ncustomer = \"always\"", &["receipts.customer", "`print`", "`ask`", "`none`"]),
    ("columns = 42", "[receipts]\nreceipt-url = \"http://shop.example/{reference}\"", &["receipts.receipt-url", "is not an address of a web server", "https://shop.example/r/{reference}"]),
    ("columns = 42", "[receipts]\nreceipt-url = \"https://shop.example/r\"", &["receipts.receipt-url", "the same address for different receipts"]),
    ("columns = 42", "[receipts]\nreceipt-url = \"https://shop.example/{pan}\"", &["receipts.receipt-url", "has no placeholder {pan}"]),
    ("columns = 42", "[receipts]\nurl = \"https://shop.example/{number}\"", &["receipts", "unknown field `url`"]),
    ("card-timeout-s = 60", "country = \"FX\"", &["terminal.country", "ISO 3166-1", "\"FR\""]),
    ("card-timeout-s = 60", "country = \"fr\"", &["terminal.country", "two capital letters"]),
    ("columns = 42", "logo = \"logo.pbm\"", &["printer[0].logo", "absolute"]),
    ("columns = 42", "logo = \"@/none.pbm\"", &["printer[0].logo", "none.pbm", "cannot be read", "PBM"]),
    ("columns = 42", "logo = \"@/ca.pem\"", &["printer[0].logo", "ca.pem", "is not PBM", "convert shop.png"]),
    ("columns = 42", "columns = 32\nlogo = \"@/wide.pbm\"", &["printer[0].logo", "is 512 dots wide", "384"]),
    ("columns = 42", "[[printer]]\nport = \"/dev/usb/lp0\"\nname = \"printer-1\"", &["printer[1].name", "the same name"]),
    ("columns = 42", "[[printer]]\nport = \"/dev/usb/lp0\"\n[[printer]]\nport = \"/dev/usb/lp1\"", &["printer", "more than two"]),
    // Settings of the gateway.
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
    ("query-path = \"/v1/query\"", "uncertain = [\"x\"]", &["gateway.assumptions.uncertain", "digits and dots"]),
    ("query-path = \"/v1/query\"", "declined-at-400 = [\"\"]", &["gateway.assumptions.declined-at-400"]),
    ("query-path = \"/v1/query\"", "query-method = \"PUT\"", &["gateway.assumptions.query-method", "`GET`", "`POST`"]),
    ("query-path = \"/v1/query\"", "query-list = []", &["gateway.assumptions.query-list", "holds the list"]),
    ("query-path = \"/v1/query\"", "query-list = [\"a b\"]", &["gateway.assumptions.query-list"]),
    ("query-path = \"/v1/query\"", "query-not-found = [\"404\"]", &["gateway.assumptions.query-not-found", "404 700.400.580"]),
    ("query-path = \"/v1/query\"", "query-not-found = [\"403 700.400.580\"]", &["gateway.assumptions.query-not-found", "but not 401 or 403"]),
    ("query-path = \"/v1/query\"", "query-not-found = [\"400 800.120.100\"]", &["gateway.assumptions.query-not-found", "throttled"]),
    ("query-path = \"/v1/query\"", "query-date-zone = \"CET\"", &["gateway.assumptions.query-date-zone", "+01:00"]),
    ("query-path = \"/v1/query\"", "query-by-date = \"no\"", &["gateway.assumptions.query-by-date", "boolean"]),
    ("query-path = \"/v1/query\"", "warm-path = \"\"", &["gateway.assumptions.warm-path"]),
    ("query-path = \"/v1/query\"", "probe-path = \"/?x\"", &["gateway.assumptions.probe-path", "write it as \"/\""]),
    ("query-path = \"/v1/query\"", "follow-up-path = \"/v1/payments\"", &["gateway.assumptions.follow-up-path", "{id} once"]),
    ("query-path = \"/v1/query\"", "follow-up-path = \"/v1/{id}/{id}\"", &["gateway.assumptions.follow-up-path", "{id} once"]),
    ("query-path = \"/v1/query\"", "registration-payment-path = \"v1/{id}\"", &["gateway.assumptions.registration-payment-path"]),
    ("query-path = \"/v1/query\"", "absence-final-after-h = 0", &["gateway.assumptions.absence-final-after-h"]),
    ("query-path = \"/v1/query\"", "wallets = [\"a\", \"b\", \"c\", \"d\"]", &["gateway.assumptions.wallets", "at most 3"]),
    (
        "query-path = \"/v1/query\"",
        "parameters-not-taken = [\"corporate.\", \"corporat.\"]",
        &["gateway.assumptions.parameters-not-taken", "\"corporat.\" is neither a parameter of a request", "pos-agent parameters list"],
    ),
    (
        "query-path = \"/v1/query\"",
        "parameters-not-taken = [\"cart.items[0].sku\"]",
        &["gateway.assumptions.parameters-not-taken", "cart.items[0].sku"],
    ),
    ("query-path = \"/v1/query\"", "parameters-not-taken = [\"result.code\"]", &["parameters-not-taken", "result.code"]),
    ("query-path = \"/v1/query\"", "parameters-not-taken = [\"\"]", &["parameters-not-taken"]),
    ("query-path = \"/v1/query\"", "schemes = [\"one.two\"]", &["gateway.assumptions.schemes", "letters, digits"]),
    // Settings of tills and the journal.
    ("127.0.0.1:8650", "0.0.0.0:8650", &["till.http", "not a loopback address", "127.0.0.1:8650"]),
    ("till = \"till-2\"", "till = \"till-1\"", &["till.token[1].till", "same name"]),
    ("till = \"till-2\"", "till = \"local\"", &["till.token[1].till", "Unix socket"]),
    ("till = \"till-2\"", "till = \"till 2\"", &["till.token[1].till", "letters, digits"]),
    ("@/till-2.token", "@/till-1.token", &["till.token[1].token-file", "same token"]),
    ("@/till-2.token", "@/none.token", &["till.token[1].token-file", "/none.token", "cannot be read", "mode 0600"]),
    ("@/till.sock", "till.sock", &["till.socket", "absolute path"]),
    ("\"@/till.sock\"", "{ path = \"till.sock\" }", &["till.socket", "absolute path"]),
    ("\"@/till.sock\"", "{ rights = [\"all\"] }",
        &["till.socket.rights", "unknown variant `all`", "`any-till`", "`unknown-payment`", "`several-tills`"]),
    ("\"@/till.sock\"", "{ right = [] }", &["till.socket.right", "unknown field `right`", "`rights`"]),
    ("\"@/till.sock\"", "[\"@/till.sock\"]", &["till.socket", "a path, or a table [till.socket] with path and rights"]),
    ("till = \"till-2\"", "till = \"till-2\"\nrights = [\"any-till\", \"refunds\"]",
        &["till.token[1].rights", "unknown variant `refunds`", "`any-till`", "`unknown-payment`"]),
    ("till = \"till-2\"", "till = \"till-2\"\nrights = \"any-till\"", &["till.token[1].rights", "sequence"]),
    ("[journal]", "[journal]\nmark-folder = \"mark\"", &["journal.mark-folder", "absolute", "begin the path with /"]),
    ("[journal]", "[[till.peer]]\nuid = \"shop\"\n[journal]", &["till.peer[0].uid", "expected u32"]),
    ("[journal]", "[[till.peer]]\ntills = [\"a\"]\n[journal]", &["till.peer[0]", "missing field `uid`"]),
    ("[journal]", "[[till.peer]]\nuid = 0\n[journal]", &["till.peer[0].uid", "root has every right", "id -u"]),
    ("[journal]", "[[till.peer]]\nuid = 65534\n[journal]", &["till.peer[0].uid", "does not identify one user", "id -u"]),
    ("[journal]", "[[till.peer]]\nuid = 7\n[[till.peer]]\nuid = 7\n[journal]", &["till.peer[1].uid", "same user"]),
    ("[journal]", "[[till.peer]]\nuid = 7\ntills = []\n[journal]", &["till.peer[0].tills", "is empty"]),
    ("[journal]", "[[till.peer]]\nuid = 7\ntills = [\"a b\"]\n[journal]", &["till.peer[0].tills", "letters, digits"]),
    ("[journal]", "[[till.peer]]\nuid = 7\ntills = [\"a\", \"a\"]\n[journal]", &["till.peer[0].tills", "twice"]),
    ("[journal]", "[[till.peer]]\nuid = 7\nrights = [\"refunds\"]\n[journal]",
        &["till.peer[0].rights", "unknown variant `refunds`", "`refund`"]),
    // Settings of the fleet.
    ("[journal]", "[fleet]\norg = \"Corner\"\nterminal = \"t\"\n[journal]",
        &["fleet.org", "1 to 64 of a-z"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t/1\"\n[journal]",
        &["fleet.terminal", "1 to 64 of a-z"]),
    ("[journal]", "[fleet]\norg = \"o\"\n[journal]",
        &["fleet", "missing field `terminal`"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"root\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\n[journal]",
        &["fleet.key[0].kind", "unknown variant `root`"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"desk\"\npublic = \"00\"\n[journal]",
        &["fleet.key[0].public", "64 hexadecimal digits", "pos-fleet key"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"\"\nkind = \"desk\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\n[journal]",
        &["fleet.key[0].name", "1 to 64 characters"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"desk\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\n[[fleet.key]]\nname = \"x\"\nkind = \"desk\"\npublic = \"1111111111111111111111111111111111111111111111111111111111111111\"\n[journal]",
        &["fleet.key[1].name", "same name"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"desk\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\n[[fleet.key]]\nname = \"y\"\nkind = \"config\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\n[journal]",
        &["fleet.key[1].public", "same bytes"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"till\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\n[journal]",
        &["fleet.key[0].till", "needs a till"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"till\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\ntill = \"till-1\"\n[journal]",
        &["fleet.key[0].till", "also the till of another"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"till\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\ntill = \"local\"\n[journal]",
        &["fleet.key[0].till", "also the till of another"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"till\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\ntill = \"w\"\n[[fleet.key]]\nname = \"y\"\nkind = \"till\"\npublic = \"1111111111111111111111111111111111111111111111111111111111111111\"\ntill = \"w\"\n[journal]",
        &["fleet.key[1].till", "also the till of another"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"till\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\ntill = \"a b\"\n[journal]",
        &["fleet.key[0].till", "letters, digits"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"desk\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\ntill = \"w\"\n[journal]",
        &["fleet.key[0].till", "only a key of kind till"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"till\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\ntill = \"w\"\nrights = [\"journal\"]\n[journal]",
        &["fleet.key[0].rights", "no command uses the right journal"]),
    ("[journal]", "[fleet]\norg = \"o\"\nterminal = \"t\"\n[[fleet.key]]\nname = \"x\"\nkind = \"till\"\npublic = \"0000000000000000000000000000000000000000000000000000000000000000\"\ntill = \"w\"\n[operators]\nrequired = true\n[journal]",
        &["fleet.key[0].operator", "no operator can sign in", "operator = false"]),
    ("@/journal.db", "journal.db", &["journal.path", "absolute path"]),
    ("[journal]", "[journal]\nkeep-days = 89", &["journal.keep-days", "89 is not between 90 and 36500"]),
    ("[journal]", "[journal]\nkeep-days = -1", &["journal.keep-days", "-1"]),
];

#[test]
fn a_fleet_has_at_most_sixteen_keys() {
    let folder = Folder::new();
    let with = |keys: u8| {
        let keys = (0..keys).map(|n| {
            let public = format!("{n:02x}").repeat(32);
            format!("[[fleet.key]]\nname = \"key {n}\"\nkind = \"desk\"\npublic = \"{public}\"\n")
        });
        let section = "[fleet]\norg = \"o\"\nterminal = \"t\"\n".to_owned() + &keys.collect::<String>();
        folder.load(&GOOD.replace("[journal]", &format!("{section}[journal]")))
    };
    assert_eq!(with(16).unwrap().fleet.unwrap().key.len(), 16);
    let error = with(17).unwrap_err();
    assert!(error.contains("fleet.key") && error.contains("more than 16 keys"), "{error}");
}

#[test]
fn each_mistake_is_named_with_file_key_and_remedy() {
    let folder = Folder::new();
    let mut missing = Vec::new();
    for (old, new, words) in BAD {
        assert_eq!(GOOD.matches(old).count(), 1, "{old} must stand once in the good file");
        let error = folder.load(&GOOD.replace(old, new)).expect_err(new);
        assert!(error.contains("config.toml: "), "{new}: {error}");
        assert!(error.contains("; "), "{new}: no remedy in: {error}");
        // Each mistake is reported once. A mandatory key with a misspelt name or word is also reported as missing.
        let lines = if *new == "curency =" || new.contains("kind = \"root\"") { 2 } else { 1 };
        assert_eq!(error.lines().count(), lines, "{new}: {error}");
        missing.extend(
            words.iter().filter(|word| !error.contains(**word)).map(|word| format!("{new}: \"{word}\": {error}")),
        );
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
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
    assert!(error.contains("every user may write to it (mode 0666)") && error.contains("chmod o-w"), "{error}");
    let error = config::load(&folder.0.path().join("none.toml")).unwrap_err().to_string();
    assert!(error.contains("none.toml") && error.contains("--config"), "{error}");
}

/// Checks that all faults are reported at once: keys, types, missing settings, values and files, each with its key and
/// its remedy.
#[test]
fn all_faults_are_told_at_once() {
    let folder = Folder::new();
    folder.write("till-1.token", "0123456789abcdef0", 0o644);
    let mut text = GOOD.to_owned();
    for (old, new) in [
        ("id = \"00004711\"", "id = 4711"),
        ("currency =", "curency ="),
        ("card-timeout-s = 60", "card-timeout-s = 4\nsignature-timeout-s = 1"),
        ("48.137154", "148.1"),
        ("port = \"/dev/serial/by-id/usb-reader\"\n", ""),
        ("https://gateway.example/base", "http://gateway.example"),
        ("\"@/ca.pem\"", "\"@/none.pem\""),
        ("columns = 42", "columns = 40\nbaud = 300"),
        ("till = \"till-2\"", "til = \"till-2\"\nrights = [\"refunds\"]"),
        ("[journal]", "[journal]\nkeep-days = 1"),
    ] {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text = text.replace(old, new);
    }
    let error = folder.load(&text).unwrap_err();
    let wanted = [
        "line 3: terminal.id: invalid type: integer `4711`, expected a string; correct that line",
        "line 5: terminal.curency: unknown field `curency`",
        "line 2: terminal: missing field `currency`; ",
        "line 11: reader: missing field `port`; ",
        "till.token[1].til: unknown field `til`, ",
        "till.token[1]: missing field `till`; ",
        "till.token[1].rights: unknown variant `refunds`, ",
        "terminal.card-timeout-s: 4 is not between 5 and 600; ",
        "terminal.signature-timeout-s: 1 is not between ",
        "terminal.location.latitude: must be a decimal number",
        "gateway.url: plain http is refused",
        "printer[0].columns: must be 32, 42 or 48; ",
        "printer[0].baud: 300 is not between ",
        "journal.keep-days: 1 is not between 90 and 36500; ",
        "gateway.ca-file: ",
        "till.token[0].token-file: ",
    ];
    for words in wanted {
        let told = error.lines().filter(|line| line.contains(words)).count();
        assert_eq!(told, 1, "\"{words}\" is not once in:\n{error}");
    }
    assert_eq!(error.lines().count(), wanted.len(), "{error}");
    for line in error.lines() {
        assert!(line.contains("config.toml: ") && line.contains("; "), "no file or no remedy: {line}");
    }
    assert!(!error.contains("0123456789abcdef"), "the token leaked: {error}");
}

#[test]
fn a_file_that_everyone_may_write_is_told_with_what_else_is_wrong() {
    let folder = Folder::new();
    let path = folder.write("config.toml", &GOOD.replace("columns = 42", "columns = 40"), 0o666);
    let error = config::load(&path).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 2, "{error}");
    assert!(lines[0].contains("chmod o-w") && lines[1].contains("printer[0].columns"), "{error}");
}
