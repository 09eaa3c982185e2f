//! TLS to the gateway on real sockets: a change of the CA, files that are replaced while the agent runs, the agent's
//! certificate, pins, and a board whose clock begins in 1970.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::counter::{self, Counter};
use crate::https::{self, Act, Server};
use pos_agent::config;
use pos_agent::till::{Attention, AttentionView, GatewayState, ReaderState};
use pos_gateway::{Certificate, CertificateClock, Client, Time, Token};
use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto, version};

const NOT_OURS: &str = "the gateway's certificate is not signed by a CA from ca-file in [gateway]; ask the gateway's \
    operator for its CA certificate and add it to that file";
const NOT_YET: &str = "the gateway's certificate is not valid yet; check the board's clock";
const EXPIRED: &str =
    "the gateway's certificate has expired; check the board's clock, then tell the gateway's operator";
const NO_PIN: &str = "no CA from ca-pins in [gateway] signed the gateway's certificate; ask the gateway's operator \
    whether its CA has changed, and add the pin of the new one";

// ---- A change of the CA

#[tokio::test]
async fn a_gateway_changes_its_ca_and_nobody_changes_the_terminal() {
    let (old, next, other) = (Ca::new("old"), Ca::new("next"), Ca::new("other"));
    for (ca, expected) in [(&old, Ok(())), (&next, Ok(())), (&other, Err(NOT_OURS.to_owned()))] {
        let desk = Desk::new(&[&old, &next], ca.server(LONG), 1).await;
        assert_eq!(desk.client(LONG_NOW).warm().await.map_err(|fault| fault.to_string()), expected);
    }
}

#[tokio::test]
async fn a_handshake_without_a_request_is_verified_as_any() {
    let (ours, other) = (Ca::new("ours"), Ca::new("other"));
    for (ca, expected) in [(&ours, Ok(())), (&other, Err(NOT_OURS.to_owned()))] {
        let desk = Desk::new(&[&ours], ca.server(LONG), 0).await;
        let client = desk.client_with(LONG_NOW, &|gateway| gateway.assumptions.warm_path = None);
        assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), expected);
        // The client uses the new files with a new connection.
        desk.write("ca.pem", &[ours.pem(), other.pem()].concat());
        assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
        assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
        let expected = if expected.is_ok() { 2 } else { 1 };
        desk.server.handshakes(expected).await;
        let seen = desk.server.events();
        let handshakes = seen.iter().filter(|event| matches!(event, https::Event::Handshake(_))).count();
        assert_eq!(handshakes, expected, "{seen:?}");
        assert!(desk.server.requests().is_empty());
    }
}

#[tokio::test]
async fn files_that_are_replaced_are_used_without_a_restart() {
    let (old, next) = (Ca::new("old"), Ca::new("next"));
    let desk = Desk::new(&[&old], next.server(LONG), 3).await;
    let client = desk.client(LONG_NOW);
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Err(NOT_OURS.to_owned()));
    desk.write("ca.pem", &[old.pem(), next.pem()].concat());
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    // The open connection belongs to the old token, so the client opens a new one for the new token.
    desk.write("token", "another-token-0123456789");
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    let requests = desk.server.requests();
    assert!(requests[0].contains("Bearer the-first-token-0123456789"), "{}", requests[0]);
    assert!(requests[1].contains("Bearer another-token-0123456789"), "{}", requests[1]);
    // Nothing has changed, so the client reuses the connection.
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    let connections = desk.server.events().iter().filter(|event| matches!(event, https::Event::Handshake(_))).count();
    assert_eq!(connections, 2);
    desk.server.finish();
}

#[tokio::test]
async fn files_that_do_not_fit_stay_unused_and_are_told() {
    let ca = Ca::new("ca");
    let desk = Desk::new(&[&ca], ca.server(LONG), 3).await;
    let client = desk.client(LONG_NOW);
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    assert_eq!(warnings(&client), Vec::<String>::new());
    desk.write("ca.pem", "half a file");
    desk.write("token", "a-token-that-comes-too-early");
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    let attention = said(&client);
    assert!(
        attention.contains("changed files cannot be used") && attention.contains("it holds no certificate"),
        "{attention}"
    );
    assert!(!attention.contains("too-early"), "{attention}");
    desk.write("ca.pem", ca.pem());
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    assert_eq!(warnings(&client), Vec::<String>::new());
    let requests = desk.server.requests();
    assert!(requests[1].contains("the-first-token") && requests[2].contains("too-early"), "{requests:?}");
    desk.server.finish();
}

