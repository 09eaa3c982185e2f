//! `pos-agent doctor` as a technician starts it: the real program in a shop with one fault, on real TLS, ptys, SQLite
//! and files. The doctor must report each fault with the remedy that repairs it. No fault may hide another.

use std::any::Any;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use pos_agent::till::GatewayState;
use pos_core::transaction::{Outcome, Reason, Record};
use pos_journal::{Db, Journal, Purpose};
use pos_sim::gateway::{Certificate, Demand};
use pos_sim::reader::CardEntry;
use pos_sim::shop::{Options, Shop};
use pos_terms::transaction::SaleNumber;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rusqlite::Connection;
use serde_json::Value;

use crate::counter::Counter;

/// One fault and the text that the doctor must print for it.
struct Planted {
    what: &'static str,
    /// Changes to the shop before it opens.
    options: fn(&mut Options),
    /// Plants the fault in the shop's files. The fault lasts until the returned value is dropped, after the doctor has
    /// ended.
    plant: fn(&Shop) -> Held,
    probe: &'static str,
    severity: &'static str,
    says: &'static str,
    remedy: &'static str,
    exit: i32,
}

type Held = Box<dyn Any>;

const FINE: fn(&mut Options) = |_| {};
const NOTHING: fn(&Shop) -> Held = |_| Box::new(());
const FAULT: &str = "fault";
const WARNING: &str = "warning";

