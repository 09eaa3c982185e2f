//! An independent check of the status. The tests plant each fault in a simulated shop with the real program. The
//! status, the exit code, the table for people and the log all use the same word for it. Other tests check the requests
//! that are permitted at each time. No line of the log may contain words of the programming language.

use std::any::Any;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;

use crate::counter::till::program;
use crate::counter::{Counter, ended};
use pos_agent::till::{Attention, ClockState, GatewayState, PrinterState, ReaderState, SaleState, StatusView};
use pos_core::transaction::Record;
use pos_journal::Db;
use pos_sim::gateway::Certificate;
use pos_sim::printer::Sensors;
use pos_sim::reader::CardEntry::{Insert, Tap};
use pos_sim::reader::{Dukpt, Key, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use pos_terms::transaction::{OutcomeWord, SaleNumber};
use pos_test_kit::within;
use serde_json::{Value, json};

/// A value that keeps the fault active until it is dropped.
type Held = Box<dyn Any>;

/// A change that makes one part of the shop faulty.
type Wrong = fn(&mut Options);

/// The real program in a shop. It logs to a file.
struct Terminal {
    counter: Counter,
    /// The agent process, which ends when this value is dropped.
    _agent: tokio::process::Child,
    log: PathBuf,
}

impl Terminal {
    async fn start(options: Options, plant: fn(&Shop) -> Held) -> (Self, Held) {
        let counter = Counter::closed(options).await;
        let held = plant(&counter.shop);
        let log = counter.shop.folder().join("agent.log");
        let file = fs::File::create(&log).unwrap();
        let mut run = program(&["run", "--log", "debug", "--config", counter.shop.config().to_str().unwrap()]);
        let agent = run.stdout(Stdio::null()).stderr(file).spawn().unwrap();
        (Self { counter, _agent: agent, log }, held)
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Returns the exit code and the output of `pos-agent status`.
    async fn says(&self) -> (i32, String) {
        let output = within("the program", self.counter.verb(&["status"])).await.unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// Counts the log lines for a sale that ended because of a fault with this reason.
    fn warned(&self, reason: &str, reference: &str) -> usize {
        let log = self.log();
        let ends = log.lines().filter(|line| line.contains("the sale ended because of a fault of the terminal"));
        let told = |line: &&str| {
            line.contains(" WARN ")
                && line.contains(&format!("reason=\"{reason}\""))
                && line.contains(&format!("reference=\"{reference}\""))
                && line.contains("till=\"local\"")
        };
        ends.filter(told).count()
    }
}

/// A planted fault and the texts that it must cause.
struct Planted {
    what: &'static str,
    options: Wrong,
    plant: fn(&Shop) -> Held,
    /// The state of the part.
    stands: Stands,
    code: Attention,
    /// True if a sale can be tried.
    ready: bool,
    /// The reason that a sale then reports at its end, or `None` if the fault ends no sale.
    sale: Option<&'static str>,
}

/// The part and the word for its state.
#[derive(Clone, Copy, Debug)]
enum Stands {
    Reader(ReaderState),
    Gateway(GatewayState, &'static str),
    Printer(PrinterState),
    Clock(ClockState),
    /// A certificate that expires soon. The part still works.
    Soon,
}

impl Stands {
    fn is_so(self, status: &StatusView) -> bool {
        match self {
            Self::Reader(state) => status.reader.state == state,
            Self::Gateway(state, cause) => {
                status.gateway.state == state && status.gateway.cause.as_deref() == Some(cause)
            }
            Self::Printer(state) => status.printers[0].state == state,
            Self::Clock(state) => status.clock.state == state,
            Self::Soon => status.gateway.state == GatewayState::Answers,
        }
    }
}

const FINE: Wrong = |_| {};
const NOTHING: fn(&Shop) -> Held = |_| Box::new(());

#[rustfmt::skip]
const PLANTED: &[Planted] = &[
    Planted { what: "a refused token", options: FINE, plant: |shop| write(shop, "gateway-token", "an-old-token-0123456789"),
        stands: Stands::Gateway(GatewayState::RefusesToken, "token-refused"), code: Attention::GatewayRefusesToken, ready: false,
        sale: Some("gateway-refuses-token") },
    Planted { what: "another CA", options: |options| options.gateway.certificate = Certificate::OtherCa, plant: NOTHING,
        stands: Stands::Gateway(GatewayState::UntrustedCertificate, "ca-not-trusted"), code: Attention::GatewayUntrustedCertificate, ready: false,
        sale: Some("gateway-untrusted-certificate") },
    Planted { what: "an expired certificate", options: |options| options.gateway.certificate = Certificate::Expired, plant: NOTHING,
        stands: Stands::Gateway(GatewayState::CertificateExpired, "certificate-expired"), code: Attention::GatewayCertificateExpired, ready: false,
        sale: Some("gateway-certificate-expired") },
    Planted { what: "a certificate of another host", options: |options| options.gateway.certificate = Certificate::WrongName, plant: NOTHING,
        stands: Stands::Gateway(GatewayState::UntrustedCertificate, "certificate-of-another-host"), code: Attention::GatewayUntrustedCertificate,
        ready: false, sale: Some("gateway-untrusted-certificate") },
    Planted { what: "a host that is not known", options: FINE, plant: |shop| url(shop, "https://gateway.invalid/"),
        stands: Stands::Gateway(GatewayState::Unreachable, "name-not-resolved"), code: Attention::GatewayUnreachable, ready: true,
        sale: Some("gateway-unreachable") },
    Planted { what: "a port where nobody listens", options: FINE, plant: |shop| url(shop, "https://localhost:1/"),
        stands: Stands::Gateway(GatewayState::Unreachable, "connection-refused"), code: Attention::GatewayUnreachable, ready: true,
        sale: Some("gateway-unreachable") },
    Planted { what: "a gateway that is silent", options: FINE, plant: silent_gateway,
        stands: Stands::Gateway(GatewayState::Unreachable, "connect-timed-out"), code: Attention::GatewayUnreachable, ready: true,
        sale: Some("gateway-unreachable") },
    Planted { what: "a gateway that speaks no TLS", options: FINE, plant: plain_gateway,
        stands: Stands::Gateway(GatewayState::NotUsable, "tls-failed"), code: Attention::GatewayNotUsable, ready: false,
        sale: Some("gateway-not-usable") },
    Planted { what: "a gateway that wants a certificate of ours", options: wants_a_certificate, plant: NOTHING,
        stands: Stands::Gateway(GatewayState::OwnCertificateRefused, "own-certificate-missing"), code: Attention::GatewayOwnCertificateRefused,
        ready: false, sale: None },
    Planted { what: "a certificate that ends soon", options: |options| options.gateway.certificate = Certificate::EndsIn(10), plant: NOTHING,
        stands: Stands::Soon, code: Attention::GatewayCertificateEnds, ready: true, sale: None },
    Planted { what: "no reader", options: FINE, plant: |shop| set(shop, "reader", "port", "/dev/serial/by-id/usb-none"),
        stands: Stands::Reader(ReaderState::Absent), code: Attention::ReaderAbsent, ready: false, sale: None },
    Planted { what: "another device", options: |options| options.reader.wrong_device = true, plant: NOTHING,
        stands: Stands::Reader(ReaderState::OtherDevice), code: Attention::ReaderOtherDevice, ready: false, sale: None },
    Planted { what: "a reader without keys", options: |options| options.reader.secured = false, plant: NOTHING,
        stands: Stands::Reader(ReaderState::NoKeys), code: Attention::ReaderNoKeys, ready: false, sale: None },
    Planted { what: "a reader that is not listed", options: FINE, plant: |shop| edit(shop, "[reader]\n", "[reader]\nserials = [\"30003639\"]\n"),
        stands: Stands::Reader(ReaderState::NotListed), code: Attention::ReaderNotListed, ready: false, sale: None },
    Planted { what: "no printer", options: FINE, plant: |shop| set(shop, "printer", "port", "tcp://127.0.0.1:1"),
        stands: Stands::Printer(PrinterState::Absent), code: Attention::PrinterAbsent, ready: true, sale: None },
    Planted { what: "a clock that is behind the journal", options: FINE, plant: a_record_of_tomorrow,
        stands: Stands::Clock(ClockState::Untrusted), code: Attention::ClockUntrusted, ready: false, sale: None },
];

#[tokio::test]
async fn every_planted_fault_has_one_word_in_the_status_and_the_log() {
    for planted in PLANTED {
        let Planted { what, stands, code, ready, .. } = planted;
        let mut options = Options::default();
        options.reader.removes_card = true;
        (planted.options)(&mut options);
        let (terminal, held) = Terminal::start(options, planted.plant).await;
        let counter = &terminal.counter;
        let so = |status: &StatusView| stands.is_so(status) && status.needs(*code);
        let wanted = format!("{what}: {stands:?}, {code:?}");
        let status = counter.until_status(&wanted, so).await;
        let away = matches!(stands, Stands::Reader(_));
        if !away {
            counter.until_free().await;
        }
        // Each cause is reported once.
        let status = if away { status } else { counter.until_status(&wanted, so).await };
        assert_eq!((status.ready, status.busy), (*ready, false), "{what}: {status:?}");
        let (exit, said) = terminal.says().await;
        assert_eq!(exit, if *ready { 0 } else { 69 }, "{what}: {said}");
        let line = said.lines().find(|line| line.contains(&format!("{}: ", code.as_str())));
        assert!(line.is_some(), "{what}: {said}");
        if let Some(reason) = planted.sale {
            counter.sell("R1", "12.34", "tap", Tap).await;
            let view = counter.until_ended("R1").await;
            assert_eq!(ended(&view), Some(OutcomeWord::NotSent), "{what}: {}", view.text);
            assert_eq!(terminal.warned(reason, "R1"), 1, "{what}: {}", terminal.log());
        }
        speaks_to_people(what, &terminal.log());
        drop(held);
    }
}

/// Checks that a text for people contains no word of the programming language.
fn speaks_to_people(what: &str, log: &str) {
    for line in log.lines() {
        for word in ["Some(", "None", "Ok(", "Err(", "{ ", "::"] {
            assert!(!line.contains(word), "{what}: {word} in: {line}");
        }
    }
}

#[tokio::test]
async fn what_was_mended_is_ready_without_a_restart_and_without_a_sale() {
    let plant: fn(&Shop) -> Held = |shop| write(shop, "gateway-token", "an-old-token-0123456789");
    let (terminal, _held) = Terminal::start(Options::default(), plant).await;
    let counter = &terminal.counter;
    counter.until_status("refused", |status| status.needs(Attention::GatewayRefusesToken)).await;
    write(&counter.shop, "gateway-token", &Options::default().gateway.token);
    let taken = |status: &StatusView| status.ready && status.gateway.state == GatewayState::Answers;
    let status = counter.until_status("taken", taken).await;
    assert!(status.attention.is_empty(), "{status:?}");

    // The network fails, and the agent retries automatically.
    counter.shop.gateway.set_offline(true).await.unwrap();
    counter.sell("R1", "12.34", "tap", Tap).await;
    counter.until_ended("R1").await;
    let away = counter.until_status("away", |status| status.needs(Attention::GatewayUnreachable)).await;
    assert!(away.ready, "a sale may be tried: {away:?}");
    assert_eq!(terminal.warned("gateway-unreachable", "R1"), 1, "{}", terminal.log());
    counter.shop.gateway.set_offline(false).await.unwrap();
    counter.until_status("back", |status| status.gateway.state == GatewayState::Answers).await;
}

#[tokio::test]
async fn a_terminal_that_serves_a_sale_is_ready_and_busy() {
    let (terminal, _held) = Terminal::start(Options::default(), NOTHING).await;
    let counter = &terminal.counter;
    let answers = |status: &StatusView| status.ready && status.gateway.state == GatewayState::Answers;
    counter.until_status("ready, and the gateway answers", answers).await;
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    let status = counter.status().await;
    assert_eq!((status.ready, status.busy, status.attention.len()), (true, true, 0), "{status:?}");
    assert_eq!(status.current.unwrap().reference, "R1");
    let (exit, said) = terminal.says().await;
    assert!(exit == 0 && said.contains(": ready, busy"), "{exit} {said}");
    let (_, wire) = counter.get("/v1/status").await;
    assert_eq!((&wire["reader"]["state"], &wire["gateway"]["state"]), (&json!("ready"), &json!("answers")), "{wire}");
}

#[tokio::test]
async fn every_look_of_a_printer_has_its_word() {
    let (terminal, _held) = Terminal::start(Options::default(), NOTHING).await;
    let counter = &terminal.counter;
    counter.until_ready().await;
    let fine = Sensors::default();
    for (sensors, state, code) in [
        (Sensors { cover_open: true, ..fine }, PrinterState::CoverOpen, Attention::PrinterCoverOpen),
        (Sensors { cutter_jammed: true, ..fine }, PrinterState::PaperJam, Attention::PrinterPaperJam),
        (Sensors { paper_out: true, ..fine }, PrinterState::NoPaper, Attention::PrinterNoPaper),
        (Sensors { paper_near_end: true, ..fine }, PrinterState::PaperLow, Attention::PrinterPaperLow),
    ] {
        counter.shop.printer.set_sensors(sensors);
        let reference = state.as_str();
        counter.sell(reference, "12.34", "tap", Tap).await;
        counter.until_ended(reference).await;
        let is_so = |status: &StatusView| status.printers[0].state == state && status.needs(code);
        let status = counter.until_status(reference, is_so).await;
        assert!(status.ready, "no sale waits for it: {status:?}");
        counter.until_ready().await;
    }
}

#[tokio::test]
async fn a_reader_that_goes_away_or_signs_another_amount_is_a_fault_in_the_log_and_a_cancel_is_none() {
    let mut options = Options::default();
    options.reader.removes_card = true;
    let (terminal, _held) = Terminal::start(options, NOTHING).await;
    let counter = &terminal.counter;
    counter.until_ready().await;
    assert_eq!(counter.begin("by-hand", "12.34").await.0, 201);
    within("armed", counter.shop.reader.waits_for(WaitsFor::Card)).await;
    counter.shop.reader.key(Key::Cancel);
    assert_eq!(ended(&counter.until_ended("by-hand").await), Some(OutcomeWord::Cancelled));
    counter.until_ready().await;
    counter.sell("declined", "10.51", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("declined").await), Some(OutcomeWord::Declined));
    counter.until_ready().await;
    assert_eq!(counter.begin("unplugged", "12.34").await.0, 201);
    within("armed", counter.shop.reader.waits_for(WaitsFor::Card)).await;
    counter.shop.reader.run_script("after 0ms: reboot 1ms".parse().unwrap());
    counter.until_ended("unplugged").await;
    counter.until_ready().await;
    let log = terminal.log();
    assert_eq!(log.matches("a fault of the terminal").count(), 1, "{log}");
    assert_eq!(terminal.warned("reader-restarting", "unplugged"), 1, "{log}");
    speaks_to_people("sales", &log);
}

#[tokio::test]
async fn a_reader_that_a_sale_finds_wanting_has_its_word_in_the_status_and_the_log() {
    let rows: [(Wrong, ReaderState, Attention); 2] = [
        (|options| options.reader.dukpt = Dukpt::TDES.with_keys_left(1), ReaderState::NoKeys, Attention::ReaderNoKeys),
        (
            |options| (options.reader.secured, options.reader.claims_card_key) = (false, true),
            ReaderState::ClearData,
            Attention::ReaderClearData,
        ),
    ];
    for (wrong, state, code) in rows {
        let mut options = Options::default();
        options.reader.removes_card = true;
        wrong(&mut options);
        let (terminal, _held) = Terminal::start(options, NOTHING).await;
        let counter = &terminal.counter;
        counter.until_ready().await;
        counter.sell("R1", "12.34", "tap", Tap).await;
        counter.until_ended("R1").await;
        let found = |status: &StatusView| status.reader.state == state && status.needs(code);
        let status = counter.until_status(state.as_str(), found).await;
        assert!(!status.ready, "{status:?}");
        assert_eq!(terminal.warned(code.as_str(), "R1"), 1, "{}", terminal.log());
        speaks_to_people(state.as_str(), &terminal.log());
    }
}

#[tokio::test]
async fn a_deck_of_sales_and_faults_leaves_a_log_for_people() {
    let mut options = Options::default();
    options.reader.removes_card = true;
    options.reader.dukpt = Dukpt::TDES.with_keys_left(5000);
    let (terminal, _held) = Terminal::start(options, NOTHING).await;
    let counter = &terminal.counter;
    counter.until_ready().await;
    // Sales are approved, declined, partially approved, pending, throttled, answered with HTTP 500 or garbage,
    // redirected, or cut off.
    for cents in [34, 51, 60, 61, 63, 64, 66, 73, 78, 83] {
        for (name, entry) in [("tap", Tap), ("chip-no-cvm", Insert)] {
            let reference = format!("{name}-{cents}");
            counter.sell(&reference, &format!("10.{cents}"), name, entry).await;
            counter
                .until(&reference, "an outcome", |view| {
                    !matches!(view.state, SaleState::InProgress | SaleState::WaitingForCard)
                })
                .await;
            counter.until_free().await;
        }
    }
    let keys = counter.until_status("few keys", |status| status.needs(Attention::ReaderKeysLow)).await;
    assert!(keys.ready && keys.reader.keys_left.is_some(), "{keys:?}");
    assert!(keys.needs(Attention::SaleUnconfirmed), "{keys:?}");
    let named = keys.attention.iter().find(|one| one.code == Attention::SaleUnconfirmed).unwrap();
    assert!(named.sale.is_some() && named.till.as_deref() == Some("local"), "{named:?}");
    let log = terminal.log();
    assert!(log.contains(" DEBUG "), "the log is not a full one");
    speaks_to_people("the deck", &log);
}

// ---- A till's requests and their times

fn error(answer: &(u16, Value)) -> (u16, &str, &str) {
    let (status, body) = answer;
    let word = |key: &str| body[key].as_str().unwrap_or_default();
    (*status, word("code"), word("detail"))
}

#[tokio::test]
async fn a_signature_that_nobody_waits_for_is_refused_and_the_same_answer_twice_is_one() {
    let mut options = Options::default();
    options.reader.removes_card = true;
    let counter = Counter::open_with(options).await;
    let answer = async |reference: &str, accepted: bool| counter.answer_signature(reference, accepted).await;
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    let early = answer("R1", true).await;
    let (status, code, said) = error(&early);
    assert_eq!((status, code), (409, "no-signature-awaited"), "{said}");
    assert!(said.contains("Waiting for a card"), "{said}");
    counter.present(card("chip-signature").unwrap(), Insert).await;
    let awaited = counter.until("R1", "its signature", |view| view.state == SaleState::AwaitingSignature).await;
    assert!(counter.status().await.needs(Attention::SignatureAwaited), "{awaited:?}");
    for _ in 0..2 {
        let (status, body) = answer("R1", true).await;
        assert_eq!((status, &body["outcome"]), (200, &json!("approved")), "{body}");
    }
    let late = answer("R1", false).await;
    let (status, code, said) = error(&late);
    assert_eq!((status, code), (409, "no-signature-awaited"), "{said}");
    assert!(said.contains("the signature has already been accepted: APPROVED 12.34"), "{said}");
    assert_eq!(counter.charged(), ["12.34 EUR"]);
    counter.until_ready().await;

    counter.sell("R2", "2.00", "chip-signature", Insert).await;
    counter.until("R2", "its signature", |view| view.state == SaleState::AwaitingSignature).await;
    for _ in 0..2 {
        assert_eq!(answer("R2", false).await.0, 200);
    }
    counter.until_ended("R2").await;
    assert_eq!(answer("R2", false).await.0, 200, "also when it has ended");
    assert_eq!(error(&answer("R2", true).await).0, 409);
    counter.until_ready().await;

    // This sale needs no signature. The agent knows that from the disk.
    counter.sell("R3", "3.00", "tap", Tap).await;
    counter.until_ended("R3").await;
    assert_eq!(error(&answer("R3", true).await).1, "no-signature-awaited");
}

#[tokio::test]
async fn a_running_sale_has_no_receipt_and_says_why() {
    let counter = Counter::open().await;
    assert_eq!(counter.begin("R1", "12.34").await.0, 201);
    for path in ["/v1/sales/R1/receipt?copy=customer", "/v1/sales/R1/receipt?copy=merchant"] {
        let answer = counter.get(path).await;
        let (status, code, said) = error(&answer);
        assert_eq!((status, code), (409, "no-receipt-yet"), "{said}");
        assert_eq!(said, "there is no receipt until the outcome is known: Waiting for a card to pay 12.34 EUR");
        assert_eq!(error(&counter.post(path).await).1, "no-receipt-yet", "nor is it printed");
    }
    counter.shop.gateway.throttle_next(1000);
    counter.present(card("tap").unwrap(), Tap).await;
    counter.until("R1", "asked", |view| view.state == SaleState::InProgress).await;
    let answer = counter.get("/v1/sales/R1/receipt").await;
    assert!(error(&answer).2.starts_with("there is no receipt until the outcome is known: "), "{answer:?}");
    let output = within("the program", counter.verb(&["receipt", "R1"])).await.unwrap();
    assert_eq!(output.status.code(), Some(65), "{output:?}");
    counter.shop.gateway.throttle_next(0);
    counter.until_ended("R1").await;
    assert!(counter.receipt("R1", "customer").await.contains("APPROVED"));
}

#[tokio::test]
async fn while_one_sale_is_throttled_others_go_on_and_it_can_be_cancelled() {
    let counter = Counter::open().await;
    counter.sell("paid", "5.00", "tap", Tap).await;
    counter.until_ended("paid").await;
    counter.until_ready().await;
    let mut ears = counter.listen().await;
    counter.shop.gateway.throttle_next(1);
    counter.sell("R1", "12.34", "tap", Tap).await;
    let told = async {
        loop {
            let step = ears.next().await;
            if step.step == "throttled" {
                return step;
            }
        }
    };
    let step = within("that it is throttled", told).await;
    assert_eq!(step.reference, "R1");
    // While R1 waits for its retry, the agent sends a transaction without a card to the gateway.
    let refund = json!({"reference": "back", "kind": "refund", "of": "paid", "amount": "1.00"});
    let refunded = counter.done(refund).await;
    assert_eq!(ended(&refunded), Some(OutcomeWord::Approved), "{}", refunded.text);
    counter.until_ended("R1").await;
    counter.until_ready().await;

    counter.shop.gateway.throttle_next(1000);
    counter.sell("R2", "12.34", "tap", Tap).await;
    counter.until_status("throttled", |status| status.gateway.state == GatewayState::Throttles).await;
    assert!(counter.status().await.needs(Attention::GatewayThrottles));
    // One cancel request is always enough. Between two tries it takes effect immediately. During a try it takes effect
    // with the answer.
    assert_eq!(counter.post("/v1/sales/R2/cancel").await.0, 200);
    let view = counter.until_ended("R2").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Cancelled), "{}", view.text);
    assert!(counter.charged_for("R2").is_empty());
    counter.shop.gateway.throttle_next(0);
    counter.until_ready().await;
}

#[tokio::test]
async fn a_request_that_the_gateway_finds_invalid_is_no_decline_and_stands_in_the_status() {
    let mut counter = Counter::closed(Options::default()).await;
    let _held = edit(&counter.shop, "entity-id = \"8ac7", "entity-id = \"0000");
    counter.start_agent();
    counter.until_free().await;
    assert!(!counter.status().await.needs(Attention::GatewayRefusesRequest));
    counter.sell("R1", "12.34", "tap", Tap).await;
    let view = counter.until_ended("R1").await;
    assert_eq!((ended(&view), view.reason.as_deref()), (Some(OutcomeWord::NotSent), Some("request-not-possible")));
    assert!(!view.text.contains("another card"), "{}", view.text);
    assert!(counter.status().await.needs(Attention::GatewayRefusesRequest));
    assert!(counter.charged_for("R1").is_empty());
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

fn write(shop: &Shop, file: &str, text: &str) -> Held {
    fs::write(shop.folder().join(file), text).unwrap();
    Box::new(())
}

/// Requires a certificate from an authority that has issued none to this agent.
fn wants_a_certificate(options: &mut Options) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    options.gateway.demand.client_ca = Some(authority.self_signed(&key).unwrap().pem());
}

/// Accepts connections and sends no bytes.
fn silent_gateway(shop: &Shop) -> Held {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    url(shop, &format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port()));
    edit(shop, "connect-timeout-ms = 5000", "connect-timeout-ms = 500");
    Box::new(listener)
}

/// Simulates a web server without TLS, as found at a wrong port.
fn plain_gateway(shop: &Shop) -> Held {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    url(shop, &format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port()));
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    Box::new(())
}

/// Writes a latest record that is two days ahead of the board's clock. The reader's clock is behind the record too.
fn a_record_of_tomorrow(shop: &Shop) -> Held {
    let now = i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let unix_ms = now + 172_800_000;
    let order = json!({
        "number": 1, "till": "local", "reference": "tomorrow", "amount": {"minor": 1234, "currency": "EUR"},
        "terminalId": "12345678", "merchantTransactionId": "12345678-1-00112233445566778899aabbccddeeff",
        "startedUnixMs": unix_ms, "localTime": "2027-01-15 09:00:00",
    });
    let started = Record::Started { order: serde_json::from_value(order).unwrap() };
    let (mut db, _) = Db::open(&shop.folder().join("journal.db")).unwrap();
    db.write(SaleNumber::new(1), 0, unix_ms, &[started]).unwrap();
    Box::new(())
}
