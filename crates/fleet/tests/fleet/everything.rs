//! Everything that can happen to a fleet, one after the other.

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use serde_json::json;

use crate::agents::Agent;
use crate::broker::Broker;
use crate::database::Cluster;
use crate::pki::Pki;
use crate::process::now;
use crate::server::{ORG, Server};
use crate::terminals::Terminals;
use crate::traffic::Traffic;

/// The terminals of which a copy runs under the same identity, and those whose journal runs under another one.
const TWINS: u64 = 2;
const CLONES: u64 = 2;
/// The number of real agents.
const AGENTS: u64 = 3;
/// The time for one step with a thousand terminals.
const LIMIT: Duration = Duration::from_secs(120);
const DAY: u64 = 86_400;

fn terminals() -> u64 {
    std::env::var("POS_FLEET_TERMINALS").map_or(100, |count| count.parse().expect("POS_FLEET_TERMINALS is a number"))
}

#[test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
fn whatever_happens_the_database_holds_each_entry_once() {
    let count = terminals();
    let limit = LIMIT * u32::try_from(count.div_ceil(1_000)).unwrap();
    let start = now();
    let told = |what: &str| println!("{:6.1} s  {what}", (now() - start).as_secs_f64());
    let pki = Pki::new();
    for at in 1..=count {
        pki.make(&format!("sim-{at:04}"), false);
    }
    for at in TWINS + 1..=TWINS + CLONES {
        pki.make(&format!("clone-{at:04}"), false);
    }
    let cluster = Cluster::start();
    let mut broker = Broker::start(&pki, ORG);
    let mut server = Server::start(&pki, &broker, &cluster.url());
    told("database, broker and server");
    let (twins, clones) = (TWINS.to_string(), CLONES.to_string());
    let more = ["--sales-per-day", "30", "--days", "1", "--twins", &twins, "--clones", &clones, "--keep-alive-s", "20"];
    let mut fleet = Terminals::start(&pki, broker.port, ORG, count, &more);
    fleet.until_connected(limit);
    fleet.until_stored("first storing", limit);
    told(&format!("{count} terminals are connected and stored"));
    let names: Vec<_> = (1..=AGENTS).map(|at| format!("real-{at}")).collect();
    let traffic = Traffic::of(names.clone(), &broker, &pki);
    let mut agents: Vec<_> = names.iter().map(|name| Agent::start(name, &pki, broker.port, ORG)).collect();
    agents.iter_mut().for_each(Agent::sell);
    told("real agents have sold");

    // The broker dies in the middle of the work, with everything that it has stored.
    fleet.ask("sell 3");
    broker.lose_everything();
    agents.iter_mut().for_each(Agent::sell);
    fleet.until_stored("storing after the broker lost everything", limit);
    told("the broker lost everything");

    // The server dies in the middle of the work, several times.
    for _ in 0..3 {
        fleet.ask("sell 3");
        fleet.ask("clock 10");
        server.kill();
        agents.iter_mut().for_each(Agent::uplink_dies);
        server.again();
    }
    fleet.until_stored("storing after the server died", limit);
    told("the server died three times");

    // The database comes from a backup, while the server runs.
    let backup = cluster.back_up();
    fleet.ask("sell 5");
    fleet.until_stored("storing before the database is lost", limit);
    agents.iter_mut().for_each(Agent::sell);
    cluster.restore(&backup);
    fleet.ask("sell 1");
    let listed = fleet.ask("standing")["listed"].as_i64().unwrap();
    fleet.until("restored database with every entry", limit, 60, |_| {
        let stored = cluster.number("select count(*) from entry");
        (stored >= listed, json!(stored))
    });
    fleet.until_stored("storing after the backup", limit);
    told("the database came from a backup");

    // No network for three days, in which the shops go on.
    fleet.ask("cut");
    fleet.ask(&format!("clock {}", 3 * DAY));
    fleet.ask("join");
    let standing = fleet.until_stored("storing after three days without a network", limit);
    told(&format!("the network was cut for three days: {standing}"));

    // The shops close, and everything is compared.
    fleet.ask("close");
    fleet.until_stored("last storing", limit);
    let real: String = agents.iter().map(Agent::journal).collect();
    let entries = i64::try_from(real.lines().count()).unwrap();
    crate::process::until("entries of the real agents", limit, || {
        let have = cluster.number("select count(*) from entry where substr(terminal, 1, 5) = 'real-'");
        (have == entries).then_some(())
    });
    let journals = cluster.import("journals", |file| {
        fleet.journals(file);
        let mut file = fs::OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(real.as_bytes()).unwrap();
    });
    told(&format!("compares {journals} entries"));
    compare(&cluster);
    alarms(&cluster, &mut fleet, limit);
    let said = agents.iter().map(Agent::said).fold(server.said(), |said, more| said + &more);
    assert!(!said.contains("panicked"), "{said}");
    no_secrets(&said, "the fleet's broker is connected");
    no_secrets(&cluster.dump(), "real-1");
    no_secrets(&traffic.text(), "\"outcome\":\"approved\"");
    told("done");
}

