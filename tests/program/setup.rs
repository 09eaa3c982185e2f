//! `pos-agent setup` as a technician meets it. The real program runs at a terminal and unattended, with a simulated
//! reader on a pty, a gateway on TLS and a printer. An agent then starts with the files that it wrote.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use pos_agent::config;
use pos_sim::printer::{self, Printer, PrinterAddress, StatusAnswers};
use pos_sim::shop::{Options, Shop};
use rustix::termios::{LocalModes, tcgetattr};

use crate::counter::Counter;

mod from;
mod tills;

/// A shop, and the folder of a new terminal for it.
struct Site {
    shop: Shop,
    folder: tempfile::TempDir,
}

impl Site {
    async fn open(options: Options) -> Self {
        let site = Self { shop: Shop::open(options).await.unwrap(), folder: tempfile::tempdir().unwrap() };
        fs::copy(site.shop.folder().join("ca.pem"), site.path("stick.pem")).unwrap();
        // The board's ports are those of the simulated reader and printer.
        let board = format!(
            "title = \"Desk\"\nreader-ports = [\"/nowhere/reader\", {:?}]\nreader-baud = 115200\nprinter-ports = []\nprinter-columns = 42\n",
            site.shop.reader.place()
        );
        fs::write(site.path("board.toml"), board).unwrap();
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn config(&self) -> PathBuf {
        self.path("etc/config.toml")
    }

    /// Returns every answer as an option, except the token.
    fn options(&self) -> Vec<String> {
        let config = self.config().to_str().unwrap().to_owned();
        let (board, ca) = (self.text("board.toml"), self.text("stick.pem"));
        let (url, entity) = (self.shop.gateway.base_url(), self.shop.gateway.entity_id());
        [
            "setup",
            "--yes",
            "--config",
            &config,
            "--board",
            &board,
            "--terminal-id",
            "12345678",
            "--merchant",
            "Corner Shop",
            "--merchant",
            "1 Market Street",
            "--currency",
            "EUR",
            "--gateway-url",
            &url,
            "--entity-id",
            entity,
            "--ca-file",
            &ca,
            "--mode",
            "external",
            "--printer",
            &self.shop.printer.place(),
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// Lists the files in the configuration's folder with their modes.
    fn files(&self) -> Vec<(String, u32)> {
        let Ok(entries) = fs::read_dir(self.path("etc")) else { return Vec::new() };
        let mut files: Vec<_> = entries
            .map(Result::unwrap)
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().permissions().mode() & 0o7777)
            })
            .collect();
        files.sort();
        files
    }
}

fn program(arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.args(arguments).env_remove("RUST_LOG").env_remove("CREDENTIALS_DIRECTORY");
    command
}

