//! Tests of tills that speak ZVT, with the real agent. Each test acts as a till on a real connection and compares the
//! answers with the gateway's ledger.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pos_protocols::zvt::answer::TerminalMessage;
use pos_protocols::zvt::apdu::{Apdu, Control, Splitter};
use pos_protocols::zvt::bmp::{Fields, digits};
use pos_protocols::zvt::command::{Command, Guarded, Password, Registration};
use pos_protocols::zvt::serial::{self, Frames, Heard};
use pos_sim::gateway::{Kind, State};
use pos_sim::printer::Sensors;
use pos_sim::reader::WaitsFor;
use pos_sim::shop::Shop;
use pos_test_kit::free_port;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::process::Running;
use crate::recorded::{Speaks, line_to};
use crate::{PATIENCE, shop_changed, shows, tap};
use pos_test_kit::world::pcap::Stream;

const PASSWORD: Password = Password(123_456);

/// Returns the user that runs the front, and whether root runs the tests. The agent does not restrict root, so in that
/// case the front runs as another user.
pub(crate) fn front_user() -> (u32, bool) {
    match rustix::process::getuid().as_raw() {
        0 => (60_002, true),
        own => (own, false),
    }
}

/// Starts a shop whose agent lets the front act for the page and one ZVT till.
pub(crate) async fn shop_of_two() -> (Shop, tokio::sync::oneshot::Sender<()>) {
    shop_that_waits(600).await
}

/// Starts such a shop, whose agent waits this many seconds for a till to confirm an approval.
pub(crate) async fn shop_that_waits(seconds: u16) -> (Shop, tokio::sync::oneshot::Sender<()>) {
    let uid = front_user().0;
    let peer = format!("[[till.peer]]\nuid = {uid}\ntills = [\"local\", \"zvt-1\"]\n\n[journal]");
    let waits = format!("[terminal]\ntill-confirm-s = {seconds}");
    shop_changed(vec![("[journal]".to_owned(), peer), ("[terminal]".to_owned(), waits)]).await
}

/// Starts a front with a till at this port.
pub(crate) async fn front(shop: &Shop, port: u16, more: &str) -> Running {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    let config = zvt_config(folder.path(), port, more);
    prepared(shop, folder, &config).await
}

/// Starts a front with this configuration, in a folder that its user owns.
pub(crate) async fn prepared(shop: &Shop, folder: TempDir, config: &str) -> Running {
    let password = write_password(folder.path());
    let_the_front_in(shop, &[&password]).await;
    begun(folder, config).await
}

/// Waits for the agent's socket, and gives the front's user access to it and to its secrets.
pub(crate) async fn let_the_front_in(shop: &Shop, secrets: &[&Path]) {
    while !shop.socket().exists() {
        tokio::task::yield_now().await;
    }
    let (uid, by_root) = front_user();
    if by_root {
        std::fs::set_permissions(shop.folder(), Permissions::from_mode(0o711)).unwrap();
        std::fs::set_permissions(shop.socket(), Permissions::from_mode(0o666)).unwrap();
        secrets.iter().for_each(|secret| std::os::unix::fs::chown(secret, Some(uid), None).unwrap());
    }
}

