//! Real agents with their uplinks, a real broker, a real database and the desk. What the bank has charged decides who
//! is right.

use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use pos_fleet::orders::{Answered, give, result};
use pos_fleet::signing::{SigningKey, is_signed_by};
use pos_fleet_terms::{
    Channel, CommandCode, CommandKind, DocumentKind, DocumentSignature, Envelope, FleetCommand, Id, KeyKind, Topic,
    read, write,
};
use serde_json::json;
use tempfile::TempDir;
use tokio_postgres::Client;

use crate::agents::Agent;
use crate::desk::{Place, command, id, wall};
use crate::process::now;
use crate::server::ORG;

const LIMIT: Duration = Duration::from_secs(90);

/// Starts an agent that obeys the keys of the place.
pub(crate) fn steered(place: &Place, name: &str) -> Agent {
    place.enrol(name);
    let mut more = format!("[fleet]\norg = \"{ORG}\"\nterminal = \"{name}\"\n");
    for (key, kind) in
        [("web", KeyKind::Till), ("desk", KeyKind::Desk), ("config-a", KeyKind::Config), ("config-b", KeyKind::Config)]
    {
        let public = hex::encode(place.key(key, kind).public());
        let till = if kind == KeyKind::Till { "till = \"web\"\n" } else { "" };
        more += &format!("[[fleet.key]]\nname = \"{key}\"\nkind = \"{}\"\npublic = \"{public}\"\n{till}", kind.word());
    }
    Agent::start_with(name, &place.pki, place.broker.port, ORG, &more)
}