/// The names of the twins, for SQL.
fn names_of_twins() -> String {
    let names: Vec<_> = (1..=TWINS).map(|at| format!("'sim-{at:04}'")).collect();
    names.join(", ")
}

/// Compares the database with the journals. A twin's entries are in it once, with the hash of one of the two.
fn compare(cluster: &Cluster) {
    let twin = format!("terminal in ({})", names_of_twins());
    let key = "terminal, journal, first, number, digest";
    let missing = format!("select {key} from journals where not ({twin}) except select {key} from entry");
    assert_eq!(cluster.sql(&format!("{missing} limit 3")), "", "entries are missing");
    let unknown = format!("select {key} from entry where not ({twin}) except select {key} from journals");
    assert_eq!(cluster.sql(&format!("{unknown} limit 3")), "", "nobody has these entries");
    let unknown = format!("select {key} from entry where {twin} except select {key} from journals");
    assert_eq!(cluster.sql(&format!("{unknown} limit 3")), "", "no twin has these entries");
    // Outcomes have their content, and steps on the way have none.
    assert_eq!(cluster.number("select count(*) from entry where body is null and kind is not null"), 0);
    assert!(cluster.number("select count(*) from entry where body->'facts'->>'outcome' = 'approved'") > 0);
    assert_eq!(cluster.number("select count(*) from entry where body->'records'->0->>'is' = 'asked'"), 0);
}

/// Searches for what a terminal keeps to itself: numbers of the deck's cards, sealed data, tokens and keys. `known` is
/// a text that must be there, so that the search can fail.
fn no_secrets(text: &str, known: &str) {
    assert!(text.contains(known), "no {known:?}");
    for card in ["tap", "chip-pin", "tap-pin"] {
        let number = pos_sim::reader::deck::card(card).unwrap().pan_digits();
        assert!(!text.contains(&number), "the card number of {card}");
    }
    assert!(!text.contains(pos_sim::shop::TILL_TOKEN), "the till's token");
    for word in ["encryptedData", "pinBlock", "ksn", "PRIVATE KEY"] {
        assert!(!text.to_lowercase().contains(&word.to_lowercase()), "{word}");
    }
}

fn alarms(cluster: &Cluster, fleet: &mut Terminals, limit: Duration) {
    let twins: Vec<_> = (1..=TWINS).map(|at| format!("sim-{at:04}")).collect();
    let two_histories = "select distinct terminal from conflict order by 1";
    let two_identities = "select terminal from terminal where two_identities is not null order by 1";
    // The twins take the connection from each other until each has shown its history.
    fleet.until("alarm for each twin", limit, 60, |_| {
        let rung = [two_histories, two_identities].map(|alarm| cluster.sql(alarm));
        (rung.iter().all(|rung| *rung == twins.join("\n")), json!(rung))
    });
    let clones =
        "select count(*) from (select journal from terminal_cursor group by 1 having count(distinct terminal) > 1) c";
    assert_eq!(cluster.number(clones).unsigned_abs(), CLONES, "journals under two terminals");
    let terminals = cluster.number("select count(*) from terminal").unsigned_abs();
    assert_eq!(terminals, fleet.count + CLONES + AGENTS);
    let twin = format!("terminal in ({})", names_of_twins());
    assert_eq!(cluster.number(&format!("select count(*) from terminal_cursor where gap and not ({twin})")), 0, "gaps");
}
