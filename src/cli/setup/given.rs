//! Answers that are given all at once, by a file or by the page of the first boot. Every fault is found at once too,
//! by the same rules as the answers of a person.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use pos_first_boot::{Answers, Fault, PrinterAnswers, Secret as GivenSecret};
use zeroize::Zeroizing;

use self::front::answer_of_front;
use super::devices;
use super::draft::{CA, Draft, Printer};
use super::front_file::{Scratch, USUAL_RIGHTS};
use super::install::Install;
use super::questions::{NONE, usual_max_amount};
use super::staff::NewOperator;
use super::{questions, system};
use crate::board::{self, Board};
use crate::config::{self, Config, ConfigFault};
use pos_core::counter::Pin;
use pos_terms::transaction::OperatorName;

mod front;

/// The greatest length of a secret or a file that an answer names. A logo may have 64 KiB.
const LONGEST: usize = 64 * 1024 + 1;

/// Where the answers are judged.
pub(in crate::cli) struct Ground<'a> {
    /// The path of the configuration.
    pub(in crate::cli) config: &'a Path,
    /// The earlier configuration, whose values answer what is not given.
    pub(in crate::cli) earlier: Option<&'a Config>,
    /// The folder in which relative paths of secrets begin.
    pub(in crate::cli) folder: &'a Path,
    /// The uid of pos-front, if it is not that of its usual user.
    pub(in crate::cli) front_user: Option<&'a str>,
    /// True if the ports may be searched for a reader and a printer that are not given.
    pub(in crate::cli) may_search: bool,
    /// True if the devices may be found later. Then a missing reader is no fault.
    pub(in crate::cli) is_check: bool,
}

struct Judge<'a> {
    ground: &'a Ground<'a>,
    draft: Draft,
    faults: Vec<Fault>,
    /// The folder of a CA that is given as a value.
    scratch: Option<Scratch>,
}

/// Makes all files of a terminal from the given answers.
///
/// # Errors
/// Returns every fault with the key of its answer.
pub(in crate::cli) async fn judged(given: Answers, ground: &Ground<'_>) -> Result<Install, Vec<Fault>> {
    let mut draft = Draft::for_file(ground.config);
    ground.earlier.into_iter().for_each(|earlier| draft.take_over(earlier));
    let mut judge = Judge { ground, draft, faults: Vec::new(), scratch: None };
    let Answers { board, reader, printer, gateway, till, page, operator, system, .. } = &given;
    let board = judge.board(board.as_deref());
    judge.shop(&given);
    judge.needed("gateway.url", &gateway.url, |draft| &mut draft.url);
    judge.needed("gateway.entity-id", &gateway.entity_id, |draft| &mut draft.entity_id);
    judge.mode(gateway.mode.as_deref());
    judge.ca(gateway.ca.as_ref());
    let token = judge.token(gateway.token.as_ref());
    judge.reader(reader.clone(), board.as_ref()).await;
    judge.more_of_reader(&given);
    judge.printer(printer.clone(), board.as_ref()).await;
    judge.front(till.clone().unwrap_or_default(), page.clone(), till.is_some());
    let staff = judge.staff(operator);
    if let Some(system) = system {
        judge.faults.extend(system::faulty_servers(&system.time_servers));
        let wifi = system.wifi.as_ref().map(system::wifi_of);
        judge.faults.extend(wifi.and_then(|(name, password)| system::faulty_wifi(name, password)));
    }
    judge.by_the_rules();
    let ca = judge.copied_ca();
    let Judge { draft, faults, .. } = judge;
    if faults.is_empty() { Ok(Install { draft, token, ca, staff }) } else { Err(faults) }
}

