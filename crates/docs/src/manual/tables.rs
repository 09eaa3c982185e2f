//! The tables of the manual except those of the configuration: exit codes, reasons, parameters, metrics, requests.

use std::fmt::Write as _;

use pos_agent::metrics::{Metrics, PrinterStanding, SaleTiming, TerminalStanding};
use pos_agent::till::ProblemType;
use pos_agent::till::http::description;
use pos_core::transaction::Outcome;
use pos_gateway_model as parameter;
use pos_reader::capability::Capability;
use pos_reader::config::ReaderProtocol;
use pos_till_api::steps::{RESET, STEPS};
use pos_words::{Language, Words};
use serde_json::Value;

use super::cell;
use super::source::{camel, kebab, members};

const EXIT: &str = include_str!("../../../../src/cli/exit.rs");
const FAILURE: &str = include_str!("../../../../src/cli/failure.rs");
const TILL: &str = include_str!("../../../../src/till/sale_view.rs");
const CLOSE: &str = include_str!("../../../core/src/counter/close.rs");

/// Returns the table of the reader families: what the readers of each can do.
pub(super) fn reader_families() -> String {
    let protocols = ReaderProtocol::ALL;
    let mut table = "| the readers can |".to_owned();
    let mut line = "|---|".to_owned();
    for (_, name) in protocols {
        let _ = write!(table, " `{name}` |");
        line += "---|";
    }
    let _ = writeln!(table, "\n{line}");
    for capability in Capability::ALL {
        let _ = write!(table, "| {} |", capability.words());
        for (protocol, _) in protocols {
            let can = protocol.capabilities().contains(capability);
            let _ = write!(table, " {} |", if can { "yes" } else { "no" });
        }
        table += "\n";
    }
    for (words, cell) in [
        (
            "have sold with this agent",
            &(|protocol: ReaderProtocol| if protocol.is_experimental() { "no" } else { "yes" }.to_owned())
                as &dyn Fn(ReaderProtocol) -> String,
        ),
        ("use these line speeds, in baud", &|protocol| {
            protocol.speeds().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }),
        ("seal card data in one of these forms (`sred-form`)", &|protocol| match protocol.sred_forms() {
            [] => "one form".to_owned(),
            forms => forms.iter().map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        }),
    ] {
        let _ = write!(table, "| {words} |");
        for (protocol, _) in protocols {
            let _ = write!(table, " {} |", cell(protocol));
        }
        table += "\n";
    }
    table
}

/// Returns the table of the exit codes.
pub(super) fn exit_codes() -> String {
    let mut table = "| exit code | meaning |\n|---|---|\n".to_owned();
    for exit in members(EXIT, "pub enum Exit") {
        let (_, number) = exit.line.split_once(" = ").expect("every exit has its number");
        let _ = writeln!(table, "| {} | {} |", number.trim_end_matches(','), cell(&exit.comment));
    }
    table
}

/// Returns the table of the codes that a program receives when a request fails.
pub(super) fn codes() -> String {
    let mut table = "| code | meaning |\n|---|---|\n".to_owned();
    let own = members(FAILURE, "pub enum Code").into_iter().filter(|code| code.line.ends_with(','));
    for code in own.filter(|code| !code.line.contains('(')) {
        let _ = writeln!(table, "| `{}` | {} |", kebab(code.line.trim_end_matches(',')), cell(&code.comment));
    }
    for problem in ProblemType::ALL {
        let _ = writeln!(table, "| `{}` | {}. |", problem.code(), cell(problem.title()));
    }
    table
}

/// Returns the table of the problem types of the till interface.
pub(super) fn problems() -> String {
    let mut table = "| `code` | HTTP | `title` |\n|---|---|---|\n".to_owned();
    for problem in ProblemType::ALL {
        let _ = writeln!(table, "| `{}` | {} | {} |", problem.code(), problem.status(), cell(problem.title()));
    }
    table
}

/// Returns the table of the reasons with their sentences.
pub(super) fn reasons() -> String {
    let words = Words::new(Language::default());
    let mut table = "| reason | meaning and remedy |\n|---|---|\n".to_owned();
    for row in words.reasons() {
        let _ = writeln!(table, "| `{}` | {} |", row.reason, cell(&row.technician));
    }
    table
}

/// Returns the tables of the gateway's parameters, by group.
pub(super) fn parameters() -> String {
    let (mut table, mut group) = (String::new(), "");
    for parameter in parameter::all() {
        if parameter.section.group != group {
            group = parameter.section.group;
            let _ = writeln!(table, "\n## {group}\n\n| name | in | required | format |\n|---|---|---|---|");
        }
        let name = parameter.name();
        // What most rows say is left out of them: the page names it once.
        let unless = |usual: &str, word: &str| if word == usual { String::new() } else { word.to_owned() };
        let need = unless("optional", parameter.need().as_str());
        let direction = unless("request", parameter.section.direction.as_str());
        let place = [direction, unless("payment", parameter.call().as_str())];
        let place = place.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
        let format = match parameter.format_of(&name) {
            words @ parameter::Format::List(_) => words.to_string(),
            format => format.code(),
        };
        let _ = writeln!(table, "| `{name}` | {place} | {need} | {} |", cell(&format));
    }
    table
}

