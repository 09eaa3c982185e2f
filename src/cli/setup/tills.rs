//! The questions about the till to connect.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pos_daemon::access;
use pos_first_boot::{Secret as GivenSecret, TillAnswers};
use zeroize::Zeroizing;

use super::super::exit::{Exit, Stop};
use super::super::{out, person};
use super::draft::Draft;
use super::from::over;
use super::front_file::{
    FRONT, FRONT_RULES, FRONT_USER, FrontDraft, PEER_RULES, Secret, TillKind, USUAL_RIGHTS, folder,
};
use super::questions::{Question, tell, wrong};
use super::{Setup, already_there};

/// The options about the till.
#[derive(Debug, Args)]
#[command(next_help_heading = "The till")]
pub(super) struct TillOptions {
    /// The till to connect through pos-front, which also serves the cashier's page; setup then writes front.toml
    #[arg(long, value_name = "KIND")]
    pub(super) till: Option<TillKind>,
    /// The till's name at the agent: letters, digits, - and _ [default: kasse-1]
    #[arg(long, value_name = "NAME")]
    till_name: Option<String>,
    /// The till's address, for example 192.168.1.20; separate several addresses with commas
    #[arg(long, value_name = "ADDRESS")]
    till_address: Option<String>,
    /// The port that the till connects to [default: 20007 for ZVT, 8443 for nexo, 8888 for Caisse-AP]
    #[arg(long, value_name = "PORT")]
    till_port: Option<String>,
    /// The rights of the page and the till, separated by commas [default: the usual rights]
    #[arg(long, value_name = "RIGHTS")]
    till_rights: Option<String>,
    /// The till needs a signed-in operator if the configuration requires operators
    #[arg(long)]
    till_operator: bool,
    /// File with the ZVT password (six digits) or the nexo passphrase; setup copies it next to the configuration
    #[arg(long, value_name = "FILE")]
    till_secret_file: Option<PathBuf>,
    /// nexo: the till's name for the terminal [default: PosAgent-0001]
    #[arg(long, value_name = "NAME")]
    poi_id: Option<String>,
    /// nexo: the till's name for itself
    #[arg(long, value_name = "NAME")]
    sale_id: Option<String>,
    /// nexo: the till's name for the key [default: mykey]
    #[arg(long, value_name = "NAME")]
    key_identifier: Option<String>,
    /// nexo: the key's version, as set in the till [default: 1]
    #[arg(long, value_name = "NUMBER")]
    key_version: Option<String>,
    /// nexo: the common name of the certificate, if the till's library requires one, or none
    #[arg(long, value_name = "NAME|none")]
    certificate_name: Option<String>,
    /// The uid of pos-front [default: the uid of the user pos-front]
    #[arg(long, value_name = "NUMBER")]
    front_user: Option<String>,
}

impl TillOptions {
    pub(super) fn front_user(&self) -> Option<&str> {
        self.front_user.as_deref()
    }

    /// Replaces the answers for which there is an option.
    pub(super) fn replace_answers(&self, answers: &mut Option<TillAnswers>, file: impl Fn(&PathBuf) -> GivenSecret) {
        let mut till = answers.take().unwrap_or_default();
        let kind = self.till.as_ref().and_then(ValueEnum::to_possible_value).map(|kind| kind.get_name().to_owned());
        over(&mut till.kind, kind.as_ref());
        over(&mut till.name, self.till_name.as_ref());
        let addresses = self.till_address.as_ref().map(|typed| typed.split(',').map(str::to_owned).collect());
        over(&mut till.address, addresses.as_ref());
        over(&mut till.port, self.till_port.as_ref());
        over(&mut till.rights, self.till_rights.as_ref());
        over(&mut till.operator, Some(&true).filter(|_| self.till_operator));
        over(&mut till.secret, self.till_secret_file.as_ref().map(file).as_ref());
        over(&mut till.poi_id, self.poi_id.as_ref());
        over(&mut till.sale_id, self.sale_id.as_ref());
        over(&mut till.key_identifier, self.key_identifier.as_ref());
        over(&mut till.key_version, self.key_version.as_ref());
        over(&mut till.certificate_name, self.certificate_name.as_ref());
        *answers = (till != TillAnswers::default()).then_some(till);
    }

