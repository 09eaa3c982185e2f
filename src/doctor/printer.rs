//! The probe of the receipt printers. It reports their state as the agent knows it. If no agent is running, the doctor
//! asks the printers. It prints nothing.

use super::reader::device_can_be_opened;
use super::{Agent, Report};
use crate::config::{Config, Printer};
use crate::till::{PrinterState, PrinterView};
use pos_printer::port::condition;
use pos_printer::status::Condition;

pub(super) async fn look(report: &mut Report<'_>, config: &Config, agent: &Agent) {
    if config.printer.is_empty() {
        return report.note("no printer is configured: the agent keeps the receipts, and pos-agent receipt shows them");
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
            report.note("not checked: the agent may be printing and cannot be asked");
        }
    }
}

/// Reports the agent's view of a printer. The agent checks its printers continuously. Receipts can wait, so a printer's
/// fault does not prevent a sale.
fn as_the_agent_sees_it(report: &mut Report<'_>, view: &PrinterView) {
    let PrinterView { name, port, state, text, .. } = view;
    let (how, waiting) = match text.rsplit_once("; ") {
        Some((how, waiting)) if waiting.ends_with(" wait") || waiting.ends_with(" waits") => {
            (how, format!("; {waiting}"))
        }
        _ => (text.as_str(), String::new()),
    };
    match state {
        // A receipt that is being printed is not a fault.
        PrinterState::Ready => report.ok(format!("the agent says: {name} at {port} is {how}{waiting}")),
        PrinterState::NotUsedYet => report.note(format!("{name} at {port} was {how}{waiting}")),
        _ => {
            let (is, remedy) = what_to_do(how);
            report.warning(format!("{name} at {port} is {is}{waiting}"), remedy);
        }
    }
}

/// Splits the text about a printer into its state and the remedy: `open: close its cover`, or
/// `unreachable: …: no route; check its power`.
fn what_to_do(trouble: &str) -> (&str, &str) {
    let at = trouble.find("; check ").or_else(|| trouble.find(": "));
    let parts = at.and_then(|at| Some((trouble.get(..at)?, trouble.get(at + 2..)?)));
    parts.unwrap_or((trouble, "check the printer and run the doctor again"))
}

async fn as_it_says_itself(report: &mut Report<'_>, printer: &Printer) {
    let Printer { name, port, .. } = printer;
    if !device_can_be_opened(report, port, "printer") {
        return;
    }
    match condition(printer).await {
        Ok(Some(Condition::Fine)) => report.ok(format!("{name} at {port} is ready")),
        Ok(Some(Condition::PaperNearEnd)) => {
            report.warning(format!("{name} at {port} has little paper left"), "have a new roll ready");
        }
        Ok(Some(Condition::Trouble(trouble))) => {
            let trouble = trouble.to_string();
            let (is, remedy) = what_to_do(&trouble);
            report.warning(format!("{name} at {port} is {is}"), remedy);
        }
        Ok(None) => report.ok(format!("{name} at {port} was reached, but does not report its state")),
        // The agent stores the receipts, and a sale does not need paper.
        Err(error) => report.warning(
            format!("{name} cannot be reached at {port}: {error}"),
            "check the printer's power and cable, and port in [[printer]]",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{DoctorNews, Judgement, Probe};
    use pos_printer::status::Trouble;

    fn said(state: PrinterState, text: &str) -> (String, Judgement) {
        let mut nobody = |_: DoctorNews<'_>| {};
        let mut report = Report { probe: Probe::Printer, findings: Vec::new(), tell: &mut nobody };
        let (name, port, text) = ("p".to_owned(), "/dev/p".to_owned(), text.to_owned());
        let view = PrinterView { name, port, state, text, waiting: 0 };
        as_the_agent_sees_it(&mut report, &view);
        assert_eq!(report.findings.len(), 1);
        let found = report.findings.remove(0);
        (found.seen, found.judgement)
    }

    #[test]
    fn a_printer_that_is_ok_needs_nothing_however_much_it_prints() {
        for state in ["ok", "ok; 1 receipt waits", "ok; 12 receipts wait"] {
            assert_eq!(
                said(PrinterState::Ready, state),
                (format!("the agent says: p at /dev/p is {state}"), Judgement::Ok)
            );
        }
        for state in ["not used yet", "not used yet; 1 receipt waits"] {
            let note = (format!("p at /dev/p was {state}"), Judgement::Note);
            assert_eq!(said(PrinterState::NotUsedYet, state), note);
        }
    }

    #[test]
    fn what_to_do_about_a_printer_is_never_how_many_receipts_wait() {
        let warning = |seen: &str, remedy: &str| (seen.to_owned(), Judgement::Warning { remedy: remedy.to_owned() });
        let state = format!("{}; 2 receipts wait", Trouble::CoverOpen);
        assert_eq!(
            said(PrinterState::CoverOpen, &state),
            warning("p at /dev/p is open; 2 receipts wait", "close its cover")
        );
        let all = "switch it off and on; if that does not help, have it repaired";
        assert_eq!(
            said(PrinterState::Error, &Trouble::Broken.to_string()),
            warning("p at /dev/p is out of order", all)
        );
        let unreachable =
            "unreachable: tcp://127.0.0.1:1: refused; check its power, cable and address; 1 receipt waits";
        let seen = "p at /dev/p is unreachable: tcp://127.0.0.1:1: refused; 1 receipt waits";
        assert_eq!(said(PrinterState::Absent, unreachable), warning(seen, "check its power, cable and address"));
    }
}
