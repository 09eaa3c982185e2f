//! Tests of tills that speak Caisse-AP over IP, with the real programs. Each test acts as a till on a real connection
//! and interrupts it. The test compares the till's answer with the gateway's ledger and the paper.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pos_protocols::caisse_ap::answer::{Answer, Paid};
use pos_protocols::caisse_ap::failure::Failure;
use pos_sim::gateway::{Kind, State};
use pos_sim::printer::Sensors;
use pos_sim::reader::{CardEntry, Key, WaitsFor, card};
use pos_sim::shop::Shop;
use pos_test_kit::free_port;
use reqwest::Client;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::nexo::is_free;
use crate::process::Running;
use crate::zvt::{begun, entries, front_user, let_the_front_in, until};
use crate::{PATIENCE, json_of, shop_changed, tap};

/// Starts a shop whose agent lets the front act for the page and one till.
async fn shop() -> (Shop, tokio::sync::oneshot::Sender<()>) {
    shop_that("card-timeout-s = 60").await
}

/// Starts such a shop with these settings of the terminal's waits.
async fn shop_that(setting: &str) -> (Shop, tokio::sync::oneshot::Sender<()>) {
    let uid = front_user().0;
    let peer = format!("[[till.peer]]\nuid = {uid}\ntills = [\"local\", \"caisse-1\"]\n\n[journal]");
    let changes = [("[journal]", peer.as_str()), ("card-timeout-s = 60", setting)];
    shop_changed(changes.map(|(old, new)| (old.to_owned(), new.to_owned())).to_vec()).await
}

pub(crate) fn config(port: u16, more: &str) -> String {
    format!("[[caisse-ap]]\ntill = \"caisse-1\"\nlisten = \"127.0.0.1:{port}\"\n{more}\n")
}

pub(crate) async fn front(shop: &Shop, port: u16, more: &str) -> Running {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    let_the_front_in(shop, &[]).await;
    begun(folder, &config(port, more)).await
}

fn request(amount: u64) -> String {
    let amount = amount.to_string();
    format!("CZ0040300CJ012012345678901CA00201CE003978CD0010CB{:03}{amount}", amount.len())
}

/// A till with an open connection. It reads once, as the module does.
pub(crate) struct Till(TcpStream);

impl Till {
    pub(crate) async fn asks(port: u16, bytes: &[u8]) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        Self(stream)
    }

    async fn pays(port: u16, amount: u64) -> Self {
        Self::asks(port, request(amount).as_bytes()).await
    }

    /// Returns the answer, or `None` if the outcome is not known.
    pub(crate) async fn hears(mut self) -> Option<Result<Paid, Failure>> {
        let mut bytes = [0; 1024];
        let read = timeout(PATIENCE, self.0.read(&mut bytes)).await.expect("an answer or an end");
        let count = read.ok().filter(|count| *count > 0)?;
        assert!(count < 1024 && bytes[..count].is_ascii());
        Some(Answer::read(&bytes[..count]).unwrap().result)
    }

    /// Breaks the connection, with a FIN or with a reset.
    fn breaks(self, resets: bool) {
        if resets {
            self.0.set_zero_linger().unwrap();
        }
    }
}

async fn waits_for_card(shop: &Shop) {
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
}

fn charged(shop: &Shop) -> usize {
    shop.gateway.ledger().all_charged().count()
}

/// Returns the number of customer receipts that show an approved payment.
fn receipts_of_paid(shop: &Shop) -> usize {
    shop.printer.receipts().iter().filter(|it| it.contains("CUSTOMER COPY") && it.contains("APPROVED")).count()
}

/// Asks the agent itself for the till's latest transaction.
pub(crate) async fn latest(shop: &Shop) -> Value {
    let agent = Client::builder().unix_socket(shop.socket()).no_proxy().build().unwrap();
    json_of(agent.get("http://agent/v1/latest?till=caisse-1").send().await.unwrap()).await
}

