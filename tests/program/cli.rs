//! The program as a person starts it: its output, its exit codes, and a sale with an agent that follows a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use easy_ext::ext;
use pos_agent::till::SaleView;
use pos_core::wish::EarlierName;
use pos_terms::transaction::{OutcomeWord, PaymentId, Reference, SaleNumber};
use pos_test_kit::within;

use crate::fake_agent::{self, Shop};

fn agent(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG").env_remove("CREDENTIALS_DIRECTORY");
    command
}

fn run(arguments: &[&str]) -> Output {
    agent(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {output:?}"))
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Joins the lines of a help, which are broken for a terminal window.
fn in_one_line(help: &str) -> String {
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[ext(RunsVerbs)]
impl Shop {
    /// Runs a verb while the scripted agent goes on in this thread.
    async fn verb(&self, arguments: &[&str]) -> Output {
        let mut command = agent(arguments);
        command.arg("--socket").arg(&self.socket);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    async fn sale(&self, reference: &str) -> Output {
        self.verb(&["sale", "12.34", "--reference", reference, "--settle-s", "1", "--reconnect-s", "3"]).await
    }
}

#[test]
fn help_teaches_and_wrong_usage_is_64() {
    let help = run(&["--help"]);
    assert_eq!(code(&help), 0);
    for word in [
        "run",
        "sale",
        "status",
        "cancel",
        "receipt",
        "journal",
        "close",
        "check",
        "Examples",
        "Exit codes",
        "unconfirmed",
    ] {
        assert!(stdout(&help).contains(word), "{word}");
    }
    assert!(stdout(&run(&["sale", "--help"])).contains("Ctrl-C"));
    let help = in_one_line(stdout(&run(&["settle", "--help"])));
    for word in ["outdated copy", "wait for a person", "back office", "--keep keeps the payment", "Exit codes"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    let version = run(&["--version"]);
    assert_eq!((code(&version), stdout(&version).trim()), (0, concat!("pos-agent ", env!("CARGO_PKG_VERSION"))));
    for wrong in [
        &["nonsense"][..],
        &[],
        &["refund"],
        &["refund", "r", "--number", "17"],
        &["refund", "--number", "17", "--payment", "p"],
        &["reverse", "--number", "x"],
        &["settle"],
        &["settle", "17"],
        &["settle", "17", "--keep", "--reverse"],
        &["settle", "r", "--keep"],
        &["signature", "r"],
        &["sale", "12.34", "--nonsense"],
        &["sale", "1", "2"],
        &["sale", "12.34", "--socket", "/x", "--config", "/y"],
        &["receipt", "r", "--copy", "mine"],
        &["journal", "--since", "yesterday"],
        &["journal", "--since", "1", "verify"],
        &["journal", "verify", "--head", "12"],
        &["journal", "adopt"],
        &["sale", "1,2,3"],
        &["sale", "12,345", "--currency", "EUR"],
        &["sale", "12.34", "--reference", "last"],
        &["sale", "0.00"],
        &["sale", "-5"],
        &["sale", "12.345", "--currency", "EUR"],
        &["sale", "1.00", "--currency", "XYZ"],
        &["run", "--config", "/none", "--log", "a=b=c"],
    ] {
        let output = run(wrong);
        assert_eq!(code(&output), 64, "{wrong:?}: {}", stderr(&output));
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{wrong:?}");
    }
}

#[test]
fn without_a_daemon_nothing_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("none.sock");
    let stale = folder.path().join("stale.sock");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    for socket in [socket.to_str().unwrap(), stale.to_str().unwrap()] {
        for verb in [&["sale", "12.34"][..], &["status"], &["cancel", "r"], &["receipt", "r"], &["journal"]] {
            let output = run(&[verb, &["--socket", socket]].concat());
            assert_eq!(code(&output), 69, "{verb:?}");
            assert!(
                stderr(&output).contains(socket) && stderr(&output).contains("pos-agent run"),
                "{}",
                stderr(&output)
            );
        }
    }
}

/// Checks the commands that a technician tries on a board without a configuration.
#[test]
fn a_board_that_was_never_set_up_is_told_the_command() {
    let setup = "run pos-agent setup as root";
    let nowhere = "/nowhere/config.toml";
    for verb in [&["run"][..], &["status"], &["sale", "12.34"], &["operator", "list"]] {
        let output = run(&[verb, &["--config", nowhere]].concat());
        let said = stderr(&output);
        assert_eq!(code(&output), 78, "{verb:?}: {said}");
        assert!(said.contains(&format!("{nowhere}: does not exist; {setup}")), "{verb:?}: {said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("till.sock");
    let said = run(&["status", "--socket", socket.to_str().unwrap()]);
    assert!(!stderr(&said).contains("pos-agent setup"), "a socket was given: {}", stderr(&said));
    let usual = Path::new(pos_agent::config::DEFAULT_PATH);
    if usual.exists() || Path::new("/run/pos-agent/till.sock").exists() {
        eprintln!("this computer has been set up as a terminal: not tested");
        return;
    }
    for verb in [&["status"][..], &["sale", "12.34"], &["cancel", "r"], &["receipt", "r"], &["journal"], &["close"]] {
        let output = run(verb);
        let said = stderr(&output);
        assert_eq!(code(&output), 69, "{verb:?}: {said}");
        assert!(said.contains(&format!("this board has no {}: {setup}", usual.display())), "{verb:?}: {said}");
    }
    for verb in [&["check"][..], &["run"]] {
        let output = run(verb);
        assert_eq!(code(&output), 78, "{verb:?}");
        assert!(stderr(&output).contains(setup), "{verb:?}: {}", stderr(&output));
    }
}

fn config(folder: &Path) -> String {
    fs::write(folder.join("ca.pem"), "-----BEGIN CERTIFICATE-----\nMIIBAAA=\n-----END CERTIFICATE-----\n").unwrap();
    fs::write(folder.join("token"), "0123456789abcdef\n").unwrap();
    fs::set_permissions(folder.join("token"), fs::Permissions::from_mode(0o600)).unwrap();
    let text = r#"
[terminal]
id = "4711"
merchant = ["Corner Shop"]
currency = "EUR"
[reader]
protocol = "miura-mpi"
port = "/dev/null"
[gateway]
url = "https://gateway.example"
entity-id = "8ac7a4c97044c00601704a9b2a2b0c5f"
token-file = "@/token"
ca-file = "@/ca.pem"
[till]
socket = "@/till.sock"
"#;
    text.replace('@', folder.to_str().unwrap())
}

#[test]
fn a_configuration_is_checked_before_anything_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let path = file.to_str().unwrap();
    let good = config(folder.path());
    fs::write(&file, &good).unwrap();
    let output = run(&["check", path]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("is good") && stdout(&output).contains("https://gateway.example"));
    let usual = "sale, pre-authorise, capture, refund, reverse, totals, close, read";
    assert!(
        stdout(&output).contains(&format!("other users who may open the socket: {usual}\n")),
        "{}",
        stdout(&output)
    );
    // The file contains the socket's path. Its tokens are not needed to send a request.
    fs::set_permissions(folder.path().join("token"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = run(&["status", "--config", path]);
    assert_eq!(code(&output), 69);
    assert!(stderr(&output).contains("till.sock"));
    for verb in [&["check", path][..], &["run", "--config", path]] {
        let output = run(verb);
        assert_eq!(code(&output), 78, "{verb:?}");
        assert!(stderr(&output).contains("gateway.token-file") && stderr(&output).contains("chmod 0600"), "{output:?}");
        assert!(!stderr(&output).contains("0123456789abcdef"));
    }
    // All faults are reported, one per line. A start reports the same.
    fs::write(&file, good.replace("port =", "prot =").replace("\"EUR\"", "\"eur\"")).unwrap();
    for verb in [&["check", path][..], &["run", "--config", path], &["check", path, "--json"]] {
        let output = run(verb);
        assert_eq!(code(&output), 78, "{verb:?}");
        let lines: Vec<&str> = stderr(&output).lines().filter(|line| line.contains(path)).collect();
        assert_eq!(lines.len(), 4, "{verb:?}: {}", stderr(&output));
        for (line, words) in
            lines.iter().zip(["missing field `port`", "reader.prot", "terminal.currency", "chmod 0600"])
        {
            assert!(line.starts_with("pos-agent: ") && line.contains(words) && line.contains("; "), "{line}");
        }
        if verb.contains(&"--json") {
            let told: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
            assert_eq!(told["error"]["detail"].as_str().unwrap().lines().count(), 4, "{told}");
        }
    }
    fs::write(&file, good.replace("port =", "prot =")).unwrap();
    let output = run(&["check", path]);
    assert_eq!(code(&output), 78);
    for word in [path, "line 8", "reader.prot", "unknown field `prot`", "`port`"] {
        assert!(stderr(&output).contains(word), "{word}: {}", stderr(&output));
    }
    assert_eq!(code(&run(&["check", "/none/config.toml"])), 78);
}

/// Checks a missing token under the systemd unit, which replaces a missing file by a line feed (`SetCredential=`).
#[test]
fn a_token_that_systemd_did_not_find_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (file, credentials) = (folder.path().join("config.toml"), folder.path().join("credentials"));
    fs::create_dir(&credentials).unwrap();
    let in_a_file = format!("token-file = \"{}/token\"", folder.path().display());
    fs::write(&file, config(folder.path()).replace(&in_a_file, "token-credential = \"gateway-token\"")).unwrap();
    for (handed_over, exit) in [(None, 78), (Some("\n"), 78), (Some("0123456789abcdef\n"), 0)] {
        if let Some(content) = handed_over {
            fs::write(credentials.join("gateway-token"), content).unwrap();
        }
        let mut check = agent(&["check", file.to_str().unwrap()]);
        let output = check.env("CREDENTIALS_DIRECTORY", &credentials).output().unwrap();
        assert_eq!(code(&output), exit, "{handed_over:?}: {}", stderr(&output));
        for words in ["gateway.token-credential", "/etc/pos-agent/gateway-token", "systemctl restart pos-agent"] {
            assert_eq!(stderr(&output).contains(words), exit != 0, "{handed_over:?}, {words}: {}", stderr(&output));
        }
    }
}

/// Checks the file that systemd reads for the agent. The agent gets a closed copy, whatever the file's mode is.
#[test]
fn a_token_for_systemd_that_other_users_may_open_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let (file, token) = (folder.path().join("config.toml"), folder.path().join("token"));
    let in_a_file = format!("token-file = \"{}\"", token.display());
    fs::write(&file, config(folder.path()).replace(&in_a_file, "token-credential = \"token\"")).unwrap();
    for (mode, warns) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o644, true)] {
        fs::set_permissions(&token, fs::Permissions::from_mode(mode)).unwrap();
        let says = format!("{}: other users may open it (mode {mode:04o}); run: chmod 0600", token.display());
        for more in [&[][..], &["--json"]] {
            let output = run(&[&["check", file.to_str().unwrap()], more].concat());
            assert_eq!(code(&output), 0, "{mode:o}: {}", stderr(&output));
            assert_eq!(stdout(&output).contains(&says), warns, "{mode:o}: {}", stdout(&output));
        }
    }
    fs::remove_file(&token).unwrap();
    let output = run(&["check", file.to_str().unwrap()]);
    assert!(!stdout(&output).contains("other users may open it"), "{}", stdout(&output));
}

#[tokio::test]
async fn a_sale_ends_with_the_code_of_its_outcome() {
    let shop = fake_agent::open(64).await;
    for (reference, exit, words) in [
        ("approved", 0, &["reference approved\nInsert, tap or swipe\nPIN ***\nAuthorising\napproved: 12.34 EUR"][..]),
        ("declined", 1, &["Insert, tap or swipe\ndeclined: 12.34 EUR"]),
        ("cancelled", 2, &["cancelled: 12.34 EUR"]),
        (
            "unconfirmed",
            3,
            &[
                "unconfirmed, reversing",
                "the payment will not be kept",
                "under a new reference",
                "pos-agent show 'unconfirmed'",
            ],
        ),
        ("resolves", 5, &["unconfirmed, reversing\nreversed: 12.34 EUR"]),
        ("partial", 4, &["partially approved: 10.00 of 12.34 EUR"]),
        ("not-sent", 69, &["not sent: 12.34 EUR"]),
        ("unready", 69, &["the request is not possible now: have it mended"]),
        ("busy", 69, &["busy with transaction other of till till-2"]),
        ("refused-amount", 64, &["have it mended"]),
        ("journal", 74, &["the journal cannot be used"]),
        ("control", 0, &["bell\u{FFFD} escape\u{FFFD}[2J right-to-left\u{FFFD}\n"]),
    ] {
        let output = shop.sale(reference).await;
        let text = [stdout(&output), stderr(&output)].concat();
        assert_eq!(code(&output), exit, "{reference}: {text}");
        assert!(stdout(&output).starts_with(&format!("reference {reference}\n")), "{text}");
        for word in words {
            assert!(text.contains(word), "{reference}: \"{word}\" is not in: {text}");
        }
    }
    // The sale is repeated with the same reference and with another amount. A third request has an invalid reference.
    let output = shop.sale("approved").await;
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("in use since 2026-11-20T12:34:56Z; no second sale"), "{}", stdout(&output));
    assert_eq!(code(&shop.verb(&["sale", "99.99", "--reference", "approved"]).await), 65);
    assert_eq!(code(&shop.verb(&["sale", "99.99", "--reference", " x"]).await), 64);
}

#[tokio::test]
async fn a_lost_connection_is_never_a_declined_sale() {
    // The agent returns and knows the outcome.
    let shop = fake_agent::open(64).await;
    let output = shop.sale("returns").await;
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(
        stdout(&output).contains("connection to the agent was lost") && stdout(&output).contains("connected again")
    );
    // The agent sent no answer and does not know the reference, so the sale never began.
    let output = shop.sale("drop").await;
    assert_eq!(code(&output), 69, "{}", stderr(&output));
    assert!(stderr(&output).contains("never begun"));
    // The agent knew the sale and has lost it.
    let output = shop.sale("forgets").await;
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    // The agent does not return.
    let output = shop.sale("vanishes").await;
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("is still not answering") && stderr(&output).contains("pos-agent show 'vanishes'")
    );
}

#[tokio::test]
async fn missed_steps_are_asked_for() {
    // With a ring buffer for one event, the script's events displace each other. An end without an event is found too.
    let shop = fake_agent::open(1).await;
    for reference in ["approved", "silent"] {
        let output = shop.sale(reference).await;
        assert_eq!(code(&output), 0, "{}", stdout(&output));
    }
}

#[tokio::test]
async fn ctrl_c_cancels_the_sale_and_waits_for_its_end() {
    let shop = fake_agent::open(64).await;
    let mut command = agent(&["sale", "12.34", "--reference", "r"]);
    let child =
        command.arg("--socket").arg(&shop.socket).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The agent has the sale, so Ctrl-C can cancel it.
    while stdout(&shop.verb(&["journal"]).await).is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stdout(&output).contains("cancelled: 12.34 EUR"), "{}", stdout(&output));
}

