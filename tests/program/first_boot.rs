//! `pos-agent first-boot` as the front meets it: the real program at a real Unix socket, with a simulated reader and
//! printer on ptys.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pos_agent::config;
use pos_first_boot::{
    Answers, GatewayAnswers, LASTS_S, LONGEST_REQUEST, OperatorAnswer, PageAnswers, PrinterAnswers, Refusal, Reply,
    Request, Secret, Stage, State, Step, SystemAnswers, TillAnswers,
};
use pos_sim::printer::{self, Printer, PrinterAddress};
use pos_sim::shop::{Options, Shop};
use pos_test_kit::within;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use zeroize::Zeroizing;

/// Secrets. No other text of these tests contains them.
const PIN: &str = "860437";
const PASSPHRASE: &str = "correct horse battery staple";

/// A board without a configuration, with a reader and a printer.
struct Board {
    shop: Shop,
    printer: Printer,
    folder: tempfile::TempDir,
    program: Option<Child>,
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.program.as_mut().map(Child::kill);
        let _ = self.program.as_mut().map(Child::wait);
    }
}

fn value(text: &str) -> Secret {
    Secret::Value(Zeroizing::new(text.to_owned()))
}

fn show() -> Request {
    Request::Show { urls: vec!["https://pos-1234.local:8443/".to_owned()] }
}

fn enter(code: &str) -> Request {
    Request::Enter { code: Zeroizing::new(code.to_owned()) }
}

fn refused(refusal: Refusal) -> Vec<Reply> {
    vec![Reply::Refused(refusal)]
}