/// Waits until the till's latest transaction has ended, and returns its outcome.
async fn outcome(shop: &Shop) -> String {
    let ended = async {
        loop {
            let sale = latest(shop).await;
            if let Some(outcome) = sale["outcome"].as_str().filter(|_| sale["state"] == "ended") {
                return outcome.to_owned();
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, ended).await.expect("it ends")
}

#[tokio::test]
async fn a_till_is_paid_by_tap_and_by_chip_and_the_terminal_prints() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    let written = front.folder.path().join("caisse.log");
    let trace = front.begin_verb(&["trace", written.to_str().unwrap()]);
    for (amount, name, entry, application, code) in
        [(1250, "tap", CardEntry::Tap, "00B", "2"), (5, "chip-no-cvm", CardEntry::Insert, "001", "1")]
    {
        let till = Till::pays(port, amount).await;
        waits_for_card(&shop).await;
        shop.reader.present(card(name).unwrap(), entry);
        let paid = till.hears().await.unwrap().unwrap();
        assert_eq!((paid.application.as_deref(), paid.entry.as_deref()), (Some(application), Some(code)), "{paid:?}");
        assert!(paid.card.as_deref().unwrap().starts_with("************"), "{paid:?}");
        assert!(paid.approval.is_some() && paid.application_id.is_some(), "{paid:?}");
        // The terminal records only now that the till has its answer.
        assert_eq!(outcome(&shop).await, "approved");
        shop.reader.remove();
    }
    until("two receipts", || receipts_of_paid(&shop) == 2).await;
    assert_eq!((charged(&shop), entries(&shop, Kind::Reversal, State::Approved)), (2, 0));
    let seen = String::from_utf8(front.verb(&["status"]).stdout).unwrap();
    assert!(seen.contains("caisse-ap") && seen.contains("\"lastCommand\": \"debit\""), "{seen}");
    drop(trace);
}

#[tokio::test]
async fn a_technician_reads_what_was_said_without_a_card_number() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    let written = front.folder.path().join("caisse.log");
    let trace = front.begin_verb(&["trace", written.to_str().unwrap()]);
    let said = || std::fs::read_to_string(&written).unwrap_or_default();
    until("the trace has begun", || {
        drop(std::net::TcpStream::connect(("127.0.0.1", port)).map(|mut it| std::io::Write::write_all(&mut it, b"ZZ")));
        said().contains("till says")
    })
    .await;
    let till = Till::pays(port, 1250).await;
    tap(&shop).await;
    assert!(till.hears().await.unwrap().is_ok());
    until("the answer is in the trace", || said().contains("AE=10")).await;
    let said = said();
    assert!(said.contains("caisse-1 till says CZ=0300 CJ=012345678901 CA=01 CE=978 CD=0 CB=1250"), "{said}");
    assert!(said.contains("AA=…16") && !said.contains("****"), "{said}");
    drop(trace);
}

#[tokio::test]
async fn a_payment_that_is_not_made_has_its_reason_and_is_not_charged() {
    let (shop, _stop) = shop_that("card-timeout-s = 5").await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    // The bank declines.
    let till = Till::pays(port, 551).await;
    tap(&shop).await;
    assert_eq!(till.hears().await, Some(Err(Failure::Declined)));
    // The terminal tells the till before it tells the card.
    is_free(&front, &front.client()).await;
    // No card comes in time.
    assert_eq!(Till::pays(port, 1250).await.hears().await, Some(Err(Failure::TimeOut)));
    // The customer cancels at the reader.
    let till = Till::pays(port, 1250).await;
    waits_for_card(&shop).await;
    shop.reader.key(Key::Cancel);
    assert_eq!(till.hears().await, Some(Err(Failure::GivenUp)));
    // A person cancels at the terminal.
    let till = Till::pays(port, 1250).await;
    waits_for_card(&shop).await;
    let reference = latest(&shop).await["reference"].as_str().unwrap().to_owned();
    let agent = Client::builder().unix_socket(shop.socket()).no_proxy().build().unwrap();
    let cancel = agent.post(format!("http://agent/v1/sales/{reference}/cancel?till=caisse-1"));
    assert_eq!(cancel.header("content-type", "application/json").body("{}").send().await.unwrap().status(), 200);
    assert_eq!(till.hears().await, Some(Err(Failure::Operator)));
    assert_eq!(charged(&shop), 0);
}

