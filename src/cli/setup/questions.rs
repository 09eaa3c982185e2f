//! The questions, in the order in which setup asks them. An answer comes from an option, the person or the default, and
//! is checked immediately.

use std::fs;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::draft::{Draft, Printer};
use super::{Mode, Setup, devices, person};
use crate::board::{self, Board};
use crate::config;
use crate::doctor::Agent;
use pos_terms::money::Currency;

/// The answer that omits a setting.
pub(super) const NONE: &str = "none";

/// A question about one value, answered by an option, the person or the default.
pub(super) struct Question<'a> {
    /// The key whose rules the value must follow.
    pub(super) key: &'static str,
    pub(super) option: &'static str,
    pub(super) words: &'a str,
    pub(super) given: Option<&'a str>,
    /// The default for an empty answer and, with --yes, for a missing option.
    pub(super) usual: Option<String>,
}

impl Setup {
    pub(super) fn board(&self, draft: &mut Draft) -> Result<Board, Stop> {
        let model = board::model();
        let usual = usual_board();
        if let Some(name) = self.board.as_deref().or(self.yes.then_some(usual)) {
            draft.board = name.to_owned();
            return Ok(board::load(name)?);
        }
        match model.as_deref() {
            Some(model) => out::say(&format!("This board calls itself {model}.")),
            None => out::say("This computer has no board name (/proc/device-tree/model); choose a generic board."),
        }
        for known in &board::KNOWN {
            out::say(&format!("  {:<18}{}", known.name, known.board().title));
        }
        loop {
            draft.board = person::ask("Board", Some(usual))?;
            match board::load(&draft.board) {
                Ok(board) => return Ok(board),
                Err(error) => out::say(&format!("  {error}")),
            }
        }
    }

    pub(super) fn shop(&self, draft: &mut Draft, is_known: bool, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let usual = is_known.then(|| draft.terminal_id.clone());
        let given = self.terminal_id.as_deref();
        let words = "Terminal id, from the acquirer";
        let question = Question { key: "terminal.id", option: "--terminal-id", words, given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.terminal_id = text)?;
        self.merchant(draft, is_known, missing)?;
        let usual = Some(draft.country.clone().unwrap_or_else(|| NONE.to_owned()));
        let given = self.country.as_deref();
        let words = "Country of the shop, for example FR, or none";
        let question = Question { key: "terminal.country", option: "--country", words, given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.country = (text != NONE).then_some(text))?;
        let usual = Some(draft.currency.clone());
        let given = self.currency.as_deref();
        let question = Question { key: "terminal.currency", option: "--currency", words: "Currency", given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.currency = text)?;
        let usual = draft.max_amount.clone().unwrap_or_else(|| usual_max_amount(&draft.currency).to_owned());
        let given = self.max_amount.as_deref();
        let words = "Maximum amount of one payment, or none";
        let usual = Some(usual);
        let question = Question { key: "terminal.max-amount", option: "--max-amount", words, given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.max_amount = (text != NONE).then_some(text))
    }

    /// Asks for the lines at the top of the receipt, until an empty line.
    fn merchant(&self, draft: &mut Draft, is_known: bool, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        const KEY: &str = "terminal.merchant";
        if !self.merchant.is_empty() {
            draft.merchant.clone_from(&self.merchant);
            return draft.fault(KEY).map_or(Ok(()), |fault| Err(wrong("--merchant", &fault)));
        }
        if self.yes {
            if !is_known {
                missing.push("--merchant");
            }
            return Ok(());
        }
        let usual = if is_known { draft.merchant.clone() } else { Vec::new() };
        out::say("The head of each receipt: name, street and town, one line each; end with an empty line or -.");
        let mut lines: Vec<String> = Vec::new();
        loop {
            let before = usual.get(lines.len()).map(String::as_str);
            let line = person::ask(&format!("  Line {}", lines.len() + 1), before)?;
            if (line.is_empty() || line == "-") && !lines.is_empty() {
                return Ok(());
            }
            lines.push(line);
            draft.merchant.clone_from(&lines);
            if let Some(fault) = draft.fault(KEY) {
                tell(&fault);
                lines.pop();
                draft.merchant.clone_from(&lines);
            }
        }
    }

