//! The draft of a configuration: the answers to setup's questions so far, and the text that is made from them.
//!
//! The configuration's own rules check every answer. After each answer, setup writes the configuration as text, parses
//! it and checks it. The person sees only a fault in the key that the question is about.

use std::path::{Path, PathBuf};

use pos_first_boot::KnownProtocol;
use pos_printer::config::{CodePage, page_with};
use pos_words::{Language, Words};

use super::devices::Found;
use super::front_file::{FRONT_RULES, FrontDraft, PEER_RULES};
use crate::config::{self, Config, ConfigFault, DEFAULT_PATH, ReaderProtocol, TestMode};
use pos_reader::config::UnknownProtocol;

/// The name of the token's credential and file.
pub(in crate::cli) const TOKEN: &str = "gateway-token";
/// The name of the file with the gateway's CA.
pub(in crate::cli) const CA: &str = "gateway-ca.pem";

/// A configuration in the making. A missing answer has a valid placeholder.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Draft {
    pub(in crate::cli) board: String,
    pub(in crate::cli) terminal_id: String,
    pub(in crate::cli) merchant: Vec<String>,
    /// The country of the shop; `None` means that no country's law is known.
    pub(in crate::cli) country: Option<String>,
    pub(in crate::cli) currency: String,
    /// The maximum amount of one payment; `None` means the gateway's own limit.
    pub(in crate::cli) max_amount: Option<String>,
    pub(in crate::cli) url: String,
    pub(in crate::cli) entity_id: String,
    pub(in crate::cli) ca_file: PathBuf,
    /// `EXTERNAL` or `INTERNAL`; `None` on a live system.
    pub(in crate::cli) test_mode: Option<String>,
    pub(in crate::cli) reader: String,
    pub(in crate::cli) protocol: ReaderProtocol,
    pub(in crate::cli) baud: u32,
    /// The settings of a reader that only its acquirer knows.
    pub(in crate::cli) reader_more: ReaderMore,
    pub(in crate::cli) printer: Option<Printer>,
    /// The language of the terminal; `None` means the usual one.
    pub(in crate::cli) language: Option<String>,
    /// The time zone of the closes; `None` means the board's own.
    pub(in crate::cli) time_zone: Option<String>,
    /// True if training is allowed.
    pub(in crate::cli) may_train: bool,
    /// The path of the journal; `None` means the usual one.
    pub(in crate::cli) journal: Option<String>,
    /// The front, if a till or the page is connected.
    pub(in crate::cli) front: Option<FrontDraft>,
    /// The path of the configuration; the token and the CA are in the same folder.
    pub(in crate::cli) file: PathBuf,
}

/// The settings of a reader that only its acquirer knows. Each is needed by some protocols only.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct ReaderMore {
    pub(in crate::cli) sred_form: Option<String>,
    pub(in crate::cli) terminal_country: Option<String>,
    pub(in crate::cli) acquirer: Option<String>,
}

/// The printer.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Printer {
    pub(in crate::cli) port: String,
    pub(in crate::cli) columns: String,
}

impl Draft {
    pub(in crate::cli) fn for_file(file: &Path) -> Self {
        Self {
            board: String::new(),
            terminal_id: "1".to_owned(),
            merchant: vec!["Shop".to_owned()],
            country: None,
            currency: "EUR".to_owned(),
            max_amount: None,
            url: "https://gateway.example".to_owned(),
            entity_id: "0".repeat(32),
            ca_file: file.with_file_name(CA),
            test_mode: None,
            reader: "/dev/pos/reader".to_owned(),
            protocol: ReaderProtocol::MiuraMpi,
            baud: 115_200,
            reader_more: ReaderMore::default(),
            printer: None,
            language: None,
            time_zone: None,
            may_train: false,
            journal: None,
            front: None,
            file: file.to_owned(),
        }
    }

    /// Returns the path of the token's file.
    pub(in crate::cli) fn token_file(&self) -> PathBuf {
        self.file.with_file_name(TOKEN)
    }

    /// Returns whether systemd passes the token to the agent, which cannot read the file itself. This is the case at
    /// the usual path.
    pub(in crate::cli) fn has_credential(&self) -> bool {
        self.file == Path::new(DEFAULT_PATH)
    }