// ---- The agent's certificate

#[tokio::test]
async fn a_gateway_that_asks_for_a_certificate_gets_ours() {
    for versions in [&[&version::TLS13][..], &[&version::TLS12]] {
        let (ca, clients, strangers) = (Ca::new("ca"), Ca::new("clients"), Ca::new("strangers"));
        let asking = || ca.server_asking(LONG, &clients, versions);

        let desk = Desk::new(&[&ca], asking(), 2).await;
        let probed = desk.client(LONG_NOW).probe().await.unwrap_err().to_string();
        let without = desk.client(LONG_NOW).warm().await.unwrap_err().to_string();
        // TLS 1.2 has no alert for a missing certificate.
        let tls12 = versions[0] == &version::TLS12;
        for why in [probed, without] {
            assert!(why.starts_with("the gateway asks for a client certificate") || tls12, "{why}");
        }

        desk.our_certificate(&clients);
        assert_eq!(
            desk.client_with(LONG_NOW, &|gateway| desk.ours(gateway)).warm().await.map_err(|fault| fault.to_string()),
            Ok(())
        );

        desk.our_certificate(&strangers);
        let refused = desk.client_with(LONG_NOW, &|gateway| desk.ours(gateway)).warm().await.unwrap_err().to_string();
        assert!(refused.starts_with("the gateway refuses the terminal's certificate"), "{refused}");
    }
}

#[tokio::test]
async fn certificate_and_key_are_replaced_together() {
    let (ca, clients) = (Ca::new("ca"), Ca::new("clients"));
    let desk = Desk::new(&[&ca], ca.server_asking(LONG, &clients, &[&version::TLS13]), 3).await;
    desk.our_certificate(&clients);
    let client = desk.client_with(LONG_NOW, &|gateway| desk.ours(gateway));
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    let (certificate, key) = clients.client();
    desk.write("our.pem", &certificate);
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()), "the earlier pair serves");
    let attention = said(&client);
    assert!(attention.contains("the key does not belong to the certificate"), "{attention}");
    desk.write("our-key.pem", &key);
    assert_eq!(warnings(&client), Vec::<String>::new());
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
}

#[tokio::test]
async fn a_certificate_of_ours_that_cannot_be_used_says_what_to_do() {
    let ca = Ca::new("ca");
    let desk = Desk::new(&[&ca], ca.server(LONG), 0).await;
    desk.our_certificate(&ca);
    let error = |change: &dyn Fn(&mut config::Gateway)| {
        let gateway = desk.gateway(&|gateway| {
            desk.ours(gateway);
            change(gateway);
        });
        Client::new(&gateway, &terminal().point_of_sale(), Token::load(&gateway).unwrap(), LONG_NOW)
            .err()
            .unwrap()
            .to_string()
    };
    let none = error(&|gateway| gateway.client_key_file = None);
    assert!(none.contains("exactly one of client-key-file and client-key-credential"), "{none}");
    let no_systemd = error(&|gateway| {
        gateway.client_key_file = None;
        gateway.client_key_credential = Some("gateway-key".to_owned());
    });
    assert!(no_systemd.contains("add LoadCredential="), "{no_systemd}");
    fs::set_permissions(desk.path("our-key.pem"), fs::Permissions::from_mode(0o640)).unwrap();
    let open = error(&|_| {});
    assert!(open.contains("run: chmod 0600"), "{open}");
    let (_, key) = ca.client();
    desk.write("our-key.pem", &key);
    fs::set_permissions(desk.path("our-key.pem"), fs::Permissions::from_mode(0o600)).unwrap();
    let other = error(&|_| {});
    assert!(other.contains("replace the certificate and its key together"), "{other}");
    let body = key.lines().nth(1).unwrap();
    assert!(![none, no_systemd, open, other].iter().any(|text| text.contains(body)), "a key is shown");
}

// ---- Pins

