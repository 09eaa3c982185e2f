//! `pos-agent doctor --bundle` after a day of sales. The archive contains what remote support needs. It contains no
//! data of a card, a PIN, a token or a key, in any written form (design: invariant 7).
//!
//! The service's log comes from another program. In these tests, `journalctl` is a script that prints the agent's real
//! log and lines that no log should contain.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::counter::{Counter, till};
use crate::leak::{self, Kept, Secret};
use crate::overheard::Overheard;
use pos_sim::reader::CardEntry::{Insert, Swipe, Tap};
use pos_sim::reader::deck::DECK;
use pos_sim::shop::{Options, TILL_TOKEN};
use tokio::io::AsyncReadExt;

/// The secrets of a front: of a till that uses ZVT, of a till that uses nexo, and of a webhook.
const PASSWORD: &str = "314159";
const PASSPHRASE: &str = "correct horse battery staple";
const HOOK: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
/// The path of the webhook's address, which is a secret too.
const HOOK_PATH: &str = "T0001/B0002/XXXXmore";

/// The socket of the front, which a test may start.
const CONTROL: &str = "control.sock";

/// A card number that another program wrote into the log, in forms that people use.
const FOREIGN: &str = "4111111111111111";

/// Returns the parts of an archive, sorted by name.
pub(crate) fn unpacked(file: &Path) -> BTreeMap<String, String> {
    let mut archive = tar::Archive::new(fs::File::open(file).unwrap());
    let mut parts = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        assert_eq!(entry.header().mode().unwrap(), 0o600);
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        parts.insert(name.strip_prefix("pos-agent-support/").unwrap().to_owned(), text);
    }
    parts
}

