//! The till that is connected: what the front and the agent must know of it, and the questions about it. What is
//! written for the front is judged by the front's own program, which has the rules.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};
use pos_daemon::access;
use zeroize::Zeroizing;

use super::super::exit::{Exit, Stop};
use super::super::{out, person};
use super::answers::{Answers, quoted, value};
use super::questions::{Question, tell, wrong};
use super::{Setup, already_there};
use crate::config::ConfigFault;

/// The name of the front's file, beside the agent's.
pub(super) const FRONT: &str = "front.toml";
/// Stands for all that the front's program judges, and for the agent's table of the front.
pub(super) const FRONT_RULES: &str = "front";
/// The agent's table of the front.
pub(super) const PEER_RULES: &str = "till.peer";
/// The till that the cashier's page stands for.
const PAGE_TILL: &str = "counter";
/// The user that the front runs as.
const FRONT_USER: &str = "pos-front";
/// What the tills of a shop do every day, as the manual has it.
const USUAL_RIGHTS: &str = "sale, pre-authorise, capture, refund, reverse, totals, close, read";

/// Options about the till.
#[derive(Debug, Args)]
#[command(next_help_heading = "The till")]
pub(super) struct TillOptions {
    /// The till that is connected through pos-front, which also serves the cashier's page; front.toml is written then
    #[arg(long, value_name = "KIND")]
    pub(super) till: Option<TillKind>,
    /// Its name here: letters, digits, - and _ [default: kasse-1]
    #[arg(long, value_name = "NAME")]
    till_name: Option<String>,
    /// Address that it comes from, as 192.168.1.20; several with commas
    #[arg(long, value_name = "ADDRESS")]
    till_address: Option<String>,
    /// Port at which it finds the terminal [default: 20007 for ZVT, 8443 for nexo]
    #[arg(long, value_name = "PORT")]
    till_port: Option<String>,
    /// What page and till may do, with commas [default: the usual rights]
    #[arg(long, value_name = "RIGHTS")]
    till_rights: Option<String>,
    /// The till needs an operator who is signed in, where operators are required
    #[arg(long)]
    till_operator: bool,
    /// File with the ZVT password (six digits) or the nexo passphrase; it is copied beside the configuration
    #[arg(long, value_name = "FILE")]
    till_secret_file: Option<PathBuf>,
    /// nexo: the terminal's name at the till [default: PosAgent-0001]
    #[arg(long, value_name = "NAME")]
    poi_id: Option<String>,
    /// nexo: the till's own name
    #[arg(long, value_name = "NAME")]
    sale_id: Option<String>,
    /// nexo: the key's name at the till [default: mykey]
    #[arg(long, value_name = "NAME")]
    key_identifier: Option<String>,
    /// nexo: the key's version at the till [default: 1]
    #[arg(long, value_name = "NUMBER")]
    key_version: Option<String>,
    /// nexo: common name of the certificate, where the till's library wants one of its maker's, or none
    #[arg(long, value_name = "NAME|none")]
    certificate_name: Option<String>,
    /// Number of the user that pos-front runs as [default: that of the user pos-front]
    #[arg(long, value_name = "NUMBER")]
    front_user: Option<String>,
}

impl TillOptions {
    /// Whoever says something about a till that is not connected hears so.
    fn are_for(&self, kind: TillKind) -> Result<(), Stop> {
        let (is_connected, has_till) = (kind != TillKind::None, matches!(kind, TillKind::Zvt | TillKind::Nexo));
        let is_nexo = kind == TillKind::Nexo;
        let given = [
            ("--front-user", self.front_user.is_some(), is_connected),
            ("--till-rights", self.till_rights.is_some(), is_connected),
            ("--till-name", self.till_name.is_some(), has_till),
            ("--till-address", self.till_address.is_some(), has_till),
            ("--till-port", self.till_port.is_some(), has_till),
            ("--till-operator", self.till_operator, has_till),
            ("--till-secret-file", self.till_secret_file.is_some(), has_till),
            ("--poi-id", self.poi_id.is_some(), is_nexo),
            ("--sale-id", self.sale_id.is_some(), is_nexo),
            ("--key-identifier", self.key_identifier.is_some(), is_nexo),
            ("--key-version", self.key_version.is_some(), is_nexo),
            ("--certificate-name", self.certificate_name.is_some(), is_nexo),
        ];
        match given.iter().find(|(_, is_given, has_use)| *is_given && !has_use) {
            None => Ok(()),
            Some((option, ..)) => {
                let why = match kind {
                    TillKind::Zvt => "is about a nexo till; leave it out, or connect one (--till nexo)",
                    TillKind::Page => "is about a till; leave it out, or connect one (--till zvt, --till nexo)",
                    _ => "is about a till, and none is connected; leave it out, or say which (--till)",
                };
                Err(Stop::new(Exit::Usage, format!("{option}: {why}; nothing was written")))
            }
        }
    }
}

