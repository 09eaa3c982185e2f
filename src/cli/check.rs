//! `pos-agent check`: checks a configuration and the files that it names, without opening a device.

use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Stop};
use super::out;
use crate::config::{self, DEFAULT_PATH};
use crate::overlay::{self, FleetGiven, GivenTrouble, Loaded};
use pos_reader::capability::Capability;

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(super) struct Check {
    /// The configuration
    #[arg(value_name = "CONFIG", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// Print one JSON object with the file and its warnings, or with the faults
    #[arg(long)]
    json: bool,
}

/// Returns the last part of the help: all rights, and the rights in each set.
fn after_help() -> String {
    let all = config::Rights::root();
    let sets = config::right_sets().map(|config::RightSet { name, whose, rights }| {
        let has = if rights == all { "all of them".to_owned() } else { rights.to_string() };
        format!("  {name:<14} {has} (for {whose})")
    });
    let sets = sets.join("\n");
    format!("The output shows the rights of each caller.\n\nRights: {all}.\n\nSets of rights:\n{sets}")
}

/// Shows which callers may connect, and the rights of each caller.
fn tills(till: &config::Till) {
    out::say(&format!("  tills     {}", till.socket.path.display()));
    out::say("            root, and the agent's own user if it has no entry: everything");
    out::say(&format!("            other users who may open the socket: {}", till.socket.rights));
    for peer in &till.peer {
        out::say(&format!("            user {}, for {}: {}", peer.uid, peer.tills.join(", "), peer.rights));
    }
    for entry in &till.token {
        out::say(&format!("            {} at http://{}: {}", entry.till, till.http, entry.rights));
    }
}

/// Shows the values that come from the fleet, so that a technician sees why the file's value does not apply.
fn fleet(given: &FleetGiven, config: &config::Config) {
    let Some(fleet) = &config.fleet else { return };
    let keys = match given.keys_version() {
        0 => "of the file".to_owned(),
        version => format!("from the fleet, version {version}"),
    };
    out::say(&format!("  fleet     {} of {}; its keys are {keys}", fleet.terminal, fleet.org));
    let version = given.version();
    let trial = if given.trial() == Some(version) { ", on trial" } else { "" };
    for (name, value) in given.in_use() {
        out::say(&format!("            {name} = {value}, from the fleet, version {version}{trial}"));
    }
    for name in given.drift() {
        out::say(&format!("            {name}: the file's, which was edited after the fleet's version {version} came"));
    }
}

/// Returns how customers get the copy of an approved sale.
fn receipts(customer: config::CustomerCopy) -> &'static str {
    match customer {
        config::CustomerCopy::Print => "the customer's copy of a sale is printed, if a printer's copies include it",
        config::CustomerCopy::Ask => "the customer's copy of a sale is printed only on demand",
        config::CustomerCopy::None => "the customer's copy of a sale is not printed automatically",
    }
}

/// Returns warnings about settings that are valid but probably not intended.
fn warnings(config: &config::Config, file: &Path) -> Vec<String> {
    let mut warnings: Vec<String> = config.open_credentials(file).iter().map(ToString::to_string).collect();
    if config.terminal.max_amount.is_none() {
        warnings.push(
            "terminal.max-amount is not set: a typing error can charge up to 9999999999.99; set it to the maximum \
             amount of one payment, for example \"5000.00\""
                .to_owned(),
        );
    }
    if config.receipts.receipt_url.as_ref().is_some_and(|url| !url.contains_number()) {
        warnings.push(
            "receipts.receipt-url has no {number}: if two tills use the same reference, their receipts have the same \
             address; add {number}"
                .to_owned(),
        );
    }
    if config.reader.is_listening() && config.reader.serials.is_empty() {
        warnings.push(
            "reader.port is tcp-listen, so every device of the network can connect as the reader; list the shop's \
             readers in reader.serials"
                .to_owned(),
        );
    }
    let protocol = config.reader.protocol;
    if protocol.is_experimental() {
        warnings.push(format!(
            "reader.protocol = \"{}\" is experimental: no sale with a real reader of it is known yet; try each kind of \
             card with the acquirer's test cards",
            protocol.name()
        ));
    }
    if config.tips.is_some() && !protocol.capabilities().contains(&Capability::TipEntry) {
        warnings.push(format!(
            "[tips] is offered only by tills: {} readers cannot {}",
            protocol.name(),
            Capability::TipEntry.words()
        ));
    }
    if config.operators.required {
        let all = config.till.peer.iter().filter(|peer| !peer.operator && peer.tills.len() > 1);
        warnings.extend(all.map(|peer| {
            format!(
                "operator = false in the [[till.peer]] with uid = {} exempts all its tills, even users of the page \
                 who are not signed in; instead, name only the tills without operators: without-operator = [\"till-1\"]",
                peer.uid
            )
        }));
    }
    warnings
}

impl Check {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let Loaded { config, given } = overlay::shown(&self.config)?;
        let mut warnings = warnings(&config, &self.config);
        let trouble = given.as_ref().map(FleetGiven::trouble).unwrap_or_default();
        warnings.extend(trouble.iter().map(|trouble| match trouble {
            GivenTrouble::Settings(why) => format!("the fleet's settings are not used: {why}"),
            GivenTrouble::Keys(why) => format!("no command key of the fleet is in force: {why}"),
        }));
        if self.json {
            let mut said = serde_json::json!({ "file": self.config, "good": true, "warnings": warnings });
            if let Some(given) = &given {
                let (settings, drift) = (given.in_use(), given.drift());
                said["fleet"] = serde_json::json!({
                    "version": given.version(), "settings": settings, "drift": drift, "keysVersion": given.keys_version(),
                });
            }
            out::say_json(&said);
            return Ok(Exit::Success);
        }
        out::say(&format!("{} is good", self.config.display()));
        out::say(&format!("  terminal  {}, {}", config.terminal.id, config.terminal.currency));
        out::say(&format!("  reader    {}, {}", config.reader.port, config.reader.protocol.name()));
        out::say(&format!("  gateway   {}", config.gateway.url));
        for printer in &config.printer {
            out::say(&format!("  printer   {}", printer.port));
        }
        match config.printer.is_empty() {
            true => out::say("  printer   none; receipts are kept"),
            false => out::say(&format!("  receipts  {}", receipts(config.customer_copy()))),
        }
        tills(&config.till);
        if let Some(given) = &given {
            fleet(given, &config);
        }
        for warning in &warnings {
            out::say(&format!("  WARNING   {warning}"));
        }
        if let Some(name) = &config.gateway.token_credential
            && std::env::var_os("CREDENTIALS_DIRECTORY").is_none()
        {
            out::say(&format!("  not checked: systemd passes the credential \"{name}\" only to the agent"));
        }
        Ok(Exit::Success)
    }
}