#[tokio::test]
async fn json_is_one_line_and_the_steps_are_elsewhere() {
    let shop = fake_agent::open(64).await;
    let output = shop.verb(&["sale", "12.34", "--reference", "approved", "--json"]).await;
    let sale: SaleView = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((code(&output), stdout(&output).lines().count(), sale.outcome), (0, 1, Some(OutcomeWord::Approved)));
    assert!(stderr(&output).contains("reference approved") && stderr(&output).contains("PIN ***"));
    let output = shop.verb(&["journal", "--json"]).await;
    assert_eq!(serde_json::from_str::<SaleView>(stdout(&output)).unwrap(), sale);
    let output = shop.verb(&["status", "--json"]).await;
    assert_eq!(serde_json::from_str::<serde_json::Value>(stdout(&output)).unwrap()["terminalId"], "4711");
}

#[tokio::test]
async fn an_earlier_transaction_is_named_by_its_number() {
    let mut shop = fake_agent::open(64).await;
    let number = |shop: &mut Shop| shop.wanted.borrow_and_update().clone().and_then(|wanted| wanted.wish.of.clone());
    for verb in ["capture", "refund", "reverse", "increment", "reauthorise"] {
        let output = shop.verb(&[verb, "--number", "17", "--amount", "1.00", "--reference", "approved"]).await;
        assert_eq!(
            (code(&output), number(&mut shop)),
            (0, Some(EarlierName::Number(SaleNumber::new(17)))),
            "{verb}: {}",
            stderr(&output)
        );
    }
    shop.verb(&["refund", "--payment", "p", "--amount", "1.00", "--reference", "approved"]).await;
    assert_eq!(number(&mut shop), Some(EarlierName::Payment(PaymentId::new("p"))));
    shop.verb(&["refund", "r", "--till", "till-2", "--amount", "1.00", "--reference", "approved"]).await;
    let (till, reference) = ("till-2".to_owned(), "r".to_owned());
    assert_eq!(
        number(&mut shop),
        Some(EarlierName::Reference { till, reference: Reference::parse(reference).unwrap() })
    );
}