    /// Refuses options that do not apply to this kind of till.
    fn are_for(&self, kind: TillKind) -> Result<(), Stop> {
        let (is_connected, has_till) = (kind != TillKind::None, kind.has_till());
        let is_nexo = kind == TillKind::Nexo;
        let given = [
            ("--front-user", self.front_user.is_some(), is_connected),
            ("--till-rights", self.till_rights.is_some(), is_connected),
            ("--till-name", self.till_name.is_some(), has_till),
            ("--till-address", self.till_address.is_some(), has_till),
            ("--till-port", self.till_port.is_some(), has_till),
            ("--till-operator", self.till_operator, has_till),
            ("--till-secret-file", self.till_secret_file.is_some(), kind.has_secret()),
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
                    TillKind::CaisseAp if *option == "--till-secret-file" => {
                        "applies only to a ZVT or nexo till; omit it, because Caisse-AP has no password"
                    }
                    TillKind::Zvt | TillKind::CaisseAp => {
                        "applies only to a nexo till; omit it, or connect such a till (--till nexo)"
                    }
                    TillKind::Page => {
                        "applies only to a till; omit it, or choose its kind (--till zvt, nexo or caisse-ap)"
                    }
                    TillKind::Nexo | TillKind::None => {
                        "applies only if a till is connected; omit it, or connect a till (--till)"
                    }
                };
                Err(Stop::new(Exit::Usage, format!("{option}: {why}; nothing was written")))
            }
        }
    }
}

