//! The configuration file `/etc/pos-agent/front.toml`: its keys, and one report of all its faults.
//!
//! Each fault names the file, the key and the remedy. Unknown keys are faults. Secrets are in separate files that only
//! the front's user can open.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pos_daemon::secret::secret_file;
use pos_till_api::is_till_name;
use toml::Table;
use zeroize::Zeroizing;

use self::caisse_ap::CaisseApConfig;
use self::nexo::NexoConfig;
use self::section::Section;
use self::zvt::ZvtConfig;
use crate::callbacks::CallbackAddress;
use crate::certificate::own_name;
use crate::found::Announcement;
use crate::logo::Logo;

pub(crate) mod caisse_ap;
pub(crate) mod nexo;
mod section;
mod till_lines;
pub(crate) mod zvt;

/// The largest number of webhooks. Each webhook holds one stream of events, and the agent allows one user 24 streams.
const MOST_WEBHOOKS: usize = 4;
/// The largest number of permitted beginnings of one webhook. Each address is compared with all of them.
const MOST_CALLBACKS: usize = 16;
/// The largest number of addresses in each of `https` and `http`.
const MOST_ADDRESSES: usize = 8;

/// The content of the file.
#[derive(Clone, Debug)]
pub(crate) struct FrontConfig {
    /// The addresses that are served with TLS.
    pub(crate) https: Vec<SocketAddr>,
    /// The addresses that are served without TLS. Only loopback addresses are allowed.
    pub(crate) http: Vec<SocketAddr>,
    /// True when tills in the network find the terminal by multicast DNS.
    pub(crate) announce: bool,
    /// Names and addresses of the terminal, in addition to those that the front finds itself.
    pub(crate) names: Vec<String>,
    /// The folder of the front's own files.
    pub(crate) state: PathBuf,
    /// The socket through which `pos-front pair` and `status` reach the running front.
    pub(crate) control: PathBuf,
    /// The agent's socket.
    pub(crate) agent: PathBuf,
    /// The socket that runs the doctor.
    pub(crate) doctor: PathBuf,
    /// The settings of the page.
    pub(crate) page: PageConfig,
    /// The origins whose pages may use this interface with a paired till's token.
    pub(crate) origins: Vec<String>,
    /// The tills that may be paired.
    pub(crate) tills: Vec<String>,
    /// The receivers of events.
    pub(crate) webhooks: Vec<WebhookConfig>,
    /// The tills that speak ZVT.
    pub(crate) zvt: Vec<ZvtConfig>,
    /// The tills that speak Caisse-AP over IP.
    pub(crate) caisse_ap: Vec<CaisseApConfig>,
    /// The tills that speak nexo, and their port.
    pub(crate) nexo: NexoConfig,
}

/// The configuration of the page.
#[derive(Clone, Debug)]
pub(crate) struct PageConfig {
    /// True when the page is served.
    pub(crate) on: bool,
    /// The till in whose name the page acts.
    pub(crate) till: String,
    /// The callers who may use the page without a signed-in operator.
    pub(crate) without_sign_in: WithoutSignIn,
    /// True when the customer's screen is served.
    pub(crate) customer: bool,
    /// The shop's colour, as `#rrggbb`.
    pub(crate) accent: Option<String>,
    /// The file with the shop's logo.
    pub(crate) logo: Option<PathBuf>,
}

/// The callers who may use the page without a signed-in operator. If the agent's configuration requires an operator,
/// the agent still asks for one before money moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutSignIn {
    /// No one.
    Nobody,
    /// Programs on this board, such as the browser on its screen.
    Board,
    /// Browsers that a person paired with the terminal.
    Paired,
    /// Every device that can reach the board.
    Network,
}

impl WithoutSignIn {
    const WORDS: [(&str, Self); 4] =
        [("nobody", Self::Nobody), ("board", Self::Board), ("paired", Self::Paired), ("network", Self::Network)];

    /// Returns the word for this value in the file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Board => "board",
            Self::Paired => "paired",
            Self::Network => "network",
        }
    }
}