/// Creates a folder with programs that replace systemd's programs. The log is that of both services.
fn programs(folder: &Path, log: &str) -> PathBuf {
    let bin = folder.join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("log"), log).unwrap();
    for (name, does) in [
        ("journalctl", format!("echo \"journalctl $*\"; cat {}/log", bin.display())),
        ("systemctl", "echo \"systemctl $*: ActiveState=active\"".to_owned()),
    ] {
        fs::write(bin.join(name), format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

/// Writes a front's configuration with its secrets beside the agent's, and starts a front that reports its status.
fn a_front_beside(config: &Path) {
    let at = |name: &str, secret: &str| {
        let file = config.with_file_name(name);
        fs::write(&file, format!("{secret}\n")).unwrap();
        file
    };
    let text = format!(
        "# the old password: {PASSWORD}\n[[zvt]]\ntill = \"kasse-1\"\npassword-file = {:?}\n\
         [[nexo.till]]\nkey-identifier = \"mykey\"\npassphrase-file = {:?}\n\
         [[webhook]]\nurl = \"https://till.example/{HOOK_PATH}\"\nsecret-file = {:?}\n",
        at("kasse-1.zvt", PASSWORD),
        at("kasse-2.nexo", PASSPHRASE),
        at("books.secret", HOOK)
    );
    fs::write(config.with_file_name("front.toml"), text).unwrap();
    let listener = UnixListener::bind(config.with_file_name(CONTROL)).unwrap();
    std::thread::spawn(move || {
        let status = format!(r#"{{"version":"0.1.0","webhooks":[{{"error":"{HOOK}\u001b\u202e"}}]}}"#);
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{status}", status.len());
        while let Ok((mut stream, _)) = listener.accept() {
            let mut asked = [0; 4096];
            let read = stream.read(&mut asked).unwrap();
            assert!(asked[..read].starts_with(b"GET /status HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
}

pub(crate) async fn doctor(config: &Path, file: &Path, bin: Option<&Path>) -> Output {
    let mut command = till::program(&["doctor", "--front"]);
    command.arg(config.with_file_name(CONTROL)).arg("--config");
    command.arg(config).arg("--bundle").arg(file);
    if let Some(bin) = bin {
        command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    }
    pos_test_kit::within("the doctor", command.output()).await.unwrap()
}

#[tokio::test]
async fn a_day_of_sales_leaves_nothing_of_a_card_or_a_secret_in_the_archive() {
    let overheard = Overheard::listen().await;
    let mut options = Options::default();
    options.reader.tcp = Some(([127, 0, 0, 1], 0).into());
    options.reader.removes_card = true;
    let ours = format!("protocol = \"miura-mpi\"\nport = \"tcp://{}\" # ", overheard.address());
    options.config = vec![("protocol = \"miura-mpi\"\nport = ".to_owned(), ours)];
    let counter = Counter::closed(options).await;
    overheard.lead_to(&counter.shop.reader.place());
    let config = counter.shop.config();
    let mut agent = till::program(&["run", "--config", config.to_str().unwrap(), "--log", "trace"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = agent.stderr.take().unwrap();
    let log = tokio::spawn(async move {
        let mut log = Vec::new();
        stderr.read_to_end(&mut log).await.unwrap();
        log
    });
    counter.until_ready().await;
    for (n, (name, entry)) in
        [("chip-pin", Insert), ("pan-19", Insert), ("tap", Tap), ("tap-pin", Tap), ("swipe-pin", Swipe)]
            .into_iter()
            .enumerate()
    {
        let reference = format!("S{n}");
        counter.sell(&reference, "12.34", name, entry).await;
        let told = |state| {
            state != pos_agent::till::SaleState::WaitingForCard && state != pos_agent::till::SaleState::InProgress
        };
        let view = counter.until(&reference, "its end or a signature", |view| told(view.state)).await;
        if view.state == pos_agent::till::SaleState::AwaitingSignature {
            counter.sign(&reference, true).await;
            counter.until_ended(&reference).await;
        }
        counter.shop.reader.remove();
        counter.until_ready().await;
    }
    // One sale runs while the archive is made, so the status mentions it.
    counter.begin("S-now", "1.00").await;

    let folder = tempfile::tempdir().unwrap();
    let secrets = entrusted(&counter);
    a_front_beside(&config);
    let (token, card) = (counter.shop.gateway.token(), &DECK[0]);
    let planted = [
        format!("other: card {FOREIGN}, {}", leak::groupings(FOREIGN).join(" | ")),
        format!("other: track ;{}? %{}?", card.track2(), card.track1()),
        format!("other: Authorization: Bearer {token}, till {TILL_TOKEN}, Bearer somebodyelsestoken0123"),
        "other: 411111******1111 and 4111 11** **** 1111".to_owned(),
        "other: a line that belongs there".to_owned(),
        format!("other: {PASSWORD}, {PASSPHRASE}, {HOOK}"),
    ];
    let bin = programs(folder.path(), &planted.join("\n"));
    let file = folder.path().join("support.tar");
    let output = doctor(&config, &file, Some(&bin)).await;
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(said.contains(&format!("written: {} (about.txt, ", file.display())), "{said}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    let parts = unpacked(&file);

    // The archive contains what support needs.
    let payment = counter.shop.gateway.ledger().entries()[0].id.clone();
    for (part, words) in [
        ("about.txt", &["Support archive of pos-agent", "no card data"][..]),
        ("doctor.txt", &["config\n", "journal.db is in WAL mode", "the agent says: "]),
        ("doctor.json", &["\"worst\":", "\"probe\":\"journal\""]),
        ("config.toml", &["id = \"12345678\"", "token-file = "]),
        ("status.json", &["\"terminalId\":\"12345678\"", "S-now"]),
        ("journal.json", &["\"altered\": null", "\"transactions\": 6", "\"head\": \"", "S-now of till local"]),
        ("transactions.jsonl", &["\"reference\":\"S0\"", "\"outcome\":\"approved\"", &payment]),
        ("log.txt", &["journalctl --unit pos-agent ", "other: a line that belongs there"]),
        ("front-log.txt", &["journalctl --unit pos-front ", "other: a line that belongs there"]),
        (
            "front.toml",
            &["till = \"kasse-1\"", "password-file = \"/", "\"mykey\"", "\"https://till.example/[secret]\""],
        ),
        ("front-status.json", &["\"version\":\"0.1.0\""]),
        ("system.txt", &["== /etc/os-release", "== /proc/version", "MiB free", "ActiveState=active", "Max open files"]),
        ("system.txt", &["systemctl show pos-agent.service", "systemctl show pos-front.service"]),
        ("devices.txt", &["== /dev/serial/by-id", "== USB", "== /proc/devices"]),
    ] {
        for word in words {
            assert!(parts[part].contains(word), "{part}: {word}: {}", parts[part]);
        }
    }
    assert_eq!(parts.len(), 13, "{:?}", parts.keys());
    for line in parts["transactions.jsonl"].lines().chain([parts["doctor.json"].as_str()]) {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }

    // Six digits are also found by chance in a longer number, so only whole words are compared.
    for part in ["log.txt", "front-log.txt", "front.toml", "config.toml"] {
        assert!(!parts[part].split(|c: char| !c.is_alphanumeric()).any(|word| word == PASSWORD), "{part}");
    }
    assert!(!parts["front-status.json"].contains('\u{202e}'), "{}", parts["front-status.json"]);

    // The agent's own log at its finest level is safe too, because it is filtered in the same way.
    stop(&mut agent).await;
    let log = String::from_utf8(log.await.unwrap()).unwrap();
    assert!(log.contains("DEBUG") && log.contains("sale timing"), "{log}");
    fs::write(bin.join("log"), &log).unwrap();
    let second = folder.path().join("second.tar");
    doctor(&config, &second, Some(&bin)).await;
    let later = unpacked(&second);
    assert!(later["log.txt"].contains("sale timing"));
    assert!(!later.contains_key("status.json"), "nobody answers any more");

    // The archive contains no secrets.
    let overheard = overheard.secrets();
    for what in ["SRED data", "a PIN block", "a key serial number"] {
        assert!(overheard.iter().any(|secret| secret.what == what), "{what} was never overheard");
    }
    let mut all = secrets;
    all.extend(overheard);
    all.push(Secret::text("a foreign card number", FOREIGN));
    all.push(Secret::text("a foreign token", "somebodyelsestoken0123"));
    let raw: Vec<_> =
        [&file, &second].into_iter().map(|file| Kept::new("the file", &fs::read(file).unwrap())).collect();
    let texts = parts.iter().chain(&later).map(|(name, text)| Kept::new(name, text.as_bytes()));
    for kept in texts.chain(raw) {
        for secret in &all {
            if let Some(found) = kept.shows(secret) {
                panic!("{} says {}, {}: {}", kept.name, secret.what, found.how, found.around);
            }
        }
    }
    // It does not even contain the masked form that a receipt shows.
    let masked = |pan: &str| format!("{}{}{}", &pan[..6], "*".repeat(pan.len() - 10), &pan[pan.len() - 4..]);
    for pan in DECK.iter().map(|card| card.pan).chain([FOREIGN]) {
        for (name, text) in parts.iter().chain(&later) {
            assert!(!text.contains(&masked(pan)), "{name} holds {}", masked(pan));
        }
    }
    assert!(!parts["status.json"].contains("last4"), "{}", parts["status.json"]);
}

pub(crate) async fn stop(agent: &mut tokio::process::Child) {
    let pid = rustix::process::Pid::from_raw(agent.id().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    pos_test_kit::within("the end of the agent", agent.wait()).await.unwrap();
}

/// Returns the secrets of the test cards and the shop.
fn entrusted(counter: &Counter) -> Vec<Secret> {
    let mut secrets = vec![
        Secret::text("the gateway's token", counter.shop.gateway.token()),
        Secret::text("the till's token", TILL_TOKEN),
        Secret::text("a passphrase", PASSPHRASE),
        Secret::text("a webhook's secret", HOOK),
        Secret::text("a webhook's path", HOOK_PATH),
    ];
    for card in DECK {
        secrets.push(Secret::text("a card number", card.pan));
        secrets.push(Secret::bytes("a card number in BCD", &hex::decode(&card.pan[..card.pan.len() / 2 * 2]).unwrap()));
        secrets.push(Secret::text("track 1", &card.track1()));
        secrets.push(Secret::text("track 2", &card.track2()));
        let after_number = format!("{}{}{}", card.expiry, card.service_code, card.discretionary);
        secrets.push(Secret::text("what follows the number on track 2", &after_number));
        secrets.push(Secret::text("the holder", card.holder.trim()));
    }
    secrets
}

#[tokio::test]
async fn a_file_that_is_there_is_not_overwritten_and_nothing_is_looked_at() {
    let counter = Counter::closed(Options::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("support.tar");
    fs::write(&file, "mine").unwrap();
    let output = doctor(&counter.shop.config(), &file, None).await;
    assert_eq!(output.status.code(), Some(74));
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("exists and was not overwritten; choose a different name"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let output = doctor(&counter.shop.config(), Path::new("/proc/support.tar"), None).await;
    assert_eq!(output.status.code(), Some(74));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot be written"));
}

/// Checks an archive for a terminal with few files. It contains what exists, and a secret in the wrong place is
/// removed.
#[tokio::test]
async fn a_broken_configuration_without_systemd_and_journal_still_gives_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let token = folder.path().join("token");
    fs::write(&token, "a-token-in-its-file\n").unwrap();
    let named = format!("token-file = {token:?} # ");
    let text = "[gateway]\nurl = \"https://me:password1@gateway.example\"\ntoken = \"0123456789abcdefXYZ\"\n";
    fs::write(&config, format!("{text}{named}a-token-in-its-file\n")).unwrap();
    let bin = folder.path().join("empty");
    fs::create_dir(&bin).unwrap();
    let file = folder.path().join("support.tar");
    let mut command = till::program(&["doctor", "--json", "--config"]);
    command.arg(&config).arg("--bundle").arg(&file).env("PATH", &bin);
    let output = pos_test_kit::within("the doctor", command.output()).await.unwrap();
    assert_eq!(output.status.code(), Some(78));
    let parts = unpacked(&file);
    assert!(parts["log.txt"].contains("journalctl cannot be started"), "{}", parts["log.txt"]);
    assert!(parts["doctor.txt"].contains("FAULT"), "{}", parts["doctor.txt"]);
    let cleaned = "[gateway]\nurl = \"https://[secret]@gateway.example\"\ntoken = \"[secret]\"\n";
    assert_eq!(parts["config.toml"], format!("{cleaned}{named}[secret]\n"));
    for absent in ["journal.json", "front.toml", "front-log.txt", "front-status.json"] {
        assert!(!parts.contains_key(absent), "{absent}");
    }
    for (name, text) in &parts {
        assert!(!text.contains("0123456789abcdefXYZ") && !text.contains("password1"), "{name}: {text}");
    }
}