    /// Returns the fault in the answer for this key, if any. `pos-front` also checks the front's settings.
    pub(in crate::cli) fn fault(&self, key: &str) -> Option<ConfigFault> {
        if key == FRONT_RULES {
            let front = self.front.as_ref().and_then(FrontDraft::fault);
            return self.fault(PEER_RULES).or(front);
        }
        let is_about =
            |fault: &ConfigFault| fault.key == key || (key == PEER_RULES && fault.key.starts_with(PEER_RULES));
        match self.config() {
            Ok(config) => config.faults().into_iter().find(is_about),
            Err(error) => {
                let text = error.to_string();
                let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "write a different value"));
                Some(ConfigFault {
                    line: None,
                    key: key.to_owned(),
                    wrong: wrong.to_owned(),
                    remedy: remedy.to_owned(),
                })
            }
        }
    }

    /// Returns the configuration that is made from the answers.
    pub(in crate::cli) fn config(&self) -> Result<Config, config::Error> {
        config::parse(&self.text(), &self.file)
    }

    /// Returns the text of the configuration.
    pub(in crate::cli) fn text(&self) -> String {
        let Self { board, terminal_id, merchant, currency, url, entity_id, reader, baud, .. } = self;
        let merchant = merchant.iter().map(|line| quoted(line)).collect::<Vec<_>>().join(", ");
        let token = match self.has_credential() {
            true => format!(
                "# Passed by systemd from {} (LoadCredential= in pos-agent.service).\ntoken-credential = {}",
                self.token_file().display(),
                quoted(TOKEN)
            ),
            false => format!("token-file = {}", quoted(&self.token_file().to_string_lossy())),
        };
        let test_mode = match &self.test_mode {
            Some(mode) => format!("# A test system; omit this on a live one.\ntest-mode = {}\n", quoted(mode)),
            None => String::new(),
        };
        let set = |before: &str, value: &Option<String>| {
            value.as_deref().map(|value| format!("{before}{}\n", quoted(value))).unwrap_or_default()
        };
        let language = set("language = ", &self.language);
        let journal = set("\n[journal]\npath = ", &self.journal);
        let training = if self.may_train { "\n[training]\nallowed = true\n" } else { "" };
        let close = set("\n[close]\ntime-zone = ", &self.time_zone);
        let country = match &self.country {
            Some(country) => format!("# Its law decides which receipts are printed.\ncountry = {}\n", quoted(country)),
            None => String::new(),
        };
        let max_amount = match &self.max_amount {
            Some(amount) => {
                format!(
                    "# The maximum amount of one payment; it does not limit refunds.\nmax-amount = {}\n",
                    quoted(amount)
                )
            }
            None => String::new(),
        };
        let printer = match &self.printer {
            Some(Printer { port, columns }) => {
                let (port, columns, page) = (quoted(port), number(columns), self.code_page());
                format!("[[printer]]\nport = {port}\n# Characters per line.\ncolumns = {columns}\n{page}")
            }
            None => "# No [[printer]]: receipts are kept, pos-agent receipt shows them.\n".to_owned(),
        };
        let front = self.front.as_ref().map(FrontDraft::peer).unwrap_or_default();
        let more = self.more_of_reader();
        format!(
            "# pos-agent on {board}, written by `pos-agent setup`. The manual (\"Configure\") explains every key;\n\
             # after a change: pos-agent check, then systemctl restart pos-agent.\n\
             \n\
             [terminal]\n\
             # From the acquirer.\n\
             id = {}\n\
             merchant = [{merchant}]\n\
             {language}{country}\
             currency = {}\n\
             {max_amount}\
             \n\
             [reader]\n\
             protocol = {}\n\
             port = {}\n\
             # For a serial line; ignored on USB.\n\
             baud = {baud}\n\
             {more}\
             \n\
             [gateway]\n\
             url = {}\n\
             entity-id = {}\n\
             {token}\n\
             ca-file = {}\n\
             {test_mode}\n\
             {printer}\
             {journal}{close}{training}{front}\
             {TILLS}",
            quoted(terminal_id),
            quoted(currency),
            quoted(self.protocol.name()),
            quoted(reader),
            quoted(url),
            quoted(entity_id),
            quoted(&self.ca_file.to_string_lossy()),
        )
    }

    /// Takes protocol and line speed of a reader that was found.
    pub(in crate::cli) fn takes_reader(&mut self, found: &Found) {
        (self.protocol, self.baud) = (found.protocol, found.baud);
    }

    /// Takes the protocol that a person names. A different one brings its usual line speed.
    pub(in crate::cli) fn takes_protocol(&mut self, name: &str) -> Result<(), UnknownProtocol> {
        let protocol: ReaderProtocol = name.parse()?;
        if protocol != self.protocol {
            (self.protocol, self.baud) = (protocol, protocol.usual_baud());
        }
        Ok(())
    }

    /// Returns the lines that only some reader protocols have.
    fn more_of_reader(&self) -> String {
        let ReaderMore { sred_form, terminal_country, acquirer } = &self.reader_more;
        let or_empty = |value: &Option<String>| quoted(value.as_deref().unwrap_or_default());
        let mut lines = String::new();
        if let Some(form) = sred_form.as_ref().filter(|_| self.needs_sred_form()) {
            lines += &format!(
                "# From the acquirer: the form of card data that its gateway decrypts.\nsred-form = {}\n",
                quoted(form)
            );
        }
        if self.needs_vipa() {
            let (country, acquirer) = (or_empty(terminal_country), or_empty(acquirer));
            lines += &format!("\n[reader.vipa]\nterminal-country = {country}\nacquirer = {acquirer}\n");
        }
        lines
    }

    /// Returns whether the reader's protocol needs the form of sealed card data.
    pub(in crate::cli) fn needs_sred_form(&self) -> bool {
        !self.protocol.sred_forms().is_empty()
    }

    /// Returns whether the reader's protocol needs the settings of a VIPA reader.
    pub(in crate::cli) fn needs_vipa(&self) -> bool {
        needs_vipa(self.protocol)
    }

    /// Returns the printer's code page, if its usual one lacks letters of the language.
    fn code_page(&self) -> String {
        let language = self.language.as_deref().and_then(Language::from_code);
        let page = language.map(|language| page_with(&Words::new(language).letters()));
        let page = page.filter(|(page, _)| *page != CodePage::default()).map(|(_, name)| quoted(name));
        let why = "# The letters of the language; \"ascii\" if the printer lacks this page.";
        page.map(|page| format!("{why}\ncode-page = {page}\n")).unwrap_or_default()
    }

    /// Takes the default answers from an earlier configuration.
    pub(in crate::cli) fn take_over(&mut self, earlier: &Config) {
        let Config { terminal, reader, gateway, printer, close, training, .. } = earlier;
        self.terminal_id.clone_from(&terminal.id);
        self.merchant.clone_from(&terminal.merchant);
        self.country.clone_from(&terminal.country);
        self.currency.clone_from(&terminal.currency);
        self.max_amount.clone_from(&terminal.max_amount);
        self.url.clone_from(&gateway.url);
        self.entity_id.clone_from(&gateway.entity_id);
        self.ca_file.clone_from(&gateway.ca_file);
        self.test_mode = gateway.test_mode.map(|mode| match mode {
            TestMode::External => "EXTERNAL".to_owned(),
            TestMode::Internal => "INTERNAL".to_owned(),
        });
        self.reader.clone_from(&reader.port);
        self.baud = reader.baud();
        self.protocol = reader.protocol;
        let form = reader.sred_form.and_then(|form| reader.protocol.name_of_form(form)).map(str::to_owned);
        self.reader_more.sred_form = form;
        if let Some(vipa) = &reader.vipa {
            self.reader_more.terminal_country = Some(vipa.terminal_country.clone());
            self.reader_more.acquirer = Some(vipa.acquirer.clone());
        }
        self.language = Some(terminal.language.clone()).filter(|language| language != "en");
        self.time_zone.clone_from(&close.time_zone);
        self.may_train = training.allowed;
        self.printer =
            printer.first().map(|first| Printer { port: first.port.clone(), columns: first.columns.to_string() });
    }
}

