//! The configuration of a connected till: the front's file, and the front's table in the agent's file. `pos-front`
//! checks its own file, because it has the rules.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use zeroize::Zeroizing;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::draft::{quoted, value};
use crate::config::ConfigFault;

/// The name of the front's file, which is in the folder of the agent's file.
pub(in crate::cli) const FRONT: &str = "front.toml";
/// The name of the file with the logo of the cashier's page.
pub(in crate::cli) const LOGO: &str = "page-logo";
/// The till name of the cashier's page.
const PAGE_TILL: &str = "counter";

/// The key for faults that `pos-front` finds, and for the front's table in the agent's file.
pub(in crate::cli) const FRONT_RULES: &str = "front";
/// The key of the front's table in the agent's file.
pub(in crate::cli) const PEER_RULES: &str = "till.peer";
/// The user that runs the front.
pub(in crate::cli) const FRONT_USER: &str = "pos-front";
/// The rights that the tills of a shop need every day, as in the manual.
pub(in crate::cli) const USUAL_RIGHTS: &str = "sale, pre-authorise, capture, refund, reverse, totals, close, read";

/// The kind of till to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TillKind {
    /// A till that speaks ZVT over the network
    Zvt,
    /// A till that speaks the Terminal API (nexo)
    Nexo,
    /// A till that speaks Caisse-AP over IP
    CaisseAp,
    /// The cashier's page only
    Page,
    /// No till; front.toml is not written
    None,
}

impl TillKind {
    /// Returns whether a till connects over the network. The cashier's page is no such till.
    pub(super) fn has_till(self) -> bool {
        matches!(self, Self::Zvt | Self::Nexo | Self::CaisseAp)
    }

    /// Returns whether the till has a password or a passphrase.
    pub(super) fn has_secret(self) -> bool {
        matches!(self, Self::Zvt | Self::Nexo)
    }
}

/// The answers for the front's configuration. A missing answer has a valid placeholder.
#[derive(Clone, Debug)]
pub(in crate::cli) struct FrontDraft {
    pub(in crate::cli) kind: TillKind,
    pub(in crate::cli) name: String,
    pub(in crate::cli) from: String,
    pub(in crate::cli) port: String,
    pub(in crate::cli) rights: String,
    pub(in crate::cli) has_operator: bool,
    pub(in crate::cli) secret: Secret,
    pub(in crate::cli) poi_id: String,
    pub(in crate::cli) sale_id: String,
    pub(in crate::cli) key_identifier: String,
    pub(in crate::cli) key_version: String,
    pub(in crate::cli) certificate_name: Option<String>,
    /// Who may use the page without an operator; `None` means the front's usual answer.
    pub(in crate::cli) without_sign_in: Option<String>,
    /// The logo of the page, as the content of its file.
    pub(in crate::cli) logo: Option<Vec<u8>>,
    /// The uid of the user that runs the front.
    pub(in crate::cli) user: String,
    /// The path of the front's file.
    pub(in crate::cli) file: PathBuf,
}

/// The till's password or passphrase.
#[derive(Clone, Debug)]
pub(in crate::cli) enum Secret {
    New(Zeroizing<Vec<u8>>),
    /// The existing file stays as it is.
    Kept,
    None,
}

impl FrontDraft {
    pub(in crate::cli) fn of(kind: TillKind, config: &Path) -> Self {
        let (port, secret) = match kind {
            TillKind::Nexo => ("8443", Secret::New(Zeroizing::new(b"not yet known".to_vec()))),
            TillKind::CaisseAp => ("8888", Secret::None),
            TillKind::Zvt | TillKind::Page | TillKind::None => ("20007", Secret::None),
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
            without_sign_in: None,
            logo: None,
            user: "1".to_owned(),
            file: config.with_file_name(FRONT),
        }
    }

    pub(in crate::cli) fn has_till(&self) -> bool {
        self.kind.has_till()
    }

