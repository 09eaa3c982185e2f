//! What types cannot say about a configuration: formats and bounds. Whether the files it names can be used is told by
//! `files`.
//!
//! One function for each section of the file, in the file's order. All faults are the answer: nobody wants to correct a
//! file ten times.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;

use super::{
    CodePage, Config, Gateway, Journal, LOCAL, Location, ManualEntryCommand, Part, Printer, Reader, Right, Terminal,
    Till, TillPeer, is_nameless, qr_parts,
};
use super::{assumptions, close, counter, files, operators};
use crate::money::{Amount, Currency};
use crate::words::Language;

/// One place of the file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// Where it stands, counted from 1, when that is known.
    pub line: Option<usize>,
    /// The key with its section, as `gateway.url`; empty when it is about the file itself.
    pub key: String,
    /// What is wrong with it.
    pub wrong: String,
    /// What to write instead.
    pub remedy: String,
}

impl ConfigFault {
    /// Where, and what is wrong there.
    #[must_use]
    pub fn seen(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!("line {line}: "));
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        format!("{line}{key}{}", self.wrong)
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.seen(), self.remedy)
    }
}

/// The faults that were found so far.
#[derive(Debug, Default)]
pub(super) struct FaultList(Vec<ConfigFault>);

impl FaultList {
    /// What was checked, when it is good.
    pub(super) fn add<T>(&mut self, checked: Result<T, ConfigFault>) -> Option<T> {
        checked
            .map_err(|fault| {
                // Once is enough for a list with the same mistake in several places.
                if !self.0.contains(&fault) {
                    self.0.push(fault);
                }
            })
            .ok()
    }
}

impl Config {
    /// Every fault: first of the values, then of the files that are named. A file is looked at when its name can be
    /// one.
    #[must_use]
    pub fn faults(&self) -> Vec<ConfigFault> {
        let mut faults = self.faulty_values();
        let named = |fault: &ConfigFault| faults.iter().all(|value| value.key != fault.key);
        let mut files = FaultList::default();
        files::check_all(&mut files, self);
        let files: Vec<ConfigFault> = files.0.into_iter().filter(named).collect();
        faults.extend(files);
        faults
    }

    /// Checks the values alone, without looking at any file: for a configuration meant for another board.
    ///
    /// # Errors
    /// The first [`ConfigFault`].
    pub fn check_values(&self) -> Result<(), ConfigFault> {
        self.faulty_values().into_iter().next().map_or(Ok(()), Err)
    }

    fn faulty_values(&self) -> Vec<ConfigFault> {
        let mut found = FaultList::default();
        terminal(&mut found, &self.terminal);
        reader(&mut found, &self.reader);
        gateway(&mut found, &self.gateway);
        client_certificate(&mut found, &self.gateway);
        assumptions::check_all(&mut found, &self.gateway.assumptions);
        printers(&mut found, &self.printer);
        till(&mut found, &self.till);
        journal(&mut found, &self.journal);
        close::check(&mut found, &self.close);
        counter::check(&mut found, self.tips.as_ref());
        operators::check(&mut found, &self.operators, Currency::from_code(&self.terminal.currency).ok());
        found.0
    }
}

/// A customer needs some seconds; ten minutes is longer than any queue.
const CARD_TIMEOUT_S: std::ops::RangeInclusive<u64> = 5..=600;
/// Below the first no slip is printed and signed; an hour later the customer is gone.
const SIGNATURE_TIMEOUT_S: std::ops::RangeInclusive<u64> = 30..=3600;
/// Below the first no till is started again in time; an hour later the customer is gone.
const TILL_CONFIRM_S: std::ops::RangeInclusive<u64> = 5..=3600;
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