#[rustfmt::skip]
const PLANTED: &[Planted] = &[
    // ---- config
    Planted { what: "a key that nobody knows", options: FINE, plant: |shop| edit(shop, "card-timeout-s", "card-timeout"),
        probe: "config", severity: FAULT, says: "line 5: terminal.card-timeout: unknown field", remedy: "correct that line", exit: 78 },
    Planted { what: "a token that others may read", options: FINE, plant: |shop| mode(shop, "gateway-token", 0o644),
        probe: "config", severity: FAULT, says: "gateway.token-file: ", remedy: "run: chmod 0600", exit: 78 },
    Planted { what: "a token for systemd that others may read", options: FINE, plant: open_credential,
        probe: "config", severity: FAULT, says: "/gateway-token: other users may open it (mode 0644)", remedy: "run: chmod 0600", exit: 78 },
    Planted { what: "a till's token that others may read", options: FINE, plant: |shop| mode(shop, "till-token", 0o640),
        probe: "config", severity: FAULT, says: "till.token[0].token-file: ", remedy: "run: chmod 0600", exit: 78 },
    Planted { what: "a configuration that everybody may write", options: FINE, plant: |shop| mode(shop, "config.toml", 0o666),
        probe: "config", severity: FAULT, says: "every user may write to it", remedy: "run: chmod o-w", exit: 78 },
    Planted { what: "a CA file without a certificate", options: FINE, plant: |shop| write(shop, "ca.pem", "nothing"),
        probe: "config", severity: FAULT, says: "gateway.ca-file: ", remedy: "write the gateway's CA certificate to \
            this file, in PEM form", exit: 78 },
    Planted { what: "a printer at the reader's port", options: FINE, plant: |shop| printer(shop, &shop.reader.place()),
        probe: "config", severity: FAULT, says: "printer[0].port: is also the port of the reader", remedy: "write the printer's port", exit: 78 },
    // ---- disk, journal, clock
    Planted { what: "a folder that is not there", options: |options| options.journal = Some("/nowhere/journal.db".into()), plant: NOTHING,
        probe: "disk", severity: FAULT, says: "the journal's folder /nowhere cannot be read", remedy: "create the folder", exit: 74 },
    Planted { what: "a full disk", options: |options| options.journal = Some("/proc/journal.db".into()), plant: NOTHING,
        probe: "disk", severity: FAULT, says: "0 MiB free in /proc", remedy: "free up space on this file system", exit: 74 },
    Planted { what: "a disk that takes nothing", options: |options| options.journal = Some("/proc/journal.db".into()), plant: NOTHING,
        probe: "disk", severity: FAULT, says: "/proc cannot be written", remedy: "check the disk's free \
            space and health", exit: 74 },
    Planted { what: "another program's database", options: FINE, plant: |shop| sql(shop, "PRAGMA application_id = 252006674"),
        probe: "journal", severity: FAULT, says: "is a file of another program", remedy: "correct path in [journal]", exit: 74 },
    Planted { what: "a journal that is none", options: FINE, plant: |shop| write(shop, "journal.db", &"text ".repeat(1000)),
        probe: "journal", severity: FAULT, says: "file is not a database", remedy: "do not change the file", exit: 74 },
    Planted { what: "a journal of no length", options: FINE, plant: |shop| write(shop, "journal.db", ""),
        probe: "journal", severity: FAULT, says: "it is empty, 0 bytes long", remedy: "do not change the file", exit: 74 },
    Planted { what: "a row of the journal that somebody has altered", options: FINE,
        plant: |shop| { sold(shop, 7, 0); sql(shop, "UPDATE step SET records = replace(records, '1234', '1134') WHERE sale = 7") },
        probe: "journal", severity: FAULT, says: "the journal was altered: sale r of till local: ", remedy: "find out who had access", exit: 74 },
    Planted { what: "a row of the journal that somebody has taken out", options: FINE,
        plant: |shop| { sold(shop, 7, 0); sold(shop, 8, 0); sql(shop, "DELETE FROM step WHERE sale = 7; DELETE FROM sale WHERE number = 7") },
        probe: "journal", severity: FAULT, says: "one or more entries before this row are missing", remedy: "find out who had access", exit: 74 },
    Planted { what: "steps of an earlier program", options: FINE,
        plant: |shop| { sold(shop, 7, 0); sql(shop, "INSERT INTO step(id, sale, unix_ms, records) VALUES (7340033, 7, 0, '[{\"kind\":\"asked\"}]')") },
        probe: "journal", severity: WARNING, says: "1 steps were written by an earlier version", remedy: "start this version of the agent", exit: 75 },
    Planted { what: "an open sale of a later program", options: FINE, plant: a_sale_of_a_later_program,
        probe: "journal", severity: FAULT, says: "cannot read the open sale r of till local", remedy: "install the later version", exit: 74 },
    Planted { what: "a journal of a later program", options: FINE, plant: |shop| sql(shop, "PRAGMA user_version = 99"),
        probe: "journal", severity: FAULT, says: "has format 99", remedy: "install the later version again", exit: 74 },
    Planted { what: "a journal that another program has changed", options: FINE, plant: |shop| sql(shop, "PRAGMA journal_mode = DELETE"),
        probe: "journal", severity: FAULT, says: "is in journal mode delete", remedy: "restart the agent", exit: 74 },
    Planted { what: "a journal with two hard links", options: FINE, plant: two_names,
        probe: "journal", severity: FAULT, says: "has 2 names (hard links)", remedy: "remove all but the one that the agent used last", exit: 74 },
    Planted { what: "a damaged page", options: FINE, plant: damage,
        probe: "journal", severity: FAULT, says: "SQLite's check found damage", remedy: "do not delete journal.db", exit: 74 },
    Planted { what: "a record that cannot be read", options: FINE,
        plant: |shop| sql(shop, "INSERT INTO sale(number, till, reference) VALUES (7, 'local', 'r'); \
                                 INSERT INTO step(id, sale, unix_ms, records) VALUES (7340032, 7, 0, '[{\"nonsense\":1}]')"),
        probe: "journal", severity: FAULT, says: "step 7340032 of the journal cannot be read", remedy: "keep the file and ask for support", exit: 74 },
    Planted { what: "a journal of training", options: FINE, plant: of_training,
        probe: "journal", severity: FAULT, says: "is a journal of training", remedy: "put the right journal in its place", exit: 74 },
    Planted { what: "a -wal file whose journal is gone", options: FINE, plant: |shop| write(shop, "journal.db-wal", "what was written last"),
        probe: "journal", severity: FAULT, says: "journal.db, but its -wal file is still there", remedy: "keep the -wal file, which may contain open sales", exit: 74 },
    Planted { what: "a mark that names another journal", options: FINE,
        plant: |shop| { sql(shop, "SELECT 1"); mark(shop) },
        probe: "journal", severity: FAULT, says: "this terminal has sold with a different journal", remedy: "pos-agent journal accept", exit: 74 },
    Planted { what: "a mark, and no journal", options: FINE, plant: mark,
        probe: "journal", severity: FAULT, says: "this terminal has sold with a different journal", remedy: "pos-agent journal adopt", exit: 74 },
    Planted { what: "a clock that is behind the journal", options: FINE,
        plant: |shop| sold(shop, 1, now_ms() + 172_800_000),
        probe: "clock", severity: FAULT, says: "the journal's latest record is later", remedy: "timedatectl set-ntp true", exit: 69 },
    Planted { what: "a record of a clock that was ahead", options: FINE,
        plant: |shop| sold(shop, 17, now_ms() + 365 * 86_400_000),
        probe: "clock", severity: FAULT, says: "(transaction 17)", remedy: "pos-agent journal set-clock-back", exit: 69 },
    // ---- gateway
    Planted { what: "a host that is not known", options: FINE, plant: |shop| url(shop, "https://gateway.invalid/"),
        probe: "gateway", severity: FAULT, says: "host name cannot be resolved", remedy: "check the network and url in \
            [gateway]", exit: 69 },
    Planted { what: "a port where nobody listens", options: FINE, plant: |shop| url(shop, "https://localhost:1/"),
        probe: "gateway", severity: FAULT, says: "the gateway refused the connection", remedy: "check url in [gateway]", exit: 69 },
    Planted { what: "a gateway that is silent", options: FINE, plant: silent_gateway,
        probe: "gateway", severity: FAULT, says: "no connection to the gateway within 500 ms", remedy: "check the network", exit: 69 },
    Planted { what: "an expired certificate", options: |options| options.gateway.certificate = Certificate::Expired, plant: NOTHING,
        probe: "gateway", severity: FAULT, says: "the gateway's certificate has expired", remedy: "tell the gateway's operator", exit: 69 },
    Planted { what: "a certificate for another host", options: |options| options.gateway.certificate = Certificate::WrongName, plant: NOTHING,
        probe: "gateway", severity: FAULT, says: "is for a different host name", remedy: "check url in [gateway]", exit: 69 },
    Planted { what: "a certificate of another CA", options: |options| options.gateway.certificate = Certificate::OtherCa, plant: NOTHING,
        probe: "gateway", severity: FAULT, says: "is not signed by a CA from ca-file in [gateway]", remedy: "add it to that file", exit: 69 },
    Planted { what: "a certificate that ends soon", options: |options| options.gateway.certificate = Certificate::EndsIn(10), plant: NOTHING,
        probe: "gateway", severity: WARNING, says: "the gateway's certificate expires in 10 days", remedy: "tell the gateway's operator", exit: 75 },
    Planted { what: "a token that ends soon", options: |options| options.gateway.token = jwt(3), plant: NOTHING,
        probe: "gateway", severity: WARNING, says: "the terminal's access token expires in ", remedy: "replace token-file in \
            [gateway]", exit: 75 },
    Planted { what: "a pin of another CA", options: FINE,
        plant: |shop| edit(shop, "[gateway]\n", "[gateway]\nca-pins = [\"sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]\n"),
        probe: "gateway", severity: FAULT, says: "no CA from ca-pins in [gateway] signed the gateway's certificate", remedy: "add the pin of the new one", exit: 69 },
    Planted { what: "a gateway that wants a certificate of ours", options: wants_a_certificate, plant: NOTHING,
        probe: "gateway", severity: FAULT, says: "the gateway asks for a client certificate", remedy: "set \
            client-certificate-file", exit: 69 },
    Planted { what: "a certificate of ours that the gateway does not know", options: wants_a_certificate, plant: a_certificate_of_ours,
        probe: "gateway", severity: FAULT, says: "the gateway refuses the terminal's certificate", remedy: "issued by the CA that the gateway names", exit: 69 },
    Planted { what: "a key of ours that others may read", options: FINE,
        plant: |shop| { a_certificate_of_ours(shop); mode(shop, "our-key.pem", 0o644) },
        probe: "config", severity: FAULT, says: "gateway.client-key-file: ", remedy: "run: chmod 0600", exit: 78 },
    Planted { what: "a token that is not let in", options: FINE, plant: |shop| write(shop, "gateway-token", "an-old-token-0123456789"),
        probe: "gateway", severity: FAULT, says: "refuses the terminal's access token (HTTP 403", remedy: "ask the gateway's \
            operator for a new token", exit: 69 },
    Planted { what: "a wrong path of the query", options: FINE,
        plant: |shop| edit(shop, "[gateway.brand-by-aid]", "[gateway.assumptions]\nquery-path = \"/v2/query\"\n[gateway.brand-by-aid]"),
        probe: "gateway", severity: FAULT, says: "there is no query at /v2/query (HTTP 404", remedy: "query-path in [gateway.assumptions]", exit: 69 },
    Planted { what: "another entity", options: FINE,
        plant: |shop| edit(shop, "8ac7a4c97ba4e2d5017ba6b1c2d30a51", "00000000000000000000000000000000"),
        probe: "gateway", severity: FAULT, says: "the gateway refuses the query (HTTP 400", remedy: "check entity-id in [gateway]", exit: 69 },
    Planted { what: "a request that the gateway took for invalid", options: FINE,
        plant: |shop| ends(shop, None, Outcome::NotSent { why: Reason::RequestNotPossible.into() }),
        probe: "gateway", severity: FAULT, says: "the gateway refused sale r of till local as an invalid request", remedy: "check entity-id in [gateway]", exit: 69 },
    Planted { what: "declines that were doubted", options: FINE,
        plant: |shop| ends(shop, Some(Reason::DeclineInDoubt), Outcome::Declined { why: Reason::BankDeclined.into() }),
        probe: "gateway", severity: WARNING, says: "that a look-up confirmed: 1 of the latest sales", remedy: "believe-declines-at-200 = true", exit: 75 },
    // ---- reader, printer
    Planted { what: "no reader", options: FINE, plant: |shop| port(shop, "/dev/serial/by-id/usb-none"),
        probe: "reader", severity: FAULT, says: "no device at /dev/serial/by-id/usb-none", remedy: "check the device's power and cable", exit: 69 },
    Planted { what: "a file instead of a reader", options: FINE, plant: |shop| port(shop, "/etc/passwd"),
        probe: "reader", severity: FAULT, says: "/etc/passwd is not a device", remedy: "set port in [reader]", exit: 69 },
    Planted { what: "another device", options: |options| options.reader.wrong_device = true, plant: NOTHING,
        probe: "reader", severity: FAULT, says: "does not answer as a Miura MPI reader", remedy: "check port and \
            protocol in [reader]", exit: 69 },
    Planted { what: "a reader without keys", options: |options| options.reader.secured = false, plant: NOTHING,
        probe: "reader", severity: FAULT, says: "holds no card-data key (SRED)", remedy: "have keys injected", exit: 69 },
    Planted { what: "a reader that another program holds", options: FINE, plant: held_reader,
        probe: "reader", severity: FAULT, says: ": sleep (process ", remedy: "stop that program", exit: 69 },
    Planted { what: "no printer", options: FINE, plant: |shop| printer(shop, "tcp://127.0.0.1:1"),
        probe: "printer", severity: WARNING, says: "cannot be reached at tcp://127.0.0.1:1", remedy: "check the printer's power and cable", exit: 75 },
    // ---- till
    Planted { what: "a port that another program has", options: FINE, plant: taken_port,
        probe: "till", severity: FAULT, says: "another program is using 127.0.0.1:", remedy: "find the program with ss -ltnp", exit: 69 },
    Planted { what: "a file in the socket's place", options: FINE, plant: |shop| write(shop, "till.sock", ""),
        probe: "till", severity: FAULT, says: "is not a socket", remedy: "move the file, or change socket in [till]", exit: 69 },
    Planted { what: "a till that may do nothing", options: FINE,
        plant: |shop| edit(shop, "till = \"till-1\"", "till = \"till-1\"\nrights = []"),
        probe: "till", severity: WARNING, says: "till till-1 has no rights", remedy: "remove rights from its [[till.token]]", exit: 75 },
    Planted { what: "an agent that hangs up", options: FINE, plant: agent_that_hangs_up,
        probe: "till", severity: FAULT, says: "the agent is not answering", remedy: "systemctl restart pos-agent", exit: 69 },
];

