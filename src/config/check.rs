//! The checks that types cannot express: formats and limits. The module `files` checks whether the named files can be
//! used.
//!
//! There is one function for each section, in the order of the file. The crate of a device checks the device's section.

use std::collections::BTreeSet;

use pos_daemon::settings::{ConfigFault, FaultList, absolute, check, digits, ensure, fault, is_digits, within};

use super::socket::till_name;
use super::{Config, Journal, LOCAL, Location, Right, Terminal, Till, TillPeer, is_nameless};
use super::{close, counter, files, fleet, operators, receipts};
use pos_terms::money::{Amount, Currency};
use pos_words::{Language, Words};

impl Config {
    /// Returns all faults: first those of the values, then those of the named files. A file is checked only if its name
    /// is valid.
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

    /// Checks only the values and opens no file, for a configuration that is meant for another board.
    ///
    /// # Errors
    /// Returns the first [`ConfigFault`].
    pub fn check_values(&self) -> Result<(), ConfigFault> {
        self.faulty_values().into_iter().next().map_or(Ok(()), Err)
    }

    fn faulty_values(&self) -> Vec<ConfigFault> {
        let mut found = FaultList::default();
        terminal(&mut found, &self.terminal);
        pos_reader::config::check_values(&mut found, &self.reader);
        pos_gateway::config::check_values(&mut found, &self.gateway);
        pos_printer::config::check_values(&mut found, &self.printer);
        if let Some(language) = Language::from_code(&self.terminal.language) {
            let letters = Words::new(language).letters();
            pos_printer::config::check_letters(&mut found, &self.printer, (language.code(), &letters));
        }
        receipts::check_values(&mut found, &self.receipts, &self.terminal);
        till(&mut found, &self.till);
        journal(&mut found, &self.journal);
        close::check(&mut found, &self.close);
        counter::check(&mut found, self.tips.as_ref());
        operators::check(&mut found, &self.operators, Currency::from_code(&self.terminal.currency).ok());
        if let Some(fleet) = &self.fleet {
            fleet::check(&mut found, fleet, self);
        }
        found.0
    }
}

/// The number of decimals in an amount at the gateway (interface: amount10.2).
const GATEWAY_DECIMALS: u8 = 2;
/// The limits of the time for a card. A customer needs some seconds, and no queue waits for ten minutes.
const CARD_TIMEOUT_S: std::ops::RangeInclusive<u64> = 5..=600;
/// The limits of the time for a signature. A slip cannot be printed and signed in less time, and after an hour the
/// customer has gone.
const SIGNATURE_TIMEOUT_S: std::ops::RangeInclusive<u64> = 30..=3600;
/// The limits of the time for a till's confirmation. The front needs up to 15 s to learn whether a till that speaks
/// Caisse-AP got its answer. After an hour the customer has gone.
const TILL_CONFIRM_S: std::ops::RangeInclusive<u64> = 20..=3600;
/// The limits of the days to keep. A quarter is needed for refunds and disputes, and a hundred years mean for ever.
const KEEP_DAYS: std::ops::RangeInclusive<u64> = 90..=36_500;
/// The greatest length of a socket path. `sun_path` holds 108 bytes including its end, and the socket is first bound as
/// `….new`.
const MAX_SOCKET_PATH: usize = 103;

