//! What types cannot say about a configuration: formats, bounds, and whether the files it names can be used.
//!
//! One function for each section of the file, in the file's order. The first fault is the answer.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::assumptions;
use super::secret::{SecretError, credential_is_there, key_file, secret_file};
use super::{
    CodePage, Config, Gateway, Journal, LOCAL, Location, ManualEntryCommand, Part, Printer, Reader, Right, Terminal,
    Till, TillPeer, is_nameless, logo_file, qr_parts,
};
use crate::money::{Amount, Currency};
use crate::words::Language;

/// One value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {wrong}; {remedy}")]
pub struct Fault {
    /// The key with its section, as `gateway.url`.
    pub key: String,
    /// What is wrong with it.
    pub wrong: String,
    /// What to write instead.
    pub remedy: String,
}

impl Config {
    /// Checks every value, then every file that is named.
    ///
    /// # Errors
    /// The first [`Fault`].
    pub fn check(&self) -> Result<(), Fault> {
        first(self.faults())
    }

    /// Every fault: of each section of the file the first, of the files that are named all.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = self.faulty_values();
        faults.extend(self.faulty_files());
        faults
    }

    /// Checks the values alone, without looking at any file: for a configuration meant for another board.
    ///
    /// # Errors
    /// The first [`Fault`].
    pub fn check_values(&self) -> Result<(), Fault> {
        first(self.faulty_values())
    }

    /// Checks the files that are named: certificates, keys, tokens.
    ///
    /// # Errors
    /// The first [`Fault`].
    pub fn check_files(&self) -> Result<(), Fault> {
        first(self.faulty_files())
    }

    fn faulty_values(&self) -> Vec<Fault> {
        let sections = [
            terminal(&self.terminal),
            reader(&self.reader),
            gateway(&self.gateway),
            client_certificate(&self.gateway),
            assumptions::faults(&self.gateway.assumptions),
            printers(&self.printer),
            till(&self.till),
            journal(&self.journal),
        ];
        sections.into_iter().filter_map(Result::err).collect()
    }

    fn faulty_files(&self) -> Vec<Fault> {
        let Gateway { ca_file, client_certificate_file, client_key_file, token_file, .. } = &self.gateway;
        let mut checked = vec![certificates("gateway.ca-file", ca_file, "the gateway's CA certificate")];
        if let Some(file) = client_certificate_file {
            checked.push(certificates("gateway.client-certificate-file", file, "our certificate"));
        }
        if let Some(file) = client_key_file {
            checked.push(in_words("gateway.client-key-file", key_file(file)).map(drop));
        }
        if let Some(file) = token_file {
            checked.push(secret("gateway.token-file", file).map(drop));
        }
        let Gateway { client_key_credential, token_credential, .. } = &self.gateway;
        for (key, name) in
            [("gateway.client-key-credential", client_key_credential), ("gateway.token-credential", token_credential)]
        {
            let Some(name) = name else { continue };
            let lost = credential_is_there(name) == Some(false);
            checked.push(ensure(!lost, key, || {
                (
                    format!("systemd handed over nothing as the credential \"{name}\""),
                    format!(
                        "write it into the file that LoadCredential={name}:… of the unit names (/etc/pos-agent/{name}, unless that was \
                         changed), as root, mode 0600; then systemctl restart pos-agent"
                    ),
                )
            }));
        }
        let mut known = Vec::new();
        for (n, entry) in self.till.token.iter().enumerate() {
            let key = format!("till.token[{n}].token-file");
            checked.push(secret(&key, &entry.token_file).and_then(|token| {
                let other = !known.contains(&token);
                known.push(token);
                check(other, &key, "two tills have the same token", "give each till its own")
            }));
        }
        checked.extend(self.printer.iter().enumerate().map(|(n, printer)| logo(n, printer)));
        checked.into_iter().filter_map(Result::err).collect()
    }
}

fn first(faults: Vec<Fault>) -> Result<(), Fault> {
    faults.into_iter().next().map_or(Ok(()), Err)
}

