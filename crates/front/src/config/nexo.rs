//! `[nexo]`: tills that speak nexo (Terminal API). Each `[[nexo.till]]` gives the till with a SaleID its name at the
//! agent. The front listens only on the configured address.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use pos_protocols::nexo::receipt::Profile;
use pos_protocols::nexo::seal::Key;
use pos_protocols::nexo::session::may_be_ignored;
use pos_till_api::is_till_name;
use zeroize::Zeroizing;

use super::ca_in;
use super::section::Section;
use super::zvt::{SUMS, Wrong, secret_line};
use crate::callbacks::CallbackAddress;
use crate::pairing::digest_of;

/// The largest number of tills, which is enough for the counters of a shop.
const MOST: usize = 16;
/// The greatest length of a SaleID or POIID, in characters.
const LONGEST_NAME: usize = 128;
/// The smallest number of characters of a key for the cloud form.
const SHORTEST_KEY: usize = 20;
/// The greatest number of characters of such a key, as for the other headers that the front reads.
pub(crate) const LONGEST_KEY: usize = crate::forward::LONGEST_HEADER;
const NEW_KEY: &str =
    "write a key of its own for each till to a file, owned by pos-front, mode 0600; give it to the till";

/// The port for tills that speak nexo.
#[derive(Clone, Debug)]
pub(crate) struct NexoConfig {
    /// The address to listen on. If absent, the front does not listen for nexo tills.
    pub(crate) listen: Option<SocketAddr>,
    /// The addresses that may connect. If the list is empty and the port is on a network, every address may connect,
    /// and each till must have a key.
    pub(crate) from: Vec<IpAddr>,
    /// The terminal's own name, `POIID`.
    pub(crate) poi_id: String,
    /// The common name of the certificate. The libraries of some tills require a name that their maker defines.
    pub(crate) common_name: Option<String>,
    /// True when unsealed messages are accepted from every address that may connect, not only from this board.
    pub(crate) plain: bool,
    /// The tills.
    pub(crate) tills: Vec<NexoTillConfig>,
}

/// One till that speaks nexo.
#[derive(Clone, Debug)]
pub(crate) struct NexoTillConfig {
    /// The till's name at the agent.
    pub(crate) till: String,
    /// The till's own name, `SaleID`.
    pub(crate) sale_id: String,
    /// The file with the passphrase of the till's key.
    passphrase_file: Option<PathBuf>,
    key_identifier: String,
    key_version: u32,
    /// The file with the till's key for the cloud form (`x-api-key`).
    api_key_file: Option<PathBuf>,
    /// The address to which the answers to `POST /async` are sent.
    pub(crate) notify: Option<String>,
    /// The file with the only CA that is accepted for this address.
    notify_ca_file: Option<PathBuf>,
    /// True when the till may pay out without an earlier payment.
    pub(crate) credit: bool,
    /// True when the terminal prints the receipts. The till also gets them.
    pub(crate) terminal_prints: bool,
    /// The format of receipts.
    pub(crate) profile: Profile,
    /// The number of characters per receipt line.
    pub(crate) width: u8,
    /// True when the till captures its reservations at this terminal.
    pub(crate) reserves: bool,
    /// The keys of SaleToAcquirerData that are ignored.
    pub(crate) ignore: Vec<String>,
    /// True when the till gets its own sums instead of the terminal's.
    pub(crate) own_sums: bool,
}

impl NexoConfig {
    pub(super) fn read(nexo: &mut Section<'_>) -> Self {
        Self {
            listen: nexo.address("listen"),
            from: nexo.ips("from"),
            poi_id: nexo.text("poi-id").unwrap_or_default(),
            common_name: nexo.text("certificate-name"),
            plain: nexo.word("plain", &[("board", false), ("network", true)]).unwrap_or(false),
            tills: nexo.sections("till", NexoTillConfig::read),
        }
    }