    pub(super) fn gateway(
        &self,
        draft: &mut Draft,
        is_known: bool,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        let usual = is_known.then(|| draft.url.clone());
        let given = self.gateway_url.as_deref();
        let words = "Address of the gateway, https://…";
        let question = Question { key: "gateway.url", option: "--gateway-url", words, given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.url = text)?;
        let usual = is_known.then(|| draft.entity_id.clone());
        let given = self.entity_id.as_deref();
        let words = "Entity id, from the gateway";
        let question = Question { key: "gateway.entity-id", option: "--entity-id", words, given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.entity_id = text)?;
        let usual = draft.ca_file.exists().then(|| draft.ca_file.display().to_string());
        let given = self.ca_file.as_ref().map(|file| file.to_string_lossy());
        let words = "File with the CA that signs the gateway's certificate (PEM)";
        let question = Question { key: "gateway.ca-file", option: "--ca-file", words, given: given.as_deref(), usual };
        self.answer(draft, question, missing, &|draft, text| draft.ca_file = absolute(&text))
    }

    /// Returns the new token, if there is one. If no token exists yet, a new one must be given.
    pub(super) fn token(
        &self,
        draft: &Draft,
        missing: &mut Vec<&'static str>,
    ) -> Result<Option<Zeroizing<String>>, Stop> {
        let place = draft.token_file();
        let wrong = |error: config::SecretError| Stop::new(Exit::Usage, format!("--token-file: {error}"));
        match &self.token_file {
            Some(file) if file == Path::new("-") && person::is_there() => {}
            Some(file) if file == Path::new("-") => {
                let typed = person::secret_from_input()?;
                return person::judged(&typed).map(Some).map_err(wrong);
            }
            // Others may be able to read this file, for example on a USB stick. Its copy is closed to others.
            Some(file) => return config::secret_credential(file).map(Some).map_err(wrong),
            None if self.yes => {
                if !place.exists() {
                    missing.push("--token-file");
                }
                return Ok(None);
            }
            None => {}
        }
        let kept = if place.exists() { ", Enter keeps the existing one" } else { "" };
        loop {
            let typed = person::ask_secret(&format!("The gateway's token (it is not shown{kept})"))?;
            if typed.is_empty() && place.exists() {
                return Ok(None);
            }
            match person::judged(&typed) {
                Ok(token) => return Ok(Some(token)),
                Err(error) => out::say(&format!("  {error}")),
            }
        }
    }

    pub(super) fn mode(&self, draft: &mut Draft, is_known: bool, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let test = |mode: &str| Some(mode.to_owned());
        draft.test_mode = match self.mode {
            Some(Mode::Live) => None,
            Some(Mode::External) => test("EXTERNAL"),
            Some(Mode::Internal) => test("INTERNAL"),
            None if self.yes => {
                if !is_known {
                    missing.push("--mode");
                }
                return Ok(());
            }
            None => loop {
                let usual = match draft.test_mode.as_deref() {
                    _ if !is_known => None,
                    None => Some("live"),
                    Some("INTERNAL") => Some("internal"),
                    Some(_) => Some("external"),
                };
                match person::ask("live, or a test system: external or internal", usual)?.as_str() {
                    "live" => break None,
                    "external" => break test("EXTERNAL"),
                    "internal" => break test("INTERNAL"),
                    _ => out::say("  please answer live, external or internal"),
                }
            },
        };
        Ok(())
    }

    /// Takes the reader's port from the option, or searches for it. While an agent runs, setup does not search, because
    /// the agent uses the port.
    pub(super) async fn reader(
        &self,
        draft: &mut Draft,
        board: &Board,
        agent: &Agent,
        is_known: bool,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        if !is_known {
            draft.baud = board.reader_baud;
        }
        let mut found = None;
        if self.reader.is_none() {
            if matches!(agent, Agent::Absent) {
                out::say("Looking for a reader:");
                let ports = devices::serial_ports(board);
                found = devices::reader(&ports, draft.baud, &mut Vec::new()).await;
                if found.is_none() {
                    none_found(board, ports.is_empty());
                }
            } else {
                out::say("An agent is running and may be using the reader, so no port was checked.");
            }
        }
        let usual = found.as_ref().map(|found| found.port.clone());
        let usual = usual.or_else(|| is_known.then(|| draft.reader.clone()));
        let mut given = self.reader.as_deref();
        loop {
            let words = "The reader's port: a device, or tcp://host:6543";
            let question = Question { key: "reader.port", option: "--reader", words, given, usual: usual.clone() };
            self.answer(draft, question, missing, &|draft, text| draft.reader = text)?;
            if let Some(found) = found.as_ref().filter(|found| found.port == draft.reader) {
                out::say(&format!("Reader: {} at {}", found.who, found.port));
                draft.takes_reader(found);
                return self.more_of_reader(draft, missing);
            }
            // With `--yes`, the doctor reports a missing reader at the end. A running agent uses the port.
            if self.yes || self.no_doctor || !matches!(agent, Agent::Absent) {
                return self.more_of_reader(draft, missing);
            }
            let heard = devices::heard(&draft.reader, draft.baud).await;
            match heard {
                Ok(found) => {
                    out::say(&format!("Reader: {} at {}", found.who, draft.reader));
                    draft.takes_reader(&found);
                    return self.more_of_reader(draft, missing);
                }
                Err(why) => out::say(&format!("  {}: {why}", draft.reader)),
            }
            if person::agrees("Write this port anyway?", false)? {
                return self.more_of_reader(draft, missing);
            }
            given = None;
        }
    }