#[tokio::test]
async fn a_pinned_ca_must_have_signed_and_not_only_be_shown() {
    let root = Ca::new("root");
    let (ours, theirs) = (root.intermediate("ours"), root.intermediate("theirs"));
    let (root_pin, ours_pin, theirs_pin) = (pin(&root), pin(&ours), pin(&theirs));
    // The pins, the signer, the shown certificates, and whether the client accepts them.
    for (pins, signer, shown, believed) in [
        (vec![&root_pin], &ours, vec![&ours], true),
        (vec![&ours_pin], &ours, vec![&ours], true),
        (vec![&theirs_pin, &ours_pin], &ours, vec![&ours], true),
        (vec![&theirs_pin], &ours, vec![&ours], false),
        // Anyone can show a certificate without having its key.
        (vec![&ours_pin], &theirs, vec![&theirs, &ours], false),
        (vec![&ours_pin], &theirs, vec![&ours, &theirs], false),
    ] {
        let desk = Desk::new(&[&root], signer.server_showing(LONG, &shown), 1).await;
        let client =
            desk.client_with(LONG_NOW, &|gateway| gateway.ca_pins = pins.iter().map(|pin| (*pin).clone()).collect());
        let expected = if believed { Ok(()) } else { Err(NO_PIN.to_owned()) };
        assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), expected, "{pins:?} {}", signer.name);
    }
}

/// Checks a certificate made with `openssl req -x509`. The expected values come from
/// `openssl x509 -noout -subject -nameopt RFC2253 -enddate` and `openssl x509 -pubkey | openssl pkey -pubin -outform
/// der | openssl dgst -sha256 -binary | base64`.
#[test]
fn a_certificate_is_read_as_openssl_reads_it() {
    let pem = "-----BEGIN CERTIFICATE-----
MIIB1TCCAXugAwIBAgIUfCdtqwO4KjxZCmce2rbcR2T9trUwCgYIKoZIzj0EAwIw
QDELMAkGA1UEBhMCREUxFTATBgNVBAoMDEV4YW1wbGUgQmFuazEaMBgGA1UEAwwR
RXhhbXBsZSBSb290IENBIDEwHhcNMjYxMTIxMTMyNTM4WhcNMzYxMTE4MTMyNTM4
WjBAMQswCQYDVQQGEwJERTEVMBMGA1UECgwMRXhhbXBsZSBCYW5rMRowGAYDVQQD
DBFFeGFtcGxlIFJvb3QgQ0EgMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLh/
ws0dSFmEhvi22M130dWkudfVWC6rBw3nhhClSFE6uLG2cvEVse427HMEaEnBoXen
q6OyhZsMkipQM0d5oJijUzBRMB0GA1UdDgQWBBQhl4A9Ty6BuLZX0pvY2Xka6MKH
0jAfBgNVHSMEGDAWgBQhl4A9Ty6BuLZX0pvY2Xka6MKH0jAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCIGPdkSlGvSA8GXWilpRv+Ljr7MaZ0dKs70Oc
68CelQFyAiEA0bcM4TsvOL1mSQsntlRyckFH5NpwjDjNjFVtAu6vfrY=
-----END CERTIFICATE-----";
    let certificate = Certificate::read(&CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    assert_eq!(certificate.subject, "CN=Example Root CA 1,O=Example Bank,C=DE");
    assert_eq!(certificate.issuer, certificate.subject);
    assert_eq!(certificate.not_after, 2_110_627_538);
    assert_eq!(certificate.pin, "sha256/rjyarKrZ0u/p2UlV4J+hptgllUYLaUfczG/toUdHw2Q=");
}

// ---- Clocks

#[tokio::test]
async fn a_board_that_booted_in_1970_refuses_only_what_cannot_be_valid_any_more() {
    let known = |year| CertificateClock::new(move || Time::Known(january(year)));
    let at_least = |year| CertificateClock::new(move || Time::AtLeast(january(year)));
    for (what, clock, valid, expected) in [
        ("a clock that is right", known(2030), (2025, 2035), Ok(())),
        ("a clock that is right, too early", known(2020), (2025, 2035), Err(NOT_YET)),
        ("a clock that is right, too late", known(2040), (2025, 2035), Err(EXPIRED)),
        ("the floor inside of the validity", at_least(2030), (2025, 2035), Ok(())),
        // The gateway's certificate is newer than the program and the last sale, so it may already be valid.
        ("the floor before the validity", at_least(2020), (2025, 2035), Ok(())),
        // At any possible time the certificate has expired.
        ("the floor after the validity", at_least(2040), (2025, 2035), Err(EXPIRED)),
        ("the system's clock before the floor", CertificateClock::from(january(2100)), (2095, 2105), Ok(())),
        ("the system's clock before the floor", CertificateClock::from(january(2100)), (2090, 2095), Err(EXPIRED)),
        ("the system's clock, which is right", CertificateClock::from(january(2020)), (2090, 2095), Err(NOT_YET)),
    ] {
        let ca = Ca::new("ca");
        let desk = Desk::new(&[&ca], ca.server(valid), 1).await;
        let warm = desk.client(clock).warm().await.map_err(|fault| fault.to_string());
        assert_eq!(warm, expected.map_err(str::to_owned), "{what}");
    }
}

#[tokio::test]
async fn without_a_clock_every_certificate_of_the_chain_must_be_valid_at_one_time() {
    let root = Ca::new("root");
    // The leaf expires before its CA becomes valid, so no time suits both.
    for (ca, leaf, expected) in [
        ((2030, 2060), (2025, 2050), Ok(())),
        ((2025, 2060), (2030, 2050), Ok(())),
        ((2040, 2060), (2025, 2035), Err(EXPIRED.to_owned())),
    ] {
        let between = root.intermediate_valid("between", ca);
        let desk = Desk::new(&[&root], between.server_showing(leaf, &[&between]), 1).await;
        let client = desk.client(CertificateClock::new(|| Time::AtLeast(january(2020))));
        assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), expected, "{ca:?} {leaf:?}");
    }
}