/// A receiver of events.
#[derive(Clone, Debug)]
pub(crate) struct WebhookConfig {
    /// The name. The names of the webhook's files in the state folder contain it.
    pub(crate) name: String,
    /// The address of the events. If absent, only the events of transactions with a callback address are sent.
    pub(crate) url: Option<String>,
    /// The beginnings of the addresses that tills may name for the events of a transaction.
    pub(crate) callbacks: Vec<String>,
    /// The file with the key of the signature.
    pub(crate) secret_file: PathBuf,
    /// The file with the only CA that is accepted for the receiver's certificate. If absent, the system's CAs are
    /// accepted.
    pub(crate) ca_file: Option<PathBuf>,
    /// The tills whose events are sent. If absent, the events of all tills that the agent assigns to the front are
    /// sent.
    pub(crate) tills: Option<BTreeSet<String>>,
    /// The steps that are sent. If absent, every step that changes a transaction is sent.
    pub(crate) steps: Option<BTreeSet<String>>,
    /// The time after which an event is given up.
    pub(crate) give_up: Duration,
}

/// A fault in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    key: String,
    wrong: String,
    remedy: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, wrong, remedy } = self;
        let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
        write!(f, "{key}{wrong}; {remedy}")
    }
}

/// The reason why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file does not exist.
    #[error("{}: does not exist; run pos-agent setup as root, which writes it for the page or a till, or give the \
        right path with --config", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}; give the right path with --config, or allow this user to read the file", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error from the operating system.
        #[source]
        cause: io::Error,
    },
    /// The content of the file cannot be used.
    #[error("{}", lines(file, faults))]
    Faulty {
        /// The file.
        file: PathBuf,
        /// The faults; never empty.
        faults: Vec<Fault>,
    },
}

fn lines(file: &Path, faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("{}: {fault}", file.display())).collect::<Vec<_>>().join("\n")
}

/// Reads the file and checks it completely.
pub(crate) fn load(path: &Path) -> Result<FrontConfig, ConfigError> {
    let unreadable = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => ConfigError::Missing { file: path.to_owned() },
        _ => ConfigError::Unreadable { file: path.to_owned(), cause },
    };
    let mode = fs::metadata(path).map_err(unreadable)?.permissions().mode() & 0o7777;
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let (config, mut faults) = parse(&text);
    if mode & 0o002 != 0 {
        let (wrong, remedy) =
            (format!("every user may write to it (mode {mode:04o})"), format!("run: chmod o-w {}", path.display()));
        faults.insert(0, Fault { key: String::new(), wrong, remedy });
    }
    match config.filter(|_| faults.is_empty()) {
        Some(config) => Ok(config),
        None => Err(ConfigError::Faulty { file: path.to_owned(), faults }),
    }
}

/// Returns the configuration in a text, and its faults. A configuration with faults must not be used.
fn parse(text: &str) -> (Option<FrontConfig>, Vec<Fault>) {
    let mut table = match text.parse::<Table>() {
        Ok(table) => table,
        Err(error) => {
            let wrong = format!("is not TOML: {}", error.to_string().trim().replace('\n', " "));
            return (
                None,
                vec![Fault { key: String::new(), wrong, remedy: "correct the file at the given position".to_owned() }],
            );
        }
    };
    let mut faults = Vec::new();
    let config = {
        let mut whole = Section { prefix: String::new(), table: &mut table, faults: &mut faults };
        let config = FrontConfig::read(&mut whole);
        whole.nothing_else();
        config
    };
    config.judge(&mut faults);
    (Some(config), faults)
}