/// A customer needs some seconds; ten minutes is longer than any queue.
const CARD_TIMEOUT_S: std::ops::RangeInclusive<u64> = 5..=600;
/// Below the first no slip is printed and signed; an hour later the customer is gone.
const SIGNATURE_TIMEOUT_S: std::ops::RangeInclusive<u64> = 30..=3600;
/// Below the first no handshake over a mobile line ends; above the second the cashier believes the terminal is dead.
const CONNECT_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 100..=60_000;
/// As above; issuers answer within 30 s (security: 5, host timeout), and a chip does not wait for minutes.
const ANSWER_TIMEOUT_MS: std::ops::RangeInclusive<u64> = 500..=100_000;
/// From the slowest dock to the fastest UART.
const BAUD: std::ops::RangeInclusive<u32> = 1_200..=4_000_000;
/// Less than a host may take serves tests alone; a day at most, for somebody waits for the money.
const RESEND_S: std::ops::RangeInclusive<u64> = 1..=86_400;
/// Refunds and disputes of a quarter at least; a hundred years are for ever.
const KEEP_DAYS: std::ops::RangeInclusive<u64> = 90..=36_500;
/// One for each copy.
const MAX_PRINTERS: usize = 2;
/// A QR code of version 14 at level M holds 362 bytes: its 73 modules of four dots still fit the narrowest paper (384).
const MAX_QR: usize = 362;
/// A day at least; above a year every certificate would be one to warn of.
const EXPIRY_WARNING_DAYS: std::ops::RangeInclusive<u64> = 1..=365;
/// Readers that a shop may change between.
const MAX_SERIALS: usize = 32;
/// Old and next, each for a few CAs.
const MAX_PINS: usize = 16;
/// `sun_path` holds 108 bytes with its end, and the socket is bound as `….new` first.
const MAX_SOCKET_PATH: usize = 103;

fn terminal(terminal: &Terminal) -> Result<(), Fault> {
    digits("terminal.id", &terminal.id, "write the terminal id of the acquirer")?;
    let lines = terminal.merchant.len();
    check((1..=6).contains(&lines), "terminal.merchant", "must be 1 to 6 lines", "write name, street and town")?;
    check(terminal.footer.len() <= 6, "terminal.footer", "has more than 6 lines", "write at most 6 lines, or none")?;
    for (key, lines) in [("terminal.merchant", &terminal.merchant), ("terminal.footer", &terminal.footer)] {
        for line in lines {
            let short = !line.trim().is_empty() && line.chars().count() <= 100;
            check(
                short && !line.chars().any(char::is_control),
                key,
                "a line is empty, longer than 100 characters or holds a control character",
                "write plain text",
            )?;
        }
    }
    let codes: Vec<_> = Language::ALL.iter().map(|language| language.code()).collect();
    check(
        Language::from_code(&terminal.language).is_some(),
        "terminal.language",
        "is no language of the terminal's texts",
        &format!("write {}", codes.join(" or ")),
    )?;
    let money =
        |key, error: crate::money::MoneyError| fault(key, &error.to_string(), "write a value the gateway takes");
    let currency = Currency::from_code(&terminal.currency).map_err(|error| money("terminal.currency", error))?;
    if let Some(max) = &terminal.max_amount {
        Amount::parse(max, currency).map_err(|error| money("terminal.max-amount", error))?;
    }
    if let Some(max) = &terminal.max_credit_amount {
        Amount::parse(max, currency).map_err(|error| money("terminal.max-credit-amount", error))?;
    }
    within("terminal.card-timeout-s", terminal.card_timeout_s, &CARD_TIMEOUT_S)?;
    within("terminal.signature-timeout-s", terminal.signature_timeout_s, &SIGNATURE_TIMEOUT_S)?;
    terminal.location.as_ref().map_or(Ok(()), location)
}

