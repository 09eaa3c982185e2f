//! Roll-outs of settings to many terminals: real uplinks, a real broker, a real database and the server's programs. The
//! agents are simulated: they try settings, and keep them or go back.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pos_fleet::signing::SigningKey;
use pos_fleet_terms::KeyKind;
use serde_json::{Value, json};

use crate::broker::Broker;
use crate::database::Cluster;
use crate::pki::Pki;
use crate::process::{Process, now, until};
use crate::server::{ORG, Server};
use crate::terminals::Terminals;

/// The time for one step with a thousand terminals.
const LIMIT: Duration = Duration::from_secs(120);
/// The time between two looks. The desk itself looks each five seconds.
const PAUSE: Duration = Duration::from_millis(900);
/// Each terminal sells something at every so many looks.
const SALE: u64 = 5;
/// The seconds by which the terminals' clock moves between two looks.
const STEP: u64 = 10;

fn count() -> u64 {
    std::env::var("POS_FLEET_TERMINALS").map_or(100, |count| count.parse().expect("POS_FLEET_TERMINALS is a number"))
}

/// A fleet whose terminals take settings.
struct Fleet {
    cluster: Cluster,
    terminals: Terminals,
    config: PathBuf,
    pki: Pki,
    _server: Server,
    _desk: Process,
    _broker: Broker,
}

impl Fleet {
    fn start(count: u64) -> Self {
        let pki = Pki::new();
        for at in 1..=count {
            pki.make(&format!("sim-{at:04}"), false);
        }
        let cluster = Cluster::start();
        let broker = Broker::start(&pki, ORG);
        let server = Server::start(&pki, &broker, &cluster.url());
        // The desk verifies reports with the certificates that the CA has signed.
        until("shape of the database", LIMIT, || {
            let have = cluster.sql("select to_regclass('rollout') is not null");
            (have == "t").then_some(())
        });
        let mut certificates =
            String::from("insert into certificate (serial, terminal, key, pem, not_after, issued) values ");
        for at in 1..=count {
            let name = format!("sim-{at:04}");
            let pem = fs::read_to_string(pki.files(&name).0).unwrap();
            let comma = if at == 1 { "" } else { "," };
            write!(certificates, "{comma}('{at}','{name}','','{pem}',now() + interval '1 year',now())").unwrap();
        }
        cluster.run(&certificates);
        let key = SigningKey::generate(&pki.folder().join("config-a.pem"), KeyKind::Config, "config a").unwrap();
        let public = hex::encode(key.public());
        let (certificate, secret) = pki.make("pos-fleet-desk", false);
        let config = pki.folder().join("desk.toml");
        let text = format!(
            "org = \"{ORG}\"\n[database]\nurl = \"{}\"\n[broker]\nhost = \"localhost\"\nport = {}\nca = \"{}\"\n\
             certificate = \"none\"\nkey = \"none\"\ndesk-certificate = \"{}\"\ndesk-key = \"{}\"\n",
            cluster.url(),
            broker.port,
            pki.ca().display(),
            certificate.display(),
            secret.display(),
        );
        fs::write(&config, text).unwrap();
        let log = fs::File::create(pki.folder().join("desk.log")).unwrap();
        let desk = Process::start(
            Command::new(env!("CARGO_BIN_EXE_pos-fleet"))
                .args(["desk", "--config"])
                .arg(&config)
                .env_remove("NOTIFY_SOCKET")
                .env_remove("RUST_LOG")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log),
        );
        let more = ["--sales-per-day", "300", "--keep-alive-s", "20", "--config-key", &public];
        let mut terminals = Terminals::start(&pki, broker.port, ORG, count, &more);
        terminals.until_connected(LIMIT);
        let mut fleet = Self { cluster, terminals, config, pki, _server: server, _desk: desk, _broker: broker };
        // A roll-out goes to those that take settings.
        fleet.until("terminal that takes settings", |fleet| {
            let taking = fleet.cluster.number("select count(*) from terminal where state ->> 'nonce' is not null");
            (taking.unsigned_abs() == count, json!(taking))
        });
        fleet
    }

    fn until(&mut self, what: &str, mut look: impl FnMut(&mut Self) -> (bool, Value)) -> Value {
        let mut looks = 0;
        until(what, LIMIT, || {
            let (is_done, seen) = look(self);
            if is_done {
                return Some(seen);
            }
            self.terminals.ask(&format!("clock {STEP}"));
            // The shops go on selling.
            if looks % SALE == 0 {
                self.terminals.ask("sell 1");
            }
            looks += 1;
            std::thread::sleep(PAUSE);
            None
        })
    }

    fn program(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_pos-fleet"))
            .args(arguments)
            .arg("--config")
            .arg(&self.config)
            .env_remove("RUST_LOG")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).trim().to_owned())
    }

    fn start_rollout(&self, settings: &str) -> String {
        let file = self.pki.folder().join("settings.toml");
        fs::write(&file, settings).unwrap();
        let key = self.key();
        let arguments = ["rollout", "start", "--pilot", "sim-0007", "--soak", "1s", "--without-close", "--by", "anna"];
        let files = ["--settings", path(&file), "--key", path(&key)];
        let (is_started, said) = self.program(&[&arguments[..], &files[..]].concat());
        assert!(is_started, "{said}");
        said
    }

    fn key(&self) -> PathBuf {
        self.pki.folder().join("config-a.pem")
    }

    fn state(&self, id: u32) -> String {
        self.cluster.sql(&format!("select state from rollout where id = {id}"))
    }
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