    /// Returns the faults with their keys. `names` are the names of the other tills.
    pub(super) fn judge(&self, names: &BTreeSet<&String>) -> Vec<(String, Wrong)> {
        let mut all = Vec::new();
        let mut say = |key: String, wrong: String, remedy: &'static str| all.push((key, (wrong, remedy)));
        let Some(listen) = self.listen else {
            if !self.tills.is_empty() {
                let remedy = "write listen = \"192.168.1.30:8443\", or omit [nexo]";
                say("nexo.listen".to_owned(), "is missing: no till can reach the terminal".to_owned(), remedy);
            }
            return all;
        };
        let has_key = |till: &NexoTillConfig| till.passphrase_file.is_some() || till.api_key_file.is_some();
        let sealed = !self.plain && self.tills.iter().all(has_key);
        let needs_list = listen.ip().is_unspecified() || !(listen.ip().is_loopback() || sealed);
        if self.from.is_empty() && needs_list {
            let wrong = format!("{listen} is open to everyone who can reach it");
            let remedy = "write the tills' addresses in from, for example from = [\"192.168.1.20\"]";
            say("nexo.listen".to_owned(), wrong, remedy);
        }
        if !is_name(&self.poi_id) {
            let remedy = "set the name that the tills use for this terminal, for example poi-id = \"PosAgent-0001\"";
            say("nexo.poi-id".to_owned(), format!("{:?} is not a POIID", self.poi_id), remedy);
        }
        if let Some(name) = self.common_name.as_ref().filter(|name| !is_common_name(name)) {
            let wrong = format!("{name:?} is not a host name");
            let remedy = "write it as \"PosAgent-000000001.live.terminal.adyen.com\", or omit it";
            say("nexo.certificate-name".to_owned(), wrong, remedy);
        }
        if self.tills.is_empty() {
            say("nexo.till".to_owned(), "there is none".to_owned(), "write one [[nexo.till]] table for each till");
        }
        if self.tills.len() > MOST {
            say("nexo.till".to_owned(), format!("there are {}", self.tills.len()), "write 16 at most");
        }
        let (mut tills, mut sale_ids) = (names.clone(), BTreeSet::new());
        let mut api_keys = BTreeSet::new();
        for till in &self.tills {
            let key = format!("nexo.till {:?}", till.till);
            let remedy = "use 1 to 32 letters, digits, '-' and '_', different for each till";
            if !is_till_name(&till.till) {
                say(key.clone(), format!("till: {:?} cannot be a till's name", till.till), remedy);
            } else if !tills.insert(&till.till) {
                say(key.clone(), format!("till: {:?} is used twice", till.till), remedy);
            }
            if !is_name(&till.sale_id) || !sale_ids.insert(&till.sale_id) {
                let wrong = format!("sale-id: {:?} is not a SaleID, or is used twice", till.sale_id);
                say(key.clone(), wrong, "write the till's own SaleID, different for each till");
            }
            if let Some(name) = till.ignore.iter().find(|name| name.is_empty() || !may_be_ignored(name)) {
                let wrong = format!("ignore: {name:?} cannot be ignored: it changes what is paid");
                say(key.clone(), wrong, "omit this name; reserves = true accepts authorisationType and manualCapture");
            }
            match till.api_key() {
                Ok(Some(digest)) if api_keys.contains(&digest) => {
                    say(key.clone(), "api-key-file: another till has this key".to_owned(), NEW_KEY);
                }
                Ok(digest) => api_keys.extend(digest),
                Err((wrong, remedy)) => say(key.clone(), wrong, remedy),
            }
            for (wrong, remedy) in
                [till.judge_notify().err(), till.notify_ca().err(), till.key().err()].into_iter().flatten()
            {
                say(key.clone(), wrong, remedy);
            }
        }
        all
    }
}

impl NexoTillConfig {
    fn read(till: &mut Section<'_>) -> Self {
        let receipts = till.word("receipts", &[("till", false), ("terminal", true)]);
        let form = till.word("receipt-form", &[("lines", Profile::Plain), ("pairs", Profile::Adyen)]);
        let version = till.number("key-version", 0..=u64::from(u32::MAX)).unwrap_or(1);
        let width = till.number("width", 24..=64).unwrap_or(32);
        Self {
            till: till.needed_text("till"),
            sale_id: till.needed_text("sale-id"),
            passphrase_file: till.path("passphrase-file"),
            key_identifier: till.text("key-identifier").unwrap_or_default(),
            key_version: u32::try_from(version).unwrap_or(1),
            api_key_file: till.path("api-key-file"),
            notify: till.text("notify"),
            notify_ca_file: till.path("notify-ca-file"),
            credit: till.flag("credit").unwrap_or(false),
            terminal_prints: receipts.unwrap_or(false),
            profile: form.unwrap_or_default(),
            width: u8::try_from(width).unwrap_or(32),
            reserves: till.flag("reserves").unwrap_or(false),
            ignore: till.texts("ignore").unwrap_or_default(),
            own_sums: till.word("sums", &SUMS).unwrap_or(false),
        }
    }