impl Judge<'_> {
    fn tell(&mut self, key: &str, wrong: &str, remedy: &str) {
        self.faults.push(Fault { key: key.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() });
    }

    /// Tells a fault whose text holds its remedy after a semicolon.
    fn tell_text(&mut self, key: &str, text: &str) {
        let (wrong, remedy) = text.split_once("; ").unwrap_or((text, "write a different value"));
        self.tell(key, wrong, remedy);
    }

    fn missing(&mut self, key: &str) {
        self.tell(key, "is missing", "add it");
    }

    /// Takes an answer that no default replaces.
    fn needed(&mut self, key: &str, given: &Option<String>, field: fn(&mut Draft) -> &mut String) {
        match given {
            Some(given) => field(&mut self.draft).clone_from(given),
            None if self.ground.earlier.is_some() => {}
            None => self.missing(key),
        }
    }

    fn board(&mut self, given: Option<&str>) -> Option<Board> {
        self.draft.board = given.unwrap_or(questions::usual_board()).to_owned();
        let board = board::load(&self.draft.board);
        board.map_err(|error| self.tell_text("board", &error.to_string())).ok()
    }

    fn shop(&mut self, given: &Answers) {
        self.needed("terminal-id", &given.terminal_id, |draft| &mut draft.terminal_id);
        match &given.merchant {
            Some(lines) => self.draft.merchant.clone_from(lines),
            None if self.ground.earlier.is_some() => {}
            None => self.missing("merchant"),
        }
        let unless_none = |text: &String| (text != NONE).then(|| text.clone());
        let draft = &mut self.draft;
        if let Some(country) = &given.country {
            draft.country = unless_none(country);
        }
        if let Some(currency) = &given.currency {
            draft.currency.clone_from(currency);
        }
        match &given.max_amount {
            Some(amount) => draft.max_amount = unless_none(amount),
            None if self.ground.earlier.is_some() => {}
            None => draft.max_amount = Some(usual_max_amount(&draft.currency).to_owned()),
        }
        draft.language = given.language.clone().or_else(|| draft.language.take());
        draft.time_zone = given.time_zone.clone().or_else(|| draft.time_zone.take());
        draft.may_train = given.training.unwrap_or(draft.may_train);
        draft.journal = given.journal.clone().or_else(|| draft.journal.take());
    }

    fn mode(&mut self, given: Option<&str>) {
        self.draft.test_mode = match given {
            Some("live") => None,
            Some("external") => Some("EXTERNAL".to_owned()),
            Some("internal") => Some("INTERNAL".to_owned()),
            Some(_) => return self.tell("gateway.mode", "is no mode", "write live, external or internal"),
            None if self.ground.earlier.is_some() => return,
            None => return self.missing("gateway.mode"),
        };
    }

    fn ca(&mut self, given: Option<&GivenSecret>) {
        match given {
            Some(GivenSecret::File(file)) => self.draft.ca_file = self.ground.folder.join(file),
            Some(GivenSecret::Value(text)) => {
                let written = Scratch::make("ca").and_then(|scratch| {
                    let file = scratch.0.join(CA);
                    fs::write(&file, text.as_bytes())?;
                    Ok((scratch, file))
                });
                match written {
                    Ok((scratch, file)) => (self.scratch, self.draft.ca_file) = (Some(scratch), file),
                    Err(error) => self.tell("gateway.ca", &error.to_string(), "check the disk, then try again"),
                }
            }
            None if self.draft.ca_file.exists() => {}
            None => self.missing("gateway.ca"),
        }
    }

    /// Returns the CA if it must be copied beside the configuration, which then names the copy.
    fn copied_ca(&mut self) -> Option<Vec<u8>> {
        if self.draft.ca_file.parent() == self.ground.config.parent() {
            return None;
        }
        // The rules have already told that it cannot be read.
        let ca = fs::read(&self.draft.ca_file).ok();
        self.draft.ca_file = self.ground.config.with_file_name(CA);
        ca
    }

    fn token(&mut self, given: Option<&GivenSecret>) -> Option<Zeroizing<String>> {
        let read = match given {
            Some(GivenSecret::File(file)) => config::secret_credential(&self.ground.folder.join(file)),
            Some(GivenSecret::Value(text)) => config::secret_line(text.as_bytes(), Path::new("the token")),
            None => {
                if !self.draft.token_file().exists() {
                    self.missing("gateway.token");
                }
                return None;
            }
        };
        read.map_err(|error| self.tell_text("gateway.token", &error.to_string())).ok()
    }

    async fn reader(&mut self, given: Option<String>, board: Option<&Board>) {
        if let (Some(board), None) = (board, self.ground.earlier) {
            self.draft.baud = board.reader_baud;
        }
        let found = match (given, board) {
            (None, Some(board)) if self.ground.may_search => {
                let (ports, baud) = (devices::serial_ports(board), self.draft.baud);
                let found = devices::reader(&ports, baud, &mut Vec::new()).await;
                found.iter().for_each(|found| self.draft.takes_reader(found));
                found.map(|found| found.port)
            }
            (given, _) => given,
        };
        match found {
            Some(port) => self.draft.reader = port,
            None if self.ground.earlier.is_some() || self.ground.is_check => {}
            None => self.tell("reader", "no reader was found", "connect it and switch it on, or write its port"),
        }
    }

    /// Takes the settings that only some reader protocols have. The rules find those that are missing.
    fn more_of_reader(&mut self, given: &Answers) {
        if let Some(protocol) = &given.reader_protocol
            && let Err(unknown) = self.draft.takes_protocol(protocol)
        {
            self.tell("reader-protocol", "is not a known protocol", &unknown.to_string());
        }
        let more = &mut self.draft.reader_more;
        for (ours, given) in [
            (&mut more.sred_form, &given.sred_form),
            (&mut more.terminal_country, &given.terminal_country),
            (&mut more.acquirer, &given.acquirer),
        ] {
            if given.is_some() {
                ours.clone_from(given);
            }
        }
    }

    async fn printer(&mut self, given: Option<PrinterAnswers>, board: Option<&Board>) {
        let before = self.draft.printer.as_ref().map(|before| before.columns.clone());
        let usual = before.or_else(|| board.map(|board| board.printer_columns.to_string())).unwrap_or_default();
        let columns = given.as_ref().and_then(|given| given.columns).map_or(usual, |columns| columns.to_string());
        let port = match (given, board) {
            (Some(PrinterAnswers { port, .. }), _) => Some(port).filter(|port| port != NONE),
            (None, _) if self.draft.printer.is_some() => return,
            (None, Some(board)) if self.ground.may_search => {
                let found = devices::printers(board, &mut self.draft, &columns).await;
                found.into_iter().find(|device| device.is_there).map(|device| device.port)
            }
            (None, _) => None,
        };
        self.draft.printer = port.map(|port| Printer { port, columns });
    }

    fn staff(&mut self, given: &[pos_first_boot::OperatorAnswer]) -> Vec<NewOperator> {
        let mut staff: Vec<NewOperator> = Vec::new();
        for (n, operator) in given.iter().enumerate() {
            let key = |field: &str| format!("operator[{n}].{field}");
            if let Err(error) = OperatorName::parse(&operator.name) {
                self.tell_text(&key("name"), &error.to_string());
            }
            if staff.iter().any(|other| other.name == operator.name) {
                self.tell(&key("name"), "is the name of two operators", "give each operator another name");
            }
            if !["cashier", "supervisor", "technician"].contains(&operator.role.as_str()) {
                self.tell(&key("role"), "is no role", "write cashier, supervisor or technician");
            }
            let Some(pin) = self.content(&key("pin"), &operator.pin, 64) else { continue };
            let pin = Zeroizing::new(String::from_utf8_lossy(&pin).trim_end_matches(['\r', '\n']).to_owned());
            if let Err(error) = Pin::to_be_set(pin.clone()) {
                self.tell_text(&key("pin"), &error.to_string());
            }
            staff.push(NewOperator { name: operator.name.clone(), role: operator.role.clone(), pin });
        }
        staff
    }

    /// Returns the content of a secret, which is never longer than `most` bytes.
    fn content(&mut self, key: &str, secret: &GivenSecret, most: usize) -> Option<Zeroizing<Vec<u8>>> {
        let content = match secret {
            GivenSecret::Value(value) => Ok(Zeroizing::new(value.as_bytes().to_vec())),
            GivenSecret::File(file) => {
                let file = self.ground.folder.join(file);
                bounded(&file, most).map_err(|error| (file, error))
            }
        };
        match content {
            Ok(content) if content.len() <= most => Some(content),
            Ok(_) => {
                self.tell(key, &format!("is longer than {most} bytes"), "write a shorter one");
                None
            }
            Err((file, error)) => {
                self.tell(key, &format!("{}: {error}", file.display()), "check the path of the file");
                None
            }
        }
    }

    /// Adds the faults that the rules of the configuration and of `pos-front` find.
    fn by_the_rules(&mut self) {
        let mut draft = self.draft.clone();
        if let Some(front) = &mut draft.front
            && self.draft.config().is_err()
        {
            // A word that is no right makes the whole file unreadable. The other faults are told without it.
            front.rights = USUAL_RIGHTS.to_owned();
            if let (Ok(_), Err(error)) = (draft.config(), self.draft.config()) {
                self.tell_text("till.rights", &error.to_string());
            }
        }
        match draft.config() {
            Ok(config) => {
                // The token is not in its place yet, and was judged above.
                let faults = config.faults().into_iter().filter(|fault| !fault.key.starts_with("gateway.token"));
                faults.for_each(|fault| self.tell_rule(answer_of(&fault.key), &fault));
            }
            Err(error) => self.tell_text("", &error.to_string()),
        }
        let has_till_fault = self.faults.iter().any(|fault| fault.key.starts_with("till"));
        if let Some(fault) = draft.front.filter(|_| !has_till_fault).and_then(|front| front.fault()) {
            self.tell_rule(answer_of_front(&fault.wrong), &fault);
        }
    }

    fn tell_rule(&mut self, key: &str, ConfigFault { wrong, remedy, .. }: &ConfigFault) {
        // A missing answer has a placeholder, whose faults say nothing.
        if !self.faults.iter().any(|told| told.key == key) {
            let scratch = self.scratch.as_ref().map(|scratch| scratch.0.join(CA).display().to_string());
            let wrong = scratch.map_or_else(|| wrong.clone(), |file| wrong.replace(&file, "the CA"));
            self.tell(key, &wrong, remedy);
        }
    }
}

