//! The state of the first boot, and its answer to each request.

use std::path::PathBuf;
use std::time::Duration;

use pos_first_boot::{Answers, Devices, Fault, FoundDevice, Refusal, Reply, Request, Stage, State};
use pos_printer::layout::Style;
use pos_words::clean;
use tokio::net::UnixStream;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::super::doctor;
use super::super::setup::devices::{self, Looked};
use super::super::setup::draft::{Draft, Printer, known_protocols};
use super::super::setup::system::{self, Etc};
use super::code::{Code, Tries};
use super::show;
use crate::board::Board;
use crate::config;
use crate::doctor::{Agent, clock_is_synchronised};

/// The greatest number of slips with a code. A front that starts again and again does not use up the paper.
const MOST_SLIPS: u32 = 3;
/// The greatest number of addresses that are shown.
const MOST_URLS: usize = 6;
/// The greatest length of an address or of a text to try, in characters.
const MOST_LETTERS: usize = 200;

/// The first boot.
pub(super) struct Boot {
    pub(super) config: PathBuf,
    pub(super) board: Board,
    pub(super) board_name: String,
    pub(super) etc: Etc,
    pub(super) journal: Option<String>,
    pub(super) front_user: Option<String>,
    /// The user of the front, who may connect.
    pub(super) peer: Option<u32>,
    pub(super) console: PathBuf,
    pub(super) tries: Tries,
    /// The end of the hour.
    pub(super) ends: Instant,
    pub(super) code: Option<Code>,
    pub(super) code_at: Vec<String>,
    /// The number of slips with a code so far.
    pub(super) slips: u32,
    pub(super) stage: Stage,
    /// True if the board can join a wireless network.
    pub(super) has_wifi: bool,
}

impl Boot {
    /// Answers a request. Only [`Request::Write`] sends its progress to the stream.
    pub(super) async fn answer(&mut self, request: Request, stream: &mut UnixStream) -> Reply {
        if let Request::State = request {
            return Reply::State(self.state());
        }
        if self.config.exists() || !matches!(doctor::agent(&self.config).await, Agent::Absent) {
            return Reply::Refused(Refusal::Configured);
        }
        match request {
            Request::Show { urls } => {
                let etc = self.etc.clone();
                self.has_wifi = blocking(move || etc.has_wifi()).await;
                self.show_code(&urls).await
            }
            Request::Enter { code } => self.enter(&code),
            _ if self.stage != Stage::Entered => Reply::Refused(match self.stage() {
                Stage::Closed => Refusal::Closed,
                _ => Refusal::NotEntered,
            }),
            Request::State => Reply::State(self.state()),
            Request::Search => Reply::Devices(self.search().await),
            Request::TryPrinter { port, columns, text } => self.try_printer(port, columns, &text).await,
            Request::TryReader { port, text } => self.try_reader(&port, &text).await,
            Request::Clock { time_zone, time_servers } => {
                let etc = self.etc.clone();
                told(blocking(move || etc.set_clock(time_zone.as_deref(), Some(&time_servers))).await)
            }
            Request::Wifi(wifi) => {
                let etc = self.etc.clone();
                let join = move || {
                    let (name, password) = system::wifi_of(&wifi);
                    etc.join_wifi(name, password)
                };
                told(blocking(join).await)
            }
            Request::Check(given) => match self.judged(*given).await {
                Ok(_) => Reply::Done,
                Err(faults) => Reply::Faulty(faults),
            },
            Request::Write(given) => self.write(*given, stream).await,
        }
    }

    fn stage(&self) -> Stage {
        let is_closed = self.tries.left() == 0 || self.left().is_zero();
        if self.stage == Stage::Waiting && is_closed { Stage::Closed } else { self.stage }
    }

    fn left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    fn state(&self) -> State {
        let is_entered = self.stage == Stage::Entered;
        let zone = || {
            let link = std::fs::read_link(self.etc.0.join("localtime")).ok()?;
            Some(link.strip_prefix("/usr/share/zoneinfo").ok()?.display().to_string())
        };
        State {
            stage: self.stage(),
            code_at: self.code_at.clone(),
            has_code: self.code.is_some() || self.stage != Stage::Waiting,
            tries_left: self.tries.left(),
            left_s: self.left().as_secs(),
            board: is_entered.then(|| self.board.title.clone()),
            wifi: self.has_wifi,
            time_zone: is_entered.then(zone).flatten(),
            clock_is_right: clock_is_synchronised(),
        }
    }