/// The language of the till.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TillKind {
    /// A till that speaks ZVT over the network
    Zvt,
    /// A till that speaks the Terminal API (nexo)
    Nexo,
    /// The cashier's page alone
    Page,
    /// Nothing is connected, and front.toml is not written
    None,
}

/// The front's configuration in answers. Those not given yet are such that nothing is wrong with them.
#[derive(Clone, Debug)]
pub(super) struct FrontAnswers {
    kind: TillKind,
    name: String,
    from: String,
    port: String,
    rights: String,
    has_operator: bool,
    secret: Secret,
    poi_id: String,
    sale_id: String,
    key_identifier: String,
    key_version: String,
    certificate_name: Option<String>,
    /// The number of the user that it runs as.
    user: String,
    /// Where the front's file will be.
    pub(super) file: PathBuf,
}

/// The till's password or passphrase.
#[derive(Clone, Debug)]
enum Secret {
    New(Zeroizing<Vec<u8>>),
    /// The file that is there stays as it is.
    Kept,
    None,
}

impl FrontAnswers {
    fn of(kind: TillKind, config: &Path) -> Self {
        let (port, secret) = match kind {
            TillKind::Nexo => ("8443", Secret::New(Zeroizing::new(b"not yet known".to_vec()))),
            _ => ("20007", Secret::None),
        };
        Self {
            kind,
            name: "kasse-1".to_owned(),
            from: Ipv4Addr::LOCALHOST.to_string(),
            port: port.to_owned(),
            rights: USUAL_RIGHTS.to_owned(),
            has_operator: false,
            secret,
            poi_id: "PosAgent-0001".to_owned(),
            sale_id: "till".to_owned(),
            key_identifier: "mykey".to_owned(),
            key_version: "1".to_owned(),
            certificate_name: None,
            user: "1".to_owned(),
            file: config.with_file_name(FRONT),
        }
    }

    fn has_till(&self) -> bool {
        self.kind != TillKind::Page
    }