impl Board {
    async fn open() -> Self {
        let shop = Shop::open(Options::default()).await.unwrap();
        let place = printer::Options { place: PrinterAddress::Pty(None), ..Default::default() };
        let printer = Printer::open(place).await.unwrap();
        let board = Self { shop, printer, folder: tempfile::tempdir().unwrap(), program: None };
        let (reader, paper) = (board.shop.reader.place(), board.printer.place());
        let ports = format!("reader-ports = [{reader:?}]\nreader-baud = 115200\nprinter-ports = [{paper:?}]\n");
        fs::write(board.path("board.toml"), format!("title = \"Desk\"\n{ports}printer-columns = 42\n")).unwrap();
        fs::create_dir(board.path("board-etc")).unwrap();
        fs::write(board.path("console"), "").unwrap();
        board
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the program and waits for its socket. Its output goes to one file.
    async fn start(&mut self) {
        let _ = fs::remove_file(self.path("socket"));
        let log = fs::OpenOptions::new().append(true).create(true).open(self.path("log")).unwrap();
        let (built, program) = (env!("CARGO_BIN_EXE_pos-agent"), self.path("pos-agent"));
        let is_there = fs::hard_link(built, &program).is_ok()
            || Command::new("cp").arg(built).arg(&program).status().unwrap().success();
        assert!(is_there);
        // The front is next to it, as in a package.
        let _ = std::os::unix::fs::symlink(Path::new(built).with_file_name("pos-front"), self.path("pos-front"));
        let mut command = Command::new(&program);
        command.arg("first-boot").env("RUST_LOG", "trace").env("TMPDIR", self.folder.path());
        for (option, name) in [
            ("--config", "etc/config.toml"),
            ("--socket", "socket"),
            ("--run", "run"),
            ("--console", "console"),
            ("--board", "board.toml"),
            ("--etc", "board-etc"),
            ("--journal", "data/journal.db"),
        ] {
            command.arg(option).arg(self.path(name));
        }
        command.args(["--front-user", "4711"]).stdin(Stdio::null());
        // Its own group, so that a power cut ends also the programs that it runs.
        command.stdout(log.try_clone().unwrap()).stderr(log).process_group(0);
        self.program = Some(command.spawn().unwrap());
        // A connection without a request would keep the program busy, so this is a whole request.
        let serves = async {
            loop {
                if let Ok(mut stream) = UnixStream::connect(self.path("socket")).await {
                    let _ = stream.write_all(b"\"state\"\n").await;
                    if !replies(stream).await.is_empty() {
                        return;
                    }
                }
                tokio::task::yield_now().await;
            }
        };
        within("the socket", serves).await;
        // An upgrade replaces the file of a program that runs.
        fs::remove_file(program).unwrap();
    }

    /// Cuts the power.
    fn kill(&mut self) {
        let mut program = self.program.take().unwrap();
        kill_process_group(Pid::from_child(&program), Signal::KILL).unwrap();
        program.wait().unwrap();
    }

    async fn sent(&self, bytes: &[u8]) -> UnixStream {
        let mut stream = UnixStream::connect(self.path("socket")).await.unwrap();
        // A program that has already refused does not read the rest.
        let _ = stream.write_all(bytes).await;
        stream
    }

    /// Sends bytes, and returns all replies.
    async fn told(&self, bytes: &[u8]) -> Vec<Reply> {
        replies(self.sent(bytes).await).await
    }

    async fn asked(&self, request: &Request) -> Vec<Reply> {
        self.told(format!("{}\n", serde_json::to_string(request).unwrap()).as_bytes()).await
    }

    async fn state(&self) -> State {
        match self.asked(&Request::State).await.remove(0) {
            Reply::State(state) => state,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the code that the console shows last.
    fn code(&self) -> String {
        let shown = fs::read_to_string(self.path("console")).unwrap();
        shown.rsplit_once("The code: ").unwrap().1.replace(char::is_whitespace, "")
    }

    /// Gives the code that is shown.
    async fn enters(&self) {
        assert_eq!(self.asked(&show()).await, [Reply::Done]);
        assert_eq!(self.asked(&enter(&self.code())).await, [Reply::Done]);
    }

    fn answers(&self) -> Answers {
        let text = |text: &str| Some(text.to_owned());
        let ca = fs::read_to_string(self.shop.folder().join("ca.pem")).unwrap();
        Answers {
            terminal_id: text("12345678"),
            merchant: Some(vec!["Corner Shop".to_owned()]),
            currency: text("EUR"),
            language: text("de"),
            training: Some(true),
            reader: Some(self.shop.reader.place()),
            printer: Some(PrinterAnswers { port: self.printer.place(), columns: Some(42) }),
            gateway: GatewayAnswers {
                url: Some(self.shop.gateway.base_url()),
                entity_id: text(self.shop.gateway.entity_id()),
                ca: Some(value(&ca)),
                token: Some(value(self.shop.gateway.token())),
                mode: text("external"),
            },
            till: Some(TillAnswers {
                kind: text("nexo"),
                address: Some(vec!["192.168.1.20".to_owned()]),
                sale_id: text("POSSystemID12345"),
                secret: Some(value(PASSPHRASE)),
                ..TillAnswers::default()
            }),
            page: Some(PageAnswers {
                without_sign_in: text("nobody"),
                // <svg/>
                logo: Some(value("PHN2Zy8+")),
            }),
            operator: vec![OperatorAnswer { name: "Anna".to_owned(), role: "supervisor".to_owned(), pin: value(PIN) }],
            system: Some(SystemAnswers { time_servers: vec!["pool.ntp.org".to_owned()], wifi: None }),
            ..Answers::default()
        }
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("etc")).into_iter().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Checks that the terminal is complete.
    fn is_complete(&self) {
        let expected = ["config.toml", "front.toml", "gateway-ca.pem", "gateway-token", "kasse-1.nexo", "page-logo"];
        let files = self.files();
        assert_eq!(
            files.iter().filter(|name| !name.ends_with(".old")).collect::<Vec<_>>(),
            expected.iter().collect::<Vec<_>>()
        );
        let config = config::load(&self.path("etc/config.toml")).unwrap();
        assert_eq!((config.terminal.id.as_str(), config.terminal.language.as_str()), ("12345678", "de"));
        assert!(config.training.allowed);
        let mut list = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
        let listed = list.args(["operator", "list", "--config"]).arg(self.path("etc/config.toml")).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.contains("Anna") && listed.contains("supervisor"), "{listed}");
    }
}

async fn replies(mut stream: UnixStream) -> Vec<Reply> {
    let mut text = Vec::new();
    // A refused connection may be reset after the reply.
    let _ = within("the replies", stream.read_to_end(&mut text)).await;
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[tokio::test]
async fn one_browser_with_the_code_sets_the_terminal_up() {
    let mut board = Board::open().await;
    board.start().await;
    assert_eq!(board.asked(&Request::Search).await, refused(Refusal::NotEntered));
    assert_eq!(board.asked(&show()).await, [Reply::Done]);
    let state = board.state().await;
    assert_eq!((state.stage, state.has_code, state.tries_left, state.board), (Stage::Waiting, true, 5, None));
    assert_eq!(state.code_at, ["console", "printer"]);
    // The slip has the code in two groups, the address, and the address as a QR code.
    let slip = board.printer.receipts().remove(0);
    let code = board.code();
    assert!(slip.contains("https://pos-1234.local:8443/"), "{slip}");
    assert!(slip.replace(char::is_whitespace, "").contains(&code), "{slip}");
    assert_eq!(board.asked(&enter("00")).await, refused(Refusal::WrongCode { left: 4 }));
    assert_eq!(board.asked(&enter(&code)).await, [Reply::Done]);
    assert_eq!(board.asked(&enter(&code)).await, refused(Refusal::NotEntered), "a second browser");
    assert_eq!(board.state().await.board.as_deref(), Some("Desk"));

    // The devices are found and tried.
    let Reply::Devices(found) = board.asked(&Request::Search).await.remove(0) else { panic!() };
    assert_eq!(found.reader.unwrap().port, board.shop.reader.place());
    assert_eq!(found.reader_protocol.as_deref(), Some("miura-mpi"));
    let needs =
        |name: &str| found.protocols.iter().find(|known| known.name == name).map(|known| known.sred_forms.len());
    assert_eq!([needs("miura-mpi"), needs("verifone-vipa"), needs("idtech-neo2")], [Some(0), Some(2), Some(1)]);
    assert_eq!(found.printer.unwrap().port, board.printer.place());
    let text = "Guten Tag".to_owned();
    let print = Request::TryPrinter { port: board.printer.place(), columns: 42, text: text.clone() };
    assert_eq!(board.asked(&print).await, [Reply::Done]);
    assert!(board.printer.receipts()[1].contains(&text), "{:?}", board.printer.receipts());
    assert_eq!(board.asked(&Request::TryReader { port: board.shop.reader.place(), text }).await, [Reply::Done]);
    assert!(board.shop.reader.display().join("\n").contains("Guten Tag"), "{:?}", board.shop.reader.display());

    // A fault is named, and nothing is written.
    let wrong = Answers { terminal_id: Some("12a".to_owned()), ..board.answers() };
    for request in [Request::Check(Box::new(wrong.clone())), Request::Write(Box::new(wrong))] {
        let Some(Reply::Faulty(faults)) = board.asked(&request).await.pop() else { panic!() };
        assert_eq!(faults.iter().map(|fault| fault.key.as_str()).collect::<Vec<_>>(), ["terminal-id"]);
    }
    // A reader of another kind needs answers of its own.
    let mut other = Answers { reader_protocol: Some("verifone-vipa".to_owned()), ..board.answers() };
    let Some(Reply::Faulty(faults)) = board.asked(&Request::Check(Box::new(other.clone()))).await.pop() else {
        panic!()
    };
    let keys: Vec<_> = faults.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(keys, ["sred-form", "terminal-country", "acquirer"]);
    [other.sred_form, other.terminal_country, other.acquirer] =
        ["iv-first", "276", "01"].map(|text| Some(text.to_owned()));
    assert_eq!(board.asked(&Request::Check(Box::new(other))).await, [Reply::Done]);
    assert_eq!(board.asked(&Request::Check(Box::new(board.answers()))).await, [Reply::Done]);
    assert_eq!((board.files(), board.path("data").exists()), (Vec::new(), false));

    let told = board.asked(&Request::Write(Box::new(board.answers()))).await;
    let steps = [Step::Checking, Step::Writing, Step::Operators, Step::Agent, Step::Front].map(Reply::Progress);
    assert_eq!(told, steps.into_iter().chain([Reply::Done]).collect::<Vec<_>>());
    assert!(board.program.take().unwrap().wait().unwrap().success());
    board.is_complete();
    assert!(board.path("board-etc/systemd/timesyncd.conf.d/pos-agent.conf").exists());

    // The agent's other files do not hold a secret either.
    let token = board.shop.gateway.token().to_owned();
    let log = fs::read_to_string(board.path("log")).unwrap();
    for secret in [token.as_str(), PASSPHRASE, PIN, &code] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    // It does not start beside the configuration.
    let again = Command::new(env!("CARGO_BIN_EXE_pos-agent"))
        .args(["first-boot", "--config"])
        .arg(board.path("etc/config.toml"))
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(78), "{again:?}");
}

#[tokio::test]
async fn five_wrong_codes_close_it_also_over_restarts() {
    let mut board = Board::open().await;
    for left in [4, 3, 2, 1] {
        board.start().await;
        assert_eq!(board.asked(&show()).await, [Reply::Done]);
        assert_eq!(board.asked(&enter("1")).await, refused(Refusal::WrongCode { left }));
        board.kill();
    }
    board.start().await;
    assert_eq!(board.asked(&show()).await, [Reply::Done]);
    assert_eq!(board.asked(&enter("1")).await, refused(Refusal::Closed));
    assert_eq!(board.asked(&enter(&board.code())).await, refused(Refusal::Closed), "the right code");
    board.kill();
    board.start().await;
    assert_eq!(board.asked(&show()).await, refused(Refusal::Closed));
    let state = board.state().await;
    assert_eq!((state.stage, state.tries_left), (Stage::Closed, 0));
    assert_eq!(board.printer.receipts().len(), 5, "nothing is printed once it is closed");
}

/// The mark of the hour is the age of the system at its end.
#[tokio::test]
async fn a_restart_gives_no_new_hour() {
    let mut board = Board::open().await;
    board.start().await;
    let left = board.state().await.left_s;
    assert!((LASTS_S - 60..=LASTS_S).contains(&left), "{left}");
    let mark = board.path("run/ends");
    let ends: u64 = fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
    fs::write(&mark, (ends - LASTS_S + 600).to_string()).unwrap();
    board.kill();
    board.start().await;
    let left = board.state().await.left_s;
    assert!((540..=600).contains(&left), "{left}");
    fs::write(&mark, "0").unwrap();
    board.kill();
    board.start().await;
    let state = board.state().await;
    assert_eq!((state.stage, state.left_s), (Stage::Closed, 0));
    assert_eq!(board.asked(&show()).await, refused(Refusal::Closed));
    assert!(board.program.take().unwrap().wait().unwrap().success(), "it ends by itself");
}

#[tokio::test]
async fn hostile_requests_are_refused_and_the_next_one_is_served() {
    let mut board = Board::open().await;
    board.start().await;
    board.enters().await;
    let malformed = |told: &[Reply]| matches!(told, [Reply::Refused(Refusal::Malformed(_))]);
    for bytes in [&b"\n"[..], b"{\"state\":1}\n", b"[]\n", b"\"reboot\"\n", b"\xff\xfe\n"] {
        let told = board.told(bytes).await;
        assert!(malformed(&told), "{bytes:?}: {told:?}");
    }
    let told = board.told(&vec![b' '; LONGEST_REQUEST + 1]).await;
    assert!(malformed(&told), "too long: {told:?}");
    let told = board.told(b"{\"check\":{\"operator\":5,\"a\\u001b\":1}}\n").await;
    assert!(matches!(&told[..], [Reply::Faulty(faults)] if faults.len() == 2), "{told:?}");
    // A file that the page names is not read.
    let secret = board.path("secret");
    fs::write(&secret, "0123456789abcdef0123").unwrap();
    let mut answers = board.answers();
    answers.gateway.token = Some(Secret::File(secret.display().to_string()));
    let told = board.asked(&Request::Write(Box::new(answers))).await;
    let [Reply::Faulty(faults)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(faults[0].key, "gateway.token");
    // Another request meanwhile is told to wait. The first one is too slow.
    let slow = board.sent(b"\"sta").await;
    assert_eq!(board.asked(&Request::State).await, refused(Refusal::Busy));
    assert!(malformed(&replies(slow).await));
    // A front that leaves is no fault.
    drop(board.sent(b"\"search\"\n").await);
    drop(board.sent(b"").await);
    let served = async {
        loop {
            if matches!(board.asked(&Request::State).await[..], [Reply::State(_)]) {
                return;
            }
        }
    };
    within("the next request", served).await;
    assert_eq!(board.files(), Vec::<String>::new());
}

/// Cuts the power at each step of the writing. The terminal is then complete, or it has no configuration and is set up
/// by the next try.
#[tokio::test]
async fn a_power_cut_while_files_are_written_leaves_all_or_nothing() {
    let steps = [Step::Checking, Step::Writing, Step::Operators, Step::Agent, Step::Front];
    for cut in steps {
        let mut board = Board::open().await;
        board.start().await;
        board.enters().await;
        let write = format!("{}\n", serde_json::to_string(&Request::Write(Box::new(board.answers()))).unwrap());
        let mut stream = board.sent(write.as_bytes()).await;
        let until = format!("{}\n", serde_json::to_string(&Reply::Progress(cut)).unwrap());
        let mut seen = String::new();
        let reads = async {
            while !seen.ends_with(&until) {
                seen.push(char::from(stream.read_u8().await.unwrap()));
            }
        };
        within("the step", reads).await;
        board.kill();
        let is_configured = board.path("etc/config.toml").exists();
        if matches!(cut, Step::Agent | Step::Front) {
            assert!(is_configured, "{cut:?}");
        }
        if !is_configured {
            board.start().await;
            assert!(!board.path("etc/front.toml").exists(), "{cut:?}: {:?}", board.files());
            board.enters().await;
            let told = board.asked(&Request::Write(Box::new(board.answers()))).await;
            assert_eq!(told.last(), Some(&Reply::Done), "{cut:?}: {told:?}");
            assert!(!board.files().iter().any(|name| name.starts_with('.')), "{:?}", board.files());
        }
        fs::remove_file(board.path("etc/.first-boot")).unwrap_or_default();
        board.is_complete();
    }
}