#[tokio::test]
async fn a_till_that_breaks_the_line_before_or_during_the_banks_answer_is_not_charged() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    for resets in [false, true] {
        let till = Till::pays(port, 1250).await;
        waits_for_card(&shop).await;
        till.breaks(resets);
        assert_eq!(outcome(&shop).await, "cancelled", "before the card");
        // The bank has booked the payment, and its answer is on its way.
        shop.gateway.set_delay(Duration::from_secs(2));
        let booked = entries(&shop, Kind::Debit, State::Approved);
        let till = Till::pays(port, 1210).await;
        tap(&shop).await;
        until("the bank was asked", || entries(&shop, Kind::Debit, State::Approved) > booked).await;
        till.breaks(resets);
        assert_eq!(outcome(&shop).await, "reversed", "during the bank's answer");
        shop.gateway.set_delay(Duration::ZERO);
        assert_eq!((charged(&shop), receipts_of_paid(&shop)), (0, 0), "{:?}", shop.printer.receipts());
    }
}

#[tokio::test]
async fn a_till_that_is_gone_at_the_approval_is_not_charged_for_or_keeps_it_as_it_is_set() {
    for (more, kept) in [("unacknowledged = \"reverse\"", false), ("unacknowledged = \"keep\"", true)] {
        let (shop, _stop) = shop().await;
        let port = free_port();
        let _front = front(&shop, port, more).await;
        shop.gateway.set_delay(Duration::from_secs(1));
        let till = Till::pays(port, 1250).await;
        tap(&shop).await;
        until("the bank was asked", || entries(&shop, Kind::Debit, State::Approved) == 1).await;
        till.breaks(true);
        shop.gateway.set_delay(Duration::ZERO);
        assert_eq!(outcome(&shop).await, if kept { "approved" } else { "reversed" });
        assert_eq!(charged(&shop), usize::from(kept));
    }
}

/// The till's system acknowledges the answer, so the payment stands, whatever the till's program does.
#[tokio::test]
async fn a_till_that_never_reads_or_breaks_the_line_after_the_answer_has_paid() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let till = Till::pays(port, 1250).await;
    tap(&shop).await;
    assert_eq!(outcome(&shop).await, "approved");
    // The answer still waits to be read.
    assert!(till.hears().await.unwrap().is_ok());
    for resets in [false, true] {
        let till = Till::pays(port, 1250).await;
        tap(&shop).await;
        till.0.readable().await.unwrap();
        assert_eq!(outcome(&shop).await, "approved");
        till.breaks(resets);
    }
    assert_eq!((charged(&shop), entries(&shop, Kind::Reversal, State::Approved)), (3, 0));
}

#[tokio::test]
async fn a_till_that_lost_its_answer_and_repeats_its_request_has_paid_once() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    shop.gateway.set_delay(Duration::from_secs(4));
    let till = Till::pays(port, 1250).await;
    tap(&shop).await;
    until("the bank was asked", || entries(&shop, Kind::Debit, State::Approved) == 1).await;
    till.breaks(false);
    // The same bytes at once: the bank has not answered the first payment yet, so the reader is busy.
    assert_eq!(Till::pays(port, 1250).await.hears().await, Some(Err(Failure::GivenUp)));
    shop.gateway.set_delay(Duration::ZERO);
    assert_eq!(outcome(&shop).await, "reversed");
    let till = Till::pays(port, 1250).await;
    tap(&shop).await;
    assert!(till.hears().await.unwrap().is_ok());
    assert_eq!((charged(&shop), entries(&shop, Kind::Reversal, State::Approved)), (1, 1));
}

#[tokio::test]
async fn what_is_not_a_good_request_begins_nothing_and_says_why() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    let with = |old: &str, new: &str| request(1250).replace(old, new).into_bytes();
    for (bytes, failure) in [
        (with("CE003978", "CE003840"), Failure::Currency),
        (with("CB0041250", "CB0010"), Failure::Format),
        (with("CB0041250", "CB005-1250"), Failure::Format),
        (with("CB0041250", "CB0041250CC00300C"), Failure::Selection),
        (with("CD0010", "CD0015"), Failure::Action),
        (with("CD0010", "CD0011"), Failure::Forbidden),
        (with("CA00201", "CA99901"), Failure::Format),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), Failure::Format),
        (vec![0xFF; 300], Failure::Format),
        (vec![b'A'; 65_536], Failure::Format),
        ([request(1250).as_bytes(), b"\nCC00300C"].concat(), Failure::Format),
        (b"CZ0040300".to_vec(), Failure::Format),
    ] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        assert_eq!(Till::asks(port, &bytes).await.hears().await, Some(Err(failure)), "{shown}");
    }
    assert_eq!((charged(&shop), latest(&shop).await["code"].as_str()), (0, Some("no-such-sale")));
    front.until_logged("CB: is not 1 to 12 digits").await;
    front.until_logged("CC: this terminal offers no choice").await;
}