    /// The file of its secret, in a folder.
    fn secret_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.{}", self.name, if self.kind == TillKind::Nexo { "nexo" } else { "zvt" }))
    }

    /// Its secret, with the place and the owner that it is to have.
    pub(super) fn new_secret(&self) -> Option<(PathBuf, &[u8], Option<u32>)> {
        match &self.secret {
            Secret::New(secret) => Some((self.secret_file(&folder(&self.file)), secret, self.user.parse().ok())),
            Secret::Kept | Secret::None => None,
        }
    }

    /// What the agent's file says of the front.
    pub(super) fn peer(&self) -> String {
        let till = if self.has_till() { format!(", {}", quoted(&self.name)) } else { String::new() };
        let user = self.user.parse::<u32>().map_or_else(|_| quoted(&self.user), |number| number.to_string());
        let rights = match self.rights == USUAL_RIGHTS {
            true => String::new(),
            false => format!("rights = [{}]\n", list(&self.rights)),
        };
        let without_operator = match self.has_till() && !self.has_operator {
            true => format!("# Where operators sign in, it needs none.\nwithout-operator = [{}]\n", quoted(&self.name)),
            false => String::new(),
        };
        format!(
            "\n# pos-front stands for the cashier's page and for the till: uid is what `id -u {FRONT_USER}` says.\n\
             [[till.peer]]\nuid = {user}\ntills = [{}{till}]\n{rights}{without_operator}",
            quoted(PAGE_TILL)
        )
    }

    /// The front's file, with a new secret in this folder.
    fn text(&self, secrets: &Path) -> String {
        // Libraries of nexo tills know 8443 and no other port.
        let https = if self.kind == TillKind::Nexo && self.port == "8443" { "8444" } else { "8443" };
        let page = format!(
            "# What of the terminal faces the shop's network, written by `pos-agent setup`. Every key is explained in the manual (\"The front\");\n\
             # after a change: pos-front check, then systemctl restart pos-front.\n\
             \n\
             [listen]\n\
             https = [\"0.0.0.0:{https}\"]\n\
             # Without TLS: on this board alone.\n\
             http = [\"127.0.0.1:8651\"]\n\
             \n\
             [page]\n\
             # The till that the page stands for.\n\
             till = {}\n",
            quoted(PAGE_TILL)
        );
        let secret = match &self.secret {
            Secret::New(_) => Some(self.secret_file(secrets)),
            Secret::Kept => Some(self.secret_file(&folder(&self.file))),
            Secret::None => None,
        };
        let secret =
            |key| secret.map(|file| format!("{key} = {}\n", quoted(&file.to_string_lossy()))).unwrap_or_default();
        let credit = match self.rights.split(',').any(|right| right.trim() == "credit") {
            true => "# Up to max-credit-amount in the agent's [terminal].\ncredit = true\n",
            false => "",
        };
        let (name, listen) = (quoted(&self.name), quoted(&format!("0.0.0.0:{}", self.port)));
        let from = list(&self.from);
        match self.kind {
            TillKind::Page | TillKind::None => page,
            TillKind::Zvt => format!(
                "{page}\n[[zvt]]\ntill = {name}\nlisten = {listen}\nfrom = [{from}]\n{}{credit}",
                secret("password-file")
            ),
            TillKind::Nexo => format!(
                "{page}\n[nexo]\nlisten = {listen}\nfrom = [{from}]\npoi-id = {}\n{}\n[[nexo.till]]\ntill = {name}\nsale-id = {}\n{}key-identifier = {}\nkey-version = {}\n{credit}",
                quoted(&self.poi_id),
                self.certificate_name
                    .as_deref()
                    .map(|name| format!("certificate-name = {}\n", quoted(name)))
                    .unwrap_or_default(),
                quoted(&self.sale_id),
                secret("passphrase-file"),
                quoted(&self.key_identifier),
                self.key_version.parse::<u32>().map_or_else(|_| quoted(&self.key_version), |number| number.to_string()),
            ),
        }
    }

    /// The file as it will be.
    pub(super) fn final_text(&self) -> String {
        self.text(&folder(&self.file))
    }

    /// What the front's program finds wrong.
    pub(super) fn fault(&self) -> Option<ConfigFault> {
        match self.checked() {
            Ok(None) => None,
            Ok(Some(said)) => Some(fault(&said, "write another value")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(fault("pos-front is not installed here, which connects tills", "install it, or answer none"))
            }
            Err(error) => Some(fault(&format!("pos-front check: {error}"), "see to the disk, then begin again")),
        }
    }

    /// What the front's program says of this configuration, written where only this user can read it.
    fn checked(&self) -> io::Result<Option<String>> {
        let scratch = Scratch::make()?;
        if let Secret::New(secret) = &self.secret {
            let file = self.secret_file(&scratch.0);
            if file.parent() != Some(&scratch.0) {
                // The name holds a slash; the agent's rules have said so.
                return Ok(Some(format!(
                    "till: {:?} cannot be a till's name; use letters, digits, - and _",
                    self.name
                )));
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
            file.write_all(secret)?;
        }
        let file = scratch.0.join(FRONT);
        fs::write(&file, self.text(&scratch.0))?;
        let output = Command::new(front_program()).arg("check").arg("--config").arg(&file).output()?;
        if output.status.success() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("pos-front check fails; look at its configuration");
        let said = said.trim_start_matches("pos-front: ").replace(&format!("{}: ", file.display()), "");
        // What is told names the file that a person knows.
        Ok(Some(said.replace(&scratch.0.display().to_string(), &folder(&self.file).display().to_string())))
    }

    /// What is to be done when it is written.
    pub(super) fn next_steps(&self, agent_runs: bool) {
        out::say(match agent_runs {
            true => "  then systemctl restart pos-front",
            false => "  systemctl enable --now pos-front, then pos-front status",
        });
        if self.new_secret().is_some() && !rustix::process::geteuid().is_root() {
            let secret = self.secret_file(&folder(&self.file));
            out::say(&format!("  the user that pos-front runs as must own {}", secret.display()));
        }
        match self.kind {
            TillKind::Zvt => out::say(&format!(
                "  at the till: ZVT over the network (TCP/IP), this board's address, port {}, the same password",
                self.port
            )),
            TillKind::Nexo => {
                out::say(&format!(
                    "  at the till: https://THIS-BOARD:{}/nexo/, POIID {}, SaleID {}, key {} version {}, the passphrase",
                    self.port, self.poi_id, self.sale_id, self.key_identifier, self.key_version
                ));
                out::say("  its certificate for the till: pos-front certificate --pem >terminal-ca.pem");
            }
            TillKind::Page | TillKind::None => {
                out::say(
                    "  the cashier's page: https://THIS-BOARD:8443/ (pos-front certificate --pem: for its browsers)",
                );
            }
        }
    }

    /// The front's own word about the files as they are in their places.
    pub(super) fn prove(&self) -> Result<(), Stop> {
        let output = Command::new(front_program()).arg("check").arg("--config").arg(&self.file).output();
        let output = output.map_err(|error| Stop::new(Exit::Software, format!("no pos-front check: {error}")))?;
        out::say_lines(&String::from_utf8_lossy(&output.stdout));
        match output.status.success() {
            true => Ok(()),
            false => Err(Stop::new(Exit::Config, String::from_utf8_lossy(&output.stderr).trim_end().to_owned())),
        }
    }

    /// Takes over what an earlier file says of a till of the same kind, as answers to fall back on.
    fn take_over(&mut self, earlier: &str) {
        let (line, till) = match self.kind {
            TillKind::Zvt => ("zvt", "zvt"),
            TillKind::Nexo => ("nexo", "nexo.till"),
            TillKind::Page | TillKind::None => return,
        };
        let take = |to: &mut String, found: Option<String>| found.into_iter().for_each(|found| *to = found);
        take(&mut self.name, value(earlier, till, "till"));
        let port = value(earlier, line, "listen").and_then(|listen| Some(listen.rsplit_once(':')?.1.to_owned()));
        take(&mut self.port, port);
        take(&mut self.from, value(earlier, line, "from"));
        take(&mut self.poi_id, value(earlier, line, "poi-id"));
        self.certificate_name = value(earlier, line, "certificate-name");
        take(&mut self.sale_id, value(earlier, till, "sale-id"));
        take(&mut self.key_identifier, value(earlier, till, "key-identifier"));
        take(&mut self.key_version, value(earlier, till, "key-version"));
    }
}