#[tokio::test]
async fn a_clock_that_is_set_later_is_heeded_at_the_next_handshake() {
    let ca = Ca::new("ca");
    let desk = Desk::new(&[&ca], ca.server((2025, 2035)), 1).await;
    let year = Arc::new(AtomicU64::new(2040));
    let shown = Arc::clone(&year);
    let client = desk.client(CertificateClock::new(move || Time::Known(january(shown.load(Ordering::Relaxed)))));
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Err(EXPIRED.to_owned()));
    year.store(2030, Ordering::Relaxed);
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
}

// ---- Warnings

#[tokio::test]
async fn what_ends_soon_is_told_before_it_does() {
    let (old, next) = (Ca::valid("old", (2020, 2031)), Ca::valid("next", (2020, 2040)));
    let desk = Desk::new(&[&old], old.server((2025, 2030)), 1).await;
    // A time this many days before the first of January of a year.
    let before = |year, days: u64| {
        CertificateClock::new(move || Time::Known(january(year) - Duration::from_secs(days * 24 * 3600)))
    };

    let client = desk.client(before(2030, 20));
    assert_eq!(warnings(&client), Vec::<String>::new(), "the gateway has shown nothing yet");
    assert_eq!(client.warm().await.map_err(|fault| fault.to_string()), Ok(()));
    assert_eq!(
        warnings(&client),
        ["the gateway's certificate expires in 20 days (2030-01-01); tell the gateway's operator"]
    );
    let later = desk.client_with(before(2030, 20), &|gateway| gateway.expiry_warning_days = 20);
    assert_eq!(warnings(&later), Vec::<String>::new());

    let client = desk.client(before(2031, 5));
    let ca = "the last CA certificate from ca-file in [gateway] expires in 5 days (2031-01-01)";
    assert!(said(&client).starts_with(ca), "{:?}", warnings(&client));
    // Adding the next CA to the same file ends the warning.
    desk.write("ca.pem", &[old.pem(), next.pem()].concat());
    assert_eq!(warnings(&client), Vec::<String>::new());

    desk.our_certificate(&next);
    let client = desk.client_with(before(2039, 1), &|gateway| desk.ours(gateway));
    assert!(
        said(&client)
            .starts_with("the terminal's certificate, from client-certificate-file in [gateway], expires in 1 day")
    );
}