    /// Makes a new code and shows it with the page's addresses.
    async fn show_code(&mut self, urls: &[String]) -> Reply {
        // A front that has started again knows no browser, so the next browser needs a code.
        self.stage = Stage::Waiting;
        (self.code, self.code_at) = (None, Vec::new());
        if self.stage() == Stage::Closed {
            return Reply::Refused(Refusal::Closed);
        }
        let code = match Code::new() {
            Ok(code) => code,
            Err(error) => return told(vec![fault("", &error.to_string(), "start the board again")]),
        };
        let is_address = |url: &&String| url.starts_with("https://") && url.chars().count() <= MOST_LETTERS;
        let urls: Vec<String> = urls.iter().filter(is_address).take(MOST_URLS).map(|url| clean::line(url)).collect();
        let mut text = Zeroizing::new(String::with_capacity(2048));
        *text += "\r\nThis payment terminal is not set up yet. In a browser in the same network, open:\r\n\r\n";
        urls.iter().for_each(|url| *text += &format!("  {url}\r\n"));
        *text += "\r\nThe code: ";
        *text += &code.shown();
        *text += "\r\n\r\n";
        if show::on_console(self.console.clone(), text).await {
            self.code_at.push("console".to_owned());
        }
        if self.print_code(&code, &urls).await {
            self.code_at.push("printer".to_owned());
        }
        self.code = Some(code);
        Reply::Done
    }

    /// Prints the code at the first printer that shows itself. Returns whether it is on paper.
    async fn print_code(&mut self, code: &Code, urls: &[String]) -> bool {
        if self.slips >= MOST_SLIPS {
            return false;
        }
        let columns = self.board.printer_columns;
        for port in devices::sure_printers(&self.board) {
            let Ok(printer) = self.printer(port, columns) else { continue };
            let mut lines = vec![show::line("This terminal is not set up yet.", Style::Plain)];
            lines.push(show::line("In a browser, open:", Style::Plain));
            lines.extend(urls.iter().map(|url| show::line(url, Style::Plain)));
            lines.extend(urls.first().and_then(|url| show::qr(url, columns)));
            lines.push(show::line("The code:", Style::Plain));
            lines.push(show::line(&code.shown(), Style::Big));
            if show::on_paper(printer, lines).await.is_ok() {
                self.slips += 1;
                return true;
            }
        }
        false
    }

    fn enter(&mut self, typed: &str) -> Reply {
        let Some(code) = self.code.as_ref().filter(|_| self.stage() == Stage::Waiting) else {
            return Reply::Refused(if self.stage() == Stage::Closed { Refusal::Closed } else { Refusal::NotEntered });
        };
        match self.tries.take_one() {
            Ok(true) => {}
            Ok(false) => return Reply::Refused(Refusal::Closed),
            Err(error) => return told(vec![fault("", &error.to_string(), "start the board again")]),
        }
        if code.is(typed) {
            // If the try cannot be given back, there is one try less for the next browser.
            let _ = self.tries.give_back();
            (self.stage, self.code) = (Stage::Entered, None);
            return Reply::Done;
        }
        match self.tries.left() {
            0 => Reply::Refused(Refusal::Closed),
            left => Reply::Refused(Refusal::WrongCode { left }),
        }
    }

    async fn search(&self) -> Devices {
        let found = |looked: &Looked| FoundDevice { port: looked.port.clone(), said: looked.said.clone() };
        let mut looked = Vec::new();
        let ports = devices::serial_ports(&self.board);
        let reader = devices::reader(&ports, self.board.reader_baud, &mut looked).await;
        let mut draft = Draft::for_file(&self.config);
        // Until the reader's port is known, only a device that shows itself is asked for a printer.
        let printers = match &reader {
            Some(reader) => {
                draft.reader.clone_from(&reader.port);
                devices::printers(&self.board, &mut draft, &self.board.printer_columns.to_string()).await
            }
            None => {
                let sure = devices::sure_printers(&self.board).into_iter();
                sure.map(|port| Looked { port, said: "a printer".to_owned(), is_there: true }).take(1).collect()
            }
        };
        let printer = printers.iter().find(|looked| looked.is_there).map(found);
        let looked = looked.iter().chain(&printers).map(found).collect();
        let reader_protocol = reader.as_ref().map(|reader| reader.protocol.name().to_owned());
        let reader = reader.map(|reader| FoundDevice { port: reader.port, said: reader.who });
        Devices { reader, reader_protocol, protocols: known_protocols(), printer, looked }
    }

    async fn try_printer(&self, port: String, columns: u8, text: &str) -> Reply {
        if let Some(refused) = self.stray("printer.port", &port) {
            return refused;
        }
        let text = clean::line(text).chars().take(MOST_LETTERS).collect::<String>();
        let printed = match self.printer(port, columns) {
            Ok(printer) => show::on_paper(printer, vec![show::line(&text, Style::Plain)]).await,
            Err(fault) => return told(vec![fault]),
        };
        told(
            printed
                .err()
                .map(|why| fault("printer.port", &why, "check the printer, then try again"))
                .into_iter()
                .collect(),
        )
    }