/// Returns a program in the form in which the manual shows it.
pub(super) fn example(language: &str, program: &str) -> String {
    format!("```{language}\n{}\n```", program.trim_end())
}

/// Returns the table of the metrics, as the agent serves them.
pub(super) fn metrics() -> String {
    let metrics = Metrics::new();
    // A metric without a count does not appear in the text, so each metric is counted here once.
    metrics.ended(Default::default(), &Outcome::Approved);
    metrics.timed(SaleTiming {
        reader: Default::default(),
        gateway: Default::default(),
        journal: Default::default(),
        agent: Default::default(),
    });
    let printers = vec![PrinterStanding::default()];
    let text = metrics.text(&TerminalStanding {
        card_keys: Some(0),
        pin_keys: Some(0),
        printers,
        ..TerminalStanding::default()
    });
    let mut table = "| figure | kind | labels | meaning |\n|---|---|---|---|\n".to_owned();
    for line in text.lines() {
        let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) else { continue };
        let of = |what: &str| text.lines().find_map(|line| line.strip_prefix(&format!("# {what} {name} ")));
        let _ = writeln!(
            table,
            "| `{name}` | {} | {} | {} |",
            of("TYPE").unwrap_or_default(),
            labels(&text, name),
            cell(help.trim_end_matches('.'))
        );
    }
    table
}

/// Returns the names of a metric's labels.
fn labels(text: &str, figure: &str) -> String {
    let samples = text.lines().filter(|line| line.starts_with(figure));
    let mut names: Vec<&str> = samples
        .filter_map(|line| line.split_once('{')?.1.split_once('}'))
        .flat_map(|(labels, _)| labels.split(','))
        .filter_map(|label| label.split_once('=').map(|(name, _)| name))
        .filter(|name| *name != "le")
        .collect();
    names.sort_unstable();
    names.dedup();
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the table of the routes: the requests of tills and their answers.
pub(super) fn routes() -> String {
    let document = description::document();
    let mut table = "| request | | answers | refused with |\n|---|---|---|---|\n".to_owned();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let summary = operation["summary"].as_str().unwrap_or_default();
            let (mut answers, mut refusals) = (Vec::new(), Vec::new());
            for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
                match answer["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
                    None => answers.push(status.as_str()),
                    Some(name) => refusals.extend(name.split('.').filter(|code| !ANYWHERE.contains(code))),
                }
            }
            let refusals = refusals.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
            let request = format!("{} {path}{}", method.to_uppercase(), parameters_of(operation));
            let _ = writeln!(table, "| `{request}` | {} | {} | {refusals} |", cell(summary), answers.join(", "));
        }
    }
    table
}

/// The codes with which every request, or every POST, may be refused. The table does not repeat them.
const ANYWHERE: &[&str] =
    &["unauthorized", "forbidden", "too-many-requests", "no-place", "no-answer", "timeout", "too-large", "media-type"];

/// Returns the query parameters of an operation and the fields of its body.
fn parameters_of(operation: &Value) -> String {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let query: Vec<&str> =
        parameters.filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str()).collect();
    let query = if query.is_empty() { String::new() } else { format!("[?{}]", query.join("&")) };
    let body = &operation["requestBody"]["content"]["application/json"]["example"];
    let fields: Vec<String> = body.as_object().into_iter().flatten().map(|(name, _)| format!("\"{name}\"")).collect();
    if fields.is_empty() { query } else { format!("{query} {{{}}}", fields.join(",")) }
}

/// Returns the table of the events, and of the message that only webhooks know.
pub(super) fn events() -> String {
    let mut table = "| step | when | about | `sale` | webhooks by default |\n|---|---|---|---|---|\n".to_owned();
    let yes = |is_so: bool| if is_so { "yes" } else { "no" };
    for step in STEPS {
        let by_webhooks = step.carries_sale || step.word == RESET;
        let (when, about) = (cell(step.when), step.about.as_str());
        let _ = writeln!(
            table,
            "| `{}` | {when} | {about} | {} | {} |",
            step.word,
            yes(step.carries_sale),
            yes(by_webhooks)
        );
    }
    table += "| `test` | `pos-front webhook test`; no event of the stream | webhook | no | only by that command |\n";
    table
}

/// Returns the table of the fields of a transaction as tills see it.
pub(super) fn fields_of_a_sale() -> String {
    fields(TILL, "pub struct SaleView")
}

/// Returns the table of the fields of a close of day.
pub(super) fn fields_of_a_close() -> String {
    fields(CLOSE, "pub struct Close")
}

fn fields(source: &str, head: &str) -> String {
    let mut table = "| field | | meaning |\n|---|---|---|\n".to_owned();
    for field in members(source, head) {
        let (name, kind) = field.line.trim_start_matches("pub ").split_once(": ").expect("a field has its type");
        let may_miss = ["Option<", "Vec<", "BTreeMap<"].iter().any(|kinds| kind.starts_with(kinds));
        // A flag that is false is not sent.
        let is_sometimes = may_miss || field.comment.contains("Absent otherwise");
        let always = if is_sometimes { "sometimes" } else { "always" };
        let _ = writeln!(table, "| `{}` | {always} | {} |", camel(name), cell(&field.comment));
    }
    table
}