/// interface: Point of sale.
fn location(location: &Location) -> Result<(), Fault> {
    for (key, text, integers) in
        [("terminal.location.latitude", &location.latitude, 2), ("terminal.location.longitude", &location.longitude, 3)]
    {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let fits = unsigned
            .split_once('.')
            .is_some_and(|(integer, fraction)| is_digits(integer, integers) && is_digits(fraction, 8));
        ensure(fits, key, || {
            (
                format!("must be a decimal number with up to {integers} digits before the dot and 1 to 8 after it"),
                "write it as \"48.137154\"".to_owned(),
            )
        })?;
    }
    match &location.accuracy {
        Some(accuracy) => digits("terminal.location.accuracy", accuracy, "write it as \"15\""),
        None => Ok(()),
    }
}

fn reader(reader: &Reader) -> Result<(), Fault> {
    port("reader.port", &reader.port, "6543")?;
    within("reader.baud", u64::from(reader.baud), &(u64::from(*BAUD.start())..=u64::from(*BAUD.end())))?;
    let fits = |serial: &String| is_made_of(serial, 32, |b| b.is_ascii_graphic());
    check(
        reader.serials.len() <= MAX_SERIALS && reader.serials.iter().all(fits),
        "reader.serials",
        "must be up to 32 serial numbers of 1 to 32 letters and digits",
        "write them as pos-agent status shows them, or leave the key out",
    )?;
    // Language::from_code of the reader knows the same codes.
    let known = ["en", "de", "fr", "es", "it", "nl", "pl"].contains(&reader.language.as_str());
    check(known, "reader.language", "is no language of the reader's texts", "write en, de, fr, es, it, nl or pl")?;
    let tips = &reader.tip_percentages;
    let fits = (1..=4).contains(&tips.len()) && tips.iter().all(|percent| (1..=100).contains(percent));
    check(fits, "reader.tip-percentages", "must be one to four numbers from 1 to 100", "write [5, 10, 15]")?;
    if let Some(name) = &reader.extended_apdu_capability {
        let fits = is_made_of(name, 32, |b| b.is_ascii_graphic() || b == b' ');
        check(
            fits,
            "reader.extended-apdu-capability",
            "must be 1 to 32 printable ASCII characters",
            "write the name as GET DEVICE INFO gives it",
        )?;
    }
    check(
        !reader.manual_entry_verification_value || reader.manual_entry_command == ManualEntryCommand::D2E0,
        "reader.manual-entry-verification-value",
        "is not possible with D25A",
        "leave it out, or write manual-entry-command = \"D2E0\"",
    )
}