    async fn try_reader(&self, port: &str, text: &str) -> Reply {
        if let Some(refused) = self.stray("reader", port) {
            return refused;
        }
        let text = clean::line(text).chars().take(MOST_LETTERS).collect();
        let shown = show::on_reader(port, self.board.reader_baud, text).await;
        told(shown.err().map(|why| fault("reader", &why, "check the reader, then try again")).into_iter().collect())
    }

    /// Refuses a port that is no device of this board. Root would otherwise open any file.
    fn stray(&self, key: &str, port: &str) -> Option<Reply> {
        let (wrong, remedy) = match port {
            port if port.starts_with("tcp://") => {
                ("a device in the network cannot be tried here", "go on; the terminal checks it when it is set up")
            }
            port if devices::is_of_board(&self.board, port) => return None,
            _ => ("is no port of this board with a device", "search for devices, then choose a port that was found"),
        };
        Some(told(vec![fault(key, wrong, remedy)]))
    }

    /// Returns the configuration of a printer, by the rules of the configuration.
    fn printer(&self, port: String, columns: u8) -> Result<config::Printer, Fault> {
        let mut draft = Draft::for_file(&self.config);
        draft.printer = Some(Printer { port, columns: columns.to_string() });
        for (key, answer) in [("printer[0].port", "printer.port"), ("printer[0].columns", "printer.columns")] {
            if let Some(wrong) = draft.fault(key) {
                return Err(fault(answer, &wrong.wrong, &wrong.remedy));
            }
        }
        let mut config = draft.config().map_err(|error| fault("printer.port", &error.to_string(), ""))?;
        Ok(config.printer.remove(0))
    }

    #[cfg(test)]
    pub(super) fn for_tests(folder: &std::path::Path) -> Self {
        let board =
            "title = \"Desk\"\nreader-ports = []\nreader-baud = 115200\nprinter-ports = []\nprinter-columns = 42\n";
        Self {
            config: folder.join("etc/config.toml"),
            board: toml::from_str(board).unwrap(),
            board_name: "generic-armv7".to_owned(),
            etc: Etc(folder.join("etc")),
            journal: None,
            front_user: Some("4711".to_owned()),
            peer: None,
            console: folder.join("console"),
            tries: Tries::of(folder),
            ends: Instant::now() + Duration::from_secs(pos_first_boot::LASTS_S),
            code: None,
            code_at: Vec::new(),
            slips: 0,
            stage: Stage::Waiting,
            has_wifi: false,
        }
    }
}

/// Runs work that waits for other programs, so that the next connections are answered meanwhile.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("the work does not panic")
}

pub(super) fn told(faults: Vec<Fault>) -> Reply {
    if faults.is_empty() { Reply::Done } else { Reply::Faulty(faults) }
}

