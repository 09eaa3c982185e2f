//! The names on the command line and in HTTP. An option or argument of a verb must have the name of its request's
//! parameter or field. The command line joins words with `-`, and HTTP writes them with capitals. A table lists the
//! exceptions with their reasons.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// Each verb that sends requests to the agent, with its operations in the interface's description.
const VERBS: &[(&str, &[&str])] = &[
    ("sale", &["beginSale", "typeAmount"]),
    ("preauthorise", &["beginSale"]),
    ("credit", &["beginSale"]),
    ("capture", &["beginSale"]),
    ("refund", &["beginSale"]),
    ("reverse", &["beginSale"]),
    ("increment", &["beginSale"]),
    ("reauthorise", &["beginSale"]),
    ("registration", &["beginSale"]),
    ("show", &["showSale"]),
    ("payment", &["payment"]),
    ("query", &["query"]),
    ("status", &["status"]),
    ("cancel", &["cancelSale"]),
    ("signature", &["judgeSignature"]),
    ("confirm", &["confirmSale"]),
    ("settle", &["settleSale"]),
    ("receipt", &["receipt", "printReceipt"]),
    ("journal", &["listSales"]),
    ("totals", &["totals"]),
    ("close", &["closeDay"]),
    ("close list", &["listCloses"]),
    ("close show", &["showClose"]),
    ("close print", &["printClose"]),
    ("log-level", &["logLevel"]),
    ("operator add", &["addOperator"]),
    ("operator pin", &["setPin"]),
    ("operator remove", &["removeOperator"]),
    ("operator unlock", &["unlockOperator"]),
    ("operator list", &["listOperators"]),
];

/// Options that exist only on the command line, for every verb: the agent's address, the operator, and the output
/// format.
const OF_THE_COMMAND_LINE: &[&str] = &["config", "socket", "json", "help", "operator", "pin-stdin"];

/// Names that differ, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("*", "manual", "a flag for a word of `entry`"),
    ("*", "chip", "a flag for a word of `entry`"),
    ("*", "param", "one of the `parameters`, as NAME=VALUE"),
    ("*", "params", "the `parameters`, from a file"),
    ("*", "final", "a parameter for the gateway that a till writes among the `parameters`"),
    ("*", "signature", "the answer to a question that this verb asks, in a request of its own"),
    ("*", "settle-s", "how long the verb waits for an end; a till decides that itself"),
    ("*", "reconnect-s", "how long the verb looks for a daemon that is away"),
    ("signature", "accept", "one of two words has to be said, so that none is the usual one: `accepted` is true"),
    ("signature", "refuse", "as accept: `accepted` is false"),
    ("settle", "reverse", "one of two words has to be said, so that none is the usual one: `keep` is false"),
    ("status", "front", "the socket of another program, which is asked beside the agent"),
    ("receipt", "print", "the request's method: POST"),
    ("query", "name-value", "each is a parameter of the gateway by its own name"),
    ("log-level", "for", "a time with its unit, as 30min; `forS` is seconds"),
];

#[test]
fn the_command_line_and_the_interface_call_the_same_things_the_same() {
    let described: Value = serde_json::from_str(include_str!("../../src/till/http/openapi.json")).unwrap();
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for (verb, operations) in VERBS {
        let known: BTreeSet<String> = operations.iter().flat_map(|operation| names_of(&described, operation)).collect();
        let said = names_of_verb(verb);
        for name in said.iter().filter(|name| !OF_THE_COMMAND_LINE.contains(&name.as_str())) {
            let excepted = EXCEPTIONS.iter().position(|(of, it, _)| (*of == "*" || of == verb) && it == name);
            match excepted {
                _ if known.contains(name) => {}
                Some(row) => drop(used.insert(row)),
                None => wrong.push(format!("{verb}: {name}; the interface has {known:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let idle = EXCEPTIONS.iter().enumerate().filter(|(row, _)| !used.contains(row));
    let idle: Vec<_> = idle.map(|(_, (verb, name, _))| format!("{verb}: {name}")).collect();
    assert!(idle.is_empty(), "exceptions that nothing needs any more: {idle:?}");
}

/// Returns the parameters and fields of an operation.
fn names_of(described: &Value, operation: &str) -> Vec<String> {
    let paths = described["paths"].as_object().unwrap();
    let mut methods = paths.values().flat_map(|methods| methods.as_object().unwrap().values());
    let found = methods.find(|it| it["operationId"] == operation).unwrap_or_else(|| panic!("no operation {operation}"));
    let parameters = found["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.map(|parameter| parameter["name"].as_str().unwrap());
    let body = &found["requestBody"]["content"]["application/json"]["schema"]["properties"];
    let fields = body.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    parameters.chain(fields).map(with_hyphens).collect()
}

fn with_hyphens(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        text.extend(c.is_ascii_uppercase().then_some('-'));
        text.push(c.to_ascii_lowercase());
        text
    })
}

/// Returns the options and arguments of a verb, as its help shows them.
fn names_of_verb(verb: &str) -> Vec<String> {
    let arguments = verb.split(' ').chain(["--help"]);
    let told = Command::new(env!("CARGO_BIN_EXE_pos-agent")).args(arguments).output().unwrap();
    assert!(told.status.success(), "{verb}: {}", String::from_utf8_lossy(&told.stderr));
    let help = String::from_utf8(told.stdout).unwrap();
    let name = |line: &str| {
        let line = line.trim_start();
        let word = match line.strip_prefix('<').or_else(|| line.strip_prefix('[')) {
            Some(argument) => argument.split(['>', ']']).next()?,
            None => {
                let long = line.strip_prefix("-h, ").unwrap_or(line).strip_prefix("--")?;
                long.split([' ', '.', '[', '=']).next()?
            }
        };
        Some(word.to_lowercase().replace('=', "-"))
    };
    let listed = help.lines().skip_while(|line| !line.starts_with("Arguments:") && !line.starts_with("Options:"));
    let listed = listed.filter(|line| line.starts_with("  ") && line.trim_start().starts_with(['<', '[', '-']));
    // The text below an option has a deeper indent than the option.
    listed.filter(|line| line.len() - line.trim_start().len() <= 6).filter_map(name).collect()
}