impl FrontConfig {
    /// Returns all addresses that the front listens on, with and without TLS. The certificate contains them.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.https.iter().chain(&self.http).chain(&self.nexo.listen).copied().collect()
    }

    /// Returns what the front announces in the network.
    pub(crate) fn announcement(&self) -> Option<Announcement> {
        Announcement::of(&self.https, &own_name()).filter(|_| self.announce)
    }

    /// Returns every till in whose name the front acts.
    pub(crate) fn own_tills(&self) -> Vec<String> {
        let page = Some(&self.page.till).filter(|_| self.page.on);
        let zvt = self.zvt.iter().map(|till| &till.till);
        let caisse_ap = self.caisse_ap.iter().map(|till| &till.till);
        let nexo = self.nexo.tills.iter().map(|till| &till.till);
        self.tills.iter().chain(page).chain(zvt).chain(caisse_ap).chain(nexo).cloned().collect()
    }

    fn read(whole: &mut Section<'_>) -> Self {
        let names = whole.texts("names").unwrap_or_default();
        let state = whole.path("state").unwrap_or_else(|| "/var/lib/pos-front".into());
        let control = whole.path("control").unwrap_or_else(|| "/run/pos-front/control.sock".into());
        let agent = whole.path("agent").unwrap_or_else(|| "/run/pos-agent/till.sock".into());
        let doctor = whole.path("doctor").unwrap_or_else(|| "/run/pos-doctor/doctor.sock".into());
        let tills = whole.texts("tills").unwrap_or_default();
        let (https, http, announce) = whole.section("listen", |listen| {
            (listen.addresses("https"), listen.addresses("http"), listen.flag("announce").unwrap_or(true))
        });
        let page = whole.section("page", |page| PageConfig {
            on: page.flag("on").unwrap_or(true),
            till: page.text("till").unwrap_or_else(|| "local".to_owned()),
            without_sign_in: page.word("without-sign-in", &WithoutSignIn::WORDS).unwrap_or(WithoutSignIn::Board),
            customer: page.flag("customer").unwrap_or(false),
            accent: page.text("accent"),
            logo: page.path("logo"),
        });
        let origins = whole.section("cors", |cors| cors.texts("origins").unwrap_or_default());
        let webhooks = whole.sections("webhook", WebhookConfig::read);
        let zvt = whole.sections("zvt", ZvtConfig::read);
        let caisse_ap = whole.sections("caisse-ap", CaisseApConfig::read);
        let nexo = whole.section("nexo", NexoConfig::read);
        Self {
            https,
            http,
            announce,
            names,
            state,
            control,
            agent,
            doctor,
            page,
            origins,
            tills,
            webhooks,
            zvt,
            caisse_ap,
            nexo,
        }
    }

    /// Finds the faults that remain when each value has the right type.
    fn judge(&self, faults: &mut Vec<Fault>) {
        let mut say = |key: &str, wrong: String, remedy: &str| {
            faults.push(Fault { key: key.to_owned(), wrong, remedy: remedy.to_owned() });
        };
        if self.https.is_empty() && self.http.is_empty() {
            say("listen", "no address".to_owned(), "write https = [\"0.0.0.0:8443\"] below [listen]");
        }
        for (key, addresses) in [("listen.https", &self.https), ("listen.http", &self.http)] {
            if addresses.len() > MOST_ADDRESSES {
                let wrong = format!("{} addresses", addresses.len());
                say(key, wrong, "write 8 at most; 0.0.0.0 means all addresses of this board");
            }
        }
        for address in self.http.iter().filter(|address| !address.ip().is_loopback()) {
            let wrong = format!("{address} is on a network, where others can read data sent without TLS");
            say("listen.http", wrong, "write the address in https, or use 127.0.0.1");
        }
        for name in self.names.iter().filter(|name| !is_host_name(name)) {
            say("names", format!("{name:?} is neither a host name nor an address"), "write it as \"kasse.local\"");
        }
        for origin in self.origins.iter().filter(|origin| !is_origin(origin)) {
            let wrong = format!("{origin:?} is not an origin");
            say("cors.origins", wrong, "write only scheme, host and port, such as \"https://till.example\"");
        }
        for till in self.tills.iter().chain([&self.page.till]).filter(|till| !is_till_name(till)) {
            say("tills", format!("{till:?} cannot be a till's name"), "use 1 to 32 letters, digits, '-' and '_'");
        }
        if self.page.customer && !self.page.on {
            let wrong = "the customer's screen needs the page, which is off".to_owned();
            say("page.customer", wrong, "set on = true in [page], or omit customer");
        }
        if let Some(accent) = self.page.accent.as_deref().filter(|accent| !is_colour(accent)) {
            say("page.accent", format!("{accent:?} is not a colour"), "write it as \"#0a4d8c\"");
        }
        if let Some(Err((wrong, remedy))) = self.page.logo.as_deref().map(Logo::read) {
            say("page.logo", wrong, remedy);
        }
        if self.tills.contains(&self.page.till) {
            let wrong = format!("{:?} is the page's own till", self.page.till);
            say("tills", wrong, "set a different till for the page (till in [page]), or remove this one");
        }
        if self.webhooks.len() > MOST_WEBHOOKS {
            say("webhook", format!("there are {}", self.webhooks.len()), "write 4 at most");
        }
        let (mut names, mut lines) = (self.tills.iter().chain([&self.page.till]).collect(), BTreeSet::new());
        let zvt = self.zvt.iter().map(|till| (&till.till, till.line.to_string()));
        let caisse_ap = self.caisse_ap.iter().map(|till| (&till.till, till.listen.to_string()));
        let of_tills = till_lines::judge("zvt", zvt, &mut names, &mut lines)
            .into_iter()
            .chain(till_lines::judge("caisse-ap", caisse_ap, &mut names, &mut lines))
            .chain(self.zvt.iter().flat_map(ZvtConfig::judge))
            .chain(self.caisse_ap.iter().flat_map(CaisseApConfig::judge));
        for (key, (wrong, remedy)) in of_tills {
            say(&key, wrong, remedy);
        }
        for (key, (wrong, remedy)) in self.nexo.judge(&names) {
            say(&key, wrong, remedy);
        }
        let mut seen = BTreeSet::new();
        for webhook in &self.webhooks {
            let key = format!("webhook {:?}", webhook.name);
            if !is_till_name(&webhook.name) || !seen.insert(&webhook.name) {
                say(&key, "name: not valid, or used twice".to_owned(), "give each webhook its own short name");
            }
            if let Err((wrong, remedy)) = webhook.judge() {
                say(&key, wrong, remedy);
            }
        }
    }
}