pub(super) fn fault(key: &str, wrong: &str, remedy: &str) -> Fault {
    Fault { key: key.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}

/// Returns whether the page names a board of the list, and not a file.
pub(super) fn is_known_board(given: &Answers) -> bool {
    given.board.as_ref().is_none_or(|board| !board.contains('/'))
}

#[cfg(test)]
mod tests {
    use pos_first_boot::LASTS_S;

    use super::*;

    fn code_of(boot: &Boot) -> String {
        boot.code.as_ref().unwrap().shown().replace(' ', "")
    }

    async fn asked(boot: &mut Boot, request: Request) -> Reply {
        let (mut stream, _other) = UnixStream::pair().unwrap();
        boot.answer(request, &mut stream).await
    }

    fn enter(code: &str) -> Request {
        Request::Enter { code: Zeroizing::new(code.to_owned()) }
    }

    #[tokio::test]
    async fn one_browser_enters_once_and_nothing_is_answered_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut boot = Boot::for_tests(folder.path());
        std::fs::write(&boot.console, "").unwrap();
        assert_eq!(asked(&mut boot, enter("12345678")).await, Reply::Refused(Refusal::NotEntered), "no code is shown");
        assert!(!boot.state().has_code);
        let urls = vec!["https://pos.local:8443/".to_owned(), "javascript:alert(1)".to_owned()];
        assert_eq!(asked(&mut boot, Request::Show { urls: urls.clone() }).await, Reply::Done);
        let shown = std::fs::read_to_string(&boot.console).unwrap();
        let code = code_of(&boot);
        assert!(shown.contains("https://pos.local:8443/") && !shown.contains("javascript"), "{shown}");
        assert!(shown.replace(' ', "").contains(&format!("Thecode:{code}")), "{shown}");
        for request in [Request::Search, Request::Check(Box::default()), Request::Write(Box::default())] {
            assert_eq!(asked(&mut boot, request).await, Reply::Refused(Refusal::NotEntered));
        }
        assert_eq!(asked(&mut boot, enter("x")).await, Reply::Refused(Refusal::WrongCode { left: 4 }));
        assert_eq!(asked(&mut boot, enter(&code)).await, Reply::Done);
        assert_eq!(asked(&mut boot, enter(&code)).await, Reply::Refused(Refusal::NotEntered), "a second browser");
        let Reply::State(state) = asked(&mut boot, Request::State).await else { panic!() };
        assert_eq!((state.stage, state.tries_left, state.board.as_deref()), (Stage::Entered, 4, Some("Desk")));
        assert!(state.has_code && (LASTS_S - 60..=LASTS_S).contains(&state.left_s), "{state:?}");
        // The front has started again and knows no browser: there is a new code, and the tries are kept.
        assert_eq!(asked(&mut boot, Request::Show { urls }).await, Reply::Done);
        assert_eq!(asked(&mut boot, Request::Search).await, Reply::Refused(Refusal::NotEntered));
        assert_eq!((boot.stage, boot.tries.left()), (Stage::Waiting, 4));
    }

    #[tokio::test]
    async fn after_five_wrong_codes_the_right_one_is_refused_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut boot = Boot::for_tests(folder.path());
        asked(&mut boot, Request::Show { urls: Vec::new() }).await;
        for left in [4, 3, 2, 1] {
            assert_eq!(asked(&mut boot, enter("0")).await, Reply::Refused(Refusal::WrongCode { left }));
        }
        assert_eq!(asked(&mut boot, enter("0")).await, Reply::Refused(Refusal::Closed));
        let code = code_of(&boot);
        assert_eq!(asked(&mut boot, enter(&code)).await, Reply::Refused(Refusal::Closed));
        assert_eq!(asked(&mut boot, Request::Show { urls: Vec::new() }).await, Reply::Refused(Refusal::Closed));
        assert_eq!(boot.stage(), Stage::Closed);
        // A new process reads the same file.
        assert_eq!(Boot::for_tests(folder.path()).stage(), Stage::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn after_the_hour_no_code_is_shown_or_right() {
        let folder = tempfile::tempdir().unwrap();
        let mut boot = Boot::for_tests(folder.path());
        assert_eq!(asked(&mut boot, Request::Show { urls: Vec::new() }).await, Reply::Done);
        tokio::time::sleep_until(boot.ends).await;
        let code = code_of(&boot);
        assert_eq!(asked(&mut boot, enter(&code)).await, Reply::Refused(Refusal::Closed));
        assert_eq!(asked(&mut boot, Request::Show { urls: Vec::new() }).await, Reply::Refused(Refusal::Closed));
        assert_eq!((boot.state().stage, boot.state().left_s), (Stage::Closed, 0));
    }

    #[tokio::test]
    async fn root_opens_no_file_that_the_page_names() {
        let folder = tempfile::tempdir().unwrap();
        let mut boot = Boot::for_tests(folder.path());
        boot.stage = Stage::Entered;
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "unchanged").unwrap();
        for port in [secret.to_str().unwrap(), "/dev/null", "tcp://192.0.2.1:9100"] {
            let print = Request::TryPrinter { port: port.to_owned(), columns: 42, text: "x".to_owned() };
            let Reply::Faulty(faults) = asked(&mut boot, print).await else { panic!("{port}") };
            assert_eq!(faults[0].key, "printer.port");
            let show = Request::TryReader { port: port.to_owned(), text: "x".to_owned() };
            assert!(matches!(asked(&mut boot, show).await, Reply::Faulty(_)), "{port}");
        }
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "unchanged");
        let given = Answers { board: Some(secret.display().to_string()), ..Answers::default() };
        let Reply::Faulty(faults) = asked(&mut boot, Request::Check(Box::new(given))).await else { panic!() };
        assert!(faults.len() == 1 && faults[0].key == "board", "{faults:?}");
    }

    #[tokio::test]
    async fn beside_a_configuration_everything_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut boot = Boot::for_tests(folder.path());
        boot.stage = Stage::Entered;
        std::fs::create_dir_all(folder.path().join("etc")).unwrap();
        std::fs::write(&boot.config, "").unwrap();
        for request in [enter("0"), Request::Search, Request::Write(Box::default())] {
            assert_eq!(asked(&mut boot, request).await, Reply::Refused(Refusal::Configured));
        }
    }
}