fn terminal(found: &mut FaultList, terminal: &Terminal) {
    found.add(digits("terminal.id", &terminal.id, "write the terminal id of the acquirer"));
    let lines = terminal.merchant.len();
    found.add(check(
        (1..=6).contains(&lines),
        "terminal.merchant",
        "must be 1 to 6 lines",
        "write name, street and town",
    ));
    let few = terminal.footer.len() <= 6;
    found.add(check(few, "terminal.footer", "has more than 6 lines", "write at most 6 lines, or none"));
    for (key, lines) in [("terminal.merchant", &terminal.merchant), ("terminal.footer", &terminal.footer)] {
        for line in lines {
            let short = !line.trim().is_empty() && line.chars().count() <= 100;
            found.add(check(
                short && !line.chars().any(char::is_control),
                key,
                "a line is empty, longer than 100 characters or holds a control character",
                "write plain text",
            ));
        }
    }
    let codes: Vec<_> = Language::ALL.iter().map(|language| language.code()).collect();
    found.add(check(
        Language::from_code(&terminal.language).is_some(),
        "terminal.language",
        "is no language of the terminal's texts",
        &format!("write {}", codes.join(" or ")),
    ));
    let money =
        |key, error: crate::money::MoneyError| fault(key, &error.to_string(), "write a value the gateway takes");
    let currency = Currency::from_code(&terminal.currency).map_err(|error| money("terminal.currency", error));
    // An amount is only right or wrong in a currency.
    if let Some(currency) = found.add(currency) {
        for (key, max) in
            [("terminal.max-amount", &terminal.max_amount), ("terminal.max-credit-amount", &terminal.max_credit_amount)]
        {
            let Some(max) = max else { continue };
            found.add(Amount::parse(max, currency).map_err(|error| money(key, error)));
        }
    }
    found.add(within("terminal.card-timeout-s", terminal.card_timeout_s, &CARD_TIMEOUT_S));
    found.add(within("terminal.signature-timeout-s", terminal.signature_timeout_s, &SIGNATURE_TIMEOUT_S));
    found.add(within("terminal.till-confirm-s", terminal.till_confirm_s, &TILL_CONFIRM_S));
    if let Some(place) = &terminal.location {
        location(found, place);
    }
}

/// Formats of coordinates (interface: Point of sale).
fn location(found: &mut FaultList, location: &Location) {
    for (key, text, integers) in
        [("terminal.location.latitude", &location.latitude, 2), ("terminal.location.longitude", &location.longitude, 3)]
    {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let fits = unsigned
            .split_once('.')
            .is_some_and(|(integer, fraction)| is_digits(integer, integers) && is_digits(fraction, 8));
        found.add(ensure(fits, key, || {
            (
                format!("must be a decimal number with up to {integers} digits before the dot and 1 to 8 after it"),
                "write it as \"48.137154\"".to_owned(),
            )
        }));
    }
    if let Some(accuracy) = &location.accuracy {
        found.add(digits("terminal.location.accuracy", accuracy, "write it as \"15\""));
    }
}

fn reader(found: &mut FaultList, reader: &Reader) {
    found.add(port("reader.port", &reader.port, "6543"));
    found.add(within("reader.baud", u64::from(reader.baud), &(u64::from(*BAUD.start())..=u64::from(*BAUD.end()))));
    let fits = |serial: &String| is_made_of(serial, 32, |b| b.is_ascii_graphic());
    found.add(check(
        reader.serials.len() <= MAX_SERIALS && reader.serials.iter().all(fits),
        "reader.serials",
        "must be up to 32 serial numbers of 1 to 32 letters and digits",
        "write them as pos-agent status shows them, or leave the key out",
    ));
    // Language::from_code of the reader knows the same codes.
    let known = ["en", "de", "fr", "es", "it", "nl", "pl"].contains(&reader.language.as_str());
    found.add(check(
        known,
        "reader.language",
        "is no language of the reader's texts",
        "write en, de, fr, es, it, nl or pl",
    ));
    let tips = &reader.tip_percentages;
    let fits = (1..=4).contains(&tips.len()) && tips.iter().all(|percent| (1..=100).contains(percent));
    found.add(check(fits, "reader.tip-percentages", "must be one to four numbers from 1 to 100", "write [5, 10, 15]"));
    if let Some(name) = &reader.extended_apdu_capability {
        let fits = is_made_of(name, 32, |b| b.is_ascii_graphic() || b == b' ');
        found.add(check(
            fits,
            "reader.extended-apdu-capability",
            "must be 1 to 32 printable ASCII characters",
            "write the name as GET DEVICE INFO gives it",
        ));
    }
    found.add(check(
        !reader.manual_entry_verification_value || reader.manual_entry_command == ManualEntryCommand::D2E0,
        "reader.manual-entry-verification-value",
        "is not possible with D25A",
        "leave it out, or write manual-entry-command = \"D2E0\"",
    ));
}