impl WebhookConfig {
    fn read(webhook: &mut Section<'_>) -> Self {
        let hours = webhook.number("give-up-after-h", 1..=240).unwrap_or(24);
        Self {
            name: webhook.needed_text("name"),
            url: webhook.text("url"),
            callbacks: webhook.texts("callbacks").unwrap_or_default(),
            secret_file: webhook.needed_text("secret-file").into(),
            ca_file: webhook.path("ca-file"),
            tills: webhook.texts("tills").map(|tills| tills.into_iter().collect()),
            steps: webhook.texts("steps").map(|steps| steps.into_iter().collect()),
            give_up: Duration::from_secs(hours * 3600),
        }
    }

    fn judge(&self) -> Result<(), (String, &'static str)> {
        match &self.url {
            Some(url) => judge_url(url)?,
            None if self.callbacks.is_empty() => {
                return Err(("url: is missing".to_owned(), "add url, or callbacks for addresses that tills name"));
            }
            None => {}
        }
        if self.callbacks.len() > MOST_CALLBACKS {
            return Err((format!("callbacks: there are {}", self.callbacks.len()), "write 16 at most"));
        }
        for text in &self.callbacks {
            let remedy = "write the beginning of the permitted addresses, such as \"https://till.example/pos/\"";
            CallbackAddress::beginning(text).map_err(|wrong| (format!("callbacks: {text:?} {wrong}"), remedy))?;
        }
        self.secret().map(|_| ())?;
        self.ca().map(|_| ())
    }

    /// Returns the signing key: the decoded text after `whsec_`.
    pub(crate) fn secret(&self) -> Result<Zeroizing<Vec<u8>>, (String, &'static str)> {
        let wrong = |what: &str| format!("secret-file: {}: {what}", self.secret_file.display());
        let remedy = "create the file with: pos-front webhook secret > FILE, owned by pos-front, mode 0600; give the secret to \
             the receiver";
        let text = secret_file(&self.secret_file).map_err(|error| {
            let told = error.to_string();
            (format!("secret-file: {}", told.split_once("; ").map_or(told.as_str(), |(wrong, _)| wrong)), remedy)
        })?;
        crate::webhooks::signing_key(&text)
            .ok_or_else(|| (wrong("is not whsec_ with 24 to 64 bytes in base64"), remedy))
    }

    /// Returns the CA in PEM form.
    pub(crate) fn ca(&self) -> Result<Option<Vec<u8>>, (String, &'static str)> {
        self.ca_file.as_deref().map(|file| ca_in("ca-file", file)).transpose()
    }
}

/// Returns the CA in this file, in PEM form.
fn ca_in(key: &str, file: &Path) -> Result<Vec<u8>, (String, &'static str)> {
    let remedy = "set a file with the CA's certificate in PEM form";
    let wrong = |what: String| (format!("{key}: {}: {what}", file.display()), remedy);
    let pem = fs::read(file).map_err(|error| wrong(error.to_string()))?;
    match reqwest::Certificate::from_pem_bundle(&pem) {
        Ok(found) if !found.is_empty() => Ok(pem),
        _ => Err(wrong("holds no certificate".to_owned())),
    }
}

/// Finds the fault of a webhook's `url`.
fn judge_url(text: &str) -> Result<(), (String, &'static str)> {
    let url = reqwest::Url::parse(text)
        .map_err(|error| (format!("url: {error}"), "write it as \"https://till.example/hook\""))?;
    let remedy = "use https; http is only for receivers on this board (127.0.0.1)";
    match url.scheme() {
        "https" => {}
        "http" if is_on_loopback(&url) => {}
        scheme => return Err((format!("url: {scheme} to {:?}", url.host_str().unwrap_or_default()), remedy)),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(("url: holds a password".to_owned(), "omit the password; the signature identifies the caller"));
    }
    Ok(())
}