#[tokio::test]
async fn every_planted_fault_is_named_with_its_remedy() {
    for planted in PLANTED {
        let Planted { what, probe, severity, says, remedy, exit, .. } = planted;
        let mut options = Options::default();
        (planted.options)(&mut options);
        let shop = Shop::open(options).await.unwrap();
        let held = (planted.plant)(&shop);
        let (found, code) = findings(&shop.config()).await;
        drop(held);
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let said = found.iter().any(|finding| {
            text(finding, "probe") == *probe
                && text(finding, "severity") == *severity
                && text(finding, "seen").contains(says)
                && text(finding, "remedy").contains(remedy)
        });
        assert!(said, "{what}: {}", list(&found));
        assert_eq!(code, *exit, "{what}: {}", list(&found));
        // A fault does not stop the later checks.
        let last = if *what == "a key that nobody knows" { "service" } else { "till" };
        assert!(found.iter().any(|finding| text(finding, "probe") == last), "{what}: {}", list(&found));
        // One planted fault causes one reported fault. There are two exceptions: the service is not planted, and a
        // journal that cannot be written is also a fault of the disk.
        let faults: Vec<_> = found
            .iter()
            .filter(|finding| text(finding, "severity") == FAULT)
            .map(|finding| text(finding, "probe"))
            .filter(|faulty| faulty != "service" && (faulty != "gateway" || *probe != "config"))
            .collect();
        let wanted = if *severity == FAULT { *probe } else { "" };
        assert!(faults.iter().all(|faulty| faulty == wanted), "{what}: {}", list(&found));
    }
}

