//! `pos-agent parameters`: explains and checks the gateway's parameters, with the table that also checks the agent's
//! own requests. It sends nothing to a gateway.
//!
//! No value is repeated in the output, secret or not. Other users of the machine can see a card number on a command
//! line. Put a form with a card number in a file that others cannot read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use zeroize::Zeroizing;

use super::exit::{Exit, Stop};
use super::out;
use crate::config::{self, DEFAULT_PATH};
use pos_gateway_model::form::{self, FormContext, MOST_VIOLATIONS, Violation};
use pos_gateway_model::{self as parameter, Call, Direction, Names, Parameter, nearest, rule, shown};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Parameters {
    #[command(subcommand)]
    verb: Verb,
    /// The configuration, which names wallets and schemes [default: /etc/pos-agent/config.toml if it can be read]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  pos-agent parameters list --group card            names, formats and calls
  pos-agent parameters show date.from               facts of one parameter
  pos-agent parameters check amount=12.34 limit=99  check each value alone
  pos-agent parameters check --form body --call payment
  pos-agent parameters check --response result.code=000.100.110

Exit codes: 0 no violation; 65 violations, each on one line as PARAMETER:
PROBLEM; RULE";

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the parameters and response fields
    List(List),
    /// Explain one parameter
    Show(Show),
    /// Check values, or a whole form
    Check(Check),
}

#[derive(Debug, Args)]
struct List {
    /// Only this group, for example payment, card, cart or pos
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// Print a JSON array, one object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Show {
    // This is not a doc comment, because rustdoc would turn the indices into links.
    #[arg(help = "A name as in a request or in the list: cart.items[0].name, cart.items[n].name")]
    name: String,
    /// Print each parameter with this name as one JSON object per line, as in the list
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Check {
    /// Values to check one by one; a parameter with several formats accepts any of them
    #[arg(value_name = "NAME=VALUE", required_unless_present = "form", conflicts_with = "form")]
    pairs: Vec<OsString>,
    /// A form as in a request (percent-encoded, its fields separated by '&' or line breaks); `-` is standard input
    #[arg(long, value_name = "FILE")]
    form: Option<PathBuf>,
    /// Check the whole input as one form of this call, including required fields and rules between fields
    #[arg(long, value_name = "CALL", value_parser = call)]
    call: Option<Call>,
    /// Check the input as an answer of the gateway: unknown fields are reported, but are not violations
    #[arg(long)]
    response: bool,
    /// Check the form as sent by the customer's browser, not by the merchant's server
    #[arg(long, requires = "call")]
    from_client_side: bool,
    /// Print one JSON object with the number of checked values and the violations
    #[arg(long)]
    json: bool,
}

/// A row of the table, in the form for programs.
#[derive(Serialize)]
struct View {
    name: String,
    format: String,
    says: String,
    required: &'static str,
    group: &'static str,
    direction: &'static str,
    call: &'static str,
    secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'static str>,
    meaning: &'static str,
}

impl Parameters {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let names = names(self.config.as_deref())?;
        match self.verb {
            Verb::List(verb) => verb.run(),
            Verb::Show(verb) => verb.run(&names),
            Verb::Check(verb) => verb.run(&names),
        }
    }
}

/// Returns the names of wallets and schemes from the configuration.
fn names(config: Option<&Path>) -> Result<Names, Stop> {
    let config = match config {
        Some(file) => Some(config::read(file)?),
        None => config::read(Path::new(DEFAULT_PATH)).ok(),
    };
    Ok(config.map_or_else(Names::default, |config| {
        Names::new(&config.gateway.assumptions.wallets, &config.gateway.assumptions.schemes)
    }))
}

impl List {
    fn run(self) -> Result<Exit, Stop> {
        let of_group =
            |parameter: &Parameter| self.group.as_deref().is_none_or(|group| group == parameter.section.group);
        let views: Vec<View> = parameter::all().filter(of_group).map(|parameter| view(&parameter)).collect();
        if let (Some(group), true) = (&self.group, views.is_empty()) {
            let mut groups: Vec<&str> = parameter::SECTIONS.iter().map(|section| section.group).collect();
            groups.dedup();
            let groups = groups.join(", ");
            return Err(Stop::new(Exit::Data, format!("there is no group {}; the groups are {groups}", shown(group))));
        }
        if self.json {
            let last = views.len().saturating_sub(1);
            for (at, view) in views.iter().enumerate() {
                let json = serde_json::to_string(view).expect("a view holds only text");
                let (first, end) = (if at == 0 { "[" } else { "" }, if at == last { "]" } else { "," });
                out::say(&format!("{first}{json}{end}"));
            }
        } else {
            views.iter().for_each(|view| out::say(&line(view)));
        }
        Ok(Exit::Success)
    }
}

fn view(parameter: &Parameter) -> View {
    View {
        name: parameter.name().into_owned(),
        format: parameter.row.format.code(),
        says: parameter.row.format.to_string(),
        required: parameter.need().as_str(),
        group: parameter.section.group,
        direction: parameter.section.direction.as_str(),
        call: parameter.call().as_str(),
        secret: parameter.row.secret,
        column: parameter.row.column,
        meaning: parameter.row.meaning,
    }
}

fn line(view: &View) -> String {
    let View { name, format, required, group, direction, call, .. } = view;
    let format: String = if format.chars().count() > 40 {
        format!("{}…", format.chars().take(39).collect::<String>())
    } else {
        format.clone()
    };
    format!("{name:<50} {required:<11} {direction:<8} {call:<14} {group:<21} {format}")
}