#[test]
fn the_settings_name_the_key_and_the_remedy() {
    let good = r#"
[terminal]
id = "4711"
merchant = ["Shop"]
currency = "EUR"
[reader]
protocol = "miura-mpi"
port = "/dev/null"
[gateway]
url = "https://gateway.example"
entity-id = "8ac7a4c97044c00601704a9b2a2b0c5f"
token-file = "/etc/token"
ca-file = "/etc/ca.pem"
"#;
    let check = |more: &str| {
        let config = config::parse(&format!("{good}{more}"), Path::new("config.toml")).unwrap();
        config.check_values().map_err(|fault| fault.to_string())
    };
    let pin = "sha256/rjyarKrZ0u/p2UlV4J+hptgllUYLaUfczG/toUdHw2Q=";
    let certificate = "client-certificate-file = \"/etc/our.pem\"\n";
    for more in [
        String::new(),
        format!("ca-pins = [\"{pin}\", \"{pin}\"]"),
        format!("{certificate}client-key-file = \"/etc/our-key.pem\""),
        format!("{certificate}client-key-credential = \"gateway-key\""),
        "expiry-warning-days = 1".to_owned(),
    ] {
        assert_eq!(check(&more), Ok(()), "{more}");
    }
    for (more, key, remedy) in [
        (certificate.to_owned(), "gateway.client-certificate-file", "or omit all of them"),
        ("client-key-file = \"/etc/our-key.pem\"".to_owned(), "gateway.client-certificate-file", "or omit all of them"),
        (
            format!("{certificate}client-key-file = \"/k\"\nclient-key-credential = \"k\""),
            "gateway.client-key-file",
            "omit one of them",
        ),
        (format!("{certificate}client-key-file = \"key.pem\""), "gateway.client-key-file", "begin the path with /"),
        (format!("{certificate}client-key-credential = \"../k\""), "gateway.client-key-credential", "gateway-key"),
        ("ca-pins = [\"sha1/AAAA\"]".to_owned(), "gateway.ca-pins", "pos-agent doctor"),
        (format!("ca-pins = [\"{}\"]", &pin[..40]), "gateway.ca-pins", "pos-agent doctor"),
        (format!("ca-pins = [{}]", format!("\"{pin}\",").repeat(17)), "gateway.ca-pins", "pos-agent doctor"),
        ("expiry-warning-days = 0".to_owned(), "gateway.expiry-warning-days", "omit the key"),
        ("expiry-warning-days = 366".to_owned(), "gateway.expiry-warning-days", "omit the key"),
    ] {
        let fault = check(&more).unwrap_err();
        assert!(fault.starts_with(&format!("{key}: ")) && fault.contains(remedy), "{more}: {fault}");
    }
}

// ---- The whole agent

#[tokio::test]
async fn the_status_warns_of_a_certificate_that_ends_soon() {
    let mut options = Options::default();
    options.gateway.certificate = pos_sim::gateway::Certificate::EndsIn(10);
    let mut counter = Counter::open_with(options).await;
    counter.sell("r-1", "12.34", "chip-pin", CardEntry::Insert).await;
    assert_eq!(counter::ended(&counter.until_ended("r-1").await), Some(OutcomeWord::Approved));
    let status = counter.until_status("the warning", |status| status.needs(Attention::GatewayCertificateEnds)).await;
    let warns = |one: &AttentionView| one.text.starts_with("the gateway's certificate expires in 10 days");
    assert!(status.ready && status.attention.iter().any(warns), "{status:?}");
    counter.stop_agent().await;
}