#[tokio::test]
async fn a_running_terminal_is_well_and_its_devices_are_left_to_the_agent() {
    let mut counter = Counter::open().await;
    // After the gateway has answered the agent's first request, the agent opens no further connection on its own
    // initiative.
    counter.until_status("the gateway", |status| status.gateway.state == GatewayState::Answers).await;
    counter.sell("r-1", "12.34", "chip-pin", CardEntry::Insert).await;
    counter.until_ended("r-1").await;
    counter.paper().await;
    counter.paper().await;
    counter.until_display("remove").await;
    counter.shop.reader.remove();
    counter.until_ready().await;
    let handshakes = counter.shop.gateway.counters().handshakes;
    let charged = counter.charged();
    let output = doctor(&counter.shop.config(), &[]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for line in [
        "config\n    1  ok       ",
        "syncs took ",
        "journal.db is in WAL mode, format 2",
        "sales: 1, unconfirmed: 0",
        "the gateway's name resolves to ",
        "TLSv1_3 with TLS13_",
        "the gateway's certificate: CN=pos-sim gateway by CN=pos-sim test CA, expires in ",
        "answers in ",
        "the gateway's clock and the board's clock differ by ",
        "the gateway accepts the terminal's token, and /v1/query finds nothing for an unused reference",
        "the query finds sale r-1 of till local (12.34 EUR) with its amount",
        "the agent says: M000-MPI",
        "(mode 0660, owner ",
        "service\n",
        "all checks passed (",
    ] {
        assert!(text.contains(line), "{line:?}: {text}");
    }
    assert!(!text.contains(counter.shop.gateway.token()), "the token is shown");
    assert_eq!(counter.shop.gateway.counters().handshakes, handshakes + 1, "one line of its own");
    assert_eq!(counter.charged(), charged, "no money moved");
    // The doctor does not affect the agent.
    counter.sell("r-2", "1.00", "chip-pin", CardEntry::Insert).await;
    counter.until_ended("r-2").await;
    counter.stop_agent().await;
}

#[tokio::test]
async fn without_an_agent_the_reader_and_the_printer_are_asked_and_the_journal_proves_the_query() {
    let mut counter = Counter::open().await;
    counter.sell("r-1", "12.34", "chip-pin", CardEntry::Insert).await;
    counter.until_ended("r-1").await;
    counter.stop_agent().await;
    let shop = &counter.shop;
    let (found, _) = findings(&shop.config()).await;
    has(&found, "ok", "serial 30003638, holds a card-data key (SRED)");
    has(&found, "ok", "the reader holds a PIN key");
    has(&found, "ok", "is ready");
    has(&found, "ok", "the query finds sale r-1 of till local (12.34 EUR) with its amount");

    let renamed = "UPDATE step SET records = replace(records, '12345678-1-', '12345678-9-')";
    sql(shop, renamed);
    let (found, code) = findings(&shop.config()).await;
    has(&found, "warning", "the query does not find sale r-1");
    // The doctor also reports the change that this test made in the journal.
    has(&found, "fault", "the journal was altered: sale r-1 of till local");
    assert_eq!(code, 74);
    sql(
        shop,
        "UPDATE step SET records = replace(replace(records, '12345678-9-', '12345678-1-'), 'minor\":1234', 'minor\":1235')",
    );
    let (found, code) = findings(&shop.config()).await;
    has(&found, "fault", "with a different amount");
    assert_eq!(code, 74);
}

#[tokio::test]
async fn sales_that_wait_for_an_agent_are_told() {
    let mut counter = Counter::open().await;
    // The payment is approved, but the answer is lost, so the agent must look it up.
    counter.sell("r-1", "5.71", "chip-pin", CardEntry::Insert).await;
    counter.until("r-1", "unconfirmed", |view| view.state == pos_agent::till::SaleState::Unconfirmed).await;
    counter.cut_power().await;
    let (found, code) = findings(&counter.shop.config()).await;
    has(&found, "warning", "sales that are waiting because the agent is not running: r-1 of till local");
    has(&found, "ok", "sales: 1, unconfirmed: 1");
    assert_ne!(code, 0);
}

#[tokio::test]
async fn what_the_running_agent_says_of_its_journal_and_of_what_is_unconfirmed_is_told() {
    let mut counter = Counter::open().await;
    let config = counter.shop.config();
    let (found, _) = findings(&config).await;
    has(&found, "ok", "the agent says: written");
    has(&found, "ok", "the agent says: unconfirmed sales: 0");
    // The request is cut off before it is processed. The sale stays unconfirmed, because the gateway may still have it.
    counter.sell("r-1", "5.72", "chip-pin", CardEntry::Insert).await;
    counter.until("r-1", "unconfirmed", |view| view.state == pos_agent::till::SaleState::Unconfirmed).await;
    let (found, _) = findings(&config).await;
    has(&found, "note", "the agent says: unconfirmed sales: 1 (r-1 of till local)");
    // A person removes the file but leaves the -wal file.
    fs::remove_file(counter.shop.folder().join("journal.db")).unwrap();
    let (found, code) = findings(&config).await;
    let told = "the journal is no longer the agent's file";
    has(&found, "fault", told);
    has(&found, "note", "journal.db, but its -wal file is still there");
    has(&found, "note", "the agent says: unconfirmed sales: 1 (r-1 of till local)");
    assert!(!list(&found).contains("the agent creates it at its first start"), "{}", list(&found));
    assert_eq!(code, 74);
    counter.cut_power().await;
}

#[tokio::test]
async fn a_socket_that_nobody_or_everybody_may_use_is_told() {
    let mut counter = Counter::open().await;
    let config = counter.shop.config();
    let socket = counter.shop.socket();
    for (mode, says) in [(0o600, ": the group root may not use this socket"), (0o666, ": every user may take payments")]
    {
        fs::set_permissions(&socket, fs::Permissions::from_mode(mode)).unwrap();
        let (found, code) = findings(&config).await;
        let remedy = has(&found, "fault", says);
        assert!(remedy.contains("which creates it again with mode 0660") && code == 69, "{code}: {remedy}");
    }
    // If a till has a token, a group without users is not a fault.
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o660)).unwrap();
    std::os::unix::fs::chown(&socket, None, Some(4711)).unwrap();
    let (found, _) = findings(&config).await;
    has(&found, "ok", "(mode 0660, ");
    let text = fs::read_to_string(&config).unwrap();
    let (before, after) = text.split_once("[[till.token]]").unwrap();
    let after = after.split_once("\n[").map_or("", |(_, rest)| rest);
    let after = if after.is_empty() { String::new() } else { format!("[{after}") };
    fs::write(&config, format!("{before}{after}")).unwrap();
    let (found, _) = findings(&config).await;
    let remedy = has(&found, "warning", ": the group 4711 has no users");
    assert!(remedy.contains("usermod -aG 4711 USER"), "{remedy}");
    counter.stop_agent().await;
}