/// Waits until the database has another nonce of a terminal than this one, and returns it.
pub(crate) async fn nonce(place: &Place, name: &str, before: &str) -> String {
    let select = format!(
        "select coalesce(max(state ->> 'nonce'), '') from terminal
         where terminal = '{name}' and online and state ->> 'nonce' <> '{before}'"
    );
    let end = now() + LIMIT;
    loop {
        let nonce = place.cluster.sql(&select);
        if !nonce.is_empty() {
            return nonce;
        }
        assert!(now() < end, "{name} takes no commands: {}", place.cluster.sql("select * from terminal"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits for the final result of a command.
async fn ended(client: &Client, given: &Id) -> Answered {
    let end = now() + LIMIT;
    loop {
        let answered = result(client, given).await.unwrap();
        if let Some(answered) = answered.clone().filter(|answered| answered.is_final) {
            return answered;
        }
        assert!(now() < end, "{given} has no final result: {answered:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn sale(terminal: &str, reference: &str) -> pos_fleet::orders::NewCommand {
    let body = json!({ "amount": "12.34", "reference": reference });
    let mut sale = command(terminal, CommandKind::Sale, body);
    sale.till = Some("web".to_owned());
    sale
}

/// Who dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Uplink,
    Desk,
    Broker,
    Agent,
}

/// When it dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Right after the command was signed.
    Given,
    /// The reader asks for a card.
    Asks,
    /// The card was tapped, and the bank has not answered.
    Pays,
}

fn kill(place: &mut Place, agent: &mut Agent, victim: Victim) {
    match victim {
        Victim::Uplink => agent.uplink_dies(),
        Victim::Desk => {
            place.desk.kill();
            place.desk.again();
        }
        Victim::Broker => place.broker.lose_everything(),
        Victim::Agent => {
            agent.agent_dies();
            agent.agent_again();
        }
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn whoever_dies_the_result_of_a_sale_is_what_the_bank_has_charged_once() {
    let mut place = Place::start().await;
    let mut agent = steered(&place, "shop-1");
    let till = place.key("web", KeyKind::Till);
    let mut client = place.client().await;
    let mut before = nonce(&place, "shop-1", "-").await;
    let mut charged = 0;
    // The first sale goes undisturbed.
    let mut cases = vec![None];
    for victim in [Victim::Uplink, Victim::Desk, Victim::Broker, Victim::Agent] {
        cases.extend([Step::Given, Step::Asks, Step::Pays].map(|step| Some((victim, step))));
    }
    for (at, case) in cases.into_iter().enumerate() {
        let reference = format!("order-{at}");
        // The state of a terminal that has just come back may be an older one. A till then asks again.
        let given = give(&mut client, &till, sale("shop-1", &reference), wall()).await.unwrap();
        if let Some((victim, Step::Given)) = case {
            kill(&mut place, &mut agent, victim);
        }
        let asks = crate::process::now() + Duration::from_secs(45);
        let mut is_asked = false;
        while now() < asks && !is_asked {
            is_asked = agent.asks_for_a_card();
            let answered = result(&client, &given).await.unwrap();
            if answered.is_some_and(|answered| answered.is_final) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if is_asked {
            if let Some((victim, Step::Asks)) = case {
                kill(&mut place, &mut agent, victim);
            }
            agent.slow_bank(Duration::from_secs(if matches!(case, Some((_, Step::Pays))) { 2 } else { 0 }));
            agent.tap_when_asked(Duration::from_secs(5));
            if let Some((victim, Step::Pays)) = case {
                tokio::time::sleep(Duration::from_millis(700)).await;
                kill(&mut place, &mut agent, victim);
            }
        }
        let answered = ended(&client, &given).await;
        let outcome = answered.body["outcome"].as_str().unwrap_or("none").to_owned();
        let now = agent.charged();
        println!("{case:?}: {:?} {outcome}; the bank has charged {}", answered.code, now - charged);
        let is_charged = answered.code == CommandCode::Done && outcome == "approved";
        assert_eq!(now - charged, usize::from(is_charged), "{case:?}: {answered:?}");
        if !matches!(case, Some((Victim::Agent, _) | (_, Step::Given))) {
            assert!(is_charged, "{case:?}: {answered:?}");
        }
        charged = now;
        // The desk's death is no new connection of the terminal.
        if case.is_some_and(|(victim, _)| victim != Victim::Desk) {
            // The next sale needs the nonce that is in force. A look of the uplink, and it is in the database.
            before = nonce(&place, "shop-1", &before).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
    // The terminal's own ledger says the same.
    let sales = "select count(*) from command where kind = 'sale' and body ->> 'outcome' = 'approved'";
    assert_eq!(place.cluster.number(sales), i64::try_from(charged).unwrap());
    let said = agent.said() + &place.desk.said() + &place.consumer.said();
    assert!(!said.contains("panicked"), "{said}");
}

/// Sends what a thief of the broker sends.
async fn send(place: &Place, terminal: &str, id_of: &Id, envelope: &[u8]) {
    let thief = place.connect("pos-fleet-desk", "thief").await;
    let topic = Topic::of_command(id(ORG), id(terminal), Channel::Command, id_of.clone());
    assert!(thief.deliver(&topic, envelope.to_vec()).await.unwrap().arrived().await);
}

async fn envelope_of(client: &Client, given: &Id) -> Envelope {
    let row = client.query_one("select envelope from command where id = $1", &[&given.as_str()]).await.unwrap();
    Envelope::read(row.get(0)).unwrap()
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn a_broker_with_full_rights_but_no_key_moves_nothing() {
    let place = Place::start().await;
    let mut agent = steered(&place, "shop-1");
    let (till, desk) = (place.key("web", KeyKind::Till), place.key("desk", KeyKind::Desk));
    let mut client = place.client().await;
    let first_nonce = nonce(&place, "shop-1", "-").await;
    let given = give(&mut client, &till, sale("shop-1", "order-1"), wall()).await.unwrap();
    assert!(agent.tap_when_asked(LIMIT));
    assert_eq!(ended(&client, &given).await.body["outcome"], "approved");
    assert_eq!(agent.charged(), 1);
    let good = envelope_of(&client, &given).await;
    let good_command: FleetCommand = read(&good.document).unwrap();

    // Forged: another key, another key under the till's name, and an altered document.
    let forger = SigningKey::generate(&place.key_file("forger"), KeyKind::Till, "forger").unwrap();
    let changed = FleetCommand {
        id: id("forged-1"),
        counter: good_command.counter + 1,
        body: json!({ "amount": "99.99", "reference": "order-2" }),
        ..good_command.clone()
    };
    let document = write(&changed).unwrap();
    let forged = forger.sign(DocumentKind::Command, document.clone());
    let mut named = forged.clone();
    named.signatures[0].key = till.id();
    let altered = Envelope { document: document.clone(), ..good.clone() };
    let twice = Envelope {
        signatures: vec![good.signatures[0].clone(), DocumentSignature { key: till.id(), bytes: vec![0; 64] }],
        ..altered.clone()
    };
    for envelope in [&forged, &named, &altered, &twice] {
        assert!(!is_signed_by(envelope, till.public()));
        send(&place, "shop-1", &id("forged-1"), &envelope.write()).await;
    }
    for noise in [&b"{}"[..], b"\xff", &vec![b'x'; 40_000]] {
        send(&place, "shop-1", &id("forged-1"), noise).await;
    }
    // Repeated: the stored answer comes, and nothing happens.
    for _ in 0..3 {
        send(&place, "shop-1", &given, &good.write()).await;
        send(&place, "shop-1", &id("other-topic"), &good.write()).await;
    }
    // A till key signs no command of a technician, and a desk key no sale: the terminal decides, not the server.
    let crossed = FleetCommand { id: id("crossed-1"), body: changed.body.clone(), ..changed.clone() };
    send(&place, "shop-1", &crossed.id, &desk.sign(DocumentKind::Command, write(&crossed).unwrap()).write()).await;
    // Signed for another terminal.
    let elsewhere = FleetCommand { id: id("else-1"), terminal: id("shop-2"), ..changed.clone() };
    send(&place, "shop-1", &elsewhere.id, &till.sign(DocumentKind::Command, write(&elsewhere).unwrap()).write()).await;
    let flood = command("shop-1", CommandKind::Message, json!({ "text": "still there" }));
    let after = give(&mut client, &desk, flood, wall()).await.unwrap();
    assert_eq!(ended(&client, &after).await.code, CommandCode::Done);
    assert_eq!(agent.charged(), 1);
    assert!(!agent.tap_when_asked(Duration::from_secs(2)), "the reader asks for a card");
    place.until("select state ->> 'notSigned' from terminal where terminal = 'shop-1'", "4").await;

    // The disk of the terminal comes from before the second sale. Its counters are then old, but its nonce is new.
    let image = TempDir::new().unwrap();
    agent.agent_dies();
    agent.image(image.path());
    agent.agent_again();
    let second_nonce = nonce(&place, "shop-1", &first_nonce).await;
    let given = give(&mut client, &till, sale("shop-1", "order-2"), wall()).await.unwrap();
    assert!(agent.tap_when_asked(LIMIT));
    assert_eq!(ended(&client, &given).await.body["outcome"], "approved");
    agent.agent_dies();
    agent.restore(image.path());
    agent.agent_again();
    nonce(&place, "shop-1", &second_nonce).await;
    send(&place, "shop-1", &given, &envelope_of(&client, &given).await.write()).await;
    let after = command("shop-1", CommandKind::Message, json!({ "text": "still there" }));
    let after = give(&mut client, &desk, after, wall()).await.unwrap();
    assert_eq!(ended(&client, &after).await.code, CommandCode::Done);
    assert!(!agent.tap_when_asked(Duration::from_secs(2)), "the reader asks for a card");
    assert_eq!(agent.charged(), 2);
    // The stored result stays.
    assert_eq!(ended(&client, &given).await.body["outcome"], "approved");
}

pub(crate) fn program(place: &Place, words: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_pos-fleet"));
    program.args(words).arg("--config").arg(place.desk.config()).env_remove("RUST_LOG");
    program.output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn a_technician_sends_a_message_restarts_and_gets_an_archive() {
    let place = Place::start().await;
    let mut agent = steered(&place, "shop-1");
    place.key("desk", KeyKind::Desk);
    let first = nonce(&place, "shop-1", "-").await;
    let key = place.key_file("desk").display().to_string();
    let run =
        |words: &[&str]| program(&place, &[&["command", "shop-1", "--key", &key, "--by", "anna"], words].concat());
    let sent = run(&["--wait", "message", "Call us: 0123"]);
    assert!(sent.status.success() && said(&sent).contains("shop-1: done"), "{}", said(&sent));
    let status = agent.get("/v1/status").unwrap().to_string();
    assert!(status.contains("Call us: 0123") && status.contains("anna"), "{status}");
    let sent = run(&["--wait", "log-level", "debug", "--for", "10m"]);
    assert!(sent.status.success(), "{}", said(&sent));
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("shop.tar");
    let sent = run(&["archive", "--out", file.to_str().unwrap()]);
    assert!(sent.status.success(), "{} {}", said(&sent), agent.said());
    let list = Command::new("tar").arg("-tf").arg(&file).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.lines().count() > 5, "{list}");
    let sent = run(&["--wait", "restart"]);
    assert!(sent.status.success() && said(&sent).contains("shop-1: done"), "{} {}", said(&sent), agent.said());
    let second = nonce(&place, "shop-1", &first).await;
    // Wrong: a till key, no key, an unknown terminal.
    place.key("web", KeyKind::Till);
    let till = place.key_file("web").display().to_string();
    let wrong = program(&place, &["command", "shop-1", "--key", &till, "restart"]);
    assert_eq!((wrong.status.code(), said(&wrong).contains("a till key does not sign")), (Some(64), true));
    let wrong = program(&place, &["command", "shop-1", "restart"]);
    assert_eq!((wrong.status.code(), said(&wrong).contains("--key FILE")), (Some(64), true));
    let wrong = program(&place, &["command", "shop-9", "--key", &key, "restart"]);
    assert_eq!((wrong.status.code(), said(&wrong).contains("no terminal shop-9")), (Some(64), true));
    // A command that comes too late is refused, and says so.
    agent.uplink_ends();
    let late = run(&["--lasts", "1s", "--wait", "message", "too late"]);
    assert_eq!(late.status.code(), Some(75), "{}", said(&late));
    agent.uplink_again();
    nonce(&place, "shop-1", &second).await;
    place.until("select code from command where envelope is not null order by created desc limit 1", "expired").await;
    let status = agent.get("/v1/status").unwrap().to_string();
    assert!(!status.contains("too late"), "{status}");
    // Each act has its author, here and at the terminal.
    assert_eq!(place.cluster.sql("select distinct author from command"), "anna");
    assert!(agent.journal_text().contains("anna"));
    assert!(fs::metadata(&file).unwrap().len() > 1000);
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn two_config_keys_revoke_a_stolen_key_at_every_terminal() {
    let place = Place::start().await;
    let names = ["shop-1", "shop-2"];
    let agents = names.map(|name| steered(&place, name));
    let desk = place.key("desk", KeyKind::Desk);
    let mut client = place.client().await;
    let message = |name: &str| command(name, CommandKind::Message, json!({ "text": "from a thief" }));
    for name in names {
        nonce(&place, name, "-").await;
        let given = give(&mut client, &desk, message(name), wall()).await.unwrap();
        assert_eq!(ended(&client, &given).await.code, CommandCode::Done);
    }
    // The keys without the stolen one, as a person writes them.
    let mut text = String::new();
    for (name, kind) in [("web", KeyKind::Till), ("config-a", KeyKind::Config), ("config-b", KeyKind::Config)] {
        let public = hex::encode(place.key(name, kind).public());
        let till = if kind == KeyKind::Till { "till = \"web\"\n" } else { "" };
        let kind = kind.word();
        text += &format!("[[fleet.key]]\nname = \"{name}\"\nkind = \"{kind}\"\npublic = \"{public}\"\n{till}");
    }
    let file = place.key_file("keys.toml");
    fs::write(&file, text).unwrap();
    let [a, b] = ["config-a", "config-b"].map(|name| place.key_file(name).display().to_string());
    let keys = ["keys", "--all", "--by", "anna", "--keys", file.to_str().unwrap()];
    let alone = program(&place, &[&keys[..], &["--sign", &a]].concat());
    assert_eq!((alone.status.code(), said(&alone).contains("2 different config keys")), (Some(64), true));
    let signed = program(&place, &[&keys[..], &["--sign", &a, "--sign", &b]].concat());
    assert!(signed.status.success(), "{}", said(&signed));
    place.until("select count(*) from reported where report ->> 'keysVersion' = '1'", "2").await;
    // What the thief still signs moves nothing, and gets no answer.
    let mut given = Vec::new();
    for name in names {
        given.push(give(&mut client, &desk, message(name), wall()).await.unwrap());
        let counted = format!("select (state ->> 'notSigned')::int > 0 from terminal where terminal = '{name}'");
        place.until(&counted, "t").await;
    }
    for given in given {
        assert_eq!(result(&client, &given).await.unwrap(), None);
    }
    // Settings, with a version that the terminal reports.
    let settings = place.key_file("settings.toml");
    fs::write(&settings, "[terminal]\nfooter = [\"Thank you\"]\n").unwrap();
    let set = ["settings", "shop-1", "--by", "anna", "--set", settings.to_str().unwrap(), "--sign", &a];
    let signed = program(&place, &set);
    assert!(signed.status.success(), "{}", said(&signed));
    place.until("select report ->> 'version' from reported where terminal = 'shop-1'", "1").await;
    let states = "select report ->> 'state' in ('trial', 'kept') from reported where terminal = 'shop-1'";
    place.until(states, "t").await;
    fs::write(&settings, "[gateway]\nurl = \"https://thief.example\"\n").unwrap();
    let refused = program(&place, &set);
    assert_eq!((refused.status.code(), said(&refused).contains("gateway.url is not among")), (Some(64), true));
    for agent in agents {
        assert!(!agent.said().contains("panicked"), "{}", agent.said());
    }
}
