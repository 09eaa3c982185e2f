//! A terminal whose data the database refuses holds up no other, and a peer that sends too much costs neither memory
//! nor time without bound.

use std::time::Duration;

use pos_broker::tls::{self, Own};
use pos_broker::{Connection, Endpoint, Heard, Lost};
use pos_fleet::database::{Database, connect};
use pos_fleet::store::{Position, Round, Store};
use pos_fleet_terms::{Batch, Channel, Topic};
use pos_till_api::JournalEntry;

use crate::broker::Broker;
use crate::database::Cluster;
use crate::pki::Pki;
use crate::process::until;
use crate::server::{ORG, Server};
use crate::terminals::Terminals;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
fn a_terminal_whose_data_the_database_refuses_holds_up_no_other() {
    let pki = Pki::new();
    for name in ["sim-0001", "sim-0002"] {
        pki.make(name, false);
    }
    let (cluster, broker) = (Cluster::start(), Broker::start(&pki, ORG));
    let server = Server::start(&pki, &broker, &cluster.url());
    until("shape of the database", LIMIT, || {
        (cluster.sql("select to_regclass('entry') is not null") == "t").then_some(())
    });
    cluster.sql("alter table entry add constraint refused check (terminal <> 'sim-0001')");
    let mut fleet = Terminals::start(&pki, broker.port, ORG, 2, &["--sales-per-day", "30", "--days", "1"]);
    let stored = |terminal: &str| cluster.number(&format!("select count(*) from entry where terminal = '{terminal}'"));
    until("entries of the other terminal", LIMIT, || {
        fleet.ask("clock 5");
        let all = fleet.ask("standing")["entries"].as_i64().unwrap() / 2;
        (stored("sim-0002") > all / 2 && server.said().contains("it is left out")).then_some(())
    });
    assert_eq!(stored("sim-0001"), 0);
    // Its state is stored, so the pages show it.
    assert_eq!(cluster.sql("select online from terminal where terminal = 'sim-0001'"), "t");
    assert!(!server.said().contains("nothing is stored"), "{}", server.said());
}

/// Connects a client of the fleet, and waits until the broker accepts it.
async fn client(pki: &Pki, broker: &Broker, name: &str, most_unread: usize) -> Connection {
    let (certificate, key) = pki.make(name, false);
    let own = Own { certificate: &certificate, key: &key };
    let tls = tls::client(&pki.ca(), Some(own)).unwrap();
    let (host, name) = ("localhost".to_owned(), name.to_owned());
    let endpoint = Endpoint { host, port: broker.port, tls, name, keep_alive_s: 30, unacknowledged: 10, most_unread };
    let mut connection = Connection::open(&endpoint, None);
    assert!(matches!(connection.heard().await, Ok(Heard::Connected)));
    connection
}

#[tokio::test]
#[ignore = "needs mosquitto: bash .ci/run fleet"]
async fn messages_that_are_not_read_end_the_connection_before_they_fill_the_memory() {
    let pki = Pki::new();
    let broker = Broker::start(&pki, ORG);
    let mut server = client(&pki, &broker, "pos-fleet-consumer", 100_000).await;
    let org: pos_fleet_terms::Id = ORG.parse().unwrap();
    server.subscribe([Topic::of_all(&org, Channel::Metric)]).await.unwrap();
    let terminal = client(&pki, &broker, "sim-0001", 100_000).await;
    let topic = Topic::new(org, "sim-0001".parse().unwrap(), Channel::Metric);
    // A client that reads gets everything, however much it is.
    for _ in 0..20 {
        terminal.publish(&topic, vec![b' '; 40_000]).await.unwrap();
        let Ok(Heard::Message(message)) = server.heard().await else { panic!("no message") };
        server.done(&message).await.unwrap();
    }
    for _ in 0..4 {
        terminal.publish(&topic, vec![b' '; 40_000]).await.unwrap();
    }
    // Nothing is read until the connection has ended, which every use of it then says.
    let ended = async {
        loop {
            match server.subscribe([Topic::of_all(&topic.org, Channel::Metric)]).await {
                Ok(()) => tokio::time::sleep(Duration::from_millis(20)).await,
                Err(lost) => return lost,
            }
        }
    };
    let lost = tokio::time::timeout(LIMIT, ended).await.expect("the connection ends");
    assert!(matches!(lost, Lost::Flood(100_000..150_000)), "{lost}");
    // What fits is still there.
    for _ in 0..2 {
        assert!(matches!(server.heard().await, Ok(Heard::Message(_))));
    }
    assert_eq!(server.heard().await.unwrap_err(), lost);
}

/// Returns a round with these entries of one journal, without content.
fn round(numbers: std::ops::RangeInclusive<i64>) -> Round {
    let entry = |entry| JournalEntry { entry, hash: format!("{entry:064x}"), content: serde_json::Map::new() };
    let numbers: Vec<_> = numbers.collect();
    let batches = numbers.chunks(Batch::MOST).map(|numbers| {
        let (after, entries) = (numbers[0] - 1, numbers.iter().copied().map(entry).collect());
        ("shop-1".parse().unwrap(), Batch { journal: "5f0c".to_owned(), after, entries })
    });
    Round { batches: batches.collect(), ..Round::default() }
}

#[tokio::test]
#[ignore = "needs postgresql: bash .ci/run fleet"]
async fn many_entries_behind_a_gap_move_the_cursor_in_bounded_steps() {
    let cluster = Cluster::start();
    let database = Database { url: cluster.url(), ca: None };
    let mut store = Store::open(connect(&database, "test").await.unwrap()).await.unwrap();
    let at = |number, gap| vec![Position { terminal: "shop-1".to_owned(), journal: "5f0c".to_owned(), number, gap }];
    let mut positions = Vec::new();
    for numbers in [2..=6_000, 6_001..=12_000, 1..=1, 12_000..=12_000] {
        positions.push(store.store(round(numbers)).await.unwrap().positions);
    }
    assert_eq!(positions, [at(0, true), at(0, true), at(10_000, true), at(12_000, false)]);
    // An entry after the cursor that the cursor does not know of is stored once, and another hash for it is noticed.
    cluster.sql("insert into entry values ('shop-1', '5f0c', 12002, 12002, '\\x01')");
    let stored = store.store(round(12_001..=12_003)).await.unwrap();
    assert_eq!((stored.entries, stored.positions), (2, at(12_003, false)));
    assert_eq!(stored.conflicts, [("shop-1".to_owned(), "5f0c".to_owned(), 12_002)]);
}