/// Checks that a sale of another terminal is reported with its remedy. The running agent leaves the sale alone.
#[tokio::test]
async fn a_sale_that_is_left_alone_is_told_with_what_mends_it() {
    let mut counter = Counter::closed(Options::default()).await;
    sold_by(&counter.shop, 7, now_ms(), "99999999");
    counter.start_agent();
    counter.until_ready().await;
    let (found, _) = findings(&counter.shop.config()).await;
    has(&found, WARNING, "terminal 99999999 made it");
    let remedy = found.iter().filter_map(|finding| finding["remedy"].as_str());
    assert!(remedy.into_iter().any(|remedy| remedy.contains("restore the settings")), "{}", list(&found));
}

#[tokio::test]
async fn a_tty_of_another_group_is_named_to_a_user_who_may_not_open_it() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user: not tested");
        return;
    }
    let shop = Shop::open(Options::default()).await.unwrap();
    fs::set_permissions(shop.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    for file in ["gateway-token", "till-token"] {
        std::os::unix::fs::chown(shop.folder().join(file), Some(65534), None).unwrap();
    }
    // That user must be able to run the program.
    let program = shop.folder().join("pos-agent");
    crate::program::copied_to(&program);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let tty = fs::canonicalize(shop.folder().join("reader")).unwrap();
    fs::set_permissions(&tty, fs::Permissions::from_mode(0o620)).unwrap();
    let closed = shop.folder().join("pos-front");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let (config, control) = (shop.config(), closed.join("control.sock"));
    let output = tokio::task::spawn_blocking(move || {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(program);
        command.arg("doctor").arg("--json").arg("--config").arg(config).uid(65534).gid(65534);
        command.arg("--front").arg(&control);
        command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap()
    });
    let (found, code) = read(&output.await.unwrap());
    let remedy = has(&found, "fault", "this user may not open");
    assert!(remedy.contains("70-pos-agent.rules"), "{remedy}");
    has(&found, "note", "this user may not write to");
    has(&found, "note", "pos-front/control.sock; run this command as root");
    assert_eq!(code, 69);
}