/// Checks that the reader's clock decides about certificates, as it does about receipts, if the board's clock cannot be
/// right. The journal's last record is two days ahead of the board's clock.
#[tokio::test]
async fn while_the_boards_clock_cannot_be_right_the_readers_judges_certificates() {
    for (reader_days, outcome) in [(2, OutcomeWord::Approved), (5, OutcomeWord::NotSent)] {
        let mut options = Options::default();
        // Both times are later than the last record. One is before the certificate's expiry, and the other is after it.
        options.gateway.certificate = pos_sim::gateway::Certificate::EndsIn(3);
        options.reader.clock = bcd_after_days(reader_days);
        let mut counter = Counter::closed(options).await;
        let journal = counter.shop.folder().join("journal.db");
        drop(pos_journal::Journal::open(&journal).unwrap());
        let unix_ms = (chrono::Local::now() + chrono::TimeDelta::days(2)).timestamp_millis();
        let row = "INSERT INTO step(id, sale, unix_ms, records) VALUES (1, 0, ?1, '[]')";
        rusqlite::Connection::open(&journal).unwrap().execute(row, [unix_ms]).unwrap();
        // No connection was opened before the reader's clock was known. Its certificate would have been checked without
        // that clock.
        counter.shop.gateway.set_offline(true).await.unwrap();
        counter.start_agent();
        counter.until_status("the reader", |status| status.reader.state == ReaderState::Ready).await;
        counter.shop.gateway.set_offline(false).await.unwrap();
        counter.sell("r-1", "12.34", "chip-pin", CardEntry::Insert).await;
        let view = counter.until_ended("r-1").await;
        assert_eq!(counter::ended(&view), Some(outcome), "{reader_days} days: {}", view.text);
        let status = counter
            .until_status("the gateway's state", |status| status.gateway.state != GatewayState::NotAskedYet)
            .await;
        let expired = status.gateway.state == GatewayState::CertificateExpired;
        assert_eq!(expired, outcome == OutcomeWord::NotSent, "{:?}", status.gateway);
        counter.stop_agent().await;
    }
}

/// Returns the local time this many days and one hour from now, in a reader's format.
fn bcd_after_days(days: i64) -> [u8; 6] {
    let text = (chrono::Local::now() + chrono::TimeDelta::hours(days * 24 + 1)).format("%y%m%d%H%M%S").to_string();
    hex::decode(text).unwrap().try_into().unwrap()
}

/// Returns the warnings as sentences.
fn warnings(client: &Client) -> Vec<String> {
    client.attention().into_iter().map(|(_, text)| text).collect()
}

fn said(client: &Client) -> String {
    warnings(client).concat()
}

// ---- The desk

const LONG: (i32, i32) = (2020, 2090);
const LONG_NOW: SystemTime = UNIX_EPOCH;

/// Returns the first of January of a year.
fn january(year: u64) -> SystemTime {
    let leap_days = (year - 1969) / 4 - u64::from(year > 2100);
    UNIX_EPOCH + Duration::from_secs(((year - 1970) * 365 + leap_days) * 24 * 3600)
}

#[test]
fn january_is_january() {
    for (year, unix_s) in [(1970, 0), (2021, 1_609_459_200), (2030, 1_893_456_000), (2105, 4_260_211_200)] {
        assert_eq!(january(year), UNIX_EPOCH + Duration::from_secs(unix_s), "{year}");
    }
}

/// A gateway, and a folder with the files for it.
struct Desk {
    folder: tempfile::TempDir,
    server: Server,
}