    /// Takes the settings that only some reader protocols have, from the options or a person.
    fn more_of_reader(&self, draft: &mut Draft, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        if let Some(protocol) = &self.reader_protocol {
            let unknown = |unknown| Stop::new(Exit::Usage, format!("--reader-protocol: {unknown}"));
            draft.takes_protocol(protocol).map_err(unknown)?;
        }
        if draft.needs_sred_form() {
            let words =
                "The form of card data that the gateway decrypts (ask the acquirer): iv-first, data-only or elements";
            let usual = draft.reader_more.sred_form.clone();
            let (key, given) = ("reader.sred-form", self.sred_form.as_deref());
            let question = Question { key, option: "--sred-form", words, given, usual };
            self.answer(draft, question, missing, &|draft, text| draft.reader_more.sred_form = Some(text))?;
        }
        if !draft.needs_vipa() {
            return Ok(());
        }
        let words = "The country for the card, three digits of ISO 3166-1 (276 is Germany)";
        let usual = draft.reader_more.terminal_country.clone();
        let (key, given) = ("reader.vipa.terminal-country", self.terminal_country.as_deref());
        let question = Question { key, option: "--terminal-country", words, given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.reader_more.terminal_country = Some(text))?;
        let words = "The index of the acquirer in the reader's set-up";
        let usual = draft.reader_more.acquirer.clone();
        let (key, given) = ("reader.vipa.acquirer", self.acquirer.as_deref());
        let question = Question { key, option: "--acquirer", words, given, usual };
        self.answer(draft, question, missing, &|draft, text| draft.reader_more.acquirer = Some(text))
    }

    /// Takes the printer's port from the option, the earlier configuration or the board's file, or searches the ports
    /// without a reader. `may_search` is true if the reader's port is known and no agent is running.
    pub(super) async fn printer(
        &self,
        draft: &mut Draft,
        board: &Board,
        is_known: bool,
        may_search: bool,
    ) -> Result<(), Stop> {
        let reader = fs::canonicalize(&draft.reader).ok();
        let mut there = devices::printer_ports(board).into_iter();
        let found = there.find(|port| reader.is_none() || fs::canonicalize(port).ok() != reader);
        let before = draft.printer.take();
        let columns =
            before.as_ref().map_or_else(|| board.printer_columns.to_string(), |before| before.columns.clone());
        let usual = match before.map(|before| before.port).or(found) {
            None if may_search && !is_known && self.printer.is_none() => self.left(draft, board, &columns).await,
            usual => usual,
        };
        let usual = usual.unwrap_or_else(|| NONE.to_owned());
        let given = self.printer.as_deref();
        let words = "The printer's port: a device, tcp://host:9100, or none";
        let question = Question { key: "printer[0].port", option: "--printer", words, given, usual: Some(usual) };
        // Both questions have a default, so no option can be missing.
        let mut missing = Vec::new();
        self.answer(draft, question, &mut missing, &|draft, port| {
            draft.printer = (port != NONE).then(|| Printer { port, columns: columns.clone() });
        })?;
        if draft.printer.is_none() {
            return Ok(());
        }
        let given = self.columns.as_deref();
        let words = "Characters per line of the printer: 32, 42 or 48";
        let question =
            Question { key: "printer[0].columns", option: "--columns", words, given, usual: Some(columns.clone()) };
        self.answer(draft, question, &mut missing, &|draft, columns| {
            if let Some(printer) = &mut draft.printer {
                printer.columns = columns;
            }
        })
    }