/// Runs the program with this standard input while the shop goes on in this thread.
async fn run(arguments: Vec<String>, input: &str) -> Output {
    let input = input.to_owned();
    let ran = tokio::task::spawn_blocking(move || {
        use std::io::Write;
        let mut command = program(&arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that has already refused does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    });
    ran.await.unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn with(options: &[String], more: &[&str]) -> Vec<String> {
    options.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect()
}

/// Removes an option and its value.
fn without(options: &[String], option: &str) -> Vec<String> {
    let mut left = options.to_vec();
    while let Some(at) = left.iter().position(|word| word == option) {
        left.drain(at..at + 2);
    }
    left
}

#[tokio::test]
async fn unattended_it_finds_the_reader_writes_the_files_and_the_agent_sells_with_them() {
    let site = Site::open(Options::default()).await;
    let token = site.shop.gateway.token().to_owned();
    let output = run(with(&site.options(), &["--token-file", "-"]), &format!("{token}\n")).await;
    let said = text(&output);
    // The doctor has checked everything and found no fault.
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("{}: M000-MPI", site.shop.reader.place())), "{said}");
    assert!(said.contains("accepts the terminal's token"), "{said}");
    assert!(!said.contains("service\n"), "what its first start makes is not there yet: {said}");
    assert!(!said.contains(&token), "the token is shown: {said}");
    let files = [("config.toml", 0o644), ("gateway-ca.pem", 0o644), ("gateway-token", 0o600)];
    assert_eq!(site.files(), files.map(|(name, mode)| (name.to_owned(), mode)));
    assert_eq!(fs::metadata(site.path("etc")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_to_string(site.path("etc/gateway-token")).unwrap(), token);
    assert!(!fs::read_to_string(site.config()).unwrap().contains(&token));
    let config = config::load(&site.config()).unwrap();
    assert_eq!(config.reader.port, site.shop.reader.place());
    assert_eq!(config.gateway.ca_file, site.path("etc/gateway-ca.pem"));
    assert_eq!(config.terminal.merchant, ["Corner Shop", "1 Market Street"]);
    assert_eq!(config.terminal.max_amount.as_deref(), Some("5000.00"));

    // A second run changes nothing.
    let before = fs::read(site.config()).unwrap();
    let output = run(with(&site.options(), &["--token-file", "-", "--terminal-id", "999"]), &token).await;
    assert_eq!(output.status.code(), Some(64), "an option twice: {}", text(&output));
    let output = run(with(&site.options(), &["--token-file", "-"]), &token).await;
    assert_eq!(output.status.code(), Some(78), "{}", text(&output));
    assert!(text(&output).contains("--replace"), "{}", text(&output));
    assert_eq!(fs::read(site.config()).unwrap(), before);

    // With --replace, omitted options come from the old configuration, which is kept as a copy.
    let edited = String::from_utf8(before).unwrap() + "\n[till]\nhttp = \"127.0.0.1:8651\"\n";
    fs::write(site.config(), &edited).unwrap();
    let arguments =
        ["setup", "--yes", "--replace", "--board", &site.text("board.toml"), "--currency", "CHF", "--config"];
    let arguments = with(&with(&[], &arguments), &[site.config().to_str().unwrap(), "--token-file", "-"]);
    let output = run(arguments, &token).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let names: Vec<_> = site.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["config.toml", "config.toml.old", "gateway-ca.pem", "gateway-token"], "a token is not copied");
    assert!(text(&output).contains("add what you need to the new one: till\n"), "{}", text(&output));
    let config = config::load(&site.config()).unwrap();
    assert_eq!((config.terminal.currency.as_str(), config.terminal.id.as_str()), ("CHF", "12345678"));
    assert_eq!(fs::read_to_string(site.path("etc/config.toml.old")).unwrap(), edited);
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named_and_nothing_is_written() {
    let site = Site::open(Options::default()).await;
    let good = with(&site.options(), &["--token-file", "-"]);
    let token = site.shop.gateway.token();
    for (option, value, says) in [
        ("--terminal-id", "12a", "--terminal-id: must be 1 to 32 digits; write the terminal id from the acquirer"),
        ("--country", "UK", "--country: is not a country code of ISO 3166-1; write two capital letters"),
        ("--currency", "EURO", "--currency: "),
        ("--max-amount", "much", "--max-amount: "),
        ("--gateway-url", "http://gateway.example", "--gateway-url: plain http is refused"),
        ("--entity-id", "ABC", "--entity-id: must be 32 lower-case hex characters"),
        ("--ca-file", "/etc/passwd", "--ca-file: /etc/passwd: "),
        ("--printer", "lp0", "--printer: must be the path of a serial line"),
        ("--mode", "testing", "possible values"),
        ("--board", "toaster", "there is no board toaster"),
        ("--columns", "40", "--columns: must be 32, 42 or 48"),
        ("--reader", "ttyACM0", "--reader: must be the path of a serial line"),
        ("--token-file", "/etc/passwd", "--token-file: /etc/passwd: must hold one line"),
    ] {
        let output = run(with(&without(&good, option), &[option, value]), token).await;
        assert_eq!(output.status.code(), Some(64), "{option}: {}", text(&output));
        assert!(text(&output).contains(says), "{option}: {}", text(&output));
    }
    let output = run(good.clone(), "short\n").await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("the token: must hold one line of 16") && !text(&output).contains("short"));
    let few = with(&without(&without(&good, "--terminal-id"), "--merchant"), &[]);
    let output = run(without(&few, "--token-file"), "").await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("also give --terminal-id, --merchant, --token-file"), "{}", text(&output));
    // There is no terminal, and --yes is missing.
    let output = run(good.iter().filter(|word| *word != "--yes").cloned().collect(), token).await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("setup cannot ask questions here; give --yes"), "{}", text(&output));
    assert_eq!(site.files(), []);
}