impl Desk {
    /// Opens a gateway that gives this many answers, and a folder with settings that trust these CAs.
    async fn new(trusted: &[&Ca], tls: ServerConfig, answers: usize) -> Self {
        let answer = || Act::Answer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_vec());
        let server = Server::start(tls, (0..answers).map(|_| answer()).collect()).await;
        let desk = Self { folder: tempfile::tempdir().unwrap(), server };
        desk.write("ca.pem", &trusted.iter().map(|ca| ca.pem()).collect::<String>());
        desk.write("token", "the-first-token-0123456789");
        fs::set_permissions(desk.path("token"), fs::Permissions::from_mode(0o600)).unwrap();
        desk
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join(file)
    }

    /// Writes a file as `install` does: a new file replaces the old one.
    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        let mode = fs::metadata(&path).map_or(0o644, |facts| facts.permissions().mode());
        let fresh = self.path("fresh");
        fs::write(&fresh, text).unwrap();
        fs::set_permissions(&fresh, fs::Permissions::from_mode(mode)).unwrap();
        fs::rename(fresh, path).unwrap();
    }

    fn our_certificate(&self, ca: &Ca) {
        let (certificate, key) = ca.client();
        self.write("our.pem", &certificate);
        self.write("our-key.pem", &key);
        fs::set_permissions(self.path("our-key.pem"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn ours(&self, gateway: &mut config::Gateway) {
        gateway.client_certificate_file = Some(self.path("our.pem"));
        gateway.client_key_file = Some(self.path("our-key.pem"));
    }

    fn gateway(&self, change: &dyn Fn(&mut config::Gateway)) -> config::Gateway {
        let path = |file: &str| toml_path(&self.path(file));
        let mut gateway: config::Gateway = toml::from_str(&format!(
            "url = \"https://127.0.0.1:{}\"\nentity-id = \"\"\ntoken-file = {}\nca-file = {}\nconnect-timeout-ms = 20000",
            self.server.address().port(),
            path("token"),
            path("ca.pem")
        ))
        .unwrap();
        // The warm-up sends a request. The request reveals a wrong token, and the alerts that a TLS 1.3 gateway sends
        // only after the handshake.
        gateway.assumptions.warm_path = Some("/".to_owned());
        change(&mut gateway);
        gateway
    }

    fn client(&self, clock: impl Into<CertificateClock>) -> Client {
        self.client_with(clock, &|_| {})
    }

    fn client_with(&self, clock: impl Into<CertificateClock>, change: &dyn Fn(&mut config::Gateway)) -> Client {
        let gateway = self.gateway(change);
        Client::new(&gateway, &terminal().point_of_sale(), Token::load(&gateway).unwrap(), clock).unwrap()
    }
}

fn toml_path(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

fn terminal() -> config::Terminal {
    toml::from_str("id = \"4711\"\nmerchant = [\"Shop\"]\ncurrency = \"EUR\"").unwrap()
}

fn pin(ca: &Ca) -> String {
    Certificate::read(&ca.der()).unwrap().pin
}

/// A certification authority.
struct Ca {
    name: &'static str,
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Ca {
    fn new(name: &'static str) -> Self {
        Self::valid(name, LONG)
    }

    fn valid(name: &'static str, valid: (i32, i32)) -> Self {
        let (params, key) = Self::params(name, valid);
        Self { name, pem: params.self_signed(&key).unwrap().pem(), issuer: Issuer::new(params, key) }
    }

    fn intermediate(&self, name: &'static str) -> Self {
        self.intermediate_valid(name, LONG)
    }

    fn intermediate_valid(&self, name: &'static str, valid: (i32, i32)) -> Self {
        let (params, key) = Self::params(name, valid);
        let pem = params.signed_by(&key, &self.issuer).unwrap().pem();
        Self { name, pem, issuer: Issuer::new(params, key) }
    }

    fn params(name: &str, (from, until): (i32, i32)) -> (CertificateParams, KeyPair) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        (params, KeyPair::generate().unwrap())
    }

    fn pem(&self) -> &str {
        &self.pem
    }

    fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()
    }

    fn leaf(&self, name: &str, (from, until): (i32, i32)) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// Returns a certificate for the terminal, valid until 2039, and its key.
    fn client(&self) -> (String, String) {
        let (certificate, key) = self.leaf("terminal.example", (2020, 2039));
        (certificate.pem(), key.serialize_pem())
    }

    fn server(&self, valid: (i32, i32)) -> ServerConfig {
        self.server_showing(valid, &[])
    }

    fn server_showing(&self, valid: (i32, i32), shown: &[&Self]) -> ServerConfig {
        self.build(valid, shown, None, &[&version::TLS13, &version::TLS12])
    }

    fn server_asking(
        &self,
        valid: (i32, i32),
        clients: &Self,
        versions: &[&'static tokio_rustls::rustls::SupportedProtocolVersion],
    ) -> ServerConfig {
        self.build(valid, &[], Some(clients), versions)
    }

    fn build(
        &self,
        valid: (i32, i32),
        shown: &[&Self],
        clients: Option<&Self>,
        versions: &[&'static tokio_rustls::rustls::SupportedProtocolVersion],
    ) -> ServerConfig {
        let (certificate, key) = self.leaf("127.0.0.1", valid);
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut chain = vec![certificate.der().clone()];
        chain.extend(shown.iter().map(|ca| ca.der()));
        let provider = Arc::new(crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions).unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                roots.add(clients.der()).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
                builder.with_client_cert_verifier(verifier)
            }
        };
        builder.with_single_cert(chain, key).unwrap()
    }
}