impl Setup {
    /// Reads the front's earlier file if it may be replaced, or if the options choose no till. Otherwise, it refuses an
    /// existing file before the first question.
    pub(super) fn earlier_front(&self) -> Result<Option<String>, Stop> {
        let file = self.config.with_file_name(FRONT);
        match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(super::failed(&file, &error)),
            Ok(text) if self.replace || matches!(self.tills.till, None | Some(TillKind::None)) => Ok(Some(text)),
            Ok(_) => Err(Stop::new(Exit::Config, already_there(&file))),
        }
    }

    /// Asks for the till to connect.
    pub(super) fn till(
        &self,
        draft: &mut Draft,
        earlier: Option<&str>,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        if earlier.is_some() && !self.replace {
            let file = self.config.with_file_name(FRONT);
            out::say(&format!("{}; setup connects no till", already_there(&file)));
            return self.tills.are_for(TillKind::None);
        }
        let kind = self.till_kind(draft, earlier.is_some())?;
        self.tills.are_for(kind)?;
        if kind == TillKind::None {
            return Ok(());
        }
        let mut front = FrontDraft::of(kind, &self.config);
        let known = front.clone();
        if let Some(earlier) = earlier {
            front.take_over(earlier);
        }
        // The earlier values become the defaults. Until they are confirmed, the answers hold valid placeholders.
        let usual = std::mem::replace(&mut front, known);
        draft.front = Some(front);
        let is_known = earlier.is_some() && usual.sale_id != "till";
        self.front_user(draft, missing)?;
        if kind.has_till() {
            self.line_of_till(draft, &usual, earlier.is_some(), missing)?;
        }
        if kind == TillKind::Nexo {
            self.names_of_nexo(draft, &usual, is_known, missing)?;
        }
        if kind.has_secret() {
            self.till_secret(draft, missing)?;
        }
        self.till_rights(draft, missing)
    }

    fn till_kind(&self, draft: &Draft, has_front: bool) -> Result<TillKind, Stop> {
        let mut kind = self.tills.till.or(self.yes.then_some(TillKind::None));
        let words = match has_front {
            true => {
                "Connect a till: zvt, nexo, caisse-ap, page (only the cashier's page), or none (front.toml stays unchanged)"
            }
            false => "Connect a till: zvt, nexo, caisse-ap, page (only the cashier's page), or none",
        };
        loop {
            let chosen = match kind {
                Some(kind) => Ok(kind),
                None => TillKind::from_str(&person::ask(words, Some("none"))?, true),
            };
            match chosen {
                Ok(TillKind::None) => return Ok(TillKind::None),
                // This checks that `pos-front` is installed and accepts the placeholders.
                Ok(chosen) => match FrontDraft::of(chosen, &draft.file).fault() {
                    None => return Ok(chosen),
                    Some(fault) if kind.is_some() => return Err(wrong("--till", &fault)),
                    Some(fault) => tell(&fault),
                },
                Err(_) => out::say("  please answer zvt, nexo, caisse-ap, page or none"),
            }
            kind = None;
        }
    }

    /// Takes the uid of the front's user from the option or the system, and asks only if neither has it.
    fn front_user(&self, draft: &mut Draft, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let found = access::user_number(FRONT_USER).map(|number| number.to_string());
        let given = self.tills.front_user.as_deref().or(found.as_deref());
        let words = "Uid of pos-front's user (id -u NAME); there is no user pos-front";
        let question = Question { key: PEER_RULES, option: "--front-user", words, given, usual: None };
        self.answer_front(draft, question, missing, &|front, text| front.user = text)
    }

    fn line_of_till(
        &self,
        draft: &mut Draft,
        usual: &FrontDraft,
        is_known: bool,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        let TillOptions { till_name, till_address, till_port, .. } = &self.tills;
        let (given, words) =
            (till_name.as_deref(), "A name for the till in this configuration: letters, digits, - and _");
        let key = FRONT_RULES;
        let question = Question { key, option: "--till-name", words, given, usual: Some(usual.name.clone()) };
        self.answer_front(draft, question, missing, &|front, text| front.name = text)?;
        let (given, words) = (
            till_address.as_deref(),
            "The till's address, for example 192.168.1.20; separate several addresses with commas",
        );
        let from = is_known.then(|| usual.from.clone());
        let question = Question { key, option: "--till-address", words, given, usual: from };
        self.answer_front(draft, question, missing, &|front, text| front.from = text)?;
        let (given, words) = (till_port.as_deref(), "The port at which the till finds the terminal");
        let question = Question { key, option: "--till-port", words, given, usual: Some(usual.port.clone()) };
        self.answer_front(draft, question, missing, &|front, text| front.port = text)
    }

    fn names_of_nexo(
        &self,
        draft: &mut Draft,
        usual: &FrontDraft,
        is_known: bool,
        missing: &mut Vec<&'static str>,
    ) -> Result<(), Stop> {
        let TillOptions { poi_id, sale_id, key_identifier, key_version, certificate_name, .. } = &self.tills;
        let key = FRONT_RULES;
        let (given, words) = (poi_id.as_deref(), "POIID, the terminal's name at the till");
        let question = Question { key, option: "--poi-id", words, given, usual: Some(usual.poi_id.clone()) };
        self.answer_front(draft, question, missing, &|front, text| front.poi_id = text)?;
        let (given, words) = (sale_id.as_deref(), "SaleID, the till's name for itself");
        let before = is_known.then(|| usual.sale_id.clone());
        let question = Question { key, option: "--sale-id", words, given, usual: before };
        self.answer_front(draft, question, missing, &|front, text| front.sale_id = text)?;
        let (given, words) = (key_identifier.as_deref(), "Key identifier, as set in the till");
        let before = Some(usual.key_identifier.clone());
        let question = Question { key, option: "--key-identifier", words, given, usual: before };
        self.answer_front(draft, question, missing, &|front, text| front.key_identifier = text)?;
        let (given, words) = (key_version.as_deref(), "Key version, as set in the till");
        let before = Some(usual.key_version.clone());
        let question = Question { key, option: "--key-version", words, given, usual: before };
        self.answer_front(draft, question, missing, &|front, text| front.key_version = text)?;
        let (given, words) =
            (certificate_name.as_deref(), "Name in the certificate, if the till's library requires one");
        let before = Some(usual.certificate_name.clone().unwrap_or_else(|| super::questions::NONE.to_owned()));
        let question = Question { key, option: "--certificate-name", words, given, usual: before };
        self.answer_front(draft, question, missing, &|front, text| {
            front.certificate_name = (text != super::questions::NONE).then_some(text);
        })
    }

    /// Takes the password or passphrase from a file or hidden input, or keeps the existing one.
    fn till_secret(&self, draft: &mut Draft, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let front = draft.front.as_mut().expect("a till is connected");
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
            false => "The till's password of six digits; without it, voids, refunds and the end of day are refused",
        };
        let enter = match (is_there, is_nexo) {
            (true, _) => ", Enter keeps the existing one",
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

    fn till_rights(&self, draft: &mut Draft, missing: &mut Vec<&'static str>) -> Result<(), Stop> {
        let (given, words) = (self.tills.till_rights.as_deref(), "Rights of the page and the till");
        let usual = Some(USUAL_RIGHTS.to_owned());
        let question = Question { key: PEER_RULES, option: "--till-rights", words, given, usual };
        self.answer_front(draft, question, missing, &|front, text| front.rights = text)?;
        let front = draft.front.as_mut().expect("the front is configured");
        if front.has_till() {
            front.has_operator = self.tills.till_operator;
            if !self.yes && !self.tills.till_operator {
                let words = "If operators must sign in: may this till work without a signed-in operator, because no \
                    operator can sign in there?";
                front.has_operator = !person::agrees(words, true)?;
            }
        }
        Ok(())
    }

    fn answer_front(
        &self,
        draft: &mut Draft,
        question: Question<'_>,
        missing: &mut Vec<&'static str>,
        set: &dyn Fn(&mut FrontDraft, String),
    ) -> Result<(), Stop> {
        self.answer(draft, question, missing, &|draft, text| {
            set(draft.front.as_mut().expect("the front is configured"), text);
        })
    }
}