#[tokio::test]
async fn a_till_that_speaks_on_during_its_payment_is_refused_by_name() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    let mut till = Till::pays(port, 1250).await;
    waits_for_card(&shop).await;
    till.0.write_all(b"CC00300C").await.unwrap();
    assert_eq!(till.hears().await, None);
    front.until_logged("the till sent more after its request").await;
    assert_eq!((outcome(&shop).await.as_str(), charged(&shop)), ("cancelled", 0));
}

#[tokio::test]
async fn a_credit_is_refused_to_a_till_that_may_not_pay_out() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let credit = request(1250).replace("CD0010", "CD0011");
    assert_eq!(Till::asks(port, credit.as_bytes()).await.hears().await, Some(Err(Failure::Forbidden)));
    assert_eq!(latest(&shop).await["code"], "no-such-sale");
}

#[tokio::test]
async fn a_till_that_is_not_listed_is_closed_at_once() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port, "from = [\"192.0.2.1\"]").await;
    assert_eq!(Till::pays(port, 1250).await.hears().await, None);
    front.until_logged("not allowed by from in [[caisse-ap]]").await;
    assert_eq!(latest(&shop).await["code"], "no-such-sale");
}

#[tokio::test]
async fn a_second_connection_is_busy_and_the_first_pays() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let first = Till::pays(port, 1250).await;
    waits_for_card(&shop).await;
    assert_eq!(Till::pays(port, 1250).await.hears().await, Some(Err(Failure::GivenUp)));
    tap(&shop).await;
    assert!(first.hears().await.unwrap().is_ok());
    assert_eq!(charged(&shop), 1);
    // The same bytes after the end are a new payment.
    assert_eq!(outcome(&shop).await, "approved");
    let second = Till::pays(port, 1250).await;
    tap(&shop).await;
    assert!(second.hears().await.unwrap().is_ok());
    assert_eq!(charged(&shop), 2);
}

#[tokio::test]
async fn a_printer_without_paper_undoes_no_payment() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    let till = Till::pays(port, 1250).await;
    tap(&shop).await;
    assert!(till.hears().await.unwrap().is_ok());
    assert_eq!((outcome(&shop).await.as_str(), receipts_of_paid(&shop)), ("approved", 0));
    shop.printer.set_sensors(Sensors::default());
    until("its receipt", || receipts_of_paid(&shop) == 1).await;
    assert_eq!(charged(&shop), 1);
}

/// The front is killed while the bank answers. The till knows that the outcome is open, and the terminal takes the
/// payment back by itself.
#[tokio::test]
async fn a_front_that_is_killed_leaves_the_outcome_open_at_the_till_and_nothing_charged() {
    let (shop, _stop) = shop_that("card-timeout-s = 60\ntill-confirm-s = 20").await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    let till = Till::pays(port, 1250).await;
    waits_for_card(&shop).await;
    let _killed = front.kill().await;
    shop.reader.present(card("tap").unwrap(), CardEntry::Tap);
    assert_eq!(till.hears().await, None);
    assert_eq!((outcome(&shop).await.as_str(), charged(&shop)), ("reversed", 0));
}

/// Connects as another user. Only root can do this.
fn connect_as(uid: u32, socket: PathBuf) -> UnixStream {
    let connected = std::thread::spawn(move || {
        rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(uid)).unwrap();
        std::os::unix::net::UnixStream::connect(socket).unwrap()
    });
    let stream = connected.join().unwrap();
    stream.set_nonblocking(true).unwrap();
    UnixStream::from_std(stream).unwrap()
}

