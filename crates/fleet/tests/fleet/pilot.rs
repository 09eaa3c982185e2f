//! Roll-outs whose pilot is a real terminal: what its reader cannot bear, it gives back by itself, and no other
//! terminal gets it.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::agents::Agent;
use crate::desk::Place;
use crate::process::{now, until};
use crate::steered::{nonce, program, said, steered};

const LIMIT: Duration = Duration::from_secs(60);
/// The time in which a terminal gives settings back, and a little more.
const TRIAL: Duration = Duration::from_secs(700);
/// The starts of a trial that may fail.
const STARTS: u32 = 3;

/// Starts a roll-out with `shop-1` as its pilot.
fn start(place: &Place, settings: &str) {
    let file = place.key_file("settings.toml");
    fs::write(&file, settings).unwrap();
    let key = place.key_file("config-a");
    let words = ["rollout", "start", "--pilot", "shop-1", "--soak", "1s", "--without-close", "--by", "anna"];
    let files = ["--settings", file.to_str().unwrap(), "--key", key.to_str().unwrap()];
    let started = program(place, &[&words[..], &files].concat());
    assert!(started.status.success() && said(&started).contains("2 documents are signed"), "{}", said(&started));
}

/// Waits until a terminal's own report has this state, and returns it.
fn report(agent: &Agent, state: &str, limit: Duration) -> Value {
    until(&format!("state {state} of {}", agent.name), limit, || {
        agent.get("/v1/fleet/settings").filter(|report| report["state"] == state)
    })
}

fn reader(agent: &Agent) -> Option<String> {
    agent.get("/v1/status").map(|status| status["reader"]["state"].as_str().unwrap_or_default().to_owned())
}

/// Waits until the desk has stopped a roll-out at its pilot, for this reason.
async fn stops_at_the_pilot(place: &Place, id: u32, reason: &str) {
    place.until(&format!("select state from rollout where id = {id}"), "stopped").await;
    let shown = said(&program(place, &["rollout", "show", &id.to_string()]));
    assert!(shown.contains("failed: shop-1") && shown.contains(reason), "{shown}");
    let released =
        format!("select string_agg(terminal, ',') from rollout_document where rollout = {id} and released is not null");
    assert_eq!(place.cluster.sql(&released), "shop-1");
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn a_real_pilot_without_a_network_gives_back_what_its_reader_cannot_bear() {
    let mut place = Place::start().await;
    let (mut pilot, mut other) = (steered(&place, "shop-1"), steered(&place, "shop-2"));
    for name in ["shop-1", "shop-2"] {
        nonce(&place, name, "-").await;
    }
    pilot.sell();
    let own = report(&pilot, "local", LIMIT);
    assert_eq!((&own["version"], &own["tried"]), (&0.into(), &0.into()), "{own}");

    // The reader does not understand this line speed. The network is gone as soon as the terminal tries it.
    start(&place, "[reader]\nbaud = 9600\n");
    let trial = report(&pilot, "trial", LIMIT);
    place.broker.cut();
    assert_eq!((&trial["version"], &trial["tried"]), (&1.into(), &1.into()), "{trial}");
    until("reader that is not understood", LIMIT, || reader(&pilot).filter(|state| state == "other-device"));
    let begun = now();
    // The shop switches the terminal off and on, so the ten minutes need not pass.
    let code = match std::env::var_os("POS_FLEET_TEN_MINUTES") {
        Some(_) => "no-reader",
        None => {
            for _ in 0..STARTS {
                assert_eq!(report(&pilot, "trial", LIMIT)["version"], 1);
                pilot.agent_dies();
                pilot.agent_starts();
            }
            "failed-starts"
        }
    };
    let back = report(&pilot, "returned", TRIAL);
    println!("the pilot has gone back after {:.0?}: {}", begun.elapsed(), back["reason"]);
    assert_eq!((&back["version"], &back["tried"], &back["reason"]["code"]), (&0.into(), &1.into(), &code.into()));
    until("reader", LIMIT, || reader(&pilot).filter(|state| state == "ready"));
    pilot.sell();
    let attention = pilot.get("/v1/status").unwrap()["attention"].to_string();
    assert!(attention.contains("fleet-settings-returned"), "{attention}");
    // The server hears it later, and no other terminal gets these settings.
    assert_eq!(place.cluster.sql("select state from rollout where id = 1"), "running");
    place.broker.again();
    stops_at_the_pilot(&place, 1, back["reason"]["text"].as_str().unwrap()).await;
    let others = report(&other, "local", LIMIT);
    assert_eq!((&others["version"], &others["tried"]), (&0.into(), &0.into()), "{others}");
    other.sell();

    // A value that the terminal's own check refuses stops there too, and disturbs no sale.
    start(&place, "[reader]\nbaud = 7\n");
    let refused = report(&pilot, "refused", LIMIT);
    assert_eq!(
        (&refused["version"], &refused["tried"], &refused["reason"]["code"]),
        (&0.into(), &2.into(), &"wrong-value".into())
    );
    stops_at_the_pilot(&place, 2, "7 is not between").await;
    assert_eq!(report(&other, "local", LIMIT)["tried"], 0);
    pilot.sell();

    // Good settings reach both.
    start(&place, "[terminal]\nfooter = [\"Thank you\"]\n");
    place.until("select state from rollout where id = 3", "done").await;
    for agent in [&mut pilot, &mut other] {
        assert_eq!(report(agent, "kept", LIMIT)["version"], agent.get("/v1/fleet/settings").unwrap()["tried"]);
        until("reader", LIMIT, || reader(agent).filter(|state| state == "ready"));
        agent.sell();
    }
    let acts = place.cluster.sql("select string_agg(act, ' ' order by at) from rollout_act where rollout = 3");
    println!("{acts}");
    for agent in [pilot, other] {
        assert!(!agent.said().contains("panicked"), "{}", agent.said());
    }
}
