//! The desk: what it offers, to whom, and which results it believes. The terminals here are plain clients of the
//! broker, so they can also say what no terminal says.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pos_broker::tls::{self, Own};
use pos_broker::{Connection, Endpoint, Heard, Message};
use pos_fleet::database::{Database, connect};
use pos_fleet::desk::archive;
use pos_fleet::documents::{NewKeys, NewSettings, give_keys, give_settings};
use pos_fleet::orders::{NewCommand, NotNow, OrderError, give, result};
use pos_fleet::signing::{SigningKey, is_signed_by};
use pos_fleet::store::Store;
use pos_fleet_terms::{
    ARCHIVE_PART, ArchivePart, Channel, CommandCode, CommandKind, CommandResult, DocumentKind, Envelope, FleetCommand,
    Id, KeyKind, Reported, SettingsDocument, State, Topic, read, write,
};
use pos_uplink::signer::ResultSigner;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::broker::Broker;
use crate::database::Cluster;
use crate::pki::Pki;
use crate::server::{DeskProgram, ORG, Server};

const LIMIT: Duration = Duration::from_secs(60);
/// The time in which something would have arrived. A message of the same connection that arrives later ends it earlier.
const SILENCE: Duration = Duration::from_secs(2);

pub(crate) fn id(text: &str) -> Id {
    text.parse().unwrap()
}

#[allow(clippy::disallowed_methods, reason = "the programs under test use the system's clock too")]
pub(crate) fn wall() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

/// A fleet's server: database, broker, consumer and desk.
pub(crate) struct Place {
    pub(crate) pki: Pki,
    pub(crate) cluster: Cluster,
    pub(crate) broker: Broker,
    pub(crate) consumer: Server,
    pub(crate) desk: DeskProgram,
    keys: TempDir,
}

impl Place {
    pub(crate) async fn start() -> Self {
        let pki = Pki::new();
        let (cluster, broker) = (Cluster::start(), Broker::start(&pki, ORG));
        let consumer = Server::start(&pki, &broker, &cluster.url());
        let desk = DeskProgram::start(&pki);
        let place = Self { pki, cluster, broker, consumer, desk, keys: TempDir::new().unwrap() };
        // It has the shape of the database from here on.
        Store::open(place.client().await).await.unwrap();
        place
    }

    pub(crate) async fn client(&self) -> Client {
        connect(&Database { url: self.cluster.url(), ca: None }, "test").await.unwrap()
    }

    /// Makes a key that signs, or returns the one with this name.
    pub(crate) fn key(&self, name: &str, kind: KeyKind) -> SigningKey {
        let file = self.keys.path().join(name);
        SigningKey::load(&file).or_else(|_| SigningKey::generate(&file, kind, name)).unwrap()
    }

    /// The file of a key.
    pub(crate) fn key_file(&self, name: &str) -> std::path::PathBuf {
        self.keys.path().join(name)
    }

    /// Makes a terminal's certificate as the port for certificates does, with its row in the database.
    pub(crate) fn enrol(&self, name: &str) -> ResultSigner {
        let (certificate, key) = self.pki.make(name, false);
        let pem = std::fs::read_to_string(certificate).unwrap();
        self.cluster.sql(&format!(
            "insert into certificate (serial, terminal, key, pem, not_after, issued)
             values (md5(random()::text), '{name}', '\\x00', '{pem}', now() + interval '1 day', now())"
        ));
        ResultSigner::read(&std::fs::read_to_string(key).unwrap()).unwrap()
    }

    /// Connects with the certificate of this name, under this name.
    pub(crate) async fn connect(&self, certificate: &str, name: &str) -> Connection {
        let (certificate, key) = self.pki.files(certificate);
        let tls = tls::client(&self.pki.ca(), Some(Own { certificate: &certificate, key: &key })).unwrap();
        let endpoint = Endpoint {
            host: "localhost".to_owned(),
            port: self.broker.port,
            tls,
            name: name.to_owned(),
            keep_alive_s: 30,
            unacknowledged: 100,
            most_unread: 16 * 1024 * 1024,
        };
        let mut connection = Connection::open(&endpoint, None);
        assert!(matches!(timeout(LIMIT, connection.heard()).await, Ok(Ok(Heard::Connected))));
        connection
    }