impl Show {
    fn run(self, names: &Names) -> Result<Exit, Stop> {
        let listed: Vec<Parameter> = parameter::all().filter(|parameter| parameter.name() == self.name).collect();
        let found =
            if listed.is_empty() { parameter::named(&self.name, names, Direction::Request) } else { Ok(listed) };
        let found = found.map_err(|why| {
            let meant = nearest(&self.name, names).map_or(String::new(), |meant| format!("; did you mean {meant}?"));
            Stop::new(Exit::Data, format!("{}: {why}{meant}", shown(&self.name)))
        })?;
        if self.json {
            found.iter().for_each(|parameter| out::say_json(&view(parameter)));
            return Ok(Exit::Success);
        }
        for (at, parameter) in found.iter().enumerate() {
            if at > 0 {
                out::say("");
            }
            explain(parameter);
        }
        Ok(Exit::Success)
    }
}

fn explain(parameter: &Parameter) {
    let View { name, format, says, required, group, direction, call, secret, column, meaning } = view(parameter);
    let needed_in: Vec<&str> = parameter.row.needed_in.iter().map(|call| call.as_str()).collect();
    let needed_in = if needed_in.is_empty() { String::new() } else { format!(" in {}", needed_in.join(", ")) };
    out::say(&name);
    out::say(&format!("  meaning    {meaning}"));
    out::say(&format!("  format     {format}: {says}"));
    out::say(&format!("  need       {required}{needed_in}"));
    out::say(&format!("  group      {group} ({})", parameter.section.title));
    out::say(&format!("  direction  {direction}"));
    out::say(&format!("  call       {call}"));
    if let Some(column) = column {
        out::say(&format!("  column     {column}"));
    }
    out::say(&format!("  secret     {}", if secret { "yes" } else { "no" }));
    for rule in rule::RULES.iter().filter(|rule| rule.names(&name)) {
        out::say(&format!("  rule       {} ({})", rule.says, rule.name));
    }
}

impl Check {
    fn run(self, names: &Names) -> Result<Exit, Stop> {
        let read = match &self.form {
            Some(file) => from_file(file)?,
            None => from_arguments(&self.pairs),
        };
        let (pairs, mut violations) = match read {
            Ok(pairs) => (pairs, Vec::new()),
            Err(violations) => (Vec::new(), violations),
        };
        let answers = self.response || matches!(self.call, Some(Call::Webhook | Call::Reconciliation));
        let direction = if answers { Direction::Response } else { Direction::Request };
        if violations.is_empty() {
            violations = match self.call {
                Some(call) => form::judge(
                    &pairs,
                    &FormContext { direction, call, from_client_side: self.from_client_side, names },
                ),
                None => form::each(&pairs, names, direction),
            };
        }
        if answers {
            for name in form::unknown(&pairs, names) {
                out::aside(&format!(
                    "{name}: not in the interface's documents; tolerated, because an answer may contain new fields"
                ));
            }
        }
        if self.json {
            let told = violations.iter().map(|Violation { name, problem, rule }| {
                serde_json::json!({ "parameter": name, "problem": problem, "rule": rule })
            });
            let told: Vec<serde_json::Value> = told.collect();
            out::say_json(&serde_json::json!({ "checked": pairs.len(), "violations": told }));
        } else {
            violations.iter().for_each(|violation| out::say(&violation.to_string()));
        }
        if violations.len() >= MOST_VIOLATIONS {
            out::aside(&format!("stopped after {MOST_VIOLATIONS} violations: the rest was not checked"));
        }
        if violations.is_empty() {
            if !self.json {
                out::say(&format!("good: {} checked", pairs.len()));
            }
            Ok(Exit::Success)
        } else {
            Ok(Exit::Data)
        }
    }
}

type Pairs = Result<Vec<(String, String)>, Vec<Violation>>;

/// Reads the form in a file. Returns violations if the form cannot be decoded.
fn from_file(file: &Path) -> Result<Pairs, Stop> {
    let failed = |error: io::Error| {
        let exit = if error.kind() == io::ErrorKind::PermissionDenied { Exit::NoPermission } else { Exit::Io };
        Stop::new(exit, format!("the form {} cannot be read: {error}", file.display()))
    };
    // One byte more than the limit is read, so that a longer form is noticed.
    let most = form::LONGEST as u64 + 1;
    let mut encoded = Zeroizing::new(Vec::new());
    if file == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut encoded).map_err(failed)?;
    } else {
        File::open(file).map_err(failed)?.take(most).read_to_end(&mut encoded).map_err(failed)?;
    }
    // An encoded form has no line ends, so a line end in a file can replace '&'.
    encoded.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b'&');
    Ok(form::decode(&encoded).map_err(|violation| vec![violation]))
}

fn from_arguments(arguments: &[OsString]) -> Pairs {
    let (mut pairs, mut violations) = (Vec::new(), Vec::new());
    for (at, argument) in arguments.iter().enumerate() {
        let wrong = |problem: &str| Violation {
            name: format!("argument {}", at + 1),
            problem: problem.to_owned(),
            rule: "write NAME=VALUE in UTF-8".to_owned(),
        };
        match argument.to_str().map(|text| text.split_once('=')) {
            Some(Some((name, value))) => pairs.push((name.to_owned(), value.to_owned())),
            Some(None) => violations.push(wrong("has no '='")),
            None => violations.push(wrong("is not UTF-8")),
        }
    }
    if violations.is_empty() { Ok(pairs) } else { Err(violations) }
}

fn call(text: &str) -> Result<Call, String> {
    Call::ALL.iter().copied().find(|call| call.as_str() == text).ok_or_else(|| {
        let known: Vec<&str> = Call::ALL.iter().map(|call| call.as_str()).collect();
        format!("call: must be one of {}", known.join(", "))
    })
}