#[tokio::test]
async fn a_secret_that_the_agents_user_cannot_read_is_named_to_root() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can give files away: not tested");
        return;
    }
    let shop = Shop::open(Options::default()).await.unwrap();
    std::os::unix::fs::chown(shop.folder(), Some(4711), None).unwrap();
    let (found, code) = findings(&shop.config()).await;
    let remedy = has(&found, "fault", "gateway-token belongs to user 0, but the agent runs as user 4711");
    assert!(remedy.starts_with("run: chown 4711 "), "{remedy}");
    assert_eq!(code, 78);
}

#[tokio::test]
async fn tls_1_2_and_a_certificate_of_ours_are_shown() {
    let (ca, ours) = client_authority();
    let mut options = Options::default();
    options.gateway.demand = Demand { client_ca: Some(ca), tls12: true };
    let shop = Shop::open(options).await.unwrap();
    let (certificate, key) = ours.issue(2099);
    our_certificate(&shop, &certificate, &key);
    let (found, _) = findings(&shop.config()).await;
    has(&found, "ok", "TLSv1_2 with TLS_ECDHE_");
    has(&found, "note", "the terminal's certificate: CN=terminal by CN=client CA, expires in ");
    has(&found, "ok", "accepts the terminal's token");
    // The gateway refuses an expired certificate, and the doctor names it.
    let (certificate, key) = ours.issue(2021);
    our_certificate(&shop, &certificate, &key);
    let (found, _) = findings(&shop.config()).await;
    has(&found, "fault", "the gateway refuses the terminal's certificate");
    has(&found, "note", "the terminal's certificate: CN=terminal by CN=client CA, expired ");
}