/// Checks whether the host of an address is this board itself.
pub(crate) fn is_on_loopback(url: &reqwest::Url) -> bool {
    match url.host_str().unwrap_or_default() {
        "localhost" => true,
        host => host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
    }
}

/// Checks a host name or an address, in lower case and without a port, as in `Host`.
fn is_host_name(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.parse::<IpAddr>().is_ok() || (name.len() <= 253 && name.split('.').all(label))
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_origin(origin: &str) -> bool {
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let Some((host, port)) =
        rest.map(|rest| rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port))))
    else {
        return false;
    };
    is_host_name(host) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number.to_string() == port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_good_and_says_what_is_so_without_it() {
        let (config, faults) = parse(include_str!("../front.toml"));
        assert_eq!(faults, []);
        let example = config.unwrap();
        let (config, faults) = parse("[listen]\nhttps = [\"0.0.0.0:8443\"]\nhttp = [\"127.0.0.1:8651\"]");
        assert_eq!((format!("{:?}", config.unwrap()), faults), (format!("{example:?}"), vec![]));
    }

    #[test]
    fn what_a_nexo_till_may_have_is_refused_by_its_key_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("front.toml");
        let judged = |line: &str| {
            let till = format!("[[nexo.till]]\ntill = \"n-1\"\nsale-id = \"Till 1\"\n{line}\n");
            let page = "[listen]\nhttp = [\"127.0.0.1:8651\"]\n";
            fs::write(&file, format!("{page}[nexo]\nlisten = \"127.0.0.1:1\"\npoi-id = \"PosAgent-1\"\n{till}"))
                .unwrap();
            load(&file).map(drop).map_err(|error| error.to_string())
        };
        for line in ["reserves = true", "reserves = false", "ignore = []", "ignore = [\"metadata.shop\"]"] {
            assert_eq!(judged(line), Ok(()), "{line}");
        }
        let changes_what_is_paid = "cannot be ignored: it changes what is paid";
        for (line, key, wrong, remedy) in [
            ("reserves = \"yes\"", "nexo.till[1].reserves", "has an invalid value (string)", "write true or false"),
            ("reserves = 1", "nexo.till[1].reserves", "has an invalid value (integer)", "write true or false"),
            ("reserve = true", "nexo.till[1].reserve", "is not a key", ""),
            ("ignore = \"a\"", "nexo.till[1].ignore", "has an invalid value (string)", "write a list of texts"),
            ("ignore = [1]", "nexo.till[1].ignore", "has an invalid value (array)", "write a list of texts"),
            ("ignore = [\"\"]", "nexo.till \"n-1\": ignore", changes_what_is_paid, "omit this name"),
            (
                "ignore = [\"a\", \"manualCapture\"]",
                "ignore: \"manualCapture\"",
                changes_what_is_paid,
                "reserves = true",
            ),
            ("ignore = [\"split.api\"]", "ignore: \"split.api\"", changes_what_is_paid, "omit this name"),
        ] {
            let said = judged(line).unwrap_err();
            assert_eq!(said.lines().count(), 1, "{line}: {said}");
            for part in [file.to_str().unwrap(), key, wrong, remedy] {
                assert!(said.contains(part), "{line}: {part} in {said}");
            }
        }
    }

    #[test]
    fn all_faults_are_said_at_once_each_with_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("front.toml");
        let wrong = r#"
            names = ["Kasse.local", "-x", "192.0.2.7", "kasse.local"]
            tils = ["a"]
            tills = ["a b", "counter"]
            agent = "run/x"
            [listen]
            http = ["192.0.2.1:80"]
            https = ["localhost:1"]
            [page]
            on = "yes"
            customer = "left"
            till = "counter"
            without-sign-in = "everybody"
            accent = "navy"
            logo = "/nowhere.png"
            [cors]
            origins = ["https://till.example/", "https://ok.example:8443", "null"]
            [[webhook]]
            name = "books"
            url = "http://till.example/hook"
            secret-file = "/nowhere"
            give-up-after-h = 0
            [[webhook]]
            name = "books"
            url = "ftp://127.0.0.1/"
            [[zvt]]
            till = "counter"
            listen = "0.0.0.0:20007"
            [[zvt]]
            till = "z-1"
            serial = "/dev/ttyS1"
            speed = 19200
            password-file = "/nowhere"
            field-order = "random"
            [[zvt]]
            till = "z-2"
            serial = "/dev/ttyS1"
            listen = "127.0.0.1:1"
            [[caisse-ap]]
            till = "z-1"
            listen = "0.0.0.0:20007"
            unacknowledged = "ask"
        "#;
        fs::write(&file, wrong).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o602)).unwrap();
        let said = load(&file).unwrap_err().to_string();
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines.iter().all(|line| line.starts_with(file.to_str().unwrap()) && line.contains("; ")), "{said}");
        for expected in [
            "chmod o-w",
            "names: \"Kasse.local\"",
            "names: \"-x\"",
            "tils: is not a key",
            "tills: \"a b\"",
            "tills: \"counter\" is the page's own",
            "agent: ",
            "listen.http: 192.0.2.1:80",
            "listen.https: ",
            "page.on: ",
            "page.customer: has an invalid value (string); write true or false",
            "page.without-sign-in: ",
            "page.accent: \"navy\" is not a colour",
            "page.logo: /nowhere.png: No such file",
            "\"https://till.example/\"",
            "\"null\"",
            "webhook[1].give-up-after-h",
            "http to \"till.example\"",
            "webhook[2].secret-file: is missing",
            "not valid, or used twice",
            "ftp",
            "zvt \"counter\": till: \"counter\" is used twice",
            "zvt \"counter\": listen: 0.0.0.0:20007 is open",
            "zvt \"z-1\": speed: 19200",
            "zvt \"z-1\": password-file: /nowhere",
            "zvt[2].field-order",
            "zvt \"z-2\": listen and serial: both",
            "caisse-ap \"z-1\": till: \"z-1\" is used twice",
            "caisse-ap \"z-1\": a different till has the same line",
            "caisse-ap \"z-1\": listen: 0.0.0.0:20007 is open",
            "caisse-ap[1].unacknowledged",
        ] {
            assert_eq!(lines.iter().filter(|line| line.contains(expected)).count(), 1, "{expected} in\n{said}");
        }
        assert_eq!(lines.len(), 31, "{said}");
    }

    #[test]
    fn a_webhook_has_an_address_or_permits_those_of_tills() {
        let judged = |lines: &str| {
            let hook = format!("[[webhook]]\nname = \"books\"\nsecret-file = \"/nowhere\"\n{lines}\n");
            let (_, faults) = parse(&format!("[listen]\nhttp = [\"127.0.0.1:8651\"]\n{hook}"));
            assert_eq!(faults.len(), 1, "{lines}: {faults:?}");
            faults[0].to_string()
        };
        // Only the secret is wrong.
        for good in ["callbacks = [\"https://till.example/pos/\"]", "url = \"http://127.0.0.1/\"\ncallbacks = []"] {
            assert!(judged(good).contains("secret-file: /nowhere"), "{good}");
        }
        let many = format!("callbacks = {:?}", vec!["https://till.example/"; MOST_CALLBACKS + 1]);
        for (wrong, said) in [
            ("", "url: is missing; add url, or callbacks"),
            ("callbacks = [\"http://till.example/pos/\"]", "\"http://till.example/pos/\" needs https"),
            ("callbacks = [\"https://till.example/pos/?a=1\"]", "has a query (?)"),
            ("callbacks = [\"https://till.example/../\"]", "has . or .. in its path"),
            (many.as_str(), "callbacks: there are 17; write 16 at most"),
        ] {
            assert!(judged(wrong).contains(said), "{wrong}: {}", judged(wrong));
        }
    }

    #[test]
    fn the_customers_screen_is_off_by_default_and_needs_the_page() {
        let judged = |page: &str| {
            let (config, faults) = parse(&format!("[listen]\nhttp = [\"127.0.0.1:8651\"]\n[page]\n{page}"));
            (config.unwrap().page.customer, faults.iter().map(Fault::to_string).collect::<Vec<_>>())
        };
        assert_eq!(judged(""), (false, vec![]));
        assert_eq!(judged("customer = true"), (true, vec![]));
        let fault = "page.customer: the customer's screen needs the page, which is off; set on = true in [page], or \
                     omit customer";
        assert_eq!(judged("customer = true\non = false"), (true, vec![fault.to_owned()]));
    }
}