fn terminal(found: &mut FaultList, terminal: &Terminal) {
    found.add(digits("terminal.id", &terminal.id, "write the terminal id from the acquirer"));
    let lines = terminal.merchant.len();
    found.add(check(
        (1..=6).contains(&lines),
        "terminal.merchant",
        "must be 1 to 6 lines",
        "write the shop's name, street and town",
    ));
    let few = terminal.footer.len() <= 6;
    found.add(check(few, "terminal.footer", "has more than 6 lines", "write at most 6 lines, or none"));
    for (key, lines) in [("terminal.merchant", &terminal.merchant), ("terminal.footer", &terminal.footer)] {
        for line in lines {
            let short = !line.trim().is_empty() && line.chars().count() <= 100;
            found.add(check(
                short && !line.chars().any(char::is_control),
                key,
                "a line is empty, exceeds 100 characters or contains a control character",
                "write plain text",
            ));
        }
    }
    found.add(check(
        Language::from_code(&terminal.language).is_some(),
        "terminal.language",
        "is not a language of the terminal's texts",
        &format!("write {}", Language::codes()),
    ));
    let money = |key, error: pos_terms::money::MoneyError| {
        fault(key, &error.to_string(), "write a value that the gateway accepts")
    };
    let currency = Currency::from_code(&terminal.currency).map_err(|error| money("terminal.currency", error));
    // An amount can be checked only if the currency is valid.
    if let Some(currency) = found.add(currency) {
        found.add(ensure(currency.exponent() <= GATEWAY_DECIMALS, "terminal.currency", || {
            (
                format!("{currency} has {} decimals, but the gateway accepts two", currency.exponent()),
                "use a currency with two decimals or none".to_owned(),
            )
        }));
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

/// Checks the formats of coordinates (interface: Point of sale).
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
                format!("must be a decimal number with at most {integers} digits before the point and 1 to 8 after it"),
                "write it as \"48.137154\"".to_owned(),
            )
        }));
    }
    if let Some(accuracy) = &location.accuracy {
        found.add(digits("terminal.location.accuracy", accuracy, "write it as \"15\""));
    }
}

fn till(found: &mut FaultList, till: &Till) {
    found.add(absolute("till.socket", &till.socket.path));
    let length = till.socket.path.as_os_str().len();
    found.add(check(
        length <= MAX_SOCKET_PATH,
        "till.socket",
        "is longer than the limit for a socket path (103 bytes)",
        "choose a shorter path",
    ));
    found.add(check(
        till.http.ip().is_loopback(),
        "till.http",
        "is not a loopback address: tokens would cross the network unencrypted",
        "write it as \"127.0.0.1:8650\"; tills on other devices need a tunnel",
    ));
    let mut names = BTreeSet::new();
    for (n, entry) in till.token.iter().enumerate() {
        let key = format!("till.token[{n}].till");
        found.add(till_name(&key, &entry.till));
        found.add(check(
            entry.till != LOCAL,
            &key,
            "\"local\" is the name of the Unix socket",
            "choose a different name",
        ));
        found.add(check(
            names.insert(&entry.till),
            &key,
            "two tills have the same name",
            "give each till a different name",
        ));
        found.add(absolute(&format!("till.token[{n}].token-file"), &entry.token_file));
    }
    found.add(check(
        !till.metrics || till.token.iter().any(|entry| entry.rights.has(Right::Totals)),
        "till.metrics",
        "has no effect: no [[till.token]] has the right totals",
        "add a [[till.token]] with rights = [\"totals\"] for the monitoring program, or omit this key",
    ));
    let mut users = BTreeSet::new();
    for (n, entry) in till.peer.iter().enumerate() {
        peer(found, n, entry);
        let key = format!("till.peer[{n}].uid");
        found.add(check(
            users.insert(entry.uid),
            &key,
            "two entries have the same user",
            "write one entry with all tills of this user",
        ));
    }
}

/// Checks a program at the socket with its own tills. Two entries may name the same till, and then share its
/// references.
fn peer(found: &mut FaultList, n: usize, peer: &TillPeer) {
    let uid = format!("till.peer[{n}].uid");
    let remedy = "write the uid of the program's user (id -u NAME)";
    found.add(check(peer.uid != 0, &uid, "root has every right, which this entry cannot restrict", remedy));
    found.add(check(!is_nameless(peer.uid), &uid, "does not identify one user", remedy));
    let key = format!("till.peer[{n}].tills");
    found.add(check(
        !peer.tills.is_empty(),
        &key,
        "is empty",
        "write the tills as [\"till-1\", \"till-2\"], or omit the key",
    ));
    let mut names = BTreeSet::new();
    for till in &peer.tills {
        found.add(till_name(&key, till));
        found.add(check(names.insert(till), &key, "names a till twice", "name each till once"));
    }
    let key = format!("till.peer[{n}].without-operator");
    for till in &peer.without_operator {
        found.add(ensure(names.contains(till), &key, || {
            (format!("{till} is not in tills"), "name only tills that are in tills".to_owned())
        }));
    }
}

fn journal(found: &mut FaultList, journal: &Journal) {
    found.add(absolute("journal.path", &journal.path));
    if let Some(folder) = &journal.mark_folder {
        found.add(absolute("journal.mark-folder", folder));
    }
    found.add(within("journal.keep-days", journal.keep_days.into(), &KEEP_DAYS));
}
