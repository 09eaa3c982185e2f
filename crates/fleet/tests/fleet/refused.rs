//! A terminal whose data the database refuses holds up no other.

use std::time::Duration;

use crate::broker::Broker;
use crate::database::Cluster;
use crate::everything::{ORG, Server};
use crate::pki::Pki;
use crate::process::until;
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
    let server = Server::start(&pki, &broker, &cluster);
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