#[tokio::test]
async fn a_person_settles_what_waits_for_one() {
    let shop = fake_agent::open(64).await;
    for reference in ["unconfirmed", "approved"] {
        shop.sale(reference).await;
    }
    let output = shop.verb(&["settle", "1", "--reverse"]).await;
    let shown = "unconfirmed of till local: unconfirmed, reversing\nbeing reversed\n";
    assert_eq!((code(&output), stdout(&output)), (0, shown), "{}", stderr(&output));
    let output = shop.verb(&["settle", "1", "--keep", "--json"]).await;
    let sale: SaleView = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((code(&output), sale.number.get(), sale.outcome), (0, 1, Some(OutcomeWord::Approved)));
    for number in ["1", "2", "99"] {
        let output = shop.verb(&["settle", number, "--keep"]).await;
        assert_eq!(code(&output), 65, "{number}");
        assert!(stderr(&output).contains("is not waiting for a person"), "{}", stderr(&output));
    }
}

#[tokio::test]
async fn the_other_verbs_show_what_the_daemon_knows() {
    let shop = fake_agent::open(64).await;
    for reference in ["approved", "unconfirmed"] {
        shop.sale(reference).await;
    }
    let output = shop.verb(&["status"]).await;
    assert_eq!(code(&output), 0);
    for word in [
        "terminal     4711: ready",
        "attention    printer-paper-low: paper is\u{FFFD} low",
        "unconfirmed  2 unconfirmed of local: 12.34 EUR",
    ] {
        assert!(stdout(&output).contains(word), "\"{word}\" is not in: {}", stdout(&output));
    }
    let output = shop.verb(&["journal", "--since", "1"]).await;
    assert!(stdout(&output).contains("unconfirmed") && !stdout(&output).contains("approved"), "{}", stdout(&output));
    let output = shop.verb(&["receipt", "approved", "--copy", "merchant"]).await;
    assert_eq!((code(&output), stdout(&output)), (0, "Merchant copy of approved\nGrüße\n"));
    assert_eq!(code(&shop.verb(&["cancel", "none"]).await), 65);
    assert_eq!(code(&shop.verb(&["cancel", "approved"]).await), 1);
}