#[tokio::test]
async fn who_may_not_write_is_told_before_anything_is_asked() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user: not tested");
        return;
    }
    let site = Site::open(Options::default()).await;
    let open = |path: PathBuf| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    crate::program::copied_to(&site.path("pos-agent"));
    open(site.path("pos-agent"));
    open(site.folder.path().to_owned());
    let ran = tokio::task::spawn_blocking(move || {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(site.path("pos-agent"));
        command.args(site.options()).stdin(Stdio::null()).uid(65534).gid(65534);
        (command.output().unwrap(), site)
    });
    let (output, site) = ran.await.unwrap();
    assert_eq!(output.status.code(), Some(77), "{}", text(&output));
    assert!(text(&output).contains("run this command as root (sudo pos-agent setup)"), "{}", text(&output));
    assert!(!text(&output).contains("Looking for a reader"), "{}", text(&output));
    assert_eq!(site.files(), []);
}

#[tokio::test]
async fn a_fault_that_only_the_devices_show_is_found_at_the_end() {
    let site = Site::open(Options::default()).await;
    let output = run(with(&site.options(), &["--token-file", "-"]), "another-token-0123456789").await;
    assert_eq!(output.status.code(), Some(69), "{}", text(&output));
    assert!(text(&output).contains("refuses the terminal's access token"), "{}", text(&output));
    assert_eq!(site.files().len(), 3, "what was answered is kept");
}

#[tokio::test]
async fn a_device_that_is_no_reader_is_not_taken_for_one() {
    let mut options = Options::default();
    options.reader.wrong_device = true;
    let site = Site::open(options).await;
    let output = run(with(&site.options(), &["--token-file", "-"]), site.shop.gateway.token()).await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("no reader of a known family"), "{}", text(&output));
    assert!(text(&output).contains("also give --reader"), "{}", text(&output));
    assert_eq!(site.files(), []);
}

/// Checks that the search for a reader ends with the first one. A printer would print the bytes that ask for a reader.
/// So the ports that are left get only the question for a printer's state.
#[tokio::test]
async fn the_search_ends_with_the_reader_and_what_is_left_is_offered_as_the_printer() {
    for (status_answers, is_printer) in [(StatusAnswers::Answers, true), (StatusAnswers::Silent, false)] {
        let site = Site::open(Options::default()).await;
        let printer = printer::Options { place: PrinterAddress::Pty(None), status_answers, ..Default::default() };
        let printer = Printer::open(printer).await.unwrap();
        let (reader, left) = (site.shop.reader.place(), printer.place());
        let ports = format!("reader-ports = [{reader:?}, {left:?}]\nreader-baud = 115200\nprinter-ports = []\n");
        fs::write(site.path("board.toml"), format!("title = \"Desk\"\n{ports}printer-columns = 42\n")).unwrap();
        let options = with(&without(&site.options(), "--printer"), &["--token-file", "-"]);
        let output = run(options, site.shop.gateway.token()).await;
        let said = text(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let (asked, offered) = said.split_once("Looking for a printer:").unwrap();
        assert!(asked.contains(&format!("{reader}: M000-MPI")) && !asked.contains(&format!("  {left}: ")), "{said}");
        assert!(!offered.contains(&format!("  {reader}: ")), "{said}");
        let config = config::load(&site.config()).unwrap();
        let printers: Vec<_> = config.printer.iter().map(|printer| printer.port.as_str()).collect();
        if is_printer {
            assert!(offered.contains(&format!("{left}: a printer")), "{said}");
            assert_eq!(printers, [&left]);
        } else {
            assert!(offered.contains(&format!("{left}: no printer answers; if a printer is connected here")), "{said}");
            assert!(printers.is_empty(), "{said}");
        }
        assert_eq!((printer.uncut().as_str(), printer.receipts().len(), printer.errors()), ("", 0, 0), "{said}");
    }
}

/// Checks that no port is asked for a printer before the reader's port is known.
#[tokio::test]
async fn without_a_reader_no_printer_is_looked_for() {
    let mut options = Options::default();
    options.reader.wrong_device = true;
    let site = Site::open(options).await;
    let options = with(&without(&site.options(), "--printer"), &["--token-file", "-"]);
    let output = run(options, site.shop.gateway.token()).await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(!text(&output).contains("Looking for a printer"), "{}", text(&output));
}

/// Checks that a running agent keeps its reader and that its sales go on.
#[tokio::test]
async fn a_running_agent_is_not_disturbed() {
    let mut counter = Counter::open().await;
    let shop = &counter.shop;
    let board = shop.folder().join("board.toml");
    let ports = format!(
        "reader-ports = [{:?}]\nreader-baud = 115200\nprinter-ports = []\nprinter-columns = 42\n",
        shop.reader.place()
    );
    fs::write(&board, format!("title = \"Desk\"\n{ports}")).unwrap();
    let before = counter.told_to_reader();
    let config = shop.config();
    let arguments = [
        "setup",
        "--yes",
        "--replace",
        "--no-doctor",
        "--config",
        config.to_str().unwrap(),
        "--board",
        board.to_str().unwrap(),
    ];
    let output = run(with(&[], &arguments), "").await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("no port was checked"), "{}", text(&output));
    assert!(text(&output).contains("systemctl restart pos-agent"), "{}", text(&output));
    assert_eq!(counter.told_to_reader(), before, "the reader was spoken to");
    counter.sell("r-1", "12.34", "chip-pin", pos_sim::reader::CardEntry::Insert).await;
    counter.until_ended("r-1").await;
    counter.stop_agent().await;
}

