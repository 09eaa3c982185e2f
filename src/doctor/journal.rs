//! The probe of the journal: whether the file is a journal, whether it is complete, and which transactions in it are
//! open.

use std::path::Path;

use super::{Agent, Past, Report, on_a_thread};
use crate::config::Config;
use crate::till::{Attention, AttentionView, JournalState, StatusView};
use pos_journal::{Inspection, LastClose, Purpose, Sales, SoldMark, SoldOn};

/// The greatest number of references that are named. The others are only counted.
const NAMED: usize = 5;
/// The greatest accepted number of days with sales since the last close. A shop that closes weekly does not exceed it.
const MOST_UNCLOSED: u64 = 10;

pub(super) async fn look(report: &mut Report<'_>, config: &Config, agent: &Agent) -> Past {
    let path = config.journal.path.as_path();
    let mark = SoldMark::of(&config.terminal.id, &config.journal.mark_folder(), path);
    if let Agent::Answers(status) = agent {
        as_the_agent_says(report, status);
    }
    if let Err(error) = path.try_exists() {
        report.note(format!("this user cannot read {} ({error}): run the doctor as root", path.display()));
        return Past::default();
    }
    if !path.exists() {
        missing(report, path, &mark, agent);
        return Past::default();
    }
    let place = path.to_owned();
    let found = match on_a_thread(move || pos_journal::inspect(&place)).await {
        Some(Ok(found)) => found,
        Some(Err(error)) => {
            report.say_fault(&error.to_string());
            return Past::default();
        }
        None => return Past::default(),
    };
    let other = "if the file belongs to another program, move it; otherwise correct path in [journal]; the agent then \
        creates a new journal";
    if found.application_id != 0 || (found.format == 0 && found.sales.is_err() && found.mode != "wal") {
        report.fault(format!("{} is a file of another program", path.display()), other);
        return Past::default();
    }
    if found.format > found.known_format {
        let error = pos_journal::Error::Format {
            path: path.display().to_string(),
            found: found.format,
            known: found.known_format,
        };
        report.say_fault(&error.to_string());
        return Past::default();
    }
    if found.purpose == Some(Purpose::Training) {
        let error = pos_journal::Error::OfAnotherPurpose { path: path.display().to_string(), found: Purpose::Training };
        report.say_fault(&error.to_string());
    }
    if let SoldOn::Another(how) = mark.says_of(&found.identities) {
        sold_on_another(report, &how);
    }
    whole(report, path, &found);
    book(report, &found);
    let reader = found.reader;
    match found.sales {
        Ok(sales) => Past { reader, ..waiting(report, sales, agent) },
        Err(error) => {
            report.say_fault(&error.to_string());
            Past::default()
        }
    }
}

/// Reports the state of the journal and the unconfirmed transactions, according to the running agent.
fn as_the_agent_says(report: &mut Report<'_>, status: &StatusView) {
    let journal = &status.journal;
    match journal.state {
        JournalState::Ready => report.ok(format!("the agent says: {}", journal.text)),
        JournalState::NearlyFull => report.say_warning(&journal.text),
        JournalState::Full | JournalState::CannotBeWritten => report.say_fault(&journal.text),
    }
    let unconfirmed: Vec<_> =
        status.unconfirmed.iter().map(|sale| pos_journal::name_of(sale.reference.as_str(), &sale.till)).collect();
    match unconfirmed.as_slice() {
        [] => report.ok("the agent says: unconfirmed sales: 0"),
        some => report.note(format!("the agent says: unconfirmed sales: {} ({})", some.len(), named(some))),
    }
}

/// Reports a missing file. If an agent is writing to it, or its `-wal` file is still there, the file was removed.
fn missing(report: &mut Report<'_>, path: &Path, mark: &SoldMark, agent: &Agent) {
    let put_back = "if the journal was moved, put it back with its -wal file; otherwise see the manual, \"When the journal is \
         lost\"";
    let left = if pos_journal::has_a_wal_alone(path) { ", but its -wal file is still there" } else { "" };
    let gone = format!("there is no file at {}{left}", path.display());
    match agent {
        // The agent has already reported the state of its journal.
        Agent::Answers(status) if status.journal.state == JournalState::CannotBeWritten => report.note(gone),
        Agent::Answers(_) => {
            report.fault(format!("{gone}: the journal was removed while the agent was running"), put_back)
        }
        Agent::Silent(_) if pos_journal::is_held(path) => {
            report.fault(format!("{gone}: the journal was removed while the agent was running"), put_back);
        }
        _ if !left.is_empty() => {
            let remedy = format!(
                "{put_back}; keep the -wal file, which may contain open sales; no agent starts while the -wal file is \
                 there without the journal"
            );
            report.fault(gone, remedy);
        }
        _ => match mark.says_of(&[]) {
            SoldOn::Another(how) | SoldOn::Unknown(how) => sold_on_another(report, &how),
            _ => {
                let seen =
                    format!("there is no journal at {} yet: the agent creates it at its first start", path.display());
                report.note(seen);
            }
        },
    }
}