#[test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
fn good_settings_reach_all_in_waves_and_bad_ones_stop_at_the_pilot() {
    let count = count();
    let start = now();
    let told = |what: &str| println!("{:6.1} s  {what}", (now() - start).as_secs_f64());
    let mut fleet = Fleet::start(count);
    told(&format!("{count} terminals take settings"));

    // Bad settings: the pilot goes back by itself, and no other terminal gets them.
    let said = fleet.start_rollout("[reader]\nbaud = 300\n");
    assert!(said.starts_with(&format!("roll-out 1: {count} documents are signed")), "{said}");
    fleet.until("stop of the bad roll-out", |fleet| (fleet.state(1) == "stopped", json!(null)));
    assert_eq!(fleet.terminals.ask("settings"), json!({ "versions": { "0": count }, "touched": 1 }));
    let (_, shown) = fleet.program(&["rollout", "show", "1"]);
    assert!(shown.contains("1 of 1 terminals went back"), "{shown}");
    assert!(shown.contains("failed: sim-0007 The reader did not answer with these settings."), "{shown}");
    assert!(shown.contains("start by anna") && shown.contains("stop by desk"), "{shown}");
    assert_eq!(fleet.cluster.number("select count(*) from settings"), 1, "only the pilot's document was released");
    told("the bad settings stopped at the pilot");

    // Good settings: everybody gets them, one wave after the other.
    fleet.start_rollout("[terminal]\nfooter = [\"Thank you\"]\n");
    let (is_started, refused) = fleet.program(&[
        "rollout",
        "start",
        "--pilot",
        "sim-0007",
        "--settings",
        path(&fleet.pki.folder().join("settings.toml")),
        "--key",
        path(&fleet.key()),
    ]);
    assert!(!is_started && refused.contains("the roll-out 2 is running"), "{refused}");
    let mut most = [0_u64; 5];
    fleet.until("end of the good roll-out", |fleet| {
        // No wave begins before the one before keeps the settings.
        let waves = fleet.cluster.sql(
            "select wave, count(*), count(released), count(kept) from rollout_document where rollout = 2
            group by wave order by wave",
        );
        let waves: Vec<Vec<u64>> =
            waves.lines().map(|line| line.split('|').map(|it| it.parse().unwrap()).collect()).collect();
        for two in waves.windows(2) {
            assert!(two[1][2] == 0 || two[0][3] * 100 >= two[0][1] * 95, "{waves:?}");
        }
        for (most, wave) in most.iter_mut().zip(&waves) {
            *most = (*most).max(wave[2]);
        }
        (fleet.state(2) == "done", json!(waves))
    });
    let part = |share: u64| (count * share).div_ceil(100);
    // Each wave has at least one terminal more than the one before.
    let (mut expected, mut until_now) = (vec![1], 1);
    for share in [1, 10, 50, 100] {
        let next = part(share).max(until_now + 1);
        expected.push(next - until_now);
        until_now = next;
    }
    assert_eq!(most.to_vec(), expected);
    let settings = fleet.terminals.ask("settings");
    let kept = settings["versions"]["2"].as_u64().unwrap_or_default();
    // The pilot's bad version was 1, so its good one is 2, as that of all others.
    let others = settings["versions"]["1"].as_u64().unwrap_or_default();
    assert!(kept + others >= part(95), "{settings}");
    told(&format!("the good settings reached all: {settings}"));

    // No sale was lost.
    fleet.terminals.ask("close");
    fleet.terminals.until_stored("storing after the roll-outs", LIMIT);
    let terminals = &mut fleet.terminals;
    let journals = fleet.cluster.import("journals", |file| terminals.journals(file));
    let key = "terminal, journal, first, number, digest";
    let missing = format!("select {key} from journals except select {key} from entry limit 3");
    assert_eq!(fleet.cluster.sql(&missing), "", "entries are missing");
    let stored = fleet.cluster.number("select count(*) from entry");
    assert_eq!(stored, journals);
    told(&format!("{journals} entries are stored, and none is lost"));
    let acts =
        fleet.cluster.sql("select string_agg(by || ' ' || act, ', ' order by at) from rollout_act where rollout = 2");
    assert_eq!(acts, "anna start, desk wave, desk wave, desk wave, desk wave, desk wave, desk done");

    // A person takes them back.
    let key = fleet.key();
    let (is_stopped, said) = fleet.program(&["rollout", "stop", "2", "--back", "--key", path(&key), "--by", "otto"]);
    assert!(is_stopped && said.contains(&format!("{count} terminals get the settings before")), "{said}");
    let (is_on, said) = fleet.program(&["rollout", "go-on", "1", "--by", "otto"]);
    assert!(is_on, "{said}");
    fleet.until("act of the desk after a person let it go on", |fleet| {
        let wave = fleet.cluster.sql("select wave from rollout where id = 1");
        (wave == "1", json!(wave))
    });
    let log = fs::read_to_string(fleet.pki.folder().join("desk.log")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}