    /// Returns the digest of the till's key for the cloud form, if it has one.
    pub(crate) fn api_key(&self) -> Result<Option<String>, Wrong> {
        let Some(file) = &self.api_key_file else { return Ok(None) };
        let key = Zeroizing::new(secret_line("api-key-file", file, NEW_KEY)?);
        if !(SHORTEST_KEY..=LONGEST_KEY).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let wrong = "is not a key of 20 to 256 letters, digits and signs without spaces";
            return Err((format!("api-key-file: {}: {wrong}", file.display()), NEW_KEY));
        }
        Ok(Some(digest_of(&key)))
    }

    fn judge_notify(&self) -> Result<(), Wrong> {
        let Some(address) = &self.notify else {
            let remedy = "add notify, or omit notify-ca-file";
            let wrong = || ("notify-ca-file: there is no notify".to_owned(), remedy);
            return self.notify_ca_file.is_none().then_some(()).ok_or_else(wrong);
        };
        let remedy = "write the till's own address, such as \"https://till.example/pos_adyen/notification\"";
        CallbackAddress::read(address).map_err(|wrong| (format!("notify: {address:?} {wrong}"), remedy))?;
        let without_key = || ("notify: the till has no api-key-file".to_owned(), "add api-key-file, or omit notify");
        self.api_key_file.is_some().then_some(()).ok_or_else(without_key)
    }

    /// Returns the only CA that is accepted for `notify`, in PEM form.
    pub(crate) fn notify_ca(&self) -> Result<Option<Vec<u8>>, Wrong> {
        self.notify_ca_file.as_deref().map(|file| ca_in("notify-ca-file", file)).transpose()
    }

    /// Returns the key that the till shares with the terminal, if it has one.
    pub(crate) fn key(&self) -> Result<Option<Key>, Wrong> {
        let remedy = "write the passphrase to a file, owned by pos-front, mode 0600; set key-identifier as in the till";
        let Some(file) = &self.passphrase_file else {
            if self.key_identifier.is_empty() {
                return Ok(None);
            }
            return Err(("passphrase-file: is missing, but key-identifier is set".to_owned(), remedy));
        };
        let passphrase = secret_line("passphrase-file", file, remedy)?;
        let key = Key::derive(&passphrase, &self.key_identifier, self.key_version);
        key.map(Some).map_err(|error| (format!("passphrase-file: {}: {error}", file.display()), remedy))
    }
}

/// Checks a SaleID or POIID.
fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control) && name.trim() == name
}

fn is_common_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .split('.')
            .all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

#[cfg(test)]
impl NexoTillConfig {
    /// Reads one till for a test.
    pub(crate) fn of(text: &str) -> Self {
        let (mut table, mut faults) = (text.parse().unwrap(), Vec::new());
        Self::read(&mut Section { prefix: String::new(), table: &mut table, faults: &mut faults })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Returns the faults of a port on a network with one till for each of these texts.
    fn faults(tills: &[String]) -> Vec<String> {
        let tills = tills
            .iter()
            .enumerate()
            .map(|(n, more)| NexoTillConfig::of(&format!("till = \"t-{n}\"\nsale-id = \"Till {n}\"\n{more}")));
        let config = NexoConfig {
            listen: Some("192.0.2.1:8443".parse().unwrap()),
            from: Vec::new(),
            poi_id: "A".to_owned(),
            common_name: None,
            plain: false,
            tills: tills.collect(),
        };
        config
            .judge(&BTreeSet::new())
            .into_iter()
            .map(|(key, (wrong, remedy))| format!("{key}: {wrong}; {remedy}"))
            .collect()
    }

    #[test]
    fn a_till_in_the_cloud_form_has_a_key_of_its_own_and_an_address_that_a_person_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            format!("api-key-file = {file:?}\n")
        };
        let (one, two) = (file("1", "AQEnhmfuXNWTK0Qc+iSE\n", 0o600), file("2", "AQEvhmfxLI3MaBFLw0m/n3Q5\n", 0o600));
        let hook = "notify = \"https://till.example/pos_adyen/notification\"\n";
        assert_eq!(faults(&[one.clone(), format!("{two}{hook}")]), [""; 0]);
        for (text, said) in [
            (file("3", "AQEnhmfuXNWTK0Qc+iS\n", 0o600), "20 to 256"),
            (file("6", &"x".repeat(257), 0o600), "20 to 256"),
            (file("4", "AQEnhmfuXNWTK0Qc iSE4\n", 0o600), "without spaces"),
            (file("5", "AQEnhmfuXNWTK0Qc+iSE4\n", 0o644), "other users may open it"),
            (format!("api-key-file = {:?}", folder.path().join("none")), "api-key-file: "),
            (format!("{one}notify = \"http://till.example/\""), "notify: \"http://till.example/\" needs https"),
            (format!("{one}notify = \"https://a@till.example/\""), "user name"),
            (format!("{one}{hook}notify-ca-file = \"/nowhere\""), "notify-ca-file: /nowhere"),
            (format!("{one}notify-ca-file = \"/nowhere\""), "there is no notify"),
        ] {
            let all = faults(std::slice::from_ref(&text));
            assert!(all.iter().any(|fault| fault.contains(said)), "{text}: {all:?}");
        }
        let all = faults(&[one.clone(), one]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].contains("another till has this key"), "{all:?}");
        // Without a key, everyone who reaches the port could pay.
        let all = faults(&[two, hook.to_owned()]);
        assert!(all.iter().any(|fault| fault.contains("is open to everyone")), "{all:?}");
        assert!(all.iter().any(|fault| fault.contains("notify: the till has no api-key-file")), "{all:?}");
    }
}