/// Opens a way to the agent's socket that holds back confirmations. Returns whether one has come, and the sender that
/// lets them pass.
fn confirmations_wait(agent: PathBuf, at: &Path) -> (watch::Receiver<bool>, watch::Sender<bool>) {
    let ((came, has_come), (passes, may_pass)) = (watch::channel(false), watch::channel(false));
    let listener = UnixListener::bind(at).unwrap();
    std::fs::set_permissions(at, Permissions::from_mode(0o666)).unwrap();
    tokio::spawn(async move {
        while let Ok((front, _)) = listener.accept().await {
            let agent = connect_as(front_user().0, agent.clone());
            let (came, mut may_pass) = (came.clone(), may_pass.clone());
            tokio::spawn(async move {
                let ((mut asks, mut hears), (mut says, mut takes)) = (front.into_split(), agent.into_split());
                let answers = tokio::spawn(async move { tokio::io::copy(&mut says, &mut hears).await });
                let mut chunk = vec![0; 65_536];
                while let Ok(count @ 1..) = asks.read(&mut chunk).await {
                    if chunk[..count].windows(8).any(|it| it == b"/confirm") {
                        came.send_replace(true);
                        let _ = may_pass.wait_for(|passes| *passes).await;
                    }
                    if takes.write_all(&chunk[..count]).await.is_err() {
                        break;
                    }
                }
                answers.abort();
            });
        }
    });
    (has_come, passes)
}

/// The till has its answer, and systemd stops the front before the agent has recorded that. The front waits for the
/// record, and begins nothing meanwhile.
#[tokio::test]
async fn a_front_that_stops_records_first_what_the_till_has() {
    let (shop, _stop) = shop().await;
    let folder = tempfile::tempdir().unwrap();
    let (mut has_come, passes) = confirmations_wait(shop.socket(), &folder.path().join("till.sock"));
    let_the_front_in(&shop, &[]).await;
    let port = free_port();
    let front = begun(folder, &config(port, "")).await;
    let till = Till::pays(port, 1250).await;
    tap(&shop).await;
    assert!(till.hears().await.unwrap().is_ok());
    timeout(PATIENCE, has_come.wait_for(|has_come| *has_come)).await.expect("a confirmation").unwrap();
    let mut next = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    front.until_logged(&next.local_addr().unwrap().to_string()).await;
    front.asks_to_end();
    until("the front accepts no till", || std::net::TcpStream::connect(("127.0.0.1", port)).is_err()).await;
    next.write_all(request(700).as_bytes()).await.unwrap();
    assert_eq!(Till(next).hears().await, Some(Err(Failure::GivenUp)));
    passes.send_replace(true);
    let ended = timeout(PATIENCE, front.ended()).await.expect("the front ends");
    assert!(ended.success(), "{ended}");
    assert_eq!((outcome(&shop).await.as_str(), charged(&shop)), ("approved", 1));
}

#[derive(clap::Parser)]
struct Desk {
    #[command(flatten)]
    args: pos_sim::till::Args,
}

#[tokio::test]
async fn the_till_on_the_desk_pays_and_is_refused() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let at = format!("127.0.0.1:{port}");
    for (words, taps, code) in [
        (&["pay", "5.00"][..], true, 0),
        (&["pay", "5.51"], true, 1),
        (&["reimburse", "5.00"], false, 1),
        (&["--means", "cheque", "pay", "5.00"], false, 1),
    ] {
        let words = ["pos-sim till", "caisse-ap", "--at", &at].into_iter().chain(words.iter().copied());
        let desk = <Desk as clap::Parser>::try_parse_from(words.clone()).unwrap();
        let (said, ()) = tokio::join!(pos_sim::till::run(desk.args), async {
            if taps {
                tap(&shop).await;
            }
        });
        assert_eq!(said.unwrap(), code, "{:?}", words.collect::<Vec<_>>());
    }
    assert_eq!(charged(&shop), 1);
}

/// A till made of the payment module of Odoo's community, unmodified.
struct Module {
    script: String,
    module: String,
    port: u16,
}