fn gateway(found: &mut FaultList, gateway: &Gateway) {
    found.add(url(&gateway.url));
    let entity =
        gateway.entity_id.len() == 32 && gateway.entity_id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    found.add(check(
        entity,
        "gateway.entity-id",
        "must be 32 lower-case hex characters",
        "copy it from the gateway's letter",
    ));
    found.add(check(
        gateway.token_file.is_some() != gateway.token_credential.is_some(),
        "gateway.token-file",
        "exactly one of token-file and token-credential is needed",
        "name the file, or the systemd credential, that holds the bearer token",
    ));
    if let Some(file) = &gateway.token_file {
        found.add(absolute("gateway.token-file", file));
    }
    if let Some(name) = &gateway.token_credential {
        found.add(credential("gateway.token-credential", name, "gateway-token"));
    }
    found.add(absolute("gateway.ca-file", &gateway.ca_file));
    let pin = |pin: &String| {
        pin.strip_prefix("sha256/").is_some_and(|hash| STANDARD.decode(hash).is_ok_and(|hash| hash.len() == 32))
    };
    found.add(check(
        gateway.ca_pins.len() <= MAX_PINS && gateway.ca_pins.iter().all(pin),
        "gateway.ca-pins",
        "must be up to 16 pins: \"sha256/\" and the SHA-256 of a CA's key in base64",
        "copy a pin that pos-agent doctor shows, or leave it out",
    ));
    if let Some(model) = &gateway.device_type {
        let fits = is_made_of(model, 32, |b| b.is_ascii_graphic() || b == b' ') && model.trim() == model;
        found.add(check(
            fits,
            "gateway.device-type",
            "must be 1 to 32 printable ASCII characters",
            "write the model as the gateway names it",
        ));
    }
    for (aid, brand) in &gateway.brand_by_aid {
        // An AID prefix of 5 bytes is a scheme (RID), 16 bytes the longest AID (ISO 7816-4, 8.2.1.2).
        let hex = aid.len() % 2 == 0 && aid.len() >= 10;
        let hex = hex && is_made_of(aid, 32, |b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
        let brand = is_made_of(brand, 32, |b| b.is_ascii_alphanumeric() || b == b'_');
        found.add(check(
            hex && brand,
            "gateway.brand-by-aid",
            "needs an AID of 10 to 32 upper-case hex digits and a brand of up to 32 letters, digits or underscores",
            "write it as A0000000031010 = \"VISA\"",
        ));
    }
    found.add(within("gateway.expiry-warning-days", gateway.expiry_warning_days, &EXPIRY_WARNING_DAYS));
    found.add(within("gateway.connect-timeout-ms", gateway.connect_timeout_ms, &CONNECT_TIMEOUT_MS));
    found.add(within("gateway.resend-after-s", gateway.resend_after_s, &RESEND_S));
    found.add(within("gateway.answer-timeout-ms", gateway.answer_timeout_ms, &ANSWER_TIMEOUT_MS));
}

/// All of it or nothing: a gateway that asks for a certificate is not spoken to without.
fn client_certificate(found: &mut FaultList, gateway: &Gateway) {
    let Gateway { client_certificate_file: file, client_key_file: key, client_key_credential: name, .. } = gateway;
    found.add(check(
        file.is_some() == (key.is_some() || name.is_some()),
        "gateway.client-certificate-file",
        "a certificate of ours needs its key, and a key its certificate",
        "give client-certificate-file with client-key-file or client-key-credential, or none of them",
    ));
    found.add(check(
        key.is_none() || name.is_none(),
        "gateway.client-key-file",
        "only one of client-key-file and client-key-credential can hold the key",
        "leave one of them out",
    ));
    for (at, file) in [("gateway.client-certificate-file", file), ("gateway.client-key-file", key)] {
        if let Some(file) = file {
            found.add(absolute(at, file));
        }
    }
    if let Some(name) = name {
        found.add(credential("gateway.client-key-credential", name, "gateway-key"));
    }
}

fn credential(key: &str, name: &str, example: &str) -> Result<(), ConfigFault> {
    let fits = is_made_of(name, 255, |b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) && !name.starts_with('.');
    check(fits, key, "is not a credential name", &format!("write it as \"{example}\""))
}

fn url(text: &str) -> Result<(), ConfigFault> {
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

fn printers(found: &mut FaultList, printers: &[Printer]) {
    found.add(check(
        printers.len() <= MAX_PRINTERS,
        "printer",
        "there are more than two",
        "keep one or two of the tables [[printer]]",
    ));
    let mut names = BTreeSet::new();
    for (n, entry) in printers.iter().enumerate() {
        printer(found, entry, |key| format!("printer[{n}].{key}"));
        let unique = names.insert(&entry.name);
        found.add(check(unique, &format!("printer[{n}].name"), "two printers have the same name", "give each its own"));
    }
}

fn printer(found: &mut FaultList, printer: &Printer, key: impl Fn(&str) -> String) {
    let name = is_made_of(&printer.name, 32, |b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    found.add(check(name, &key("name"), "must be 1 to 32 letters, digits, - or _", "write it as \"counter\""));
    found.add(port(&key("port"), &printer.port, "9100"));
    found.add(within(&key("baud"), u64::from(printer.baud), &(u64::from(*BAUD.start())..=u64::from(*BAUD.end()))));
    let fits = matches!(printer.columns, 32 | 42 | 48);
    found.add(check(
        fits,
        &key("columns"),
        "must be 32, 42 or 48",
        "write what the printer's self-test counts on a line",
    ));
    found.add(check(
        printer.code_page_number.is_none() || printer.code_page != CodePage::Ascii,
        &key("code-page-number"),
        "has no meaning with the code page ascii",
        "choose the page that has this number, or leave the number out",
    ));
    if let Some(template) = &printer.qr {
        found.add(qr(&key("qr"), template));
    }
}

fn qr(key: &str, template: &str) -> Result<(), ConfigFault> {
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

fn till(found: &mut FaultList, till: &Till) {
    found.add(absolute("till.socket", &till.socket.path));
    let length = till.socket.path.as_os_str().len();
    found.add(check(
        length <= MAX_SOCKET_PATH,
        "till.socket",
        "is longer than a socket's name may be (103)",
        "choose a shorter path",
    ));
    found.add(check(
        till.http.ip().is_loopback(),
        "till.http",
        "is not a loopback address: tokens would cross the network in clear",
        "write it as \"127.0.0.1:8650\"; tills elsewhere need a tunnel",
    ));
    let mut names = BTreeSet::new();
    for (n, entry) in till.token.iter().enumerate() {
        let key = format!("till.token[{n}].till");
        found.add(till_name(&key, &entry.till));
        found.add(check(entry.till != LOCAL, &key, "\"local\" is the name of the Unix socket", "choose another name"));
        found.add(check(names.insert(&entry.till), &key, "two tills have the same name", "give each till its own"));
        found.add(absolute(&format!("till.token[{n}].token-file"), &entry.token_file));
    }
    found.add(check(
        !till.metrics || till.token.iter().any(|entry| entry.rights.has(Right::Totals)),
        "till.metrics",
        "would serve nobody: no [[till.token]] has the right totals",
        "add a [[till.token]] with rights = [\"totals\"] for the program that asks, or leave it out",
    ));
    let mut users = BTreeSet::new();
    for (n, entry) in till.peer.iter().enumerate() {
        peer(found, n, entry);
        let key = format!("till.peer[{n}].uid");
        found.add(check(
            users.insert(entry.uid),
            &key,
            "two entries have the same user",
            "write one entry with all its tills",
        ));
    }
}

/// A program at the socket with tills of its own. Another way in may stand for the same till: it has the same
/// references then.
fn peer(found: &mut FaultList, n: usize, peer: &TillPeer) {
    let uid = format!("till.peer[{n}].uid");
    let remedy = "write the number of the user that the program runs as (id -u NAME)";
    found.add(check(peer.uid != 0, &uid, "root may do everything, and is not confined here", remedy));
    found.add(check(!is_nameless(peer.uid), &uid, "stands for every user that has no name here, and for none", remedy));
    let key = format!("till.peer[{n}].tills");
    found.add(check(
        !peer.tills.is_empty(),
        &key,
        "is empty",
        "write its tills as [\"till-1\", \"till-2\"], or leave it out",
    ));
    let mut names = BTreeSet::new();
    for till in &peer.tills {
        found.add(till_name(&key, till));
        found.add(check(names.insert(till), &key, "a till stands there twice", "name each once"));
    }
    let key = format!("till.peer[{n}].without-operator");
    for till in &peer.without_operator {
        found.add(ensure(names.contains(till), &key, || {
            (format!("{till} is none of its tills"), "name tills that stand in its tills".to_owned())
        }));
    }
}

fn till_name(key: &str, name: &str) -> Result<(), ConfigFault> {
    let fits = is_made_of(name, 32, |b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    check(fits, key, "must be 1 to 32 letters, digits, - or _", "write it as \"till-1\"")
}

/// `/dev/…` or `tcp://host:port`.
fn port(key: &str, text: &str, usual: &str) -> Result<(), ConfigFault> {
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

fn journal(found: &mut FaultList, journal: &Journal) {
    found.add(absolute("journal.path", &journal.path));
    if let Some(folder) = &journal.mark_folder {
        found.add(absolute("journal.mark-folder", folder));
    }
    found.add(within("journal.keep-days", journal.keep_days.into(), &KEEP_DAYS));
}

pub(super) fn absolute(key: &str, path: &Path) -> Result<(), ConfigFault> {
    check(path.is_absolute(), key, "must be an absolute path", "begin it with /")
}

fn digits(key: &str, text: &str, remedy: &str) -> Result<(), ConfigFault> {
    check(is_digits(text, 32), key, "must be 1 to 32 digits", remedy)
}

pub(super) fn within(key: &str, value: u64, bounds: &std::ops::RangeInclusive<u64>) -> Result<(), ConfigFault> {
    ensure(bounds.contains(&value), key, || {
        let (least, most) = (bounds.start(), bounds.end());
        (format!("{value} is not between {least} and {most}"), "leave it out for the default".to_owned())
    })
}

fn is_digits(text: &str, most: usize) -> bool {
    is_made_of(text, most, |byte| byte.is_ascii_digit())
}

pub(super) fn is_made_of(text: &str, most: usize, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(allowed)
}

pub(super) fn check(fits: bool, key: &str, wrong: &str, remedy: &str) -> Result<(), ConfigFault> {
    if fits { Ok(()) } else { Err(fault(key, wrong, remedy)) }
}

pub(super) fn ensure(fits: bool, key: &str, why: impl FnOnce() -> (String, String)) -> Result<(), ConfigFault> {
    if fits {
        return Ok(());
    }
    let (wrong, remedy) = why();
    Err(fault(key, &wrong, &remedy))
}

pub(super) fn fault(key: &str, wrong: &str, remedy: &str) -> ConfigFault {
    ConfigFault { line: None, key: key.to_owned(), wrong: wrong.to_owned(), remedy: remedy.to_owned() }
}