fn gateway(gateway: &Gateway) -> Result<(), Fault> {
    url(&gateway.url)?;
    let entity =
        gateway.entity_id.len() == 32 && gateway.entity_id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    check(entity, "gateway.entity-id", "must be 32 lower-case hex characters", "copy it from the gateway's letter")?;
    check(
        gateway.token_file.is_some() != gateway.token_credential.is_some(),
        "gateway.token-file",
        "exactly one of token-file and token-credential is needed",
        "name the file, or the systemd credential, that holds the bearer token",
    )?;
    if let Some(file) = &gateway.token_file {
        absolute("gateway.token-file", file)?;
    }
    if let Some(name) = &gateway.token_credential {
        credential("gateway.token-credential", name, "gateway-token")?;
    }
    absolute("gateway.ca-file", &gateway.ca_file)?;
    let pin = |pin: &String| {
        pin.strip_prefix("sha256/").is_some_and(|hash| STANDARD.decode(hash).is_ok_and(|hash| hash.len() == 32))
    };
    check(
        gateway.ca_pins.len() <= MAX_PINS && gateway.ca_pins.iter().all(pin),
        "gateway.ca-pins",
        "must be up to 16 pins: \"sha256/\" and the SHA-256 of a CA's key in base64",
        "copy a pin that pos-agent doctor shows, or leave it out",
    )?;
    if let Some(model) = &gateway.device_type {
        let fits = is_made_of(model, 32, |b| b.is_ascii_graphic() || b == b' ') && model.trim() == model;
        check(
            fits,
            "gateway.device-type",
            "must be 1 to 32 printable ASCII characters",
            "write the model as the gateway names it",
        )?;
    }
    for (aid, brand) in &gateway.brand_by_aid {
        // An AID prefix of 5 bytes is a scheme (RID), 16 bytes the longest AID (ISO 7816-4, 8.2.1.2).
        let hex = aid.len() % 2 == 0 && aid.len() >= 10;
        let hex = hex && is_made_of(aid, 32, |b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
        let brand = is_made_of(brand, 32, |b| b.is_ascii_alphanumeric() || b == b'_');
        check(
            hex && brand,
            "gateway.brand-by-aid",
            "needs an AID of 10 to 32 upper-case hex digits and a brand of up to 32 letters, digits or underscores",
            "write it as A0000000031010 = \"VISA\"",
        )?;
    }
    within("gateway.expiry-warning-days", gateway.expiry_warning_days, &EXPIRY_WARNING_DAYS)?;
    within("gateway.connect-timeout-ms", gateway.connect_timeout_ms, &CONNECT_TIMEOUT_MS)?;
    within("gateway.resend-after-s", gateway.resend_after_s, &RESEND_S)?;
    within("gateway.answer-timeout-ms", gateway.answer_timeout_ms, &ANSWER_TIMEOUT_MS)
}

/// All of it or nothing: a gateway that asks for a certificate is not spoken to without.
fn client_certificate(gateway: &Gateway) -> Result<(), Fault> {
    let Gateway { client_certificate_file: file, client_key_file: key, client_key_credential: name, .. } = gateway;
    check(
        file.is_some() == (key.is_some() || name.is_some()),
        "gateway.client-certificate-file",
        "a certificate of ours needs its key, and a key its certificate",
        "give client-certificate-file with client-key-file or client-key-credential, or none of them",
    )?;
    check(
        key.is_none() || name.is_none(),
        "gateway.client-key-file",
        "only one of client-key-file and client-key-credential can hold the key",
        "leave one of them out",
    )?;
    for (at, file) in [("gateway.client-certificate-file", file), ("gateway.client-key-file", key)] {
        file.as_ref().map_or(Ok(()), |file| absolute(at, file))?;
    }
    name.as_ref().map_or(Ok(()), |name| credential("gateway.client-key-credential", name, "gateway-key"))
}

fn credential(key: &str, name: &str, example: &str) -> Result<(), Fault> {
    let fits = is_made_of(name, 255, |b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) && !name.starts_with('.');
    check(fits, key, "is not a credential name", &format!("write it as \"{example}\""))
}

fn url(text: &str) -> Result<(), Fault> {
    let wrong = |what: &str| fault("gateway.url", what, "write it as \"https://gateway.example\"");
    if text.starts_with("http://") {
        return Err(wrong("plain http is refused: anyone on the line could read and change payments"));
    }
    let Some(rest) = text.strip_prefix("https://") else {
        return Err(wrong("must begin with https://"));
    };
    if !rest.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(wrong("must not hold spaces or other than ASCII characters"));
    }
    if rest.split('/').next().is_some_and(|authority| authority.contains('@')) {
        return Err(wrong("must not hold a user name or password"));
    }
    if rest.contains(['?', '#']) {
        return Err(wrong("must not hold a query (?) or a fragment (#)"));
    }
    let host = text.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
    match host {
        Some(host) if !host.is_empty() => Ok(()),
        _ => Err(wrong("is not an address")),
    }
}

fn printers(printers: &[Printer]) -> Result<(), Fault> {
    check(
        printers.len() <= MAX_PRINTERS,
        "printer",
        "there are more than two",
        "keep one or two of the tables [[printer]]",
    )?;
    let mut names = BTreeSet::new();
    for (n, entry) in printers.iter().enumerate() {
        printer(entry, |key| format!("printer[{n}].{key}"))?;
        let unique = names.insert(&entry.name);
        check(unique, &format!("printer[{n}].name"), "two printers have the same name", "give each its own")?;
    }
    Ok(())
}