impl Module {
    /// Begins a payment. The process is killed when the returned value is dropped.
    fn begins(&self, amount: &str, currency: &str, mode: &str, patience: Duration) -> tokio::process::Child {
        // The module gives up 3 s before the timeout that it is given.
        let timeout = (patience + Duration::from_secs(3)).as_millis().to_string();
        let mut python = tokio::process::Command::new("python3");
        python.args([&self.script, &self.module, &self.port.to_string(), amount, currency, mode, &timeout]);
        python.stdout(std::process::Stdio::piped()).kill_on_drop(true).spawn().unwrap()
    }

    fn pays(&self, amount: &str) -> tokio::process::Child {
        self.begins(amount, "EUR", "card", Duration::from_secs(177))
    }
}

/// Returns what the module passes on to the till's page.
async fn told(module: tokio::process::Child) -> Value {
    let output = timeout(PATIENCE, module.wait_with_output()).await.expect("it ends").unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Checks the message of a payment that the module calls failed.
fn assert_failed(told: &Value, why: &str) {
    assert_eq!(told["payment_status"], "failure", "{told}");
    assert!(told["error_message"].as_str().unwrap().ends_with(why), "{told}");
}

#[tokio::test]
#[ignore = "needs a till that nobody here wrote: bash tests/clients/run"]
async fn odoos_module_works_unmodified() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is set"));
    let (shop, _stop) = shop().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let till = Module { script: variable("POS_CAISSE_AP_CLIENT"), module: variable("POS_CAISSE_AP_MODULE"), port };
    // Contactless and contact.
    for (amount, name, entry, card_type) in [
        ("12.50", "tap", CardEntry::Tap, "CB sans contact (code B) - Read mode: sans contact (code 2)"),
        ("0.05", "chip-no-cvm", CardEntry::Insert, "CB contact (code 1) - Read mode: contact (code 1)"),
    ] {
        let paid = till.pays(amount);
        waits_for_card(&shop).await;
        shop.reader.present(card(name).unwrap(), entry);
        let paid = told(paid).await;
        assert_eq!(paid["payment_status"], "success", "{paid}");
        assert!(paid["card_type"].as_str().unwrap().ends_with(card_type), "{paid}");
        let transaction = paid["transaction_id"].as_str().unwrap();
        assert!(["AA-************", "|AC-", "|AI-A0", "|CD-0"].iter().all(|it| transaction.contains(it)), "{paid}");
        assert_eq!(outcome(&shop).await, "approved");
        shop.reader.remove();
    }
    assert_eq!(charged(&shop), 2);
    // Refused, aborted at the terminal, and what this terminal does not carry out.
    let declined = till.pays("5.51");
    tap(&shop).await;
    assert_failed(&told(declined).await, "Refusée");
    let aborted = till.pays("12.50");
    waits_for_card(&shop).await;
    shop.reader.key(Key::Cancel);
    assert_failed(&told(aborted).await, "Abandon");
    let patience = Duration::from_secs(177);
    assert_failed(&told(till.begins("12.50", "EUR", "check", patience)).await, "erreur sélection");
    assert_failed(&told(till.begins("-12.50", "EUR", "card", patience)).await, "Interdite");
    assert_failed(&told(till.begins("12.50", "USD", "card", patience)).await, "Devise non supportée");
    // The module gives up while the customer looks for a card.
    let gives_up = told(till.begins("12.50", "EUR", "card", Duration::from_secs(2))).await;
    assert_eq!(gives_up["payment_status"], "issue", "{gives_up}");
    assert_eq!(outcome(&shop).await, "cancelled");
    // The line breaks while the bank answers, and the cashier repeats the payment.
    let booked = entries(&shop, Kind::Debit, State::Approved);
    shop.gateway.set_delay(Duration::from_secs(1));
    let breaks = till.pays("12.50");
    tap(&shop).await;
    until("the bank was asked", || entries(&shop, Kind::Debit, State::Approved) > booked).await;
    drop(breaks);
    shop.gateway.set_delay(Duration::ZERO);
    assert_eq!(outcome(&shop).await, "reversed");
    let again = till.pays("12.50");
    tap(&shop).await;
    assert_eq!(told(again).await["payment_status"], "success");
    assert_eq!(charged(&shop), 3);
    until("a receipt of each payment, and of no other one", || receipts_of_paid(&shop) == 3).await;
}