#[tokio::test]
async fn what_the_front_says_of_its_tills_commands_no_terminal() {
    let shop = Shop::open(Options::default()).await.unwrap();
    let socket = shop.folder().join("control.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let tills = r#"{"tills":[{"till":"kasse\u001b[2J-1","protocol":"zvt\u0007","connected":1,"from":"192.0.2.7:1\u202e",
            "lastCommand":"06 01\r\n\u009b31m  99  FAULT","at":"\u2066now"},{"till":"bar","protocol":"zvt"}]}"#;
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{tills}", tills.len());
        while let Ok((mut stream, _)) = listener.accept() {
            let mut asked = [0; 4096];
            let read = stream.read(&mut asked).unwrap();
            assert!(asked[..read].starts_with(b"GET /status HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let front = ["--front", socket.to_str().unwrap()];
    // Any user who may open the socket can pair tills.
    for (mode, severity, says) in [
        (0o666, "fault", "other users may pair tills"),
        (0o400, "warning", "only root may use this socket"),
        (0o600, "ok", "pos-front answers at "),
    ] {
        fs::set_permissions(&socket, fs::Permissions::from_mode(mode)).unwrap();
        let (found, _) = read(&doctor(&shop.config(), &["--json", front[0], front[1]]).await);
        has(&found, severity, says);
    }
    let first = "till kasse[2J-1 (zvt): connected from 192.0.2.7:1; last command 06 01 31m  99  FAULT, now";
    let second = "till bar (zvt): not connected; no command since pos-front was started";
    let text = String::from_utf8(doctor(&shop.config(), &front).await.stdout).unwrap();
    assert!(text.contains(&format!("ok       {first}\n")) && text.contains(second), "{text}");
    let output = doctor(&shop.config(), &["--json", front[0], front[1]]).await;
    assert!(output.stdout.iter().filter(|byte| byte.is_ascii_control()).count() == 1, "the line's end alone");
    let (found, _) = read(&output);
    has(&found, "ok", first);
    // Without a front there is no finding, unless the options ask for one.
    fs::remove_file(&socket).unwrap();
    let (found, _) = read(&doctor(&shop.config(), &["--json", front[0], front[1]]).await);
    let remedy = has(&found, "warning", "pos-front did not report its tills");
    assert!(remedy.contains("systemctl restart pos-front"), "{remedy}");
    if !Path::new("/run/pos-front").exists() {
        let (found, _) = findings(&shop.config()).await;
        assert!(!list(&found).contains("pos-front"), "{}", list(&found));
    }
}

#[tokio::test]
async fn progress_is_told_line_by_line_and_wrong_usage_is_64() {
    let shop = Shop::open(Options::default()).await.unwrap();
    let output = doctor(&shop.config(), &["--json"]).await;
    // The check does not set the reader's clock.
    has(&read(&output).0, "note", "the reader's clock says 2025-01-31 12:34");
    let aside = String::from_utf8(output.stderr).unwrap();
    for probe in ["config", "disk", "journal", "clock", "gateway", "reader", "printer", "till", "service"] {
        assert!(aside.contains(&format!("checking: {probe}\n")), "{aside}");
    }
    let output = doctor(Path::new("/nowhere/config.toml"), &[]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(78), "{text}");
    assert!(text.contains("/nowhere/config.toml: does not exist\n"), "{text}");
    assert!(text.contains("FAULT") && text.contains("do: run pos-agent setup as root, which writes it"), "{text}");
    assert!(text.contains("do: run pos-agent setup as root, then start the agent"), "{text}");
    assert!(text.contains("clock\n") && text.contains("were not checked"), "{text}");
    assert_eq!(doctor(&shop.config(), &["--nonsense"]).await.status.code(), Some(64));
}

// ---- Planted faults

fn edit(shop: &Shop, what: &str, with: &str) -> Held {
    let text = fs::read_to_string(shop.config()).unwrap();
    assert!(text.contains(what), "the configuration holds no {what}");
    fs::write(shop.config(), text.replace(what, with)).unwrap();
    Box::new(())
}

/// Sets the value of a key in a section.
fn set(shop: &Shop, section: &str, key: &str, value: &str) -> Held {
    let text = fs::read_to_string(shop.config()).unwrap();
    let (before, after) = text.split_once(&format!("[{section}]")).unwrap();
    let (between, rest) = after.split_once(&format!("{key} = ")).unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    fs::write(shop.config(), format!("{before}[{section}]{between}{key} = \"{value}\"\n{rest}")).unwrap();
    Box::new(())
}

fn url(shop: &Shop, url: &str) -> Held {
    set(shop, "gateway", "url", url)
}

fn port(shop: &Shop, port: &str) -> Held {
    set(shop, "reader", "port", port)
}

fn printer(shop: &Shop, port: &str) -> Held {
    set(shop, "printer", "port", port)
}

fn mode(shop: &Shop, file: &str, mode: u32) -> Held {
    fs::set_permissions(shop.folder().join(file), fs::Permissions::from_mode(mode)).unwrap();
    Box::new(())
}

/// Leaves the token to systemd. Its file is beside the configuration, as in the unit's `LoadCredential=`.
fn open_credential(shop: &Shop) -> Held {
    let text = fs::read_to_string(shop.config()).unwrap();
    let line = text.lines().find(|line| line.starts_with("token-file = ")).unwrap();
    edit(shop, line, "token-credential = \"gateway-token\"");
    mode(shop, "gateway-token", 0o644)
}

fn write(shop: &Shop, file: &str, text: &str) -> Held {
    fs::write(shop.folder().join(file), text).unwrap();
    Box::new(())
}

/// Creates the agent's journal with a second name.
fn two_names(shop: &Shop) -> Held {
    let path = shop.folder().join("journal.db");
    drop(pos_journal::Journal::open(&path).unwrap());
    std::fs::hard_link(&path, shop.folder().join("second.db")).unwrap();
    Box::new(())
}

/// Runs a statement on the agent's journal.
fn sql(shop: &Shop, sql: &str) -> Held {
    let path = shop.folder().join("journal.db");
    drop(pos_journal::Journal::open(&path).unwrap());
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
    Box::new(())
}

/// Writes a sale that waits for its card, as the agent does.
fn sold(shop: &Shop, number: u64, unix_ms: i64) -> Held {
    sold_by(shop, number, unix_ms, "12345678")
}

/// Writes the same sale from a terminal with this id.
fn sold_by(shop: &Shop, number: u64, unix_ms: i64, terminal: &str) -> Held {
    let order = serde_json::json!({
        "number": number, "till": "local", "reference": if number == 7 { "r".to_owned() } else { format!("r-{number}") },
        "amount": {"minor": 1234, "currency": "EUR"}, "terminalId": terminal,
        "merchantTransactionId": format!("{terminal}-{number}-00112233445566778899aabbccddeeff"),
        "startedUnixMs": unix_ms, "localTime": "2027-01-15 09:00:00",
    });
    let started = Record::Started { order: serde_json::from_value(order).unwrap() };
    let (mut db, _) = Db::open(&shop.folder().join("journal.db")).unwrap();
    db.write(SaleNumber::new(number), 0, unix_ms, &[started]).unwrap();
    Box::new(())
}

/// Ends sale 7, which was sent. If there is a reason, the sale was looked up first.
fn ends(shop: &Shop, looked: Option<Reason>, outcome: Outcome) -> Held {
    let now = now_ms();
    sold(shop, 7, now);
    let looked = looked.map(|why| Record::Reversing { why: why.into(), payment: None, host: None, by: None });
    let ended = Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None };
    let (mut db, _) = Db::open(&shop.folder().join("journal.db")).unwrap();
    let records = [Some(serde_json::from_str(r#"{"kind":"asked"}"#).unwrap()), looked, Some(ended)];
    for (place, record) in (1..).zip(records.into_iter().flatten()) {
        db.write(SaleNumber::new(7), place, now, &[record]).unwrap();
    }
    Box::new(())
}

fn of_training(shop: &Shop) -> Held {
    drop(Journal::open_for(&shop.folder().join("journal.db"), Purpose::Training).unwrap());
    Box::new(())
}

/// Writes the mark of a terminal that has made sales with a journal other than the present one.
fn mark(shop: &Shop) -> Held {
    write(shop, "12345678.sold", r#"{"terminal":"12345678","journal":"another"}"#)
}

/// Writes a sale whose second step has a record of an unknown kind. The next start adds the step's hash.
fn a_sale_of_a_later_program(shop: &Shop) -> Held {
    sold(shop, 7, 0);
    let later = "INSERT INTO step(id, sale, unix_ms, records) VALUES (7340033, 7, 0, '[{\"kind\":\"teleported\"}]')";
    sql(shop, later);
    sql(shop, "SELECT 1")
}

fn now_ms() -> i64 {
    i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// Overwrites the first page of the table of steps.
fn damage(shop: &Shop) -> Held {
    sold(shop, 1, 0);
    sql(shop, "PRAGMA wal_checkpoint(TRUNCATE)");
    let path = shop.folder().join("journal.db");
    let journal = Connection::open(&path).unwrap();
    let number = |sql: &str| journal.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let page = usize::try_from(number("SELECT rootpage FROM sqlite_master WHERE name = 'step'")).unwrap();
    let size = usize::try_from(number("PRAGMA page_size")).unwrap();
    drop(journal);
    let mut bytes = fs::read(&path).unwrap();
    bytes[(page - 1) * size..page * size].fill(0xA5);
    fs::write(path, bytes).unwrap();
    Box::new(())
}

/// Accepts TCP connections and sends no bytes.
fn silent_gateway(shop: &Shop) -> Held {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    url(shop, &format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port()));
    edit(shop, "connect-timeout-ms = 5000", "connect-timeout-ms = 500");
    Box::new(listener)
}

fn taken_port(shop: &Shop) -> Held {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    set(shop, "till", "http", &listener.local_addr().unwrap().to_string());
    Box::new(listener)
}

fn agent_that_hangs_up(shop: &Shop) -> Held {
    let listener = UnixListener::bind(shop.folder().join("till.sock")).unwrap();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            drop(stream)
        }
    });
    Box::new(())
}

/// Starts another program that keeps the tty open.
fn held_reader(shop: &Shop) -> Held {
    struct Killed(std::process::Child);
    impl Drop for Killed {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }
    let tty = fs::File::open(shop.folder().join("reader")).unwrap();
    Box::new(Killed(Command::new("sleep").arg("60").stdin(tty).spawn().unwrap()))
}

/// Returns a token that contains its expiry time.
fn jwt(days: i64) -> String {
    let end = chrono::Utc::now().timestamp() + days * 24 * 3600;
    let part = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.c2lnbmF0dXJl", part(r#"{"alg":"none"}"#), part(&format!(r#"{{"exp":{end}}}"#)))
}

fn wants_a_certificate(options: &mut Options) {
    options.gateway.demand.client_ca = Some(client_authority().0);
}

/// Installs a client certificate from an unknown CA.
fn a_certificate_of_ours(shop: &Shop) -> Held {
    let (certificate, key) = client_authority().1.issue(2099);
    our_certificate(shop, &certificate, &key);
    Box::new(())
}

fn our_certificate(shop: &Shop, certificate: &str, key: &str) {
    let folder = shop.folder().display();
    write(shop, "our-certificate.pem", certificate);
    write(shop, "our-key.pem", key);
    mode(shop, "our-key.pem", 0o600);
    if !fs::read_to_string(shop.config()).unwrap().contains("client-key-file") {
        let keys = format!(
            "[gateway]\nclient-certificate-file = \"{folder}/our-certificate.pem\"\nclient-key-file = \"{folder}/our-key.pem\"\n"
        );
        edit(shop, "[gateway]\n", &keys);
    }
}

struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    /// Returns a certificate for the terminal, valid until the first day of a year, and its key.
    fn issue(&self, until: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, "terminal");
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(until, 1, 1));
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

fn client_authority() -> (String, Authority) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, "client CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = params.self_signed(&key).unwrap().pem();
    (pem, Authority(Issuer::new(params, key)))
}

// ---- The doctor's output

async fn doctor(config: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.arg("doctor").arg("--config").arg(config).args(arguments).stdin(Stdio::null());
    command.env_remove("RUST_LOG").env_remove("CREDENTIALS_DIRECTORY");
    // The shop goes on in this thread.
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// Returns the findings and the exit code.
async fn findings(config: &Path) -> (Vec<Value>, i32) {
    read(&doctor(config, &["--json"]).await)
}

fn read(output: &Output) -> (Vec<Value>, i32) {
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let findings = json["findings"].as_array().unwrap().clone();
    for (n, finding) in findings.iter().enumerate() {
        assert_eq!(finding["number"], n + 1);
        let needs_one = matches!(finding["severity"].as_str().unwrap(), "fault" | "warning");
        // Only a fault or a warning has a remedy.
        assert_eq!(finding["remedy"].is_string(), needs_one, "{finding}");
        assert!(!needs_one || !finding["seen"].as_str().unwrap().contains(" is ok"), "{finding}");
    }
    (findings, output.status.code().unwrap())
}

/// Returns the remedy of the finding with this text.
fn has(found: &[Value], severity: &str, says: &str) -> String {
    let finding = found
        .iter()
        .find(|finding| finding["severity"] == severity && finding["seen"].as_str().unwrap().contains(says))
        .unwrap_or_else(|| panic!("no {severity} says {says:?}: {}", list(found)));
    finding["remedy"].as_str().unwrap_or_default().to_owned()
}

fn list(found: &[Value]) -> String {
    found.iter().map(|finding| format!("\n  {finding}")).collect()
}