fn printer(printer: &Printer, key: impl Fn(&str) -> String) -> Result<(), Fault> {
    let name = is_made_of(&printer.name, 32, |b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    check(name, &key("name"), "must be 1 to 32 letters, digits, - or _", "write it as \"counter\"")?;
    port(&key("port"), &printer.port, "9100")?;
    within(&key("baud"), u64::from(printer.baud), &(u64::from(*BAUD.start())..=u64::from(*BAUD.end())))?;
    let fits = matches!(printer.columns, 32 | 42 | 48);
    check(fits, &key("columns"), "must be 32, 42 or 48", "write what the printer's self-test counts on a line")?;
    check(
        printer.code_page_number.is_none() || printer.code_page != CodePage::Ascii,
        &key("code-page-number"),
        "has no meaning with the code page ascii",
        "choose the page that has this number, or leave the number out",
    )?;
    printer.qr.as_ref().map_or(Ok(()), |template| qr(&key("qr"), template))
}

fn qr(key: &str, template: &str) -> Result<(), Fault> {
    let remedy = "write it as \"https://shop.example/r/{reference}\", with {reference}, {number}, {terminal}, {amount} or {currency}";
    let printable = !template.is_empty() && template.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    check(printable, key, "must be printable ASCII", remedy)?;
    let parts = qr_parts(template).map_err(|wrong| fault(key, &wrong, remedy))?;
    let longest: usize = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Value(value) => value.longest(),
        })
        .sum();
    ensure(longest <= MAX_QR, key, || {
        (format!("can become {longest} bytes long, and {MAX_QR} fit the paper"), "shorten it".to_owned())
    })
}

/// The picture is there, is one, and fits the paper.
fn logo(n: usize, printer: &Printer) -> Result<(), Fault> {
    let Some(file) = &printer.logo else { return Ok(()) };
    let key = format!("printer[{n}].logo");
    absolute(&key, file)?;
    let logo = logo_file(file).map_err(|error| {
        let text = error.to_string();
        let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "make the picture again"));
        fault(&key, wrong, remedy)
    })?;
    let dots = printer.dots();
    ensure(logo.width() <= dots, &key, || {
        let wrong = format!("{}: is {} dots wide, and the paper has {dots}", file.display(), logo.width());
        (wrong, format!("make it again with -resize {dots}x"))
    })
}

fn till(till: &Till) -> Result<(), Fault> {
    absolute("till.socket", &till.socket.path)?;
    let length = till.socket.path.as_os_str().len();
    check(
        length <= MAX_SOCKET_PATH,
        "till.socket",
        "is longer than a socket's name may be (103)",
        "choose a shorter path",
    )?;
    check(
        till.http.ip().is_loopback(),
        "till.http",
        "is not a loopback address: tokens would cross the network in clear",
        "write it as \"127.0.0.1:8650\"; tills elsewhere need a tunnel",
    )?;
    let mut names = BTreeSet::new();
    for (n, entry) in till.token.iter().enumerate() {
        let key = format!("till.token[{n}].till");
        till_name(&key, &entry.till)?;
        check(entry.till != LOCAL, &key, "\"local\" is the name of the Unix socket", "choose another name")?;
        check(names.insert(&entry.till), &key, "two tills have the same name", "give each till its own")?;
        absolute(&format!("till.token[{n}].token-file"), &entry.token_file)?;
    }
    check(
        !till.metrics || till.token.iter().any(|entry| entry.rights.has(Right::Totals)),
        "till.metrics",
        "would serve nobody: no [[till.token]] has the right totals",
        "add a [[till.token]] with rights = [\"totals\"] for the program that asks, or leave it out",
    )?;
    let mut users = BTreeSet::new();
    for (n, entry) in till.peer.iter().enumerate() {
        peer(n, entry)?;
        let key = format!("till.peer[{n}].uid");
        check(users.insert(entry.uid), &key, "two entries have the same user", "write one entry with all its tills")?;
    }
    Ok(())
}

/// A program at the socket with tills of its own. Another way in may stand for the same till: it has the same references then.
fn peer(n: usize, peer: &TillPeer) -> Result<(), Fault> {
    let uid = format!("till.peer[{n}].uid");
    let remedy = "write the number of the user that the program runs as (id -u NAME)";
    check(peer.uid != 0, &uid, "root may do everything, and is not confined here", remedy)?;
    check(!is_nameless(peer.uid), &uid, "stands for every user that has no name here, and for none", remedy)?;
    let key = format!("till.peer[{n}].tills");
    check(!peer.tills.is_empty(), &key, "is empty", "write its tills as [\"till-1\", \"till-2\"], or leave it out")?;
    let mut names = BTreeSet::new();
    for till in &peer.tills {
        till_name(&key, till)?;
        check(names.insert(till), &key, "a till stands there twice", "name each once")?;
    }
    Ok(())
}