/// Checks that `--json` prints one object for every failure. The exit code and the sentence for people do not change.
#[tokio::test]
async fn a_failure_is_one_json_object_with_its_code() {
    let shop = fake_agent::open(64).await;
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    let none = none.to_str().unwrap();
    let socket = shop.socket.to_str().unwrap().to_owned();
    shop.sale("approved").await;
    #[rustfmt::skip]
    let failures: &[(&[&str], i32, &str, &str)] = &[
        // clap reports these errors.
        (&["sale", "12.34", "--nonsense"], 64, "usage", "unexpected argument '--nonsense' found"),
        (&["show"], 64, "usage", "<REFERENCE>"),
        (&[], 64, "usage", "unexpected argument '--json' found"),
        // These errors occur before a request to the agent.
        (&["sale", "twelve"], 64, "amount", "not a number"),
        (&["sale", "1.00", "--currency", "XYZ"], 64, "currency", "unknown currency"),
        (&["sale", "1.00", "--param", "x"], 64, "usage", "write it as NAME=VALUE"),
        (&["sale", "1.00", "--reference", "last"], 64, "usage", "choose a different reference"),
        (&["query", "x"], 64, "usage", "write it as NAME=VALUE"),
        // The agent refuses these requests.
        (&["sale", "1.00", "--reference", "busy", "--socket", &socket], 69, "busy", "busy with transaction other"),
        (&["sale", "1.00", "--reference", "unready", "--socket", &socket], 69, "not-ready", "have it mended"),
        (&["sale", "1.00", "--reference", "refused-amount", "--socket", &socket], 64, "amount", "have it mended"),
        (&["sale", "1.00", "--reference", "journal", "--socket", &socket], 74, "journal", "cannot be used"),
        (&["sale", "1.00", "--reference", " x", "--socket", &socket], 64, "reference", "1 to 64 printable"),
        (&["sale", "9.99", "--reference", "approved", "--socket", &socket], 65, "amount-differs", "use a new reference"),
        (&["show", "nobody", "--socket", &socket], 65, "no-such-sale", "nobody"),
        (&["cancel", "nobody", "--socket", &socket], 65, "no-such-sale", "nobody"),
        (&["signature", "nobody", "--accept", "--socket", &socket], 65, "no-such-sale", "nobody"),
        (&["show", "last", "--till", "till-1", "--socket", &socket], 65, "no-such-sale", "till till-1 has no transaction yet"),
        (&["settle", "99", "--keep", "--socket", &socket], 65, "not-possible", "is not waiting"),
        (&["totals", "--socket", &socket], 74, "journal", "nothing to count"),
        (&["close", "--socket", &socket], 74, "journal", "nothing to close"),
        (&["close", "show", "--socket", &socket], 65, "no-such-close", "no day has been closed yet"),
        (&["close", "show", "17", "--socket", &socket], 65, "no-such-close", "there is no close 17"),
        (&["close", "print", "17", "--socket", &socket], 65, "no-such-close", "or pos-agent close list"),
        (&["close", "show", "first", "--socket", &socket], 64, "usage", "give a number, last, or open"),
        (&["sale", "1.00", "--reference", "drop", "--reconnect-s", "3", "--socket", &socket], 69, "not-sent", "never begun"),
        // No agent runs.
        (&["sale", "12.34", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["refund", "last", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["status", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["journal", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["receipt", "r", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["payment", "x", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["query", "limit=1", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["log-level", "debug", "--socket", none], 69, "no-daemon", "pos-agent run"),
        (&["status", "--config", none], 78, "configuration", "run pos-agent setup as root"),
        // These verbs read files themselves.
        (&["journal", "verify", "--journal", none], 74, "journal", "none"),
        (&["reconcile", none, "--journal", none], 74, "file", "none"),
        (&["parameters", "list", "--group", "nonsense"], 65, "data", "the groups are"),
        (&["doctor", "--config", none, "--bundle", "/nowhere/x.tar"], 74, "file", "/nowhere/x.tar"),
    ];
    for (arguments, exit, code_word, words) in failures {
        let mut command = agent(arguments);
        command.arg("--json");
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let told: serde_json::Value = serde_json::from_str(stdout(&output))
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}{}", stdout(&output), stderr(&output)));
        assert_eq!((code(&output), &told["error"]["code"]), (*exit, &(*code_word).into()), "{arguments:?}: {told}");
        let text = told["error"]["detail"].as_str().unwrap();
        assert!(text.contains(words), "{arguments:?}: {told}");
        assert_eq!(told.as_object().unwrap().len() + told["error"].as_object().unwrap().len(), 3, "{told}");
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn amounts_are_sent_as_the_daemon_takes_them() {
    let mut shop = fake_agent::open(64).await;
    for (typed, currency, sent) in [
        ("3.5", None, "3.50"),
        ("3,5", None, "3.50"),
        ("1,00", None, "1.00"),
        ("12", None, "12.00"),
        ("12.34", None, "12.34"),
        ("1,000", Some("KWD"), "1.000"),
        ("0,5", Some("EUR"), "0.50"),
    ] {
        let currency = currency.map_or_else(Vec::new, |code| vec!["--currency", code]);
        for verb in
            [&["sale", typed][..], &["preauthorise", typed], &["credit", typed], &["refund", "r", "--amount", typed]]
        {
            shop.verb(&[verb, &currency, &["--reference", "approved"]].concat()).await;
            let wanted = shop.wanted.borrow_and_update().clone().unwrap();
            assert_eq!(wanted.wish.amount.unwrap().decimal(), sent, "{verb:?}");
        }
    }
}

#[tokio::test]
async fn the_last_transaction_needs_no_name() {
    let mut shop = fake_agent::open(64).await;
    let output = shop.verb(&["show", "last"]).await;
    assert_eq!(
        (code(&output), stderr(&output)),
        (
            65,
            "pos-agent: till local has no transaction yet
"
        )
    );
    shop.sale("declined").await;
    shop.sale("approved").await;
    let aside = "\"last\" is approved from till local: sale, approved, 12.34 EUR
";
    let output = shop.verb(&["show", "last"]).await;
    assert_eq!((code(&output), stderr(&output)), (0, aside), "{}", stdout(&output));
    let output = shop.verb(&["receipt", "last"]).await;
    assert_eq!(
        (code(&output), stdout(&output)),
        (
            0,
            "Customer copy of approved
Grüße
"
        )
    );
    assert_eq!(stderr(&output), aside);
    let output = shop.verb(&["receipt", "last", "--json"]).await;
    let receipt: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((&receipt["reference"], &receipt["copy"]), (&"approved".into(), &"customer".into()));
    assert!(receipt["text"].as_str().unwrap().contains("Grüße"), "{receipt}");
    let output = shop.verb(&["cancel", "last", "--json"]).await;
    let cancelled: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((code(&output), &cancelled["cancel"]), (1, &"too-late".into()), "{cancelled}");
    let output = shop.verb(&["signature", "last", "--refuse", "--json"]).await;
    let judged: SaleView = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((code(&output), judged.reference.as_str()), (1, "approved"));
    for verb in ["capture", "refund", "reverse", "increment", "reauthorise"] {
        let output = shop.verb(&[verb, "last", "--amount", "1.00", "--reference", "approved"]).await;
        let wanted = shop.wanted.borrow_and_update().clone().unwrap();
        let (till, reference) = ("local".to_owned(), "approved".to_owned());
        assert_eq!(
            wanted.wish.of,
            Some(EarlierName::Reference { till, reference: Reference::parse(reference).unwrap() }),
            "{verb}"
        );
        assert!(stderr(&output).starts_with(aside), "{verb}: {}", stderr(&output));
    }
}

#[tokio::test]
async fn a_transaction_is_found_by_the_number_that_the_log_shows() {
    let shop = fake_agent::open(64).await;
    shop.sale("declined").await;
    shop.sale("approved").await;
    let output = shop.verb(&["show", "2"]).await;
    let aside = "number 2 is approved from till local: sale, approved, 12.34 EUR\n";
    assert_eq!((code(&output), stderr(&output)), (0, aside), "{}", stdout(&output));
    let output = shop.verb(&["receipt", "1"]).await;
    assert_eq!((code(&output), stdout(&output)), (0, "Customer copy of declined\nGrüße\n"), "{}", stderr(&output));
    let output = shop.verb(&["show", "3"]).await;
    assert_eq!(code(&output), 65);
    assert!(stderr(&output).contains("till local has no transaction with the reference 3"), "{}", stderr(&output));
    // A verb that changes a transaction takes no number: a typing error could change the wrong one.
    for verb in [&["cancel", "2"][..], &["signature", "2", "--refuse"], &["confirm", "2", "--taken", "nothing"]] {
        let output = shop.verb(verb).await;
        assert_eq!(code(&output), 65, "{verb:?}: {output:?}");
    }
    // A till may use numbers as references. They go before the agent's numbers.
    let mut waits = agent(&["sale", "1.00", "--reference", "1", "--socket", shop.socket.to_str().unwrap()]);
    let mut waits = waits.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = async {
        loop {
            let output = shop.verb(&["show", "1"]).await;
            if stderr(&output).is_empty() {
                return output;
            }
        }
    };
    let output = within("the sale that waits for a card", begun).await;
    waits.kill().unwrap();
    waits.wait().unwrap();
    assert_eq!(code(&output), 3, "{output:?}");
}

#[test]
fn reasons_are_explained_in_each_language() {
    let run = |arguments: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_pos-agent")).args(arguments).output().unwrap()
    };
    let all = run(&["reasons", "--json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&all.stdout).unwrap();
    assert_eq!(rows.len(), pos_core::transaction::Reason::ALL.len());
    let token = rows.iter().find(|row| row["reason"] == "gateway-refuses-token").unwrap();
    assert!(token["technician"].as_str().unwrap().contains("token"), "{token}");
    let german = run(&["reasons", "card-timeout", "--language", "de"]);
    assert!(
        stdout(&german).starts_with("card-timeout\n  cashier     ") && stdout(&german).contains("KARTE"),
        "{german:?}"
    );
    for (arguments, exit) in [(&["reasons", "no-such"][..], 65), (&["reasons", "--language", "xx"], 64)] {
        assert_eq!(code(&run(arguments)), exit, "{arguments:?}");
    }
}

/// Checks which users may use the socket through its group, and which user is advised to join that group.
#[test]
fn a_user_who_may_not_use_the_socket_is_told_the_group_and_the_command() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user: not tested");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &std::path::Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    open(folder.path(), 0o755);
    let program = folder.path().join("pos-agent");
    crate::program::copied_to(&program);
    open(&program, 0o755);
    let inner = folder.path().join("run");
    std::fs::create_dir(&inner).unwrap();
    let socket = inner.join("till.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for path in [&inner, &socket] {
        chown(path, None, Some(1)).unwrap();
    }
    let told = |verb: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.args(verb).arg("--socket").arg(&socket).env_remove("RUST_LOG").uid(65534).gid(65534);
        let output = command.output().unwrap();
        assert_eq!(code(&output), 77, "{verb:?}: {}", stderr(&output));
        stderr(&output).to_owned()
    };
    // Either the folder is as systemd creates it, or other users can enter it too.
    for (folder, mode, says) in [
        (0o750, 0o660, "usermod -aG daemon nobody, then log in again; or run this command as root"),
        (0o755, 0o660, "usermod -aG daemon nobody, then log in again; or run this command as root"),
        (0o755, 0o600, "run this command as root"),
        (0o700, 0o660, "run this command as root"),
    ] {
        open(&inner, folder);
        open(&socket, mode);
        for verb in [&["status"][..], &["sale", "12.34"], &["close"]] {
            let said = told(verb);
            assert!(said.contains("this user may not use ") && said.contains(says), "{folder:o} {mode:o}: {said}");
            assert_eq!(said.contains("usermod"), says.contains("usermod"), "{folder:o} {mode:o}: {said}");
        }
    }
}

#[test]
fn every_verb_that_moves_money_lists_its_exit_codes_and_the_program_lists_all() {
    let all: Vec<String> = stdout(&run(&["--help"])).lines().filter(|line| is_code(line)).map(str::to_owned).collect();
    assert_eq!(all.len(), 15, "{all:?}");
    for verb in [
        &["sale"][..],
        &["preauthorise"],
        &["credit"],
        &["capture"],
        &["refund"],
        &["reverse"],
        &["increment"],
        &["reauthorise"],
        &["registration", "pay"],
        &["registration", "preauthorise"],
        &["registration", "store"],
        &["registration", "forget"],
    ] {
        let help = run(&[verb, &["--help"]].concat());
        let said: Vec<&str> = stdout(&help).lines().filter(|line| is_code(line)).collect();
        // All codes are listed except the doctor's.
        assert_eq!(said, all.iter().filter(|line| !line.contains("75  ")).collect::<Vec<_>>(), "{verb:?}");
    }
    for verb in ["settle", "confirm", "signature", "cancel"] {
        let help = run(&[verb, "--help"]);
        for number in ["   0  ", "  65  ", "  69  ", "  77  "] {
            assert!(stdout(&help).contains(number), "{verb} {number}: {}", stdout(&help));
        }
    }
}

/// Returns whether a line belongs to the table of exit codes.
fn is_code(line: &str) -> bool {
    let Some((number, _)) = line.trim_start().split_once("  ") else { return false };
    line.starts_with("  ") && number.parse::<u8>().is_ok()
}

/// Checks that the help matches the program.
#[test]
fn the_help_says_what_the_program_does() {
    let help = |verb: &[&str]| in_one_line(stdout(&run(&[verb, &["--help"]].concat())));
    assert!(help(&[]).contains(r#"{"error":{"code":"…","detail":"…"}}"#), "{}", help(&[]));
    let rights = help(&["check"]);
    for right in pos_agent::config::Right::ALL {
        assert!(rights.contains(&format!("{}, ", right.as_str())) || rights.contains(&format!("{}.", right.as_str())));
    }
    assert!(rights.contains("Rights: sale, ") && rights.contains("several-tills"), "{rights}");
    // Only a transaction with a card can need a signature.
    for (verb, may_sign) in
        [("sale", true), ("preauthorise", true), ("credit", false), ("refund", false), ("capture", false)]
    {
        assert_eq!(help(&[verb]).contains("--signature"), may_sign, "{verb}");
    }
    let increment = help(&["increment"]);
    assert!(increment.contains("Usage: pos-agent increment [OPTIONS] --amount <AMOUNT> [OF]"), "{increment}");
    assert!(!increment.contains("all that is left"), "{increment}");
    assert_eq!(code(&run(&["increment", "room-12"])), 64);
    assert!(help(&["refund"]).contains("all that is left"));
    assert!(!help(&["close", "print"]).contains("`open`"), "{}", help(&["close", "print"]));
    let refused = run(&["close", "print", "open"]);
    assert_eq!(code(&refused), 64);
    assert!(stderr(&refused).contains("pos-agent close show open"), "{}", stderr(&refused));
    for (verb, says) in [
        ("run", "systemctl enable --now pos-agent"),
        ("settle", "The close of day is a different verb"),
        ("confirm", "begun with --confirm till"),
        ("increment", "180.00 is reserved now"),
        ("reauthorise", "A bank keeps a reservation only for a few days"),
        ("health", "restores the previous system"),
        ("boards", "A board is known if"),
        ("registration", "gives an id for it"),
        ("sale", "the terminal continues automatically"),
        ("log-level", "ends the change immediately"),
    ] {
        let said = help(&[verb]);
        assert!(said.contains(says), "{verb}: {said}");
    }
}