    /// Returns the path of the till's secret in a folder.
    pub(in crate::cli) fn secret_file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.{}", self.name, if self.kind == TillKind::Nexo { "nexo" } else { "zvt" }))
    }

    /// Returns the new secret, with its path and its owner.
    pub(in crate::cli) fn new_secret(&self) -> Option<(PathBuf, &[u8], Option<u32>)> {
        match &self.secret {
            Secret::New(secret) => Some((self.secret_file(&folder(&self.file)), secret, self.user.parse().ok())),
            Secret::Kept | Secret::None => None,
        }
    }

    /// Returns the front's table in the agent's file.
    pub(in crate::cli) fn peer(&self) -> String {
        let till = if self.has_till() { format!(", {}", quoted(&self.name)) } else { String::new() };
        let user = self.user.parse::<u32>().map_or_else(|_| quoted(&self.user), |number| number.to_string());
        let rights = match self.rights == USUAL_RIGHTS {
            true => String::new(),
            false => format!("rights = [{}]\n", list(&self.rights)),
        };
        let without_operator = match self.has_till() && !self.has_operator {
            true => format!(
                "# This till works without a signed-in operator.\nwithout-operator = [{}]\n",
                quoted(&self.name)
            ),
            false => String::new(),
        };
        format!(
            "\n# pos-front acts for the cashier's page and the till; uid: see `id -u {FRONT_USER}`.\n\
             [[till.peer]]\nuid = {user}\ntills = [{}{till}]\n{rights}{without_operator}",
            quoted(PAGE_TILL)
        )
    }

    /// Returns the text of the front's file. It expects a new secret in the folder `secrets`.
    fn text(&self, secrets: &Path) -> String {
        // The libraries of nexo tills know only port 8443, so the page then uses another port.
        let https = if self.kind == TillKind::Nexo && self.port == "8443" { "8444" } else { "8443" };
        let logo = self.logo.as_ref().map(|_| secrets.join(LOGO).display().to_string());
        let set = |key: &str, value: Option<&str>| {
            value.map(|value| format!("{key} = {}\n", quoted(value))).unwrap_or_default()
        };
        let (logo, without) = (set("logo", logo.as_deref()), set("without-sign-in", self.without_sign_in.as_deref()));
        let page = format!(
            "# The front to the shop's network, written by `pos-agent setup`. The manual (\"The front\") explains every key;\n\
             # after a change: pos-front check, then systemctl restart pos-front.\n\
             \n\
             [listen]\n\
             https = [\"0.0.0.0:{https}\"]\n\
             # Without TLS: only on this board.\n\
             http = [\"127.0.0.1:8651\"]\n\
             \n\
             [page]\n\
             # The till name of the page.\n\
             till = {}\n\
             {logo}{without}",
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
            TillKind::CaisseAp => {
                format!("{page}\n[[caisse-ap]]\ntill = {name}\nlisten = {listen}\nfrom = [{from}]\n{credit}")
            }
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

    /// Returns the final text of the front's file.
    pub(in crate::cli) fn final_text(&self) -> String {
        self.text(&folder(&self.file))
    }

    /// Returns the fault that `pos-front` finds, if any.
    pub(in crate::cli) fn fault(&self) -> Option<ConfigFault> {
        match self.checked() {
            Ok(None) => None,
            Ok(Some(said)) => Some(fault(&said, "write a different value")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(fault("pos-front, which connects tills, is not installed here", "install it, or answer none"))
            }
            Err(error) => Some(fault(&format!("pos-front check: {error}"), "check the disk, then start again")),
        }
    }

    /// Runs `pos-front check` on this configuration, in a folder that only this user can read.
    fn checked(&self) -> io::Result<Option<String>> {
        let scratch = Scratch::make("check")?;
        if let Some(logo) = &self.logo {
            fs::write(scratch.0.join(LOGO), logo)?;
        }
        if let Secret::New(secret) = &self.secret {
            let file = self.secret_file(&scratch.0);
            if file.parent() != Some(&scratch.0) {
                // The name contains a slash, which the agent's rules have already reported.
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
        let said = said.lines().next().unwrap_or("pos-front check failed; check front.toml");
        let said = said.trim_start_matches("pos-front: ").replace(&format!("{}: ", file.display()), "");
        // The message must name the final folder, not the temporary one.
        Ok(Some(said.replace(&scratch.0.display().to_string(), &folder(&self.file).display().to_string())))
    }

    /// Shows the next steps after the files are written.
    pub(in crate::cli) fn next_steps(&self, agent_runs: bool) {
        out::say(match agent_runs {
            true => "  then systemctl restart pos-front",
            false => "  systemctl enable --now pos-front, then pos-front status",
        });
        if self.new_secret().is_some() && !rustix::process::geteuid().is_root() {
            let secret = self.secret_file(&folder(&self.file));
            out::say(&format!("  pos-front's user must own {}", secret.display()));
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
                out::say("  the terminal's certificate for the till: pos-front certificate --pem >terminal-ca.pem");
            }
            TillKind::CaisseAp => {
                out::say(&format!("  at the till: Caisse-AP over IP, this board's address, port {}", self.port))
            }
            TillKind::Page | TillKind::None => {
                out::say(
                    "  the cashier's page: https://THIS-BOARD:8443/ (pos-front certificate --pem: the CA for its browsers)",
                );
            }
        }
    }

    /// Runs `pos-front check` on the files under their final names.
    pub(in crate::cli) fn prove(&self) -> Result<(), Stop> {
        let output = Command::new(front_program()).arg("check").arg("--config").arg(&self.file).output();
        let output =
            output.map_err(|error| Stop::new(Exit::Software, format!("pos-front check cannot start: {error}")))?;
        out::say_lines(&String::from_utf8_lossy(&output.stdout));
        match output.status.success() {
            true => Ok(()),
            false => Err(Stop::new(Exit::Config, String::from_utf8_lossy(&output.stderr).trim_end().to_owned())),
        }
    }

    /// Takes the default answers from an earlier file, if it has a till of the same kind.
    pub(in crate::cli) fn take_over(&mut self, earlier: &str) {
        let (line, till) = match self.kind {
            TillKind::Zvt => ("zvt", "zvt"),
            TillKind::Nexo => ("nexo", "nexo.till"),
            TillKind::CaisseAp => ("caisse-ap", "caisse-ap"),
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

/// A temporary folder for a check, which only this user can open.
#[derive(Debug)]
pub(in crate::cli) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(in crate::cli) fn make(what: &str) -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("pos-agent-setup-{what}-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If the folder remains, only this user can open it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the front's program: the one in this program's folder, or else the one that the system finds.
fn front_program() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|me| me.with_file_name("pos-front"));
    beside.filter(|program| program.exists()).unwrap_or_else(|| "pos-front".into())
}

fn fault(said: &str, remedy: &str) -> ConfigFault {
    let (wrong, remedy) = said.split_once("; ").unwrap_or((said, remedy));
    ConfigFault { line: None, key: FRONT_RULES.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}

pub(in crate::cli) fn folder(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("/")).to_owned()
}

/// Returns typed texts, separated by commas, as the items of a TOML list.
fn list(typed: &str) -> String {
    typed.split(',').map(str::trim).filter(|one| !one.is_empty()).map(quoted).collect::<Vec<_>>().join(", ")
}