/// The note in a new file, for a person who opens the file for the first time.
const TILLS: &str = "\
\n\
# Without these tables the command line works: root has every right, the group pos-agent the usual rights.\n\
# The manual (\"Who may do what\") explains tills with their own rights:\n\
#\n\
# [[till.token]]                     # a till over HTTP\n\
# till = \"till-1\"\n\
# token-file = \"/etc/pos-agent/till-1-token\"\n\
#\n\
# [[till.peer]]                      # a program at the socket that speaks for several tills\n\
# uid = 1001                         # id -u NAME\n\
# tills = [\"till-2\", \"till-3\"]\n\
# rights = [\"several-tills\"]\n";

/// Returns a text as a TOML basic string.
pub(in crate::cli) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// Returns a number as typed. Other input becomes a string, which the rules of the configuration report as a fault.
fn number(typed: &str) -> String {
    typed.parse::<u8>().map_or_else(|_| quoted(typed), |number| number.to_string())
}

/// Returns the keys that an earlier file has and the new one lacks, such as `gateway.device-type`. A missing table is
/// named once.
pub(in crate::cli) fn left_behind(earlier: &str, new: &str) -> Vec<String> {
    let new = keys(new);
    let mut found: Vec<String> = Vec::new();
    for (table, key) in keys(earlier) {
        let whole = if new.iter().any(|(there, _)| *there == table) {
            if new.contains(&(table.clone(), key.clone())) {
                continue;
            }
            format!("{table}.{key}").trim_matches('.').to_owned()
        } else {
            table
        };
        if !found.contains(&whole) {
            found.push(whole);
        }
    }
    found
}