pub(crate) async fn begun(folder: TempDir, config: &str) -> Running {
    let (uid, by_root) = front_user();
    let front =
        if by_root { Running::begin_as(uid, folder, config).await } else { Running::begin(folder, config).await };
    let client = front.client();
    let ready = async {
        loop {
            let status = client.get(front.https_url("/v1/status")).send().await.unwrap();
            if status.status() == 200 && crate::json_of(status).await["reader"]["state"] == "ready" {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, ready).await.expect("the reader is ready");
    front
}

/// Writes the password file that `zvt_config` names.
pub(crate) fn write_password(folder: &Path) -> PathBuf {
    let password = folder.join("zvt-password");
    std::fs::write(&password, "123456\n").unwrap();
    std::fs::set_permissions(&password, Permissions::from_mode(0o600)).unwrap();
    password
}

/// Returns a till's section of `front.toml`.
pub(crate) fn zvt_config(folder: &Path, port: u16, more: &str) -> String {
    let password = folder.join("zvt-password").display().to_string();
    format!("[[zvt]]\ntill = \"zvt-1\"\nlisten = \"127.0.0.1:{port}\"\npassword-file = {password:?}\n{more}\n")
}

/// A till that acknowledges and collects all messages.
pub(crate) struct Till {
    stream: TcpStream,
    splitter: Splitter,
    ahead: Vec<Apdu>,
    /// The till's next answers to `04 0F`.
    says: Vec<Apdu>,
    /// True when the till's printer fails, so the till refuses print blocks.
    pub(crate) refuses_blocks: bool,
    /// True when the till sends the length of each APDU before the APDU.
    has_lengths: bool,
    sent: Option<Apdu>,
}

impl Till {
    pub(crate) async fn at(port: u16) -> Self {
        Self::on(line_to(port, Speaks::Zvt).await).await
    }

    /// Connects a till that may send bytes that are not ZVT.
    async fn that_errs_at(port: u16) -> Self {
        Self::on(line_to(port, Speaks::Anything).await).await
    }

    async fn on(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        Self {
            stream,
            splitter: Splitter::default(),
            ahead: Vec::new(),
            says: Vec::new(),
            refuses_blocks: false,
            has_lengths: false,
            sent: None,
        }
    }

    pub(crate) async fn send(&mut self, apdu: &Apdu) {
        self.sent = Some(apdu.clone());
        let bytes = if self.has_lengths { apdu.encode_with_length() } else { apdu.encode() };
        self.stream.write_all(&bytes).await.unwrap();
    }

    pub(crate) async fn hears(&mut self) -> Option<Apdu> {
        while self.ahead.is_empty() {
            let mut chunk = [0; 4096];
            let read = timeout(PATIENCE, self.stream.read(&mut chunk))
                .await
                .unwrap_or_else(|_| panic!("nothing to hear; before: {:?}", self.sent))
                .unwrap();
            if read == 0 {
                return None;
            }
            let mut bytes = &chunk[..read];
            while let Some(apdu) = self.splitter.next(&mut bytes) {
                self.ahead.push(apdu);
            }
            assert!(self.ahead.len() < 2, "two APDUs at once: some tills take them for one");
        }
        Some(self.ahead.remove(0))
    }

    /// Sends a command and returns its answer.
    pub(crate) async fn asks(&mut self, command: &Command) -> TerminalMessage {
        self.send(&command.apdu()).await;
        TerminalMessage::read(&self.hears().await.unwrap()).unwrap()
    }

    /// Reads and acknowledges messages until the command has ended.
    pub(crate) async fn until_over(&mut self) -> Vec<TerminalMessage> {
        let mut told = Vec::new();
        loop {
            let apdu = self.hears().await.expect("the line is open");
            let it = TerminalMessage::read(&apdu).unwrap();
            let answer = match (&it, self.says.is_empty()) {
                (TerminalMessage::Status(_), false) => self.says.remove(0),
                (TerminalMessage::Block(..), _) if self.refuses_blocks => Apdu::refused(0xCC),
                _ => Apdu::ok(),
            };
            self.send(&answer).await;
            let over = matches!(it, TerminalMessage::Completion(_) | TerminalMessage::Aborted { .. });
            told.push(it);
            if over {
                return told;
            }
        }
    }

    pub(crate) async fn does(&mut self, command: &Command) -> Vec<TerminalMessage> {
        assert_eq!(self.asks(command).await, TerminalMessage::Ok, "{command:?}");
        self.until_over().await
    }

    /// Asks for the outcome of the last payment until it is known.
    pub(crate) async fn learns(&mut self) -> Vec<TerminalMessage> {
        loop {
            match self.asks(&repeat()).await {
                TerminalMessage::Refused(0x9C) => tokio::time::sleep(Duration::from_millis(50)).await,
                TerminalMessage::Ok => {
                    let told = self.until_over().await;
                    if code(&told) != 0x9B {
                        return told;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }

    pub(crate) async fn registers(&mut self, config: u8) -> Vec<TerminalMessage> {
        let mut fields = Fields::default();
        fields.set(0x03, [1]);
        fields.set_tlv(0x26, &[0x0A, 2, 6, 0xD3]);
        let currency = Some([0x09, 0x78]);
        self.does(&Command::Registration(Registration { password: PASSWORD, config, currency, fields })).await
    }
}

pub(crate) fn money(amount: u64) -> Fields {
    let mut fields = Fields::default();
    fields.set_number(0x04, amount);
    fields.set(0x49, [0x09, 0x78]);
    fields
}

pub(crate) fn receipt(number: u16) -> Fields {
    let mut fields = Fields::default();
    fields.set(0x87, digits(u64::from(number), 2));
    fields
}

pub(crate) fn guarded(fields: Fields) -> Guarded {
    Guarded { password: Some(PASSWORD), fields }
}

pub(crate) fn status(told: &[TerminalMessage]) -> &Fields {
    let find = |it: &'static str| panic!("{it}: {told:?}");
    told.iter()
        .find_map(|it| if let TerminalMessage::Status(fields) = it { Some(fields) } else { None })
        .unwrap_or_else(|| find("no 04 0F"))
}

pub(crate) fn code(told: &[TerminalMessage]) -> u8 {
    match told.last() {
        Some(TerminalMessage::Completion(_)) => 0,
        Some(TerminalMessage::Aborted { code, .. }) => *code,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn repeat() -> Command {
    let mut fields = Fields::default();
    fields.set(0x03, [0x03]);
    Command::RepeatReceipt(guarded(fields))
}

pub(crate) fn entries(shop: &Shop, kind: Kind, state: State) -> usize {
    shop.gateway.ledger().entries().iter().filter(|entry| entry.kind == kind && entry.state == state).count()
}

/// Waits until a condition is true.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{what}"));
}

#[tokio::test]
async fn a_till_that_sends_lengths_before_its_apdus_is_answered_so() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut till = Till { has_lengths: true, ..Till::that_errs_at(port).await };
    assert_eq!(till.asks(&Command::StatusEnquiry(Fields::default())).await, TerminalMessage::Ok);
    assert!(matches!(till.until_over().await.as_slice(), [TerminalMessage::Completion(_)]));
    assert!(till.splitter.has_lengths());
}

#[tokio::test]
async fn a_till_registers_sells_repeats_the_receipt_and_closes_the_day() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    let mut till = Till::at(port).await;
    let registered = till.registers(0xBE).await;
    let Some(TerminalMessage::Completion(data)) = registered.last() else { panic!("{registered:?}") };
    let said = Fields::of_terminal(data).unwrap();
    assert_eq!((said.byte(0x19), said.get(0x49)), (Some(0), Some(&[0x09, 0x78][..])));
    // A technician starts to read the trace.
    let written = front.folder.path().join("zvt.log");
    let trace = front.begin_verb(&["trace", written.to_str().unwrap()]);
    // The sale uses a new connection, because the registration does not end with its connection.
    drop(till);
    let mut till = Till::at(port).await;
    assert_eq!(till.asks(&Command::Authorisation(money(1250))).await, TerminalMessage::Ok);
    tap(&shop).await;
    let told = till.until_over().await;
    assert_eq!(code(&told), 0, "{told:?}");
    assert!(told.iter().any(|it| matches!(it, TerminalMessage::Intermediate(0x0A))), "{told:?}");
    let fields = status(&told);
    assert_eq!((fields.byte(0x27), fields.number(0x04)), (Some(0), Ok(Some(1250))));
    assert_eq!((fields.number(0x87), fields.get(0x0E)), (Ok(Some(1)), Some(&[0x99, 0x99][..])));
    assert!(fields.get(0x22).unwrap().starts_with(&[0xEE; 6]), "the number is masked");
    let blocks = told.iter().filter(|it| matches!(it, TerminalMessage::Block(_, true))).count();
    assert_eq!(blocks, 2, "the merchant's and the customer's copy: {told:?}");
    assert_eq!(entries(&shop, Kind::Debit, State::Approved), 1);
    assert!(shop.printer.receipts().is_empty(), "the till prints");
    let seen = front.verb(&["status"]);
    let seen = String::from_utf8(seen.stdout).unwrap();
    assert!(seen.contains("06 01 authorisation") && seen.contains("\"till\": \"zvt-1\""), "{seen}");
    // The trace contains each line in full from its start. Its last lines are those of another command.
    until("a trace of two commands", || {
        let read = std::fs::read_to_string(&written).unwrap_or_default();
        read.contains("status enquiry") || {
            drop(
                std::net::TcpStream::connect(("127.0.0.1", port))
                    .map(|mut it| std::io::Write::write_all(&mut it, &[5, 1, 3, 0x12, 0x34, 0x56])),
            );
            false
        }
    })
    .await;
    let read = std::fs::read_to_string(&written).unwrap();
    assert!(read.contains("zvt-1 till says") && read.contains("status enquiry: password …"), "{read}");
    drop(trace);
    // After the front is killed and started again, it reports the same outcome.
    let config = zvt_config(front.folder.path(), port, "");
    let front = begun(front.kill().await.folder(), &config).await;
    let mut till = Till::at(port).await;
    let again = till.does(&repeat()).await;
    assert_eq!((code(&again), status(&again).number(0x04)), (0, Ok(Some(1250))));
    assert_eq!(status(&again).number(0x87), Ok(Some(1)));
    // The receipts can be printed again by number. An unknown number prints none.
    for (from, to, expected, copies) in [(1, Some(3), 0, 2), (2, None, 0x66, 0)] {
        let told = till.does(&Command::Reprint { password: PASSWORD, from, to }).await;
        let whole = told.iter().filter(|it| matches!(it, TerminalMessage::Block(_, true))).count();
        assert_eq!((code(&told), whole), (expected, copies), "{from}");
    }
    // A reversal by receipt number is refused if the amount, the number or the password is wrong.
    for (password, fields, expected) in [
        (PASSWORD, [receipt(1).get(0x87).map(<[u8]>::to_vec), Some(digits(1249, 6))], 0xB5),
        (PASSWORD, [receipt(2).get(0x87).map(<[u8]>::to_vec), None], 0xB5),
        (Password(1), [receipt(1).get(0x87).map(<[u8]>::to_vec), None], 0x83),
    ] {
        let mut wanted = Fields::default();
        for (bmp, value) in [0x87, 0x04].into_iter().zip(fields) {
            value.into_iter().for_each(|value| wanted.set(bmp, value));
        }
        let told = till.does(&Command::Reversal(Guarded { password: Some(password), fields: wanted })).await;
        assert_eq!(code(&told), expected, "{told:?}");
    }
    assert_eq!(entries(&shop, Kind::Reversal, State::Approved), 0);
    let told = till.does(&Command::Reversal(guarded(receipt(1)))).await;
    assert_eq!((code(&told), status(&told).number(0x37)), (0, Ok(Some(1))), "{told:?}");
    assert_eq!(shop.gateway.ledger().all_charged().count(), 0);
    // The till asks for the sums and closes the day.
    let told = till.does(&Command::Totals(guarded(Fields::default()))).await;
    assert_eq!((code(&told), status(&told).number(0x04)), (0, Ok(Some(0))));
    let told = till.does(&Command::EndOfDay(guarded(Fields::default()))).await;
    assert_eq!((code(&told), status(&told).get(0x60).map(<[u8]>::len)), (0, Some(53)), "{told:?}");
    // A transaction of a closed period can no longer be found by its number.
    let told = till.does(&Command::Reversal(guarded(receipt(1)))).await;
    assert_eq!(code(&told), 0xB5);
    drop(front);
}

/// The page also makes a sale. The till gets only its own sums, and one close of day covers both.
#[tokio::test]
async fn a_till_with_sums_of_its_own_hears_them_and_closes_the_day_for_all() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let front = front(&shop, port, "sums = \"own\"").await;
    let client = front.client();
    assert_eq!(crate::begin(&front, &client, "P-1").await.status(), 201);
    tap(&shop).await;
    assert_eq!(crate::ended(&front, &client, "P-1").await["outcome"], "approved");
    let mut till = Till::at(port).await;
    till.registers(0xBE).await;
    assert_eq!(till.asks(&Command::Authorisation(money(1250))).await, TerminalMessage::Ok);
    tap(&shop).await;
    assert_eq!(code(&till.until_over().await), 0);
    for command in [Command::Totals(guarded(Fields::default())), Command::EndOfDay(guarded(Fields::default()))] {
        let told = till.does(&command).await;
        let fields = status(&told);
        assert_eq!((code(&told), fields.number(0x04)), (0, Ok(Some(1250))), "{told:?}");
        // The till's receipt has number 2, because the page made the terminal's first sale.
        assert_eq!(fields.get(0x60).map(|sums| sums[..4].to_vec()), Some(vec![0, 2, 0, 2]), "{told:?}");
    }
    let close = crate::json_of(client.get(front.https_url("/v1/closes/last")).send().await.unwrap()).await;
    assert_eq!((&close["net"][0]["net"], &close["till"]), (&"24.84".into(), &"zvt-1".into()), "{close}");
    assert_eq!((&close["firstNumber"], &close["lastNumber"]), (&1.into(), &2.into()), "{close}");
    let open = crate::json_of(client.get(front.https_url("/v1/closes/open")).send().await.unwrap()).await;
    assert_eq!(open["net"], serde_json::json!([]), "the period of the page has ended too: {open}");
}

/// Runs `pos-agent` with these arguments. The program is this test program, which contains the whole agent.
async fn agent_verb(words: &[&str]) -> String {
    let program = std::env::current_exe().unwrap();
    let mut verb = tokio::process::Command::new(program);
    verb.args(["--exact", "--ignored", "--nocapture", "zvt::pos_agent"]).env("POS_AGENT_WORDS", words.join("\n"));
    let output = verb.output().await.unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

#[test]
#[ignore = "it is the agent's command line, for the tests that need one"]
fn pos_agent() {
    let Ok(words) = std::env::var("POS_AGENT_WORDS") else { return };
    let words = ["pos-agent"].into_iter().chain(words.split('\n')).map(Into::into).collect();
    let _ = pos_agent::cli::run(words);
}

#[tokio::test]
async fn a_technician_at_the_agent_sees_the_tills_of_the_front() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let front = front(&shop, port, "").await;
    let (config, control) = (shop.config(), front.folder.path().join("control.sock"));
    let with = |verb| [verb, "--config", config.to_str().unwrap(), "--front", control.to_str().unwrap()];
    let said = agent_verb(&with("status")).await;
    assert!(said.contains("tills        zvt-1 (zvt): not connected; no command since"), "{said}");
    let mut till = Till::at(port).await;
    till.registers(0x0A).await;
    for (verb, shown) in [("status", "tills        zvt-1 (zvt): "), ("doctor", "ok       till zvt-1 (zvt): ")] {
        let said = agent_verb(&with(verb)).await;
        assert!(said.contains(&format!("{shown}connected from 127.0.0.1:")), "{said}");
        assert!(said.contains("; last command 06 00 registration, 20"), "{said}");
    }
}

#[tokio::test]
async fn what_the_till_answers_to_the_approval_is_what_becomes_of_it() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut till = Till::at(port).await;
    till.registers(0x0A).await;
    // The till answers "later" and then confirms only a part.
    let mut part = Fields::default();
    part.set_number(0x04, 2200);
    let part = Apdu::new(Control(0x84, 0x9D), part.write(pos_protocols::zvt::bmp::Order::Ascending));
    till.says = vec![Apdu::refused(0x9C), part];
    let mut wanted = money(3300);
    wanted.set(0x02, [0x0A]);
    assert_eq!(till.asks(&Command::Authorisation(wanted)).await, TerminalMessage::Ok);
    tap(&shop).await;
    let told = till.until_over().await;
    assert_eq!(
        (code(&told), told.iter().filter(|it| matches!(it, TerminalMessage::Status(_))).count()),
        (0, 2),
        "{told:?}"
    );
    until("the rest is refunded", || entries(&shop, Kind::Refund, State::Approved) == 1).await;
    let ledger = shop.gateway.ledger();
    let rest = ledger.entries().iter().find(|entry| entry.kind == Kind::Refund).unwrap();
    assert_eq!(rest.amount, "11.00");
    // If the till refuses, the payment is reversed, and the repeat reports this.
    till.says = vec![Apdu::refused(0x05)];
    assert_eq!(till.asks(&Command::Authorisation(money(700))).await, TerminalMessage::Ok);
    tap(&shop).await;
    let told = till.until_over().await;
    assert_eq!(code(&told), 0x6C, "{told:?}");
    until("it is reversed", || entries(&shop, Kind::Reversal, State::Approved) == 1).await;
    let told = till.does(&repeat()).await;
    assert_ne!(status(&told).byte(0x27), Some(0), "{told:?}");
}

#[tokio::test]
async fn a_till_that_is_gone_at_the_approval_is_not_charged_for_or_keeps_it_as_it_is_set() {
    for (more, kept) in [("", false), ("unacknowledged = \"keep\"", true)] {
        let (shop, _stop) = shop_of_two().await;
        let port = free_port();
        let _front = front(&shop, port, more).await;
        let mut till = Till::at(port).await;
        till.registers(0x02).await;
        assert_eq!(till.asks(&Command::Authorisation(money(990))).await, TerminalMessage::Ok);
        tap(&shop).await;
        // The line breaks before the till acknowledges 04 0F.
        assert!(matches!(TerminalMessage::read(&till.hears().await.unwrap()), Ok(TerminalMessage::Status(_))));
        drop(till);
        let settled = || if kept { true } else { entries(&shop, Kind::Reversal, State::Approved) == 1 };
        until("it is settled", settled).await;
        let mut till = Till::at(port).await;
        // Until the outcome is known, the till gets the answer that it is unknown.
        let told = till.learns().await;
        assert_eq!(status(&told).byte(0x27) == Some(0), kept, "{told:?}");
        assert_eq!(shop.gateway.ledger().all_charged().count(), usize::from(kept));
    }
}

#[tokio::test]
async fn an_abort_stops_what_waits_for_a_card_and_a_line_that_breaks_does_too() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut till = Till::at(port).await;
    till.registers(0x02).await;
    assert_eq!(till.asks(&Command::Authorisation(money(500))).await, TerminalMessage::Ok);
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
    // A payment on another connection is refused, but a status enquiry is answered.
    let mut other = Till::at(port).await;
    assert_eq!(other.asks(&Command::Authorisation(money(600))).await, TerminalMessage::Refused(0x9C));
    assert_eq!(other.does(&Command::StatusEnquiry(Fields::default())).await.len(), 1);
    assert_eq!(till.asks(&Command::Abort(Fields::default())).await, TerminalMessage::Ok);
    let told = till.until_over().await;
    assert_eq!((code(&told), status(&told).byte(0x27)), (0x6C, Some(0x6C)));
    // The line breaks while the reader waits for a card.
    assert_eq!(till.asks(&Command::Authorisation(money(500))).await, TerminalMessage::Ok);
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
    drop(till);
    let told = other.learns().await;
    assert_eq!(status(&told).byte(0x27), Some(0x6C));
    assert!(shop.gateway.ledger().entries().is_empty());
}

#[tokio::test]
async fn reserved_is_captured_by_what_is_used_or_unused_and_given_up() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut till = Till::at(port).await;
    till.registers(0x02).await;
    let any = || {
        let mut fields = Fields::default();
        fields.set(0x87, [0xFF, 0xFF]);
        Command::PartialReversal(fields)
    };
    let open = |told: &[TerminalMessage]| match told.last() {
        Some(TerminalMessage::Aborted { code: 0xB8, fields }) => fields.get(0x87).unwrap().to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!(open(&till.does(&any()).await), [0xFF, 0xFF]);
    let with = |number: u16, amount: Option<u64>| {
        let mut fields = receipt(number);
        amount.into_iter().for_each(|amount| fields.set_number(0x04, amount));
        fields
    };
    for _ in 0..3 {
        assert_eq!(till.asks(&Command::PreAuthorisation(money(10_000))).await, TerminalMessage::Ok);
        tap(&shop).await;
        assert_eq!(code(&till.until_over().await), 0);
    }
    assert_eq!(open(&till.does(&any()).await), [0, 3]);
    // The till must state the unused part. If that is missing or too large, no request is sent to the gateway.
    for amount in [None, Some(10_001)] {
        assert_eq!(code(&till.does(&Command::PartialReversal(with(1, amount))).await), 0xB7);
    }
    assert_eq!(code(&till.does(&Command::PartialReversal(with(1, Some(4_000)))).await), 0);
    // The till states the used part. A part that is larger than the amount that is left is refused.
    assert_eq!(code(&till.does(&Command::BookTotal(with(2, Some(10_001)))).await), 0xB7);
    assert_eq!(code(&till.does(&Command::BookTotal(with(2, Some(2_500)))).await), 0);
    assert_eq!(code(&till.does(&Command::PreAuthorisationReversal(with(3, None))).await), 0);
    let ledger = shop.gateway.ledger();
    let captured: Vec<&str> =
        ledger.entries().iter().filter(|it| it.kind == Kind::Capture).map(|it| it.amount.as_str()).collect();
    assert_eq!(captured, ["60.00", "25.00"]);
    assert!(
        ledger
            .entries()
            .iter()
            .filter(|it| it.kind == Kind::Capture)
            .all(|it| it.details.iter().any(|(name, value)| { name == "sequence" && value == "FINAL" }))
    );
    assert_eq!(entries(&shop, Kind::Reversal, State::Approved), 1);
    assert_eq!(code(&till.does(&Command::BookTotal(with(3, None))).await), 0xB8, "nothing is left of it");
    assert_eq!(open(&till.does(&any()).await), [0xFF, 0xFF]);
}

#[tokio::test]
async fn a_till_has_its_own_lines_printed_and_shown_by_the_terminal() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut till = Till::that_errs_at(port).await;
    let line = |data: &[u8]| Apdu::new(Control::PRINT_LINE, data.to_vec());
    let block: &[u8] = &[0x06, 0x0E, 0x1F, 0x07, 1, 3, 0x25, 0x08, 0x07, 3, b'x', b'y', b'z', 0x09, 1, 0x81];
    for apdu in
        [line(b"\x40VOUCHER"), line(b"\x05for two"), line(&[0x81]), Apdu::new(Control::PRINT_BLOCK, block.to_vec())]
    {
        till.send(&apdu).await;
        assert_eq!(TerminalMessage::read(&till.hears().await.unwrap()), Ok(TerminalMessage::Ok), "{apdu:?}");
    }
    let papers = shop.printer.receipts();
    let texts: Vec<Vec<&str>> = papers.iter().map(|paper| paper.lines().map(str::trim).collect()).collect();
    assert_eq!(texts, [vec!["VOUCHER", "for two"], vec!["xyz"]]);
    shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    till.send(&line(b"\x81again")).await;
    assert_eq!(TerminalMessage::read(&till.hears().await.unwrap()), Ok(TerminalMessage::Refused(0xCC)));
    assert_eq!(shop.printer.receipts().len(), 2);
    till.send(&Apdu::new(Control::DISPLAY_TEXT, b"\xF0\x05\xF1\xF0\xF5Hello".to_vec())).await;
    assert_eq!(TerminalMessage::read(&till.hears().await.unwrap()), Ok(TerminalMessage::Ok));
    shows(&shop, "Hello").await;
    assert!(shop.gateway.ledger().entries().is_empty());
}

#[tokio::test]
async fn whatever_else_a_till_sends_has_a_documented_answer() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut till = Till::that_errs_at(port).await;
    let refused = |code| TerminalMessage::Refused(code);
    let raw = |control: Control, data: &[u8]| Apdu::new(control, data.to_vec());
    for (apdu, expected) in [
        (raw(Control::READ_CARD, &[0x0F]), refused(0xA5)),
        (raw(Control::DISPLAY_NUMBER, &[]), refused(0xA5)),
        (raw(Control::PRINT_LINE, &[0x40, b'x']), TerminalMessage::Ok),
        (raw(Control(0x08, 0x10), &[]), refused(0x83)),
        (raw(Control(0x77, 0x77), &[1, 2, 3]), refused(0x83)),
        (raw(Control::DISPLAY_TEXT, &[]), TerminalMessage::Ok),
        (raw(Control::LOG_OFF, &[]), TerminalMessage::Ok),
        (raw(Control::TILL_ABORT, &[]), TerminalMessage::Ok),
        // Commands that cannot be read.
        (raw(Control::REGISTRATION, &[0, 0]), refused(0x9A)),
        (raw(Control::REVERSAL, &[0, 0xA0, 0]), refused(0x9A)),
        (raw(Control::AUTHORISATION, &[0x04, 0, 0]), refused(0x9A)),
        (raw(Control::AUTHORISATION, &[0x99]), refused(0x9A)),
        (raw(Control::AUTHORISATION, &vec![0x06; 65_535]), refused(0x9A)),
    ] {
        till.send(&apdu).await;
        assert_eq!(TerminalMessage::read(&till.hears().await.unwrap()), Ok(expected), "{apdu:?}");
    }
    // Commands that can be read but are refused because of their content.
    let with = |bmp: u8, value: &[u8]| {
        let mut fields = money(500);
        fields.set(bmp, value);
        fields
    };
    let mut cashback = money(500);
    cashback.set_tlv(0x1F25, &[0, 0, 0, 0, 0x20, 0]);
    for (command, expected) in [
        (Command::Authorisation(with(0x04, &[0, 0, 0, 0, 0x0A, 0])), 0x9A),
        (Command::Authorisation(with(0x04, &[0; 6])), 0xC8),
        (Command::Authorisation(with(0x49, &[0x08, 0x40])), 0x6F),
        (Command::Authorisation(with(0x22, &[0x41, 0x11])), 0xA5),
        (Command::Authorisation(cashback), 0xCD),
        (Command::Refund(guarded(money(500))), 0x83),
        (Command::Reversal(guarded(money(500))), 0xB5),
        (Command::BookTotal(money(500)), 0xB8),
    ] {
        let told = till.does(&command).await;
        assert_eq!(code(&told), expected, "{command:?}: {told:?}");
    }
    // A currency other than the terminal's is refused with a specific answer.
    let currency = Some([0x08, 0x40]);
    let registration = Registration { password: Password(0), config: 6, currency, fields: Fields::default() };
    till.send(&Command::Registration(registration).apdu()).await;
    assert_eq!(till.hears().await.unwrap(), Apdu::new(Control(0x84, 0x1E), vec![0x6F, 0x09, 0x78]));
    for command in [Command::Diagnosis(Fields::default()), Command::SelfTest, Command::Reset] {
        assert_eq!(code(&till.does(&command).await), 0, "{command:?}");
    }
    assert!(shop.gateway.ledger().entries().is_empty());
    // After a wrong length, the line is closed after a while. The next connection is served.
    till.stream.write_all(&[6, 1, 0xFF, 0xFF, 0xFF]).await.unwrap();
    assert!(till.hears().await.is_none());
    let mut till = Till::at(port).await;
    assert_eq!(code(&till.registers(0x06).await), 0);
}

