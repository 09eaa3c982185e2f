//! The receipt printers: what the agent knows of them, or, when no agent runs, what they say themselves. Nothing is printed.

use super::reader::device_can_be_opened;
use super::{Agent, Report, Severity};
use crate::config::{Config, Printer};
use crate::printer::port::condition;
use crate::printer::status::Condition;
use crate::till::{PrinterState, PrinterView};

pub(super) async fn look(report: &mut Report<'_>, config: &Config, agent: &Agent) {
    if config.printer.is_empty() {
        return report.note("none is configured: receipts are kept and shown by pos-agent receipt");
    }
    match agent {
        Agent::Answers(status) => {
            for view in &status.printers {
                as_the_agent_sees_it(report, view);
            }
        }
        Agent::Absent => {
            for printer in &config.printer {
                as_it_says_itself(report, printer).await;
            }
        }
        Agent::Closed | Agent::Silent(_) => {
            report.note("not looked at: the agent may be printing, and cannot be asked");
        }
    }
}

/// The agent looks at its printers all the time; receipts wait, so that none of this stops a sale.
fn as_the_agent_sees_it(report: &mut Report<'_>, view: &PrinterView) {
    let PrinterView { name, port, state, text, .. } = view;
    match state {
        PrinterState::Ready => report.ok(format!("the agent says: {name} at {port} is {text}")),
        PrinterState::NotUsedYet => report.note(format!("{name} at {port} was not used yet")),
        _ => report.say(Severity::Warning, &format!("{name} at {port} is {text}")),
    }
}

async fn as_it_says_itself(report: &mut Report<'_>, printer: &Printer) {
    let Printer { name, port, .. } = printer;
    if !device_can_be_opened(report, port, "printer") {
        return;
    }
    match condition(printer).await {
        Ok(Some(Condition::Fine)) => report.ok(format!("{name} at {port} is ready")),
        Ok(Some(Condition::PaperNearEnd)) => {
            report.warning(format!("{name} at {port} has little paper left"), "have a new roll at hand");
        }
        Ok(Some(Condition::Trouble(trouble))) => {
            report.say(Severity::Warning, &format!("{name} at {port} is {trouble}"));
        }
        Ok(None) => report.ok(format!("reached {name} at {port}; it does not say how it is")),
        // Receipts are kept: a sale does not need paper.
        Err(error) => report.warning(
            format!("{name} cannot be reached at {port}: {error}"),
            "see to its power, cable and [[printer]] port",
        ),
    }
}