/// Returns the answer that sets this key of the configuration.
fn answer_of(key: &str) -> &str {
    match key {
        "terminal.id" => "terminal-id",
        "close.time-zone" => "time-zone",
        "reader.port" => "reader",
        "reader.protocol" => "reader-protocol",
        "reader.sred-form" => "sred-form",
        "reader.vipa.terminal-country" => "terminal-country",
        "reader.vipa.acquirer" => "acquirer",
        "printer[0].port" => "printer.port",
        "printer[0].columns" => "printer.columns",
        "gateway.ca-file" => "gateway.ca",
        "journal.path" => "journal",
        key if key.starts_with("till.peer") => match key.rsplit('.').next() {
            Some("rights") => "till.rights",
            Some("uid") => "till.kind",
            _ => "till.name",
        },
        key => key.strip_prefix("terminal.").unwrap_or(key),
    }
}

/// Reads a file up to one byte more than `most`.
fn bounded(file: &Path, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut content = Zeroizing::new(Vec::with_capacity(most + 1));
    File::open(file)?.take(most as u64 + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// Returns the folder of a file, in which the relative paths of its secrets begin.
pub(super) fn folder_of(file: &Path) -> PathBuf {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    file.parent().unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_names_the_answer_that_sets_its_key() {
        let rules = [
            ("terminal.id", "terminal-id"),
            ("terminal.max-amount", "max-amount"),
            ("gateway.url", "gateway.url"),
            ("gateway.ca-file", "gateway.ca"),
            ("till.peer[0].rights", "till.rights"),
            ("till.peer[0].tills", "till.name"),
        ];
        for (rule, answer) in rules {
            assert_eq!(answer_of(rule), answer);
        }
    }
}