#[tokio::test]
async fn a_till_on_a_serial_line_pays_with_bytes_that_are_doubled() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let (shop, _stop) = shop_of_two().await;
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    if front_user().1 {
        std::os::unix::fs::chown(&path, Some(front_user().0), None).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    let _front =
        prepared(&shop, folder, &format!("[[zvt]]\ntill = \"zvt-1\"\nserial = {path:?}\nspeed = 115200\n")).await;
    // The till's end of the line, on its own thread.
    let (to_till, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let mut line = std::fs::File::from(master);
    let mut reading = line.try_clone().unwrap();
    std::thread::spawn(move || {
        let (mut frames, mut chunk) = (Frames::new(), [0; 1024]);
        while let Ok(count @ 1..) = std::io::Read::read(&mut reading, &mut chunk) {
            let mut bytes = &chunk[..count];
            while let Some(it) = frames.next(&mut bytes) {
                if to_till.send(it).is_err() {
                    return;
                }
            }
        }
    });
    let mut write = |bytes: &[u8]| std::io::Write::write_all(&mut line, bytes).unwrap();
    let mut told = Vec::new();
    // Both bytes of the amount 10.10 are a DLE, which is sent twice on the line.
    let payment = Command::Authorisation(money(1010)).apdu();
    // Only the content of the frames is recorded for Wireshark, which would count a doubled byte as two.
    let mut stream = Stream::begin();
    if let Some(stream) = &mut stream {
        stream.till_says(&payment.encode());
    }
    write(&serial::encode(&payment));
    let mut taps = Some(());
    loop {
        match timeout(PATIENCE, heard.recv()).await.expect("something to hear").unwrap() {
            Heard::Frame(apdu) => {
                write(&[0x06]);
                if let Some(stream) = &mut stream {
                    stream.terminal_says(&apdu.encode());
                }
                let it = TerminalMessage::read(&apdu).unwrap();
                if apdu.control.is_answer() {
                    assert_eq!(it, TerminalMessage::Ok);
                    if taps.take().is_some() {
                        tap(&shop).await;
                    }
                    continue;
                }
                write(&serial::encode(&Apdu::ok()));
                let over = matches!(it, TerminalMessage::Completion(_) | TerminalMessage::Aborted { .. });
                told.push(it);
                if over {
                    break;
                }
            }
            Heard::Ack => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((code(&told), status(&told).number(0x04)), (0, Ok(Some(1010))), "{told:?}");
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
}

#[tokio::test]
#[ignore = "needs a till that nobody here wrote: bash tests/clients/run"]
async fn a_till_made_of_the_crate_zvt_works_unmodified() {
    let program = std::env::var("POS_ZVT_CLIENT").expect("POS_ZVT_CLIENT names the program");
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    let mut client = tokio::process::Command::new(program);
    // The client's output is shown if the test fails.
    let client = client.arg(format!("127.0.0.1:{}", line_to(port, Speaks::Zvt).await)).kill_on_drop(true).status();
    let taps = async {
        for _ in 0..2 {
            tap(&shop).await;
        }
    };
    let (status, ()) = timeout(PATIENCE, async { tokio::join!(client, taps) }).await.expect("it ends");
    assert!(status.unwrap().success());
    let ledger = shop.gateway.ledger();
    let captured: Vec<&str> =
        ledger.entries().iter().filter(|it| it.kind == Kind::Capture).map(|it| it.amount.as_str()).collect();
    assert_eq!((captured, entries(&shop, Kind::Reversal, State::Approved)), (vec!["12.05"], 1));
}

#[derive(clap::Parser)]
struct Desk {
    #[command(flatten)]
    args: pos_sim::till::Args,
}

/// Runs `pos-sim till zvt …` and returns its exit code.
async fn desk(port: u16, words: &[&str]) -> u8 {
    let at = format!("127.0.0.1:{}", line_to(port, Speaks::Zvt).await);
    let words = ["pos-sim till", "zvt", "--at", &at].into_iter().chain(words.iter().copied());
    pos_sim::till::run(<Desk as clap::Parser>::try_parse_from(words).unwrap().args).await.unwrap()
}

#[tokio::test]
async fn the_till_on_the_desk_pays_repeats_voids_and_closes() {
    let (shop, _stop) = shop_of_two().await;
    let port = free_port();
    let _front = front(&shop, port, "").await;
    for (words, taps, code) in [
        (&["pay", "5.00"][..], true, 0),
        (&["repeat"], false, 0),
        (&["void", "1"], false, 0),
        (&["void", "1"], false, 1),
        (&["reserve", "20.00"], true, 0),
        (&["capture", "3", "12.00"], false, 0),
        (&["status"], false, 0),
        (&["totals"], false, 0),
        (&["end-of-day"], false, 0),
        (&["pay", "5.00", "--acknowledge", "no"], true, 1),
    ] {
        let (said, ()) = tokio::join!(desk(port, words), async {
            if taps {
                tap(&shop).await;
            }
        });
        assert_eq!(said, code, "{words:?}");
    }
    // The till learns that nothing is charged while the reversal is still on its way to the gateway.
    let charged = || shop.gateway.ledger().all_charged().count();
    until("12.00 of the reservation", || charged() == 1).await;
}

#[tokio::test]
async fn a_front_that_is_killed_in_the_middle_of_a_payment_loses_nothing() {
    let killed = async |unacknowledged: &str, kept: bool| {
        let (shop, _stop) = shop_that_waits(20).await;
        let (port, more) = (free_port(), format!("unacknowledged = \"{unacknowledged}\""));
        let front = front(&shop, port, &more).await;
        let config = zvt_config(front.folder.path(), port, &more);
        let mut till = Till::at(port).await;
        till.registers(0x02).await;
        // The front is killed while the reader waits for a card. The card is read anyway, but no till confirms the
        // approval.
        assert_eq!(till.asks(&Command::Authorisation(money(700))).await, TerminalMessage::Ok);
        timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
        let front = begun(front.kill().await.folder(), &config).await;
        tap(&shop).await;
        let told = Till::at(port).await.learns().await;
        assert_eq!(status(&told).byte(0x27) == Some(0), kept, "{told:?}");
        assert_eq!(shop.gateway.ledger().all_charged().count(), usize::from(kept));
        // The front is killed while the approval is on its way to the till.
        let mut till = Till::at(port).await;
        assert_eq!(till.asks(&Command::Authorisation(money(900))).await, TerminalMessage::Ok);
        tap(&shop).await;
        assert!(matches!(TerminalMessage::read(&till.hears().await.unwrap()), Ok(TerminalMessage::Status(_))));
        let _front = begun(front.kill().await.folder(), &config).await;
        let told = Till::at(port).await.learns().await;
        assert_eq!(
            (status(&told).byte(0x27) == Some(0), status(&told).number(0x04)),
            (kept, Ok(Some(900))),
            "{told:?}"
        );
        assert_eq!(shop.gateway.ledger().all_charged().count(), 2 * usize::from(kept));
    };
    tokio::join!(killed("reverse", false), killed("keep", true));
}