impl Setup {
    /// The front's file, when it may be replaced. Whoever has said that a till is connected hears at once that it may
    /// not.
    pub(super) fn earlier_front(&self) -> Result<Option<String>, Stop> {
        let file = self.config.with_file_name(FRONT);
        match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(super::failed(&file, &error)),
            Ok(text)
                if self.replace
                    || !matches!(self.tills.till, Some(TillKind::Zvt | TillKind::Nexo | TillKind::Page)) =>
            {
                Ok(Some(text))
            }
            Ok(_) => Err(Stop::new(Exit::Config, already_there(&file))),
        }
    }

    /// The till that is to be connected.
    pub(super) fn till(
        &self,
        answers: &mut Answers,
        earlier: Option<&str>,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        if earlier.is_some() && !self.replace {
            let file = self.config.with_file_name(FRONT);
            out::say(&format!("{}: no till is asked", already_there(&file)));
            return self.tills.are_for(TillKind::None);
        }
        let kind = self.till_kind(answers, earlier.is_some())?;
        self.tills.are_for(kind)?;
        if kind == TillKind::None {
            return Ok(());
        }
        let mut front = FrontAnswers::of(kind, &self.config);
        let known = front.clone();
        if let Some(earlier) = earlier {
            front.take_over(earlier);
        }
        // What the earlier one says is offered, and until then nothing may be wrong with what stands there.
        let usual = std::mem::replace(&mut front, known);
        answers.front = Some(front);
        let is_known = earlier.is_some() && usual.sale_id != "till";
        self.front_user(answers, missing)?;
        if kind != TillKind::Page {
            self.line_of_till(answers, &usual, earlier.is_some(), missing)?;
        }
        if kind == TillKind::Nexo {
            self.names_of_nexo(answers, &usual, is_known, missing)?;
        }
        if kind != TillKind::Page {
            self.till_secret(answers, missing)?;
        }
        self.till_rights(answers, missing)
    }

    fn till_kind(&self, answers: &Answers, has_front: bool) -> Result<TillKind, Stop> {
        let mut kind = self.tills.till.or(self.yes.then_some(TillKind::None));
        let words = match has_front {
            true => "Connect a till: zvt, nexo, page (the cashier's page alone), or none (front.toml stays as it is)",
            false => "Connect a till: zvt, nexo, page (the cashier's page alone), or none",
        };
        loop {
            let chosen = match kind {
                Some(kind) => Ok(kind),
                None => TillKind::from_str(&person::ask(words, Some("none"))?, true),
            };
            match chosen {
                Ok(TillKind::None) => return Ok(TillKind::None),
                // It is there, and takes what nobody has answered yet.
                Ok(chosen) => match FrontAnswers::of(chosen, &answers.file).fault() {
                    None => return Ok(chosen),
                    Some(fault) if kind.is_some() => return Err(wrong("--till", &fault)),
                    Some(fault) => tell(&fault),
                },
                Err(_) => out::say("  please answer zvt, nexo, page or none"),
            }
            kind = None;
        }
    }

    /// The user that the front runs as: asked for only where the system has none of its name.
    fn front_user(&self, answers: &mut Answers, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let found = access::user_number(FRONT_USER).map(|number| number.to_string());
        let given = self.tills.front_user.as_deref().or(found.as_deref());
        let words = "Number of the user that pos-front runs as (id -u NAME); there is no user pos-front";
        let question = Question { key: PEER_RULES, option: "--front-user", words, given, usual: None };
        self.answer_front(answers, question, missing, &|front, text| front.user = text)
    }

    fn line_of_till(
        &self,
        answers: &mut Answers,
        usual: &FrontAnswers,
        is_known: bool,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        let TillOptions { till_name, till_address, till_port, .. } = &self.tills;
        let (given, words) = (till_name.as_deref(), "The till's name here: letters, digits, - and _");
        let key = FRONT_RULES;
        let question = Question { key, option: "--till-name", words, given, usual: Some(usual.name.clone()) };
        self.answer_front(answers, question, missing, &|front, text| front.name = text)?;
        let (given, words) = (till_address.as_deref(), "The till's address, as 192.168.1.20; several with commas");
        let from = is_known.then(|| usual.from.clone());
        let question = Question { key, option: "--till-address", words, given, usual: from };
        self.answer_front(answers, question, missing, &|front, text| front.from = text)?;
        let (given, words) = (till_port.as_deref(), "The port at which the till finds the terminal");
        let question = Question { key, option: "--till-port", words, given, usual: Some(usual.port.clone()) };
        self.answer_front(answers, question, missing, &|front, text| front.port = text)
    }

    fn names_of_nexo(
        &self,
        answers: &mut Answers,
        usual: &FrontAnswers,
        is_known: bool,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        let TillOptions { poi_id, sale_id, key_identifier, key_version, certificate_name, .. } = &self.tills;
        let key = FRONT_RULES;
        let (given, words) = (poi_id.as_deref(), "POIID, the terminal's name at the till");
        let question = Question { key, option: "--poi-id", words, given, usual: Some(usual.poi_id.clone()) };
        self.answer_front(answers, question, missing, &|front, text| front.poi_id = text)?;
        let (given, words) = (sale_id.as_deref(), "SaleID, the till's own name");
        let before = is_known.then(|| usual.sale_id.clone());
        let question = Question { key, option: "--sale-id", words, given, usual: before };
        self.answer_front(answers, question, missing, &|front, text| front.sale_id = text)?;
        let (given, words) = (key_identifier.as_deref(), "Key identifier, as the till has it");
        let before = Some(usual.key_identifier.clone());
        let question = Question { key, option: "--key-identifier", words, given, usual: before };
        self.answer_front(answers, question, missing, &|front, text| front.key_identifier = text)?;
        let (given, words) = (key_version.as_deref(), "Key version, as the till has it");
        let before = Some(usual.key_version.clone());
        let question = Question { key, option: "--key-version", words, given, usual: before };
        self.answer_front(answers, question, missing, &|front, text| front.key_version = text)?;
        let (given, words) = (certificate_name.as_deref(), "Name in the certificate, if the till's library wants one");
        let before = Some(usual.certificate_name.clone().unwrap_or_else(|| super::questions::NONE.to_owned()));
        let question = Question { key, option: "--certificate-name", words, given, usual: before };
        self.answer_front(answers, question, missing, &|front, text| {
            front.certificate_name = (text != super::questions::NONE).then_some(text);
        })
    }

    /// The password or passphrase: from a file, typed without being shown, or the one that is there.
    fn till_secret(&self, answers: &mut Answers, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let front = answers.front.as_mut().expect("a till is connected");
        let is_there = front.secret_file(&folder(&front.file)).exists();
        let is_nexo = front.kind == TillKind::Nexo;
        let without = match (is_there, is_nexo) {
            (true, _) => Some(Secret::Kept),
            (false, false) => Some(Secret::None),
            (false, true) => None,
        };
        if let Some(file) = &self.tills.till_secret_file {
            let secret = Zeroizing::new(fs::read(file).map_err(|error| super::failed(file, &error))?);
            front.secret = Secret::New(secret);
            return front.fault().map_or(Ok(()), |fault| Err(wrong("--till-secret-file", &fault)));
        }
        if self.yes {
            match without {
                Some(secret) => front.secret = secret,
                None => missing.push("--till-secret-file"),
            }
            return Ok(());
        }
        let what = match is_nexo {
            true => "The passphrase of the till's key",
            false => "The till's password of six digits, without which voids, refunds and the end of day are refused",
        };
        let enter = match (is_there, is_nexo) {
            (true, _) => ", Enter for the one that is there",
            (false, false) => ", Enter for none",
            (false, true) => "",
        };
        let before = front.secret.clone();
        loop {
            let typed = person::ask_secret(&format!("{what} (it is not shown{enter})"))?;
            front.secret = match &without {
                Some(without) if typed.is_empty() => without.clone(),
                _ => Secret::New(typed),
            };
            match front.fault() {
                None => return Ok(()),
                Some(fault) => tell(&fault),
            }
            front.secret.clone_from(&before);
        }
    }

    fn till_rights(&self, answers: &mut Answers, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let (given, words) = (self.tills.till_rights.as_deref(), "What page and till may do");
        let usual = Some(USUAL_RIGHTS.to_owned());
        let question = Question { key: PEER_RULES, option: "--till-rights", words, given, usual };
        self.answer_front(answers, question, missing, &|front, text| front.rights = text)?;
        let front = answers.front.as_mut().expect("the front is configured");
        if front.has_till() {
            front.has_operator = self.tills.till_operator;
            if !self.yes && !self.tills.till_operator {
                let words = "Where operators sign in: may this till do without, since nobody can sign in at it?";
                front.has_operator = !person::agrees(words, true)?;
            }
        }
        Ok(())
    }

    fn answer_front(
        &self,
        answers: &mut Answers,
        question: Question<'_>,
        missing: &mut Vec<&'static str>,
        set: &dyn Fn(&mut FrontAnswers, String),
    ) -> Result<(), Stop> {
        self.answer(answers, question, missing, &|answers, text| {
            set(answers.front.as_mut().expect("the front is configured"), text);
        })
    }
}

/// A folder of this user alone, for the time of a check.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("pos-agent-setup-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left there is of this user alone.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The front's program: beside this one, or where the system looks for programs.
fn front_program() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|me| me.with_file_name("pos-front"));
    beside.filter(|program| program.exists()).unwrap_or_else(|| "pos-front".into())
}

fn fault(said: &str, remedy: &str) -> ConfigFault {
    let (wrong, remedy) = said.split_once("; ").unwrap_or((said, remedy));
    ConfigFault { line: None, key: FRONT_RULES.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}

fn folder(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Texts that were typed with commas, as TOML lists them.
fn list(typed: &str) -> String {
    typed.split(',').map(str::trim).filter(|one| !one.is_empty()).map(quoted).collect::<Vec<_>>().join(", ")
}