/// Reports that this is not the journal with which the terminal has taken payments.
fn sold_on_another(report: &mut Report<'_>, how: &str) {
    let remedy = "put the right journal back, or adopt it (pos-agent journal adopt FILE); if the right journal is \
        lost, accept this one (pos-agent journal accept)";
    report.fault(format!("this terminal has sold with a different journal: {how}"), remedy);
}

fn whole(report: &mut Report<'_>, path: &Path, found: &Inspection) {
    let path = path.display();
    if found.mode == "wal" {
        report.ok(format!("{path} is in WAL mode, format {}", found.format));
    } else {
        let seen = format!("{path} is in journal mode {}: another program has changed the mode", found.mode);
        report.fault(
            seen,
            "restart the agent, which sets WAL mode again, and keep other programs from writing to the file",
        );
    }
    if found.damage.is_empty() {
        report.ok("SQLite's check found no damage");
    } else {
        let remedy = "stop the agent, copy journal.db with its -wal file to a safe place, and ask for support; do not \
            delete journal.db: it may contain open sales. Then replace the SD card";
        report.fault(format!("SQLite's check found damage: {}", found.damage.join(", ")), remedy);
    }
}

fn book(report: &mut Report<'_>, found: &Inspection) {
    let Some(book) = &found.book else { return };
    if let Some(altered) = &book.altered {
        let of = match (&altered.key, altered.number) {
            (Some((till, reference)), _) => format!("sale {reference} of till {till}: "),
            (None, Some(number)) => format!("sale number {number}: "),
            (None, None) => String::new(),
        };
        let remedy = "copy journal.db with its -wal file to a safe place; find out who had access to the board; compare \
            the journal with the gateway (pos-agent reconcile); pos-agent journal verify shows the altered place";
        return report.fault(format!("the journal was altered: {of}{}", altered.why), remedy);
    }
    if book.not_entered > 0 {
        let seen = format!("{} steps were written by an earlier version, without a hash", book.not_entered);
        return report.warning(seen, "start this version of the agent, which adds these steps to the chain");
    }
    let head = book.head.map_or_else(String::new, |head| format!(", head {}", head.hex()));
    report.ok(format!("{} steps are unaltered{head}", book.steps));
}

fn waiting(report: &mut Report<'_>, sales: Sales, agent: &Agent) -> Past {
    let Sales { count, open, quarantined, set_aside, latest, set_back, approved, closed, .. } = sales;
    let Sales { doubted_declines, invalid_request, .. } = sales;
    report.ok(format!("sales: {count}, unconfirmed: {}", open.len()));
    for aside in &set_aside {
        let seen = format!("this version cannot read the open sale {} of till {}", aside.reference, aside.till);
        report.fault(
            seen,
            "install the later version, which wrote the sale and completes it; do not charge this customer again",
        );
    }
    if !quarantined.is_empty() {
        let seen = format!("sales that a person must resolve: {}", named(&quarantined));
        report.warning(seen, "give the gateway's operator the payment id that pos-agent status shows");
    }
    if let Agent::Answers(status) = agent {
        let waits = |one: &&AttentionView| {
            let sale = one.sale.as_ref().zip(one.till.as_ref());
            let sale = sale.map(|(reference, till)| pos_journal::name_of(reference, till));
            let names = |sales: &[String]| sale.as_ref().is_some_and(|sale| sales.contains(sale));
            one.code == Attention::SaleNeedsPerson && names(&open) && !names(&quarantined)
        };
        for one in status.attention.iter().filter(waits) {
            report.warning(
                one.text.clone(),
                "restore the settings with which the sale was begun; the sale then continues automatically",
            );
        }
    }
    if !open.is_empty() && matches!(agent, Agent::Absent) {
        let seen = format!("sales that are waiting because the agent is not running: {}", named(&open));
        report.warning(
            seen,
            "start the agent, which completes these sales automatically; do not charge these customers again",
        );
    }
    if let Some(closed) = closed {
        last_close(report, &closed);
    }
    Past { latest, set_back, approved, doubted_declines, invalid_request, reader: None }
}

/// Reports the last close of day. Transactions that no close has counted stay in the journal, so the disk fills up if a
/// shop stops closing.
fn last_close(report: &mut Report<'_>, closed: &LastClose) {
    let LastClose { number, at, days_since } = closed;
    let seen = format!("the latest close of day is number {number} of {at}; days with sales since then: {days_since}");
    if *days_since > MOST_UNCLOSED {
        let remedy = "close the day (pos-agent close), preferably with a timer; until then the journal keeps every \
            later transaction";
        return report.warning(seen, remedy);
    }
    report.ok(seen);
}

fn named(references: &[String]) -> String {
    let mut text = references.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if references.len() > NAMED {
        text += " and others";
    }
    text
}