// ---- At a terminal

/// The program at its own terminal, and all its output there.
struct Terminal {
    program: Child,
    person: OwnedFd,
    /// The program's side of the terminal. It is kept open, because otherwise the terminal would end with a program
    /// that only queries its modes.
    line: Option<OwnedFd>,
    shown: String,
    /// The position up to which the output has been compared.
    seen: usize,
}

impl Terminal {
    fn open(arguments: &[String]) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let line = side(&person);
        // In a separate session, Ctrl-C at this terminal reaches this program. SIGINT is reset as in a person's shell.
        // A shell that runs the tests in the background ignores SIGINT, and programs inherit that.
        let program = Command::new("env")
            .args(["--default-signal=INT", "setsid", "--ctty", env!("CARGO_BIN_EXE_pos-agent")])
            .args(arguments)
            .env_remove("RUST_LOG")
            .env_remove("CREDENTIALS_DIRECTORY")
            .stdin(line.try_clone().unwrap())
            .stdout(line.try_clone().unwrap())
            .stderr(line.try_clone().unwrap())
            .spawn()
            .unwrap();
        Self { program, person, line: Some(line), shown: String::new(), seen: 0 }
    }

    /// Waits until these words appear after the words of the last wait.
    fn until(&mut self, words: &str) {
        loop {
            if let Some(at) = self.shown[self.seen..].find(words) {
                self.seen += at + words.len();
                return;
            }
            let more = self.more();
            assert!(!more.is_empty(), "{words:?} is not shown: {}", self.shown);
            self.shown += &more;
        }
    }

    /// Returns the next output, which is empty once the program has left the terminal.
    fn more(&self) -> String {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::io::retry_on_intr;
        let patience = Timespec::try_from(pos_test_kit::PATIENCE).unwrap();
        // If another test's program ends at the same time, it interrupts the wait.
        let count = retry_on_intr(|| poll(&mut [PollFd::new(&self.person, PollFlags::IN)], Some(&patience))).unwrap();
        assert_ne!(count, 0, "nothing more is shown: {}", self.shown);
        let mut bytes = [0; 4096];
        let count = retry_on_intr(|| rustix::io::read(&self.person, &mut bytes)).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    fn types(&self, text: &str) {
        rustix::io::write(&self.person, text.as_bytes()).unwrap();
    }

    /// Waits for a question and answers it.
    fn answers(&mut self, question: &str, answer: &str) {
        self.until(question);
        self.until(": ");
        self.types(&format!("{answer}\n"));
    }

    fn shows_what_is_typed(&self) -> bool {
        let modes = tcgetattr(self.line.as_ref().unwrap()).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Waits for the program's end. Returns the status, all output, and whether the terminal has its earlier modes
    /// again.
    fn ends(mut self) -> (ExitStatus, String, bool) {
        // From here on, only the program holds this end of the terminal, and its exit ends the output.
        self.line = None;
        loop {
            let more = self.more();
            if more.is_empty() {
                break;
            }
            self.shown += &more;
        }
        let ended = self.program.wait().unwrap();
        self.line = Some(side(&self.person));
        let is_as_before = self.shows_what_is_typed();
        (ended, self.shown, is_as_before)
    }
}

/// Opens the program's side of a terminal.
fn side(person: &OwnedFd) -> OwnedFd {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    open(rustix::pty::ptsname(person, Vec::new()).unwrap(), flags, Mode::empty()).unwrap()
}

/// Answers every question before the token.
fn up_to_the_token(terminal: &mut Terminal, site: &Site) {
    terminal.answers("Board", &site.text("board.toml"));
    terminal.answers("Terminal id", "12 34");
    // A wrong answer is reported in the configuration's words, and the question is asked again.
    terminal.until("must be 1 to 32 digits; write the terminal id from the acquirer");
    terminal.answers("Terminal id", "12345678");
    terminal.answers("Line 1", "Corner Shop");
    terminal.answers("Line 2", "1 Market Street");
    terminal.answers("Line 3", "");
    terminal.answers("Country of the shop, for example FR, or none [none]", "FR");
    terminal.answers("Currency [EUR]", "");
    terminal.answers("Maximum amount of one payment, or none [5000.00]", "");
    terminal.answers("Address of the gateway", &site.shop.gateway.base_url());
    terminal.answers("Entity id", site.shop.gateway.entity_id());
    terminal.answers("File with the CA", "/nowhere.pem");
    terminal.until("/nowhere.pem: cannot be read");
    terminal.answers("File with the CA", &site.text("stick.pem"));
    terminal.until("The gateway's token (it is not shown): ");
}

fn asked(site: &Site) -> Vec<String> {
    with(&[], &["setup", "--config", site.config().to_str().unwrap()])
}

#[tokio::test]
async fn a_person_is_asked_and_the_token_is_never_shown() {
    let site = Site::open(Options::default()).await;
    let (status, shown, site) = tokio::task::spawn_blocking(move || {
        let mut terminal = Terminal::open(&asked(&site));
        up_to_the_token(&mut terminal, &site);
        assert!(!terminal.shows_what_is_typed());
        terminal.types("short\n");
        terminal.until("must hold one line of 16 to 4096 printable ASCII characters");
        terminal.until("The gateway's token (it is not shown): ");
        // A typing error is deleted with the backspace key.
        terminal.types(&format!("{}x\u{7f}\r", site.shop.gateway.token()));
        terminal.answers("live, or a test system", "maybe");
        terminal.answers("live, or a test system", "external");
        terminal.until("Looking for a reader");
        terminal.until("M000-MPI");
        terminal.answers("The reader's port", "");
        terminal.answers("The printer's port", &site.shop.printer.place());
        terminal.answers("Characters per line of the printer", "");
        terminal.answers("Connect a till: zvt, nexo, caisse-ap, page (only the cashier's page), or none [none]", "");
        terminal.until("port = ");
        assert!(terminal.shows_what_is_typed());
        assert_eq!(site.files(), [], "nothing is written before the last answer");
        terminal.answers("Write this configuration to", "yes");
        let (status, shown, is_as_before) = terminal.ends();
        assert!(is_as_before);
        (status, shown, site)
    })
    .await
    .unwrap();
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(!shown.contains(site.shop.gateway.token()), "{shown}");
    assert!(shown.contains("accepts the terminal's token"), "{shown}");
    let config = config::load(&site.config()).unwrap();
    assert_eq!(config.terminal.id, "12345678");
    assert_eq!(config.terminal.merchant, ["Corner Shop", "1 Market Street"]);
    assert_eq!(fs::read_to_string(site.path("etc/gateway-token")).unwrap(), site.shop.gateway.token());
}

/// Checks the questions for a port on a PC, where no board has a serial port. The answers are a port without a device,
/// another device, and an address without a device.
#[tokio::test]
async fn a_port_without_a_reader_is_told_with_what_to_do_and_asked_again() {
    let mut options = Options::default();
    options.reader.wrong_device = true;
    let site = Site::open(options).await;
    let board = "title = \"Desk\"\nreader-ports = [\"/nowhere/reader\"]\nreader-baud = 115200\nprinter-ports = []\nprinter-columns = 42\n";
    fs::write(site.path("board.toml"), board).unwrap();
    let other_device = site.shop.reader.place();
    let (status, shown, files) = tokio::task::spawn_blocking(move || {
        let mut terminal = Terminal::open(&asked(&site));
        up_to_the_token(&mut terminal, &site);
        terminal.types("0123456789abcdef\r");
        terminal.answers("live, or a test system", "external");
        terminal.until("there is no serial port here: none of /nowhere/reader, /dev/serial/by-id/*");
        terminal.until("connect the reader, switch it on and start again; or give its port with --reader");
        terminal.answers("The reader's port", "ttyS0");
        terminal.until("must be the path of a serial line");
        terminal.answers("The reader's port", "/nowhere/reader");
        terminal.until("check the reader's power and cable, or give a different port");
        terminal.answers("Write this port anyway?", "");
        terminal.answers("The reader's port", &other_device);
        terminal.until("no reader of a known family answers at this port; check for a different device");
        terminal.answers("Write this port anyway?", "no");
        terminal.answers("The reader's port", "tcp://127.0.0.1:1");
        terminal.until("check the reader's power and cable");
        terminal.answers("Write this port anyway?", "yes");
        // A port can have only one device.
        terminal.answers("The printer's port", "tcp://127.0.0.1:1");
        terminal.until("is also the port of the reader");
        terminal.answers("The printer's port", "none");
        terminal.answers("Connect a till", "none");
        terminal.answers("Write this configuration to", "no");
        let (status, shown, _) = terminal.ends();
        (status, shown, site.files())
    })
    .await
    .unwrap();
    assert_eq!(status.code(), Some(2), "{shown}");
    assert_eq!(files, [], "{shown}");
}

#[tokio::test]
async fn unattended_on_a_pc_it_says_what_it_looked_for_and_writes_nothing() {
    let site = Site::open(Options::default()).await;
    let board = "title = \"Desk\"\nreader-ports = [\"/nowhere/reader\"]\nreader-baud = 115200\nprinter-ports = []\nprinter-columns = 42\n";
    fs::write(site.path("board.toml"), board).unwrap();
    let output = run(with(&site.options(), &["--token-file", "-"]), site.shop.gateway.token()).await;
    let said = text(&output);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(said.contains("none of /nowhere/reader, ") && said.contains("also give --reader"), "{said}");
    assert_eq!(site.files(), []);
    // A port given as an option is accepted. The files are complete, and the doctor reports the port's fault.
    let given = with(&site.options(), &["--token-file", "-", "--reader", "/nowhere/reader"]);
    let output = run(given, site.shop.gateway.token()).await;
    assert_eq!(output.status.code(), Some(69), "{}", text(&output));
    assert!(text(&output).contains("no device at /nowhere/reader"), "{}", text(&output));
    assert_eq!(site.files().len(), 3);
}

/// Checks four ways to stop: Ctrl-C as a key at a question, Ctrl-C as a byte in hidden input, a closed terminal, and a
/// "no" at the end.
#[tokio::test]
async fn whoever_stops_leaves_nothing_behind_and_a_terminal_as_it_was() {
    for stop in ["a key at the first question", "at the token", "the end of input", "no at the end"] {
        let site = Site::open(Options::default()).await;
        let (status, shown, files, left) = tokio::task::spawn_blocking(move || {
            let mut terminal = Terminal::open(&asked(&site));
            match stop {
                "a key at the first question" => {
                    terminal.until("Board");
                    terminal.until(": ");
                    terminal.types("\u{3}");
                }
                "the end of input" => {
                    terminal.until("Board");
                    terminal.until(": ");
                    terminal.types("\u{4}");
                }
                "at the token" => {
                    up_to_the_token(&mut terminal, &site);
                    terminal.types("0123456789\u{3}");
                }
                _ => {
                    up_to_the_token(&mut terminal, &site);
                    terminal.types("0123456789abcdef\r");
                    terminal.answers("live, or a test system", "live");
                    terminal.answers("The reader's port", "");
                    terminal.answers("The printer's port", "none");
                    terminal.answers("Connect a till", "");
                    terminal.answers("Write this configuration to", "no");
                }
            }
            let (status, shown, is_as_before) = terminal.ends();
            assert!(is_as_before, "{stop}: the terminal was left as it was for the token");
            (status, shown, site.files(), site.path("etc").exists())
        })
        .await
        .unwrap();
        assert!(!status.success(), "{stop}: {shown}");
        assert!(status.code().is_none_or(|code| code == 2), "{stop}: {status:?}");
        assert_eq!((files, left), (Vec::new(), false), "{stop}");
    }
}

#[test]
fn the_help_says_what_is_written_and_where() {
    let output = program(&["setup".to_owned(), "--help".to_owned()]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "--terminal-id",
        "--token-file",
        "without being shown",
        "mode 0600",
        "--replace",
        "--yes",
        "--till <KIND>",
        "front.toml",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