/// Returns a key's value, without quotes, from the first table with this name. The values of a list are joined with
/// commas.
pub(in crate::cli) fn value(text: &str, table: &str, key: &str) -> Option<String> {
    let mut at = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            at = name.trim_start_matches('[').trim().to_owned();
        } else if let Some((_, value)) = line.split_once('=').filter(|(name, _)| at == table && name.trim() == key) {
            // Quotes enclose the texts. A `#` outside quotes begins a comment.
            let mut parts = value.split('"');
            let bare = parts.next().unwrap_or_default();
            let (mut texts, mut between) = (Vec::new(), bare);
            while let (false, Some(text)) = (between.contains('#'), parts.next()) {
                texts.push(text);
                between = parts.next().unwrap_or("#");
            }
            let bare = bare.split('#').next().unwrap_or_default().trim();
            return Some(if texts.is_empty() { bare.to_owned() } else { texts.join(", ") });
        }
    }
    None
}

/// Returns the tables and keys of a file, read line by line. This is enough for a configuration, which has its tables
/// and keys at the start of lines.
fn keys(text: &str) -> Vec<(String, String)> {
    let mut table = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            table = name.trim_start_matches('[').trim().to_owned();
            // A table without keys is also listed.
            found.push((table.clone(), String::new()));
        } else if let Some((key, _)) = line.split_once('=') {
            found.push((table.clone(), key.trim().to_owned()));
        }
    }
    found
}

/// Returns the protocols of this build, with the answers that only they need.
pub(in crate::cli) fn known_protocols() -> Vec<KnownProtocol> {
    let included = ReaderProtocol::ALL.into_iter().filter(|(protocol, _)| protocol.is_included());
    let known = included.map(|(protocol, name)| KnownProtocol {
        name: name.to_owned(),
        sred_forms: protocol.sred_forms().iter().map(|(_, form)| (*form).to_owned()).collect(),
        needs_acquirer: needs_vipa(protocol),
    });
    known.collect()
}