fn till_name(key: &str, name: &str) -> Result<(), Fault> {
    let fits = is_made_of(name, 32, |b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    check(fits, key, "must be 1 to 32 letters, digits, - or _", "write it as \"till-1\"")
}

/// `/dev/…` or `tcp://host:port`.
fn port(key: &str, text: &str, usual: &str) -> Result<(), Fault> {
    let clean = text.chars().all(|c| !c.is_control());
    let fits = match text.strip_prefix("tcp://") {
        Some(rest) => rest.rsplit_once(':').is_some_and(|(host, port)| {
            let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
            let named = is_made_of(host, 255, |b| b.is_ascii_alphanumeric() || b".-:".contains(&b));
            named && is_digits(port, 5) && port.parse::<u16>().is_ok_and(|port| port != 0)
        }),
        None => text.len() > 1 && text.starts_with('/'),
    };
    ensure(clean && fits, key, || {
        (
            "must be the path of a serial line or tcp://host:port".to_owned(),
            format!("write it as \"/dev/serial/by-id/…\" or \"tcp://192.0.2.7:{usual}\""),
        )
    })
}

fn journal(journal: &Journal) -> Result<(), Fault> {
    absolute("journal.path", &journal.path)?;
    within("journal.keep-days", journal.keep_days.into(), &KEEP_DAYS)
}

fn absolute(key: &str, path: &Path) -> Result<(), Fault> {
    check(path.is_absolute(), key, "must be an absolute path", "begin it with /")
}

fn digits(key: &str, text: &str, remedy: &str) -> Result<(), Fault> {
    check(is_digits(text, 32), key, "must be 1 to 32 digits", remedy)
}

pub(super) fn within(key: &str, value: u64, bounds: &std::ops::RangeInclusive<u64>) -> Result<(), Fault> {
    ensure(bounds.contains(&value), key, || {
        let (least, most) = (bounds.start(), bounds.end());
        (format!("{value} is not between {least} and {most}"), "leave it out for the default".to_owned())
    })
}

fn certificates(key: &str, file: &Path, whose: &str) -> Result<(), Fault> {
    let wrong =
        |what: &str| fault(key, &format!("{}: {what}", file.display()), &format!("put {whose} there in PEM form"));
    let found = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    let mut count = 0_usize;
    for certificate in found {
        certificate.map_err(|error| wrong(&format!("is damaged ({error})")))?;
        count += 1;
    }
    if count == 0 { Err(wrong("holds no certificate")) } else { Ok(()) }
}

fn secret(key: &str, file: &Path) -> Result<zeroize::Zeroizing<String>, Fault> {
    in_words(key, secret_file(file))
}

fn in_words<T>(key: &str, read: Result<T, SecretError>) -> Result<T, Fault> {
    read.map_err(|error| {
        let text = error.to_string();
        let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "write the secret again"));
        fault(key, wrong, remedy)
    })
}

fn is_digits(text: &str, most: usize) -> bool {
    is_made_of(text, most, |byte| byte.is_ascii_digit())
}

pub(super) fn is_made_of(text: &str, most: usize, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(allowed)
}

pub(super) fn check(fits: bool, key: &str, wrong: &str, remedy: &str) -> Result<(), Fault> {
    if fits { Ok(()) } else { Err(fault(key, wrong, remedy)) }
}

pub(super) fn ensure(fits: bool, key: &str, why: impl FnOnce() -> (String, String)) -> Result<(), Fault> {
    if fits {
        return Ok(());
    }
    let (wrong, remedy) = why();
    Err(fault(key, &wrong, &remedy))
}

fn fault(key: &str, wrong: &str, remedy: &str) -> Fault {
    Fault { key: key.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}