    /// Searches the ports without a reader for a printer that answers. If none answers, a person is offered the most
    /// likely port.
    async fn left(&self, draft: &mut Draft, board: &Board, columns: &str) -> Option<String> {
        let ports = devices::left_for_printer(devices::serial_ports(board), &draft.reader);
        if !ports.is_empty() {
            out::say("Looking for a printer:");
        }
        let looked = devices::asked_for_printers(&ports, draft, columns).await;
        if let Some(found) = looked.into_iter().find(|looked| looked.is_there) {
            return Some(found.port);
        }
        devices::silent_printer(&ports).filter(|_| !self.yes).map(str::to_owned)
    }

    /// Takes an answer from the option, the default or the person, and checks it against the configuration's rules.
    pub(super) fn answer(
        &self,
        draft: &mut Draft,
        question: Question<'_>,
        missing: &mut Vec<&'static str>,
        set: &dyn Fn(&mut Draft, String),
    ) -> Result<(), Stop> {
        let Question { key, option, words, given, usual } = question;
        let unattended = given.map(str::to_owned).or_else(|| usual.clone().filter(|_| self.yes));
        if let Some(value) = unattended {
            set(draft, value);
            return draft.fault(key).map_or(Ok(()), |fault| Err(wrong(option, &fault)));
        }
        if self.yes {
            missing.push(option);
            return Ok(());
        }
        let before = draft.clone();
        loop {
            set(draft, person::ask(words, usual.as_deref())?);
            match draft.fault(key) {
                None => return Ok(()),
                Some(fault) => tell(&fault),
            }
            draft.clone_from(&before);
        }
    }
}

/// Returns the board that is recognised, or else the generic one.
pub(in crate::cli) fn usual_board() -> &'static str {
    let generic = if cfg!(target_pointer_width = "64") { "generic-aarch64" } else { "generic-armv7" };
    board::model().as_deref().and_then(board::recognised).map_or(generic, |known| known.name)
}

/// Shows which ports were searched, and what to do if a reader is connected.
fn none_found(board: &Board, has_no_port: bool) {
    if has_no_port {
        let usual: Vec<&str> = board.reader_ports.iter().map(String::as_str).collect();
        let usual = if usual.is_empty() { String::new() } else { format!("{}, ", usual.join(", ")) };
        out::say(&format!(
            "  there is no serial port here: none of {usual}/dev/serial/by-id/*, /dev/ttyACM*, /dev/ttyUSB* exists"
        ));
    }
    out::say(
        "  no reader was found: connect the reader, switch it on and start again; or give its port with --reader \
         (tcp://host:6543 for a network reader)",
    );
}

pub(super) fn wrong(option: &str, fault: &config::ConfigFault) -> Stop {
    Stop::new(Exit::Usage, format!("{option}: {}; {}; nothing was written", fault.wrong, fault.remedy))
}

pub(super) fn tell(fault: &config::ConfigFault) {
    out::say(&format!("  {}; {}", fault.wrong, fault.remedy));
}

/// Makes a typed path absolute. A relative path starts at the folder in which the program was started.
fn absolute(text: &str) -> PathBuf {
    std::path::absolute(text).unwrap_or_else(|_| text.into())
}

/// Returns a default maximum of about 5,000 EUR. A typing error then exceeds the maximum, and a usual payment does not.
/// For a currency that is not listed, the person corrects the value if necessary.
pub(super) fn usual_max_amount(currency: &str) -> &'static str {
    match currency {
        "JPY" | "ISK" => "800000",
        "KRW" => "8000000",
        "HUF" => "2000000.00",
        "INR" => "500000.00",
        "TRY" => "200000.00",
        "CZK" => "120000.00",
        "DKK" | "NOK" | "SEK" => "50000.00",
        "PLN" | "RON" => "20000.00",
        _ if Currency::from_code(currency).is_ok_and(|currency| currency.exponent() == 0) => "500000",
        _ => "5000.00",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::money::Amount;

    #[test]
    fn the_usual_greatest_amount_is_one_of_its_currency() {
        for code in ["EUR", "CHF", "USD", "JPY", "KRW", "HUF", "INR", "TRY", "CZK", "SEK", "PLN", "ISK", "VND"] {
            let currency = Currency::from_code(code).unwrap();
            assert!(Amount::parse(usual_max_amount(code), currency).is_ok_and(|amount| amount.minor() > 0), "{code}");
        }
    }
}