    /// Connects a terminal that takes commands, and waits until the database knows this.
    pub(crate) async fn terminal(&self, name: &str, nonce: &str) -> Terminal {
        let signer = self.enrol(name);
        let mut terminal = Terminal { id: id(name), connection: self.connect(name, name).await, signer, at: 0 };
        terminal.begin(nonce).await;
        self.knows(name, nonce).await;
        terminal
    }

    /// Waits until the database has a nonce of a terminal.
    pub(crate) async fn knows(&self, name: &str, nonce: &str) {
        let select =
            format!("select count(*) from terminal where terminal = '{name}' and state ->> 'nonce' = '{nonce}'");
        self.until(&select, "1").await;
    }

    /// Waits until a statement has this answer. The connections go on meanwhile.
    pub(crate) async fn until(&self, statement: &str, answer: &str) {
        let ended = timeout(LIMIT, async {
            while self.cluster.sql(statement) != answer {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        let ended = ended.await;
        assert!(ended.is_ok(), "{statement}: {} instead of {answer}", self.cluster.sql(statement));
    }
}

pub(crate) fn command(terminal: &str, kind: CommandKind, body: Value) -> NewCommand {
    let (org, terminal, author) = (id(ORG), id(terminal), "anna".to_owned());
    NewCommand { org, terminal, kind, body, author, lasts_s: kind.longest_s().min(600), till: None }
}

/// A terminal, as the broker sees it.
pub(crate) struct Terminal {
    id: Id,
    connection: Connection,
    signer: ResultSigner,
    at: u64,
}

impl Terminal {
    fn topic(&self, channel: Channel) -> Topic {
        Topic::new(id(ORG), self.id.clone(), channel)
    }

    /// Subscribes, and says that a connection begins.
    async fn begin(&mut self, nonce: &str) {
        let down = [Channel::Command, Channel::Settings, Channel::Keys];
        let topics = down.map(|channel| Topic::of_one(&id(ORG), &self.id, channel));
        self.connection.subscribe(topics).await.unwrap();
        self.at += 1;
        let state = State {
            online: true,
            boot: "b1".to_owned(),
            connections: self.at,
            nonce: Some(nonce.to_owned()),
            ..State::default()
        };
        self.connection.publish(&self.topic(Channel::State), write(&state).unwrap()).await.unwrap();
    }

    /// Returns the next message.
    async fn message(&mut self) -> Option<Message> {
        loop {
            match timeout(SILENCE, self.connection.heard()).await {
                Err(_) => return None,
                Ok(Ok(Heard::Message(message))) => {
                    self.connection.done(&message).await.unwrap();
                    return Some(message);
                }
                Ok(Ok(_)) => {}
                Ok(Err(lost)) => panic!("{lost}"),
            }
        }
    }

    /// Waits for the next command.
    async fn command(&mut self) -> (FleetCommand, Vec<u8>) {
        let end = tokio::time::Instant::now() + LIMIT;
        while tokio::time::Instant::now() < end {
            let Some(message) = self.message().await else { continue };
            let topic: Topic = message.topic().parse().unwrap();
            if topic.channel == Channel::Command {
                let envelope = Envelope::read(message.payload()).unwrap();
                let command: FleetCommand = read(&envelope.document).unwrap();
                assert_eq!(Some(&command.id), topic.id.as_ref());
                return (command, message.payload().to_vec());
            }
        }
        panic!("no command arrives");
    }

    fn result(command: &[u8], code: CommandCode, body: Value) -> CommandResult {
        let envelope = Envelope::read(command).unwrap();
        let read: FleetCommand = read(&envelope.document).unwrap();
        CommandResult {
            id: read.id,
            command: hex::encode(digest(&SHA256, &envelope.document)),
            code,
            text: None,
            body,
            part: None,
            at: String::new(),
        }
    }

    /// Says what became of a command.
    async fn answer(&self, result: &CommandResult) {
        self.answer_as(result, &self.signer, DocumentKind::Result, result.id.clone()).await;
    }

    async fn answer_as(&self, result: &CommandResult, signer: &ResultSigner, kind: DocumentKind, of: Id) {
        let envelope = signer.sign(kind, write(result).unwrap()).unwrap();
        let topic = Topic::of_command(id(ORG), self.id.clone(), Channel::CommandResult, of);
        self.connection.publish(&topic, envelope.write()).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn a_command_is_offered_with_the_same_bytes_until_its_result_is_final() {
    let mut place = Place::start().await;
    let desk = place.key("desk", KeyKind::Desk);
    let mut client = place.client().await;
    let unknown = give(&mut client, &desk, command("shop-1", CommandKind::Restart, json!({})), wall()).await;
    assert!(matches!(unknown, Err(OrderError::NoTerminal(_))), "{unknown:?}");
    let mut terminal = place.terminal("shop-1", "n1").await;
    let first = give(&mut client, &desk, command("shop-1", CommandKind::Restart, json!({})), wall()).await.unwrap();
    let text = json!({ "text": "Call us" });
    let second = give(&mut client, &desk, command("shop-1", CommandKind::Message, text), wall()).await.unwrap();
    let (one, bytes) = terminal.command().await;
    let (two, _) = terminal.command().await;
    assert_eq!((&one.id, &two.id), (&first, &second));
    assert_eq!((one.counter, two.counter, one.author.as_str(), one.nonce.as_deref()), (1, 2, "anna", Some("n1")));
    assert!(is_signed_by(&Envelope::read(&bytes).unwrap(), desk.public()));
    // The terminal is busy, and says so. After a new connection, both come again.
    terminal.answer(&Terminal::result(&bytes, CommandCode::Running, Value::Null)).await;
    place.until(&format!("select code, is_final from command where id = '{first}'"), "running|f").await;
    terminal.begin("n2").await;
    assert_eq!(terminal.command().await.1, bytes);
    assert_eq!(terminal.command().await.0.id, second);
    // The desk dies, and the broker loses everything.
    place.desk.kill();
    place.broker.lose_everything();
    place.desk.again();
    terminal.connection = place.connect("shop-1", "shop-1").await;
    terminal.begin("n3").await;
    assert_eq!(terminal.command().await.1, bytes);
    terminal.answer(&Terminal::result(&bytes, CommandCode::Done, json!({ "x": "\u{0}" }))).await;
    place.until(&format!("select code, is_final from command where id = '{first}'"), "done|t").await;
    // A final result never changes, and its command never comes again.
    terminal.answer(&Terminal::result(&bytes, CommandCode::Failed, Value::Null)).await;
    terminal.answer(&Terminal::result(&bytes, CommandCode::Running, Value::Null)).await;
    terminal.begin("n4").await;
    while let Some(message) = terminal.message().await {
        assert!(message.topic().ends_with(second.as_str()), "{}", message.topic());
    }
    assert_eq!(result(&client, &first).await.unwrap().unwrap().code, CommandCode::Done);
    assert!(!place.desk.said().contains("panicked"), "{}", place.desk.said());
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn only_the_terminals_own_signature_makes_a_result() {
    let place = Place::start().await;
    let desk = place.key("desk", KeyKind::Desk);
    let mut client = place.client().await;
    let mut terminal = place.terminal("shop-1", "n1").await;
    let (other, stranger) = (place.enrol("shop-2"), place.enrol("shop-1"));
    place.cluster.sql("update certificate set revoked = now() where terminal = 'shop-1'");
    place.cluster.sql("update certificate set revoked = null where serial = (select serial from certificate where terminal = 'shop-1' order by issued limit 1)");
    let given = give(&mut client, &desk, command("shop-1", CommandKind::Restart, json!({})), wall()).await.unwrap();
    let (_, bytes) = terminal.command().await;
    let done = Terminal::result(&bytes, CommandCode::Done, Value::Null);
    terminal.answer_as(&done, &other, DocumentKind::Result, given.clone()).await;
    // The certificate of an earlier life is revoked.
    terminal.answer_as(&done, &stranger, DocumentKind::Result, given.clone()).await;
    terminal.answer_as(&done, &terminal.signer, DocumentKind::Report, given.clone()).await;
    terminal.answer_as(&done, &terminal.signer, DocumentKind::Result, id("another")).await;
    terminal.answer(&CommandResult { command: "00".repeat(32), ..done.clone() }).await;
    let topic = Topic::of_command(id(ORG), id("shop-1"), Channel::CommandResult, given.clone());
    terminal.connection.publish(&topic, write(&done).unwrap()).await.unwrap();
    let statement = format!("select coalesce(code, 'none') from command where id = '{given}'");
    place.until_said("dropped=6").await;
    assert_eq!(place.cluster.sql(&statement), "none");
    terminal.answer(&done).await;
    place.until(&statement, "done").await;
    // The same for what a terminal reports.
    let reported = Reported { version: 7, ..Reported::default() };
    for (signer, kind) in [(&other, DocumentKind::Report), (&terminal.signer, DocumentKind::Result)] {
        let envelope = signer.sign(kind, write(&reported).unwrap()).unwrap();
        terminal.connection.publish(&terminal.topic(Channel::Reported), envelope.write()).await.unwrap();
    }
    place.until_said("dropped=8").await;
    assert_eq!(place.cluster.sql("select count(*) from reported"), "0");
    let envelope = terminal.signer.sign(DocumentKind::Report, write(&reported).unwrap()).unwrap();
    terminal.connection.publish(&terminal.topic(Channel::Reported), envelope.write()).await.unwrap();
    place.until("select report ->> 'version' from reported where terminal = 'shop-1'", "7").await;
}

impl Place {
    /// Waits until the desk's log has a word.
    async fn until_said(&self, word: &str) {
        let ended = timeout(LIMIT, async {
            while !self.desk.said().contains(word) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        assert!(ended.await.is_ok(), "no {word}: {}", self.desk.said());
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn an_archive_is_whole_or_comes_again() {
    let place = Place::start().await;
    let desk = place.key("desk", KeyKind::Desk);
    let mut client = place.client().await;
    let mut terminal = place.terminal("shop-1", "n1").await;
    let given = give(&mut client, &desk, command("shop-1", CommandKind::Archive, json!({})), wall()).await.unwrap();
    let (_, bytes) = terminal.command().await;
    let content: Vec<u8> = (0..ARCHIVE_PART * 2 + 100).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let body = json!({ "size": content.len(), "sha256": hex::encode(digest(&SHA256, &content)) });
    let done = Terminal::result(&bytes, CommandCode::Done, body);
    let parts: Vec<_> = content.chunks(ARCHIVE_PART).collect();
    let part = |number: usize, bytes: &[u8]| {
        let counted = |count: usize| u32::try_from(count).unwrap();
        let part = ArchivePart { number: counted(number), of: counted(parts.len()), bytes: STANDARD.encode(bytes) };
        CommandResult { body: Value::Null, part: Some(part), ..done.clone() }
    };
    terminal.answer(&done).await;
    // A part is lost, and another one is not what the terminal said.
    terminal.answer(&part(2, parts[2])).await;
    terminal.answer(&part(0, &parts[0].iter().rev().copied().collect::<Vec<_>>())).await;
    place.until("select count(*) from archive_part", "2").await;
    assert!(!result(&client, &given).await.unwrap().unwrap().is_final);
    terminal.answer(&part(1, parts[1])).await;
    place.until("select count(*) from archive_part", "0").await;
    assert_eq!(archive(&client, &given).await.unwrap(), None);
    for (number, bytes) in parts.iter().enumerate() {
        // The order does not matter, and a repetition does no harm.
        let number = parts.len() - 1 - number;
        let _ = bytes;
        terminal.answer(&part(number, parts[number])).await;
        terminal.answer(&part(number, parts[number])).await;
    }
    place.until(&format!("select is_final from command where id = '{given}'"), "t").await;
    assert_eq!(archive(&client, &given).await.unwrap(), Some(content));
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn settings_and_keys_are_there_for_each_terminal_also_after_the_broker_lost_everything() {
    let mut place = Place::start().await;
    let [a, b] = ["config a", "config b"].map(|name| place.key(name, KeyKind::Config));
    let mut client = place.client().await;
    place.cluster.sql("insert into terminal (terminal) values ('shop-1'), ('shop-2')");
    for (terminal, footer) in [("shop-1", "old"), ("shop-1", "new"), ("shop-2", "two")] {
        let settings = [("terminal.footer".to_owned(), json!([footer]))].into();
        let (org, author) = (id(ORG), "anna".to_owned());
        let new = NewSettings { org, terminal: id(terminal), settings, over_local: vec![], author };
        give_settings(&mut client, &a, new).await.unwrap();
    }
    let keys = vec![a.for_terminals(None), b.for_terminals(None)];
    let new = NewKeys { org: id(ORG), terminal: id("shop-1"), keys, author: "anna".to_owned() };
    let signers = [place.key("config a", KeyKind::Config), place.key("config b", KeyKind::Config)];
    assert_eq!(give_keys(&mut client, &signers, new).await.unwrap(), 1);
    for is_lost in [false, true] {
        if is_lost {
            place.broker.lose_everything();
        }
        let mut terminal = place.terminal("shop-1", "n1").await;
        let (mut settings, mut keys) = (None, None);
        while settings.is_none() || keys.is_none() {
            let Some(message) = terminal.message().await else { continue };
            let envelope = Envelope::read(message.payload()).unwrap();
            match message.topic().parse::<Topic>().unwrap().channel {
                Channel::Settings => settings = Some(read::<SettingsDocument>(&envelope.document).unwrap()),
                Channel::Keys => keys = Some(envelope),
                other => panic!("{other:?}"),
            }
        }
        let settings = settings.unwrap();
        assert_eq!((settings.version, &settings.settings["terminal.footer"]), (2, &json!(["new"])));
        let keys = keys.unwrap();
        assert!(is_signed_by(&keys, a.public()) && is_signed_by(&keys, b.public()));
    }
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn counters_rise_above_what_database_and_terminal_know_and_money_needs_a_terminal_that_is_there() {
    let cluster = Cluster::start();
    let database = Database { url: cluster.url(), ca: None };
    let mut client = connect(&database, "test").await.unwrap();
    Store::open(connect(&database, "test").await.unwrap()).await.unwrap();
    let keys = TempDir::new().unwrap();
    let make = |name: &str, kind| SigningKey::generate(&keys.path().join(name), kind, name).unwrap();
    let (till, desk) = (make("web", KeyKind::Till), make("desk", KeyKind::Desk));
    let sale = || command("shop-1", CommandKind::Sale, json!({ "amount": "12.34", "reference": "order-1" }));
    let state = |online: bool, state: Value| {
        cluster.sql(&format!(
            "insert into terminal (terminal, online, state) values ('shop-1', {online}, '{state}')
             on conflict (terminal) do update set online = excluded.online, state = excluded.state"
        ));
    };
    state(true, json!({}));
    let refused = give(&mut client, &till, sale(), wall()).await;
    assert!(matches!(refused, Err(OrderError::NotNow(_, NotNow::NoCommands))), "{refused:?}");
    state(false, json!({ "nonce": "n1" }));
    let refused = give(&mut client, &till, sale(), wall()).await;
    assert!(matches!(refused, Err(OrderError::NotNow(_, NotNow::Offline))), "{refused:?}");
    state(true, json!({ "nonce": "n1", "counters": { till.id(): 41 } }));
    for (key, lasts_s) in [(&desk, 30), (&till, 61), (&till, 0)] {
        let refused = give(&mut client, key, NewCommand { lasts_s, ..sale() }, wall()).await;
        assert!(matches!(refused, Err(OrderError::Key { .. } | OrderError::Lasts(_))), "{refused:?}");
    }
    let long = NewCommand { body: json!({ "reference": "x".repeat(20_000) }), ..sale() };
    assert!(matches!(give(&mut client, &till, long, wall()).await, Err(OrderError::TooLong(_))));
    assert_eq!(cluster.sql("select count(*) from command"), "0");
    // Several at once: each has its own counter.
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(connect(&database, "test").await.unwrap());
    }
    let all = clients.iter_mut().map(|client| give(client, &till, sale(), wall()));
    let [one, two, three, four] = <[_; 4]>::try_from(all.collect::<Vec<_>>()).ok().unwrap();
    let (one, two, three, four) = tokio::join!(one, two, three, four);
    for given in [one, two, three, four] {
        given.unwrap();
    }
    let counters = "select string_agg(counter::text, ' ' order by created) from command";
    assert_eq!(cluster.sql(counters), "42 43 44 45");
    // The terminal's disk is older than the database now.
    state(true, json!({ "nonce": "n2", "counters": { till.id(): 3 } }));
    give(&mut client, &till, sale(), wall()).await.unwrap();
    assert_eq!(cluster.sql(counters), "42 43 44 45 46");
    // A terminal may say any number.
    state(true, json!({ "nonce": "n2", "counters": { desk.id(): u64::MAX } }));
    give(&mut client, &desk, command("shop-1", CommandKind::Restart, json!({})), wall()).await.unwrap();
    assert_eq!(cluster.sql("select reference, till is null from command where counter = 46"), "order-1|t");
}

#[tokio::test]
#[ignore = "needs mosquitto and postgresql: bash .ci/run fleet"]
async fn the_access_list_lets_nobody_but_the_desk_write_commands() {
    let place = Place::start().await;
    let mut terminal = place.terminal("shop-1", "n1").await;
    place.enrol("shop-2");
    let cmd = |terminal: &str| Topic::of_command(id(ORG), id(terminal), Channel::Command, id("c1"));
    let down = |terminal: &str| {
        [cmd(terminal)]
            .into_iter()
            .chain([Channel::Settings, Channel::Keys].map(|channel| Topic::new(id(ORG), id(terminal), channel)))
    };
    for (certificate, own) in [("pos-fleet-consumer", "shop-1"), ("shop-2", "shop-1"), ("shop-2", "shop-2")] {
        let mut thief = place.connect(certificate, "thief").await;
        for topic in down(own) {
            thief.publish(&topic, b"{}".to_vec()).await.unwrap();
            let said = timeout(LIMIT, thief.heard()).await.unwrap().unwrap();
            assert!(matches!(&said, Heard::Refused(why) if why == "NotAuthorized"), "{certificate}: {topic}: {said:?}");
        }
    }
    let mut listener = place.connect("shop-2", "listener").await;
    let all = [Channel::Command, Channel::Settings, Channel::Keys].map(|channel| Topic::of_all(&id(ORG), channel));
    listener.subscribe(all).await.unwrap();
    let desk = place.connect("pos-fleet-desk", "other-desk").await;
    for name in ["shop-1", "shop-2"] {
        for topic in down(name) {
            desk.publish(&topic, b"{}".to_vec()).await.unwrap();
        }
    }
    for _ in 0..3 {
        let Ok(Ok(Heard::Message(message))) = timeout(LIMIT, listener.heard()).await else { panic!("no message") };
        assert!(message.topic().contains("/shop-2/"), "{}", message.topic());
    }
    // What it had subscribed to is not wider than its own name.
    assert!(timeout(SILENCE, listener.heard()).await.is_err());
    for _ in 0..3 {
        assert!(terminal.message().await.is_some_and(|message| message.topic().contains("/shop-1/")));
    }
}