/// Returns whether a protocol needs the settings of a VIPA reader.
fn needs_vipa(protocol: ReaderProtocol) -> bool {
    protocol == ReaderProtocol::VerifoneVipa
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_answered_yet_is_no_fault_and_each_answer_is_judged_by_its_own_key() {
        let good = Draft::for_file(Path::new("/nowhere/config.toml"));
        good.config().unwrap().check_values().unwrap();
        type Set = fn(&mut Draft);
        let wrong: [(&str, Set); 10] = [
            ("terminal.id", |draft| draft.terminal_id = "12a".into()),
            ("terminal.merchant", |draft| draft.merchant = vec![" ".into()]),
            ("terminal.country", |draft| draft.country = Some("UK".into())),
            ("terminal.currency", |draft| draft.currency = "EURO".into()),
            // The gateway's amounts have two decimals.
            ("terminal.currency", |draft| draft.currency = "KWD".into()),
            ("gateway.url", |draft| draft.url = "http://gateway.example".into()),
            ("gateway.entity-id", |draft| draft.entity_id = "\"\n[x]".into()),
            ("gateway.ca-file", |draft| draft.ca_file = "/nowhere/ca.pem".into()),
            ("reader.port", |draft| draft.reader = "ttyACM0".into()),
            ("printer[0].columns", |draft| {
                draft.printer = Some(Printer { port: "/dev/usb/lp0".into(), columns: "40".into() });
            }),
        ];
        for (key, set) in wrong {
            let mut draft = good.clone();
            set(&mut draft);
            assert_eq!(draft.fault(key).unwrap().key, key);
            let other = if key == "terminal.id" { "gateway.url" } else { "terminal.id" };
            assert_eq!(draft.fault(other), None, "{key}");
        }
        let mut draft = good;
        draft.printer = Some(Printer { port: "/dev/usb/lp0".into(), columns: "wide".into() });
        assert!(draft.fault("printer[0].columns").unwrap().wrong.contains("columns"));
    }

    #[test]
    fn a_printer_has_the_page_with_the_letters_of_the_language() {
        let mut draft = Draft::for_file(Path::new("/nowhere/config.toml"));
        draft.printer = Some(Printer { port: "/dev/usb/lp0".into(), columns: "42".into() });
        for language in Language::ALL {
            draft.language = Some(language.code().to_owned());
            draft.config().unwrap().check_values().unwrap();
            assert_eq!(draft.text().contains("\ncode-page = \"cp852\"\n"), language.code() == "pl", "{language:?}");
        }
    }

    #[test]
    fn at_the_usual_place_systemd_hands_the_token_over() {
        let usual = Draft::for_file(Path::new(DEFAULT_PATH));
        assert_eq!(usual.config().unwrap().gateway.token_credential.as_deref(), Some(TOKEN));
        let elsewhere = Draft::for_file(Path::new("/srv/terminal.toml")).config().unwrap();
        assert_eq!(elsewhere.gateway.token_file, Some(PathBuf::from("/srv/gateway-token")));
    }

    #[test]
    fn keys_that_are_not_taken_over_are_named() {
        let earlier = "[a]\nb = 1 # c = 4\nc = 2\n# [x]\n[[p]]\nx = 1\ny = [\n  2,\n]\n[t]\nu = 1\nv = 2\n";
        assert_eq!(left_behind(earlier, "[a]\nb = 3\n[[p]]\nx = 1\n"), ["a.c", "p.y", "t"]);
    }

    #[test]
    fn a_value_of_an_earlier_file_is_that_of_its_first_table() {
        let earlier = "x = \"0\"\n[[zvt]]\n# x = 9\nx = \"1\" # \"one\n from=[\"a\", \"b\"]\nn = 7 # seven\n[[zvt]]\nx = \"2\"\ny = \"3\"\n";
        let found = |key| value(earlier, "zvt", key);
        assert_eq!(
            (found("x").as_deref(), found("from").as_deref(), found("n").as_deref()),
            (Some("1"), Some("a, b"), Some("7"))
        );
        assert_eq!(
            (found("z"), value(earlier, "nexo", "x"), value(earlier, "", "x").as_deref()),
            (None, None, Some("0"))
        );
    }

    #[test]
    fn any_text_is_quoted_so_that_it_is_read_again_as_it_was() {
        for text in ["Corner Shop", "\"O'Neil\" \\ Söhne", "a\nb\t\u{7f}\u{1b}[2J", ""] {
            let table: toml::Table = format!("a = {}", quoted(text)).parse().unwrap();
            assert_eq!(table["a"].as_str(), Some(text));
        }
    }
}
